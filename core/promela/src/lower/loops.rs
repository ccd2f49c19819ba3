//! `for` and `select`: loops and choices over numbers, arrays and the messages of a channel.

use super::Lowering;
use super::access::Access;
use super::text;
use crate::ast::{self, ExprKind, Sequence, VarRef};
use crate::flow::{Body, Closing, Node, Pending};
use crate::types::{Basic, VarType};
use fabius_base::{Code, Finding, Span};
use fabius_program::{Action, BinaryOp, Expr, Initial, Pattern, Place, Receive, Send};

/// Between so few constants `select` becomes a choice, between more a loop.
const SELECT_CHOICE_MAX: i64 = 32;

impl Lowering<'_> {
    /// The variable of a `for` or `select` that counts: a scalar, read as well as written.
    fn loop_variable(&mut self, v: &VarRef) -> Option<Place> {
        let place = self.chosen_variable(v)?;
        if let Some((_, declared, _)) = self.place(v) {
            self.mark_read(v, declared);
        }
        Some(place)
    }

    /// The variable of a `select` between few values: a scalar that is only written.
    fn chosen_variable(&mut self, v: &VarRef) -> Option<Place> {
        let (place, declared, basic) = self.place(v)?;
        let whole = Self::whole(v) && self.variable(declared).length.is_none();
        if basic == Basic::Chan || !whole {
            let headline = format!("`{}` cannot count", text::variable(v));
            self.error(Code::TypeMismatch, v.span, headline, "a simple variable is needed here");
            return None;
        }
        Some(place)
    }

    pub(super) fn for_range(
        &mut self,
        v: &VarRef,
        from: &ast::Expr,
        to: &ast::Expr,
        body: &Sequence,
        span: Span,
    ) -> Option<Pending> {
        let in_for = std::mem::replace(&mut self.in_for, true);
        let place = self.loop_variable(v);
        self.push_break();
        let first = self.expression(from);
        let last = self.expression(to);
        self.in_for = in_for;
        self.check_range(v, &first, &last, span);
        let Some(place) = place else {
            self.flow.hide_break();
            return None;
        };
        self.begin_for(v, &place, first, last, span, (&text::expr(from), &text::expr(to)));
        self.braces(body);
        Some(self.end_loop(v, place, true, span))
    }

    fn check_range(&mut self, v: &VarRef, first: &Expr, last: &Expr, span: Span) {
        if let (Some(first), Some(last)) = (first.constant(), last.constant())
            && first > last
        {
            let headline = format!("`{}` starts behind its end", text::variable(v));
            self.error(Code::BadDeclaration, span, headline, format!("{first} is greater than {last}"));
        }
    }

    fn begin_for(&mut self, v: &VarRef, place: &Place, first: Expr, last: Expr, span: Span, shown: (&str, &str)) {
        let name = text::variable(v);
        self.add_action(Action::Assign(place.clone(), first), span, format!("{name} = {}", shown.0));
        self.flow.open();
        let condition = Expr::binary(BinaryOp::LessEqual, Expr::Load(place.clone()), last);
        self.add_action(Action::Guard(condition), span, format!("{name} <= {}", shown.1));
    }

    /// The end of a loop over numbers: one more, and again; or, at the end or at any time, out.
    fn end_loop(&mut self, v: &VarRef, place: Place, with_else: bool, span: Span) -> Pending {
        let name = text::variable(v);
        let next = Expr::binary(BinaryOp::Add, Expr::Load(place.clone()), Expr::Constant(1));
        self.add_action(Action::Assign(place, next), span, format!("{name}++"));
        let main = self.flow.close(Closing::Other, span);
        self.flow.open();
        if with_else {
            let step = self.flow.plain(Node::Else, span, "else");
            self.flow.add(step);
        }
        let leave = self.break_step(span);
        self.flow.add(leave);
        let leave = self.flow.close(Closing::Other, span);
        let head = self.flow.head(span, "for");
        Pending { labels: Vec::new(), body: Body::Do(vec![leave, main]), head }
    }

    pub(super) fn for_in(&mut self, v: &VarRef, container: &VarRef, body: &Sequence, span: Span) -> Option<Pending> {
        let in_for = std::mem::replace(&mut self.in_for, true);
        self.push_break();
        let element = self.base(v);
        let over = self.base(container);
        let known = self.access(v).is_some() & self.access(container).is_some();
        self.in_for = in_for;
        let (Some(element), Some(over), true) = (element, over, known) else {
            self.flow.hide_break();
            return None;
        };
        if let Some(field) = [v, container].into_iter().find(|name| 1 < name.parts.len()) {
            let headline = "`for (… in …)` does not accept a field of a structure";
            let help = "assign the channel to a variable of its own, or count with `for (i : 0 .. n)`";
            let finding = Finding::new(Code::NotAllowedHere, headline).at(field.span, "a field").help(help);
            self.report(finding);
        }
        let pending = match self.variable(element).ty {
            VarType::Struct(_) => self.for_messages(v, container, body, span),
            VarType::Basic(_) => self.for_elements(v, over, body, span),
        };
        if pending.is_none() {
            self.flow.hide_break();
        }
        pending
    }

    /// `for (i in array)`: all indices. As in Spin, an index of the array itself means nothing.
    fn for_elements(
        &mut self,
        v: &VarRef,
        over: crate::names::DeclaredId,
        body: &Sequence,
        span: Span,
    ) -> Option<Pending> {
        let Some(length) = self.variable(over).length else {
            let declared = self.variable(over).span;
            let finding = Finding::new(Code::TypeMismatch, "a `for` runs over an array or a channel")
                .at(span, "this is neither")
                .at(declared, "declared here");
            self.report(finding);
            return None;
        };
        let place = self.loop_variable(v)?;
        let last = length as i32 - 1;
        self.begin_for(v, &place, Expr::Constant(0), Expr::Constant(last), span, ("0", &last.to_string()));
        self.braces(body);
        Some(self.end_loop(v, place, true, span))
    }

    /// `for (m in channel)`: takes every message out and puts it back.
    fn for_messages(&mut self, v: &VarRef, channel: &VarRef, body: &Sequence, span: Span) -> Option<Pending> {
        let over = self.base(channel)?;
        let variable = self.variable(over).clone();
        let list = match variable.process {
            Some(process) => &self.drafts[process as usize].locals,
            None => &self.globals,
        };
        let made = match list.get(variable.leaf as usize).map(|l| l.initial.clone()) {
            Some(Initial::Channel(id)) if variable.ty.is_channel() => id,
            _ => {
                let headline =
                    format!("`{}` must be a channel that is made where it is declared", text::variable(channel));
                self.error(Code::TypeMismatch, channel.span, headline, "its messages must be known");
                return None;
            }
        };
        let capacity = self.channel_types[made.0 as usize].capacity;
        let Some(Access::Structure { declared, leaf, ty, indices }) = self.access(v) else { return None };
        let leaves = self.leaves(declared, leaf, ty, &indices);
        if leaves.len() != self.channel_types[made.0 as usize].fields.len() || capacity == 0 {
            let headline = format!("messages of `{}` are not of this type", text::variable(channel));
            self.error(Code::TypeMismatch, v.span, headline, "");
            return None;
        }
        let counter = self.counter(span, capacity > 255);
        // Of an array without an index, the first channel.
        let in_for = std::mem::replace(&mut self.in_for, true);
        let source = self.channel(channel);
        self.in_for = in_for;
        self.add_action(Action::Assign(counter.clone(), Expr::Constant(0)), span, "round = 0".into());
        self.flow.open();
        let length = Expr::Length(Box::new(source.clone()));
        let condition = Expr::binary(BinaryOp::Less, Expr::Load(counter.clone()), length);
        self.add_action(Action::Guard(condition), span, format!("round < len({})", text::variable(channel)));
        let (name, message) = (text::variable(channel), text::variable(v));
        let fields = leaves.iter().map(|(place, _)| Pattern::Store(place.clone())).collect();
        let take = Receive { channel: source.clone(), any: false, keep: false, fields };
        self.add_action(Action::Receive(take), span, format!("{name}?{message}"));
        let fields = leaves.into_iter().map(|(place, _)| Expr::Load(place)).collect();
        let put = Send { channel: source, sorted: false, fields };
        self.add_action(Action::Send(put), span, format!("{name}!{message}"));
        self.braces(body);
        let round =
            VarRef { parts: vec![ast::VarPart { name: ast::Name { text: "round".into(), span }, index: None }], span };
        Some(self.end_loop(&round, counter, true, span))
    }

    /// `select (x : from .. to)`
    pub(super) fn select(&mut self, v: &VarRef, from: &ast::Expr, to: &ast::Expr, span: Span) -> Option<Pending> {
        let name = text::variable(v);
        let spelled = self.spelled_range(v, from, to);
        let is_choice = |(first, last)| i64::from(last) - i64::from(first) <= SELECT_CHOICE_MAX;
        let place = if spelled.is_some_and(is_choice) { self.chosen_variable(v)? } else { self.loop_variable(v)? };
        if let Some((first, last)) = spelled {
            if first > last {
                let headline = "the range of a `select` is empty";
                self.error(Code::BadDeclaration, span, headline, format!("{first} is greater than {last}"));
                return None;
            }
            if is_choice((first, last)) {
                return Some(self.choice(&name, &place, first, last, span));
            }
            self.add_action(Action::Assign(place.clone(), Expr::Constant(first)), span, format!("{name} = {first}"));
            self.push_break();
            return Some(self.count_up(&name, place, last, span));
        }
        let (first, last) = (self.expression(from), self.expression(to));
        self.check_range(v, &first, &last, span);
        self.add_action(Action::Assign(place.clone(), first), span, format!("{name} = {}", text::expr(from)));
        self.flow.open();
        let condition = Expr::binary(BinaryOp::Less, Expr::Load(place.clone()), last);
        self.add_action(Action::Guard(condition), span, format!("{name} < {}", text::expr(to)));
        self.push_break();
        Some(self.end_loop(v, place, false, span))
    }

    /// The bounds of a `select` that Spin rewrites before it parses: a plain name and two plain numbers.
    fn spelled_range(&self, v: &VarRef, from: &ast::Expr, to: &ast::Expr) -> Option<(i32, i32)> {
        let plain = Self::whole(v) && v.parts[0].name.text.chars().all(|c| c.is_ascii_alphanumeric());
        if !plain || !self.flow.inlines.is_empty() {
            return None;
        }
        let number = |e: &ast::Expr| match &e.kind {
            ExprKind::Constant(c) if c.name.is_none() => {
                let digits = self.map.text(c.span).bytes().all(|b| b.is_ascii_digit());
                digits.then_some(c.value)
            }
            _ => None,
        };
        Some((number(from)?, number(to)?))
    }

    fn choice(&mut self, name: &str, place: &Place, first: i32, last: i32, span: Span) -> Pending {
        let mut options = Vec::new();
        for value in first..=last {
            self.flow.open();
            self.add_action(Action::Assign(place.clone(), Expr::Constant(value)), span, format!("{name} = {value}"));
            options.push(self.flow.close(Closing::Option, span));
        }
        let head = self.flow.head(span, "select");
        Pending { labels: Vec::new(), body: Body::If(options), head }
    }

    fn count_up(&mut self, name: &str, place: Place, last: i32, span: Span) -> Pending {
        self.flow.open();
        let condition = Expr::binary(BinaryOp::Less, Expr::Load(place.clone()), Expr::Constant(last));
        self.add_action(Action::Guard(condition), span, format!("{name} < {last}"));
        let next = Expr::binary(BinaryOp::Add, Expr::Load(place.clone()), Expr::Constant(1));
        self.add_action(Action::Assign(place, next), span, format!("{name}++"));
        let again = self.flow.close(Closing::Option, span);
        self.flow.open();
        let leave = self.break_step(span);
        self.flow.add(leave);
        let leave = self.flow.close(Closing::Option, span);
        let head = self.flow.head(span, "select");
        Pending { labels: Vec::new(), body: Body::Do(vec![again, leave]), head }
    }
}
