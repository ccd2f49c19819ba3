//! Fair schedules: in every infinite run under them, certain goals are met again and again.
//!
//! The scheduler plays against the choices inside processes, which are given. That all of several goals are met again and again
//! is a generalised Büchi game on the region Z, solved by nested fixpoints:
//!
//! ```text
//! X := Z
//! repeat until X stays the same, for each goal:
//!   Y := the valid ends of X, and the states with a group that stays in X and meets the goal
//!   add to Y, until it stays the same: the states of X with a group that leads to Y only
//!   X := Y
//! ```
//!
//! The schedule remembers which goal is next, takes the group that let the state into Y for it, and goes on to the next goal
//! once a macro step meets it. Where it is in X, it meets every goal after finitely many macro steps, whatever processes choose.
//!
//! What was not explored is not in Z, and everybody can move there: a schedule that was found stays one whatever is explored
//! later. There is no largest fair schedule; this is one of many.

use super::graph::Graph;
use super::region::{Region, Stopped, bits, possible_movers};
use crate::model::Ending;
use fabius_base::Cancel;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Whoever may cancel is asked whenever this many states were attracted.
const STATES_PER_LOOK: usize = 4096;
/// No group is chosen.
const NONE: u32 = u32::MAX;

/// What has to happen again and again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// A process takes part in a macro step, or can never again take part in one, be it with an error. Who can move again and again
    /// moves again and again then: strong fairness.
    Strong(u8),
    /// A process takes part in a macro step, or cannot take part in one in the present state: weak fairness.
    Weak(u8),
    /// The macro step begins in a state with progress.
    Progress,
}

/// Where goals are met.
#[derive(Debug)]
pub struct Goals<'g> {
    graph: &'g Graph,
    region: &'g Region,
    /// Of each state: who takes part in some macro step of it, …
    now: Vec<u64>,
    /// … or of a later one.
    ever: Vec<u64>,
    /// Of each state: whether there is progress.
    progress: Vec<bool>,
}

/// A schedule with memory: which goal is next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strategy {
    goals: Vec<Goal>,
    /// Of each goal and state: the group to let move.
    chosen: Vec<Vec<u32>>,
}

impl<'g> Goals<'g> {
    /// The goals of a graph; `progress` says in which states there is progress.
    ///
    /// # Errors
    /// If somebody stopped it.
    pub fn new(graph: &'g Graph, region: &'g Region, progress: Vec<bool>, cancel: &Cancel) -> Result<Self, Stopped> {
        let states = 0..graph.len() as u32;
        let movers = |state| graph.groups_of(state).fold(0, |set, group| set | bits(graph.group(group).movers));
        let now: Vec<u64> = states.map(movers).collect();
        let ever = possible_movers(graph, cancel)?;
        Ok(Self { graph, region, now, ever, progress })
    }

    /// Whether a macro step of a group of a state meets a goal.
    pub fn meets(&self, state: u32, group: usize, goal: Goal) -> bool {
        let takes_part = |process: u8| bits(self.graph.group(group).movers) >> process & 1 != 0;
        match goal {
            Goal::Strong(process) => takes_part(process) || self.ever[state as usize] >> process & 1 == 0,
            Goal::Weak(process) => takes_part(process) || self.now[state as usize] >> process & 1 == 0,
            Goal::Progress => self.progress[state as usize],
        }
    }

    /// The processes that can take part in a macro step of a state or of a later one, as bits.
    pub fn can_move_later(&self, state: u32) -> u64 {
        self.ever[state as usize]
    }

    /// A safe schedule that meets all of several goals again and again, if there is one.
    ///
    /// # Errors
    /// If somebody stopped it.
    pub fn schedule(&self, goals: &[Goal], cancel: &Cancel) -> Result<Option<Strategy>, Stopped> {
        let mut inside: Vec<bool> = (0..self.graph.len() as u32).map(|state| self.region.contains(state)).collect();
        let mut size = self.region.len();
        let (mut stable, mut next) = (0, 0);
        while stable < goals.len() {
            let chosen = self.attract(goals[next], &inside, cancel)?;
            let attracted = self.attracted(&inside, &chosen);
            let now = attracted.iter().filter(|inside| **inside).count();
            stable = if now == size { stable + 1 } else { 0 };
            (inside, size) = (attracted, now);
            next = (next + 1) % goals.len();
        }
        if !inside.first().is_some_and(|inside| *inside) {
            return Ok(None);
        }
        let chosen = goals.iter().map(|goal| self.attract(*goal, &inside, cancel));
        Ok(Some(Strategy { goals: goals.to_vec(), chosen: chosen.collect::<Result<_, _>>()? }))
    }

