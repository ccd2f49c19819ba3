//! The search of one partition; see the head of [`super`].

use super::batch::{BatchReader, BatchWriter, NO_NOTES};
use super::checkpoint::{More, PartCheckpoints, PartKeeper, PartSnapshot};
use super::exchange::{Exchange, ExchangeError};
use super::owners::Owners;
use super::retrace::retrace;
use super::way::{Origin, Way, Ways, violation_at};
use super::{PartitionStatistics, Reached};
use crate::arrivals::Arrivals;
use crate::expansion::Expansion;
use crate::model::{Marks, Model, Next};
use crate::observer::{Budget, Observer, Settings, state_words};
use crate::outcome::{Completeness, Statistics, StopAt, ViolationKind};
use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Inserted, Store, TreeStore};
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A partition expands about this many states in a round.
pub(super) const ROUND_STATES: u64 = 32_768;
/// Even near the limit on states, it expands this many.
pub(super) const ROUND_STATES_MIN: u64 = 64;
/// A batch is sent once it is this long.
pub(super) const BATCH_BYTES: usize = 32 << 10;

/// The reasons that a partition can tell the others; each is told as its place in this list, from 1.
pub(super) const REASONS: [StopReason; 6] = [
    StopReason::Cancelled,
    StopReason::Timeout,
    StopReason::States,
    StopReason::Memory,
    StopReason::Full,
    StopReason::Exhausted,
];

/// The visited set of a partition.
pub trait PartStore: Store {
    /// As [`Store::commit`]; a state that is new has this number.
    fn commit_as(&mut self, probe: Self::Probe, number: u64) -> Inserted;
}

impl PartStore for TreeStore {
    #[inline]
    fn commit_as(&mut self, probe: Self::Probe, _: u64) -> Inserted {
        self.commit(probe)
    }
}

/// Searches the states that belong to one partition; every partition of a search calls this, with the same model and settings.
///
/// Limits on states and memory are for all partitions together; they are looked at once in a round. Either all partitions go on from
/// snapshots of the same search, or none does, and the same holds of keeping snapshots.
///
/// # Errors
/// If another partition is gone, or sent what it cannot have sent; if a snapshot is none of this search.
pub fn reach<'a, M: Model, S: PartStore, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>>(
    model: &'a mut M,
    store: &'a mut S,
    ways: &'a mut W,
    exchange: &'a mut X,
    observer: &'a mut O,
    settings: &'a Settings,
    checkpoints: PartCheckpoints<'a, M, W>,
) -> Result<Reached, ExchangeError> {
    let mut partition = Partition::new(model, store, ways, exchange, observer, settings);
    partition.keeper = checkpoints.keep;
    let mut layer = match checkpoints.from {
        Some((snapshot, _)) if snapshot.more != More::Nothing => return Err(ExchangeError::Unusable),
        Some((snapshot, ways)) => partition.resume(snapshot, ways)?,
        None => partition.begin()?,
    };
    // Where the layer ended that was finished last, unless that was kept.
    let mut unkept: Option<PartSnapshot> = None;
    loop {
        match layer {
            ControlFlow::Continue(agreed) => {
                unkept = partition.snapshot(More::Nothing);
                if agreed.checkpoint_is_due {
                    partition.keep(unkept.take());
                }
                layer = partition.expand_next_layer(&agreed)?;
            }
            ControlFlow::Break(completeness) => {
                if can_go_on(completeness) {
                    partition.keep(unkept);
                }
                return partition.conclude(completeness);
            }
        }
    }
}

/// Whether a search that ended like this could have gone on.
pub(super) fn can_go_on(completeness: Completeness) -> bool {
    matches!(completeness, Completeness::Stopped(reason) if reason != StopReason::Depth)
}

/// States that wait, in the order in which they were inserted.
pub(super) struct Layer {
    pub states: StateLog,
    /// The number of the first of them.
    pub first: u64,
}

impl Layer {
    fn new(hidden: usize) -> Self {
        Self { states: StateLog::new(hidden), first: 0 }
    }

    /// The number of the state that comes after the last one.
    pub fn end(&self) -> u64 {
        self.first + self.states.len() as u64
    }
}

/// A violation, by where it was met first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Debug)]
pub(super) struct Seen {
    pub layer: u64,
    /// The hash of the state that was expanded: so it does not depend on the number of partitions which violation is the least one.
    pub key: u64,
    /// Which violation of that state it is, from 1; in the order of delays, see [`Way::event`].
    pub event: u32,
    pub partition: usize,
    /// The number of the state there.
    pub number: u64,
}

