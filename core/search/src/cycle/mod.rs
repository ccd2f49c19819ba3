//! Searches for cycles: runs that go on for ever and are accepted, or make no progress.
//!
//! * [`nested_dfs`]: acceptance cycles, whoever schedules.
//! * [`dfs_fifo`]: livelocks, whoever schedules, with the fewest progress events before them.
//! * [`components`]: both, also for fair schedulers only.
//! * [`shorter_lasso`]: a run with fewer steps than one that was found depth first.
//! * [`shortest`]: a run with the fewest steps, once one is known.
//! * [`shortcuts`]: a run with fewer steps than a long one that is known.
//! * [`non_progress`]: livelocks as acceptance cycles, for comparison.
//! * [`transient_cycles`]: cycles of transient states, of which the others say nothing.

mod acceptance_summary;
pub mod components;
pub mod dfs_fifo;
mod frontier;
mod laid;
mod lasso;
pub mod nested_dfs;
pub mod non_progress;
pub mod outcome;
mod paths;
mod proviso;
pub mod shortcuts;
pub mod shortest;
mod stem;
pub mod transient_cycles;
mod watch;

pub use components::components;
pub use dfs_fifo::{Order, dfs_fifo};
pub use lasso::shorter_lasso;
pub use nested_dfs::nested_dfs;
pub use non_progress::NonProgress;
pub use outcome::{CycleOutcome, CycleQuestion, Fairness, Found, Goal};
pub use proviso::{CycleProviso, NoReduction, Proviso};
pub use shortcuts::shortcuts;
pub use shortest::{Shortest, ShortestBounds, shortest};
pub use transient_cycles::TransientCycles;
