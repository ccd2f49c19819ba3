//! `fabius check --sweep`: a model with several values of its parameters, as a table, and what the next value will cost.

use crate::args::{Check, parse_duration};
use crate::formats::Format;
use crate::render::numbers::{count, rough, seconds};
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text;
use crate::stop::Interrupts;
use crate::{check, exit, output, silent};
use clap::Args;
use fabius_analysis::extrapolate::extrapolate;
use fabius_base::{Cancel, Code, StopReason};
use fabius_engine::report::ON;
use fabius_engine::{Loaded, Outcome, PropertyReport, Settings, TOOL, VERSION, Verdict};
use fabius_supervise::{Timer, Unfinished};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// A sweep has at most this many cells.
const CELLS_MAX: usize = 10_000;
/// What took less time than this says nothing of how long more states take.
const SECONDS_MIN: f64 = 0.1;

/// The flags of a sweep.
#[derive(Args, Debug, Clone, Default)]
pub struct SweepFlags {
    /// Check the model with each of these values of a macro, as -D NAME=VALUE does, and show a table, with the states that the next
    /// value will have. Of several parameters, every combination. --timeout and --max-states then limit each of these checks.
    #[arg(
        long,
        value_name = "NAME=A..B",
        value_parser = parse_parameter,
        action = clap::ArgAction::Append,
        conflicts_with_all = ["events", "output", "trail", "itf", "picture", "plot", "diagram", "hints", "checkpoint", "resume", "hosts", "baseline", "write_baseline"],
        help_heading = "What to check"
    )]
    pub sweep: Vec<Parameter>,

    /// Time limit for all checks of --sweep together, such as 30 (seconds), 5m or 1h; what is not checked by then is named.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "sweep", help_heading = "Limits")]
    pub sweep_timeout: Option<Duration>,
}

/// A macro and the values that it is to have, the smallest first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Parameter {
    name: String,
    first: i64,
    last: i64,
}

/// Reads `N=2..5`, or `N=3` for a single value.
fn parse_parameter(text: &str) -> Result<Parameter, String> {
    let expected = || "expected a macro and its first and last value, such as N=2..5".to_owned();
    let (name, values) = text.split_once('=').ok_or_else(expected)?;
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    let named = name.starts_with(starts) && name.chars().all(|c| starts(c) || c.is_ascii_digit());
    let (first, last) = values.split_once("..").unwrap_or((values, values));
    let number = |text: &str| text.trim().parse::<i32>().map(i64::from).map_err(|_| expected());
    let (first, last) = (number(first)?, number(last)?);
    match named {
        false => Err(expected()),
        true if last < first => Err(format!("{first}..{last} has no value: the first one is larger than the last")),
        true => Ok(Parameter { name: name.to_owned(), first, last }),
    }
}

/// What a sweep found out, as plain data.
#[derive(Serialize)]
struct Table<'a> {
    tool: &'static str,
    version: &'static str,
    file: String,
    parameters: &'a [Parameter],
    cells: &'a [Cell],
    predictions: Vec<Prediction>,
}

/// One combination of values.
#[derive(Serialize)]
struct Cell {
    values: BTreeMap<String, i64>,
    /// Why it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    properties: Vec<Measured>,
    #[serde(skip)]
    code: u8,
}

/// A property in one cell.
#[derive(Serialize)]
struct Measured {
    name: String,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Verdict>,
    exhaustive: bool,
    reason: String,
    states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    memory_bytes: u64,
    /// Whether orders of independent steps were left out.
    reduced: bool,
    #[serde(skip)]
    search: &'static str,
}

/// What the next value of the last parameter will cost.
#[derive(Serialize)]
struct Prediction {
    values: BTreeMap<String, i64>,
    property: String,
    /// The states expected, rounded to two digits.
    states: f64,
    /// The seconds expected, if each state takes as long as with the last value; nothing where that one was done too soon to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Of each value from the third on: what was expected, divided by what was measured.
    past: Vec<f64>,
    #[serde(skip)]
    error: String,
}

