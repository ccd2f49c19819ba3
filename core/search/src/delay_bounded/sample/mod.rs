//! Single runs at random, for systems too large to search: what is remembered of a run is the run.
//!
//! ```text
//! repeat:
//!   s := the initial state;  the sampler begins anew
//!   L times:
//!     report s if it is an invalid end
//!     p := the process that the sampler chooses            ([`delays`], [`walk`], [`pct`], [`pos`], [`surw`])
//!     report the faulty macro steps of p
//!     take one of the others, s → t, at random;  tell the sampler;  s := t
//! ```
//!
//! A fault of a process that is about to move is always seen, whatever choice inside the process is drawn.

mod delays;
mod pct;
mod pos;
mod surw;
mod walk;

use super::{Delay, DelayObserver, Listing, scheduled};
use crate::model::{Ending, ProcessSet, Processes};
use crate::observer::Settings;
use crate::outcome::{Completeness, Coverage, Halt, Outcome, Round, SampleStatistics, Statistics};
use crate::outcome::{ViolationKind, Violations};
use crate::schedule::macro_steps::MacroStepEnd;
use crate::schedule::{MacroSteps, Scheduler};
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::Exactness;
use crate::store::hash::hash_words;
use crate::toy::Random;
use fabius_base::StopReason;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Runs are not cut off before this many macro steps, …
const LENGTH_MIN: u64 = 16;
/// … and they are after this many, unless another length is asked for.
const LENGTH_MAX: u64 = 2_000;

/// How runs are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sampling {
    /// This many delays at random points of time.
    Delays(u32),
    /// Each process equally likely.
    Walk,
    /// Random priorities with `depth` − 1 changes.
    Pct {
        /// Of the bugs looked for.
        depth: u32,
    },
    /// Random priorities of macro steps.
    Pos,
    /// In proportion to the macro steps left.
    Surw,
}

/// What is to be drawn.
#[derive(Clone, Copy)]
pub struct Samples<'a, Label> {
    /// How.
    pub sampling: Sampling,
    /// The same seed gives the same runs: what run is drawn depends on this and on its number.
    pub seed: u64,
    /// Which runs are drawn: of those below `runs_max`, every `every`-th from `first` on. Whoever draws the first run also counts
    /// and reports what has to be found out before.
    pub first: u64,
    /// At least 1.
    pub every: u64,
    /// The numbers of runs are below this; without it, until something else ends it.
    pub runs_max: Option<u64>,
    /// L: runs are cut off after this many macro steps; without it, after twice as many as the scheduler takes by itself until it
    /// comes to an end or repeats itself.
    pub length: Option<u64>,
    /// The macro steps that SURW counts, by their first transitions.
    pub of_interest: &'a dyn Fn(&Label) -> bool,
}

/// Draws runs at random. In the outcome, states are those passed, the same one any number of times; nothing is ever
/// proved.
pub fn sample<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    samples: &Samples<'_, M::Label>,
) -> Outcome<M::Label, M::Fault>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut runs = Runs {
        listing: Listing::new(model, settings),
        scheduler,
        observer,
        samples,
        length: samples.length.unwrap_or(0),
        random: Random::numbered(samples.seed, 0),
        next: 0,
        is_counted: samples.first == 0,
        macro_steps: MacroSteps::default(),
        macro_steps_after: MacroSteps::default(),
        path: Vec::new(),
        delays: Vec::new(),
        runs: 0,
        processes: 0,
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
    };
    let run = runs.run();
    let mut outcome = runs.violations.conclude(run, Exactness::Exact, runs.statistics);
    if outcome.completeness == Completeness::Exhaustive {
        outcome.completeness = Completeness::Stopped(StopReason::Delays);
    }
    let length = runs.length.max(1);
    let probability = match samples.sampling {
        Sampling::Delays(delays) => Some(delays::probability(delays, length)),
        Sampling::Pct { depth } => Some(pct::probability(depth, length, runs.processes)),
        Sampling::Walk | Sampling::Pos | Sampling::Surw => None,
    };
    let samples = Some(SampleStatistics { runs: runs.runs, length, probability });
    Outcome { coverage: Coverage::Ended(None), samples, ..outcome }
}

