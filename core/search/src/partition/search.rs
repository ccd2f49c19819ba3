//! The search of one partition; see the head of [`super`].

use super::batch::{BatchReader, BatchWriter};
use super::exchange::{Exchange, ExchangeError};
use super::owners::Owners;
use super::way::{Origin, Way, Ways, violation_at};
use super::{PartitionStatistics, Reached};
use crate::arrivals::Arrivals;
use crate::expansion::Expansion;
use crate::model::{Model, Next};
use crate::observer::{Budget, Observer, Settings};
use crate::outcome::{Completeness, Statistics, StopAt, ViolationKind};
use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Inserted, Store};
use fabius_base::StopReason;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A partition expands about this many states in a round.
const ROUND_STATES: u64 = 32_768;
/// Even near the limit on states, it expands this many.
const ROUND_STATES_MIN: u64 = 64;
/// A batch is sent once it is this long.
const BATCH_BYTES: usize = 32 << 10;

/// The reasons that a partition can tell the others; each is told as its place in this list, from 1.
pub(super) const REASONS: [StopReason; 6] = [
    StopReason::Cancelled,
    StopReason::Timeout,
    StopReason::States,
    StopReason::Memory,
    StopReason::Full,
    StopReason::Exhausted,
];

/// Searches the states that belong to one partition; every partition of a search calls this, with the same model and settings.
///
/// Limits on states and memory are for all partitions together; they are looked at once in a round.
///
/// # Errors
/// If another partition is gone, or sent what it cannot have sent.
pub fn reach<M: Model, S: Store, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>>(
    model: &mut M,
    store: &mut S,
    ways: &mut W,
    exchange: &mut X,
    observer: &mut O,
    settings: &Settings,
) -> Result<Reached, ExchangeError> {
    let hidden = model.hidden_words();
    let owners = Owners::new(model, exchange.partitions());
    let outboxes = (0..exchange.partitions()).map(|_| BatchWriter::default()).collect();
    let mut partition = Partition {
        model,
        store,
        ways,
        exchange,
        observer,
        settings,
        budget: Budget::new(settings),
        position: Position::new(S::MEMO_PER_WORD, hidden),
        expansion: Expansion::new(hidden),
        layer: Layer::new(hidden),
        next_layer: Layer::new(hidden),
        arrivals: Arrivals::new(),
        owners,
        outboxes,
        stop: None,
        statistics: Statistics::default(),
        seen: BTreeMap::new(),
    };
    let completeness = partition.run()?;
    partition.conclude(completeness)
}

/// States that wait, in the order in which they were inserted.
struct Layer {
    states: StateLog,
    /// The number of the first of them.
    first: u64,
}

impl Layer {
    fn new(hidden: usize) -> Self {
        Self { states: StateLog::new(hidden), first: 0 }
    }

    /// The number of the state that comes after the last one.
    fn end(&self) -> u64 {
        self.first + self.states.len() as u64
    }
}

/// A violation, by where it was met first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    layer: u64,
    /// The hash of the state that was expanded: so it does not depend on the number of partitions which violation is the least one.
    key: u64,
    /// Which violation of that state it is, from 1.
    event: u32,
    partition: usize,
    /// The number of the state there.
    number: u64,
}

/// What the partitions told each other at the end of a round.
struct Agreed {
    stop: Option<StopReason>,
    states: u64,
    waiting: u64,
    violations: u64,
    memory_bytes: u64,
}

struct Partition<'a, M: Model, S: Store, W, X, O> {
    model: &'a mut M,
    store: &'a mut S,
    ways: &'a mut W,
    exchange: &'a mut X,
    observer: &'a mut O,
    settings: &'a Settings,
    budget: Budget<'a>,
    /// The state inserted last.
    position: Position,
    expansion: Expansion<M::Cursor, M::Label>,
    layer: Layer,
    next_layer: Layer,
    /// States that will be in the next layer if they are new.
    arrivals: Arrivals<S::Probe, Origin>,
    owners: Owners,
    /// By owner: successors that are not on their way yet.
    outboxes: Vec<BatchWriter>,
    /// Why this partition wants to stop.
    stop: Option<StopReason>,
    /// Of this partition.
    statistics: Statistics,
    /// By the observer's key: where it was met first here, and how often.
    seen: BTreeMap<u64, (Seen, u64)>,
}

