//! Mutants of a model: its text with one small change, such as people make by mistake. Properties stay as they are.
//!
//! Changes are made where a piece of the main text is the whole of what the syntax tree has there: what came out of a macro is left as it
//! is, the body of an inline is changed once for all of its calls. Not every text that comes out is a model; whoever
//! reads it again finds out.

use crate::ast::{BinOp, Expr, ExprKind, Initializer, Model, Sequence, Step, StepKind, Unit};
use fabius_base::{ExpansionKind, FileId, SourceMap, Span};
use fabius_language::{Mutant, TextEdit};
use std::collections::BTreeSet;

/// What is changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum MutationKind {
    SendDropped,
    ReceiveDropped,
    AssignmentDropped,
    GuardNegated,
    GuardDropped,
    OptionRemoved,
    OperatorChanged,
    ConstantChanged,
    StatementsSwapped,
    AtomicDropped,
}

impl MutationKind {
    /// The word for it in reports.
    fn as_str(self) -> &'static str {
        match self {
            Self::SendDropped => "send_dropped",
            Self::ReceiveDropped => "receive_dropped",
            Self::AssignmentDropped => "assignment_dropped",
            Self::GuardNegated => "guard_negated",
            Self::GuardDropped => "guard_dropped",
            Self::OptionRemoved => "option_removed",
            Self::OperatorChanged => "operator_changed",
            Self::ConstantChanged => "constant_changed",
            Self::StatementsSwapped => "statements_swapped",
            Self::AtomicDropped => "atomic_dropped",
        }
    }
}

/// The mutants of a model, in the order of its main text.
pub(crate) fn mutants(model: &Model, map: &SourceMap, main: FileId) -> Vec<Mutant> {
    let mut writer = Writer { map, main, found: BTreeSet::new() };
    for unit in &model.units {
        match unit {
            Unit::Proctype(process) => writer.sequence(&process.body),
            Unit::Init(init) => writer.sequence(&init.body),
            Unit::Variables(declaration) => {
                let initials = declaration.declarators.iter().filter_map(|declarator| declarator.initial.as_ref());
                for initial in initials {
                    if let Initializer::Expr(value) = initial {
                        writer.expression(value);
                    }
                }
            }
            _ => {}
        }
    }
    writer.found.into_iter().map(|(edits, kind)| Mutant { edits, kind: kind.as_str() }).collect()
}

struct Writer<'a> {
    map: &'a SourceMap,
    main: FileId,
    found: BTreeSet<(Vec<TextEdit>, MutationKind)>,
}

