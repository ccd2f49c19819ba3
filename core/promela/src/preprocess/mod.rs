//! The C preprocessor as Spin uses it: comments, joined lines, macros, conditions, included files.
//!
//! It never touches a file: included text comes through a [`Loader`]. Its work is bounded, whatever
//! the text says: see [`Budget`]. Every token keeps its place; a token out of a macro body leads back
//! through an expansion to the call, an argument keeps the place where the argument was written.

mod builtin;
mod condition;
mod directive;
mod formula;
mod macros;
pub(crate) mod scan;
#[cfg(test)]
mod tests;

use crate::token::{Interner, QuickMap, Symbol};
use fabius_base::{Cancel, Code, ExpansionId, FileId, Finding, SourceMap, Span};
use fabius_language::{Loader, ReadRequest};
use macros::Macro;
use scan::{PpKind, PpToken, Scanner};
use std::rc::Rc;
use std::sync::Arc;

/// How many tokens macros may produce, and how much a call of a macro costs beside its tokens.
const EXPANDED_MAX: u64 = 4_000_000;
const CALL_COST: u64 = 4;
/// How deep macro arguments may hold calls of macros.
const ARGUMENT_DEPTH_MAX: u32 = 150;
/// How deep files may include each other, how many inclusions and how much text there may be.
const INCLUDE_DEPTH_MAX: usize = 50;
const INCLUDES_MAX: u32 = 2_000;
const INCLUDED_BYTES_MAX: usize = 64 << 20;

/// What is left of the bounds.
struct Budget {
    tokens: u64,
    includes: u32,
    bytes: usize,
    argument_depth: u32,
    /// A bound was hit; everything that follows is dropped.
    exhausted: bool,
}

/// A file being read, with the conditions that are open in it.
struct Source {
    scanner: Scanner,
    conditions: Vec<directive::Condition>,
}

/// Tokens waiting to be read: the result of a macro, an argument, or tokens put back.
struct Context {
    tokens: Vec<PpToken>,
    next: usize,
    /// The macro that may not be expanded again before this is used up.
    owner: Option<Symbol>,
    /// Reading stops here: this is an argument, expanded on its own.
    barrier: bool,
    /// The tokens keep their own lines: they were put back.
    own_lines: bool,
}

/// Where the text is with respect to embedded C, in which unknown includes do no harm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Embedded {
    No,
    Announced,
    Inside(u32),
}

pub(crate) struct Preprocessor<'a> {
    pub(crate) map: &'a mut SourceMap,
    pub(crate) names: &'a mut Interner,
    pub(crate) findings: &'a mut Vec<Finding>,
    loader: &'a mut dyn Loader,
    cancel: &'a Cancel,
    macros: QuickMap<Symbol, Rc<Macro>>,
    builtins: QuickMap<Symbol, builtin::Builtin>,
    /// How often `__COUNTER__` was read.
    counter: u32,
    /// Macros whose values no text changes.
    fixed: Vec<Symbol>,
    disabled: QuickMap<Symbol, u32>,
    sources: Vec<Source>,
    contexts: Vec<Context>,
    files: QuickMap<Arc<str>, FileId>,
    budget: Budget,
    /// The line to give to what a macro produces, and the macro's place there.
    outer_line: u32,
    outer_span: Span,
    /// The line number after all lines of the files entered so far.
    lines_used: u32,
    edge: bool,
    /// White space stood before a macro that came to nothing, right before the next token.
    gap: bool,
    embedded: Embedded,
    /// Files that said `#pragma once`.
    once: Vec<FileId>,
    /// Text whose condition does not hold.
    inactive: Vec<Span>,
    /// What is read is a formula from outside of the text.
    in_formula: bool,
    words: Words,
}

/// Words with a meaning of their own.
struct Words {
    defined: Symbol,
    va_args: Symbol,
    c_words: [Symbol; 3],
}

/// What preprocessing gives.
pub(crate) struct Preprocessed {
    /// What is to be read on; nothing if a bound was hit.
    pub(crate) tokens: Vec<PpToken>,
    /// Text whose condition does not hold, by file and place.
    pub(crate) inactive: Vec<Span>,
}

