//! A set of numbers of few bits that threads fill at the same time without locks, at about six bytes a number.
//!
//! It is the sequential [`CompactTable`](crate::store::compact::CompactTable), laid out for threads: two slots of a
//! line are one word, which changes as a whole. Numbers are never removed, and a new one goes into the first free slot
//! of its line: two threads with the same number meet there. Those whose line is full go to a map on the side, behind a
//! lock, which is asked for hardly anything else.
//!
//! Growing needs the table for itself ([`SharedCompact::grow`]), one segment at a time: sizes of segments differ, so that
//! they are crowded one after the other, and no pause is long.

use crate::parallel::apart::Apart;
use crate::parallel::share_out::share_out;
use crate::store::pages::{Pages, SharedLine, prefetch};
use crate::store::quotient::{Lines, Mixer, lines_min_log};
use crate::sync::{self, AtomicU64, LOOM, Mutex};
use rustc_hash::FxHashSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Segments of a table; the top bits of a mixed number choose one.
pub(super) const SEGMENT_BITS: u32 = if LOOM { 1 } else { 6 };
/// How many there are.
pub(super) const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// Slots of a line.
const LINE: usize = 2 * SharedLine::WORDS;
/// Slots in use, out of 32, that make a segment grow: 11 of 16 in a line, so that few are full.
const LOAD_MAX_OF_32: u64 = 23;
/// A segment grows by so much. It has a size of its own, between one and this many times the smallest.
const GROWTH: f64 = 1.4;
/// Segments that will be crowded when there are this many more numbers, of 16, grow with those that are …
const SOON_OF_16: u64 = 2;
/// … in a table of more than this many numbers; below, all segments get room for twice as many, so that there are
/// fewer pauses.
const FEW: u64 = 1 << 19;

/// The table.
#[derive(Debug)]
pub(in crate::parallel) struct SharedCompact {
    mixer: Mixer,
    segments: Box<[Segment]>,
    len: Apart<AtomicU64>,
    len_max: u64,
}

#[derive(Debug)]
struct Segment {
    lines: Pages<SharedLine>,
    places: Lines,
    /// Numbers whose line was full, or of which too much is left. Elsewhere, so that who takes the lock disturbs nobody who reads
    /// where the lines are.
    side: Box<Apart<Mutex<FxHashSet<u64>>>>,
}

impl SharedCompact {
    /// An empty table for numbers below 2 to the power of `bits`, with room for `len` of them.
    pub(super) fn with_room(bits: u32, len: u64) -> Self {
        let mixer = Mixer::new(bits, SEGMENT_BITS);
        let least = (len >> SEGMENT_BITS) as usize * 33 / (LINE * LOAD_MAX_OF_32 as usize) + 2;
        let least = least.max(1 << lines_min_log(bits, SEGMENT_BITS));
        let size = |index: u32| (least as f64 * GROWTH.powf(f64::from(index) / f64::from(1 << SEGMENT_BITS))) as usize;
        let segments =
            (0..1 << SEGMENT_BITS).map(|index| Segment::with_lines(mixer.rest_bits(), size(index))).collect();
        let mut table = Self { mixer, segments, len: Apart::default(), len_max: 0 };
        table.len_max = table.len_allowed();
        table
    }

    /// Numbers in the table, as far as they were counted.
    pub(super) fn len(&self) -> u64 {
        self.len.0.load(Ordering::Relaxed)
    }

    /// Counts numbers that were put in; whether it is time to grow.
    pub(super) fn count(&self, new: u64) -> bool {
        self.len_max < self.len.0.fetch_add(new, Ordering::Relaxed) + new
    }

    /// Whether it is time to grow.
    pub(super) fn is_crowded(&self) -> bool {
        self.len_max < self.len()
    }

