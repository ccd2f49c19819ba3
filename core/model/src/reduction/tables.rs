//! What the processes of a state require of each other, looked up in tables.
//!
//! There is one set of tables for each *configuration*: the sequence of types of a state's processes, with the
//! values of those locals that never change. Tables are made when a configuration is met for the first time.

use super::basis::{Known, Pair};
use super::{Heeded, Plan, TABLE_ENTRIES_MAX};
use crate::configurations::{Configurations, Lookup, NewConfiguration};
use fabius_machine::{Machine, Reader};
use fabius_program::facts::{Channels, Check, Condition, Instance, InstanceKey, Leads, Relation, Step, Subject};
use fabius_search::reduce::Alternatives;
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Processes of a state, as bits. All bits stand for all processes, however many there are.
pub(super) type Set = u64;

/// States with more processes are not reduced.
pub(super) const PROCESSES_MAX: usize = 63;

/// All configurations met so far.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    plan: Arc<Plan>,
    /// The processes that were met, and by their keys where they stand.
    judged: Vec<Judged>,
    instances: HashMap<InstanceKey, usize>,
    /// By where both stand.
    pairs: HashMap<(usize, usize), Arc<Pair>>,
    configurations: Configurations<Configuration>,
}

/// A process, and what its steps mean for what is asked.
#[derive(Clone, Debug)]
struct Judged {
    known: Arc<Known>,
    /// What leads it to something faulty.
    faulty: Leads,
    /// For each edge, whether a set that contains it must contain everybody, be it sticky or not.
    whole: Arc<[bool]>,
}

/// The tables of a configuration.
#[derive(Debug)]
pub(super) struct Configuration {
    pub shape: u32,
    pub processes: Vec<Agent>,
    /// There are none, since they would be too large.
    is_too_large: bool,
    /// Whether it matters to some step whether nobody receives.
    depends_on_absence: bool,
    /// What rows refer to.
    masks: Vec<u64>,
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
    /// All its edges, as bits.
    pub all: u64,
    /// The edges whose being executable demands that nobody is left out.
    pub whole: u64,
    /// Those whose being executable demands the same in states in which somebody stands at a progress location.
    pub sticky: u64,
    /// Edges that are a part of another process's step, which does not show in what is executable.
    pub passive: u64,
    /// Too many edges to tell apart.
    pub has_too_many_edges: bool,
    /// None of its edges requires anybody else.
    pub free: bool,
    /// Something faulty may lie ahead.
    pub faulty: bool,
    /// Being here counts as progress.
    pub progress: bool,
    /// Edges that lead to its end.
    ends: u64,
    accepts: Channels,
    depends_on_absence: Channels,
}

impl Place {
    /// What must come along with executable edges of the process: each edge that may be executable together with one of them. Another
    /// one becomes executable only after one of these was taken, or can be no longer.
    #[inline]
    pub fn together(&self, executable: u64) -> u64 {
        let mut rest = executable;
        let mut all = 0;
        while rest != 0 && all != self.all {
            all |= self.edges[rest.trailing_zeros() as usize].together;
            rest &= rest - 1;
        }
        all
    }
}

/// What an edge demands of the sets that contain it, where it can be taken.
#[derive(Clone, Copy, Debug)]
struct Demand {
    /// They must contain everybody.
    whole: bool,
    /// Every cycle has such an edge.
    sticky: bool,
}

/// The tables of an edge.
#[derive(Debug)]
pub(super) struct EdgeTable {
    /// What must come along if the edge can be taken.
    danger: Row,
    /// What must come along in any case.
    partners: Row,
    /// With whom it could be taken before anybody else moves.
    direct: Row,
    /// Its siblings must come along in any case.
    depends_on_absence: bool,
    /// The edges of its location that may be executable together with it.
    together: u64,
    /// If it cannot be taken: for each part of its guard, what must come along if that part is why.
    parts: Vec<Part>,
}

impl EdgeTable {
    /// Whether it requires nothing, be it executable or not; `alone` if it is the only one of its location, and
    /// so nothing is asked of it unless it is executable.
    fn is_free(&self, alone: bool) -> bool {
        let empty = |row: &Row| row.entries.is_empty();
        let waits_for_nobody = |part: &Part| empty(&part.what) && !matches!(part.kind, PartKind::Youngest);
        empty(&self.danger)
            && empty(&self.partners)
            && !self.depends_on_absence
            && (alone || self.parts.iter().all(waits_for_nobody))
    }
}

#[derive(Debug)]
struct Part {
    kind: PartKind,
    what: Row,
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

/// Edges of processes, by where these are.
#[derive(Debug, Default)]
struct Row {
    /// Processes, and where their masks start, one for each of their locations.
    entries: Vec<(u8, u32)>,
}

/// What is asked of the tables about one state.
pub(super) struct Here<'a> {
    pub state: &'a [u32],
    pub locations: &'a [u32],
}

