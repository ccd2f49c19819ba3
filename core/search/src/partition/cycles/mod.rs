//! Search for cycles by several partitions: maximal accepting predecessors.
//!
//! Depth-first orders cannot be kept by partitions that send each other states, so cycles are found by values that are handed on
//! along edges, in any order (Brim, Černá, Moravec, Šimša, *Accepting Predecessors Are Better than Back Edges in Distributed LTL
//! Model-Checking*, FMCAD 2004; the same is done by one thread or several in [`crate::iterative_map`]):
//!
//! ```text
//! store all states, breadth first                                                 (super::search)
//! whenever there are twice as many, and at the end:
//!   part(s) := whole for each state s that was expanded
//!   while some part is not null:
//!     trim: as long as there is one, part(s) := null for an s that no edge enters from its own part      (waves::{Enter, Trim})
//!     fine := null;  for each s, t of the same part:                                                      (waves::Raise)
//!       fine(t) ≥ t if an accepting edge s → t;  fine(t) ≥ fine(s) if an edge s → t
//!       an accepting edge s → t with fine(s) = t closes a cycle
//!     part := fine where part is not null
//! ```
//!
//! States are ordered by their numbers in their partitions, and those with the same number by the partition; null is below all, whole
//! above all. fine(t) is the greatest accepting predecessor of t in its part. All states of a cycle have the same, so a cycle never
//! leaves its part, and what trimming takes out is on none. A part whose root t is not entered by an accepting edge from the inside has
//! smaller roots in the next pass, and if it is, from s, then fine(s) = t. So values fall, the passes end, and a cycle is met if there
//! is one.
//!
//! Where no step is accepting, there are no roots, and nothing is to be done.
//!
//! A cycle among the states that were expanded is a cycle of the model, so it need not be waited for all of them. Which states these
//! are does not depend on the number of partitions, and neither does whether they have a cycle: the answer and the counters are the
//! same for any number of them, unless a limit of states cuts the search off. Which cycle is met first does depend on it.
//!
//! A snapshot holds the end of a layer, and when cycles are looked for next; a look that was interrupted is repeated.
//!
//! Successors are computed again in each wave and not kept: an edge would take more memory than a state. Only ordinary states have
//! values. Where transient states alone form a cycle, the partition sees it when it expands the ordinary state before them
//! ([`transient`]).

mod edges;
mod path;
mod replay;
mod spread;
mod transient;
mod waves;

pub use replay::replay_cycle;

use super::Reached;
use super::checkpoint::{More, PartRequest};
use super::exchange::{Exchange, ExchangeError};
use super::search::{PartStore, Partition, can_go_on};
use super::way::{CycleWay, Ways};
use crate::cycle::Goal;
use crate::model::{Marks, Model};
use crate::observer::{Observer, Settings};
use crate::outcome::Completeness;
use crate::state_log::StateLog;
use crate::store::{Inserted, TreeStore};
use fabius_base::StopReason;
use spread::{End, Spread};
use std::ops::ControlFlow;

/// Number of states at which cycles are looked for the first time, unless somebody chooses another one.
pub const FIRST_LOOK_STATES: u64 = 8192;
/// Numbers of the states of a partition are smaller.
const NUMBERS_MAX: u64 = u32::MAX as u64 - 1;

/// With each state its number, plus 1.
impl PartStore for TreeStore<u32> {
    #[inline]
    fn commit_as(&mut self, probe: Self::Probe, number: u64) -> Inserted {
        let (inserted, entry) = self.commit_entry(probe);
        if inserted == Inserted::New {
            *entry = (number + 1) as u32;
        }
        inserted
    }
}

/// Which cycles are looked for, and when.
#[derive(Clone, Copy, Debug)]
pub struct CycleLook {
    /// Which cycles.
    pub goal: Goal,
    /// Number of states at which they are looked for the first time, usually [`FIRST_LOOK_STATES`].
    pub first_states: u64,
}

/// Where a partition keeps where states came from.
pub struct CycleWays<'w, W> {
    /// From the initial state, …
    pub stem: &'w mut W,
    /// … and on a cycle.
    pub cycle: &'w mut W,
}

