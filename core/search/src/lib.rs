//! Search algorithms and visited sets. Nothing in here knows a modelling language or a machine:
//! only the traits in [`model`].
//!
//! * [`depth_first`] and [`breadth_first`] are the algorithms; each is a function that takes a
//!   [`Model`], a [`Store`], an [`Observer`] and [`Settings`], and returns an [`Outcome`].
//! * [`near`] has the states near a path, among which a shorter one is looked for.
//! * [`best_first`] looks for deadlocks where a guide expects them.
//! * [`cycle`] has the searches for runs that go on for ever: acceptance cycles and livelocks.
//! * [`executions`] counts and lists executions up to the order of independent steps.
//! * [`sleep`] tells how [`parallel`] takes few of the transitions that lead to known states.
//! * [`restrict`] computes under which schedules a model is safe.
//! * [`store`] holds the visited sets, lossless and lossy; what a lossy one may miss is part of the
//!   outcome, and [`store::Lossless`] says it in the type.
//! * [`toy`] has small explicit graphs with known answers.
//!
//! This crate reads no clock, file or environment and prints nothing. Its only `unsafe` code is the
//! wrapper around the memory of big tables, in [`store`], and the comparison of several words at a time.

mod arrivals;
pub mod best_first;
pub mod breadth_first;
pub mod checkpoint;
pub mod cycle;
pub mod delay_bounded;
pub mod depth_bounded;
pub mod depth_first;
mod dfs_stack;
pub mod executions;
mod expansion;
pub mod iterative_map;
mod macro_stack;
pub mod model;
pub mod near;
mod numbered_states;
pub mod observer;
mod origins;
pub mod outcome;
pub mod parallel;
pub mod partition;
pub mod position;
pub mod reduce;
pub mod restrict;
pub mod schedule;
pub mod sleep;
pub mod snapshot;
mod state_log;
pub mod store;
mod sync;
mod threads;
pub mod toy;
mod words;

pub use breadth_first::breadth_first;
pub use cycle::{CycleOutcome, Fairness, Found, Goal};
pub use depth_first::{DepthFirstSnapshot, depth_first, resumable_depth_first};
pub use model::{Details, Ending, Learning, Listed, Marks, Model, Next, ProcessSet, Processes, Reducible};
pub use near::{Near, visit_along};
pub use observer::{Observer, Quiet, Settings};
pub use outcome::{
    Completeness, Coverage, Outcome, Round, SampleStatistics, SearchOutcome, Statistics, StopAt, Violation,
    ViolationKind,
};
pub use position::Position;
pub use sleep::Asleep;
pub use snapshot::{Phase, Rejected, Rejection, SearchSnapshot, SnapshotRequest};
pub use store::{BitstateStore, Exactness, FingerprintStore, Store, TreeStore};
