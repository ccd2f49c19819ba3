//! A program as a model that searches understand: its machine behind the trait, whole or reduced.
//!
//! [`SearchedMachine`] lists all steps of a program; [`reduction::Reduced`] lists those that suffice for a question. What a
//! search for infinite runs could not follow stands in [`CutRuns`], where it stopped in [`Boundary`], what it
//! visited first in [`Preference`]; [`Budget`] counts how much work may still be done.

mod adapter;
mod boundary;
mod budget;
pub mod configurations;
mod cut_runs;
mod preference;
pub mod reduction;
mod sleep;

pub use adapter::{Places, SearchedMachine};
pub use boundary::Boundary;
pub use budget::{Budget, listed};
pub use cut_runs::CutRuns;
pub use preference::Preference;
