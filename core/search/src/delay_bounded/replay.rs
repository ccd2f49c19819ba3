//! From turns to a path: the run is executed anew.

use super::{Delay, Origin, scheduled};
use crate::model::Processes;
use crate::schedule::turns::Lister;
use crate::schedule::{Scheduler, Turns};
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

/// Executes the turns of a trail. Delays need not be in it: before each turn the scheduler is told to delay until it
/// names the process whose turn it is.
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
    let mut lister = Lister::new();
    let (mut turns, mut turns_after) = (Turns::default(), Turns::default());
    let list = |lister: &mut Lister<_>, model: &mut M, state: &[u32], turns: &mut _| {
        let _: ControlFlow<()> = lister.list(model, state, turns, || ControlFlow::Continue(()));
    };
    list(&mut lister, model, &state, &mut turns);
    let mut schedule = scheduler.start(turns.situation());
    for &index in trail {
        let before = replayed.path.len();
        if index == Origin::DELAY {
            replayed.delays.extend(scheduler.next(&schedule).map(|process| Delay { before, process }));
            scheduler.delay(&mut schedule);
            continue;
        }
        let index = index as usize;
        let process = turns.get(index).process;
        for _ in 0..turns.enabled().len() {
            let next = scheduler.next(&schedule);
            if process.is_none() || next == process {
                break;
            }
            replayed.delays.extend(next.map(|process| Delay { before, process }));
            scheduler.delay(&mut schedule);
        }
        replayed.path.extend_from_slice(turns.labels(index));
        let Some(target) = turns.target(index) else { break };
        list(&mut lister, model, target, &mut turns_after);
        schedule = scheduled(scheduler, &schedule, (&turns, index), turns_after.situation());
        std::mem::swap(&mut turns, &mut turns_after);
    }
    replayed
}
