//! Walking through a model by hand, and what is known at each step.

mod marks;
mod understand;
mod walk;
