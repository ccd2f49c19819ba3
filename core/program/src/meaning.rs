//! What a [`crate::Program`] means: the definition that machine and reference interpreter follow.
//!
//! # State
//!
//! * Values of the global variables.
//! * Processes, numbered from 0 in the order of creation; each has a type, a location, a priority and
//!   values of its locals. They form a stack: only the youngest can end.
//! * Channels, identified from 1 in the order of creation; each has a type and a queue of messages. The
//!   channels of global variables come first, in the order of the variables and their elements; the
//!   channels of a process are created when it is (locals in order) and vanish when it ends.
//! * The *holder*: at most one process may hold control (it is inside an `atomic`). A state with a
//!   holder is **transient**: it is passed through, not stored, not counted.
//! * `_last`, only if [`crate::Uses::last`].
//!
//! The **initial state**: globals are initialised in order (channels are created on the way), then the
//! [`crate::Program::initial`] processes are created in order; nobody holds control. Creating a process
//! sets parameters (truncated to their types) and then the other locals, in order; an initial value may
//! read globals and earlier locals. Fresh message slots are 0, and slots that a receive frees are set
//! to 0.
//!
//! # Which processes may move
//!
//! With a holder: only the holder. If it cannot move, it loses control: the same state without a holder
//! is an ordinary state, reached without a step. Without a holder: every process, tried from the
//! youngest to the oldest. A process whose `provided` is false cannot move. If
//! [`crate::Uses::priority`], a process cannot move while another one of higher priority is *enabled*:
//! its `provided` holds and one of its edges is executable. (This holds for the holder too.) An edge
//! whose trial is a fault counts as executable: it is a step without successor, an `Else` after it is
//! not executable, and nothing is tried a second time on its account. In a process declared
//! deterministic, the second executable edge of a location is the fault `NotDeterministic`.
//! A fault in `provided` is a fault of the location's first edge; where only enabledness is asked, or a
//! partner sought, it counts as false.
//!
//! The edges of a process's location are tried in order. Let *g* be the escape group of the last edge
//! found executable (0 at first): if *g* > 0, an edge of another group ends the trial. An `Else` is
//! executable if no edge before it was.
//!
//! If no process can move, everything is tried once more with `Timeout` true (it is false in every
//! other trial). If still none can move the state is **terminal**; it is valid if every process is at a
//! location marked `end`, else it is an *invalid end state*. A state without processes is valid.
//!
//! # One step
//!
//! Executability of an [`crate::Action`]: `Guard(e)`: *e* is not 0 (a `Run` in it takes effect only if
//! so); `Send`: the channel is not full; `Receive`: there is a matching message; `End`: the process is
//! the youngest; `Merged`: that of its first action; `Block`: one option of its first node is
//! executable; all others always. A later action of `Merged` is executed whatever its value would be as
//! a guard.
//!
//! After the step the process is at the edge's target. It holds control afterwards if the edge is
//! `atomic`, else nobody does. `End` removes the process.
//!
//! *Send* to a buffered channel appends the message, each field truncated to its type; a sorted send
//! inserts it before the first message that is greater (fields compared in order, those to be sent
//! before they are truncated). *Receive* looks at the oldest message, or with `any` takes the first that matches; a `Match` field must equal
//! its expression, compared as 32-bit numbers. Values go to the `Store` places from left to right,
//! truncated to the type of the variable. `keep` leaves the message.
//!
//! *Rendezvous*: a send on a channel of capacity 0 is one step of two processes. The message (fields
//! truncated) is offered to every other process, youngest first; each of its edges, in order (escape
//! groups count as above), whose action is a `Receive` on that channel (or a `Merged` or `Block` that
//! starts with one) and matches makes one successor. The sender goes to its target, the receiver to its
//! own; the receiver holds control afterwards if *its* edge is atomic, the sender never does. The send
//! is executable if there is at least one such partner. Outside such a step a receive on a channel of
//! capacity 0 is not executable. If the sender's action is a `Merged` or a `Block`, all of it runs
//! before the message is offered, and the partners are sought in the state it leads to. A partner's
//! `provided` must hold; with [`crate::Uses::priority`] no other possible partner may have a higher
//! priority than it. A receive on any other channel (a dead one too) just does not match, and in the
//! first node of a partner's `Block` nothing but a receive on the offered channel is executable. A
//! receive with `keep` on a channel of capacity 0 is a fault where it is tried in an ordinary trial.
//!
//! *Block*: from node to node, always the first executable option, until one leaves. `Else` is
//! executable if no option before it in the node is; at the very beginning of a block, where no option
//! is before it, it speaks of the edges before the block's edge. A node other than the first where
//! nothing is executable is a fault.
//!
//! *Details.* A `Store`'s indices are evaluated when its turn comes, before the message is removed. An
//! action that is not executable in the later part of a `Merged` is the fault `BlockedInside`, except a
//! guard. A message with more or fewer fields than its channel is the fault `FieldCount`, in a send once
//! the channel is not full, in a receive once there is a message that matches in the fields that both
//! have. A poll compares the fields that both have; on a
//! channel of capacity 0 it is the fault `PollOnRendezvous`. `SetPriority` of a process that does not exist does nothing (its value may
//! then be anything).
//!
//! `_last` becomes the number of the process that moved (for a rendezvous, the receiver).
//!
//! # Claims
//!
//! A check may run the program together with one [`crate::ProcessKind::Claim`]. The state then also holds the
//! claim's location, the values of its locals (initialised after the first processes were created), and whose
//! *turn* it is: the claim's at first. Everything above is about the system's turn; the claim is no process: it
//! has no number, `ProcessCount`, the numbers of the others and their channels are as without it, and it never
//! becomes `_last`.
//!
//! In the *claim's turn* its edges are tried in order, by the rules for a process (`Else`, escape groups,
//! `Merged`, `Block`); each one that is executable is a step with the number [`crate::CLAIM_PID`]. If the edge is
//! `atomic` it stays the claim's turn, else it is the system's; the state is transient either way. Where no edge
//! is executable, the run is none of the product: it goes no further, and that is no invalid end state.
//!
//! After a step of the system it is the claim's turn again, unless a process holds control: an atomic sequence
//! and a rendezvous are one step to a claim. If the holder cannot move and loses control, it is the claim's
//! turn. If the system is in a terminal state, valid or not, it *stutters*: the turn passes to the claim without
//! a step. (A run that ends is judged as if its last state were repeated for ever.)
//!
//! A claim *completes* where it comes to a location marked `end` (its closing brace, or a label): the step that
//! leads there is the fault `ClaimCompleted`, whatever else is wrong with it; if the claim starts at such a
//! location, the initial state has that fault.
//!
//! Expressions in a claim: `Pid` is 0. `Enabled` asks for any process. `Timeout` is true where no process can
//! move as long as it is false for them. `NonProgress` also asks that the claim is at no progress location, and
//! is false after a stutter: nothing is progressing or failing to where everything has stopped. A claim may
//! change global variables. It never sends, receives, creates processes or has channels.
//!
//! # Event traces
//!
//! A check may watch one [`crate::ProcessKind::Trace`] or [`crate::ProcessKind::NoTrace`]; its location is part of
//! the state. A send is an *event* if some send anywhere in the trace names its channel at that moment, a
//! receive if some receive does, unless it has `keep`. The event happens within the step: of a send, when the
//! message is in the channel, and the trace sees the youngest message there; of a receive, before the message
//! is stored and removed, and the trace sees the oldest. (They are not the message itself in a sorted send
//! and in a receive with `any`.) Of a rendezvous, once a partner has been found: the send, then the receive.
//!
//! An edge of the trace's location matches an event if it is of the same kind, names the same channel, and its
//! fields match the message, as far as both go: a constant, or a `Match`, must be equal, all else matches. A
//! `Skip` or a `Guard` that holds matches any event. Expressions are those of no process. The first edge that
//! matches is taken; if a second one matches, that is the fault `TraceAmbiguous`.
//!
//! If none matches, or the trace is at its closing brace, the event is the fault `TraceViolated`; in a `NoTrace`
//! it is fine, and the trace goes to its closing brace, where it stays: only the first attempt counts. It is
//! the fault `TraceViolated` in a `NoTrace` if a matching edge leads to its closing brace. A terminal state is
//! valid only if the trace is at a location marked `end` too, or no process is left.
//!
//! # Marks
//!
//! Who looks for cycles needs marks on steps. A step is *accepting* if the state it leads to is not transient
//! and some process, or the claim, is there at a location marked `accept`. What progress is can be chosen: on
//! *states*, a step makes progress if the state it leads to is not transient and some process, or the claim, is
//! there at a location marked `progress`; on *transitions*, if an edge that it takes, of the sender or of the
//! receiver, leaves a location marked `progress`. Losing control and stuttering have marks by the state they
//! lead to. So a label in the middle of an atomic sequence marks no state. If acceptance is watched without a
//! claim, a terminal state in which some process is at a location marked `accept` stutters as well: an accepting
//! change without a step leads back to it. (With a claim it is the claim that goes on.)
//!
//! A process is *enabled* in a state without holder if it has a step there; of a rendezvous, that is the
//! sender. (With a claim, in the system's turn, or as if it were.) A cycle is *weakly fair* if every process
//! takes part in one of its steps, or is not enabled in one of its states that are not transient, or does not
//! exist in one; *strongly fair* if every process takes part in one, or is enabled in none. A claim's step is
//! nobody's.
//!
//! # Expressions
//!
//! 32-bit signed, wrapping; see [`crate::BinaryOp`]. A place of a dead or never created channel
//! (identity 0, or greater than the number of channels) in a channel operation is a fault. In `At` and
//! `Remote`, a process that does not exist or is of another type reads as 0 (indices are then not
//! evaluated); "the first" is the one with the lowest number. `Enabled(p)` of the evaluating process is
//! a fault, and so is that of a process whose own edges are being tried in order to answer an `Enabled`
//! or a question of priority. A process whose `provided` is false is not enabled. `Enabled` pays no
//! heed to holder and priorities. The new process is there, with its number, when its locals are
//! initialised.
//!
//! # Faults
//!
//! A failed assertion, and the [`Fault`]s, are violations. The step that fails is the last of the path;
//! a search that goes on after a failed assertion treats it as a step that changes nothing but the
//! location; after any other fault there is no successor.

