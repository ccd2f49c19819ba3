//! What a formula says, its automaton, and where that is in the counterexample that is shown.

use super::place::View;
use crate::session::Document;
use fabius_analysis::formula::{FormulaDescription, describe, formulas};
use fabius_base::Span;
use fabius_language::{Symbol, SymbolKind};
use std::ops::Range;
use std::sync::Arc;

/// What there is to say about the formula at a byte, as Markdown, and the bytes of the formula.
pub fn about(view: View<'_>, document: Option<&Document>, at: usize) -> Option<(Range<usize>, String)> {
    let loaded = &view.reading.loaded;
    let (property, range) = formula_at(view, at)?;
    let known = document.and_then(|document| document.results.of(&property));
    // A counterexample of another text may be about another formula.
    let known = known.filter(|known| !known.stale && Arc::ptr_eq(&known.reading.loaded, loaded));
    let shown = document.and_then(|document| document.shown.as_ref()).filter(|shown| shown.property == property);
    let index = shown.map_or(0, |shown| shown.counterexample);
    let example = known.and_then(|known| known.counterexamples.get(index));
    let description = describe(loaded, &property, example)?;
    let step = shown.filter(|_| example.is_some()).map(|shown| shown.step);
    Some((range, markdown(&property, &description, step)))
}

/// The formula around a byte, and its bytes.
fn formula_at(view: View<'_>, at: usize) -> Option<(String, Range<usize>)> {
    let bytes = |span: Span| {
        let span = view.reading.map().user_span(span);
        (span.file == view.file).then_some(span.start as usize..span.end as usize).filter(|bytes| bytes.contains(&at))
    };
    let index = view.index();
    let is_formula = |symbol: &&Symbol| symbol.kind == SymbolKind::Formula;
    let mut symbols = index.ids().map(|id| index.symbol(id)).filter(is_formula);
    let named = symbols.find_map(|symbol| Some((symbol.name.to_string(), bytes(symbol.extent)?)));
    named.or_else(|| {
        let mut spans = formulas(&view.reading.loaded).into_iter();
        spans.find_map(|(name, span)| Some((name.to_owned(), bytes(span?)?)))
    })
}

fn markdown(property: &str, description: &FormulaDescription, step: Option<usize>) -> String {
    let mut parts = Vec::new();
    if let Some(sentence) = &description.sentence {
        parts.push(format!("`{property}` says: {sentence}."));
    }
    match &description.states {
        Ok(_) => {
            parts.push(
                "A run violates it if this automaton can read the run and is in accepting states again and again:"
                    .to_owned(),
            );
            parts.push(format!("```text\n{}\n```", description.automaton.join("\n")));
        }
        Err(why) => parts.push(format!("Its automaton is not shown: {why}.")),
    }
    parts.extend(description.along_run());
    if let Some((step, state)) = step.and_then(|step| Some((step, description.state_after(step)?))) {
        parts.push(format!("**After step {step}, which is shown, it is in state {state}.**"));
    }
    parts.join("\n\n")
}
