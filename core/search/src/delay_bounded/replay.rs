//! From macro steps to a path: the run is executed anew.

use super::{Delay, Origin, scheduled};
use crate::model::Processes;
use crate::schedule::macro_steps::MacroStepLister;
use crate::schedule::{MacroSteps, Scheduler};
use std::ops::ControlFlow;

/// A run: transitions, and who was held back before which of them.
pub(crate) struct Replayed<Label> {
    pub path: Vec<Label>,
    pub delays: Vec<Delay>,
}

impl<Label> From<Replayed<Label>> for (Vec<Label>, Vec<Delay>) {
    fn from(replayed: Replayed<Label>) -> Self {
        (replayed.path, replayed.delays)
    }
}

/// Executes the macro steps of a trail. Delays need not be in it: before each macro step the scheduler is told to delay until it
/// chooses the process of that macro step.
pub(crate) fn replay<M: Processes, D: Scheduler<M::Label>>(
    model: &mut M,
    scheduler: &D,
    trail: &[u32],
) -> Replayed<M::Label> {
    let mut replayed = Replayed { path: Vec::new(), delays: Vec::new() };
    let mut state = Vec::new();
    if model.initial(&mut state).is_err() {
        return replayed;
    }
    let mut lister = MacroStepLister::new();
    let (mut macro_steps, mut macro_steps_after) = (MacroSteps::default(), MacroSteps::default());
    let list = |lister: &mut MacroStepLister<_>, model: &mut M, state: &[u32], macro_steps: &mut _| {
        let _: ControlFlow<()> = lister.list(model, state, macro_steps, || ControlFlow::Continue(()));
    };
    list(&mut lister, model, &state, &mut macro_steps);
    let mut schedule = scheduler.start(macro_steps.situation());
    for &index in trail {
        let before = replayed.path.len();
        if index == Origin::DELAY {
            replayed.delays.extend(scheduler.next(&schedule).map(|process| Delay { before, process }));
            scheduler.delay(&mut schedule);
            continue;
        }
        let index = index as usize;
        let process = macro_steps.get(index).process;
        for _ in 0..macro_steps.enabled().len() {
            let next = scheduler.next(&schedule);
            if process.is_none() || next == process {
                break;
            }
            replayed.delays.extend(next.map(|process| Delay { before, process }));
            scheduler.delay(&mut schedule);
        }
        replayed.path.extend_from_slice(macro_steps.labels(index));
        // What leads to no state is the last of a trail: a fault, or an atomic sequence that blocks.
        let Some(target) = macro_steps.target(index) else { break };
        list(&mut lister, model, target, &mut macro_steps_after);
        schedule = scheduled(scheduler, &schedule, &macro_steps, index, macro_steps_after.situation());
        std::mem::swap(&mut macro_steps, &mut macro_steps_after);
    }
    replayed
}
