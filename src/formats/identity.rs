//! What makes two violations the same one, in different versions of a model: what is violated and by which statements, not
//! on which lines they stand.
//!
//! Computed from the keys of a report only, so that a report that was written earlier is as good as a new one.

use fabius_engine::Report;
use fabius_engine::report::{PropertyReport, ViolationReport};
use fabius_witness::format::json::WaitingRecord;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_128;

/// A report, as far as it matters here.
#[derive(Deserialize, Serialize, Clone, Debug)]
pub struct KnownReport {
    /// The model, as it was named.
    file: String,
    /// Its properties.
    properties: Vec<KnownProperty>,
}

/// A property of such a report.
#[derive(Deserialize, Serialize, Clone, Debug)]
struct KnownProperty {
    name: String,
    kind: String,
    verdict: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    violations: Vec<KnownViolation>,
}

/// A violation of such a property.
#[derive(Deserialize, Serialize, Clone, Debug)]
struct KnownViolation {
    kind: String,
    message: String,
    /// The processes that wait where they may not stop.
    #[serde(default)]
    blocked: Vec<KnownProcess>,
    /// The run; of what was written for this only, its last step.
    #[serde(default, serialize_with = "last_step")]
    trace: Vec<KnownStep>,
}

#[derive(Deserialize, Serialize, Clone, Debug)]
struct KnownProcess {
    process: String,
    #[serde(default)]
    waiting: Vec<KnownStatement>,
}

#[derive(Deserialize, Serialize, Clone, Debug)]
struct KnownStatement {
    text: String,
}

#[derive(Deserialize, Serialize, Clone, Debug)]
struct KnownStep {
    process: String,
}

fn last_step<S: Serializer>(trace: &[KnownStep], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(trace.last())
}

/// Something that is not as it should be.
pub struct Problem {
    /// What makes it the one that it is.
    pub identity: Identity,
    /// The property.
    pub property: String,
    /// The model, the property and what is wrong, for people.
    pub text: String,
}

impl KnownReport {
    /// What matters here of a report.
    pub fn of(report: &Report) -> Self {
        let property = |property: &PropertyReport| KnownProperty {
            name: property.name.clone(),
            kind: word(&property.kind),
            verdict: word(&property.verdict),
            expected: property.expected.as_ref().map(word),
            stopped: property.stopped.as_ref().map(word),
            violations: property.violations.iter().map(KnownViolation::of).collect(),
        };
        Self { file: report.file.clone(), properties: report.properties.iter().map(property).collect() }
    }

    /// Whether another report is about the same model.
    pub fn is_about(&self, other: &Self) -> bool {
        same_path(&self.file) == same_path(&other.file)
    }

    /// Whether a search for violations of safety ended with the first one.
    pub fn is_cut_short(&self) -> bool {
        let mut safety = self.properties.iter().filter(|property| property.kind == "safety");
        safety.any(|property| property.stopped.as_deref() == Some("violation"))
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

    /// The violations that are not expected, and the properties that hold although they are not expected to.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut identities = self.identities().into_iter();
        for property in &self.properties {
            let unexpected = property.expected.as_deref() != Some(property.verdict.as_str());
            let problem = |identity: Identity, what: &str| Problem {
                identity,
                property: property.name.clone(),
                text: format!("{}, {}: {what}", self.file, property.name),
            };
            // Each violation takes its identity, whether it is a problem or not.
            let violations: Vec<_> = property.violations.iter().zip(identities.by_ref()).collect();
            if property.verdict == "violated" && unexpected {
                problems
                    .extend(violations.into_iter().map(|(violation, identity)| problem(identity, &violation.message)));
            } else if property.verdict == "holds" && property.expected.is_some() && unexpected {
                problems.push(problem(self.unexpected(&property.name), "holds, but was expected to be violated"));
            }
        }
        problems
    }

    /// The identity of a property that holds, although that is not expected.
    pub fn unexpected(&self, property: &str) -> Identity {
        Identity {
            model: same_path(&self.file),
            property: property.to_owned(),
            kind: "unexpected".to_owned(),
            statements: Vec::new(),
            number: 1,
        }
    }

    fn identity(&self, property: &KnownProperty, violation: &KnownViolation) -> Identity {
        // Searches for infinite runs end with the first one, and which one that is may change with the search.
        let of_safety = property.kind == "safety";
        Identity {
            model: same_path(&self.file),
            property: property.name.clone(),
            kind: if of_safety { &violation.kind } else { "infinite" }.to_owned(),
            statements: if of_safety { violation.statements() } else { Vec::new() },
            number: 0,
        }
    }
}

/// The word for one of several, as reports have it.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

impl KnownViolation {
    fn of(violation: &ViolationReport) -> Self {
        let waiting = |waiting: &WaitingRecord| KnownStatement { text: waiting.text.clone() };
        let blocked = violation.blocked.iter().map(|status| KnownProcess {
            process: status.process.clone(),
            waiting: status.waiting.iter().map(waiting).collect(),
        });
        Self {
            kind: word(&violation.kind),
            message: violation.message.clone(),
            blocked: blocked.collect(),
            trace: violation.trace.iter().map(|step| KnownStep { process: step.process.clone() }).collect(),
        }
    }

    /// What the processes that take part do, without numbers of processes and lines.
    fn statements(&self) -> Vec<String> {
        let waiting = self.blocked.iter().map(|process| {
            let texts: Vec<&str> = process.waiting.iter().map(|statement| statement.text.as_str()).collect();
            format!("{}: {}", process.process, texts.join(" | "))
        });
        let mut statements: Vec<String> = waiting.collect();
        if statements.is_empty() {
            let process = self.trace.last().map_or("", |step| &step.process);
            statements.push(format!("{process}: {}", self.message));
        }
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
