//! What is reached with at most this many delays and this many choices.

use super::programs::{Label, Rule, Toys};
use super::truth::{everything, truth_with_choices};
use fabius_base::StopReason;
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::delay_bounded::{Coverage, IterativeDelayBounding, exact, fast};
use fabius_search::schedule::{Alike, RandomOrder, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{Completeness, Outcome, Quiet, Settings, StopAt, TreeStore, ViolationKind};
use std::collections::BTreeMap;

const PROGRAMS: u64 = 1000;

fn keep_going() -> Settings {
    Settings { stop_at: StopAt::Never, ..Settings::default() }
}

fn run<D: Scheduler<Label>>(
    toys: &Toys,
    scheduler: &D,
    bounding: &IterativeDelayBounding,
    quick: bool,
) -> Outcome<Label, u32> {
    if quick {
        fast(
            &mut toys.clone(),
            scheduler,
            &mut TreeStore::new(),
            &mut Quiet,
            &keep_going(),
            bounding,
            CheckpointPolicy::none(),
        )
        .expect("nothing is resumed")
    } else {
        exact(&mut toys.clone(), scheduler, &mut Quiet, &keep_going(), bounding, CheckpointPolicy::none())
            .expect("nothing is resumed")
    }
}

/// Says whether the bound on choices made a difference.
fn compare<D: Scheduler<Label>>(toys: &Toys, scheduler: &D, context: &str) -> (bool, bool) {
    let mut fewer = false;
    for (delays, choices) in [(0, 0), (1, 0), (0, 2), (2, 1)] {
        let context = format!("{context}, {delays} delays, {choices} choices");
        let truth = truth_with_choices(&mut toys.clone(), scheduler, delays, choices);
        let bounds = IterativeDelayBounding { choices: Some(choices), ..IterativeDelayBounding::up_to(delays) };
        let found = run(toys, scheduler, &bounds, false);
        assert_eq!(found.statistics.states as usize, truth.delays.len(), "{context}");
        let mut faults: BTreeMap<Label, u32> = BTreeMap::new();
        for violation in &found.violations {
            let delays = &violation.delays;
            if let ViolationKind::Fault(_) = violation.kind {
                faults.insert(*violation.path.last().expect("there"), delays.len() as u32);
            }
        }
        assert_eq!(faults, truth.faults, "{context}");
        let quick = run(toys, scheduler, &bounds, true);
        assert!(quick.statistics.states as usize <= truth.delays.len(), "{context}");
        let free = run(toys, scheduler, &IterativeDelayBounding::up_to(delays), false);
        fewer |= found.statistics.states < free.statistics.states;
    }
    // However many delays: nothing is left, but only what choices did not cut off is known.
    let all = everything(&mut toys.clone()).len();
    let mut cut = false;
    for quick in [false, true] {
        let found = run(
            toys,
            scheduler,
            &IterativeDelayBounding { choices: Some(1), ..IterativeDelayBounding::default() },
            quick,
        );
        let states = found.statistics.states as usize;
        match found.coverage {
            Coverage::EverySchedule => {
                assert_eq!(states, all, "{context}");
                assert_eq!(found.completeness, Completeness::Exhaustive, "{context}");
            }
            Coverage::EveryDelay => {
                assert!(!found.proves_absence(), "{context}");
                assert_eq!(found.completeness, Completeness::Stopped(StopReason::Delays), "{context}");
                if !quick {
                    let truth = truth_with_choices(&mut toys.clone(), scheduler, 12, 1);
                    assert_eq!(states, truth.delays.len(), "{context}");
                }
                cut = true;
            }
            other => panic!("{context}: {other:?}"),
        }
        let plenty = run(
            toys,
            scheduler,
            &IterativeDelayBounding { choices: Some(1000), ..IterativeDelayBounding::default() },
            quick,
        );
        assert_eq!(plenty.statistics.states as usize, all, "{context}");
        assert_eq!(plenty.coverage, Coverage::EverySchedule, "{context}");
    }
    (fewer, cut)
}

#[test]
fn choices_are_bounded_exactly() {
    let (mut fewer, mut cut) = (0, 0);
    for seed in 0..PROGRAMS {
        let toys = Toys { processes_max: 3, ..Toys::random(seed, false) };
        let toys = Toys { start: toys.start.iter().copied().take(3).collect(), ..toys };
        let (one, other) = match seed % 3 {
            0 => compare(&toys, &RoundRobin(Alike), &format!("seed {seed}, round-robin")),
            1 => compare(&toys, &RunToCompletion(Alike), &format!("seed {seed}, run-to-completion")),
            _ => compare(&toys, &RandomOrder::new(seed), &format!("seed {seed}, random")),
        };
        fewer += u32::from(one);
        cut += u32::from(other);
    }
    assert!(fewer > 50 && cut > 50, "choices hardly matter: {fewer} programs with fewer states, {cut} cut off");
}

/// One process that counts by one or by two, ten times: with c choices there are c steps by two.
#[test]
fn each_alternative_but_the_first_costs_one() {
    let mut toys = Toys::counters(1, 10);
    let twice: Vec<Rule> =
        toys.rules.iter().filter(|rule| rule.from < 9).map(|rule| Rule { to: rule.from + 2, ..*rule }).collect();
    toys.rules.extend(twice);
    toys.rules.iter_mut().for_each(|rule| rule.fault = rule.from == 3 && rule.to == 5);
    for (choices, violations) in [(0, 0), (1, 1), (2, 1)] {
        let bounds = IterativeDelayBounding { choices: Some(choices), ..IterativeDelayBounding::default() };
        for quick in [false, true] {
            let found = run(&toys, &RoundRobin(Alike), &bounds, quick);
            let faults = found.violations.iter().filter(|one| matches!(one.kind, ViolationKind::Fault(_)));
            assert_eq!(faults.count(), violations, "{choices} choices");
            assert_eq!(found.statistics.states, 11);
        }
    }
}
