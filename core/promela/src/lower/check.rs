//! Checks of expressions that only some places allow.

use super::Lowering;
use crate::ast::{self, ExprKind, VarRef};
use crate::names::Meaning;
use fabius_base::{Code, Finding, Span};
use fabius_program::Expr;

impl Lowering<'_> {
    /// A `provided` condition: it speaks of global variables, not of the process's own.
    pub(super) fn enabler(&mut self, condition: &ast::Expr) -> Option<Expr> {
        if let Some(span) = self.not_global(condition) {
            self.report(
                Finding::new(Code::NotAllowedHere, "a `provided` condition cannot use this")
                    .at(span, "only global variables, constants and `_pid` are possible")
                    .help("make the variable global"),
            );
            return None;
        }
        Some(self.expression(condition))
    }

    /// The first part of an expression that is not global.
    fn not_global(&self, e: &ast::Expr) -> Option<Span> {
        let fine = |ok: bool, span: Span| if ok { None } else { Some(span) };
        match &e.kind {
            ExprKind::Constant(_) | ExprKind::Timeout | ExprKind::EmbeddedC(_) | ExprKind::Error => None,
            ExprKind::Var(v)
            | ExprKind::Len(v)
            | ExprKind::Full(v)
            | ExprKind::NFull(v)
            | ExprKind::Empty(v)
            | ExprKind::NEmpty(v)
            | ExprKind::Poll { channel: v, .. } => fine(!self.is_local(v), e.span),
            ExprKind::Unary(_, a) | ExprKind::Enabled(a) | ExprKind::GetPriority(a) | ExprKind::PcValue(a) => {
                self.not_global(a)
            }
            ExprKind::Binary(_, a, b) => self.not_global(a).or_else(|| self.not_global(b)),
            ExprKind::Conditional(a, b, c) => {
                self.not_global(a).or_else(|| self.not_global(b)).or_else(|| self.not_global(c))
            }
            ExprKind::Run { .. }
            | ExprKind::NonProgress
            | ExprKind::RemoteLabel { .. }
            | ExprKind::RemoteVar { .. } => Some(e.span),
        }
    }

    fn is_local(&self, v: &VarRef) -> bool {
        let Some(symbol) = self.names.find(&v.parts[0].name.text) else { return false };
        let symbol = self.names.symbol(symbol);
        symbol.context.is_some() && symbol.meaning != Meaning::Predefined
    }
}

/// Whether a C expression assigns something or calls a function, as far as its text tells.
pub(super) fn changes_something(text: &str) -> bool {
    let text = text.trim_start_matches(' ');
    let bytes = text.as_bytes();
    let calls = text.find('(').is_some_and(|at| at > 0 && bytes[at - 1].is_ascii_alphanumeric());
    let quoted = |at: usize| at > 0 && matches!(bytes[at - 1], b'"' | b'\'');
    let has = |what: &str| text.find(what).is_some_and(|at| !quoted(at));
    if calls && !text.starts_with("spin_mutex_free(") || has(";") || has("++") || has("--") {
        return true;
    }
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('=')) {
        let here = at + found;
        at = match here.checked_sub(1).map(|before| bytes[before]) {
            Some(b'!' | b'>' | b'<' | b'"' | b'\'') => here + 2,
            _ if bytes.get(here + 1) == Some(&b'=') => here + 2,
            _ => return true,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::changes_something;

    #[test]
    fn assignments_are_told_from_comparisons() {
        assert!(!changes_something(" now.x == 1 && PP->y >= 2 && z != 3"));
        assert!(changes_something(" now.x = 1 "));
        assert!(changes_something(" x++ "));
        assert!(changes_something(" f(x) "));
        assert!(changes_something(" x; "));
        assert!(!changes_something(" (x) "));
    }
}
