//! Formulas in negation normal form, each stored once, and the rules that make them smaller.
//!
//! Whatever has no temporal operator is one boolean function of the propositions. The rules are those of
//! Somenzi and Bloem (*Efficient Büchi automata from LTL formulae*, CAV 2000, section 3) and of Etessami and
//! Holzmann (*Optimizing Büchi automata*, CONCUR 2000, section 3: formulas that are closed under adding or
//! removing a prefix, there *pure eventuality* and *pure universality*). Each rule is written once: the rule
//! for the dual operator is got by negating before and after.

use super::TooLarge;
use super::boolean::{Condition, Conditions, FALSE, TRUE};
use std::collections::HashMap;

/// Every recursion in here goes down a formula, so that it is at most this deep (a few times).
const DEPTH_MAX: u32 = 150;
/// More subformulas than any formula that a person writes has.
const FORMULAS_MAX: usize = 20_000;

/// A formula.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Id(u32);

/// What a formula is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// Without temporal operator.
    State(Condition),
    /// At least two, none of them an `And`, at most one a `State`; sorted.
    And(Vec<Id>),
    /// At least two, none of them an `Or`, at most one a `State`; sorted.
    Or(Vec<Id>),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// The formula that always holds.
pub(super) const TOP: Id = Id(1);
/// The formula that never holds.
pub(super) const BOTTOM: Id = Id(0);

/// All formulas that were made.
pub(super) struct Formulas {
    pub(super) conditions: Conditions,
    nodes: Vec<Node>,
    depths: Vec<u32>,
    numbers: HashMap<Node, Id>,
    negations: HashMap<Id, Id>,
    implications: HashMap<(Id, Id), bool>,
}

type Made = Result<Id, TooLarge>;

impl Formulas {
    pub(super) fn new() -> Self {
        let nodes = vec![Node::State(FALSE), Node::State(TRUE)];
        let numbers = nodes.iter().cloned().zip([BOTTOM, TOP]).collect();
        Self {
            conditions: Conditions::new(),
            depths: vec![0; nodes.len()],
            nodes,
            numbers,
            negations: HashMap::from([(BOTTOM, TOP), (TOP, BOTTOM)]),
            implications: HashMap::new(),
        }
    }

    pub(super) fn node(&self, f: Id) -> &Node {
        &self.nodes[f.0 as usize]
    }

    /// The formulas whose conjunction it is; none if it always holds.
    pub(super) fn conjuncts(&self, f: Id) -> Vec<Id> {
        match self.node(f) {
            Node::And(list) => list.clone(),
            Node::State(TRUE) => Vec::new(),
            _ => vec![f],
        }
    }

    /// The conditions `p` of all that says `[]<> p`, and the rest, of which the formula is the conjunction.
    pub(super) fn recurrent(&mut self, f: Id) -> Result<(Vec<Condition>, Id), TooLarge> {
        let (mut recurrent, mut rest) = (Vec::new(), Vec::new());
        for part in self.conjuncts(f) {
            let Node::Release(BOTTOM, inner) = *self.node(part) else {
                rest.push(part);
                continue;
            };
            let mut others = Vec::new();
            for f in self.conjuncts(inner) {
                match self.eventually_state(f) {
                    Some(condition) => recurrent.push(condition),
                    None => others.push(f),
                }
            }
            let others = self.and(others)?;
            rest.push(self.release(BOTTOM, others)?);
        }
        Ok((recurrent, self.and(rest)?))
    }

    /// `p`, if it is `<> p` for a condition on states.
    fn eventually_state(&self, f: Id) -> Option<Condition> {
        let Node::Until(TOP, p) = *self.node(f) else { return None };
        match *self.node(p) {
            Node::State(condition) => Some(condition),
            _ => None,
        }
    }

