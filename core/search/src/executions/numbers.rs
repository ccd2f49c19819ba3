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

    fn hash(&self) -> u64 {
        let fold = |number: u128| number as u64 ^ (number >> 64) as u64;
        let all = [self.all, self.failing, self.stuck, self.waiting, self.cut, self.ok];
        all.into_iter().fold(0, |hash, number| crate::store::hash::mix(hash.rotate_left(7) ^ fold(number)))
    }
}

/// Different numbers, each once: most nodes of a graph share theirs with many others.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Numbers>,
    /// Indices of rows, by hash; `u32::MAX` if free.
    slots: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl Table {
    /// The index of these numbers; `None` if there is no room for more.
    pub(super) fn index_of(&mut self, numbers: &Numbers) -> Option<u32> {
        if self.slots.len() < 2 * (self.rows.len() + 1) {
            self.grow();
        }
        let mut at = numbers.hash() as usize & (self.slots.len() - 1);
        while self.slots[at] != FREE {
            if self.rows[self.slots[at] as usize] == *numbers {
                return Some(self.slots[at]);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        // Callers add a little to an index.
        let index = u32::try_from(self.rows.len()).ok().filter(|index| *index < FREE - 8)?;
        self.slots[at] = index;
        self.rows.push(*numbers);
        Some(index)
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        self.slots = vec![FREE; len];
        for (index, row) in self.rows.iter().enumerate() {
            let mut at = row.hash() as usize & (len - 1);
            while self.slots[at] != FREE {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = index as u32;
        }
    }

    /// The numbers with an index.
    #[inline]
    pub(super) fn row(&self, index: u32) -> &Numbers {
        &self.rows[index as usize]
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Numbers>() + self.slots.capacity() * size_of::<u32>()) as u64
    }
}