/// Searches for cycles among the states that belong to one partition; every partition of a search calls this, with the same model,
/// settings and cycles to look for, and an empty store.
///
/// Limits on states and memory are for all partitions together; they are looked at once in a round. Snapshots hold the ends of layers;
/// what is calculated to find a cycle is not kept, and calculated again. Either all partitions go on from snapshots of the same search,
/// or none does, and the same holds of keeping snapshots.
///
/// # Errors
/// If another partition is gone, or sent what it cannot have sent; if a snapshot is none of this search.
pub fn cycles<'a, M: Model, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>>(
    model: &'a mut M,
    store: &'a mut TreeStore<u32>,
    ways: CycleWays<'a, W>,
    exchange: &'a mut X,
    observer: &'a mut O,
    settings: &'a Settings,
    request: PartRequest<'a, CycleLook, M, W>,
) -> Result<Reached, ExchangeError> {
    let PartRequest { target: look, checkpoints } = request;
    let hidden = model.hidden_words();
    let mut partition = Partition::new(model, store, ways.stem, exchange, observer, settings);
    partition.ends_count = false;
    partition.numbers_max = NUMBERS_MAX;
    partition.all_states = Some(StateLog::new(hidden));
    partition.keeper = checkpoints.keep;
    let (mut layer, mut look_at) = match checkpoints.from {
        Some((snapshot, ways)) => {
            let More::Cycles { marks, look_at } = snapshot.more else { return Err(ExchangeError::Unusable) };
            partition.marks = marks;
            (partition.resume(snapshot, ways)?, look_at)
        }
        None => (partition.begin()?, look.first_states),
    };
    // Where the layer ended that was finished last, unless that was kept.
    let mut unkept = None;
    loop {
        let is_due = match &layer {
            ControlFlow::Continue(agreed) => {
                unkept = partition.snapshot(More::Cycles { marks: partition.marks, look_at });
                if agreed.checkpoint_is_due {
                    partition.keep(unkept.take());
                }
                look_at <= agreed.states
            }
            ControlFlow::Break(ended) => has_all_edges(*ended),
        };
        let found = if is_due { look_for_cycle(&mut partition, look.goal, ways.cycle)? } else { None };
        let completeness = match (&found, &layer) {
            (Some(Ok(_)), _) => Completeness::FirstViolation,
            (Some(Err(reason)), _) => Completeness::Stopped(*reason),
            (None, ControlFlow::Break(ended)) => *ended,
            (None, ControlFlow::Continue(agreed)) => {
                if is_due {
                    look_at = 2 * agreed.states;
                    unkept = partition.snapshot(More::Cycles { marks: partition.marks, look_at });
                }
                layer = partition.expand_next_layer(agreed)?;
                continue;
            }
        };
        if can_go_on(completeness) {
            partition.keep(unkept);
        }
        let reached = partition.conclude(completeness)?;
        return Ok(Reached { cycle: found.and_then(Result::ok), ..reached });
    }
}

/// The way to a cycle among the states that were expanded, if there is one; or why it was not looked for to the end.
fn look_for_cycle<M: Model, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>>(
    partition: &mut Partition<'_, M, TreeStore<u32>, W, X, O>,
    goal: Goal,
    ways: &mut W,
) -> Result<Option<Result<CycleWay, StopReason>>, ExchangeError> {
    if !may_have_cycle(partition, goal)? {
        return Ok(None);
    }
    let mut spread = Spread::new(partition, goal);
    let found = match spread.look_for_cycle()? {
        End::Closing(closing) => Some(spread.way_of(closing, ways)?),
        End::Stopped(reason) => Some(Err(reason)),
        End::Done => None,
    };
    partition.beside_bytes = 0;
    Ok(found)
}

/// Whether some partition met a step that a cycle needs.
fn may_have_cycle<M: Model, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>>(
    partition: &mut Partition<'_, M, TreeStore<u32>, W, X, O>,
    goal: Goal,
) -> Result<bool, ExchangeError> {
    let is_met = goal == Goal::Livelock || partition.marks.has(Marks::ACCEPTING);
    let (agreed, _) = partition.end_round(u64::from(is_met), &[])?;
    Ok(0 < agreed.waiting)
}

/// Whether every successor of a state that was expanded is stored, and there is reason to look for a cycle among them.
fn has_all_edges(ended: Completeness) -> bool {
    matches!(ended, Completeness::Exhaustive | Completeness::Stopped(StopReason::States | StopReason::Depth))
}
