//! Why a scheduler cannot avoid the errors: for each process that it could let move, what that process may do then.

use super::places::{shortened, shown};
use fabius_base::SourceMap;
use fabius_model::SearchedMachine;
use fabius_program::Move;
use fabius_search::restrict::{Graph, Region};
use fabius_search::schedule::MacroSteps;
use fabius_search::schedule::macro_steps::{MacroStepEnd, MacroStepLister};
use fabius_search::{Ending, Processes};
use fabius_task::report::schedule::ForcedReport;
use std::ops::ControlFlow;

/// Macro steps that are shown one after the other.
const DEPTH_MAX: usize = 3;

/// Shows how an error is forced from a state outside the region.
pub(super) fn forced(
    machine: &mut SearchedMachine,
    map: &SourceMap,
    graph: &mut Graph,
    region: &Region,
) -> Vec<ForcedReport> {
    Forcing { machine, map, graph, region }.from(0, DEPTH_MAX)
}

struct Forcing<'a> {
    machine: &'a mut SearchedMachine,
    map: &'a SourceMap,
    graph: &'a mut Graph,
    region: &'a Region,
}

impl Forcing<'_> {
    /// For each group of a state, one of its macro steps that leads on to an error.
    fn from(&mut self, state: u32, more: usize) -> Vec<ForcedReport> {
        let mut words = Vec::new();
        self.graph.recall(state, &mut words);
        let mut macro_steps = MacroSteps::default();
        let _: ControlFlow<()> =
            MacroStepLister::new().list(self.machine, &words, &mut macro_steps, || ControlFlow::Continue(()));
        let mut forced = Vec::new();
        for group in self.graph.groups_of(state) {
            let wanted = self.region.forced(self.graph, group);
            let movers = self.graph.group(group).movers;
            let found = (0..macro_steps.len()).find(|&macro_step| {
                let first = macro_steps.labels(macro_step).first().map(|label| self.machine.movers(label));
                let leads = match (&macro_steps.get(macro_step).end, wanted) {
                    (MacroStepEnd::State(_), Some(wanted)) => {
                        macro_steps.target(macro_step).and_then(|target| self.graph.number_of(target)) == Some(wanted)
                    }
                    (MacroStepEnd::State(_), None) => false,
                    (_, wanted) => wanted.is_none(),
                };
                first == Some(movers) && leads
            });
            forced.extend(found.and_then(|macro_step| self.tell(&words, &macro_steps, macro_step, (wanted, more))));
        }
        forced
    }

    fn tell(
        &mut self,
        state: &[u32],
        macro_steps: &MacroSteps<Move, fabius_program::meaning::Fault>,
        macro_step: usize,
        (target, more): (Option<u32>, usize),
    ) -> Option<ForcedReport> {
        let labels = macro_steps.labels(macro_step);
        let (first, last) = (labels.first()?, labels.last()?);
        let program = self.machine.shared_program().clone();
        let text = |label: &Move| {
            let edge = &program.edges[label.edge.0 as usize];
            shortened(&program.process(edge.process).statements[edge.statement.0 as usize].text)
        };
        let at = self.map.position(program.span_of(first.edge));
        let who = self.machine.movers(first).into_iter().flatten();
        let who = who.filter_map(|pid| {
            let of = self.machine.machine().process_of(state, usize::from(pid))?;
            Some(format!("{}[{pid}]", shown(&program.process(of).name)))
        });
        let who = who.collect();
        let statement = if labels.len() == 1 { text(first) } else { format!("{} … {}", text(first), text(last)) };
        let error = match &macro_steps.get(macro_step).end {
            MacroStepEnd::Fault(fault) => Some(fault.to_string()),
            MacroStepEnd::Stuck(_) => Some("deadlock".to_owned()),
            MacroStepEnd::State(_) => target
                .filter(|&target| self.graph.ending(target) == Some(Ending::InvalidEnd))
                .map(|_| "deadlock".to_owned()),
        };
        let then = match target {
            Some(target) if 1 < more && error.is_none() => self.from(target, more - 1),
            _ => Vec::new(),
        };
        Some(ForcedReport { who, file: at.file.to_string(), line: at.line, statement, error, then })
    }
}
