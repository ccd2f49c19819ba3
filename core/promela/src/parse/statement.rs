//! Sequences, steps and statements.

use super::declaration::Declared;
use super::{Open, Parser, Read, STATEMENT_DEPTH_MAX};
use crate::ast::{EmbeddedKind, Expr, ExprKind, Sequence, Step, StepKind, StringLit, VarRef};
use crate::token::{Tok, Token};
use fabius_base::{Code, Finding, Span};

impl Parser<'_> {
    /// `{ steps }`; the `{` was seen.
    pub(super) fn block(&mut self) -> Read<Sequence> {
        let brace = self.expect(Tok::LBrace, "")?;
        self.block_after(brace)
    }

    pub(super) fn block_after(&mut self, brace: Token) -> Read<Sequence> {
        self.open.push((Open::Brace, brace.span));
        let mut sequence = self.sequence();
        loop {
            let token = self.peek();
            let foreign = match token.kind {
                Tok::RBrace => break,
                Tok::Fi if !self.is_open(Open::If) => "without an `if`",
                Tok::Od if !self.is_open(Open::Do) => "without a `do`",
                Tok::Sep if !self.is_open(Open::If) && !self.is_open(Open::Do) => "outside of `if` and `do`",
                kind => {
                    self.open.pop();
                    self.unclosed_braces += u32::from(kind.begins_unit());
                    return Err(self.unclosed(brace.span, "}"));
                }
            };
            let headline = format!("{} {foreign}", self.describe(token));
            self.error(token.span, headline, "", "remove it, or begin the `if` or `do` before it");
            self.bump();
            if !self.ends_sequence() {
                sequence.steps.extend(self.sequence().steps);
            }
        }
        self.open.pop();
        self.bump();
        sequence.span = self.span_from(brace.span);
        Ok(sequence)
    }

    /// Says that something was never closed.
    pub(super) fn unclosed(&mut self, opened: Span, closing: &str) -> super::Bail {
        let token = self.peek();
        let headline = format!("expected `{closing}`, found {}", self.describe(token));
        let finding = Finding::new(Code::UnexpectedToken, headline).at(token.span, "").at(opened, "opened here");
        self.report(finding.help(format!("close it with `{closing}`")), token.span)
    }

    /// Steps with separators between them, up to what ends a sequence.
    pub(super) fn sequence(&mut self) -> Sequence {
        let start = self.peek().span;
        let mut steps = Vec::new();
        if matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
            let token = self.peek();
            self.error(token.span, "expected a statement, found a separator", "", "remove it, or write `skip`");
            self.separators();
        } else if self.ends_sequence() {
            let token = self.peek();
            let elsewhere = match token.kind {
                Tok::Fi => !self.is_open(Open::If),
                Tok::Od => !self.is_open(Open::Do),
                Tok::Sep => !self.is_open(Open::If) && !self.is_open(Open::Do),
                kind => kind == Tok::Eof || kind.begins_unit(),
            };
            // What cannot end this sequence is the business of whoever began it.
            if !elsewhere {
                let headline = format!("expected at least one statement before {}", self.describe(token));
                self.error(token.span, headline, "", "write `skip` if nothing is to be done");
            }
        }
        while !self.ends_sequence() {
            let taken = self.taken;
            match self.step() {
                Ok(step) => steps.push(step),
                Err(_) => {
                    let from = self.previous.span;
                    self.sync_statement();
                    steps.push(Step { labels: Vec::new(), kind: StepKind::Error, span: from });
                }
            }
            if matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
                self.separators();
            } else if !self.ends_sequence() {
                self.missing_separator(taken);
            }
        }
        Sequence { steps, span: self.span_from(start) }
    }

    /// One or more separators.
    fn separators(&mut self) {
        let mut count = 0;
        while matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
            let token = self.bump();
            count += usize::from(!token.implied);
            let again = self.peek_kind();
            if count == 2 && matches!(again, Tok::Fi | Tok::Od | Tok::Sep) {
                self.spin_refuses(token.span, "one separator is enough here; Spin refuses more", "remove it");
            }
        }
    }

    /// Two steps without separator: says so, and makes sure that reading goes on.
    fn missing_separator(&mut self, taken: u64) {
        let token = self.peek();
        let previous = self.previous;
        let at = Span { start: previous.span.end, ..previous.span };
        let word = matches!(previous.kind, Tok::Ident).then(|| self.foreign_word(previous)).flatten();
        let finding = if token.kind == Tok::Assign {
            let headline = "`=` assigns to a variable, and cannot stand inside an expression";
            Finding::new(Code::UnexpectedToken, headline).at(token.span, "").help("write `==` to compare")
        } else if previous.kind == Tok::Ident && token.kind == Tok::LParen {
            self.not_callable(previous)
        } else {
            let headline = format!("expected `;` or `->` before {}", self.describe(token));
            let finding = Finding::new(Code::UnexpectedToken, headline).at(token.span, "");
            let hexadecimal = previous.kind == Tok::Number && token.glued && self.text(token.symbol).starts_with('x');
            match word {
                Some(help) => finding.help(help),
                None if token.kind == Tok::Ident && hexadecimal => {
                    finding.help("Promela has no hexadecimal numbers: write it in decimal")
                }
                None if token.kind == Tok::Comma => finding.help("statements are separated by `;`"),
                None if can_begin(token.kind) => finding.at(at, "a separator is missing here"),
                None => finding,
            }
        };
        self.report(finding, token.span);
        if !can_begin(token.kind) || self.taken == taken {
            let before = self.taken;
            self.sync_statement();
            if self.taken == before && !self.ends_sequence() {
                self.bump();
            }
            if matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
                self.separators();
            }
        }
    }

    /// A declaration, an assertion about channels, or a statement with what it may be escaped by.
    fn step(&mut self) -> Read<Step> {
        self.inner_depth = 0;
        self.paren_depth = 0;
        let start = self.peek().span;
        let plain = |kind, span| Step { labels: Vec::new(), kind, span };
        if self.begins_declaration() {
            let declaration = self.local_declaration()?;
            let span = declaration.span;
            return Ok(plain(StepKind::Declaration(declaration), span));
        }
        if matches!(self.peek_kind(), Tok::Xr | Tok::Xs) {
            let kind = self.exclusive()?;
            return Ok(plain(kind, self.span_from(start)));
        }
        let main = self.labelled()?;
        if self.accept(Tok::Unless).is_none() {
            return Ok(main);
        }
        let escape = self.labelled()?;
        let kind = StepKind::Unless { main: Box::new(main), escape: Box::new(escape) };
        if self.peek_kind() == Tok::Unless {
            let span = self.peek().span;
            return Err(self.error(
                span,
                "`unless` cannot follow `unless`",
                "",
                "put braces around the first: `{ a unless b } unless c`",
            ));
        }
        Ok(plain(kind, self.span_from(start)))
    }

    fn local_declaration(&mut self) -> Read<crate::ast::Declaration> {
        match self.any_declaration()? {
            Declared::Variables(declaration) => Ok(declaration),
            Declared::Mtype(mtype) => Err(self.mtype_not_global(mtype.span)),
        }
    }

    /// `xr q, r` and `xs q, r`
    fn exclusive(&mut self) -> Read<StepKind> {
        let send = self.bump().kind == Tok::Xs;
        let mut channels = vec![self.varref()?];
        while self.accept(Tok::Comma).is_some() {
            channels.push(self.varref()?);
        }
        Ok(StepKind::Exclusive { send, channels })
    }

    /// A statement with its labels, one level deeper.
    fn labelled(&mut self) -> Read<Step> {
        if self.statement_depth >= STATEMENT_DEPTH_MAX {
            let span = self.peek().span;
            return Err(self.too_deep(span, "statements", STATEMENT_DEPTH_MAX));
        }
        self.statement_depth += 1;
        let step = self.labels_and_statement();
        self.statement_depth -= 1;
        step
    }

    fn labels_and_statement(&mut self) -> Read<Step> {
        let mut labels = Vec::new();
        loop {
            let token = self.peek();
            if token.kind != Tok::Ident {
                break;
            }
            let variable = self.varref()?;
            let label = variable.parts.len() == 1 && variable.parts[0].index.is_none();
            if !label || self.peek_kind() != Tok::Colon {
                let kind = self.after_varref(variable)?;
                return Ok(Step { labels, kind, span: self.span_from(token.span) });
            }
            let colon = self.bump();
            if self.peek_kind() == Tok::Assign {
                let span = colon.span.to(self.peek().span);
                return Err(self.error(span, "`:=` has no meaning in Promela", "", "write `=` to assign"));
            }
            labels.extend(variable.parts.into_iter().map(|part| part.name));
        }
        if !labels.is_empty() {
            if self.begins_declaration() || matches!(self.peek_kind(), Tok::Xr | Tok::Xs) {
                let span = self.peek().span;
                return Err(self.error(
                    span,
                    "a label cannot stand before a declaration",
                    "",
                    "put the label behind it",
                ));
            }
            if self.ends_sequence() || matches!(self.peek_kind(), Tok::Semi | Tok::Arrow | Tok::Unless) {
                let span = self.previous.span;
                return Ok(Step { labels, kind: StepKind::Skip, span });
            }
        }
        let start = self.peek().span;
        let kind = self.statement()?;
        Ok(Step { labels, kind, span: self.span_from(start) })
    }

    /// A statement that begins with a variable.
    fn after_varref(&mut self, variable: VarRef) -> Read<StepKind> {
        let sign = self.peek();
        match sign.kind {
            Tok::Assign => self.assignment(variable),
            Tok::Incr => {
                self.event_only(sign.span);
                self.bump();
                Ok(StepKind::Increment(variable))
            }
            Tok::Decr => {
                self.event_only(sign.span);
                self.bump();
                Ok(StepKind::Decrement(variable))
            }
            Tok::Not | Tok::SortedSend => self.send(variable),
            Tok::Receive | Tok::ReceiveAny => self.receive(variable),
            Tok::LParen => {
                let name = variable.parts.first().map_or(String::new(), |part| part.name.text.to_string());
                let finding = Finding::new(Code::UnexpectedToken, format!("`{name}` cannot be called"))
                    .at(variable.span, "no inline with this name is defined above");
                let finding = match self.foreign_word(self.previous) {
                    Some(help) => finding.help(help),
                    None => finding.help(format!(
                        "define `inline {name}(…) {{ … }}` above, or write `run {name}(…)` for a proctype"
                    )),
                };
                Err(self.report(finding, variable.span))
            }
            _ => {
                self.event_only(variable.span);
                let span = variable.span;
                let expr = self.full_expr_after(Expr { kind: ExprKind::Var(variable), span })?;
                Ok(StepKind::Expr(expr))
            }
        }
    }

    /// `name(…)` where no inline has this name.
    fn not_callable(&self, word: Token) -> Finding {
        let name = self.text(word.symbol);
        let finding = Finding::new(Code::UnexpectedToken, format!("`{name}` cannot be called"))
            .at(word.span, "no inline with this name is defined above");
        match self.foreign_word(word) {
            Some(help) => finding.help(help),
            None => finding
                .help(format!("define `inline {name}(…) {{ … }}` above, or write `run {name}(…)` for a proctype")),
        }
    }

    fn assignment(&mut self, target: VarRef) -> Read<StepKind> {
        let sign = self.bump();
        self.event_only(sign.span);
        if self.peek_kind() == Tok::InlineName {
            return self.inline_call(Some(target));
        }
        Ok(StepKind::Assign { target, value: self.full_expr()? })
    }

    /// `q!a, b`, `q!a(b)`, `q!!a`
    fn send(&mut self, channel: VarRef) -> Read<StepKind> {
        let sign = self.bump();
        let sorted = sign.kind == Tok::SortedSend;
        if sorted {
            self.event_only(sign.span);
        }
        let mut arguments = vec![self.expr()?];
        if let Some(open) = self.accept(Tok::LParen) {
            if self.peek_kind() == Tok::RParen {
                return Err(self.unexpected("a field of the message"));
            }
            arguments.extend(self.args()?);
            self.close_paren(open)?;
        } else if self.accept(Tok::Comma).is_some() {
            loop {
                arguments.push(self.expr()?);
                if self.accept(Tok::Comma).is_none() {
                    break;
                }
            }
        }
        Ok(StepKind::Send { channel, sorted, arguments })
    }

    /// `q?a`, `q?<a>`, `q??a`, `q??<a>`, or an expression that begins with `q?[a]`
    fn receive(&mut self, channel: VarRef) -> Read<StepKind> {
        let sign = self.bump();
        let any = sign.kind == Tok::ReceiveAny;
        let next = self.peek_kind();
        if any || matches!(next, Tok::LBracket | Tok::Lt) {
            self.event_only(sign.span);
        }
        if next == Tok::LBracket {
            let poll = self.poll(channel, sign)?;
            return Ok(StepKind::Expr(self.full_expr_after(poll)?));
        }
        let keep = self.accept(Tok::Lt).is_some();
        let arguments = self.receive_args()?;
        if keep {
            self.expect(Tok::Gt, " after the fields of the message")?;
        }
        Ok(StepKind::Receive { channel, any, keep, arguments })
    }

    /// In `trace` and `notrace` only sends and receives may stand between the control statements.
    pub(super) fn event_only(&mut self, span: Span) {
        if self.in_trace {
            let help = "a `trace` lists sends `q!x` and receives `q?x`, joined by `if`, `do`, `for`, `goto`";
            self.error(span, "this is not an event", "", help);
        }
    }

    /// A statement that does not begin with a variable.
    fn statement(&mut self) -> Read<StepKind> {
        let token = self.peek();
        match token.kind {
            Tok::If => self.options(Open::If),
            Tok::Do => self.options(Open::Do),
            Tok::For => self.for_loop(),
            Tok::Select => self.select(),
            Tok::Break => {
                self.bump();
                Ok(StepKind::Break)
            }
            Tok::Goto => self.goto(),
            _ => {
                self.event_only(token.span);
                self.plain_statement(token)
            }
        }
    }

    fn plain_statement(&mut self, token: Token) -> Read<StepKind> {
        match token.kind {
            Tok::LBrace => Ok(StepKind::Block(self.block()?)),
            Tok::Atomic => {
                self.bump();
                Ok(StepKind::Atomic(self.block()?))
            }
            Tok::DStep => {
                self.bump();
                Ok(StepKind::DStep(self.block()?))
            }
            Tok::Else => {
                self.bump();
                Ok(StepKind::Else)
            }
            Tok::Assert => {
                self.bump();
                Ok(StepKind::Assert(self.full_expr()?))
            }
            Tok::Printf => self.printf(),
            Tok::Printm => self.printm(),
            Tok::SetPriority => self.set_priority(),
            Tok::Return => self.return_statement(),
            Tok::InlineName => self.inline_call(None),
            Tok::CCode => Ok(StepKind::EmbeddedC(self.embedded_c(EmbeddedKind::Code)?)),
            Tok::CDecl => Ok(StepKind::EmbeddedC(self.embedded_c(EmbeddedKind::Decl)?)),
            Tok::Incr | Tok::Decr => {
                let help = "write the variable first: `x++`, `x--`";
                Err(self.error(token.span, "a statement cannot begin with `++` or `--`", "", help))
            }
            kind if can_begin(kind) => Ok(StepKind::Expr(self.full_expr()?)),
            _ => Err(self.unexpected("a statement")),
        }
    }

    fn goto(&mut self) -> Read<StepKind> {
        self.bump();
        let token = self.peek();
        if token.kind != Tok::Ident {
            return Err(self.unexpected("the name of a label after `goto`"));
        }
        self.bump();
        Ok(StepKind::Goto(self.name_of(token)))
    }

    fn printf(&mut self) -> Read<StepKind> {
        self.bump();
        let open = self.expect(Tok::LParen, " after `printf`")?;
        let token = self.peek();
        if token.kind != Tok::Str {
            return Err(self.unexpected("a string"));
        }
        self.bump();
        let quoted = self.text(token.symbol);
        let text = quoted.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(quoted);
        let format = StringLit { text: text.into(), span: token.span };
        let mut arguments = Vec::new();
        while self.accept(Tok::Comma).is_some() {
            arguments.push(self.expr()?);
        }
        if self.peek_kind() == Tok::Str {
            let span = self.peek().span;
            return Err(self.error(span, "strings that follow each other are not joined", "", "write one string"));
        }
        self.close_paren(open)?;
        Ok(StepKind::Printf { format, arguments })
    }

    fn printm(&mut self) -> Read<StepKind> {
        self.bump();
        let open = self.expect(Tok::LParen, " after `printm`")?;
        let expr = match self.constant() {
            Some(constant) => Expr { span: constant.span, kind: ExprKind::Constant(constant) },
            None => {
                let variable = self.varref()?;
                Expr { span: variable.span, kind: ExprKind::Var(variable) }
            }
        };
        self.close_paren(open)?;
        Ok(StepKind::Printm(expr))
    }

    fn set_priority(&mut self) -> Read<StepKind> {
        self.bump();
        let open = self.expect(Tok::LParen, " after `set_priority`")?;
        let pid = self.expr()?;
        self.expect(Tok::Comma, " and a priority")?;
        let priority = self.expr()?;
        self.close_paren(open)?;
        Ok(StepKind::SetPriority { pid, priority })
    }
}

