//! What the processes of a state require of each other, looked up in tables.
//!
//! There is one set of tables for each *configuration*: the sequence of types of a state's processes, with the
//! values of those locals that never change. Tables are made when a configuration is met for the first time.

use super::Plan;
use fabius_machine::{Machine, Reader};
use fabius_program::facts::{
    Bits, Channels, Check, Condition, Facts, Instance, InstanceKey, Relation, Rendezvous, Subject,
};
use fabius_program::{LocationId, ProcessId};
use std::collections::HashMap;
use std::sync::Arc;

/// Processes of a state, as bits.
pub(super) type Set = u64;

/// All configurations met so far.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    plan: Arc<Plan>,
    instances: HashMap<InstanceKey, usize>,
    known: Vec<Known>,
    pairs: HashMap<(usize, usize), Arc<Pair>>,
    configurations: HashMap<(u32, Vec<i32>), usize>,
    list: Vec<Arc<Configuration>>,
    likely: Option<usize>,
}

/// A process, and what follows from its steps alone.
#[derive(Clone, Debug)]
struct Known {
    instance: Arc<Instance>,
    rendezvous: Arc<Rendezvous>,
    /// Locations from which it may end.
    ends: Arc<Bits>,
    /// Locations from which it may do something faulty.
    faulty: Arc<Bits>,
    /// For each edge, whether a set that contains it must contain everybody.
    whole: Arc<Vec<bool>>,
}

/// What concerns two processes.
#[derive(Debug)]
struct Pair {
    /// For each edge of the one, locations of the other from which it may do something that does not accord.
    danger: Vec<Bits>,
    /// For each edge of the one, locations of the other from which it may be its partner.
    partners: Vec<Bits>,
    /// For each edge of the one and each part of its guard, locations of the other from which it may make the
    /// part true.
    enablers: Vec<Vec<Bits>>,
}

/// The tables of a configuration.
#[derive(Debug)]
pub(super) struct Configuration {
    shape: u32,
    /// Locals that never change, and their values.
    signature: Vec<(Reader, i32)>,
    pub processes: Vec<Agent>,
    /// Whether it matters to some step whether nobody receives.
    wonders: bool,
}

/// The tables of one process.
#[derive(Debug)]
pub(super) struct Agent {
    pub location: Option<Reader>,
    pub places: Vec<Place>,
}

/// The tables of a process at a location.
#[derive(Debug)]
pub(super) struct Place {
    pub edges: Vec<EdgeTable>,
    /// Too many edges to tell apart.
    pub crowded: bool,
    /// Something faulty may lie ahead.
    pub faulty: bool,
    /// Being here counts as progress.
    pub progress: bool,
    ends: bool,
    accepts: Channels,
    wonders: Channels,
}

/// The tables of an edge.
#[derive(Debug)]
pub(super) struct EdgeTable {
    /// Who must come along if the edge is executable.
    danger: Row,
    /// Who must come along in any case.
    partners: Row,
    /// It can be taken as a part of another process's step, which does not show in what is executable.
    pub passive: bool,
    /// If the edge is not executable: for each part of its guard, who must come along if that part is why.
    parts: Vec<Part>,
    /// If it is executable, nobody may be left out.
    pub whole: bool,
}

#[derive(Debug)]
struct Part {
    kind: PartKind,
    who: Row,
}

#[derive(Debug)]
enum PartKind {
    /// Whether it holds can be looked up.
    Check(Reader, Relation, i32),
    /// It is false as long as anything else can move.
    False,
    /// It can only be asked whether the process is the youngest.
    Youngest,
    Unknown,
}

/// Processes that are meant wherever they are, and processes that are meant at some locations only.
#[derive(Debug, Default)]
struct Row {
    all: Set,
    some: Vec<(u8, Bits)>,
}

impl Row {
    #[inline]
    fn at(&self, locations: &[u32]) -> Set {
        self.some.iter().fold(self.all, |set, (pid, where_)| {
            set | Set::from(where_.contains(locations[usize::from(*pid)] as usize)) << pid
        })
    }
}

impl Configuration {
    /// Who must be in a set with a process, of whose edges those in `executable` can be taken.
    pub(super) fn required(&self, pid: usize, locations: &[u32], executable: u64, state: &[u32]) -> Set {
        let place = &self.processes[pid].places[locations[pid] as usize];
        if place.crowded {
            return Set::MAX;
        }
        let mut set = 0;
        for (index, edge) in place.edges.iter().enumerate() {
            set |= edge.partners.at(locations);
            let is_executable = executable >> index & 1 != 0;
            if is_executable || edge.passive {
                set |= edge.danger.at(locations);
            }
            if !is_executable {
                set |= self.enablers(edge, pid, locations, state);
            }
        }
        if self.wonders && !place.accepts.is_empty() {
            for (other, agent) in self.processes.iter().enumerate() {
                let wonders = agent.places.get(locations[other] as usize).map_or(Channels::NONE, |place| place.wonders);
                set |= Set::from(place.accepts.meets(wonders)) << other;
            }
        }
        set
    }

