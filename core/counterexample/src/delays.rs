//! Where processes were held back in a run.

use crate::{Counterexample, KnownDelays};
use fabius_base::{SourceMap, Span};
use fabius_program::{Move, Program};
use fabius_search::delay_bounded::Delay;
use fabius_task::report::DelayReport;
use fabius_witness::format::json::StepRecords;
use fabius_witness::{HeldBack, Trace};
use std::sync::Arc;

impl Counterexample {
    /// Marks who was held back, and where; `fewest`: no run with fewer delays leads to the same.
    pub fn mark_delays(&mut self, program: &Program, map: &Arc<SourceMap>, delays: &[Delay], fewest: bool) {
        let steps = steps_of_path(&self.trace, program, &self.path);
        let mut told = Vec::new();
        for delay in delays {
            let last = self.trace.steps.len().saturating_sub(1);
            let step = steps.get(delay.before).copied().unwrap_or(last);
            let (name, process, span) = whereabouts(&self.trace, delay.process, step);
            let place = map.position(span);
            told.push(DelayReport {
                step: step as u64 + 1,
                process,
                pid: delay.process,
                file: place.file.to_string(),
                line: place.line,
                column: place.column,
            });
            self.trace.steps.hold_back(step, HeldBack { pid: delay.process, name, span });
        }
        self.report.trace = StepRecords::of(&self.trace, map);
        self.report.delays = Some(told);
        self.report.fewest_delays = Some(fewest);
        self.beyond_run.delays = Some(KnownDelays::new(delays, fewest));
    }
}

/// For each step of the path that was searched, the step of the trace (of the program as written) that it begins with.
fn steps_of_path(trace: &Trace, program: &Program, path: &[Move]) -> Vec<usize> {
    let mut next = 0;
    let number = |step: &Move| program.statement(program.process_of(step.edge), step.edge).number;
    let told: Vec<(u8, u32)> = trace.steps.outline().map(|step| (step.taken.pid, step.statement)).collect();
    let index = |step: &Move| {
        let steps = told.get(next..).unwrap_or(&[]);
        if let Some(found) = steps.iter().position(|told| *told == (step.pid, number(step))) {
            next += found + 1;
        }
        next.saturating_sub(1)
    };
    path.iter().map(index).collect()
}

/// The name and the type of a process, and where it stands before a step: where it moves next, or ends up.
fn whereabouts(trace: &Trace, pid: u8, step: usize) -> (String, String, Span) {
    let moves = |step: &Move| step.pid == pid || step.partner.is_some_and(|(partner, _)| partner == pid);
    let later = trace.steps.moves().iter().skip(step).position(moves);
    let actors = later.and_then(|later| trace.steps.actors(step + later));
    let mut actors = actors.into_iter().flat_map(|(actor, partner)| [Some(actor), partner]).flatten();
    if let Some(actor) = actors.find(|actor| actor.pid == pid) {
        return (actor.name, actor.process, actor.span);
    }
    match trace.last.processes.iter().find(|status| status.pid == pid) {
        Some(status) => {
            let span = status.waiting.first().map_or(status.span, |waiting| waiting.span);
            (status.name.clone(), status.process.clone(), span)
        }
        None => (format!("process {pid}"), String::new(), Span::default()),
    }
}
