//! A set of 64-bit hashes in little more memory than the hashes take.
//!
//! Open addressing with linear probing, a cache line at a time. The home of a hash is the line at its
//! place in the order of all hashes, scaled to the table's size, so that a table can grow by any factor
//! by copying from front to back. A line is compared as a whole, without branches: a processor that
//! guesses that the hash is there goes on to the next transition while it waits for memory.
//! The table is cut into segments that grow one at a time, at different fills: hardly any memory is
//! needed beyond the table while it grows, the mean load is steady, and no pause is long.

use super::hash::scale;
use super::pages::{Line, Pages, prefetch};

/// Segments of a table; the top bits of a hash choose one.
const SEGMENT_BITS: u32 = 4;
/// Slots in use, out of 20, that make a segment grow.
const LOAD_MAX_OF_20: usize = 17;
/// Below this many lines a segment doubles; above, it grows by a quarter.
const SMALL: usize = 1 << 7;
/// Slots of a line.
const LINE: usize = 8;

/// A set of hashes, each with a payload.
#[derive(Debug)]
pub struct HashTable<P> {
    segments: Box<[Segment<P>]>,
    /// The hash 0, which marks a free slot in the segments.
    zero: Option<P>,
    len: u64,
    memory_bytes: u64,
}

#[derive(Debug, Default)]
struct Segment<P> {
    lines: Pages<Line>,
    payloads: Box<[P]>,
    len: usize,
    len_max: usize,
}

impl<P: Copy + Default> HashTable<P> {
    /// An empty table.
    pub fn new() -> Self {
        let segments: Box<[_]> = (0..1 << SEGMENT_BITS).map(|_| Segment::default()).collect();
        let memory_bytes = size_of_val::<[Segment<P>]>(&segments) as u64;
        Self { segments, zero: None, len: 0, memory_bytes }
    }

    /// An empty table with room for `len` hashes. Needed to put in hashes in the order in which another table
    /// has them: they would crowd in the first part of a table that grows.
    pub fn with_room(len: u64) -> Self {
        let mut table = Self::new();
        let lines = ((len as usize >> SEGMENT_BITS) * 24 / (LINE * LOAD_MAX_OF_20)).max(1);
        table.segments.iter_mut().for_each(|segment| *segment = Segment::with_lines(lines));
        table.memory_bytes += table.segments.iter().map(Segment::memory_bytes).sum::<u64>();
        table
    }

    /// Hashes in the table.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Tells the processor that the hash will be asked for soon.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let segment = &self.segments[(hash >> (64 - SEGMENT_BITS)) as usize];
        let home = scale(hash << SEGMENT_BITS, segment.lines.len());
        if let Some(line) = segment.lines.get(home) {
            prefetch(line);
        }
        if size_of::<P>() != 0
            && let Some(payload) = segment.payloads.get(home * LINE)
        {
            prefetch(payload);
        }
    }

    /// Whether the hash was there already, and its payload. It is there afterwards.
    #[inline]
    pub fn entry(&mut self, hash: u64) -> (bool, &mut P) {
        if hash == 0 {
            let old = self.zero.is_some();
            self.len += u64::from(!old);
            return (old, self.zero.get_or_insert_default());
        }
        let index = (hash >> (64 - SEGMENT_BITS)) as usize;
        let segment = &mut self.segments[index];
        if segment.len >= segment.len_max {
            self.memory_bytes += segment.grow(index);
        }
        let (old, slot) = segment.insert(hash);
        self.len += u64::from(!old);
        (old, &mut segment.payloads[slot])
    }

    /// Puts a hash that is not there into the table.
    #[inline]
    pub fn insert_new(&mut self, hash: u64, payload: P) {
        self.len += 1;
        if hash == 0 {
            self.zero = Some(payload);
            return;
        }
        let index = (hash >> (64 - SEGMENT_BITS)) as usize;
        let segment = &mut self.segments[index];
        if segment.len >= segment.len_max {
            self.memory_bytes += segment.grow(index);
        }
        segment.insert_new(hash, payload);
    }
}

impl<P: Copy> HashTable<P> {
    /// Every hash, with its payload.
    pub fn each(&self, mut visit: impl FnMut(u64, P)) {
        for segment in &self.segments {
            let slots = segment.lines.iter().flat_map(|line| line.0);
            for (hash, &payload) in slots.zip(&segment.payloads).filter(|(hash, _)| *hash != 0) {
                visit(hash, payload);
            }
        }
        if let Some(payload) = self.zero {
            visit(0, payload);
        }
    }
}

