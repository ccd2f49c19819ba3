//! Runs as files: the steps of a line and of what else was tried by what they are, with holds and names, so that they can be walked again, also in a
//! model that was edited since.
//!
//! The file is JSON, described in `docs/schema/trace.schema.json`.

use crate::Exploration;
use crate::hold::{Hold, Seal, Until};
use crate::tree::NodeId;
use fabius_counterexample::{Identity, NamedStep, Retraced, Retracing, name_steps, statements};
use fabius_engine::{ExplorationTarget, Loaded, SAFETY, Settings};
use fabius_witness::{Ending, ending};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// What a file says first: the version of its form.
const VERSION: u32 = 2;
/// The form before, in which the statements of the model are not in the order of its text.
const UNORDERED: u32 = 1;

/// A run as it is saved.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// 2, or 1.
    fabius_trace: u32,
    /// The model it is of.
    model: String,
    /// The property that was asked about.
    property: String,
    /// The steps of the line.
    steps: Vec<StepFile>,
    /// One stands after this many of them.
    here: usize,
    /// This many of them come before the loop, if the line ends in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loop_start: Option<usize>,
    /// Processes that are held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    holds: Vec<HoldFile>,
    /// `round_robin` or `run_to_completion`: delays are forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<SealFile>,
    /// What else was tried: steps that branch off from states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    branches: Vec<BranchFile>,
    /// Names of states, by their numbers: after this many steps of the line; those of branches follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<NameFile>,
    /// The statements of the model, those of each process type in the order of the text: what is not among them is new.
    statements: Vec<StatementFile>,
}

