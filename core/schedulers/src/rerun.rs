//! Single runs under a scheduler: where a known run delays it, and what becomes of the run if a delay is left out.
//!
//! A delay is named by the process that it holds back and by which of its turns that would have been. So it keeps its
//! meaning when the run before it changes.

use super::{ChosenScheduler, Overlap, scheduler};
use fabius_counterexample::ExplorationTarget;
use fabius_model::SearchedMachine;
use fabius_program::{Move, Watch, meaning::Fault};
use fabius_search::schedule::turns::{Lister, TurnEnd};
use fabius_search::schedule::{Scheduler, Step, Turns};
use fabius_search::{Ending, Model};
use fabius_task::load::Loaded;
use fabius_task::scheduler::choose;
use fabius_task::settings::SchedulerChoice;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Who decides: a scheduler, and the seed of one that is random.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scheduling {
    /// The scheduler.
    pub scheduler: SchedulerChoice,
    /// The seed.
    pub seed: u64,
}

impl Scheduling {
    /// The scheduler's name as people say it, for this model.
    pub fn name(&self, target: &ExplorationTarget) -> String {
        choose(&target.program, &self.scheduler).kind.name()
    }
}

/// A process is held back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DelayPoint {
    /// The process.
    pub process: u8,
    /// Which of its turns would have been next, from 0.
    pub turn: usize,
    /// In the run it was found in: before the move with this index.
    pub before: usize,
}

impl DelayPoint {
    /// What it is, wherever it is.
    fn key(&self) -> (u8, usize) {
        (self.process, self.turn)
    }
}

/// A run under a scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduledRun {
    /// Its moves.
    pub path: Vec<Move>,
    /// Where the scheduler was delayed.
    pub delays: Vec<DelayPoint>,
    /// How it ends.
    pub end: RunEnd,
    /// How many turns each process had.
    turns: Vec<(u8, usize)>,
}

impl ScheduledRun {
    /// How many turns a process had.
    pub fn turns_of(&self, process: u8) -> usize {
        self.turns.iter().find(|(pid, _)| *pid == process).map_or(0, |(_, turns)| *turns)
    }
}

/// How a run under a scheduler ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunEnd {
    /// Its last step has this fault.
    Fault(Fault),
    /// Nothing can move, and that is no end.
    Deadlock,
    /// Nothing can move, and that is as it should be.
    Done,
    /// It goes on.
    Limit,
}

impl RunEnd {
    /// Whether two runs go wrong in the same way.
    pub fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Fault(a), Self::Fault(b)) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
            (a, b) => a == b,
        }
    }
}

/// Which turn is taken next.
enum Guide<'a> {
    /// The one with which the path goes on.
    Path(&'a [Move]),
    /// That of the scheduler, delayed at these points; each process chooses as it does on the path, as long as it can.
    Delays(Vec<(u8, usize)>, HashMap<u8, Vec<Vec<Move>>>),
}

/// Where a run delays a scheduler.
///
/// # Errors
/// If the run is not possible, or beside a claim: in a sentence.
pub fn delays_of(
    loaded: &Loaded,
    target: &ExplorationTarget,
    path: &[Move],
    scheduling: &Scheduling,
) -> Result<ScheduledRun, String> {
    under(loaded, target, scheduling, Guide::Path(path), path.len()).map(|(run, _)| run)
}

/// The run under a scheduler that is delayed at these points and nowhere else. Where a process has several ways on, it
/// takes that of the run `like`, as long as there is one. Ends after this many moves at the latest.
///
/// # Errors
/// If the run `like` is not possible, or beside a claim: in a sentence.
pub fn rerun(
    loaded: &Loaded,
    target: &ExplorationTarget,
    like: &[Move],
    scheduling: &Scheduling,
    delays: &[DelayPoint],
    steps_max: usize,
) -> Result<ScheduledRun, String> {
    let (_, turns) = under(loaded, target, scheduling, Guide::Path(like), like.len())?;
    let keys = delays.iter().map(DelayPoint::key).collect();
    under(loaded, target, scheduling, Guide::Delays(keys, turns), steps_max).map(|(run, _)| run)
}

