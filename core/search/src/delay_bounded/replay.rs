//! From macro steps to a path: the run is executed anew.

use super::{Delay, Origin, scheduled};
use crate::model::{Ending, Processes};
use crate::outcome::ViolationKind;
use crate::schedule::macro_steps::{MacroStepEnd, MacroStepLister};
use crate::schedule::{MacroSteps, Scheduler};
use std::ops::ControlFlow;

/// A run: transitions, and who was held back before which of them.
pub(crate) struct Replayed<Label, Fault> {
    pub path: Vec<Label>,
    pub delays: Vec<Delay>,
    /// What is wrong with the last step, or with the state that the run ends in.
    pub wrong: Option<ViolationKind<Fault>>,
}

impl<Label, Fault> From<Replayed<Label, Fault>> for (Vec<Label>, Vec<Delay>) {
    fn from(replayed: Replayed<Label, Fault>) -> Self {
        (replayed.path, replayed.delays)
    }
}

/// Executes the macro steps of a trail. Delays need not be in it: before each macro step the scheduler is told to delay until it
/// chooses the process of that macro step. `None` if a macro step is none of the model.
pub(crate) fn try_replay<M: Processes, D: Scheduler<M::Label>>(
    model: &mut M,
    scheduler: &D,
    trail: &[u32],
) -> Option<Replayed<M::Label, M::Fault>> {
    let mut replayed = Replayed { path: Vec::new(), delays: Vec::new(), wrong: None };
    let mut state = Vec::new();
    if let Err(fault) = model.initial(&mut state) {
        replayed.wrong = Some(ViolationKind::Fault(fault));
        return Some(replayed).filter(|_| trail.is_empty());
    }
    let mut lister = MacroStepLister::new();
    let (mut macro_steps, mut macro_steps_after) = (MacroSteps::default(), MacroSteps::default());
    let list = |lister: &mut MacroStepLister<_>, model: &mut M, state: &[u32], macro_steps: &mut _| {
        let _: ControlFlow<()> = lister.list(model, state, macro_steps, || ControlFlow::Continue(()));
    };
    list(&mut lister, model, &state, &mut macro_steps);
    let mut schedule = scheduler.start(macro_steps.situation());
    for (place, &index) in trail.iter().enumerate() {
        let before = replayed.path.len();
        if index == Origin::DELAY {
            replayed.delays.extend(scheduler.next(&schedule).map(|process| Delay { before, process }));
            scheduler.delay(&mut schedule);
            continue;
        }
        let index = Some(index as usize).filter(|index| *index < macro_steps.len())?;
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
        let Some(target) = macro_steps.target(index) else {
            replayed.wrong = Some(match &macro_steps.get(index).end {
                MacroStepEnd::Fault(fault) => ViolationKind::Fault(*fault),
                MacroStepEnd::Stuck(_) | MacroStepEnd::State(_) => ViolationKind::InvalidEnd,
            });
            return Some(replayed).filter(|_| place + 1 == trail.len());
        };
        list(&mut lister, model, target, &mut macro_steps_after);
        schedule = scheduled(scheduler, &schedule, &macro_steps, index, macro_steps_after.situation());
        std::mem::swap(&mut macro_steps, &mut macro_steps_after);
    }
    replayed.wrong = (macro_steps.ending() == Ending::InvalidEnd).then_some(ViolationKind::InvalidEnd);
    Some(replayed)
}

/// The same, for a trail of this model.
pub(crate) fn replay<M: Processes, D: Scheduler<M::Label>>(
    model: &mut M,
    scheduler: &D,
    trail: &[u32],
) -> Replayed<M::Label, M::Fault> {
    let replayed = try_replay(model, scheduler, trail);
    debug_assert!(replayed.is_some(), "a trail that is none of the model");
    replayed.unwrap_or(Replayed { path: Vec::new(), delays: Vec::new(), wrong: None })
}
