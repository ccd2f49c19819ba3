//! The language server as an editor meets it: the real binary over standard input and output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

mod causes;
mod client;
mod compared;
mod conversation;
mod costs;
mod damage;
mod deadlocks;
mod details;
mod executions;
mod fairness;
mod false_parts;
mod features;
mod latency;
mod leave_out;
mod matches;
mod models;
mod mutants;
mod neovim;
mod originals;
mod queue;
mod ribbon;
mod schedules;
mod session;
mod settings;
mod steering;
mod sweeps;
mod verdicts;
#[expect(dead_code, reason = "how long it took is for the bench")]
mod waits;
mod workspace;

use models::{ENDLESS, FAILING, MENDED, uri};