    /// Tells the processor that the number will be asked for soon.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        let (index, hash) = self.mixer.place(key);
        let segment = &self.segments[index];
        if let Some(line) = segment.lines.get(segment.places.home(hash).0) {
            prefetch(line);
        }
    }

    /// Puts a number into the table; whether it was not there before.
    #[inline]
    pub(super) fn insert(&self, key: u64) -> bool {
        let (index, hash) = self.mixer.place(key);
        self.segments[index].insert(hash)
    }

    /// Makes room in the segments that are crowded, or will be soon, with this many threads.
    pub(super) fn grow(&mut self, threads: usize) {
        let len = self.len();
        let soon = len + if len < FEW { len } else { len * SOON_OF_16 / 16 };
        let bits = self.mixer.rest_bits();
        let crowded: Vec<_> = self.segments.iter_mut().filter(|segment| segment.len_allowed() < soon).collect();
        share_out(threads, crowded, |segment| {
            let mut lines = segment.lines.len();
            while len_allowed(lines) < soon {
                lines = (lines as f64 * GROWTH) as usize + 1;
            }
            let old = std::mem::replace(segment, Segment::with_lines(bits, lines));
            old.each(|hash| segment.put(hash));
        });
        self.len_max = self.len_allowed();
    }

    fn len_allowed(&self) -> u64 {
        self.segments.iter().map(Segment::len_allowed).min().unwrap_or(0)
    }

    /// Segment and line of a number.
    #[cfg(all(test, loom))]
    pub(super) fn line_of(&self, key: u64) -> (usize, usize) {
        let (index, hash) = self.mixer.place(key);
        (index, self.segments[index].places.home(hash).0)
    }

    /// Every number of a segment.
    pub(super) fn each_in(&self, segment: usize, mut visit: impl FnMut(u64)) {
        self.segments[segment].each(|hash| visit(self.mixer.number(segment, hash)));
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let segments = self.segments.iter().map(Segment::memory_bytes).sum::<u64>();
        segments + size_of_val::<[Segment]>(&self.segments) as u64
    }
}

/// Whether one of a word's slots holds `entry`, by bits 0 and 1.
#[inline]
fn slots_with(word: u64, entry: u32) -> u32 {
    u32::from(word as u32 == entry) | u32::from((word >> 32) as u32 == entry) << 1
}

/// Numbers of the whole table, if they are spread evenly, up to which a segment of this many lines is not crowded.
fn len_allowed(lines: usize) -> u64 {
    ((lines * LINE) as u64 * LOAD_MAX_OF_32 / 32) << SEGMENT_BITS
}

impl Segment {
    fn with_lines(bits: u32, lines: usize) -> Self {
        Self { lines: Pages::zeroed(lines), places: Lines::new(lines, bits), side: Box::default() }
    }

    /// Numbers of the whole table, if they are spread evenly, up to which this segment is not crowded.
    fn len_allowed(&self) -> u64 {
        len_allowed(self.lines.len())
    }

    /// Whether the number was not there before.
    #[inline]
    fn insert(&self, hash: u64) -> bool {
        let (line, rest) = self.places.home(hash);
        match Lines::entry(rest).and_then(|entry| insert_in_line(&self.lines[line], entry)) {
            Some(new) => new,
            None => self.insert_beside(hash),
        }
    }

    #[cold]
    fn insert_beside(&self, hash: u64) -> bool {
        self.side.0.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)
    }

    /// Puts a number that is not there into the segment.
    #[inline]
    fn put(&mut self, hash: u64) {
        let (line, rest) = self.places.home(hash);
        if let Some(entry) = Lines::entry(rest) {
            for word in &mut self.lines[line].0 {
                let old = sync::get(word);
                let free = slots_with(old, 0);
                if free != 0 {
                    sync::set(word, old | u64::from(entry) << (32 * free.trailing_zeros()));
                    return;
                }
            }
        }
        self.side.0.get_mut().unwrap_or_else(PoisonError::into_inner).insert(hash);
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        for (line, words) in self.lines.iter().enumerate() {
            for word in &words.0 {
                let word = word.load(Ordering::Relaxed);
                for entry in [word as u32, (word >> 32) as u32] {
                    if entry != 0 {
                        visit(self.places.back(line, entry));
                    }
                }
            }
        }
        self.side.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|&hash| visit(hash));
    }

    fn memory_bytes(&self) -> u64 {
        let beside = self.side.0.lock().unwrap_or_else(PoisonError::into_inner).capacity();
        self.lines.memory_bytes() + (beside * (size_of::<u64>() + 1)) as u64
    }
}

