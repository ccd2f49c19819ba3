//! Boolean functions of propositions, as reduced ordered binary decision diagrams (Bryant 1986).
//!
//! Two conditions are equal if and only if they are the same number, so that everything after them may
//! compare guards by `==`. The order of the variables is that in which propositions first occur.

use super::{Cube, TooLarge};
use rustc_hash::FxHashMap;

/// Number of propositions: a cube is two words of 64 bits. It bounds the depth of every recursion in here.
pub(super) const VARIABLES_MAX: usize = 64;
/// More nodes than any formula that a person writes needs.
const NODES_MAX: usize = 100_000;
/// A guard with more cubes than this can be neither read nor evaluated quickly.
const CUBES_MAX: usize = 256;

/// A boolean function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Condition(u32);

/// Never true.
pub(super) const FALSE: Condition = Condition(0);
/// Always true.
pub(super) const TRUE: Condition = Condition(1);

/// If the variable holds, then `high`, else `low`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Condition,
    high: Condition,
}

/// All functions that were made.
pub(super) struct Conditions {
    nodes: Vec<Node>,
    numbers: Table<Node>,
    conjunctions: Table<(Condition, Condition)>,
    negations: Table<Condition>,
}

type Table<K> = FxHashMap<K, Condition>;

impl Conditions {
    pub(super) fn new() -> Self {
        let leaf = |value| Node { variable: u32::MAX, low: value, high: value };
        Self {
            nodes: vec![leaf(FALSE), leaf(TRUE)],
            numbers: Table::default(),
            conjunctions: Table::default(),
            negations: Table::default(),
        }
    }

    fn at(&self, condition: Condition) -> Node {
        self.nodes[condition.0 as usize]
    }

    fn node(&mut self, variable: u32, low: Condition, high: Condition) -> Result<Condition, TooLarge> {
        if low == high {
            return Ok(low);
        }
        let node = Node { variable, low, high };
        if let Some(&known) = self.numbers.get(&node) {
            return Ok(known);
        }
        if self.nodes.len() >= NODES_MAX {
            return Err(TooLarge::Guards);
        }
        let number = Condition(self.nodes.len() as u32);
        self.nodes.push(node);
        self.numbers.insert(node, number);
        Ok(number)
    }

    /// The proposition with this number.
    pub(super) fn variable(&mut self, variable: usize) -> Result<Condition, TooLarge> {
        if variable >= VARIABLES_MAX {
            return Err(TooLarge::Propositions);
        }
        self.node(variable as u32, FALSE, TRUE)
    }

    pub(super) fn not(&mut self, a: Condition) -> Result<Condition, TooLarge> {
        match a {
            FALSE => return Ok(TRUE),
            TRUE => return Ok(FALSE),
            _ => {}
        }
        if let Some(&known) = self.negations.get(&a) {
            return Ok(known);
        }
        let Node { variable, low, high } = self.at(a);
        let (low, high) = (self.not(low)?, self.not(high)?);
        let result = self.node(variable, low, high)?;
        self.negations.insert(a, result);
        self.negations.insert(result, a);
        Ok(result)
    }

    pub(super) fn and(&mut self, a: Condition, b: Condition) -> Result<Condition, TooLarge> {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        match (a, b) {
            (FALSE, _) => return Ok(FALSE),
            (TRUE, _) => return Ok(b),
            _ if a == b => return Ok(a),
            _ => {}
        }
        if let Some(&known) = self.conjunctions.get(&(a, b)) {
            return Ok(known);
        }
        let (x, y) = (self.at(a), self.at(b));
        let variable = x.variable.min(y.variable);
        let (x, y) = (cofactors(x, a, variable), cofactors(y, b, variable));
        let low = self.and(x.0, y.0)?;
        let high = self.and(x.1, y.1)?;
        let result = self.node(variable, low, high)?;
        self.conjunctions.insert((a, b), result);
        Ok(result)
    }

    pub(super) fn or(&mut self, a: Condition, b: Condition) -> Result<Condition, TooLarge> {
        let (a, b) = (self.not(a)?, self.not(b)?);
        let neither = self.and(a, b)?;
        self.not(neither)
    }

