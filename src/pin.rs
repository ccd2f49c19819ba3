//! `fabius pin`: keeps a counterexample as a regression test, and tells which of those kept still hold.

use crate::args::parse_duration;
use crate::render::numbers::counted;
use crate::render::paint::{BAD, GOOD, UNSURE, paint};
use crate::stop::Interrupts;
use crate::{check, exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_analysis::pins::{Pin, Pins, Possibility};
use fabius_base::Cancel;
use fabius_engine::{CheckContext, Loaded, SAFETY, Settings, TOOL, VERSION};
use fabius_supervise::{Timer, Unfinished, Voice};
use serde::Serialize;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
The run is kept in FILE.pins.json, by its processes and statements and not by lines, so it survives edits. It is followed in the
model as it is now; a process that comes to statements that are new executes them. An infinite run is possible if it can be followed until a state
comes back, and violates the property as it stands in the model now.

Exit codes:
  0  a run was pinned; with --verify, every pin holds
  1  with --verify, a pin is broken
  2  there is no run to pin, or not known; with --verify, of some pin it is not known
  3  the input is faulty (the model, the pins or a flag), or the output cannot be written
  4  an internal error of fabius";

// The flags of `fabius pin`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct PinFlags {
    /// A Promela model.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// The property whose counterexample is kept: a name or a kind, as for `fabius check` (default: the first that is violated).
    #[arg(long, value_name = "PROPERTY", action = clap::ArgAction::Append)]
    pub property: Vec<String>,

    /// The name of the pin (default: its number).
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The run must stay possible; without this it must be impossible from the next edit on.
    #[arg(long)]
    pub possible: bool,

    /// Tell which pins hold instead of adding one.
    #[arg(long, conflicts_with_all = ["property", "name", "possible"])]
    pub verify: bool,

    /// With --verify, print one JSON document; docs/schema/pins.schema.json describes it.
    #[arg(long, requires = "verify", help_heading = "Output")]
    pub json: bool,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
}

/// What became of the pins, as plain data.
#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    file: &'a str,
    pins: &'a [Verified],
}

/// What became of a pin.
#[derive(Serialize)]
struct Verified {
    name: String,
    /// What must be so.
    expect: Possibility,
    /// What is so.
    found: Possibility,
    /// Why, as a sentence without its full stop.
    reason: String,
}

/// Pins a run, or verifies pins; returns the exit code.
pub fn run(args: &PinFlags) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let beside = PathBuf::from(format!("{}.pins.json", args.file.display()));
    let pins = match read(&beside, args.verify) {
        Ok(pins) => pins,
        Err(why) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
    };
    let loaded = match check::load_and_tell(&args.file, &args.define, None, &cancel) {
        Ok(loaded) if loaded.checkable().is_some() => loaded,
        Ok(_) => return exit::FAULTY,
        Err(code) => return code,
    };
    if args.verify { verify(args, loaded, pins, &cancel) } else { add(args, loaded, pins, &beside, &cancel) }
}

