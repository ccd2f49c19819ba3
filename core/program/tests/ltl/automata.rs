//! Automata of formulas against the definition: every word `u v^ω` with short `u` and `v`.

use crate::words::{Lasso, Random, accepts, holds, of_globals, proposition};
use fabius_program::ltl::{Automaton, TooLarge, automaton, violations};
use fabius_program::{Expr, Formula, Place, Slot};

/// The automaton accepts a word if and only if the formula holds of it, and the automaton of the negation if and
/// only if not.
fn check(formula: &Formula, propositions: u32, length_max: u32) {
    let own = match automaton(formula) {
        Ok(automaton) => automaton,
        Err(why) => panic!("{why}: {formula:?}"),
    };
    let negation = automaton(&Formula::Not(Box::new(formula.clone()))).unwrap();
    let numbered = |automaton: &Automaton| -> Vec<u32> {
        let number = |e: &Expr| match e {
            Expr::Load(Place { slot: Slot::Global(id), .. }) => id.0,
            _ => unreachable!(),
        };
        automaton.propositions.iter().map(number).collect()
    };
    let (of_own, of_negation) = (numbered(&own), numbered(&negation));
    let translate = |word: &Lasso, order: &[u32]| Lasso {
        letters: word
            .letters
            .iter()
            .map(|letter| order.iter().enumerate().map(|(new, old)| (letter >> old & 1) << new).sum())
            .collect(),
        back_to: word.back_to,
    };
    for length in 1..=length_max {
        for word in Lasso::all(propositions, length) {
            let expected = holds(formula, &word, &of_globals)[0];
            let shown = || format!("{formula:?}\non {:?} from {}\n{own:#?}", word.letters, word.back_to);
            assert_eq!(accepts(&own, &translate(&word, &of_own)), expected, "{}", shown());
            assert_eq!(accepts(&negation, &translate(&word, &of_negation)), !expected, "negation of {}", shown());
        }
    }
}

fn seeds() -> impl Iterator<Item = u64> {
    1..=if std::env::var_os("FABIUS_FULL").is_some() { 20_000 } else { 1_000 }
}

#[test]
fn random_formulas_of_two_propositions() {
    for seed in seeds() {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let operators = random.below(11);
        check(&random.formula(operators, 2), 2, 4);
    }
}

#[test]
fn random_formulas_of_three_propositions() {
    for seed in seeds() {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        let operators = random.below(9);
        check(&random.formula(operators, 3), 3, 3);
    }
}

#[test]
fn the_same_formula_has_the_same_automaton() {
    for seed in seeds().take(300) {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let formula = random.formula(8, 3);
        assert_eq!(automaton(&formula), automaton(&formula.clone()));
        assert_eq!(automaton(&Formula::Not(Box::new(formula.clone()))), violations(&formula));
    }
}

/// Nested so deep that recursion would not do.
fn deep(wrap: impl Fn(Box<Formula>) -> Formula) -> Formula {
    (0..100_000).fold(proposition(0), |f, _| wrap(Box::new(f)))
}

#[test]
fn deep_nesting_is_refused_in_time() {
    let p = || Box::new(proposition(1));
    let formulas = [
        deep(Formula::Not),
        deep(Formula::Next),
        deep(Formula::Always),
        deep(|f| Formula::Until(f, p())),
        deep(|f| Formula::Until(p(), f)),
        deep(|f| Formula::And(f, p())),
        deep(|f| Formula::Equivalent(f, Box::new(Formula::Eventually(p())))),
    ];
    for formula in formulas {
        assert_eq!(automaton(&formula), Err(TooLarge::Formula));
        assert_eq!(violations(&formula.clone()), Err(TooLarge::Formula));
    }
}
