//! Where formulas hold along a run that is walked: the same as along the counterexample that it is.

use fabius_base::Cancel;
use fabius_engine::{CheckContext, Settings, check, load};
use fabius_explore::{Exploration, NodeId};
use fabius_testkit::generate::claim::{CLAIM, model_with_claim};
use fabius_testkit::generate::small;
use fabius_testkit::parallel;
use std::sync::Arc;
use std::time::Duration;

/// How many counterexamples of a property were compared, and how many of them are loops. In each beginning of such a run, what is known stays so.
fn compared(text: &str, property: &str) -> (usize, usize) {
    let settings = Settings { properties: vec![property.to_owned()], ..Settings::default() };
    let loaded = Arc::new(load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings));
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let outcome = check(&loaded, &settings, &mut context);
    let (mut runs, mut loops) = (0, 0);
    for example in &outcome.counterexamples {
        let told = example.trace.ribbon.as_ref().expect("the run has a table");
        let mut walk =
            Exploration::of_counterexample(Arc::clone(&loaded), example, property).expect("it can be walked");
        let walked = walk.ribbon().expect("the walk has a table");
        assert_eq!(walked, *told, "{text}\n{:?}", example.trace);
        (runs, loops) = (runs + 1, loops + usize::from(told.back_to.is_some()));
        let line: Vec<NodeId> = walk.line().to_vec();
        for tip in line {
            walk.follow(tip);
            let Ok(beginning) = walk.ribbon() else { continue };
            if beginning.is_claim || beginning.back_to.is_some() {
                continue;
            }
            for (row, whole) in beginning.rows.iter().zip(&told.rows) {
                let known = row.values.iter().zip(&whole.values).all(|(part, whole)| part.is_none() || part == whole);
                assert!(known, "{beginning:?}\n{told:?}\n{text}");
            }
        }
    }
    (runs, loops)
}

#[test]
fn a_walked_counterexample_has_the_table_of_the_check() {
    let seeds: Vec<u64> = (0..300).collect();
    let of_formula = |seed: &u64| {
        let text = format!("{}\nltl p {{ {} }}\n", small::model(*seed), small::formula(*seed));
        compared(&text, "p")
    };
    let of_claim = |seed: &u64| compared(&model_with_claim(*seed).text(), CLAIM);
    for (what, found) in [("formulas", parallel::map(&seeds, of_formula)), ("claims", parallel::map(&seeds, of_claim))]
    {
        let (runs, loops) = found.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!(runs > 30 && loops > 10, "{what}: {runs} {loops}");
    }
}

#[test]
fn a_walk_without_a_formula_says_so() {
    let text = "byte x;\nactive proctype P() { x = 1 }\n";
    let loaded = Arc::new(load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default()));
    let walk = Exploration::of_model(loaded, None).expect("it can be walked");
    let why = walk.ribbon().expect_err("safety has no formula");
    assert!(why.contains("`safety` has no formula"), "{why}");
}
