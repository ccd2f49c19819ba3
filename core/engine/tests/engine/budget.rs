//! What a transition counts where work is limited.

use fabius_engine::settings::Settings;
use fabius_model::{Budget, SearchedMachine};
use fabius_program::Watch;
use fabius_search::{Quiet, StopAt, TreeStore, breadth_first};
use fabius_task::load::load;
use std::sync::Arc;

/// How many of 10 000 simple transitions may be listed near a run of a model to a failing assertion, and after how many at most a search
/// looks at what is left.
fn near_a_run(text: &str) -> (u64, u32) {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    let program = Arc::clone(loaded.checkable().expect("a program"));
    let mut machine = SearchedMachine::new(program, Watch::NOTHING).expect("a machine");
    let settings = fabius_search::Settings { stop_at: StopAt::First, ..Default::default() };
    let outcome = breadth_first(&mut machine, &mut TreeStore::new(), &mut Quiet, &settings);
    let run = outcome.violations.into_iter().next().expect("a run");
    let budget = Budget::near(10_000, &mut machine, run.path);
    (budget.transitions(), budget.steps_per_look())
}

#[test]
fn a_transition_counts_more_the_more_steps_its_block_takes() {
    let looping = |steps: u32| {
        format!(
            "byte c; active [2] proctype P() {{ short i; do\n\
             :: c < 9 -> d_step {{ i = 0; do :: i < {steps} -> i++ :: else -> break od; i = 0; c++ }}\n\
             :: c > 7 -> assert(false) od }}"
        )
    };
    let [none, few, many] = [1, 20, 3_000].map(|steps| near_a_run(&looping(steps)));
    assert_eq!(near_a_run("byte c; active [2] proctype P() { do :: c++; assert(c < 9) od }"), (10_000, 1_024));
    assert!(1_000 < none.0 && many.0 < few.0 && few.0 < none.0 && many.0 < 50, "{none:?} {few:?} {many:?}");
    assert!(many.1 < few.1 && few.1 <= none.1 && 1 <= many.1, "{none:?} {few:?} {many:?}");
    // A block of a million steps, time and again, is not walked for long.
    let endless = "byte c; active proctype P() { int i; do :: c < 200 -> d_step { i = 0; do :: i < 300000 -> i++ :: else -> break od; c++ }\n\
                   :: c == 40 -> assert(false) od }";
    assert_eq!(near_a_run(endless), (0, 1));
}
