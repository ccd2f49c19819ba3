//! Numbers of executions, by how they end, and a table that keeps equal ones once.

/// Which executions are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// All.
    #[default]
    All,
    /// Those with a faulty step.
    Failing,
    /// Those that end in an invalid end state.
    Stuck,
    /// Those without a faulty step that end in a valid end state.
    Ok,
}

/// Numbers of executions. One that fails is counted under its end as well, unless it ends with its fault.
///
/// [`u128::MAX`] stands for that number and all greater ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Numbers {
    /// All.
    pub all: u128,
    /// Some step is faulty.
    pub failing: u128,
    /// They end where nothing can move, and that is not a valid end.
    pub stuck: u128,
    /// They end where nothing happens any more but waiting in a loop.
    pub waiting: u128,
    /// They were cut off.
    pub cut: u128,
    /// No step is faulty, and they end in a valid end state.
    pub ok: u128,
}

impl Numbers {
    /// Whether a number is only known to be as great as can be counted.
    pub fn overflows(&self) -> bool {
        self.all == u128::MAX
    }

    /// How many executions of a kind these are.
    pub fn of(&self, kind: Kind) -> u128 {
        match kind {
            Kind::All => self.all,
            Kind::Failing => self.failing,
            Kind::Stuck => self.stuck,
            Kind::Ok => self.ok,
        }
    }

    /// The same executions, with a faulty step before if `fails`.
    #[must_use]
    pub(super) fn after(self, fails: bool) -> Self {
        if fails { Self { failing: self.all, ok: 0, ..self } } else { self }
    }

    /// Adds other executions.
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.all = self.all.saturating_add(other.all);
        self.failing = self.failing.saturating_add(other.failing);
        self.stuck = self.stuck.saturating_add(other.stuck);
        self.waiting = self.waiting.saturating_add(other.waiting);
        self.cut = self.cut.saturating_add(other.cut);
        self.ok = self.ok.saturating_add(other.ok);
    }

    /// Whether nothing but all and those that end well are other than 0, and both fit into a word.
    #[inline]
    fn are_few_and_ok(&self) -> bool {
        let Self { all, failing, stuck, waiting, cut, ok } = self;
        (failing | stuck | waiting | cut) == 0 && (all | ok) >> 64 == 0 && *all != 0 && *ok != 0
    }

    fn each(&mut self) -> [&mut u128; KINDS] {
        let Self { all, failing, stuck, waiting, cut, ok } = self;
        [all, failing, stuck, waiting, cut, ok]
    }
}

/// Numbers that are counted side by side.
const KINDS: usize = 6;
/// Numbers take at most so many words: two for each, and one that says which take how many.
const WORDS_MAX: usize = 2 * KINDS + 1;

/// Words of packed numbers of which only all and those that end well are not 0, and take a word each; most are like that.
const FEW_AND_OK: usize = 3;
/// Their last word.
const FEW_AND_OK_BITS: u64 = 1 << (KINDS - 1) | 1;

/// Numbers in few words: those of each number that is not 0, the lower one first, then one that has a bit for each number that is
/// not 0, and six bits further up one for each that takes two words.
#[derive(Clone, Copy, Debug)]
struct Packed {
    words: [u64; WORDS_MAX],
    len: usize,
}

impl Packed {
    #[inline]
    fn of(numbers: &Numbers) -> Self {
        let mut packed = Self { words: [0; WORDS_MAX], len: 0 };
        if numbers.are_few_and_ok() {
            packed.words[..FEW_AND_OK].copy_from_slice(&[numbers.all as u64, numbers.ok as u64, FEW_AND_OK_BITS]);
            packed.len = FEW_AND_OK;
            return packed;
        }
        let mut which = 0;
        for (kind, number) in numbers.clone().each().into_iter().enumerate() {
            if *number == 0 {
                continue;
            }
            which |= 1 << kind;
            packed.push(*number as u64);
            let high = (*number >> 64) as u64;
            if high != 0 {
                which |= 1 << (KINDS + kind);
                packed.push(high);
            }
        }
        packed.push(which);
        packed
    }

    #[inline]
    fn push(&mut self, word: u64) {
        self.words[self.len] = word;
        self.len += 1;
    }

    #[inline]
    fn words(&self) -> &[u64] {
        &self.words[..self.len]
    }

    fn hash(words: &[u64]) -> u64 {
        words.iter().fold(0, |hash: u64, word| crate::store::hash::mix(hash.rotate_left(7) ^ word))
    }
}

/// The numbers that end before `end` among packed ones, and where they start.
#[inline]
fn unpack(words: &[u64], end: usize) -> (Numbers, usize) {
    let mut numbers = Numbers::default();
    let Some(last) = end.checked_sub(1) else { return (numbers, 0) };
    let which = words[last];
    if which == FEW_AND_OK_BITS
        && let Some(&[all, ok]) = words[..last].last_chunk()
    {
        let numbers = Numbers { all: u128::from(all), ok: u128::from(ok), ..numbers };
        return (numbers, last - 2);
    }
    let start = last - which.count_ones() as usize;
    let mut at = start;
    for (kind, number) in numbers.each().into_iter().enumerate() {
        if which >> kind & 1 != 0 {
            *number = u128::from(words[at]);
            at += 1;
        }
        if which >> (KINDS + kind) & 1 != 0 {
            *number |= u128::from(words[at]) << 64;
            at += 1;
        }
    }
    (numbers, start)
}

/// Numbers that wait for others to be taken back before them.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<u64>);

