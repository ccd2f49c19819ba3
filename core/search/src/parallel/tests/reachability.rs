//! What can be reached: states, violations, work shared by threads, limits.

use super::*;
use crate::observer::steps_per_look;
use crate::parallel::{self, Visited};
use crate::store::{Inserted, VisitedSet};
use crate::threads::tests::without_threads;
use crate::{TreeStore, depth_first};

pub(super) fn is_invalid_end(node: &Node) -> bool {
    node.edges.is_empty() && !node.end
}

/// What is wrong with a graph: invalid ends by node, faulty edges by label.
pub(super) fn wrongs(toy: &Toy) -> BTreeSet<(bool, u32)> {
    let all = all(toy);
    let ends = all.iter().filter(|&&node| is_invalid_end(&toy.nodes()[node])).map(|&node| (true, node as u32));
    let edges = all.iter().flat_map(|&node| &toy.nodes()[node].edges);
    let faults = edges.filter(|edge| edge.fault.is_some()).filter_map(|edge| Some((false, edge.label?)));
    ends.chain(faults).collect()
}

fn found_wrongs(toy: &Toy, outcome: &Outcome<u32, u32>) -> BTreeSet<(bool, u32)> {
    let wrong = |violation: &crate::Violation<u32, u32>| {
        let (node, edges) = walk(toy, 0, &violation.path);
        match violation.kind {
            ViolationKind::InvalidEnd if is_invalid_end(&toy.nodes()[node]) => (true, node as u32),
            ViolationKind::InvalidEnd => {
                let silent = toy.nodes()[node].edges.iter().find(|edge| edge.label.is_none());
                let end = silent.and_then(|edge| edge.to).expect("a step without label");
                assert!(is_invalid_end(&toy.nodes()[end]));
                (true, end as u32)
            }
            ViolationKind::Fault(fault) => {
                let last = edges.last().expect("a faulty step");
                assert_eq!(last.fault, Some(fault));
                (false, last.label.expect("a label"))
            }
        }
    };
    outcome.violations.iter().map(wrong).collect()
}

#[test]
fn reach_finds_every_state_and_every_violation() {
    for seed in 0..2 * GRAPHS {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        let mut models = models_of_reach(&toy, threads(seed), seed);
        let mut search =
            || parallel::reach::search(&mut models, &mut Quiet, &keep_going(), seed, exploration(seed).transient);
        let joint = if seed % 5 == 4 { without_threads(search) } else { search() };
        let outcome = &joint;
        check_workers(outcome, threads(seed));
        assert_eq!(outcome.completeness, Completeness::Exhaustive, "seed {seed}");
        assert_eq!(outcome.statistics.states, ordinary(&toy), "seed {seed}");
        assert_eq!(found_wrongs(&toy, outcome), wrongs(&toy), "seed {seed}");
        let counted: u64 = outcome.violations.iter().map(|violation| violation.count).sum();
        assert_eq!(counted, outcome.statistics.violations, "seed {seed}");
    }
}

/// Threads that join a search that is under way visit what it left, and nothing twice, and so does one thread that goes on alone;
/// what was visited can be drawn, and is found by its words.
#[test]
fn threads_go_on_where_one_stopped() {
    let (mut joined, mut went_on_alone) = (0, 0);
    for seed in 0..240 {
        let toy = Toy::random(seed, 4000, seed % 2 == 0);
        let alone = [0, 500, 2000, 5000][seed as usize % 4];
        let model = models_of_reach(&toy, 1, seed).remove(0);
        let settings = keep_going();
        let mut first = model.clone();
        let reached = parallel::reach(&mut first, (threads(seed), alone), &mut Quiet, &settings, seed);
        let outcome = &reached.outcome;
        assert_eq!(outcome.completeness, Completeness::Exhaustive, "seed {seed}");
        assert_eq!(outcome.statistics.states, ordinary(&toy), "seed {seed}");
        assert_eq!(found_wrongs(&toy, outcome), wrongs(&toy), "seed {seed}");
        went_on_alone +=
            u32::from(threads(seed) == 1 && alone + u64::from(steps_per_look(1)) < outcome.statistics.transitions());
        let alone = depth_first(&mut model.clone(), &mut TreeStore::new(), &mut Quiet, &settings);
        assert_eq!(outcome.statistics.matched, alone.statistics.matched, "seed {seed}");
        let counts = |outcome: &Outcome<u32, u32>| outcome.violations.iter().map(|found| found.count).sum::<u64>();
        assert_eq!(counts(outcome), counts(&alone), "seed {seed}");
        match reached.visited {
            Visited::Alone(mut store) => check_visited(&mut store, ordinary(&toy)),
            Visited::Together(mut store) => {
                joined += 1;
                check_visited(&mut *store, ordinary(&toy));
            }
        }
    }
    assert!(40 < joined && 15 < went_on_alone, "{joined} {went_on_alone}");
}

/// Changes the limit on states as soon as it sees it.
struct Changes {
    from: Option<u64>,
    to: Option<u64>,
    /// Not before so many looks.
    looks_left: u32,
}

