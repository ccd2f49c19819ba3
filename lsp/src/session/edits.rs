//! Edits of a text, and where a place is after them.

use std::ops::Range;

/// A stretch of text was replaced by another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edit {
    /// First byte that was replaced.
    pub start: usize,
    /// So many bytes were there.
    pub removed: usize,
    /// So many bytes are there now.
    pub inserted: usize,
}

impl Edit {
    /// The smallest edit that makes one text out of another.
    pub fn between(old: &str, new: &str) -> Self {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - start;
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(most);
        Self { start, removed: old.len() - start - end, inserted: new.len() - start - end }
    }

    /// Where a place is after the edit; one inside of what was replaced moves to its beginning.
    fn moved(self, at: usize) -> usize {
        match at {
            at if at <= self.start => at,
            at if self.start + self.removed <= at => at - self.removed + self.inserted,
            _ => self.start,
        }
    }
}

/// Where a stretch of text is after some edits.
pub fn moved(range: &Range<usize>, edits: &[Edit]) -> Range<usize> {
    let shift = |at: usize| edits.iter().fold(at, |at, edit| edit.moved(at));
    // What is inserted right before a stretch does not belong to it.
    let pushed = |at: usize, edit: &Edit| {
        if edit.removed == 0 && at == edit.start { at + edit.inserted } else { edit.moved(at) }
    };
    let start = edits.iter().fold(range.start, pushed);
    start..shift(range.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_with_the_text() {
        let edit = Edit::between("one two three", "one 22222 three");
        assert_eq!(edit, Edit { start: 4, removed: 3, inserted: 5 });
        assert_eq!(moved(&(8..13), &[edit]), 10..15);
        assert_eq!(moved(&(0..3), &[edit]), 0..3);
        assert_eq!(moved(&(5..6), &[edit]), 4..4);
        let before = Edit { start: 8, removed: 0, inserted: 2 };
        assert_eq!((moved(&(8..13), &[before]), moved(&(4..8), &[before])), (10..15, 4..8));
    }

    #[test]
    fn repeated_letters_do_not_confuse() {
        for (old, new) in [("aaa", "aa"), ("aa", "aaaa"), ("", "x"), ("x", ""), ("abab", "ab"), ("é", "è")] {
            let edit = Edit::between(old, new);
            let mut text = old.as_bytes().to_vec();
            let inserted = new.as_bytes()[edit.start..edit.start + edit.inserted].to_vec();
            text.splice(edit.start..edit.start + edit.removed, inserted);
            assert_eq!(text, new.as_bytes());
        }
    }
}
