//! A verification task as plain data: what is asked, and what is answered.
//!
//! [`load`] reads the text of a model into a [`Loaded`] program with findings; [`plan`] says which properties it has; [`Settings`]
//! hold what a person chose; [`query`] puts a property into the form that a search answers; a [`Report`] says what came out.
//!
//! Nothing in here searches, reads a file or a clock, prints, or starts a thread: text comes through a function.

pub mod condition;
pub mod languages;
pub mod load;
pub mod meaning;
pub mod mutants;
pub mod option;
pub mod pattern;
pub mod plan;
pub mod pool;
pub mod query;
pub mod report;
pub mod scheduler;
pub mod settings;
pub mod waits;
pub mod words;

pub use fabius_language::{Parameter, WrittenSweep};
pub use languages::{LANGUAGES, language_of};
pub use load::{Include, Loaded, ModelText, Project, formula_name, load, load_until, misconfigured, unreadable};
pub use meaning::{SemanticDigest, SourceProgram, meaning, meaning_of_property};
pub use plan::{Plan, Planned, Question, SAFETY, UnknownProperty, plan};
pub use query::{CycleSearch, LivenessQuery, event_trace};
pub use report::{PropertyReport, Report, TOOL, VERSION, Verdict, ViolationReport, internal_error};
pub use settings::{Cycles, DelayMode, Delaying, Fairness, Order, SchedulerChoice, Settings, Storage};
