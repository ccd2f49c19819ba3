//! Walking through a model by hand: what the terminal explorer and the debug adapter stand upon.
//!
//! [`Exploration`] is a session on one model. It has no screen, no protocol and no thread: every call does its work and
//! returns plain data; what may take long has a limit and can be cancelled. Nothing in here panics on any input.
//!
//! ```text
//! let mut e = Exploration::of_model(loaded, None)?;             // or of_counterexample(loaded, &example, "safety")
//! for choice in e.choices() { … }                               // every possible step, with its effect and a mark
//! e.choose(&choice)?;  e.back();  e.forward();  e.go(node);     // a tree: back and another choice makes a branch
//! e.undo();  e.redo();                                          // everything: moves, holds, names, adopted runs
//! ```
//!
//! * **The tree** ([`NodeId`]): a node is a state that was reached, with the step that led there
//!   ([`Exploration::step_to`]). [`Exploration::here`] is where one is; the [`Exploration::line`] is the run on which
//!   `forward` and `back` go: from the initial state through here to a tip. A counterexample, a trail or a saved trace
//!   comes in as a path ([`Exploration::adopt`]) and becomes a line ([`Exploration::follow`]). Nodes have names
//!   (bookmarks). A line that runs into a cycle has a [`Lasso`].
//! * **What is there** : [`Exploration::choices`], [`Exploration::processes`] (enabled, or blocked with the reason and
//!   who could change it), [`Exploration::variables`] (with the value before the last step), [`Exploration::arrows`]
//!   (messages from the step that sent them), [`sentence`] (a step in words).
//! * **What lies ahead**: [`Exploration::charting`] says what is worth drawing, [`GraphRequest::run`] draws it (on whatever
//!   thread), [`Exploration::learn_chart`] takes it over; [`Choice::mark`] says then what can still go wrong, and how soon.
//! * **Driving**: [`Exploration::run`] forward and [`Exploration::run_back`] until anything; [`Exploration::run_until`] a
//!   [`Condition`] in the model's own words, [`Exploration::run_to`] a [`Place`] (a line), at random with a seed. A [`Pattern`] is about
//!   the states before as well: *until `x > 1 after y == 2`*.
//! * **Holding**: [`Exploration::hold`] keeps a process from moving in automatic runs and searches, until released, until a
//!   condition holds, or for this many steps of others (a delay); a step by hand is still possible, and
//!   [`Choice::held`] warns of it. [`Exploration::seal`] forbids delays. [`Exploration::follow_schedule`] keeps
//!   from moving whoever has to wait under a schedule under which the model is safe; [`Exploration::schedule_search`] finds one.
//! * **Searching** from here with these holds: [`Exploration::search_request`] packs what a search needs, [`SearchRequest::run`] does it
//!   (on whatever thread), and [`Exploration::learn_answer`] puts what it found into the tree. A [`LocalAnswer`] is about one
//!   state and the processes held there, never about the model: [`Exploration::answer_here`].
//! * **Delays** under a scheduler: [`Exploration::delays`] (where the line delays it), [`Exploration::toggle_delay`] (does
//!   the error still happen?), [`Exploration::needed_delays`] (which ones it needs), [`Exploration::let_choose`].
//! * **Understanding**: [`Exploration::essential`] (*6 of 37*), [`Exploration::writers`] (who wrote a value, back through
//!   messages), [`Exploration::explain_loop`], [`Exploration::explain_deadlock`], [`Exploration::alternative`] (other runs to the same error).
//!   [`Exploration::compare`] (two branches beside one another), [`Exploration::ribbon`] (where the formula of the property holds along the run).
//! * **Files**: [`Exploration::save`] and [`Exploration::reopen`], also onto a model that was edited since;
//!   [`Exploration::of_trail`] for Spin's trails.

mod analysis;
mod choice;
mod compare;
mod condition;
mod delay;
mod drive;
mod file;
mod forecast;
mod graph;
mod hold;
mod local;
mod narrative;
mod owner;
mod pattern;
mod schedule;
mod session;
mod tree;
mod truth;
mod view;

pub use fabius_analysis::schedule::{MustWait, SafeSchedule};

pub use analysis::{Alternative, AlternativeSearch, Essential, OtherRun, Path, Write};
pub use choice::{Choice, SuccessorHint, is_assertion, is_of_claim};
pub use condition::Condition;
pub use delay::{Delays, Needed, Rerun};
pub use drive::{Place, RunLimits, Stop, Way};
pub use file::{Reopened, TraceFile};
pub use forecast::GraphRequest;
pub use hold::{Hold, Seal, Until};
pub use local::{Local, LocalAnswer, Scope, SearchRequest};
pub use narrative::sentence;
pub use pattern::{Matches, Pattern};
pub use schedule::{ScheduleFound, ScheduleSearch};
pub use session::{Exploration, Lasso};
pub use tree::NodeId;
pub use view::{Arrow, ProcessView, Role, Value};
