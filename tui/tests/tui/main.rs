//! The terminal explorer without a terminal: keys in, screens out.

mod colours;
mod comparisons;
mod conditions;
mod formula;
mod graphs;
mod screens;
mod searches;
mod support;
