//! Batches and rounds on Timely Dataflow.
//!
//! The dataflow has no loop: an input, and a sink that the batches are routed to. A batch is one record, and a round is one timestamp:
//! as soon as the frontier of the sink has passed it, everything that anybody sent in the round has arrived everywhere. That is
//! barrier, back-pressure and the end of the search in one.

use fabius_search::partition::{Exchange, ExchangeError, Round};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks};
use timely::dataflow::InputHandleVec;
use timely::dataflow::channels::pact;
use timely::dataflow::operators::{Input, Operator};
use timely::worker::Worker;
use timely::{WorkerConfig, execute};

/// After this time the dataflow is looked at again even if nothing has arrived.
const PATIENCE: Duration = Duration::from_millis(100);

/// What is sent.
#[derive(Clone, Serialize, Deserialize)]
struct Parcel {
    from: u64,
    to: u64,
    round: u64,
    /// Its place among those that the sender sent to anybody.
    number: u64,
    content: Content,
}

#[derive(Clone, Serialize, Deserialize)]
enum Content {
    Batch(#[serde(with = "bytes")] Vec<u8>),
    Summary(Vec<u64>),
}

/// Bytes as they are, not one by one.
mod bytes {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// Runs a search with an exchange over these sockets, one to each other partition, on a thread of its own; waits until everybody has
/// ended, and gives the result.
///
/// When another partition is gone, a thread of Timely panics.
///
/// # Errors
/// If the exchange cannot be set up.
pub fn run<T: Send + 'static>(
    sockets: Vec<Option<UnixStream>>,
    me: usize,
    search: impl Fn(&mut TimelyExchange<'_>) -> T + Send + Sync + 'static,
) -> io::Result<T> {
    let hooks = Hooks::default();
    let alone = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
    let (builders, guard) = initialize_networking_from_sockets(alone, sockets, me, 1, hooks)?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    let guard: Box<dyn Any + Send> = Box::new(guard);
    let work = move |worker: &mut Worker| search(&mut TimelyExchange::new(worker));
    let guards = execute::execute_from(builders, guard, WorkerConfig::default(), work).map_err(io::Error::other)?;
    guards.join().into_iter().next().ok_or_else(|| io::Error::other("no worker"))?.map_err(io::Error::other)
}

/// How much a partition sent and waited, for whoever watches.
#[derive(Default, Debug)]
pub struct Meter {
    sent_bytes: AtomicU64,
    waited_micros: AtomicU64,
}

impl Meter {
    /// Bytes of the batches sent to other partitions.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }

    /// Time for which it waited for other partitions.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.waited_micros.load(Ordering::Relaxed))
    }
}

/// Partitions that speak to each other through a dataflow.
pub struct TimelyExchange<'w> {
    meter: Arc<Meter>,
    worker: &'w mut Worker,
    input: InputHandleVec<u64, Parcel>,
    round: u64,
    /// Parcels that were sent.
    sent: u64,
    /// By round: what arrived.
    arrived: Rc<RefCell<BTreeMap<u64, Vec<Parcel>>>>,
    /// Everything has arrived that was sent in earlier rounds than this one.
    frontier: Rc<Cell<u64>>,
}

impl<'w> TimelyExchange<'w> {
    fn new(worker: &'w mut Worker) -> Self {
        let arrived: Rc<RefCell<BTreeMap<u64, Vec<Parcel>>>> = Rc::default();
        let frontier = Rc::new(Cell::new(0));
        let (arriving, passed) = (Rc::clone(&arrived), Rc::clone(&frontier));
        let input = worker.dataflow(|scope| {
            let (input, stream) = scope.new_input::<Vec<Parcel>>();
            stream.sink(pact::Exchange::new(|parcel: &Parcel| parcel.to), "arrivals", move |(input, frontier)| {
                input.for_each(|_, parcels| {
                    for parcel in parcels.drain(..) {
                        arriving.borrow_mut().entry(parcel.round).or_default().push(parcel);
                    }
                });
                passed.set(frontier.frontier().first().copied().unwrap_or(u64::MAX));
            });
            input
        });
        Self { meter: Arc::default(), worker, input, round: 0, sent: 0, arrived, frontier }
    }

