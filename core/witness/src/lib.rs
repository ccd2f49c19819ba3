//! The referee and the explainer: a second, slow, obvious interpreter walks every path before a
//! person sees it, and turns it into a trace that says what happened and why.
//!
//! This crate knows neither the machine nor the searches whose results it judges.

pub mod interpret;
pub mod state;

mod evaluate;
mod execute;
mod show;

pub use execute::{Event, Happening};
pub use interpret::{Ending, Moves, Outcome, Refusal, ending, moves, released, step};
pub use state::{ChannelState, ProcessState, State};
