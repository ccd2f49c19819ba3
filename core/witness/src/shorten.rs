//! Makes a path easier to read without changing what it shows: leaves out steps that do not matter
//! and brings the steps of one process together. Whatever comes out has been walked again.

use fabius_program::{Move, Program, Watch, meaning::Fault};

use crate::confirm::Claim;
use crate::interpret::{Ending, Outcome, ending, settled, step};
use crate::state::State;

/// A shorter or calmer path that shows the same, or the same path if none is found.
///
/// For a fault, the last step stays what it is; for an invalid end state, every process ends up where
/// it did; otherwise the last state stays the same. Cycles are left alone. `steps_max` bounds the
/// work: this many steps are walked at most.
pub fn shorten(program: &Program, watch: Watch, path: &[Move], claim: Claim, steps_max: u64) -> Vec<Move> {
    let Ok(initial) = State::watching(program, watch) else { return path.to_vec() };
    let mut shortening = Shortening { program, claim, budget: steps_max, path: Vec::new(), states: vec![initial] };
    let Some(walked) = shortening.walk(0, path) else { return path.to_vec() };
    let Some(last_state) = walked.states.last().cloned() else { return path.to_vec() };
    let goal = Goal { last_step: path.last().copied(), last_state };
    shortening.path = path.to_vec();
    shortening.states.extend(walked.states);
    if !matches!(claim, Claim::Cycle { .. }) {
        shortening.leave_out(&goal);
        shortening.bring_together(&goal);
    }
    shortening.path
}

/// The steps of a path without which it does not show the same: their places in it, in order. Found by leaving
/// out what can be left out; `steps_max` bounds the work as in [`shorten`]. Of a cycle, every step counts.
pub fn essential(program: &Program, watch: Watch, path: &[Move], claim: Claim, steps_max: u64) -> Vec<usize> {
    let all = || (0..path.len()).collect();
    let Ok(initial) = State::watching(program, watch) else { return all() };
    let mut shortening = Shortening { program, claim, budget: steps_max, path: Vec::new(), states: vec![initial] };
    if matches!(claim, Claim::Cycle { .. }) {
        return all();
    }
    let Some(walked) = shortening.walk(0, path) else { return all() };
    let Some(last_state) = walked.states.last().cloned() else { return all() };
    let goal = Goal { last_step: path.last().copied(), last_state };
    shortening.path = path.to_vec();
    shortening.states.extend(walked.states);
    let mut kept: Vec<usize> = all();
    shortening.leave_out_processes(&goal, &mut kept);
    shortening.leave_out_telling(&goal, &mut |from, length| {
        kept.drain(from..from + length);
    });
    kept
}

/// What a path must still show.
struct Goal {
    last_step: Option<Move>,
    last_state: State,
}

/// Some steps that were walked.
struct Walked {
    /// The state after each step; after one that cannot be computed, the state before it.
    states: Vec<State>,
    /// What is wrong with the last step.
    fault: Option<Fault>,
}

struct Shortening<'a> {
    program: &'a Program,
    claim: Claim,
    /// This many steps may still be walked.
    budget: u64,
    path: Vec<Move>,
    /// The states before each step and after the last.
    states: Vec<State>,
}