    fn intern(&mut self, node: Node) -> Made {
        if let Some(&known) = self.numbers.get(&node) {
            return Ok(known);
        }
        let depth = |f: &Id| self.depths[f.0 as usize];
        let depth = match &node {
            Node::State(_) => 0,
            Node::And(list) | Node::Or(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
            Node::Next(f) => 1 + depth(f),
            Node::Until(f, g) | Node::Release(f, g) => 1 + depth(f).max(depth(g)),
        };
        if depth > DEPTH_MAX || self.nodes.len() >= FORMULAS_MAX {
            return Err(TooLarge::Formula);
        }
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.depths.push(depth);
        self.numbers.insert(node, id);
        Ok(id)
    }

    pub(super) fn state(&mut self, condition: Condition) -> Made {
        self.intern(Node::State(condition))
    }

    /// Negation: each operator by its dual.
    pub(super) fn not(&mut self, f: Id) -> Made {
        if let Some(&known) = self.negations.get(&f) {
            return Ok(known);
        }
        let node = match self.node(f).clone() {
            Node::State(condition) => Node::State(self.conditions.not(condition)?),
            Node::And(list) => Node::Or(self.all_not(list)?),
            Node::Or(list) => Node::And(self.all_not(list)?),
            Node::Next(f) => Node::Next(self.not(f)?),
            Node::Until(f, g) => Node::Release(self.not(f)?, self.not(g)?),
            Node::Release(f, g) => Node::Until(self.not(f)?, self.not(g)?),
        };
        let result = self.intern(node)?;
        self.negations.insert(f, result);
        self.negations.insert(result, f);
        Ok(result)
    }

    fn all_not(&mut self, list: Vec<Id>) -> Result<Vec<Id>, TooLarge> {
        let mut negated = list.into_iter().map(|f| self.not(f)).collect::<Result<Vec<_>, _>>()?;
        negated.sort_unstable();
        Ok(negated)
    }

    /// `X f`.
    pub(super) fn next(&mut self, f: Id) -> Made {
        if self.is_state_constant(f) || self.is_eventual(f)? && self.is_universal(f)? {
            return Ok(f);
        }
        self.intern(Node::Next(f))
    }

    pub(super) fn or(&mut self, list: Vec<Id>) -> Made {
        let negated = self.all_not(list)?;
        let f = self.and(negated)?;
        self.not(f)
    }

    /// `f R g`, which Spin writes `f V g`.
    pub(super) fn release(&mut self, f: Id, g: Id) -> Made {
        let (f, g) = (self.not(f)?, self.not(g)?);
        let h = self.until(f, g)?;
        self.not(h)
    }

    fn is_state_constant(&self, f: Id) -> bool {
        f == TOP || f == BOTTOM
    }

    /// Whether it holds of every word of which it holds a suffix (a *pure eventuality*), by its shape.
    fn is_eventual(&self, f: Id) -> Result<bool, TooLarge> {
        Ok(match self.node(f) {
            Node::State(condition) => matches!(*condition, TRUE | FALSE),
            Node::And(list) | Node::Or(list) => {
                for &g in list {
                    if !self.is_eventual(g)? {
                        return Ok(false);
                    }
                }
                true
            }
            Node::Next(g) => self.is_eventual(*g)?,
            Node::Until(f, g) => *f == TOP || self.is_eventual(*g)?,
            Node::Release(f, g) => self.is_eventual(*f)? && self.is_eventual(*g)?,
        })
    }

    /// Whether it holds of every suffix of a word of which it holds (a *pure universality*), by its shape.
    fn is_universal(&mut self, f: Id) -> Result<bool, TooLarge> {
        let negated = self.not(f)?;
        self.is_eventual(negated)
    }

    /// Whether its truth does not depend on any finite beginning.
    fn is_suspendable(&mut self, f: Id) -> Result<bool, TooLarge> {
        Ok(self.is_eventual(f)? && self.is_universal(f)?)
    }
}

/// Conjunctions.
impl Formulas {
    pub(super) fn and(&mut self, list: Vec<Id>) -> Made {
        let mut parts: Vec<Id> = Vec::new();
        let mut pending = list;
        pending.reverse();
        while let Some(f) = pending.pop() {
            if let Node::And(list) = self.node(f) {
                pending.extend(list.iter().rev());
                continue;
            }
            if !self.join(&mut parts, &mut pending, f)? {
                return Ok(BOTTOM);
            }
        }
        parts.sort_unstable();
        match parts[..] {
            [] => Ok(TOP),
            [one] => Ok(one),
            _ => self.intern(Node::And(parts)),
        }
    }

    /// Adds a conjunct; what it becomes together with another one is pending. `false`: nothing satisfies both.
    fn join(&mut self, parts: &mut Vec<Id>, pending: &mut Vec<Id>, f: Id) -> Result<bool, TooLarge> {
        if f == TOP {
            return Ok(true);
        }
        let negated = self.not(f)?;
        let mut index = 0;
        while index < parts.len() {
            let g = parts[index];
            if self.implies(g, f)? {
                return Ok(true);
            }
            if self.implies(g, negated)? {
                return Ok(false);
            }
            if self.implies(f, g)? {
                parts.remove(index);
                continue;
            }
            if let Some(both) = self.both(f, g)? {
                parts.remove(index);
                pending.push(both);
                return Ok(true);
            }
            index += 1;
        }
        parts.push(f);
        Ok(f != BOTTOM)
    }

