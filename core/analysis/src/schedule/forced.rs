//! Why a scheduler cannot avoid the errors: for each process that it could let move, what that process may do then.

use super::choices::{choices, statement, value_chosen};
use super::places::shown;
use fabius_base::SourceMap;
use fabius_model::SearchedMachine;
use fabius_program::Move;
use fabius_program::meaning::Fault;
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

/// Choices that are told of one run.
const CHOICES_MAX: usize = 4;
/// A run with more macro steps is not told.
const RUN_MAX: usize = 10_000;

/// One run in which processes choose so that an error follows, as an end of a sentence; nothing if there is not much to choose.
pub(super) fn example(
    machine: &mut SearchedMachine,
    map: &SourceMap,
    graph: &mut Graph,
    region: &Region,
) -> Option<String> {
    let mut forcing = Forcing { machine, map, graph, region };
    let (mut state, mut chosen, mut length) = (0, Vec::new(), 0);
    let error = loop {
        if length == RUN_MAX {
            return None;
        }
        if forcing.graph.ending(state) == Some(Ending::InvalidEnd) {
            break "deadlock".to_owned();
        }
        let group = forcing.graph.groups_of(state).next()?;
        let target = region.forced(forcing.graph, group);
        let (words, macro_steps) = forcing.listed(state);
        let macro_step = forcing.leading(group, &macro_steps)?;
        let told = forcing.tell(&words, &macro_steps, macro_step, (target, 1))?;
        length += 1;
        chosen.extend(choices(forcing.machine, forcing.map, &macro_steps, (&words, macro_step)));
        match (told.error, target) {
            (Some(error), _) => break error,
            (None, target) => state = target?,
        }
    };
    let more = chosen.len().saturating_sub(CHOICES_MAX);
    chosen.truncate(CHOICES_MAX);
    let more = if more == 0 { String::new() } else { format!(", and so on ({more} more)") };
    (!chosen.is_empty()).then(|| format!("for example, under one of them, if {}{more}: {error}", chosen.join(", ")))
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
        self.graph.groups_of(state).filter_map(|group| self.one(state, group, more)).collect()
    }

    /// One of the macro steps of a group that leads on to an error.
    fn one(&mut self, state: u32, group: usize, more: usize) -> Option<ForcedReport> {
        let (words, macro_steps) = self.listed(state);
        let macro_step = self.leading(group, &macro_steps)?;
        let target = self.region.forced(self.graph, group);
        self.tell(&words, &macro_steps, macro_step, (target, more))
    }

    /// The number of a macro step of a group that leads on to an error.
    fn leading(&mut self, group: usize, macro_steps: &MacroSteps<Move, Fault>) -> Option<usize> {
        let wanted = self.region.forced(self.graph, group);
        let movers = self.graph.group(group).movers;
        (0..macro_steps.len()).find(|&macro_step| {
            let first = macro_steps.labels(macro_step).first().map(|label| self.machine.movers(label));
            let leads = match (&macro_steps.get(macro_step).end, wanted) {
                (MacroStepEnd::State(_), Some(wanted)) => {
                    macro_steps.target(macro_step).and_then(|target| self.graph.number_of(target)) == Some(wanted)
                }
                (MacroStepEnd::State(_), None) => false,
                (_, wanted) => wanted.is_none(),
            };
            first == Some(movers) && leads
        })
    }

    /// The words of a state, and its macro steps.
    fn listed(&mut self, state: u32) -> (Vec<u32>, MacroSteps<Move, Fault>) {
        let (mut words, mut macro_steps) = (Vec::new(), MacroSteps::default());
        self.graph.recall(state, &mut words);
        let _: ControlFlow<()> =
            MacroStepLister::new().list(self.machine, &words, &mut macro_steps, || ControlFlow::Continue(()));
        (words, macro_steps)
    }

    fn tell(
        &mut self,
        state: &[u32],
        macro_steps: &MacroSteps<Move, Fault>,
        macro_step: usize,
        (target, more): (Option<u32>, usize),
    ) -> Option<ForcedReport> {
        let labels = macro_steps.labels(macro_step);
        let (first, last) = (labels.first()?, labels.last()?);
        let program = self.machine.shared_program().clone();
        let at = self.map.position(program.span_of(first.edge));
        let who = self.machine.movers(first).into_iter().flatten();
        let who = who.filter_map(|pid| {
            let of = self.machine.machine().process_of(state, usize::from(pid))?;
            Some(format!("{}[{pid}]", shown(&program.process(of).name)))
        });
        let who = who.collect();
        let statement = match labels {
            [label] => {
                value_chosen(self.machine, &program, state, label).unwrap_or_else(|| statement(&program, label.edge))
            }
            _ => format!("{} … {}", statement(&program, first.edge), statement(&program, last.edge)),
        };
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
