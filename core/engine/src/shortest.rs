//! A shorter run than the one that a search for infinite runs found, as far as a budget goes, and what fair runs do.

use crate::near::{infinite_run_near, path_of};
use crate::task::{Checked, Either, Job};
use fabius_base::Limits;
use fabius_counterexample::{FairRuns, Found, Shorter, check};
use fabius_model::{Budget, SearchedMachine, listed};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{CLAIM_PID, Move, meaning::Fault};
use fabius_search::cycle::{self, CycleQuestion, Found as FoundCycle, ShortestBounds};
use fabius_search::{self as search, Completeness, ProcessSet, StopAt, TreeStore};
use fabius_task::query::LivenessQuery;
use fabius_task::report::PropertyReport;
use fabius_task::settings::{Clarity, Fairness, Order};
use fabius_witness::RunFairness;

/// A first look stores so few states, …
const STATES_SOON: u64 = 2_000;
/// … and each in which some processes rest, this many; …
const STATES_WITHOUT: u64 = 10_000;
/// … all of these take one part of the budget, and a last look at everything takes the rest.
const WITHOUT_SHARE: u64 = 2;

/// Whether fair runs do the same is asked with this part of the work that a shorter run is worth: it is one sentence more, and
/// where it is not found soon, it takes all that it is given.
const FAIR_SHARE: u64 = 5;

/// How soon several threads find a run depends on their pace. Which run is shown should not: it is shortened as if the search had
/// listed at least this many transitions, with which the budget is as large as it gets.
const FOUND_TOGETHER_MIN: u64 = 100_000;

type Run = FoundCycle<Move, Fault>;

/// Adds what a search for infinite runs found to what is known: the run with the fewest steps that does the same, to be as fair
/// as the settings ask for, or else the shortest one that is found; with what fair runs do. Whether it is another run than the
/// one found.
pub(crate) fn add_shortest(
    job: Job<'_>,
    query: &LivenessQuery,
    machine: &mut SearchedMachine,
    found: Run,
    context: &mut CheckContext<'_>,
    checked: &mut Checked,
) -> bool {
    let task = &job.task();
    let written = query.as_written(task.loaded, job.planned, task.settings);
    let states = checked.report.states;
    if task.settings.prune.is_some() {
        let budget = Budget::near(task.settings.clarify_transitions_max, machine, path_of(&found));
        let shorter = easily_shorter(task, query.goal, machine, (&found, states), &budget, context);
        let found = shorter.unwrap_or(found);
        // Among the states that are left, shortest and fair runs say nothing of all runs.
        let found = Found { shorter: Shorter::NotAsked, ..Found::of_cycle(query, found, written) };
        checked.confirm(job, found, context);
        return false;
    }
    let PropertyReport { transitions, threads, .. } = checked.report;
    let found_with = if threads < 2 { transitions } else { transitions.max(FOUND_TOGETHER_MIN) };
    let clarity = task.settings.clarity_of_infinite(found_with);
    let fair_runs =
        fair_runs(task, query, machine, (&found, clarity.everywhere / FAIR_SHARE), context).unwrap_or_else(|failure| {
            checked.failure.get_or_insert(failure);
            FairRuns::NotAsked
        });
    let (other, shorter) = shortest(task, query.goal, machine, (&found, states), clarity, context);
    let described = |run, shorter| Found { fair_runs, shorter, ..Found::of_cycle(query, run, written.clone()) };
    let is_other = other.is_some();
    let found = described(found, if is_other { Shorter::NotAsked } else { shorter });
    let shorter = other.map(|run| described(run, shorter));
    checked.confirm_either(job, Either { shorter, found }, context);
    is_other
}

