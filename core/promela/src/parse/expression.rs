//! Expressions and references to variables.

use super::{EXPRESSION_DEPTH_MAX, PAREN_DEPTH_MAX, Parser, Read};
use crate::ast::{BinOp, Constant, EmbeddedKind, Expr, ExprKind, ReceiveArg, UnOp, VarPart, VarRef};
use crate::token::{Tok, Token};
use fabius_base::Span;

/// An expression being built.
pub(super) struct Ex {
    pub(super) expr: Expr,
    /// Depth of its tree.
    depth: u32,
    /// Where in it `full`, `empty`, `nfull` or `nempty` stands: then it may only be joined by `&&` and `||`.
    probe: Option<Span>,
}

/// Levels of precedence, from weak to strong; all operators group to the left.
fn binary(kind: Tok) -> Option<(u8, BinOp)> {
    Some(match kind {
        Tok::Implies => (1, BinOp::Implies),
        Tok::Equiv => (1, BinOp::Equiv),
        Tok::OrOr => (2, BinOp::Or),
        Tok::AndAnd => (3, BinOp::And),
        Tok::Until => (4, BinOp::Until),
        Tok::WeakUntil => (4, BinOp::WeakUntil),
        Tok::Release => (4, BinOp::Release),
        Tok::Pipe => (5, BinOp::BitOr),
        Tok::Caret => (6, BinOp::BitXor),
        Tok::Amp => (7, BinOp::BitAnd),
        Tok::EqEq => (8, BinOp::Eq),
        Tok::NotEq => (8, BinOp::Ne),
        Tok::Gt => (9, BinOp::Gt),
        Tok::Lt => (9, BinOp::Lt),
        Tok::Ge => (9, BinOp::Ge),
        Tok::Le => (9, BinOp::Le),
        Tok::Shl => (10, BinOp::Shl),
        Tok::Shr => (10, BinOp::Shr),
        Tok::Plus => (11, BinOp::Add),
        Tok::Minus => (11, BinOp::Sub),
        Tok::Star => (12, BinOp::Mul),
        Tok::Slash => (12, BinOp::Div),
        Tok::Percent => (12, BinOp::Rem),
        _ => return None,
    })
}

impl Ex {
    fn leaf(kind: ExprKind, span: Span) -> Self {
        Self { expr: Expr { kind, span }, depth: 1, probe: None }
    }
}

