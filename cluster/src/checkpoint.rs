//! What workers keep of a search, on the disk of the process that checks.
//!
//! The checkpoint itself is small. Where the states came from lies beside it, in a file for each worker that only grows:
//! `FILE.1.part-1`, …, and `FILE.2.part-1`, … where a search writes that goes on from there. A checkpoint names its files and how much
//! of them belongs to it, and takes the place of the one before in one step, so at any time there is a whole one. Then the files are
//! removed that only the one before needed.

use fabius_search::partition::Ways;
use fabius_task::pool::{Kept, PartCheckpoint, PoolCheckpoint, StoredPart};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// Bytes of where a state came from.
const ENTRY_BYTES: usize = size_of::<u64>();
/// Entries that are sent at once.
const ENTRIES: usize = 1 << 16;

/// Is told of checkpoints.
pub(crate) type Keep<'k> = dyn FnMut(Kept) + 'k;

/// Writes what workers tell to files beside the one of the checkpoint.
pub(crate) struct Files<'k> {
    /// The checkpoint's.
    path: &'k Path,
    keep: &'k mut Keep<'k>,
    parts: Vec<PartFile>,
    /// Some checkpoint names them.
    are_named: bool,
    /// No more is written.
    has_failed: bool,
}

/// What a worker told.
struct PartFile {
    name: String,
    file: File,
    /// Bytes in the file.
    written: u64,
    sum: Sum,
    /// Checkpoints that some other worker has not told yet, each with the sum so far.
    told: VecDeque<(PartCheckpoint, u64)>,
}

impl<'k> Files<'k> {
    /// Files for so many workers beside the one of the checkpoint.
    pub(crate) fn new(path: &'k Path, keep: &'k mut Keep<'k>, workers: usize) -> Self {
        let mut files = Self { path, keep, parts: Vec::new(), are_named: false, has_failed: false };
        if let Err(error) = files.create(workers) {
            files.fail(&error);
        }
        files
    }

    fn create(&mut self, workers: usize) -> io::Result<()> {
        let run = files_beside(self.path)?.into_iter().map(|(run, _)| run).max().unwrap_or(0) + 1;
        for worker in 1..=workers {
            let name = part_name(self.path, run, worker);
            let file = File::options().write(true).create_new(true).open(self.path.with_file_name(&name))?;
            self.parts.push(PartFile { name, file, written: 0, sum: Sum::default(), told: VecDeque::new() });
        }
        Ok(())
    }

    /// Adds where states of a worker came from.
    pub(crate) fn add(&mut self, worker: usize, entries: &[u8]) {
        if self.has_failed {
            return;
        }
        let part = &mut self.parts[worker];
        part.written += entries.len() as u64;
        part.sum.add(entries);
        if let Err(error) = part.file.write_all(entries) {
            self.fail(&error);
        }
    }

    /// Takes note of the checkpoint of a worker; once all have told theirs, there is one of the search.
    pub(crate) fn told(&mut self, worker: usize, checkpoint: PartCheckpoint) {
        if self.has_failed {
            return;
        }
        let part = &mut self.parts[worker];
        if part.written != checkpoint.snapshot.states() * ENTRY_BYTES as u64 {
            return self.cannot_be_told("a worker told where other states came from");
        }
        part.told.push_back((checkpoint, part.sum.0));
        if self.parts.iter().all(|part| !part.told.is_empty())
            && let Err(error) = self.complete()
        {
            self.fail(&error);
        }
    }

    fn complete(&mut self) -> io::Result<()> {
        let mut parts = Vec::new();
        for part in &mut self.parts {
            part.file.sync_data()?;
            let told = part.told.pop_front();
            parts.extend(told.map(|(checkpoint, sum)| StoredPart { file: part.name.clone(), sum, checkpoint }));
        }
        (self.keep)(Kept::Next(PoolCheckpoint { parts }));
        if !self.are_named {
            self.are_named = self.is_named()?;
            if self.are_named {
                (self.keep)(Kept::Written);
                self.remove_all(|name, parts| parts.iter().all(|part| part.name != name));
            }
        }
        Ok(())
    }

    /// Whether the file of the checkpoint names these files: it may be that it could not be written.
    fn is_named(&self) -> io::Result<bool> {
        let (bytes, name) = (fs::read(self.path)?, self.parts.first().map_or("", |part| &part.name).as_bytes());
        Ok(bytes.windows(name.len().max(1)).any(|window| window == name))
    }

