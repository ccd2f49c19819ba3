//! Text on the disk, as models see it: how it is read, where an included file is to be found, and which files are models.

use fabius_task::languages::{included_endings, model_endings};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A longer file is not a model that a person wrote, and offsets are 32 bits wide.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads a whole file as text; bytes that are not UTF-8 become U+FFFD. Pipes are read to their end.
///
/// # Errors
/// If there is no such file, if it cannot be read, or if it is too large.
pub fn read(path: &Path) -> Result<String, String> {
    if path.is_dir() {
        return Err("is a directory".to_owned());
    }
    File::open(path).and_then(read_text).map_err(|error| sentence(&error))
}

/// As [`read`], but of an ordinary file only: a pipe may never say anything, and a device may never end.
///
/// # Errors
/// As [`read`], and if it is not a regular file.
pub fn read_ordinary(path: &Path) -> Result<String, String> {
    let data = std::fs::metadata(path).map_err(|error| sentence(&error))?;
    if !data.is_dir() && !data.is_file() {
        return Err("not a regular file".to_owned());
    }
    read(path)
}

/// Reads standard input to its end.
///
/// # Errors
/// If it cannot be read, or if it is too large.
pub fn read_stdin() -> Result<String, String> {
    read_text(io::stdin().lock()).map_err(|error| sentence(&error))
}

/// Half a sentence that says what is wrong with a file.
fn sentence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

fn read_text(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let text = format!("larger than {} MiB", FILE_BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "UTF-16 text: save it as UTF-8"));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The drawing that belongs to a model, if there is one: `model.pml.svg` beside `model.pml`.
pub fn picture_of(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".svg");
    PathBuf::from(name)
}

/// Where an included file is to be found: beside the file that includes it.
pub fn beside(including: &Path, included: &str) -> PathBuf {
    match including.parent() {
        Some(folder) => folder.join(included),
        None => PathBuf::from(included),
    }
}

/// A path without `.` and `..` in it, as far as that is possible without asking the disk.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            // Nothing is above the root.
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Whether a file is called like a part of a model.
pub fn is_part(path: &Path) -> bool {
    is_model(path) || path.extension().is_some_and(|ending| included_endings().any(|known| ending == known))
}

/// Whether a file is called like a model.
pub fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|ending| model_endings().any(|known| ending == known))
}

/// The files among files and folders, and in folders inside of these, that are wanted, in order; hidden ones are left out, as
/// are links to folders. `max`: where there are more, some of these.
pub fn below(paths: &[PathBuf], wanted: impl Fn(&Path) -> bool, max: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = paths.to_vec();
    while let Some(path) = waiting.pop().filter(|_| found.len() < max) {
        if path.is_dir() && !path.is_symlink() {
            let inside = std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
            waiting.extend(inside.filter(|inner| {
                let hidden = inner.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                !hidden && (inner.is_dir() || wanted(inner))
            }));
        } else if path.is_file() {
            // Called as a model that includes it would call it.
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            found.push(plain(&beside(&path, &file)));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_included_file_is_looked_for_beside_the_including_one() {
        assert_eq!(beside(Path::new("a/b.pml"), "c.h"), Path::new("a/c.h"));
        assert_eq!(beside(Path::new("b.pml"), "../c.h"), Path::new("../c.h"));
        assert_eq!(beside(Path::new("a/b.pml"), "/c.h"), Path::new("/c.h"));
    }

    #[test]
    fn a_plain_path_goes_no_detour() {
        assert_eq!(plain(Path::new("/a/x/../c.h")), Path::new("/a/c.h"));
        assert_eq!(plain(Path::new("/a/./d/c.h")), Path::new("/a/d/c.h"));
        assert_eq!(plain(Path::new("../../c.h")), Path::new("../../c.h"));
        assert_eq!(plain(Path::new("/../c.h")), Path::new("/c.h"));
    }

    #[test]
    fn the_extension_knows_the_same_endings() {
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../vscode-extension/package.json")).expect("JSON");
        let listed = manifest["contributes"]["languages"][0]["extensions"].as_array().expect("a list");
        let listed: Vec<&str> = listed.iter().filter_map(|ending| ending.as_str()?.strip_prefix('.')).collect();
        assert_eq!(listed, model_endings().collect::<Vec<_>>());
    }

    #[test]
    fn a_model_is_known_by_its_ending() {
        assert!(is_model(Path::new("a/b.spin")) && is_model(Path::new("b.pml")));
        assert!(!is_model(Path::new("pml")) && !is_model(Path::new("a.pml.trail")));
    }

    #[test]
    #[cfg(unix)]
    fn devices_and_folders_are_no_ordinary_files() {
        assert_eq!(read_ordinary(Path::new("/dev/zero")), Err("not a regular file".to_owned()));
        assert_eq!(read_ordinary(Path::new("/")), Err("is a directory".to_owned()));
    }

    #[test]
    fn text_in_utf_16_is_named_as_such() {
        for bytes in [&b"\xff\xfei\0n\0i\0t\0"[..], &b"\xfe\xff\0i\0n\0i\0t"[..]] {
            let error = read_text(bytes).expect_err("not UTF-8");
            assert!(error.to_string().contains("UTF-16"), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_read_all_the_same() {
        assert_eq!(read_text(&b"a\xffb"[..]).ok().as_deref(), Some("a\u{fffd}b"));
    }
}
