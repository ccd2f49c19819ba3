//! Searches whose depth is bounded while they run, compared with searches whose depth was bounded from the beginning, and with unbounded
//! ones.

use fabius_base::{Cancel, Limits};
use fabius_engine::report::Stopped;
use fabius_engine::settings::{Cycles, DelayMode, Delaying, Fairness, Order, Settings, Storage, ThreadCount};
use fabius_engine::{CheckContext, Controls, Event, Loaded, Outcome, PropertyReport, Verdict, check, load};
use fabius_testkit::generate::{self, small};
use fabius_testkit::parallel;
use std::time::Duration;

/// Random models; each is searched in all ways.
const MODELS: u64 = 60;

/// Two counters that wrap.
const COUNTERS: &str = "\
short a, b;
active proctype A() { do :: a < 119 -> a++ :: a == 119 -> a = 0 od }
active proctype B() { do :: b < 89 -> b++ :: b == 89 -> b = 0; progress: skip od }
";

/// They have this many states.
const STATES: u64 = 120 * 91;

fn loaded(text: &str, settings: &Settings) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings)
}

/// What a check came to, and the bounds of which it told that they left out what it cannot make up for.
struct Steered {
    outcome: Outcome,
    left_out: Vec<u64>,
    /// How many of the changes were made.
    changes: usize,
}

impl Steered {
    fn property(&self) -> &PropertyReport {
        assert_eq!(self.outcome.failure, None);
        self.outcome.report.properties.first().unwrap_or_else(|| panic!("{:?}", self.outcome.findings))
    }
}

/// Checks a model, and changes the bound on depth at the progress events with these numbers; number 0: before the check begins.
fn steered(loaded: &Loaded, settings: &Settings, changes: &[(u64, Option<u64>)]) -> Steered {
    let (cancel, controls) = (Cancel::new(), Controls::new());
    let (mut heard, mut left_out, mut next) = (0, Vec::new(), 0);
    let change = |heard: u64, next: &mut usize| {
        while let Some((_, max)) = changes.get(*next).filter(|(at, _)| *at <= heard) {
            controls.bound_depth(*max);
            *next += 1;
        }
    };
    change(0, &mut next);
    let mut observe = |event: Event| match event {
        Event::Progress { .. } => {
            heard += 1;
            change(heard, &mut next);
        }
        Event::LeftOut { depth, .. } => left_out.push(depth),
        _ => {}
    };
    let mut context =
        CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
    let outcome = check(loaded, settings, &mut context);
    Steered { outcome, left_out, changes: next }
}

fn bounded(settings: &Settings, max: u64) -> Settings {
    Settings { limits: Limits { depth_max: Some(max), ..settings.limits }, ..settings.clone() }
}

/// All ways to search for violations of safety, with whether the number of states is the same in each run.
fn ways() -> Vec<(Settings, bool)> {
    let safety = Settings { properties: vec!["safety".to_owned()], schedule: false, ..Settings::default() };
    let mut ways = Vec::new();
    for search in [Order::DepthFirst, Order::BreadthFirst, Order::DepthFirstThenShorten] {
        for keep_going in [false, true] {
            for store in [None, Some(Storage::Hash), Some(Storage::Bitstate)] {
                let limits = Limits { memory_bytes_max: Some(64 << 20), ..Limits::default() };
                ways.push((Settings { search, keep_going, store, limits, ..safety.clone() }, true));
            }
        }
    }
    for threads in [ThreadCount::Exactly(2), ThreadCount::UpTo(2)] {
        for (reduction, whole_states_max) in [(false, 0), (true, 0), (true, 500)] {
            let (optimize, is_same) = (reduction, false);
            ways.push((Settings { threads, reduction, optimize, whole_states_max, ..safety.clone() }, is_same));
        }
    }
    for mode in [DelayMode::Fast, DelayMode::Exact] {
        let delaying = Some(Delaying { mode, ..Delaying::default() });
        ways.push((Settings { delaying, ..safety.clone() }, true));
    }
    ways
}

/// All ways to search for infinite runs that heed a bound.
fn ways_for_cycles() -> Vec<(Settings, bool)> {
    let progress = Settings { properties: vec!["progress".to_owned()], ..Settings::default() };
    let mut ways = Vec::new();
    for cycles in [Cycles::DfsFifo, Cycles::NestedDfs, Cycles::Components] {
        for reduction in [false, true] {
            ways.push((Settings { cycles, reduction, ..progress.clone() }, true));
        }
        if cycles != Cycles::Components {
            let threads = ThreadCount::Exactly(2);
            ways.push((Settings { cycles, threads, reduction: false, ..progress.clone() }, false));
        }
    }
    for fairness in [Fairness::Weak, Fairness::Strong] {
        ways.push((Settings { fairness, ..progress.clone() }, true));
    }
    ways
}