/// Checks all combinations; returns the exit code.
pub fn run(args: &Check) -> u8 {
    let combinations = match refuse(args).and_then(|()| combinations(&args.sweep.sweep)) {
        Ok(combinations) => combinations,
        Err(why) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
    };
    let interrupts = Interrupts::listen();
    let until = args.sweep.sweep_timeout.map(|time| Instant::now() + time);
    let is_json = args.formats.format() == Format::Json;
    let mut out = args.color.stdout();
    let mut written = Ok(());
    let mut cells: Vec<Cell> = Vec::new();
    let mut failed = 0;
    for values in combinations {
        let cell = match why_not(&values, args, &cells, until, &interrupts) {
            Some(why) => Cell::unchecked(named(&args.sweep.sweep, &values), why),
            None => match checked(&values, args, until, &interrupts) {
                Ok(cell) => cell,
                Err(code) if cells.is_empty() => return code,
                // What was found out before is told all the same.
                Err(code) => {
                    failed = code;
                    break;
                }
            },
        };
        if !is_json && written.is_ok() {
            let is_first = cells.is_empty();
            let head = if is_first { paint(STRONG, title(args)) + "\n" } else { String::new() };
            let text = head + &in_words(&cell, &args.sweep.sweep, is_first);
            written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        cells.push(cell);
    }
    let predictions = predictions(&args.sweep.sweep, &cells);
    let code = cells.iter().map(|cell| cell.code).fold(failed, exit::worse);
    let printed = if is_json {
        let file = args.files[0].display().to_string();
        let parameters = &args.sweep.sweep[..];
        let table = Table { tool: TOOL, version: VERSION, file, parameters, cells: &cells, predictions };
        serde_json::to_string_pretty(&table).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let told: String = predictions.iter().map(Prediction::in_words).collect();
        let written = written.and_then(|()| out.write_all(told.as_bytes())).and_then(|()| out.flush());
        output::code(output::unless_closed(written))
    };
    exit::worse(code, printed)
}

/// Refuses what a sweep cannot obey.
fn refuse(args: &Check) -> Result<(), String> {
    if args.files.len() != 1 || args.files[0].as_os_str() == "-" {
        return Err("--sweep checks one model, from a file".to_owned());
    }
    if !matches!(args.formats.format(), Format::Text | Format::Json) {
        return Err("--sweep prints a table: --format text or json".to_owned());
    }
    check::refuse(args)?;
    for (at, parameter) in args.sweep.sweep.iter().enumerate() {
        let name = &parameter.name;
        let defined = |text: &String| text.split('=').next() == Some(name);
        if args.question.define.iter().any(defined) {
            return Err(format!("-D {name} and --sweep {name} contradict each other: name one of them"));
        }
        if args.sweep.sweep[..at].iter().any(|other| other.name == *name) {
            return Err(format!("--sweep {name} is given twice"));
        }
    }
    Ok(())
}

/// All combinations of values; those of the last parameter follow each other.
fn combinations(parameters: &[Parameter]) -> Result<Vec<Vec<i64>>, String> {
    let sizes = parameters.iter().map(|parameter| parameter.last - parameter.first + 1);
    let total = sizes.fold(1i64, i64::saturating_mul);
    if CELLS_MAX < usize::try_from(total).unwrap_or(usize::MAX) {
        return Err(format!("--sweep has {} combinations, and at most {} are checked", total, count(CELLS_MAX as u64)));
    }
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for Parameter { first, last, .. } in parameters {
        let longer = |known: Vec<i64>| (*first..=*last).map(move |value| [&known[..], &[value]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    Ok(all)
}

fn named(parameters: &[Parameter], values: &[i64]) -> BTreeMap<String, i64> {
    parameters.iter().zip(values).map(|(parameter, value)| (parameter.name.clone(), *value)).collect()
}

fn title(args: &Check) -> String {
    let ranges = args.sweep.sweep.iter().map(|Parameter { name, first, last }| format!("{name} = {first}..{last}"));
    format!("{}, {}", args.files[0].display(), ranges.collect::<Vec<_>>().join(", "))
}

/// Why a combination is not checked, if it is not.
fn why_not(
    values: &[i64],
    args: &Check,
    cells: &[Cell],
    until: Option<Instant>,
    interrupts: &Interrupts,
) -> Option<String> {
    if interrupts.pressed() {
        return Some("it was interrupted".to_owned());
    }
    if until.is_some_and(|until| until <= Instant::now()) {
        return Some("the time allowed for all was used up".to_owned());
    }
    // Where a limit was reached, a larger value of the last parameter is not tried.
    let last = args.sweep.sweep.last()?;
    let smaller = cells.last()?;
    let same_others = args.sweep.sweep.iter().zip(values).rev().skip(1).all(|(p, v)| smaller.values[&p.name] == *v);
    let limited = smaller.code == exit::UNDECIDED;
    (same_others && limited).then(|| match &smaller.not_checked {
        Some(why) => why.clone(),
        None => format!("{} = {} was undecided", last.name, smaller.values[&last.name]),
    })
}

/// Checks one combination.
///
/// # Errors
/// The exit code, if it cannot be checked; why is told.
fn checked(values: &[i64], args: &Check, until: Option<Instant>, interrupts: &Interrupts) -> Result<Cell, u8> {
    let cancel = Cancel::new();
    interrupts.watch(&cancel);
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let _timer = Timer::start(args.timeout.into_iter().chain(left).min(), &cancel);
    let path: &Path = &args.files[0];
    let mut question = args.question.clone();
    let named = named(&args.sweep.sweep, values);
    question.define.extend(args.sweep.sweep.iter().zip(values).map(|(p, value)| format!("{}={value}", p.name)));
    let unread = |why: StopReason| Cell::unchecked(named.clone(), Unfinished::Abandoned(why).sentence().to_owned());
    let loaded = match check::load(path, &question, &check::settings(args), &cancel) {
        Ok(loaded) => loaded,
        Err(why) => return Ok(unread(why)),
    };
    overridden(&loaded, args)?;
    let settings = Settings { until: args.timeout.into_iter().chain(left).min(), ..check::settings(args) };
    match silent::checked(loaded, path, &question, settings, &cancel)? {
        Ok((loaded, outcome)) => cell(named.clone(), &loaded, &outcome),
        Err(why) => Ok(unread(why)),
    }
}

/// Whether a name stands anywhere in the files of a model.
fn is_used(loaded: &Loaded, name: &str) -> bool {
    let of_model = loaded.map.files().map(|(_, file)| file).filter(|file| &*file.name != "<command line>");
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    of_model.into_iter().any(|file| words(&file.text))
}

/// Refuses a parameter that the model does not use, or defines itself: the value given would not count.
fn overridden(loaded: &Loaded, args: &Check) -> Result<(), u8> {
    if let Some(parameter) = args.sweep.sweep.iter().find(|parameter| !is_used(loaded, &parameter.name)) {
        output::complain(&format!("error: the model does not use {0}, so --sweep {0} has no effect", parameter.name));
        return Err(exit::FAULTY);
    }
    let redefined = loaded.findings.iter().filter(|finding| finding.code == Code::MacroRedefined);
    for finding in redefined {
        let swept = args.sweep.sweep.iter().find(|p| finding.headline.contains(&format!("`{}`", p.name)));
        if let Some(parameter) = swept {
            let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, std::slice::from_ref(finding)));
            output::complain(&format!(
                "error: the model defines {0} itself, so --sweep {0} has no effect\nhelp: write `#ifndef {0}` before the definition and `#endif` after it",
                parameter.name
            ));
            return Err(exit::FAULTY);
        }
    }
    Ok(())
}

/// What a check found out; what is faulty is told.
fn cell(values: BTreeMap<String, i64>, loaded: &Loaded, outcome: &Outcome) -> Result<Cell, u8> {
    let report = &outcome.report;
    let code = exit::of_report(report);
    if code == exit::FAULTY {
        let errors = loaded.findings.iter().chain(&outcome.findings).filter(|finding| finding.is_error());
        let errors: Vec<_> = errors.cloned().collect();
        let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, &errors));
        output::complain(&format!("error: {} with {}: {}", report.file, in_line(&values), report.reason));
        let why = errors.first().map_or(report.reason.as_str(), |finding| &finding.headline);
        return Ok(Cell { code: exit::FAULTY, ..Cell::unchecked(values, format!("faulty: {why}")) });
    }
    if code == exit::INTERNAL {
        output::complain(outcome.failure.as_deref().unwrap_or(&report.reason));
        return Err(exit::INTERNAL);
    }
    let properties = report.properties.iter().map(Measured::of).collect();
    let (verdict, reason) = (Some(report.verdict), Some(report.reason.clone()));
    Ok(Cell { values, not_checked: None, verdict, reason, properties, code })
}

