//! A hash table of 64-bit words that threads fill at the same time without locks.
//!
//! Open addressing with linear probing, a cache line at a time, after Laarman, van de Pol, Weber:
//! *Boosting Multi-Core Reachability Performance with Shared Hash Tables* (FMCAD 2010). A word is a key
//! in its upper bits and, below, bits that go with the key and may change; a free slot is 0. The top
//! bits of a hash choose a segment, the rest of it is the key, so nothing of a hash is lost. Words are
//! never removed, and a new one always goes into the first free slot of its probe: two threads with the
//! same key meet there.
//!
//! What differs from the paper: the table grows, while nobody else uses it ([`Slots::grow`]), one segment at
//! a time once it is large: sizes differ so that segments with the same fill are crowded one after the other, and no
//! pause is long. The home of a key is its place in the order of all keys, so growing copies from front to
//! back. A segment that is full before there was a chance to grow continues in another one of its size: an
//! insertion never fails and never waits.

use crate::parallel::apart::Apart;
use crate::parallel::share_out::share_out;
use crate::store::hash::scale;
use crate::store::pages::{Pages, SharedLine, prefetch};
use crate::sync::{self, AtomicU64, LOOM, OnceLock};
use std::sync::atomic::Ordering;

/// The top bits of a hash, which choose a segment.
pub(super) const SEGMENT_BITS: u32 = if LOOM { 1 } else { 6 };
/// How many there are.
pub(super) const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// Slots of a line.
const LINE: usize = SharedLine::WORDS;
/// Slots in use, out of 16, that make a segment grow.
const LOAD_MAX_OF_16: u64 = 13;
/// Lines of the smallest segment.
const LINES_MIN: f64 = if LOOM { 1.0 } else { 8.0 };
/// By so much a segment grows; sizes of segments differ by less.
const GROWTH: f64 = 1.5;
/// Segments of fewer lines grow together: they are crowded already, or will be soon.
const SMALL: usize = 1 << 10;
/// Lines of a huge page, …
const HUGE: usize = (2 << 20) / 64;
/// … of which a segment of at least this many has a whole number.
const HUGE_MIN: usize = 8;

/// The table.
#[derive(Debug)]
pub(in crate::parallel) struct Slots {
    segments: Box<[Segment]>,
    /// Bits of a word below the key.
    low_bits: u32,
    len: Apart<AtomicU64>,
    len_max: u64,
}

#[derive(Debug)]
struct Segment {
    /// How often it grew.
    generation: u16,
    lines: Pages<SharedLine>,
    /// Where it continues, should it be full.
    more: OnceLock<Box<Segment>>,
}

impl Slots {
    /// An empty table whose words have this many bits below the key.
    pub(super) fn new(low_bits: u32) -> Self {
        let segments = (0..1 << SEGMENT_BITS).map(|index| Segment::new(0, lines(index, 0))).collect();
        let mut slots = Self { segments, low_bits, len: Apart::default(), len_max: 0 };
        slots.len_max = slots.len_allowed();
        slots
    }

    /// An empty table with room for `len` words.
    pub(super) fn with_room(low_bits: u32, len: u64) -> Self {
        let mut slots = Self::new(low_bits);
        slots.reserve(len, 1);
        slots
    }

    /// Words in the table, as far as they were counted.
    pub(super) fn len(&self) -> u64 {
        self.len.0.load(Ordering::Relaxed)
    }

    /// Tells the processor that the key will be asked for soon.
    #[inline]
    pub(super) fn prefetch(&self, segment: usize, key: u64) {
        let lines = &*self.segments[segment].lines;
        prefetch(&lines[self.home(key, lines.len())]);
    }

    /// The slot of `key`, which holds a word with that key afterwards. If it was free, it holds what `fresh`
    /// returned, and the word before is `None`.
    #[inline]
    pub(super) fn entry(&self, (segment, key): (usize, u64), fresh: impl Fn() -> u64) -> (&AtomicU64, Option<u64>) {
        let mut segment = &self.segments[segment];
        loop {
            let lines = &*segment.lines;
            let home = self.home(key, lines.len());
            let mut line = home;
            loop {
                if let Some(found) = self.entry_in_line(&lines[line], key, &fresh) {
                    return found;
                }
                line = if line + 1 == lines.len() { 0 } else { line + 1 };
                if line == home {
                    break;
                }
            }
            segment = segment.more.get_or_init(|| Box::new(Segment::new(0, lines.len())));
        }
    }

