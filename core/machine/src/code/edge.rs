//! Edges: the test that decides most of them, the one assignment that many make, and where their instructions begin.

use super::{BLOCKED, Pc, Relation};
use crate::layout::Slot;

/// Whether a value, among the other bits of its word, is one of some that follow each other, the least one behind the greatest. Most
/// edges fail by such a test, before any instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Test {
    /// The bits of the value.
    mask: u32,
    /// The first of these values, where it stands in the word.
    start: u32,
    /// How many there are, there.
    count: u32,
}

impl Test {
    /// Always true.
    pub(crate) const ALWAYS: Self = Self { mask: 0, start: 0, count: 1 };
    /// Never true.
    pub(crate) const NEVER: Self = Self { mask: 0, start: 0, count: 0 };

    /// `slot relation k`.
    pub(crate) fn new(relation: Relation, slot: Slot, k: i32) -> Self {
        let (bits, position) = (slot.bits(), slot.position());
        let (least, values) = (if slot.is_signed() { -(1_i64 << (bits - 1)) } else { 0 }, 1_i64 << bits);
        // The values from `low` up to `high` are meant, or all others.
        let k = i64::from(k);
        let (low, high, others) = match relation {
            Relation::LESS => (k, i64::MAX, true),
            Relation::GREATER_EQUAL => (k, i64::MAX, false),
            Relation::GREATER => (i64::MIN, k, true),
            Relation::LESS_EQUAL => (i64::MIN, k, false),
            Relation::EQUAL => (k, k, false),
            _ => (k, k, true),
        };
        let (low, high) = (low.max(least), high.min(least + values - 1));
        let count = (high - low + 1).max(0);
        let (start, count) = if others { (high + 1, values - count) } else { (low, count) };
        match count {
            0 => Self::NEVER,
            _ if count == values => Self::ALWAYS,
            _ => Self {
                mask: ((values - 1) << position) as u32,
                start: (start << position) as u32,
                count: (count << position) as u32,
            },
        }
    }

    #[inline(always)]
    pub(crate) fn holds(self, word: u32) -> bool {
        (word.wrapping_sub(self.start) & self.mask) < self.count
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
    /// The words that are tested, …
    pub test_word: u16,
    pub second_word: u16,
    /// … and what they are relative to: two bits for the first one, then two for the second.
    pub bases: u8,
    pub flags: u8,
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
}

const _: () = assert!(size_of::<EdgeCode>() == 64);

impl EdgeCode {
    /// The last of its location.
    pub(crate) const LAST: u8 = 1;
    /// The process holds control afterwards.
    pub(crate) const ATOMIC: u8 = 2;
    /// The process is gone afterwards.
    pub(crate) const ENDS: u8 = 4;
    /// Executable only if no edge before it is.
    pub(crate) const ELSE: u8 = 8;
    /// Its process is declared deterministic.
    pub(crate) const DETERMINISTIC: u8 = 16;
    /// There is a second test.
    pub(crate) const SECOND: u8 = 32;

    /// An edge that is never executable.
    pub(crate) fn never() -> Self {
        Self { test: Test::NEVER, flags: Self::LAST, ..Self::untested() }
    }

    /// An edge of which only its instructions decide.
    pub(crate) fn untested() -> Self {
        Self {
            test: Test::ALWAYS,
            second: Test::ALWAYS,
            test_word: 0,
            second_word: 0,
            bases: 0,
            flags: 0,
            effect: Effect::Code,
            start: BLOCKED,
            target: 0,
            target_mask: u32::MAX,
            escape: 0,
            offers: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is executable in no state, unless as a partner's part.
    pub(crate) fn is_never(&self) -> bool {
        self.test == Test::NEVER
    }

    /// Makes it an edge that is never executable.
    pub(crate) fn block(&mut self) {
        self.test = Test::NEVER;
    }

    /// Tests `slot relation k` first.
    pub(crate) fn set_test(&mut self, relation: Relation, slot: Slot, k: i32) {
        self.test = Test::new(relation, slot, k);
        self.test_word = slot.word;
        self.bases = self.bases & !3 | slot.base() as u8;
    }

    /// Tests `slot relation k` besides.
    pub(crate) fn set_second(&mut self, relation: Relation, slot: Slot, k: i32) {
        self.second = Test::new(relation, slot, k);
        self.second_word = slot.word;
        self.bases = self.bases & 3 | (slot.base() as u8) << 2;
        self.flags |= Self::SECOND;
    }

    /// Whether the first test holds; `word` reads a word relative to a base.
    #[inline(always)]
    pub(crate) fn passes_test(&self, word: impl FnOnce(u8, u16) -> u32) -> bool {
        self.test.holds(word(self.bases & 3, self.test_word))
    }

    /// Whether the second test holds.
    #[inline(always)]
    pub(crate) fn passes_second(&self, word: impl FnOnce(u8, u16) -> u32) -> bool {
        self.second.holds(word(self.bases >> 2 & 3, self.second_word))
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
pub(crate) fn channel_bit(channel: u16) -> u32 {
    if channel == 0 { u32::MAX } else { 1 << (channel & 31) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Base;

    const RELATIONS: [Relation; 6] = [
        Relation::LESS,
        Relation::LESS_EQUAL,
        Relation::EQUAL,
        Relation::NOT_EQUAL,
        Relation::GREATER_EQUAL,
        Relation::GREATER,
    ];

    /// Every value of every narrow slot against every constant around them, whatever the other bits are.
    #[test]
    fn a_test_says_what_a_comparison_says() {
        let mut seed = 1_u32;
        for bits in 1..=5 {
            for (position, signed) in [0, 7, 32 - u32::from(bits)].into_iter().flat_map(|at| [(at, false), (at, true)])
            {
                let slot = Slot::new(Base::Process, position, bits, signed);
                for relation in RELATIONS {
                    for k in (-40..40).chain([i32::MIN, i32::MAX]) {
                        let test = Test::new(relation, slot, k);
                        for value in 0..1 << bits {
                            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                            let word = slot.set(seed, value);
                            assert_eq!(
                                test.holds(word),
                                relation.holds(slot.get(word), k),
                                "{relation:?} {slot:?} {k}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_test_of_a_whole_word_says_what_a_comparison_says() {
        let values = [i32::MIN, i32::MIN + 1, -7, -1, 0, 1, 7, i32::MAX - 1, i32::MAX];
        let slot = Slot::new(Base::Global, 0, 32, true);
        for relation in RELATIONS {
            for k in values {
                for value in values {
                    let holds = Test::new(relation, slot, k).holds(value as u32);
                    assert_eq!(holds, relation.holds(value, k), "{value} {relation:?} {k}");
                }
            }
        }
    }
}
