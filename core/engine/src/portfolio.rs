//! Which searches a check runs, in which order, and with how much work, where nobody chose a search.
//!
//! For each property, the search that suits it (its *main search*) goes on until it ends. It pauses now and then and keeps its visited
//! set: in a pause, searches that fail differently have a short turn each ([`SIDE_SEARCHES`]), and so have the main searches of the other
//! properties that are open. Whatever decides a property ends its turn. Work is counted in transitions, so what happens does not
//! depend on how fast the machine is.
//!
//! The turns of a search begin anew each time, with the budget that the later pause gives, and throw away what they stored; since
//! pauses become ever rarer and the turns ever smaller beside them, all turns of a property together take a sixth to a third of the
//! work of its main search, and three quarters at the first pause of one that only went deeper. A main search that ends before its first
//! pause is the whole check of its property.
//!
//! After a proof of safety or of an invariant, one search looks for what violates any of the invariants that are open
//! ([`together`]); it does not pause, since it may do no more work than their own searches would.

use crate::executed::Executed;
use crate::schedule::add_schedule;
use crate::searches::search;
use crate::task::Checked;
use crate::together::{self, Invariant, Together};
use fabius_analysis::growth;
use fabius_base::{Cancel, Finding, Limits};
use fabius_observe::{CheckContext, Controls, Event, Goal, Progress};
use fabius_program::Program;
use fabius_strategy::{Asked, Choice, choose};
use fabius_task::load::Loaded;
use fabius_task::plan::{Planned, Question};
use fabius_task::report::{PropertyReport, SearchEnd, SearchReport, Stopped, Verdict};
use fabius_task::settings::{Audit, Delaying, DepthBounding, Order, Settings, ThreadCount};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// A search that has a turn in the pauses of a main search.
struct SideSearch {
    /// What is asked for in place of what suits the property.
    ask: fn(Settings) -> Settings,
    /// Its work in the first pause, in per cent of what the main search has done: generous, since that is little.
    first_percent: u64,
    /// Whether it has a turn in the first pause, by where the main search is then.
    is_first: fn(&Progress) -> bool,
    /// Its work in the pause after that, and divided by the number of the pause in later ones: what many states did not show is
    /// ever less likely to lie near the start.
    later_percent: u64,
}

/// The searches that have a turn, in their order: long runs with few delays, short runs beside unbounded ones, shortest runs.
const SIDE_SEARCHES: [SideSearch; 3] = [
    SideSearch { ask: by_delays, first_percent: 15, is_first: |_| true, later_percent: 5 },
    SideSearch { ask: by_depth, first_percent: 60, is_first: is_deep, later_percent: 15 },
    SideSearch { ask: breadth_first, first_percent: 0, is_first: |_| false, later_percent: 10 },
];

/// A search for several invariants may do this much work at least for each of them.
const WORK_TOGETHER_MIN: u64 = 5_000;

/// Whether much of what was stored is one path: then what lies near the start may never be looked at.
fn is_deep(progress: &Progress) -> bool {
    progress.states <= DEEP_SHARE * progress.depth
}

/// A search is deep if its path has one in this many of its states.
const DEEP_SHARE: u64 = 4;

fn by_delays(settings: Settings) -> Settings {
    Settings { delaying: Some(Delaying { shows_shortest: true, ..Delaying::default() }), ..settings }
}

fn by_depth(settings: Settings) -> Settings {
    Settings { depth_bounding: Some(DepthBounding::default()), ..settings }
}

fn breadth_first(settings: Settings) -> Settings {
    Settings { search: Order::BreadthFirst, ..settings }
}

/// A property, and what is known of it so far.
pub(crate) struct Open<'a> {
    planned: &'a Planned,
    /// Its main search.
    choice: Choice,
    /// Turns were had in this many of the pauses.
    pauses_had: u32,
    /// The work of the last turn of each of the side searches.
    budgets: [Option<u64>; SIDE_SEARCHES.len()],
    /// What its main search did where it got furthest.
    main: Option<SearchReport>,
    /// What the searches did that had turns.
    turns: Vec<SearchReport>,
    /// What its main search left behind where it got furthest and was ended in a pause.
    furthest: Option<Checked>,
    /// It is decided, or all that may be done is done.
    over: Option<Checked>,
}

