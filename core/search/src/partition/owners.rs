//! Which partition a state belongs to.
//!
//! The hash of all words spreads states evenly, and sends all but one in P of the successors to another partition. Most steps change
//! few bytes: if only some of them are hashed, those that change rarely, many successors stay where they are found. (Lerda and
//! Sisto, *Distributed-Memory Model Checking with SPIN*, 1999, hash the local state of one process.) Too few bytes would give most
//! states to one partition, so they are chosen from a sample of states:
//!
//! ```text
//! sample := the first states in breadth-first order;  chosen := ∅
//! for each byte that changes in a step of the sample, the rarest changes first:
//!   chosen := chosen ∪ {byte}
//!   if no value of the chosen bytes is that of many states of the later half of the sample: done
//! if it is never done: all bytes
//! ```
//!
//! Every partition draws the same sample from the same model.

use crate::expansion::Expansion;
use crate::model::{Model, Next};
use crate::store::hash::{hash_words, mix, scale};
use std::collections::{BTreeMap, HashMap, HashSet};

/// States of a sample.
const SAMPLE: usize = 4096;
/// Steps that are listed for a sample.
const STEPS_MAX: usize = 1 << 17;
/// Values of the chosen bytes must be those of at most one in this many states, for each partition.
const SHARE: usize = 8;
/// Bytes of a word.
const BYTES: usize = 4;
/// Odd, with bits that look random.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// Hashes of states start from this.
const SEED: u64 = 0;

/// Says to which partition states belong.
pub(super) struct Owners {
    partitions: usize,
    hidden: usize,
    /// Which bits of which words are hashed; all of all words if nothing was chosen.
    chosen: Option<Vec<(u32, u32)>>,
}

impl Owners {
    /// For this many partitions of the states of a model.
    pub(super) fn new<M: Model>(model: &mut M, partitions: usize) -> Self {
        let chosen = if partitions == 1 { None } else { Sample::draw(model).choose(partitions) };
        Self { partitions, hidden: model.hidden_words(), chosen }
    }

    /// The partition to which a state belongs: a function of its visible words.
    #[inline]
    pub(super) fn owner(&self, state: &[u32]) -> usize {
        let visible = self.visible(state);
        match &self.chosen {
            _ if self.partitions == 1 => 0,
            None => scale(hash_words(visible, SEED), self.partitions),
            Some(chosen) => {
                let words = chosen.iter().filter_map(|(word, bits)| Some(visible.get(*word as usize)? & bits));
                let hash = words.fold(SEED, |hash, word| (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(FACTOR));
                scale(mix(hash), self.partitions)
            }
        }
    }

    /// The hash of all visible words of a state.
    pub(super) fn hash(&self, state: &[u32]) -> u64 {
        hash_words(self.visible(state), SEED)
    }

    #[inline]
    fn visible<'s>(&self, state: &'s [u32]) -> &'s [u32] {
        &state[..state.len().saturating_sub(self.hidden)]
    }
}

/// The first states of a model in breadth-first order.
struct Sample {
    /// Visible words.
    states: Vec<Box<[u32]>>,
    /// In how many steps each byte changes.
    changes: Vec<u64>,
}

impl Sample {
    fn draw<M: Model>(model: &mut M) -> Self {
        let mut sample = Self { states: Vec::new(), changes: Vec::new() };
        let hidden = model.hidden_words();
        let mut expansion = Expansion::new(hidden);
        if model.initial(&mut expansion.successor).is_err() {
            return sample;
        }
        let mut seen = HashSet::new();
        // With their hidden words.
        let mut states = vec![expansion.successor.clone()];
        let (mut expanded, mut steps) = (0, 0);
        while expanded < states.len() && states.len() < SAMPLE && steps < STEPS_MAX {
            let state = states[expanded].clone();
            expanded += 1;
            expansion.begin(model, &state);
            while let Some(found) = expansion.next(model) {
                steps += 1;
                if STEPS_MAX < steps {
                    break;
                }
                match found {
                    Next::Successor { label, transient: true, .. } => expansion.pass(label),
                    Next::Successor { transient: false, .. } => {
                        let successor = &expansion.successor;
                        let visible = successor.len().saturating_sub(hidden);
                        sample.count_changes(&state[..state.len().saturating_sub(hidden)], &successor[..visible]);
                        if states.len() < SAMPLE && seen.insert(Box::<[u32]>::from(&successor[..visible])) {
                            states.push(successor.clone());
                        }
                    }
                    Next::Broken { .. } => {}
                    Next::Done(_) => expansion.turn(model),
                }
            }
        }
        sample.states = states.iter().map(|state| state[..state.len().saturating_sub(hidden)].into()).collect();
        sample
    }

