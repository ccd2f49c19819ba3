//! Workflow commands of GitHub: an annotation at the line of each violation and finding, and a line that sums up.

use super::{Checked, Violation};
use crate::exit;
use fabius_engine::report::{FindingReport, PropertyReport};
use fabius_engine::words::counted;
use fabius_engine::{Report, TOOL, Verdict};
use std::fmt::Write;

/// The commands, one per line, and the sum.
pub fn document(checked: &[Checked], missing: usize) -> String {
    let mut text = String::new();
    for model in checked {
        let bad = model.violations().filter(|violation| violation.property.is_as_expected() != Some(true));
        bad.for_each(|violation| of_violation(&mut text, &violation));
        model.report.findings.iter().for_each(|finding| of_finding(&mut text, finding, &model.report));
        model.report.properties.iter().for_each(|property| of_property(&mut text, property, model));
        of_model(&mut text, &model.report);
    }
    let _ = writeln!(text, "{TOOL}: {}", sum(checked, missing));
    text
}

fn of_violation(text: &mut String, violation: &Violation<'_>) {
    let told = violation.report;
    let place = Place { file: &told.file, line: told.line, column: told.column };
    let title = format!("{} ({})", violation.headline(), violation.code());
    let lines = [format!("property: {}", violation.property.name)];
    let lines: Vec<String> =
        lines.into_iter().chain(told.explanation.iter().cloned()).chain(told.advice.clone()).collect();
    let (kind, known) = match violation.is_accepted {
        Some(true) => ("notice", ", known from the baseline"),
        _ => ("error", ""),
    };
    command(text, kind, &place, &format!("{title}{known}"), &lines.join("\n"));
}

fn of_finding(text: &mut String, finding: &FindingReport, report: &Report) {
    let kind = match finding.severity {
        "error" => "error",
        "warning" => "warning",
        _ => "notice",
    };
    let file = if finding.file.is_empty() { &report.file } else { &finding.file };
    let place = Place { file, line: finding.line, column: finding.column };
    let lines: Vec<&str> =
        [&finding.message].into_iter().chain(&finding.notes).chain(&finding.help).map(String::as_str).collect();
    command(text, kind, &place, &format!("{} ({})", finding.message, finding.code), &lines.join("\n"));
}

/// What is not good and has no violation.
fn of_property(text: &mut String, property: &PropertyReport, model: &Checked) {
    let kind = match model.code_of(property) {
        exit::UNDECIDED => "warning",
        1 if property.violations.is_empty() => "error",
        _ => return,
    };
    let title = format!("{}: {}", property.name, model.judged(property));
    command(text, kind, &Place::file(&model.report.file), &title, &property.reason);
}

/// What keeps a model as a whole from being checked, if no finding says it.
fn of_model(text: &mut String, report: &Report) {
    match &report.internal_error {
        Some(error) => command(text, "error", &Place::file(&report.file), "internal error", error),
        None if report.properties.is_empty() && report.verdict == Verdict::Undecided => {
            command(text, "warning", &Place::file(&report.file), "undecided", &report.reason);
        }
        None => {}
    }
}

/// A place; line 0 is the whole file.
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Place<'a> {
    fn file(file: &'a str) -> Self {
        Self { file, line: 0, column: 0 }
    }
}

fn command(text: &mut String, kind: &str, place: &Place<'_>, title: &str, message: &str) {
    let _ = write!(text, "::{kind} file={}", property_value(place.file));
    if 0 < place.line {
        let _ = write!(text, ",line={},col={}", place.line, place.column.max(1));
    }
    let _ = writeln!(text, ",title={}::{}", property_value(title), data(message));
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property_value(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A line that sums up; `missing` is the number of models that the check did not come to, since it was stopped.
pub fn sum(checked: &[Checked], missing: usize) -> String {
    let of_model = |model: &Checked| -> Vec<(u8, bool)> {
        let of_property = |property: &PropertyReport| (model.code_of(property), model.is_known(property));
        model.report.properties.iter().map(of_property).collect()
    };
    let codes: Vec<(u8, bool)> = checked.iter().flat_map(of_model).collect();
    let known = codes.iter().filter(|(_, known)| *known).count();
    let with = |wanted: u8| codes.iter().filter(|(code, known)| *code == wanted && !known).count();
    let mut parts = vec![format!("{} hold or are as expected", with(0))];
    let mut say = |number: usize, what: &str| parts.extend((0 < number).then(|| format!("{number} {what}")));
    say(with(1), "violated or not as expected");
    say(with(exit::UNDECIDED), "undecided");
    say(known, "known from the baseline");
    let unchecked = |model: &&Checked| exit::FAULTY <= exit::of_report(&model.report);
    let unchecked = checked.iter().filter(unchecked).count() + missing;
    let models = counted((checked.len() + missing) as u64, "model");
    let count = codes.len() as u64;
    let properties = if count == 1 { "1 property".to_owned() } else { format!("{count} properties") };
    let mut text = format!("{models}, {properties}: {}", parts.join(", "));
    if 0 < unchecked {
        let _ = write!(text, "; {} not checked", counted(unchecked as u64, "model"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_were_not_reached_are_counted() {
        let sum = sum(&[Checked::from_report(fabius_engine::crashed("a.pml", ""))], 2);
        assert_eq!(sum, "3 models, 0 properties: 0 hold or are as expected; 3 models not checked");
    }

    #[test]
    fn what_a_model_says_cannot_become_a_command() {
        let mut text = String::new();
        let place = Place { file: "a,b:c%.pml", line: 3, column: 0 };
        command(&mut text, "error", &place, "50%: x, y", "one\r\n::stop-commands::100%");
        assert_eq!(
            text,
            "::error file=a%2Cb%3Ac%25.pml,line=3,col=1,title=50%25%3A x%2C y::one%0D%0A::stop-commands::100%25\n"
        );
    }
}