impl Observer<(usize, u32), ()> for Changes {
    fn change_limits(&mut self, limits: &mut Limits) {
        match self.looks_left.checked_sub(1) {
            Some(left) => self.looks_left = left,
            None if limits.states_max == self.from => limits.states_max = self.to,
            None => {}
        }
    }
}

/// What the first thread stored counts, and so does what it was allowed meanwhile.
#[test]
fn threads_that_join_obey_the_limit_on_states() {
    for seed in 0..60 {
        let toy = Toy::random(seed, 4000, seed % 2 == 0);
        let states = ordinary(&toy);
        let mut model = models_of_reach(&toy, 1, seed).remove(0);
        for states_max in [states, states - 1] {
            let limits = Limits { states_max: Some(states_max), ..Limits::default() };
            let settings = Settings { limits, ..keep_going() };
            let reached = parallel::reach(&mut model, (threads(seed), 500), &mut Quiet, &settings, seed);
            let is_whole = reached.outcome.completeness == Completeness::Exhaustive;
            assert_eq!(
                (is_whole, reached.outcome.statistics.states),
                (states_max == states, states_max),
                "seed {seed}"
            );
        }
    }
    let mut infinite = Counters { most: u32::MAX, progress: |_| true, infinite: true };
    for (from, to, looks_left) in [(Some(9_000), Some(20_000), 0), (None, Some(30_000), 0), (None, Some(200_000), 12)] {
        let limits = Limits { states_max: from, ..Limits::default() };
        let settings = Settings { limits, ..keep_going() };
        let mut observer = Changes { from, to, looks_left };
        let reached = parallel::reach(&mut infinite, (3, 6_000), &mut observer, &settings, 1);
        assert_eq!(reached.outcome.completeness, Completeness::Stopped(StopReason::States));
        // Who sets a limit where there was none may be told of the states a moment later.
        let (counted, max) = (reached.outcome.statistics.states, to.unwrap_or_default());
        assert!(max <= counted && (counted == max || 0 < looks_left && counted < max + 20_000), "{counted} of {max}");
    }
}

fn check_visited(store: &mut impl VisitedSet, states: u64) {
    let drawn = store.draw(u64::MAX, 3);
    assert_eq!(drawn.len() as u64, states);
    let (mut words, mut all) = (Vec::new(), BTreeSet::new());
    for drawn in drawn {
        store.words_of(drawn, &mut words);
        assert_eq!(store.insert_words(&words), Inserted::Old);
        all.insert(words.clone());
    }
    assert_eq!(all.len() as u64, states);
    assert_eq!(store.insert_words(&[1 << 20, 7, 1 << 20]), Inserted::New);
}

#[test]
fn the_first_violation_ends_reach_if_it_is_to() {
    for seed in 0..GRAPHS {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        let outcome = reach(&mut models_of_reach(&toy, threads(seed), seed), &mut Quiet, &Settings::default(), seed);
        let (found, wrongs) = (found_wrongs(&toy, &outcome), wrongs(&toy));
        assert_eq!(found.len(), wrongs.len().min(1), "seed {seed}");
        assert!(found.is_subset(&wrongs), "seed {seed}");
        assert_eq!(outcome.completeness == Completeness::FirstViolation, !found.is_empty(), "seed {seed}");
    }
}

/// Two counters and a few switches: many states, on which several threads can work.
#[derive(Clone)]
struct Counters {
    most: u32,
    /// Every step makes progress, none does, or those of the first counter do.
    progress: fn(usize) -> bool,
    /// The counters begin anew when they are full.
    infinite: bool,
}

impl Model for Counters {
    type Label = (usize, u32);
    type Fault = ();
    type Cursor = usize;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), ()> {
        *state = vec![0; 5];
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> usize {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut usize, successor: &mut Vec<u32>) -> Next<(usize, u32), ()> {
        while *cursor < state.len() {
            let i = *cursor;
            *cursor += 1;
            let most = if i < 2 { self.most } else { 1 };
            if state[i] == most && !self.infinite {
                continue;
            }
            successor.clear();
            successor.extend_from_slice(state);
            successor[i] = if state[i] == most { 0 } else { state[i] + 1 };
            let marks = if (self.progress)(i) { Marks::PROGRESS } else { Marks::NONE };
            return Next::Successor { label: Some((i, state[i])), transient: false, fault: None, marks };
        }
        Next::Done(Ending::ValidEnd)
    }
}

#[test]
fn two_threads_both_do_work() {
    let counters = |progress| Counters { most: 120, progress, infinite: false };
    let states = 121 * 121 * 8;
    let progress: [fn(usize) -> bool; 3] = [|_| true, |_| false, |i| i == 0];
    for progress in progress {
        let mut models = [counters(progress), counters(progress)];
        for levels in [Levels::Free, Levels::Strict] {
            let joint = dfs_fifo(&mut models, &mut Quiet, &Settings::default(), levels, 7).0;
            assert!(joint.proves_absence());
            assert_eq!(joint.statistics.states, states);
            assert_eq!(joint.statistics.transitions(), transitions(120));
            for share in &joint.workers {
                assert!(share.statistics.states > states / 100, "{:?}", joint.workers);
                assert!(share.revisits < states / 3, "{:?}", joint.workers);
            }
        }
    }
    let joint = reach(&mut [counters(|_| true), counters(|_| true)], &mut Quiet, &Settings::default(), 7);
    assert!(joint.proves_absence());
    assert_eq!(joint.statistics.states, states);
    assert_eq!(joint.statistics.transitions(), transitions(120));
    assert!(joint.workers.iter().all(|share| share.statistics.states > states / 100), "{:?}", joint.workers);
}

