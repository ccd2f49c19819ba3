//! Files as models see them: text on the disk, and where an included file is to be found.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A longer file is not a model that a person wrote, and offsets are 32 bits wide.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads a whole file as text; bytes that are not UTF-8 become U+FFFD. `None` if it cannot be read.
pub fn read(path: &Path) -> Option<String> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
    let mut bytes = Vec::new();
    let read: io::Result<usize> = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() as u64 > FILE_BYTES_MAX {
        return None;
    }
    Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Where an included file is to be found: beside the file that includes it.
pub fn beside(including: &str, included: &str) -> PathBuf {
    match Path::new(including).parent() {
        Some(folder) => plain(&folder.join(included)),
        None => PathBuf::from(included),
    }
}

/// A path without `.` and `..` in it, as far as that is possible without asking the disk.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_included_file_is_looked_for_beside_the_including_one() {
        assert_eq!(beside("/a/b.pml", "c.h"), Path::new("/a/c.h"));
        assert_eq!(beside("/a/x/b.pml", "../c.h"), Path::new("/a/c.h"));
        assert_eq!(beside("/a/b.pml", "./d/c.h"), Path::new("/a/d/c.h"));
        assert_eq!(beside("../b.pml", "../c.h"), Path::new("../../c.h"));
    }
}
