//! Where values stand in the words of a state.
//!
//! Everything is addressed by word and bit: a value never straddles two words, so reading one is a
//! load and two shifts whatever its width, and writing one truncates it to its type for free.

use fabius_program::{ChannelType, Type};
use std::collections::BTreeMap;

/// Bits of the first word: number of processes.
pub(crate) const COUNT_MASK: u32 = 0xFF;
/// Bits of the first word: one more than the number of the holder, 0 if nobody holds control.
pub(crate) const HOLDER_SHIFT: u32 = 8;
pub(crate) const HOLDER_MASK: u32 = 0xFF << HOLDER_SHIFT;
/// Bits of the first word: the process that moved last, if the program looks at it.
pub(crate) const LAST_SHIFT: u32 = 16;
pub(crate) const LAST_MASK: u32 = 0xFF << LAST_SHIFT;

/// Bit of the first word, if a claim is watched: it is the claim's turn.
pub(crate) const TURN: u32 = 1 << 24;
/// Bit of the first word, if a claim is watched that asks for it: the turn came by stuttering.
pub(crate) const STUTTERED: u32 = 1 << 25;
/// Bits of the first word that are taken if a claim is watched.
pub(crate) const WATCHED_BITS: u32 = 26;

/// The last word of a block that a [`Slot`] can name. What lies behind is read and written by index only: elements of
/// an [`Array`], messages of a channel that the interpreter finds by its number.
pub(crate) const SLOT_WORD_MAX: u32 = 0xFFFF;
/// At most this many words in one block: 64 MiB.
pub(crate) const BLOCK_WORDS_MAX: u32 = 1 << 24;
/// At most this many words in a state, whatever processes it has: 1 GiB.
pub(crate) const STATE_WORDS_MAX: u64 = 1 << 28;

/// What an address is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// The first word of the state.
    Global = 0,
    /// The first word of the process that evaluates.
    Process = 1,
    /// The first of the hidden words at the end.
    Hidden = 2,
    /// The first word of the process chosen by the last `Select`.
    Remote = 3,
}

/// A value in a word, packed into 32 bits: which word, relative to which base, and two shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    /// Word, relative to the base.
    pub word: u16,
    /// Low five bits: how far left to shift to drop what is above; then the base.
    left: u8,
    /// Low five bits: how far right to shift to drop what is below; then whether with the sign.
    right: u8,
}

const SIGNED: u8 = 0x20;

impl Slot {
    pub(crate) fn new(base: Base, bit: u32, bits: u8, signed: bool) -> Self {
        let position = bit & 31;
        debug_assert!(position + u32::from(bits) <= 32 && bits > 0 && bit >> 5 <= SLOT_WORD_MAX);
        Self {
            word: (bit >> 5) as u16,
            left: (32 - u32::from(bits) - position) as u8 | (base as u8) << 5,
            right: (32 - bits) | if signed { SIGNED } else { 0 },
        }
    }

    /// The same value in the process chosen by `Select`.
    pub(crate) fn remote(self) -> Self {
        Self { left: self.left & 31 | (Base::Remote as u8) << 5, ..self }
    }

    /// How many bits the value has.
    pub(crate) fn bits(self) -> u32 {
        32 - u32::from(self.right & 31)
    }

    /// The lowest of them in its word.
    #[inline(always)]
    pub(crate) fn position(self) -> u32 {
        u32::from(self.right.wrapping_sub(self.left)) & 31
    }

    /// Whether the highest of them is a sign.
    pub(crate) fn is_signed(self) -> bool {
        self.right & SIGNED != 0
    }

    /// Index into the table of bases.
    #[inline(always)]
    pub(crate) fn base(self) -> usize {
        usize::from(self.left >> 5) & 3
    }

    /// Reads the value out of its word.
    #[inline(always)]
    pub(crate) fn get(self, word: u32) -> i32 {
        let high = word.wrapping_shl(u32::from(self.left));
        if self.right & SIGNED != 0 {
            (high as i32).wrapping_shr(u32::from(self.right))
        } else {
            high.wrapping_shr(u32::from(self.right)) as i32
        }
    }

