//! What the steps of a run touch: to tell two runs apart by the order in which they do.

use std::collections::{BTreeMap, HashMap};

use crate::interpret::Outcome;
use crate::reads::reads;
use crate::trace::{Actor, Step, Trace};
use fabius_program::EdgeId;

/// A step as another run may take it, too: the process, its transition, and how often the process took it before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId {
    /// The process.
    pub pid: u8,
    /// Its transition.
    pub edge: EdgeId,
    /// How often it took it before.
    pub before: usize,
}

/// A step of a run with what it touches.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which one it is.
    pub id: EventId,
    /// Its number in the run, from 1.
    pub step: usize,
    /// Who takes it.
    pub actor: Actor,
    /// The variables and channels that it reads or changes, and whether it changes them.
    pub touched: BTreeMap<String, bool>,
}

/// The steps of a run, each with what it touches; of a rendezvous both halves.
pub fn accesses(trace: &Trace) -> Vec<Access> {
    let mut counts: HashMap<(u8, EdgeId), usize> = HashMap::new();
    let mut found: Vec<Access> = Vec::new();
    trace.steps.visit(&mut |step, before, outcome| {
        if step.claim.is_some() {
            return;
        }
        let read = reads(trace.steps.program(), before, step.taken);
        let touched = touched(step, read, outcome);
        let halves = [Some((step.actor.clone(), step.taken.edge)), partner(step)];
        for (actor, edge) in halves.into_iter().flatten() {
            let count = counts.entry((actor.pid, edge)).or_default();
            let id = EventId { pid: actor.pid, edge, before: *count };
            *count += 1;
            found.push(Access { id, step: step.number, actor, touched: touched.clone() });
        }
    });
    found
}

fn partner(step: &Step) -> Option<(Actor, EdgeId)> {
    Some((step.partner.clone()?, step.taken.partner?.1))
}

fn touched(step: &Step, read: Vec<String>, outcome: &Outcome) -> BTreeMap<String, bool> {
    let mut touched: BTreeMap<String, bool> = read.into_iter().map(|name| (name, false)).collect();
    if outcome.state().is_some() {
        touched.extend(step.messages.iter().map(|message| (message.channel.clone(), true)));
        touched.extend(step.changes.iter().map(|change| (change.name.clone(), true)));
    }
    touched
}
