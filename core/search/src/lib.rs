//! Search algorithms and visited sets. Nothing in here knows a modelling language or a machine:
//! only the traits in [`model`].

pub mod model;

pub use model::{Ending, Model, Next};
