//! What a program is assembled into: one flat list of small instructions, and the tables they refer to.

use crate::layout::{Array, Base, ChannelLayout, Slot};
use crate::shape::Placed;
use fabius_program::meaning::Fault;
use std::sync::Arc;

/// Index of an instruction.
pub(crate) type Pc = u32;

/// No edge, no instruction, no process.
pub(crate) const NONE: u32 = u32::MAX;

/// The instruction that says that an edge is not executable; the first of every program.
pub(crate) const BLOCKED: Pc = 0;
/// The instruction that faults because a later part of an edge is not executable.
pub(crate) const BLOCKED_INSIDE: Pc = 1;

/// A register. There are as many as a byte can name, so no access needs a check.
pub(crate) type Reg = u8;

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

/// Which channel a site is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChannelRef {
    /// Known when the program is assembled.
    Static { base: u8, word: u32, layout: u32 },
    /// The current one.
    Current,
    /// The one whose identity is in a register.
    Register(Reg),
}

/// One field of a message in a send, a receive or a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    /// The value to send or to match.
    Const(i32),
    /// The value to send or to match.
    Slot(Slot),
    /// The value to send or to match.
    Register(Reg),
    /// Where to store.
    Store(Slot),
    /// Anything.
    Ignore,
}

/// A send, a receive or a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Site {
    pub channel: ChannelRef,
    /// Insert in order.
    pub sorted: bool,
    /// Look at every message.
    pub any: bool,
    /// Leave the message.
    pub keep: bool,
    /// The message found is the oldest.
    pub head: bool,
    /// Range in [`Code::terms`].
    pub first: u32,
    pub count: u32,
}

/// Whether one value lies in a range, or outside it; most edges fail by such a test, before any instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Test {
    pub slot: Slot,
    low: i32,
    span: u32,
}

impl Test {
    /// Always true.
    pub(crate) fn always() -> Self {
        Self { slot: Slot::new(Base::Global, 0, 1, false), low: i32::MIN, span: u32::MAX }
    }

    /// `slot relation k`; the flag tells that it is the values outside the range that count.
    pub(crate) fn new(relation: Relation, slot: Slot, k: i32) -> (Self, bool) {
        let range = |low: i32, high: i32, outside| (Self { slot, low, span: high.wrapping_sub(low) as u32 }, outside);
        match relation {
            Relation::LESS => range(k, i32::MAX, true),
            Relation::GREATER_EQUAL => range(k, i32::MAX, false),
            Relation::GREATER => range(i32::MIN, k, true),
            Relation::LESS_EQUAL => range(i32::MIN, k, false),
            Relation::EQUAL => range(k, k, false),
            _ => range(k, k, true),
        }
    }

    #[inline(always)]
    pub(crate) fn is_within(&self, value: i32) -> bool {
        value.wrapping_sub(self.low) as u32 <= self.span
    }
}

/// The one assignment that many edges make.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Effect {
    /// It takes instructions.
    Code,
    /// Only the location changes.
    Nothing,
    Const {
        slot: Slot,
        k: i32,
    },
    Copy {
        slot: Slot,
        from: Slot,
    },
    Sum {
        slot: Slot,
        from: Slot,
        k: i32,
    },
}

/// What an edge needs at run time, in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct EdgeCode {
    /// What must hold before anything else.
    pub test: Test,
    /// What must hold besides, if there is [`EdgeCode::SECOND`].
    pub second: Test,
    /// What it does, if there is nothing more to it.
    pub effect: Effect,
    /// Its instructions, from behind the tests on.
    pub start: Pc,
    /// The location it leads to, where it stands in the process's first word.
    pub target: u32,
    /// The other bits of that word.
    pub target_mask: u32,
    /// Escape group, numbered within its location.
    pub escape: u16,
    /// The rendezvous channel on which it sends and does nothing else, if that is known; else 0.
    pub offers: u16,
    pub flags: u16,
}

impl EdgeCode {
    /// The last of its location.
    pub(crate) const LAST: u16 = 1;
    /// The process holds control afterwards.
    pub(crate) const ATOMIC: u16 = 2;
    /// The process is gone afterwards.
    pub(crate) const ENDS: u16 = 4;
    /// Executable only if no edge before it is.
    pub(crate) const ELSE: u16 = 8;
    /// Its process is declared deterministic.
    pub(crate) const DETERMINISTIC: u16 = 16;
    /// The first test is true outside its range.
    pub(crate) const OUTSIDE: u16 = 32;
    /// There is a second test.
    pub(crate) const SECOND: u16 = 64;
    /// The second test is true outside its range.
    pub(crate) const SECOND_OUTSIDE: u16 = 128;

    /// An edge that is never executable.
    pub(crate) fn never() -> Self {
        Self {
            test: Test::always(),
            second: Test::always(),
            effect: Effect::Code,
            start: BLOCKED,
            target: 0,
            target_mask: u32::MAX,
            escape: 0,
            offers: 0,
            flags: Self::LAST | Self::OUTSIDE,
        }
    }

