//! Where a program could get stuck: combinations of locations, one for each process, in which it does not follow from
//! the text that somebody can move.
//!
//! ```text
//! for each combination of locations, one per process: the process's end, or a location all of whose edges can be blocked
//!   some value that has a potential is one that it cannot have:   impossible
//!   some edge can surely be taken, whatever is not known:         impossible
//!   otherwise:                                                    a candidate
//! ```
//!
//! Every deadlock is at a candidate; a candidate need not be a deadlock. What is not known is the value of a quantity without
//! a potential: where its values are few, each of them is tried.

use super::participants::Participant;
use super::potential::{Finder, Known, Quantity};
use super::{Facts, InstanceKey, StartValues, WhyNotTold, known};
use crate::LocationId;

/// Steps of the enumeration.
const STEPS_MAX: u64 = 200_000;
/// Candidates kept.
const CANDIDATES_MAX: usize = 1_000;
/// Combinations of values that are tried for each combination of places.
const TRIALS_MAX: usize = 256;

/// Where a process is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Whereabouts {
    /// It was not created.
    Absent,
    /// At a location; if nothing is left to it but to end, it may have ended.
    At(LocationId),
}

/// Where a program could get stuck.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The processes that there may be.
    pub participants: Vec<Participant>,
    /// Number of combinations of places at which processes can be blocked; [`u128::MAX`] if there are more.
    pub combinations: u128,
    /// The combinations in which everybody could be blocked at once: the place of each participant.
    pub list: Vec<Vec<Whereabouts>>,
}

impl Facts {
    /// The combinations of places at which a run could get stuck that begins with these processes, each at a location, in a
    /// state with these values in which nobody holds control.
    ///
    /// # Errors
    /// If they cannot be told from the text.
    pub fn stuck_candidates(
        &self,
        present: &[(InstanceKey, LocationId)],
        values: &dyn StartValues,
        stop: &dyn Fn() -> bool,
    ) -> Result<Candidates, WhyNotTold> {
        let program = self.program();
        if program.uses.priority || program.processes.iter().any(|process| process.provided.is_some()) {
            return Err(WhyNotTold::Restricted);
        }
        let participants = self.participants(present)?;
        let finder = Finder::new(self, &participants);
        let known = finder.find(values, stop)?;
        let places: Vec<Vec<Whereabouts>> =
            (0..participants.len()).map(|participant| places(&finder, participant)).collect();
        let combinations = places.iter().fold(1, |product: u128, places| product.saturating_mul(places.len() as u128));
        let mut search = Search::new(&finder, &known, places);
        search.run(stop)?;
        let list = std::mem::take(&mut search.found);
        drop(search);
        drop(finder);
        Ok(Candidates { participants, combinations, list })
    }
}

/// The places at which a participant can be when nobody moves any more.
fn places(finder: &Finder<'_>, participant: usize) -> Vec<Whereabouts> {
    let it = &finder.participants[participant];
    let reached = it.reachable.iter().enumerate().filter(|(_, reached)| **reached);
    let blocked = reached.filter(|(at, _)| !finder.is_open(participant, *at));
    let at = blocked.map(|(at, _)| Whereabouts::At(LocationId(at as u32)));
    it.creator.map(|_| Whereabouts::Absent).into_iter().chain(at).collect()
}

/// Goes through combinations of places.
struct Search<'a> {
    finder: &'a Finder<'a>,
    known: &'a [Known],
    places: Vec<Vec<Whereabouts>>,
    /// For each created participant, for each location of its creator: whether it may be absent, and present.
    may_be: Vec<Option<(Vec<bool>, Vec<bool>)>>,
    /// For each quantity, for each participant, the least and greatest contribution of it and of those after it.
    rest: Vec<Vec<(i64, i64)>>,
    chosen: Vec<Whereabouts>,
    found: Vec<Vec<Whereabouts>>,
    steps: u64,
}

