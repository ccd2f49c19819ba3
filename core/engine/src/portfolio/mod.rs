//! Which searches a check runs, in which order, and with how much work, where nobody chose a search.
//!
//! For each property, the search that suits it (its *main search*) goes on until it ends. It pauses now and then and keeps its visited
//! set: in a pause, searches that fail differently have a short turn each ([`SIDE_SEARCHES`]), and so have the main searches of the other
//! properties that are open. Whatever decides a property ends its turn. Work is counted in transitions, so what happens does not
//! depend on how fast the machine is.
//!
//! In the first pause of all, each other property has a first look ([`first_looks`]): where many are violated soon, none waits for the
//! others.
//!
//! A search goes on in its next turn from where it was, in a thread of its own that waits meanwhile ([`Waiting`]). Those begin anew that
//! did so little that the thread would take as long, those that did so much that they may have several threads and hold much memory, and
//! all where memory is short or the system gives no thread; since pauses become ever rarer and the turns ever smaller beside them,
//! little is done twice. A main search that ends before its first pause is the whole check of its property.
//!
//! What a search found is confirmed, and shorter runs are looked for, while the searches for other properties go on ([`Beside`]); what is
//! left of that once they are over is done by all threads.
//!
//! After a proof of safety or of an invariant, one search looks for what violates any of the invariants that are open
//! ([`together`]); it does not pause, since it may do no more work than their own searches would.

mod beside;
mod first_looks;
mod mains;
mod meter;
mod turns;
mod waiting;

use crate::executed::Executed;
use crate::prepared::{Bases, Prepared};
use crate::schedule::add_schedule;
use crate::task::Checked;
use crate::together::{self, Invariant, Together};
use beside::{Beside, FromOutside, Told};
use fabius_base::{Finding, Limits};
use fabius_observe::{CheckContext, Event, Goal};
use fabius_program::Program;
use fabius_strategy::Choice;
use fabius_task::load::Loaded;
use fabius_task::plan::{Planned, Question};
use fabius_task::report::{PropertyReport, SearchEnd, SearchReport, Stopped, Verdict};
use fabius_task::settings::{Audit, Settings, ThreadCount};
use mains::contradiction;
use meter::Meter;
use std::sync::Arc;
use std::thread::{Scope, scope};
use std::time::Duration;
use turns::{SIDE_SEARCHES, Side};
use waiting::{Role, Waiting};

/// A search for several invariants may do this much work at least for each of them.
const WORK_TOGETHER_MIN: u64 = 5_000;

/// A property, and what is known of it so far.
pub(crate) struct Open<'a> {
    planned: &'a Planned,
    /// What searches for it begin with.
    prepared: Arc<Prepared>,
    /// Its main search.
    choice: Choice,
    /// States that its first looks stored, once there is no need for any more.
    looked_at: Option<u64>,
    /// Turns were had in this many of the pauses.
    pauses_had: u32,
    /// The turns of each of the side searches.
    sides: [Side; SIDE_SEARCHES.len()],
    /// Its main search, if that has begun and waits for its next turn.
    waiting: Option<Waiting>,
    /// What its main search did where it got furthest.
    main: Option<SearchReport>,
    /// What the searches did that had turns, and how many states each stored, with those from before it began anew.
    turns: Vec<(SearchReport, u64)>,
    /// What its main search left behind where it got furthest and was ended in a pause.
    furthest: Option<Checked>,
    /// A violation was found, and another thread confirms it.
    is_handed_over: bool,
    /// It is decided, or all that may be done is done.
    over: Option<Checked>,
}

impl<'a> Open<'a> {
    /// Nothing is known yet.
    pub(crate) fn new(planned: &'a Planned, choice: Choice, bases: &Arc<Bases>) -> Self {
        let sides = Default::default();
        let (main, turns, furthest, is_handed_over, over) = (None, Vec::new(), None, false, None);
        let prepared = Arc::new(Prepared::on(bases));
        Self {
            planned,
            prepared,
            choice,
            looked_at: None,
            pauses_had: 0,
            sides,
            waiting: None,
            main,
            turns,
            furthest,
            is_handed_over,
            over,
        }
    }

    /// The property, and what searches for it begin with.
    fn asked(&self) -> (&'a Planned, Arc<Prepared>) {
        (self.planned, Arc::clone(&self.prepared))
    }

    /// Whether it is undecided, and searches for it may go on.
    fn is_open(&self) -> bool {
        self.over.is_none() && !self.is_handed_over
    }

