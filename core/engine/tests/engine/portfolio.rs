//! Searches that take turns: what they decide is what one search decides, limits hold over all of them, and each property is
//! reported once it is decided.

#![expect(clippy::disallowed_methods, reason = "whoever runs the tests says how long")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

use fabius_base::{Cancel, Code, Limits};
use fabius_engine::report::{PropertyReport, SearchEnd, SearchReport, Stopped, ViolationClass};
use fabius_engine::settings::{Audit, Pauses, ThreadCount};
use fabius_engine::{CheckContext, Event, Order, Outcome, Settings, Verdict, check, load};
use fabius_testkit::generate;
use std::time::Duration;

/// Models compared unless `FABIUS_MODELS` says otherwise.
const MODELS: u64 = 60;
/// Larger state spaces say nothing that smaller ones would not say.
const STATES_MAX: u64 = 4_000;

/// A counter without bound beside an error that a few steps lead to: depth-first search follows the counter for ever.
const COUNTER: &str = "int writes; byte x;
    active proctype Reader() { do :: x < 3 -> x++ :: x == 3 -> assert(false) od }
    active proctype Writer() { do :: writes++ od }
    ltl few { [] (x < 2 || writes < 0) }";

fn run(text: &str, settings: &Settings) -> (Outcome, Vec<Event>) {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings);
    let mut events = Vec::new();
    let mut observe = |event| events.push(event);
    let cancel = Cancel::new();
    let context = &mut CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let outcome = check(&loaded, settings, context);
    assert_eq!(outcome.failure, None, "{text}");
    (outcome, events)
}

fn often() -> Settings {
    let pauses = Pauses { first: 2_000, growth: 2, early: 1, first_look: 100, shortest_turn: 1, kept_from: 1_000 };
    Settings { pauses, clarify_transitions_max: 100_000, ..Settings::default() }
}

/// No sentence tells of a limit that nobody set.
fn tells_no_budget(property: &PropertyReport) {
    assert_ne!(property.stopped, Some(Stopped::Cancelled), "{}", property.reason);
    assert!(!property.reason.contains("interrupted"), "{}", property.reason);
}

#[test]
fn an_error_near_the_start_is_found_beside_a_counter() {
    let (outcome, _) = run(COUNTER, &often());
    for property in &outcome.report.properties {
        assert_eq!(property.verdict, Verdict::Violated, "{property:?}");
        assert!(property.states < 50_000, "{property:?}");
        let (main, last) = (property.tried.first().unwrap(), property.tried.last().unwrap());
        assert_eq!((main.strategy.as_str(), main.outcome), ("dfs", SearchEnd::Superseded));
        assert_eq!((last.strategy.as_str(), last.outcome), (property.search, SearchEnd::Violated));
        assert_eq!((last.states, last.transitions), (property.states, property.transitions));
        assert_eq!(property.strategy.as_ref().map(|strategy| strategy.algorithm.as_str()), Some(property.search));
    }
    let violation = &outcome.report.properties[0].violations[0];
    assert_eq!((violation.kind, violation.shortest), (ViolationClass::Assertion, true));
    assert!(violation.steps <= 8, "the run is shortened as ever: {} steps", violation.steps);
    assert_eq!(outcome.counterexamples.len(), 2);
}

#[test]
fn runs_of_bounded_depth_are_searched_early_only_beside_a_path_that_grows() {
    let tried = |text: &str, transitions_max: u64| {
        let settings = Settings {
            pauses: Pauses { first: 2_000, growth: 4, early: 1, first_look: 100, shortest_turn: 1, kept_from: 1_000 },
            ..often()
        };
        let property = run(text, &settings).0.report.properties.swap_remove(0);
        assert!(property.transitions < transitions_max, "it is over before its second pause: {property:?}");
        property.tried.into_iter().map(|search| search.strategy).collect::<Vec<String>>()
    };
    let wide = "active [3] proctype P() { byte b; do :: b < 11 -> b++ :: else -> break od }";
    assert_eq!(tried(wide, 8_000), ["dfs", "delays"], "many states, and short paths to them");
    let deep = "int n; active [2] proctype P() { do :: n < 700 -> n++ :: else -> break od }";
    assert_eq!(tried(deep, 8_000), ["dfs", "delays", "depth-bounded"]);
}

