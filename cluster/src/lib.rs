//! A search in several processes, of one machine or of several.
//!
//! `fabius check --processes N` starts N times the same program ([`LocalPool`]), each with a part of the visited set
//! ([`worker::serve`]). Nothing listens: each of them has a socket to the process that started it, on its standard input, and
//! through that it is handed a socket to each of the others. Where [other machines](remote) take part, they start the same processes, and
//! what these write to their sockets is carried over encrypted connections.
//!
//! * [`exchange`]: the batches and rounds of a search ([`fabius_search::partition::Exchange`]) on Timely Dataflow.
//! * [`message`]: what a worker and the process that checks tell each other.
//! * [`pool`]: watches workers. One that is gone or does not answer ends the search; none is left behind.
//! * [`local`]: starts workers on this machine.
//! * [`remote`]: starts them on other machines.
//! * [`checkpoint`]: what workers keep of a search, in files of the process that checks.
//! * [`worker`]: the other end; where its states came from is in a file ([`way_log`]).
//!
//! What is searched and what it means is the engine's business.

#![cfg(unix)]

mod checkpoint;
pub mod exchange;
mod local;
mod message;
mod pool;
pub mod remote;
mod sockets;
mod way_log;
pub mod worker;

pub use local::{LocalPool, Program};
pub use pool::WORKERS_MAX;
