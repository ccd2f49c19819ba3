//! Compares what the tool says of a model with what Spin says.

use crate::Kind;
use crate::corpus::Entry;
use crate::spin::{Answer, Run};
use crate::tool::{Report, Tool};
use std::fmt;
use std::path::Path;

/// In what two answers can differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Aspect {
    /// The tool crashed, was killed, or broke its own contract.
    Crash,
    /// Whether the text is a model.
    Syntax,
    /// Whether it is safe.
    Verdict,
    /// What kinds of violation there are.
    Kinds,
    /// What kind of violation is found first.
    FirstKind,
    /// How many states there are.
    States,
    /// How many states are left after optimisation.
    OptimisedStates,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Crash, Self::Syntax, Self::Verdict, Self::Kinds, Self::FirstKind, Self::States, Self::OptimisedStates];

    /// The word used in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Syntax => "syntax",
            Self::Verdict => "verdict",
            Self::Kinds => "kinds",
            Self::FirstKind => "first_kind",
            Self::States => "states",
            Self::OptimisedStates => "optimised_states",
        }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// In what.
    pub aspect: Aspect,
    /// What Spin says.
    pub spin: String,
    /// What the tool says.
    pub tool: String,
}

impl Disagreement {
    fn new(aspect: Aspect, spin: impl fmt::Display, tool: impl fmt::Display) -> Self {
        Self { aspect, spin: spin.to_string(), tool: tool.to_string() }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: Spin says {}, the tool says {}", self.aspect, self.spin, self.tool)
    }
}

/// What Spin is known to say of a model; what is not known is not compared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// The text is a model.
    pub accepted: bool,
    /// It is safe, or not.
    pub safe: Option<bool>,
    /// All kinds of violation.
    pub kinds: Option<Vec<Kind>>,
    /// The kind found first by a depth-first search.
    pub first_kind: Option<Kind>,
    /// States of the model as it stands.
    pub states: Option<u64>,
    /// States after Spin's optimisations.
    pub optimised_states: Option<u64>,
}

impl Expected {
    /// What the manifest of the corpus knows.
    pub fn recorded(entry: &Entry) -> Self {
        let mut expected = Self { accepted: entry.syntax.ok, ..Self::default() };
        let Some(base) = entry.run("base") else { return expected };
        let comparable = base.complete && !base.kinds().contains(&Kind::Evaluation);
        if base.errors > 0 {
            expected.safe = Some(false);
        } else if base.complete {
            expected.safe = Some(true);
        }
        if base.complete {
            expected.kinds = Some(base.kinds());
        }
        if comparable {
            expected.states = Some(base.stored);
            let optimised = entry.run("opt_nopor").filter(|run| run.complete && run.kinds() == base.kinds());
            expected.optimised_states = optimised.map(|run| run.stored);
        }
        if let Some(first) = entry.run("first_error") {
            expected.first_kind = first.kinds().first().copied();
        }
        expected
    }

    /// What Spin has just answered: to all states of the model as it stands, and optimised.
    /// `None` if it did not answer.
    pub fn asked(plain: &Answer, optimised: &Answer) -> Option<Self> {
        match (plain, optimised) {
            (Answer::Rejected { .. }, _) => Some(Self::default()),
            (Answer::Run(plain), Answer::Run(optimised)) => Some(Self::ran(plain, optimised)),
            _ => None,
        }
    }

    fn ran(plain: &Run, optimised: &Run) -> Self {
        let decided = plain.complete || plain.errors > 0;
        let counted = optimised.comparable() && optimised.kinds() == plain.kinds();
        Self {
            accepted: true,
            safe: decided.then_some(plain.errors == 0),
            kinds: plain.comparable().then(|| plain.kinds()),
            first_kind: None,
            states: plain.comparable().then_some(plain.stored),
            optimised_states: (plain.comparable() && counted).then_some(optimised.stored),
        }
    }
}

/// What the tool says of a model, in the ways in which it is asked.
#[derive(Clone, Debug)]
pub struct Said {
    /// As a person asks.
    pub default: Result<Report, String>,
    /// `--no-optimize --search dfs`: what a depth-first search of the model as it stands meets first.
    pub first: Result<Report, String>,
    /// `--no-optimize --keep-going`.
    pub plain: Result<Report, String>,
    /// `--keep-going`.
    pub optimised: Result<Report, String>,
}

