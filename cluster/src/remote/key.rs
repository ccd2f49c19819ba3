//! The key that the machines of a search share: 32 random bytes, in a file that only its owner can read.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

const BYTES: usize = 32;
/// No key file is longer than this.
const FILE_BYTES_MAX: u64 = 1024;

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; BYTES]);

/// It is not shown to anybody.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// A key that everybody has, for connections that do not leave the machine.
    pub const PUBLIC: Self = Self([0; BYTES]);

    /// Reads the key in a file.
    ///
    /// # Errors
    /// Why it cannot be used, in a sentence.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let failed = |error: io::Error| format!("cannot read the key in {shown}: {error}");
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(format!("cannot read the key in {shown}: it is not an ordinary file"));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(format!("other users can read the key in {shown}: run `chmod 600 {shown}`"));
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        let key = parse(text.trim()).ok_or_else(|| {
            format!(
                "there is no key in {shown}: expected 64 hexadecimal digits, as `fabius worker --make-key` writes them"
            )
        })?;
        if key == Self::PUBLIC {
            return Err(format!("the key in {shown} is zero, which is no secret"));
        }
        Ok(key)
    }

    /// Writes a new random key to a file that must not exist yet.
    ///
    /// # Errors
    /// Why it cannot be written, in a sentence.
    pub fn make(path: &Path) -> Result<(), String> {
        let failed = |error: String| format!("cannot write a key to {}: {error}", path.display());
        let bytes: [u8; BYTES] = random().map_err(|error| failed(error.to_string()))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).chain(["\n".to_owned()]).collect();
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let written = file.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|error| failed(error.to_string()))
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

/// Random bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn parse(text: &str) -> Option<Key> {
    if text.len() != 2 * BYTES || !text.is_ascii() {
        return None;
    }
    let mut key = [0; BYTES];
    for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = (digit(digits[0])? * 16 + digit(digits[1])?) as u8;
    }
    Some(Key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;

    /// A folder that is removed in the end.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("fabius-key-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder");
            Self(folder)
        }

        fn file(&self, text: &str, mode: u32) -> std::path::PathBuf {
            let path = self.0.join("key");
            std::fs::write(&path, text).expect("a file");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("permissions");
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_that_was_made_is_read_and_no_file_is_overwritten() {
        let folder = Folder::new("made");
        let (one, other) = (folder.0.join("one"), folder.0.join("other"));
        Key::make(&one).expect("a key");
        Key::make(&other).expect("a key");
        let key = Key::read(&one).expect("a key");
        assert_ne!(key, Key::read(&other).expect("a key"));
        let refused = Key::make(&one).expect_err("it exists");
        assert!(refused.contains("cannot write a key"), "{refused}");
        assert_eq!(Key::read(&one), Ok(key));
        assert_eq!(std::fs::metadata(&one).expect("a file").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_key_or_no_secret_is_refused() {
        let folder = Folder::new("refused");
        let good = "0123456789abcdefABCDEF00000000000000000000000000000000000000ffff";
        assert!(Key::read(&folder.file(good, 0o600)).is_ok());
        assert!(Key::read(&folder.file(&format!("{good}\n"), 0o400)).is_ok());
        for (text, mode, why) in [
            (good, 0o640, "chmod 600"),
            (good, 0o604, "chmod 600"),
            (&good[1..], 0o600, "64 hexadecimal digits"),
            ("", 0o600, "64 hexadecimal digits"),
            (&good.replace('f', "g"), 0o600, "64 hexadecimal digits"),
            (&"ä".repeat(32), 0o600, "64 hexadecimal digits"),
            (&"0".repeat(64), 0o600, "no secret"),
        ] {
            let refused = Key::read(&folder.file(text, mode)).expect_err(text);
            assert!(refused.contains(why), "{refused}");
        }
        assert!(Key::read(&folder.0).expect_err("a folder").contains("ordinary file"));
        assert!(Key::read(&folder.0.join("none")).expect_err("no file").contains("cannot read the key"));
    }
}
