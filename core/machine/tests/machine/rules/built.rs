//! Programs that no Promela gives, built by hand.

use super::*;

/// A program of processes without names, each a list of edges `(from, action, to, escape group, atomic)`.
#[derive(Default)]
struct Builder(Program);

type Step4 = (u32, Action, u32, u32);

impl Builder {
    fn byte(mut self) -> Self {
        self.0.globals.push(variable(Type::unsigned(8, Kind::Number), Initial::Zero));
        self
    }

    fn channel(mut self, capacity: u32, fields: usize) -> Self {
        let fields = vec![Type::unsigned(8, Kind::Number); fields];
        self.0.channel_types.push(ChannelType { capacity, fields, field_names: vec![], span: Default::default() });
        let ty = ChannelTypeId(self.0.channel_types.len() as u32 - 1);
        self.0.globals.push(variable(Type::unsigned(8, Kind::Channel), Initial::Channel(ty)));
        self
    }

    fn process(mut self, steps: &[Step4]) -> Self {
        self.0.processes.push(Process {
            name: format!("p{}", self.0.processes.len()),
            kind: Default::default(),
            parameter_count: 0,
            locals: vec![variable(Type::signed(32), Initial::Zero)],
            locations: vec![],
            entry: LocationId(0),
            statements: vec![],
            provided: None,
            deterministic: false,
            span: Default::default(),
        });
        let process = ProcessId(self.0.processes.len() as u32 - 1);
        self.0.initial.push(Instance { process, priority: 1 });
        let last = steps.iter().map(|step| step.0.max(step.2)).max().unwrap_or(0);
        for from in 0..=last {
            let first = self.0.edges.len() as u32;
            for (_, action, to, escape) in steps.iter().filter(|step| step.0 == from) {
                let statements = &mut self.0.processes[process.0 as usize].statements;
                let statement = StatementId(statements.len() as u32);
                statements.push(Statement {
                    number: statement.0,
                    action: action.clone(),
                    text: String::new(),
                    span: Default::default(),
                });
                self.0.edges.push(Edge {
                    process,
                    source: LocationId(from),
                    statement,
                    target: LocationId(*to),
                    atomic: false,
                    escape: *escape,
                });
            }
            let edges = first..self.0.edges.len() as u32;
            self.0.processes[process.0 as usize].locations.push(Location {
                number: from + 1,
                end: edges.is_empty(),
                edges,
                progress: from == 1,
                accept: false,
                labels: vec![],
                span: Default::default(),
            });
        }
        self
    }

    fn priority(mut self, priority: u8) -> Self {
        self.0.initial.last_mut().unwrap().priority = priority;
        self.0.uses = Uses { priority: true, ..self.0.uses };
        self
    }

    fn provided(mut self, e: Expr) -> Self {
        self.0.processes.last_mut().unwrap().provided = Some(e);
        self
    }

    fn machine(self) -> Machine {
        Machine::new(Arc::new(self.0)).unwrap()
    }
}

fn variable(ty: Type, initial: Initial) -> Variable {
    Variable { name: "v".into(), ty, dimensions: vec![], initial, hidden: false, span: Default::default() }
}

fn place(v: u32) -> Place {
    Place { slot: Slot::Global(VariableId(v)), indices: vec![] }
}

fn get(v: u32) -> Expr {
    Expr::Load(place(v))
}

fn is(v: u32, k: i32) -> Expr {
    Expr::binary(BinaryOp::Equal, get(v), Expr::Constant(k))
}

fn set(v: u32, k: i32) -> Action {
    Action::Assign(place(v), Expr::Constant(k))
}

fn number(k: i32) -> Expr {
    Expr::Constant(k)
}

fn send(channel: u32, fields: &[i32]) -> Action {
    Action::Send(Send { channel: get(channel), sorted: false, fields: fields.iter().map(|k| number(*k)).collect() })
}

fn receive(channel: u32, fields: Vec<Pattern>) -> Action {
    Action::Receive(Receive { channel: get(channel), any: false, keep: false, fields })
}

/// Edges that can be taken at the start, by number, and faults.
fn taken(machine: &mut Machine) -> Vec<(u32, Option<u32>, Option<Fault>)> {
    let state = initial(machine);
    let (all, _) = successors(machine, &state);
    all.iter()
        .map(|(step, _)| match *step {
            Step::Successor { label: Some(label), fault, .. } => (label, fault),
            Step::Broken { label, fault } => (label, Some(fault)),
            other => panic!("{other:?}"),
        })
        .map(|(label, fault)| (label.edge.0, label.partner.map(|(_, edge)| edge.0), fault))
        .collect()
}