impl<'a> Open<'a> {
    /// Nothing is known yet.
    pub(crate) fn new(planned: &'a Planned, choice: Choice) -> Self {
        let budgets = [None; SIDE_SEARCHES.len()];
        Self { planned, choice, pauses_had: 0, budgets, main: None, turns: Vec::new(), furthest: None, over: None }
    }

    /// States that were stored in turns: a search that had several counts once.
    fn states_of_turns(&self) -> u64 {
        self.turns.iter().map(|search| search.states).sum()
    }

    /// Takes note of what the main search did, unless it did more before.
    fn note_main(&mut self, choice: &Choice, checked: &Checked, outcome: SearchEnd) {
        let did = searched(choice, checked, outcome);
        let known = self.main.take().filter(|known| did.states < known.states && outcome != SearchEnd::Violated);
        self.main = known.or(Some(did));
    }

    /// Takes note of what a search did in its turn; a later turn goes further.
    fn note_turn(&mut self, choice: &Choice, checked: &Checked, outcome: SearchEnd) {
        let did = searched(choice, checked, outcome);
        self.turns.retain(|known| known.strategy != did.strategy);
        self.turns.push(did);
    }
}

fn searched(choice: &Choice, checked: &Checked, outcome: SearchEnd) -> SearchReport {
    let PropertyReport { states, states_before, transitions, .. } = checked.report;
    // What it stored before it began anew with the reduction is its own work, too.
    let (states, transitions) = (states.max(states_before), transitions.max(states_before));
    SearchReport { strategy: choice.name().to_owned(), states, transitions, outcome }
}

/// A main search that runs.
struct Run<'c> {
    /// The number of its property.
    index: usize,
    /// It ends in this pause, if it has only a turn itself.
    last: Option<u32>,
    /// Its next pause.
    next: u32,
    meter: Meter,
    stop: &'c Cancel,
    /// Time in pauses, which does not count as its own.
    paused: &'c Cell<Duration>,
    /// Time for searches for other properties.
    lent: Duration,
    /// What a search with a turn decided.
    decided: Option<Checked>,
    /// It ended in its last pause.
    is_suspended: bool,
}

/// What a search has done so far, as its events tell.
#[derive(Default)]
struct Meter {
    /// Work of searches that began anew.
    before: u64,
    last: Progress,
    /// It looks for a first violation, not for more about one.
    is_at_work: bool,
}

impl Meter {
    /// Takes an event in; whether it says how far the search for a violation is.
    fn hear(&mut self, event: &Event) -> bool {
        match event {
            Event::Searching { goal, .. } => {
                self.before = self.work();
                self.last = Progress::default();
                self.is_at_work = *goal == Goal::Violation;
                false
            }
            Event::Progress { progress, .. } => {
                self.last = *progress;
                self.is_at_work
            }
            _ => false,
        }
    }

    fn work(&self) -> u64 {
        self.before + self.last.transitions.max(self.last.states)
    }
}

/// The searches of a check.
pub(crate) struct Portfolio<'a> {
    pub loaded: &'a Loaded,
    pub program: &'a Arc<Program>,
    pub settings: &'a Settings,
    /// The properties, in the order of the report.
    pub properties: Vec<Open<'a>>,
    /// Memory of main searches that pause.
    held_bytes: u64,
    /// Whether one search may prove several invariants.
    may_join: bool,
    /// What went wrong in Fabius itself in a search for several invariants.
    failure: Option<String>,
    /// In some pause, most of what was stored was one path.
    has_long_path: bool,
    /// The statements that some of the searches executed.
    executed: Executed,
    /// What there is to say of variables that only grow, once it was asked for.
    growth: Option<Vec<Finding>>,
}

impl<'a> Portfolio<'a> {
    /// The searches for what violates these properties.
    pub(crate) fn new(
        loaded: &'a Loaded,
        program: &'a Arc<Program>,
        settings: &'a Settings,
        properties: Vec<Open<'a>>,
    ) -> Self {
        let whatever_threads = Settings { threads: ThreadCount::default(), ..settings.clone() };
        let may_join = leaves_open(&whatever_threads) && settings.prune.is_none();
        Self {
            loaded,
            program,
            settings,
            properties,
            held_bytes: 0,
            may_join,
            failure: None,
            has_long_path: false,
            executed: Executed::default(),
            growth: None,
        }
    }

