//! The turns that searches have in the pauses of a main search.

use super::{Meter, Portfolio, Run, end_of};
use crate::searches::search;
use crate::task::Checked;
use fabius_base::Limits;
use fabius_observe::{CheckContext, Event, Progress};
use fabius_strategy::{Asked, choose};
use fabius_task::report::Verdict;
use fabius_task::settings::{Delaying, DepthBounding, Order, Pauses, Settings};

/// A search that has a turn in the pauses of a main search.
pub(super) struct SideSearch {
    /// What is asked for in place of what suits the property.
    ask: fn(Settings) -> Settings,
    /// Its work in early pauses, in per cent of what the main search has done: generous, since that is little.
    early_percent: u64,
    /// Whether it has a turn in an early pause, by where the main search is then.
    is_early: fn(&Progress) -> bool,
    /// Its work in the pause after those, and divided by 2, 3, … in later ones: what many states did not show is ever less likely
    /// to lie near the start.
    later_percent: u64,
}

/// The searches that have a turn, in their order: long runs with few delays, short runs beside unbounded ones, shortest runs.
pub(super) const SIDE_SEARCHES: [SideSearch; 3] = [
    SideSearch { ask: by_delays, early_percent: 15, is_early: |_| true, later_percent: 5 },
    SideSearch { ask: by_depth, early_percent: 60, is_early: is_deep, later_percent: 15 },
    SideSearch { ask: breadth_first, early_percent: 0, is_early: |_| false, later_percent: 10 },
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

impl Portfolio<'_, '_> {
    /// Lets the searches that fail differently have their turns; what they decided.
    pub(super) fn turns(&mut self, pause: u32, run: &Run<'_>, outer: &mut CheckContext<'_>) -> Option<Checked> {
        let Pauses { early, .. } = self.settings.pauses;
        let work = self.settings.pauses.work(pause);
        for (index, side) in SIDE_SEARCHES.iter().enumerate() {
            if pause < early && !(side.is_early)(&run.meter.last) {
                continue;
            }
            let budget = match pause.checked_sub(early) {
                None => work.saturating_mul(side.early_percent) / 100,
                Some(later) => work.saturating_mul(side.later_percent) / (100 * (1 + u64::from(later))),
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
        settings.limits = outer.in_force(self.left_of(self.settings.limits));
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
        let (loaded, program) = (self.loaded, self.program);
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
            self.hear_beside(outer);
        };
        let mut context = CheckContext { cancel: &stop, now, observe: &mut observe, controls };
        let mut checked = search(loaded, program, planned, &choice, &mut context);
        checked.describe(&choice, program, planned);
        self.executed.extend(std::mem::take(&mut checked.executed));
        self.confirm_unless_beside(run.index, &mut checked, outer);
        let decided = match checked.report.verdict {
            Verdict::Violated => true,
            Verdict::Holds => proves,
            Verdict::Undecided | Verdict::Faulty => false,
        } || checked.failure.is_some();
        self.properties[run.index].note_turn(&choice, &checked, end_of(&checked, !is_over));
        decided.then_some(checked)
    }
}
