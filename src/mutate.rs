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
use fabius_mutation::report::{MutantOutcome, MutantReport, MutationReport, MutationStop, in_one_line};
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
const TEXT_MAX: usize = 44;
/// This many killed mutants are shown.
const KILLED_SHOWN_MAX: usize = 30;

// The flags of `fabius mutate`.
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
    text.push_str(&mutants(report));
    text.push('\n');
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

/// The mutants that no property notices, those of which that is not known, and those that were killed, by who noticed them.
fn mutants(report: &MutationReport) -> String {
    let mut text = String::new();
    let place = |mutant: &MutantReport| format!("{}:{}", mutant.line, mutant.column);
    let width = report.mutants.iter().map(|mutant| place(mutant).len()).max().unwrap_or(0);
    let mut listed = |title: String, mutants: &[&MutantReport]| {
        let _ = writeln!(text, "{title}");
        for mutant in mutants {
            let _ = writeln!(text, "  line {:<width$}  {}", place(mutant), change(mutant));
        }
    };
    let of = |outcome| report.mutants.iter().filter(move |mutant| mutant.outcome == outcome);
    let survived: Vec<&MutantReport> = of(MutantOutcome::Survived).collect();
    if !survived.is_empty() {
        listed(paint(BAD, "no property notices:"), &survived);
    }
    for (why, mutants) in by_words(of(MutantOutcome::Undecided)) {
        listed(format!("{} {why}", paint(UNSURE, "not known:")).trim_end().to_owned(), &mutants);
    }
    let mut room = KILLED_SHOWN_MAX;
    for (by, mutants) in by_words(of(MutantOutcome::Killed)) {
        let shown = &mutants[..mutants.len().min(room)];
        room -= shown.len();
        if !shown.is_empty() {
            listed(format!("{} {by}", paint(GOOD, "noticed by")), shown);
        }
    }
    let left = of(MutantOutcome::Killed).count().saturating_sub(KILLED_SHOWN_MAX);
    if 0 < left {
        let _ = writeln!(text, "{}", paint(FAINT, format!("… and {left} more; --json lists them all")));
    }
    text
}

/// Mutants by what is said of all of them: who noticed them and how, or why nothing is known. In the order of the first of each.
fn by_words<'m>(mutants: impl Iterator<Item = &'m MutantReport>) -> Vec<(String, Vec<&'m MutantReport>)> {
    let mut groups: Vec<(String, Vec<&MutantReport>)> = Vec::new();
    for mutant in mutants {
        let parts = [mutant.killed_by.as_deref(), mutant.reason.as_deref()];
        let words = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, group)) => group.push(mutant),
            None => groups.push((words, vec![mutant])),
        }
    }
    groups
}

/// A mutant in a line: what stood there, and what stands there now, where the kind of change does not say it.
fn change(mutant: &MutantReport) -> String {
    let what = mutant.kind.replace('_', " ");
    let change = match what.ends_with(" changed") {
        true => format!("{} → {}", in_one_line(&mutant.old, TEXT_MAX / 2), in_one_line(&mutant.new, TEXT_MAX / 2)),
        false => in_one_line(&mutant.old, TEXT_MAX),
    };
    format!("{what:<19} {change}")
}
