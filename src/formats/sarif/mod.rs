//! SARIF 2.1.0 (Static Analysis Results Interchange Format): violations and findings as code scanning shows them.
//!
//! A violation has its run as a code flow. A property that is undecided is a result of the kind `open`, which SARIF has for
//! what was evaluated without an answer, and a notification; it is never a pass. A property that holds has no result.

mod log;

use super::{Checked, Violation};
use crate::explain;
use crate::formats::identity::same_path;
use fabius_base::{Code, Severity};
use fabius_engine::report::{FindingReport, LabelReport, PropertyReport};
use fabius_engine::words::counted;
use fabius_engine::{Report, TOOL, VERSION, Verdict};
use fabius_witness::format::json::StepRecord;
use log::{
    ArtifactLocation, BaselineState, CodeFlow, Invocation, Level, Location, Log, Message, Notification,
    PhysicalLocation, PropertyBag, Region, ReportingConfiguration, ReportingDescriptor, ResultKind, Run, SarifResult,
    Suppression, ThreadFlow, ThreadFlowLocation, Tool, ToolComponent,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use xxhash_rust::xxh3::xxh3_128;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";
/// The rule of properties without an answer.
const UNDECIDED: &str = "undecided";
/// The rule of properties that hold, although the model or its project says that they do not.
const UNEXPECTED: &str = "unexpected-verdict";
/// Of a longer run, this many steps are told at each of its ends: code scanning shows no more.
const STEPS_AT_ENDS: usize = 500;

/// The document; `missing` is the number of models that the check did not come to, since it was stopped.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn document(checked: &[Checked], missing: usize) -> io::Result<String> {
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for model in checked {
        results.extend(model.violations().map(|violation| from_violation(&violation, &model.report)));
        results.extend(model.report.findings.iter().map(|finding| from_finding(finding, &model.report)));
        for property in &model.report.properties {
            results.extend(without_violation(property, &model.report));
            notifications.extend(notification(property, &model.report));
        }
        if let Some(error) = &model.report.internal_error {
            let message = Message::of(error.as_str());
            notifications.push(Notification { level: Level::Error, message, locations: Vec::new() });
        }
    }
    let done = |model: &Checked| model.report.internal_error.is_none() && model.report.verdict != Verdict::Faulty;
    let driver = ToolComponent {
        name: TOOL,
        version: VERSION,
        semantic_version: VERSION,
        short_description: Message::of("A model checker for Promela"),
        rules: rules(&results),
        information_uri: explain::repository().map(str::to_owned),
    };
    let invocation = Invocation {
        execution_successful: missing == 0 && checked.iter().all(done),
        tool_execution_notifications: notifications,
    };
    let tool = Tool { driver };
    let run = Run { tool, column_kind: "unicodeCodePoints", invocations: vec![invocation], results };
    let log = Log { schema: SCHEMA, version: "2.1.0", runs: vec![run] };
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

/// The rules that results name.
fn rules(results: &[SarifResult]) -> Vec<ReportingDescriptor> {
    let named: BTreeSet<&str> = results.iter().map(|result| result.rule_id.as_str()).collect();
    let of_table = Code::ALL.iter().filter(|code| named.contains(code.as_str())).map(|code| rule(*code));
    let others = [
        (
            UNDECIDED,
            "undecided property",
            "A limit was reached, or the search was stopped, before there was an answer.",
        ),
        (UNEXPECTED, "unexpected verdict", "The model, or its project, says to expect another verdict."),
    ];
    let others = others.into_iter().filter(|(id, ..)| named.contains(id));
    let others = others.map(|(id, title, help)| ReportingDescriptor {
        id,
        name: None,
        short_description: Message::of(title),
        help: Message::of(help),
        default_configuration: None,
        help_uri: None,
    });
    of_table.chain(others).collect()
}

fn rule(code: Code) -> ReportingDescriptor {
    let id = code.as_str();
    let page = explain::section(id).unwrap_or_else(|| code.title().to_owned());
    ReportingDescriptor {
        id,
        name: Some(format!("{code:?}")),
        short_description: Message::of(code.title()),
        help: Message::of(format!("{page}\n\nfabius explain {id} prints this page.")),
        default_configuration: Some(ReportingConfiguration { level: level(code.severity()) }),
        help_uri: explain::address(id),
    }
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Note,
    }
}

