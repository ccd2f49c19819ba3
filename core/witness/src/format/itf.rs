//! A trace in the Informal Trace Format (ITF), the JSON that Apalache and Quint write and that viewers of it show
//! (<https://apalache-mc.org/docs/adr/015adr-trace.html>).
//!
//! A state has each global variable under its name, an array of one dimension as a list, and two variables of our own: `channels`, which maps the
//! name of a channel to its messages, and `processes`, which maps the number of a process to its name, place and variables.

use fabius_base::SourceMap;
use fabius_program::{Kind, Program, Variable};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::interpret::Outcome;
use crate::show::Names;
use crate::state::State;
use crate::trace::{Step, Trace, elements_in_order};
use crate::values::Values;

/// A trace.
#[derive(Debug, Serialize)]
pub struct ItfTrace {
    #[serde(rename = "#meta")]
    meta: Value,
    params: Vec<String>,
    vars: Vec<String>,
    states: Vec<Value>,
    /// After the last state, the run goes on with the one of this index.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    back_to: Option<usize>,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    /// An index or a line: a number of the format's own.
    Index(usize),
    Integer(i32),
    Boolean(bool),
    Text(String),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Record(Vec<(String, Value)>),
    Map(Vec<(Value, Value)>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Index(number) => serializer.serialize_u64(*number as u64),
            Self::Integer(number) => tagged(serializer, "#bigint", &number.to_string()),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Tuple(values) => tagged(serializer, "#tup", values),
            Self::Record(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
            Self::Map(entries) => tagged(serializer, "#map", entries),
        }
    }
}

/// An object with one field.
fn tagged<S: Serializer>(serializer: S, tag: &str, value: &(impl Serialize + ?Sized)) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, value)?;
    map.end()
}

/// A trace in the format, all of its steps. The moves of a claim are no steps of it.
///
/// Of a run into a cycle, the state after its last step is that before the first step of the cycle: it is written once, and `loop` leads to it.
pub fn itf(trace: &Trace, source: &SourceMap) -> ItfTrace {
    let program = trace.steps.program();
    let writer =
        Writer { program, source, channels: own_name(program, "channels"), processes: own_name(program, "processes") };
    let mut states = Vec::new();
    trace.steps.visit(&mut |step, before, outcome| {
        if states.is_empty() {
            states.push(writer.state(0, before, None));
        }
        if let (None, Outcome::Reaches { state, .. }) = (&step.claim, outcome) {
            states.push(writer.state(step.number, state, Some(step)));
        }
    });
    if states.is_empty() {
        states.extend(State::initial(program).ok().map(|state| writer.state(0, &state, None)));
    }
    let back_to = trace.cycle_start.and_then(|start| start.checked_sub(1)).filter(|index| *index < states.len());
    if back_to.is_some_and(|index| index + 1 < states.len()) {
        states.pop();
    }
    let text = |text: &str| Value::Text(text.to_owned());
    let mut vars: Vec<String> = writer.globals().map(|(_, name)| name).collect();
    vars.extend([writer.channels, writer.processes]);
    let meta = [
        ("format", text("ITF")),
        ("format-description", text("https://apalache-mc.org/docs/adr/015adr-trace.html")),
        ("source", text(&program.name)),
        ("description", text("Created by Fabius")),
    ];
    ItfTrace { meta: record(meta), params: Vec::new(), vars, states, back_to }
}

fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Record(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A name that no global variable has.
fn own_name(program: &Program, name: &str) -> String {
    let mut own = name.to_owned();
    while program.globals.iter().any(|variable| variable.name == own) {
        own.push('_');
    }
    own
}

struct Writer<'a> {
    program: &'a Program,
    source: &'a SourceMap,
    /// What the variable with the channels is called.
    channels: String,
    /// What the variable with the processes is called.
    processes: String,
}

