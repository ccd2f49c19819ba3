//! `if`, `do`, `for` and `select`.

use super::{Bail, Open, Parser, Read};
use crate::ast::{Expr, Sequence, StepKind};
use crate::token::{Tok, Token};

impl Parser<'_> {
    /// `if :: … fi` and `do :: … od`
    pub(super) fn options(&mut self, what: Open) -> Read<StepKind> {
        let word = self.bump();
        let (closing, close) = if what == Open::If { (Tok::Fi, "fi") } else { (Tok::Od, "od") };
        if self.peek_kind() == Tok::LParen && what == Open::If {
            return self.c_style_if(word);
        }
        self.open.push((what, word.span));
        if self.peek_kind() != Tok::Sep {
            let bail = self.unexpected(&format!(
                "`::` and the first option of this `{}`",
                if what == Open::If { "if" } else { "do" }
            ));
            self.sync_statement();
            while matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
                self.bump();
                self.sync_statement();
            }
            if !matches!(self.peek_kind(), Tok::Sep | Tok::Fi | Tok::Od) {
                self.open.pop();
                return Err(bail);
            }
        }
        let mut options = Vec::new();
        while let Some(sep) = self.accept(Tok::Sep) {
            let mut option = self.sequence();
            option.span = self.span_from(sep.span);
            options.push(option);
        }
        self.open.pop();
        let token = self.peek();
        if token.kind == closing {
            self.bump();
        } else {
            let wrong = matches!((token.kind, what), (Tok::Od, Open::If) | (Tok::Fi, Open::Do));
            let other = if what == Open::If { Open::Do } else { Open::If };
            let bail = self.unclosed(word.span, close);
            if !wrong || self.is_open(other) {
                return Err(bail);
            }
            self.bump();
        }
        Ok(if what == Open::If { StepKind::If(options) } else { StepKind::Do(options) })
    }

    /// `if (x) { … } else { … }` as in C: says what Promela writes, and reads over it.
    fn c_style_if(&mut self, word: Token) -> Read<StepKind> {
        self.error(
            word.span,
            "this `if` is written as in C",
            "",
            "write `if :: condition -> statements :: else -> statements fi`",
        );
        loop {
            if self.full_expr().is_err() {
                return Err(Bail);
            }
            if self.accept(Tok::Semi).is_none() {
                self.accept(Tok::Arrow);
            }
            if self.peek_kind() != Tok::LBrace {
                return Ok(StepKind::Error);
            }
            self.block()?;
            while matches!(self.peek_kind(), Tok::Semi) && self.peek().implied {
                self.bump();
            }
            if self.accept(Tok::Else).is_none() {
                // The separator may have been taken on the way to the missing `else`.
                self.last_error = Some(self.peek().span);
                return Ok(StepKind::Error);
            }
            while matches!(self.peek_kind(), Tok::Semi) && self.peek().implied {
                self.bump();
            }
            if self.accept(Tok::If).is_none() {
                if self.peek_kind() == Tok::LBrace {
                    self.block()?;
                }
                return Ok(StepKind::Error);
            }
        }
    }

    /// `for (x : a .. b) { … }` and `for (x in q) { … }`
    pub(super) fn for_loop(&mut self) -> Read<StepKind> {
        self.bump();
        self.expect(Tok::LParen, " after `for`")?;
        self.stream.in_for = true;
        let variable = self.varref()?;
        if self.accept(Tok::In).is_some() {
            let container = self.varref()?;
            self.expect(Tok::RParen, " after the name of an array or channel")?;
            self.stream.in_for = false;
            let body = self.for_body()?;
            return Ok(StepKind::ForIn { variable, container, body });
        }
        let (from, to) = self.range("for (x : from .. to) { … }")?;
        self.stream.in_for = false;
        let body = self.for_body()?;
        Ok(StepKind::ForRange { variable, from, to, body })
    }

    /// `: a .. b )`
    fn range(&mut self, example: &str) -> Read<(Expr, Expr)> {
        if self.peek_kind() == Tok::Assign {
            let span = self.peek().span;
            let bail = self.error(span, "a range is not written as in C", "", &format!("write `{example}`"));
            while !matches!(self.peek_kind(), Tok::RParen | Tok::LBrace | Tok::RBrace | Tok::Eof) {
                self.bump();
            }
            return Err(bail);
        }
        self.expect(Tok::Colon, "")?;
        let from = self.expr()?;
        self.expect(Tok::DotDot, " between the two ends of the range")?;
        let to = self.expr()?;
        self.expect(Tok::RParen, " after the range")?;
        Ok((from, to))
    }

    fn for_body(&mut self) -> Read<Sequence> {
        self.accept(Tok::Semi);
        if self.peek_kind() != Tok::LBrace {
            return Err(self.unexpected("`{` and the body of the `for`"));
        }
        self.block()
    }

    /// `select (x : a .. b)`
    pub(super) fn select(&mut self) -> Read<StepKind> {
        self.bump();
        self.expect(Tok::LParen, " after `select`")?;
        let variable = self.varref()?;
        let (from, to) = self.range("select (x : from .. to)")?;
        Ok(StepKind::Select { variable, from, to })
    }
}
