//! Two runs of the tree beside one another.

use crate::Exploration;
use crate::tree::NodeId;
use fabius_counterexample::comparison::{COMPARED_STEPS_MAX, ComparedRun, RunComparison, compare_runs, trace_of_path};
use fabius_witness::{Ending, Trace, ending};

impl Exploration {
    /// Compares the run to one node with the run to another one; the moves of a claim are left out.
    ///
    /// # Errors
    /// Why they cannot be compared, in a sentence without its full stop.
    pub fn compare(&self, first: NodeId, second: NodeId) -> Result<RunComparison, String> {
        if !self.has(first) || !self.has(second) {
            return Err("one of these branches is not there any more".to_owned());
        }
        let traces = [self.trace_to(first)?, self.trace_to(second)?];
        let ends = [first, second].map(|node| self.ending_of(node));
        let run = |which: usize| ComparedRun {
            program: &self.target().program,
            trace: &traces[which],
            map: &self.loaded().map,
            ends: &ends[which],
        };
        compare_runs(&run(0), &run(1))
    }

    fn trace_to(&self, node: NodeId) -> Result<Trace, String> {
        let path = self.path(node);
        if 2 * COMPARED_STEPS_MAX < path.len() {
            return Err(format!("runs with more than {COMPARED_STEPS_MAX} steps are not compared"));
        }
        let target = self.target();
        trace_of_path(&target.program, target.watch, &path).ok_or_else(|| "this run cannot be walked again".to_owned())
    }

    /// How the run to a node ends, in a few words.
    fn ending_of(&self, node: NodeId) -> String {
        match (self.fault(node), ending(&self.target().program, &self.state_at(node))) {
            (Some(fault), _) => fault.to_string(),
            (None, Ending::Invalid) => "deadlock".to_owned(),
            (None, Ending::Valid) => "nothing can move".to_owned(),
            (None, _) => "goes on".to_owned(),
        }
    }
}
