//! Sealed stretches: nobody is held back inside.

use super::programs::{Rule, Toys};
use super::truth::truth;
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::delay_bounded::{IterativeDelayBounding, exact, fast};
use fabius_search::schedule::{Alike, RoundRobin, RunToCompletion, SealKind, Sealed, Seals};
use fabius_search::{Quiet, Settings, StopAt, TreeStore, ViolationKind};
use std::cell::RefCell;

/// A process stands inside a stretch at these places.
#[derive(Clone, Debug)]
pub struct Inside {
    variables: usize,
    places: Vec<(u32, SealKind)>,
    /// Who met, the first one first.
    met: RefCell<Vec<(u8, u8)>>,
}

impl Inside {
    pub fn new(variables: usize, places: Vec<(u32, SealKind)>) -> Self {
        Self { variables, places, met: RefCell::default() }
    }
}

impl Seals for Inside {
    fn inside(&self, state: &[u32], process: u8) -> Option<SealKind> {
        let place = state[1 + self.variables + usize::from(process)];
        self.places.iter().find(|(inside, _)| *inside == place).map(|(_, kind)| *kind)
    }

    fn process_count(&self, state: &[u32]) -> usize {
        state.len() - 1 - self.variables
    }

    fn meet(&self, _: &[u32], first: u8, other: u8) {
        self.met.borrow_mut().push((first, other));
    }
}

fn keep_going() -> Settings {
    Settings { stop_at: StopAt::Never, ..Settings::default() }
}

#[test]
fn sealed_searches_reach_what_the_definition_says() {
    let mut fewer = 0;
    for seed in 0..300 {
        let toys = Toys::random(seed, false);
        let kind = if seed % 2 == 0 { SealKind::RoundRobin } else { SealKind::RunToCompletion };
        let places = (0..toys.places).filter(|place| (seed >> place) & 1 == 1).map(|place| (place, kind)).collect();
        let scheduler = Sealed::new(RunToCompletion(Alike), Inside::new(toys.variables, places));
        for bound in [0, 2] {
            let there = truth(&mut toys.clone(), &scheduler, bound);
            let bounding = IterativeDelayBounding::up_to(bound);
            let found =
                exact(&mut toys.clone(), &scheduler, &mut Quiet, &keep_going(), &bounding, CheckpointPolicy::none())
                    .expect("nothing is resumed");
            assert_eq!(found.statistics.states as usize, there.delays.len(), "seed {seed}, {bound} delays");
            for violation in &found.violations {
                let delays = &violation.delays;
                if let ViolationKind::Fault(_) = violation.kind {
                    assert_eq!(delays.len() as u32, there.faults[violation.path.last().expect("a step")]);
                }
            }
            let mut store = TreeStore::new();
            let quick = fast(
                &mut toys.clone(),
                &scheduler,
                &mut store,
                &mut Quiet,
                &keep_going(),
                &bounding,
                CheckpointPolicy::none(),
            )
            .expect("nothing is resumed");
            assert!(quick.statistics.states as usize <= there.delays.len(), "seed {seed}");
            let free = truth(&mut toys.clone(), &RunToCompletion(Alike), bound);
            fewer += usize::from(there.delays.len() < free.delays.len());
        }
        assert_eq!(scheduler.seals().met.borrow().as_slice(), [], "seed {seed}");
    }
    assert!(fewer > 30, "seals forbid hardly anything: {fewer}");
}

/// Three processes count to four; nobody may be interrupted between its first and its last step.
#[test]
fn a_stretch_is_not_interrupted() {
    let toys = Toys::counters(3, 4);
    let places = (1..4).map(|place| (place, SealKind::RunToCompletion)).collect();
    let scheduler = Sealed::new(RoundRobin(Alike), Inside::new(0, places));
    let all = exact(
        &mut toys.clone(),
        &scheduler,
        &mut Quiet,
        &keep_going(),
        &IterativeDelayBounding::up_to(20),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    // Each process is done, or has not begun, or is the only one that is somewhere else: 8 + 3 · 4 · 3.
    assert_eq!(all.statistics.states, 8 + 36);
    let open = exact(
        &mut toys.clone(),
        &RoundRobin(Alike),
        &mut Quiet,
        &keep_going(),
        &IterativeDelayBounding::up_to(20),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    assert_eq!(open.statistics.states, 125);
}

#[test]
fn overlapping_stretches_are_told_and_the_first_counts() {
    let toys = Toys::counters(2, 4);
    let places = vec![(1, SealKind::RoundRobin), (2, SealKind::RunToCompletion)];
    // One begins inside a stretch in which it goes on for ever; under round-robin the other one, which is older, gets
    // control and enters one of the other kind.
    let rule = Rule { from: 2, to: 2, ..toys.rules[0] };
    let mut lasting = Toys { start: vec![0, 2], ..toys.clone() };
    lasting.rules = vec![toys.rules[0], rule];
    let ring = vec![(1, SealKind::RunToCompletion), (2, SealKind::RoundRobin)];
    let scheduler = Sealed::new(RoundRobin(Alike), Inside::new(0, ring));
    let _ = exact(
        &mut lasting,
        &scheduler,
        &mut Quiet,
        &keep_going(),
        &IterativeDelayBounding::up_to(2),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    assert_eq!(scheduler.seals().met.borrow().first(), Some(&(1, 0)), "the younger one was inside first");
    let toys = Toys { start: vec![1, 2], ..toys };
    let scheduler = Sealed::new(RoundRobin(Alike), Inside::new(0, places));
    let _ = exact(
        &mut toys.clone(),
        &scheduler,
        &mut Quiet,
        &keep_going(),
        &IterativeDelayBounding::up_to(2),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    assert_eq!(scheduler.seals().met.borrow().first(), Some(&(0, 1)));
}
