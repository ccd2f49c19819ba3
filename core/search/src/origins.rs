//! Where the states of a search came from that keeps no stack. Of each state is known which ordinary successor of which
//! other one it is; a path is executed anew.

use crate::expansion::Expansion;
use crate::model::{Model, Next};

/// Where a state came from; the initial state is its own parent.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// Number of the parent.
    parent: u32,
    /// Which of the parent's ordinary successors it is, from 1.
    ordinal: u32,
}

impl Origin {
    /// That of the initial state.
    pub(crate) const INITIAL: Self = Self { parent: 0, ordinal: 0 };

    /// That of an ordinary successor of a state, counted from 1.
    pub(crate) fn of(parent: u32, ordinal: u32) -> Self {
        Self { parent, ordinal }
    }
}

/// Of each state, by its number, where it came from.
#[derive(Default)]
pub(crate) struct Origins(Vec<Origin>);

impl Origins {
    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number that the next state gets; `None` if there is none left.
    pub(crate) fn next_number(&self) -> Option<u32> {
        u32::try_from(self.0.len()).ok().filter(|number| *number < u32::MAX)
    }

    /// Adds a state.
    pub(crate) fn push(&mut self, origin: Origin) {
        self.0.push(origin);
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val::<[Origin]>(&self.0)
    }

    /// Executes the path to the state with this number, and returns its labels.
    pub(crate) fn path_to<M: Model>(&self, model: &mut M, number: u32) -> Vec<M::Label> {
        let origin = |number: u32| self.0.get(number as usize).copied().filter(|origin| origin.ordinal != 0);
        let mut ordinals: Vec<u32> =
            std::iter::successors(origin(number), |it| origin(it.parent)).map(|it| it.ordinal).collect();
        ordinals.reverse();
        let mut path = Vec::new();
        let mut state = Vec::new();
        let mut expansion = Expansion::new(model.hidden_words());
        model.retrace(true);
        if model.initial(&mut state).is_ok() {
            // Each ordinal was counted on this way; if one were missing, the referee would refuse the path.
            let _ = follow(model, &mut expansion, &mut state, ordinals.into_iter(), &mut path);
        }
        model.retrace(false);
        path
    }
}

/// Takes the ordinary successors with these ordinals, one after the other: the state moves to the last one, and the labels on the way
/// there are added to the path. `None` if there is no such successor.
pub(crate) fn follow<M: Model>(
    model: &mut M,
    expansion: &mut Expansion<M::Cursor, M::Label>,
    state: &mut Vec<u32>,
    ordinals: impl Iterator<Item = u32>,
    path: &mut Vec<M::Label>,
) -> Option<()> {
    for ordinal in ordinals {
        let mut ordinary_left = ordinal;
        expansion.begin(model, state);
        loop {
            match expansion.next(model)? {
                Next::Successor { label, transient: true, .. } => expansion.pass(label),
                Next::Successor { label, transient: false, .. } => {
                    ordinary_left = ordinary_left.checked_sub(1)?;
                    if ordinary_left == 0 {
                        expansion.path_to_current(path);
                        path.extend(label);
                        std::mem::swap(state, &mut expansion.successor);
                        break;
                    }
                }
                Next::Broken { .. } => {}
                Next::Done(_) => expansion.turn(model),
            }
        }
    }
    Some(())
}
