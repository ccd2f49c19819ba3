//! Where a process may stay asleep while another one takes a step: what sleep sets of processes need.
//!
//! A process is asleep in a state if everything that it could do there first is explored elsewhere. It stays so after a step of
//! another process if each of the events that are possible accords with that step, and if the step makes no further one possible.
//! [`Facts::conflicts_next`](super::Facts::conflicts_next) tells the first of single events; the second is asked only where a process has
//! alternatives: whoever falls asleep could do something, and where there is only one thing to do, it is that.

use super::bits::{Bits, Channels};
use super::extract::Instance;
use super::{EdgeId, Facts, Meetings};
use crate::Location;

/// Edges of a location that are told apart.
const EDGES_MAX: usize = 63;

/// An edge that a process takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Its number within its type.
    pub edge: usize,
    /// Whether it starts an atomic sequence that goes on as far as it can.
    pub starts: bool,
}

/// What an edge that another process takes means to one that is asleep at a location. Its edges there are bits in their order, those from
/// number 63 on together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Disturbance {
    /// It wakes if one of these is executable.
    pub conflicts: u64,
    /// It wakes if one of these becomes executable.
    pub enables: u64,
}

impl Disturbance {
    /// That of two edges that are taken in one step.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { conflicts: self.conflicts | other.conflicts, enables: self.enables | other.enables }
    }
}

/// What is asked about a process that takes an edge, and another one that may stay asleep.
struct Asked<'a> {
    facts: &'a Facts,
    mover: &'a Instance,
    /// The edges that the mover may take.
    run: Bits,
    meetings: Meetings,
    other: &'a Instance,
    /// The other one's edges that do not accord.
    conflicts: Bits,
    /// The same of processes of each type that may be partners of the other one.
    partners: Vec<(&'a Instance, Bits)>,
}

impl Facts {
    /// What it means to another process, at each of its locations, that one takes an edge, if no process can hand control over inside an
    /// atomic sequence ([`Facts::hands_control_over`]).
    pub fn disturbances(&self, mover: &Instance, taken: Taken, other: &Instance) -> Box<[Disturbance]> {
        let mut run = Bits::default();
        run.insert(taken.edge);
        if taken.starts {
            run.extend(self.run(mover.key.process, taken.edge));
        }
        let offers = other.steps.iter().fold(Channels::NONE, |all, step| all.with(step.offers));
        let may_take = |instance: &&Instance| instance.steps.iter().any(|step| step.accepts.meets(offers));
        let partners = self.unknown.iter().filter(may_take);
        let asked = Asked {
            facts: self,
            mover,
            meetings: self.meetings(mover, taken.edge, taken.starts),
            other,
            conflicts: conflicts(mover, &run, other),
            partners: partners.map(|instance| (instance, conflicts(mover, &run, instance))).collect(),
            run,
        };
        let locations = &self.program().process(other.key.process).locations;
        locations.iter().map(|location| asked.at(location)).collect()
    }
}

/// The edges of another process that do not accord with one of these.
fn conflicts(mover: &Instance, run: &Bits, other: &Instance) -> Bits {
    let mut found = Bits::default();
    let is_in_conflict = |edge: usize| run.iter().any(|mine| !mover.steps[mine].accords(&other.steps[edge]));
    (0..other.steps.len()).filter(|edge| is_in_conflict(*edge)).for_each(|edge| found.insert(edge));
    found
}

impl Asked<'_> {
    /// What it means to the other process at a location.
    fn at(&self, location: &Location) -> Disturbance {
        let mut disturbance = Disturbance::default();
        for (position, edge) in location.edges.clone().enumerate() {
            let (edge, bit) = (self.facts.index_of(EdgeId(edge)), 1 << position.min(EDGES_MAX));
            disturbance.conflicts |= if self.leaves_alone(edge) { 0 } else { bit };
            // Of the last ones, one may be executable and another one become so. Where there is only one, it is executable.
            let is_told_apart = position < EDGES_MAX;
            let may_enable = location.edges.len() > 1 && self.may_enable(edge);
            disturbance.enables |= if may_enable && is_told_apart { bit } else { 0 };
            disturbance.conflicts |= if may_enable && !is_told_apart { u64::MAX } else { 0 };
        }
        disturbance
    }

    /// Whether what the mover does and an event of the other one leave each other alone, with whomever the latter is taken.
    fn leaves_alone(&self, edge: usize) -> bool {
        let step = &self.other.steps[edge];
        // After a rendezvous only the receiver may hold control.
        let goes_on = step.offers.is_empty();
        let theirs = self.facts.meetings(self.other, edge, goes_on);
        let conflict = if goes_on {
            self.facts.run(self.other.key.process, edge).meets(&self.conflicts)
        } else {
            self.conflicts.contains(edge)
        };
        let disturbs = |(partner, conflicts): &(&Instance, Bits)| {
            let takes = |edge: &usize| partner.steps[*edge].accepts.meets(step.offers);
            let mut edges = (0..partner.steps.len()).filter(takes);
            edges.any(|edge| self.facts.run(partner.key.process, edge).meets(conflicts))
        };
        !conflict
            && !self.meetings.readiness.meets(step.offers)
            && !self.meetings.absence.meets(theirs.readiness)
            && !theirs.absence.meets(self.meetings.readiness)
            && !self.partners.iter().any(disturbs)
    }

    /// Whether the mover may make an edge of the other process possible.
    fn may_enable(&self, edge: usize) -> bool {
        let step = &self.other.steps[edge];
        // Whether a partner is there is no part of the guard.
        if self.meetings.readiness.meets(step.offers.with(step.depends_on_absence)) {
            return true;
        }
        let enables = |mine: usize| step.guard.iter().any(|part| self.mover.steps[mine].may_enable(part));
        self.run.iter().any(enables)
    }
}
