//! Channels: messages in buffers, and rendezvous.

use super::*;

fn queue(state: &State, channel: usize) -> Vec<Vec<i32>> {
    state.channels[channel].messages.iter().cloned().collect()
}

#[test]
fn a_send_waits_for_room_and_truncates() {
    let mut b = Builder::new();
    let q = b.channel("q", 2, &[BYTE, BIT]);
    b.active("A", |p| p.edge(0, "q!", send(q, vec![num(257), num(3)]), 0));
    assert_eq!(queue(&after(&b.program, &[0]), 0), [[1, 1]]);
    assert_eq!(queue(&after(&b.program, &[0, 0]), 0).len(), 2);
    assert_eq!(ending(&b.program, &after(&b.program, &[0, 0])), Ending::Invalid);
}

#[test]
fn a_sorted_send_goes_before_the_first_greater_message() {
    let mut b = Builder::new();
    let q = b.channel("q", 9, &[BYTE, BYTE]);
    let x = b.variable(
        "x",
        BYTE,
        vec![5],
        Initial::List([(3, 0), (1, 9), (3, 1), (1, 2), (2, 7)].map(|(a, b)| num(10 * a + b)).to_vec()),
    );
    let i = b.global("i", BYTE, 0);
    let at_i = || Expr::Load(g_at(x, g(i)));
    let fields =
        vec![Expr::binary(BinaryOp::Divide, at_i(), num(10)), Expr::binary(BinaryOp::Remainder, at_i(), num(10))];
    b.active("A", |p| {
        p.edge(0, "q!!", Action::Send(Send { channel: g(q), sorted: true, fields }), 1);
        p.edge(1, "i++", set(i, Expr::binary(BinaryOp::Add, g(i), num(1))), 0);
    });
    let state = after(&b.program, &[0; 9]);
    assert_eq!(queue(&state, 0), [[1, 2], [1, 9], [2, 7], [3, 0], [3, 1]]);
}

fn receiver(any: bool, keep: bool, fields: Vec<Pattern>) -> Builder {
    let mut b = Builder::new();
    let q = b.channel("q", 3, &[BYTE, BYTE]);
    b.global("x", BYTE, 0);
    b.variable("a", BYTE, vec![4], Initial::Zero);
    b.active("A", |p| {
        p.edge(0, "q!1,2", send(q, vec![num(1), num(2)]), 1);
        p.edge(1, "q!3,9", send(q, vec![num(3), num(9)]), 2);
        p.edge(2, "q?", Action::Receive(Receive { channel: g(q), any, keep, fields }), 3);
        p.end(3);
    });
    b
}

#[test]
fn a_receive_takes_the_oldest_or_any_message_that_matches() {
    let first = receiver(false, false, vec![matches(1), store(1)]);
    let state = after(&first.program, &[0, 0, 0]);
    assert_eq!(queue(&state, 0), [[3, 9]]);
    assert_eq!(state.globals[1], [2]);
    let blocked = receiver(false, false, vec![matches(3), store(1)]);
    assert_eq!(possible(&blocked.program, &after(&blocked.program, &[0, 0])), Vec::<String>::new());
    let any = receiver(true, false, vec![matches(3), store(1)]);
    let state = after(&any.program, &[0, 0, 0]);
    assert_eq!(queue(&state, 0), [[1, 2]]);
    assert_eq!(state.globals[1], [9]);
    let kept = receiver(true, true, vec![Pattern::Ignore, store(1)]);
    let state = after(&kept.program, &[0, 0, 0]);
    assert_eq!(queue(&state, 0), [[1, 2], [3, 9]]);
    assert_eq!(state.globals[1], [2]);
}

#[test]
fn values_are_stored_from_left_to_right() {
    let b = receiver(false, false, vec![store(1), Pattern::Store(g_at(2, g(1)))]);
    assert_eq!(after(&b.program, &[0, 0, 0]).globals[2], [0, 2, 0, 0]);
}

