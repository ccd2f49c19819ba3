//! The region: the states from which a scheduler can avoid every error and every dead end.
//!
//! ```text
//! bad(s):     not expanded; a dead end that is no valid end; no usable group
//! usable(g):  no macro step of it is an error, none leads to a bad state
//! sweep:      for each group g of s, those listed last first, with a macro step to a bad state:  forbid(g)
//! forbid(g):  g is unusable;  if s has no usable group: s is bad, and forbid each group listed after g with a macro step to s
//! ```
//!
//! Z is the rest: a greatest fixpoint, in time linear in the number of macro steps. Most macro steps lead to states that are expanded later,
//! so one sweep over the groups meets most bad states before what leads there, and reads the graph in the order in which it is stored. The graph itself keeps up, while it grows, what is
//! bad even if nothing follows what was not explored; Z goes on from there. What was not explored has no group, so it never
//! helps: the region of a part of the states is part of the region of all.

use super::graph::{Graph, Lost, Movers};
use crate::model::Ending;
use fabius_base::Cancel;

/// Whoever may cancel is asked whenever this many states were looked at.
const STATES_PER_LOOK: usize = 4096;
/// Nobody found it to be bad.
const SAFE: u32 = u32::MAX;

/// Somebody stopped it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

/// The states from which every error can be avoided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Of each state, when it was found to be bad, or [`SAFE`].
    rank: Vec<u32>,
    /// Of each group, whether all its macro steps stay in the region.
    usable: Vec<bool>,
    /// Number of states in it.
    len: usize,
}

impl Region {
    /// Whether a state is in it.
    pub fn contains(&self, state: u32) -> bool {
        self.rank[state as usize] == SAFE
    }

    /// Number of states in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a scheduler may allow a group of a state: whether all its macro steps stay in the region.
    pub fn allows(&self, group: usize) -> bool {
        self.usable[group]
    }

    /// A macro step of a group that cannot be allowed in a state outside: the state that it leads to, which was found to be
    /// bad before; `None` if a macro step of the group is itself an error.
    pub fn forced(&self, graph: &Graph, group: usize) -> Option<u32> {
        let group = graph.group(group);
        let targets = graph.targets(group).iter().copied().filter(|_| !group.fails);
        targets.filter(|&target| !self.contains(target)).min_by_key(|&target| self.rank[target as usize])
    }

    /// The states that a scheduler can meet who allows all that the region allows, from the initial state on.
    pub fn reached(&self, graph: &Graph) -> Vec<u32> {
        let mut seen = vec![false; graph.len()];
        let mut reached = Vec::new();
        if !graph.is_empty() && self.contains(0) {
            seen[0] = true;
            reached.push(0);
        }
        let mut next = 0;
        while let Some(&state) = reached.get(next) {
            next += 1;
            for group in graph.groups_of(state).filter(|&group| self.allows(group)) {
                for &target in graph.targets(graph.group(group)) {
                    if !std::mem::replace(&mut seen[target as usize], true) {
                        reached.push(target);
                    }
                }
            }
        }
        reached
    }
}

/// Computes the region of what was explored: what is lost is bad already, and so is what was not expanded.
pub fn region(graph: &Graph) -> Region {
    region_of_first(graph, graph.len())
}

/// The same, as if only this many states were explored, those that were met first: a part of the region that may be enough.
pub fn region_of_first(graph: &Graph, states: usize) -> Region {
    let mut narrowing = Narrowing::new(graph);
    let is_unknown = |state: u32| states <= state as usize || graph.ending(state).is_none();
    (0..graph.len() as u32).filter(|&state| is_unknown(state)).for_each(|state| narrowing.add(state));
    // What is lost was passed on while the graph grew.
    if graph.lost().order.len() < narrowing.order.len() {
        narrowing.sweep(graph);
    }
    let Narrowing { order, rank, usable, .. } = narrowing;
    Region { len: graph.len() - order.len(), rank, usable }
}

