//! What a program never does: variables that nothing writes, processes that nothing starts.

use fabius_program::{
    Action, BinaryOp, Expr, Pattern, Place, PrintPiece, Process, ProcessId, Program, Receive, Send, Slot, VariableId,
};

/// What [`Facts::of`] found in a program.
pub(super) struct Facts {
    /// For each global, whether something assigns to it after it was initialised.
    pub globals_written: Vec<bool>,
    /// The same for the locals of each process.
    pub locals_written: Vec<Vec<bool>>,
    /// For each process type, whether it is ever started.
    pub runs: Vec<bool>,
    /// Whether a `Run` occurs.
    pub dynamic: bool,
    /// Levels of nesting of the deepest expression.
    pub depth: usize,
    /// The process whose code is looked at.
    process: usize,
}

impl Facts {
    pub(super) fn of(program: &Program) -> Self {
        let mut facts = Self {
            globals_written: vec![false; program.globals.len()],
            locals_written: program.processes.iter().map(|p| vec![false; p.locals.len()]).collect(),
            runs: vec![false; program.processes.len()],
            dynamic: false,
            depth: 0,
            process: 0,
        };
        for instance in &program.initial {
            facts.start(instance.process);
        }
        for (at, global) in program.globals.iter().enumerate() {
            initial_exprs(&global.initial).iter().for_each(|e| {
                facts.expr(e);
                facts.reads_ahead(e, |slot| matches!(slot, Slot::Global(v) if v.0 as usize >= at));
            });
        }
        for (index, process) in program.processes.iter().enumerate() {
            facts.process = index;
            facts.process(process);
        }
        facts
    }

    fn start(&mut self, process: ProcessId) {
        if let Some(runs) = self.runs.get_mut(process.0 as usize) {
            *runs = true;
        }
    }

    fn process(&mut self, process: &Process) {
        for parameter in 0..process.parameter_count {
            self.write(Slot::Local(VariableId(parameter)));
        }
        for (at, local) in process.locals.iter().enumerate() {
            initial_exprs(&local.initial).iter().for_each(|e| {
                self.expr(e);
                self.reads_ahead(e, |slot| matches!(slot, Slot::Local(v) if v.0 as usize >= at));
            });
        }
        if let Some(provided) = &process.provided {
            self.expr(provided);
        }
        for statement in &process.statements {
            self.action(&statement.action);
        }
    }

    fn write(&mut self, slot: Slot) {
        let flag = match slot {
            Slot::Global(v) => self.globals_written.get_mut(v.0 as usize),
            Slot::Local(v) => self.locals_written.get_mut(self.process).and_then(|locals| locals.get_mut(v.0 as usize)),
        };
        if let Some(flag) = flag {
            *flag = true;
        }
    }

    fn expr(&mut self, e: &Expr) {
        self.depth = self.depth.max(depth(e));
        any_expr(e, &mut |e| {
            if let Expr::Run { process, .. } = e {
                self.dynamic = true;
                self.start(*process);
            }
            false
        });
    }

    /// A variable read before it is initialised is 0 at first: its first value counts as written.
    fn reads_ahead(&mut self, e: &Expr, is_ahead: impl Fn(Slot) -> bool) {
        any_expr(e, &mut |e| {
            if let Expr::Load(place) = e
                && is_ahead(place.slot)
            {
                self.write(place.slot);
            }
            false
        });
    }

    fn assign(&mut self, place: &Place) {
        self.write(place.slot);
        place.indices.iter().for_each(|e| self.expr(e));
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip | Action::Else | Action::End => {}
            Action::Guard(e) | Action::Assert(e) => self.expr(e),
            Action::Assign(place, e) => {
                self.assign(place);
                self.expr(e);
            }
            Action::Send(Send { channel, fields, .. }) => {
                self.expr(channel);
                fields.iter().for_each(|e| self.expr(e));
            }
            Action::Receive(Receive { channel, fields, .. }) => {
                self.expr(channel);
                for field in fields {
                    match field {
                        Pattern::Store(place) => self.assign(place),
                        Pattern::Match(e) => self.expr(e),
                        Pattern::Ignore => {}
                    }
                }
            }
            Action::Print(pieces) => pieces.iter().filter_map(piece_expr).for_each(|e| self.expr(e)),
            Action::SetPriority(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Action::Merged(actions) => actions.iter().for_each(|a| self.action(a)),
            Action::Block(block) => {
                block.nodes.iter().flat_map(|node| &node.options).for_each(|option| self.action(&option.action));
            }
        }
    }
}

