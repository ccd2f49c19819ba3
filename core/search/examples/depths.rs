//! What thresholds and the tree of frontier states save, counted: the tables of *Depth Bounded Explicit-State Model
//! Checking* (SPIN 2011) on a family of systems of our own.
//!
//! ```text
//! cargo run --release -p fabius-search --example depths
//! ```
//!
//! The system is a line of stations through which tokens travel; each may be handed on, or, at every fourth
//! station, leap: ahead in one family, so that all runs end, and back in the other, so that they do not. Either way
//! there are many ways to a state, of very different lengths.

#![expect(clippy::disallowed_macros, reason = "a measurement prints")]

use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::depth_bounded::{DepthSettings, Keep, Revisit, depth_bounded};
use fabius_search::{Ending, Marks, Model, Next, Quiet, Round, Settings};

/// Tokens that travel from station to station.
struct Line {
    tokens: usize,
    stations: u32,
    /// How far a token leaps: ahead, or back if negative.
    leap: i32,
}

impl Model for Line {
    type Label = (u8, bool);
    type Fault = ();
    type Cursor = usize;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), ()> {
        *state = vec![0; self.tokens];
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> usize {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut usize, successor: &mut Vec<u32>) -> Next<Self::Label, ()> {
        while *cursor < 2 * self.tokens {
            let (token, leaps) = (*cursor / 2, *cursor % 2 == 1);
            *cursor += 1;
            let station = state[token];
            let to = if leaps { station.checked_add_signed(self.leap) } else { Some(station + 1) };
            let Some(to) = to.filter(|&to| to <= self.stations && (!leaps || station.is_multiple_of(4))) else {
                continue;
            };
            successor.clear();
            successor.extend_from_slice(state);
            successor[token] = to;
            let label = Some((token as u8, leaps));
            return Next::Successor { label, transient: false, fault: None, marks: Marks::NONE };
        }
        Next::Done(Ending::ValidEnd)
    }
}

fn measure(line: &mut Line, increment: u32, revisit: Revisit, keep: Keep) -> Round {
    let depth = DepthSettings { increment, cut_off: None, revisit, keep };
    let found = depth_bounded(line, &mut Quiet, &Settings::default(), &depth, CheckpointPolicy::none())
        .expect("nothing is resumed");
    found.rounds.last().copied().unwrap_or_default()
}

fn main() {
    println!(
        "| system | states | depth at most | increment | revisits: shallower / thresholds | replayed: traces / tree |"
    );
    println!("|---|---|---|---|---|---|");
    for (tokens, stations, leap) in [(2, 60, 7), (2, 120, 7), (3, 24, 5), (2, 60, -11), (3, 24, -7)] {
        for increment in [5, 20, 1000] {
            let mut line = Line { tokens, stations, leap };
            let shallower = measure(&mut line, increment, Revisit::Shallower, Keep::Traces);
            let threshold = measure(&mut line, increment, Revisit::Threshold, Keep::Tree);
            println!(
                "| {tokens} tokens, {stations} stations, leap {leap} | {} | {} | {increment} | {} / {} | {} / {} |",
                threshold.states,
                threshold.bound.min(tokens as u32 * stations),
                shallower.work.revisits,
                threshold.work.revisits,
                shallower.work.replayed,
                threshold.work.replayed,
            );
        }
    }
}
