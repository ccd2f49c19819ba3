//! Which steps commute, found out from all reachable states instead of from the text.
//!
//! An *event* is what begins with a step of an ordinary state and goes on until the next one; a step may begin several,
//! if there is a choice on the way.
//!
//! ```text
//! explore all states, and keep the events of each: first step, the steps that it takes, the state that it leads to
//! for each state s, and each two steps a, b of s in which no process takes part that takes part in the other:
//!   AB := {(x, y, t) : x begins with a at s, y begins with b after x, t is the state after both};  BA: b first
//!   a and b commute at s if AB = BA, and each event of the one can come before and after each of the other
//! ```
//!
//! Two steps that commute in every reachable state in which both are possible are independent by definition (a *valid
//! dependency relation*: Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, LNCS 1032).

use super::Dependence;
use crate::model::{Next, ProcessSet};
use crate::numbered_states::NumberedStates;
use crate::store::Class;
use fabius_base::{Cancel, Limits, StopReason};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::ops::Range;

/// An atomic sequence with more steps and choices may be infinite.
const SEQUENCE_STATES_MAX: usize = 10_000;
/// States from one look at the limits to the next.
const STATES_PER_LOOK: usize = 256;
/// Stands for the state after an event that cannot be computed.
const NOWHERE: u32 = u32::MAX;

/// Who takes part in a step.
pub type MoversOf<'a, Label> = &'a dyn Fn(&Label) -> [Option<u8>; 2];

/// Whether two steps commute in a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Agreement {
    /// Both orders are possible, do the same and lead to the same state.
    Commute,
    /// Both orders are possible, and do not do the same or do not lead to the same state.
    Differ,
    /// One makes the other impossible.
    Disable,
    /// One of them ends executions, as it cannot be computed.
    End,
}

/// Two steps that are possible in the same state.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<Label> {
    /// The number of the state.
    pub state: u32,
    /// The steps.
    pub steps: [Label; 2],
    /// Whether they commute there.
    pub agreement: Agreement,
    /// They are possible only because no other step is: their order is never exchanged.
    pub last_resort: bool,
}

/// Why not all events are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotExplored {
    /// A limit was reached.
    Stopped(StopReason),
    /// What begins with a step may be infinite, or begins with no step.
    LongSequence,
}

/// What happens from one ordinary state to the next.
#[derive(Clone, Copy, Debug)]
struct Event {
    first: u32,
    /// The steps that it takes.
    sequence: u32,
    /// What follows at once because nobody can tell when it does.
    settling: u32,
    to: u32,
}

/// Steps one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sequence<Label> {
    steps: Vec<Label>,
    fails: bool,
}

/// All reachable states with their events.
#[derive(Debug)]
pub struct EventGraph<Label> {
    states: NumberedStates,
    firsts: Vec<Label>,
    sequences: Vec<Sequence<Label>>,
    /// Those of a state lie together, in the order of their first steps.
    events: Vec<Event>,
    /// Where the events of a state end.
    ends: Vec<usize>,
    last_resort: Vec<bool>,
    /// The event with which a state was met first; nothing for the initial state.
    origins: Vec<Option<u32>>,
    /// What follows the initial state at once.
    settling: u32,
}

impl<Label: Copy + Eq + Hash> EventGraph<Label> {
    /// Number of states; the initial state is the first.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no state.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Writes the words of a state; drops what `state` held.
    pub fn recall(&self, number: u32, state: &mut Vec<u32>) {
        self.states.recall(number, state);
    }

    /// The steps of a shortest path to a state, counted in events.
    pub fn path_to(&self, state: u32) -> Vec<Label> {
        let mut pieces = Vec::new();
        let mut at = state;
        while let Some(number) = self.origins.get(at as usize).copied().flatten() {
            let event = self.events[number as usize];
            pieces.extend([event.settling, event.sequence]);
            at = self.ends.partition_point(|end| *end <= number as usize) as u32;
        }
        pieces.push(self.settling);
        pieces.iter().rev().flat_map(|piece| self.sequences[*piece as usize].steps.iter().copied()).collect()
    }

