//! Runs of the program that are over, for tests that look at its output.

use serde_json::Value;
use std::process::{Command, Output, Stdio};

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Run {
    /// A run of a program (`$0`) with arguments (`$@`) in a shell, without remembered results.
    ///
    /// # Panics
    /// If there is no shell.
    #[must_use]
    pub fn shell(program: &str, script: &str, args: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", script, program]).args(args).env("FABIUS_CACHE", "off").stdin(Stdio::null());
        command.output().expect("there is a shell").into()
    }

    /// The document that it printed.
    ///
    /// # Panics
    /// If that is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("no JSON ({e}): {}\n{}", self.out, self.err))
    }

    /// The run, which ended with this code.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// The run, which printed this text.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no {text:?} in:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}
