//! What formulas say in words: two formulas with the same sentence mean the same.

use crate::words::{Lasso, Random, holds, of_globals, proposition};
use fabius_base::Span;
use fabius_program::ltl::sentence::sentence;
use fabius_program::ltl::text::FormulaText;
use fabius_program::{Formula, Initial, Kind, Program, Property, PropertyKind, Type, Variable};
use std::collections::BTreeMap;

const PROPOSITIONS: u32 = 2;

fn program() -> Program {
    let global = |name: &str| Variable {
        name: name.to_owned(),
        ty: Type::unsigned(1, Kind::Boolean),
        dimensions: Vec::new(),
        initial: Initial::Zero,
        hidden: false,
        span: Span::default(),
    };
    Program { globals: vec![global("p"), global("q")], ..Program::default() }
}

fn said(formula: &Formula) -> Option<String> {
    let (program, property) = (program(), Property::new("f", PropertyKind::Safety, None));
    sentence(&FormulaText::of(&program, &property), formula)
}

#[test]
fn formulas_with_the_same_sentence_mean_the_same() {
    let mut random = Random(0x5e17);
    let words: Vec<Lasso> = (1..=4).flat_map(|length| Lasso::all(PROPOSITIONS, length)).collect();
    let meaning =
        |formula: &Formula| -> Vec<bool> { words.iter().map(|word| holds(formula, word, &of_globals)[0]).collect() };
    let mut known: BTreeMap<String, (Formula, Vec<bool>)> = BTreeMap::new();
    let (mut told, mut again) = (0, 0);
    for round in 0..12_000 {
        let formula = random.formula(1 + round % 5, PROPOSITIONS);
        let Some(sentence) = said(&formula) else { continue };
        told += 1;
        match known.get(&sentence) {
            Some((other, _)) if *other == formula => {}
            Some((other, meant)) => {
                again += 1;
                assert_eq!(*meant, meaning(&formula), "{sentence}: {other:?} and {formula:?}");
            }
            None => {
                known.insert(sentence, (formula.clone(), meaning(&formula)));
            }
        }
    }
    assert!(told > 8_000 && again > 10, "{told} sentences, {again} of two formulas");
}

#[test]
fn the_usual_formulas_read_as_people_say_them() {
    let (p, q) = (|| Box::new(proposition(0)), || Box::new(proposition(1)));
    let always = |f: Formula| Formula::Always(Box::new(f));
    let eventually = |f: Formula| Formula::Eventually(Box::new(f));
    let table = [
        (always(Formula::Not(p())), "`p` is never true"),
        (always(Formula::Implies(p(), Box::new(eventually(*q())))), "whenever `p` is true, `q` is true then or later"),
        (always(eventually(*p())), "`p` is true again and again"),
        (eventually(always(*p())), "from some time on, `p` is true for ever"),
        (*p(), "`p` is true in the initial state"),
        (
            Formula::Implies(p(), Box::new(eventually(*q()))),
            "if `p` is true in the initial state, then `q` is true at some time",
        ),
        (Formula::Until(p(), q()), "`q` is true at some time, and `p` is true at every moment before that"),
        (Formula::WeakUntil(Box::new(Formula::Not(p())), q()), "`p` is false until `q` is true, or for ever"),
        (
            Formula::Implies(Box::new(always(eventually(*p()))), Box::new(always(eventually(*q())))),
            "if `p` is true again and again, then `q` is true again and again",
        ),
        (always(Formula::Implies(p(), Box::new(Formula::Until(p(), q())))), "whenever `p` is true: `p U q` holds"),
    ];
    for (formula, sentence) in table {
        assert_eq!(said(&formula).as_deref(), Some(sentence));
    }
}
