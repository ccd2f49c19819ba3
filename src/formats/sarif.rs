//! SARIF 2.1.0 (Static Analysis Results Interchange Format): violations and findings as code scanning shows them.
//!
//! A violation has its run as a code flow. A property that is undecided is a result of the kind `open`, which SARIF has for
//! what was evaluated without an answer, and a notification; it is never a pass. A property that holds has no result.

use super::{Checked, Violation};
use crate::explain;
use crate::formats::identity::same_path;
use fabius_base::{Code, Severity};
use fabius_engine::report::{FindingReport, LabelReport, PropertyReport};
use fabius_engine::words::counted;
use fabius_engine::{Report, TOOL, VERSION, Verdict};
use fabius_witness::format::json::StepRecord;
use serde_json::{Map, Value, json};
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
            notifications.push(json!({ "level": "error", "message": { "text": error } }));
        }
    }
    let done = |model: &Checked| model.report.internal_error.is_none() && model.report.verdict != Verdict::Faulty;
    let mut driver = json!({
        "name": TOOL, "version": VERSION, "semanticVersion": VERSION,
        "shortDescription": { "text": "A model checker for Promela" },
        "rules": rules(&results),
    });
    if let Some(repository) = explain::repository() {
        driver["informationUri"] = json!(repository);
    }
    let invocation = json!({
        "executionSuccessful": missing == 0 && checked.iter().all(done),
        "toolExecutionNotifications": notifications,
    });
    let run = json!({
        "tool": { "driver": driver },
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    });
    let document = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The rules that results name.
fn rules(results: &[Value]) -> Vec<Value> {
    let named: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
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
    let others = others
        .map(|(id, title, help)| json!({ "id": id, "shortDescription": { "text": title }, "help": { "text": help } }));
    of_table.chain(others).collect()
}

