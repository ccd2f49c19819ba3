//! The fewest waits that make a model safe.
//!
//! A *wait* is (who, where, while): a process of one kind does not move from a place, neither by itself nor as the receiver
//! of a rendezvous, while another process is in a stretch of the places of its kind.
//!
//! ```text
//! least(kmax):  for k = 0 … kmax:  go({}, k);  if there are solutions: return them, ranked
//! go(C, k):     if C was seen: return
//!   r := bad run under C                    -- the shortest, breadth-first over the restricted graph
//!          1. an error, or what was not explored    2. a dead end    3. a state from which a process is shut out
//!   none: C is a solution;   k = 0: return
//!   for each wait w that forbids some step of r:  go(C + w, k − 1)
//! ```
//!
//! A process is *shut out* in a state if it can move again in the region, now or later, but not under the waits. Complete
//! for the vocabulary: under more waits fewer steps are possible, so r stays a bad run of its kind unless one of its steps is
//! forbidden. Where the graph is not complete, *can move again* is read off all that was explored, and whoever gets to what was
//! not can: then a solution may be missed, but none is wrong.

use super::graph::Graph;
use super::region::{Region, Stopped, add_movers_ahead, bits, can_move_again};
use crate::model::Ending;
use fabius_base::Cancel;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

/// Of a kind with at most this many places, all stretches are tried; …
const PLACES_MAX: u16 = 12;
/// … of one with more, those of at most this many places.
const STRETCH_MAX: u16 = 6;
/// More processes are not supported.
pub const PROCESSES_MAX: usize = 64;

/// Where a process is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// Its kind: processes of one kind are treated alike.
    pub kind: u16,
    /// Its place, by number in its kind; numbers that follow one another are neighbours.
    pub place: u16,
}

/// A process of a kind does not move from a place while another process is in a stretch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Wait {
    /// Who waits where.
    pub at: Site,
    /// The kind of the other process.
    pub other: u16,
    /// The first place of the stretch.
    pub first: u16,
    /// The last place of the stretch.
    pub last: u16,
}

/// The places that waits can speak of.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Number of places of each kind.
    sizes: Vec<u16>,
    /// Of each state: where its processes end in `sites`.
    ends: Vec<u32>,
    sites: Vec<Site>,
}

/// How much may be done.
#[derive(Clone, Copy, Debug)]
pub struct Effort<'c> {
    /// Waits in a solution.
    pub waits_max: usize,
    /// Sets of waits that are checked on the graph.
    pub checks_max: u64,
    /// States looked at, over all checks.
    pub work_max: u64,
    /// Whoever raises this ends the search.
    pub cancel: &'c Cancel,
}

/// A set of waits that makes the model safe, and what that costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The waits, in ascending order.
    pub waits: Vec<Wait>,
    /// States that are still reached.
    pub kept: usize,
    /// Places that safe runs reach and that are no longer reached.
    pub gives_up: Vec<Site>,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solutions {
    /// The solutions with the fewest waits, the best one first.
    pub ranked: Vec<Solution>,
    /// Whether everything was tried that the vocabulary and the number of waits allow.
    pub exhaustive: bool,
    /// Sets of waits that were checked.
    pub checks: u64,
}

/// The effort is used up.
struct Exhausted;

/// A run, as states and the groups taken there.
type Run = Vec<(u32, u32)>;

impl Vocabulary {
    /// The sites of the processes of all states, one state after the other; `ends` says where those of each state end.
    /// `sizes` is the number of places of each kind.
    pub fn new(sizes: Vec<u16>, ends: Vec<u32>, sites: Vec<Site>) -> Self {
        Self { sizes, ends, sites }
    }