/// A region from which bad states are taken.
struct Narrowing {
    /// Bad states, in the order in which they were found.
    order: Vec<u32>,
    /// Of each state, its place there, or [`SAFE`].
    rank: Vec<u32>,
    /// Of each state, the number of groups that a scheduler may allow.
    left: Vec<u32>,
    /// Of each group, whether a scheduler may allow it.
    usable: Vec<bool>,
}

impl Narrowing {
    /// All but the states that are lost.
    fn new(graph: &Graph) -> Self {
        let Lost { order, left, usable, .. } = graph.lost();
        let mut left = left.clone();
        left.resize(graph.len(), 0);
        let mut rank = vec![SAFE; graph.len()];
        order.iter().zip(0..).for_each(|(&state, at)| rank[state as usize] = at);
        Self { order: order.clone(), rank, left, usable: usable.clone() }
    }

    fn add(&mut self, state: u32) {
        let rank = &mut self.rank[state as usize];
        if *rank == SAFE {
            *rank = self.order.len() as u32;
            self.order.push(state);
        }
    }

    /// Forbids all groups with a macro step to a bad state.
    fn sweep(&mut self, graph: &Graph) {
        for number in (0..graph.group_count()).rev() {
            let is_bad = |&target: &u32| self.rank[target as usize] != SAFE;
            if !self.usable[number] || !graph.targets(graph.group(number)).iter().any(is_bad) {
                continue;
            }
            let mut next = self.order.len();
            self.forbid(graph, number);
            while let Some(&bad) = self.order.get(next) {
                next += 1;
                // Those listed before this one are still to come.
                for passed in graph.groups_to(bad).take_while(|&group| number < group) {
                    if self.usable[passed] {
                        self.forbid(graph, passed);
                    }
                }
            }
        }
    }

    /// Forbids a group that is usable.
    fn forbid(&mut self, graph: &Graph, group: usize) {
        self.usable[group] = false;
        let state = graph.group(group).state;
        self.left[state as usize] -= 1;
        if self.left[state as usize] == 0 {
            self.add(state);
        }
    }
}

/// What the region could be at most, whatever is explored later: as if no error followed what was not explored. From a state
/// outside, an error or a dead end can follow under every schedule. The graph keeps it up while it grows.
pub fn region_at_most(graph: &Graph) -> Region {
    let Lost { order, usable, .. } = graph.lost();
    let mut rank = vec![SAFE; graph.len()];
    order.iter().zip(0..).for_each(|(&state, at)| rank[state as usize] = at);
    Region { len: graph.len() - order.len(), rank, usable: usable.clone() }
}

/// Whether every run from the initial state ends in an error or an invalid end, whoever is let move and whatever processes choose. What
/// was not explored could be anything.
pub fn every_run_fails(graph: &Graph) -> bool {
    let steps = |state: u32| graph.groups_of(state).map(|group| graph.targets(graph.group(group)).len()).sum();
    // Of each state: its macro steps after which not every run is known to fail.
    let mut left: Vec<usize> = (0..graph.len() as u32).map(steps).collect();
    let fails = |&state: &u32| match graph.ending(state) {
        Some(Ending::InvalidEnd) => true,
        Some(Ending::Moves) => left[state as usize] == 0,
        Some(Ending::ValidEnd) | None => false,
    };
    let mut worklist: Vec<u32> = (0..graph.len() as u32).filter(fails).collect();
    let mut next = 0;
    while let Some(&failing) = worklist.get(next) {
        next += 1;
        for group in graph.groups_to(failing) {
            let state = graph.group(group).state;
            left[state as usize] -= 1;
            if left[state as usize] == 0 {
                worklist.push(state);
            }
        }
    }
    worklist.contains(&0)
}

/// Of each state: the processes that can move again, now or later, in the model, be it with an error. Bits, by number; only the
/// first 64.
///
/// # Errors
/// If somebody stopped it.
pub fn movers_in_model(graph: &Graph, cancel: &Cancel) -> Result<Vec<u64>, Stopped> {
    let all: Vec<u32> = (0..graph.len() as u32).collect();
    let mut ahead = vec![0; graph.len()];
    add_movers_ahead(graph, &all, &mut ahead, |_, _| true, cancel)?;
    Ok(ahead)
}