struct Runs<'a, M: Processes, D: Scheduler<M::Label>, O> {
    listing: Listing<'a, M>,
    scheduler: &'a D,
    observer: &'a mut O,
    samples: &'a Samples<'a, M::Label>,
    /// L.
    length: u64,
    random: Random,
    /// The number of the next run.
    next: u64,
    /// Whether what happens is counted and reported: not if it is for another part of the runs to do so.
    is_counted: bool,
    macro_steps: MacroSteps<M::Label, M::Fault>,
    macro_steps_after: MacroSteps<M::Label, M::Fault>,
    path: Vec<M::Label>,
    delays: Vec<Delay>,
    runs: u64,
    processes: u32,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// Decides who moves, in one run.
trait Sampler<M: Processes, D: Scheduler<M::Label>> {
    /// The process that is to move; somebody can.
    fn choose(&mut self, here: &mut Here<'_, M, D>) -> Option<u8>;

    /// A macro step was taken.
    fn moved(&mut self, step: &mut Taken<'_>) -> ControlFlow<StopReason> {
        let _ = step;
        ControlFlow::Continue(())
    }
}

/// Where a run stands.
struct Here<'a, M: Processes, D: Scheduler<M::Label>> {
    macro_steps: &'a MacroSteps<M::Label, M::Fault>,
    enabled: ProcessSet,
    /// Macro steps taken.
    taken: u64,
    /// Transitions taken.
    transitions: usize,
    scheduler: &'a D,
    schedule: &'a mut D::State,
    random: &'a mut Random,
    /// Who was held back, and where.
    delays: &'a mut Vec<Delay>,
    of_interest: &'a dyn Fn(&M::Label) -> bool,
}

/// A macro step that was taken.
struct Taken<'a> {
    process: u8,
    /// The processes that could have moved.
    enabled: ProcessSet,
    of_interest: bool,
    /// Whether the step and what another process could have done instead get in each other's way.
    races: &'a mut dyn FnMut(u8) -> ControlFlow<StopReason, bool>,
}

/// Points of time in a run, each with a number that is its own.
struct Points(Vec<(u64, u64)>);

impl Points {
    /// Points among the first `length` macro steps.
    fn draw(count: u32, length: u64, random: &mut Random) -> Self {
        let mut points: Vec<(u64, u64)> =
            (1..=count).map(|number| (random.below(length as usize) as u64, u64::from(number))).collect();
        points.sort_unstable();
        Self(points)
    }

    /// Takes those that come before the next macro step.
    fn take_due(&mut self, taken: u64) -> Vec<u64> {
        let due = self.0.iter().take_while(|&&(point, _)| point <= taken).count();
        self.0.drain(..due).map(|(_, number)| number).collect()
    }
}

/// Of each process, or of its pending macro step; 0 if not drawn.
struct Priorities([u64; 256]);

impl Priorities {
    fn none() -> Self {
        Self([0; 256])
    }

    /// The process of greatest priority; priorities are drawn where there is none.
    fn greatest(&mut self, enabled: &ProcessSet, random: &mut Random) -> Option<u8> {
        for process in enabled.iter() {
            let priority = &mut self.0[usize::from(process)];
            if *priority == 0 {
                *priority = random.next_u64() | 1 << 32;
            }
        }
        enabled.iter().max_by_key(|&process| self.0[usize::from(process)])
    }

    fn set(&mut self, process: u8, priority: u64) {
        self.0[usize::from(process)] = priority;
    }
}