#[test]
fn whoever_chooses_a_search_gets_that_one_only() {
    let limits = Limits { states_max: Some(20_000), ..Limits::default() };
    let chosen = Settings { search: Order::DepthFirst, limits, ..often() };
    let (outcome, _) = run(COUNTER, &chosen);
    let safety = &outcome.report.properties[0];
    assert_eq!((safety.verdict, safety.stopped, safety.states), (Verdict::Undecided, Some(Stopped::States), 20_000));
    assert!(safety.tried.is_empty());
}

/// A counter that ends, with an error behind a few steps of another process or without one.
const ENDS: &str = "int writes; byte x;
    active proctype Reader() { do :: x < 3 -> x++ :: x == 3 -> assert(LAST) od }
    active proctype Writer() { do :: writes < 3000 -> writes++ :: else -> break od }";

#[test]
fn how_a_proof_is_audited_leaves_open_which_searches_run() {
    for audit in [Audit::Off, Audit::Sample, Audit::Full] {
        let settings = Settings { audit, ..often() };
        let (outcome, _) = run(&ENDS.replace("LAST", "false"), &settings);
        let safety = &outcome.report.properties[0];
        assert_eq!(safety.verdict, Verdict::Violated, "{audit:?}");
        assert!(!safety.tried.is_empty(), "{audit:?}: no other search had a turn");
        let (outcome, _) = run(&ENDS.replace("LAST", "x == 3"), &settings);
        let safety = &outcome.report.properties[0];
        assert_eq!(safety.verdict, Verdict::Holds, "{audit:?}");
        assert!(!safety.tried.is_empty(), "{audit:?}: no other search had a turn");
        match audit {
            Audit::Off => assert_eq!(safety.audited, None),
            Audit::Sample => {}
            Audit::Full => assert_eq!(safety.audited, Some(safety.states)),
        }
    }
}

#[test]
fn the_figures_of_a_search_that_began_anew_are_those_of_its_end() {
    let text = "active [5] proctype P() { byte a; do :: a < 4 -> a++ :: else -> break od }";
    let settings = Settings {
        pauses: Pauses { first: 500, growth: 2, early: 1, first_look: 100, shortest_turn: 1, kept_from: 1_000 },
        whole_states_max: 1_200,
        ..often()
    };
    let safety = run(text, &settings).0.report.properties.swap_remove(0);
    assert!(safety.verdict == Verdict::Holds && safety.states < safety.states_before, "{safety:?}");
    let main = safety.tried.first().expect("others had turns");
    assert_eq!(main.outcome, SearchEnd::Holds);
    assert_eq!((main.states, main.transitions), (safety.states, safety.transitions));
}

#[test]
fn a_search_that_ends_before_its_first_pause_is_the_whole_check() {
    let never = Settings { pauses: Pauses::NEVER, ..Settings::default() };
    let text = "byte n; active [2] proctype P() { do :: n < 12 -> n++ :: break od } ltl p { [] (n < 13) }";
    let (plain, before) = run(text, &never);
    let (outcome, events) = run(text, &Settings::default());
    assert_eq!(outcome.report, plain.report);
    assert_eq!(format!("{events:?}"), format!("{before:?}"));
    assert!(outcome.report.properties.iter().all(|property| property.tried.is_empty()));
}

#[test]
fn what_is_confirmed_beside_other_searches_is_what_one_thread_confirms() {
    let models = std::env::var("FABIUS_MODELS").ok().and_then(|text| text.parse().ok()).unwrap_or(MODELS);
    let mut beside = 0;
    for seed in 1..=models {
        let text = generate::model(seed).text();
        let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
        let with = |threads| run(&text, &Settings { threads, limits, schedule: true, ..Settings::default() });
        let ((alone, _), (outcome, events)) = (with(ThreadCount::UpTo(1)), with(ThreadCount::UpTo(2)));
        assert_eq!(alone.report, outcome.report, "seed {seed}:\n{text}");
        assert_eq!(alone.executed, outcome.executed, "seed {seed}:\n{text}");
        let told = |of: &str| {
            let is_told = |event: &&Event| matches!(event, Event::PropertyDone { property } if property.name == of);
            events.iter().filter(is_told).count()
        };
        assert!(outcome.report.properties.iter().all(|property| told(&property.name) == 1), "seed {seed}:\n{text}");
        let before = outcome.report.properties.split_last().map_or(&[][..], |(_, before)| before);
        beside += before.iter().filter(|property| property.verdict == Verdict::Violated).count();
    }
    assert!(0 < beside, "in some models, a search goes on after the first violation");
}

