//! The tables that instructions refer to: channels and their messages, locations, processes, what is watched.

use super::{EdgeCode, Instr, PartnerCode, Pc, Reg};
use crate::layout::{Array, ChannelLayout, Slot};
use crate::shape::Placed;
use fabius_program::meaning::Fault;
use std::sync::Arc;

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

/// What a location needs at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocationCode {
    /// Its first edge, or [`NONE`].
    pub first: u32,
    /// Its first edge that may be executable without an offer, or [`NONE`].
    pub tried_first: u32,
    pub number: u32,
    /// Channels on which some edge can be partner of a rendezvous, as [`channel_bit`]s.
    pub accepts: u32,
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
