//! Commands in the debug console: what is no expression.

use crate::debuggee::Debuggee;
use crate::show;
use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, SchedulerChoice, Scheduling, Settings, nearest};
use fabius_explore::{Exploration, NodeId, Seal, Until, sentence};
use fabius_supervise::Timer;
use std::time::{Duration, Instant};

/// A search in the console takes so long at most, …
const SEARCH_TIME_MAX: Duration = Duration::from_secs(5);
/// … and stores this many states.
const SEARCH_STATES_MAX: u64 = 1_000_000;

/// The commands: how each is written, and what it does.
const COMMANDS: [(&str, &str); 19] = [
    ("choices", "every step that is possible now, with its effect and what is known of it"),
    ("take N", "take the choice with this number"),
    ("why P[1]", "why a process cannot move, and who could change that"),
    (
        "hold P[1] [N | CONDITION]",
        "keep a process from moving: until released, for N steps of others, until a condition",
    ),
    ("release P[1]", "let it move again"),
    ("seal rr|rtc|off", "forbid delays: round-robin or run-to-completion; or allow them again"),
    (
        "avoid on|off",
        "follow a schedule under which the model is safe, which is looked for first: whoever has to wait does not move by itself",
    ),
    ("jump N", "go to the state after step N of the run"),
    ("name TEXT", "name this state"),
    ("names", "the names"),
    ("go TEXT", "go to the state with this name"),
    ("story", "the run so far, in sentences"),
    ("essential", "the steps without which the run does not show what it shows"),
    ("writers NAME", "who wrote this value last, and from what"),
    ("search", "look for an error from here, with the holds; what is found becomes the run"),
    (
        "delays [rr|laps|rtc|random|priority]",
        "where the run delays a scheduler, and which of these delays its error needs",
    ),
    ("undo", "take the last action back"),
    ("redo", "do it again"),
    ("help", "this"),
];

/// The word with which a command begins.
fn word_of(usage: &str) -> &str {
    usage.split(' ').next().unwrap_or(usage)
}

/// What can be typed, for a person.
fn help() -> String {
    let head = "expressions: as in the model; P[1]:x is a variable of a process, P[1]@label asks whether it is there";
    let line = |(usage, what): &(&str, &str)| format!("{usage:<17} {what}");
    let lines: Vec<String> = COMMANDS.iter().map(line).collect();
    format!("{head}\n{}", lines.join("\n"))
}

/// What is wrong with a text that is no command and, for this reason, no expression either.
pub(crate) fn neither(e: &Exploration, text: &str, why: String) -> String {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_variable = e.variables().iter().any(|value| value.name.split(['[', '.']).next() == Some(word));
    if is_variable || word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return why;
    }
    if let Some((usage, what)) = COMMANDS.iter().find(|(usage, _)| word_of(usage) == word) {
        return format!("`{word}` is used as `{usage}`: {what}");
    }
    let near = nearest(word, COMMANDS.iter().map(|(usage, _)| word_of(usage)));
    match near {
        Some(near) if !why.contains("did you mean") => {
            format!("unknown command `{word}`: did you mean `{near}`? (as an expression: {why})")
        }
        None if rest.starts_with(|c: char| c.is_alphanumeric()) => {
            format!("unknown command `{word}`; `help` lists them (as an expression: {why})")
        }
        _ => why,
    }
}

/// What a command did.
pub(crate) struct Done {
    pub text: String,
    /// Where one is, or what is held, has changed.
    pub changed: bool,
}

