//! Infinite runs in the order of depth.
//!
//! What is asked: *is there an infinite run all of whose states lie within this many steps of the start?* A state lies within N
//! steps if a shortest way to it has at most N. So the run itself is as long as any infinite run; it is its states that are bounded,
//! and the loop may be as long as there are states. (Section 2 of the paper: the states within the depth, then a search for
//! cycles among them.)
//!
//! ```text
//! bound := min(increment, cut-off)
//! repeat:
//!   expand, breadth first, all states at depth ≤ bound       states at depth bound + 1 are known, and have no edges yet
//!   look for an accepting edge inside a strongly connected component
//!   if no state waits: no run at all;  bound := min(bound + increment, cut-off)
//! ```
//!
//! Breadth first, the depth at which a state is first met is its distance, so nothing has to be looked at again. A state that has no
//! edges yet lies on no cycle, so what is found lies within the bound; and every edge between states within the bound is
//! there. The paper runs nested depth-first search on the states within the bound, which needs no edges in memory; here they are
//! kept from round to round, and one pass over them answers each round.

use super::{DepthSettings, EnvironmentMoves};
use crate::checkpoint::{CheckpointPolicy, Unusable};
use crate::cycle::{CycleOutcome, Goal};
use crate::delay_bounded::{DelayObserver, IterativeDelayBounding};
use crate::iterative_map::{CycleRounds, CycleSnapshot, cycles_by_depth};
use crate::model::Model;
use crate::observer::Settings;
use crate::outcome::Completeness;
use crate::schedule::{Scheduler, Situation, Step};
use fabius_base::StopReason;

/// Looks for cycles among the states within ever more steps.
///
/// In the result, bounds are numbers of steps, and [`crate::Coverage::EverySchedule`] means that no state waits for a larger bound. What
/// delays a loop costs is not asked. Of `depth`, increment and cut-off count. Keeps where it stands between rounds, and goes on from
/// there, if that is asked for.
///
/// # Errors
/// If there is a snapshot to go on from, and it cannot be one of this search.
pub fn depth_bounded_cycles<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    depth: &DepthSettings,
    goal: Goal,
    checkpoint: CheckpointPolicy<'_, CycleSnapshot>,
) -> Result<CycleOutcome<M::Label, M::Fault>, Unusable>
where
    M: Model,
    O: DelayObserver<M::Label, M::Fault>,
{
    let increment = depth.increment.max(1);
    let bounding = IterativeDelayBounding { first: increment, increment, last: depth.cut_off, choices: None };
    let rounds = CycleRounds { goal, bounding: &bounding };
    let mut outcome =
        cycles_by_depth(&mut EnvironmentMoves(model), &Unscheduled, observer, settings, rounds, checkpoint)?;
    if outcome.completeness == Completeness::Stopped(StopReason::Delays) {
        outcome.completeness = Completeness::Stopped(StopReason::Depth);
    }
    Ok(CycleOutcome { loop_delays: None, ..outcome })
}

/// The scheduler of a system without processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unscheduled;

impl<Label> Scheduler<Label> for Unscheduled {
    type State = ();

    fn start(&self, _: Situation<'_>) {}

    fn next(&self, (): &()) -> Option<u8> {
        None
    }

    fn delay(&self, (): &mut ()) {}

    fn step(&self, (): &mut (), _: &Step<'_, Label>) {}
}
