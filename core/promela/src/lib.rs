//! Promela in, [`fabius_program::Program`] out.

pub mod ast;
