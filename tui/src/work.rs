//! Searches on threads of their own.

use crate::background_run::RunRequest;
use crate::checkpoint::not_saved;
use crate::message::Message;
use crate::run::{Reader, SEARCH_THREAD};
use fabius_base::{Cancel, Limits};
use fabius_engine::settings::{Fairness, Save, Settings};
use fabius_engine::{Boundary, CheckContext, CheckpointSummary, Controls, Event, Loaded, suited};
use fabius_explore::{AlternativeSearch, GraphRequest, ScheduleSearch, SearchRequest};
use fabius_project::cache::Cache;
use fabius_project::checkpoints::replace;
use fabius_project::originals::Originals;
use fabius_supervise::{Task, Timer, Unfinished, Voice, begin};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// A search tells how far it is so often, and is asked for its path as often.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// The search for a schedule may take so long.
const SCHEDULE_TIME_MAX: Duration = Duration::from_secs(20);
/// A chart may take so long, …
const CHART_TIME_MAX: Duration = Duration::from_secs(2);
/// … this many states, …
const CHART_STATES_MAX: u64 = 500_000;
/// … and so much memory while it is drawn.
const CHART_BYTES_MAX: u64 = 256 << 20;

/// Where a check starts, and what becomes of its checkpoints.
pub(crate) struct Checkpoints {
    /// The checkpoint to resume from, with its name.
    pub resume: Option<(String, Arc<[u8]>)>,
    /// The file that holds the last one, if there is one.
    pub file: Option<PathBuf>,
}

/// The search that runs, if one does.
pub(crate) struct Work {
    send: Sender<Message>,
    cancel: Cancel,
    controls: Controls,
    /// Where checks do not go on.
    boundary: Option<Boundary>,
    /// Searches visit states in which this is true before others.
    visit_first: Option<String>,
    /// Stops the run that is under way.
    background_run: Cancel,
    /// Stops the chart that is being drawn.
    charting: Cancel,
    /// Stops the search for a schedule.
    scheduling: Cancel,
    /// Stops what reads the model.
    reading: Cancel,
    /// Whether the last check was answered from the cache.
    was_known: Arc<AtomicBool>,
}

impl Work {
    pub(crate) fn new(send: Sender<Message>) -> Self {
        let [cancel, background_run, charting, scheduling, reading] = std::array::from_fn(|_| Cancel::new());
        let controls = Controls::new();
        let was_known = Arc::default();
        Self {
            send,
            cancel,
            controls,
            boundary: None,
            visit_first: None,
            background_run,
            charting,
            scheduling,
            reading,
            was_known,
        }
    }

    /// What can be done to the search that runs.
    pub(crate) fn controls(&self) -> &Controls {
        &self.controls
    }

    /// From now on, checks do not go on from these states.
    pub(crate) fn leave_out(&mut self, boundary: Option<Boundary>) {
        self.boundary = boundary;
        self.keep_to_boundary();
    }

    fn keep_to_boundary(&self) {
        if let Some(boundary) = &self.boundary {
            // One that the search has already stays.
            let _ = self.controls.boundary().adopt(boundary);
        }
    }

    /// From now on, searches visit states in which a condition is true before others.
    pub(crate) fn visit_first(&mut self, condition: Option<String>) {
        self.visit_first = condition;
        self.controls.visit_first(self.visit_first.as_deref());
    }

