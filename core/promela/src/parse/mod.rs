//! The parser: recursive descent over Promela's grammar as Spin 6.5.2 has it.
//!
//! It never gives up: what cannot be read becomes a finding and an error node, and reading goes on at
//! the next place that looks sure. It looks one token ahead and no further, because Spin's lexer
//! depends on what was parsed before (see [`stream`]).

mod control;
mod declaration;
mod expression;
mod inline;
mod message;
mod recover;
mod statement;
mod stream;
mod unit;

use crate::ast;
use crate::token::{Interner, QuickMap, Symbol, Tok, Token, spelling};
use fabius_base::{Cancel, Code, Finding, SourceMap, Span};
use stream::{Stream, Trouble};

/// How deep statements may nest in each other.
const STATEMENT_DEPTH_MAX: u32 = 200;
/// How deep the tree of an expression may be, and how deep parentheses may nest in it.
const EXPRESSION_DEPTH_MAX: u32 = 1000;
const PAREN_DEPTH_MAX: u32 = 250;
/// How many findings are kept.
const FINDINGS_MAX: usize = 100;

/// Something could not be read; a finding says so already.
#[derive(Clone, Copy, Debug)]
struct Bail;

type Read<T> = Result<T, Bail>;

/// What is open around the place that is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Brace,
    If,
    Do,
}

struct Parser<'a> {
    stream: Stream<'a>,
    findings: &'a mut Vec<Finding>,
    /// How many findings there were before parsing.
    findings_before: usize,
    peeked: Option<Token>,
    /// The token taken last.
    previous: Token,
    /// Tokens taken, counted.
    taken: u64,
    /// Tokens of the arguments of an inline call, while they are being read.
    recording: Option<Vec<Token>>,
    statement_depth: u32,
    paren_depth: u32,
    /// Depth of the deepest expression read inside the operand at hand.
    inner_depth: u32,
    open: Vec<(Open, Span)>,
    /// Where the last syntax error was: one place is not complained about twice.
    last_error: Option<Span>,
    /// Braces that were found to be unclosed where a new unit began: their `}` may still come.
    unclosed_braces: u32,
    /// The text was not read to its end: what is missing there is nobody's fault.
    is_cut: bool,
    /// Names at the top level that were complained about.
    complained: Vec<Symbol>,
    /// Reading `trace` or `notrace`, where only events are allowed.
    in_trace: bool,
    model: ast::Model,
    /// How many constants each set has so far.
    mtypes: QuickMap<Option<Symbol>, i32>,
}

/// Parses tokens to a model.
pub(crate) fn parse(
    map: &mut SourceMap,
    names: &mut Interner,
    findings: &mut Vec<Finding>,
    tokens: Vec<Token>,
    cancel: &Cancel,
) -> ast::Model {
    let start = tokens.first().map_or(Span::default(), |t| t.span);
    let findings_before = findings.len();
    let mut parser = Parser {
        stream: Stream::new(map, names, tokens, cancel),
        findings,
        findings_before,
        peeked: None,
        previous: Token::mark(Tok::Semi, Span { end: start.start, ..start }),
        taken: 0,
        recording: None,
        statement_depth: 0,
        paren_depth: 0,
        inner_depth: 0,
        open: Vec::new(),
        last_error: None,
        unclosed_braces: 0,
        is_cut: false,
        complained: Vec::new(),
        in_trace: false,
        model: ast::Model::default(),
        mtypes: QuickMap::default(),
    };
    parser.model();
    parser.model
}

