//! The language-neutral model that every later stage reads: variables, channels, process automata
//! (locations, and edges with guard and effect), labels, properties.
//!
//! Nothing in here knows Promela's syntax. A [`Program`] is plain data; who makes one promises the
//! invariants that [`validate`] checks.

pub mod expr;
pub mod facts;
pub mod lossy;
pub mod ltl;
pub mod meaning;
pub mod print;
pub mod process;
pub mod property;
pub mod validate;
pub mod value;
pub mod watch;

pub use expr::{BinaryOp, ChannelTest, Expr, Pattern, Place, Slot, UnaryOp};
pub use process::{
    Action, Block, BlockExit, BlockNode, BlockOption, Edge, EdgeId, Location, LocationId, PrintPiece, Process,
    ProcessId, ProcessKind, Receive, Send, Statement, StatementId,
};
pub use property::{Formula, Property, PropertyKind};
pub use value::{
    ChannelType, ChannelTypeId, EnumId, Enumeration, Initial, Kind, Type, Variable, VariableId, indices_of,
    with_indices,
};
pub use watch::{ProgressOn, StepMarks, Watch};

use fabius_base::Span;

/// At most this many processes are alive at once (Spin's limit).
pub const PROCESSES_MAX: usize = 255;
/// The number under which a claim's steps stand in a path: no process has it.
pub const CLAIM_PID: u8 = 255;
/// At most this many channels exist at once (Spin's limit).
pub const CHANNELS_MAX: usize = 255;

/// A whole model.
///
/// Global variables come first in the order of [`Program::globals`]; a variable with
/// [`Initial::Channel`] creates its channels when it is initialised, so channel identities (from 1;
/// 0 is "no channel") follow the order of creation.
#[derive(Clone, Hash, Debug, Default)]
pub struct Program {
    /// Name of the model, usually its file name.
    pub name: String,
    /// Global variables; structures are flattened to their leaves.
    pub globals: Vec<Variable>,
    /// Channel types: capacity and message fields.
    pub channel_types: Vec<ChannelType>,
    /// Enumerations of symbolic constants, for showing values.
    pub enumerations: Vec<Enumeration>,
    /// Process types, claims and event traces included; a [`ProcessId`] is an index into it.
    pub processes: Vec<Process>,
    /// All edges of all processes; an [`EdgeId`] is an index into it, a [`Location`] holds a range.
    pub edges: Vec<Edge>,
    /// Processes that exist at the start, in the order of their creation.
    pub initial: Vec<Instance>,
    /// What is to be checked beside assertions, end states and evaluation errors.
    pub properties: Vec<Property>,
    /// Which rarely used parts of a state the program looks at.
    pub uses: Uses,
    /// Steps were merged as the oracle merges them unless told otherwise; a trail has to say so.
    pub merged: bool,
}

/// A process that exists at the start.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instance {
    /// Its type.
    pub process: ProcessId,
    /// Its priority; 1 if none was given.
    pub priority: u8,
}

/// Rarely used parts of a state; a part that is not used is not stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Uses {
    /// `_last`: the process that moved last is part of the state.
    pub last: bool,
    /// Priorities other than 1, or reading or setting one: a process moves only if no process of
    /// higher priority is enabled, and each process's priority is part of the state.
    pub priority: bool,
    /// `enabled(p)` occurs.
    pub enabled: bool,
    /// `timeout` occurs.
    pub timeout: bool,
    /// `np_` occurs.
    pub non_progress: bool,
}

/// One transition of the whole system: a process takes an edge, for a rendezvous together with a
/// partner. A path is a sequence of moves from the initial state; it is all a trace is made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// Number of the process that moves (the sender of a rendezvous).
    pub pid: u8,
    /// The edge it takes, one of those of its present location.
    pub edge: EdgeId,
    /// The receiver of a rendezvous and the edge that it takes.
    pub partner: Option<(u8, EdgeId)>,
}

impl Program {
    /// The process type behind an id.
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.0 as usize]
    }

    /// The edge behind an id.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.0 as usize]
    }

    /// The edges that leave a location, in the order in which they are tried.
    pub fn edges_of(&self, location: &Location) -> impl DoubleEndedIterator<Item = (EdgeId, &Edge)> {
        location.edges.clone().map(|i| (EdgeId(i), &self.edges[i as usize]))
    }

    /// The statement that an edge of `process` executes.
    pub fn statement(&self, process: ProcessId, edge: EdgeId) -> &Statement {
        &self.process(process).statements[self.edge(edge).statement.0 as usize]
    }

    /// The process type whose locations hold an edge.
    pub fn process_of(&self, edge: EdgeId) -> ProcessId {
        self.edge(edge).process
    }

    /// Where an edge's statement stands in the text.
    pub fn span_of(&self, edge: EdgeId) -> Span {
        self.statement(self.process_of(edge), edge).span
    }
}
