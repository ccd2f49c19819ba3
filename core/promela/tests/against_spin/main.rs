//! The front end against Spin: what it accepts, and the automata it builds.

mod accepted;
mod spin;
mod tables;
