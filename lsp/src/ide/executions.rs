//! Executions, contexts and deadlocks at a line, in words.

use fabius_analysis::stuck::{StuckReport, StuckVerdict};
use fabius_engine::contexts::{ContextReport, ContextsReport};
use fabius_engine::words::{counted, grouped};
use fabius_engine::{Verdict, language_of};
use fabius_executions::{End, ExecutionsReport, TreeBranch};

/// A number in decimal digits, in groups.
fn digits(number: &str) -> String {
    number.parse().map_or_else(|_| number.to_owned(), |number: u64| grouped(number))
}

/// Parts of a sum in words: what there is of each.
fn parts(table: &[(Option<&str>, &str, &str)]) -> Vec<String> {
    let some = table.iter().filter_map(|(number, one, many)| {
        let number = number.filter(|number| *number != "0")?;
        Some(format!("{} {}", digits(number), if number == "1" { one } else { many }))
    });
    some.collect()
}

/// How many executions there are, and how they end.
pub fn sentence(report: &ExecutionsReport) -> String {
    let Some(all) = &report.executions else { return "infinitely many executions: some go on for ever".to_owned() };
    let bound = match (report.overflow, report.exhaustive) {
        (true, _) => "more than ",
        (false, true) => "",
        (false, false) => "at least ",
    };
    let kind = if report.modulo != "nothing" { "essentially different execution" } else { "execution" };
    let plural = if all == "1" { "" } else { "s" };
    let mut text = format!("{bound}{} {kind}{plural}", digits(all));
    if let Some(interleavings) = report.interleavings.as_ref().filter(|_| report.modulo != "nothing") {
        text.push_str(&format!(
            ", of {} interleaving{}",
            digits(interleavings),
            if interleavings == "1" { "" } else { "s" }
        ));
    }
    let laps = report.laps.map(|laps| format!(" with at most {} of each loop", counted(u64::from(laps), "lap")));
    let within = report.within.map(|steps| format!(" within {}", counted(u64::from(steps), "step")));
    text.extend(laps.into_iter().chain(within));
    let ends = parts(&[
        (report.ok.as_deref(), "ends well", "end well"),
        (report.failing.as_deref(), "fails", "fail"),
        (report.stuck.as_deref(), "gets stuck", "get stuck"),
        (report.waiting.as_deref(), "waits in a loop for ever", "wait in a loop for ever"),
        (report.cut.as_deref(), "is cut off", "are cut off"),
    ]);
    if !ends.is_empty() {
        text.push_str(&format!(": {}", ends.join(", ")));
    }
    match &report.reason {
        Some(reason) => format!("{text} (not everything was explored: {reason})"),
        None => text,
    }
}

/// The numbers alone: of executions, of those that go wrong.
pub fn short(report: &ExecutionsReport) -> Option<String> {
    let all = report.executions.as_deref()?;
    let ends = [(&report.failing, "fails", "fail"), (&report.stuck, "gets stuck", "get stuck")];
    let mut table = vec![(Some(all), "execution", "executions")];
    table.extend(ends.map(|(number, one, many)| (number.as_deref(), one, many)));
    Some(parts(&table).join(", "))
}

/// What to do where not all executions could be counted.
pub fn advice(report: &ExecutionsReport) -> Option<&'static str> {
    match (&report.executions, report.laps, report.exhaustive) {
        (None, None, _) => {
            Some("Count those in which each process passes each of its loops at most a few times (`laps`).")
        }
        (None, Some(_), _) => Some("Limit the number of steps (`within`)."),
        (Some(_), None, false) => Some("Limit the number of laps or of steps (`laps`, `within`)."),
        (Some(_), Some(_), false) => Some("Allow fewer laps (`laps`), or limit the number of steps (`within`)."),
        (Some(_), _, true) => None,
    }
}

/// What is behind a branch of the tree of choices.
pub fn behind(branch: &TreeBranch) -> String {
    let numbers = &branch.numbers;
    if let Some((end, failed)) = branch.end {
        let ends = match end {
            End::Valid => "ends well",
            End::Stuck => "gets stuck",
            End::Waiting => "waits in a loop for ever",
            End::Cut => "is cut off",
            End::Broken => "fails with a runtime error",
        };
        let failed = if failed && end != End::Broken { "fails an assertion, " } else { "" };
        return format!("#{} {failed}{ends}", branch.first.saturating_add(1));
    }
    let of = |number: u128| number.to_string();
    let (all, failing, stuck) = (of(numbers.all), of(numbers.failing), of(numbers.stuck));
    let table = [
        (Some(all.as_str()), "execution", "executions"),
        (Some(failing.as_str()), "fails", "fail"),
        (Some(stuck.as_str()), "gets stuck", "get stuck"),
    ];
    parts(&table).join(", ")
}

/// Whether the model can get stuck at a line.
pub fn stuck(report: &StuckReport) -> String {
    let verdict = match report.verdict {
        StuckVerdict::Deadlock => "Yes",
        StuckVerdict::NoDeadlock => "No",
        StuckVerdict::Unknown => "Not known",
    };
    format!("{verdict}: {}.", report.reason)
}

/// How many contexts go wrong.
pub fn contexts(report: &ContextsReport, with: &str) -> String {
    let (all, wrong) = (report.contexts.len() as u64, report.with(Verdict::Violated).count() as u64);
    let open = all - wrong - report.with(Verdict::Holds).count() as u64;
    let first = if report.complete { "" } else { "the first " };
    let leads = if wrong == 1 { "leads" } else { "lead" };
    let open = if open == 0 { String::new() } else { format!("; {} not decided within the limits", grouped(open)) };
    let of = counted(all, "context");
    format!("{} of {first}{of} with `{with}` {leads} to a deadlock or a failure{open}", grouped(wrong))
}

/// A model with a context, after a comment about all of them.
pub fn model(text: &str, report: &ContextsReport, wrong: &ContextReport, with: &str) -> String {
    let line = |context: &ContextReport| {
        let place = context.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        // Nothing in a comment may end it.
        format!(" *   {}: {}{place}\n", context.statements.join("; "), context.reason).replace("*/", "* /")
    };
    let lines: String = report.with(Verdict::Violated).map(line).collect();
    let begun = format!("/* {}.\n * The first one is at the end of this text.\n{lines} */\n", contexts(report, with));
    let shift = begun.lines().count();
    let note = format!("/* Lines are those of the model, which begins {} lines below. */\n", shift + 1);
    format!("{note}{begun}{text}{}", language_of(&report.file).initial_process(&wrong.statements))
}