    /// As [`Self::entry`]; `None` if the line is full and does not hold the key.
    #[inline]
    fn entry_in_line<'a>(
        &self,
        line: &'a SharedLine,
        key: u64,
        fresh: &impl Fn() -> u64,
    ) -> Option<(&'a AtomicU64, Option<u64>)> {
        let mut words = [0; LINE];
        for (word, slot) in words.iter_mut().zip(&line.0) {
            *word = slot.load(Ordering::Acquire);
        }
        let (mut equal, mut free) = (0_u32, 0_u32);
        for (i, &word) in words.iter().enumerate() {
            equal |= u32::from(word >> self.low_bits == key && word != 0) << i;
            free |= u32::from(word == 0) << i;
        }
        if equal != 0 {
            let i = equal.trailing_zeros() as usize % LINE;
            return Some((&line.0[i], Some(words[i])));
        }
        while free != 0 {
            let slot = &line.0[free.trailing_zeros() as usize % LINE];
            match slot.compare_exchange(0, fresh(), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some((slot, None)),
                Err(word) if word >> self.low_bits == key => return Some((slot, Some(word))),
                Err(_) => free &= free - 1,
            }
        }
        None
    }

    #[inline]
    fn home(&self, key: u64, lines: usize) -> usize {
        scale(key << self.low_bits, lines)
    }

    /// Counts words that were put in; whether it is time to grow.
    pub(super) fn count(&self, new: u64) -> bool {
        self.len_max < self.len.0.fetch_add(new, Ordering::Relaxed) + new
    }

    /// Whether it is time to grow.
    pub(super) fn is_crowded(&self) -> bool {
        self.len_max < self.len()
    }

    /// Makes room, with this many threads.
    pub(super) fn grow(&mut self, threads: usize) {
        self.reserve(self.len(), threads);
    }

    /// Makes room for so many words, and for some more in segments that would be crowded soon.
    fn reserve(&mut self, len: u64, threads: usize) {
        let wanted = |segment: &Segment| len + if segment.lines.len() < SMALL { len / 4 } else { len / 16 };
        let segments = self.segments.iter_mut().enumerate();
        let crowded = segments.filter(|(_, segment)| segment.len_allowed() < wanted(segment)).collect();
        share_out(threads, crowded, |(index, segment)| {
            let (mut generation, mut wider) = (segment.generation, segment.lines.len());
            let wanted = wanted(segment);
            while len_allowed(wider) < wanted {
                generation += 1;
                wider = lines(index, generation);
            }
            let old = std::mem::replace(segment, Segment::new(generation, wider));
            old.each(|word| segment.put(word, scale(word >> self.low_bits << self.low_bits, wider)));
        });
        self.len_max = self.len_allowed();
    }

    fn len_allowed(&self) -> u64 {
        self.segments.iter().map(Segment::len_allowed).min().unwrap_or(0)
    }

    /// Every word of a segment.
    pub(super) fn each_in(&self, segment: usize, visit: impl FnMut(u64)) {
        self.segments[segment].each(visit);
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.segments.iter().map(Segment::memory_bytes).sum()
    }
}

/// Lines of a segment.
fn lines(index: usize, generation: u16) -> usize {
    let share = index as f64 / f64::from(1_u32 << SEGMENT_BITS);
    let lines = (LINES_MIN * GROWTH.powf(f64::from(generation) + share)) as usize;
    if lines < HUGE_MIN * HUGE { lines } else { lines.next_multiple_of(HUGE) }
}

/// Words of the whole table, if they are spread evenly, up to which a segment of this many lines is not crowded.
fn len_allowed(lines: usize) -> u64 {
    ((lines * LINE) as u64 * LOAD_MAX_OF_16 / 16) << SEGMENT_BITS
}

impl Segment {
    fn new(generation: u16, lines: usize) -> Self {
        Self { generation, lines: Pages::zeroed(lines), more: OnceLock::new() }
    }

