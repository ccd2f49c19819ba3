//! Why a scheduler cannot avoid the errors: for each process that it could let move, what that process may do then.

use super::places::{shortened, shown};
use fabius_base::SourceMap;
use fabius_model::SearchedMachine;
use fabius_program::meaning::Fault;
use fabius_program::{Action, Move};
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
    let (mut state, mut choices, mut length) = (0, Vec::new(), 0);
    let error = loop {
        if length == RUN_MAX {
            return None;
        }
        if forcing.graph.ending(state) == Some(Ending::InvalidEnd) {
            break "deadlock".to_owned();
        }
        let group = forcing.graph.groups_of(state).next()?;
        let target = region.forced(forcing.graph, group);
        let told = forcing.one(state, group, 1)?;
        length += 1;
        if forcing.is_choice(state, group) {
            choices.push(format!("{} at line {} chooses `{}`", told.who.join(" and "), told.line, told.statement));
        }
        match (told.error, target) {
            (Some(error), _) => break error,
            (None, target) => state = target?,
        }
    };
    let more = choices.len().saturating_sub(CHOICES_MAX);
    choices.truncate(CHOICES_MAX);
    let more = if more == 0 { String::new() } else { format!(", and so on ({more} more)") };
    (!choices.is_empty()).then(|| format!("for example, under one of them, if {}{more}: {error}", choices.join(", ")))
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
        self.tell(&words, &macro_steps, found?, (wanted, more))
    }

    /// The words of a state, and its macro steps.
    fn listed(&mut self, state: u32) -> (Vec<u32>, MacroSteps<Move, Fault>) {
        let (mut words, mut macro_steps) = (Vec::new(), MacroSteps::default());
        self.graph.recall(state, &mut words);
        let _: ControlFlow<()> =
            MacroStepLister::new().list(self.machine, &words, &mut macro_steps, || ControlFlow::Continue(()));
        (words, macro_steps)
    }

    /// Whether the processes of a group have several ways on.
    fn is_choice(&mut self, state: u32, group: usize) -> bool {
        let (_, macro_steps) = self.listed(state);
        let movers = self.graph.group(group).movers;
        let of_group = |&macro_step: &usize| {
            macro_steps.labels(macro_step).first().is_some_and(|label| self.machine.movers(label) == movers)
        };
        1 < (0..macro_steps.len()).filter(of_group).count()
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
        let text = |label: &Move| {
            let edge = &program.edges[label.edge.0 as usize];
            let statement = &program.process(edge.process).statements[edge.statement.0 as usize];
            if statement.action == Action::End { "ends".to_owned() } else { shortened(&statement.text) }
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
