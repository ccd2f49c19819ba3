//! Raw text to preprocessing tokens: comments, joined lines, literals.

use crate::token::{Interner, Symbol};
use fabius_base::{Code, FileId, Finding, Span};
use std::sync::Arc;

/// What a preprocessing token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PpKind {
    Ident,
    /// Digits, and what C's preprocessor takes along with them: `0..N` is one token.
    Number,
    Str,
    Char,
    /// A quote without partner and the rest of its line, which the preprocessor leaves as it is.
    Lone,
    /// One mark; joining marks to operators is the business of whoever reads them.
    Punct(u8),
    /// Any other character.
    Other,
    Newline,
    Eof,
}

/// A preprocessing token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PpToken {
    pub(crate) kind: PpKind,
    /// White space or a comment stands before it.
    pub(crate) space: bool,
    /// First of its line.
    pub(crate) first: bool,
    /// A macro begins or ends right before it.
    pub(crate) edge: bool,
    /// Names a macro that is being expanded already.
    pub(crate) no_expand: bool,
    pub(crate) symbol: Symbol,
    /// A number that differs between lines.
    pub(crate) line: u32,
    pub(crate) span: Span,
}

impl PpToken {
    /// Whether it is this mark.
    pub(crate) fn is(&self, mark: u8) -> bool {
        self.kind == PpKind::Punct(mark)
    }
}

/// Reads one file.
pub(crate) struct Scanner {
    text: Arc<str>,
    file: FileId,
    pos: usize,
    line: u32,
    first: bool,
}

