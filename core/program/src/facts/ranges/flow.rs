//! Where values go, and what is asked of them: variables whose values are only copied and compared with constants.

use super::super::walk::{each_part, initial_values, shown};
use crate::{
    Action, BinaryOp, Expr, Initial, Kind, Pattern, ProcessId, ProcessKind, Program, PropertyKind, Slot, Type, UnaryOp,
    VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Where a value can be kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Node {
    /// A shared variable, all of its elements.
    Global(VariableId),
    /// A variable of a process type, all of its elements.
    Local(ProcessId, VariableId),
    /// A field of the messages of all channels, by its place in a message.
    Field(usize),
}

/// A question that is asked of a value: how it compares with a constant.
pub(super) type Question = (BinaryOp, i32);

/// Sets of nodes between which values are copied.
pub(super) struct Flow {
    /// The set of a node, by one of its members.
    leaders: BTreeMap<Node, Node>,
    /// What is asked of the values of a set, …
    questions: BTreeMap<Node, BTreeSet<(u8, i32)>>,
    /// … the constants that are stored in it, …
    constants: BTreeMap<Node, BTreeSet<i32>>,
    /// … the types of its members, …
    types: BTreeMap<Node, Vec<Type>>,
    /// … and those to which something else is done, or in which other values are stored, too.
    used_otherwise: BTreeSet<Node>,
    stored_otherwise: BTreeSet<Node>,
}

/// In which process type an expression is evaluated.
type Context = Option<ProcessId>;

impl Flow {
    /// The flow of a program; increments at `counting` edges are neither a use nor a source of a value.
    pub(super) fn of(program: &Program, counting: &BTreeSet<usize>) -> Self {
        let mut flow = Self {
            leaders: BTreeMap::new(),
            questions: BTreeMap::new(),
            constants: BTreeMap::new(),
            types: BTreeMap::new(),
            used_otherwise: BTreeSet::new(),
            stored_otherwise: BTreeSet::new(),
        };
        flow.declarations(program);
        let traced = |kind| matches!(kind, ProcessKind::Trace | ProcessKind::NoTrace);
        let fields = program.channel_types.iter().map(|channel| channel.fields.len()).max().unwrap_or(0);
        if program.processes.iter().any(|process| traced(process.kind)) {
            (0..fields).for_each(|field| flow.use_otherwise(Node::Field(field)));
        }
        for (at, edge) in program.edges.iter().enumerate() {
            let process = program.process(edge.process);
            if !traced(process.kind) {
                let action = &process.statements[edge.statement.0 as usize].action;
                flow.action(program, edge.process, action, counting.contains(&at));
            }
        }
        for property in &program.properties {
            if let PropertyKind::Ltl(formula) = &property.kind {
                formula.propositions().into_iter().for_each(|e| flow.visit(program, None, e, Role::Truth));
            }
        }
        flow
    }

    /// What is asked of the values of a variable; `None` if something else is done with them.
    pub(super) fn questions(&self, node: Node) -> Option<Vec<Question>> {
        let leader = self.leader(node);
        if self.used_otherwise.contains(&leader) {
            return None;
        }
        // A value that does not fit is another one after it was copied.
        let types = &self.types[&leader];
        let same = types.iter().all(|ty| (ty.bits, ty.signed) == (types[0].bits, types[0].signed));
        let fits = |value: &i32| types.iter().all(|ty| ty.truncate(*value) == *value);
        let all_fit = self.constants.get(&leader).is_none_or(|constants| constants.iter().all(fits));
        if !all_fit || !same && self.stored_otherwise.contains(&leader) {
            return None;
        }
        let questions = self.questions.get(&leader);
        Some(questions.into_iter().flatten().map(|(op, value)| (OPERATORS[usize::from(*op)], *value)).collect())
    }

    /// Adds a constant that is stored in a variable.
    pub(super) fn store(&mut self, node: Node, value: i32) {
        let leader = self.leader(node);
        self.constants.entry(leader).or_default().insert(value);
    }

    fn declarations(&mut self, program: &Program) {
        let field_types: Vec<(usize, Type)> =
            program.channel_types.iter().flat_map(|channel| channel.fields.iter().copied().enumerate()).collect();
        for (field, ty) in field_types {
            self.declare(Node::Field(field), ty);
        }
        let shared = program.globals.iter().enumerate().map(|(at, variable)| {
            let node = Node::Global(VariableId(at as u32));
            (node, variable, None)
        });
        let own = program.processes.iter().enumerate().flat_map(|(process, declared)| {
            let process = ProcessId(process as u32);
            let locals = declared.locals.iter().enumerate();
            locals.map(move |(at, variable)| (Node::Local(process, VariableId(at as u32)), variable, Some(process)))
        });
        let declared: Vec<_> = shared.chain(own).collect();
        for (node, variable, _) in &declared {
            self.declare(*node, variable.ty);
            if variable.hidden || variable.ty.kind == Kind::Channel {
                self.use_otherwise(*node);
            }
        }
        for (node, variable, context) in declared {
            match &variable.initial {
                Initial::Channel(_) => {}
                Initial::Zero => self.store(node, 0),
                initial => {
                    initial_values(initial).iter().for_each(|e| self.visit(program, context, e, Role::Stored(node)))
                }
            }
        }
        for (at, process) in program.processes.iter().enumerate() {
            let context = Some(ProcessId(at as u32));
            process.provided.iter().for_each(|e| self.visit(program, context, e, Role::Truth));
        }
    }

    fn declare(&mut self, node: Node, ty: Type) {
        self.leaders.entry(node).or_insert(node);
        self.types.entry(node).or_default().push(ty);
    }

    fn leader(&self, mut node: Node) -> Node {
        while let Some(&next) = self.leaders.get(&node).filter(|next| **next != node) {
            node = next;
        }
        node
    }

    fn join(&mut self, a: Node, b: Node) {
        let (a, b) = (self.leader(a), self.leader(b));
        if a == b {
            return;
        }
        self.leaders.insert(b, a);
        let questions = self.questions.remove(&b).unwrap_or_default();
        self.questions.entry(a).or_default().extend(questions);
        let constants = self.constants.remove(&b).unwrap_or_default();
        self.constants.entry(a).or_default().extend(constants);
        let types = self.types.remove(&b).unwrap_or_default();
        self.types.entry(a).or_default().extend(types);
        for set in [&mut self.used_otherwise, &mut self.stored_otherwise] {
            if set.remove(&b) {
                set.insert(a);
            }
        }
    }

    fn use_otherwise(&mut self, node: Node) {
        let leader = self.leader(node);
        self.used_otherwise.insert(leader);
    }

    fn ask(&mut self, node: Node, op: BinaryOp, value: i32) {
        let leader = self.leader(node);
        if let Some(op) = OPERATORS.iter().position(|known| *known == op) {
            self.questions.entry(leader).or_default().insert((op as u8, value));
        }
    }

    fn node(context: Context, slot: Slot) -> Option<Node> {
        match slot {
            Slot::Global(variable) => Some(Node::Global(variable)),
            Slot::Local(variable) => context.map(|process| Node::Local(process, variable)),
        }
    }

    fn action(&mut self, program: &Program, process: ProcessId, action: &Action, counts: bool) {
        let context = Some(process);
        let mut visit = |e: &Expr, role: Role| self.visit(program, context, e, role);
        match action {
            Action::Skip | Action::Else | Action::End => {}
            Action::Guard(e) | Action::Assert(e) => visit(e, Role::Truth),
            Action::Assign(..) if counts => {}
            Action::Assign(place, e) => {
                place.indices.iter().for_each(|index| visit(index, Role::Other));
                let role = Self::node(context, place.slot).map_or(Role::Other, Role::Stored);
                visit(e, role);
            }
            Action::Send(send) => {
                visit(&send.channel, Role::Other);
                for (field, e) in send.fields.iter().enumerate() {
                    visit(e, Role::Stored(Node::Field(field)));
                }
                if send.sorted {
                    (0..send.fields.len()).for_each(|field| self.use_otherwise(Node::Field(field)));
                }
            }
            Action::Receive(receive) => {
                visit(&receive.channel, Role::Other);
                let mut open = Vec::new();
                self.patterns(context, &receive.fields, &mut open);
                open.into_iter().for_each(|e| self.visit(program, context, e, Role::Other));
            }
            // What is shown makes no difference to what can happen.
            Action::Print(pieces) => {
                for e in pieces.iter().filter_map(shown) {
                    match e {
                        Expr::Load(place) => place.indices.iter().for_each(|index| visit(index, Role::Other)),
                        e => visit(e, Role::Other),
                    }
                }
            }
            Action::SetPriority(a, b) => [a, b].into_iter().for_each(|e| visit(e, Role::Other)),
            Action::Merged(parts) => parts.iter().for_each(|part| self.action(program, process, part, counts)),
            Action::Block(block) => {
                let options = block.nodes.iter().flat_map(|node| &node.options);
                options.for_each(|option| self.action(program, process, &option.action, false));
            }
        }
    }

    /// What a receive does with the values of a message; adds what it evaluates.
    fn patterns<'e>(&mut self, context: Context, fields: &'e [Pattern], open: &mut Vec<&'e Expr>) {
        for (field, pattern) in fields.iter().enumerate() {
            let field = Node::Field(field);
            match pattern {
                Pattern::Ignore => {}
                Pattern::Store(place) => {
                    open.extend(&place.indices);
                    if let Some(node) = Self::node(context, place.slot) {
                        self.join(field, node);
                    }
                }
                Pattern::Match(Expr::Constant(value)) => self.ask(field, BinaryOp::Equal, *value),
                Pattern::Match(e) => {
                    self.use_otherwise(field);
                    open.push(e);
                }
            }
        }
    }

    /// Looks at an expression and its parts.
    fn visit(&mut self, program: &Program, context: Context, e: &Expr, role: Role) {
        let mut open = vec![(e, role)];
        while let Some((e, role)) = open.pop() {
            match (e, role) {
                (Expr::Load(place), _) => {
                    open.extend(place.indices.iter().map(|index| (index, Role::Other)));
                    if let Some(node) = Self::node(context, place.slot) {
                        match role {
                            Role::Truth => self.ask(node, BinaryOp::NotEqual, 0),
                            Role::Stored(to) => self.join(node, to),
                            Role::Other => self.use_otherwise(node),
                        }
                    }
                }
                (Expr::Constant(value), Role::Stored(to)) => self.store(to, *value),
                (Expr::Conditional(condition, a, b), _) => {
                    open.extend([(&**condition, Role::Truth), (&**a, role), (&**b, role)]);
                }
                (e, Role::Stored(to)) => {
                    let leader = self.leader(to);
                    self.stored_otherwise.insert(leader);
                    open.push((e, Role::Other));
                }
                // These are 0 or 1, whatever is done with that.
                (Expr::Unary(UnaryOp::Not, a), _) => open.push((a, Role::Truth)),
                (Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b), _) => {
                    open.extend([(&**a, Role::Truth), (&**b, Role::Truth)]);
                }
                (Expr::Binary(op, a, b), _) if OPERATORS.contains(op) => match (&**a, &**b) {
                    (Expr::Load(place), Expr::Constant(value)) | (Expr::Constant(value), Expr::Load(place)) => {
                        open.extend(place.indices.iter().map(|index| (index, Role::Other)));
                        let op = if b.constant().is_some() { *op } else { op.mirrored() };
                        if let Some(node) = Self::node(context, place.slot) {
                            self.ask(node, op, *value);
                        }
                    }
                    (a, b) => open.extend([(a, Role::Other), (b, Role::Other)]),
                },
                (Expr::Run { process, arguments, .. }, _) => {
                    let locals = program.process(*process).locals.len();
                    for (at, argument) in arguments.iter().enumerate().take(locals) {
                        open.push((argument, Role::Stored(Node::Local(*process, VariableId(at as u32)))));
                    }
                }
                (Expr::Poll { channel, fields, .. }, _) => {
                    open.push((channel, Role::Other));
                    self.polled(fields);
                    each_part(e, |part| open.push((part, Role::Other)));
                }
                (Expr::Remote { process, variable, .. }, _) => {
                    self.use_otherwise(Node::Local(*process, *variable));
                    each_part(e, |part| open.push((part, Role::Other)));
                }
                (e, _) => each_part(e, |part| open.push((part, Role::Other))),
            }
        }
    }

    /// What a poll asks of the values of a message; it stores nothing.
    fn polled(&mut self, fields: &[Pattern]) {
        for (field, pattern) in fields.iter().enumerate() {
            match pattern {
                Pattern::Match(Expr::Constant(value)) => self.ask(Node::Field(field), BinaryOp::Equal, *value),
                Pattern::Match(_) => self.use_otherwise(Node::Field(field)),
                Pattern::Ignore | Pattern::Store(_) => {}
            }
        }
    }
}

/// What an expression is evaluated for.
#[derive(Clone, Copy)]
enum Role {
    /// It only matters whether it is 0.
    Truth,
    /// Its value is stored.
    Stored(Node),
    /// Its value matters.
    Other,
}

const OPERATORS: [BinaryOp; 6] = [
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
];

/// What is answered to questions about a value.
pub(super) fn answers(questions: &[Question], value: i32) -> Vec<bool> {
    let answer = |&(op, constant): &Question| match op {
        BinaryOp::Less => value < constant,
        BinaryOp::LessEqual => value <= constant,
        BinaryOp::Greater => value > constant,
        BinaryOp::GreaterEqual => value >= constant,
        BinaryOp::Equal => value == constant,
        _ => value != constant,
    };
    questions.iter().map(answer).collect()
}
