//! Small random programs, for tests: processes are graphs of locations, a location has alternatives with guards and
//! effects; shared variables, a lock, a channel of capacity 0 to 2, `else`, `timeout`, creation, assertions, and
//! steps that cannot be computed.

use super::{Dependence, Footprint, Independence, Message, Traffic};
use crate::model::{Ending, Marks, Model, Next};
use crate::toy::Random;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    Equal(usize, u32),
    Differs(usize, u32),
    AtLeast(usize, u32),
    NotEmpty,
    Else,
    Timeout,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Set(usize, u32),
    Increment(usize),
    Copy(usize, usize),
    Observe(usize),
    AssertBelow(usize, u32),
    Send(u32),
    Receive,
    /// Sends a message where its order demands.
    Insert(u32),
    /// Takes the last message.
    TakeLast,
    Create(usize),
    /// Cannot be computed where the variable is at least 2.
    Break(usize),
}

impl Act {
    fn talks(self) -> bool {
        matches!(self, Self::Send(_) | Self::Receive | Self::Insert(_) | Self::TakeLast)
    }
}

#[derive(Clone, Debug)]
pub struct Choice {
    pub guards: Vec<Guard>,
    pub acts: Vec<Act>,
    pub target: usize,
}

/// A step: a process and its alternative, and the same of its partner in a rendezvous.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event {
    pub process: usize,
    pub choice: usize,
    pub partner: Option<(usize, usize)>,
}

/// A location in which a process has ended, or was not created yet.
const ENDED: u32 = 100;
const UNBORN: u32 = 101;
const CHANNEL_MAX: usize = 2;

#[derive(Clone, Debug)]
pub struct Toy {
    variables: usize,
    capacity: Option<usize>,
    pub processes: Vec<Vec<Vec<Choice>>>,
    alive: Vec<bool>,
    /// Loops are possible.
    pub cyclic: bool,
    /// Steps are independent that were found to commute, in either order here; else what they touch decides.
    pub commuting: Option<Rc<HashSet<(Event, Event)>>>,
}

/// State: locations, variables, what each process observed, messages and how many, whether an assertion failed.
impl Toy {
    pub fn random(seed: u64, cyclic: bool) -> Self {
        let mut r = Random::new(seed);
        let shared = 1 + r.below(2);
        let has_lock = r.below(2) == 0;
        let capacity = (r.below(5) < 3).then(|| [0, 1, 1, 2][r.below(4)]);
        let count = [2, 3, 3, 4][r.below(4)];
        let budget = 5 + r.below(4);
        let mut toy = Self {
            variables: shared + usize::from(has_lock),
            capacity,
            processes: Vec::new(),
            alive: vec![true; count],
            cyclic,
            commuting: None,
        };
        for _ in 0..count {
            let length = (budget / count + r.below(3)).saturating_sub(1).clamp(1, 3);
            let process = (0..length).map(|at| toy.location(&mut r, at, length, shared, has_lock)).collect();
            toy.processes.push(process);
        }
        if count > 2 && r.below(4) == 0 {
            toy.alive[count - 1] = false;
            let creator = r.below(count - 1);
            let at = r.below(toy.processes[creator].len());
            toy.processes[creator][at][0].acts.push(Act::Create(count - 1));
        }
        toy
    }

    fn location(&self, r: &mut Random, at: usize, length: usize, shared: usize, has_lock: bool) -> Vec<Choice> {
        let target = if at + 1 < length { at + 1 } else { ENDED as usize };
        let target = if self.cyclic && r.below(5) == 0 { r.below(at + 1) } else { target };
        let mut choices = vec![self.statement(r, target, shared, has_lock)];
        if r.below(9) < 2 {
            let target = if r.below(5) < 3 { target } else { ENDED as usize };
            choices.push(self.statement(r, target, shared, has_lock));
        }
        let rendezvous = self.capacity == Some(0);
        let talks = choices.iter().any(|choice| choice.acts.iter().any(|act| act.talks()));
        if r.below(7) == 0 && !choices[0].guards.is_empty() && !(rendezvous && talks) {
            let acts = if r.below(3) < 2 { vec![Act::Set(r.below(shared), 2)] } else { Vec::new() };
            choices.push(Choice { guards: vec![Guard::Else], acts, target });
        } else if r.below(20) == 0 {
            choices.push(Choice { guards: vec![Guard::Timeout], acts: vec![Act::Set(r.below(shared), 1)], target });
        }
        choices
    }

