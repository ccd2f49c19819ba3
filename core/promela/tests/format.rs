//! The formatter on real models: formatting twice is formatting once, and a formatted model means what it
//! meant before.

#![expect(clippy::disallowed_methods, reason = "a test reads the corpus")]

use fabius_base::SourceMap;
use fabius_promela::format::{Style, apply, format};
use fabius_promela::{Loader, Options, lower, parse};
use std::path::{Path, PathBuf};

struct Beside(PathBuf);

impl Loader for Beside {
    fn load(&mut self, _: &str, name: &str) -> Option<(String, String)> {
        let name = name.trim_matches(['"', '<', '>']);
        let text = std::fs::read(self.0.join(name)).ok()?;
        Some((name.to_owned(), String::from_utf8_lossy(&text).into_owned()))
    }
}

/// What a model means, in words; `None` if it is faulty.
fn meaning(path: &Path, text: &str) -> Option<String> {
    let mut map = SourceMap::new();
    let file = map.add_file("model.pml", text);
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    let parsed = parse(&mut map, file, &[], &mut Beside(folder));
    let program = lower(&parsed.model, &map, "model.pml", Options::NONE).program?;
    Some(fabius_program::print::print(&program))
}

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = std::env::var_os("FABIUS_CORPUS").map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    let mut waiting = vec![root.join("models"), corpus.join("models")];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => waiting.push(path),
                path => found.push(path),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn formatting_changes_no_meaning() {
    let all = models();
    let step = if std::env::var_os("FABIUS_FULL").is_some() { 1 } else { (all.len() / 200).max(1) };
    let (mut seen, mut compared) = (0, 0);
    for path in all.iter().step_by(step) {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let once = apply(&text, &format(&text, Style::default()));
        let twice = apply(&once, &format(&once, Style::default()));
        assert_eq!(once, twice, "{}: formatting twice is not formatting once", path.display());
        seen += 1;
        if let Some(before) = meaning(path, &text) {
            assert_eq!(Some(before), meaning(path, &once), "{}: another meaning", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 10, "only {compared} of {seen} models could be compared");
}