/// Whether a statement can begin with it.
fn can_begin(kind: Tok) -> bool {
    matches!(
        kind,
        Tok::Ident
            | Tok::InlineName
            | Tok::ProcName
            | Tok::MtypeConst
            | Tok::TypeName
            | Tok::Number
            | Tok::Char
            | Tok::True
            | Tok::False
            | Tok::Skip
            | Tok::LParen
            | Tok::LBrace
            | Tok::Not
            | Tok::Minus
            | Tok::Tilde
            | Tok::Run
            | Tok::Len
            | Tok::Full
            | Tok::NFull
            | Tok::Empty
            | Tok::NEmpty
            | Tok::Enabled
            | Tok::GetPriority
            | Tok::PcValue
            | Tok::Timeout
            | Tok::NonProgress
            | Tok::CExpr
            | Tok::CCode
            | Tok::If
            | Tok::Do
            | Tok::For
            | Tok::Select
            | Tok::Break
            | Tok::Goto
            | Tok::Atomic
            | Tok::DStep
            | Tok::Else
            | Tok::Assert
            | Tok::Printf
            | Tok::Printm
            | Tok::SetPriority
            | Tok::Return
            | Tok::Xr
            | Tok::Xs
            | Tok::Hidden
            | Tok::Show
            | Tok::Local
    ) || kind.is_type()
}
