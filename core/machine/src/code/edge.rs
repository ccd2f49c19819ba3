//! Edges: the test that decides most of them, the one assignment that many make, and where their instructions begin.

use super::{BLOCKED, Pc, Relation};
use crate::layout::{Base, Slot};

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

    /// Whether every value lies in the range.
    pub(crate) fn is_always(&self) -> bool {
        self.span == u32::MAX
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

    /// Whether it is executable in no state, unless as a partner's part.
    pub(crate) fn is_never(&self) -> bool {
        self.test.is_always() && self.has(Self::OUTSIDE)
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
