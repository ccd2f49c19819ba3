//! What is reached with at most k delays, and what it takes to reach it.

use super::programs::{Label, Toys};
use super::truth::{Truth, everything, truth};
use fabius_base::StopReason;
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::delay_bounded::{Coverage, DelayObserver, IterativeDelayBounding, exact, fast};
use fabius_search::schedule::{Alike, Closing, Laps};
use fabius_search::schedule::{Priority, RandomOrder, Ranking, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{
    BitstateStore, Completeness, Model, Next, Observer, Outcome, Settings, StopAt, Store, TreeStore, ViolationKind,
};
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: u64 = 500;

/// Sees every state that is stored: those that a fast or exact search met, by their words.
#[derive(Default)]
struct Notes;

impl Observer<Label, u32> for Notes {}
impl DelayObserver<Label, u32> for Notes {}

/// Later processes are more important; even ones if the first variable is 1.
#[derive(Clone, Copy, Debug)]
pub struct Fickle;

impl Ranking for Fickle {
    fn rank(&self, state: &[u32], process: u8) -> u32 {
        if state[1..].first() == Some(&1) { u32::from(process % 2) } else { 9 - u32::from(process) }
    }
}

/// A loop cannot be without a rule that leads to an earlier place, or to the same one.
#[derive(Clone, Debug)]
pub struct Backwards(Vec<bool>);

impl Backwards {
    pub fn of(toys: &Toys) -> Self {
        Self(toys.rules.iter().map(|rule| rule.to <= rule.from).collect())
    }
}

impl Closing<Label> for Backwards {
    fn closes(&self, (mover, rule, _): &Label, process: u8) -> bool {
        *mover == process && self.0[*rule as usize]
    }
}

fn keep_going() -> Settings {
    Settings { stop_at: StopAt::Never, ..Settings::default() }
}

type Found = Outcome<Label, u32>;

fn run_fast<D: Scheduler<Label>>(toys: &Toys, scheduler: &D, bounding: &IterativeDelayBounding) -> Found {
    let mut store = TreeStore::new();
    let found =
        fast(&mut toys.clone(), scheduler, &mut store, &mut Notes, &keep_going(), bounding, CheckpointPolicy::none())
            .expect("nothing is resumed");
    assert_eq!(store.len(fabius_search::store::Class::Ordinary), found.statistics.states);
    found
}

fn run_exact<D: Scheduler<Label>>(toys: &Toys, scheduler: &D, bounding: &IterativeDelayBounding) -> Found {
    exact(&mut toys.clone(), scheduler, &mut Notes, &keep_going(), bounding, CheckpointPolicy::none())
        .expect("nothing is resumed")
}

/// Gets the name of a scheduler, a search (fast or not), and what is true of this many delays.
type Check<'a> = &'a mut dyn FnMut(&str, &dyn Fn(&IterativeDelayBounding, bool) -> Found, &mut dyn FnMut(u32) -> Truth);

/// Runs a check for each scheduler.
fn with_each(toys: &Toys, seed: u64, check: Check<'_>) {
    fn one<D: Scheduler<Label>>(toys: &Toys, name: &str, scheduler: &D, check: Check<'_>) {
        let run = |bounding: &IterativeDelayBounding, is_fast: bool| {
            if is_fast { run_fast(toys, scheduler, bounding) } else { run_exact(toys, scheduler, bounding) }
        };
        check(name, &run, &mut |delays_max| truth(&mut toys.clone(), scheduler, delays_max));
    }
    one(toys, "round-robin", &RoundRobin(Alike), check);
    one(toys, "laps", &Laps::new(Backwards::of(toys)), check);
    one(toys, "run-to-completion", &RunToCompletion(Alike), check);
    one(toys, "random", &RandomOrder::new(seed), check);
    one(toys, "priority", &Priority(Fickle), check);
    one(toys, "ranked round-robin", &RoundRobin(Fickle), check);
    one(toys, "ranked laps", &Laps { ring: RoundRobin(Fickle), closing: Backwards::of(toys) }, check);
    one(toys, "ranked run-to-completion", &RunToCompletion(Fickle), check);
    one(toys, "ranked random", &RandomOrder { ranking: Fickle, seed }, check);
}

/// Walks the path of a violation with the scheduler's eyes closed: it must be a path, and end as it says.
pub fn walk(toys: &Toys, kind: ViolationKind<u32>, path: &[Label]) -> Vec<u32> {
    let mut toys = toys.clone();
    let (mut state, mut successor) = (Vec::new(), Vec::new());
    toys.initial(&mut state).expect("there");
    for (i, wanted) in path.iter().enumerate() {
        let mut cursor = toys.begin(&state);
        loop {
            match toys.next(&state, &mut cursor, &mut successor) {
                Next::Successor { label: Some(label), fault, .. } if label == *wanted => {
                    if i + 1 == path.len()
                        && let ViolationKind::Fault(expected) = kind
                    {
                        assert_eq!(fault, Some(expected));
                        return successor;
                    }
                    break;
                }
                Next::Successor { label: None, .. } => {
                    state.clone_from(&successor);
                    cursor = toys.begin(&state);
                }
                Next::Successor { .. } => {}
                other => panic!("{wanted:?} cannot be taken: {other:?}"),
            }
        }
        std::mem::swap(&mut state, &mut successor);
    }
    assert_eq!(kind, ViolationKind::InvalidEnd);
    state
}

#[test]
fn exact_mode_reaches_what_can_be_reached_with_so_many_delays() {
    let mut compared = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        with_each(&toys, seed, &mut |name, run, truth| {
            for bound in [0, 1, 3] {
                let truth = truth(bound);
                let found = run(&IterativeDelayBounding::up_to(bound), false);
                let context = format!("seed {seed}, {name}, {bound} delays");
                assert_eq!(found.statistics.states as usize, truth.delays.len(), "{context}");
                let mut faults = BTreeMap::new();
                let mut stuck = 0;
                for violation in &found.violations {
                    let delays = &violation.delays;
                    let end = walk(&toys, violation.kind, &violation.path);
                    match violation.kind {
                        ViolationKind::Fault(_) => {
                            faults.insert(*violation.path.last().expect("there"), delays.len() as u32);
                        }
                        ViolationKind::InvalidEnd => {
                            let mut end = end;
                            end[0] = 0;
                            assert_eq!(truth.stuck[&end], delays.len() as u32, "{context}");
                            stuck += 1;
                        }
                    }
                }
                assert_eq!(faults, truth.faults, "{context}");
                assert_eq!(stuck, truth.stuck.len(), "{context}");
                compared += truth.delays.len();
            }
        });
    }
    assert!(compared > 30_000, "the programs are too small to show anything: {compared}");
}