    /// Where the processes are in a state.
    pub fn sites(&self, state: u32) -> &[Site] {
        let start = (state as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sites[start as usize..self.ends[state as usize] as usize]
    }

    /// The stretches of a kind that contain a place.
    pub fn stretches(&self, site: Site) -> impl Iterator<Item = (u16, u16)> + use<> {
        let size = self.sizes.get(usize::from(site.kind)).copied().unwrap_or(0);
        let longest = if size <= PLACES_MAX { size } else { STRETCH_MAX };
        let place = site.place;
        (0..longest).flat_map(move |more| {
            let firsts = place.saturating_sub(more)..=place;
            firsts.map(move |first| (first, first + more)).filter(move |&(_, last)| last < size)
        })
    }

    /// The waits that hold back a process in a state.
    pub fn waits_for(&self, state: u32, process: u8) -> Vec<Wait> {
        let sites = self.sites(state);
        let Some(&at) = sites.get(usize::from(process)) else { return Vec::new() };
        let others = sites.iter().enumerate().filter(|(other, _)| *other != usize::from(process));
        let waits = others.flat_map(|(_, other)| {
            self.stretches(*other).map(move |(first, last)| Wait { at, other: other.kind, first, last })
        });
        waits.collect()
    }

    /// The processes that waits hold back in a state, as bits.
    pub fn held(&self, waits: &[Wait], state: u32) -> u64 {
        held(waits, self.sites(state))
    }
}

/// The processes that waits hold back where the processes are at these sites, as bits.
pub fn held(waits: &[Wait], sites: &[Site]) -> u64 {
    let mut held = 0;
    for wait in waits {
        let inside = |site: &Site| site.kind == wait.other && (wait.first..=wait.last).contains(&site.place);
        let mut there = sites.iter().enumerate().filter(|(_, site)| inside(site)).map(|(process, _)| process);
        let (first, second) = (there.next(), there.next());
        for (process, _) in sites.iter().enumerate().filter(|(_, site)| **site == wait.at) {
            let other = if first == Some(process) { second } else { first };
            held |= u64::from(other.is_some()) << process;
        }
    }
    held
}

/// A graph, and the waits that are looked for.
pub struct Problem<'g> {
    graph: &'g Graph,
    vocabulary: &'g Vocabulary,
    effort: Effort<'g>,
    /// Of each state: who can move again without waits.
    ahead_free: Vec<u64>,
    /// Places that safe runs reach.
    good_sites: BTreeSet<Site>,
    /// Runs that are bad whatever waits there are, unless one forbids a step of them.
    known: Vec<Run>,
    checks: u64,
    work: u64,
    round: u32,
    /// The round in which a state was last reached, and from where.
    reached: Vec<(u32, u32, u32)>,
    /// The round in which a group was last allowed.
    allowed: Vec<u32>,
    ahead: Vec<u64>,
    /// The states reached in this round, nearest first.
    order: Vec<u32>,
}

impl<'g> Problem<'g> {
    /// Prepares the search for waits.
    ///
    /// # Errors
    /// If somebody stopped it.
    pub fn new(
        graph: &'g Graph,
        region: &Region,
        vocabulary: &'g Vocabulary,
        effort: Effort<'g>,
    ) -> Result<Self, Stopped> {
        let good = region.reached(graph);
        Ok(Self {
            good_sites: good.iter().flat_map(|&state| vocabulary.sites(state).iter().copied()).collect(),
            graph,
            vocabulary,
            effort,
            ahead_free: can_move_again(graph, region, effort.cancel)?,
            known: Vec::new(),
            checks: 0,
            work: 0,
            round: 0,
            reached: vec![(0, 0, 0); graph.len()],
            allowed: vec![0; graph.group_count()],
            ahead: vec![0; graph.len()],
            order: Vec::new(),
        })
    }

    /// The solutions with the fewest waits.
    pub fn least(&mut self) -> Solutions {
        let mut found = Solutions { exhaustive: true, ..Solutions::default() };
        for waits in 0..=self.effort.waits_max {
            let mut seen = HashSet::new();
            let done = self.go(&[], waits, &mut seen, &mut found.ranked);
            found.exhaustive = done.is_ok();
            if !found.exhaustive || !found.ranked.is_empty() {
                break;
            }
        }
        found.ranked.sort_by_cached_key(|solution| {
            let kinds: BTreeSet<u16> = solution.waits.iter().flat_map(|wait| [wait.at.kind, wait.other]).collect();
            let places: u32 = solution.waits.iter().map(|wait| u32::from(wait.last - wait.first)).sum();
            (solution.gives_up.len(), Reverse(solution.kept), kinds.len(), places, solution.waits.clone())
        });
        found.checks = self.checks;
        found
    }

    /// Whether a set of waits is a solution, and what it costs.
    pub fn solves(&mut self, waits: &[Wait]) -> Option<Solution> {
        match self.bad_run(waits) {
            Ok(None) => Some(self.solution(waits)),
            _ => None,
        }
    }

    fn go(
        &mut self,
        waits: &[Wait],
        more: usize,
        seen: &mut HashSet<Vec<Wait>>,
        found: &mut Vec<Solution>,
    ) -> Result<(), Exhausted> {
        self.work += 1;
        if self.effort.work_max < self.work {
            return Err(Exhausted);
        }
        if !seen.insert(waits.to_vec()) {
            return Ok(());
        }
        let run = match self.known.iter().find(|run| !self.forbids(waits, run)) {
            Some(_) if more == 0 => return Ok(()),
            Some(run) => run.clone(),
            None => match self.bad_run(waits)? {
                None => {
                    found.push(self.solution(waits));
                    return Ok(());
                }
                Some(run) => run,
            },
        };
        if more == 0 {
            return Ok(());
        }
        for wait in self.candidates(&run) {
            let mut with = waits.to_vec();
            if let Err(place) = with.binary_search(&wait) {
                with.insert(place, wait);
                self.go(&with, more - 1, seen, found)?;
            }
        }
        Ok(())
    }