impl Waiting {
    #[inline]
    pub(super) fn push(&mut self, numbers: &Numbers) {
        self.0.extend_from_slice(Packed::of(numbers).words());
    }

    /// The numbers that were put aside last.
    #[inline]
    pub(super) fn pop(&mut self) -> Numbers {
        let (numbers, start) = unpack(&self.0, self.0.len());
        self.0.truncate(start);
        numbers
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<u64>()) as u64
    }
}

/// Different numbers, each once: most nodes of a graph share theirs with many others.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Row by row, packed.
    words: Vec<u64>,
    /// Where each row ends.
    ends: Vec<u32>,
    /// Indices of rows, by hash; `u32::MAX` if free.
    slots: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl Table {
    /// The index of these numbers; `None` if there is no room for more.
    pub(super) fn index_of(&mut self, numbers: &Numbers) -> Option<u32> {
        if self.slots.len() < 2 * (self.ends.len() + 1) {
            self.grow();
        }
        let packed = Packed::of(numbers);
        let mut at = Packed::hash(packed.words()) as usize & (self.slots.len() - 1);
        while self.slots[at] != FREE {
            if self.words_of(self.slots[at]) == packed.words() {
                return Some(self.slots[at]);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        // Callers add a little to an index.
        let index = u32::try_from(self.ends.len()).ok().filter(|index| *index < FREE - 8)?;
        let end = u32::try_from(self.words.len() + packed.len).ok()?;
        self.words.extend_from_slice(packed.words());
        self.ends.push(end);
        self.slots[at] = index;
        Some(index)
    }

    fn words_of(&self, index: u32) -> &[u64] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.words[start as usize..self.ends[index as usize] as usize]
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(16);
        self.slots = vec![FREE; len];
        for index in 0..self.ends.len() as u32 {
            let mut at = Packed::hash(self.words_of(index)) as usize & (len - 1);
            while self.slots[at] != FREE {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = index;
        }
    }

    /// The numbers with an index.
    #[inline]
    pub(super) fn row(&self, index: u32) -> Numbers {
        unpack(&self.words, self.ends[index as usize] as usize).0
    }

    /// Memory in use, in bytes.
    fn memory_bytes(&self) -> u64 {
        let halves = self.ends.capacity() + self.slots.capacity();
        (self.words.capacity() * size_of::<u64>() + halves * size_of::<u32>()) as u64
    }
}

/// The node is on the stack; more than this says that its numbers are known.
const ON_STACK: u32 = 0;

/// What is known of nodes, which are numbered from 1 in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// For each node [`ON_STACK`], or one more than the index of its numbers.
    known: Vec<u32>,
    table: Table,
}

/// What is known of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    OnStack,
    Known(Numbers),
}

impl Nodes {
    /// The number of a node that was not met before; `None` if there is no room for more.
    #[inline]
    pub(super) fn add(&mut self) -> Option<u32> {
        if self.known.len() == self.known.capacity() {
            self.known.reserve_exact(16 + self.known.len() / 4);
        }
        self.known.push(ON_STACK);
        u32::try_from(self.known.len()).ok()
    }

    /// What is known of a node; `None` if it was not met.
    #[inline]
    pub(super) fn state(&self, node: u32) -> Option<State> {
        let known = *self.known.get(node.checked_sub(1)? as usize)?;
        Some(known.checked_sub(1).map_or(State::OnStack, |index| State::Known(self.table.row(index))))
    }

    /// The numbers of a node; `None` if they are not known.
    pub(super) fn numbers(&self, node: u32) -> Option<Numbers> {
        match self.state(node)? {
            State::OnStack => None,
            State::Known(numbers) => Some(numbers),
        }
    }

    /// Notes the numbers of a node that was met; false if there is no room for them.
    #[inline]
    pub(super) fn set(&mut self, node: u32, numbers: &Numbers) -> bool {
        let Some(index) = self.table.index_of(numbers) else { return false };
        self.known[node as usize - 1] = index + 1;
        true
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.table.memory_bytes() + (self.known.capacity() * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;
    use std::collections::HashMap;

    /// Most numbers are small, many are 0, some are large.
    fn some_numbers(random: &mut Random) -> Numbers {
        let mut number = || match random.below(6) {
            0 => u128::MAX,
            1 => 1 << random.below(128),
            2 => u128::from(u64::MAX) - random.below(2) as u128,
            3 => random.below(3) as u128,
            _ => 0,
        };
        Numbers { all: number(), failing: number(), stuck: number(), waiting: number(), cut: number(), ok: number() }
    }

    #[test]
    fn numbers_come_back_as_they_were() {
        let (mut nodes, mut waiting, mut random) = (Nodes::default(), Waiting::default(), Random::new(1));
        let mut expected = Vec::new();
        let mut different: HashMap<Numbers, u32> = HashMap::new();
        for at in 0..5_000 {
            let numbers = some_numbers(&mut random);
            waiting.push(&numbers);
            let node = nodes.add().expect("there is room");
            assert_eq!(nodes.state(node), Some(State::OnStack));
            assert!(nodes.set(node, &numbers));
            let index = nodes.known[at];
            assert_eq!(*different.entry(numbers).or_insert(index), index, "equal numbers have one row");
            expected.push((node, numbers));
        }
        assert!(different.len() > 2_000 && nodes.table.ends.len() == different.len());
        for (node, numbers) in expected.iter().rev() {
            assert_eq!(nodes.numbers(*node), Some(*numbers));
            assert_eq!(waiting.pop(), *numbers);
        }
        assert_eq!((nodes.state(0), nodes.state(5_001)), (None, None));
    }
}
