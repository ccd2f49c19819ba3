//! Two answers to one question on many models: those of Spin and of Fabius, of both interpreters, with and without reduction, before
//! and after an edit.

mod book;
mod compared;
mod corpus;
mod cut_runs;
mod families;
mod liveness;
mod partitions;
mod random;
mod referee;
mod replay;
mod schedules;
mod syntax;
mod trails;