/// Where the scheduler is.
type ScheduleState = <ChosenScheduler as Scheduler<Move>>::State;

type Walked = (ScheduledRun, HashMap<u8, Vec<Vec<Move>>>);

fn under(
    loaded: &Loaded,
    target: &ExplorationTarget,
    scheduling: &Scheduling,
    guide: Guide<'_>,
    steps_max: usize,
) -> Result<Walked, String> {
    if target.watch.claim.is_some() {
        return Err("delays are counted in runs without a claim beside them".to_owned());
    }
    let watch = Watch { trace: target.watch.trace, ..Watch::NOTHING };
    let machine = SearchedMachine::new(Arc::clone(&target.program), watch);
    let mut machine = machine.map_err(|refusal| refusal.to_string())?;
    let chosen = choose(&target.program, &scheduling.scheduler);
    let scheduler = scheduler(loaded, machine.machine(), &chosen.kind, scheduling.seed, &Overlap::default());
    Walk { guide, steps_max }.run(&mut machine, &scheduler)
}

/// A run to be made.
struct Walk<'a> {
    guide: Guide<'a>,
    steps_max: usize,
}

/// What was done so far.
#[derive(Default)]
struct Done {
    path: Vec<Move>,
    delays: Vec<DelayPoint>,
    turns: HashMap<u8, Vec<Vec<Move>>>,
}

impl Done {
    /// Which turn of a process is next.
    fn turn_of(&self, process: u8) -> usize {
        self.turns.get(&process).map_or(0, Vec::len)
    }
}

impl Walk<'_> {
    fn run(mut self, machine: &mut SearchedMachine, scheduler: &ChosenScheduler) -> Result<Walked, String> {
        let mut state = Vec::new();
        machine.initial(&mut state).map_err(|fault| fault.to_string())?;
        let mut lister = Lister::new();
        let (mut turns, mut after) = (Turns::default(), Turns::default());
        let mut list = |machine: &mut SearchedMachine, state: &[u32], turns: &mut Turns<Move, Fault>| {
            let _: ControlFlow<()> = lister.list(machine, state, turns, || ControlFlow::Continue(()));
        };
        list(machine, &state, &mut turns);
        let mut schedule = scheduler.start(turns.situation());
        let mut done = Done::default();
        let end = loop {
            if turns.is_empty() {
                break if turns.ending() == Ending::InvalidEnd { RunEnd::Deadlock } else { RunEnd::Done };
            }
            if self.steps_max <= done.path.len() {
                break RunEnd::Limit;
            }
            let Some(index) = self.next(scheduler, &mut schedule, &turns, &mut done)? else { break RunEnd::Limit };
            let turn = turns.get(index);
            let labels = turns.labels(index).to_vec();
            done.path.extend_from_slice(&labels);
            if let Some(process) = turn.process {
                done.turns.entry(process).or_default().push(labels);
            }
            match &turn.end {
                TurnEnd::Fault(fault) => break RunEnd::Fault(*fault),
                TurnEnd::Stuck(_) => break RunEnd::Deadlock,
                TurnEnd::State(_) => {}
            }
            let Some(target) = turns.target(index) else { break RunEnd::Limit };
            list(machine, target, &mut after);
            let (process, labels, partners) = (turn.process, turns.labels(index), turns.partners(index));
            let (before, now) = (turns.situation(), after.situation());
            scheduler.step(&mut schedule, &Step { process, labels, partners, before, after: now });
            std::mem::swap(&mut turns, &mut after);
        };
        if let Guide::Path(path) = &self.guide {
            // The last turn of the path may have gone on by itself.
            done.path.truncate(path.len());
        }
        let mut turns: Vec<(u8, usize)> = done.turns.iter().map(|(pid, turns)| (*pid, turns.len())).collect();
        turns.sort_unstable();
        Ok((ScheduledRun { path: done.path, delays: done.delays, end, turns }, done.turns))
    }

    /// The turn to take, after the scheduler was delayed as often as has to be; `None` if the path ends.
    fn next(
        &mut self,
        scheduler: &ChosenScheduler,
        schedule: &mut ScheduleState,
        turns: &Turns<Move, Fault>,
        done: &mut Done,
    ) -> Result<Option<usize>, String> {
        match &mut self.guide {
            Guide::Path(path) => {
                let rest = path.get(done.path.len()..).unwrap_or(&[]);
                if rest.is_empty() {
                    return Ok(None);
                }
                let index = on_path(turns, rest)
                    .ok_or_else(|| format!("the run cannot go on under a scheduler after step {}", done.path.len()))?;
                let wanted = turns.get(index).process;
                for _ in 0..turns.enabled().len() {
                    let next = scheduler.next(schedule);
                    if wanted.is_none() || next == wanted {
                        break;
                    }
                    let point = |process| DelayPoint { process, turn: done.turn_of(process), before: done.path.len() };
                    let held_back = next.map(point);
                    done.delays.extend(held_back);
                    scheduler.delay(schedule);
                }
                Ok(Some(index))
            }
            Guide::Delays(keys, like) => {
                let mut process = scheduler.next(schedule);
                // The only one that can move cannot be held back.
                for _ in 1..turns.enabled().len() {
                    let Some(next) = process else { break };
                    let turn = done.turn_of(next);
                    let Some(at) = keys.iter().position(|key| *key == (next, turn)) else { break };
                    keys.remove(at);
                    done.delays.push(DelayPoint { process: next, turn, before: done.path.len() });
                    scheduler.delay(schedule);
                    process = scheduler.next(schedule);
                }
                let wanted = process.and_then(|process| like.get(&process)?.get(done.turn_of(process)));
                Ok(as_before(turns, process, wanted))
            }
        }
    }
}

