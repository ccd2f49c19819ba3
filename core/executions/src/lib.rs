//! The front door to executions: how many essentially different ones a model has, which of them fail, where it gets
//! stuck, and single ones, confirmed by the reference interpreter.
//!
//! Two executions are essentially the same if one becomes the other by exchanging neighbouring steps of different
//! processes that could be taken in either order and leave each other alone. A *step* here is what a process does until
//! another one may move: a statement, or an atomic sequence until it ends, breaks off, or hands control over in a
//! rendezvous. The program is explored as it is written, without merged statements.
//!
//! What is special:
//! * After a failed assertion an execution goes on; after any other runtime error it ends. A step for which such an
//!   error is possible in some reachable state is independent of nothing: what others did before is then part of
//!   what distinguishes executions.
//! * `timeout` depends on everybody: nothing is asleep after a step of the second trial.
//! * A process that only waits in a loop takes no step ([`fabius_search::executions::Independence::is_waiting`]).
//! * A process ends at once where it is all the same to everybody when it does: then its end is no step that could be
//!   taken sooner or later.
//! * Where [`fabius_model::reduction::prepare`] refuses a program, the text does not tell what is independent, and every
//!   interleaving counts.

mod birth_names;
mod birth_order;
mod births;
#[cfg(test)]
mod births_tests;
mod compare;
mod conflicts;
mod counted;
mod footprints;
#[cfg(test)]
mod footprints_tests;
mod learned;
#[cfg(test)]
mod learned_tests;
mod model;
mod referee;
mod report;
mod stateless;
#[cfg(test)]
mod tests;
mod tree;

pub use compare::{Comparison, Difference, EventRecord, FactRecord, OrderRecord};
pub use conflicts::Relation;
pub use counted::Counted;
pub use learned::{NotLearnt, OrderReport, PairReport, StateReport, StatementReport, order_of_statements};
pub use referee::ExecutionOutline;
pub use report::{CycleReport, ExecutionReport, ExecutionsReport};
pub use tree::{BRANCHES_MAX, BranchReport, TreeBranch, branch_report};

use births::{Naming, Numbered, WhyNumbers};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_machine::Refusal;
use fabius_model::SearchedMachine;
use fabius_model::reduction::{self, Preserve, WhyNot};
use fabius_program::facts::Facts;
use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_search::executions::{Cycle, Ended, Execution, Explored, Graph, Settings, explore};
pub use fabius_search::executions::{End, Kind, Method, Numbers};
use fabius_search::toy::Random;
use fabius_search::{Completeness, TreeStore};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::query::event_trace;
use fabius_task::words::limit_reached;
use fabius_witness::Trace;
use fabius_witness::accesses::Access;
use learned::{Commuting, Learnt};
use model::Interleaved;
use referee::Follower;
use std::sync::Arc;
use std::time::Duration;

/// At most this many executions are listed at a time.
pub const LISTED_MAX: usize = 10_000;
/// Nodes explored to count interleavings, unless counting executions took more.
const INTERLEAVING_NODES_MAX: u64 = 1_000_000;

/// How executions are counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum By {
    /// On the graph of states and sleep sets.
    #[default]
    Graph,
    /// One by one, without a table: which steps are independent is told by [`Relation::Footprints`] if that is asked for, else by
    /// [`Relation::Recorded`].
    Stateless(Method),
}

/// What is asked about the executions of a model.
#[derive(Clone, Debug)]
pub struct ExecutionsRequest {
    /// Which executions are listed or drawn.
    pub kind: Kind,
    /// List executions from this number on, counted from 0 among those of the kind.
    pub first: u128,
    /// List this many, at most [`LISTED_MAX`].
    pub count: usize,
    /// Give only an outline of each.
    pub outlines: bool,
    /// Draw this many instead, each as likely as any other, at most [`LISTED_MAX`].
    pub sample: Option<usize>,
    /// Open the tree of choices up to this many branches, at most [`BRANCHES_MAX`].
    pub tree: Option<usize>,
    /// Say in what two executions differ, by their numbers among all, counted from 0.
    pub compare: Option<[u128; 2]>,
    /// Say what distinguishes those that fail, and those that get stuck, from those that end well.
    pub difference: bool,
    /// What the samples depend on.
    pub seed: u64,
    /// Cut executions off after this many steps.
    pub steps_max: Option<u32>,
    /// Let each process take a step that may close one of its loops at most this many times, and cut executions off that
    /// cannot go on because of that.
    pub laps_max: Option<u32>,
    /// How they are counted.
    pub by: By,
    /// Which steps are independent.
    pub relation: Relation,
    /// Tell processes apart by their numbers, also where the model cannot observe them; else by who created them.
    pub numbered: bool,
    /// Leave out steps that need not be explored; the numbers do not depend on it.
    pub reduction: bool,
    /// How much counting may use.
    pub limits: Limits,
}

