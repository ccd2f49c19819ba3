//! The front door from text to report.

use fabius_base::{Cancel, Code};
use fabius_engine::report::{PropertyReport, Stopped, ViolationClass};
use fabius_engine::settings::{Clarity, DepthBounding, Pauses, ThreadCount};
use fabius_engine::{CheckContext, Delaying, Event, Goal, Loaded, Order, Outcome, Settings, Verdict, check, load};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn read(text: &str, settings: &Settings) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings)
}

/// Checks a text under a clock that advances by a millisecond each time it is read.
fn run_with(text: &str, settings: &Settings, cancel: &Cancel, tick: Duration) -> (Outcome, Vec<Event>) {
    let loaded = read(text, settings);
    let ticks = AtomicU32::new(1);
    let now = || tick * ticks.fetch_add(1, Ordering::Relaxed);
    let mut events = Vec::new();
    let mut observe = |event| events.push(event);
    let outcome =
        check(&loaded, settings, &mut CheckContext { cancel, now: &now, observe: &mut observe, controls: None });
    (outcome, events)
}

fn run(text: &str, settings: &Settings) -> Outcome {
    run_with(text, settings, &Cancel::new(), Duration::from_millis(1)).0
}

fn run_default(text: &str) -> Outcome {
    run(text, &Settings::default())
}

const SAFE: &str = "byte x; active proctype p() { do :: x < 5 -> x++ :: x == 5 -> break od; assert(x == 5) }";
/// Two ways to fail, the first one that depth-first tries is long.
const LONG_WAY: &str =
    "byte x; active proctype p() { if :: do :: x < 40 -> x++ :: else -> break od :: skip fi; bad: assert(false) }";
const STUCK: &str = "chan c = [0] of { byte }; active proctype p() { c ! 1 } active proctype q() { end: c ? 2 }";

#[test]
fn a_safe_model_holds() {
    let outcome = run_default(SAFE);
    assert_eq!(outcome.report.verdict, Verdict::Holds, "{:#?}", outcome.report);
    assert!(outcome.report.exhaustive && outcome.failure.is_none() && outcome.counterexamples.is_empty());
    assert!(outcome.report.properties[0].states > 5);
}

#[test]
fn a_counterexample_has_kind_place_and_run() {
    let report = run_default(STUCK).report;
    assert_eq!(report.verdict, Verdict::Violated);
    let violation = &report.properties[0].violations[0];
    assert_eq!(violation.kind, ViolationClass::InvalidEndState);
    assert_eq!(violation.steps, 0);
    assert_eq!(violation.blocked.len(), 1, "q may stop where it is: {:?}", violation.blocked);
    assert_eq!(violation.blocked[0].process, "p");
    assert_eq!(report.properties[0].stopped, Some(Stopped::Violation));

    let report = run_default("active proctype p() { int a[3]; int i = 3; a[i] = 1 }").report;
    assert_eq!(report.properties[0].violations[0].kind, ViolationClass::Evaluation);
}

#[test]
fn a_found_run_is_shortened_whatever_the_time_as_far_as_the_work_allows() {
    let shortened = run_default(LONG_WAY);
    let violation = &shortened.report.properties[0].violations[0];
    let first = run(LONG_WAY, &Settings { search: Order::DepthFirst, ..Settings::default() });
    let unshortened = &first.report.properties[0].violations[0];
    assert!(violation.shortest && !unshortened.shortest);
    assert!(violation.steps < unshortened.steps, "{} {}", violation.steps, unshortened.steps);
    assert_eq!((violation.line, violation.column), (unshortened.line, unshortened.column));

    let (slow, _) = run_with(LONG_WAY, &Settings::default(), &Cancel::new(), Duration::from_secs(5));
    assert_eq!(slow.report.properties[0].violations[0].trace, violation.trace, "a busy machine shows the same run");

    let hasty = run(LONG_WAY, &Settings { clarify_transitions_max: 0, ..Settings::default() });
    let violation = &hasty.report.properties[0].violations[0];
    assert_eq!((violation.steps, violation.shortest), (unshortened.steps, false), "no work was allowed");
    let told = violation.explanation.last().map(String::as_str);
    assert_eq!(told, Some("A shorter run may exist: the search for one was cut short."));
}

