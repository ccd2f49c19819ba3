//! Single runs at random, for systems too large to search: what is remembered of a run is the run.
//!
//! * *Delays* (Desai, Qadeer, Seshia: *Systematic Testing of Asynchronous Reactive Systems*, FSE 2015): d points of
//!   time are drawn from the first L turns, uniformly and independently; the scheduler is left alone but for a delay
//!   at each of these points. A run of at most L turns that needs d delays, and no luck in choices inside processes,
//!   is met with a probability of at least 1/Lᵈ.
//! * *Walk*: each time one of the processes that can move, all equally likely.
//! * *PCT* (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): random priorities; at d − 1 points of
//!   time, drawn from the first L turns, the process that is to move becomes the least important. A bug of depth d among
//!   n processes is met with a probability of at least 1/(n·Lᵈ⁻¹).
//! * *POS* (Yuan, Yang, Gu, CAV 2018): each pending turn has a random priority, and the greatest goes first. Those that
//!   race with it get new ones. Two turns race if they do not commute here, or one keeps the other from happening.
//! * *SURW* (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025): processes are drawn in proportion to how many turns they
//!   have left, which makes all orders of these turns equally likely; only turns that are *of interest* count.
//!   How many there are is what earlier runs had on average.
//!
//! A fault of a process that is about to move is always seen, whatever choice inside the process is drawn.

use super::{Delay, DelayObserver, Listing, scheduled};
use crate::look::{Look, Phase};
use crate::model::{Ending, ProcessSet, Processes};
use crate::observer::{Budget, Settings};
use crate::outcome::{Completeness, Coverage, Halt, Outcome, Round, SampleStatistics, Statistics};
use crate::outcome::{ViolationKind, Violations};
use crate::schedule::turns::{Lister, TurnEnd};
use crate::schedule::{Scheduler, Turns};
use crate::store::Exactness;
use crate::toy::Random;
use fabius_base::StopReason;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Runs are not cut off before this many turns, …
const LENGTH_MIN: u64 = 16;
/// … and they are after this many, unless another length is asked for.
const LENGTH_MAX: u64 = 2_000;
/// This many runs at random tell how many turns the processes have.
const PROFILE_RUNS: u64 = 16;

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
    /// Random priorities of turns.
    Pos,
    /// In proportion to the turns left.
    Surw,
}

/// What is to be drawn.
#[derive(Clone, Copy)]
pub struct Samples<'a, Label> {
    /// How.
    pub sampling: Sampling,
    /// The same seed gives the same runs.
    pub seed: u64,
    /// At most this many runs; without it, until something else ends it.
    pub runs_max: Option<u64>,
    /// L: runs are cut off after this many turns; without it, after twice as many as the scheduler takes by itself until it
    /// comes to an end or repeats itself.
    pub length: Option<u64>,
    /// The turns that SURW counts, by their first transitions.
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
    let mut sampler = Sampler {
        listing: Listing { model, lister: Lister::new(), budget: Budget::new(settings) },
        scheduler,
        observer,
        samples,
        length: samples.length.unwrap_or(0),
        random: Random::new(samples.seed),
        turns: Turns::default(),
        turns_after: Turns::default(),
        path: Vec::new(),
        delays: Vec::new(),
        averages: Vec::new(),
        runs: 0,
        processes: 0,
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
    };
    let run = sampler.run();
    let mut outcome = sampler.violations.conclude(run, Exactness::Exact, sampler.statistics);
    if outcome.completeness == Completeness::Exhaustive {
        outcome.completeness = Completeness::Stopped(StopReason::Delays);
    }
    let length = sampler.length.max(1);
    let probability = match samples.sampling {
        Sampling::Delays(delays) => Some((length as f64).powi(-(delays.min(1000) as i32))),
        Sampling::Pct { depth } => {
            let changes = depth.saturating_sub(1).min(1000) as i32;
            Some((length as f64).powi(-changes) / f64::from(sampler.processes.max(1)))
        }
        Sampling::Walk | Sampling::Pos | Sampling::Surw => None,
    };
    let samples = Some(SampleStatistics { runs: sampler.runs, length, probability });
    Outcome { coverage: Coverage::Ended(None), samples, ..outcome }
}