    /// Decides the properties as far as the limits go; what is known of each, in their order, and the statements that some of the
    /// searches executed.
    pub(crate) fn decide(mut self, context: &mut CheckContext<'_>) -> (Vec<Checked>, Executed) {
        for index in 0..self.properties.len() {
            if self.properties[index].over.is_none() {
                let (checked, _) = self.main_search(index, None, context);
                self.finish(index, checked, context);
            }
            self.prove_together(index, context);
        }
        let mut decided: Vec<Checked> = self.properties.into_iter().filter_map(|property| property.over).collect();
        if let Some(last) = decided.last_mut() {
            last.failure = last.failure.take().or(self.failure);
        }
        (decided, self.executed)
    }

    /// After a proof of safety or of an invariant, proves the invariants that are open by one search, if that is no more work than one
    /// search for each would be, judged by that proof.
    fn prove_together(&mut self, index: usize, outer: &mut CheckContext<'_>) {
        let invariant = |at: usize| {
            let Open { planned, choice, .. } = &self.properties[at];
            Invariant::of(self.program, at, planned, choice)
        };
        let property = &self.properties[index];
        let is_like_them = property.planned.question == Question::Safety || invariant(index).is_some();
        let report = property.over.as_ref().map(|checked| &checked.report);
        let proved = report.filter(|report| is_like_them && report.verdict == Verdict::Holds && report.exhaustive);
        let Some(each) = proved.filter(|_| self.may_join).map(|report| report.transitions.max(WORK_TOGETHER_MIN))
        else {
            return;
        };
        let open = (0..self.properties.len()).filter(|&at| self.properties[at].over.is_none());
        let mut group: Vec<Invariant<'_>> = open.filter_map(invariant).collect();
        let mut work_left = each.saturating_mul(group.len() as u64);
        while 1 < group.len() && 0 < work_left && outer.cancel.requested().is_none() {
            let mut choice = self.properties[group[0].index].choice.clone();
            let now = (outer.now)();
            // If it fails, there is time left for each of them.
            choice.settings.until =
                self.share(now).map(|until| now.saturating_add((until - now).saturating_mul(group.len() as u32) / 2));
            choice.settings.limits = outer.in_force(self.beside(choice.settings.limits));
            let (together, work) = self.search_together(&group, &choice, work_left, outer);
            work_left = work_left.saturating_sub(work);
            match together {
                Together::Proved(all) => {
                    for (one, mut checked) in group.iter().zip(all) {
                        checked.describe(&choice, self.program, one.planned);
                        self.finish(one.index, checked, outer);
                    }
                    return;
                }
                Together::Others(others) => group.retain(|one| others.contains(&one.index)),
                Together::Undecided => break,
                Together::Failed(why) => {
                    self.failure = Some(why);
                    break;
                }
            }
        }
        // What was more work than one search for each is not tried again.
        self.may_join = group.len() < 2;
    }