    /// The word with the value, truncated, in its place.
    #[inline(always)]
    pub(crate) fn set(self, word: u32, value: i32) -> u32 {
        let mask = u32::MAX.wrapping_shr(u32::from(self.right));
        let position = self.position();
        word & !(mask << position) | (value as u32 & mask) << position
    }
}

/// Elements of equal width, none of which straddles two words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Array {
    /// Bit of the first element, relative to the base.
    pub bit: u32,
    /// Number of elements.
    pub length: u32,
    /// Index into the table of bases.
    pub base: u8,
    /// Binary logarithm of the distance between elements in bits.
    stride_log2: u8,
    bits: u8,
    signed: bool,
}

impl Array {
    /// Bits from one element to the next: the width rounded up to a power of two.
    fn stride(ty: Type) -> u32 {
        u32::from(ty.bits).next_power_of_two()
    }

    pub(crate) fn new(base: Base, bit: u32, ty: Type, length: u32) -> Self {
        let stride_log2 = Self::stride(ty).trailing_zeros() as u8;
        Self { bit, length, base: base as u8, stride_log2, bits: ty.bits, signed: ty.signed }
    }

    /// Bits of the element from its array's base on. `index` must be less than the length.
    #[inline(always)]
    pub(crate) fn bit_of(&self, index: u32) -> u32 {
        self.bit + (index << self.stride_log2)
    }

    /// Reads the element at a bit out of its word.
    #[inline(always)]
    pub(crate) fn get(&self, word: u32, bit: u32) -> i32 {
        extend(word >> (bit & 31), self.bits, self.signed)
    }

    /// The word with the element at a bit, truncated, in its place.
    #[inline(always)]
    pub(crate) fn set(&self, word: u32, bit: u32, value: i32) -> u32 {
        let mask = u32::MAX >> (32 - u32::from(self.bits));
        word & !(mask << (bit & 31)) | (value as u32 & mask) << (bit & 31)
    }

    /// One element as a slot, unless it lies too far from the base.
    pub(crate) fn slot(&self, index: u32) -> Option<Slot> {
        let bit = self.bit_of(index);
        (bit >> 5 <= SLOT_WORD_MAX).then(|| Slot::new(self.base_kind(), bit, self.bits, self.signed))
    }

    /// One element, as its word relative to the base and a slot whose base is that word.
    pub(crate) fn element(&self, index: u32) -> (u32, Slot) {
        let bit = self.bit_of(index);
        (bit >> 5, Slot::new(self.base_kind(), bit & 31, self.bits, self.signed))
    }

    fn base_kind(&self) -> Base {
        match self.base {
            0 => Base::Global,
            1 => Base::Process,
            2 => Base::Hidden,
            _ => Base::Remote,
        }
    }

    /// The same array in the process chosen by `Select`.
    pub(crate) fn remote(self) -> Self {
        Self { base: Base::Remote as u8, ..self }
    }
}

/// The low `bits` of a word as a number.
#[inline(always)]
fn extend(word: u32, bits: u8, signed: bool) -> i32 {
    let shift = 32 - u32::from(bits);
    if signed { ((word << shift) as i32) >> shift } else { ((word << shift) >> shift) as i32 }
}

/// A field of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    /// First bit, relative to the message.
    pub bit: u32,
    bits: u8,
    signed: bool,
}

impl Field {
    /// Reads the field at an absolute bit out of its word.
    #[inline(always)]
    pub(crate) fn get(self, word: u32, bit: u32) -> i32 {
        extend(word >> (bit & 31), self.bits, self.signed)
    }

    /// The bits to write at an absolute bit of a word in which they are 0.
    #[inline(always)]
    pub(crate) fn put(self, value: i32, bit: u32) -> u32 {
        (value as u32 & (u32::MAX >> (32 - u32::from(self.bits)))) << (bit & 31)
    }

    /// What is read back after a value was stored.
    #[inline(always)]
    pub(crate) fn truncate(self, value: i32) -> i32 {
        extend(value as u32, self.bits, self.signed)
    }

    /// Mask and value, relative to the message's first bit, that tell whether the field has a value;
    /// `None` if it never has. Only for messages within one word.
    pub(crate) fn pattern(self, value: i32) -> Option<(u32, u32)> {
        (self.truncate(value) == value).then(|| (self.put(-1, self.bit), self.put(value, self.bit)))
    }
}

