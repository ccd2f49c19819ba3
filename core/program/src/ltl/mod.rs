//! From a formula of linear temporal logic to a Büchi automaton that accepts the same words.
//!
//! 1. `read`: propositions are numbered, the formula is brought into negation normal form and rewritten.
//! 2. `tableau`: the construction of Couvreur (FM 1999) over sets of formulas makes an automaton with one
//!    acceptance set of transitions per eventuality.
//! 3. `simplify`: states and transitions that others simulate are left out.
//! 4. `degeneralise`: one acceptance set, of states; here also what has to hold again and again (`[]<> p`) comes in.
//!    Then it is simplified again.
//! 5. `merge`: states are joined where the automaton of the negated formula shows that this is right.
//!
//! The result depends on the formula only. Everything is bounded: a formula that leads to something larger
//! than a person could mean is refused with [`TooLarge`], however it is nested.
//!
//! [`claim`] makes an automaton a part of a program. [`strengthen`] tells which parts of a formula could be left out, [`text`] writes formulas,
//! [`sentence`] says what they mean, [`stutter`] tells whether a claim can count repeated states, [`truth`] tells where
//! their parts hold along a run.

mod boolean;
pub mod claim;
mod degeneralise;
mod graph;
mod merge;
mod normal;
pub mod parts;
mod read;
pub mod sentence;
mod simplify;
pub mod strengthen;
pub mod stutter;
mod tableau;
pub mod text;
pub mod truth;

use crate::{Expr, Formula};
use boolean::Conditions;
use graph::Graph;
use normal::{Formulas, Id};
use read::Grain;
use simplify::{Free, Marks};
use std::fmt;

/// A Büchi automaton over words of states: a word is accepted if there is a run from the first state
/// that visits accepting states infinitely often.
#[derive(Clone, PartialEq, Debug)]
pub struct Automaton {
    /// What guards speak of: distinct expressions, at most 64.
    pub propositions: Vec<Expr>,
    /// States; a run begins in the first one. There is at least one.
    pub states: Vec<State>,
}

/// A state of an [`Automaton`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Whether runs should come back here.
    pub accepting: bool,
    /// Transitions, at most one to each state.
    pub transitions: Vec<Transition>,
}

/// A transition of an [`Automaton`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// For which letters it can be taken: those that one of the cubes covers.
    pub guard: Vec<Cube>,
    /// Index of the state it leads to.
    pub target: usize,
}

/// A conjunction of literals; without any, it always holds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cube {
    /// Propositions that must hold: bit *i* stands for number *i*.
    pub positive: u64,
    /// Propositions that must not hold.
    pub negative: u64,
}

impl Cube {
    /// Whether it holds where exactly the propositions of `letter` do.
    pub fn covers(&self, letter: u64) -> bool {
        self.positive & !letter == 0 && self.negative & letter == 0
    }
}

impl Transition {
    /// Whether it can be taken where exactly the propositions of `letter` hold.
    pub fn admits(&self, letter: u64) -> bool {
        self.guard.iter().any(|cube| cube.covers(letter))
    }

    /// Whether it can always be taken.
    pub fn is_free(&self) -> bool {
        self.guard.contains(&Cube::default())
    }
}

impl Automaton {
    /// Whether every word is accepted from a state, as it loops there whatever happens.
    pub fn accepts_all_from(&self, state: usize) -> bool {
        let there = &self.states[state];
        there.accepting && there.transitions.iter().any(|t| t.target == state && t.is_free())
    }
}

/// Why a formula has no automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooLarge {
    /// The formula itself is nested too deep or too long.
    Formula,
    /// It has more than 64 different propositions.
    Propositions,
    /// The boolean parts are too intricate.
    Guards,
    /// There are too many states or transitions.
    Automaton,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Formula => "the formula is too long, or nested too deep",
            Self::Propositions => "the formula has more than 64 different propositions",
            Self::Guards => "the conditions in the formula combine in too many ways",
            Self::Automaton => "the automaton of the formula has too many states",
        })
    }
}

impl std::error::Error for TooLarge {}

/// An automaton that accepts exactly the words that satisfy the formula.
///
/// # Errors
/// The formula leads to something too large.
pub fn automaton(formula: &Formula) -> Result<Automaton, TooLarge> {
    accepting(formula, Reading::Holds)
}

/// An automaton that accepts exactly the words that violate the formula.
///
/// # Errors
/// The formula leads to something too large.
pub fn violations(formula: &Formula) -> Result<Automaton, TooLarge> {
    accepting(formula, Reading::Fails)
}

/// Which words are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Holds,
    Fails,
}

fn accepting(formula: &Formula, reading: Reading) -> Result<Automaton, TooLarge> {
    // Seeing through `&&` inside expressions mostly helps; where it makes guards too intricate, they stay whole.
    let fine = build(formula, reading, Grain::Fine);
    if fine.is_ok() { fine } else { build(formula, reading, Grain::Coarse).or(fine) }
}

fn build(formula: &Formula, reading: Reading, grain: Grain) -> Result<Automaton, TooLarge> {
    let mut all = Formulas::new();
    let (mut normal, propositions) = read::read(&mut all, formula, grain)?;
    if reading == Reading::Fails {
        normal = all.not(normal)?;
    }
    let mut graph = state_based(&mut all, normal)?;
    let automaton = finish(&graph, &mut all.conditions, &propositions)?;
    // What comes now can only make it smaller; if it is too much work, the automaton stays as it is.
    let smaller =
        join_states(&mut all, normal, &mut graph).and_then(|()| finish(&graph, &mut all.conditions, &propositions));
    Ok(smaller.unwrap_or(automaton))
}

fn state_based(all: &mut Formulas, formula: Id) -> Result<Graph, TooLarge> {
    let (recurrent, rest) = all.recurrent(formula)?;
    let generalised = tableau::tableau(all, rest)?;
    let conditions = &mut all.conditions;
    let mut one = |free| {
        let mut graph = generalised.clone();
        simplify::simplify(&mut graph, conditions, Marks::OnEdges, free)?;
        degeneralise::degeneralise(&graph, &recurrent, conditions)
    };
    let first = one([Free::All, Free::None])?;
    match one([Free::None, Free::All]) {
        Ok(second) if second.size() < first.size() => Ok(second),
        _ => Ok(first),
    }
}

fn join_states(all: &mut Formulas, formula: Id, graph: &mut Graph) -> Result<(), TooLarge> {
    let negation = all.not(formula)?;
    let mut opposite = tableau::tableau(all, negation)?;
    simplify::simplify(&mut opposite, &mut all.conditions, Marks::OnEdges, [Free::All, Free::None])?;
    merge::join_states(graph, &opposite, &mut all.conditions)
}

fn finish(graph: &Graph, conditions: &mut Conditions, propositions: &[Expr]) -> Result<Automaton, TooLarge> {
    let mut graph = graph.clone();
    simplify::set_free_marks(&mut graph, Marks::OnStates, Free::None);
    let mut states = Vec::new();
    for edges in &graph.edges {
        let accepting = edges.iter().any(|e| e.marks == graph.every);
        let mut transitions = Vec::new();
        for edge in edges {
            transitions.push(Transition { guard: conditions.cubes(edge.guard)?, target: edge.target as usize });
        }
        states.push(State { accepting, transitions });
    }
    Ok(Automaton { propositions: propositions.to_vec(), states })
}
