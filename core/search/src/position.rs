//! The state a search stands on, and a successor of it: moves are logged, so that they can be taken back.
//!
//! One run of cells holds, in this order, the *memo* (cells in which a store keeps what it wants to
//! remember about the state, so that inserting a neighbour costs less), the visible words of the
//! state, and its hidden words. A single log of `(cell, old value)` covers all three.
//!
//! A successor lies beside the state until it is clear whether the search goes there: most often it
//! does not. [`Position::propose`] logs where it differs, a store looks at the words that differ and
//! changes the memo, and then [`Position::accept`] makes the successor the state, or
//! [`Position::reject`] undoes what the store did.
//!
//! The memo may lag behind the words: passing through a state without inserting it changes words
//! only. What changed since the memo was last right is exactly what the log holds from a certain
//! place on, so no further bookkeeping is needed.

use crate::words::{CHUNK, differing};

/// A cell that changed, and what it held before.
#[derive(Clone, Copy, Debug)]
struct Change {
    cell: u32,
    old: u32,
}

/// Stands in for a cell number: the length changed, and the entries before hold all old cells.
const RESIZED: u32 = u32::MAX;

/// What an entry of the log says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Changed {
    /// This visible word changed.
    Word(usize),
    /// Something that is no visible word.
    Other,
    /// The number of words, and so all words.
    Length,
}

/// The state a search stands on, how it got there, and the successor it looks at.
#[derive(Debug)]
pub struct Position {
    cells: Vec<u32>,
    successor: Vec<u32>,
    /// A successor that waits for an answer while the next one is looked at.
    aside: Vec<u32>,
    /// Entries of the log before the successor's.
    log_before: usize,
    /// The successor was of another length, and is the state already.
    resized: bool,
    /// Cells of the memo, which are the first.
    memo: usize,
    visible: usize,
    hidden: usize,
    memo_per_word: usize,
    log: Vec<Change>,
    /// From here on, what the log holds is not yet in the memo.
    stale_from: usize,
    /// Which rules of the store's the memo follows; 0 for none that are known.
    epoch: u32,
    /// With fewer entries in the log, the memo follows older rules.
    trusted_from: usize,
}

impl Position {
    /// A position that stands on the state without words. `memo_per_word` is
    /// [`crate::Store::MEMO_PER_WORD`] of the store, `hidden` is [`crate::Model::hidden_words`].
    pub fn new(memo_per_word: usize, hidden: usize) -> Self {
        Self {
            cells: Vec::new(),
            successor: Vec::new(),
            aside: Vec::new(),
            log_before: 0,
            resized: false,
            memo: 0,
            visible: 0,
            hidden,
            memo_per_word,
            log: Vec::new(),
            stale_from: 0,
            epoch: 0,
            trusted_from: 0,
        }
    }

    /// All words of the state, hidden ones included.
    pub fn state(&self) -> &[u32] {
        &self.cells[self.memo..]
    }

    /// The state, while a successor of the same length is proposed.
    #[inline]
    pub(crate) fn state_beside_proposed(&self) -> Option<&[u32]> {
        (!self.resized).then(|| self.state())
    }

    /// The state, and where to write a successor.
    #[inline]
    pub fn state_and_successor(&mut self) -> (&[u32], &mut Vec<u32>) {
        (&self.cells[self.memo..], &mut self.successor)
    }

    /// The successor, all words.
    pub fn proposed(&self) -> &[u32] {
        &self.successor
    }

    /// The words that distinguish the successor from other states.
    #[inline]
    pub fn visible(&self) -> &[u32] {
        &self.successor[..self.visible]
    }

    /// The words that do not.
    pub fn hidden(&self) -> &[u32] {
        &self.successor[self.visible..]
    }

    /// Entries in the log.
    pub fn log_len(&self) -> usize {
        self.log.len()
    }

    /// Bytes in use.
    pub fn memory_bytes(&self) -> u64 {
        (size_of_val::<[Change]>(&self.log) + size_of_val::<[u32]>(&self.cells) * 2) as u64
    }

