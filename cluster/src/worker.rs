//! A worker: a process that searches its part, for the process that started it.
//!
//! It ends when it has told what was found, when it is told to stop, and when nobody is at the other end of its standard input any
//! more.

use crate::checkpoint::{hear_ways, tell_ways};
use crate::exchange::{self, TimelyExchange};
use crate::message::{self, Done, Found, News, Order, Reason, WAITING_BYTES_MAX};
use crate::sockets::take_over;
use crate::way_log::WayLog;
use fabius_base::{Cancel, StopReason};
use fabius_engine::partitioned::{PartFound, search_part};
use fabius_search::Statistics;
use fabius_search::partition::CycleWays;
use fabius_supervise::Voice;
use fabius_task::VERSION;
use fabius_task::pool::{Part, PartCheckpoint, PartCheckpoints, PartError, PartKeeper};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic;
use std::process;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Exit code of a worker that has told all that it has to tell.
const TOLD: u8 = 0;
/// Exit code of a worker that the system gives no more memory, as of every check.
pub(crate) const NO_MEMORY: u8 = 2;

/// Time between two signs of life.
const PULSE: Duration = Duration::from_millis(200);
/// The last news wait for others for at most this many tenths of that.
const LAST_TRIES: u32 = 100;
/// Where it stands is told after at least this time, …
const KEEP_MIN: Duration = Duration::from_secs(1);
/// … at most this time, …
const KEEP_MAX: Duration = Duration::from_secs(60);
/// … and otherwise after this part of the time for which it has searched.
const KEEP_SHARE: u32 = 16;
/// So begins what Timely says when a socket fails.
const SOCKET_FAILED: &str = "timely communication error";

/// The way to the process that started this one.
#[derive(Clone)]
struct Home(Arc<Mutex<UnixStream>>);

impl Home {
    fn tell(&self, news: &News) {
        let mut socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if message::write(&mut *socket, news).is_err() {
            process::exit(TOLD.into());
        }
    }

    /// The same, at the end of a thread that may be telling something itself: it does not wait for ever.
    fn tell_at_last(&self, news: &News) {
        let mut tries = 0;
        let mut socket = loop {
            match self.0.try_lock() {
                Ok(socket) => break socket,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if tries == LAST_TRIES => return,
                Err(TryLockError::WouldBlock) => thread::sleep(PULSE / 10),
            }
            tries += 1;
        };
        let _ = message::write(&mut *socket, news);
    }
}

/// Does the work of a worker, which may use so many bytes of memory; returns the exit code of the process.
///
/// # Errors
/// If nobody started this process as a worker.
pub fn serve(memory_bytes_max: Option<u64>) -> io::Result<u8> {
    end_with_parent();
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let others = take_over(&socket)?;
    let Order::Search { version, me, part, from, keep } = message::read(&mut socket)? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let home = Home(Arc::new(Mutex::new(socket.try_clone()?)));
    if version != VERSION {
        home.tell(&News::Failed(format!("a worker has version {VERSION}, not {version}")));
        return Ok(TOLD);
    }
    let from = from.map(|from| Ok::<_, io::Error>((hear_all_ways(&mut socket, &from)?, from))).transpose()?;
    report_panics(home.clone());
    let cancel = Cancel::new();
    let (done, stop) = (Arc::<Mutex<Done>>::default(), cancel.clone());
    let (pulse, known) = (home.clone(), Arc::clone(&done));
    thread::Builder::new().spawn(move || listen(socket, &stop))?;
    thread::Builder::new().spawn(move || beat(&pulse, &known))?;
    let mut sockets: Vec<Option<UnixStream>> = others.into_iter().map(Some).collect();
    sockets.insert(me.min(sockets.len()), None);
    let last = Arc::clone(&done);
    let keeper = keep.then(|| Keeper::new(home.clone()));
    let here =
        Here { cancel: cancel.clone(), done, memory_bytes_max, checkpoints: Mutex::new(Checkpoints { from, keeper }) };
    let told = fabius_supervise::run(&cancel, &Voice::default(), 1, move |result| {
        let _ = result.send(search(sockets, me, *part, here));
    });
    let news = told.unwrap_or(Ok(News::Stopped)).unwrap_or_else(|error| News::Failed(error.to_string()));
    home.tell(&News::Alive(*last.lock().unwrap_or_else(PoisonError::into_inner)));
    home.tell(&news);
    Ok(TOLD)
}

/// The system ends this process with the one that started it, even while it is stopped.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// What a search has to do with the process that it is in.
struct Here {
    cancel: Cancel,
    /// Is told what was done.
    done: Arc<Mutex<Done>>,
    memory_bytes_max: Option<u64>,
    /// Where it goes on, and whoever keeps where it stands; for the one search of this process.
    checkpoints: Mutex<Checkpoints>,
}