    /// Stops the search that runs.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
        self.controls.pause(false);
    }

    /// Checks a model. Checkpoints of a search that can be saved are told.
    pub(crate) fn check(&mut self, number: u64, loaded: Arc<Loaded>, settings: Settings, checkpoints: Checkpoints) {
        let Checkpoints { resume, file } = checkpoints;
        // What was asked for all properties may suit others than these.
        let mut settings = suited(&loaded, &settings);
        let cache = if self.boundary.is_none() && resume.is_none() && file.is_none() { Cache::of_user() } else { None };
        let is_depth_first =
            |(_, bytes): &(_, Arc<[u8]>)| CheckpointSummary::of(bytes).is_ok_and(|held| held.is_depth_first());
        let depth_first = file.is_some() || resume.as_ref().is_some_and(is_depth_first);
        let is_saved = not_saved(&loaded, &settings, depth_first).is_none();
        settings.checkpoint_files.resume = resume;
        let send = self.send.clone();
        // Whoever asks again after an answer from the cache wants a search.
        let is_anew = self.was_known.swap(false, Ordering::Relaxed);
        let was_known = Arc::clone(&self.was_known);
        self.begin(number, move |context| {
            let cache = cache.filter(|_| !is_anew);
            let controls = context.controls.cloned().unwrap_or_default();
            settings.checkpoint_files.save = is_saved.then(|| keeper(number, send, controls, file));
            let outcome = Cache::check(cache.as_ref(), &loaded, &settings, context);
            let is_known = outcome.report.properties.iter().any(|property| property.cached.is_some());
            was_known.store(is_known, Ordering::Relaxed);
            Message::Checked(number, Box::new(outcome))
        });
    }

    /// Searches from a state.
    pub(crate) fn search(&mut self, number: u64, request: SearchRequest, settings: Settings) {
        self.begin(number, move |context| Message::Searched(number, Box::new(request.run(&settings, context))));
    }

    /// Looks for another run to an error. What it is at is not told.
    pub(crate) fn seek(&mut self, number: u64, search: AlternativeSearch, settings: Settings) {
        self.begin_for(0, number, move |context| {
            Message::Found(number, search.which(), Box::new(search.run(&settings, context)))
        });
    }

    /// Runs.
    pub(crate) fn background_run(&mut self, number: u64, background_run: RunRequest) {
        self.background_run.cancel();
        self.background_run = Cancel::new();
        let (send, stop) = (self.send.clone(), self.background_run.clone());
        let running = move |voice: &Voice| {
            let mut told = Instant::now();
            let mut tell = |steps: usize| {
                if TELL_EVERY < told.elapsed() && !voice.is_lost() {
                    told = Instant::now();
                    let _ = send.send(Message::Rides(number, steps));
                }
            };
            Some(Message::Ran(number, Box::new(Ok(background_run.run(&stop, &mut tell)))))
        };
        let failed = move |why| Some(Message::Ran(number, Box::new(Err(why))));
        Job { what: "the run", cancel: self.background_run.clone() }.hand_out(&self.send, running, failed);
    }

    /// Draws a chart of what is ahead. A search that begins stops it; what is drawn by then is true all the same.
    pub(crate) fn chart(&mut self, number: u64, charting: GraphRequest, settings: &Settings) {
        self.charting.cancel();
        self.charting = Cancel::new();
        let cancel = self.charting.clone();
        let most = |allowed: Option<u64>, max: u64| Some(allowed.map_or(max, |allowed| allowed.min(max)));
        let limits = Limits {
            states_max: most(settings.limits.states_max, CHART_STATES_MAX),
            memory_bytes_max: most(settings.limits.memory_bytes_max, CHART_BYTES_MAX),
            ..settings.limits
        };
        let fair = settings.fairness != Fairness::None;
        let drawing = move |_: &Voice| {
            let began = Instant::now();
            let stop = || CHART_TIME_MAX < began.elapsed() || cancel.requested().is_some();
            Some(Message::Charted(number, Box::new(charting.run(&limits, fair, &stop))))
        };
        let failed = move |why| Some(Message::Charted(number, Box::new(Err(why))));
        Job { what: "the forecast", cancel: self.charting.clone() }.hand_out(&self.send, drawing, failed);
    }

    /// Looks for a schedule under which the model is safe.
    pub(crate) fn schedule(&mut self, number: u64, search: ScheduleSearch, settings: &Settings) {
        self.scheduling.cancel();
        self.scheduling = Cancel::new();
        let (cancel, search) = (self.scheduling.clone(), search.within(settings.limits.memory_bytes_max));
        let looking = move |_: &Voice| {
            let _timer = Timer::start(Some(SCHEDULE_TIME_MAX), &cancel);
            Some(Message::Scheduled(number, Box::new(Ok(search.run(&cancel)))))
        };
        let failed = move |why| Some(Message::Scheduled(number, Box::new(Err(why))));
        Job { what: "the search for a schedule", cancel: self.scheduling.clone() }
            .hand_out(&self.send, looking, failed);
    }

    /// Reads a model; what was read of an earlier text is not wanted any more.
    pub(crate) fn read(&mut self, read: Reader) {
        self.scheduling.cancel();
        self.reading.cancel();
        self.reading = Cancel::new();
        let stop = self.reading.clone();
        let reading = move |_: &Voice| {
            let loaded = Arc::new(read(&stop));
            let originals = Originals::of(&loaded.map);
            stop.requested().is_none().then_some(Message::Loaded(loaded, originals))
        };
        let stop = self.reading.clone();
        let failed = move |why| stop.requested().is_none().then(|| Message::Crashed(0, why));
        Job { what: "reading the model", cancel: self.reading.clone() }.hand_out(&self.send, reading, failed);
    }

    /// Stops the run.
    pub(crate) fn stop_ride(&self) {
        self.background_run.cancel();
    }

    /// Stops what runs, and does something else on a thread of its own.
    fn begin(&mut self, number: u64, act: impl FnOnce(&mut CheckContext<'_>) -> Message + Send + 'static) {
        self.begin_for(number, number, act);
    }

    /// The same; what it tells is told as of work `told_as`.
    fn begin_for(
        &mut self,
        told_as: u64,
        number: u64,
        act: impl FnOnce(&mut CheckContext<'_>) -> Message + Send + 'static,
    ) {
        self.cancel();
        self.charting.cancel();
        (self.cancel, self.controls) = (Cancel::new(), Controls::new());
        self.keep_to_boundary();
        self.controls.visit_first(self.visit_first.as_deref());
        let (send, cancel, controls) = (self.send.clone(), self.cancel.clone(), self.controls.clone());
        let stop = cancel.clone();
        let searching = move |voice: &Voice| {
            let mut teller = Teller::new(told_as, send, controls.clone());
            let began = Instant::now();
            controls.ask(false);
            let now = || began.elapsed();
            // What was left alone has nothing to say any more.
            let mut observe = |event: Event| {
                if !voice.is_lost() {
                    teller.tell(event)
                }
            };
            Some(act(&mut CheckContext { cancel: &stop, now: &now, observe: &mut observe, controls: Some(&controls) }))
        };
        let failed = move |why| Some(Message::Crashed(number, why));
        Job { what: "the search", cancel }.hand_out(&self.send, searching, failed);
    }
}

/// Work for a thread of its own; it is left alone if it does not end soon after it was asked to.
struct Job {
    /// What it is, for a sentence.
    what: &'static str,
    cancel: Cancel,
}

impl Job {
    /// Lets it be done; what comes of it, or why nothing does, is sent, if it is still wanted.
    fn hand_out(
        self,
        send: &Sender<Message>,
        act: impl FnOnce(&Voice) -> Option<Message> + Send + 'static,
        failed: impl Fn(String) -> Option<Message> + Clone + Send + 'static,
    ) {
        let (what, voice) = (self.what, Voice::default());
        let task = Task { voice: voice.clone(), ..Task::new(SEARCH_THREAD, self.cancel) };
        let crashed = failed.clone();
        let work = move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| act(&voice)));
            done.unwrap_or_else(|payload| crashed(panic_text(payload.as_ref())))
        };
        let (unfinished, tell_to) = (failed.clone(), send.clone());
        let tell = move |done: Result<Option<Message>, Unfinished>| {
            let message = done.unwrap_or_else(|why| unfinished(sentence(what, why)));
            message.into_iter().for_each(|message| drop(tell_to.send(message)));
        };
        if begin(task, work, tell).is_err() {
            let message = failed(format!("no thread could be started for {what}"));
            message.into_iter().for_each(|message| drop(send.send(message)));
        }
    }
}

