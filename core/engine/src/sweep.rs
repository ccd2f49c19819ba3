//! A model checked with several values of its macros: the table, and what the next value will cost.

use crate::report::ON;
use crate::{Loaded, PropertyReport, Report, Verdict};
use fabius_analysis::extrapolate::extrapolate;
use fabius_base::{Code, Finding};
use fabius_task::words::{grouped, rough, seconds};
pub use fabius_task::{Parameter, WrittenSweep};
use serde::Serialize;
use std::collections::BTreeMap;

/// A sweep has at most this many cells.
pub const CELLS_MAX: usize = 10_000;
/// What took less time than this says nothing of how long more states take.
const SECONDS_MIN: f64 = 0.1;

/// One combination of values.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// The value of each macro.
    pub values: BTreeMap<String, i64>,
    /// Why it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_checked: Option<String>,
    /// What the check came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Each property.
    pub properties: Vec<Measured>,
    /// The model is faulty with these values.
    #[serde(skip)]
    pub faulty: bool,
}

/// A property in one cell.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The verdict that the text expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Verdict>,
    /// Whether all states were explored.
    pub exhaustive: bool,
    /// Why the verdict.
    pub reason: String,
    /// States stored.
    pub states: u64,
    /// Transitions listed.
    pub transitions: u64,
    /// The length of the longest run that was followed.
    pub depth: u64,
    /// How long it took.
    pub seconds: f64,
    /// Memory of the search.
    pub memory_bytes: u64,
    /// Whether orders of independent steps were left out.
    pub reduced: bool,
    #[serde(skip)]
    search: &'static str,
}

/// What the next value of the last macro will cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Prediction {
    /// The value of each macro.
    pub values: BTreeMap<String, i64>,
    /// The property.
    pub property: String,
    /// The states expected, rounded to two digits.
    pub states: f64,
    /// The seconds expected, if each state takes as long as with the last value; nothing where that one was done too soon to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Of each value from the third on: what was expected, divided by what was measured.
    pub past: Vec<f64>,
    /// How good the earlier predictions were, as a sentence without its full stop.
    #[serde(skip)]
    error: String,
}

