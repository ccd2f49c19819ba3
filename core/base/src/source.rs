//! Files, spans, and the way back from expanded text to what the user wrote.
//!
//! A [`Span`] names a stretch of a file *as it was written*: for a token that came out of a macro
//! body it points into the macro's definition, and `via` leads to the place of the call, which may
//! itself have come from a macro, and so on until the user's own text is reached.

use std::fmt;
use std::sync::Arc;

/// A file known to a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId(pub u32);

/// An expansion known to a [`SourceMap`]; [`ExpansionId::NONE`] for text that stands as written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// Text that came out of no macro and no inline call.
    pub const NONE: Self = Self(0);
}

/// A stretch of text: byte offsets `start..end` in one file, and the expansion it came through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// The file that holds the text.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// How the text came to be here.
    pub via: ExpansionId,
}

impl Span {
    /// A span of text that stands as written.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end, via: ExpansionId::NONE }
    }

    /// The smallest span that covers both, if both came the same way; else `self`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file == other.file && self.via == other.via {
            Self { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
        } else {
            self
        }
    }
}

/// What kind of call an [`Expansion`] records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExpansionKind {
    /// A `#define` used in text.
    Macro,
    /// A call of an `inline`.
    Inline,
}

/// One use of a macro or one call of an `inline`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expansion {
    /// Macro or inline.
    pub kind: ExpansionKind,
    /// The name that was called.
    pub name: Arc<str>,
    /// Where it was called.
    pub call: Span,
}

/// One file of source text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name to show: a path as the user gave it, or a word such as `<command line>`.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Byte offset of the first byte of each line.
    line_starts: Vec<u32>,
    /// What directives say about where lines come from, in the order of the text.
    line_markers: Vec<LineMarker>,
}

/// What a directive such as `#line 33 "a.src"` says about the lines that follow.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LineMarker {
    /// The first line that it is about, from 1.
    from: u32,
    /// The line of the original from which that comes, from 1.
    line: u32,
    /// The original; `None` for the same one as before.
    file: Option<Arc<str>>,
}

/// The place of an original text from which generated text comes, as a `#line` directive says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Original {
    /// The name of the file, as the directive writes it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Original {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A place that a person can find: 1-based line and column (the column counts characters).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// All files of one model, and all expansions that happened while it was read.