    /// One formula for two, if there is a simple one.
    fn both(&mut self, f: Id, g: Id) -> Result<Option<Id>, TooLarge> {
        Ok(match (self.node(f).clone(), self.node(g).clone()) {
            (Node::State(a), Node::State(b)) => {
                let condition = self.conditions.and(a, b)?;
                Some(self.state(condition)?)
            }
            // X a && X b = X (a && b)
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.and(vec![a, b])?;
                Some(self.next(inner)?)
            }
            // (a U c) && (b U c) = (a && b) U c
            (Node::Until(a, c), Node::Until(b, d)) if c == d => {
                let first = self.and(vec![a, b])?;
                Some(self.until(first, c)?)
            }
            // (a R b) && (a R c) = a R (b && c)
            (Node::Release(a, b), Node::Release(c, d)) if a == c => {
                let second = self.and(vec![b, d])?;
                Some(self.release(a, second)?)
            }
            // F G a && F G b = F G (a && b)
            (Node::Until(TOP, a), Node::Until(TOP, b)) => match (self.node(a).clone(), self.node(b).clone()) {
                (Node::Release(BOTTOM, a), Node::Release(BOTTOM, b)) => {
                    let inner = self.and(vec![a, b])?;
                    let always = self.release(BOTTOM, inner)?;
                    Some(self.until(TOP, always)?)
                }
                _ => None,
            },
            _ => None,
        })
    }
}

/// Until.
impl Formulas {
    /// `f U g`.
    pub(super) fn until(&mut self, f: Id, g: Id) -> Made {
        let f = self.while_not(f, g)?;
        if f == BOTTOM || self.is_state_constant(g) || self.is_eventual(g)? {
            return Ok(g);
        }
        if let Some(result) = self.until_by_first(f, g)? {
            return Ok(result);
        }
        match self.node(g).clone() {
            // a U (b U c) = b U c if a implies b; F (b U c) = F c
            Node::Until(_, c) if f == TOP => return self.until(TOP, c),
            Node::Until(b, _) if self.implies(f, b)? => return Ok(g),
            // a U (b || e) = (a U b) || e if e is a pure eventuality
            Node::Or(list) => {
                let (eventual, rest) = self.part(list, |all, f| all.is_eventual(f))?;
                if !eventual.is_empty() {
                    let rest = self.or(rest)?;
                    let until = self.until(f, rest)?;
                    return self.or([eventual, vec![until]].concat());
                }
            }
            // a U (b && s) = (a U b) && s if s does not depend on any finite beginning
            Node::And(list) => {
                let (kept, rest) = self.part(list, Self::is_suspendable)?;
                if !kept.is_empty() {
                    let rest = self.and(rest)?;
                    let until = self.until(f, rest)?;
                    return self.and([kept, vec![until]].concat());
                }
            }
            // F G (a || s) and its like, as the dual of G F
            Node::Release(BOTTOM, a) if f == TOP => return self.eventually_always(a),
            _ => {}
        }
        self.intern(Node::Until(f, g))
    }

    /// What `f` may become in `f U g`, where it matters only as long as `g` does not hold.
    fn while_not(&mut self, f: Id, g: Id) -> Made {
        let negated = self.not(g)?;
        if self.implies(f, g)? {
            return Ok(BOTTOM);
        }
        if self.implies(negated, f)? {
            return Ok(TOP);
        }
        match self.node(f).clone() {
            Node::And(list) => {
                let (_, rest) = self.part(list, |all, part| all.implies(negated, part))?;
                self.and(rest)
            }
            Node::Or(list) => {
                let (_, rest) = self.part(list, |all, part| all.implies(part, g))?;
                self.or(rest)
            }
            _ => Ok(f),
        }
    }

    fn until_by_first(&mut self, f: Id, g: Id) -> Result<Option<Id>, TooLarge> {
        Ok(match (self.node(f).clone(), self.node(g).clone()) {
            // X a U X b = X (a U b)
            (Node::Next(a), Node::Next(b)) => {
                let until = self.until(a, b)?;
                Some(self.next(until)?)
            }
            (Node::State(TRUE), Node::Next(b)) => {
                let until = self.until(TOP, b)?;
                Some(self.next(until)?)
            }
            // (a U b) U c = b U c if a implies c; = (a U b) || c if b implies c
            (Node::Until(a, b), _) if self.implies(a, g)? => Some(self.until(b, g)?),
            (Node::Until(_, b), _) if self.implies(b, g)? => Some(self.or(vec![f, g])?),
            _ => None,
        })
    }