    /// Calls a function with each two steps of each state, but for those with a common participant.
    ///
    /// # Errors
    /// If somebody asked to stop.
    pub fn meetings(
        &self,
        movers: MoversOf<'_, Label>,
        cancel: &Cancel,
        met: &mut dyn FnMut(Meeting<Label>),
    ) -> Result<(), NotExplored> {
        let of_steps = |steps: &[Label]| set_of(steps, movers);
        let firsts: Vec<ProcessSet> = self.firsts.iter().map(|first| of_steps(&[*first])).collect();
        let sequences: Vec<ProcessSet> = self.sequences.iter().map(|sequence| of_steps(&sequence.steps)).collect();
        let mut judge = Judge { graph: self, movers: &sequences, orders: Default::default() };
        let mut groups = Vec::new();
        for state in 0..self.len() as u32 {
            if state.is_multiple_of(STATES_PER_LOOK as u32)
                && let Some(reason) = cancel.requested()
            {
                return Err(NotExplored::Stopped(reason));
            }
            self.groups(state, &mut groups);
            for (at, a) in groups.iter().enumerate() {
                for b in &groups[at + 1..] {
                    let of = |group: &Range<usize>| self.events[group.start].first as usize;
                    if meet(&firsts[of(a)], &firsts[of(b)]) {
                        continue;
                    }
                    let agreement = judge.agreement(a, b);
                    let steps = [self.firsts[of(a)], self.firsts[of(b)]];
                    met(Meeting { state, steps, agreement, last_resort: self.last_resort[state as usize] });
                }
            }
        }
        Ok(())
    }

    fn events_of(&self, state: u32) -> Range<usize> {
        let start = (state as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[state as usize]
    }

    /// The events of a state, those with the same first step together.
    fn groups(&self, state: u32, groups: &mut Vec<Range<usize>>) {
        groups.clear();
        let range = self.events_of(state);
        let mut start = range.start;
        for chunk in self.events[range].chunk_by(|a, b| a.first == b.first) {
            groups.push(start..start + chunk.len());
            start += chunk.len();
        }
    }

    /// The events of a state that begin with a step.
    fn beginning_with(&self, first: u32, state: u32) -> &[Event] {
        let events = &self.events[self.events_of(state)];
        let start = events.partition_point(|event| event.first < first);
        let rest = &events[start..];
        &rest[..rest.partition_point(|event| event.first == first)]
    }
}

fn set_of<Label>(steps: &[Label], movers: MoversOf<'_, Label>) -> ProcessSet {
    let mut set = ProcessSet::EMPTY;
    steps.iter().flat_map(movers).flatten().for_each(|process| set.insert(process));
    set
}

fn meet(a: &ProcessSet, b: &ProcessSet) -> bool {
    let mut both = *a;
    both.retain(b);
    !both.is_empty()
}

/// What happens if two steps are taken in both orders: the sequences of the one and of the other, and the state.
type Orders = [Vec<(u32, u32, u32)>; 2];

/// Compares orders.
struct Judge<'a, Label> {
    graph: &'a EventGraph<Label>,
    /// Who takes part in each sequence.
    movers: &'a [ProcessSet],
    orders: Orders,
}

impl<Label: Copy + Eq + Hash> Judge<'_, Label> {
    /// Whether two steps commute in a state, by its events that begin with the one and with the other.
    fn agreement(&mut self, a: &Range<usize>, b: &Range<usize>) -> Agreement {
        let (one, other) = (&self.graph.events[a.clone()], &self.graph.events[b.clone()]);
        let (Ok(complete), Ok(complete_too)) = (self.take(one, other, false), self.take(other, one, true)) else {
            return Agreement::End;
        };
        if !complete || !complete_too {
            return Agreement::Disable;
        }
        let shared = |x: &Event| {
            other.iter().any(|y| meet(&self.movers[x.sequence as usize], &self.movers[y.sequence as usize]))
        };
        let count = one.len() * other.len();
        self.orders.iter_mut().for_each(|order| order.sort_unstable());
        let same = self.orders[0] == self.orders[1] && self.orders[0].len() == count;
        if same && !one.iter().any(shared) { Agreement::Commute } else { Agreement::Differ }
    }

    /// Takes first one step, then the other; false if the other is not possible then.
    ///
    /// # Errors
    /// If one of them cannot be computed.
    fn take(&mut self, first: &[Event], second: &[Event], swapped: bool) -> Result<bool, ()> {
        let order = &mut self.orders[usize::from(swapped)];
        order.clear();
        let Some(then) = second.first().map(|event| event.first) else { return Ok(false) };
        let mut possible = true;
        for x in first {
            if x.to == NOWHERE {
                return Err(());
            }
            let after = self.graph.beginning_with(then, x.to);
            possible &= !after.is_empty();
            for y in after {
                if y.to == NOWHERE {
                    return Err(());
                }
                let (mine, theirs) = if swapped { (y, x) } else { (x, y) };
                order.push((mine.sequence, theirs.sequence, y.to));
            }
        }
        Ok(possible)
    }
}

