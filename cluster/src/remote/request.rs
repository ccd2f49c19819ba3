//! What is said on a new connection before batches are carried over it.

use serde::{Deserialize, Serialize};

/// Names a search; nobody can guess it.
pub(super) type SearchId = [u8; 16];

/// What the side that dialled asks for.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// Keep a worker ready for a search. This connection will be to it.
    Work {
        /// The version of the program that asks.
        version: String,
        search: SearchId,
        /// The number of the worker, from 0.
        me: u32,
        /// Where each of the workers is asked for.
        addresses: Vec<String>,
    },
    /// Connect it with all others, and start it.
    Start,
    /// This connection is between two workers of a search.
    Join { search: SearchId, from: u32, to: u32 },
}

/// What the side that listens answers.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// It is done.
    Done,
    /// The worker is kept ready, and may use so many bytes of memory.
    Ready { memory_bytes_max: u64 },
    /// It cannot be done before another search is over; half a sentence says whose.
    Busy(String),
    /// It is not done; half a sentence says why.
    Refused(String),
}
