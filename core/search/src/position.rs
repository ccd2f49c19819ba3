//! The state a search stands on: moves to a successor are logged, so that they can be taken back.
//!
//! One run of cells holds, in this order, the *memo* (cells in which a store keeps what it wants to
//! remember about the state, so that inserting a neighbour costs less), the visible words of the
//! state, and its hidden words. A single log of `(cell, old value)` covers all three.
//!
//! The memo may lag behind the words: passing through a state without inserting it changes words
//! only. What changed since the memo was last right is exactly what the log holds from a certain
//! place on, so no further bookkeeping is needed.

/// A cell that changed, and what it held before.
#[derive(Clone, Copy, Debug)]
struct Change {
    cell: u32,
    old: u32,
}

/// Stands in for a cell number: the length changed, and the entries before hold all old cells.
const RESIZED: u32 = u32::MAX;

/// Words compared at a time.
const CHUNK: usize = 8;

/// The state a search stands on, and how it got there.
#[derive(Debug)]
pub struct Position {
    cells: Vec<u32>,
    /// Cells of the memo, which are the first.
    memo: usize,
    visible: usize,
    hidden: usize,
    memo_per_word: usize,
    log: Vec<Change>,
    /// From here on, what the log holds is not yet in the memo.
    stale_from: usize,
}

impl Position {
    /// A position that stands on the state without words. `memo_per_word` is
    /// [`crate::Store::MEMO_PER_WORD`] of the store, `hidden` is [`crate::Model::hidden_words`].
    pub fn new(memo_per_word: usize, hidden: usize) -> Self {
        Self { cells: Vec::new(), memo: 0, visible: 0, hidden, memo_per_word, log: Vec::new(), stale_from: 0 }
    }

    /// All words of the state, hidden ones included.
    pub fn state(&self) -> &[u32] {
        &self.cells[self.memo..]
    }

    /// The words that distinguish the state from others.
    pub fn visible(&self) -> &[u32] {
        &self.cells[self.memo..self.memo + self.visible]
    }

    /// The words that do not.
    pub fn hidden(&self) -> &[u32] {
        &self.cells[self.memo + self.visible..]
    }

    /// The memo, followed by the visible words.
    pub fn memo_and_visible(&self) -> &[u32] {
        &self.cells[..self.memo + self.visible]
    }

    /// Entries in the log.
    pub fn log_len(&self) -> usize {
        self.log.len()
    }

    /// Bytes in use.
    pub fn memory_bytes(&self) -> u64 {
        (self.log.len() * size_of::<Change>() + self.cells.len() * size_of::<u32>()) as u64
    }

    /// Moves to another state.
    pub fn advance(&mut self, successor: &[u32]) {
        let memo = self.memo;
        let state = &mut self.cells[memo..];
        if state.len() != successor.len() {
            self.resize(successor);
            return;
        }
        let mut old_chunks = state.chunks_exact_mut(CHUNK);
        let mut new_chunks = successor.chunks_exact(CHUNK);
        let mut first_cell = memo;
        for (old, new) in (&mut old_chunks).zip(&mut new_chunks) {
            let mut differing = 0_u32;
            for i in 0..CHUNK {
                differing |= u32::from(old[i] != new[i]) << i;
            }
            while differing != 0 {
                let i = differing.trailing_zeros() as usize % CHUNK;
                self.log.push(Change { cell: (first_cell + i) as u32, old: old[i] });
                old[i] = new[i];
                differing &= differing - 1;
            }
            first_cell += CHUNK;
        }
        for (i, (old, new)) in old_chunks.into_remainder().iter_mut().zip(new_chunks.remainder()).enumerate() {
            if old != new {
                self.log.push(Change { cell: (first_cell + i) as u32, old: *old });
                *old = *new;
            }
        }
    }

    /// Takes back the last `count` entries of the log.
    pub fn retreat(&mut self, count: usize) {
        let end = self.log.len().saturating_sub(count);
        while self.log.len() > end {
            let Some(change) = self.log.pop() else { return };
            if change.cell == RESIZED {
                self.take_back_resize(change.old as usize);
            } else {
                self.cells[change.cell as usize] = change.old;
            }
        }
    }

    /// Forgets how the position was reached.
    pub fn forget(&mut self) {
        self.log.clear();
        self.stale_from = 0;
    }

    /// Says that the memo is right for the changes logged before `index`, and only for those.
    pub fn memo_is_right_until(&mut self, index: usize) {
        self.stale_from = index;
    }

    /// Which cells changed since the memo was last right; `None` if all must be taken as changed.
    pub(crate) fn stale_parents(&self, dirty: &mut [u64]) -> Option<()> {
        let end = self.memo + self.visible;
        for change in &self.log[self.stale_from..] {
            if change.cell == RESIZED {
                return None;
            }
            if (change.cell as usize) < end {
                let parent = change.cell >> 1;
                dirty[parent as usize >> 6] |= 1 << (parent & 63);
            }
        }
        Some(())
    }

    /// A cell of memo and visible words.
    pub(crate) fn cell(&self, index: usize) -> u32 {
        self.cells[index]
    }

    /// Changes a cell of the memo.
    pub(crate) fn set_memo(&mut self, index: usize, value: u32) {
        let old = std::mem::replace(&mut self.cells[index], value);
        self.log.push(Change { cell: index as u32, old });
    }

    /// Changes a cell of the memo for good: what was there is not worth restoring.
    pub(crate) fn set_memo_unlogged(&mut self, index: usize, value: u32) {
        self.cells[index] = value;
    }

    /// Logs every cell, then starts anew with a memo that is not right.
    #[cold]
    fn resize(&mut self, successor: &[u32]) {
        self.log.extend(self.cells.iter().enumerate().map(|(i, &old)| Change { cell: i as u32, old }));
        self.log.push(Change { cell: RESIZED, old: self.cells.len() as u32 });
        self.lay_out(successor.len());
        self.cells[self.memo..].copy_from_slice(successor);
    }

    /// Gives the cells the length they had; the entries before restore the content.
    #[cold]
    fn take_back_resize(&mut self, cells: usize) {
        let visible = cells.saturating_sub(self.hidden) / (self.memo_per_word + 1);
        self.lay_out(cells - visible * self.memo_per_word);
    }

    fn lay_out(&mut self, words: usize) {
        self.visible = words.saturating_sub(self.hidden);
        self.memo = self.visible * self.memo_per_word;
        self.cells.resize(self.memo + words, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_comes_back_when_its_changes_are_taken_back() {
        let states: Vec<Vec<u32>> = vec![
            (0..21).collect(),
            (0..21).map(|i| if i % 5 == 0 { 99 } else { i }).collect(),
            vec![7; 5],
            vec![],
            vec![1, 2, 3],
            vec![1, 2, 4],
        ];
        for memo_per_word in [0, 1] {
            let mut position = Position::new(memo_per_word, 2);
            let mut lengths = Vec::new();
            for state in &states {
                lengths.push(position.log_len());
                position.advance(state);
                assert_eq!(position.state(), state);
                assert_eq!(position.visible(), &state[..state.len().saturating_sub(2)]);
                assert_eq!(position.memo_and_visible().len(), position.visible().len() * (memo_per_word + 1));
            }
            for (state, length) in states.iter().zip(&lengths).rev() {
                assert_eq!(position.state(), state);
                position.retreat(position.log_len() - length);
            }
            assert!(position.state().is_empty());
        }
    }
}