/// The pins beside a model.
fn read(path: &Path, must_exist: bool) -> Result<Pins, String> {
    let name = path.display();
    match std::fs::read(path) {
        Ok(bytes) => match serde_json::from_slice::<Pins>(&bytes) {
            Ok(pins) if Pins::FORMATS.contains(&pins.version) => Ok(pins),
            Ok(pins) => {
                let (first, last) = (Pins::FORMATS.start(), Pins::FORMATS.end());
                Err(format!("{name} has format {}, and this version reads formats {first} to {last}", pins.version))
            }
            Err(error) => Err(format!("{name} cannot be read: {error}")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(Pins::default()),
        Err(error) => Err(format!("{name} cannot be read: {error}\nhelp: `fabius pin FILE` makes it")),
    }
}

/// What came of the search for a run to pin.
enum Sought {
    Found(Box<Pin>),
    /// There is none, or none that can be kept: why.
    None(String),
    /// The model has no such property: an explanation.
    Unknown(String),
    /// Fabius itself is wrong.
    Failed(String),
}

/// The run that the first property with a counterexample leads to; each of those that are chosen is checked until there is one.
fn seek(loaded: &Loaded, properties: &[String], expect: Possibility, name: &str, cancel: &Cancel) -> Sought {
    let Some(written) = loaded.as_written() else { return Sought::None("the model cannot be run".to_owned()) };
    let planned = match fabius_engine::plan(&written, properties) {
        Ok(plan) => plan.properties,
        Err(unknown) => {
            let known = unknown.available.join(", ");
            let why = format!("this model has no property `{}`\nhelp: its properties: {known}", unknown.selector);
            return Sought::Unknown(why);
        }
    };
    let started = Instant::now();
    let mut reasons = Vec::new();
    for planned in &planned {
        let settings = Settings { properties: vec![planned.name.clone()], schedule: false, ..Settings::default() };
        let now = || started.elapsed();
        let mut context = CheckContext { cancel, now: &now, observe: &mut |_| {}, controls: None };
        let outcome = fabius_engine::check(loaded, &settings, &mut context);
        if let Some(failure) = outcome.failure {
            return Sought::Failed(failure);
        }
        let reason = match outcome.counterexamples.first() {
            None => outcome.report.reason,
            Some(example) => match Pin::of(name.to_owned(), expect, example, &planned.name, &written) {
                Ok(pin) => return Sought::Found(Box::new(pin)),
                Err(why) => why.to_owned(),
            },
        };
        let named = if planned.name == SAFETY { reason } else { format!("{}: {reason}", planned.name) };
        reasons.push(named);
    }
    Sought::None(if reasons.is_empty() { "the model has no such property".to_owned() } else { reasons.join("; ") })
}

/// Adds the run that a check finds.
fn add(args: &PinFlags, loaded: Loaded, mut pins: Pins, beside: &Path, cancel: &Cancel) -> u8 {
    let name = args.name.clone().unwrap_or_else(|| (pins.pins.len() + 1).to_string());
    if pins.pins.iter().any(|pin| pin.name == name) {
        output::complain(&format!("error: there is a pin called {name} already: give another --name"));
        return exit::FAULTY;
    }
    let expect = if args.possible { Possibility::Possible } else { Possibility::Impossible };
    let (asked, called, properties) = (cancel.clone(), name.clone(), args.property.clone());
    let done = fabius_supervise::run(cancel, &Voice::default(), 1, move |result| {
        let _ = result.send(seek(&loaded, &properties, expect, &called, &asked));
    });
    let pin = match done {
        Ok(Sought::Found(pin)) => *pin,
        Ok(Sought::None(reason)) => {
            output::complain(&format!("error: there is no run to pin: {reason}"));
            return exit::UNDECIDED;
        }
        Ok(Sought::Unknown(why)) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
        Ok(Sought::Failed(failure)) => {
            output::complain(&failure);
            return exit::INTERNAL;
        }
        Err(_) if cancel.requested().is_none() => return exit::INTERNAL,
        Err(why) => {
            output::complain(&format!("error: no run to pin is known: {}", Unfinished::Abandoned(why).sentence()));
            return exit::UNDECIDED;
        }
    };
    let steps = counted(pin.steps.len() as u64, "step");
    let repeated = match pin.loop_start.map(|start| pin.steps.len().saturating_sub(start)) {
        None => String::new(),
        Some(0) => ", then nothing moves".to_owned(),
        Some(all) if all == pin.steps.len() => " again and again".to_owned(),
        Some(1) => ", the last one again and again".to_owned(),
        Some(last) => format!(", the last {last} again and again"),
    };
    let told = format!("pinned {name}: {steps}{repeated}, {}; {}\n", pin.ends, beside.display());
    pins.add(pin);
    let written = serde_json::to_string_pretty(&pins).map_err(std::io::Error::from);
    match written.and_then(|text| std::fs::write(beside, text + "\n")) {
        Ok(()) => output::print(told.as_bytes()),
        Err(error) => {
            output::complain(&format!("error: cannot write {}: {error}", beside.display()));
            exit::FAULTY
        }
    }
}

/// Tells which pins hold.
fn verify(args: &PinFlags, loaded: Loaded, pins: Pins, cancel: &Cancel) -> u8 {
    let file = loaded.name.clone();
    let asked = cancel.clone();
    let done = fabius_supervise::run(cancel, &Voice::default(), 1, move |result| {
        let written = loaded.as_written().ok_or("the model cannot be run");
        let verified = written.map(|written| {
            let followed = |pin: Pin| {
                let (found, reason) = match asked.requested() {
                    None => pin.follow(&written),
                    Some(_) => (Possibility::Unknown, "it was not followed: the check was stopped".to_owned()),
                };
                Verified { name: pin.name, expect: pin.expect, found, reason }
            };
            pins.pins.into_iter().map(followed).collect::<Vec<_>>()
        });
        let _ = result.send(verified);
    });
    let verified = match done {
        Ok(Ok(verified)) => verified,
        Ok(Err(why)) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
        Err(_) if cancel.requested().is_none() => return exit::INTERNAL,
        Err(why) => {
            output::complain(&format!("error: the pins were not verified: {}", Unfinished::Abandoned(why).sentence()));
            return exit::UNDECIDED;
        }
    };
    let code = verified.iter().map(Verified::code).fold(0, exit::worse);
    let printed = if args.json {
        let document = Document { tool: TOOL, version: VERSION, file: &file, pins: &verified };
        serde_json::to_string_pretty(&document).map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        let mut out = AutoStream::auto(std::io::stdout());
        let text: String = verified.iter().map(Verified::in_words).collect();
        output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
    };
    exit::worse(code, printed)
}

impl Verified {
    fn code(&self) -> u8 {
        match self.found {
            Possibility::Unknown => exit::UNDECIDED,
            found if found == self.expect => 0,
            _ => 1,
        }
    }

    fn in_words(&self) -> String {
        let word = match self.found {
            Possibility::Possible => "possible",
            Possibility::Impossible => "impossible",
            Possibility::Unknown => "not known whether possible",
        };
        let (verdict, style) = match self.code() {
            0 => ("holds", GOOD),
            1 => ("broken", BAD),
            _ => ("not known", UNSURE),
        };
        format!("{}  pin {}: {word}; {}\n", paint(style, format!("{verdict:<9}")), self.name, self.reason)
    }
}
