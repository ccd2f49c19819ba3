//! What every other crate of Fabius shares: places in source text, findings about them,
//! limits, and cancellation.
//!
//! This crate never reads a file, a clock or the environment, and it never prints.

pub mod cancel;
pub mod codes;
pub mod components;
pub mod finding;
pub mod limits;
pub mod nearest;
pub mod source;
pub mod threads;

pub use cancel::{Cancel, StopReason};
pub use codes::Code;
pub use finding::{Finding, Label, Severity};
pub use limits::Limits;
pub use nearest::nearest;
pub use source::{Expansion, ExpansionId, ExpansionKind, FileId, Original, SourceMap, Span};
pub use threads::reserve_thread;
