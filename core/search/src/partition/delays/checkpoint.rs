//! Where the search by number of delays stands before it expands a layer, so that another one can go on from there.
//!
//! What waits may be a large part of all states, and layers may be many. So it is written down only when a snapshot is kept: while a layer
//! is expanded, the layer stays as it is, and what waits for one more delay only grows.

use super::{Call, Delays, Waiting};
use crate::model::Processes;
use crate::observer::Observer;
use crate::outcome::Round;
use crate::partition::batch::{BatchReader, BatchWriter};
use crate::partition::checkpoint::{More, PartSnapshot};
use crate::partition::exchange::{Exchange, ExchangeError};
use crate::partition::way::Ways;
use crate::schedule::{Portable, Scheduler};
use crate::state_log::StateLog;
use serde::{Deserialize, Serialize};

/// What this search needs to go on beside its states and counters.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(in crate::partition) struct DelaySnapshot {
    /// The numbers of delays that were searched to their ends.
    pub(super) rounds: Vec<Round>,
    /// States of all partitions, as far as they told.
    pub(super) told: u64,
    /// What the next layer is made of; see [`write`].
    pub(super) layer: Vec<u8>,
    /// What waits for one more delay.
    pub(super) later: Vec<u8>,
}

impl DelaySnapshot {
    /// Bytes that say which states wait and how they are explored.
    pub(in crate::partition) fn waiting_bytes(&self) -> u64 {
        (self.layer.len() + self.later.len()) as u64
    }
}

/// Where a layer began that is expanded.
pub(super) struct LayerStart {
    /// All but [`PartSnapshot::more`].
    snapshot: PartSnapshot,
    told: u64,
    /// How many states waited for one more delay.
    later: usize,
}

impl<M, W, X, O, D> Delays<'_, '_, M, W, X, O, D>
where
    M: Processes,
    W: Ways,
    X: Exchange,
    O: Observer<M::Label, M::Fault>,
    D: Scheduler<M::Label, State: Portable>,
{
    /// Takes note of where a layer begins, if somebody keeps that.
    pub(super) fn begin_layer(&mut self) {
        let (told, later) = (self.states, self.later.calls.len());
        let first = self.new.first;
        let snapshot = self.partition.snapshot(More::Nothing);
        self.start = snapshot.map(|snapshot| LayerStart { snapshot: PartSnapshot { first, ..snapshot }, told, later });
    }

    /// Has a snapshot kept of where the layer began.
    pub(super) fn keep_start(&mut self) {
        let Some(LayerStart { snapshot, told, later }) = self.start.take() else { return };
        let (layer, later) = (write(&self.layer.calls), write(&self.later.calls[..later]));
        let more = More::Delays(DelaySnapshot { rounds: self.rounds.clone(), told, layer, later });
        self.partition.keep(Some(PartSnapshot { more, ..snapshot }));
    }
}

/// Writes how states are explored as a batch: each state is the parent of the words of the scheduler's state.
fn write<State: Portable>(calls: &[Call<State>]) -> Vec<u8> {
    let (mut writer, mut words) = (BatchWriter::default(), Vec::new());
    for call in calls {
        words.clear();
        call.schedule.write(&mut words);
        writer.push(call.number, [call.depth, 0], call.index, &words);
    }
    writer.into_bytes()
}

/// Reads what was written of states that are all in a log, by their numbers.
pub(super) fn read<State: Portable>(
    bytes: &[u8],
    log: &StateLog,
    hidden: usize,
) -> Result<Waiting<State>, ExchangeError> {
    let mut waiting = Waiting::new(hidden);
    let mut reader = BatchReader::new(vec![bytes.to_vec()])?;
    while let Some(number) = reader.parent {
        let place = usize::try_from(number).ok().filter(|place| *place < log.len());
        let mut words = &reader.words[..];
        let schedule = State::read(&mut words).filter(|_| words.is_empty());
        let (place, schedule) = place.zip(schedule).ok_or(ExchangeError::Unusable)?;
        waiting.states.push_from(log, place);
        waiting.calls.push(Call { number, depth: reader.notes[0], schedule, index: reader.ordinal });
        reader.advance()?;
    }
    Ok(waiting)
}