/// What the partitions told each other at the end of a round.
#[derive(Default)]
pub(super) struct Agreed {
    /// Why some of them want to stop.
    pub stop: Option<StopReason>,
    pub states: u64,
    /// What is still to be done.
    pub waiting: u64,
    pub violations: u64,
    memory_bytes: u64,
    /// Some partition wants the layer that ends to be kept.
    pub checkpoint_is_due: bool,
    /// By partition: what else it told.
    pub notices: Vec<Vec<u64>>,
}

/// What arrived in a round, by sender, in the order in which it was sent.
pub(super) type Batches = Vec<Vec<Vec<u8>>>;

/// Numbers of a summary before the notices of a partition.
const SUMMARY: usize = 6;

pub(super) struct Partition<'a, M: Model, S: Store, W, X, O> {
    pub model: &'a mut M,
    pub store: &'a mut S,
    pub ways: &'a mut W,
    pub exchange: &'a mut X,
    pub observer: &'a mut O,
    pub settings: &'a Settings,
    pub budget: Budget<'a>,
    /// The state inserted last.
    pub position: Position,
    pub expansion: Expansion<M::Cursor, M::Label>,
    pub layer: Layer,
    pub next_layer: Layer,
    /// Layers that were begun.
    pub layers: u64,
    /// The last of them was too deep to be expanded.
    is_cut: bool,
    /// States that will be in the next layer if they are new.
    arrivals: Arrivals<S::Probe, Origin>,
    pub owners: Owners,
    /// By owner: successors that are not on their way yet.
    pub outboxes: Vec<BatchWriter>,
    /// Why this partition wants to stop.
    pub stop: Option<StopReason>,
    /// Of this partition.
    pub statistics: Statistics,
    /// By the observer's key: where it was met first here, and how often.
    pub seen: BTreeMap<u64, (Seen, u64)>,
    /// Is given snapshots, if somebody keeps them.
    pub keeper: Option<&'a mut dyn PartKeeper<M, W>>,
    /// Whether invalid ends are violations.
    pub ends_count: bool,
    /// States can have numbers below this.
    pub numbers_max: u64,
    /// All states by number, if they are needed again.
    pub all_states: Option<StateLog>,
    /// Of all steps that were listed.
    pub marks: Marks,
    /// States with smaller numbers were expanded.
    pub expanded: u64,
    /// Memory that a search beside this one uses for the same states, in bytes.
    pub beside_bytes: u64,
}

impl<'a, M: Model, S: PartStore, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>> Partition<'a, M, S, W, X, O> {
    pub fn new(
        model: &'a mut M,
        store: &'a mut S,
        ways: &'a mut W,
        exchange: &'a mut X,
        observer: &'a mut O,
        settings: &'a Settings,
    ) -> Self {
        let hidden = model.hidden_words();
        let budget = Budget::new(settings, state_words(model));
        let owners = Owners::new(model, exchange.partitions());
        let outboxes = (0..exchange.partitions()).map(|_| BatchWriter::default()).collect();
        Self {
            model,
            store,
            ways,
            exchange,
            observer,
            settings,
            budget,
            position: Position::new(S::MEMO_PER_WORD, hidden),
            expansion: Expansion::new(hidden),
            layer: Layer::new(hidden),
            next_layer: Layer::new(hidden),
            layers: 0,
            is_cut: false,
            arrivals: Arrivals::new(),
            owners,
            outboxes,
            stop: None,
            statistics: Statistics::default(),
            seen: BTreeMap::new(),
            keeper: None,
            ends_count: true,
            numbers_max: u64::MAX,
            all_states: None,
            marks: Marks::NONE,
            expanded: 0,
            beside_bytes: 0,
        }
    }

    /// Stores the initial state.
    pub fn begin(&mut self) -> Result<ControlFlow<Completeness, Agreed>, ExchangeError> {
        if let Err(fault) = self.model.initial(&mut self.expansion.successor) {
            if self.exchange.me() == 0 {
                let seen = Seen { layer: 0, key: 0, event: 1, partition: 0, number: 0 };
                self.record(&ViolationKind::Fault(fault), None, seen);
            }
            return Ok(ControlFlow::Break(match self.settings.stop_at {
                StopAt::First => Completeness::FirstViolation,
                StopAt::Never => Completeness::Exhaustive,
            }));
        }
        let initial = std::mem::take(&mut self.expansion.successor);
        if self.owners.owner(&initial) == self.exchange.me() {
            self.position.advance(&initial);
            self.arrive(Origin::INITIAL);
        }
        let agreed = self.end_layer()?;
        Ok(self.conclude_layer(agreed))
    }