    /// Finds out where the successor differs from the state.
    pub fn propose(&mut self) {
        self.log_before = self.log.len();
        let memo = self.memo;
        let state = &self.cells[memo..];
        self.resized = state.len() != self.successor.len();
        if self.resized {
            self.resize();
            return;
        }
        let words = state.len();
        let mut first = 0;
        while let (Some(old), Some(new)) = (state[first..].first_chunk(), self.successor[first..].first_chunk()) {
            log_differing(&mut self.log, memo + first, old, differing(old, new));
            first += CHUNK;
        }
        if first == words {
            return;
        }
        // The last words once more, but for those that were compared already.
        if let (Some(old), Some(new)) = (state.last_chunk(), self.successor.last_chunk()) {
            let compared = (1 << (first + CHUNK - words)) - 1;
            log_differing(&mut self.log, memo + words - CHUNK, old, differing(old, new) & !compared);
            return;
        }
        for (word, (&old, &new)) in state.iter().zip(&self.successor).enumerate() {
            if old != new {
                self.log.push(Change { cell: (memo + word) as u32, old });
            }
        }
    }

    /// As [`Self::propose`], of a successor that differs from the state, if it is as long, only in words that were touched: bit `i` stands
    /// for word `i`, and for those behind it in steps of 64.
    ///
    /// A comparison of all words reads several at a time, and waits for those that were just written one by one.
    #[inline]
    pub fn propose_touched(&mut self, touched: u64) {
        if touched == u64::MAX || self.successor.len() != self.cells.len() - self.memo {
            return self.propose();
        }
        self.log_before = self.log.len();
        self.resized = false;
        let state = &self.cells[self.memo..];
        for first in (0..state.len()).step_by(64) {
            let mut rest = touched;
            while rest != 0 {
                let word = first + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if let (Some(&old), Some(&new)) = (state.get(word), self.successor.get(word))
                    && old != new
                {
                    self.log.push(Change { cell: (self.memo + word) as u32, old });
                }
            }
        }
        debug_assert_eq!(
            self.log.len() - self.log_before,
            count_differing(state, &self.successor),
            "words that were not touched are as before"
        );
    }

    /// Makes the successor the state; returns how many entries of the log lead back.
    pub fn accept(&mut self) -> usize {
        if !self.resized {
            for change in &self.log[self.log_before..] {
                if let Some(word) = (change.cell as usize).checked_sub(self.memo) {
                    self.cells[change.cell as usize] = self.successor[word];
                }
            }
        }
        let changes = self.log.len() - self.log_before;
        self.log_before = self.log.len();
        changes
    }

    /// Stays at the state, and gives back the memo that a store changed for the successor.
    pub fn reject(&mut self) {
        if self.resized {
            self.retreat(self.log.len() - self.log_before);
            return;
        }
        for change in self.log[self.log_before..].iter().rev().take_while(|change| (change.cell as usize) < self.memo) {
            self.cells[change.cell as usize] = change.old;
        }
        self.log.truncate(self.log_before);
    }

    /// Puts the successor aside, so that another one may be proposed.
    pub fn put_aside(&mut self) {
        self.reject();
        std::mem::swap(&mut self.successor, &mut self.aside);
    }

    /// Drops the successor and proposes the one that was put aside; the memo is to be brought up to date.
    pub fn take_from_aside(&mut self) {
        self.reject();
        std::mem::swap(&mut self.successor, &mut self.aside);
        self.propose();
    }

    /// Moves to another state.
    pub fn advance(&mut self, state: &[u32]) {
        self.successor.clear();
        self.successor.extend_from_slice(state);
        self.propose();
        self.accept();
    }

    /// Takes back the last `count` entries of the log.
    pub fn retreat(&mut self, count: usize) {
        self.take_back_to(self.log.len().saturating_sub(count));
        self.log_before = self.log.len();
        if self.log.len() < self.trusted_from {
            self.epoch = 0;
        }
    }

