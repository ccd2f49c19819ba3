//! The text of one file as it stands, cut into pieces: nothing is expanded, nothing is left out.

use fabius_language::{Piece, PieceKind};
use std::ops::Range;

/// Marks of more than one letter, the longest first.
const MARKS: [&str; 20] = [
    "<->", "->", "::", "..", "++", "--", "!!", "??", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "[]", "<>", "/\\",
    "\\/",
];

/// Cuts a text into pieces; together they are the whole text.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut cutter = Cutter { text, at: 0, line_begins: true };
    let mut pieces = Vec::new();
    while cutter.at < text.len() {
        let start = cutter.at;
        let kind = cutter.next();
        let end = cutter.at.max(start + 1).min(text.len());
        let end = (end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        cutter.at = end;
        match kind {
            PieceKind::LineEnd => cutter.line_begins = true,
            PieceKind::Blank | PieceKind::Comment => {}
            _ => cutter.line_begins = false,
        }
        pieces.push(Piece { kind, range: start..end });
    }
    pieces
}

/// Cuts a piece of code, such as the inside of a directive, where no directive can begin.
pub fn pieces_inside(text: &str, range: Range<usize>) -> Vec<Piece> {
    let Some(inside) = text.get(range.clone()) else { return Vec::new() };
    let mut cutter = Cutter { text: inside, at: 0, line_begins: false };
    let mut pieces = Vec::new();
    while cutter.at < inside.len() {
        let start = cutter.at;
        let kind = cutter.next();
        let end = cutter.at.max(start + 1).min(inside.len());
        let end = (end..=inside.len()).find(|at| inside.is_char_boundary(*at)).unwrap_or(inside.len());
        cutter.at = end;
        pieces.push(Piece { kind, range: range.start + start..range.start + end });
    }
    pieces
}

struct Cutter<'a> {
    text: &'a str,
    at: usize,
    line_begins: bool,
}

impl Cutter<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Passes the next piece and says what it was.
    fn next(&mut self) -> PieceKind {
        let byte = self.byte(self.at);
        match byte {
            b'\n' => self.pass(1, PieceKind::LineEnd),
            b'\r' if self.byte(self.at + 1) == b'\n' => self.pass(2, PieceKind::LineEnd),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                self.pass_while(|b| matches!(b, b' ' | b'\t' | 0x0b | 0x0c), PieceKind::Blank)
            }
            b'\\' if self.join_length(self.at) > 0 => self.pass(self.join_length(self.at), PieceKind::Blank),
            b'/' if self.byte(self.at + 1) == b'*' => self.block_comment(),
            b'/' if self.byte(self.at + 1) == b'/' => self.skip_to_line_end(PieceKind::Comment),
            b'#' if self.line_begins => self.directive(),
            b'"' => self.literal(b'"', PieceKind::Text),
            b'\'' => self.literal(b'\'', PieceKind::Character),
            b'0'..=b'9' => self.pass_while(|b| b.is_ascii_alphanumeric() || b == b'_', PieceKind::Number),
            b if b.is_ascii_alphabetic() || b == b'_' => {
                self.pass_while(|b| b.is_ascii_alphanumeric() || b == b'_', PieceKind::Word)
            }
            b if b.is_ascii_punctuation() => self.mark(),
            _ => self.pass(1, PieceKind::Other),
        }
    }

    fn pass(&mut self, length: usize, kind: PieceKind) -> PieceKind {
        self.at += length;
        kind
    }

    fn pass_while(&mut self, more: impl Fn(u8) -> bool, kind: PieceKind) -> PieceKind {
        self.at += 1;
        while self.at < self.text.len() && more(self.byte(self.at)) {
            self.at += 1;
        }
        kind
    }

    fn mark(&mut self) -> PieceKind {
        let rest = &self.text.as_bytes()[self.at..];
        let length = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())).map_or(1, |mark| mark.len());
        self.pass(length, PieceKind::Mark)
    }

    /// Bytes of a backslash that joins this line to the next; 0 if there is none.
    fn join_length(&self, at: usize) -> usize {
        if self.byte(at) != b'\\' {
            return 0;
        }
        let rest = &self.text.as_bytes()[at + 1..];
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        if rest.get(blanks) == Some(&b'\n') { blanks + 2 } else { 0 }
    }

    fn block_comment(&mut self) -> PieceKind {
        self.at = self.text[self.at + 2..].find("*/").map_or(self.text.len(), |end| self.at + 2 + end + 2);
        PieceKind::Comment
    }

    fn skip_to_line_end(&mut self, kind: PieceKind) -> PieceKind {
        while self.at < self.text.len() && !matches!(self.byte(self.at), b'\n') {
            self.at += self.join_length(self.at).max(1);
        }
        if self.byte(self.at) == b'\n' && self.byte(self.at - 1) == b'\r' {
            self.at -= 1;
        }
        kind
    }

    /// A directive: to the end of its line, where a comment or a joined line does not end it.
    fn directive(&mut self) -> PieceKind {
        while self.at < self.text.len() {
            match self.byte(self.at) {
                b'\n' => break,
                b'/' if self.byte(self.at + 1) == b'*' => {
                    self.block_comment();
                }
                b'/' if self.byte(self.at + 1) == b'/' => {
                    self.skip_to_line_end(PieceKind::Comment);
                }
                _ => self.at += self.join_length(self.at).max(1),
            }
        }
        self.at = self.at.min(self.text.len());
        if self.at > 0 && self.byte(self.at) == b'\n' && self.byte(self.at - 1) == b'\r' {
            self.at -= 1;
        }
        PieceKind::Directive
    }

    /// A literal, closed on its line; without its partner, only the quote.
    fn literal(&mut self, quote: u8, kind: PieceKind) -> PieceKind {
        let mut at = self.at + 1;
        while at < self.text.len() {
            match self.byte(at) {
                b'\n' => break,
                b'\\' => at += 2,
                b if b == quote => {
                    self.at = at + 1;
                    return kind;
                }
                _ => at += 1,
            }
        }
        self.pass(1, PieceKind::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(PieceKind, &str)> {
        pieces(text)
            .iter()
            .map(|piece| (piece.kind, piece.text(text)))
            .filter(|(kind, _)| *kind != PieceKind::Blank)
            .collect()
    }

    #[test]
    fn a_text_is_cut_into_its_pieces() {
        use PieceKind::*;
        assert_eq!(
            shown("#define N 3 /* a\nb */ + 1\nbyte x=N; // end"),
            [
                (Directive, "#define N 3 /* a\nb */ + 1"),
                (LineEnd, "\n"),
                (Word, "byte"),
                (Word, "x"),
                (Mark, "="),
                (Word, "N"),
                (Mark, ";"),
                (Comment, "// end"),
            ]
        );
        assert_eq!(shown("q!a->b::"), [(Word, "q"), (Mark, "!"), (Word, "a"), (Mark, "->"), (Word, "b"), (Mark, "::")]);
        assert_eq!(shown("\"a\\\"b\" 'c' 'x"), [(Text, "\"a\\\"b\""), (Character, "'c'"), (Other, "'"), (Word, "x")]);
    }

    #[test]
    fn nothing_is_lost() {
        for text in
            ["", "é€😀", "/*", "//", "#", "#define A \\\n B", "\"é", "'", "\\", "a\\\nb", "\r\n\r", "/* é", "1é"]
        {
            let joined: String = pieces(text).iter().map(|piece| piece.text(text)).collect();
            assert_eq!(joined, text);
        }
    }
}
