//! Reduced models against whole ones, on thousands of small programs: what a reduction is to preserve is worked out
//! from the definition on the graphs of both.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a test may read and print")]

mod concerns;
mod cycles;
mod graph;
mod numbers;
mod plain;
mod shared;
mod sleep;
mod stops;
mod termination;

use fabius_model::reduction::{self, Preserve, Proviso, Reduced, prepare};
use fabius_program::facts::Facts;
use fabius_program::ltl::stutter::is_stutter_invariant;
use fabius_program::meaning::Fault;
use fabius_program::{Action, EdgeId, Move, ProcessId, ProcessKind, Program, ProgressOn, Watch};
use fabius_promela::Options;
use fabius_search::reduce::OffStack;
use fabius_search::{Quiet, Settings, StopAt, TreeStore, ViolationKind, depth_first, parallel};
use fabius_testkit::generate::{self, births, guarded, meetings, small};
use graph::{Graph, Mover, StepTaken};
use numbers::Numbers;
use plain::{Plain, program};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const STATES_MAX: usize = 3_000;

/// How much was compared.
#[derive(Default, Debug)]
struct Tally {
    compared: u64,
    states: u64,
    reduced: u64,
    /// Models of which a part was left out, and in which numbers of processes that are created cannot be observed.
    without_numbers: u64,
}

/// A model text by seed, from one of five generators; with or without the optimisations.
fn text(seed: u64) -> String {
    match seed % 6 {
        0 => generate::model(seed / 6).text(),
        1 => guarded::model(seed),
        2 => births::model(seed / 6),
        3 => meetings::model(seed),
        _ => small::model(seed),
    }
}

fn load(text: &str, seed: u64) -> Option<Arc<Program>> {
    let options = if seed.is_multiple_of(3) { Options::NONE } else { Options::ALL };
    program("random.pml", text, Path::new("."), options).ok().map(Arc::new)
}

/// Compares the whole graph of a program and its reduced one.
fn compare(
    program: &Arc<Program>,
    watch: Watch,
    preserve: Preserve,
    tally: &mut Tally,
    mut agree: impl FnMut(&Graph, &Graph) -> Result<(), String>,
) -> Result<(), String> {
    let propositions = if let Preserve::Formula(propositions) = &preserve { propositions.clone() } else { Vec::new() };
    let Ok(plan) = prepare(program, preserve) else { return Ok(()) };
    let Ok(mut plain) = Plain::new(Arc::clone(program), watch) else { return Ok(()) };
    let Some(mut whole) = Graph::of(&mut plain, STATES_MAX) else { return Ok(()) };
    let Ok(mut reduced) = Reduced::new(Arc::clone(program), watch, plan) else { return Ok(()) };
    let Some(mut part) = Graph::of(&mut reduced, STATES_MAX) else { return Err("more states than before".into()) };
    let numbers = Numbers::of(program, &propositions);
    [&mut whole, &mut part].into_iter().for_each(|graph| numbers.forget(&plain.0, graph));
    tally.compared += 1;
    tally.without_numbers += u64::from(!numbers.are_told() && part.states.len() < whole.states.len());
    tally.states += whole.states.len() as u64;
    tally.reduced += part.states.len() as u64;
    agree(&whole, &part)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, whole: &T, part: &T) -> Result<(), String> {
    if whole == part { Ok(()) } else { Err(format!("{what}: {whole:?}\nreduced: {part:?}")) }
}

