//! A shorter run near one that is known, where a search of everything for a shortest one is too much work.

use crate::shortest::{length, question_of};
use fabius_base::Limits;
use fabius_counterexample::{Found, Shorter};
use fabius_model::{Budget, SearchedMachine, listed};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Move, meaning::Fault};
use fabius_search::cycle::{self, Found as FoundCycle, ShortestBounds};
use fabius_search::{self as search, Completeness, Near, ProcessSet, Statistics, StopAt, TreeStore};

type Run = FoundCycle<Move, Fault>;

/// After the search for a shortest run was cut short, this part of the work that it was worth is done once more near the run that is known.
const SHARE: u64 = 2;

/// Looks for a shorter run near the one found to the violation with a key, for which a search of everything was given this many
/// transitions; what is known of shorter ones then.
pub(crate) fn run_near(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    found: &Found,
    key: u64,
    transitions: u64,
    context: &mut CheckContext<'_>,
) -> (Option<Found>, Shorter) {
    let budget = Budget::new(transitions / SHARE, machine);
    let mut looking = Looking { task, budget, context };
    let (shorter, is_shortest) = looking.near(machine, found.path.clone(), |looking, near, best| {
        let Looking { task, budget, context } = looking;
        let mut observer = EngineObserver::new(task, context, Goal::ShorterRun, near.inner().places(), Some(key));
        observer = observer.within(budget);
        let settings = settings(task, &observer, StopAt::Never);
        let outcome = search::breadth_first(near, &mut TreeStore::new(), &mut observer, &settings);
        let wanted = observer.keys.iter().position(|&other| other == key);
        budget.spend(listed(&outcome.statistics));
        let is_done = wanted.is_some() || outcome.completeness == Completeness::Exhaustive;
        let nearest = wanted.and_then(|index| outcome.violations.into_iter().nth(index));
        let shorter = nearest.filter(|nearest| nearest.path.len() < best.len());
        let shorter = shorter.map(|nearest| {
            let path = nearest.path.clone();
            (Found { wrong: nearest.kind.into(), path: nearest.path, ..found.clone() }, path)
        });
        Searched { shorter, is_done }
    });
    (shorter, if is_shortest { Shorter::None } else { Shorter::CutShort })
}

/// The same for a run that goes on for ever, or is faulty; whether it is known that no run has fewer steps than the one returned, or than
/// the one found if there is none.
pub(crate) fn infinite_run_near(
    task: &Task<'_>,
    goal: cycle::Goal,
    machine: &mut SearchedMachine,
    found: &Run,
    transitions: u64,
    context: &mut CheckContext<'_>,
) -> (Option<Run>, bool) {
    let budget = Budget::new(transitions / SHARE, machine);
    let mut steps = length(found);
    let mut looking = Looking { task, budget, context };
    looking.near(machine, path_of(found), |looking, near, _| {
        let Looking { task, budget, context } = looking;
        let mut observer = EngineObserver::new(task, context, Goal::ShorterRun, near.inner().places(), None);
        let settings = settings(task, &observer, StopAt::First);
        let bounds = ShortestBounds { steps, work_max: budget.transitions() };
        let nobody = &ProcessSet::EMPTY;
        let shortest = cycle::shortest(near, &mut observer, &settings, question_of(task, goal), nobody, bounds);
        budget.spend(shortest.work);
        let shorter = shortest.found.map(|run| {
            steps = length(&run);
            let path = path_of(&run);
            (run, path)
        });
        Searched { is_done: shortest.proved || shorter.is_some(), shorter }
    })
}

/// Who asks, and what may still be done.
struct Looking<'t, 'a, 'b> {
    task: &'t Task<'a>,
    budget: Budget,
    context: &'t mut CheckContext<'b>,
}

/// What came of a search near a run.
struct Searched<T> {
    /// A shorter one, with its path.
    shorter: Option<(T, Vec<Move>)>,
    /// It was not cut short.
    is_done: bool,
}

impl Looking<'_, '_, '_> {
    /// Searches with a growing radius, around the shortest path that is known. The shortest run found, and whether none is shorter.
    fn near<T>(
        &mut self,
        machine: &mut SearchedMachine,
        mut path: Vec<Move>,
        mut search: impl FnMut(&mut Self, &mut Near<'_, SearchedMachine>, &[Move]) -> Searched<T>,
    ) -> (Option<T>, bool) {
        let mut best = None;
        for radius in 0.. {
            let mut observer = EngineObserver::new(self.task, self.context, Goal::ShorterRun, machine.places(), None);
            observer = observer.within(&self.budget);
            let (settings, mut statistics) = (settings(self.task, &observer, StopAt::First), Statistics::default());
            let around = (path.iter().copied(), radius);
            let near = Near::around(&mut *machine, around, &mut observer, &settings, &mut statistics);
            self.budget.spend(listed(&statistics));
            let Some(mut near) = near else { break };
            let searched = search(self, &mut near, &path);
            let is_shortest = searched.is_done && !near.was_left();
            if let Some((found, its_path)) = searched.shorter {
                (best, path) = (Some(found), its_path);
            }
            if is_shortest {
                return (best, true);
            }
            if !searched.is_done {
                break;
            }
        }
        (best, false)
    }
}

/// A search without a limit of depth.
fn settings(task: &Task<'_>, observer: &EngineObserver<'_, '_>, stop_at: StopAt) -> search::Settings {
    let limits = Limits { depth_max: None, ..task.settings.limits };
    search::Settings { limits, stop_at, cancel: observer.context.cancel.clone() }
}

/// All steps of a run, its loop once.
fn path_of(run: &Run) -> Vec<Move> {
    match run {
        FoundCycle::Lasso { stem, cycle } => stem.iter().chain(cycle).copied().collect(),
        FoundCycle::Fault { path, .. } => path.clone(),
    }
}