impl Measured {
    fn of(property: &PropertyReport) -> Self {
        Self {
            name: property.name.clone(),
            verdict: property.verdict,
            expected: property.expected,
            exhaustive: property.exhaustive,
            reason: property.reason.clone(),
            states: property.states,
            transitions: property.transitions,
            depth: property.depth,
            seconds: property.seconds,
            memory_bytes: property.memory_bytes,
            reduced: property.reduction == ON,
            search: property.search,
        }
    }
}

impl Cell {
    fn unchecked(values: BTreeMap<String, i64>, why: String) -> Self {
        let (verdict, reason, properties) = (None, None, Vec::new());
        Self { values, not_checked: Some(why), verdict, reason, properties, code: exit::UNDECIDED }
    }
}

/// What the next value of the last parameter will cost, for each combination of the others and each property.
fn predictions<'c>(parameters: &[Parameter], cells: &'c [Cell]) -> Vec<Prediction> {
    let Some(last) = parameters.last() else { return Vec::new() };
    let mut found = Vec::new();
    let per_series = (last.last - last.first + 1) as usize;
    for series in cells.chunks(per_series) {
        let names = series.first().map_or(&[][..], |cell| &cell.properties[..]).iter().map(|property| &property.name);
        for name in names {
            // Numbers of states of different searches tell nothing of each other: those of the last one count.
            let named = |cell: &'c Cell| cell.properties.iter().find(|property| property.name == *name);
            let explored = |cell| named(cell).filter(|property| property.exhaustive);
            let measured: Vec<&Measured> = series.iter().map_while(explored).collect();
            let alike = measured.chunk_by(|one, next| (one.search, one.reduced) == (next.search, next.reduced)).last();
            let states: Vec<u64> = alike.unwrap_or_default().iter().map(|property| property.states).collect();
            let Some(told) = extrapolate(&states) else { continue };
            let mut values = series[0].values.clone();
            values.insert(last.name.clone(), last.first + measured.len() as i64);
            let (error, states) = (told.past_error(), two_digits(told.next));
            let last = measured.last().filter(|last| SECONDS_MIN <= last.seconds);
            let seconds = last.map(|last| last.seconds * states / last.states.max(1) as f64);
            found.push(Prediction { values, property: name.clone(), states, seconds, past: told.past, error });
        }
    }
    found
}

