//! What a worker and the process that started it tell each other: its length in four bytes, and then `postcard`.

use crate::exchange::Meter;
use fabius_search::Statistics;
use fabius_search::partition::Reached;
use fabius_task::pool::{Part, PartCheckpoint, WorkerProgress};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::time::Duration;

/// A message is not longer than this: a model with everything that it includes, or many paths.
const BYTES_MAX: u32 = 1 << 30;
/// What a checkpoint says of states that wait is not longer than this: there must be room for more in its message.
pub(crate) const WAITING_BYTES_MAX: u64 = 1 << 29;

/// What a worker is told.
#[derive(Serialize, Deserialize)]
pub(crate) enum Order {
    /// Search this part.
    Search {
        /// The version of the program that started the worker.
        version: String,
        /// The number of the worker, from 0.
        me: usize,
        /// What to search.
        part: Box<Part>,
        /// Where it stood, if it is to go on from there: it is told next where its states came from.
        from: Option<Box<PartCheckpoint>>,
        /// Whether it is to tell where it stands, now and then.
        keep: bool,
    },
    /// Where some states came from, eight bytes each, after those that were told before.
    Ways(Vec<u8>),
    /// Tell what was found, and end.
    Stop(Reason),
}

/// Why a search is to stop.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Reason {
    Asked,
    TimeUp,
    NoMemory,
}

/// What a worker tells.
#[derive(Serialize, Deserialize)]
pub(crate) enum News {
    /// It is alive, and has done this.
    Alive(Done),
    /// Where some states came from, eight bytes each, after those that it told before.
    Ways(Vec<u8>),
    /// Where it stood at the end of a layer; where its states came from was told before.
    Kept(Box<PartCheckpoint>),
    /// It cannot tell where it stands any more: why.
    NotKept(String),
    /// It cannot go on from where it was told that it stood.
    Unusable,
    /// It has searched its part.
    Found(Box<Found>),
    /// Another worker is gone, and so it cannot go on.
    Alone,
    /// It was asked to stop before it had read the model.
    Stopped,
    /// Something is wrong with the program itself.
    Failed(String),
}

/// What a worker found.
#[derive(Serialize, Deserialize)]
pub(crate) struct Found {
    /// What all of them found together.
    pub reached: Reached,
    /// Of each edge of the program, whether it took it.
    pub edges: Vec<u8>,
    /// An edge whose step failed, so that a run was not followed.
    pub cut: Option<u32>,
}

/// What a worker has done.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Done {
    pub states: u64,
    pub matched: u64,
    pub transient: u64,
    pub depth: u64,
    pub violations: u64,
    pub memory_bytes: u64,
    pub sent_bytes: u64,
    pub waited: Duration,
}

impl Done {
    /// What the statistics of a search and the meter of its exchange say.
    pub(crate) fn of(statistics: &Statistics, meter: &Meter) -> Self {
        let Statistics { states, matched, transient, depth, violations, memory_bytes, .. } = *statistics;
        let (sent_bytes, waited) = (meter.sent_bytes(), meter.waited());
        Self { states, matched, transient, depth, violations, memory_bytes, sent_bytes, waited }
    }

    /// The same, of a worker on a machine, as a check sees it.
    pub(crate) fn progress(self, host: Option<String>) -> WorkerProgress {
        let Self { states, matched, transient, depth, violations, memory_bytes, sent_bytes, waited } = self;
        let statistics =
            Statistics { states, matched, transient, depth, violations, memory_bytes, ..Statistics::default() };
        WorkerProgress { host, statistics, sent_bytes, waited }
    }
}

/// Writes a message.
pub(crate) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads a message.
pub(crate) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if BYTES_MAX < length {
        return Err(io::Error::other("a message is too long"));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_off_is_not() {
        let mut bytes = Vec::new();
        let done = Done { states: 1 << 40, depth: 3, ..Done::default() };
        write(&mut bytes, &News::Alive(done)).expect("room");
        let read_back: News = read(&mut bytes.as_slice()).expect("a message");
        assert!(matches!(read_back, News::Alive(told) if told == done));
        for end in 0..bytes.len() {
            assert!(read::<News>(&mut &bytes[..end]).is_err(), "{end}");
        }
    }
}
