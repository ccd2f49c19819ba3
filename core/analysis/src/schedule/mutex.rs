//! Whether mutexes do the same as waits that keep processes apart.
//!
//! A process that is about to go on from its *entry* may first lock, if nobody has the lock, and only goes on if it has; who is in
//! its *section* has the lock, and whoever leaves the entry for elsewhere gives it back at once. A process may block at its
//! entry while it has the lock, though, where one that waits does not keep others from moving: so the model with locks is explored.
//!
//! ```text
//! pairs := {(s₀, {})};  for each pair (s, H), H the processes that have locked and are still at their entries:
//!   for each p at its entry: if nobody is in a section of its lock, and nobody in H has that lock: (s, H + p)
//!   for each macro step s → t of processes M, each of which is not at its entry, or is in H:  (t, H \ M)
//! ```
//!
//! They do the same if no error and no dead end follows, and each process that a safe schedule lets move again can move again.

use super::explored::Explored;
use super::places::Places;
use fabius_base::Cancel;
use fabius_search::Ending;
use fabius_search::restrict::{Movers, Site, Wait, held};
use std::collections::{BTreeMap, HashMap};

/// No more pairs are explored.
const PAIRS_MAX: usize = 100_000;

/// Of a kind of processes, where one of them locks, and the places in which it has the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Section {
    /// The number of the lock.
    pub(super) lock: usize,
    /// The entry.
    pub(super) entry: u16,
    /// The first place of the section.
    pub(super) first: u16,
    /// The last place of the section.
    pub(super) last: u16,
}

/// Sections by kind; a lock lets only one process at a time into those that have it.
pub(super) type Sections = BTreeMap<u16, Section>;

/// Whether the model is safe with locks in the place of some waits, beside the others, and nobody is shut out; `false` where that is too
/// much to explore.
pub(super) fn do_the_same(
    explored: &Explored,
    places: &Places,
    sections: &Sections,
    others: &[Wait],
    cancel: &Cancel,
) -> bool {
    let Ok(safely) = explored.safe_movers(cancel) else { return false };
    let sites = |state: u32| explored.sites(places, state);
    Locked { explored, sections, others, numbers: HashMap::new(), pairs: Vec::new() }.holds(&sites, safely, cancel)
}

/// A state, and the processes that have locked and are still at their entries, as bits.
type Pair = (u32, u64);

/// Those who move, or nobody where somebody locks, and the number of the pair that follows.
type Next = (Option<Movers>, usize);

/// The model with locks.
struct Locked<'a> {
    explored: &'a Explored,
    sections: &'a Sections,
    others: &'a [Wait],
    numbers: HashMap<Pair, usize>,
    pairs: Vec<Pair>,
}

impl Locked<'_> {
    fn holds(mut self, sites: &dyn Fn(u32) -> Vec<Site>, safely: &[u64], cancel: &Cancel) -> bool {
        self.number((0, 0));
        let mut steps: Vec<Vec<Next>> = Vec::new();
        while let Some(&pair) = self.pairs.get(steps.len()) {
            if PAIRS_MAX < self.pairs.len() || cancel.requested().is_some() {
                return false;
            }
            match self.steps(pair, &sites(pair.0)) {
                Some(found) => steps.push(found),
                None => return false,
            }
        }
        self.shuts_out_nobody(&steps, safely)
    }

    fn number(&mut self, pair: Pair) -> usize {
        let next = self.pairs.len();
        let number = *self.numbers.entry(pair).or_insert(next);
        if number == next {
            self.pairs.push(pair);
        }
        number
    }

    /// What can follow a pair; nothing if that is an error or a dead end.
    fn steps(&mut self, (state, locked): Pair, sites: &[Site]) -> Option<Vec<Next>> {
        let graph = &self.explored.graph;
        let section = |pid: u8| sites.get(usize::from(pid)).and_then(|at| Some((at, self.sections.get(&at.kind)?)));
        let has = |pid: u8| locked >> pid & 1 != 0;
        let lock_at_entry =
            |pid: u8| section(pid).filter(|(at, section)| section.entry == at.place).map(|(_, section)| section.lock);
        let is_taken = |lock: usize| {
            (0..sites.len() as u8).any(|pid| {
                section(pid).is_some_and(|(at, section)| {
                    section.lock == lock && (has(pid) || (section.first..=section.last).contains(&at.place))
                })
            })
        };
        let waiting = held(self.others, sites);
        let mut next: Vec<(Option<Movers>, Pair)> = Vec::new();
        let entering = (0..sites.len() as u8).filter(|&pid| lock_at_entry(pid).is_some_and(|lock| !is_taken(lock)));
        next.extend(entering.map(|pid| (None, (state, locked | 1 << pid))));
        for group in graph.groups_of(state).map(|number| graph.group(number)) {
            let moving = || group.movers.into_iter().flatten();
            if moving().any(|pid| waiting >> pid & 1 != 0 || lock_at_entry(pid).is_some() && !has(pid)) {
                continue;
            }
            if group.fails {
                return None;
            }
            let left = moving().fold(locked, |left, pid| left & !(1 << pid));
            next.extend(graph.targets(group).iter().map(|&target| (Some(group.movers), (target, left))));
        }
        if next.is_empty() && graph.ending(state) != Some(Ending::ValidEnd) {
            return None;
        }
        Some(next.into_iter().map(|(movers, pair)| (movers, self.number(pair))).collect())
    }

    /// Whether each process that a safe schedule lets move again can move again.
    fn shuts_out_nobody(&self, steps: &[Vec<Next>], safely: &[u64]) -> bool {
        let mut ahead = vec![0_u64; steps.len()];
        loop {
            let mut changed = false;
            for (pair, next) in steps.iter().enumerate().rev() {
                let mut set = ahead[pair];
                for (movers, target) in next {
                    let moving = movers.iter().flatten().flatten();
                    set |= moving.fold(ahead[*target], |set, &pid| set | 1 << pid);
                }
                changed |= set != ahead[pair];
                ahead[pair] = set;
            }
            if !changed {
                break;
            }
        }
        self.pairs.iter().zip(&ahead).all(|(&(state, _), ahead)| safely[state as usize] & !ahead == 0)
    }
}
