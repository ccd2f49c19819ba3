//! How the text names the propositions of a formula: by a macro that stands for exactly that, or as it writes them.

use super::Lowering;
use crate::ast::{self, BinOp, ExprKind, UnOp, VarRef};
use fabius_base::{ExpansionId, ExpansionKind, Span};
use fabius_program::{BinaryOp, Expr, UnaryOp};

/// Longer uses of macros are no names.
const NAME_BYTES_MAX: usize = 40;

/// Where text came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It stands as written, or came from several places.
    Text,
    /// All of it came from this use of a macro.
    Macro(ExpansionId),
}

impl Lowering<'_> {
    /// The names of propositions in a formula, by what they were lowered to: macros that stand for exactly that, and the text of
    /// comparisons and the like.
    pub(super) fn names_in(&self, e: &ast::Expr, propositions: &[(&ast::Expr, Expr)]) -> Vec<(Expr, String)> {
        let mut whole = Vec::new();
        self.largest(e, Origin::Text, &mut whole);
        let mut names: Vec<(Expr, String)> = Vec::new();
        for (written, lowered) in propositions {
            let mut open = vec![(*written, lowered)];
            while let Some((written, lowered)) = open.pop() {
                let below = operands(written, lowered);
                let as_written = || self.as_written(written).filter(|_| below.is_empty());
                if let Some(name) = self.name_of(written, &whole).or_else(as_written) {
                    let known = names.iter().any(|(expr, known)| expr == lowered || *known == name);
                    names.extend((!known).then(|| (lowered.clone(), name)));
                }
                open.extend(below);
            }
        }
        names
    }

    /// The name of a macro of which an expression is all, and nothing else is a part.
    fn name_of(&self, e: &ast::Expr, whole: &[ExpansionId]) -> Option<String> {
        let Origin::Macro(id) = self.origin(e) else { return None };
        let expansion = self.map.expansion(id)?;
        let once = whole.iter().filter(|other| **other == id).count() == 1;
        // With its arguments, if it has any.
        let text = self.map.text(expansion.call);
        let is_short = text.len() <= NAME_BYTES_MAX && !text.contains(char::is_control);
        (once && is_short && expansion.kind == ExpansionKind::Macro).then(|| text.to_owned())
    }

    /// The text of an expression in which no macro is used.
    fn as_written(&self, e: &ast::Expr) -> Option<String> {
        let is_plain = |e: &ast::Expr| self.map.expansion(e.span.via).is_none();
        let mut open = vec![e];
        while let Some(part) = open.pop() {
            if !is_plain(part) {
                return None;
            }
            open.extend(parts(part));
        }
        let mut text = self.map.text(e.span);
        while let Some(inside) = inside(text) {
            text = inside.trim();
        }
        let balanced = |open, close| text.matches(open).count() == text.matches(close).count();
        let is_whole = balanced('(', ')') && balanced('[', ']') && !text.contains(char::is_control);
        (is_whole && !text.is_empty() && text.len() <= NAME_BYTES_MAX).then(|| text.to_owned())
    }

    /// For each largest expression that came from one use of a macro, that use.
    fn largest(&self, e: &ast::Expr, above: Origin, found: &mut Vec<ExpansionId>) {
        let here = self.origin(e);
        if let Origin::Macro(id) = here
            && here != above
        {
            found.push(id);
        }
        parts(e).into_iter().for_each(|part| self.largest(part, here, found));
    }

    /// Where all of an expression came from.
    fn origin(&self, e: &ast::Expr) -> Origin {
        let here = self.outermost(e.span);
        if parts(e).into_iter().all(|part| self.origin(part) == here) { here } else { Origin::Text }
    }

    /// The use of a macro in the text of the formula through which something came.
    fn outermost(&self, span: Span) -> Origin {
        let (mut via, mut origin) = (span.via, Origin::Text);
        while let Some(expansion) = self.map.expansion(via) {
            (origin, via) = (Origin::Macro(via), expansion.call.via);
        }
        origin
    }
}

/// The text between parentheses that hold all of a text.
fn inside(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0_i32;
    let closes_early = inside.chars().any(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    (!closes_early).then_some(inside)
}

/// The expressions that an expression consists of.
fn parts(e: &ast::Expr) -> Vec<&ast::Expr> {
    fn indices(v: &VarRef) -> Vec<&ast::Expr> {
        v.parts.iter().filter_map(|part| part.index.as_deref()).collect()
    }
    match &e.kind {
        ExprKind::Unary(_, a) | ExprKind::Enabled(a) | ExprKind::GetPriority(a) | ExprKind::PcValue(a) => vec![a],
        ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Conditional(a, b, c) => vec![a, b, c],
        ExprKind::Var(v) | ExprKind::Len(v) | ExprKind::Full(v) | ExprKind::NFull(v) => indices(v),
        ExprKind::Empty(v) | ExprKind::NEmpty(v) => indices(v),
        ExprKind::Poll { channel, .. } => indices(channel),
        ExprKind::RemoteLabel { pid, .. } => pid.as_deref().into_iter().collect(),
        ExprKind::RemoteVar { pid, variable, .. } => pid.as_deref().into_iter().chain(indices(variable)).collect(),
        _ => Vec::new(),
    }
}

/// The operands of a connective over states, with what they were lowered to.
fn operands<'a>(written: &'a ast::Expr, lowered: &'a Expr) -> Vec<(&'a ast::Expr, &'a Expr)> {
    match (&written.kind, lowered) {
        (ExprKind::Unary(UnOp::Not, a), Expr::Unary(UnaryOp::Not, x)) => vec![(a, x)],
        (ExprKind::Binary(BinOp::And, a, b), Expr::Binary(BinaryOp::And, x, y))
        | (ExprKind::Binary(BinOp::Or, a, b), Expr::Binary(BinaryOp::Or, x, y)) => vec![(a, x), (b, y)],
        (ExprKind::Binary(BinOp::Implies, a, b), Expr::Binary(BinaryOp::Or, not, y)) => match &**not {
            Expr::Unary(UnaryOp::Not, x) => vec![(a, x), (b, y)],
            _ => Vec::new(),
        },
        (ExprKind::Binary(BinOp::Equiv, a, b), Expr::Binary(BinaryOp::Equal, x, y)) => match (&**x, &**y) {
            (Expr::Unary(UnaryOp::Not, x), Expr::Unary(UnaryOp::Not, y)) => vec![(a, x), (b, y)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