#[test]
fn the_first_executable_escape_group_shuts_out_the_others() {
    let yes = || Action::Guard(is(0, 0));
    let no = || Action::Guard(is(0, 1));
    let edges = |list: &[(Action, u32)]| -> Vec<Step4> {
        list.iter().map(|(action, group)| (0, action.clone(), 1, *group)).collect()
    };
    let try_edges = |list: &[(Action, u32)]| -> Vec<u32> {
        let mut machine = Builder::default().byte().process(&edges(list)).process(&[(0, set(0, 0), 0, 0)]).machine();
        taken(&mut machine).into_iter().filter(|t| (t.0 as usize) < list.len()).map(|t| t.0).collect()
    };
    assert_eq!(try_edges(&[(yes(), 1), (yes(), 1), (yes(), 2), (yes(), 0)]), [0, 1]);
    assert_eq!(try_edges(&[(no(), 1), (yes(), 2), (yes(), 0)]), [1]);
    assert_eq!(try_edges(&[(no(), 1), (no(), 2), (yes(), 0), (yes(), 0)]), [2, 3]);
    assert_eq!(try_edges(&[(no(), 1), (Action::Else, 2), (yes(), 0)]), [1]);
    assert_eq!(try_edges(&[(yes(), 0), (Action::Else, 0), (yes(), 3), (yes(), 0)]), [0, 2]);
}

#[test]
fn later_parts_of_a_merged_step_do_not_block() {
    let merged = |rest: Vec<Action>| {
        let mut actions = vec![Action::Guard(is(0, 0))];
        actions.extend(rest);
        Action::Merged(actions)
    };
    let of = |rest| {
        let program = Builder::default().byte().channel(1, 1).process(&[(0, merged(rest), 1, 0), (1, set(0, 0), 1, 0)]);
        taken(&mut program.machine())
    };
    assert_eq!(of(vec![Action::Guard(number(0)), set(0, 3)]), [(0, None, None)]);
    let division = Expr::binary(BinaryOp::Divide, number(1), get(0));
    assert_eq!(of(vec![Action::Guard(division)]), [(0, None, Some(Fault::DivisionByZero))]);
    let blocked = [(0, None, Some(Fault::BlockedInside))];
    assert_eq!(of(vec![receive(1, vec![Pattern::Ignore])]), blocked);
    assert_eq!(of(vec![send(1, &[1]), send(1, &[2])]), blocked);
    assert_eq!(of(vec![send(1, &[1]), receive(1, vec![Pattern::Store(place(0))]), set(0, 1)]), [(0, None, None)]);
    assert_eq!(of(vec![send(1, &[1, 2])]), [(0, None, Some(Fault::FieldCount { given: 2, expected: 1 }))]);
}

fn option(action: Action, next: BlockExit) -> BlockOption {
    BlockOption { action, next, span: Default::default() }
}

fn node(options: Vec<BlockOption>) -> BlockNode {
    BlockNode { options, span: Default::default() }
}

#[test]
fn a_block_may_come_back_to_its_first_node() {
    // x < 3 -> x++, over and over; then x = 50; a block in the middle of which nothing is executable faults.
    let less = Expr::binary(BinaryOp::Less, get(0), number(3));
    let more = Action::Assign(place(0), Expr::binary(BinaryOp::Add, get(0), number(1)));
    let block = |with_else: bool| {
        let mut first = vec![option(Action::Guard(less.clone()), BlockExit::Node(1))];
        if with_else {
            first.push(option(Action::Else, BlockExit::Leave));
        }
        Action::Block(Block { nodes: vec![node(first), node(vec![option(more.clone(), BlockExit::Node(0))])] })
    };
    let mut good = Builder::default().byte().process(&[(0, block(true), 1, 0)]).machine();
    let (steps, state, _) = run(&mut good);
    assert_eq!((steps.len(), global(&good, &state, 0)), (1, vec![3]));
    let mut bad = Builder::default().byte().process(&[(0, block(false), 1, 0)]).machine();
    assert_eq!(taken(&mut bad), [(0, None, Some(Fault::BlockedInside))]);
}

