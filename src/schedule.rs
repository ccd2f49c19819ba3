//! `fabius schedule`: under which scheduling a model is safe.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::delays::DelayFlags;
use crate::exported::Environment;
use crate::render::numbers::{count, counted};
use crate::render::paint::{FAINT, paint};
use crate::render::schedule as render;
use crate::stop::Interrupts;
use crate::{check, exit, output};
use anstream::AutoStream;
use clap::{Args, ValueEnum};
use fabius_analysis::schedule::{
    Aim, By, EXPLORATION_TENTHS, Export, FairVerdict, ScheduleProgress, ScheduleReport, ScheduleRequest, ScheduleRound,
    ScheduleVerdict, Scheduled, Stops, WAITS, WAITS_TENTHS, schedule,
};
use fabius_base::{Cancel, StopReason};
use fabius_engine::Loaded;
use fabius_engine::settings::SchedulerChoice;
use fabius_supervise::{Timer, Unfinished, Voice, memory};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
The model is explored by increasing number of delays from a scheduler; each round says from how many states a scheduler can
avoid every error, as far as is known. Then the fewest waits are looked for.

Exit codes:
  0  there is a schedule under which the model is safe, or nothing to avoid; with --for, there is one that is fair, too
  1  unavoidable: under every schedule an error or a deadlock can follow; with --for, no safe schedule is fair
  2  not known: a limit was reached, or the model has something that is not supported
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

// The flags of `fabius schedule`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Schedule {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Try at most N waits.
    #[arg(long, value_name = "N", default_value_t = WAITS, help_heading = "What to look for")]
    pub waits: u8,

    /// Which processes a wait treats alike: those of one type, or none (by default first the one, then the other).
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "What to look for")]
    pub by: Option<Alike>,

    /// Let waits speak of the values of shared variables and channels, too (by default only where waits for places alone do not do as well).
    #[arg(long, help_heading = "What to look for")]
    pub values: bool,

    /// Explore by increasing number of delays from this scheduler, as `check --delay`: rtc, rr, laps, random, priority, priority:TYPE,TYPE
    /// or one that fabius.toml defines (default: rtc if processes exchange messages, else laps).
    #[arg(long, value_name = "SCHEDULER", help_heading = "What to look for")]
    pub delay: Option<String>,

    /// What the schedule is for. With `--sections`, the fair one is shown.
    #[arg(long = "for", value_enum, value_name = "AIM", default_value = "safe", help_heading = "What to look for")]
    pub aim: For,

    /// Show a schedule as sections, too: stretches of its runs from one open choice to the next, each with the order of its
    /// steps that has to be kept.
    #[arg(long, help_heading = "What to look for")]
    pub sections: bool,

    /// Show a section that follows itself as N laps in a row, with only those orders between laps that have to be kept; fewer if it
    /// is longer than 200 steps then.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..), requires = "sections", help_heading = "What to look for")]
    pub unroll: u8,

    /// Let the sections do without the shared variables and channels that serve nothing but waiting, such as locks: the orders do what
    /// they did.
    #[arg(long, requires = "sections", help_heading = "What to look for")]
    pub without_locks: bool,

    /// Stop after this many states, such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when the exploration needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h; half of it for the exploration.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Write the model with the waits in it to FILE: counters and guards that need no scheduler.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export: Option<PathBuf>,

    /// Print one JSON document; docs/schema/schedule.schema.json describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// What a schedule is for.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum For {
    /// No error and no deadlock.
    Safe,
    /// Besides, every process moves again and again.
    Fair,
    /// Besides, a progress label is reached again and again.
    Progress,
}

/// Which processes a wait treats alike.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alike {
    /// Those of one type.
    Type,
    /// None: each process is named.
    #[value(alias = "place")]
    Process,
}

/// Looks for a schedule, and shows it; returns the exit code.
pub fn run(args: &Schedule) -> u8 {
    let stops = Stops { exploration: Cancel::new(), waits: Cancel::new(), all: Cancel::new() };
    Interrupts::listen().watch_all(&[&stops.exploration, &stops.waits, &stops.all]);
    let _timers = [
        Timer::start(args.timeout.map(|time| time / 10 * EXPLORATION_TENTHS), &stops.exploration),
        Timer::start(args.timeout.map(|time| time / 10 * WAITS_TENTHS), &stops.waits),
        Timer::start(args.timeout, &stops.all),
    ];
    let loaded = match check::load_and_tell(&args.file, &args.define, args.max_memory, &stops.all) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    if loaded.checkable().is_none() {
        return exit::FAULTY;
    }
    let delays = DelayFlags { delay: args.delay.clone(), ..DelayFlags::default() };
    let scheduler = match delays.scheduler_for(&args.file) {
        Ok(scheduler) => scheduler,
        Err(why) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
    };
    let (all, environment) = (stops.all.clone(), Environment::of(&loaded));
    let scheduled = match scheduled_until(stops, loaded, request(args, scheduler), args.json) {
        Ok(scheduled) => scheduled,
        // It panicked, which was told.
        Err(_) if all.requested().is_none() => return exit::INTERNAL,
        Err(why) => {
            output::complain(&format!("error: no answer was found: {}", Unfinished::Abandoned(why).sentence()));
            return exit::UNDECIDED;
        }
    };
    if let Some(warning) = &scheduled.warning {
        output::complain(&format!("warning: {warning}"));
    }
    if let Some(failure) = &scheduled.failure {
        output::complain(failure);
        return exit::INTERNAL;
    }
    let report = &scheduled.report;
    let printed = if args.json {
        serde_json::to_string_pretty(report).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        let text = render::paragraph(report)
            + &render::meaning(report)
            + &render::hints(report)
            + &alternatives(report)
            + &render::fair(report)
            + &render::sections(report);
        output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
    };
    if let Some(why) = &scheduled.no_sections {
        output::complain(&format!("no sections: {why}"));
    } else if args.without_locks && report.without.is_empty() {
        output::complain(
            "nothing is left out of the sections: no shared variable or channel serves nothing but waiting",
        );
    }
    let written = args.export.as_ref().map_or(0, |path| write(path, args, &environment, &scheduled));
    exit::worse(exit::worse(code(report), printed), written)
}

