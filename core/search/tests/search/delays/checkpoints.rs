//! A search that is stopped again and again, written down, and resumed by another, does what it would have done.

use super::cycles::program;
use super::programs::{Label, Rule, Toys};
use fabius_base::{Limits, StopReason};
use fabius_search::checkpoint::{CheckpointPolicy, Snapshot, Unusable};
use fabius_search::cycle::Goal;
use fabius_search::delay_bounded::{DelayObserver, ExactSnapshot, FastSnapshot, IterativeDelayBounding, Round};
use fabius_search::delay_bounded::{exact, fast};
use fabius_search::depth_bounded::{DepthSettings, DepthSnapshot, Keep, Revisit};
use fabius_search::depth_bounded::{depth_bounded, depth_bounded_cycles};
use fabius_search::iterative_map::{Ask, CycleRounds, CycleSnapshot, iterative_cycles, iterative_map_together};
use fabius_search::schedule::{Alike, RandomOrder, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::toy::Random;
use fabius_search::{
    Completeness, CycleOutcome, FingerprintStore, Observer, Outcome, Quiet, Settings, Statistics, Store, TreeStore,
};
use std::ops::ControlFlow;

type Found = Outcome<Label, u32>;

/// Stops a search at its so-manyth look or round.
struct Impatient {
    left: u32,
}

impl Impatient {
    fn look(&mut self) -> ControlFlow<StopReason> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(StopReason::Cancelled),
        }
    }
}

impl Observer<Label, u32> for Impatient {
    fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
        self.look()
    }
}

impl DelayObserver<Label, u32> for Impatient {
    fn round(&mut self, _: &Round) -> ControlFlow<StopReason> {
        self.look()
    }
}

fn at_most(states_max: u64) -> Settings {
    Settings { limits: Limits { states_max: Some(states_max), ..Limits::default() }, ..Settings::default() }
}

