//! The top level.

use super::declaration::Declared;
use super::{Parser, Read};
use crate::ast::{Claim, EmbeddedC, EmbeddedKind, Init, InlineDef, Ltl, Name, Proctype, Sequence, Trace, Unit};
use crate::token::Tok;
use fabius_base::{Code, Finding, Severity, Span};

impl Parser<'_> {
    /// Everything.
    pub(super) fn model(&mut self) {
        loop {
            match self.peek_kind() {
                Tok::Eof => return,
                Tok::Semi | Tok::Arrow => {
                    self.bump();
                    continue;
                }
                _ => {}
            }
            let taken = self.taken;
            self.statement_depth = 0;
            self.paren_depth = 0;
            self.inner_depth = 0;
            match self.unit() {
                Ok(unit) => self.model.units.push(unit),
                Err(_) => {
                    self.sync_unit();
                    if self.taken == taken {
                        self.bump();
                    }
                }
            }
        }
    }

    fn unit(&mut self) -> Read<Unit> {
        let token = self.peek();
        match token.kind {
            Tok::Active | Tok::Proctype | Tok::DProctype => Ok(Unit::Proctype(self.proctype()?)),
            Tok::Init => Ok(Unit::Init(self.init()?)),
            Tok::Never => Ok(Unit::Never(self.claim()?)),
            Tok::Trace | Tok::Notrace => Ok(Unit::Trace(self.trace()?)),
            Tok::Ltl => Ok(Unit::Ltl(self.ltl()?)),
            Tok::Typedef => Ok(Unit::Typedef(self.typedef()?)),
            Tok::Inline => Ok(Unit::Inline(self.inline()?)),
            Tok::CCode => Ok(Unit::EmbeddedC(self.embedded_c(EmbeddedKind::Code)?)),
            Tok::CDecl => Ok(Unit::EmbeddedC(self.embedded_c(EmbeddedKind::Decl)?)),
            Tok::CState | Tok::CTrack => Ok(Unit::EmbeddedC(self.c_state()?)),
            _ if self.begins_declaration() => match self.any_declaration()? {
                Declared::Variables(declaration) => Ok(Unit::Variables(declaration)),
                Declared::Mtype(mtype) => Ok(Unit::Mtype(mtype)),
            },
            Tok::RBrace if self.unclosed_braces > 0 => {
                self.unclosed_braces -= 1;
                Err(super::Bail)
            }
            Tok::RBrace => {
                Err(self.error(token.span, "this `}` closes nothing", "", "remove it, or look for a missing `{`"))
            }
            _ => {
                let help = self.foreign_word(token);
                if token.kind == Tok::Ident {
                    if self.complained.contains(&token.symbol) {
                        return Err(super::Bail);
                    }
                    self.complained.push(token.symbol);
                }
                let headline = format!("expected a declaration or a process, found {}", self.describe(token));
                let finding = Finding::new(Code::UnexpectedToken, headline).at(token.span, "");
                let help = help
                    .unwrap_or("at the top level stand declarations, `proctype`, `init`, `inline`, `ltl` and the like");
                Err(self.report(finding.help(help), token.span))
            }
        }
    }

    /// The body of a process or claim.
    fn body(&mut self) -> Read<Sequence> {
        if self.peek_kind() != Tok::LBrace {
            return Err(self.unexpected("`{` and the body"));
        }
        self.open.clear();
        // Line ends separate from the first token after the brace on.
        self.stream.in_body = true;
        let body = self.block()?;
        self.stream.in_body = false;
        Ok(body)
    }

    fn proctype(&mut self) -> Read<Proctype> {
        let start = self.peek().span;
        let mut active = None;
        if self.accept(Tok::Active).is_some() {
            active = Some(None);
            if self.accept(Tok::LBracket).is_some() {
                active = Some(Some(self.const_expr("the number of instances", true)?));
                self.expect(Tok::RBracket, " after the number of instances")?;
            }
        }
        let deterministic = self.peek_kind() == Tok::DProctype;
        if !deterministic && self.peek_kind() != Tok::Proctype {
            return Err(self.unexpected("`proctype` after `active`"));
        }
        self.bump();
        let token = self.peek();
        if token.kind != Tok::Ident {
            if token.kind == Tok::ProcName {
                let headline = format!("there is a proctype `{}` already", self.text(token.symbol));
                return Err(self.error(token.span, headline, "", "give one of them another name"));
            }
            return Err(self.unexpected("the name of the proctype"));
        }
        self.bump();
        let name = self.name_of(token);
        self.stream.role_mut(token.symbol).process = true;
        let open = self.expect(Tok::LParen, " and the parameters of the process")?;
        let parameters = if self.peek_kind() == Tok::RParen { Vec::new() } else { self.declaration_list(Tok::RParen)? };
        self.close_paren(open)?;
        self.check_parameters(&parameters);
        let priority = self.priority()?;
        let provided = self.provided()?;
        if self.peek_kind() == Tok::Priority {
            let span = self.peek().span;
            return Err(self.error(span, "`priority` stands before `provided`", "", "write `priority n provided (e)`"));
        }
        let body = self.body()?;
        let span = self.span_from(start);
        Ok(Proctype { active, deterministic, name, parameters, priority, provided, body, span })
    }

    fn check_parameters(&mut self, parameters: &[crate::ast::Declaration]) {
        for declarator in parameters.iter().flat_map(|p| &p.declarators) {
            if declarator.initial.is_some() {
                let help = "the caller gives the value: `run name(value)`";
                self.error(declarator.name.span, "a parameter cannot have an initial value", "", help);
            }
        }
    }

    /// `provided (e)`, if it stands here.
    fn provided(&mut self) -> Read<Option<crate::ast::Expr>> {
        if self.accept(Tok::Provided).is_none() {
            return Ok(None);
        }
        let open = self.expect(Tok::LParen, " and a condition after `provided`")?;
        let condition = self.full_expr()?;
        self.close_paren(open)?;
        Ok(Some(condition))
    }

    fn init(&mut self) -> Read<Init> {
        let word = self.bump();
        if self.peek_kind() == Tok::LParen {
            let span = self.peek().span;
            return Err(self.error(span, "`init` has no parameters", "", "write `init { … }`"));
        }
        let priority = self.priority()?;
        Ok(Init { priority, body: self.body()?, span: word.span })
    }

    fn optional_name(&mut self) -> Option<Name> {
        let token = self.accept(Tok::Ident)?;
        Some(self.name_of(token))
    }

    fn claim(&mut self) -> Read<Claim> {
        let word = self.bump();
        let name = self.optional_name();
        Ok(Claim { name, body: self.body()?, span: word.span })
    }

    fn trace(&mut self) -> Read<Trace> {
        let word = self.bump();
        self.in_trace = true;
        let body = self.body()?;
        self.in_trace = false;
        Ok(Trace { negated: word.kind == Tok::Notrace, body, span: word.span })
    }

    fn ltl(&mut self) -> Read<Ltl> {
        let word = self.bump();
        let name = self.optional_name();
        let open = self.peek();
        // The words of formulas count from the token after the brace on.
        self.stream.in_ltl = true;
        self.expect(Tok::LBrace, " and a formula")?;
        let formula = self.full_expr()?;
        if matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
            self.bump();
        }
        if self.peek_kind() != Tok::RBrace {
            let token = self.peek();
            let headline = format!("expected an operator or `}}`, found {}", self.describe(token));
            let mut finding = Finding::new(Code::UnexpectedToken, headline)
                .at(token.span, "")
                .at(open.span, "the formula begins here");
            if token.kind != Tok::Eof {
                return Err(self.report(finding, token.span));
            }
            finding.severity = Severity::Warning;
            self.tell(finding.note("Spin adds the `}` by itself").help("close the formula with `}`"));
        }
        self.stream.in_ltl = false;
        self.bump();
        let outside = self.stream.map.text(word.span) != "ltl";
        Ok(Ltl { name, formula, outside, span: word.span })
    }

    /// `inline name(parameters) { … }`: the body is kept as tokens.
    fn inline(&mut self) -> Read<InlineDef> {
        self.bump();
        let token = self.peek();
        if !matches!(token.kind, Tok::Ident | Tok::InlineName) {
            return Err(self.unexpected("the name of the inline"));
        }
        self.bump();
        if token.kind == Tok::InlineName {
            let headline = format!("there is an inline `{}` already", self.text(token.symbol));
            self.error(token.span, headline, "", "give one of them another name");
        }
        let name = self.name_of(token);
        let open = self.expect(Tok::LParen, " and the parameters of the inline")?;
        let mut parameters = Vec::new();
        let mut symbols = Vec::new();
        while self.peek_kind() != Tok::RParen {
            let parameter = self.peek();
            if parameter.kind != Tok::Ident {
                if parameter.kind.is_type() || parameter.kind == Tok::TypeName {
                    let help = "write only the names: `inline name(a, b) { … }`";
                    return Err(self.error(parameter.span, "parameters of an inline have no types", "", help));
                }
                return Err(self.unexpected("the name of a parameter"));
            }
            self.bump();
            symbols.push(parameter.symbol);
            parameters.push(self.name_of(parameter));
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        self.close_paren(open)?;
        let body = self.inline_body(token.span)?;
        let index = self.stream.add_inline(symbols, body.0, token.span);
        self.stream.role_mut(token.symbol).inline = Some(index);
        Ok(InlineDef { name, parameters, body: body.1 })
    }

    fn inline_body(&mut self, name: Span) -> Read<(Vec<crate::token::Token>, Span)> {
        let Some((tokens, closed)) = self.stream.raw_block(Tok::LBrace, Tok::RBrace) else {
            return Err(self.unexpected("`{` and the body of the inline"));
        };
        let first = tokens.first().map_or(name, |t| t.span);
        if !closed {
            let finding = Finding::new(Code::UnexpectedToken, "the body of this inline is never closed");
            self.report(finding.at(first, "opened here").help("close it with `}`"), first);
            return Err(super::Bail);
        }
        let last = tokens.last().map_or(first, |t| t.span);
        self.taken += tokens.len() as u64;
        if let Some(token) = tokens.last() {
            self.previous = *token;
        }
        Ok((tokens, first.to(last)))
    }

    /// `c_state "…" "…"` and `c_track "…" "…"`, with an optional third string.
    fn c_state(&mut self) -> Read<EmbeddedC> {
        let word = self.bump();
        let mut texts: Vec<String> = Vec::new();
        while texts.len() < 3 {
            match self.accept(Tok::Str) {
                Some(token) => texts.push(self.text(token.symbol).to_owned()),
                None if texts.len() < 2 => return Err(self.unexpected("a string")),
                None => break,
            }
        }
        let kind = if word.kind == Tok::CState { EmbeddedKind::State } else { EmbeddedKind::Track };
        Ok(EmbeddedC { kind, text: texts.join(" "), span: self.span_from(word.span) })
    }
}
