//! LTSmin, asked in a folder of its own: its front end SpinS makes a library of a model, which `prom2lts-mc` searches.
//!
//! `FABIUS_LTSMIN` names the folder with these programs; otherwise they are looked for where all programs are. Each command is only put
//! together here.

use crate::answers;
use crate::scratch::Scratch;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Binary logarithm of the number of slots of LTSmin's table: enough for the largest of the models, and quickly cleared.
const SLOTS_LOG: u32 = 25;

/// LTSmin at work on a model.
#[derive(Debug)]
pub struct Ltsmin {
    scratch: Scratch,
    model: PathBuf,
}

/// What LTSmin says at the end of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Explored {
    /// States that it stored.
    pub states: u64,
    /// Transitions that it listed.
    pub transitions: u64,
    /// Bytes of its table for each state, free slots aside.
    pub bytes_per_state: f64,
}

impl Ltsmin {
    /// Whether its programs are here.
    pub fn is_here() -> bool {
        answers(&program("prom2lts-mc"), "--version") && answers(&program("spins"), "--version")
    }

    /// On a file; what it writes goes to a folder of its own.
    ///
    /// # Errors
    /// When the folder cannot be made, or the file is not there.
    pub fn on_file(model: &Path) -> io::Result<Self> {
        Ok(Self { scratch: Scratch::new()?, model: model.canonicalize()? })
    }

    /// Makes the library, with the C compiler.
    pub fn compile(&self) -> Command {
        self.run_here("spins", &[&self.model.display().to_string()])
    }

    /// Whether the model was accepted by the [command](Self::compile) that has run: there is a library. SpinS' exit code does not say so.
    pub fn is_accepted(&self) -> bool {
        self.scratch.path().join(self.library()).is_file()
    }

    /// Searches all states depth-first, stored as trees, by this many threads; with `reduction`, those that LTSmin's partial-order reduction
    /// leaves where only deadlocks must be preserved.
    pub fn search(&self, threads: usize, reduction: bool) -> Command {
        let (threads, slots, library) = (format!("--threads={threads}"), format!("-s{SLOTS_LOG}"), self.library());
        let reduced: &[&str] = if reduction { &["--por=heur"] } else { &[] };
        let arguments = [&[&threads, "--strategy=dfs", "--state=tree", &slots], reduced, &[&library]].concat();
        self.run_here("prom2lts-mc", &arguments)
    }

    fn library(&self) -> String {
        format!("{}.spins", self.model.file_name().unwrap_or_default().display())
    }

    /// A program whose errors come with what it prints: LTSmin tells everything there.
    fn run_here(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 2>&1", &program(name)]).args(arguments);
        command.current_dir(self.scratch.path());
        command
    }
}

fn program(name: &str) -> String {
    match std::env::var_os("FABIUS_LTSMIN") {
        Some(folder) => Path::new(&folder).join(name).display().to_string(),
        None => name.to_owned(),
    }
}

impl Explored {
    /// What a search printed; `None` if it did not come to its end.
    pub fn read(text: &str) -> Option<Self> {
        let number = |before: &str, after: &str| -> Option<f64> {
            let line = text.lines().find(|line| line.contains(before) && line.contains(after))?;
            line[..line.find(after)?].split_whitespace().last()?.parse().ok()
        };
        Some(Self {
            states: number("Explored ", " states ")? as u64,
            transitions: number("Explored ", " transitions,")? as u64,
            bytes_per_state: number("Tree memory: ", " B/state")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_search_is_read() {
        let text = "prom2lts-mc: 74 levels 320000 states 1258399 transitions\n\
                    prom2lts-mc: Explored 576251 states 2417306 transitions, fanout: 4.195\n\
                    prom2lts-mc: Tree memory: 4.5MB, 8.2 B/state, compr.: 5.8%\n";
        let explored = Explored { states: 576_251, transitions: 2_417_306, bytes_per_state: 8.2 };
        assert_eq!(Explored::read(text), Some(explored));
        assert_eq!(Explored::read("prom2lts-mc: 74 levels 320000 states 1258399 transitions\n"), None);
    }
}
