//! Workers that other machines start, as the process that checks sees them.

use super::carrier::{hang_up, receive_all, send_all};
use super::connection::{self, Connection, Kind, Sender};
use super::hosts::Host;
use super::key::{Key, random};
use super::request::{Answer, Request, SearchId};
use super::server::LINK_TIME;
use crate::pool::{Process, Started, WORKERS_MAX, run};
use fabius_task::VERSION;
use fabius_task::pool::{Observe, Part, PoolCheckpoints, PoolOutcome, WorkerPool};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time for an answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// The time until a machine that is busy is free, as it is when it still ends the workers of the search before.
const BUSY_MAX: Duration = Duration::from_secs(10);
/// A machine that is busy is asked again after this time.
const RETRY: Duration = Duration::from_millis(200);

/// Workers on other machines.
pub struct HostPool {
    hosts: Vec<Host>,
    key: Option<Key>,
}

impl HostPool {
    /// On these machines, which have the same key.
    pub fn new(hosts: Vec<Host>, key: Option<Key>) -> Self {
        Self { hosts, key }
    }

    /// Number of workers on all machines.
    pub fn processes(&self) -> usize {
        self.hosts.iter().map(|host| host.processes).sum()
    }

    /// Asks all machines for their workers; each is started once all are ready.
    fn start(&self) -> Result<Vec<Started>, String> {
        let places: Vec<&Host> = self.hosts.iter().flat_map(|host| vec![host; host.processes]).collect();
        let addresses: Vec<String> = places.iter().map(|host| host.address.clone()).collect();
        let search: SearchId = random().map_err(|error| error.to_string())?;
        let ready = all((0..places.len()).collect(), |me| {
            self.ask(search, me, &addresses).map_err(|why| format!("{}: {why}", addresses[me]))
        })?;
        let started = all(ready.into_iter().enumerate().collect(), |(me, (connection, memory_bytes_max))| {
            begin(connection)
                .map(|connection| (connection, memory_bytes_max))
                .map_err(|why| format!("{}: {why}", addresses[me]))
        })?;
        let worker = |((connection, memory_bytes_max), host): ((Connection, u64), &&Host)| {
            let (control, notes) = attach(connection.0.clone(), connection)?;
            Ok(Started { process: Box::new(notes.of(host)), control, memory_bytes_max: Some(memory_bytes_max) })
        };
        let workers: io::Result<Vec<Started>> = started.into_iter().zip(&places).map(worker).collect();
        workers.map_err(|error| error.to_string())
    }

    /// Asks a machine to keep a worker ready; how much memory it may use.
    fn ask(&self, search: SearchId, me: usize, addresses: &[String]) -> Result<(Connection, u64), String> {
        let deadline = Instant::now() + BUSY_MAX;
        loop {
            let (sender, mut receiver) = connection::dial(&addresses[me], self.key.as_ref())?;
            let (version, addresses) = (VERSION.to_owned(), addresses.to_vec());
            let request = Request::Work { version, search, me: me as u32, addresses };
            let answer = sender.send_message(&request).and_then(|()| receiver.receive_message(ANSWER_TIME));
            match answer.map_err(|error| connection::sentence(&error))? {
                Answer::Ready { memory_bytes_max } => return Ok(((sender, receiver), memory_bytes_max)),
                Answer::Busy(_) if Instant::now() < deadline => thread::sleep(RETRY),
                Answer::Busy(why) | Answer::Refused(why) => return Err(why),
                Answer::Done => return Err("it misunderstood".to_owned()),
            }
        }
    }
}

impl WorkerPool for HostPool {
    fn search(
        &self,
        part: &Part,
        processes: usize,
        checkpoints: PoolCheckpoints<'_>,
        observe: &mut Observe<'_>,
    ) -> PoolOutcome {
        if WORKERS_MAX < processes {
            return PoolOutcome::NotStarted(format!("more than {WORKERS_MAX} are not supported"));
        }
        match self.start() {
            Ok(started) => run(started, part, checkpoints, observe),
            Err(why) => PoolOutcome::NotStarted(why),
        }
    }
}

/// Does the same for all at once; the results, or the first error.
fn all<A: Send, T: Send>(items: Vec<A>, work: impl Fn(A) -> Result<T, String> + Sync) -> Result<Vec<T>, String> {
    thread::scope(|scope| {
        let work = &work;
        let begin = |item| thread::Builder::new().spawn_scoped(scope, move || work(item));
        let threads: Vec<_> = items.into_iter().map(begin).collect();
        let results = threads.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err("a thread failed".to_owned())),
            Err(error) => Err(format!("a thread cannot be started: {error}")),
        });
        results.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Lets a machine start the worker that it keeps ready.
fn begin((sender, mut receiver): Connection) -> Result<Connection, String> {
    let answer = sender.send_message(&Request::Start).and_then(|()| receiver.receive_message(LINK_TIME + ANSWER_TIME));
    match answer.map_err(|error| connection::sentence(&error))? {
        Answer::Done => Ok((sender, receiver)),
        Answer::Refused(why) | Answer::Busy(why) => Err(why),
        Answer::Ready { .. } => Err("it misunderstood".to_owned()),
    }
}

/// What a machine says about its worker.
#[derive(Clone)]
struct Notes {
    sender: Sender,
    /// Sentences about what happened, in order.
    notes: Arc<Mutex<Vec<String>>>,
}

/// Carries what is told to a worker and what it tells; the socket that leads to it.
fn attach(sender: Sender, (there, mut receiver): Connection) -> io::Result<(UnixStream, Notes)> {
    let (control, local) = UnixStream::pair()?;
    let writer = local.try_clone()?;
    let notes = Notes { sender: sender.clone(), notes: Arc::default() };
    let known = notes.clone();
    thread::Builder::new().spawn(move || {
        if send_all(&local, &there).and_then(|()| there.send(Kind::End, &[])).is_err() {
            there.close();
        }
    })?;
    thread::Builder::new().spawn(move || {
        let note = |sentence| known.add(sentence);
        let ended = receive_all(&mut receiver, &writer, |_| true, note);
        if let Err(why) = &ended {
            sender.close();
            known.add(format!("is gone: the connection was lost: {why}"));
        }
        // Whoever sees the end of the socket finds the reason.
        hang_up(&writer, &ended);
    })?;
    Ok((control, notes))
}

impl Notes {
    fn add(&self, sentence: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
    }

    fn of(self, host: &Host) -> Remote {
        Remote { address: host.address.clone(), notes: self }
    }
}

/// A worker on another machine; it does not outlive this, unless that machine cannot be told.
struct Remote {
    address: String,
    notes: Notes,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process for Remote {
    fn name(&self) -> String {
        format!("on {}", self.address)
    }

    fn host(&self) -> Option<String> {
        Some(self.address.clone())
    }

    fn kill(&mut self) {
        // The other machine ends the worker when the connection ends.
        self.notes.sender.close();
    }

    fn wait(&mut self) {}

    fn how_gone(&mut self) -> String {
        let notes = self.notes.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.last().cloned().unwrap_or_else(|| "ended and told nothing".to_owned())
    }

    fn how_alone(&self) -> Option<String> {
        self.notes.notes.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }
}
