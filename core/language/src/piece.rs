//! The text of one file as it stands, cut into pieces: nothing is expanded, nothing is left out.

use std::ops::Range;

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PieceKind {
    /// A name or keyword.
    Word,
    /// Digits and what belongs to them.
    Number,
    /// A string, quotes included.
    Text,
    /// A character constant, or a quote without partner.
    Character,
    /// A mark, as long as the language's marks are.
    Mark,
    /// A comment, of either kind.
    Comment,
    /// A preprocessor directive up to the end of its line, joined lines included; comments that
    /// begin in it are part of it.
    Directive,
    /// Blanks and tabs, and lines joined by a backslash.
    Blank,
    /// The end of a line.
    LineEnd,
    /// Anything else.
    Other,
}

/// A piece of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Its bytes.
    pub range: Range<usize>,
}

impl Piece {
    /// Its text.
    pub fn text<'a>(&self, whole: &'a str) -> &'a str {
        whole.get(self.range.clone()).unwrap_or("")
    }

    /// Whether it means something to the parser.
    pub fn is_code(&self) -> bool {
        use PieceKind::{Character, Mark, Number, Other, Text, Word};
        matches!(self.kind, Word | Number | Text | Character | Mark | Other)
    }
}