#[test]
fn a_search_goes_on_while_a_violation_is_confirmed() {
    let text = "byte a, b; ltl wrong { [] (a < 3) } ltl right { [] (b < 200) }
        active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }";
    let settings = |threads| Settings { threads, ..Settings::default() };
    let (outcome, events) = run(text, &settings(ThreadCount::UpTo(2)));
    let (alone, _) = run(text, &settings(ThreadCount::UpTo(1)));
    assert_eq!(outcome.report, alone.report);
    let violations = |event: &&Event| matches!(event, Event::Violation { property, .. } if property == "wrong");
    assert_eq!(events.iter().filter(violations).count(), 1);
    let memory = |bytes: u64| Limits { memory_bytes_max: Some(bytes), ..Limits::default() };
    let with_little = Settings { limits: memory(64 << 20), ..settings(ThreadCount::UpTo(2)) };
    assert_eq!(run(text, &with_little).0.report, alone.report, "one after the other");
    let with_more = Settings { limits: memory(1 << 30), ..settings(ThreadCount::UpTo(2)) };
    assert_eq!(run(text, &with_more).0.report, alone.report);
}

#[test]
fn what_waits_at_the_end_is_confirmed_by_all_threads_as_by_one() {
    // Each run is shortened with much work, so that most wait when the searches are over.
    let formulas: String = (0..12).map(|at| format!("ltl wrong{at} {{ <> [] (a == {at} && b != {at}) }} ")).collect();
    let text = format!(
        "byte a, b; {formulas}
        active proctype A() {{ do :: a < 30 -> a++ :: a > 0 -> a-- od }}
        active proctype B() {{ do :: b < 30 -> b++ :: b > 0 -> b-- od }}"
    );
    let with = |threads, limits| {
        let settings = Settings { threads: ThreadCount::UpTo(threads), limits, ..Settings::default() };
        run(&text, &settings)
    };
    let (alone, _) = with(1, Limits::default());
    let memory_bytes_max = Some(1 << 30);
    for (threads, memory_bytes_max) in [(2, None), (4, None), (20, None), (20, memory_bytes_max)] {
        let (outcome, events) = with(threads, Limits { memory_bytes_max, ..Limits::default() });
        assert_eq!(outcome.report, alone.report, "{threads}");
        for property in &outcome.report.properties[1..] {
            assert_eq!(property.verdict, Verdict::Violated, "{}", property.name);
            let is_done =
                |event: &&Event| matches!(event, Event::PropertyDone { property: of } if of.name == property.name);
            let is_told =
                |event: &&Event| matches!(event, Event::Violation { property: of, .. } if *of == property.name);
            let count = |is: &dyn Fn(&&Event) -> bool| events.iter().filter(is).count();
            assert_eq!((count(&is_done), count(&is_told)), (1, 1), "{}, {threads}", property.name);
        }
    }
}

#[test]
fn what_is_found_is_told_once_whenever_a_pause_is_due() {
    // It takes some thousand steps to close the loop, and as many more to look for a shorter one: pauses are due before, between and after.
    let text = "int a, b; ltl p { <> (a < 0) } ltl q { [] (b < 1500) }
        active proctype A() { do :: a = (a + 1) % 3000 od }
        active proctype B() { do :: b = (b + 1) % 3000 od }";
    for threads in [1, 2] {
        for first in (1_000..12_000).step_by(1_000) {
            let pauses = Pauses { first, growth: 2, early: 1, first_look: 100, shortest_turn: 1, kept_from: 2 * first };
            let threads = ThreadCount::UpTo(threads);
            let (outcome, events) = run(text, &Settings { pauses, threads, ..often() });
            for property in ["p", "q"] {
                let is_told = |event: &&Event| matches!(event, Event::Violation { property: of, .. } if of == property);
                assert_eq!(events.iter().filter(is_told).count(), 1, "{property}, {threads:?}, {first}");
            }
            let verdicts: Vec<Verdict> = outcome.report.properties.iter().map(|property| property.verdict).collect();
            assert_eq!(verdicts[1..], [Verdict::Violated; 2], "{threads:?}, {first}");
        }
    }
}

