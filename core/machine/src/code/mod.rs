//! What a program is assembled into: one flat list of small instructions, and the tables they refer to.

mod edge;
mod instr;
mod tables;

pub(crate) use edge::{EdgeCode, Effect, PartnerCode, channel_bit};
pub(crate) use instr::{Arithmetic, Instr, Relation};
pub(crate) use tables::{ChannelRef, ClaimCode, Code, LocationCode, ProcessCode, Site, Term, TraceCode, TraceEdge};

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

// Four instructions, or one edge, to a line of the cache.
const _: () = assert!(size_of::<Instr>() == 16 && size_of::<EdgeCode>() == 64);