/// Preprocesses a text, definitions of the command line before it and formulas behind it; once `cancel` asks for it, the rest is
/// not read.
pub(crate) fn preprocess(
    map: &mut SourceMap,
    names: &mut Interner,
    findings: &mut Vec<Finding>,
    &ReadRequest { file, defines, fixed, formulas }: &ReadRequest<'_>,
    loader: &mut dyn Loader,
    cancel: &Cancel,
) -> Preprocessed {
    let words = Words {
        defined: names.intern("defined"),
        va_args: names.intern("__VA_ARGS__"),
        c_words: [names.intern("c_code"), names.intern("c_decl"), names.intern("c_expr")],
    };
    let budget = Budget {
        tokens: EXPANDED_MAX,
        includes: INCLUDES_MAX,
        bytes: INCLUDED_BYTES_MAX,
        argument_depth: ARGUMENT_DEPTH_MAX,
        exhausted: false,
    };
    let builtins = builtin::builtins(names);
    let mut preprocessor = Preprocessor {
        builtins,
        counter: 0,
        map,
        names,
        findings,
        loader,
        cancel,
        macros: QuickMap::default(),
        fixed: Vec::new(),
        disabled: QuickMap::default(),
        sources: Vec::new(),
        contexts: Vec::new(),
        files: QuickMap::default(),
        budget,
        outer_line: 0,
        outer_span: Span::default(),
        lines_used: 0,
        edge: false,
        gap: false,
        embedded: Embedded::No,
        once: Vec::new(),
        inactive: Vec::new(),
        in_formula: false,
        words,
    };
    let mut tokens = Vec::new();
    if !defines.is_empty() {
        let text: String = defines.iter().map(|(name, value)| command_line_define(name, value)).collect();
        let command_line = preprocessor.map.add_file(COMMAND_LINE, text);
        preprocessor.enter(command_line);
        preprocessor.run(&mut tokens);
        tokens.clear();
    }
    preprocessor.fixed = fixed.iter().map(|name| preprocessor.names.intern(name)).collect();
    preprocessor.enter(file);
    preprocessor.run(&mut tokens);
    for formula in formulas {
        preprocessor.formula(formula, &mut tokens);
    }
    if preprocessor.budget.exhausted {
        tokens.clear();
    }
    Preprocessed { tokens, inactive: preprocessor.inactive }
}

/// The name of the text that defines what is given from outside.
const COMMAND_LINE: &str = "<command line>";

fn command_line_define(name: &str, value: &str) -> String {
    let value = if value.is_empty() { "1" } else { value };
    format!("#define {name} {}\n", value.replace('\n', " "))
}

