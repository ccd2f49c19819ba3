//! A shorter run than the one that a search for endless runs found, within a small budget.

use crate::adapter::SearchedMachine;
use crate::event::Goal;
use crate::run::Surroundings;
use crate::settings::{Fairness, Order};
use crate::task::Task;
use crate::watcher::{SHORTEN_TIME_MAX, Watcher};
use fabius_base::Limits;
use fabius_program::{CLAIM_PID, Move, meaning::Fault};
use fabius_search::cycle::{self, Found, Shortest};
use fabius_search::{self as search, ProcessSet, StopAt};

/// A first look stores so few states, …
const STATES_SOON: u64 = 2_000;
/// … and each in which some processes rest, so many.
const STATES_WITHOUT: u64 = 10_000;
/// The last one may store so many times the states that the first search stored, …
const STATES_FACTOR: u64 = 10;
/// … but always so many. Each also may take only [`SHORTEN_TIME_MAX`].
const STATES_MIN: u64 = 100_000;

/// Looks for a run with the fewest steps that violates the property as the one found does, to be as fair as the settings ask
/// for: one that is shorter than that one, and whether it is proved that nothing is shorter.
///
/// What other processes do between two steps of a claim counts, the claim's own steps do not.
pub(crate) fn shortest(
    task: &Task<'_>,
    goal: cycle::Goal,
    machine: &mut SearchedMachine,
    found: &Found<Move, Fault>,
    states: u64,
    around: &mut Surroundings<'_>,
) -> Shortest<Move, Fault> {
    let steps = length(found);
    let wanted = task.settings.search != Order::DepthFirst && around.cancel.requested().is_none();
    if !wanted || steps == 0 {
        return Shortest { found: None, proved: wanted };
    }
    let mut shortening = Shortening { task, goal, machine, around, best: steps, found: None };
    let proved = shortening.look(&ProcessSet::EMPTY, STATES_SOON) || {
        shortening.look_without_some(processes(found));
        shortening.look(&ProcessSet::EMPTY, states.saturating_mul(STATES_FACTOR).max(STATES_MIN))
    };
    Shortest { found: shortening.found, proved }
}

/// A search for a shorter run, step by step.
struct Shortening<'s, 'a, 'b> {
    task: &'s Task<'a>,
    goal: cycle::Goal,
    machine: &'s mut SearchedMachine,
    around: &'s mut Surroundings<'b>,
    /// Steps of the shortest run that is known.
    best: u64,
    /// That run, if it is not the first one.
    found: Option<Found<Move, Fault>>,
}

impl Shortening<'_, '_, '_> {
    /// Lets all processes but one rest, then one after the other, and keeps it so if that shows a shorter run.
    fn look_without_some(&mut self, processes: u8) {
        let end = (self.around.now)() + SHORTEN_TIME_MAX;
        for process in (0..processes).take_while(|_| (self.around.now)() < end) {
            let mut others = ProcessSet::ALL;
            others.remove(process);
            self.look(&others, STATES_WITHOUT);
        }
        let mut resting = ProcessSet::EMPTY;
        for process in (0..processes).take_while(|_| (self.around.now)() < end) {
            let best = self.best;
            resting.insert(process);
            self.look(&resting, STATES_WITHOUT);
            if self.best == best {
                resting.remove(process);
            }
        }
    }

    /// Looks for a shorter run in so many states; whether it is proved that there is none shorter than the best now.
    fn look(&mut self, resting: &ProcessSet, states_max: u64) -> bool {
        let limits = self.task.settings.limits;
        let states_max = limits.states_max.map_or(states_max, |max| max.min(states_max));
        let limits = Limits { states_max: Some(states_max), depth_max: None, ..limits };
        let settings = search::Settings { limits, stop_at: StopAt::First, cancel: self.around.cancel.clone() };
        let fairness = match self.task.settings.fairness {
            Fairness::None => cycle::Fairness::None,
            Fairness::Weak => cycle::Fairness::Weak,
            Fairness::Strong => cycle::Fairness::Strong,
        };
        let mut watcher = Watcher::new(self.task, self.around, Goal::ShorterRun, self.machine.places(), None);
        let question = (self.goal, fairness);
        let Shortest { found, proved } =
            cycle::shortest(self.machine, &mut watcher, &settings, question, resting, self.best);
        if let Some(found) = found {
            self.best = length(&found);
            self.found = Some(found);
        }
        proved
    }
}

/// The numbers of all processes that move in a run are below this.
fn processes(found: &Found<Move, Fault>) -> u8 {
    let (stem, cycle) = parts(found);
    let moves = stem.iter().chain(cycle).filter(|step| step.pid != CLAIM_PID);
    let pids = moves.flat_map(|step| [Some(step.pid), step.partner.map(|(pid, _)| pid)]).flatten();
    pids.max().map_or(0, |pid| pid.saturating_add(1))
}

/// What comes before the loop of a run, and its loop.
fn parts(found: &Found<Move, Fault>) -> (&[Move], &[Move]) {
    match found {
        Found::Lasso { stem, cycle } => (stem, cycle),
        Found::Fault { path, .. } => (path, &[]),
    }
}

/// How many steps the processes take in a run, in its loop once.
fn length(found: &Found<Move, Fault>) -> u64 {
    let (stem, cycle) = parts(found);
    stem.iter().chain(cycle).filter(|step| step.pid != CLAIM_PID).count() as u64
}
