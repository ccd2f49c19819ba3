//! Which statements no run executes, as a check says after a proof with a reduction, against a search of the whole model.

use fabius_base::Cancel;
use fabius_engine::settings::ThreadCount;
use fabius_engine::{CheckContext, Outcome, Settings, Verdict, check, load};
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
    let mut context =
        CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    check(&loaded, &settings, &mut context)
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
