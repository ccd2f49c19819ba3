//! Where formulas hold along counterexamples: every violated formula is false at the first position of the run that is shown.

use fabius_base::Cancel;
use fabius_engine::{CheckContext, Outcome, Settings, Verdict, check, load};
use fabius_testkit::generate::small;
use fabius_testkit::parallel;
use std::time::Duration;

fn run(text: &str) -> Outcome {
    let settings = Settings { properties: vec!["p".to_owned()], ..Settings::default() };
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
