//! Where a formula and its parts hold along a counterexample, or where a claim is, as plain data.

use fabius_program::ltl::truth::Ribbon;
use serde::Serialize;

/// A formula and its main parts along a run. Position `p` is the state after `p` steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RibbonReport {
    /// It is about a claim: the rows say to which place the claim went when it looked at the state, and whether its conditions are true. Where
    /// nothing but the claim moves any more, the last position says where it is again and again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claim: bool,
    /// What the formula says, where that is easier to read than the formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// How many positions are told: of a run with a loop, the last one is that before the last step of the loop.
    pub positions: u64,
    /// The position to which the run goes back after the last one; missing where only the beginning of the run is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_position: Option<u64>,
    /// The positions at which something changes, or the loop begins: a column for each of them shows everything.
    pub columns: Vec<u64>,
    /// The formula first, then its parts.
    pub rows: Vec<RibbonRow>,
    /// Where it is decided that the run violates the formula, if that is one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides: Option<RibbonCell>,
}

/// A part of a formula along a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RibbonRow {
    /// The part.
    pub formula: String,
    /// How deep it is in the formula: 0 of the formula itself.
    pub depth: u64,
    /// Whether it is about one state.
    pub proposition: bool,
    /// Its value at each position; null where continuations of the run differ, or it has no value.
    pub values: Vec<Option<bool>>,
}

/// A part of a formula at a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RibbonCell {
    /// The number of the row, from 0.
    pub row: u64,
    /// The position, from 0.
    pub position: u64,
}

impl From<&Ribbon> for RibbonReport {
    fn from(ribbon: &Ribbon) -> Self {
        Self {
            claim: ribbon.is_claim,
            sentence: ribbon.sentence.clone(),
            positions: ribbon.positions as u64,
            columns: ribbon.columns().into_iter().map(|at| at as u64).collect(),
            loop_position: ribbon.back_to.map(|back| back as u64),
            rows: (ribbon.rows.iter())
                .map(|row| RibbonRow {
                    formula: row.text.clone(),
                    depth: row.depth as u64,
                    proposition: row.is_proposition,
                    values: row.values.clone(),
                })
                .collect(),
            decides: ribbon.decides.map(|(row, at)| RibbonCell { row: row as u64, position: at as u64 }),
        }
    }
}
