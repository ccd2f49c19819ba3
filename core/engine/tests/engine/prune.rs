//! Searches that do not go on from some states, compared with a model in which nothing goes on from these states: the reference interpreter
//! lists the steps of all others. And searches that are told so while they run.

use fabius_base::Cancel;
use fabius_engine::settings::{Cycles, Order, Settings, Storage, ThreadCount};
use fabius_engine::{CheckContext, Controls, Event, Outcome, PropertyReport, Verdict, boundary, check};
use fabius_program::{Expr, Program, ProgressOn, Watch};
use fabius_task::load::{Loaded, load};
use fabius_task::pattern::state_condition;
use fabius_testkit::generate::{self, Dice, small};
use fabius_testkit::parallel;
use fabius_witness::{Ending, Outcome as Taken, State, marks, moves, released, value_of};
use std::collections::HashMap;
use std::time::Duration;

/// Random models; larger ones are not compared.
const MODELS: u64 = 240;
const STATES_MAX: usize = 3_000;

fn loaded(text: &str, settings: &Settings) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings)
}

fn checked(loaded: &Loaded, settings: &Settings) -> Outcome {
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    check(loaded, settings, &mut context)
}

fn asking(property: &str, condition: &str) -> Settings {
    let prune = Some(condition.to_owned());
    let properties = vec![property.to_owned()];
    Settings { properties, prune, optimize: false, reduction: false, ..Settings::default() }
}

/// What is reached if nothing goes on from the states in which a condition is true.
#[derive(Default)]
struct Restricted {
    /// The states, and of each step where it leads and whether it makes progress.
    nodes: Vec<(State, Vec<(usize, bool)>)>,
    /// Some step fails, or some state is an invalid end.
    is_wrong: bool,
    /// Some step cannot be computed.
    is_cut: bool,
    /// Some step led to a state from which nothing goes on.
    has_stopped: bool,
}

impl Restricted {
    fn of(program: &Program, boundary: &Expr) -> Option<Self> {
        let watch = Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING };
        let is_at_boundary = |state: &State| value_of(program, state, boundary).is_ok_and(|value| value != 0);
        let initial = State::watching(program, watch).ok().filter(|state| !is_at_boundary(state))?.visible(program);
        let mut all = Self { nodes: vec![(initial.clone(), Vec::new())], ..Self::default() };
        let mut numbers = HashMap::from([(initial, 0)]);
        let mut at = 0;
        while at < all.nodes.len() {
            let state = all.nodes[at].0.clone();
            if is_at_boundary(&state) {
                all.has_stopped = true;
                at += 1;
                continue;
            }
            let possible = moves(program, &state);
            all.is_wrong |= possible.ending == Ending::Invalid;
            let mut next = Vec::new();
            if possible.ending == Ending::LosesControl {
                let to = released(&state);
                next.push((marks(program, watch, None, &to).progress, to));
            }
            for (label, outcome) in possible.successors {
                all.is_wrong |= outcome.fault().is_some();
                let Taken::Reaches { state: to, .. } = outcome else {
                    all.is_cut = true;
                    continue;
                };
                next.push((marks(program, watch, Some(label), &to).progress, to));
            }
            for (progress, to) in next {
                let to = to.visible(program);
                let number = *numbers.entry(to.clone()).or_insert(all.nodes.len());
                if number == all.nodes.len() {
                    all.nodes.push((to, Vec::new()));
                }
                all.nodes[at].1.push((number, progress));
            }
            if STATES_MAX < all.nodes.len() {
                return None;
            }
            at += 1;
        }
        Some(all)
    }

    /// States that a search stores: nobody holds control.
    fn ordinary(&self) -> u64 {
        self.nodes.iter().filter(|(state, _)| state.holder.is_none()).count() as u64
    }

    /// Whether some cycle makes no progress: what is left once states without a step to what is left are taken away again and again.
    fn goes_on_without_progress(&self) -> bool {
        let mut left: Vec<bool> = vec![true; self.nodes.len()];
        loop {
            let stays = |at: usize| self.nodes[at].1.iter().any(|(to, progress)| !progress && left[*to]);
            let gone: Vec<usize> = (0..left.len()).filter(|at| left[*at] && !stays(*at)).collect();
            if gone.is_empty() {
                return left.contains(&true);
            }
            gone.into_iter().for_each(|at| left[at] = false);
        }
    }
}

