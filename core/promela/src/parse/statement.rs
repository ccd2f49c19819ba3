//! Sequences, steps and statements.

use super::declaration::Declared;
use super::{Open, Parser, Read, STATEMENT_DEPTH_MAX};
use crate::ast::{EmbeddedC, EmbeddedKind, Expr, ExprKind, Name, Sequence, Step, StepKind, StringLit, VarRef};
use crate::token::{Tok, Token};
use fabius_base::{Code, Finding, Span};

impl Parser<'_> {
    /// `{ steps }`; the `{` was seen.
    pub(super) fn block(&mut self) -> Read<Sequence> {
        let brace = self.expect(Tok::LBrace, "")?;
        self.block_after(brace)
    }

    fn block_after(&mut self, brace: Token) -> Read<Sequence> {
        self.open.push((Open::Brace, brace.span));
        let mut sequence = self.sequence();
        loop {
            let token = self.peek();
            let foreign = match token.kind {
                Tok::RBrace => break,
                Tok::Fi if !self.is_open(Open::If) => "without an `if`",
                Tok::Od if !self.is_open(Open::Do) => "without a `do`",
                Tok::Sep if !self.is_open(Open::If) && !self.is_open(Open::Do) => "outside of `if` and `do`",
                _ => {
                    self.open.pop();
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
    fn unclosed(&mut self, opened: Span, closing: &str) -> super::Bail {
        let token = self.peek();
        let headline = format!("`{closing}` was expected here, not {}", self.describe(token));
        let finding = Finding::new(Code::UnexpectedToken, headline).at(token.span, "").at(opened, "opened here");
        self.report(finding.help(format!("close it with `{closing}`")), token.span)
    }

    /// Steps with separators between them, up to what ends a sequence.
    pub(super) fn sequence(&mut self) -> Sequence {
        let start = self.peek().span;
        let mut steps = Vec::new();
        if matches!(self.peek_kind(), Tok::Semi | Tok::Arrow) {
            let token = self.peek();
            self.error(token.span, "a statement was expected here, not a separator", "", "remove it, or write `skip`");
            self.separators();
        } else if self.ends_sequence() {
            let token = self.peek();
            let headline = format!("at least one statement was expected before {}", self.describe(token));
            self.error(token.span, headline, "", "write `skip` if nothing is to be done");
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
        } else if previous.kind == Tok::Else && token.kind == Tok::If {
            Finding::new(Code::UnexpectedToken, "`else if` is not Promela")
                .at(token.span, "")
                .help("write `:: else -> if … fi`")
        } else {
            let headline = format!("`;` or `->` was expected before {}", self.describe(token));
            let finding = Finding::new(Code::UnexpectedToken, headline).at(token.span, "");
            match word {
                Some(help) => finding.help(help),
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
            self.bump();
            if self.peek_kind() == Tok::Assign {
                let span = self.peek().span;
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
    fn event_only(&mut self, span: Span) {
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

    /// `if :: … fi` and `do :: … od`
    fn options(&mut self, what: Open) -> Read<StepKind> {
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
            if !(wrong && !self.is_open(other)) {
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
                return Err(super::Bail);
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
    fn for_loop(&mut self) -> Read<StepKind> {
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
            return Err(self.error(span, "a range is not written as in C", "", &format!("write `{example}`")));
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
    fn select(&mut self) -> Read<StepKind> {
        self.bump();
        self.expect(Tok::LParen, " after `select`")?;
        let variable = self.varref()?;
        let (from, to) = self.range("select (x : from .. to)")?;
        Ok(StepKind::Select { variable, from, to })
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

    fn return_statement(&mut self) -> Read<StepKind> {
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
    fn inline_call(&mut self, result: Option<VarRef>) -> Read<StepKind> {
        let token = self.bump();
        let name: Name = self.name_of(token);
        let Some(index) = self.stream.role(token.symbol).inline else { return Err(self.unexpected("an inline")) };
        self.recording = Some(Vec::new());
        let read = self.inline_arguments();
        let recorded = self.recording.take().unwrap_or_default();
        let count = read?;
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
        Ok(StepKind::Inlined { name, result, body })
    }

    /// `(a, b)`: how many there are.
    fn inline_arguments(&mut self) -> Read<usize> {
        let open = self.expect(Tok::LParen, " and the arguments of the inline")?;
        let arguments = self.args()?;
        self.close_paren(open)?;
        Ok(arguments.len())
    }

    /// The body of an inline, which now stands in place of its call.
    fn inlined_body(&mut self, frame: usize) -> Read<Sequence> {
        let brace = self.expect(Tok::LBrace, "")?;
        let body = self.block_after(brace);
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