    /// Which states are still inside: those with a choice, and the valid ends.
    fn attracted(&self, inside: &[bool], chosen: &[u32]) -> Vec<bool> {
        let stays = |state: usize| {
            inside[state] && (chosen[state] != NONE || self.graph.ending(state as u32) == Some(Ending::ValidEnd))
        };
        (0..inside.len()).map(stays).collect()
    }

    /// For each state inside: a group that leads on to the goal, or to a valid end, without leaving.
    fn attract(&self, goal: Goal, inside: &[bool], cancel: &Cancel) -> Result<Vec<u32>, Stopped> {
        let graph = self.graph;
        let mut chosen = vec![NONE; graph.len()];
        let mut missing = vec![NONE; graph.group_count()];
        let mut open = VecDeque::new();
        for state in (0..graph.len() as u32).filter(|&state| inside[state as usize]) {
            for number in graph.groups_of(state) {
                let targets = graph.targets(graph.group(number));
                if graph.group(number).fails || targets.iter().any(|&target| !inside[target as usize]) {
                    continue;
                }
                missing[number] = targets.len() as u32;
                if chosen[state as usize] == NONE && self.meets(state, number, goal) {
                    chosen[state as usize] = number as u32;
                }
            }
            if chosen[state as usize] != NONE || graph.ending(state) == Some(Ending::ValidEnd) {
                open.push_back(state);
            }
        }
        let mut looked_at = 0;
        while let Some(reached) = open.pop_front() {
            looked_at += 1;
            if looked_at % STATES_PER_LOOK == 1 && cancel.requested().is_some() {
                return Err(Stopped);
            }
            for group in graph.groups_to(reached) {
                let missing = &mut missing[group];
                if *missing == NONE {
                    continue;
                }
                *missing -= 1;
                let state = graph.group(group).state;
                if *missing == 0 && chosen[state as usize] == NONE {
                    chosen[state as usize] = group as u32;
                    open.push_back(state);
                }
            }
        }
        Ok(chosen)
    }
}

impl Strategy {
    /// The goals, in the order in which they are met.
    pub fn goals(&self) -> &[Goal] {
        &self.goals
    }

    /// The group that may move in a state if this goal is next, by number; nobody at the end of a run.
    pub fn choice(&self, state: u32, goal: usize) -> Option<usize> {
        self.chosen.get(goal).map(|chosen| chosen[state as usize]).filter(|group| *group != NONE).map(|g| g as usize)
    }

    /// Which goal is next after a macro step of that group.
    pub fn after(&self, goals: &Goals<'_>, state: u32, goal: usize) -> usize {
        let Some(group) = self.choice(state, goal) else { return goal };
        let count = self.goals.len();
        let order = (goal..count).chain(0..goal);
        order.take(count).find(|&at| !goals.meets(state, group, self.goals[at])).unwrap_or(goal)
    }

    /// The states that are met, each with the goal that is next there.
    pub fn reached(&self, goals: &Goals<'_>) -> Vec<(u32, usize)> {
        let mut reached = vec![(0, 0)];
        let mut seen: FxHashSet<(u32, usize)> = FxHashSet::from_iter([(0, 0)]);
        let mut next = 0;
        while let Some(&(state, goal)) = reached.get(next) {
            next += 1;
            let Some(group) = self.choice(state, goal) else { continue };
            let after = self.after(goals, state, goal);
            let targets = goals.graph.targets(goals.graph.group(group)).iter();
            reached.extend(targets.map(|&target| (target, after)).filter(|node| seen.insert(*node)));
        }
        reached
    }
}
