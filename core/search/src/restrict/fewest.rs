//! The fewest waits that make a model safe.
//!
//! ```text
//! least(kmax):  for k = 0 … kmax:  go({}, k);  if there are solutions: return them, ranked
//! go(C, k):
//!   r := a known refutation of C, else one from the graph under C, which is known then
//!   none: C is a solution;   k = 0: return
//!   for each wait w that forbids some step of r's run, unless go(D + w, …) was done before for a D ⊆ C:  go(C + w, k − 1)
//!
//! refutation of C:  a shortest run (breadth-first over the restricted graph) that C allows
//!    1. to a macro step that no safe schedule allows;    2. to a dead end;    3. to a state from which a process is shut out
//! ```
//!
//! This is the implicit hitting set method: each wait that forbids a step hits the refutation; sets that do not hit every known one
//! are never tried on the graph. A refutation of the first kind refutes every set of waits that allows its run: from outside the
//! region every schedule can lead to an error. One of the other kinds also needs that certain macro steps after the run are
//! forbidden: those of the dead end, or those with which the process would move or leave the states that it is shut up in; those
//! that no safe schedule allows do not count, since whoever allows one of them is refuted as well. So a set that
//! allows the run and forbids them is refuted, too.
//!
//! A process is *shut out* in a state if it can move again in the region, now or later, but not under the waits. Complete
//! for the vocabulary: under more waits fewer steps are possible, so a run stays bad unless one of its steps is
//! forbidden. Where the graph is not complete, *can move again* is read off all that was explored, and whoever gets to what was
//! not can: then a solution may be missed, but none is wrong.

use super::graph::Graph;
use super::region::{Region, Stopped, add_movers_ahead, bits};
use super::waits::{Arrangements, Site, Vocabulary, Wait, held};
use crate::model::Ending;
use fabius_base::Cancel;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A refutation that needs more macro steps to be forbidden is not remembered.
const FORBIDDEN_MAX: usize = 64;
/// To compare a set with what is known, or a wait with a macro step of it, takes this part of the time that a state takes.
const TESTS_PER_STATE: u64 = 4;

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
    /// States looked at, as [`Effort::work_max`] counts them.
    pub work: u64,
}

/// The effort is used up.
struct Exhausted;

/// The waits that forbid some step of a run, by number, those of its last steps first.
type WaysOut = Rc<[u32]>;

/// Where the processes are, by number of the arrangement, and those of them who take part in a macro step, as bits.
type MacroStep = (u32, u64);

/// Why sets of waits are not enough: each that allows a run, and forbids certain macro steps after it.
struct Refutation {
    ways_out: WaysOut,
    forbidden: Vec<MacroStep>,
}

/// A run under waits that is bad.
struct Bad {
    /// The states, and the groups taken there.
    run: Vec<(u32, u32)>,
    /// The macro steps that have to be forbidden after it.
    forbidden: Vec<MacroStep>,
}

/// A graph, and the waits that are looked for.
pub struct Problem<'g> {
    graph: &'g Graph,
    vocabulary: &'g Vocabulary,
    effort: Effort<'g>,
    /// Of each group: who takes part, as bits; nobody if no safe schedule allows it.
    safe_movers: Vec<u64>,
    /// Of each state: who can move again without waits.
    ahead_free: &'g [u64],
    arrangements: &'g Arrangements,
    /// Whether there is a safe schedule.
    is_schedulable: bool,
    /// Places that safe runs reach.
    good_sites: BTreeSet<Site>,
    known: Known,
    checks: u64,
    /// States looked at, …
    states: u64,
    /// … and sets of waits, and waits of these, compared with what is known.
    tests: u64,
    walk: Walk,
}

/// What is known of waits.
#[derive(Default)]
struct Known {
    waits: Vec<Wait>,
    numbers: FxHashMap<Wait, u32>,
    /// Of each wait: the refutations with a step that it forbids, as bits.
    hits: Vec<Vec<u64>>,
    refutations: Vec<Refutation>,
    /// The waits that hold back a process in an arrangement.
    holding: FxHashMap<(u32, u8), WaysOut>,
    /// Of each wait: whether all sets with it were tried that could be tried now.
    is_done: Vec<bool>,
}

/// What is reached under waits.
struct Walk {
    round: u32,
    /// The round in which a state was last reached, and from where.
    reached: Vec<(u32, u32, u32)>,
    /// The round in which a group was last allowed.
    allowed: Vec<u32>,
    /// Of each arrangement: the round in which it was last met, and who has to wait there.
    held: Vec<(u32, u64)>,
    ahead: Vec<u64>,
    /// The states reached in this round, nearest first.
    order: Vec<u32>,
}

