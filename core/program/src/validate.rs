//! The invariants of a program.