/// Looks for a run with the fewest steps that violates the property as the one found does. If there are several, it is the
/// same one whichever was found, as long as the budget of transitions is enough.
///
/// What other processes do between two steps of a claim counts, the claim's own steps do not. `states` are those that the search stored
/// which found the run. A depth-first search that was asked for shows what it found.
pub(crate) fn shortest(
    task: &Task<'_>,
    goal: cycle::Goal,
    machine: &mut SearchedMachine,
    (found, states): (&Run, u64),
    clarity: Clarity,
    context: &mut CheckContext<'_>,
) -> (Option<Run>, Shorter) {
    let steps = length(found);
    if task.settings.search == Order::DepthFirst {
        return (None, Shorter::NotAsked);
    }
    if steps == 0 {
        return (None, Shorter::None);
    }
    let budget = Budget::near(clarity.everywhere, machine, path_of(found));
    let mut shortening = Shortening { task, goal, machine, context, budget, best: steps, found: None };
    let proved = shortening.look(&ProcessSet::EMPTY, steps + 1, Some(STATES_SOON)) || {
        shortening.look_beside((found, states));
        shortening.look_without_some(processes(shortening.found.as_ref().unwrap_or(found)));
        shortening.look(&ProcessSet::EMPTY, shortening.best + 1, None)
    };
    if proved {
        return (shortening.found, Shorter::None);
    }
    let Shortening { machine, context, found: shorter, .. } = shortening;
    let best = shorter.as_ref().unwrap_or(found);
    let (nearer, is_shortest) = infinite_run_near(task, goal, machine, best, clarity.near, context);
    (nearer.or(shorter), if is_shortest { Shorter::None } else { Shorter::CutShort })
}

/// A search for a shorter run, step by step.
struct Shortening<'s, 'a, 'b> {
    task: &'s Task<'a>,
    goal: cycle::Goal,
    machine: &'s mut SearchedMachine,
    context: &'s mut CheckContext<'b>,
    budget: Budget,
    /// Steps of the shortest run that is known.
    best: u64,
    /// That run, if it is not the first one.
    found: Option<Run>,
}

/// A shorter run with the same violation, if one is easy to find: a depth-first search seldom finds a short one. It costs little and takes
/// nothing from the budget, which says how often to look at the limits, and whether anything may be done. `None` if a depth-first search
/// was asked for, which shows what it found.
fn easily_shorter(
    task: &Task<'_>,
    goal: cycle::Goal,
    machine: &mut SearchedMachine,
    (found, states): (&Run, u64),
    budget: &Budget,
    context: &mut CheckContext<'_>,
) -> Option<Run> {
    if task.settings.search == Order::DepthFirst {
        return None;
    }
    let limits = Limits { depth_max: None, ..task.settings.limits };
    let settings = search::Settings { limits, stop_at: StopAt::First, cancel: context.cancel.clone() };
    let observer = EngineObserver::new(task, context, Goal::ShorterRun, machine.places(), None);
    let mut observer = observer.within(budget);
    let shorter = machine.shorter_lasso(&mut observer, &settings, question_of(task, goal), found, states);
    shorter.filter(|shorter| length(shorter) < length(found))
}

impl Shortening<'_, '_, '_> {
    /// Looks for a shorter run that has a state of the found one's cycle.
    fn look_beside(&mut self, known: (&Run, u64)) {
        let shorter = easily_shorter(self.task, self.goal, self.machine, known, &self.budget, self.context);
        if let Some(shorter) = shorter.filter(|shorter| length(shorter) < self.best) {
            self.best = length(&shorter);
            self.found = Some(shorter);
        }
    }

    /// Lets all processes but one rest, then one after the other, and keeps it so if that shows a shorter run.
    fn look_without_some(&mut self, processes: u8) {
        let rest = self.budget.set_aside(WITHOUT_SHARE);
        for process in 0..processes {
            let mut others = ProcessSet::ALL;
            others.remove(process);
            self.look(&others, self.best, Some(STATES_WITHOUT));
        }
        let mut resting = ProcessSet::EMPTY;
        for process in 0..processes {
            let best = self.best;
            resting.insert(process);
            self.look(&resting, best, Some(STATES_WITHOUT));
            if self.best == best {
                resting.remove(process);
            }
        }
        self.budget.put_back(rest);
    }

    /// Looks for a run of fewer steps than `bound` in this many states; whether it is proved that there is none shorter than
    /// the best now.
    fn look(&mut self, resting: &ProcessSet, bound: u64, states_max: Option<u64>) -> bool {
        let limits = self.task.settings.limits;
        let states_max = [limits.states_max, states_max].into_iter().flatten().min();
        let limits = Limits { states_max, depth_max: None, ..limits };
        let settings = search::Settings { limits, stop_at: StopAt::First, cancel: self.context.cancel.clone() };
        let mut engine_observer =
            EngineObserver::new(self.task, self.context, Goal::ShorterRun, self.machine.places(), None);
        let question = question_of(self.task, self.goal);
        let bounds = ShortestBounds { steps: bound, work_max: self.budget.transitions() };
        let shortest = cycle::shortest(self.machine, &mut engine_observer, &settings, question, resting, bounds);
        self.budget.spend(shortest.work);
        if let Some(found) = shortest.found {
            self.best = length(&found);
            self.found = Some(found);
        }
        shortest.proved
    }
}

