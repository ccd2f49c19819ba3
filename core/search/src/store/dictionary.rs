//! Numbers, each stored once and named by its place in the order of their arrival; threads may name numbers at the
//! same time.
//!
//! Open addressing: a slot of the index holds one more than a name, or 0, and the content of a name is written
//! before the name is. A thread that wants a new name takes the next number, writes the content, and then tries
//! to put the name into the first free slot: whoever names the same number meets it there. If another thread was
//! faster, the number taken is the name of nothing.
//!
//! A dictionary has room for so many names; whoever has it for itself may [grow](Dictionary::grow) it.

use super::pages::Pages;
use crate::sync::{AtomicU32, AtomicU64, OnceLock};
use std::sync::atomic::Ordering;

/// Odd, with bits that look random.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Slots of the smallest index.
const SLOTS_MIN: usize = 16;
/// Below this many slots at most half of them are in use, so that few are looked at; above, three quarters.
const SMALL: usize = 1 << 12;

/// The different contents of one place, numbered from 0.
#[derive(Debug, Default)]
pub struct Dictionary {
    /// The only content, as long as there is no index.
    first: OnceLock<u64>,
    /// By name; as many as there is room for.
    contents: Pages<AtomicU64>,
    /// Names given out.
    taken: AtomicU32,
    /// Open addressing: one more than a name, or 0.
    index: Pages<AtomicU32>,
    /// How far a hash is shifted to become a place in the index.
    shift: u32,
}

impl Dictionary {
    /// A dictionary that names these contents in their order; `None` if one of them is there twice.
    pub fn of(contents: &[u64]) -> Option<Self> {
        let mut dictionary = Self::default();
        let mut names = contents.iter().enumerate();
        names.all(|(name, &content)| dictionary.name_with_room(content) as usize == name).then_some(dictionary)
    }

    /// The contents, in the order of their names.
    pub fn contents(&self) -> Vec<u64> {
        (0..self.len() as u32).map(|name| self.content(name)).collect()
    }

    /// The name of a content, a new one if it has none yet. `None` if there is no room for a new one.
    #[inline]
    pub fn name(&self, content: u64) -> Option<u32> {
        let index = &*self.index;
        if !index.is_empty() {
            let mut slot = (content.wrapping_mul(SPREAD) >> self.shift) as usize;
            loop {
                let entry = index[slot & (index.len() - 1)].load(Ordering::Acquire);
                if entry == 0 {
                    break;
                }
                if self.contents[entry as usize - 1].load(Ordering::Relaxed) == content {
                    return Some(entry - 1);
                }
                slot += 1;
            }
        }
        self.add(content)
    }

    /// As [`Self::name`], with as much room as that takes.
    pub fn name_with_room(&mut self, content: u64) -> u32 {
        loop {
            match self.name(content) {
                Some(name) => return name,
                None => self.grow(),
            }
        }
    }

    /// What a name stands for.
    #[inline]
    pub fn content(&self, name: u32) -> u64 {
        match self.contents.get(name as usize) {
            Some(content) => content.load(Ordering::Relaxed),
            None => self.first.get().copied().unwrap_or(0),
        }
    }

    /// Names given out: different contents, and a few numbers that are no names.
    #[inline]
    pub fn len(&self) -> usize {
        if self.contents.is_empty() {
            return usize::from(self.first.get().is_some());
        }
        self.taken.load(Ordering::Relaxed) as usize
    }

    /// Bits that every name so far fits into.
    pub fn bits(&self) -> u32 {
        usize::BITS - self.len().saturating_sub(1).leading_zeros()
    }

