//! A search that goes on from turn to turn: between them it waits, with all that it knows.
//!
//! It has a thread of its own, and whoever lets it go on waits for it, so that of all searches of a check only one works at a time.

use super::beside::{FromOutside, STACK_BYTES};
use super::meter::{Meter, Waited};
use crate::prepared::Prepared;
use crate::searches::search;
use crate::task::Checked;
use fabius_base::{Cancel, Limits, reserve_thread};
use fabius_observe::{CheckContext, Controls, Event};
use fabius_program::Program;
use fabius_strategy::Choice;
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{Builder, Scope};
use std::time::Duration;

/// The stack of its thread; a smaller one if the system gives no such thread.
const STACKS: [usize; 3] = [STACK_BYTES, 16 << 20, 4 << 20];

/// A search tells this often how far it is, …
const TOLD_EVERY: Duration = Duration::from_millis(20);
/// … or after having left out this many chances.
const SKIPPED_MAX: u32 = 15;
/// A search may be this many events ahead of whoever hears them.
const EVENTS_MAX: usize = 64;

/// A search that has a thread, and how far it is.
pub(super) struct Waiting {
    pub(super) choice: Choice,
    pub(super) role: Role,
    /// What it has done.
    pub(super) meter: Meter,
    go_on: Sender<Turn>,
    told: Receiver<Told>,
}

/// What a search is for a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The one that suits it.
    Main,
    /// One that fails differently.
    Side {
        /// A proof by it counts.
        proves: bool,
    },
}

/// How far a search may go until it waits again.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// So much work in all.
    pub(super) work: u64,
    /// It ends if this moment has come, by the clock of the check.
    pub(super) until: Option<Duration>,
    /// Others for the same property have stored this many states, which count, too.
    pub(super) states_beside: u64,
    /// It ends if it holds more memory.
    pub(super) memory_bytes_max: Option<u64>,
}

/// What a search is given.
#[derive(Clone)]
pub(super) struct Task<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) program: &'a Arc<Program>,
    pub(super) planned: &'a Planned,
    pub(super) prepared: Arc<Prepared>,
    pub(super) choice: Choice,
    pub(super) role: Role,
    /// Those of the check, unless whoever watches has changed them.
    pub(super) limits: Limits,
    pub(super) from_outside: FromOutside<'a>,
}

/// What the thread tells.
enum Told {
    Event(Box<Event>),
    Waits(Meter),
    Over(Box<Checked>),
    Panicked(Box<dyn Any + Send>),
}

impl Waiting {
    /// A search that has not begun; `None` if the system gives no thread.
    pub(super) fn new<'s, 'a>(scope: &'s Scope<'s, 'a>, task: &Task<'a>) -> Option<Self> {
        STACKS.iter().find_map(|bytes| Self::with_stack(*bytes, scope, task.clone()))
    }

    fn with_stack<'s, 'a>(bytes: usize, scope: &'s Scope<'s, 'a>, task: Task<'a>) -> Option<Self> {
        let ((go_on, turns), (tell, told)) = (channel::<Turn>(), sync_channel(EVENTS_MAX));
        let (choice, role) = (task.choice.clone(), task.role);
        let work = move || {
            let Ok(first) = turns.recv() else { return };
            // Where nobody listens, the check is over.
            let mut sieve = Sieve { outside: task.from_outside.1, skipped: 0, told: None };
            let mut observe = |event| !sieve.lets_through(&event) || tell.send(Told::Event(Box::new(event))).is_ok();
            let wait = |meter: &Meter| {
                let _ = tell.send(Told::Waits(meter.clone()));
                turns.recv().ok()
            };
            let searched = catch_unwind(AssertUnwindSafe(|| task.search(first, &mut observe, wait)));
            let _ = tell.send(searched.map_or_else(Told::Panicked, |checked| Told::Over(Box::new(checked))));
        };
        reserve_thread();
        Builder::new().stack_size(bytes).spawn_scoped(scope, work).ok()?;
        Some(Self { choice, role, meter: Meter::default(), go_on, told })
    }

    /// Lets it go on until it waits again or is over; what it left behind in the latter case. `observe` is told what happens.
    pub(super) fn go_on(&mut self, turn: Turn, mut observe: impl FnMut(Event)) -> Option<Box<Checked>> {
        // If it has ended, the next line says how.
        let _ = self.go_on.send(turn);
        loop {
            match self.hear() {
                Told::Event(event) => observe(*event),
                Told::Waits(meter) => {
                    self.meter = meter;
                    return None;
                }
                Told::Over(checked) => return Some(checked),
                Told::Panicked(panic) => resume_unwind(panic),
            }
        }
    }