impl Said {
    /// Asks in all ways; `flags` are added to each.
    pub fn by(tool: &Tool, model: &Path, flags: &[&str]) -> Self {
        let ask = |more: &[&str]| tool.check(model, &[flags, more].concat());
        Self {
            default: ask(&[]),
            first: ask(&["--no-optimize", "--search", "dfs"]),
            plain: ask(&["--no-optimize", "--keep-going"]),
            optimised: ask(&["--keep-going"]),
        }
    }

    fn all(&self) -> [&Result<Report, String>; 4] {
        [&self.default, &self.first, &self.plain, &self.optimised]
    }
}

/// All differences between what Spin says and what the tool says.
pub fn compare(expected: &Expected, said: &Said) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let reports = match said.all().map(Result::as_ref) {
        [Ok(default), Ok(first), Ok(plain), Ok(optimised)] => [default, first, plain, optimised],
        results => {
            let mut failures: Vec<&String> = results.into_iter().filter_map(Result::err).collect();
            failures.dedup();
            found.extend(failures.into_iter().map(|failure| Disagreement::new(Aspect::Crash, "nothing", failure)));
            return found;
        }
    };
    let [default, first, plain, optimised] = reports;
    let accepted = default.verdict != "faulty" || default.not_checked();
    if accepted != expected.accepted {
        let word = |accepted| if accepted { "accepted" } else { "rejected" };
        found.push(Disagreement::new(Aspect::Syntax, word(expected.accepted), word(accepted)));
    }
    if !accepted || !expected.accepted || default.not_checked() {
        return found;
    }
    compare_verdicts(expected, reports, &mut found);
    compare_kinds(expected, first, plain, optimised, &mut found);
    compare_counts(expected, plain, optimised, &mut found);
    found
}

fn compare_verdicts(expected: &Expected, reports: [&Report; 4], found: &mut Vec<Disagreement>) {
    let Some(safe) = expected.safe else { return };
    // Where Spin itself did not see everything, going on to the end is too much to ask.
    let reports = if expected.kinds.is_some() { &reports[..] } else { &reports[..1] };
    let word = if safe { "holds" } else { "violated" };
    let mut wrong: Vec<&str> = reports.iter().map(|r| r.verdict.as_str()).filter(|verdict| *verdict != word).collect();
    wrong.dedup();
    if !wrong.is_empty() {
        found.push(Disagreement::new(Aspect::Verdict, word, wrong.join(", ")));
    }
}

fn compare_kinds(
    expected: &Expected,
    first: &Report,
    plain: &Report,
    optimised: &Report,
    found: &mut Vec<Disagreement>,
) {
    if let Some(kinds) = &expected.kinds {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        for report in [plain, optimised] {
            let said = report.safety().map(|safety| safety.kinds()).unwrap_or_default();
            if said != kinds {
                found.push(Disagreement::new(Aspect::Kinds, kinds.join(" + "), said.join(" + ")));
                break;
            }
        }
    }
    let said = first.safety().and_then(|safety| safety.violations.first());
    if let (Some(kind), Some(violation)) = (expected.first_kind, said)
        && violation.kind != kind.as_str()
    {
        found.push(Disagreement::new(Aspect::FirstKind, kind, &violation.kind));
    }
}