    /// Expands a layer, unless it is too deep.
    pub fn expand_next_layer(&mut self, agreed: &Agreed) -> Result<ControlFlow<Completeness, Agreed>, ExchangeError> {
        let depth = self.turn_layer();
        self.is_cut = self.budget.too_deep(depth);
        if self.is_cut {
            self.statistics.cut += self.layer.states.len() as u64;
        } else if let Some(stopped) = self.expand_layer(depth, agreed)? {
            return Ok(self.conclude_layer(stopped));
        }
        let agreed = self.end_layer()?;
        Ok(self.conclude_layer(agreed))
    }

    /// Turns to the next layer; its depth.
    pub fn turn_layer(&mut self) -> u64 {
        let depth = self.layers;
        self.layers += 1;
        std::mem::swap(&mut self.layer, &mut self.next_layer);
        self.next_layer.states.clear();
        self.next_layer.first = self.layer.end();
        self.statistics.depth = depth;
        depth
    }

    /// Goes on, or says how the search ended.
    pub fn conclude_layer(&self, agreed: Agreed) -> ControlFlow<Completeness, Agreed> {
        match self.ended(&agreed) {
            Some(ended) => ControlFlow::Break(ended),
            None => ControlFlow::Continue(agreed),
        }
    }

    /// How the search ended, if the partitions agree that it did.
    fn ended(&self, agreed: &Agreed) -> Option<Completeness> {
        let found = 0 < agreed.violations && self.settings.stop_at == StopAt::First;
        match agreed.stop {
            _ if found => Some(Completeness::FirstViolation),
            Some(reason) => Some(Completeness::Stopped(reason)),
            None if self.is_cut => Some(Completeness::Stopped(StopReason::Depth)),
            None => (agreed.waiting == 0).then_some(Completeness::Exhaustive),
        }
    }

    /// Expands a layer, round after round; what the partitions told each other last, if they agree to stop before its end.
    fn expand_layer(&mut self, depth: u64, agreed: &Agreed) -> Result<Option<Agreed>, ExchangeError> {
        let states_left = self.settings.limits.states_max.map(|max| max.saturating_sub(agreed.states) / 4);
        let each = states_left.unwrap_or(ROUND_STATES).clamp(ROUND_STATES_MIN, ROUND_STATES);
        let rounds = agreed.waiting.div_ceil(each * self.exchange.partitions() as u64).max(1) as usize;
        let mut state = Vec::new();
        let end_of = |round: usize, len: usize| (len as u128 * round as u128 / rounds as u128) as usize;
        for round in 0..rounds {
            let len = self.layer.states.len();
            for index in end_of(round, len)..end_of(round + 1, len) {
                self.layer.states.recall(self.store, index, &mut state);
                let number = self.layer.first + index as u64;
                if self.stop.is_some() || self.expand(&state, number, depth)?.is_break() {
                    break;
                }
                self.expanded = number + 1;
            }
            let agreed = self.end_layer()?;
            if agreed.stop.is_some() {
                return Ok(Some(agreed));
            }
        }
        Ok(None)
    }