#[test]
fn a_search_that_waits_for_its_next_turn_goes_on_from_where_it_was() {
    let text = "byte a, b, c; ltl few { [] (c < 40) } ltl fewer { <> [] (c < 40) }
        active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }
        active proctype C() { do :: c < 12 -> c++ :: c > 0 -> c-- od }";
    // How often a search is behind where one for the same property was before.
    let begun_anew = |kept_from: u64| {
        let pauses = Pauses { first: 2_000, growth: 2, early: 4, first_look: 100, shortest_turn: 1, kept_from };
        let (outcome, events) = run(text, &Settings { pauses, threads: ThreadCount::UpTo(1), ..often() });
        assert_eq!(outcome.report.properties.len(), 3);
        assert!(outcome.report.properties.iter().all(|property| property.verdict == Verdict::Holds));
        let of_few = events.iter().filter_map(|event| match event {
            Event::Progress { property, progress, .. } if property == "fewer" => Some(progress.transitions),
            _ => None,
        });
        let far: Vec<u64> = of_few.collect();
        (far.windows(2).filter(|two| two[1] < two[0]).count(), outcome.report)
    };
    let ((never, kept), (often, anew)) = (begun_anew(1), begun_anew(u64::MAX));
    assert!(never < often, "{never} times, and {often} times if nothing is kept");
    for (one, other) in kept.properties.iter().zip(&anew.properties) {
        assert_eq!((one.states, one.transitions, &one.verdict), (other.states, other.transitions, &other.verdict));
    }
}

#[test]
fn searches_that_wait_are_held_back_where_memory_is_short() {
    let text = "byte a, b, c; ltl few { [] (c < 40) }
        active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }
        active proctype C() { do :: c < 12 -> c++ :: c > 0 -> c-- od }";
    let pauses = Pauses { first: 2_000, growth: 2, early: 4, first_look: 100, shortest_turn: 1, kept_from: 1 };
    let verdicts = |bytes: u64| {
        let limits = Limits { memory_bytes_max: Some(bytes), ..Limits::default() };
        let (outcome, _) = run(text, &Settings { pauses, limits, ..often() });
        outcome.report.properties.iter().map(|property| property.verdict).collect::<Vec<Verdict>>()
    };
    assert_eq!(verdicts(16 << 20), verdicts(1 << 30), "hardly anything may wait with little");
}

#[test]
fn a_property_does_not_wait_for_the_one_before_it() {
    // Safety holds, and takes long; the formula is violated soon.
    let text = "byte a, b, c; ltl never_three { [] (c != 3) }
        active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }
        active proctype C() { do :: c < 12 -> c++ :: c > 0 -> c-- od }";
    let (outcome, events) = run(text, &often());
    let done: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::PropertyDone { property } => Some(property.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(done, ["never_three", "safety"], "each is told of when it is decided");
    let told: Vec<(&str, Verdict)> =
        outcome.report.properties.iter().map(|property| (property.name.as_str(), property.verdict)).collect();
    assert_eq!(told, [("safety", Verdict::Holds), ("never_three", Verdict::Violated)], "in the order of the model");
    let (plain, _) = run(text, &Settings { pauses: Pauses::NEVER, ..Settings::default() });
    assert_eq!(outcome.report.properties[0].states, plain.report.properties[0].states);
    assert!(matches!(events.last(), Some(Event::Done { .. })));
}

