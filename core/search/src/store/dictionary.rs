//! Numbers, each stored once and named by its place in the order of their arrival.

/// Odd, with bits that look random.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Below this many slots at most half of them are in use, so that few are looked at; above, three quarters.
const SMALL: usize = 1 << 12;

/// The different contents of one place, numbered from 0.
#[derive(Debug, Default)]
pub struct Dictionary {
    contents: Vec<u64>,
    /// Open addressing: one more than a name, or 0. Empty as long as there is but one content.
    index: Box<[u32]>,
    /// How far a hash is shifted to become a place in the index.
    shift: u32,
}

impl Dictionary {
    /// The name of a content, a new one if it has none yet; `bytes` is told by how much the memory grew.
    #[inline]
    pub fn name(&mut self, content: u64, bytes: &mut u64) -> u32 {
        if !self.index.is_empty() {
            let mut slot = (content.wrapping_mul(SPREAD) >> self.shift) as usize;
            loop {
                let entry = self.index[slot & (self.index.len() - 1)];
                if entry == 0 {
                    break;
                }
                if self.contents[entry as usize - 1] == content {
                    return entry - 1;
                }
                slot += 1;
            }
        }
        self.add(content, bytes)
    }

    /// What a name stands for.
    #[inline]
    pub fn content(&self, name: u32) -> u64 {
        self.contents.get(name as usize).copied().unwrap_or(0)
    }

    /// Different contents.
    #[inline]
    pub fn len(&self) -> usize {
        self.contents.len()
    }

    /// Bits that every name so far fits into.
    pub fn bits(&self) -> u32 {
        usize::BITS - self.len().saturating_sub(1).leading_zeros()
    }

    #[cold]
    fn add(&mut self, content: u64, bytes: &mut u64) -> u32 {
        if self.index.is_empty() && self.contents.first() == Some(&content) {
            return 0;
        }
        let before = self.memory_bytes();
        self.contents.push(content);
        let name = self.contents.len() as u32 - 1;
        let slots = self.index.len();
        let most = if slots < SMALL { slots / 2 } else { slots / 4 * 3 };
        if self.contents.len() > most.max(1) {
            self.rebuild((slots * 2).max(8));
        } else if slots > 0 {
            self.enter(name);
        }
        *bytes += self.memory_bytes() - before;
        name
    }

    fn rebuild(&mut self, slots: usize) {
        self.shift = 64 - slots.ilog2();
        self.index = vec![0; slots].into_boxed_slice();
        for name in 0..self.contents.len() as u32 {
            self.enter(name);
        }
    }

    fn enter(&mut self, name: u32) {
        let mask = self.index.len() - 1;
        let mut slot = (self.contents[name as usize].wrapping_mul(SPREAD) >> self.shift) as usize;
        while self.index[slot & mask] != 0 {
            slot += 1;
        }
        self.index[slot & mask] = name + 1;
    }

    fn memory_bytes(&self) -> u64 {
        (self.contents.capacity() * size_of::<u64>() + self.index.len() * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn equal_contents_have_one_name_and_different_ones_have_two() {
        let (mut dictionary, mut bytes) = (Dictionary::default(), 0);
        let mut known = HashMap::new();
        let mut random = 1_u64;
        for _ in 0..300_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let content = ((random >> 40) % 500) | (((random >> 20) % 300) << 32);
            let next = known.len() as u32;
            let name = dictionary.name(content, &mut bytes);
            assert_eq!(*known.entry(content).or_insert(next), name);
            assert_eq!(dictionary.content(name), content);
        }
        assert_eq!(dictionary.len(), known.len());
        assert!(1 << dictionary.bits() >= known.len() && 1 << (dictionary.bits() - 1) < known.len());
        assert_eq!(bytes, dictionary.memory_bytes());
    }
}
