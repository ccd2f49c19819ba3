//! Original texts of generated models: the files that directives such as `#line 33 "a.src"` name, found on the disk.
//!
//! A directive may name anything. So only regular files count: a pipe may never say anything, and a device may never end.

use crate::files;
use fabius_base::{FileId, Original, SourceMap, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More directives of a file are not looked at.
const DIRECTIVES_MAX: usize = 5_000;
/// The lines of no more originals than this are read, …
const TEXTS_MAX: usize = 16;
/// … and of none that is larger.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// A longer line is shown up to here.
const LINE_CHARS_MAX: usize = 200;
/// No path is longer.
const NAME_BYTES_MAX: usize = 4_096;

/// A directive that says where the lines after it come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// The bytes of the directive in its file, without blanks around it.
    pub range: Range<usize>,
    /// The place from which the next line comes.
    pub original: Original,
}

/// The directives of a file that name another place, in order; those that were not read, such as in a part that `#if` leaves out,
/// are not among them.
pub fn directives(map: &SourceMap, file: FileId) -> Vec<Directive> {
    let text = &map.file(file).text;
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let next = start + line.len();
        let written = line.trim();
        let range = start + (line.len() - line.trim_start().len());
        start = next;
        let Some((number, name)) = read(written) else { continue };
        let at = u32::try_from(next).unwrap_or(u32::MAX);
        let original = map.original(Span::new(file, at, at));
        // What counts for the next line may be an earlier directive.
        let is_this = |original: &Original| original.line == number && name.is_none_or(|name| *original.file == *name);
        if let Some(original) = original.filter(is_this) {
            found.push(Directive { range: range..range + written.len(), original });
        }
        if found.len() == DIRECTIVES_MAX {
            break;
        }
    }
    found
}

/// The number and the name that a directive writes: `#line 33 "a.src"`, `# 33 "a.src"`, `#line 33`.
fn read(line: &str) -> Option<(u32, Option<&str>)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").map_or(rest, str::trim_start);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    let name = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
    Some((number.parse().ok()?, name))
}

/// The original that a directive in the file `holder` names, beside that file; `None` if there is no regular file of that name.
pub fn find(holder: &Path, name: &str) -> Option<PathBuf> {
    // Two slashes at the beginning can mean another machine.
    let is_usable =
        !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.starts_with("//") && !name.starts_with("\\\\");
    let path = is_usable.then(|| files::plain(&files::beside(holder, name)))?;
    std::fs::metadata(&path).is_ok_and(|data| data.is_file()).then_some(path)
}

/// The file from which the text of a span was generated, and the line, from 1; `None` if no directive says so or there is no such file.
pub fn place(map: &SourceMap, span: Span) -> Option<(PathBuf, u32)> {
    let original = map.original(span)?;
    let holder = map.file(map.user_span(span).file);
    Some((find(Path::new(&*holder.name), &original.file)?, original.line))
}

/// The lines of the originals of a model, as they were when it was read.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    /// By the file with the directive and the name that the directive writes.
    texts: BTreeMap<(FileId, Arc<str>), String>,
}

