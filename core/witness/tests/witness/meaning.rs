//! Each rule of `fabius_program::meaning`, on the smallest program that shows it.

mod channels;

use super::support::*;
use fabius_program::meaning::Fault;
use fabius_program::{
    Action, BinaryOp, ChannelTest, Expr, Initial, LocationId, Pattern, Place, PrintPiece, ProcessId, Receive, Send,
    Slot, UnaryOp, VariableId,
};
use fabius_witness::{Ending, Happening, Outcome, State, ending, moves, settled};

/// A program with one process that executes one action and ends up at an end location.
fn one(build: impl FnOnce(&mut Builder) -> Action) -> Builder {
    let mut b = Builder::new();
    let action = build(&mut b);
    b.active("P", |p| {
        p.edge(0, "it", action, 1);
        p.end(1);
    });
    b
}

fn outcome(b: &Builder) -> Outcome {
    moves(&b.program, &start(&b.program)).successors.remove(0).1
}

fn reached(b: &Builder) -> State {
    outcome(b).state().expect("the step leads to a state").clone()
}

fn fault_of(build: impl FnOnce(&mut Builder) -> Action) -> Option<Fault> {
    outcome(&one(build)).fault()
}

/// The value of an expression in the initial state, through an assignment to an `int`.
fn value(build: impl FnOnce(&mut Builder) -> Expr) -> Result<i32, Fault> {
    let mut b = Builder::new();
    let expr = build(&mut b);
    let x = b.global("result", INT, 77);
    b.active("P", |p| p.edge(0, "it", set(x, expr), 1));
    match outcome(&b) {
        Outcome::Reaches { state, .. } => Ok(state.globals[x as usize][0]),
        Outcome::Broken { fault, .. } => Err(fault),
    }
}

fn bin(op: BinaryOp, left: i32, right: i32) -> Result<i32, Fault> {
    value(|_| Expr::binary(op, num(left), num(right)))
}

fn run(process: u32, arguments: Vec<Expr>) -> Expr {
    Expr::Run { process: ProcessId(process), arguments, priority: 1 }
}

#[test]
fn processes_are_tried_youngest_first_and_edges_in_order() {
    let mut b = Builder::new();
    b.active("A", |p| {
        p.edge(0, "a1", Action::Skip, 1);
        p.edge(0, "a2", Action::Skip, 1);
    });
    b.active("B", |p| p.edge(0, "b1", Action::Skip, 1));
    assert_eq!(possible(&b.program, &start(&b.program)), ["1:b1", "0:a1", "0:a2"]);
}

#[test]
fn only_the_holder_moves_until_it_cannot() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    b.active("A", |p| {
        p.atomic(0, "a1", Action::Skip, 1);
        p.atomic(1, "a2", guard(eq(g(x), num(1))), 2);
        p.edge(2, "a3", Action::Skip, 3);
    });
    b.active("B", |p| p.edge(0, "x = 1", set(x, num(1)), 1));
    let program = &b.program;
    let held = after(program, &[1]);
    assert_eq!(held.holder, Some(0));
    assert_eq!(moves(program, &held).ending, Ending::LosesControl);
    assert_eq!(possible(program, &settled(program, &held)), ["1:x = 1"]);
    let woken = after(program, &[1, 0]);
    assert_eq!(woken.holder, None);
    assert_eq!(possible(program, &woken), ["0:a2"]);
    let held_again = after(program, &[1, 0, 0]);
    assert_eq!(held_again.holder, Some(0));
    assert_eq!(after(program, &[1, 0, 0, 0]).holder, None);
}

#[test]
fn provided_keeps_a_process_from_moving_and_from_receiving() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    let q = b.channel("q", 0, &[BYTE]);
    b.active("A", |p| {
        p.edge(0, "q!1", send(q, vec![num(1)]), 1);
        p.edge(0, "x = 1", set(x, num(1)), 0);
    });
    b.active("B", |p| {
        p.provided(g(x));
        p.edge(0, "q?_", receive(q, vec![Pattern::Ignore]), 1);
        p.edge(0, "b", Action::Skip, 1);
    });
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:x = 1"]);
    assert_eq!(possible(&b.program, &after(&b.program, &[0])), ["1:b", "0:q!1&1:q?_", "0:x = 1"]);
}

