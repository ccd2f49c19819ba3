//! Where the states of a partition came from, in a file.
//!
//! Eight bytes for each state are written once and read only when there is a violation to lead to, so they need not take memory. The
//! file has no name, and is gone with the process. What cannot be written, since the disk is full, stays in memory.

use fabius_search::partition::Ways;
use std::env;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const ENTRY_BYTES: usize = size_of::<u64>();
/// So many entries are kept in memory until they are written together.
const ENTRIES: usize = 1 << 16;

/// A log of [`Ways`].
pub(crate) struct WayLog {
    /// Where old entries are; `None` if there is none yet, or none any more can be written.
    file: Option<File>,
    /// Entries in the file.
    written: u64,
    /// Those that came after them.
    recent: Vec<u64>,
    /// Whether entries can still be written.
    is_writable: bool,
}

impl WayLog {
    /// An empty one; it makes its file when it needs it.
    pub(crate) fn new() -> Self {
        Self { file: None, written: 0, recent: Vec::new(), is_writable: true }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.recent.len() as u64
    }

    /// Moves the recent entries to the file.
    fn write(&mut self) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(folder())?),
        };
        let bytes: Vec<u8> = self.recent.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        file.write_all_at(&bytes, self.written * ENTRY_BYTES as u64)?;
        self.written += self.recent.len() as u64;
        self.recent.clear();
        Ok(())
    }
}

/// Where large files go that nobody keeps: what `TMPDIR` says, or else a folder that is on a disk.
fn folder() -> PathBuf {
    let on_disk = Path::new("/var/tmp");
    match env::var_os("TMPDIR") {
        None if on_disk.is_dir() => on_disk.to_owned(),
        _ => env::temp_dir(),
    }
}

impl Ways for WayLog {
    fn push(&mut self, packed: u64) -> bool {
        self.recent.push(packed);
        if self.is_writable && ENTRIES <= self.recent.len() {
            // Nothing is lost if it fails.
            self.is_writable = self.write().is_ok();
        }
        true
    }

    fn get(&mut self, number: u64) -> Option<u64> {
        if let Some(index) = number.checked_sub(self.written) {
            return self.recent.as_slice().get(usize::try_from(index).ok()?).copied();
        }
        let mut bytes = [0; ENTRY_BYTES];
        self.file.as_ref()?.read_exact_at(&mut bytes, number * ENTRY_BYTES as u64).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    fn read(&mut self, first: u64, entries: &mut [u64]) -> bool {
        let in_file = self.written.saturating_sub(first).min(entries.len() as u64) as usize;
        let (old, recent) = entries.split_at_mut(in_file);
        if !old.is_empty() {
            let mut bytes = vec![0; old.len() * ENTRY_BYTES];
            let read = self.file.as_ref().map(|file| file.read_exact_at(&mut bytes, first * ENTRY_BYTES as u64));
            if !matches!(read, Some(Ok(()))) {
                return false;
            }
            old.iter_mut().zip(bytes.as_chunks().0).for_each(|(entry, bytes)| *entry = u64::from_le_bytes(*bytes));
        }
        let start = (first + in_file as u64).saturating_sub(self.written) as usize;
        let Some(known) = self.recent.as_slice().get(start..start + recent.len()) else { return recent.is_empty() };
        recent.copy_from_slice(known);
        true
    }

    fn memory_bytes(&self) -> u64 {
        (self.recent.capacity() * ENTRY_BYTES) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64) -> u64 {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn filled(mut log: WayLog, entries: u64) -> WayLog {
        assert!((0..entries).all(|number| log.push(entry(number))));
        for number in (0..entries).step_by(97).chain([entries - 1]) {
            assert_eq!(log.get(number), Some(entry(number)), "{number} of {entries}");
        }
        assert_eq!(log.get(entries), None);
        for (first, count) in [(0, entries), (entries / 2, entries - entries / 2), (entries - 1, 1), (entries, 0)] {
            let mut read = vec![0; count as usize];
            assert!(log.read(first, &mut read), "{first} of {entries}");
            assert!(read.iter().zip(first..).all(|(read, number)| *read == entry(number)), "{first} of {entries}");
            assert!(!log.read(first, &mut vec![0; count as usize + 1]), "{first} of {entries}");
        }
        log
    }

    #[test]
    fn what_was_written_is_read_and_memory_does_not_grow() {
        const FULL: u64 = ENTRIES as u64;
        for entries in [1, FULL - 1, FULL, FULL + 1, 5 * FULL + 7] {
            let log = filled(WayLog::new(), entries);
            assert!(log.memory_bytes() <= 2 * FULL * 8, "{}", log.memory_bytes());
            assert_eq!(log.written, entries / FULL * FULL);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_full_disk_does_not_take_stays_in_memory() {
        let full = File::options().read(true).write(true).open("/dev/full").expect("a full device");
        let log = filled(WayLog { file: Some(full), ..WayLog::new() }, 3 * ENTRIES as u64);
        assert_eq!((log.written, log.recent.len()), (0, 3 * ENTRIES));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_written_before_the_disk_was_full_is_read_from_it() {
        let log = filled(WayLog::new(), ENTRIES as u64 + 5);
        let mut log = WayLog { is_writable: false, ..log };
        let entries = 3 * ENTRIES as u64;
        assert!((ENTRIES as u64 + 5..entries).all(|number| log.push(entry(number))));
        assert!((0..entries).step_by(101).all(|number| log.get(number) == Some(entry(number))));
    }
}