fn rule(code: Code) -> Value {
    let id = code.as_str();
    let page = explain::section(id).unwrap_or_else(|| code.title().to_owned());
    let mut rule = json!({
        "id": id,
        "name": format!("{code:?}"),
        "shortDescription": { "text": code.title() },
        "help": { "text": format!("{page}\n\nfabius explain {id} prints this page.") },
        "defaultConfiguration": { "level": level(code.severity()) },
    });
    if let Some(address) = explain::address(id) {
        rule["helpUri"] = json!(address);
    }
    rule
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn from_violation(violation: &Violation<'_>, report: &Report) -> Value {
    let (property, told) = (violation.property, violation.report);
    let mut text = vec![format!("{} ({})", violation.headline(), property.name)];
    text.extend(told.explanation.iter().cloned());
    text.extend(told.advice.clone());
    let suppression = suppression(violation, report);
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| drop(result.insert(key.to_owned(), value));
    put("ruleId", json!(violation.code()));
    put("kind", json!("fail"));
    put("level", json!(if suppression.is_some() { "note" } else { "error" }));
    put("message", json!({ "text": text.join("\n") }));
    put("locations", json!([location(&told.file, told.line, told.column, None)]));
    put("properties", json!({ "property": property.name, "steps": told.steps, "shortest": told.shortest }));
    if let Some(example) = violation.example {
        put("relatedLocations", related(&example.finding.labels));
    }
    let flow = flow(told.trace.as_slice(), told.steps_left_out, told.loop_start);
    if let Some(flow) = flow {
        put("codeFlows", json!([flow]));
    }
    if let Some(is_known) = violation.is_known() {
        put("baselineState", json!(if is_known { "unchanged" } else { "new" }));
    }
    if let Some(suppression) = suppression {
        put("suppressions", json!([suppression]));
    }
    put("partialFingerprints", json!({ "fabiusViolation/v1": violation.identity.fingerprint() }));
    Value::Object(result)
}

/// Why a violation is no reason to do anything: it is expected, or known.
fn suppression(violation: &Violation<'_>, report: &Report) -> Option<Value> {
    let property = violation.property;
    if violation.is_accepted == Some(true) {
        return Some(json!({ "kind": "external", "justification": "known from the baseline" }));
    }
    if property.is_as_expected() != Some(true) {
        return None;
    }
    let setting = format!("expect {} ", property.name);
    let in_project =
        report.project.as_ref().is_some_and(|project| project.settings.iter().any(|known| known.starts_with(&setting)));
    let kind = if in_project { "external" } else { "inSource" };
    Some(json!({ "kind": kind, "justification": "violated, as expected" }))
}

/// The run: one thread flow, since most viewers show only the first one; who moves is said in each step.
fn flow(trace: &[StepRecord], left_out: u64, loop_start: Option<u64>) -> Option<Value> {
    let cut = trace.len().saturating_sub(2 * STEPS_AT_ENDS);
    let (first, rest) = trace.split_at(if cut == 0 { trace.len() } else { STEPS_AT_ENDS });
    let steps = first.iter().chain(&rest[cut.min(rest.len())..]);
    let locations: Vec<Value> = steps.map(|step| flow_step(step, loop_start)).collect();
    let missing = left_out + cut as u64;
    let mut flow = json!({ "threadFlows": [{ "locations": locations }] });
    if 0 < missing {
        flow["message"] = json!({ "text": format!("{} in the middle left out", counted(missing, "step")) });
    }
    (!trace.is_empty()).then_some(flow)
}

fn flow_step(step: &StepRecord, loop_start: Option<u64>) -> Value {
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
    let state: BTreeMap<&str, Value> =
        step.changes.iter().map(|change| (change.name.as_str(), json!({ "text": change.new }))).collect();
    json!({
        "executionOrder": number,
        "location": location(&step.file, step.line, step.column, Some(&text)),
        "state": state,
    })
}

fn from_finding(finding: &FindingReport, report: &Report) -> Value {
    let lines = [&finding.message].into_iter().chain(&finding.notes).chain(&finding.help);
    let text: Vec<&str> = lines.map(String::as_str).collect();
    let file = if finding.file.is_empty() { &report.file } else { &finding.file };
    let first = finding.labels.first().filter(|label| (label.line, label.column) == (finding.line, finding.column));
    let here = match first {
        Some(label) => label_location(label, None),
        None => location(file, finding.line, finding.column, None),
    };
    let identity = format!("{} {} {}", same_path(file), finding.code, finding.message);
    json!({
        "ruleId": finding.code,
        "kind": "fail",
        "level": finding.severity,
        "message": { "text": text.join("\n") },
        "locations": [here],
        "relatedLocations": related(&finding.labels),
        "partialFingerprints": { "fabiusFinding/v1": format!("{:032x}", xxh3_128(identity.as_bytes())) },
    })
}

/// What is to be said of a property that has no violation.
fn without_violation(property: &PropertyReport, report: &Report) -> Option<Value> {
    let (rule, kind, level, what) = match (property.verdict, property.is_as_expected()) {
        (Verdict::Undecided, _) => (UNDECIDED, "open", "none", "undecided"),
        (Verdict::Holds, Some(false)) => (UNEXPECTED, "fail", "error", "holds, but was expected to be violated"),
        _ => return None,
    };
    Some(json!({
        "ruleId": rule, "kind": kind, "level": level,
        "message": { "text": format!("{}: {what}: {}", property.name, property.reason) },
        "locations": [location(&report.file, 0, 0, None)],
        "properties": { "property": property.name },
    }))
}

fn notification(property: &PropertyReport, report: &Report) -> Option<Value> {
    (property.verdict == Verdict::Undecided).then(|| {
        json!({
            "level": "warning",
            "message": { "text": format!("{}: {}: undecided: {}", report.file, property.name, property.reason) },
            "locations": [location(&report.file, 0, 0, None)],
        })
    })
}

/// The places that a finding speaks of, besides its own.
fn related(labels: &[LabelReport]) -> Value {
    let all = labels.iter().filter(|label| !label.message.is_empty());
    Value::Array(all.map(|label| label_location(label, Some(&label.message))).collect())
}

fn label_location(label: &LabelReport, message: Option<&str>) -> Value {
    let mut place = location(&label.file, label.line, label.column, message);
    let region = &mut place["physicalLocation"]["region"];
    if (label.line, label.column) <= (label.end_line, label.end_column) && 0 < label.line {
        region["endLine"] = json!(label.end_line);
        region["endColumn"] = json!(label.end_column);
    }
    place
}

/// A place; line 0 is the whole file.
fn location(file: &str, line: u32, column: u32, message: Option<&str>) -> Value {
    let mut place = json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) } } });
    if 0 < line {
        place["physicalLocation"]["region"] = json!({ "startLine": line, "startColumn": column.max(1) });
    }
    if let Some(message) = message {
        place["message"] = json!({ "text": message });
    }
    place
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
            let document: Value =
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
        let flow = flow(&steps, 1000, Some(1203)).unwrap_or_default();
        let told = flow["threadFlows"][0]["locations"].as_array().cloned().unwrap_or_default();
        assert_eq!(told.len(), 1000);
        assert_eq!(
            [&told[499], &told[500], &told[999]].map(|step| step["executionOrder"].as_u64()),
            [500, 704, 1203].map(Some)
        );
        assert_eq!(flow["message"]["text"], "1 203 steps in the middle left out");
        assert!(told[999].to_string().contains("the loop starts here"));
        assert_eq!(super::flow(&steps[..1], 0, None).map(|flow| flow.get("message").is_none()), Some(true));
    }
}
