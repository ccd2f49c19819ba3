//! What steps read and write, and whether other processes can observe it.

use crate::flow::{Element, Node};
use fabius_program::{Action, ChannelTest, Expr, Pattern, Place, PrintPiece, Slot, VariableId};
use std::collections::HashMap;

/// `xr`: only one process receives.
pub(crate) const EXCLUSIVE_RECEIVE: u8 = 1;
/// `xs`: only one process sends.
pub(crate) const EXCLUSIVE_SEND: u8 = 2;
/// A claim looks at it, so nothing is exclusive.
pub(crate) const SEEN_BY_CLAIM: u8 = 4;

/// What the optimiser must know about the variables of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Per process type and local: neither an array, nor part of a structure, nor a channel.
    pub plain: Vec<Vec<bool>>,
    /// Per global: declared `local`, so only one process uses it.
    pub local_globals: Vec<bool>,
    /// Promises about channels, by process type and slot.
    pub exclusive: HashMap<(Option<u32>, VariableId), u8>,
    /// Per process type: first values of its locals may depend on globals.
    pub reads_globals_at_start: Vec<bool>,
    /// There is a rendezvous channel.
    pub rendezvous: bool,
}

/// Plain locals that a step reads and writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    pub reads: Vec<VariableId>,
    pub writes: Vec<VariableId>,
}

impl Facts {
    pub fn uses(&self, element: &Element) -> Uses {
        let plain = &self.plain[element.process as usize];
        let mut collector = Collector { plain, uses: Uses::default() };
        match &element.node {
            Node::Action(action) => collector.action(action),
            Node::Prioritise(e) => collector.expr(e),
            _ => {}
        }
        element.head.unused.iter().for_each(|e| collector.expr(e));
        collector.uses
    }

    /// Whether another process may observe or influence a step.
    pub fn is_global(&self, element: &Element) -> bool {
        let process = element.process;
        let own = match &element.node {
            Node::Else => element.beside_io,
            Node::Action(action) => self.global_action(action, process),
            Node::Prioritise(e) => self.global_expr(e, process),
            _ => false,
        };
        own || element.head.unused.iter().any(|e| self.global_expr(e, process))
    }

    fn global_action(&self, action: &Action, process: u32) -> bool {
        let expr = |e: &Expr| self.global_expr(e, process);
        match action {
            Action::Skip | Action::Else | Action::End | Action::Block(_) | Action::Merged(_) => false,
            Action::Guard(e) | Action::Assert(e) => expr(e),
            Action::Assign(place, e) => self.global_place(place) || expr(e),
            Action::Send(send) => {
                send.fields.iter().any(expr)
                    || self.promise(&send.channel, process) & (EXCLUSIVE_SEND | SEEN_BY_CLAIM) != EXCLUSIVE_SEND
            }
            Action::Receive(receive) => {
                let mask = EXCLUSIVE_RECEIVE | SEEN_BY_CLAIM;
                self.global_patterns(&receive.fields, process)
                    || self.promise(&receive.channel, process) & mask != EXCLUSIVE_RECEIVE
            }
            Action::Print(pieces) => pieces.iter().filter_map(value_of).any(expr),
            Action::SetPriority(..) => true,
        }
    }

    fn global_patterns(&self, patterns: &[Pattern], process: u32) -> bool {
        patterns.iter().any(|pattern| match pattern {
            Pattern::Store(place) => self.global_place(place),
            Pattern::Match(e) => self.global_expr(e, process),
            Pattern::Ignore => false,
        })
    }

    fn global_place(&self, place: &Place) -> bool {
        match place.slot {
            Slot::Local(_) => false,
            Slot::Global(id) => !self.local_globals.get(id.0 as usize).copied().unwrap_or(false),
        }
    }

    /// What was promised about a channel.
    fn promise(&self, channel: &Expr, process: u32) -> u8 {
        let Expr::Load(place) = channel else { return 0 };
        let key = match place.slot {
            Slot::Global(id) => (None, id),
            Slot::Local(id) => (Some(process), id),
        };
        self.exclusive.get(&key).copied().unwrap_or(0)
    }

    fn global_expr(&self, e: &Expr, process: u32) -> bool {
        let both = EXCLUSIVE_RECEIVE | EXCLUSIVE_SEND;
        let broken = |channel: &Expr, needed: u8| self.promise(channel, process) & (needed | SEEN_BY_CLAIM) != needed;
        match e {
            Expr::Constant(_) | Expr::Pid => false,
            Expr::Load(place) => self.global_place(place),
            Expr::Unary(_, a) => self.global_expr(a, process),
            Expr::Binary(_, a, b) => self.global_expr(a, process) || self.global_expr(b, process),
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().any(|x| self.global_expr(x, process)),
            Expr::Length(channel) => broken(channel, both),
            Expr::Test(ChannelTest::NotEmpty | ChannelTest::Full, channel) => broken(channel, EXCLUSIVE_RECEIVE),
            Expr::Test(ChannelTest::NotFull | ChannelTest::Empty, channel) => broken(channel, EXCLUSIVE_SEND),
            Expr::Poll { channel, fields, .. } => self.global_patterns(fields, process) || broken(channel, both),
            Expr::Run { process, .. } => self.reads_globals_at_start.get(process.0 as usize).copied().unwrap_or(false),
            Expr::PriorityOf(pid) => !matches!(**pid, Expr::Pid),
            Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::NonProgress
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::At { .. }
            | Expr::Remote { .. } => true,
        }
    }
}

