//! Which parts of a condition make it false. As long as these parts keep their values, it is false whatever the others are.

use fabius_program::{BinaryOp, Expr, UnaryOp};

/// Which operand of which operator: a step from a condition into it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operand {
    AndLeft,
    AndRight,
    OrLeft,
    OrRight,
    Negated,
}

/// A part of a condition that makes it false; it has no operator in it of which only some operands do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecidingPart {
    /// Where it is in the condition, from the outside.
    pub path: Vec<Operand>,
    /// The part, as it could be written.
    pub text: String,
    /// Whether it is true: under a negation that makes the condition false.
    pub holds: bool,
    /// What it is made of: names and values.
    pub operands: Vec<(String, String)>,
}

impl DecidingPart {
    /// What it is, and which values make it so, such as ``b > 2` is false: b is 0`.
    pub fn sentence(&self) -> String {
        let truth = if self.holds { "true" } else { "false" };
        let says_nothing = matches!(&self.operands[..], [(name, _)] if *name == self.text) && !self.holds;
        let values: Vec<String> = self.operands.iter().map(|(name, value)| format!("{name} is {value}")).collect();
        let values = if says_nothing || values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
        format!("`{}` is {truth}{values}", self.text)
    }
}

/// A part, the way to it, and whether it is true.
pub(crate) type Part<'e> = (Vec<Operand>, &'e Expr, bool);

/// The parts that make a condition false (or true, if it `holds`), from left to right: of a false conjunction its false operands, of a
/// false disjunction all, and the other way round under a negation. `truth` tells whether a part is true, if it can be computed.
pub(crate) fn deciding<'e>(condition: &'e Expr, holds: bool, truth: &dyn Fn(&Expr) -> Option<bool>) -> Vec<Part<'e>> {
    let mut found = Vec::new();
    collect((condition, holds), &mut Vec::new(), truth, &mut found);
    found
}

fn collect<'e>(
    (expr, holds): (&'e Expr, bool),
    path: &mut Vec<Operand>,
    truth: &dyn Fn(&Expr) -> Option<bool>,
    found: &mut Vec<Part<'e>>,
) {
    let operands: Vec<(Operand, &Expr, bool)> = match expr {
        Expr::Unary(UnaryOp::Not, operand) => vec![(Operand::Negated, operand, !holds)],
        Expr::Binary(BinaryOp::And, left, right) => {
            vec![(Operand::AndLeft, left, holds), (Operand::AndRight, right, holds)]
        }
        Expr::Binary(BinaryOp::Or, left, right) => {
            vec![(Operand::OrLeft, left, holds), (Operand::OrRight, right, holds)]
        }
        _ => return found.push((path.clone(), expr, holds)),
    };
    for (step, operand, holds) in operands {
        if truth(operand) == Some(holds) {
            path.push(step);
            collect((operand, holds), path, truth, found);
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Conditions over parts that are numbered; each stands for itself once.
    fn conditions(depth: u32, seed: &mut u64, next: &mut i32) -> Expr {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut operand = |seed: &mut u64| Box::new(conditions(depth - 1, seed, next));
        match (*seed >> 33) % 4 {
            0 if depth > 0 => Expr::Binary(BinaryOp::And, operand(seed), operand(seed)),
            1 if depth > 0 => Expr::Binary(BinaryOp::Or, operand(seed), operand(seed)),
            2 if depth > 0 => Expr::Unary(UnaryOp::Not, operand(seed)),
            _ => {
                *next += 1;
                Expr::Constant(*next - 1)
            }
        }
    }

    /// The truth of a condition in which the parts in a set are true, one bit for each.
    fn truth(expr: &Expr, set: u32) -> bool {
        match expr {
            Expr::Constant(number) => set >> number & 1 == 1,
            Expr::Unary(_, operand) => !truth(operand, set),
            Expr::Binary(BinaryOp::And, left, right) => truth(left, set) && truth(right, set),
            Expr::Binary(_, left, right) => truth(left, set) || truth(right, set),
            other => panic!("{other:?}"),
        }
    }

    /// The parts of which a smallest change consists that makes the condition true: with any of them taken back, it is false.
    fn parts_of_smallest_changes(condition: &Expr, set: u32, count: i32) -> BTreeSet<i32> {
        let bits = |change: u32| (0..count).filter(move |bit| change >> bit & 1 == 1);
        let mends = |change: u32| truth(condition, set ^ change);
        let proper = |change: u32, other: u32| other != change && other & change == other;
        let all = 0..1u32 << count;
        let smallest =
            all.clone().filter(|&change| mends(change) && !all.clone().any(|o| proper(change, o) && mends(o)));
        smallest.flat_map(bits).collect()
    }

    #[test]
    fn the_parts_are_those_that_some_smallest_change_needs() {
        let mut seed = 7;
        let (mut several, mut negated) = (0, 0);
        for _ in 0..400 {
            let mut count = 0;
            let condition = conditions(3, &mut seed, &mut count);
            for set in 0..1u32 << count {
                if truth(&condition, set) {
                    continue;
                }
                let parts = deciding(&condition, false, &|part| Some(truth(part, set)));
                let named: BTreeSet<i32> = parts.iter().filter_map(|(_, part, _)| number(part)).collect();
                assert_eq!(named, parts_of_smallest_changes(&condition, set, count), "{condition:?} with {set:b}");
                for (path, part, holds) in &parts {
                    assert_eq!(truth(part, set), *holds);
                    assert_eq!(at(&condition, path), *part, "{path:?}");
                }
                // Whatever the others are, the condition stays false.
                let kept = named.iter().fold(0u32, |kept, number| kept | 1 << number);
                assert!((0..1u32 << count).all(|other| !truth(&condition, (set & kept) | (other & !kept))));
                several += u32::from(parts.len() > 1);
                negated += u32::from(parts.iter().any(|(.., holds)| *holds));
            }
        }
        assert!(several > 100 && negated > 100, "{several} {negated}");
    }

    fn number(part: &Expr) -> Option<i32> {
        if let Expr::Constant(number) = part { Some(*number) } else { None }
    }

    /// The part at the end of a path.
    fn at<'e>(condition: &'e Expr, path: &[Operand]) -> &'e Expr {
        path.iter().fold(condition, |expr, step| match (expr, step) {
            (Expr::Unary(UnaryOp::Not, operand), Operand::Negated) => operand,
            (Expr::Binary(BinaryOp::And, left, _), Operand::AndLeft) => left,
            (Expr::Binary(BinaryOp::And, _, right), Operand::AndRight) => right,
            (Expr::Binary(BinaryOp::Or, left, _), Operand::OrLeft) => left,
            (Expr::Binary(BinaryOp::Or, _, right), Operand::OrRight) => right,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn what_cannot_be_computed_decides_nothing() {
        let part = |number| Box::new(Expr::Constant(number));
        let condition = Expr::Binary(BinaryOp::And, part(0), part(1));
        let known = |expr: &Expr| if *expr == Expr::Constant(1) { None } else { Some(false) };
        let parts = deciding(&condition, false, &known);
        assert_eq!(parts.iter().map(|(_, part, _)| number(part)).collect::<Vec<_>>(), [Some(0)]);
    }
}
