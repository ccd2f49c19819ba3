//! Damaged models: lowering answers every one, and what it accepts keeps its promises.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the test reads models and says what it found"
)]

use fabius_base::SourceMap;
use fabius_language::NoLoader;
use fabius_program::validate::validate;
use fabius_promela::{Options, lower, parse};
use std::path::{Path, PathBuf};

/// A small generator of numbers: the same seed, the same damage.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Pieces that begin at letters, digits or signs, with the space behind them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut word = false;
    for c in text.chars() {
        let letter = c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if (letter && word) || c.is_whitespace() => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        word = letter;
    }
    pieces
}

/// Deletes, doubles, swaps and replaces some pieces.
fn damage(text: &str, numbers: &mut Numbers) -> String {
    let mut pieces = pieces(text);
    for _ in 0..1 + numbers.below(4) {
        if pieces.len() < 2 {
            break;
        }
        let (at, other) = (numbers.below(pieces.len()), numbers.below(pieces.len()));
        match numbers.below(4) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[other].clone()),
            2 => pieces.swap(at, other),
            _ => pieces[at] = pieces[other].clone(),
        }
    }
    pieces.concat()
}

fn answers(text: &str) -> (bool, usize) {
    let mut map = SourceMap::new();
    let file = map.add_file("damaged.pml", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    let mut accepted = false;
    for options in [Options::NONE, Options::ALL] {
        let lowered = lower(&parsed.model, &map, "damaged", options);
        let broken = lowered.findings.iter().any(|f| f.is_error());
        assert_eq!(lowered.program.is_none(), broken, "a program if and only if there is no error:\n{text}");
        if let Some(program) = lowered.program {
            accepted = true;
            if let Err(why) = validate(&program) {
                panic!("{why}:\n{text}");
            }
        }
    }
    (accepted, parsed.findings.len())
}

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![root.join("models")];
    folders.extend(fabius_needs::corpus().map(|corpus| corpus.join("models")));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn damaged_models_are_answered() {
    let rounds = if std::env::var_os("FABIUS_FULL").is_some() { 40 } else { 2 };
    let mut numbers = Numbers(0x5EED);
    let (mut accepted, mut refused) = (0, 0);
    for path in models() {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a model can be read")).into_owned();
        if 20_000 < text.len() {
            continue;
        }
        for _ in 0..rounds {
            match answers(&damage(&text, &mut numbers)).0 {
                true => accepted += 1,
                false => refused += 1,
            }
        }
    }
    println!("{accepted} damaged models accepted, {refused} refused");
    assert!(0 < accepted && 0 < refused, "the damage is too small or too large to test anything");
}