/// Does a command; `None` if it is none.
pub(crate) fn command(debuggee: &mut Debuggee, text: &str) -> Option<Result<Done, String>> {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let e = &mut debuggee.e;
    Some(match (word, rest) {
        ("help" | "?", "") => told(help()),
        ("choices", "") => told(choices(e)),
        ("story", "") => told(story(e)),
        ("essential", "") => told(essential(e)),
        ("search", "") => search(e),
        ("delays", kind) => delays(e, kind),
        ("writers", name) if !name.is_empty() => told(writers(e, name)),
        ("names", "") => told(names(e)),
        ("undo", "") => changed(e.undo(), "taken back", "there is nothing to take back"),
        ("redo", "") => changed(e.redo(), "done again", "there is nothing to do again"),
        ("take", number) if !number.is_empty() => take(debuggee, number),
        ("why", name) if !name.is_empty() => process(e, name).and_then(|pid| why(e, pid)),
        ("hold", rest) if !rest.is_empty() => hold(e, rest),
        ("release", name) if !name.is_empty() => {
            process(e, name).and_then(|pid| changed(e.release(pid), "released", "this process is not held"))
        }
        ("seal", kind) if !kind.is_empty() => seal(e, kind),
        ("avoid", kind) if !kind.is_empty() => follow_schedule(e, kind),
        ("jump", number) if !number.is_empty() => jump(debuggee, number),
        ("name", name) => {
            let here = e.here();
            changed(e.set_name(here, name), "named", "this state cannot be named")
        }
        ("go", name) if !name.is_empty() => go(e, name),
        _ => return None,
    })
}

fn told(text: String) -> Result<Done, String> {
    Ok(Done { text, changed: false })
}

fn changed(done: bool, yes: &str, no: &str) -> Result<Done, String> {
    if done { Ok(Done { text: yes.to_owned(), changed: true }) } else { Err(no.to_owned()) }
}

/// The process that a word names: `P[1]`, `P` if there is one, or a number.
pub(crate) fn process(e: &Exploration, name: &str) -> Result<u8, String> {
    let processes = e.snapshot().processes;
    let number = name.parse::<u8>().ok();
    let fits = |status: &&fabius_witness::ProcessStatus| status.name == name || Some(status.pid) == number;
    if let Some(found) = processes.iter().find(fits) {
        return Ok(found.pid);
    }
    let mut of_type = processes.iter().filter(|status| status.process == name);
    match (of_type.next(), of_type.next()) {
        (Some(only), None) => Ok(only.pid),
        (Some(_), Some(_)) => Err(format!("there are several {name}: say {name}[0] or the like")),
        (None, _) => {
            let names: Vec<&str> = processes.iter().map(|status| status.name.as_str()).collect();
            Err(format!("there is no process {name}; there are {}", names.join(", ")))
        }
    }
}

fn choices(e: &Exploration) -> String {
    let line = |(index, choice): (usize, &fabius_explore::Choice)| {
        let held = choice.held.map_or_else(String::new, |pid| format!(" [{} is held]", e.process_name(pid)));
        let waits = choice.must_wait.as_ref().map_or_else(String::new, |waits| format!(" [{}]", waits.why));
        format!("{index}  {} ({}){held}{waits}", sentence(&choice.effect), choice.mark.sentence())
    };
    let lines: Vec<String> = e.choices().iter().enumerate().map(line).collect();
    if lines.is_empty() {
        return e.why_no_step().map_or("there is none", |stop| stop.sentence()).to_owned();
    }
    lines.join("\n")
}

fn story(e: &Exploration) -> String {
    const LINES_MAX: usize = 500;
    let way: Vec<NodeId> = e.line()[..=e.depth(e.here()).min(e.line().len() - 1)].to_vec();
    let steps = e.steps(&way[way.len().saturating_sub(LINES_MAX)..]);
    let lines: Vec<String> = steps.iter().map(|(_, step)| format!("{}. {}", step.number, sentence(step))).collect();
    if lines.is_empty() { "nothing has happened yet".to_owned() } else { lines.join("\n") }
}

