//! What makes two violations the same one, in different versions of a model: what is violated and by which statements, not
//! on which lines they stand.
//!
//! Computed from the keys of a report only, so that a report that was written earlier is as good as a new one.

use fabius_engine::Report;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_128;

/// A report, as far as it matters here.
#[derive(Deserialize, Clone, Debug)]
pub struct KnownReport {
    /// The model, as it was named.
    pub file: String,
    /// Its properties.
    pub properties: Vec<KnownProperty>,
}

/// A property of such a report.
#[derive(Deserialize, Clone, Debug)]
pub struct KnownProperty {
    /// Its name.
    pub name: String,
    /// What kind of question it asks.
    pub kind: String,
    /// Its violations.
    pub violations: Vec<KnownViolation>,
}

/// A violation of such a property.
#[derive(Deserialize, Clone, Debug)]
pub struct KnownViolation {
    /// What goes wrong.
    pub kind: String,
    /// The same as a sentence.
    pub message: String,
    /// The processes that wait where they may not stop.
    #[serde(default)]
    blocked: Vec<KnownProcess>,
    /// What happens in its loop.
    #[serde(rename = "loop")]
    infinite: Option<KnownLoop>,
}

#[derive(Deserialize, Clone, Debug)]
struct KnownProcess {
    process: String,
    #[serde(default)]
    waiting: Vec<KnownStatement>,
}

#[derive(Deserialize, Clone, Debug)]
struct KnownStatement {
    text: String,
}

#[derive(Deserialize, Clone, Debug)]
struct KnownLoop {
    processes: Vec<KnownRole>,
}

#[derive(Deserialize, Clone, Debug)]
struct KnownRole {
    name: String,
    role: String,
}

impl KnownReport {
    /// What matters here of a report.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of(report: &Report) -> serde_json::Result<Self> {
        serde_json::from_value(serde_json::to_value(report)?)
    }

    /// The identities of all violations, in the order of the report. Of those that are alike, each has its own number.
    pub fn identities(&self) -> Vec<Identity> {
        let mut met: HashMap<Identity, usize> = HashMap::new();
        let violations = self
            .properties
            .iter()
            .flat_map(|property| property.violations.iter().map(move |violation| self.identity(property, violation)));
        let numbered = violations.map(|identity| {
            let number = met.entry(identity.clone()).or_default();
            *number += 1;
            Identity { number: *number, ..identity }
        });
        numbered.collect()
    }

    fn identity(&self, property: &KnownProperty, violation: &KnownViolation) -> Identity {
        // The automaton of a formula is not written by anybody, and how a run violates it may change with the search.
        let formula = property.kind == "ltl";
        Identity {
            model: same_path(&self.file),
            property: property.name.clone(),
            kind: if formula { "formula" } else { &violation.kind }.to_owned(),
            statements: if formula { Vec::new() } else { violation.statements() },
            number: 0,
        }
    }
}

impl KnownViolation {
    /// What the processes that take part do, without numbers of processes and lines.
    fn statements(&self) -> Vec<String> {
        let waiting = self.blocked.iter().map(|process| {
            let texts: Vec<&str> = process.waiting.iter().map(|statement| statement.text.as_str()).collect();
            format!("{}: {}", process.process, texts.join(" | "))
        });
        let moving = self.infinite.iter().flat_map(|infinite| &infinite.processes);
        let moving = moving.filter(|process| process.role == "moves");
        let moving = moving.map(|process| process.name.split('[').next().unwrap_or_default().to_owned());
        let mut statements: Vec<String> = waiting.chain(moving).chain([self.message.clone()]).collect();
        statements.sort();
        statements.dedup();
        statements
    }
}

/// What makes a violation the one that it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Identity {
    model: String,
    property: String,
    kind: String,
    statements: Vec<String>,
    number: usize,
}

impl Identity {
    /// A short text that is the same for the same identity, in every build.
    pub fn fingerprint(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{:032x}", xxh3_128(text.as_bytes()))
    }
}

/// A path as it is compared: `./a\b.pml` is `a/b.pml`.
pub fn same_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    parts.join("/")
}
