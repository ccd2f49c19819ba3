//! Where states are being spent: for each variable, how many states there would be if its value did not count.
//!
//! ```text
//! hash(state) = hash(rest) + Σ hash(part, value of the part)     parts: variables, channels of a variable, places of a type
//! states without a part: the different hash(state) − hash(part, value of the part)
//! ```
//!
//! And in how many states a process is right before a statement that never waits: they would be gone if it was one step with the
//! statement before it.
//!
//! The model is taken as it is written. States are told apart by 128 bits: that two of some hundred thousand are taken for one is
//! out of the question. Of a process type, all processes count together.

use crate::as_state;
use fabius_base::{Cancel, Limits, Span};
use fabius_model::SearchedMachine;
use fabius_program::facts::each_read;
use fabius_program::{
    Action, Expr, Initial, Kind, Process, Program, PropertyKind, Slot, Statement, Variable, VariableId, Watch,
};
use fabius_search::store::VisitedSet;
use fabius_search::{self as search, Completeness, Quiet, StopAt, TreeStore};
use fabius_task::load::Loaded;
use fabius_task::words::limit_reached;
use fabius_witness::State;
use fabius_witness::show::statement_text;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// At most this many hashes of states and parts are kept at once: 16 bytes each.
const KEPT_MAX: usize = 8_000_000;

/// What something costs.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// What it is.
    pub part: Part,
    /// Its name, with that of its process type: `x`, `P:x`, or `P` for the places of a type.
    pub name: String,
    /// Where it is declared.
    pub span: Option<Span>,
    /// Different values that were seen; of a process type, of all its processes together.
    pub values: u64,
    /// How many different states there would be if it did not count.
    pub states_without: u64,
    /// Nothing in the model reads it.
    pub never_read: bool,
    /// Bits of a number that is no array.
    pub bits: Option<u8>,
}

/// What has a cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A variable.
    Variable,
    /// What the channels of a variable hold.
    Channel,
    /// Where the processes of a type are.
    Places,
}

/// What the states of a model are spent on.
#[derive(Clone, PartialEq, Debug)]
pub struct Costs {
    /// States looked at.
    pub states: u64,
    /// What ended the search, in words, if these are not all.
    pub limit: Option<String>,
    /// What costs something, the most expensive first.
    pub costs: Vec<Cost>,
    /// Statements that never wait, those first before which processes are in most states.
    pub stops: Vec<Stop>,
}

/// A statement that never waits, and could be one step with the statement before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The type of the processes.
    pub process: String,
    /// The statement as it is written, in a line.
    pub statement: String,
    /// Where it stands.
    pub span: Span,
    /// States in which a process of the type is right before it.
    pub states: u64,
}

/// Finds out what the states of a model are spent on: of all, or of those that are nearest to the initial state, as far as limits allow.
/// `None` if the model cannot be run.
/// Once `stop_search` is raised, no more states are looked at, and those that were are compared; once `cancel` is, nothing is known.
pub fn costs(loaded: &Loaded, limits: Limits, stop_search: &Cancel, cancel: &Cancel) -> Option<Costs> {
    loaded.checkable()?;
    let program = loaded.as_written()?;
    let mut machine = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING).ok()?;
    let settings = search::Settings { limits, stop_at: StopAt::Never, cancel: stop_search.clone() };
    let mut store = TreeStore::<()>::default();
    let outcome = search::breadth_first(&mut machine, &mut store, &mut Quiet, &settings);
    let parts = Parts::of(&program);
    let states = outcome.statistics.states;
    let batch = (KEPT_MAX / (states.max(1) as usize)).max(1);
    let mut costs = Vec::new();
    for first in (0..parts.keys.len()).step_by(batch) {
        let these = first..(first + batch).min(parts.keys.len());
        costs.extend(of_batch(&program, &machine, &store, &parts, these, cancel)?);
    }
    costs.retain(|cost| cost.states_without < states);
    costs.sort_by(|a, b| (a.states_without, a.part, &a.name).cmp(&(b.states_without, b.part, &b.name)));
    let stops = stops(&program, &machine, &store, cancel)?;
    let exhaustive = outcome.completeness == Completeness::Exhaustive;
    let limit = (!exhaustive).then(|| limit_reached(outcome.completeness, &limits));
    Some(Costs { states, limit, costs, stops })
}