impl Default for ExecutionsRequest {
    fn default() -> Self {
        Self {
            kind: Kind::All,
            first: 0,
            count: 0,
            outlines: false,
            sample: None,
            tree: None,
            compare: None,
            difference: false,
            seed: 0,
            steps_max: None,
            laps_max: None,
            by: By::Graph,
            relation: Relation::Accords,
            numbered: false,
            reduction: true,
            limits: Limits::default(),
        }
    }
}

/// An execution that the reference interpreter walked.
#[derive(Clone, Debug)]
pub struct ListedExecution {
    /// Its number among all executions, from 0.
    pub number: u128,
    /// Whether a step is faulty.
    pub failed: bool,
    /// How it ends.
    pub end: End,
    /// Its moves.
    pub path: Vec<Move>,
    /// What it does.
    pub trace: Trace,
}

/// What was found out about the executions of a model.
#[derive(Clone, Debug)]
pub struct Executions {
    /// As plain data.
    pub report: ExecutionsReport,
    /// The executions that were asked for.
    pub listed: Vec<ListedExecution>,
    /// The same, if only outlines were asked for.
    pub outlines: Vec<ExecutionOutline>,
    /// The tree of choices, if it was asked for: a branch comes after its parent.
    pub tree: Option<Vec<TreeBranch>>,
    /// The program whose executions they are: the model as it is written.
    pub program: Arc<Program>,
    /// An infinite execution, and how many of its moves come before its cycle, if there is one.
    pub cycle: Option<(Trace, usize)>,
    /// Fabius itself is wrong: what happened.
    pub failure: Option<String>,
}

impl Executions {
    /// A report, without what else was asked for.
    fn of(report: ExecutionsReport, program: &Arc<Program>) -> Self {
        Self {
            report,
            listed: Vec::new(),
            outlines: Vec::new(),
            tree: None,
            program: Arc::clone(program),
            cycle: None,
            failure: None,
        }
    }
}

/// Why executions cannot be counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotCounted {
    /// There is something wrong with the text: see the findings of the model.
    Faulty,
    /// No machine can run the program: why.
    Refused(String),
}

type GraphOf = Graph<TreeStore<u32>>;
type ExploredGraph = Explored<Move, TreeStore<u32>>;

/// Counts the executions of a model, and lists those that are asked for. `now` tells the time since some moment.
///
/// # Errors
/// If they cannot be counted.
pub fn executions(
    loaded: &Loaded,
    request: &ExecutionsRequest,
    cancel: &Cancel,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<Executions, NotCounted> {
    let began = now();
    let elapsed = || (now() - began).as_secs_f64();
    let mut question = Question::asked(loaded, request, cancel)?;
    if let By::Stateless(method) = request.by {
        return match stateless::unsupported(request) {
            Some(why) => Err(NotCounted::Refused(why)),
            None => question.stateless(method, loaded, &elapsed),
        };
    }
    let Begun { mut model, mut explored, mut found } = question.begin(loaded, &elapsed);
    let walked = match explored.ended.clone() {
        _ if model.is_lost() => Err("a state has no tables of independent steps".to_owned()),
        Ended::Complete => question.answer(&mut model, &mut explored.graph, (&mut found, loaded)),
        Ended::Cycle(cycle) => question.walk_cycle(&cycle).map(|trace| found.cycle = Some((trace, cycle.start))),
        Ended::Broken(_) | Ended::Nameless | Ended::Stopped(_) => Ok(()),
    };
    found.failure = found.failure.or_else(|| walked.err().map(|why| internal_error(&why)));
    report::add_listed(&mut found, loaded);
    Ok(found)
}

/// A graph that was explored, and what is known before anything else is asked.
struct Begun {
    model: Interleaved,
    explored: ExploredGraph,
    found: Executions,
}

/// A program, and how it is explored.
struct Question<'a> {
    program: Arc<Program>,
    request: &'a ExecutionsRequest,
    cancel: &'a Cancel,
    watch: Watch,
    /// How processes are told apart.
    naming: Naming,
    /// Of the program that is explored: if processes are told apart by their births, they do not end in it.
    machine: SearchedMachine,
    facts: Arc<Facts>,
    /// Why nothing is independent, if so.
    why_not: Option<WhyNot>,
    /// For each edge, whether it is known to end executions.
    ending: Vec<bool>,
    /// Which steps commute, if that was learnt.
    commuting: Option<Arc<Commuting>>,
}

