//! States near a path, and a model that stays among them.
//!
//! A depth-first search goes long ways round to what it finds. Where the states nearest to the initial one are too many for a search
//! that finds a shortest path, those near the path that was found are not:
//!
//! ```text
//! for radius := 0, 1, 2, … until the work is used up:
//!   near := states on the path, and those at most radius steps away from one of them
//!   path := a shortest path within near, if it is shorter
//! until nothing is left out of near
//! ```
//!
//! With radius 0, the path only leaves out detours between its own states. It is soon much shorter, so that the same work is enough for a
//! larger radius. If the search within did not want to leave, its path is a shortest one of the whole model.

use crate::expansion::Expansion;
use crate::model::{Marks, Model, Next, ProcessSet, Processes};
use crate::numbered_states::NumberedStates;
use crate::observer::{Budget, Observer, Settings, state_words};
use crate::outcome::Statistics;
use crate::store::{Class, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// A model without the states that are not near a path.
pub struct Near<'m, M> {
    model: &'m mut M,
    states: NumberedStates,
    was_left: bool,
}

impl<'m, M: Model> Near<'m, M> {
    /// The states on a path that the model has, but for what comes of its last step if it is faulty, and those at most `radius` ordinary
    /// steps away from one of them; `None` if `settings` or the observer ended the work before they were known. What was listed is added to
    /// `statistics`.
    pub fn around<O: Observer<M::Label, M::Fault>>(
        model: &'m mut M,
        (path, radius): (impl IntoIterator<Item = M::Label>, u32),
        observer: &mut O,
        settings: &Settings,
        statistics: &mut Statistics,
    ) -> Option<Self> {
        let states = NumberedStates::new(model.hidden_words());
        let budget = Budget::new(settings, state_words(model));
        let mut around = Around { model, states, observer, budget, statistics };
        around.model.retrace(true);
        let laid = around.lay(path);
        around.model.retrace(false);
        laid.continue_value()?;
        let mut done = 0;
        for _ in 0..radius {
            let known = around.states.log.len();
            around.surround(done..known).continue_value()?;
            done = known;
        }
        let Around { model, states, .. } = around;
        Some(Self { model, states, was_left: false })
    }

    /// The model itself.
    pub fn inner(&self) -> &M {
        self.model
    }

    /// Memory that the states near the path take, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.states.memory_bytes()
    }

    /// Whether some step was left out since it leads away from the path.
    pub fn was_left(&self) -> bool {
        self.was_left
    }
}

/// The states near a path, as they become known.
struct Around<'m, 'o, 's, M: Model, O> {
    model: &'m mut M,
    states: NumberedStates,
    observer: &'o mut O,
    budget: Budget<'s>,
    statistics: &'o mut Statistics,
}

