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

use crate::query::tokens::pieces;
use fabius_language::{Piece, PieceKind, Replacement, Style};
use std::ops::Range;

/// The replacements of white space that format a text; they do not overlap and are in order.
pub fn format(text: &str, style: Style) -> Vec<Replacement> {
    let mut formatter = Formatter { text, style, nesting: Nesting::default(), out: Vec::new(), continued: false };
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

/// Puts a line whose first word was just typed, up to `at`, below what that word belongs to: `::` below the option before it or
/// its `if` or `do`, `fi`, `od` and `}` below what they end. Whatever margins the text has are kept, so it is no matter
/// whether they are those of [`format`].
pub fn align(text: &str, at: usize, style: Style) -> Option<Replacement> {
    let line = line_start(text, at);
    let word = text[line..at].trim_start_matches([' ', '\t']);
    if !matches!(word, "::" | "od" | "fi" | "}") {
        return None;
    }
    let all = pieces(text);
    all.iter().find(|piece| piece.range.end == at && piece.is_code())?;
    let old = &text[line..at - word.len()];
    let mut nesting = Nesting::default();
    for piece in all.iter().take_while(|piece| piece.range.end <= line) {
        nesting.take(piece, text);
    }
    let (outer, inner) = nesting.0.split_at(nesting.around(word).len());
    let above = match (word, inner, outer) {
        ("::", [(Open::Option, option)], [.., (Open::Choice, choice)]) => {
            let heads_its_line = text[line_start(text, *option)..*option].trim_start_matches([' ', '\t']).is_empty();
            if heads_its_line { *option } else { *choice }
        }
        ("::", [], [.., (Open::Choice, begin)])
        | ("fi" | "od", [(Open::Choice, begin), ..], _)
        | ("}", [(Open::Brace, begin), ..], _) => *begin,
        _ => return None,
    };
    let start = line_start(text, above);
    let shown = text[start..].trim_start_matches([' ', '\t']);
    let margin = &text[start..text.len() - shown.len()];
    // What begins behind the `::` of an option or behind a label stands one deeper than that line.
    let first: Vec<&Piece> = all.iter().skip_while(|piece| piece.range.start < start + margin.len()).take(3).collect();
    let first: Vec<&Piece> = first.into_iter().filter(|piece| piece.kind != PieceKind::Blank).collect();
    let deeper = start + margin.len() < above && (shown.starts_with("::") || is_label(&first, text));
    let new = format!("{margin}{}", style.margin(usize::from(deeper)));
    (new != old).then(|| Replacement { range: line..line + old.len(), text: new })
}

/// Where the line of a byte begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
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

/// What is open around a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Brace,
    Paren,
    Choice,
    /// An option of a choice; it ends with the next `::` or the end of the choice.
    Option,
}

/// All that is open around a place, from outside to inside, each with the byte at which it begins.
#[derive(Default)]
struct Nesting(Vec<(Open, usize)>);

impl Nesting {
    /// Keeps track of what is open.
    fn take(&mut self, piece: &Piece, text: &str) {
        let at = piece.range.start;
        match (piece.kind, piece.text(text)) {
            (PieceKind::Word, "if" | "do") => self.0.push((Open::Choice, at)),
            (PieceKind::Word, "fi" | "od") => self.close(Open::Choice),
            (PieceKind::Mark, "{") => self.0.push((Open::Brace, at)),
            (PieceKind::Mark, "}") => self.close(Open::Brace),
            (PieceKind::Mark, "(" | "[") => self.0.push((Open::Paren, at)),
            (PieceKind::Mark, ")" | "]") => self.close(Open::Paren),
            (PieceKind::Mark, "::") => {
                if self.innermost() == Some(Open::Option) {
                    self.0.pop();
                }
                if self.innermost() == Some(Open::Choice) {
                    self.0.push((Open::Option, at));
                }
            }
            _ => {}
        }
    }

