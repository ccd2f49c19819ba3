//! What states are spent on, in words.

use super::place::View;
use crate::session::Document;
use fabius_analysis::cost::{Cost, Costs, Part};
use fabius_engine::words::grouped;
use fabius_language::Symbol;

/// Less than this part of the states is not worth a word.
const SHARE_MIN: f64 = 0.01;
/// A sentence names this many parts.
const NAMED_MAX: usize = 3;

/// Which part of the states differs from others only in something.
pub fn share(costs: &Costs, cost: &Cost) -> f64 {
    1.0 - cost.states_without as f64 / costs.states.max(1) as f64
}

fn percent(share: f64) -> String {
    format!("{:.0} %", (share * 100.0).floor())
}

/// The share of a variable, or of the contents of its channels, if it is known and worth a word.
pub fn of_variable(view: View<'_>, document: &Document, symbol: &Symbol) -> Option<String> {
    let owner = symbol.container.map(|owner| view.index().symbol(owner).name.to_string());
    let name = owner.map_or_else(|| symbol.name.to_string(), |owner| format!("{owner}:{}", symbol.name));
    of_part(document, &name, &[Part::Variable, Part::Channel])
}

/// The share of the places of a process type.
pub fn of_process(document: &Document, name: &str) -> Option<String> {
    of_part(document, name, &[Part::Places])
}

fn of_part(document: &Document, name: &str, parts: &[Part]) -> Option<String> {
    let costs = document.costs()?;
    let cost = costs.costs.iter().find(|cost| cost.name == name && parts.contains(&cost.part))?;
    Some(share(costs, cost)).filter(|share| SHARE_MIN <= *share).map(percent)
}

/// What the states are spent on, in a sentence.
pub fn sentence(costs: &Costs) -> String {
    let told = costs.costs.iter().take(NAMED_MAX).filter(|cost| SHARE_MIN <= share(costs, cost));
    let told: Vec<String> = told.map(|cost| format!("{} {}", percent(share(costs, cost)), only_in(cost))).collect();
    let states = grouped(costs.states);
    let all = if costs.limit.is_some() { " explored, not exhaustive" } else { "" };
    match told.is_empty() {
        true => format!("of {states} states{all}, hardly any differ in one variable only"),
        false => format!("of {states} states{all}: {}", told.join(", ")),
    }
}

fn only_in(cost: &Cost) -> String {
    let name = &cost.name;
    match cost.part {
        Part::Variable => format!("differ only in `{name}`"),
        Part::Channel => format!("differ only in what `{name}` holds"),
        Part::Places => format!("differ only in where {name} is"),
    }
}