impl<P: Copy + Default> Segment<P> {
    fn with_lines(lines: usize) -> Self {
        let payloads = vec![P::default(); lines * LINE].into_boxed_slice();
        let len_max = lines * LINE * LOAD_MAX_OF_20 / 20;
        Self { lines: Pages::zeroed(lines), payloads, len: 0, len_max }
    }

    /// Whether the hash was there already, and its slot. There is a free slot.
    #[inline]
    fn insert(&mut self, hash: u64) -> (bool, usize) {
        let lines = &mut *self.lines;
        let mut home = scale(hash << SEGMENT_BITS, lines.len());
        loop {
            let line = &mut lines[home].0;
            let found = places(line, hash);
            if found != 0 {
                return (true, home * LINE + found.trailing_zeros() as usize);
            }
            let free = places(line, 0);
            if free != 0 {
                let slot = free.trailing_zeros() as usize % LINE;
                line[slot] = hash;
                self.len += 1;
                return (false, home * LINE + slot);
            }
            home += 1;
            if home == lines.len() {
                home = 0;
            }
        }
    }

    /// Puts a hash that is not there into the segment. There is a free slot.
    #[inline]
    fn insert_new(&mut self, hash: u64, payload: P) {
        let lines = &mut *self.lines;
        let mut home = scale(hash << SEGMENT_BITS, lines.len());
        loop {
            let free = places(&lines[home].0, 0);
            if free != 0 {
                let slot = free.trailing_zeros() as usize % LINE;
                lines[home].0[slot] = hash;
                self.payloads[home * LINE + slot] = payload;
                self.len += 1;
                return;
            }
            home = (home + 1) % lines.len();
        }
    }

    /// Makes room; returns by how many bytes it grew. The first size depends on the segment's index,
    /// so that segments with the same fill do not all grow at once.
    #[cold]
    fn grow(&mut self, index: usize) -> u64 {
        let size = match self.lines.len() {
            0 => 4 + ((index * 4) >> SEGMENT_BITS),
            few if few < SMALL => few * 2,
            many => many + many / 4,
        };
        let bytes_before = self.memory_bytes();
        let old = std::mem::replace(self, Self::with_lines(size));
        let slots = old.lines.iter().flat_map(|line| line.0);
        for (hash, &payload) in slots.zip(&old.payloads) {
            if hash != 0 {
                self.insert_new(hash, payload);
            }
        }
        self.memory_bytes() - bytes_before
    }

    fn memory_bytes(&self) -> u64 {
        self.lines.memory_bytes() + size_of_val::<[P]>(&self.payloads) as u64
    }
}

/// A bit for each word of the line that is `wanted`.
#[inline]
fn places(line: &[u64; LINE], wanted: u64) -> u32 {
    let mut found = 0;
    for (i, &word) in line.iter().enumerate() {
        found |= u32::from(word == wanted) << i;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::hash::mix;
    use super::*;

    #[test]
    fn a_table_remembers_each_hash_once_and_its_payload() {
        let mut table = HashTable::<u8>::new();
        let keys = || (0..200_000_u64).map(mix).chain([u64::MAX, u64::MAX - 1, 1, 2, 3]);
        for (i, hash) in keys().enumerate() {
            let (old, payload) = table.entry(hash);
            assert!(!old, "{hash:x}");
            *payload = i as u8;
        }
        assert_eq!(table.len(), 200_005);
        for (i, hash) in keys().enumerate() {
            let (old, payload) = table.entry(hash);
            assert!(old);
            assert_eq!(*payload, i as u8);
        }
        assert_eq!(table.len(), 200_005);
    }

    #[test]
    fn a_table_takes_less_than_eleven_bytes_per_hash_on_average() {
        let mut table = HashTable::<()>::new();
        let (mut sum, mut samples) = (0.0, 0.0);
        let mut next_sample = 100_000.0;
        for i in 0..1_000_000_u64 {
            table.entry(mix(i));
            if i as f64 >= next_sample {
                sum += table.memory_bytes() as f64 / i as f64;
                samples += 1.0;
                next_sample *= 1.01;
            }
        }
        let mean = sum / samples;
        assert!((8.0..11.0).contains(&mean), "{mean}");
    }
}
