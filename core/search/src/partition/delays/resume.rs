//! Goes on from a snapshot. It holds no states, but where each came from, so they are found again by executing one macro step for each.
//! A state may come from any that was stored before it, in an earlier layer; it is found as soon as that one is:
//!
//! ```text
//! H := {s₀};  found(p) := states of partition p in H
//! repeat until all states are found:
//!   due := the next of my states, as long as their parents' numbers are below found(p) of their partitions p, up to some number
//!   for each in due, with origin (p, number of its parent, ordinal): ask p for it
//!   wait until everybody has asked;  send what I was asked for, in the order in which it was asked for
//!   wait until everything has arrived;  H := H ∪ due, in their order;  found := what all partitions tell
//! layer, later := what the snapshot says of some of the states of H
//! ```
//!
//! States are numbered by layers, and a parent is in an earlier layer. So, as long as some state is missing, one of the least layer that
//! any partition misses is due.
//!
//! As any state may be a parent, all are noted until all are found, beside the visited set: some twenty bytes for each.

use super::checkpoint::{DelaySnapshot, read};
use super::{Delays, list};
use crate::model::Processes;
use crate::observer::Observer;
use crate::outcome::Completeness;
use crate::partition::batch::BatchReader;
use crate::partition::checkpoint::{More, PartSnapshot};
use crate::partition::exchange::{Exchange, ExchangeError};
use crate::partition::resume::Entries;
use crate::partition::search::Batches;
use crate::partition::way::{Origin, Ways};
use crate::schedule::{Portable, Scheduler};
use crate::state_log::StateLog;
use fabius_base::StopReason;
use std::ops::ControlFlow;