impl<'a> Question<'a> {
    fn new(program: &Arc<Program>, request: &'a ExecutionsRequest, cancel: &'a Cancel) -> Result<Self, Refusal> {
        let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
        let why_not = match watch.trace {
            Some(_) => Some(WhyNot::Trace),
            None => reduction::prepare(program, Preserve::Deadlocks).err(),
        };
        let mut question = Self {
            program: Arc::clone(program),
            request,
            cancel,
            watch,
            naming: Naming::Numbers(WhyNumbers::Asked),
            machine: SearchedMachine::new(Arc::clone(program), watch)?,
            facts: Arc::new(Facts::of(Arc::clone(program), &[])),
            why_not,
            ending: vec![false; program.edges.len()],
            commuting: None,
        };
        match question.births() {
            Ok(births) => {
                let named = question.needs_names();
                let numbered = Numbered::new(births, named, (program, question.machine.machine().clone()));
                question.name(Naming::Births(Box::new(numbered)))?;
            }
            Err(why) => question.naming = Naming::Numbers(why),
        }
        Ok(question)
    }

    /// What is asked about a model, if it can be run.
    fn asked(loaded: &Loaded, request: &'a ExecutionsRequest, cancel: &'a Cancel) -> Result<Self, NotCounted> {
        let program = loaded.checkable().and_then(|_| loaded.as_written()).ok_or(NotCounted::Faulty)?;
        Self::new(&program, request, cancel).map_err(|why| NotCounted::Refused(why.to_string()))
    }

    /// Explores the graph.
    fn begin(&mut self, loaded: &Loaded, elapsed: &dyn Fn() -> f64) -> Begun {
        let request = self.request;
        let learnt = self.learn_if_asked(loaded);
        let (model, explored) = self.count();
        let seconds = elapsed();
        let interleavings = self.interleavings(&explored);
        let bounded = request.steps_max.is_some() || request.laps_max.is_some();
        let complete = explored.ended == Ended::Complete;
        let counted = report::Counted {
            numbers: explored.graph.numbers(),
            ended: &explored.ended,
            nodes: explored.statistics.nodes,
            memory_bytes: explored.statistics.memory_bytes,
            outcomes: (complete && !bounded).then_some(explored.statistics.outcomes),
            redundant_runs: None,
        };
        let mut report = report::of(loaded, request, self, &counted, interleavings, seconds);
        let mut failure = None;
        match learnt {
            Some(Ok(order)) => report.order = Some(order),
            Some(Err(NotLearnt::Unknown(why))) => report.not_learnt = Some(why),
            Some(Err(NotLearnt::Failed(why))) => failure = Some(why),
            None => {}
        }
        let found = Executions { failure, ..Executions::of(report, &self.program) };
        Begun { model, explored, found }
    }

    /// Learns which steps are independent, if that is asked for.
    fn learn_if_asked(&mut self, loaded: &Loaded) -> Option<Result<OrderReport, NotLearnt>> {
        if self.request.relation != Relation::Learned {
            return None;
        }
        Some(self.learn(loaded).map(|(commuting, report)| {
            self.commuting = Some(Arc::new(commuting));
            report
        }))
    }

    /// Why nothing is independent, if so. What was learnt does not depend on what the text tells.
    fn why_nothing(&self) -> Option<WhyNot> {
        self.why_not.filter(|_| self.commuting.is_none())
    }

    /// All steps, or with `reduced` only those that suffice.
    fn model(&self, reduced: bool) -> Interleaved {
        self.model_by(self.relation(), reduced)
    }

    fn model_by(&self, relation: Relation, reduced: bool) -> Interleaved {
        let plan = || {
            Some(
                reduction::prepare(self.facts.shared_program(), Preserve::Deadlocks)
                    .ok()?
                    .for_executions()
                    .with_facts(Arc::clone(&self.facts)),
            )
        };
        let plan = if reduced { plan() } else { None };
        let hidden_matter = self.why_not == Some(WhyNot::Hidden);
        let (machine, facts) = (self.machine.clone(), Arc::clone(&self.facts));
        let learnt = self.commuting.clone().filter(|_| relation == Relation::Learned);
        let learnt = learnt.map(|commuting| Learnt { commuting, text_tells: self.why_not.is_none() });
        let model = Interleaved::new(machine, plan, (facts, self.ending.clone()), (relation, learnt), hidden_matter);
        match &self.naming {
            Naming::Births(numbered) => model.by_birth(Arc::clone(&numbered.births), numbered.names.clone()),
            Naming::Numbers(_) => model,
        }
    }