    /// How much it sent and waited.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Sends a parcel, and lets the dataflow do its part.
    fn send(&mut self, to: usize, content: Content) {
        let from = self.worker.index() as u64;
        self.input.send(Parcel { from, to: to as u64, round: self.round, number: self.sent, content });
        self.sent += 1;
        self.input.flush();
    }
}

impl Exchange for TimelyExchange<'_> {
    fn me(&self) -> usize {
        self.worker.index()
    }

    fn partitions(&self) -> usize {
        self.worker.peers()
    }

    fn send(&mut self, to: usize, batch: Vec<u8>) -> Result<(), ExchangeError> {
        self.meter.sent_bytes.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.send(to, Content::Batch(batch));
        self.worker.step();
        Ok(())
    }

    fn end_round(&mut self, summary: &[u64]) -> Result<Round, ExchangeError> {
        let (me, partitions) = (self.me(), self.partitions());
        for to in (0..partitions).filter(|to| *to != me) {
            self.send(to, Content::Summary(summary.to_vec()));
        }
        let round = self.round;
        self.round += 1;
        self.input.advance_to(self.round);
        let began = Instant::now();
        while self.frontier.get() <= round {
            self.worker.step_or_park(Some(PATIENCE));
        }
        self.meter.waited_micros.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
        let mut parcels = self.arrived.borrow_mut().remove(&round).unwrap_or_default();
        parcels.sort_unstable_by_key(|parcel| (parcel.from, parcel.number));
        let mut batches = vec![Vec::new(); partitions];
        let mut summaries: Vec<Option<Vec<u64>>> = vec![None; partitions];
        summaries[me] = Some(summary.to_vec());
        for parcel in parcels {
            let from = usize::try_from(parcel.from).ok().filter(|from| *from < partitions);
            let from = from.ok_or(ExchangeError::Damaged)?;
            match parcel.content {
                Content::Batch(batch) => batches[from].push(batch),
                Content::Summary(summary) => summaries[from] = Some(summary),
            }
        }
        // Whoever has ended the search sends no summary.
        let summaries: Option<Vec<Vec<u64>>> = summaries.into_iter().collect();
        Ok(Round { batches, summaries: summaries.ok_or(ExchangeError::Lost)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::mesh;
    use std::thread;

    /// What each partition gets in some rounds in which it sends to everybody, by sender.
    fn talk(exchange: &mut TimelyExchange<'_>) -> Vec<Round> {
        let (me, partitions) = (exchange.me(), exchange.partitions());
        let round = |round: usize| {
            for to in (0..partitions).filter(|to| *to != me) {
                for number in 0..round {
                    let bytes = vec![(me * 16 + to) as u8; 1 + (number * 7_000) % 40_000];
                    Exchange::send(exchange, to, bytes).expect("sent");
                }
            }
            exchange.end_round(&[me as u64, round as u64]).expect("all go on")
        };
        (0..6).map(round).collect()
    }

    #[test]
    fn what_is_sent_in_a_round_arrives_in_it_in_order() {
        for partitions in [1, 2, 3] {
            let mesh = mesh(partitions).expect("sockets");
            let start = |(me, sockets)| thread::spawn(move || run(sockets, me, talk).expect("an exchange"));
            let threads: Vec<_> = mesh.into_iter().enumerate().map(start).collect();
            for (me, thread) in threads.into_iter().enumerate() {
                let rounds = thread.join().expect("no panic");
                for (number, round) in rounds.iter().enumerate() {
                    for from in 0..partitions {
                        assert_eq!(round.summaries[from], [from as u64, number as u64]);
                        let expected =
                            (0..number).map(|number| vec![(from * 16 + me) as u8; 1 + (number * 7_000) % 40_000]);
                        let expected: Vec<Vec<u8>> = if from == me { Vec::new() } else { expected.collect() };
                        assert_eq!(round.batches[from], expected);
                    }
                }
            }
        }
    }
}