    /// States that were stored in turns: a search that had several counts once.
    fn states_of_turns(&self) -> u64 {
        let waiting = self.sides.iter().filter_map(|side| side.waiting.as_ref());
        let of_waiting: u64 = waiting.map(|search| search.meter.last.states).sum();
        self.looked_at.unwrap_or_default() + of_waiting + self.turns.iter().map(|&(_, stored)| stored).sum::<u64>()
    }

    /// The searches for it that wait.
    fn all_waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().chain(self.sides.iter().filter_map(|side| side.waiting.as_ref()))
    }

    /// Takes note of what the main search did, unless it did more before and decides nothing now.
    fn note_main(&mut self, choice: &Choice, checked: &Checked, outcome: SearchEnd) {
        let did = searched(choice, checked, outcome);
        let decides = matches!(outcome, SearchEnd::Holds | SearchEnd::Violated);
        let known = self.main.take().filter(|known| did.states < known.states && !decides);
        self.main = known.or(Some(did));
    }

    /// Takes note of what a search did in its turn; a later turn goes further.
    fn note_turn(&mut self, choice: &Choice, checked: &Checked, outcome: SearchEnd) {
        let did = searched(choice, checked, outcome);
        let stored = did.states.max(checked.report.states_before);
        self.turns.retain(|(known, _)| known.strategy != did.strategy);
        self.turns.push((did, stored));
    }
}

fn searched(choice: &Choice, checked: &Checked, outcome: SearchEnd) -> SearchReport {
    let PropertyReport { states, transitions, .. } = checked.report;
    SearchReport { strategy: checked.algorithm(choice).to_owned(), states, transitions, outcome }
}

/// Decides the properties as far as the limits go; what is known of each, in their order, and the statements that some of the
/// searches executed.
pub(crate) fn decide(
    loaded: &Loaded,
    program: &Arc<Program>,
    settings: &Settings,
    properties: Vec<Open<'_>>,
    context: &mut CheckContext<'_>,
) -> (Vec<Checked>, Executed) {
    let from_outside = (context.cancel.clone(), context.now, context.controls);
    scope(|scope| Portfolio::new(loaded, program, settings, properties, (scope, from_outside)).decide(context))
}

/// The searches of a check.
struct Portfolio<'s, 'a> {
    loaded: &'a Loaded,
    program: &'a Arc<Program>,
    settings: &'a Settings,
    /// The threads of the check belong to it.
    scope: &'s Scope<'s, 'a>,
    from_outside: FromOutside<'a>,
    /// The properties, in the order of the report.
    properties: Vec<Open<'a>>,
    /// Confirms what is found while other searches go on, if more than one thread may work.
    beside: Option<Beside<'s, 'a>>,
    /// Memory of main searches that pause.
    held_bytes: u64,
    /// Searches may pause, so that others have their turns.
    may_pause: bool,
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

impl<'s, 'a> Portfolio<'s, 'a> {
    /// The searches for what violates these properties.
    fn new(
        loaded: &'a Loaded,
        program: &'a Arc<Program>,
        settings: &'a Settings,
        properties: Vec<Open<'a>>,
        (scope, from_outside): (&'s Scope<'s, 'a>, FromOutside<'a>),
    ) -> Self {
        let may_beside = 1 < properties.len() && 1 < settings.threads.most();
        let beside =
            may_beside.then(|| Beside::new(scope, from_outside.clone(), (loaded, program, settings))).flatten();
        let whatever_threads = Settings { threads: ThreadCount::default(), ..settings.clone() };
        let may_join = leaves_open(&whatever_threads) && settings.prune.is_none();
        Self {
            loaded,
            program,
            settings,
            scope,
            from_outside,
            properties,
            beside,
            held_bytes: 0,
            may_pause: leaves_open(settings),
            may_join,
            failure: None,
            has_long_path: false,
            executed: Executed::default(),
            growth: None,
        }
    }

    /// See [`decide`].
    fn decide(mut self, context: &mut CheckContext<'_>) -> (Vec<Checked>, Executed) {
        for index in 0..self.properties.len() {
            if self.properties[index].is_open() {
                let ended = self.main_search(index, None, context);
                ended.into_iter().for_each(|(checked, _)| self.finish(index, checked, context));
            }
            self.prove_together(index, context);
        }
        self.wait_for_beside(context);
        let mut decided: Vec<Checked> = self.properties.into_iter().filter_map(|property| property.over).collect();
        if let Some(last) = decided.last_mut() {
            last.failure = last.failure.take().or(self.failure);
        }
        (decided, self.executed)
    }

