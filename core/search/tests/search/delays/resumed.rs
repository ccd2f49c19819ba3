//! A search by partitions in the order of delays that goes on from a snapshot finds what it would have found.

use super::bounds::{Backwards, Fickle};
use super::programs::{Label, Toys};
use super::seals::Inside;
use crate::resumed::{Kept, kept, states, without_memory};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_search::partition::{
    DelayOrder, ExchangeError, PartCheckpoints, PartRequest, Reached, delays, reach, replay_delays,
};
use fabius_search::schedule::{Alike, Laps, Portable, Priority, RandomOrder, RoundRobin, RunToCompletion};
use fabius_search::schedule::{Scheduler, SealKind, Sealed};
use fabius_search::toy::Random;
use fabius_search::{Completeness, Quiet, Settings, StopAt, TreeStore};

type All = (Result<Reached, ExchangeError>, Vec<Vec<Kept>>);

const PROGRAMS: u64 = 60;

/// What all partitions report, and the snapshots that they kept.
fn search<D: Scheduler<Label, State: Portable>>(
    (toys, scheduler, partitions): (&Toys, &(impl Fn() -> D + Sync), usize),
    delays_max: Option<u32>,
    settings: &Settings,
    from: Option<&[Kept]>,
    each_layer: bool,
) -> All {
    kept(partitions, from, each_layer, |mut exchange, from, keeper| {
        let (mut store, mut ways) = (TreeStore::default(), Vec::new());
        let checkpoints = PartCheckpoints { from, keep: Some(keeper) };
        let request = PartRequest { target: DelayOrder { scheduler: &scheduler(), delays_max }, checkpoints };
        delays(&mut toys.clone(), request, &mut store, &mut ways, &mut exchange, &mut Quiet, settings)
    })
}

/// Goes on after each layer, and says after how many.
fn compare<D: Scheduler<Label, State: Portable>>(
    seed: u64,
    toys: &Toys,
    name: &str,
    scheduler: impl Fn() -> D + Sync,
) -> u64 {
    let mut random = Random::new(seed);
    let mut resumed = 0;
    for delays_max in [Some(0), Some(2), None] {
        let stop_at = if random.below(3) == 0 { StopAt::First } else { StopAt::Never };
        let settings = Settings { stop_at, ..Settings::default() };
        for partitions in [1, 2, 3, 5] {
            let what = format!("{seed}, {name}, up to {delays_max:?}, {partitions} partitions");
            let asked = (toys, &scheduler, partitions);
            let plain = search(asked, delays_max, &settings, None, false).0.expect("all go on");
            let (whole, snapshots) = search(asked, delays_max, &settings, None, true);
            let whole = without_memory(&whole.expect("all go on"));
            assert_eq!(whole, without_memory(&plain), "{what}");
            for (layer, snapshot) in snapshots.iter().enumerate() {
                let (again, later) = search(asked, delays_max, &settings, Some(snapshot), true);
                assert_eq!(without_memory(&again.expect("all go on")), whole, "{what}: after layer {layer}");
                let next = later.first().zip(snapshots.get(layer + 1));
                assert!(
                    next.is_none_or(|(one, other)| one.iter().zip(other).all(|(one, other)| one.1 == other.1)),
                    "{what}"
                );
                assert!(snapshots.len() - layer - 1 <= later.len(), "{what}: fewer layers are kept");
                resumed += 1;
            }
        }
    }
    resumed
}

#[test]
fn after_any_layer_the_same_is_found() {
    let mut resumed = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        resumed += match seed % 6 {
            0 => compare(seed, &toys, "laps", || Laps::new(Backwards::of(&toys))),
            1 => compare(seed, &toys, "random", || RandomOrder::new(seed)),
            2 => compare(seed, &toys, "priority", || Priority(Fickle)),
            3 => compare(seed, &toys, "ranked run-to-completion", || RunToCompletion(Fickle)),
            4 => compare(seed, &toys, "round-robin", || RoundRobin(Alike)),
            _ => {
                let kind = if seed % 2 == 0 { SealKind::RoundRobin } else { SealKind::RunToCompletion };
                let scheduler = || {
                    let places = (0..toys.places).filter(|place| (seed >> place) & 1 == 1);
                    Sealed::new(
                        RunToCompletion(Alike),
                        Inside::new(toys.variables, places.map(|place| (place, kind)).collect()),
                    )
                };
                compare(seed, &toys, "sealed run-to-completion", scheduler)
            }
        };
    }
    assert!(3_000 < resumed, "{resumed}");
}