/// All combinations of values; those of the last macro follow each other.
///
/// # Errors
/// Why there are too many.
pub fn combinations(parameters: &[Parameter]) -> Result<Vec<Vec<i64>>, String> {
    let total = parameters.iter().map(Parameter::count).fold(1, usize::saturating_mul);
    if CELLS_MAX < total {
        let (total, most) = (grouped(total as u64), grouped(CELLS_MAX as u64));
        return Err(format!("the sweep has {total} combinations, and at most {most} are checked"));
    }
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for Parameter { first, last, .. } in parameters {
        let longer = |known: Vec<i64>| (*first..=*last).map(move |value| [&known[..], &[value]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    Ok(all)
}

/// Values with the names of their macros.
pub fn named(parameters: &[Parameter], values: &[i64]) -> BTreeMap<String, i64> {
    parameters.iter().zip(values).map(|(parameter, value)| (parameter.name.clone(), *value)).collect()
}

/// Values in a line: `N = 3, M = 1`.
pub fn in_line(values: &BTreeMap<String, i64>) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The values of a sweep in a line: `N = 2..5, M = 1..3`.
pub fn ranges(parameters: &[Parameter]) -> String {
    let one = |Parameter { name, first, last }: &Parameter| format!("{name} = {first}..{last}");
    parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Why values are not tried after those of the cell before: where a limit was reached, larger values of the last macro are not.
pub fn not_worth_trying(parameters: &[Parameter], values: &[i64], before: Option<&Cell>) -> Option<String> {
    let (last, smaller) = (parameters.last()?, before?);
    let same_others = parameters.iter().zip(values).rev().skip(1).all(|(p, value)| smaller.values[&p.name] == *value);
    let limited = !smaller.faulty && (smaller.not_checked.is_some() || smaller.verdict == Some(Verdict::Undecided));
    (same_others && limited).then(|| match &smaller.not_checked {
        Some(why) => why.clone(),
        None => format!("{} = {} was undecided", last.name, smaller.values[&last.name]),
    })
}

/// A macro whose values do not count in a model that was read with them.
pub enum NoEffect<'l> {
    /// The model does not use it.
    Unused,
    /// The model defines it with arguments, as this finding says.
    Defined(&'l Finding),
}

/// The first macro whose values do not count, and why.
pub fn without_effect<'l, 'p>(
    loaded: &'l Loaded,
    parameters: &'p [Parameter],
) -> Option<(&'p Parameter, NoEffect<'l>)> {
    if let Some(parameter) = parameters.iter().find(|parameter| !is_used(loaded, &parameter.name)) {
        return Some((parameter, NoEffect::Unused));
    }
    let mut redefined = loaded.findings.iter().filter(|finding| finding.code == Code::MacroRedefined);
    redefined.find_map(|finding| {
        let swept = parameters.iter().find(|p| finding.headline.contains(&format!("`{}`", p.name)))?;
        Some((swept, NoEffect::Defined(finding)))
    })
}

/// Whether a name stands anywhere in the files of a model but in the comments that say to sweep it.
fn is_used(loaded: &Loaded, name: &str) -> bool {
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    loaded.map.files().filter(|(_, file)| &*file.name != "<command line>").any(|(id, file)| {
        let mut from = 0;
        let mut pieces = Vec::new();
        let own = loaded.sweeps.iter().map(|sweep| sweep.span).filter(|span| span.file == id);
        for span in own {
            pieces.push(&file.text[from..span.start as usize]);
            from = span.end as usize;
        }
        pieces.push(&file.text[from..]);
        pieces.into_iter().any(words)
    })
}

impl Cell {
    /// What a check found out.
    pub fn of(values: BTreeMap<String, i64>, report: &Report) -> Self {
        let properties = report.properties.iter().map(Measured::of).collect();
        let (verdict, reason) = (Some(report.verdict), Some(report.reason.clone()));
        Self { values, not_checked: None, verdict, reason, properties, faulty: false }
    }

    /// One that was not checked.
    pub fn unchecked(values: BTreeMap<String, i64>, why: String) -> Self {
        Self { values, not_checked: Some(why), verdict: None, reason: None, properties: Vec::new(), faulty: false }
    }

    /// What came of it, in a word or a few.
    pub fn word(&self) -> &'static str {
        let said = |word: &str| self.properties.iter().any(|property| property.word() == word);
        let worst = ["faulty", "violated", "not as expected", "undecided", "no error found", "as expected"];
        match worst.into_iter().find(|word| said(word)) {
            _ if self.faulty => "faulty",
            _ if self.not_checked.is_some() => "not checked",
            _ if self.properties.is_empty() => "nothing to check",
            found => found.unwrap_or("holds"),
        }
    }

    /// One with which the model is faulty.
    pub fn faulty(values: BTreeMap<String, i64>, why: &str) -> Self {
        Self { faulty: true, ..Self::unchecked(values, format!("faulty: {why}")) }
    }
}

impl Measured {
    /// What came of it, in a word or a few.
    pub fn word(&self) -> &'static str {
        match (self.verdict, self.expected) {
            (Verdict::Undecided, _) => "undecided",
            (Verdict::Faulty, _) => "faulty",
            (Verdict::Holds, _) if !self.exhaustive => "no error found",
            (Verdict::Holds, None) => "holds",
            (Verdict::Violated, None) => "violated",
            (verdict, Some(expected)) if verdict == expected => "as expected",
            (_, Some(_)) => "not as expected",
        }
    }

    fn of(property: &PropertyReport) -> Self {
        Self {
            name: property.name.clone(),
            verdict: property.verdict,
            expected: property.expected,
            exhaustive: property.exhaustive,
            reason: property.reason.clone(),
            states: property.states,
            transitions: property.transitions,
            depth: property.depth,
            seconds: property.seconds,
            memory_bytes: property.memory_bytes,
            reduced: property.reduction == ON,
            search: property.search,
        }
    }
}

impl Prediction {
    /// What is expected, as a sentence without its full stop.
    pub fn sentence(&self) -> String {
        let (values, property, states) = (in_line(&self.values), &self.property, rough(self.states));
        let time = self.seconds.map_or_else(String::new, |needed| format!(" and {}", seconds(needed)));
        format!("{values}: about {states} states{time} are expected for {property}; {}", self.error)
    }
}

/// What the next value of the last macro will cost, for each combination of the others and each property.
pub fn predictions(parameters: &[Parameter], cells: &[Cell]) -> Vec<Prediction> {
    let Some(last) = parameters.last() else { return Vec::new() };
    let mut found = Vec::new();
    for series in cells.chunks(last.count()) {
        let names = series.first().map_or(&[][..], |cell| &cell.properties[..]).iter().map(|property| &property.name);
        for name in names {
            // Numbers of states of different searches tell nothing of each other: those of the last one count.
            let named = |cell: &'_ Cell| cell.properties.iter().position(|property| property.name == *name);
            let explored = |cell: &'_ Cell| named(cell).filter(|&at| cell.properties[at].exhaustive);
            let measured: Vec<&Measured> =
                series.iter().map_while(|cell| explored(cell).map(|at| &cell.properties[at])).collect();
            let alike = measured.chunk_by(|one, next| (one.search, one.reduced) == (next.search, next.reduced)).last();
            let states: Vec<u64> = alike.unwrap_or_default().iter().map(|property| property.states).collect();
            let Some(told) = extrapolate(&states) else { continue };
            let mut values = series[0].values.clone();
            values.insert(last.name.clone(), last.first + measured.len() as i64);
            let (error, states) = (told.past_error(), two_digits(told.next));
            let last = measured.last().filter(|last| SECONDS_MIN <= last.seconds);
            let seconds = last.map(|last| last.seconds * states / last.states.max(1) as f64);
            found.push(Prediction { values, property: name.clone(), states, seconds, past: told.past, error });
        }
    }
    found
}

/// What came of all combinations, in a line.
pub fn in_a_line(parameters: &[Parameter], cells: &[Cell]) -> String {
    let [Parameter { name, .. }] = parameters else {
        let mut words: Vec<&str> = cells.iter().map(Cell::word).collect();
        words.sort_unstable();
        let told = words.chunk_by(|one, next| one == next).filter_map(|group| Some((group.len(), group.first()?)));
        let told: Vec<String> = told.map(|(many, word)| format!("{word} with {many}")).collect();
        return format!("{} of {} combinations", told.join(", "), grouped(cells.len() as u64));
    };
    let groups = cells.chunk_by(|one, next| one.word() == next.word()).filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        let values = match (first.values.get(name)?, last.values.get(name)?) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}..{last}"),
        };
        Some(format!("{} with {name} = {values}", first.word()))
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// Rounded to two digits.
fn two_digits(value: f64) -> f64 {
    let unit = 10f64.powi((value.log10().floor() as i32 - 1).max(0));
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_parameters_give_every_combination_once() {
        let parameters: Vec<Parameter> =
            ["A=1..2", "B=0..2"].iter().map(|text| Parameter::read(text).expect("one")).collect();
        let all = combinations(&parameters).expect("few");
        assert_eq!(all, [[1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]]);
        assert!(combinations(&[Parameter::read("A=1..10001").expect("one")]).is_err());
    }

    #[test]
    fn values_with_the_same_outcome_are_put_together() {
        let parameters = [Parameter::read("N=2..6").expect("one")];
        let cell = |value: i64, verdict: Option<Verdict>| {
            let values = named(&parameters, &[value]);
            let Some(verdict) = verdict else { return Cell::unchecked(values, "no time".to_owned()) };
            let (name, reason) = ("safety".to_owned(), String::new());
            let (states, transitions, depth, seconds, memory_bytes) = (1, 1, 1, 0.0, 1);
            let (exhaustive, reduced, search, expected) = (true, false, "dfs", None);
            let property = Measured {
                name,
                verdict,
                expected,
                exhaustive,
                reason,
                states,
                transitions,
                depth,
                seconds,
                memory_bytes,
                reduced,
                search,
            };
            Cell {
                properties: vec![property],
                not_checked: None,
                verdict: Some(verdict),
                ..Cell::unchecked(values, String::new())
            }
        };
        let verdicts =
            [Some(Verdict::Holds), Some(Verdict::Holds), Some(Verdict::Violated), Some(Verdict::Undecided), None];
        let cells: Vec<Cell> = (2..).zip(verdicts).map(|(value, verdict)| cell(value, verdict)).collect();
        assert_eq!(
            in_a_line(&parameters, &cells),
            "holds with N = 2..3, violated with N = 4, undecided with N = 5, not checked with N = 6"
        );
    }

    #[test]
    fn numbers_are_rounded_to_two_digits() {
        assert_eq!([7.3, 74.6, 12_345.0, 98_765_432.0].map(two_digits), [7.0, 75.0, 12_000.0, 99_000_000.0]);
    }
}