impl<M: Model, O: Observer<M::Label, M::Fault>> Around<'_, '_, '_, M, O> {
    /// Adds the ordinary states on a path.
    fn lay(&mut self, path: impl IntoIterator<Item = M::Label>) -> ControlFlow<StopReason> {
        let mut state = Vec::new();
        if self.model.initial(&mut state).is_err() {
            return ControlFlow::Continue(());
        }
        self.add(&state);
        let mut labels = path.into_iter();
        let mut label = labels.next();
        loop {
            self.statistics.transient += 1;
            self.look()?;
            let is_over = label.is_none();
            let Some(along) = along(self.model, &mut state, label) else { return ControlFlow::Continue(()) };
            if !along.transient {
                self.add(&state);
            }
            // A state that lasts for ever comes after itself without a label.
            if is_over {
                return ControlFlow::Continue(());
            }
            if along.is_taken {
                label = labels.next();
            }
        }
    }

    /// Adds the ordinary successors of the states with these numbers.
    fn surround(&mut self, numbers: std::ops::Range<usize>) -> ControlFlow<StopReason> {
        let mut expansion = Expansion::new(self.model.hidden_words());
        let mut state = Vec::new();
        for number in numbers {
            self.states.recall(number as u32, &mut state);
            expansion.begin(self.model, &state);
            while let Some(found) = expansion.next(self.model) {
                self.look()?;
                match found {
                    Next::Successor { label, transient: true, .. } => {
                        self.statistics.transient += 1;
                        expansion.pass(label);
                    }
                    Next::Successor { transient: false, .. } => {
                        self.statistics.matched += 1;
                        self.add(&expansion.successor);
                    }
                    Next::Broken { .. } => {}
                    Next::Done(_) => expansion.turn(self.model),
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, words: &[u32]) {
        if self.states.find(words, Class::Ordinary).is_none() {
            self.states.add(Class::Ordinary);
        }
    }

    /// Takes a step; ends the work if it is time.
    #[inline]
    fn look(&mut self) -> ControlFlow<StopReason> {
        if !self.budget.step_is_due() {
            return ControlFlow::Continue(());
        }
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.states.memory_bytes());
        self.budget.look(self.statistics, self.states.store.is_full(), self.observer)
    }
}

/// A step along a path.
pub(crate) struct Along {
    /// It leads to a state that is not stored.
    pub(crate) transient: bool,
    /// It is the one with the label; else an atomic sequence lost control before it.
    pub(crate) is_taken: bool,
    pub(crate) marks: Marks,
}

/// Goes on with the transition that has this label, or, if there is none yet, with one that has no label.
pub(crate) fn along<M: Model>(model: &mut M, state: &mut Vec<u32>, label: Option<M::Label>) -> Option<Along> {
    let mut successor = Vec::new();
    let mut without_label = None;
    let mut cursor = model.begin(state);
    let (along, words) = loop {
        match model.next(state, &mut cursor, &mut successor) {
            Next::Successor { label: Some(taken), transient, marks, .. } if label == Some(taken) => {
                break (Along { transient, is_taken: true, marks }, successor);
            }
            Next::Successor { label: None, transient, marks, .. } => {
                without_label = Some((Along { transient, is_taken: false, marks }, successor.clone()));
            }
            Next::Successor { .. } | Next::Broken { .. } => {}
            Next::Done(_) => break without_label?,
        }
    };
    *state = words;
    Some(along)
}

/// Visits the states on a path, one after the other, as long as `visit` goes on.
pub fn visit_along<M: Model>(
    model: &mut M,
    path: impl IntoIterator<Item = M::Label>,
    mut visit: impl FnMut(&mut M, &[u32]) -> ControlFlow<()>,
) {
    let mut state = Vec::new();
    if model.initial(&mut state).is_err() {
        return;
    }
    model.retrace(true);
    let mut labels = path.into_iter();
    let mut label = labels.next();
    while visit(model, &state).is_continue()
        && let Some(wanted) = label
        && let Some(along) = along(model, &mut state, Some(wanted))
    {
        if along.is_taken {
            label = labels.next();
        }
    }
    model.retrace(false);
}

impl<M: Model> Model for Near<'_, M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = M::Cursor;

    fn hidden_words(&self) -> usize {
        self.model.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.model.initial(state)
    }

    fn retrace(&mut self, begins: bool) {
        self.model.retrace(begins);
    }

    fn begin(&mut self, state: &[u32]) -> M::Cursor {
        self.model.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut M::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        loop {
            let found = self.model.next(state, cursor, successor);
            let is_ordinary = matches!(found, Next::Successor { transient: false, .. });
            if !is_ordinary || self.states.look_up(successor, Class::Ordinary).is_some() {
                return found;
            }
            self.was_left = true;
            // What the step itself does wrong is seen in any case.
            if let Next::Successor { label: Some(label), fault: Some(fault), .. } = found {
                return Next::Broken { label, fault };
            }
        }
    }
}

