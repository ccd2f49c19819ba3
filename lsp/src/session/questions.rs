//! Questions about a model that somebody waits for and that take a search: executions, contexts, deadlocks at a line.

use super::jobs::{Job, RunId, Searched, Work, memory_max};
use super::runs::{Found, KeptExecutions, KeptRun, Origin, Shared};
use super::sweeps::{SweepProgress, sweep};
use super::unread::UnreadText;
use super::{Notice, Session};
use super::{causes, costs, mutants};
use fabius_analysis::Line;
use fabius_analysis::cost::Costs;
use fabius_analysis::state_graph::{
    DRAWN_NODES_MAX, GraphLimits, Grouping, STATES_MAX, StateGraph, automata, state_graph, svg,
};
use fabius_analysis::stuck::{NotAsked, Stuck, StuckRequest, stuck};
use fabius_base::{Cancel, Limits};
use fabius_causes::Causes;
use fabius_engine::contexts::{ContextsReport, ContextsRequest, NotJudged, contexts};
use fabius_engine::sweep::{Cell, Parameter, Prediction};
use fabius_engine::words::counted;
use fabius_executions::{Counted, ExecutionsReport, ExecutionsRequest, ListedExecution, NotCounted, TreeBranch};
use fabius_mutation::report::MutationReport;
use fabius_supervise::memory;
use std::sync::Arc;
use std::time::Instant;

/// Nodes explored to count executions.
const NODES_MAX: u64 = 1_000_000;
/// Memory of a graph, which is kept.
const GRAPH_BYTES_MAX: u64 = 256 << 20;
/// A way to a deadlock at a line is looked for in this many states.
const STUCK_STATES_MAX: u64 = 1_000_000;
/// Processes that a context creates.
const CONTEXT_PROCESSES_MAX: usize = 3;
/// Contexts that are checked, …
const CONTEXTS_MAX: usize = 1_000;
/// … each in this many states.
const CONTEXT_STATES_MAX: u64 = 100_000;

/// Which executions are counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bounds {
    /// The number of times that each process may pass each of its loops.
    pub laps: Option<u32>,
    /// The number of steps after which they are cut off.
    pub within: Option<u32>,
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// How many executions there are; what is found is kept.
    Executions(Shared, Bounds),
    /// The alternatives at the end of a branch of the tree of choices: of the first one, or of the one with these executions.
    Alternatives(Shared, Option<(u128, u128)>),
    /// An execution, by its number from 0.
    Execution(Shared, u128),
    /// In which contexts a model goes wrong that have a process of a type.
    Contexts(Box<UnreadText>, String),
    /// Whether a deadlock can be reached in which a process waits at a line.
    Stuck(Line),
    /// A picture of the state graph.
    StateGraph(Grouping),
    /// A picture of the automata of the processes.
    Automata,
    /// What the states of the model are spent on.
    Costs,
    /// Which changes of the model no property notices.
    Mutants,
    /// The causes of the violations of a property.
    Causes(String),
    /// What a text comes to with each of these values of its macros.
    Sweep(Box<UnreadText>, Vec<Parameter>),
}

/// What is known about it.
#[derive(Clone, Debug)]
pub enum Answer {
    /// How many there are.
    Executions(Box<ExecutionsReport>),
    /// The branches from the first one on, then the alternatives.
    Alternatives(Vec<TreeBranch>),
    /// The execution, if there is such a one.
    Execution(Option<Box<ListedExecution>>),
    /// The contexts.
    Contexts(ContextsReport),
    /// Whether it can get stuck there.
    Stuck(Box<Stuck>),
    /// What the states are spent on.
    Costs(Box<Costs>),
    /// What became of the mutants.
    Mutants(Box<MutationReport>),
    /// The causes.
    Causes(Box<Causes>),
    /// What came of each combination of values, and what the next value will cost.
    Sweep(Vec<Cell>, Vec<Prediction>),
    /// The graph, and the picture of it (SVG).
    Drawing(Box<StateGraph>, String),
    /// Why nothing can be said.
    Refused(String),
    /// Fabius itself is wrong: what happened.
    Failed(String),
}

