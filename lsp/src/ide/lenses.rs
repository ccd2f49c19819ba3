//! Code lenses: what is known about each property, at the place that it belongs to.

use super::place::View;
use crate::session::costs::KeptCosts;
use crate::session::mutants::KeptMutants;
use crate::session::results::Known;
use crate::session::sweeps::{KeptSweep, SweepProgress};
use crate::session::{Document, Running};
use fabius_engine::sweep::{WrittenSweep, in_a_line, ranges};
use fabius_engine::words::{counted, seconds};
use fabius_engine::{SAFETY, Verdict};
use fabius_language::{Symbol, SymbolKind};
use std::ops::Range;

/// What happens when somebody clicks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Click {
    /// The property is checked.
    Check(String),
    /// The property is not checked any more, nor waits for it.
    Stop(String),
    /// The property is checked before the others that wait.
    Prioritize(String),
    /// A counterexample is shown.
    Show(String, usize),
    /// The executions are shown.
    Executions,
    /// The model is checked with the values that the comment at this byte names.
    Sweep(usize),
    /// The check with the values that the comment at this byte names ends.
    StopSweep(usize),
    /// It is computed what states are spent on.
    Costs,
    /// Changes of the model are checked, to see which no property notices.
    Mutants,
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

/// The lenses of a file: what belongs to a formula or claim stands at it, the rest at the first process. `ahead`: so many checks of
/// other models begin before that of the document, if it waits; `follows`: lenses are asked for again while a check goes on.
pub fn lenses(view: View<'_>, document: &Document, ahead: Option<usize>, follows: bool) -> Vec<Lens> {
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
        let checks = of_check(document, &name, ahead, follows);
        found.extend(checks.into_iter().map(|(title, click)| Lens { range: range.clone(), title, click }));
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
    found.extend(of_costs(document, own.iter().map(|&id| index.symbol(id))));
    found.extend(of_mutants(document, own.iter().map(|&id| index.symbol(id))));
    found.extend(
        super::sweeps::written(view).flat_map(|(sweep, range)| of_sweep(view, document, (sweep, &range), follows)),
    );
    found.sort_by_key(|lens| lens.range.start);
    found
}

/// What states are spent on where processes are; where that takes a search of its own, what begins it.
fn of_costs<'s>(document: &Document, outer: impl Iterator<Item = &'s Symbol>) -> Vec<Lens> {
    let processes: Vec<&Symbol> = outer.filter(|symbol| is_process(symbol.kind)).collect();
    let lens = |symbol: &Symbol, title: String, click: Click| {
        let range = symbol.definition.start as usize..symbol.definition.end as usize;
        Lens { range, title, click }
    };
    let shares = processes.iter().filter_map(|symbol| {
        let share = super::costs::of_process(document, &symbol.name)?;
        Some(lens(symbol, format!("{share} of states differ only in where it is"), Click::Nothing))
    });
    let mut found: Vec<Lens> = shares.collect();
    let Some(first) = processes.iter().min_by_key(|symbol| symbol.definition.start) else { return found };
    let is_proved = document.results.of(SAFETY).is_some_and(|known| !known.stale && known.report.exhaustive);
    let is_small = document.results.survey.as_ref().is_none_or(|survey| survey.exhaustive);
    match document.asked.costs.as_ref().filter(|kept| !kept.origin.stale) {
        Some(KeptCosts { found: None, .. }) => {
            found.push(lens(first, "computing what states are spent on …".to_owned(), Click::Nothing));
        }
        Some(KeptCosts { found: Some(costs), .. }) if costs.limit.is_some() => {
            found.push(lens(first, super::costs::sentence(costs), Click::Nothing));
        }
        Some(_) => {}
        None if is_proved && !(is_small && document.options.hints) => {
            found.push(lens(first, "▶ what states are spent on".to_owned(), Click::Costs));
        }
        None => {}
    }
    found
}

