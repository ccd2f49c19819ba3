//! Checkpoints on the disk: read, and replaced in one step.

use fabius_engine::is_checkpoint;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As many first bytes of a file say whether it is a checkpoint.
const HEAD_BYTES: u64 = 64;

/// Why a checkpoint was not saved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotSaved {
    /// There is a checkpoint of this name, and nobody said that it may be replaced.
    Exists,
    /// Something else; half a sentence says what.
    Because(String),
}

/// Reads a checkpoint.
///
/// # Errors
/// Why it cannot be read.
pub fn read(path: &Path) -> io::Result<Arc<[u8]>> {
    refuse_other_than_files(path)?;
    Ok(fs::read(path)?.into())
}

/// Saves a checkpoint. Another one of the same name is replaced only if it may be, and what is no checkpoint never is.
///
/// # Errors
/// Why it was not saved.
pub fn save(path: &Path, bytes: &[u8], may_replace: bool) -> Result<(), NotSaved> {
    let because = |error: io::Error| NotSaved::Because(error.to_string());
    refuse_others(path).map_err(because)?;
    if !may_replace && fs::metadata(path).is_ok_and(|there| there.len() > 0) {
        return Err(NotSaved::Exists);
    }
    replace(path, bytes).map_err(because)
}

/// Finds out before a search whether its checkpoint can be written afterwards.
///
/// # Errors
/// Why it cannot.
pub fn try_out(path: &Path) -> io::Result<()> {
    refuse_others(path)?;
    let beside = beside(path);
    File::create(&beside).and_then(|_| fs::remove_file(&beside))
}

/// Replaces a file in one step: whoever reads it finds the old one or the new one, never half of one.
///
/// # Errors
/// Why it cannot be replaced.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// A checkpoint takes the place of what is there: a device or a pipe would be gone.
fn refuse_other_than_files(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let what = if path.is_dir() { "it is a directory" } else { "it is not an ordinary file" };
        return Err(io::Error::other(what));
    }
    Ok(())
}

/// So would a file with something else in it.
fn refuse_others(path: &Path) -> io::Result<()> {
    refuse_other_than_files(path)?;
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    if head.is_empty() || is_checkpoint(&head) {
        return Ok(());
    }
    Err(io::Error::other("a file of this name is there, and it is not a checkpoint"))
}

/// The file that becomes the checkpoint once it is complete.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_testkit::scratch::Scratch;

    #[test]
    fn another_checkpoint_is_replaced_if_it_may_be_and_nothing_else_ever() {
        let scratch = Scratch::new().expect("a folder");
        let model = scratch.write("model.pml", "active proctype P() { skip }").expect("a file");
        let checkpoint = model.with_extension("search");
        assert_eq!(save(&checkpoint, b"fabius checkpoint 1", false), Ok(()));
        assert_eq!(save(&checkpoint, b"fabius checkpoint 2", false), Err(NotSaved::Exists));
        assert_eq!(fs::read(&checkpoint).expect("it is there"), b"fabius checkpoint 1");
        assert_eq!(save(&checkpoint, b"fabius checkpoint 2", true), Ok(()));
        assert_eq!(&*read(&checkpoint).expect("it is there"), b"fabius checkpoint 2");
        for may_replace in [false, true] {
            let Err(NotSaved::Because(why)) = save(&model, b"fabius checkpoint 1", may_replace) else {
                panic!("a model was replaced")
            };
            assert!(why.contains("not a checkpoint"), "{why}");
        }
        assert!(try_out(&model).is_err() && try_out(&checkpoint).is_ok());
        assert!(read(model.parent().expect("a folder")).is_err());
        let left = fs::read_dir(model.parent().expect("a folder")).expect("it can be listed").count();
        assert_eq!(left, 2, "nothing lies about");
    }
}
