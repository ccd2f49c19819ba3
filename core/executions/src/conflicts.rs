//! Which next steps of the processes of a state are independent, looked up in tables.
//!
//! As in [`fabius_model::reduction`], there is one set of tables for each *configuration*: the sequence of types of a state's
//! processes, with the values of those locals that never change. Two steps are independent if no process takes part in
//! both, all that may happen in the one accords with all that may happen in the other, and neither depends on whether a
//! process is ready to receive that starts or stops being so in the other. All that may happen in a step is its atomic
//! sequence, with those of the processes that may receive control in it.

use super::birth_order::NOBODY;
use super::footprints::Dependences;
use super::learned::Learnt;
use fabius_machine::{Machine, Reader};
use fabius_model::configurations::{Configurations, Lookup, NewConfiguration};
use fabius_program::facts::{Bits, Channels, Conflicts, Facts, Influence, Instance, InstanceKey, Meetings};
use fabius_program::{EdgeId, Location, Move, ProcessId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// A step's name: process, alternative of its location, partner, alternative of the partner's location; 8 bits each.
pub(super) fn name_of(facts: &Facts, step: &Move) -> Option<u32> {
    let program = facts.program();
    let position = |edge: EdgeId| {
        let source = program.edges[edge.0 as usize].source;
        let locations = &program.process(program.process_of(edge)).locations;
        let position = edge.0 - locations.get(source.0 as usize)?.edges.start;
        (position < NOBODY).then_some(position)
    };
    let (partner, theirs) = match step.partner {
        Some((partner, edge)) => (u32::from(partner), position(edge)?),
        None => (NOBODY, 0),
    };
    Some(u32::from(step.pid) | position(step.edge)? << 8 | partner << 16 | theirs << 24)
}

/// An edge that a step begins with, and whether it starts an atomic sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub pid: usize,
    pub edge: usize,
    pub starts: bool,
}

/// When two steps are independent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Relation {
    /// Wherever both are possible, each stays possible after the other, and both orders lead to the same state.
    #[default]
    Accords,
    /// Neither writes what the other reads or writes.
    Footprints,
    /// The same, of what they really touch in the state in which they are taken: the element that an index names, the channel that an
    /// expression names, the statements of an atomic sequence that are executed. Only without a table.
    Recorded,
    /// In every reachable state in which both are possible, each stays possible after the other, and both orders do the same
    /// and lead to the same state.
    Learned,
}

/// All configurations met so far.
#[derive(Debug)]
pub(super) struct Tables {
    facts: Arc<Facts>,
    /// For each edge of the program, whether it is known to end executions.
    ending: Vec<bool>,
    instances: HashMap<InstanceKey, usize>,
    known: Vec<Arc<Instance>>,
    /// By the number of a process: for each location, the first of its edges, and how many there are.
    places: Vec<Arc<[(usize, u32)]>>,
    /// By the numbers of two processes of which something is known, once they are asked for.
    pairs: Vec<Vec<Option<Arc<Pair>>>>,
    relation: Relation,
    /// What events may change for others, by type, edge and whether it starts a sequence.
    influences: HashMap<(ProcessId, usize, bool), Influence>,
    /// By the number of a process: for each of its edges, whether what it touches may differ from state to state.
    varying: Vec<Vec<bool>>,
    configurations: Configurations<Configuration>,
    pub dependences: Dependences,
}

/// The tables of a configuration.
#[derive(Debug)]
pub(super) struct Configuration {
    processes: Vec<Agent>,
    /// By the numbers of two processes, once they are asked for; empty if there are too many processes for that.
    pairs: Vec<OnceLock<Arc<Pair>>>,
}

/// What is known of two processes of which each is known to be of some kind.
#[derive(Debug)]
struct Pair {
    conflicts: Conflicts,
    /// For an edge of each that starts a step without partner, whether these are independent: 0, 1 or [`UNKNOWN`]; as far as others
    /// play no part in that. Empty if that would be too many.
    independent: Vec<AtomicU8>,
    /// Edges of the second process.
    columns: usize,
}

