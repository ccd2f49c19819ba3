//! `fabius diff`: two versions of a model, and which properties changed.

use crate::args::{ColorWhen, Question, parse_duration};
use crate::render::numbers::counted;
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::{compared, text};
use crate::stop::Interrupts;
use crate::{check, exit, output, silent};
use clap::Args;
use fabius_analysis::formula;
use fabius_base::{Cancel, Code, StopReason};
use fabius_engine::comparison::{Version, VersionComparison, compare_versions};
use fabius_engine::{Counterexample, Loaded, Outcome, PropertyReport, Report, TOOL, VERSION, Verdict, ViolationReport};
use fabius_supervise::{Timer, Unfinished};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HELP: &str = "\
A property broke if it is violated (or not as expected) in NEW and was not in OLD. A formula that only has another name is the same property.

Exit codes:
  0  nothing broke
  1  a property broke, or is new and violated
  2  not known: a property that was not violated in OLD is undecided in NEW
  3  the input is faulty (a model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

// The flags of `fabius diff`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Diff {
    /// The model as it was.
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The model as it is.
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    /// The properties to check and the searches to run, for both.
    #[command(flatten)]
    pub question: Question,

    /// Time limit for each of the two, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Print one JSON document; docs/schema/diff.schema.json describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto, help_heading = "Output")]
    pub color: ColorWhen,
}

/// Of two runs that are compared, at most this many lines are about steps.
const STEPS_MAX: usize = 60;

/// How a property changed.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
enum Change {
    /// The answer is the same.
    Same,
    /// It is violated, or not as expected, and was not.
    Broke,
    /// It was violated, or not as expected, and is no longer.
    Mended,
    /// It has no answer any more.
    Undecided,
    /// It has an answer now.
    Decided,
    /// Only the new model has it.
    Added,
    /// Only the old model has it.
    Removed,
}

/// What changed, as plain data.
#[derive(Serialize)]
struct Difference<'a> {
    tool: &'static str,
    version: &'static str,
    old: Model<'a>,
    new: Model<'a>,
    properties: Vec<Row<'a>>,
}

/// One of the two models.
#[derive(Serialize)]
struct Model<'a> {
    file: &'a str,
    verdict: Verdict,
    reason: &'a str,
    /// Statements that no run executes, if everything was explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    never_executed: Option<usize>,
}

/// A property in both models.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    /// Its name in the old model, if that was another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_name: Option<&'a str>,
    change: Change,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Side<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Side<'a>>,
    /// Whether the new model violates it, or it is not as expected there.
    #[serde(skip)]
    is_bad: bool,
    /// Of a property that broke, or is new, what violates it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    violations: &'a [ViolationReport],
    /// If one of the models has a run that violates it, that of the old one beside that of the new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Box<VersionComparison>>,
}

/// A property in one model.
#[derive(Serialize, Clone, Copy)]
struct Side<'a> {
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Verdict>,
    exhaustive: bool,
    reason: &'a str,
    states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
}

/// Checks both models, and shows what changed; returns the exit code.
pub fn run(args: &Diff) -> u8 {
    if let Err(why) = args.question.check_formulas() {
        output::complain(&format!("error: {why}"));
        return exit::FAULTY;
    }
    let interrupts = Interrupts::listen();
    let old = match checked(&args.old, args, &interrupts) {
        Ok(checked) => checked,
        Err(code) => return code,
    };
    let new = match checked(&args.new, args, &interrupts) {
        Ok(checked) => checked,
        Err(code) => return code,
    };
    let mut difference = difference((&old.0, &old.1.report), (&new.0, &new.1.report));
    for row in &mut difference.properties {
        row.runs = runs(row, (&old.0, &old.1), (&new.0, &new.1)).map(Box::new);
    }
    let printed = if args.json {
        serde_json::to_string_pretty(&difference).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = args.color.stdout();
        let text = in_words(&difference, &new.0, &new.1);
        output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(code(&difference.properties), printed)
}

/// Checks a model to its end.
///
/// # Errors
/// The exit code, if it cannot be checked; why is told.
fn checked(path: &Path, args: &Diff, interrupts: &Interrupts) -> Result<(Loaded, Outcome), u8> {
    let cancel = Cancel::new();
    interrupts.watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let unfinished = |why: StopReason| {
        let why = Unfinished::Abandoned(why).sentence();
        output::complain(&format!("error: {} was not checked: {why}", path.display()));
        exit::UNDECIDED
    };
    let settings = check::asked(&args.question);
    let loaded = check::load(path, &args.question, &settings, &cancel).map_err(unfinished)?;
    let checked = silent::checked(loaded, path, &args.question, settings, &cancel)?;
    let (loaded, outcome) = checked.map_err(unfinished)?;
    match exit::of_report(&outcome.report) {
        exit::FAULTY => {
            let errors = loaded.findings.iter().chain(&outcome.findings).filter(|finding| finding.is_error());
            let errors: Vec<_> = errors.cloned().collect();
            let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, &errors));
            output::complain(&format!("error: {}: {}", outcome.report.file, outcome.report.reason));
            Err(exit::FAULTY)
        }
        exit::INTERNAL => {
            output::complain(outcome.failure.as_deref().unwrap_or(&outcome.report.reason));
            Err(exit::INTERNAL)
        }
        _ => Ok((loaded, outcome)),
    }
}