#[test]
fn both_modes_reach_everything_in_the_end() {
    let mut several_rounds = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let all = everything(&mut toys.clone());
        with_each(&toys, seed, &mut |name, run, _| {
            for is_fast in [true, false] {
                for increment in [1, 2] {
                    let found = run(
                        &IterativeDelayBounding { first: increment - 1, increment, last: None, choices: None },
                        is_fast,
                    );
                    let context = format!("seed {seed}, {name}, fast {is_fast}");
                    assert_eq!(found.coverage, Coverage::EverySchedule, "{context}");
                    assert_eq!(found.completeness, Completeness::Exhaustive, "{context}");
                    assert_eq!(found.statistics.states as usize, all.len(), "{context}");
                    several_rounds += usize::from(found.rounds.len() > 2);
                }
            }
        });
    }
    assert!(several_rounds > 1000, "too few programs need delays: {several_rounds}");
}

/// The finding F1: what fast mode has seen after a bound is less than what the bound reaches, and never more.
#[test]
fn fast_mode_is_not_exact_per_bound_and_nobody_may_claim_that_it_is() {
    for (name, is_causal) in [("round-robin", false), ("run-to-completion", true)] {
        let (mut missing, mut reachable, mut affected) = ([0, 0, 0], [0, 0, 0], 0);
        for seed in 0..1500 {
            let toys = Toys::random(seed, false);
            let mut short = false;
            for bound in 1..=3_u32 {
                let bounding = IterativeDelayBounding::up_to(bound);
                let (fast, truth) = if is_causal {
                    (
                        run_fast(&toys, &RunToCompletion(Alike), &bounding),
                        truth(&mut toys.clone(), &RunToCompletion(Alike), bound),
                    )
                } else {
                    (
                        run_fast(&toys, &RoundRobin(Alike), &bounding),
                        truth(&mut toys.clone(), &RoundRobin(Alike), bound),
                    )
                };
                let (seen, there) = (fast.statistics.states as usize, truth.delays.len());
                assert!(seen <= there, "seed {seed}, {name}: more than can be reached");
                missing[bound as usize - 1] += there - seen;
                reachable[bound as usize - 1] += there;
                short |= seen < there;
                if let Coverage::Bound(reached) = fast.coverage {
                    assert_eq!(reached, bound);
                    assert_eq!(fast.completeness, Completeness::Stopped(StopReason::Delays));
                    assert!(!fast.proves_absence());
                }
            }
            affected += usize::from(short);
        }
        let percent = |i: usize| 100.0 * missing[i] as f64 / reachable[i] as f64;
        assert!(10 < affected, "{name}: fast mode is exact on nearly all of these programs: {affected}");
        assert!((0.05..10.0).contains(&percent(2)), "{name}: {:.2} % missing", percent(2));
    }
}

