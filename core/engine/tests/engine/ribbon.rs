//! Where formulas hold along counterexamples: every violated formula is false at the first position of the run that is shown.

use fabius_base::Cancel;
use fabius_engine::{CheckContext, Outcome, Settings, Verdict, check, load};
use fabius_testkit::generate::claim::{CLAIM, model_with_claim};
use fabius_testkit::generate::small;
use fabius_testkit::parallel;
use std::time::Duration;

fn run(text: &str) -> Outcome {
    run_for(text, "p")
}

fn run_for(text: &str, property: &str) -> Outcome {
    let settings = Settings { properties: vec![property.to_owned()], ..Settings::default() };
    let loaded = load("model.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
    let mut observe = |_| {};
    let now = &|| Duration::ZERO;
    let mut context = CheckContext { cancel: &Cancel::new(), now, observe: &mut observe, controls: None };
    let outcome = check(&loaded, &settings, &mut context);
    assert_eq!(outcome.failure, None, "{text}");
    outcome
}

/// How many formulas are violated, and in how many of the runs a single place decides that.
fn violated(seed: u64) -> (usize, usize, usize) {
    let model = small::model(seed);
    let (mut violated, mut loops, mut decided) = (0, 0, 0);
    for index in 0..4 {
        let text = format!("{model}\nltl p {{ {} }}\n", small::formula(4 * seed + index));
        let outcome = run(&text);
        let Some(property) = outcome.report.properties.iter().find(|property| property.name == "p") else { continue };
        if property.verdict != Verdict::Violated {
            continue;
        }
        let [violation] = property.violations.as_slice() else { panic!("{text}") };
        let Some(ribbon) = &violation.ribbon else { panic!("no row of values: {text}\n{:?}", violation.trace) };
        assert_eq!(ribbon.rows[0].values[0], Some(false), "{text}");
        assert!(ribbon.rows.iter().all(|row| row.values.len() as u64 == ribbon.positions), "{text}");
        let is_loop = violation.loop_start.is_some();
        assert_eq!(ribbon.loop_position.is_some(), is_loop, "{text}");
        // In a loop, nothing is open.
        assert!(!is_loop || ribbon.rows.iter().flat_map(|row| &row.values).all(Option::is_some), "{text}");
        (violated, loops) = (violated + 1, loops + usize::from(is_loop));
        decided += usize::from(ribbon.decides.is_some());
    }
    (violated, loops, decided)
}

#[test]
fn a_violated_formula_is_false_where_the_run_begins() {
    let models = if std::env::var_os("FABIUS_FULL").is_some() { 4_000 } else { 300 };
    let seeds: Vec<u64> = (0..models).collect();
    let found = parallel::map(&seeds, |seed| violated(*seed));
    let sum = |f: fn(&(usize, usize, usize)) -> usize| found.iter().map(f).sum::<usize>();
    let (violated, loops, decided) = (sum(|one| one.0), sum(|one| one.1), sum(|one| one.2));
    assert!(violated > 200 && loops > 50 && decided > 100, "{violated} {loops} {decided}");
}

/// Whether the claim of a model is violated, and by a loop.
fn claim_violated(seed: u64) -> (usize, usize) {
    let text = model_with_claim(seed).text();
    let outcome = run_for(&text, CLAIM);
    let Some(property) = outcome.report.properties.iter().find(|property| property.name == CLAIM) else {
        return (0, 0);
    };
    let [violation] = property.violations.as_slice() else { return (0, 0) };
    let Some(ribbon) = &violation.ribbon else { panic!("no row of places: {text}\n{:?}", violation.trace) };
    assert!(ribbon.claim && ribbon.sentence.is_none(), "{text}");
    let places: Vec<_> = ribbon.rows.iter().filter(|row| row.formula.starts_with("claim at ")).collect();
    // More places are not told.
    let all_told = places.len() < 6;
    for at in 0..ribbon.positions as usize {
        let of = |value: Option<bool>| places.iter().filter(|row| row.values[at] == value).count();
        // One place; where nothing else moves any more, those that the claim goes through.
        assert!(of(Some(true)) <= 1 && (!all_told || 0 < of(Some(true)) + of(None)), "{at}: {ribbon:?}\n{text}");
    }
    let Some(back_to) = ribbon.loop_position else { return (1, 0) };
    let in_loop = |values: &[Option<bool>]| values[back_to as usize..].iter().any(|at| *at != Some(false));
    let accepts = places.iter().any(|row| row.formula.ends_with("(accepting)") && in_loop(&row.values));
    // Where no process accepts, the claim does.
    assert!(accepts || !all_told || text.contains("accept_again"), "{ribbon:?}\n{text}");
    (1, 1)
}

#[test]
fn a_claim_is_at_one_place_at_a_time_and_accepts_in_a_loop() {
    let models = if std::env::var_os("FABIUS_FULL").is_some() { 8_000 } else { 800 };
    let seeds: Vec<u64> = (0..models).collect();
    let found = parallel::map(&seeds, |seed| claim_violated(*seed));
    let (violated, loops) = found.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(violated > 100 && loops > 30, "{violated} {loops}");
}

#[test]
fn a_claim_is_where_its_look_at_the_state_led_it() {
    let text = "byte x; bool req, ack;\n\
                active proctype P() { do :: req = 1; req = 0 :: x < 3 -> x++ :: ack = 1; ack = 0 od }\n\
                never {\nT0: do :: req && !ack -> goto accept_S :: true od;\naccept_S: do :: !ack od\n}\n";
    let outcome = run_for(text, "never");
    let ribbon = outcome.report.properties[0].violations[0].ribbon.as_ref().expect("rows");
    let rows: Vec<_> = ribbon.rows.iter().map(|row| (row.formula.as_str(), row.values.as_slice())).collect();
    let (yes, no) = (Some(true), Some(false));
    // The loop begins behind the look that reaches `accept_S`: in its rounds the claim is never at `T0`.
    assert_eq!(
        rows,
        [
            ("claim at T0", [yes, no, no].as_slice()),
            ("claim at accept_S (accepting)", &[no, yes, yes]),
            ("req && !ack", &[no, yes, no]),
            ("!ack", &[yes, yes, yes]),
        ]
    );
    assert_eq!((ribbon.positions, ribbon.loop_position), (3, Some(1)));
}
