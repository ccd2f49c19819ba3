//! Walking the tree of a snapshot: every state that was met, each from the one it was first met from.

use super::Unusable;
use crate::delay_bounded::{DelayObserver, Listing, Origin, scheduled};
use crate::model::{Model, Processes};
use crate::outcome::Statistics;
use crate::schedule::{MacroSteps, Scheduler};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// What a state is found to be, when it is met again.
pub(crate) struct Retraced<'t, State> {
    /// Its number in the snapshot.
    pub number: u32,
    pub state: &'t [u32],
    /// The scheduler's state when it was first met; of the first, of those that others came of, and of those of which it is wanted.
    pub schedule: Option<&'t State>,
}

/// Who is told of the states.
pub(crate) trait Visit<State> {
    /// Whether the scheduler's state is to be known, though no other state came of this one.
    fn wants(&self, number: u32) -> bool;

    /// A state was met again.
    fn visit(&mut self, retraced: Retraced<'_, State>);
}

/// A state on the way: its number, its macro steps, and the scheduler's state in it.
type Walked<M, State> = (u32, MacroSteps<<M as Model>::Label, <M as Model>::Fault>, State);

/// Lists the macro steps of the states that are met again.
pub(crate) struct Relister<'l, 'm, M: Processes, D, O> {
    pub(crate) listing: &'l mut Listing<'m, M>,
    pub(crate) scheduler: &'l D,
    pub(crate) statistics: &'l mut Statistics,
    pub(crate) observer: &'l mut O,
}

/// Meets all states again, depth first. Lists the macro steps of those that others came of, and of those that are wanted, once.
pub(crate) fn retrace<M, D, O>(
    Relister { listing, scheduler, statistics, observer }: &mut Relister<'_, '_, M, D, O>,
    origins: &[Origin],
    visitor: &mut impl Visit<D::State>,
) -> Result<ControlFlow<StopReason>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut state = Vec::new();
    if listing.model.initial(&mut state).is_err() || origins.is_empty() {
        return Err(Unusable);
    }
    let mut tree = Tree::new(origins);
    let mut stack: Vec<Walked<M, D::State>> = Vec::new();
    let mut spare: Vec<MacroSteps<M::Label, M::Fault>> = Vec::new();
    let mut next = Some((0, None));
    while let Some((number, macro_step)) = next {
        statistics.states += 1;
        if number == 0 || tree.has_children(number) || visitor.wants(number) {
            let mut macro_steps = spare.pop().unwrap_or_default();
            if let ControlFlow::Break(halt) = listing.list(&state, &mut macro_steps, statistics, false, *observer) {
                return Ok(ControlFlow::Break(halt));
            }
            let schedule = match (macro_step, stack.last()) {
                (Some(macro_step), Some((_, from, schedule))) => {
                    let mut schedule = schedule.clone();
                    hold_back(*scheduler, &mut schedule, from, macro_step);
                    scheduled(*scheduler, &schedule, from, macro_step, macro_steps.situation())
                }
                _ => scheduler.start(macro_steps.situation()),
            };
            visitor.visit(Retraced { number, state: &state, schedule: Some(&schedule) });
            stack.push((number, macro_steps, schedule));
        } else {
            visitor.visit(Retraced { number, state: &state, schedule: None });
        }
        next = loop {
            let Some((parent, macro_steps, _)) = stack.last() else { break None };
            let Some(child) = tree.next_child_of(*parent) else {
                spare.extend(stack.pop().map(|(_, macro_steps, _)| macro_steps));
                continue;
            };
            let macro_step = origins[child as usize].macro_step as usize;
            if macro_steps.len() <= macro_step {
                return Err(Unusable);
            }
            state.clear();
            state.extend_from_slice(macro_steps.target(macro_step).ok_or(Unusable)?);
            break Some((child, Some(macro_step)));
        };
    }
    Ok(ControlFlow::Continue(()))
}

/// Delays until the scheduler chooses the process of a macro step. How often it had to.
pub(crate) fn hold_back<L: Copy, F: Copy, D: Scheduler<L>>(
    scheduler: &D,
    schedule: &mut D::State,
    macro_steps: &MacroSteps<L, F>,
    macro_step: usize,
) -> u32 {
    let process = macro_steps.get(macro_step).process;
    let mut delays = 0;
    while process.is_some() && scheduler.next(schedule) != process && delays + 1 < macro_steps.enabled().len() as u32 {
        scheduler.delay(schedule);
        delays += 1;
    }
    delays
}

/// The children of each state that were not walked yet.
struct Tree {
    first: Vec<u32>,
    /// The next child of the same parent.
    next: Vec<u32>,
}

impl Tree {
    fn new(origins: &[Origin]) -> Self {
        let (mut first, mut next) = (vec![0; origins.len()], vec![0; origins.len()]);
        for (number, origin) in origins.iter().enumerate().skip(1).rev() {
            next[number] = std::mem::replace(&mut first[origin.parent as usize], number as u32);
        }
        Self { first, next }
    }

    fn has_children(&self, number: u32) -> bool {
        self.first[number as usize] != 0
    }

    fn next_child_of(&mut self, number: u32) -> Option<u32> {
        let child = self.first[number as usize];
        self.first[number as usize] = *self.next.get(child as usize)?;
        (child != 0).then_some(child)
    }
}
