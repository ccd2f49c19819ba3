//! Runs as files: the steps of a line by what they are, with holds and names, so that they can be walked again, also in a
//! model that was edited since.
//!
//! The file is JSON, described in `docs/schema/trace.schema.json`.

use crate::Exploration;
use crate::hold::{Hold, Seal, Until};
use crate::tree::NodeId;
use fabius_engine::{Ground, Identity, Loaded, NamedStep, Settings, name_steps, retrace, statements};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a file says first: the version of its form.
const VERSION: u32 = 1;

/// A run as it is saved.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// 1.
    fabius_trace: u32,
    /// The model it is of.
    model: String,
    /// The property that was asked about.
    property: String,
    /// The steps of the line.
    steps: Vec<StepFile>,
    /// One stands after so many of them.
    here: usize,
    /// So many of them come before the loop, if the line ends in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loop_start: Option<usize>,
    /// Processes that are held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    holds: Vec<HoldFile>,
    /// `round_robin` or `run_to_completion`: delays are forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<SealFile>,
    /// Names of states: after so many steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<NameFile>,
    /// The statements of the model: what is not among them is new.
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
    /// So many of its steps came through.
    pub steps: usize,
    /// It has so many.
    pub of: usize,
    /// What there is to say: where it stopped and why, what is gone, which hold makes no sense any more.
    pub remarks: Vec<String>,
}

impl StatementFile {
    fn new((process, text, ordinal): Identity) -> Self {
        Self(process, text, ordinal)
    }

    fn identity(&self) -> Identity {
        (self.0.clone(), self.1.clone(), self.2)
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
            VERSION => Ok(file),
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

    fn named(&self) -> Vec<NamedStep> {
        let named = |step: &StepFile| NamedStep {
            pid: step.pid,
            statement: step.statement.identity(),
            partner: step.partner.as_ref().map(|(pid, statement)| (*pid, statement.identity())),
        };
        self.steps.iter().map(named).collect()
    }
}

impl Exploration {
    /// The line as a file, with where one is, holds and names.
    pub fn save(&self) -> TraceFile {
        let program = &self.ground().program;
        let tip = self.line().last().copied().unwrap_or(NodeId::ROOT);
        let step = |step: NamedStep| StepFile {
            pid: step.pid,
            statement: StatementFile::new(step.statement),
            partner: step.partner.map(|(pid, statement)| (pid, StatementFile::new(statement))),
        };
        let hold = |hold: &Hold| {
            let (others, condition) = match &hold.until {
                Until::Released => (None, None),
                Until::Others(others) => (Some(*others), None),
                Until::Condition(condition) => (None, Some(condition.text.clone())),
            };
            HoldFile { pid: hold.pid, others, condition }
        };
        let on_line = |(node, name): (NodeId, &str)| {
            let after = self.line().iter().position(|other| *other == node)?;
            Some(NameFile { after, name: name.to_owned() })
        };
        TraceFile {
            fabius_trace: VERSION,
            model: self.loaded().name.clone(),
            property: self.ground().property.clone(),
            steps: name_steps(program, &self.path(tip)).into_iter().map(step).collect(),
            here: self.depth(self.here()),
            loop_start: self.lasso().map(|lasso| self.depth(lasso.start)),
            holds: self.all_holds().iter().map(hold).collect(),
            sealed: self.sealed().map(|seal| match seal {
                Seal::RoundRobin => SealFile::RoundRobin,
                Seal::RunToCompletion => SealFile::RunToCompletion,
            }),
            names: self.names().filter_map(on_line).collect(),
            statements: statements(program).into_iter().map(StatementFile::new).collect(),
        }
    }

    /// Opens a model on a saved run, as far as that goes in it.
    ///
    /// # Errors
    /// If the model cannot be walked at all, in a sentence.
    pub fn reopen(loaded: Arc<Loaded>, file: &TraceFile) -> Result<(Self, Reopened), String> {
        let mut remarks = Vec::new();
        let ground = Ground::of(&loaded, Some(&file.property), &Settings::default()).or_else(|finding| {
            remarks.push(finding.headline);
            Ground::of(&loaded, None, &Settings::default()).map_err(|finding| finding.headline)
        })?;
        let mut new = Self::open(loaded, ground)?;
        let known: Vec<Identity> = file.statements.iter().map(StatementFile::identity).collect();
        let traced = retrace(&new.ground().program, new.ground().watch, &file.named(), &known)?;
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
        let end = new.adopt(&traced.path)?;
        let whole = traced.blocked.is_none() && traced.gone.is_empty() && traced.path.len() == file.steps.len();
        new.follow(end);
        if let Some(start) = file.loop_start.filter(|start| whole && *start < traced.path.len()) {
            let start = new.line().get(start).copied().filter(|start| new.same_state(*start, end));
            start.into_iter().for_each(|start| new.remember_loop(end, start));
        }
        for name in &file.names {
            if let Some(node) = new.line().get(name.after).copied() {
                new.set_name(node, &name.name);
            }
        }
        let here = file.here.min(new.line().len().saturating_sub(1));
        new.go_to_depth(here);
        new.hold_again(file, &mut remarks);
        new.forget_history();
        Ok((new, Reopened { steps: traced.steps, of: file.steps.len(), remarks }))
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
        let program = &self.ground().program;
        self.state_at(a).visible(program) == self.state_at(b).visible(program)
    }
}