#[test]
fn the_number_of_fields_must_be_right() {
    let wrong = Some(Fault::FieldCount { given: 1, expected: 2 });
    assert_eq!(
        fault_of(|b| {
            let q = b.channel("q", 1, &[BYTE, BYTE]);
            send(q, vec![num(1)])
        }),
        wrong
    );
    assert_eq!(
        fault_of(|b| {
            let q = b.channel("q", 1, &[BYTE, BYTE]);
            Action::Merged(vec![send(q, vec![num(1), num(2)]), receive(q, vec![Pattern::Ignore])])
        }),
        wrong,
        "a receive is wrong once there is a message"
    );
}

#[test]
fn channels_must_exist() {
    let send_to = |identity: i32| {
        fault_of(|b| {
            b.channel("q", 1, &[BYTE]);
            Action::Send(Send { channel: num(identity), sorted: false, fields: vec![num(1)] })
        })
    };
    assert_eq!(send_to(1), None);
    assert_eq!(send_to(0), Some(Fault::NoChannel));
    assert_eq!(send_to(2), Some(Fault::DeadChannel(2)));
    assert_eq!(send_to(-1), Some(Fault::DeadChannel(-1)));
}

/// A sends `1`, B and C receive; C's receive is atomic.
fn handshake() -> Builder {
    let mut b = Builder::new();
    let q = b.channel("q", 0, &[BYTE]);
    let x = b.global("x", BYTE, 0);
    b.active("A", |p| {
        p.atomic(0, "q!257", send(q, vec![num(257)]), 1);
        p.edge(1, "a2", Action::Skip, 2);
    });
    b.active("B", |p| p.edge(0, "b", receive(q, vec![store(x)]), 1));
    b.active("C", |p| {
        p.edge(0, "c no", receive(q, vec![matches(2)]), 1);
        p.atomic(0, "c", receive(q, vec![matches(1)]), 1);
        p.edge(1, "c2", Action::Skip, 2);
    });
    b.program.uses.last = true;
    b
}

#[test]
fn a_rendezvous_is_one_step_of_two_processes() {
    let b = handshake();
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:q!257&2:c", "0:q!257&1:b"]);
    let with_c = after(&b.program, &[0]);
    assert_eq!(with_c.holder, Some(2));
    assert_eq!(with_c.last, 2);
    let with_b = after(&b.program, &[1]);
    assert_eq!(with_b.holder, None);
    assert_eq!(with_b.globals[1], [1]);
    assert_eq!(with_b.last, 1);
    assert_eq!(with_b.processes[0].location, LocationId(1));
    assert_eq!(possible(&b.program, &with_b), ["0:a2"]);
}

#[test]
fn a_rendezvous_needs_a_partner() {
    let mut b = Builder::new();
    let q = b.channel("q", 0, &[BYTE]);
    b.active("A", |p| {
        p.edge(0, "q!1", send(q, vec![num(1)]), 1);
        p.edge(0, "else", Action::Else, 1);
    });
    b.active("B", |p| p.edge(0, "q?2", receive(q, vec![matches(2)]), 1));
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:else"]);
}

#[test]
fn a_message_cannot_be_copied_out_of_a_rendezvous() {
    assert_eq!(
        fault_of(|b| {
            let q = b.channel("q", 0, &[BYTE]);
            Action::Receive(Receive { channel: g(q), any: false, keep: true, fields: vec![Pattern::Ignore] })
        }),
        Some(Fault::PollOnRendezvous)
    );
}

#[test]
fn escapes_of_a_partner_count() {
    let mut b = Builder::new();
    let q = b.channel("q", 0, &[BYTE]);
    b.active("A", |p| p.edge(0, "q!1", send(q, vec![num(1)]), 1));
    b.active("B", |p| {
        p.full_edge(0, "escape", receive(q, vec![matches(1)]), 1, false, 1);
        p.full_edge(0, "body", receive(q, vec![matches(1)]), 1, false, 0);
    });
    assert_eq!(possible(&b.program, &start(&b.program)), ["0:q!1&1:escape"]);
}
