//! Two runs beside one another as lines of text.

use super::{ComparedStep, RunComparison, RunSummary, ValueDifference, VersionComparison};
use fabius_task::words::counted;
use fabius_witness::format::json::StepRecord;
use fabius_witness::show::process_name;

/// This many steps that are alike are shown before and after steps that differ.
const CONTEXT: usize = 3;

/// What a line tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind {
    /// A title or sentence.
    Heading,
    /// A step that both runs take with the same effect.
    Same,
    /// A step that both runs take, with another effect.
    Effect,
    /// A step of the first run only.
    First,
    /// A step of the second run only.
    Second,
    /// Details.
    Detail,
}

/// A line of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComparisonLine {
    /// What it tells.
    pub kind: LineKind,
    /// The text.
    pub text: String,
}

/// The lines of a comparison of two versions: what became of the run, then both runs.
/// Of the steps, at most this many lines.
pub fn version_lines(found: &VersionComparison, steps_max: usize) -> Vec<ComparisonLine> {
    let sentence = |text: &String| line(LineKind::Heading, text.clone());
    let mut lines: Vec<ComparisonLine> = found.followed.sentences.iter().map(sentence).collect();
    match (&found.runs, &found.not_compared) {
        (Some(runs), _) => lines.extend(comparison_lines(runs, version_names(found), steps_max)),
        (None, Some(why)) => lines.push(line(LineKind::Detail, format!("not compared: {why}"))),
        (None, None) => {}
    }
    lines
}

/// The names of both runs of a comparison of versions.
pub fn version_names(found: &VersionComparison) -> [&'static str; 2] {
    match (found.both_violate, found.followed.of_old) {
        (true, _) => ["old run", "new run"],
        (false, true) => ["old run", "old run in the new model"],
        (false, false) => ["new run in the old model", "new run"],
    }
}

/// The lines of a comparison: of steps that are alike, only those near differences. `names` are those of the runs; at
/// most `steps_max` lines are about steps.
pub fn comparison_lines(runs: &RunComparison, names: [&str; 2], steps_max: usize) -> Vec<ComparisonLine> {
    let [first, second] = [&runs.first, &runs.second].map(run_line);
    let takes_same = runs.alike == runs.rows.len();
    if takes_same && first == second {
        let both = line(LineKind::Detail, format!("{} and {}, the same steps: {first}", names[0], names[1]));
        let initial = values("initial values that differ", &runs.initial, names);
        let last = values("values in the end that differ", &runs.last, names);
        return std::iter::once(both).chain(initial).chain(last).collect();
    }
    let mut lines: Vec<ComparisonLine> = [(first, names[0], '-'), (second, names[1], '+')]
        .into_iter()
        .map(|(run, name, sign)| line(LineKind::Detail, format!("{sign} {name}: {run}")))
        .collect();
    lines.push(line(LineKind::Heading, beginning(runs)));
    lines.extend(values("initial values that differ", &runs.initial, names));
    if takes_same {
        return lines;
    }
    let near = near_differences(&runs.rows);
    let (mut left_out, mut told) = (0, 0);
    for (at, (row, is_near)) in runs.rows.iter().zip(near).enumerate() {
        if told == steps_max {
            let rest = counted((runs.rows.len() - at) as u64, "more step");
            lines.push(line(LineKind::Detail, format!("          … {rest}")));
            break;
        }
        if !is_near {
            left_out += 1;
            continue;
        }
        lines.extend(alike(std::mem::take(&mut left_out)));
        lines.push(step_line(row));
        told += 1;
    }
    lines.extend(alike(left_out));
    lines.extend(values("values in the end that differ", &runs.last, names));
    lines
}

fn line(kind: LineKind, text: String) -> ComparisonLine {
    ComparisonLine { kind, text }
}

/// How long a run is, and how it ends.
pub fn run_line(run: &RunSummary) -> String {
    let length = counted(run.steps as u64, "step");
    let looped = run.loop_start.map(|start| match (run.steps + 1).saturating_sub(start) {
        0 => ", then nothing moves".to_owned(),
        steps => format!(", the last {steps} of them again and again"),
    });
    format!("{length}{}: {}", looped.unwrap_or_default(), run.ends)
}

/// Where the runs depart from each other, in a sentence.
pub fn beginning(runs: &RunComparison) -> String {
    if runs.alike == runs.rows.len() {
        return "both take the same steps with the same effects".to_owned();
    }
    match runs.alike {
        0 => "they differ from the first step on".to_owned(),
        1 => "the first step is alike".to_owned(),
        steps => format!("the first {steps} steps are alike"),
    }
}

fn alike(steps: usize) -> Option<ComparisonLine> {
    (0 < steps).then(|| line(LineKind::Detail, format!("          … {} alike", counted(steps as u64, "step"))))
}

/// For each row, whether it differs or is near one that does.
fn near_differences(rows: &[ComparedStep]) -> Vec<bool> {
    let mut near = vec![false; rows.len()];
    for at in (0..rows.len()).filter(|at| !rows[*at].same) {
        let last = (at + CONTEXT).min(rows.len() - 1);
        near[at.saturating_sub(CONTEXT)..=last].fill(true);
    }
    near
}

fn step_line(row: &ComparedStep) -> ComparisonLine {
    let number = |step: &Option<StepRecord>| step.as_ref().map_or(String::new(), |step| step.step.to_string());
    let (kind, sign) = match (&row.first, &row.second, row.same) {
        (Some(_), Some(_), true) => (LineKind::Same, ' '),
        (Some(_), None, _) => (LineKind::First, '-'),
        (None, Some(_), _) => (LineKind::Second, '+'),
        _ => (LineKind::Effect, '~'),
    };
    let Some(step) = row.second.as_ref().or(row.first.as_ref()) else { return line(kind, String::new()) };
    let effect = match (&row.first, &row.second) {
        (Some(first), Some(second)) if !row.same => {
            format!("{}; was {}", effect_or_none(second), effect_or_none(first))
        }
        _ => ComparedStep::effect(step),
    };
    let does = does(step);
    let effect = if effect.is_empty() || effect == step.text { String::new() } else { format!("   {effect}") };
    line(kind, format!("{sign} {:>4} {:>4}  {does}{effect}", number(&row.first), number(&row.second)))
}

/// Who takes a step, on which line, and the statement.
fn does(step: &StepRecord) -> String {
    let partner = step
        .partner
        .as_ref()
        .map_or(String::new(), |partner| format!(" → {}", process_name(&partner.process, usize::from(partner.pid))));
    format!("{}{partner}  line {}  {}", process_name(&step.process, usize::from(step.pid)), step.line, step.text)
}

fn effect_or_none(step: &StepRecord) -> String {
    let effect = ComparedStep::effect(step);
    if effect.is_empty() { "no effect".to_owned() } else { effect }
}

fn values(title: &str, differing: &[ValueDifference], names: [&str; 2]) -> Vec<ComparisonLine> {
    if differing.is_empty() {
        return Vec::new();
    }
    let value = |value: &ValueDifference| {
        line(
            LineKind::Detail,
            format!("    {}: {} ({}), {} ({})", value.name, value.first, names[0], value.second, names[1]),
        )
    };
    let heading = line(LineKind::Heading, format!("{title}:"));
    std::iter::once(heading).chain(differing.iter().map(value)).collect()
}
