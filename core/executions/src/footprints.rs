//! What steps of a machine touch, for searches that reverse races.

use super::birth_names::{name_at, renamed};
use super::conflicts::{Configuration, EventFacts, Part, Relation, Tables};
use super::model::Interleaved;
use fabius_machine::{Machine, Step as MachineStep};
use fabius_program::facts::{Now, Step, Traffic as FactsTraffic};
use fabius_program::{Move, Slot};
use fabius_search::executions::{Dependence, Footprint, Message, Traffic};
use std::collections::HashMap;
use std::rc::Rc;

/// What a step touches.
#[derive(Debug)]
pub(super) struct Touched {
    /// Processes that take part, or are created.
    pids: Vec<u8>,
    parts: Vec<TouchedPart>,
    /// What it really touched, if that is recorded.
    recorded: Option<Vec<Exact>>,
    /// See [`Dependences::number`].
    number: Option<u32>,
}

/// What a step touches, and its number.
type Numbered = (Vec<TouchedPart>, u32);

/// Which steps depend on each other, once they were asked for. Steps are numbered by all that is compared.
#[derive(Debug, Default)]
pub(super) struct Dependences {
    /// By the processes that take part and the edge that comes first.
    numbers: HashMap<(Vec<u8>, usize), Vec<Numbered>>,
    len: u32,
    /// By two numbers, the greater one first.
    known: Vec<Vec<Option<bool>>>,
}

impl Dependences {
    /// Steps with greater numbers are compared anew whenever they are asked for.
    const MAX: u32 = 1 << 10;

    /// A number for what a step touches: equal ones touch the same. `None` if there are too many, or what it touched is recorded.
    fn number(&mut self, pids: &[u8], parts: &[TouchedPart]) -> Option<u32> {
        let first = parts.first().map_or(0, |part| part.known.part.edge);
        let same = self.numbers.entry((pids.to_vec(), first)).or_default();
        if let Some((_, number)) = same.iter().find(|(other, _)| other == parts) {
            return Some(*number);
        }
        let number = Some(self.len).filter(|number| *number < Self::MAX)?;
        same.push((parts.to_vec(), number));
        self.len += 1;
        Some(number)
    }

    /// Where it stands whether two steps depend on each other.
    fn place(&mut self, a: &Touched, b: &Touched) -> Option<&mut Option<bool>> {
        let (a, b) = (a.number?.max(b.number?) as usize, a.number?.min(b.number?) as usize);
        if self.known.len() <= a {
            self.known.resize_with(a + 1, Vec::new);
        }
        let row = &mut self.known[a];
        if row.is_empty() {
            row.resize(a + 1, None);
        }
        row.get_mut(b)
    }
}

/// What an edge touched that was taken.
#[derive(Debug)]
enum Exact {
    /// The same as in all other states.
    Always(Known),
    Now(Box<Step>),
}

impl Exact {
    fn step<'t>(&'t self, tables: &'t Tables) -> &'t Step {
        match self {
            Self::Always(known) => &tables.instance_at(known.instance).steps[known.part.edge],
            Self::Now(step) => step,
        }
    }
}

/// A part of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
struct TouchedPart {
    known: Known,
    event: EventFacts,
    /// What processes do that may receive control.
    joined: Vec<Known>,
}

/// An edge of a process of which the tables know the instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    part: Part,
    instance: usize,
    /// Which process it is, the same in all states.
    who: u8,
}

impl TouchedPart {
    /// Its own edge, or one of those that may receive control.
    fn edge(&self, at: usize) -> Known {
        at.checked_sub(1).map_or(self.known, |at| self.joined[at])
    }
}

/// A step that was taken, its processes told by their places in the state in which it was.
struct Taken<'a> {
    state: &'a [u32],
    first: Move,
    /// All its moves, if each process that moves existed before.
    path: Option<Vec<Move>>,
    /// The state that it led to, with the place there of the process that moves first.
    after: Option<(&'a [u32], Option<u8>)>,
}