impl Shortening<'_> {
    /// Leaves out runs of steps, long runs first.
    fn leave_out(&mut self, goal: &Goal) {
        self.leave_out_telling(goal, &mut |_, _| {});
    }

    /// Leaves out all steps of a process, or else its last ones; `kept` are what the steps were at first.
    fn leave_out_processes(&mut self, goal: &Goal, kept: &mut Vec<usize>) {
        let takes_part = |step: &Move, pid: u8| step.pid == pid || step.partner.is_some_and(|(other, _)| other == pid);
        let pids: std::collections::BTreeSet<u8> = self.path.iter().map(|step| step.pid).collect();
        for pid in pids {
            let all: Vec<usize> = (0..self.path.len()).filter(|at| takes_part(&self.path[*at], pid)).collect();
            if self.try_without(&all, goal, kept) {
                continue;
            }
            while let Some(last) = self.path.iter().rposition(|step| takes_part(step, pid)) {
                if last + 1 == self.path.len() || !self.try_without(&[last], goal, kept) {
                    break;
                }
            }
        }
    }

    /// Leaves out some steps, given by their places in order, if the path still shows what it should.
    fn try_without(&mut self, out: &[usize], goal: &Goal, kept: &mut Vec<usize>) -> bool {
        let Some(&first) = out.first() else { return false };
        let rest: Vec<Move> =
            (first..self.path.len()).filter(|at| out.binary_search(at).is_err()).map(|at| self.path[at]).collect();
        if !self.try_rest(first, &rest, goal) {
            return false;
        }
        let mut at = 0;
        kept.retain(|_| {
            at += 1;
            out.binary_search(&(at - 1)).is_err()
        });
        true
    }

    /// Leaves out runs of steps, and tells from where and how many.
    fn leave_out_telling(&mut self, goal: &Goal, tell: &mut dyn FnMut(usize, usize)) {
        let mut length = self.path.len() / 2;
        while 0 < length {
            let mut from = 0;
            while from + length <= self.path.len() {
                let rest = self.path[from + length..].to_vec();
                if self.try_rest(from, &rest, goal) {
                    tell(from, length);
                } else {
                    from += length;
                }
            }
            length /= 2;
        }
    }

    /// Moves steps forward to the last step of the same process, unless that makes the process change more often.
    fn bring_together(&mut self, goal: &Goal) {
        for index in 1..self.path.len() {
            let moved = self.path[index];
            let Some(last) = self.path[..index].iter().rposition(|step| step.pid == moved.pid) else { continue };
            if last + 1 == index {
                continue;
            }
            let mut calmer = self.path.clone();
            calmer.remove(index);
            calmer.insert(last + 1, moved);
            if changes_of_process(&calmer) <= changes_of_process(&self.path) {
                self.try_rest(last + 1, &calmer[last + 1..], goal);
            }
        }
    }

    /// Replaces everything from step `from` on, if the path still shows what it should.
    fn try_rest(&mut self, from: usize, rest: &[Move], goal: &Goal) -> bool {
        let Some(walked) = self.walk(from, rest) else { return false };
        let last_state = walked.states.last().unwrap_or(&self.states[from]);
        if !self.shows(last_state, rest.last().copied(), walked.fault, goal) {
            return false;
        }
        self.path.splice(from.., rest.iter().copied());
        self.states.truncate(from + 1);
        self.states.extend(walked.states);
        true
    }

    /// Walks steps from the state before step `from`; `None` if one is not possible, if one that
    /// cannot be computed is not the last, or if the work becomes too much.
    fn walk(&mut self, from: usize, steps: &[Move]) -> Option<Walked> {
        let mut walked = Walked { states: Vec::new(), fault: None };
        for (index, wanted) in steps.iter().enumerate() {
            self.budget = self.budget.checked_sub(1)?;
            let before = walked.states.last().unwrap_or(&self.states[from]);
            let outcome = step(self.program, before, *wanted).ok()?.outcome;
            walked.fault = outcome.fault();
            let next = match outcome {
                Outcome::Reaches { state, .. } => state,
                Outcome::Broken { .. } if index + 1 == steps.len() => before.clone(),
                Outcome::Broken { .. } => return None,
            };
            walked.states.push(next);
        }
        Some(walked)
    }

    fn shows(&self, last: &State, last_step: Option<Move>, fault: Option<Fault>, goal: &Goal) -> bool {
        let places = |state: &State| state.processes.iter().map(|p| (p.process, p.location)).collect::<Vec<_>>();
        match self.claim {
            Claim::Fault(claimed) => fault == Some(claimed) && last_step == goal.last_step,
            Claim::InvalidEnd => {
                let last = settled(self.program, last);
                places(&last) == places(&goal.last_state) && ending(self.program, &last) == Ending::Invalid
            }
            Claim::Reaches | Claim::Cycle { .. } => last.visible(self.program) == goal.last_state.visible(self.program),
        }
    }
}

fn changes_of_process(path: &[Move]) -> usize {
    path.windows(2).filter(|pair| pair[0].pid != pair[1].pid).count()
}