    /// Which steps are independent. Where nothing could be learnt, the text tells.
    fn relation(&self) -> Relation {
        match (self.request.by, self.request.relation) {
            (By::Stateless(_), Relation::Footprints) => Relation::Footprints,
            (By::Stateless(_), _) => Relation::Recorded,
            (By::Graph, Relation::Recorded) => Relation::Footprints,
            (By::Graph, Relation::Learned) if self.commuting.is_none() => Relation::Accords,
            (By::Graph, relation) => relation,
        }
    }

    /// Takes into account that a step ends executions.
    fn expect_error(&mut self, step: Move) {
        let edges = [Some(step.edge), step.partner.map(|(_, edge)| edge)];
        edges.into_iter().flatten().for_each(|edge| self.ending[edge.0 as usize] = true);
    }

    fn settings(&self, all_interleavings: bool, limits: Limits) -> Settings {
        let ExecutionsRequest { steps_max, laps_max, .. } = *self.request;
        Settings { all_interleavings, steps_max, laps_max, limits, cancel: self.cancel.clone() }
    }

    /// Explores the graph; once more without reduction for each runtime error that was not known, until all are.
    fn count(&mut self) -> (Interleaved, ExploredGraph) {
        let all_interleavings = self.why_nothing().is_some();
        let settings = self.settings(all_interleavings, self.request.limits);
        // A prefix of an execution need not begin with a step that suffices for the whole.
        let bounded = self.request.steps_max.is_some() || self.request.laps_max.is_some();
        // What suffices is told by steps that accord: a finer distinction needs more. It is about a process alone: what a
        // receiver does that is given control inside an atomic sequence is not known beforehand.
        let coarse = matches!(self.relation(), Relation::Accords | Relation::Learned) && self.why_not.is_none();
        let suffices = coarse && !bounded && !self.facts.hands_control_over();
        let mut reduced = self.request.reduction && suffices;
        loop {
            let mut model = self.model(reduced);
            let explored = explore(&mut model, TreeStore::default(), &settings);
            // In the order of births, an execution has as many processes in the end as it creates, whoever is first: so a
            // lack of room is met, with reduction too.
            if model.is_full() && self.without_births().is_ok() {
                reduced = self.request.reduction && suffices;
                continue;
            }
            let Ended::Broken(step) = explored.ended else { return (model, explored) };
            self.expect_error(step);
            reduced = false;
        }
    }

    /// The number of interleavings, if it takes no more than counting executions may.
    fn interleavings(&self, explored: &ExploredGraph) -> Option<u128> {
        if explored.ended != Ended::Complete {
            return None;
        }
        if self.why_nothing().is_some() {
            return Some(explored.graph.numbers().all);
        }
        let nodes = explored.statistics.nodes.max(INTERLEAVING_NODES_MAX);
        let limits = self.request.limits;
        let left = limits.memory_bytes_max.map(|max| max.saturating_sub(explored.statistics.memory_bytes));
        let states_max = Some(limits.states_max.map_or(nodes, |max| max.min(nodes)));
        let settings = self.settings(true, Limits { states_max, memory_bytes_max: left, ..limits });
        let every = explore(&mut self.model(false), TreeStore::default(), &settings);
        let numbers = every.graph.numbers();
        (every.ended == Ended::Complete && !numbers.overflows()).then_some(numbers.all)
    }

    /// Adds what was asked for beside the numbers.
    fn answer(
        &self,
        model: &mut Interleaved,
        graph: &mut GraphOf,
        (found, loaded): (&mut Executions, &Loaded),
    ) -> Result<(), String> {
        let line = |step: &Access| loaded.map.position(step.actor.span).line;
        match self.request.outlines {
            true => found.outlines = self.outlines(model, graph)?,
            false => found.listed = self.list(model, graph)?,
        }
        if let Some(branches) = self.request.tree {
            found.tree = Some(tree::of(self, model, graph, branches)?);
        }
        if let Some(numbers) = self.request.compare {
            let mut nth = |number| graph.executions(model, Kind::All, number).next();
            if let [Some(one), Some(other)] = numbers.map(&mut nth) {
                let (one, other) = (self.walk(one)?, self.walk(other)?);
                found.report.comparison = Some(compare::compare(&self.naming, (&one, &other), &line));
                found.listed = vec![one, other];
            }
        }
        let asked = self.request.count != 0 || self.request.sample.is_some();
        found.report.list_stopped = asked && self.cancel.requested().is_some();
        for kind in if self.request.difference { &[Kind::Failing, Kind::Stuck][..] } else { &[] } {
            found.report.difference.extend(compare::difference(self, model, graph, *kind, &line)?);
        }
        Ok(())
    }

