//! What a check leaves behind.

use crate::executed::Executed;
use fabius_base::Finding;
use fabius_counterexample::Counterexample;
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::report::{FindingReport, PropertyReport, Report, TOOL, VERSION, Verdict};

/// What a check leaves behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All that was found out, as plain data.
    pub report: Report,
    /// The counterexamples, in the order of the report's violations.
    pub counterexamples: Vec<Counterexample>,
    /// What the check itself found in the text: statements that are never executed, a property that
    /// does not exist.
    pub findings: Vec<Finding>,
    /// The steps that searches took; `None` if nothing was searched. What no search executed may still be executed by some run, unless the
    /// searches were exhaustive.
    pub executed: Option<Executed>,
    /// Fabius itself is wrong: what happened, for a person to report.
    pub failure: Option<String>,
}

impl Outcome {
    /// The outcome of a check whose properties were all decided before: their reports, with the counterexamples in the order of
    /// their violations and what was found in the text.
    pub fn known(
        loaded: &Loaded,
        properties: Vec<PropertyReport>,
        counterexamples: Vec<Counterexample>,
        findings: Vec<Finding>,
    ) -> Self {
        let all = loaded.findings.iter().chain(&findings);
        let mut report = Report {
            findings: all.map(|finding| FindingReport::new(&loaded.map, finding)).collect(),
            properties,
            project: loaded.project.as_ref().map(|project| project.report.clone()),
            ..report(&loaded.name, Verdict::Undecided, false, String::new())
        };
        conclude(&mut report);
        Self { report, counterexamples, findings, executed: None, failure: None }
    }
}

/// The report of a check that ended in a panic.
pub fn crashed(name: &str, panic: &str) -> Report {
    let mut report = report(name, Verdict::Undecided, false, "fabius itself failed".to_owned());
    report.internal_error = Some(internal_error(panic));
    report
}

/// The verdict over all properties.
pub(crate) fn conclude(report: &mut Report) {
    let properties = &report.properties;
    let any = |verdict: Verdict| properties.iter().any(|property| property.verdict == verdict);
    let verdict = match () {
        () if any(Verdict::Faulty) => Verdict::Faulty,
        () if any(Verdict::Violated) => Verdict::Violated,
        () if any(Verdict::Undecided) || properties.is_empty() => Verdict::Undecided,
        () => Verdict::Holds,
    };
    let exhaustive = !properties.is_empty() && properties.iter().all(|property| property.exhaustive);
    let reason = match properties.iter().find(|property| property.verdict == verdict) {
        Some(decisive) => decisive.reason.clone(),
        None => "the model has no property of this kind".to_owned(),
    };
    (report.verdict, report.exhaustive, report.reason) = (verdict, exhaustive, reason);
}

pub(crate) fn faulty(loaded: &Loaded, more: Option<Finding>) -> Outcome {
    let findings: Vec<Finding> = more.into_iter().collect();
    let all = loaded.findings.iter().chain(&findings);
    let errors = all.clone().filter(|finding| finding.is_error()).count();
    let plural = if errors == 1 { "" } else { "s" };
    let mut report =
        report(&loaded.name, Verdict::Faulty, false, format!("not checked, because of {errors} error{plural}"));
    report.findings = all.map(|finding| FindingReport::new(&loaded.map, finding)).collect();
    Outcome { report, counterexamples: Vec::new(), findings, executed: None, failure: None }
}

pub(crate) fn report(name: &str, verdict: Verdict, exhaustive: bool, reason: String) -> Report {
    Report {
        tool: TOOL,
        version: VERSION,
        file: name.to_owned(),
        verdict,
        exhaustive,
        reason,
        findings: Vec::new(),
        properties: Vec::new(),
        project: None,
        internal_error: None,
    }
}
