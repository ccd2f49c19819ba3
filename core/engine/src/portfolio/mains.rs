//! Main searches, and what happens in their pauses.

use super::meter::{Clock, Meter};
use super::waiting::{Role, Task, Turn, Waiting};
use super::{Portfolio, end_of};
use crate::searches::search;
use crate::task::Checked;
use fabius_analysis::growth;
use fabius_base::Cancel;
use fabius_observe::{CheckContext, Controls, Event, Goal, Progress};
use fabius_strategy::Choice;
use fabius_task::internal_error;
use fabius_task::report::{SearchEnd, Stopped, Verdict};
use fabius_task::settings::{ALONE_BEFORE_ANEW_TRANSITIONS, Pauses};
use std::time::Duration;

/// A search waits only with less work than this, with which it has only one thread; one that did more begins anew in its next turn.
const WAITING_WORK_MAX: u64 = ALONE_BEFORE_ANEW_TRANSITIONS;
/// All that wait may hold one part of the memory that is allowed, …
const WAITING_MEMORY_SHARE: u64 = 32;
/// … and are no more than this many, …
const WAITING_MAX: u64 = 64;
/// … one for so much memory that is allowed: a thread takes a quarter of that of the address space, most of which it never touches.
const MEMORY_BYTES_EACH: u64 = 512 << 20;
/// With less memory than this, none waits.
const MEMORY_BYTES_MIN: u64 = 2 << 30;

/// A main search that goes on.
pub(super) struct Run {
    /// The number of its property.
    pub(super) index: usize,
    /// It ends in this pause, if it has only a turn itself.
    last: Option<u32>,
    /// Its next pause.
    next: u32,
    pub(super) meter: Meter,
    /// Time for searches for other properties.
    lent: Duration,
    /// What a search with a turn decided.
    decided: Option<Checked>,
    /// It ended in its last pause.
    is_suspended: bool,
}

impl Run {
    fn new(index: usize, last: Option<u32>, meter: Meter) -> Self {
        Self { index, last, next: 0, meter, lent: Duration::ZERO, decided: None, is_suspended: false }
    }

    /// The pause that is due, if one is.
    fn pause_due(&mut self, pauses: Pauses) -> Option<u32> {
        let mut due = None;
        while self.last.is_none_or(|last| self.next <= last) && pauses.work(self.next) <= self.meter.work() {
            due = Some(self.next);
            self.next += 1;
        }
        due
    }
}