/// A depth-first search turns the wheels through all their states before each step that matters, and many states are near the initial one.
const WHEELS: &str = "byte wheel[2]; bool done[8]; byte count;
    active [8] proctype once() { atomic { done[_pid] = true; count++; assert(count < 8) } }
    active proctype a() { do :: wheel[0] = (wheel[0] + 1) % 12 od }
    active proctype b() { do :: wheel[1] = (wheel[1] + 1) % 12 od }";

#[test]
fn where_a_shortest_run_is_too_far_a_shorter_one_is_found_near_the_one_found() {
    let steps_with = |clarify_transitions_max: u64| {
        let settings = Settings { reduction: false, clarify_transitions_max, ..Settings::default() };
        let violation = &run(WHEELS, &settings).report.properties[0].violations[0];
        (violation.steps, violation.shortest)
    };
    let (found, _) = steps_with(0);
    let (shortest, is_shortest) = steps_with(1_000_000);
    let (near, is_near_shortest) = steps_with(4_000);
    assert!(is_shortest && !is_near_shortest && 10 * shortest < found);
    assert!(near < 2 * shortest, "{found} {near} {shortest}");
}

#[test]
fn of_merged_assertions_the_one_that_fails_is_shown() {
    let text = "byte y; byte a[2];\nproctype K() {\ntop: atomic {\n  assert(y == 0);\n  assert(a[1] == 1);\n  y = 0 };\n  goto top }\ninit { run K() }";
    let outcome = run_default(text);
    let violation = &outcome.report.properties[0].violations[0];
    assert_eq!((violation.line, violation.kind), (5, ViolationClass::Assertion));
    let last = violation.trace.last().expect("a run");
    assert_eq!((last.text.as_str(), last.fault.as_deref()), ("assert(a[1] == 1)", Some("assertion violated")));
}

#[test]
fn every_search_shows_the_same_run_to_a_violation() {
    let plain = run_default(LONG_WAY);
    let plain = &plain.report.properties[0].violations[0];
    let delaying = Some(Delaying { shows_shortest: true, ..Delaying::default() });
    let ways = [
        Settings { threads: ThreadCount::Exactly(2), ..Settings::default() },
        Settings { delaying, ..Settings::default() },
        Settings { depth_bounding: Some(DepthBounding { increment: 5, cut_off: None }), ..Settings::default() },
        Settings { search: Order::BreadthFirst, ..Settings::default() },
    ];
    for settings in ways {
        let outcome = run(LONG_WAY, &settings);
        let violation = &outcome.report.properties[0].violations[0];
        assert_eq!((&violation.trace, violation.shortest), (&plain.trace, true), "{settings:?}");
        assert_eq!(violation.delays, None);
    }
}

#[test]
fn the_events_tell_the_story_in_order() {
    let (outcome, events) = run_with(LONG_WAY, &Settings::default(), &Cancel::new(), Duration::from_millis(1));
    assert!(matches!(events.first(), Some(Event::Started { .. })));
    let goals: Vec<Goal> = events
        .iter()
        .filter_map(|event| match event {
            Event::Searching { goal, .. } => Some(*goal),
            _ => None,
        })
        .collect();
    assert_eq!(goals, [Goal::Violation, Goal::ShorterRun]);
    assert!(events.iter().any(|event| matches!(event, Event::Progress { .. })));
    assert!(events.iter().any(|event| matches!(event, Event::Violation { .. })));
    assert!(matches!(&events[events.len() - 2], Event::PropertyDone { .. }));
    assert!(matches!(events.last(), Some(Event::Done { report }) if **report == outcome.report));
}

