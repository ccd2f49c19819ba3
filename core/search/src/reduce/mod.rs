//! Partial-order reduction: which processes it is enough to let move in a state, and when that is not enough.
//!
//! A *closed* set of steps contains, with each step that can be taken, whatever another process may do, now or
//! later, that does not commute with it; and with each step that cannot be taken yet, whatever may bring
//! about what it waits for. A closed set in which something can be taken is a *strong stubborn set*
//! (Valmari): whatever the others do first, it could as well have been done after the set's step. What requires
//! what is for the model to say; see [`stubborn`].
//!
//! A search that lists only such steps reaches every state in which nothing can move. To preserve more,
//! some states must be expanded beyond it: see [`proviso`].

pub mod proviso;
pub mod stubborn;

pub use proviso::OffStack;
pub use stubborn::{Alternatives, Closer, Requirements};
