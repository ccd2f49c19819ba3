//! What happens for ever: who moves in a loop, who waits and for what, what never changes, and whether
//! a fair scheduler could let it go on.
//!
//! *Weak* fairness: a process that can always move from some time on moves again and again. *Strong* fairness:
//! a process that can move again and again does.

use fabius_base::Span;
use fabius_program::{CLAIM_PID, Move, Program, Watch};
use serde::{Deserialize, Serialize};

use crate::blocked::process_statuses;
use crate::explain::{Explanation, explain_stop, waits_for};
use crate::loop_summary::LoopSummary;
use crate::release::{Prospect, prospects};
use crate::show::Names;
use crate::state::State;

/// This many values that never change are told.
const CONSTANTS_TOLD_MAX: usize = 6;

/// A loop explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InfiniteRun {
    /// What each process that lives in the loop does there.
    pub processes: Vec<InLoop>,
    /// Which fairness the run satisfies.
    pub fairness: RunFairness,
    /// Variables and channels that have the same value all the time: names and values.
    pub unchanged: Vec<(String, String)>,
    /// What is known of fair runs, in sentences.
    pub fair: Vec<String>,
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
        /// Whether a run from the loop lets it go on.
        prospect: Prospect,
        /// If that is not known: what statements ahead of other processes would do about it.
        ahead: Vec<String>,
    },
    /// It is past its last statement.
    Ended,
}

/// Which fairness a run satisfies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum RunFairness {
    /// None: some process could always move and never does.
    Unfair,
    /// Weak fairness, not strong.
    Weak,
    /// Strong fairness: no fairness of processes excludes it.
    Strong,
}

impl InfiniteRun {
    /// Says what is known of other runs: the strongest fairness under which one does the same.
    pub fn set_fair_runs(&mut self, known: RunFairness) {
        if self.fairness == RunFairness::Strong {
            return;
        }
        let told = match (known, self.fairness) {
            (RunFairness::Unfair, _) => "No weakly fair run violates it.",
            (RunFairness::Weak, RunFairness::Weak) => "No strongly fair run violates it.",
            (RunFairness::Weak, _) => "A weakly fair run violates it too, but no strongly fair one does.",
            (RunFairness::Strong, _) => "A strongly fair run violates it too.",
        };
        self.sentences.push(told.to_owned());
        self.fair.push(told.to_owned());
        self.suggestion = match (known, self.fairness) {
            (RunFairness::Unfair, _) => {
                "If the scheduler is at least weakly fair, this cannot happen (`--fairness weak`)."
            }
            (RunFairness::Weak, RunFairness::Weak) => {
                "If the scheduler is strongly fair, this cannot happen (`--fairness strong`)."
            }
            (RunFairness::Weak, _) => "`--fairness weak` shows such a run; `--fairness strong` rules it out.",
            (RunFairness::Strong, _) => "`--fairness strong` shows such a run.",
        }
        .to_owned();
    }

    /// Says that the search for fair runs that do the same was cut short.
    pub fn set_fair_runs_unknown(&mut self) {
        if self.fairness != RunFairness::Strong {
            let told = "Whether a fair run violates it too is not known: the search for one was cut short.";
            self.sentences.push(told.to_owned());
            self.fair.push(told.to_owned());
        }
    }
}

/// Explains a loop: `states` are those before each of its steps, `steps` what happens in them; without any step, the one
/// state lasts for ever. `watch` is what was watched beside it.
pub fn explain_loop(program: &Program, watch: Watch, states: &[State], steps: &[Move]) -> InfiniteRun {
    let mut summary = LoopSummary::default();
    states.iter().enumerate().for_each(|(index, state)| summary.add(program, state, steps.get(index).copied()));
    explain_summary(program, watch, &summary)
}

