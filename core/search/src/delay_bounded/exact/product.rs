//! The states of system and scheduler together, by their numbers, and those that wait to be looked at.

use crate::model::ProcessSet;
use crate::numbered_states::NumberedStates;
use crate::schedule::Situation;
use crate::store::Class;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A state of system and scheduler, as it was queued.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) state: u32,
    pub(super) schedule: u32,
    /// Its number among the [`Exact::origins`].
    pub(super) number: u32,
    pub(super) depth: u32,
    /// Choices on the way.
    pub(super) choices: u32,
}

impl Pair {
    pub(super) fn key(&self) -> (u32, u32) {
        (self.state, self.schedule)
    }
}

/// Pairs in the order of choices, and of their coming.
#[derive(Default)]
pub(super) struct Queue {
    by_choices: Vec<VecDeque<Pair>>,
}

impl Queue {
    pub(super) fn push(&mut self, pair: Pair) {
        let choices = pair.choices as usize;
        if self.by_choices.len() <= choices {
            self.by_choices.resize_with(choices + 1, VecDeque::new);
        }
        self.by_choices[choices].push_back(pair);
    }

    pub(super) fn pop(&mut self) -> Option<Pair> {
        self.by_choices.iter_mut().find_map(VecDeque::pop_front)
    }

    /// All, in the order in which they go.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pair> {
        self.by_choices.iter().flatten()
    }

    pub(super) fn len(&self) -> usize {
        self.by_choices.iter().map(VecDeque::len).sum()
    }

    pub(super) fn capacity(&self) -> usize {
        self.by_choices.iter().map(VecDeque::capacity).sum()
    }
}

/// The states of the system, by number.
pub(super) struct States {
    pub(super) nodes: Vec<Node>,
    pub(super) words: NumberedStates,
    /// States in which some process that can move has not been run.
    pub(super) open: u64,
}

pub(super) struct Node {
    /// The processes that can move.
    pub(super) enabled: ProcessSet,
    /// Those of them that have not been run here.
    pub(super) waiting: ProcessSet,
    looked_at: bool,
}

impl States {
    pub(super) fn new(hidden: usize) -> Self {
        Self { nodes: Vec::new(), words: NumberedStates::new(hidden), open: 0 }
    }

    /// Adds the state that was looked for last.
    pub(super) fn add(&mut self, enabled: &ProcessSet) -> u32 {
        self.nodes.push(Node { enabled: *enabled, waiting: *enabled, looked_at: false });
        self.open += u64::from(!enabled.is_empty());
        self.words.add(Class::Ordinary)
    }

    /// The state with this number, for a scheduler.
    pub(super) fn situation<'a>(&'a self, number: u32, state: &'a [u32]) -> Situation<'a> {
        Situation { state, enabled: &self.nodes[number as usize].enabled }
    }

    /// Looks at a state; whether it is for the first time.
    pub(super) fn begin(&mut self, number: u32) -> bool {
        !std::mem::replace(&mut self.nodes[number as usize].looked_at, true)
    }

    /// A process was run in a state.
    pub(super) fn ran(&mut self, number: u32, process: u8) {
        let waiting = &mut self.nodes[number as usize].waiting;
        if waiting.contains(process) {
            waiting.remove(process);
            self.open -= u64::from(waiting.is_empty());
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.words.memory_bytes() as usize
    }
}

/// The states of the scheduler, by number.
pub(super) struct Schedules<State> {
    pub(super) list: Vec<State>,
    numbers: FxHashMap<State, u32>,
}

impl<State> Default for Schedules<State> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<State: Clone + Eq + Hash> Schedules<State> {
    pub(super) fn number_of(&mut self, state: State) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> &State {
        &self.list[number as usize]
    }
}