impl<'a> Search<'a> {
    fn new(finder: &'a Finder<'a>, known: &'a [Known], places: Vec<Vec<Whereabouts>>) -> Self {
        let rest = known.iter().map(|known| bounds(known, &places)).collect();
        let may_be = finder.participants.iter().map(|it| {
            let (creator, edge) = it.creator?;
            let creator = &finder.participants[creator];
            let facts = finder.facts;
            let mut absent = facts.reachable(creator.process(), creator.start, Some(edge));
            if !it.surely_created {
                absent.fill(true);
            }
            Some((absent, facts.reachable(creator.process(), facts.program().edge(edge).target, None)))
        });
        let may_be = may_be.collect();
        Self { finder, known, places, may_be, rest, chosen: Vec::new(), found: Vec::new(), steps: 0 }
    }

    /// Goes through all combinations that are not excluded by their beginning.
    fn run(&mut self, stop: &dyn Fn() -> bool) -> Result<(), WhyNotTold> {
        let mut next = vec![0];
        while let Some(participant) = next.len().checked_sub(1) {
            self.chosen.truncate(participant);
            let at = &mut next[participant];
            let Some(place) = self.places.get(participant).and_then(|places| places.get(*at)).copied() else {
                next.pop();
                continue;
            };
            *at += 1;
            self.steps += 1;
            if STEPS_MAX < self.steps || CANDIDATES_MAX < self.found.len() {
                return Err(WhyNotTold::Many);
            }
            if self.steps.is_multiple_of(256) && stop() {
                return Err(WhyNotTold::Stopped);
            }
            if !self.agrees(participant, place) {
                continue;
            }
            self.chosen.push(place);
            let Some(values) = self.values() else { continue };
            if self.somebody_moves(&values) {
                continue;
            }
            if self.chosen.len() < self.places.len() {
                next.push(0);
            } else if self.is_deadlock() && self.may_be_stuck(values) {
                self.found.push(self.chosen.clone());
            }
        }
        Ok(())
    }

    /// Whether a participant may be at a place where its creator is.
    fn agrees(&self, participant: usize, place: Whereabouts) -> bool {
        let (Some((absent, present)), Some((creator, _))) =
            (&self.may_be[participant], self.finder.participants[participant].creator)
        else {
            return true;
        };
        match (self.chosen[creator], place) {
            (Whereabouts::Absent, place) => place == Whereabouts::Absent,
            (Whereabouts::At(at), Whereabouts::Absent) => absent[at.0 as usize],
            (Whereabouts::At(at), Whereabouts::At(_)) => present[at.0 as usize],
        }
    }

    /// The value of each quantity, if it follows from the places chosen; `None` if there is none.
    fn values(&self) -> Option<Vec<Option<i64>>> {
        let of = |(known, rest): (&Known, &Vec<(i64, i64)>)| {
            if known.potential.is_empty() {
                return Some(None);
            }
            let contribution = |(phi, place): (&Vec<i64>, &Whereabouts)| match place {
                Whereabouts::Absent => 0,
                Whereabouts::At(at) => phi[at.0 as usize],
            };
            let sum: i64 = known.start + known.potential.iter().zip(&self.chosen).map(contribution).sum::<i64>();
            let (low, high) = rest[self.chosen.len()];
            let (value, possible) = known.between(sum + low, sum + high);
            possible.then_some(value)
        };
        self.known.iter().zip(&self.rest).map(of).collect()
    }

    /// Whether somebody can surely move with these values.
    fn somebody_moves(&self, values: &[Option<i64>]) -> bool {
        (0..self.chosen.len()).any(|asking| {
            let here = Here { search: self, values, asking };
            let Whereabouts::At(at) = self.chosen[asking] else { return false };
            let context = &self.finder.contexts[asking];
            let actions = self.finder.actions(asking, at.0 as usize);
            actions
                .into_iter()
                .any(|action| [false, true].iter().any(|timeout| context.is_sure(action, *timeout, &here)))
        })
    }