/// A limit on states stops in the middle of a layer; a bound on delays at the end of a round.
#[test]
fn where_a_limit_ended_it_the_same_is_found() {
    let (mut by_states, mut by_delays) = (0, 0);
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let all = Settings { stop_at: StopAt::Never, ..Settings::default() };
        let limits = Limits { states_max: Some(1 + seed % 11), ..Limits::default() };
        let few = Settings { limits, ..all.clone() };
        let scheduler = || RunToCompletion(Alike);
        for partitions in [1, 2, 3] {
            let asked = (&toys, &scheduler, partitions);
            let whole = without_memory(&search(asked, None, &all, None, false).0.expect("all go on"));
            for (delays_max, settings, ended) in [(None, &few, &mut by_states), (Some(1), &all, &mut by_delays)] {
                let (cut, snapshots) = search(asked, delays_max, settings, None, false);
                let cut = cut.expect("all go on");
                let is_whole = without_memory(&cut) == whole;
                assert_eq!(snapshots.len(), usize::from(!is_whole), "{seed}, {partitions} partitions");
                let Some(last) = snapshots.last() else { continue };
                let (again, _) = search(asked, None, &all, Some(last), false);
                let again = without_memory(&again.expect("all go on"));
                assert_eq!(again, whole, "{seed}, {partitions} partitions, {delays_max:?}");
                *ended += 1;
            }
        }
    }
    assert!(60 < by_states && 60 < by_delays, "{by_states} by states, {by_delays} by delays");
}

/// With a smaller bound than was searched, nothing is searched, and nothing more is said than is known.
#[test]
fn with_a_smaller_bound_it_ends_at_once() {
    let toys = Toys::counters(3, 4);
    let asked = (&toys, &|| RoundRobin(Alike), 2);
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let (_, snapshots) = search(asked, None, &settings, None, true);
    let last = snapshots.last().expect("some layer ended");
    let again = search(asked, Some(1), &settings, Some(last), false).0.expect("all go on");
    assert_eq!((again.completeness, again.statistics.states), (Completeness::Exhaustive, states(last)));
    let outcome = again.into_delay_outcome(&mut toys.clone(), &RoundRobin(Alike)).expect("no violation");
    assert!(!outcome.proves_absence() && outcome.completeness == Completeness::Stopped(StopReason::Delays));
}

/// More states than are found again in one round.
#[test]
fn a_search_of_many_states_is_resumed() {
    let toys = Toys::counters(5, 9);
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let asked = (&toys, &|| RunToCompletion(Alike), 2);
    let whole = without_memory(&search(asked, None, &settings, None, false).0.expect("all go on"));
    assert_eq!(whole.statistics.states, 10_u64.pow(5));
    let limits = Limits { states_max: Some(90_000), ..Limits::default() };
    let short = Settings { limits, ..settings.clone() };
    let (stopped, snapshots) = search(asked, None, &short, None, false);
    assert_eq!(stopped.expect("all go on").completeness, Completeness::Stopped(StopReason::States));
    let last = snapshots.last().expect("it was kept");
    assert!(70_000 < states(last), "{}", states(last));
    let again = search(asked, None, &settings, Some(last), false).0.expect("all go on");
    assert_eq!(without_memory(&again), whole);
}

#[test]
fn stopped_while_it_is_resumed_it_tells_what_was_known() {
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let scheduler = || RoundRobin(Alike);
    let mut violations = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let (_, snapshots) = search((&toys, &scheduler, 3), None, &settings, None, true);
        let Some(last) = snapshots.last() else { continue };
        let cancelled = Settings { cancel: Cancel::new(), ..settings.clone() };
        cancelled.cancel.time_out();
        let (stopped, later) = search((&toys, &scheduler, 3), None, &cancelled, Some(last), true);
        let stopped = stopped.expect("all go on");
        assert_eq!(stopped.completeness, Completeness::Stopped(StopReason::Timeout));
        assert_eq!(stopped.statistics.states, states(last));
        // What was stopped before it was whole again is not kept in place of what was.
        assert!(later.iter().all(|later| states(later) == states(last)), "{seed}");
        for way in &stopped.ways {
            assert!(replay_delays(&mut toys.clone(), &scheduler(), way).is_some(), "{seed}: {way:?}");
            violations += 1;
        }
    }
    assert!(10 < violations, "{violations}");
}

#[test]
fn snapshots_of_another_model_or_search_are_refused() {
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let scheduler = || RoundRobin(Alike);
    let mut refused = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let (_, snapshots) = search((&toys, &scheduler, 2), None, &settings, None, true);
        let Some(last) = snapshots.last().filter(|last| 20 < states(last)) else { continue };
        let other = search((&Toys::counters(2, 2), &scheduler, 2), None, &settings, Some(last), true);
        assert_eq!(other.0, Err(ExchangeError::Unusable), "{seed}");
        let breadth_first = kept(2, Some(last), true, |mut exchange, from, keeper| {
            let (mut store, mut ways) = (TreeStore::new(), Vec::new());
            let checkpoints = PartCheckpoints { from, keep: Some(keeper) };
            reach(&mut toys.clone(), &mut store, &mut ways, &mut exchange, &mut Quiet, &settings, checkpoints)
        });
        assert_eq!(breadth_first.0, Err(ExchangeError::Unusable), "{seed}");
        refused += 1;
    }
    assert!(10 < refused, "{refused}");
}
