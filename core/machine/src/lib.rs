//! From a [`Program`] to something that runs fast: a layout of states, instructions, successors.
//!
//! A state is a sequence of words: a head (how many processes, who holds control), the globals and their
//! channels, the processes in the order of creation, each followed by its channels, and at the very end the
//! hidden globals. Two different states never have the same words. What stands where follows from the types
//! of the processes alone; such a sequence of types is a [`shape`].
//!
//! Every statement is a short row of [`code`]: its guard reads the state, and only when that has passed the
//! state is copied and changed. Nothing is allocated per successor, and nothing recurses, except for
//! questions of being enabled, which ask about other processes.
//!
//! This crate never reads a file, a clock or the environment, and it never prints.

mod arith;
mod assemble;
mod code;
mod layout;
mod part;
mod run;
mod shape;
mod view;
mod watched;

use code::{Code, Pc};
use fabius_program::meaning::Fault;
use fabius_program::{EdgeId, Expr, LocationId, Move, ProcessId, Program, StepMarks};
pub use fabius_program::{ProgressOn, Watch};
use layout::{COUNT_MASK, HOLDER_MASK, TURN};
pub use part::Reader;
pub use run::Found;
use run::{Interpreter, NOT_BEGUN, Scratch, Seat};
use shape::Shapes;
use std::fmt;
use std::sync::Arc;
pub use view::{ChannelView, View};

/// Why a program cannot be run by a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A process, a channel or the globals take more memory than a state may have.
    TooLarge,
    /// The program has more of something than instructions can number: what, and how many there may be.
    TooMany(&'static str, u32),
    /// An expression is nested too deeply, or a message has too many fields.
    TooDeep,
    /// The program breaks its invariants: what is wrong.
    Malformed(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "a state of this model would be too large: the global variables with their channels, and each \
                 process with its channels, may take 64 MiB, and all together 1 GiB (where `run` creates processes, \
                 the largest one counts as often as there may be processes)"
            ),
            Self::TooMany(what, most) => write!(f, "too many {what}: there may be {most}"),
            Self::TooDeep => write!(f, "an expression is nested too deeply"),
            Self::Malformed(what) => write!(f, "the program is malformed: {what}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What [`Machine::next`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A successor was written.
    Successor {
        /// The transition; `None` if an atomic sequence that blocked lost control.
        label: Option<Move>,
        /// A process holds control: the successor is passed through, not stored and not counted.
        transient: bool,
        /// The transition violates something, but the search may go on.
        fault: Option<Fault>,
        /// What the transition means to someone who looks for cycles.
        marks: StepMarks,
    },
    /// The transition cannot be computed; there is no successor.
    Broken {
        /// The transition.
        label: Move,
        /// Why.
        fault: Fault,
    },
    /// All successors have been listed.
    Done(Ending),
}

/// What is known of a state once all its successors are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It has successors.
    Moves,
    /// It has none, and may stop there.
    ValidEnd,
    /// It has none, and may not stop there.
    InvalidEnd,
}

/// How far the successors of a state have been listed. A clone of the machine can go on from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    shape: u32,
    /// The edge to try next, or none, or the process was not looked at yet.
    edge: u32,
    pid: u8,
    flags: u8,
    /// Escape group of the last edge that was executable.
    escape: u16,
    /// Channels on which somebody may be partner of a rendezvous, if that was asked already.
    accepting: u32,
    /// Processes that are passed over, by their numbers; the others are not.
    passed_over: u32,
    seat: Seat,
}

impl Cursor {
    /// A successor was found.
    const MOVED: u8 = 1;
    /// An edge of the present process was executable.
    const FOUND: u8 = 2;
    /// This is the second trial.
    const TIMEOUT: u8 = 4;
    /// A process holds control.
    const HELD: u8 = 8;
    /// Everything was tried.
    const FINISHED: u8 = 16;
    /// It is the claim's turn.
    const CLAIM: u8 = 32;
    /// The turn was passed to the claim without a step.
    const STUTTERED: u8 = 64;
    /// It is known on which channels somebody may be partner.
    const ACCEPTING_KNOWN: u8 = 128;

    /// Everything was listed, and the state is no end.
    pub const AT_END: Self = Self {
        shape: 0,
        edge: NOT_BEGUN,
        pid: 0,
        flags: Self::FINISHED | Self::MOVED,
        escape: 0,
        accepting: 0,
        passed_over: 0,
        seat: Seat::START,
    };