/// Answers a question; a sweep tells how far it is.
pub(super) fn answer(job: &Job, question: &Question, cancel: &Cancel, tell: &mut dyn FnMut(SweepProgress)) -> Answer {
    match question {
        Question::Executions(counted, bounds) => count(job, counted, *bounds, cancel),
        Question::Alternatives(counted, branch) => match counted.lock().as_mut() {
            Some(counted) => counted.alternatives(*branch).map_or_else(Answer::Failed, Answer::Alternatives),
            None => nothing_counted(),
        },
        Question::Execution(counted, number) => match counted.lock().as_mut() {
            Some(counted) => {
                counted.execution(*number).map_or_else(Answer::Failed, |found| Answer::Execution(found.map(Box::new)))
            }
            None => nothing_counted(),
        },
        Question::Contexts(text, with) => judge_contexts(job, text, with, cancel),
        Question::Stuck(line) => {
            let began = Instant::now();
            let limits = limits(job, STUCK_STATES_MAX);
            let request = StuckRequest { line: Some(line.clone()), limits, ..StuckRequest::default() };
            match stuck(&job.loaded, &request, cancel, &|| began.elapsed()) {
                Ok(found) => Answer::Stuck(Box::new(found)),
                Err(NotAsked::Refused(why)) => Answer::Refused(why),
                Err(NotAsked::Faulty) => faulty(),
            }
        }
        Question::StateGraph(grouping) => draw(job, Some(grouping), cancel),
        Question::Automata => draw(job, None, cancel),
        Question::Costs => costs::answer(job, cancel),
        Question::Mutants => mutants::answer(job, cancel),
        Question::Causes(property) => causes::answer(job, property, cancel),
        Question::Sweep(text, parameters) => sweep(job, text, parameters, cancel, tell),
    }
}

/// The picture of the state graph with states put together, or of the automata.
fn draw(job: &Job, grouping: Option<&Grouping>, cancel: &Cancel) -> Answer {
    let loaded = &job.loaded;
    let _watch = memory::Watch::beside(memory_max(job), cancel);
    let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return faulty() };
    let line_of = |span| loaded.line_of(span);
    let graph = match grouping {
        None => Ok(automata(&program, &line_of)),
        Some(grouping) => state_graph(&program, grouping, GraphLimits::states(STATES_MAX), &line_of, cancel),
    };
    match graph.map(StateGraph::readable) {
        Err(why) => Answer::Refused(why),
        Ok(graph) if DRAWN_NODES_MAX < graph.nodes.len() => {
            let nodes = counted(graph.nodes.len() as u64, "node");
            Answer::Refused(format!(
                "the graph has {nodes}, and a picture of more than {DRAWN_NODES_MAX} cannot be read: put states together"
            ))
        }
        Ok(graph) => {
            let picture = svg(&graph);
            Answer::Drawing(Box::new(graph), picture)
        }
    }
}

fn nothing_counted() -> Answer {
    Answer::Refused("no executions were counted".to_owned())
}

pub(super) fn faulty() -> Answer {
    Answer::Refused("the model is faulty".to_owned())
}

fn limits(job: &Job, states_max: u64) -> Limits {
    Limits { states_max: Some(states_max), memory_bytes_max: Some(memory_max(job)), ..Limits::default() }
}

fn count(job: &Job, shared: &Shared, bounds: Bounds, cancel: &Cancel) -> Answer {
    let began = Instant::now();
    let memory_bytes_max = Some(memory_max(job).min(GRAPH_BYTES_MAX));
    let limits = Limits { memory_bytes_max, ..limits(job, NODES_MAX) };
    let Bounds { laps, within } = bounds;
    let request = ExecutionsRequest { laps_max: laps, steps_max: within, limits, ..ExecutionsRequest::default() };
    let mut kept = shared.lock();
    match Counted::new(&job.loaded, &request, cancel, &|| began.elapsed()) {
        Ok(counted) => Answer::Executions(Box::new(kept.insert(counted).report.clone())),
        Err(NotCounted::Refused(why)) => Answer::Refused(why),
        Err(NotCounted::Faulty) => faulty(),
    }
}

