//! Waits and orders against their definitions, on random systems of processes; regions in [`region`].

mod fair;
mod region;
mod values;

use super::*;
use crate::model::{Ending, Marks, Model, Next, ProcessSet, Processes};
use crate::schedule::{Alike, RoundRobin, RunToCompletion};
use crate::toy::{Edge, Node, Random, Toy};
use fabius_base::Cancel;
use std::collections::BTreeSet;

const EVERYTHING: Limits = Limits { states_max: u64::MAX, transitions_max: u64::MAX, memory_bytes_max: None };

/// Systems for each test; more of them where somebody has the time.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says how long")]
fn systems() -> u64 {
    std::env::var("FABIUS_RESTRICT_SYSTEMS").ok().and_then(|number| number.parse().ok()).unwrap_or(500)
}

fn explore<M: Processes>(model: &mut M, limits: Limits) -> Graph {
    let cancel = Cancel::new();
    let mut explorer = Explorer::new(model, &RoundRobin(Alike), limits, &cancel).expect("there is an initial state");
    while let Ok(Round::Finished(_)) = explorer.round(usize::MAX) {}
    explorer.into_graph()
}

/// A graph whose edges belong to two processes or to both, with a few that fail.
fn random_graph(seed: u64) -> Toy {
    let random = &mut Random::new(seed);
    let count = 1 + random.below(7);
    let mut label = 0..;
    let nodes = (0..count).map(|index| {
        let edges = (0..random.below(5)).map(|_| {
            let movers = [[Some(0), None], [Some(1), None], [Some(0), Some(1)]][random.below(3)];
            let fault = (random.below(12) == 0).then_some(1);
            Edge { to: Some(random.below(count)), label: label.next(), fault, movers, ..Edge::default() }
        });
        let edges = edges.collect();
        Node { words: vec![index as u32], end: random.below(3) != 0, processes: 2, edges, ..Node::default() }
    });
    Toy::new(nodes.collect(), 0)
}

#[test]
fn every_scheduler_explores_the_same_states_and_each_round_adds_to_the_region() {
    let mut early = 0;
    for seed in 0..systems() {
        let mut system = System::random(seed);
        let all = explore(&mut system, EVERYTHING);
        let cancel = Cancel::new();
        let mut explorer = Explorer::new(&mut system, &RunToCompletion(Alike), EVERYTHING, &cancel).expect("it begins");
        let (mut before, mut schedulable_with) = (BTreeSet::new(), None);
        while let Ok(Round::Finished(_)) = explorer.round(usize::MAX) {
            let graph = explorer.graph();
            let region = region(graph);
            let now: BTreeSet<u32> = (0..graph.len() as u32).filter(|&state| region.contains(state)).collect();
            assert!(before.is_subset(&now), "{seed}");
            before = now;
            schedulable_with = schedulable_with.or_else(|| region.contains(0).then_some(graph.len()));
        }
        let graph = explorer.into_graph();
        // The states met by then are enough, whatever else was explored later.
        assert!(schedulable_with.is_none_or(|states| region_of_first(&graph, states).contains(0)), "{seed}");
        early += u32::from(schedulable_with.is_some_and(|states| states < graph.len()));
        assert_eq!((graph.len(), graph.is_complete()), (all.len(), true));
        assert_eq!(region(&graph).len(), region(&all).len());
    }
    assert!(0 < early);
}

/// Processes that go from place to place, and share variables: each place has options of guard, action and target.
#[derive(Clone, Debug)]
struct System {
    processes: Vec<Vec<Vec<Option_>>>,
}

/// If a variable has a value, set one and go on; some fail.
#[derive(Clone, Copy, Debug)]
struct Option_ {
    guard: Option<(usize, u32)>,
    set: Option<(usize, u32)>,
    fails: bool,
    target: u32,
}

const VARIABLES: usize = 2;

impl System {
    fn random(seed: u64) -> Self {
        Self::with_values(seed, 2)
    }

