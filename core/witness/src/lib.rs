//! The referee and the explainer: a second, slow, obvious interpreter walks every path before a
//! person sees it, and turns it into a trace that says what happened and why.
//!
//! This crate knows neither the machine nor the searches whose results it judges.

pub mod accesses;
pub mod blocked;
pub mod confirm;
pub mod deciding;
pub mod diagram;
pub mod explain;
pub mod footprint;
pub mod format;
pub mod infinite;
pub mod interpret;
pub mod notes;
pub mod release;
pub mod shorten;
pub mod show;
pub mod state;
pub mod steps;
pub mod trace;

mod effects;
mod evaluate;
mod execute;
mod loop_summary;
mod observe;
mod propositions;
mod reads;
mod round;
mod values;

pub use blocked::{ProcessStatus, Reason, Waiting, process_statuses};
pub use confirm::{Claim, CycleClaim, Disagreement, check_watching, confirm, confirm_watching, states_along};
pub use evaluate::{Overflow, Unreadable, value_of};
pub use execute::{Event, Happening, StoredAt};
pub use explain::{Cause, Explanation, explain};
pub use infinite::{InLoop, InfiniteRun, Role, RunFairness, explain_loop};
pub use interpret::{
    Ending, Moves, Outcome, Refusal, Taken, enabled, ending, marks, moves, released, settled, step, stops_accepting,
    stuttered,
};
pub use notes::{Note, NoteKind};
pub use propositions::{Mover, look_along, propositions};
pub use reads::reads;
pub use shorten::{essential, shorten};
pub use state::{ChannelState, ClaimState, NextMover, ProcessState, State, TraceState};
pub use steps::{Outline, Steps};
pub use trace::{
    Actor, Change, Changed, ClaimMove, Created, HeldBack, Message, Snapshot, Step, Trace, describe, snapshot,
};
pub use values::{Shared, Values};
