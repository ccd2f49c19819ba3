//! States drawn at random from a visited set, for whoever audits a search once it is over.

use super::hash::{mix, scale};
use super::keys::KeySet;
use super::layout::Layout;
use super::shape::Shape;
use super::tree::{TreeProbe, TreeStore};
use super::{Class, Inserted, Store};

/// Odd, with bits that look random: steps from one random number to the next.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// A state that was drawn, by its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drawn {
    key: u64,
    length: u32,
    layout: u32,
}

/// A set of states that was filled by a search, for whoever audits it.
pub trait VisitedSet {
    /// Draws ordinary states, none of them twice; all of them if there are no more than `count`. The order is random, too. The same
    /// set and seed give the same states. Takes one pass over the keys.
    fn draw(&self, count: u64, seed: u64) -> Vec<Drawn>;

    /// Writes the visible words of a state that was drawn; drops what `words` held.
    fn words_of(&self, drawn: Drawn, words: &mut Vec<u32>);

    /// Whether an ordinary state with these visible words is in the set. It is there afterwards.
    fn insert_words(&mut self, words: &[u32]) -> Inserted;
}

impl Drawn {
    /// Writes the visible words of the state; drops what `words` held.
    pub(crate) fn write(self, shape: &Shape, layouts: &[Layout], words: &mut Vec<u32>) {
        words.clear();
        if let Some(layout) = layouts.get(self.layout as usize) {
            shape.unfold(layout, self.key, words);
        }
    }

    /// Visible words.
    pub(crate) fn length(self) -> usize {
        self.length as usize
    }
}

/// Draws states from sets of keys, each with the shape of its states.
pub(crate) fn draw<'s, K: KeySet + 's>(
    sets: impl Iterator<Item = (&'s Shape, &'s K)>,
    count: u64,
    seed: u64,
) -> Vec<Drawn> {
    let sets: Vec<_> = sets.collect();
    let len = sets.iter().map(|(_, keys)| keys.len()).sum();
    let count = count.min(len);
    let mut numbers = (0_u64..).map(|i| mix(seed.wrapping_add(i.wrapping_mul(STRIDE))));
    let mut below = |size: u64| scale(numbers.next().unwrap_or_default(), size as usize) as u64;
    // One state out of each of `count` parts of about the same size.
    let first_of = |part: u64| (u128::from(len) * u128::from(part) / u128::from(count.max(1))) as u64;
    let mut wanted = (0..count).map(|part| {
        let first = first_of(part);
        first + below(first_of(part + 1) - first)
    });
    let mut next = wanted.next();
    let (mut at, mut drawn) = (0, Vec::with_capacity(count as usize));
    for (shape, keys) in sets {
        keys.each(|key, _| {
            if next == Some(at) {
                drawn.push(Drawn { key, length: shape.length as u32, layout: shape.layout });
                next = wanted.next();
            }
            at += 1;
        });
    }
    for last in (1..drawn.len()).rev() {
        drawn.swap(last, below(last as u64 + 1) as usize);
    }
    drawn
}

impl<P: Copy + Default> VisitedSet for TreeStore<P> {
    fn draw(&self, count: u64, seed: u64) -> Vec<Drawn> {
        draw(self.each_length().map(|of| (&of.shape, &of.keys[Class::Ordinary as usize])), count, seed)
    }

    fn words_of(&self, drawn: Drawn, words: &mut Vec<u32>) {
        words.clear();
        if let Some(of) = self.of_length(drawn.length()) {
            drawn.write(&of.shape, self.layouts(), words);
        }
    }

    fn insert_words(&mut self, words: &[u32]) -> Inserted {
        let key = self.key_of(words);
        let layout = self.of_length_mut(words.len()).shape.layout;
        self.commit(TreeProbe::new(key, words.len(), layout, Class::Ordinary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// States of several lengths, many enough that keys are arranged more than once.
    fn states() -> Vec<Vec<u32>> {
        let of = |i: u32| match i % 4 {
            0 => vec![i],
            1 => vec![i, 7 * i],
            2 => vec![i % 5, i, i / 3, 9],
            _ => (0..12).map(|word| i.wrapping_mul(word * word + 1) % (3 + 200 * word)).chain([i]).collect(),
        };
        (0..40_000).map(of).collect()
    }

    fn drawn(store: &TreeStore, count: u64, seed: u64) -> Vec<Vec<u32>> {
        let words = |drawn| {
            let mut words = vec![1, 2, 3];
            store.words_of(drawn, &mut words);
            words
        };
        store.draw(count, seed).into_iter().map(words).collect()
    }

    #[test]
    fn what_is_drawn_was_stored_and_comes_once() {
        let mut store = TreeStore::new();
        let states = states();
        assert!(drawn(&store, 5, 1).is_empty());
        for state in &states {
            assert_eq!(store.insert_words(state), Inserted::New);
        }
        let all: BTreeSet<Vec<u32>> = states.iter().cloned().collect();
        for count in [0, 1, 400, 39_999, 40_000, 1 << 40] {
            let found = drawn(&store, count, 3);
            let different: BTreeSet<Vec<u32>> = found.iter().cloned().collect();
            assert_eq!(found.len() as u64, count.min(40_000));
            assert!(different.len() == found.len() && different.is_subset(&all));
        }
        assert_eq!(drawn(&store, 400, 3), drawn(&store, 400, 3));
        assert_ne!(drawn(&store, 400, 3), drawn(&store, 400, 4));
        assert!(states.iter().all(|state| store.insert_words(state) == Inserted::Old));
        assert_eq!(store.insert_words(&[1, 2, 3, 4, 5]), Inserted::New);
    }

    #[test]
    fn states_of_a_search_are_found_by_their_words() {
        let mut store = TreeStore::new();
        let mut position = crate::position::Position::new(<TreeStore as Store>::MEMO_PER_WORD, 1);
        let states: Vec<Vec<u32>> = (0..3000_u32).map(|i| vec![i % 7, i / 50, i * i % 90, 4, i, 77]).collect();
        for state in &states {
            position.state_and_successor().1.clone_from(state);
            position.propose();
            store.insert(&mut position, Class::Ordinary);
            position.accept();
        }
        assert!(states.iter().all(|state| store.insert_words(&state[..5]) == Inserted::Old));
        assert_eq!(drawn(&store, 3000, 0).into_iter().collect::<BTreeSet<_>>().len(), 3000);
        assert_eq!(store.insert_words(&[0, 0, 1, 4, 0]), Inserted::New);
    }
}
