//! A search in several processes of one machine.
//!
//! `fabius check --processes N` starts N times the same program ([`LocalPool`]), each with a part of the visited set
//! ([`worker::serve`]). Nothing listens: each of them has a socket to the process that started it, on its standard input, and
//! through that it is handed a socket to each of the others.
//!
//! * [`exchange`]: the batches and rounds of a search ([`fabius_search::partition::Exchange`]) on Timely Dataflow.
//! * [`message`]: what a worker and the process that started it tell each other.
//! * [`pool`]: starts workers and watches them. A worker that is gone or does not answer ends the search; none is left behind.
//! * [`worker`]: the other end.
//!
//! What is searched and what it means is the engine's business.

#![cfg(unix)]

pub mod exchange;
mod message;
pub mod pool;
mod sockets;
pub mod worker;

pub use pool::LocalPool;