/// Explores all states of a model, with the events of each.
///
/// # Errors
/// If not all of them can be known.
pub fn explore_events<M: Dependence>(
    model: &mut M,
    limits: Limits,
    cancel: &Cancel,
) -> Result<EventGraph<M::Label>, NotExplored>
where
    M::Label: Eq + Hash,
{
    let graph = EventGraph {
        states: NumberedStates::new(model.hidden_words()),
        firsts: Vec::new(),
        sequences: Vec::new(),
        events: Vec::new(),
        ends: Vec::new(),
        last_resort: Vec::new(),
        origins: Vec::new(),
        settling: 0,
    };
    let mut builder = Builder {
        model,
        graph,
        firsts: FxHashMap::default(),
        sequences: FxHashMap::default(),
        limits,
        cancel: cancel.clone(),
    };
    builder.explore()?;
    Ok(builder.graph)
}

/// The beginning of an event.
struct Begun<Label> {
    state: Vec<u32>,
    steps: Vec<Label>,
    fails: bool,
}

struct Builder<'a, M: Dependence> {
    model: &'a mut M,
    graph: EventGraph<M::Label>,
    /// The numbers of first steps, and of sequences.
    firsts: FxHashMap<M::Label, u32>,
    sequences: FxHashMap<Sequence<M::Label>, u32>,
    limits: Limits,
    cancel: Cancel,
}

