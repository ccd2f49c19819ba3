//! The formatter: indentation and spaces, nothing else. It changes neither words nor their order nor the
//! lines on which they stand, so comments and macros stay what they are; formatting twice is the same
//! as formatting once.
//!
//! * A line is indented by the braces, `if … fi` and `do … od` around it; an option `::` stands at the
//!   depth of its `if` or `do`, what follows it one deeper.
//! * Between two pieces of a line there is one space where Promela is usually written with one.
//! * Spaces before a comment that follows code stay, so that columns of comments stay columns.
//! * Directives and the inside of comments are left alone.
//! * Several empty lines become one; spaces at ends of lines go.

use crate::query::tokens::{Piece, PieceKind, pieces};
use std::ops::Range;

/// How a text is indented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Spaces for one step, or a tab.
    pub indent: Indent,
}

/// One step of indentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indent {
    /// So many spaces.
    Spaces(usize),
    /// A tab.
    Tab,
}

impl Default for Style {
    fn default() -> Self {
        Self { indent: Indent::Spaces(4) }
    }
}

/// Replaces some bytes of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The bytes.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

/// The replacements of white space that format a text; they do not overlap and are in order.
pub fn format(text: &str, style: Style) -> Vec<Replacement> {
    let mut formatter = Formatter { text, style, nesting: Vec::new(), out: Vec::new(), continued: false };
    let all = pieces(text);
    let mut lines = Lines { pieces: &all, at: 0 };
    let mut empty_before = true;
    let mut first = true;
    while let Some(line) = lines.next() {
        formatter.line(line, &mut empty_before, first);
        first = false;
    }
    formatter.end(&all);
    formatter.out
}

/// A text with replacements made.
pub fn apply(text: &str, replacements: &[Replacement]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for replacement in replacements {
        out.push_str(&text[at..replacement.range.start]);
        out.push_str(&replacement.text);
        at = replacement.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The lines of a text, each with its end. A comment or directive of several lines is part of one.
struct Lines<'a> {
    pieces: &'a [Piece],
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [Piece]> {
        if self.pieces.len() <= self.at {
            return None;
        }
        let from = self.at;
        let length = self.pieces[from..].iter().position(|piece| piece.kind == PieceKind::LineEnd);
        self.at = length.map_or(self.pieces.len(), |length| from + length + 1);
        Some(&self.pieces[from..self.at])
    }
}

/// What is open around a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Brace,
    Paren,
    Choice,
    /// An option of a choice; it ends with the next `::` or the end of the choice.
    Option,
}

struct Formatter<'a> {
    text: &'a str,
    style: Style,
    nesting: Vec<Open>,
    out: Vec<Replacement>,
    /// The line before does not end a statement.
    continued: bool,
}

