//! Runs that may take long: they go on on a thread of their own, with a walk of their own, which takes the place of the
//! one that is shown when they end.

use fabius_base::Cancel;
use fabius_explore::{Exploration, Pattern, Place, RunLimits, Stop, Way};

/// A run until something happens is at most so long.
const STEPS_MAX: usize = 1_000_000;
/// It says how far it is whenever it has gone this many steps.
const TELL_STEPS: usize = 1000;

/// What a run goes on for.
#[derive(Clone, PartialEq, Debug)]
pub enum Goal {
    /// Until this is true.
    Until(Pattern),
    /// At random, until this is true.
    RandomUntil {
        /// What.
        pattern: Pattern,
        /// The same seed gives the same run.
        seed: u64,
    },
    /// Until a process comes to a line.
    Line(Place),
    /// For this many steps at random.
    Random {
        /// How many.
        steps: usize,
        /// The same seed gives the same run.
        seed: u64,
    },
}

/// A run to be taken to another thread.
#[derive(Debug)]
pub struct RunRequest {
    /// The walk, which goes on.
    pub walk: Exploration,
    /// What for.
    pub goal: Goal,
}

impl RunRequest {
    /// Runs, and says after this many steps how many there were.
    pub fn run(mut self, cancel: &Cancel, tell: &mut dyn FnMut(usize)) -> (Exploration, Stop) {
        let (way, steps_max) = match self.goal {
            Goal::Random { steps, seed } => (Way::Random(seed), steps),
            Goal::RandomUntil { seed, .. } => (Way::Random(seed), STEPS_MAX),
            Goal::Until(_) | Goal::Line(_) => (Way::Line, STEPS_MAX),
        };
        let limits = RunLimits { steps_max, cancel: Some(cancel) };
        let mut steps = 0;
        let stop = self.walk.run(way, &limits, |walk| {
            steps += 1;
            if steps % TELL_STEPS == 0 {
                tell(steps);
            }
            match &mut self.goal {
                Goal::Until(pattern) | Goal::RandomUntil { pattern, .. } => pattern.holds(walk),
                Goal::Line(place) => walk.arrived_at(place).is_some(),
                Goal::Random { .. } => false,
            }
        });
        let done = stop == Stop::Limit && matches!(self.goal, Goal::Random { .. });
        (self.walk, if done { Stop::Steps } else { stop })
    }
}
