//! Sends waves through the graph: in a round, each partition hands on what some of its states tell, takes in at once what concerns
//! its own states, and sends the rest to their owners.

use super::super::batch::{BatchReader, Notes};
use super::super::exchange::{Exchange, ExchangeError};
use super::super::search::{BATCH_BYTES, Batches, Partition, ROUND_STATES};
use super::super::way::Ways;
use super::edges::{Listed, next_edge};
use super::transient::transient_cycle;
use super::waves::{Arrival, Enter, NULL, Parts, Raise, Trim, Wave};
use crate::cycle::Goal;
use crate::model::Model;
use crate::observer::Observer;
use crate::store::{Class, Inserted, Store, TreeStore};
use fabius_base::StopReason;

/// An edge that a wave looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Closing {
    /// Where it starts: the partition, and the number by which the wave tells a state.
    pub from: (usize, u64),
    /// Which of the edges of that state it is, from 1; 0 for a cycle of transient states behind it.
    pub ordinal: u32,
    /// The state where it ends.
    pub to: (usize, u64),
}

/// How a wave ended.
pub(super) enum End {
    /// Nothing is left to be handed on.
    Done,
    /// An edge was met that the wave looked for.
    Closing(Closing),
    /// The partitions agreed to stop.
    Stopped(StopReason),
}

/// The states that were expanded as a graph, and what is known of them.
pub(super) struct Spread<'s, 'p, M: Model, W, X, O> {
    pub partition: &'s mut Partition<'p, M, TreeStore<u32>, W, X, O>,
    goal: Goal,
    pub parts: Parts,
    closing: Option<Closing>,
    state: Vec<u32>,
}

impl<'s, 'p, M: Model, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>> Spread<'s, 'p, M, W, X, O> {
    pub fn new(partition: &'s mut Partition<'p, M, TreeStore<u32>, W, X, O>, goal: Goal) -> Self {
        let (me, partitions) = (partition.exchange.me(), partition.exchange.partitions());
        let parts = Parts::new(me, partitions, partition.expanded as usize);
        Self { partition, goal, parts, closing: None, state: Vec::new() }
    }

    /// Looks for a cycle among the states that were expanded, pass by pass.
    pub fn look_for_cycle(&mut self) -> Result<End, ExchangeError> {
        loop {
            let mut enter = Enter::new(&mut self.parts);
            let end = self.send(&mut enter)?;
            if !matches!(end, End::Done) {
                return Ok(end);
            }
            if self.count_all(enter.accepting)? == 0 {
                return Ok(End::Done);
            }
            let mut trim = Trim::new(&self.parts);
            let end = self.send(&mut trim)?;
            if !matches!(end, End::Done) {
                return Ok(end);
            }
            let mut raise = Raise::new(&self.parts);
            let end = self.send(&mut raise)?;
            if !matches!(end, End::Done) {
                return Ok(end);
            }
            let left = self.parts.split();
            if self.count_all(left)? == 0 {
                return Ok(End::Done);
            }
        }
    }

    /// The sum of what all partitions count.
    fn count_all(&mut self, count: u64) -> Result<u64, ExchangeError> {
        let (agreed, _) = self.partition.end_round(count, &[])?;
        Ok(agreed.waiting)
    }

    /// Sends a wave through the graph, until it has ended everywhere.
    pub fn send<V: Wave>(&mut self, wave: &mut V) -> Result<End, ExchangeError> {
        loop {
            let mut sent = 0;
            for _ in 0..ROUND_STATES {
                let is_over = self.partition.stop.is_some() || self.closing.is_some();
                let next = if is_over { None } else { wave.next(&mut self.parts) };
                let Some(next) = next else { break };
                sent += self.hand_on(wave, next)?;
            }
            let greatest = wave.greatest(&self.parts);
            let mut notices = vec![greatest];
            notices.extend(
                self.closing.iter().flat_map(|closing| {
                    [closing.from.0 as u64, closing.from.1, u64::from(closing.ordinal), closing.to.1]
                }),
            );
            self.partition.beside_bytes = self.parts.memory_bytes() + wave.memory_bytes();
            let (agreed, batches) = self.partition.end_round(wave.due() + sent, &notices)?;
            if let Some(closing) = closing_among(&agreed.notices)? {
                return Ok(End::Closing(closing));
            }
            // What was stored before the limit was reached is looked at to the end.
            if let Some(reason) = agreed.stop.filter(|reason| *reason != StopReason::States) {
                return Ok(End::Stopped(reason));
            }
            if agreed.waiting == 0 {
                return Ok(End::Done);
            }
            self.take_in(wave, batches)?;
            let greatest = agreed.notices.iter().filter_map(|notices| notices.first()).max();
            wave.begin_round(&self.parts, greatest.copied().unwrap_or(NULL));
        }
    }