struct Sampler<'a, M: Processes, D: Scheduler<M::Label>, O> {
    listing: Listing<'a, M>,
    scheduler: &'a D,
    observer: &'a mut O,
    samples: &'a Samples<'a, M::Label>,
    /// L.
    length: u64,
    random: Random,
    turns: Turns<M::Label, M::Fault>,
    turns_after: Turns<M::Label, M::Fault>,
    path: Vec<M::Label>,
    delays: Vec<Delay>,
    /// Turns of interest of each process, on average.
    averages: Vec<f64>,
    runs: u64,
    processes: u32,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// Who moves next, for the length of one run.
struct Chooser<State> {
    sampling: Sampling,
    schedule: State,
    /// Turns before which something changes, in order, each with the priority that PCT gives there.
    points: Vec<(u64, u64)>,
    /// Priority of each process, or of its pending turn; 0 if not drawn.
    priorities: Vec<u64>,
    /// Turns of interest that each process has left.
    left: Vec<f64>,
    /// SURW: who takes the next turn of interest.
    intended: Option<u8>,
}

impl<M, D, O> Sampler<'_, M, D, O>
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
        if self.samples.sampling == Sampling::Surw {
            self.profile(&initial)?;
        }
        while self.samples.runs_max.is_none_or(|max| self.runs < max) {
            self.one(&initial, self.samples.sampling)?;
            let bound = self.runs.min(u64::from(u32::MAX)) as u32;
            let round = Round { bound, states: self.statistics.states, ..Round::default() };
            self.observer.round(&round).map_break(Halt::Stopped)?;
            if let Some(wanted) = self.observer.curiosity() {
                let look = Look::at(Phase::Sample).along(wanted, self.path.iter().copied());
                self.observer.shown(look);
            }
        }
        ControlFlow::Continue(())
    }

    /// The turns that the scheduler takes by itself until it comes to an end or repeats itself.
    fn undisturbed(&mut self, initial: &[u32]) -> ControlFlow<Halt, u64> {
        let mut seen = HashSet::new();
        self.listing
            .list(initial, &mut self.turns, &mut self.statistics, false, self.observer)
            .map_break(Halt::Stopped)?;
        let mut schedule = self.scheduler.start(self.turns.situation());
        for taken in 0..LENGTH_MAX {
            let process = self.scheduler.next(&schedule);
            let mut turns = (0..self.turns.len()).filter(|&turn| self.turns.get(turn).process == process);
            let first = turns.find(|&turn| self.turns.target(turn).is_some());
            let is_new = seen.insert((self.turns.state().to_vec(), schedule.clone()));
            let Some(index) = first.filter(|_| is_new) else { return ControlFlow::Continue(taken) };
            let target = self.turns.target(index).unwrap_or(&[]).to_vec();
            self.listing
                .list(&target, &mut self.turns_after, &mut self.statistics, false, self.observer)
                .map_break(Halt::Stopped)?;
            schedule = scheduled(self.scheduler, &schedule, (&self.turns, index), self.turns_after.situation());
            std::mem::swap(&mut self.turns, &mut self.turns_after);
        }
        ControlFlow::Continue(LENGTH_MAX)
    }

    /// Finds out how many turns of interest the processes have.
    fn profile(&mut self, initial: &[u32]) -> ControlFlow<Halt> {
        let mut counts = vec![0.0; 256];
        for _ in 0..PROFILE_RUNS {
            self.averages = vec![0.0; 256];
            self.one(initial, Sampling::Walk)?;
            // A walk counts what it sees into the averages.
            counts.iter_mut().zip(&self.averages).for_each(|(count, seen)| *count += seen / PROFILE_RUNS as f64);
        }
        self.averages = counts;
        ControlFlow::Continue(())
    }

    /// One run.
    fn one(&mut self, initial: &[u32], sampling: Sampling) -> ControlFlow<Halt> {
        self.runs += 1;
        self.path.clear();
        self.delays.clear();
        self.listing
            .list(initial, &mut self.turns, &mut self.statistics, false, self.observer)
            .map_break(Halt::Stopped)?;
        let mut chooser = self.chooser(sampling);
        for taken in 0..self.length {
            self.statistics.states += 1;
            if self.turns.ending() == Ending::InvalidEnd {
                self.report(ViolationKind::InvalidEnd, None)?;
            }
            let process = if self.turns.enabled().is_empty() { None } else { self.choose(&mut chooser, taken) };
            let Some(index) = self.draw_turn(process)? else { return ControlFlow::Continue(()) };
            self.path.extend_from_slice(self.turns.labels(index));
            self.statistics.depth = self.statistics.depth.max(self.path.len() as u64);
            let target = self.turns.target(index).unwrap_or(&[]).to_vec();
            self.listing
                .list(&target, &mut self.turns_after, &mut self.statistics, false, self.observer)
                .map_break(Halt::Stopped)?;
            let after = self.turns_after.situation();
            chooser.schedule = scheduled(self.scheduler, &chooser.schedule, (&self.turns, index), after);
            self.took(&mut chooser, process, index)?;
            std::mem::swap(&mut self.turns, &mut self.turns_after);
        }
        ControlFlow::Continue(())
    }

    fn chooser(&mut self, sampling: Sampling) -> Chooser<D::State> {
        let count = match sampling {
            Sampling::Delays(delays) => delays,
            Sampling::Pct { depth } => depth.saturating_sub(1),
            Sampling::Walk | Sampling::Pos | Sampling::Surw => 0,
        };
        let length = self.length as usize;
        let mut points: Vec<(u64, u64)> =
            (1..=count).map(|low| (self.random.below(length) as u64, u64::from(low))).collect();
        points.sort_unstable();
        Chooser {
            sampling,
            schedule: self.scheduler.start(self.turns.situation()),
            points,
            priorities: vec![0; 256],
            left: self.averages.clone(),
            intended: None,
        }
    }

    /// The process that is to move; somebody can.
    fn choose(&mut self, chooser: &mut Chooser<D::State>, taken: u64) -> Option<u8> {
        let enabled = *self.turns.enabled();
        self.processes = self.processes.max(enabled.iter().last().map_or(0, u32::from) + 1);
        let due = chooser.points.iter().take_while(|&&(point, _)| point <= taken).count();
        let due: Vec<u64> = chooser.points.drain(..due).map(|(_, low)| low).collect();
        match chooser.sampling {
            Sampling::Delays(_) => {
                for _ in due {
                    if enabled.len() > 1 && !self.scheduler.is_sealed(&chooser.schedule) {
                        let process = self.scheduler.next(&chooser.schedule)?;
                        self.delays.push(Delay { before: self.path.len(), process });
                        self.scheduler.delay(&mut chooser.schedule);
                    }
                }
                self.scheduler.next(&chooser.schedule)
            }
            Sampling::Walk => enabled.iter().nth(self.random.below(enabled.len())),
            Sampling::Pct { .. } => {
                let mut first = self.most_important(chooser, &enabled);
                for low in due {
                    chooser.priorities[usize::from(first?)] = low;
                    first = self.most_important(chooser, &enabled);
                }
                first
            }
            Sampling::Pos => self.most_important(chooser, &enabled),
            Sampling::Surw => self.intend(chooser, &enabled),
        }
    }

    /// The process of greatest priority; priorities are drawn where there is none.
    fn most_important(&mut self, chooser: &mut Chooser<D::State>, enabled: &ProcessSet) -> Option<u8> {
        for process in enabled.iter() {
            let priority = &mut chooser.priorities[usize::from(process)];
            if *priority == 0 {
                *priority = self.random.next_u64() | 1 << 32;
            }
        }
        enabled.iter().max_by_key(|&process| chooser.priorities[usize::from(process)])
    }

    /// SURW: the next turn of interest is that of a process drawn by what is left; others may go before it.
    fn intend(&mut self, chooser: &mut Chooser<D::State>, enabled: &ProcessSet) -> Option<u8> {
        let interested: Vec<u8> = enabled.iter().filter(|&process| self.is_of_interest(process)).collect();
        let still = chooser.intended.filter(|process| enabled.contains(*process));
        let intended = match still {
            Some(process) => process,
            None => {
                let candidates = if interested.len() == enabled.len() { &interested[..] } else { &[] };
                let candidates: Vec<u8> =
                    if candidates.is_empty() { enabled.iter().collect() } else { candidates.to_vec() };
                self.draw_by(&candidates, &chooser.left)
            }
        };
        chooser.intended = Some(intended);
        let free: Vec<u8> =
            enabled.iter().filter(|process| *process == intended || !interested.contains(process)).collect();
        free.get(self.random.below(free.len())).copied()
    }

    fn is_of_interest(&self, process: u8) -> bool {
        let first = self.turns.next_of(Some(process), 0).and_then(|turn| self.turns.labels(turn).first());
        first.is_some_and(|label| (self.samples.of_interest)(label))
    }

    /// One of these processes, in proportion to what is left of each; a little is always left.
    fn draw_by(&mut self, processes: &[u8], left: &[f64]) -> u8 {
        let weight = |process: &u8| left.get(usize::from(*process)).copied().unwrap_or(0.0).max(0.5);
        let total: f64 = processes.iter().map(weight).sum();
        let mut drawn = self.random.next_u64() as f64 / u64::MAX as f64 * total;
        for process in processes {
            drawn -= weight(process);
            if drawn <= 0.0 {
                return *process;
            }
        }
        processes.last().copied().unwrap_or(0)
    }

    /// One of the turns of a process that lead on; faulty ones are reported.
    fn draw_turn(&mut self, process: Option<u8>) -> ControlFlow<Halt, Option<usize>> {
        let mut ways = Vec::new();
        let mut from = 0;
        while let Some(index) = self.turns.next_of(process, from) {
            from = index + 1;
            match &self.turns.get(index).end {
                TurnEnd::State(_) => ways.push(index),
                TurnEnd::Fault(fault) => {
                    let kind = ViolationKind::Fault(*fault);
                    self.report(kind, Some(index))?;
                }
                TurnEnd::Stuck(_) => self.report(ViolationKind::InvalidEnd, Some(index))?,
            }
        }
        ControlFlow::Continue(ways.get(self.random.below(ways.len())).copied())
    }

    /// A turn was taken from `turns` to `turns_after`.
    fn took(&mut self, chooser: &mut Chooser<D::State>, process: Option<u8>, index: usize) -> ControlFlow<Halt> {
        let Some(process) = process else { return ControlFlow::Continue(()) };
        let interesting = self.turns.labels(index).first().is_some_and(|label| (self.samples.of_interest)(label));
        match chooser.sampling {
            Sampling::Pos => {
                chooser.priorities[usize::from(process)] = 0;
                let enabled = *self.turns.enabled();
                for other in enabled.iter().filter(|&other| other != process) {
                    if self.races(index, other)? {
                        chooser.priorities[usize::from(other)] = 0;
                    }
                }
            }
            Sampling::Surw if interesting => {
                chooser.left[usize::from(process)] -= 1.0;
                chooser.intended = None;
            }
            Sampling::Walk if interesting && !self.averages.is_empty() => self.averages[usize::from(process)] += 1.0,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Whether the turn taken and what another process could do instead get in each other's way.
    fn races(&mut self, taken: usize, other: u8) -> ControlFlow<Halt, bool> {
        let mut elsewhere = Turns::default();
        let mut from = 0;
        while let Some(index) = self.turns.next_of(Some(other), from) {
            from = index + 1;
            let Some(target) = self.turns.target(index) else { return ControlFlow::Continue(true) };
            self.listing
                .list(target, &mut elsewhere, &mut self.statistics, false, self.observer)
                .map_break(Halt::Stopped)?;
            let then = find(&elsewhere, self.turns.labels(taken));
            let before = find(&self.turns_after, self.turns.labels(index));
            let (Some(then), Some(before)) = (then, before) else { return ControlFlow::Continue(true) };
            if elsewhere.target(then) != self.turns_after.target(before) {
                return ControlFlow::Continue(true);
            }
        }
        ControlFlow::Continue(false)
    }

    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, turn: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let labels: &[M::Label] = turn.map_or(&[], |index| self.turns.labels(index));
        let (label, state) = self.turns.place(turn);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let (path, delays) = (&self.path, &self.delays);
        self.violations.record(key, kind, || (path.iter().chain(labels).copied().collect(), delays.clone()))
    }
}

/// The turn with these transitions.
fn find<L: Copy + PartialEq, F: Copy>(turns: &Turns<L, F>, labels: &[L]) -> Option<usize> {
    (0..turns.len()).find(|&index| turns.labels(index) == labels && turns.target(index).is_some())
}