/// The finding F2: the loop of the figure falls through when a state is known.
#[test]
fn known_successors_do_not_keep_the_search_for_ever() {
    let toys = Toys::counters(3, 3);
    let found = run_fast(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default());
    assert_eq!(found.statistics.states, 64);
    assert_eq!(found.coverage, Coverage::EverySchedule);
}

#[test]
fn zero_delays_follow_one_schedule() {
    let toys = Toys::counters(3, 4);
    for found in [
        run_fast(&toys, &RoundRobin(Alike), &IterativeDelayBounding::up_to(0)),
        run_exact(&toys, &RunToCompletion(Alike), &IterativeDelayBounding::up_to(0)),
    ] {
        assert_eq!(found.statistics.states, 13);
        assert_eq!(found.rounds.len(), 1);
    }
}

#[test]
fn the_delays_of_a_violation_are_those_of_its_path() {
    let mut delayed = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        with_each(&toys, seed, &mut |name, run, truth| {
            let truth = truth(12);
            for is_fast in [true, false] {
                let found = run(&IterativeDelayBounding::default(), is_fast);
                for violation in &found.violations {
                    let delays = &violation.delays;
                    walk(&toys, violation.kind, &violation.path);
                    let context = format!("seed {seed}, {name}, fast {is_fast}");
                    assert!(delays.iter().all(|delay| delay.before <= violation.path.len()), "{context}");
                    if let ViolationKind::Fault(_) = violation.kind {
                        let fewest = truth.faults[violation.path.last().expect("there")] as usize;
                        assert!(fewest <= delays.len(), "{context}");
                        assert!(is_fast || fewest == delays.len(), "{context}");
                    }
                    delayed += delays.len();
                }
            }
        });
    }
    assert!(delayed > 500, "too few delays to show anything: {delayed}");
}

#[test]
fn runs_with_the_same_seed_are_the_same() {
    let mut differing = 0;
    for seed in 0..200 {
        let toys = Toys::random(seed, false);
        let run = |seed| run_fast(&toys, &RandomOrder::new(seed), &IterativeDelayBounding::up_to(1));
        assert_eq!(run(1), run(1), "seed {seed}");
        differing += usize::from(run(1) != run(2));
    }
    assert!(differing > 20, "the seed does not matter: {differing}");
}

#[test]
fn lossy_stores_serve_fast_mode() {
    for seed in 0..200 {
        let toys = Toys::random(seed, false);
        let mut store = BitstateStore::new(1 << 16, 3, 0);
        let all = everything(&mut toys.clone());
        let found = fast(
            &mut toys.clone(),
            &RoundRobin(Alike),
            &mut store,
            &mut Notes,
            &keep_going(),
            &IterativeDelayBounding::default(),
            CheckpointPolicy::none(),
        )
        .expect("nothing is resumed");
        assert_eq!(found.statistics.states as usize, all.len(), "seed {seed}");
        assert!(!found.proves_absence());
        assert!(!store.exactness().is_exact());
    }
}

#[test]
fn limits_end_the_search_and_are_named() {
    let toys = Toys::counters(4, 6);
    let limits = fabius_base::Limits { states_max: Some(50), ..fabius_base::Limits::default() };
    let settings = Settings { limits, ..keep_going() };
    let mut store = TreeStore::new();
    let found = fast(
        &mut toys.clone(),
        &RoundRobin(Alike),
        &mut store,
        &mut Notes,
        &settings,
        &IterativeDelayBounding::default(),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    assert_eq!(found.completeness, Completeness::Stopped(StopReason::States));
    assert_eq!(found.statistics.states, 50);
    assert!(matches!(found.coverage, Coverage::Ended(Some(_))), "{found:?}");
    let found = exact(
        &mut toys.clone(),
        &RoundRobin(Alike),
        &mut Notes,
        &settings,
        &IterativeDelayBounding::default(),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    assert_eq!(found.completeness, Completeness::Stopped(StopReason::States));
    let limits = fabius_base::Limits { depth_max: Some(5), ..fabius_base::Limits::default() };
    let settings = Settings { limits, ..keep_going() };
    let mut store = TreeStore::new();
    let found = fast(
        &mut toys.clone(),
        &RoundRobin(Alike),
        &mut store,
        &mut Notes,
        &settings,
        &IterativeDelayBounding::default(),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    assert_eq!(found.completeness, Completeness::Stopped(StopReason::Depth));
    assert_eq!(found.coverage, Coverage::Ended(None));
}

#[test]
fn a_seed_names_different_programs() {
    let all: BTreeSet<String> = (0..50).map(|seed| format!("{:?}", Toys::random(seed, true))).collect();
    assert!(all.len() > 45);
}
