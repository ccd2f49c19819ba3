//! Where to go on after an error.

use super::{Open, Parser};
use crate::token::Tok;

impl Parser<'_> {
    /// Whether a sequence of steps ends here.
    pub(super) fn ends_sequence(&mut self) -> bool {
        let kind = self.peek_kind();
        matches!(kind, Tok::RBrace | Tok::Fi | Tok::Od | Tok::Sep | Tok::Eof) || kind.begins_unit()
    }

    /// Passes over what cannot be read, up to the end of the statement.
    pub(super) fn sync_statement(&mut self) {
        self.stream.in_for = false;
        let mut nested: Vec<Tok> = Vec::new();
        let first = self.peek();
        if first.implied && self.last_error == Some(first.span) {
            // The end of the line was the error: what follows belongs to the same statement.
            self.bump();
        }
        loop {
            let token = self.peek();
            let kind = token.kind;
            // A word such as `init` within a line is more likely a wrong name than a new unit.
            let unit = kind.begins_unit() && (token.newline || self.previous.kind == Tok::RBrace);
            if kind == Tok::Eof || unit {
                return;
            }
            if nested.is_empty() {
                // The rest of a line does not end while parentheses count as open.
                self.stream.parens = 0;
                let ends = self.ends_sequence() && !kind.begins_unit();
                if ends || matches!(kind, Tok::Semi | Tok::Arrow) {
                    return;
                }
            }
            match kind {
                Tok::LBrace => nested.push(Tok::RBrace),
                Tok::If => nested.push(Tok::Fi),
                Tok::Do => nested.push(Tok::Od),
                _ if nested.last() == Some(&kind) => {
                    nested.pop();
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Passes over what cannot be read, up to the next unit.
    pub(super) fn sync_unit(&mut self) {
        self.stream.in_for = false;
        self.stream.in_body = false;
        self.stream.in_ltl = false;
        self.stream.parens = 0;
        self.in_trace = false;
        self.recording = None;
        self.open.clear();
        let mut depth = 0_u32;
        loop {
            let kind = self.peek_kind();
            match kind {
                Tok::Eof => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth <= 1 => {
                    self.bump();
                    return;
                }
                Tok::RBrace => depth -= 1,
                Tok::Semi if depth == 0 => return,
                _ if kind.begins_unit() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Whether an `if`, a `do` or a brace is open around here.
    pub(super) fn is_open(&self, what: Open) -> bool {
        self.open.iter().any(|(open, _)| *open == what)
    }
}