fn from_violation(violation: &Violation<'_>, report: &Report) -> SarifResult {
    let (property, told) = (violation.property, violation.report);
    let mut text = vec![format!("{} ({})", violation.headline(), property.name)];
    text.extend(told.explanation.iter().cloned());
    text.extend(told.advice.clone());
    let suppression = suppression(violation, report);
    let level = if suppression.is_some() { Level::Note } else { Level::Error };
    let here = location(&told.file, told.line, told.column, None);
    let baseline = |is_known| if is_known { BaselineState::Unchanged } else { BaselineState::New };
    let (steps, shortest) = (Some(told.steps), Some(told.shortest));
    SarifResult {
        properties: Some(PropertyBag { property: property.name.clone(), steps, shortest }),
        related_locations: violation.example.map(|example| related(&example.finding.labels)),
        code_flows: flow(&told.trace, told.steps_left_out, told.loop_start).into_iter().collect(),
        baseline_state: violation.is_known().map(baseline),
        suppressions: suppression.into_iter().collect(),
        partial_fingerprints: Some([("fabiusViolation/v1", violation.identity.fingerprint())].into()),
        ..SarifResult::new(violation.code(), ResultKind::Fail, level, text.join("\n"), here)
    }
}

/// Why a violation is no reason to do anything: it is expected, or known.
fn suppression(violation: &Violation<'_>, report: &Report) -> Option<Suppression> {
    let property = violation.property;
    if violation.is_accepted == Some(true) {
        return Some(Suppression { kind: "external", justification: "known from the baseline" });
    }
    if property.is_as_expected() != Some(true) {
        return None;
    }
    let setting = format!("expect {} ", property.name);
    let in_project =
        report.project.as_ref().is_some_and(|project| project.settings.iter().any(|known| known.starts_with(&setting)));
    let kind = if in_project { "external" } else { "inSource" };
    Some(Suppression { kind, justification: "violated, as expected" })
}

/// The run: one thread flow, since most viewers show only the first one; who moves is said in each step.
fn flow(trace: &[StepRecord], left_out: u64, loop_start: Option<u64>) -> Option<CodeFlow> {
    let cut = trace.len().saturating_sub(2 * STEPS_AT_ENDS);
    let (first, rest) = trace.split_at(if cut == 0 { trace.len() } else { STEPS_AT_ENDS });
    let steps = first.iter().chain(&rest[cut.min(rest.len())..]);
    let locations: Vec<ThreadFlowLocation> = steps.map(|step| flow_step(step, loop_start)).collect();
    let missing = left_out + cut as u64;
    let message = (0 < missing).then(|| Message::of(format!("{} in the middle left out", counted(missing, "step"))));
    (!trace.is_empty()).then(|| CodeFlow { thread_flows: vec![ThreadFlow { locations }], message })
}

fn flow_step(step: &StepRecord, loop_start: Option<u64>) -> ThreadFlowLocation {
    let number = step.step as u64;
    let mut text = format!("{}[{}]: {}", step.process, step.pid, step.text);
    let changes: Vec<String> =
        step.changes.iter().map(|change| format!("{}: {} → {}", change.name, change.old, change.new)).collect();
    if !changes.is_empty() {
        text = format!("{text} ({})", changes.join(", "));
    }
    for note in &step.notes {
        text = format!("{text}; {}", note.text);
    }
    if let Some(fault) = &step.fault {
        text = format!("{text}: {fault}");
    }
    if loop_start == Some(number) {
        text = format!("the loop starts here: {text}");
    }
    let state: BTreeMap<String, Message> =
        step.changes.iter().map(|change| (change.name.clone(), Message::of(change.new.clone()))).collect();
    let location = location(&step.file, step.line, step.column, Some(&text));
    ThreadFlowLocation { execution_order: number, location, state }
}

fn from_finding(finding: &FindingReport, report: &Report) -> SarifResult {
    let lines = [&finding.message].into_iter().chain(&finding.notes).chain(&finding.help);
    let text: Vec<&str> = lines.map(String::as_str).collect();
    let file = if finding.file.is_empty() { &report.file } else { &finding.file };
    let first = finding.labels.first().filter(|label| (label.line, label.column) == (finding.line, finding.column));
    let here = match first {
        Some(label) => label_location(label, None),
        None => location(file, finding.line, finding.column, None),
    };
    let identity = format!("{} {} {}", same_path(file), finding.code, finding.message);
    let fingerprint = format!("{:032x}", xxh3_128(identity.as_bytes()));
    let level = match finding.severity {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => Level::Note,
    };
    SarifResult {
        related_locations: Some(related(&finding.labels)),
        partial_fingerprints: Some([("fabiusFinding/v1", fingerprint)].into()),
        ..SarifResult::new(finding.code, ResultKind::Fail, level, text.join("\n"), here)
    }
}