#[test]
fn a_fault_in_provided_is_a_fault_of_the_first_edge() {
    let mut b = Builder::new();
    let zero = b.global("zero", BYTE, 0);
    b.active("A", |p| {
        p.provided(Expr::binary(BinaryOp::Divide, num(1), g(zero)));
        p.edge(0, "a1", Action::Skip, 1);
        p.edge(0, "a2", Action::Skip, 1);
    });
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:a1 (division by zero)"]);
}

#[test]
fn a_higher_priority_goes_first_if_it_is_enabled() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    b.active("A", |p| p.edge(0, "x = 1", set(x, num(1)), 1));
    b.active("B", |p| p.edge(0, "b", guard(g(x)), 1));
    b.active("C", |p| p.edge(0, "c", Action::Skip, 1));
    b.program.initial[1].priority = 9;
    b.program.uses.priority = true;
    assert_eq!(possible(&b.program, &start(&b.program)), ["2:c", "0:x = 1"]);
    assert_eq!(possible(&b.program, &after(&b.program, &[1])), ["1:b"]);
    b.program.uses.priority = false;
    assert_eq!(possible(&b.program, &after(&b.program, &[1])), ["2:c", "1:b"]);
}

#[test]
fn of_possible_partners_the_highest_priority_receives() {
    let mut b = Builder::new();
    let q = b.channel("q", 0, &[BYTE]);
    b.active("A", |p| p.edge(0, "q!1", send(q, vec![num(1)]), 1));
    b.active("B", |p| p.edge(0, "b", receive(q, vec![Pattern::Ignore]), 1));
    b.active("C", |p| p.edge(0, "c", receive(q, vec![Pattern::Ignore]), 1));
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:q!1&2:c", "0:q!1&1:b"]);
    b.program.initial[1].priority = 2;
    b.program.uses.priority = true;
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:q!1&1:b"]);
}

#[test]
fn after_an_escape_only_its_group_is_tried() {
    let escapes = |first: i32, second: i32| {
        let mut b = Builder::new();
        b.active("A", |p| {
            p.full_edge(0, "e1", guard(num(first)), 1, false, 1);
            p.full_edge(0, "e1 too", Action::Skip, 1, false, 1);
            p.full_edge(0, "e2", guard(num(second)), 1, false, 2);
            p.full_edge(0, "body", Action::Skip, 1, false, 0);
        });
        possible(&b.program, &start(&b.program))
    };
    assert_eq!(escapes(1, 1), ["0:e1", "0:e1 too"]);
    assert_eq!(escapes(0, 1), ["0:e1 too"]);
    let mut b = Builder::new();
    b.active("A", |p| {
        p.full_edge(0, "e1", guard(num(0)), 1, false, 1);
        p.full_edge(0, "body", Action::Skip, 1, false, 0);
        p.full_edge(0, "e2", Action::Skip, 1, false, 2);
    });
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:body", "0:e2"]);
}

#[test]
fn else_is_executable_if_nothing_before_it_is() {
    let with_guard = |value: i32| {
        let mut b = Builder::new();
        b.active("A", |p| {
            p.edge(0, "guard", guard(num(value)), 1);
            p.edge(0, "else", Action::Else, 1);
            p.edge(0, "after", Action::Skip, 1);
        });
        possible(&b.program, &start(&b.program))
    };
    assert_eq!(with_guard(1), ["0:guard", "0:after"]);
    assert_eq!(with_guard(0), ["0:else", "0:after"]);
}

#[test]
fn a_faulty_edge_counts_as_executable() {
    let mut b = Builder::new();
    b.active("A", |p| {
        p.edge(0, "1/0", guard(Expr::binary(BinaryOp::Divide, num(1), num(0))), 1);
        p.edge(0, "else", Action::Else, 1);
        p.edge(0, "timeout", guard(Expr::Timeout), 1);
    });
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:1/0 (division by zero)"]);
    assert_eq!(ending(&b.program, &start(&b.program)), Ending::Moves);
}

