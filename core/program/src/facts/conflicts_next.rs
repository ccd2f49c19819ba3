//! Which next events of two processes do not accord: what sleep sets need.
//!
//! An *event* is what a process does before another one moves by itself: one step, or the steps of an atomic sequence
//! until it ends or breaks off. [`Facts::danger`](super::Facts::danger) answers about everything that lies ahead of
//! a process; here only its next event counts, so far more pairs are independent.

use super::bits::{Bits, Channels};
use super::extract::Instance;
use super::step::{Step, UseKind};
use super::{EdgeId, Facts};
use crate::{LocationId, ProcessId};

/// Which edges of one process do not accord with which edges of another, each taken alone or as the start of an
/// atomic sequence.
#[derive(Clone, Debug)]
pub struct Conflicts {
    /// By whether the one's edge starts a sequence, then by its number: edges of the other, taken alone.
    alone: [Vec<Bits>; 2],
    /// The same with edges of the other that start a sequence.
    starting: [Vec<Bits>; 2],
}

impl Conflicts {
    /// Whether an edge of the one and an edge of the other do not accord; `starts` tells of each whether it starts
    /// an atomic sequence that goes on as far as it can.
    #[inline]
    pub fn between(&self, edge: usize, starts: bool, other: usize, other_starts: bool) -> bool {
        let rows = if other_starts { &self.starting } else { &self.alone };
        rows[usize::from(starts)][edge].contains(other)
    }
}

/// What an event has to do with rendezvous.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Meetings {
    /// Channels for which it matters that nobody receives.
    pub absence: Channels,
    /// Channels on which the process starts or stops being ready to receive, or one that it creates starts.
    pub readiness: Channels,
    /// Channels on which it sends after the first step.
    pub later_offers: Channels,
}

impl Facts {
    /// Which next events of two processes do not accord.
    pub fn conflicts_next(&self, of: &Instance, other: &Instance) -> Conflicts {
        self.conflicts_by(of, other, &|mine, theirs| !mine.accords(theirs))
    }

    /// Between which next events of two processes there is a conflict, if it is told which steps have one.
    pub(super) fn conflicts_by(
        &self,
        of: &Instance,
        other: &Instance,
        conflict: &dyn Fn(&Step, &Step) -> bool,
    ) -> Conflicts {
        let pairs = |mine: &Step| {
            let mut edges = Bits::default();
            let found = other.steps.iter().enumerate().filter(|(_, theirs)| conflict(mine, theirs));
            found.for_each(|(edge, _)| edges.insert(edge));
            edges
        };
        let single: Vec<Bits> = of.steps.iter().map(pairs).collect();
        let runs = (0..of.steps.len()).map(|edge| {
            self.run(of.key.process, edge).iter().fold(Bits::default(), |mut all, edge| {
                all.extend(&single[edge]);
                all
            })
        });
        let alone = [single.clone(), runs.collect()];
        let meeting = |row: &Bits| {
            let mut edges = Bits::default();
            let starts = (0..other.steps.len()).filter(|edge| self.run(other.key.process, *edge).meets(row));
            starts.for_each(|edge| edges.insert(edge));
            edges
        };
        let starting = alone.each_ref().map(|rows| rows.iter().map(meeting).collect());
        Conflicts { alone, starting }
    }

    /// What an event has to do with rendezvous, for an edge taken alone or as the start of an atomic sequence.
    pub fn meetings(&self, of: &Instance, edge: usize, starts: bool) -> Meetings {
        let mut alone = Bits::default();
        alone.insert(edge);
        let run = if starts { self.run(of.key.process, edge) } else { &alone };
        let process = self.program().process(of.key.process);
        let first_edge = self.shapes[of.key.process.0 as usize].first_edge;
        let at = |location: LocationId| {
            let edges = process.locations[location.0 as usize].edges.clone();
            edges.map(|edge| &of.steps[(edge - first_edge) as usize])
        };
        let mut meetings = Meetings::default();
        for index in run.iter() {
            let edge = &self.program().edges[first_edge as usize + index];
            meetings.absence = meetings.absence.with(of.steps[index].depends_on_absence);
            for step in at(edge.source).chain(at(edge.target)) {
                meetings.readiness = meetings.readiness.with(step.accepts);
            }
            for kind in &of.steps[index].spawns {
                meetings.readiness = meetings.readiness.with(self.ready_at_start(*kind));
            }
            for step in at(edge.target).filter(|_| starts && edge.atomic) {
                meetings.later_offers = meetings.later_offers.with(step.offers);
            }
        }
        meetings
    }

    /// Channels on which a process of a type may be ready to receive as soon as it is created.
    fn ready_at_start(&self, kind: ProcessId) -> Channels {
        let process = self.program().process(kind);
        let shape = &self.shapes[kind.0 as usize];
        let edges = process.locations[process.entry.0 as usize].edges.clone();
        let steps = edges.map(|edge| &self.unknown[kind.0 as usize].steps[(edge - shape.first_edge) as usize]);
        steps.fold(Channels::NONE, |all, step| all.with(step.accepts))
    }

    /// Whether it is all the same to everybody when a process ends: nobody looks at which processes there are, none is
    /// created later, and none takes channels with it.
    pub fn ends_quietly(&self) -> bool {
        let steps = || self.unknown.iter().flat_map(|instance| &instance.steps);
        let quiet = |end: &Step| steps().all(|step| step.ends || step.spawns.is_empty() && end.accords(step));
        steps().filter(|step| step.ends).all(|end| end.uses.is_empty() && quiet(end))
    }

    /// Whether a process may hand control over inside an atomic sequence: then its next event does what the receiver does
    /// then, too, of which [`Facts::danger`] says nothing.
    pub fn hands_control_over(&self) -> bool {
        let steps = || self.unknown.iter().flat_map(|instance| &instance.steps);
        let accepts = steps().fold(Channels::NONE, |all, step| all.with(step.accepts));
        let offers =
            |of: &Instance| (0..of.steps.len()).any(|edge| self.meetings(of, edge, true).later_offers.meets(accepts));
        self.unknown.iter().any(offers)
    }

    /// Whether an edge leads back to where it starts and changes nothing that another process can see, so that taking
    /// it is waiting if it does not change the process's own variables either.
    pub fn is_idle(&self, of: &Instance, edge: EdgeId) -> bool {
        let step = &of.steps[self.index_of(edge)];
        let edge = &self.program().edges[edge.0 as usize];
        let looks_only = |kind: &UseKind| matches!(kind, UseKind::Look | UseKind::Peek { .. });
        let is_alone = step.is_alone() && step.spawns.is_empty() && !step.ends && !step.asserts;
        edge.source == edge.target
            && !edge.atomic
            && is_alone
            && step.written.is_empty()
            && step.uses.iter().all(|used| looks_only(&used.kind))
    }
}
