//! A set of numbers of few bits, at about six bytes a number.
//!
//! A number is held as what its place leaves of it ([`Lines`]). A place is a cache line of sixteen slots, compared as a
//! whole. The few that find their line full go, in full length, to a map on the side.
//!
//! The table is cut into segments by the top bits of the mixed number. They grow one at a time, and the less the larger they are,
//! so that little memory is needed beyond the table while it grows, and little of it is empty afterwards.

use super::pages::{HalfLine, Pages, prefetch};
use super::quotient::{LINE, Lines, Mixer, lines_min_log};
use crate::words::equal_to;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// Segments of a table; the top bits of a mixed number choose one.
pub const SEGMENT_BITS: u32 = 2;
/// Slots in use, out of 32, that make a segment grow: 11 of 16 in a line, so that few are full.
const LOAD_MAX_OF_32: usize = 23;
/// Below this many lines a segment doubles; above, it grows by half, …
const SMALL: usize = 1 << 6;
/// … and from this many on by a third: then a number takes 7.4 bytes at most, where it would take 8.3.
const LARGE: usize = 1 << 8;
/// Lines of a huge page; from this many on, a segment grows by a quarter.
const HUGE: usize = (2 << 20) / 64;
/// Odd, with bits that look random.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A set of numbers, each with a payload.
#[derive(Debug)]
pub struct CompactTable<P> {
    mixer: Mixer,
    segments: Box<[Segment<P>]>,
    len: u64,
    memory_bytes: u64,
}

/// Numbers whose line was full, or whose rest does not fit.
type Side<P> = HashMap<u64, P, BuildHasherDefault<MixedAlready>>;

/// Hashes numbers that are mixed: the lower bits, which a map wants to be good, are as good as any.
#[derive(Debug, Default)]
struct MixedAlready(u64);

impl Hasher for MixedAlready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(SPREAD);
    }
}

#[derive(Debug, Default)]
struct Segment<P> {
    lines: Pages<HalfLine>,
    places: Lines,
    payloads: Box<[P]>,
    side: Side<P>,
    len: usize,
    len_max: usize,
}

impl<P: Copy + Default> CompactTable<P> {
    /// An empty table for numbers below 2 to the power of `bits`, with room for `len` of them.
    pub fn with_room(bits: u32, len: u64) -> Self {
        let mixer = Mixer::new(bits, SEGMENT_BITS);
        let lines = (len >> SEGMENT_BITS) as usize * 36 / (LINE * LOAD_MAX_OF_32) + 2;
        let lines = lines.max(1 << lines_min_log(bits, SEGMENT_BITS));
        let with_lines = |_| Segment::with_lines(mixer.rest_bits(), lines);
        let segments: Box<[_]> = (0..1 << SEGMENT_BITS).map(with_lines).collect();
        let memory_bytes = segments.iter().map(Segment::memory_bytes).sum();
        Self { mixer, segments, len: 0, memory_bytes }
    }

    /// Numbers in the table.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let beside: usize = self.segments.iter().map(|segment| segment.side.capacity()).sum();
        let beside_bytes = beside * (size_of::<(u64, P)>() + 1);
        self.memory_bytes + (beside_bytes + size_of_val::<[Segment<P>]>(&self.segments)) as u64
    }

    /// Tells the processor that the number will be asked for soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        let (index, hash) = self.mixer.place(key);
        let segment = &self.segments[index];
        let home = segment.places.home(hash).0;
        if let Some(line) = segment.lines.get(home) {
            prefetch(line);
        }
        if size_of::<P>() != 0
            && let Some(payload) = segment.payloads.get(home * LINE)
        {
            prefetch(payload);
        }
    }

    /// Whether the number was there already, and its payload. It is there afterwards.
    #[inline]
    pub fn entry(&mut self, key: u64) -> (bool, &mut P) {
        let (index, hash) = self.mixer.place(key);
        if self.segments[index].len >= self.segments[index].len_max {
            self.grow(index);
        }
        let (old, payload) = self.segments[index].entry(hash);
        self.len += u64::from(!old);
        (old, payload)
    }

    /// Puts a number that is not there into the table.
    #[inline]
    pub fn insert_new(&mut self, key: u64, payload: P) {
        let (index, hash) = self.mixer.place(key);
        if self.segments[index].len >= self.segments[index].len_max {
            self.grow(index);
        }
        self.segments[index].insert_new(hash, payload);
        self.len += 1;
    }

    /// Every number, with its payload.
    pub fn each(&self, mut visit: impl FnMut(u64, P)) {
        for (index, segment) in self.segments.iter().enumerate() {
            segment.each(|hash, payload| visit(self.mixer.number(index, hash), payload));
        }
    }

    /// Makes room in a segment.
    #[cold]
    fn grow(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        let lines = match segment.lines.len() {
            few if few < SMALL => few * 2,
            some if some < LARGE => some + some / 2,
            many if many < HUGE => many + many / 3,
            many => many + many / 4,
        };
        let old = std::mem::replace(segment, Segment::with_lines(self.mixer.rest_bits(), lines));
        segment.fill_from(&old);
        self.memory_bytes += segment.memory_bytes();
        self.memory_bytes -= old.memory_bytes();
    }
}

