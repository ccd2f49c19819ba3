//! Confirming paths, and how a trace reads.

use super::support::*;
use fabius_program::meaning::Fault;
use fabius_program::{Action, BinaryOp, EnumId, Enumeration, Expr, Kind, Pattern, PrintPiece, ProcessId, Type, Watch};
use fabius_witness::diagram::{self, Diagram};
use fabius_witness::format::text::{self, Layout, Line};
use fabius_witness::format::{json, trail};
use fabius_witness::{Cause, Claim, CycleClaim, Disagreement, Reason, Refusal, Trace, confirm, shorten};
use std::sync::Arc;

fn confirmed(b: &Builder, path: &[fabius_program::Move], claim: Claim) -> Trace {
    confirm(&Arc::new(b.program.clone()), path, claim).unwrap_or_else(|why| panic!("{why}"))
}

fn refused(b: &Builder, path: &[fabius_program::Move], claim: Claim) -> Disagreement {
    match confirm(&Arc::new(b.program.clone()), path, claim) {
        Ok(_) => panic!("the path was confirmed"),
        Err(why) => *why,
    }
}

/// `x = 1` by the one, `assert(x == 0)` by the other.
fn race() -> Builder {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    b.active("A", |p| {
        p.edge(0, "x = 1", set(x, num(1)), 1);
        p.end(1);
    });
    b.active("B", |p| {
        p.edge(0, "assert(x == 0)", Action::Assert(eq(g(x), num(0))), 1);
        p.end(1);
    });
    b
}

#[test]
fn a_true_claim_is_confirmed_and_others_are_not() {
    let b = race();
    let violated = Claim::Fault(Fault::AssertionFailed);
    assert_eq!(confirmed(&b, &[at(0, 0), at(1, 1)], violated).steps.len(), 2);
    let found = |number, claimed, found| Disagreement::Fault { number, claimed, found };
    assert_eq!(refused(&b, &[at(1, 1)], violated), found(1, Some(Fault::AssertionFailed), None));
    assert_eq!(
        refused(&b, &[at(0, 0), at(1, 1)], Claim::Fault(Fault::DivisionByZero)),
        found(2, Some(Fault::DivisionByZero), Some(Fault::AssertionFailed))
    );
    assert!(matches!(refused(&b, &[at(1, 1)], Claim::InvalidEnd), Disagreement::NotAnInvalidEnd(_)));
    assert!(matches!(refused(&b, &[], violated), Disagreement::Initial { .. }));
    assert_eq!(refused(&b, &[at(0, 0)], Claim::Cycle { start: 0, shows: CycleClaim::NOTHING }), Disagreement::NoCycle);
}

#[test]
fn steps_that_are_not_possible_are_refused() {
    let b = race();
    let refusal = |path: &[fabius_program::Move]| match refused(&b, path, Claim::Reaches) {
        Disagreement::Step { number, refusal, .. } => (number, refusal),
        other => panic!("{other}"),
    };
    assert_eq!(refusal(&[at(0, 1)]), (1, Refusal::Elsewhere));
    assert_eq!(refusal(&[at(0, 0), at(0, 0)]), (2, Refusal::Elsewhere));
    assert_eq!(refusal(&[at(7, 0)]), (1, Refusal::NoProcess));
    assert_eq!(refusal(&[with(0, 0, 1, 1)]), (1, Refusal::NotExecutable));
    assert_eq!(refusal(&[at(0, 99)]), (1, Refusal::Elsewhere));
}

#[test]
fn a_wrong_partner_is_refused() {
    let mut b = Builder::new();
    let q = b.channel("q", 0, &[BYTE]);
    b.active("A", |p| p.edge(0, "q!1", send(q, vec![num(1)]), 1));
    b.active("B", |p| p.edge(0, "q?1", receive(q, vec![matches(1)]), 1));
    b.active("C", |p| p.edge(0, "q?2", receive(q, vec![matches(2)]), 1));
    confirmed(&b, &[with(0, 0, 1, 1)], Claim::Reaches);
    for wrong in [with(0, 0, 2, 2), with(0, 0, 1, 2), at(0, 0), with(1, 1, 0, 0)] {
        assert!(matches!(refused(&b, &[wrong], Claim::Reaches), Disagreement::Step { number: 1, .. }));
    }
}

