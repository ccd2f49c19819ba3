//! Runs as sequence diagrams: in the terminal, and in files of other formats.

use crate::args::Check;
use crate::render::paint::lines;
use crate::trail::numbered;
use fabius_base::SourceMap;
use fabius_engine::{Loaded, Outcome};
use fabius_witness::Trace;
use fabius_witness::diagram::{self, Diagram};
use fabius_witness::format::text::{Layout, plain};
use std::path::Path;

/// Columns for a diagram in the terminal.
const WIDTH: usize = 80;

/// The ways to write a diagram to a file, by the extension of its name.
const EXTENSIONS: &str = ".svg (a picture), .mmd (Mermaid) or .txt";

/// The diagram of a run for the terminal.
pub fn text(trace: &Trace, map: &SourceMap, indent: &str) -> String {
    let layout = Layout { width: WIDTH, ..Layout::default() };
    lines(&diagram::lanes(&Diagram::of(trace), trace, map, layout), indent)
}

/// The diagram of a run as a picture.
pub fn svg(trace: &Trace, map: &SourceMap) -> String {
    diagram::svg(&Diagram::of(trace), map)
}

/// The diagram of a run for Mermaid.
pub fn mermaid(trace: &Trace) -> String {
    diagram::mermaid(&Diagram::of(trace))
}

/// Refuses a diagram that nobody would see, and a file whose name does not say how to write one.
///
/// # Errors
/// Why it is refused.
pub fn check_flags(args: &Check) -> Result<(), String> {
    match args.diagram.as_ref().map(Option::as_deref) {
        Some(Some(path)) if !matches!(extension(path), "svg" | "mmd" | "txt") => {
            Err(format!("--diagram={}: the name of the file must end in {EXTENSIONS}", path.display()))
        }
        Some(Some(path)) if 1 < args.files.len() => Err(format!(
            "--diagram={} names one file, and several models are checked: check them one by one",
            path.display()
        )),
        Some(None) if args.events || !args.formats.is_text() => Err(
            "--diagram draws into the text for people, which is not printed here: name a file, as in --diagram=run.svg"
                .to_owned(),
        ),
        _ if args.plot && (args.events || !args.formats.is_text()) => Err(
            "--plot draws into the text for people, which is not printed here; the page of --format html has the plots anyway".to_owned(),
        ),
        _ if args.verbose && (args.events || !args.formats.is_text()) => Err(
            "--verbose adds a table to the text for people, which is not printed here; --json lists the searches anyway"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// Writes the diagrams of counterexamples to files, if that was asked for; returns what to tell about them, as an error if one
/// could not be written.
pub fn write(loaded: &Loaded, outcome: &Outcome, args: &Check) -> Vec<Result<String, String>> {
    let Some(wanted) = args.diagram.as_ref().and_then(Option::as_deref) else { return Vec::new() };
    let many = outcome.counterexamples.len() > 1;
    let examples = outcome.counterexamples.iter().enumerate().map(|(i, example)| {
        let path = numbered(wanted, many.then_some(i + 1));
        let (trace, map) = (&example.trace, &loaded.map);
        let written = match extension(wanted) {
            "svg" => svg(trace, map),
            "mmd" => mermaid(trace),
            _ => plain(&diagram::lanes(&Diagram::of(trace), trace, map, Layout { width: WIDTH, ..Layout::default() })),
        };
        match std::fs::write(&path, written) {
            Ok(()) => Ok(format!("diagram written to {}", path.display())),
            Err(error) => Err(format!("error: the diagram could not be written to {}: {error}", path.display())),
        }
    });
    examples.collect()
}
