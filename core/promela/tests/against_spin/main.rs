//! The front end against Spin: what it accepts, and the automata it builds.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the test runs Spin and says what it compared"
)]

mod accepted;
mod formulas;
mod spin;
mod tables;
#[path = "../../../program/tests/ltl/words.rs"]
#[expect(dead_code, reason = "random formulas are for others")]
mod words;
