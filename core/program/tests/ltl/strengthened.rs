//! Parts of formulas that models never need, compared with the definition: a part is not needed by a model if anything may stand in
//! its place.

use crate::words::{Lasso, Random, holds, of_globals, proposition};
use fabius_program::Formula;
use fabius_program::ltl::parts::apart;
use fabius_program::ltl::strengthen::{Strengthening, is_false, is_valid, never};

/// Words over so many propositions; the part to be replaced becomes one more.
const PROPOSITIONS: u32 = 2;

/// A small Kripke structure: in which states it begins, which propositions hold in a state, and where it goes on.
struct Kripke {
    labels: Vec<u64>,
    next: Vec<Vec<usize>>,
}

impl Kripke {
    fn random(random: &mut Random) -> Self {
        let states = 1 + random.below(3) as usize;
        let label = |random: &mut Random| random.below(1 << PROPOSITIONS);
        let labels = (0..states).map(|_| label(random)).collect();
        let next = (0..states).map(|_| {
            let mut to: Vec<usize> = (0..states).filter(|_| random.below(3) == 0).collect();
            if to.is_empty() {
                to.push(random.below(states as u64) as usize);
            }
            to
        });
        Self { labels, next: next.collect() }
    }

    /// Its runs from state 0 that are lassos of at most this many states, as words.
    fn words(&self, length: usize) -> Vec<Lasso> {
        let (mut words, mut open) = (Vec::new(), vec![vec![0]]);
        while let Some(path) = open.pop() {
            let last = path[path.len() - 1];
            let letters = || path.iter().map(|state| self.labels[*state]).collect();
            let back = (0..path.len()).filter(|at| self.next[last].contains(&path[*at]));
            words.extend(back.map(|back_to| Lasso { letters: letters(), back_to }));
            if path.len() < length {
                open.extend(self.next[last].iter().map(|next| path.iter().copied().chain([*next]).collect()));
            }
        }
        words
    }
}

/// Whether a formula holds of all words.
fn holds_of(formula: &Formula, words: &[Lasso]) -> bool {
    words.iter().all(|word| holds(formula, word, &of_globals)[0])
}

/// Whether a formula holds of all words, whatever another proposition is.
fn holds_whatever(formula: &Formula, words: &[Lasso]) -> bool {
    words.iter().all(|word| {
        (0..1_u64 << word.letters.len()).all(|values| {
            let with = |(at, letter): (usize, &u64)| letter | (values >> at & 1) << PROPOSITIONS;
            let letters = word.letters.iter().enumerate().map(with).collect();
            holds(formula, &Lasso { letters, back_to: word.back_to }, &of_globals)[0]
        })
    })
}

#[test]
fn a_part_is_not_needed_exactly_if_anything_may_stand_in_its_place() {
    let mut random = Random(0x51ab_1e5e);
    let (mut vacuous, mut needed) = (0, 0);
    for round in 0..4_000 {
        let formula = random.formula(1 + round % 5, PROPOSITIONS);
        let words = Kripke::random(&mut random).words(4);
        if !holds_of(&formula, &words) {
            continue;
        }
        let parts = Strengthening::of(&formula).unwrap();
        assert!(holds_of(parts.formula(), &words), "{formula:?} taken apart");
        for literal in parts.literals() {
            // All parts around the literal, up to the whole formula.
            let around = std::iter::successors(Some(literal), |inner| parts.around(inner));
            for occurrence in around {
                let anything = parts.with(&occurrence, proposition(PROPOSITIONS));
                let expected = holds_whatever(&anything, &words);
                let without = parts.without(&occurrence);
                assert_eq!(holds_of(&without, &words), expected, "{formula:?} without {:?}", parts.part(&occurrence));
                if expected {
                    vacuous += 1
                } else {
                    needed += 1
                }
                // What is strengthened implies the formula.
                let implies = Formula::Implies(Box::new(without.clone()), Box::new(formula.clone()));
                assert!(Lasso::all(PROPOSITIONS, 3).all(|word| holds(&implies, &word, &of_globals)[0]), "{implies:?}");
                assert!(!(expected && is_false(&without)));
            }
        }
    }
    assert!(vacuous > 1_000 && needed > 1_000, "{vacuous} {needed}");
}

#[test]
fn a_part_is_not_needed_only_if_a_literal_of_it_is_not() {
    let mut random = Random(77);
    for round in 0..2_000 {
        let formula = random.formula(1 + round % 5, PROPOSITIONS);
        let words = Kripke::random(&mut random).words(4);
        let parts = Strengthening::of(&formula).unwrap();
        for literal in parts.literals() {
            let mut is_needed = !holds_of(&parts.without(&literal), &words);
            for around in std::iter::successors(parts.around(&literal), |inner| parts.around(inner)) {
                let next = !holds_of(&parts.without(&around), &words);
                assert!(next || !is_needed, "{formula:?}: {:?}", parts.part(&around));
                is_needed = next;
            }
        }
    }
}

#[test]
fn a_valid_formula_holds_of_every_word() {
    let mut random = Random(9);
    let mut valid = 0;
    for round in 0..3_000 {
        let formula = random.formula(1 + round % 4, PROPOSITIONS);
        let all = Lasso::all(PROPOSITIONS, 4).all(|word| holds(&formula, &word, &of_globals)[0]);
        let found = is_valid(&formula).unwrap().unwrap();
        // Words of four letters do not refute everything that can be refuted.
        assert!(all || !found, "{formula:?}");
        assert!(found || !all || round % 4 > 1, "{formula:?}");
        valid += u32::from(found);
    }
    assert!(valid > 100, "{valid}");
}

#[test]
fn what_never_happens_is_told_apart() {
    let (p, q) = (|| Box::new(proposition(0)), || Box::new(proposition(1)));
    let answered = Formula::Always(Box::new(Formula::Implies(p(), Box::new(Formula::Eventually(q())))));
    let parts = Strengthening::of(&answered).unwrap();
    let forms: Vec<Formula> = parts.literals().iter().map(|literal| parts.without(literal)).collect();
    assert_eq!(forms[0], Formula::Always(Box::new(Formula::Eventually(q()))));
    assert_eq!(never(&forms[1]), Some(&*p()));
    assert_eq!(never(&forms[0]), None);
    assert_eq!(apart(&answered), Some(answered));
}