impl Preprocessor<'_> {
    /// Begins to read a file.
    fn enter(&mut self, file: FileId) {
        let text = self.map.file(file).text.clone();
        self.enter_text(file, text);
    }

    /// Begins to read a file, of which this is the text as far as reading it goes.
    fn enter_text(&mut self, file: FileId, text: Arc<str>) {
        let lines = text.bytes().filter(|b| *b == b'\n').count() as u32;
        let scanner = Scanner::new(text, file, self.lines_used.wrapping_add(1));
        self.lines_used = self.lines_used.wrapping_add(lines).wrapping_add(2);
        self.sources.push(Source { scanner, conditions: Vec::new() });
    }

    /// Reads everything there is.
    fn run(&mut self, out: &mut Vec<PpToken>) {
        loop {
            let mut token = self.fetch();
            match token.kind {
                PpKind::Eof => break,
                PpKind::Ident => {
                    if self.contexts.is_empty() || self.contexts.last().is_some_and(|c| c.own_lines) {
                        self.outer_line = token.line;
                        if token.span.via == ExpansionId::NONE {
                            self.outer_span = token.span;
                        }
                    }
                    if !token.no_expand && self.try_expand(token) {
                        continue;
                    }
                }
                PpKind::Number => self.watch_range(&token),
                _ => {}
            }
            self.mark_edge(&mut token);
            self.watch_embedded(&token);
            out.push(token);
        }
        self.contexts.clear();
        self.disabled.clear();
    }

    /// Tells a token what macros did right before it.
    fn mark_edge(&mut self, token: &mut PpToken) {
        token.edge |= std::mem::take(&mut self.edge);
        token.space |= std::mem::take(&mut self.gap);
    }

    /// The next token: from a macro, or from the file.
    fn fetch(&mut self) -> PpToken {
        if self.budget.exhausted || self.cancel.requested().is_some() {
            return self.end();
        }
        while let Some(context) = self.contexts.last_mut() {
            if let Some(token) = context.tokens.get(context.next) {
                context.next += 1;
                let mut token = *token;
                if !context.own_lines {
                    token.line = self.outer_line;
                }
                self.paint(&mut token);
                return token;
            }
            if context.barrier {
                return self.end();
            }
            if let Some(owner) = context.owner
                && let Some(count) = self.disabled.get_mut(&owner)
            {
                *count = count.saturating_sub(1);
            }
            self.edge |= !context.own_lines;
            self.contexts.pop();
        }
        let mut token = self.source_token();
        self.paint(&mut token);
        token
    }

    /// Marks the name of a macro that is being expanded: it stays as it is for ever.
    fn paint(&self, token: &mut PpToken) {
        if token.kind == PpKind::Ident && self.disabled.get(&token.symbol).is_some_and(|count| *count > 0) {
            token.no_expand = true;
        }
    }

    fn end(&self) -> PpToken {
        PpToken {
            kind: PpKind::Eof,
            space: false,
            first: false,
            edge: false,
            no_expand: false,
            symbol: Symbol::default(),
            line: self.outer_line,
            span: self.outer_span,
        }
    }

    /// The next token of the files, directives obeyed.
    fn source_token(&mut self) -> PpToken {
        loop {
            let Some(source) = self.sources.last_mut() else { return self.end() };
            if self.cancel.requested().is_some() {
                return self.end();
            }
            let token = source.scanner.next(self.names, self.findings);
            match token.kind {
                PpKind::Newline => {}
                PpKind::Eof => {
                    self.close_conditions();
                    self.sources.pop();
                    if self.sources.is_empty() {
                        return token;
                    }
                }
                PpKind::Punct(b'#') if token.first => {
                    if let Some(outcome) = self.directive(token) {
                        return outcome;
                    }
                }
                _ => return token,
            }
        }
    }

    /// Says that a bound was hit, once, and drops the rest.
    fn exhaust(&mut self, headline: &str, span: Span, help: &str) {
        if !self.budget.exhausted {
            self.budget.exhausted = true;
            let finding = Finding::new(Code::ExpansionTooLarge, headline).at(span, "");
            let finding = finding.note("the rest of the text was not read");
            self.findings.push(if help.is_empty() { finding } else { finding.help(help) });
        }
    }

    /// `0..N` is one number for C's preprocessor, so that a macro `N` stays as it is.
    fn watch_range(&mut self, token: &PpToken) {
        let text = self.names.text(token.symbol).clone();
        let Some((from, to)) = text.split_once("..") else { return };
        let word: &str = to.split('.').next().unwrap_or("");
        if word.starts_with(|c: char| c.is_ascii_digit()) || word.is_empty() {
            return;
        }
        let symbol = self.names.intern(word);
        if self.macros.contains_key(&symbol) {
            let finding = Finding::new(Code::NotExpanded, format!("the macro `{word}` is not replaced here"));
            let finding = finding.at(token.span, "for the preprocessor this is one number");
            self.findings.push(finding.help(format!("write `{from} .. {word}` with spaces")));
        }
    }

    /// Follows `c_code {…}` and its like, see [`Embedded`].
    fn watch_embedded(&mut self, token: &PpToken) {
        self.embedded = match (self.embedded, token.kind) {
            (Embedded::No, PpKind::Ident) if self.words.c_words.contains(&token.symbol) => Embedded::Announced,
            (Embedded::Announced, PpKind::Punct(b'{')) => Embedded::Inside(1),
            (Embedded::Inside(depth), PpKind::Punct(b'{')) => Embedded::Inside(depth.saturating_add(1)),
            (Embedded::Inside(1), PpKind::Punct(b'}')) => Embedded::No,
            (Embedded::Inside(depth), PpKind::Punct(b'}')) => Embedded::Inside(depth - 1),
            (now, _) => now,
        };
    }

    /// The spelling of a token.
    fn spell(&self, token: &PpToken) -> String {
        match token.kind {
            PpKind::Punct(byte) => char::from(byte).to_string(),
            PpKind::Newline | PpKind::Eof => String::new(),
            _ => self.names.text(token.symbol).to_string(),
        }
    }
}
