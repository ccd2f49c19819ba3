//! What can be seen in the reachable states: which values each variable takes, what channels hold, where
//! processes get to, and what each channel costs. For a person who wonders what makes a model large.
//!
//! The program is explored as it is written, so that values are those a person expects; statistics are
//! gathered by a wrapper around the model, not by the search.

use crate::dead_code::worth_telling;
use fabius_base::{Cancel, FileId, Limits};
use fabius_machine::{Cursor, View};
use fabius_model::SearchedMachine;
use fabius_program::{Initial, Kind, Move, ProcessKind, Program, VariableId, Watch, meaning::Fault};
use fabius_search::{self as search, Completeness, Ending, Model, Next, Quiet, StopAt, TreeStore};
use fabius_task::load::Loaded;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// More different values of one variable are only counted.
const VALUES_MAX: usize = 1_000;
/// This many channels are looked at for what they cost.
const COSTS_MAX: usize = 8;

/// What can be seen in the reachable states.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Survey {
    /// States looked at.
    pub states: u64,
    /// Whether these are all.
    pub exhaustive: bool,
    /// Of each variable, by process type (none for globals) and name, its values.
    pub variables: BTreeMap<(Option<String>, String), Seen>,
    /// Of each channel variable, by process type and name, what its channels hold.
    pub channels: BTreeMap<(Option<String>, String), Held>,
    /// Of each process type, the places it gets to and how many there are.
    pub places: BTreeMap<String, (usize, usize)>,
    /// Transitions that were looked at.
    pub transitions: u64,
    /// Of each statement of a process, where it stands and in how many transitions it is executed: in none if no run that was looked at
    /// executes it.
    pub statements: BTreeMap<(FileId, u32, u32), u64>,
}

/// The values of a variable; of an array, those of all its elements.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// The values (a thousand at most).
    pub values: BTreeSet<i32>,
    /// There are more.
    pub more: bool,
    /// Bits of its type.
    pub bits: u8,
    /// Its type has negative values.
    pub signed: bool,
    /// The names of its values, if they have names.
    pub names: BTreeMap<i32, String>,
    /// It is no number: a truth value, a channel, a process.
    pub special: bool,
}

/// What the channels of a variable hold.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Held {
    /// This many different contents.
    pub contents: u64,
    /// The most messages at once.
    pub longest: usize,
    /// Room for this many.
    pub capacity: usize,
    /// The share of states that would not be different without it, from 0 to 1; unknown if it was not measured.
    pub share: Option<f64>,
}

/// Looks at the reachable states, within limits. `None` if the model cannot be run.
pub fn survey(loaded: &Loaded, limits: Limits, cancel: &Cancel) -> Option<Survey> {
    loaded.checkable()?;
    let program = loaded.as_written()?;
    let machine = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING).ok()?;
    let executions = vec![0; program.edges.len()];
    let mut surveyed = Surveyed { tally: Tally::new(&program), machine, transitions: 0, executions };
    let settings = search::Settings { limits, stop_at: StopAt::Never, cancel: cancel.clone() };
    let outcome = search::breadth_first(&mut surveyed, &mut TreeStore::new(), &mut Quiet, &settings);
    let exhaustive = outcome.completeness == Completeness::Exhaustive;
    let mut survey = surveyed.tally.finish(&program, outcome.statistics.states, exhaustive);
    survey.transitions = surveyed.transitions;
    survey.statements = statements(loaded, &program, &surveyed.executions);
    Some(survey)
}

/// How often statements were executed; `executions` has a number for each edge. What stands in the text once counts as one statement,
/// however many processes it became part of.
fn statements(loaded: &Loaded, program: &Program, executions: &[u64]) -> BTreeMap<(FileId, u32, u32), u64> {
    let mut found = BTreeMap::new();
    for (edge, count) in program.edges.iter().zip(executions) {
        let process = program.process(edge.process);
        let statement = &process.statements[edge.statement.0 as usize];
        if process.kind != ProcessKind::Process || !worth_telling(&statement.action) {
            continue;
        }
        let shown = loaded.map.user_span(statement.span);
        *found.entry((shown.file, shown.start, shown.end)).or_insert(0) += count;
    }
    found
}

