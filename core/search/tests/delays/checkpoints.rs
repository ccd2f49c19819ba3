//! A search that is stopped again and again, written down, and resumed by another, does what it would have done.

use crate::programs::{Label, Rule, Toys};
use fabius_base::{Limits, StopReason};
use fabius_search::delay_bounded::{Deepening, DelayObserver, DelayOutcome, Keeping, Round, Snapshot, Unusable};
use fabius_search::delay_bounded::{fast, fast_kept};
use fabius_search::schedule::{RandomOrder, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{Completeness, FingerprintStore, Observer, Quiet, Settings, Statistics, Store, TreeStore};
use std::ops::ControlFlow;

type Found = DelayOutcome<Label, u32>;

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

/// Searches until it is done, stopping after every `step` states; says how often it stopped.
fn piecewise<D: Scheduler<Label>, S: Store>(
    toys: &Toys,
    scheduler: &D,
    store: impl Fn() -> S,
    deepening: &Deepening,
    step: u64,
) -> (Found, u32) {
    let (mut bytes, mut stops): (Option<Vec<u8>>, u32) = (None, 0);
    loop {
        let from = bytes.as_ref().map(|bytes| Snapshot::from_bytes(bytes).expect("readable"));
        let states_max = from.as_ref().map_or(0, Snapshot::states) + step;
        let mut kept = None;
        let mut keep = |snapshot: Snapshot| kept = Some(snapshot.to_bytes());
        let keeping = Keeping { from: from.as_ref(), keep: &mut keep };
        let (mut toys, mut store) = (toys.clone(), store());
        let found = fast_kept(&mut toys, scheduler, &mut store, &mut Quiet, &at_most(states_max), deepening, keeping);
        let found = found.expect("the same search");
        if found.outcome.completeness != Completeness::Stopped(StopReason::States) {
            return (found, stops);
        }
        bytes = kept.or(bytes);
        stops += 1;
    }
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
    let (one, other) = (&piecewise.outcome, &whole.outcome);
    assert_eq!(one.completeness, other.completeness, "{what}");
    assert_eq!(one.violations, other.violations, "{what}");
    assert_eq!(piecewise.delays, whole.delays, "{what}");
    assert_eq!((piecewise.reach, &piecewise.rounds), (whole.reach, &whole.rounds), "{what}");
    let counters = |statistics: &Statistics| (statistics.states, statistics.matched, statistics.cut, statistics.depth);
    assert_eq!(counters(&one.statistics), counters(&other.statistics), "{what}");
}

fn compare<D: Scheduler<Label>>(toys: &Toys, scheduler: &D, deepening: &Deepening, seed: u64) -> u32 {
    let (mut model, mut store) = (toys.clone(), TreeStore::new());
    let whole = fast(&mut model, scheduler, &mut store, &mut Quiet, &Settings::default(), deepening);
    let step = 1 + seed % 5;
    let (found, stops) = piecewise(toys, scheduler, TreeStore::<()>::new, deepening, step);
    assert_same(&found, &whole, &format!("{seed}"));
    let (hashed, _) = piecewise(toys, scheduler, || FingerprintStore::new(3), deepening, step + 2);
    assert_eq!(hashed.outcome.statistics.states, whole.outcome.statistics.states, "{seed}");
    stops
}

#[test]
fn a_search_in_pieces_is_the_same_search() {
    let mut stops = 0;
    for seed in 0..400 {
        let toys = Toys::random(seed, false);
        let deepening = if seed % 3 == 0 { Deepening::up_to(2) } else { Deepening::default() };
        stops += match seed % 3 {
            0 => compare(&toys, &RoundRobin, &deepening, seed),
            1 => compare(&toys, &RunToCompletion, &deepening, seed),
            _ => compare(&toys, &RandomOrder::new(seed), &deepening, seed),
        };
    }
    assert!(stops > 500, "{stops} stops");
}

#[test]
fn it_may_be_stopped_at_any_look() {
    let toys = tireless(4, 7);
    let deepening = Deepening::default();
    let (mut model, mut store) = (toys.clone(), TreeStore::<()>::new());
    let whole = fast(&mut model, &RunToCompletion, &mut store, &mut Quiet, &Settings::default(), &deepening);
    for looks in 1..14 {
        let (mut from, mut stops): (Option<Snapshot>, u32) = (None, 0);
        let found = loop {
            let mut kept = None;
            let mut keep = |snapshot| kept = Some(snapshot);
            let (mut model, mut store) = (toys.clone(), TreeStore::<()>::new());
            // Whoever resumes looks while the states are found again, and must get beyond that.
            let mut observer = Impatient { left: looks + stops };
            let keeping = Keeping { from: from.as_ref(), keep: &mut keep };
            let settings = Settings::default();
            let found =
                fast_kept(&mut model, &RunToCompletion, &mut store, &mut observer, &settings, &deepening, keeping)
                    .expect("the same search");
            assert_ne!(found.outcome.completeness, Completeness::FirstViolation);
            if found.outcome.completeness == Completeness::Exhaustive {
                break found;
            }
            from = kept.or(from);
            stops += 1;
        };
        assert_same(&found, &whole, &format!("{looks} looks"));
        assert!(stops > 0, "{looks} looks");
    }
}

#[test]
fn more_delays_may_be_asked_for_later() {
    let toys = tireless(3, 4);
    let run = |deepening: Deepening, from: Option<&Snapshot>| {
        let mut kept = None;
        let mut keep = |snapshot| kept = Some(snapshot);
        let (mut model, mut store) = (toys.clone(), TreeStore::<()>::new());
        let keeping = Keeping { from, keep: &mut keep };
        let settings = Settings::default();
        let found =
            fast_kept(&mut model, &RoundRobin, &mut store, &mut Quiet, &settings, &deepening, keeping).expect("mine");
        (found, kept)
    };
    let (_, snapshot) = run(Deepening::up_to(1), None);
    let (resumed, _) = run(Deepening::up_to(3), snapshot.as_ref());
    let (whole, _) = run(Deepening::up_to(3), None);
    assert_same(&resumed, &whole, "one, then three");
}

#[test]
fn a_snapshot_of_another_model_is_refused_or_finds_other_states() {
    let mut kept = None;
    let mut keep = |snapshot| kept = Some(snapshot);
    let deepening = Deepening::up_to(1);
    let (mut store, settings) = (TreeStore::<()>::new(), Settings::default());
    let keeping = Keeping { from: None, keep: &mut keep };
    let mut large = tireless(4, 3);
    fast_kept(&mut large, &RoundRobin, &mut store, &mut Quiet, &settings, &deepening, keeping).expect("mine");
    let snapshot: Snapshot = kept.expect("there is more to do");
    let mut keep = |_| ();
    let keeping = Keeping { from: Some(&snapshot), keep: &mut keep };
    let (mut small, mut store) = (tireless(1, 3), TreeStore::<()>::new());
    let refused = fast_kept(&mut small, &RoundRobin, &mut store, &mut Quiet, &settings, &deepening, keeping);
    assert_eq!(refused.err(), Some(Unusable));
}
