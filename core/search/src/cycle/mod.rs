//! Searches for cycles: runs that go on for ever and are accepted, or make no progress.
//!
//! * [`nested_dfs`]: acceptance cycles, whoever schedules.
//! * [`dfs_fifo`]: livelocks, whoever schedules, with the fewest progress events before them.
//! * [`components`]: both, also for fair schedulers only.

pub mod components;
pub mod dfs_fifo;
mod frontier;
pub mod nested_dfs;
pub mod outcome;
mod proviso;
mod stem;
mod sums;
mod watch;
mod ways;

pub use components::components;
pub use dfs_fifo::{Order, dfs_fifo};
pub use nested_dfs::nested_dfs;
pub use outcome::{CycleOutcome, Fairness, Found, Goal};
pub use proviso::{CycleProviso, Proviso, Whole};
