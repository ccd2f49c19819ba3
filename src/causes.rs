//! `fabius causes`: in which different ways a property can be violated.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::{count, counted, memory, seconds};
use crate::render::paint::{BAD, COMMAND, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::render::text::{self, layout};
use crate::stop::Interrupts;
use crate::trail::{UNNAMED, is_stdin, write_beside};
use crate::{asked, check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_base::Cancel;
use fabius_causes::report::{CauseReport, CausesReport, CausesVerdict, PropertyCauses, StatementReport};
use fabius_causes::{Causes as Found, CausesContext, CausesRequest, NotAsked, causes};
use fabius_engine::{Loaded, Settings};
use fabius_mutation::report::in_one_line;
use fabius_supervise::Timer;
use fabius_witness::format::trail::trail;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
A cause is a minimal set of statements with which a property can be violated: some violating run executes these statements only, and
without the steps of any one of them there is no such run. Each violating run executes all statements of at least one cause. So two
causes are two different ways to fail. The model is checked first; then causes are searched for by leaving out steps, one breadth-first
search (for infinite runs, one search for cycles) of the model as it is written after the other. All infinite runs count, whatever
fairness a project asks for.

Exit codes:
  0  there is no cause: the properties hold
  1  some property can be violated
  2  not known: a limit was reached
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

/// Statements are shown with at least this many characters, …
const TEXT_MIN: usize = 16;
/// … before a column of this width for each cause …
const MARK_COLUMNS: usize = 4;
/// … and behind others, with this many blanks between them.
const BLANK_COLUMNS: usize = 4;

// The flags of `fabius causes`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Causes {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Ask only about these properties: names of formulas and claims, or kinds (safety, progress, acceptance, ltl).
    #[arg(long, value_name = "NAME|KIND", action = clap::ArgAction::Append, help_heading = "What to check")]
    pub property: Vec<String>,

    /// Also ask about this formula of linear temporal logic.
    #[arg(long, value_name = "FORMULA", action = clap::ArgAction::Append, help_heading = "What to check")]
    pub ltl: Vec<String>,

    /// Find at most this many causes of each property.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100), help_heading = "Limits")]
    pub limit: u16,

    /// Stop each search after this many states, such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop a search when it needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit of everything together, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Show the run of the cause with this number.
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub show: Option<usize>,

    /// Show the run as a sequence diagram: a lane for each process, where it waits and who lets it go on.
    #[arg(long, requires = "show", help_heading = "Output")]
    pub diagram: bool,

    /// Write the run as a trail that `spin -t -p FILE` replays (default: FILE.trail, where spin looks for it).
    #[arg(long, value_name = "TRAIL", num_args = 0..=1, require_equals = true, requires = "show", help_heading = "Output")]
    pub trail: Option<Option<PathBuf>>,

    /// Print one JSON document; docs/schema/causes.schema.json describes it.
    #[arg(long, conflicts_with = "show", help_heading = "Output")]
    pub json: bool,
}

/// Finds the causes of the violations of a model, and shows them; returns the exit code.
pub fn run(args: &Causes) -> u8 {
    if args.trail == Some(None) && is_stdin(&args.file) {
        output::complain(&format!("error: {UNNAMED}"));
        return exit::FAULTY;
    }
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let limits = asked::limits(args.max_states, args.max_memory);
    let settings = Settings { formulas: args.ltl.clone(), limits, ..Settings::default() };
    let loaded = match check::load_asking(&args.file, &args.define, &settings, &cancel) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let settings = Settings { properties: args.property.clone(), until: args.timeout, ..settings };
    let request = CausesRequest { settings, causes_max: usize::from(args.limit) };
    let (loaded, found) = match asked::until_stopped(&cancel, loaded, move |loaded, cancel, now| {
        let on_terminal = std::io::stderr().is_terminal();
        let mut observe = |found: usize, searches: u64| {
            if on_terminal {
                let causes = counted(found as u64, "cause");
                let _ = write!(anstream::stderr(), "\r\x1b[K{causes}, {}", self::searches(searches));
            }
        };
        let found = causes(loaded, &request, &mut CausesContext { cancel, now, observe: &mut observe });
        if on_terminal {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
        }
        found
    }) {
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
    let shown = write_or_refuse(args, &found);
    let printed = if args.json {
        serde_json::to_string_pretty(&found.report)
            .map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        let text = text(args, &loaded, &found);
        output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(exit::worse(code(&found.report), printed), shown)
}

/// Writes the trail of the cause that is to be shown, or says that there is no such cause; returns the exit code.
fn write_or_refuse(args: &Causes, found: &Found) -> u8 {
    let Some(number) = args.show else { return 0 };
    let Some(cause) = number.checked_sub(1).and_then(|at| found.causes.get(at)) else {
        let causes = counted(found.causes.len() as u64, "cause");
        output::complain(&format!("error: there is no cause {number} to show: {causes} found"));
        return exit::FAULTY;
    };
    let run = &cause.counterexample;
    match &args.trail {
        Some(wanted) => write_beside(wanted.as_deref(), &args.file, &trail(&cause.program, &run.path, run.loop_start)),
        None => 0,
    }
}

fn code(report: &CausesReport) -> u8 {
    let of = |verdict| report.properties.iter().any(|property| property.verdict == verdict);
    match () {
        () if of(CausesVerdict::Violated) => 1,
        () if of(CausesVerdict::Unknown) => exit::UNDECIDED,
        () => 0,
    }
}

fn text(args: &Causes, loaded: &Loaded, found: &Found) -> String {
    let shown = args.show.and_then(|number| found.causes.get(number.checked_sub(1)?));
    if let (Some(number), Some(cause)) = (args.show, shown) {
        let mut all = found.report.properties.iter().flat_map(|of| of.causes.iter().map(move |it| (of, it)));
        let told = all.find(|(_, it)| it.number == number);
        let heading = told.map_or_else(String::new, |(of, it)| {
            format!("cause {number} of violations of {}: {}:", of.property, it.sentence)
        });
        return text::run(&loaded.map, &cause.counterexample.trace, &heading, args.diagram);
    }
    let mut text = String::new();
    for property in &found.report.properties {
        text.push_str(&of_property(property, &found.report.file));
    }
    if found.report.properties.is_empty() {
        text.push_str("the model has no such property\n");
    }
    if let Some(first) = found.report.properties.iter().find_map(|property| property.causes.first()) {
        let show = paint(COMMAND, format!("--show {}", first.number));
        let _ = writeln!(text, "{} {show}", paint(FAINT, "the run of a cause:"));
    }
    let _ = writeln!(text, "{}", paint(FAINT, effort(&found.report)));
    text
}

/// The causes of a property: how many there are, their statements, what goes wrong in each.
fn of_property(property: &PropertyCauses, model: &str) -> String {
    let name = paint(STRONG, &property.property);
    let style = match property.verdict {
        CausesVerdict::Holds => GOOD,
        CausesVerdict::Unknown => UNSURE,
        CausesVerdict::Violated => BAD,
    };
    let sentence = property.sentence();
    let end = sentence.find([',', ';', ':']).unwrap_or(sentence.len());
    let (verdict, more) = sentence.split_at(end);
    let mut text = format!("{name}: {}{more}\n", paint(style, verdict));
    text.push_str(&table(property, model));
    for cause in &property.causes {
        let _ = writeln!(text, "  {} {}", paint(STRONG, format!("{:>2}", cause.number)), cause.sentence);
        if !cause.minimal {
            let note = "some of its statements may not be needed: the search without them was cut short";
            let _ = writeln!(text, "     {}", paint(UNSURE, note));
        }
    }
    text
}

/// A row for each statement, a column for each cause; as wide as the terminal, where statements are long.
fn table(property: &PropertyCauses, model: &str) -> String {
    let statements: BTreeSet<&StatementReport> = property.causes.iter().flat_map(|cause| &cause.statements).collect();
    let place_of = |statement: &StatementReport| match statement.file == model {
        true => format!("line {}", statement.line),
        false => format!("{}:{}", statement.file, statement.line),
    };
    let longest = |of: &dyn Fn(&StatementReport) -> usize| statements.iter().map(|one| of(one)).max().unwrap_or(0);
    let place = longest(&|one| place_of(one).chars().count());
    let process = longest(&|one| one.process.chars().count());
    let beside = place + process + MARK_COLUMNS * property.causes.len() + BLANK_COLUMNS;
    let room = layout(None).width.saturating_sub(beside).max(TEXT_MIN);
    let words = longest(&|one| in_one_line(&one.statement, room).chars().count());
    let mut text = String::new();
    if !statements.is_empty() {
        let numbers: String = property.causes.iter().map(|cause| format!("{:>MARK_COLUMNS$}", cause.number)).collect();
        let _ = writeln!(text, "  {:<1$}{numbers}", "", place + process + words + BLANK_COLUMNS);
    }
    for one in statements {
        let marks: String = property.causes.iter().map(|cause| mark(cause, one)).collect();
        let (at, owner, statement) = (place_of(one), &one.process, in_one_line(&one.statement, room));
        let _ = writeln!(text, "  {at:<place$}  {owner:<process$}  {statement:<words$}{marks}");
    }
    text
}

fn mark(cause: &CauseReport, statement: &StatementReport) -> &'static str {
    if cause.statements.contains(statement) { "   ●" } else { "   ·" }
}

fn searches(number: u64) -> String {
    if number == 1 { "1 search".to_owned() } else { format!("{} searches", count(number)) }
}

fn effort(report: &CausesReport) -> String {
    let sum = |of: fn(&PropertyCauses) -> u64| report.properties.iter().map(of).sum::<u64>();
    let most = report.properties.iter().map(|property| property.memory_bytes).max().unwrap_or(0);
    let searches = searches(sum(|property| property.searches));
    let states = counted(sum(|property| property.states), "state");
    format!("{searches}, {states} together, {}, {}", seconds(report.seconds), memory(most))
}
