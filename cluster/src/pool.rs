//! Watches workers, and puts together what they tell.

use crate::checkpoint::{self, Files};
use crate::message::{self, Done, Found, News, Order, Reason};
use crate::sockets::SOCKETS_MAX;
use fabius_base::StopReason;
use fabius_search::Statistics;
use fabius_search::partition::Reached;
use fabius_task::VERSION;
use fabius_task::pool::{Observe, Part, PartError, PoolCheckpoints, PoolOutcome, StoredPart, WorkerProgress, total};
use fabius_task::words::memory;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
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
/// So much of what they tell waits to be heard; then they wait.
const NEWS_MAX: usize = 64;
/// Once a worker misses another one, it is looked for so long which one that is.
const MOURNING: Duration = Duration::from_secs(5);

/// A worker process, here or elsewhere.
pub(crate) trait Process {
    /// Which one it is, beside its number.
    fn name(&self) -> String;

    /// The machine that it is on, if it is another one.
    fn host(&self) -> Option<String>;

    /// Ends it, if it has not ended.
    fn kill(&mut self);

    /// Waits until it has ended.
    fn wait(&mut self);

    /// How it ended without a word: a verb and more.
    fn how_gone(&mut self) -> String;

    /// How it lost another one, if that is known: a verb and more.
    fn how_alone(&self) -> Option<String>;
}

/// A worker process that waits for its part.
pub(crate) struct Started {
    pub process: Box<dyn Process>,
    /// What it is told, and what it tells.
    pub control: UnixStream,
    /// Bytes of memory that it may use, if that is limited where it is.
    pub memory_bytes_max: Option<u64>,
}

/// Lets workers search that wait for their parts, until all have told what they found or one is lost.
pub(crate) fn run(
    started: Vec<Started>,
    part: &Part,
    checkpoints: PoolCheckpoints<'_>,
    observe: &mut Observe<'_>,
) -> PoolOutcome {
    let PoolCheckpoints { from, keep } = checkpoints;
    let opened = from.map(|(from, path)| {
        let stored = from.parts.iter().map(|part| Ok((part, checkpoint::open(path, part)?)));
        stored.collect::<Result<Vec<_>, String>>()
    });
    let from = match opened.transpose() {
        Ok(Some(from)) if from.len() != started.len() => {
            return PoolOutcome::Unusable(format!("it is one of {} processes, not {}", from.len(), started.len()));
        }
        Ok(from) => from,
        Err(why) => return PoolOutcome::Unusable(why),
    };
    let files = keep.map(|(path, keep)| Files::new(path, keep, started.len()));
    let (sender, news) = mpsc::sync_channel(NEWS_MAX);
    let mut workers = Workers { all: started.into_iter().map(Worker::new).collect(), files };
    match workers.begin(part, from.as_deref(), &sender, observe) {
        Ok(ControlFlow::Continue(())) => {
            drop(sender);
            workers.watch(&news, observe)
        }
        Ok(ControlFlow::Break(why)) => PoolOutcome::Stopped { why, statistics: Statistics::default() },
        Err(error) => PoolOutcome::NotStarted(error.to_string()),
    }
}

/// How a worker ended.
enum End {
    /// It told what was found.
    Found(Box<Found>),
    /// It missed another one.
    Alone,
    /// It was asked to stop too early to know anything.
    Stopped,
    /// Something is wrong with the program.
    Failed(String),
    /// It cannot go on from the checkpoint.
    Unusable,
    /// It ended and told nothing.
    Gone,
    /// It gives no sign of life.
    Silent,
}

struct Worker {
    process: Box<dyn Process>,
    socket: UnixStream,
    memory_bytes_max: Option<u64>,
    /// What it has done, as far as it told.
    done: Done,
    end: Option<End>,
    /// Time since it last told anything.
    silence: Duration,
}

impl Worker {
    fn new(started: Started) -> Self {
        let Started { process, control, memory_bytes_max } = started;
        Self { process, socket: control, memory_bytes_max, done: Done::default(), end: None, silence: Duration::ZERO }
    }
}

