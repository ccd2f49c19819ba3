//! Claims, event traces and marks: turns, stuttering, what is refused.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use super::support;
use fabius_machine::{Ending, Machine, ProgressOn, Refusal, Step, Watch};
use fabius_program::meaning::Fault;
use fabius_program::{Action, CLAIM_PID, Expr, Process, ProcessId, ProcessKind, Program, StepMarks};
use std::path::Path;
use std::sync::Arc;

fn program(text: &str) -> Program {
    support::program("test.pml", text, Path::new("."), fabius_promela::Options::NONE).unwrap()
}

fn of_kind(program: &Program, kinds: &[ProcessKind]) -> Option<ProcessId> {
    let is_of_kind = |process: &Process| kinds.contains(&process.kind);
    program.processes.iter().position(is_of_kind).map(|id| ProcessId(id as u32))
}

/// A machine that watches everything there is to watch, progress on states.
fn watching(text: &str) -> Machine {
    let program = program(text);
    let watch = Watch {
        claim: of_kind(&program, &[ProcessKind::Claim]),
        trace: of_kind(&program, &[ProcessKind::Trace, ProcessKind::NoTrace]),
        progress: Some(ProgressOn::States),
        acceptance: true,
    };
    Machine::watching(Arc::new(program), watch).unwrap()
}

fn successors(machine: &mut Machine, state: &[u32]) -> (Vec<(Step, Vec<u32>)>, Ending) {
    let mut cursor = machine.begin(state);
    let mut found = Vec::new();
    loop {
        let mut successor = Vec::new();
        match machine.next(state, &mut cursor, &mut successor) {
            Step::Done(ending) => return (found, ending),
            step => found.push((step, successor)),
        }
    }
}

/// The only successor of a state: who moved, whether it is passed through, the marks, the words.
fn only(machine: &mut Machine, state: &[u32]) -> (Option<u8>, bool, StepMarks, Vec<u32>) {
    let (mut found, _) = successors(machine, state);
    assert_eq!(found.len(), 1, "{found:?}");
    match found.remove(0) {
        (Step::Successor { label, transient, marks, fault: None }, words) => {
            (label.map(|label| label.pid), transient, marks, words)
        }
        other => panic!("{other:?}"),
    }
}

fn initial(machine: &mut Machine) -> Vec<u32> {
    let mut state = Vec::new();
    machine.initial(&mut state).unwrap();
    state
}

#[test]
fn claim_and_system_take_turns_and_the_claim_goes_on_alone() {
    let mut machine = watching("byte x; active proctype P() { x = 1 } never { do :: true od }");
    let mut state = initial(&mut machine);
    let mut movers = Vec::new();
    for _ in 0..7 {
        let (mover, transient, _, next) = only(&mut machine, &state);
        movers.push((mover, transient));
        assert_eq!(machine.view(&next).unwrap().is_claims_turn(), mover != Some(CLAIM_PID));
        state = next;
    }
    let claim = (Some(CLAIM_PID), true);
    // The assignment, the end, and then nothing moves any more.
    let expected = [claim, (Some(0), false), claim, (Some(0), false), claim, (None, false), claim];
    assert_eq!(movers, expected);
}

#[test]
fn a_claim_that_cannot_move_is_no_invalid_end() {
    let mut machine = watching("byte x; active proctype P() { x == 1 } never { x == 1 }");
    let state = initial(&mut machine);
    let (found, ending) = successors(&mut machine, &state);
    assert_eq!((found.len(), ending), (0, Ending::ValidEnd));
}

#[test]
fn a_claim_at_its_end_is_a_fault_even_at_the_start() {
    let mut machine = watching("byte x; active proctype P() { x = 1 } never { x == 0 }");
    let state = initial(&mut machine);
    let (found, _) = successors(&mut machine, &state);
    assert!(matches!(found[0].0, Step::Broken { fault: Fault::ClaimCompleted, label } if label.pid == CLAIM_PID));
    let mut machine = watching("byte x; active proctype P() { x = 1 } never { end: x == 5 }");
    assert_eq!(machine.initial(&mut Vec::new()), Err(Fault::ClaimCompleted));
}

#[test]
fn what_is_not_watched_takes_no_room() {
    let text = "byte x; active proctype P() { x = 1 } never { do :: x == 1 od } ";
    let mut plain = Machine::new(Arc::new(program(text))).unwrap();
    let mut watched = watching(text);
    let (plain_state, watched_state) = (initial(&mut plain), initial(&mut watched));
    assert!(plain_state.len() < watched_state.len());
    let view = plain.view(&plain_state).unwrap();
    assert_eq!((view.claim_location(), view.trace_location(), view.is_claims_turn()), (None, None, false));
}

