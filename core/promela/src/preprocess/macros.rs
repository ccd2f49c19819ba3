//! Macros: what they are, and how a call becomes tokens.

use super::scan::{PpKind, PpToken, Scanner};
use super::{CALL_COST, COMMAND_LINE, Context, Preprocessor};
use crate::token::Symbol;
use fabius_base::{Code, Expansion, ExpansionKind, Finding, Span};
use std::rc::Rc;

/// One token of a macro's body, or a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) token: PpToken,
    /// Index of the parameter, if it is one.
    pub(super) parameter: Option<usize>,
    /// `#` stands before the parameter.
    pub(super) stringify: bool,
    /// `##` stands behind it.
    pub(super) paste: bool,
}

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    /// Parameters of a macro that is called with parentheses.
    pub(super) parameters: Option<Vec<Symbol>>,
    /// The last parameter takes all remaining arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Piece>,
    pub(super) span: Span,
}

impl Macro {
    /// Whether a second definition says the same.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let alike = |a: &Piece, b: &Piece| {
            let (s, t) = (&a.token, &b.token);
            (s.kind, s.symbol, s.space) == (t.kind, t.symbol, t.space)
                && (a.parameter, a.stringify, a.paste) == (b.parameter, b.stringify, b.paste)
        };
        self.parameters == other.parameters
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).enumerate().all(|(i, (a, b))| {
                let first = i == 0 && {
                    let (mut a, mut b) = (*a, *b);
                    (a.token.space, b.token.space) = (false, false);
                    alike(&a, &b)
                };
                first || alike(a, b)
            })
    }
}

/// An argument: as written, and expanded when first needed.
struct Argument {
    raw: Vec<PpToken>,
    /// The rest of a variadic macro's arguments for which there was not even a comma.
    absent: bool,
    expanded: Option<Vec<PpToken>>,
}