    /// Who may make an edge executable: a necessary enabling set of a part of its guard that does not hold.
    fn enablers(&self, edge: &EdgeTable, pid: usize, locations: &[u32], state: &[u32]) -> Set {
        let mut best: Option<Set> = None;
        let mut unknown = 0;
        for part in &edge.parts {
            let set = match &part.kind {
                PartKind::Check(reader, relation, value) if relation.holds(reader.read(state), *value) => continue,
                PartKind::Check(..) => part.who.at(locations),
                PartKind::False => 0,
                PartKind::Youngest if pid + 1 == self.processes.len() => continue,
                PartKind::Youngest => self.younger_that_ends(pid, locations),
                PartKind::Unknown => {
                    unknown |= part.who.at(locations);
                    continue;
                }
            };
            if best.is_none_or(|best| set.count_ones() < best.count_ones()) {
                best = Some(set);
            }
        }
        best.unwrap_or(unknown)
    }

    /// A younger process that has to end before this one can; nobody if one of them never will.
    fn younger_that_ends(&self, pid: usize, locations: &[u32]) -> Set {
        let ends = |pid: usize| self.processes[pid].places.get(locations[pid] as usize).is_none_or(|place| place.ends);
        if (pid + 1..self.processes.len()).all(ends) { 1 << (self.processes.len() - 1) } else { 0 }
    }
}

impl Tables {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            instances: HashMap::new(),
            known: Vec::new(),
            pairs: HashMap::new(),
            configurations: HashMap::new(),
            list: Vec::new(),
            likely: None,
        }
    }

    /// The tables of a state; `None` if it has too many processes.
    #[inline]
    pub(super) fn of(&mut self, machine: &mut Machine, state: &[u32]) -> Option<Arc<Configuration>> {
        let shape = machine.shape_number(state)?;
        if let Some(likely) = self.likely {
            let likely = &self.list[likely];
            if likely.shape == shape && likely.signature.iter().all(|(reader, value)| reader.read(state) == *value) {
                return Some(Arc::clone(likely));
            }
        }
        self.find(machine, state, shape)
    }

    #[cold]
    fn find(&mut self, machine: &mut Machine, state: &[u32], shape: u32) -> Option<Arc<Configuration>> {
        let count = machine.process_count(state);
        if count == 0 || count > Set::BITS as usize {
            return None;
        }
        let readers = self.readers(machine, state, shape)?;
        let values: Vec<i32> = readers.iter().map(|reader| reader.map_or(0, |reader| reader.read(state))).collect();
        let key = (shape, values);
        let index = match self.configurations.get(&key) {
            Some(index) => *index,
            None => {
                let configuration = self.make(machine, state, shape, &readers)?;
                self.list.push(Arc::new(configuration));
                self.configurations.insert(key, self.list.len() - 1);
                self.list.len() - 1
            }
        };
        self.likely = Some(index);
        Some(Arc::clone(&self.list[index]))
    }

    /// Where the locals stand that never change, process by process.
    fn readers(&self, machine: &Machine, state: &[u32], shape: u32) -> Option<Vec<Option<Reader>>> {
        let mut readers = Vec::new();
        for pid in 0..machine.process_count(state) {
            let process = machine.process_of(state, pid)?;
            for variable in self.plan.facts.constant_locals(process) {
                readers.push(machine.local_reader(shape, pid, variable, 0));
            }
        }
        Some(readers)
    }

    fn make(
        &mut self,
        machine: &Machine,
        state: &[u32],
        shape: u32,
        readers: &[Option<Reader>],
    ) -> Option<Configuration> {
        let count = machine.process_count(state);
        let mut ids = Vec::new();
        let mut at = 0;
        for pid in 0..count {
            let process = machine.process_of(state, pid)?;
            let constant = self.plan.facts.constant_locals(process).len();
            let values = readers[at..at + constant].iter().map(|reader| reader.map_or(0, |reader| reader.read(state)));
            // A value that is not stored is not known either, unless the facts know it themselves.
            let stored = readers[at..at + constant].iter().all(Option::is_some);
            ids.push(self.instance(InstanceKey {
                process,
                pid: Some(pid as u8),
                channels_before: Some(machine.channels_before(shape, pid)?),
                constants: stored.then(|| values.collect()),
            }));
            at += constant;
        }
        let signature = readers.iter().flatten().map(|reader| (*reader, reader.read(state))).collect();
        let mut processes = Vec::new();
        for pid in 0..count {
            processes.push(self.agent(machine, shape, &ids, pid));
        }
        let wonders = ids.iter().any(|id| self.known[*id].rendezvous.wonders.iter().any(|set| !set.is_empty()));
        Some(Configuration { shape, signature, processes, wonders })
    }

    fn instance(&mut self, key: InstanceKey) -> usize {
        if let Some(id) = self.instances.get(&key) {
            return *id;
        }
        let facts = &self.plan.facts;
        let instance = facts.instance(key.clone());
        let rendezvous = facts.rendezvous(&instance);
        let ends = facts.whence(&instance, |step| step.ends);
        let faulty = facts.whence(&instance, |step| step.breaks || step.asserts);
        let whole = self.plan.whole(&instance);
        self.known.push(Known {
            instance: Arc::new(instance),
            rendezvous: Arc::new(rendezvous),
            ends: Arc::new(ends),
            faulty: Arc::new(faulty),
            whole: Arc::new(whole),
        });
        self.instances.insert(key, self.known.len() - 1);
        self.known.len() - 1
    }

    fn pair(&mut self, of: usize, other: usize) -> Arc<Pair> {
        if let Some(pair) = self.pairs.get(&(of, other)) {
            return Arc::clone(pair);
        }
        let facts = &self.plan.facts;
        let (mine, theirs) = (&self.known[of].instance, &self.known[other].instance);
        let parts = |guard: &[Condition]| guard.iter().map(|part| facts.enablers(part, theirs)).collect();
        let pair = Arc::new(Pair {
            danger: facts.danger(mine, theirs),
            partners: facts.partners(mine, theirs),
            enablers: mine.steps.iter().map(|step| parts(&step.guard)).collect(),
        });
        self.pairs.insert((of, other), Arc::clone(&pair));
        pair
    }

    fn agent(&mut self, machine: &Machine, shape: u32, ids: &[usize], pid: usize) -> Agent {
        let pairs: Vec<(usize, usize, Arc<Pair>)> = (0..ids.len())
            .filter(|other| *other != pid)
            .map(|other| (other, ids[other], self.pair(ids[pid], ids[other])))
            .collect();
        let known = self.known[ids[pid]].clone();
        let facts = Arc::clone(&self.plan.facts);
        let process = facts.program().process(known.instance.key.process);
        let row = |of: &dyn Fn(&Pair) -> Bits| {
            let mut row = Row::default();
            for (other, id, pair) in &pairs {
                self.add(&mut row, *other, *id, of(pair));
            }
            row
        };
        let mut places = Vec::new();
        for (at, location) in process.locations.iter().enumerate() {
            let edges = location.edges.clone().map(|edge| {
                let index = facts.index_of(fabius_program::EdgeId(edge));
                let step = &known.instance.steps[index];
                let part = |(at, part): (usize, &Condition)| Part {
                    kind: kind_of(machine, shape, pid, part),
                    who: row(&|pair: &Pair| pair.enablers[index][at].clone()),
                };
                EdgeTable {
                    danger: row(&|pair: &Pair| pair.danger[index].clone()),
                    partners: row(&|pair: &Pair| pair.partners[index].clone()),
                    passive: !step.accepts.is_empty() || !step.offers.is_empty(),
                    parts: step.guard.iter().enumerate().map(part).collect(),
                    whole: known.whole[index],
                }
            });
            places.push(Place {
                edges: edges.collect(),
                crowded: location.edges.len() > 63,
                faulty: known.faulty.contains(at),
                progress: location.progress,
                ends: known.ends.contains(at),
                accepts: known.rendezvous.accepts[at],
                wonders: known.rendezvous.wonders[at],
            });
        }
        Agent { location: machine.location_reader(shape, pid), places }
    }

    /// Adds a process at some of its locations to a row.
    fn add(&self, row: &mut Row, pid: usize, id: usize, locations: Bits) {
        let key = &self.known[id].instance.key;
        let program = self.plan.facts.program();
        if locations.is_empty() {
            return;
        }
        let mut lively = program.process(key.process).locations.iter().enumerate().filter(|(_, l)| !l.edges.is_empty());
        if lively.all(|(at, _)| locations.contains(at)) {
            row.all |= 1 << pid;
        } else {
            row.some.push((pid as u8, locations));
        }
    }
}