    /// Hands on what a state tells along its edges; how many of them lead to other partitions.
    fn hand_on<V: Wave>(
        &mut self,
        wave: &mut V,
        (state, number, notes): (u32, u64, Notes),
    ) -> Result<u64, ExchangeError> {
        let mut words = std::mem::take(&mut self.state);
        if let Some(all) = &self.partition.all_states {
            all.recall(self.partition.store, state as usize, &mut words);
        }
        self.partition.expansion.begin(self.partition.model, &words);
        self.state = words;
        let me = self.partition.exchange.me();
        let (mut ordinal, mut sent) = (0, 0);
        while let Some(listed) = next_edge(&mut self.partition.expansion, self.partition.model, self.goal) {
            if self.partition.budget.step_is_due() && self.partition.look().is_break() {
                return Ok(sent);
            }
            let Listed::Edge { accepts, .. } = listed else { continue };
            ordinal += 1;
            let successor = &self.partition.expansion.successor;
            let owner = self.partition.owners.owner(successor);
            if owner == me {
                let to = number_of(self.partition, Words::Successor)?;
                self.arrive(wave, to, notes, accepts, (me, number, ordinal))?;
                continue;
            }
            sent += 1;
            let outbox = &mut self.partition.outboxes[owner];
            outbox.push(number, notes, ordinal << 1 | u32::from(accepts), successor);
            if BATCH_BYTES <= outbox.len() {
                let batch = outbox.take();
                self.partition.exchange.send(owner, batch)?;
            }
        }
        if V::MEETS_ALL && transient_cycle(&self.partition.expansion, self.goal).is_some() {
            self.closing.get_or_insert(Closing { from: (me, number), ordinal: 0, to: (me, number) });
        }
        Ok(sent)
    }

    /// Takes in what other partitions sent, one sender after the other, in the order in which it was sent.
    fn take_in<V: Wave>(&mut self, wave: &mut V, batches: Batches) -> Result<(), ExchangeError> {
        for (from, batches) in batches.into_iter().enumerate() {
            let mut reader = BatchReader::new(batches)?;
            while let Some(number) = reader.parent {
                let to = number_of(self.partition, Words::Received(&reader.words))?;
                let (ordinal, accepts) = (reader.ordinal >> 1, reader.ordinal & 1 == 1);
                self.arrive(wave, to, reader.notes, accepts, (from, number, ordinal))?;
                reader.advance()?;
            }
        }
        Ok(())
    }

    fn arrive<V: Wave>(
        &mut self,
        wave: &mut V,
        to: u32,
        notes: Notes,
        accepts: bool,
        from: (usize, u64, u32),
    ) -> Result<(), ExchangeError> {
        // States that were not expanded have no part.
        if self.parts.part.len() <= to as usize {
            return Ok(());
        }
        if wave.arrive(&mut self.parts, &Arrival { notes, accepts, to, from })? {
            let me = self.partition.exchange.me();
            self.closing.get_or_insert(Closing { from: (from.0, from.1), ordinal: from.2, to: (me, u64::from(to)) });
        }
        Ok(())
    }

    /// Forgets the edge that the last wave looked for.
    pub fn go_on(&mut self) {
        self.closing = None;
    }
}

/// The words of a state whose number is asked for.
enum Words<'w> {
    /// Those of the successor found last.
    Successor,
    Received(&'w [u32]),
}

/// The number of a state of this partition. All successors of states that were expanded are stored.
fn number_of<M: Model, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>>(
    partition: &mut Partition<'_, M, TreeStore<u32>, W, X, O>,
    words: Words<'_>,
) -> Result<u32, ExchangeError> {
    let words = match words {
        Words::Successor => &partition.expansion.successor,
        Words::Received(words) => words,
    };
    partition.position.advance(words);
    let probe = partition.store.prepare(&mut partition.position, Class::Ordinary);
    partition.position.forget();
    match partition.store.commit_entry(probe) {
        (Inserted::Old, number) => number.checked_sub(1).ok_or(ExchangeError::Damaged),
        (Inserted::New, _) => Err(ExchangeError::Damaged),
    }
}

/// The edge that the first partition met that met one.
fn closing_among(notices: &[Vec<u64>]) -> Result<Option<Closing>, ExchangeError> {
    for (to, told) in notices.iter().enumerate() {
        let (_, closing) = told.split_first().ok_or(ExchangeError::Damaged)?;
        if closing.is_empty() {
            continue;
        }
        let &[partition, number, ordinal, state] = closing else { return Err(ExchangeError::Damaged) };
        let partition = usize::try_from(partition).ok().filter(|partition| *partition < notices.len());
        let partition = partition.ok_or(ExchangeError::Damaged)?;
        let ordinal = u32::try_from(ordinal).map_err(|_| ExchangeError::Damaged)?;
        return Ok(Some(Closing { from: (partition, number), ordinal, to: (to, state) }));
    }
    Ok(None)
}
