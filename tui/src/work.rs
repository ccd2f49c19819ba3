//! Searches on threads of their own.

use crate::message::Message;
use crate::ride::Ride;
use crate::run::{SEARCH_THREAD, STACK_BYTES};
use fabius_base::{Cancel, Limits};
use fabius_engine::settings::{DelayMode, Delaying, Fairness, Settings};
use fabius_engine::{Controls, Event, Loaded, Surroundings, check, suited};
use fabius_explore::{Charting, Elsewhere, SearchRequest};
use fabius_supervise::{Task, Unfinished, Voice, begin};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A search tells how far it is so often, and is asked for its path as often.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// A chart may take so long, …
const CHART_TIME_MAX: Duration = Duration::from_secs(2);
/// … this many states, …
const CHART_STATES_MAX: u64 = 500_000;
/// … and so much memory while it is drawn.
const CHART_BYTES_MAX: u64 = 256 << 20;

/// The search that runs, if one does.
pub(crate) struct Work {
    send: Sender<Message>,
    cancel: Cancel,
    controls: Controls,
    /// Stops the run that is under way.
    riding: Cancel,
    /// Stops the chart that is being drawn.
    charting: Cancel,
    /// Where the last search in the order of delays ended, if it had a bound that can be raised.
    kept: Arc<Mutex<Option<Arc<[u8]>>>>,
}

impl Work {
    pub(crate) fn new(send: Sender<Message>) -> Self {
        let (cancel, riding, charting) = (Cancel::new(), Cancel::new(), Cancel::new());
        Self { send, cancel, controls: Controls::new(), riding, charting, kept: Arc::default() }
    }

    /// What can be done to the search that runs.
    pub(crate) fn controls(&self) -> &Controls {
        &self.controls
    }