    /// Removes files beside the checkpoint, if this says so of their names.
    fn remove_all(&self, is_left_over: impl Fn(&str, &[PartFile]) -> bool) {
        for (_, name) in files_beside(self.path).unwrap_or_default() {
            if is_left_over(&name, &self.parts) {
                // One that stays only takes room.
                let _ = fs::remove_file(self.path.with_file_name(name));
            }
        }
    }

    /// A worker cannot tell where its states came from.
    pub(crate) fn cannot_be_told(&mut self, why: &str) {
        self.fail(&io::Error::other(why.to_owned()));
    }

    /// No more is written, and whoever keeps checkpoints is told why.
    fn fail(&mut self, error: &io::Error) {
        if !self.has_failed {
            self.has_failed = true;
            (self.keep)(Kept::Failed(error.to_string()));
        }
    }
}

impl Drop for Files<'_> {
    fn drop(&mut self) {
        if !self.are_named {
            self.remove_all(|name, parts| parts.iter().any(|part| part.name == name));
        }
    }
}

/// The name of the file of a worker, in a run of the search.
fn part_name(path: &Path, run: u64, worker: usize) -> String {
    format!("{}.{run}.part-{worker}", path.file_name().unwrap_or_default().display())
}

/// All files beside a checkpoint that such runs write, each with its run.
fn files_beside(path: &Path) -> io::Result<Vec<(u64, String)>> {
    let begin = format!("{}.", path.file_name().unwrap_or_default().display());
    let run_of = |name: &str| {
        let (run, worker) = name.strip_prefix(&begin)?.split_once(".part-")?;
        let worker: usize = worker.parse().ok()?;
        run.parse().ok().filter(|run| part_name(path, *run, worker) == name)
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string();
        files.extend(name.ok().and_then(|name| Some((run_of(&name)?, name))));
    }
    Ok(files)
}

/// The file of a worker that a checkpoint names, open and compared with it.
///
/// # Errors
/// Half a sentence that says what is wrong with it.
pub(crate) fn open(checkpoint: &Path, part: &StoredPart) -> Result<File, String> {
    let name = &part.file;
    let path = checkpoint.with_file_name(name);
    if path.file_name().is_none_or(|last| last != name.as_str()) || name.contains(['/', '\\']) {
        return Err("it is damaged: it names no file beside it".to_owned());
    }
    let file = File::open(&path).map_err(|error| format!("{name}, which belongs to it, cannot be read: {error}"))?;
    let mut sum = Sum::default();
    let states = part.checkpoint.snapshot.states();
    let read = each_block(&file, states, |entries| {
        sum.add(entries);
        Ok(())
    });
    match read {
        Ok(()) if sum.0 == part.sum => Ok(file),
        Ok(()) => Err(format!("{name}, which belongs to it, was changed after it was written")),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(format!("{name}, which belongs to it, was cut short"))
        }
        Err(error) => Err(format!("{name}, which belongs to it, cannot be read: {error}")),
    }
}

/// Reads where so many states came from from the start of a file, some thousands at a time.
pub(crate) fn each_block(
    mut file: &File,
    states: u64,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    file.rewind()?;
    let mut left = states;
    let mut block = Vec::new();
    while left != 0 {
        let entries = left.min(ENTRIES as u64);
        block.resize(entries as usize * ENTRY_BYTES, 0);
        file.read_exact(&mut block)?;
        take(&block)?;
        left -= entries;
    }
    Ok(())
}

/// Tells where the states from `first` to `end` came from, some thousands at a time; false if it is not known.
pub(crate) fn tell_ways(ways: &mut impl Ways, first: u64, end: u64, mut tell: impl FnMut(Vec<u8>)) -> bool {
    let mut entries = Vec::new();
    let mut next = first;
    while next < end {
        entries.resize((end - next).min(ENTRIES as u64) as usize, 0);
        if !ways.read(next, &mut entries) {
            return false;
        }
        tell(entries.iter().flat_map(|entry| entry.to_le_bytes()).collect());
        next += entries.len() as u64;
    }
    true
}

/// Adds what was told; false if it is none of it.
pub(crate) fn hear_ways(ways: &mut impl Ways, bytes: &[u8]) -> bool {
    let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    rest.is_empty() && entries.iter().all(|entry| ways.push(u64::from_le_bytes(*entry)))
}

