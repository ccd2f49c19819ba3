//! Traces for people and for other tools.

pub mod itf;
pub mod json;
pub mod ribbon;
pub mod text;
pub mod trail;