    /// Ends it; what it leaves behind, if it had begun.
    pub(super) fn end(self) -> Option<Box<Checked>> {
        let Self { told, go_on, .. } = self;
        drop(go_on);
        told.into_iter().find_map(|told| match told {
            Told::Over(checked) => Some(checked),
            Told::Panicked(panic) => resume_unwind(panic),
            Told::Event(_) | Told::Waits(_) => None,
        })
    }

    fn hear(&self) -> Told {
        self.told.recv().unwrap_or_else(|_| Told::Panicked(Box::new("a thread ended before its search was over")))
    }
}

/// Leaves out most of what tells only how far a search is: each event wakes a thread, and whoever watches does not see more of them.
struct Sieve<'c> {
    outside: &'c (dyn Fn() -> Duration + Sync),
    /// Left out since the last one.
    skipped: u32,
    /// When that was.
    told: Option<Duration>,
}

impl Sieve<'_> {
    fn lets_through(&mut self, event: &Event) -> bool {
        if !matches!(event, Event::Progress { .. }) {
            // What comes next is the first that tells how far it is.
            self.told = None;
            return true;
        }
        let now = (self.outside)();
        let is_due = self.told.is_none_or(|told| told + TOLD_EVERY <= now) || SKIPPED_MAX <= self.skipped;
        (self.skipped, self.told) = if is_due { (0, Some(now)) } else { (self.skipped + 1, self.told) };
        is_due
    }
}

impl Task<'_> {
    /// Runs the search for one turn: what it left behind, and whether it ended before its turn did.
    pub(super) fn at_once(&self, turn: Turn, tell: &mut dyn FnMut(Event) -> bool) -> (Checked, bool) {
        let mut is_over = true;
        let checked = self.search(turn, tell, |_| {
            is_over = false;
            None
        });
        (checked, is_over)
    }

    /// Runs the search; what it left behind. `tell` is told what happens, and says whether anybody listens. At the end of each turn,
    /// `wait` tells the next one, or that there is none.
    pub(super) fn search(
        &self,
        first: Turn,
        tell: &mut dyn FnMut(Event) -> bool,
        mut wait: impl FnMut(&Meter) -> Option<Turn>,
    ) -> Checked {
        let Self { loaded, program, planned, prepared, choice, .. } = self;
        let (cancel, outside, controls) = &self.from_outside;
        let (stop, mut waited) = (cancel.part(), Waited::default());
        let (mut meter, mut turn) = (Meter::default(), first);
        let mut observe = |mut event: Event| {
            let at_work = meter.hear(&event);
            waited.leave_out(&mut event);
            // Whoever listens takes rounds for those of a main search.
            let is_told = self.role == Role::Main || !matches!(event, Event::Round { .. });
            if is_told && !tell(event) {
                stop.cancel();
            }
            if self.is_used_up(&turn, (&meter, at_work), &stop) || !at_work {
                return;
            }
            if turn.work <= meter.work() || self.is_unfit(*controls) {
                let began = outside();
                match wait(&meter) {
                    Some(next) => turn = next,
                    None => stop.cancel(),
                }
                waited.add(outside().saturating_sub(began));
            }
        };
        let mut context = CheckContext { cancel: &stop, now: *outside, observe: &mut observe, controls: *controls };
        let mut checked = search(loaded, program, (planned, prepared), choice, &mut context);
        checked.describe(choice, program, planned);
        checked.report.seconds = (checked.report.seconds - waited.in_all.as_secs_f64()).max(0.0);
        checked
    }

    /// Whether it may not go on in its turn; it is told so. Whatever it does has to end in time.
    fn is_used_up(&self, turn: &Turn, (meter, at_work): (&Meter, bool), stop: &Cancel) -> bool {
        let (_, now, controls) = &self.from_outside;
        let limits = controls.and_then(Controls::limits).unwrap_or(self.limits);
        let states = turn.states_beside + meter.last.states;
        // Its own limit counts what it stores alone.
        let is_full = 0 < turn.states_beside && limits.states_max.is_some_and(|max| max <= states);
        let is_large = turn.memory_bytes_max.is_some_and(|max| max < meter.last.memory_bytes);
        if turn.until.is_some_and(|until| until <= now()) {
            stop.time_out();
        } else if at_work && is_full {
            stop.too_many_states();
        } else if at_work && is_large {
            stop.over_memory();
        }
        stop.requested().is_some()
    }

    /// Whether somebody has bounded the depth of searches since, and this one may not heed that.
    fn is_unfit(&self, controls: Option<&Controls>) -> bool {
        let bound = || controls.and_then(|controls| controls.in_force(Limits::default()).depth_max);
        self.role != Role::Main && !self.choice.heeds_depth() && bound().is_some()
    }
}
