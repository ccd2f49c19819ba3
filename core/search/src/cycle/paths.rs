//! Short paths from one state to another, found breadth first, to build a lasso from.
//!
//! A path leads through states of two *lanes*: whoever asks for it says, transition by transition, whether the
//! search may go there, in which lane, and where it ends. Transient states are states like others here.

use super::outcome::Run;
use super::proviso::Proviso;
use super::watch::Watch;
use crate::model::{Marks, Model, Next};
use crate::observer::Observer;
use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Class, Payloads, Store, TreeStore};
use std::ops::ControlFlow;

/// A transition on the path.
pub(crate) struct Step<'a, L> {
    /// Lane of the state where it starts.
    pub(crate) lane: Lane,
    /// How many transitions a shortest path has that ends with it.
    pub(crate) number: u32,
    pub(crate) label: Option<&'a L>,
    pub(crate) marks: Marks,
    /// Where it leads.
    pub(crate) target: &'a [u32],
    pub(crate) transient: bool,
}

/// Two paths that lead to the same state in different lanes are different.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    First,
    Second,
}

/// Whether a path may take a transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    No,
    Yes(Lane),
    /// It does, and is complete.
    Arrived,
}

/// A transition of a path that was found, and where it leads.
pub(crate) struct Taken<L> {
    pub(crate) label: Option<L>,
    pub(crate) marks: Marks,
    pub(crate) state: Vec<u32>,
    pub(crate) transient: bool,
}

/// All transitions of a path.
pub(crate) type Path<L> = Vec<Taken<L>>;

/// A state that was reached.
struct Reached<L> {
    parent: u32,
    transient: bool,
    label: Option<L>,
    marks: Marks,
    lane: Lane,
    distance: u32,
}

struct Paths<L> {
    /// With the lanes in which each state was reached, one bit each.
    store: TreeStore<u8>,
    position: Position,
    reached: Vec<Reached<L>>,
    /// Those states.
    states: StateLog,
}

/// The shortest path from a state, of at least one transition, that `ask` takes for complete; `None` if there is
/// none, or none among the first `states_max` states. It takes no faulty transition. `memory_bytes` are in use
/// elsewhere.
pub(crate) fn shortest_path<M, O, P>(
    model: &mut M,
    proviso: &mut P,
    watch: &mut Watch<'_, O>,
    memory_bytes: u64,
    from: &[u32],
    states_max: Option<usize>,
    mut ask: impl FnMut(&mut M, Step<'_, M::Label>) -> Answer,
) -> Run<M::Label, M::Fault, Option<Path<M::Label>>>
where
    M: Model,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
{
    let hidden = model.hidden_words();
    let position = Position::new(TreeStore::<u8>::MEMO_PER_WORD, hidden);
    let states = StateLog::new(hidden);
    let mut paths = Paths { store: TreeStore::default(), position, reached: Vec::new(), states };

    paths.reach(0, None, Marks::NONE, Lane::First, from, Class::Ordinary);
    let (mut state, mut successor) = (Vec::new(), Vec::new());
    let mut current = 0;
    while let Some(reached) = paths.reached.get(current) {
        let (lane, number) = (reached.lane, reached.distance + 1);
        paths.states.recall(&paths.store, current, &mut state);
        let mut cursor = model.begin(&state);
        loop {
            if watch.step_is_due() {
                watch.look(memory_bytes + paths.memory_bytes(), paths.store.is_full())?;
            }
            match model.next(&state, &mut cursor, &mut successor) {
                Next::Successor { fault: Some(_), .. } | Next::Broken { .. } => {}
                Next::Successor { label, transient, marks, fault: None } => {
                    let step = Step { lane, number, label: label.as_ref(), marks, target: &successor, transient };
                    match ask(model, step) {
                        Answer::No => {}
                        Answer::Arrived => {
                            let last = Taken { label, marks, state: successor, transient };
                            return ControlFlow::Continue(Some(paths.path_to(current, last)));
                        }
                        Answer::Yes(lane) => {
                            let class = if transient { Class::Transient } else { Class::Ordinary };
                            paths.reach(current as u32, label, marks, lane, &successor, class);
                        }
                    }
                }
                Next::Done(_) if proviso.fully_expand(model, &state, &mut cursor) => {}
                Next::Done(_) => break,
            }
        }
        current += 1;
        if states_max.is_some_and(|max| max < paths.reached.len()) {
            break;
        }
    }
    ControlFlow::Continue(None)
}

impl<L: Copy> Paths<L> {
    /// Queues a state, unless it was reached in this lane before.
    fn reach(&mut self, parent: u32, label: Option<L>, marks: Marks, lane: Lane, state: &[u32], class: Class) {
        self.position.advance(state);
        let probe = self.store.prepare(&mut self.position, class);
        self.position.forget();
        let lanes = self.store.payload(probe).1;
        let bit = 1 << lane as u32;
        if *lanes & bit != 0 || self.reached.len() >= u32::MAX as usize {
            return;
        }
        *lanes |= bit;
        let transient = class == Class::Transient;
        let distance = self.reached.get(parent as usize).map_or(0, |parent| parent.distance + 1);
        self.reached.push(Reached { parent, transient, label, marks, lane, distance });
        self.states.push(&self.store, &self.position, class);
    }

    /// The path to a state, and one more transition.
    fn path_to(&self, mut index: usize, last: Taken<L>) -> Path<L> {
        let mut path = vec![last];
        while let Some(reached) = self.reached.get(index).filter(|_| index != 0) {
            let mut state = Vec::new();
            self.states.recall(&self.store, index, &mut state);
            let &Reached { label, marks, transient, .. } = reached;
            path.push(Taken { label, marks, state, transient });
            index = reached.parent as usize;
        }
        path.reverse();
        path
    }

    fn memory_bytes(&self) -> u64 {
        let reached = size_of_val::<[Reached<L>]>(&self.reached) as u64;
        self.store.memory_bytes() + self.position.memory_bytes() + self.states.memory_bytes() + reached
    }
}
