//! Edits that somebody may want to make, tried by the checker in the background: does the model hold
//! then, or does the error only move?

use super::jobs::Job;
use fabius_engine::words::counted;
use fabius_engine::{Outcome, Verdict};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// More results than this are not kept.
const RESULTS_MAX: usize = 200;

/// What is known about texts that were tried.
#[derive(Clone, Debug, Default)]
pub struct FixValidations(HashMap<u64, Option<FixValidation>>);

/// What became of a text that was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FixValidation {
    /// It holds, and everything was looked at: this many states.
    Holds(u64),
    /// Nothing was found in this many states, which are not all.
    Undecided(u64),
    /// It fails in a line (from 1) of the new text; of which properties.
    Fails(u32, String, Vec<String>),
    /// It is no model.
    Faulty,
}

impl FixValidation {
    /// What became of it, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Holds(states) => format!("holds, {}", counted(*states, "state")),
            Self::Undecided(0) => "not checked in time".to_owned(),
            Self::Undecided(states) => format!("no error in {}, not everything was checked", counted(*states, "state")),
            Self::Fails(line, what, _) => format!("line {line} still fails: {what}"),
            Self::Faulty => "not a valid model".to_owned(),
        }
    }
}

/// The number of a text.
pub fn number_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl FixValidations {
    /// What is known about a text: nothing, that it is being tried, or what became of it.
    pub fn of(&self, text: &str) -> Option<&Option<FixValidation>> {
        self.0.get(&number_of(text))
    }

    /// Whether a text was tried or is being tried.
    pub fn is_known(&self, number: u64) -> bool {
        self.0.contains_key(&number)
    }

    /// A text is being tried from now on.
    pub fn begin(&mut self, number: u64) {
        if RESULTS_MAX < self.0.len() {
            self.0.clear();
        }
        self.0.insert(number, None);
    }

    /// A trial is over. One that was stopped before it found anything may be begun again.
    pub fn finished(&mut self, number: u64, outcome: Option<Outcome>, job: &Job) {
        let Some(outcome) = outcome else { return };
        let states = outcome.report.properties.iter().map(|property| property.states).max().unwrap_or(0);
        let cancelled =
            outcome.report.properties.iter().any(|p| p.stopped == Some(fabius_engine::report::Stopped::Cancelled));
        let violated = outcome.report.properties.iter().filter(|property| !property.violations.is_empty());
        let violated: Vec<String> = violated.map(|property| property.name.clone()).collect();
        let first = outcome.report.properties.iter().flat_map(|property| &property.violations).next();
        let validation = match (outcome.report.verdict, first) {
            (_, Some(violation)) if violation.file == job.document => {
                FixValidation::Fails(violation.line, violation.kind.sentence().to_owned(), violated)
            }
            (_, Some(violation)) => FixValidation::Fails(violation.line, violation.file.clone(), violated),
            (Verdict::Holds, None) => FixValidation::Holds(states),
            (Verdict::Faulty, None) => FixValidation::Faulty,
            _ if cancelled => {
                self.0.remove(&number);
                return;
            }
            _ => FixValidation::Undecided(states),
        };
        self.0.insert(number, Some(validation));
    }
}