impl<M: Model, S: Store, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>> Partition<'_, M, S, W, X, O> {
    fn run(&mut self) -> Result<Completeness, ExchangeError> {
        if let Err(fault) = self.model.initial(&mut self.expansion.successor) {
            if self.exchange.me() == 0 {
                let seen = Seen { layer: 0, key: 0, event: 1, partition: 0, number: 0 };
                self.record(&ViolationKind::Fault(fault), None, seen);
            }
            return Ok(match self.settings.stop_at {
                StopAt::First => Completeness::FirstViolation,
                StopAt::Never => Completeness::Exhaustive,
            });
        }
        let initial = std::mem::take(&mut self.expansion.successor);
        if self.owners.owner(&initial) == self.exchange.me() {
            self.position.advance(&initial);
            self.arrive(Origin::INITIAL);
        }
        let mut agreed = self.end_round()?;
        let mut cut = false;
        for depth in 0.. {
            if let Some(ended) = self.ended(&agreed, cut) {
                return Ok(ended);
            }
            std::mem::swap(&mut self.layer, &mut self.next_layer);
            self.next_layer.states.clear();
            self.next_layer.first = self.layer.end();
            self.statistics.depth = depth;
            cut = self.budget.too_deep(depth);
            if cut {
                self.statistics.cut += self.layer.states.len() as u64;
            } else if let Some(stopped) = self.expand_layer(depth, &agreed)? {
                agreed = stopped;
                continue;
            }
            agreed = self.end_round()?;
        }
        Ok(Completeness::Exhaustive)
    }

    /// How the search ended, if the partitions agree that it did.
    fn ended(&self, agreed: &Agreed, cut: bool) -> Option<Completeness> {
        let found = 0 < agreed.violations && self.settings.stop_at == StopAt::First;
        match agreed.stop {
            _ if found => Some(Completeness::FirstViolation),
            Some(reason) => Some(Completeness::Stopped(reason)),
            None if cut => Some(Completeness::Stopped(StopReason::Depth)),
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
            }
            let agreed = self.end_round()?;
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
                let (partition, key) = (self.exchange.me(), self.owners.hash(state));
                self.record(&kind, last, Seen { layer: depth, key, event: events, partition, number });
            }
            match found {
                Next::Successor { label, transient: true, .. } => {
                    self.statistics.transient += 1;
                    self.expansion.pass(label);
                }
                Next::Successor { transient: false, .. } => {
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
        outbox.push(number, ordinal, &self.expansion.successor);
        if BATCH_BYTES <= outbox.len() {
            return self.exchange.send(owner, outbox.take());
        }
        Ok(())
    }

    /// Counts a violation.
    #[cold]
    fn record(&mut self, kind: &ViolationKind<M::Fault>, label: Option<M::Label>, seen: Seen) {
        self.statistics.violations += 1;
        let key = self.observer.key(kind, label.as_ref(), self.expansion.state());
        let known = self.seen.entry(key).or_insert((seen, 0));
        *known = (known.0.min(seen), known.1 + 1);
    }

    /// Ends a round: what the others sent in it is inserted.
    fn end_round(&mut self) -> Result<Agreed, ExchangeError> {
        while self.insert_oldest() {}
        for (owner, outbox) in self.outboxes.iter_mut().enumerate() {
            if 0 < outbox.len() {
                self.exchange.send(owner, outbox.take())?;
            }
        }
        let reason = self.stop.and_then(|stop| REASONS.iter().position(|reason| *reason == stop));
        let stop = reason.map_or(0, |place| place as u64 + 1);
        let waiting = self.next_layer.states.len() as u64;
        let memory_bytes = self.memory_bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory_bytes);
        let summary = [stop, self.statistics.states, waiting, self.statistics.violations, memory_bytes];
        let round = self.exchange.end_round(&summary)?;
        self.insert(round.batches)?;
        let mut agreed = Agreed { stop: None, states: 0, waiting: 0, violations: 0, memory_bytes: 0 };
        for summary in &round.summaries {
            let [stop, states, waiting, violations, memory_bytes] = summary[..] else {
                return Err(ExchangeError::Damaged);
            };
            let reason = usize::try_from(stop).ok().and_then(|stop| REASONS.get(stop.checked_sub(1)?).copied());
            agreed.stop = agreed.stop.or(reason);
            agreed.states += states;
            agreed.waiting += waiting;
            agreed.violations += violations;
            agreed.memory_bytes += memory_bytes;
        }
        let limits = &self.settings.limits;
        if limits.states_max.is_some_and(|max| max < agreed.states) {
            agreed.stop = agreed.stop.or(Some(StopReason::States));
        }
        if limits.memory_bytes_max.is_some_and(|max| max < agreed.memory_bytes) {
            agreed.stop = agreed.stop.or(Some(StopReason::Memory));
        }
        Ok(agreed)
    }

    /// Inserts what arrived, one sender after the other, in the order in which it was sent.
    fn insert(&mut self, batches: Vec<Vec<Vec<u8>>>) -> Result<(), ExchangeError> {
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
    fn arrive(&mut self, origin: Origin) {
        if self.arrivals.is_full() {
            self.insert_oldest();
        }
        self.arrivals.look_up(self.store, &mut self.position, origin);
        self.position.forget();
    }

    /// Inserts the state that was looked up first; false if there is none.
    #[inline]
    fn insert_oldest(&mut self) -> bool {
        let Some((inserted, arrival)) = self.arrivals.commit(self.store) else { return false };
        if inserted == Inserted::Old {
            self.statistics.matched += 1;
        } else if arrival.tag.pack().is_some_and(|packed| self.ways.push(packed)) {
            self.statistics.states += 1;
            self.next_layer.states.push_words(&arrival.words);
        } else {
            self.stop = Some(StopReason::Full);
        }
        true
    }

    #[cold]
    fn look(&mut self) -> ControlFlow<()> {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.memory_bytes());
        let told = self.budget.look(&self.statistics, self.store.is_full(), self.observer);
        if let ControlFlow::Break(reason) = told {
            self.stop = Some(reason);
        }
        told.map_break(|_| ())
    }

    fn memory_bytes(&self) -> u64 {
        let layers = self.layer.states.memory_bytes() + self.next_layer.states.memory_bytes();
        let outboxes: usize = self.outboxes.iter().map(BatchWriter::len).sum();
        let local = (outboxes + self.expansion.memory_bytes()) as u64 + self.ways.memory_bytes();
        self.store.memory_bytes() + self.position.memory_bytes() + layers + local
    }

    /// Puts together what all partitions found.
    fn conclude(mut self, completeness: Completeness) -> Result<Reached, ExchangeError> {
        let mut seen = self.all_seen()?;
        let counted: u64 = seen.iter().map(|(_, count)| *count).sum();
        if completeness == Completeness::FirstViolation {
            seen.truncate(1);
            seen.iter_mut().for_each(|(_, count)| *count = 1);
        }
        let ways = self.ways_to(&seen)?;
        let mine =
            Statistics { memory_bytes: self.statistics.memory_bytes.max(self.memory_bytes()), ..self.statistics };
        // Whoever watches is told all of it; there is nothing to stop any more.
        let _ = self.observer.progress(&mine);
        let summary = [mine.states, mine.matched, mine.transient, mine.cut, mine.memory_bytes];
        let violations = if completeness == Completeness::FirstViolation { 1 } else { counted };
        let mut statistics = Statistics { violations, depth: mine.depth, ..Statistics::default() };
        let mut partitions = Vec::new();
        for summary in self.exchange.end_round(&summary)?.summaries {
            let [states, matched, transient, cut, memory_bytes] = summary[..] else {
                return Err(ExchangeError::Damaged);
            };
            statistics.states += states;
            statistics.matched += matched;
            statistics.transient += transient;
            statistics.cut += cut;
            statistics.memory_bytes += memory_bytes;
            partitions.push(PartitionStatistics { states, transitions: states + matched, memory_bytes });
        }
        Ok(Reached { completeness, statistics, ways, partitions })
    }

    /// The violations that all partitions met, one for each key with the number of those, the least first.
    fn all_seen(&mut self) -> Result<Vec<(Seen, u64)>, ExchangeError> {
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
        let mut all: Vec<(Seen, u64)> = all.into_values().collect();
        all.sort_unstable();
        Ok(all)
    }

    /// The ways to violations, put together from what each partition knows of its states: all of them go back one step in a round.
    fn ways_to(&mut self, seen: &[(Seen, u64)]) -> Result<Vec<Way>, ExchangeError> {
        const WORDS: usize = 2;
        const NOT_MINE: [u64; WORDS] = [0, 0];
        let me = self.exchange.me();
        let mut ways: Vec<Way> =
            seen.iter().map(|(seen, count)| Way { ordinals: Vec::new(), event: seen.event, count: *count }).collect();
        let mut at: Vec<Option<(usize, u64)>> =
            seen.iter().map(|(seen, _)| Some((seen.partition, seen.number))).collect();
        while at.iter().any(Option::is_some) {
            let mut known = |place: &Option<(usize, u64)>| match place {
                Some((partition, number)) if *partition == me => {
                    // A violation of the initial state has no entry.
                    [1, self.ways.get(*number).unwrap_or_default()]
                }
                _ => NOT_MINE,
            };
            let summary: Vec<u64> = at.iter().flat_map(&mut known).collect();
            let summaries = self.exchange.end_round(&summary)?.summaries;
            for (index, (place, way)) in at.iter_mut().zip(&mut ways).enumerate() {
                let Some((partition, _)) = *place else { continue };
                let answer = summaries.get(partition).and_then(|summary| summary.chunks(WORDS).nth(index));
                let Some([1, packed]) = answer else { return Err(ExchangeError::Damaged) };
                let origin = Origin::unpack(*packed);
                *place = (origin.ordinal != 0).then_some((origin.partition, origin.number));
                way.ordinals.extend(place.map(|_| origin.ordinal));
            }
        }
        ways.iter_mut().for_each(|way| way.ordinals.reverse());
        Ok(ways)
    }
}