    fn statement(&self, r: &mut Random, target: usize, shared: usize, has_lock: bool) -> Choice {
        let (x, y, k) = (r.below(shared), r.below(shared), r.below(3) as u32);
        let lock = shared;
        let choice = |guards: Vec<Guard>, acts: Vec<Act>| Choice { guards, acts, target };
        match r.below(100) {
            0..20 => choice(vec![], vec![Act::Set(x, k)]),
            20..30 => choice(vec![], vec![Act::Increment(x)]),
            30..38 => choice(vec![], vec![Act::Observe(x)]),
            38..46 => choice(vec![], vec![Act::AssertBelow(x, 1 + r.below(2) as u32)]),
            46..50 => choice(vec![], vec![Act::Copy(x, y)]),
            50..52 => choice(vec![], vec![Act::Break(x)]),
            52..62 => {
                choice(vec![Guard::Equal(x, k)], if k > 0 { vec![Act::Set(y, r.below(3) as u32)] } else { vec![] })
            }
            62..68 => choice(vec![Guard::AtLeast(x, 1), Guard::Differs(y, 2)], vec![Act::Increment(y)]),
            68..76 if has_lock => choice(vec![Guard::Equal(lock, 0)], vec![Act::Set(lock, 1)]),
            76..82 if has_lock => choice(vec![], vec![Act::Set(lock, 0)]),
            82..84 if self.capacity > Some(0) => choice(vec![], vec![Act::Insert(k)]),
            90..92 if self.capacity > Some(0) => choice(vec![], vec![Act::TakeLast]),
            82..90 if self.capacity.is_some() => choice(vec![], vec![Act::Send(k)]),
            90..97 if self.capacity.is_some() => choice(vec![], vec![Act::Receive]),
            97..100 if self.capacity.is_some() => choice(vec![Guard::NotEmpty], vec![Act::Set(x, 1)]),
            _ => choice(vec![Guard::Equal(x, 1)], vec![]),
        }
    }

    pub fn initial_state(&self) -> Vec<u32> {
        let born = self.alive.iter().map(|alive| if *alive { 0 } else { UNBORN });
        let rest = self.variables + self.processes.len() + CHANNEL_MAX + 2;
        born.chain(std::iter::repeat_n(0, rest)).collect()
    }

    fn variable(&self, x: usize) -> usize {
        self.processes.len() + x
    }

    fn observed(&self, process: usize) -> usize {
        self.processes.len() + self.variables + process
    }

    fn messages(&self) -> usize {
        2 * self.processes.len() + self.variables
    }

    fn length(&self) -> usize {
        self.messages() + CHANNEL_MAX
    }

    /// Whether an assertion failed on the way to a state.
    pub fn has_failed(state: &[u32]) -> bool {
        state.last() == Some(&1)
    }

    /// Whether all processes have ended.
    pub fn is_end(&self, state: &[u32]) -> bool {
        state[..self.processes.len()].iter().all(|at| *at >= ENDED)
    }

    fn here(&self, state: &[u32], process: usize) -> &[Choice] {
        self.processes[process].get(state[process] as usize).map_or(&[], Vec::as_slice)
    }

    fn holds(&self, state: &[u32], choice: &Choice) -> bool {
        let guards = choice.guards.iter().all(|guard| match guard {
            Guard::Equal(x, k) => state[self.variable(*x)] == *k,
            Guard::Differs(x, k) => state[self.variable(*x)] != *k,
            Guard::AtLeast(x, k) => state[self.variable(*x)] >= *k,
            Guard::NotEmpty => state[self.length()] > 0,
            Guard::Else | Guard::Timeout => true,
        });
        let room = choice.acts.iter().all(|act| match (act, self.capacity) {
            (Act::Send(_) | Act::Insert(_), Some(capacity)) if capacity > 0 => {
                (state[self.length()] as usize) < capacity
            }
            (Act::Receive | Act::TakeLast, Some(capacity)) if capacity > 0 => state[self.length()] > 0,
            _ => true,
        });
        guards && room
    }