impl<'g> Problem<'g> {
    /// Prepares the search for waits; `free` says of each state who can move again, see [`super::can_move_again`].
    pub fn new(
        graph: &'g Graph,
        region: &Region,
        vocabulary: &'g Vocabulary,
        free: &'g [u64],
        effort: Effort<'g>,
    ) -> Self {
        let arrangements = vocabulary.arrangements();
        let safe = |group: usize| if region.allows(group) { bits(graph.group(group).movers) } else { 0 };
        let mut good = vec![false; arrangements.len()];
        region.reached(graph).into_iter().for_each(|state| good[arrangements.of(state) as usize] = true);
        let good = (0..arrangements.len() as u32).filter(|&arrangement| good[arrangement as usize]);
        let sites = good.flat_map(|arrangement| arrangements.sites(arrangement).iter().copied());
        Self {
            good_sites: sites.filter(|site| !vocabulary.is_value(site.kind)).collect(),
            is_schedulable: region.contains(0),
            safe_movers: (0..graph.group_count()).map(safe).collect(),
            ahead_free: free,
            walk: Walk {
                round: 0,
                reached: vec![(0, 0, 0); graph.len()],
                allowed: vec![0; graph.group_count()],
                held: vec![(0, 0); arrangements.len()],
                ahead: vec![0; graph.len()],
                order: Vec::new(),
            },
            graph,
            vocabulary,
            effort,
            arrangements,
            known: Known::default(),
            checks: 0,
            states: 0,
            tests: 0,
        }
    }

    /// The same with more work: looking at this many states in all.
    pub fn allow_work(&mut self, work_max: u64) {
        self.effort.work_max = work_max;
    }

    /// The solutions with the fewest waits.
    pub fn least(&mut self) -> Solutions {
        let mut found = Solutions::default();
        for waits in 0..=self.effort.waits_max {
            found = self.least_from(waits);
            if !found.exhaustive || !found.ranked.is_empty() {
                break;
            }
        }
        found
    }

    /// The solutions with at most this many waits; those with more than needed are among them only if there is none with less than
    /// this many.
    pub fn least_from(&mut self, waits: usize) -> Solutions {
        let mut found = Solutions { exhaustive: true, ..Solutions::default() };
        if self.is_schedulable {
            found.exhaustive = self.go(&mut Vec::new(), waits, &mut found.ranked).is_ok();
        }
        found.ranked.sort_by_cached_key(|solution| {
            let kinds: BTreeSet<u16> = solution.waits.iter().flat_map(|wait| [wait.at.kind, wait.other]).collect();
            let places: u32 = solution.waits.iter().map(|wait| u32::from(wait.last - wait.first)).sum();
            let of_values = || solution.waits.iter().filter(|wait| self.vocabulary.is_value(wait.other));
            // One test for several waits is easier to follow than several.
            let tests: BTreeSet<(u16, u16, u16)> =
                of_values().map(|wait| (wait.other, wait.first, wait.last)).collect();
            let values = (of_values().count(), tests.len());
            (solution.gives_up.len(), Reverse(solution.kept), values, kinds.len(), places, solution.waits.clone())
        });
        (found.checks, found.work) = (self.checks, self.work());
        found
    }

    fn go(&mut self, chosen: &mut Vec<u32>, more: usize, found: &mut Vec<Solution>) -> Result<(), Exhausted> {
        self.tests += 1;
        if self.is_exhausted() {
            return Err(Exhausted);
        }
        let ways_out = match self.refutation(chosen, more != 0) {
            Some(known) => Rc::clone(&self.known.refutations[known].ways_out),
            None => match self.refute(chosen)? {
                None => {
                    found.push(self.solution(chosen));
                    return Ok(());
                }
                Some(ways_out) => ways_out,
            },
        };
        if more == 0 {
            return Ok(());
        }
        let mut tried = Vec::new();
        for &wait in ways_out.iter() {
            if self.known.is_done[wait as usize] {
                continue;
            }
            chosen.push(wait);
            self.go(chosen, more - 1, found)?;
            chosen.pop();
            self.known.is_done[wait as usize] = true;
            tried.push(wait);
        }
        tried.into_iter().for_each(|wait| self.known.is_done[wait as usize] = false);
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.effort.work_max < self.work() || self.effort.cancel.requested().is_some()
    }

    /// Sets of waits that were checked on the graph.
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// States looked at, as [`Effort::work_max`] counts them.
    pub fn work(&self) -> u64 {
        self.states + self.tests / TESTS_PER_STATE
    }