    /// Stops the search that runs.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
        self.controls.pause(false);
    }

    /// Checks a model. A search that can be resumed is kept where it ends; `resume` goes on from what was kept.
    pub(crate) fn check(&mut self, number: u64, loaded: Arc<Loaded>, mut settings: Settings, resume: bool) {
        let from = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take().filter(|_| resume);
        if can_be_resumed(&settings) {
            let kept = Arc::clone(&self.kept);
            settings.keeper.resume = from.map(|bytes| ("the search before".to_owned(), bytes));
            settings.keeper.save = Some(Arc::new(move |bytes: &[u8]| {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes.into());
            }));
        }
        // What was asked for all properties may suit others than these.
        let settings = suited(&loaded, &settings);
        self.begin(number, move |around| Message::Checked(number, Box::new(check(&loaded, &settings, around))));
    }

    /// Searches from a state.
    pub(crate) fn search(&mut self, number: u64, request: SearchRequest, settings: Settings) {
        self.begin(number, move |around| Message::Searched(number, Box::new(request.run(&settings, around))));
    }

    /// Looks for another run to an error. What it is at is not told.
    pub(crate) fn seek(&mut self, number: u64, search: Elsewhere, settings: Settings) {
        self.begin_for(0, number, move |around| {
            Message::Found(number, search.which(), Box::new(search.run(&settings, around)))
        });
    }

    /// Runs.
    pub(crate) fn ride(&mut self, number: u64, ride: Ride) {
        self.riding.cancel();
        self.riding = Cancel::new();
        let (send, cancel) = (self.send.clone(), self.riding.clone());
        let running = move || {
            let mut told = Instant::now();
            let mut tell = |steps: usize| {
                if TELL_EVERY < told.elapsed() {
                    told = Instant::now();
                    let _ = send.send(Message::Rides(number, steps));
                }
            };
            let ran = ride.run(&cancel, &mut tell);
            let _ = send.send(Message::Ran(number, Box::new(ran)));
        };
        if thread::Builder::new().stack_size(STACK_BYTES).spawn(running).is_err() {
            let _ = self.send.send(Message::Crashed(0, "no thread could be started for the run".to_owned()));
        }
    }

    /// Draws a chart of what is ahead. A search that begins stops it; what is drawn by then is true all the same.
    pub(crate) fn chart(&mut self, number: u64, charting: Charting, settings: &Settings) {
        self.charting.cancel();
        self.charting = Cancel::new();
        let (send, cancel) = (self.send.clone(), self.charting.clone());
        let most = |allowed: Option<u64>, max: u64| Some(allowed.map_or(max, |allowed| allowed.min(max)));
        let limits = Limits {
            states_max: most(settings.limits.states_max, CHART_STATES_MAX),
            memory_bytes_max: most(settings.limits.memory_bytes_max, CHART_BYTES_MAX),
            ..settings.limits
        };
        let fair = settings.fairness != Fairness::None;
        let drawing = move || {
            let began = Instant::now();
            let stop = || CHART_TIME_MAX < began.elapsed() || cancel.requested().is_some();
            let drawn = panic::catch_unwind(AssertUnwindSafe(|| charting.run(&limits, fair, &stop)));
            let drawn = drawn.unwrap_or_else(|payload| Err(what(payload.as_ref())));
            let _ = send.send(Message::Charted(number, Box::new(drawn)));
        };
        let thread = thread::Builder::new().name(SEARCH_THREAD.to_owned()).stack_size(STACK_BYTES);
        if thread.spawn(drawing).is_err() {
            let why = "no thread could be started to look ahead".to_owned();
            let _ = self.send.send(Message::Charted(number, Box::new(Err(why))));
        }
    }

    /// Stops the run.
    pub(crate) fn stop_ride(&self) {
        self.riding.cancel();
    }

    /// Stops what runs, and does something else on a thread of its own.
    fn begin(&mut self, number: u64, act: impl FnOnce(&mut Surroundings<'_>) -> Message + Send + 'static) {
        self.begin_for(number, number, act);
    }

    /// The same; what it tells is told as of work `told_as`.
    fn begin_for(
        &mut self,
        told_as: u64,
        number: u64,
        act: impl FnOnce(&mut Surroundings<'_>) -> Message + Send + 'static,
    ) {
        self.cancel();
        self.charting.cancel();
        (self.cancel, self.controls) = (Cancel::new(), Controls::new());
        let (send, cancel, controls) = (self.send.clone(), self.cancel.clone(), self.controls.clone());
        let voice = Voice::default();
        let task = Task { name: SEARCH_THREAD, cancel: cancel.clone(), voice: voice.clone(), allowed: None };
        let (tell_to, stop) = (send.clone(), cancel.clone());
        let searching = move || {
            let mut teller = Teller::new(told_as, send, controls.clone());
            let began = Instant::now();
            controls.ask(false);
            let done = panic::catch_unwind(AssertUnwindSafe(|| {
                let now = || began.elapsed();
                // What was left alone has nothing to say any more.
                let mut observe = |event: Event| {
                    if !voice.is_lost() {
                        teller.tell(event)
                    }
                };
                act(&mut Surroundings { cancel: &stop, now: &now, observe: &mut observe, controls: Some(&controls) })
            }));
            done.unwrap_or_else(|payload| Message::Crashed(number, what(payload.as_ref())))
        };
        let tell = move |done: Result<Message, Unfinished>| {
            let unfinished = |why: Unfinished| Message::Crashed(number, format!("not finished: {}", why.sentence()));
            let _ = tell_to.send(done.unwrap_or_else(unfinished));
        };
        if begin(task, searching, tell).is_err() {
            let _ = self.send.send(Message::Crashed(number, "no thread could be started for the search".to_owned()));
        }
    }
}

/// Whether a search with these settings can go on where it ended: one in the order of delays, up to this many, that
/// remembers states only.
pub(crate) fn can_be_resumed(settings: &Settings) -> bool {
    let suits = |delaying: &Delaying| delaying.mode != DelayMode::Sample && delaying.delays_max.is_some();
    !settings.keep_going && settings.delaying.as_ref().is_some_and(suits)
}

/// What a panic said.
fn what(payload: &(dyn std::any::Any + Send)) -> String {
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
        let _ = self.send.send(Message::Told(self.number, Box::new(event)));
    }
}
