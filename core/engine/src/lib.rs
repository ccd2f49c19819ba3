//! From the text of a model to a report of what was found out about it.
//!
//! [`load`] reads the text, [`check`] plans, searches, has every counterexample confirmed by the
//! reference interpreter, and returns an [`Outcome`]. What happens meanwhile is told as [`Event`]s.
//!
//! Nothing in here reads a file or a clock, or prints: text comes through a function, time and cancellation through
//! [`CheckContext`]. Threads are started where the settings allow more than one.

pub mod contexts;

mod deepening;
mod delayed;
mod endless_atomic;
mod executed;
mod liveness;
mod near;
mod outcome;
pub mod partitioned;
mod portfolio;
mod prepared;
mod prune;
mod reachable;
mod reducing;
mod resumable;
mod run;
mod safety;
mod schedule;
mod search_from;
mod searches;
mod shortest;
pub mod sweep;
mod task;
mod together;
mod unconfirmed;
mod vacuity;
mod visit_first;

pub use executed::Executed;
pub use fabius_base::nearest;
pub use fabius_checkpoint::{CheckpointSummary, is_checkpoint};
pub use fabius_counterexample::{Counterexample, ExplorationTarget, KnownRun, Run, comparison};
pub use fabius_model::Boundary;
pub use fabius_observe::{
    self as event, CheckContext, Controls, Event, Goal, Look, LookStep, Progress, RejectedCycle, as_walked,
};
pub use fabius_schedulers::{DelayPoint, RunEnd, ScheduledRun, Scheduling, delays_of, rerun};
pub use fabius_strategy::{self as strategy, suited};
pub use fabius_task::{
    Cycles, DelayMode, Delaying, Fairness, Include, LANGUAGES, Loaded, ModelText, Order, Plan, Planned, Project,
    PropertyReport, Question, Report, SAFETY, SchedulerChoice, Settings, Storage, TOOL, UnknownProperty, VERSION,
    Verdict, ViolationReport, formula_name, language_of, languages, load, load_until, misconfigured, plan, pool,
    report, settings, unreadable, words,
};
pub use outcome::{Outcome, crashed};
pub use prune::boundary;
pub use run::check;
pub use schedule::add_schedule;
pub use search_from::{SearchedFrom, search_from};
pub use vacuity::vacuity_finding;
pub use visit_first::check_visit_first;
