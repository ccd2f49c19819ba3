//! `fabius worker --listen`: a machine that takes part in searches, one at a time.
//!
//! Whoever connects proves that it has the key, and asks for a worker of a search, or for a connection between two of them. A worker is
//! a process of its own; it is started once there is a connection to each of the others, and it ends with the connection to the
//! process that checks.

use super::carrier::{hang_up, receive_all, send_all};
use super::connection::{self, Connection, HANDSHAKE_TIME, Kind, Receiver, Sender};
use super::framing::Framing;
use super::key::Key;
use super::registry::{Link, NoSeat, Registry, Seat};
use super::request::{Answer, Request, SearchId};
use crate::local::{self, Program};
use crate::sockets::SOCKETS_MAX;
use fabius_task::VERSION;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// At most so many connections are open that have not proved yet that they have the key.
const STRANGERS_MAX: usize = 32;
/// A worker that is kept ready is asked to start within this time.
const START_TIME: Duration = Duration::from_secs(30);
/// The time to connect a worker with all others.
pub(super) const LINK_TIME: Duration = Duration::from_secs(15);
/// Time between two looks at what happens.
const TICK: Duration = Duration::from_millis(20);
/// A worker that has closed its socket ends within this time, or is ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a machine takes part.
pub struct Terms {
    /// Without a key, only this machine is listened to.
    pub key: Option<Key>,
    /// Worker processes at a time.
    pub processes_max: usize,
    /// Memory for each of them.
    pub memory_bytes_max: u64,
}

/// A machine that listens.
pub struct Server {
    listener: TcpListener,
    program: Program,
    terms: Terms,
    registry: Arc<Registry>,
    strangers: AtomicUsize,
    /// Is told in a sentence what happens.
    log: Box<dyn Fn(&str) + Send + Sync>,
}