fn difference<'a>(old: (&Loaded, &'a Report), new: (&Loaded, &'a Report)) -> Difference<'a> {
    let pairs = pairs(old, new);
    let is_gone =
        |property: &&PropertyReport| !pairs.iter().any(|(old, _)| old.is_some_and(|old| old.name == property.name));
    let gone = old.1.properties.iter().filter(is_gone).map(|property| (Some(property), None));
    let properties = pairs.iter().copied().chain(gone).filter_map(|(old, new)| row(old, new)).collect();
    Difference { tool: TOOL, version: VERSION, old: model(old.1), new: model(new.1), properties }
}

/// The properties of the new model, each with that of the old one that it is compared with: the one of the same name, else one with
/// the same formula whose name is gone.
fn pairs<'a>(
    old: (&Loaded, &'a Report),
    new: (&Loaded, &'a Report),
) -> Vec<(Option<&'a PropertyReport>, Option<&'a PropertyReport>)> {
    let named = |report: &'a Report, name: &str| report.properties.iter().find(|property| property.name == name);
    let mut renamed: Vec<(&PropertyReport, String)> = (old.1.properties.iter())
        .filter(|property| named(new.1, &property.name).is_none())
        .filter_map(|property| Some((property, formula::text(old.0, &property.name)?)))
        .collect();
    let before = |property: &PropertyReport| {
        named(old.1, &property.name).or_else(|| {
            let text = formula::text(new.0, &property.name)?;
            let at = renamed.iter().position(|(_, formula)| *formula == text)?;
            Some(renamed.remove(at).0)
        })
    };
    let before: Vec<_> = new.1.properties.iter().map(before).collect();
    before.into_iter().zip(new.1.properties.iter().map(Some)).collect()
}

fn model(report: &Report) -> Model<'_> {
    let safety = report.properties.iter().find(|property| property.name == fabius_engine::SAFETY);
    let unreached = report.findings.iter().filter(|finding| finding.code == Code::Unreached.as_str());
    let never_executed = safety.is_some_and(|safety| safety.exhaustive).then(|| unreached.count());
    Model { file: &report.file, verdict: report.verdict, reason: &report.reason, never_executed }
}

fn row<'a>(old: Option<&'a PropertyReport>, new: Option<&'a PropertyReport>) -> Option<Row<'a>> {
    let change = change(old.map(exit::of_property), new.map(exit::of_property));
    let is_bad = new.is_some_and(|new| exit::of_property(new) == 1);
    let is_new_fault = is_bad && matches!(change, Change::Broke | Change::Added);
    let violations = new.filter(|_| is_new_fault).map_or(&[][..], |new| &new.violations);
    let name = &new.or(old)?.name;
    let old_name = old.map(|old| old.name.as_str()).filter(|old| old != name);
    Some(Row { name, old_name, change, old: old.map(side), new: new.map(side), is_bad, violations, runs: None })
}

/// The run that violates a property in the old model beside that in the new one.
fn runs(row: &Row<'_>, old: (&Loaded, &Outcome), new: (&Loaded, &Outcome)) -> Option<VersionComparison> {
    row.old.zip(row.new)?;
    let old_name = row.old_name.unwrap_or(row.name);
    let old = Version { loaded: old.0, property: old_name, example: example(old.1, old_name) };
    let new = Version { loaded: new.0, property: row.name, example: example(new.1, row.name) };
    compare_versions(&old, &new)
}

/// The first run that violates a property.
fn example<'o>(outcome: &'o Outcome, name: &str) -> Option<&'o Counterexample> {
    let properties = &outcome.report.properties;
    let at = properties.iter().position(|property| property.name == name)?;
    let before: usize = properties[..at].iter().map(|property| property.violations.len()).sum();
    outcome.counterexamples.get(before).filter(|_| !properties[at].violations.is_empty())
}

/// How a property changed, by the exit codes that it alone would have.
fn change(old: Option<u8>, new: Option<u8>) -> Change {
    match (old, new) {
        (old, new) if old == new => Change::Same,
        (_, None) => Change::Removed,
        (None, _) => Change::Added,
        (_, Some(1)) => Change::Broke,
        (_, Some(exit::UNDECIDED)) => Change::Undecided,
        (Some(1), _) => Change::Mended,
        _ => Change::Decided,
    }
}