impl Parser<'_> {
    /// The next token, left where it is.
    fn peek(&mut self) -> Token {
        if let Some(token) = self.peeked {
            return token;
        }
        let token = self.stream.next();
        self.peeked = Some(token);
        if !self.stream.troubles.is_empty() {
            self.tell_troubles();
        }
        token
    }

    fn peek_kind(&mut self) -> Tok {
        self.peek().kind
    }

    /// Takes the next token. Parentheses are counted here, as the grammar takes them.
    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.peeked = None;
        self.taken += 1;
        match token.kind {
            Tok::LParen => self.stream.parens += 1,
            Tok::RParen => self.stream.parens = self.stream.parens.saturating_sub(1),
            _ => {}
        }
        if let Some(recording) = &mut self.recording {
            recording.push(Token { newline: false, ..token });
        }
        self.previous = token;
        token
    }

    /// Takes the next token if it is this one.
    fn accept(&mut self, kind: Tok) -> Option<Token> {
        (self.peek_kind() == kind).then(|| self.bump())
    }

    /// Takes this token, or says that it is missing; `what` says what it would be good for.
    fn expect(&mut self, kind: Tok, what: &str) -> Read<Token> {
        match self.accept(kind) {
            Some(token) => Ok(token),
            None => Err(self.unexpected(&format!("`{}`{what}", spelling(kind).unwrap_or("")))),
        }
    }

    /// From `start` to the end of what was taken last.
    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous.span)
    }

    fn name_of(&self, token: Token) -> ast::Name {
        ast::Name { text: self.stream.names.text(token.symbol).clone(), span: token.span }
    }

    fn text(&self, symbol: Symbol) -> &str {
        self.stream.names.text(symbol)
    }

    /// Records a finding, unless there are too many already.
    fn tell(&mut self, finding: Finding) {
        if self.is_cut {
            return;
        }
        let count = self.findings.len() - self.findings_before;
        if count < FINDINGS_MAX {
            self.findings.push(finding);
        } else if count == FINDINGS_MAX {
            let finding = Finding::new(Code::TooManyFindings, "there are more findings, which are not shown");
            self.findings.push(finding.help("fix these first; later errors may be follow-ups"));
        }
    }

    /// Tells what the stream has met while reading.
    fn tell_troubles(&mut self) {
        for trouble in std::mem::take(&mut self.stream.troubles) {
            let finding = match trouble {
                Trouble::BadLiteral(token) => {
                    self.last_error = Some(token.span);
                    self.bad_literal(token)
                }
                Trouble::Unknown(token) => {
                    let headline = format!("`{}` has no meaning in Promela", self.text(token.symbol).escape_debug());
                    Finding::new(Code::UnknownCharacter, headline).at(token.span, "").help("remove it")
                }
                Trouble::TooManyInlined(span) => {
                    let headline = "inline calls expand to more text than any model needs";
                    self.tell(Finding::new(Code::ExpansionTooLarge, headline).at(span, "the rest was not read"));
                    self.is_cut = true;
                    return;
                }
                Trouble::ArgumentIsParameter(token, parameter) => {
                    let (argument, parameter) = (self.text(token.symbol), self.text(parameter));
                    let headline =
                        format!("the argument `{argument}` has the name of another parameter of this inline");
                    Finding::new(Code::BadInlineCall, headline)
                        .at(token.span, format!("given for the parameter `{parameter}`"))
                        .note("Spin puts arguments into the text one after the other and refuses this")
                        .help("rename the parameter of the inline")
                }
                Trouble::ParameterBesideDot(token, parameter) => {
                    let (name, parameter) = (self.text(token.symbol), self.text(parameter));
                    let headline = format!("parameter `{parameter}` of an inline occurs in a structure name");
                    Finding::new(Code::BadInlineCall, headline)
                        .at(token.span, format!("Spin finds `{parameter}` in `{name}` beside a dot"))
                        .note("Spin refuses this: it replaces parameters in the text, and would not come to an end")
                        .help("rename the parameter of the inline")
                }
            };
            self.tell(finding);
        }
    }

    fn bad_literal(&self, token: Token) -> Finding {
        let text = self.text(token.symbol);
        if text.starts_with('"') {
            return Finding::new(Code::UnterminatedLiteral, "this string does not end on its line")
                .at(token.span, "opened here")
                .help("close it with `\"` on the same line");
        }
        Finding::new(Code::UnterminatedLiteral, "a character constant is one character between two apostrophes")
            .at(token.span, "")
            .help("write `'a'` or `'\\n'`; an apostrophe has no other use in Promela")
    }
}
