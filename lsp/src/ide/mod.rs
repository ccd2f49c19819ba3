//! The features of the editor as plain data, one file each. Nothing in here knows a protocol.
//!
//! Most answers about names come from the language of the text; what is added here is what checks found
//! out, and which file an answer is in.

pub mod actions;
pub mod costs;
pub mod deadlocks;
pub mod diagnostics;
pub mod executions;
pub mod formulas;
pub mod hints;
pub mod hover;
pub mod implementations;
pub mod inline_values;
pub mod lenses;
pub mod linked;
pub mod mutants;
pub mod names;
pub mod orders;
pub mod originals;
pub mod place;
mod questions;
pub mod renamed_files;
pub mod schedules;
pub mod sweeps;
pub mod types;

#[cfg(test)]
pub(crate) mod fixture;

pub use place::{Place, View};