/// Whether what a bounded check says is true, and says what it left out.
fn is_honest(bounded: &PropertyReport, full: &PropertyReport, max: u64, about: &dyn Fn() -> String) {
    match bounded.verdict {
        Verdict::Holds => {
            assert!(bounded.exhaustive || full.verdict != Verdict::Holds, "{}", about());
            assert_ne!(full.verdict, Verdict::Violated, "{}", about());
        }
        Verdict::Violated => assert_eq!(full.verdict, Verdict::Violated, "{}", about()),
        _ => assert!(!bounded.exhaustive, "{}", about()),
    }
    if bounded.stopped == Some(Stopped::Depth) {
        assert!(!bounded.exhaustive, "{}", about());
        let steps = fabius_engine::words::counted(max, "step");
        assert!(bounded.reason.contains(&format!("runs of {steps} and more were cut off")), "{}", about());
        assert_eq!(bounded.strategy.as_ref().and_then(|strategy| strategy.max_depth), Some(max), "{}", about());
    }
}

#[derive(Default)]
struct Tally {
    cut: usize,
    whole: usize,
    violated: usize,
}

/// A bound that is set before the first step is one that was asked for.
fn compare(seed: u64) -> Tally {
    let text = match seed % 3 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        _ => small::model(seed),
    };
    let mut tally = Tally::default();
    let has_progress = text.contains("progress");
    for (settings, is_same) in ways().into_iter().chain(ways_for_cycles().into_iter().filter(|_| has_progress)) {
        let model = loaded(&text, &settings);
        if model.checkable().is_none() {
            continue;
        }
        let full = steered(&model, &settings, &[]);
        for max in [1, 2 + seed % 5, 9 + seed % 23] {
            let about = || format!("seed {seed}, at most {max}, {settings:?}\n{text}");
            let set = steered(&model, &settings, &[(0, Some(max))]);
            let (property, full) = (set.property(), full.property());
            is_honest(property, full, max, &about);
            if property.stopped != Some(Stopped::Depth) && property.verdict == Verdict::Holds && is_same {
                assert_eq!((full.verdict, property.states), (full.verdict, full.states), "{}", about());
            }
            let asked = steered(&model, &bounded(&settings, max), &[]);
            let asked = asked.property();
            if is_same {
                assert_eq!((property.verdict, property.stopped), (asked.verdict, asked.stopped), "{}", about());
                assert_eq!((property.states, &property.reason), (asked.states, &asked.reason), "{}", about());
            }
            tally.cut += usize::from(property.stopped == Some(Stopped::Depth));
            tally.violated += usize::from(property.verdict == Verdict::Violated);
            tally.whole += usize::from(property.verdict == Verdict::Holds);
        }
    }
    tally
}

#[test]
fn a_bound_set_before_the_first_step_is_one_that_was_asked_for() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let mut sum = Tally::default();
    for Tally { cut, whole, violated } in parallel::map(&seeds, |seed| compare(*seed)) {
        sum.cut += cut;
        sum.whole += whole;
        sum.violated += violated;
    }
    let Tally { cut, whole, violated } = sum;
    assert!(200 < cut && 200 < whole && 100 < violated, "{cut} cut, {whole} whole, {violated} violated");
}

#[test]
fn a_search_whose_depth_is_bounded_while_it_runs_proves_nothing_and_names_the_bound() {
    let mut met = 0;
    for (settings, _) in ways().into_iter().chain(ways_for_cycles()) {
        let model = loaded(COUNTERS, &settings);
        let full = steered(&model, &settings, &[]);
        let full_property = full.property();
        for (at, max) in [(0, 40), (1, 40), (3, 20), (3, 60)] {
            let about = || format!("at most {max} from {at} on, {settings:?}");
            let steered = steered(&model, &settings, &[(at, Some(max))]);
            let property = steered.property();
            is_honest(property, full_property, max, &about);
            let most = STATES.max(full_property.states);
            assert!(property.states <= most, "{} states of {most}, {}", property.states, about());
            // Each search heeds a bound that is set before its first step: all that is to be found lies behind it. So does one thread if
            // the bound is set when it first tells where it is; one of several may be behind it by then.
            let heeds = at == 0 || at == 1 && settings.threads == ThreadCount::Exactly(1);
            assert!(!heeds || property.stopped == Some(Stopped::Depth), "{:?}: {}", property.stopped, about());
            assert!(steered.left_out.is_empty(), "{}", about());
            if settings.search == Order::BreadthFirst && steered.changes == 1 {
                let asked = self::steered(&model, &bounded(&settings, max), &[]);
                // Unless it had come farther when the bound was set, it is the same search.
                let asked = asked.property().states;
                assert!(property.states == asked || 1 < at && asked < property.states, "{}", about());
            }
            met += usize::from(property.stopped == Some(Stopped::Depth));
        }
    }
    assert!(40 < met, "{met}");
}