impl<M, W, X, O, D> Delays<'_, '_, M, W, X, O, D>
where
    M: Processes,
    W: Ways,
    X: Exchange,
    O: Observer<M::Label, M::Fault>,
    D: Scheduler<M::Label, State: Portable>,
{
    /// Goes on from a snapshot, in place of [`Self::begin`], once the initial state is stored. If it is stopped meanwhile, what the
    /// snapshot tells is known all the same.
    pub(super) fn resume(
        &mut self,
        begun: ControlFlow<Completeness>,
        snapshot: &PartSnapshot,
        ways: &mut W,
    ) -> Result<ControlFlow<Completeness>, ExchangeError> {
        let More::Delays(more) = &snapshot.more else { return Err(ExchangeError::Unusable) };
        let mut entries = Entries::new(snapshot, ways);
        let stopped = match begun {
            ControlFlow::Continue(()) => self.find_all(&mut entries)?,
            ControlFlow::Break(Completeness::Stopped(reason)) => Some(reason),
            ControlFlow::Break(_) => return Err(ExchangeError::Unusable),
        };
        let statistics = &self.partition.statistics;
        let are_all_new = (statistics.states, statistics.matched) == (snapshot.states(), 0);
        if stopped.is_none() && !are_all_new {
            return Err(ExchangeError::Unusable);
        }
        self.partition.learn(snapshot, &mut entries)?;
        self.lister.transient = snapshot.statistics.transient;
        self.rounds.clone_from(&more.rounds);
        if let Some(reason) = stopped {
            return Ok(ControlFlow::Break(Completeness::Stopped(reason)));
        }
        self.partition.layers = snapshot.layers;
        self.states = more.told;
        self.fill_layers(more)?;
        self.new.first = snapshot.states();
        Ok(ControlFlow::Continue(()))
    }

    /// Fills the layers from the log of all states, which is given up.
    fn fill_layers(&mut self, more: &DelaySnapshot) -> Result<(), ExchangeError> {
        let hidden = self.partition.model.hidden_words();
        let log = std::mem::replace(&mut self.new.states, StateLog::new(hidden));
        self.layer = read(&more.layer, &log, hidden)?;
        self.later = read(&more.later, &log, hidden)?;
        Ok(())
    }

    /// Finds all states; why not, if the partitions agree to stop. Until all are found, all are new.
    fn find_all(&mut self, entries: &mut Entries<'_, W>) -> Result<Option<StopReason>, ExchangeError> {
        std::mem::swap(&mut self.new.states, &mut self.partition.next_layer.states);
        let states = self.partition.statistics.states;
        let (mut agreed, _) = self.partition.end_round(entries.states.saturating_sub(states), &[states])?;
        while agreed.stop.is_none() && agreed.waiting != 0 {
            let ends: Vec<u64> = agreed.notices.iter().flatten().copied().collect();
            let due = self.partition.due(entries, &ends)?;
            let me = self.partition.exchange.me();
            for origin in due.iter().filter(|origin| origin.partition != me) {
                self.partition.put(origin.partition, origin.number, origin.ordinal, &[])?;
            }
            let (asked, requests) = self.partition.end_round(due.len() as u64, &[])?;
            if asked.stop.is_some() {
                return Ok(asked.stop);
            }
            if asked.waiting == 0 {
                return Err(ExchangeError::Unusable);
            }
            let mut listed = None;
            for (partition, requests) in requests.into_iter().enumerate() {
                self.answer(partition, BatchReader::new(requests)?, &mut listed)?;
            }
            self.partition.beside_bytes = self.memory_bytes();
            let found = self.partition.statistics.states + due.len() as u64;
            let (told, answers) = self.partition.end_round(entries.states.saturating_sub(found), &[found])?;
            if told.stop.is_none() {
                self.insert_again(&due, answers)?;
            }
            agreed = told;
        }
        // Somebody may have been asked to stop while the last ones were inserted.
        Ok(self.partition.end_round(0, &[])?.0.stop)
    }

    /// Sends the states that a partition asks for, unless it is time to stop.
    fn answer(
        &mut self,
        partition: usize,
        mut requests: BatchReader,
        listed: &mut Option<u64>,
    ) -> Result<(), ExchangeError> {
        while let Some(parent) = requests.parent {
            if self.find(parent, requests.ordinal, listed)?.is_break() {
                return Ok(());
            }
            self.partition.put(partition, parent, requests.ordinal, &self.message)?;
            requests.advance()?;
        }
        Ok(())
    }

    /// Inserts states that came from here or were sent, unless it is time to stop.
    fn insert_again(&mut self, due: &[Origin], answers: Batches) -> Result<(), ExchangeError> {
        let mut readers = answers.into_iter().map(BatchReader::new).collect::<Result<Vec<_>, _>>()?;
        let mut listed = None;
        for origin in due {
            if origin.partition == self.partition.exchange.me() {
                if self.find(origin.number, origin.ordinal, &mut listed)?.is_break() {
                    return Ok(());
                }
                let words = std::mem::take(&mut self.message);
                self.insert(&words);
                self.message = words;
            } else {
                let reader = &mut readers[origin.partition];
                if (reader.parent, reader.ordinal) != (Some(origin.number), origin.ordinal) {
                    return Err(ExchangeError::Damaged);
                }
                self.insert(&reader.words);
                reader.advance()?;
            }
            let packed = origin.pack().ok_or(ExchangeError::Unusable)?;
            if !self.partition.ways.push(packed) {
                self.partition.stop = Some(StopReason::Full);
            }
        }
        Ok(())
    }

    /// Writes the words of the state to which a macro step of another one leads, whose macro steps may be listed, unless it is time to
    /// stop.
    fn find(&mut self, parent: u64, ordinal: u32, listed: &mut Option<u64>) -> Result<ControlFlow<()>, ExchangeError> {
        if *listed != Some(parent) {
            let place = usize::try_from(parent).ok().filter(|place| *place < self.new.states.len());
            let place = place.ok_or(ExchangeError::Unusable)?;
            self.new.states.recall(self.partition.store, place, &mut self.state);
            if list(self.partition, &mut self.lister, &self.state, &mut self.macro_steps).is_break() {
                *listed = None;
                return Ok(ControlFlow::Break(()));
            }
            *listed = Some(parent);
        }
        let index = ordinal.checked_sub(1).map(|index| index as usize).filter(|index| *index < self.macro_steps.len());
        let target = index.and_then(|index| self.macro_steps.target(index)).ok_or(ExchangeError::Unusable)?;
        self.message.clear();
        self.message.extend_from_slice(target);
        Ok(ControlFlow::Continue(()))
    }
}
