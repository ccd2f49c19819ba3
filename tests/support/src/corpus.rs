//! The corpus of real models, with Spin's answers as they were recorded.

use crate::Kind;
use crate::spin;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A folder of models with a manifest.
#[derive(Debug)]
pub struct Corpus {
    /// Where it is.
    pub directory: PathBuf,
    /// Its models, in the order of the manifest.
    pub entries: Vec<Entry>,
}

/// A line of the manifest.
#[derive(Clone, Debug, Deserialize)]
pub struct Entry {
    /// The model's file under `models/`.
    pub path: String,
    /// Whether `spin -a` accepts it.
    pub syntax: Syntax,
    /// Runs of the verifier by name.
    #[serde(default)]
    pub runs: BTreeMap<String, serde_json::Value>,
}

/// Whether `spin -a` accepts a model.
#[derive(Clone, Debug, Deserialize)]
pub struct Syntax {
    /// It does.
    pub ok: bool,
    /// What it says if not.
    #[serde(default)]
    pub message: String,
}

/// A run of the verifier as the manifest records it.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedRun {
    /// The search saw everything.
    #[serde(default)]
    pub complete: bool,
    /// Violations counted.
    #[serde(default)]
    pub errors: u64,
    /// Each different message, in order.
    #[serde(default)]
    pub error_msgs: Vec<RecordedMessage>,
    /// "states, stored".
    pub stored: u64,
    /// User CPU seconds of the search.
    #[serde(default)]
    pub cpu_s: f64,
}

/// A message of the verifier as the manifest records it.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedMessage {
    /// The message.
    pub msg: String,
}

impl RecordedRun {
    /// The kinds of violation, each once, sorted.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.error_msgs.iter().map(|message| spin::kind_of(&message.msg)).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }
}

impl Entry {
    /// The names of the claims and formulas whose runs are recorded; `-` stands for acceptance labels.
    pub fn claims(&self) -> Vec<String> {
        let live = self.runs.get("live").and_then(|live| live.as_object());
        live.map(|live| live.keys().cloned().collect()).unwrap_or_default()
    }

    /// A run for one claim, such as `fair`.
    pub fn claim_run(&self, claim: &str, name: &str) -> Option<RecordedRun> {
        serde_json::from_value(self.runs.get("live")?.get(claim)?.get(name)?.clone()).ok()
    }

    /// The run with this name, if the verifier could be made.
    pub fn run(&self, name: &str) -> Option<RecordedRun> {
        serde_json::from_value(self.runs.get(name)?.clone()).ok()
    }
}

impl Corpus {
    /// Reads the corpus; if it is missing, the test is skipped.
    ///
    /// # Panics
    /// If its manifest cannot be read.
    pub fn load() -> Option<Self> {
        let folder = fabius_needs::corpus()?;
        Some(Self::load_from(&folder).unwrap_or_else(|why| panic!("{why}")))
    }

    fn load_from(directory: &Path) -> Result<Self, String> {
        let manifest = directory.join("manifest.jsonl");
        let text = std::fs::read_to_string(&manifest)
            .map_err(|e| format!("no corpus at {} ({e}); set FABIUS_CORPUS to where it is", manifest.display()))?;
        let mut entries = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            entries.push(serde_json::from_str(line).map_err(|e| format!("manifest, line {}: {e}", index + 1))?);
        }
        let directory = directory.canonicalize().map_err(|e| e.to_string())?;
        Ok(Self { directory, entries })
    }

    /// The file of an entry.
    pub fn file(&self, entry: &Entry) -> PathBuf {
        self.directory.join("models").join(&entry.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_manifest_is_read() {
        let line = r#"{"path": "a/b.pml", "syntax": {"ok": true}, "runs": {
            "base": {"complete": true, "errors": 2, "stored": 7, "error_msgs": [{"msg": "invalid end state", "first_depth": 3}]},
            "broken": {"compile_error": "…"}}}"#;
        let entry: Entry = serde_json::from_str(line).unwrap();
        let base = entry.run("base").unwrap();
        assert_eq!((base.stored, base.kinds()), (7, vec![Kind::InvalidEndState]));
        assert!(entry.run("broken").is_none() && entry.run("absent").is_none());
    }
}