impl<'a> Portfolio<'_, 'a> {
    /// Runs the main search of a property to its end, or to the end of a pause: what is known then, and whether that is all that can be
    /// known; `None` if it waits.
    pub(super) fn main_search(
        &mut self,
        index: usize,
        last: Option<u32>,
        outer: &mut CheckContext<'_>,
    ) -> Option<(Checked, bool)> {
        let pauses = self.settings.pauses;
        let is_long = last.is_some_and(|last| pauses.kept_from <= pauses.work(last));
        let begun = self.properties[index].waiting.take();
        let search = begun.or_else(|| {
            let task = is_long.then(|| self.task(index, self.properties[index].choice.clone(), Role::Main, outer));
            task.and_then(|task| self.begin(&task))
        });
        match search {
            Some(search) => self.main_in_turns(search, (index, last), outer),
            None => Some(self.main_at_once(index, last, outer)),
        }
    }

    /// Runs the main search of a property in this thread, from its beginning to its end or to the end of a pause.
    fn main_at_once(&mut self, index: usize, last: Option<u32>, outer: &mut CheckContext<'_>) -> (Checked, bool) {
        let (planned, prepared) = self.properties[index].asked();
        let mut choice = self.properties[index].choice.clone();
        choice.settings.limits = outer.in_force(self.left_of(choice.settings.limits));
        let until = self.share((outer.now)());
        choice.settings.until = until;
        let (loaded, program, outside, controls) = (self.loaded, self.program, outer.now, outer.controls);
        let (stop, clock) = (outer.cancel.part(), Clock::new(outside));
        let mut run = Run::new(index, last, Meter::default());
        let may_pause = self.may_pause;
        let mut observe = |event: Event| {
            let at_work = run.meter.hear(&event);
            (outer.observe)(event);
            self.hear_beside(outer);
            if !at_work || !may_pause || self.is_used_up(&run, until, &stop, outer) {
                return;
            }
            if let Some(pause) = run.pause_due(self.settings.pauses) {
                let began = outside();
                if self.pause(pause, &mut run, outer) {
                    run.is_suspended = run.decided.is_none();
                    stop.cancel();
                }
                clock.leave_out(outside().saturating_sub(began));
            }
        };
        let now = || clock.now();
        let mut context = CheckContext { cancel: &stop, now: &now, observe: &mut observe, controls };
        let mut checked = search(loaded, program, (planned, &prepared), &choice, &mut context);
        checked.describe(&choice, program, planned);
        let mut context = CheckContext { cancel: outer.cancel, now: &now, observe: &mut *outer.observe, controls };
        self.main_ended(run, &choice, checked, &mut context)
    }

    /// Lets the main search of a property go on that has a thread.
    fn main_in_turns(
        &mut self,
        mut search: Waiting,
        (index, last): (usize, Option<u32>),
        outer: &mut CheckContext<'_>,
    ) -> Option<(Checked, bool)> {
        let mut run = Run::new(index, last, search.meter.clone());
        let until = self.share((outer.now)());
        // Others had their turns in the pauses before.
        run.pause_due(self.settings.pauses);
        while last.is_none_or(|last| run.next <= last) {
            let until = [until.map(|until| until + run.lent), self.settings.until].into_iter().flatten().min();
            let work = self.settings.pauses.work(run.next);
            let turn = self.turn_until(until, work, self.properties[index].states_of_turns());
            if let Some(checked) = self.go_on(index, &mut search, turn, outer) {
                return Some(self.main_ended(run, &search.choice, *checked, outer));
            }
            run.meter = search.meter.clone();
            let Some(pause) = run.pause_due(self.settings.pauses) else { continue };
            if self.pause(pause, &mut run, outer) {
                break;
            }
        }
        run.is_suspended = run.decided.is_none();
        if run.is_suspended && self.may_wait(&search) {
            self.properties[index].waiting = Some(search);
            return None;
        }
        let choice = search.choice.clone();
        let checked = search.end()?;
        Some(self.main_ended(run, &choice, *checked, outer))
    }

    /// A search for a property that has not begun. Each of its turns says what it may use.
    pub(super) fn task(&self, index: usize, mut choice: Choice, role: Role, outer: &CheckContext<'_>) -> Task<'a> {
        let Self { loaded, program, ref from_outside, .. } = *self;
        let limits = self.settings.limits;
        choice.settings.until = self.settings.until;
        choice.settings.limits.memory_bytes_max =
            limits.memory_bytes_max.map(|max| max.saturating_sub(self.set_aside()));
        choice.settings.limits = outer.in_force(choice.settings.limits);
        let (planned, prepared) = self.properties[index].asked();
        Task { loaded, program, planned, prepared, choice, role, limits, from_outside: from_outside.clone() }
    }

    /// A turn with this much work, beside searches for the same property that have stored this many states.
    pub(super) fn turn_until(&self, until: Option<Duration>, work: u64, states_beside: u64) -> Turn {
        let memory_bytes_max = self.left_of(self.settings.limits).memory_bytes_max;
        Turn { work, until, states_beside, memory_bytes_max }
    }

    /// Lets a search go on from where it waits, or begin; what it left behind if it ended.
    pub(super) fn go_on(
        &mut self,
        index: usize,
        search: &mut Waiting,
        turn: Turn,
        outer: &mut CheckContext<'_>,
    ) -> Option<Box<Checked>> {
        if 0 < search.meter.work() {
            let property = self.properties[index].planned.name.clone();
            (outer.observe)(Event::Searching { property, goal: Goal::Violation });
        }
        search.go_on(turn, |event| {
            (outer.observe)(event);
            self.hear_beside(outer);
        })
    }

    /// Whether a search may keep what it knows until its next turn.
    pub(super) fn may_wait(&self, search: &Waiting) -> bool {
        let waiting = || self.properties.iter().flat_map(super::Open::all_waiting);
        let bytes: u64 = waiting().chain([search]).map(|search| search.meter.last.memory_bytes).sum();
        let is_small = self.waiting_bytes_max().is_none_or(|max| bytes <= max);
        is_small && search.meter.work() < WAITING_WORK_MAX
    }

    /// Begins a thread for a search in which it can wait, if there is memory for one more, and the system gives one.
    pub(super) fn begin(&self, task: &Task<'a>) -> Option<Waiting> {
        let waiting = self.properties.iter().flat_map(super::Open::all_waiting).count() as u64;
        let room = |max: u64| if max < MEMORY_BYTES_MIN { 0 } else { max / MEMORY_BYTES_EACH };
        let most = self.settings.limits.memory_bytes_max.map_or(WAITING_MAX, |max| room(max).min(WAITING_MAX));
        (waiting < most).then(|| Waiting::new(self.scope, task)).flatten()
    }

    /// The memory that is set aside for searches that wait.
    pub(super) fn waiting_bytes_max(&self) -> Option<u64> {
        self.settings.limits.memory_bytes_max.filter(|_| self.may_pause).map(|max| max / WAITING_MEMORY_SHARE)
    }

    /// What is known once a main search has ended, and whether that is all that can be known.
    fn main_ended(
        &mut self,
        run: Run,
        choice: &Choice,
        mut checked: Checked,
        context: &mut CheckContext<'_>,
    ) -> (Checked, bool) {
        let Run { index, last, decided, is_suspended, .. } = run;
        self.executed.extend(std::mem::take(&mut checked.executed));
        // It may find something while it is asked to end.
        let has_found = checked.report.verdict == Verdict::Violated;
        let property = &mut self.properties[index];
        if let Some(mut decided) = decided {
            if !has_found || decided.report.verdict == Verdict::Violated {
                property.note_main(choice, &checked, SearchEnd::Superseded);
                decided.failure = decided.failure.or(checked.failure);
                return (decided, true);
            }
            let failure = decided.failure.take().or_else(|| contradiction(&decided));
            checked.failure = checked.failure.or(failure);
        }
        property.note_main(choice, &checked, end_of(&checked, is_suspended));
        self.confirm_unless_beside(index, &mut checked, context);
        // Alone, it may have more time and memory.
        let is_short =
            [Stopped::Cancelled, Stopped::Timeout, Stopped::Memory].map(Some).contains(&checked.report.stopped);
        let is_over = has_found || checked.failure.is_some() || !(is_suspended || last.is_some() && is_short);
        (checked, is_over)
    }

    /// Whether a main search has used up what it may use; it is told so.
    fn is_used_up(&self, run: &Run, until: Option<Duration>, stop: &Cancel, outer: &CheckContext<'_>) -> bool {
        let now = (outer.now)();
        let states = run.meter.last.states + self.properties[run.index].states_of_turns();
        let ended = [self.settings.until, until.map(|until| until + run.lent)];
        if ended.into_iter().flatten().any(|until| until <= now) {
            stop.time_out();
            return true;
        }
        let limits = outer.controls.and_then(Controls::limits).unwrap_or(self.settings.limits);
        let is_full = limits.states_max.is_some_and(|max| max <= states) && states != run.meter.last.states;
        if is_full {
            stop.too_many_states();
        }
        is_full
    }

    /// Lets others have their turns; whether the search that pauses ends then.
    fn pause(&mut self, pause: u32, run: &mut Run, outer: &mut CheckContext<'_>) -> bool {
        let held = run.meter.last.memory_bytes;
        self.held_bytes += held;
        if run.last.is_none() {
            let began = (outer.now)();
            self.first_looks(run.index, outer);
            run.lent += (outer.now)() - began;
        }
        if self.properties[run.index].pauses_had <= pause {
            self.properties[run.index].pauses_had = pause + 1;
            run.decided = self.turns(pause, run, outer);
            let Progress { states, depth, .. } = run.meter.last;
            let Pauses { early, .. } = self.settings.pauses;
            self.has_long_path |= early <= pause && states <= 2 * depth;
            // One that is as long as that does not end soon; sooner it is not worth the time.
            if early < pause && run.decided.is_none() {
                self.look_for_growth(outer.cancel);
            }
        }
        let ends = run.decided.is_some() || run.last == Some(pause);
        if !ends {
            let began = (outer.now)();
            // The others may begin anew later: with less work than was done here, little is done twice.
            if let (None, Some(before)) = (run.last, pause.checked_sub(1)) {
                self.other_properties(run.index, before, outer);
            }
            run.lent += (outer.now)() - began;
            let property = self.properties[run.index].planned.name.clone();
            (outer.observe)(Event::Searching { property, goal: Goal::Violation });
        }
        self.held_bytes -= held;
        ends
    }

    /// Looks for values that only grow, where a path is long and nobody has looked yet.
    pub(super) fn look_for_growth(&mut self, cancel: &Cancel) {
        if self.has_long_path && self.growth.is_none() && cancel.requested().is_none() {
            self.growth = Some(growth(self.program, cancel));
        }
    }

    /// Lets the main searches of the other properties that are open go on to a pause.
    fn other_properties(&mut self, index: usize, pause: u32, outer: &mut CheckContext<'_>) {
        for other in 0..self.properties.len() {
            if other == index || !self.properties[other].is_open() || outer.cancel.requested().is_some() {
                continue;
            }
            let Some((checked, is_over)) = self.main_search(other, Some(pause), outer) else { continue };
            if is_over {
                self.finish(other, checked, outer);
                continue;
            }
            // What ended for want of memory or time had less of it than the check allows.
            let is_suspended = checked.report.stopped == Some(Stopped::Cancelled);
            let furthest = &mut self.properties[other].furthest;
            if is_suspended && furthest.as_ref().is_none_or(|known| known.report.states < checked.report.states) {
                *furthest = Some(checked);
            }
        }
    }
}

/// What is wrong with Fabius if one search proved what another one found violated.
pub(super) fn contradiction(decided: &Checked) -> Option<String> {
    let is_proved = decided.report.verdict == Verdict::Holds;
    is_proved.then(|| internal_error("one search proved what another one found violated"))
}
