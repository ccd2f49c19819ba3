//! Formulas as claims in a program.

use crate::words::{Lasso, Random, accepts, automaton_of_claim, holds, of_globals};
use fabius_base::Span;
use fabius_program::ltl::TooLarge;
use fabius_program::ltl::claim::NoClaim;
use fabius_program::validate::validate;
use fabius_program::{
    Action, BinaryOp, Enumeration, Expr, Formula, Initial, Kind, Place, Process, Program, Property, PropertyKind, Slot,
    Type, Variable, VariableId,
};

fn global(name: &str, kind: Kind) -> Variable {
    Variable {
        name: name.into(),
        ty: Type::unsigned(8, kind),
        dimensions: Vec::new(),
        initial: Initial::Zero,
        hidden: false,
        span: Span::default(),
    }
}

pub fn load(index: u32) -> Expr {
    Expr::Load(Place { slot: Slot::Global(VariableId(index)), indices: Vec::new() })
}

fn proposition(e: Expr) -> Box<Formula> {
    Box::new(Formula::Proposition(e))
}

fn equal(index: u32, value: i32) -> Expr {
    Expr::binary(BinaryOp::Equal, load(index), Expr::Constant(value))
}

/// A program without processes, with the globals `a`, `b`, `x` and `light`.
pub fn program(formula: Formula) -> Program {
    let colours = Enumeration { name: String::new(), constants: vec![(1, "red".into()), (2, "green".into())] };
    let span = Some(Span { start: 3, end: 9, ..Span::default() });
    let property = |name: &str, kind| Property::new(name, kind, span);
    Program {
        globals: vec![
            global("a", Kind::Boolean),
            global("b", Kind::Boolean),
            global("x", Kind::Number),
            global("light", Kind::Enum(fabius_program::EnumId(0))),
        ],
        enumerations: vec![colours],
        properties: vec![property("safety", PropertyKind::Safety), property("f", PropertyKind::Ltl(formula))],
        ..Program::default()
    }
}

fn claim(formula: Formula) -> Process {
    let (program, id) = program(formula).with_claim("f").unwrap();
    validate(&program).unwrap();
    program.process(id).clone()
}

fn texts(process: &Process) -> Vec<&str> {
    process.statements.iter().map(|s| s.text.as_str()).collect()
}

#[test]
fn a_claim_accepts_the_words_that_violate_the_formula() {
    for seed in 1..400_u64 {
        let formula = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).formula(seed % 8, 3);
        let (program, id) = program(formula.clone()).with_claim("f").unwrap();
        validate(&program).unwrap();
        let atoms: Vec<Expr> = (0..3).map(load).collect();
        let automaton = automaton_of_claim(&program, id, &atoms).unwrap();
        for word in (1..=3).flat_map(|length| Lasso::all(3, length)) {
            let violated = !holds(&formula, &word, &of_globals)[0];
            assert_eq!(accepts(&automaton, &word), violated, "{formula:?} on {:?}", word.letters);
        }
    }
}

#[test]
fn a_finite_violation_is_the_closing_brace() {
    let always = claim(Formula::Always(proposition(load(0))));
    let braces: Vec<_> = always.locations.iter().filter(|l| l.end).collect();
    assert_eq!((always.locations.len(), braces.len()), (2, 1));
    assert!(braces[0].edges.is_empty() && braces[0].accept && !always.locations[0].accept);
    // A violation that takes for ever is none.
    let eventually = claim(Formula::Eventually(proposition(load(0))));
    assert!(eventually.locations.iter().all(|l| !l.end) && eventually.locations[0].accept);
}

#[test]
fn a_claim_takes_a_step_before_its_closing_brace() {
    let process = claim(Formula::Proposition(Expr::Constant(0)));
    let entry = &process.locations[process.entry.0 as usize];
    assert!(!entry.end && entry.edges.len() == 1 && process.locations[1].end);
    assert_eq!(texts(&process), ["true"]);
}

#[test]
fn what_cannot_be_violated_has_a_claim_that_is_stuck() {
    let process = claim(Formula::Proposition(Expr::Constant(1)));
    assert_eq!(process.locations.len(), 1);
    assert!(process.locations[0].edges.is_empty() && !process.locations[0].end && !process.locations[0].accept);
}

#[test]
fn statements_read_as_a_person_would_write_them() {
    let not = |f: Box<Formula>| Box::new(Formula::Not(f));
    let both = Formula::And(proposition(equal(2, 1)), not(proposition(load(0))));
    assert_eq!(texts(&claim(Formula::Not(Box::new(both)))), ["x == 1 && !a"]);
    let light = Formula::Or(proposition(equal(3, 2)), proposition(load(1)));
    assert_eq!(texts(&claim(light)), ["light != green && !b"]);
    let sum = Expr::binary(BinaryOp::LessEqual, load(2), Expr::binary(BinaryOp::Add, load(0), Expr::Constant(1)));
    assert_eq!(texts(&claim(Formula::Proposition(sum))), ["x > (a + 1)"]);
    let complement = Expr::unary(fabius_program::UnaryOp::Complement, load(0));
    assert_eq!(texts(&claim(Formula::Proposition(complement))), ["!~a"]);
}

#[test]
fn what_may_fail_is_not_evaluated_where_the_text_does_not() {
    let element = Expr::binary(BinaryOp::Divide, Expr::Constant(6), load(2));
    let guarded = Expr::binary(BinaryOp::And, Expr::binary(BinaryOp::Greater, load(2), Expr::Constant(0)), element);
    let process = claim(Formula::Eventually(proposition(guarded.clone())));
    let whole = Action::Guard(Expr::unary(fabius_program::UnaryOp::Not, guarded));
    assert!(process.statements.iter().all(|s| s.action == whole), "{:?}", texts(&process));
}

#[test]
fn spans_and_numbers_are_in_place() {
    let formula = Formula::Until(proposition(load(0)), proposition(load(1)));
    let (first, _) = program(formula.clone()).with_claim("f").unwrap();
    let (second, id) = first.with_claim("f").unwrap();
    validate(&second).unwrap();
    assert_eq!((id.0, second.processes.len()), (1, 2));
    let numbers: Vec<u32> = second.processes.iter().flat_map(|p| &p.statements).map(|s| s.number).collect();
    let mut distinct = numbers.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(numbers.len(), distinct.len());
    assert!(second.process(id).statements.iter().all(|s| (s.span.start, s.span.end) == (3, 9)));
}

#[test]
fn only_temporal_properties_have_claims() {
    let program = program(Formula::Proposition(load(0)));
    assert!(matches!(program.with_claim("safety"), Err(NoClaim::NotTemporal { .. })));
    assert!(matches!(program.with_claim("nobody"), Err(NoClaim::Unknown { .. })));
}

#[test]
fn what_is_too_large_is_refused() {
    let many = (0..100).map(|value| Formula::Eventually(proposition(equal(2, value))));
    let all = many.reduce(|a, b| Formula::And(Box::new(a), Box::new(b))).unwrap();
    let refused = program(all).with_claim("f").unwrap_err();
    assert!(matches!(refused, NoClaim::TooLarge { why: TooLarge::Propositions, .. }), "{refused}");
    assert!(refused.finding().is_error() && refused.finding().span().is_some());
}