impl Writer<'_> {
    /// The variables that stand for the globals: each with the index of its global.
    fn globals(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let initial: Vec<Values> = State::initial(self.program).map(|state| state.globals).unwrap_or_default();
        let mut named: Vec<(usize, String)> = Vec::new();
        for (index, element) in elements_in_order(&self.program.globals, &initial) {
            let variable = &self.program.globals[index];
            let name = if is_list(variable) { variable.name.clone() } else { variable.element_name(element) };
            if !named.iter().any(|(_, known)| *known == name) {
                named.push((index, name));
            }
        }
        named.into_iter()
    }

    fn state(&self, index: usize, state: &State, step: Option<&Step>) -> Value {
        let names = Names::of(self.program, state);
        let mut meta = vec![("index".to_owned(), Value::Index(index))];
        meta.extend(step.into_iter().flat_map(|step| self.step(step)));
        let mut fields = vec![("#meta".to_owned(), Value::Record(meta))];
        fields.extend(self.variables(&names, &self.program.globals, &state.globals));
        let channels = state.channels.iter().enumerate().map(|(number, channel)| {
            let types = &self.program.channel_types[channel.channel_type.0 as usize].fields;
            let message = |message: &Vec<i32>| {
                Value::Tuple(types.iter().zip(message).map(|(ty, value)| value_of(&names, ty.kind, *value)).collect())
            };
            let messages = channel.messages.iter().map(message).collect();
            (Value::Text(names.channel(number as i32 + 1)), Value::List(messages))
        });
        fields.push((self.channels.clone(), Value::Map(channels.collect())));
        let processes =
            (0..state.processes.len()).map(|pid| (Value::Integer(pid as i32), self.process(&names, state, pid)));
        fields.push((self.processes.clone(), Value::Map(processes.collect())));
        Value::Record(fields)
    }

    /// Who took a step, and what it executes.
    fn step(&self, step: &Step) -> [(String, Value); 4] {
        let position = self.source.position(step.actor.span);
        [
            ("process".to_owned(), Value::Text(step.actor.name.clone())),
            ("file".to_owned(), Value::Text(position.file.to_string())),
            ("line".to_owned(), Value::Index(position.line as usize)),
            ("statement".to_owned(), Value::Text(step.actor.text.clone())),
        ]
    }

    fn process(&self, names: &Names<'_>, state: &State, pid: usize) -> Value {
        let process = &state.processes[pid];
        let declared = self.program.process(process.process);
        let location = &declared.locations[process.location.0 as usize];
        let position = self.source.position(location.span);
        record([
            ("name", Value::Text(names.process(pid as u8))),
            ("file", Value::Text(position.file.to_string())),
            ("line", Value::Integer(position.line as i32)),
            ("variables", Value::Record(self.variables(names, &declared.locals, &process.locals))),
        ])
    }

    /// Variables with their values; an array of one dimension is a list.
    fn variables(&self, names: &Names<'_>, variables: &[Variable], values: &[Values]) -> Vec<(String, Value)> {
        let mut told: Vec<(String, Value)> = Vec::new();
        for (index, element) in elements_in_order(variables, values) {
            let variable = &variables[index];
            let value = value_of(names, variable.ty.kind, values[index][element]);
            match told.last_mut() {
                Some((name, Value::List(list))) if is_list(variable) && *name == variable.name => list.push(value),
                _ if is_list(variable) => told.push((variable.name.clone(), Value::List(vec![value]))),
                _ => told.push((variable.element_name(element), value)),
            }
        }
        told
    }
}

/// Whether a variable is an array that is written as a list.
fn is_list(variable: &Variable) -> bool {
    variable.dimensions.len() == 1 && !variable.name.contains("[]")
}

fn value_of(names: &Names<'_>, kind: Kind, value: i32) -> Value {
    match kind {
        Kind::Boolean if matches!(value, 0 | 1) => Value::Boolean(value == 1),
        Kind::Enum(_) | Kind::Channel => Value::Text(names.value(kind, value)),
        Kind::Number | Kind::Process | Kind::Boolean => Value::Integer(value),
    }
}
