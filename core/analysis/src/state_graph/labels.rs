//! What is said of states: where processes are, and the values of variables and channels. Each text is kept once.

use super::Grouping;
use super::explore::{Explored, retain};
use fabius_base::Span;
use fabius_program::Program;
use fabius_witness::show::process_name;
use fabius_witness::{State, snapshot};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What is said of each of a list of states.
#[derive(Default)]
pub(super) struct Labels {
    texts: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
    states: Vec<Label>,
}

/// What is said of a state, in numbers of texts.
#[derive(Clone, Default)]
struct Label {
    /// Where each process is.
    places: Box<[u32]>,
    /// The lines of these, in order.
    lines: Box<[u32]>,
    /// The values of variables and channels.
    values: Box<[Pair]>,
}

/// The name of a variable or a channel, and its value.
type Pair = (u32, u32);

/// What distinguishes a node from others.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    /// States may differ in what no label shows, such as who holds control.
    State(usize),
    Places(&'a [u32]),
    Values(Vec<Pair>),
    /// An error that is no state stays apart.
    Error(&'a str),
}

/// How states are put together.
pub(super) struct Keys<'a> {
    explored: &'a Explored,
    grouping: &'a Grouping,
    /// What is the same in all states, and is not in their labels.
    constant: HashSet<Pair>,
    /// What is asked for.
    names: HashSet<u32>,
}

impl Labels {
    /// The number of a text.
    pub fn intern(&mut self, text: String) -> u32 {
        if let Some(known) = self.numbers.get(text.as_str()) {
            return *known;
        }
        let (text, number): (Rc<str>, u32) = (text.into(), self.texts.len() as u32);
        self.numbers.insert(Rc::clone(&text), number);
        self.texts.push(text);
        number
    }

    pub fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// Says what there is to say of one more state; how many bytes that takes until it is printed.
    pub fn add(&mut self, program: &Program, state: &State, line_of: &dyn Fn(Span) -> Option<u32>) -> usize {
        let shown = snapshot(program, state);
        let alive = shown.processes.iter().filter(|status| !status.has_ended());
        let lines: BTreeSet<u32> = alive.filter_map(|status| line_of(status.span)).collect();
        let mut places = Vec::with_capacity(shown.processes.len());
        let mut values = Vec::with_capacity(shown.variables.len());
        for (name, value) in shown.variables.into_iter().chain(shown.channels) {
            values.push((self.intern(name), self.intern(value)));
        }
        for status in &shown.processes {
            let labels: String = status.labels.iter().take(1).map(|label| format!(" {label}")).collect();
            let name = process_name(&status.process, usize::from(status.pid));
            let at = if status.has_ended() { "ended".to_owned() } else { place(line_of(status.span)) };
            // Two places may stand in one line.
            places.push(self.intern(format!("{name} {at}{labels}\u{0}{}", status.location)));
            for (name, value) in &status.variables {
                values.push((self.intern(format!("{}:{name}", status.name)), self.intern(value.clone())));
            }
        }
        let printed = (places.len() + values.len()) * LINE_BYTES;
        let (places, values) = (places.into(), values.into());
        self.states.push(Label { places, lines: lines.into_iter().collect(), values });
        printed
    }

    /// Says the same once more.
    pub fn repeat(&mut self, state: usize) {
        self.states.push(self.states[state].clone());
    }

    /// Keeps what is said of some states.
    pub fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.states, keep);
    }

    /// The lines at which processes are in a state, in order.
    pub fn lines(&self, state: usize) -> &[u32] {
        &self.states[state].lines
    }

    /// Variables and channels that exist in all states with one value.
    fn constant(&self) -> Vec<Pair> {
        let Some((first, others)) = self.states.split_first() else { return Vec::new() };
        let mut constant: Vec<(usize, Pair)> = first.values.iter().copied().enumerate().collect();
        for state in others {
            // Most often it lies at the same place.
            constant.retain(|(place, pair)| state.values.get(*place) == Some(pair) || state.values.contains(pair));
        }
        constant.into_iter().map(|(_, pair)| pair).collect()
    }

    /// The same in words.
    pub fn constant_texts(&self) -> Vec<(String, String)> {
        let constant = self.constant().into_iter();
        constant.map(|(name, value)| (self.text(name).to_owned(), self.text(value).to_owned())).collect()
    }

    /// Names of variables and channels of some state.
    fn names(&self) -> HashSet<u32> {
        self.states.iter().flat_map(|state| state.values.iter().map(|(name, _)| *name)).collect()
    }
}

/// About what a line of a label takes until it is printed, in bytes.
const LINE_BYTES: usize = 120;

impl<'a> Keys<'a> {
    /// # Errors
    /// A sentence, if no variable has one of the names that are asked for.
    pub fn of(explored: &'a Explored, grouping: &'a Grouping) -> Result<Self, String> {
        let labels = &explored.labels;
        let mut keys = Self { explored, grouping, constant: HashSet::new(), names: HashSet::new() };
        match grouping {
            Grouping::States => keys.constant = labels.constant().into_iter().collect(),
            Grouping::Locations => {}
            Grouping::Values(names) => {
                let known = labels.names();
                let has_name = |name: &String| known.iter().any(|known| is_of(labels.text(*known), name));
                if let Some(name) = names.iter().find(|name| !has_name(name)) {
                    let known: BTreeSet<&str> = known.iter().map(|known| labels.text(*known)).collect();
                    let known: Vec<&str> = known.into_iter().take(12).collect();
                    return Err(format!("no variable is called `{name}` in any state; there are {}", known.join(", ")));
                }
                keys.names = known;
                keys.names.retain(|known| names.iter().any(|name| is_of(labels.text(*known), name)));
            }
        }
        Ok(keys)
    }

    /// What distinguishes the node of a state, or of an error that is none.
    pub fn key(&self, at: usize) -> Key<'a> {
        let node = &self.explored.nodes[at];
        let label = &self.explored.labels.states[at];
        match self.grouping {
            _ if node.states == 0 => Key::Error(node.error.as_deref().unwrap_or_default()),
            Grouping::States => Key::State(at),
            Grouping::Locations => Key::Places(&label.places),
            Grouping::Values(_) => {
                Key::Values(label.values.iter().filter(|(name, _)| self.names.contains(name)).copied().collect())
            }
        }
    }

    /// The lines that say so.
    pub fn lines(&self, key: &Key<'_>) -> Vec<String> {
        let labels = &self.explored.labels;
        let written = |(name, value): &Pair| format!("{} = {}", labels.text(*name), labels.text(*value));
        let text = |number: &u32| labels.text(*number).to_owned();
        match key {
            Key::Error(what) => vec![(*what).to_owned(), "\u{0}error".to_owned()],
            Key::Places([]) => vec!["no process is left".to_owned()],
            Key::Places(places) => places.iter().map(text).collect(),
            Key::Values(values) => values.iter().map(written).collect(),
            Key::State(at) => {
                let Label { places, values, .. } = &labels.states[*at];
                let varying = values.iter().filter(|pair| !self.constant.contains(pair)).map(written);
                places.iter().map(text).chain([format!("\u{0}{at}")]).chain(varying).collect()
            }
        }
    }
}

/// Where something stands, in words.
pub(super) fn place(line: Option<u32>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}"))
}

/// Whether an element belongs to what is called so.
fn is_of(element: &str, name: &str) -> bool {
    element.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}