/// Writes the model that waits by itself; returns the exit code.
fn write(path: &Path, args: &Schedule, environment: &Environment, scheduled: &Scheduled) -> u8 {
    let why = match &scheduled.export {
        Some(Ok(export)) => {
            let text = header(&args.file, export) + environment.macros() + &export.text;
            return match std::fs::write(path, text) {
                Ok(()) => {
                    let states = counted(export.states, "state");
                    let which = which(export, &scheduled.report);
                    output::complain(&format!(
                        "written to `{}`, and checked: no error, {states}{which}",
                        path.display()
                    ));
                    environment.tell_missing(path);
                    0
                }
                Err(error) => {
                    output::complain(&format!("error: `{}` cannot be written: {error}", path.display()));
                    exit::FAULTY
                }
            };
        }
        Some(Err(why)) => why.as_str(),
        None if scheduled.report.verdict == ScheduleVerdict::Holds => {
            output::complain(&format!("nothing is written to `{}`: there is no error to avoid", path.display()));
            return 0;
        }
        None => "no waits were found",
    };
    output::complain(&format!("error: nothing is written to `{}`: {why}", path.display()));
    exit::UNDECIDED
}

/// Which schedule is written, if not the one that is shown first.
fn which(export: &Export, report: &ScheduleReport) -> String {
    if report.waits.iter().map(|wait| &wait.text).eq(&export.waits) {
        return String::new();
    }
    format!("; what is written, since the first schedule cannot be: {}", export.waits.join(", and "))
}

/// What stands before the text of a model that waits by itself.
fn header(file: &Path, export: &Export) -> String {
    let mut text = format!("/* {}, in which some processes wait:\n", file.display());
    for wait in &export.waits {
        text.push_str(&format!(" *   {wait}\n"));
    }
    let states = counted(export.states, "state");
    text.push_str(&format!(" * (by lines of the original). Checked: no error and no deadlock in its {states}.\n"));
    text.replace("*/", "* /") + " * Written by `fabius schedule`. */\n"
}

/// Looks for a schedule on a thread of its own, which is left alone if it does not stop soon after it was asked to. Each round
/// is told at once, in text.
fn scheduled_until(
    stops: Stops,
    loaded: Loaded,
    request: ScheduleRequest,
    json: bool,
) -> Result<Scheduled, StopReason> {
    let (all, voice) = (stops.all.clone(), Voice::default());
    let alive = voice.clone();
    fabius_supervise::run(&all, &voice, 1, move |result| {
        let began = Instant::now();
        let scheduled = schedule(&loaded, &request, &stops, &mut |progress| {
            if let ScheduleProgress::Round(round) = progress
                && !json
                && !alive.is_lost()
            {
                let mut out = AutoStream::auto(std::io::stdout());
                let _ = writeln!(out, "{}", paint(FAINT, in_words(&round, began.elapsed())));
            }
        });
        let _ = result.send(scheduled);
    })
}

fn request(args: &Schedule, scheduler: SchedulerChoice) -> ScheduleRequest {
    let unhurried = ScheduleRequest::unhurried();
    ScheduleRequest {
        scheduler,
        waits_max: usize::from(args.waits),
        aim: match args.aim {
            For::Safe => Aim::Safe,
            For::Fair => Aim::Fair,
            For::Progress => Aim::Progress,
        },
        by: args.by.map(|alike| match alike {
            Alike::Type => By::Type,
            Alike::Process => By::Process,
        }),
        values: args.values,
        states_max: args.max_states.unwrap_or(unhurried.states_max),
        memory_bytes_max: Some(args.max_memory.unwrap_or_else(memory::default_bytes)),
        export: args.export.is_some(),
        sections: args.sections,
        unroll: usize::from(args.unroll),
        without_locks: args.without_locks,
        ..unhurried
    }
}

/// A round in a line.
fn in_words(round: &ScheduleRound, time: Duration) -> String {
    let delays = counted(u64::from(round.delays), "delay");
    let (safe, states) = (count(round.safe), counted(round.states, "state"));
    let found = if round.schedulable { "there is a safe schedule" } else { "no safe schedule is known" };
    let when = if round.finished { "up to" } else { "with" };
    format!("{when} {delays} ({} ms): {found}; every error can be avoided from {safe} of {states}", time.as_millis())
}

/// Other schedules, a line each.
fn alternatives(report: &ScheduleReport) -> String {
    let mut text = String::new();
    for other in &report.alternatives {
        let waits: Vec<&str> = other.waits.iter().map(|wait| wait.text.as_str()).collect();
        text.push_str(&format!("or if {} (keeps {})\n", waits.join(", and "), counted(other.kept.states, "state")));
    }
    text
}

fn code(report: &ScheduleReport) -> u8 {
    if let Some(fair) = &report.fair {
        return match fair.verdict {
            FairVerdict::Fair => 0,
            FairVerdict::None => 1,
            FairVerdict::Unknown => exit::UNDECIDED,
        };
    }
    match report.verdict {
        ScheduleVerdict::Avoidable | ScheduleVerdict::SafeIfScheduled | ScheduleVerdict::Holds => 0,
        ScheduleVerdict::Unavoidable => 1,
        ScheduleVerdict::Unknown => exit::UNDECIDED,
    }
}