#[test]
fn nobody_moves_while_another_holds_control_and_can_move() {
    let mut b = Builder::new();
    b.active("A", |p| {
        p.atomic(0, "a1", Action::Skip, 1);
        p.edge(1, "a2", Action::Skip, 2);
    });
    b.active("B", |p| p.edge(0, "b", Action::Skip, 1));
    let why = refused(&b, &[at(0, 0), at(1, 2)], Claim::Reaches);
    assert!(matches!(why, Disagreement::Step { number: 2, refusal: Refusal::ControlHeld(0), .. }), "{why}");
}

#[test]
fn a_cycle_is_confirmed_where_it_closes() {
    let mut b = Builder::new();
    let x = b.global("x", BIT, 0);
    b.active("A", |p| {
        p.edge(0, "x = 1", set(x, num(1)), 1);
        p.edge(1, "x = 0", set(x, num(0)), 2);
        p.edge(2, "x = 1", set(x, num(1)), 1);
    });
    let path = [at(0, 0), at(0, 1), at(0, 2)];
    assert_eq!(confirmed(&b, &path, Claim::Cycle { start: 1, shows: CycleClaim::NOTHING }).cycle_start, Some(2));
    assert_eq!(refused(&b, &path, Claim::Cycle { start: 0, shows: CycleClaim::NOTHING }), Disagreement::NoCycle);
    assert_eq!(refused(&b, &path, Claim::Cycle { start: 3, shows: CycleClaim::NOTHING }), Disagreement::NoCycle);
}

/// Three processes that show nearly everything a step can show.
fn rich() -> Builder {
    let mut b = Builder::new();
    b.program
        .enumerations
        .push(Enumeration { name: String::new(), constants: vec![(1, "ack".into()), (2, "nack".into())] });
    let mtype = Type::unsigned(8, Kind::Enum(EnumId(0)));
    let q = b.channel("q", 2, &[BYTE, mtype]);
    let r = b.channel("r", 0, &[mtype]);
    let done = b.global("done", BIT, 0);
    b.active("init", |p| {
        p.edge(0, "run Worker(7)", guard(Expr::Run { process: ProcessId(1), arguments: vec![num(7)], priority: 1 }), 1);
        p.edge(1, "r?nack", receive(r, vec![matches(2)]), 2);
        p.edge(
            2,
            "done == 0 && q?[3,nack]",
            guard(Expr::binary(
                BinaryOp::And,
                eq(g(done), num(1)),
                Expr::Poll { channel: Box::new(g(q)), any: false, fields: vec![matches(3), matches(2)] },
            )),
            3,
        );
    });
    b.process("Worker", |p| {
        let id = p.parameter("id", BYTE);
        p.atomic(0, "q!id,ack", send(q, vec![l(id), num(1)]), 1);
        p.edge(
            1,
            "printf(\"sent %d\\n\", id)",
            Action::Print(vec![
                PrintPiece::Text("sent ".into()),
                PrintPiece::Decimal(l(id)),
                PrintPiece::Text("\n".into()),
            ]),
            2,
        );
        p.edge(2, "r!nack", send(r, vec![num(2)]), 3);
        p.edge(
            3,
            "d_step { id = 8; done = 1 }",
            block(vec![vec![(Action::Assign(l_place(id), num(8)), Some(1))], vec![(set(done, num(1)), None)]]),
            4,
        );
        p.edge(4, "q?_,nack", receive(q, vec![Pattern::Ignore, matches(2)]), 5);
    });
    b
}

fn rich_trace(b: &Builder) -> Trace {
    let path = [at(0, 0), at(1, 3), at(1, 4), with(1, 5, 0, 1), at(1, 6)];
    confirmed(b, &path, Claim::InvalidEnd)
}