impl Formatter<'_> {
    fn line(&mut self, line: &[Piece], empty_before: &mut bool, first: bool) {
        let shown: Vec<&Piece> =
            line.iter().filter(|piece| !matches!(piece.kind, PieceKind::Blank | PieceKind::LineEnd)).collect();
        let start = line.first().map_or(0, |piece| piece.range.start);
        let end = line.last().map_or(start, |piece| piece.range.end);
        let line_end = line.last().filter(|piece| piece.kind == PieceKind::LineEnd);
        let content_end = line_end.map_or(end, |piece| piece.range.start);
        let joined =
            line.iter().any(|piece| piece.kind == PieceKind::Blank && self.text[piece.range.clone()].contains('\n'));
        let Some(head) = shown.first() else {
            if *empty_before && line_end.is_some() {
                self.replace(start..end, "");
            } else {
                self.replace(start..content_end, "");
            }
            *empty_before = true;
            return;
        };
        *empty_before = first && head.kind == PieceKind::LineEnd;
        if head.kind == PieceKind::Directive || joined {
            shown.iter().filter(|piece| piece.is_code()).for_each(|piece| self.nest(piece));
            self.trim_end(&shown, content_end);
            return;
        }
        let depth = self.depth_of(&shown);
        let margin = self.margin(depth);
        self.replace(start..head.range.start, &margin);
        for (at, pair) in shown.windows(2).enumerate() {
            self.nest(pair[0]);
            self.between(&shown, at, pair[0], pair[1]);
        }
        if let Some(last) = shown.last() {
            self.nest(last);
        }
        self.continued = shown.iter().rev().find(|piece| piece.is_code()).is_some_and(|last| self.continues(last));
        self.trim_end(&shown, content_end);
    }

    fn trim_end(&mut self, shown: &[&Piece], content_end: usize) {
        if let Some(last) = shown.last().filter(|last| last.range.end < content_end) {
            self.replace(last.range.end..content_end, "");
        }
    }

    /// How deep a line stands, by what is open before it and by what it begins with.
    fn depth_of(&self, shown: &[&Piece]) -> usize {
        let head = shown.first().map_or("", |piece| piece.text(self.text));
        let mut nesting = self.nesting.as_slice();
        let drop_option = |nesting: &mut &[Open]| {
            if let [rest @ .., Open::Option] = nesting {
                *nesting = rest;
            }
        };
        let mut outdent = 0;
        match head {
            "::" => drop_option(&mut nesting),
            "fi" | "od" => {
                drop_option(&mut nesting);
                if let [rest @ .., Open::Choice] = nesting {
                    nesting = rest;
                }
            }
            "}" | ")" | "]" => {
                drop_option(&mut nesting);
                if let [rest @ .., _] = nesting {
                    nesting = rest;
                }
            }
            _ if is_label(shown, self.text) => outdent = 1,
            _ => {}
        }
        // `if` and its options stand at the same depth; an option and a brace are one deeper.
        let depth = nesting.iter().filter(|open| **open != Open::Choice).count().saturating_sub(outdent);
        let ends = matches!(head, "}" | ")" | "]" | "::" | "fi" | "od" | "{" | "->");
        depth + usize::from(self.continued && !ends && !self.inside_paren())
    }

    fn inside_paren(&self) -> bool {
        self.nesting.last() == Some(&Open::Paren)
    }

    /// Whether a line that ends with this piece goes on in the next one.
    fn continues(&self, last: &Piece) -> bool {
        let text = last.text(self.text);
        matches!(
            text,
            "=" | "&&"
                | "||"
                | "+"
                | "-"
                | "*"
                | "/"
                | "%"
                | "=="
                | "!="
                | "<"
                | ">"
                | "<="
                | ">="
                | ","
                | "|"
                | "&"
                | "^"
        ) && !self.inside_paren()
    }

    fn margin(&self, depth: usize) -> String {
        match self.style.indent {
            Indent::Spaces(width) => " ".repeat(width * depth),
            Indent::Tab => "\t".repeat(depth),
        }
    }

    /// Keeps track of what is open.
    fn nest(&mut self, piece: &Piece) {
        match (piece.kind, piece.text(self.text)) {
            (PieceKind::Word, "if" | "do") => self.nesting.push(Open::Choice),
            (PieceKind::Word, "fi" | "od") => self.close(Open::Choice),
            (PieceKind::Mark, "{") => self.nesting.push(Open::Brace),
            (PieceKind::Mark, "}") => self.close(Open::Brace),
            (PieceKind::Mark, "(" | "[") => self.nesting.push(Open::Paren),
            (PieceKind::Mark, ")" | "]") => self.close(Open::Paren),
            (PieceKind::Mark, "::") => {
                if self.nesting.last() == Some(&Open::Option) {
                    self.nesting.pop();
                }
                if self.nesting.last() == Some(&Open::Choice) {
                    self.nesting.push(Open::Option);
                }
            }
            _ => {}
        }
    }

    /// Closes the innermost of its kind, if it is not outside of a brace that is still open.
    fn close(&mut self, open: Open) {
        let barrier = |other: &Open| *other == Open::Brace && open != Open::Brace;
        let Some(at) = self.nesting.iter().rposition(|other| *other == open || barrier(other)) else { return };
        if self.nesting[at] == open {
            self.nesting.truncate(at);
        }
    }

    fn between(&mut self, line: &[&Piece], at: usize, left: &Piece, right: &Piece) {
        let gap = left.range.end..right.range.start;
        if right.kind == PieceKind::Comment {
            // Columns of comments stay; a comment that sticks to code gets one space.
            if gap.is_empty() {
                self.replace(gap, " ");
            }
            return;
        }
        if left.kind == PieceKind::Comment {
            if gap.len() <= 1 || !self.text[gap.clone()].contains('\t') {
                self.replace(gap, " ");
            }
            return;
        }
        match spacing(line, at, self.text) {
            Spacing::One => self.replace(gap, " "),
            Spacing::None => self.replace(gap, ""),
            Spacing::Kept => {
                if gap.len() > 1 {
                    self.replace(gap, " ");
                }
            }
        }
    }

    fn replace(&mut self, range: Range<usize>, with: &str) {
        if &self.text[range.clone()] != with {
            self.out.push(Replacement { range, text: with.to_owned() });
        }
    }

    /// The text ends with one line end.
    fn end(&mut self, all: &[Piece]) {
        if all.last().is_some_and(|last| last.kind != PieceKind::LineEnd && last.is_code()) {
            self.out.push(Replacement { range: self.text.len()..self.text.len(), text: "\n".to_owned() });
        }
    }
}

