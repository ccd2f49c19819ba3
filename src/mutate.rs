//! `fabius mutate`: how strong the properties of a model are.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::{count, counted, seconds};
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::stop::Interrupts;
use crate::{asked, check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_base::{Cancel, StopReason};
use fabius_engine::{Loaded, Settings, Verdict, plan, strategy};
use fabius_mutation::report::{MutantOutcome, MutantReport, MutationReport, MutationStop};
use fabius_mutation::{MutationContext, MutationRequest, mutation};
use fabius_supervise::{Timer, Unfinished, Voice};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const HELP: &str = "\
The model is changed a little, in one place at a time: a send, a receive or an assignment is dropped, a guard negated or dropped, an
option removed, an operator or a constant changed, two statements swapped, an `atomic` dropped. Each mutant is checked against
the properties that hold of the model. One that no property notices shows what the properties say nothing about.

Exit codes:
  0  a property notices each mutant
  1  some mutant survives
  2  not known: a limit was reached, or no property of the model was proved
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

/// Longer pieces of text are cut.
const TEXT_MAX: usize = 30;
/// This many killed mutants are shown.
const KILLED_SHOWN_MAX: usize = 30;

/// The flags of `fabius mutate`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Mutate {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Ask only these properties: names of formulas and claims, or kinds (safety, progress, acceptance, ltl).
    #[arg(long, value_name = "NAME|KIND", action = clap::ArgAction::Append, help_heading = "What to check")]
    pub property: Vec<String>,

    /// Also ask this formula of linear temporal logic.
    #[arg(long, value_name = "FORMULA", action = clap::ArgAction::Append, help_heading = "What to check")]
    pub ltl: Vec<String>,

    /// Check at most this many mutants, drawn at random.
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Limits")]
    pub limit: usize,

    /// Random seed of the draw.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Limits")]
    pub seed: u64,

    /// Time limit of each mutant, such as 30 (seconds), 500ms or 5m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10", help_heading = "Limits")]
    pub per_mutant: Duration,

    /// Time limit of everything together.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop each search after this many states, such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when a search needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Print one JSON document; docs/schema/mutate.schema.json describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Checks the mutants of a model, and shows what became of them; returns the exit code.
pub fn run(args: &Mutate) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let settings = settings(args);
    let loaded = match check::load_adding(&args.file, &args.define, "", &settings, &cancel) {
        Ok((loaded, _)) => loaded,
        Err(why) => {
            output::complain(&format!("error: not read to its end: {}", Unfinished::Abandoned(why).sentence()));
            return exit::UNDECIDED;
        }
    };
    let _ = write!(anstream::stderr(), "{}", crate::render::text::findings(&loaded.map, &loaded.findings));
    if let Some(Err(unknown)) = loaded.checkable().map(|program| plan(program, &settings.properties)) {
        let available = unknown.available.join(", ");
        output::complain(&format!("error: this model has no property `{}`, but {available}", unknown.selector));
        return exit::FAULTY;
    }
    if let Some(refusal) = strategy::contradiction(&loaded, &settings) {
        output::complain(&check::in_lines(&refusal));
        return exit::FAULTY;
    }
    let request = MutationRequest { settings, per_mutant: Some(args.per_mutant), limit: args.limit, seed: args.seed };
    let report = match checked_until(&cancel, loaded, request) {
        Ok(Some(report)) => report,
        Ok(None) => return exit::FAULTY,
        Err(why) if cancel.requested().is_some() => {
            output::complain(&format!("error: not known: {}", Unfinished::Abandoned(why).sentence()));
            return exit::UNDECIDED;
        }
        // It panicked, which was told.
        Err(_) => return exit::INTERNAL,
    };
    if let Some(failure) = &report.internal_error {
        output::complain(failure);
        return exit::INTERNAL;
    }
    let printed = if args.json {
        serde_json::to_string_pretty(&report).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        output::code(output::unless_closed(out.write_all(shown(&report).as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(code(&report), printed)
}

fn settings(args: &Mutate) -> Settings {
    let limits = asked::limits(args.max_states, args.max_memory);
    Settings { properties: args.property.clone(), formulas: args.ltl.clone(), limits, ..Settings::default() }
}

/// Checks on a thread of its own, which is left alone if it does not stop soon after it was asked to.
fn checked_until(
    cancel: &Cancel,
    loaded: Loaded,
    request: MutationRequest,
) -> Result<Option<MutationReport>, StopReason> {
    let asked = cancel.clone();
    fabius_supervise::run(cancel, &Voice::default(), 1, move |result| {
        let started = Instant::now();
        let on_terminal = std::io::stderr().is_terminal();
        let mut observe = |done: usize, of: usize| {
            if on_terminal {
                let _ = write!(anstream::stderr(), "\r\x1b[Kmutant {} of {of}", done + 1);
            }
        };
        let mut context = MutationContext { cancel: &asked, now: &|| started.elapsed(), observe: &mut observe };
        let report = mutation(&loaded, &request, &mut context);
        if on_terminal {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
        }
        let _ = result.send(report);
    })
}

fn code(report: &MutationReport) -> u8 {
    match () {
        () if 0 < report.survived => 1,
        () if report.is_complete() && report.properties.iter().any(|property| property.counts) => 0,
        () => exit::UNDECIDED,
    }
}

fn shown(report: &MutationReport) -> String {
    let mut text = String::new();
    let asked: Vec<&str> = report.properties.iter().filter(|it| it.counts).map(|it| it.name.as_str()).collect();
    let others: Vec<&str> = report.properties.iter().filter(|it| !it.counts).map(|it| it.name.as_str()).collect();
    if asked.is_empty() {
        let verdicts: Vec<String> =
            report.properties.iter().map(|it| format!("{} is {}", it.name, not_proved(it.verdict))).collect();
        let stopped = report.stopped.map_or_else(String::new, |stop| format!("; {}", words(stop)));
        let found = verdicts.join(", ");
        let _ = writeln!(text, "no property of the model was proved, so none can notice a change: {found}{stopped}");
        return text;
    }
    for (outcome, title, style) in [
        (MutantOutcome::Survived, "no property notices:", BAD),
        (MutantOutcome::Undecided, "not known:", UNSURE),
        (MutantOutcome::Killed, "noticed:", GOOD),
    ] {
        let all: Vec<&MutantReport> = report.mutants.iter().filter(|mutant| mutant.outcome == outcome).collect();
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", paint(style, title));
        let most = if outcome == MutantOutcome::Killed { KILLED_SHOWN_MAX } else { usize::MAX };
        let width = all.iter().map(|mutant| mutant.line.to_string().len()).max().unwrap_or(0);
        for mutant in all.iter().take(most) {
            let _ = writeln!(text, "  line {:>width$}  {}", mutant.line, line(mutant));
        }
        if let Some(more) = all.len().checked_sub(most).filter(|more| 0 < *more) {
            let _ = writeln!(text, "  {}", paint(FAINT, format!("… and {more} more; --json lists them all")));
        }
        text.push('\n');
    }
    let figures = [(report.killed, "killed"), (report.survived, "survived"), (report.undecided, "undecided")];
    let figures: Vec<String> = figures
        .iter()
        .filter(|(number, _)| 0 < *number)
        .map(|(number, what)| format!("{} {what}", count(*number)))
        .collect();
    let checked = counted(report.mutants.len() as u64, "mutant");
    let of = if figures.is_empty() { String::new() } else { format!(": {}", figures.join(", ")) };
    let _ = writeln!(text, "{} ({})", paint(STRONG, format!("{checked}{of}")), seconds(report.seconds));
    let _ = writeln!(text, "{}", paint(FAINT, format!("asked: {}", asked.join(", "))));
    if !others.is_empty() {
        let _ =
            writeln!(text, "{}", paint(FAINT, format!("not proved of the model, so not asked: {}", others.join(", "))));
    }
    if 0 < report.equal {
        let equal = counted(report.equal, "change");
        let _ = writeln!(
            text,
            "{}",
            paint(FAINT, format!("{equal} left out: the same model, or the same as another mutant"))
        );
    }
    if 0 < report.not_checked {
        let why = match report.stopped {
            Some(stop) => words(stop),
            None => "--limit allows no more",
        };
        let _ =
            writeln!(text, "{}", paint(FAINT, format!("{} not checked: {why}", counted(report.not_checked, "change"))));
    }
    text
}

/// Why it ended early.
fn words(stop: MutationStop) -> &'static str {
    match stop {
        MutationStop::Timeout => "the time allowed was used up",
        MutationStop::Cancelled => "interrupted",
        MutationStop::Memory => "the memory allowed was used up",
    }
}

/// What is known of a property that was not proved.
fn not_proved(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Violated => "violated",
        Verdict::Faulty => "faulty",
        Verdict::Undecided => "undecided",
        // A proof that rests on less than all states.
        Verdict::Holds => "not known to hold in every state",
    }
}

/// A mutant in a line: what stood there, what stands there now, who noticed.
fn line(mutant: &MutantReport) -> String {
    let what = mutant.kind.replace('_', " ");
    let change = match mutant.new.as_str() {
        "" => short(&mutant.old),
        new => format!("{} → {}", short(&mutant.old), short(new)),
    };
    let by = match (&mutant.killed_by, &mutant.reason) {
        (Some(name), Some(reason)) => paint(FAINT, format!("  {name}: {reason}")),
        (Some(name), None) => paint(FAINT, format!("  {name}")),
        (None, Some(reason)) => paint(FAINT, format!("  {reason}")),
        (None, None) => String::new(),
    };
    format!("{what:<19} {change}{by}")
}

/// Text in one line, without its end if it is long.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= TEXT_MAX {
        return line;
    }
    line.chars().take(TEXT_MAX - 1).collect::<String>() + "…"
}
