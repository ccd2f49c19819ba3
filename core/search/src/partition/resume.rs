//! Goes on from a snapshot of a breadth-first search. It holds no states, but where each came from; the states are executed anew, layer
//! by layer, each by the partition of its parent:
//!
//! ```text
//! layer := {initial}
//! repeat for every layer that was expanded:
//!   for some of the states that I am to have in the next layer, in order, until none is left:
//!     for each, with origin (p, number of its parent, ordinal): ask p for it
//!     wait until everybody has asked;  send what I was asked for, in the order in which it was asked for
//!     wait until everything has arrived;  insert my states, in their order
//!   layer := next layer
//! ```
//!
//! My states of the next layer are the next of my states whose parents are in this one: states are numbered layer by layer. All are
//! inserted in the order in which they were first, so the search does from there on what it would have done.

use super::batch::{BatchReader, NO_NOTES};
use super::checkpoint::{More, PartSnapshot};
use super::exchange::{Exchange, ExchangeError};
use super::search::{Agreed, BATCH_BYTES, PartStore, Partition, ROUND_STATES};
use super::way::{Origin, Ways};
use crate::model::{Model, Next};
use crate::observer::Observer;
use crate::outcome::{Completeness, Statistics};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Where the states of a snapshot came from, read a block at a time.
pub(super) struct Entries<'w, W> {
    ways: &'w mut W,
    /// States of the snapshot.
    pub states: u64,
    /// The number of the first state of the block.
    first: u64,
    block: Vec<u64>,
}

impl<'w, W: Ways> Entries<'w, W> {
    /// Of a snapshot.
    pub fn new(snapshot: &PartSnapshot, ways: &'w mut W) -> Self {
        Self { ways, states: snapshot.states(), first: 0, block: Vec::new() }
    }

    /// That of the state with this number, if the snapshot has one.
    fn get(&mut self, number: u64) -> Result<Option<Origin>, ExchangeError> {
        if self.states <= number {
            return Ok(None);
        }
        if !(self.first..self.first + self.block.len() as u64).contains(&number) {
            self.first = number;
            self.block.resize((self.states - number).min(ROUND_STATES) as usize, 0);
            if !self.ways.read(number, &mut self.block) {
                return Err(ExchangeError::Unusable);
            }
        }
        Ok(Some(Origin::unpack(self.block[(number - self.first) as usize])))
    }
}

/// Which successor the expansion found last.
#[derive(Default)]
struct Found {
    parent: Option<u64>,
    ordinal: u32,
}

