//! Models by many authors: the machine stores as many states as Spin.

#![expect(clippy::disallowed_methods, reason = "models are read from files")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::support;
use fabius_machine::Machine;
use std::sync::Arc;

/// Models with more states take too long for a test; `examples/successors --corpus N` compares those too.
const STATES_MAX: u64 = 2_000;

/// Models whose runs Spin continues where the machine stops, after an error that is no failed assertion.
const CONTINUED_BY_SPIN: &[&str] = &["spin-man/Manual_74.pml"];

#[test]
fn real_models_have_as_many_states_as_spin_stores() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("manifest.jsonl")).unwrap();
    let mut compared = 0;
    for line in manifest.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let base = &row["runs"]["base"];
        let Some(stored) = base["stored"].as_u64().filter(|&n| n <= STATES_MAX) else { continue };
        let path = row["path"].as_str().unwrap_or_default();
        if base["complete"] != true || CONTINUED_BY_SPIN.contains(&path) {
            continue;
        }
        // What the front end refuses is its own concern.
        let Ok(program) = support::program_of(&corpus.join("models").join(path)) else { continue };
        let mut machine = Machine::new(Arc::new(program)).unwrap_or_else(|why| panic!("{path}: {why}"));
        let counts = support::walk(&mut machine, 200 * stored + 1_000);
        assert_eq!((counts.stored, counts.complete), (stored, true), "{path}: {counts:?}");
        compared += 1;
    }
    assert!(compared > 50, "only {compared} models could be compared");
}
