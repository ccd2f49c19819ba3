//! Formulas: their automata and their claims.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod automata;
mod claims;
mod families;
mod ribbons;
mod sentences;
mod strengthened;
mod stutter;
mod words;
