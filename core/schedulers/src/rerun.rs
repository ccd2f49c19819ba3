//! Single runs under a scheduler: where a known run delays it, and what becomes of the run if a delay is left out.
//!
//! A delay is named by the process that it holds back and by which of its macro steps that would have been. So it keeps its
//! meaning when the run before it changes.

use super::{ChosenScheduler, Overlap, scheduler};
use fabius_counterexample::ExplorationTarget;
use fabius_model::SearchedMachine;
use fabius_program::{Move, Watch, meaning::Fault};
use fabius_search::schedule::macro_steps::{MacroStepEnd, MacroStepLister};
use fabius_search::schedule::{MacroSteps, Scheduler, Step};
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
    /// Which of its macro steps would have been next, from 0.
    pub macro_step: usize,
    /// In the run it was found in: before the move with this index.
    pub before: usize,
}

impl DelayPoint {
    /// What it is, wherever it is.
    fn key(&self) -> (u8, usize) {
        (self.process, self.macro_step)
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
    /// How many macro steps each process had.
    macro_steps: Vec<(u8, usize)>,
}

impl ScheduledRun {
    /// How many macro steps a process had.
    pub fn macro_steps_of(&self, process: u8) -> usize {
        self.macro_steps.iter().find(|(pid, _)| *pid == process).map_or(0, |(_, macro_steps)| *macro_steps)
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

/// Which macro step is taken next.
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
    let (_, macro_steps) = under(loaded, target, scheduling, Guide::Path(like), like.len())?;
    let keys = delays.iter().map(DelayPoint::key).collect();
    under(loaded, target, scheduling, Guide::Delays(keys, macro_steps), steps_max).map(|(run, _)| run)
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
    macro_steps: HashMap<u8, Vec<Vec<Move>>>,
}

impl Done {
    /// Which macro step of a process is next.
    fn macro_step_of(&self, process: u8) -> usize {
        self.macro_steps.get(&process).map_or(0, Vec::len)
    }
}

impl Walk<'_> {
    fn run(mut self, machine: &mut SearchedMachine, scheduler: &ChosenScheduler) -> Result<Walked, String> {
        let mut state = Vec::new();
        machine.initial(&mut state).map_err(|fault| fault.to_string())?;
        let mut lister = MacroStepLister::new();
        let (mut macro_steps, mut after) = (MacroSteps::default(), MacroSteps::default());
        let mut list = |machine: &mut SearchedMachine, state: &[u32], macro_steps: &mut MacroSteps<Move, Fault>| {
            let _: ControlFlow<()> = lister.list(machine, state, macro_steps, || ControlFlow::Continue(()));
        };
        list(machine, &state, &mut macro_steps);
        let mut schedule = scheduler.start(macro_steps.situation());
        let mut done = Done::default();
        let end = loop {
            if macro_steps.is_empty() {
                break if macro_steps.ending() == Ending::InvalidEnd { RunEnd::Deadlock } else { RunEnd::Done };
            }
            if self.steps_max <= done.path.len() {
                break RunEnd::Limit;
            }
            let Some(index) = self.next(scheduler, &mut schedule, &macro_steps, &mut done)? else {
                break RunEnd::Limit;
            };
            let macro_step = macro_steps.get(index);
            let labels = macro_steps.labels(index).to_vec();
            done.path.extend_from_slice(&labels);
            if let Some(process) = macro_step.process {
                done.macro_steps.entry(process).or_default().push(labels);
            }
            match &macro_step.end {
                MacroStepEnd::Fault(fault) => break RunEnd::Fault(*fault),
                MacroStepEnd::Stuck(_) => break RunEnd::Deadlock,
                MacroStepEnd::State(_) => {}
            }
            let Some(target) = macro_steps.target(index) else { break RunEnd::Limit };
            list(machine, target, &mut after);
            let (process, labels, partners) =
                (macro_step.process, macro_steps.labels(index), macro_steps.partners(index));
            let (before, now) = (macro_steps.situation(), after.situation());
            scheduler.step(&mut schedule, &Step { process, labels, partners, before, after: now });
            std::mem::swap(&mut macro_steps, &mut after);
        };
        if let Guide::Path(path) = &self.guide {
            // The last macro step of the path may have gone on by itself.
            done.path.truncate(path.len());
        }
        let mut macro_steps: Vec<(u8, usize)> =
            done.macro_steps.iter().map(|(pid, macro_steps)| (*pid, macro_steps.len())).collect();
        macro_steps.sort_unstable();
        Ok((ScheduledRun { path: done.path, delays: done.delays, end, macro_steps }, done.macro_steps))
    }

