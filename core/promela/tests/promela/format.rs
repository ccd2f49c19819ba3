//! The formatter on real models: formatting twice is formatting once, and a formatted model means what it
//! meant before.

#![expect(clippy::disallowed_methods, reason = "a test reads the corpus")]

use fabius_base::SourceMap;
use fabius_language::{Loader, Style};
use fabius_promela::format::{align, apply, format};
use fabius_promela::{Options, lower, parse};
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
    let mut waiting = vec![root.join("models")];
    waiting.extend(fabius_needs::corpus().map(|corpus| corpus.join("models")));
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

/// The lines that begin with what is aligned when it is typed, each with the byte after that word.
fn aligned_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        end += line.len();
        let head = line.trim_start_matches([' ', '\t']);
        let word = ["::", "od", "fi", "}"].into_iter().find(|word| head.starts_with(word))?;
        Some((end - head.len() + word.len(), line))
    })
}

/// Lines that stand elsewhere than typing would put them, of this many.
fn moved(text: &str) -> (Vec<&str>, usize) {
    let all: Vec<(usize, &str)> = aligned_lines(text).collect();
    let moved = all.iter().filter(|(at, _)| align(text, *at, Style::default()).is_some());
    (moved.map(|(_, line)| *line).collect(), all.len())
}

#[test]
fn what_is_typed_is_put_where_formatting_puts_it() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let (mut strayed, mut seen) = (Vec::new(), 0);
    for path in models() {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if path.parent() == Some(&own) {
            // Nor are lines moved where somebody indents in another way, as we do.
            assert_eq!(moved(&text).0, Vec::<&str>::new(), "{}", path.display());
        }
        let text = apply(&text, &format(&text, Style::default()));
        let (lines, all) = moved(&text);
        strayed.extend(lines.into_iter().map(str::to_owned));
        seen += all;
    }
    // Where macros hold halves of statements, nobody can tell what belongs to what.
    assert!(100 < seen && strayed.len() * 200 <= seen, "{} of {seen}: {strayed:?}", strayed.len());
}
