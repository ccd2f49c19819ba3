//! The machine against the definition, against Spin, and on real models.

mod clones;
mod corpus;
mod rules;
mod spin;
mod support;
mod watched;
