//! Sets of small numbers.

/// A set of numbers below a bound that grows as needed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Whether a number is in it.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Whether some number is in both.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(word, other)| word & other != 0)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The numbers in it, the smallest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| ones(word).map(move |bit| at * 64 + bit))
    }
}

/// The places of the ones in a word, the smallest first.
fn ones(word: u64) -> impl Iterator<Item = usize> {
    let next = |rest: &u64| Some(rest & (rest - 1)).filter(|rest| *rest != 0);
    std::iter::successors(Some(word).filter(|word| *word != 0), next).map(|rest| rest.trailing_zeros() as usize)
}

/// A set of channels by their identities, which run from 1 to 255.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Channels([u64; 4]);

impl Channels {
    /// None.
    pub const NONE: Self = Self([0; 4]);
    /// All.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// One channel; none if there is no such identity.
    pub fn one(identity: i32) -> Self {
        let mut set = Self::NONE;
        if let 1..=255 = identity {
            set.0[identity as usize / 64] |= 1 << (identity % 64);
        }
        set
    }

    /// All with at least this identity.
    pub fn from(identity: u32) -> Self {
        (identity.max(1)..=255).fold(Self::NONE, |set, identity| set.with(Self::one(identity as i32)))
    }

    /// Those of either.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Whether one is in both.
    pub fn meets(self, other: Self) -> bool {
        (0..4).any(|i| self.0[i] & other.0[i] != 0)
    }

    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Their identities, the smallest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, word)| ones(word).map(move |bit| at * 64 + bit))
    }

    /// The channel, if it is only one.
    pub fn single(self) -> Option<usize> {
        let count: u32 = self.0.iter().map(|word| word.count_ones()).sum();
        let at = self.0.iter().position(|word| *word != 0)?;
        (count == 1).then(|| at * 64 + self.0[at].trailing_zeros() as usize)
    }
}