/// What some of the parts cost; `None` if that was stopped.
fn of_batch(
    program: &Arc<Program>,
    machine: &SearchedMachine,
    store: &TreeStore<()>,
    parts: &Parts,
    these: std::ops::Range<usize>,
    cancel: &Cancel,
) -> Option<Vec<Cost>> {
    let (mut without, mut values) = (vec![Vec::new(); these.len()], vec![Vec::new(); these.len()]);
    each_state(program, machine, store, cancel, |state| {
        let (whole, of_parts) = parts.hashes(program, state);
        for (at, part) in these.clone().enumerate() {
            without[at].push(whole.wrapping_sub(of_parts[part]));
            values[at].push(of_parts[part]);
        }
    })?;
    let different = |mut hashes: Vec<u128>| {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len() as u64
    };
    let costs = these.zip(without.into_iter().zip(values)).map(|(part, (without, values))| {
        let (states_without, values) = (different(without), different(values));
        parts.cost(program, part, values, states_without)
    });
    Some(costs.collect())
}

/// Statements that never wait, with the states in which a process is right before them; `None` if that was stopped.
fn stops(
    program: &Arc<Program>,
    machine: &SearchedMachine,
    store: &TreeStore<()>,
    cancel: &Cancel,
) -> Option<Vec<Stop>> {
    let mut states: Vec<Vec<u64>> = program.processes.iter().map(|process| vec![0; process.locations.len()]).collect();
    let mut here = Vec::new();
    each_state(program, machine, store, cancel, |state| {
        here.clear();
        here.extend(state.processes.iter().map(|process| (process.process.0 as usize, process.location.0 as usize)));
        here.sort_unstable();
        here.dedup();
        for (process, location) in &here {
            states[*process].get_mut(*location).into_iter().for_each(|states| *states += 1);
        }
    })?;
    let mut stops = Vec::new();
    for (process, states) in program.processes.iter().zip(states) {
        let entry = process.entry.0 as usize;
        for (at, states) in states.into_iter().enumerate().filter(|(at, states)| *at != entry && 0 < *states) {
            if let Some(statement) = never_waits(program, process, at) {
                let (process, text) = (process.name.clone(), statement_text(statement).to_owned());
                stops.push(Stop { process, statement: text, span: statement.span, states });
            }
        }
    }
    stops.sort_by_key(|stop| (std::cmp::Reverse(stop.states), stop.span.start));
    Some(stops)
}

/// The statement at a location, if there is only one and it can always be executed.
fn never_waits<'p>(program: &Program, process: &'p Process, location: usize) -> Option<&'p Statement> {
    let location = &process.locations[location];
    let mut edges = program.edges_of(location).map(|(_, edge)| edge);
    let edge = edges.next().filter(|edge| edge.escape == 0 && process.provided.is_none())?;
    let statement = &process.statements[edge.statement.0 as usize];
    let never_waits =
        matches!(statement.action, Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Print(_));
    (never_waits && edges.next().is_none() && !statement.text.trim().is_empty()).then_some(statement)
}

/// Tells of each state that is stored; `None` if that was stopped.
fn each_state(
    program: &Arc<Program>,
    machine: &SearchedMachine,
    store: &TreeStore<()>,
    cancel: &Cancel,
    mut tell: impl FnMut(&State),
) -> Option<()> {
    let hidden = machine.machine().hidden_words();
    let mut words = Vec::new();
    for (number, drawn) in store.draw(u64::MAX, 0).into_iter().enumerate() {
        if number % 256 == 0 && cancel.requested().is_some() {
            return None;
        }
        store.words_of(drawn, &mut words);
        words.resize(words.len() + hidden, 0);
        tell(&as_state(program, Watch::NOTHING, &machine.machine().view(&words)?));
    }
    Some(())
}

/// A part of a state; process types and variables by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Variable(Option<usize>, usize),
    Channel(Option<usize>, usize),
    Places(usize),
}

/// The parts of states.
struct Parts {
    keys: Vec<Key>,
    numbers: HashMap<Key, usize>,
}

fn has_channels(variable: &Variable) -> bool {
    matches!(variable.initial, Initial::Channel(_))
}