#[test]
fn a_block_that_offers_runs_to_its_end_before_the_message_is_taken() {
    // c!1; x = 7 against c?eval(x): the partner sees 7, and the message is 7 too.
    let block = |value| {
        Action::Block(Block {
            nodes: vec![
                node(vec![option(send(1, &[value]), BlockExit::Node(1))]),
                node(vec![option(set(0, 7), BlockExit::Leave)]),
            ],
        })
    };
    let partner = receive(1, vec![Pattern::Match(get(0))]);
    let program = |value| {
        Builder::default().byte().channel(0, 1).process(&[(0, block(value), 1, 0)]).process(&[(
            0,
            partner.clone(),
            1,
            0,
        )])
    };
    assert_eq!(taken(&mut program(7).machine()), [(0, Some(1), None)]);
    assert_eq!(taken(&mut program(1).machine()), []);
    let merged = Action::Merged(vec![send(1, &[7]), set(0, 7)]);
    let mut machine = Builder::default()
        .byte()
        .channel(0, 1)
        .process(&[(0, merged, 1, 0)])
        .process(&[(0, partner.clone(), 1, 0), (0, receive(1, vec![Pattern::Ignore]), 1, 0)])
        .machine();
    assert_eq!(taken(&mut machine), [(0, Some(1), None), (0, Some(2), None)]);
}

#[test]
fn a_block_whose_offer_nobody_takes_tries_its_other_options() {
    let options = vec![
        option(send(1, &[1]), BlockExit::Leave),
        option(send(2, &[2]), BlockExit::Node(1)),
        option(set(0, 9), BlockExit::Leave),
    ];
    let block = Action::Block(Block { nodes: vec![node(options), node(vec![option(set(0, 5), BlockExit::Leave)])] });
    let program = |channel| {
        let receiver = receive(channel, vec![Pattern::Ignore]);
        Builder::default()
            .byte()
            .channel(0, 1)
            .channel(0, 1)
            .process(&[(0, block.clone(), 1, 0)])
            .process(&[(0, receiver.clone(), 1, 0), (0, receiver, 1, 0)])
    };
    let value = |program: Builder| {
        let mut machine = program.machine();
        let state = initial(&mut machine);
        let all = successors(&mut machine, &state).0;
        all.iter().map(|(_, next)| global(&machine, next, 0)[0]).collect::<Vec<_>>()
    };
    assert_eq!(value(program(1)), [0, 0]);
    assert_eq!(value(program(2)), [5, 5]);
    assert_eq!(value(Builder::default().byte().channel(0, 1).channel(0, 1).process(&[(0, block.clone(), 1, 0)])), [9]);
}

#[test]
fn a_block_can_be_partner_by_its_first_node_only() {
    let block = Action::Block(Block {
        nodes: vec![
            node(vec![
                option(set(0, 1), BlockExit::Leave),
                option(receive(1, vec![Pattern::Match(number(3))]), BlockExit::Leave),
                option(receive(1, vec![Pattern::Store(place(0))]), BlockExit::Node(1)),
            ]),
            node(vec![option(Action::Guard(is(0, 4)), BlockExit::Leave)]),
        ],
    });
    let program = |value| {
        Builder::default().byte().channel(0, 1).process(&[(0, send(1, &[value]), 1, 0)]).process(&[(
            0,
            block.clone(),
            1,
            0,
        )])
    };
    // On its own it takes the first option; as partner it receives.
    assert_eq!(taken(&mut program(4).machine()), [(1, None, None), (0, Some(1), None)]);
    assert_eq!(taken(&mut program(3).machine()), [(1, None, None), (0, Some(1), None)]);
    assert_eq!(taken(&mut program(5).machine()), [(1, None, None), (0, Some(1), Some(Fault::BlockedInside))]);
}

#[test]
fn the_partner_of_an_offer_must_be_provided_and_of_the_highest_priority() {
    let receiver = || vec![(0, receive(1, vec![Pattern::Ignore]), 1, 0)];
    let sender = || vec![(0, send(1, &[1]), 1, 0)];
    let base = || Builder::default().byte().channel(0, 1).process(&sender()).process(&receiver()).process(&receiver());
    assert_eq!(taken(&mut base().machine()), [(0, Some(2), None), (0, Some(1), None)]);
    assert_eq!(taken(&mut base().provided(is(0, 1)).machine()), [(0, Some(1), None)]);
    let by_zero = Expr::binary(BinaryOp::Divide, number(1), get(0));
    let faulty = base().provided(by_zero.clone());
    // In its own trial a faulty `provided` is a fault of its first edge.
    assert_eq!(taken(&mut faulty.machine()), [(2, None, Some(Fault::DivisionByZero)), (0, Some(1), None)]);
    let ranked = Builder::default().byte().channel(0, 1).process(&sender()).process(&receiver()).priority(3);
    assert_eq!(taken(&mut ranked.process(&receiver()).machine()), [(0, Some(1), None)]);
}