struct Checkpoints {
    from: Option<(WayLog, Box<PartCheckpoint>)>,
    keeper: Option<Keeper>,
}

/// Tells the process that started this one where the search stands.
struct Keeper {
    home: Home,
    began: Instant,
    /// When it was told last.
    last: Instant,
    /// Where so many states came from was told.
    told: u64,
}

impl Keeper {
    fn new(home: Home) -> Self {
        let now = Instant::now();
        Self { home, began: now, last: now, told: 0 }
    }
}

impl PartKeeper<WayLog> for Keeper {
    fn is_due(&mut self) -> bool {
        (self.began.elapsed() / KEEP_SHARE).clamp(KEEP_MIN, KEEP_MAX) <= self.last.elapsed()
    }

    fn keep(&mut self, ways: &mut WayLog, checkpoint: PartCheckpoint) {
        let states = checkpoint.snapshot.states();
        let is_known = tell_ways(ways, self.told, states, |bytes| self.home.tell(&News::Ways(bytes)));
        let why_not = match checkpoint.snapshot.waiting_bytes() {
            _ if !is_known => Some("a worker cannot read where its states came from"),
            WAITING_BYTES_MAX.. => Some("more states wait in a worker than a checkpoint can hold"),
            _ => None,
        };
        self.home.tell(&match why_not {
            Some(why) => News::NotKept(why.to_owned()),
            None => News::Kept(Box::new(checkpoint)),
        });
        (self.told, self.last) = (states, Instant::now());
    }
}

/// Where the states of a checkpoint came from, as it is told next.
fn hear_all_ways(socket: &mut UnixStream, from: &PartCheckpoint) -> io::Result<WayLog> {
    let mut ways = WayLog::new();
    while ways.len() < from.snapshot.states() {
        match message::read(socket)? {
            Order::Ways(bytes) if hear_ways(&mut ways, &bytes) => {}
            Order::Stop(_) => process::exit(TOLD.into()),
            Order::Ways(_) | Order::Search { .. } => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(ways)
}

/// Searches, and says what was found.
fn search(sockets: Vec<Option<UnixStream>>, me: usize, part: Part, here: Here) -> io::Result<News> {
    let search = move |exchange: &mut TimelyExchange<'_>| {
        let meter = exchange.meter();
        let mut tell = |statistics: &Statistics| {
            *here.done.lock().unwrap_or_else(PoisonError::into_inner) = Done::of(statistics, &meter);
            match here.memory_bytes_max {
                Some(max) if max < statistics.memory_bytes => ControlFlow::Break(StopReason::Memory),
                _ => ControlFlow::Continue(()),
            }
        };
        let ways = CycleWays { stem: &mut WayLog::new(), cycle: &mut WayLog::new() };
        let Checkpoints { from, keeper } = &mut *here.checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let from = from.as_mut().map(|(ways, from)| (&**from, ways));
        let keep = keeper.as_mut().map(|keeper| keeper as &mut dyn PartKeeper<WayLog>);
        search_part(&part, exchange, ways, PartCheckpoints { from, keep }, &here.cancel, &mut tell)
    };
    Ok(match exchange::run(sockets, me, search)? {
        Ok(PartFound { reached, edges, cut }) => News::Found(Box::new(Found { reached, edges, cut })),
        Err(PartError::Lost) => News::Alone,
        Err(PartError::Stopped(_)) => News::Stopped,
        Err(PartError::Unusable) => News::Unusable,
        Err(error) => News::Failed(error.sentence().to_owned()),
    })
}

/// Does what it is told, until nobody is there any more.
fn listen(mut socket: UnixStream, cancel: &Cancel) {
    while let Ok(order) = message::read(&mut socket) {
        match order {
            Order::Stop(Reason::Asked) => cancel.cancel(),
            Order::Stop(Reason::TimeUp) => cancel.time_out(),
            Order::Stop(Reason::NoMemory) => cancel.exhaust(),
            Order::Search { .. } | Order::Ways(_) => break,
        }
    }
    process::exit(TOLD.into());
}

/// Gives signs of life.
fn beat(home: &Home, done: &Mutex<Done>) {
    loop {
        let now = *done.lock().unwrap_or_else(PoisonError::into_inner);
        home.tell(&News::Alive(now));
        thread::sleep(PULSE);
    }
}

/// A panic ends the worker, and is told: most often, another worker is gone.
fn report_panics(home: Home) {
    panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        let news = if text.starts_with(SOCKET_FAILED) { News::Alone } else { News::Failed(panic.to_string()) };
        home.tell_at_last(&news);
        process::exit(TOLD.into());
    }));
}
