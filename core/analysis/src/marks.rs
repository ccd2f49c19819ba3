//! What a proof is worth where nothing was there to fail: a model whose assertions, progress labels or acceptance labels no run gets
//! to. Only an exhaustive search can know.

use crate::dead_code::{closure, started};
use fabius_base::Span;
use fabius_program::lossy::lost_send;
use fabius_program::{Action, EdgeId, ProcessId, ProcessKind, Program};

/// Assertions and labels, as far as runs get to them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// Statements with assertions.
    pub assertions: Vec<Span>,
    /// Whether some run may execute one of these.
    pub asserts: bool,
    /// Whether some process gets to a progress label.
    pub progress: bool,
    /// Whether some process gets to an acceptance label.
    pub acceptance: bool,
}

/// Which assertions and labels runs get to; `reached` says whether some run took an edge.
pub fn marks(program: &Program, reached: &dyn Fn(EdgeId) -> bool) -> Marks {
    let started = started(program, reached);
    let mut marks = Marks::default();
    for (i, process) in program.processes.iter().enumerate() {
        if process.kind != ProcessKind::Process {
            continue;
        }
        let is_started = started.contains(&ProcessId(i as u32));
        let visited = closure(program, process, process.entry, &|edge| reached(edge));
        for (location, is_visited) in process.locations.iter().zip(visited) {
            marks.progress |= is_started && is_visited && location.progress;
            marks.acceptance |= is_started && is_visited && location.accept;
            for (id, edge) in program.edges_of(location) {
                let statement = &process.statements[edge.statement.0 as usize];
                if asserts(&statement.action) {
                    // Where messages are lost, there are two edges for it.
                    if lost_send(program, id).is_none() {
                        marks.assertions.push(statement.span);
                    }
                    marks.asserts |= reached(id);
                }
            }
        }
    }
    marks
}

/// Whether a statement may execute an assertion.
pub(crate) fn asserts(action: &Action) -> bool {
    match action {
        Action::Assert(_) => true,
        Action::Merged(parts) => parts.iter().any(asserts),
        Action::Block(block) => block.nodes.iter().flat_map(|node| &node.options).any(|option| asserts(&option.action)),
        _ => false,
    }
}