/// Whether a line begins with a label: a name and one colon.
fn is_label(shown: &[&Piece], text: &str) -> bool {
    let [name, colon, ..] = shown else { return false };
    name.kind == PieceKind::Word && colon.text(text) == ":" && !matches!(name.text(text), "mtype" | "else")
}

/// What stands between two pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spacing {
    One,
    None,
    /// One space if there is any.
    Kept,
}

/// What stands between a piece of a line and the next.
fn spacing(line: &[&Piece], at: usize, text: &str) -> Spacing {
    let (left, right) = (line[at], line[at + 1]);
    let (l, r) = (left.text(text), right.text(text));
    let word = |piece: &Piece| {
        matches!(piece.kind, PieceKind::Word | PieceKind::Number | PieceKind::Text | PieceKind::Character)
    };
    match (l, r) {
        _ if left.kind == PieceKind::Other || right.kind == PieceKind::Other => Spacing::Kept,
        (_, "," | ";") => Spacing::None,
        ("," | ";" | "::" | "{", _) | (_, "{" | "}" | "::") => Spacing::One,
        ("->", _) | (_, "->") => Spacing::One,
        ("(" | "[" | "." | "@" | "~", _) | (_, ")" | "]" | "." | "@" | "++" | "--") => Spacing::None,
        ("=" | "==" | "!=" | "<=" | ">=" | "&&" | "||" | "<<" | ">>", _)
        | (_, "=" | "==" | "!=" | "<=" | ">=" | "&&" | "||" | "<<" | ">>") => Spacing::One,
        _ if word(left) && word(right) => Spacing::One,
        ("}" | ")", _) if word(right) => Spacing::One,
        _ => Spacing::Kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str) -> String {
        apply(text, &format(text, Style::default()))
    }

    #[test]
    fn lines_are_indented_by_what_is_around_them() {
        let text = "active proctype P(){\nbyte x=1;\n\n\n   do\n:: x<3->\nx++ ;\nif\n:: x==2  -> skip\n:: else\nfi\n:: else -> break\nod\nend:\nskip\n}\n";
        let expected = "active proctype P() {\n    byte x = 1;\n\n    do\n    :: x<3 ->\n        x++;\n        if\n        :: x == 2 -> skip\n        :: else\n        fi\n    :: else -> break\n    od\nend:\n    skip\n}\n";
        let got = formatted(text);
        assert_eq!(got.replace("){", ") {"), expected);
    }

    #[test]
    fn comments_and_directives_stay() {
        let text = "#define  A(x)  x+\\\n   1\nbyte x;      /* one */\nbyte yy;     /* two\n  lines */\n// end  \n";
        assert_eq!(formatted(text), text);
    }

    #[test]
    fn twice_is_once() {
        for text in
            ["if :: a -> { if :: b fi } fi", "}}}\n{{{", "::\n::", "a\\\n b\n", "\"x\"'c'€é", "/* */x/* */y", ""]
        {
            let once = formatted(text);
            assert_eq!(formatted(&once), once, "{text}");
        }
    }
}
