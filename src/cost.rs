//! `fabius cost`: what the states of a model are spent on.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::{count, counted};
use crate::render::paint::{FAINT, STRONG, paint};
use crate::stop::Interrupts;
use crate::{asked, check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_analysis::cost::{Cost, Costs, Part, Stop, costs};
use fabius_base::Cancel;
use fabius_engine::{Loaded, TOOL, VERSION};
use fabius_mutation::report::in_one_line;
use fabius_supervise::{Timer, Unfinished, memory};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
The model is explored as it is written, in every order of steps, the states nearest to the initial one first. For each variable, for
what its channels hold, and for the places of each process type it is counted how many different states there would be if it did not
count. Of a process type, all processes count together. Then statements are listed that never wait, with the states in which a
process is right before them: these would be gone if the statement was one step with the one before it.

Exit codes:
  0  every reachable state was looked at
  2  a limit was reached: the figures are about the states that were looked at
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

/// The part of the time limit after which no more states are looked at, in tenths; the rest is for comparing them, which takes several
/// times as long.
const SEARCH_TENTHS: u32 = 1;
/// More states are not looked at, unless somebody says so.
const STATES_MAX: u64 = 100_000;
/// This many rows are shown.
const ROWS_MAX: usize = 15;
/// This many statements are shown, …
const STOPS_MAX: usize = 5;
/// … each with at most this many characters.
const STATEMENT_MAX: usize = 30;

// The flags of `fabius cost`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct CostFlags {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Stop after this many states, such as 1_000_000, 500k or 2M (default: 100 000).
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when it needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Print one JSON document; docs/schema/cost.schema.json describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// The answer as plain data; `docs/schema/cost.schema.json` describes it.
#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    file: &'a str,
    states: u64,
    exhaustive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    costs: Vec<Row>,
    stops: Vec<StopRow>,
}

/// In how many states a process is right before a statement that never waits.
#[derive(Serialize)]
struct StopRow {
    process: String,
    statement: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    states: u64,
    share: f64,
}

/// What one thing costs.
#[derive(Serialize)]
struct Row {
    part: Part,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    values: u64,
    states_without: u64,
    share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

/// Finds out what states are spent on, and shows it; returns the exit code.
pub fn run(args: &CostFlags) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let loaded = match check::load_and_tell(&args.file, &args.define, args.max_memory, &cancel) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let limits = asked::limits(Some(args.max_states.unwrap_or(STATES_MAX)), args.max_memory);
    let _memory = memory::Watch::start(args.max_memory.unwrap_or_else(memory::default_bytes), &cancel);
    // What is known when the time is up has to be compared, too.
    let search = cancel.part();
    let _search_timer = Timer::start(args.timeout.map(|time| time / 10 * SEARCH_TENTHS), &search);
    let done = asked::until_stopped(&cancel, loaded, move |loaded, cancel, _| costs(loaded, limits, &search, cancel));
    match done {
        Ok((loaded, Some(found))) => tell(args, &loaded, &found),
        Ok((_, None)) => match cancel.requested() {
            None => exit::FAULTY,
            Some(why) => {
                let why = Unfinished::Abandoned(why).sentence();
                output::complain(&format!("error: not known: {why} before the states were compared"));
                exit::UNDECIDED
            }
        },
        Err(code) => code,
    }
}