impl Preprocessor<'_> {
    /// Expands the macro that a token names; `false` if the token stays as it is.
    pub(super) fn try_expand(&mut self, name: PpToken) -> bool {
        let Some(definition) = self.macros.get(&name.symbol).cloned() else {
            let builtin = self.builtins.get(&name.symbol).copied();
            if let Some(builtin) = builtin {
                self.expand_builtin(name, builtin);
            }
            return builtin.is_some();
        };
        let (arguments, call) = if definition.parameters.is_some() {
            match self.read_call(name, &definition) {
                // A name called wrongly stays, so that it is not missing where it stood.
                Called::Not | Called::Wrongly => return false,
                Called::With(arguments, end) => (arguments, name.span.to(end)),
            }
        } else {
            (Vec::new(), name.span)
        };
        let shown = self.names.text(name.symbol).clone();
        let via = self.map.add_expansion(Expansion { kind: ExpansionKind::Macro, name: shown, call });
        let mut tokens = self.substitute(&definition, arguments, via);
        if self.is_proposition(&definition) {
            // They come from where what they enclose does, so that all of it goes by the name of the macro.
            let mark = |byte, span| PpToken { kind: PpKind::Punct(byte), edge: true, span, ..name };
            let [first, last] = [tokens.first(), tokens.last()].map(|token| token.map_or(name.span, |it| it.span));
            tokens.insert(0, mark(b'(', first));
            tokens.push(mark(b')', last));
        }
        match tokens.first_mut() {
            Some(first) => (first.space, first.first, first.edge) = (name.space, name.first, true),
            None => self.gap |= name.space,
        }
        self.edge = true;
        self.spend(tokens.len(), name.span);
        *self.disabled.entry(name.symbol).or_insert(0) += 1;
        let owner = Some(name.symbol);
        self.contexts.push(Context { tokens, next: 0, owner, barrier: false, own_lines: false });
        true
    }

    pub(super) fn spend(&mut self, tokens: usize, span: Span) {
        let cost = tokens as u64 + CALL_COST;
        self.budget.tokens = self.budget.tokens.saturating_sub(cost);
        if self.budget.tokens == 0 {
            self.exhaust(
                "macros expand to more text than any model needs",
                span,
                "look for macros that double each other",
            );
        }
    }

    /// Reads `(arguments)` behind the name of a macro.
    fn read_call(&mut self, name: PpToken, definition: &Macro) -> Called {
        let before = (std::mem::take(&mut self.edge), std::mem::take(&mut self.gap));
        let open = self.fetch();
        if !open.is(b'(') {
            if open.kind != PpKind::Eof {
                // What is put back has passed through `fetch` once: its line is right already.
                let mut back = open;
                self.mark_edge(&mut back);
                self.contexts.push(Context {
                    tokens: vec![back],
                    next: 0,
                    owner: None,
                    barrier: false,
                    own_lines: true,
                });
            }
            (self.edge, self.gap) = (self.edge | before.0, self.gap | before.1);
            return Called::Not;
        }
        let parameters = definition.parameters.as_deref().unwrap_or(&[]);
        let fixed = if definition.variadic { parameters.len() - 1 } else { usize::MAX };
        let mut arguments: Vec<Vec<PpToken>> = vec![Vec::new()];
        let mut depth = 0_u32;
        let end = loop {
            let mut token = self.fetch();
            match token.kind {
                PpKind::Eof => return self.unclosed_call(name),
                PpKind::Punct(b'(') => depth += 1,
                PpKind::Punct(b')') if depth == 0 => break token.span,
                PpKind::Punct(b')') => depth -= 1,
                PpKind::Punct(b',') if depth == 0 && arguments.len() <= fixed => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            token.space |= token.first;
            token.first = false;
            self.budget.tokens = self.budget.tokens.saturating_sub(1);
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        };
        (self.edge, self.gap) = before;
        if self.budget.tokens == 0 {
            self.spend(0, name.span);
        }
        self.check_count(name, definition, arguments, name.span.to(end))
    }

    fn unclosed_call(&mut self, name: PpToken) -> Called {
        if !self.budget.exhausted {
            let text = self.names.text(name.symbol);
            let finding = Finding::new(Code::BadMacroCall, format!("the call of macro `{text}` is never closed"));
            self.findings.push(finding.at(name.span, "called here").help("close the list of arguments with `)`"));
        }
        Called::Wrongly
    }

    fn check_count(&mut self, name: PpToken, definition: &Macro, mut given: Vec<Vec<PpToken>>, call: Span) -> Called {
        let expected = definition.parameters.as_ref().map_or(0, Vec::len);
        if expected == 0 && given.len() == 1 && given[0].is_empty() {
            given.clear();
        }
        let left_out = definition.variadic && given.len() + 1 == expected;
        if left_out {
            given.push(Vec::new());
        }
        let absent = left_out || (definition.variadic && expected == 1 && given.iter().all(Vec::is_empty));
        if given.len() != expected {
            let text = self.names.text(name.symbol);
            let plural = if expected == 1 { "" } else { "s" };
            let headline = format!("macro `{text}` takes {expected} argument{plural}, not {}", given.len());
            let finding = Finding::new(Code::BadMacroCall, headline);
            self.findings.push(finding.at(call, "").at(definition.span, "the macro is defined here"));
            return Called::Wrongly;
        }
        let argument = |(i, raw)| Argument { raw, absent: absent && i + 1 == expected, expanded: None };
        let arguments = given.into_iter().enumerate().map(argument).collect();
        Called::With(arguments, call)
    }

    /// The body with arguments in place of parameters.
    fn substitute(
        &mut self,
        definition: &Macro,
        mut arguments: Vec<Argument>,
        via: fabius_base::ExpansionId,
    ) -> Vec<PpToken> {
        let mut out: Vec<PpToken> = Vec::with_capacity(definition.body.len());
        let mut pasting = false;
        // Whether the left side of a `##` is the last token of `out`, or was empty.
        let mut left_there = false;
        for (index, piece) in definition.body.iter().enumerate() {
            let start = out.len();
            let own = Span { via, ..piece.token.span };
            match piece.parameter {
                None => out.push(PpToken { span: own, first: false, ..piece.token }),
                Some(parameter) if piece.stringify => {
                    let text = self.stringified(&arguments[parameter].raw);
                    let symbol = self.names.intern(&text);
                    out.push(PpToken { kind: PpKind::Str, symbol, span: own, first: false, ..piece.token });
                }
                Some(parameter) => {
                    let raw = piece.paste || pasting;
                    let last =
                        definition.variadic && parameter + 1 == definition.parameters.as_ref().map_or(0, Vec::len);
                    if pasting && last && self.comma_rule(definition, index, &mut out, &arguments[parameter]) {
                        self.insert_argument(&mut arguments[parameter], false, piece, &mut out);
                        pasting = piece.paste;
                        left_there = !arguments[parameter].raw.is_empty();
                        continue;
                    }
                    self.insert_argument(&mut arguments[parameter], raw, piece, &mut out);
                }
            }
            if pasting && left_there && out.len() > start {
                self.paste(&mut out, start);
            }
            left_there = if pasting { left_there || out.len() > start } else { out.len() > start };
            pasting = piece.paste;
            if self.budget.exhausted {
                return Vec::new();
            }
            if out.len() as u64 > self.budget.tokens {
                self.budget.tokens = 0;
                self.spend(0, definition.span);
                return Vec::new();
            }
        }
        out
    }

    /// `, ## rest`: the comma disappears where there is no rest, and nothing is pasted.
    fn comma_rule(&self, definition: &Macro, index: usize, out: &mut Vec<PpToken>, rest: &Argument) -> bool {
        let comma = index > 0 && definition.body[index - 1].token.is(b',');
        if comma && rest.absent {
            out.pop();
        }
        comma
    }

    fn insert_argument(&mut self, argument: &mut Argument, raw: bool, piece: &Piece, out: &mut Vec<PpToken>) {
        let start = out.len();
        if raw {
            out.extend_from_slice(&argument.raw);
        } else {
            if argument.expanded.is_none() {
                let expanded = self.expand_alone(&argument.raw);
                argument.expanded = Some(expanded);
            }
            out.extend_from_slice(argument.expanded.as_deref().unwrap_or(&[]));
        }
        if let Some(first) = out.get_mut(start) {
            (first.space, first.edge) = (piece.token.space, true);
        }
    }

    /// Expands tokens as if nothing came after them.
    pub(super) fn expand_alone(&mut self, tokens: &[PpToken]) -> Vec<PpToken> {
        if tokens.iter().all(|t| t.kind != PpKind::Ident) {
            return tokens.to_vec();
        }
        if self.budget.argument_depth == 0 {
            let span = tokens.first().map_or(self.outer_span, |t| t.span);
            self.exhaust("calls of macros are nested too deeply", span, "");
            return Vec::new();
        }
        self.budget.argument_depth -= 1;
        let before = (std::mem::take(&mut self.edge), std::mem::take(&mut self.gap));
        self.contexts.push(Context { tokens: tokens.to_vec(), next: 0, owner: None, barrier: true, own_lines: true });
        let depth = self.contexts.len();
        let mut out = Vec::with_capacity(tokens.len());
        loop {
            let mut token = self.fetch();
            if token.kind == PpKind::Eof {
                break;
            }
            if token.kind == PpKind::Ident && !token.no_expand && self.try_expand(token) {
                continue;
            }
            self.mark_edge(&mut token);
            out.push(token);
        }
        while self.contexts.len() >= depth {
            if let Some(owner) = self.contexts.pop().and_then(|context| context.owner)
                && let Some(count) = self.disabled.get_mut(&owner)
            {
                *count = count.saturating_sub(1);
            }
        }
        (self.edge, self.gap) = before;
        self.budget.argument_depth += 1;
        out
    }

    /// `#parameter`: the argument as a string.
    fn stringified(&self, tokens: &[PpToken]) -> String {
        let mut text = String::from("\"");
        for (i, token) in tokens.iter().enumerate() {
            if i > 0 && token.space {
                text.push(' ');
            }
            let spelled = self.spell(token);
            let literal = matches!(token.kind, PpKind::Str | PpKind::Char);
            for c in spelled.chars() {
                if literal && matches!(c, '"' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        text
    }

    /// `left ## right`, where `right` is at `at` and `left` before it.
    fn paste(&mut self, out: &mut Vec<PpToken>, at: usize) {
        let Some(&[left, right]) =
            at.checked_sub(1).and_then(|from| out.get(from..=at)).and_then(|two| two.first_chunk())
        else {
            return;
        };
        if let (PpKind::Punct(l), PpKind::Punct(r)) = (left.kind, right.kind)
            && joins_to_a_mark(l, r)
        {
            out[at].space = false;
            out[at].edge = false;
            return;
        }
        let text = format!("{}{}", self.spell(&left), self.spell(&right));
        let mut scanner = Scanner::new(text.as_str().into(), left.span.file, left.line);
        let joined = scanner.next(self.names, &mut Vec::new());
        let rest = scanner.next(self.names, &mut Vec::new());
        if rest.kind != PpKind::Eof || matches!(joined.kind, PpKind::Lone | PpKind::Newline | PpKind::Eof) {
            let finding = Finding::new(Code::BadMacroCall, format!("`##` cannot join these to one token: `{text}`"));
            self.findings.push(finding.at(left.span, "").help("leave `##` out: a space is enough between two tokens"));
            return;
        }
        let span = if left.span.via == right.span.via { left.span } else { left.span.to(right.span) };
        out[at - 1] = PpToken { kind: joined.kind, symbol: joined.symbol, span, no_expand: false, ..left };
        out.remove(at);
    }

    /// Records a macro, and says so if it was something else before.
    pub(super) fn define(&mut self, name: PpToken, definition: Macro) {
        if let Some(old) = self.macros.get(&name.symbol)
            && !old.same_as(&definition)
        {
            let text = self.names.text(name.symbol);
            let finding = Finding::new(Code::MacroRedefined, format!("macro `{text}` is defined again, differently"));
            let finding = finding.at(name.span, "from here on this counts").at(old.span, "defined first here");
            let is_given = &*self.map.file(old.span.file).name == COMMAND_LINE;
            self.findings.push(finding.help(if is_given {
                format!(
                    "write `#ifndef {text}` before it and `#endif` after it, so that the value that is given counts"
                )
            } else {
                format!("write `#undef {text}` before it if this is meant")
            }));
        }
        self.builtins.remove(&name.symbol);
        self.macros.insert(name.symbol, Rc::new(definition));
    }
}

/// Whether C has a mark of two characters that these make.
fn joins_to_a_mark(left: u8, right: u8) -> bool {
    match right {
        b'=' => b"=!<>+-*/%&|^".contains(&left),
        b'>' => matches!(left, b'>' | b'-' | b':' | b'%'),
        b'<' => left == b'<',
        b':' => matches!(left, b':' | b'<' | b'%'),
        b'%' => left == b'<',
        b'+' | b'-' | b'&' | b'|' | b'#' => left == right,
        _ => false,
    }
}

enum Called {
    /// The name is not followed by `(`.
    Not,
    /// A finding says what is wrong.
    Wrongly,
    With(Vec<Argument>, Span),
}