/// Why work has no result.
fn sentence(what: &str, why: Unfinished) -> String {
    match why {
        Unfinished::Abandoned(_) => format!("{what} did not end soon after it was asked to, and was left alone"),
        Unfinished::Crowded => format!("{what} was not begun: {}", why.sentence()),
    }
}

/// Tells the checkpoints of a check, and writes them to a file if there is one. Once somebody has said which states are not to be looked
/// at, no checkpoint is one of the search that was asked for.
fn keeper(number: u64, send: Sender<Message>, controls: Controls, file: Option<PathBuf>) -> Arc<Save> {
    Arc::new(move |bytes: &[u8]| {
        if controls.leaves_states_out() {
            return false;
        }
        let written = file.as_ref().map_or(Ok(()), |file| replace(file, bytes));
        if let (Err(error), Some(file)) = (&written, &file) {
            let _ = send.send(Message::CheckpointNotWritten(file.clone(), error.to_string()));
        }
        let _ = send.send(Message::Kept(number, bytes.into()));
        written.is_ok()
    })
}

/// What a panic said.
fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("fabius itself failed: {text}. Please report it with the model.")
}

/// Passes on what a search tells, not more often than anybody can see.
pub(crate) struct Teller {
    number: u64,
    send: Sender<Message>,
    controls: Controls,
    told: Option<Instant>,
}

