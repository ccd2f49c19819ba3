//! Counterexamples in the Informal Trace Format, for the viewers of other tools.

use crate::args::Check;
use crate::trail::{is_stdin, numbered};
use fabius_base::SourceMap;
use fabius_engine::{Loaded, Outcome};
use fabius_witness::Trace;
use fabius_witness::format::itf::itf;
use std::path::PathBuf;

/// A run as a document.
pub fn text(trace: &Trace, map: &SourceMap) -> String {
    serde_json::to_string(&itf(trace, map)).unwrap_or_default() + "\n"
}

/// Why there is no place for a file.
const UNNAMED: &str =
    "a model from standard input has no file beside which an ITF trace could be: name one, as in --itf=FILE";

/// Refuses one file for the runs of several models, and a file without a name beside standard input.
///
/// # Errors
/// Why it is refused.
pub fn check_flags(args: &Check) -> Result<(), String> {
    match args.itf.as_ref().map(Option::as_deref) {
        Some(Some(path)) if 1 < args.files.len() => Err(format!(
            "--itf={} names one file, and several models are checked: leave the name out, and each has its own",
            path.display()
        )),
        Some(None) if args.files.iter().any(|file| is_stdin(file)) => Err(UNNAMED.to_owned()),
        _ => Ok(()),
    }
}

/// Writes the counterexamples that were asked for; returns what to tell about them, as an error if one could not be written.
pub fn write(loaded: &Loaded, outcome: &Outcome, args: &Check) -> Vec<Result<String, String>> {
    let Some(wanted) = &args.itf else { return Vec::new() };
    let beside = || (!loaded.name.starts_with('<')).then(|| PathBuf::from(format!("{}.itf.json", loaded.name)));
    let Some(path) = wanted.clone().or_else(beside) else {
        return vec![Err(format!("error: {UNNAMED}"))];
    };
    let many = outcome.counterexamples.len() > 1;
    let examples = outcome.counterexamples.iter().enumerate().map(|(i, example)| {
        let path = numbered(&path, many.then_some(i + 1));
        match std::fs::write(&path, text(&example.trace, &loaded.map)) {
            Ok(()) => Ok(format!("ITF trace written to {}", path.display())),
            Err(error) => Err(format!("error: the ITF trace could not be written to {}: {error}", path.display())),
        }
    });
    examples.collect()
}
