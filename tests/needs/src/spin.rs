//! Spin, asked in a folder of its own: the commands that make its verifier of a model, call it, and replay a trail.
//!
//! Each command is only put together here; whoever runs it decides how long it may take and what of it is measured.

use crate::command;
use crate::scratch::Scratch;
use crate::{Need, answers};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A C compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compiler {
    /// Fifty times faster than the other; the verifier it makes is slower.
    Tcc,
    /// What people use.
    Gcc,
}

impl Compiler {
    /// Those that are here, the quick one first; `None` if Spin or every compiler is missing, so that the test is skipped.
    ///
    /// # Panics
    /// If what is missing is required.
    pub fn all() -> Option<Vec<Self>> {
        let here = [Self::Tcc, Self::Gcc].into_iter().filter(|compiler| answers(compiler.program(), "-v"));
        (Need::Spin.met() && Need::Cc.met()).then(|| here.collect())
    }

    /// The program to call.
    pub fn program(self) -> &'static str {
        match self {
            Self::Tcc => "tcc",
            Self::Gcc => "gcc",
        }
    }
}

/// Spin's optimisations (dataflow, dead variables, merged statements) switched off.
pub const AS_WRITTEN: [&str; 3] = ["-o1", "-o2", "-o3"];

/// Spin at work on a model; what it writes goes to a folder of its own.
#[derive(Debug)]
pub struct Spin {
    scratch: Scratch,
    model: PathBuf,
}

impl Spin {
    /// On a model given as text.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn on_text(text: &str) -> io::Result<Self> {
        let scratch = Scratch::new()?;
        scratch.write("model.pml", text)?;
        Ok(Self { scratch, model: "model.pml".into() })
    }

    /// On a file where it stands, beside what it includes.
    ///
    /// # Errors
    /// When the folder cannot be made, or the file is not there.
    pub fn on_file(model: &Path) -> io::Result<Self> {
        Ok(Self { scratch: Scratch::new()?, model: model.canonicalize()? })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    fn run_here(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder());
        command
    }

    /// `spin -a`, which writes the verifier's source, with further flags.
    pub fn generate(&self, flags: &[&str]) -> Command {
        let mut command = self.run_here("spin");
        command.args(flags).arg("-a").arg(&self.model);
        command
    }

    /// Whether the model was accepted by the [command](Self::generate) that has run. The exit code and the source that it left
    /// decide: Spin prints "Error" in some messages that it does not mean so.
    pub fn is_accepted(&self, generated: &command::Output) -> bool {
        generated.success() && self.folder().join("pan.c").exists()
    }

    /// Compiles the verifier.
    pub fn compile(&self, compiler: Compiler, flags: &[&str]) -> Command {
        let mut command = self.run_here(compiler.program());
        command.args(flags).args(["-w", "-o"]).arg(self.verifier_path()).arg("pan.c");
        command
    }

    /// Calls the verifier.
    pub fn verify(&self, arguments: &[&str]) -> Command {
        let mut command = self.run_here(self.verifier_path());
        command.args(arguments);
        command
    }

    fn verifier_path(&self) -> PathBuf {
        self.folder().join("pan")
    }

    /// Replays a trail, with every step told.
    ///
    /// # Errors
    /// When the trail cannot be written.
    pub fn replay(&self, trail: &str) -> io::Result<Command> {
        self.scratch.write("trail", trail)?;
        let mut command = self.run_here("spin");
        command.args(["-k", "trail", "-p"]).arg(&self.model);
        Ok(command)
    }
}

/// Replays the trail that stands beside a model in a folder, with every step told.
pub fn replay(folder: &Path, model: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("spin");
    command.args(["-t", "-p"]).arg(model).current_dir(folder);
    command
}

/// The automaton that Spin makes of a formula; `None` if it does not accept the formula, or takes longer than this.
pub fn claim(formula: &str, limit: Duration) -> Option<String> {
    let output = command::run(Command::new("spin").args(["-f", formula]), limit).ok()?;
    (output.success() && output.stdout.starts_with("never")).then_some(output.stdout)
}