/// Explains a loop that is summed up.
pub(crate) fn explain_summary(program: &Program, watch: Watch, summary: &LoopSummary) -> InfiniteRun {
    let Some(first) = &summary.first else { return nothing() };
    let mut processes: Vec<InLoop> = process_statuses(program, first)
        .into_iter()
        .map(|status| {
            let (could, always) = summary.able(status.pid);
            let role = match () {
                () if summary.movers.contains(&status.pid) => Role::Moves,
                () if 0 < could && always => Role::AlwaysNeglected,
                () if 0 < could => Role::SometimesNeglected,
                () if status.has_ended() => Role::Ended,
                () => blocked(summary.reasons_throughout(status.pid)),
            };
            let span = status.waiting.first().map_or(status.span, |waiting| waiting.span);
            InLoop { pid: status.pid, name: status.name, role, span }
        })
        .collect();
    look_ahead(program, first, &mut processes);
    let has = |role: &Role| processes.iter().any(|process| process.role == *role);
    let fairness = match () {
        () if has(&Role::AlwaysNeglected) => RunFairness::Unfair,
        () if has(&Role::SometimesNeglected) => RunFairness::Weak,
        () => RunFairness::Strong,
    };
    if summary.steps == 0 {
        let Explanation { sentences, suggestion, .. } = explain_stop(program, first, std::iter::empty());
        return InfiniteRun { processes, fairness, unchanged: Vec::new(), fair: Vec::new(), sentences, suggestion };
    }
    let unchanged = summary.unchanged(program);
    let fair = vec![fairness_told(fairness).to_owned()];
    let drift = drift(&summary.not_restored(program));
    let creates = summary
        .movers
        .iter()
        .filter(|pid| **pid != CLAIM_PID)
        .any(|pid| processes.iter().all(|process| process.pid != *pid));
    let sentences =
        sentences(&processes, &unchanged, creates).into_iter().chain(drift).chain(fair.iter().cloned()).collect();
    let suggestion = suggestion(&processes, fairness, watch);
    InfiniteRun { processes, fairness, unchanged, fair, sentences, suggestion }
}

/// Names the variables that a round of the loop does not restore: those that are not part of the state, so that the loop
/// closes without them.
fn drift(names: &[String]) -> Option<String> {
    let shown = names.get(..CONSTANTS_TOLD_MAX).unwrap_or(names);
    let more = names.len() - shown.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!names.is_empty()).then(|| {
        format!(
            "Each round leaves other values in {}{more}: not part of the state, since nothing reads them or they are \
             declared `hidden`.",
            shown.join(", ")
        )
    })
}

