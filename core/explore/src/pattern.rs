//! Patterns over the past of a run, such as `x > 1 after y == 2`, wherever one is in the tree.

use crate::Exploration;
use crate::tree::NodeId;
use fabius_engine::words::counted;
use fabius_pattern::{Monitor, Past, Unary};
use fabius_program::CLAIM_PID;
use fabius_task::pattern::Pattern as Read;
use fabius_witness::value_of;

/// A pattern over the states on the way from the initial state to where one is, read by [`Exploration::pattern`].
///
/// It remembers what it found on the way it was asked about last, so that steps forward and back are cheap.
#[derive(Clone, Debug)]
pub struct Pattern {
    read: Read,
    monitor: Monitor,
    /// The way that was looked at last, from the initial state on.
    way: Vec<Seen>,
    /// When it was looked at: nodes may have been forgotten since, and their numbers used again.
    epoch: u64,
}

/// What is known behind a node.
#[derive(Clone, Debug)]
struct Seen {
    node: NodeId,
    memory: Vec<u32>,
    holds: bool,
}

/// The same text means the same.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.read.text == other.read.text
    }
}

/// Where a pattern is true along a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matches {
    /// Of each state that was looked at, whether it is true there.
    pub states: Vec<bool>,
    /// In how many of them it is true, in a sentence without its full stop.
    pub sentence: String,
}

impl Exploration {
    /// Behind which of these nodes a pattern is true; they are on one way from the initial state.
    ///
    /// # Errors
    /// What is wrong with the pattern, in a sentence.
    pub fn matches(&self, text: &str, nodes: &[NodeId]) -> Result<Matches, String> {
        let mut pattern = self.pattern(text)?;
        let states: Vec<bool> = nodes.iter().map(|node| pattern.holds_at(self, *node)).collect();
        let sentence = match states.iter().filter(|holds| **holds).count() {
            0 => format!("`{text}` is true nowhere in this run"),
            count => format!("`{text}` is true in {} of {}", counted(count as u64, "state"), nodes.len()),
        };
        Ok(Matches { states, sentence })
    }

    /// Reads a pattern: a condition as for [`Exploration::condition`], or several with operators that look back (`once`, `previously`,
    /// `historically`, `start`, `end`, `since`, `after`) and places by line (`P[1]@line 20`).
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn pattern(&self, text: &str) -> Result<Pattern, String> {
        let read = fabius_task::pattern::pattern(self.loaded(), &self.target().program, text)?;
        Ok(Pattern { monitor: read.monitor(), read, way: Vec::new(), epoch: 0 })
    }
}

impl Pattern {
    /// As it was written.
    pub fn text(&self) -> &str {
        &self.read.text
    }

    /// The pattern that is true only where this one comes true: with a step, after it was false.
    #[must_use]
    pub fn coming_true(mut self) -> Self {
        self.read.formula = Past::unary(Unary::Start, self.read.formula);
        self.monitor = self.read.monitor();
        self.way.clear();
        self
    }

    /// Whether it is true where one is.
    pub fn holds(&mut self, e: &Exploration) -> bool {
        self.holds_at(e, e.here())
    }

    /// Whether it is true at a node. The move of a claim, and a step that cannot be computed, lead to no other state.
    pub fn holds_at(&mut self, e: &Exploration, node: NodeId) -> bool {
        if self.epoch != e.tree.epoch() {
            self.way.clear();
            self.epoch = e.tree.epoch();
        }
        let is_seen = |way: &[Seen], node: NodeId| way.get(e.depth(node)).is_some_and(|seen| seen.node == node);
        let mut ahead = Vec::new();
        let mut known = Some(node);
        while let Some(node) = known.filter(|node| !is_seen(&self.way, *node)) {
            ahead.push(node);
            known = e.parent(node);
        }
        if !ahead.is_empty() {
            self.way.truncate(known.map_or(0, |node| e.depth(node) + 1));
        }
        for node in ahead.into_iter().rev() {
            let seen = self.behind(e, node);
            self.way.push(seen);
        }
        self.way.get(e.depth(node)).is_some_and(|seen| seen.holds)
    }

    /// What is known behind a node, from what is known behind the one before it.
    fn behind(&mut self, e: &Exploration, node: NodeId) -> Seen {
        let before = self.way.last();
        let mut memory = before.map_or_else(|| vec![0; self.monitor.words()], |before| before.memory.clone());
        let of_claim = e.tree.step(node).is_some_and(|step| step.pid == CLAIM_PID);
        if let Some(before) = before.filter(|_| of_claim || e.tree.is_broken(node)) {
            return Seen { node, ..before.clone() };
        }
        let (program, state) = (&e.target().program, e.state_at(node));
        let Self { read, monitor, .. } = self;
        let is_true = |p: usize| value_of(program, &state, &read.propositions[p]).is_ok_and(|value| value != 0);
        let holds = monitor.step(&mut memory, is_true);
        Seen { node, memory, holds }
    }
}