/// How a channel's queue is stored: its length in the low bits of its first word, then the messages, the
/// oldest first; places of messages that are not there are 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChannelLayout {
    pub capacity: u32,
    /// Bits of the length.
    pub length_bits: u8,
    /// Bit of the first message.
    pub start: u32,
    /// Bits from one message to the next: a power of two below 32, or a multiple of 32.
    pub stride: u32,
    /// Words in all; none for a rendezvous.
    pub words: u32,
    pub fields: Vec<Field>,
}

impl ChannelLayout {
    /// `None` if it would be too large.
    pub(crate) fn new(ty: &ChannelType) -> Option<Self> {
        let mut packer = Packer::new(0);
        let mut order: Vec<usize> = (0..ty.fields.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(ty.fields[i].bits));
        let mut fields = vec![Field { bit: 0, bits: 1, signed: false }; ty.fields.len()];
        for i in order {
            let Type { bits, signed, .. } = ty.fields[i];
            fields[i] = Field { bit: packer.place(u32::from(bits), 1)?, bits, signed };
        }
        let width = packer.bits().max(1);
        let stride = if width <= 32 { width.next_power_of_two() } else { width.next_multiple_of(32) };
        let length_bits = (32 - ty.capacity.leading_zeros()).max(1);
        let start = length_bits.next_multiple_of(stride.min(32));
        let bits = ty.capacity.checked_mul(stride)?.checked_add(start)?;
        let words = if ty.capacity == 0 { 0 } else { bits.div_ceil(32) };
        (words <= BLOCK_WORDS_MAX).then_some(Self {
            capacity: ty.capacity,
            length_bits: length_bits as u8,
            start,
            stride,
            words,
            fields,
        })
    }

    /// Whether a message lies within one word.
    pub(crate) fn is_narrow(&self) -> bool {
        self.stride <= 32
    }

    /// First bit of a message, relative to the channel.
    #[inline(always)]
    pub(crate) fn message_bit(&self, index: u32) -> u32 {
        self.start + index * self.stride
    }
}

/// Hands out places in a block: words in a row for what needs more than one, the first word with room
/// for what is smaller.
pub(crate) struct Packer {
    /// Bits used of each word, from the low end.
    used: Vec<u8>,
    /// By width and alignment: words before this one have no room for that, now or later.
    full: BTreeMap<(u32, u32), usize>,
}

impl Packer {
    /// A block whose first bits are taken.
    pub(crate) fn new(taken: u32) -> Self {
        let mut packer = Self { used: Vec::new(), full: BTreeMap::new() };
        if taken > 0 {
            packer.used.push(taken as u8);
        }
        packer
    }

    /// A place for `width` bits that starts at a multiple of `align` bits; `None` if the block is full.
    pub(crate) fn place(&mut self, width: u32, align: u32) -> Option<u32> {
        if width > 32 {
            return self.place_words(width);
        }
        let full = self.full.entry((width, align)).or_default();
        for word in *full..self.used.len() {
            *full = word;
            let at = u32::from(self.used[word]).next_multiple_of(align);
            if at + width <= 32 {
                self.used[word] = (at + width) as u8;
                return Some(word as u32 * 32 + at);
            }
        }
        *full = self.used.len();
        let word = self.used.len() as u32;
        (word < BLOCK_WORDS_MAX).then(|| {
            self.used.push(width as u8);
            word * 32
        })
    }

    fn place_words(&mut self, width: u32) -> Option<u32> {
        let word = self.used.len() as u32;
        if width / 32 >= BLOCK_WORDS_MAX - word {
            return None;
        }
        self.used.resize(self.used.len() + (width / 32) as usize, 32);
        if !width.is_multiple_of(32) {
            self.used.push((width % 32) as u8);
        }
        Some(word * 32)
    }

    /// Words handed out so far.
    pub(crate) fn words(&self) -> u32 {
        self.used.len() as u32
    }

    /// One past the last bit in use.
    fn bits(&self) -> u32 {
        self.used.last().map_or(0, |used| (self.words() - 1) * 32 + u32::from(*used))
    }
}