/// How to tell whether a part of a guard holds.
fn kind_of(machine: &Machine, shape: u32, pid: usize, part: &Condition) -> PartKind {
    let check = match part {
        Condition::Never => return PartKind::False,
        Condition::Youngest => return PartKind::Youngest,
        Condition::Cell(_, check) | Condition::Private(check) | Condition::Level { check: Some(check), .. } => check,
        Condition::Level { check: None, .. }
        | Condition::Message { .. }
        | Condition::Partner
        | Condition::Vague(..) => return PartKind::Unknown,
    };
    reader_of(machine, shape, pid, check)
        .map_or(PartKind::Unknown, |reader| PartKind::Check(reader, check.relation, check.value))
}

fn reader_of(machine: &Machine, shape: u32, pid: usize, check: &Check) -> Option<Reader> {
    match check.subject {
        Subject::Global(variable, element) => machine.global_reader(shape, variable, element),
        Subject::Local(variable, element) => machine.local_reader(shape, pid, variable, element),
        Subject::ProcessCount => Some(machine.count_reader()),
        Subject::Length(channel) => machine.length_reader(shape, channel),
    }
}

/// The edges of a type that leave a location.
pub(super) fn edges_at(facts: &Facts, process: ProcessId, location: LocationId) -> impl Iterator<Item = usize> {
    let locations = &facts.program().process(process).locations;
    let edges = locations.get(location.0 as usize).map_or(0..0, |location| location.edges.clone());
    let first = edges.clone().next().map_or(0, |edge| facts.index_of(fabius_program::EdgeId(edge)));
    first..first + edges.len()
}