use std::fmt;

/// Why a step could not be computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An `Assert` was 0; the search may go on.
    AssertionFailed,
    /// Division or remainder by 0.
    DivisionByZero,
    /// An index outside its dimension.
    IndexOutOfRange {
        /// The index.
        index: i32,
        /// The length of the dimension.
        length: u32,
    },
    /// A channel operation on identity 0.
    NoChannel,
    /// A channel operation on a channel that no longer exists.
    DeadChannel(i32),
    /// A message with the wrong number of fields for its channel.
    FieldCount {
        /// Fields in the statement.
        given: u32,
        /// Fields of the channel.
        expected: u32,
    },
    /// More than [`crate::PROCESSES_MAX`] processes.
    TooManyProcesses,
    /// More than [`crate::CHANNELS_MAX`] channels.
    TooManyChannels,
    /// Nothing is executable in the middle of a [`crate::Block`].
    BlockedInside,
    /// A [`crate::Block`] did not come to its end within the limit.
    EndlessBlock,
    /// A receive that keeps its message, on a rendezvous channel.
    PollOnRendezvous,
    /// `enabled(p)` of the process itself.
    EnabledOfSelf,
    /// A priority outside 1 to 255.
    PriorityOutOfRange(i32),
    /// Two executable edges in a process declared deterministic.
    NotDeterministic,
    /// The claim came to its end: the run so far does what the claim says must not be.
    ClaimCompleted,
    /// A send or a receive that the event trace does not allow, or one that completes a forbidden one.
    TraceViolated,
    /// Two edges of the event trace match the same send or receive.
    TraceAmbiguous,
}

