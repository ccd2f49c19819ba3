//! Partial-order reduction: which processes it is enough to let move in a state, and when that is not enough.
//!
//! A *closed* set of processes contains, with each of its processes, all that this one requires: those that
//! may do, now or later, something that does not commute with what it can do now, and those that may bring
//! about what it waits for. A closed set in which something can be done is a *strong stubborn set*
//! (Valmari): whatever the others do first, it could as well have been done after the set's step. Which
//! processes require which is for the model to say; see [`stubborn`].
//!
//! A search that lists only such steps reaches every state in which nothing can move. To preserve more,
//! some states must be expanded beyond it: see [`proviso`].

pub mod proviso;
pub mod stubborn;

pub use proviso::OffStack;
pub use stubborn::{Requirements, smallest_closed_set};