#[test]
fn in_the_first_pause_every_other_property_has_a_first_look() {
    let text = "byte a, b, c; ltl one { [] (c != 1) } ltl two { [] (b != 1) } ltl all { [] (c < 40) } ltl three { <> (a == 3) }
        active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }
        active proctype C() { do :: c < 12 -> c++ :: c > 0 -> c-- od }";
    let with_look = |first_look: u64, threads: usize| {
        let pauses = Pauses { first: 2_000, growth: 4, early: 4, first_look, shortest_turn: 900, kept_from: 5_000 };
        let settings = Settings { pauses, threads: ThreadCount::UpTo(threads), ..Settings::default() };
        let (outcome, events) = run(text, &settings);
        // How far safety is when the last of the others is found.
        let mut far = 0;
        for event in &events {
            match event {
                Event::Progress { property, progress, .. } if property == "safety" => {
                    far = progress.transitions.max(far);
                }
                Event::Violation { property, .. } if property == "three" => break,
                _ => {}
            }
        }
        (far, outcome.report.properties)
    };
    let ((soon, looked), (late, plain)) = (with_look(1_000, 1), with_look(0, 1));
    assert!((2_000..8_000).contains(&soon) && 8_000 <= late, "{soon} {late}");
    // As many looks as there are threads go on at the same time.
    let by_threads = [2, 4].map(|threads| with_look(1_000, threads).1);
    for (one, other) in looked.iter().chain(by_threads.iter().flatten()).zip(plain.iter().cycle()) {
        assert_eq!((one.verdict, one.violations.len()), (other.verdict, other.violations.len()), "{}", one.name);
        let lengths =
            |property: &PropertyReport| property.violations.iter().map(|found| found.steps).collect::<Vec<_>>();
        assert_eq!(lengths(one), lengths(other), "{}", one.name);
        if one.verdict == Verdict::Holds {
            assert_eq!((one.states, one.transitions), (other.states, other.transitions), "{}", one.name);
        }
    }
    let verdict = |name: &str| looked.iter().find(|property| property.name == name).map(|property| property.verdict);
    assert_eq!(verdict("all"), Some(Verdict::Holds));
    assert_eq!(["one", "two", "three"].map(verdict), [Some(Verdict::Violated); 3]);
}

#[test]
fn limits_hold_over_all_searches_of_a_property() {
    // Nothing is wrong here, and there is no end.
    let text = "int n, m; active proctype P() { do :: n++ :: m++ od } ltl p { [] (n != -1) }";
    let states_max = 9_000;
    let settings = Settings { limits: Limits { states_max: Some(states_max), ..Limits::default() }, ..often() };
    let (outcome, _) = run(text, &settings);
    for property in &outcome.report.properties {
        assert_eq!((property.verdict, property.stopped), (Verdict::Undecided, Some(Stopped::States)), "{property:?}");
        assert!(property.reason.contains("the limit of 9 000 states was reached"), "{}", property.reason);
        tells_no_budget(property);
        let stored: u64 = property.tried.iter().map(|search| search.states).sum();
        assert!(1 < property.tried.len() && stored <= states_max + 2 * 1_024, "{:?}", property.tried);
        assert_eq!(Some(property.states), property.tried.first().map(|search| search.states), "the furthest search");
    }
}

#[test]
fn a_counter_that_only_grows_is_named_where_a_property_stays_undecided() {
    let text = "int n; byte m; active proctype P() { do :: n++; m = (m + 1) % 4 od } ltl p { [] (n + m != -1) }";
    let settings = Settings { limits: Limits { states_max: Some(9_000), ..Limits::default() }, ..often() };
    let (outcome, _) = run(text, &settings);
    assert!(outcome.report.properties.iter().all(|property| property.verdict == Verdict::Undecided));
    let told: Vec<_> = outcome.findings.iter().filter(|finding| finding.code == Code::Growth).collect();
    let [finding] = told.as_slice() else { panic!("{told:?}") };
    assert!(finding.headline.starts_with("`n` only ever grew along a path of"), "{}", finding.headline);
    assert_eq!(finding.labels.len(), 1);

    let bounded = text.replace("n++", "n = (n + 1) % 3000");
    assert!(run(&bounded, &settings).0.findings.iter().all(|finding| finding.code != Code::Growth));
}

/// What is said to grow where a search with few states leaves a model undecided.
fn growing(text: &str) -> Vec<String> {
    let settings = Settings { limits: Limits { states_max: Some(9_000), ..Limits::default() }, ..often() };
    let (outcome, _) = run(text, &settings);
    assert!(outcome.report.properties.iter().all(|property| property.verdict == Verdict::Undecided), "{text}");
    let growth = outcome.findings.into_iter().filter(|finding| finding.code == Code::Growth);
    growth
        .map(|finding| {
            assert_eq!(finding.labels.len(), 1, "{finding:?}");
            finding.headline.split(" only ever grew along a path of ").next().unwrap_or_default().to_owned()
        })
        .collect()
}

