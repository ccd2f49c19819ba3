//! Models without reduction, and programs from text.

#![allow(dead_code, reason = "not everyone needs all of it")]

use fabius_base::SourceMap;
use fabius_language::Loader;
use fabius_machine::{Cursor, Machine, Refusal, Step};
use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_promela::{Options, lower, parse};
use fabius_search::{Ending, Marks, Model, Next};
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

/// The program of a model in a file.
pub fn program_of(path: &Path, options: Options) -> Result<Program, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    program(&path.display().to_string(), &String::from_utf8_lossy(&bytes), folder, options)
}

/// A machine without reduction, as a search sees it.
#[derive(Clone)]
pub struct Plain(pub Machine);

impl Plain {
    /// A machine for a program.
    pub fn new(program: Arc<Program>, watch: Watch) -> Result<Self, Refusal> {
        Ok(Self(Machine::watching(program, watch)?))
    }
}

impl Model for Plain {
    type Label = Move;
    type Fault = Fault;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.0.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.0.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> Cursor {
        self.0.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        match self.0.next(state, cursor, successor) {
            Step::Successor { label, transient, fault, marks } => {
                let accepting = if marks.accepting { Marks::ACCEPTING } else { Marks::NONE };
                let progress = if marks.progress { Marks::PROGRESS } else { Marks::NONE };
                Next::Successor { label, transient, fault, marks: accepting.with(progress) }
            }
            Step::Broken { label, fault } => Next::Broken { label, fault },
            Step::Done(ending) => Next::Done(match ending {
                fabius_machine::Ending::Moves => Ending::Moves,
                fabius_machine::Ending::ValidEnd => Ending::ValidEnd,
                fabius_machine::Ending::InvalidEnd => Ending::InvalidEnd,
            }),
        }
    }
}