/// Bits that an array of `length` elements takes, and what its first must be a multiple of; `None` if it is
/// too large.
pub(crate) fn extent(ty: Type, length: u32) -> Option<(u32, u32)> {
    let stride = Array::stride(ty);
    let width = stride.checked_mul(length)?;
    (width / 32 <= BLOCK_WORDS_MAX).then_some((width, stride))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use fabius_program::Kind;

    #[test]
    fn a_slot_reads_back_what_its_type_keeps() {
        for bits in 1..=32u8 {
            for signed in [false, true] {
                let ty = Type { bits, signed, kind: Kind::Number };
                for position in 0..=(32 - u32::from(bits)) {
                    let slot = Slot::new(Base::Hidden, 64 + position, bits, signed);
                    assert_eq!((slot.word, slot.base()), (2, Base::Hidden as usize));
                    for value in [0, 1, -1, 5, 200, -200, i32::MIN, i32::MAX, 0x5555_5555] {
                        for before in [0, u32::MAX, 0xDEAD_BEEF] {
                            let word = slot.set(before, value);
                            assert_eq!(slot.get(word), ty.truncate(value));
                            let mask = ((1u64 << bits) - 1) << position;
                            assert_eq!(u64::from(word) & !mask, u64::from(before) & !mask);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn elements_of_an_array_do_not_touch_each_other() {
        for bits in 1..=32u8 {
            let ty = Type::signed(bits);
            let array = Array::new(Base::Global, 32, ty, 9);
            let mut words = [0u32; 16];
            for i in 0..9 {
                let bit = array.bit_of(i);
                let word = &mut words[(bit >> 5) as usize];
                *word = array.set(*word, bit, i as i32 * 77 - 300);
            }
            for i in 0..9 {
                let expected = ty.truncate(i as i32 * 77 - 300);
                let bit = array.bit_of(i);
                assert_eq!(array.get(words[(bit >> 5) as usize], bit), expected);
                let slot = array.slot(i).unwrap();
                assert_eq!(slot.get(words[usize::from(slot.word)]), expected);
            }
        }
    }

    #[test]
    fn an_element_that_no_slot_can_name_has_a_word_and_a_place_in_it() {
        let array = Array::new(Base::Hidden, 64, Type::signed(16), 1_000_000);
        let last_named = (SLOT_WORD_MAX - 2) * 2 + 1;
        assert!(array.slot(last_named).is_some());
        for index in [0, 1, last_named, last_named + 1, 999_999] {
            let (word, slot) = array.element(index);
            assert_eq!((word, slot.word, slot.base()), (2 + index / 2, 0, Base::Hidden as usize));
            assert_eq!(slot.get(slot.set(0, -7)), -7);
            assert_eq!(array.slot(index).is_some(), index <= last_named);
            assert_eq!(array.set(0, array.bit_of(index), -7), slot.set(0, -7));
        }
    }

    #[test]
    fn places_do_not_overlap() {
        let mut packer = Packer::new(11);
        let mut taken = vec![false; 4096];
        taken[..11].fill(true);
        for (width, align) in [(64, 32), (70, 2), (8, 8), (1, 1), (16, 16), (5, 1), (32, 32), (3, 1), (12, 4)] {
            let at = packer.place(width, align).unwrap();
            assert_eq!(at % align, 0);
            assert!(width > 32 || at % 32 + width <= 32);
            for bit in at..at + width {
                assert!(!std::mem::replace(&mut taken[bit as usize], true), "bit {bit} twice");
            }
        }
        assert!(Packer::new(0).place(u32::MAX, 32).is_none());
    }

    #[test]
    fn small_messages_share_a_word_with_the_length() {
        let ty = ChannelType {
            capacity: 2,
            fields: vec![Type::unsigned(8, Kind::Number), Type::unsigned(1, Kind::Boolean)],
            field_names: vec![],
            span: Default::default(),
        };
        let layout = ChannelLayout::new(&ty).unwrap();
        assert_eq!((layout.start, layout.stride, layout.words), (16, 16, 2));
        assert_eq!(ChannelLayout::new(&ChannelType { capacity: 0, ..ty }).unwrap().words, 0);
    }
}
