//! Depth-first search up to a bound on the length of runs that misses nothing within it, and grows.
//!
//! After Udupa, Desai, Rajamani: *Depth Bounded Explicit-State Model Checking* (SPIN 2011). A depth-first
//! search that just stops at the bound is wrong: a state that is first met on a long way shields what lies behind it.
//! So a state must be looked at again when it is met on a shorter path, but not each time. [`search`] has the algorithm.
//!
//! T[s] is the *threshold*: the greatest depth at which another visit of s could still find anything new within the
//! bound; −1 means never. While s is on the stack it holds the depth of s, an upper bound that back edges may read.
//! T is good for later bounds without change.
//!
//! With [`Revisit::Shallower`] T[s] stays the smallest depth at which s was met: the paper's baseline.
//!
//! Frontier states are kept as the macro steps that lead to them, in a tree ([`frontier`]).
//!
//! A step is what leads from one ordinary state to the next: an atomic sequence is one step. What is answered is the
//! question *can anything go wrong within this many steps?* The paper's outer loop says that all is explored only if the
//! deepest state lies strictly above the cut-off; here, once the frontier is empty.

mod cycles;
mod environment;
mod evidence;
mod frontier;
mod kept;
mod search;
mod state;

pub use cycles::depth_bounded_cycles;
pub use frontier::Keep;
pub use kept::DepthSnapshot;

use crate::checkpoint::{ByRounds, CheckpointPolicy, Unusable};
use crate::delay_bounded::DelayObserver;
use crate::model::Model;
use crate::observer::Settings;
use crate::outcome::Outcome;
use environment::EnvironmentMoves;
use state::DepthBounded;

/// How a search in the order of depth is to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthSettings {
    /// More steps in each round; at least 1.
    pub increment: u32,
    /// At most this many steps; without it, until nothing is left.
    pub cut_off: Option<u32>,
    /// When a state is looked at again.
    pub revisit: Revisit,
    /// How frontier states are kept.
    pub keep: Keep,
}

impl Default for DepthSettings {
    fn default() -> Self {
        Self { increment: 100, cut_off: None, revisit: Revisit::default(), keep: Keep::default() }
    }
}

/// When a state that was met before is looked at again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Revisit {
    /// If something new may come of it.
    #[default]
    Threshold,
    /// Whenever it is met at a smaller depth.
    Shallower,
}

/// Searches runs of ever more steps.
///
/// A search of which checkpoints are kept, or that goes on from one, ends at the first violation. Macro steps
/// that are executed only to get back to where a snapshot was taken are not counted.
///
/// # Errors
/// If it is to go on from a snapshot that cannot be one of this search.
pub fn depth_bounded<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    depth: &DepthSettings,
    checkpoint: CheckpointPolicy<'_, DepthSnapshot>,
) -> Result<Outcome<M::Label, M::Fault>, Unusable>
where
    M: Model,
    O: DelayObserver<M::Label, M::Fault>,
{
    let settings = checkpoint.settings(settings);
    let mut model = EnvironmentMoves(model);
    let mut search = DepthBounded::new(&mut model, observer, &settings, depth, checkpoint.is_wanted());
    let run = search.run(checkpoint)?;
    Ok(search.conclude(run))
}