pub(crate) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Scanner {
    pub(crate) fn new(text: Arc<str>, file: FileId, line: u32) -> Self {
        let pos = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, file, pos, line, first: true }
    }

    pub(crate) fn file(&self) -> FileId {
        self.file
    }

    /// Where it is read next.
    pub(crate) fn position(&self) -> u32 {
        self.pos as u32
    }

    /// The byte that is read next; 0 at the end.
    pub(crate) fn upcoming(&self) -> u8 {
        self.byte(self.pos)
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Where the next line begins, if a backslash here joins it to this one.
    fn joined(&self, at: usize) -> Option<usize> {
        if self.byte(at) != b'\\' {
            return None;
        }
        let rest = self.text.as_bytes().get(at + 1..)?;
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        (rest.get(blanks) == Some(&b'\n')).then_some(at + 1 + blanks + 1)
    }

    /// The position of the next byte that counts: joins are passed over.
    fn settle(&self, mut at: usize) -> usize {
        while let Some(next) = self.joined(at) {
            at = next;
        }
        at
    }

    fn advance_to(&mut self, end: usize) {
        let bytes = &self.text.as_bytes()[self.pos..end];
        self.line = self.line.wrapping_add(bytes.iter().filter(|b| **b == b'\n').count() as u32);
        self.pos = end;
    }

    /// The next token, line ends included.
    pub(crate) fn next(&mut self, names: &mut Interner, findings: &mut Vec<Finding>) -> PpToken {
        let mut space = false;
        loop {
            if self.pos >= self.text.len() {
                return self.token(PpKind::Eof, self.pos, space, names);
            }
            match self.byte(self.pos) {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0 => {
                    self.pos += 1;
                    space = true;
                }
                b'\n' => {
                    let token = self.token(PpKind::Newline, self.pos + 1, space, names);
                    self.first = true;
                    return token;
                }
                b'\\' if self.joined(self.pos).is_some() => {
                    let end = self.settle(self.pos);
                    self.advance_to(end);
                }
                b'/' if self.skip_comment(findings) => space = true,
                _ => return self.visible(space, names),
            }
        }
    }

    /// Passes over a comment if one begins here.
    fn skip_comment(&mut self, findings: &mut Vec<Finding>) -> bool {
        let second = self.settle(self.pos + 1);
        let mut at = second + 1;
        match self.byte(second) {
            b'/' if second < self.text.len() => {
                while at < self.text.len() && self.byte(at) != b'\n' {
                    at = self.joined(at).unwrap_or(at + 1);
                }
            }
            b'*' => loop {
                if at >= self.text.len() {
                    let open = Span::new(self.file, self.pos as u32, second as u32 + 1);
                    let finding = Finding::new(Code::UnterminatedComment, "this comment is never closed");
                    findings.push(finding.at(open, "opened here").help("close it with `*/`"));
                    at = self.text.len();
                    break;
                }
                if self.byte(at) == b'*' {
                    let next = self.settle(at + 1);
                    if self.byte(next) == b'/' {
                        at = next + 1;
                        break;
                    }
                }
                at += 1;
            },
            _ => return false,
        }
        self.advance_to(at);
        true
    }

    fn visible(&mut self, space: bool, names: &mut Interner) -> PpToken {
        let byte = self.byte(self.pos);
        let second = self.byte(self.settle(self.pos + 1));
        if is_word_start(byte) {
            let end = self.run(self.pos, |_, b| is_word(b));
            self.token(PpKind::Ident, end, space, names)
        } else if byte.is_ascii_digit() || (byte == b'.' && second.is_ascii_digit()) {
            let end = self.run(self.pos, |before, b| {
                is_word(b) || b == b'.' || (matches!(b, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P'))
            });
            self.token(PpKind::Number, end, space, names)
        } else if byte == b'"' || byte == b'\'' {
            self.literal(byte, space, names)
        } else if let Some(end) = self.dollars(byte) {
            let token = self.token(PpKind::Str, end, space, names);
            let quoted = format!("\"{}\"", names.text(token.symbol).trim_matches('$'));
            PpToken { symbol: names.intern(&quoted), ..token }
        } else if byte.is_ascii_graphic() {
            self.token(PpKind::Punct(byte), self.pos + 1, space, names)
        } else {
            let width = self.text[self.pos..].chars().next().map_or(1, char::len_utf8);
            self.token(PpKind::Other, self.pos + width, space, names)
        }
    }

    /// The end of the longest run of bytes that belong together; the test sees the byte before, too.
    fn run(&self, start: usize, belongs: impl Fn(u8, u8) -> bool) -> usize {
        let mut before = self.byte(start);
        let mut end = start + 1;
        loop {
            let at = self.settle(end);
            if at >= self.text.len() || !belongs(before, self.byte(at)) {
                return end;
            }
            before = self.byte(at);
            end = at + 1;
        }
    }

    /// Where a string between dollars ends, if one begins here: to Spin it is a string like any other.
    fn dollars(&self, byte: u8) -> Option<usize> {
        let rest = self.text.as_bytes().get(self.pos + 1..).filter(|_| byte == b'$')?;
        let length = rest.iter().position(|b| matches!(b, b'$' | b'\n' | b'"'))?;
        (rest[length] == b'$' && !rest[..length].ends_with(b"\\")).then_some(self.pos + length + 2)
    }

    fn literal(&mut self, quote: u8, space: bool, names: &mut Interner) -> PpToken {
        let mut at = self.settle(self.pos + 1);
        while at < self.text.len() && self.byte(at) != b'\n' {
            if self.byte(at) == quote {
                let kind = if quote == b'"' { PpKind::Str } else { PpKind::Char };
                return self.token(kind, at + 1, space, names);
            }
            if self.byte(at) == b'\\' {
                at = self.settle(at + 1);
                if self.byte(at) == b'\n' {
                    break;
                }
            }
            at = self.settle(at + 1);
        }
        let end = at.min(self.text.len());
        self.token(PpKind::Lone, end, space, names)
    }

    fn token(&mut self, kind: PpKind, end: usize, space: bool, names: &mut Interner) -> PpToken {
        let (start, line) = (self.pos, self.line);
        // An inner byte of a longer character can only be met after a backslash in a literal.
        let end = (end..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(self.text.len());
        let symbol = match kind {
            PpKind::Punct(_) | PpKind::Newline | PpKind::Eof => Symbol::default(),
            _ => self.spell(start, end, names),
        };
        self.advance_to(end);
        let first = std::mem::replace(&mut self.first, false);
        let span = Span::new(self.file, start as u32, end as u32);
        PpToken { kind, space, first, edge: false, no_expand: false, symbol, line, span }
    }

    /// The spelling, with joined lines joined.
    fn spell(&self, start: usize, end: usize, names: &mut Interner) -> Symbol {
        let raw = &self.text[start..end];
        if !raw.contains('\n') {
            return names.intern(raw);
        }
        let mut joined = String::with_capacity(raw.len());
        let mut at = self.settle(start);
        while at < end {
            let Some(c) = self.text[at..].chars().next() else { break };
            joined.push(c);
            at = self.settle(at + c.len_utf8());
        }
        names.intern(&joined)
    }
}