/// Nobody asked yet.
const UNKNOWN: u8 = 2;
/// At most this many answers about two processes are kept.
const ANSWERS_MAX: usize = 1 << 16;

/// Up to this many processes, a configuration keeps what is known of each pair of them.
const PAIRED_MAX: usize = 32;

/// The tables of one process.
#[derive(Debug)]
struct Agent {
    /// The number of what is known of it.
    id: usize,
    location: Option<Reader>,
    /// For each location, the first of its edges, and how many there are.
    places: Arc<[(usize, u32)]>,
    /// What each edge means taken alone, and as the start of an atomic sequence, once that is asked for.
    events: [Vec<OnceLock<EventFacts>>; 2],
}

/// What is known of an event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct EventFacts {
    pub meetings: Meetings,
    /// Edges of other processes that may receive control in it.
    pub joined: Vec<Part>,
    /// Others may receive control in it, if there are any that can.
    hands_over: bool,
    /// It may end the execution.
    pub ends: bool,
}

/// The steps of a state, as far as they are asked for.
struct Here<'a> {
    tables: &'a mut Tables,
    configuration: &'a Configuration,
    state: &'a [u32],
}

/// A step: its parts.
type Parts = (Part, Option<Part>);

impl Here<'_> {
    /// The parts of the step with a name.
    fn parts(&self, name: u32) -> Option<Parts> {
        let part = |pid: u32, position: u32, starts: bool| {
            let (first, count) = self.configuration.processes.get(pid as usize)?.place(self.state)?;
            (position < count).then_some(Part { pid: pid as usize, edge: first + position as usize, starts })
        };
        let byte = |at: u32| name >> at & 0xFF;
        Some(match byte(16) {
            NOBODY => (part(byte(0), byte(8), true)?, None),
            // After a rendezvous only the receiver may hold control.
            partner => (part(byte(0), byte(8), false)?, Some(part(partner, byte(24), true)?)),
        })
    }

    /// The step with a name.
    fn step(&self, name: u32) -> Option<Move> {
        let edge = |part: Part| {
            let process = self.tables.known[self.configuration.processes[part.pid].id].key.process;
            EdgeId(self.tables.facts.first_edge(process) + part.edge as u32)
        };
        let (part, partner) = self.parts(name)?;
        let partner = partner.map(|partner| (partner.pid as u8, edge(partner)));
        Some(Move { pid: part.pid as u8, edge: edge(part), partner })
    }

    fn event(&self, part: Part) -> &EventFacts {
        let cell = &self.configuration.processes[part.pid].events[usize::from(part.starts)][part.edge];
        cell.get_or_init(|| self.tables.event(self.configuration, part))
    }

    fn pair(&mut self, a: Part, b: Part) -> &Pair {
        let configuration = self.configuration;
        let processes = &configuration.processes;
        let (of, other) = (processes[a.pid].id, processes[b.pid].id);
        match configuration.pairs.get(a.pid * processes.len() + b.pid) {
            Some(cell) => cell.get_or_init(|| Arc::clone(self.tables.pair_of(of, other))),
            None => self.tables.pair_of(of, other),
        }
    }

    fn conflict(&mut self, a: Part, b: Part) -> bool {
        self.pair(a, b).conflicts.between(a.edge, a.starts, b.edge, b.starts)
    }

    /// Whether two steps are independent.
    fn independent(&mut self, a: Parts, b: Parts) -> bool {
        let ((mine, None), (theirs, None)) = (a, b) else { return self.all_independent(a, b) };
        if mine.pid == theirs.pid {
            return false;
        }
        if let Some(cell) = self.pair(mine, theirs).answer(mine, theirs)
            && cell.load(Ordering::Relaxed) != UNKNOWN
        {
            return cell.load(Ordering::Relaxed) == 1;
        }
        let found = self.parts_independent(mine, theirs);
        if !self.event(mine).hands_over
            && !self.event(theirs).hands_over
            && let Some(cell) = self.pair(mine, theirs).answer(mine, theirs)
        {
            cell.store(u8::from(found), Ordering::Relaxed);
        }
        found
    }

    fn all_independent(&mut self, a: Parts, b: Parts) -> bool {
        let each = |step: Parts| [Some(step.0), step.1].into_iter().flatten();
        each(a).all(|mine| each(b).all(|theirs| self.parts_independent(mine, theirs)))
    }

    fn parts_independent(&mut self, mine: Part, theirs: Part) -> bool {
        let (my_event, their_event) = (self.event(mine), self.event(theirs));
        let (m, t) = (&my_event.meetings, &their_event.meetings);
        let alone = my_event.joined.is_empty() && their_event.joined.is_empty();
        let apart = mine.pid != theirs.pid
            && !my_event.ends
            && !their_event.ends
            && !m.absence.meets(t.readiness)
            && !t.absence.meets(m.readiness);
        if !apart || self.conflict(mine, theirs) {
            return false;
        }
        if alone {
            return true;
        }
        // Processes that may receive control do what they do then. Where such a process takes part in the other step
        // by itself, it starts or stops being ready to receive there: that was asked.
        let with = |part: Part, event: &EventFacts| [&[part][..], &event.joined].concat();
        let (all_mine, all_theirs) = (with(mine, self.event(mine)), with(theirs, self.event(theirs)));
        all_mine.iter().all(|a| all_theirs.iter().all(|b| a.pid == b.pid || !self.conflict(*a, *b)))
    }
}