    /// The macro step to take, after the scheduler was delayed as often as has to be; `None` if the path ends.
    fn next(
        &mut self,
        scheduler: &ChosenScheduler,
        schedule: &mut ScheduleState,
        macro_steps: &MacroSteps<Move, Fault>,
        done: &mut Done,
    ) -> Result<Option<usize>, String> {
        match &mut self.guide {
            Guide::Path(path) => {
                let rest = path.get(done.path.len()..).unwrap_or(&[]);
                if rest.is_empty() {
                    return Ok(None);
                }
                let index = on_path(macro_steps, rest)
                    .ok_or_else(|| format!("the run cannot go on under a scheduler after step {}", done.path.len()))?;
                let wanted = macro_steps.get(index).process;
                for _ in 0..macro_steps.enabled().len() {
                    let next = scheduler.next(schedule);
                    if wanted.is_none() || next == wanted {
                        break;
                    }
                    let point = |process| DelayPoint {
                        process,
                        macro_step: done.macro_step_of(process),
                        before: done.path.len(),
                    };
                    let held_back = next.map(point);
                    done.delays.extend(held_back);
                    scheduler.delay(schedule);
                }
                Ok(Some(index))
            }
            Guide::Delays(keys, like) => {
                let mut process = scheduler.next(schedule);
                // The only one that can move cannot be held back.
                for _ in 1..macro_steps.enabled().len() {
                    let Some(next) = process else { break };
                    let macro_step = done.macro_step_of(next);
                    let Some(at) = keys.iter().position(|key| *key == (next, macro_step)) else { break };
                    keys.remove(at);
                    done.delays.push(DelayPoint { process: next, macro_step, before: done.path.len() });
                    scheduler.delay(schedule);
                    process = scheduler.next(schedule);
                }
                let wanted = process.and_then(|process| like.get(&process)?.get(done.macro_step_of(process)));
                Ok(as_before(macro_steps, process, wanted))
            }
        }
    }
}

/// The macro step with which a path goes on: the longest; a fault only where the path ends.
fn on_path(macro_steps: &MacroSteps<Move, Fault>, rest: &[Move]) -> Option<usize> {
    let fits = |index: &usize| {
        let labels = macro_steps.labels(*index);
        let goes_on = !labels.is_empty() && rest.starts_with(labels);
        match &macro_steps.get(*index).end {
            MacroStepEnd::State(_) => goes_on || (!labels.is_empty() && labels.starts_with(rest)),
            MacroStepEnd::Fault(_) | MacroStepEnd::Stuck(_) => goes_on && rest.len() == labels.len(),
        }
    };
    let is_bad = |index: usize| !matches!(macro_steps.get(index).end, MacroStepEnd::State(_));
    (0..macro_steps.len())
        .filter(fits)
        .max_by_key(|index| (macro_steps.labels(*index).len().min(rest.len()), is_bad(*index)))
}

/// The macro step of a process that is like the one it took before: the same, else one that begins alike, else its first. If a
/// macro step is faulty, that comes first.
fn as_before(macro_steps: &MacroSteps<Move, Fault>, process: Option<u8>, wanted: Option<&Vec<Move>>) -> Option<usize> {
    let own: Vec<usize> = (0..macro_steps.len()).filter(|index| macro_steps.get(*index).process == process).collect();
    let alike = |index: usize| -> usize {
        let Some(wanted) = wanted else { return 0 };
        let pairs = macro_steps.labels(index).iter().zip(wanted);
        pairs.take_while(|(a, b)| a.pid == b.pid && a.edge == b.edge).count()
    };
    let is_bad = |index: usize| !matches!(macro_steps.get(index).end, MacroStepEnd::State(_));
    let same = |index: usize| wanted.is_some_and(|wanted| macro_steps.labels(index) == wanted.as_slice());
    let best =
        own.iter().copied().max_by_key(|index| (same(*index), alike(*index), is_bad(*index), usize::MAX - *index));
    best.or_else(|| (!macro_steps.is_empty()).then_some(0))
}
