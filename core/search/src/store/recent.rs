//! Names that were found lately: neighbouring states have the same pairs, and a large dictionary takes two accesses to memory, one after
//! the other.

use super::dictionary::{Dictionary, SPREAD};

/// From this many names on, a dictionary is large; in tests, which have assertions, nearly every one is.
const LARGE: usize = if cfg!(debug_assertions) { 2 } else { 1 << 15 };
/// Binary logarithm of how many names are kept.
const BITS: u32 = 12;

/// Names that the inner nodes of a shape gave to contents, for one thread.
#[derive(Debug, Default)]
pub struct Recent {
    /// The shape is that of states of this many words.
    length: usize,
    /// By a hash of node and content; none until they are needed.
    found: Vec<Option<Name>>,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    content: u64,
    node: u32,
    name: u32,
}

impl Recent {
    /// The name that a node of the shape of states of `length` words, with this number and dictionary, gives to a content, a new one if
    /// it has none yet; `None` if there is no room. Names are kept for the first shape of which some are asked.
    #[inline]
    pub fn name(&mut self, length: usize, (node, dictionary): (usize, &Dictionary), content: u64) -> Option<u32> {
        if dictionary.len() < LARGE || !self.is_for(length) {
            return dictionary.name(content);
        }
        let hash = (content ^ node as u64).wrapping_mul(SPREAD);
        let place = &mut self.found[(hash >> (u64::BITS - BITS)) as usize];
        if let Some(known) = place
            && known.content == content
            && known.node == node as u32
        {
            return Some(known.name);
        }
        let name = dictionary.name(content)?;
        *place = Some(Name { content, node: node as u32, name });
        Some(name)
    }

    #[inline]
    fn is_for(&mut self, length: usize) -> bool {
        if self.found.is_empty() {
            self.length = length;
            self.found = vec![None; 1 << BITS];
        }
        self.length == length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several nodes and shapes name the same contents, some of which fall into one place.
    #[test]
    fn a_name_is_that_of_the_dictionary() {
        let mut dictionaries: Vec<Dictionary> = (0..6).map(|_| Dictionary::default()).collect();
        let (mut recent, mut seed) = (Recent::default(), 1_u64);
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (at, content) = ((seed >> 33) as usize % 6, (seed >> 40) % 3_000);
            let (length, node) = (10 + at / 3, at % 3);
            let name = loop {
                match recent.name(length, (node, &dictionaries[at]), content) {
                    Some(name) => break name,
                    None => dictionaries[at].grow(),
                }
            };
            assert_eq!(dictionaries[at].name(content), Some(name));
            assert_eq!(dictionaries[at].content(name), content);
        }
        assert!(dictionaries.iter().all(|dictionary| dictionary.len() == 3_000));
    }
}