    /// A known refutation of a set of waits: any, or the one with the fewest ways out.
    fn refutation(&mut self, chosen: &[u32], best: bool) -> Option<usize> {
        let Known { hits, refutations, .. } = &self.known;
        let mut found: Option<usize> = None;
        let mut tests = 0;
        for word in (0..refutations.len().div_ceil(64)).rev() {
            let of = |wait: &u32| hits[*wait as usize].get(word).copied().unwrap_or(0);
            let mut open = !chosen.iter().fold(0, |hit, wait| hit | of(wait));
            while open != 0 {
                let at = word * 64 + open.trailing_zeros() as usize;
                open &= open - 1;
                let Some(refutation) = refutations.get(at) else { break };
                let ways = |at: usize| refutations[at].ways_out.len();
                if found.is_some_and(|found| ways(found) <= ways(at)) {
                    continue;
                }
                let (forbids_all, compared) = self.forbids_all(chosen, refutation);
                tests += compared;
                if !forbids_all {
                    continue;
                }
                found = Some(at);
                if !best {
                    self.tests += tests;
                    return found;
                }
            }
        }
        self.tests += tests;
        found
    }

    /// Whether waits forbid all macro steps that have to be forbidden for a refutation, and how many waits were compared with one.
    fn forbids_all(&self, chosen: &[u32], refutation: &Refutation) -> (bool, u64) {
        let mut compared = 0;
        let all = refutation.forbidden.iter().all(|&(arrangement, movers)| {
            let sites = self.arrangements.sites(arrangement);
            chosen.iter().any(|&wait| {
                compared += 1;
                held(&[self.known.waits[wait as usize]], sites) & movers != 0
            })
        });
        (all, compared)
    }

    /// A refutation of a set of waits, from the graph: its ways out.
    fn refute(&mut self, chosen: &[u32]) -> Result<Option<WaysOut>, Exhausted> {
        self.checks += 1;
        if self.effort.checks_max < self.checks {
            return Err(Exhausted);
        }
        let bad = match self.walk(chosen) {
            Some(bad) => Some(bad),
            None => self.shut_out()?,
        };
        let Some(Bad { run, forbidden }) = bad else { return Ok(None) };
        let ways_out = self.ways_out(&run);
        if forbidden.len() <= FORBIDDEN_MAX {
            self.known.remember(Refutation { ways_out: Rc::clone(&ways_out), forbidden });
        }
        Ok(Some(ways_out))
    }

    /// The waits that forbid some step of a run, those of its last steps first.
    fn ways_out(&mut self, run: &[(u32, u32)]) -> WaysOut {
        let (mut ways, mut seen) = (Vec::new(), FxHashSet::default());
        for &(state, group) in run.iter().rev() {
            for mover in self.graph.group(group as usize).movers.into_iter().flatten() {
                let holding = self.holding(state, mover);
                ways.extend(holding.iter().copied().filter(|wait| seen.insert(*wait)));
            }
        }
        ways.into()
    }

    /// The waits that hold back a process in a state, by number.
    fn holding(&mut self, state: u32, process: u8) -> WaysOut {
        let key = (self.arrangements.of(state), process);
        if let Some(holding) = self.known.holding.get(&key) {
            return Rc::clone(holding);
        }
        let waits = self.vocabulary.waits_for(key.0, process);
        let holding: WaysOut = waits.into_iter().map(|wait| self.known.number(wait)).collect();
        self.known.holding.insert(key, Rc::clone(&holding));
        holding
    }

    /// Walks through what is reached under waits. A run to a macro step that no safe schedule allows, or to a dead end, if there is one.
    fn walk(&mut self, chosen: &[u32]) -> Option<Bad> {
        let waits: Vec<Wait> = chosen.iter().map(|&wait| self.known.waits[wait as usize]).collect();
        let Self { graph, safe_movers, arrangements, walk, states, .. } = self;
        walk.round += 1;
        walk.order.clear();
        walk.order.push(0);
        walk.reached[0].0 = walk.round;
        let mut next = 0;
        while let Some(&state) = walk.order.get(next) {
            next += 1;
            *states += 1;
            let arrangement = arrangements.of(state);
            let (met, mut held_there) = walk.held[arrangement as usize];
            if met != walk.round {
                held_there = held(&waits, arrangements.sites(arrangement));
                walk.held[arrangement as usize] = (walk.round, held_there);
            }
            if graph.ending(state) == Some(Ending::ValidEnd) {
                continue;
            }
            let mut any = false;
            for number in graph.groups_of(state) {
                let group = graph.group(number);
                if bits(group.movers) & held_there != 0 {
                    continue;
                }
                if safe_movers[number] == 0 {
                    let mut run = walk.run_to(state);
                    run.push((state, number as u32));
                    return Some(Bad { run, forbidden: Vec::new() });
                }
                any = true;
                walk.allowed[number] = walk.round;
                for &target in graph.targets(group) {
                    if walk.reached[target as usize].0 != walk.round {
                        walk.reached[target as usize] = (walk.round, state, number as u32);
                        walk.order.push(target);
                    }
                }
            }
            if !any {
                let movers = graph.groups_of(state).map(|number| safe_movers[number]);
                let forbidden = movers.filter(|movers| *movers != 0).map(|movers| (arrangement, movers)).collect();
                return Some(Bad { run: walk.run_to(state), forbidden });
            }
        }
        None
    }

