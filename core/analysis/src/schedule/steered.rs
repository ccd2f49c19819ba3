//! The model under a schedule that remembers which goal is next, and whether what is promised of it is so.

use fabius_machine::Cursor;
use fabius_model::SearchedMachine;
use fabius_program::{Move, meaning::Fault};
use fabius_search::cycle::dfs_fifo::{Order, dfs_fifo};
use fabius_search::restrict::{Goal, Goals, Graph, Movers, Strategy};
use fabius_search::{
    Completeness, Ending, Marks, Model, Next, ProcessSet, Processes, Quiet, SearchOutcome, Settings, StopAt, TreeStore,
    breadth_first,
};
use std::collections::HashMap;

/// A schedule with memory, as far as it is needed: of each state of model and memory whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    rows: HashMap<(u32, u8), Row>,
    /// Of each state: who can move then or later.
    can_move_later: HashMap<u32, u64>,
    states: usize,
    goals: Vec<Goal>,
}

/// Whose turn it is, and which goal is next afterwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) movers: Movers,
    pub(super) then: u8,
}

impl Plan {
    /// What a strategy does from the initial state on.
    pub(super) fn new(strategy: &Strategy, goals: &Goals<'_>, graph: &Graph) -> Self {
        let reached = strategy.reached(goals);
        let mut plan = Self {
            rows: HashMap::new(),
            can_move_later: HashMap::new(),
            states: reached.len(),
            goals: strategy.goals().to_vec(),
        };
        for (state, goal) in reached {
            plan.can_move_later.insert(state, goals.can_move_later(state));
            let Some(group) = strategy.choice(state, goal) else { continue };
            let then = strategy.after(goals, state, goal) as u8;
            plan.rows.insert((state, goal as u8), Row { movers: graph.group(group).movers, then });
        }
        plan
    }

    /// Whose turn it is; nobody's at the end of a run.
    pub(super) fn row(&self, state: u32, memory: u8) -> Option<Row> {
        self.rows.get(&(state, memory)).copied()
    }

    /// The same, with one more goal that nobody took care of.
    #[cfg(test)]
    pub(super) fn promising(mut self, goal: Goal) -> Self {
        self.goals.push(goal);
        self
    }

    /// Checks that the model under it has no error, no dead end, and meets each goal again and again: the number of states
    /// of model and memory, unless somebody stopped it.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn check(
        &self,
        machine: &SearchedMachine,
        graph: &mut Graph,
        settings: &Settings,
    ) -> Result<Option<u64>, String> {
        let mut settings = Settings { stop_at: StopAt::First, ..settings.clone() };
        settings.limits.states_max = Some(self.states as u64 + 1);
        let mut steered = Steered { machine: machine.clone(), graph, plan: self, goal: None, words: Vec::new() };
        let outcome = breadth_first(&mut steered, &mut TreeStore::new(), &mut Quiet, &settings);
        let Some(states) = ended(&outcome, "has an error")? else { return Ok(None) };
        if states != self.states as u64 {
            return Err(format!("the model under a fair schedule has {states} states, not {}", self.states));
        }
        for &goal in &self.goals {
            steered.goal = Some(goal);
            let outcome = dfs_fifo(&mut steered, &mut TreeStore::default(), &mut Quiet, &settings, Order::Strict);
            if ended(&outcome, "does not meet a goal")?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(states))
    }
}

/// The number of states of a search that found nothing, unless somebody stopped it.
fn ended<V: std::fmt::Debug>(outcome: &SearchOutcome<V>, what: &str) -> Result<Option<u64>, String> {
    match (outcome.first(), outcome.completeness) {
        (Some(found), _) => Err(format!("the model under a fair schedule {what}: {found:?}")),
        (None, Completeness::Exhaustive) => Ok(Some(outcome.statistics.states)),
        (None, Completeness::Stopped(fabius_base::StopReason::States)) => {
            Err("the model under a fair schedule has too many states".to_owned())
        }
        (None, _) => Ok(None),
    }
}

