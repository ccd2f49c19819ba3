//! The rules of the meaning one by one: order, faults, loss of control, and what the words of a state say.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod built;

use super::support::machine;
use fabius_machine::{Ending, Machine, Refusal, Step};
use fabius_program::meaning::Fault;
use fabius_program::{
    Action, BinaryOp, Block, BlockExit, BlockNode, BlockOption, ChannelType, ChannelTypeId, Edge, EdgeId, Expr,
    Initial, Instance, Kind, Location, LocationId, Move, Pattern, Place, Process, ProcessId, Program, Receive, Send,
    Slot, Statement, StatementId, Type, Uses, Variable, VariableId,
};
use std::sync::Arc;

/// All successors of a state, and how it ends.
fn successors(machine: &mut Machine, state: &[u32]) -> (Vec<(Step, Vec<u32>)>, Ending) {
    let mut cursor = machine.begin(state);
    let mut all = Vec::new();
    let mut successor = Vec::new();
    loop {
        match machine.next(state, &mut cursor, &mut successor) {
            Step::Done(ending) => {
                assert_eq!(machine.next(state, &mut cursor, &mut successor), Step::Done(ending), "it stays done");
                return (all, ending);
            }
            step => all.push((step, successor.clone())),
        }
    }
}

fn initial(machine: &mut Machine) -> Vec<u32> {
    let mut state = Vec::new();
    machine.initial(&mut state).unwrap();
    state
}

/// Follows first successors to the end; all steps on the way, and the last state.
fn run(machine: &mut Machine) -> (Vec<Step>, Vec<u32>, Ending) {
    let mut state = initial(machine);
    let mut steps = Vec::new();
    for _ in 0..100_000 {
        let (all, ending) = successors(machine, &state);
        match all.into_iter().next() {
            None => return (steps, state, ending),
            Some((step @ Step::Broken { .. }, _)) => {
                steps.push(step);
                return (steps, state, ending);
            }
            Some((step, next)) => {
                steps.push(step);
                state = next;
            }
        }
    }
    panic!("no end in sight");
}

/// The fault that ends the run of first successors.
fn fault_of(text: &str) -> Fault {
    match run(&mut machine(text)).0.last() {
        Some(Step::Broken { fault, .. }) => *fault,
        other => panic!("{other:?}"),
    }
}

fn text_of(machine: &Machine, edge: EdgeId) -> String {
    let program = machine.program();
    program.statement(program.process_of(edge), edge).text.clone()
}

/// The steps from the initial state, as text: who, what, and the partner.
fn labels(machine: &mut Machine) -> Vec<String> {
    let state = initial(machine);
    labels_from(machine, &state)
}

fn labels_from(machine: &mut Machine, state: &[u32]) -> Vec<String> {
    let (all, _) = successors(machine, state);
    all.iter()
        .map(|(step, _)| match *step {
            Step::Successor { label: Some(Move { pid, edge, partner: None }), .. } => {
                format!("{pid}: {}", text_of(machine, edge))
            }
            Step::Successor { label: Some(Move { pid, edge, partner: Some((other, at)) }), .. } => {
                format!("{pid}: {} | {other}: {}", text_of(machine, edge), text_of(machine, at))
            }
            other => format!("{other:?}"),
        })
        .collect()
}

/// Values of the global with a number.
fn global(machine: &Machine, state: &[u32], variable: u32) -> Vec<i32> {
    machine.view(state).unwrap().global(VariableId(variable))
}

fn id(machine: &Machine, name: &str) -> VariableId {
    VariableId(machine.program().globals.iter().position(|variable| variable.name == name).unwrap() as u32)
}

/// Values of the global with a name.
fn named(machine: &Machine, state: &[u32], name: &str) -> Vec<i32> {
    machine.view(state).unwrap().global(id(machine, name))
}

// ---- Order ----

#[test]
fn the_youngest_comes_first_and_edges_in_order() {
    let mut machine = machine("byte x; active [2] proctype P() { if :: x = 1 :: x == 9 :: x = 2 fi }");
    assert_eq!(labels(&mut machine), ["1: x = 1", "1: x = 2", "0: x = 1", "0: x = 2"]);
}

#[test]
fn partners_come_youngest_first_and_each_has_its_edges() {
    let mut machine = machine(
        "chan c = [0] of { byte }; active [2] proctype R() { byte v; if :: c?v :: c?eval(7) :: c?5 fi }
         active proctype S() { c!5 }",
    );
    assert_eq!(labels(&mut machine), ["2: c!5 | 1: c?v", "2: c!5 | 1: c?5", "2: c!5 | 0: c?v", "2: c!5 | 0: c?5"]);
}

