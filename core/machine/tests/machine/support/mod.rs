//! What the tests and the example share: loading models, and walking all states of one.

#![expect(clippy::disallowed_methods, reason = "models are read from files")]

use fabius_base::SourceMap;
use fabius_language::Loader;
use fabius_machine::{Ending, Machine, Step};
use fabius_program::Program;
use fabius_promela::{Options, lower, parse};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&mut self, _includer: &str, name: &str) -> Option<(String, String)> {
        let name = name.trim_matches(['"', '<', '>']);
        let bytes = std::fs::read(self.0.join(name)).ok()?;
        Some((name.to_string(), String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The program of a model's text.
pub fn program(name: &str, text: &str, folder: &Path, options: Options) -> Result<Program, String> {
    let mut map = SourceMap::new();
    let file = map.add_file(name, text);
    let parsed = parse(&mut map, file, &[], &mut Folder(folder.to_path_buf()));
    if !parsed.is_ok() {
        return Err(format!("{:?}", parsed.findings.iter().map(|f| &f.headline).collect::<Vec<_>>()));
    }
    let lowered = lower(&parsed.model, &map, name, options);
    lowered.program.ok_or_else(|| format!("{:?}", lowered.findings.iter().map(|f| &f.headline).collect::<Vec<_>>()))
}

/// The program of a model in a file, as it is written.
pub fn program_of(path: &Path) -> Result<Program, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    program(&path.display().to_string(), &String::from_utf8_lossy(&bytes), folder, Options::NONE)
}

/// A machine for a model as it is written.
pub fn machine(text: &str) -> Machine {
    let program = program("test.pml", text, Path::new("."), Options::NONE).expect("the model is sound");
    Machine::new(Arc::new(program)).expect("the model is small")
}

/// Multiplies and folds; good enough for words that a person chose.
#[derive(Default)]
pub struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// What there is to count in a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub stored: u64,
    pub transitions: u64,
    pub faults: u64,
    pub assertions: u64,
    pub invalid_ends: u64,
    pub complete: bool,
    pub bytes: usize,
}

type Set = HashSet<Box<[u32]>, BuildHasherDefault<FoldHasher>>;

/// Walks all states, breadth being of no interest; gives up after `states_max`.
pub fn walk(machine: &mut Machine, states_max: u64) -> Counts {
    let mut counts = Counts::default();
    let mut stored = Set::default();
    let mut passed = Set::default();
    let hidden = machine.hidden_words();
    let mut state = Vec::new();
    if machine.initial(&mut state).is_err() {
        counts.faults += 1;
        return counts;
    }
    stored.insert(state[..state.len() - hidden].into());
    counts.stored += 1;
    counts.bytes = state.len() * 4;
    let mut open = vec![state];
    let mut successor = Vec::new();
    while let Some(state) = open.pop() {
        let mut cursor = machine.begin(&state);
        loop {
            match machine.next(&state, &mut cursor, &mut successor) {
                Step::Successor { transient, fault, label, .. } => {
                    counts.transitions += u64::from(label.is_some());
                    counts.assertions += u64::from(fault.is_some());
                    let visible = &successor[..successor.len() - hidden];
                    let set = if transient { &mut passed } else { &mut stored };
                    if !set.contains(visible) {
                        set.insert(visible.into());
                        counts.stored += u64::from(!transient);
                        counts.bytes = counts.bytes.max(successor.len() * 4);
                        open.push(successor.clone());
                    }
                }
                Step::Broken { .. } => {
                    counts.faults += 1;
                }
                Step::Done(ending) => {
                    counts.invalid_ends += u64::from(ending == Ending::InvalidEnd);
                    break;
                }
            }
        }
        if counts.stored > states_max || passed.len() as u64 > 20 * states_max {
            return counts;
        }
    }
    counts.complete = true;
    counts
}