    /// Takes entries of the log back until this many are left.
    #[inline]
    fn take_back_to(&mut self, entries: usize) {
        while self.log.len() > entries {
            let Some(change) = self.log.pop() else { return };
            if change.cell == RESIZED {
                self.take_back_resize(change.old as usize);
            } else {
                self.cells[change.cell as usize] = change.old;
            }
        }
    }

    /// A position at the state where this one was when its log had `entries` entries, with nothing proposed.
    pub(crate) fn earlier(&self, entries: usize) -> Self {
        let mut earlier = Self {
            cells: self.cells.clone(),
            log: self.log[entries..].to_vec(),
            log_before: 0,
            successor: Vec::new(),
            aside: Vec::new(),
            ..*self
        };
        earlier.take_back_to(0);
        earlier.log = self.log[..entries].to_vec();
        earlier.log_before = entries;
        if entries < self.trusted_from {
            earlier.epoch = 0;
        }
        earlier
    }

    /// Forgets the first `entries` entries of the log: the search never goes back to what lies before.
    pub(crate) fn forget_first(&mut self, entries: usize) {
        self.log.drain(..entries);
        self.log_before -= entries;
        self.stale_from = self.stale_from.saturating_sub(entries);
        self.trusted_from = self.trusted_from.saturating_sub(entries);
    }

    /// Entries of the log that led to the state, not to a successor.
    pub(crate) fn log_before(&self) -> usize {
        self.log_before
    }

    /// Forgets how the position was reached.
    pub fn forget(&mut self) {
        self.log.clear();
        self.log_before = 0;
        self.stale_from = 0;
        self.trusted_from = 0;
    }

