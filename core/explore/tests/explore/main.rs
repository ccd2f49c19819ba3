//! Walking through a model by hand, and what is known at each step.

mod marks;
mod truth;
mod understand;
mod walk;