#[test]
fn timeout_is_true_only_if_nothing_else_moves_and_nobody_holds_control() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    b.active("A", |p| {
        p.atomic(0, "a", Action::Skip, 1);
        p.edge(1, "timeout", guard(Expr::Timeout), 2);
        p.end(2);
    });
    b.active("B", |p| {
        p.edge(0, "x = 1", set(x, num(1)), 1);
        p.edge(1, "!timeout", guard(Expr::unary(UnaryOp::Not, Expr::Timeout)), 2);
        p.end(2);
    });
    let program = &b.program;
    assert_eq!(possible(program, &start(program)), ["1:x = 1", "0:a"]);
    let held = after(program, &[1]);
    assert_eq!(moves(program, &held).ending, Ending::LosesControl);
    let both = after(program, &[0, 0]);
    assert_eq!(possible(program, &both), ["0:a"]);
    let last = settled(program, &after(program, &[0, 0, 0]));
    let found = moves(program, &last);
    assert!(found.timeout);
    assert_eq!(possible(program, &last), ["0:timeout"]);
    assert_eq!(ending(program, &after(program, &[0, 0, 0, 0])), Ending::Valid);
}

#[test]
fn a_terminal_state_is_valid_if_all_may_stop() {
    let stuck = |end: bool| {
        let mut b = Builder::new();
        b.active("A", |p| {
            p.edge(0, "false", guard(num(0)), 1);
            if end {
                p.end(0);
            }
        });
        ending(&b.program, &start(&b.program))
    };
    assert_eq!(stuck(true), Ending::Valid);
    assert_eq!(stuck(false), Ending::Invalid);
    let nothing = Builder::new();
    assert_eq!(ending(&nothing.program, &start(&nothing.program)), Ending::Valid);
}

#[test]
fn a_new_process_gets_parameters_then_locals_then_its_channels() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 5);
    let _q = b.channel("q", 1, &[BYTE]);
    let channel_type = b.channel_type(2, &[BYTE]);
    b.active("A", |p| {
        p.edge(0, "run", guard(run(1, vec![num(300), num(7)])), 1);
        p.edge(0, "run not", guard(Expr::binary(BinaryOp::Equal, run(1, vec![]), num(99))), 1);
        p.end(1);
    });
    b.process("P", |p| {
        let first = p.parameter("a", BYTE);
        p.parameter("b", BIT);
        p.local("sum", INT, Initial::Value(Expr::binary(BinaryOp::Add, l(first), g(x))));
        p.local("me", BYTE, Initial::Value(Expr::Pid));
        p.local("own", CHAN, Initial::Channel(channel_type));
        p.local("count", BYTE, Initial::Value(Expr::ProcessCount));
        p.edge(0, "-end-", Action::End, 0);
    });
    let program = &b.program;
    assert_eq!(possible(program, &start(program)), ["0:run"]);
    let Outcome::Reaches { state, events, .. } = outcome(&b) else { panic!("the step has a successor") };
    assert_eq!(state.processes[1].locals, [[44], [1], [49], [1], [2], [2]]);
    assert_eq!(state.channels.len(), 2);
    assert!(events.iter().any(|event| event.what == Happening::Created(1)));
    let ended = after(program, &[0, 0]);
    assert_eq!(ended.processes.len(), 1);
    assert_eq!(ended.channels.len(), 1);
}

#[test]
fn only_the_youngest_can_end() {
    let mut b = Builder::new();
    for name in ["A", "B"] {
        b.active(name, |p| {
            p.edge(0, "-end-", Action::End, 0);
            p.end(0);
        });
    }
    assert_eq!(possible(&b.program, &start(&b.program)), ["1:-end-"]);
    assert_eq!(possible(&b.program, &after(&b.program, &[0])), ["0:-end-"]);
    assert!(after(&b.program, &[0, 0]).processes.is_empty());
}

