//! Searches by several threads.
//!
//! * [`reach`] looks for violations of safety,
//! * [`dfs_fifo`] for livelocks,
//! * [`cndfs`] for acceptance cycles, [`faults`] where no transition is accepting.
//!
//! It is the caller who chooses how many threads there are, and whose own thread is the first of them; this module starts
//! the others with [`std::thread::scope`], and none of them outlives the call. Each has a clone of the model. The observer is spoken
//! to by the caller's thread only.
//!
//! The visited set is shared and lossless; see [`store`]. Each thread has its own stack and its own work; see
//! [`pool`] for how they share it. Which of several cycles or paths is found depends on the threads' pace. Whether
//! there is one does not, nor does the number of states where everything was looked at.

mod alone;
mod apart;
mod arena;
mod cndfs;
mod dfs_fifo;
mod explorer;
mod faults;
mod pool;
mod queue;
mod reach;
mod share_out;
mod store;
#[cfg(test)]
mod tests;
mod trace;
mod traversals;
mod watch;
mod worker_pool;

pub use cndfs::{Nested, cndfs};
pub use dfs_fifo::{Levels, dfs_fifo};
pub use faults::faults;
pub use reach::{Reached, Visited, reach};
pub use store::SharedTree;
pub use worker_pool::WorkerStatistics;