    /// Closes the innermost of its kind, if it is not outside of a brace that is still open.
    fn close(&mut self, open: Open) {
        let barrier = |other: Open| other == Open::Brace && open != Open::Brace;
        let Some(at) = self.0.iter().rposition(|&(other, _)| other == open || barrier(other)) else { return };
        if self.0[at].0 == open {
            self.0.truncate(at);
        }
    }

    fn innermost(&self) -> Option<Open> {
        self.0.last().map(|(open, _)| *open)
    }

    /// What is open around the line that begins with a piece, besides what that piece ends.
    fn around(&self, head: &str) -> &[(Open, usize)] {
        let mut nesting = self.0.as_slice();
        let ended = matches!(head, "::" | "fi" | "od" | "}" | ")" | "]");
        if let ([rest @ .., (Open::Option, _)], true) = (nesting, ended) {
            nesting = rest;
        }
        match (head, nesting) {
            ("fi" | "od", [rest @ .., (Open::Choice, _)]) | ("}" | ")" | "]", [rest @ .., _]) => rest,
            _ => nesting,
        }
    }
}

struct Formatter<'a> {
    text: &'a str,
    style: Style,
    nesting: Nesting,
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
            shown.iter().filter(|piece| piece.is_code()).for_each(|piece| self.nesting.take(piece, self.text));
            self.trim_end(&shown, content_end);
            return;
        }
        let depth = self.depth_of(&shown);
        let margin = self.style.margin(depth);
        self.replace(start..head.range.start, &margin);
        for (at, pair) in shown.windows(2).enumerate() {
            self.nesting.take(pair[0], self.text);
            self.between(&shown, at, pair[0], pair[1]);
        }
        if let Some(last) = shown.last() {
            self.nesting.take(last, self.text);
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
        let nesting = self.nesting.around(head);
        let outdent = usize::from(is_label(shown, self.text));
        // `if` and its options stand at the same depth; an option and a brace are one deeper.
        let depth = nesting.iter().filter(|(open, _)| *open != Open::Choice).count().saturating_sub(outdent);
        let ends = matches!(head, "}" | ")" | "]" | "::" | "fi" | "od" | "{" | "->");
        depth + usize::from(self.continued && !ends && !self.inside_paren())
    }

    fn inside_paren(&self) -> bool {
        self.nesting.innermost() == Some(Open::Paren)
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
    #![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

    use super::*;

    /// A text with a line that ends at `|`, which was just typed, aligned.
    fn aligned(text: &str) -> String {
        let (before, after) = text.split_once('|').unwrap();
        let whole = format!("{before}{after}");
        apply(&whole, align(&whole, before.len(), Style::default()).as_slice())
    }

    #[test]
    fn what_was_just_typed_stands_below_what_it_belongs_to() {
        assert_eq!(aligned("    do\n        ::|"), "    do\n    ::");
        assert_eq!(aligned("do\n  :: a;\n     b\n     ::|\nx"), "do\n  :: a;\n     b\n  ::\nx");
        assert_eq!(aligned("do\n  :: a;\n     b\n     od|"), "do\n  :: a;\n     b\nod");
        assert_eq!(aligned("\tif\n\t:: a ->\n\t\tif\n\t\t:: b\n\tfi|"), "\tif\n\t:: a ->\n\t\tif\n\t\t:: b\n\t\tfi");
        assert_eq!(aligned("proctype P()\n{\n  x\n  }|"), "proctype P()\n{\n  x\n}");
        assert_eq!(aligned("do\n:: atomic {\n      x\n      }|"), "do\n:: atomic {\n      x\n    }");
        assert_eq!(aligned("do\n:: a -> if\n::|"), "do\n:: a -> if\n    ::");
    }

    #[test]
    fn what_belongs_to_nothing_stays_where_it_is() {
        for text in ["    ::|", "  od|", " }|", "do\n:: x; ::|", "/* do\n   ::| */", "do\n  :: (\n ::|"] {
            assert_eq!(aligned(text), text.replace('|', ""));
        }
    }

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
