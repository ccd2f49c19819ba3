//! Preprocessing tokens to tokens of Promela.
//!
//! What looks odd here is how Spin reads: it has no hexadecimal numbers, `-->` is an arrow and `!!=` an
//! inequality, and the end of a line matters, so every token knows whether a line begins with it.

use crate::preprocess::scan::{PpKind, PpToken, is_word, is_word_start};
use crate::token::{Interner, Tok, Token};
use fabius_base::{Code, Finding, Severity, Span};

/// Turns preprocessing tokens into tokens of Promela; a last token [`Tok::Eof`] is added.
pub(crate) fn lex(input: &[PpToken], names: &mut Interner, findings: &mut Vec<Finding>, end: Span) -> Vec<Token> {
    let mut lexer =
        Lexer { input, at: 0, names, findings, out: Vec::with_capacity(input.len() + 1), run: Vec::new(), line: None };
    lexer.all();
    let mut out = lexer.out;
    out.push(Token { newline: true, ..Token::mark(Tok::Eof, end) });
    out
}

struct Lexer<'a> {
    input: &'a [PpToken],
    at: usize,
    names: &'a mut Interner,
    findings: &'a mut Vec<Finding>,
    out: Vec<Token>,
    /// Marks and digits that stand together, each with its place.
    run: Vec<(u8, Span)>,
    line: Option<u32>,
}

/// Whether C's preprocessor puts a space between two tokens that came to stand together by a macro.
fn kept_apart(left: u8, right: u8) -> bool {
    match right {
        b'=' => b"=!<>+-*/%&|^".contains(&left),
        b'>' => matches!(left, b'>' | b'-' | b':' | b'%'),
        b'<' => left == b'<',
        b'%' | b':' => matches!(left, b'<' | b':' | b'%'),
        b'.' => left == b'.' || is_word(left),
        b'+' | b'-' | b'&' | b'|' | b'#' => left == right,
        b'0'..=b'9' => left == b'.' || is_word(left),
        _ => false,
    }
}

impl Lexer<'_> {
    fn all(&mut self) {
        while let Some(token) = self.input.get(self.at).copied() {
            self.at += 1;
            let newline = self.begins_line(&token);
            let glued = !token.space && !newline;
            let start = self.out.len();
            match token.kind {
                PpKind::Ident => {
                    let kind = Tok::of_word(token.symbol);
                    self.out.push(Token { symbol: token.symbol, ..Token::mark(kind, token.span) });
                }
                PpKind::Str => self.out.push(Token { symbol: token.symbol, ..Token::mark(Tok::Str, token.span) }),
                PpKind::Char => self.character(&token),
                PpKind::Lone => {
                    self.out.push(Token { symbol: token.symbol, ..Token::mark(Tok::BadLiteral, token.span) });
                }
                PpKind::Other => self.out.push(Token { symbol: token.symbol, ..Token::mark(Tok::Unknown, token.span) }),
                PpKind::Number | PpKind::Punct(_) => self.run_of_marks(token),
                PpKind::Newline | PpKind::Eof => {}
            }
            if let Some(first) = self.out.get_mut(start) {
                (first.newline, first.glued) = (newline, glued);
            }
        }
    }

    /// Whether the preprocessor's output begins a new line with this token.
    fn begins_line(&mut self, token: &PpToken) -> bool {
        let visible = token.first || token.space || token.edge || self.line.is_none();
        visible && self.line.replace(token.line) != Some(token.line)
    }

    /// Collects the marks and numbers that stand together without space, and cuts them up.
    fn run_of_marks(&mut self, first: PpToken) {
        self.run.clear();
        self.add_to_run(&first);
        while let Some(next) = self.input.get(self.at) {
            let byte = match next.kind {
                PpKind::Punct(byte) => byte,
                PpKind::Number => self.names.text(next.symbol).as_bytes().first().copied().unwrap_or(0),
                _ => break,
            };
            let apart = next.space
                || next.first
                || next.edge && self.line != Some(next.line)
                || next.edge && self.run.last().is_none_or(|(left, _)| kept_apart(*left, byte));
            if apart {
                break;
            }
            let next = *next;
            self.at += 1;
            self.add_to_run(&next);
        }
        let run = std::mem::take(&mut self.run);
        self.cut(&run);
        self.run = run;
    }

    fn add_to_run(&mut self, token: &PpToken) {
        if let PpKind::Punct(byte) = token.kind {
            self.run.push((byte, token.span));
            return;
        }
        let text = self.names.text(token.symbol).clone();
        let exact = text.len() as u32 == token.span.end - token.span.start;
        for (i, byte) in text.bytes().enumerate() {
            let start = token.span.start + i as u32;
            let span = if exact { Span { start, end: start + 1, ..token.span } } else { token.span };
            self.run.push((byte, span));
        }
    }

    /// Cuts a run into tokens.
    fn cut(&mut self, run: &[(u8, Span)]) {
        let mut at = 0;
        while let Some(&(byte, first)) = run.get(at) {
            if byte == b'*' && run.get(at + 1).is_some_and(|(b, _)| *b == b'/') {
                let mut finding = Finding::new(Code::UnterminatedComment, "this `*/` closes no comment");
                finding.severity = Severity::Warning;
                let span = first.to(run[at + 1].1);
                self.findings.push(finding.at(span, "").note("comments do not nest").help("remove it"));
                at += 2;
                continue;
            }
            let (mut token, length) = if byte.is_ascii_digit() {
                self.number(&run[at..])
            } else if is_word_start(byte) {
                let text: String =
                    run[at..].iter().map(|(b, _)| *b).take_while(|b| is_word(*b)).map(char::from).collect();
                let symbol = self.names.intern(&text);
                (Token { symbol, ..Token::mark(Tok::of_word(symbol), first) }, text.len())
            } else {
                let byte_at = |i: usize| run.get(at + i).map_or(0, |(b, _)| *b);
                let (kind, length) = mark([byte, byte_at(1), byte_at(2)]);
                let mut token = Token::mark(kind, first);
                if kind == Tok::Unknown {
                    token.symbol = self.names.intern(char::from(byte).encode_utf8(&mut [0; 4]));
                }
                (token, length)
            };
            token.span = first.to(run[at + length - 1].1);
            token.glued = at > 0;
            self.out.push(token);
            at += length;
        }
    }

    fn number(&mut self, run: &[(u8, Span)]) -> (Token, usize) {
        let digits: String = run.iter().map(|(b, _)| *b).take_while(u8::is_ascii_digit).map(char::from).collect();
        let span = run[0].1.to(run[digits.len() - 1].1);
        // Spin reads a `long`, stops at its largest value, and keeps the low 32 bits.
        let long = digits.parse::<i64>().unwrap_or(i64::MAX);
        let value = long as i32;
        if i64::from(value) != long {
            let mut finding = Finding::new(Code::NumberTooLarge, format!("{digits} does not fit into 32 bits"));
            finding.severity = Severity::Warning;
            self.findings.push(finding.at(span, format!("is read as {value}, as Spin does")));
        }
        (Token { value, ..Token::mark(Tok::Number, span) }, digits.len())
    }

    /// `'c'` or `'\c'`.
    fn character(&mut self, token: &PpToken) {
        let text = self.names.text(token.symbol).clone();
        let value = match text.as_bytes() {
            [b'\'', b'\\', c, b'\''] => Some(match c {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'f' => 0x0c,
                other => *other,
            }),
            [b'\'', c, b'\''] if *c != b'\\' => Some(*c),
            _ => None,
        };
        let kind = if value.is_some() { Tok::Char } else { Tok::BadLiteral };
        let value = i32::from(value.unwrap_or(0));
        self.out.push(Token { value, symbol: token.symbol, ..Token::mark(kind, token.span) });
    }
}