    /// Whether waits forbid some step of a run.
    fn forbids(&self, waits: &[Wait], run: &Run) -> bool {
        run.iter().any(|&(state, group)| {
            self.vocabulary.held(waits, state) & bits(self.graph.group(group as usize).movers) != 0
        })
    }

    /// The waits that forbid some step of a run, those of its last steps first.
    fn candidates(&self, run: &Run) -> Vec<Wait> {
        let mut candidates = Vec::new();
        let mut seen = HashSet::new();
        for &(state, group) in run.iter().rev() {
            for mover in self.graph.group(group as usize).movers.into_iter().flatten() {
                let waits = self.vocabulary.waits_for(state, mover);
                candidates.extend(waits.into_iter().filter(|wait| seen.insert(*wait)));
            }
        }
        candidates
    }

    /// A shortest bad run under waits, if there is one.
    fn bad_run(&mut self, waits: &[Wait]) -> Result<Option<Run>, Exhausted> {
        self.checks += 1;
        let stopped = self.effort.cancel.requested().is_some();
        if stopped || self.effort.checks_max < self.checks || self.effort.work_max < self.work {
            return Err(Exhausted);
        }
        if let Some((run, whatever_waits)) = self.walk(waits) {
            if whatever_waits {
                self.known.push(run.clone());
            }
            return Ok(Some(run));
        }
        Ok(self.shut_out()?.map(|state| self.run_to(state)))
    }

    /// Walks through what is reached under waits. A run to an error, to what was not explored, or to a dead end, if there
    /// is one, and whether it is bad whatever other waits there are.
    fn walk(&mut self, waits: &[Wait]) -> Option<(Run, bool)> {
        self.round += 1;
        self.order.clear();
        self.order.push(0);
        self.reached[0].0 = self.round;
        let mut next = 0;
        while let Some(&state) = self.order.get(next) {
            next += 1;
            self.work += 1;
            match self.graph.ending(state) {
                None | Some(Ending::InvalidEnd) => return Some((self.run_to(state), true)),
                Some(Ending::ValidEnd) => continue,
                Some(Ending::Moves) => {}
            }
            let held = self.vocabulary.held(waits, state);
            let mut any = false;
            for number in self.graph.groups_of(state) {
                let group = self.graph.group(number);
                if bits(group.movers) & held != 0 {
                    continue;
                }
                if group.fails {
                    let mut run = self.run_to(state);
                    run.push((state, number as u32));
                    return Some((run, true));
                }
                any = true;
                self.allowed[number] = self.round;
                for &target in self.graph.targets(group) {
                    if self.reached[target as usize].0 != self.round {
                        self.reached[target as usize] = (self.round, state, number as u32);
                        self.order.push(target);
                    }
                }
            }
            if !any {
                return Some((self.run_to(state), false));
            }
        }
        None
    }

    /// The nearest state, of those reached last, from which somebody is shut out.
    fn shut_out(&mut self) -> Result<Option<u32>, Exhausted> {
        let Self { graph, order, ahead, allowed, round, ahead_free, effort, .. } = self;
        order.iter().for_each(|&state| ahead[state as usize] = 0);
        let looked_at = add_movers_ahead(graph, order, ahead, |_, group| allowed[group] == *round, effort.cancel);
        self.work += looked_at.map_err(|Stopped| Exhausted)?;
        Ok(order.iter().copied().find(|&state| ahead_free[state as usize] & !ahead[state as usize] != 0))
    }

    /// The way to a state that was reached last.
    fn run_to(&self, state: u32) -> Run {
        let mut run = Vec::new();
        let mut at = state;
        while at != 0 {
            let (_, before, group) = self.reached[at as usize];
            run.push((before, group));
            at = before;
        }
        run.reverse();
        run
    }

    /// What waits cost that were checked last.
    fn solution(&self, waits: &[Wait]) -> Solution {
        let reached: BTreeSet<Site> =
            self.order.iter().flat_map(|&state| self.vocabulary.sites(state).iter().copied()).collect();
        let gives_up = self.good_sites.difference(&reached).copied().collect();
        Solution { waits: waits.to_vec(), kept: self.order.len(), gives_up }
    }
}
