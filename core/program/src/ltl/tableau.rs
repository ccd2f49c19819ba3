//! From a formula to a generalised Büchi automaton with acceptance on transitions.
//!
//! The construction is that of Couvreur (*On-the-fly verification of linear temporal logic*, FM 1999,
//! section 3), with sets of formulas as states as in Gastin and Oddoux (*Fast LTL to Büchi automata
//! translation*, CAV 2001, section 4):
//!
//! ```text
//! δ(p)      = { (p, ∅, ∅) }                            guard, promises, what must hold next
//! δ(X f)    = { (true, ∅, {f}) }
//! δ(f ∨ g)  = δ(f) ∪ δ(g)
//! δ(f ∧ g)  = δ(f) ⊗ δ(g)
//! δ(f U g)  = δ(g) ∪ (δ(f) ⊗ { (true, {g}, {f U g}) })
//! δ(f R g)  = δ(g) ⊗ (δ(f) ∪ { (true, ∅, {f R g}) })
//! ```
//!
//! A run is accepting if for each `f U g` infinitely many of its transitions do not carry the promise `g`:
//! a transition is in the acceptance set of `g` if it does not promise it. A transition is left out where
//! another one has a weaker guard, promises less and demands less of what comes next (Gastin and Oddoux,
//! section 5.1); where only their guards keep them apart, the greater one is restricted to where the
//! lesser one is not possible, which makes the automaton more deterministic.
//!
//! A formula that another one of the same set contains as a conjunct, as `f R g` contains `g`, is
//! left out of the set: both have the same transitions.

use super::TooLarge;
use super::boolean::{Condition, FALSE, TRUE};
use super::graph::{Edge, Graph};
use super::normal::{BOTTOM, Formulas, Id, Node};
use std::collections::HashMap;
use std::rc::Rc;

/// At most this many states.
const STATES_MAX: usize = 2_000;
/// At most this many transitions of one state.
const STEPS_MAX: usize = 4_000;
/// At most this many transitions.
const EDGES_MAX: usize = 40_000;

/// One way to satisfy a set of formulas now.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Step {
    guard: Condition,
    /// Bits: second operands of untils that are put off.
    promises: u64,
    /// What must hold next; sorted.
    next: Vec<Id>,
}

type Steps = Rc<Vec<Step>>;

/// Makes the automaton of a formula.
pub(super) fn tableau(all: &mut Formulas, formula: Id) -> Result<Graph, TooLarge> {
    let mut tableau = Tableau { all, promises: Vec::new(), steps: HashMap::new() };
    let first = tableau.all.conjuncts(formula);
    let first = tableau.without_contained(first);
    let mut sets: HashMap<Vec<Id>, u32> = HashMap::from([(first.clone(), 0)]);
    let mut order = vec![first];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    let mut edge_count = 0;
    while edges.len() < order.len() {
        let set = order[edges.len()].clone();
        let mut outgoing = Vec::new();
        for step in tableau.of_set(&set)? {
            let target = *sets.entry(step.next.clone()).or_insert(order.len() as u32);
            if target as usize == order.len() {
                order.push(step.next.clone());
            }
            outgoing.push(Edge { guard: step.guard, marks: step.promises, target });
        }
        edge_count += outgoing.len();
        if order.len() > STATES_MAX || edge_count > EDGES_MAX {
            return Err(TooLarge::Automaton);
        }
        edges.push(outgoing);
    }
    let every = (1_u64.checked_shl(tableau.promises.len() as u32).unwrap_or(0)).wrapping_sub(1);
    for edge in edges.iter_mut().flatten() {
        edge.marks = every & !edge.marks;
    }
    Ok(Graph { initial: 0, edges, every })
}

struct Tableau<'a> {
    all: &'a mut Formulas,
    /// Second operands of untils.
    promises: Vec<Id>,
    steps: HashMap<Id, Steps>,
}

