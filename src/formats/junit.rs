//! JUnit XML: a suite for each model, a test case for each property, as test reports of CI systems read it.
//!
//! | verdict | test case |
//! |---|---|
//! | holds, or as expected | passed |
//! | violated, or holds although a violation is expected | `failure` with the counterexample as text |
//! | undecided | `error`: CI systems show a skipped test as if nothing were wrong, and the exit code says otherwise |
//! | the model cannot be checked, internal error | `error` of a case named `model` |
//!
//! The attributes are those of Jenkins' junit-10.xsd, which the other systems read, too.

use super::{Checked, Violation, finding_text};
use crate::exit;
use fabius_engine::report::PropertyReport;
use fabius_engine::{Report, TOOL};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// The name of the test case for a model as a whole.
const MODEL: &str = "model";

/// A test case.
struct Case {
    name: String,
    seconds: f64,
    problem: Option<Problem>,
    /// What else there is to read.
    output: String,
}

/// Why a test case has not passed.
struct Problem {
    /// `failure` or `error`.
    element: &'static str,
    kind: String,
    message: String,
    text: String,
}

/// The document.
///
/// # Errors
/// If it cannot be written.
pub fn document(checked: &[Checked]) -> io::Result<String> {
    let suites: Vec<(&Checked, Vec<Case>)> = checked.iter().map(|checked| (checked, cases(checked))).collect();
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    let totals = totals(&all().collect::<Vec<_>>());
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let attributes = [("name", TOOL)].into_iter().chain(totals.iter().map(|(name, value)| (*name, value.as_str())));
    let root = writer.create_element("testsuites").with_attributes(attributes);
    root.write_inner_content(|writer| suites.iter().try_for_each(|(checked, cases)| suite(writer, checked, cases)))?;
    let text = String::from_utf8(writer.into_inner()).map_err(io::Error::other)?;
    Ok(text + "\n")
}

/// How many test cases there are, how many have not passed, and the time of all.
fn totals(cases: &[&Case]) -> [(&'static str, String); 4] {
    let with = |element: &str| {
        let problems = cases.iter().filter_map(|case| case.problem.as_ref());
        problems.filter(|problem| problem.element == element).count().to_string()
    };
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    [
        ("tests", cases.len().to_string()),
        ("failures", with("failure")),
        ("errors", with("error")),
        ("time", format!("{seconds:.3}")),
    ]
}

fn suite(writer: &mut Writer<Vec<u8>>, checked: &Checked, cases: &[Case]) -> io::Result<()> {
    let file = clean(&checked.report.file);
    let totals = totals(&cases.iter().collect::<Vec<_>>());
    let attributes = [("name", file.as_str()), ("file", file.as_str()), ("skipped", "0")];
    let attributes = attributes.into_iter().chain(totals.iter().map(|(name, value)| (*name, value.as_str())));
    let suite = writer.create_element("testsuite").with_attributes(attributes);
    suite.write_inner_content(|writer| {
        cases.iter().try_for_each(|each| case(writer, &file, each))?;
        let remarks = checked.report.findings.iter().filter(|finding| finding.severity != "error");
        let remarks: Vec<String> = remarks.map(finding_text).collect();
        text_element(writer, "system-out", &[], &remarks.join("\n"))
    })?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, file: &str, case: &Case) -> io::Result<()> {
    let (name, time) = (clean(&case.name), format!("{:.3}", case.seconds));
    let attributes = [("name", name.as_str()), ("classname", file), ("time", time.as_str())];
    let element = writer.create_element("testcase").with_attributes(attributes);
    element.write_inner_content(|writer| {
        if let Some(problem) = &case.problem {
            let (kind, message) = (clean(&problem.kind), clean(&problem.message));
            let attributes = [("type", kind.as_str()), ("message", message.as_str())];
            let element = writer.create_element(problem.element).with_attributes(attributes);
            element.write_text_content(BytesText::new(&clean(&problem.text)))?;
        }
        text_element(writer, "system-out", &[], &case.output)
    })?;
    Ok(())
}

/// An element with text, unless that is empty.
fn text_element(writer: &mut Writer<Vec<u8>>, name: &str, attributes: &[(&str, &str)], text: &str) -> io::Result<()> {
    if !text.is_empty() {
        let element = writer.create_element(name).with_attributes(attributes.iter().copied());
        element.write_text_content(BytesText::new(&clean(text)))?;
    }
    Ok(())
}

fn cases(checked: &Checked) -> Vec<Case> {
    let of_properties = checked.report.properties.iter().map(|property| {
        let violations: Vec<Violation<'_>> =
            checked.violations().filter(|violation| violation.property.name == property.name).collect();
        of_property(property, &violations, checked)
    });
    of_properties.chain(of_model(&checked.report)).collect()
}

fn of_property(property: &PropertyReport, violations: &[Violation<'_>], model: &Checked) -> Case {
    let runs: Vec<String> = violations.iter().map(Violation::text).collect();
    let runs = runs.join("\n");
    let message = format!("{}: {}", model.judged(property), property.reason);
    let problem = |element: &'static str, kind: &str| Problem {
        element,
        kind: kind.to_owned(),
        message: message.clone(),
        text: if runs.is_empty() { message.clone() } else { runs.clone() },
    };
    let code = violations.first().map_or("unexpected verdict", Violation::code);
    let problem = match model.code_of(property) {
        0 => None,
        1 => Some(problem("failure", code)),
        exit::UNDECIDED => Some(problem("error", "undecided")),
        _ => Some(problem("error", "faulty")),
    };
    let output = if problem.is_none() { format!("{message}\n{runs}").trim_end().to_owned() } else { String::new() };
    Case { name: property.name.clone(), seconds: property.seconds, problem, output }
}

/// What is wrong with the model as a whole.
fn of_model(report: &Report) -> Option<Case> {
    let errors: Vec<String> =
        report.findings.iter().filter(|finding| finding.severity == "error").map(finding_text).collect();
    let (kind, text) = match &report.internal_error {
        Some(error) => ("internal error", error.clone()),
        None if !report.properties.is_empty() => return None,
        None if exit::of_report(report) == exit::UNDECIDED => ("undecided", report.reason.clone()),
        None => ("faulty", errors.join("\n")),
    };
    let problem = Problem { element: "error", kind: kind.to_owned(), message: report.reason.clone(), text };
    Some(Case { name: MODEL.to_owned(), seconds: 0.0, problem: Some(problem), output: String::new() })
}

/// Text in which every character may stand in an XML document; others cannot even be escaped.
pub fn clean(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
    text.chars().map(|c| if allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(clean("a\u{0}\u{1b}[1m\tb\r\n\u{fffe}\u{1f600}"), "a\u{fffd}\u{fffd}[1m\tb\r\n\u{fffd}\u{1f600}");
    }
}