impl Originals {
    /// Reads what the directives of a model name, as far as it can be read and is not too large.
    pub fn of(map: &SourceMap) -> Self {
        let mut texts = BTreeMap::new();
        let mut tried = std::collections::BTreeSet::new();
        for (file, holder) in map.files() {
            for Directive { original, .. } in directives(map, file) {
                if TEXTS_MAX <= tried.len() || !tried.insert((file, original.file.clone())) {
                    continue;
                }
                let path = find(Path::new(&*holder.name), &original.file);
                let is_small = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|data| data.len() <= TEXT_BYTES_MAX);
                let text = path.filter(is_small).and_then(|path| files::read_ordinary(&path).ok());
                texts.extend(text.map(|text| ((file, original.file), text)));
            }
        }
        Self { texts }
    }

    /// The line from which the text of a span was generated, without blanks around it; `None` if it is not known or empty.
    pub fn line(&self, map: &SourceMap, span: Span) -> Option<String> {
        let original = map.original(span)?;
        let text = self.texts.get(&(map.user_span(span).file, original.file))?;
        let line = text.lines().nth((original.line as usize).checked_sub(1)?)?.trim();
        let line: String = line.chars().take(LINE_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "byte x;\n#line 2 \"a.src\"\nx\n  # 1 \"none.src\" 3\ny\n#line 4294967295 \"a.src\"\nz\n#line 7\nw\n#line 99 \"a.src\"\nv\n";

    /// A model with the directives of its text, as a preprocessor finds them.
    fn model(holder: &str) -> (SourceMap, FileId) {
        let mut map = SourceMap::new();
        let file = map.add_file(holder, TEXT);
        for (directive, line, name) in [
            ("#line 2 ", 2, Some("a.src")),
            ("# 1 ", 1, Some("none.src")),
            ("#line 42", u32::MAX, Some("a.src")),
            ("#line 7", 7, None),
        ] {
            let at = TEXT.find(directive).expect("the directive is there") as u32;
            map.add_line_marker(file, at, line, name.map(Into::into));
        }
        (map, file)
    }

    fn at(file: FileId, word: &str) -> Span {
        let start = TEXT.find(&format!("\n{word}\n")).expect("the word is there") as u32 + 1;
        Span::new(file, start, start + 1)
    }

    #[test]
    fn directives_that_were_read_are_found() {
        let (map, file) = model("m.pml");
        let found = directives(&map, file);
        let texts: Vec<&str> = found.iter().map(|directive| &TEXT[directive.range.clone()]).collect();
        assert_eq!(texts, ["#line 2 \"a.src\"", "# 1 \"none.src\" 3", "#line 4294967295 \"a.src\"", "#line 7"]);
        assert_eq!(found[3].original.to_string(), "a.src:7");
    }

    #[test]
    fn what_is_no_directive_is_not_read() {
        for (line, expected) in [
            ("# 33 \"a b\" 1 3", Some((33, Some("a b")))),
            ("#line 5", Some((5, None))),
            ("#line", None),
            ("#define N 3", None),
            ("#line 99999999999 \"a\"", None),
            ("x # 3", None),
            ("#3\"open", Some((3, Some("open")))),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn only_regular_files_are_originals() {
        let folder = std::env::temp_dir().join(format!("fabius-originals-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).expect("a folder");
        std::fs::write(folder.join("a.src"), "one\n\ttwo \u{7}2\n").expect("a file");
        let holder = folder.join("m.pml");
        assert_eq!(find(&holder, "a.src"), Some(folder.join("a.src")));
        assert_eq!(find(&holder, "inner/../a.src"), Some(folder.join("a.src")));
        for name in ["", ".", "inner", "none.src", "a.src\0", "/dev/zero", "//host/a.src", "\\\\host\\a.src"] {
            assert_eq!(find(&holder, name), None, "{name:?}");
        }
        let (map, file) = model(&holder.display().to_string());
        assert_eq!(place(&map, at(file, "x")), Some((folder.join("a.src"), 2)));
        assert_eq!(place(&map, at(file, "y")), None);
        let originals = Originals::of(&map);
        assert_eq!(originals.line(&map, at(file, "x")).as_deref(), Some("two  2"));
        for word in ["y", "z", "w"] {
            assert_eq!(originals.line(&map, at(file, word)), None, "{word}");
        }
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_no_original() {
        let folder = std::env::temp_dir().join(format!("fabius-pipes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let made = std::process::Command::new("mkfifo").arg(folder.join("a.src")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo makes a pipe");
        let (map, file) = model(&folder.join("m.pml").display().to_string());
        assert_eq!(place(&map, at(file, "x")), None);
        assert_eq!(Originals::of(&map).line(&map, at(file, "x")), None);
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }
}
