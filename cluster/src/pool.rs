//! Starts workers, watches them, and puts together what they tell.

use crate::message::{self, Done, News, Order, Reason};
use crate::sockets::{SOCKETS_MAX, hand_over, mesh};
use crate::worker::NO_MEMORY;
use fabius_base::StopReason;
use fabius_search::Statistics;
use fabius_search::partition::Reached;
use fabius_supervise::STACK_BYTES;
use fabius_task::VERSION;
use fabius_task::pool::{Observe, Part, PoolOutcome, WorkerPool};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// At most this many workers can search together.
pub const WORKERS_MAX: usize = SOCKETS_MAX + 1;

/// The workers are looked after at least so often.
const TICK: Duration = Duration::from_millis(50);
/// A worker that gives no sign of life for so long is lost.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// What they found is told so long after they were asked to stop, or not at all.
const STOPPING_MAX: Duration = Duration::from_secs(5);
/// Once a worker misses another one, it is looked for so long which one that is.
const MOURNING: Duration = Duration::from_secs(5);

/// Workers that are processes of this machine.
pub struct LocalPool {
    program: PathBuf,
    args: Vec<String>,
}

impl LocalPool {
    /// Workers are started with this program and these arguments; it has to call [`crate::worker::serve`].
    pub fn new(program: PathBuf, args: &[&str]) -> Self {
        Self { program, args: args.iter().map(|arg| (*arg).to_owned()).collect() }
    }

    fn start(&self, part: &Part, processes: usize, news: &Sender<(usize, Option<News>)>) -> io::Result<Workers> {
        let mut workers = Workers(Vec::new());
        for (me, sockets) in mesh(processes)?.into_iter().enumerate() {
            let (mut here, there) = UnixStream::pair()?;
            let process = Command::new(&self.program)
                .args(&self.args)
                // A model may nest deeply.
                .env("RUST_MIN_STACK", STACK_BYTES.to_string())
                .stdin(Stdio::from(OwnedFd::from(there)))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            let mut reader = here.try_clone()?;
            workers.0.push(Worker {
                process,
                socket: here.try_clone()?,
                done: Done::default(),
                end: None,
                silence: Duration::ZERO,
            });
            // A worker that is stopped before it reads anything is not waited for.
            here.set_write_timeout(Some(SILENCE_MAX))?;
            let order = Order::Search { version: VERSION.to_owned(), me, part: Box::new(part.clone()) };
            let told = hand_over(&here, &sockets.iter().flatten().collect::<Vec<_>>());
            match told.and_then(|()| message::write(&mut here, &order)) {
                // It will turn out that it is gone, or does not answer.
                Err(error) if is_loss(&error) => {}
                told => told?,
            }
            let news = news.clone();
            thread::Builder::new().spawn(move || {
                while let Ok(told) = message::read(&mut reader) {
                    if news.send((me, Some(told))).is_err() {
                        return;
                    }
                }
                let _ = news.send((me, None));
            })?;
        }
        Ok(workers)
    }
}

impl WorkerPool for LocalPool {
    fn search(&self, part: &Part, processes: usize, observe: &mut Observe<'_>) -> PoolOutcome {
        if WORKERS_MAX < processes {
            return PoolOutcome::NotStarted(format!("more than {WORKERS_MAX} are not supported"));
        }
        let (sender, news) = mpsc::channel();
        match self.start(part, processes, &sender) {
            Ok(mut workers) => {
                drop(sender);
                workers.watch(&news, observe)
            }
            Err(error) => PoolOutcome::NotStarted(error.to_string()),
        }
    }
}

/// How a worker ended.
enum End {
    /// It told what was found.
    Found(Box<Reached>, Vec<u8>),
    /// It missed another one.
    Alone,
    /// It was asked to stop too early to know anything.
    Stopped,
    /// Something is wrong with the program.
    Failed(String),
    /// It ended and told nothing.
    Gone,
    /// It gives no sign of life.
    Silent,
}

struct Worker {
    process: Child,
    socket: UnixStream,
    /// What it has done, as far as it told.
    done: Done,
    end: Option<End>,
    /// Time since it last told anything.
    silence: Duration,
}

/// The workers of a search; none of them outlives this.
struct Workers(Vec<Worker>);

impl Drop for Workers {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Workers {
    fn kill(&mut self) {
        for worker in &mut self.0 {
            // It may have ended already.
            let _ = worker.process.kill();
        }
        for worker in &mut self.0 {
            let _ = worker.process.wait();
        }
    }

    fn has(&self, is_wanted: fn(&End) -> bool) -> bool {
        self.0.iter().any(|worker| worker.end.as_ref().is_some_and(is_wanted))
    }

    fn statistics(&self) -> Statistics {
        Done::total(self.0.iter().map(|worker| worker.done))
    }