#[test]
fn cursors_of_different_states_do_not_disturb_each_other() {
    let text = "chan c = [0] of { byte }; byte x; active [3] proctype R() { byte v; do :: c?v :: x < 2 -> x++ od }
                active [2] proctype S() { do :: c!1 :: c!2 od }";
    let mut machine = machine(text);
    let first = initial(&mut machine);
    let expected_first = successors(&mut machine, &first).0;
    let second = expected_first.last().unwrap().1.clone();
    let expected_second = successors(&mut machine, &second).0;
    let (mut a, mut b) = (machine.begin(&first), machine.begin(&second));
    let (mut from_first, mut from_second, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..100 {
        let step = machine.next(&first, &mut a, &mut out);
        from_first.push((step, out.clone()));
        let step = machine.next(&second, &mut b, &mut out);
        from_second.push((step, out.clone()));
    }
    assert_eq!(from_first[..expected_first.len()], expected_first);
    assert_eq!(from_second[..expected_second.len()], expected_second);
    assert!(matches!(from_first[expected_first.len()].0, Step::Done(_)));
}

#[test]
fn a_clone_understands_the_same_states() {
    let text = "proctype C() { byte v = 3; v = 4 } proctype D() { chan q = [2] of { byte }; q!7 }
                init { if :: run C() :: run D() fi; run C() }";
    let mut machine = machine(text);
    let mut fresh = machine.clone();
    let mut open = vec![initial(&mut machine)];
    for _ in 0..200 {
        let Some(state) = open.pop() else { break };
        let all = successors(&mut machine, &state);
        assert_eq!(all, successors(&mut fresh, &state));
        open.extend(all.0.into_iter().map(|(_, next)| next));
    }
}

// ---- Control ----

#[test]
fn a_holder_that_blocks_loses_control_without_a_step() {
    let mut machine =
        machine("byte x; active proctype Q() { x = 5 } active proctype P() { atomic { x = 1; x == 2; x = 3 } }");
    let state = initial(&mut machine);
    let (all, _) = successors(&mut machine, &state);
    let (Step::Successor { transient: true, label: Some(_), fault: None, .. }, inside) = &all[0] else {
        panic!("{all:?}")
    };
    assert_eq!(machine.view(inside).unwrap().holder(), Some(1));
    let (after, ending) = successors(&mut machine, inside);
    assert_eq!(ending, Ending::Moves);
    let [(Step::Successor { label: None, transient: false, fault: None, .. }, outside)] = &after[..] else {
        panic!("{after:?}")
    };
    assert_eq!(machine.view(outside).unwrap().holder(), None);
    let (next, _) = successors(&mut machine, outside);
    assert_eq!(next.len(), 1, "only the other one can move");
}

#[test]
fn a_receiver_in_an_atomic_holds_control_and_the_sender_does_not() {
    let mut machine = machine(
        "chan c = [0] of { byte }; active proctype R() { byte v; atomic { c?v; v = 2; v = 3 } }
         active proctype S() { atomic { c!1; skip; skip } }",
    );
    let state = initial(&mut machine);
    let (all, _) = successors(&mut machine, &state);
    assert_eq!(all.len(), 1);
    assert_eq!(machine.view(&all[0].1).unwrap().holder(), Some(0));
    assert_eq!(machine.view(&all[0].1).unwrap().local(0, VariableId(0)), [1]);
}

// ---- Ends ----

#[test]
fn ends_are_valid_where_everybody_may_stop() {
    let ending = |text| run(&mut machine(text)).2;
    assert_eq!(ending("active proctype P() { skip }"), Ending::ValidEnd);
    assert_eq!(ending("active proctype P() { false }"), Ending::InvalidEnd);
    assert_eq!(ending("active proctype P() { end_here: false }"), Ending::ValidEnd);
    assert_eq!(ending("active proctype P() { skip } active proctype Q() { end: false }"), Ending::ValidEnd);
}

#[test]
fn a_process_that_ends_frees_its_place_when_the_younger_ones_have() {
    let mut machine = machine("active proctype A() { skip } active proctype B() { byte v; v = 1 }");
    let (_, state, ending) = run(&mut machine);
    assert_eq!((machine.process_count(&state), ending), (0, Ending::ValidEnd));
}

// ---- Faults ----

#[test]
fn what_cannot_be_computed_is_a_fault() {
    assert_eq!(fault_of("int x; active proctype P() { x = 5 / x }"), Fault::DivisionByZero);
    assert_eq!(fault_of("int x; active proctype P() { 5 % x == 0 }"), Fault::DivisionByZero);
    let index = |index, length| Fault::IndexOutOfRange { index, length };
    assert_eq!(fault_of("byte a[3]; int i = 3; active proctype P() { i++; a[i] = 1 }"), index(4, 3));
    assert_eq!(fault_of("byte a[3]; int i; active proctype P() { i--; a[i] == 1 }"), index(-1, 3));
    assert_eq!(fault_of("byte a[3]; active proctype P() { byte b; b = a[a[0] + 3] }"), index(3, 3));
    assert_eq!(fault_of("chan d = [1] of { byte }; chan c; active proctype P() { c!1; d!1 }"), Fault::NoChannel);
    assert_eq!(fault_of("byte x; active proctype P() { d_step { x = 1; x == 2 } }"), Fault::BlockedInside);
    assert_eq!(fault_of("byte x; active proctype P() { d_step { x = 1; do :: x = 3 - x od } }"), Fault::EndlessBlock);
    assert_eq!(fault_of("init { do :: run P() od } proctype P() { false }"), Fault::TooManyProcesses);
    assert_eq!(
        fault_of("init { do :: run P() od } proctype P() { chan c[9] = [1] of { bit }; c[0]!1; false }"),
        Fault::TooManyChannels
    );
    let dead = "chan box = [1] of { chan }; proctype P() { chan c = [1] of { bit }; box!c }
                init { chan d; run P(); box?d; (_nr_pr == 1); d!1 }";
    assert_eq!(fault_of(dead), Fault::DeadChannel(2));
    let fields = "chan a = [1] of { byte, byte }; chan b = [1] of { byte }; active proctype P() { chan c; c = b; c!1; c = a; c!1 }";
    assert_eq!(fault_of(fields), Fault::FieldCount { given: 1, expected: 2 });
}

#[test]
fn a_failed_assertion_is_a_step_all_the_same() {
    let mut machine = machine("byte x = 3; active proctype P() { assert(x == 4); x = 5 }");
    let (steps, state, ending) = run(&mut machine);
    assert!(matches!(steps[0], Step::Successor { fault: Some(Fault::AssertionFailed), transient: false, .. }));
    assert_eq!((named(&machine, &state, "x"), ending), (vec![5], Ending::ValidEnd));
}

#[test]
fn a_faulty_guard_counts_as_executable() {
    let mut machine = machine("int z; active proctype P() { if :: 1 / z == 0 :: else -> z = 9 fi }");
    let state = initial(&mut machine);
    let (all, ending) = successors(&mut machine, &state);
    assert!(matches!(all[..], [(Step::Broken { fault: Fault::DivisionByZero, .. }, _)]), "{all:?}");
    assert_eq!(ending, Ending::Moves);
}

// ---- Words ----

#[test]
fn hidden_globals_are_at_the_end() {
    let mut machine =
        machine("hidden int h; byte x; proctype P() { h = h + 1; x = 1 } init { h = 5; run P(); h = h * 2; x = 2 }");
    assert_eq!(machine.hidden_words(), 1);
    let (_, state, _) = run(&mut machine);
    assert_eq!(named(&machine, &state, "h"), [*state.last().unwrap() as i32]);
    assert_eq!(named(&machine, &state, "h"), [12]);
    assert_eq!(named(&machine, &state, "x"), [2]);
}

#[test]
fn a_view_gives_back_what_was_stored() {
    let mut machine = machine(
        "mtype = { red, green }; byte fixed = 7; short s[3]; chan c = [2] of { mtype, int, bit };
         active proctype P() { bool b; int i = -5; byte a[2]; s[1] = -300; c!green,-123456,1; c!red,99,0; b = true; a[1] = 255; i = i - 1; false }",
    );
    let (_, state, ending) = run(&mut machine);
    assert_eq!(ending, Ending::InvalidEnd);
    let view = machine.view(&state).unwrap();
    assert_eq!(view.global(id(&machine, "fixed")), [7]);
    assert_eq!(view.global(id(&machine, "s")), [0, -300, 0]);
    assert_eq!(view.channel_count(), 1);
    let constants = machine.program().enumerations[0].constants.clone();
    let number = |name: &str| constants.iter().find(|(_, n)| n == name).unwrap().0;
    assert_eq!(view.channel(1).unwrap().messages, [[number("green"), -123_456, 1], [number("red"), 99, 0]]);
    assert!(view.channel(0).is_none() && view.channel(2).is_none());
    assert_eq!((view.local(0, VariableId(0)), view.local(0, VariableId(1))), (vec![1], vec![-6]));
    assert_eq!(view.local(0, VariableId(2)), [0, 255]);
    assert_eq!((view.process_count(), view.process_of(0)), (1, Some(ProcessId(0))));
    assert_eq!(view.location_of(0), machine.location_of(&state, 0));
    assert_eq!((view.priority_of(0), view.last(), view.holder()), (Some(1), None, None));
}

#[test]
fn edges_are_marked_when_they_are_executed() {
    let mut machine = machine("byte x; active proctype P() { if :: x == 0 -> x = 1 :: x == 5 -> x = 2 fi }");
    run(&mut machine);
    let reached: Vec<String> = (0..machine.program().edges.len() as u32)
        .filter(|&e| machine.reached(EdgeId(e)))
        .map(|e| text_of(&machine, EdgeId(e)))
        .collect();
    assert!(reached.contains(&"x == 0".to_string()) && reached.contains(&"x = 1".to_string()), "{reached:?}");
    assert!(!reached.contains(&"x == 5".to_string()) && !reached.contains(&"x = 2".to_string()), "{reached:?}");
}

#[test]
fn words_that_are_no_state_do_no_harm() {
    let mut machine = machine(
        "chan c = [3] of { byte, int }; byte a[5]; proctype P(byte v) { chan d = [2] of { byte }; d!v; c?v,_ }
         init { byte i; do :: i < 5 -> run P(i); c!i,i; a[i] = i; i++ :: else -> break od }",
    );
    let state = initial(&mut machine);
    let mut seed = 12345u64;
    let mut out = Vec::new();
    let mut known = vec![state];
    for round in 0..20_000 {
        let mut words = known[round % known.len()].clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % words.len();
            words[at] ^= 1 << ((seed >> 20) & 31);
        }
        if seed & 7 == 0 {
            words.truncate((seed >> 40) as usize % (words.len() + 1));
        }
        let mut cursor = machine.begin(&words);
        for _ in 0..50 {
            if matches!(machine.next(&words, &mut cursor, &mut out), Step::Done(_)) {
                break;
            }
            if known.len() < 500 {
                known.push(out.clone());
            }
        }
        let _ = machine.view(&words).map(|view| view.channel(1));
    }
}

