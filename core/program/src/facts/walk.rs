//! Going through expressions and actions without recursion.

use crate::{Action, Expr, Initial, Pattern, Place, PrintPiece, Receive, Send};

/// Calls a function for each direct part of an expression.
pub(super) fn each_part<'e>(e: &'e Expr, mut visit: impl FnMut(&'e Expr)) {
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
            fields.iter().filter_map(matched).for_each(visit);
        }
        Expr::Run { arguments, .. } => arguments.iter().for_each(visit),
        Expr::At { pid, .. } => pid.iter().for_each(|e| visit(e)),
        Expr::Remote { pid, indices, .. } => {
            pid.iter().for_each(|e| visit(e));
            indices.iter().for_each(visit);
        }
    }
}

fn matched(field: &Pattern) -> Option<&Expr> {
    match field {
        Pattern::Match(e) => Some(e),
        Pattern::Store(_) | Pattern::Ignore => None,
    }
}

/// Calls a function for an expression and all its parts.
pub(super) fn each_within<'e>(e: &'e Expr, mut visit: impl FnMut(&'e Expr)) {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        visit(e);
        each_part(e, |part| open.push(part));
    }
}

/// Whether the answer is yes for an expression or one of its parts.
pub(super) fn any_within(e: &Expr, mut asks: impl FnMut(&Expr) -> bool) -> bool {
    let mut found = false;
    each_within(e, |part| found = found || asks(part));
    found
}

/// The actions that an action consists of; itself if it has no parts.
pub(super) fn parts(action: &Action) -> Vec<&Action> {
    match action {
        Action::Merged(actions) => actions.iter().flat_map(parts_of_merged).collect(),
        Action::Block(block) => {
            block.nodes.iter().flat_map(|node| &node.options).map(|option| &option.action).collect()
        }
        action => vec![action],
    }
}

/// A block may be part of a merged step, but nothing merged is part of a block.
fn parts_of_merged(action: &Action) -> Vec<&Action> {
    match action {
        Action::Block(block) => {
            block.nodes.iter().flat_map(|node| &node.options).map(|option| &option.action).collect()
        }
        action => vec![action],
    }
}

/// The expressions that an action evaluates, and the places that it assigns to.
pub(super) fn operands(action: &Action) -> (Vec<&Expr>, Vec<&Place>) {
    match action {
        Action::Skip | Action::Else | Action::End | Action::Merged(_) | Action::Block(_) => (vec![], vec![]),
        Action::Guard(e) | Action::Assert(e) => (vec![e], vec![]),
        Action::Assign(place, e) => (vec![e], vec![place]),
        Action::Send(Send { channel, fields, .. }) => (std::iter::once(channel).chain(fields).collect(), vec![]),
        Action::Receive(Receive { channel, fields, .. }) => {
            let places = fields.iter().filter_map(|field| match field {
                Pattern::Store(place) => Some(place),
                _ => None,
            });
            (std::iter::once(channel).chain(fields.iter().filter_map(matched)).collect(), places.collect())
        }
        Action::Print(pieces) => (pieces.iter().filter_map(shown).collect(), vec![]),
        Action::SetPriority(a, b) => (vec![a, b], vec![]),
    }
}

/// The value that a piece of what is printed shows.
pub(super) fn shown(piece: &PrintPiece) -> Option<&Expr> {
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

/// The expressions of a first value.
pub(super) fn initial_values(initial: &Initial) -> &[Expr] {
    match initial {
        Initial::Value(e) => std::slice::from_ref(e),
        Initial::List(list) => list,
        Initial::Zero | Initial::Channel(_) => &[],
    }
}
