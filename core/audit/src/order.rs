//! Whether the steps that a reduction chooses can as well be taken before one of those that it leaves out.
//!
//! An *event* is a step, or an atomic sequence until it ends or has to stop. Of a stubborn set (Valmari), for each event t that is
//! left out and each chosen p:
//!
//! ```text
//! p is possible after t if it was before it                  t takes no possibility away
//! s –t→ · –p→ s'   implies   s –p→ · –t→ s'                    the order of both does not matter
//! ```
//!
//! Longer runs of events that are left out are not looked at. A proof may rest on less than this where it does not matter when a
//! process stops within an atomic sequence ([`Reduced::heeds_stops`](fabius_model::reduction::Reduced::heeds_stops)), where the numbers
//! of processes do not show, and where steps are possible only because nothing else is: nothing is asked of these events.

use fabius_program::{Move, Program};
use fabius_witness::{Ending, Outcome, State, moves, released};

/// Nothing is asked of a state with more events, or where more states lie within atomic sequences.
const EVENTS_MAX: usize = 64;

/// An event: the step that it begins with, where it leads, and whether it had to stop within an atomic sequence.
struct Event {
    first: Move,
    to: State,
    stopped: bool,
}

/// Finds events, and counts the steps listed for that.
pub(super) struct Order<'a> {
    pub(super) program: &'a Program,
    /// It matters when a process stops within an atomic sequence.
    pub(super) heeds_stops: bool,
    pub(super) listed: u64,
}

impl Order<'_> {
    /// A step that is left out, and a chosen one that cannot as well be taken before it; `None` if there is none. Nobody holds control in
    /// the state, and it is not the turn of a claim.
    pub(super) fn matters(&mut self, state: &State, chosen: &[Move]) -> Option<(Move, Move)> {
        let state = State { claim: None, trace: None, ..state.clone() };
        let is_chosen = |step: &Move| chosen.iter().any(|other| other.pid == step.pid);
        let all = self.events(&state, |_| true)?;
        let (first, others): (Vec<Event>, Vec<Event>) = all.into_iter().partition(|event| is_chosen(&event.first));
        // What each chosen event leads to, and then each other one.
        let mut later: Vec<(Move, Move, State)> = Vec::new();
        for event in first.iter().filter(|_| !others.is_empty()) {
            let next = self.events(&event.to, |step| others.iter().any(|other| other.first == *step))?;
            later.extend(next.into_iter().map(|next| (event.first, next.first, next.to)));
        }
        let is_asked = |event: &&Event| {
            let is_as_many = |state: &State| state.processes.len() == event.to.processes.len();
            is_as_many(&state) && (self.heeds_stops || !event.stopped)
        };
        let asked: Vec<&Event> = others.iter().filter(is_asked).collect();
        for other in asked {
            let next = self.events(&other.to, |step| first.iter().any(|event| event.first == *step))?;
            let lost = first.iter().find(|event| !next.iter().any(|next| next.first == event.first));
            let is_as_well = |next: &&Event| {
                let same = |(p, t, to): &(Move, Move, State)| *p == next.first && *t == other.first && *to == next.to;
                next.to.processes.len() != state.processes.len() || later.iter().any(same)
            };
            let parted = next.iter().find(|next| !is_as_well(next));
            if let Some(event) = lost.or(parted) {
                return Some((other.first, event.first));
            }
        }
        None
    }

    /// The events that begin with some of the steps; `None` if there are too many, or they are possible only because nothing else is.
    /// Those that have a fault lead nowhere.
    fn events(&mut self, state: &State, begins: impl Fn(&Move) -> bool) -> Option<Vec<Event>> {
        let possible = moves(self.program, state);
        self.listed += possible.successors.len() as u64;
        if possible.timeout {
            return None;
        }
        let reached = possible.successors.into_iter().filter(|(first, _)| begins(first));
        let mut open: Vec<(Move, State)> = reached.filter_map(|(first, to)| Some((first, state_of(to)?))).collect();
        let (mut events, mut within) = (Vec::new(), 0);
        while let Some((first, at)) = open.pop() {
            within += usize::from(at.holder.is_some());
            if EVENTS_MAX < within.max(events.len() + open.len()) {
                return None;
            }
            if at.holder.is_none() {
                events.push(Event { first, to: at.into_visible(self.program), stopped: false });
                continue;
            }
            let next = moves(self.program, &at);
            self.listed += next.successors.len() as u64;
            if next.ending == Ending::LosesControl {
                events.push(Event { first, to: released(&at).into_visible(self.program), stopped: true });
            }
            open.extend(next.successors.into_iter().filter_map(|(_, to)| Some((first, state_of(to)?))));
        }
        Some(events)
    }
}

/// Where a step leads, if that can be computed.
fn state_of(outcome: Outcome) -> Option<State> {
    match outcome {
        Outcome::Reaches { state, .. } => Some(state),
        Outcome::Broken { .. } => None,
    }
}
