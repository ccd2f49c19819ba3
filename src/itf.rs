//! Counterexamples in the Informal Trace Format, for the viewers of other tools.

use crate::args::Check;
use crate::trail::numbered;
use fabius_base::SourceMap;
use fabius_engine::{Loaded, Outcome};
use fabius_witness::Trace;
use fabius_witness::format::itf::itf;
use std::path::PathBuf;

/// A run as a document.
pub fn text(trace: &Trace, map: &SourceMap) -> String {
    serde_json::to_string(&itf(trace, map)).unwrap_or_default() + "\n"
}

/// Writes the counterexamples that were asked for; returns what to tell about them.
pub fn write(loaded: &Loaded, outcome: &Outcome, args: &Check) -> Vec<String> {
    let Some(wanted) = &args.itf else { return Vec::new() };
    let beside = || (!loaded.name.starts_with('<')).then(|| PathBuf::from(format!("{}.itf.json", loaded.name)));
    let Some(path) = wanted.clone().or_else(beside) else {
        return vec!["no ITF trace was written: name a file for it, as in --itf=FILE".to_owned()];
    };
    let many = outcome.counterexamples.len() > 1;
    let examples = outcome.counterexamples.iter().enumerate().map(|(i, example)| {
        let path = numbered(&path, many.then_some(i + 1));
        match std::fs::write(&path, text(&example.trace, &loaded.map)) {
            Ok(()) => format!("ITF trace written to {}", path.display()),
            Err(error) => format!("the ITF trace could not be written to {}: {error}", path.display()),
        }
    });
    examples.collect()
}