#[test]
fn a_smaller_bound_than_before_counts_at_once() {
    for (settings, _) in ways().into_iter().filter(|(_, is_same)| *is_same) {
        let model = loaded(COUNTERS, &settings);
        let steered = steered(&model, &settings, &[(1, Some(100)), (3, Some(30))]);
        let property = steered.property();
        let about = || format!("{}: {settings:?}", property.reason);
        if steered.changes == 2 && property.stopped == Some(Stopped::Depth) {
            assert!(property.reason.contains("runs of 30 steps and more were cut off"), "{}", about());
        }
        assert!(steered.left_out.is_empty(), "{}", about());
    }
}

#[test]
fn a_bound_that_left_nothing_out_is_removed_without_loss() {
    let (mut removed, mut raised) = (0, 0);
    for (settings, is_same) in ways().into_iter().chain(ways_for_cycles()) {
        let model = loaded(COUNTERS, &settings);
        let full = steered(&model, &settings, &[]);
        let far = full.property().depth + 1_000;
        for (to, count) in [(None, &mut removed), (Some(far + 1_000), &mut raised)] {
            let about = || format!("{to:?} instead of {far}, {settings:?}");
            let steered = steered(&model, &settings, &[(1, Some(far)), (3, to)]);
            let (property, full) = (steered.property(), full.property());
            // Threads may walk longer paths than those of the full search.
            if is_same {
                assert!(steered.left_out.is_empty(), "{}", about());
                assert_eq!((property.verdict, property.states), (full.verdict, full.states), "{}", about());
                assert_eq!(property.exhaustive, full.exhaustive, "{}", about());
                *count += usize::from(steered.changes == 2);
            }
        }
    }
    assert!(10 < removed && 10 < raised, "{removed} removed, {raised} raised");
}

#[test]
fn a_search_says_that_a_bound_left_out_what_it_cannot_make_up_for() {
    let mut told = 0;
    for (settings, is_same) in ways().into_iter().chain(ways_for_cycles()) {
        let model = loaded(COUNTERS, &settings);
        for to in [None, Some(100)] {
            let about = || format!("{to:?} instead of 60, {settings:?}");
            let steered = steered(&model, &settings, &[(1, Some(60)), (2, to)]);
            let property = steered.property();
            if steered.left_out.is_empty() {
                // Nothing was left out before the bound was changed, or the search was over by then.
                let is_in_time = 1 < steered.changes && is_same && property.stopped == Some(Stopped::Depth);
                let is_named = property.reason.contains("runs of 100 steps and more were cut off");
                assert!(!is_in_time || to.is_some() && is_named, "{}: {}", property.reason, about());
                continue;
            }
            told += 1;
            assert!(steered.left_out.iter().all(|depth| *depth == 60), "{:?}: {}", steered.left_out, about());
            match property.verdict {
                // It began anew with a reduction after the bound was changed.
                Verdict::Holds => assert!(property.exhaustive && settings.reduction, "{}", about()),
                Verdict::Violated => assert_ne!(property.stopped, None, "{}", about()),
                _ => {
                    assert!(!property.exhaustive, "{}", about());
                    assert!(property.reason.contains("runs of 60 steps and more were cut off"), "{}", about());
                }
            }
            // Anew, all is searched.
            let anew = self::steered(&model, &settings, &[]);
            let full = anew.property();
            assert!(anew.left_out.is_empty() && full.stopped != Some(Stopped::Depth), "{}", about());
            assert!(property.verdict != Verdict::Holds || full.verdict == Verdict::Holds, "{}", about());
        }
    }
    assert!(10 < told, "{told}");
}
