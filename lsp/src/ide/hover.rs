//! Hover: what a word means, and what checks saw of it.

use super::formulas;
use super::hints::SeenOf;
use super::orders;
use super::place::View;
use super::sweeps;
use crate::session::Document;
use std::ops::Range;

/// What to show about a word, as Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The bytes of the word.
    pub range: Range<usize>,
    /// What to show.
    pub markdown: String,
}

/// What to show about the word at a byte, and about the statement or the formula there.
pub fn hover(view: View<'_>, document: Option<&Document>, at: usize) -> Option<Hover> {
    let order = document.and_then(|document| document.results.order_of_statements(view.reading));
    let order = order.and_then(|order| orders::about(view, order, at));
    let formula = formulas::about(view, document, at);
    let Some(found) = view.language().hover(view.source(), at) else {
        let swept = || sweeps::about(view, document, at);
        return order.or(formula).or_else(swept).map(|(range, markdown)| Hover { range, markdown });
    };
    let mut parts = vec![markdown(view, &found.code, &found.prose)];
    for &id in &found.meanings {
        let seen = document.and_then(|document| document.results.survey.as_ref());
        parts.extend(seen.and_then(|survey| survey.words_about(view, id)));
    }
    parts.retain(|part| !part.is_empty());
    parts.dedup();
    parts.extend(order.map(|(_, text)| text));
    parts.extend(formula.map(|(_, text)| text));
    Some(Hover { range: found.range, markdown: parts.join("\n\n") })
}

/// Declarations and sentences, as Markdown.
pub fn markdown(view: View<'_>, code: &[String], prose: &[String]) -> String {
    let language = view.reading.loaded.language().id();
    let code = code.iter().map(|code| format!("```{language}\n{code}\n```"));
    let mut parts: Vec<String> = code.chain(prose.iter().cloned()).collect();
    parts.dedup();
    parts.join("\n\n")
}