#[test]
fn marks_stand_on_the_steps_to_a_label_or_from_it() {
    let text = "bit x; active proctype P() { do :: x = 0; progress: x = 1; accept: x = 0 od }";
    let marks_along = |progress: ProgressOn| {
        let watch = Watch { progress: Some(progress), acceptance: true, ..Watch::NOTHING };
        let mut machine = Machine::watching(Arc::new(program(text)), watch).unwrap();
        let mut state = initial(&mut machine);
        let mut seen = Vec::new();
        for _ in 0..3 {
            let (_, _, marks, next) = only(&mut machine, &state);
            seen.push((marks.progress, marks.accepting));
            state = next;
        }
        seen
    };
    assert_eq!(marks_along(ProgressOn::States), [(true, false), (false, true), (false, false)]);
    assert_eq!(marks_along(ProgressOn::Transitions), [(false, false), (true, true), (false, false)]);
}

#[test]
fn a_state_that_is_passed_through_has_no_marks() {
    let text = "bit x; active proctype P() { do :: atomic { x = 0; progress: x = 1; accept: x = 0; x = 1 } od }";
    let mut machine = watching(text);
    let mut state = initial(&mut machine);
    for step in 0..8 {
        let (_, transient, marks, next) = only(&mut machine, &state);
        assert_eq!((transient, marks), (step % 4 != 3, StepMarks::NONE));
        state = next;
    }
}

#[test]
fn a_stop_at_an_acceptance_label_lasts_for_ever() {
    let mut machine = watching("bit x; active proctype P() { accept: x == 1 }");
    let state = initial(&mut machine);
    let (found, ending) = successors(&mut machine, &state);
    let [(Step::Successor { label: None, transient: false, marks, .. }, next)] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(marks.accepting);
    assert_eq!((next, ending), (&state, Ending::InvalidEnd));
}

#[test]
fn who_is_enabled_has_a_step_of_its_own() {
    let text = "chan q = [0] of { bit }; bit x;\n\
        active proctype A() { q!1 } active proctype B() { q?_ } active proctype C() { x == 1 }\n\
        active proctype D() provided (x == 1) { skip } active proctype E() { timeout }";
    let mut machine = Machine::new(Arc::new(program(text))).unwrap();
    let state = initial(&mut machine);
    let mut enabled = Vec::new();
    machine.enabled(&state, &mut |pid| enabled.push(pid));
    assert_eq!(enabled, [0]);
    let mut alone = Machine::new(Arc::new(program("bit x; active proctype E() { timeout }"))).unwrap();
    let state = initial(&mut alone);
    alone.enabled(&state, &mut |pid| enabled.push(pid));
    assert_eq!(enabled, [0, 0], "nothing else can move");
}

#[test]
fn a_trace_that_matches_twice_is_a_fault() {
    let text = "chan q = [1] of { byte }; active proctype P() { q!1 }\n\
        trace { do :: q!1 :: q!_ -> q!2 od }";
    let mut machine = watching(text);
    let state = initial(&mut machine);
    let (found, _) = successors(&mut machine, &state);
    assert!(matches!(found[0].0, Step::Broken { fault: Fault::TraceAmbiguous, .. }), "{found:?}");
}

#[test]
fn a_process_is_watched_only_as_what_it_is() {
    let text = "chan q = [1] of { byte }; byte x; active proctype P() { q!1; q?x } never { true; true } trace { q!1 }";
    let refused = |change: &dyn Fn(&mut Program), watch: Watch| {
        let mut program = program(text);
        change(&mut program);
        Machine::watching(Arc::new(program), watch).map(|_| ()).unwrap_err()
    };
    let claim = |id: u32| Watch { claim: Some(ProcessId(id)), ..Watch::NOTHING };
    let trace = |id: u32| Watch { trace: Some(ProcessId(id)), ..Watch::NOTHING };
    for watch in [claim(0), claim(2), claim(9), trace(0), trace(1), trace(9)] {
        assert!(matches!(refused(&|_| {}, watch), Refusal::Malformed(_)), "{watch:?}");
    }
    let sends = |program: &mut Program| {
        let send = program.processes[0].statements.iter().find(|s| matches!(s.action, Action::Send(_)));
        program.processes[1].statements[0].action = send.unwrap().action.clone();
    };
    assert_eq!(refused(&sends, claim(1)), Refusal::Malformed("a claim sends"));
    let runs = |program: &mut Program| {
        let run = Expr::Run { process: ProcessId(0), arguments: Vec::new(), priority: 1 };
        program.processes[1].statements[0].action = Action::Guard(run);
    };
    assert_eq!(refused(&runs, claim(1)), Refusal::Malformed("a claim creates a process"));
    let declares = |program: &mut Program| {
        let variable = program.globals[1].clone();
        program.processes[2].locals.push(variable);
    };
    assert_eq!(refused(&declares, trace(2)), Refusal::Malformed("an event trace has variables"));
}
