//! `fabius contexts`: with which processes, arguments and inputs a model can deadlock or fail.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::counted;
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text;
use crate::stop::Interrupts;
use crate::{check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_analysis::contexts::Choices;
use fabius_base::{Cancel, Limits, StopReason};
use fabius_engine::{CheckContext, Loaded, SAFETY, Settings, Verdict};
use fabius_supervise::{Timer, Unfinished, Voice, memory};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
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

/// The flags of `fabius contexts`.
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

/// What is known of a context.
#[derive(Serialize, Debug)]
struct Judged {
    /// What its `init` does.
    statements: Vec<String>,
    verdict: Verdict,
    /// What goes wrong, or what the verdict rests on.
    reason: String,
    /// Where something goes wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Length of the run that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
}

/// What is known of all.
#[derive(Serialize, Debug)]
struct Report {
    tool: &'static str,
    version: &'static str,
    file: String,
    /// All contexts were looked at that there are.
    complete: bool,
    contexts: Vec<Judged>,
}

/// Why contexts are not judged.
enum Failure {
    Faulty(String),
    Internal(String),
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
        Ok(Ok(Ok(report))) => report,
        Ok(Ok(Err(Failure::Faulty(why)))) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
        Ok(Ok(Err(Failure::Internal(why)))) => {
            output::complain(&why);
            return exit::INTERNAL;
        }
        Ok(Err(why)) => return abandoned(why),
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

/// The text of an `init` that makes a context.
fn init(statements: &[String]) -> String {
    format!("\n\ninit {{\n  atomic {{\n    {}\n  }}\n}}\n", statements.join(";\n    "))
}

/// Checks contexts until all are checked or somebody asks to stop.
fn judged(args: &Contexts, cancel: &Cancel) -> Result<Result<Report, Failure>, StopReason> {
    let limits = Limits {
        states_max: Some(args.max_states.unwrap_or(STATES_MAX)),
        depth_max: None,
        memory_bytes_max: Some(args.max_memory.unwrap_or_else(memory::default_bytes)),
    };
    let settings = Settings { properties: vec![SAFETY.to_owned()], schedule: false, limits, ..Settings::default() };
    let load =
        |more: &str| check::load_adding(&args.file, &args.define, more, &settings, cancel).map(|(loaded, _)| loaded);
    // A model in which nothing runs has no program.
    let empty = load("\n\ninit { skip }\n")?;
    if let Some(why) = faults(&empty) {
        return Ok(Err(Failure::Faulty(why)));
    }
    let choices = match Choices::of(&empty, &args.types, &args.values, &args.input) {
        Ok(choices) => choices,
        Err(why) => return Ok(Err(Failure::Faulty(why))),
    };
    let mut report = Report {
        tool: fabius_engine::TOOL,
        version: fabius_engine::VERSION,
        file: empty.name.clone(),
        complete: true,
        contexts: Vec::new(),
    };
    for context in choices.contexts(usize::from(args.processes)) {
        if cancel.requested().is_some() || args.max_contexts <= report.contexts.len() {
            report.complete = false;
            break;
        }
        let statements = choices.statements(&context);
        let Ok(loaded) = load(&init(&statements)) else {
            report.complete = false;
            break;
        };
        if let Some(why) = faults(&loaded) {
            return Ok(Err(Failure::Faulty(format!("with {}: {why}", statements.join("; ")))));
        }
        match judge(&loaded, &settings, statements, cancel) {
            Ok(judged) => report.contexts.push(judged),
            Err(why) => return Ok(Err(Failure::Internal(why))),
        }
    }
    Ok(Ok(report))
}

/// What keeps a text from being checked.
fn faults(loaded: &Loaded) -> Option<String> {
    if loaded.checkable().is_some() {
        return None;
    }
    let errors: Vec<_> = loaded.findings.iter().filter(|finding| finding.is_error()).cloned().collect();
    let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, &errors));
    let first = errors.first().map_or_else(String::new, |finding| format!(": {}", finding.headline));
    Some(format!("the model is faulty{first}"))
}

fn judge(loaded: &Loaded, settings: &Settings, statements: Vec<String>, cancel: &Cancel) -> Result<Judged, String> {
    let started = Instant::now();
    let mut context = CheckContext { cancel, now: &|| started.elapsed(), observe: &mut |_| {}, controls: None };
    let outcome = fabius_engine::check(loaded, settings, &mut context);
    if let Some(failure) = outcome.failure {
        return Err(failure);
    }
    Ok(match outcome.counterexamples.first() {
        Some(found) => Judged {
            statements,
            verdict: outcome.report.verdict,
            reason: found.finding.headline.clone(),
            line: Some(found.report.line),
            steps: Some(found.report.steps),
        },
        None => Judged {
            statements,
            verdict: outcome.report.verdict,
            reason: outcome.report.reason.clone(),
            line: None,
            steps: None,
        },
    })
}

fn count_of(report: &Report, verdict: Verdict) -> usize {
    report.contexts.iter().filter(|it| it.verdict == verdict).count()
}

fn code(report: &Report) -> u8 {
    if 0 < count_of(report, Verdict::Violated) {
        1
    } else if report.complete && count_of(report, Verdict::Holds) == report.contexts.len() {
        0
    } else {
        exit::UNDECIDED
    }
}

fn shown(report: &Report) -> String {
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
fn export(args: &Contexts, path: &std::path::Path, report: &Report) -> u8 {
    let Some(wrong) = report.contexts.iter().find(|it| it.verdict == Verdict::Violated) else {
        output::complain(&format!("error: nothing is written to `{}`: no context goes wrong", path.display()));
        return exit::UNDECIDED;
    };
    let read = std::fs::read_to_string(&args.file);
    match read.and_then(|text| std::fs::write(path, text + &init(&wrong.statements))) {
        Ok(()) => {
            output::complain(&format!("written to `{}`", path.display()));
            0
        }
        Err(error) => {
            output::complain(&format!("error: `{}` cannot be written: {error}", path.display()));
            exit::FAULTY
        }
    }
}