impl Parser<'_> {
    /// An expression in which `full(q)` and its like may occur at the top.
    pub(super) fn full_expr(&mut self) -> Read<Expr> {
        Ok(self.operators(1)?.expr)
    }

    /// An expression without `full(q)` and its like.
    pub(super) fn expr(&mut self) -> Read<Expr> {
        let ex = self.operators(1)?;
        self.without_probe(&ex)?;
        self.inner_depth = self.inner_depth.max(ex.depth);
        Ok(ex.expr)
    }

    fn without_probe(&mut self, ex: &Ex) -> Read<()> {
        match ex.probe {
            None => Ok(()),
            Some(span) => Err(self.error(
                span,
                "`full`, `empty`, `nfull` and `nempty` can only be joined by `&&` and `||`",
                "not inside another expression",
                "put it on its own, or compare `len(q)` instead",
            )),
        }
    }

    fn operators(&mut self, weakest: u8) -> Read<Ex> {
        let left = self.prefixed()?;
        self.more_operators(left, weakest)
    }

    /// Goes on with an expression whose first operand was read already.
    pub(super) fn full_expr_after(&mut self, left: Expr) -> Read<Expr> {
        let left = Ex { expr: left, depth: self.inner_depth + 2, probe: None };
        Ok(self.more_operators(left, 1)?.expr)
    }

    fn more_operators(&mut self, mut left: Ex, weakest: u8) -> Read<Ex> {
        loop {
            let kind = self.peek_kind();
            let Some((level, op)) = binary(kind).filter(|(level, _)| *level >= weakest) else { return Ok(left) };
            let sign = self.bump();
            let right = self.operators(level + 1)?;
            if !matches!(op, BinOp::And | BinOp::Or) {
                self.without_probe(&left)?;
                self.without_probe(&right)?;
            }
            let depth = left.depth.max(right.depth) + 1;
            if depth > EXPRESSION_DEPTH_MAX {
                return Err(self.too_deep(sign.span, "expressions", EXPRESSION_DEPTH_MAX));
            }
            let span = left.expr.span.to(right.expr.span);
            let probe = left.probe.or(right.probe);
            let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
            left = Ex { expr: Expr { kind, span }, depth, probe };
        }
    }

    /// An operand with the operators before it.
    fn prefixed(&mut self) -> Read<Ex> {
        let mut operators: Vec<(UnOp, Span)> = Vec::new();
        let mut ex = loop {
            let token = self.peek();
            let op = match token.kind {
                Tok::Not => UnOp::Not,
                Tok::Minus => UnOp::Neg,
                Tok::Tilde => UnOp::BitNot,
                Tok::Next => UnOp::Next,
                Tok::Always => UnOp::Always,
                Tok::Eventually => UnOp::Eventually,
                _ => break self.operand()?,
            };
            self.bump();
            operators.push((op, token.span));
        };
        if let (Some(_), Some(probe)) = (operators.last(), ex.probe) {
            return Err(self.negated_probe(probe));
        }
        let depth = ex.depth.saturating_add(operators.len() as u32);
        if depth > EXPRESSION_DEPTH_MAX {
            return Err(self.too_deep(operators[0].1, "expressions", EXPRESSION_DEPTH_MAX));
        }
        for (op, span) in operators.into_iter().rev() {
            let span = span.to(ex.expr.span);
            ex.expr = Expr { kind: ExprKind::Unary(op, Box::new(ex.expr)), span };
        }
        Ok(Ex { depth, ..ex })
    }

    fn negated_probe(&mut self, span: Span) -> super::Bail {
        let text = self.stream.map.text(span).to_owned();
        let (word, other) = match text.as_str() {
            "full" => ("full", "nfull"),
            "nfull" => ("nfull", "full"),
            "empty" => ("empty", "nempty"),
            _ => ("nempty", "empty"),
        };
        self.error(
            span,
            format!("`{word}` cannot be negated or computed with"),
            "",
            &format!("write `{other}(…)` for the opposite of `{word}(…)`"),
        )
    }

    /// One level deeper into parentheses, brackets or arguments.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.paren_depth >= PAREN_DEPTH_MAX {
            let span = self.peek().span;
            return Err(self.too_deep(span, "parentheses", PAREN_DEPTH_MAX));
        }
        self.paren_depth += 1;
        let result = read(self);
        self.paren_depth -= 1;
        result
    }

    /// An operand. Its depth counts the expressions inside it, which `expr` leaves in `inner_depth`.
    fn operand(&mut self) -> Read<Ex> {
        let outer = std::mem::replace(&mut self.inner_depth, 0);
        let mut ex = self.operand_itself()?;
        ex.depth = ex.depth.max(self.inner_depth + 2);
        self.inner_depth = outer;
        if ex.depth > EXPRESSION_DEPTH_MAX {
            return Err(self.too_deep(ex.expr.span, "expressions", EXPRESSION_DEPTH_MAX));
        }
        Ok(ex)
    }

    fn operand_itself(&mut self) -> Read<Ex> {
        let token = self.peek();
        match token.kind {
            Tok::LParen => self.nested(Self::parenthesised),
            Tok::Ident => self.variable_or_poll(),
            Tok::Run => self.run_expr(),
            Tok::Len | Tok::Full | Tok::NFull | Tok::Empty | Tok::NEmpty => self.channel_question(),
            Tok::Enabled | Tok::GetPriority | Tok::PcValue => self.process_question(),
            Tok::CExpr => {
                let embedded = self.embedded_c(EmbeddedKind::Expr)?;
                let span = embedded.span;
                Ok(Ex::leaf(ExprKind::EmbeddedC(embedded), span))
            }
            Tok::Timeout | Tok::NonProgress => {
                self.bump();
                let kind = if token.kind == Tok::Timeout { ExprKind::Timeout } else { ExprKind::NonProgress };
                Ok(Ex::leaf(kind, token.span))
            }
            Tok::ProcName => self.remote(),
            _ => match self.constant() {
                Some(constant) => {
                    let span = constant.span;
                    Ok(Ex::leaf(ExprKind::Constant(constant), span))
                }
                None => Err(self.no_operand()),
            },
        }
    }

    fn no_operand(&mut self) -> super::Bail {
        let token = self.peek();
        let what = match (self.previous.kind, token.kind) {
            (Tok::Assign, Tok::Assign) => "a value",
            (_, Tok::SortedSend) => {
                return self.error(token.span, "`!!` sends in order; it is not a double negation", "", "write `! !`");
            }
            (_, Tok::InlineName) => {
                return self.error(
                    token.span,
                    "an inline has no value inside an expression",
                    "",
                    "call it as a statement of its own, or as `x = name(…)` if it returns a value",
                );
            }
            _ => "an expression",
        };
        self.unexpected(what)
    }

    /// A constant, if one stands here.
    pub(super) fn constant(&mut self) -> Option<Constant> {
        let token = self.peek();
        let (value, name) = match token.kind {
            Tok::Number | Tok::Char => (token.value, None),
            Tok::True | Tok::Skip => (1, None),
            Tok::False => (0, None),
            Tok::MtypeConst => (token.value, Some(self.name_of(token))),
            _ => return None,
        };
        self.bump();
        let word = match token.kind {
            Tok::True => Some("true"),
            Tok::False => Some("false"),
            Tok::Skip => Some("skip"),
            _ => None,
        };
        Some(Constant { value, name, word, span: token.span })
    }

    /// `(e)` or `(a -> b : c)`.
    fn parenthesised(&mut self) -> Read<Ex> {
        let open = self.bump();
        let mut ex = self.operators(1)?;
        if self.peek_kind() == Tok::Arrow && !self.peek().implied {
            self.without_probe(&ex)?;
            self.bump();
            let yes = self.operators(1)?;
            self.without_probe(&yes)?;
            self.expect(Tok::Colon, " between the two values of `(condition -> value : value)`")?;
            let no = self.operators(1)?;
            self.without_probe(&no)?;
            let depth = ex.depth.max(yes.depth).max(no.depth) + 1;
            if depth > EXPRESSION_DEPTH_MAX {
                return Err(self.too_deep(open.span, "expressions", EXPRESSION_DEPTH_MAX));
            }
            let kind = ExprKind::Conditional(Box::new(ex.expr), Box::new(yes.expr), Box::new(no.expr));
            ex = Ex { expr: Expr { kind, span: open.span }, depth, probe: None };
        }
        self.close_paren(open)?;
        ex.expr.span = self.span_from(open.span);
        Ok(ex)
    }

    /// The `)` that belongs to an opening one.
    pub(super) fn close_paren(&mut self, open: Token) -> Read<()> {
        if self.accept(Tok::RParen).is_some() {
            return Ok(());
        }
        let token = self.peek();
        if token.kind == Tok::Assign {
            return Err(self.error(
                token.span,
                "`=` assigns and cannot stand inside an expression",
                "",
                "write `==` to compare",
            ));
        }
        let headline = format!("expected `)`, found {}", self.describe(token));
        let finding = fabius_base::Finding::new(fabius_base::Code::UnexpectedToken, headline);
        Err(self.report(finding.at(token.span, "").at(open.span, "opened here"), token.span))
    }

    fn open_paren(&mut self, what: &str) -> Read<Token> {
        self.expect(Tok::LParen, what)
    }

    /// A variable, or `q?[…]`.
    fn variable_or_poll(&mut self) -> Read<Ex> {
        let variable = self.varref()?;
        let span = variable.span;
        let sign = self.peek();
        if !matches!(sign.kind, Tok::Receive | Tok::ReceiveAny) {
            return Ok(Ex { depth: 2, ..Ex::leaf(ExprKind::Var(variable), span) });
        }
        self.bump();
        if self.peek_kind() != Tok::LBracket {
            return Err(self.error(
                sign.span,
                "a receive is a statement and cannot stand inside an expression",
                "",
                "write `q?[…]` to ask whether a message could be received",
            ));
        }
        let expr = self.poll(variable, sign)?;
        Ok(Ex { depth: 3, ..Ex::leaf(expr.kind, expr.span) })
    }

    /// The `[…]` of `q?[…]`.
    pub(super) fn poll(&mut self, channel: VarRef, sign: Token) -> Read<Expr> {
        let start = channel.span;
        self.expect(Tok::LBracket, "")?;
        let arguments = self.nested(Self::receive_args)?;
        self.expect(Tok::RBracket, " after the fields of the message")?;
        let kind = ExprKind::Poll { channel, any: sign.kind == Tok::ReceiveAny, arguments };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// Fields of a receive: `a, b`, `a(b, c)`, `(a, b)`.
    pub(super) fn receive_args(&mut self) -> Read<Vec<ReceiveArg>> {
        let mut arguments = Vec::new();
        let mut open: Vec<Token> = Vec::new();
        loop {
            while self.peek_kind() == Tok::LParen {
                open.push(self.bump());
            }
            arguments.push(self.receive_arg()?);
            // A list ends with the first closing parenthesis.
            let mut ended = false;
            loop {
                match self.peek_kind() {
                    Tok::Comma if !ended => {
                        self.bump();
                        break;
                    }
                    Tok::LParen if !ended => break,
                    Tok::RParen if !open.is_empty() => {
                        self.bump();
                        open.pop();
                        ended = true;
                    }
                    _ => {
                        return match open.last() {
                            None => Ok(arguments),
                            Some(&open) => self.close_paren(open).map(|()| arguments),
                        };
                    }
                }
            }
        }
    }

    fn receive_arg(&mut self) -> Read<ReceiveArg> {
        let token = self.peek();
        match token.kind {
            Tok::Ident => Ok(ReceiveArg::Variable(self.varref()?)),
            Tok::Eval => {
                self.bump();
                let open = self.open_paren(" after `eval`")?;
                let expr = self.nested(Self::expr)?;
                self.close_paren(open)?;
                Ok(ReceiveArg::Eval(expr))
            }
            Tok::Minus => {
                self.bump();
                let Some(constant) = self.constant() else { return Err(self.unexpected("a constant after `-`")) };
                let span = token.span.to(constant.span);
                Ok(ReceiveArg::Constant(Constant {
                    value: constant.value.wrapping_neg(),
                    name: None,
                    word: None,
                    span,
                }))
            }
            _ => match self.constant() {
                Some(constant) => Ok(ReceiveArg::Constant(constant)),
                None => Err(self.unexpected("a variable, a constant or `eval(…)`")),
            },
        }
    }

    /// `name[index].name…`
    pub(super) fn varref(&mut self) -> Read<VarRef> {
        let start = self.peek().span;
        let mut parts = Vec::new();
        loop {
            let part = self.var_part()?;
            parts.push(part);
            if self.accept(Tok::Dot).is_none() {
                return Ok(VarRef { parts, span: self.span_from(start) });
            }
        }
    }

    fn var_part(&mut self) -> Read<VarPart> {
        let token = self.peek();
        if token.kind != Tok::Ident {
            return Err(self.unexpected("the name of a variable"));
        }
        self.bump();
        let name = self.name_of(token);
        let mut index = None;
        if self.accept(Tok::LBracket).is_some() {
            index = Some(Box::new(self.nested(Self::expr)?));
            self.expect(Tok::RBracket, " after the index")?;
        }
        Ok(VarPart { name, index })
    }

    /// `run name(arguments) priority n`
    fn run_expr(&mut self) -> Read<Ex> {
        let word = self.bump();
        let name = self.peek();
        if !matches!(name.kind, Tok::Ident | Tok::ProcName) {
            return Err(self.unexpected("the name of a proctype after `run`"));
        }
        self.bump();
        let process = self.name_of(name);
        let open = self.open_paren(" with the arguments of the process")?;
        let arguments = self.nested(Self::args)?;
        self.close_paren(open)?;
        let priority = self.priority()?;
        let span = self.span_from(word.span);
        Ok(Ex { depth: 2, ..Ex::leaf(ExprKind::Run { process, arguments, priority }, span) })
    }

    /// `priority n`, if it stands here.
    pub(super) fn priority(&mut self) -> Read<Option<Constant>> {
        if self.accept(Tok::Priority).is_none() {
            return Ok(None);
        }
        match self.constant() {
            Some(constant) => Ok(Some(constant)),
            None => Err(self.unexpected("a constant after `priority`")),
        }
    }

    /// Expressions between commas, up to a `)`; none is fine.
    pub(super) fn args(&mut self) -> Read<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.peek_kind() == Tok::RParen {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expr()?);
            if self.accept(Tok::Comma).is_none() {
                return Ok(arguments);
            }
        }
    }

    /// `len(q)`, `full(q)` and its like.
    fn channel_question(&mut self) -> Read<Ex> {
        let word = self.bump();
        let open = self.open_paren(" with the name of a channel")?;
        let channel = self.varref()?;
        self.close_paren(open)?;
        let kind = match word.kind {
            Tok::Len => ExprKind::Len(channel),
            Tok::Full => ExprKind::Full(channel),
            Tok::NFull => ExprKind::NFull(channel),
            Tok::Empty => ExprKind::Empty(channel),
            _ => ExprKind::NEmpty(channel),
        };
        let probe = (word.kind != Tok::Len).then_some(word.span);
        let span = self.span_from(word.span);
        Ok(Ex { depth: 2, probe, ..Ex::leaf(kind, span) })
    }

    /// `enabled(p)`, `get_priority(p)`, `pc_value(p)`.
    fn process_question(&mut self) -> Read<Ex> {
        let word = self.bump();
        let open = self.open_paren(" with the number of a process")?;
        let pid = self.nested(|this| this.operators(1))?;
        self.without_probe(&pid)?;
        self.close_paren(open)?;
        let depth = pid.depth + 1;
        let pid = Box::new(pid.expr);
        let kind = match word.kind {
            Tok::Enabled => ExprKind::Enabled(pid),
            Tok::GetPriority => ExprKind::GetPriority(pid),
            _ => ExprKind::PcValue(pid),
        };
        let span = self.span_from(word.span);
        Ok(Ex { depth, ..Ex::leaf(kind, span) })
    }

    /// `P@label`, `P[pid]@label`, `P:x`, `P[pid]:x`.
    fn remote(&mut self) -> Read<Ex> {
        let token = self.bump();
        let process = self.name_of(token);
        let mut pid = None;
        if self.accept(Tok::LBracket).is_some() {
            pid = Some(Box::new(self.nested(Self::expr)?));
            self.expect(Tok::RBracket, " after the number of the process")?;
        }
        let kind = match self.peek_kind() {
            Tok::At => {
                self.bump();
                let label = self.peek();
                if label.kind != Tok::Ident {
                    return Err(self.unexpected("the name of a label"));
                }
                self.bump();
                ExprKind::RemoteLabel { process, pid, label: self.name_of(label) }
            }
            Tok::Colon => {
                self.bump();
                let start = self.peek().span;
                let part = self.var_part()?;
                let variable = VarRef { parts: vec![part], span: self.span_from(start) };
                ExprKind::RemoteVar { process, pid, variable }
            }
            Tok::LParen => {
                let name = process.text;
                return Err(self.error(
                    token.span,
                    format!("`{name}` is a proctype and cannot be called like a function"),
                    "",
                    &format!("write `run {name}(…)` to start a process"),
                ));
            }
            _ => return Err(self.unexpected("`@` and a label, or `:` and a variable of the process,")),
        };
        let span = self.span_from(token.span);
        Ok(Ex { depth: 3, ..Ex::leaf(kind, span) })
    }
}
