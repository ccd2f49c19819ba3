//! x
pub mod findings;