    /// As [`Self::name`], where the content most likely has no name.
    #[cold]
    fn add(&self, content: u64) -> Option<u32> {
        if self.index.is_empty() {
            return (*self.first.get_or_init(|| content) == content).then_some(0);
        }
        let mask = self.index.len() - 1;
        let mut slot = (content.wrapping_mul(SPREAD) >> self.shift) as usize & mask;
        let mut mine = None;
        loop {
            let mut entry = self.index[slot].load(Ordering::Acquire);
            if entry == 0 {
                let name = match mine {
                    Some(name) => name,
                    None => *mine.insert(self.take(content)?),
                };
                match self.index[slot].compare_exchange(0, name + 1, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Some(name),
                    Err(faster) => entry = faster,
                }
            }
            if self.contents[entry as usize - 1].load(Ordering::Relaxed) == content {
                return Some(entry - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// A number that nobody has, as the name of a content.
    fn take(&self, content: u64) -> Option<u32> {
        let room = self.contents.len() as u32;
        let next = |taken: u32| (taken < room).then_some(taken + 1);
        let name = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        self.contents[name as usize].store(content, Ordering::Relaxed);
        Some(name)
    }

    /// Whether one more content can get a name.
    pub fn has_room(&self) -> bool {
        self.len() < self.contents.len()
    }

    /// Whether there will be no room soon.
    pub fn is_crowded(&self) -> bool {
        let room = self.contents.len();
        room != 0 && room - room / 8 <= self.len()
    }

    /// Makes room: at least one more content gets a name.
    pub fn grow(&mut self) {
        let slots = (self.index.len() * 2).max(SLOTS_MIN);
        let room = if slots < SMALL { slots / 2 } else { slots / 4 * 3 };
        let taken = self.len();
        let contents = Pages::<AtomicU64>::zeroed(room);
        for (name, content) in contents[..taken].iter().enumerate() {
            content.store(self.content(name as u32), Ordering::Relaxed);
        }
        let old = std::mem::replace(&mut self.index, Pages::zeroed(slots));
        self.shift = 64 - slots.ilog2();
        self.contents = contents;
        if old.is_empty() && taken != 0 {
            self.enter(0);
        }
        // Numbers that are no names are not in the index.
        old.iter()
            .map(|entry| entry.load(Ordering::Relaxed))
            .filter(|&entry| entry != 0)
            .for_each(|entry| self.enter(entry - 1));
        self.taken = AtomicU32::new(taken as u32);
    }

    fn enter(&self, name: u32) {
        let mask = self.index.len() - 1;
        let mut slot = (self.content(name).wrapping_mul(SPREAD) >> self.shift) as usize;
        while self.index[slot & mask].load(Ordering::Relaxed) != 0 {
            slot += 1;
        }
        self.index[slot & mask].store(name + 1, Ordering::Relaxed);
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.contents.memory_bytes() + self.index.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*seed >> 40) % 500) | (((*seed >> 20) % 300) << 32)
    }

    #[test]
    fn equal_contents_have_one_name_and_different_ones_have_two() {
        let mut dictionary = Dictionary::default();
        let mut known = HashMap::new();
        let mut seed = 1;
        for _ in 0..300_000 {
            let content = random(&mut seed);
            let next = known.len() as u32;
            let name = dictionary.name_with_room(content);
            assert_eq!(*known.entry(content).or_insert(next), name);
            assert_eq!(dictionary.content(name), content);
        }
        assert_eq!(dictionary.len(), known.len());
        assert!(1 << dictionary.bits() >= known.len() && 1 << (dictionary.bits() - 1) < known.len());
    }

    /// Threads that name the same contents at the same time agree on every name, before and after growing.
    #[test]
    fn threads_agree_on_the_names() {
        let mut dictionary = Dictionary::default();
        let mut known: HashMap<u64, u32> = HashMap::new();
        for round in 0..200_u64 {
            let named: Vec<Vec<(u64, Option<u32>)>> = std::thread::scope(|scope| {
                let work = |thread: u64| {
                    let dictionary = &dictionary;
                    move || {
                        let mut seed = round / 3 * 5 + thread % 2;
                        (0..400).map(|_| random(&mut seed)).map(|content| (content, dictionary.name(content))).collect()
                    }
                };
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
                threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
            });
            for (content, name) in named.into_iter().flatten() {
                let Some(name) = name else { continue };
                assert_eq!(*known.entry(content).or_insert(name), name, "round {round}");
                assert_eq!(dictionary.content(name), content);
            }
            if dictionary.is_crowded() || dictionary.index.is_empty() {
                dictionary.grow();
            }
        }
        let names: std::collections::HashSet<u32> = known.values().copied().collect();
        assert_eq!(names.len(), known.len());
        assert!(known.len() > 10_000);
        assert!(known.iter().all(|(&content, &name)| dictionary.name(content) == Some(name)));
    }
}

/// What threads do to a dictionary at the same time, executed by loom in many orders (see [`crate::sync`]).
#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use crate::sync::together;
    use loom::model::Builder;
    use std::collections::HashMap;

    type Named = Vec<(u64, Option<u32>)>;

    /// Names contents; each name stands for its content at once.
    fn name(dictionary: &Dictionary, contents: &'static [u64]) -> Named {
        let named = contents.iter().map(|&content| {
            let name = dictionary.name(content);
            assert!(name.is_none_or(|name| dictionary.content(name) == content), "the name of another content");
            (content, name)
        });
        named.collect()
    }

    /// A dictionary that has room for this many more contents.
    fn with_room(room: usize) -> Dictionary {
        let mut dictionary = Dictionary::default();
        if room != 0 {
            dictionary.grow();
            let crowd = (1000..).take(dictionary.contents.len() - room);
            crowd.for_each(|content| assert!(dictionary.name(content).is_some()));
        }
        dictionary
    }

    /// Two threads name contents: equal ones have one name, different ones two, and no more numbers were given out than contents were
    /// named. A content has no name only where there is no room. Names stay when the dictionary grows.
    fn names_are_unique(room: usize, contents: [&'static [u64]; 2]) {
        let check = move |mut dictionary: Dictionary, named: [Named; 2]| {
            let (before, asked) = (with_room(room).len(), contents.concat().len());
            assert!(dictionary.len() - before <= asked);
            let mut names: HashMap<u64, u32> = HashMap::new();
            for (content, name) in named.concat() {
                match name {
                    Some(name) => assert_eq!(*names.entry(content).or_insert(name), name, "a content has two names"),
                    None => assert!(!dictionary.has_room() || dictionary.index.is_empty(), "there was room"),
                }
            }
            let mut by_name: Vec<u32> = names.values().copied().collect();
            by_name.sort_unstable();
            by_name.dedup();
            assert_eq!(by_name.len(), names.len(), "a name stands for two contents");
            assert!(by_name.iter().all(|&name| (name as usize) < dictionary.len()));
            dictionary.grow();
            assert!(names.iter().all(|(&content, &name)| dictionary.name(content) == Some(name)));
        };
        together(&Builder::new(), move || with_room(room), name, contents, check);
    }

    #[test]
    fn equal_contents() {
        names_are_unique(8, [&[5], &[5]]);
    }

    /// A number that was taken and not written yet is 0.
    #[test]
    fn equal_contents_that_are_zero() {
        names_are_unique(8, [&[0], &[0]]);
    }

    /// 0 and 13 belong into the same slot of sixteen.
    #[test]
    fn different_contents_of_one_slot() {
        names_are_unique(8, [&[0], &[13]]);
    }

    #[test]
    fn two_contents_of_one_slot_in_different_order() {
        names_are_unique(8, [&[0, 13], &[13, 0]]);
    }

    /// The first content has no index.
    #[test]
    fn the_first_content() {
        names_are_unique(0, [&[5], &[5]]);
        names_are_unique(0, [&[5], &[6]]);
    }

    /// There is room for one.
    #[test]
    fn the_last_room() {
        names_are_unique(1, [&[5], &[5]]);
        names_are_unique(1, [&[5], &[6]]);
    }
}
