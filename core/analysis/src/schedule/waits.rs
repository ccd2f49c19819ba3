//! The fewest waits of a model, as an answer: looked for in one vocabulary after the other, checked, told, and written into the text.

use super::explored::Explored;
use super::export::{self, Export};
use super::places::{Places, Whereabouts};
use super::values::Cells;
use super::verify::{self, Verified};
use super::words::sentence;
use super::{By, Question, SafeSchedule, Stage, hints};
use fabius_search::restrict::{Effort, Problem, Solution, Solutions, Vocabulary};
use fabius_task::report::Verdict;
use fabius_task::report::schedule::{AlternativeReport, CheckedReport, KeptReport, ScheduleReport, WaitReport};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Of the solutions found, this many are checked, …
const VERIFIED_MAX: usize = 12;
/// … each transition under one as if this many states were looked at, …
const WORK_PER_CHECKED_TRANSITION: u64 = 16;
/// … and this many are shown.
const SHOWN_MAX: usize = 3;

/// What waits may speak of: which processes are alike, and whether of values, too.
type Kind = (By, bool);

/// Who may wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// Everybody but those that only check something: if they wait, what they would find is not avoided, but not looked at.
    AllButCheckers,
    /// Everybody.
    All,
}

/// Solutions that were found.
struct Found {
    /// The number of the kind.
    kind: usize,
    places: Places,
    solutions: Solutions,
    /// Sets of waits that were tried, of all kinds.
    tried: u64,
}

