//! Families of formulas whose automata are known to be small, and others that have to be refused in time.

use crate::words::proposition as p;
use fabius_program::Formula;
use fabius_program::ltl::{TooLarge, automaton, violations};

fn always(f: Formula) -> Formula {
    Formula::Always(Box::new(f))
}

fn eventually(f: Formula) -> Formula {
    Formula::Eventually(Box::new(f))
}

fn until(a: Formula, b: Formula) -> Formula {
    Formula::Until(Box::new(a), Box::new(b))
}

fn implies(a: Formula, b: Formula) -> Formula {
    Formula::Implies(Box::new(a), Box::new(b))
}

fn and(a: Formula, b: Formula) -> Formula {
    Formula::And(Box::new(a), Box::new(b))
}

fn all(list: impl Iterator<Item = Formula>) -> Formula {
    list.reduce(and).unwrap()
}

/// `[]<> p0 && … -> []<> pk`
fn fairness(k: u32) -> Formula {
    implies(all((0..k).map(|i| always(eventually(p(i))))), always(eventually(p(k))))
}

/// `([]<> p0 -> []<> p1) && …`
fn strong_fairness(k: u32) -> Formula {
    all((0..k).map(|i| implies(always(eventually(p(2 * i))), always(eventually(p(2 * i + 1))))))
}

/// `[] (p0 -> <> p1) && …`
fn response(k: u32) -> Formula {
    all((0..k).map(|i| always(implies(p(2 * i), eventually(p(2 * i + 1))))))
}

/// `p0 U (p1 U …)`
fn untils(k: u32) -> Formula {
    (1..k).fold(p(0), |f, i| until(p(i), f))
}

/// `<> (p0 && <> (p1 && …))`
fn sequence(k: u32) -> Formula {
    (0..k).fold(p(0), |f, i| eventually(and(p(i + 1), f)))
}

/// `[] (p0 -> X X … p1)`
fn delayed(k: u32) -> Formula {
    always(implies(p(0), (0..k).fold(p(1), |f, _| Formula::Next(Box::new(f)))))
}

fn conjunction_of_eventualities(k: u32) -> Formula {
    all((0..k).map(|i| eventually(p(i))))
}

#[test]
fn claims_of_families_grow_with_their_parameter() {
    for k in [1, 2, 3, 4, 6, 9] {
        let sizes = |make: fn(u32) -> Formula| violations(&make(k)).map(|a| a.states.len());
        let k = k as usize;
        assert_eq!(sizes(fairness), Ok(k + 2), "fairness {k}");
        assert!(sizes(strong_fairness).unwrap() <= 2 * k + 2, "strong fairness {k}");
        assert_eq!(sizes(response), Ok(k + 1), "response {k}");
        assert_eq!(sizes(sequence), Ok(k), "sequence {k}");
        assert_eq!(sizes(delayed), Ok(k + 2), "delayed {k}");
        assert_eq!(sizes(untils), Ok(k.max(2)), "untils {k}");
    }
}

#[test]
fn what_is_exponential_is_made_or_refused() {
    for k in [1, 2, 3] {
        let own = automaton(&conjunction_of_eventualities(k)).unwrap();
        assert_eq!(own.states.len(), 1 << k);
    }
    for make in [conjunction_of_eventualities, response, delayed] {
        assert_eq!(automaton(&make(20)), Err(TooLarge::Automaton));
    }
}
