//! What a process may do from where it is, compared with a step of another process.

use super::bits::{Bits, Channels};
use super::{Condition, Facts, Instance, Step};
use crate::{EdgeId, Location};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each location of a process, as bits in their order, the edges that lead to something: that are it, or
/// after which it may come, be it a step of a process that is created there. Edges from the 64th on share the
/// last bit.
pub type Leads = Arc<[u64]>;

/// For each location, the channels that matter to what a process may do from there on.
#[derive(Clone, Debug, Default)]
pub struct Rendezvous {
    /// It may receive on these.
    pub accepts: Vec<Channels>,
    /// It may do something that depends on whether anybody receives on these.
    pub depends_on_absence: Vec<Channels>,
    /// The same, if only what can be reached matters.
    pub shown_absence: Vec<Channels>,
}

impl Facts {
    /// For each edge of one process, what leads another one to something that does not accord with what the first
    /// may do from this edge on before anybody else moves.
    pub fn danger(&self, of: &Instance, other: &Instance) -> Vec<Leads> {
        self.over_runs(of, other, |mine, theirs| !mine.accords(theirs))
    }

    /// What leads a process to a step that may make a part of another one's guard true.
    pub fn enablers(&self, part: &Condition, other: &Instance) -> Leads {
        let (process, mut edges, mut types) = (other.key.process.0 as usize, Bits::default(), Bits::default());
        let enabling = |of: &Instance| -> Vec<usize> {
            of.concerns().asked_by(part).iter().filter(|edge| of.steps[*edge].may_enable(part)).collect()
        };
        enabling(other).into_iter().for_each(|edge| edges.insert(edge));
        for kind in self.shapes[process].spawned.iter() {
            if !enabling(&self.unknown[kind]).is_empty() {
                types.insert(kind);
            }
        }
        self.leads_to(other, &edges, &types)
    }

    /// For each edge of one process, what leads another one to being its partner in a rendezvous.
    pub fn partners(&self, of: &Instance, other: &Instance) -> Vec<Leads> {
        self.over_runs(of, other, |mine, theirs| {
            mine.offers.meets(theirs.accepts)
                || mine.depends_on_absence.meets(theirs.accepts)
                || mine.accepts.meets(theirs.offers)
        })
    }

    /// For each edge of one process, the edges from which on another one may be its partner in a rendezvous before anybody else moves by
    /// himself.
    pub fn direct_partners(&self, of: &Instance, other: &Instance) -> Vec<Leads> {
        let is_partner =
            |mine: &Step, theirs: &Step| mine.offers.meets(theirs.accepts) || mine.accepts.meets(theirs.offers);
        let program = self.program();
        let locations = &program.process(other.key.process).locations;
        let direct = |mine: &Step| {
            let mut partners = Bits::default();
            let found = (0..other.steps.len()).filter(|edge| is_partner(mine, &other.steps[*edge]));
            found.for_each(|edge| partners.insert(edge));
            let leads = |edge: u32| self.run(other.key.process, self.index_of(EdgeId(edge))).meets(&partners);
            let mask = |location: &Location| {
                let edges = location.edges.clone().enumerate();
                edges.filter(|(_, edge)| leads(*edge)).fold(0, |mask, (at, _)| mask | bit(at))
            };
            locations.iter().map(mask).collect()
        };
        of.steps.iter().map(|mine| if mine.is_alone() { Leads::default() } else { direct(mine) }).collect()
    }

    /// For each edge of a location, as bits in their order, those that may be executable in the same state; itself is one of them. Edges
    /// from the 64th on share the last bit.
    pub fn executable_together(&self, of: &Instance, location: &Location) -> Vec<u64> {
        let context = self.context(&of.key);
        let edges: Vec<EdgeId> = location.edges.clone().map(EdgeId).collect();
        let steps: Vec<&Step> = edges.iter().map(|edge| &of.steps[self.index_of(*edge)]).collect();
        // A fault can be met whether the guard holds or not, and what escapes comes first. What another process's step may include is
        // executable although, by itself, it is not.
        let escapes = self.program().edges_of(location).any(|(_, edge)| edge.escape != 0);
        let is_certain = !escapes && !steps.iter().any(|step| step.guard_breaks);
        let is_known = |at: usize| is_certain && steps[at].accepts.is_empty();
        let is_else = |at: usize| context.is_plain_else(&self.program().edges[edges[at].0 as usize]);
        let is_never = |a: usize, b: usize| {
            let (first, later) = (a.min(b), a.max(b));
            first != later
                && is_known(first)
                && is_known(later)
                && (is_else(later) || steps[first].excludes_alternative(steps[later]))
        };
        let together =
            |at: usize| (0..edges.len()).filter(|other| !is_never(at, *other)).fold(0, |all, other| all | bit(other));
        (0..edges.len()).map(together).collect()
    }