    /// Brings every ordinary successor of the state with this number to its owner.
    fn expand(&mut self, state: &[u32], number: u64, depth: u64) -> Result<ControlFlow<()>, ExchangeError> {
        self.expansion.begin(self.model, state);
        let (mut ordinal, mut events) = (0, 0);
        while let Some(found) = self.expansion.next(self.model) {
            if self.budget.step_is_due() && self.look().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if let Some((kind, last)) = violation_at(&found) {
                events += 1;
                if kind != ViolationKind::InvalidEnd || self.ends_count {
                    let (partition, key) = (self.exchange.me(), self.owners.hash(state));
                    self.record(&kind, last, Seen { layer: depth, key, event: events, partition, number });
                }
            }
            match found {
                Next::Successor { label, transient: true, marks, .. } => {
                    self.marks = self.marks.with(marks);
                    self.statistics.transient += 1;
                    self.expansion.pass(label);
                }
                Next::Successor { transient: false, marks, .. } => {
                    self.marks = self.marks.with(marks);
                    ordinal += 1;
                    self.bring(number, ordinal)?;
                }
                Next::Broken { .. } => {}
                Next::Done(_) => self.expansion.turn(self.model),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Inserts the successor found last, or sends it to its owner.
    #[inline]
    fn bring(&mut self, number: u64, ordinal: u32) -> Result<(), ExchangeError> {
        let owner = self.owners.owner(&self.expansion.successor);
        if owner == self.exchange.me() {
            self.position.advance(&self.expansion.successor);
            self.arrive(Origin { partition: owner, number, ordinal });
            return Ok(());
        }
        let outbox = &mut self.outboxes[owner];
        outbox.push(number, NO_NOTES, ordinal, &self.expansion.successor);
        if BATCH_BYTES <= outbox.len() {
            return self.exchange.send(owner, outbox.take());
        }
        Ok(())
    }

    /// Counts a violation.
    #[cold]
    fn record(&mut self, kind: &ViolationKind<M::Fault>, label: Option<M::Label>, seen: Seen) {
        let key = self.observer.key(kind, label.as_ref(), self.expansion.state());
        self.count(key, seen);
    }

    /// Counts a violation with a key.
    pub fn count(&mut self, key: u64, seen: Seen) {
        self.statistics.violations += 1;
        let known = self.seen.entry(key).or_insert((seen, 0));
        *known = (known.0.min(seen), known.1 + 1);
    }

    /// Ends a round of a layer: what the others sent in it is inserted.
    pub fn end_layer(&mut self) -> Result<Agreed, ExchangeError> {
        while self.insert_oldest() {}
        let (agreed, batches) = self.end_round(self.next_layer.states.len() as u64, &[])?;
        self.insert(batches)?;
        Ok(agreed)
    }

    /// Ends a round: tells the others how much is still to be done here, and what else there is to notice; what they told, and what
    /// they sent in this round.
    pub fn end_round(&mut self, waiting: u64, notices: &[u64]) -> Result<(Agreed, Batches), ExchangeError> {
        for (owner, outbox) in self.outboxes.iter_mut().enumerate() {
            if 0 < outbox.len() {
                self.exchange.send(owner, outbox.take())?;
            }
        }
        let reason = self.stop.and_then(|stop| REASONS.iter().position(|reason| *reason == stop));
        let stop = reason.map_or(0, |place| place as u64 + 1);
        let memory_bytes = self.memory_bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory_bytes);
        let is_due = u64::from(self.keeper.as_mut().is_some_and(|keeper| keeper.is_due()));
        let Statistics { states, violations, .. } = self.statistics;
        let mut summary = vec![stop, states, waiting, violations, memory_bytes, is_due];
        summary.extend_from_slice(notices);
        let round = self.exchange.end_round(&summary)?;
        let mut agreed = Agreed::default();
        for summary in &round.summaries {
            let (&[stop, states, waiting, violations, memory_bytes, is_due], notices) =
                summary.split_first_chunk::<SUMMARY>().ok_or(ExchangeError::Damaged)?;
            let reason = usize::try_from(stop).ok().and_then(|stop| REASONS.get(stop.checked_sub(1)?).copied());
            agreed.stop = agreed.stop.or(reason);
            agreed.states += states;
            agreed.waiting += waiting;
            agreed.violations += violations;
            agreed.memory_bytes += memory_bytes;
            agreed.checkpoint_is_due |= is_due != 0;
            agreed.notices.push(notices.to_vec());
        }
        let limits = &self.settings.limits;
        if limits.memory_bytes_max.is_some_and(|max| max < agreed.memory_bytes) {
            agreed.stop = agreed.stop.or(Some(StopReason::Memory));
        }
        if limits.states_max.is_some_and(|max| max < agreed.states) {
            agreed.stop = agreed.stop.or(Some(StopReason::States));
        }
        Ok((agreed, round.batches))
    }

    /// Inserts what arrived, one sender after the other, in the order in which it was sent.
    fn insert(&mut self, batches: Batches) -> Result<(), ExchangeError> {
        for (partition, batches) in batches.into_iter().enumerate() {
            let mut reader = BatchReader::new(batches)?;
            while let Some(number) = reader.parent {
                self.position.advance(&reader.words);
                self.arrive(Origin { partition, number, ordinal: reader.ordinal });
                reader.advance()?;
            }
        }
        while self.insert_oldest() {}
        Ok(())
    }

    /// Looks up the state that the position was moved to. It is inserted in its turn, unless it was inserted before.
    #[inline]
    pub fn arrive(&mut self, origin: Origin) {
        if self.arrivals.is_full() {
            self.insert_oldest();
        }
        self.arrivals.look_up(self.store, &mut self.position, origin);
        self.position.forget();
    }

    /// Inserts the state that was looked up first; false if there is none.
    #[inline]
    pub fn insert_oldest(&mut self) -> bool {
        let number = self.statistics.states;
        let commit = |store: &mut S, probe| store.commit_as(probe, number);
        let Some((inserted, arrival)) = self.arrivals.commit_by(self.store, commit) else { return false };
        if inserted == Inserted::Old {
            self.statistics.matched += 1;
        } else if number < self.numbers_max && arrival.tag.pack().is_some_and(|packed| self.ways.push(packed)) {
            self.statistics.states += 1;
            self.next_layer.states.push_words(&arrival.words);
            if let Some(all) = &mut self.all_states {
                all.push_words(&arrival.words);
            }
        } else {
            self.stop = Some(StopReason::Full);
        }
        true
    }

    /// Compares what was used with the limits.
    #[cold]
    pub fn look(&mut self) -> ControlFlow<()> {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.memory_bytes());
        let told = self.budget.look(&self.statistics, self.store.is_full(), self.observer);
        if let ControlFlow::Break(reason) = told {
            self.stop = Some(reason);
        }
        told.map_break(|_| ())
    }

    pub fn memory_bytes(&self) -> u64 {
        let layers = self.layer.states.memory_bytes() + self.next_layer.states.memory_bytes();
        let outboxes: usize = self.outboxes.iter().map(BatchWriter::len).sum();
        let local = (outboxes + self.expansion.memory_bytes()) as u64 + self.ways.memory_bytes();
        let all = self.all_states.as_ref().map_or(0, StateLog::memory_bytes) + self.beside_bytes;
        self.store.memory_bytes() + self.position.memory_bytes() + layers + local + all
    }

    /// Puts together what all partitions found.
    pub fn conclude(mut self, completeness: Completeness) -> Result<Reached, ExchangeError> {
        let mut seen = self.all_seen()?;
        let counted: u64 = seen.iter().map(|(_, _, count)| *count).sum();
        if completeness == Completeness::FirstViolation {
            seen.truncate(1);
            seen.iter_mut().for_each(|(_, _, count)| *count = 1);
        }
        let places: Vec<_> = seen.iter().map(|(seen, ..)| (seen.partition, seen.number)).collect();
        let ordinals = retrace(self.exchange, self.ways, &places)?;
        let ways = seen.iter().zip(ordinals);
        let ways = ways.map(|((seen, key, count), ordinals)| {
            let event = seen.event;
            Way { ordinals, event, key: *key, count: *count }
        });
        let ways = ways.collect();
        let mine =
            Statistics { memory_bytes: self.statistics.memory_bytes.max(self.memory_bytes()), ..self.statistics };
        // Whoever watches is told all of it; there is nothing to stop any more.
        let _ = self.observer.progress(&mine);
        let summary = [mine.states, mine.matched, mine.transient, mine.cut, mine.memory_bytes, mine.depth];
        let violations = if completeness == Completeness::FirstViolation { 1 } else { counted };
        let mut statistics = Statistics { violations, ..Statistics::default() };
        let mut partitions = Vec::new();
        for summary in self.exchange.end_round(&summary)?.summaries {
            let [states, matched, transient, cut, memory_bytes, depth] = summary[..] else {
                return Err(ExchangeError::Damaged);
            };
            statistics.states += states;
            statistics.matched += matched;
            statistics.transient += transient;
            statistics.cut += cut;
            statistics.memory_bytes += memory_bytes;
            statistics.depth = statistics.depth.max(depth);
            partitions.push(PartitionStatistics { states, transitions: states + matched, memory_bytes });
        }
        Ok(Reached { completeness, statistics, ways, cycle: None, rounds: Vec::new(), partitions })
    }

    /// The violations that all partitions met, one for each key with the number of those, the least first.
    fn all_seen(&mut self) -> Result<Vec<(Seen, u64, u64)>, ExchangeError> {
        const WORDS: usize = 6;
        let words = |(key, (seen, count)): (&u64, &(Seen, u64))| {
            [*key, seen.layer, seen.key, u64::from(seen.event), seen.number, *count]
        };
        let summary: Vec<u64> = self.seen.iter().flat_map(words).collect();
        let mut all: BTreeMap<u64, (Seen, u64)> = BTreeMap::new();
        for (partition, summary) in self.exchange.end_round(&summary)?.summaries.into_iter().enumerate() {
            for words in summary.chunks(WORDS) {
                let [name, layer, key, event, number, count] = *words else { return Err(ExchangeError::Damaged) };
                let event = u32::try_from(event).map_err(|_| ExchangeError::Damaged)?;
                let seen = Seen { layer, key, event, partition, number };
                let known = all.entry(name).or_insert((seen, 0));
                *known = (known.0.min(seen), known.1 + count);
            }
        }
        let mut all: Vec<_> = all.into_iter().map(|(key, (seen, count))| (seen, key, count)).collect();
        all.sort_unstable();
        Ok(all)
    }
}