/// Rounded to two digits.
fn two_digits(value: f64) -> f64 {
    let unit = 10f64.powi((value.log10().floor() as i32 - 1).max(0));
    (value / unit).round() * unit
}

impl Prediction {
    fn in_words(&self) -> String {
        let (values, property, states) = (in_line(&self.values), &self.property, rough(self.states));
        let time = self.seconds.map_or_else(String::new, |needed| format!(" and {}", seconds(needed)));
        format!("{values}: about {states} states{time} are expected for {property}; {}\n", self.error)
    }
}

fn in_line(values: &BTreeMap<String, i64>) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The rows of a cell, one for each property.
fn in_words(cell: &Cell, parameters: &[Parameter], first: bool) -> String {
    let widths = parameters.iter().map(|p| p.name.len().max(p.first.to_string().len()).max(p.last.to_string().len()));
    let widths: Vec<usize> = widths.collect();
    let mut text = String::new();
    if first {
        let names: String = parameters.iter().zip(&widths).map(|(p, width)| format!("{:>width$}  ", p.name)).collect();
        let head = format!("  {names}{:<16}  {:<10}  {:>15}  {:>9}", "property", "verdict", "states", "time");
        text.push_str(&format!("{}\n", paint(FAINT, head)));
    }
    let values: String =
        parameters.iter().zip(&widths).map(|(p, width)| format!("{:>width$}  ", cell.values[&p.name])).collect();
    if let Some(why) = &cell.not_checked {
        return format!("{text}  {values}{}\n", paint(UNSURE, format!("not checked: {why}")));
    }
    for property in &cell.properties {
        let (word, style) = match (property.verdict, property.expected) {
            (Verdict::Undecided, _) => ("undecided", UNSURE),
            (Verdict::Faulty, _) => ("faulty", BAD),
            (Verdict::Holds, None | Some(Verdict::Holds)) => ("holds", GOOD),
            (Verdict::Violated, Some(Verdict::Violated)) => ("violated", GOOD),
            (Verdict::Holds, _) => ("holds", BAD),
            (Verdict::Violated, _) => ("violated", BAD),
        };
        let more = if property.exhaustive { "" } else { "≥ " };
        let states = format!("{more}{}", count(property.states));
        let expected = match property.expected {
            Some(expected) if expected == property.verdict => "  as expected",
            Some(_) if property.verdict != Verdict::Undecided => "  not as expected",
            _ => "",
        };
        let reduced = if property.reduced { "  reduced" } else { "" };
        let verdict = paint(style, format!("{word:<10}"));
        let (name, time) = (&property.name, seconds(property.seconds));
        text.push_str(&format!("  {values}{name:<16}  {verdict}  {states:>15}  {time:>9}{reduced}{expected}\n"));
    }
    if cell.properties.is_empty() {
        let reason = cell.reason.as_deref().unwrap_or("nothing to check");
        text.push_str(&format!("  {values}{}\n", paint(UNSURE, reason)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_people_write_them() {
        let read = |text: &str| parse_parameter(text).map(|p| (p.name, p.first, p.last));
        assert_eq!(read("N=2..5"), Ok(("N".to_owned(), 2, 5)));
        assert_eq!(read("_a1=-1..1"), Ok(("_a1".to_owned(), -1, 1)));
        assert_eq!(read("N=3"), Ok(("N".to_owned(), 3, 3)));
        for bad in ["N", "N=", "=1..2", "1N=1..2", "N=5..2", "N=1..x", "N=1..99999999999", "N M=1..2", ""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn several_parameters_give_every_combination_once() {
        let parameters: Vec<Parameter> =
            ["A=1..2", "B=0..2"].iter().map(|text| parse_parameter(text).expect("one")).collect();
        let all = combinations(&parameters).expect("few");
        assert_eq!(all, [[1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]]);
        assert!(combinations(&[parse_parameter("A=1..10001").expect("one")]).is_err());
    }

    #[test]
    fn numbers_are_rounded_to_two_digits() {
        assert_eq!([7.3, 74.6, 12_345.0, 98_765_432.0].map(two_digits), [7.0, 75.0, 12_000.0, 99_000_000.0]);
    }
}
