//! Sending, receiving and printing.

use super::Lowering;
use crate::ast::{self, ExprKind, VarRef};
use fabius_base::{Code, Span};
use fabius_program::{Action, EnumId, Expr, Pattern, Place, PrintPiece, ProcessKind, Receive, Send, Slot};

impl Lowering<'_> {
    pub(super) fn send(&mut self, channel: &VarRef, sorted: bool, arguments: &[ast::Expr], span: Span) -> Action {
        self.check_io(channel, span);
        if arguments.iter().any(|a| super::expression::count_runs(a) > 0) {
            let headline = "`run` cannot be part of a message";
            self.error(Code::NotAllowedHere, span, headline, "assign its value to a variable first");
        }
        let channel = self.channel(channel);
        let in_trace = self.kind().is_some_and(|k| matches!(k, ProcessKind::Trace | ProcessKind::NoTrace));
        let fields = if in_trace { self.sent_in_trace(arguments, span) } else { self.arguments(arguments) };
        self.sends.push((fields.len(), span));
        Action::Send(Send { channel, sorted, fields })
    }

    /// Fields of a send in an event trace: a constant must be equal, all else stands for anything.
    fn sent_in_trace(&mut self, arguments: &[ast::Expr], span: Span) -> Vec<Expr> {
        let anything = self.nowhere(span);
        let mut fields = Vec::new();
        for argument in arguments {
            let blank = matches!(&argument.kind, ExprKind::Var(v) if Self::whole(v) && &*v.parts[0].name.text == "_");
            if blank {
                fields.push(Expr::Load(anything.clone()));
                continue;
            }
            for field in self.arguments(std::slice::from_ref(argument)) {
                fields.push(if field.constant().is_some() { field } else { Expr::Load(anything.clone()) });
            }
        }
        fields
    }

    pub(super) fn receive(
        &mut self,
        channel: &VarRef,
        any: bool,
        keep: bool,
        arguments: &[ast::ReceiveArg],
        span: Span,
    ) -> Action {
        self.check_io(channel, span);
        let channel = self.channel(channel);
        let fields = self.patterns(arguments, false);
        for (i, field) in fields.iter().enumerate() {
            if let Pattern::Store(place) = field
                && place.indices.is_empty()
                && fields[..i].contains(field)
                && self.is_plain(place)
            {
                let headline = "two fields of a message are received into one variable";
                self.error(Code::NotAllowedHere, span, headline, "use `_` for a field that is not needed");
                break;
            }
        }
        Action::Receive(Receive { channel, any, keep, fields })
    }

    fn is_plain(&self, place: &Place) -> bool {
        let name = match place.slot {
            Slot::Local(id) => self.drafts[self.flow.process as usize].locals.get(id.0 as usize),
            Slot::Global(id) => self.globals.get(id.0 as usize),
        };
        name.is_some_and(|v| !v.name.contains('.'))
    }

    pub(super) fn check_io(&mut self, channel: &VarRef, span: Span) {
        if self.kind() == Some(ProcessKind::Claim) {
            let headline = "a claim cannot send or receive";
            self.error(Code::NotAllowedHere, span, headline, "it only looks at the model");
        }
        self.must_be_channel(channel);
    }

    /// The set of constants an expression's value is shown with.
    pub(super) fn enumeration_of(&mut self, e: &ast::Expr) -> Option<EnumId> {
        let index = match &e.kind {
            ExprKind::Constant(c) => self.sets.of_constant(&c.name.as_ref()?.text)?,
            ExprKind::Var(v) => {
                let declared = self.base(v)?;
                let set = self.variable(declared).set.clone().unwrap_or_else(|| "".into());
                self.sets.find(&set)?
            }
            _ => self.sets.find("")?,
        };
        Some(EnumId(index as u32))
    }

    pub(super) fn print(&mut self, format: &ast::StringLit, arguments: &[ast::Expr]) -> Action {
        let reading = std::mem::replace(&mut self.reading, false);
        let mut values = Vec::new();
        for argument in arguments {
            let set = self.enumeration_of(argument);
            values.push((self.expression(argument), set));
        }
        self.reading = reading;
        let (pieces, unused) = pieces(&format.text, values);
        self.unused_values = unused;
        Action::Print(pieces)
    }
}

/// Splits a format into text and places for values; the second part is values without a place.
fn pieces(format: &str, values: Vec<(Expr, Option<EnumId>)>) -> (Vec<PrintPiece>, Vec<Expr>) {
    let mut out = Vec::new();
    let mut text = String::new();
    let mut values = values.into_iter();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            '%' => {
                while chars.peek().is_some_and(|c| c.is_ascii_digit() || *c == '-') {
                    chars.next();
                }
                let kind = chars.next().unwrap_or('%');
                let piece: Option<fn(Expr, Option<EnumId>) -> PrintPiece> = match kind {
                    'd' | 'i' => Some(|e, _| PrintPiece::Decimal(e)),
                    'u' => Some(|e, _| PrintPiece::Unsigned(e)),
                    'x' => Some(|e, _| PrintPiece::Hex(e)),
                    'o' => Some(|e, _| PrintPiece::Octal(e)),
                    'c' => Some(|e, _| PrintPiece::Character(e)),
                    'e' => Some(PrintPiece::Name),
                    _ => None,
                };
                match (piece, kind) {
                    (Some(piece), _) => {
                        if let Some((value, set)) = values.next() {
                            if !text.is_empty() {
                                out.push(PrintPiece::Text(std::mem::take(&mut text)));
                            }
                            out.push(piece(value, set));
                        }
                    }
                    (None, '%') => text.push('%'),
                    (None, other) => {
                        text.push('%');
                        text.push(other);
                    }
                }
            }
            other => text.push(other),
        }
    }
    if !text.is_empty() {
        out.push(PrintPiece::Text(text));
    }
    (out, values.map(|(e, _)| e).collect())
}
