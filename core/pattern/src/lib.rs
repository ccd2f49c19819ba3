//! Patterns over the past of a run, such as `x > 1 after y == 2`: linear temporal logic whose operators look back.
//!
//! [`read`] takes a text apart into operators over the past and what stands between them, which is left to whoever knows the
//! language of the model. [`Past`] says what a pattern means; [`Monitor`] decides it step by step, with a few bits of memory.
//!
//! The positions of a run are its states: the initial state, and the state after each step.

mod monitor;
mod past;
mod text;

pub use monitor::Monitor;
pub use past::{Past, Unary};
pub use text::{Operand, read};