    /// Both or neither.
    pub(super) fn equivalent(&mut self, a: Condition, b: Condition) -> Result<Condition, TooLarge> {
        let (not_a, not_b) = (self.not(a)?, self.not(b)?);
        let both = self.and(a, b)?;
        let neither = self.and(not_a, not_b)?;
        self.or(both, neither)
    }

    /// Whether `b` holds wherever `a` does.
    pub(super) fn implies(&mut self, a: Condition, b: Condition) -> Result<bool, TooLarge> {
        if a == b || a == FALSE || b == TRUE {
            return Ok(true);
        }
        let b = self.not(b)?;
        Ok(self.and(a, b)? == FALSE)
    }

    /// An irredundant sum of products (Minato 1993; Morreale 1970).
    pub(super) fn cubes(&mut self, condition: Condition) -> Result<Vec<Cube>, TooLarge> {
        let (cubes, _) = self.between(condition, condition)?;
        Ok(cubes)
    }

    /// Cubes whose sum lies between `least` and `most`, and that sum.
    fn between(&mut self, least: Condition, most: Condition) -> Result<(Vec<Cube>, Condition), TooLarge> {
        if least == FALSE {
            return Ok((Vec::new(), FALSE));
        }
        if most == TRUE {
            return Ok((vec![Cube::default()], TRUE));
        }
        let (x, y) = (self.at(least), self.at(most));
        let variable = x.variable.min(y.variable);
        let (x, y) = (cofactors(x, least, variable), cofactors(y, most, variable));
        // What only a cube with the literal can cover.
        let negated = self.not(y.1)?;
        let only_low = self.and(x.0, negated)?;
        let negated = self.not(y.0)?;
        let only_high = self.and(x.1, negated)?;
        let (mut low_cubes, low) = self.between(only_low, y.0)?;
        let (mut high_cubes, high) = self.between(only_high, y.1)?;
        // What is left can be covered without it.
        let negated = self.not(low)?;
        let rest_low = self.and(x.0, negated)?;
        let negated = self.not(high)?;
        let rest_high = self.and(x.1, negated)?;
        let rest = self.or(rest_low, rest_high)?;
        let both = self.and(y.0, y.1)?;
        let (rest_cubes, rest) = self.between(rest, both)?;
        high_cubes.iter_mut().for_each(|cube| cube.positive |= 1 << variable);
        low_cubes.iter_mut().for_each(|cube| cube.negative |= 1 << variable);
        let cubes = [high_cubes, low_cubes, rest_cubes].concat();
        if cubes.len() > CUBES_MAX {
            return Err(TooLarge::Guards);
        }
        let (low, high) = (self.or(low, rest)?, self.or(high, rest)?);
        Ok((cubes, self.node(variable, low, high)?))
    }
}

/// The function where the variable is false, and where it is true.
fn cofactors(node: Node, itself: Condition, variable: u32) -> (Condition, Condition) {
    if node.variable == variable { (node.low, node.high) } else { (itself, itself) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Every function of three variables, by its truth table, is rebuilt from its own cubes.
    #[test]
    fn cubes_mean_the_same() {
        let mut all = Conditions::new();
        let valuations: Vec<u64> = (0..8).collect();
        for table in 0_u32..256 {
            let mut condition = FALSE;
            for &valuation in valuations.iter().filter(|v| table >> **v & 1 == 1) {
                let mut minterm = TRUE;
                for variable in 0..3 {
                    let mut literal = all.variable(variable).unwrap();
                    if valuation >> variable & 1 == 0 {
                        literal = all.not(literal).unwrap();
                    }
                    minterm = all.and(minterm, literal).unwrap();
                }
                condition = all.or(condition, minterm).unwrap();
            }
            let cubes = all.cubes(condition).unwrap();
            for &valuation in &valuations {
                let covered = cubes.iter().any(|cube| cube.covers(valuation));
                assert_eq!(covered, table >> valuation & 1 == 1, "{table:08b} at {valuation:03b}");
            }
            for left_out in 0..cubes.len() {
                let rest = |v: u64| cubes.iter().enumerate().any(|(i, c)| i != left_out && c.covers(v));
                assert!(valuations.iter().any(|&v| cubes[left_out].covers(v) && !rest(v)), "a cube too many");
            }
        }
    }

    #[test]
    fn too_many_propositions_are_refused() {
        assert_eq!(Conditions::new().variable(VARIABLES_MAX), Err(TooLarge::Propositions));
    }
}