#[test]
fn automata_that_never_run_do_no_harm() {
    let mut machine = machine(
        "byte x; active proctype P() { x = 1 } proctype Unused(byte a) { chan c = [1] of { byte }; c!a; c?a }
         never { do :: x == 1 -> break :: else od }",
    );
    let state = initial(&mut machine);
    assert_eq!(labels_from(&mut machine, &state), ["0: x = 1"]);
}

#[test]
fn conditions_are_evaluated_on_states() {
    let mut machine = machine("byte x; byte a[3]; active proctype P() { byte v; v = 4; x = 2; L: a[x] = 6; false }");
    let (_, state, _) = run(&mut machine);
    let first = initial(&mut machine);
    let (x, a) = (id(&machine, "x"), id(&machine, "a"));
    let load = |v, indices| Expr::Load(Place { slot: Slot::Global(v), indices });
    let equals = |e, k| Expr::binary(BinaryOp::Equal, e, Expr::Constant(k));
    let remote = Expr::Remote { process: ProcessId(0), pid: None, variable: VariableId(0), indices: vec![] };
    let both = Expr::binary(BinaryOp::And, equals(load(a, vec![load(x, vec![])]), 6), equals(remote, 4));
    let condition = machine.condition(&both).unwrap();
    assert_eq!(machine.holds(&state, condition), Ok(true));
    assert_eq!(machine.holds(&first, condition), Ok(false));
    let faulty = machine.condition(&equals(load(a, vec![Expr::Constant(3)]), 0)).unwrap();
    assert_eq!(machine.holds(&state, faulty), Err(Fault::IndexOutOfRange { index: 3, length: 3 }));
    assert_eq!(machine.holds(&state, condition), Ok(true), "the first is still good");
    let runs = Expr::Run { process: ProcessId(0), arguments: vec![], priority: 1 };
    assert!(matches!(machine.condition(&runs), Err(Refusal::Malformed(_))));
    let unknown = Expr::Remote { process: ProcessId(0), pid: None, variable: VariableId(7), indices: vec![] };
    assert!(matches!(machine.condition(&equals(unknown, 4)), Err(Refusal::Malformed(_))));
    assert_eq!(machine.holds(&state, condition), Ok(true), "what was refused changed nothing");
}
