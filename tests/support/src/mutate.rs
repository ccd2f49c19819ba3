//! Models with one word changed: nearly right, which is where two readers of a language part ways.

use crate::generate::Dice;

/// The text with one word replaced, dropped or exchanged for another.
pub fn mutate(dice: &mut Dice, text: &str) -> String {
    let mut words = split(text);
    let places = |wanted: fn(char) -> bool| -> Vec<usize> {
        let starts = words.iter().enumerate().filter_map(|(index, word)| Some((index, word.chars().next()?)));
        starts.filter(|(_, first)| wanted(*first)).map(|(index, _)| index).collect()
    };
    let names = places(|first| first.is_ascii_alphanumeric() || first == '_');
    let signs = places(|first| first.is_ascii_punctuation() && first != '_');
    let of = |dice: &mut Dice, from: &[usize]| from.get(dice.below(from.len())).copied().unwrap_or(0);
    match dice.below(5) {
        0 | 1 => {
            let (from, to) = (of(dice, &names), of(dice, &names));
            words[to] = words[from];
        }
        2 => {
            let gone = if dice.one_in(2) { of(dice, &names) } else { of(dice, &signs) };
            words[gone] = "";
        }
        3 => {
            let (from, to) = (of(dice, &signs), of(dice, &signs));
            words[to] = words[from];
        }
        _ => {
            let (from, to) = (of(dice, &names), of(dice, &names));
            words.swap(from, to);
        }
    }
    words.concat()
}

/// Names and numbers, and every other character by itself; never empty.
fn split(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if is_name(first) { rest.find(|c| !is_name(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after;
    }
    if words.is_empty() {
        words.push("");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_by_splitting() {
        let text = "byte x1 = 3; /* é */ x1++;";
        assert_eq!(split(text).concat(), text);
        assert!(split(text).contains(&"x1") && split(text).contains(&";"));
    }

    #[test]
    fn most_mutations_change_something() {
        let text = "byte x; active proctype P() { x = 1 }";
        let changed = (0..100).filter(|seed| mutate(&mut Dice::new(*seed), text) != text).count();
        assert!(changed > 70, "{changed}");
        assert_eq!(mutate(&mut Dice::new(1), ""), "");
    }
}