    fn listed(&self, state: &[u32], timeout: bool) -> Vec<Event> {
        let mut events = Vec::new();
        let meets =
            |choice: &Choice, wanted: fn(&Act) -> bool| self.capacity == Some(0) && choice.acts.iter().any(wanted);
        for process in 0..self.processes.len() {
            let before = events.len();
            let mut otherwise = None;
            for (at, choice) in self.here(state, process).iter().enumerate() {
                if choice.guards.contains(&Guard::Else) {
                    otherwise = Some(at);
                    continue;
                }
                let blocked = choice.guards.contains(&Guard::Timeout) && !timeout;
                if blocked || !self.holds(state, choice) || meets(choice, |act| *act == Act::Receive) {
                    continue;
                }
                if !meets(choice, |act| matches!(act, Act::Send(_))) {
                    events.push(Event { process, choice: at, partner: None });
                    continue;
                }
                for other in (0..self.processes.len()).filter(|other| *other != process) {
                    for (theirs, choice) in self.here(state, other).iter().enumerate() {
                        if meets(choice, |act| *act == Act::Receive) && self.holds(state, choice) {
                            events.push(Event { process, choice: at, partner: Some((other, theirs)) });
                        }
                    }
                }
            }
            if let Some(choice) = otherwise.filter(|_| events.len() == before) {
                events.push(Event { process, choice, partner: None });
            }
        }
        events
    }

    /// The steps that are possible, and whether that is so because there is no other.
    pub fn events(&self, state: &[u32]) -> (Vec<Event>, bool) {
        match self.listed(state, false) {
            none if none.is_empty() => (self.listed(state, true), true),
            events => (events, false),
        }
    }

    /// The state after a step; `None` if it cannot be computed.
    /// A key for each process that goes back to a location in a step.
    pub fn lap_keys(&self, state: &[u32], event: Event) -> [Option<u32>; 2] {
        let key = |(process, at): (usize, usize)| {
            let back = self.here(state, process)[at].target <= state[process] as usize;
            back.then_some((process * 1000 + state[process] as usize * 10 + at) as u32)
        };
        [key((event.process, event.choice)), event.partner.and_then(key)]
    }

    pub fn after(&self, state: &[u32], event: Event) -> Option<Vec<u32>> {
        let mut next = state.to_vec();
        let mine = &self.here(state, event.process)[event.choice];
        self.take(&mut next, event.process, mine, None)?;
        if let Some((partner, choice)) = event.partner {
            let sent = mine.acts.iter().find_map(|act| if let Act::Send(k) = act { Some(*k) } else { None });
            self.take(&mut next, partner, &self.here(state, partner)[choice], sent)?;
        }
        Some(next)
    }

    fn take(&self, state: &mut [u32], process: usize, choice: &Choice, message: Option<u32>) -> Option<()> {
        let note = |state: &mut [u32], value: u32| {
            let at = self.observed(process);
            state[at] = state[at].wrapping_mul(16).wrapping_add(value + 1);
        };
        let rendezvous = self.capacity == Some(0);
        for act in &choice.acts {
            match *act {
                Act::Set(x, k) => state[self.variable(x)] = k,
                Act::Increment(x) => state[self.variable(x)] = (state[self.variable(x)] + 1) % 7,
                Act::Copy(x, y) => state[self.variable(x)] = state[self.variable(y)],
                Act::Observe(x) => note(state, state[self.variable(x)]),
                Act::AssertBelow(x, k) => {
                    let fails = u32::from(state[self.variable(x)] >= k);
                    note(state, fails);
                    let last = state.len() - 1;
                    state[last] |= fails;
                }
                Act::Send(k) if !rendezvous => {
                    let end = self.messages() + state[self.length()] as usize;
                    state[end] = k;
                    state[self.length()] += 1;
                }
                Act::Receive if !rendezvous => {
                    note(state, state[self.messages()]);
                    state.copy_within(self.messages() + 1..self.length(), self.messages());
                    state[self.length() - 1] = 0;
                    state[self.length()] -= 1;
                }
                Act::Send(_) => {}
                Act::Receive => note(state, message.unwrap_or(0)),
                Act::Insert(k) => {
                    state[self.length()] += 1;
                    let end = self.messages() + state[self.length()] as usize;
                    state[end - 1] = k;
                    state[self.messages()..end].sort_unstable();
                }
                Act::TakeLast => {
                    state[self.length()] -= 1;
                    let last = self.messages() + state[self.length()] as usize;
                    note(state, state[last]);
                    state[last] = 0;
                }
                Act::Create(other) if state[other] == UNBORN => state[other] = 0,
                Act::Create(_) => {}
                Act::Break(x) if state[self.variable(x)] >= 2 => return None,
                Act::Break(_) => {}
            }
        }
        state[process] = choice.target as u32;
        Some(())
    }