    /// After a proof of safety or of an invariant, proves the invariants that are open by one search, if that is no more work than one
    /// search for each would be, judged by that proof.
    fn prove_together(&mut self, index: usize, outer: &mut CheckContext<'_>) {
        let (program, properties) = (self.program, &self.properties);
        let invariant = |at: usize| Invariant::of(program, at, properties[at].planned, &properties[at].choice);
        let property = &self.properties[index];
        let is_like_them = property.planned.question == Question::Safety || invariant(index).is_some();
        let report = property.over.as_ref().map(|checked| &checked.report);
        let proved = report.filter(|report| is_like_them && report.verdict == Verdict::Holds && report.exhaustive);
        let Some(each) = proved.filter(|_| self.may_join).map(|report| report.transitions.max(WORK_TOGETHER_MIN))
        else {
            return;
        };
        let open = (0..self.properties.len()).filter(|&at| self.properties[at].is_open());
        let mut group: Vec<Invariant<'a>> = open.filter_map(invariant).collect();
        let mut work_left = each.saturating_mul(group.len() as u64);
        while 1 < group.len() && 0 < work_left && outer.cancel.requested().is_none() {
            let mut choice = self.properties[group[0].index].choice.clone();
            let now = (outer.now)();
            // If it fails, there is time left for each of them.
            choice.settings.until =
                self.share(now).map(|until| now.saturating_add((until - now).saturating_mul(group.len() as u32) / 2));
            choice.settings.limits = outer.in_force(self.left_of(choice.settings.limits));
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
        &mut self,
        group: &[Invariant<'_>],
        choice: &Choice,
        work_max: u64,
        outer: &mut CheckContext<'_>,
    ) -> (Together, u64) {
        let (loaded, program) = (self.loaded, self.program);
        let prepared = self.properties[group[0].index].prepared.anew();
        let (now, controls, stop) = (outer.now, outer.controls, outer.cancel.part());
        let mut meter = Meter::default();
        let mut observe = |event: Event| {
            if meter.hear(&event) && work_max <= meter.work() {
                stop.cancel();
            }
            (outer.observe)(event);
            self.hear_beside(outer);
        };
        let mut context = CheckContext { cancel: &stop, now, observe: &mut observe, controls };
        let together = together::prove(loaded, program, group, (choice, &prepared), &mut context);
        (together, meter.work())
    }

    /// Whether what is found for this property can be confirmed while searches for others go on.
    fn confirms_beside(&self, index: usize) -> bool {
        let is_another = |(at, property): (usize, &Open<'_>)| at != index && property.is_open();
        self.beside.is_some() && self.properties.iter().enumerate().any(is_another)
    }

    /// Confirms what a search found, unless that can be done while other searches go on.
    fn confirm_unless_beside(&self, index: usize, checked: &mut Checked, context: &mut CheckContext<'_>) {
        if !self.confirms_beside(index) {
            checked.confirm_found(self.loaded, self.program, self.properties[index].planned, context);
        }
    }

    /// Listens to the thread that confirms what was found, without waiting for it.
    fn hear_beside(&mut self, context: &mut CheckContext<'_>) {
        while let Some(told) = self.beside.as_mut().and_then(Beside::hear) {
            // How far it is would be taken for how far the search is that goes on.
            if progress_of(&told).is_none() {
                self.hear(told, context);
            }
        }
    }

    /// Waits until everything is confirmed that was found.
    fn wait_for_beside(&mut self, context: &mut CheckContext<'_>) {
        self.hear_beside(context);
        self.beside.iter_mut().for_each(Beside::no_search_goes_on);
        let mut named = None;
        while let Some(index) = self.beside.as_ref().and_then(Beside::first_waiting) {
            let planned = self.properties[index].planned;
            let property = &planned.name;
            if named.replace(index) != Some(index) {
                (context.observe)(Event::Searching { property: property.clone(), goal: Goal::ShorterRun });
            }
            let Some(told) = self.beside.as_mut().map(Beside::wait) else { break };
            // Of several that go on at the same time, one tells how far it is.
            if progress_of(&told).is_none_or(|of| of == property) {
                self.hear(told, context);
            }
        }
    }

    fn hear(&mut self, told: Told, context: &mut CheckContext<'_>) {
        match told {
            Told::Event(event) => (context.observe)(*event),
            Told::Confirmed(index, checked) => self.conclude(index, *checked, context),
            Told::Panicked(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Ends the search for what violates a property. What was found may be confirmed while others go on.
    fn finish(&mut self, index: usize, checked: Checked, context: &mut CheckContext<'_>) {
        let property = &mut self.properties[index];
        let mut checked = match property.furthest.take() {
            Some(furthest) if is_further(&furthest, &checked) => ended_like(furthest, &checked),
            _ => checked,
        };
        self.end_waiting(index, &mut checked);
        let property = &mut self.properties[index];
        let planned = property.planned;
        if checked.unconfirmed.is_some()
            && let Some(beside) = &mut self.beside
        {
            match beside.confirm(index, planned, checked) {
                Ok(()) => {
                    self.properties[index].is_handed_over = true;
                    let property = planned.name.clone();
                    return (context.observe)(Event::Searching { property, goal: Goal::ShorterRun });
                }
                Err(here) => checked = *here,
            }
        }
        checked.confirm_found(self.loaded, self.program, planned, context);
        if checked.report.verdict == Verdict::Undecided {
            self.look_for_growth(context.cancel);
        }
        let limits = self.left_of(self.settings.limits);
        schedule(&mut checked, self.loaded, (planned, &Settings { limits, ..self.settings.clone() }), context);
        self.conclude(index, checked, context);
    }

    /// Ends the searches for a property that wait, and takes note of what they did: it is decided, or all is done that may be done.
    fn end_waiting(&mut self, index: usize, checked: &mut Checked) {
        let property = &mut self.properties[index];
        let sides = property.sides.iter_mut().filter_map(|side| side.waiting.take());
        let waiting: Vec<Waiting> = property.waiting.take().into_iter().chain(sides).collect();
        property.prepared = Arc::new(property.prepared.anew());
        for search in waiting {
            let (choice, role) = (search.choice.clone(), search.role);
            let Some(mut ended) = search.end() else { continue };
            self.executed.extend(std::mem::take(&mut ended.executed));
            let end = end_of(&ended, true);
            match role {
                Role::Main => property.note_main(&choice, &ended, end),
                Role::Side { .. } => property.note_turn(&choice, &ended, end),
            }
            checked.failure = checked.failure.take().or(ended.failure.take());
            if ended.report.verdict == Verdict::Violated && checked.report.verdict != Verdict::Violated {
                ended.failure = checked.failure.take().or_else(|| contradiction(checked));
                *checked = *ended;
            }
        }
    }

    /// Tells of a property whose search is over and whose violations are confirmed.
    fn conclude(&mut self, index: usize, mut checked: Checked, context: &mut CheckContext<'_>) {
        self.executed.extend(std::mem::take(&mut checked.executed));
        let property = &mut self.properties[index];
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
            checked.report.tried =
                property.main.iter().chain(property.turns.iter().map(|(did, _)| did)).cloned().collect();
        }
        (context.observe)(Event::PropertyDone { property: Box::new(checked.report.clone()) });
        property.over = Some(checked);
    }

    /// Until when the next search may go on: each property that is open has its share of the time that is left.
    fn share(&self, now: Duration) -> Option<Duration> {
        let open = self.properties.iter().filter(|property| property.is_open()).count();
        self.settings.until.map(|until| now + until.saturating_sub(now) / open.max(1) as u32)
    }

    /// The memory that is set aside for searches that wait, and for the thread that confirms what was found.
    fn set_aside(&self) -> u64 {
        let for_beside = self.beside.as_ref().and_then(Beside::memory_bytes_max);
        for_beside.unwrap_or_default() + self.waiting_bytes_max().unwrap_or_default()
    }

    /// What a search may use beside those that pause, and beside the thread that confirms what was found.
    fn left_of(&self, limits: Limits) -> Limits {
        let used = self.held_bytes + self.set_aside();
        let memory_bytes_max = limits.memory_bytes_max.map(|max| max.saturating_sub(used));
        Limits { memory_bytes_max, ..limits }
    }
}

/// The property of a search, if this only tells that it goes on.
fn progress_of(told: &Told) -> Option<&str> {
    let Told::Event(event) = told else { return None };
    match &**event {
        Event::Searching { property, .. } | Event::Progress { property, .. } => Some(property),
        _ => None,
    }
}

/// Says under which scheduling a model is safe, where that is asked for and may be of use.
fn schedule(
    checked: &mut Checked,
    loaded: &Loaded,
    (planned, settings): (&Planned, &Settings),
    context: &mut CheckContext<'_>,
) {
    if settings.schedule && planned.question == Question::Safety {
        let added = add_schedule(&mut checked.report, loaded, settings, context);
        checked.failure = checked.failure.take().or(added.err());
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