    #[inline(always)]
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// What an edge needs as part of a rendezvous, and seldom otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartnerCode {
    /// Its instructions as partner of a rendezvous; [`NONE`] if it cannot be one.
    pub start: Pc,
    /// The process type it belongs to; [`NONE`] if no location has it.
    pub process: u32,
    /// The channel on which it can be partner, if that is known; else 0.
    pub channel: u16,
}

/// The bit that stands for a channel (and a few others) in a set; all bits if the channel, 0, is not known.
#[inline(always)]
pub(crate) fn channel_bit(channel: u16) -> u64 {
    if channel == 0 { u64::MAX } else { 1 << (channel & 63) }
}

/// What a location needs at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocationCode {
    /// Its first edge, or [`NONE`].
    pub first: u32,
    pub number: u32,
    /// Channels on which some edge can be partner of a rendezvous, as [`channel_bit`]s.
    pub accepts: u64,
    pub flags: u8,
}

impl LocationCode {
    pub(crate) const END: u8 = 1;
    pub(crate) const PROGRESS: u8 = 2;
    pub(crate) const ACCEPT: u8 = 4;

    #[inline(always)]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A process type.
#[derive(Clone, Debug)]
pub(crate) struct ProcessCode {
    /// Index of its first location in [`Code::locations`]; there are `location_mask + 1`.
    pub locations: u32,
    /// The bits of its first word that hold the location, once shifted down.
    pub location_mask: u32,
    /// First word of a new process: location and type.
    pub fresh: u32,
    /// Its number among the types that can run, as stored in its first word.
    pub rank: u32,
    /// Where its priority stands, if priorities are used.
    pub priority: Slot,
    /// Where its parameters stand; `None` for one whose value never matters.
    pub parameters: Vec<Slot>,
    /// Initialises its locals.
    pub initialise: Pc,
    /// Its `provided`, or [`NONE`].
    pub provided: Pc,
    /// Words of the process itself and of its channels.
    pub words: u32,
    /// Its channels: word relative to the process, and layout.
    pub channels: Vec<(u32, u32)>,
}

/// Everything that does not change while a program runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub instrs: Vec<Instr>,
    pub edges: Vec<EdgeCode>,
    /// For each edge.
    pub partners: Vec<PartnerCode>,
    pub locations: Vec<LocationCode>,
    pub processes: Vec<ProcessCode>,
    pub arrays: Vec<Array>,
    pub tables: Vec<Arc<[i32]>>,
    pub sites: Vec<Site>,
    pub terms: Vec<Term>,
    pub faults: Vec<Fault>,
    pub layouts: Vec<ChannelLayout>,
    /// Types that can run, in the order of their ranks.
    pub ranks: Vec<u32>,
    /// Types of the processes at the start.
    pub initial: Vec<(u32, u8)>,
    /// The low bits of a process's first word hold its rank; without `Run`, it is not stored.
    pub rank_mask: u32,
    /// The location follows the rank.
    pub location_shift: u32,
    /// Whether processes are created after the start.
    pub dynamic: bool,
    /// Words before the first process: header, globals, their channels.
    pub global_words: u32,
    /// Global channels: word and layout.
    pub global_channels: Vec<(u32, u32)>,
    pub hidden_words: u32,
    /// Initialises the globals.
    pub initialise: Pc,
    pub uses_last: bool,
    pub uses_priority: bool,
    /// Priorities are used, or some process has a `provided`.
    pub restricted: bool,
    pub uses_timeout: bool,
    /// The claim that is watched.
    pub claim: Option<ClaimCode>,
    /// The event trace that is watched.
    pub trace: Option<TraceCode>,
}

/// A claim that is watched: it has a block of its own behind the globals, laid out like that of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimCode {
    /// Where its block begins.
    pub placed: Placed,
    /// It asks for `Timeout`.
    pub asks_timeout: bool,
    /// The program asks for `NonProgress`.
    pub asks_progress: bool,
}

/// An event trace that is watched.
#[derive(Clone, Debug)]
pub(crate) struct TraceCode {
    /// The word that holds its location.
    pub word: u32,
    /// Its type.
    pub process: u32,
    /// What it says must not be.
    pub negated: bool,
    /// The location behind its last event, if it can be reached.
    pub closing: u32,
    /// Edges of each location, in order.
    pub edges: Vec<Vec<TraceEdge>>,
    /// Where it says whether a send, or a receive, is one on its channels.
    pub scopes: [Vec<Pc>; 2],
}

/// An edge of an event trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceEdge {
    /// Whether it stands for a send, or a receive; `None` for either.
    pub sent: Option<bool>,
    /// What decides if it matches.
    pub start: Pc,
    /// Where it leads.
    pub target: u32,
}

// Four instructions, or one edge, to a line of the cache.
const _: () = assert!(size_of::<Instr>() == 16 && size_of::<EdgeCode>() == 64);
