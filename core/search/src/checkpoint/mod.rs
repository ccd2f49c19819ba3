//! Where a search that goes by rounds stands, so that it can go on another day.
//!
//! A snapshot holds no states. It holds the way to each: the state (or pair of states) it was first met from, and by which turn.
//! Whoever resumes a search walks these ways once, and has every state and every state of the scheduler again, whatever store keeps
//! them. Beside them it holds what waits, in the order in which it would have gone on. So a search that is resumed does
//! exactly what it would have done.
//!
//! Each search has a snapshot of its own; what they have in common is here.

mod bytes;
mod retrace;

pub(crate) use bytes::{Bytes, Written};
pub(crate) use retrace::{Retraced, Visit, retrace};

/// Where a search stands.
pub trait Snapshot: Sized {
    /// The snapshot as bytes.
    fn to_bytes(&self) -> Vec<u8>;

    /// The snapshot that these bytes are; `None` if they are none.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

/// What is to be kept of a search, and where it is to go on.
pub struct Keeping<'a, S> {
    /// Where it stood; without it, it starts at the beginning.
    pub from: Option<&'a S>,
    /// Is given a snapshot after each round that leaves something to do, and where the search ends before that.
    pub keep: &'a mut dyn FnMut(S),
}

/// A snapshot does not belong to this model and scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unusable;
