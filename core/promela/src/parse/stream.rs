//! What the parser reads: tokens with inline calls replaced, with the `;` that Spin adds or drops, and
//! with names told apart.
//!
//! Spin's lexer and parser talk to each other: whether a line end separates statements depends on
//! open parentheses, whether a name is a type depends on the declarations read so far. So tokens are
//! taken one at a time, and the parser never looks further ahead than one token.

use crate::token::{Interner, QuickMap, Symbol, Tok, Token};
use fabius_base::{Cancel, Expansion, ExpansionId, ExpansionKind, SourceMap, Span};
use std::rc::Rc;

/// How many tokens inline calls may produce.
const INLINED_MAX: u64 = 2_000_000;

/// What a name stands for, as far as the grammar must know.
#[derive(Clone, Copy, Default)]
pub(super) struct Role {
    /// The value of an mtype constant.
    pub(super) mtype: Option<i32>,
    pub(super) type_name: bool,
    pub(super) process: bool,
    /// Index of an inline.
    pub(super) inline: Option<u32>,
}

/// An `inline` that was read.
pub(super) struct Inline {
    pub(super) parameters: Vec<Symbol>,
    pub(super) body: Rc<Vec<Token>>,
    pub(super) span: Span,
}

/// Tokens being read.
struct Frame {
    tokens: Rc<Vec<Token>>,
    next: usize,
    kind: FrameKind,
}

enum FrameKind {
    Text,
    Inline(Box<Call>),
    Argument,
}

/// A call of an inline that is being read.
struct Call {
    index: u32,
    parameters: Vec<(Symbol, Rc<Vec<Token>>)>,
    via: ExpansionId,
    /// Expansions inside the body, as they are within this call.
    within: QuickMap<u32, ExpansionId>,
    has_result: bool,
}

/// Something that went wrong while reading, to be told by the parser.
pub(super) enum Trouble {
    BadLiteral(Token),
    Unknown(Token),
    TooManyInlined(Span),
    /// An argument that is the name of another parameter of the same inline.
    ArgumentIsParameter(Token, Symbol),
    /// A name beside a dot in an argument that Spin takes for the parameter.
    ParameterBesideDot(Token, Symbol),
}