/// Transitions of [`Counters`] that are not endless, and one more: the arrival at the initial state.
fn transitions(most: u64) -> u64 {
    let states = (most + 1) * (most + 1) * 8;
    1 + 2 * (states / (most + 1) * most) + 3 * states / 2
}

/// Told of progress, raises the flag after some looks.
struct Impatient {
    looks_left: u32,
    cancel: Cancel,
}

impl Observer<(usize, u32), ()> for Impatient {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        assert!(statistics.memory_bytes > 0);
        match self.looks_left.checked_sub(1) {
            Some(left) => self.looks_left = left,
            None => self.cancel.cancel(),
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn an_endless_search_can_be_stopped() {
    let infinite = || Counters { most: u32::MAX, progress: |i| i == 0, infinite: true };
    let memory = Limits { memory_bytes_max: Some(12 << 20), ..Limits::default() };
    let states = Limits { states_max: Some(30_000), ..Limits::default() };
    for (limits, reason) in [(memory, StopReason::Memory), (states, StopReason::States)] {
        let settings = Settings { limits, ..Settings::default() };
        let outcome = reach(&mut [infinite(), infinite()], &mut Quiet, &settings, 1);
        assert_eq!(outcome.completeness, Completeness::Stopped(reason));
        assert!(outcome.statistics.states <= limits.states_max.unwrap_or(u64::MAX));
        assert!(outcome.statistics.memory_bytes < 20 << 20);
        let joined = parallel::reach(&mut infinite(), (2, 10_000), &mut Quiet, &settings, 1);
        assert_eq!(joined.outcome.completeness, Completeness::Stopped(reason));
        assert!(matches!(joined.visited, Visited::Together(_)));
        assert!(joined.outcome.statistics.states <= limits.states_max.unwrap_or(u64::MAX));
        let mut models = [infinite(), infinite(), infinite()];
        // The switches alone would be a livelock.
        models.iter_mut().for_each(|model| model.progress = |_| true);
        let outcome = dfs_fifo(&mut models, &mut Quiet, &settings, Levels::Free, 1).0;
        assert_eq!(outcome.completeness, Completeness::Stopped(reason));
        assert!(outcome.statistics.states <= limits.states_max.unwrap_or(u64::MAX));
        assert!(outcome.statistics.memory_bytes < 20 << 20);
    }
    for looks_left in [0, 1, 10, 30] {
        let settings = Settings { cancel: Cancel::new(), ..Settings::default() };
        let mut observer = Impatient { looks_left, cancel: settings.cancel.clone() };
        let outcome = reach(&mut [infinite(), infinite()], &mut observer, &settings, 1);
        assert_eq!(outcome.completeness, Completeness::Stopped(StopReason::Cancelled));
    }
}

#[test]
fn a_limit_that_is_not_reached_does_not_matter() {
    for seed in 0..GRAPHS / 4 {
        let toy = random_toy(seed, 12, false);
        let states = ordinary(&toy);
        for states_max in [states, states - 1] {
            let limits = Limits { states_max: Some(states_max), ..Limits::default() };
            let settings = Settings { limits, ..keep_going() };
            let outcome = reach(&mut models_of_reach(&toy, threads(seed), seed), &mut Quiet, &settings, seed);
            let wanted =
                if states_max == states { Completeness::Exhaustive } else { Completeness::Stopped(StopReason::States) };
            assert_eq!(outcome.completeness, wanted, "seed {seed}");
            assert!(outcome.statistics.states <= states_max, "seed {seed}");
        }
    }
}

#[test]
fn a_panic_of_one_thread_does_not_keep_the_others_waiting() {
    #[derive(Clone)]
    struct Faithless(Counters, bool);
    impl Model for Faithless {
        type Label = (usize, u32);
        type Fault = ();
        type Cursor = usize;
        fn hidden_words(&self) -> usize {
            0
        }
        fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), ()> {
            self.0.initial(state)
        }
        fn begin(&mut self, state: &[u32]) -> usize {
            assert!(!self.1 || state[0] < 3, "no more");
            self.0.begin(state)
        }
        fn next(&mut self, state: &[u32], cursor: &mut usize, successor: &mut Vec<u32>) -> Next<(usize, u32), ()> {
            self.0.next(state, cursor, successor)
        }
    }
    let model = |panics| Faithless(Counters { most: 1000, progress: |_| true, infinite: false }, panics);
    let run = || reach(&mut [model(false), model(true)], &mut Quiet, &Settings::default(), 1);
    assert!(std::panic::catch_unwind(run).is_err());
}