fn check_all(
    seeds: std::ops::Range<u64>,
    mut check: impl FnMut(&Arc<Program>, &mut Tally) -> Result<(), String>,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = text(seed);
        let Some(program) = load(&text, seed) else { continue };
        if let Err(why) = check(&program, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    tally
}

/// How many seeds a test looks at.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let first = std::env::var("FABIUS_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    first..first + std::env::var("FABIUS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

/// Whether a reduction preserves deadlocks.
fn keeps_deadlocks(program: &Arc<Program>, tally: &mut Tally) -> Result<(), String> {
    let agree = |whole: &Graph, part: &Graph| same("ends", &whole.ends, &part.ends);
    compare(program, Watch::NOTHING, Preserve::Deadlocks, tally, agree)
}

#[test]
fn deadlocks_are_preserved() {
    let tally = check_all(seeds(1500), keeps_deadlocks);
    println!("deadlocks: {tally:?}");
    assert!(tally.reduced < tally.states && tally.without_numbers > 100, "{tally:?}");
}

/// Whether a reduction preserves deadlocks and faults, if the search need not do anything for that.
fn keeps_faults_by_loops(program: &Arc<Program>, tally: &mut Tally) -> Result<(), String> {
    compare(program, Watch::NOTHING, Preserve::Faults(Proviso::Loops), tally, |whole, part| {
        same("ends", &whole.ends, &part.ends)?;
        same("faults", &whole.faults, &part.faults)
    })
}

#[test]
fn faults_are_preserved_by_loops() {
    let tally = check_all(seeds(1500), keeps_faults_by_loops);
    println!("faults, loops: {tally:?}");
    assert!(tally.reduced < tally.states, "{tally:?}");
}

/// A search for all violations in few states.
fn for_all() -> Settings {
    let mut settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    settings.limits.states_max = Some(STATES_MAX as u64);
    settings
}

/// What a depth-first search finds.
fn violations<M>(model: &mut M, numbers: &Numbers, states: &mut u64) -> Option<Violations>
where
    M: fabius_search::Model<Label = Move, Fault = Fault>,
{
    let outcome = depth_first(model, &mut TreeStore::new(), &mut Quiet, &for_all());
    *states += outcome.statistics.states;
    listed(&outcome, numbers)
}

/// How many invalid ends there are, or whether there is one where they differ in numbers of processes only; and the faults.
type Violations = (usize, BTreeSet<(StepTaken, String)>);

/// The violations that a search found, if it looked at everything.
fn listed(outcome: &fabius_search::Outcome<Move, Fault>, numbers: &Numbers) -> Option<Violations> {
    (outcome.completeness == fabius_search::Completeness::Exhaustive).then(|| {
        let (mut ends, mut found) = (0, BTreeSet::new());
        for violation in &outcome.violations {
            match violation.kind {
                ViolationKind::InvalidEnd => ends += 1,
                ViolationKind::Fault(fault) => {
                    found.insert((numbers.step(violation.path.last()), format!("{fault:?}")));
                }
            }
        }
        (if numbers.are_told() { ends } else { ends.min(1) }, found)
    })
}

/// Whether a reduction preserves deadlocks and faults, if a depth-first search expands states fully that lead back to its path.
fn keeps_faults_by_the_stack(program: &Arc<Program>, tally: &mut Tally) -> Result<(), String> {
    let Ok(plan) = prepare(program, Preserve::Faults(Proviso::Stack)) else { return Ok(()) };
    let Ok(mut plain) = Plain::new(Arc::clone(program), Watch::NOTHING) else { return Ok(()) };
    let mut states = 0;
    let numbers = Numbers::of(program, &[]);
    let Some(whole) = violations(&mut plain, &numbers, &mut states) else { return Ok(()) };
    let Ok(reduced) = Reduced::new(Arc::clone(program), Watch::NOTHING, plan) else { return Ok(()) };
    let Some(part) = violations(&mut OffStack::new(reduced), &numbers, &mut tally.reduced) else {
        return Err("more states than before".into());
    };
    tally.compared += 1;
    tally.states += states;
    same("violations", &whole, &part)
}

#[test]
fn faults_are_preserved_by_the_stack() {
    let tally = check_all(seeds(1500), keeps_faults_by_the_stack);
    println!("faults, stack: {tally:?}");
    assert!(tally.reduced < tally.states, "{tally:?}");
}

#[test]
fn faults_are_preserved_where_several_threads_search_the_reduced_model() {
    let tally = check_all(seeds(400), |program, tally| {
        let Ok(plan) = prepare(program, Preserve::Faults(Proviso::Loops)) else { return Ok(()) };
        let Ok(mut plain) = Plain::new(Arc::clone(program), Watch::NOTHING) else { return Ok(()) };
        let mut states = 0;
        let numbers = Numbers::of(program, &[]);
        let Some(whole) = violations(&mut plain, &numbers, &mut states) else { return Ok(()) };
        let Ok(mut reduced) = Reduced::new(Arc::clone(program), Watch::NOTHING, plan) else { return Ok(()) };
        for threads in [2, 4] {
            let outcome = parallel::reach(&mut reduced.clone(), (threads, 0), &mut Quiet, &for_all(), 7).outcome;
            let Some(part) = listed(&outcome, &numbers) else { return Err("more states than before".into()) };
            same("violations", &whole, &part)?;
            let mut alone = 0;
            violations(&mut reduced, &numbers, &mut alone);
            same("states", &alone, &outcome.statistics.states)?;
            tally.reduced += alone;
            tally.states += states;
        }
        tally.compared += 1;
        Ok(())
    });
    println!("faults, threads: {tally:?}");
    assert!(tally.reduced < tally.states && 100 < tally.compared, "{tally:?}");
}

/// Searches everything, if there are few states, and gives the model back, which has noted what edges were taken.
fn explored<M>(mut model: M) -> Option<M>
where
    M: fabius_search::Model<Label = Move, Fault = Fault>,
{
    let outcome = depth_first(&mut model, &mut TreeStore::new(), &mut Quiet, &for_all());
    (outcome.completeness == fabius_search::Completeness::Exhaustive).then_some(model)
}

/// The edges that a reduced model takes.
fn taken_reduced(program: &Arc<Program>, plan: reduction::Plan, proviso: Proviso) -> Option<Vec<bool>> {
    let reduced = Reduced::new(Arc::clone(program), Watch::NOTHING, plan).ok()?;
    let mut reduced = match proviso {
        Proviso::Loops => explored(reduced)?,
        Proviso::Stack => explored(OffStack::new(reduced))?.into_model(),
    };
    Some(reduced.whole().reached_edges().iter().map(|taken| *taken != 0).collect())
}

#[test]
fn edges_that_matter_are_taken_as_in_the_whole_model() {
    let (mut missed, mut dead) = (0, 0);
    let tally = check_all(seeds(1500), |program, tally| {
        let Ok(plain) = Plain::new(Arc::clone(program), Watch::NOTHING) else { return Ok(()) };
        let Some(plain) = explored(plain) else { return Ok(()) };
        let whole: Vec<bool> = plain.0.reached_edges().iter().map(|taken| *taken != 0).collect();
        for proviso in [Proviso::Stack, Proviso::Loops] {
            let Ok(plan) = prepare(program, Preserve::Faults(proviso)) else { return Ok(()) };
            let before = taken_reduced(program, plan.clone(), proviso).ok_or("more states than before")?;
            let is_end = |edge: usize| {
                let edge = &program.edges[edge];
                matches!(program.process(edge.process).statements[edge.statement.0 as usize].action, Action::End)
            };
            let goals: Vec<usize> = (0..before.len()).filter(|edge| !before[*edge] && !is_end(*edge)).collect();
            let ids: Vec<EdgeId> = goals.iter().map(|edge| EdgeId(*edge as u32)).collect();
            let after = taken_reduced(program, plan.with_goals(&ids), proviso).ok_or("more states than before")?;
            let of = |taken: &[bool]| goals.iter().map(|edge| taken[*edge]).collect::<Vec<_>>();
            same("taken", &of(&whole), &of(&after))?;
            missed += of(&whole).iter().filter(|taken| **taken).count();
            dead += of(&whole).iter().filter(|taken| !**taken).count();
        }
        tally.compared += 1;
        Ok(())
    });
    println!("edges: {tally:?}, {missed} missed without goals, {dead} never taken");
    assert!(0 < missed && 100 < dead, "{tally:?} {missed} {dead}");
}

fn livelocks_are_preserved(progress: ProgressOn) {
    let watch = Watch { progress: Some(progress), ..Watch::NOTHING };
    let mut with = 0;
    let tally = check_all(seeds(1500), |program, tally| {
        compare(program, watch, Preserve::Livelocks(progress), tally, |whole, part| {
            same("a livelock", &whole.has_livelock(), &part.has_livelock())
        })?;
        with += u32::from(program.processes.iter().any(|p| p.locations.iter().any(|l| l.progress)));
        Ok(())
    });
    println!("livelocks, {progress:?}: {tally:?}, {with} with progress labels");
    assert!(tally.reduced < tally.states && with > 100, "{tally:?}");
}

#[test]
fn livelocks_on_transitions_are_preserved() {
    livelocks_are_preserved(ProgressOn::Transitions);
}

#[test]
fn livelocks_on_states_are_preserved() {
    livelocks_are_preserved(ProgressOn::States);
}

#[test]
fn acceptance_cycles_are_preserved() {
    let watch = Watch { acceptance: true, ..Watch::NOTHING };
    let tally = check_all(seeds(1500), |program, tally| {
        compare(program, watch, Preserve::Acceptance, tally, |whole, part| {
            same("an acceptance cycle", &whole.has_accepting_cycle(), &part.has_accepting_cycle())
        })
    });
    println!("acceptance: {tally:?}");
    assert!(tally.reduced < tally.states, "{tally:?}");
}

/// Models in which everything else is blind to the numbers of processes, with formulas that are not.
const LOOKED_AT: [(&str, [&str; 2]); 2] = [
    // How many there are.
    (
        "byte x; proctype C() { skip } init { run C(); x = 1; x = 2 }",
        ["[] (x == 2 -> _nr_pr == 1)", "[] (x == 2 -> _nr_pr == 2)"],
    ),
    // Which number one got.
    (
        "byte a, b; proctype C() { skip } active proctype P() { a = run C() } active proctype Q() { b = run C() }",
        ["[] (a != 3)", "[] (b != 3)"],
    ),
];

#[test]
fn numbers_that_a_formula_looks_at_are_kept() {
    let looked = LOOKED_AT.iter().flat_map(|(model, formulas)| formulas.iter().map(move |formula| (model, formula)));
    for (model, formula) in looked {
        let program = load(&format!("{model} ltl p {{ {formula} }}"), 1).expect("a model");
        let facts = Facts::of(Arc::clone(&program), &[]);
        shared::is_reduced_as_alone(&program, "p").unwrap_or_else(|why| panic!("{model} {formula}: {why}"));
        let (program, claim) = program.with_claim("p").expect("a claim");
        let propositions = program.process(claim).conditions();
        assert!(facts.is_blind_to_numbers(&[]), "{model}");
        assert!(!facts.is_blind_to_numbers(&propositions.iter().collect::<Vec<_>>()), "{formula}");
        let mut violated = 0;
        let agree = keeps_what_is_accepted(program, claim, (&mut Tally::default(), &mut violated));
        assert_eq!(violated, 1, "{formula} is violated");
        agree.unwrap_or_else(|why| panic!("{model} {formula}: {why}"));
    }
}

#[test]
fn want_of_room_is_kept() {
    let full = "bit is_full;
proctype F() { false }
proctype C() { skip }
active proctype P() { is_full; run C() }
init { byte i; do :: i < 252 -> run F(); i++ :: else -> break od; is_full = 1; run C() }";
    let program = load(full, 1).expect("a model");
    let mut tally = Tally::default();
    let agree = compare(&program, Watch::NOTHING, Preserve::Faults(Proviso::Loops), &mut tally, |whole, part| {
        assert!(!whole.faults.is_empty() && !whole.ends.is_empty(), "there is room only if one ends in time");
        same("ends", &whole.ends, &part.ends)?;
        same("faults", &whole.faults, &part.faults)
    });
    agree.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(tally.compared, 1);
}

/// Whether a claim accepts a run, or what a finite run does: it completes, an assertion in it fails, or it cannot be evaluated.
fn accepts(graph: &Graph, program: &Program, claim: ProcessId) -> bool {
    let by_claim =
        |step: &StepTaken| step.is_some_and(|(Mover(_, edge), _)| program.edges[edge as usize].process == claim);
    graph.has_accepting_cycle() || graph.faults.iter().any(|(step, _)| by_claim(step))
}

/// Whether a run ends where a step of a process cannot be evaluated.
fn has_runtime_error(graph: &Graph, program: &Program, claim: ProcessId) -> bool {
    let by_process =
        |step: &StepTaken| step.is_none_or(|(Mover(_, edge), _)| program.edges[edge as usize].process != claim);
    graph.faults.iter().any(|(step, fault)| by_process(step) && fault != "AssertionFailed")
}

/// Compares what a claim accepts in a program with what it accepts in the reduced one.
fn keeps_what_is_accepted(
    program: Program,
    claim: ProcessId,
    (tally, accepted): (&mut Tally, &mut u64),
) -> Result<(), String> {
    let preserve = Preserve::Formula(program.process(claim).conditions());
    let watch = Watch { claim: Some(claim), acceptance: true, ..Watch::NOTHING };
    let program = Arc::new(program);
    compare(&program, watch, preserve, tally, |whole, part| {
        let accepts = |graph| accepts(graph, &program, claim);
        // Nothing is known of what would follow a runtime error, so the verdict is open if nothing is accepted.
        if !accepts(part) && has_runtime_error(part, &program, claim) {
            return Ok(());
        }
        *accepted += u64::from(accepts(whole));
        same("the claim accepts", &accepts(whole), &accepts(part))
    })
}

#[test]
fn formulas_keep_their_verdict() {
    let (mut tally, mut accepted) = (Tally::default(), 0);
    for seed in seeds(2000) {
        // Some ask what is in a channel, which has no answer where there is no buffer.
        let formula = small::formula(seed).replace("(s == 1)", "(c1?[1])");
        let model = if seed % 4 == 3 { births::model(seed / 4) } else { small::model(seed) };
        let text = format!("{model}\nltl p {{ {formula} }}\n");
        let Some(program) = load(&text, seed) else { continue };
        let Ok((program, claim)) = program.with_claim("p") else { continue };
        let kept = keeps_what_is_accepted(program, claim, (&mut tally, &mut accepted));
        kept.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("formulas: {tally:?}, {accepted} violated");
    assert!(tally.reduced < tally.states && accepted > 100, "{tally:?}");
}

#[test]
fn claims_to_which_repeated_states_do_not_matter_keep_their_verdict() {
    let (mut tally, mut accepted, mut counting) = (Tally::default(), 0, 0);
    for seed in seeds(3000) {
        let text = format!("{}\n{}", small::model(seed), small::claim(seed));
        let Some(program) = load(&text, seed) else { continue };
        let Ok((mut program, claim)) = program.with_claim("p") else { continue };
        // With acceptance labels in processes, the claim is not all that decides.
        let processes = program.processes.iter_mut().filter(|process| process.kind == ProcessKind::Process);
        processes.flat_map(|process| &mut process.locations).for_each(|location| location.accept = false);
        if !is_stutter_invariant(&program, claim) {
            counting += 1;
            continue;
        }
        let kept = keeps_what_is_accepted(program, claim, (&mut tally, &mut accepted));
        kept.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("claims: {tally:?}, {accepted} violated, {counting} may count steps");
    assert!(tally.reduced < tally.states && accepted > 100 && tally.compared > 500, "{tally:?}");
}
