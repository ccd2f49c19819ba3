//! SURW: all orders of the macro steps of interest about equally likely.
//!
//! After Zhao, Wolff, Mathur, Roychoudhury: *Selectively Uniform Concurrency Testing* (ASPLOS 2025):
//!
//! ```text
//! left[p] := macro steps of interest of process p, on average of earlier runs
//! at each macro step: if nobody is intended: intend a process, in proportion to left
//!                     move the intended one, or one whose next macro step is of no interest, all equally likely
//!                     if the step was of interest: left[p] := left[p] − 1;  nobody is intended
//! ```
//!
//! Processes are drawn in proportion to the macro steps that they have left, which makes all orders of these equally
//! likely. How many there are is found out by random walks.

use super::walk::Walk;
use super::{Here, Runs, Sampler, Taken};
use crate::delay_bounded::DelayObserver;
use crate::model::Processes;
use crate::outcome::Halt;
use crate::schedule::Scheduler;
use crate::toy::Random;
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// This many random walks tell how many macro steps the processes have.
const PROFILE_RUNS: u64 = 16;

/// Finds out how many macro steps of interest the processes have, on average.
pub(super) fn profile<M, D, O>(runs: &mut Runs<'_, M, D, O>, initial: &[u32]) -> ControlFlow<Halt, Vec<f64>>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut averages = vec![0.0; 256];
    for _ in 0..PROFILE_RUNS {
        let mut walk = Walk::default();
        runs.begin();
        runs.one(initial, &mut walk)?;
        runs.next += 1;
        let share = |count: u64| count as f64 / PROFILE_RUNS as f64;
        averages.iter_mut().zip(walk.counts).for_each(|(average, count)| *average += share(count));
    }
    ControlFlow::Continue(averages)
}

pub(super) struct Surw {
    /// Macro steps of interest that each process has left.
    left: Vec<f64>,
    /// Who takes the next one.
    intended: Option<u8>,
}

impl Surw {
    pub(super) fn new(averages: &[f64]) -> Self {
        Self { left: averages.to_vec(), intended: None }
    }

    /// One of these processes, in proportion to what is left of each; a little is always left.
    fn draw(&self, processes: &[u8], random: &mut Random) -> u8 {
        let weight = |process: &u8| self.left.get(usize::from(*process)).copied().unwrap_or(0.0).max(0.5);
        let total: f64 = processes.iter().map(weight).sum();
        let mut drawn = random.next_u64() as f64 / u64::MAX as f64 * total;
        for process in processes {
            drawn -= weight(process);
            if drawn <= 0.0 {
                return *process;
            }
        }
        processes.last().copied().unwrap_or(0)
    }
}

impl<M: Processes, D: Scheduler<M::Label>> Sampler<M, D> for Surw {
    fn choose(&mut self, here: &mut Here<'_, M, D>) -> Option<u8> {
        let interested: Vec<u8> = here.enabled.iter().filter(|&process| is_of_interest(here, process)).collect();
        let intended = match self.intended.filter(|process| here.enabled.contains(*process)) {
            Some(process) => process,
            None => self.draw(&here.enabled.iter().collect::<Vec<u8>>(), here.random),
        };
        self.intended = Some(intended);
        let may_move = |process: &u8| *process == intended || !interested.contains(process);
        let free: Vec<u8> = here.enabled.iter().filter(may_move).collect();
        free.get(here.random.below(free.len())).copied()
    }

    fn moved(&mut self, step: &mut Taken<'_>) -> ControlFlow<StopReason> {
        if step.of_interest {
            self.left[usize::from(step.process)] -= 1.0;
            self.intended = None;
        }
        ControlFlow::Continue(())
    }
}

/// Whether the next macro step of a process counts.
fn is_of_interest<M: Processes, D: Scheduler<M::Label>>(here: &Here<'_, M, D>, process: u8) -> bool {
    let first =
        here.macro_steps.next_of(Some(process), 0).and_then(|macro_step| here.macro_steps.labels(macro_step).first());
    first.is_some_and(|label| (here.of_interest)(label))
}