    /// What a step reads and writes: variables, then the channel's two ends, then processes by whether they exist.
    fn touched(&self, state: &[u32], event: Event) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let (sends, receives, born) = (self.variables, self.variables + 1, self.variables + 2);
        let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
        for (process, at) in std::iter::once((event.process, event.choice)).chain(event.partner) {
            let choices = self.here(state, process);
            let looks = |choice: &Choice, reads: &mut BTreeSet<usize>| {
                for guard in &choice.guards {
                    match guard {
                        Guard::Equal(x, _) | Guard::Differs(x, _) | Guard::AtLeast(x, _) => drop(reads.insert(*x)),
                        Guard::NotEmpty => reads.extend([sends, receives]),
                        Guard::Else | Guard::Timeout => {}
                    }
                }
            };
            looks(&choices[at], &mut reads);
            if choices[at].guards.contains(&Guard::Else) {
                for other in choices {
                    looks(other, &mut reads);
                    if other.acts.iter().any(|act| act.talks()) {
                        reads.extend([sends, receives]);
                    }
                }
            }
            if state[process] == 0 && !self.alive[process] {
                reads.insert(born + process);
            }
            for act in &choices[at].acts {
                match *act {
                    Act::Set(x, _) => drop(writes.insert(x)),
                    Act::Increment(x) => drop((writes.insert(x), reads.insert(x))),
                    Act::Copy(x, y) => drop((writes.insert(x), reads.insert(y))),
                    Act::Observe(x) | Act::AssertBelow(x, _) | Act::Break(x) => drop(reads.insert(x)),
                    Act::Send(_) if self.capacity != Some(0) => drop(writes.insert(sends)),
                    Act::Receive if self.capacity != Some(0) => drop(writes.insert(receives)),
                    Act::Insert(_) | Act::TakeLast => writes.extend([sends, receives]),
                    Act::Send(_) | Act::Receive => {}
                    Act::Create(other) => drop(writes.insert(born + other)),
                }
            }
        }
        (reads, writes)
    }

    /// Who takes part in a step.
    pub fn movers(event: &Event) -> [Option<u8>; 2] {
        [Some(event.process as u8), event.partner.map(|(partner, _)| partner as u8)]
    }

    /// Whether two steps that are possible in a state are independent.
    pub fn independent(&self, state: &[u32], a: Event, b: Event) -> bool {
        if let Some(commuting) = &self.commuting {
            return commuting.contains(&(a, b));
        }
        let together = Self::movers(&a).into_iter().flatten().any(|process| Self::movers(&b).contains(&Some(process)));
        let (mine, theirs) = (self.touched(state, a), self.touched(state, b));
        !together
            && !self.may_break(state, a)
            && !self.may_break(state, b)
            && mine.1.is_disjoint(&theirs.0)
            && mine.0.is_disjoint(&theirs.1)
            && mine.1.is_disjoint(&theirs.1)
    }

    fn may_break(&self, state: &[u32], event: Event) -> bool {
        let breaks = |(process, at): (usize, usize)| {
            self.here(state, process)[at].acts.iter().any(|act| matches!(act, Act::Break(_)))
        };
        breaks((event.process, event.choice)) || event.partner.is_some_and(breaks)
    }
}

fn name(event: Event) -> u32 {
    let partner = event.partner.map_or(0, |(process, choice)| 1 + process * 8 + choice);
    (event.process + 8 * event.choice + 64 * partner) as u32
}

fn named(name: u32) -> Event {
    let name = name as usize;
    let partner = (name / 64).checked_sub(1).map(|partner| (partner / 8, partner % 8));
    Event { process: name % 8, choice: name / 8 % 8, partner }
}

impl Model for Toy {
    type Label = Event;
    type Fault = u32;
    /// The number of the next step, whether the last one was possible only because no other was, and which steps are left out.
    type Cursor = (usize, bool, u64);

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        state.clone_from(&self.initial_state());
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> (usize, bool, u64) {
        (0, false, 0)
    }

    fn next(&mut self, state: &[u32], cursor: &mut Self::Cursor, successor: &mut Vec<u32>) -> Next<Event, u32> {
        let (events, last_resort) = self.events(state);
        cursor.0 += (cursor.2 >> cursor.0).trailing_ones() as usize;
        let Some(event) = events.get(cursor.0).copied() else {
            return Next::Done(match events.is_empty() {
                false => Ending::Moves,
                true if self.is_end(state) => Ending::ValidEnd,
                true => Ending::InvalidEnd,
            });
        };
        *cursor = (cursor.0 + 1, last_resort, cursor.2);
        let Some(next) = self.after(state, event) else { return Next::Broken { label: event, fault: 2 } };
        let fails = self.processes[event.process][state[event.process] as usize][event.choice]
            .acts
            .iter()
            .any(|act| matches!(act, Act::AssertBelow(..)) && next[self.observed(event.process)] % 16 == 2);
        successor.clone_from(&next);
        Next::Successor { label: Some(event), transient: false, fault: fails.then_some(1), marks: Marks::NONE }
    }
}