fn compare_counts(expected: &Expected, plain: &Report, optimised: &Report, found: &mut Vec<Disagreement>) {
    let count = |report: &Report| report.safety().filter(|safety| safety.exhaustive).map(|safety| safety.states);
    let show = |count: Option<u64>| count.map_or("nothing exhaustive".to_owned(), |count| count.to_string());
    if let Some(states) = expected.states
        && count(plain) != Some(states)
    {
        found.push(Disagreement::new(Aspect::States, states, show(count(plain))));
    }
    if let Some(most) = expected.optimised_states
        && count(optimised).is_none_or(|states| states > most)
    {
        found.push(Disagreement::new(Aspect::OptimisedStates, format!("at most {most}"), show(count(optimised))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Finding, Property, Violation};

    fn report(verdict: &str, states: u64, kinds: &[&str]) -> Report {
        let violation = |kind: &&str| Violation { kind: (*kind).to_owned(), message: String::new(), steps: 1 };
        Report {
            verdict: verdict.to_owned(),
            exhaustive: true,
            findings: Vec::new(),
            properties: vec![Property {
                name: "safety".to_owned(),
                kind: "safety".to_owned(),
                verdict: verdict.to_owned(),
                exhaustive: true,
                states,
                transitions: states,
                bytes_per_state: None,
                violations: kinds.iter().map(violation).collect(),
            }],
        }
    }

    fn faulty(code: &str) -> Report {
        let finding = Finding { code: code.to_owned(), severity: "error".to_owned() };
        Report { verdict: "faulty".to_owned(), findings: vec![finding], ..report("faulty", 0, &[]) }
    }

    fn thrice(report: Report) -> Said {
        Said {
            default: Ok(report.clone()),
            first: Ok(report.clone()),
            plain: Ok(report.clone()),
            optimised: Ok(report),
        }
    }

    fn safe(states: u64, optimised: u64) -> Expected {
        Expected {
            accepted: true,
            safe: Some(true),
            kinds: Some(Vec::new()),
            first_kind: None,
            states: Some(states),
            optimised_states: Some(optimised),
        }
    }

    fn aspects(expected: &Expected, said: &Said) -> Vec<Aspect> {
        compare(expected, said).into_iter().map(|d| d.aspect).collect()
    }

    #[test]
    fn equal_answers_agree() {
        assert_eq!(aspects(&safe(10, 10), &thrice(report("holds", 10, &[]))), []);
    }

    #[test]
    fn one_state_more_or_less_is_flagged() {
        for states in [9, 11] {
            assert!(aspects(&safe(10, 20), &thrice(report("holds", states, &[]))).contains(&Aspect::States));
        }
    }

    #[test]
    fn more_states_than_spins_optimised_search_are_flagged_and_fewer_are_not() {
        let mut said = thrice(report("holds", 10, &[]));
        said.optimised = Ok(report("holds", 7, &[]));
        assert_eq!(aspects(&safe(10, 7), &said), []);
        assert_eq!(aspects(&safe(10, 6), &said), [Aspect::OptimisedStates]);
    }

    #[test]
    fn a_count_that_is_not_exhaustive_is_no_count() {
        let mut partial = report("holds", 10, &[]);
        partial.properties[0].exhaustive = false;
        assert_eq!(aspects(&safe(10, 10), &thrice(partial)), [Aspect::States, Aspect::OptimisedStates]);
    }

    #[test]
    fn the_wrong_verdict_is_flagged_and_so_is_none() {
        for verdict in ["violated", "undecided"] {
            assert!(aspects(&safe(10, 10), &thrice(report(verdict, 10, &[]))).contains(&Aspect::Verdict));
        }
    }

    #[test]
    fn where_spin_did_not_see_everything_the_default_answer_counts() {
        let expected = Expected { accepted: true, safe: Some(false), ..Expected::default() };
        let mut said = thrice(report("undecided", 10, &[]));
        assert_eq!(aspects(&expected, &said), [Aspect::Verdict]);
        said.default = Ok(report("violated", 10, &["assertion"]));
        assert_eq!(aspects(&expected, &said), []);
    }

    #[test]
    fn kinds_are_compared_as_sets_and_the_first_apart() {
        let expected = Expected {
            kinds: Some(vec![Kind::Assertion, Kind::InvalidEndState]),
            first_kind: Some(Kind::InvalidEndState),
            safe: Some(false),
            ..safe(10, 10)
        };
        let both = thrice(report("violated", 10, &["invalid_end_state", "assertion", "assertion"]));
        assert_eq!(aspects(&expected, &both), []);
        let swapped = thrice(report("violated", 10, &["assertion", "invalid_end_state"]));
        assert_eq!(aspects(&expected, &swapped), [Aspect::FirstKind]);
        let one = thrice(report("violated", 10, &["invalid_end_state"]));
        assert_eq!(aspects(&expected, &one), [Aspect::Kinds]);
    }

    #[test]
    fn a_text_that_only_one_accepts_is_flagged() {
        assert_eq!(aspects(&Expected::default(), &thrice(report("holds", 1, &[]))), [Aspect::Syntax]);
        assert_eq!(aspects(&safe(1, 1), &thrice(faulty("F0201"))), [Aspect::Syntax]);
        assert_eq!(aspects(&Expected::default(), &thrice(faulty("F0201"))), []);
    }

    #[test]
    fn embedded_c_is_accepted_but_not_checked() {
        assert_eq!(aspects(&safe(1, 1), &thrice(faulty("F0501"))), []);
        assert_eq!(aspects(&Expected::default(), &thrice(faulty("F0501"))), [Aspect::Syntax]);
    }

    #[test]
    fn a_crash_is_flagged() {
        let mut said = thrice(report("holds", 10, &[]));
        said.plain = Err("signal 11".to_owned());
        assert_eq!(aspects(&safe(10, 10), &said), [Aspect::Crash]);
    }
}