impl Tables {
    fn touched(
        &mut self,
        machine: &mut Machine,
        taken: &Taken<'_>,
        (pids, who): (Vec<u8>, &dyn Fn(usize) -> Option<u8>),
    ) -> Option<Rc<Touched>> {
        let configuration = self.of(machine, taken.state)?;
        let parts = self.parts_of(&configuration, taken.state, &taken.first)?;
        let mut found = Vec::new();
        for part in parts {
            let known =
                |part: Part| Some(Known { part, instance: configuration.instance_of(part.pid), who: who(part.pid)? });
            let event = self.event_of(&configuration, taken.state, part);
            let joined = event.joined.iter().map(|part| known(*part)).collect::<Option<_>>()?;
            found.push(TouchedPart { known: known(part)?, event, joined });
        }
        let recorded = match self.relation() {
            Relation::Recorded => self.record(machine, taken, (&configuration, &found)),
            _ => None,
        };
        let number = match recorded {
            None => self.dependences.number(&pids, &found),
            Some(_) => None,
        };
        Some(Rc::new(Touched { pids, parts: found, recorded, number }))
    }

    /// What a step really touched; `None` if it may have to do with a rendezvous: then all counts that it might have touched.
    fn record(
        &self,
        machine: &mut Machine,
        taken: &Taken<'_>,
        (configuration, parts): (&Configuration, &[TouchedPart]),
    ) -> Option<Vec<Exact>> {
        let [TouchedPart { joined, known, .. }] = parts else { return None };
        let (path, who) = (taken.path.as_deref()?, known.who);
        let (pid, last) = (taken.first.pid, path.last()?);
        let number = configuration.instance_of(usize::from(pid));
        let instance = self.instance_at(number);
        let facts = self.facts();
        let alone = |step: &Move| {
            step.pid == pid && step.partner.is_none() && instance.steps[facts.index_of(step.edge)].is_alone()
        };
        if !joined.is_empty() || !path.iter().all(alone) {
            return None;
        }
        let mut found = Vec::with_capacity(path.len());
        let mut here = taken.state.to_vec();
        for (at, step) in path.iter().enumerate() {
            let edge = facts.index_of(step.edge);
            if self.varies(number, edge) {
                let step = with_values(machine, &here, pid, |now| facts.recorded(instance, step.edge, now))?;
                found.push(Exact::Now(Box::new(step)));
            } else {
                let part = Part { pid: usize::from(pid), edge, starts: false };
                found.push(Exact::Always(Known { part, instance: number, who }));
            }
            if path[at + 1..].iter().any(|step| self.varies(number, facts.index_of(step.edge))) {
                here = successor(machine, &here, step)?;
            }
        }
        // An atomic sequence that does not go on looked at what it could go on with.
        let last = &facts.program().edges[last.edge.0 as usize];
        if let Some((after, place)) = taken.after.filter(|_| last.atomic) {
            let looked = with_values(machine, after, place?, |now| facts.broken_off(instance, last.target, now))??;
            found.push(Exact::Now(Box::new(looked)));
        }
        Some(found)
    }

    fn exact_meet(&mut self, mine: &Exact, theirs: &Exact) -> bool {
        match (mine, theirs) {
            (Exact::Always(a), Exact::Always(b)) => self.conflict_between((a.instance, a.part), (b.instance, b.part)),
            _ => self.facts().steps_meet(mine.step(self), theirs.step(self)),
        }
    }

    /// Whether two events meet, `exact` tells more of what they touched than the edges that they begin with.
    fn meet(&mut self, mine: &TouchedPart, theirs: &TouchedPart, exact: Option<(&Vec<Exact>, &Vec<Exact>)>) -> bool {
        let (m, t) = (&mine.event.meetings, &theirs.event.meetings);
        if mine.event.ends || theirs.event.ends || m.absence.meets(t.readiness) || t.absence.meets(m.readiness) {
            return true;
        }
        if let Some((mine, theirs)) = exact {
            return mine.iter().any(|a| theirs.iter().any(|b| self.exact_meet(a, b)));
        }
        let edges = |part: &TouchedPart| 0..=part.joined.len();
        edges(mine).any(|a| {
            let a = mine.edge(a);
            let mut others = edges(theirs).map(|b| theirs.edge(b)).filter(|b| a.who != b.who);
            others.any(|b| self.conflict_between((a.instance, a.part), (b.instance, b.part)))
        })
    }

    /// The message that a step begins with. Inside an atomic sequence it matters as well whether there is one.
    fn message(
        &mut self,
        machine: &mut Machine,
        state: &[u32],
        first: &Move,
        recorded: Option<&Vec<Exact>>,
    ) -> Option<Message> {
        let configuration = self.of(machine, state).filter(|_| first.partner.is_none())?;
        let instance = self.instance_at(configuration.instance_of(usize::from(first.pid)));
        let (channel, capacity, traffic) = match recorded.and_then(|all| all.first()) {
            Some(exact) => self.facts().traffic_of(exact.step(self))?,
            None => self.facts().traffic(instance, first.edge)?,
        };
        let traffic = match traffic {
            FactsTraffic::Send => Traffic::Send,
            FactsTraffic::Receive => Traffic::Receive,
            FactsTraffic::Peek => Traffic::Peek,
        };
        let shape = machine.shape_number(state)?;
        let level = machine.length_reader(shape, channel as usize)?.read(state) as u32;
        Some(Message { channel, capacity, level, traffic })
    }