    /// Words of the whole table, if they are spread evenly, up to which this segment is not crowded.
    fn len_allowed(&self) -> u64 {
        len_allowed(self.lines.len())
    }

    /// Puts a word that is not there into the first free slot from `home` on.
    fn put(&mut self, word: u64, home: usize) {
        let mut segment = self;
        loop {
            let count = segment.lines.len();
            for line in (home..count).chain(0..home) {
                for slot in &mut segment.lines[line].0 {
                    if sync::get(slot) == 0 {
                        sync::set(slot, word);
                        return;
                    }
                }
            }
            // The next size may be too small for a segment that had to continue elsewhere.
            segment.more.get_or_init(|| Box::new(Self::new(0, count)));
            match segment.more.get_mut() {
                Some(more) => segment = more,
                None => return,
            }
        }
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        let mut segment = Some(self);
        while let Some(part) = segment {
            for slot in part.lines.iter().flat_map(|line| &line.0) {
                let word = slot.load(Ordering::Acquire);
                if word != 0 {
                    visit(word);
                }
            }
            segment = part.more.get().map(|more| &**more);
        }
    }

    fn memory_bytes(&self) -> u64 {
        let parts = std::iter::successors(Some(self), |part| part.more.get().map(|more| &**more));
        parts.map(|part| part.lines.memory_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;
    use std::collections::HashMap;

    const LOW: u32 = 10;

    /// Keys that many threads put in at once, and that collide a lot: each is there once, whether the
    /// table had a chance to grow or not.
    #[test]
    fn a_key_that_many_threads_put_in_is_there_once() {
        for keys in [100_u64, 1000, 3000] {
            let slots = Slots::new(LOW);
            let news: Vec<u64> = std::thread::scope(|scope| {
                let work = |seed: u64| {
                    let slots = &slots;
                    move || {
                        let mut random = Random::new(seed);
                        let mut new = 0;
                        for _ in 0..4 * keys {
                            let key = (random.next_u64() % keys) << 39;
                            let place = (key as usize >> 39 & 3, key);
                            let (slot, old) = slots.entry(place, || key << LOW | 1);
                            assert_eq!(slot.load(Ordering::Acquire) >> LOW, key);
                            slot.fetch_or(1 << (1 + seed), Ordering::AcqRel);
                            new += u64::from(old.is_none());
                        }
                        new
                    }
                };
                let threads: Vec<_> = (0..4).map(|seed| scope.spawn(work(seed))).collect();
                threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
            });
            let mut seen = HashMap::new();
            (0..SEGMENTS).for_each(|segment| slots.each_in(segment, |word| *seen.entry(word >> LOW).or_insert(0) += 1));
            assert!(seen.values().all(|&count| count == 1));
            assert_eq!(seen.len() as u64, news.iter().sum::<u64>());
            assert!(seen.len() as u64 > keys * 9 / 10, "{} of {keys}", seen.len());
        }
    }

    #[test]
    fn a_table_keeps_its_words_while_it_grows_at_less_than_fourteen_bytes_each() {
        let mut slots = Slots::new(LOW);
        let mut random = Random::new(1);
        let place = |key: u64| ((key >> 58) as usize, key << SEGMENT_BITS >> LOW);
        let keys: Vec<u64> = (0..600_000).map(|_| random.next_u64()).collect();
        let (mut sum, mut samples) = (0.0, 0.0);
        for (i, key) in keys.iter().enumerate() {
            let word = place(*key).1 << LOW | (i as u64 & 511) << 1 | 1;
            assert_eq!(slots.entry(place(*key), || word).1, None);
            if slots.count(1) {
                slots.grow(1 + i % 3);
            }
            if i > 100_000 && i % 1000 == 0 {
                sum += slots.memory_bytes() as f64 / i as f64;
                samples += 1.0;
            }
        }
        for (i, key) in keys.iter().enumerate() {
            let (_, word) = slots.entry(place(*key), || 0);
            assert_eq!(word.map(|word| word >> 1 & 511), Some(i as u64 & 511));
        }
        assert!((8.0..14.0).contains(&(sum / samples)), "{}", sum / samples);
    }
}
