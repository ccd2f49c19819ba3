//! Edits of a text, and where a place is after them.

use fabius_base::{SourceMap, Span};
use std::collections::HashMap;
use std::ops::Range;

/// Where a place of a model is in the text of a document after these edits of it; places in other files stay.
pub fn place(map: &SourceMap, span: Span, document: &str, edits: &[Edit]) -> (String, Range<usize>) {
    let shown = map.user_span(span);
    let name = map.file(shown.file).name.to_string();
    let range = shown.start as usize..shown.end.max(shown.start) as usize;
    if name == document { (name, moved(&range, edits)) } else { (name, range) }
}

/// A stretch of text was replaced by another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edit {
    /// First byte that was replaced.
    pub start: usize,
    /// This many bytes were there.
    pub removed: usize,
    /// This many bytes are there now.
    pub inserted: usize,
}

impl Edit {
    /// Small edits that make one text out of another when they are made in this order. Lines that occur once in each
    /// text, in the same order, stay where they are; between them, what is alike at both ends stays.
    pub fn between(old: &str, new: &str) -> Vec<Self> {
        let whole = Self::context(old, new, 0);
        // Cut at lines, so that the rest of a line is not taken for a line.
        let start = old[..floor(old, whole.start)].rfind('\n').map_or(0, |at| at + 1);
        let tail = old.len() - whole.start - whole.removed;
        let until = |text: &str| {
            let end = ceil(text, text.len() - tail);
            text[end..].find('\n').map_or(text.len(), |at| end + at + 1)
        };
        let (old_middle, new_middle) = (&old[start..until(old)], &new[start..until(new)]);
        let mut edits = Vec::new();
        let (mut old_at, mut new_at) = (0, 0);
        let ends = std::iter::once((old_middle.len(), new_middle.len(), 0));
        for (old_line, new_line, length) in anchors(old_middle, new_middle).into_iter().chain(ends) {
            let edit = Self::context(&old_middle[old_at..old_line], &new_middle[new_at..new_line], start + old_at);
            edits.extend((edit.removed + edit.inserted > 0).then_some(edit));
            (old_at, new_at) = (old_line + length, new_line + length);
        }
        // From the last to the first, none moves the place of the next.
        edits.reverse();
        edits
    }

    /// The smallest single edit that makes one text, which begins at a byte, out of another.
    fn context(old: &str, new: &str, at: usize) -> Self {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - start;
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(most);
        Self { start: at + start, removed: old.len() - start - end, inserted: new.len() - start - end }
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

/// The lines that occur once in each of two texts and come in the same order in both: where they begin, and their length.
fn anchors(old: &str, new: &str) -> Vec<(usize, usize, usize)> {
    let once = |text| {
        let mut found: HashMap<&str, Option<usize>> = HashMap::new();
        let mut at = 0;
        for line in str::split_inclusive(text, '\n') {
            found.entry(line).and_modify(|place| *place = None).or_insert(Some(at));
            at += line.len();
        }
        found
    };
    let (in_old, in_new) = (once(old), once(new));
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (line, place) in in_old {
        let places = place.zip(in_new.get(line).copied().flatten());
        pairs.extend(places.map(|(old, new)| (old, new, line.len())));
    }
    pairs.sort_unstable();
    longest_ascent(&pairs)
}

/// The longest choice of pairs, in their order, whose second numbers grow (patience sorting).
fn longest_ascent(pairs: &[(usize, usize, usize)]) -> Vec<(usize, usize, usize)> {
    // By length, the pair with the least second number that ends an ascent of that length; for each pair, the one before.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        ends.truncate(ends.len().max(length));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut chosen: Vec<(usize, usize, usize)> =
        std::iter::successors(ends.last().copied(), |&index| before[index]).map(|index| pairs[index]).collect();
    chosen.reverse();
    chosen
}

/// The beginning of the character that a byte is in.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The next beginning of a character.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
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
        let edits = Edit::between("one two three", "one 22222 three");
        let edit = Edit { start: 4, removed: 3, inserted: 5 };
        assert_eq!(edits, [edit]);
        assert_eq!(moved(&(8..13), &[edit]), 10..15);
        assert_eq!(moved(&(0..3), &[edit]), 0..3);
        assert_eq!(moved(&(5..6), &[edit]), 4..4);
        let before = Edit { start: 8, removed: 0, inserted: 2 };
        assert_eq!((moved(&(8..13), &[before]), moved(&(4..8), &[before])), (10..15, 4..8));
    }

    #[test]
    fn repeated_letters_do_not_confuse() {
        for (old, new) in [("aaa", "aa"), ("aa", "aaaa"), ("", "x"), ("x", ""), ("abab", "ab"), ("é", "è")] {
            assert_eq!(made(old, new), new.as_bytes(), "{old:?} {new:?}");
        }
    }

    /// A text after the edits that make another one out of it. What is inserted is read off the other one: the edits are
    /// made from the last to the first, so that it is known how far what comes before will have moved.
    fn made(old: &str, new: &str) -> Vec<u8> {
        let edits = Edit::between(old, new);
        assert!(edits.is_sorted_by(|a, b| b.start + b.removed <= a.start), "{edits:?}");
        let mut text = old.as_bytes().to_vec();
        for (index, edit) in edits.iter().enumerate() {
            let earlier = &edits[index + 1..];
            let at = edit.start + earlier.iter().map(|edit| edit.inserted).sum::<usize>()
                - earlier.iter().map(|edit| edit.removed).sum::<usize>();
            text.splice(edit.start..edit.start + edit.removed, new.as_bytes()[at..at + edit.inserted].to_vec());
        }
        text
    }

    #[test]
    fn lines_that_stay_keep_their_places_when_the_whole_text_is_replaced() {
        let old = "byte x;\ninit {\n  x = 1;\n  assert(x == 2)\n}\n";
        let new = "byte y;\nbyte x;\ninit {\n  x = 3;\n  skip;\n  assert(x == 2)\n}\n@@\n";
        let at = |text: &str| text.find("assert").unwrap();
        let edits = Edit::between(old, new);
        assert_eq!(made(old, new), new.as_bytes());
        assert_eq!(moved(&(at(old)..at(old) + 6), &edits), at(new)..at(new) + 6);
    }

    #[test]
    fn edits_between_any_texts_make_one_out_of_the_other() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut text = |lines: u64| -> String {
            (0..random(lines))
                .map(|_| ["a\n", "b\n", "é\n", "è\n", "x", "\n", "long line\n"][random(7) as usize])
                .collect()
        };
        for _ in 0..2000 {
            let (old, new) = (text(12), text(12));
            assert_eq!(made(&old, &new), new.as_bytes(), "{old:?} {new:?}");
        }
    }
}
