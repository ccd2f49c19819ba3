//! Tables kept for each *configuration*: the sequence of types of a state's processes, with the values of those locals that
//! never change. They are made when a configuration is met for the first time.

use fabius_machine::{Machine, Reader};
use fabius_program::facts::{Facts, InstanceKey};
use std::collections::{BTreeMap, HashMap};
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
    /// Words with locals that never change: which of their bits these are, and what is in them.
    constant: Vec<(usize, u32, u32)>,
}

impl Signature {
    /// What tells the configuration of a state with these locals that never change.
    fn new(shape: u32, locals: &[Reader], state: &[u32]) -> Self {
        let mut masks: BTreeMap<usize, u32> = BTreeMap::new();
        for (word, mask) in locals.iter().map(Reader::place) {
            *masks.entry(word).or_default() |= mask;
        }
        let value = |(word, mask)| Some((word, mask, state.get(word)? & mask));
        Self { shape, constant: masks.into_iter().filter_map(value).collect() }
    }

    /// Whether a state with this number of the sequence of types has the configuration.
    #[inline]
    fn fits(&self, shape: u32, state: &[u32]) -> bool {
        let is_same =
            |(word, mask, value): &(usize, u32, u32)| state.get(*word).is_some_and(|word| word & mask == *value);
        self.shape == shape && self.constant.iter().all(is_same)
    }
}

/// What is known of a configuration.
pub enum Lookup {
    /// The number of its tables.
    Known(usize),
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
    /// The tables with a number.
    ///
    /// # Panics
    /// If there are none: numbers count from 0, in the order in which tables were [inserted](Self::insert).
    #[inline]
    pub fn tables(&self, number: usize) -> &Arc<T> {
        &self.list[number].1
    }

    /// The number of the tables of a state, if its configuration is that of the state before with the same types.
    #[inline]
    pub fn likely(&self, shape: u32, state: &[u32]) -> Option<usize> {
        let number = *self.likely.get(shape as usize)?;
        let (signature, _) = self.list.get(number)?;
        signature.fits(shape, state).then_some(number)
    }

    /// What is known of a state's configuration; `None` if the machine cannot tell.
    #[cold]
    pub fn look_up(&mut self, facts: &Facts, machine: &Machine, state: &[u32], shape: u32) -> Option<Lookup> {
        let (mut processes, mut locals, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for pid in 0..machine.process_count(state) {
            let process = machine.process_at(shape, pid)?;
            let mut constants = Vec::new();
            for variable in facts.constant_locals(process) {
                let reader = machine.local_reader(shape, pid, variable, 0);
                // A value that is not stored is not known either, unless the facts know it themselves.
                let value = reader.map(|reader| reader.read(state));
                locals.extend(reader);
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
                Lookup::Known(*number)
            }
            None => Lookup::New(NewConfiguration { key, signature: Signature::new(shape, &locals, state), processes }),
        })
    }

    /// Keeps the tables of a configuration; returns their number.
    pub fn insert(&mut self, new: NewConfiguration, tables: T) -> usize {
        let number = self.list.len();
        note(&mut self.likely, new.shape(), number);
        self.numbers.insert(new.key, number);
        self.list.push((new.signature, Arc::new(tables)));
        number
    }
}

/// Notes which configuration was met last among those of a shape.
fn note(likely: &mut Vec<usize>, shape: u32, number: usize) {
    let shape = shape as usize;
    likely.resize(likely.len().max(shape + 1), usize::MAX);
    likely[shape] = number;
}