fn side(property: &PropertyReport) -> Side<'_> {
    let PropertyReport { verdict, expected, exhaustive, states, transitions, depth, seconds, .. } = *property;
    Side { verdict, expected, exhaustive, reason: &property.reason, states, transitions, depth, seconds }
}

fn code(rows: &[Row<'_>]) -> u8 {
    // What was violated before cannot break.
    let was_bad =
        |row: &Row<'_>| row.change == Change::Undecided && row.old.is_some_and(|old| old.verdict == Verdict::Violated);
    let codes = rows.iter().map(|row| match (row.change, row.new) {
        (Change::Broke | Change::Added, _) if row.is_bad => 1,
        (_, Some(new)) if new.verdict == Verdict::Undecided && !was_bad(row) => exit::UNDECIDED,
        _ => 0,
    });
    codes.fold(0, exit::worse)
}

/// The runs of what broke, then a line for each property, then the figures.
fn in_words(difference: &Difference<'_>, loaded: &Loaded, outcome: &Outcome) -> String {
    let mut text = String::new();
    let broke = |name: &str| difference.properties.iter().any(|row| row.name == name && !row.violations.is_empty());
    let violations =
        outcome.report.properties.iter().flat_map(|property| property.violations.iter().map(|_| &property.name));
    for (example, _) in outcome.counterexamples.iter().zip(violations).filter(|(_, name)| broke(name)) {
        text.push_str(&text::counterexample(&loaded.map, example, true, false));
    }
    let shown =
        |row: &Row<'_>| row.old_name.map_or_else(|| row.name.to_owned(), |old| format!("{} (was {old})", row.name));
    let width = difference.properties.iter().map(|row| shown(row).chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "{}", paint(STRONG, format!("{} → {}", difference.old.file, difference.new.file)));
    for row in &difference.properties {
        let (word, style) = match row.change {
            Change::Same => ("same", FAINT),
            Change::Broke => ("broke", BAD),
            Change::Mended => ("mended", GOOD),
            Change::Undecided => ("undecided", UNSURE),
            Change::Decided => ("decided", GOOD),
            Change::Added => ("added", STRONG),
            Change::Removed => ("removed", UNSURE),
        };
        let name = format!("{:<width$}", shown(row));
        let sides: Vec<String> = [row.old, row.new].into_iter().flatten().map(verdict).collect();
        let states: Vec<String> = [row.old, row.new].into_iter().flatten().map(states).collect();
        let same = sides.first() == sides.last();
        let sides = if same { sides.last().cloned().unwrap_or_default() } else { sides.join(" → ") };
        let reason = row.new.filter(|_| row.change != Change::Same).map(|new| format!(": {}", new.reason));
        let figures = paint(FAINT, format!("({})", states.join(" → ")));
        let _ = writeln!(
            text,
            "  {name}  {}  {sides}{} {figures}",
            paint(style, format!("{word:<9}")),
            reason.unwrap_or_default()
        );
    }
    for (row, runs) in difference.properties.iter().filter_map(|row| Some((row, row.runs.as_ref()?))) {
        let _ = writeln!(text, "{}", paint(STRONG, format!("runs of {}", shown(row))));
        text.push_str(&compared::versions(runs, "  ", STEPS_MAX));
    }
    if let (Some(old), Some(new)) = (difference.old.never_executed, difference.new.never_executed) {
        let new = counted(new as u64, "statement");
        let _ = writeln!(text, "  never executed: {old} → {new}");
    }
    text
}

fn verdict(side: Side<'_>) -> String {
    let word = side.verdict.as_str();
    match side.expected {
        Some(expected) if expected == side.verdict => format!("{word}, as expected"),
        Some(_) if side.verdict != Verdict::Undecided => format!("{word}, not as expected"),
        _ => word.to_owned(),
    }
}

/// The states that were explored; of a model that was not explored to its end, there may be more.
fn states(side: Side<'_>) -> String {
    let states = counted(side.states, "state");
    if side.exhaustive { states } else { format!("at least {states}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_answers_is_a_change_or_none() {
        use Change::{Added, Broke, Decided, Mended, Removed, Same, Undecided};
        let of = |old| [None, Some(0), Some(1), Some(2)].map(|new| change(old, new));
        assert_eq!(of(Some(0)), [Removed, Same, Broke, Undecided]);
        assert_eq!(of(Some(1)), [Removed, Mended, Same, Undecided]);
        assert_eq!(of(Some(2)), [Removed, Decided, Broke, Same]);
        assert_eq!(of(None)[1..], [Added, Added, Added]);
    }
}