/// Puts an entry into the first free slot of a line; whether it was not there before. `None` if the line is full, and does not hold it.
#[inline]
fn insert_in_line(line: &SharedLine, entry: u32) -> Option<bool> {
    let twice = u64::from(entry) | u64::from(entry) << 32;
    let mut words = [0; LINE / 2];
    let mut same = 0;
    for (word, slots) in words.iter_mut().zip(&line.0) {
        *word = slots.load(Ordering::Relaxed);
        same |= zero_halves(*word ^ twice);
    }
    if same != 0 {
        return Some(false);
    }
    for (slots, mut word) in line.0.iter().zip(words) {
        while zero_halves(word) != 0 {
            let new = if word as u32 == 0 { word | u64::from(entry) } else { word | u64::from(entry) << 32 };
            match slots.compare_exchange(word, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(true),
                Err(now) if zero_halves(now ^ twice) != 0 => return Some(false),
                Err(now) => word = now,
            }
        }
    }
    None
}

/// Not 0 if and only if a half of the word is 0.
#[inline]
fn zero_halves(word: u64) -> u64 {
    const ONES: u64 = 1 << 32 | 1;
    word.wrapping_sub(ONES) & !word & ONES << 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;

    /// Numbers that many threads put in at once, and that collide a lot: each is new once, whether the table had a chance to
    /// grow or not.
    #[test]
    fn a_number_that_many_threads_put_in_is_new_once() {
        for numbers in [10_u64, 1000, 30_000] {
            for seed in 0..20 {
                let table = SharedCompact::with_room(30, 0);
                let new: u64 = std::thread::scope(|scope| {
                    let work = |thread: u64| {
                        let table = &table;
                        move || {
                            let mut random = Random::new(seed * 4 + thread);
                            (0..2 * numbers).map(|_| u64::from(table.insert(random.next_u64() % numbers))).sum::<u64>()
                        }
                    };
                    let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
                    threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).sum()
                });
                let mut found = Vec::new();
                (0..SEGMENTS).for_each(|segment| table.each_in(segment, |number| found.push(number)));
                found.sort_unstable();
                let all = found.len();
                found.dedup();
                assert_eq!((found.len(), found.len() as u64), (all, new));
                assert!(found.iter().all(|&number| number < numbers) && all as u64 > numbers * 9 / 10);
            }
        }
    }

    #[test]
    fn a_table_keeps_its_numbers_while_it_grows_at_less_than_nine_bytes_each() {
        for bits in [30, 40, 47] {
            let mut table = SharedCompact::with_room(bits, 1 << 17);
            let mut random = Random::new(1);
            let numbers: Vec<u64> = (0..1_300_000).map(|_| random.next_u64() >> (64 - bits)).collect();
            let mut known = FxHashSet::default();
            let (mut sum, mut samples) = (0.0, 0.0);
            for (i, &number) in numbers.iter().enumerate() {
                let new = known.insert(number);
                assert_eq!(table.insert(number), new);
                if new && table.count(1) {
                    table.grow(1 + i % 3);
                }
                if i > 1_000_000 && i % 1000 == 0 {
                    sum += table.memory_bytes() as f64 / i as f64;
                    samples += 1.0;
                }
            }
            assert!(numbers.iter().all(|&number| !table.insert(number)));
            let mut found = FxHashSet::default();
            (0..SEGMENTS).for_each(|segment| table.each_in(segment, |number| assert!(found.insert(number))));
            assert_eq!(found, known);
            if bits < 47 {
                assert!((4.0..9.0).contains(&(sum / samples)), "{}", sum / samples);
            }
        }
    }
}
