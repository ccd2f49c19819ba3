//! Steps: every statement of a body becomes elements of the flow, in Spin's order.

use super::Lowering;
use super::access::Access;
use super::text;
use crate::ast::{self, ExprKind, Sequence, Step, StepKind, VarRef};
use crate::flow::{Body, Closing, D_ATOM, LabelRef, Node, Pending, Seq};
use crate::names::Meaning;
use crate::optimise::{EXCLUSIVE_RECEIVE, EXCLUSIVE_SEND};
use crate::types::Basic;
use fabius_base::{Code, Finding, Severity, Span};
use fabius_program::{
    Action, BinaryOp, Expr, Initial, Place, PrintPiece, ProcessKind, Slot, Type, Variable, VariableId,
};

impl Lowering<'_> {
    pub(super) fn sequence(&mut self, sequence: &Sequence) {
        for step in &sequence.steps {
            if let Some(pending) = self.step(step) {
                self.flow.add(pending);
            }
        }
    }

    /// A sequence between braces.
    pub(super) fn braces(&mut self, sequence: &Sequence) {
        self.names.open_scope();
        self.sequence(sequence);
        self.names.close_scope();
    }

    /// Builds everything inside a step; the step itself is still to be added.
    fn step(&mut self, step: &Step) -> Option<Pending> {
        let labels: Vec<LabelRef> = step.labels.iter().map(|name| self.label(name)).collect();
        if matches!(step.kind, StepKind::Declaration(_) | StepKind::Exclusive { .. })
            && let Some(label) = step.labels.first()
        {
            let headline = "a label stands before a declaration";
            self.report(
                Finding::new(Code::LabelMisplaced, headline)
                    .at(label.span, "a declaration is not a step")
                    .help("put the label before the next statement"),
            );
        }
        if self.kind().is_some_and(|k| matches!(k, ProcessKind::Trace | ProcessKind::NoTrace)) {
            self.check_event(step);
        }
        let mut pending = self.body_of(step)?;
        self.flow.at_start = false;
        let inner = std::mem::take(&mut pending.labels);
        pending.labels = labels.into_iter().chain(inner).collect();
        Some(pending)
    }

    /// A label, or the name a `goto` leads to.
    fn label(&mut self, name: &ast::Name) -> LabelRef {
        let id = self.names.lookup(&name.text, name.span);
        let meaning = self.names.symbol(id).meaning;
        if !matches!(meaning, Meaning::Untyped | Meaning::Label) {
            let declared = self.names.symbol(id).span;
            let headline = format!("expected a label, found {} `{}`", meaning.noun(), name.text);
            self.report(
                Finding::new(Code::WrongName, headline)
                    .at(name.span, "")
                    .at(declared, "declared here")
                    .help("give the label another name"),
            );
        } else {
            self.names.symbol_mut(id).meaning = Meaning::Label;
        }
        let symbol = self.names.symbol(id);
        LabelRef { name: symbol.name.clone(), scope: symbol.scope, context: symbol.context }
    }

    /// An event trace consists of sends and receives only.
    fn check_event(&mut self, step: &Step) {
        let fine = match &step.kind {
            StepKind::Send { sorted, .. } => !sorted,
            StepKind::Receive { any, keep, .. } => !any && !keep,
            StepKind::If(_) | StepKind::Do(_) | StepKind::Goto(_) | StepKind::Break | StepKind::Skip => true,
            StepKind::ForRange { .. } | StepKind::ForIn { .. } | StepKind::Select { .. } => true,
            StepKind::Declaration(_) | StepKind::Exclusive { .. } | StepKind::Error => true,
            _ => false,
        };
        if !fine {
            let headline = "only sends and receives can stand in an event trace";
            self.error(Code::NotAllowedHere, step.span, headline, "this is not an event");
        }
    }

    fn body_of(&mut self, step: &Step) -> Option<Pending> {
        let span = step.span;
        let words = text::step(&step.kind);
        let action = match &step.kind {
            StepKind::Declaration(declaration) => {
                self.declaration(declaration);
                return None;
            }
            StepKind::Exclusive { send, channels } => {
                self.exclusive(*send, channels);
                return None;
            }
            StepKind::Goto(name) => {
                let label = self.label(name);
                return Some(self.flow.plain(Node::Goto(label), span, words));
            }
            StepKind::Break => return Some(self.break_step(span)),
            StepKind::Else => return Some(self.flow.plain(Node::Else, span, words)),
            StepKind::If(_)
            | StepKind::Do(_)
            | StepKind::ForRange { .. }
            | StepKind::ForIn { .. }
            | StepKind::Select { .. }
            | StepKind::Atomic(_)
            | StepKind::DStep(_)
            | StepKind::Block(_)
            | StepKind::Unless { .. }
            | StepKind::Inlined { .. } => return self.compound(step, words),
            simple => self.action(simple, span),
        };
        let node = match action {
            Action::SetPriority(Expr::Pid, e) if matches!(step.kind, StepKind::Assign { .. }) => Node::Prioritise(e),
            other => Node::Action(other),
        };
        let mut pending = self.flow.plain(node, span, words);
        pending.head.unused = std::mem::take(&mut self.unused_values);
        Some(pending)
    }

    /// What a simple step does.
    fn action(&mut self, kind: &StepKind, span: Span) -> Action {
        match kind {
            StepKind::Skip | StepKind::Error => Action::Guard(Expr::Constant(1)),
            StepKind::Expr(e) => {
                self.count_runs(e);
                Action::Guard(self.expression(e))
            }
            StepKind::Assign { target, value } => self.assign(target, value, span),
            StepKind::Increment(v) => self.count(v, BinaryOp::Add, span),
            StepKind::Decrement(v) => self.count(v, BinaryOp::Subtract, span),
            StepKind::Assert(e) => Action::Assert(self.expression(e)),
            StepKind::Printf { format, arguments } => self.print(format, arguments),
            StepKind::Printm(e) => {
                let set = self.enumeration_of(e);
                Action::Print(vec![PrintPiece::Name(self.expression(e), set)])
            }
            StepKind::Send { channel, sorted, arguments } => self.send(channel, *sorted, arguments, span),
            StepKind::Receive { channel, any, keep, arguments } => self.receive(channel, *any, *keep, arguments, span),
            StepKind::SetPriority { pid, priority } => {
                self.uses.priority = true;
                let pid = self.expression(pid);
                Action::SetPriority(pid, self.expression(priority))
            }
            StepKind::Return(e) => self.return_step(e, span),
            StepKind::EmbeddedC(c) => {
                self.embedded(c);
                Action::Skip
            }
            _ => Action::Skip,
        }
    }

    fn exclusive(&mut self, send: bool, channels: &[VarRef]) {
        self.flow.exclusive = true;
        for channel in channels {
            let in_for = std::mem::replace(&mut self.in_for, true);
            let access = self.access(channel);
            self.in_for = in_for;
            let fine = match access {
                Some(Access::Leaf { basic, place, .. }) => {
                    if channel.parts.len() == 1 {
                        let what = if send { EXCLUSIVE_SEND } else { EXCLUSIVE_RECEIVE };
                        self.claim_channel(&place, what, channel);
                        self.promise(&Expr::Load(place), what);
                    }
                    basic == Basic::Chan
                }
                Some(Access::Structure { .. }) | None => true,
                Some(_) => false,
            };
            if !fine {
                let headline = format!("`{}` is not a channel", text::variable(channel));
                self.error(Code::TypeMismatch, channel.span, headline, "`xr` and `xs` are about channels");
            }
        }
    }

    /// Only one process type can be the only one to send or to receive.
    fn claim_channel(&mut self, place: &Place, what: u8, channel: &VarRef) {
        let (Slot::Global(id), Some(process)) = (place.slot, self.names.context()) else { return };
        let owner = *self.owners.entry((id, what)).or_insert(process);
        if owner != process {
            let other = self.drafts[owner as usize].name.trim_matches(':').to_string();
            let headline = format!("`{}` is claimed by two process types", text::variable(channel));
            self.error(Code::NotAllowedHere, channel.span, headline, format!("`{other}` claims it, too"));
        }
    }

    pub(super) fn break_step(&mut self, span: Span) -> Pending {
        let Some(label) = self.flow.break_label() else {
            self.report(
                Finding::new(Code::MisplacedBreak, "`break` outside a loop")
                    .at(span, "there is nothing to leave")
                    .help("use `goto` with a label, or remove it"),
            );
            return self.flow.plain(Node::Action(Action::Guard(Expr::Constant(1))), span, "break");
        };
        self.flow.plain(Node::Goto(label), span, "break")
    }

    fn compound(&mut self, step: &Step, words: String) -> Option<Pending> {
        let span = step.span;
        Some(match &step.kind {
            StepKind::If(options) => {
                let options = self.options(options, span);
                let head = self.flow.head(span, words);
                self.flow.prune(&options);
                Pending { labels: Vec::new(), body: Body::If(options), head }
            }
            StepKind::Do(options) => {
                self.push_break();
                let options = self.options(options, span);
                let head = self.flow.head(span, words);
                self.flow.prune(&options);
                Pending { labels: Vec::new(), body: Body::Do(options), head }
            }
            StepKind::ForRange { variable, from, to, body } => self.for_range(variable, from, to, body, span)?,
            StepKind::ForIn { variable, container, body } => self.for_in(variable, container, body, span)?,
            StepKind::Select { variable, from, to } => self.select(variable, from, to, span)?,
            StepKind::Atomic(inner) => {
                self.flow.open();
                self.braces(inner);
                let head = self.flow.head(span, words);
                let seq = self.flow.close(Closing::Atomic, span);
                self.flow.make_atomic(seq, 0);
                Pending { labels: Vec::new(), body: Body::Plain(Node::Atomic(seq)), head }
            }
            StepKind::DStep(inner) => {
                self.flow.open();
                self.flow.dstep_start = Some(self.flow.elements.len() as u32);
                self.braces(inner);
                let head = self.flow.head(span, words);
                let seq = self.flow.close(Closing::DStep, span);
                self.flow.make_atomic(seq, D_ATOM);
                self.flow.dstep_start = None;
                Pending { labels: Vec::new(), body: Body::Plain(Node::DStep(seq)), head }
            }
            StepKind::Block(inner) => self.block(inner, span, words),
            StepKind::Inlined { name, arguments, result, body } => {
                self.flow.at_start = false;
                self.check_inline_arguments(arguments);
                self.results.push(result.clone());
                self.flow.inlines.push(name.text.clone());
                let block = self.block(body, span, words);
                self.flow.inlines.pop();
                self.results.pop();
                block
            }
            StepKind::Unless { main, escape } => self.unless(main, escape, span)?,
            _ => return None,
        })
    }

    /// Arguments of an inline are read at the place of the call, before they replace the parameters.
    fn check_inline_arguments(&mut self, arguments: &[ast::Expr]) {
        // What they create is counted where they stand in the body.
        let (calls, remotes) = (self.calls.len(), self.remotes.len());
        for argument in arguments {
            // A label that was seen before may be passed on to a `goto`, and `_` to a receive.
            if !matches!(&argument.kind, ExprKind::Var(v) if Self::whole(v) && self.is_no_value(v)) {
                self.arguments(std::slice::from_ref(argument));
            }
        }
        self.calls.truncate(calls);
        self.remotes.truncate(remotes);
    }

    fn is_no_value(&self, v: &VarRef) -> bool {
        let name = &*v.parts[0].name.text;
        let symbol = self.names.find(name);
        name == "_" || symbol.is_some_and(|id| self.names.symbol(id).meaning == Meaning::Label)
    }

    fn block(&mut self, inner: &Sequence, span: Span, words: String) -> Pending {
        self.flow.open();
        self.braces(inner);
        let head = self.flow.head(span, words);
        let seq = self.flow.close(Closing::Block, span);
        Pending { labels: Vec::new(), body: Body::Plain(Node::Block(seq)), head }
    }

    pub(super) fn push_break(&mut self) {
        let (scope, context) = (self.names.scope(), self.names.context());
        self.flow.push_break(scope, context);
    }

    fn options(&mut self, options: &[Sequence], span: Span) -> Vec<Seq> {
        let mut seqs = Vec::new();
        for option in options {
            self.flow.open();
            self.sequence(option);
            let span = if option.span == Span::default() { span } else { option.span };
            seqs.push(self.flow.close(Closing::Option, span));
        }
        seqs
    }

    fn unless(&mut self, main: &Step, escape: &Step, span: Span) -> Option<Pending> {
        let main_step = self.step(main)?;
        let hidden = match main_step.body {
            Body::Do(_) if main_step.labels.is_empty() => self.flow.hide_break(),
            _ => None,
        };
        let escape_step = self.step(escape);
        self.flow.restore_break(hidden);
        let escape_step = escape_step?;
        let head = self.flow.head(span, "unless");
        let escape = match escape_step.body {
            Body::Plain(Node::Block(seq)) if escape_step.labels.is_empty() => seq,
            _ => self.alone(escape_step, Closing::Escape, escape.span),
        };
        let Pending { labels, body, .. } = &main_step;
        let (seq, rebuild): (Seq, fn(Seq) -> Node) = match (body, labels.len()) {
            (Body::Plain(Node::Block(seq)), 0) => {
                return Some(Pending { labels: Vec::new(), body: Body::Unless(*seq, escape), head });
            }
            (Body::Plain(Node::Block(seq)), 1) => (*seq, Node::Block),
            (Body::Plain(Node::Atomic(seq)), 1) => (*seq, Node::Atomic),
            (Body::Plain(Node::DStep(seq)), 1) => (*seq, Node::DStep),
            _ => {
                let seq = self.alone(main_step, Closing::Guarded, main.span);
                return Some(Pending { labels: Vec::new(), body: Body::Unless(seq, escape), head });
            }
        };
        // The label moves outside: it marks the whole, not its first step.
        let labels = labels.clone();
        let inner = Pending { labels: Vec::new(), body: Body::Unless(seq, escape), head: head.clone() };
        let seq = self.alone(inner, Closing::Other, span);
        Some(Pending { labels, body: Body::Plain(rebuild(seq)), head: main_step.head })
    }

    /// A sequence of one step.
    fn alone(&mut self, step: Pending, closing: Closing, span: Span) -> Seq {
        self.flow.open();
        self.flow.add(step);
        self.flow.close(closing, span)
    }

    pub(super) fn add_action(&mut self, action: Action, span: Span, words: String) {
        let step = self.flow.plain(Node::Action(action), span, words);
        self.flow.add(step);
    }

    /// `return e` inside an inline assigns the variable that waits for it.
    fn return_step(&mut self, e: &ast::Expr, span: Span) -> Action {
        match self.results.last().cloned().flatten() {
            Some(target) => self.assign(&target, e, span),
            None => {
                let headline = "`return` gives a value that nobody waits for";
                self.report(
                    Finding::new(Code::NotAllowedHere, headline)
                        .at(span, "not inside an inline that was called as `x = name(…)`"),
                );
                Action::Skip
            }
        }
    }

    fn assign(&mut self, target: &VarRef, value: &ast::Expr, span: Span) -> Action {
        if self.kind() == Some(ProcessKind::Claim) {
            let mut finding = Finding::new(Code::NotAllowedHere, "a claim changes a variable").at(span, "");
            finding.severity = Severity::Warning;
            self.report(finding.note("a claim should only look at the model"));
        }
        let Some(access) = self.access(target) else {
            self.expression(value);
            return Action::Skip;
        };
        match &access {
            Access::Predefined(name) if &**name == "_" => {
                let value = self.expression(value);
                return Action::Assign(self.nowhere(span), value);
            }
            Access::Predefined(name) if &**name == "_priority" => {
                return Action::SetPriority(Expr::Pid, self.expression(value));
            }
            _ => {}
        }
        if target.parts.len() == 1 {
            let declared = self.base(target);
            self.check_constant_set(&text::variable(target), declared, value);
            if self.basic_of(target) != Some(Basic::Chan) {
                self.check_channel_use(false, value);
            } else if matches!(value.kind, ExprKind::Constant(_)) {
                let headline = format!("`{}` is a channel, a number cannot be assigned to it", text::variable(target));
                self.error(Code::TypeMismatch, value.span, headline, "");
            }
        }
        self.check_self_index(target);
        let place = self.place_of(access, target).map(|(place, ..)| place);
        let value = self.expression(value);
        place.map_or(Action::Skip, |place| Action::Assign(place, value))
    }

    /// Where `_ = e` goes: a variable that is not part of the state.
    pub(super) fn nowhere(&mut self, span: Span) -> Place {
        let found = self.globals.iter().position(|g| g.name == "_");
        let index = found.unwrap_or_else(|| {
            self.globals.push(Variable {
                name: "_".into(),
                ty: Type::signed(32),
                dimensions: Vec::new(),
                initial: Initial::Zero,
                hidden: true,
                span,
            });
            self.ranks.push(0);
            self.local_globals.push(true);
            self.globals.len() - 1
        });
        Place { slot: Slot::Global(VariableId(index as u32)), indices: Vec::new() }
    }

    fn count(&mut self, v: &VarRef, op: BinaryOp, span: Span) -> Action {
        if self.basic_of(v) == Some(Basic::Chan) {
            let headline = format!("nothing can be computed with the channel `{}`", text::variable(v));
            self.error(Code::TypeMismatch, span, headline, "its identity is not a number");
        }
        self.check_self_index(v);
        let Some((place, ..)) = self.place(v) else { return Action::Skip };
        let value = Expr::binary(op, Expr::Load(place.clone()), Expr::Constant(1));
        Action::Assign(place, value)
    }

    /// `a[a[i]] = e` cannot be undone by Spin, which therefore refuses it.
    fn check_self_index(&mut self, v: &VarRef) {
        fn names(e: &ast::Expr, base: &str) -> bool {
            match &e.kind {
                ExprKind::Var(v) => {
                    v.parts.iter().any(|p| p.index.is_some() && &*p.name.text == base)
                        || v.parts.iter().filter_map(|p| p.index.as_ref()).any(|i| names(i, base))
                }
                _ => false,
            }
        }
        for part in &v.parts {
            if let Some(index) = &part.index
                && v.parts.len() == 1
                && names(index, &part.name.text)
            {
                let headline = format!("`{}` is indexed with one of its own elements", part.name.text);
                self.report(
                    Finding::new(Code::WrongIndex, headline)
                        .at(index.span, "the assignment might change its own index")
                        .help("keep the index in a variable of its own"),
                );
            }
        }
    }

    /// A `run` stands alone in a condition.
    fn count_runs(&mut self, e: &ast::Expr) {
        let runs = super::expression::count_runs(e);
        if runs > 1 || runs == 1 && !matches!(e.kind, ExprKind::Run { .. }) {
            let headline = "`run` must stand alone in a condition";
            self.report(
                Finding::new(Code::NotAllowedHere, headline)
                    .at(e.span, if runs > 1 { "there are several" } else { "it is part of a larger expression" })
                    .note("it creates a process, whatever becomes of the condition")
                    .help("assign its value first: `x = run P(…)`, then use `x`"),
            );
        }
    }
}