    /// Says that the memo is right for the changes logged before `index`, and only for those.
    pub fn memo_is_right_until(&mut self, index: usize) {
        self.stale_from = index;
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

    /// Changes a visible word of the state for good.
    pub(crate) fn set_word_unlogged(&mut self, word: usize, value: u32) {
        self.cells[self.memo + word] = value;
    }

    /// Changes the hidden words of the state for good.
    pub(crate) fn set_hidden_unlogged(&mut self, hidden: &[u32]) {
        self.cells[self.memo + self.visible..].copy_from_slice(hidden);
    }

    /// The words that distinguish the state, not its successor.
    pub(crate) fn visible_before(&self) -> &[u32] {
        &self.cells[self.memo..self.memo + self.visible]
    }

    /// The entries of the log that the memo does not reflect.
    #[inline]
    pub(crate) fn stale_entries(&self) -> std::ops::Range<usize> {
        self.stale_from..self.log.len()
    }

    /// What an entry of the log says.
    #[inline]
    pub(crate) fn changed(&self, entry: usize) -> Changed {
        match (self.log[entry].cell as usize).wrapping_sub(self.memo) {
            word if word < self.visible => Changed::Word(word),
            _ if self.log[entry].cell == RESIZED => Changed::Length,
            _ => Changed::Other,
        }
    }

    /// Whether the memo does not reflect that the length changed.
    pub(crate) fn is_resized(&self) -> bool {
        self.stale_entries().any(|entry| self.changed(entry) == Changed::Length)
    }

    /// Which of the store's rules the memo follows.
    #[inline]
    pub(crate) fn memo_epoch(&self) -> u32 {
        self.epoch
    }

    /// Says that the memo, computed anew, follows rules of which nobody knew before; it is that of the state, or of
    /// its successor.
    pub(crate) fn trust_memo(&mut self, epoch: u32, of_successor: bool) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.trusted_from = if of_successor { self.log.len() } else { self.log_before };
        }
    }

    /// The cell in which a store keeps something about its node; the cells before hold a key.
    pub(crate) fn memo_cell(node: usize) -> u32 {
        node as u32 + 2
    }

    /// A cell of the memo.
    #[inline]
    pub(crate) fn memo(&self, cell: u32) -> u32 {
        self.cells[cell as usize]
    }

    /// The key kept in the memo.
    #[inline]
    pub(crate) fn key(&self) -> u64 {
        u64::from(self.cells[0]) | u64::from(self.cells[1]) << 32
    }

    /// Changes the key.
    #[inline]
    pub(crate) fn set_key(&mut self, key: u64) {
        let changed = self.key() ^ key;
        if changed as u32 != 0 {
            self.set_memo(0, key as u32);
        }
        if changed >> 32 != 0 {
            self.set_memo(1, (key >> 32) as u32);
        }
    }

    /// Changes the key for good.
    pub(crate) fn set_key_unlogged(&mut self, key: u64) {
        (self.cells[0], self.cells[1]) = (key as u32, (key >> 32) as u32);
    }

    /// Gives back the memo that a store changed for the successor.
    #[inline]
    pub(crate) fn undo_memo(&mut self) {
        while self.log_before < self.log.len()
            && let Some(change) = self.log.pop_if(|change| (change.cell as usize) < self.memo)
        {
            self.cells[change.cell as usize] = change.old;
        }
    }

    /// Logs every cell, then starts anew with the successor and a memo that is not right.
    #[cold]
    fn resize(&mut self) {
        self.log.extend(self.cells.iter().enumerate().map(|(i, &old)| Change { cell: i as u32, old }));
        self.log.push(Change { cell: RESIZED, old: self.cells.len() as u32 });
        self.lay_out(self.successor.len());
        self.cells[self.memo..].copy_from_slice(&self.successor);
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

/// In how many words two states of the same length differ.
fn count_differing(state: &[u32], successor: &[u32]) -> usize {
    let ((old, old_rest), (new, new_rest)) = (state.as_chunks::<CHUNK>(), successor.as_chunks::<CHUNK>());
    let whole: u32 = old.iter().zip(new).map(|(old, new)| differing(old, new).count_ones()).sum();
    whole as usize + old_rest.iter().zip(new_rest).filter(|(old, new)| old != new).count()
}

/// Logs what the cells from `first` on held whose bits are set.
#[inline(always)]
fn log_differing(log: &mut Vec<Change>, first: usize, old: &[u32; CHUNK], mut differing: u32) {
    while differing != 0 {
        let i = differing.trailing_zeros() as usize % CHUNK;
        log.push(Change { cell: (first + i) as u32, old: old[i] });
        differing &= differing - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_logged_once_whatever_the_length() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32
        };
        for length in 0..40 {
            for round in 0..50 {
                let state: Vec<u32> = (0..length).map(|_| random() % 3).collect();
                let successor: Vec<u32> =
                    state.iter().map(|&word| if random() % (round + 1) == 0 { random() } else { word }).collect();
                let mut position = Position::new(2, 0);
                position.advance(&state);
                position.state_and_successor().1.clone_from(&successor);
                let before = position.log_len();
                position.propose();
                let logged: Vec<(usize, u32)> = position.log[before..]
                    .iter()
                    .map(|change| (change.cell as usize - position.memo, change.old))
                    .collect();
                let differing = (0..length).filter(|&word| state[word] != successor[word]);
                assert_eq!(logged, differing.map(|word| (word, state[word])).collect::<Vec<_>>());
            }
        }
    }

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
                let before = position.state().to_vec();
                for other in &states {
                    position.state_and_successor().1.clone_from(other);
                    position.propose();
                    position.reject();
                    assert_eq!(position.state(), before);
                }
                position.advance(state);
                assert_eq!(position.state(), state);
                assert_eq!(position.visible(), &state[..state.len().saturating_sub(2)]);
            }
            for (proposed, (state, length)) in states.iter().zip(states.iter().zip(&lengths).skip(1)) {
                position.state_and_successor().1.clone_from(proposed);
                position.propose();
                let mut earlier = position.earlier(*length);
                position.reject();
                for (state, below) in states.iter().zip(&lengths).rev().skip_while(|(other, _)| *other != state).skip(1)
                {
                    assert_eq!(earlier.state(), state);
                    earlier.retreat(earlier.log_len() - below);
                }
            }
            for (state, length) in states.iter().zip(&lengths).rev() {
                assert_eq!(position.state(), state);
                position.retreat(position.log_len() - length);
            }
            assert!(position.state().is_empty());
        }
    }
}