/// The machine, and what was seen of its states.
struct Surveyed {
    machine: SearchedMachine,
    tally: Tally,
    transitions: u64,
    /// Of each edge, in how many transitions it was taken.
    executions: Vec<u64>,
}

impl Surveyed {
    fn count(&mut self, taken: Move) {
        self.transitions += 1;
        let partner = taken.partner.map(|(_, edge)| edge);
        for edge in std::iter::once(taken.edge).chain(partner) {
            if let Some(count) = self.executions.get_mut(edge.0 as usize) {
                *count += 1;
            }
        }
    }
}

impl Model for Surveyed {
    type Label = Move;
    type Fault = Fault;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.machine.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> Cursor {
        if let Some(view) = self.machine.machine().view(state) {
            self.tally.look(self.machine.machine().program(), &view, state);
        }
        self.machine.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        // Violations are not what is looked for: the path to one would take time, and list transitions again.
        loop {
            return match self.machine.next(state, cursor, successor) {
                Next::Broken { label, .. } => {
                    self.count(label);
                    continue;
                }
                Next::Successor { label, transient, marks, .. } => {
                    label.into_iter().for_each(|taken| self.count(taken));
                    Next::Successor { label, transient, fault: None, marks }
                }
                Next::Done(Ending::InvalidEnd) => Next::Done(Ending::ValidEnd),
                Next::Done(ending) => Next::Done(ending),
            };
        }
    }
}

/// What was seen so far.
struct Tally {
    globals: Vec<Seen>,
    locals: Vec<Vec<Seen>>,
    places: Vec<BTreeSet<u32>>,
    /// By identity: contents, and the most messages at once.
    contents: Vec<(HashSet<u64>, usize)>,
    states: HashSet<u64>,
    /// By identity: states without what the channel holds.
    without: Vec<HashSet<u64>>,
    /// The channels of each variable: process type, name, identities.
    owners: BTreeMap<(Option<usize>, usize), BTreeSet<usize>>,
}

impl Tally {
    fn new(program: &Program) -> Self {
        let seen = |variables: &[fabius_program::Variable]| vec![Seen::default(); variables.len()];
        Self {
            globals: seen(&program.globals),
            locals: program.processes.iter().map(|process| seen(&process.locals)).collect(),
            places: vec![BTreeSet::new(); program.processes.len()],
            contents: Vec::new(),
            states: HashSet::new(),
            without: Vec::new(),
            owners: BTreeMap::new(),
        }
    }

    fn look(&mut self, program: &Program, view: &View<'_>, state: &[u32]) {
        for (at, variable) in program.globals.iter().enumerate() {
            let values = view.global(VariableId(at as u32));
            self.own(variable, None, at, &values);
            self.globals[at].see(&values);
        }
        for pid in 0..view.process_count() {
            let (Some(process), Some(location)) = (view.process_of(pid), view.location_of(pid)) else { continue };
            let process = process.0 as usize;
            self.places[process].insert(location.0);
            for (at, variable) in program.processes[process].locals.iter().enumerate() {
                let values = view.local(pid, VariableId(at as u32));
                self.own(variable, Some(process), at, &values);
                self.locals[process][at].see(&values);
            }
        }
        self.look_at_channels(view, state);
    }

    /// A variable that creates channels owns them.
    fn own(&mut self, variable: &fabius_program::Variable, process: Option<usize>, at: usize, values: &[i32]) {
        if matches!(variable.initial, Initial::Channel(_)) {
            let identities = values.iter().filter_map(|&value| usize::try_from(value).ok().filter(|id| 0 < *id));
            self.owners.entry((process, at)).or_default().extend(identities);
        }
    }