/// The same, and everybody where it is not known.
///
/// # Errors
/// If somebody stopped it.
pub fn possible_movers(graph: &Graph, cancel: &Cancel) -> Result<Vec<u64>, Stopped> {
    with_unknown(graph, |_, _| true, cancel)
}

/// Of each state: the processes that can move again, now or later, without an error; everybody where that is not known.
///
/// # Errors
/// If somebody stopped it.
fn movers_ahead(graph: &Graph, cancel: &Cancel) -> Result<Vec<u64>, Stopped> {
    with_unknown(graph, |_, group| !graph.group(group).fails, cancel)
}

/// Of each state: the processes that can move again along groups that are allowed; everybody where that is not known.
fn with_unknown(graph: &Graph, allowed: impl Fn(u32, usize) -> bool, cancel: &Cancel) -> Result<Vec<u64>, Stopped> {
    let all: Vec<u32> = (0..graph.len() as u32).collect();
    let unknown = |&state: &u32| if graph.ending(state).is_none() { u64::MAX } else { 0 };
    let mut ahead: Vec<u64> = all.iter().map(unknown).collect();
    add_movers_ahead(graph, &all, &mut ahead, allowed, cancel)?;
    Ok(ahead)
}

/// Of each state: the processes that a safe schedule lets move again, now or later. Where not everything was explored, at least
/// these.
///
/// # Errors
/// If somebody stopped it.
pub fn can_move_again(graph: &Graph, region: &Region, cancel: &Cancel) -> Result<Vec<u64>, Stopped> {
    if !graph.is_complete() { movers_ahead(graph, cancel) } else { movers_within(graph, region, cancel) }
}

/// Of each state: the processes that can move again if a scheduler allows all that the region allows.
///
/// # Errors
/// If somebody stopped it.
fn movers_within(graph: &Graph, region: &Region, cancel: &Cancel) -> Result<Vec<u64>, Stopped> {
    let mut ahead = vec![0; graph.len()];
    let reached = region.reached(graph);
    add_movers_ahead(graph, &reached, &mut ahead, |_, group| region.allows(group), cancel)?;
    Ok(ahead)
}

/// Adds to `ahead`, for each state, the processes that can move again, now or later, along groups that are allowed.
///
/// `states` are those that count, in an order in which most macro steps lead forward. Says how many states it looked at.
///
/// # Errors
/// If somebody stopped it.
pub fn add_movers_ahead(
    graph: &Graph,
    states: &[u32],
    ahead: &mut [u64],
    allowed: impl Fn(u32, usize) -> bool,
    cancel: &Cancel,
) -> Result<u64, Stopped> {
    let mut open: Vec<u32> = states.iter().rev().copied().collect();
    let (mut everybody, mut looked_at) = (u64::MAX, 0);
    loop {
        let (mut changed, mut together) = (false, 0);
        for chunk in open.chunks(STATES_PER_LOOK) {
            if cancel.requested().is_some() {
                return Err(Stopped);
            }
            for &state in chunk {
                let mut set = ahead[state as usize];
                for group in graph.groups_of(state).filter(|&group| allowed(state, group)) {
                    set |= bits(graph.group(group).movers);
                    let targets = graph.targets(graph.group(group)).iter();
                    set = targets.fold(set, |set, &target| set | ahead[target as usize]);
                }
                changed |= set != ahead[state as usize];
                ahead[state as usize] = set;
                together |= set;
            }
        }
        looked_at += open.len() as u64;
        if !changed {
            return Ok(looked_at);
        }
        if looked_at == states.len() as u64 {
            // Whoever moves at all was met by now.
            everybody = together;
        }
        open.retain(|&state| ahead[state as usize] != everybody);
    }
}

/// A set of processes as bits; those numbered 64 and more are in no set.
pub(super) fn bits(movers: Movers) -> u64 {
    movers.into_iter().flatten().filter(|&mover| mover < 64).fold(0, |set, mover| set | 1 << mover)
}