#[test]
fn there_are_at_most_so_many_processes() {
    let mut b = Builder::new();
    b.active("A", |p| p.edge(0, "run", guard(run(0, vec![])), 0));
    let mut state = start(&b.program);
    for _ in 1..fabius_program::PROCESSES_MAX {
        let steps = moves(&b.program, &state).successors;
        state = steps.into_iter().find_map(|(_, o)| o.state().cloned()).expect("there is room");
        state.processes[0].location = LocationId(0);
    }
    assert_eq!(moves(&b.program, &state).successors[0].1.fault(), Some(Fault::TooManyProcesses));
}

#[test]
fn a_senders_block_runs_before_the_message_is_taken() {
    let mut b = Builder::new();
    let q = b.channel("q", 0, &[BYTE]);
    let x = b.global("x", BYTE, 0);
    let y = b.global("y", BYTE, 0);
    b.active("A", |p| {
        p.edge(0, "d_step", block(vec![vec![(send(q, vec![num(1)]), Some(1))], vec![(set(x, num(4)), None)]]), 1);
    });
    b.active("B", |p| {
        p.edge(0, "q?1", Action::Merged(vec![receive(q, vec![Pattern::Match(num(1))]), set(y, g(x))]), 1);
        p.edge(0, "q?", receive(q, vec![Pattern::Match(Expr::binary(BinaryOp::Subtract, g(x), num(3)))]), 1);
    });
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:d_step&1:q?1", "0:d_step&1:q?"]);
    assert_eq!(after(&b.program, &[0]).globals[2], [4]);
}

#[test]
fn a_block_takes_the_first_executable_option() {
    let b = one(|b| {
        let x = b.global("x", BYTE, 0);
        block(vec![
            vec![(guard(num(0)), Some(1)), (guard(num(1)), Some(2)), (set(x, num(9)), None)],
            vec![(set(x, num(8)), None)],
            vec![(guard(g(x)), None), (Action::Else, Some(3))],
            vec![(set(x, num(5)), None)],
        ])
    });
    assert_eq!(reached(&b).globals[0], [5]);
}

#[test]
fn an_else_at_the_beginning_of_a_block_speaks_of_the_edges_before() {
    let with_guard = |value: i32| {
        let mut b = Builder::new();
        b.active("A", |p| {
            p.edge(0, "guard", guard(num(value)), 1);
            p.edge(0, "d_step { else }", block(vec![vec![(Action::Else, None)]]), 1);
            p.edge(0, "d_step { if", block(vec![vec![(guard(num(0)), None), (Action::Else, None)]]), 1);
        });
        possible(&b.program, &start(&b.program))
    };
    assert_eq!(with_guard(1), ["0:guard", "0:d_step { if"]);
    assert_eq!(with_guard(0), ["0:d_step { else }", "0:d_step { if"]);
}

#[test]
fn a_block_must_not_block_or_go_on_for_ever() {
    assert_eq!(
        fault_of(|_| block(vec![vec![(Action::Skip, Some(1))], vec![(guard(num(0)), None)]])),
        Some(Fault::BlockedInside)
    );
    assert_eq!(fault_of(|_| block(vec![vec![(Action::Skip, Some(0))]])), Some(Fault::EndlessBlock));
    let blocked = one(|_| block(vec![vec![(guard(num(0)), None)]]));
    assert_eq!(ending(&blocked.program, &start(&blocked.program)), Ending::Invalid);
}

#[test]
fn an_assertion_inside_a_block_fails_but_the_block_goes_on() {
    let b = one(|b| {
        let x = b.global("x", BYTE, 0);
        block(vec![vec![(Action::Assert(num(0)), Some(1))], vec![(set(x, num(1)), None)]])
    });
    assert_eq!(outcome(&b).fault(), Some(Fault::AssertionFailed));
    assert_eq!(reached(&b).globals[0], [1]);
}

