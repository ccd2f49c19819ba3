//! Where a formula and its parts hold along a run, by the definition of satisfaction.
//!
//! Of a run that never ends (a lasso), each part is true or false at each position. Of the beginning of a run, a part is true if
//! every continuation satisfies it, false if none does, and else undetermined.

use super::parts::{apart, value_of};
use super::sentence::sentence;
use super::strengthen::accepts_something;
use super::text::FormulaText;
use super::{Automaton, automaton, violations};
use crate::{Expr, Formula, Place, Slot, VariableId};

/// More parts of a formula are not told.
const ROWS_MAX: usize = 10;

/// A value at a position; `None` where it is undetermined.
pub type Truth = Option<bool>;

/// A formula and its main parts along a run; or the places of a claim and its conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ribbon {
    /// It is about a claim: to which place the claim went when it looked at the state, and whether its conditions are true.
    pub is_claim: bool,
    /// What the formula says, where that is easier to read than the formula.
    pub sentence: Option<String>,
    /// The formula first, then its parts, each before its own parts.
    pub rows: Vec<Row>,
    /// Number of positions.
    pub positions: usize,
    /// The position to which the run goes back after the last one; `None` of the beginning of a run.
    pub back_to: Option<usize>,
    /// The row and the position that decide the value of the formula at the first position, if that is one place.
    pub decides: Option<(usize, usize)>,
}

impl Ribbon {
    /// The positions at which something changes, the loop begins, or the place is that decides: a column for each of them shows everything.
    pub fn columns(&self) -> Vec<usize> {
        let decisive = self.decides.map(|(_, at)| at);
        let is_new = |at: &usize| {
            let at = *at;
            at == 0
                || self.back_to == Some(at)
                || decisive.is_some_and(|decisive| at == decisive || at == decisive + 1)
                || self.rows.iter().any(|row| row.values[at] != row.values[at - 1])
        };
        (0..self.positions).filter(is_new).collect()
    }
}

/// A part of a formula along a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Its text.
    pub text: String,
    /// How deep it is in the formula: 0 of the formula itself.
    pub depth: usize,
    /// Whether it is about one state.
    pub is_proposition: bool,
    /// Its value at each position.
    pub values: Vec<Truth>,
}

/// The propositions of a formula that [`ribbon`] needs the values of.
pub fn literals(formula: &Formula) -> Vec<Expr> {
    let whole = apart(formula);
    whole.iter().flat_map(Formula::propositions).filter(|expr| expr.constant().is_none()).cloned().collect()
}

/// A formula along a run. `values` has the values of [`literals`] at each position, in their order. `None` if there is no position, or the
/// formula is larger than anything that a person writes.
pub fn ribbon(
    words: &FormulaText<'_>,
    formula: &Formula,
    values: &[Vec<Truth>],
    back_to: Option<usize>,
) -> Option<Ribbon> {
    let whole = apart(formula)?;
    let positions = values.iter().map(Vec::len).min()?;
    if positions == 0 || back_to.is_some_and(|back| positions <= back) {
        return None;
    }
    let run = Run { literals: literals(formula), values, positions, back_to };
    let parts = parts(words, &whole);
    let along: Vec<(&Formula, Vec<Truth>)> = parts.iter().map(|(part, _)| (*part, run.truth(part))).collect();
    let row_of = |part: &Formula| along.iter().position(|(known, _)| *known == part);
    let (mut decides, mut reason) = (None, run.truth(&whole)[0].map(|_| (&whole, 0)));
    while let Some((part, at)) = reason {
        // What only negates another, and what lies very deep, has no row.
        decides = row_of(part).map(|row| (row, at)).or(decides);
        reason = if words.is_named(part) { None } else { run.reason(part, at) };
    }
    let rows = parts.iter().zip(&along).map(|((part, depth), (_, values))| Row {
        text: words.text(part),
        depth: *depth,
        is_proposition: matches!(part, Formula::Proposition(_)) || words.is_named(part),
        values: values.clone(),
    });
    let sentence = sentence(words, formula);
    Some(Ribbon { is_claim: false, sentence, rows: rows.collect(), positions, back_to, decides })
}