/// A condition at random.
fn condition(dice: &mut Dice) -> String {
    let n = dice.below(2);
    let simple = [
        format!("x > {n}"),
        format!("g0 == {}", n + 1),
        format!("len(c0) > {n}"),
        format!("g1 == 1 && g0 == {n}"),
        format!("y == {} || z == 1", n + 1),
        format!("K0[1]@line {}", 3 + dice.below(6)),
        "full(c1)".to_owned(),
        "b0 == 1".to_owned(),
    ];
    simple[dice.below(simple.len())].clone()
}

fn of<'o>(outcome: &'o Outcome, about: &dyn Fn() -> String) -> &'o PropertyReport {
    assert_eq!(outcome.failure, None, "{}", about());
    outcome.report.properties.first().unwrap_or_else(|| panic!("{:?}: {}", outcome.findings, about()))
}

/// Whether the answer is the one that is right; how much of it was compared.
fn agrees(property: &PropertyReport, wrong: bool, all: &Restricted, condition: &str, about: &dyn Fn() -> String) {
    match (wrong, all.has_stopped) {
        (true, _) => assert_eq!(property.verdict, Verdict::Violated, "{}", about()),
        (false, false) if !all.is_cut => assert_eq!(property.verdict, Verdict::Holds, "{}", about()),
        (false, false) => assert_ne!(property.verdict, Verdict::Violated, "{}", about()),
        (false, true) => {
            assert_eq!((property.verdict, property.exhaustive), (Verdict::Undecided, false), "{}", about());
            assert!(property.reason.contains(condition), "{}: {}", property.reason, about());
        }
    }
    assert!(property.violations.iter().all(|violation| !violation.shortest), "{}", about());
}

#[derive(Default)]
struct Tally {
    stopped: usize,
    safe: usize,
    unsafe_: usize,
    livelocks: usize,
    live: usize,
}

fn compare(seed: u64) -> Tally {
    let text = match seed % 3 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        _ => small::model(seed),
    };
    let mut tally = Tally::default();
    // What is hidden is no part of a state: two states count as one, whatever it is in each.
    if text.contains("hidden") || text.contains("?_") || text.contains("_,") {
        return tally;
    }
    let mut dice = Dice::new(seed);
    for _ in 0..10 {
        let condition = condition(&mut dice);
        let settings = asking("safety", &condition);
        let model = loaded(&text, &settings);
        let Some(program) = model.checkable() else { return tally };
        let Ok(expr) = state_condition(&model, program, &condition) else { continue };
        let Some(all) = Restricted::of(program, &expr) else { continue };
        // A condition that is never true changes nothing.
        if !all.has_stopped && !dice.one_in(12) {
            continue;
        }
        let about = || format!("seed {seed} not beyond `{condition}`:\n{text}");
        tally.stopped += usize::from(all.has_stopped);
        *(if all.is_wrong { &mut tally.unsafe_ } else { &mut tally.safe }) += 1;
        for search in [Order::DepthFirst, Order::BreadthFirst, Order::DepthFirstThenShorten] {
            for (keep_going, threads, store) in
                [(false, 1, None), (true, 1, Some(Storage::Hash)), (true, 1, None), (true, 2, None)]
            {
                if 1 < threads && search == Order::BreadthFirst {
                    continue;
                }
                let settings =
                    Settings { search, keep_going, threads: ThreadCount::Exactly(threads), store, ..settings.clone() };
                let outcome = checked(&model, &settings);
                let property = of(&outcome, &about);
                if store.is_none() {
                    agrees(property, all.is_wrong, &all, &condition, &about);
                }
                if keep_going {
                    assert_eq!(property.states, all.ordinary(), "{search:?} {threads}: {}", about());
                }
            }
        }
        if program.processes.iter().all(|process| process.locations.iter().all(|location| !location.progress)) {
            continue;
        }
        let wrong = all.goes_on_without_progress();
        *(if wrong { &mut tally.livelocks } else { &mut tally.live }) += 1;
        for cycles in [Cycles::DfsFifo, Cycles::NestedDfs, Cycles::Components] {
            let settings = Settings { cycles, ..asking("progress", &condition) };
            let outcome = checked(&model, &settings);
            agrees(of(&outcome, &about), wrong, &all, &condition, &about);
        }
    }
    tally
}

#[test]
fn a_search_that_does_not_go_on_from_some_states_is_one_of_a_model_that_does_not() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let mut sum = Tally::default();
    for Tally { stopped, safe, unsafe_, livelocks, live } in parallel::map(&seeds, |seed| compare(*seed)) {
        sum.stopped += stopped;
        sum.safe += safe;
        sum.unsafe_ += unsafe_;
        sum.livelocks += livelocks;
        sum.live += live;
    }
    let Tally { stopped, safe, unsafe_, livelocks, live } = sum;
    let told = format!("{stopped} stopped, {safe} safe, {unsafe_} not, {livelocks} livelocks, {live} without");
    assert!(40 < stopped && 15 < safe && 20 < unsafe_ && 2 < livelocks && 10 < live, "{told}");
}