#[test]
fn values_that_only_grow_are_named_wherever_they_are() {
    let two = "proctype P() { int n; byte m; do :: n++; m = (m + n) % 4 od } init { run P(); run P() }";
    assert_eq!(growing(two), ["`n` of `P`"], "of two processes of the same type, one is enough");

    let message = "chan c = [2] of { byte, int };\n\
                   active proctype S() { int n; do :: c ! n % 3, n; n++ od }\n\
                   active proctype R() { byte a; int b; do :: c ? a, b od }";
    // What `R` receives is never read, so it makes no states.
    assert_eq!(growing(message), ["`n` of `S`", "field 2 of the last message in `c`"]);

    let single = "chan c[2] = [1] of { int }; active proctype S() { do :: c[1] ! 0; int n; \
                  do :: c[1] ? n; c[1] ! n + 1 od od }";
    assert_eq!(growing(single), ["`n` of `S`", "the last message in `c[1]`"]);

    let length = "chan c = [24000] of { bit }; active proctype S() { do :: c ! 1 od }";
    assert_eq!(growing(length), ["the number of messages in `c`"]);
}

#[test]
fn nothing_is_said_to_grow_that_ever_fell_or_is_another_one() {
    // Each process counts a little, and then another one takes its place.
    let replaced = "int k; proctype P() { int n; do :: n < 500 -> n++ :: else -> break od } \
                    init { do :: _nr_pr == 1 -> k = (k + 1) % 4; run P() od }";
    // 500 states for each k: the search ends soon unless something else grows.
    let growing_beside = replaced.replace("(k + 1) % 4", "k + 1");
    assert_eq!(growing(&growing_beside), Vec::<String>::new());
    let falls = "active proctype P() { int n; do :: n < 5000 -> n++ :: else -> n = n - 2500 od } \
                 active proctype Q() { int m; do :: m = (m + 7) % 30011 od }";
    assert_eq!(growing(falls), Vec::<String>::new());
}

#[test]
fn an_interrupted_check_tells_of_the_search_that_got_furthest() {
    let text = "int n, m; active proctype P() { do :: n++ :: m++ od } ltl p { [] (n != -1) }";
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    let cancel = Cancel::new();
    let mut looks = 0;
    let mut observe = |event| {
        looks += u32::from(matches!(event, Event::Progress { .. }));
        if looks == 60 {
            cancel.time_out();
        }
    };
    let context = &mut CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let outcome = check(&loaded, &often(), context);
    for property in &outcome.report.properties {
        assert_eq!(property.stopped, Some(Stopped::Timeout), "{property:?}");
        assert!(1_000 < property.states && property.reason.ends_with("the time allowed was used up"), "{property:?}");
    }
}

#[test]
fn turns_and_single_searches_agree_on_random_models() {
    let models = std::env::var("FABIUS_MODELS").ok().and_then(|text| text.parse().ok()).unwrap_or(MODELS);
    let never = Pauses::NEVER;
    let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
    let mut several = 0;
    for seed in 1..=models {
        let text = generate::model(seed).text();
        let (plain, _) = run(&text, &Settings { pauses: never, limits, ..Settings::default() });
        let is_decided = |property: &PropertyReport| matches!(property.verdict, Verdict::Holds | Verdict::Violated);
        if !plain.report.properties.iter().all(is_decided) {
            continue;
        }
        for (first, kept_from) in [(1, 0), (1, 40), (40, u64::MAX)] {
            let pauses = Pauses { first, growth: 2, early: 1, first_look: 100, shortest_turn: 0, kept_from };
            let (outcome, _) = run(&text, &Settings { pauses, ..Settings::default() });
            for (alone, property) in plain.report.properties.iter().zip(&outcome.report.properties) {
                tells_no_budget(property);
                several += u64::from(!property.tried.is_empty());
                let decides = |search: &&SearchReport| matches!(search.outcome, SearchEnd::Holds | SearchEnd::Violated);
                let decided = property.tried.iter().find(decides);
                if let (Some(did), []) = (decided, property.together_with.as_slice()) {
                    let figures = (property.states, property.transitions);
                    assert_eq!((did.states, did.transitions), figures, "seed {seed}, {}:\n{text}", property.name);
                }
                assert_eq!(alone.verdict, property.verdict, "seed {seed}, {}:\n{text}", alone.name);
            }
        }
    }
    assert!(models / 2 < several, "most models are large enough for a pause: {several} of {models}");
}
