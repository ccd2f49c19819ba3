//! Checks as a whole: from the text of a model to its report.

mod audit;
mod budget;
mod check;
mod claims_without_cycles;
mod dead_code;
mod delayed;
mod depth;
mod endless_atomic;
mod infinite;
mod large_models;
mod look;
mod notes;
mod portfolio;
mod prune;
mod ranges;
mod reducing;
mod resumable;
mod ribbon;
mod runs;
mod schedule;
mod sleep;
mod survey;
mod together;
mod vacuity;
mod visit_first;