impl Parts {
    fn of(program: &Program) -> Self {
        let of_variables = |owner: Option<usize>, variables: &[Variable]| {
            let mut keys = Vec::new();
            for (at, variable) in variables.iter().enumerate().filter(|(_, variable)| !variable.hidden) {
                keys.push(Key::Variable(owner, at));
                keys.extend(has_channels(variable).then_some(Key::Channel(owner, at)));
            }
            keys
        };
        let mut keys = of_variables(None, &program.globals);
        for (at, process) in program.processes.iter().enumerate() {
            keys.push(Key::Places(at));
            keys.extend(of_variables(Some(at), &process.locals));
        }
        let numbers = keys.iter().enumerate().map(|(number, key)| (*key, number)).collect();
        Self { keys, numbers }
    }

    /// The hash of a state, and what each part adds to it.
    fn hashes(&self, program: &Program, state: &State) -> (u128, Vec<u128>) {
        let mut of_parts = vec![0_u128; self.keys.len()];
        let rest = (state.holder, state.last, state.processes.len(), state.channels.len());
        let mut whole = hash(&rest);
        let mut add = |key: Key, value: u128| match self.numbers.get(&key) {
            Some(number) => of_parts[*number] = of_parts[*number].wrapping_add(value),
            None => whole = whole.wrapping_add(value),
        };
        let mut channels = state.channels.iter().enumerate();
        let mut variables = |owner: Option<usize>,
                             pid: usize,
                             all: &[Variable],
                             values: &[fabius_witness::Values],
                             add: &mut dyn FnMut(Key, u128)| {
            for (at, (variable, value)) in all.iter().zip(values).enumerate() {
                add(Key::Variable(owner, at), hash(&(owner, pid, at, &**value)));
                // Channels stand in the order in which they were created: those of a variable one after the other.
                let count = if has_channels(variable) { variable.element_count() as usize } else { 0 };
                for (id, channel) in channels.by_ref().take(count) {
                    add(Key::Channel(owner, at), hash(&(id, channel)));
                }
            }
        };
        variables(None, 0, &program.globals, &state.globals, &mut add);
        for (pid, process) in state.processes.iter().enumerate() {
            let owner = process.process.0 as usize;
            add(Key::Places(owner), hash(&(pid, process.location)));
            // Who runs, and with which priority, always counts.
            add(Key::Places(usize::MAX), hash(&(pid, owner, process.priority)));
            variables(Some(owner), pid, &program.process(process.process).locals, &process.locals, &mut add);
        }
        let sum = of_parts.iter().fold(whole, |sum, part| sum.wrapping_add(*part));
        (sum, of_parts)
    }

    fn cost(&self, program: &Program, part: usize, values: u64, states_without: u64) -> Cost {
        let of = |owner: Option<usize>, at: usize| {
            let variables = owner.map_or(&program.globals, |owner| &program.processes[owner].locals);
            let process = owner.map_or_else(String::new, |owner| format!("{}:", program.processes[owner].name));
            (format!("{process}{}", variables[at].name), &variables[at])
        };
        match self.keys[part] {
            Key::Variable(owner, at) => {
                let (name, variable) = of(owner, at);
                let is_number = variable.ty.kind == Kind::Number && variable.dimensions.is_empty();
                let bits = is_number.then_some(variable.ty.bits);
                let never_read = owner.is_none() && !is_read(program, VariableId(at as u32));
                Cost { part: Part::Variable, name, span: Some(variable.span), values, states_without, never_read, bits }
            }
            Key::Channel(owner, at) => {
                let (name, variable) = of(owner, at);
                let (never_read, bits) = (false, None);
                Cost { part: Part::Channel, name, span: Some(variable.span), values, states_without, never_read, bits }
            }
            Key::Places(owner) => {
                let process = &program.processes[owner];
                let (name, span, never_read, bits) = (process.name.clone(), None, false, None);
                Cost { part: Part::Places, name, span, values, states_without, never_read, bits }
            }
        }
    }
}

/// Whether something in the model, claims and formulas included, reads a global variable.
fn is_read(program: &Program, variable: VariableId) -> bool {
    let mut is_read = false;
    each_read(program, |slot| is_read |= slot == Slot::Global(variable));
    let formulas = program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Ltl(formula) => Some(formula.propositions()),
        _ => None,
    });
    let mut open: Vec<&Expr> = formulas.flatten().collect();
    while let Some(expr) = open.pop() {
        is_read |= matches!(expr, Expr::Load(place) if place.slot == Slot::Global(variable));
        open.extend(expr.operands());
    }
    is_read
}

/// 128 bits of a value.
fn hash(value: &impl Hash) -> u128 {
    let of = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        value.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    of(0) << 64 | of(1)
}

#[cfg(test)]
mod tests;
