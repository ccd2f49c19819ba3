//! Syntax errors in plain words: what was found, what was expected, what to do.

use super::{Bail, Parser};
use crate::token::{Tok, Token, spelling};
use fabius_base::{Code, Finding, Span};

impl Parser<'_> {
    /// A token in plain words.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            Tok::Eof => "the end of the text".to_owned(),
            Tok::Ident => format!("the name `{}`", self.text(token.symbol)),
            Tok::TypeName => format!("`{}`, the name of a typedef", self.text(token.symbol)),
            Tok::ProcName => format!("`{}`, the name of a proctype", self.text(token.symbol)),
            Tok::InlineName => format!("`{}`, the name of an inline", self.text(token.symbol)),
            Tok::MtypeConst => format!("`{}`, a constant of an mtype", self.text(token.symbol)),
            Tok::Number => format!("the number {}", token.value),
            Tok::Char => format!("the character {}", self.text(token.symbol)),
            Tok::Str => "a string".to_owned(),
            Tok::Semi if token.implied => "the end of the line".to_owned(),
            // The brace that is put behind a formula of a command line takes no room.
            Tok::RBrace if token.span.start == token.span.end => "the end of the text".to_owned(),
            kind => format!("`{}`", spelling(kind).unwrap_or("this")),
        }
    }

    /// Says what was expected here and what was found. Once per place.
    pub(super) fn unexpected(&mut self, expected: &str) -> Bail {
        let token = self.peek();
        let headline = format!("expected {expected}, found {}", self.describe(token));
        let mut finding = Finding::new(Code::UnexpectedToken, headline).at(token.span, "");
        let ended = self.previous.implied && self.previous.kind == Tok::Semi && continues(token.kind);
        if ended || token.implied {
            finding = finding
                .note("Spin ends a statement where a line ends, unless parentheses are open")
                .help("put the operator at the end of the line before, or parentheses around the whole");
        }
        self.report(finding, token.span)
    }

    /// Records a syntax error, once per place.
    pub(super) fn report(&mut self, finding: Finding, span: Span) -> Bail {
        if self.last_error != Some(span) {
            self.last_error = Some(span);
            self.tell(finding);
        }
        Bail
    }

    /// A syntax error with help.
    pub(super) fn error(&mut self, span: Span, headline: impl Into<String>, label: &str, help: &str) -> Bail {
        let finding = Finding::new(Code::UnexpectedToken, headline).at(span, label);
        let finding = if help.is_empty() { finding } else { finding.help(help) };
        self.report(finding, span)
    }

    /// Something is nested too deeply.
    pub(super) fn too_deep(&mut self, span: Span, what: &str, limit: u32) -> Bail {
        let finding = Finding::new(Code::NestedTooDeep, format!("{what} are nested more than {limit} levels deep"));
        self.report(finding.at(span, "").help("split it into smaller parts"), span)
    }

    /// Something that is accepted although Spin does not.
    pub(super) fn spin_refuses(&mut self, span: Span, headline: &str, help: &str) {
        self.tell(Finding::new(Code::SpinRefuses, headline).at(span, "").help(help));
    }

    /// Help for a statement or unit that begins with a name that other languages know.
    pub(super) fn foreign_word(&self, token: Token) -> Option<&'static str> {
        if token.kind != Tok::Ident {
            return None;
        }
        Some(match self.text(token.symbol) {
            "while" | "loop" | "repeat" => "Promela's loop is `do :: condition -> … :: else -> break od`",
            "switch" | "case" => "Promela's choice is `if :: condition -> … :: else -> … fi`",
            "then" => "Promela writes `if :: condition -> … :: else -> … fi`",
            "endif" | "end_if" => "an `if` ends with `fi`",
            "enddo" | "done" | "end" => "a `do` ends with `od`",
            "elif" | "elseif" | "elsif" => "each option of an `if` begins with `::`",
            "continue" => "a `do` begins anew by itself after the last statement of an option: write `skip`",
            "print" => "write `printf(\"…\\n\")`",
            "process" | "proc" | "thread" | "function" | "void" => {
                "a process is `proctype name(parameters) { … }`, text to be inserted is `inline name(parameters) { … }`"
            }
            "var" | "let" | "const" => "a variable is declared as `type name`, a constant as `#define NAME value`",
            "uint" | "uint8" | "char" | "long" | "boolean" | "integer" | "string" | "float" | "double" | "unit" => {
                "the types are `bit bool byte short int unsigned pid chan mtype` and typedefs"
            }
            "enum" => "write `mtype = { a, b, c }`",
            "struct" => "write `typedef Name { fields }` and then `Name variable`",
            "send" | "recv" | "receive" => "write `channel!message` to send and `channel?message` to receive",
            _ => return None,
        })
    }
}

/// Whether a token can only go on with what stands before it.
fn continues(kind: Tok) -> bool {
    matches!(
        kind,
        Tok::Plus
            | Tok::Star
            | Tok::Slash
            | Tok::Percent
            | Tok::Amp
            | Tok::Pipe
            | Tok::Caret
            | Tok::Shl
            | Tok::Shr
            | Tok::Lt
            | Tok::Le
            | Tok::Gt
            | Tok::Ge
            | Tok::EqEq
            | Tok::NotEq
            | Tok::AndAnd
            | Tok::OrOr
            | Tok::Comma
            | Tok::Dot
            | Tok::Assign
            | Tok::Receive
            | Tok::ReceiveAny
            | Tok::SortedSend
            | Tok::RParen
            | Tok::RBracket
    )
}
