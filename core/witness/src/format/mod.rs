//! Traces for people and for other tools.

pub mod chart;
pub mod json;
pub mod text;
pub mod trail;
