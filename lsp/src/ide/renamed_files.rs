//! What files say about each other's names when some of them get others.

use fabius_project::files;
use fabius_task::languages::language_of;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Files and folders that get other names: the old one and the new one of each.
#[derive(Clone, Debug, Default)]
pub struct RenamedFiles(pub Vec<(PathBuf, PathBuf)>);

impl RenamedFiles {
    /// The name of a file afterwards.
    fn after(&self, file: &Path) -> PathBuf {
        let moved = self.0.iter().find_map(|(old, new)| {
            let inside = file.strip_prefix(old).ok()?;
            Some(if inside.as_os_str().is_empty() { new.clone() } else { new.join(inside) })
        });
        moved.unwrap_or_else(|| file.to_owned())
    }

    /// The directives of a file that have to name another file then, each with the bytes of the name and the new name. `exists`
    /// says whether there is such a file now: what was not found before stays as it is.
    pub fn edits(&self, file: &Path, text: &str, exists: &dyn Fn(&Path) -> bool) -> Vec<(Range<usize>, String)> {
        let file_after = self.after(file);
        let one = |range: Range<usize>| {
            let name = text.get(range.clone())?;
            let target = files::plain(&files::beside(file, name));
            let target_after = self.after(&target);
            let found_after = files::plain(&files::beside(&file_after, name));
            if found_after == target_after || !exists(&target) {
                return None;
            }
            let is_absolute = Path::new(name).is_absolute();
            let new = if is_absolute { target_after } else { relative(file_after.parent()?, &target_after) };
            let new = new.to_str().filter(|new| !new.contains(['"', '\n']))?;
            Some((range, if cfg!(windows) { new.replace('\\', "/") } else { new.to_owned() }))
        };
        let language = language_of(&file.display().to_string());
        language.editing().includes(text).into_iter().filter_map(one).collect()
    }
}

/// The way from a folder to a file.
fn relative(folder: &Path, file: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(moves: &[(&str, &str)], file: &str, text: &str) -> Vec<String> {
        let renamed = RenamedFiles(moves.iter().map(|(old, new)| (old.into(), new.into())).collect());
        let exists = |path: &Path| path != Path::new("/m/missing.h");
        renamed
            .edits(Path::new(file), text, &exists)
            .into_iter()
            .map(|(range, new)| format!("{} -> {new}", &text[range]))
            .collect()
    }

    #[test]
    fn a_file_that_is_included_gets_another_name() {
        let text = "#include \"a.h\"\n/* #include \"a.h\" */\n#if 0\n#include <lib/../a.h>\n#endif\n#include \"b.h\"\n";
        assert_eq!(edits(&[("/m/a.h", "/m/lib/c.h")], "/m/x.pml", text), ["a.h -> lib/c.h", "lib/../a.h -> lib/c.h"]);
        assert_eq!(edits(&[("/m/a.h", "/n/a.h")], "/m/x.pml", "#include \"a.h\""), ["a.h -> ../n/a.h"]);
        assert_eq!(edits(&[("/m/a.h", "/n/a.h")], "/m/x.pml", "#include \"/m/a.h\""), ["/m/a.h -> /n/a.h"]);
    }

    #[test]
    fn a_file_that_includes_others_moves() {
        let text = "#include \"a.h\"\n#include \"missing.h\"\n#include \"/m/a.h\"\n";
        assert_eq!(edits(&[("/m/x.pml", "/m/models/x.pml")], "/m/x.pml", text), ["a.h -> ../a.h"]);
        assert_eq!(edits(&[("/m/x.pml", "/m/y.pml")], "/m/x.pml", text), [""; 0]);
    }

    #[test]
    fn a_folder_moves_as_a_whole() {
        let moves = [("/m/lib", "/m/parts")];
        assert_eq!(edits(&moves, "/m/x.pml", "#include \"lib/a.h\""), ["lib/a.h -> parts/a.h"]);
        assert_eq!(edits(&moves, "/m/lib/x.pml", "#include \"a.h\"\n#include \"../b.h\""), [""; 0]);
        assert_eq!(edits(&moves, "/m/library/x.pml", "#include \"a.h\""), [""; 0]);
    }

    #[test]
    fn several_files_move_at_once() {
        let moves = [("/m/x.pml", "/n/x.pml"), ("/m/a.h", "/n/a.h")];
        assert_eq!(edits(&moves, "/m/x.pml", "#include \"a.h\"\n#include \"b.h\""), ["b.h -> ../m/b.h"]);
    }
}