/// A sum over entries by which damage is noticed.
#[derive(Clone, Copy, Default)]
struct Sum(u64);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let (entries, _) = bytes.as_chunks::<ENTRY_BYTES>();
        for entry in entries {
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(*entry)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_search::checkpoint::Snapshot;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    /// Writes checkpoints as whoever asks for them does.
    fn writes(path: &Path, news: &mut Vec<Kept>) -> impl FnMut(Kept) {
        move |told| {
            if let Kept::Next(checkpoint) = &told {
                fs::write(path, checkpoint.to_bytes()).expect("written");
            }
            news.push(told);
        }
    }

    /// A search of no states by two workers.
    fn kept(path: &Path, is_complete: bool) -> Vec<Kept> {
        let mut news = Vec::new();
        let mut keep = writes(path, &mut news);
        let mut files = Files::new(path, &mut keep, 2);
        files.told(1, PartCheckpoint::default());
        if is_complete {
            files.told(0, PartCheckpoint::default());
        }
        drop(files);
        drop(keep);
        news
    }

    #[test]
    fn files_of_the_run_before_are_removed_once_the_next_one_has_a_checkpoint() {
        let folder = folder();
        let path = folder.path().join("search");
        fs::write(folder.path().join("search.other.part-1"), "of somebody else").expect("written");
        let beside = |run: u64| vec![format!("search.{run}.part-1"), format!("search.{run}.part-2")];
        let all = |run: u64| [&["search".to_owned()], &beside(run)[..], &["search.other.part-1".to_owned()]].concat();
        assert!(matches!(kept(&path, true)[..], [Kept::Next(_), Kept::Written]));
        assert_eq!(names(folder.path()), all(1));
        assert_eq!(kept(&path, false), []);
        assert_eq!(names(folder.path()), all(1), "what no checkpoint names is not left");
        assert!(matches!(kept(&path, true)[..], [Kept::Next(_), Kept::Written]));
        assert_eq!(names(folder.path()), all(2));
    }

    #[test]
    fn a_checkpoint_that_could_not_be_written_is_not_told_and_removes_nothing() {
        let folder = folder();
        let path = folder.path().join("search");
        kept(&path, true);
        let mut news = Vec::new();
        let mut keep = |told| news.push(told);
        let mut files = Files::new(&path, &mut keep, 1);
        files.told(0, PartCheckpoint::default());
        drop(files);
        assert!(matches!(news[..], [Kept::Next(_)]), "{news:?}");
        assert_eq!(names(folder.path()), ["search", "search.1.part-1", "search.1.part-2"]);
    }

    #[test]
    fn what_is_told_is_read_and_what_was_changed_or_lies_elsewhere_is_not() {
        let folder = folder();
        let path = folder.path().join("search");
        let (mut ways, mut bytes) = ((0..150_000_u64).map(|entry| entry * entry).collect::<Vec<_>>(), Vec::new());
        assert!(tell_ways(&mut ways, 0, 70_000, |block| bytes.extend(block)));
        assert!(tell_ways(&mut ways, 70_000, 150_000, |block| bytes.extend(block)));
        assert!(!tell_ways(&mut ways, 0, 150_001, |_| {}), "there are not as many");
        let mut again = Vec::new();
        assert!(hear_ways(&mut again, &bytes) && again == ways);
        assert!(!hear_ways(&mut again, &bytes[..9]));
        let mut sum = Sum::default();
        bytes.chunks(8 << 10).for_each(|block| sum.add(block));
        for at in [0, 7, 8, 524_290, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 0x80;
            let mut other = Sum::default();
            other.add(&changed);
            assert_ne!(other.0, sum.0, "{at}");
        }
        let stored = |file: &str| StoredPart { file: file.to_owned(), sum: 0, checkpoint: PartCheckpoint::default() };
        fs::write(folder.path().join("part"), "").expect("written");
        assert!(open(&path, &stored("part")).is_ok());
        for elsewhere in ["../part", "/etc/passwd", "..", "", "a/part"] {
            assert!(open(&path, &stored(elsewhere)).is_err(), "{elsewhere}");
        }
        assert!(open(&path, &StoredPart { sum: 1, ..stored("part") }).is_err());
    }
}