fn judge_contexts(job: &Job, text: &UnreadText, with: &str, cancel: &Cancel) -> Answer {
    let began = Instant::now();
    let request = ContextsRequest {
        processes_max: CONTEXT_PROCESSES_MAX,
        with: Some(with.to_owned()),
        contexts_max: CONTEXTS_MAX,
        limits: limits(job, CONTEXT_STATES_MAX),
        ..ContextsRequest::default()
    };
    let language = job.loaded.language();
    let mut load = |statements: &[String]| {
        let text = UnreadText { text: text.text.clone() + &language.initial_process(statements), ..text.clone() };
        text.read(true, cancel).map(|(loaded, _)| loaded)
    };
    match contexts(&request, &mut load, cancel, &|| began.elapsed()) {
        Ok(report) => Answer::Contexts(report),
        Err(NotJudged::Refused(why)) => Answer::Refused(why),
        Err(NotJudged::Internal(why)) => Answer::Failed(why),
        Err(NotJudged::Stopped(_)) => Answer::Refused("there was no time".to_owned()),
        Err(NotJudged::Faulty(loaded, statements)) => {
            let first = loaded.findings.iter().find(|finding| finding.is_error());
            let why = first.map_or_else(String::new, |finding| format!(": {}", finding.headline));
            let with = if statements.is_empty() { String::new() } else { format!("with {}, ", statements.join("; ")) };
            Answer::Refused(format!("{with}the model is faulty{why}"))
        }
    }
}

impl Session {
    /// Begins to answer a question about the present text of a document; [`Notice::Answered`] brings the answer.
    pub(super) fn ask(&mut self, name: &str, question: Question) -> Option<RunId> {
        let loaded = Arc::clone(&self.reading(name)?.loaded);
        let searched = Searched::document(&loaded);
        self.start_beside(name, loaded, searched, Work::Ask(Box::new(question)))
    }

    /// Counts the executions of a document. Those that were counted before are forgotten, also of other documents: a graph
    /// takes memory.
    pub fn count_executions(&mut self, name: &str, bounds: Bounds) -> Option<RunId> {
        let origin = Origin::of(&*self.reading(name)?);
        let before: Vec<RunId> =
            self.documents.values_mut().filter_map(|document| Some(document.asked.executions.take()?.run)).collect();
        before.into_iter().for_each(|run| self.cancel(run));
        let counted = Shared::default();
        let run = self.ask(name, Question::Executions(counted.clone(), bounds))?;
        let kept = KeptExecutions { origin, counted, run };
        self.documents.get_mut(name)?.asked.executions = Some(kept);
        Some(run)
    }

    /// Asks for the alternatives at the end of a branch of the executions that were counted.
    pub fn alternatives(&mut self, name: &str, branch: Option<(u128, u128)>) -> Option<RunId> {
        let counted = self.documents.get(name)?.asked.executions.as_ref()?.counted.clone();
        self.ask(name, Question::Alternatives(counted, branch))
    }

    /// Asks for one of the executions that were counted.
    pub fn execution(&mut self, name: &str, number: u128) -> Option<RunId> {
        let counted = self.documents.get(name)?.asked.executions.as_ref()?.counted.clone();
        self.ask(name, Question::Execution(counted, number))
    }

    /// Asks in which contexts with a process of a type a document goes wrong.
    pub fn contexts(&mut self, name: &str, with: &str) -> Option<RunId> {
        let text = self.unread(name, self.documents.get(name)?.text.to_string());
        self.ask(name, Question::Contexts(Box::new(text), with.to_owned()))
    }

    /// Asks whether a deadlock can be reached in which a process waits at a line.
    pub fn stuck_at(&mut self, name: &str, line: Line) -> Option<RunId> {
        self.ask(name, Question::Stuck(line))
    }

