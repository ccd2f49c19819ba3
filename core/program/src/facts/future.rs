//! What a process may do from a location on, compared with a step of another process.

use super::bits::{Bits, Channels};
use super::{Condition, Facts, Instance, Step};

/// For each location, the channels that matter to what a process may do from there on.
#[derive(Clone, Debug, Default)]
pub struct Rendezvous {
    /// It may receive on these.
    pub accepts: Vec<Channels>,
    /// It may do something that depends on whether anybody receives on these.
    pub wonders: Vec<Channels>,
}

impl Facts {
    /// For each edge of one process, the locations of another one from which that may do something that does
    /// not accord with what the first may do from this edge on before anybody else moves.
    pub fn danger(&self, of: &Instance, other: &Instance) -> Vec<Bits> {
        let single: Vec<Bits> =
            of.steps.iter().map(|step| self.whence(other, |theirs| !step.accords(theirs))).collect();
        self.over_runs(of, &single)
    }

    /// The locations of a process from which it may make a part of another one's guard true.
    pub fn enablers(&self, part: &Condition, other: &Instance) -> Bits {
        self.whence(other, |theirs| theirs.may_enable(part))
    }

    /// For each edge of one process, the locations of another one from which that may be its partner in a
    /// rendezvous, now or later.
    pub fn partners(&self, of: &Instance, other: &Instance) -> Vec<Bits> {
        let meets = |mine: &Step, theirs: &Step| {
            mine.offers.meets(theirs.accepts) || mine.wonders.meets(theirs.accepts) || mine.accepts.meets(theirs.offers)
        };
        let has_none = |step: &Step| step.offers.is_empty() && step.accepts.is_empty() && step.wonders.is_empty();
        let single: Vec<Bits> = of
            .steps
            .iter()
            .map(|step| if has_none(step) { Bits::default() } else { self.whence(other, |theirs| meets(step, theirs)) })
            .collect();
        self.over_runs(of, &single)
    }

    /// The channels that matter from each location on.
    pub fn rendezvous(&self, of: &Instance) -> Rendezvous {
        let shape = &self.shapes[of.key.process.0 as usize];
        let mut rendezvous = Rendezvous::default();
        for (ahead, spawned) in shape.ahead.iter().zip(&shape.spawned_ahead) {
            let own = ahead.iter().map(|edge| &of.steps[edge]);
            let created = spawned.iter().flat_map(|kind| &self.unknown[kind].steps);
            let (mut accepts, mut wonders) = (Channels::NONE, Channels::NONE);
            for step in own.chain(created) {
                accepts = accepts.with(step.accepts);
                wonders = wonders.with(step.wonders);
            }
            rendezvous.accepts.push(accepts);
            rendezvous.wonders.push(wonders);
        }
        rendezvous
    }

    /// The locations of a process from which a step may still come that fits, its own or that of a process that
    /// it creates.
    pub fn whence(&self, of: &Instance, fits: impl Fn(&Step) -> bool) -> Bits {
        let shape = &self.shapes[of.key.process.0 as usize];
        let mut edges = Bits::default();
        for (edge, step) in of.steps.iter().enumerate() {
            if fits(step) {
                edges.insert(edge);
            }
        }
        let mut types = Bits::default();
        for (kind, unknown) in self.unknown.iter().enumerate() {
            if shape.spawned_ahead.iter().any(|spawned| spawned.contains(kind)) && unknown.steps.iter().any(&fits) {
                types.insert(kind);
            }
        }
        let mut locations = Bits::default();
        for (location, (ahead, spawned)) in shape.ahead.iter().zip(&shape.spawned_ahead).enumerate() {
            if ahead.meets(&edges) || spawned.meets(&types) {
                locations.insert(location);
            }
        }
        locations
    }

    /// For each edge, the union over all edges of its run.
    fn over_runs(&self, of: &Instance, single: &[Bits]) -> Vec<Bits> {
        let shape = &self.shapes[of.key.process.0 as usize];
        let union = |run: &Bits| {
            run.iter().fold(Bits::default(), |mut union, edge| {
                union.extend(&single[edge]);
                union
            })
        };
        shape.run.iter().map(union).collect()
    }
}