impl Tableau<'_> {
    fn of_set(&mut self, set: &[Id]) -> Result<Vec<Step>, TooLarge> {
        let mut steps = vec![Step { guard: TRUE, promises: 0, next: Vec::new() }];
        for &f in set {
            let of_one = self.of(f)?;
            steps = self.product(&steps, &of_one)?;
        }
        Ok(steps)
    }

    fn of(&mut self, f: Id) -> Result<Steps, TooLarge> {
        if let Some(known) = self.steps.get(&f) {
            return Ok(known.clone());
        }
        let steps = match self.all.node(f).clone() {
            Node::State(FALSE) => Vec::new(),
            Node::State(guard) => vec![Step { guard, promises: 0, next: Vec::new() }],
            Node::Next(g) => {
                let next = self.all.conjuncts(g);
                vec![Step { guard: TRUE, promises: 0, next: self.without_contained(next) }]
            }
            Node::And(list) => self.of_set(&list)?,
            Node::Or(list) => {
                let mut steps = Vec::new();
                for g in list {
                    steps.extend_from_slice(&self.of(g)?);
                }
                self.minimal(steps)?
            }
            Node::Until(g, h) => {
                let promises = self.promise(h)?;
                let defer = Step { guard: TRUE, promises, next: vec![f] };
                let (g, h) = (self.of(g)?, self.of(h)?);
                let mut steps = self.product(&g, &[defer])?;
                steps.extend_from_slice(&h);
                self.minimal(steps)?
            }
            Node::Release(g, h) => {
                let mut go_on = vec![Step { guard: TRUE, promises: 0, next: vec![f] }];
                if g != BOTTOM {
                    go_on.extend_from_slice(&self.of(g)?);
                }
                let h = self.of(h)?;
                self.product(&h, &go_on)?
            }
        };
        let steps = Rc::new(steps);
        self.steps.insert(f, steps.clone());
        Ok(steps)
    }

    fn promise(&mut self, f: Id) -> Result<u64, TooLarge> {
        let number = self.promises.iter().position(|g| *g == f).unwrap_or_else(|| {
            self.promises.push(f);
            self.promises.len() - 1
        });
        if number < 64 { Ok(1 << number) } else { Err(TooLarge::Formula) }
    }

    /// Every step of the one together with every step of the other.
    fn product(&mut self, some: &[Step], others: &[Step]) -> Result<Vec<Step>, TooLarge> {
        if some.len().saturating_mul(others.len()) > STEPS_MAX {
            return Err(TooLarge::Automaton);
        }
        let mut steps = Vec::new();
        for a in some {
            for b in others {
                let guard = self.all.conditions.and(a.guard, b.guard)?;
                if guard != FALSE {
                    let next = self.without_contained([&a.next[..], &b.next[..]].concat());
                    steps.push(Step { guard, promises: a.promises | b.promises, next });
                }
            }
        }
        self.minimal(steps)
    }

    /// Sorted, each once, and none that another one contains.
    fn without_contained(&mut self, mut set: Vec<Id>) -> Vec<Id> {
        set.sort_unstable();
        set.dedup();
        if set.len() < 2 {
            return set;
        }
        let mut contained = Vec::new();
        let mut pending = set.clone();
        while let Some(f) = pending.pop() {
            if let Node::Release(_, g) = *self.all.node(f) {
                let parts = self.all.conjuncts(g);
                contained.extend_from_slice(&parts);
                pending.extend(parts);
            }
        }
        set.retain(|f| !contained.contains(f));
        set
    }

    /// Joins steps that differ only in their guards, and leaves out where others are at least as good.
    fn minimal(&mut self, steps: Vec<Step>) -> Result<Vec<Step>, TooLarge> {
        let mut joined: Vec<Step> = Vec::new();
        let mut places: HashMap<(u64, Vec<Id>), usize> = HashMap::new();
        for step in steps {
            match places.get(&(step.promises, step.next.clone())) {
                Some(&at) => joined[at].guard = self.all.conditions.or(joined[at].guard, step.guard)?,
                None => {
                    places.insert((step.promises, step.next.clone()), joined.len());
                    joined.push(step);
                }
            }
        }
        if joined.len() > STEPS_MAX {
            return Err(TooLarge::Automaton);
        }
        let mut kept = Vec::new();
        for (at, step) in joined.iter().enumerate() {
            let mut guard = step.guard;
            for (other_at, other) in joined.iter().enumerate() {
                if at != other_at && other.promises & !step.promises == 0 && is_subset(&other.next, &step.next) {
                    let elsewhere = self.all.conditions.not(other.guard)?;
                    guard = self.all.conditions.and(guard, elsewhere)?;
                }
            }
            if guard != FALSE {
                kept.push(Step { guard, ..step.clone() });
            }
        }
        Ok(kept)
    }
}

/// Whether one sorted list is contained in another one.
fn is_subset(some: &[Id], others: &[Id]) -> bool {
    some.iter().all(|f| others.binary_search(f).is_ok())
}