/// The value that a piece of a print shows.
fn value_of(piece: &PrintPiece) -> Option<&Expr> {
    match piece {
        PrintPiece::Text(_) => None,
        PrintPiece::Decimal(e)
        | PrintPiece::Unsigned(e)
        | PrintPiece::Hex(e)
        | PrintPiece::Octal(e)
        | PrintPiece::Character(e)
        | PrintPiece::Name(e, _) => Some(e),
    }
}

/// Whether an expression creates a process.
pub(super) fn runs(e: &Expr) -> bool {
    contains(e, &|e| matches!(e, Expr::Run { .. }))
}

/// Whether a step creates a process.
pub(crate) fn creates_process(action: &Action) -> bool {
    match action {
        Action::Guard(e) | Action::Assert(e) | Action::Assign(_, e) => runs(e),
        Action::Print(pieces) => pieces.iter().filter_map(value_of).any(runs),
        _ => false,
    }
}

/// Whether a step other than an assignment looks at a variable or a location of another process.
pub(crate) fn looks_into_process(action: &Action) -> bool {
    let looks = |e: &Expr| contains(e, &|e| matches!(e, Expr::At { .. } | Expr::Remote { .. }));
    match action {
        Action::Guard(e) | Action::Assert(e) => looks(e),
        Action::Print(pieces) => pieces.iter().filter_map(value_of).any(looks),
        _ => false,
    }
}

/// Whether some part of an expression is of a kind.
fn contains(e: &Expr, kind: &dyn Fn(&Expr) -> bool) -> bool {
    let part = |e: &Expr| contains(e, kind);
    kind(e)
        || match e {
            Expr::Load(place) => place.indices.iter().any(part),
            Expr::Unary(_, a) | Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => part(a),
            Expr::Binary(_, a, b) => part(a) || part(b),
            Expr::Conditional(a, b, c) => part(a) || part(b) || part(c),
            Expr::Run { arguments, .. } => arguments.iter().any(part),
            _ => false,
        }
}

struct Collector<'a> {
    plain: &'a [bool],
    uses: Uses,
}

impl Collector<'_> {
    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip | Action::Else | Action::End | Action::Block(_) | Action::Merged(_) => {}
            Action::Guard(e) | Action::Assert(e) => self.expr(e),
            Action::Assign(place, e) => {
                self.write(place);
                self.expr(e);
            }
            Action::Send(send) => {
                self.expr(&send.channel);
                send.fields.iter().for_each(|e| self.expr(e));
            }
            Action::Receive(receive) => {
                self.expr(&receive.channel);
                self.patterns(&receive.fields);
            }
            Action::Print(pieces) => pieces.iter().filter_map(value_of).for_each(|e| self.expr(e)),
            Action::SetPriority(pid, priority) => {
                // Spin looks only at the right operand of the first argument.
                if let Expr::Binary(_, _, right) = pid {
                    self.expr(right);
                }
                self.expr(priority);
            }
        }
    }

    fn patterns(&mut self, patterns: &[Pattern]) {
        for pattern in patterns {
            match pattern {
                Pattern::Store(place) => self.write(place),
                Pattern::Match(e) => self.expr(e),
                Pattern::Ignore => {}
            }
        }
    }

    fn plain_local(&self, place: &Place) -> Option<VariableId> {
        match place.slot {
            Slot::Local(id) if self.plain.get(id.0 as usize).copied().unwrap_or(false) => Some(id),
            _ => None,
        }
    }

    fn write(&mut self, place: &Place) {
        if let Some(id) = self.plain_local(place)
            && !self.uses.writes.contains(&id)
        {
            self.uses.writes.push(id);
        }
        place.indices.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Load(place) => {
                if let Some(id) = self.plain_local(place)
                    && !self.uses.reads.contains(&id)
                {
                    self.uses.reads.push(id);
                }
                place.indices.iter().for_each(|e| self.expr(e));
            }
            Expr::Unary(_, a) | Expr::Length(a) | Expr::Test(_, a) => self.expr(a),
            Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => self.expr(a),
            Expr::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|x| self.expr(x)),
            Expr::Poll { channel, fields, .. } => {
                self.expr(channel);
                self.patterns(fields);
            }
            Expr::Run { arguments, .. } => arguments.iter().for_each(|e| self.expr(e)),
            Expr::At { pid, .. } => pid.iter().for_each(|e| self.expr(e)),
            Expr::Remote { pid, indices, .. } => {
                pid.iter().for_each(|e| self.expr(e));
                indices.iter().for_each(|e| self.expr(e));
            }
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {}
        }
    }
}
