//! Process automata: locations, edges, and the statements that edges execute.

use crate::expr::{Expr, Pattern, Place};
use crate::value::Variable;
use fabius_base::Span;
use std::collections::BTreeSet;
use std::ops::Range;

/// Index into [`crate::Program::processes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProcessId(pub u32);

/// Index into [`Process::locations`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

/// Index into [`Process::statements`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StatementId(pub u32);

/// Index into [`crate::Program::edges`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgeId(pub u32);

/// What an automaton is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ProcessKind {
    /// A process that runs.
    #[default]
    Process,
    /// A claim that steps in lock step with the system.
    Claim,
    /// An automaton that every send and receive on its channels must follow. In it, a field of a send or a
    /// receive that is a constant (or a `Match`) must be equal; any other stands for anything.
    Trace,
    /// An automaton that the sends and receives on its channels must not follow to the end.
    NoTrace,
}

/// A process type.
#[derive(Clone, Hash, Debug)]
pub struct Process {
    /// Name.
    pub name: String,
    /// What it is for.
    pub kind: ProcessKind,
    /// How many of the first locals are parameters.
    pub parameter_count: u32,
    /// Parameters, then local variables, in the order in which they are initialised.
    pub locals: Vec<Variable>,
    /// Locations.
    pub locations: Vec<Location>,
    /// Where a new process starts.
    pub entry: LocationId,
    /// Statements; several edges may execute the same one.
    pub statements: Vec<Statement>,
    /// No statement is executable unless this is true.
    pub provided: Option<Expr>,
    /// More than one executable edge in a state is a fault.
    pub deterministic: bool,
    /// Declaration.
    pub span: Span,
}

/// A place in a process between two steps.
#[derive(Clone, Hash, Debug)]
pub struct Location {
    /// Number by which the oracle and a trail know it; unique within the process.
    pub number: u32,
    /// Outgoing edges, in the order in which they are tried: indices into [`crate::Program::edges`].
    pub edges: Range<u32>,
    /// A process may stop here (`end` label, or the closing brace).
    pub end: bool,
    /// Being here counts as progress.
    pub progress: bool,
    /// Being here counts as acceptance.
    pub accept: bool,
    /// Labels a person gave it.
    pub labels: Vec<String>,
    /// What stands here.
    pub span: Span,
}

/// A step a process may take from a location.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// The process type it belongs to.
    pub process: ProcessId,
    /// Where it starts.
    pub source: LocationId,
    /// What it does.
    pub statement: StatementId,
    /// Where it leads.
    pub target: LocationId,
    /// After the step no other process moves until this one cannot.
    pub atomic: bool,
    /// 0 for the location's own edges; else the group of an escape (`unless`): once an edge of some
    /// group is executable, edges of other groups that come later in the order are not tried.
    pub escape: u32,
}

/// What an edge does.
#[derive(Clone, Hash, Debug)]
pub struct Statement {
    /// Number by which a trail knows it; unique within the program.
    pub number: u32,
    /// The step.
    pub action: Action,
    /// The statement as a person would write it, on one line.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A step: whether it can be taken, and what it changes.
#[derive(Clone, PartialEq, Hash, Debug)]
pub enum Action {
    /// Always executable, changes nothing.
    Skip,
    /// Executable if no edge before it in its location's order is.
    Else,
    /// Executable if the expression is not 0.
    Guard(Expr),
    /// Always executable.
    Assign(Place, Expr),
    /// Executable if the channel is not full; on a rendezvous channel, if a partner can receive.
    Send(Send),
    /// Executable if there is a matching message.
    Receive(Receive),
    /// Always executable; a violation if 0.
    Assert(Expr),
    /// Always executable.
    Print(Vec<PrintPiece>),
    /// Always executable: sets the priority of the process with the first number to the second.
    SetPriority(Expr, Expr),
    /// The process ends. Executable if it is the youngest process; its channels go with it.
    End,
    /// One step made of several: executable if the first is, and none of the others ever blocks.
    Merged(Vec<Action>),
    /// One step that runs a piece of code to its end (`d_step`).
    Block(Block),
}

/// A send.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Send {
    /// The channel.
    pub channel: Expr,
    /// Insert in numerical order instead of appending.
    pub sorted: bool,
    /// One value per field.
    pub fields: Vec<Expr>,
}

