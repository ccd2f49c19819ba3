//! Formulas whose claims accept no cycle: they are searched as safety is, and have the verdict that a search for cycles gives.

use crate::infinite::property;
use crate::together::model;
use fabius_engine::settings::ThreadCount;
use fabius_engine::{Cycles, Order, Settings, Verdict};

/// The claims of the last two formulas accept cycles.
const FORMULAS: &str = "byte x; active proctype P() { do :: x < 9 -> x++ :: x > 0 -> x-- od }
    ltl always { [] (x < 9) } ltl weak { x < 9 W x == 10 } ltl until { x < 9 U x == 9 } ltl again { [] <> (x == 0) }";

#[test]
fn which_search_it_is_depends_on_the_claim_and_on_what_was_chosen() {
    let (suitable, several) = (Settings::default(), ThreadCount::Exactly(2));
    let chosen = Settings { cycles: Cycles::NestedDfs, ..Settings::default() };
    let strict = Settings { search: Order::DepthFirst, ..Settings::default() };
    for (name, search) in [("always", "dfs"), ("weak", "dfs"), ("again", "ndfs"), ("until", "ndfs")] {
        let report = property(FORMULAS, name, &suitable);
        assert_eq!((report.search, report.verdict), (search, Verdict::Violated), "{name}");
        let algorithm = report.strategy.map(|strategy| strategy.algorithm);
        assert_eq!(algorithm.as_deref(), Some(search), "{name}");
        for settings in [&chosen, &strict] {
            assert_eq!(property(FORMULAS, name, settings).search, "ndfs", "{name}: {settings:?}");
        }
    }
    let report = property(FORMULAS, "always", &Settings { threads: several, ..Settings::default() });
    assert_eq!((report.search, report.threads), ("dfs", 2));
}

#[test]
fn they_have_the_verdict_that_a_search_for_cycles_gives() {
    let (mut violated, mut proved) = (0, 0);
    for seed in 0..20 {
        let text = model(seed);
        for name in (0..6).map(|at| format!("f{at}")) {
            let chosen = Settings { cycles: Cycles::NestedDfs, ..Settings::default() };
            let expected = property(&text, &name, &chosen);
            for (threads, reduction) in [(1, true), (1, false), (2, true), (2, false)] {
                let settings = Settings { threads: ThreadCount::Exactly(threads), reduction, ..Settings::default() };
                let report = property(&text, &name, &settings);
                assert_eq!(report.verdict, expected.verdict, "{name} of\n{text}");
                assert_eq!(report.exhaustive, expected.exhaustive, "{name} of\n{text}");
                if report.search == "dfs" && report.verdict == Verdict::Holds {
                    let same = report.reduction != expected.reduction || report.states == expected.states;
                    assert!(same, "{} and {} states: {name} of\n{text}", report.states, expected.states);
                    proved += 1;
                }
                violated += u32::from(report.search == "dfs" && report.verdict == Verdict::Violated);
            }
        }
    }
    assert!(50 < violated && 50 < proved, "{violated} {proved}");
}
