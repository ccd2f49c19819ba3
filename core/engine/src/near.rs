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

/// In a run with at least this many steps, shortcuts are looked for …
const LONG_STEPS: u64 = 200;
/// … with one part of that work.
const SHORTCUTS_SHARE: u64 = 2;

/// Before a path with at least this many steps is searched, …
const LONG_PATH: usize = 10_000;
/// … this part of it is: where that has no shortcuts, the rest has none either, as a rule.
const PROBE_SHARE: usize = 8;

/// Looks for a shorter run near the one found to the violation with a key, where a search of everything was cut short, with this many
/// transitions or more; what is known of shorter ones then.
pub(crate) fn run_near(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    found: &Found,
    key: u64,
    transitions: u64,
    context: &mut CheckContext<'_>,
) -> (Option<Found>, Shorter) {
    let transitions_max = task.settings.clarify_near(transitions, found.path.len());
    let budget = Budget::near(transitions_max, machine, found.path.iter().copied());
    let mut looking = Looking { task, budget, context };
    let (shorter, is_shortest) = looking.near(machine, found.path.clone(), |looking, near, best| {
        let Looking { task, budget, context } = looking;
        let mut observer = EngineObserver::new(task, context, Goal::ShorterRun, near.inner().places(), Some(key));
        observer = observer.within(budget);
        let settings = settings(task, &observer, StopAt::Never, near.memory_bytes());
        let outcome = search::breadth_first(near, &mut TreeStore::new(), &mut observer, &settings);
        let wanted = observer.keys.iter().position(|&other| other == key);
        budget.spend(listed(&outcome.statistics));
        let (is_proved, is_exhaustive) = (wanted.is_some(), outcome.completeness == Completeness::Exhaustive);
        let nearest = wanted.and_then(|index| outcome.violations.into_iter().nth(index));
        // The search counts atomic sequences as one step: if it saw all runs, its run is a shortest one, whatever its length as it is told.
        let sees_all = !near.was_left();
        let shorter = nearest.filter(|nearest| sees_all || nearest.path.len() < best.len());
        let shorter = shorter.map(|nearest| {
            let path = nearest.path.clone();
            (Found { wrong: nearest.kind.into(), path: nearest.path, ..found.clone() }, path)
        });
        Searched { shorter, goes_on: is_proved || is_exhaustive, is_proved }
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
    let path = path_of(found);
    let budget = Budget::near(task.settings.clarify_near(transitions, path.len()), machine, path);
    let mut looking = Looking { task, budget, context };
    let cut = looking.cut(machine, goal, found);
    let known = cut.as_ref().unwrap_or(found);
    let mut steps = length(known);
    let (shorter, is_shortest) = looking.near(machine, path_of(known), |looking, near, _| {
        let Looking { task, budget, context } = looking;
        let mut observer = EngineObserver::new(task, context, Goal::ShorterRun, near.inner().places(), None);
        let settings = settings(task, &observer, StopAt::First, near.memory_bytes());
        let bounds = ShortestBounds { steps, work_max: budget.transitions() };
        let nobody = &ProcessSet::EMPTY;
        let shortest = cycle::shortest(near, &mut observer, &settings, question_of(task, goal), nobody, bounds);
        budget.spend(shortest.work);
        let shorter = shortest.found.map(|run| {
            steps = length(&run);
            let path = path_of(&run);
            (run, path)
        });
        Searched { goes_on: shortest.proved || shorter.is_some(), is_proved: shortest.proved, shorter }
    });
    (shorter.or(cut), is_shortest)
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
    /// A larger radius is worth a try.
    goes_on: bool,
    /// Near the run, none is shorter than that, or than the one known if there is none.
    is_proved: bool,
}

impl Looking<'_, '_, '_> {
    /// A long run with shortcuts, if there are any; they take a part of what may be done.
    fn cut(&mut self, machine: &mut SearchedMachine, goal: cycle::Goal, found: &Run) -> Option<Run> {
        let FoundCycle::Lasso { stem, cycle } = found else { return None };
        let steps = length(found);
        if steps < LONG_STEPS {
            return None;
        }
        let rest = self.budget.set_aside(SHORTCUTS_SHARE);
        let mut observer = EngineObserver::new(self.task, self.context, Goal::ShorterRun, machine.places(), None);
        let settings = settings(self.task, &observer, StopAt::First, 0);
        let bounds = ShortestBounds { steps, work_max: self.budget.transitions() };
        let question = question_of(self.task, goal);
        let shorter = cycle::shortcuts(machine, &mut observer, &settings, question, (stem, cycle), bounds);
        self.budget.spend(shorter.work);
        self.budget.put_back(rest);
        shorter.found
    }

    /// Searches with a growing radius, around the shortest path that is known. The shortest run found, and whether none is shorter.
    fn near<T>(
        &mut self,
        machine: &mut SearchedMachine,
        mut path: Vec<Move>,
        mut search: impl FnMut(&mut Self, &mut Near<'_, SearchedMachine>, &[Move]) -> Searched<T>,
    ) -> (Option<T>, bool) {
        let mut best = None;
        if LONG_PATH <= path.len() && !self.has_shortcuts(machine, &path[..path.len() / PROBE_SHARE]) {
            return (None, false);
        }
        for radius in 0.. {
            let Some(mut near) = self.around(machine, &path, radius) else { break };
            let searched = search(self, &mut near, &path);
            let (sees_all, is_shortest) = (!near.was_left(), searched.is_proved && !near.was_left());
            if let Some((found, its_path)) = searched.shorter {
                (best, path) = (Some(found), its_path);
            }
            if is_shortest {
                return (best, true);
            }
            // To find the states around this path takes at least its length.
            if sees_all || !searched.goes_on || self.budget.transitions() < path.len() as u64 {
                break;
            }
        }
        (best, false)
    }

    /// Whether some state on a path can be reached from an earlier one with fewer steps, as far as can be found out.
    fn has_shortcuts(&mut self, machine: &mut SearchedMachine, path: &[Move]) -> bool {
        let Some(mut near) = self.around(machine, path, 0) else { return false };
        let observer = EngineObserver::new(self.task, self.context, Goal::ShorterRun, near.inner().places(), None);
        let mut observer = observer.within(&self.budget);
        let settings = settings(self.task, &observer, StopAt::Never, near.memory_bytes());
        let outcome = search::breadth_first(&mut near, &mut TreeStore::new(), &mut observer, &settings);
        self.budget.spend(listed(&outcome.statistics));
        // Each state on a path without shortcuts is one step further away.
        outcome.statistics.depth + 1 < outcome.statistics.states
    }

    /// The states near a path, if the budget suffices to find them.
    fn around<'m>(
        &mut self,
        machine: &'m mut SearchedMachine,
        path: &[Move],
        radius: u32,
    ) -> Option<Near<'m, SearchedMachine>> {
        let observer = EngineObserver::new(self.task, self.context, Goal::ShorterRun, machine.places(), None);
        let mut observer = observer.within(&self.budget);
        let (settings, mut statistics) = (settings(self.task, &observer, StopAt::First, 0), Statistics::default());
        let around = (path.iter().copied(), radius);
        let near = Near::around(machine, around, &mut observer, &settings, &mut statistics);
        self.budget.spend(listed(&statistics));
        near
    }
}

/// A search without a limit of depth, beside which this much memory is used.
fn settings(
    task: &Task<'_>,
    observer: &EngineObserver<'_, '_>,
    stop_at: StopAt,
    memory_bytes: u64,
) -> search::Settings {
    let memory_bytes_max = task.settings.limits.memory_bytes_max.map(|max| max.saturating_sub(memory_bytes));
    let limits = Limits { depth_max: None, memory_bytes_max, ..task.settings.limits };
    search::Settings { limits, stop_at, cancel: observer.context.cancel.clone() }
}

/// All steps of a run, its loop once.
pub(crate) fn path_of(run: &Run) -> Vec<Move> {
    match run {
        FoundCycle::Lasso { stem, cycle } => stem.iter().chain(cycle).copied().collect(),
        FoundCycle::Fault { path, .. } => path.clone(),
    }
}