/// After `first` is over, nothing goes on from states in which it was not: the error lies behind states that a search went on from before
/// it was told not to.
const PHASES: &str = "\
bool second; byte a, b; short n
active proctype Early() {
    do
    :: a < 200 -> a++
    :: else -> break
    od;
    second = true
}
active proctype Late() {
    second;
    do
    :: n < 400 -> n++
    :: b < 100 -> b++
    :: n == 400 && b == 100 -> assert(false)
    od
}
";

/// Checks a model, and at the progress event with this number tells the search not to go on from some states.
fn steered(loaded: &Loaded, settings: &Settings, condition: &str, at: u64) -> (Outcome, bool) {
    let (cancel, controls) = (Cancel::new(), Controls::new());
    let boundary = boundary(loaded, condition).unwrap_or_else(|why| panic!("{condition}: {why}"));
    let (mut heard, mut was_told) = (0, false);
    let mut observe = |event: Event| {
        heard += u64::from(matches!(event, Event::Progress { .. }));
        if heard == at && !was_told {
            was_told = controls.boundary().adopt(&boundary);
        }
    };
    let mut context =
        CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
    let outcome = check(loaded, settings, &mut context);
    (outcome, was_told)
}

/// All ways to search for violations of safety that may be told.
fn ways() -> Vec<Settings> {
    let mut ways = Vec::new();
    for (search, threads) in [
        (Order::DepthFirst, ThreadCount::Exactly(1)),
        (Order::BreadthFirst, ThreadCount::Exactly(1)),
        (Order::DepthFirstThenShorten, ThreadCount::Exactly(1)),
        (Order::DepthFirstThenShorten, ThreadCount::Exactly(2)),
        (Order::DepthFirstThenShorten, ThreadCount::UpTo(2)),
    ] {
        for as_written in [false, true] {
            for whole_states_max in [0, 500] {
                let properties = vec!["safety".to_owned()];
                let (optimize, reduction) = (!as_written, !as_written);
                let settings = Settings { search, threads, properties, optimize, reduction, ..Settings::default() };
                ways.push(Settings { whole_states_max, schedule: false, ..settings });
            }
        }
    }
    ways
}

#[test]
fn an_error_behind_states_that_were_left_before_is_found_with_its_run() {
    let mut told = 0;
    for settings in ways() {
        let model = loaded(PHASES, &settings);
        for (condition, at) in [("a == 7 && b == 3", 2), ("!second && a > 3", 3), ("second && n == 3 && b < 2", 4)] {
            let about = || format!("`{condition}` from {at} on, {settings:?}");
            let (outcome, was_told) = steered(&model, &settings, condition, at);
            told += usize::from(was_told);
            let property = of(&outcome, &about);
            match property.verdict {
                // Each counterexample was confirmed by the reference interpreter.
                Verdict::Violated => assert!(!outcome.counterexamples.is_empty(), "{}", about()),
                Verdict::Undecided => assert!(property.reason.contains(condition), "{}: {}", property.reason, about()),
                other => panic!("{other:?}, {}: {}", property.reason, about()),
            }
        }
    }
    assert!(40 < told, "{told}");
}

#[test]
fn a_search_that_is_told_not_to_go_on_proves_nothing() {
    let safe = PHASES.replace("assert(false)", "skip");
    let (mut stopped, mut whole) = (0, 0);
    for settings in ways() {
        let model = loaded(&safe, &settings);
        for (condition, at) in [("n == 1", 1), ("n > 200 && b == 50", 5), ("b == 99", 20), ("a == 250", 1)] {
            let about = || format!("`{condition}` from {at} on, {settings:?}");
            let (outcome, was_told) = steered(&model, &settings, condition, at);
            let property = of(&outcome, &about);
            let never = condition == "a == 250";
            match property.verdict {
                Verdict::Holds => {
                    assert!(property.exhaustive && (never || !was_told || 1 < at), "{}", about());
                    whole += 1;
                }
                Verdict::Undecided => {
                    assert!(was_told && !property.exhaustive && !never, "{}", about());
                    assert!(property.reason.contains(condition), "{}: {}", property.reason, about());
                    stopped += 1;
                }
                other => panic!("{other:?}: {}", about()),
            }
        }
    }
    assert!(20 < stopped && 10 < whole, "{stopped} stopped, {whole} not");
}