    fn look_at_channels(&mut self, view: &View<'_>, state: &[u32]) {
        let count = view.channel_count();
        if self.contents.len() < count {
            self.contents.resize_with(count, Default::default);
            self.without.resize_with(count.min(COSTS_MAX), Default::default);
        }
        let hashes: Vec<u64> = (1..=count)
            .map(|id| {
                let Some(channel) = view.channel(id) else { return 0 };
                let content = hash(&channel.messages);
                let (known, longest) = &mut self.contents[id - 1];
                *longest = channel.messages.len().max(*longest);
                known.insert(content);
                content
            })
            .collect();
        self.states.insert(hash(&state));
        if count <= COSTS_MAX {
            let rest = Self::rest(view);
            for (id, without) in self.without.iter_mut().enumerate().take(count) {
                let others: Vec<u64> = hashes.iter().enumerate().filter(|(at, _)| *at != id).map(|(_, h)| *h).collect();
                without.insert(hash(&(rest, others)));
            }
        }
    }

    /// Everything in a state but what channels hold.
    fn rest(view: &View<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut at = 0;
        loop {
            let values = view.global(VariableId(at));
            if values.is_empty() {
                break;
            }
            values.hash(&mut hasher);
            at += 1;
        }
        for pid in 0..view.process_count() {
            (view.process_of(pid), view.location_of(pid), view.priority_of(pid)).hash(&mut hasher);
            let mut at = 0;
            loop {
                let values = view.local(pid, VariableId(at));
                if values.is_empty() {
                    break;
                }
                values.hash(&mut hasher);
                at += 1;
            }
        }
        (view.holder(), view.last()).hash(&mut hasher);
        hasher.finish()
    }

    fn finish(self, program: &Program, states: u64, exhaustive: bool) -> Survey {
        let mut survey = Survey { states, exhaustive, ..Survey::default() };
        let name_of = |process: Option<usize>| process.map(|process| program.processes[process].name.clone());
        let variables_of = |process: Option<usize>| match process {
            None => &program.globals,
            Some(process) => &program.processes[process].locals,
        };
        let all = std::iter::once((None, self.globals))
            .chain(self.locals.into_iter().enumerate().map(|(process, seen)| (Some(process), seen)));
        for (process, seen) in all {
            for (variable, seen) in variables_of(process).iter().zip(seen).filter(|(_, seen)| !seen.values.is_empty()) {
                let described = seen.described(program, variable);
                survey.variables.entry((name_of(process), variable.name.clone())).or_default().join(described);
            }
        }
        for ((process, at), identities) in self.owners {
            let mut held = Held::default();
            for &id in &identities {
                let Some((contents, longest)) = self.contents.get(id - 1) else { continue };
                held.contents += contents.len() as u64;
                held.longest = held.longest.max(*longest);
                if let (Some(without), 1) = (self.without.get(id - 1).filter(|w| !w.is_empty()), identities.len()) {
                    held.share = Some(1.0 - without.len() as f64 / self.states.len().max(1) as f64);
                }
            }
            let variable = &variables_of(process)[at];
            if let Initial::Channel(ty) = &variable.initial {
                held.capacity = program.channel_types[ty.0 as usize].capacity as usize;
            }
            survey.channels.insert((name_of(process), variable.name.clone()), held);
        }
        for (process, places) in program.processes.iter().zip(self.places) {
            if process.kind == ProcessKind::Process {
                survey.places.insert(process.name.clone(), (places.len(), process.locations.len()));
            }
        }
        survey
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Seen {
    fn see(&mut self, values: &[i32]) {
        for value in values {
            if self.values.len() < VALUES_MAX {
                self.values.insert(*value);
            } else if !self.values.contains(value) {
                self.more = true;
            }
        }
    }

    fn described(self, program: &Program, variable: &fabius_program::Variable) -> Self {
        let names = match variable.ty.kind {
            Kind::Enum(id) => program.enumerations[id.0 as usize].constants.iter().cloned().collect(),
            Kind::Boolean => [(0, "false".to_owned()), (1, "true".to_owned())].into(),
            _ => BTreeMap::new(),
        };
        let special = variable.ty.kind != Kind::Number;
        Self { bits: variable.ty.bits, signed: variable.ty.signed, names, special, ..self }
    }

    /// Two variables with one name are shown together.
    fn join(&mut self, other: Self) {
        let (values, more) = (std::mem::take(&mut self.values), self.more);
        *self = other;
        self.values.extend(values);
        self.more |= more;
    }
}
