//! The turns that searches have in the pauses of a main search.

use super::mains::Run;
use super::waiting::{Role, Task, Turn, Waiting};
use super::{Portfolio, end_of};
use crate::task::Checked;
use fabius_observe::{CheckContext, Progress};
use fabius_strategy::{Asked, Choice, choose};
use fabius_task::report::Verdict;
use fabius_task::settings::{Delaying, DepthBounding, Order, Pauses, Settings};

/// A search that has a turn in the pauses of a main search.
pub(super) struct SideSearch {
    /// What is asked for in place of what suits the property.
    ask: fn(Settings) -> Settings,
    /// Its work in early pauses but the last, in per cent of what the main search has done. A transition costs it up to three times as
    /// much, and many a main search is over soon after.
    early_percent: u64,
    /// The same in the last early pause: generous, since most searches are over by then.
    middle_percent: u64,
    /// Whether it has a turn in an early pause, by where the main search is then.
    is_early: fn(&Progress) -> bool,
    /// Its work in the pause after those, and divided by 2, 3, … in later ones: what many states did not show is ever less likely
    /// to lie near the start.
    later_percent: u64,
}

/// The searches that have a turn, in their order: long runs with few delays, short runs beside unbounded ones, shortest runs.
pub(super) const SIDE_SEARCHES: [SideSearch; 3] = [
    SideSearch { ask: by_delays, early_percent: 11, middle_percent: 15, is_early: |_| true, later_percent: 5 },
    SideSearch { ask: by_depth, early_percent: 30, middle_percent: 60, is_early: is_deep, later_percent: 15 },
    SideSearch { ask: breadth_first, early_percent: 0, middle_percent: 0, is_early: |_| false, later_percent: 10 },
];

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

/// The turns of a side search for a property.
#[derive(Default)]
pub(super) struct Side {
    /// Its work by the end of its last turn.
    work: Option<u64>,
    /// It goes on in its next turn, if it waits.
    pub(super) waiting: Option<Waiting>,
    /// It has nothing more to do.
    is_over: bool,
}

impl Side {
    /// Whether a turn with this much work in all would see more than those before, and is no shorter than a turn may be.
    fn is_worth(&self, work: u64, shortest: u64) -> bool {
        let done = match (&self.waiting, self.work) {
            (Some(search), _) => search.meter.work(),
            // It begins anew, and would hardly see more with hardly more work.
            (None, Some(last)) => last.saturating_mul(2).saturating_sub(1),
            (None, None) => 0,
        };
        !self.is_over && done < work && shortest <= work
    }
}

/// What a side search left behind.
struct SideEnded {
    choice: Choice,
    role: Role,
    checked: Checked,
    /// It ended before its turn did.
    is_over: bool,
}

impl<'a> Portfolio<'_, 'a> {
    /// Lets the searches that fail differently have their turns; what they decided.
    pub(super) fn turns(&mut self, pause: u32, run: &Run, outer: &mut CheckContext<'_>) -> Option<Checked> {
        let Pauses { early, shortest_turn, .. } = self.settings.pauses;
        let done = self.settings.pauses.work(pause);
        for (at, side) in SIDE_SEARCHES.iter().enumerate() {
            if pause < early && !(side.is_early)(&run.meter.last) {
                continue;
            }
            let work = match pause.checked_sub(early) {
                None if pause + 1 < early => done.saturating_mul(side.early_percent).div_ceil(100),
                None => done.saturating_mul(side.middle_percent).div_ceil(100),
                Some(later) => done.saturating_mul(side.later_percent).div_ceil(100 * (1 + u64::from(later))),
            };
            if self.properties[run.index].sides[at].is_worth(work, shortest_turn) {
                self.properties[run.index].sides[at].work = Some(work);
                let decided = self.turn((at, side), work, run, outer);
                if decided.is_some() {
                    return decided;
                }
            }
        }
        None
    }

    /// Lets a search go on until it has done this much work; what it decided.
    fn turn(
        &mut self,
        (at, side): (usize, &SideSearch),
        work: u64,
        run: &Run,
        outer: &mut CheckContext<'_>,
    ) -> Option<Checked> {
        let index = run.index;
        let waiting = self.properties[index].sides[at].waiting.take();
        let states_beside = run.meter.last.states + self.properties[index].states_of_turns();
        let turn = self.turn_until(self.share((outer.now)()), work, states_beside);
        let ended = match waiting {
            Some(search) => self.side_in_turns((index, at), search, turn, outer)?,
            None => {
                let task = self.side_task(side, run, outer)?;
                let is_long = self.settings.pauses.kept_from <= work;
                match is_long.then(|| self.begin(&task)).flatten() {
                    Some(search) => self.side_in_turns((index, at), search, turn, outer)?,
                    None => self.side_at_once(task, turn, outer),
                }
            }
        };
        let SideEnded { choice, role, mut checked, is_over } = ended;
        self.executed.extend(std::mem::take(&mut checked.executed));
        self.confirm_unless_beside(index, &mut checked, outer);
        let decided = match checked.report.verdict {
            Verdict::Violated => true,
            Verdict::Holds => role == Role::Side { proves: true },
            Verdict::Undecided | Verdict::Faulty => false,
        } || checked.failure.is_some();
        let property = &mut self.properties[index];
        property.sides[at].is_over = is_over && checked.report.stopped.is_none();
        property.note_turn(&choice, &checked, end_of(&checked, !is_over));
        decided.then_some(checked)
    }

    /// Lets a side search that has a thread go on for one turn; what it left behind, unless it waits for the next one.
    fn side_in_turns(
        &mut self,
        (index, at): (usize, usize),
        mut search: Waiting,
        turn: Turn,
        outer: &mut CheckContext<'_>,
    ) -> Option<SideEnded> {
        let over = self.go_on(index, &mut search, turn, outer);
        if over.is_none() && self.may_wait(&search) {
            self.properties[index].sides[at].waiting = Some(search);
            return None;
        }
        let (choice, role, is_over) = (search.choice.clone(), search.role, over.is_some());
        Some(SideEnded { choice, role, checked: *over.or_else(|| search.end())?, is_over })
    }

    /// Runs a side search in this thread for one turn.
    fn side_at_once(&mut self, task: Task<'_>, turn: Turn, outer: &mut CheckContext<'_>) -> SideEnded {
        let role = task.role;
        let (choice, checked, is_over) = self.at_once(task, turn, outer);
        SideEnded { choice, role, checked, is_over }
    }

    /// Runs a search in this thread for one turn: what it left behind, and whether it ended before its turn did.
    pub(super) fn at_once(
        &mut self,
        task: Task<'_>,
        turn: Turn,
        outer: &mut CheckContext<'_>,
    ) -> (Choice, Checked, bool) {
        let (checked, is_over) = task.at_once(turn, &mut |event| {
            (outer.observe)(event);
            self.hear_beside(outer);
            true
        });
        (task.choice, checked, is_over)
    }

    /// A search that fails differently from the main search, if there is such a one and it may begin.
    fn side_task(&self, side: &SideSearch, run: &Run, outer: &CheckContext<'_>) -> Option<Task<'a>> {
        let property = &self.properties[run.index];
        let mut settings = (side.ask)(Settings { until: self.settings.until, ..self.settings.question_only() });
        settings.limits = outer.in_force(self.settings.limits);
        let stored = run.meter.last.states + property.states_of_turns();
        settings.limits.states_max = settings.limits.states_max.map(|max| max.saturating_sub(stored));
        let asked = Asked::of(property.planned, &settings);
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
        Some(self.task(run.index, choice, Role::Side { proves }, outer))
    }
}