#[test]
fn only_the_highest_enabled_priority_moves() {
    let step = |value| vec![(0, set(0, value), 1, 0)];
    let blocked = vec![(0, Action::Guard(is(0, 9)), 1, 0)];
    let mut machine = Builder::default()
        .byte()
        .process(&step(1))
        .priority(2)
        .process(&step(2))
        .process(&blocked)
        .priority(9)
        .machine();
    assert_eq!(taken(&mut machine), [(0, None, None)]);
    let set_priority = |pid, priority| vec![(0, Action::SetPriority(number(pid), number(priority)), 1, 0)];
    let set_by = |pid, priority| {
        let mut machine =
            Builder::default().byte().process(&step(1)).priority(1).process(&set_priority(pid, priority)).machine();
        let state = initial(&mut machine);
        let (all, _) = successors(&mut machine, &state);
        all.into_iter().next().map(|(step, next)| (step, machine.view(&next).and_then(|v| v.priority_of(0)))).unwrap()
    };
    assert_eq!(set_by(0, 200).1, Some(200));
    assert!(matches!(set_by(0, 256).0, Step::Broken { fault: Fault::PriorityOutOfRange(256), .. }));
    assert!(matches!(set_by(7, 256).0, Step::Successor { .. }), "nobody there");
}

#[test]
fn enabled_asks_about_others_and_never_about_oneself() {
    let enabled = |pid| Action::Guard(Expr::Enabled(Box::new(number(pid))));
    let steps = |action: Action| vec![(0, action, 1, 0)];
    let of = |first: Action, second: Action| {
        taken(&mut Builder::default().byte().process(&steps(first)).process(&steps(second)).machine())
    };
    let myself = Some(Fault::EnabledOfSelf);
    assert_eq!(of(enabled(1), Action::Skip), [(1, None, None), (0, None, None)]);
    assert_eq!(of(enabled(1), Action::Guard(is(0, 1))), []);
    assert_eq!(of(enabled(5), Action::Guard(is(0, 1))), []);
    assert_eq!(of(enabled(0), Action::Guard(is(0, 1))), [(0, None, myself)]);
    // Who asks in a circle: the innermost question is a fault, and a fault counts as executable.
    assert_eq!(of(enabled(1), enabled(0)), [(1, None, None), (0, None, None)]);
}

#[test]
fn a_second_executable_edge_of_a_deterministic_process_is_a_fault() {
    let mut builder = Builder::default().byte().process(&[
        (0, set(0, 1), 1, 0),
        (0, Action::Guard(is(0, 5)), 1, 0),
        (0, set(0, 2), 1, 0),
    ]);
    builder.0.processes[0].deterministic = true;
    assert_eq!(taken(&mut builder.machine()), [(0, None, None), (2, None, Some(Fault::NotDeterministic))]);
}

#[test]
fn polling_a_rendezvous_channel_is_a_fault() {
    let copy = Action::Receive(Receive { channel: get(1), any: false, keep: true, fields: vec![Pattern::Ignore] });
    let mut machine = Builder::default().byte().channel(0, 1).process(&[(0, copy, 1, 0)]).machine();
    assert_eq!(taken(&mut machine), [(0, None, Some(Fault::PollOnRendezvous))]);
    let poll = Expr::Poll { channel: Box::new(get(1)), any: false, fields: vec![Pattern::Ignore] };
    let mut machine = Builder::default().byte().channel(0, 1).process(&[(0, Action::Guard(poll), 1, 0)]).machine();
    assert_eq!(taken(&mut machine), [(0, None, Some(Fault::PollOnRendezvous))]);
}

#[test]
fn np_location_and_count_are_read_from_the_state() {
    let number_of = |e: Expr| Action::Assign(place(0), e);
    let value = |e: Expr| {
        let mut machine = Builder::default()
            .byte()
            .process(&[(0, number_of(e), 1, 0)])
            .process(&[(0, Action::Guard(is(0, 77)), 1, 0)])
            .machine();
        let state = initial(&mut machine);
        let (all, _) = successors(&mut machine, &state);
        global(&machine, &all[0].1, 0)[0]
    };
    assert_eq!(value(Expr::ProcessCount), 2);
    assert_eq!(value(Expr::NonProgress), 1);
    assert_eq!(value(Expr::LocationOf(Box::new(number(1)))), 1);
    assert_eq!(value(Expr::LocationOf(Box::new(number(2)))), 0);
    assert_eq!(value(Expr::PriorityOf(Box::new(number(1)))), 1);
    assert_eq!(value(Expr::PriorityOf(Box::new(number(-1)))), 0);
    let at = |process, pid: Option<i32>, location| Expr::At {
        process: ProcessId(process),
        pid: pid.map(|pid| Box::new(number(pid))),
        location: LocationId(location),
    };
    assert_eq!(value(at(1, None, 0)), 1);
    assert_eq!(value(at(1, Some(1), 1)), 0);
    assert_eq!(value(at(1, Some(0), 0)), 0, "of another type");
}

