//! Single runs at random: they repeat with their seed, and meet what they should as often as they should.

use super::programs::{Label, Rule, Toys};
use super::truth::{everything, truth};
use fabius_search::delay_bounded::{DelayObserver, Samples, Sampling, sample};
use fabius_search::schedule::{Alike, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{Completeness, Marks, Observer, Outcome, Quiet, Settings, StopAt, ViolationKind};
use std::collections::BTreeMap;

const ALL: [Sampling; 6] = [
    Sampling::Delays(0),
    Sampling::Delays(2),
    Sampling::Walk,
    Sampling::Pct { depth: 3 },
    Sampling::Pos,
    Sampling::Surw,
];

fn draw<D: Scheduler<Label>>(
    toys: &Toys,
    scheduler: &D,
    sampling: Sampling,
    (seed, runs, length): (u64, u64, Option<u64>),
) -> Outcome<Label, u32> {
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let samples = Samples { sampling, seed, first: 0, every: 1, runs_max: Some(runs), length, of_interest: &|_| true };
    sample(&mut toys.clone(), scheduler, &mut Quiet, &settings, &samples)
}

#[test]
fn parts_of_the_runs_are_together_what_all_runs_are() {
    for seed in 0..60 {
        let toys = Toys::random(seed, false);
        for sampling in ALL {
            let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
            let part = |first, every| {
                let samples =
                    Samples { sampling, seed, first, every, runs_max: Some(50), length: None, of_interest: &|_| true };
                sample(&mut toys.clone(), &RoundRobin(Alike), &mut Quiet, &settings, &samples)
            };
            let whole = part(0, 1);
            for every in [2, 3, 7, 60] {
                let parts: Vec<_> = (0..every).map(|first| part(first, every)).collect();
                let sum = |of: fn(&Outcome<Label, u32>) -> u64| parts.iter().map(of).sum::<u64>();
                let what = format!("seed {seed}, {sampling:?}, {every} parts");
                let runs: fn(&Outcome<Label, u32>) -> u64 = |found| found.samples.map_or(0, |samples| samples.runs);
                assert_eq!(sum(runs), runs(&whole), "runs, {what}");
                assert_eq!(sum(|found| found.statistics.states), whole.statistics.states, "states, {what}");
                assert_eq!(
                    sum(|found| found.statistics.transitions()),
                    whole.statistics.transitions(),
                    "transitions, {what}"
                );
                assert_eq!(sum(|found| found.statistics.violations), whole.statistics.violations, "violations, {what}");
                let lengths = parts.iter().map(|found| found.samples.map(|samples| samples.length));
                assert!(lengths.clone().all(|length| length == whole.samples.map(|samples| samples.length)), "{what}");
                let mut counts: BTreeMap<String, u64> = BTreeMap::new();
                for violation in parts.iter().flat_map(|found| &found.violations) {
                    *counts.entry(format!("{:?}", violation.kind)).or_default() += violation.count;
                }
                let mut expected: BTreeMap<String, u64> = BTreeMap::new();
                for violation in &whole.violations {
                    *expected.entry(format!("{:?}", violation.kind)).or_default() += violation.count;
                }
                assert_eq!(counts, expected, "{what}");
            }
        }
    }
}

/// Two processes: the first takes `steps` steps; the second one step, which is faulty only if the first stands at
/// `at` (it is blocked otherwise, and then ends).
fn window(steps: u32, at: &[u32]) -> Toys {
    let plain = Rule {
        from: 0,
        to: 0,
        guard: None,
        effect: None,
        atomic: false,
        meets: None,
        spawns: false,
        fault: false,
        marks: Marks::NONE,
    };
    // Places 0..=steps are those of the first process; variable 0 tells where it stands (at an interesting place).
    let mut rules: Vec<Rule> = (0..steps)
        .map(|i| Rule { from: i, to: i + 1, effect: Some((0, u32::from(at.contains(&(i + 1))))), ..plain })
        .collect();
    let second = steps + 1;
    for i in 0..at.len() as u32 {
        let (from, to) = (second + i, second + i + 1);
        let last = i + 1 == at.len() as u32;
        rules.push(Rule { from, to, guard: Some((0, 1)), effect: Some((0, 0)), fault: last, ..plain });
    }
    let places = second + at.len() as u32 + 1;
    Toys { rules, places, variables: 1, start: vec![0, second], processes_max: 2 }
}

/// The probability with which a bug is met at least, in one run.
fn promise(found: &Outcome<Label, u32>) -> f64 {
    found.samples.and_then(|samples| samples.probability).expect("a promise")
}

/// How often a fault was met; nearly every run ends stuck as well.
fn faults(found: &Outcome<Label, u32>) -> f64 {
    let violations = found.violations.iter();
    let faults = violations.filter(|violation| matches!(violation.kind, ViolationKind::Fault(_)));
    faults.map(|violation| violation.count as f64).sum()
}

#[test]
fn runs_repeat_with_their_seed() {
    let mut differing = 0;
    for seed in 0..60 {
        let toys = Toys::random(seed, false);
        for sampling in ALL {
            let once = draw(&toys, &RoundRobin(Alike), sampling, (seed, 5, Some(30)));
            assert_eq!(
                once,
                draw(&toys, &RoundRobin(Alike), sampling, (seed, 5, Some(30))),
                "seed {seed}, {sampling:?}"
            );
            let other = draw(&toys, &RoundRobin(Alike), sampling, (seed + 1, 5, Some(30)));
            differing += usize::from((&once.violations, once.statistics) != (&other.violations, other.statistics));
            assert!(matches!(once.completeness, Completeness::Stopped(_)), "a sample proves nothing");
        }
    }
    assert!(differing > 30, "the seed does not matter: {differing}");
}

#[test]
fn what_is_met_can_be_met() {
    let (mut met, mut met_by_walks) = (0, BTreeMap::new());
    for seed in 0..300 {
        let toys = Toys::random(seed, false);
        let there = truth(&mut toys.clone(), &RunToCompletion(Alike), 60);
        for sampling in ALL {
            let found = draw(&toys, &RunToCompletion(Alike), sampling, (seed, 20, Some(60)));
            for violation in &found.violations {
                let delays = &violation.delays;
                if let ViolationKind::Fault(_) = violation.kind {
                    let fewest = there.faults[violation.path.last().expect("a faulty step")];
                    if let Sampling::Delays(max) = sampling {
                        assert!(fewest as usize <= delays.len() && delays.len() <= max as usize, "seed {seed}");
                    }
                    met += 1;
                    *met_by_walks.entry(format!("{sampling:?}")).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(met > 300 && met_by_walks.len() == ALL.len(), "{met_by_walks:?}");
}

/// The guarantee of sampling delays: a run of at most L macro steps that needs d delays is met with probability 1/Lᵈ or more.
#[test]
fn delays_meet_what_needs_them_as_often_as_they_promise() {
    for (at, steps, runs) in [(&[5_u32][..], 12_u32, 4000_u64), (&[3, 8][..], 12, 12_000)] {
        let toys = window(steps, at);
        // Round-robin lets the first process go on; to stop at the window it must be held back there, each time, and
        // the second process gives way by itself, being blocked.
        let needed = truth(&mut toys.clone(), &RoundRobin(Alike), 5).faults.values().copied().min().expect("a fault");
        assert_eq!(needed as usize, at.len());
        let length = u64::from(steps) + at.len() as u64;
        let found = draw(&toys, &RoundRobin(Alike), Sampling::Delays(needed), (11, runs, Some(length)));
        let promised = promise(&found);
        assert!((promised - (length as f64).powi(-(needed as i32))).abs() < 1e-12);
        let seen = faults(&found) / runs as f64;
        // Five standard deviations below what is promised would be no accident.
        let deviation = (promised * (1.0 - promised) / runs as f64).sqrt();
        assert!(promised - 5.0 * deviation <= seen, "{at:?}: met in {seen} of the runs, promised {promised}");
        assert!(seen < 20.0 * promised, "{at:?}: met in {seen} of the runs: this needs no delays");
    }
}

/// The guarantee of PCT: 1/(n·Lᵈ⁻¹).
#[test]
fn priorities_meet_what_needs_them_as_often_as_they_promise() {
    let toys = window(12, &[5]);
    for depth in [1, 2, 3] {
        let found = draw(&toys, &RoundRobin(Alike), Sampling::Pct { depth }, (5, 6000, Some(13)));
        let seen = faults(&found) / 6000.0;
        let promised = 1.0 / (2.0 * 13_f64.powi(depth as i32 - 1));
        assert!((promise(&found) - promised).abs() < 1e-12);
        // The window opens when the first process stands at one place: either it is stopped there (depth 2), or the
        // second process has priority and waits for it (depth 1).
        assert!(promised * 0.8 < seen, "depth {depth}: met in {seen} of the runs, promised {promised}");
    }
}

/// Two processes, one with four steps and one with one: its step comes first, second, … or last. Drawn by what is left,
/// all five orders are equally likely; a walk prefers the early ones.
#[test]
fn macro_steps_left_make_all_orders_equally_likely() {
    let orders = |sampling| {
        let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
        let samples = Samples {
            sampling,
            seed: 3,
            first: 0,
            every: 1,
            runs_max: Some(3016),
            length: Some(6),
            of_interest: &|_| true,
        };
        let found = sample(&mut one_and_four(), &RoundRobin(Alike), &mut EachOne(0), &settings, &samples);
        let mut counts = [0_u32; 5];
        // The first runs only find out how many macro steps there are.
        for violation in &found.violations[16..] {
            counts[violation.path.iter().position(|label| label.0 == 1).expect("it moves")] += 1;
        }
        counts
    };
    let (walks, even) = (orders(Sampling::Walk), orders(Sampling::Surw));
    assert!(walks[0] > 2 * walks[3], "{walks:?}");
    // 600 are expected of each; the standard deviation is 22.
    assert!(even.iter().all(|&count| (480..720).contains(&count)), "{even:?}");
}

/// Takes every violation for a new one.
struct EachOne(u64);

impl Observer<Label, u32> for EachOne {
    fn key(&mut self, _: &ViolationKind<u32>, _: Option<&Label>, _: &[u32]) -> u64 {
        self.0 += 1;
        self.0
    }
}

impl DelayObserver<Label, u32> for EachOne {}

/// A process with four steps, and one with one; the last state tells in which order they came.
fn one_and_four() -> Toys {
    let toys = Toys::counters(2, 4);
    let last = Rule { from: 5, to: 6, ..toys.rules[0] };
    let rules = toys.rules.iter().copied().chain([last]).collect();
    Toys { rules, places: 7, start: vec![0, 5], ..toys }
}

#[test]
fn walks_reach_what_there_is() {
    for seed in 0..60 {
        let toys = Toys::random(seed, false);
        let all = everything(&mut toys.clone()).len();
        let found = draw(&toys, &RoundRobin(Alike), Sampling::Walk, (1, 3, None));
        let drawn = found.samples.expect("runs were drawn");
        assert!(drawn.runs >= 3 && 1 <= drawn.length, "seed {seed}: {all} states");
    }
}
