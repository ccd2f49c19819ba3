//! What happens for ever: who moves in a loop, who waits and for what, what never changes, and whether
//! a fair scheduler could let it go on.
//!
//! *Weak* fairness: a process that can always move from some time on moves again and again. *Strong* fairness:
//! a process that can move again and again does.

use fabius_base::Span;
use fabius_program::{Initial, Move, Program};

use crate::blocked::{Reason, Standing, Waiting, standings};
use crate::explain::waits_for;
use crate::interpret::enabled;
use crate::show::{Names, element_name};
use crate::state::State;
use crate::values::Values;

/// So many values that never change are told.
const CONSTANTS_TOLD_MAX: usize = 6;

/// A loop explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endless {
    /// What each process that lives in the loop does there.
    pub processes: Vec<InLoop>,
    /// Which fairness the run satisfies.
    pub fairness: RunFairness,
    /// Variables and channels that have the same value all the time: names and values.
    pub unchanged: Vec<(String, String)>,
    /// All of it in sentences.
    pub sentences: Vec<String>,
    /// What may be done, in a sentence.
    pub suggestion: String,
}

/// A process in a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InLoop {
    /// Its number.
    pub pid: u8,
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// Where it stands at the start of the loop.
    pub span: Span,
}

/// What a process does in a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// It moves.
    Moves,
    /// It could move in every state of the loop, and never does.
    AlwaysNeglected,
    /// It could move in some states of the loop, and never does.
    SometimesNeglected,
    /// It cannot move.
    Blocked {
        /// At which statement, and why, in half a sentence each.
        reasons: Vec<String>,
        /// Processes that could make it go on.
        on: Vec<u8>,
    },
    /// It is past its last statement.
    Ended,
}

/// Which fairness a run satisfies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RunFairness {
    /// None: some process could always move and never does.
    Unfair,
    /// Weak fairness, not strong.
    Weak,
    /// Strong fairness: no fairness of processes excludes it.
    Strong,
}

impl Endless {
    /// Says what is known of other runs: the strongest fairness under which one does the same.
    pub fn tell_of_fair_runs(&mut self, known: RunFairness) {
        if self.fairness == RunFairness::Strong {
            return;
        }
        self.sentences.push(
            match known {
                RunFairness::Unfair => "No weakly fair run does it.",
                RunFairness::Weak => "There are weakly fair runs that do it; no strongly fair one does.",
                RunFairness::Strong => "But there are strongly fair runs, too, that do it.",
            }
            .to_owned(),
        );
        self.suggestion = match known {
            RunFairness::Unfair => "If the scheduler is at least weakly fair, this cannot happen (`--fairness weak`).",
            RunFairness::Weak => "`--fairness weak` shows such a run; `--fairness strong` rules it out.",
            RunFairness::Strong => "`--fairness strong` shows such a run.",
        }
        .to_owned();
    }
}

/// Explains a loop: `states` are those before each of its steps, `steps` what happens in them.
pub fn explain_loop(program: &Program, states: &[State], steps: &[Move]) -> Endless {
    let Some(first) = states.first() else { return nothing() };
    let able: Vec<Vec<u8>> =
        states.iter().filter(|state| state.holder.is_none()).map(|s| enabled(program, s)).collect();
    let movers: Vec<u8> =
        steps.iter().flat_map(|step| [Some(step.pid), step.partner.map(|(pid, _)| pid)]).flatten().collect();
    let processes: Vec<InLoop> = standings(program, first)
        .into_iter()
        .map(|standing| {
            let could = able.iter().filter(|pids| pids.contains(&standing.pid)).count();
            let role = match () {
                () if movers.contains(&standing.pid) => Role::Moves,
                () if 0 < could && could == able.len() => Role::AlwaysNeglected,
                () if 0 < could => Role::SometimesNeglected,
                () if standing.has_ended() => Role::Ended,
                () => blocked(program, states, &standing),
            };
            let span = standing.waiting.first().map_or(standing.span, |waiting| waiting.span);
            InLoop { pid: standing.pid, name: standing.name, role, span }
        })
        .collect();
    let has = |role: &Role| processes.iter().any(|process| process.role == *role);
    let fairness = match () {
        () if has(&Role::AlwaysNeglected) => RunFairness::Unfair,
        () if has(&Role::SometimesNeglected) => RunFairness::Weak,
        () => RunFairness::Strong,
    };
    let unchanged = unchanged(program, states);
    let sentences = sentences(&processes, fairness, &unchanged);
    let suggestion = suggestion(&processes, fairness);
    Endless { processes, fairness, unchanged, sentences, suggestion }
}

/// Says which processes stand at a progress label in a loop whose steps never leave one, so that where progress is a
/// matter of states the loop is none without: the *fake progress* of Laarman and Faragó (NFM 2013).
pub(crate) fn fake_progress(program: &Program, states: &[State]) -> Option<String> {
    let stands = |state: &State, pid: usize| {
        state.processes.get(pid).is_some_and(|p| program.process(p.process).locations[p.location.0 as usize].progress)
    };
    let first = states.first()?;
    let names: Vec<String> = (0..first.processes.len())
        .filter(|&pid| states.iter().any(|state| stands(state, pid)))
        .map(|pid| Names::of(program, first).process(pid as u8))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (names, many) = listed(&names)?;
    let (verb, it) = if many { ("stand", "none of them goes on") } else { ("stands", "it does not go on") };
    Some(format!(
        "{names} {verb} at a progress label in the loop, but {it} from there: to Spin this is progress \
         (`--progress states`), though nothing is achieved."
    ))
}

