//! The stack of nodes of a stateless search, and the steps of a state.

use super::event::{ByAddress, Received, depend};
use super::event_set::EventSet;
use super::races::{Branch, weak_initial};
use super::{Cycle, Dependence, End, Ended, Event, Met, Method, Numbers, Stateless, StatelessSettings};
use crate::model::{Ending, Next};
use fabius_base::StopReason;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::rc::{Rc, Weak};

/// Nodes between two looks at limits of memory.
const NODES_PER_LOOK: u64 = 64;

/// Words of states whose steps are remembered; when there are more, all are forgotten.
const KNOWN_WORDS_MAX: usize = 1 << 21;

/// A step of a state, and the state that it leads to.
pub(super) struct Step<M: Dependence> {
    pub event: Rc<Event<M>>,
    /// `None` if it cannot be computed.
    pub after: Option<Rc<State<M>>>,
}

/// A state after a step, with what is taken at once there.
pub(super) struct State<M: Dependence> {
    pub words: Vec<u32>,
    received: Received,
    settled: Vec<M::Label>,
    /// Of the words that distinguish it from other states.
    hash: u64,
    /// Its steps, as long as they are remembered.
    listed: RefCell<Weak<Listed<M>>>,
}

/// States are the same to what comes after them, however they were reached.
impl<M: Dependence> PartialEq for State<M> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.words == other.words && self.received == other.received
    }
}

impl<M: Dependence> Eq for State<M> {}

impl<M: Dependence> Hash for State<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.hash);
    }
}

/// A node of the present run.
pub(super) struct Node<M: Dependence> {
    pub state: Rc<State<M>>,
    /// How it was reached; `None` at the first node.
    pub arrived: Option<Rc<Event<M>>>,
    /// The events before `arrived` that happen before it.
    pub before: EventSet,
    failed: bool,
    listed: Rc<Listed<M>>,
    pub sleep: Vec<Rc<Event<M>>>,
    /// Steps to be explored, without wakeup trees.
    pub back: Vec<Rc<Event<M>>>,
    /// What is to be explored, with wakeup trees.
    pub tree: Vec<Branch<M>>,
    present: Option<Rc<Event<M>>>,
    /// What came later in some runs through the present step and does not happen after it, all parts of which were looked at.
    pub raced: FxHashSet<Box<[ByAddress<M>]>>,
    new: bool,
}

pub(super) struct Explorer<'a, M: Dependence> {
    pub model: &'a mut M,
    pub settings: &'a StatelessSettings,
    pub nodes: Vec<Node<M>>,
    pub contradiction: bool,
    found: Stateless<M::Label>,
    /// The steps of some states that were met: runs and their parts lead to the same states again and again.
    known: FxHashMap<Rc<State<M>>, Rc<Listed<M>>>,
    known_words: usize,
}

/// Why the steps of a state are not listed.
enum Trouble<L> {
    Nameless,
    /// A step that cannot be computed, of which that was not known.
    Broken(L),
    /// It was asked to stop.
    Stopped(StopReason),
    /// Labels that lead from the state to a transient state and back to it: where they begin.
    Cycle(Vec<L>, usize),
}

/// The steps of a state, or how executions end there.
pub(super) struct Listed<M: Dependence> {
    pub steps: Vec<Step<M>>,
    end: Option<End>,
}

type TroubleOf<M> = Trouble<<M as crate::Model>::Label>;

impl<'a, M: Dependence> Explorer<'a, M> {
    pub(super) fn new(model: &'a mut M, settings: &'a StatelessSettings) -> Self {
        let found = Stateless {
            numbers: Numbers::default(),
            redundant_runs: 0,
            nodes: 0,
            memory_bytes: 0,
            ended: Ended::Complete,
            contradiction: false,
        };
        let (known, known_words) = (FxHashMap::default(), 0);
        Self { model, settings, nodes: Vec::new(), contradiction: false, found, known, known_words }
    }