    /// Its variables take this many values.
    fn with_values(seed: u64, values: usize) -> Self {
        let random = &mut Random::new(seed ^ 0x5EED);
        let mut some = |below: usize| {
            let (variable, value, there) = (random.below(VARIABLES), random.below(values), random.below(10));
            (there < below).then_some((variable, value as u32))
        };
        let mut processes = Vec::new();
        for at in 0..2 + seed % 2 {
            let places = 2 + (seed / 2 + at) % 2;
            let options = |place: u64, some: &mut dyn FnMut(usize) -> Option<(usize, u32)>| {
                let many = if some(3).is_some() { 2 } else { 1 };
                let mut options = Vec::new();
                for _ in 0..many {
                    let target = if some(2).is_some() { 0 } else { ((place + 1) % places) as u32 };
                    options.push(Option_ { guard: some(6), set: some(6), fails: some(1).is_some(), target });
                }
                options
            };
            processes.push((0..places).map(|place| options(place, &mut some)).collect());
        }
        Self { processes }
    }

    fn moves(&self, state: &[u32]) -> Vec<(u32, Option_)> {
        let mut moves = Vec::new();
        for (process, places) in self.processes.iter().enumerate() {
            for (at, option) in places[state[process] as usize].iter().enumerate() {
                let open = option.guard.is_none_or(|(variable, value)| state[self.processes.len() + variable] == value);
                if open {
                    moves.push(((process * 8 + at) as u32, *option));
                }
            }
        }
        moves
    }

    /// The kind of each process: each its own, or the last one that of the first.
    fn kinds(&self, shared: bool) -> Vec<u16> {
        let count = self.processes.len();
        (0..count).map(|process| if shared && process == count - 1 { 0 } else { process as u16 }).collect()
    }

    /// Number of places of each kind.
    fn sizes(&self, kinds: &[u16]) -> Vec<u16> {
        let mut sizes = vec![0; self.processes.len()];
        for (&kind, places) in kinds.iter().zip(&self.processes) {
            let size = &mut sizes[usize::from(kind)];
            *size = (*size).max(places.len() as u16);
        }
        sizes
    }

    fn vocabulary(&self, graph: &Graph, kinds: &[u16]) -> Vocabulary {
        Vocabulary::new(self.sizes(kinds), arrangements(graph, kinds))
    }

    /// Every wait that there could be.
    fn waits(&self, kinds: &[u16]) -> Vec<Wait> {
        let sizes = self.sizes(kinds);
        let mut waits = Vec::new();
        for (kind, &places) in (0..).zip(&sizes) {
            for place in 0..places {
                for (other, &size) in (0..).zip(&sizes) {
                    let pairs = kinds.iter().filter(|of| **of == kind).count() != 1 || kind != other;
                    for first in (0..size).filter(|_| pairs) {
                        let at = Site { kind, place };
                        waits.extend((first..size).map(|last| Wait { at, other, first, last }));
                    }
                }
            }
        }
        waits
    }
}

/// The arrangements of the states: their first words, each a place or a value of one of the kinds.
fn arrangements(graph: &Graph, kinds: &[u16]) -> Arrangements {
    let (mut numbering, mut arrangements, mut words) = (Numbering::default(), Arrangements::default(), Vec::new());
    for state in 0..graph.len() as u32 {
        graph.recall(state, &mut words);
        let words = &words[..kinds.len()];
        let sites = kinds.iter().zip(words).map(|(&kind, &place)| Site { kind, place: place as u16 });
        arrangements.add_state(&mut numbering, words, |all| all.extend(sites));
    }
    arrangements
}

