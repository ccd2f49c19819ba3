//! Two runs beside one another: which steps correspond, where the runs depart from each other, and in what they differ.
//!
//! Steps are matched by what they do, not by line: by the process that moves (the how-manyth of its type it is, in the order
//! of creation), the statement, and of a rendezvous the partner. The runs may be of two versions of a model: statements of the
//! newer one are found in the older one by comparing the sequences of both, as in a [`Followed`](crate::Followed). Of the
//! matchings that keep the order of both runs, one with the most steps is chosen; if the part between what is alike at both ends is too long for
//! that, no step of it is matched.

mod text;
mod versions;

pub use fabius_witness::format::json::StepRecord;
pub use fabius_witness::show::process_name;
pub use text::{ComparisonLine, LineKind, beginning, comparison_lines, run_line, version_lines, version_names};
pub use versions::{FollowedRun, FollowedRunRecord, Version, VersionComparison, compare_versions, trace_of_path};

use crate::replay::{Identities, Identity, Instances, aligned, alignment, identities, statements_of};
use fabius_base::SourceMap;
use fabius_program::{EdgeId, Program};
use fabius_witness::format::json::step_record;
use fabius_witness::{Change, Message, Snapshot, Step, Trace};
use serde::Serialize;
use std::collections::HashMap;

/// Longer runs are not compared.
pub const COMPARED_STEPS_MAX: usize = 10_000;

/// A run that is to be compared.
#[derive(Clone, Copy)]
pub struct ComparedRun<'a> {
    /// The program that its trace tells of.
    pub program: &'a Program,
    /// The run.
    pub trace: &'a Trace,
    /// The texts of the program.
    pub map: &'a SourceMap,
    /// How it ends, in a few words.
    pub ends: &'a str,
}

/// Two runs beside one another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunComparison {
    /// The first run.
    pub first: RunSummary,
    /// The second run.
    pub second: RunSummary,
    /// Initial values that differ.
    pub initial: Vec<ValueDifference>,
    /// The steps of both, in their order.
    pub rows: Vec<ComparedStep>,
    /// Number of rows at the beginning in which both runs take the same step with the same effect.
    pub alike: usize,
    /// Values that differ in the last states.
    pub last: Vec<ValueDifference>,
}

/// A run in a few words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSummary {
    /// Number of steps.
    pub steps: usize,
    /// How it ends.
    pub ends: String,
    /// Number of the first step of its loop, if it ends in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
}

/// A step that both runs take, or one of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedStep {
    /// The step of the first run; absent if only the second one takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<StepRecord>,
    /// The step of the second run; absent if only the first one takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<StepRecord>,
    /// Both take it, with the same effect.
    pub same: bool,
}

/// A value that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValueDifference {
    /// The variable or channel, as it is called in the first run.
    pub name: String,
    /// The value in the first run.
    pub first: String,
    /// The value in the second run.
    pub second: String,
}

/// A process, whatever its number is: the name of its type, and how many of this type were created before it.
type Instance = (String, usize);

/// A step by what it does.
#[derive(PartialEq, Eq)]
struct Key {
    who: Instance,
    what: Identity,
    partner: Option<(Instance, Identity)>,
}

/// A name or value, with the process to which it belongs.
type Neutral = (Option<Instance>, String);

/// What a step brings about: values that it changes, with the process to which a variable belongs; messages, output, faults.
#[derive(PartialEq, Eq)]
struct Effect {
    values: Vec<(Neutral, Neutral)>,
    messages: Vec<(Neutral, String, bool)>,
    printed: String,
    fault: Option<String>,
    ended: bool,
}

/// A step with all that is compared.
struct Described {
    key: Key,
    effect: Effect,
    record: StepRecord,
}

impl Instances {
    fn of(&self, pid: u8, process: &str) -> Instance {
        self.by_pid.get(&pid).cloned().unwrap_or_else(|| (process.to_owned(), usize::from(pid)))
    }

    /// A name without the process to which it belongs, and that process, if it is one of a variable or channel of a process.
    fn split<'n>(&self, name: &'n str) -> (Option<Instance>, &'n str) {
        let Some((owner, bare)) = name.split_once(':') else { return (None, name) };
        let owned = |(pid, (process, _)): &(&u8, &Instance)| process_name(process, usize::from(**pid)) == owner;
        match self.by_pid.iter().find(owned) {
            Some((_, instance)) => (Some(instance.clone()), bare),
            None => (None, name),
        }
    }

    /// A name or value that means the same in runs in which the processes have other numbers.
    fn neutral(&self, name: &str) -> Neutral {
        let (owner, bare) = self.split(name);
        (owner, bare.to_owned())
    }
}

/// Compares two runs.
///
/// # Errors
/// If a run is too long, in a sentence without its full stop.
pub fn compare_runs(first: &ComparedRun<'_>, second: &ComparedRun<'_>) -> Result<RunComparison, String> {
    if COMPARED_STEPS_MAX < first.trace.len().max(second.trace.len()) {
        return Err(format!("runs with more than {COMPARED_STEPS_MAX} steps are not compared"));
    }
    let known = [identities(first.program), aligned(second.program, &statements_of(first.program))];
    let (one, processes) = described(first, &known[0]);
    let (other, other_processes) = described(second, &known[1]);
    let pairs = alignment::common(&one, &other, |a, b| a.key == b.key);
    let rows = rows(one, other, &pairs);
    let [start, other_start] = [first, second].map(|run| Instances::at_start(run.trace));
    Ok(RunComparison {
        first: summary(first),
        second: summary(second),
        initial: differences((&first.trace.start, &start), (&second.trace.start, &other_start)),
        alike: rows.iter().take_while(|row| row.same).count(),
        rows,
        last: differences((&first.trace.last, &processes), (&second.trace.last, &other_processes)),
    })
}

