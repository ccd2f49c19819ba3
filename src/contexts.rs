//! `fabius contexts`: with which processes, arguments and inputs a model can deadlock or fail.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::exported::Environment;
use crate::render::numbers::counted;
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text;
use crate::stop::Interrupts;
use crate::{asked, check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_base::{Cancel, StopReason};
use fabius_engine::contexts::{ContextsReport, ContextsRequest, NotJudged, contexts};
use fabius_engine::{Settings, Verdict, language_of};
use fabius_supervise::{Timer, Unfinished, Voice};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
The model is one without `init`: types of processes that a system may be put together from. A context is an `init` for it: how
many processes of which types with which arguments, and values of inputs. Contexts that differ in who is who only are one.
Each is checked for deadlocks, failing assertions and runtime errors, those with the fewest processes first.

Exit codes:
  0  all contexts were checked, and none leads to a deadlock or a failure
  1  a context leads to a deadlock or a failure
  2  not known: a limit was reached
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

/// States explored for each context, unless somebody chose otherwise.
const STATES_MAX: u64 = 100_000;

// The flags of `fabius contexts`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Contexts {
    /// A Promela model without `init`.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Create at most N processes.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=16), help_heading = "Contexts")]
    pub processes: u8,

    /// Types to create processes of (default: all that are not active).
    #[arg(long = "type", value_name = "NAME", action = clap::ArgAction::Append, help_heading = "Contexts")]
    pub types: Vec<String>,

    /// Values of a parameter, by its name or TYPE.NAME: a list or a range (default: 0 and 1; of a channel, all global ones).
    #[arg(long, value_name = "NAME=LIST", action = clap::ArgAction::Append, help_heading = "Contexts")]
    pub values: Vec<String>,

    /// Values that a global variable has at the start: a list or a range.
    #[arg(long, value_name = "NAME=LIST", action = clap::ArgAction::Append, help_heading = "Contexts")]
    pub input: Vec<String>,

    /// Check at most N contexts.
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits")]
    pub max_contexts: usize,

    /// Explore at most this many states of each context, such as 500k (default: 100k).
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when a search needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit for all contexts, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Write the model with the first context that leads to a deadlock or a failure.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export: Option<PathBuf>,

    /// Print one JSON document; docs/schema/contexts.schema.json describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Checks the contexts of a model, and shows those that go wrong; returns the exit code.
pub fn run(args: &Contexts) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let (asked, own) = (cancel.clone(), args.clone());
    let done = fabius_supervise::run(&cancel, &Voice::default(), 1, move |result| {
        let _ = result.send(judged(&own, &asked));
    });
    let report = match done {
        Ok(Ok(report)) => report,
        Ok(Err(why)) => return not_judged(why),
        Err(why) if cancel.requested().is_some() => return abandoned(why),
        // It panicked, which was told.
        Err(_) => return exit::INTERNAL,
    };
    let printed = if args.json {
        serde_json::to_string_pretty(&report).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        output::code(output::unless_closed(out.write_all(shown(&report).as_bytes()).and_then(|()| out.flush())))
    };
    let written = args.export.as_ref().map_or(0, |path| export(args, path, &report));
    exit::worse(exit::worse(code(&report), printed), written)
}

fn abandoned(why: StopReason) -> u8 {
    output::complain(&format!("error: nothing is known of the contexts: {}", Unfinished::Abandoned(why).sentence()));
    exit::UNDECIDED
}

/// Says why contexts were not judged; returns the exit code.
fn not_judged(why: NotJudged) -> u8 {
    match why {
        NotJudged::Stopped(why) => return abandoned(why),
        NotJudged::Internal(why) => {
            output::complain(&why);
            return exit::INTERNAL;
        }
        NotJudged::Refused(why) => output::complain(&format!("error: {why}")),
        NotJudged::Faulty(loaded, statements) => {
            let errors: Vec<_> = loaded.findings.iter().filter(|finding| finding.is_error()).cloned().collect();
            let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, &errors));
            let first = errors.first().map_or_else(String::new, |finding| format!(": {}", finding.headline));
            let with = if statements.is_empty() { String::new() } else { format!("with {}: ", statements.join("; ")) };
            output::complain(&format!("error: {with}the model is faulty{first}"));
        }
    }
    exit::FAULTY
}