impl Independence for Toy {
    fn name_of(&mut self, _: &[u32], label: &Event) -> Option<u32> {
        Some(name(*label))
    }

    fn retain_independent(&mut self, state: &[u32], step: u32, names: &mut Vec<u32>) {
        names.retain(|other| self.independent(state, named(step), named(*other)));
    }

    fn is_last_resort(&self, cursor: &Self::Cursor) -> bool {
        cursor.1
    }

    /// Leaves out every other step.
    fn leave_out(&mut self, state: &[u32], cursor: &mut Self::Cursor, asleep: &[u32]) {
        let (events, _) = self.events(state);
        let left_out = |at: &usize| at.is_multiple_of(2) && asleep.contains(&name(events[*at]));
        cursor.2 = (0..events.len().min(64)).filter(left_out).fold(0, |all, at| all | 1 << at);
    }

    fn is_waiting(&mut self, _: &Event) -> bool {
        false
    }

    fn laps_of(&mut self, state: &[u32], label: &Event) -> [Option<u32>; 2] {
        self.lap_keys(state, *label)
    }

    fn ends_executions(&self, _: &Event) -> bool {
        true
    }
}

/// What a step touches: its processes, what it reads and writes, and whether it may be one that cannot be computed.
#[derive(Clone, Debug)]
pub struct Touched {
    movers: Vec<usize>,
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    breaks: bool,
}

impl Toy {
    /// Whether some step is possible only if no other is.
    pub fn has_timeout(&self) -> bool {
        self.processes.iter().flatten().flatten().any(|choice| choice.guards.contains(&Guard::Timeout))
    }

    /// Whether some step waits for one of these variables, or depends on it that another one is not possible.
    fn guards_look_at(&self, cells: &BTreeSet<usize>) -> bool {
        let looks = |guard: &Guard| match guard {
            Guard::Equal(x, _) | Guard::Differs(x, _) | Guard::AtLeast(x, _) => cells.contains(x),
            Guard::NotEmpty | Guard::Else | Guard::Timeout => false,
        };
        self.processes.iter().flatten().flatten().flat_map(|choice| &choice.guards).any(looks)
    }
}

impl Dependence for Toy {
    type Touched = Touched;

    fn footprint(&mut self, state: &[u32], path: &[Event], _: Option<&[u32]>) -> Option<Footprint<Touched>> {
        let event = *path.first()?;
        let parts: Vec<(usize, usize)> = std::iter::once((event.process, event.choice)).chain(event.partner).collect();
        let (reads, writes) = self.touched(state, event);
        let acts: Vec<Act> = parts.iter().flat_map(|part| self.here(state, part.0)[part.1].acts.clone()).collect();
        let capacity = self.capacity.filter(|capacity| *capacity > 0);
        let message = |act: &Act| {
            let traffic = match act {
                Act::Send(_) => Traffic::Send,
                Act::Receive => Traffic::Receive,
                _ => return None,
            };
            Some(Message { channel: 0, capacity: capacity? as u32, level: state[self.length()], traffic })
        };
        let message = acts.iter().find_map(message);
        let creates = acts.iter().any(|act| matches!(act, Act::Create(_)));
        let breaks = self.may_break(state, event);
        let talks = acts.iter().any(|act| act.talks());
        let guards = self.guards_look_at(&writes) || talks || breaks;
        let alternatives = parts.iter().any(|part| self.here(state, part.0).len() > 1);
        let ready = self.capacity == Some(0)
            && parts.iter().any(|part| {
                let at = &self.processes[part.0];
                let target = at[state[part.0] as usize][part.1].target;
                at.get(target).into_iter().flatten().any(|choice| choice.acts.contains(&Act::Receive))
            });
        let movers = parts.iter().map(|part| part.0).collect();
        Some(Footprint {
            touched: Touched { movers, reads, writes, breaks },
            message,
            may_enable: guards || creates || ready,
            may_disable: guards || alternatives,
        })
    }

    fn depend(&mut self, a: &Touched, b: &Touched) -> bool {
        a.breaks
            || b.breaks
            || self.share_process(a, b)
            || !a.writes.is_disjoint(&b.reads)
            || !a.reads.is_disjoint(&b.writes)
            || !a.writes.is_disjoint(&b.writes)
    }

    fn share_process(&self, a: &Touched, b: &Touched) -> bool {
        a.movers.iter().any(|process| b.movers.contains(process))
    }

    fn settles(&mut self, _: &[u32]) -> bool {
        false
    }
}