impl Teller {
    pub(crate) fn new(number: u64, send: Sender<Message>, controls: Controls) -> Self {
        Self { number, send, controls, told: None }
    }

    pub(crate) fn tell(&mut self, event: Event) {
        if matches!(event, Event::Progress { .. }) {
            if self.told.is_some_and(|told| told.elapsed() < TELL_EVERY) {
                return;
            }
            self.told = Some(Instant::now());
            self.controls.ask(false);
        }
        let _ = self.send.send(Message::Event(self.number, Box::new(event)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    /// What is said of a run that does this.
    fn said_of(cancel: Cancel, act: impl FnOnce() + Send + 'static) -> Option<String> {
        let (send, receive) = mpsc::channel();
        let run = move |_: &Voice| {
            act();
            None
        };
        let failed = |why| Some(Message::Ran(1, Box::new(Err(why))));
        Job { what: "the run", cancel }.hand_out(&send, run, failed);
        drop(send);
        receive.recv().ok().and_then(|message| if let Message::Ran(_, ran) = message { ran.err() } else { None })
    }

    #[test]
    fn a_run_that_does_not_end_is_left_alone_and_that_is_said() {
        let (cancel, over) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
        cancel.cancel();
        let stop = Arc::clone(&over);
        let busy = move || {
            while !stop.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        };
        let said = said_of(cancel, busy);
        over.store(true, Ordering::Release);
        assert_eq!(said.as_deref(), Some("the run did not end soon after it was asked to, and was left alone"));
    }

    #[test]
    fn a_search_that_was_told_to_leave_states_out_leaves_no_checkpoint() {
        let (send, receive) = mpsc::channel();
        let controls = Controls::new();
        let keep = keeper(7, send, controls.clone(), None);
        keep(b"complete");
        assert!(matches!(receive.try_recv(), Ok(Message::Kept(7, bytes)) if &*bytes == b"complete"));
        controls.raise_bound(9);
        keep(b"further");
        assert!(matches!(receive.try_recv(), Ok(Message::Kept(7, bytes)) if &*bytes == b"further"));
        controls.bound_depth(Some(3));
        keep(b"cut off");
        // Nor does one that is told to leave out none any more.
        controls.bound_depth(None);
        keep(b"cut off");
        assert!(receive.try_recv().is_err());
    }

    #[test]
    fn a_checkpoint_that_cannot_be_written_is_told_and_kept() {
        let (send, receive) = mpsc::channel();
        let file = std::env::temp_dir().join("fabius-no-such-folder/a.search");
        keeper(1, send, Controls::new(), Some(file.clone()))(b"complete");
        assert!(matches!(receive.try_recv(), Ok(Message::CheckpointNotWritten(path, _)) if path == file));
        assert!(matches!(receive.try_recv(), Ok(Message::Kept(1, _))));
    }

    #[test]
    fn a_run_that_fails_says_so() {
        let said = said_of(Cancel::new(), || panic!("a fault")).unwrap_or_default();
        assert!(said.contains("fabius itself failed: a fault"), "{said}");
    }
}