/// Checks contexts until all are checked or somebody asks to stop.
fn judged(args: &Contexts, cancel: &Cancel) -> Result<ContextsReport, NotJudged> {
    let limits = asked::limits(Some(args.max_states.unwrap_or(STATES_MAX)), args.max_memory);
    let request = ContextsRequest {
        processes_max: usize::from(args.processes),
        types: args.types.clone(),
        with: None,
        values: args.values.clone(),
        inputs: args.input.clone(),
        contexts_max: args.max_contexts,
        limits,
    };
    let settings = Settings { limits, ..Settings::default() };
    let mut load = |statements: &[String]| {
        let more = initial_process(&args.file, statements);
        check::load_adding(&args.file, &args.define, &more, &settings, cancel).map(|(loaded, _)| loaded)
    };
    let started = Instant::now();
    contexts(&request, &mut load, cancel, &|| started.elapsed())
}

/// The text that makes a context of a model in a file.
fn initial_process(file: &Path, statements: &[String]) -> String {
    language_of(&file.display().to_string()).initial_process(statements)
}

fn count_of(report: &ContextsReport, verdict: Verdict) -> usize {
    report.with(verdict).count()
}

fn code(report: &ContextsReport) -> u8 {
    if 0 < count_of(report, Verdict::Violated) {
        1
    } else if report.complete && count_of(report, Verdict::Holds) == report.contexts.len() {
        0
    } else {
        exit::UNDECIDED
    }
}

fn shown(report: &ContextsReport) -> String {
    let (all, wrong) = (report.contexts.len() as u64, count_of(report, Verdict::Violated) as u64);
    let open = all - wrong - count_of(report, Verdict::Holds) as u64;
    let mut text = String::new();
    for judged in report.contexts.iter().filter(|it| it.verdict == Verdict::Violated) {
        let line = judged.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let _ = writeln!(text, "{}: {}{line}", judged.statements.join("; "), paint(BAD, &judged.reason));
    }
    let first = if report.complete { "" } else { "the first " };
    let leads = if wrong == 1 { "leads" } else { "lead" };
    let number = paint(STRONG, format!("{wrong} of {first}{}", counted(all, "context")));
    let _ = write!(text, "{number} {leads} to a deadlock or a failure");
    let rest = match (open, wrong) {
        (0, wrong) if wrong == 0 || wrong == all => String::new(),
        (0, _) => format!("; {}", paint(GOOD, "the others do not")),
        (open, _) => format!("; {}", paint(UNSURE, format!("{open} are not decided within the limits"))),
    };
    let _ = writeln!(text, "{rest}");
    if !report.complete {
        let _ = writeln!(text, "{}", paint(FAINT, "not all contexts were checked: --max-contexts, --timeout"));
    }
    text
}

/// Writes the model with the first context that goes wrong; returns the exit code.
fn export(args: &Contexts, path: &Path, report: &ContextsReport) -> u8 {
    let Some(wrong) = report.contexts.iter().find(|it| it.verdict == Verdict::Violated) else {
        output::complain(&format!("error: nothing is written to `{}`: no context goes wrong", path.display()));
        return exit::UNDECIDED;
    };
    let more = initial_process(&args.file, &wrong.statements);
    let read = check::load_adding(&args.file, &args.define, &more, &Settings::default(), &Cancel::new());
    let environment = read.ok().map(|(loaded, _)| Environment::of(&loaded));
    let macros = environment.as_ref().map_or("", |around| around.macros());
    let read = std::fs::read_to_string(&args.file);
    match read.and_then(|text| std::fs::write(path, format!("{macros}{text}{more}"))) {
        Ok(()) => {
            output::complain(&format!("written to `{}`", path.display()));
            environment.inspect(|around| around.tell_missing(path));
            0
        }
        Err(error) => {
            output::complain(&format!("error: `{}` cannot be written: {error}", path.display()));
            exit::FAULTY
        }
    }
}