    pub(super) fn run(mut self, met: &mut dyn FnMut(Met<'_, M::Label>)) -> Stateless<M::Label> {
        let mut words = Vec::new();
        if self.model.initial(&mut words).is_err() {
            self.found.numbers = Numbers::one(End::Broken);
            met(Met { path: &[], end: End::Broken, failed: true });
            return self.found;
        }
        let state = self.settle(words, Received::default());
        let mut ended = self.enter(state, None, (Vec::new(), Vec::new()));
        while ended.is_none() && !self.nodes.is_empty() {
            ended = self.look().or_else(|| self.advance(met));
        }
        // Whatever the last node left out because it had to stop.
        let stopped = || self.settings.cancel.requested().map(Ended::Stopped);
        self.found.ended = ended.or_else(stopped).unwrap_or(Ended::Complete);
        self.found.contradiction = self.contradiction;
        self.found
    }

    /// Compares what was used with the limits, now and then.
    fn look(&mut self) -> Option<Ended<M::Label>> {
        if self.settings.limits.states_max.is_some_and(|max| max < self.found.nodes) {
            return Some(Ended::Stopped(StopReason::States));
        }
        if let Some(reason) = self.settings.cancel.requested() {
            return Some(Ended::Stopped(reason));
        }
        if !self.found.nodes.is_multiple_of(NODES_PER_LOOK) && self.found.memory_bytes != 0 {
            return None;
        }
        self.found.memory_bytes = self.found.memory_bytes.max(self.memory_bytes());
        let memory_bytes_max = self.settings.limits.memory_bytes_max.unwrap_or(u64::MAX);
        (memory_bytes_max < self.found.memory_bytes).then_some(Ended::Stopped(StopReason::Memory))
    }

    /// Whether it was asked to stop: then what is still to be explored no longer matters.
    pub(super) fn must_stop(&self) -> bool {
        self.settings.cancel.requested().is_some()
    }

    /// Memory of the present run and of what is still to be explored on it.
    fn memory_bytes(&self) -> u64 {
        let event = size_of::<Event<M>>() + size_of::<M::Label>();
        let bytes = |node: &Node<M>| {
            let words = (1 + node.listed.steps.len()) * node.state.words.len() * size_of::<u32>();
            let branches: usize = node.tree.iter().map(Branch::len).sum();
            let events = node.listed.steps.len() + node.sleep.len() + node.back.len() + branches;
            let raced = node.raced.iter().map(|events| size_of_val(&**events) + size_of_val(events)).sum::<usize>();
            size_of::<Node<M>>() + words + node.before.memory_bytes() + raced + events * event
        };
        (self.nodes.iter().map(bytes).sum::<usize>() + self.known_words * size_of::<u32>()) as u64
    }

    /// Goes on from the present node: to the next one, or back.
    fn advance(&mut self, met: &mut dyn FnMut(Met<'_, M::Label>)) -> Option<Ended<M::Label>> {
        let optimal = self.settings.method == Method::Optimal;
        let node = self.nodes.last_mut()?;
        if std::mem::take(&mut node.new) {
            if let Some(end) = node.listed.end {
                let failed = node.failed;
                self.report(end, failed, None, met);
                self.races(None);
                self.leave();
                return None;
            }
            let asleep = |event: &Event<M>, sleep: &[Rc<Event<M>>]| sleep.iter().any(|z| z.is(event));
            let mut awake = node.listed.steps.iter().filter(|step| !asleep(&step.event, &node.sleep));
            match self.settings.method {
                Method::Sleep => node.back = awake.map(|step| Rc::clone(&step.event)).collect(),
                Method::Source => node.back = awake.next().map(|step| Rc::clone(&step.event)).into_iter().collect(),
                Method::Optimal if node.tree.is_empty() => {
                    node.tree = awake.next().map(|step| Branch::leaf(&step.event)).into_iter().collect();
                }
                Method::Optimal => {}
            }
            if node.back.is_empty() && node.tree.is_empty() {
                self.found.redundant_runs += 1;
                if self.settings.method == Method::Source {
                    self.races(None);
                }
                self.leave();
                return None;
            }
        }
        let node = self.nodes.last_mut()?;
        node.sleep.extend(node.present.take());
        let next = if optimal {
            (!node.tree.is_empty()).then(|| node.tree.remove(0)).map(|branch| (branch.event, branch.children))
        } else {
            let at = node.back.iter().position(|event| node.sleep.iter().all(|z| !z.is(event)));
            at.map(|at| (node.back.remove(at), Vec::new()))
        };
        match next {
            Some((event, tree)) => self.descend(&event, tree, met),
            None => {
                self.leave();
                None
            }
        }
    }

    /// Takes a step of the present node.
    fn descend(
        &mut self,
        wanted: &Rc<Event<M>>,
        tree: Vec<Branch<M>>,
        met: &mut dyn FnMut(Met<'_, M::Label>),
    ) -> Option<Ended<M::Label>> {
        let Self { model, nodes, .. } = self;
        let node = nodes.last_mut()?;
        let Some(step) = node.listed.steps.iter().find(|step| step.event.is(wanted)) else {
            self.contradiction = true;
            return Some(Ended::Nameless);
        };
        let (event, after) = (Rc::clone(&step.event), step.after.clone());
        node.present = Some(Rc::clone(&event));
        node.raced.clear();
        let sleep = node.sleep.iter().filter(|z| !depend(&mut **model, z, &event)).cloned().collect();
        match after {
            Some(state) => self.enter(state, Some(event), (sleep, tree)),
            None => {
                self.found.nodes += 1;
                self.report(End::Broken, true, Some(&event), met);
                let before = self.before(&event);
                self.races(Some((event, before)));
                None
            }
        }
    }

    fn enter(
        &mut self,
        state: Rc<State<M>>,
        arrived: Option<Rc<Event<M>>>,
        (sleep, tree): (Vec<Rc<Event<M>>>, Vec<Branch<M>>),
    ) -> Option<Ended<M::Label>> {
        let visible = state.words.len() - self.model.hidden_words();
        let before = arrived.as_ref().map_or_else(EventSet::default, |event| self.before(event));
        let same =
            |node: &Node<M>| node.state.hash == state.hash && node.state.words[..visible] == state.words[..visible];
        if let Some(at) = self.nodes.iter().position(|node| node.state.words.len() == state.words.len() && same(node)) {
            return Some(Ended::Cycle(self.cycle(at, arrived.as_deref(), &state)));
        }
        self.found.nodes += 1;
        let listed = match self.steps(&state) {
            Ok(listed) => listed,
            Err(Trouble::Nameless) => return Some(Ended::Nameless),
            Err(Trouble::Broken(label)) => return Some(Ended::Broken(label)),
            Err(Trouble::Stopped(reason)) => return Some(Ended::Stopped(reason)),
            Err(Trouble::Cycle(labels, start)) => {
                let mut path = self.path(arrived.as_deref().map(|event| (event, &*state)));
                let start = path.len() + start;
                path.extend(labels);
                return Some(Ended::Cycle(Cycle { path, start }));
            }
        };
        let fails = arrived.as_ref().is_some_and(|event| event.fails);
        let failed = fails || self.nodes.last().is_some_and(|node| node.failed);
        self.nodes.push(Node {
            state,
            arrived,
            before,
            failed,
            listed,
            sleep,
            back: Vec::new(),
            tree,
            present: None,
            raced: FxHashSet::default(),
            new: true,
        });
        None
    }

    fn leave(&mut self) {
        self.nodes.pop();
    }

    /// The labels of the present run, and of a further step.
    fn path(&self, last: Option<(&Event<M>, &State<M>)>) -> Vec<M::Label> {
        let mut path = Vec::new();
        for node in &self.nodes {
            path.extend(node.arrived.iter().flat_map(|event| &event.path).copied());
            path.extend_from_slice(&node.state.settled);
        }
        if let Some((event, state)) = last {
            path.extend_from_slice(&event.path);
            path.extend_from_slice(&state.settled);
        }
        path
    }

    fn cycle(&self, at: usize, last: Option<&Event<M>>, state: &State<M>) -> Cycle<M::Label> {
        let labels =
            |node: &Node<M>| node.arrived.as_ref().map_or(0, |event| event.path.len()) + node.state.settled.len();
        let start = self.nodes[..=at].iter().map(labels).sum();
        Cycle { path: self.path(last.map(|event| (event, state))), start }
    }

    /// Counts an execution: the present run, with a last step that cannot be computed if there is one.
    fn report(&mut self, end: End, failed: bool, last: Option<&Event<M>>, met: &mut dyn FnMut(Met<'_, M::Label>)) {
        self.found.numbers.add(&Numbers::one(end).after(failed));
        let mut path = self.path(None);
        path.extend(last.into_iter().flat_map(|event| &event.path));
        met(Met { path: &path, end, failed });
    }

    /// Which events of the present run happen before a step that comes next.
    fn before(&mut self, event: &Event<M>) -> EventSet {
        let Self { model, nodes, .. } = self;
        let events = nodes.len().saturating_sub(1);
        let mut before = EventSet::new(events);
        for at in (0..events).rev() {
            let node = &nodes[at + 1];
            if !before.contains(at) && node.arrived.as_ref().is_some_and(|other| depend(&mut **model, other, event)) {
                before.insert(at);
                before.add_all(&node.before);
            }
        }
        before
    }

    /// A state, after what is taken at once in it.
    fn settle(&mut self, mut words: Vec<u32>, received: Received) -> Rc<State<M>> {
        let (mut settled, mut next) = (Vec::new(), Vec::new());
        while self.model.settles(&words) {
            let mut cursor = self.model.begin(&words);
            let Next::Successor { label: Some(label), .. } = self.model.next(&words, &mut cursor, &mut next) else {
                break;
            };
            settled.push(label);
            std::mem::swap(&mut words, &mut next);
        }
        let visible = words.len() - self.model.hidden_words();
        let hash = words[..visible]
            .iter()
            .fold(0, |hash: u64, word| crate::store::hash::mix(hash.rotate_left(9) ^ u64::from(*word)));
        Rc::new(State { words, received, settled, hash, listed: RefCell::default() })
    }

    /// The steps that are possible in a state, or how executions end there.
    fn steps(&mut self, state: &Rc<State<M>>) -> Result<Rc<Listed<M>>, TroubleOf<M>> {
        if let Some(listed) = state.listed.borrow().upgrade() {
            return Ok(listed);
        }
        if let Some(listed) = self.known.get(state) {
            *state.listed.borrow_mut() = Rc::downgrade(listed);
            return Ok(Rc::clone(listed));
        }
        let listed = Rc::new(self.list(state)?);
        self.known_words += (1 + listed.steps.len()) * state.words.len();
        if KNOWN_WORDS_MAX < self.known_words {
            self.known.clear();
            self.known_words = 0;
        }
        *state.listed.borrow_mut() = Rc::downgrade(&listed);
        self.known.insert(Rc::clone(state), Rc::clone(&listed));
        Ok(listed)
    }

    fn list(&mut self, state: &State<M>) -> Result<Listed<M>, TroubleOf<M>> {
        let mut steps = Vec::new();
        let mut waits = false;
        let mut room = Vec::new();
        let mut cursor = self.model.begin(&state.words);
        loop {
            match self.model.next(&state.words, &mut cursor, &mut room) {
                Next::Successor { label: Some(label), transient, fault, .. } => {
                    if !transient && room == state.words && self.model.is_waiting(&label) {
                        waits = true;
                        continue;
                    }
                    let begun = Begun { path: vec![label], fails: fault.is_some(), words: room.clone() };
                    self.complete(state, begun, transient, &mut steps)?;
                }
                Next::Successor { label: None, .. } => return Err(Trouble::Nameless),
                Next::Broken { label, .. } => steps.push(self.broken(state, vec![label])?),
                Next::Done(ending) => {
                    let end = match ending {
                        _ if waits => End::Waiting,
                        Ending::InvalidEnd => End::Stuck,
                        Ending::ValidEnd | Ending::Moves => End::Valid,
                    };
                    let end = steps.is_empty().then_some(end);
                    return Ok(Listed { steps, end });
                }
            }
        }
    }

    /// Follows a step through transient states, in every way that there is.
    fn complete(
        &mut self,
        state: &State<M>,
        begun: Begun<M>,
        transient: bool,
        steps: &mut Vec<Step<M>>,
    ) -> Result<(), TroubleOf<M>> {
        if !transient {
            steps.push(self.step(state, begun)?);
            return Ok(());
        }
        let mut on_path = HashSet::from([begun.words.clone()]);
        let cursor = self.model.begin(&begun.words);
        let mut stack = vec![(begun, cursor)];
        let mut room = Vec::new();
        while let Some((top, cursor)) = stack.last_mut() {
            if let Some(reason) = self.settings.cancel.requested() {
                return Err(Trouble::Stopped(reason));
            }
            match self.model.next(&top.words, cursor, &mut room) {
                Next::Successor { label, transient, fault, .. } => {
                    let path = top.path.iter().copied().chain(label).collect();
                    let begun = Begun { path, fails: top.fails || fault.is_some(), words: room.clone() };
                    if !transient {
                        steps.push(self.step(state, begun)?);
                        continue;
                    }
                    if !on_path.insert(room.clone()) {
                        let start =
                            stack.iter().find(|(node, _)| node.words == room).map_or(0, |(node, _)| node.path.len());
                        return Err(Trouble::Cycle(begun.path, start));
                    }
                    let cursor = self.model.begin(&begun.words);
                    stack.push((begun, cursor));
                }
                Next::Broken { label, .. } => {
                    let path = top.path.iter().copied().chain([label]).collect();
                    steps.push(self.broken(state, path)?);
                }
                Next::Done(_) => {
                    on_path.remove(&top.words);
                    stack.pop();
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, state: &State<M>, begun: Begun<M>) -> Result<Step<M>, TroubleOf<M>> {
        let Begun { path, fails, words } = begun;
        let footprint = self.model.footprint(&state.words, &path, Some(&words)).ok_or(Trouble::Nameless)?;
        let mut received = state.received.clone();
        received.add(footprint.message);
        let event = Rc::new(Event::new(path, fails, footprint, &state.received));
        Ok(Step { event, after: Some(self.settle(words, received)) })
    }

    fn broken(&mut self, state: &State<M>, path: Vec<M::Label>) -> Result<Step<M>, TroubleOf<M>> {
        if let Some(first) = path.first()
            && !self.model.ends_executions(path.last().unwrap_or(first))
        {
            return Err(Trouble::Broken(*path.last().unwrap_or(first)));
        }
        let footprint = self.model.footprint(&state.words, &path, None).ok_or(Trouble::Nameless)?;
        Ok(Step { event: Rc::new(Event::new(path, true, footprint, &state.received)), after: None })
    }

    /// The steps that are possible after further events from a node of the present run; `None` if one is not possible.
    pub(super) fn steps_after<'e>(
        &mut self,
        at: usize,
        events: impl Iterator<Item = &'e Rc<Event<M>>>,
    ) -> Option<Rc<Listed<M>>>
    where
        M: 'e,
    {
        let mut listed = self.steps(&Rc::clone(&self.nodes[at].state)).ok()?;
        for event in events {
            let step = listed.steps.iter().find(|step| step.event.is(event))?;
            let after = Rc::clone(step.after.as_ref()?);
            listed = self.steps(&after).ok()?;
        }
        Some(listed)
    }

    /// Whether some weak initial of a sequence is asleep at a node.
    pub(super) fn sleeps<'e>(&mut self, at: usize, sequence: impl Iterator<Item = &'e Rc<Event<M>>> + Clone) -> bool
    where
        M: 'e,
    {
        let Self { model, nodes, .. } = self;
        nodes[at].sleep.iter().any(|z| weak_initial(&mut **model, z, sequence.clone()))
    }
}

/// What was taken of a step.
struct Begun<M: Dependence> {
    path: Vec<M::Label>,
    fails: bool,
    words: Vec<u32>,
}