#[test]
fn later_actions_of_a_merged_step_do_not_wait() {
    let b = one(|b| {
        let x = b.global("x", BYTE, 0);
        Action::Merged(vec![set(x, num(1)), guard(num(0)), set(x, Expr::binary(BinaryOp::Add, g(x), num(1)))])
    });
    assert_eq!(reached(&b).globals[0], [2]);
    let blocked = one(|_| Action::Merged(vec![guard(num(0)), Action::Skip]));
    assert_eq!(ending(&blocked.program, &start(&blocked.program)), Ending::Invalid);
}

#[test]
fn a_failed_assertion_changes_nothing_but_the_location() {
    let b = one(|_| Action::Assert(num(0)));
    assert_eq!(outcome(&b).fault(), Some(Fault::AssertionFailed));
    assert_eq!(reached(&b).processes[0].location, LocationId(1));
}

#[test]
fn two_executable_edges_of_a_deterministic_process_are_a_fault() {
    let mut b = Builder::new();
    b.active("A", |p| {
        p.deterministic();
        p.edge(0, "one", Action::Skip, 1);
        p.edge(0, "not", guard(num(0)), 1);
        p.edge(0, "two", Action::Skip, 1);
    });
    let expected = format!("0:two ({})", Fault::NotDeterministic);
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:one", expected.as_str()]);
}

#[test]
fn priorities_can_be_set() {
    let set_to = |pid: i32, priority: i32| {
        let b = one(|_| Action::SetPriority(num(pid), num(priority)));
        outcome(&b)
    };
    assert_eq!(set_to(0, 7).state().expect("it is possible").processes[0].priority, 7);
    assert_eq!(set_to(0, 0).fault(), Some(Fault::PriorityOutOfRange(0)));
    assert_eq!(set_to(0, 256).fault(), Some(Fault::PriorityOutOfRange(256)));
    assert_eq!(set_to(3, 256).fault(), None);
}

#[test]
fn arithmetic_wraps_and_division_truncates() {
    assert_eq!(bin(BinaryOp::Add, i32::MAX, 1), Ok(i32::MIN));
    assert_eq!(bin(BinaryOp::Divide, -7, 2), Ok(-3));
    assert_eq!(bin(BinaryOp::Remainder, -7, 2), Ok(-1));
    assert_eq!(bin(BinaryOp::Divide, i32::MIN, -1), Ok(i32::MIN));
    assert_eq!(bin(BinaryOp::Divide, 1, 0), Err(Fault::DivisionByZero));
    assert_eq!(bin(BinaryOp::Remainder, 1, 0), Err(Fault::DivisionByZero));
    assert_eq!(bin(BinaryOp::ShiftLeft, 1, 33), Ok(2));
    assert_eq!(bin(BinaryOp::ShiftRight, -8, 1), Ok(-4));
    assert_eq!(bin(BinaryOp::Less, -1, 0), Ok(1));
}

#[test]
fn only_what_decides_is_evaluated() {
    let broken = || Expr::binary(BinaryOp::Divide, num(1), num(0));
    assert_eq!(value(|_| Expr::binary(BinaryOp::And, num(0), broken())), Ok(0));
    assert_eq!(value(|_| Expr::binary(BinaryOp::Or, num(3), broken())), Ok(1));
    assert_eq!(value(|_| Expr::Conditional(Box::new(num(1)), Box::new(num(4)), Box::new(broken()))), Ok(4));
    assert_eq!(value(|_| Expr::binary(BinaryOp::And, num(1), broken())), Err(Fault::DivisionByZero));
}

#[test]
fn elements_are_laid_out_with_the_last_index_fastest() {
    let element = |first: i32, second: i32| {
        value(|b| {
            let list = (0..6).map(|n| num(10 + n)).collect();
            b.variable("m", BYTE, vec![2, 3], Initial::List(list));
            let indices = vec![num(first), num(second)];
            Expr::Load(Place { slot: Slot::Global(VariableId(0)), indices })
        })
    };
    assert_eq!(element(1, 0), Ok(13));
    assert_eq!(element(1, 3), Err(Fault::IndexOutOfRange { index: 3, length: 3 }));
    assert_eq!(element(-1, 0), Err(Fault::IndexOutOfRange { index: -1, length: 2 }));
}

