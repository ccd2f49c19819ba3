//! Where it does not show when a process has to stop within an atomic sequence.
//!
//! A process that comes to a send on a rendezvous channel within an atomic sequence stops there if nobody receives, and others move;
//! if somebody receives, it goes on at once. So whoever becomes ready to receive does not commute with such a sequence. But often
//! the order does not matter to what can be reached.
//!
//! Let Q have taken private steps alone since the sequence began. Take a run from some state to a deadlock, or to a step that fails, and
//! some p in a stubborn set for which it is not asked whether these sequences stop. The run with p moved to its front leads to the
//! same: where Q stopped in the run at such a place, let it take its private steps later instead, right before the next step of
//! its own, or last of all if there is none.
//!
//! * Private steps neither see nor change anything that others do, and remain possible however long they are put off. If one of them is
//!   the step that fails, it is the last one of the run, and remains that.
//! * When Q takes its next step, somebody takes part in it in the run, so it is possible there, and Q goes on at once. It is a step of Q's
//!   own and not of somebody who sends to it, since Q cannot receive where it waits. (If it could, it might have to go on by itself.)
//! * Last of all, nobody receives from Q: it stops as it did in the run.
//! * Meanwhile Q is where the sequence begins. If it can receive there, somebody can send to it who could not in the run. That does no harm
//!   unless he must, or shows otherwise that somebody receives. Nobody does so by stopping if his own private steps are put off, too; but
//!   last of all, Q has to take its own before him. So these places are found in rounds: in each of them, Q may be able to receive
//!   where it does not show by what was found in earlier rounds, and last of all whoever was found in a later round is first.
//! * Before a step that is possible only because nothing else is, all such private steps are taken as they are last of all: nobody
//!   receives then, either.
//! * Where an escape (`unless`) may lead out of the sequence before the send, the absence of receivers shows.
//!
//! Executions are not preserved, nor what a formula sees. Plans that preserve deadlocks and faults use it
//! ([`Step::shown_absence`](super::Step::shown_absence)).

use super::bits::Channels;
use super::flow::Shape;
use super::{Facts, Step};
use crate::{EdgeId, Process, ProcessId};

impl Facts {
    /// Finds out which channels some step shows to have no receiver, in rounds.
    pub(super) fn find_shown_absence(&mut self) {
        let all = |of: &Self| {
            let steps = of.unknown.iter().flat_map(|instance| &instance.steps);
            steps.fold(Channels::NONE, |all, step| all.with(step.shown_absence))
        };
        let mut shown = all(self);
        while shown != std::mem::replace(&mut self.shown_absence, shown) && !shown.is_empty() {
            self.unknown = self.unknown.iter().map(|instance| self.instance(instance.key.clone())).collect();
            shown = all(self);
        }
    }

    /// Says of each of the steps of a process for which absences of receivers it shows that it depends on them.
    pub(super) fn tell_shown_absence(&self, process: ProcessId, steps: &mut [Step]) {
        let (process, shape) = (self.program.process(process), &self.shapes[process.0 as usize]);
        let may_stop_later = self.may_stop_later(process, shape, steps);
        for (location, _) in process.locations.iter().zip(may_stop_later).filter(|(_, may)| !may) {
            for edge in location.edges.clone() {
                let step = &mut steps[(edge - shape.first_edge) as usize];
                step.shown_absence = step.depends_on_absence;
            }
        }
    }

    /// For each location, whether it does not show when a process stops there within an atomic sequence.
    fn may_stop_later(&self, process: &Process, shape: &Shape, steps: &[Step]) -> Vec<bool> {
        let count = process.locations.len();
        let edges = |at: usize| self.program.edges_of(&process.locations[at]);
        let step = |id: EdgeId| &steps[(id.0 - shape.first_edge) as usize];
        let never_receives = |at: usize| edges(at).all(|(id, _)| step(id).accepts.is_empty());
        let receives_unnoticed = |at: usize| edges(at).all(|(id, _)| !step(id).accepts.meets(self.shown_absence));
        let mut may: Vec<bool> = (0..count).map(never_receives).collect();
        let within = || (0..count).flat_map(|at| edges(at).map(move |(id, edge)| (at, id, edge)));
        loop {
            // The sequence begins here, or it did not show before that it stops.
            let may_begin = |at: usize| if shape.middle[at] { may[at] } else { receives_unnoticed(at) };
            let shows = within().filter(|&(at, id, edge)| edge.atomic && !(may_begin(at) && step(id).is_private()));
            let shown: Vec<usize> = shows.map(|(_, _, edge)| edge.target.0 as usize).filter(|at| may[*at]).collect();
            if shown.is_empty() {
                return may;
            }
            shown.into_iter().for_each(|at| may[at] = false);
        }
    }
}
