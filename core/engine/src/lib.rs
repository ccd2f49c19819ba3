//! The front door: from the text of a model to a report of what was found out about it.
//!
//! [`load`] reads the text, [`check`] plans, searches, has every counterexample confirmed by the
//! reference interpreter, and returns an [`Outcome`]. What happens meanwhile is told as [`Event`]s.
//!
//! Nothing in here reads a file or a clock, prints, or starts a thread: text comes through a
//! function, time and cancellation through [`CheckContext`].

pub mod event;
pub mod executions;
pub mod report;
pub mod schedule;
pub mod settings;
pub mod strategy;
pub mod words;

mod chart;
mod checkpoint;
mod co_reachable;
mod condition;
mod counterexample;
mod dead_code;
mod deepening;
mod delayed;
mod elaborate;
mod engine_observer;
mod fewest_switches;
mod growth;
mod liveness;
mod load;
mod look;
mod meaning;
mod plan;
mod portfolio;
mod replay;
mod run;
mod safety;
mod search_from;
mod shortest;
mod starvation;
mod survey;
mod target;
mod task;

pub use chart::{Forecast, LocalStateGraph, chart};
pub use co_reachable::{CoReachability, Line, co_reachable};
pub use condition::condition;
pub use counterexample::Counterexample;
pub use dead_code::DEAD_CODE_MAX;
pub use delayed::{DelayPoint, RunEnd, ScheduledRun, Scheduling, delays_of, rerun};
pub use event::{Event, Goal, Progress};
pub use fabius_promela::nearest;
pub use fewest_switches::{as_counterexample, fewest_switches};
pub use load::{Include, Loaded, Project, load, load_until, misconfigured, unreadable};
pub use look::{Controls, Look, LookStep, RejectedCycle, as_walked};
pub use meaning::{SemanticDigest, SourceProgram, meaning};
pub use plan::{Plan, Planned, Question, SAFETY, UnknownProperty, plan};
pub use replay::{Blocked, Identity, NamedStep, Replay, Retraced, Retracing, name_steps, statements};
pub use report::{PropertyReport, Report, TOOL, VERSION, Verdict, ViolationReport};
pub use run::{CheckContext, Outcome, check, crashed};
pub use search_from::{SearchedFrom, search_from};
pub use settings::{Cycles, DelayMode, Delaying, Fairness, Order, SchedulerChoice, Settings, Storage};
pub use starvation::hints_about as hints;
pub use strategy::suited;
pub use survey::{Held, Seen, Survey, survey};
pub use target::{ExplorationTarget, Run, read_trail};
