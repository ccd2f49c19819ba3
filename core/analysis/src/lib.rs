//! What else is worth knowing of a model, besides whether its properties hold; each analysis a file of its own, plain data out.

mod as_state;
mod chart;
mod co_reachable;
pub mod contexts;
pub mod cost;
mod dead_code;
mod deciding;
pub mod extrapolate;
mod fewest_switches;
pub mod formula;
mod growth;
mod marks;
pub mod picture;
pub mod pins;
pub mod schedule;
pub mod starvation;
pub mod state_graph;
pub mod stuck;
mod survey;
pub mod vacuity;

pub use as_state::as_state;
pub use chart::{Forecast, LocalStateGraph, chart};
pub use co_reachable::{CoReachability, Line, co_reachable};
pub use dead_code::{DEAD_CODE_MAX, dead_code, open_edges, worth_telling};
pub use deciding::{deciding_in_line, deciding_parts};
pub use fewest_switches::{as_counterexample, fewest_switches};
pub use growth::growth;
pub use marks::{Marks, marks};
pub use survey::{Held, Seen, Survey, survey};