    /// Whether somebody is not at a valid end.
    fn is_deadlock(&self) -> bool {
        self.chosen.iter().zip(self.finder.participants).any(|(place, it)| match place {
            Whereabouts::Absent => false,
            Whereabouts::At(at) => !self.finder.facts.program().process(it.process()).locations[at.0 as usize].end,
        })
    }

    /// Whether for some values of those quantities whose value is not known it is not sure that somebody moves.
    fn may_be_stuck(&self, mut values: Vec<Option<i64>>) -> bool {
        let asked = self.asked();
        let free: Vec<(usize, &Vec<i64>)> = self
            .known
            .iter()
            .enumerate()
            .filter(|(at, known)| values[*at].is_none() && asked.contains(&known.quantity))
            .filter_map(|(at, known)| Some((at, known.values.as_ref()?)))
            .collect();
        let trials = free.iter().fold(1, |product: usize, (_, values)| product.saturating_mul(values.len()));
        if TRIALS_MAX < trials {
            return true;
        }
        (0..trials).any(|trial| {
            let mut left = trial;
            for (at, possible) in &free {
                values[*at] = Some(possible[left % possible.len()]);
                left /= possible.len();
            }
            !self.somebody_moves(&values)
        })
    }

    /// The quantities on which it depends whether somebody can move.
    fn asked(&self) -> Vec<Quantity> {
        let mut asked = Vec::new();
        for (it, place) in self.finder.participants.iter().zip(&self.chosen) {
            let Whereabouts::At(at) = place else { continue };
            let location = &self.finder.facts.program().process(it.process()).locations[at.0 as usize];
            for edge in location.edges.clone() {
                let step = &it.instance.steps[self.finder.facts.index_of(crate::EdgeId(edge))];
                let super::Condition::Vague(cells, channels) = super::guard::vague(&step.guard) else { continue };
                asked.extend(cells.iter().map(|cell| Quantity::Cell(cell as u32)));
                asked.extend(
                    (1..=255)
                        .filter(|it| channels.meets(super::Channels::one(*it)))
                        .map(|it| Quantity::Level(it as usize)),
                );
            }
        }
        asked
    }
}

/// For each participant, the least and the greatest contribution to a quantity of it and of those after it.
fn bounds(known: &Known, places: &[Vec<Whereabouts>]) -> Vec<(i64, i64)> {
    let mut bounds = vec![(0, 0); places.len() + 1];
    for (participant, phi) in known.potential.iter().enumerate().rev() {
        let of = |place: &Whereabouts| match place {
            Whereabouts::Absent => 0,
            Whereabouts::At(at) => phi[at.0 as usize],
        };
        let least = places[participant].iter().map(of).min().unwrap_or(0);
        let greatest = places[participant].iter().map(of).max().unwrap_or(0);
        let (low, high) = bounds[participant + 1];
        bounds[participant] = (low + least, high + greatest);
    }
    bounds
}

/// What is known to a participant at a combination of places.
struct Here<'a> {
    search: &'a Search<'a>,
    values: &'a [Option<i64>],
    asking: usize,
}

impl Here<'_> {
    fn value(&self, quantity: Quantity) -> Option<i32> {
        let at = self.search.known.iter().position(|known| known.quantity == quantity)?;
        i32::try_from(self.values[at]?).ok()
    }
}

impl known::Known for Here<'_> {
    fn cell(&self, cell: u32) -> Option<i32> {
        self.value(Quantity::Cell(cell))
    }

    fn level(&self, channel: usize) -> Option<i32> {
        self.value(Quantity::Level(channel))
    }

    fn receives(&self, channel: usize, fields: &[Option<i32>]) -> bool {
        let Search { finder, chosen, .. } = self.search;
        chosen.iter().enumerate().any(|(participant, place)| {
            let Whereabouts::At(at) = place else { return false };
            let receives = |action| finder.contexts[participant].surely_receives(action, channel, fields);
            participant != self.asking
                && !finder.has_escapes(participant, at.0 as usize)
                && finder.actions(participant, at.0 as usize).into_iter().any(receives)
        })
    }
}
