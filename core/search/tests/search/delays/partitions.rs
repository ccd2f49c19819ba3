//! The search by several partitions: the same for any number of them, and what its definition says, worked out slowly.

use super::bounds::{Backwards, Fickle, walk};
use super::programs::{Label, Toys};
use super::seals::Inside;
use super::truth::{Expanded, everything, expand, scheduled, truth};
use fabius_base::{Limits, StopReason};
use fabius_search::partition::{
    DelayOrder, Exchange, ExchangeError, Local, PartRequest, Reached, Round as ExchangeRound, Way, delays,
    replay_delays,
};
use fabius_search::schedule::{Alike, Laps, Portable, Priority, RandomOrder, RoundRobin, RunToCompletion};
use fabius_search::schedule::{Scheduler, SealKind, Sealed, Situation};
use fabius_search::toy::{Random, Toy};
use fabius_search::{Completeness, Coverage, Model, Quiet, Settings, StopAt, TreeStore, ViolationKind};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

const PROGRAMS: u64 = 100;

/// What each of the partitions reports.
fn all_partitions<D>(
    toys: &Toys,
    scheduler: &D,
    partitions: usize,
    delays_max: Option<u32>,
    settings: &Settings,
) -> Vec<Result<Reached, ExchangeError>>
where
    D: Scheduler<Label, State: Portable> + Clone + Send,
{
    let search = move |(mut exchange, mut model, scheduler): (Local, Toys, D)| {
        let (mut store, mut ways) = (TreeStore::default(), Vec::new());
        let order = DelayOrder { scheduler: &scheduler, delays_max };
        delays(&mut model, PartRequest::from_start(order), &mut store, &mut ways, &mut exchange, &mut Quiet, settings)
    };
    thread::scope(|scope| {
        let parts = Local::connect(partitions).into_iter().map(|exchange| (exchange, toys.clone(), scheduler.clone()));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || search(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// What all partitions report, which is the same.
fn together<D>(toys: &Toys, scheduler: &D, partitions: usize, delays_max: Option<u32>, settings: &Settings) -> Reached
where
    D: Scheduler<Label, State: Portable> + Clone + Send,
{
    let mut all = all_partitions(toys, scheduler, partitions, delays_max, settings);
    assert!(all.iter().all(|reached| *reached == all[0]), "the partitions disagree");
    all.remove(0).expect("all go on")
}

/// What does not depend on how much memory was used, and by whom.
fn without_memory(reached: &Reached) -> Reached {
    let mut reached = reached.clone();
    reached.statistics.memory_bytes = 0;
    reached.partitions.clear();
    reached
}

/// What a violation is called: its transition, or the state that is stuck.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Name {
    Fault(Label),
    Stuck(Vec<u32>),
}

/// What the definition says.
#[derive(Default)]
struct Layers {
    /// The delays with which each state is reached.
    delays: BTreeMap<Vec<u32>, u32>,
    /// By number of delays, up to the bound: states up to then, and those that wait.
    rounds: Vec<(u64, u64)>,
    /// With which delays each violation is met first.
    violations: BTreeMap<Name, u32>,
    /// Macro steps taken.
    macro_steps: u64,
    /// The most macro steps on the way to a state.
    depth: u64,
}

/// A state of a layer: with which state of the scheduler it is explored, how far, and after how many macro steps.
type Call<D> = (Vec<u32>, <D as Scheduler<Label>>::State, usize, u64);

fn words<S: Portable>(schedule: &S) -> Vec<u32> {
    let mut words = Vec::new();
    schedule.write(&mut words);
    words
}

impl Layers {
    /// Follows the definition, with all delays up to a bound.
    fn of<D: Scheduler<Label, State: Portable>>(toys: &Toys, scheduler: &D, delays_max: Option<u32>) -> Self {
        let (mut toys, mut layers) = (toys.clone(), Self::default());
        let mut initial = Vec::new();
        toys.initial(&mut initial).expect("there");
        let enabled = expand(&mut toys, &initial).enabled;
        let start = scheduler.start(Situation { state: &initial, enabled: &enabled });
        layers.delays.insert(initial.clone(), 0);
        let mut layer: Vec<Call<D>> = vec![(initial, start, 0, 0)];
        for delays in 0.. {
            let mut later = Vec::new();
            while !layer.is_empty() {
                layer = layers.next_layer(&mut toys, scheduler, layer, &mut later, delays);
            }
            layers.rounds.push((layers.delays.len() as u64, later.len() as u64));
            if later.is_empty() || delays_max.is_some_and(|max| max <= delays) {
                break;
            }
            layer = later;
        }
        layers
    }

    fn next_layer<D: Scheduler<Label, State: Portable>>(
        &mut self,
        toys: &mut Toys,
        scheduler: &D,
        layer: Vec<Call<D>>,
        later: &mut Vec<Call<D>>,
        delays: u32,
    ) -> Vec<Call<D>> {
        // Of each new state, the least words of the scheduler, then the fewest macro steps.
        let mut new: BTreeMap<Vec<u32>, (Vec<u32>, u64, D::State)> = BTreeMap::new();
        for (state, mut schedule, index, depth) in layer {
            let here: Expanded = expand(toys, &state);
            let mut met = |name| {
                self.violations.entry(name).or_insert(delays);
            };
            if here.stuck && index == 0 {
                met(Name::Stuck(state.clone()));
            }
            let Some(process) = scheduler.next(&schedule) else { continue };
            let faults = here.faults.iter().filter(|(mover, ..)| *mover == process);
            faults.for_each(|(_, label, _)| met(Name::Fault(*label)));
            for way in here.ways.iter().filter(|way| way.process == process) {
                self.macro_steps += 1;
                if self.delays.contains_key(&way.target) {
                    continue;
                }
                let enabled = expand(toys, &way.target).enabled;
                let before = Situation { state: &state, enabled: &here.enabled };
                let after = scheduled(scheduler, &schedule, (before, way), &enabled);
                let arrival = (words(&after), depth + 1, after);
                match new.get_mut(&way.target) {
                    None => drop(new.insert(way.target.clone(), arrival)),
                    Some(known) if (&arrival.0, arrival.1) < (&known.0, known.1) => *known = arrival,
                    Some(_) => {}
                }
            }
            if index + 1 < here.enabled.len() && !scheduler.is_sealed(&schedule) {
                scheduler.delay(&mut schedule);
                later.push((state, schedule, index + 1, depth));
            }
        }
        for (state, (_, depth, _)) in &new {
            self.delays.insert(state.clone(), delays);
            self.depth = self.depth.max(*depth);
        }
        new.into_iter().map(|(state, (_, depth, schedule))| (state, schedule, 0, depth)).collect()
    }
}

/// Compares the searches of several partitions with each other and with the definition.
fn compare<D: Scheduler<Label, State: Portable> + Clone + Send>(seed: u64, toys: &Toys, name: &str, scheduler: &D) {
    let mut random = Random::new(seed);
    for delays_max in [Some(0), Some(1), Some(3), None] {
        let what = format!("{seed}, {name}, up to {delays_max:?}");
        let expected = Layers::of(toys, scheduler, delays_max);
        let stop_at = if random.below(2) == 0 { StopAt::First } else { StopAt::Never };
        let settings = Settings { stop_at, ..Settings::default() };
        let one = without_memory(&together(toys, scheduler, 1, delays_max, &settings));
        for partitions in [2, 3, 5] {
            let several = without_memory(&together(toys, scheduler, partitions, delays_max, &settings));
            assert_eq!(several, one, "{what}: {partitions} partitions");
        }
        let outcome = one.clone().into_delay_outcome(&mut toys.clone(), scheduler).expect("ways of the model");
        for violation in &outcome.violations {
            let mut last = walk(toys, violation.kind, &violation.path);
            // Nothing is said of the step that takes control from a process that cannot use it.
            last[0] = 0;
            let name = match violation.kind {
                ViolationKind::InvalidEnd => Name::Stuck(last),
                ViolationKind::Fault(_) => Name::Fault(*violation.path.last().expect("a step")),
            };
            assert_eq!(violation.delays.len(), expected.violations[&name] as usize, "{what}: {name:?}");
        }
        if stop_at == StopAt::First && !expected.violations.is_empty() {
            assert_eq!(outcome.completeness, Completeness::FirstViolation, "{what}");
            let fewest = expected.violations.values().min().copied();
            assert_eq!(outcome.violations.first().map(|it| it.delays.len() as u32), fewest, "{what}");
            continue;
        }
        let rounds: Vec<(u64, u64)> = one.rounds.iter().map(|round| (round.states, round.frontier)).collect();
        assert_eq!(rounds, expected.rounds, "{what}");
        let statistics = &outcome.statistics;
        assert_eq!((statistics.transitions(), statistics.depth), (expected.macro_steps + 1, expected.depth), "{what}");
        let mut delays: Vec<usize> = outcome.violations.iter().map(|violation| violation.delays.len()).collect();
        let mut wanted: Vec<usize> = expected.violations.values().map(|delays| *delays as usize).collect();
        delays.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(delays, wanted, "{what}");
        relate_to_all_pairs(&what, toys, scheduler, delays_max, &expected);
        let last = one.rounds.last().expect("there is one");
        let coverage = if last.frontier == 0 { Coverage::EverySchedule } else { Coverage::Bound(last.bound) };
        assert_eq!(outcome.coverage, coverage, "{what}");
        let bounded = Completeness::Stopped(StopReason::Delays);
        assert_eq!(outcome.completeness, if last.frontier == 0 { Completeness::Exhaustive } else { bounded }, "{what}");
    }
}

/// Each state has at least as many delays as it needs, and in the end all are there.
fn relate_to_all_pairs<D: Scheduler<Label>>(
    what: &str,
    toys: &Toys,
    scheduler: &D,
    delays_max: Option<u32>,
    layers: &Layers,
) {
    let bound = delays_max.unwrap_or(layers.rounds.len() as u32);
    let needed = truth(&mut toys.clone(), scheduler, bound).delays;
    for (state, delays) in &layers.delays {
        assert!(needed.get(state).is_some_and(|needed| needed <= delays), "{what}: {state:?}");
    }
    // Seals forbid some runs.
    if delays_max.is_none() && !what.contains("sealed") {
        let reached: BTreeSet<Vec<u32>> = layers.delays.keys().cloned().collect();
        assert_eq!(reached, everything(&mut toys.clone()), "{what}");
    }
}

#[test]
fn any_number_of_partitions_finds_what_the_definition_says() {
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        compare(seed, &toys, "round-robin", &RoundRobin(Alike));
        compare(seed, &toys, "run-to-completion", &RunToCompletion(Alike));
        match seed % 4 {
            0 => compare(seed, &toys, "laps", &Laps::new(Backwards::of(&toys))),
            1 => compare(seed, &toys, "random", &RandomOrder::new(seed)),
            2 => compare(seed, &toys, "priority", &Priority(Fickle)),
            _ => compare(seed, &toys, "ranked run-to-completion", &RunToCompletion(Fickle)),
        }
    }
}

#[test]
fn sealed_stretches_are_the_same_for_any_number_of_partitions() {
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let kind = if seed % 2 == 0 { SealKind::RoundRobin } else { SealKind::RunToCompletion };
        let places = (0..toys.places).filter(|place| (seed >> place) & 1 == 1).map(|place| (place, kind)).collect();
        let scheduler = Sealed::new(RunToCompletion(Alike), Inside::new(toys.variables, places));
        compare(seed, &toys, "sealed run-to-completion", &scheduler);
    }
}

/// Enough states that batches are sent before the ends of rounds.
#[test]
fn many_states_are_found_with_few_delays() {
    let toys = Toys::counters(4, 9);
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let one = without_memory(&together(&toys, &RunToCompletion(Alike), 1, None, &settings));
    assert_eq!(one.statistics.states, 10_u64.pow(4));
    for partitions in [2, 3] {
        let several = together(&toys, &RunToCompletion(Alike), partitions, None, &settings);
        assert_eq!(without_memory(&several), one);
        assert!(several.partitions.iter().all(|part| 1_000 < part.states), "{:?}", several.partitions);
    }
}

#[test]
fn limits_and_whoever_asks_end_all_partitions_and_prove_nothing() {
    let toys = Toys::counters(4, 9);
    let limits = Limits { states_max: Some(500), ..Limits::default() };
    let few = Settings { limits, stop_at: StopAt::Never, ..Settings::default() };
    let cancelled = Settings { stop_at: StopAt::Never, ..Settings::default() };
    cancelled.cancel.time_out();
    for partitions in [1, 3] {
        for (settings, reason) in [(&few, StopReason::States), (&cancelled, StopReason::Timeout)] {
            let reached = together(&toys, &RoundRobin(Alike), partitions, None, settings);
            assert_eq!(reached.completeness, Completeness::Stopped(reason));
            assert!(reached.statistics.states < 10_u64.pow(4));
            let outcome = reached.into_delay_outcome(&mut toys.clone(), &RoundRobin(Alike)).expect("no ways");
            assert!(!outcome.proves_absence() && matches!(outcome.coverage, Coverage::Ended(_)), "{outcome:?}");
        }
    }
}

#[test]
fn ways_of_another_model_are_refused() {
    let toys = Toys::random(3, false);
    let mut refused = 0;
    for ordinals in [vec![0], vec![1_000], vec![1, 1, 1, 1, 1_000]] {
        for event in [0, 7] {
            let way = Way { ordinals: ordinals.clone(), event, key: 0, count: 1 };
            refused += usize::from(replay_delays(&mut toys.clone(), &RoundRobin(Alike), &way).is_none());
        }
    }
    assert_eq!(refused, 6);
}

#[test]
fn a_fault_of_the_initial_state_is_found() {
    let (mut toy, scheduler, settings) = (Toy::default(), RoundRobin(Alike), Settings::default());
    let (mut store, mut ways, mut exchange) = (TreeStore::default(), Vec::new(), Local::connect(1).remove(0));
    let order = DelayOrder { scheduler: &scheduler, delays_max: None };
    let reached =
        delays(&mut toy, PartRequest::from_start(order), &mut store, &mut ways, &mut exchange, &mut Quiet, &settings);
    let outcome = reached.expect("alone").into_delay_outcome(&mut toy, &scheduler).expect("a way");
    assert_eq!(outcome.completeness, Completeness::FirstViolation);
    assert_eq!(outcome.first().map(|it| (it.kind, it.path.len())), Some((ViolationKind::Fault(0), 0)));
}

/// One of two partitions; sends nonsense in its second round.
struct Liar {
    exchange: Local,
    rounds: usize,
}

impl Exchange for Liar {
    fn me(&self) -> usize {
        self.exchange.me()
    }

    fn partitions(&self) -> usize {
        self.exchange.partitions()
    }

    fn send(&mut self, to: usize, batch: Vec<u8>) -> Result<(), ExchangeError> {
        self.exchange.send(to, batch)
    }

    fn end_round(&mut self, summary: &[u64]) -> Result<ExchangeRound, ExchangeError> {
        self.rounds += 1;
        if self.rounds == 2 {
            // A new parent with notes and a new length: three words, of which the last tells of nine.
            let batch = vec![7, 2, 1, 1, 1, 3, 5, 5, 9];
            self.exchange.send(1 - self.exchange.me(), batch)?;
        }
        self.exchange.end_round(summary)
    }
}

#[test]
fn what_no_partition_sends_ends_the_search() {
    let toys = Toys::counters(2, 3);
    let search = |exchange: Local, is_liar: bool| {
        let (mut model, mut store, mut ways) = (toys.clone(), TreeStore::default(), Vec::new());
        let (settings, order) = (Settings::default(), DelayOrder { scheduler: &RoundRobin(Alike), delays_max: None });
        let mut exchange = Liar { exchange, rounds: if is_liar { 0 } else { 2 } };
        delays(&mut model, PartRequest::from_start(order), &mut store, &mut ways, &mut exchange, &mut Quiet, &settings)
    };
    let honest = thread::scope(|scope| {
        let mut exchanges = Local::connect(2);
        let (last, first) = (exchanges.remove(1), exchanges.remove(0));
        let honest = scope.spawn(|| search(first, false));
        let liar = scope.spawn(|| search(last, true));
        let _ = liar.join().expect("no panic");
        honest.join().expect("no panic")
    });
    assert_eq!(honest, Err(ExchangeError::Damaged));
}
