//! Which statements no run executes, as a check says after a proof with a reduction, against a search of the whole model.

use fabius_analysis::survey;
use fabius_base::{Cancel, Limits, Span};
use fabius_engine::settings::ThreadCount;
use fabius_engine::{CheckContext, Loaded, Outcome, Settings, Verdict, check, load};
use fabius_testkit::generate::{self, births, guarded, small};
use std::collections::BTreeSet;
use std::time::Duration;

/// What a check finds where it tries a reduction after this many states.
fn checked(text: &str, whole_states_max: u64, threads: usize, states_max: Option<u64>) -> Outcome {
    let mut settings = Settings {
        whole_states_max,
        threads: ThreadCount::Exactly(threads),
        properties: vec!["safety".to_owned()],
        ..Settings::default()
    };
    settings.limits.states_max = states_max;
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
    checked_as(&loaded, &settings)
}

fn checked_as(loaded: &Loaded, settings: &Settings) -> Outcome {
    let mut context =
        CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    check(loaded, settings, &mut context)
}

fn statements(loaded: &Loaded, outcome: &Outcome) -> Vec<(Span, bool)> {
    let statements = outcome.executed.as_ref().map(|executed| executed.statements(loaded)).unwrap_or_default();
    statements.into_iter().filter_map(|(span, is_executed)| Some((span, is_executed?))).collect()
}

fn is_reduced(outcome: &Outcome) -> bool {
    outcome.report.properties[0].reduction == "on"
}

/// The statements that no run executes.
fn never_executed(outcome: &Outcome) -> BTreeSet<(u32, String)> {
    let findings = outcome.report.findings.iter().filter(|finding| finding.code == "F0604");
    findings.map(|finding| (finding.line, finding.message.clone())).collect()
}

/// Puts what no violation needs behind a loop that never ends: a reduction leaves it out.
const LEFT_OUT: &str = "byte a, b;
active proctype A() { do :: a = 1 - a od }
active proctype B() {
  b = 1;
  if
  :: b == 1 -> b = 2
  :: b == 3 -> b = 4
  fi
}
";

#[test]
fn a_reduced_proof_is_followed_by_a_search_for_statements_that_it_left_out() {
    for threads in [1, 2] {
        let reduced = checked(LEFT_OUT, 0, threads, None);
        assert!(is_reduced(&reduced), "{threads}");
        let lines: Vec<u32> = never_executed(&reduced).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [7], "{threads}: lines 4 and 6 are executed");
    }
    // The proof fits into the limit, the search after it does not.
    let limited = checked(LEFT_OUT, 0, 1, Some(checked(LEFT_OUT, 0, 1, None).report.properties[0].states + 1));
    assert_eq!(limited.report.properties[0].verdict, Verdict::Holds);
    assert!(never_executed(&limited).is_empty());
}

#[test]
fn statements_that_no_run_executes_are_the_same_with_a_reduction() {
    let (mut compared, mut dead) = (0, 0);
    for seed in 0..600_u64 {
        let text = match seed % 4 {
            0 => generate::model(seed / 4).text(),
            1 => guarded::model(seed),
            2 => births::model(seed / 4),
            _ => small::model(seed),
        };
        let whole = checked(&text, u64::MAX, 1, Some(20_000));
        let all_known = |outcome: &Outcome| {
            outcome.report.properties.iter().all(|property| property.exhaustive && property.verdict == Verdict::Holds)
        };
        if whole.report.properties.is_empty() || !all_known(&whole) {
            continue;
        }
        for threads in [1, 2] {
            let reduced = checked(&text, 0, threads, None);
            assert!(all_known(&reduced), "seed {seed}\n{text}");
            assert_eq!(never_executed(&whole), never_executed(&reduced), "seed {seed}, {threads} threads\n{text}");
            compared += u64::from(is_reduced(&reduced));
            dead += never_executed(&whole).len();
        }
    }
    assert!(100 < compared && 100 < dead, "{compared} {dead}");
}

#[test]
fn a_statement_that_a_limited_search_executed_is_one_that_some_run_executes() {
    let (mut executed, mut not_yet) = (0, 0);
    for seed in 0..120_u64 {
        let text = if seed % 2 == 0 { generate::model(seed / 2).text() } else { guarded::model(seed) };
        for (states_max, threads, properties) in [(5, 1, vec!["safety".to_owned()]), (40, 2, Vec::new())] {
            let mut settings = Settings { threads: ThreadCount::Exactly(threads), properties, ..Settings::default() };
            settings.limits.states_max = Some(states_max);
            let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &settings);
            let limits = Limits { states_max: Some(20_000), ..Limits::default() };
            let Some(all) = survey(&loaded, limits, &Cancel::new()).filter(|survey| survey.exhaustive) else {
                continue;
            };
            for (span, is_executed) in statements(&loaded, &checked_as(&loaded, &settings)) {
                let truly = all
                    .statements
                    .get(&(span.file, span.start, span.end))
                    .map(|count| 0 < *count)
                    .expect("a statement of the text");
                assert!(truly || !is_executed, "seed {seed}, {}\n{text}", loaded.map.text(span));
                executed += u32::from(is_executed);
                not_yet += u32::from(truly && !is_executed);
            }
        }
    }
    assert!(100 < executed && 100 < not_yet, "{executed} {not_yet}");
}

#[test]
fn what_comes_after_a_fault_in_the_same_step_is_not_executed() {
    let text = "byte z, done;\nactive proctype P() { byte x, y = 1; x = z; y = y / x; x = 5; x = 6; done = 1 }\n";
    for optimize in [true, false] {
        let settings = Settings { optimize, ..Settings::default() };
        let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
        let statements = statements(&loaded, &checked_as(&loaded, &settings));
        let known = |part: &str| {
            let is_part = |(span, _): &&(Span, bool)| loaded.map.text(*span) == part;
            statements.iter().find(is_part).map(|(_, is_executed)| *is_executed)
        };
        assert_eq!(known("x = z"), Some(true));
        assert_eq!(known("y = y / x"), Some(true), "it was tried");
        assert_ne!(known("x = 5"), Some(true));
        assert_ne!(known("x = 6"), Some(true));
        assert_eq!(known("done = 1"), Some(false));
    }
}

#[test]
fn an_exhaustive_search_leaves_open_only_statements_that_are_never_executed() {
    let mut compared = 0;
    for seed in 0..120_u64 {
        let text = if seed % 2 == 0 { generate::model(seed / 2).text() } else { guarded::model(seed) };
        let settings = Settings { properties: vec!["safety".to_owned()], ..Settings::default() };
        let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &settings);
        let limits = Limits { states_max: Some(20_000), ..Limits::default() };
        let Some(all) = survey(&loaded, limits, &Cancel::new()).filter(|survey| survey.exhaustive) else { continue };
        let outcome = checked_as(&loaded, &settings);
        if outcome.report.properties.iter().any(|property| property.reduction == "on" || !property.exhaustive) {
            continue;
        }
        for (span, is_executed) in statements(&loaded, &outcome) {
            let truly = all
                .statements
                .get(&(span.file, span.start, span.end))
                .map(|count| 0 < *count)
                .expect("a statement of the text");
            assert_eq!(truly, is_executed, "seed {seed}, {}\n{text}", loaded.map.text(span));
            compared += 1;
        }
    }
    assert!(100 < compared, "{compared}");
}
