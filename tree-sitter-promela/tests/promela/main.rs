//! Tests of the grammar, in one program.

mod common;
mod editors;
mod grammar;
mod models;
