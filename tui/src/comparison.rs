//! Two runs that are shown beside one another.

use crate::model::Cursor;
use fabius_engine::comparison::{ComparedStep, RunComparison, StepRecord};
use fabius_explore::NodeId;

/// Two runs beside one another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// What is compared.
    pub title: String,
    /// What there is to say about it, in sentences.
    pub remarks: Vec<String>,
    /// The names of both runs.
    pub names: [String; 2],
    /// Both runs.
    pub runs: RunComparison,
    /// The rows: places in [`RunComparison::rows`], of the first run and of the second one.
    pub rows: Vec<[Option<usize>; 2]>,
    /// The states of the tree at which both runs end, if they are runs of the tree.
    pub ends: Option<[NodeId; 2]>,
    /// The row that is marked.
    pub cursor: Cursor,
}

impl Comparison {
    /// A comparison with the first step that differs marked.
    pub fn new(
        title: String,
        remarks: Vec<String>,
        names: [String; 2],
        runs: RunComparison,
        ends: Option<[NodeId; 2]>,
    ) -> Self {
        let rows = rows(&runs.rows);
        let at = rows.iter().position(|row| !is_same(&runs, row)).unwrap_or(0);
        Self { title, remarks, names, runs, rows, ends, cursor: Cursor { at, top: 0 } }
    }

    /// The step of one of the runs in a row.
    pub fn step(&self, row: usize, side: usize) -> Option<&StepRecord> {
        let compared = self.runs.rows.get((*self.rows.get(row)?)[side]?)?;
        if side == 0 { compared.first.as_ref() } else { compared.second.as_ref() }
    }

    /// Whether both runs take the step of a row with the same effect.
    pub fn is_same(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|row| is_same(&self.runs, row))
    }

    /// Whether the steps of a row are one step that has different effects.
    pub fn is_other_effect(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|[first, second]| first.is_some() && first == second) && !self.is_same(row)
    }

    /// The next row that differs after the marked one, or the one before it.
    pub fn next_difference(&self, back: bool) -> Option<usize> {
        let differs = |row: &usize| !self.is_same(*row);
        let at = self.cursor.at;
        if back { (0..at).rev().find(differs) } else { (at + 1..self.rows.len()).find(differs) }
    }
}

fn is_same(runs: &RunComparison, [first, second]: &[Option<usize>; 2]) -> bool {
    first == second && first.and_then(|at| runs.rows.get(at)).is_some_and(|row| row.same)
}

/// Steps that only the first run takes stand beside those that only the second one takes at the same place.
fn rows(compared: &[ComparedStep]) -> Vec<[Option<usize>; 2]> {
    let mut rows: Vec<[Option<usize>; 2]> = Vec::new();
    // The first row of the stretch in which something may still be put beside a step of the first run.
    let mut free = 0;
    for (at, row) in compared.iter().enumerate() {
        match (row.first.is_some(), row.second.is_some()) {
            (true, true) => {
                rows.push([Some(at), Some(at)]);
                free = rows.len();
            }
            (true, false) => rows.push([Some(at), None]),
            _ => match rows.get_mut(free) {
                Some(beside) => {
                    beside[1] = Some(at);
                    free += 1;
                }
                None => {
                    rows.push([None, Some(at)]);
                    free = rows.len();
                }
            },
        }
    }
    rows
}