/// The expressions of an initial value.
pub(super) fn initial_exprs(initial: &fabius_program::Initial) -> &[Expr] {
    match initial {
        fabius_program::Initial::Value(e) => std::slice::from_ref(e),
        fabius_program::Initial::List(list) => list,
        _ => &[],
    }
}

/// The expression that a piece of a print statement shows.
pub(super) fn piece_expr(piece: &PrintPiece) -> Option<&Expr> {
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

/// Whether a question has the answer yes for an expression or one of its parts.
pub(super) fn any_expr(e: &Expr, asks: &mut impl FnMut(&Expr) -> bool) -> bool {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        if asks(e) {
            return true;
        }
        each_child(e, &mut |child| open.push(child));
    }
    false
}

/// Whether a question has the answer yes for some expression in the statements of a process.
pub(super) fn asks(process: &Process, question: &mut impl FnMut(&Expr) -> bool) -> bool {
    let mut open: Vec<&Action> = process.statements.iter().map(|statement| &statement.action).collect();
    let mut found = false;
    while let Some(action) = open.pop() {
        let mut ask = |e: &Expr| found = found || any_expr(e, question);
        match action {
            Action::Guard(e) | Action::Assert(e) | Action::Assign(_, e) => ask(e),
            Action::SetPriority(a, b) => [a, b].into_iter().for_each(ask),
            Action::Print(pieces) => pieces.iter().filter_map(piece_expr).for_each(ask),
            Action::Merged(actions) => open.extend(actions),
            Action::Block(block) => {
                open.extend(block.nodes.iter().flat_map(|node| &node.options).map(|option| &option.action));
            }
            Action::Skip | Action::Else | Action::End | Action::Send(_) | Action::Receive(_) => {}
        }
        if let Action::Assign(place, _) = action {
            place.indices.iter().for_each(|e| found = found || any_expr(e, question));
        }
    }
    found
}

/// Whether a `Run` occurs in an expression.
pub(super) fn has_run(e: &Expr) -> bool {
    any_expr(e, &mut |e| matches!(e, Expr::Run { .. }))
}

/// Whether evaluating an expression may be a fault; may say yes too often.
pub(super) fn may_fault(e: &Expr) -> bool {
    any_expr(e, &mut |e| match e {
        Expr::Load(place) => !place.indices.is_empty(),
        Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, _, b) => !matches!(**b, Expr::Constant(k) if k != 0),
        Expr::Length(_) | Expr::Test(..) | Expr::Poll { .. } | Expr::Run { .. } | Expr::Enabled(_) => true,
        Expr::Remote { indices, .. } => !indices.is_empty(),
        _ => false,
    })
}

/// Whether an action takes its process away.
pub(super) fn ends(action: &Action) -> bool {
    match action {
        Action::End => true,
        Action::Merged(actions) => actions.iter().any(ends),
        _ => false,
    }
}

/// Levels of nesting of an expression.
pub(super) fn depth(e: &Expr) -> usize {
    let mut deepest = 0;
    let mut open = vec![(e, 1)];
    while let Some((e, level)) = open.pop() {
        deepest = deepest.max(level);
        let below = level + 1;
        each_child(e, &mut |child| open.push((child, below)));
    }
    deepest
}

/// Calls a function for each direct part of an expression.
fn each_child<'e>(e: &'e Expr, visit: &mut impl FnMut(&'e Expr)) {
    match e {
        Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {}
        Expr::Load(place) => place.indices.iter().for_each(visit),
        Expr::Unary(_, a)
        | Expr::Length(a)
        | Expr::Test(_, a)
        | Expr::Enabled(a)
        | Expr::LocationOf(a)
        | Expr::PriorityOf(a) => visit(a),
        Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|e| visit(e)),
        Expr::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| visit(e)),
        Expr::Poll { channel, fields, .. } => {
            visit(channel);
            for field in fields {
                if let Pattern::Match(e) = field {
                    visit(e);
                }
            }
        }
        Expr::Run { arguments, .. } => arguments.iter().for_each(visit),
        Expr::At { pid, .. } => pid.iter().for_each(|e| visit(e)),
        Expr::Remote { pid, indices, .. } => {
            pid.iter().for_each(|e| visit(e));
            indices.iter().for_each(visit);
        }
    }
}