    /// Asks for a picture of the state graph of a document, or without a grouping of its automata.
    pub fn draw(&mut self, name: &str, grouping: Option<Grouping>) -> Option<RunId> {
        self.ask(name, grouping.map_or(Question::Automata, Question::StateGraph))
    }

    /// A question was answered; runs that come with it are kept.
    pub(super) fn answered(&mut self, run: RunId, job: &Job, answer: Option<Answer>) -> Vec<Notice> {
        let Work::Ask(question) = &job.work else { return Vec::new() };
        let mut notices = self.swept(run, job, answer.as_ref());
        notices.extend(self.costs_known(run, job, answer.as_ref()));
        notices.extend(self.mutants_known(run, job, answer.as_ref()));
        if let Some(Answer::Failed(why)) = &answer {
            notices.push(Notice::Failed(job.document.clone(), why.clone()));
        }
        if let Some(document) = self.documents.get_mut(&job.document) {
            let reading = document.reading.clone();
            let present = reading.filter(|reading| Arc::ptr_eq(&reading.loaded, &job.loaded));
            let kept = document.asked.executions.as_ref();
            let origin = match &**question {
                Question::Execution(counted, _) => {
                    kept.filter(|kept| kept.counted == *counted).map(|kept| kept.origin.clone())
                }
                _ => present.map(|reading| Origin::of(&reading)),
            };
            let kept = origin.zip(answer.as_ref()).map(|(origin, answer)| runs_of(origin, question, answer));
            kept.into_iter().flatten().for_each(|kept| document.asked.keep(kept));
        }
        notices.push(Notice::Answered(run, Box::new(answer), Box::new(job.clone())));
        notices
    }
}

/// The name by which a run is asked for that answers a question.
pub fn key_of(question: &Question) -> Option<String> {
    match question {
        Question::Execution(_, number) => Some(format!("execution {}", number.saturating_add(1))),
        Question::Stuck(line) => Some(format!("deadlock at line {}", line.line)),
        Question::Executions(..)
        | Question::Alternatives(..)
        | Question::Contexts(..)
        | Question::StateGraph(_)
        | Question::Automata
        | Question::Costs
        | Question::Mutants
        | Question::Causes(_)
        | Question::Sweep(..) => None,
    }
}

/// The runs that an answer brings.
fn runs_of(origin: Origin, question: &Question, answer: &Answer) -> Vec<KeptRun> {
    match answer {
        Answer::Causes(found) => causes::runs(&origin, found),
        _ => run_of(origin, question, answer).into_iter().collect(),
    }
}

/// The only run that an answer brings.
fn run_of(origin: Origin, question: &Question, answer: &Answer) -> Option<KeptRun> {
    let key = key_of(question)?;
    match answer {
        Answer::Execution(Some(found)) => {
            let (kind, ending) = ending(found);
            Some(KeptRun { key, origin, kind, message: ending.to_owned(), run: Found::Execution(found.clone()) })
        }
        Answer::Stuck(found) => {
            let run = Found::Deadlock(Box::new(found.runs.first()?.clone()));
            Some(KeptRun { key, origin, kind: "stuck", message: found.report.reason.clone(), run })
        }
        _ => None,
    }
}

/// How an execution ends, in a word and in words.
fn ending(execution: &ListedExecution) -> (&'static str, &'static str) {
    use fabius_executions::End;
    match (execution.end, execution.failed) {
        (End::Broken, _) => ("failed", "fails with a runtime error"),
        (End::Stuck, true) => ("stuck", "fails an assertion and gets stuck"),
        (End::Stuck, false) => ("stuck", "gets stuck"),
        (End::Valid, true) => ("failed", "fails an assertion"),
        (End::Valid, false) => ("well", "ends well"),
        (End::Waiting, _) => ("waiting", "waits in a loop for ever"),
        (End::Cut, _) => ("cut", "is cut off"),
    }
}
