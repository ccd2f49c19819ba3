//! Which fields of a key to join, when they take too many bits together.
//!
//! Two fields that depend on each other have fewer pairs of values than the product of theirs, so one
//! field that names their pairs takes fewer bits. Each pair must be kept once, so those with the fewest
//! pairs are joined first, as in Huffman's construction; the fields that remain are independent and vary
//! most. A sample of the states tells how many pairs there are.

use super::dictionary::Dictionary;
use rustc_hash::FxHashMap;

/// Above this many fields, neighbours are joined unseen: they belong to the same process or array.
const FIELDS_MAX: usize = 128;

/// A field: its values in the states of the sample, and how many different ones there are.
#[derive(Clone, Debug)]
struct Column {
    values: Vec<u32>,
    different: u32,
    /// Bits that the names take; in all states there may be more than in the sample.
    bits: u32,
}

/// Fields to join, in order: the columns of the sample are numbered from 0, and each join makes one more. A column
/// has the names of one field, and comes with the bits that they take. It stops when all fields together seem to
/// fit into `bits`, or two fields are left, or fields have more than `pairs_max` pairs.
pub fn choose(columns: Vec<(Vec<u32>, u32)>, bits: u32, pairs_max: u32) -> Vec<(usize, usize)> {
    let mut columns: Vec<Column> =
        columns.into_iter().map(|(names, bits)| Column::new(names.into_iter().map(u64::from), bits)).collect();
    let mut present: Vec<usize> = (0..columns.len()).collect();
    let mut counter = Counter::default();
    let mut joins = Vec::new();
    let mut known = FxHashMap::default();
    while present.len() > FIELDS_MAX {
        let mut halved = Vec::new();
        for neighbours in present.chunks(2) {
            let &[a, b] = neighbours else {
                halved.extend_from_slice(neighbours);
                continue;
            };
            halved.push(columns.len());
            joins.push((a, b));
            let joined = columns[a].join(&columns[b]);
            columns.push(joined);
        }
        present = halved;
    }
    while present.len() > 2 && present.iter().map(|&i| columns[i].bits).sum::<u32>() > bits {
        let (pairs, (a, b)) = fewest_pairs(&columns, &present, &mut known, &mut counter);
        if pairs_max < pairs {
            break;
        }
        let joined = columns[a].join(&columns[b]);
        present.retain(|&i| i != a && i != b);
        present.push(columns.len());
        joins.push((a, b));
        columns.push(joined);
    }
    joins
}

/// The fewest pairs of values that two fields have, and the fields. Two fields have at least as many pairs as either has values:
/// in the order of the latter, the search ends early.
fn fewest_pairs(
    columns: &[Column],
    present: &[usize],
    known: &mut FxHashMap<(usize, usize), u32>,
    counter: &mut Counter,
) -> (u32, (usize, usize)) {
    let mut order = present.to_vec();
    order.sort_by_key(|&i| (columns[i].different, i));
    let mut best = (u32::MAX, (order[0], order[1]));
    for (j, &b) in order.iter().enumerate().skip(1) {
        if columns[b].different >= best.0 {
            break;
        }
        for &a in &order[..j] {
            let pairs = *known.entry((a, b)).or_insert_with(|| counter.pairs(&columns[a], &columns[b]));
            if pairs < best.0 {
                best = (pairs, (a, b));
            }
        }
    }
    best
}

impl Column {
    fn new(contents: impl Iterator<Item = u64>, bits: u32) -> Self {
        let mut dictionary = Dictionary::default();
        let values = contents.map(|content| dictionary.name_with_room(content)).collect();
        Self { values, different: dictionary.len() as u32, bits }
    }

    fn join(&self, other: &Self) -> Self {
        let pairs = self.values.iter().zip(&other.values).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b));
        let mut joined = Self::new(pairs, 0);
        let seen = u32::BITS - joined.different.saturating_sub(1).leading_zeros();
        joined.bits = seen.max(self.bits).max(other.bits);
        joined
    }
}

/// Counts pairs; keeps its memory.
#[derive(Default)]
struct Counter {
    /// For each slot, the round in which it was used last, and by which pair.
    slots: Vec<(u32, u64)>,
    round: u32,
}

impl Counter {
    fn pairs(&mut self, a: &Column, b: &Column) -> u32 {
        let size = (a.values.len() * 2).next_power_of_two().max(2);
        self.slots.resize(size, (0, 0));
        self.round += 1;
        let shift = 64 - size.ilog2();
        let mut count = 0;
        for (&x, &y) in a.values.iter().zip(&b.values) {
            let pair = u64::from(x) << 32 | u64::from(y);
            let mut slot = (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize;
            loop {
                let (round, other) = &mut self.slots[slot & (size - 1)];
                if *round != self.round {
                    (*round, *other) = (self.round, pair);
                    count += 1;
                    break;
                }
                if *other == pair {
                    break;
                }
                slot += 1;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_depend_on_each_other_are_joined_first() {
        let row = |i: u32| [i % 16, i / 16 % 16, i % 16 + 5, 7 * (i / 16 % 16)];
        let columns = (0..4).map(|k| ((0..256).map(|i| row(i)[k]).collect(), 4)).collect();
        let joins = choose(columns, 8, u32::MAX);
        assert_eq!(joins.len(), 2);
        assert!(joins.contains(&(0, 2)) && joins.contains(&(1, 3)), "{joins:?}");
    }

    #[test]
    fn two_fields_are_left_and_many_are_joined_quickly() {
        for fields in [2, 3, 127, 128, 129, 1000] {
            let column = |k: usize| (0..50_u32).map(|i| i.wrapping_mul(k as u32 * 2 + 1) >> 3 & 7).collect::<Vec<_>>();
            let joins = choose((0..fields).map(|k| (column(k), 3)).collect(), 0, u32::MAX);
            assert_eq!(joins.len(), fields - 2);
            let mut used: Vec<usize> = joins.iter().flat_map(|&(a, b)| [a, b]).collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used.len(), 2 * joins.len());
        }
    }
}