impl<M: Dependence> Builder<'_, M>
where
    M::Label: Eq + Hash,
{
    fn explore(&mut self) -> Result<(), NotExplored> {
        let mut state = Vec::new();
        if self.model.initial(&mut state).is_err() {
            return Ok(());
        }
        let settling = self.settle(&mut state);
        self.graph.settling = self.sequence(settling, false);
        self.number_of(&state, None);
        while self.graph.ends.len() < self.graph.origins.len() {
            self.look()?;
            self.graph.recall(self.graph.ends.len() as u32, &mut state);
            self.expand(&state)?;
        }
        Ok(())
    }

    fn look(&self) -> Result<(), NotExplored> {
        let over = |used: u64, max: Option<u64>| max.is_some_and(|max| max < used);
        if over(self.graph.origins.len() as u64, self.limits.states_max) {
            return Err(NotExplored::Stopped(StopReason::States));
        }
        if !self.graph.ends.len().is_multiple_of(STATES_PER_LOOK) {
            return Ok(());
        }
        let reason = match self.cancel.requested() {
            Some(reason) => Some(reason),
            None if over(self.memory_bytes(), self.limits.memory_bytes_max) => Some(StopReason::Memory),
            None if NOWHERE as usize / 2 < self.graph.events.len() => Some(StopReason::Full),
            None => None,
        };
        reason.map_or(Ok(()), |reason| Err(NotExplored::Stopped(reason)))
    }

    /// Memory in use, about, in bytes.
    fn memory_bytes(&self) -> u64 {
        let EventGraph { states, events, ends, origins, sequences, .. } = &self.graph;
        let lists = size_of_val(events.as_slice()) + size_of_val(ends.as_slice()) + size_of_val(origins.as_slice());
        let steps: usize = sequences.iter().map(|sequence| 128 + 2 * size_of_val(sequence.steps.as_slice())).sum();
        states.memory_bytes() + (lists + steps) as u64
    }

    /// Lists the events of the state whose turn it is.
    fn expand(&mut self, state: &[u32]) -> Result<(), NotExplored> {
        let mut open = vec![Begun { state: state.to_vec(), steps: Vec::new(), fails: false }];
        let (mut successor, mut visited, mut last_resort) = (Vec::new(), 0, false);
        let start = self.graph.events.len();
        while let Some(here) = open.pop() {
            visited += 1;
            if SEQUENCE_STATES_MAX < visited {
                return Err(NotExplored::LongSequence);
            }
            let mut cursor = self.model.begin(&here.state);
            loop {
                let next = self.model.next(&here.state, &mut cursor, &mut successor);
                let (label, transient, fails, broken) = match next {
                    Next::Done(_) => break,
                    Next::Successor { label, transient, fault, .. } => (label, transient, fault.is_some(), false),
                    Next::Broken { label, .. } => (Some(label), false, true, true),
                };
                let stays = here.steps.is_empty() && !transient && !broken && successor == here.state;
                if stays && label.is_some_and(|label| self.model.is_waiting(&label)) {
                    continue;
                }
                last_resort |= here.steps.is_empty() && self.model.is_last_resort(&cursor);
                let steps: Vec<M::Label> = here.steps.iter().copied().chain(label).collect();
                let fails = here.fails || fails;
                if transient {
                    open.push(Begun { state: successor.clone(), steps, fails });
                } else {
                    self.add(steps, fails, (!broken).then_some(&mut successor))?;
                }
            }
        }
        self.graph.events[start..].sort_unstable_by_key(|event| (event.first, event.sequence));
        for (at, event) in self.graph.events.iter().enumerate().skip(start) {
            // Events that lead to new states were added just now, in another order.
            let origin = self.graph.origins.get_mut(event.to as usize);
            if let Some(origin) = origin.filter(|origin| origin.is_some_and(|number| start <= number as usize)) {
                *origin = Some(at as u32);
            }
        }
        self.graph.ends.push(self.graph.events.len());
        self.graph.last_resort.push(last_resort);
        Ok(())
    }

    /// Adds an event that leads to a state, or cannot be computed.
    fn add(&mut self, steps: Vec<M::Label>, fails: bool, to: Option<&mut Vec<u32>>) -> Result<(), NotExplored> {
        let Some(step) = steps.first().copied() else { return Err(NotExplored::LongSequence) };
        let next = self.firsts.len() as u32;
        let first = *self.firsts.entry(step).or_insert(next);
        if first == next {
            self.graph.firsts.push(step);
        }
        let sequence = self.sequence(steps, fails);
        let (settling, to) = match to {
            None => (0, NOWHERE),
            Some(state) => {
                let settling = self.settle(state);
                let number = self.graph.events.len() as u32;
                (self.sequence(settling, false), self.number_of(state, Some(number)))
            }
        };
        self.graph.events.push(Event { first, sequence, settling, to });
        Ok(())
    }

    /// Takes the steps that are taken at once.
    fn settle(&mut self, state: &mut Vec<u32>) -> Vec<M::Label> {
        let (mut steps, mut next) = (Vec::new(), Vec::new());
        while self.model.settles(state) {
            let mut cursor = self.model.begin(state);
            let Next::Successor { label, .. } = self.model.next(state, &mut cursor, &mut next) else { break };
            steps.extend(label);
            std::mem::swap(state, &mut next);
        }
        steps
    }

    fn sequence(&mut self, steps: Vec<M::Label>, fails: bool) -> u32 {
        let sequence = Sequence { steps, fails };
        if let Some(number) = self.sequences.get(&sequence) {
            return *number;
        }
        let number = self.graph.sequences.len() as u32;
        self.graph.sequences.push(sequence.clone());
        self.sequences.insert(sequence, number);
        number
    }

    /// The number of a state; `origin` is the event with which it is met now.
    fn number_of(&mut self, state: &[u32], origin: Option<u32>) -> u32 {
        if let Some(number) = self.graph.states.find(state, Class::Ordinary) {
            return number;
        }
        self.graph.origins.push(origin);
        self.graph.states.add(Class::Ordinary)
    }
}
