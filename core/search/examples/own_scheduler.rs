//! A scheduler of one's own, written outside the crate: it takes care of one process and lets the others wait.
//!
//! ```text
//! cargo run -p fabius-search --example own_scheduler
//! ```
//!
//! The system is a lock that two workers take in the wrong way (they look whether it is free, and take it in a
//! second step), beside eight bystanders who only count. Somebody who suspects the workers lets them go first, and
//! finds the error with a fraction of the states that a scheduler needs who knows nothing.

#![expect(clippy::disallowed_macros, reason = "an example prints")]

use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::delay_bounded::{IterativeDelayBounding, fast};
use fabius_search::schedule::{Alike, Order, RoundRobin, Scheduler, Situation, Step};
use fabius_search::{Ending, Marks, Model, Next, Outcome, ProcessSet, Processes, Quiet, Settings, TreeStore};

/// Lets the suspects move first. Who is held back is passed over for one macro step.
struct SuspectsFirst {
    suspects: ProcessSet,
}

/// All processes that can move, suspects first, and how many of them are passed over at present.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Line {
    order: Order,
    passed_over: usize,
}

impl<Label> Scheduler<Label> for SuspectsFirst {
    type State = Line;

    fn start(&self, situation: Situation<'_>) -> Line {
        let (first, then): (Vec<u8>, Vec<u8>) =
            situation.enabled.iter().partition(|&process| self.suspects.contains(process));
        Line { order: Order::new(first.into_iter().chain(then)), passed_over: 0 }
    }

    fn next(&self, state: &Line) -> Option<u8> {
        state.order.iter().nth(state.passed_over)
    }

    fn delay(&self, state: &mut Line) {
        state.passed_over = (state.passed_over + 1) % state.order.iter().count().max(1);
    }

    fn step(&self, state: &mut Line, step: &Step<'_, Label>) {
        *state = <Self as Scheduler<Label>>::start(self, step.after);
    }
}

/// One word per process, then the lock. Workers are the last two processes.
struct Lock {
    bystanders: usize,
}

impl Lock {
    fn step(&self, state: &[u32], process: usize) -> Option<(Vec<u32>, bool)> {
        let mut next = state.to_vec();
        let lock = state.len() - 1;
        next[process] += 1;
        let mut fails = false;
        match state[process] {
            0..3 if process < self.bystanders => {}
            0 if self.bystanders <= process && state[lock] == 0 => {}
            1 if self.bystanders <= process => {
                // The lock was free when the worker looked.
                fails = state[lock] == 1;
                next[lock] = 1;
            }
            2 if self.bystanders <= process => next[lock] = 0,
            _ => return None,
        }
        Some((next, fails))
    }
}

impl Model for Lock {
    type Label = u8;
    type Fault = &'static str;
    type Cursor = usize;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), &'static str> {
        *state = vec![0; self.bystanders + 3];
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> usize {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut usize, successor: &mut Vec<u32>) -> Next<u8, &'static str> {
        while *cursor < self.bystanders + 2 {
            let process = *cursor;
            *cursor += 1;
            if let Some((next, fails)) = self.step(state, process) {
                *successor = next;
                let fault = fails.then_some("two workers hold the lock");
                return Next::Successor { label: Some(process as u8), transient: false, fault, marks: Marks::NONE };
            }
        }
        Next::Done(Ending::ValidEnd)
    }
}

impl Processes for Lock {
    fn process_count(&self, _: &[u32]) -> usize {
        self.bystanders + 2
    }

    fn movers(&self, label: &u8) -> [Option<u8>; 2] {
        [Some(*label), None]
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::EMPTY;
        let can_move = |&process: &usize| self.step(state, process).is_some();
        (0..self.bystanders + 2).filter(can_move).for_each(|process| enabled.insert(process as u8));
    }
}

fn search<D: Scheduler<u8>>(scheduler: &D) -> Outcome<u8, &'static str> {
    let mut store = TreeStore::new();
    fast(
        &mut Lock { bystanders: 8 },
        scheduler,
        &mut store,
        &mut Quiet,
        &Settings::default(),
        &IterativeDelayBounding::default(),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed")
}

fn main() {
    let mut suspects = ProcessSet::EMPTY;
    [8, 9].into_iter().for_each(|worker| suspects.insert(worker));
    for (name, found) in
        [("round-robin", search(&RoundRobin(Alike))), ("suspects first", search(&SuspectsFirst { suspects }))]
    {
        let (states, delays) = (found.statistics.states, found.first().map_or(0, |one| one.delays.len()));
        println!("{name}: {states} states, {delays} delays");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knowing_something_helps() {
        let mut suspects = ProcessSet::EMPTY;
        [8, 9].into_iter().for_each(|worker| suspects.insert(worker));
        let (blind, wise) = (search(&RoundRobin(Alike)), search(&SuspectsFirst { suspects }));
        assert_eq!(wise.violations.len(), 1);
        assert!(wise.statistics.states * 2 < blind.statistics.states);
    }
}
