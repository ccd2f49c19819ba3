//! `fabius check --sweep`: a model with several values of its parameters, as a table, and what the next value will cost.

use crate::args::{Check, parse_duration};
use crate::formats::Format;
use crate::render::numbers::{count, seconds};
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text;
use crate::stop::Interrupts;
use crate::{check, exit, output, silent};
use clap::Args;
use fabius_base::{Cancel, StopReason};
use fabius_engine::sweep::{
    Cell, NoEffect, Parameter, Prediction, combinations, in_line, named, not_worth_trying, predictions, ranges,
    without_effect,
};
use fabius_engine::{Loaded, Outcome, Settings, TOOL, VERSION, Verdict};
use fabius_supervise::{Timer, Unfinished};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

// The flags of a sweep.
#[derive(Args, Debug, Clone, Default)]
pub struct SweepFlags {
    /// Check the model with each of these values of a macro, in place of the one that it defines, and show a table, with the states that the next
    /// value will have. Of several parameters, every combination; `annotated` stands for what the model says itself in a comment
    /// `/*@ sweep N = 2..5 */`. --timeout and --max-states then limit each of these checks.
    #[arg(
        long,
        value_name = "NAME=A..B",
        value_parser = parse_swept,
        action = clap::ArgAction::Append,
        conflicts_with_all = ["events", "output", "trail", "itf", "picture", "plot", "verbose", "diagram", "hints", "checkpoint", "resume", "hosts", "baseline", "write_baseline"],
        help_heading = "What to check"
    )]
    pub sweep: Vec<Swept>,

    /// Time limit for all checks of --sweep together, such as 30 (seconds), 5m or 1h; what is not checked by then is named.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "sweep", help_heading = "Limits")]
    pub sweep_timeout: Option<Duration>,
}

/// A value of `--sweep`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Swept {
    /// What the model says itself.
    Annotated,
    /// A macro and its values.
    Values(Parameter),
}

fn parse_swept(text: &str) -> Result<Swept, String> {
    match text {
        "annotated" => Ok(Swept::Annotated),
        text => Parameter::read(text).map(Swept::Values),
    }
}

/// What a sweep found out, as plain data.
#[derive(Serialize)]
struct Table<'a> {
    tool: &'static str,
    version: &'static str,
    file: String,
    parameters: Vec<Values<'a>>,
    cells: &'a [Cell],
    predictions: Vec<Prediction>,
}

/// A macro with its values, as plain data.
#[derive(Serialize)]
struct Values<'a> {
    name: &'a str,
    first: i64,
    last: i64,
}

impl<'a> Values<'a> {
    fn of(Parameter { name, first, last }: &'a Parameter) -> Self {
        Self { name, first: *first, last: *last }
    }
}

/// Checks all combinations; returns the exit code.
pub fn run(args: &Check) -> u8 {
    let interrupts = Interrupts::listen();
    let prepared = refuse(args).and_then(|()| {
        let parameters = parameters(args, &interrupts)?;
        Ok((combinations(&parameters)?, parameters))
    });
    let (combinations, parameters) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
    };
    let until = args.sweep.sweep_timeout.map(|time| Instant::now() + time);
    let sweep = Sweep { args, parameters, until, interrupts };
    let is_json = args.formats.format() == Format::Json;
    let mut out = args.color.stdout();
    let mut written = Ok(());
    let mut cells: Vec<Cell> = Vec::new();
    let mut code = 0;
    for values in combinations {
        let (cell, code_of_cell) = match sweep.cell(&values, cells.last()) {
            Ok(checked) => checked,
            Err(failed) if cells.is_empty() => return failed,
            // What was found out before is told all the same.
            Err(failed) => {
                code = exit::worse(code, failed);
                break;
            }
        };
        code = exit::worse(code, code_of_cell);
        if !is_json && written.is_ok() {
            let is_first = cells.is_empty();
            let title = || format!("{}, {}", args.files[0].display(), ranges(&sweep.parameters));
            let head = if is_first { paint(STRONG, title()) + "\n" } else { String::new() };
            let text = head + &in_words(&cell, &sweep.parameters, is_first);
            written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        cells.push(cell);
    }
    let predictions = predictions(&sweep.parameters, &cells);
    let printed = if is_json {
        sweep.print_json(&cells, predictions)
    } else {
        let told: String = predictions.iter().map(|told| told.sentence() + "\n").collect();
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
    check::refuse(args)
}

/// The macros with their values, also those that the model names itself.
fn parameters(args: &Check, interrupts: &Interrupts) -> Result<Vec<Parameter>, String> {
    let mut all: Vec<Parameter> = Vec::new();
    for swept in &args.sweep.sweep {
        match swept {
            Swept::Values(parameter) => all.push(parameter.clone()),
            Swept::Annotated => all.extend(annotated(args, interrupts)?),
        }
    }
    for (at, Parameter { name, .. }) in all.iter().enumerate() {
        let defined = |text: &String| text.split('=').next() == Some(name);
        if args.question.define.iter().any(defined) {
            return Err(format!("-D {name} and --sweep {name} contradict each other: name one of them"));
        }
        if all[..at].iter().any(|other| other.name == *name) {
            return Err(format!("--sweep {name} is given twice"));
        }
    }
    Ok(all)
}

/// The macros that the model itself says to sweep.
fn annotated(args: &Check, interrupts: &Interrupts) -> Result<Vec<Parameter>, String> {
    let cancel = Cancel::new();
    interrupts.watch(&cancel);
    let _timer = Timer::start(args.sweep.sweep_timeout, &cancel);
    let loaded = check::load(&args.files[0], &args.question, &check::settings(args), &cancel)
        .map_err(|why| Unfinished::Abandoned(why).sentence().to_owned())?;
    let file = args.files[0].display();
    match &loaded.sweeps[..] {
        [] => Err(format!("{file} has no comment `/*@ sweep N = 2..5 */`, so --sweep annotated has no values")),
        [one] => Ok(one.parameters.clone()),
        all => {
            let lines = all.iter().filter_map(|sweep| loaded.line_of(sweep.span)).map(|line| line.to_string());
            let lines = lines.collect::<Vec<_>>().join(" and ");
            Err(format!("{file} has several comments about a sweep, in lines {lines}: name one as --sweep NAME=A..B"))
        }
    }
}

/// A sweep that runs.
struct Sweep<'a> {
    args: &'a Check,
    parameters: Vec<Parameter>,
    until: Option<Instant>,
    interrupts: Interrupts,
}