    /// The executions that were asked for, each walked by the reference interpreter.
    fn list(&self, model: &mut Interleaved, graph: &mut GraphOf) -> Result<Vec<ListedExecution>, String> {
        let mut listed = Vec::new();
        self.each(model, graph, &mut |execution| {
            listed.push(self.walk(execution)?);
            Ok(())
        })?;
        Ok(listed)
    }

    /// Outlines of the executions that were asked for, each walked as well.
    fn outlines(&self, model: &mut Interleaved, graph: &mut GraphOf) -> Result<Vec<ExecutionOutline>, String> {
        let mut follower = Follower::new(&self.program, self.watch);
        let mut outlines = Vec::new();
        self.each(model, graph, &mut |execution| {
            outlines.push(follower.follow(&self.naming.execution(execution))?);
            Ok(())
        })?;
        Ok(outlines)
    }

    /// Calls a function with each execution that was asked for; fewer if it is asked to stop.
    fn each(
        &self,
        model: &mut Interleaved,
        graph: &mut GraphOf,
        met: &mut dyn FnMut(Execution<Move, Fault>) -> Result<(), String>,
    ) -> Result<(), String> {
        let request = self.request;
        let total = graph.numbers().of(request.kind);
        let Some(count) = request.sample else {
            let mut listed = 0;
            for execution in graph.executions(model, request.kind, request.first).take(request.count.min(LISTED_MAX)) {
                if self.cancel.requested().is_some() {
                    return Ok(());
                }
                listed += 1;
                met(execution)?;
            }
            let expected = total.saturating_sub(request.first).min(request.count.min(LISTED_MAX) as u128);
            let agrees = listed as u128 == expected;
            return if agrees { Ok(()) } else { Err(format!("{listed} executions were listed, not {expected}")) };
        };
        let mut random = Random::new(request.seed);
        for _ in 0..if total == 0 { 0 } else { count.min(LISTED_MAX) } {
            if self.cancel.requested().is_some() {
                return Ok(());
            }
            let drawn = graph.executions(model, request.kind, below(&mut random, total)).next();
            met(drawn.ok_or("an execution that was drawn does not exist")?)?;
        }
        Ok(())
    }

    fn walk(&self, execution: Execution<Move, Fault>) -> Result<ListedExecution, String> {
        listed(&self.program, self.watch, self.naming.execution(execution))
    }

    fn walk_cycle(&self, cycle: &Cycle<Move>) -> Result<Trace, String> {
        referee::walk_cycle(&self.program, self.watch, &self.naming.cycle(cycle))
    }

    /// Why not everything was explored, as a sentence.
    fn reason(&self, ended: &Ended<Move>) -> Option<String> {
        match ended {
            Ended::Complete => None,
            Ended::Cycle(_) => Some("the model has infinite executions".to_owned()),
            Ended::Nameless => Some("a location has more than 254 alternatives".to_owned()),
            Ended::Broken(_) => Some("a runtime error was not expected".to_owned()),
            Ended::Stopped(StopReason::States) => {
                let limit = self.request.limits.states_max.unwrap_or(0);
                Some(format!("the limit of {} was reached", fabius_task::words::counted(limit, "node")))
            }
            Ended::Stopped(reason) => Some(limit_reached(Completeness::Stopped(*reason), &self.request.limits)),
        }
    }
}

/// An execution, walked by the reference interpreter.
fn listed(program: &Arc<Program>, watch: Watch, execution: Execution<Move, Fault>) -> Result<ListedExecution, String> {
    let trace = referee::walk(program, watch, &execution)?;
    let Execution { number, path, failed, end, .. } = execution;
    Ok(ListedExecution { number, failed, end, path, trace })
}

/// A number below a bound, each as likely as any other.
fn below(random: &mut Random, bound: u128) -> u128 {
    let surplus = (u128::MAX % bound + 1) % bound;
    loop {
        let drawn = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        if drawn <= u128::MAX - surplus {
            return drawn % bound;
        }
    }
}