    fn count_changes(&mut self, before: &[u32], after: &[u32]) {
        let words = before.len().max(after.len());
        self.changes.resize(self.changes.len().max(words * BYTES), 0);
        for (byte, changes) in self.changes.iter_mut().enumerate().take(words * BYTES) {
            *changes += u64::from(byte_of(before, byte) != byte_of(after, byte));
        }
    }

    /// What to hash; `None` if there are too few states to choose from, or too few values.
    fn choose(&self, partitions: usize) -> Option<Vec<(u32, u32)>> {
        if self.states.len() < SAMPLE {
            return None;
        }
        let later = &self.states[SAMPLE / 2..];
        let mut order: Vec<usize> = (0..self.changes.len()).filter(|&byte| self.changes[byte] != 0).collect();
        order.sort_by_key(|&byte| self.changes[byte]);
        let mut chosen: BTreeMap<u32, u32> = BTreeMap::new();
        // Which states have the same values of all that was chosen.
        let mut classes = vec![0_usize; later.len()];
        for byte in order {
            *chosen.entry((byte / BYTES) as u32).or_default() |= 0xFF << (8 * (byte % BYTES));
            let mut numbers: HashMap<(usize, Option<u8>), usize> = HashMap::new();
            let mut sizes: Vec<usize> = Vec::new();
            for (class, state) in classes.iter_mut().zip(later) {
                let number = *numbers.entry((*class, byte_of(state, byte))).or_insert(sizes.len());
                if number == sizes.len() {
                    sizes.push(0);
                }
                sizes[number] += 1;
                *class = number;
            }
            let largest = sizes.into_iter().max().unwrap_or(0);
            if largest * SHARE * partitions <= later.len() {
                return Some(chosen.into_iter().collect());
            }
        }
        None
    }
}

/// A byte of a state.
fn byte_of(state: &[u32], byte: usize) -> Option<u8> {
    Some(state.get(byte / BYTES)?.to_le_bytes()[byte % BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;

    /// States of four words: the first never changes, the second does in one step of eight, the others in all.
    fn sample(random: &mut Random) -> Sample {
        let mut sample = Sample { states: Vec::new(), changes: Vec::new() };
        let mut state = vec![7, 0, 0, 0];
        for _ in 0..SAMPLE {
            let before = state.clone();
            if random.below(8) == 0 {
                state[1] = random.next_u64() as u32;
            }
            state[2] += 1;
            state[3] = random.next_u64() as u32;
            sample.count_changes(&before, &state);
            sample.states.push(state.as_slice().into());
        }
        sample
    }

    #[test]
    fn the_bytes_that_change_rarely_are_chosen_if_they_spread_the_states() {
        let chosen = sample(&mut Random::new(1)).choose(3).expect("there are enough values");
        assert!(chosen.iter().all(|(word, _)| *word == 1 || *word == 2), "{chosen:?}");
        assert!(chosen.iter().any(|(word, _)| *word == 1), "{chosen:?}");
    }

    #[test]
    fn few_states_or_one_value_give_no_choice() {
        let mut few = sample(&mut Random::new(2));
        few.states.pop();
        assert_eq!(few.choose(2), None);
        let same = Sample { states: vec![[1, 2].as_slice().into(); SAMPLE], changes: vec![0, 3, 0, 0, 1] };
        assert_eq!(same.choose(2), None);
    }

    #[test]
    fn hidden_words_do_not_decide_and_the_states_are_spread() {
        let mut random = Random::new(3);
        let chosen = Some(vec![(1, 0xFF), (2, 0xFFFF), (5, u32::MAX)]);
        let owners = Owners { partitions: 3, hidden: 2, chosen };
        let mut counts = [0; 3];
        for _ in 0..3_000 {
            let mut state: Vec<u32> = (0..3 + random.below(5)).map(|_| random.next_u64() as u32).collect();
            let owner = owners.owner(&state);
            let hidden = state.len() - 2;
            state[hidden..].iter_mut().for_each(|word| *word = random.next_u64() as u32);
            assert_eq!(owners.owner(&state), owner);
            counts[owner] += 1;
        }
        assert!(counts.iter().all(|count| 500 < *count), "{counts:?}");
    }
}