/// A statement: process type, wording, and how many with the same wording stand before it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct StatementFile(String, String, usize);

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFile {
    pid: u8,
    statement: StatementFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partner: Option<(u8, StatementFile)>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldFile {
    pid: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    others: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

/// States are numbered: first those of the line, from 0, then those of each branch after its steps, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BranchFile {
    from: usize,
    steps: Vec<StepFile>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SealFile {
    RoundRobin,
    RunToCompletion,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NameFile {
    after: usize,
    name: String,
}

/// How far a saved run went in a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reopened {
    /// This many of its steps came through.
    pub steps: usize,
    /// It has this many.
    pub of: usize,
    /// What there is to say: where it stopped and why, what is gone, which hold makes no sense any more.
    pub remarks: Vec<String>,
}

/// What became of steps that were tried again.
struct WalkedAgain {
    /// The node after each of them, as far as they came through.
    nodes: Vec<Option<NodeId>>,
    /// Where that ended, if there was anywhere to start from.
    end: Option<(NodeId, Retraced)>,
}

impl StatementFile {
    fn new((process, text, ordinal): Identity) -> Self {
        Self(process, text, ordinal)
    }

    fn identity(&self) -> Identity {
        (self.0.clone(), self.1.clone(), self.2)
    }
}

impl StepFile {
    fn new(step: NamedStep) -> Self {
        Self {
            pid: step.pid,
            statement: StatementFile::new(step.statement),
            partner: step.partner.map(|(pid, statement)| (pid, StatementFile::new(statement))),
        }
    }

    fn named(&self) -> NamedStep {
        NamedStep {
            pid: self.pid,
            statement: self.statement.identity(),
            partner: self.partner.as_ref().map(|(pid, statement)| (*pid, statement.identity())),
        }
    }
}

impl TraceFile {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: Self = serde_json::from_str(text).map_err(|error| format!("this is no saved run: {error}"))?;
        match file.fabius_trace {
            VERSION | UNORDERED => Ok(file),
            other => Err(format!("this run was saved in form {other}; form {VERSION} is understood")),
        }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The model that it was saved from, and the property.
    pub fn about(&self) -> (&str, &str) {
        (&self.model, &self.property)
    }
}

impl Exploration {
    /// The numbers of all nodes in a file, and what branches off from the line.
    fn branches(&self) -> (Vec<usize>, Vec<BranchFile>) {
        let program = &self.target().program;
        let mut numbers = vec![usize::MAX; self.size()];
        for (number, node) in self.line().iter().enumerate() {
            numbers[node.0 as usize] = number;
        }
        let (mut next, mut branches, mut all) = (self.line().len(), Vec::new(), Vec::new());
        // A node comes after its parent, so that has a number already.
        for first in (0..self.size()).filter_map(|node| u32::try_from(node).ok()).map(NodeId) {
            if numbers[first.0 as usize] != usize::MAX {
                continue;
            }
            let from = self.parent(first).map_or(0, |parent| numbers[parent.0 as usize]);
            let (mut node, mut moves) = (Some(first), Vec::new());
            while let Some(here) = node {
                numbers[here.0 as usize] = next;
                next += 1;
                moves.extend(self.tree.step(here));
                node = self.children(here).into_iter().find(|child| numbers[child.0 as usize] == usize::MAX);
            }
            branches.push((from, all.len()..all.len() + moves.len()));
            all.extend(moves);
        }
        let steps: Vec<StepFile> = name_steps(program, &all).into_iter().map(StepFile::new).collect();
        let branch = |(from, steps_of): (usize, Range<usize>)| BranchFile { from, steps: steps[steps_of].to_vec() };
        let branches = branches.into_iter().map(branch).collect();
        (numbers, branches)
    }

    /// Tries steps of a file again from a node that came back; without one, none of them.
    fn walk_again(
        &mut self,
        retracing: &Retracing<'_>,
        from: Option<NodeId>,
        steps: &[StepFile],
    ) -> Result<WalkedAgain, String> {
        let mut nodes = vec![None; steps.len()];
        let Some(from) = from else { return Ok(WalkedAgain { nodes, end: None }) };
        let named: Vec<NamedStep> = steps.iter().map(StepFile::named).collect();
        let state = self.situation(from).state.clone();
        let traced = retracing.from(state, self.fault(from).is_some(), &named);
        let mut way = vec![from];
        for wanted in &traced.path {
            way.push(self.step_from(way[way.len() - 1], *wanted)?);
        }
        nodes.iter_mut().zip(&traced.after).for_each(|(node, after)| *node = way.get(*after).copied());
        Ok(WalkedAgain { nodes, end: way.last().map(|end| (*end, traced)) })
    }

    /// Tries again what else was tried, each branch from the node that it starts from. `nodes` are those of the line by their
    /// numbers, and those of the branches are added.
    fn branch_again(
        &mut self,
        file: &TraceFile,
        retracing: &Retracing<'_>,
        nodes: &mut Vec<Option<NodeId>>,
        remarks: &mut Vec<String>,
    ) -> Result<(), String> {
        let mut stopped = 0;
        for branch in &file.branches {
            let from = *nodes.get(branch.from).ok_or("a branch of this run starts nowhere")?;
            let walked = self.walk_again(retracing, from, &branch.steps)?;
            stopped += usize::from(walked.end.is_none_or(|(_, traced)| traced.blocked.is_some()));
            nodes.extend(walked.nodes);
        }
        match stopped {
            0 => {}
            1 => remarks.push("one other branch stops earlier".to_owned()),
            count => remarks.push(format!("{count} other branches stop earlier")),
        }
        Ok(())
    }

    /// Says of every branch that ends where it may not that it goes wrong there.
    fn mark_dead_ends(&mut self) {
        if self.target().property != SAFETY {
            return;
        }
        let program = Arc::clone(&self.target().program);
        for node in (0..self.size()).filter_map(|node| u32::try_from(node).ok()).map(NodeId) {
            let is_end = self.children(node).is_empty() && !self.tree.is_broken(node);
            if is_end && ending(&program, &self.state_at(node)) == Ending::Invalid {
                self.mark_error(node);
            }
        }
    }

    /// The line as a file, with what else was tried, where one is, holds and names.
    pub fn save(&self) -> TraceFile {
        let program = &self.target().program;
        let tip = self.line().last().copied().unwrap_or(NodeId::ROOT);
        let hold = |hold: &Hold| {
            let (others, condition) = match &hold.until {
                Until::Released => (None, None),
                Until::Others(others) => (Some(*others), None),
                Until::Condition(condition) => (None, Some(condition.text.clone())),
            };
            HoldFile { pid: hold.pid, others, condition }
        };
        let (numbers, branches) = self.branches();
        let named = |(node, name): (NodeId, &str)| {
            let after = *numbers.get(node.0 as usize)?;
            Some(NameFile { after, name: name.to_owned() })
        };
        TraceFile {
            fabius_trace: VERSION,
            model: self.loaded().name.clone(),
            property: self.target().property.clone(),
            steps: name_steps(program, &self.path(tip)).into_iter().map(StepFile::new).collect(),
            here: self.depth(self.here()),
            loop_start: self.lasso().map(|lasso| self.depth(lasso.start)),
            holds: self.all_holds().iter().map(hold).collect(),
            sealed: self.sealed().map(|seal| match seal {
                Seal::RoundRobin => SealFile::RoundRobin,
                Seal::RunToCompletion => SealFile::RunToCompletion,
            }),
            branches,
            names: self.names().filter_map(named).collect(),
            statements: statements(program).into_iter().map(StatementFile::new).collect(),
        }
    }

    /// Opens a model on a saved run, as far as that goes in it.
    ///
    /// # Errors
    /// If the model cannot be walked at all, in a sentence.
    pub fn reopen(loaded: Arc<Loaded>, file: &TraceFile) -> Result<(Self, Reopened), String> {
        let mut remarks = Vec::new();
        let target = ExplorationTarget::of(&loaded, Some(&file.property), &Settings::default()).or_else(|finding| {
            remarks.push(finding.headline);
            ExplorationTarget::of(&loaded, None, &Settings::default()).map_err(|finding| finding.headline)
        })?;
        let mut new = Self::open(loaded, target)?;
        let known: Vec<Identity> = file.statements.iter().map(StatementFile::identity).collect();
        let program = Arc::clone(&new.target().program);
        let retracing = match file.fabius_trace {
            UNORDERED => Retracing::unordered(&program, &known),
            _ => Retracing::new(&program, &known),
        };
        let mut nodes = vec![Some(NodeId::ROOT)];
        let walked = new.walk_again(&retracing, Some(NodeId::ROOT), &file.steps)?;
        nodes.extend(walked.nodes);
        let (end, traced) = walked.end.ok_or("this run starts nowhere")?;
        for index in &traced.gone {
            if let Some(step) = file.steps.get(*index) {
                remarks.push(format!("step {} is left out: `{}` is gone", index + 1, step.statement.1));
            }
        }
        if let Some(blocked) = &traced.blocked {
            let reason = &blocked.reason;
            remarks.push(format!(
                "stopped before step {}: {} cannot take `{}`: {reason}",
                blocked.step, blocked.process, blocked.text
            ));
        }
        let whole = traced.blocked.is_none() && traced.gone.is_empty() && traced.path.len() == file.steps.len();
        new.follow(end);
        if let Some(start) = file.loop_start.filter(|start| whole && *start < traced.path.len()) {
            let start = new.line().get(start).copied().filter(|start| new.same_state(*start, end));
            start.into_iter().for_each(|start| new.remember_loop(end, start));
        }
        new.branch_again(file, &retracing, &mut nodes, &mut remarks)?;
        new.mark_dead_ends();
        for name in &file.names {
            if let Some(node) = nodes.get(name.after).copied().flatten() {
                new.set_name(node, &name.name);
            }
        }
        let here = file.here.min(new.line().len().saturating_sub(1));
        new.go_to_depth(here);
        new.hold_again(file, &mut remarks);
        new.forget_history();
        Ok((new, Reopened { steps: traced.after.len(), of: file.steps.len(), remarks }))
    }

    fn hold_again(&mut self, file: &TraceFile, remarks: &mut Vec<String>) {
        for hold in &file.holds {
            let until = match (&hold.others, &hold.condition) {
                (Some(others), _) => Ok(Until::Others(*others)),
                (None, Some(condition)) => self.condition(condition).map(Until::Condition),
                (None, None) => Ok(Until::Released),
            };
            if let Err(why) = until.and_then(|until| self.hold(hold.pid, until)) {
                remarks.push(format!("process {} is not held: {why}", hold.pid));
            }
        }
        if let Some(seal) = file.sealed {
            self.seal(Some(match seal {
                SealFile::RoundRobin => Seal::RoundRobin,
                SealFile::RunToCompletion => Seal::RunToCompletion,
            }));
        }
    }

    /// Whether the states of two nodes are the same.
    fn same_state(&self, a: NodeId, b: NodeId) -> bool {
        let program = &self.target().program;
        self.state_at(a).visible(program) == self.state_at(b).visible(program)
    }
}
