//! The instructions.

use super::{Pc, Reg};
use crate::layout::Slot;

/// Which outcomes of a comparison count as true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Relation(u8);

impl Relation {
    pub(crate) const LESS: Self = Self(1);
    pub(crate) const EQUAL: Self = Self(2);
    pub(crate) const GREATER: Self = Self(4);
    pub(crate) const LESS_EQUAL: Self = Self(3);
    pub(crate) const GREATER_EQUAL: Self = Self(6);
    pub(crate) const NOT_EQUAL: Self = Self(5);

    /// True where `self` is false.
    pub(crate) fn not(self) -> Self {
        Self(7 ^ self.0)
    }

    /// The same with the operands exchanged.
    pub(crate) fn flip(self) -> Self {
        Self(self.0 & 2 | self.0 << 2 & 4 | self.0 >> 2)
    }

    /// Whether `a` and `b` are in this relation. Without a branch: the outcome of a guard is hard to predict
    /// once, not twice.
    #[inline(always)]
    pub(crate) fn holds(self, a: i32, b: i32) -> bool {
        let outcome = u8::from(a < b) | u8::from(a == b) << 1 | u8::from(a > b) << 2;
        self.0 & outcome != 0
    }
}

/// Operators that compute with two numbers and are no comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

/// An instruction. `to` is where to go on if the condition fails, unless the name says otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Instr {
    // How an edge goes.
    /// The edge is not executable.
    Blocked,
    /// The guard held: the state is copied, and what follows changes the copy.
    Commit,
    /// The state is copied, but the guard has not held yet.
    Copy,
    /// The guard held on the copy.
    Passed,
    /// The step is complete; a condition holds.
    Finish,
    /// A condition does not lead here: back from initialising a process.
    Return,
    /// A fault, by its index.
    Raise {
        fault: u32,
    },
    /// An assertion failed; the step goes on.
    AssertFailed,
    /// An edge before this one was executable.
    ElseGuard {
        to: Pc,
    },
    /// The process is not the youngest.
    EndGuard {
        to: Pc,
    },
    /// Removes the process.
    End,
    /// Always.
    Jump {
        to: Pc,
    },
    /// Always, and counts a step of a block.
    Tick {
        to: Pc,
    },

    // Conditions.
    UnlessRegs {
        relation: Relation,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    UnlessConst {
        relation: Relation,
        a: Reg,
        k: i32,
        to: Pc,
    },
    UnlessSlot {
        relation: Relation,
        slot: Slot,
        k: i32,
        to: Pc,
    },
    UnlessEqual {
        slot: Slot,
        k: i32,
        to: Pc,
    },
    UnlessDifferent {
        slot: Slot,
        k: i32,
        to: Pc,
    },
    UnlessSlots {
        relation: Relation,
        a: Slot,
        b: Slot,
        to: Pc,
    },
    /// `array[index]` against a constant.
    UnlessAt {
        relation: Relation,
        array: u16,
        index: Slot,
        k: i32,
        to: Pc,
    },
    UnlessTimeout {
        to: Pc,
    },

    // Values.
    Const {
        d: Reg,
        k: i32,
    },
    Pid {
        d: Reg,
    },
    ProcessCount {
        d: Reg,
    },
    Last {
        d: Reg,
    },
    NonProgress {
        d: Reg,
    },
    Enabled {
        d: Reg,
        a: Reg,
    },
    LocationOf {
        d: Reg,
        a: Reg,
    },
    PriorityOf {
        d: Reg,
        a: Reg,
    },
    /// Chooses the process with number `a`, or with `first` the first of its type; without one, `to`.
    Select {
        first: bool,
        a: Reg,
        process: u16,
        to: Pc,
    },
    /// Whether the chosen process is at a location.
    RemoteAt {
        d: Reg,
        process: u16,
        location: u32,
    },
    Load {
        d: Reg,
        slot: Slot,
    },
    LoadAt {
        d: Reg,
        array: u16,
        i: Reg,
    },
    LoadBySlot {
        d: Reg,
        array: u16,
        index: Slot,
    },
    TableAt {
        d: Reg,
        table: u32,
        i: Reg,
    },
    CheckIndex {
        a: Reg,
        length: u32,
    },
    /// `d = d * k + a`.
    Scale {
        d: Reg,
        a: Reg,
        k: u32,
    },
    Not {
        d: Reg,
        a: Reg,
    },
    Negate {
        d: Reg,
        a: Reg,
    },
    Complement {
        d: Reg,
        a: Reg,
    },
    Compare {
        relation: Relation,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    CompareConst {
        relation: Relation,
        d: Reg,
        a: Reg,
        k: i32,
    },
    Add {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AddConst {
        d: Reg,
        a: Reg,
        k: i32,
    },
    Compute {
        op: Arithmetic,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    ComputeConst {
        op: Arithmetic,
        d: Reg,
        a: Reg,
        k: i32,
    },

    // Assignments.
    Store {
        slot: Slot,
        a: Reg,
    },
    StoreConst {
        slot: Slot,
        k: i32,
    },
    StoreSlot {
        slot: Slot,
        from: Slot,
    },
    /// `slot = from + k`.
    StoreSum {
        slot: Slot,
        from: Slot,
        k: i32,
    },
    StoreAt {
        array: u16,
        i: Reg,
        a: Reg,
    },
    StoreAtConst {
        array: u16,
        i: Reg,
        k: i32,
    },
    StoreBySlot {
        array: u16,
        index: Slot,
        a: Reg,
    },
    StoreBySlotConst {
        array: u16,
        index: Slot,
        k: i32,
    },
    /// Every element.
    Fill {
        array: u16,
        a: Reg,
    },
    SetPriority {
        a: Reg,
        b: Reg,
    },
    /// Creates a process with `count` arguments from register `a` on, and initialises it; registers before
    /// `d` keep their values.
    Spawn {
        d: Reg,
        a: Reg,
        count: u8,
        priority: u8,
        process: u16,
    },
    /// Identity of a channel that the process created, counted from 0.
    OwnChannel {
        d: Reg,
        k: u32,
    },

    // Channels. A site says which channel, and what the fields are.
    /// Makes a channel of a global variable the current one.
    ResolveConst {
        id: u32,
    },
    /// Makes the channel in `a` the current one.
    Resolve {
        a: Reg,
    },
    /// The current channel has no room; or it is a rendezvous.
    SendReady {
        site: u32,
        rendezvous: Pc,
        to: Pc,
    },
    /// Appends or inserts the message.
    Append {
        site: u32,
    },
    /// The whole step of a process that offers a message, except for its partner's part.
    Offer {
        site: u32,
        to: Pc,
    },
    /// Keeps the message for a partner while the rest of the step runs; `to` if none will be found.
    OfferLater {
        site: u32,
        ordinal: u8,
        to: Pc,
    },
    /// A fault if the current channel has not as many fields as the message.
    CheckCount {
        site: u32,
    },
    /// No message of the channel matches.
    Find {
        site: u32,
        to: Pc,
    },
    /// The first message of a narrow, non-empty channel does not match.
    UnlessHead {
        base: u8,
        word: u16,
        mask: u32,
        value: u32,
        to: Pc,
    },
    /// The current channel has no message; or it is a rendezvous.
    ReceiveReady {
        site: u32,
        to: Pc,
    },
    /// Stores the fields of the message that was found, and removes it.
    Take {
        site: u32,
    },
    /// Puts the fields of the message that was found into registers from `d` on.
    Peek {
        site: u32,
        d: Reg,
    },
    /// Removes the message that was found.
    Remove {
        site: u32,
    },
    /// The channel in `a` is not the one offered.
    UnlessOffered {
        a: Reg,
        to: Pc,
    },
    /// The message offered does not match.
    MatchOffer {
        site: u32,
        to: Pc,
    },
    /// The process can be partner; what follows is its part of the step.
    Partner,
    /// Stores the fields of the message offered.
    TakeOffer {
        site: u32,
    },
    /// Puts the fields of the message offered into registers from `d` on.
    PeekOffer {
        d: Reg,
    },
    /// A send, or a receive, for the event trace: of the current channel, or of the message offered.
    Event {
        sent: bool,
        offered: bool,
    },
    /// The message of an event does not match.
    MatchEvent {
        site: u32,
        to: Pc,
    },
    Length {
        d: Reg,
        a: Reg,
    },
    /// Room left in the channel in `a`; that of a rendezvous counts as 1.
    Room {
        d: Reg,
        a: Reg,
    },
    /// Whether a receive would find a message.
    Poll {
        site: u32,
        d: Reg,
    },
}

impl Instr {
    /// Where the instruction may lead beside its successor.
    pub(crate) fn targets_mut(&mut self) -> [Option<&mut Pc>; 2] {
        match self {
            Self::ElseGuard { to }
            | Self::EndGuard { to }
            | Self::Jump { to }
            | Self::Tick { to }
            | Self::UnlessRegs { to, .. }
            | Self::UnlessConst { to, .. }
            | Self::UnlessSlot { to, .. }
            | Self::UnlessEqual { to, .. }
            | Self::UnlessDifferent { to, .. }
            | Self::UnlessSlots { to, .. }
            | Self::UnlessAt { to, .. }
            | Self::UnlessTimeout { to }
            | Self::Select { to, .. }
            | Self::Offer { to, .. }
            | Self::OfferLater { to, .. }
            | Self::ReceiveReady { to, .. }
            | Self::Find { to, .. }
            | Self::UnlessHead { to, .. }
            | Self::UnlessOffered { to, .. }
            | Self::MatchOffer { to, .. }
            | Self::MatchEvent { to, .. } => [Some(to), None],
            Self::SendReady { rendezvous, to, .. } => [Some(rendezvous), Some(to)],
            _ => [None, None],
        }
    }
}
