//! Claims that cannot tell how often a state is repeated.

use crate::claims::{load, program};
use crate::words::{Lasso, Random, accepts, automaton_of_claim};
use fabius_program::ltl::Automaton;
use fabius_program::ltl::stutter::is_stutter_invariant;
use fabius_program::{Expr, Formula};

/// Letters of the words that are tried.
const LENGTH_MAX: u32 = 4;

fn has_next(formula: &Formula) -> bool {
    let (a, b) = formula.operands();
    matches!(formula, Formula::Next(_)) || a.into_iter().chain(b).any(has_next)
}

/// The same word, with the letter at a position twice in a row there.
fn doubled(word: &Lasso, at: usize) -> Lasso {
    let mut letters = word.letters.clone();
    letters.insert(at, word.letters[at]);
    Lasso { letters, back_to: word.back_to + usize::from(at < word.back_to) }
}

/// A short word of which it matters whether a letter is doubled.
fn tells_apart(automaton: &Automaton) -> Option<Lasso> {
    let words = (1..=LENGTH_MAX).flat_map(|length| Lasso::all(2, length));
    let differs = |word: &Lasso| {
        let accepted = accepts(automaton, word);
        (0..word.letters.len()).any(|at| accepts(automaton, &doubled(word, at)) != accepted)
    };
    words.into_iter().find(differs)
}

#[test]
fn whether_repeated_states_matter_is_what_all_short_words_say() {
    let (mut invariant, mut with_next, mut counting) = (0, 0, 0);
    for seed in 1..600_u64 {
        let formula = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).formula(seed % 6, 2);
        let (program, id) = program(formula.clone()).with_claim("f").unwrap();
        let atoms: Vec<Expr> = (0..2).map(load).collect();
        let word = tells_apart(&automaton_of_claim(&program, id, &atoms).unwrap());
        let is_invariant = is_stutter_invariant(&program, id);
        assert_eq!(is_invariant, word.is_none(), "{formula:?}: {:?}", word.map(|word| word.letters));
        invariant += usize::from(is_invariant && !has_next(&formula));
        with_next += usize::from(is_invariant && has_next(&formula));
        counting += usize::from(!is_invariant);
    }
    assert!(200 < invariant && 20 < with_next && 50 < counting, "{invariant} {with_next} {counting}");
}
