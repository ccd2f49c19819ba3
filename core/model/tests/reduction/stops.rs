//! Where it does not show when processes have to stop within atomic sequences, what can be reached is the same.

use super::{
    STATES_MAX, Tally, keeps_deadlocks, keeps_faults_by_loops, keeps_faults_by_the_stack, keeps_what_is_accepted, load,
    seeds,
};
use crate::graph::Graph;
use fabius_model::reduction::{Plan, Preserve, Reduced, prepare};
use fabius_program::{Program, Watch};
use fabius_testkit::generate::meetings;
use std::sync::Arc;

/// The number of states that a reduction leaves.
fn left(program: &Arc<Program>, plan: Plan) -> Option<usize> {
    let mut reduced = Reduced::new(Arc::clone(program), Watch::NOTHING, plan).ok()?;
    Some(Graph::of(&mut reduced, STATES_MAX)?.states.len())
}

#[test]
fn stops_that_do_not_show_may_be_later() {
    let (mut tally, mut fewer) = (Tally::default(), 0);
    for seed in seeds(6000) {
        let text = meetings::model(seed);
        let program = load(&text, seed).unwrap_or_else(|| panic!("seed {seed} is no model:\n{text}"));
        for keeps in [keeps_deadlocks, keeps_faults_by_loops, keeps_faults_by_the_stack] {
            keeps(&program, &mut tally).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        }
        let Ok(plan) = prepare(&program, Preserve::Deadlocks) else { continue };
        fewer += u32::from(left(&program, plan.clone()) < left(&program, plan.for_executions()));
    }
    let formulas = ["[]<>(g == 0)", "<>(g == 1)", "[](g == 1 -> <>(g == 0))", "<>[](g == 0)"];
    let mut violated = 0;
    for seed in seeds(3000) {
        let text = format!("{}ltl p {{ {} }}\n", meetings::model(seed), formulas[seed as usize % formulas.len()]);
        let program = load(&text, seed).unwrap_or_else(|| panic!("seed {seed} is no model:\n{text}"));
        let (program, claim) = program.with_claim("p").expect("a claim");
        let kept = keeps_what_is_accepted(program, claim, (&mut tally, &mut violated));
        kept.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("stops: {tally:?}, {fewer} times fewer states than where executions matter, {violated} formulas violated");
    assert!(tally.reduced < tally.states && 100 < fewer && 100 < violated, "{tally:?} {fewer} {violated}");
}

/// Whoever sends finds a receiver only after its sequence has begun: the receiver may have done something else before.
const GIVES_UP: &str = "chan c = [0] of { bit }; bit gave_up;
active proctype Sender() { bit sent; atomic { sent = 1; c!0 } }
active proctype Receiver() { if :: c?_ :: gave_up = 1 fi }
ltl served { []<>(gave_up == 0) }";

#[test]
fn a_receiver_that_may_do_something_else_is_not_left_out() {
    let program = load(GIVES_UP, 1).expect("a model");
    let (program, claim) = program.with_claim("served").expect("a claim");
    let (mut tally, mut violated) = (Tally::default(), 0);
    keeps_what_is_accepted(program, claim, (&mut tally, &mut violated)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((tally.compared, violated), (1, 1));
}

/// Small models in each of which one of the conditions under which stops do not show is not met, or only just.
const BORDERS: &[&str] = &[
    // Whoever stops can also receive where it stops.
    "active proctype Q() { bit l; atomic { l = 1; if :: c!0 :: d?_ fi } }
    active proctype P() { bit l; l = 1; c?_ }
    active proctype R() { d!0 }",
    // Whoever stops can receive where it would wait instead, and somebody does something else as long as nobody receives.
    "active proctype Q() { bit l; if :: d?_ :: atomic { l = 1; c!0 } fi }
    active proctype P() { bit l; l = 1; if :: c?_ :: e?_ fi }
    active proctype R() { if :: d!0 :: else -> e!0 fi }",
    // Either stops only if the other one has.
    "active proctype Q() { bit l, m; m = 1; if :: d?_ :: atomic { l = 1; e!0 } fi }
    active proctype R() { bit l, m; m = 1; if :: e?_ :: atomic { l = 1; d!0 } fi }",
    // What is done before the stop concerns others.
    "active proctype Q() { bit l; atomic { g == 0; l = 1; c!0 } }
    active proctype P() { bit l; l = 1; c?_ }
    active proctype R() { g = 1; c?_ }",
    // Somebody waits until nobody else can move.
    "active proctype Q() { bit l; atomic { l = 1; c!0 } }
    active proctype P() { bit l; l = 1; if :: c?_ :: e?_ fi }
    active proctype R() { e!0 }
    active proctype T() { timeout; g = 1; c?_; assert(false) }",
    // The sequence is left before the send.
    "active proctype Q() { bit l; { atomic { l = 1; c!0; assert(false) } } unless { g == 1 } }
    active proctype P() { bit l; l = 1; c?_ }
    active proctype R() { g = 1 }",
];

#[test]
fn where_stops_show_by_a_hair_everything_is_kept() {
    for model in BORDERS {
        let text =
            format!("chan c = [0] of {{ bit }}; chan d = [0] of {{ bit }}; chan e = [0] of {{ bit }}; bit g;\n{model}");
        for (seed, keeps) in [keeps_deadlocks, keeps_faults_by_loops, keeps_faults_by_the_stack].into_iter().enumerate()
        {
            let (program, mut tally) = (load(&text, seed as u64).expect("a model"), Tally::default());
            keeps(&program, &mut tally).unwrap_or_else(|why| panic!("{why}\n{text}"));
            assert_eq!(tally.compared, 1, "{text}");
        }
    }
}
