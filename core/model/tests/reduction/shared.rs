//! Reductions that rest on what was found out for other questions, against those that are prepared alone.

use crate::graph::Graph;
use crate::{STATES_MAX, load, seeds};
use fabius_model::reduction::{Basis, Preserve, Proviso, Reduced, prepare};
use fabius_program::{Program, ProgressOn, Watch};
use fabius_testkit::generate::{births, small};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Everything that a reduced program leads to; `None` if that is too much, or it cannot be reduced.
fn explored(basis: Option<&Basis>, program: &Arc<Program>, watch: Watch, preserve: &Preserve) -> Option<Graph> {
    let plan = match basis {
        Some(basis) => basis.prepare(program, preserve.clone()),
        None => prepare(program, preserve.clone()),
    };
    let mut reduced = Reduced::new(Arc::clone(program), watch, plan.ok()?).ok()?;
    Graph::of(&mut reduced, STATES_MAX)
}

/// Compares what reductions leave of a program, with a claim for this property and without, if they rest on the same and if each
/// is prepared alone. How many were compared.
pub fn is_reduced_as_alone(base: &Arc<Program>, property: &str) -> Result<usize, String> {
    let basis = Basis::of(base);
    let Ok((mut program, claim)) = base.with_claim(property) else { return Ok(0) };
    program.processes.iter_mut().flat_map(|p| &mut p.locations).for_each(|location| location.accept = false);
    let (program, mut compared) = (Arc::new(program), 0);
    if !basis.suits(&program) {
        return Err("it is another program".to_owned());
    }
    let watching = Watch { claim: Some(claim), acceptance: true, ..Watch::NOTHING };
    let livelocks = Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING };
    let formula = Preserve::Formula(program.process(claim).conditions());
    let questions = [
        (base, Watch::NOTHING, Preserve::Faults(Proviso::Loops)),
        (&program, watching, formula),
        (base, livelocks, Preserve::Livelocks(ProgressOn::States)),
        (base, Watch::NOTHING, Preserve::Deadlocks),
    ];
    for (program, watch, preserve) in questions {
        let [shared, alone] = [Some(&basis), None].map(|basis| explored(basis, program, watch, &preserve));
        if shared != alone {
            return Err(format!("{preserve:?}: {shared:?}\nalone: {alone:?}"));
        }
        compared += usize::from(shared.is_some());
    }
    Ok(compared)
}

#[test]
fn what_reductions_share_makes_no_difference() {
    let mut compared = 0;
    for seed in seeds(1000) {
        let formula = small::formula(seed).replace("(s == 1)", "(c1?[1])");
        let model = if seed % 4 == 3 { births::model(seed / 4) } else { small::model(seed) };
        let text = format!("{model}\nltl p {{ {formula} }}\n");
        let Some(program) = load(&text, seed) else { continue };
        compared += is_reduced_as_alone(&program, "p").unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("shared: {compared} compared");
    assert!(1_000 < compared, "{compared}");
}

/// Two processes of which only formulas look at places and at a local variable.
const LOOKED_INTO: &str = "byte x;
active proctype P() { byte n; n = 1; here: x = 2; n = 2 }
active proctype Q() { x = 3 }";

#[test]
fn what_only_a_formula_looks_at_is_seen() {
    let mut sizes = BTreeSet::new();
    for formula in ["[] !(P@here && x == 3)", "[] (P:n == 2 -> x == 3)", "[] (x != 3)"] {
        let program = load(&format!("{LOOKED_INTO}\nltl p {{ {formula} }}"), 1).expect("a model");
        assert_eq!(is_reduced_as_alone(&program, "p"), Ok(4), "{formula}");
        let (program, claim) = program.with_claim("p").expect("a claim");
        let watch = Watch { claim: Some(claim), ..Watch::NOTHING };
        let preserve = Preserve::Formula(program.process(claim).conditions());
        let graph = explored(None, &Arc::new(program), watch, &preserve).expect("a graph");
        sizes.insert(graph.states.len());
    }
    assert_eq!(sizes.len(), 3, "each formula keeps other steps apart: {sizes:?}");
}

#[test]
fn another_program_is_not_taken_for_the_same() {
    let text = |value: u8| format!("byte x; active proctype P() {{ x = {value} }} active proctype Q() {{ x == 1 }}");
    let [one, other] = [1, 2].map(|value| load(&text(value), 1).expect("a model"));
    let basis = Basis::of(&one);
    assert!(basis.suits(&one) && !basis.suits(&other));
    let of_other = explored(Some(&basis), &other, Watch::NOTHING, &Preserve::Deadlocks);
    assert_eq!(of_other, explored(None, &other, Watch::NOTHING, &Preserve::Deadlocks));
    assert_ne!(of_other, explored(None, &one, Watch::NOTHING, &Preserve::Deadlocks));
}
