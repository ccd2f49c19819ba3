//! Inlay hints: names of parameters, and what was seen in the reachable states.

use super::place::View;
use crate::session::Document;
use fabius_analysis::{Held, Seen, Survey};
use fabius_engine::words::grouped;
use fabius_language::{Argument, Symbol, SymbolId, SymbolKind};
use std::ops::Range;

/// More values than this are told as a range only.
const VALUES_TOLD: usize = 4;

/// A word or two shown inside the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Hint {
    /// The byte before which it is shown.
    pub at: usize,
    /// What is shown.
    pub label: String,
    /// It names a parameter; else it tells what was seen.
    pub parameter: bool,
    /// More about it.
    pub tooltip: String,
}

/// The hints in a stretch of a file, in order.
pub fn hints(view: View<'_>, document: Option<&Document>, range: &Range<usize>) -> Vec<Hint> {
    let mut found = parameters(view);
    if let Some(document) = document {
        found.extend(seen(view, document));
        found.extend(loops(view, document));
    }
    found.retain(|hint| range.start <= hint.at && hint.at <= range.end);
    found.sort();
    found.dedup();
    found
}

/// The names of parameters before the arguments of calls; none where the argument is called like its parameter.
fn parameters(view: View<'_>) -> Vec<Hint> {
    let arguments = view.language().arguments(view.source()).into_iter();
    let told = arguments.filter(|argument| view.text().get(argument.range.clone()) != Some(&*argument.parameter));
    let hint = |argument: Argument| Hint {
        at: argument.range.start,
        label: format!("{}:", argument.parameter),
        parameter: true,
        tooltip: argument.declaration,
    };
    told.map(hint).collect()
}

/// What was seen of variables and channels, behind their declarations.
fn seen(view: View<'_>, document: &Document) -> Vec<Hint> {
    let Some(survey) = &document.results.survey else { return Vec::new() };
    let index = view.index();
    let mut found = Vec::new();
    for id in index.ids() {
        let symbol = index.symbol(id);
        if symbol.definition.file != view.file || !symbol.is_variable() {
            continue;
        }
        let key = key_of(view, symbol);
        let label = match (survey.channels.get(&key), survey.variables.get(&key)) {
            (Some(held), _) => cost(held),
            (None, Some(seen)) => values(seen),
            (None, None) => continue,
        };
        let share = super::costs::of_variable(view, document, symbol).filter(|_| !survey.channels.contains_key(&key));
        let told = share.as_ref().map(|share| format!(", {share} of states")).unwrap_or_default();
        let label = label + &told;
        let mut tooltip = survey.words_about(view, id).unwrap_or_default();
        if let Some(share) = share {
            tooltip.push_str(&format!("; {share} of the states differ only in it"));
        }
        found.push(Hint { at: view.language().declaration_end(view.source(), id), label, parameter: false, tooltip });
    }
    found
}

/// Numbers before the statements of a loop that never ends.
fn loops(view: View<'_>, document: &Document) -> Vec<Hint> {
    let mut found = Vec::new();
    for known in document.results.known.iter().filter(|known| !known.stale) {
        let Some(example) = known.counterexamples.first() else { continue };
        let Some(start) = example.trace.cycle_start else { continue };
        let inside = example.trace.taken_from(start, usize::MAX);
        for (number, step) in inside.enumerate().take(99) {
            let shown = view.reading.map().user_span(step.actor.span);
            if shown.file == view.file {
                let tooltip = format!("{} of {}: {}", step.actor.name, known.report.name, step.actor.text);
                let label = format!("⟳{}", number + 1);
                found.push(Hint { at: shown.start as usize, label, parameter: false, tooltip });
            }
        }
    }
    found
}

/// The key of a variable in a survey.
fn key_of(view: View<'_>, symbol: &Symbol) -> (Option<String>, String) {
    let owner = symbol.container.map(|owner| view.index().symbol(owner).name.to_string());
    (owner, symbol.name.to_string())
}

/// The values of a variable, shortly.
fn values(seen: &Seen) -> String {
    let shown = |value: &i32| seen.names.get(value).cloned().unwrap_or_else(|| value.to_string());
    let (Some(least), Some(most)) = (seen.values.first(), seen.values.last()) else { return String::new() };
    if !seen.names.is_empty() || seen.values.len() == 1 {
        let all: Vec<String> = seen.values.iter().take(VALUES_TOLD).map(shown).collect();
        let more = if VALUES_TOLD < seen.values.len() { ", …" } else { "" };
        return format!("{}{more}", all.join(", "));
    }
    let more = if seen.more { "and more" } else { "" };
    format!("{least}..{most}{more}")
}

/// What a channel costs, shortly.
fn cost(held: &Held) -> String {
    let share = held.share.map(|share| format!(", {:.0} % of states", share * 100.0)).unwrap_or_default();
    format!("×{} contents{share}", grouped(held.contents))
}

/// What a survey says about names.
pub trait SeenOf {
    /// What was seen of a name, in a sentence; `None` if nothing was.
    fn words_about(&self, view: View<'_>, id: SymbolId) -> Option<String>;
}

impl SeenOf for Survey {
    fn words_about(&self, view: View<'_>, id: SymbolId) -> Option<String> {
        let symbol = view.index().symbol(id);
        let states = grouped(self.states);
        let all = if self.exhaustive { "" } else { " explored, not exhaustive" };
        if matches!(symbol.kind, SymbolKind::Process | SymbolKind::Init) {
            let (got, of) = self.places.get(&*symbol.name)?;
            return Some(format!("gets to {got} of {of} places in {states} states{all}"));
        }
        if !symbol.is_variable() {
            return None;
        }
        let key = key_of(view, symbol);
        if let Some(held) = self.channels.get(&key) {
            let contents = grouped(held.contents);
            let share = held.share.map(|share| format!("; {:.0} % of the states differ only in it", share * 100.0));
            return Some(format!(
                "{contents} different contents, at most {} of {} messages, in {states} states{all}{}",
                held.longest,
                held.capacity,
                share.unwrap_or_default()
            ));
        }
        let seen = self.variables.get(&key)?;
        let count = seen.values.len();
        let more = if seen.more { "more than " } else { "" };
        let plural = if count == 1 { "" } else { "s" };
        Some(format!("seen: {}, {more}{count} value{plural} in {states} states{all}", values(seen)))
    }
}