impl Writer<'_> {
    /// The text of the main file at a place that is no part of a macro.
    fn place(&self, span: Span) -> Option<(u32, u32)> {
        let plain = self.map.expansion_chain(span).iter().all(|expansion| expansion.kind == ExpansionKind::Inline);
        (plain && span.file == self.main && span.start < span.end).then_some((span.start, span.end))
    }

    fn text(&self, (start, end): (u32, u32)) -> &str {
        self.map.text(Span::new(self.main, start, end))
    }

    fn replace(&mut self, span: Span, kind: MutationKind, with: impl FnOnce(&str) -> String) {
        let Some((start, end)) = self.place(span) else { return };
        let text = with(self.text((start, end)));
        self.found.insert((vec![TextEdit { start, end, text }], kind));
    }

    fn sequence(&mut self, sequence: &Sequence) {
        for step in &sequence.steps {
            self.step(step);
        }
        for pair in sequence.steps.windows(2) {
            self.swap(&pair[0], &pair[1]);
        }
    }

    /// Two simple statements, the one after the other.
    fn swap(&mut self, first: &Step, second: &Step) {
        let (Some(one), Some(two)) = (self.place(first.span), self.place(second.span)) else { return };
        let may = is_simple(&first.kind) && is_simple(&second.kind) && second.labels.is_empty();
        if !may || two.0 < one.1 || self.text(one) == self.text(two) {
            return;
        }
        let edit = |at: (u32, u32), text: &str| TextEdit { start: at.0, end: at.1, text: text.to_owned() };
        let edits = vec![edit(one, self.text(two)), edit(two, self.text(one))];
        self.found.insert((edits, MutationKind::StatementsSwapped));
    }

    fn step(&mut self, step: &Step) {
        let skip = |_: &str| "skip".to_owned();
        match &step.kind {
            StepKind::Send { arguments, .. } => {
                self.replace(step.span, MutationKind::SendDropped, skip);
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            StepKind::Receive { .. } => self.replace(step.span, MutationKind::ReceiveDropped, skip),
            StepKind::Assign { value, .. } => {
                self.replace(step.span, MutationKind::AssignmentDropped, skip);
                self.expression(value);
            }
            StepKind::Increment(_) | StepKind::Decrement(_) => {
                self.replace(step.span, MutationKind::AssignmentDropped, skip);
            }
            StepKind::Expr(guard) => self.guard(step.span, guard),
            StepKind::If(options) | StepKind::Do(options) => {
                for option in options {
                    self.sequence(option);
                    if 1 < options.len() {
                        self.replace(option.span, MutationKind::OptionRemoved, |_| "false".to_owned());
                    }
                }
            }
            StepKind::Atomic(body) | StepKind::DStep(body) => {
                self.sequence(body);
                self.without_word(step);
            }
            StepKind::Block(body) | StepKind::Inlined { body, .. } => self.sequence(body),
            StepKind::ForRange { from, to, body, .. } => {
                self.expression(from);
                self.expression(to);
                self.sequence(body);
            }
            StepKind::ForIn { body, .. } => self.sequence(body),
            StepKind::Select { from, to, .. } => {
                self.expression(from);
                self.expression(to);
            }
            StepKind::Unless { main, escape } => {
                self.step(main);
                self.step(escape);
            }
            _ => {}
        }
    }

    /// `atomic` or `d_step` in front of a brace.
    fn without_word(&mut self, step: &Step) {
        let Some((start, end)) = self.place(step.span) else { return };
        let word = ["atomic", "d_step"].into_iter().find(|word| self.text((start, end)).starts_with(word));
        if let Some(word) = word {
            let edits = vec![TextEdit { start, end: start + word.len() as u32, text: String::new() }];
            self.found.insert((edits, MutationKind::AtomicDropped));
        }
    }

    fn guard(&mut self, span: Span, guard: &Expr) {
        if matches!(guard.kind, ExprKind::Constant(_) | ExprKind::Run { .. }) {
            return;
        }
        self.replace(span, MutationKind::GuardNegated, |text| format!("!({text})"));
        self.replace(span, MutationKind::GuardDropped, |_| "true".to_owned());
        self.expression(guard);
    }

    /// Operators and constants.
    fn expression(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Constant(constant) if constant.name.is_none() && constant.word.is_none() => {
                let value = i64::from(constant.value);
                self.replace(e.span, MutationKind::ConstantChanged, |_| (value + 1).to_string());
                if 0 < value {
                    self.replace(e.span, MutationKind::ConstantChanged, |_| (value - 1).to_string());
                }
            }
            ExprKind::Unary(_, a) => self.expression(a),
            ExprKind::Binary(op, a, b) => {
                self.expression(a);
                self.expression(b);
                self.operator(*op, a, b);
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expression(part)),
            _ => {}
        }
    }

    fn operator(&mut self, op: BinOp, a: &Expr, b: &Expr) {
        let (old, new) = match op {
            BinOp::Lt => ("<", "<="),
            BinOp::Le => ("<=", "<"),
            BinOp::Gt => (">", ">="),
            BinOp::Ge => (">=", ">"),
            BinOp::Eq => ("==", "!="),
            BinOp::Ne => ("!=", "=="),
            BinOp::And => ("&&", "||"),
            BinOp::Or => ("||", "&&"),
            BinOp::Add => ("+", "-"),
            BinOp::Sub => ("-", "+"),
            _ => return,
        };
        let (Some((_, end)), Some((start, _))) = (self.place(a.span), self.place(b.span)) else { return };
        if start < end {
            return;
        }
        // Comments between operands could hold anything.
        let between = self.text((end, start));
        let is_plain = between.chars().all(|c| c.is_whitespace() || "()".contains(c) || old.contains(c));
        if let Some(at) = between.find(old).filter(|_| is_plain) {
            let start = end + at as u32;
            let edits = vec![TextEdit { start, end: start + old.len() as u32, text: new.to_owned() }];
            self.found.insert((edits, MutationKind::OperatorChanged));
        }
    }
}

fn is_simple(kind: &StepKind) -> bool {
    matches!(
        kind,
        StepKind::Assign { .. }
            | StepKind::Increment(_)
            | StepKind::Decrement(_)
            | StepKind::Send { .. }
            | StepKind::Receive { .. }
            | StepKind::Expr(_)
    )
}
