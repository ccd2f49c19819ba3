//! Independence that is learnt from the reachable states instead of told from the text, and what it says about statements.
//!
//! All states are explored, without reduction; two steps are independent if they commute wherever both are possible
//! (`fabius_search::executions::explore_events`). Until every state is known nothing is learnt.

use super::conflicts::Relation;
use super::model::Interleaved;
use super::{ExecutionsRequest, NotCounted, Question};
use fabius_base::{Cancel, FileId, Limits};
use fabius_program::{EdgeId, Move, Program, Watch};
use fabius_search::executions::{Agreement, EventGraph, Independence, Meeting, NotExplored, explore_events};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::words::{counted, grouped, limit_reached};
use fabius_witness::{Claim, Outcome, State, confirm_watching, step};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

/// This many values of a state are told.
const VALUES_TOLD: usize = 8;
/// For this many pairs of statements an example is given.
const EXAMPLES_MAX: usize = 200;
/// Examples after more moves are left out.
const EXAMPLE_MOVES_MAX: usize = 2_000;

/// Whether two steps that are possible in the same state commute in each such state.
pub(super) type Commuting = HashMap<(Move, Move), bool>;

/// What was learnt about the independence of steps.
#[derive(Clone, Debug)]
pub(super) struct Learnt {
    /// Steps that commute are independent.
    pub commuting: Arc<Commuting>,
    /// So are those that the text tells. What it tells can depend on the arguments of processes: two steps can be independent in one
    /// execution and not commute in the states of another. Reduction relies on all that the text tells.
    pub text_tells: bool,
}

/// With which statements the order of each statement matters, learnt from all reachable states.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OrderReport {
    /// Reachable states: all of them.
    pub states: u64,
    /// Statements of different processes that are possible in the same state. A statement stands for the
    /// atomic sequence that it begins.
    pub pairs: Vec<PairReport>,
}

/// Two statements of different processes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PairReport {
    /// The statements; the same one twice if two processes of a type execute it.
    pub statements: [StatementReport; 2],
    /// States in which both are possible.
    pub states: u64,
    /// States in which the order matters.
    pub differing: u64,
    /// States of these in which one makes the other impossible.
    pub disabling: u64,
    /// The order never matters, and the text alone does not tell so.
    pub learnt: bool,
    /// A state in which the order matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<StateReport>,
}

/// A statement of a type of processes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatementReport {
    /// The type.
    pub process: String,
    /// Its line, from 1.
    pub line: u32,
    /// The statement.
    pub text: String,
    /// It begins an atomic sequence, which is meant.
    pub atomic: bool,
    /// Its place in the text: file, first byte, end.
    #[serde(skip)]
    pub place: (FileId, u32, u32),
}

/// A state, as a person finds it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StateReport {
    /// Steps of a shortest path that leads there.
    pub steps: usize,
    /// Variables and channels with their values.
    pub values: Vec<(String, String)>,
}

impl PairReport {
    /// Whether their order matters, and where.
    pub fn sentence(&self) -> String {
        let states = |count: u64| match count {
            1 => "the one state where both are possible".to_owned(),
            _ => format!("all {} states where both are possible", grouped(count)),
        };
        if self.differing == 0 {
            return format!("both orders lead to the same state in {}", states(self.states));
        }
        let mut text = match self.differing == self.states {
            true => format!("in {}", states(self.states)),
            false => {
                format!("in {} of {} states where both are possible", grouped(self.differing), grouped(self.states))
            }
        };
        match self.disabling {
            0 => {}
            all if all == self.differing => text.push_str(": one makes the other impossible"),
            some => _ = write!(text, "; in {} one makes the other impossible", grouped(some)),
        }
        text + &self.example.as_ref().map(StateReport::phrase).unwrap_or_default()
    }
}

impl StateReport {
    fn phrase(&self) -> String {
        let shown: Vec<String> =
            self.values.iter().take(VALUES_TOLD).map(|(name, value)| format!("{name} = {value}")).collect();
        let more = if VALUES_TOLD < self.values.len() { ", …" } else { "" };
        let values = if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) };
        match self.steps {
            0 => format!(", such as the initial state{values}"),
            steps => format!(", such as after {}{values}", counted(steps as u64, "step")),
        }
    }
}

