//! Lines and columns as the protocol counts them, in the encoding that was agreed on, and bytes.

use crate::session::edits::Edit;
use ropey::Rope;
use tower_lsp_server::ls_types::{Position, PositionEncodingKind, Range};

/// What a column counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The first encoding that a client offers and the server knows.
    pub fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Self {
        let known = |kind: &PositionEncodingKind| match kind.as_str() {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        };
        offered.unwrap_or(&[]).iter().find_map(known).unwrap_or_default()
    }

    /// Its name.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// The byte offset of a position; one outside of the text is taken to its nearest end, as the
    /// protocol says.
    pub fn offset(self, text: &Rope, position: Position) -> usize {
        let line = position.line as usize;
        if text.len_lines() <= line {
            return text.len_bytes();
        }
        let start = text.line_to_char(line);
        let slice = text.line(line);
        let column = position.character as usize;
        let length =
            slice.len_chars() - slice.chars_at(slice.len_chars()).reversed().take_while(|c| is_end(*c)).count();
        let chars = match self {
            Self::Utf8 => slice.byte_to_char(column.min(slice.len_bytes())),
            Self::Utf16 => slice.utf16_cu_to_char(column.min(slice.len_utf16_cu())),
            Self::Utf32 => column,
        };
        text.char_to_byte(start + chars.min(length))
    }

    /// The position of a byte offset.
    pub fn position(self, text: &Rope, offset: usize) -> Position {
        let offset = offset.min(text.len_bytes());
        let line = text.byte_to_line(offset);
        let start = text.line_to_char(line);
        let at = text.byte_to_char(offset);
        let character = match self {
            Self::Utf8 => text.char_to_byte(at) - text.char_to_byte(start),
            Self::Utf16 => text.char_to_utf16_cu(at) - text.char_to_utf16_cu(start),
            Self::Utf32 => at - start,
        };
        Position { line: line as u32, character: character as u32 }
    }

    /// The positions of a stretch of bytes.
    pub fn range(self, text: &Rope, start: usize, end: usize) -> Range {
        Range { start: self.position(text, start), end: self.position(text, end.max(start)) }
    }

    /// Replaces a stretch of text, or all of it.
    pub fn replace(self, text: &mut Rope, range: Option<Range>, with: &str) -> Vec<Edit> {
        let Some(range) = range else {
            let edits = Edit::between(&text.to_string(), with);
            *text = Rope::from_str(with);
            return edits;
        };
        let start = self.offset(text, range.start);
        let end = self.offset(text, range.end).max(start);
        let (from, to) = (text.byte_to_char(start), text.byte_to_char(end));
        text.remove(from..to);
        text.insert(from, with);
        vec![Edit { start, removed: end - start, inserted: with.len() }]
    }
}

fn is_end(c: char) -> bool {
    c == '\n' || c == '\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "é😀x\r\ny\rz\u{2028}w\n";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_what_was_agreed_on() {
        let text = Rope::from_str(TEXT);
        let x = TEXT.find('x').unwrap();
        assert_eq!(Encoding::Utf8.position(&text, x), at(0, 6));
        assert_eq!(Encoding::Utf16.position(&text, x), at(0, 3));
        assert_eq!(Encoding::Utf32.position(&text, x), at(0, 2));
        for (offset, _) in TEXT.char_indices().filter(|(at, _)| !TEXT[..*at].ends_with('\r')) {
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let position = encoding.position(&text, offset);
                assert_eq!(encoding.offset(&text, position), offset, "{encoding:?} {offset} {position:?}");
            }
        }
    }

    #[test]
    fn only_three_line_ends_end_lines() {
        let text = Rope::from_str(TEXT);
        assert_eq!(text.len_lines(), 4);
        assert_eq!(Encoding::Utf16.position(&text, TEXT.find('w').unwrap()), at(2, 2));
    }

    #[test]
    fn positions_outside_go_to_the_nearest_end() {
        let text = Rope::from_str(TEXT);
        assert_eq!(Encoding::Utf16.offset(&text, at(0, 99)), TEXT.find('\r').unwrap());
        assert_eq!(Encoding::Utf16.offset(&text, at(99, 0)), TEXT.len());
        // In the middle of a character: before it.
        assert_eq!(Encoding::Utf8.offset(&text, at(0, 1)), 0);
        assert_eq!(Encoding::Utf16.offset(&text, at(0, 2)), 2);
    }

    #[test]
    fn an_edit_after_an_emoji_hits_the_right_place() {
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)] {
            let mut text = Rope::from_str(TEXT);
            let range = Range { start: at(0, column), end: at(0, column + 1) };
            let edits = encoding.replace(&mut text, Some(range), "new");
            assert_eq!(text.to_string(), TEXT.replace('x', "new"), "{encoding:?}");
            assert_eq!(edits, [Edit { start: 6, removed: 1, inserted: 3 }]);
        }
    }
}
