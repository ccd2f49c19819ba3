//! The fewest waits of a model, as an answer: looked for in one vocabulary after the other, checked, told, and written into the text.

use super::export::{self, Export};
use super::places::{Places, Whereabouts};
use super::values::Cells;
use super::verify::{self, Verified};
use super::words::sentence;
use super::{By, Explored, Question, hints};
use fabius_search::restrict::{Effort, Problem, Solution, Vocabulary};
use fabius_task::report::schedule::{
    AlternativeReport, CheckedReport, KeptReport, ScheduleReport, ScheduleVerdict, WaitReport,
};
use fabius_task::words::counted;

/// Of the solutions found, this many are checked, …
const VERIFIED_MAX: usize = 12;
/// … each transition under one as if this many states were looked at, …
const WORK_PER_CHECKED_TRANSITION: u64 = 16;
/// … and this many are shown.
const SHOWN_MAX: usize = 3;

impl Question<'_> {
    /// What waits may speak of, one after the other: which processes are alike, and whether of values, too.
    pub(super) fn vocabularies(&self, explored: &Explored) -> Vec<(By, bool)> {
        // Where no type has two processes, it makes no difference which are alike.
        let several = explored.whereabouts.as_ref().is_some_and(Whereabouts::has_several_of_a_type);
        let mut vocabularies = match self.request.by {
            Some(by) => vec![(by, false), (by, true)],
            None if several => vec![(By::Type, false), (By::Process, false), (By::Type, true)],
            None => vec![(By::Type, false), (By::Type, true)],
        };
        vocabularies.retain(|(_, values)| *values || !self.request.values);
        vocabularies
    }

    pub(super) fn vocabulary(&self, explored: &Explored, places: &Places) -> Option<Vocabulary> {
        let seen = explored.whereabouts.as_ref()?;
        Some(places.vocabulary(seen, &explored.graph, self.machine.machine()))
    }

    /// The schedule that needs the fewest waits, if a few suffice. Looking for them takes at most one of `shares` equal shares of the work
    /// that is left.
    pub(super) fn with_waits(
        &mut self,
        explored: &mut Explored,
        report: &ScheduleReport,
        (by, values): (By, bool),
        shares: u64,
    ) -> Result<Option<ScheduleReport>, String> {
        let Some(mut places) = self.places(explored, by) else { return Ok(None) };
        if values {
            let cells = Cells::seen(&explored.graph, self.machine.machine(), &self.stops.waits);
            if cells.is_empty() && !self.request.values {
                return Ok(None);
            }
            places = places.with_cells(cells);
        }
        let Some(vocabulary) = self.vocabulary(explored, &places) else { return Ok(None) };
        let effort = Effort {
            waits_max: self.request.waits_max,
            checks_max: self.request.checks_max,
            work_max: self.work_left / shares,
            cancel: &self.stops.waits,
        };
        let Ok(movers) = explored.movers(&self.stops.waits) else { return Ok(None) };
        let Explored { graph, region, .. } = &*explored;
        let solutions = Problem::new(graph, region, &vocabulary, &movers.safely, effort).least();
        self.work_left = self.work_left.saturating_sub(solutions.work);
        let mut shown: Vec<(Solution, u64, Vec<String>)> = Vec::new();
        let listed_per_state = explored.transitions.div_ceil(explored.graph.expanded().max(1) as u64);
        for solution in solutions.ranked.into_iter().take(VERIFIED_MAX) {
            let solution_work = solution.kept as u64 * listed_per_state * WORK_PER_CHECKED_TRANSITION;
            let verified = verify::waits(&self.machine, &places, &solution, explored, &self.stops.all)?;
            if let Verified::Holds { states, shut_out } = verified {
                let shut_out = self.told_shut_out(&shut_out, explored);
                shown.push((solution, states, shut_out));
            }
            // The best is checked in any case.
            self.work_left = self.work_left.saturating_sub(solution_work);
            if shown.len() == SHOWN_MAX || !shown.is_empty() && self.work_left == 0 {
                break;
            }
        }
        let Some((best, states, shut_out)) = shown.first() else { return Ok(None) };
        let told: Vec<AlternativeReport> =
            shown.iter().filter_map(|(solution, ..)| self.alternative(solution, &places, explored)).collect();
        let Some(first) = told.first().cloned() else { return Ok(None) };
        let mut report = report.clone();
        report.reason = sentence(&first, best.waits.len(), shut_out);
        report.shuts_out.clone_from(shut_out);
        report.fewest = explored.stopped.is_none();
        report.explored.tried = solutions.checks;
        report.checked = Some(CheckedReport { verdict: "holds", states: *states });
        (report.waits, report.kept, report.gives_up) = (first.waits, Some(first.kept), first.gives_up);
        report.alternatives = told.into_iter().skip(1).collect();
        if report.fewest {
            report.hints = hints::hints(&self.program, &places, &best.waits);
        }
        if self.request.export && !best.waits.is_empty() {
            self.export = Some(self.exported(&places, &shown));
        }
        if best.waits.is_empty() {
            report.verdict = ScheduleVerdict::Holds;
            report.reason = format!("no error under any schedule ({}, exhaustive)", counted(*states, "state"));
        }
        Ok(Some(report))
    }

    /// The first of several sets of waits that can be written into the text; else why the first cannot.
    fn exported(&self, places: &Places, shown: &[(Solution, u64, Vec<String>)]) -> Result<Export, String> {
        let written = |solution| export::export(self.loaded, &self.program, places, solution, &self.stops.all);
        let (best, others) = shown.split_first().ok_or("there are no waits")?;
        written(&best.0).or_else(|why| others.iter().find_map(|other| written(&other.0).ok()).ok_or(why))
    }

    fn alternative(&self, solution: &Solution, places: &Places, explored: &Explored) -> Option<AlternativeReport> {
        let waits: Option<Vec<WaitReport>> =
            solution.waits.iter().map(|wait| places.wait(&self.program, wait)).collect();
        let of = explored.stopped.is_none().then_some(explored.graph.len() as u64);
        let gives_up = solution.gives_up.iter().filter_map(|site| places.report(*site)).collect();
        Some(AlternativeReport { waits: waits?, kept: KeptReport { states: solution.kept as u64, of }, gives_up })
    }
}