/// With which statements the order of each statement matters.
///
/// # Errors
/// If not all reachable states can be known: then nothing is.
pub fn order_of_statements(loaded: &Loaded, limits: Limits, cancel: &Cancel) -> Result<OrderReport, NotLearnt> {
    let request = ExecutionsRequest { relation: Relation::Learned, limits, ..ExecutionsRequest::default() };
    let mut question = Question::asked(loaded, &request, cancel).map_err(|why| match why {
        NotCounted::Faulty => NotLearnt::Unknown("the model has errors".to_owned()),
        NotCounted::Refused(why) => NotLearnt::Unknown(why),
    })?;
    question.learn(loaded).map(|(_, report)| report)
}

/// Why nothing was learnt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotLearnt {
    /// Not all reachable states are known: why.
    Unknown(String),
    /// Fabius itself is wrong: what happened.
    Failed(String),
}

/// What is known of two statements.
#[derive(Default)]
struct Tally {
    states: u64,
    differing: u64,
    disabling: u64,
    /// The last state in which both were possible, in which the order mattered, in which one disabled the other.
    last: [Option<u32>; 3],
    /// The first state in which the order matters, and the steps.
    example: Option<(u32, [Move; 2])>,
    learnt: bool,
}

impl Tally {
    fn add(&mut self, meeting: &Meeting<Move>) {
        let differs = meeting.agreement != Agreement::Commute;
        let disables = meeting.agreement == Agreement::Disable;
        let counts = [&mut self.states, &mut self.differing, &mut self.disabling];
        for ((count, last), is) in counts.into_iter().zip(&mut self.last).zip([true, differs, disables]) {
            if is && *last != Some(meeting.state) {
                *count += 1;
                *last = Some(meeting.state);
            }
        }
        if differs && self.example.is_none() {
            self.example = Some((meeting.state, meeting.steps));
        }
    }
}

fn movers(step: &Move) -> [Option<u8>; 2] {
    [Some(step.pid), step.partner.map(|(pid, _)| pid)]
}

fn edges(step: &Move) -> impl Iterator<Item = EdgeId> {
    std::iter::once(step.edge).chain(step.partner.map(|(_, edge)| edge))
}

impl Question<'_> {
    /// Learns from all reachable states which steps are independent.
    ///
    /// # Errors
    /// Why nothing can be learnt.
    pub(super) fn learn(&mut self, loaded: &Loaded) -> Result<(Commuting, OrderReport), NotLearnt> {
        let (mut model, graph) = self.all_events()?;
        let mut commuting = Commuting::new();
        let mut first_states: HashMap<(Move, Move), u32> = HashMap::new();
        let mut tallies: BTreeMap<(EdgeId, EdgeId), Tally> = BTreeMap::new();
        let judged = graph.meetings(&movers, self.cancel, &mut |meeting| {
            let [a, b] = meeting.steps;
            let commute = meeting.agreement == Agreement::Commute;
            if !meeting.last_resort {
                for pair in [(a, b), (b, a)] {
                    *commuting.entry(pair).or_insert(true) &= commute;
                }
                first_states.entry((a, b)).or_insert(meeting.state);
            }
            for mine in edges(&a) {
                for theirs in edges(&b) {
                    tallies.entry((mine.min(theirs), mine.max(theirs))).or_default().add(&meeting);
                }
            }
        });
        judged.map_err(|why| NotLearnt::Unknown(self.unknown(why)))?;
        match self.why_not {
            None => mark_learnt(&graph, &mut model, &commuting, &first_states, &mut tallies),
            // The text tells of no pair.
            Some(_) => tallies.values_mut().for_each(|tally| tally.learnt = true),
        }
        let pairs = self.pairs(loaded, &graph, &tallies).map_err(|why| NotLearnt::Failed(internal_error(&why)))?;
        Ok((commuting, OrderReport { states: graph.len() as u64, pairs }))
    }

    /// All reachable states, and what happens from each to the next ones.
    fn all_events(&mut self) -> Result<(Interleaved, EventGraph<Move>), NotLearnt> {
        loop {
            let mut model = self.model_by(Relation::Accords, false);
            let explored = explore_events(&mut model, self.request.limits, self.cancel);
            if model.is_full() && self.without_births().is_ok() {
                continue;
            }
            if model.is_lost() {
                return Err(NotLearnt::Failed(internal_error("a step is taken by a process that does not exist")));
            }
            let graph = explored.map_err(|why| NotLearnt::Unknown(self.unknown(why)))?;
            return Ok((model, graph));
        }
    }

    fn unknown(&self, why: NotExplored) -> String {
        match why {
            NotExplored::LongSequence => "an atomic sequence may be infinite, or has too many choices".to_owned(),
            NotExplored::Stopped(reason) => {
                let completeness = fabius_search::Completeness::Stopped(reason);
                format!("not all reachable states are known: {}", limit_reached(completeness, &self.request.limits))
            }
        }
    }

    fn pairs(
        &self,
        loaded: &Loaded,
        graph: &EventGraph<Move>,
        tallies: &BTreeMap<(EdgeId, EdgeId), Tally>,
    ) -> Result<Vec<PairReport>, String> {
        let mut pairs = Vec::new();
        let mut examples = 0;
        for ((a, b), tally) in tallies {
            let mut statements = [*a, *b].map(|edge| statement(&self.program, loaded, edge));
            statements.sort();
            let wanted = tally.example.filter(|_| examples < EXAMPLES_MAX);
            examples += usize::from(wanted.is_some());
            let example = match wanted {
                Some((state, steps)) => {
                    let (path, steps) = self.naming.path_to(graph.path_to(state), steps);
                    state_report(&self.program, self.watch, &path, steps)?
                }
                None => None,
            };
            pairs.push(PairReport {
                statements,
                states: tally.states,
                differing: tally.differing,
                disabling: tally.disabling,
                learnt: tally.learnt && tally.differing == 0,
                example,
            });
        }
        Ok(pairs)
    }
}