/// Searches until it is done, stopping after some states more each time, as many as are drawn; says how often it stopped.
fn piecewise<S: Snapshot, F>(
    seed: u64,
    states: impl Fn(&S) -> u64,
    ended: impl Fn(&F) -> Completeness,
    run: impl Fn(&Settings, CheckpointPolicy<'_, S>) -> F,
) -> (F, u32) {
    let mut random = Random::new(seed);
    let (mut bytes, mut stops): (Option<Vec<u8>>, u32) = (None, 0);
    // A search that resumes must be allowed to come further than the one before.
    let mut states_max = 0;
    loop {
        let from = bytes.as_ref().map(|bytes| S::from_bytes(bytes).expect("readable"));
        states_max = from.as_ref().map_or(0, &states).max(states_max) + 1 + random.below(6) as u64;
        let mut kept = None;
        let mut keep = |snapshot: S| kept = Some(snapshot.to_bytes());
        let found = run(&at_most(states_max), CheckpointPolicy { from, keep: Some(&mut keep) });
        if ended(&found) != Completeness::Stopped(StopReason::States) {
            return (found, stops);
        }
        bytes = kept.or(bytes);
        stops += 1;
    }
}

fn ended(found: &Found) -> Completeness {
    found.completeness
}

/// A fast search in pieces.
fn fast_piecewise<D: Scheduler<Label>, S: Store>(
    toys: &Toys,
    scheduler: &D,
    store: impl Fn() -> S,
    bounding: &IterativeDelayBounding,
    seed: u64,
) -> (Found, u32) {
    piecewise(seed, FastSnapshot::states, ended, |settings, checkpoint| {
        let (mut toys, mut store) = (toys.clone(), store());
        fast(&mut toys, scheduler, &mut store, &mut Quiet, settings, bounding, checkpoint).expect("the same search")
    })
}

/// Processes that count, each for itself, and begin again: nothing goes wrong.
fn tireless(processes: usize, steps: u32) -> Toys {
    let mut toys = Toys::counters(processes, steps);
    toys.rules.iter_mut().for_each(|rule| rule.fault = false);
    let last = toys.rules[toys.rules.len() - 1];
    toys.rules.push(Rule { from: last.to, to: 0, ..last });
    toys
}

fn assert_same(piecewise: &Found, whole: &Found, what: &str) {
    let (one, other) = (&piecewise, &whole);
    assert_eq!(one.completeness, other.completeness, "{what}");
    assert_eq!(one.violations, other.violations, "{what}");
    assert_eq!(piecewise.violations, whole.violations, "{what}");
    assert_eq!((piecewise.coverage, &piecewise.rounds), (whole.coverage, &whole.rounds), "{what}");
    let counters = |statistics: &Statistics| (statistics.states, statistics.matched, statistics.cut, statistics.depth);
    assert_eq!(counters(&one.statistics), counters(&other.statistics), "{what}");
}

fn compare_fast<D: Scheduler<Label>>(toys: &Toys, scheduler: &D, bounding: &IterativeDelayBounding, seed: u64) -> u32 {
    let (mut model, mut store) = (toys.clone(), TreeStore::new());
    let whole =
        fast(&mut model, scheduler, &mut store, &mut Quiet, &Settings::default(), bounding, CheckpointPolicy::none())
            .expect("nothing is resumed");
    let (found, stops) = fast_piecewise(toys, scheduler, TreeStore::<()>::new, bounding, seed);
    assert_same(&found, &whole, &format!("{seed}"));
    let (hashed, _) = fast_piecewise(toys, scheduler, || FingerprintStore::new(3), bounding, seed + 2);
    assert_eq!(hashed.statistics.states, whole.statistics.states, "{seed}");
    stops
}

fn compare_exact<D: Scheduler<Label>>(toys: &Toys, scheduler: &D, bounding: &IterativeDelayBounding, seed: u64) -> u32 {
    let whole =
        exact(&mut toys.clone(), scheduler, &mut Quiet, &Settings::default(), bounding, CheckpointPolicy::none())
            .expect("nothing is resumed");
    let (found, stops) = piecewise(seed, ExactSnapshot::states, ended, |settings, checkpoint| {
        exact(&mut toys.clone(), scheduler, &mut Quiet, settings, bounding, checkpoint).expect("the same search")
    });
    assert_same(&found, &whole, &format!("{seed}"));
    assert_eq!(found.product_states, whole.product_states, "{seed}");
    stops
}

#[test]
fn a_search_in_pieces_is_the_same_search() {
    let (mut fast, mut exact) = (0, 0);
    for seed in 0..2000 {
        let toys = Toys::random(seed, false);
        let bounding = if seed % 5 == 0 { IterativeDelayBounding::up_to(2) } else { IterativeDelayBounding::default() };
        let choices = (seed % 4 == 0).then_some(seed as u32 % 3);
        let bounding = IterativeDelayBounding { increment: 1 + seed as u32 % 2, choices, ..bounding };
        fast += match seed % 3 {
            0 => compare_fast(&toys, &RoundRobin(Alike), &bounding, seed),
            1 => compare_fast(&toys, &RunToCompletion(Alike), &bounding, seed),
            _ => compare_fast(&toys, &RandomOrder::new(seed), &bounding, seed),
        };
        exact += match seed % 3 {
            0 => compare_exact(&toys, &RoundRobin(Alike), &bounding, seed),
            1 => compare_exact(&toys, &RunToCompletion(Alike), &bounding, seed),
            _ => compare_exact(&toys, &RandomOrder::new(seed), &bounding, seed),
        };
    }
    assert!(fast > 2500 && exact > 2500, "{fast} and {exact} stops");
}

/// Stops a search at its so-manyth look, again and again until it is done; says how often.
fn impatiently<S: Clone>(looks: u32, run: impl Fn(&mut Impatient, CheckpointPolicy<'_, S>) -> Found) -> (Found, u32) {
    let (mut from, mut stops): (Option<S>, u32) = (None, 0);
    loop {
        let mut kept = None;
        let mut keep = |snapshot| kept = Some(snapshot);
        // Whoever resumes looks while the states are found again, and must get beyond that.
        let mut observer = Impatient { left: looks + stops };
        let found = run(&mut observer, CheckpointPolicy { from: from.clone(), keep: Some(&mut keep) });
        assert_ne!(found.completeness, Completeness::FirstViolation);
        if found.completeness == Completeness::Exhaustive {
            return (found, stops);
        }
        from = kept.or(from);
        stops += 1;
    }
}

#[test]
fn it_may_be_stopped_at_any_look() {
    let toys = tireless(4, 7);
    let (bounding, settings) = (IterativeDelayBounding::default(), Settings::default());
    let whole = fast(
        &mut toys.clone(),
        &RunToCompletion(Alike),
        &mut TreeStore::<()>::new(),
        &mut Quiet,
        &settings,
        &bounding,
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    for looks in 1..14 {
        let (found, stops) = impatiently(looks, |observer, checkpoint| {
            let (mut model, mut store) = (toys.clone(), TreeStore::<()>::new());
            fast(&mut model, &RunToCompletion(Alike), &mut store, observer, &settings, &bounding, checkpoint)
                .expect("the same search")
        });
        assert_same(&found, &whole, &format!("{looks} looks"));
        assert!(stops > 0, "{looks} looks");
    }
    let toys = tireless(3, 7);
    let whole =
        exact(&mut toys.clone(), &RunToCompletion(Alike), &mut Quiet, &settings, &bounding, CheckpointPolicy::none())
            .expect("nothing is resumed");
    for looks in 1..8 {
        let (found, stops) = impatiently(looks, |observer, checkpoint| {
            exact(&mut toys.clone(), &RunToCompletion(Alike), observer, &settings, &bounding, checkpoint)
                .expect("the same search")
        });
        assert_same(&found, &whole, &format!("exactly, {looks} looks"));
        assert!(stops > 0, "exactly, {looks} looks");
    }
}

#[test]
fn more_delays_may_be_asked_for_later() {
    let toys = tireless(3, 4);
    let run = |bounding: IterativeDelayBounding, from: Option<FastSnapshot>| {
        let mut kept = None;
        let mut keep = |snapshot| kept = Some(snapshot);
        let (mut model, mut store) = (toys.clone(), TreeStore::<()>::new());
        let checkpoint = CheckpointPolicy { from, keep: Some(&mut keep) };
        let settings = Settings::default();
        let found = fast(&mut model, &RoundRobin(Alike), &mut store, &mut Quiet, &settings, &bounding, checkpoint)
            .expect("mine");
        (found, kept)
    };
    let (_, snapshot) = run(IterativeDelayBounding::up_to(1), None);
    let (resumed, _) = run(IterativeDelayBounding::up_to(3), snapshot);
    let (whole, _) = run(IterativeDelayBounding::up_to(3), None);
    assert_same(&resumed, &whole, "one, then three");
}

#[test]
fn a_snapshot_of_another_model_is_refused_or_finds_other_states() {
    let mut kept = None;
    let mut keep = |snapshot| kept = Some(snapshot);
    let bounding = IterativeDelayBounding::up_to(1);
    let (mut store, settings) = (TreeStore::<()>::new(), Settings::default());
    let checkpoint = CheckpointPolicy { from: None, keep: Some(&mut keep) };
    let mut large = tireless(4, 3);
    fast(&mut large, &RoundRobin(Alike), &mut store, &mut Quiet, &settings, &bounding, checkpoint).expect("mine");
    let snapshot: FastSnapshot = kept.expect("there is more to do");
    let mut keep = |_| ();
    let checkpoint = CheckpointPolicy { from: Some(snapshot.clone()), keep: Some(&mut keep) };
    let (mut small, mut store) = (tireless(1, 3), TreeStore::<()>::new());
    let refused = fast(&mut small, &RoundRobin(Alike), &mut store, &mut Quiet, &settings, &bounding, checkpoint);
    assert_eq!(refused.err(), Some(Unusable));
}

fn by_depth(toys: &Toys, depth: &DepthSettings, seed: u64) -> u32 {
    let settings = Settings::default();
    let whole = depth_bounded(&mut toys.clone(), &mut Quiet, &settings, depth, CheckpointPolicy::none())
        .expect("nothing is resumed");
    let ended = |found: &Outcome<Label, u32>| found.completeness;
    let (found, stops) = piecewise(seed, DepthSnapshot::states, ended, |settings, checkpoint| {
        depth_bounded(&mut toys.clone(), &mut Quiet, settings, depth, checkpoint).expect("the same search")
    });
    assert_eq!(found.rounds, whole.rounds, "{seed}, {depth:?}");
    assert_eq!(found.completeness, whole.completeness, "{seed}, {depth:?}");
    assert_eq!(found.violations, whole.violations, "{seed}, {depth:?}");
    let counters = |statistics: &Statistics| (statistics.states, statistics.matched, statistics.cut, statistics.depth);
    assert_eq!(counters(&found.statistics), counters(&whole.statistics), "{seed}, {depth:?}");
    stops
}

#[test]
fn a_search_by_depth_in_pieces_is_the_same_search() {
    let mut stops = 0;
    for seed in 0..3000 {
        let toys = Toys::random(seed, false);
        let revisit = [Revisit::Threshold, Revisit::Shallower][seed as usize % 2];
        let keep = [Keep::Tree, Keep::Traces][seed as usize / 2 % 2];
        let cut_off = (seed % 3 == 0).then_some(3 + seed as u32 % 7);
        stops += by_depth(&toys, &DepthSettings { increment: 1 + seed as u32 % 6, cut_off, revisit, keep }, seed);
    }
    assert!(stops > 2500, "{stops} stops");
}

#[test]
fn a_search_by_depth_may_be_stopped_at_any_look() {
    let (toys, settings) = (tireless(4, 6), Settings::default());
    for (increment, revisit) in [(2, Revisit::Threshold), (7, Revisit::Shallower), (40, Revisit::Threshold)] {
        let depth = DepthSettings { increment, revisit, ..DepthSettings::default() };
        let whole = depth_bounded(&mut toys.clone(), &mut Quiet, &settings, &depth, CheckpointPolicy::none())
            .expect("nothing is resumed");
        let (mut from, mut stops): (Option<DepthSnapshot>, u32) = (None, 0);
        let found = loop {
            let mut kept = None;
            let mut keep = |snapshot: DepthSnapshot| kept = Some(snapshot);
            let mut observer = Impatient { left: 1 + stops };
            let checkpoint = CheckpointPolicy { from: from.clone(), keep: Some(&mut keep) };
            let found = depth_bounded(&mut toys.clone(), &mut observer, &settings, &depth, checkpoint);
            let found = found.expect("the same search");
            if found.completeness == Completeness::Exhaustive {
                break found;
            }
            from = kept.or(from);
            stops += 1;
        };
        let rounds = |found: &Outcome<Label, u32>| -> Vec<_> {
            found.rounds.iter().map(|round| (round.bound, round.states, round.frontier, round.work.revisits)).collect()
        };
        assert_eq!(rounds(&found), rounds(&whole), "{increment}");
        assert_eq!(found.statistics.matched, whole.statistics.matched, "{increment}");
        assert!(stops > 3, "{increment}: {stops}");
    }
}

/// A search for cycles that is ended after each of its rounds.
struct RoundByRound;

impl Observer<Label, u32> for RoundByRound {}

impl DelayObserver<Label, u32> for RoundByRound {
    fn round(&mut self, _: &Round) -> ControlFlow<StopReason> {
        ControlFlow::Break(StopReason::Cancelled)
    }
}

type Cycles = CycleOutcome<Label, u32>;

/// Runs a search again and again, each time for one round more; says how often.
fn round_by_round(run: impl Fn(CheckpointPolicy<'_, CycleSnapshot>) -> Cycles) -> (Cycles, u32) {
    let (mut bytes, mut stops): (Option<Vec<u8>>, u32) = (None, 0);
    loop {
        let from = bytes.as_ref().map(|bytes| CycleSnapshot::from_bytes(bytes).expect("readable"));
        let mut kept = None;
        let mut keep = |snapshot: CycleSnapshot| kept = Some(snapshot.to_bytes());
        let found = run(CheckpointPolicy { from: from.clone(), keep: Some(&mut keep) });
        if found.completeness != Completeness::Stopped(StopReason::Cancelled) || kept.is_none() {
            return (found, stops);
        }
        bytes = kept;
        stops += 1;
    }
}

fn assert_same_cycles(pieces: &Cycles, whole: &Cycles, what: &str) {
    assert_eq!(pieces.violations, whole.violations, "{what}");
    assert_eq!((&pieces.rounds, pieces.loop_delays), (&whole.rounds, whole.loop_delays), "{what}");
    assert_eq!(pieces.infinite_macro_steps, whole.infinite_macro_steps, "{what}");
    let counters = |found: &Cycles| (found.statistics.states, found.statistics.matched);
    assert_eq!(counters(pieces), counters(whole), "{what}");
}

fn cycles_in_pieces<D: Scheduler<Label, State: Send + Sync> + Clone + Send>(
    toys: &Toys,
    scheduler: &D,
    (goal, ask): (Goal, Ask),
    seed: u64,
) -> u32 {
    let (bounding, settings) = (
        IterativeDelayBounding { increment: 1 + seed as u32 % 2, ..IterativeDelayBounding::default() },
        Settings::default(),
    );
    let rounds = CycleRounds { goal, bounding: &bounding };
    let whole =
        iterative_cycles(&mut toys.clone(), scheduler, &mut Quiet, &settings, rounds, ask, CheckpointPolicy::none());
    let whole = whole.expect("there is nothing to go on from");
    let (found, stops) = round_by_round(|checkpoint| {
        let mut toys = toys.clone();
        iterative_cycles(&mut toys, scheduler, &mut RoundByRound, &settings, rounds, ask, checkpoint)
            .expect("the same search")
    });
    assert_same_cycles(&found, &whole, &format!("{seed}, {goal:?}, {ask:?}"));
    stops
}

/// Several threads, which join at different times.
fn together_in_pieces<D: Scheduler<Label, State: Send + Sync> + Clone + Send>(
    toys: &Toys,
    scheduler: &D,
    goal: Goal,
    seed: u64,
) -> u32 {
    let (bounding, settings) = (IterativeDelayBounding::default(), Settings::default());
    let rounds = CycleRounds { goal, bounding: &bounding };
    let alone_max = [0, 5, 30][seed as usize % 3];
    let mut workers = vec![toys.clone(); 2];
    let whole = iterative_map_together(
        &mut workers,
        scheduler,
        &mut Quiet,
        &settings,
        rounds,
        alone_max,
        CheckpointPolicy::none(),
    );
    let whole = whole.expect("there is nothing to go on from").expect("there are models");
    let (found, stops) = round_by_round(|checkpoint| {
        let mut workers = vec![toys.clone(); 2];
        iterative_map_together(&mut workers, scheduler, &mut RoundByRound, &settings, rounds, alone_max, checkpoint)
            .expect("the same search")
            .expect("there are models")
    });
    assert_same_cycles(&found, &whole, &format!("{seed}, together, {goal:?}, {alone_max}"));
    stops
}

#[test]
fn a_search_for_cycles_round_by_round_is_the_same_search() {
    let mut stops = [0; 3];
    for seed in 0..3000 {
        let toys = program(seed);
        let goal = [Goal::AcceptanceCycle, Goal::Livelock][seed as usize % 2];
        let ask = [Ask::Map, Ask::NestedDfs, Ask::Components][seed as usize / 2 % 3];
        stops[0] += match seed % 3 {
            0 => cycles_in_pieces(&toys, &RoundRobin(Alike), (goal, ask), seed),
            1 => cycles_in_pieces(&toys, &RunToCompletion(Alike), (goal, ask), seed),
            _ => cycles_in_pieces(&toys, &RandomOrder::new(seed), (goal, ask), seed),
        };
        stops[1] += together_in_pieces(&toys, &RunToCompletion(Alike), goal, seed);
        let (depth, settings) =
            (DepthSettings { increment: 1 + seed as u32 % 3, ..DepthSettings::default() }, Settings::default());
        let whole =
            depth_bounded_cycles(&mut toys.clone(), &mut Quiet, &settings, &depth, goal, CheckpointPolicy::none());
        let (found, more) = round_by_round(|checkpoint| {
            let mut toys = toys.clone();
            depth_bounded_cycles(&mut toys, &mut RoundByRound, &settings, &depth, goal, checkpoint)
                .expect("the same search")
        });
        assert_same_cycles(&found, &whole.expect("there is nothing to go on from"), &format!("{seed}, by depth"));
        stops[2] += more;
    }
    assert!(stops.iter().all(|&stops| stops > 1000), "{stops:?} stops");
}