/// The parts that are told: the outermost ones, each before its own parts, with their depths. What only negates another, and what a name stands for, is
/// not taken apart.
fn parts<'f>(words: &FormulaText<'_>, whole: &'f Formula) -> Vec<(&'f Formula, usize)> {
    let mut found: Vec<(&Formula, usize)> = Vec::new();
    let mut open = vec![(whole, 0)];
    while let Some((part, depth)) = open.pop() {
        let negates = depth != 0 && matches!(part, Formula::Not(_));
        if !negates && value_of(part).is_none() && !found.iter().any(|(known, _)| *known == part) {
            found.push((part, depth));
        }
        if !words.is_named(part) {
            let (a, b) = part.operands();
            let below = if negates { depth } else { depth + 1 };
            open.extend(b.into_iter().chain(a).map(|operand| (operand, below)));
        }
    }
    let mut deepest = usize::MAX;
    while ROWS_MAX < found.iter().filter(|(_, depth)| *depth < deepest).count() && 1 < deepest {
        deepest = found.iter().map(|(_, depth)| *depth).filter(|depth| *depth < deepest).max().unwrap_or(1);
    }
    found.retain(|(_, depth)| *depth < deepest);
    found.truncate(ROWS_MAX);
    found
}

/// The values of propositions along a run.
struct Run<'a> {
    literals: Vec<Expr>,
    values: &'a [Vec<Truth>],
    positions: usize,
    back_to: Option<usize>,
}