/// The turn with which a path goes on: the longest; a fault only where the path ends.
fn on_path(turns: &Turns<Move, Fault>, rest: &[Move]) -> Option<usize> {
    let fits = |index: &usize| {
        let labels = turns.labels(*index);
        let goes_on = !labels.is_empty() && rest.starts_with(labels);
        match &turns.get(*index).end {
            TurnEnd::State(_) => goes_on || (!labels.is_empty() && labels.starts_with(rest)),
            TurnEnd::Fault(_) | TurnEnd::Stuck(_) => goes_on && rest.len() == labels.len(),
        }
    };
    let is_bad = |index: usize| !matches!(turns.get(index).end, TurnEnd::State(_));
    (0..turns.len()).filter(fits).max_by_key(|index| (turns.labels(*index).len().min(rest.len()), is_bad(*index)))
}

/// The turn of a process that is like the one it took before: the same, else one that begins alike, else its first. If a
/// turn is faulty, that comes first.
fn as_before(turns: &Turns<Move, Fault>, process: Option<u8>, wanted: Option<&Vec<Move>>) -> Option<usize> {
    let own: Vec<usize> = (0..turns.len()).filter(|index| turns.get(*index).process == process).collect();
    let alike = |index: usize| -> usize {
        let Some(wanted) = wanted else { return 0 };
        let pairs = turns.labels(index).iter().zip(wanted);
        pairs.take_while(|(a, b)| a.pid == b.pid && a.edge == b.edge).count()
    };
    let is_bad = |index: usize| !matches!(turns.get(index).end, TurnEnd::State(_));
    let same = |index: usize| wanted.is_some_and(|wanted| turns.labels(index) == wanted.as_slice());
    let best =
        own.iter().copied().max_by_key(|index| (same(*index), alike(*index), is_bad(*index), usize::MAX - *index));
    best.or_else(|| (!turns.is_empty()).then_some(0))
}