impl Configuration {
    /// One whose states are not reduced.
    fn too_large(shape: u32) -> Self {
        Self { shape, processes: Vec::new(), is_too_large: true, depends_on_absence: false, masks: Vec::new() }
    }

    #[inline]
    fn add(&self, row: &Row, here: &Here<'_>, set: &mut Alternatives) {
        for (pid, start) in &row.entries {
            let pid = usize::from(*pid);
            set.add(pid, self.masks[(start + here.locations[pid]) as usize]);
        }
    }

    /// How many edges of others a row adds to a set.
    fn weight(&self, row: &Row, here: &Here<'_>, set: &Alternatives) -> u32 {
        let entries = row.entries.iter().map(|(pid, start)| (usize::from(*pid), *start));
        entries
            .map(|(pid, start)| (self.masks[(start + here.locations[pid]) as usize] & !set.of(pid)).count_ones())
            .sum()
    }

    #[inline]
    pub(super) fn place(&self, pid: usize, here: &Here<'_>) -> &Place {
        &self.processes[pid].places[here.locations[pid] as usize]
    }

    /// Adds to a set what must come along with some edges of a process; `executable` has the edges of each
    /// process that can be taken, and `live` learns of those that somebody else's step may include.
    pub(super) fn require(
        &self,
        pid: usize,
        edges: u64,
        here: &Here<'_>,
        set: &mut Alternatives,
        executable: &[u64],
        live: &mut [u64],
    ) {
        let place = self.place(pid, here);
        let mut rest = edges;
        while rest != 0 {
            let index = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let edge = &place.edges[index];
            self.add(&edge.partners, here, set);
            if edge.depends_on_absence {
                set.add(pid, place.all);
            }
            if executable[pid] >> index & 1 != 0 {
                self.add(&edge.danger, here, set);
            } else if place.passive >> index & 1 != 0 && self.is_offered(edge, here, executable) {
                self.add(&edge.danger, here, set);
                live[pid] |= 1 << index;
                set.add(pid, place.all);
            } else {
                self.enable(edge, pid, here, set);
            }
        }
        if self.depends_on_absence && !place.accepts.is_empty() {
            for other in 0..self.processes.len() {
                let place_of_other = self.place(other, here);
                if place.accepts.meets(place_of_other.depends_on_absence) {
                    set.add(other, place_of_other.all);
                }
            }
        }
    }

    /// Whether somebody can take a step of which the edge may be a part, or take part himself in one after which it may.
    fn is_offered(&self, edge: &EdgeTable, here: &Here<'_>, executable: &[u64]) -> bool {
        edge.direct.entries.iter().any(|(pid, start)| {
            let pid = usize::from(*pid);
            let mask = self.masks[(start + here.locations[pid]) as usize];
            (executable[pid] | self.place(pid, here).passive) & mask != 0
        })
    }

    /// Adds to a set what may make an edge executable: a necessary enabling set of a part of its guard that does not
    /// hold.
    fn enable(&self, edge: &EdgeTable, pid: usize, here: &Here<'_>, set: &mut Alternatives) {
        let is_false = |part: &&Part| match &part.kind {
            PartKind::Check(reader, relation, value) => !relation.holds(reader.read(here.state), *value),
            PartKind::Youngest => pid + 1 != self.processes.len(),
            PartKind::Unknown => false,
            PartKind::False => true,
        };
        let weight = |part: &&Part, set: &Alternatives| match part.kind {
            PartKind::Youngest => u32::from(self.younger_that_ends(pid, here).is_some()),
            _ => self.weight(&part.what, here, set),
        };
        let mut parts = edge.parts.iter().filter(is_false);
        let mut best = parts.next();
        // Most often there is no other one.
        if let Some(second) = parts.next() {
            best = best.into_iter().chain([second]).chain(parts).min_by_key(|part| weight(part, set));
        }
        match best {
            Some(Part { kind: PartKind::Youngest, .. }) => {
                if let Some((other, edges)) = self.younger_that_ends(pid, here) {
                    set.add(other, edges);
                }
            }
            Some(part) => self.add(&part.what, here, set),
            None => {
                let unknown = edge.parts.iter().filter(|part| matches!(part.kind, PartKind::Unknown));
                unknown.for_each(|part| self.add(&part.what, here, set));
            }
        }
    }

    /// A younger process that has to end before this one can, and its edges that lead there; nobody if one of them
    /// never will.
    fn younger_that_ends(&self, pid: usize, here: &Here<'_>) -> Option<(usize, u64)> {
        let ends = |pid: usize| self.place(pid, here).ends;
        let youngest = self.processes.len() - 1;
        (pid + 1..=youngest).all(|pid| ends(pid) != 0).then(|| (youngest, ends(youngest)))
    }
}

