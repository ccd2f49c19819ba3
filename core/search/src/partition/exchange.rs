//! How partitions speak to each other, and the simplest way to do so: channels between the threads of a process.

use std::sync::mpsc::{self, Receiver, Sender};

/// Why a round cannot be ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExchangeError {
    /// Another partition is gone.
    Lost,
    /// What arrived cannot have been sent by a partition of this search.
    Damaged,
    /// A snapshot from which a partition was to go on is none of this search.
    Unusable,
}

/// What a partition gets in a round.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Round {
    /// By sender: the batches, in the order in which they were sent.
    pub batches: Vec<Vec<Vec<u8>>>,
    /// By sender: its summary; one's own is among them.
    pub summaries: Vec<Vec<u64>>,
}

/// Carries batches between partitions, in rounds.
///
/// A round is over for a partition when all of them have ended it and everything that they sent in it has arrived. So nobody is more
/// than one round ahead of anybody else.
pub trait Exchange {
    /// The number of this partition, from 0.
    fn me(&self) -> usize;

    /// How many partitions there are.
    fn partitions(&self) -> usize;

    /// Sends a batch to another partition; it arrives in this round.
    ///
    /// # Errors
    /// If another partition is gone.
    fn send(&mut self, to: usize, batch: Vec<u8>) -> Result<(), ExchangeError>;

    /// Ends the round: tells the others this summary, and waits until everything has arrived.
    ///
    /// # Errors
    /// If another partition is gone.
    fn end_round(&mut self, summary: &[u64]) -> Result<Round, ExchangeError>;
}

/// What one partition tells another one.
enum Message {
    Batch(Vec<u8>),
    End(Vec<u64>),
}

/// Partitions that are threads of one process.
pub struct Local {
    me: usize,
    /// To each of the others.
    senders: Vec<Option<Sender<Message>>>,
    /// From each of the others.
    receivers: Vec<Option<Receiver<Message>>>,
}

impl Local {
    /// The exchanges of this many partitions.
    pub fn connect(partitions: usize) -> Vec<Self> {
        let unconnected = |me| Self {
            me,
            senders: (0..partitions).map(|_| None).collect(),
            receivers: (0..partitions).map(|_| None).collect(),
        };
        let mut all: Vec<Self> = (0..partitions).map(unconnected).collect();
        for from in 0..partitions {
            for to in (0..partitions).filter(|to| *to != from) {
                let (sender, receiver) = mpsc::channel();
                all[from].senders[to] = Some(sender);
                all[to].receivers[from] = Some(receiver);
            }
        }
        all
    }
}

impl Exchange for Local {
    fn me(&self) -> usize {
        self.me
    }

    fn partitions(&self) -> usize {
        self.senders.len()
    }

    fn send(&mut self, to: usize, batch: Vec<u8>) -> Result<(), ExchangeError> {
        let sender = self.senders.get(to).and_then(Option::as_ref);
        sender.and_then(|sender| sender.send(Message::Batch(batch)).ok()).ok_or(ExchangeError::Lost)
    }

    fn end_round(&mut self, summary: &[u64]) -> Result<Round, ExchangeError> {
        for sender in self.senders.iter().flatten() {
            sender.send(Message::End(summary.to_vec())).map_err(|_| ExchangeError::Lost)?;
        }
        let mut round = Round::default();
        for receiver in &self.receivers {
            let mut batches = Vec::new();
            let theirs = loop {
                let Some(receiver) = receiver else { break summary.to_vec() };
                match receiver.recv().map_err(|_| ExchangeError::Lost)? {
                    Message::Batch(batch) => batches.push(batch),
                    Message::End(summary) => break summary,
                }
            };
            round.batches.push(batches);
            round.summaries.push(theirs);
        }
        Ok(round)
    }
}
