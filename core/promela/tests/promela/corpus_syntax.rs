//! Real models: what Spin reads, Fabius reads; what Spin refuses for its syntax, Fabius refuses.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test reads the corpus and says how much of it"
)]

use fabius_base::{FileId, Finding, SourceMap};
use fabius_language::Loader;
use fabius_promela::{Parsed, parse};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Models that Spin refuses with a syntax message and Fabius reads, each with the reason.
const EXPLAINED: &[(&str, &str)] = &[];

/// Finds included files beside the one that includes them.
struct Beside(PathBuf);

impl Loader for Beside {
    fn load(&mut self, includer: &str, name: &str) -> Option<(String, String)> {
        let bare = name.get(1..name.len().checked_sub(1)?)?;
        let folder = Path::new(includer).parent().unwrap_or(Path::new(""));
        let shown = folder.join(bare);
        let bytes = std::fs::read(self.0.join(&shown)).ok()?;
        Some((shown.to_string_lossy().into_owned(), String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn read_model(root: &Path, path: &str) -> (SourceMap, Parsed) {
    let bytes = std::fs::read(root.join(path)).expect("a model of the manifest can be read");
    let mut map = SourceMap::new();
    let file: FileId = map.add_file(path, String::from_utf8_lossy(&bytes).into_owned());
    let parsed = parse(&mut map, file, &[], &mut Beside(root.to_owned()));
    (map, parsed)
}

fn show(map: &SourceMap, finding: &Finding) -> String {
    let place = finding.span().map_or(String::new(), |span| map.position(span).to_string());
    format!("{place}: {} {}", finding.code.as_str(), finding.headline)
}

/// Whether Spin's message is about syntax, and not about what names mean.
fn is_syntax(message: &str) -> bool {
    ["syntax error", "malformed preprocessor", "character quote missing", "string not terminated", "label preceding"]
        .iter()
        .any(|text| message.contains(text))
}

#[test]
fn the_corpus_is_read_as_spin_reads_it() {
    let Some(root) = fabius_needs::corpus() else { return };
    let manifest = std::fs::read_to_string(root.join("manifest.jsonl")).expect("the manifest can be read");
    let models = root.join("models");
    let (mut count, mut disagreements) = (0, Vec::new());
    for line in manifest.lines() {
        let entry: Value = serde_json::from_str(line).expect("each line of the manifest is JSON");
        let path = entry["path"].as_str().expect("each entry has a path");
        let accepted = entry["syntax"]["ok"].as_bool().expect("each entry says whether Spin accepts it");
        let message = entry["syntax"]["message"].as_str().unwrap_or("");
        let (map, parsed) = read_model(&models, path);
        count += 1;
        let wrong = match (accepted, parsed.is_ok()) {
            (true, false) => true,
            (false, true) => is_syntax(message),
            _ => false,
        };
        if wrong && !EXPLAINED.iter().any(|(known, _)| *known == path) {
            let errors: Vec<String> =
                parsed.findings.iter().filter(|f| f.is_error()).take(3).map(|f| show(&map, f)).collect();
            disagreements.push(format!("{path}\n  Spin: {accepted} {message}\n  here: {}", errors.join("\n        ")));
        }
    }
    println!("{count} models read");
    assert!(count > 100, "the manifest has only {count} models");
    assert!(disagreements.is_empty(), "{} disagreements\n{}", disagreements.len(), disagreements.join("\n"));
}