    /// Waits until all have told what they found, or one is lost.
    fn watch(&mut self, news: &Receiver<(usize, Option<News>)>, observe: &mut Observe<'_>) -> PoolOutcome {
        let mut stopping: Option<(StopReason, Duration)> = None;
        let mut mourning: Option<Duration> = None;
        let mut last = Instant::now();
        while self.0.iter().any(|worker| worker.end.is_none()) {
            let told = news.recv_timeout(TICK);
            // If all processes were stopped for a while, nobody was silent.
            let elapsed = last.elapsed().min(2 * TICK);
            last = Instant::now();
            match told {
                Ok((worker, told)) => self.hear(worker, told),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.count_silence(elapsed);
            if self.has(End::is_first) {
                break;
            }
            if self.has(End::is_loss) {
                let mourned = mourning.get_or_insert(Duration::ZERO);
                *mourned += elapsed;
                if MOURNING <= *mourned {
                    break;
                }
            }
            match &mut stopping {
                Some((_, waited)) => {
                    *waited += elapsed;
                    if STOPPING_MAX <= *waited {
                        break;
                    }
                }
                None => {
                    if let ControlFlow::Break(why) = observe(&self.statistics()) {
                        stopping = Some((why, Duration::ZERO));
                        self.ask_to_stop(why);
                    }
                }
            }
        }
        self.conclude(stopping.map(|(why, _)| why))
    }

    fn hear(&mut self, worker: usize, told: Option<News>) {
        let worker = &mut self.0[worker];
        worker.silence = Duration::ZERO;
        let end = match told {
            Some(News::Alive(done)) => {
                worker.done = done;
                return;
            }
            Some(News::Found(reached, edges)) => End::Found(reached, edges),
            Some(News::Alone) => End::Alone,
            Some(News::Stopped) => End::Stopped,
            Some(News::Failed(what)) => End::Failed(what),
            None => End::Gone,
        };
        worker.end.get_or_insert(end);
    }

    fn count_silence(&mut self, elapsed: Duration) {
        for worker in self.0.iter_mut().filter(|worker| worker.end.is_none()) {
            worker.silence += elapsed;
            if SILENCE_MAX <= worker.silence {
                worker.end = Some(End::Silent);
            }
        }
    }

    fn ask_to_stop(&mut self, why: StopReason) {
        let reason = match why {
            StopReason::Timeout => Reason::TimeUp,
            StopReason::Memory | StopReason::Exhausted => Reason::NoMemory,
            _ => Reason::Asked,
        };
        for worker in &mut self.0 {
            // Whoever does not read orders is not waited for.
            let _ = worker.socket.set_write_timeout(Some(TICK));
            let _ = message::write(&mut worker.socket, &Order::Stop(reason));
        }
    }

    /// Ends all workers, and says what came out.
    fn conclude(&mut self, stopping: Option<StopReason>) -> PoolOutcome {
        let statistics = self.statistics();
        self.kill();
        let failed = self.0.iter().find_map(|worker| match &worker.end {
            Some(End::Failed(what)) => Some(what.clone()),
            _ => None,
        });
        if let Some(what) = failed {
            return PoolOutcome::Failed(what);
        }
        let found = self.0.iter().map(|worker| match &worker.end {
            Some(End::Found(reached, edges)) => Some((reached.as_ref(), edges)),
            _ => None,
        });
        if let Some(found) = found.collect::<Option<Vec<_>>>() {
            return together(&found);
        }
        let lost =
            |is_lost: fn(&End) -> bool| self.0.iter().position(|worker| worker.end.as_ref().is_some_and(is_lost));
        let first = lost(End::is_first).or_else(|| lost(End::is_loss));
        match (stopping, first) {
            (Some(why), _) => PoolOutcome::Stopped { why, statistics },
            (None, Some(first)) => PoolOutcome::Lost { what: self.how_lost(first), statistics },
            (None, None) => PoolOutcome::Failed("the workers of a search ended without a result".to_owned()),
        }
    }

    /// Which worker was lost, and how.
    fn how_lost(&mut self, index: usize) -> String {
        let count = self.0.len();
        let worker = &mut self.0[index];
        let who = format!("worker {} of {count} (process {})", index + 1, worker.process.id());
        match (&worker.end, worker.process.wait()) {
            (Some(End::Silent), _) => format!("{who} did not answer for {} seconds", SILENCE_MAX.as_secs()),
            (Some(End::Gone), Ok(status)) => format!("{who} {}", how_ended(status)),
            _ => format!("{who} lost the connection to another one"),
        }
    }
}

impl End {
    /// Whether the search ended because of it.
    fn is_first(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Gone | Self::Silent)
    }

    /// Whether the search cannot go on without it.
    fn is_loss(&self) -> bool {
        !matches!(self, Self::Found(..) | Self::Stopped)
    }
}

/// Whether it means that nobody is at the other end, or nobody who reads.
fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, TimedOut, WouldBlock};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected | TimedOut | WouldBlock)
}

fn how_ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (None, Some(code)) if code == i32::from(NO_MEMORY) => "ended: the system gave no more memory".to_owned(),
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// What all workers told, who have to tell the same.
fn together(found: &[(&Reached, &Vec<u8>)]) -> PoolOutcome {
    let Some(((first, _), others)) = found.split_first() else {
        return PoolOutcome::Failed("a search without workers".to_owned());
    };
    if others.iter().any(|(reached, _)| reached != first) {
        return PoolOutcome::Failed("the workers of a search disagree on what was found".to_owned());
    }
    let mut edges: Vec<u8> = Vec::new();
    for (_, taken) in found {
        edges.resize(edges.len().max(taken.len()), 0);
        edges.iter_mut().zip(taken.iter()).for_each(|(known, taken)| *known |= taken);
    }
    PoolOutcome::Done { reached: (*first).clone(), edges }
}
