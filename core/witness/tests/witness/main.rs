//! The reference interpreter: what programs mean, and what is said of their runs.

mod corpus;
mod helps;
mod lassos;
mod meaning;
mod notes;
mod replay;
mod support;
mod traces;
mod walks;