impl Run<'_> {
    /// The value of a formula at each position.
    fn truth(&self, formula: &Formula) -> Vec<Truth> {
        let by_rules = self.by_rules(formula);
        match self.back_to {
            Some(_) => by_rules,
            // Rules do not see that two parts together leave no way on.
            None => self.of_prefix(formula).unwrap_or(by_rules),
        }
    }

    fn literal(&self, expr: &Expr) -> Vec<Truth> {
        let known = self.literals.iter().position(|known| known == expr);
        known.map_or_else(|| vec![None; self.positions], |index| self.values[index][..self.positions].to_vec())
    }

    fn next(&self, at: usize) -> Option<usize> {
        if at + 1 < self.positions { Some(at + 1) } else { self.back_to }
    }

    /// By the rules of satisfaction, with what is undetermined as a third value (S. C. Kleene).
    fn by_rules(&self, formula: &Formula) -> Vec<Truth> {
        let (a, b) = formula.operands();
        let (a, b) = (a.map(|a| self.by_rules(a)), b.map(|b| self.by_rules(b)));
        let no = || vec![Some(false); self.positions];
        let yes = || vec![Some(true); self.positions];
        let each = |a: &[Truth], b: &[Truth], f: fn(Truth, Truth) -> Truth| -> Vec<Truth> {
            a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
        };
        match (formula, a, b) {
            (Formula::Proposition(expr), ..) => match expr.constant() {
                Some(value) => vec![Some(value != 0); self.positions],
                None => self.literal(expr),
            },
            (Formula::Not(_), Some(a), _) => a.into_iter().map(not).collect(),
            (Formula::And(..), Some(a), Some(b)) => each(&a, &b, and),
            (Formula::Or(..), Some(a), Some(b)) => each(&a, &b, or),
            (Formula::Implies(..), Some(a), Some(b)) => each(&a, &b, |a, b| or(not(a), b)),
            (Formula::Equivalent(..), Some(a), Some(b)) => each(&a, &b, |a, b| Some(a? == b?)),
            (Formula::Next(_), Some(a), _) => {
                (0..self.positions).map(|at| self.next(at).and_then(|next| a[next])).collect()
            }
            // x = now || stay && next x
            (Formula::Eventually(_), Some(a), _) => self.fixed(&a, &yes(), false),
            (Formula::Always(_), Some(a), _) => self.fixed(&no(), &a, true),
            (Formula::Until(..), Some(a), Some(b)) => self.fixed(&b, &a, false),
            (Formula::WeakUntil(..), Some(a), Some(b)) => self.fixed(&b, &a, true),
            (Formula::Release(..), Some(a), Some(b)) => self.fixed(&each(&a, &b, and), &b, true),
            _ => vec![None; self.positions],
        }
    }

    /// The least or greatest solution of `x = now || stay && next x`; behind the end of a beginning, nothing is known.
    fn fixed(&self, now: &[Truth], stay: &[Truth], greatest: bool) -> Vec<Truth> {
        let mut x = vec![Some(greatest); self.positions];
        loop {
            let before = x.clone();
            for at in (0..self.positions).rev() {
                let next = self.next(at).and_then(|next| x[next]);
                x[at] = or(now[at], and(stay[at], next));
            }
            if x == before {
                return x;
            }
        }
    }

    /// The value at each position of a beginning: whether some continuation satisfies the formula, and whether some violates it.
    fn of_prefix(&self, formula: &Formula) -> Option<Vec<Truth>> {
        let formula = self.over_numbers(formula.clone());
        let satisfied = self.possible(&automaton(&formula).ok()?)?;
        let violated = self.possible(&violations(&formula).ok()?)?;
        let value = |(satisfied, violated): (bool, bool)| if satisfied == violated { None } else { Some(satisfied) };
        Some(satisfied.into_iter().zip(violated).map(value).collect())
    }

    /// The formula over variables with the numbers of its literals, so that automata do not take these apart.
    fn over_numbers(&self, mut formula: Formula) -> Formula {
        let mut open = vec![&mut formula];
        while let Some(here) = open.pop() {
            if let Formula::Proposition(expr) = here
                && let Some(index) = self.literals.iter().position(|known| known == expr)
            {
                *expr = Expr::Load(Place { slot: Slot::Global(VariableId(index as u32)), indices: Vec::new() });
            }
            let (a, b) = here.operands_mut();
            open.extend(a.into_iter().chain(b));
        }
        formula
    }

    /// From which positions on the rest of the beginning has a continuation that an automaton accepts; `None` if some
    /// proposition has no value.
    fn possible(&self, automaton: &Automaton) -> Option<Vec<bool>> {
        let number = |expr: &Expr| match expr {
            Expr::Load(Place { slot: Slot::Global(id), .. }) => Some(id.0 as usize),
            _ => None,
        };
        let numbers: Option<Vec<usize>> = automaton.propositions.iter().map(number).collect();
        let numbers = numbers?;
        let mut live = accepts_something(automaton);
        let mut found = vec![false; self.positions];
        for at in (0..self.positions).rev() {
            let mut letter = 0;
            for (bit, index) in numbers.iter().enumerate() {
                letter |= u64::from(self.values.get(*index)?[at]?) << bit;
            }
            live = automaton
                .states
                .iter()
                .map(|state| state.transitions.iter().any(|t| t.admits(letter) && live[t.target]))
                .collect();
            found[at] = live[0];
        }
        Some(found)
    }

    /// The operand and the position that alone give a formula its value, if there is one such place.
    fn reason<'f>(&self, formula: &'f Formula, at: usize) -> Option<(&'f Formula, usize)> {
        let value = self.truth(formula)[at]?;
        let is = |part: &Formula, at: usize, value: bool| self.truth(part)[at] == Some(value);
        let either = |a: &'f Formula, b: &'f Formula, wanted: bool| {
            [a, b].into_iter().find(|part| is(part, at, wanted)).map(|part| (part, at))
        };
        let first = |part: &'f Formula, wanted: bool| {
            let truth = self.truth(part);
            self.positions_from(at).into_iter().find(|at| truth[*at] == Some(wanted)).map(|at| (part, at))
        };
        let here = |part: &'f Formula| Some((part, at));
        match (formula, value) {
            (Formula::Proposition(_), _) => None,
            (Formula::Not(a), _) => here(a),
            (Formula::And(a, b), false) => either(a, b, false),
            (Formula::Or(a, b), true) => either(a, b, true),
            (Formula::Implies(_, b), false) => here(b),
            (Formula::Implies(a, b), true) if is(a, at, false) => here(a).filter(|_| !is(b, at, true)),
            (Formula::Implies(_, b), true) => here(b),
            (Formula::Next(a), _) => self.next(at).map(|next| (&**a, next)),
            (Formula::Always(a), false) => first(a, false),
            (Formula::Eventually(a), true) => first(a, true),
            (Formula::Until(_, b), true) => first(b, true),
            // `a` ends before `b` comes.
            (Formula::Until(a, _) | Formula::WeakUntil(a, _), false) => first(a, false),
            (Formula::Release(_, b), false) => first(b, false),
            _ => None,
        }
    }

    /// The positions from one on, each once, in the order of the run.
    fn positions_from(&self, from: usize) -> Vec<usize> {
        let again = self.back_to.map_or(0..0, |back| back..from.max(back));
        (from..self.positions).chain(again).collect()
    }
}

fn not(a: Truth) -> Truth {
    a.map(|a| !a)
}

fn and(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Truth, b: Truth) -> Truth {
    not(and(not(a), not(b)))
}
