//! Promela in, [`fabius_program::Program`] out. Whatever stands behind asks [`Promela`], one of the languages of
//! [`fabius_language`].

pub mod ast;
mod expectations;
mod flow;
pub mod format;
mod language;
mod lex;
mod lossy;
pub mod lower;
mod mutate;
mod names;
mod optimise;
mod parse;
mod pragma;
mod preprocess;
mod query;
mod restrain;
mod seals;
mod sweeps;
mod syntax;
mod token;
mod types;

pub use language::Promela;
pub use lower::{Options, lower, lower_with};
pub use syntax::{Parsed, parse, parse_with};

use expectations::expectations;
use mutate::mutants;
use seals::sealed_stretches;
use sweeps::sweeps;
