//! The model together with the memory of a monitor, as a model that searches understand.

use fabius_machine::{Condition, Cursor};
use fabius_model::SearchedMachine;
use fabius_pattern::Monitor;
use fabius_program::facts::each_read;
use fabius_program::{Move, Program, Slot, meaning::Fault};
use fabius_search::{Ending, Marks, Model, Next};
use fabius_task::pattern::Pattern;
use fabius_witness::State;

/// The pattern is true in the state that a step leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matched;

/// The product: a state is the memory of the monitor, then the state of the machine. Every state counts, also inside of an atomic
/// sequence, so that a shortest path is one with the fewest steps.
pub struct Product {
    pub machine: SearchedMachine,
    monitor: Monitor,
    pattern: Pattern,
    conditions: Vec<Condition>,
    /// Words of memory.
    pub width: usize,
    successor: Vec<u32>,
    memory: Vec<u32>,
    /// A proposition that had no value in some state, and why.
    pub without_value: Option<(usize, Fault)>,
    /// Some step could not be computed.
    broken: bool,
}

impl Product {
    /// Brings the machine of the model together with a monitor of the pattern.
    ///
    /// # Errors
    /// If the machine cannot evaluate the pattern, in a sentence.
    pub fn new(mut machine: SearchedMachine, pattern: &Pattern) -> Result<Self, String> {
        let condition = |expr| machine.machine_mut().condition(expr).map_err(|why| why.to_string());
        let conditions = pattern.propositions.iter().map(condition).collect::<Result<_, String>>()?;
        let monitor = pattern.monitor();
        let width = monitor.words();
        let (successor, memory) = (Vec::new(), vec![0; width]);
        let pattern = pattern.clone();
        Ok(Self { machine, monitor, pattern, conditions, width, successor, memory, without_value: None, broken: false })
    }

    /// Whether the pattern is true in the initial state.
    ///
    /// # Errors
    /// If there is none.
    pub fn is_true_at_once(&mut self) -> Result<bool, Fault> {
        let mut state = Vec::new();
        self.machine.initial(&mut state)?;
        self.memory.fill(0);
        Ok(self.step(&state))
    }

    /// Whether some step could not be computed: a run ended there.
    pub fn ended_runs(&self) -> bool {
        self.broken
    }

    /// Whether steps depend on what is no part of a state.
    pub fn reads_hidden(&self) -> bool {
        let program = self.machine.shared_program();
        let is_hidden = |id: usize| program.globals.get(id).is_some_and(|variable| variable.hidden);
        let mut reads = false;
        each_read(program, |slot| reads |= matches!(slot, Slot::Global(id) if is_hidden(id.0 as usize)));
        reads
    }

    /// The memory behind a step to a state of the reference interpreter, who says what is true there, and whether the pattern is.
    pub fn referee(&mut self, memory: &[u32], step: Option<Move>, program: &Program, to: &State) -> (Vec<u32>, bool) {
        let mut memory = memory.to_vec();
        let Self { monitor, pattern, .. } = self;
        let is_true = step.is_some() && monitor.step(&mut memory, |p| crate::is_true(pattern, program, to, p));
        (memory, is_true)
    }

    /// Takes the memory to this state of the machine: whether the pattern is true there.
    fn step(&mut self, state: &[u32]) -> bool {
        let Self { machine, monitor, conditions, memory, without_value, .. } = self;
        monitor.step(memory, |proposition| match machine.machine_mut().holds(state, conditions[proposition]) {
            Ok(holds) => holds,
            Err(fault) => {
                without_value.get_or_insert((proposition, fault));
                false
            }
        })
    }

    fn write(&self, state: &[u32], successor: &mut Vec<u32>) {
        successor.clear();
        successor.extend_from_slice(&self.memory);
        successor.extend_from_slice(state);
    }
}

impl Model for Product {
    type Label = Move;
    type Fault = Matched;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Matched> {
        let mut machine = std::mem::take(&mut self.successor);
        // Who asks has asked before whether there is an initial state in which the pattern is false.
        let listed = self.machine.initial(&mut machine);
        self.memory.fill(0);
        let matched = listed.is_err() || self.step(&machine);
        self.write(&machine, state);
        self.successor = machine;
        if matched { Err(Matched) } else { Ok(()) }
    }

    fn begin(&mut self, state: &[u32]) -> Cursor {
        self.machine.begin(&state[self.width..])
    }

    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Matched> {
        let mut reached = std::mem::take(&mut self.successor);
        let found = loop {
            match self.machine.next(&state[self.width..], cursor, &mut reached) {
                Next::Successor { label, .. } => {
                    self.memory.copy_from_slice(&state[..self.width]);
                    // Where control is lost without a step, the run is at the same position.
                    let matched = label.is_some() && self.step(&reached);
                    self.write(&reached, successor);
                    let fault = matched.then_some(Matched);
                    break Next::Successor { label, transient: false, fault, marks: Marks::NONE };
                }
                Next::Broken { .. } => self.broken = true,
                Next::Done(Ending::Moves) => break Next::Done(Ending::Moves),
                Next::Done(_) => break Next::Done(Ending::ValidEnd),
            }
        };
        self.successor = reached;
        found
    }
}
