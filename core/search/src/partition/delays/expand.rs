//! Takes the macro steps of states, and brings what they lead to to its owner.

use super::new_states::Arrival;
use super::{Call, Delays, list};
use crate::delay_bounded::scheduled;
use crate::macro_stack::MacroStepsOf;
use crate::model::{Ending, Processes};
use crate::observer::Observer;
use crate::outcome::ViolationKind;
use crate::partition::batch::BatchReader;
use crate::partition::exchange::{Exchange, ExchangeError};
use crate::partition::search::{BATCH_BYTES, Batches, Seen};
use crate::partition::way::{Origin, Ways};
use crate::schedule::macro_steps::MacroStepEnd;
use crate::schedule::{Portable, Scheduler};
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Numbers of the states of a partition are smaller: with each state the store keeps its number, plus 1.
const NUMBERS_MAX: u64 = u32::MAX as u64 - 1;
/// The memory in use is measured once for this many states.
const LOOK_EVERY: usize = 256;

/// A state that is expanded, as those after it know it.
#[derive(Clone, Copy)]
struct Parent {
    number: u64,
    depth: u64,
    hash: u64,
}

impl<M, W, X, O, D> Delays<'_, '_, M, W, X, O, D>
where
    M: Processes,
    W: Ways,
    X: Exchange,
    O: Observer<M::Label, M::Fault>,
    D: Scheduler<M::Label, State: Portable>,
{
    /// Gives a state of the layer its turn: the process that the scheduler chooses moves. It waits for more delays if there are others.
    pub(super) fn expand(&mut self, index: usize) -> Result<ControlFlow<()>, ExchangeError> {
        if index.is_multiple_of(LOOK_EVERY) {
            self.partition.beside_bytes = self.memory_bytes();
            let memory_bytes = self.partition.memory_bytes();
            let statistics = &mut self.partition.statistics;
            statistics.memory_bytes = statistics.memory_bytes.max(memory_bytes);
        }
        self.layer.states.recall(self.partition.store, index, &mut self.state);
        let mut macro_steps = std::mem::take(&mut self.macro_steps);
        let listed = list(self.partition, &mut self.lister, &self.state, &mut macro_steps);
        self.partition.statistics.transient = self.lister.transient;
        let done = if listed.is_break() { Ok(listed) } else { self.take_turn(index, &macro_steps) };
        self.macro_steps = macro_steps;
        done
    }

    fn take_turn(&mut self, index: usize, macro_steps: &MacroStepsOf<M>) -> Result<ControlFlow<()>, ExchangeError> {
        let mut call = self.layer.calls[index].clone();
        let hash = self.partition.owners.hash(macro_steps.state());
        let parent = Parent { number: call.number, depth: call.depth, hash };
        if call.index == 0 {
            if macro_steps.ending() == Ending::InvalidEnd {
                self.record(ViolationKind::InvalidEnd, parent, macro_steps, None);
            }
            if self.take_all(None, &call, parent, macro_steps)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let Some(process) = self.scheduler.next(&call.schedule) else { return Ok(ControlFlow::Continue(())) };
        if self.take_all(Some(process), &call, parent, macro_steps)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        call.index += 1;
        if !self.scheduler.is_sealed(&call.schedule) && (call.index as usize) < macro_steps.enabled().len() {
            self.scheduler.delay(&mut call.schedule);
            self.later.states.push_from(&self.layer.states, index);
            self.later.calls.push(call);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Takes all macro steps of a process, or all environment moves.
    fn take_all(
        &mut self,
        process: Option<u8>,
        call: &Call<D::State>,
        parent: Parent,
        macro_steps: &MacroStepsOf<M>,
    ) -> Result<ControlFlow<()>, ExchangeError> {
        let mut from = 0;
        while let Some(index) = macro_steps.next_of(process, from) {
            from = index + 1;
            match &macro_steps.get(index).end {
                MacroStepEnd::State(_) => {
                    if self.bring(index, &call.schedule, parent, macro_steps)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                MacroStepEnd::Fault(fault) => {
                    self.record(ViolationKind::Fault(*fault), parent, macro_steps, Some(index));
                }
                MacroStepEnd::Stuck(_) => self.record(ViolationKind::InvalidEnd, parent, macro_steps, Some(index)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Counts a violation of a state or of one of its macro steps.
    #[cold]
    fn record(
        &mut self,
        kind: ViolationKind<M::Fault>,
        parent: Parent,
        macro_steps: &MacroStepsOf<M>,
        index: Option<usize>,
    ) {
        let partition = &mut *self.partition;
        let (label, place) = macro_steps.place(index);
        let name = partition.observer.key(&kind, label.as_ref(), place);
        let event = index.map_or(0, |index| index as u32 + 1);
        let (layer, me) = (partition.layers, partition.exchange.me());
        partition.count(name, Seen { layer, key: parent.hash, event, partition: me, number: parent.number });
    }

    /// Inserts the state that a macro step leads to, or sends it to its owner, with the state of the scheduler after it.
    fn bring(
        &mut self,
        index: usize,
        schedule: &D::State,
        parent: Parent,
        macro_steps: &MacroStepsOf<M>,
    ) -> Result<ControlFlow<()>, ExchangeError> {
        let target = macro_steps.target(index).unwrap_or_default();
        let (owner, me) = (self.partition.owners.owner(target), self.partition.exchange.me());
        let origin = Origin { partition: me, number: parent.number, ordinal: index as u32 + 1 };
        let Some(packed) = origin.pack() else {
            self.partition.stop = Some(StopReason::Full);
            return Ok(ControlFlow::Break(()));
        };
        let inserted = if owner == me { self.insert(target) } else { None };
        let is_known = inserted.is_some_and(|number| number < self.new.first);
        if is_known || self.partition.stop.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        // The scheduler has to know who can move there.
        let listed = list(self.partition, &mut self.lister_after, target, &mut self.macro_steps_after);
        if listed.is_break() {
            return Ok(listed);
        }
        let after = self.macro_steps_after.situation();
        let schedule = scheduled(self.scheduler, schedule, macro_steps, index, after);
        self.message.clear();
        if let Some(number) = inserted {
            schedule.write(&mut self.message);
            let (schedule, depth) = (self.message.as_slice().into(), parent.depth + 1);
            let arrival = Arrival { schedule, depth, parent: parent.hash, ordinal: origin.ordinal, origin: packed };
            self.new.offer(number, target, arrival);
            return Ok(ControlFlow::Continue(()));
        }
        self.message.extend_from_slice(target);
        schedule.write(&mut self.message);
        self.message.push((self.message.len() - target.len()) as u32);
        self.sent += 1;
        let outbox = &mut self.partition.outboxes[owner];
        outbox.push(parent.number, [parent.depth, parent.hash], origin.ordinal, &self.message);
        if BATCH_BYTES <= outbox.len() {
            self.partition.exchange.send(owner, outbox.take())?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Inserts what arrived, one sender after the other, in the order in which it was sent.
    pub(super) fn receive(&mut self, batches: Batches) -> Result<(), ExchangeError> {
        for (partition, batches) in batches.into_iter().enumerate() {
            let mut reader = BatchReader::new(batches)?;
            while let Some(number) = reader.parent {
                let (target, schedule) = parts(&reader.words).ok_or(ExchangeError::Damaged)?;
                let origin = Origin { partition, number, ordinal: reader.ordinal };
                let origin = origin.pack().ok_or(ExchangeError::Damaged)?;
                if let Some(number) = self.insert(target).filter(|number| self.new.first <= *number) {
                    let [depth, parent] = reader.notes;
                    let (schedule, depth) = (schedule.into(), depth.saturating_add(1));
                    self.new.offer(
                        number,
                        target,
                        Arrival { schedule, depth, parent, ordinal: reader.ordinal, origin },
                    );
                }
                reader.advance()?;
            }
        }
        Ok(())
    }

    /// Inserts a state of this partition, unless it is known; its number. `None` if there is no more room.
    pub(super) fn insert(&mut self, state: &[u32]) -> Option<u64> {
        let partition = &mut *self.partition;
        let next = self.new.first + self.new.len();
        if NUMBERS_MAX <= next {
            partition.stop = Some(StopReason::Full);
            return None;
        }
        partition.position.advance(state);
        let probe = partition.store.prepare(&mut partition.position, Class::Ordinary);
        let (inserted, entry) = partition.store.commit_entry(probe);
        let number = if inserted == Inserted::New { next } else { u64::from(*entry).saturating_sub(1) };
        *entry = (number + 1) as u32;
        if inserted == Inserted::New {
            partition.statistics.states += 1;
            self.new.states.push(partition.store, &partition.position, Class::Ordinary);
        } else {
            partition.statistics.matched += 1;
        }
        partition.position.forget();
        Some(number)
    }
}

/// A state, and the words of the scheduler's after it, of which the last one says how many they are.
fn parts(words: &[u32]) -> Option<(&[u32], &[u32])> {
    let (count, words) = words.split_last()?;
    words.split_at_checked(words.len().checked_sub(*count as usize)?)
}