impl Question<'_> {
    /// What waits may speak of, one after the other.
    fn vocabularies(&self, explored: &Explored) -> Vec<Kind> {
        // Where no type has two processes, it makes no difference which are alike.
        let several = explored.whereabouts(&self.stops.all).is_some_and(Whereabouts::has_several_of_a_type);
        let mut vocabularies = match self.request.by {
            Some(by) => vec![(by, false), (by, true)],
            None if several => vec![(By::Type, false), (By::Process, false), (By::Type, true)],
            None => vec![(By::Type, false), (By::Type, true)],
        };
        vocabularies.retain(|(_, values)| *values || !self.request.values);
        vocabularies
    }

    pub(super) fn vocabulary(&self, explored: &Explored, places: &Places) -> Option<Vocabulary> {
        let seen = explored.whereabouts(&self.stops.all)?;
        Some(places.vocabulary(seen, &explored.graph, self.machine.machine()))
    }

    /// The schedule that needs the fewest waits, if a few suffice.
    pub(super) fn with_waits(
        &mut self,
        explored: &mut Explored,
        report: &ScheduleReport,
    ) -> Result<Option<ScheduleReport>, String> {
        self.begins(Stage::Waits);
        let has_checkers =
            self.places(explored, By::Type).is_some_and(|places| !places.checkers(&self.program).is_empty());
        if has_checkers {
            let work = self.work_left;
            self.work_left = work / 2;
            if let Some(found) = self.with_waits_of(Waiting::AllButCheckers, explored, report)? {
                return Ok(Some(found));
            }
            self.work_left += work - work / 2;
        }
        self.with_waits_of(Waiting::All, explored, report)
    }

    fn with_waits_of(
        &mut self,
        waiting: Waiting,
        explored: &mut Explored,
        report: &ScheduleReport,
    ) -> Result<Option<ScheduleReport>, String> {
        let mut kinds: Vec<Option<Kind>> = self.vocabularies(explored).into_iter().map(Some).collect();
        loop {
            self.begins(Stage::Waits);
            let Some(found) = self.fewest(explored, &kinds, waiting) else { return Ok(None) };
            self.begins(Stage::Check);
            let kind = found.kind;
            if let Some(told) = self.checked(explored, report, found)? {
                return Ok(Some(told));
            }
            kinds[kind] = None;
        }
    }

    /// The fewest waits of each kind in turn; of these the ones that give up the fewest places, then the fewest. Kinds are done with once
    /// one was found that gives up nothing: with more waits of another kind there is nothing to gain.
    fn fewest(&mut self, explored: &Explored, kinds: &[Option<Kind>], waiting: Waiting) -> Option<Found> {
        let Explored { graph, region, .. } = explored;
        let safe_movers = explored.safe_movers(&self.stops.waits).ok()?;
        let words: Vec<OnceCell<Option<(Places, Vocabulary)>>> = kinds.iter().map(|_| OnceCell::new()).collect();
        let mut problems: Vec<Option<Problem<'_>>> = kinds.iter().map(|_| None).collect();
        let mut is_open: Vec<bool> = kinds.iter().map(Option::is_some).collect();
        let mut best: Option<(usize, Found)> = None;
        // There is an error, or not everything was explored, so there is at least one.
        for waits in 1..=self.request.waits_max {
            for number in 0..kinds.len() {
                let Some(kind) = kinds[number].filter(|_| is_open[number]) else { continue };
                let prepared = words[number].get_or_init(|| self.prepared(explored, kind, waiting));
                let Some((places, vocabulary)) = prepared else { continue };
                let (checks_max, cancel) = (self.request.checks_max, &self.stops.waits);
                let effort = Effort { waits_max: waits, checks_max, work_max: 0, cancel };
                let new = || Problem::new(graph, region, vocabulary, safe_movers, effort);
                let problem = problems[number].get_or_insert_with(new);
                let before = problem.work();
                problem.allow_work(before + self.work_left / (kinds.len() - number) as u64);
                let solutions = problem.least_from(waits);
                self.work_left = self.work_left.saturating_sub(solutions.work - before);
                is_open[number] = solutions.exhaustive && solutions.ranked.is_empty();
                let Some(gives_up) = solutions.ranked.first().map(|solution| solution.gives_up.len()) else { continue };
                if best.as_ref().is_none_or(|(least, _)| gives_up < *least) {
                    best = Some((gives_up, Found { kind: number, places: places.clone(), solutions, tried: 0 }));
                }
                if gives_up == 0 {
                    is_open.fill(false);
                }
            }
        }
        let tried = problems.iter().flatten().map(Problem::checks).sum();
        best.map(|(_, found)| Found { tried, ..found })
    }

    /// What waits of a kind speak of; nothing if there is nothing more to speak of than in other kinds.
    fn prepared(&self, explored: &Explored, (by, values): Kind, waiting: Waiting) -> Option<(Places, Vocabulary)> {
        let mut places = self.places(explored, by)?;
        if values {
            let cells = Cells::seen(&explored.graph, self.machine.machine(), &self.stops.waits);
            if cells.is_empty() && !self.request.values {
                return None;
            }
            places = places.with_cells(cells);
        }
        let vocabulary = self.vocabulary(explored, &places)?;
        let vocabulary = match waiting {
            Waiting::AllButCheckers => vocabulary.without_waits_of(places.checkers(&self.program)),
            Waiting::All => vocabulary,
        };
        Some((places, vocabulary))
    }

    /// Checks solutions, and tells the best of those that pass.
    fn checked(
        &mut self,
        explored: &mut Explored,
        report: &ScheduleReport,
        Found { places, solutions, tried, .. }: Found,
    ) -> Result<Option<ScheduleReport>, String> {
        let mut shown: Vec<(Solution, u64, Vec<String>)> = Vec::new();
        let listed_per_state = explored.transitions.div_ceil(explored.graph.expanded().max(1) as u64);
        for solution in solutions.ranked.into_iter().take(VERIFIED_MAX) {
            let solution_work = solution.kept as u64 * listed_per_state * WORK_PER_CHECKED_TRANSITION;
            let verified = verify::waits(&self.machine, &places, &solution, explored, &self.stops.all)?;
            if let Verified::Holds { states, shut_out } = verified {
                let shut_out = self.told_shut_out(&shut_out.known, explored);
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
        let given_up: Vec<String> = best.gives_up.iter().filter_map(|site| places.named(*site)).collect();
        let checkers = places.checkers(&self.program);
        let checking: BTreeSet<String> = best
            .waits
            .iter()
            .filter(|wait| checkers.contains(&wait.at.kind))
            .map(|wait| places.who(wait.at.kind))
            .collect();
        report.reason = sentence(&first, &checking, &given_up, shut_out);
        report.shuts_out.clone_from(shut_out);
        report.fewest = explored.stopped.is_none();
        report.explored.tried = tried;
        report.checked = Some(CheckedReport { verdict: Verdict::Holds, states: *states });
        (report.waits, report.kept, report.gives_up) = (first.waits, Some(first.kept), first.gives_up);
        report.alternatives = told.into_iter().skip(1).collect();
        if report.fewest {
            report.hints = hints::hints(&self.program, explored, &places, &best.waits, &self.stops.all);
        }
        self.follow(|this| SafeSchedule::by_waits(&this.program, &places, &best.waits));
        if self.request.export {
            self.export = Some(self.exported(&places, &shown));
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