    #[inline(always)]
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The [number of the sequence of types](Machine::shape_number) of its state.
    #[inline]
    pub fn shape_number(&self) -> u32 {
        self.shape
    }

    /// Whether the successors listed now are those of the second trial, in which `timeout` is true: nothing was
    /// executable before.
    pub fn is_second_trial(&self) -> bool {
        self.has(Self::TIMEOUT)
    }

    #[inline(always)]
    fn go_to_process(&mut self, pid: u8) {
        self.pid = pid;
        self.edge = NOT_BEGUN;
        self.escape = 0;
        self.flags &= !Self::FOUND;
        self.seat = Seat::START;
    }
}

/// A condition over states that belongs to no process, made by [`Machine::condition`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition(Pc);

/// Lists the successors of the states of a program.
///
/// Cloning gives a machine that understands the same states; each thread has its own.
#[derive(Clone, Debug)]
pub struct Machine {
    program: Arc<Program>,
    code: Arc<Code>,
    map: Arc<assemble::Map>,
    shapes: Shapes,
    scratch: Scratch,
    spare: Vec<u32>,
    /// For each edge, whether it was executed.
    reached: Vec<u8>,
    watch: Watch,
    /// Whether anything but the processes is watched.
    watches: bool,
    /// Whether some step may be marked as accepted.
    may_accept: bool,
}

impl Machine {
    /// Assembles a program.
    ///
    /// # Errors
    /// If the program needs more than a machine has, or breaks its invariants.
    pub fn new(program: Arc<Program>) -> Result<Self, Refusal> {
        Self::watching(program, Watch::NOTHING)
    }

    /// Assembles a program and what is watched while it runs.
    ///
    /// # Errors
    /// As [`Machine::new`], and if what is to be watched is not what it should be.
    pub fn watching(program: Arc<Program>, watch: Watch) -> Result<Self, Refusal> {
        let (code, map) = assemble::assemble(&program, watch)?;
        Ok(Self {
            watch,
            watches: !watch.is_nothing(),
            may_accept: watch.may_accept(&program),
            shapes: Shapes::new(&code),
            scratch: Scratch::new(),
            spare: Vec::new(),
            reached: vec![0; program.edges.len()],
            program,
            code: Arc::new(code),
            map: Arc::new(map),
        })
    }