impl Sweep<'_> {
    /// One combination, with its exit code.
    ///
    /// # Errors
    /// The exit code, if it cannot be checked, nor can any other; why is told.
    fn cell(&self, values: &[i64], before: Option<&Cell>) -> Result<(Cell, u8), u8> {
        match self.stopped().or_else(|| not_worth_trying(&self.parameters, values, before)) {
            Some(why) => Ok((Cell::unchecked(named(&self.parameters, values), why), exit::UNDECIDED)),
            None => self.checked(values),
        }
    }

    /// Why nothing more is checked.
    fn stopped(&self) -> Option<String> {
        if self.interrupts.pressed() {
            return Some("it was interrupted".to_owned());
        }
        let is_late = self.until.is_some_and(|until| until <= Instant::now());
        is_late.then(|| "the time allowed for all was used up".to_owned())
    }

    fn checked(&self, values: &[i64]) -> Result<(Cell, u8), u8> {
        let Self { args, parameters, until, interrupts } = self;
        let cancel = Cancel::new();
        interrupts.watch(&cancel);
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let _timer = Timer::start(args.timeout.into_iter().chain(left).min(), &cancel);
        let path: &Path = &args.files[0];
        let mut question = args.question.clone();
        let named = named(parameters, values);
        question.define.extend(parameters.iter().zip(values).map(|(p, value)| format!("{}={value}", p.name)));
        let unread = |why: StopReason| {
            (Cell::unchecked(named.clone(), Unfinished::Abandoned(why).sentence().to_owned()), exit::UNDECIDED)
        };
        let fixed_macros = named.keys().cloned().collect();
        let loaded = match check::load(path, &question, &Settings { fixed_macros, ..check::settings(args) }, &cancel) {
            Ok(loaded) => loaded,
            Err(why) => return Ok(unread(why)),
        };
        refuse_without_effect(&loaded, parameters)?;
        let settings = Settings { until: args.timeout.into_iter().chain(left).min(), ..check::settings(args) };
        match silent::checked(loaded, path, &question, settings, &cancel)? {
            Ok((loaded, outcome)) => judged(named, &loaded, &outcome),
            Err(why) => Ok(unread(why)),
        }
    }

    fn print_json(&self, cells: &[Cell], predictions: Vec<Prediction>) -> u8 {
        let file = self.args.files[0].display().to_string();
        let parameters = self.parameters.iter().map(Values::of).collect();
        let table = Table { tool: TOOL, version: VERSION, file, parameters, cells, predictions };
        serde_json::to_string_pretty(&table).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    }
}

/// Refuses a macro whose values would not count.
fn refuse_without_effect(loaded: &Loaded, parameters: &[Parameter]) -> Result<(), u8> {
    let Some((Parameter { name, .. }, why)) = without_effect(loaded, parameters) else { return Ok(()) };
    output::complain(&match why {
        NoEffect::Unused => format!("error: the model does not use {name}, so --sweep {name} has no effect"),
        NoEffect::Defined(finding) => {
            let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, std::slice::from_ref(finding)));
            format!("error: the model defines {name} with arguments, so --sweep {name} has no effect")
        }
    });
    Err(exit::FAULTY)
}

/// What a check found out, with its exit code; what is faulty is told.
fn judged(values: BTreeMap<String, i64>, loaded: &Loaded, outcome: &Outcome) -> Result<(Cell, u8), u8> {
    let report = &outcome.report;
    let code = exit::of_report(report);
    if code == exit::FAULTY {
        let errors = loaded.findings.iter().chain(&outcome.findings).filter(|finding| finding.is_error());
        let errors: Vec<_> = errors.cloned().collect();
        let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, &errors));
        output::complain(&format!("error: {} with {}: {}", report.file, in_line(&values), report.reason));
        let why = errors.first().map_or(report.reason.as_str(), |finding| &finding.headline);
        return Ok((Cell::faulty(values, why), code));
    }
    if code == exit::INTERNAL {
        output::complain(outcome.failure.as_deref().unwrap_or(&report.reason));
        return Err(exit::INTERNAL);
    }
    Ok((Cell::of(values, report), code))
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
