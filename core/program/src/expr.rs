//! Expressions. They are computed in 32-bit signed arithmetic that wraps, as a C `int` does.

use crate::process::{LocationId, ProcessId};
use crate::value::VariableId;

/// Which variable, before any index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// A global variable.
    Global(VariableId),
    /// A variable of the process that evaluates the expression.
    Local(VariableId),
}

/// Something that can be read or assigned: a variable, with one index for each of its dimensions.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Place {
    /// The variable.
    pub slot: Slot,
    /// One expression per dimension. An index outside its dimension is a fault.
    pub indices: Vec<Expr>,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// 1 if the operand is 0, else 0.
    Not,
    /// Arithmetic negation.
    Negate,
    /// Every bit flipped.
    Complement,
}

/// Operators with two operands; comparisons and `And`, `Or` give 0 or 1, and `And`, `Or` evaluate
/// their second operand only if the first does not decide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    /// Truncates towards zero; by zero is a fault.
    Divide,
    /// Has the sign of the dividend; by zero is a fault.
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    /// The low five bits of the right operand count.
    ShiftLeft,
    /// Keeps the sign; the low five bits of the right operand count.
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl BinaryOp {
    /// The comparison that says the same with its operands exchanged; other operators as they are.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            other => other,
        }
    }
}

/// Tests of a channel's fill level. On a rendezvous channel the length is 0 and it is never full.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ChannelTest {
    Full,
    NotFull,
    Empty,
    NotEmpty,
}

/// One field of a receive: where it goes, or what it must be.
#[derive(Clone, PartialEq, Hash, Debug)]
pub enum Pattern {
    /// Stored here.
    Store(Place),
    /// Must equal this.
    Match(Expr),
    /// Taken and dropped.
    Ignore,
}

impl Pattern {
    fn operands(&self) -> Vec<&Expr> {
        match self {
            Self::Store(place) => place.indices.iter().collect(),
            Self::Match(e) => vec![e],
            Self::Ignore => Vec::new(),
        }
    }
}

/// An expression.
#[derive(Clone, PartialEq, Hash, Debug)]
pub enum Expr {
    /// A constant.
    Constant(i32),
    /// The value of a place.
    Load(Place),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The second if the first is not 0, else the third; only one of them is evaluated.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Number of messages in a channel.
    Length(Box<Expr>),
    /// Test of a channel's fill level.
    Test(ChannelTest, Box<Expr>),
    /// Whether a receive with this pattern would find a message. `Pattern::Store` matches anything.
    /// A fault on a rendezvous channel. `any` looks at every message, not only the first.
    Poll {
        /// The channel.
        channel: Box<Expr>,
        /// Every message, not only the first.
        any: bool,
        /// One pattern per field.
        fields: Vec<Pattern>,
    },
    /// Creates a process; its value is the new process's number.
    Run {
        /// Its type.
        process: ProcessId,
        /// Values of its parameters, which are its first locals. Fewer than there are: 0.
        arguments: Vec<Expr>,
        /// Its priority.
        priority: u8,
    },
    /// Number of the process that evaluates the expression.
    Pid,
    /// Number of processes alive.
    ProcessCount,
    /// Number of the process that made the last step; 0 at the start.
    Last,
    /// Whether nothing in the system is executable.
    Timeout,
    /// Whether no process is at a location marked as progress.
    NonProgress,
    /// Whether the process with this number exists and could make a step.
    Enabled(Box<Expr>),
    /// [`crate::Location::number`] of where the process with this number is; 0 if it does not exist.
    LocationOf(Box<Expr>),
    /// Priority of the process with this number; 0 if it does not exist.
    PriorityOf(Box<Expr>),
    /// Whether a process is at a location.
    At {
        /// Its type.
        process: ProcessId,
        /// Its number; without it, the first process of that type counts. See [`crate::meaning`].
        pid: Option<Box<Expr>>,
        /// The location.
        location: LocationId,
    },
    /// A variable of another process.
    Remote {
        /// Its type.
        process: ProcessId,
        /// Its number; without it, the first process of that type counts.
        pid: Option<Box<Expr>>,
        /// The variable, one of `process`'s locals.
        variable: VariableId,
        /// One index per dimension.
        indices: Vec<Expr>,
    },
}

impl Expr {
    /// `left op right`.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// `op operand`.
    pub fn unary(op: UnaryOp, operand: Expr) -> Self {
        Self::Unary(op, Box::new(operand))
    }

    /// The expressions that it is directly made of.
    pub fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Pid | Self::ProcessCount | Self::Last | Self::Timeout | Self::NonProgress => {
                Vec::new()
            }
            Self::Load(place) => place.indices.iter().collect(),
            Self::Unary(_, a) | Self::Length(a) | Self::Test(_, a) => vec![a],
            Self::Enabled(a) | Self::LocationOf(a) | Self::PriorityOf(a) => vec![a],
            Self::Binary(_, a, b) => vec![a, b],
            Self::Conditional(a, b, c) => vec![a, b, c],
            Self::Poll { channel, fields, .. } => {
                std::iter::once(&**channel).chain(fields.iter().flat_map(Pattern::operands)).collect()
            }
            Self::Run { arguments, .. } => arguments.iter().collect(),
            Self::At { pid, .. } => pid.as_deref().into_iter().collect(),
            Self::Remote { pid, indices, .. } => pid.as_deref().into_iter().chain(indices).collect(),
        }
    }

    /// The value, if it is a constant.
    pub fn constant(&self) -> Option<i32> {
        match self {
            Self::Constant(value) => Some(*value),
            _ => None,
        }
    }
}