pub(super) struct Stream<'a> {
    pub(super) map: &'a mut SourceMap,
    pub(super) names: &'a mut Interner,
    roles: Vec<Role>,
    pub(super) inlines: Vec<Inline>,
    frames: Vec<Frame>,
    /// `ltl` blocks, which Spin reads after everything else.
    deferred: Vec<Token>,
    hold: Option<Token>,
    /// The last token given to the parser, as far as the repair of `}` and `else` cares.
    last: Option<Tok>,
    /// The last token read.
    last_read: Option<Tok>,
    last_end: Span,
    /// Open parentheses.
    pub(super) parens: u32,
    /// Inside a body or a typedef: line ends may separate.
    pub(super) in_body: bool,
    /// Between the parentheses of `for`.
    pub(super) in_for: bool,
    /// Inside a formula.
    pub(super) in_ltl: bool,
    budget: u64,
    cancel: &'a Cancel,
    pub(super) troubles: Vec<Trouble>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(map: &'a mut SourceMap, names: &'a mut Interner, tokens: Vec<Token>, cancel: &'a Cancel) -> Self {
        let frame = Frame { tokens: Rc::new(tokens), next: 0, kind: FrameKind::Text };
        Self {
            map,
            names,
            roles: Vec::new(),
            inlines: Vec::new(),
            frames: vec![frame],
            deferred: Vec::new(),
            hold: None,
            last: None,
            last_read: None,
            last_end: Span::default(),
            parens: 0,
            in_body: false,
            in_for: false,
            in_ltl: false,
            budget: INLINED_MAX,
            cancel,
            troubles: Vec::new(),
        }
    }

    /// What a name stands for.
    pub(super) fn role(&self, name: Symbol) -> Role {
        self.roles.get(name.0 as usize).copied().unwrap_or_default()
    }

    /// What a name stands for, to be changed.
    pub(super) fn role_mut(&mut self, name: Symbol) -> &mut Role {
        let index = name.0 as usize;
        if index >= self.roles.len() {
            self.roles.resize(index + 1, Role::default());
        }
        &mut self.roles[index]
    }

    /// The next token for the parser, with the separators that Spin adds and drops.
    pub(super) fn next(&mut self) -> Token {
        if let Some(held) = self.hold.take() {
            self.last = Some(held.kind);
            self.last_read = Some(held.kind);
            return held;
        }
        let mut token = self.read();
        let repair = match self.last {
            Some(Tok::Else) => !matches!(token.kind, Tok::Semi | Tok::Arrow | Tok::Fi),
            Some(Tok::RBrace) => !matches!(
                token.kind,
                Tok::Proctype
                    | Tok::Init
                    | Tok::Never
                    | Tok::Sep
                    | Tok::Fi
                    | Tok::Od
                    | Tok::RBrace
                    | Tok::Unless
                    | Tok::Semi
                    | Tok::Arrow
                    | Tok::Eof
            ),
            _ => false,
        };
        if repair {
            self.hold = Some(token);
            self.last = None;
            self.last_read = Some(Tok::Semi);
            return self.implied(token.span);
        }
        if matches!(token.kind, Tok::Semi | Tok::Arrow) {
            let after = self.read();
            if matches!(after.kind, Tok::RBrace | Tok::Arrow | Tok::Semi) {
                token = after;
            } else {
                self.hold = Some(after);
            }
        }
        self.last = Some(token.kind);
        token
    }

    /// A `;` that nobody wrote.
    fn implied(&self, before: Span) -> Token {
        let span = Span { end: before.start, ..before };
        Token { implied: true, ..Token::mark(Tok::Semi, span) }
    }

    /// The next token with its meaning.
    fn read(&mut self) -> Token {
        loop {
            if self.cancel.requested().is_some() {
                self.frames.clear();
            }
            let Some(frame) = self.frames.last() else { return Token::mark(Tok::Eof, self.last_end) };
            let Some(&token) = frame.tokens.get(frame.next) else {
                self.leave_frame();
                continue;
            };
            if token.newline && self.line_end_separates(&token) {
                self.last_read = Some(Tok::Semi);
                return Token {
                    implied: true,
                    ..Token::mark(Tok::Semi, Span { start: self.last_end.end, ..self.last_end })
                };
            }
            if token.kind == Tok::Eof && !self.deferred.is_empty() {
                let tokens = Rc::new(std::mem::take(&mut self.deferred));
                self.frames.push(Frame { tokens, next: 0, kind: FrameKind::Argument });
                continue;
            }
            if let Some(token) = self.take(token) {
                // Outside of inlines Spin puts parentheses around `timeout`, and a line may end behind them.
                let wrapped =
                    token.kind == Tok::Timeout && self.last_read != Some(Tok::LParen) && self.inside_inline().is_none();
                self.last_read = Some(if wrapped { Tok::RParen } else { token.kind });
                self.last_end = token.span;
                return token;
            }
        }
    }

    fn leave_frame(&mut self) {
        self.frames.pop();
    }

    fn line_end_separates(&self, token: &Token) -> bool {
        let last = self.last_read;
        if !self.in_body || self.parens > 0 || !last.is_some_and(Tok::ends_line) {
            return false;
        }
        // Spin looks at one letter only to see whether `unless` follows.
        let word = token.symbol.0 as usize;
        let unless = last == Some(Tok::RBrace)
            && (token.kind == Tok::Ident
                || crate::token::KEYWORDS.get(word).is_some_and(|(_, tok)| *tok == token.kind))
            && self.names.text(token.symbol).starts_with('u');
        !unless
    }

    /// Takes the token at the front; `None` if something else was put before it.
    fn take(&mut self, token: Token) -> Option<Token> {
        let frame = self.frames.last_mut()?;
        if token.kind != Tok::Eof {
            frame.next += 1;
        }
        let mut token = self.placed(token);
        self.spend(1, token.span);
        match token.kind {
            Tok::Ident => return self.name(token),
            Tok::In if !self.in_for => token.kind = Tok::Ident,
            Tok::In => {}
            Tok::Ltl if !self.in_deferred() => return self.defer(token),
            Tok::BadLiteral => {
                self.troubles.push(Trouble::BadLiteral(token));
                let string = self.names.text(token.symbol).starts_with('"');
                token.kind = if string { Tok::Str } else { Tok::Number };
            }
            Tok::Unknown => {
                self.troubles.push(Trouble::Unknown(token));
                return None;
            }
            _ if self.in_ltl => self.formula_mark(&mut token),
            _ => {}
        }
        Some(token)
    }

    /// Gives the place within the inline call that is being read, if one is.
    fn placed(&mut self, mut token: Token) -> Token {
        let Some(Frame { kind: FrameKind::Inline(call), .. }) = self.frames.last_mut() else { return token };
        token.span.via = within(self.map, call, token.span.via, 0);
        token
    }

    /// Counts the tokens that inline calls produce, arguments included; stops reading when there are too many.
    fn spend(&mut self, count: usize, span: Span) {
        if self.frames.len() < 2 {
            return;
        }
        self.budget = self.budget.saturating_sub(count as u64);
        if self.budget == 0 {
            self.troubles.push(Trouble::TooManyInlined(span));
            self.frames.clear();
            self.budget = INLINED_MAX;
        }
    }

    /// Marks that are other operators in a formula.
    fn formula_mark(&mut self, token: &mut Token) {
        let Some(frame) = self.frames.last_mut() else { return };
        let next = frame.tokens.get(frame.next).filter(|t| t.glued).map(|t| (t.kind, t.span));
        let joined = match (token.kind, next) {
            (Tok::Arrow, _) => {
                token.kind = Tok::Implies;
                return;
            }
            (Tok::LBracket, Some((Tok::RBracket, span))) => (Tok::Always, span),
            (Tok::Lt, Some((Tok::Gt, span))) => (Tok::Eventually, span),
            (Tok::Lt, Some((Tok::Arrow, span))) => (Tok::Equiv, span),
            _ => return,
        };
        frame.next += 1;
        token.kind = joined.0;
        token.span = token.span.to(Span { via: token.span.via, ..joined.1 });
    }

    /// A name: an operator of formulas, a parameter of the inline being read, or what its role says.
    fn name(&mut self, mut token: Token) -> Option<Token> {
        if self.in_ltl
            && let Some(kind) = Tok::of_ltl_word(token.symbol)
        {
            return Some(Token { kind, ..token });
        }
        let role = self.role(token.symbol);
        if let Some(value) = role.mtype {
            return Some(Token { kind: Tok::MtypeConst, value, ..token });
        }
        if let Some(Frame { kind: FrameKind::Inline(call), .. }) = self.frames.last()
            && let Some((_, argument)) = call.parameters.iter().find(|(p, _)| *p == token.symbol)
            && !(argument.len() == 1 && argument[0].symbol == token.symbol)
        {
            let other = |a: &Token| a.kind == Tok::Ident && call.parameters.iter().any(|(p, _)| *p == a.symbol);
            if argument.len() == 1 && other(&argument[0]) {
                self.troubles.push(Trouble::ArgumentIsParameter(argument[0], token.symbol));
            }
            let beside = beside_dot(self.names, argument, token.symbol);
            self.troubles.extend(beside.map(|name| Trouble::ParameterBesideDot(name, token.symbol)));
            let tokens = argument.clone();
            self.frames.push(Frame { tokens, next: 0, kind: FrameKind::Argument });
            return None;
        }
        token.kind = match role {
            Role { type_name: true, .. } => Tok::TypeName,
            Role { process: true, .. } => Tok::ProcName,
            Role { inline: Some(_), .. } => Tok::InlineName,
            _ => Tok::Ident,
        };
        Some(token)
    }

    /// Whether the text being read is that of the `ltl` blocks, after the end of the file.
    fn in_deferred(&self) -> bool {
        self.frames.len() > 1 && matches!(self.frames.last(), Some(Frame { kind: FrameKind::Argument, .. }))
    }

    /// Puts an `ltl` block aside for the end of the text.
    fn defer(&mut self, token: Token) -> Option<Token> {
        let Some(frame) = self.frames.last_mut() else { return Some(token) };
        let rest = &frame.tokens[frame.next..];
        let named = rest.first().is_some_and(|t| t.kind != Tok::LBrace);
        if rest.get(usize::from(named)).is_none_or(|t| t.kind != Tok::LBrace) {
            return Some(token);
        }
        let mut depth = 0_u32;
        let end = rest.iter().position(|t| {
            match t.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            t.kind == Tok::RBrace && depth == 0
        });
        let length = end.map_or(rest.len().saturating_sub(1), |end| end + 1);
        self.deferred.push(token);
        self.deferred.extend_from_slice(&rest[..length]);
        frame.next += length;
        None
    }

    /// Keeps an inline for later calls, and gives its index.
    pub(super) fn add_inline(&mut self, parameters: Vec<Symbol>, body: Vec<Token>, span: Span) -> u32 {
        self.inlines.push(Inline { parameters, body: Rc::new(body), span });
        self.inlines.len() as u32 - 1
    }

    /// The place of a comma that follows the `}` taken last.
    pub(super) fn comma_behind_brace(&self) -> Option<Span> {
        let frame = self.frames.last()?;
        let next = frame.tokens.get(frame.next)?;
        (self.hold.is_none() && next.kind == Tok::Comma).then_some(next.span)
    }

    /// Begins to read the body of an inline in place of its call; gives a mark for [`Self::leave_inline`].
    pub(super) fn call_inline(
        &mut self,
        index: u32,
        arguments: Vec<Vec<Token>>,
        name: Symbol,
        call: Span,
        result: bool,
    ) -> usize {
        let inline = &self.inlines[index as usize];
        let tokens = inline.body.clone();
        let parameters = inline.parameters.iter().copied().zip(arguments.into_iter().map(Rc::new)).collect();
        let shown = self.names.text(name).clone();
        let via = self.map.add_expansion(Expansion { kind: ExpansionKind::Inline, name: shown, call });
        let within = QuickMap::default();
        let call = Call { index, parameters, via, within, has_result: result };
        self.frames.push(Frame { tokens, next: 0, kind: FrameKind::Inline(Box::new(call)) });
        self.last_read = Some(Tok::Semi);
        self.frames.len() - 1
    }

    /// Drops what is left of an inline call and of the calls inside it; `false` if nothing was left.
    pub(super) fn leave_inline(&mut self, mark: usize) -> bool {
        let left = self.frames.len() > mark;
        if left {
            self.frames.truncate(mark);
            self.hold = None;
        }
        left
    }

    /// The indices of the inlines whose bodies are being read.
    pub(super) fn active_inlines(&self) -> impl Iterator<Item = u32> {
        self.frames.iter().filter_map(|frame| match &frame.kind {
            FrameKind::Inline(call) => Some(call.index),
            _ => None,
        })
    }

    /// Whether an inline is being read, and whether the innermost was called for a result.
    pub(super) fn inside_inline(&self) -> Option<bool> {
        self.frames.iter().rev().find_map(|frame| match &frame.kind {
            FrameKind::Inline(call) => Some(call.has_result),
            _ => None,
        })
    }

    /// Reads tokens as they are, from `{` to its `}`, for the body of an inline or for embedded C.
    /// Without a `{` here, gives nothing. The flag says whether the closing brace was found.
    pub(super) fn raw_block(&mut self, open: Tok, close: Tok) -> Option<(Vec<Token>, bool)> {
        self.hold = None;
        while self.frames.last().is_some_and(|f| f.next >= f.tokens.len()) {
            self.leave_frame();
        }
        let frame = self.frames.last()?;
        if frame.tokens[frame.next].kind != open {
            return None;
        }
        let rest = &frame.tokens[frame.next..];
        let mut depth = 0_u32;
        let end = rest.iter().position(|t| {
            depth = if t.kind == open { depth + 1 } else { depth };
            depth = if t.kind == close { depth.saturating_sub(1) } else { depth };
            t.kind == close && depth == 0
        });
        let found = end.is_some();
        let length =
            end.map_or_else(|| rest.iter().position(|t| t.kind == Tok::Eof).unwrap_or(rest.len()), |end| end + 1);
        let tokens: Vec<Token> = rest[..length].to_vec();
        let tokens: Vec<Token> = tokens.into_iter().map(|token| self.placed(token)).collect();
        if let Some(frame) = self.frames.last_mut() {
            frame.next += length;
        }
        if let Some(last) = tokens.last() {
            self.last_end = last.span;
            self.spend(length, last.span);
        }
        Some((tokens, found))
    }
}