#[derive(Clone, Debug)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self::new()
    }
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        let none = Expansion { kind: ExpansionKind::Macro, name: "".into(), call: Span::default() };
        Self { files: Vec::new(), expansions: vec![none] }
    }

    /// Adds a file and returns its name in this map.
    pub fn add_file(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { name: name.into(), text, line_starts, line_markers: Vec::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// Records a directive that says where the lines after it come from: at this offset of a file, the next line is line `line` of `original`,
    /// or of the same original as before.
    pub fn add_line_marker(&mut self, file: FileId, offset: u32, line: u32, original: Option<Arc<str>>) {
        let from = self.line_column(file, offset).0 + 1;
        let markers = &mut self.files[file.0 as usize].line_markers;
        // A file that is included again says the same again.
        if let Err(at) = markers.binary_search_by_key(&from, |marker| marker.from) {
            markers.insert(at, LineMarker { from, line, file: original });
        }
    }

    /// Where the first byte of [`Self::user_span`] comes from, if a directive says that it was generated from another place.
    pub fn original(&self, span: Span) -> Option<Original> {
        let shown = self.user_span(span);
        let file = self.file(shown.file);
        if file.line_markers.is_empty() {
            return None;
        }
        let line = self.line_column(shown.file, shown.start).0;
        let before = &file.line_markers[..file.line_markers.partition_point(|marker| marker.from <= line)];
        let marker = before.last()?;
        let name = before.iter().rev().find_map(|marker| marker.file.as_ref()).unwrap_or(&file.name);
        let original = Original { file: name.clone(), line: marker.line.saturating_add(line - marker.from) };
        let is_elsewhere = original.file != file.name || original.line != line;
        // A preprocessor writes `<built-in>` where no file is meant.
        (is_elsewhere && !name.starts_with('<')).then_some(original)
    }

    /// Records an expansion.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32 - 1)
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The file behind an id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// How many expansions were recorded.
    pub fn expansion_count(&self) -> usize {
        self.expansions.len() - 1
    }

    /// The expansion behind an id; `None` for [`ExpansionId::NONE`].
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        (id != ExpansionId::NONE).then(|| &self.expansions[id.0 as usize])
    }

    /// The text of a span as it stands in its file.
    pub fn text(&self, span: Span) -> &str {
        let file = self.file(span.file);
        file.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Walks from a span through every expansion to the text the user wrote, innermost first.
    pub fn expansion_chain(&self, span: Span) -> Vec<&Expansion> {
        let mut chain = Vec::new();
        let mut via = span.via;
        while let Some(expansion) = self.expansion(via) {
            chain.push(expansion);
            via = expansion.call.via;
        }
        chain
    }

    /// The place to show first: text out of a macro is shown where the macro was used, text of an
    /// `inline` body where it stands in the body.
    pub fn user_span(&self, span: Span) -> Span {
        let mut shown = span;
        while let Some(expansion) = self.expansion(shown.via) {
            if expansion.kind == ExpansionKind::Inline {
                break;
            }
            shown = expansion.call;
        }
        shown
    }

    /// Line and column of the first byte of [`Self::user_span`].
    pub fn position(&self, span: Span) -> Position {
        let shown = self.user_span(span);
        let (line, column) = self.line_column(shown.file, shown.start);
        Position { file: self.file(shown.file).name.clone(), line, column }
    }

    /// 1-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, file: FileId, offset: u32) -> (u32, u32) {
        let file = self.file(file);
        let line = file.line_starts.partition_point(|&start| start <= offset).max(1) - 1;
        let start = file.line_starts[line] as usize;
        let end = (offset as usize).clamp(start, file.text.len());
        let column = file.text.as_bytes()[start..end].iter().filter(|b| (**b & 0xC0) != 0x80).count();
        (line as u32 + 1, column as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_out_of_a_macro_is_shown_where_the_macro_was_used() {
        let mut map = SourceMap::new();
        let file = map.add_file("a.pml", "#define N 3\nx = N;\n");
        let call = Span::new(file, 16, 17);
        let via = map.add_expansion(Expansion { kind: ExpansionKind::Macro, name: "N".into(), call });
        let three = Span { via, ..Span::new(file, 10, 11) };
        assert_eq!(map.text(three), "3");
        assert_eq!(map.position(three).to_string(), "a.pml:2:5");
    }

    #[test]
    fn lines_after_a_marker_come_from_another_file() {
        let mut map = SourceMap::new();
        let file = map.add_file("a.pml", "x\n#line 33 \"a.src\"\ny\n\nz\n#line 7\nw\n# 1 \"<built-in>\"\nv\n");
        map.add_line_marker(file, 38, 1, Some("<built-in>".into()));
        map.add_line_marker(file, 3, 33, Some("a.src".into()));
        map.add_line_marker(file, 25, 7, None);
        map.add_line_marker(file, 3, 33, Some("a.src".into()));
        let text = map.file(file).text.clone();
        let told = |word: &str| {
            let at = text.rfind(word).expect("the word is there") as u32;
            map.original(Span::new(file, at, at + 1)).map(|original| original.to_string())
        };
        assert_eq!(told("x"), None);
        assert_eq!(told("y").as_deref(), Some("a.src:33"));
        assert_eq!(told("z").as_deref(), Some("a.src:35"));
        assert_eq!(told("w").as_deref(), Some("a.src:7"));
        assert_eq!(told("v"), None);
    }

    #[test]
    fn columns_count_characters() {
        let mut map = SourceMap::new();
        let file = map.add_file("a.pml", "/* é */ x\n");
        assert_eq!(map.line_column(file, 9), (1, 9));
    }
}