impl<M: Model, S: PartStore, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>> Partition<'_, M, S, W, X, O> {
    /// Where it stands at the end of a layer, if somebody keeps that, and it has not stopped: then a state may be missing.
    pub fn snapshot(&self, more: More) -> Option<PartSnapshot> {
        (self.keeper.is_some() && self.stop.is_none()).then(|| PartSnapshot {
            layers: self.layers,
            first: self.next_layer.first,
            statistics: self.statistics,
            seen: self.seen.iter().map(|(key, (seen, count))| (*key, *seen, *count)).collect(),
            more,
        })
    }

    /// Has a snapshot kept.
    pub fn keep(&mut self, snapshot: Option<PartSnapshot>) {
        if let (Some(keeper), Some(snapshot)) = (&mut self.keeper, snapshot) {
            keeper.keep(self.model, self.ways, snapshot);
        }
    }

    /// Finds all states of a snapshot again, in place of [`Self::begin`]. If it is stopped meanwhile, what the snapshot tells is known
    /// all the same.
    pub fn resume(
        &mut self,
        snapshot: &PartSnapshot,
        ways: &mut W,
    ) -> Result<ControlFlow<Completeness, Agreed>, ExchangeError> {
        let mut entries = Entries::new(snapshot, ways);
        let mut begun = self.begin()?;
        while self.layers < snapshot.layers {
            if begun.is_break() {
                break;
            }
            self.turn_layer();
            begun = match self.rebuild_layer(&mut entries)? {
                ControlFlow::Continue(agreed) => ControlFlow::Continue(agreed),
                ControlFlow::Break(reason) => ControlFlow::Break(Completeness::Stopped(reason)),
            };
        }
        let is_stopped = matches!(begun, ControlFlow::Break(Completeness::Stopped(_)));
        let numbers = (self.statistics.states, self.statistics.matched, self.next_layer.first);
        if !is_stopped && numbers != (snapshot.states(), 0, snapshot.first) {
            return Err(ExchangeError::Unusable);
        }
        self.learn(snapshot, &mut entries)?;
        if is_stopped {
            return Ok(begun);
        }
        self.expanded = self.layer.end();
        let agreed = self.end_layer()?;
        Ok(self.conclude_layer(agreed))
    }

    /// Takes over what the snapshot tells beside states, which were found again from the first one on.
    pub fn learn(&mut self, snapshot: &PartSnapshot, entries: &mut Entries<'_, W>) -> Result<(), ExchangeError> {
        // The paths to violations that are known must be known.
        for number in self.statistics.states..snapshot.states() {
            let origin = entries.get(number)?.and_then(Origin::pack).ok_or(ExchangeError::Unusable)?;
            self.ways.push(origin);
        }
        let memory_bytes = self.statistics.memory_bytes;
        self.statistics = Statistics { memory_bytes, ..snapshot.statistics };
        self.seen = snapshot.seen.iter().map(|(key, seen, count)| (*key, (*seen, *count))).collect();
        Ok(())
    }

    /// Inserts my states whose parents are in this layer.
    fn rebuild_layer(
        &mut self,
        entries: &mut Entries<'_, W>,
    ) -> Result<ControlFlow<StopReason, Agreed>, ExchangeError> {
        let ends: Vec<u64> = self.exchange.end_round(&[self.layer.end()])?.summaries.into_iter().flatten().collect();
        loop {
            let due = self.due(entries, &ends)?;
            let me = self.exchange.me();
            for origin in due.iter().filter(|origin| origin.partition != me) {
                self.put(origin.partition, origin.number, origin.ordinal, &[])?;
            }
            let (_, requests) = self.end_round(0, &[])?;
            for (partition, requests) in requests.into_iter().enumerate() {
                self.answer(partition, BatchReader::new(requests)?)?;
            }
            let (agreed, answers) = self.end_round(u64::from(ROUND_STATES <= due.len() as u64), &[])?;
            self.insert_again(&due, answers)?;
            if let Some(reason) = agreed.stop {
                return Ok(ControlFlow::Break(reason));
            }
            if agreed.waiting == 0 {
                return Ok(ControlFlow::Continue(agreed));
            }
        }
    }

    /// Where the next of my states came from, as long as their parents have smaller numbers than these, by partition.
    pub fn due(&mut self, entries: &mut Entries<'_, W>, ends: &[u64]) -> Result<Vec<Origin>, ExchangeError> {
        let mut due = Vec::new();
        while (due.len() as u64) < ROUND_STATES {
            let Some(origin) = entries.get(self.statistics.states + due.len() as u64)? else { break };
            if ends.get(origin.partition).is_none_or(|end| *end <= origin.number) {
                break;
            }
            due.push(origin);
        }
        Ok(due)
    }

    /// Sends a state, or asks for it, where no words are told.
    pub fn put(&mut self, to: usize, parent: u64, ordinal: u32, words: &[u32]) -> Result<(), ExchangeError> {
        let outbox = &mut self.outboxes[to];
        outbox.push(parent, NO_NOTES, ordinal, words);
        if BATCH_BYTES <= outbox.len() {
            let batch = outbox.take();
            return self.exchange.send(to, batch);
        }
        Ok(())
    }

    /// Sends the states that a partition asks for.
    fn answer(&mut self, partition: usize, mut requests: BatchReader) -> Result<(), ExchangeError> {
        let mut found = Found::default();
        while let Some(parent) = requests.parent {
            let ordinal = requests.ordinal;
            self.find(&mut found, parent, ordinal)?;
            let state = std::mem::take(&mut self.expansion.successor);
            self.put(partition, parent, ordinal, &state)?;
            self.expansion.successor = state;
            requests.advance()?;
        }
        Ok(())
    }

    /// Inserts states that came from here or were sent.
    fn insert_again(&mut self, due: &[Origin], answers: Vec<Vec<Vec<u8>>>) -> Result<(), ExchangeError> {
        let mut readers = answers.into_iter().map(BatchReader::new).collect::<Result<Vec<_>, _>>()?;
        let mut found = Found::default();
        for origin in due {
            if origin.partition == self.exchange.me() {
                self.find(&mut found, origin.number, origin.ordinal)?;
                self.position.advance(&self.expansion.successor);
                self.arrive(*origin);
                continue;
            }
            let reader = &mut readers[origin.partition];
            if (reader.parent, reader.ordinal) != (Some(origin.number), origin.ordinal) {
                return Err(ExchangeError::Damaged);
            }
            self.position.advance(&reader.words);
            self.arrive(*origin);
            readers[origin.partition].advance()?;
        }
        while self.insert_oldest() {}
        Ok(())
    }

    /// Lets the expansion find this ordinary successor of the state with this number, in the layer that is expanded.
    fn find(&mut self, found: &mut Found, parent: u64, ordinal: u32) -> Result<(), ExchangeError> {
        if found.parent != Some(parent) || ordinal <= found.ordinal {
            let index = parent.checked_sub(self.layer.first).and_then(|index| usize::try_from(index).ok());
            let index = index.filter(|index| *index < self.layer.states.len()).ok_or(ExchangeError::Unusable)?;
            let mut state = Vec::new();
            self.layer.states.recall(self.store, index, &mut state);
            self.expansion.begin(self.model, &state);
            *found = Found { parent: Some(parent), ordinal: 0 };
        }
        while found.ordinal < ordinal {
            if self.budget.step_is_due() {
                // If it is to stop, all agree on that at the end of the round.
                let _ = self.look();
            }
            match self.expansion.next(self.model).ok_or(ExchangeError::Unusable)? {
                Next::Successor { label, transient: true, .. } => self.expansion.pass(label),
                Next::Successor { transient: false, .. } => found.ordinal += 1,
                Next::Broken { .. } => {}
                Next::Done(_) => self.expansion.turn(self.model),
            }
        }
        Ok(())
    }
}
