//! `fabius find`: a run in which a pattern comes true, or the certainty that there is none.

use crate::args::{AuditExtent, parse_count, parse_duration, parse_size};
use crate::render::numbers::{count, counted, memory, seconds};
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text;
use crate::stop::Interrupts;
use crate::trail::{UNNAMED, is_stdin, write_beside};
use crate::{asked, check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_base::Cancel;
use fabius_engine::Loaded;
use fabius_find::{FindReport, FindRequest, FindVerdict, Found, NotAsked, find};
use fabius_supervise::Timer;
use fabius_witness::format::trail::trail;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
A pattern is an expression as in a formula of the model (x > 3, len(q) == 2, P[1]@label, P:local), or P[1]@line 20 (the process is
about to execute a statement that begins there), joined by !, &&, ||, -> and operators that look back along the run:
  previously A     A held in the state before
  once A           A held in some state up to now
  historically A   A held in all states up to now
  start A, end A   A holds and did not in the state before; the other way round
  A since B        B held in some state up to now, and A in all states behind it
  A after B        A holds, and B held in some state before
`since` and `after` bind least, then ->, ||, &&; the others bind most tightly, comparisons and arithmetic stay together.

Exit codes:
  0  impossible: the pattern is true in no reachable state
  1  a run leads to a state in which it is true
  2  not known: a limit was reached
  3  the input is faulty (the model, the pattern, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

// The flags of `fabius find`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Find {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// What to look for, such as 'x > 3 && len(q) == 2', 'P[1]@line 20 && P[2]@line 20' or 'x > 1 after y == 2'.
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pub pattern: String,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Audit of `impossible`: the reference interpreter lists the steps of visited states again, of some hundred drawn at random
    /// (sample), of all, or of none.
    #[arg(long, value_enum, value_name = "EXTENT", default_value_t = AuditExtent::Sample, help_heading = "How to look")]
    pub audit: AuditExtent,

    /// Stop after this many states, such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when the search needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Show the run as a sequence diagram: a lane for each process, where it waits and who lets it go on.
    #[arg(long, help_heading = "Output")]
    pub diagram: bool,

    /// Write the run as a trail that `spin -t -p FILE` replays (default: FILE.trail, where spin looks for it).
    #[arg(long, value_name = "TRAIL", num_args = 0..=1, require_equals = true, help_heading = "Output")]
    pub trail: Option<Option<PathBuf>>,

    /// Print one JSON document; docs/schema/find.schema.json describes it.
    #[arg(long, conflicts_with = "diagram", help_heading = "Output")]
    pub json: bool,
}

/// Looks for a run in which a pattern comes true, and shows it; returns the exit code.
pub fn run(args: &Find) -> u8 {
    if args.trail == Some(None) && is_stdin(&args.file) {
        output::complain(&format!("error: {UNNAMED}"));
        return exit::FAULTY;
    }
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let loaded = match check::load_and_tell(&args.file, &args.define, args.max_memory, &cancel) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let request = request(args);
    let (loaded, found) =
        match asked::until_stopped(&cancel, loaded, move |loaded, cancel, now| find(loaded, &request, cancel, now)) {
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
    let written = match (&args.trail, &found.run) {
        (Some(wanted), Some(run)) => write_beside(wanted.as_deref(), &args.file, &trail(&run.program, &run.path, None)),
        _ => 0,
    };
    let printed = if args.json {
        serde_json::to_string_pretty(&found.report)
            .map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        let text = shown(args, &loaded, &found);
        output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(exit::worse(code(found.report.verdict), printed), written)
}

fn request(args: &Find) -> FindRequest {
    let limits = asked::limits(args.max_states, args.max_memory);
    FindRequest { pattern: args.pattern.clone(), limits, audit: args.audit.into() }
}

fn code(verdict: FindVerdict) -> u8 {
    match verdict {
        FindVerdict::Impossible => 0,
        FindVerdict::Found => 1,
        FindVerdict::Unknown => exit::UNDECIDED,
    }
}

fn shown(args: &Find, loaded: &Loaded, found: &Found) -> String {
    let report = &found.report;
    let mut text = String::new();
    if let Some(run) = &found.run {
        let heading = match run.path.len() {
            0 => "in the initial state:".to_owned(),
            steps => format!("a run of {}:", counted(steps as u64, "step")),
        };
        text.push_str(&text::run(&loaded.map, &run.trace, &heading, args.diagram));
    }
    let verdict = match report.verdict {
        FindVerdict::Found => paint(BAD, "found"),
        FindVerdict::Impossible => paint(GOOD, "impossible"),
        FindVerdict::Unknown => paint(UNSURE, "not known"),
    };
    let _ = writeln!(text, "{verdict}: {}", report.reason);
    for note in report.without_value.iter().chain(&report.ended_runs) {
        let _ = writeln!(text, "{} {note}", paint(STRONG, "note:"));
    }
    let _ = writeln!(text, "{}", paint(FAINT, effort(report)));
    text
}

fn effort(report: &FindReport) -> String {
    let audited = match report.audited {
        None | Some(0) => String::new(),
        Some(audited) if audited == report.states => ", all audited".to_owned(),
        Some(audited) => format!(", {} audited", count(audited)),
    };
    let used = if report.states == 0 { String::new() } else { format!(", {}", memory(report.memory_bytes)) };
    format!("{}{audited}, {}{used}", counted(report.states, "state"), seconds(report.seconds))
}