/// Says which processes stand at a progress label in a loop whose steps never leave one, so that where progress is a
/// matter of states the loop is none without: the *fake progress* of Laarman and Faragó (NFM 2013).
pub(crate) fn fake_progress(program: &Program, summary: &LoopSummary) -> Option<String> {
    let first = summary.first.as_ref()?;
    let alive = summary.at_progress.iter().filter(|pid| usize::from(**pid) < first.processes.len());
    let names: Vec<String> = alive.map(|pid| Names::of(program, first).process(*pid)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (names, many) = listed(&names)?;
    let (verb, it) = if many { ("stand", "none of them goes on") } else { ("stands", "it does not go on") };
    Some(format!(
        "{names} {verb} at a progress label in the loop, but {it} from there: to Spin this is progress \
         (`--progress states`), though nothing is achieved."
    ))
}

/// Says which processes are at acceptance labels in a loop, and at which.
pub(crate) fn acceptance(program: &Program, summary: &LoopSummary) -> Option<String> {
    let first = summary.first.as_ref()?;
    let names = Names::of(program, first);
    let alive = summary.at_acceptance.iter().filter(|(pid, _)| usize::from(*pid) < first.processes.len());
    let told: Vec<String> = alive
        .map(|(pid, labels)| match labels.as_slice() {
            [only] => format!("{} is at acceptance label `{only}`", names.process(*pid)),
            _ => format!("{} is at an acceptance label", names.process(*pid)),
        })
        .collect();
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let shown = listed(told.get(..CONSTANTS_TOLD_MAX).unwrap_or(&told))?.0;
    Some(format!("In the loop, {shown}."))
}

fn nothing() -> InfiniteRun {
    InfiniteRun {
        processes: Vec::new(),
        fairness: RunFairness::Strong,
        unchanged: Vec::new(),
        fair: Vec::new(),
        sentences: Vec::new(),
        suggestion: String::new(),
    }
}

/// A process cannot move in any state of a loop.
fn blocked(reasons: Vec<String>) -> Role {
    Role::Blocked { reasons, prospect: Prospect::Unknown, ahead: Vec::new() }
}

/// Finds out for the processes that cannot move whether a run from the loop changes that.
fn look_ahead(program: &Program, first: &State, processes: &mut [InLoop]) {
    let is_blocked = |process: &&InLoop| matches!(process.role, Role::Blocked { .. });
    let waiting: Vec<u8> = processes.iter().filter(is_blocked).map(|process| process.pid).collect();
    if waiting.is_empty() {
        return;
    }
    let names = Names::of(program, first);
    let process_statuses = process_statuses(program, first);
    for (pid, known) in waiting.iter().zip(prospects(program, first, &waiting)) {
        let Role::Blocked { prospect, ahead, .. } = &mut processes[usize::from(*pid)].role else { continue };
        if known == Prospect::Unknown {
            let waits = waits_for(program, first, &process_statuses[usize::from(*pid)]);
            *ahead = waits.iter().filter_map(|wait| wait.forecast(&|pid| names.process(pid))).collect();
        }
        *prospect = known;
    }
}

/// What happens in a loop; `creates` says whether processes move that do not live where it starts.
fn sentences(processes: &[InLoop], unchanged: &[(String, String)], creates: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    let named = |wanted: &Role| {
        let names: Vec<&str> = processes.iter().filter(|p| p.role == *wanted).map(|p| p.name.as_str()).collect();
        listed(&names)
    };
    let moving = processes.iter().filter(|p| p.role == Role::Moves).map(|p| p.name.as_str());
    let moving: Vec<&str> = moving.chain(creates.then_some("processes that are created in it")).collect();
    if let Some((names, many)) = listed(&moving) {
        sentences.push(format!("In the loop, {names} {}.", if many || creates { "move" } else { "moves" }));
    }
    for (role, when) in [(Role::AlwaysNeglected, "all the time"), (Role::SometimesNeglected, "again and again")] {
        if let Some((names, many)) = named(&role) {
            let never = if many { "never do" } else { "never does" };
            sentences.push(format!("{names} could move {when}, but {never}."));
        }
    }
    for process in processes {
        let Role::Blocked { reasons, prospect, ahead } = &process.role else { continue };
        let why = if reasons.is_empty() { String::new() } else { format!(" {}", reasons.join(", and ")) };
        let name = |pid: &u8| processes.iter().find(|p| p.pid == *pid).map_or("another process", |p| p.name.as_str());
        let who = match prospect {
            Prospect::Released { by, steps } => {
                let run = counted(*steps, "step");
                format!("; a run of {run} from here, the last by {}, lets it go on", name(by))
            }
            Prospect::Never { states } => {
                format!("; no run from here lets it go on ({}, exhaustive)", counted(*states, "state"))
            }
            Prospect::Unknown if ahead.is_empty() => "; whether it can ever go on is not known".to_owned(),
            Prospect::Unknown => format!("; {}; whether it can ever go on is not known", ahead.join(", ")),
        };
        sentences.push(format!("{} waits all the time{why}{who}.", process.name));
    }
    if !unchanged.is_empty() {
        let told = unchanged.iter().take(CONSTANTS_TOLD_MAX).map(|(name, value)| format!("{name} = {value}"));
        let more = unchanged.len().saturating_sub(CONSTANTS_TOLD_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        sentences.push(format!("Unchanged throughout the loop: {}{more}.", told.collect::<Vec<_>>().join(", ")));
    }
    sentences
}

fn fairness_told(fairness: RunFairness) -> &'static str {
    match fairness {
        RunFairness::Unfair => "Unfair run: excluded under weak fairness.",
        RunFairness::Weak => "Weakly fair run: excluded under strong fairness.",
        RunFairness::Strong => "Strongly fair run: no fairness of processes excludes it.",
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Names in a row, and whether they are several; `None` if there is none.
fn listed(names: &[&str]) -> Option<(String, bool)> {
    let (last, others) = names.split_last()?;
    if others.is_empty() {
        return Some(((*last).to_owned(), false));
    }
    Some((format!("{} and {last}", others.join(", ")), true))
}

fn suggestion(processes: &[InLoop], fairness: RunFairness, watch: Watch) -> String {
    let can_be_released = |role: &Role| matches!(role, Role::Blocked { prospect: Prospect::Released { .. }, .. });
    let blocked = processes.iter().find(|process| can_be_released(&process.role));
    let advice = match (fairness, blocked) {
        (RunFairness::Unfair, _) => "If the scheduler is fair, check with `--fairness weak`.",
        (RunFairness::Weak, _) => "If the scheduler is strongly fair, check with `--fairness strong`.",
        (RunFairness::Strong, Some(process)) => {
            return format!("Make sure that the loop is left at some time, so that {} can go on.", process.name);
        }
        (RunFairness::Strong, None) if watch.progress.is_some() => {
            "Make sure that the loop is left at some time, or mark what counts as progress in it."
        }
        (RunFairness::Strong, None) if watch.claim.is_some() => {
            "Make sure that the loop is left at some time, or let the property allow for it."
        }
        (RunFairness::Strong, None) => "Make sure that the loop is left at some time.",
    };
    advice.to_owned()
}