/// A machine under a plan; what it remembers is the first word of a state. Where a goal is watched, the macro steps that meet it are
/// marked as progress.
struct Steered<'p> {
    machine: SearchedMachine,
    graph: &'p mut Graph,
    plan: &'p Plan,
    goal: Option<Goal>,
    /// A successor without what is remembered.
    words: Vec<u32>,
}

/// How far the macro steps of a state were listed.
#[derive(Clone, Copy)]
struct SteeredCursor {
    cursor: Cursor,
    /// Whose turn it is, and what is remembered then; nothing is decided inside an atomic sequence.
    row: Option<Row>,
    transient: bool,
    /// Whether the goal is met here whoever moves.
    idle: bool,
    moved: bool,
}

impl Steered<'_> {
    /// Whether a process goal is met in a state whoever moves.
    fn is_idle(&mut self, state: &[u32], number: Option<u32>) -> bool {
        match (self.goal, number) {
            (Some(Goal::Weak(process)), _) => {
                let mut enabled = ProcessSet::EMPTY;
                self.machine.enabled(state, &mut enabled);
                !enabled.contains(process)
            }
            (Some(Goal::Strong(process)), Some(number)) => {
                self.plan.can_move_later.get(&number).is_some_and(|later| later >> process & 1 == 0)
            }
            _ => false,
        }
    }

    fn marks(&self, cursor: &SteeredCursor, label: Option<&Move>, marks: Marks) -> Marks {
        let met = match self.goal {
            Some(Goal::Progress) => marks.has(Marks::PROGRESS),
            Some(Goal::Weak(process) | Goal::Strong(process)) => {
                let movers = label.filter(|_| !cursor.transient).map(|label| self.machine.movers(label));
                cursor.idle || movers.is_some_and(|movers| movers.contains(&Some(process)))
            }
            None => false,
        };
        if met { Marks::PROGRESS } else { Marks::NONE }
    }
}

impl Model for Steered<'_> {
    type Label = Move;
    type Fault = Fault;
    type Cursor = SteeredCursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.machine.initial(&mut self.words)?;
        state.clear();
        state.push(0);
        state.extend_from_slice(&self.words);
        Ok(())
    }

    fn begin(&mut self, state: &[u32]) -> SteeredCursor {
        let (memory, state) = (state[0] as u8, &state[1..]);
        let transient = self.machine.machine().view(state).is_some_and(|view| view.holder().is_some());
        let number = if transient { None } else { self.graph.number_of(state) };
        let row = match number {
            Some(number) => self.plan.row(number, memory),
            None => transient.then_some(Row { movers: [None; 2], then: memory }),
        };
        let idle = !transient && self.is_idle(state, number);
        SteeredCursor { cursor: self.machine.begin(state), row, transient, idle, moved: false }
    }

    fn next(&mut self, state: &[u32], cursor: &mut SteeredCursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        loop {
            let found = self.machine.next(&state[1..], &mut cursor.cursor, &mut self.words);
            let allows = |label: &Move| {
                cursor.transient || cursor.row.is_some_and(|row| row.movers == self.machine.movers(label))
            };
            match found {
                Next::Successor { label: Some(label), .. } | Next::Broken { label, .. } if !allows(&label) => {}
                Next::Successor { label, transient, fault, marks } => {
                    cursor.moved = true;
                    successor.clear();
                    successor.push(cursor.row.map_or(0, |row| u32::from(row.then)));
                    successor.extend_from_slice(&self.words);
                    return Next::Successor {
                        label,
                        transient,
                        fault,
                        marks: self.marks(cursor, label.as_ref(), marks),
                    };
                }
                Next::Done(Ending::Moves) if !cursor.moved => return Next::Done(Ending::InvalidEnd),
                found => return found,
            }
        }
    }
}
