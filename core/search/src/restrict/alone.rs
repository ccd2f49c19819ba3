//! What a scheduler does by itself, if nobody disturbs it: all its runs, with all that processes choose themselves.
//!
//! ```text
//! pairs := {(s₀, d₀)};  for each pair (s, d): for each turn s → t of Next(d): an error, or (t, Step(d)) is added
//! ```

use super::graph::{Limits, Refusal, Stop};
use crate::model::{Ending, ProcessSet, Processes};
use crate::schedule::turns::Lister;
use crate::schedule::{Scheduler, Situation, Step, Turns};
use fabius_base::{Cancel, StopReason};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// What a scheduler does by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alone {
    /// No error and no invalid end in this many states.
    Safe(u64),
    /// There is an error, or an invalid end.
    Fails,
}

/// Is told the state in which a turn begins, and its transitions.
pub type Taken<'t, Label> = dyn FnMut(&[u32], &[Label]) + 't;

/// Explores what a scheduler does by itself; `taken` is told each turn's state and transitions.
///
/// # Errors
/// Why not everything was explored.
pub fn alone<M: Processes, D: Scheduler<M::Label>>(
    model: &mut M,
    scheduler: &D,
    limits: Limits,
    cancel: &Cancel,
    taken: &mut Taken<'_, M::Label>,
) -> Result<Alone, Stop> {
    let (mut lister, mut turns, mut after) = (Lister::new(), Turns::default(), Turns::default());
    let mut transitions = 0;
    let mut list = |model: &mut M, state: &[u32], turns: &mut Turns<M::Label, M::Fault>| {
        let listed = lister.list(model, state, turns, || {
            transitions += 1;
            match cancel.requested() {
                Some(reason) => ControlFlow::Break(reason),
                None if limits.transitions_max < transitions => ControlFlow::Break(StopReason::States),
                None => ControlFlow::Continue(()),
            }
        });
        match listed {
            ControlFlow::Break(reason) => Err(Stop::Limit(reason)),
            ControlFlow::Continue(()) if turns.is_infinite() => Err(Stop::Refused(Refusal::InfiniteTurn)),
            ControlFlow::Continue(()) => Ok(()),
        }
    };
    let mut words = Vec::new();
    model.initial(&mut words).map_err(|_| Stop::Refused(Refusal::NoInitialState))?;
    list(model, &words, &mut turns)?;
    let mut known: HashMap<Box<[u32]>, Known<D::State>> = HashMap::new();
    let mut open = vec![(Box::<[u32]>::from(words), scheduler.start(turns.situation()))];
    while let Some((state, schedule)) = open.pop() {
        if !known.entry(state.clone()).or_default().schedules.insert(schedule.clone()) {
            continue;
        }
        if limits.states_max < known.len() as u64 {
            return Err(Stop::Limit(StopReason::States));
        }
        list(model, &state, &mut turns)?;
        if turns.ending() == Ending::InvalidEnd {
            return Ok(Alone::Fails);
        }
        let process = scheduler.next(&schedule);
        let mut from = 0;
        while let Some(turn) = turns.next_of(process, from).filter(|_| process.is_some()) {
            from = turn + 1;
            let Some(target) = turns.target(turn) else { return Ok(Alone::Fails) };
            taken(&state, turns.labels(turn));
            let enabled = match known.get(target).and_then(|known| known.enabled) {
                Some(enabled) => enabled,
                None => {
                    list(model, target, &mut after)?;
                    known.entry(target.into()).or_default().enabled = Some(*after.enabled());
                    *after.enabled()
                }
            };
            let mut next = schedule.clone();
            let (labels, partners) = (turns.labels(turn), turns.partners(turn));
            let before = Situation { state: &state, enabled: turns.enabled() };
            let after = Situation { state: target, enabled: &enabled };
            scheduler.step(&mut next, &Step { process, labels, partners, before, after });
            open.push((target.into(), next));
        }
    }
    Ok(Alone::Safe(known.len() as u64))
}

/// What is known of a state.
struct Known<S> {
    /// The processes that can move.
    enabled: Option<ProcessSet>,
    /// The states of the scheduler with which it was met.
    schedules: HashSet<S>,
}

impl<S> Default for Known<S> {
    fn default() -> Self {
        Self { enabled: None, schedules: HashSet::new() }
    }
}
