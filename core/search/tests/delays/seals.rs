//! Sealed stretches: nobody is held back inside.

use crate::programs::Toys;
use crate::truth::truth;
use fabius_search::delay_bounded::{Deepening, exact, fast};
use fabius_search::schedule::{RoundRobin, RunToCompletion, SealKind, Sealed, Seals};
use fabius_search::{Quiet, Settings, StopAt, TreeStore, ViolationKind};

/// A process stands inside a stretch at these places.
#[derive(Clone, Debug)]
struct Inside {
    variables: usize,
    places: Vec<(u32, SealKind)>,
}

impl Seals for Inside {
    fn inside(&self, state: &[u32], process: u8) -> Option<SealKind> {
        let place = state[1 + self.variables + usize::from(process)];
        self.places.iter().find(|(inside, _)| *inside == place).map(|(_, kind)| *kind)
    }

    fn process_count(&self, state: &[u32]) -> usize {
        state.len() - 1 - self.variables
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
        let inside = Inside { variables: toys.variables, places };
        let scheduler = Sealed::new(RunToCompletion, inside);
        for bound in [0, 2] {
            let there = truth(&mut toys.clone(), &scheduler, bound);
            let deepening = Deepening::up_to(bound);
            let found = exact(&mut toys.clone(), &scheduler, &mut Quiet, &keep_going(), &deepening);
            assert_eq!(found.outcome.statistics.states as usize, there.delays.len(), "seed {seed}, {bound} delays");
            for (violation, delays) in found.outcome.violations.iter().zip(&found.delays) {
                if let ViolationKind::Fault(_) = violation.kind {
                    assert_eq!(delays.len() as u32, there.faults[violation.path.last().expect("a step")]);
                }
            }
            let mut store = TreeStore::new();
            let quick = fast(&mut toys.clone(), &scheduler, &mut store, &mut Quiet, &keep_going(), &deepening);
            assert!(quick.outcome.statistics.states as usize <= there.delays.len(), "seed {seed}");
            let free = truth(&mut toys.clone(), &RunToCompletion, bound);
            fewer += usize::from(there.delays.len() < free.delays.len());
        }
        assert_eq!(scheduler.overlaps(), 0, "seed {seed}");
    }
    assert!(fewer > 30, "seals forbid hardly anything: {fewer}");
}

/// Three processes count to four; nobody may be interrupted between its first and its last step.
#[test]
fn a_stretch_is_not_interrupted() {
    let toys = Toys::counters(3, 4);
    let places = (1..4).map(|place| (place, SealKind::RunToCompletion)).collect();
    let scheduler = Sealed::new(RoundRobin, Inside { variables: 0, places });
    let all = exact(&mut toys.clone(), &scheduler, &mut Quiet, &keep_going(), &Deepening::up_to(20));
    // Each process is done, or has not begun, or is the only one that is somewhere else: 8 + 3 · 4 · 3.
    assert_eq!(all.outcome.statistics.states, 8 + 36);
    let open = exact(&mut toys.clone(), &RoundRobin, &mut Quiet, &keep_going(), &Deepening::up_to(20));
    assert_eq!(open.outcome.statistics.states, 125);
}

#[test]
fn overlapping_stretches_are_counted() {
    let toys = Toys::counters(2, 4);
    // The processes start inside stretches of different kinds.
    let toys = Toys { start: vec![0, 1], ..toys };
    let places = vec![(0, SealKind::RoundRobin), (1, SealKind::RunToCompletion)];
    let scheduler = Sealed::new(RoundRobin, Inside { variables: 0, places });
    let _ = exact(&mut toys.clone(), &scheduler, &mut Quiet, &keep_going(), &Deepening::up_to(2));
    assert!(scheduler.overlaps() > 0);
}
