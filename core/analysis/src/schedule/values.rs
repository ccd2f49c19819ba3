//! Shared variables and channels whose values waits speak of: *a Producer at line 6 waits while `count` > 2*.

use fabius_base::Cancel;
use fabius_language::{Language, ValueKind, ValueTest, ValueTexts};
use fabius_machine::{Machine, View};
use fabius_program::{Initial, Kind, Program, Variable, VariableId};
use fabius_search::restrict::{Graph, Site, Values, Wait};
use fabius_task::report::schedule::ValueReport;
use fabius_task::waits::During;
use fabius_witness::State;
use std::collections::BTreeSet;

/// Waits speak of at most this many variables and channels, of those that take the fewest values, …
const CELLS_MAX: usize = 16;
/// … of those that take at most this many, …
const VALUES_MAX: usize = 64;
/// … of the elements of arrays that have at most this many.
const ELEMENTS_MAX: u32 = 8;
/// No more are looked at.
const CANDIDATES_MAX: usize = 128;
/// In more states, values are not looked at.
const STATES_MAX: usize = 1_000_000;
/// Whoever may cancel is asked whenever this many states were looked at.
const STATES_PER_LOOK: usize = 1_024;

/// A state whose values can be read: of the machine, or of the reference interpreter.
pub(super) trait Readable {
    /// An element of a global variable.
    fn element(&self, variable: VariableId, element: usize) -> Option<i32>;
    /// How many messages a channel holds, by its identity.
    fn messages(&self, channel: usize) -> Option<usize>;
}

impl Readable for View<'_> {
    fn element(&self, variable: VariableId, element: usize) -> Option<i32> {
        self.global_element(variable, element)
    }

    fn messages(&self, channel: usize) -> Option<usize> {
        usize::try_from(self.channel_length(channel)?.1).ok()
    }
}

impl Readable for State {
    fn element(&self, variable: VariableId, element: usize) -> Option<i32> {
        self.globals.get(variable.0 as usize)?.get(element).copied()
    }

    fn messages(&self, channel: usize) -> Option<usize> {
        Some(self.channels.get(channel.checked_sub(1)?)?.messages.len())
    }
}

/// What is read in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A name, or the number of a process: whether one is above another means nothing.
    Identity(Kind),
    /// How many messages a channel holds, and how many it can.
    Length(u32),
}

/// A shared variable, or a channel.
#[derive(Clone, Debug)]
struct Cell {
    variable: VariableId,
    element: usize,
    /// As it is written in the text.
    name: String,
    what: What,
    /// The values that were seen, in ascending order.
    values: Vec<i32>,
}

/// Shared variables and channels that take several values.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
}

impl Cells {
    /// Those of the states of a graph; none if there are too many states, or somebody cancels.
    pub(super) fn seen(graph: &Graph, machine: &Machine, cancel: &Cancel) -> Self {
        if STATES_MAX < graph.len() {
            return Self::default();
        }
        let mut open: Vec<(Cell, BTreeSet<i32>)> =
            candidates(machine.program()).into_iter().map(|cell| (cell, BTreeSet::new())).collect();
        let mut words = Vec::new();
        for state in 0..graph.len() as u32 {
            if open.is_empty() || (state as usize).is_multiple_of(STATES_PER_LOOK) && cancel.requested().is_some() {
                return Self::default();
            }
            graph.recall(state, &mut words);
            let Some(view) = machine.view(&words) else { return Self::default() };
            open.retain_mut(|(cell, values)| {
                let value = cell.read(&view);
                values.extend(value);
                value.is_some() && values.len() <= VALUES_MAX
            });
        }
        open.retain(|(_, values)| 1 < values.len());
        open.sort_by_key(|(_, values)| values.len());
        open.truncate(CELLS_MAX);
        Self { cells: open.into_iter().map(|(cell, values)| cell.with(values)).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Of each: how many values it takes.
    pub(super) fn values(&self) -> Vec<Values> {
        let values =
            |cell: &Cell| Values { count: cell.values.len() as u16, ordered: !matches!(cell.what, What::Identity(_)) };
        self.cells.iter().map(values).collect()
    }

    /// Adds the values in a state, as sites of the kinds from `first` on.
    pub(super) fn sites(&self, state: &dyn Readable, first: u16, sites: &mut Vec<Site>) {
        for (kind, cell) in (first..).zip(&self.cells) {
            let value = cell.read(state).and_then(|value| cell.values.binary_search(&value).ok());
            // What was not seen in the graph does not count.
            sites.extend(value.map(|place| Site { kind, place: place as u16 }));
        }
    }

    /// A wait, as data and in words that go on after *while*.
    pub(super) fn report(&self, terms: Terms<'_>, cell: usize, wait: &Wait) -> Option<(ValueReport, String)> {
        let cell = self.cells.get(cell)?;
        let test = cell.test(terms.program, wait)?;
        let ValueTexts { tested, holds, .. } = terms.language.value_test(&test);
        let words = cell.words(&test, &holds);
        Some((ValueReport { cell: tested, condition: holds, values: [test.first, test.last] }, words))
    }

    /// A wait, as it is to be written into the text.
    pub(super) fn written(&self, terms: Terms<'_>, cell: usize, wait: &Wait) -> Option<During> {
        let cell = self.cells.get(cell)?;
        let name = cell.name.split(['[', '.']).next().unwrap_or("").to_owned();
        let otherwise = terms.language.value_test(&cell.test(terms.program, wait)?).fails;
        Some(During::Value { name, otherwise })
    }
}

/// What the words of a wait are taken from.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) program: &'a Program,
    pub(super) language: &'static dyn Language,
}

impl Cell {
    fn with(self, values: BTreeSet<i32>) -> Self {
        Self { values: values.into_iter().collect(), ..self }
    }