/// A receive.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Receive {
    /// The channel.
    pub channel: Expr,
    /// Take the first message that matches, wherever it is; else only the oldest is looked at.
    pub any: bool,
    /// Leave the message in the channel.
    pub keep: bool,
    /// One pattern per field.
    pub fields: Vec<Pattern>,
}

/// A piece of what a print statement shows.
#[derive(Clone, PartialEq, Hash, Debug)]
pub enum PrintPiece {
    /// Text as it is.
    Text(String),
    /// A signed decimal number.
    Decimal(Expr),
    /// An unsigned decimal number.
    Unsigned(Expr),
    /// A hexadecimal number.
    Hex(Expr),
    /// An octal number.
    Octal(Expr),
    /// A character.
    Character(Expr),
    /// The name of a symbolic constant.
    Name(Expr, Option<crate::value::EnumId>),
}

/// A piece of code that runs without interruption: in each node the first executable option is
/// taken; none executable after the first node is a fault.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Block {
    /// Nodes; the first is where it starts, and the block is executable if one of that node's
    /// options is.
    pub nodes: Vec<BlockNode>,
}

/// A choice inside a [`Block`].
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct BlockNode {
    /// Options in the order in which they are tried.
    pub options: Vec<BlockOption>,
    /// Where it stands.
    pub span: Span,
}

/// One option of a [`BlockNode`].
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct BlockOption {
    /// What to do; never `Block`, `Merged` or `End`. `Else` is executable if no option before it is.
    pub action: Action,
    /// Where to go on.
    pub next: BlockExit,
    /// Where it stands.
    pub span: Span,
}

/// Where a [`BlockOption`] leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockExit {
    /// To another node of the block.
    Node(u32),
    /// Out of the block, to the edge's target.
    Leave,
}

impl Process {
    /// The expressions of which it depends which edges can be taken, and which assertions fail.
    pub fn conditions(&self) -> Vec<Expr> {
        let actions = self.statements.iter().map(|statement| &statement.action);
        let condition = |action: &Action| match action {
            Action::Guard(e) | Action::Assert(e) => Some(e.clone()),
            _ => None,
        };
        actions.filter_map(condition).collect()
    }
}

/// Adds the process types that an action can create.
pub fn runs_in_action(action: &Action, found: &mut BTreeSet<ProcessId>) {
    match action {
        Action::Skip | Action::Else | Action::End => {}
        Action::Guard(e) | Action::Assert(e) => runs_in(e, found),
        Action::Assign(place, e) => {
            place.indices.iter().for_each(|index| runs_in(index, found));
            runs_in(e, found);
        }
        Action::Send(send) => send.fields.iter().for_each(|field| runs_in(field, found)),
        Action::SetPriority(pid, priority) => {
            runs_in(pid, found);
            runs_in(priority, found);
        }
        // Neither a receive nor a print statement can create a process.
        Action::Receive(_) | Action::Print(_) => {}
        Action::Merged(parts) => parts.iter().for_each(|part| runs_in_action(part, found)),
        Action::Block(block) => {
            let options = block.nodes.iter().flat_map(|node| &node.options);
            options.for_each(|option| runs_in_action(&option.action, found));
        }
    }
}

fn runs_in(expr: &Expr, found: &mut BTreeSet<ProcessId>) {
    match expr {
        Expr::Run { process, arguments, .. } => {
            found.insert(*process);
            arguments.iter().for_each(|argument| runs_in(argument, found));
        }
        Expr::Unary(_, a) => runs_in(a, found),
        Expr::Binary(_, a, b) => {
            runs_in(a, found);
            runs_in(b, found);
        }
        Expr::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| runs_in(e, found)),
        // An expression with a `run` holds nothing else that could hide one.
        _ => {}
    }
}