#[test]
fn work_that_is_cancelled_before_it_starts_says_so() {
    let cancel = Cancel::new();
    cancel.cancel();
    let (outcome, _) = run_with(SAFE, &Settings::default(), &cancel, Duration::from_millis(1));
    assert_eq!(outcome.report.verdict, Verdict::Undecided);
    assert_eq!(outcome.report.properties[0].stopped, Some(Stopped::Cancelled));
    assert!(!outcome.report.exhaustive && outcome.report.reason.contains("not a proof"));
}

#[test]
fn the_same_question_has_the_same_answer() {
    for text in [SAFE, LONG_WAY, STUCK] {
        let settings = Settings { keep_going: true, ..Settings::default() };
        assert_eq!(run(text, &settings).report, run(text, &settings).report);
    }
}

#[test]
fn what_is_never_executed_is_told_only_if_everything_was_looked_at() {
    let text = "byte x;\nactive proctype p() {\n  do\n  :: x < 3 -> x++\n  :: x > 9 ->\n     x = 0;\n     x = 1\n  :: x == 3 -> break\n  od\n}\nproctype never_run() { skip }\n";
    let lines = |outcome: &Outcome| -> Vec<u32> {
        let findings = outcome.report.findings.iter().filter(|finding| finding.code == Code::Unreached.as_str());
        findings.map(|finding| finding.line).collect()
    };
    assert_eq!(lines(&run_default(text)), [5, 11], "what follows `x > 9` goes without saying");
    let mut settings = Settings::default();
    settings.limits.states_max = Some(2);
    assert!(lines(&run(text, &settings)).is_empty());
    let unoptimised = Settings { optimize: false, ..Settings::default() };
    assert_eq!(lines(&run(text, &unoptimised)), [5, 11]);
}

#[test]
fn a_statement_with_edges_at_several_places_is_executed_if_one_is() {
    let text = "byte x;\nactive proctype p() {\n  {\n    x = 1;\n    x = 2;\n    x = 3\n  }\n  unless { x == 2 ->\n    x = 5 };\n  if\n  :: x == 3 ->\n    skip\n  :: else\n  fi\n}\n";
    for optimize in [true, false] {
        let outcome = run(text, &Settings { optimize, ..Settings::default() });
        let findings = outcome.report.findings.iter().filter(|finding| finding.code == Code::Unreached.as_str());
        let lines: Vec<u32> = findings.map(|finding| finding.line).collect();
        assert_eq!(lines, [6, 11], "the escape of line 8 is taken before line 6, never before line 4 or 5");
    }
}

#[test]
fn an_unknown_property_and_embedded_c_are_faulty() {
    let settings = Settings { properties: vec!["nonsense".to_owned()], ..Settings::default() };
    let outcome = run(SAFE, &settings);
    assert_eq!(outcome.report.verdict, Verdict::Faulty);
    assert_eq!(outcome.report.findings[0].code, Code::UnknownProperty.as_str());

    let outcome = run_default("c_code { int x; } active proctype p() { skip }");
    assert_eq!(outcome.report.verdict, Verdict::Faulty);
    assert_eq!(outcome.report.findings[0].code, Code::NotChecked.as_str());
}

#[test]
fn a_bound_on_anything_is_kept() {
    let infinite = "int x; active proctype p() { do :: x++ :: x = x - 3 od }";
    let mut settings = Settings::default();
    settings.limits.states_max = Some(100);
    let report = run(infinite, &settings).report;
    assert_eq!((report.verdict, report.properties[0].states), (Verdict::Undecided, 100));
    assert!(report.reason.contains("100 states"), "{}", report.reason);
    let mut settings = Settings::default();
    settings.limits.depth_max = Some(50);
    let report = run(infinite, &settings).report;
    assert_eq!(report.properties[0].stopped, Some(Stopped::Depth));
    assert!(report.properties[0].depth <= 50);
}

