//! Sets of events of a run, by their places in it.

use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};

/// A set of places. Sets are equal if they have the same places and were made for as many.
#[derive(PartialEq, Eq, Default, Debug)]
pub(super) struct EventSet(SmallVec<[u64; 2]>);

impl Clone for EventSet {
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl Hash for EventSet {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|block| hasher.write_u64(*block));
    }
}

impl EventSet {
    /// An empty set of places below `len`; others can be added, too.
    pub(super) fn new(len: usize) -> Self {
        Self(smallvec![0; len.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, place: usize) {
        let block = place / 64;
        if self.0.len() <= block {
            self.0.resize(block + 1, 0);
        }
        self.0[block] |= 1 << (place % 64);
    }

    pub(super) fn remove(&mut self, place: usize) {
        if let Some(block) = self.0.get_mut(place / 64) {
            *block &= !(1 << (place % 64));
        }
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|block| block >> (place % 64) & 1 != 0)
    }

    /// Adds all places of another set.
    pub(super) fn add_all(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// The places that another set has not.
    pub(super) fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine &= !theirs);
        rest
    }

    /// Whether some place is in both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// The places in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + Clone {
        self.0.iter().enumerate().flat_map(|(block, bits)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| block * 64 + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                place
            })
        })
    }

    /// Memory beyond the set itself, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        if self.0.spilled() { self.0.capacity() * size_of::<u64>() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;
    use std::collections::BTreeSet;

    #[test]
    fn they_have_what_was_put_into_them() {
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let len = 1 + random.below(300);
            let mut some = || -> BTreeSet<usize> { (0..random.below(40)).map(|_| random.below(len)).collect() };
            let set_of = |places: &BTreeSet<usize>| {
                let mut set = EventSet::new(len);
                places.iter().for_each(|place| set.insert(*place));
                set
            };
            let (a, b) = (some(), some());
            let (mine, theirs) = (set_of(&a), set_of(&b));
            assert_eq!(mine.iter().collect::<BTreeSet<_>>(), a);
            assert!(mine.iter().is_sorted());
            assert!((0..len + 70).all(|place| mine.contains(place) == a.contains(&place)));
            assert_eq!(mine == theirs, a == b);
            assert_eq!(mine.meets(&theirs), !a.is_disjoint(&b));
            assert_eq!(mine.without(&theirs), set_of(&a.difference(&b).copied().collect()));
            let mut both = EventSet::default();
            both.add_all(&mine);
            both.add_all(&theirs);
            assert_eq!(both.iter().collect::<BTreeSet<_>>(), a.union(&b).copied().collect());
            if let Some(first) = a.first() {
                let mut fewer = mine.clone();
                fewer.remove(*first);
                assert_eq!(fewer.iter().collect::<Vec<_>>(), a.iter().skip(1).copied().collect::<Vec<_>>());
            }
        }
    }
}