/// A [`crate::Block`] may take at most this many steps.
pub const BLOCK_STEPS_MAX: u32 = 1_000_000;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AssertionFailed => write!(f, "assertion violated"),
            Self::DivisionByZero => write!(f, "division by zero"),
            Self::IndexOutOfRange { index, length } => {
                write!(
                    f,
                    "index {index} is outside the array, which has {length} elements (0 to {})",
                    length.max(1) - 1
                )
            }
            Self::NoChannel => write!(f, "the channel was never initialised"),
            Self::DeadChannel(id) => write!(f, "channel {id} does not exist (any more): its process has ended"),
            Self::FieldCount { given, expected } => {
                write!(f, "the statement has {given} fields, but messages of this channel have {expected}")
            }
            Self::TooManyProcesses => write!(f, "more than {} processes", crate::PROCESSES_MAX),
            Self::TooManyChannels => write!(f, "more than {} channels", crate::CHANNELS_MAX),
            Self::BlockedInside => write!(f, "a `d_step` blocks in the middle"),
            Self::EndlessBlock => write!(f, "a `d_step` takes more than {BLOCK_STEPS_MAX} steps"),
            Self::PollOnRendezvous => write!(f, "cannot poll a rendezvous channel"),
            Self::EnabledOfSelf => write!(f, "`enabled()` of the process that evaluates it"),
            Self::PriorityOutOfRange(value) => write!(f, "priority {value} is not between 1 and 255"),
            Self::ClaimCompleted => write!(f, "the claim is completed"),
            Self::TraceViolated => write!(f, "the event trace does not allow this"),
            Self::TraceAmbiguous => write!(f, "the event trace is ambiguous here"),
            Self::NotDeterministic => write!(f, "two statements are executable in a D_proctype"),
        }
    }
}