impl Tables {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            judged: Vec::new(),
            instances: HashMap::new(),
            pairs: HashMap::new(),
            configurations: Configurations::default(),
        }
    }

    /// The number of the tables of a state; `None` if it has too many processes, or they would be too large.
    #[inline]
    pub(super) fn of(&mut self, machine: &mut Machine, state: &[u32]) -> Option<usize> {
        let shape = machine.shape_number(state)?;
        let likely = self.configurations.likely(shape, state);
        likely.or_else(|| self.find(machine, state, shape)).filter(|number| !self.tables(*number).is_too_large)
    }

    /// The tables with a number.
    #[inline]
    pub(super) fn tables(&self, number: usize) -> &Configuration {
        self.configurations.tables(number)
    }

    #[cold]
    fn find(&mut self, machine: &Machine, state: &[u32], shape: u32) -> Option<usize> {
        let count = machine.process_count(state);
        if count == 0 || count > PROCESSES_MAX {
            return None;
        }
        Some(match self.configurations.look_up(&self.plan.relations.facts, machine, state, shape)? {
            Lookup::Known(number) => number,
            Lookup::New(new) => {
                // By the configuration alone: whoever else searches must list the same steps.
                let is_too_large = TABLE_ENTRIES_MAX < self.entries(&new.processes);
                let configuration =
                    if is_too_large { Configuration::too_large(new.shape()) } else { self.make(machine, &new) };
                self.configurations.insert(new, configuration)
            }
        })
    }

    fn make(&mut self, machine: &Machine, new: &NewConfiguration) -> Configuration {
        let shape = new.shape();
        let ids: Vec<usize> = new.processes.iter().map(|key| self.instance(key.clone())).collect();
        let mut masks = Masks::default();
        let mut demands = self.demands(&ids);
        let processes = (0..ids.len())
            .map(|pid| self.agent(machine, shape, &ids, pid, (&std::mem::take(&mut demands[pid]), &mut masks)))
            .collect();
        let depends_on_absence = ids.iter().any(|id| self.absence(*id).iter().any(|set| !set.is_empty()));
        Configuration { shape, processes, is_too_large: false, depends_on_absence, masks: masks.all }
    }

    /// Entries of the tables for these processes: one for each edge of one and each location of another, once for those that are alike.
    fn entries(&self, processes: &[InstanceKey]) -> u64 {
        let (program, facts) = (&self.plan.program, &self.plan.relations.facts);
        let pairs = processes.iter().enumerate().flat_map(|(at, of)| {
            let others = processes.iter().enumerate().filter(move |(other, _)| *other != at);
            others.map(move |(_, other)| (of, other))
        });
        let different: HashSet<(&InstanceKey, &InstanceKey)> = pairs.collect();
        let entries = different.into_iter().map(|(of, other)| {
            facts.edge_count(of.process) as u64 * program.process(other.process).locations.len() as u64
        });
        entries.sum()
    }

    fn instance(&mut self, key: InstanceKey) -> usize {
        if let Some(id) = self.instances.get(&key) {
            return *id;
        }
        let Plan { relations, .. } = &*self.plan;
        let known = relations.process(&key);
        let matters = |edge, step: &Step| self.plan.matters(edge, step);
        self.judged.push(Judged {
            faulty: relations.facts.leads(&known.instance, matters),
            whole: self.plan.whole(&known.instance).into(),
            known,
        });
        self.instances.insert(key, self.judged.len() - 1);
        self.judged.len() - 1
    }

    fn known(&self, id: usize) -> &Known {
        &self.judged[id].known
    }

    /// For each location of a process, the channels for which it matters to what is asked whether anybody receives.
    fn absence(&self, id: usize) -> &[Channels] {
        let rendezvous = &self.known(id).rendezvous;
        if self.plan.heeds_stops() { &rendezvous.depends_on_absence } else { &rendezvous.shown_absence }
    }

    fn pair(&mut self, of: usize, other: usize) -> Arc<Pair> {
        if let Some(pair) = self.pairs.get(&(of, other)) {
            return Arc::clone(pair);
        }
        let pair = self.plan.relations.pair(self.known(of), self.known(other));
        self.pairs.insert((of, other), Arc::clone(&pair));
        pair
    }

    /// For each process and each of its edges, whether a set that contains it must contain everybody.
    fn demands(&self, ids: &[usize]) -> Vec<Vec<Demand>> {
        let facts = &self.plan.relations.facts;
        let all = ids.iter().map(|id| &self.judged[*id]);
        let heeded = self.plan.heeds_cycles();
        if heeded == Heeded::Nowhere {
            let of = |judged: &Judged| judged.whole.iter().map(|&whole| Demand { whole, sticky: false }).collect();
            return all.map(of).collect();
        }
        let instances: Vec<&Instance> = all.clone().map(|judged| &judged.known.instance).collect();
        let sticky = facts.sticky(&instances);
        let of_process = |(judged, sticky): (&Judged, &Vec<bool>)| {
            let process = judged.known.instance.key.process;
            let takes_one = |edge: usize| facts.run(process, edge).iter().any(|edge| sticky[edge]);
            let of_edge = |(edge, &whole): (usize, &bool)| {
                let sticky = takes_one(edge);
                Demand { whole: whole || sticky && heeded == Heeded::Everywhere, sticky }
            };
            judged.whole.iter().enumerate().map(of_edge).collect()
        };
        all.zip(&sticky).map(of_process).collect()
    }

    fn agent(
        &mut self,
        machine: &Machine,
        shape: u32,
        ids: &[usize],
        pid: usize,
        (demands, masks): (&[Demand], &mut Masks),
    ) -> Agent {
        let others = (0..ids.len()).filter(|other| *other != pid);
        let pairs: Vec<(usize, Arc<Pair>)> = others.map(|other| (other, self.pair(ids[pid], ids[other]))).collect();
        let Judged { known, faulty, .. } = &self.judged[ids[pid]];
        let facts = &self.plan.relations.facts;
        let process = self.plan.program.process(known.instance.key.process);
        let mut row = |of: &dyn Fn(&Pair) -> &Leads| Row {
            entries: pairs.iter().filter_map(|(other, pair)| Some((*other as u8, masks.put(of(pair))?))).collect(),
        };
        let at = |leads: &Leads, at: usize| leads.get(at).copied().unwrap_or(0);
        let mut places = Vec::new();
        for (location_at, location) in process.locations.iter().enumerate() {
            let mut place = Place {
                edges: Vec::new(),
                all: if location.edges.len() > 63 { u64::MAX } else { (1 << location.edges.len()) - 1 },
                whole: 0,
                sticky: 0,
                passive: 0,
                has_too_many_edges: location.edges.len() > 63,
                free: false,
                faulty: at(faulty, location_at) != 0,
                progress: location.progress,
                ends: at(&known.ends, location_at),
                accepts: known.rendezvous.accepts[location_at],
                depends_on_absence: self.absence(ids[pid])[location_at],
            };
            let together = facts.executable_together(&known.instance, location);
            for (position, edge) in location.edges.clone().enumerate() {
                let index = facts.index_of(fabius_program::EdgeId(edge));
                let step = &known.instance.steps[index];
                let parts = step.guard.iter().enumerate().map(|(at, part)| Part {
                    kind: kind_of(machine, shape, pid, part),
                    what: row(&|pair: &Pair| &pair.enablers[index][at]),
                });
                let parts = parts.collect();
                place.edges.push(EdgeTable {
                    danger: row(&|pair: &Pair| &pair.danger[index]),
                    partners: row(&|pair: &Pair| &pair.partners[index]),
                    direct: row(&|pair: &Pair| &pair.direct[index]),
                    depends_on_absence: !step.depends_on_absence.is_empty(),
                    together: together[position],
                    parts,
                });
                let bit = 1 << position.min(63);
                place.whole |= if demands[index].whole { bit } else { 0 };
                place.sticky |= if demands[index].sticky { bit } else { 0 };
                place.passive |= if step.accepts.is_empty() { 0 } else { bit };
            }
            let alone = place.edges.len() == 1;
            let is_free = |edge: &EdgeTable| edge.is_free(alone);
            place.free = place.edges.iter().all(is_free) && place.accepts.is_empty() && !place.has_too_many_edges;
            places.push(place);
        }
        Agent { location: machine.location_reader(shape, pid), places }
    }
}

/// Masks that rows refer to, each sequence once.
#[derive(Default)]
struct Masks {
    all: Vec<u64>,
    starts: HashMap<Leads, u32>,
    /// The same by where the sequence lies; all sequences stay where they are while the masks are collected.
    by_place: FxHashMap<*const u64, Option<u32>>,
}

impl Masks {
    /// Where a sequence of masks starts; `None` if it is about nothing.
    fn put(&mut self, leads: &Leads) -> Option<u32> {
        if leads.is_empty() {
            return None;
        }
        let Self { all, starts, by_place } = self;
        *by_place.entry(leads.as_ptr()).or_insert_with(|| {
            let is_about_something = leads.iter().any(|mask| *mask != 0);
            is_about_something.then(|| {
                *starts.entry(Arc::clone(leads)).or_insert_with(|| {
                    all.extend_from_slice(leads);
                    (all.len() - leads.len()) as u32
                })
            })
        })
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