impl Pair {
    fn new(conflicts: Conflicts, (rows, columns): (usize, usize)) -> Self {
        let count = if rows * columns <= ANSWERS_MAX { rows * columns } else { 0 };
        Self { conflicts, independent: (0..count).map(|_| AtomicU8::new(UNKNOWN)).collect(), columns }
    }

    #[inline]
    fn answer(&self, mine: Part, theirs: Part) -> Option<&AtomicU8> {
        self.independent.get(mine.edge * self.columns + theirs.edge)
    }
}

impl Agent {
    /// The first edge that the process can take in a state as far as its location tells, and how many there are.
    #[inline]
    fn place(&self, state: &[u32]) -> Option<(usize, u32)> {
        self.places.get(self.location.map_or(0, |reader| reader.read(state) as usize)).copied()
    }
}

impl Configuration {
    /// The number of what is known of a process.
    pub(super) fn instance_of(&self, pid: usize) -> usize {
        self.processes[pid].id
    }
}

impl Tables {
    /// Empty tables. `ending` tells of each edge whether it is known to end executions.
    pub(super) fn new(facts: Arc<Facts>, ending: Vec<bool>, relation: Relation) -> Self {
        Self {
            facts,
            ending,
            instances: HashMap::new(),
            known: Vec::new(),
            places: Vec::new(),
            pairs: Vec::new(),
            relation,
            influences: HashMap::new(),
            varying: Vec::new(),
            configurations: Configurations::default(),
            dependences: Dependences::default(),
        }
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is known of a process, by its number.
    pub(super) fn instance_at(&self, number: usize) -> &Instance {
        &self.known[number]
    }

    pub(super) fn relation(&self) -> Relation {
        self.relation
    }

    /// Whether what an edge touches may differ from state to state; known if footprints are recorded.
    pub(super) fn varies(&self, number: usize, edge: usize) -> bool {
        self.varying.get(number).is_some_and(|edges| edges[edge])
    }

    /// The parts of a step of a state.
    pub(super) fn parts_of(
        &mut self,
        configuration: &Configuration,
        state: &[u32],
        step: &Move,
    ) -> Option<impl Iterator<Item = Part> + use<>> {
        let name = name_of(&self.facts, step)?;
        let (first, second) = Here { tables: self, configuration, state }.parts(name)?;
        Some(std::iter::once(first).chain(second))
    }

    /// What is known of the event that a part starts.
    pub(super) fn event_of(&mut self, configuration: &Configuration, state: &[u32], part: Part) -> EventFacts {
        Here { tables: self, configuration, state }.event(part).clone()
    }

    /// Whether two edges of processes with these numbers conflict.
    pub(super) fn conflict_between(&mut self, (of, a): (usize, Part), (other, b): (usize, Part)) -> bool {
        self.pair_of(of, other).conflicts.between(a.edge, a.starts, b.edge, b.starts)
    }

    /// What an event may change for others.
    pub(super) fn influence(&mut self, number: usize, part: Part) -> Influence {
        let process = self.known[number].key.process;
        let Self { facts, influences, .. } = self;
        let key = (process, part.edge, part.starts);
        *influences.entry(key).or_insert_with(|| facts.influence(process, part.edge, part.starts))
    }

    /// Whether a process could do something else than an edge, or something else after it before others move.
    pub(super) fn has_alternatives(&self, number: usize, part: Part) -> bool {
        let process = self.known[number].key.process;
        let program = self.facts.program();
        let edge = &program.edges[self.facts.first_edge(process) as usize + part.edge];
        let edges = &program.process(process).locations[edge.source.0 as usize].edges;
        edges.len() > 1 || part.starts && edge.atomic
    }

    /// Processes of a state all of whose steps are among these, as bits by their numbers, as far as that is seen at a glance:
    /// they are among the first 64, and have a single edge to take, with nobody else.
    pub(super) fn with_no_other_step(&mut self, machine: &mut Machine, state: &[u32], names: &[u32]) -> Option<u64> {
        let configuration = self.of(machine, state)?;
        let single = |name: u32| {
            let [pid, _, partner, _] = name.to_le_bytes();
            let (_, edges) = configuration.processes.get(usize::from(pid))?.place(state)?;
            let alone = u32::from(partner) == NOBODY && edges == 1;
            (alone && u32::from(pid) < u64::BITS).then(|| 1 << pid)
        };
        Some(names.iter().filter_map(|name| single(*name)).fold(0, |all, one: u64| all | one))
    }

    /// Removes from a list of steps those that are not independent of `step`; all are possible in a state.
    pub(super) fn retain_independent(
        &mut self,
        machine: &mut Machine,
        state: &[u32],
        step: u32,
        names: &mut Vec<u32>,
    ) -> Option<()> {
        let configuration = self.of(machine, state)?;
        let mut here = Here { tables: self, configuration: &configuration, state };
        let parts = here.parts(step)?;
        let mut known = true;
        names.retain(|name| match here.parts(*name) {
            Some(other) => here.independent(parts, other),
            None => {
                known = false;
                false
            }
        });
        known.then_some(())
    }

    /// Removes from a list of steps those that are not independent of `step` by what was learnt; all are possible in a state. `told`
    /// says under which name of its processes a step is known.
    pub(super) fn retain_learnt(
        &mut self,
        (machine, state): (&mut Machine, &[u32]),
        step: u32,
        names: &mut Vec<u32>,
        (learnt, told): (&Learnt, &dyn Fn(Move) -> Option<Move>),
    ) -> Option<()> {
        let configuration = self.of(machine, state)?;
        let mut here = Here { tables: self, configuration: &configuration, state };
        let (mine, parts) = (told(here.step(step)?)?, here.parts(step)?);
        let mut known = true;
        let movers = |step: &Move| [Some(step.pid), step.partner.map(|(pid, _)| pid)];
        names.retain(|name| {
            let (Some(theirs), Some(other)) = (here.step(*name).and_then(told), here.parts(*name)) else {
                known = false;
                return false;
            };
            if movers(&theirs).into_iter().flatten().any(|pid| movers(&mine).contains(&Some(pid))) {
                return false;
            }
            let found = learnt.commuting.get(&(mine, theirs)).copied();
            known &= found.is_some();
            found == Some(true) || learnt.text_tells && here.independent(parts, other)
        });
        known.then_some(())
    }

    /// The tables of a state.
    pub(super) fn of(&mut self, machine: &mut Machine, state: &[u32]) -> Option<Arc<Configuration>> {
        let shape = machine.shape_number(state)?;
        let number = match self.configurations.likely(shape, state) {
            Some(number) => number,
            None => match self.configurations.look_up(&self.facts, machine, state, shape)? {
                Lookup::Known(number) => number,
                Lookup::New(new) => {
                    let configuration = self.make(machine, &new);
                    self.configurations.insert(new, configuration)
                }
            },
        };
        Some(Arc::clone(self.configurations.tables(number)))
    }

    fn make(&mut self, machine: &Machine, new: &NewConfiguration) -> Configuration {
        let count = new.processes.len();
        let ids: Vec<usize> = new.processes.iter().map(|key| self.instance(key.clone())).collect();
        let pairs = if count <= PAIRED_MAX { vec![OnceLock::new(); count * count] } else { Vec::new() };
        let agent = |(pid, id): (usize, usize)| {
            let edges = || vec![OnceLock::new(); self.known[id].steps.len()];
            let (location, places) = (machine.location_reader(new.shape(), pid), Arc::clone(&self.places[id]));
            Agent { id, location, places, events: [edges(), edges()] }
        };
        Configuration { processes: ids.into_iter().enumerate().map(agent).collect(), pairs }
    }

    fn instance(&mut self, key: InstanceKey) -> usize {
        if let Some(id) = self.instances.get(&key) {
            return *id;
        }
        self.known.push(Arc::new(self.facts.instance(key.clone())));
        let locations = &self.facts.program().process(key.process).locations;
        let place =
            |location: &Location| (self.facts.index_of(EdgeId(location.edges.start)), location.edges.len() as u32);
        let no_place = |location: &Location| location.edges.is_empty();
        self.places.push(locations.iter().map(|at| if no_place(at) { (0, 0) } else { place(at) }).collect());
        if self.relation == Relation::Recorded {
            let instance = &self.known[self.known.len() - 1];
            let first = self.facts.first_edge(key.process);
            let edges = 0..instance.steps.len() as u32;
            self.varying.push(edges.map(|edge| self.facts.varies(instance, EdgeId(first + edge))).collect());
        }
        self.instances.insert(key, self.known.len() - 1);
        self.known.len() - 1
    }

    fn pair_of(&mut self, of: usize, other: usize) -> &Arc<Pair> {
        let Self { facts, known, pairs, relation, .. } = self;
        pairs.resize_with(pairs.len().max(of + 1), Vec::new);
        let row = &mut pairs[of];
        row.resize(row.len().max(other + 1), None);
        row[other].get_or_insert_with(|| {
            let conflicts = match relation {
                Relation::Accords | Relation::Learned => facts.conflicts_next(&known[of], &known[other]),
                Relation::Footprints | Relation::Recorded => facts.footprints_meet(&known[of], &known[other]),
            };
            Arc::new(Pair::new(conflicts, (known[of].steps.len(), known[other].steps.len())))
        })
    }

    /// What is known of the event that a part starts, with the processes that may receive control in it.
    fn event(&self, configuration: &Configuration, part: Part) -> EventFacts {
        let mut event = EventFacts::default();
        let mut parts = vec![part];
        let mut next = 0;
        while let Some(part) = parts.get(next).copied() {
            next += 1;
            let instance = &self.known[configuration.processes[part.pid].id];
            let found = self.facts.meetings(instance, part.edge, part.starts);
            event.meetings.absence = event.meetings.absence.with(found.absence);
            event.meetings.readiness = event.meetings.readiness.with(found.readiness);
            event.ends |= self.may_end(instance, part);
            event.hands_over |= !found.later_offers.is_empty();
            self.receivers(configuration, part.pid, found.later_offers, &mut parts);
        }
        event.joined = parts.split_off(1);
        event
    }

    /// Adds the edges of others that receive on some rendezvous channels.
    fn receivers(&self, configuration: &Configuration, sender: usize, channels: Channels, parts: &mut Vec<Part>) {
        if channels.is_empty() {
            return;
        }
        for (pid, agent) in configuration.processes.iter().enumerate().filter(|(pid, _)| *pid != sender) {
            for (edge, step) in self.known[agent.id].steps.iter().enumerate() {
                let part = Part { pid, edge, starts: true };
                if step.accepts.meets(channels) && !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
    }

    fn may_end(&self, instance: &Instance, part: Part) -> bool {
        let first = self.facts.first_edge(instance.key.process) as usize;
        let mut alone = Bits::default();
        alone.insert(part.edge);
        let run = if part.starts { self.facts.run(instance.key.process, part.edge) } else { &alone };
        run.iter().any(|edge| self.ending[first + edge])
    }
}
