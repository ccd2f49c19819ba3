//! Models with one small change of their text, to see which properties notice. What the language offers is told by its front end.

use crate::load::Loaded;
use crate::meaning::{SemanticDigest, meaning};
use crate::settings::Settings;
use fabius_base::{Cancel, FileId, Span, StopReason};
use fabius_language::{Mutant, edited};

/// A model's text with one small change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextMutant {
    /// What was done, as a word.
    pub kind: &'static str,
    /// What was changed, in the main text.
    pub span: Span,
    /// The text there.
    pub old: String,
    /// The text that stands there instead.
    pub new: String,
    edits: Mutant,
}

/// The mutants of a model, in the order of its main text; none of a text that cannot be read.
pub fn text_mutants(loaded: &Loaded) -> Vec<TextMutant> {
    let Some((main, text)) = main(loaded) else { return Vec::new() };
    let Some(syntax) = loaded.syntax() else { return Vec::new() };
    let told = |edits: Mutant| {
        let (start, end) = (edits.edits.first()?.start, edits.edits.last()?.end);
        let whole = edited(text, &edits.edits);
        let behind = text.len() - end as usize;
        let old = text.get(start as usize..end as usize)?.to_owned();
        let new = whole.get(start as usize..whole.len() - behind)?.to_owned();
        Some(TextMutant { kind: edits.kind, span: Span::new(main, start, end), old, new, edits })
    };
    syntax.mutants(&loaded.map, main).into_iter().filter_map(told).collect()
}

/// The model with a change; what it includes is not read again.
///
/// # Errors
/// Why it was not read to its end.
pub fn mutated(
    loaded: &Loaded,
    mutant: &TextMutant,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<Loaded, StopReason> {
    let text = main(loaded).map_or_else(String::new, |(_, text)| edited(text, &mutant.edits.edits));
    loaded.with_main_text(text, settings, cancel)
}

/// What a model does, as a number, however its statements are written; `None` if it cannot be checked.
pub fn effect(loaded: &Loaded) -> Option<SemanticDigest> {
    let mut program = (**loaded.checkable()?).clone();
    for statement in program.processes.iter_mut().flat_map(|process| &mut process.statements) {
        statement.text.clear();
    }
    Some(meaning(&program))
}

/// The text of a model, without what it includes.
fn main(loaded: &Loaded) -> Option<(FileId, &str)> {
    let (id, file) = loaded.map.files().next()?;
    (*file.name == *loaded.name).then_some((id, &*file.text))
}