#[test]
fn a_rendezvous_channel_is_empty_and_never_full() {
    let test = |capacity: u32, test: ChannelTest| {
        value(|b| {
            let q = b.channel("q", capacity, &[BYTE]);
            Expr::Test(test, Box::new(g(q)))
        })
    };
    use ChannelTest::{Empty, Full, NotEmpty, NotFull};
    assert_eq!([Full, NotFull, Empty, NotEmpty].map(|t| test(0, t)), [Ok(0), Ok(1), Ok(1), Ok(0)]);
    assert_eq!([Full, NotFull, Empty, NotEmpty].map(|t| test(1, t)), [Ok(0), Ok(1), Ok(1), Ok(0)]);
}

#[test]
fn other_processes_can_be_asked_about() {
    let mut b = Builder::new();
    let x = b.variable("x", INT, vec![8], Initial::Value(num(-7)));
    b.active("A", |p| {
        p.edge(0, "a", Action::Skip, 1);
    });
    b.active("B", |p| {
        p.local("secret", BYTE, Initial::Value(num(42)));
        p.edge(0, "never", guard(num(0)), 1);
    });
    let remote = |process: u32, pid: Option<i32>| Expr::Remote {
        process: ProcessId(process),
        pid: pid.map(|pid| Box::new(num(pid))),
        variable: VariableId(0),
        indices: vec![],
    };
    let at_start = |process: u32, pid: Option<i32>| Expr::At {
        process: ProcessId(process),
        pid: pid.map(|pid| Box::new(num(pid))),
        location: LocationId(0),
    };
    let asked = [
        remote(1, None),
        remote(1, Some(1)),
        remote(1, Some(0)),
        at_start(0, None),
        at_start(0, Some(9)),
        Expr::Enabled(Box::new(num(0))),
        Expr::Enabled(Box::new(num(1))),
        Expr::LocationOf(Box::new(num(9))),
    ];
    let all = asked.into_iter().enumerate().map(|(i, e)| Action::Assign(g_at(x, num(i as i32)), e)).collect();
    b.active("C", |p| p.edge(0, "ask", Action::Merged(all), 1));
    assert_eq!(after(&b.program, &[0]).globals[0], [42, 42, 0, 1, 0, 1, 0, 0]);
}

#[test]
fn enabled_of_itself_is_a_fault() {
    assert_eq!(value(|_| Expr::Enabled(Box::new(Expr::Pid))), Err(Fault::EnabledOfSelf));
    let mut b = Builder::new();
    for (name, other) in [("A", 1), ("B", 0)] {
        b.active(name, |p| p.edge(0, name, guard(Expr::Enabled(Box::new(num(other)))), 1));
    }
    assert_eq!(possible(&b.program, &start(&b.program)), ["1:B", "0:A"]);
}

#[test]
fn hidden_variables_do_not_distinguish_states() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    b.program.globals[x as usize].hidden = true;
    b.active("A", |p| p.edge(0, "x = 1", set(x, num(1)), 0));
    let (one, two) = (start(&b.program), after(&b.program, &[0]));
    assert_ne!(one, two);
    assert_eq!(one.visible(&b.program), two.visible(&b.program));
}

#[test]
fn printed_text_is_kept() {
    let b = one(|_| {
        Action::Print(vec![
            PrintPiece::Text("x=".into()),
            PrintPiece::Decimal(num(-1)),
            PrintPiece::Hex(num(255)),
            PrintPiece::Octal(num(8)),
            PrintPiece::Character(num(65)),
            PrintPiece::Unsigned(num(-1)),
        ])
    });
    let Outcome::Reaches { events, .. } = outcome(&b) else { panic!("the step has a successor") };
    assert_eq!(events[0].what, Happening::Printed("x=-1ff10A4294967295".into()));
}
