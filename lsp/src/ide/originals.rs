//! Where a generated model comes from: the files that `#line` directives name, if they are there.

use super::place::View;
use super::questions::line_of;
use fabius_base::{SourceMap, Span};
use fabius_project::originals;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The files of no more names than this are looked for.
const NAMES_MAX: usize = 100;

/// A line of an original text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OriginalPlace {
    /// The path of the file.
    pub file: String,
    /// The line, from 1. The file may have fewer.
    pub line: u32,
    /// The place in the words of the directive, such as `a.src:33`.
    pub words: String,
}

/// From which line the text of a span was generated, if that file is there.
pub fn place(map: &SourceMap, span: Span) -> Option<OriginalPlace> {
    let original = map.original(span)?;
    // A text that is in no file is in no folder.
    let holder = map.file(map.user_span(span).file);
    let is_file = Path::new(&*holder.name).is_absolute();
    let (file, line) = is_file.then(|| originals::place(map, span))??;
    Some(OriginalPlace { file: file.display().to_string(), line, words: original.to_string() })
}

/// The directives of a file, each with the line from which the text after it comes, if that file is there.
pub fn links(view: View<'_>) -> Vec<(Range<usize>, OriginalPlace)> {
    let map = view.reading.map();
    let holder = Path::new(&*map.file(view.file).name);
    if !holder.is_absolute() {
        return Vec::new();
    }
    let mut files: BTreeMap<Arc<str>, Option<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for originals::Directive { range, original } in originals::directives(map, view.file) {
        if !files.contains_key(&original.file) && NAMES_MAX <= files.len() {
            continue;
        }
        let look = || originals::find(holder, &original.file).map(|path| path.display().to_string());
        let file = files.entry(original.file.clone()).or_insert_with(look).clone();
        let words = original.to_string();
        found.extend(file.map(|file| (range, OriginalPlace { file, line: original.line, words })));
    }
    found
}

/// The line of an original at a byte of a file: at a directive the one that it names, elsewhere the one from which the line of the
/// byte comes.
pub fn at(view: View<'_>, byte: usize) -> Option<OriginalPlace> {
    let line = line_of(view.text(), byte);
    let named = links(view).into_iter().find(|(range, _)| line.start <= range.start && range.end <= line.end);
    let here = u32::try_from(byte).ok()?;
    named.map(|(_, place)| place).or_else(|| place(view.reading.map(), Span::new(view.file, here, here)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    /// A model generated from a file that is there, and from one that is not; marks as in [`Fixture`].
    fn text(folder: &Path) -> String {
        let there = folder.join("there.src").display().to_string();
        let missing = folder.join("missing.src").display().to_string();
        format!(
            "byte x;\n/*~first*/\n#line 3 \"{there}\"\nactive proctype P() {{\n/*~inside*/ x = 1;\n\
             # 8 \"{missing}\"\n/*~missing*/ x = 2;\n#line 4000000000 \"{there}\"\n/*~far*/ x = 3\n}}\n"
        )
    }

    #[test]
    fn directives_and_lines_lead_to_files_that_are_there() {
        let folder = std::env::temp_dir().join(format!("fabius-lsp-originals-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("there.src"), "one\n").expect("a file");
        let text = text(&folder);
        let fixture = Fixture::new(&text);
        let view = fixture.view();
        let there = folder.join("there.src").display().to_string();
        let told: Vec<(&str, &str, u32)> = links(view)
            .iter()
            .map(|(range, place)| (&text[range.clone()], if place.file == there { "there" } else { "?" }, place.line))
            .collect();
        let directive = |line: u32| format!("#line {line} \"{there}\"");
        assert_eq!(told, [(&*directive(3), "there", 3), (&*directive(4_000_000_000), "there", 4_000_000_000)]);
        let line = |mark: &str| at(view, fixture.mark(mark)).map(|place| place.line);
        assert_eq!(line("~first"), None);
        assert_eq!(line("~inside"), Some(4));
        assert_eq!(line("~missing"), None);
        assert_eq!(line("~far"), Some(4_000_000_000));
        let directive = text.find("#line 3").expect("the directive") + 4;
        assert_eq!(at(view, directive).map(|place| place.line), Some(3));
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }
}
