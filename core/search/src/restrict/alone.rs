//! What a scheduler does by itself, if nobody disturbs it: all its runs, with all that processes choose themselves.
//!
//! ```text
//! pairs := {(s₀, d₀)};  for each pair (s, d): for each macro step s → t of Next(d): an error, or (t, Step(d)) is added
//! ```

use super::graph::{Limits, Refusal, Stop};
use crate::model::{Ending, ProcessSet, Processes};
use crate::numbered_states::NumberedStates;
use crate::schedule::macro_steps::MacroStepLister;
use crate::schedule::{MacroSteps, Scheduler, Situation, Step};
use crate::store::Class;
use fabius_base::{Cancel, StopReason};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// What a scheduler does by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alone {
    /// No error and no invalid end in this many states.
    Safe(u64),
    /// There is an error, or an invalid end.
    Fails,
}

/// Is told the state in which a macro step begins, and its transitions.
pub type Taken<'t, Label> = dyn FnMut(&[u32], &[Label]) + 't;

/// Explores what a scheduler does by itself; `taken` is told each macro step's state and transitions.
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
    let (mut lister, mut macro_steps, mut after) =
        (MacroStepLister::new(), MacroSteps::default(), MacroSteps::default());
    let mut transitions = 0;
    let mut list = |model: &mut M, state: &[u32], macro_steps: &mut MacroSteps<M::Label, M::Fault>| {
        let listed = lister.list(model, state, macro_steps, || {
            transitions += 1;
            match cancel.requested() {
                Some(reason) => ControlFlow::Break(reason),
                None if limits.transitions_max < transitions => ControlFlow::Break(StopReason::States),
                None => ControlFlow::Continue(()),
            }
        });
        match listed {
            ControlFlow::Break(reason) => Err(Stop::Limit(reason)),
            ControlFlow::Continue(()) if macro_steps.is_infinite() => Err(Stop::Refused(Refusal::InfiniteTurn)),
            ControlFlow::Continue(()) => Ok(()),
        }
    };
    let mut words = Vec::new();
    model.initial(&mut words).map_err(|_| Stop::Refused(Refusal::NoInitialState))?;
    list(model, &words, &mut macro_steps)?;
    let mut known = Known { states: NumberedStates::new(model.hidden_words()), enabled: Vec::new() };
    let start = known.number_of(&words);
    let mut seen: FxHashSet<(u32, D::State)> = FxHashSet::default();
    let mut open = vec![(start, scheduler.start(macro_steps.situation()))];
    while let Some((state, schedule)) = open.pop() {
        if !seen.insert((state, schedule.clone())) {
            continue;
        }
        if limits.states_max < known.enabled.len() as u64 {
            return Err(Stop::Limit(StopReason::States));
        }
        known.states.recall(state, &mut words);
        list(model, &words, &mut macro_steps)?;
        if macro_steps.ending() == Ending::InvalidEnd {
            return Ok(Alone::Fails);
        }
        let process = scheduler.next(&schedule);
        let mut from = 0;
        while let Some(macro_step) = macro_steps.next_of(process, from).filter(|_| process.is_some()) {
            from = macro_step + 1;
            let Some(target) = macro_steps.target(macro_step) else { return Ok(Alone::Fails) };
            taken(&words, macro_steps.labels(macro_step));
            let number = known.number_of(target);
            let enabled = match known.enabled[number as usize] {
                Some(enabled) => enabled,
                None => {
                    list(model, target, &mut after)?;
                    *known.enabled[number as usize].insert(*after.enabled())
                }
            };
            let mut next = schedule.clone();
            let (labels, partners) = (macro_steps.labels(macro_step), macro_steps.partners(macro_step));
            let before = Situation { state: &words, enabled: macro_steps.enabled() };
            let after = Situation { state: target, enabled: &enabled };
            scheduler.step(&mut next, &Step { process, labels, partners, before, after });
            open.push((number, next));
        }
    }
    Ok(Alone::Safe(known.enabled.len() as u64))
}

/// The states that were met.
struct Known {
    states: NumberedStates,
    /// Of each, the processes that can move, if that was asked.
    enabled: Vec<Option<ProcessSet>>,
}

impl Known {
    /// The number of a state, which is new or not.
    fn number_of(&mut self, words: &[u32]) -> u32 {
        self.states.find(words, Class::Ordinary).unwrap_or_else(|| {
            self.enabled.push(None);
            self.states.add(Class::Ordinary)
        })
    }
}
