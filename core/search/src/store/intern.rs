//! Pairs of 32-bit numbers, each stored once and named by a 32-bit identity.

use super::hash::{mix, scale};
use super::pages::Pages;

/// Names a pair in an [`Interner`]; 0 is nobody's name.
pub type Identity = u32;

/// Entries of the cache in front of the index: small enough to stay near the processor.
const CACHE_BITS: u32 = 12;
/// Segments of the index; the top bits of a hash choose one. They grow one at a time.
const SEGMENT_BITS: u32 = 6;
/// Identities are given out up to here, and then a search is told to stop. What is left is more than
/// can be used before it asks.
const IDENTITIES_MAX: usize = u32::MAX as usize - (1 << 28);

/// The pairs, and ways to find them.
///
/// The pairs lie in one array in the order of their identities. The index is an open-addressing
/// table of identities; bits that an identity does not need hold bits of the hash, so that comparing
/// with the pair itself nearly always succeeds.
#[derive(Debug)]
pub struct Interner {
    pairs: Pairs,
    cache: Box<[(u64, Identity)]>,
    segments: Box<[Segment]>,
    index_bytes: u64,
}

#[derive(Debug, Default)]
struct Segment {
    slots: Pages<u32>,
    len: usize,
    len_max: usize,
    /// Low bits of a slot that hold an identity; the others hold the low bits of the hash.
    identity_bits: u32,
}

/// The pairs by identity, in huge pages where there are such. The first belongs to nobody.
#[derive(Debug)]
struct Pairs {
    pages: Pages<u64>,
    len: usize,
}

impl Default for Pairs {
    fn default() -> Self {
        Self { pages: Pages::zeroed(1 << 10), len: 1 }
    }
}

impl Pairs {
    fn push(&mut self, pair: u64) {
        if self.len == self.pages.len() {
            let mut larger = Pages::zeroed(self.len + self.len / 2);
            larger[..self.len].copy_from_slice(&self.pages);
            self.pages = larger;
        }
        self.pages[self.len] = pair;
        self.len += 1;
    }
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            pairs: Pairs::default(),
            cache: vec![(0, 0); 1 << CACHE_BITS].into_boxed_slice(),
            segments: (0..1 << SEGMENT_BITS).map(|_| Segment::default()).collect(),
            index_bytes: 0,
        }
    }
}

impl Interner {
    /// The identity of a pair, a new one if it has none yet.
    #[inline]
    pub fn intern(&mut self, left: u32, right: u32) -> Identity {
        let pair = u64::from(left) | u64::from(right) << 32;
        let place = (pair ^ (pair >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - CACHE_BITS);
        let (cached, identity) = self.cache[place as usize];
        if cached == pair && identity != 0 {
            return identity;
        }
        let identity = self.find_or_add(pair);
        self.cache[place as usize] = (pair, identity);
        identity
    }

    /// The pair behind an identity.
    pub fn pair(&self, identity: Identity) -> (u32, u32) {
        let pair = self.pairs.pages[identity as usize];
        (pair as u32, (pair >> 32) as u32)
    }

    /// Pairs stored.
    pub fn len(&self) -> usize {
        self.pairs.len - 1
    }

    /// Whether there are hardly any identities left.
    pub fn is_full(&self) -> bool {
        self.pairs.len > IDENTITIES_MAX
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.index_bytes + size_of_val(&*self.cache) as u64 + self.pairs.pages.memory_bytes()
    }

    #[inline(never)]
    fn find_or_add(&mut self, pair: u64) -> Identity {
        let hash = mix(pair);
        let segment = &mut self.segments[(hash >> (64 - SEGMENT_BITS)) as usize];
        let next = self.pairs.len;
        if segment.len >= segment.len_max || next >> segment.identity_bits != 0 {
            self.index_bytes += segment.rebuild(&self.pairs.pages[..next]);
        }
        let low = (1_u64 << segment.identity_bits) - 1;
        let tag = (hash << segment.identity_bits) as u32;
        let mut slot = scale(hash << SEGMENT_BITS, segment.slots.len());
        loop {
            let found = segment.slots[slot];
            if found == 0 {
                segment.slots[slot] = tag | next as u32;
                segment.len += 1;
                self.pairs.push(pair);
                return next as u32;
            }
            let identity = u64::from(found) & low;
            if u64::from(found ^ tag) & !low == 0 && self.pairs.pages[identity as usize] == pair {
                return identity as u32;
            }
            slot += 1;
            if slot == segment.slots.len() {
                slot = 0;
            }
        }
    }
}

impl Segment {
    /// Makes room for more entries and for longer identities; returns by how many bytes it grew.
    #[cold]
    fn rebuild(&mut self, pairs: &[u64]) -> u64 {
        let size = if self.len < self.len_max { self.slots.len() } else { (self.slots.len() * 3 / 2).max(32) };
        let low = (1_u64 << self.identity_bits) - 1;
        let identity_bits = (usize::BITS - pairs.len().leading_zeros()).max(12);
        let old = std::mem::replace(
            self,
            Self { slots: Pages::zeroed(size), len: self.len, len_max: size * 3 / 4, identity_bits },
        );
        for &entry in old.slots.iter().filter(|&&entry| entry != 0) {
            let identity = u64::from(entry) & low;
            let hash = mix(pairs[identity as usize]);
            let mut slot = scale(hash << SEGMENT_BITS, size);
            while self.slots[slot] != 0 {
                slot = if slot + 1 == size { 0 } else { slot + 1 };
            }
            self.slots[slot] = (hash << identity_bits) as u32 | identity as u32;
        }
        self.slots.memory_bytes() - old.slots.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn equal_pairs_have_one_identity_and_different_pairs_have_two() {
        let mut interner = Interner::default();
        let mut known = HashMap::new();
        let mut random = 1_u64;
        for _ in 0..400_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pair = ((random >> 40) as u32 % 500, (random >> 20) as u32 % 700);
            let identity = interner.intern(pair.0, pair.1);
            assert_ne!(identity, 0);
            assert_eq!(*known.entry(pair).or_insert(identity), identity);
            assert_eq!(interner.pair(identity), pair);
        }
        assert_eq!(interner.len(), known.len());
        assert!(known.len() > 200_000);
    }
}
