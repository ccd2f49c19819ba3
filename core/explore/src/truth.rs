//! Where the formula of the property holds along the line, or where its claim is.

use crate::session::Exploration;
use fabius_counterexample::ribbon_along;
use fabius_program::ltl::truth::Ribbon;
use fabius_witness::Mover;

/// Along a longer line, nothing is worked out.
const MOVES_MAX: usize = 5_000;

impl Exploration {
    /// The formula of the property and its parts along the line, or the places of its claim. What depends on how the run goes on behind the line is
    /// undetermined.
    ///
    /// # Errors
    /// Why there is no such table, in a sentence.
    pub fn ribbon(&self) -> Result<Ribbon, String> {
        let line = self.line();
        if MOVES_MAX < line.len() {
            return Err(format!("this run has more than {MOVES_MAX} moves: where the formula holds is not worked out"));
        }
        let is_claims = |depth: usize| 0 < depth && self.number(line[depth]) == self.number(line[depth - 1]);
        let mover = |depth: usize| if is_claims(depth) { Mover::Claim } else { Mover::System };
        let states = line.iter().enumerate().map(|(depth, node)| (self.situation(*node).state.clone(), mover(depth)));
        let loop_start = self.lasso().map(|lasso| self.depth(lasso.start));
        let target = self.target();
        ribbon_along(self.loaded(), target, states, loop_start).ok_or_else(|| {
            format!("`{}` has no formula and no claim whose values along a run can be shown", target.property)
        })
    }
}
