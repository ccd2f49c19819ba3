//! On what the steps of a run depend, and what they change: which of them could be taken in another order.
//!
//! A step depends on all that the options of its process look at, not only on what the option reads that was taken: in another
//! order another option could be possible as well. A process that stands where it offers a rendezvous changes what others can do.
//! A process that is blocked inside an atomic sequence depends on what it waits for: in another order it could go on at once.

use std::collections::BTreeMap;

use crate::interpret::Outcome;
use crate::reads::{Options, options, written};
use crate::state::State;
use crate::trace::{Step, Trace};
use fabius_program::Program;

/// What a step reads and changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// The processes that take part.
    pub processes: Vec<u8>,
    /// Variables and channels by name, and whether they are changed.
    touched: BTreeMap<String, bool>,
    /// It depends on something else, or changes something else: where processes are, or which there are.
    beyond: bool,
}

impl Footprint {
    /// Adds another step, to which nothing else came in between.
    pub fn add(&mut self, other: &Self) {
        self.processes.extend(&other.processes);
        other.touched.iter().for_each(|(name, changes)| self.touch(name, *changes));
        self.beyond |= other.beyond;
    }

    /// Whether the order of two steps may matter.
    pub fn depends_on(&self, other: &Self) -> bool {
        self.beyond || other.beyond || self.shares_a_process(other) || self.conflict(other).is_some()
    }

    /// Whether a process takes part in both.
    pub fn shares_a_process(&self, other: &Self) -> bool {
        self.processes.iter().any(|pid| other.processes.contains(pid))
    }

    /// A variable or channel that both touch and one of them changes.
    pub fn conflict(&self, other: &Self) -> Option<&str> {
        let mut shared =
            self.touched.iter().filter_map(|(name, changes)| Some((name, *changes, *other.touched.get(name)?)));
        shared.find(|(_, one, another)| *one || *another).map(|(name, ..)| name.as_str())
    }

    fn touch(&mut self, name: &str, changes: bool) {
        match self.touched.get_mut(name) {
            Some(changed) => *changed |= changes,
            None => drop(self.touched.insert(name.to_owned(), changes)),
        }
    }

    fn of(program: &Program, step: &Step, before: &State, outcome: &Outcome) -> Self {
        let processes: Vec<u8> =
            std::iter::once(step.taken.pid).chain(step.taken.partner.map(|(partner, _)| partner)).collect();
        let mut footprint = Self { processes: processes.clone(), ..Self::default() };
        for state in std::iter::once(before).chain(outcome.state()) {
            for &pid in &processes {
                let Options { read, rendezvous, beyond } = options(program, state, pid);
                rendezvous.iter().for_each(|name| footprint.touch(name, true));
                // Inside an atomic sequence, what its next options look at decides whether it keeps control.
                if std::ptr::eq(state, before) || state.holder == Some(pid) {
                    read.iter().for_each(|name| footprint.touch(name, false));
                    footprint.beyond |= beyond;
                }
            }
        }
        let taken = step.taken;
        for (pid, edge) in std::iter::once((taken.pid, taken.edge)).chain(taken.partner) {
            match written(program, before, pid, edge) {
                Some(names) => names.iter().for_each(|name| footprint.touch(name, true)),
                None => footprint.beyond = true,
            }
        }
        step.messages.iter().for_each(|message| footprint.touch(&message.channel, true));
        step.changes.iter().for_each(|change| footprint.touch(&change.name, true));
        // Who moved last is part of the state.
        footprint.beyond |= program.uses.last;
        footprint.beyond |= step.ended || !step.created.is_empty() || outcome.fault().is_some();
        footprint
    }
}

/// The footprints of the steps of a run.
pub fn footprints(trace: &Trace) -> Vec<Footprint> {
    let mut found = Vec::new();
    trace.steps.visit(&mut |step, before, outcome| {
        found.push(Footprint::of(trace.steps.program(), step, before, outcome));
    });
    found
}