    /// Looks for what violates any of these invariants, with no more than this work; what came of it, and the work.
    fn search_together(
        &self,
        group: &[Invariant<'_>],
        choice: &Choice,
        work_max: u64,
        outer: &mut CheckContext<'_>,
    ) -> (Together, u64) {
        let (now, controls, stop) = (outer.now, outer.controls, outer.cancel.part());
        let mut meter = Meter::default();
        let mut observe = |event: Event| {
            if meter.hear(&event) && work_max <= meter.work() {
                stop.cancel();
            }
            (outer.observe)(event);
        };
        let mut context = CheckContext { cancel: &stop, now, observe: &mut observe, controls };
        let together = together::prove(self.loaded, self.program, group, choice, &mut context);
        (together, meter.work())
    }

    /// Runs the main search of a property, from its beginning to its end or to the end of a pause. What is known then, and whether
    /// that is all that can be known.
    fn main_search(&mut self, index: usize, last: Option<u32>, outer: &mut CheckContext<'_>) -> (Checked, bool) {
        let planned = self.properties[index].planned;
        let mut choice = self.properties[index].choice.clone();
        choice.settings.until = self.share((outer.now)());
        choice.settings.limits = self.beside(choice.settings.limits);
        let (loaded, program, now, controls) = (self.loaded, self.program, outer.now, outer.controls);
        choice.settings.limits = outer.in_force(choice.settings.limits);
        let (stop, paused) = (outer.cancel.part(), Cell::new(Duration::ZERO));
        let mut run = Run {
            index,
            last,
            next: 0,
            meter: Meter::default(),
            stop: &stop,
            paused: &paused,
            lent: Duration::ZERO,
            decided: None,
            is_suspended: false,
        };
        let may_pause = leaves_open(self.settings);
        let mut observe = |event: Event| {
            let at_work = run.meter.hear(&event);
            (outer.observe)(event);
            if at_work && may_pause {
                self.go_on_or_pause(&mut run, choice.settings.until, outer);
            }
        };
        let now = || now().saturating_sub(paused.get());
        let mut context = CheckContext { cancel: &stop, now: &now, observe: &mut observe, controls };
        let mut checked = search(loaded, program, planned, &choice, &mut context);
        checked.describe(&choice, program, planned);
        self.executed.extend(std::mem::take(&mut checked.executed));
        let property = &mut self.properties[index];
        if let Some(mut decided) = run.decided {
            property.note_main(&choice, &checked, SearchEnd::Superseded);
            decided.failure = decided.failure.or(checked.failure);
            return (decided, true);
        }
        property.note_main(&choice, &checked, end_of(&checked, run.is_suspended));
        // Alone, it may have more time and memory.
        let is_short =
            [Stopped::Cancelled, Stopped::Timeout, Stopped::Memory].map(Some).contains(&checked.report.stopped);
        let is_over = checked.failure.is_some() || !(run.is_suspended || last.is_some() && is_short);
        (checked, is_over)
    }

    /// Ends a main search that has used up what it may use, or lets it pause if that is due.
    fn go_on_or_pause(&mut self, run: &mut Run<'_>, until: Option<Duration>, outer: &mut CheckContext<'_>) {
        let now = (outer.now)();
        let states = run.meter.last.states + self.properties[run.index].states_of_turns();
        if self.settings.until.is_some_and(|until| until <= now) || until.is_some_and(|until| until + run.lent <= now) {
            return run.stop.time_out();
        }
        let limits = outer.controls.and_then(Controls::limits).unwrap_or(self.settings.limits);
        if limits.states_max.is_some_and(|max| max <= states) && states != run.meter.last.states {
            return run.stop.too_many_states();
        }
        let pauses = self.settings.pauses;
        let mut due = None;
        while run.last.is_none_or(|last| run.next <= last) && pauses.work(run.next) <= run.meter.work() {
            due = Some(run.next);
            run.next += 1;
        }
        if let Some(pause) = due {
            self.pause(pause, run, outer);
        }
    }

    /// Lets others have their turns.
    fn pause(&mut self, pause: u32, run: &mut Run<'_>, outer: &mut CheckContext<'_>) {
        let began = (outer.now)();
        let held = run.meter.last.memory_bytes;
        self.held_bytes += held;
        if self.properties[run.index].pauses_had <= pause {
            self.properties[run.index].pauses_had = pause + 1;
            run.decided = self.turns(pause, run, outer);
            let Progress { states, depth, .. } = run.meter.last;
            self.has_long_path |= 0 < pause && states <= 2 * depth;
            // One that is as long as that does not end soon; sooner it is not worth the time.
            if 1 < pause && run.decided.is_none() {
                self.look_for_growth(outer.cancel);
            }
        }
        if run.decided.is_some() || run.last == Some(pause) {
            run.is_suspended = run.decided.is_none();
            run.stop.cancel();
        } else {
            let began = (outer.now)();
            // The others begin anew later: with less work than was done here, little is done twice.
            if let (None, Some(before)) = (run.last, pause.checked_sub(1)) {
                self.other_properties(run.index, before, outer);
            }
            run.lent += (outer.now)() - began;
            let property = self.properties[run.index].planned.name.clone();
            (outer.observe)(Event::Searching { property, goal: Goal::Violation });
        }
        self.held_bytes -= held;
        run.paused.set(run.paused.get() + ((outer.now)() - began));
    }

    /// Looks for values that only grow, where a path is long and nobody has looked yet.
    fn look_for_growth(&mut self, cancel: &Cancel) {
        if self.has_long_path && self.growth.is_none() && cancel.requested().is_none() {
            self.growth = Some(growth(self.program, cancel));
        }
    }

    /// Lets the main searches of the other properties that are open go on to a pause.
    fn other_properties(&mut self, index: usize, pause: u32, outer: &mut CheckContext<'_>) {
        for other in 0..self.properties.len() {
            if other == index || self.properties[other].over.is_some() || outer.cancel.requested().is_some() {
                continue;
            }
            let (checked, is_over) = self.main_search(other, Some(pause), outer);
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

    /// Lets the searches that fail differently have their turns; what they decided.
    fn turns(&mut self, pause: u32, run: &Run<'_>, outer: &mut CheckContext<'_>) -> Option<Checked> {
        let work = self.settings.pauses.work(pause);
        for (index, side) in SIDE_SEARCHES.iter().enumerate() {
            if pause == 0 && !(side.is_first)(&run.meter.last) {
                continue;
            }
            let budget = match pause {
                0 => work.saturating_mul(side.first_percent) / 100,
                _ => work.saturating_mul(side.later_percent) / (100 * u64::from(pause)),
            };
            let last = &mut self.properties[run.index].budgets[index];
            // With hardly more work than before, it would hardly see more.
            if last.is_none_or(|last| last.saturating_mul(2) <= budget) {
                *last = Some(budget);
                let decided = self.turn(side, budget, run, outer);
                if decided.is_some() {
                    return decided;
                }
            }
        }
        None
    }

    /// Runs a search within a budget; what it decided.
    fn turn(&mut self, side: &SideSearch, budget: u64, run: &Run<'_>, outer: &mut CheckContext<'_>) -> Option<Checked> {
        let property = &self.properties[run.index];
        let planned = property.planned;
        let mut settings = (side.ask)(Settings { until: self.share((outer.now)()), ..self.settings.question_only() });
        settings.limits = outer.in_force(self.beside(self.settings.limits));
        let stored = run.meter.last.states + property.states_of_turns();
        settings.limits.states_max = settings.limits.states_max.map(|max| max.saturating_sub(stored));
        let asked = Asked::of(planned, &settings);
        let as_audited = choose(&asked, &Settings { audit: self.settings.audit, ..settings.clone() });
        let as_audited = as_audited.filter(|choice| choice.set_aside.is_empty());
        // A search whose proofs cannot be audited as asked still finds violations.
        let proves = as_audited.is_some();
        let choice = as_audited.or_else(|| choose(&asked, &settings))?;
        let is_another = choice.set_aside.is_empty() && choice.name() != property.choice.name();
        // Where the text forbids delays, their order does not lead to every run.
        let is_sealed = settings.delaying.is_some() && self.loaded.is_sealed();
        if !is_another || is_sealed || outer.cancel.requested().is_some() || settings.limits.states_max == Some(0) {
            return None;
        }
        let (now, controls, stop) = (outer.now, outer.controls, outer.cancel.part());
        let (mut meter, mut is_over) = (Meter::default(), true);
        let may_ignore_depth = !choice.heeds_depth();
        let mut observe = |event: Event| {
            let is_unfit = || may_ignore_depth && outer.in_force(Limits::default()).depth_max.is_some();
            if meter.hear(&event) && (budget <= meter.work() || is_unfit()) {
                is_over = false;
                stop.cancel();
            }
            // Rounds are told of main searches only: whoever listens takes them for those of that one.
            if !matches!(event, Event::Round { .. }) {
                (outer.observe)(event);
            }
        };
        let mut context = CheckContext { cancel: &stop, now, observe: &mut observe, controls };
        let mut checked = search(self.loaded, self.program, planned, &choice, &mut context);
        checked.describe(&choice, self.program, planned);
        self.executed.extend(std::mem::take(&mut checked.executed));
        let decided = match checked.report.verdict {
            Verdict::Violated => true,
            Verdict::Holds => proves,
            Verdict::Undecided | Verdict::Faulty => false,
        } || checked.failure.is_some();
        self.properties[run.index].note_turn(&choice, &checked, end_of(&checked, !is_over));
        decided.then_some(checked)
    }

    /// Ends the search for what violates a property, and tells of it.
    fn finish(&mut self, index: usize, checked: Checked, context: &mut CheckContext<'_>) {
        if checked.report.verdict == Verdict::Undecided {
            self.look_for_growth(context.cancel);
        }
        let limits = self.beside(self.settings.limits);
        let property = &mut self.properties[index];
        let mut checked = match property.furthest.take() {
            Some(furthest) if is_further(&furthest, &checked) => ended_like(furthest, &checked),
            _ => checked,
        };
        if self.settings.schedule && property.planned.question == Question::Safety {
            let settings = Settings { limits, ..self.settings.clone() };
            let added = add_schedule(&mut checked.report, self.loaded, &settings, context);
            checked.failure = checked.failure.take().or(added.err());
        }
        let named = context.named(self.settings.limits);
        checked.report.reason = checked.reason.sentence(&named);
        let strategy = checked.report.strategy.as_mut().filter(|_| checked.report.stopped == Some(Stopped::Depth));
        strategy.into_iter().for_each(|strategy| strategy.max_depth = named.depth_max);
        checked.report.expected = self.loaded.expected(&property.planned.name);
        if checked.report.verdict == Verdict::Undecided {
            // It is told once for all properties.
            checked.findings.extend(self.growth.iter_mut().flat_map(|growth| growth.drain(..)));
        }
        if !property.turns.is_empty() {
            checked.report.tried = property.main.iter().chain(&property.turns).cloned().collect();
        }
        (context.observe)(Event::PropertyDone { property: Box::new(checked.report.clone()) });
        property.over = Some(checked);
    }

    /// Until when the next search may go on: each property that is open has its share of the time that is left.
    fn share(&self, now: Duration) -> Option<Duration> {
        let open = self.properties.iter().filter(|property| property.over.is_none()).count();
        self.settings.until.map(|until| now + until.saturating_sub(now) / open.max(1) as u32)
    }

    /// What a search may use beside those that pause.
    fn beside(&self, limits: Limits) -> Limits {
        let memory_bytes_max = limits.memory_bytes_max.map(|max| max.saturating_sub(self.held_bytes));
        Limits { memory_bytes_max, ..limits }
    }
}

/// Whether somebody who chose these settings leaves it open which searches run.
fn leaves_open(settings: &Settings) -> bool {
    // An order that only serves to find a violation soon is as good as none.
    let delaying = settings.delaying.clone().filter(|delaying| !delaying.shows_shortest);
    let limits = Limits { depth_max: None, ..settings.limits };
    // How a proof is audited does not say by which search it is found.
    Settings { delaying, limits, audit: Audit::default(), ..settings.clone() }.options().is_empty()
}

/// How a search ended.
fn end_of(checked: &Checked, by_budget: bool) -> SearchEnd {
    match checked.report.verdict {
        Verdict::Holds => SearchEnd::Holds,
        Verdict::Violated => SearchEnd::Violated,
        Verdict::Undecided | Verdict::Faulty if by_budget => SearchEnd::Budget,
        Verdict::Undecided | Verdict::Faulty => SearchEnd::Stopped,
    }
}

/// Whether a search that was ended in a pause saw more than the one that ended last, which decided nothing.
fn is_further(furthest: &Checked, last: &Checked) -> bool {
    let is_open = last.report.verdict == Verdict::Undecided && last.failure.is_none();
    is_open && last.report.states < furthest.report.states
}

/// What the search that got furthest left behind, with what ended the last one.
fn ended_like(furthest: Checked, last: &Checked) -> Checked {
    let mut checked = furthest;
    checked.report.stopped = last.report.stopped;
    checked.reason = checked.reason.ended_like(&last.reason);
    checked
}