/// Prints what was found out; the exit code.
fn tell(args: &CostFlags, loaded: &Loaded, found: &Costs) -> u8 {
    let (exhaustive, limit) = (found.limit.is_none(), found.limit.clone());
    let code = if exhaustive { 0 } else { exit::UNDECIDED };
    let rows = found.costs.iter().map(|cost| row(loaded, found, cost)).collect();
    let (file, states) = (loaded.name.as_str(), found.states);
    let stops = found.stops.iter().map(|stop| stop_row(loaded, found, stop)).collect();
    let document = Document { tool: TOOL, version: VERSION, file, states, exhaustive, limit, costs: rows, stops };
    let printed = if args.json {
        serde_json::to_string_pretty(&document).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        output::code(output::unless_closed(out.write_all(shown(&document).as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(code, printed)
}

fn row(loaded: &Loaded, found: &Costs, cost: &Cost) -> Row {
    Row {
        part: cost.part,
        name: cost.name.clone(),
        line: cost.span.map(|span| loaded.map.position(span).line),
        values: cost.values,
        states_without: cost.states_without,
        share: 1.0 - cost.states_without as f64 / found.states.max(1) as f64,
        advice: advice(cost),
    }
}

fn stop_row(loaded: &Loaded, found: &Costs, stop: &Stop) -> StopRow {
    StopRow {
        process: stop.process.clone(),
        statement: stop.statement.clone(),
        line: loaded.line_of(stop.span),
        states: stop.states,
        share: stop.states as f64 / found.states.max(1) as f64,
    }
}

/// What may be done about it.
fn advice(cost: &Cost) -> Option<&'static str> {
    match cost.part {
        Part::Variable if cost.never_read => Some("nothing reads it: declare it `hidden`, or leave it out"),
        Part::Variable if cost.bits.is_some_and(|bits| 8 <= bits) && 8 < cost.values => {
            Some("count no further than the model asks, or reset it once it no longer matters")
        }
        Part::Channel => Some("less room, or messages with fewer fields and values"),
        Part::Places => Some("`atomic` or `d_step` around steps that nobody else sees, or fewer processes"),
        Part::Variable => None,
    }
}

fn shown(document: &Document<'_>) -> String {
    let states = counted(document.states, "state");
    let mut text = match &document.limit {
        None => format!("{states}, exhaustive\n"),
        Some(limit) => format!("{states} looked at, the nearest ones: {limit}\n"),
    };
    if document.costs.is_empty() {
        let _ = writeln!(text, "no variable, channel or place makes states different by itself");
    }
    let rows = &document.costs[..document.costs.len().min(ROWS_MAX)];
    text.push_str(&parts(document, rows));
    text.push_str(&stops(document));
    text.push_str(&what_to_try(rows));
    text
}

/// The statements that never wait before which a process is in most states.
fn stops(document: &Document<'_>) -> String {
    let rows = &document.stops[..document.stops.len().min(STOPS_MAX)];
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    let columns = format!("{:>12}  {:>5}  right before a statement that never waits", "states", "");
    let _ = writeln!(text, "{}", paint(STRONG, columns));
    for row in rows {
        let percent = format!("{:.0} %", (row.share * 100.0).floor());
        let line = row.line.map_or_else(String::new, |line| format!("line {line}: "));
        let what = format!("{line}{}", in_one_line(&row.statement, STATEMENT_MAX));
        let _ = writeln!(text, "{:>12}  {percent:>5}  {what} ({})", count(row.states), row.process);
    }
    if let Some(more) = document.stops.len().checked_sub(STOPS_MAX).filter(|more| 0 < *more) {
        let _ = writeln!(text, "{}", paint(FAINT, format!("… and {more} more; --json lists them all")));
    }
    text
}

/// What variables, channels and places cost.
fn parts(document: &Document<'_>, rows: &[Row]) -> String {
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    let width = rows.iter().map(|row| what(row).chars().count()).max().unwrap_or(0).max(17);
    let _ =
        writeln!(text, "{}", paint(STRONG, format!("{:>12}  {:>5}  {:<width$}  values", "states less", "", "without")));
    for row in rows {
        let less = count(document.states - row.states_without);
        let percent = format!("{:.0} %", (row.share * 100.0).floor());
        let _ = writeln!(text, "{less:>12}  {percent:>5}  {:<width$}  {}", what(row), count(row.values));
    }
    if let Some(more) = document.costs.len().checked_sub(ROWS_MAX).filter(|more| 0 < *more) {
        let _ = writeln!(text, "{}", paint(FAINT, format!("… and {more} more; --json lists them all")));
    }
    text
}

fn what(row: &Row) -> String {
    match row.part {
        Part::Variable => row.name.clone(),
        Part::Channel => format!("messages in {}", row.name),
        Part::Places => format!("places of {}", row.name),
    }
}

/// Advice, the same once, where it saves most.
fn what_to_try(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut given: Vec<&str> = Vec::new();
    for (row, advice) in rows.iter().filter_map(|row| Some((row, row.advice?))) {
        if given.contains(&advice) {
            continue;
        }
        if given.is_empty() {
            let _ = writeln!(text, "{}", paint(STRONG, "what to try:"));
        }
        given.push(advice);
        let line = row.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let _ = writeln!(text, "  {}{line}:\n    {advice}", what(row));
    }
    text
}