fn nothing() -> Endless {
    Endless {
        processes: Vec::new(),
        fairness: RunFairness::Strong,
        unchanged: Vec::new(),
        sentences: Vec::new(),
        suggestion: String::new(),
    }
}

/// Why a process cannot move in any state of a loop.
fn blocked(program: &Program, states: &[State], standing: &Standing) -> Role {
    let told = |reason: &Reason| !matches!(reason, Reason::Executable | Reason::NotElse);
    let waiting = standing.waiting.iter().filter(|waiting| told(&waiting.reason));
    let reasons = waiting.map(Waiting::sentence).collect();
    let mut on: Vec<u8> = waits_for(program, &states[0], standing).into_iter().flat_map(|wait| wait.on).collect();
    on.sort_unstable();
    on.dedup();
    Role::Blocked { reasons, on }
}

/// Values that are the same before every step: names and values.
fn unchanged(program: &Program, states: &[State]) -> Vec<(String, String)> {
    let Some((first, others)) = states.split_first() else { return Vec::new() };
    let names = Names::of(program, first);
    let mut unchanged = Vec::new();
    for (index, variable) in program.globals.iter().enumerate() {
        let values = &first.globals[index];
        let changed: Vec<&Values> = others.iter().map(|o| &o.globals[index]).filter(|other| *other != values).collect();
        let stays = |(element, _): &(usize, &i32)| changed.iter().all(|other| other[*element] == values[*element]);
        if !matches!(variable.initial, Initial::Channel(_)) {
            let staying = values.iter().enumerate().filter(stays);
            unchanged.extend(
                staying
                    .map(|(element, &value)| (element_name(variable, element), names.value(variable.ty.kind, value))),
            );
        }
    }
    for (index, channel) in first.channels.iter().enumerate() {
        let name = names.channel(index as i32 + 1);
        let named_alike = |other: &State| {
            // Whose channel it is depends on which processes there are.
            let types = |state: &State| state.processes.iter().map(|process| process.process).collect::<Vec<_>>();
            types(other) == types(first) || Names::of(program, other).channel(index as i32 + 1) == name
        };
        if others.iter().all(|other| other.channels.get(index) == Some(channel) && named_alike(other)) {
            let contents = names.contents(channel);
            unchanged.push((name, contents));
        }
    }
    unchanged
}

fn sentences(processes: &[InLoop], fairness: RunFairness, unchanged: &[(String, String)]) -> Vec<String> {
    let mut sentences = Vec::new();
    let named = |wanted: &Role| {
        let names: Vec<&str> = processes.iter().filter(|p| p.role == *wanted).map(|p| p.name.as_str()).collect();
        listed(&names)
    };
    if let Some(names) = named(&Role::Moves) {
        sentences.push(format!("In the loop, {} {}.", names.0, if names.1 { "move" } else { "moves" }));
    }
    for (role, when) in [(Role::AlwaysNeglected, "all the time"), (Role::SometimesNeglected, "again and again")] {
        if let Some((names, many)) = named(&role) {
            let never = if many { "never do" } else { "never does" };
            sentences.push(format!("{names} could move {when}, but {never}."));
        }
    }
    for process in processes {
        let Role::Blocked { reasons, on } = &process.role else { continue };
        let why = if reasons.is_empty() { String::new() } else { format!(" {}", reasons.join(", and ")) };
        let name = |pid: &u8| processes.iter().find(|p| p.pid == *pid).map(|p| p.name.as_str());
        let others: Vec<&str> = on.iter().filter_map(name).collect();
        let who = match listed(&others) {
            Some((names, _)) => format!("; {names} could make it go on"),
            None => "; nobody who is left could make it go on".to_owned(),
        };
        sentences.push(format!("{} waits all the time{why}{who}.", process.name));
    }
    if !unchanged.is_empty() {
        let told = unchanged.iter().take(CONSTANTS_TOLD_MAX).map(|(name, value)| format!("{name} = {value}"));
        let more = unchanged.len().saturating_sub(CONSTANTS_TOLD_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        sentences.push(format!("These never change in it: {}{more}.", told.collect::<Vec<_>>().join(", ")));
    }
    sentences.push(match fairness {
        RunFairness::Unfair => {
            "Only an unfair scheduler lets this go on: under weak fairness it does not count.".into()
        }
        RunFairness::Weak => "A weakly fair scheduler may let this go on; a strongly fair one does not.".into(),
        RunFairness::Strong => "Every process that can move does: no fair scheduler prevents this.".into(),
    });
    sentences
}

/// Names in a row, and whether they are several; `None` if there is none.
fn listed(names: &[&str]) -> Option<(String, bool)> {
    let (last, others) = names.split_last()?;
    if others.is_empty() {
        return Some(((*last).to_owned(), false));
    }
    Some((format!("{} and {last}", others.join(", ")), true))
}

fn suggestion(processes: &[InLoop], fairness: RunFairness) -> String {
    let blocked = processes.iter().find(|process| matches!(&process.role, Role::Blocked { on, .. } if !on.is_empty()));
    match (fairness, blocked) {
        (RunFairness::Unfair, _) => "If the scheduler is fair, check with `--fairness weak`.".to_owned(),
        (RunFairness::Weak, _) => "If the scheduler is strongly fair, check with `--fairness strong`.".to_owned(),
        (RunFairness::Strong, Some(process)) => {
            format!("Let the processes of the loop make way for {}, or let them give up at some time.", process.name)
        }
        (RunFairness::Strong, None) => {
            "Make sure that the loop is left at some time, or mark what counts as progress in it.".to_owned()
        }
    }
}