    /// `F G a`; inside, a pure eventuality or universality can be moved out of a disjunction:
    /// `F G (b || u) = F G b || F u` and `F G (b || e) = F G b || G e`.
    fn eventually_always(&mut self, a: Id) -> Made {
        if let Node::Or(list) = self.node(a).clone() {
            let (universal, rest) = self.part(list, Self::is_universal)?;
            let (eventual, rest) = self.part(rest, |all, f| all.is_eventual(f))?;
            if !universal.is_empty() || !eventual.is_empty() {
                let rest = self.or(rest)?;
                let rest = self.release(BOTTOM, rest)?;
                let mut parts = vec![self.until(TOP, rest)?];
                for f in universal {
                    parts.push(self.until(TOP, f)?);
                }
                for f in eventual {
                    let always = self.release(BOTTOM, f)?;
                    parts.push(self.until(TOP, always)?);
                }
                return self.or(parts);
            }
        }
        let always = self.intern(Node::Release(BOTTOM, a))?;
        self.intern(Node::Until(TOP, always))
    }

    /// Those that have a property, and the rest.
    fn part(
        &mut self,
        list: Vec<Id>,
        mut has: impl FnMut(&mut Self, Id) -> Result<bool, TooLarge>,
    ) -> Result<(Vec<Id>, Vec<Id>), TooLarge> {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for f in list {
            if has(self, f)? { with.push(f) } else { without.push(f) }
        }
        Ok((with, without))
    }
}

/// Implication that can be seen from the shape of two formulas (Somenzi and Bloem, section 3).
impl Formulas {
    pub(super) fn implies(&mut self, f: Id, g: Id) -> Result<bool, TooLarge> {
        if f == g || f == BOTTOM || g == TOP {
            return Ok(true);
        }
        if f == TOP || g == BOTTOM {
            return Ok(false);
        }
        if let Some(&known) = self.implications.get(&(f, g)) {
            return Ok(known);
        }
        let result = self.implies_by_second(f, g)? || self.implies_by_first(f, g)?;
        self.implications.insert((f, g), result);
        Ok(result)
    }

    fn implies_by_second(&mut self, f: Id, g: Id) -> Result<bool, TooLarge> {
        match self.node(g).clone() {
            Node::State(b) => match *self.node(f) {
                Node::State(a) => self.conditions.implies(a, b),
                _ => Ok(false),
            },
            Node::And(list) => self.every(&list, |all, part| all.implies(f, part)),
            Node::Or(list) => self.some(&list, |all, part| all.implies(f, part)),
            Node::Next(b) => {
                if let Node::Next(a) = *self.node(f) {
                    return self.implies(a, b);
                }
                Ok(self.implies(f, b)? && self.is_universal(f)?)
            }
            Node::Until(c, d) => {
                if self.implies(f, d)? {
                    return Ok(true);
                }
                let Node::Until(a, b) = *self.node(f) else { return Ok(false) };
                if self.implies(b, d)? && self.implies(a, c)? {
                    return Ok(true);
                }
                Ok(c == TOP && self.implies(b, g)?)
            }
            Node::Release(c, d) => {
                if self.implies(f, d)? && (self.is_universal(f)? || self.implies(f, c)?) {
                    return Ok(true);
                }
                let Node::Release(a, b) = *self.node(f) else { return Ok(false) };
                Ok(self.implies(a, c)? && self.implies(b, d)?)
            }
        }
    }

    fn implies_by_first(&mut self, f: Id, g: Id) -> Result<bool, TooLarge> {
        match self.node(f).clone() {
            Node::State(_) => Ok(false),
            Node::Next(a) => Ok(self.implies(a, g)? && self.is_eventual(g)?),
            Node::And(list) => self.some(&list, |all, part| all.implies(part, g)),
            Node::Or(list) => self.every(&list, |all, part| all.implies(part, g)),
            Node::Until(a, b) => Ok(self.implies(b, g)? && (self.is_eventual(g)? || self.implies(a, g)?)),
            Node::Release(_, b) => self.implies(b, g),
        }
    }

    fn every(
        &mut self,
        list: &[Id],
        mut has: impl FnMut(&mut Self, Id) -> Result<bool, TooLarge>,
    ) -> Result<bool, TooLarge> {
        for &f in list {
            if !has(self, f)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn some(
        &mut self,
        list: &[Id],
        mut has: impl FnMut(&mut Self, Id) -> Result<bool, TooLarge>,
    ) -> Result<bool, TooLarge> {
        Ok(!self.every(list, |all, f| Ok(!has(all, f)?))?)
    }
}
