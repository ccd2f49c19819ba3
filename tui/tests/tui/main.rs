//! The terminal explorer without a terminal: keys in, screens out.

mod checkpoints;
mod colours;
mod comparisons;
mod conditions;
mod formula;
mod graphs;
mod originals;
mod other_runs;
mod screens;
mod searches;
mod support;