#[test]
fn a_run_is_told_in_the_statements_of_the_text() {
    let text = "byte x;\nactive proctype p() {\n  byte i = 3;\n  i++;\n  i = i + 2;\n  x = i;\n  i = 0;\n  assert(x == 0)\n}\n";
    let trace = |settings: &Settings| -> Vec<(u32, Vec<String>)> {
        let report = run(text, settings).report;
        let violation = report.properties[0].violations[0].clone();
        let change = |c: &fabius_witness::format::json::ChangeRecord| format!("{} {} {}", c.name, c.old, c.new);
        violation.trace.iter().map(|step| (step.line, step.changes.iter().map(change).collect())).collect()
    };
    let as_written = trace(&Settings { optimize: false, search: Order::DepthFirst, ..Settings::default() });
    assert_eq!(as_written.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    for search in [Order::DepthFirst, Order::BreadthFirst, Order::DepthFirstThenShorten] {
        assert_eq!(trace(&Settings { search, ..Settings::default() }), as_written);
    }
}

#[test]
fn a_very_long_run_is_reported_by_its_two_ends() {
    let report =
        run_default("int x; active proctype P() { do :: x < 15000 -> x++ :: else -> break od; assert(false) }");
    let [violation] = report.report.properties[0].violations.as_slice() else { panic!("one violation") };
    let numbers: Vec<usize> = violation.trace.iter().map(|step| step.step).collect();
    assert_eq!(numbers.len(), 20_000);
    assert_eq!(violation.steps, numbers.len() as u64 + violation.steps_left_out);
    assert_eq!((numbers[9_999], numbers[10_000]), (10_000, 10_001 + violation.steps_left_out as usize));
    let short = run_default("byte x; active proctype P() { x = 1; assert(false) }");
    assert_eq!(short.report.properties[0].violations[0].steps_left_out, 0);
}

/// Transitions that were listed to find a shorter run.
struct Listed {
    /// Among all runs.
    everywhere: u64,
    /// Near the one found.
    near: u64,
}

/// Checks safety: the report, and what was listed to find a shorter run.
fn shortened(text: &str, clarify_transitions_max: u64, search: Order) -> (PropertyReport, Listed) {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    let (properties, mut searches) = (vec!["safety".to_owned()], Vec::new());
    // Only the main search: another one would find another run.
    let pauses = Pauses::NEVER;
    let settings = Settings { clarify_transitions_max, search, properties, pauses, ..Settings::default() };
    let mut observe = |event| match event {
        Event::Searching { goal, .. } => searches.push((goal, 0)),
        Event::Progress { progress, .. } => {
            searches.last_mut().expect("a search began").1 = progress.transitions;
        }
        _ => {}
    };
    let cancel = Cancel::new();
    let context = &mut CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let mut outcome = check(&loaded, &settings, context);
    assert_eq!(outcome.failure, None, "{text}");
    let listed: Vec<u64> =
        searches.iter().filter(|(goal, _)| *goal == Goal::ShorterRun).map(|(_, listed)| *listed).collect();
    let everywhere = listed.first().copied().unwrap_or(0);
    let near = listed.iter().skip(1).sum();
    (outcome.report.properties.swap_remove(0), Listed { everywhere, near })
}

#[test]
fn a_shortened_counterexample_is_never_longer_and_the_budget_is_obeyed() {
    // Depth-first search goes round in A before it lets B move; what it finds is long, and what is near is short.
    for (limit, near) in [(3, 2), (20, 4), (60, 9), (200, 12)] {
        let text = format!(
            "byte a, b, c; active proctype A() {{ end: do :: a < {limit} -> a++ :: a > 0 && c < {limit} -> a--; c++ od }}\n\
             active proctype B() {{ do :: b < {near} -> b++ :: else -> assert(a == 0); break od }}\n"
        );
        let (as_found, _) = shortened(&text, 0, Order::DepthFirst);
        let (best, _) = shortened(&text, 1_500_000, Order::BreadthFirst);
        let [long, short] = [&as_found, &best].map(|report| report.violations[0].steps);
        assert!(short <= long && as_found.verdict == Verdict::Violated, "{text}");
        for max in [0, 1, 5_000, 1_500_000] {
            let (report, listed) = shortened(&text, max, Order::default());
            let [violation] = report.violations.as_slice() else { panic!("one violation: {text}") };
            assert!(short <= violation.steps && violation.steps <= long, "{short} {} {long}: {text}", violation.steps);
            assert!(!violation.shortest || violation.steps == short, "{text}");
            // A search asks for its limits every 1 024 steps.
            assert!(listed.everywhere <= max + 2 * 1_024, "{} of {max}: {text}", listed.everywhere);
            assert!(listed.near <= max / 2 + 2 * 1_024, "{} of {max}: {text}", listed.near);
        }
    }
}

#[test]
fn a_shorter_run_is_looked_for_in_proportion_to_the_search_that_found_one() {
    // The run found is the only one, and the states in the way are many.
    let beside = "active [3] proctype B() { byte b; do :: b < 200 -> b++ :: b > 0 -> b-- od }\n";
    let text = format!("byte n; active proctype A() {{ do :: n < 60 -> n++ :: else -> assert(false) od }}\n{beside}");
    let (report, Listed { everywhere, near }) = shortened(&text, 1_500_000, Order::default());
    let [violation] = report.violations.as_slice() else { panic!("one violation") };
    let clarity = Settings::default().clarity(report.transitions);
    let work = 8 * report.transitions;
    assert_eq!(clarity, Clarity { everywhere: work + 100_000, near: work + 50_000 });
    assert!(!violation.shortest && clarity.everywhere.abs_diff(everywhere) <= 2 * 1_024, "{everywhere} {clarity:?}");
    assert!(0 < near && near <= clarity.near + 2 * 1_024, "{near} {clarity:?}");
    assert_eq!(Settings::default().clarity_of_infinite(20_000), Clarity { everywhere: 340_000, near: 170_000 });
    assert_eq!(Settings::default().clarity(u64::MAX), Clarity { everywhere: 1_500_000, near: 750_000 });
    assert_eq!(Settings::default().clarify_near(750_000, 1_000), 750_000);
    assert_eq!(Settings::default().clarify_near(750_000, 1_000_000), 4_000_000);
    let restricted = Settings { clarify_transitions_max: 1_000, ..Settings::default() };
    assert_eq!(restricted.clarify_near(500, 1_000_000), 500);
}

#[test]
fn a_long_run_without_shortcuts_in_its_first_part_is_not_searched_to_its_end() {
    // A, which a search lets move first, counts; what B could do in the way is much. What A does between two numbers has a shortcut or not.
    let listed = |between: &str| {
        let beside = "active [3] proctype B() { byte b; do :: b < 200 -> b++ :: b > 0 -> b-- od }\n";
        let text = format!(
            "{beside}short n; bool c; active proctype A() {{ do :: n < 12000 -> {between} n++ :: else -> assert(false) od }}"
        );
        let (report, listed) = shortened(&text, 1_500_000, Order::default());
        let [violation] = report.violations.as_slice() else { panic!("one violation") };
        (violation.steps, listed.near)
    };
    let (steps, near) = listed("");
    assert!(24_000 <= steps && near < 24_000 / 2, "{steps} {near}");
    let (shortened, near) = listed("if :: c = 1; c = 0; c = 1; c = 0 :: c = 0 fi;");
    assert!(shortened < 3 * 12_000 + 100 && 24_000 < near, "{shortened} {near}");
}

/// The report of safety where a reduction is tried after this many states.
fn tried_after(text: &str, whole_states_max: u64) -> PropertyReport {
    let settings = Settings { whole_states_max, properties: vec!["safety".to_owned()], ..Settings::default() };
    run(text, &settings).report.properties.swap_remove(0)
}

#[test]
fn a_search_that_begins_anew_with_the_reduction_says_what_came_before() {
    let text = "byte a, b;\nactive proctype A() { do :: a < 199 -> a++ :: else -> break od }\n\
                active proctype B() { do :: b < 199 -> b++ :: else -> break od }\n";
    let (whole, reduced, at_once) = (tried_after(text, 1_000_000), tried_after(text, 5_000), tried_after(text, 0));
    assert_eq!((whole.reduction.as_str(), whole.states_before), ("off", 0));
    assert_eq!(reduced.reduction, "on");
    assert!((5_000..7_000).contains(&reduced.states_before), "{}", reduced.states_before);
    assert!(reduced.states < whole.states, "{} {}", reduced.states, whole.states);
    assert_eq!((at_once.reduction.as_str(), at_once.states_before, at_once.states), ("on", 0, reduced.states));
}

#[test]
fn a_search_goes_on_without_a_reduction_that_leaves_out_nothing() {
    // Every step reads and writes what the other process reads and writes.
    let process =
        "do :: atomic { x + y < 300 -> x++ } :: atomic { x + y < 300 -> y = y + 1 } :: x + y == 300 -> break od";
    let text = format!("int x, y; active proctype A() {{ {process} }} active proctype B() {{ {process} }}");
    let (whole, tried, at_once) = (tried_after(&text, 1_000_000), tried_after(&text, 3_000), tried_after(&text, 0));
    for report in [&whole, &tried] {
        assert_eq!((report.verdict, report.reduction.as_str(), report.states_before), (Verdict::Holds, "off", 0));
    }
    assert_eq!((whole.states, whole.transitions, whole.depth), (tried.states, tried.transitions, tried.depth));
    assert_eq!((at_once.reduction.as_str(), at_once.verdict), ("on", Verdict::Holds));
}

#[test]
fn several_threads_search_with_a_reduction_and_store_the_same_states() {
    let text = "byte a, b, c;\nactive proctype A() { do :: a < 99 -> a++ :: else -> break od }\n\
                active proctype B() { do :: b < 99 -> b++ :: else -> break od }\n\
                active proctype C() { c = 1; assert(c == 1) }\n";
    let of = |threads, whole_states_max, text: &str| {
        let settings = Settings { threads: ThreadCount::Exactly(threads), whole_states_max, ..Settings::default() };
        run(text, &settings).report.properties.swap_remove(0)
    };
    let whole = of(2, u64::MAX, text);
    for threads in [2, 3, 4] {
        for whole_states_max in [0, 4_000] {
            let reduced = of(threads, whole_states_max, text);
            assert_eq!((reduced.reduction.as_str(), reduced.verdict), ("on", Verdict::Holds), "{threads}");
            assert_eq!((reduced.states, reduced.exhaustive), (of(2, 0, text).states, true), "{threads}");
            assert_eq!(0 < reduced.states_before, 0 < whole_states_max);
            assert!(2 * reduced.states < whole.states, "{} {}", reduced.states, whole.states);
        }
        let failing = text.replace("c == 1", "c == 2");
        assert_eq!(of(threads, 0, &failing).verdict, Verdict::Violated);
    }
    assert_eq!((whole.reduction.as_str(), whole.verdict), ("off", Verdict::Holds));
}

#[test]
fn a_model_that_cannot_be_reduced_is_searched_once_and_says_why() {
    let text = "int x; active proctype A() { do :: x < 9000 && _last >= 0 -> x++ :: else -> break od }";
    let (whole, tried) = (tried_after(text, 1_000_000), tried_after(text, 2_000));
    assert!(tried.reduction.contains("`_last`"), "{}", tried.reduction);
    assert_eq!((tried.states, tried.states_before, tried.verdict), (whole.states, 0, whole.verdict));
}

#[test]
fn a_violation_is_found_whether_the_reduction_was_tried_or_not() {
    for modulus in [2, 7, 50] {
        let text = format!(
            "byte a, b;\nactive proctype A() {{ do :: a < 120 -> a++ :: else -> break od }}\n\
             active proctype B() {{ do :: b < 120 -> b++; assert(b != 119 || a % {modulus} != 1) :: else -> break od }}\n"
        );
        for whole_states_max in [0, 1_500, 1_000_000] {
            let report = tried_after(&text, whole_states_max);
            assert_eq!(report.verdict, Verdict::Violated, "{modulus} {whole_states_max}");
        }
    }
}
