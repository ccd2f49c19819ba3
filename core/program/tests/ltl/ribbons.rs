//! Where parts of formulas hold along a run, compared with the definition of satisfaction.

use crate::words::{Lasso, Random, holds, of_globals, proposition};
use fabius_base::Span;
use fabius_program::ltl::parts::apart;
use fabius_program::ltl::text::FormulaText;
use fabius_program::ltl::truth::{Ribbon, Truth, literals, ribbon};
use fabius_program::{Expr, Formula, Initial, Kind, Program, Property, PropertyKind, Type, Variable};

const PROPOSITIONS: u32 = 2;

fn boolean() -> Variable {
    Variable {
        name: String::new(),
        ty: Type::unsigned(1, Kind::Boolean),
        dimensions: Vec::new(),
        initial: Initial::Zero,
        hidden: false,
        span: Span::default(),
    }
}

fn program() -> Program {
    let global = |name: &str| Variable { name: name.to_owned(), ..boolean() };
    Program { globals: vec![global("p"), global("q")], ..Program::default() }
}

/// The value of each proposition at each position.
fn values(formula: &Formula, letters: &[u64]) -> Vec<Vec<Truth>> {
    let along = |e: &Expr| letters.iter().map(|letter| Some(of_globals(e, *letter))).collect();
    literals(formula).iter().map(along).collect()
}

fn of(formula: &Formula, letters: &[u64], back_to: Option<usize>) -> Option<Ribbon> {
    let program = program();
    let property = Property::new("p", PropertyKind::Safety, None);
    ribbon(&FormulaText::of(&program, &property), formula, &values(formula, letters), back_to)
}

/// All parts of a formula, by their texts.
fn parts(formula: &Formula) -> Vec<(String, Formula)> {
    let (program, whole) = (program(), apart(formula).unwrap());
    let property = Property::new("p", PropertyKind::Safety, None);
    let words = FormulaText::of(&program, &property);
    let (mut found, mut open) = (Vec::new(), vec![&whole]);
    while let Some(part) = open.pop() {
        found.push((words.text(part), part.clone()));
        let (a, b) = part.operands();
        open.extend(a.into_iter().chain(b));
    }
    found
}

fn random_letters(random: &mut Random, length: u64) -> Vec<u64> {
    (0..length).map(|_| random.below(1 << PROPOSITIONS)).collect()
}

#[test]
fn on_a_lasso_every_part_has_the_value_that_satisfaction_gives_it() {
    let mut random = Random(0x0b0b);
    let (mut cells, mut decided) = (0, 0);
    for round in 0..6_000 {
        let formula = random.formula(1 + round % 6, PROPOSITIONS);
        let length = 1 + random.below(6);
        let letters = random_letters(&mut random, length);
        let back_to = random.below(length) as usize;
        let Some(ribbon) = of(&formula, &letters, Some(back_to)) else { continue };
        let word = Lasso { letters, back_to };
        let known = parts(&formula);
        assert_eq!(ribbon.positions, word.letters.len());
        for row in &ribbon.rows {
            let (_, part) = known.iter().find(|(text, _)| *text == row.text).unwrap();
            let expected: Vec<Truth> = holds(part, &word, &of_globals).into_iter().map(Some).collect();
            assert_eq!(row.values, expected, "{formula:?}: {}", row.text);
            cells += expected.len();
        }
        if let Some((row, at)) = ribbon.decides {
            assert!(row < ribbon.rows.len() && at < ribbon.positions);
            decided += 1;
        }
    }
    assert!(cells > 50_000 && decided > 3_000, "{cells} {decided}");
}

#[test]
fn of_a_beginning_a_part_is_undetermined_exactly_if_continuations_differ() {
    let mut random = Random(0xface);
    let mut counts = [0; 3];
    for round in 0..800 {
        let formula = random.formula(1 + round % 4, PROPOSITIONS);
        let length = 1 + random.below(3);
        let letters = random_letters(&mut random, length);
        let Some(ribbon) = of(&formula, &letters, None) else { continue };
        let known = parts(&formula);
        for row in &ribbon.rows {
            let (_, part) = known.iter().find(|(text, _)| *text == row.text).unwrap();
            for at in 0..letters.len() {
                let (mut satisfied, mut violated) = (false, false);
                for rest in Lasso::all(PROPOSITIONS, 4) {
                    let whole = [&letters[at..], &rest.letters].concat();
                    let word = Lasso { letters: whole, back_to: letters.len() - at + rest.back_to };
                    let value = holds(part, &word, &of_globals)[0];
                    satisfied |= value;
                    violated |= !value;
                }
                let expected = if satisfied && violated { None } else { Some(satisfied) };
                assert_eq!(row.values[at], expected, "{formula:?}: {} at {at} of {letters:?}", row.text);
                counts[expected.map_or(2, usize::from)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 300), "{counts:?}");
}

#[test]
fn the_deciding_cell_is_where_the_formula_fails() {
    let (p, q) = (|| Box::new(proposition(0)), || Box::new(proposition(1)));
    // p at 1 is not answered: q never comes in the loop.
    let answered = Formula::Always(Box::new(Formula::Implies(p(), Box::new(Formula::Eventually(q())))));
    let found = of(&answered, &[0b10, 0b01, 0b00], Some(2)).unwrap();
    let texts: Vec<&str> = found.rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(texts, ["[] (p -> <> q)", "p -> <> q", "p", "<> q", "q"]);
    assert_eq!(found.decides, Some((3, 1)));
    let never = Formula::Always(Box::new(Formula::Not(p())));
    let found = of(&never, &[0, 0, 1], None).unwrap();
    assert_eq!((found.rows[0].values[0], found.decides), (Some(false), Some((1, 2))));
}
