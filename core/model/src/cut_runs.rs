//! Runs that a search for infinite runs does not follow, since they end in a runtime error.
//!
//! A statement without a result has no successor (see *Faults* in [`fabius_program::meaning`]). Spin's verifier goes on after
//! some of these errors, with whatever stands in memory, and may find a violation behind one. So a search that met such an
//! error knows nothing of what lies behind it, and must not say that a property holds.

use fabius_base::SourceMap;
use fabius_program::{EdgeId, Program, meaning::Fault};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The runtime errors that a search left out; shared by the clones of a machine.
#[derive(Debug, Default)]
pub struct CutRuns {
    seen: AtomicU64,
    /// The step that failed first, and why; a checkpoint keeps only the step.
    first: OnceLock<(EdgeId, Option<Fault>)>,
}

impl CutRuns {
    /// Takes note of a step that failed.
    #[cold]
    pub fn note(&self, edge: EdgeId, fault: Option<Fault>) {
        self.seen.fetch_add(1, Ordering::Relaxed);
        // Only the first one is kept.
        let _ = self.first.set((edge, fault));
    }

    /// The step that failed first.
    pub fn edge(&self) -> Option<EdgeId> {
        self.first.get().map(|(edge, _)| *edge)
    }

    /// How often a failing step was listed, the same one any number of times.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Where runs end, in words; `None` if no run was left out.
    pub fn sentence(&self, program: &Program, map: &SourceMap) -> Option<String> {
        let (edge, fault) = self.first.get()?;
        let at = program.edges.get(edge.0 as usize).map(|_| map.position(program.span_of(*edge)).line);
        let line = at.map_or(String::new(), |line| format!("line {line}"));
        let why = fault.map_or(String::new(), |fault| format!(": {fault}"));
        Some(format!("runs that end in a runtime error were not followed ({line}{why})"))
    }
}
