//! From a path that a search found to a counterexample that a person may see, and the ways to walk it again.
//!
//! [`confirm`] has the reference interpreter walk a path, [`elaborate()`] finds the run of the program as written behind one of
//! the optimised program, a [`KnownRun`] is a counterexample that can be written and confirmed again, an [`ExplorationTarget`] is that on which a run is walked step by step, and a [`Replay`] says what
//! became of a known run in a model that was edited since. [`compare_runs`] puts two runs beside one another, [`compare_versions`] those before and after a change.

pub mod comparison;
mod counterexample;
mod delays;
mod elaborate;
mod known_run;
mod replay;
mod target;
mod truth;

pub use comparison::{RunComparison, Version, VersionComparison, compare_runs, compare_versions};
pub use counterexample::{Counterexample, ErrorKind, FairRuns, Found, Shorter, check, confirm, place_of};
pub use elaborate::{Elaborated, elaborate};
pub use known_run::{BeyondRun, KnownDelays, KnownRun};
pub use replay::{
    Blocked, Followed, Identity, LassoVerdict, NamedStep, Replay, Retraced, Retracing, judge_lasso, name_steps,
    statements,
};
pub use target::{ExplorationTarget, Run, read_trail};
pub use truth::{claim_along, ribbon_along};