    /// The channels that matter from each location on.
    pub fn rendezvous(&self, of: &Instance) -> Rendezvous {
        let shape = &self.shapes[of.key.process.0 as usize];
        let mut rendezvous = Rendezvous::default();
        let takes_part = |step: &Step| !step.accepts.is_empty() || !step.depends_on_absence.is_empty();
        let taking_part: Vec<usize> = (0..of.steps.len()).filter(|edge| takes_part(&of.steps[*edge])).collect();
        for (ahead, spawned) in shape.ahead.iter().zip(&shape.spawned_ahead) {
            let own = taking_part.iter().filter(|edge| ahead.contains(**edge)).map(|edge| &of.steps[*edge]);
            let created = spawned.iter().flat_map(|kind| &self.unknown[kind].steps);
            let [mut accepts, mut depends_on_absence, mut shown_absence] = [Channels::NONE; 3];
            for step in own.chain(created) {
                accepts = accepts.with(step.accepts);
                depends_on_absence = depends_on_absence.with(step.depends_on_absence);
                shown_absence = shown_absence.with(step.shown_absence);
            }
            rendezvous.accepts.push(accepts);
            rendezvous.depends_on_absence.push(depends_on_absence);
            rendezvous.shown_absence.push(shown_absence);
        }
        rendezvous
    }

    /// What leads a process to a step that fits, its own or one of a process that it creates; each with its edge.
    pub fn leads(&self, of: &Instance, fits: impl Fn(EdgeId, &Step) -> bool) -> Leads {
        let fits_at = |process: usize, (edge, step): (usize, &Step)| {
            fits(EdgeId(self.shapes[process].first_edge + edge as u32), step)
        };
        let (process, mut edges) = (of.key.process.0 as usize, Bits::default());
        let own = of.steps.iter().enumerate();
        own.filter(|(edge, step)| fits_at(process, (*edge, step))).for_each(|(edge, _)| edges.insert(edge));
        let mut types = Bits::default();
        for kind in self.shapes[process].spawned.iter() {
            if self.unknown[kind].steps.iter().enumerate().any(|step| fits_at(kind, step)) {
                types.insert(kind);
            }
        }
        self.leads_to(of, &edges, &types)
    }

    /// What leads a process to some of its edges, or to creating a process that leads to creating some types.
    fn leads_to(&self, of: &Instance, edges: &Bits, types: &Bits) -> Leads {
        if edges.is_empty() && types.is_empty() {
            return Leads::default();
        }
        let shape = &self.shapes[of.key.process.0 as usize];
        let locations = &self.program.process(of.key.process).locations;
        let ahead = shape.ahead.iter().zip(&shape.spawned_ahead);
        let is_ahead: Vec<bool> = ahead.map(|(ahead, spawned)| ahead.meets(edges) || spawned.meets(types)).collect();
        let mask = |location: &Location| {
            location.edges.clone().enumerate().fold(0, |mask, (at, edge)| {
                let index = (edge - shape.first_edge) as usize;
                let target = self.program.edges[edge as usize].target.0 as usize;
                let leads = is_ahead[target] || edges.contains(index) || shape.created[index].meets(types);
                if leads { mask | bit(at) } else { mask }
            })
        };
        locations.iter().map(mask).collect()
    }

    /// For each edge of one process, what leads another one to a step that has a relation to a step that the first may
    /// take from the edge on before anybody else moves. Only steps that share something can have it.
    fn over_runs(&self, of: &Instance, other: &Instance, related: impl Fn(&Step, &Step) -> bool) -> Vec<Leads> {
        let mine = &self.shapes[of.key.process.0 as usize];
        let theirs = &self.shapes[other.key.process.0 as usize];
        let single: Vec<(Bits, Bits)> = of
            .steps
            .iter()
            .map(|step| {
                let (mut edges, mut types) = (Bits::default(), Bits::default());
                let found = |of: &Instance| {
                    let shared = of.concerns().shared_with(step);
                    shared.iter().filter(|edge| related(step, &of.steps[*edge])).collect::<Vec<usize>>()
                };
                found(other).into_iter().for_each(|edge| edges.insert(edge));
                for kind in theirs.spawned.iter() {
                    if !found(&self.unknown[kind]).is_empty() {
                        types.insert(kind);
                    }
                }
                (edges, types)
            })
            .collect();
        // Many runs have to do with the same steps.
        let mut known: FxHashMap<(Bits, Bits), Leads> = FxHashMap::default();
        let union = |run: &Bits| {
            let (mut edges, mut types) = (Bits::default(), Bits::default());
            for edge in run.iter() {
                edges.extend(&single[edge].0);
                types.extend(&single[edge].1);
            }
            let leads = known.entry((edges, types));
            Arc::clone(leads.or_insert_with_key(|(edges, types)| self.leads_to(other, edges, types)))
        };
        mine.run.iter().map(union).collect()
    }
}

/// The bit of an edge by its position in its location.
fn bit(position: usize) -> u64 {
    1 << position.min(63)
}
