//! Directives: lines that begin with `#`.

use super::macros::{Macro, Piece};
use super::scan::{PpKind, PpToken};
use super::{Embedded, INCLUDE_DEPTH_MAX, Preprocessor};
use crate::token::Symbol;
use fabius_base::{Code, Finding, Severity, Span};

/// An open `#if`.
pub(super) struct Condition {
    /// Where it began.
    span: Span,
    /// A branch was taken already.
    taken: bool,
    /// The text here counts.
    active: bool,
    /// The `#if` stands in text that counts.
    outer: bool,
    /// `#else` was seen.
    closed: bool,
}

impl Preprocessor<'_> {
    /// Obeys one directive. Gives a token only when the files end while text is being skipped.
    pub(super) fn directive(&mut self, hash: PpToken) -> Option<PpToken> {
        let line = self.rest_of_line();
        let (&word, rest) = line.split_first()?;
        // A directive may stand among the arguments of a macro that has begun on another line.
        let outer = (self.outer_line, self.outer_span);
        (self.outer_line, self.outer_span) = (hash.line, hash.span);
        let text = self.spell(&word);
        match text.as_str() {
            "define" => self.define_directive(word, rest),
            "undef" => self.undef_directive(word, rest),
            "if" | "ifdef" | "ifndef" => {
                let holds = self.test(&text, word, rest);
                self.open_condition(word.span, true, holds);
            }
            "elif" | "else" | "endif" => self.next_branch(&text, word, rest),
            "include" | "import" | "include_next" => self.include(word, rest),
            "error" => self.message(word, rest, Severity::Error),
            "warning" => self.message(word, rest, Severity::Note),
            "pragma" => self.pragma(word, rest),
            "line" => self.line_directive(word, rest),
            "ident" | "sccs" => {}
            _ if word.kind == PpKind::Number => self.line_marker(word, &text, rest.first()),
            _ => self.bad(word.span, format!("`#{text}` is not a directive of the preprocessor"), ""),
        }
        (self.outer_line, self.outer_span) = outer;
        self.skip_inactive()
    }

    fn bad(&mut self, span: Span, headline: impl Into<String>, help: &str) {
        let finding = Finding::new(Code::BadDirective, headline).at(span, "");
        self.findings.push(if help.is_empty() { finding } else { finding.help(help) });
    }

    /// The tokens up to the end of the line.
    fn rest_of_line(&mut self) -> Vec<PpToken> {
        let mut line = Vec::new();
        let Some(source) = self.sources.last_mut() else { return line };
        loop {
            let token = source.scanner.next(self.names, self.findings);
            if matches!(token.kind, PpKind::Newline | PpKind::Eof) {
                return line;
            }
            line.push(token);
        }
    }

    /// Passes over text whose condition does not hold.
    fn skip_inactive(&mut self) -> Option<PpToken> {
        let active = |this: &Self| this.sources.last().is_none_or(|s| s.conditions.last().is_none_or(|c| c.active));
        let reading = |this: &Self| this.sources.last().map(|s| (s.scanner.file(), s.scanner.position()));
        let mut start = reading(self);
        while !active(self) {
            let source = self.sources.last_mut()?;
            let token = source.scanner.next(self.names, self.findings);
            match token.kind {
                PpKind::Eof => {
                    self.inactive.extend(start.map(|(file, start)| Span::new(file, start, token.span.start)));
                    self.close_conditions();
                    self.sources.pop();
                    if self.sources.is_empty() {
                        return Some(token);
                    }
                    start = reading(self);
                }
                PpKind::Punct(b'#') if token.first => {
                    let line = self.rest_of_line();
                    let Some((&word, rest)) = line.split_first() else { continue };
                    let text = self.spell(&word);
                    match text.as_str() {
                        "if" | "ifdef" | "ifndef" => self.open_condition(word.span, false, false),
                        "elif" | "else" | "endif" => self.next_branch(&text, word, rest),
                        _ => {}
                    }
                    if active(self) {
                        self.inactive.extend(start.map(|(file, start)| Span::new(file, start, token.span.start)));
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn open_condition(&mut self, span: Span, outer: bool, holds: bool) {
        if let Some(source) = self.sources.last_mut() {
            source.conditions.push(Condition { span, taken: holds, active: outer && holds, outer, closed: false });
        }
    }

    /// Whether the condition of `#if`, `#ifdef`, `#ifndef` holds.
    fn test(&mut self, text: &str, word: PpToken, rest: &[PpToken]) -> bool {
        if text == "if" {
            return self.evaluate(word, rest);
        }
        let Some(name) = rest.first().filter(|t| t.kind == PpKind::Ident) else {
            self.bad(word.span, format!("`#{text}` needs the name of a macro"), "");
            return false;
        };
        self.is_defined(name.symbol) == (text == "ifdef")
    }

    pub(super) fn is_defined(&self, name: Symbol) -> bool {
        self.macros.contains_key(&name) || self.builtins.contains_key(&name)
    }

    /// `#elif`, `#else`, `#endif`.
    fn next_branch(&mut self, text: &str, word: PpToken, rest: &[PpToken]) {
        let state =
            self.sources.last().and_then(|s| s.conditions.last()).map(|c| (c.outer && !c.taken, c.closed, c.span));
        let Some((open, closed, opened)) = state else {
            self.bad(word.span, format!("`#{text}` without `#if`"), "remove it, or look for a missing `#if` above");
            return;
        };
        if text == "endif" {
            if let Some(source) = self.sources.last_mut() {
                source.conditions.pop();
            }
            return;
        }
        if closed {
            let finding = Finding::new(Code::BadDirective, format!("`#{text}` after `#else`")).at(word.span, "");
            self.findings.push(finding.at(opened, "the condition begins here"));
        }
        let holds = open && !closed && (text == "else" || self.evaluate(word, rest));
        if let Some(condition) = self.sources.last_mut().and_then(|s| s.conditions.last_mut()) {
            condition.active = holds;
            condition.taken |= holds;
            condition.closed |= text == "else";
        }
    }

    /// Says which conditions the file leaves open.
    pub(super) fn close_conditions(&mut self) {
        let Some(source) = self.sources.last_mut() else { return };
        for condition in source.conditions.drain(..) {
            let finding = Finding::new(Code::BadDirective, "this condition is never closed");
            self.findings.push(finding.at(condition.span, "begins here").help("close it with `#endif`"));
        }
    }

    fn message(&mut self, word: PpToken, rest: &[PpToken], severity: Severity) {
        let mut text = String::new();
        for token in rest {
            if token.space && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.spell(token));
        }
        if text.is_empty() {
            text.push_str("the model stops the preprocessor here");
        }
        let mut finding = Finding::new(Code::UserMessage, text).at(word.span, "the model says so here");
        finding.severity = severity;
        self.findings.push(finding);
    }

    /// Spin refuses every `#pragma` that the preprocessor leaves in the text; only `once` does not stay.
    fn pragma(&mut self, word: PpToken, rest: &[PpToken]) {
        let once = rest.first().is_some_and(|t| self.spell(t) == "once");
        if once {
            if let Some(source) = self.sources.last() {
                let file = source.scanner.file();
                self.once.push(file);
            }
            return;
        }
        self.bad(word.span, "`#pragma` has no meaning in Promela, and Spin refuses it", "remove this line");
    }

    fn line_directive(&mut self, word: PpToken, rest: &[PpToken]) {
        let rest = self.expand_alone(rest);
        match rest.first().filter(|number| number.kind == PpKind::Number) {
            Some(number) => {
                let line = self.spell(number);
                self.line_marker(word, &line, rest.get(1));
            }
            None => {
                self.bad(word.span, "`#line` needs the number of a line", "write `#line 12 \"file\"`, or remove it")
            }
        }
    }

    /// Remembers from which line, and of which file, the following lines come.
    fn line_marker(&mut self, word: PpToken, line: &str, file: Option<&PpToken>) {
        let file = file.map(|token| self.spell(token));
        let name = file.as_deref().and_then(|name| name.strip_prefix('"')?.strip_suffix('"'));
        if let Ok(line) = line.parse() {
            self.map.add_line_marker(word.span.file, word.span.start, line, name.map(Into::into));
        }
    }

    fn undef_directive(&mut self, word: PpToken, rest: &[PpToken]) {
        match rest.first().filter(|t| t.kind == PpKind::Ident) {
            Some(name) if self.fixed.contains(&name.symbol) => {}
            Some(name) => {
                self.macros.remove(&name.symbol);
                self.builtins.remove(&name.symbol);
            }
            None => self.bad(word.span, "`#undef` needs the name of a macro", ""),
        }
    }

    fn define_directive(&mut self, word: PpToken, rest: &[PpToken]) {
        let Some((&name, rest)) = rest.split_first().filter(|(t, _)| t.kind == PpKind::Ident) else {
            self.bad(word.span, "`#define` needs a name", "write `#define NAME value`");
            return;
        };
        if name.symbol == self.words.defined {
            self.bad(name.span, "`defined` cannot be the name of a macro", "");
            return;
        }
        let mut definition = Macro { parameters: None, variadic: false, body: Vec::new(), span: name.span };
        let body = match rest.first() {
            Some(open) if open.is(b'(') && !open.space => {
                let Some(used) = self.parameters(name, &rest[1..], &mut definition) else { return };
                &rest[1 + used..]
            }
            _ => rest,
        };
        // What it says of a macro with arguments is another matter than a value.
        let counts = definition.parameters.is_some() || !self.fixed.contains(&name.symbol);
        if self.body(body, &mut definition) && counts {
            self.define(name, definition);
        }
    }

    /// Reads `a, b, …)`; gives how many tokens that took.
    fn parameters(&mut self, name: PpToken, rest: &[PpToken], definition: &mut Macro) -> Option<usize> {
        let mut parameters = Vec::new();
        let mut at = 0;
        let mut expect_name = true;
        while let Some(token) = rest.get(at) {
            at += 1;
            match token.kind {
                PpKind::Punct(b')') if !expect_name || parameters.is_empty() => {
                    definition.parameters = Some(parameters);
                    return Some(at);
                }
                PpKind::Punct(b',') if !expect_name && !definition.variadic => expect_name = true,
                PpKind::Punct(b'.') if !definition.variadic && rest.len() > at + 1 && rest[at].is(b'.') => {
                    at += 2;
                    if expect_name {
                        parameters.push(self.words.va_args);
                    }
                    definition.variadic = true;
                    expect_name = false;
                }
                PpKind::Ident if expect_name && !parameters.contains(&token.symbol) => {
                    parameters.push(token.symbol);
                    expect_name = false;
                }
                _ => {
                    self.bad(
                        token.span,
                        "a macro's parameters are names between commas",
                        "write `#define NAME(a, b) …`",
                    );
                    return None;
                }
            }
        }
        self.bad(name.span, "the list of this macro's parameters is never closed", "close it with `)`");
        None
    }

    /// Reads the body into `definition`; `false` if it makes no sense.
    fn body(&mut self, tokens: &[PpToken], definition: &mut Macro) -> bool {
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += 1;
            let next = tokens.get(at).copied();
            let hashes = token.is(b'#') && next.is_some_and(|n| n.is(b'#') && !n.space);
            if hashes {
                at += 1;
                match definition.body.last_mut() {
                    Some(piece) if at < tokens.len() => piece.paste = true,
                    _ => {
                        self.bad(token.span, "`##` stands between two tokens", "");
                        return false;
                    }
                }
                continue;
            }
            let index = |t: &PpToken| {
                let parameters = definition.parameters.as_ref()?;
                parameters.iter().position(|p| t.kind == PpKind::Ident && *p == t.symbol)
            };
            let mut piece = Piece { token, parameter: index(&token), stringify: false, paste: false };
            if token.is(b'#') && definition.parameters.is_some() {
                let Some(parameter) = next.as_ref().and_then(index) else {
                    self.bad(token.span, "`#` in a macro must be followed by a parameter", "");
                    return false;
                };
                at += 1;
                piece = Piece { parameter: Some(parameter), stringify: true, ..piece };
            }
            definition.body.push(piece);
        }
        true
    }

    fn include(&mut self, word: PpToken, rest: &[PpToken]) {
        let direct = self.header_name(rest);
        let expanded = if direct.is_none() { self.expand_alone(rest) } else { Vec::new() };
        let Some(name) = direct.or_else(|| self.header_name(&expanded)) else {
            self.bad(word.span, "`#include` needs the name of a file", "write `#include \"file\"`");
            return;
        };
        let span = rest.first().map_or(word.span, |t| t.span);
        let too_many = self.budget.includes == 0 || self.sources.len() > INCLUDE_DEPTH_MAX;
        if too_many {
            self.exhaust(
                "files include each other without end",
                span,
                "guard the file with `#ifndef … #define … #endif`",
            );
            return;
        }
        self.budget.includes -= 1;
        let includer = match self.sources.last() {
            Some(source) => self.map.file(source.scanner.file()).name.clone(),
            None => "".into(),
        };
        match self.loader.load(&includer, &name) {
            Some((shown, text)) => self.enter_included(&shown, text, span),
            None if self.embedded != Embedded::No => {}
            None => {
                let finding = Finding::new(Code::IncludeNotFound, format!("the file {name} cannot be found or read"))
                    .at(span, "");
                self.findings.push(finding.help(
                    "check that there is such an ordinary file, of at most 64 MiB, beside the file that includes it",
                ));
            }
        }
    }

    fn enter_included(&mut self, shown: &str, text: String, span: Span) {
        if text.len() > self.budget.bytes {
            self.exhaust("included files hold more text than any model needs", span, "");
            return;
        }
        self.budget.bytes -= text.len();
        let known = self.files.get(shown).copied().filter(|id| *self.map.file(*id).text == *text);
        let file = match known {
            Some(file) if self.once.contains(&file) => return,
            Some(file) => file,
            None => {
                let file = self.map.add_file(shown, text);
                self.files.insert(shown.into(), file);
                file
            }
        };
        self.enter(file);
    }

    /// The name behind `#include`, with its quotes.
    fn header_name(&self, tokens: &[PpToken]) -> Option<String> {
        let first = tokens.first()?;
        if first.kind == PpKind::Str {
            return Some(self.spell(first));
        }
        let end = tokens.iter().position(|t| t.is(b'>')).filter(|_| first.is(b'<'))?;
        let last = &tokens[end];
        if first.span.via == last.span.via && first.span.file == last.span.file {
            let source = self.map.file(first.span.file);
            return source.text.get(first.span.start as usize..last.span.end as usize).map(str::to_owned);
        }
        Some(tokens[..=end].iter().map(|t| self.spell(t)).collect())
    }
}
