//! Results as a person reads them. Everything is written in colour; who wants none strips it.

pub mod advice;
pub mod choices;
pub mod compared;
pub mod differences;
pub mod findings;
pub mod numbers;
pub mod orders;
pub mod paint;
pub mod schedule;
pub mod searches;
pub mod text;