fn essential(e: &Exploration) -> String {
    let essential = e.essential();
    let steps = e.steps(&essential.nodes);
    let lines = steps.iter().map(|(_, step)| format!("{}. {}", step.number, sentence(step)));
    let head = format!("{} of {} steps matter:", essential.nodes.len(), essential.of);
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

fn writers(e: &Exploration, name: &str) -> String {
    let line = |write: &fabius_explore::Write| {
        let step = e.step_to(write.node).map_or_else(String::new, |step| sentence(&step));
        let number = e.number(write.node);
        format!("{}{} = {}: step {number}, {step}", "  ".repeat(write.depth), write.name, write.value)
    };
    let lines: Vec<String> = e.writers(name).iter().map(line).collect();
    if lines.is_empty() { format!("nobody has written `{name}` yet") } else { lines.join("\n") }
}

/// A search of a second or so.
fn search(e: &mut Exploration) -> Result<Done, String> {
    let began = Instant::now();
    let (now, cancel) = (|| began.elapsed(), Cancel::new());
    let mut observe = |_| {
        if SEARCH_TIME_MAX < began.elapsed() {
            cancel.time_out();
        }
    };
    let mut context = CheckContext { cancel: &cancel, now: &now, observe: &mut observe, controls: None };
    let limits = Limits { states_max: Some(SEARCH_STATES_MAX), ..Limits::default() };
    let answer = e.search_request().run(&Settings { limits, ..Settings::default() }, &mut context)?;
    let text = answer.sentence();
    let found = e.learn_answer(answer)?;
    found.map(|tip| e.follow(tip));
    Ok(Done { text, changed: found.is_some() })
}

fn delays(e: &Exploration, kind: &str) -> Result<Done, String> {
    let scheduler = match kind {
        "" => SchedulerChoice::Auto,
        "rr" => SchedulerChoice::RoundRobin,
        "laps" => SchedulerChoice::Laps,
        "rtc" => SchedulerChoice::RunToCompletion,
        "random" => SchedulerChoice::Random,
        "priority" => SchedulerChoice::Priority(Vec::new()),
        other => return Err(format!("unknown scheduler `{other}` (known: rr, laps, rtc, random, priority)")),
    };
    let scheduling = Scheduling { scheduler, seed: 0 };
    let delays = e.delays(&scheduling)?;
    let mut lines: Vec<String> = delays
        .points
        .iter()
        .zip(&delays.steps)
        .map(|(point, step)| format!("{} is held back before step {step}", e.process_name(point.process)))
        .collect();
    lines.push(match e.error_of_line() {
        Some(_) => e.needed_delays(&scheduling)?.sentence,
        None if lines.is_empty() => format!("{} does this by itself", delays.scheduler),
        None => format!("under {}", delays.scheduler),
    });
    told(lines.join("\n"))
}

fn names(e: &Exploration) -> String {
    let lines: Vec<String> = e.names().map(|(node, name)| format!("{name}: after step {}", e.number(node))).collect();
    if lines.is_empty() { "there are no names".to_owned() } else { lines.join("\n") }
}

fn take(debuggee: &mut Debuggee, number: &str) -> Result<Done, String> {
    let choices = debuggee.e.choices();
    let chosen = number.parse::<usize>().ok().and_then(|number| choices.get(number));
    let chosen = chosen.ok_or_else(|| format!("there is no choice {number}; `choices` lists them"))?;
    debuggee.e.choose(chosen)?;
    debuggee.settle();
    Ok(Done { text: sentence(&chosen.effect), changed: true })
}

/// Why a process cannot move.
fn why(e: &Exploration, pid: u8) -> Result<Done, String> {
    let view = e.processes().into_iter().find(|view| view.status.pid == pid);
    let view = view.ok_or_else(|| "no such process".to_owned())?;
    let name = &view.status.name;
    let names = |pid| e.process_name(pid);
    let mut lines = match view.role {
        fabius_explore::Role::Enabled => vec![format!("{name} can move")],
        fabius_explore::Role::Excluded(other) => {
            vec![format!("{name} could move, but {} is inside an atomic sequence", e.process_name(other))]
        }
        fabius_explore::Role::Ended => vec![format!("{name} has ended")],
        fabius_explore::Role::Blocked => view.sentences(&names),
    };
    if view.held.is_some() {
        lines.push(format!("{name} is held"));
    }
    lines.extend(view.must_wait.map(|waits| format!("by the schedule, {}", waits.why)));
    told(lines.join("\n"))
}

fn hold(e: &mut Exploration, rest: &str) -> Result<Done, String> {
    let (name, until) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let pid = process(e, name)?;
    let until = match until.trim() {
        "" => Until::Released,
        until => match until.parse::<u32>() {
            Ok(others) => Until::Others(others),
            Err(_) => Until::Condition(e.condition(until)?),
        },
    };
    e.hold(pid, until)?;
    Ok(Done { text: format!("{} is held", e.process_name(pid)), changed: true })
}

fn seal(e: &mut Exploration, kind: &str) -> Result<Done, String> {
    let seal = match kind {
        "rr" => Some(Seal::RoundRobin),
        "rtc" => Some(Seal::RunToCompletion),
        "off" => None,
        other => return Err(format!("cannot seal with `{other}` (known: rr, rtc, off)")),
    };
    e.seal(seal);
    let text = if seal.is_some() { "sealed: nobody is held back" } else { "not sealed any more" };
    Ok(Done { text: text.to_owned(), changed: true })
}

/// Follows a schedule under which the model is safe, or no longer.
fn follow_schedule(e: &mut Exploration, kind: &str) -> Result<Done, String> {
    match kind {
        "on" => {}
        "off" => {
            let was_followed = e.follows_schedule() && e.follow_schedule(false);
            return changed(was_followed, "the schedule is no longer followed", "no schedule is followed");
        }
        other => return Err(format!("`avoid {other}` means nothing (known: on, off)")),
    }
    if e.safe_schedule().is_none() {
        let cancel = Cancel::new();
        let _timer = Timer::start(Some(SEARCH_TIME_MAX), &cancel);
        let found = e.schedule_search().run(&cancel);
        e.learn_schedule(&found)?;
    }
    e.follow_schedule(true);
    let text = e.safe_schedule().map_or_else(String::new, |schedule| schedule.text().to_owned());
    Ok(Done { text: format!("the schedule is followed: {text}"), changed: true })
}

/// Goes to the state after a step of the line.
pub(crate) fn jump(debuggee: &mut Debuggee, number: &str) -> Result<Done, String> {
    let wanted = number.parse::<usize>().ok().and_then(|number| debuggee.node(number));
    let last = debuggee.e.line().last().map_or(0, |tip| debuggee.e.number(*tip));
    let node = wanted.ok_or_else(|| format!("there is no step {number}; the run has {last}"))?;
    debuggee.e.go(node);
    Ok(Done { text: format!("after step {}", debuggee.e.number(node)), changed: true })
}

fn go(e: &mut Exploration, name: &str) -> Result<Done, String> {
    let found = e.names().find(|(_, known)| *known == name).map(|(node, _)| node);
    let node = found.ok_or_else(|| format!("nothing is called `{name}`"))?;
    changed(e.go(node), "there", "this state is gone")
}

/// What can be typed: commands, processes and variables that begin so.
pub(crate) fn completions(e: &Exploration, text: &str) -> Vec<String> {
    let start = text.rfind(|c: char| !(c.is_alphanumeric() || "_:[]".contains(c))).map_or(0, |at| at + 1);
    let stem = text.get(start..).unwrap_or("");
    let command = |(usage, _): &(&str, &str)| match usage.split_once(' ') {
        Some((word, _)) => format!("{word} "),
        None => (*usage).to_owned(),
    };
    let commands = COMMANDS.iter().filter(|_| start == 0).map(command);
    let processes = e.snapshot().processes.into_iter().map(|status| status.name);
    let variables = e.variables().into_iter().map(|value| show::full_name(e, &value));
    commands.chain(processes).chain(variables).filter(|word| word.starts_with(stem)).take(100).collect()
}