impl<M, D, O> Runs<'_, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    fn run(&mut self) -> ControlFlow<Halt> {
        let mut initial = Vec::new();
        if let Err(fault) = self.listing.model.initial(&mut initial) {
            return self.report(ViolationKind::Fault(fault), None);
        }
        if self.samples.length.is_none() {
            self.length = self.undisturbed(&initial)?.saturating_mul(2).clamp(LENGTH_MIN, LENGTH_MAX);
        }
        let averages = match self.samples.sampling {
            Sampling::Surw => surw::profile(self, &initial)?,
            _ => Vec::new(),
        };
        if !std::mem::replace(&mut self.is_counted, true) {
            (self.statistics, self.runs) = (Statistics::default(), 0);
        }
        let every = self.samples.every.max(1);
        self.next += (self.samples.first + every - self.next % every) % every;
        while self.samples.runs_max.is_none_or(|max| self.next < max) {
            self.begin();
            let mut sampler = self.sampler(&averages);
            self.one(&initial, &mut *sampler)?;
            self.next += every;
            let bound = self.runs.min(u64::from(u32::MAX)) as u32;
            let round = Round { bound, states: self.statistics.states, ..Round::default() };
            self.observer.round(&round).map_break(Halt::Stopped)?;
            if let Some(wanted) = self.observer.snapshot_request() {
                let look = SearchSnapshot::at(Phase::Sample).along(wanted, self.path.iter().copied());
                self.observer.on_snapshot(look);
            }
        }
        ControlFlow::Continue(())
    }

    /// The next run has random numbers of its own.
    fn begin(&mut self) {
        self.random = Random::numbered(self.samples.seed, self.next);
    }

    /// The macro steps that the scheduler takes by itself until it comes to an end or repeats itself.
    fn undisturbed(&mut self, initial: &[u32]) -> ControlFlow<Halt, u64> {
        let mut seen = FxHashSet::default();
        self.listing
            .list(initial, &mut self.macro_steps, &mut self.statistics, false, self.observer)
            .map_break(Halt::Stopped)?;
        let mut schedule = self.scheduler.start(self.macro_steps.situation());
        for taken in 0..LENGTH_MAX {
            let process = self.scheduler.next(&schedule);
            let mut macro_steps =
                (0..self.macro_steps.len()).filter(|&macro_step| self.macro_steps.get(macro_step).process == process);
            let first = macro_steps.find_map(|index| Some((index, self.macro_steps.target(index)?.to_vec())));
            // States may be large. Two of the same hash only make runs shorter.
            let is_new = seen.insert((hash_words(self.macro_steps.state(), 0), schedule.clone()));
            let Some((index, target)) = first.filter(|_| is_new) else { return ControlFlow::Continue(taken) };
            self.listing
                .list(&target, &mut self.macro_steps_after, &mut self.statistics, false, self.observer)
                .map_break(Halt::Stopped)?;
            schedule =
                scheduled(self.scheduler, &schedule, &self.macro_steps, index, self.macro_steps_after.situation());
            std::mem::swap(&mut self.macro_steps, &mut self.macro_steps_after);
        }
        ControlFlow::Continue(LENGTH_MAX)
    }

    /// The sampler of the next run.
    fn sampler(&mut self, averages: &[f64]) -> Box<dyn Sampler<M, D>> {
        match self.samples.sampling {
            Sampling::Delays(delays) => Box::new(delays::Delays::new(delays, self.length, &mut self.random)),
            Sampling::Walk => Box::new(walk::Walk::default()),
            Sampling::Pct { depth } => Box::new(pct::Pct::new(depth, self.length, &mut self.random)),
            Sampling::Pos => Box::new(pos::Pos::default()),
            Sampling::Surw => Box::new(surw::Surw::new(averages)),
        }
    }

    /// One run.
    fn one(&mut self, initial: &[u32], sampler: &mut dyn Sampler<M, D>) -> ControlFlow<Halt> {
        self.runs += 1;
        self.path.clear();
        self.delays.clear();
        self.listing
            .list(initial, &mut self.macro_steps, &mut self.statistics, false, self.observer)
            .map_break(Halt::Stopped)?;
        let mut schedule = self.scheduler.start(self.macro_steps.situation());
        for taken in 0..self.length {
            self.statistics.states += 1;
            if self.macro_steps.ending() == Ending::InvalidEnd {
                self.report(ViolationKind::InvalidEnd, None)?;
            }
            let process = self.choose(sampler, taken, &mut schedule);
            let Some(index) = self.draw_macro_step(process)? else { return ControlFlow::Continue(()) };
            self.path.extend_from_slice(self.macro_steps.labels(index));
            self.statistics.depth = self.statistics.depth.max(self.path.len() as u64);
            let target = self.macro_steps.target(index).expect("the macro step leads to a state").to_vec();
            self.listing
                .list(&target, &mut self.macro_steps_after, &mut self.statistics, false, self.observer)
                .map_break(Halt::Stopped)?;
            schedule =
                scheduled(self.scheduler, &schedule, &self.macro_steps, index, self.macro_steps_after.situation());
            if let Some(process) = process {
                self.tell(sampler, process, index).map_break(Halt::Stopped)?;
            }
            std::mem::swap(&mut self.macro_steps, &mut self.macro_steps_after);
        }
        ControlFlow::Continue(())
    }

    /// The process that is to move, if any can.
    fn choose(&mut self, sampler: &mut dyn Sampler<M, D>, taken: u64, schedule: &mut D::State) -> Option<u8> {
        let enabled = *self.macro_steps.enabled();
        self.processes = self.processes.max(u32::from(enabled.iter().last()?) + 1);
        sampler.choose(&mut Here {
            macro_steps: &self.macro_steps,
            enabled,
            taken,
            transitions: self.path.len(),
            scheduler: self.scheduler,
            schedule,
            random: &mut self.random,
            delays: &mut self.delays,
            of_interest: self.samples.of_interest,
        })
    }

    /// Tells the sampler of a macro step from `macro_steps` to `macro_steps_after`.
    fn tell(&mut self, sampler: &mut dyn Sampler<M, D>, process: u8, index: usize) -> ControlFlow<StopReason> {
        let enabled = *self.macro_steps.enabled();
        let of_interest = self.macro_steps.labels(index).first().is_some_and(|label| (self.samples.of_interest)(label));
        sampler.moved(&mut Taken { process, enabled, of_interest, races: &mut |other| self.races(index, other) })
    }

    /// One of the macro steps of a process that lead on; faulty ones are reported.
    fn draw_macro_step(&mut self, process: Option<u8>) -> ControlFlow<Halt, Option<usize>> {
        let mut leading = Vec::new();
        let mut from = 0;
        while let Some(index) = self.macro_steps.next_of(process, from) {
            from = index + 1;
            match &self.macro_steps.get(index).end {
                MacroStepEnd::State(_) => leading.push(index),
                MacroStepEnd::Fault(fault) => {
                    let kind = ViolationKind::Fault(*fault);
                    self.report(kind, Some(index))?;
                }
                MacroStepEnd::Stuck(_) => self.report(ViolationKind::InvalidEnd, Some(index))?,
            }
        }
        ControlFlow::Continue(leading.get(self.random.below(leading.len())).copied())
    }

    /// Whether the macro step taken and what another process could do instead get in each other's way.
    fn races(&mut self, taken: usize, other: u8) -> ControlFlow<StopReason, bool> {
        let mut after_other = MacroSteps::default();
        let mut from = 0;
        while let Some(index) = self.macro_steps.next_of(Some(other), from) {
            from = index + 1;
            let Some(target) = self.macro_steps.target(index) else { return ControlFlow::Continue(true) };
            self.listing.list(target, &mut after_other, &mut self.statistics, false, self.observer)?;
            let then = find(&after_other, self.macro_steps.labels(taken));
            let before = find(&self.macro_steps_after, self.macro_steps.labels(index));
            let (Some(then), Some(before)) = (then, before) else { return ControlFlow::Continue(true) };
            if after_other.target(then) != self.macro_steps_after.target(before) {
                return ControlFlow::Continue(true);
            }
        }
        ControlFlow::Continue(false)
    }

    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, macro_step: Option<usize>) -> ControlFlow<Halt> {
        if !self.is_counted {
            return ControlFlow::Continue(());
        }
        self.statistics.violations += 1;
        let labels: &[M::Label] = macro_step.map_or(&[], |index| self.macro_steps.labels(index));
        let (label, state) = self.macro_steps.place(macro_step);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let (path, delays) = (&self.path, &self.delays);
        self.violations.record(key, kind, || (path.iter().chain(labels).copied().collect(), delays.clone()))
    }
}

/// The macro step with these transitions.
fn find<L: Copy + PartialEq, F: Copy>(macro_steps: &MacroSteps<L, F>, labels: &[L]) -> Option<usize> {
    (0..macro_steps.len()).find(|&index| macro_steps.labels(index) == labels && macro_steps.target(index).is_some())
}