/// The longest mark at the beginning of a run, as Spin reads it, and its length.
fn mark(bytes: [u8; 3]) -> (Tok, usize) {
    match bytes {
        [b'-', b'-', b'>'] => (Tok::Arrow, 3),
        [b'-', b'>', _] => (Tok::Arrow, 2),
        [b'-', b'-', _] => (Tok::Decr, 2),
        [b'-', ..] => (Tok::Minus, 1),
        [b'+', b'+', _] => (Tok::Incr, 2),
        [b'+', ..] => (Tok::Plus, 1),
        [b'<', b'=', b'<'] => (Tok::Shl, 3),
        [b'<', b'<', _] => (Tok::Shl, 2),
        [b'<', b'=', _] => (Tok::Le, 2),
        [b'<', ..] => (Tok::Lt, 1),
        [b'>', b'=', b'>'] => (Tok::Shr, 3),
        [b'>', b'>', _] => (Tok::Shr, 2),
        [b'>', b'=', _] => (Tok::Ge, 2),
        [b'>', ..] => (Tok::Gt, 1),
        [b'=', b'=', _] => (Tok::EqEq, 2),
        [b'=', ..] => (Tok::Assign, 1),
        [b'!', b'!', b'='] => (Tok::NotEq, 3),
        [b'!', b'=', _] => (Tok::NotEq, 2),
        [b'!', b'!', _] => (Tok::SortedSend, 2),
        [b'!', ..] => (Tok::Not, 1),
        [b'?', b'?', _] => (Tok::ReceiveAny, 2),
        [b'?', ..] => (Tok::Receive, 1),
        [b'&', b'&', _] => (Tok::AndAnd, 2),
        [b'&', ..] => (Tok::Amp, 1),
        [b'|', b'|', _] => (Tok::OrOr, 2),
        [b'|', ..] => (Tok::Pipe, 1),
        [b':', b':', _] => (Tok::Sep, 2),
        [b':', ..] => (Tok::Colon, 1),
        [b'.', b'.', _] => (Tok::DotDot, 2),
        [b'.', ..] => (Tok::Dot, 1),
        [byte, ..] => (single(byte), 1),
    }
}

fn single(byte: u8) -> Tok {
    match byte {
        b'{' => Tok::LBrace,
        b'}' => Tok::RBrace,
        b'(' => Tok::LParen,
        b')' => Tok::RParen,
        b'[' => Tok::LBracket,
        b']' => Tok::RBracket,
        b';' => Tok::Semi,
        b',' => Tok::Comma,
        b'@' => Tok::At,
        b'*' => Tok::Star,
        b'/' => Tok::Slash,
        b'%' => Tok::Percent,
        b'^' => Tok::Caret,
        b'~' => Tok::Tilde,
        _ => Tok::Unknown,
    }
}