impl<M: Processes> Processes for Near<'_, M> {
    fn process_count(&self, state: &[u32]) -> usize {
        self.model.process_count(state)
    }

    fn movers(&self, label: &M::Label) -> [Option<u8>; 2] {
        self.model.movers(label)
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        self.model.enabled(state, enabled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ending;
    use crate::outcome::{StopAt, ViolationKind};
    use crate::store::TreeStore;
    use crate::toy::{Edge, Node, Toy};
    use crate::{Quiet, breadth_first, depth_first};

    /// Tells violations apart by what is wrong only.
    #[derive(Default)]
    struct Kinds(Vec<u64>);

    impl Observer<u32, u32> for Kinds {
        fn key(&mut self, kind: &ViolationKind<u32>, _: Option<&u32>, _: &[u32]) -> u64 {
            let key = key_of(*kind);
            if !self.0.contains(&key) {
                self.0.push(key);
            }
            key
        }
    }

    fn key_of(kind: ViolationKind<u32>) -> u64 {
        match kind {
            ViolationKind::InvalidEnd => 0,
            ViolationKind::Fault(fault) => 1 + u64::from(fault),
        }
    }

    /// Whether a graph has a path, and this is wrong at its end.
    fn ends_with(toy: &Toy, path: &[u32], kind: ViolationKind<u32>) -> bool {
        let mut model = toy.clone();
        let (mut state, mut successor) = (Vec::new(), Vec::new());
        model.initial(&mut state).expect("an initial state");
        let Some((last, before)) = path.split_last() else { return is_invalid_end(&mut model, &state, kind) };
        for label in before {
            while !along(&mut model, &mut state, Some(*label)).is_some_and(|along| along.is_taken) {}
        }
        loop {
            let mut cursor = model.begin(&state);
            loop {
                let found = model.next(&state, &mut cursor, &mut successor);
                match found {
                    Next::Successor { label: Some(taken), fault, .. } if taken == *last => {
                        let is_wrong = fault.is_some_and(|fault| kind == ViolationKind::Fault(fault));
                        return is_wrong || is_invalid_end(&mut model, &successor, kind);
                    }
                    Next::Broken { label, fault } if label == *last => return kind == ViolationKind::Fault(fault),
                    Next::Done(_) => break,
                    _ => {}
                }
            }
            if along(&mut model, &mut state, Some(*last)).is_none() {
                return false;
            }
        }
    }

    /// Whether that is wrong, and the model may not stop in a state, or in one to which a step without a label leads from it.
    fn is_invalid_end(model: &mut Toy, state: &[u32], kind: ViolationKind<u32>) -> bool {
        let (mut cursor, mut successor) = (model.begin(state), Vec::new());
        kind == ViolationKind::InvalidEnd
            && loop {
                match model.next(state, &mut cursor, &mut successor) {
                    Next::Done(ending) => break ending == Ending::InvalidEnd,
                    Next::Successor { label: None, .. } if is_invalid_end(model, &successor, kind) => break true,
                    _ => {}
                }
            }
    }

    #[test]
    fn a_path_near_another_one_is_one_and_in_the_end_a_shortest_one() {
        let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
        let (mut shorter_ones, mut shortest_ones) = (0, 0);
        for seed in 0..3_000 {
            let toy = Toy::random(seed, 30, seed % 2 == 0);
            let (mut model, mut deep_kinds, mut all_kinds) = (toy.clone(), Kinds::default(), Kinds::default());
            let deep = depth_first(&mut model, &mut TreeStore::new(), &mut deep_kinds, &settings);
            let all = breadth_first(&mut model, &mut TreeStore::new(), &mut all_kinds, &settings);
            for violation in &deep.violations {
                let (kind, key) = (violation.kind, key_of(violation.kind));
                let place = |kinds: &Kinds| kinds.0.iter().position(|other| *other == key);
                let shortest = &all.violations[place(&all_kinds).expect("both see everything")].path;
                let mut length = violation.path.len();
                for radius in 0.. {
                    let mut statistics = Statistics::default();
                    let (path, mut kinds) = (violation.path.iter().copied(), Kinds::default());
                    let near = Near::around(&mut model, (path, radius), &mut Quiet, &settings, &mut statistics);
                    let mut near = near.expect("there is no limit");
                    let found = breadth_first(&mut near, &mut TreeStore::new(), &mut kinds, &settings);
                    let was_left = near.was_left();
                    let found = place(&kinds).map(|at| &found.violations[at].path);
                    assert!(found.is_some(), "seed {seed}: the path itself is near");
                    for path in found.iter() {
                        assert!(ends_with(&toy, path, kind), "seed {seed}: {path:?} {kind:?}");
                        shorter_ones += usize::from(path.len() < length);
                        length = length.min(path.len());
                    }
                    if !was_left {
                        assert_eq!(found, Some(shortest), "seed {seed}");
                        shortest_ones += 1;
                        break;
                    }
                }
            }
        }
        assert!(500 < shorter_ones && 1_000 < shortest_ones, "{shorter_ones} {shortest_ones}");
    }

    #[test]
    fn a_state_that_lasts_for_ever_ends_a_path() {
        let stays = Node { words: vec![0], edges: vec![Edge { to: Some(0), ..Edge::default() }], ..Node::default() };
        let mut toy = Toy::new(vec![stays], 0);
        let around = (std::iter::empty(), 1);
        let (settings, mut statistics) = (Settings::default(), Statistics::default());
        let near = Near::around(&mut toy, around, &mut Quiet, &settings, &mut statistics);
        assert_eq!(near.map(|near| near.states.log.len()), Some(1));
    }

    #[test]
    fn with_radius_0_a_path_leaves_out_its_own_detours() {
        // 0 → 1 → … → 99, each with a step to the one ten further on; the last one is a dead end.
        let ahead = |at: usize| [at + 1, at + 10].into_iter().filter(|to| *to < 100).collect();
        let ahead: Vec<Vec<usize>> = (0..100).map(ahead).collect();
        let ahead: Vec<&[usize]> = ahead.iter().map(Vec::as_slice).collect();
        let mut toy = Toy::plain(&ahead);
        let settings = Settings::default();
        let deep = depth_first(&mut toy, &mut TreeStore::new(), &mut Kinds::default(), &settings);
        let path = deep.first().expect("a dead end").path.clone();
        assert_eq!(path.len(), 99);
        let mut statistics = Statistics::default();
        let near = Near::around(&mut toy, (path, 0), &mut Quiet, &settings, &mut statistics);
        let mut near = near.expect("there is no limit");
        let found = breadth_first(&mut near, &mut TreeStore::new(), &mut Kinds::default(), &settings);
        assert_eq!(found.first().map(|violation| violation.path.len()), Some(18));
        assert!(!near.was_left());
    }
}