impl Server {
    /// Begins to listen at an address. Workers are started with this program.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub fn listen(
        address: &str,
        program: Program,
        terms: Terms,
        log: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot listen at {address}: {error}");
        let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(failed)?.collect();
        if terms.key.is_none() && !addresses.iter().all(|address| address.ip().is_loopback()) {
            return Err(format!(
                "cannot listen at {address} without a key: anybody could connect; make one with `fabius worker --make-key FILE`, and \
                 use `--key FILE` here and in `fabius check --hosts`"
            ));
        }
        let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
        let (registry, strangers) = (Arc::default(), AtomicUsize::new(0));
        Ok(Self { listener, program, terms, registry, strangers, log })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes part in searches until the process is ended.
    pub fn serve(self) -> ! {
        let server = Arc::new(self);
        loop {
            let Ok((stream, address)) = server.listener.accept() else {
                // Most often, there are too many open files.
                thread::sleep(TICK);
                continue;
            };
            if STRANGERS_MAX <= server.strangers.load(Ordering::Relaxed) {
                continue;
            }
            server.strangers.fetch_add(1, Ordering::Relaxed);
            let handler = Arc::clone(&server);
            let started = thread::Builder::new().spawn(move || handler.answer(stream, &address.to_string()));
            if started.is_err() {
                server.strangers.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Does what a connection asks for.
    fn answer(&self, stream: TcpStream, address: &str) {
        let greeted = connection::accept(stream, self.terms.key.as_ref().unwrap_or(&Key::PUBLIC));
        let asked = greeted.and_then(|(sender, mut receiver)| {
            let request = receiver.receive_message(HANDSHAKE_TIME);
            request.map(|request| (request, (sender, receiver))).map_err(|_| "it asked for nothing".to_owned())
        });
        self.strangers.fetch_sub(1, Ordering::Relaxed);
        match asked {
            Ok((Request::Work { version, search, me, addresses }, connection)) => {
                let asked = Asked { search, me: me as usize, addresses, by: address };
                match asked.check(&version) {
                    Ok(()) => self.keep_ready(&asked, connection),
                    Err(why) => self.refuse(address, &connection.0, why),
                }
            }
            Ok((Request::Join { search, from, to }, connection)) => self.join(address, search, (from, to), connection),
            Ok((Request::Start, (sender, _))) => self.refuse(address, &sender, "there is nothing to start".to_owned()),
            Err(why) => (self.log)(&format!("{address} was turned away: {why}")),
        }
    }

    fn refuse(&self, address: &str, sender: &Sender, why: String) {
        (self.log)(&format!("{address} was turned away: {why}"));
        let _ = sender.send_message(&Answer::Refused(why));
    }

    /// Brings a connection from another worker to the one that it is for.
    fn join(&self, address: &str, search: SearchId, (from, to): (u32, u32), connection: Connection) {
        let sender = connection.0.clone();
        if !self.registry.has(search, to as usize) {
            return self.refuse(address, &sender, "no worker of this search is here".to_owned());
        }
        // The worker reads it first, so it is sent before anything else can be.
        if sender.send_message(&Answer::Done).is_ok() {
            self.registry.bring(search, from as usize, to as usize, Link::There(connection));
        }
    }

    /// Keeps a worker ready, and starts it when it is asked to.
    fn keep_ready(&self, asked: &Asked<'_>, (sender, mut receiver): Connection) {
        let seat = match self.registry.enter(asked.search, asked.me, asked.by, self.terms.processes_max) {
            Ok(seat) => seat,
            Err(NoSeat::Busy(why)) => {
                let _ = sender.send_message(&Answer::Busy(why));
                return;
            }
            Err(NoSeat::Refused(why)) => return self.refuse(asked.by, &sender, why),
        };
        let memory_bytes_max = self.terms.memory_bytes_max;
        let ready = sender.send_message(&Answer::Ready { memory_bytes_max });
        if ready.is_err() || !matches!(receiver.receive_message(START_TIME), Ok(Request::Start)) {
            return;
        }
        match self.start(asked, &seat, &sender, &receiver) {
            Ok((child, control)) => self.relay(asked, (child, control), (sender, receiver)),
            Err(why) => self.refuse(asked.by, &sender, why),
        }
    }

    /// Starts a worker that is connected with all others.
    fn start(
        &self,
        asked: &Asked<'_>,
        seat: &Seat,
        sender: &Sender,
        receiver: &Receiver,
    ) -> Result<(Child, UnixStream), String> {
        let links = self.link(asked, seat, receiver)?;
        let failed = |error: io::Error| format!("cannot start a worker: {error}");
        let (mut sockets, mut carried) = (Vec::new(), Vec::new());
        for (other, link) in links {
            sockets.push(match link {
                Link::Here(socket) => socket,
                Link::There(connection) => {
                    let (here, there) = UnixStream::pair().map_err(failed)?;
                    carried.push((other, here, connection));
                    there
                }
            });
        }
        let memory = format!("--memory-each={}", self.terms.memory_bytes_max);
        let (mut child, control) = local::spawn(&self.program, &[&memory], &sockets).map_err(failed)?;
        drop(sockets);
        let carrying = carried.into_iter().try_for_each(|(other, here, connection)| {
            let name = format!("worker {} at {}", other + 1, asked.addresses[other]);
            carry(here, connection, Framing::new(other, asked.me), name, sender.clone())
        });
        if let Err(error) = carrying.and_then(|()| sender.send_message(&Answer::Done)) {
            local::end(&mut child);
            return Err(failed(error));
        }
        (self.log)(&format!("worker {} of {} for {} began", asked.me + 1, asked.addresses.len(), asked.by));
        Ok((child, control))
    }

    /// Connects a worker with all others, who are ready already: it dials those with smaller numbers, and the others dial it. The links,
    /// by the number of the other one.
    fn link(&self, asked: &Asked<'_>, seat: &Seat, receiver: &Receiver) -> Result<Vec<(usize, Link)>, String> {
        let deadline = Instant::now() + LINK_TIME;
        let mut links: Vec<Option<Link>> = asked.addresses.iter().map(|_| None).collect();
        for (other, address) in asked.addresses.iter().enumerate().take(asked.me) {
            links[other] = Some(if self.registry.has(asked.search, other) {
                let (here, there) = UnixStream::pair().map_err(|error| error.to_string())?;
                self.registry.bring(asked.search, asked.me, other, Link::Here(there));
                Link::Here(here)
            } else {
                let there = self.dial(asked, other, address);
                Link::There(there.map_err(|why| format!("no connection to worker {} at {address}: {why}", other + 1))?)
            });
        }
        while let Some(missing) = (0..links.len()).find(|other| *other != asked.me && links[*other].is_none()) {
            match seat.links.recv_timeout(TICK) {
                Ok((from, link)) if asked.me < from && from < links.len() => links[from] = Some(link),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("the search is over".to_owned()),
            }
            if receiver.is_closed() {
                return Err("the search was given up".to_owned());
            }
            if deadline <= Instant::now() {
                return Err(format!("worker {} at {} did not connect", missing + 1, asked.addresses[missing]));
            }
        }
        Ok(links.into_iter().enumerate().filter_map(|(other, link)| Some((other, link?))).collect())
    }

    fn dial(&self, asked: &Asked<'_>, other: usize, address: &str) -> Result<Connection, String> {
        let (sender, mut receiver) = connection::dial(address, self.terms.key.as_ref())?;
        let join = Request::Join { search: asked.search, from: asked.me as u32, to: other as u32 };
        let answer = sender.send_message(&join).and_then(|()| receiver.receive_message(HANDSHAKE_TIME));
        match answer.map_err(|error| connection::sentence(&error))? {
            Answer::Done => Ok((sender, receiver)),
            Answer::Refused(why) | Answer::Busy(why) => Err(why),
            Answer::Ready { .. } => Err("it misunderstood".to_owned()),
        }
    }

    /// Carries what a worker and the process that checks tell each other, until one of them is gone; then the worker is ended.
    fn relay(&self, asked: &Asked<'_>, (child, control): (Child, UnixStream), (sender, mut receiver): Connection) {
        let (child, is_over) = (Arc::new(Mutex::new(child)), Arc::new(AtomicBool::new(false)));
        let (ended, over, orders) = (Arc::clone(&child), Arc::clone(&is_over), control.try_clone());
        let home = sender.clone();
        let listening = orders.and_then(|orders| {
            thread::Builder::new().spawn(move || {
                let received = receive_all(&mut receiver, &orders, |_| true, |_| ());
                // However it ended: nobody waits for the worker any more.
                over.store(true, Ordering::Relaxed);
                if let Err(why) = &received {
                    home.note(&format!("lost the connection to the process that checks: {why}"));
                }
                hang_up(&orders, &received);
                local::kill(&mut ended.lock().unwrap_or_else(PoisonError::into_inner));
            })
        });
        let carried = listening.and_then(|_| send_all(&control, &sender));
        let _ = control.shutdown(Shutdown::Both);
        let status = last_words(&child, carried.is_ok());
        let how = match &status {
            Ok(status) if status.success() => "ended".to_owned(),
            Ok(_) if is_over.load(Ordering::Relaxed) => "was ended with its search".to_owned(),
            Ok(status) => local::how_ended(*status),
            Err(error) => format!("cannot be waited for: {error}"),
        };
        (self.log)(&format!("worker {} of {} for {} {how}", asked.me + 1, asked.addresses.len(), asked.by));
        if !is_over.load(Ordering::Relaxed) && status.is_ok_and(|status| !status.success()) {
            sender.note(&how);
        }
        let _ = sender.send(Kind::End, &[]);
    }
}

/// Waits until a worker has ended, which is ended if that takes long.
fn last_words(child: &Mutex<Child>, wait: bool) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + if wait { LAST_WORDS } else { Duration::ZERO };
    loop {
        let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if deadline <= Instant::now() {
            local::kill(&mut child);
            return child.wait();
        }
        drop(child);
        thread::sleep(TICK);
    }
}

/// Carries batches between a worker of this machine and one of another machine. If the connection is lost, whoever `home` leads to
/// is told.
fn carry(
    here: UnixStream,
    (sender, mut receiver): Connection,
    mut framing: Framing,
    other: String,
    home: Sender,
) -> io::Result<()> {
    let (there, writer) = (sender.clone(), here.try_clone()?);
    thread::Builder::new().spawn(move || {
        if send_all(&here, &there).and_then(|()| there.send(Kind::End, &[])).is_err() {
            there.close();
        }
    })?;
    thread::Builder::new().spawn(move || {
        let received = receive_all(&mut receiver, &writer, |bytes| framing.accepts(bytes), |_| ());
        if let Err(why) = &received {
            home.note(&format!("lost the connection to {other}: {why}"));
            sender.close();
        }
        hang_up(&writer, &received);
    })?;
    Ok(())
}

/// A worker that somebody asks for.
struct Asked<'a> {
    search: SearchId,
    me: usize,
    /// Where each of the workers is.
    addresses: Vec<String>,
    /// Who asks.
    by: &'a str,
}

impl Asked<'_> {
    /// Whether it can be had.
    ///
    /// # Errors
    /// Why not.
    fn check(&self, version: &str) -> Result<(), String> {
        if version != VERSION {
            let version: String = version.chars().filter(|char| char.is_ascii_graphic()).take(40).collect();
            return Err(format!("it has Fabius {VERSION}, and the process that checks has {version}"));
        }
        if self.addresses.len() <= self.me || SOCKETS_MAX < self.addresses.len() - 1 {
            return Err(format!("more than {} workers are not supported", SOCKETS_MAX + 1));
        }
        Ok(())
    }
}