impl Model for System {
    type Label = u32;
    type Fault = u32;
    type Cursor = usize;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        state.clear();
        state.resize(self.processes.len() + VARIABLES, 0);
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> usize {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut usize, successor: &mut Vec<u32>) -> Next<u32, u32> {
        let moves = self.moves(state);
        let Some((label, option)) = moves.get(*cursor).copied() else {
            return Next::Done(if moves.is_empty() { Ending::InvalidEnd } else { Ending::Moves });
        };
        *cursor += 1;
        if option.fails {
            return Next::Broken { label, fault: 1 };
        }
        successor.clear();
        successor.extend_from_slice(state);
        successor[label as usize / 8] = option.target;
        if let Some((variable, value)) = option.set {
            successor[self.processes.len() + variable] = value;
        }
        Next::Successor { label: Some(label), transient: false, fault: None, marks: Marks::NONE }
    }
}

impl Processes for System {
    fn process_count(&self, _: &[u32]) -> usize {
        self.processes.len()
    }

    fn movers(&self, label: &u32) -> [Option<u8>; 2] {
        [Some((label / 8) as u8), None]
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::EMPTY;
        self.moves(state).iter().for_each(|(label, _)| enabled.insert((label / 8) as u8));
    }
}

/// Whether waits do, by the definition: everything that is reached under them has no error and no dead end, and whoever can
/// move again in the region can move again under them.
fn do_by_definition(graph: &Graph, region: &Region, vocabulary: &Vocabulary, waits: &[Wait]) -> bool {
    let allowed = |state: u32| {
        let held = vocabulary.held(waits, state);
        let groups = graph.groups_of(state).map(|group| graph.group(group));
        groups.filter(move |group| group.movers.into_iter().flatten().all(|mover| held >> mover & 1 == 0))
    };
    let reach = |from: u32| {
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(state) = open.pop() {
            let targets = allowed(state).flat_map(|group| graph.targets(group));
            open.extend(targets.copied().filter(|target| seen.insert(*target)));
        }
        seen
    };
    let in_region = |from: u32, process: u8| {
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(state) = open.pop() {
            for group in graph.groups_of(state).filter(|&group| region.allows(group)) {
                if graph.group(group).movers.contains(&Some(process)) {
                    return true;
                }
                open.extend(graph.targets(graph.group(group)).iter().copied().filter(|target| seen.insert(*target)));
            }
        }
        false
    };
    let states = reach(0);
    states.iter().all(|&state| {
        let can_end = graph.ending(state) == Some(Ending::ValidEnd);
        let moves = allowed(state).next().is_some() && allowed(state).all(|group| !group.fails);
        can_end || graph.ending(state) == Some(Ending::Moves) && moves
    }) && states.iter().all(|&state| {
        let ahead = reach(state);
        let moves =
            |process: u8| ahead.iter().any(|&at| allowed(at).any(|group| group.movers.contains(&Some(process))));
        let good = region.contains(state);
        (0..vocabulary.sites(state).len() as u8).all(|process| !good || !in_region(state, process) || moves(process))
    })
}

/// What waits cost, by the definition: states that are still reached, and places that are not.
fn cost_by_definition(graph: &Graph, region: &Region, vocabulary: &Vocabulary, waits: &[Wait]) -> (usize, Vec<Site>) {
    let (mut seen, mut open) = (BTreeSet::from([0]), vec![0_u32]);
    while let Some(state) = open.pop() {
        let held = vocabulary.held(waits, state);
        for group in graph.groups_of(state).map(|group| graph.group(group)) {
            let free = group.movers.into_iter().flatten().all(|mover| held >> mover & 1 == 0);
            let targets = graph.targets(group).iter().copied().filter(|_| free);
            open.extend(targets.filter(|target| seen.insert(*target)));
        }
    }
    let sites = |states: &mut dyn Iterator<Item = u32>| -> BTreeSet<Site> {
        states.flat_map(|state| vocabulary.sites(state).iter().copied()).collect()
    };
    let (good, left) = (sites(&mut region.reached(graph).into_iter()), sites(&mut seen.iter().copied()));
    (seen.len(), good.difference(&left).copied().collect())
}

