//! A model in which some processes wait, as another text of the same model.

use crate::load::Loaded;
use crate::settings::Settings;
use fabius_base::{Cancel, FileId, StopReason};
use fabius_language::edited;
use fabius_program::Program;

pub use fabius_language::{During, ProcessPlaces, TextEdit, Wait};

/// The main text is the first file that is read.
const MAIN: FileId = FileId(0);

impl Loaded {
    /// The main text in which processes wait, and the edits that lead to it; `program` is what is written, step for step.
    ///
    /// # Errors
    /// Why the waits cannot be written into this text, as half a sentence.
    pub fn with_waits(&self, program: &Program, waits: &[Wait]) -> Result<(Vec<TextEdit>, String), String> {
        let edits = self.language().restrain(program, &self.map, MAIN, waits)?;
        let text = edited(&self.map.file(MAIN).text, &edits);
        Ok((edits, text))
    }

    /// Another main text in the place of this one, read as it was: with the same macros and the same other files, and without
    /// optimisations.
    ///
    /// # Errors
    /// Why it stopped before it was done.
    pub fn with_text(&self, text: String, cancel: &Cancel) -> Result<Self, StopReason> {
        let settings = Settings { optimize: false, ..Settings::default() };
        self.with_main_text(text, &settings, cancel)
    }
}
