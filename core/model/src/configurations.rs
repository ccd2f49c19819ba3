//! Tables kept for each *configuration*: the sequence of types of a state's processes, with the values of those locals that
//! never change. They are made when a configuration is met for the first time.

use fabius_machine::{Machine, Reader};
use fabius_program::facts::{Facts, InstanceKey};
use std::collections::HashMap;
use std::sync::Arc;

/// The tables of all configurations met so far.
#[derive(Debug)]
pub struct Configurations<T> {
    numbers: HashMap<(u32, Vec<i32>), usize>,
    list: Vec<(Signature, Arc<T>)>,
    /// By the machine's number for the sequence of types, that of the state before with these: values that never change most often
    /// stay the same while processes come and go.
    likely: Vec<usize>,
}

/// What tells a configuration from others.
#[derive(Clone, Debug)]
struct Signature {
    shape: u32,
    /// Locals that never change, and their values.
    locals: Vec<(Reader, i32)>,
}

/// What is known of a configuration.
pub enum Lookup<T> {
    /// Its tables.
    Known(Arc<T>),
    /// It has none: they are to be made, and [inserted](Configurations::insert).
    New(NewConfiguration),
}

/// A configuration without tables.
pub struct NewConfiguration {
    key: (u32, Vec<i32>),
    signature: Signature,
    /// What is known of its processes, by their numbers.
    pub processes: Vec<InstanceKey>,
}

impl NewConfiguration {
    /// The machine's number for the sequence of types.
    pub fn shape(&self) -> u32 {
        self.signature.shape
    }
}

/// The tables are shared, so they need not be clonable.
impl<T> Clone for Configurations<T> {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone(), list: self.list.clone(), likely: self.likely.clone() }
    }
}

impl<T> Default for Configurations<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), list: Vec::new(), likely: Vec::new() }
    }
}

impl<T> Configurations<T> {
    /// The tables of a state, if its configuration is that of the state before with the same types.
    #[inline]
    pub fn likely(&self, shape: u32, state: &[u32]) -> Option<Arc<T>> {
        let (signature, tables) = self.list.get(*self.likely.get(shape as usize)?)?;
        let is_it = |(reader, value): &(Reader, i32)| reader.read(state) == *value;
        (signature.shape == shape && signature.locals.iter().all(is_it)).then(|| Arc::clone(tables))
    }

    /// What is known of a state's configuration; `None` if the machine cannot tell.
    #[cold]
    pub fn look_up(&mut self, facts: &Facts, machine: &Machine, state: &[u32], shape: u32) -> Option<Lookup<T>> {
        let (mut processes, mut locals, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for pid in 0..machine.process_count(state) {
            let process = machine.process_at(shape, pid)?;
            let mut constants = Vec::new();
            for variable in facts.constant_locals(process) {
                let reader = machine.local_reader(shape, pid, variable, 0);
                // A value that is not stored is not known either, unless the facts know it themselves.
                let value = reader.map(|reader| reader.read(state));
                locals.extend(reader.zip(value));
                values.push(value.unwrap_or(0));
                constants.push(value);
            }
            let channels_before = Some(machine.channels_before(shape, pid)?);
            let key = InstanceKey { process, pid: Some(pid as u8), channels_before, constants };
            processes.push(facts.distinguishing(key));
        }
        let key = (shape, values);
        Some(match self.numbers.get(&key) {
            Some(number) => {
                note(&mut self.likely, shape, *number);
                Lookup::Known(Arc::clone(&self.list[*number].1))
            }
            None => Lookup::New(NewConfiguration { key, signature: Signature { shape, locals }, processes }),
        })
    }

    /// Keeps the tables of a configuration.
    pub fn insert(&mut self, new: NewConfiguration, tables: T) -> Arc<T> {
        let tables = Arc::new(tables);
        note(&mut self.likely, new.shape(), self.list.len());
        self.numbers.insert(new.key, self.list.len());
        self.list.push((new.signature, Arc::clone(&tables)));
        tables
    }
}

/// Notes which configuration was met last among those of a shape.
fn note(likely: &mut Vec<usize>, shape: u32, number: usize) {
    let shape = shape as usize;
    likely.resize(likely.len().max(shape + 1), usize::MAX);
    likely[shape] = number;
}