fn summary(run: &ComparedRun<'_>) -> RunSummary {
    RunSummary { steps: run.trace.len(), ends: run.ends.to_owned(), loop_start: run.trace.cycle_start }
}

/// The steps of a run, and its processes at the end.
fn described(run: &ComparedRun<'_>, known: &Identities) -> (Vec<Described>, Instances) {
    let mut instances = Instances::at_start(run.trace);
    let mut all = Vec::with_capacity(run.trace.len());
    for step in run.trace.taken() {
        let key = key(run.program, &step, known, &instances);
        // Processes that the step creates have values, too.
        instances.create(&step);
        all.push(Described { key, effect: effect(&step, &instances), record: step_record(&step, run.map) });
    }
    (all, instances)
}

fn key(program: &Program, step: &Step, known: &Identities, instances: &Instances) -> Key {
    let what = |edge: EdgeId| {
        let process = program.process_of(edge);
        let (name, statement) = (program.process(process).name.clone(), program.statement(process, edge));
        let found = known.by_number.get(&(name.clone(), statement.number)).cloned();
        found.unwrap_or_else(|| (name, statement.text.to_string(), 0))
    };
    let partner = step.taken.partner.zip(step.partner.as_ref());
    Key {
        who: instances.of(step.actor.pid, &step.actor.process),
        what: what(step.taken.edge),
        partner: partner.map(|((_, edge), partner)| (instances.of(partner.pid, &partner.process), what(edge))),
    }
}

fn effect(step: &Step, instances: &Instances) -> Effect {
    let value = |change: &Change| (instances.neutral(&change.name), instances.neutral(&change.new));
    let message = |message: &Message| (instances.neutral(&message.channel), message.fields.clone(), message.sent);
    Effect {
        values: step.changes.iter().map(value).collect(),
        messages: step.messages.iter().map(message).collect(),
        printed: step.printed.clone(),
        fault: step.fault.map(|fault| fault.to_string()),
        ended: step.ended,
    }
}

/// The steps of two runs in one sequence: those that only the first one takes come before those that only the second one takes.
fn rows(one: Vec<Described>, other: Vec<Described>, pairs: &[(usize, usize)]) -> Vec<ComparedStep> {
    let (lengths, mut rows) = ((one.len(), other.len()), Vec::new());
    let (mut one, mut other) = (one.into_iter().enumerate().peekable(), other.into_iter().enumerate().peekable());
    for (i, j) in pairs.iter().copied().chain([lengths]) {
        while let Some((_, step)) = one.next_if(|(at, _)| *at < i) {
            rows.push(ComparedStep { first: Some(step.record), second: None, same: false });
        }
        while let Some((_, step)) = other.next_if(|(at, _)| *at < j) {
            rows.push(ComparedStep { first: None, second: Some(step.record), same: false });
        }
        if let (Some((_, first)), Some((_, second))) = (one.next(), other.next()) {
            let same = first.effect == second.effect;
            rows.push(ComparedStep { first: Some(first.record), second: Some(second.record), same });
        }
    }
    rows
}

/// A value of a state: its name, its name as it is shown, and the value.
type NamedValue = (Neutral, String, String);

fn named_values(state: &Snapshot, instances: &Instances) -> Vec<NamedValue> {
    let local = state.processes.iter().flat_map(|status| {
        let value = |(name, value): &(String, String)| (format!("{}:{name}", status.name), value.clone());
        status.variables.iter().map(value)
    });
    let all = state.variables.iter().chain(&state.channels).cloned().chain(local);
    all.map(|(name, value)| (instances.neutral(&name), name, value)).collect()
}

/// Values of what both have that are not the same.
fn differences(one: (&Snapshot, &Instances), other: (&Snapshot, &Instances)) -> Vec<ValueDifference> {
    let others = named_values(other.0, other.1);
    let others: HashMap<&Neutral, &String> = others.iter().map(|(name, _, value)| (name, value)).collect();
    let differing = named_values(one.0, one.1).into_iter().filter_map(|(neutral, name, first)| {
        let second = *others.get(&neutral)?;
        let same = one.1.neutral(&first) == other.1.neutral(second);
        (!same).then(|| ValueDifference { name, first, second: second.clone() })
    });
    differing.collect()
}

impl ComparedStep {
    /// What the step brings about in a run, in a few words: values that it changes, messages that no channel keeps, what it
    /// prints, what is wrong with it.
    pub fn effect(step: &StepRecord) -> String {
        let changes = step.changes.iter().map(|change| format!("{} = {}", change.name, change.new));
        let is_rendezvous = step.partner.is_some();
        let messages = step.messages.iter().filter(|message| is_rendezvous && message.direction == "sent");
        let messages = messages.map(|message| format!("{}!{}", message.channel, message.fields));
        let printed = (!step.printed.is_empty()).then(|| format!("prints {:?}", step.printed));
        let ended = step.ended.then(|| "ends".to_owned());
        changes.chain(messages).chain(printed).chain(ended).chain(step.fault.clone()).collect::<Vec<_>>().join(", ")
    }
}
