//! Invariants that one search proves together.

use crate::infinite::{property, run};
use fabius_engine::report::PropertyReport;
use fabius_engine::settings::ThreadCount;
use fabius_engine::{Fairness, Settings, Verdict};
use fabius_search::toy::Random;

/// Processes that move values between three variables, some in atomic sequences, and formulas about the values.
pub fn model(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("byte x, y, z;\n");
    for process in 0..1 + random.below(2) {
        let steps: Vec<String> = (0..4).map(|_| step(&mut random)).collect();
        text += &format!("active proctype P{process}() {{ do {} od }}\n", steps.join(" "));
    }
    for at in 0..6 {
        let (name, bound) = (variable(&mut random), random.below(6));
        let formula = match random.below(5) {
            0 => format!("[] ({name} <= {bound})"),
            1 => format!("[] (({name} == {bound}) -> (x + y + z > 0))"),
            2 => format!("!<> ({name} > {bound})"),
            3 => format!("[] <> ({name} <= {bound})"),
            _ => format!("[] ({name} != {bound} || x <= y)"),
        };
        text += &format!("ltl f{at} {{ {formula} }}\n");
    }
    text
}

fn variable(random: &mut Random) -> &'static str {
    ["x", "y", "z"][random.below(3)]
}

fn step(random: &mut Random) -> String {
    let (one, other, bound) = (variable(random), variable(random), 1 + random.below(4));
    match random.below(4) {
        0 => format!(":: {one} < {bound} -> {one}++"),
        1 => format!(":: {one} > 0 -> {one}--"),
        2 => format!(":: atomic {{ {one} > 0 -> {one}--; {other} = {bound} }}"),
        _ => format!(":: {one} == {bound} -> {other} = 0"),
    }
}

/// What a person reads of a property, but for what its search took. Two runs are as long if no run is shorter.
fn answer(report: &PropertyReport) -> (Verdict, bool, Vec<Option<u64>>) {
    let steps = report.violations.iter().map(|violation| violation.shortest.then_some(violation.steps));
    (report.verdict, report.exhaustive, steps.collect())
}

#[test]
fn each_invariant_has_the_verdict_that_it_has_alone() {
    let (mut joined, mut beside_violated) = (0, 0);
    for seed in 0..50 {
        let text = model(seed);
        for threads in [ThreadCount::Exactly(1), ThreadCount::Exactly(2)] {
            let settings = Settings { threads, ..Settings::default() };
            let together = run(&text, &settings).report.properties;
            let is_joined = |property: &&PropertyReport| !property.together_with.is_empty();
            for of_all in &together {
                let alone = property(&text, &of_all.name, &settings);
                assert_eq!(answer(of_all), answer(&alone), "{} of\n{text}", of_all.name);
                assert!(alone.together_with.is_empty());
            }
            let with = together.iter().filter(is_joined).count();
            joined += with;
            beside_violated += usize::from(
                0 < with && together.iter().any(|p| p.name.starts_with('f') && p.verdict == Verdict::Violated),
            );
        }
    }
    assert!(100 < joined && 15 < beside_violated, "{joined} {beside_violated}");
}

#[test]
fn who_was_proved_together_is_told() {
    let text = "byte x; active proctype P() { do :: x < 9 -> x++ :: x > 0 -> x-- od }
        ltl a { [] (x < 10) } ltl b { [] (x < 11) } ltl c { [] (x < 9) } ltl d { [] <> (x < 9) } ltl e { [] (x < 12) }";
    let properties = run(text, &Settings::default()).report.properties;
    let with = |name: &str| {
        let found = properties.iter().find(|property| property.name == name);
        found.map(|property| (property.together_with.join(" "), property.reason.clone()))
    };
    let sentence = |names: &str| format!("no run violates it; proved in one search with {names}");
    assert_eq!(with("a"), Some(("b e".to_owned(), sentence("`b` and `e`"))));
    assert_eq!(with("e"), Some(("a b".to_owned(), sentence("`a` and `b`"))));
    for other in ["safety", "c", "d"] {
        assert_eq!(with(other).map(|(names, _)| names), Some(String::new()), "{other}");
    }
}

#[test]
fn a_search_that_somebody_chose_is_for_one_property() {
    let text = "byte x; active proctype P() { do :: x < 9 -> x++ :: x > 0 -> x-- od }
        ltl a { [] (x < 10) } ltl b { [] (x < 11) }";
    for settings in [
        Settings { cycles: fabius_engine::Cycles::NestedDfs, ..Settings::default() },
        Settings { fairness: Fairness::Weak, ..Settings::default() },
    ] {
        let properties = run(text, &settings).report.properties;
        assert!(properties.iter().all(|property| property.together_with.is_empty()), "{settings:?}");
    }
}