    fn read(&self, state: &dyn Readable) -> Option<i32> {
        let value = state.element(self.variable, self.element)?;
        match self.what {
            What::Length(_) => i32::try_from(state.messages(usize::try_from(value).ok()?)?).ok(),
            _ => Some(value),
        }
    }

    /// What a wait asks of the values.
    fn test<'a>(&'a self, program: &'a Program, wait: &Wait) -> Option<ValueTest<'a>> {
        let first = *self.values.get(usize::from(wait.first))?;
        let last = *self.values.get(usize::from(wait.last))?;
        let kind = match self.what {
            What::Boolean => ValueKind::Boolean,
            What::Length(capacity) => ValueKind::Messages { capacity },
            What::Identity(Kind::Enum(id)) if first == last => {
                ValueKind::Constant(program.enumerations.get(id.0 as usize)?.name_of(first)?)
            }
            What::Number | What::Identity(_) => ValueKind::Number,
        };
        let before = usize::from(wait.first).checked_sub(1).and_then(|at| self.values.get(at)).copied();
        let after = self.values.get(usize::from(wait.last) + 1).copied();
        Some(ValueTest { name: &self.name, kind, first, last, before, after })
    }

    /// A test in words; `holds` is the expression.
    fn words(&self, test: &ValueTest<'_>, holds: &str) -> String {
        let ValueTest { name, kind, first, last, before, after } = *test;
        let is_one = first == last;
        match kind {
            ValueKind::Boolean if is_one => format!("{name} is {}", first != 0),
            ValueKind::Constant(constant) => format!("{name} is {constant}"),
            ValueKind::Messages { .. } if is_one && first == 0 => format!("{name} is empty"),
            ValueKind::Messages { capacity } if is_one && u32::try_from(first) == Ok(capacity) => {
                format!("{name} is full")
            }
            ValueKind::Messages { .. } => messages(test),
            _ if is_one => format!("{name} is {first}"),
            _ if before.is_some() && after.is_some() => format!("{name} is in {first}–{last}"),
            _ => holds.to_owned(),
        }
    }
}

/// *q holds more than 2 messages*.
fn messages(test: &ValueTest<'_>) -> String {
    let ValueTest { name, first, last, before, after, .. } = *test;
    let counted = |many: i32| if many == 1 { "1 message".to_owned() } else { format!("{many} messages") };
    match (before, after) {
        _ if first == last => format!("{name} holds {}", counted(first)),
        (None, Some(above)) => format!("{name} holds less than {}", counted(above)),
        (Some(0), None) => format!("{name} is not empty"),
        (Some(below), None) => format!("{name} holds more than {}", counted(below)),
        _ => format!("{name} holds {first} to {}", counted(last)),
    }
}

/// What may take several values: scalars, elements of small arrays, buffered channels that a global declares.
fn candidates(program: &Program) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (number, variable) in program.globals.iter().enumerate() {
        let Some(what) = what(program, variable).filter(|_| is_writable(&variable.name)) else { continue };
        if ELEMENTS_MAX < variable.element_count() {
            continue;
        }
        let named = |element: usize| {
            if variable.dimensions.is_empty() { variable.name.clone() } else { variable.element_name(element) }
        };
        let cell = |element: usize| Cell {
            variable: VariableId(number as u32),
            element,
            name: named(element),
            what,
            values: Vec::new(),
        };
        cells.extend((0..variable.element_count() as usize).map(cell));
    }
    cells.truncate(CANDIDATES_MAX);
    cells
}

fn what(program: &Program, variable: &Variable) -> Option<What> {
    if let Initial::Channel(ty) = variable.initial {
        let capacity = program.channel_types[ty.0 as usize].capacity;
        return (capacity != 0).then_some(What::Length(capacity));
    }
    match variable.ty.kind {
        Kind::Number => Some(What::Number),
        Kind::Boolean if variable.ty.bits == 1 => Some(What::Boolean),
        Kind::Boolean => Some(What::Number),
        kind @ (Kind::Enum(_) | Kind::Process) => Some(What::Identity(kind)),
        Kind::Channel => None,
    }
}

/// Whether a name is one that stands in a text.
fn is_writable(name: &str) -> bool {
    let starts = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
    starts && name != "_" && name.chars().all(|character| character.is_alphanumeric() || "_.[]".contains(character))
}