    /// A machine for the same program that has not run yet.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            program: Arc::clone(&self.program),
            code: Arc::clone(&self.code),
            map: Arc::clone(&self.map),
            shapes: Shapes::new(&self.code),
            scratch: Scratch::new(),
            spare: Vec::new(),
            reached: vec![0; self.reached.len()],
            ..*self
        }
    }

    /// The program that the machine runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program that the machine runs, to share.
    pub fn shared_program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Words at the end of a state that do not distinguish it from others.
    pub fn hidden_words(&self) -> usize {
        self.code.hidden_words as usize
    }

    /// Steps that this machine has taken within blocks so far, by which its transitions can take long.
    pub fn block_steps(&self) -> u64 {
        self.scratch.block_steps
    }

    /// Bytes of a state that distinguish it from others.
    pub fn visible_bytes(&self, state: &[u32]) -> usize {
        (state.len() - self.hidden_words()) * 4
    }

    /// Writes the initial state.
    ///
    /// # Errors
    /// A fault if the initial state cannot be computed.
    pub fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        let nothing = vec![0; (self.code.global_words + self.code.hidden_words) as usize];
        let Self { code, shapes, scratch, reached, .. } = self;
        match shapes.get(0) {
            Some(root) => {
                let mut interpreter = Interpreter::new(code, shapes, scratch, reached, &nothing, root, state);
                interpreter.initial()?;
                interpreter.initialise_watched()
            }
            None => Ok(()),
        }
    }

    /// A cursor before the first successor.
    pub fn begin(&mut self, state: &[u32]) -> Cursor {
        let mut cursor = Cursor { flags: 0, ..Cursor::AT_END };
        let Some(shape) = self.shapes.find(&self.code, state) else { return Cursor::AT_END };
        cursor.shape = shape.id;
        if self.watches && self.watch.claim.is_some() && state[0] & TURN != 0 {
            cursor.flags = Cursor::CLAIM;
            return cursor;
        }
        let count = state[0] & COUNT_MASK;
        match (state[0] & HOLDER_MASK) >> layout::HOLDER_SHIFT {
            0 if count == 0 => cursor.flags = Cursor::FINISHED,
            0 => cursor.pid = count as u8 - 1,
            holder => {
                cursor.pid = holder.min(count.max(1)) as u8 - 1;
                cursor.flags = if count == 0 { Cursor::FINISHED } else { Cursor::HELD };
            }
        }
        cursor
    }

    /// Writes the next successor of `state` into `successor` (whose old content is dropped) and moves the
    /// cursor past it. The order is that of [`fabius_program::meaning`].
    #[inline]
    pub fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Step {
        let found = self.find_next(state, cursor, successor);
        self.step(found)
    }

    /// As [`Machine::next`], in two registers.
    #[inline]
    pub fn find_next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Found {
        if self.watches {
            self.next_watched(state, cursor, successor)
        } else {
            self.next_of_processes(state, cursor, successor)
        }
    }

    /// Words in which the successor that was found last may differ from the state, if their lengths are equal: bit `i` stands for
    /// word `i`, and for those behind it in steps of 64.
    #[inline]
    pub fn touched(&self, found: Found) -> u64 {
        found.touched(self.scratch.touched)
    }

    /// What was found last, as a whole.
    #[inline]
    pub fn step(&self, found: Found) -> Step {
        found.step(self.scratch.fault)
    }

    /// The next successor of a machine that watches nothing.
    #[inline]
    fn next_of_processes(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Found {
        let Self { code, shapes, scratch, reached, .. } = self;
        match shapes.get(cursor.shape) {
            Some(shape) if shape.words as usize == state.len() => {
                Interpreter::new(code, shapes, scratch, reached, state, shape, successor).next(cursor)
            }
            _ => Found::done(Ending::Moves),
        }
    }

    /// Prepares a condition over states: one that belongs to no process, so it reads no locals but those it
    /// names with their process.
    ///
    /// # Errors
    /// If the condition needs more than a machine has, or creates a process.
    pub fn condition(&mut self, condition: &Expr) -> Result<Condition, Refusal> {
        let code = std::mem::take(Arc::make_mut(&mut self.code));
        let map = std::mem::take(Arc::make_mut(&mut self.map));
        let (code, map, written) = assemble::assemble_condition(&self.program, code, map, condition);
        self.code = Arc::new(code);
        self.map = Arc::new(map);
        written.map(Condition)
    }

    /// Whether a condition holds in a state.
    ///
    /// # Errors
    /// A fault if it cannot be evaluated.
    pub fn holds(&mut self, state: &[u32], condition: Condition) -> Result<bool, Fault> {
        let Self { code, shapes, scratch, reached, spare, .. } = self;
        let Some(shape) = shapes.find(code, state) else { return Ok(false) };
        Interpreter::new(code, shapes, scratch, reached, state, shape, spare).holds(condition.0)
    }

    /// Whether an edge was executed by [`Machine::next`].
    pub fn reached(&self, edge: EdgeId) -> bool {
        self.reached.get(edge.0 as usize).is_some_and(|reached| *reached != 0)
    }

    /// Counts the edges that another machine for the same program executed as executed here too.
    pub fn merge_reached(&mut self, other: &Self) {
        self.merge_edges(&other.reached);
    }

    /// Of each edge, by its number, whether it was taken: not 0 if so.
    pub fn reached_edges(&self) -> &[u8] {
        &self.reached
    }

    /// Counts edges as taken, by their numbers.
    pub fn merge_edges(&mut self, reached: &[u8]) {
        for (mine, theirs) in self.reached.iter_mut().zip(reached) {
            *mine |= theirs;
        }
    }

    /// Number of processes of a state.
    pub fn process_count(&self, state: &[u32]) -> usize {
        state.first().map_or(0, |head| (head & COUNT_MASK) as usize)
    }

    /// Type of the process with a number, if it exists.
    pub fn process_of(&self, state: &[u32], pid: usize) -> Option<ProcessId> {
        self.view(state)?.process_of(pid)
    }

    /// Location of the process with a number, if it exists.
    pub fn location_of(&self, state: &[u32], pid: usize) -> Option<LocationId> {
        self.view(state)?.location_of(pid)
    }

    /// What the words of a state mean; `None` for words that are no state.
    pub fn view<'s>(&'s self, state: &'s [u32]) -> Option<View<'s>> {
        View::new(self, state)
    }
}
