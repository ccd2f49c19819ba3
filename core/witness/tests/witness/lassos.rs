//! What is claimed of a loop is checked by walking it: that it closes, that it makes no progress or is accepted, how
//! fair it is.

use fabius_base::SourceMap;
use fabius_language::NoLoader;
use fabius_program::{CLAIM_PID, Move, ProcessId, ProcessKind, Program, ProgressOn, Watch, meaning::Fault};
use fabius_promela::{Options, lower, parse};
use fabius_witness::{
    Claim, CycleClaim, Disagreement, Ending, Outcome, RunFairness, State, confirm_watching, moves, settled,
    stops_accepting,
};
use std::sync::Arc;

fn program(text: &str) -> Arc<Program> {
    let mut map = SourceMap::new();
    let file = map.add_file("m.pml", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    Arc::new(lower(&parsed.model, &map, "m.pml", Options::NONE).program.expect("the model is right"))
}

fn with_claim(program: &Program) -> Watch {
    let claim = program.processes.iter().position(|process| process.kind == ProcessKind::Claim);
    Watch { claim: claim.map(|id| ProcessId(id as u32)), acceptance: true, ..Watch::NOTHING }
}

/// The moves of a run: in each state the one chosen by its place in the list of those that are possible.
fn run(program: &Program, watch: Watch, choices: &[usize]) -> Vec<Move> {
    let mut state = State::watching(program, watch).expect("the initial state is sound");
    let mut path = Vec::new();
    for choice in choices {
        state = settled(program, &state);
        let (step, outcome) = moves(program, &state).successors.swap_remove(*choice);
        path.push(step);
        match outcome {
            Outcome::Reaches { state: next, .. } => state = next,
            Outcome::Broken { .. } => break,
        }
    }
    path
}

fn loops(start: usize, shows: CycleClaim) -> Claim {
    Claim::Cycle { start, shows }
}

const ACCEPTED: CycleClaim = CycleClaim { acceptance: true, ..CycleClaim::NOTHING };
const LIVELOCK: CycleClaim = CycleClaim { no_progress: true, ..CycleClaim::NOTHING };

#[test]
fn a_livelock_makes_no_progress_in_the_sense_that_is_watched() {
    let program = program(
        "bit x; active proctype P() { do :: x == 0; x = 1 :: x == 1; x = 0 od }\n\
         active proctype Q() { progress: false }",
    );
    let on = |progress: ProgressOn| Watch { progress: Some(progress), ..Watch::NOTHING };
    let path = run(&program, Watch::NOTHING, &[0; 4]);
    let judged = |watch: Watch| confirm_watching(&program, watch, &path, loops(0, LIVELOCK)).map(|trace| trace.len());
    // Somebody is at a progress label all the time, but nobody leaves one.
    assert_eq!(judged(on(ProgressOn::States)).map_err(|why| *why), Err(Disagreement::Progress { number: 1 }));
    assert_eq!(judged(on(ProgressOn::Transitions)).map_err(|why| *why), Ok(4));
}

#[test]
fn an_accepted_loop_passes_an_acceptance_label() {
    let program = program("bit x; active proctype P() { do :: x = 1; accept: x = 0 :: x = 0 od }");
    let watch = Watch { acceptance: true, ..Watch::NOTHING };
    let judged = |choices: &[usize]| {
        let path = run(&program, watch, choices);
        confirm_watching(&program, watch, &path, loops(0, ACCEPTED)).map(|_| ()).map_err(|why| *why)
    };
    assert_eq!(judged(&[0, 0]), Ok(()));
    assert_eq!(judged(&[1]), Err(Disagreement::NotAccepting));
    assert_eq!(judged(&[0]), Err(Disagreement::NoCycle));
}

#[test]
fn a_loop_is_as_fair_as_is_claimed() {
    let program = program(
        "bit x; active proctype Never() { x == 1 && x == 0 } active proctype Now() { x == 1 }\n\
         active proctype P() { do :: x = 1 - x od }",
    );
    // Only the youngest process moves; the second could every other time.
    let path = run(&program, Watch::NOTHING, &[0, 0]);
    assert!(path.iter().all(|step| step.pid == 2), "{path:?}");
    let judged = |fairness: RunFairness| {
        let claim = loops(0, CycleClaim { fairness, ..CycleClaim::NOTHING });
        confirm_watching(&program, Watch::NOTHING, &path, claim).map(|_| ()).map_err(|why| *why)
    };
    assert_eq!(judged(RunFairness::Unfair), Ok(()));
    assert_eq!(judged(RunFairness::Weak), Ok(()));
    assert_eq!(judged(RunFairness::Strong), Err(Disagreement::Unfair(1)));
}

#[test]
fn a_process_that_always_could_is_neglected() {
    let program = program("bit x; active proctype Q() { skip } active proctype P() { do :: x = 1 - x od }");
    let path = run(&program, Watch::NOTHING, &[0, 0]);
    let claim = loops(0, CycleClaim { fairness: RunFairness::Weak, ..CycleClaim::NOTHING });
    let why = confirm_watching(&program, Watch::NOTHING, &path, claim).map(|_| ()).map_err(|why| *why);
    assert_eq!(why, Err(Disagreement::Unfair(0)));
}

#[test]
fn a_loop_may_consist_of_moves_of_the_claim_alone() {
    let program = program("byte x; active proctype P() { x = 1 } never { accept: do :: x < 2 od }");
    let watch = with_claim(&program);
    // The claim, the assignment, the claim, the end, the claim, and again the claim.
    let path = run(&program, watch, &[0; 6]);
    let who: Vec<u8> = path.iter().map(|step| step.pid).collect();
    assert_eq!(who, [CLAIM_PID, 0, CLAIM_PID, 0, CLAIM_PID, CLAIM_PID]);
    let trace = confirm_watching(&program, watch, &path, loops(5, ACCEPTED)).expect("it is a loop");
    assert_eq!((trace.len(), trace.steps.len(), trace.cycle_start), (2, 6, Some(3)));
    let stuttered: Vec<bool> = trace.steps.iter().filter_map(|step| Some(step.claim.as_ref()?.stuttered)).collect();
    assert_eq!(stuttered, [false, false, false, true]);
    assert!(confirm_watching(&program, watch, &path, loops(3, ACCEPTED)).is_err(), "the system moves in between");
}

#[test]
fn a_completed_claim_is_a_fault_of_its_last_move() {
    let program = program("byte x; active proctype P() { x = 1 } never { x == 0; x == 1 }");
    let watch = with_claim(&program);
    let path = run(&program, watch, &[0; 3]);
    let trace = confirm_watching(&program, watch, &path, Claim::Fault(Fault::ClaimCompleted)).expect("it is one");
    let notes: Vec<String> = trace.steps.iter().filter_map(|step| Some(step.claim.as_ref()?.sentence())).collect();
    assert_eq!(notes, ["claim: `x == 0` is true", "claim: `x == 1` is true"]);
    assert!(confirm_watching(&program, watch, &path[..1], Claim::Fault(Fault::ClaimCompleted)).is_err());
}

#[test]
fn a_run_may_stop_where_it_is_accepted_for_ever() {
    let program = program("bit x; active proctype P() { x = 1; accept: x == 0 }");
    let watch = Watch { acceptance: true, ..Watch::NOTHING };
    let path = run(&program, watch, &[0]);
    assert!(confirm_watching(&program, watch, &path, loops(1, ACCEPTED)).is_ok());
    assert!(confirm_watching(&program, watch, &[], loops(0, ACCEPTED)).is_err(), "it can move");
    assert!(confirm_watching(&program, Watch::NOTHING, &path, loops(1, ACCEPTED)).is_err(), "nobody asks");
    let first = State::watching(&program, watch).expect("the initial state is sound");
    assert!(!stops_accepting(&program, watch, &first));
}

#[test]
fn the_moves_of_a_claim_come_in_turn_only() {
    let program = program("byte x; active proctype P() { x = 1 } never { do :: true od }");
    let watch = with_claim(&program);
    let path = run(&program, watch, &[0; 2]);
    let refused = |path: &[Move]| confirm_watching(&program, watch, path, Claim::Reaches).is_err();
    assert!(!refused(&path));
    assert!(refused(&path[1..]), "the claim moves first");
    assert!(refused(&[path[0], path[0]]), "the system has not moved");
    let state = State::watching(&program, watch).expect("the initial state is sound");
    assert_eq!(moves(&program, &state).ending, Ending::Moves);
}