/// Scalars, elements and channels before and behind the last word that a slot can name, in the globals, in a process and
/// in one that something asks about.
fn far_and_near(length: usize) -> String {
    format!(
        "int a[{length}]; chan c = [2] of {{ byte, int }}; chan big = [{length}] of {{ int, int }};
         chan r = [0] of {{ byte }}; int after; hidden int secret[{length}];
         active proctype p() {{
           int l[{length}]; byte z; chan own = [3] of {{ short }};
           a[{last}] = 7; l[{last}] = a[{last}] + 1; secret[{last}] = 5; z = {last} % 100; a[z + {length} - 100] = 1;
           c ! 1, l[{last}]; big ! 3, 4; big !! 2, 9; own ! 5; c ! 2, secret[{last}];
           assert(len(big) == 2 && nfull(big) && nempty(own) && len(c) == 2 && full(c));
           r ! 9; after = l[{last}] - 8 + a[{last}]; own ? z; assert(z == 5); done: after == 7
         }}
         active proctype q() {{
           byte k; int m, n;
           r ? k; c ? 1, m; assert(m == 8 && k == 9); c ? 2, a[{last}]; assert(a[{last}] == 5);
           big ? 2, n; big ? [3, 4]; big ? k, n; assert(k == 3 && n == 4);
           p[0]@done; assert(p[0]:l[{last}] == 8 && a[a[{last}] + {length} - 5 - k] == 0); a[k] = n; a[{last} - k] = 6
         }}",
        last = length - 1,
    )
}

#[test]
fn what_no_slot_can_name_is_like_everything_else() {
    let all = |length| {
        let mut machine = machine(&far_and_near(length));
        let (steps, state, ending) = run(&mut machine);
        let view = machine.view(&state).unwrap();
        let ends: Vec<i32> = view.global(VariableId(0)).into_iter().filter(|value| *value != 0).collect();
        let messages: Vec<_> = (1..=view.channel_count()).filter_map(|id| view.channel(id)).collect();
        (steps, ending, ends, messages)
    };
    let (steps, ending, ends, messages) = all(200);
    assert!(
        steps.len() > 20 && steps.iter().all(|step| matches!(step, Step::Successor { fault: None, .. })),
        "{steps:?}"
    );
    assert_eq!((ending, messages.iter().all(|channel| channel.messages.is_empty())), (Ending::InvalidEnd, true));
    for length in [66_000, 300_000] {
        assert!(all(length) == (steps.clone(), ending, ends.clone(), messages.clone()), "with {length} elements");
    }
}

#[test]
fn programs_that_break_their_invariants_are_refused() {
    let refuse = |change: &dyn Fn(&mut Program)| {
        let mut program = Builder::default().byte().channel(1, 1).process(&[(0, send(1, &[1]), 1, 0)]).0;
        change(&mut program);
        Machine::new(Arc::new(program)).map(|_| ()).unwrap_err()
    };
    let malformed = |refusal| assert!(matches!(refusal, Refusal::Malformed(_)), "{refusal:?}");
    malformed(refuse(&|p| p.initial[0].process = ProcessId(3)));
    malformed(refuse(&|p| p.edges[0].target = LocationId(9)));
    malformed(refuse(&|p| p.edges[0].statement = StatementId(9)));
    malformed(refuse(&|p| p.processes[0].entry = LocationId(9)));
    malformed(refuse(&|p| p.processes[0].locations[0].edges = 0..7));
    malformed(refuse(&|p| p.processes[0].locations[1].edges = 0..1));
    malformed(refuse(&|p| p.globals[1].initial = Initial::Channel(ChannelTypeId(4))));
    malformed(refuse(&|p| p.processes[0].statements[0].action = set(17, 1)));
    assert_eq!(refuse(&|p| p.globals[0].dimensions = vec![1 << 20, 1 << 20]), Refusal::TooLarge);
    assert_eq!(refuse(&|p| p.globals[0].dimensions = vec![(64 << 20) + 1]), Refusal::TooLarge);
    assert_eq!(refuse(&|p| p.channel_types[0].capacity = u32::MAX), Refusal::TooLarge);
    let mut deep = number(1);
    for _ in 0..3000 {
        deep = Expr::unary(fabius_program::UnaryOp::Not, deep);
    }
    assert_eq!(refuse(&|p| p.processes[0].statements[0].action = Action::Guard(deep.clone())), Refusal::TooDeep);
}