    /// The run to the nearest state, of those reached last, from which somebody is shut out.
    fn shut_out(&mut self) -> Result<Option<Bad>, Exhausted> {
        let Self { graph, walk, effort, .. } = self;
        let Walk { order, ahead, allowed, round, .. } = walk;
        order.iter().for_each(|&state| ahead[state as usize] = 0);
        let looked_at = add_movers_ahead(graph, order, ahead, |_, group| allowed[group] == *round, effort.cancel);
        self.states += looked_at.map_err(|Stopped| Exhausted)?;
        let lost = |state: u32| self.ahead_free[state as usize] & !self.walk.ahead[state as usize];
        let Some(state) = self.walk.order.iter().copied().find(|&state| lost(state) != 0) else { return Ok(None) };
        let forbidden = self.kept_from(lost(state), state);
        Ok(Some(Bad { run: self.walk.run_to(state), forbidden }))
    }

    /// The macro steps that are forbidden in what is reached from a state, of those that some lost process takes part in or that
    /// lead elsewhere: without them none of these processes moves.
    fn kept_from(&mut self, lost: u64, from: u32) -> Vec<MacroStep> {
        let Self { graph, safe_movers, arrangements, walk, .. } = self;
        let (mut inside, mut order) = (FxHashSet::from_iter([from]), vec![from]);
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for group in graph.groups_of(state).filter(|&group| walk.allowed[group] == walk.round) {
                let targets = graph.targets(graph.group(group)).iter().copied();
                order.extend(targets.filter(|target| inside.insert(*target)));
            }
        }
        self.states += order.len() as u64;
        let lost = 1 << lost.trailing_zeros();
        let mut forbidden = BTreeSet::new();
        for &state in &order {
            for group in graph.groups_of(state).filter(|&group| walk.allowed[group] != walk.round) {
                let movers = safe_movers[group];
                let leads_out = graph.targets(graph.group(group)).iter().any(|target| !inside.contains(target));
                if movers != 0 && (movers & lost != 0 || leads_out) {
                    forbidden.insert((arrangements.of(state), movers));
                }
            }
        }
        forbidden.into_iter().collect()
    }

    /// What waits cost that were checked last.
    fn solution(&self, chosen: &[u32]) -> Solution {
        let mut waits: Vec<Wait> = chosen.iter().map(|&wait| self.known.waits[wait as usize]).collect();
        waits.sort_unstable();
        let met = self.walk.held.iter().zip(0..).filter(|((met, _), _)| *met == self.walk.round);
        let reached: BTreeSet<Site> =
            met.flat_map(|(_, arrangement)| self.arrangements.sites(arrangement).iter().copied()).collect();
        let gives_up = self.good_sites.difference(&reached).copied().collect();
        Solution { waits, kept: self.walk.order.len(), gives_up }
    }
}

impl Known {
    /// The number of a wait, which is new or not.
    fn number(&mut self, wait: Wait) -> u32 {
        let Self { waits, numbers, hits, is_done, .. } = self;
        *numbers.entry(wait).or_insert_with(|| {
            waits.push(wait);
            hits.push(Vec::new());
            is_done.push(false);
            waits.len() as u32 - 1
        })
    }

    fn remember(&mut self, refutation: Refutation) {
        let (word, bit) = (self.refutations.len() / 64, self.refutations.len() % 64);
        for &wait in refutation.ways_out.iter() {
            let hits = &mut self.hits[wait as usize];
            hits.resize(word + 1, 0);
            hits[word] |= 1 << bit;
        }
        self.refutations.push(refutation);
    }
}

impl Walk {
    /// The run to a state that was reached last.
    fn run_to(&self, state: u32) -> Vec<(u32, u32)> {
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
}
