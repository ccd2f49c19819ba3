//! Calls of inlines, and embedded C: text that is taken as tokens before it is read.

use super::{Parser, Read};
use crate::ast::{EmbeddedC, EmbeddedKind, Expr, Name, Sequence, StepKind, VarRef};
use crate::token::{Tok, Token};
use fabius_base::{Code, Finding};

impl Parser<'_> {
    pub(super) fn return_statement(&mut self) -> Read<StepKind> {
        let word = self.bump();
        let expr = self.full_expr()?;
        match self.stream.inside_inline() {
            Some(true) => {}
            Some(false) => {
                let help = "call it as `x = name(…)`";
                self.error(
                    word.span,
                    "this inline returns a value, but was called without a variable for it",
                    "",
                    help,
                );
            }
            None => {
                let help = "a process has no caller: assign to a variable or send a message";
                self.error(word.span, "`return` outside of an inline", "", help);
            }
        }
        Ok(StepKind::Return(expr))
    }

    /// `name(arguments)`: reads the body of the inline in place of the call.
    pub(super) fn inline_call(&mut self, result: Option<VarRef>) -> Read<StepKind> {
        let token = self.bump();
        let name: Name = self.name_of(token);
        let Some(index) = self.stream.role(token.symbol).inline else { return Err(self.unexpected("an inline")) };
        self.recording = Some(Vec::new());
        let read = self.inline_arguments();
        let recorded = self.recording.take().unwrap_or_default();
        let values = read?;
        let count = values.len();
        let call = self.span_from(token.span);
        let inline = &self.stream.inlines[index as usize];
        let (expected, defined) = (inline.parameters.len(), inline.span);
        if count != expected {
            let plural = if expected == 1 { "" } else { "s" };
            let headline = format!("inline `{}` takes {expected} argument{plural}, not {count}", name.text);
            let finding = Finding::new(Code::BadInlineCall, headline);
            self.tell(finding.at(call, "").at(defined, "the inline is defined here"));
            return Ok(StepKind::Error);
        }
        if self.stream.active_inlines().any(|active| active == index) {
            let headline = format!("inline `{}` calls itself", name.text);
            let finding =
                Finding::new(Code::BadInlineCall, headline).at(call, "").at(defined, "the inline is defined here");
            self.tell(
                finding
                    .note("the text of an inline replaces its call, so that it would never end")
                    .help("use a `do` loop"),
            );
            return Ok(StepKind::Error);
        }
        let arguments = split_arguments(&recorded, count);
        let from = self.stream.call_inline(index, arguments, token.symbol, call, result.is_some());
        let body = self.inlined_body(from)?;
        Ok(StepKind::Inlined { name, arguments: values, result, body })
    }

    /// `(a, b)`
    fn inline_arguments(&mut self) -> Read<Vec<Expr>> {
        let open = self.expect(Tok::LParen, " and the arguments of the inline")?;
        let arguments = self.args()?;
        self.close_paren(open)?;
        Ok(arguments)
    }

    /// The body of an inline, which now stands in place of its call.
    fn inlined_body(&mut self, frame: usize) -> Read<Sequence> {
        let call_end = self.previous;
        let brace = self.expect(Tok::LBrace, "")?;
        let body = self.block_after(brace);
        // The step ends where the call does.
        self.previous = call_end;
        // What is left of a broken body must not be taken for what follows the call.
        if body.is_err() && self.stream.leave_inline(frame) {
            self.peeked = None;
        }
        body
    }

    /// The `{…}` of `c_code`, `c_expr`, `c_decl`; an assertion `[…]` may stand before it.
    pub(super) fn embedded_c(&mut self, kind: EmbeddedKind) -> Read<EmbeddedC> {
        let word = self.bump();
        let assertion = self.stream.raw_block(Tok::LBracket, Tok::RBracket);
        let Some((tokens, closed)) = self.stream.raw_block(Tok::LBrace, Tok::RBrace) else {
            return Err(self.unexpected("`{` and C code"));
        };
        let end = tokens.last().map_or(word.span, |t| t.span);
        if !closed {
            self.unclosed(tokens.first().map_or(word.span, |t| t.span), "}");
        }
        let inner = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or(&[]);
        let mut text = self.c_text(inner);
        if let Some((assertion, _)) = assertion {
            text =
                format!("[{}] {text}", self.c_text(assertion.get(1..assertion.len().saturating_sub(1)).unwrap_or(&[])));
        }
        self.taken += tokens.len() as u64;
        self.previous = tokens.last().copied().unwrap_or(word);
        Ok(EmbeddedC { kind, text, span: word.span.to(end) })
    }

    /// C code as it was written, or, where macros made it, token by token.
    fn c_text(&self, tokens: &[Token]) -> String {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return String::new() };
        if tokens.iter().all(|t| t.span.via == first.span.via && t.span.file == first.span.file) {
            return self.stream.map.text(first.span.to(last.span)).to_owned();
        }
        let texts: Vec<&str> = tokens.iter().map(|t| self.stream.map.text(t.span)).collect();
        texts.join(" ")
    }
}

/// The tokens of each argument out of those of `(a, b)`.
fn split_arguments(recorded: &[Token], count: usize) -> Vec<Vec<Token>> {
    let inner = recorded.get(1..recorded.len().saturating_sub(1)).unwrap_or(&[]);
    let mut arguments = vec![Vec::new(); count];
    let (mut depth, mut index) = (0_u32, 0);
    for token in inner {
        match token.kind {
            Tok::LParen | Tok::LBracket => depth += 1,
            Tok::RParen | Tok::RBracket => depth = depth.saturating_sub(1),
            Tok::Comma if depth == 0 => {
                index += 1;
                continue;
            }
            _ => {}
        }
        if let Some(argument) = arguments.get_mut(index) {
            argument.push(*token);
        }
    }
    arguments
}