impl<P: Copy + Default> Segment<P> {
    fn with_lines(bits: u32, lines: usize) -> Self {
        let slots = lines * LINE;
        let payloads = vec![P::default(); slots].into_boxed_slice();
        let len_max = slots * LOAD_MAX_OF_32 / 32;
        let (places, side) = (Lines::new(lines, bits), Side::default());
        Self { lines: Pages::zeroed(lines), places, payloads, side, len: 0, len_max }
    }

    /// Whether the number was there already, and its payload. There is room.
    #[inline]
    fn entry(&mut self, hash: u64) -> (bool, &mut P) {
        let (line, rest) = self.places.home(hash);
        if let Some(entry) = Lines::entry(rest)
            && let Some((old, slot)) = self.insert(line, entry)
        {
            self.len += usize::from(!old);
            return (old, &mut self.payloads[slot]);
        }
        match self.side.entry(hash) {
            Entry::Occupied(payload) => (true, payload.into_mut()),
            Entry::Vacant(place) => {
                self.len += 1;
                (false, place.insert(P::default()))
            }
        }
    }

    /// Puts a number that is not there into the segment. There is room.
    #[inline]
    fn insert_new(&mut self, hash: u64, payload: P) {
        self.len += 1;
        let (line, rest) = self.places.home(hash);
        if let Some(entry) = Lines::entry(rest) {
            let slots = &mut self.lines[line].0;
            let free = equal_to(slots, 0);
            if free != 0 {
                let slot = free.trailing_zeros() as usize % LINE;
                slots[slot] = entry;
                self.payloads[line * LINE + slot] = payload;
                return;
            }
        }
        self.side.insert(hash, payload);
    }

    /// Puts all numbers of another segment into this one, which is empty.
    ///
    /// Those of a line come to few lines, one after the other. So how many are in a line is counted: a line that was just written slot
    /// by slot takes long to be read as a whole.
    fn fill_from(&mut self, other: &Self) {
        let mut filled = vec![0_u8; self.lines.len()];
        other.each(|hash, payload| {
            let (line, rest) = self.places.home(hash);
            let slot = usize::from(filled[line]);
            match Lines::entry(rest).filter(|_| slot < LINE) {
                Some(entry) => {
                    filled[line] += 1;
                    self.lines[line].0[slot] = entry;
                    self.payloads[line * LINE + slot] = payload;
                }
                None => drop(self.side.insert(hash, payload)),
            }
        });
        self.len = other.len;
    }

    /// Whether the entry was in the line already, and its slot; `None` if it is not and the line is full.
    #[inline]
    fn insert(&mut self, line: usize, entry: u32) -> Option<(bool, usize)> {
        let slots = &mut self.lines[line].0;
        let same = equal_to(slots, entry);
        if same != 0 {
            return Some((true, line * LINE + same.trailing_zeros() as usize));
        }
        let free = equal_to(slots, 0);
        if free == 0 {
            return None;
        }
        let slot = free.trailing_zeros() as usize % LINE;
        slots[slot] = entry;
        Some((false, line * LINE + slot))
    }

    /// Every number in the segment, with its payload.
    fn each(&self, mut visit: impl FnMut(u64, P)) {
        for (line, slots) in self.lines.iter().enumerate() {
            for (i, &entry) in slots.0.iter().enumerate().filter(|(_, entry)| **entry != 0) {
                visit(self.places.back(line, entry), self.payloads[line * LINE + i]);
            }
        }
        self.side.iter().for_each(|(&hash, &payload)| visit(hash, payload));
    }

    /// Without what is on the side.
    fn memory_bytes(&self) -> u64 {
        self.lines.memory_bytes() + size_of_val::<[P]>(&self.payloads) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 20
    }

    #[test]
    fn numbers_stay_apart_and_come_back() {
        for bits in [3, 20, 33, 40, 47] {
            let mut table = CompactTable::<u8>::with_room(bits, 1000);
            let mut known = HashMap::new();
            let mut seed = 1;
            for round in 0..100_000_u64 {
                let key = random(&mut seed) & (u64::MAX >> (64 - bits)) & 0x7_ff00_ffff_ff0f;
                let (old, payload) = table.entry(key);
                assert_eq!(old, known.contains_key(&key), "{key} in round {round}");
                let expected = known.entry(key).or_insert(round as u8);
                if !old {
                    *payload = round as u8;
                }
                assert_eq!(*payload, *expected);
            }
            assert_eq!(table.len(), known.len() as u64);
            let mut found = HashMap::new();
            table.each(|key, payload| assert_eq!(found.insert(key, payload), None));
            assert_eq!(found, known);
        }
    }

    #[test]
    fn a_table_takes_less_than_nine_bytes_per_number_on_average() {
        let mut table = CompactTable::<()>::with_room(44, 0);
        let (mut sum, mut samples) = (0.0, 0.0);
        let mut next_sample = 100_000;
        for i in 0..1_500_000_u64 {
            table.entry((i / 1500) | ((i % 1500 * 11) << 20));
            if i >= next_sample {
                sum += table.memory_bytes() as f64 / i as f64;
                samples += 1.0;
                next_sample += next_sample / 50;
            }
        }
        let mean: f64 = sum / samples;
        assert!((4.0..9.0).contains(&mean), "{mean}");
    }
}
