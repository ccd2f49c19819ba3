//! Vacuity of a formula: which of its parts a model never needs.
//!
//! A formula that holds of a model holds *vacuously* if a part of it can be replaced by anything. Where a part occurs positively
//! (under an even number of negations), that is so exactly if the formula still holds with `false` in its place, and where it occurs
//! negatively, with `true` (I. Beer, S. Ben-David, C. Eisner, Y. Rodeh, *Efficient detection of vacuity in temporal model checking*,
//! FMSD 2001; O. Kupferman, M. Y. Vardi, *Vacuity detection in temporal logic model checking*, STTT 2003). A formula that is
//! strengthened in this way implies the formula. If any part is not needed, some literal is not. Parts below `<->` occur
//! both ways, and are left out.

use super::parts::{apart, constant, folded, value_of};
use super::{Automaton, TooLarge, violations};
use crate::Formula;

/// Automata with more states are not looked through.
const STATES_MAX: usize = 1_000;

/// Where a part of a formula is: which operand to take, from the whole formula on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occurrence {
    path: Vec<Side>,
    /// Whether it occurs positively.
    pub positive: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    First,
    Second,
}

/// A formula whose parts may be replaced.
#[derive(Clone, Debug)]
pub struct Strengthening {
    whole: Formula,
}

impl Strengthening {
    /// A formula, taken apart down to its literals; `None` if it is larger than anything that a person writes.
    pub fn of(formula: &Formula) -> Option<Self> {
        apart(formula).map(|whole| Self { whole })
    }

    /// The formula as it is taken apart.
    pub fn formula(&self) -> &Formula {
        &self.whole
    }

    /// Its literals that are no constants and occur in one way only, from left to right.
    pub fn literals(&self) -> Vec<Occurrence> {
        let mut found = Vec::new();
        let mut open = vec![(&self.whole, Occurrence { path: Vec::new(), positive: true })];
        while let Some((formula, here)) = open.pop() {
            let below = |side: Side, flips: bool| {
                let path = here.path.iter().copied().chain([side]).collect();
                Occurrence { path, positive: here.positive != flips }
            };
            match formula {
                Formula::Proposition(_) if value_of(formula).is_some() => {}
                Formula::Proposition(_) => found.push(here),
                Formula::Equivalent(..) => {}
                Formula::Not(a) => open.push((a, below(Side::First, true))),
                Formula::Implies(a, b) => {
                    open.extend([(&**b, below(Side::Second, false)), (&**a, below(Side::First, true))])
                }
                _ => {
                    let (a, b) = formula.operands();
                    open.extend(b.map(|b| (b, below(Side::Second, false))));
                    open.extend(a.map(|a| (a, below(Side::First, false))));
                }
            }
        }
        found
    }

    /// The part that is there.
    pub fn part(&self, occurrence: &Occurrence) -> &Formula {
        occurrence.path.iter().fold(&self.whole, |formula, side| operand(formula, *side).unwrap_or(formula))
    }

    /// The smallest part around it; `None` of the whole formula.
    pub fn around(&self, occurrence: &Occurrence) -> Option<Occurrence> {
        let (last, before) = occurrence.path.split_last()?;
        let above = Occurrence { path: before.to_vec(), positive: occurrence.positive };
        let flips = match self.part(&above) {
            Formula::Not(_) => true,
            Formula::Implies(..) => *last == Side::First,
            _ => false,
        };
        Some(Occurrence { positive: above.positive != flips, ..above })
    }

    /// The formula without that part: `false` in its place if it occurs positively, else `true`, and constants folded. It implies the
    /// formula.
    pub fn without(&self, occurrence: &Occurrence) -> Formula {
        folded(&self.with(occurrence, constant(!occurrence.positive)))
    }

    /// The formula with something else in place of that part.
    pub fn with(&self, occurrence: &Occurrence, other: Formula) -> Formula {
        let mut formula = self.whole.clone();
        let mut here = &mut formula;
        for side in &occurrence.path {
            let (first, second) = here.operands_mut();
            match if *side == Side::First { first } else { second } {
                Some(operand) => here = operand,
                // There is always one: a path leads through operands.
                None => return self.whole.clone(),
            }
        }
        *here = other;
        formula
    }
}

fn operand(formula: &Formula, side: Side) -> Option<&Formula> {
    let (first, second) = formula.operands();
    if side == Side::First { first } else { second }
}

/// Whether no model satisfies it, where that is obvious.
pub fn is_false(formula: &Formula) -> bool {
    value_of(formula) == Some(false)
}

/// What never holds if the formula holds: `p` of `[] !p`, where `p` is about one state.
pub fn never(formula: &Formula) -> Option<&Formula> {
    match formula {
        Formula::Always(inner) => match &**inner {
            Formula::Not(p) if is_of_a_state(p) => Some(p),
            _ => None,
        },
        _ => None,
    }
}

/// What never holds if `without` holds, which a formula became when a part of it was left out: see [`never`]. Where these are conjunctions, the
/// one conjunct that changed tells.
pub fn never_without<'a>(formula: &Formula, without: &'a Formula) -> Option<&'a Formula> {
    let before = conjuncts(formula);
    let mut changed = conjuncts(without).into_iter().filter(|conjunct| !before.contains(conjunct));
    match (changed.next(), changed.next()) {
        (Some(only), None) => never(only),
        _ => None,
    }
}

fn conjuncts(formula: &Formula) -> Vec<&Formula> {
    let (mut found, mut open) = (Vec::new(), vec![formula]);
    while let Some(formula) = open.pop() {
        match formula {
            Formula::And(a, b) => open.extend([&**b, &**a]),
            _ => found.push(formula),
        }
    }
    found
}

fn is_of_a_state(formula: &Formula) -> bool {
    let mut open = vec![formula];
    while let Some(formula) = open.pop() {
        match formula {
            Formula::Proposition(_) => {}
            Formula::Not(_) | Formula::And(..) | Formula::Or(..) | Formula::Implies(..) | Formula::Equivalent(..) => {
                let (a, b) = formula.operands();
                open.extend(a.into_iter().chain(b));
            }
            _ => return false,
        }
    }
    true
}

/// Whether every word satisfies a formula, so that it says nothing of any model; `None` if its automaton is too large to tell.
///
/// # Errors
/// The formula leads to something too large.
pub fn is_valid(formula: &Formula) -> Result<Option<bool>, TooLarge> {
    let automaton = violations(formula)?;
    if STATES_MAX < automaton.states.len() {
        return Ok(None);
    }
    Ok(Some(!accepts_something(&automaton)[0]))
}

/// From which states of an automaton on some word is accepted.
pub(super) fn accepts_something(automaton: &Automaton) -> Vec<bool> {
    let possible = |state: usize| {
        let transitions = automaton.states[state].transitions.iter();
        let can = transitions.filter(|t| t.guard.iter().any(|cube| cube.positive & cube.negative == 0));
        can.map(|t| t.target)
    };
    let reached = |from: usize| {
        let mut seen = vec![false; automaton.states.len()];
        let mut open: Vec<usize> = possible(from).collect();
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut seen[state], true) {
                open.extend(possible(state));
            }
        }
        seen
    };
    let states = 0..automaton.states.len();
    let comes_back = |state: &usize| automaton.states[*state].accepting && reached(*state)[*state];
    let accepted: Vec<usize> = states.clone().filter(comes_back).collect();
    states
        .map(|state| {
            accepted.contains(&state) || reached(state).iter().zip(0..).any(|(is, to)| *is && accepted.contains(&to))
        })
        .collect()
}