    /// Whether a step may enable, and whether it may disable others, or a process that takes part has an alternative.
    fn influence_of(&mut self, path: &[Move], touched: &Touched) -> (bool, bool) {
        let mut found = (path.len() > 1, path.len() > 1);
        for TouchedPart { known, event, joined } in &touched.parts {
            let influence = self.influence(known.instance, known.part);
            let ends = event.ends || !joined.is_empty();
            found = (found.0 || influence.enables || ends, found.1 || influence.disables || ends);
        }
        found.1 |= touched.parts.iter().any(|part| self.has_alternatives(part.known.instance, part.known.part));
        found
    }
}

/// Calls a function with the values of a state, as a process sees them.
fn with_values<T>(machine: &mut Machine, state: &[u32], pid: u8, call: impl FnOnce(Now<'_>) -> T) -> Option<T> {
    let shape = machine.shape_number(state)?;
    let load = |slot: Slot, element: u32| {
        let reader = match slot {
            Slot::Global(variable) => machine.global_reader(shape, variable, element),
            Slot::Local(variable) => machine.local_reader(shape, usize::from(pid), variable, element),
        };
        reader.map(|reader| reader.read(state))
    };
    Some(call(Now { pid, load: &load }))
}

/// The state after a step.
fn successor(machine: &mut Machine, state: &[u32], step: &Move) -> Option<Vec<u32>> {
    let (mut cursor, mut successor) = (machine.begin(state), Vec::new());
    loop {
        match machine.next(state, &mut cursor, &mut successor) {
            MachineStep::Successor { label, .. } if label == Some(*step) => return Some(successor),
            MachineStep::Done(_) => return None,
            _ => {}
        }
    }
}

impl Dependence for Interleaved {
    type Touched = Rc<Touched>;

    fn footprint(&mut self, state: &[u32], path: &[Move], after: Option<&[u32]>) -> Option<Footprint<Rc<Touched>>> {
        let mut pids: Vec<u8> = Vec::new();
        for label in path {
            pids.push(label.pid);
            pids.extend(label.partner.map(|(pid, _)| pid));
        }
        if let Some(after) = after {
            pids.extend(self.created(state, after));
        }
        pids.sort_unstable();
        pids.dedup();
        let first = path.first()?;
        let placed = |step: &Move| renamed(*step, |who| self.place(state, who));
        let taken = Taken {
            state: self.words_of(state),
            first: placed(first)?,
            path: path.iter().map(placed).collect(),
            after: after.map(|after| (self.words_of(after), self.place(after, first.pid))),
        };
        let has_names = self.has_names();
        let who = |place: usize| match u8::try_from(place) {
            Ok(place) if has_names => name_at(state, place),
            place => place.ok(),
        };
        let (machine, tables) = self.machine_and_tables();
        let touched = tables.touched(machine, &taken, (pids, &who))?;
        let message = tables.message(machine, taken.state, &taken.first, touched.recorded.as_ref());
        let (may_enable, may_disable) = tables.influence_of(path, &touched);
        Some(Footprint { touched, message, may_enable, may_disable })
    }

    fn depend(&mut self, a: &Rc<Touched>, b: &Rc<Touched>) -> bool {
        let (_, tables) = self.machine_and_tables();
        if let Some(Some(known)) = tables.dependences.place(a, b) {
            return *known;
        }
        let exact = a.recorded.as_ref().zip(b.recorded.as_ref());
        let share_process = a.pids.iter().any(|pid| b.pids.contains(pid));
        let depend =
            share_process || a.parts.iter().any(|mine| b.parts.iter().any(|theirs| tables.meet(mine, theirs, exact)));
        if let Some(known) = tables.dependences.place(a, b) {
            *known = Some(depend);
        }
        depend
    }

    fn varies(&self) -> bool {
        self.some_vary()
    }

    fn share_process(&self, a: &Rc<Touched>, b: &Rc<Touched>) -> bool {
        a.pids.iter().any(|pid| b.pids.contains(pid))
    }

    fn settles(&mut self, state: &[u32]) -> bool {
        self.ends_quietly_now(state)
    }
}