/// What is to be said of a property that has no violation.
fn without_violation(property: &PropertyReport, report: &Report) -> Option<SarifResult> {
    let (rule, kind, level, what) = match (property.verdict, property.is_as_expected()) {
        (Verdict::Undecided, _) => (UNDECIDED, ResultKind::Open, Level::None, "undecided"),
        (Verdict::Holds, Some(false)) => {
            (UNEXPECTED, ResultKind::Fail, Level::Error, "holds, but was expected to be violated")
        }
        _ => return None,
    };
    let text = format!("{}: {what}: {}", property.name, property.reason);
    let properties = Some(PropertyBag { property: property.name.clone(), steps: None, shortest: None });
    // Code scanning wants a line, and the property is about the whole text.
    let here = location(&report.file, 1, 1, None);
    Some(SarifResult { properties, ..SarifResult::new(rule, kind, level, text, here) })
}

fn notification(property: &PropertyReport, report: &Report) -> Option<Notification> {
    (property.verdict == Verdict::Undecided).then(|| Notification {
        level: Level::Warning,
        message: Message::of(format!("{}: {}: undecided: {}", report.file, property.name, property.reason)),
        locations: vec![location(&report.file, 0, 0, None)],
    })
}

/// The places that a finding speaks of, besides its own.
fn related(labels: &[LabelReport]) -> Vec<Location> {
    let all = labels.iter().filter(|label| !label.message.is_empty());
    all.map(|label| label_location(label, Some(&label.message))).collect()
}

fn label_location(label: &LabelReport, message: Option<&str>) -> Location {
    let mut place = location(&label.file, label.line, label.column, message);
    if let Some(region) = &mut place.physical_location.region
        && (label.line, label.column) <= (label.end_line, label.end_column)
    {
        (region.end_line, region.end_column) = (Some(label.end_line), Some(label.end_column));
    }
    place
}

/// A place; line 0 is the whole file.
fn location(file: &str, line: u32, column: u32, message: Option<&str>) -> Location {
    let region = Region { start_line: line, start_column: column.max(1), end_line: None, end_column: None };
    let artifact_location = ArtifactLocation { uri: uri(file) };
    let physical_location = PhysicalLocation { artifact_location, region: (0 < line).then_some(region) };
    Location { physical_location, message: message.map(Message::of) }
}

/// The name of a file as a reference: relative if the name is.
fn uri(file: &str) -> String {
    let path = same_path(file);
    let drive = path.as_bytes().get(1) == Some(&b':');
    let scheme = match () {
        () if path.starts_with("//") => "file:",
        () if path.starts_with('/') => "file://",
        () if drive => "file:///",
        () => "",
    };
    let mut reference = scheme.to_owned();
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                reference.push(char::from(byte))
            }
            b':' if drive && at == 1 => reference.push(':'),
            other => reference.push_str(&format!("%{other:02X}")),
        }
    }
    reference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_references() {
        assert_eq!(uri("./models/a b.pml"), "models/a%20b.pml");
        assert_eq!(uri("/tmp/ä:%.pml"), "file:///tmp/%C3%A4%3A%25.pml");
        assert_eq!(uri("C:\\m\\a.pml"), "file:///C:/m/a.pml");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }

    #[test]
    fn a_run_that_was_stopped_before_all_models_is_no_success() {
        for (missing, success) in [(0, true), (1, false)] {
            let document: serde_json::Value =
                document(&[], missing).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            assert_eq!(document["runs"][0]["invocations"][0]["executionSuccessful"], success);
        }
    }

    #[test]
    fn a_long_run_is_told_by_its_ends() {
        let step = |number: usize| StepRecord {
            step: number,
            process: "P".into(),
            pid: 1,
            file: "a.pml".into(),
            line: 1,
            column: 1,
            text: "skip".into(),
            changes: Vec::new(),
            partner: None,
            messages: Vec::new(),
            printed: String::new(),
            created: Vec::new(),
            ended: false,
            atomic: false,
            d_step: false,
            timeout: false,
            held_back: Vec::new(),
            notes: Vec::new(),
            fault: None,
            original: None,
        };
        let steps: Vec<StepRecord> = (1..=1203).map(step).collect();
        let flow = serde_json::to_value(flow(&steps, 1000, Some(1203))).unwrap_or_default();
        let told = flow["threadFlows"][0]["locations"].as_array().cloned().unwrap_or_default();
        assert_eq!(told.len(), 1000);
        assert_eq!(
            [&told[499], &told[500], &told[999]].map(|step| step["executionOrder"].as_u64()),
            [500, 704, 1203].map(Some)
        );
        assert_eq!(flow["message"]["text"], "1 203 steps in the middle left out");
        assert!(told[999].to_string().contains("the loop starts here"));
        assert_eq!(super::flow(&steps[..1], 0, None).map(|flow| flow.message.is_none()), Some(true));
    }
}
