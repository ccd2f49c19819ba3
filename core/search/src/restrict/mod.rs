//! Schedules under which a model is safe: which processes a scheduler may let move, state by state.
//!
//! After Metzler, Suri, Weissenbacher: *Extracting safe thread schedules from incomplete model checking results*. The
//! scheduler picks the participants of a macro step (a process, for a rendezvous sender and receiver); the options inside a
//! process and inside an atomic sequence are given, and all of them count.
//!
//! * [`graph`] explores states and macro steps, in the order of how often a scheduler is disturbed.
//! * [`region`](mod@region) is the most permissive safe schedule on what was explored: a state is in it if the scheduler can
//!   avoid every error from there, and every dead end. What was not explored counts as bad, so a state in it stays there
//!   whatever is explored later.
//! * [`alone`](mod@alone) says whether a scheduler is safe that nobody disturbs.
//! * [`fair`] looks for schedules under which goals are met again and again: that each process moves, or progress.
//! * [`order`] tries fixed orders of kinds, where no few waits do.
//! * [`waits`]: *who* does not move from *where* while another process is in a *stretch*, or a shared variable between
//!   two values.
//! * [`fewest`] finds the fewest waits that are such a schedule, and shut out nobody.
//!
//! Nothing here knows of text: a place is the kind of a process and a number in that kind.

pub mod alone;
pub mod fair;
pub mod fewest;
pub mod graph;
mod numbering;
pub mod order;
pub mod region;
#[cfg(test)]
mod tests;
pub mod waits;

pub use alone::{Alone, alone};
pub use fair::{Goal, Goals, Strategy};
pub use fewest::{Effort, Problem, Solution, Solutions};
pub use graph::{Explorer, Graph, Group, Limits, Movers, Refusal, Round, Stop};
pub use numbering::Numbering;
pub use order::{FixedOrder, fixed_order, rank_of};
pub use region::{
    Region, Stopped, add_movers_ahead, can_move_again, every_run_fails, movers_in_model, possible_movers, region,
    region_at_most, region_of_first,
};
pub use waits::{Arrangements, PROCESSES_MAX, Site, Values, Vocabulary, Wait, held};
