//! From text to a program that can be checked, with all that there is to say about the text.

use crate::settings::Settings;
use fabius_base::{Code, Finding, SourceMap};
use fabius_program::Program;

/// Finds included files: gets the name of the including file and the name as it is written, and
/// returns the name to show and the text.
pub type Include<'a> = &'a mut dyn FnMut(&str, &str) -> Option<(String, String)>;

/// A model as far as its text goes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name of the file.
    pub name: String,
    /// Its text and that of the files it includes.
    pub map: SourceMap,
    /// What it means; `None` if the text is too wrong to say.
    pub program: Option<Program>,
    /// What there is to say about the text.
    pub findings: Vec<Finding>,
}

impl Loaded {
    /// The program, if nothing in the text keeps it from being checked.
    pub fn checkable(&self) -> Option<&Program> {
        let faulty = self.findings.iter().any(Finding::is_error);
        self.program.as_ref().filter(|_| !faulty)
    }
}

/// Reads a model: preprocessor, parser, names and types, lowering, and the optimisations that were
/// asked for. `defines` are names and values of macros that exist before the first line.
pub fn load(
    name: &str,
    text: String,
    defines: &[(String, String)],
    include: Include<'_>,
    settings: &Settings,
) -> Loaded {
    todo!()
}

/// A model whose text could not be read; `why` is half a sentence.
pub fn unreadable(name: &str, why: &str) -> Loaded {
    let headline = format!("`{name}` cannot be read: {why}");
    let finding = Finding::new(Code::FileUnreadable, headline);
    Loaded { name: name.to_owned(), map: SourceMap::new(), program: None, findings: vec![finding] }
}