/// Which runs count.
pub(crate) fn question_of(task: &Task<'_>, goal: cycle::Goal) -> CycleQuestion {
    CycleQuestion { goal, fairness: fairness(task) }
}

/// How fair the runs are that count.
fn fairness(task: &Task<'_>) -> cycle::Fairness {
    match task.settings.fairness {
        Fairness::None => cycle::Fairness::None,
        Fairness::Weak => cycle::Fairness::Weak,
        Fairness::Strong => cycle::Fairness::Strong,
    }
}

/// Whether fair runs do the same, where all runs count: the strongest fairness that does not prevent it, if the budget is
/// enough to find out. The run found is not shown, but what is said of it rests on it, so the reference interpreter walks it.
///
/// # Errors
/// The text of an internal error, if that run is not what the search says.
fn fair_runs(
    task: &Task<'_>,
    query: &LivenessQuery,
    machine: &mut SearchedMachine,
    (found, budget): (&Run, u64),
    context: &mut CheckContext<'_>,
) -> Result<FairRuns, String> {
    if task.settings.fairness != Fairness::None {
        return Ok(FairRuns::NotAsked);
    }
    let mut budget = Budget::near(budget, machine, path_of(found));
    let limits = Limits { depth_max: None, ..task.settings.limits };
    let settings = search::Settings { limits, stop_at: StopAt::First, cancel: context.cancel.clone() };
    for (fairness, satisfied) in
        [(cycle::Fairness::Strong, RunFairness::Strong), (cycle::Fairness::Weak, RunFairness::Weak)]
    {
        let mut engine_observer =
            EngineObserver::new(task, context, Goal::FairRun, machine.places(), None).within(&budget);
        let question = CycleQuestion { goal: query.goal, fairness };
        let mut store = TreeStore::default();
        let outcome =
            cycle::components(machine, &mut store, &mut engine_observer, &settings, cycle::NoReduction, question);
        budget.spend(listed(&outcome.statistics));
        let (completeness, states) = (outcome.completeness, outcome.statistics.states);
        match (outcome.into_first(), completeness) {
            (Some(found), _) => {
                let shorter = machine.shorter_lasso(&mut engine_observer, &settings, question, &found, states);
                let found = shorter.unwrap_or(found);
                check(&query.program, &Found { fairness: satisfied, ..Found::of_cycle(query, found, None) })?;
                return Ok(FairRuns::Known(satisfied));
            }
            (None, Completeness::Exhaustive) if 0 < machine.cut_runs().seen() => return Ok(FairRuns::NotAsked),
            (None, Completeness::Exhaustive) => {}
            (None, _) => return Ok(FairRuns::CutShort),
        }
    }
    Ok(FairRuns::Known(RunFairness::Unfair))
}

/// The numbers of all processes that move in a run are below this.
fn processes(found: &Run) -> u8 {
    let (stem, cycle) = parts(found);
    let moves = stem.iter().chain(cycle).filter(|step| step.pid != CLAIM_PID);
    let pids = moves.flat_map(|step| [Some(step.pid), step.partner.map(|(pid, _)| pid)]).flatten();
    pids.max().map_or(0, |pid| pid.saturating_add(1))
}

/// What comes before the loop of a run, and its loop.
fn parts(found: &Run) -> (&[Move], &[Move]) {
    match found {
        FoundCycle::Lasso { stem, cycle } => (stem, cycle),
        FoundCycle::Fault { path, .. } => (path, &[]),
    }
}

/// How many steps the processes take in a run, in its loop once.
pub(crate) fn length(found: &Run) -> u64 {
    let (stem, cycle) = parts(found);
    stem.iter().chain(cycle).filter(|step| step.pid != CLAIM_PID).count() as u64
}
