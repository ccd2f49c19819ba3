//! The folders that somebody works in: what there is to say about the texts of the models in them, also of those that are not
//! open. They are read on a thread of their own, and again when a file changed; what did not change is not read twice.

use super::document::Options;
use super::fix_validations::number_of;
use super::reading::Reading;
use super::unread::UnreadText;
use super::{Notice, Overlay, Session, chosen_for};
use crate::ide::diagnostics::{self, Diagnostic};
use fabius_base::{Cancel, SourceMap};
use fabius_project::files;
use fabius_supervise::memory;
use ropey::Rope;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Of more models than this, some are not read.
const MODELS_MAX: usize = 2_000;
/// The models are read for so long.
const READ_MAX: Duration = Duration::from_secs(120);

/// The folders, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    folders: Vec<PathBuf>,
    known: Arc<WorkspaceFindings>,
    /// Something changed since the models were read, or nobody has read them.
    pub(super) is_old: bool,
    is_being_read: bool,
}

/// What there is to say about the texts of models.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceFindings {
    /// By the name of the model.
    pub models: BTreeMap<String, Arc<ModelFindings>>,
    /// There are more models than are read.
    pub are_more: bool,
}

/// What there is to say about the text of a model that is not open.
#[derive(Debug)]
pub struct ModelFindings {
    /// The model and the files that it asks for, with the numbers of their texts; none for one that is not there.
    parts: BTreeMap<String, Option<u64>>,
    defines: Vec<(String, String)>,
    /// What there is to say, …
    pub diagnostics: Vec<Diagnostic>,
    /// … and the texts of the files that it is about.
    pub map: SourceMap,
}

/// Everything that it takes to read the models of the folders.
pub struct WorkspaceRequest {
    folders: Vec<PathBuf>,
    overlay: Overlay,
    open: BTreeMap<String, Rope>,
    /// The files that belong to open models.
    parts_of_open: BTreeSet<String>,
    known: Arc<WorkspaceFindings>,
}

impl Workspace {
    /// A text changed that somebody works on: that matters if a model that is not open includes it.
    pub(super) fn changed(&mut self, name: &str) {
        self.is_old |= self.known.models.values().any(|model| model.parts.contains_key(name));
    }

    /// The models were read.
    pub(super) fn was_read(&mut self, found: Option<WorkspaceFindings>) -> Vec<Notice> {
        self.is_being_read = false;
        if let Some(found) = found {
            self.known = Arc::new(found);
        }
        vec![Notice::Workspace]
    }
}

impl Session {
    /// Somebody works in these folders.
    pub fn set_folders(&mut self, folders: Vec<PathBuf>) {
        (self.workspace.folders, self.workspace.is_old) = (folders, true);
    }

    /// The folders that somebody works in.
    pub fn folders(&self) -> &[PathBuf] {
        &self.workspace.folders
    }

    /// What there is to say about the models in the folders that are not open. `None` if they have to be read first, which
    /// begins; [`Notice::Workspace`] tells when it is done.
    pub fn workspace(&mut self) -> Option<Arc<WorkspaceFindings>> {
        if self.workspace.is_being_read {
            return None;
        }
        if !std::mem::take(&mut self.workspace.is_old) {
            return Some(Arc::clone(&self.workspace.known));
        }
        let asked = self.documents.values().filter_map(|document| document.reading.as_ref());
        let request = WorkspaceRequest {
            folders: self.workspace.folders.clone(),
            overlay: Arc::clone(&self.overlay),
            open: self.documents.iter().map(|(name, document)| (name.clone(), document.text.clone())).collect(),
            parts_of_open: asked.flat_map(|reading| reading.parts().map(|(name, _)| name.to_owned())).collect(),
            known: Arc::clone(&self.workspace.known),
        };
        self.workspace.is_being_read = true;
        self.checker.read_workspace(request, READ_MAX);
        None
    }
}

impl WorkspaceRequest {
    /// Reads the models; those that there is no time for are as they were.
    pub fn read(&self, cancel: &Cancel) -> WorkspaceFindings {
        let _watch = memory::Watch::beside(memory::default_bytes(), cancel);
        let listed = files::below(&self.folders, files::is_model, MODELS_MAX + 1);
        let mut found = WorkspaceFindings { models: BTreeMap::new(), are_more: MODELS_MAX < listed.len() };
        for path in listed.iter().take(MODELS_MAX) {
            let name = path.display().to_string();
            if self.open.contains_key(&name) || self.parts_of_open.contains(&name) {
                continue;
            }
            let known = self.known.models.get(&name);
            if let Some(model) = self.read_model(&name, known, cancel).or_else(|| known.cloned()) {
                found.models.insert(name, model);
            }
        }
        // What another model includes is no model of its own.
        let parts = |(name, model): (&String, &Arc<ModelFindings>)| {
            model.parts.keys().filter(|part| *part != name).cloned().collect::<Vec<_>>()
        };
        let parts: BTreeSet<String> = found.models.iter().flat_map(parts).collect();
        found.models.retain(|name, _| !parts.contains(name));
        found
    }

    /// The present text of a file.
    fn text(&self, name: &str) -> Option<String> {
        let open = self.open.get(name).map(Rope::to_string);
        open.or_else(|| files::read_ordinary(Path::new(name)).ok())
    }

    /// What there is to say about a model; `None` if it cannot be read, or not to its end.
    fn read_model(
        &self,
        name: &str,
        known: Option<&Arc<ModelFindings>>,
        cancel: &Cancel,
    ) -> Option<Arc<ModelFindings>> {
        let (Options { defines, .. }, _) = chosen_for(&self.overlay, name);
        let same = |(part, number): (&String, &Option<u64>)| self.text(part).as_deref().map(number_of) == *number;
        if let Some(known) = known.filter(|known| known.defines == defines && known.parts.iter().all(same)) {
            return Some(Arc::clone(known));
        }
        let text = self.text(name)?;
        let unread = UnreadText { name: name.to_owned(), text, defines, fixed: Vec::new(), open: self.open.clone() };
        let (loaded, asked) = unread.read(false, cancel).ok()?;
        let reading = Reading::new(loaded, asked);
        let own = (unread.name.clone(), Some(number_of(&unread.text)));
        let parts = reading.parts().map(|(name, text)| (name.to_owned(), text.map(number_of)));
        let parts = parts.chain([own]).collect();
        let diagnostics = diagnostics::of_texts(name, &reading);
        let mut map = SourceMap::new();
        let places: BTreeSet<&String> = diagnostics.iter().flat_map(Diagnostic::files).collect();
        for (_, file) in reading.map().files().filter(|(_, file)| places.contains(&file.name.to_string())) {
            map.add_file(&*file.name, &*file.text);
        }
        Some(Arc::new(ModelFindings { parts, defines: unread.defines, diagnostics, map }))
    }
}
