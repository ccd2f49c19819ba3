//! Texts that are to be read, with all that it takes, so that any thread can do it.

use super::reading::Reading;
use fabius_base::{Cancel, StopReason};
use fabius_engine::{Loaded, ModelText, Settings, load_until, unreadable};
use fabius_project::files;
use fabius_supervise::{Timer, memory};
use ropey::Rope;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A text with everything that reading it asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnreadText {
    /// The name of its file.
    pub name: String,
    /// The text itself.
    pub text: String,
    /// Macros that exist before the first line.
    pub defines: Vec<(String, String)>,
    /// Those of them whose values count whatever the text defines.
    pub fixed: Vec<String>,
    /// The texts that somebody works on; they count instead of the files of these names.
    pub open: BTreeMap<String, Rope>,
}

impl UnreadText {
    /// Reads the text, and tells the names of the files that it asks for. The optimisations take time and matter only to a
    /// search; places are the same with and without them.
    ///
    /// # Errors
    /// Why it stopped before it was done.
    pub fn read(&self, optimize: bool, cancel: &Cancel) -> Result<(Loaded, BTreeSet<String>), StopReason> {
        let mut asked = BTreeSet::new();
        let mut include = |including: &str, included: &str| {
            let path = files::plain(&files::beside(Path::new(including), included));
            let name = path.display().to_string();
            asked.insert(name.clone());
            let open = self.open.get(&name).map(Rope::to_string);
            open.or_else(|| files::read_ordinary(&path).ok()).map(|text| (name, text))
        };
        let settings = Settings { optimize, fixed_macros: self.fixed.clone(), ..Settings::default() };
        let text = ModelText { name: &self.name, text: self.text.clone() };
        let loaded = load_until(cancel, text, &self.defines, &mut include, &settings)?;
        Ok((loaded, asked))
    }

    /// Reads the text if that takes no longer than this.
    pub fn read_within(&self, allowed: Duration) -> Option<Reading> {
        if allowed.is_zero() {
            return None;
        }
        let cancel = Cancel::new();
        let _timer = Timer::start(Some(allowed), &cancel);
        self.read(false, &cancel).ok().map(|(loaded, asked)| Reading::new(loaded, asked))
    }

    /// Reads the text, and prepares what is asked of every reading.
    pub fn prepare(&self, cancel: &Cancel) -> Reading {
        let _watch = memory::Watch::beside(memory::default_bytes(), cancel);
        let reading = match self.read(false, cancel) {
            Ok((loaded, asked)) => Reading::new(loaded, asked),
            Err(reason) => self.not_read(reason),
        };
        reading.written();
        reading.index();
        reading
    }

    /// What there is to say about a text that was not read to its end.
    pub fn not_read(&self, reason: StopReason) -> Reading {
        let why = match reason {
            StopReason::Timeout => "the time allowed for it was used up",
            StopReason::Exhausted => "the system gave no more memory",
            StopReason::Memory => "the memory allowed was used up",
            _ => "it was interrupted",
        };
        let mut loaded = unreadable(&self.name, why);
        Arc::make_mut(&mut loaded.map).add_file(self.name.as_str(), self.text.clone());
        Reading::new(loaded, BTreeSet::new())
    }
}
