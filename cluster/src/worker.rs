//! A worker: a process that searches its part, for the process that started it.
//!
//! It ends when it has told what was found, when it is told to stop, and when nobody is at the other end of its standard input any
//! more.

use crate::exchange::{self, TimelyExchange};
use crate::message::{self, Done, Found, News, Order, Reason};
use crate::sockets::take_over;
use crate::way_log::WayLog;
use fabius_base::{Cancel, StopReason};
use fabius_engine::partitioned::{PartFound, search_part};
use fabius_search::Statistics;
use fabius_search::partition::CycleWays;
use fabius_supervise::Voice;
use fabius_task::VERSION;
use fabius_task::pool::{Part, PartError};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic;
use std::process;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

/// Exit code of a worker that has told all that it has to tell.
const TOLD: u8 = 0;
/// Exit code of a worker that the system gives no more memory, as of every check.
pub(crate) const NO_MEMORY: u8 = 2;

/// Time between two signs of life.
const PULSE: Duration = Duration::from_millis(200);
/// The last news wait for others for at most this many tenths of that.
const LAST_TRIES: u32 = 100;
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
    let Order::Search { version, me, part } = message::read(&mut socket)? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let home = Home(Arc::new(Mutex::new(socket.try_clone()?)));
    if version != VERSION {
        home.tell(&News::Failed(format!("a worker has version {VERSION}, not {version}")));
        return Ok(TOLD);
    }
    report_panics(home.clone());
    let cancel = Cancel::new();
    let (done, stop) = (Arc::<Mutex<Done>>::default(), cancel.clone());
    let (pulse, known) = (home.clone(), Arc::clone(&done));
    thread::Builder::new().spawn(move || listen(socket, &stop))?;
    thread::Builder::new().spawn(move || beat(&pulse, &known))?;
    let mut sockets: Vec<Option<UnixStream>> = others.into_iter().map(Some).collect();
    sockets.insert(me.min(sockets.len()), None);
    let last = Arc::clone(&done);
    let here = Here { cancel: cancel.clone(), done, memory_bytes_max };
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
        search_part(&part, exchange, ways, &here.cancel, &mut tell)
    };
    Ok(match exchange::run(sockets, me, search)? {
        Ok(PartFound { reached, edges, cut }) => News::Found(Box::new(Found { reached, edges, cut })),
        Err(PartError::Lost) => News::Alone,
        Err(PartError::Stopped(_)) => News::Stopped,
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
            Order::Search { .. } => break,
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