fn shown(lines: &[Line]) -> String {
    text::plain(lines)
}

#[test]
fn a_trace_reads_well() {
    let b = rich();
    let trace = rich_trace(&b);
    let expected = "\
init
  1  line 1  run Worker(7)               creates Worker[1] (id = 7)
Worker[1]
┃ 2  line 4  q!id,ack                    q: empty → [7, ack]
┃ 3  line 5  printf(\"sent %d\\n\", id)     prints sent 7
  4  line 6  r!nack                      ⇄ init line 2  r?nack
  5  line 7  d_step { id = 8; done = 1 }
               done: false → true
               id: 7 → 8
";
    assert_eq!(shown(&text::steps(&trace, &b.source(), Layout { width: 82, ..Layout::default() })), expected);
}

#[test]
fn the_end_of_a_trace_says_why_it_ends() {
    let b = rich();
    let trace = rich_trace(&b);
    let expected = "\
Nothing can move, and not every process is where it may stop.
init is stuck at line 3
  done == 0 && q?[3,nack]  `q?[3,nack]` is false: q is [7, ack]
    q was last changed by Worker[1] in step 2
Worker[1] is stuck at line 8
  q?_,nack  the oldest message in q is not (any, nack); the channel holds [7, ack]
Variables and channels
  done = true, q = [7, ack], r = empty
`q?_,nack` of Worker[1] alone would not let init go on.
Check who should have sent the message, and whether it was taken by another receive.
";
    assert_eq!(shown(&text::ending(&trace, &b.source(), Layout::default())), expected);
}

#[test]
fn arrays_are_shown_together_and_a_condition_only_once() {
    let mut b = Builder::new();
    let a = b.variable("a", BYTE, vec![3], fabius_program::Initial::List(vec![num(4), num(5)]));
    b.global("x", BYTE, 7);
    b.active("A", |p| p.edge(0, "a[0] == 1", guard(eq(Expr::Load(g_at(a, num(0))), num(1))), 1));
    let expected = "\
Nothing can move, and not every process is where it may stop.
A[0] is stuck at line 1
  a[0] == 1  false: a[0] is 4
Variables and channels
  a = {4, 5, 5}, x = 7
Check who should have made the condition true, and whether it was true too early.
";
    let trace = confirmed(&b, &[], Claim::InvalidEnd);
    assert_eq!(shown(&text::ending(&trace, &b.source(), Layout::default())), expected);
}

#[test]
fn the_middle_of_a_long_trace_can_be_left_out_and_lines_stay_narrow() {
    let b = rich();
    let trace = rich_trace(&b);
    let layout = Layout { width: 40, ends: Some((1, 1)), unicode: false };
    let expected = "\
init
  1  line 1  run Worker(7)
               creates Worker[1] (id = 7)
... 3 steps ...
Worker[1]
  5  line 7  d_step { id = 8; done = 1 }
               done: false -> true
               id: 7 -> 8
";
    assert_eq!(shown(&text::steps(&trace, &b.source(), layout)), expected);
}

#[test]
fn records_and_trails_are_made_from_the_same_trace() {
    let b = rich();
    let trace = rich_trace(&b);
    let steps = serde_json::to_value(json::steps(&trace, &b.source())).expect("records can be written");
    assert_eq!(steps[1]["process"], "Worker");
    assert_eq!(steps[1]["line"], 4);
    assert_eq!(steps[1]["changes"][0]["name"], "q");
    assert_eq!(steps[1]["changes"][0]["new"], "[7, ack]");
    assert_eq!(steps[3]["partner"]["text"], "r?nack");
    assert_eq!(steps[4]["d_step"], true);
    assert_eq!(
        trail::trail(&b.program, trace.steps.moves(), None),
        "1:0:0\n2:1:100\n3:1:101\n4:1:102\n5:0:1\n6:1:103\n"
    );
}

fn stuck(build: impl FnOnce(&mut Builder)) -> Trace {
    let mut b = Builder::new();
    build(&mut b);
    confirmed(&b, &[], Claim::InvalidEnd)
}

fn cause(trace: &Trace) -> Cause {
    trace.explanation.as_ref().expect("an invalid end state is explained").kind
}

#[test]
fn a_server_that_waits_for_work_lacks_an_end_label() {
    let trace = stuck(|b| {
        let q = b.channel("q", 1, &[BYTE]);
        b.active("Server", |p| p.edge(0, "q?_", receive(q, vec![Pattern::Ignore]), 0));
    });
    assert_eq!(cause(&trace), Cause::MissingEndLabel);
    assert_eq!(trace.last.processes[0].waiting[0].reason, Reason::ChannelEmpty { channel: "q".into() });
}

#[test]
fn processes_that_wait_for_each_other_are_a_circle() {
    let trace = stuck(|b| {
        let q = b.channel("q", 1, &[BYTE]);
        let r = b.channel("r", 1, &[BYTE]);
        for (name, wanted, given) in [("A", q, r), ("B", r, q)] {
            b.active(name, |p| {
                p.edge(0, "receive", receive(wanted, vec![Pattern::Ignore]), 1);
                p.edge(1, "send", send(given, vec![num(1)]), 2);
                p.end(2);
            });
        }
    });
    assert_eq!(cause(&trace), Cause::CyclicWait);
    let sentences = &trace.explanation.expect("it is explained").sentences;
    assert_eq!(sentences[2], "They wait for each other: A[0] waits for B[1] waits for A[0].");
}

#[test]
fn what_is_missing_at_a_channel_is_named() {
    let with = |capacity, action: fn(u32) -> Action| {
        let trace = stuck(|b| {
            let q = b.channel("q", capacity, &[BYTE]);
            b.active("A", |p| {
                p.edge(0, "q", action(q), 1);
                p.edge(1, "q", action(q), 2);
            });
        });
        cause(&trace)
    };
    let takes = |q| receive(q, vec![Pattern::Ignore]);
    let gives = |q| send(q, vec![num(1)]);
    assert_eq!(with(0, takes), Cause::NoPartner);
    assert_eq!(with(0, gives), Cause::NoPartner);
    assert_eq!(with(1, takes), Cause::NobodySends);
}

#[test]
fn who_made_a_condition_false_is_asked_first() {
    // Each takes its own and waits for the next one's, to free its own after that.
    let mut b = Builder::new();
    let held = b.variable("held", BIT, vec![3], fabius_program::Initial::Zero);
    let next = Expr::binary(BinaryOp::Remainder, Expr::binary(BinaryOp::Add, Expr::Pid, num(1)), num(3));
    let element = |index: Expr| g_at(held, index);
    let free = |index: Expr| guard(eq(Expr::Load(g_at(held, index)), num(0)));
    for name in ["A", "B", "C"] {
        b.active(name, |p| {
            p.edge(0, "held[_pid] = 1", Action::Assign(element(Expr::Pid), num(1)), 1);
            p.edge(1, "held[next] == 0", free(next.clone()), 2);
            p.edge(2, "held[_pid] = 0", Action::Assign(element(Expr::Pid), num(0)), 3);
            p.end(3);
        });
    }
    let trace = confirmed(&b, &[at(0, 0), at(1, 3), at(2, 6)], Claim::InvalidEnd);
    let sentences = &trace.explanation.expect("it is explained").sentences;
    let circle = "They wait for each other: A[0] waits for B[1] waits for C[2] waits for A[0].";
    assert_eq!(sentences.last().map(String::as_str), Some(circle));
}

#[test]
fn a_false_condition_is_shown_with_its_operands() {
    let trace = stuck(|b| {
        let turn = b.global("turn", BYTE, 2);
        b.active("A", |p| p.edge(0, "turn == 1", guard(eq(g(turn), num(1))), 1));
    });
    assert_eq!(cause(&trace), Cause::NobodyChanges);
    assert_eq!(trace.last.processes[0].waiting[0].reason.sentence(), "`turn == 1` is false: turn is 2");
}

#[test]
fn an_element_is_named_with_the_value_of_its_index() {
    let trace = stuck(|b| {
        let flag = b.variable("flag", BIT, vec![2], fabius_program::Initial::Zero);
        let other = Expr::binary(BinaryOp::Subtract, num(1), Expr::Pid);
        b.active("A", |p| p.edge(0, "flag[1 - _pid]", guard(Expr::Load(g_at(flag, other))), 1));
    });
    let reason = trace.last.processes[0].waiting[0].reason.sentence();
    assert_eq!(reason, "`flag[1 - _pid]` is false: _pid is 0, flag[1] is false");
}

#[test]
fn a_fault_inside_a_block_is_placed_there() {
    let mut b = Builder::new();
    let part = fabius_base::Span::new(fabius_base::FileId(0), 3, 5);
    let Action::Block(mut inner) =
        block(vec![vec![(Action::Skip, Some(1))], vec![(guard(Expr::binary(BinaryOp::Divide, num(1), num(0))), None)]])
    else {
        unreachable!("block makes a block")
    };
    inner.nodes[1].options[0].span = part;
    inner.nodes[1].span = part;
    b.active("A", |p| p.edge(0, "d_step", Action::Block(inner), 1));
    let trace = confirmed(&b, &[at(0, 0)], Claim::Fault(Fault::DivisionByZero));
    assert_eq!(trace.steps.get(0).map(|step| step.fault_span), Some(part));
}

#[test]
fn an_initial_state_that_cannot_be_computed_is_a_trace_without_steps() {
    let mut b = Builder::new();
    b.variable("x", BYTE, vec![], fabius_program::Initial::Value(Expr::binary(BinaryOp::Divide, num(1), num(0))));
    assert!(confirmed(&b, &[], Claim::Fault(Fault::DivisionByZero)).steps.is_empty());
}

#[test]
fn steps_that_do_not_matter_are_left_out() {
    let mut b = Builder::new();
    let x = b.global("x", BYTE, 0);
    let y = b.global("y", BYTE, 0);
    b.active("A", |p| {
        p.edge(0, "x = 1", set(x, num(1)), 1);
        p.edge(1, "x = 2", set(x, num(2)), 2);
    });
    b.active("B", |p| p.edge(0, "y++", set(y, Expr::binary(BinaryOp::Add, g(y), num(1))), 0));
    b.active("C", |p| p.edge(0, "assert(x < 2)", Action::Assert(Expr::binary(BinaryOp::Less, g(x), num(2))), 1));
    let claim = Claim::Fault(Fault::AssertionFailed);
    let path = [at(1, 2), at(0, 0), at(1, 2), at(1, 2), at(0, 1), at(1, 2), at(2, 3)];
    let short = shorten(&b.program, Watch::NOTHING, &path, claim, 1000);
    assert_eq!(short, [at(0, 0), at(0, 1), at(2, 3)]);
    confirmed(&b, &short, claim);
    let all_matter = shorten(&b.program, Watch::NOTHING, &path[..6], Claim::Reaches, 1000);
    let pids: Vec<_> = all_matter.iter().map(|step| step.pid).collect();
    assert_eq!(pids, [1, 1, 1, 1, 0, 0]);
    assert_eq!(shorten(&b.program, Watch::NOTHING, &path, claim, 0), path);
}

#[test]
fn a_diagram_shows_who_sends_what_to_whom() {
    let b = rich();
    let trace = rich_trace(&b);
    let diagram = Diagram::of(&trace);
    let expected = "\
sequenceDiagram
    participant l0 as init
    Note over l0: 1 run Worker(7)
    create participant l1 as Worker[1]
    l0-->>l1: run
    activate l0
    Note over l0: waits at `r?nack` because no other process is ready to send such a message to r
    Note over l1: 2 q!id,ack<br/>3 printf(#34;sent #37;d\\n#34;, id)<br/>prints sent 7
    l1-->>l0: can go on
    deactivate l0
    l1->>l0: 4 r [nack]
    activate l0
    Note over l0: waits at `done == 0 && q?[3,nack]` because `done == true` is false#58; done is false
    Note over l1: 5 d_step { id = 8#59; done = 1 } (done = true, Worker[1]#58;id = 8)
    activate l1
    Note over l1: waits at `q?_,nack` because the oldest message in q is not (any, nack)#59; the channel holds [7, ack]
    deactivate l0
    deactivate l1
";
    assert_eq!(diagram::mermaid(&diagram), expected);
    let expected = "\
\x20  init
1  ●┄┄┄▷○      line 1  run Worker(7)  creates Worker[1] (id = 7)
   ▒    │      init (line 2) waits at `r?nack` because no other process is
   ▒    │        ready to send such a message to r
2  ▒    ●      line 4  q!id,ack  q: empty → [7, ack]
3  ▒◁┄┄┄●      line 5  printf(\"sent %d\\n\", id)  prints sent 7
   │    │      init can go on
4  ●◀───●      line 6  r!nack  ⇄ init line 2  r?nack
   ▒    │      init (line 3) waits at `done == 0 && q?[3,nack]` because `done
   ▒    │        == true` is false: done is false
5  ▒    ●      line 7  d_step { id = 8; done = 1 }  done: false → true
   ▒    ▒        id: 7 → 8
   ▒    ▒      Worker[1] (line 8) waits at `q?_,nack` because the oldest
   ▒    ▒        message in q is not (any, nack); the channel holds [7, ack]
`q?_,nack` of Worker[1] alone would not let init go on.
";
    let layout = text::Layout { width: 80, ..text::Layout::default() };
    assert_eq!(text::plain(&diagram::lanes(&diagram, &trace, &b.source(), layout)), expected);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures the engine from outside")]
fn a_hundred_thousand_steps_are_walked_in_seconds() {
    let mut b = Builder::new();
    let a = b.variable("a", INT, vec![400], fabius_program::Initial::Zero);
    b.active("A", |p| {
        let next = Expr::binary(BinaryOp::Add, g(a), num(1));
        p.edge(0, "a[0]++", set(a, next), 0);
    });
    let path = vec![at(0, 0); 100_000];
    let began = std::time::Instant::now();
    assert_eq!(confirmed(&b, &path, Claim::Reaches).steps.len(), 100_000);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn a_step_is_the_same_however_it_is_asked_for() {
    let mut b = Builder::new();
    let x = b.global("x", INT, 0);
    let more = |by| set(x, Expr::binary(BinaryOp::Add, g(x), num(by)));
    b.active("A", |p| p.edge(0, "x++", more(1), 0));
    b.active("B", |p| p.edge(0, "x = x + 2", more(2), 0));
    // So many that most of the states that were kept at first are dropped.
    let path: Vec<_> = (0..80_000).map(|i| if i % 3 == 0 { at(1, 1) } else { at(0, 0) }).collect();
    let trace = confirmed(&b, &path, Claim::Reaches);
    let value = |index: usize| index + index.div_ceil(3);
    let told = |index: usize, step: &fabius_witness::Step| {
        assert_eq!((step.number, step.taken), (index + 1, path[index]));
        let change = &step.changes[0];
        assert_eq!((&change.old, &change.new), (&value(index).to_string(), &value(index + 1).to_string()));
    };
    for index in [0, 1, 63, 64, 65, 77_777, 79_999] {
        told(index, &trace.steps.get(index).expect("there is such a step"));
        let after = trace.steps.snapshot_after(index).expect("there is such a state");
        assert_eq!(after.variables, [("x".to_owned(), value(index).to_string())]);
    }
    assert!(trace.steps.get(80_000).is_none());
    trace.steps.iter().enumerate().for_each(|(index, step)| told(index, &step));
    trace.steps.backwards().enumerate().for_each(|(back, step)| told(79_999 - back, &step));
    trace.taken_from(100, 200).enumerate().for_each(|(index, step)| told(99 + index, &step));
    assert_eq!(trace.taken_from(100, 200).count(), 101);
    assert_eq!(trace.last_taken().map(|step| step.number), Some(80_000));
}