/// The workers of a search; none of them outlives this.
struct Workers<'k> {
    all: Vec<Worker>,
    /// Where they are kept, if they are.
    files: Option<Files<'k>>,
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Workers<'_> {
    fn kill(&mut self) {
        for worker in &mut self.all {
            worker.process.kill();
        }
        for worker in &mut self.all {
            worker.process.wait();
        }
    }

    /// Tells each its part, and where it stood.
    fn begin(
        &mut self,
        part: &Part,
        from: Option<&[(&StoredPart, File)]>,
        news: &SyncSender<(usize, Option<News>)>,
        observe: &mut Observe<'_>,
    ) -> io::Result<ControlFlow<StopReason>> {
        let keep = self.files.is_some();
        for (me, worker) in self.all.iter_mut().enumerate() {
            let mut reader = worker.socket.try_clone()?;
            // A worker that is stopped before it reads anything is not waited for.
            worker.socket.set_write_timeout(Some(SILENCE_MAX))?;
            let from = from.and_then(|from| from.get(me));
            let stood = from.map(|(stored, _)| Box::new(stored.checkpoint.clone()));
            let order =
                Order::Search { version: VERSION.to_owned(), me, part: Box::new(part.clone()), from: stood, keep };
            let told = message::write(&mut worker.socket, &order).and_then(|()| match from {
                Some((stored, file)) => tell_all_ways(&mut worker.socket, stored, file, observe),
                None => Ok(ControlFlow::Continue(())),
            });
            match told {
                // It will turn out that it is gone, or does not answer.
                Err(error) if is_loss(&error) => {}
                Err(error) => return Err(error),
                Ok(ControlFlow::Break(why)) => return Ok(ControlFlow::Break(why)),
                Ok(ControlFlow::Continue(())) => {}
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
        Ok(ControlFlow::Continue(()))
    }

    fn has(&self, is_wanted: fn(&End) -> bool) -> bool {
        self.all.iter().any(|worker| worker.end.as_ref().is_some_and(is_wanted))
    }

    /// What each has done.
    fn progress(&self) -> Vec<WorkerProgress> {
        self.all.iter().map(|worker| worker.done.progress(worker.process.host())).collect()
    }

    /// Waits until all have told what they found, or one is lost.
    fn watch(&mut self, news: &Receiver<(usize, Option<News>)>, observe: &mut Observe<'_>) -> PoolOutcome {
        let mut stopping: Option<(StopReason, Duration)> = None;
        let mut mourning: Option<Duration> = None;
        let mut last = Instant::now();
        while self.all.iter().any(|worker| worker.end.is_none()) {
            let told = news.recv_timeout(TICK);
            // If all processes were stopped for a while, nobody was silent.
            let elapsed = last.elapsed().min(2 * TICK);
            last = Instant::now();
            if let (Ok((_, Some(News::Ways(_)))), Some((_, waited))) = (&told, &mut stopping) {
                // They say what they know.
                *waited = Duration::ZERO;
            }
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
                    if let ControlFlow::Break(why) = observe(&self.progress()) {
                        stopping = Some((why, Duration::ZERO));
                        self.ask_to_stop(why);
                    }
                }
            }
        }
        // Whoever asked for it cannot stop it any more.
        let _ = observe(&self.progress());
        self.conclude(stopping.map(|(why, _)| why))
    }

    fn hear(&mut self, index: usize, told: Option<News>) {
        let worker = &mut self.all[index];
        worker.silence = Duration::ZERO;
        let end = match told {
            Some(News::Alive(done)) => {
                worker.done = done;
                return;
            }
            Some(news @ (News::Ways(_) | News::Kept(_) | News::NotKept(_))) => {
                let Some(files) = &mut self.files else { return };
                match news {
                    News::Ways(entries) => files.add(index, &entries),
                    News::Kept(checkpoint) => files.told(index, *checkpoint),
                    News::NotKept(why) => files.cannot_be_told(&why),
                    _ => {}
                }
                return;
            }
            Some(News::Unusable) => End::Unusable,
            Some(News::Found(found)) => End::Found(found),
            Some(News::Alone) => End::Alone,
            Some(News::Stopped) => End::Stopped,
            Some(News::Failed(what)) => End::Failed(what),
            None => End::Gone,
        };
        worker.end.get_or_insert(end);
    }

    fn count_silence(&mut self, elapsed: Duration) {
        for worker in self.all.iter_mut().filter(|worker| worker.end.is_none()) {
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
        for worker in &mut self.all {
            // Whoever does not read orders is not waited for.
            let _ = worker.socket.set_write_timeout(Some(TICK));
            let _ = message::write(&mut worker.socket, &Order::Stop(reason));
        }
    }

    /// Ends all workers, and says what came out.
    fn conclude(&mut self, stopping: Option<StopReason>) -> PoolOutcome {
        let statistics = total(&self.progress());
        self.kill();
        let failed = self.all.iter().find_map(|worker| match &worker.end {
            Some(End::Failed(what)) => Some(what.clone()),
            _ => None,
        });
        if let Some(what) = failed {
            return PoolOutcome::Failed(what);
        }
        if self.has(|end| matches!(end, End::Unusable)) {
            return PoolOutcome::Unusable(PartError::Unusable.sentence().to_owned());
        }
        let found = self.all.iter().map(|worker| match &worker.end {
            Some(End::Found(found)) => Some(found.as_ref()),
            _ => None,
        });
        if let Some(found) = found.collect::<Option<Vec<_>>>() {
            return self.together(&found);
        }
        let lost =
            |is_lost: fn(&End) -> bool| self.all.iter().position(|worker| worker.end.as_ref().is_some_and(is_lost));
        let first = lost(End::is_first).or_else(|| lost(End::is_loss));
        match (stopping, first) {
            (Some(why), _) => PoolOutcome::Stopped { why, statistics },
            (None, Some(first)) => PoolOutcome::Lost { what: self.how_lost(first), statistics },
            (None, None) => PoolOutcome::Failed("the workers of a search ended without a result".to_owned()),
        }
    }

    /// What all workers told, who have to tell the same.
    fn together(&self, found: &[&Found]) -> PoolOutcome {
        let Some((Found { reached: first, .. }, others)) = found.split_first() else {
            return PoolOutcome::Failed("a search without workers".to_owned());
        };
        if others.iter().any(|other| other.reached != *first) {
            return PoolOutcome::Failed("the workers of a search disagree on what was found".to_owned());
        }
        let mut edges: Vec<u8> = Vec::new();
        for Found { edges: taken, .. } in found {
            edges.resize(edges.len().max(taken.len()), 0);
            edges.iter_mut().zip(taken.iter()).for_each(|(known, taken)| *known |= taken);
        }
        let cut = found.iter().find_map(|found| found.cut);
        PoolOutcome::Done { reached: first.clone(), edges, cut, memory_limit: self.memory_limit(first) }
    }

    /// Which worker used all the memory that it may use where it is.
    fn memory_limit(&self, reached: &Reached) -> Option<String> {
        let mut workers = self.all.iter().zip(&reached.partitions).enumerate();
        workers.find_map(|(index, (worker, part))| {
            let max = worker.memory_bytes_max.filter(|max| *max < part.memory_bytes)?;
            let (number, count, name) = (index + 1, self.all.len(), worker.process.name());
            Some(format!("worker {number} of {count} ({name}) may use no more than {} of memory", memory(max)))
        })
    }

    /// Which worker was lost, and how.
    fn how_lost(&mut self, index: usize) -> String {
        let count = self.all.len();
        let worker = &mut self.all[index];
        let who = format!("worker {} of {count} ({})", index + 1, worker.process.name());
        let how = match &worker.end {
            Some(End::Silent) => format!("did not answer for {} seconds", SILENCE_MAX.as_secs()),
            Some(End::Gone) => worker.process.how_gone(),
            _ => worker.process.how_alone().unwrap_or_else(|| "lost the connection to another one".to_owned()),
        };
        format!("{who} {how}")
    }
}

impl End {
    /// Whether the search ended because of it.
    fn is_first(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Unusable | Self::Gone | Self::Silent)
    }

    /// Whether the search cannot go on without it.
    fn is_loss(&self) -> bool {
        !matches!(self, Self::Found(..) | Self::Stopped)
    }
}

/// Tells a worker where its states came from, unless it is to stop.
fn tell_all_ways(
    socket: &mut UnixStream,
    stored: &StoredPart,
    file: &File,
    observe: &mut Observe<'_>,
) -> io::Result<ControlFlow<StopReason>> {
    let mut told = ControlFlow::Continue(());
    checkpoint::each_block(file, stored.checkpoint.snapshot.states(), |entries| {
        if told.is_continue() {
            told = observe(&[]);
        }
        match told {
            ControlFlow::Continue(()) => message::write(socket, &Order::Ways(entries.to_vec())),
            ControlFlow::Break(_) => Ok(()),
        }
    })?;
    Ok(told)
}

/// Whether it means that nobody is at the other end, or nobody who reads.
pub(crate) fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, TimedOut, WouldBlock};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected | TimedOut | WouldBlock)
}
