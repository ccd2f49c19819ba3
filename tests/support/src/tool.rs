//! The tool as a person runs it: a program with arguments, judged by its JSON and its exit code.

use crate::command;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where the tool's program is.
#[derive(Clone, Debug)]
pub struct Tool {
    program: PathBuf,
    /// How long a run may take before it is killed.
    limit: Duration,
}

/// The document that `check --json` prints; keys that the tests do not look at are left out.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Report {
    /// `holds`, `violated`, `undecided` or `faulty`.
    pub verdict: String,
    /// Whether everything was looked at.
    pub exhaustive: bool,
    /// What is wrong with the text of the model.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What was checked.
    #[serde(default)]
    pub properties: Vec<Property>,
}

/// Something to say about the text of a model.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Finding {
    /// Its row in the table of codes.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
}

/// One property, and what was found.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// `safety`, `progress`, `acceptance` or `ltl`.
    pub kind: String,
    /// As in [`Report::verdict`].
    pub verdict: String,
    /// Whether everything was looked at.
    pub exhaustive: bool,
    /// Stored states.
    pub states: u64,
    /// Transitions, those back to a known state included.
    pub transitions: u64,
    /// Bytes that one stored state takes on average.
    #[serde(default)]
    pub bytes_per_state: Option<f64>,
    /// What went wrong, in the order in which it was found.
    #[serde(default)]
    pub violations: Vec<Violation>,
}

/// One way in which a property fails.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Violation {
    /// `assertion`, `invalid_end_state`, `evaluation`, …
    pub kind: String,
    /// What happened, in a sentence.
    pub message: String,
    /// Length of the path to it.
    pub steps: u64,
}

impl Report {
    /// The safety property.
    pub fn safety(&self) -> Option<&Property> {
        self.properties.iter().find(|property| property.kind == "safety")
    }

    /// Whether the text was read and understood, but holds something that the tool does not check.
    pub fn not_checked(&self) -> bool {
        let mut errors = self.findings.iter().filter(|finding| finding.severity == "error").peekable();
        errors.peek().is_some() && errors.all(|finding| finding.code.starts_with("F05"))
    }
}

impl Property {
    /// The kinds of violation, each once, sorted by name.
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.violations.iter().map(|violation| violation.kind.clone()).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }
}

impl Tool {
    /// The tool at this path.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), limit: Duration::from_secs(120) }
    }

    /// The same with another limit on the time of a run.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Where the program is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs `check` on a model, for safety only.
    ///
    /// # Errors
    /// A sentence if it crashed, ran out of time, contradicts its own exit code, or printed something
    /// that is not the document it promises.
    pub fn check(&self, model: &Path, flags: &[&str]) -> Result<Report, String> {
        self.check_all(model, &[&["--property", "safety"], flags].concat())
    }

    /// Runs `check` on a model, for everything that the flags do not exclude.
    ///
    /// # Errors
    /// As [`Tool::check`].
    pub fn check_all(&self, model: &Path, flags: &[&str]) -> Result<Report, String> {
        let mut command = Command::new(&self.program);
        // What an earlier run proved proves nothing about this one.
        command.env("FABIUS_CACHE", "off");
        command.arg("check").arg(model).arg("--json").args(flags);
        if let Some(directory) = model.parent() {
            command.current_dir(directory);
        }
        let output = command::run(&mut command, self.limit).map_err(|e| e.to_string())?;
        let Some(status) = output.status else {
            return Err(format!("killed after {} s", self.limit.as_secs()));
        };
        let report: Report = serde_json::from_str(&output.stdout).map_err(|e| {
            format!("{status}, and no JSON ({e}): {}", output.stderr.lines().next().unwrap_or("").trim_end())
        })?;
        let promised = match report.verdict.as_str() {
            "holds" => 0,
            "violated" => 1,
            "undecided" => 2,
            _ => 3,
        };
        if output.code() != Some(promised) {
            return Err(format!("{status}, but the verdict is `{}`", report.verdict));
        }
        Ok(report)
    }
}