/// The expansion `via` of a token in the body of an inline, as it is within a call of that inline.
fn within(map: &mut SourceMap, call: &mut Call, via: ExpansionId, depth: u32) -> ExpansionId {
    if via == ExpansionId::NONE || depth > 200 {
        return call.via;
    }
    if let Some(&known) = call.within.get(&via.0) {
        return known;
    }
    let Some(expansion) = map.expansion(via).cloned() else { return call.via };
    let outer = within(map, call, expansion.call.via, depth + 1);
    let moved = Expansion { call: Span { via: outer, ..expansion.call }, ..expansion };
    let id = map.add_expansion(moved);
    call.within.insert(via.0, id);
    id
}

/// The first name in an argument that ends with the parameter before a dot, or begins with it behind one: there Spin finds
/// the parameter in the text of the argument, and refuses to replace it.
fn beside_dot(names: &Interner, argument: &[Token], parameter: Symbol) -> Option<Token> {
    let parameter = names.text(parameter);
    argument.windows(2).find_map(|pair| match pair {
        [name, dot] if dot.kind == Tok::Dot && names.text(name.symbol).ends_with(&**parameter) => Some(*name),
        [dot, name] if dot.kind == Tok::Dot && names.text(name.symbol).starts_with(&**parameter) => Some(*name),
        _ => None,
    })
}