/// How strong the properties are, or what begins to find that out once one of them is proved.
fn of_mutants<'s>(document: &Document, outer: impl Iterator<Item = &'s Symbol>) -> Option<Lens> {
    let processes = outer.filter(|symbol| is_process(symbol.kind));
    let first = processes.min_by_key(|symbol| symbol.definition.start)?;
    let range = first.definition.start as usize..first.definition.end as usize;
    let proved = |known: &Known| !known.stale && known.report.verdict == Verdict::Holds;
    let (title, click) = match document.asked.mutants.as_ref().filter(|kept| !kept.origin.stale) {
        Some(KeptMutants { found: None, .. }) => ("checking changes of the model …".to_owned(), Click::Nothing),
        Some(KeptMutants { found: Some(report), .. }) => (super::mutants::sentence(report), Click::Nothing),
        None if document.results.known.iter().any(proved) => {
            ("▶ how strong are the properties?".to_owned(), Click::Mutants)
        }
        None => return None,
    };
    Some(Lens { range, title, click })
}

/// What the check of a document does about a property, and what somebody may do about that.
fn of_check(document: &Document, name: &str, ahead: Option<usize>, follows: bool) -> Vec<(String, Click)> {
    let property = || name.to_owned();
    let stop = || (format!("■ stop checking {name}"), Click::Stop(property()));
    let Some(running) = &document.run else { return vec![(format!("▶ check {name}"), Click::Check(property()))] };
    if running.property == name {
        let how_far = if follows { Some((going(running, ahead), Click::Nothing)) } else { None };
        return std::iter::once(stop()).chain(how_far).collect();
    }
    match running.next.iter().position(|turn| turn.property == name) {
        Some(before) if follows => {
            let first = (format!("▶ check {name} first"), Click::Prioritize(property()));
            let place = match before {
                0 => "next to be checked".to_owned(),
                _ => format!("waits, {} before it", counted_properties(before)),
            };
            vec![first, stop(), (place, Click::Nothing)]
        }
        _ => vec![(format!("▶ check {name}"), Click::Check(property()))],
    }
}

fn counted_properties(number: usize) -> String {
    if number == 1 { "1 property".to_owned() } else { format!("{number} properties") }
}

/// How far a check is, shortly.
fn going(running: &Running, ahead: Option<usize>) -> String {
    if ahead.is_some() {
        return "waits for checks of other models".to_owned();
    }
    match &running.progress {
        Some(progress) => format!("checking …, {}, {}", counted(progress.states, "state"), seconds(progress.seconds)),
        None => "checking …".to_owned(),
    }
}

/// The lenses of a comment that names values of macros.
fn of_sweep(
    view: View<'_>,
    document: &Document,
    (sweep, range): (&WrittenSweep, &Range<usize>),
    follows: bool,
) -> Vec<Lens> {
    let values = ranges(&sweep.parameters);
    let lens = |title: String, click: Click| Lens { range: range.clone(), title, click };
    let check = || lens(format!("▶ check with {values}"), Click::Sweep(range.start));
    match super::sweeps::known(document, &sweep.parameters) {
        None => vec![check()],
        Some(kept @ KeptSweep { found: None, .. }) => {
            let stop = lens(format!("■ stop checking with {values}"), Click::StopSweep(range.start));
            let how_far = follows.then(|| lens(so_far(sweep, &kept.so_far), Click::Nothing));
            std::iter::once(stop).chain(how_far).collect()
        }
        Some(kept @ KeptSweep { found: Some((cells, _)), .. }) => {
            let old = if super::sweeps::is_stale(view, kept) { " (before the last edits)" } else { "" };
            let told = in_a_line(&sweep.parameters, cells);
            vec![check(), lens(format!("{told}{old}"), Click::Nothing)]
        }
    }
}

/// How far a sweep is: what came of the values that were checked, and which are being checked.
fn so_far(sweep: &WrittenSweep, so_far: &SweepProgress) -> String {
    let SweepProgress { cells, values, states } = so_far;
    if values.is_empty() {
        return "waits to begin".to_owned();
    }
    let before = if cells.is_empty() { String::new() } else { in_a_line(&sweep.parameters, cells) + "; " };
    let states = if *states == 0 { String::new() } else { format!(", {}", counted(*states, "state")) };
    format!("{before}checking {values} …{states}")
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