/// Marks pairs of statements of which the text alone does not tell that they are independent, where steps that begin with them
/// commute.
fn mark_learnt(
    graph: &EventGraph<Move>,
    model: &mut Interleaved,
    commuting: &Commuting,
    first_states: &HashMap<(Move, Move), u32>,
    tallies: &mut BTreeMap<(EdgeId, EdgeId), Tally>,
) {
    let mut state = Vec::new();
    for ((a, b), number) in first_states.iter().filter(|(pair, _)| commuting[pair]) {
        graph.recall(*number, &mut state);
        let (Some(first), Some(second)) = (model.name_of(&state, a), model.name_of(&state, b)) else { continue };
        let mut kept = vec![second];
        model.retain_independent(&state, first, &mut kept);
        for (mine, theirs) in edges(a).flat_map(|mine| edges(b).map(move |theirs| (mine, theirs))) {
            if let Some(tally) = tallies.get_mut(&(mine.min(theirs), mine.max(theirs))) {
                tally.learnt |= kept.is_empty();
            }
        }
    }
}

fn statement(program: &Program, loaded: &Loaded, edge: EdgeId) -> StatementReport {
    let taken = &program.edges[edge.0 as usize];
    let process = program.process(taken.process);
    let statement = &process.statements[taken.statement.0 as usize];
    let shown = loaded.map.user_span(statement.span);
    StatementReport {
        process: process.name.clone(),
        line: loaded.map.position(shown).line,
        text: statement.text.clone(),
        atomic: taken.atomic,
        place: (shown.file, shown.start, shown.end),
    }
}

/// A state that the reference interpreter reached; both steps are possible there.
///
/// # Errors
/// If the reference interpreter does not agree: Fabius itself is wrong.
fn state_report(
    program: &Arc<Program>,
    watch: Watch,
    path: &[Move],
    steps: [Move; 2],
) -> Result<Option<StateReport>, String> {
    if EXAMPLE_MOVES_MAX < path.len() {
        return Ok(None);
    }
    let trace = confirm_watching(program, watch, path, Claim::Reaches).map_err(|why| why.to_string())?;
    let refused = |why: &dyn std::fmt::Debug| format!("a step is not possible where it should be: {why:?}");
    let mut state = State::watching(program, watch).map_err(|why| refused(&why))?;
    for wanted in path {
        let taken = step(program, &state, *wanted).map_err(|why| refused(&why))?;
        let Outcome::Reaches { state: next, .. } = taken.outcome else { return Err(refused(wanted)) };
        state = next;
    }
    for wanted in steps {
        step(program, &state, wanted).map_err(|why| refused(&why))?;
    }
    let values = trace.last.variables.iter().chain(&trace.last.channels).cloned().collect();
    Ok(Some(StateReport { steps: path.len(), values }))
}
