//! Standard output, and what happens when it cannot be written.
//!
//! A reader that has gone away is no error: the exit code still says what was found. Anything else, such as a full disk, is.

use crate::exit;
use serde::Serialize;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

/// Says on standard error what must not disturb the output.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Writes to standard output, all of it; returns the exit code.
pub fn print(bytes: &[u8]) -> u8 {
    let mut out = io::stdout().lock();
    code(unless_closed(out.write_all(bytes).and_then(|()| out.flush())))
}

/// What is left of the result of a write: that the reader has gone away does not matter.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// The exit code after a write, and a message if it failed.
pub fn code(written: io::Result<()>) -> u8 {
    match written {
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("error: the output cannot be written: {error}"));
            exit::FAULTY
        }
    }
}

/// Reports as one document: a single one as it is, several as a list.
///
/// # Errors
/// If that is not possible.
pub fn document<'a, R: Serialize + 'a>(reports: impl Iterator<Item = &'a R>, alone: bool) -> io::Result<String> {
    let reports: Vec<&R> = reports.collect();
    let text = match reports.as_slice() {
        [report] if alone => serde_json::to_string_pretty(report),
        reports => serde_json::to_string_pretty(reports),
    }?;
    Ok(text + "\n")
}

/// Standard output without the lock and the buffer of the usual one: whoever holds those may wait for ever.
///
/// # Errors
/// If the system does not give another handle to it.
pub fn unlocked() -> io::Result<File> {
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(handle))
}
