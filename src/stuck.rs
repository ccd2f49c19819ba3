//! `fabius stuck`: whether a model can deadlock, and where.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::{count, counted, memory, seconds};
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text;
use crate::stop::Interrupts;
use crate::{asked, check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_analysis::Line;
use fabius_analysis::stuck::{
    Being, CandidateReport, CandidateVerdict, NotAsked, PlaceReport, Proof, Stuck as Found, StuckReport, StuckRequest,
    StuckVerdict, stuck,
};
use fabius_base::Cancel;
use fabius_engine::Loaded;
use fabius_supervise::Timer;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
First the text is asked: in which combinations of places could all processes be blocked at once? If there is none, the model has
no deadlock, and no search is needed. Otherwise a search looks for a way to one of them. Only deadlocks are looked for;
`fabius check` checks everything else.

Exit codes:
  0  no deadlock can be reached
  1  a run leads to a deadlock
  2  not known: a limit was reached
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

/// This many combinations of places are shown.
const CANDIDATES_SHOWN_MAX: usize = 10;
/// This many runs are shown with their steps.
const RUNS_SHOWN_MAX: usize = 5;

// The flags of `fabius stuck`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Stuck {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Go on after the first deadlock, until each combination of places has a run or is known to be impossible.
    #[arg(long, help_heading = "What to look for")]
    pub every: bool,

    /// Look only for deadlocks in which a process waits at this line of the model.
    #[arg(long, value_name = "LINE", value_parser = clap::value_parser!(u32).range(1..), help_heading = "What to look for")]
    pub line: Option<u32>,

    /// Disable partial-order reduction in the search.
    #[arg(long, help_heading = "What to look for")]
    pub no_reduction: bool,

    /// Stop after this many states, such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when the search needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Show runs as sequence diagrams: a lane for each process, where it waits and who lets it go on.
    #[arg(long, help_heading = "Output")]
    pub diagram: bool,

    /// Print one JSON document; docs/schema/stuck.schema.json describes it.
    #[arg(long, conflicts_with = "diagram", help_heading = "Output")]
    pub json: bool,
}

/// Finds out whether a model can deadlock, and shows it; returns the exit code.
pub fn run(args: &Stuck) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let loaded = match check::load_and_tell(&args.file, &args.define, args.max_memory, &cancel) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let request = request(args, &loaded.name);
    let (loaded, found) =
        match asked::until_stopped(&cancel, loaded, move |loaded, cancel, now| stuck(loaded, &request, cancel, now)) {
            Ok((loaded, Ok(found))) => (loaded, found),
            Ok((_, Err(NotAsked::Faulty))) => return exit::FAULTY,
            Ok((_, Err(NotAsked::Refused(why)))) => {
                output::complain(&format!("error: {why}"));
                return exit::FAULTY;
            }
            Err(code) => return code,
        };
    if let Some(failure) = &found.report.internal_error {
        output::complain(failure);
        return exit::INTERNAL;
    }
    let printed = if args.json {
        serde_json::to_string_pretty(&found.report)
            .map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        let text = shown(args, &loaded, &found);
        output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(code(found.report.verdict), printed)
}

fn request(args: &Stuck, file: &str) -> StuckRequest {
    let limits = asked::limits(args.max_states, args.max_memory);
    let line = args.line.map(|line| Line { file: file.to_owned(), line });
    StuckRequest { every: args.every, no_reduction: args.no_reduction, line, limits }
}

fn code(verdict: StuckVerdict) -> u8 {
    match verdict {
        StuckVerdict::NoDeadlock => 0,
        StuckVerdict::Deadlock => 1,
        StuckVerdict::Unknown => exit::UNDECIDED,
    }
}

fn shown(args: &Stuck, loaded: &Loaded, found: &Found) -> String {
    let report = &found.report;
    let mut text = String::new();
    for (number, run) in found.runs.iter().enumerate() {
        text.push_str(&text::counterexample(&loaded.map, run, number < RUNS_SHOWN_MAX, args.diagram));
    }
    let verdict = match report.verdict {
        StuckVerdict::Deadlock => paint(BAD, "deadlock possible"),
        StuckVerdict::NoDeadlock => paint(GOOD, "no deadlock"),
        StuckVerdict::Unknown => paint(UNSURE, "not known whether a deadlock is possible"),
    };
    let without = if report.proof == Some(Proof::Text) { ", proved without a search" } else { "" };
    let _ = writeln!(text, "{verdict}{without}: {}", report.reason);
    text.push_str(&candidates(args, report));
    let _ = writeln!(text, "{}", paint(FAINT, effort(report)));
    text
}

/// The combinations of places that the text does not exclude.
fn candidates(args: &Stuck, report: &StuckReport) -> String {
    let mut text = String::new();
    if let Some(why) = report.not_told {
        let _ = writeln!(text, "{} the text does not tell where a deadlock could be: {why}", paint(STRONG, "note:"));
        return text;
    }
    if report.candidates.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "{}",
        paint(STRONG, "combinations of places in which all processes could be blocked, as far as the text tells:")
    );
    for candidate in report.candidates.iter().take(CANDIDATES_SHOWN_MAX) {
        let _ = writeln!(text, "  {}", line(candidate));
    }
    if let Some(more) = report.candidates.len().checked_sub(CANDIDATES_SHOWN_MAX).filter(|more| *more > 0) {
        let _ =
            writeln!(text, "  {}", paint(FAINT, format!("… and {} more; --json lists them all", count(more as u64))));
    }
    let open = report.candidates.iter().any(|it| it.verdict == CandidateVerdict::Unknown);
    if report.verdict == StuckVerdict::Deadlock && open && !args.every {
        let _ = writeln!(text, "{}", paint(FAINT, "--every looks for a run to each of them"));
    }
    text
}

/// A combination of places in a line.
fn line(candidate: &CandidateReport) -> String {
    let verdict = match candidate.verdict {
        CandidateVerdict::Reached => paint(BAD, "reached"),
        CandidateVerdict::Impossible => paint(GOOD, "impossible"),
        CandidateVerdict::Unknown => paint(UNSURE, "not known"),
    };
    let blocked = |it: &&PlaceReport| matches!(it.is, Being::Blocked | Being::AtEndLabel);
    let places: Vec<String> = candidate.places.iter().filter(blocked).map(place).collect();
    let others = candidate.places.iter().filter(|it| it.is == Being::Ended).count();
    let ended = if others == 0 { String::new() } else { format!("; {} ended", count(others as u64)) };
    format!("{verdict}: {}{ended}", places.join(", "))
}

fn place(place: &PlaceReport) -> String {
    let pid = place.pid.map(|pid| format!("[{pid}]")).unwrap_or_default();
    let line = place.line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let statement = place.statements.first().map(|text| format!(" ({text})")).unwrap_or_default();
    let more = if place.statements.len() > 1 { " …" } else { "" };
    format!("{}{pid}{line}{statement}{more}", place.process)
}

fn effort(report: &StuckReport) -> String {
    let combinations = report.combinations.as_ref().map(|number| match number.parse() {
        Ok(number) => counted(number, "combination") + " of places, ",
        Err(_) => format!("{number} combinations of places, "),
    });
    let explored = match (report.states, report.exhaustive) {
        (0, _) => "no search".to_owned(),
        (states, true) => format!("{}, exhaustive", counted(states, "state")),
        (states, false) => counted(states, "state"),
    };
    let used = if report.states == 0 { String::new() } else { format!(", {}", memory(report.memory_bytes)) };
    format!("{}{explored}, {}{used}", combinations.unwrap_or_default(), seconds(report.seconds))
}
