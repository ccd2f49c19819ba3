//! Models that are written to files of their own: with what the original has beside its text.

use crate::output;
use fabius_engine::Loaded;
use fabius_project::files::beside;
use std::path::Path;

/// What a model has beside its text.
pub struct Environment {
    /// The lines that define the macros of flags and of the project.
    macros: String,
    /// What the text includes, as it is written there.
    included: Vec<String>,
}

impl Environment {
    /// Those of a model that was read.
    pub fn of(loaded: &Loaded) -> Self {
        let lines = loaded.source.defines.iter().map(|(name, value)| loaded.language().definition(name, value) + "\n");
        let included = loaded.source.included.iter().filter(|file| file.includer == loaded.name);
        Self { macros: lines.collect(), included: included.map(|file| file.written.clone()).collect() }
    }

    /// The lines that define the macros; none if there are no macros.
    pub fn macros(&self) -> &str {
        &self.macros
    }

    /// Says which files a model that is written to `path` includes that are not there.
    pub fn tell_missing(&self, path: &Path) {
        let is_missing = |written: &&String| !beside(path, written).is_file();
        let missing: Vec<String> = self.included.iter().filter(is_missing).map(|name| format!("`{name}`")).collect();
        if !missing.is_empty() {
            let path = path.display();
            output::complain(&format!(
                "warning: `{path}` includes {}, which cannot be found from there",
                missing.join(", ")
            ));
        }
    }
}
