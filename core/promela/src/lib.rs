//! Promela in, [`fabius_program::Program`] out.

pub mod ast;
mod expectations;
mod flow;
pub mod format;
mod lex;
pub mod lower;
pub mod mutate;
mod names;
mod optimise;
mod parse;
mod pragma;
mod preprocess;
pub mod query;
pub mod restrain;
mod seals;
mod syntax;
mod token;
mod types;

pub use expectations::{Expectation, complaint as expectation_complaint, expectations};
pub use lower::{Lowered, Options, lower, lower_with};
pub use names::nearest;
pub use preprocess::{Loader, NoLoader, OutsideFormula};
pub use seals::{SealKind, SealedStretch, sealed_stretches};
pub use syntax::{Parsed, parse, parse_with};