/// Compares the fewest waits of random systems with those that trying all sets finds; how often they are 0, 1, 2, and none.
fn compare_with_all_sets(shared: bool, systems: u64) -> [u32; 4] {
    let mut found = [0, 0, 0, 0];
    for seed in 0..systems {
        let system = System::random(seed);
        let graph = explore(&mut system.clone(), EVERYTHING);
        let kinds = system.kinds(shared);
        let (region, vocabulary) = (region(&graph), system.vocabulary(&graph, &kinds));
        if !region.contains(0) {
            continue;
        }
        let cancel = Cancel::new();
        let effort = Effort { waits_max: 2, checks_max: u64::MAX, work_max: u64::MAX, cancel: &cancel };
        let free = can_move_again(&graph, &region, &cancel).expect("nobody stops it");
        let solutions = Problem::new(&graph, &region, &vocabulary, &free, effort).least();
        assert!(solutions.exhaustive);
        let waits = system.waits(&kinds);
        let mut sets: Vec<Vec<Vec<Wait>>> = vec![vec![Vec::new()], Vec::new(), Vec::new()];
        sets[1] = waits.iter().map(|wait| vec![*wait]).collect();
        if seed % 8 == 0 {
            for (at, first) in waits.iter().enumerate() {
                let pair = |second: &Wait| vec![*first.min(second), *first.max(second)];
                sets[2].extend(waits[at + 1..].iter().map(pair));
            }
        }
        let those = |sets: &[Vec<Wait>]| -> BTreeSet<Vec<Wait>> {
            sets.iter().filter(|set| do_by_definition(&graph, &region, &vocabulary, set)).cloned().collect()
        };
        let expected = sets.iter().map(|sets| those(sets)).find(|those| !those.is_empty()).unwrap_or_default();
        let ranked: BTreeSet<Vec<Wait>> = solutions.ranked.iter().map(|solution| solution.waits.clone()).collect();
        assert_eq!(ranked.len(), solutions.ranked.len(), "{seed}: found twice");
        let fewest = ranked.first().map(Vec::len);
        if seed % 8 == 0 || fewest != Some(2) {
            assert_eq!(ranked, expected, "{seed}");
        }
        for Solution { waits, kept, gives_up } in &solutions.ranked {
            let cost = cost_by_definition(&graph, &region, &vocabulary, waits);
            assert_eq!((*kept, gives_up.clone()), cost, "{seed}: {waits:?}");
        }
        found[fewest.map_or(3, |waits| waits)] += 1;
    }
    found
}

#[test]
fn the_fewest_waits_are_those_that_trying_all_sets_finds() {
    let found = compare_with_all_sets(false, 2 * systems());
    assert!(found.iter().all(|&many| 0 < many), "{found:?}");
}

#[test]
fn the_fewest_waits_of_processes_of_one_kind_are_those_that_trying_all_sets_finds() {
    let found = compare_with_all_sets(true, systems());
    assert!(found.iter().all(|&many| 0 < many), "{found:?}");
}

#[test]
fn looking_for_waits_ends_with_its_work_and_finds_no_others() {
    let (mut ended, mut found_early) = (0, 0);
    for seed in 0..systems() {
        let system = System::random(seed);
        let graph = explore(&mut system.clone(), EVERYTHING);
        let (region, vocabulary) = (region(&graph), system.vocabulary(&graph, &system.kinds(false)));
        let cancel = Cancel::new();
        let free = can_move_again(&graph, &region, &cancel).expect("nobody stops it");
        let within = |work_max: u64| {
            let effort = Effort { waits_max: 2, checks_max: u64::MAX, work_max, cancel: &cancel };
            Problem::new(&graph, &region, &vocabulary, &free, effort).least()
        };
        let all = within(u64::MAX);
        for work_max in [0, 1, 10, 100, 1_000] {
            let some = within(work_max);
            // The last set of waits is compared with the graph as a whole.
            let refutations = some.checks;
            let at_most = work_max + 4 * graph.len() as u64 * (1 + graph.len() as u64) + refutations;
            assert!(some.work <= at_most && some.work <= all.work, "{seed}: {some:?}");
            assert!(some.ranked.iter().all(|solution| all.ranked.contains(solution)), "{seed}: {some:?}");
            assert!(some.exhaustive == (some == all) || some.ranked == all.ranked, "{seed}: {some:?}");
            ended += u32::from(!some.exhaustive);
            found_early += u32::from(!some.exhaustive && !some.ranked.is_empty());
        }
        assert!(all.exhaustive, "{seed}");
    }
    assert!(0 < ended && 0 < found_early, "{ended} {found_early}");
}

