//! Expressions.

use super::access::Access;
use super::{Argument, Call, Lowering, Remote, RemoteTarget};
use crate::ast::{self, BinOp, ExprKind, ReceiveArg, UnOp, VarRef};
use crate::flow::LabelRef;
use crate::names::Meaning;
use crate::optimise::SEEN_BY_CLAIM;
use crate::types::Basic;
use fabius_base::{Code, Finding, Span};
use fabius_program::{
    BinaryOp, ChannelTest, Expr, Initial, LocationId, Pattern, Place, ProcessId, Slot, UnaryOp, VariableId,
};

/// What Spin takes a temporal operator for where it does not expect one.
const ALWAYS: i32 = 333;
const EVENTUALLY: i32 = 334;
const UNTIL: i32 = 335;
const RELEASE: i32 = 337;
const NEXT: i32 = 338;

impl Lowering<'_> {
    /// Lowers an expression; what is wrong with it is reported and reads as 0.
    pub(super) fn expression(&mut self, e: &ast::Expr) -> Expr {
        match &e.kind {
            ExprKind::Constant(c) => Expr::Constant(c.value),
            ExprKind::Var(v) => self.read(v),
            ExprKind::Unary(op, a) => self.unary(*op, a, e.span),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::Conditional(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|x| Box::new(self.expression(x)));
                Expr::Conditional(a, b, c)
            }
            ExprKind::Run { process, arguments, priority } => self.run(process, arguments, priority.as_ref(), e.span),
            ExprKind::Len(v) => Expr::Length(Box::new(self.looked_at(v))),
            ExprKind::Full(v) => self.fill(ChannelTest::Full, v),
            ExprKind::NFull(v) => self.fill(ChannelTest::NotFull, v),
            ExprKind::Empty(v) => self.fill(ChannelTest::Empty, v),
            ExprKind::NEmpty(v) => self.fill(ChannelTest::NotEmpty, v),
            ExprKind::Enabled(pid) => {
                self.uses.enabled = true;
                Expr::Enabled(Box::new(self.expression(pid)))
            }
            ExprKind::GetPriority(pid) => {
                self.uses.priority = true;
                Expr::PriorityOf(Box::new(self.expression(pid)))
            }
            ExprKind::PcValue(pid) => Expr::LocationOf(Box::new(self.expression(pid))),
            ExprKind::Poll { channel, any, arguments } => {
                let channel = Box::new(self.looked_at(channel));
                let mut fields = self.patterns(arguments, true);
                // A poll may ask for the first fields only.
                let all = self.fields_of(&channel).unwrap_or(0);
                fields.resize(fields.len().max(all), Pattern::Ignore);
                Expr::Poll { channel, any: *any, fields }
            }
            ExprKind::Timeout => {
                self.uses.timeout = true;
                Expr::Timeout
            }
            ExprKind::NonProgress => self.non_progress(e.span),
            ExprKind::RemoteLabel { process, pid, label } => self.remote_label(process, pid.as_deref(), label),
            ExprKind::RemoteVar { process, pid, variable } => self.remote_variable(process, pid.as_deref(), variable),
            ExprKind::EmbeddedC(c) => {
                self.embedded(c);
                Expr::Constant(0)
            }
            ExprKind::Error => Expr::Constant(0),
        }
    }

    fn unary(&mut self, op: UnOp, a: &ast::Expr, span: Span) -> Expr {
        let operand = self.expression(a);
        let op = match op {
            UnOp::Not => UnaryOp::Not,
            UnOp::Neg => UnaryOp::Negate,
            UnOp::BitNot => UnaryOp::Complement,
            UnOp::Always => return self.temporal(span, ALWAYS),
            UnOp::Eventually => return self.temporal(span, EVENTUALLY),
            UnOp::Next => return self.temporal(span, NEXT),
        };
        Expr::unary(op, operand)
    }

    /// A temporal operator inside an expression over one state. In a formula, Spin takes it for a number.
    fn temporal(&mut self, span: Span, number: i32) -> Expr {
        let mut finding = Finding::new(Code::NotAllowedHere, "a temporal operator stands inside an expression")
            .at(span, "says something about a run, not about one state");
        if self.in_ltl {
            if !self.in_outside {
                finding.severity = fabius_base::Severity::Warning;
                let note = format!("Spin takes it for the number {number} and checks something else than it says");
                finding = finding.note(note);
            }
            finding = finding.help("put parentheses around what the operator applies to, as in `[] (x == 1)`");
        } else {
            finding = finding.help("such operators can be used in `ltl` formulas only");
        }
        self.report(finding);
        Expr::Constant(number)
    }

    fn binary(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let left = self.expression(a);
        let right = self.expression(b);
        let op = match op {
            BinOp::Add => BinaryOp::Add,
            BinOp::Sub => BinaryOp::Subtract,
            BinOp::Mul => BinaryOp::Multiply,
            BinOp::Div => BinaryOp::Divide,
            BinOp::Rem => BinaryOp::Remainder,
            BinOp::BitAnd => BinaryOp::BitAnd,
            BinOp::BitOr => BinaryOp::BitOr,
            BinOp::BitXor => BinaryOp::BitXor,
            BinOp::Shl => BinaryOp::ShiftLeft,
            BinOp::Shr => BinaryOp::ShiftRight,
            BinOp::Lt => BinaryOp::Less,
            BinOp::Le => BinaryOp::LessEqual,
            BinOp::Gt => BinaryOp::Greater,
            BinOp::Ge => BinaryOp::GreaterEqual,
            BinOp::Eq => BinaryOp::Equal,
            BinOp::Ne => BinaryOp::NotEqual,
            BinOp::And => BinaryOp::And,
            BinOp::Or => BinaryOp::Or,
            BinOp::Implies => {
                return Expr::binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, left), right);
            }
            BinOp::Equiv => {
                let truth = |e| Expr::unary(UnaryOp::Not, e);
                return Expr::binary(BinaryOp::Equal, truth(left), truth(right));
            }
            BinOp::Until => return self.temporal(span, UNTIL),
            BinOp::WeakUntil => return self.temporal(span, 1),
            BinOp::Release => return self.temporal(span, RELEASE),
        };
        Expr::binary(op, left, right)
    }

    /// The value of a variable.
    fn read(&mut self, v: &VarRef) -> Expr {
        match self.access(v) {
            None => Expr::Constant(0),
            Some(Access::Constant(value)) => Expr::Constant(value),
            Some(Access::Leaf { place, declared, .. }) => {
                self.mark_read(v, declared);
                Expr::Load(place)
            }
            Some(Access::Structure { declared, .. }) => {
                self.incomplete(declared, v);
                Expr::Constant(0)
            }
            Some(Access::Predefined(name)) => self.predefined(&name, v.span),
        }
    }

    /// A variable whose value is used is part of the state.
    pub(super) fn mark_read(&mut self, v: &VarRef, declared: crate::names::DeclaredId) {
        if self.reading && v.parts.len() == 1 {
            self.declared[declared.0 as usize].read = true;
        }
    }

    fn predefined(&mut self, name: &str, span: Span) -> Expr {
        match name {
            "_pid" => Expr::Pid,
            "_nr_pr" => {
                self.process_count.get_or_insert(span);
                Expr::ProcessCount
            }
            "_last" => Expr::Last,
            "_priority" => Expr::PriorityOf(Box::new(Expr::Pid)),
            "_p" => Expr::LocationOf(Box::new(Expr::Pid)),
            _ => {
                let headline = "`_` has no value";
                self.error(Code::PredefinedVariable, span, headline, "it can only be written");
                Expr::Constant(0)
            }
        }
    }

    /// A channel: a variable, whose value is the identity of a channel.
    pub(super) fn channel(&mut self, v: &VarRef) -> Expr {
        match self.access(v) {
            Some(Access::Leaf { place, .. }) => Expr::Load(place),
            Some(Access::Structure { declared, .. }) => {
                self.incomplete(declared, v);
                Expr::Constant(0)
            }
            Some(_) => {
                let headline = format!("`{}` is not a channel", v.parts[0].name.text);
                self.error(Code::TypeMismatch, v.span, headline, "a channel is needed here");
                Expr::Constant(0)
            }
            None => Expr::Constant(0),
        }
    }

    /// A channel that is only looked at. What a claim looks at is not exclusive any more.
    fn looked_at(&mut self, v: &VarRef) -> Expr {
        let channel = self.channel(v);
        if self.in_claim() {
            self.promise(&channel, SEEN_BY_CLAIM);
        }
        channel
    }

    /// A test of a channel's fill level.
    fn fill(&mut self, test: ChannelTest, v: &VarRef) -> Expr {
        self.must_be_channel(v);
        Expr::Test(test, Box::new(self.looked_at(v)))
    }

    /// Reports a variable that is no channel.
    pub(super) fn must_be_channel(&mut self, v: &VarRef) {
        if self.basic_of(v).is_some_and(|basic| basic != Basic::Chan) {
            let headline = format!("`{}` is not a channel", super::text::variable(v));
            self.error(Code::TypeMismatch, v.span, headline, "a channel is needed here");
        }
    }

    /// Notes something about a channel.
    pub(super) fn promise(&mut self, channel: &Expr, what: u8) {
        let Expr::Load(place) = channel else { return };
        let key = match place.slot {
            Slot::Global(id) => (None, id),
            Slot::Local(id) => (self.names.context(), id),
        };
        *self.exclusive.entry(key).or_insert(0) |= what;
    }

    /// How many fields the messages of a channel have, if it is made where it is declared.
    fn fields_of(&self, channel: &Expr) -> Option<usize> {
        let Expr::Load(place) = channel else { return None };
        let variable = match place.slot {
            Slot::Global(id) => self.globals.get(id.0 as usize)?,
            Slot::Local(id) => self.drafts.get(self.names.context()? as usize)?.locals.get(id.0 as usize)?,
        };
        match variable.initial {
            Initial::Channel(id) => self.channel_types.get(id.0 as usize).map(|t| t.fields.len()),
            _ => None,
        }
    }

    /// Arguments of a send or a `run`: structures stand for all their fields.
    pub(super) fn arguments(&mut self, arguments: &[ast::Expr]) -> Vec<Expr> {
        let expanding = std::mem::replace(&mut self.expanding, true);
        let mut values = Vec::new();
        for argument in arguments {
            if let ExprKind::Var(v) = &argument.kind
                && let Some(access) = self.structure(v)
            {
                let Access::Structure { declared, leaf, ty, indices } = access else { continue };
                values.extend(self.leaves(declared, leaf, ty, &indices).into_iter().map(|(p, _)| Expr::Load(p)));
            } else {
                values.push(self.expression(argument));
            }
        }
        self.expanding = expanding;
        values
    }

    /// The access, if a reference leads to a whole structure. Reports nothing otherwise.
    fn structure(&mut self, v: &VarRef) -> Option<Access> {
        let symbol = self.names.find(&v.parts.first()?.name.text)?;
        let Meaning::Variable(declared) = self.names.symbol(symbol).meaning else { return None };
        if !matches!(self.variable(declared).ty, crate::types::VarType::Struct(_)) {
            return None;
        }
        let before = self.findings.len();
        let access = self.access(v);
        if matches!(access, Some(Access::Structure { .. })) {
            return access;
        }
        self.findings.truncate(before);
        None
    }

    /// Fields of a receive or a poll. A poll does not store anything.
    pub(super) fn patterns(&mut self, arguments: &[ReceiveArg], poll: bool) -> Vec<Pattern> {
        let expanding = std::mem::replace(&mut self.expanding, true);
        let mut fields = Vec::new();
        for argument in arguments {
            match argument {
                ReceiveArg::Constant(c) => fields.push(Pattern::Match(Expr::Constant(c.value))),
                ReceiveArg::Eval(e) => {
                    let value = self.expression(e);
                    fields.push(Pattern::Match(value));
                }
                ReceiveArg::Variable(v) => self.received(v, poll, &mut fields),
            }
        }
        self.expanding = expanding;
        fields
    }

    fn received(&mut self, v: &VarRef, poll: bool, fields: &mut Vec<Pattern>) {
        let store = |place: Place| if poll { Pattern::Ignore } else { Pattern::Store(place) };
        match self.access(v) {
            None => fields.push(Pattern::Ignore),
            Some(Access::Constant(value)) => fields.push(Pattern::Match(Expr::Constant(value))),
            Some(Access::Leaf { place, declared, .. }) => {
                self.mark_read(v, declared);
                fields.push(store(place));
            }
            Some(Access::Structure { declared, leaf, ty, indices }) => {
                let leaves = self.leaves(declared, leaf, ty, &indices);
                fields.extend(leaves.into_iter().map(|(place, _)| store(place)));
            }
            Some(Access::Predefined(name)) if &*name == "_" => fields.push(Pattern::Ignore),
            Some(Access::Predefined(name)) => {
                let finding = Finding::new(Code::PredefinedVariable, format!("nothing can be received into `{name}`"));
                let finding = finding.at(v.span, "its value is given");
                self.report(finding.help(format!("to receive only a message with its value, write `eval({name})`")));
                fields.push(Pattern::Ignore);
            }
        }
    }

    fn run(
        &mut self,
        process: &ast::Name,
        arguments: &[ast::Expr],
        priority: Option<&ast::Constant>,
        span: Span,
    ) -> Expr {
        if self.names.context().is_none() {
            self.error(Code::NotAllowedHere, span, "`run` outside a process", "nobody would execute it");
        }
        let priority = self.priority(priority).unwrap_or(0);
        if !(0..=255).contains(&priority) {
            let headline = "a priority must be between 1 and 255";
            self.error(Code::BadDeclaration, span, headline, format!("this is {priority}"));
        }
        let values = self.arguments(arguments);
        let Some(&index) = self.process_names.get(&process.text) else {
            self.unknown_process(process);
            return Expr::Constant(0);
        };
        let written = self.written_arguments(arguments);
        self.calls.push(Call { process: index, span, arguments: written });
        Expr::Run { process: ProcessId(index), arguments: values, priority: priority.clamp(1, 255) as u8 }
    }

    /// What the arguments of a call look like, one per parameter.
    fn written_arguments(&mut self, arguments: &[ast::Expr]) -> Vec<Argument> {
        let mut written = Vec::new();
        for argument in arguments {
            match &argument.kind {
                ExprKind::Constant(c) => written.push(match &c.name {
                    Some(name) => Argument::Constant(name.text.clone()),
                    None => Argument::Other,
                }),
                ExprKind::Var(v) => match self.structure(v) {
                    Some(Access::Structure { declared, leaf, ty, indices }) => {
                        let count = self.leaves(declared, leaf, ty, &indices).len();
                        written.extend((0..count).map(|_| Argument::Named(v.parts[0].name.text.clone())));
                    }
                    _ => written.push(Argument::Named(v.parts[0].name.text.clone())),
                },
                ExprKind::Len(v) | ExprKind::Poll { channel: v, .. } => {
                    written.push(Argument::Named(v.parts[0].name.text.clone()));
                }
                ExprKind::Run { process, .. } => written.push(Argument::Named(process.text.clone())),
                _ => written.push(Argument::Other),
            }
        }
        written
    }

    pub(super) fn unknown_process(&mut self, process: &ast::Name) {
        let near = self.nearest(&process.text, self.drafts.iter().map(|draft| &*draft.name));
        let headline = format!("there is no proctype `{}`", process.text);
        let mut finding = Finding::new(Code::UnknownProcess, headline).at(process.span, "");
        finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
        self.report(finding);
    }

    fn non_progress(&mut self, span: Span) -> Expr {
        if !self.in_claim() {
            let headline = "`np_` can only be used in a claim";
            self.error(Code::NotAllowedHere, span, headline, "it speaks about all processes at once");
        }
        self.uses.non_progress = true;
        Expr::NonProgress
    }

    fn remote_process(&mut self, process: &ast::Name) -> Option<u32> {
        let found = self.process_names.get(&process.text).copied();
        if found.is_none() {
            self.unknown_process(process);
        }
        found
    }

    /// `P[pid]@label`
    fn remote_label(&mut self, process: &ast::Name, pid: Option<&ast::Expr>, label: &ast::Name) -> Expr {
        let pid = pid.map(|e| Box::new(self.expression(e)));
        let Some(index) = self.remote_process(process) else { return Expr::Constant(0) };
        if !self.flow.watch_label(index, &label.text) {
            let candidates = self.flow.labels.of(index).map(|label| &*label.at.name);
            let near = self.nearest(&label.text, candidates);
            let headline = format!("`{}` has no label `{}`", process.text, label.text);
            let mut finding = Finding::new(Code::UnknownLabel, headline)
                .at(label.span, "")
                .note("the process type must be declared before its labels are asked for");
            finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
            self.report(finding);
            return Expr::Constant(0);
        }
        if self.flow.dstep_start.is_some() {
            let headline = "a label of another process cannot be asked for inside a `d_step`";
            self.error(Code::NotAllowedHere, label.span, headline, "");
        }
        let at = LabelRef { name: label.text.clone(), scope: self.names.scope(), context: self.names.context() };
        let number = self.remotes.len() as u32;
        self.remotes.push(Remote { process: index, target: RemoteTarget::Label(at) });
        Expr::At { process: ProcessId(index), pid, location: LocationId(number) }
    }

    /// `P[pid]:variable`
    fn remote_variable(&mut self, process: &ast::Name, pid: Option<&ast::Expr>, v: &VarRef) -> Expr {
        let pid = pid.map(|e| Box::new(self.expression(e)));
        let Some(index) = self.remote_process(process) else { return Expr::Constant(0) };
        self.has_remote_variables = true;
        let first = &v.parts[0];
        if v.parts.len() > 1 {
            let headline = "a field of another process's structure cannot be asked for";
            self.error(Code::NotAllowedHere, v.span, headline, "only scalars and arrays can");
        }
        let indices: Vec<Expr> = first.index.iter().map(|i| self.expression(i)).collect();
        let number = self.remotes.len() as u32;
        let target = RemoteTarget::Variable { name: first.name.clone(), indices: indices.len() };
        self.remotes.push(Remote { process: index, target });
        Expr::Remote { process: ProcessId(index), pid, variable: VariableId(number), indices }
    }

    /// The value of a constant expression: numbers with the four operations.
    pub(super) fn constant_expression(&mut self, e: &ast::Expr) -> Option<i32> {
        let value = match &e.kind {
            ExprKind::Constant(c) => Some(c.value),
            ExprKind::Unary(UnOp::Neg, a) => self.constant_expression(a).map(i32::wrapping_neg),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.constant_expression(a)?, self.constant_expression(b)?);
                match op {
                    BinOp::Add => Some(a.wrapping_add(b)),
                    BinOp::Sub => Some(a.wrapping_sub(b)),
                    BinOp::Mul => Some(a.wrapping_mul(b)),
                    BinOp::Div => a.checked_div(b),
                    BinOp::Rem => a.checked_rem(b),
                    _ => None,
                }
            }
            _ => None,
        };
        if value.is_none() {
            let headline = "a constant is needed here";
            self.report(
                Finding::new(Code::NotConstant, headline)
                    .at(e.span, "its value must be known before the model runs")
                    .help("use a number, or a name that `#define` gives to one"),
            );
        }
        value
    }

    /// The value a variable was declared with, where a constant is needed.
    pub(super) fn constant_of_variable(&mut self, v: &VarRef, what: &str) -> Option<i32> {
        let symbol = self.names.lookup(&v.parts[0].name.text, v.span);
        let value = match self.names.symbol(symbol).meaning {
            Meaning::Variable(declared) if v.parts.len() == 1 => self.variable(declared).constant,
            Meaning::Constant(value) => Some(value),
            Meaning::Untyped => {
                self.undeclared(&v.parts[0].name);
                return None;
            }
            _ => None,
        };
        if value.is_none() {
            let headline = format!("{what} must be a constant");
            self.report(
                Finding::new(Code::NotConstant, headline)
                    .at(v.span, "a variable without a constant value")
                    .help(format!("write `#define {} …` instead of declaring a variable", v.parts[0].name.text)),
            );
        }
        value
    }

    /// Whether an expression stands for a channel, and for nothing else.
    pub(super) fn is_channel(&self, e: &ast::Expr) -> bool {
        let ExprKind::Var(v) = &e.kind else { return false };
        self.basic_of(v) == Some(Basic::Chan)
    }

    /// The type of a variable without fields, as far as it is known.
    pub(super) fn basic_of(&self, v: &VarRef) -> Option<Basic> {
        let symbol = self.names.find(&v.parts.first()?.name.text)?;
        let Meaning::Variable(declared) = self.names.symbol(symbol).meaning else { return None };
        let mut ty = self.variable(declared).ty;
        for part in &v.parts[1..] {
            let crate::types::VarType::Struct(id) = ty else { return None };
            ty = self.types.get(id).field(&part.name.text)?.ty;
        }
        match ty {
            crate::types::VarType::Basic(basic) => Some(basic),
            crate::types::VarType::Struct(_) => None,
        }
    }

    /// The local or global slot of a leaf.
    pub(super) fn slot(process: Option<u32>, leaf: u32) -> Slot {
        if process.is_some() { Slot::Local(VariableId(leaf)) } else { Slot::Global(VariableId(leaf)) }
    }
}

/// How many `run`s an expression contains.
pub(super) fn count_runs(e: &ast::Expr) -> usize {
    match &e.kind {
        ExprKind::Run { arguments, .. } => 1 + arguments.iter().map(count_runs).sum::<usize>(),
        ExprKind::Unary(_, a) | ExprKind::Enabled(a) | ExprKind::GetPriority(a) | ExprKind::PcValue(a) => count_runs(a),
        ExprKind::Binary(_, a, b) => count_runs(a) + count_runs(b),
        ExprKind::Conditional(a, b, c) => count_runs(a) + count_runs(b) + count_runs(c),
        _ => 0,
    }
}
