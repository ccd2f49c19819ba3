//! What stands on the disk, and whether it keeps still.
//!
//! A file that is saved is empty for a moment, half written, or away while another one takes its place. So what a file
//! reads like counts only when it has read like that for a while, and whoever looks is told when to look again.

use fabius_project::files;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A text that does not change for so long is written.
const WRITTEN: Duration = Duration::from_millis(10);
/// Some editors empty a file before they write it, or take it away before they bring the new one; what is empty or away
/// for longer stays so.
const AWAY: Duration = Duration::from_millis(100);

/// What stands on the disk under a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// A text.
    Text(String),
    /// Nothing.
    Gone,
    /// Something that cannot be read; half a sentence says why.
    Unreadable(String),
}

impl Content {
    /// What stands there now.
    pub fn of(path: &Path) -> Self {
        if !path.is_file() {
            return Self::Gone;
        }
        match files::read_ordinary(path) {
            Ok(text) => Self::Text(text),
            Err(_) if !path.exists() => Self::Gone,
            Err(why) => Self::Unreadable(why),
        }
    }

    /// How long it has to stay like that before it counts.
    fn stillness(&self) -> Duration {
        match self {
            Self::Text(text) if !text.is_empty() => WRITTEN,
            _ => AWAY,
        }
    }
}

/// Files that are not what was told of them last, with what they read like and since when.
#[derive(Default, Debug)]
pub struct Unsettled(BTreeMap<PathBuf, (Content, Instant)>);

impl Unsettled {
    /// Takes in all files that are not what was told of them, as they read now. Returns those that have kept still.
    pub fn look(&mut self, unlike: Vec<(PathBuf, Content)>, now: Instant) -> Vec<(PathBuf, Content)> {
        let before = std::mem::take(&mut self.0);
        let mut still = Vec::new();
        for (path, content) in unlike {
            let since = before.get(&path).filter(|(old, _)| *old == content).map_or(now, |(_, since)| *since);
            if since + content.stillness() <= now {
                still.push((path, content));
            } else {
                self.0.insert(path, (content, since));
            }
        }
        still
    }

    /// When the next of them will have kept still.
    pub fn next(&self) -> Option<Instant> {
        self.0.values().map(|(content, since)| *since + content.stillness()).min()
    }
}

/// The folders of which the system tells what happens in them.
pub struct Folders {
    watcher: RecommendedWatcher,
    heard: BTreeMap<PathBuf, RecursiveMode>,
}

impl Folders {
    /// Nothing is heard yet.
    pub fn new(watcher: RecommendedWatcher) -> Self {
        Self { watcher, heard: BTreeMap::new() }
    }

    /// Hears of whatever happens in a folder, or in the folder of a file: one that is saved by renaming is another file
    /// afterwards.
    ///
    /// # Errors
    /// If there is no such folder or the system does not allow it; half a sentence says why.
    pub fn hear_of(&mut self, path: &Path) -> Result<(), String> {
        let (folder, mode) = match path.is_dir() {
            true => (path, RecursiveMode::Recursive),
            false => (folder_of(path), RecursiveMode::NonRecursive),
        };
        let folder = folder.canonicalize().map_err(|why| why.to_string())?;
        if !self.is_heard(&folder, mode) {
            self.watcher.watch(&folder, mode).map_err(|why| why.to_string())?;
            self.heard.insert(folder, mode);
        }
        Ok(())
    }

    /// Sees to it that something is heard of each place and of what a link leads to. Says whether that is not possible for
    /// all: nobody tells when a folder comes back.
    pub fn follow<'a>(&mut self, places: impl Iterator<Item = &'a PathBuf>) -> bool {
        let gone: Vec<PathBuf> = self.heard.keys().filter(|folder| !folder.is_dir()).cloned().collect();
        for folder in gone {
            self.heard.remove(&folder);
            // The system has forgotten it already.
            let _ = self.watcher.unwatch(&folder);
        }
        let mut deaf = false;
        for place in places {
            let target = place.canonicalize().ok();
            for place in [Some(place), target.as_ref()].into_iter().flatten() {
                deaf |= self.hear_of(place).is_err();
            }
        }
        deaf
    }

    fn is_heard(&self, folder: &Path, mode: RecursiveMode) -> bool {
        let context = |folder: &Path| self.heard.get(folder) == Some(&RecursiveMode::Recursive);
        self.heard.get(folder) == Some(&mode) || folder.ancestors().any(context)
    }
}

/// The folder of a file.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "m.pml";

    fn text(text: &str) -> Content {
        Content::Text(text.to_owned())
    }

    /// What counts after looks at these moments (in milliseconds), each of which reads this.
    fn counted(looks: &[(u64, Option<Content>)]) -> Vec<(u64, Content)> {
        let (start, mut unsettled) = (Instant::now(), Unsettled::default());
        let mut counted = Vec::new();
        for (at, content) in looks {
            let unlike = content.iter().map(|content| (PathBuf::from(FILE), content.clone())).collect();
            let still = unsettled.look(unlike, start + Duration::from_millis(*at));
            counted.extend(still.into_iter().map(|(_, content)| (*at, content)));
        }
        counted
    }

    #[test]
    fn what_keeps_still_counts() {
        assert_eq!(counted(&[(0, Some(text("a"))), (5, Some(text("a"))), (10, Some(text("a")))]), [(10, text("a"))]);
        assert_eq!(counted(&[(0, Some(text("a"))), (10, Some(text("ab"))), (15, Some(text("ab")))]), []);
        let looks = [(0, Some(text("a"))), (10, Some(text("ab"))), (20, Some(text("ab")))];
        assert_eq!(counted(&looks), [(20, text("ab"))]);
    }

    #[test]
    fn what_is_empty_or_away_may_come_back() {
        assert_eq!(counted(&[(0, Some(text(""))), (50, Some(text("a"))), (60, Some(text("a")))]), [(60, text("a"))]);
        // As it was told of: nothing happened.
        assert_eq!(counted(&[(0, Some(Content::Gone)), (50, None), (120, Some(Content::Gone))]), []);
        assert_eq!(counted(&[(0, Some(Content::Gone)), (100, Some(Content::Gone))]), [(100, Content::Gone)]);
    }

    #[test]
    fn it_is_known_when_to_look_again() {
        let (now, mut unsettled) = (Instant::now(), Unsettled::default());
        assert_eq!(unsettled.next(), None);
        let unlike = vec![(PathBuf::from("a"), Content::Gone), (PathBuf::from("b"), text("b"))];
        assert!(unsettled.look(unlike, now).is_empty());
        assert_eq!(unsettled.next(), Some(now + WRITTEN));
        let unlike = vec![(PathBuf::from("a"), Content::Gone), (PathBuf::from("b"), text("b"))];
        assert_eq!(unsettled.look(unlike, now + WRITTEN), [(PathBuf::from("b"), text("b"))]);
        assert_eq!(unsettled.next(), Some(now + AWAY));
    }
}