#[test]
fn a_scheduler_that_is_safe_alone_is_a_schedule() {
    let mut safe = 0;
    for seed in 0..systems() {
        let mut system = System::random(seed);
        let graph = explore(&mut system, EVERYTHING);
        let cancel = Cancel::new();
        let mut taken = BTreeSet::new();
        let answer = alone(&mut system, &RunToCompletion(Alike), EVERYTHING, &cancel, &mut |state, labels| {
            taken.extend(labels.iter().map(|label| (state.to_vec(), *label)));
        });
        if let Ok(Alone::Safe(states)) = answer {
            safe += 1;
            assert!(region(&graph).contains(0), "{seed}");
            let states_left: BTreeSet<&Vec<u32>> = taken.iter().map(|(state, _)| state).collect();
            assert!(states_left.len() as u64 <= states && states <= graph.len() as u64, "{seed}");
        }
    }
    assert!(systems() / 20 < safe, "{safe}");
}

#[test]
fn a_fixed_order_is_found_exactly_where_one_does() {
    let mut found = [0, 0];
    for seed in 0..systems() {
        let system = System::random(seed);
        let graph = explore(&mut system.clone(), EVERYTHING);
        let (region, vocabulary) = (region(&graph), system.vocabulary(&graph, &system.kinds(false)));
        let kinds: Vec<u16> = (0..system.processes.len() as u16).collect();
        let does = |kinds: &[u16]| {
            let rank = |process: u8| kinds.iter().position(|&kind| kind == u16::from(process));
            let allowed = |state: u32| {
                let groups = || graph.groups_of(state).map(|group| graph.group(group));
                let least = groups().filter_map(|group| rank(group.movers[0]?)).min();
                groups().filter(|group| rank(group.movers[0].unwrap_or(0)) == least).collect::<Vec<_>>()
            };
            let reach = |from: u32| {
                let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
                while let Some(state) = open.pop() {
                    let targets = allowed(state).into_iter().flat_map(|group| graph.targets(group));
                    open.extend(targets.copied().filter(|target| seen.insert(*target)));
                }
                seen
            };
            let free = can_move_again(&graph, &region, &Cancel::new()).expect("nobody stops it");
            reach(0).iter().all(|&state| {
                let moves: u64 = reach(state)
                    .iter()
                    .flat_map(|&at| allowed(at))
                    .fold(0, |set, group| group.movers.into_iter().flatten().fold(set, |set, mover| set | 1 << mover));
                let safe =
                    graph.ending(state) == Some(Ending::Moves) && allowed(state).iter().all(|group| !group.fails);
                safe && free[state as usize] & !moves == 0
            })
        };
        let orders: Vec<Vec<u16>> = match kinds.len() {
            2 => vec![vec![0, 1], vec![1, 0]],
            _ => {
                [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(|order| order.to_vec()).to_vec()
            }
        };
        let free = can_move_again(&graph, &region, &Cancel::new()).expect("nobody stops it");
        let answer = fixed_order(&graph, &vocabulary, &kinds, &free, &Cancel::new());
        assert_eq!(answer.is_some(), orders.iter().any(|order| does(order)), "{seed}");
        assert!(answer.as_ref().is_none_or(|order| does(&order.kinds)), "{seed}");
        found[usize::from(answer.is_some())] += 1;
    }
    assert!(found.iter().all(|&many| systems() / 40 < many), "{found:?}");
}
