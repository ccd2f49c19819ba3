//! Code lenses: what is known about each property, at the place that it belongs to.

use super::place::View;
use crate::session::Document;
use crate::session::results::Known;
use crate::session::sweeps::KeptSweep;
use fabius_engine::Verdict;
use fabius_engine::sweep::{WrittenSweep, in_a_line, ranges};
use fabius_engine::words::counted;
use fabius_language::SymbolKind;
use std::ops::Range;

/// What happens when somebody clicks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Click {
    /// The property is checked.
    Check(String),
    /// The check is stopped.
    Stop,
    /// A counterexample is shown.
    Show(String, usize),
    /// The executions are shown.
    Executions,
    /// The model is checked with the values that the comment at this byte names.
    Sweep(usize),
    /// Nothing.
    Nothing,
}

/// A line above a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The declaration.
    pub range: Range<usize>,
    /// What is shown.
    pub title: String,
    /// What happens when somebody clicks.
    pub click: Click,
}

/// The lenses of a file: what belongs to a formula or claim stands at it, the rest at the first process.
pub fn lenses(view: View<'_>, document: &Document) -> Vec<Lens> {
    let index = view.index();
    let mut found = Vec::new();
    let own: Vec<_> = index
        .ids()
        .filter(|&id| index.symbol(id).definition.file == view.file && index.symbol(id).container.is_none())
        .collect();
    let place = |name: &str| {
        let named = own.iter().map(|&id| index.symbol(id)).find(|symbol| {
            matches!(symbol.kind, SymbolKind::Formula | SymbolKind::Claim)
                && (&*symbol.name == name || name.starts_with(&*symbol.name))
        });
        let process = || own.iter().map(|&id| index.symbol(id)).filter(|symbol| is_process(symbol.kind));
        let first = || process().min_by_key(|symbol| symbol.definition.start);
        let symbol = named.or_else(first)?;
        Some(symbol.definition.start as usize..symbol.definition.end as usize)
    };
    for name in view.reading.properties() {
        let Some(range) = place(&name) else { continue };
        let known = document.results.of(&name);
        let running = document.run.as_ref().filter(|running| running.property == name);
        found.push(match running {
            Some(_) => Lens { range: range.clone(), title: format!("■ stop checking {name}"), click: Click::Stop },
            None => {
                Lens { range: range.clone(), title: format!("▶ check {name}"), click: Click::Check(name.clone()) }
            }
        });
        if let Some(known) = known {
            found.push(Lens { range: range.clone(), title: title(known), click: Click::Nothing });
            if !known.counterexamples.is_empty() {
                found.push(Lens { range, title: "step through".to_owned(), click: Click::Show(name, 0) });
            }
        }
    }
    let numbers = document.results.executions_of(view.reading).and_then(super::executions::short);
    let processes = own.iter().map(|&id| index.symbol(id)).filter(|symbol| is_process(symbol.kind));
    if let (Some(title), Some(first)) = (numbers, processes.min_by_key(|symbol| symbol.definition.start)) {
        let range = first.definition.start as usize..first.definition.end as usize;
        found.push(Lens { range, title, click: Click::Executions });
    }
    if let Some(survey) = &document.results.survey {
        for symbol in own.iter().map(|&id| index.symbol(id)).filter(|symbol| is_process(symbol.kind)) {
            let Some((got, of)) = survey.places.get(&*symbol.name) else { continue };
            let range = symbol.definition.start as usize..symbol.definition.end as usize;
            let title = match got == of {
                true => format!("all {of} places reached"),
                false => format!("{got} of {of} places reached"),
            };
            found.push(Lens { range, title, click: Click::Nothing });
        }
    }
    found.extend(super::sweeps::written(view).flat_map(|(sweep, range)| of_sweep(view, document, sweep, &range)));
    found.sort_by_key(|lens| lens.range.start);
    found
}

/// The lenses of a comment that names values of macros.
fn of_sweep(view: View<'_>, document: &Document, sweep: &WrittenSweep, range: &Range<usize>) -> Vec<Lens> {
    let values = ranges(&sweep.parameters);
    let lens = |title: String, click: Click| Lens { range: range.clone(), title, click };
    let check = || lens(format!("▶ check with {values}"), Click::Sweep(range.start));
    match super::sweeps::known(document, &sweep.parameters) {
        None => vec![check()],
        Some(KeptSweep { found: None, .. }) => vec![lens(format!("checking with {values} …"), Click::Nothing)],
        Some(kept @ KeptSweep { found: Some((cells, _)), .. }) => {
            let old = if super::sweeps::is_stale(view, kept) { " (before the last edits)" } else { "" };
            let told = in_a_line(&sweep.parameters, cells);
            vec![check(), lens(format!("{told}{old}"), Click::Nothing)]
        }
    }
}

fn is_process(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Process | SymbolKind::Init)
}

/// What is known about a property, shortly, and never more than is known.
pub fn title(known: &Known) -> String {
    let states = counted(known.report.states, "state");
    let old = if known.stale { " (before the last edits)" } else { "" };
    let steps = known.counterexamples.first().map_or(0, |example| example.trace.len() as u64);
    match known.report.verdict {
        Verdict::Holds if known.report.exhaustive => format!("✓ holds, {states}{old}"),
        Verdict::Holds => format!("✓ no error, {states}, not a proof{old}"),
        Verdict::Violated => match &known.replayed {
            Some(replayed) if known.stale => format!("✗ {}", replayed.words()),
            _ if steps == 0 => format!("✗ fails in the initial state{old}"),
            _ => format!("✗ fails in {}{old}", counted(steps, "step")),
        },
        Verdict::Undecided => format!("? {}{old}", known.words_if_undecided()),
        Verdict::Faulty => format!("✗ not checked{old}"),
    }
}
