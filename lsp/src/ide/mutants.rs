//! Changes of a model that no property notices, in words.

use fabius_engine::words::counted;
use fabius_mutation::report::{MutantReport, MutationReport, in_one_line};

/// Longer pieces of text are cut.
const TEXT_MAX: usize = 60;

/// What a change is that no property notices, for the place where it is.
pub fn message(mutant: &MutantReport) -> String {
    let what = mutant.kind.replace('_', " ");
    let new = in_one_line(&mutant.new, TEXT_MAX);
    let change = if what.ends_with(" changed") { format!("{what} to `{new}`") } else { what };
    format!("no property notices: {change}")
}

/// How strong the properties are.
pub fn sentence(report: &MutationReport) -> String {
    let asked: Vec<&str> = report.properties.iter().filter(|it| it.counts).map(|it| it.name.as_str()).collect();
    if asked.is_empty() {
        return "no property of the model was proved, so none can notice a change".to_owned();
    }
    if report.mutants.is_empty() && report.not_checked == 0 {
        return "there is nothing in the model that could be changed".to_owned();
    }
    let checked = counted(report.mutants.len() as u64, "change");
    let noticed = if report.survived == 0 && report.undecided == 0 {
        "each is noticed by some property".to_owned()
    } else {
        let mut parts = vec![format!("{} noticed by no property", report.survived)];
        if 0 < report.undecided {
            parts.push(format!("{} of which that is not known", report.undecided));
        }
        parts.join(", ")
    };
    let left = report.not_checked;
    let left = if left == 0 { String::new() } else { format!("; {} not checked", counted(left, "change")) };
    format!("{checked}: {noticed} (asked: {}){left}", asked.join(", "))
}
