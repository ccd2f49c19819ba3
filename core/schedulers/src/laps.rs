//! Which edges of a program close a loop.

use fabius_program::facts::Facts;
use fabius_program::{EdgeId, Move, ProcessId, Program};
use fabius_search::schedule::Closing;
use std::sync::Arc;

/// For each edge of a program, whether it closes a loop of its process.
#[derive(Clone, Debug)]
pub(crate) struct ClosingEdges(Arc<[bool]>);

impl ClosingEdges {
    /// The edges of a program.
    pub(crate) fn of(program: &Arc<Program>) -> Self {
        let facts = Facts::of(Arc::clone(program), &[]);
        let mut closing = vec![false; program.edges.len()];
        for (at, process) in program.processes.iter().enumerate() {
            for edge in process.locations.iter().flat_map(|location| location.edges.clone()) {
                closing[edge as usize] = facts.closes_loop(ProcessId(at as u32), facts.index_of(EdgeId(edge)));
            }
        }
        Self(closing.into())
    }
}

impl Closing<Move> for ClosingEdges {
    fn closes(&self, step: &Move, process: u8) -> bool {
        step.pid == process && self.0.get(step.edge.0 as usize) == Some(&true)
    }
}
