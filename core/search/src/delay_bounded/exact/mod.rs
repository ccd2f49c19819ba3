//! All that can be reached with at most k delays, and nothing else: states of system and scheduler together.
//!
//! A run edge leads from (s, d) to (t, Step(s, d, t)) for each macro step s → t of process Next(d), at cost 0; a delay edge
//! from (s, d) to (s, Delay(d)), at cost 1.
//!
//! ```text
//! now := settled := {(s₀, d₀)};  later := ∅;  n := 0
//! while now ≠ ∅:
//!   while now ≠ ∅:
//!     take (s, d) from now
//!     for each macro step s → t of Next(d):
//!       report it if it is faulty
//!       add (t, Step(s, d, t)) to now and to settled, unless it is settled     at its minimal cost, n
//!     later := later ∪ {(s, Delay(d))}
//!   if n = k: stop
//!   now := later \ settled;  settled := settled ∪ now;  later := ∅;  n := n + 1
//! ```
//!
//! Delay edges of their own give dominance for nothing: if r delays lead from d′ to d, and (s, d′) is settled at n′ with
//! n′ + r ≤ n, then so is (s, d), and it is not looked at again.
//!
//! Where choices are bounded, too, a pair also has the fewest choices on the way to it. With at most n delays it is settled
//! anew if it is met with fewer choices than before, and within a round pairs with fewer choices go first; so what is
//! reached is what can be reached within both bounds.
//!
//! Among runs with the same number of delays, those of fewer macro steps come first, but for ties in order: the first
//! violation needs the fewest delays, and about the fewest macro steps among those.
//!
//! If every process that can move in a state that was reached has been run there, more delays lead nowhere new: then
//! the result holds for every schedule (as in Johnson, Wahl: *Delay-Bounded Scheduling Without Delay!*, CAV 2021).

mod product;
mod rounds;

use super::checkpoint::ExactSnapshot;
use super::replay::replay;
use super::{DelayObserver, IterativeDelayBounding, Listing, Origin, Round, SHOWN_MACRO_STEPS_MAX};
use super::{is_choice, scheduled};
use crate::checkpoint::{ByRounds, CheckpointPolicy, Unusable};
use crate::model::{Ending, Processes};
use crate::observer::Settings;
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::schedule::macro_steps::MacroStepEnd;
use crate::schedule::{MacroSteps, Scheduler};
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use product::{Pair, Queue, Schedules, States};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The observer is asked whether it wants to see something once for this many pairs.
const SHOW_EVERY: u64 = 256;
/// This many states of the system at most.
const STATES_MAX: usize = u32::MAX as usize - 2;

/// Searches all that can be reached with this many delays.
///
/// A search of which checkpoints are kept, or that goes on from one, ends at the first violation.
///
/// # Errors
/// If it is to go on from a snapshot that cannot be one of this search.
pub fn exact<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    bounding: &IterativeDelayBounding,
    checkpoint: CheckpointPolicy<'_, ExactSnapshot>,
) -> Result<Outcome<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let settings = checkpoint.settings(settings);
    let mut search = Exact::new(model, scheduler, observer, &settings, bounding);
    let run = search.run(checkpoint)?;
    Ok(search.conclude(run))
}

struct Exact<'a, M: Processes, D: Scheduler<M::Label>, O> {
    listing: Listing<'a, M>,
    scheduler: &'a D,
    observer: &'a mut O,
    states: States,
    schedules: Schedules<D::State>,
    /// Of each pair that was ever queued, by its number.
    origins: Vec<Origin>,
    /// State and schedule of all pairs in `now` and of those that were there, each with the fewest choices so far.
    settled: FxHashMap<(u32, u32), u32>,
    now: Queue,
    later: VecDeque<Pair>,
    bounding: &'a IterativeDelayBounding,
    bound: u32,
    /// The pair that is being looked at, and what there was before.
    begun: Option<Begun>,
    looks: u64,
    macro_steps: MacroSteps<M::Label, M::Fault>,
    macro_steps_after: MacroSteps<M::Label, M::Fault>,
    finished: Vec<Round>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// How things stood when a pair began to be looked at.
#[derive(Clone, Copy)]
struct Begun {
    pair: u32,
    origins: usize,
    counters: Statistics,
}

impl<'a, M, D, O> Exact<'a, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    fn new(
        model: &'a mut M,
        scheduler: &'a D,
        observer: &'a mut O,
        settings: &'a Settings,
        bounding: &'a IterativeDelayBounding,
    ) -> Self {
        let hidden = model.hidden_words();
        Self {
            listing: Listing::new(model, settings),
            scheduler,
            observer,
            states: States::new(hidden),
            schedules: Schedules::default(),
            origins: Vec::new(),
            settled: FxHashMap::default(),
            now: Queue::default(),
            later: VecDeque::new(),
            bounding,
            bound: 0,
            begun: None,
            looks: 0,
            macro_steps: MacroSteps::default(),
            macro_steps_after: MacroSteps::default(),
            finished: Vec::new(),
            statistics: Statistics::default(),
            violations: Violations::new(settings.stop_at),
        }
    }

    fn conclude(mut self, run: ControlFlow<Halt>) -> Outcome<M::Label, M::Fault> {
        self.look_at_memory();
        // Without a bound on choices, what was run in every state is known, even if pairs are left.
        let frontier = self.finished.last().map_or(u64::MAX, |round| round.frontier);
        let is_whole = self.states.open == 0;
        let nothing_left = is_whole || self.bounding.choices.is_some() && frontier == 0;
        let outcome = self.violations.conclude(run, self.states.words.store.exactness(), self.statistics);
        let product_states = self.settled.len() as u64;
        Outcome { product_states, ..outcome.by_rounds(self.finished, nothing_left, !is_whole, StopReason::Delays) }
    }

    fn first_pair(&mut self, initial: &[u32]) -> ControlFlow<StopReason, Pair> {
        let state = self.number_of(initial)?.0;
        let start = self.scheduler.start(self.states.situation(state, initial));
        let schedule = self.schedules.number_of(start);
        ControlFlow::Continue(Pair { state, schedule, number: 0, depth: 0, choices: 0 })
    }

    /// Whether more delays lead anywhere new.
    fn is_left(&self) -> bool {
        !self.later.is_empty() && self.states.open > 0
    }

    /// Settles what a bound allows. Bounds before it are searched, and not told of.
    fn search_up_to(&mut self, asked: u32) -> ControlFlow<Halt> {
        loop {
            while let Some(pair) = self.now.pop() {
                if self.settled.get(&pair.key()).is_some_and(|&fewest| fewest < pair.choices) {
                    continue;
                }
                self.begun = Some(Begun { pair: pair.number, origins: self.origins.len(), counters: self.statistics });
                self.settle(pair)?;
                self.begun = None;
                if self.looks.is_multiple_of(SHOW_EVERY) {
                    self.show(pair);
                }
            }
            let settled = &self.settled;
            self.later.retain(|pair| settled.get(&pair.key()).is_none_or(|&fewest| pair.choices < fewest));
            if asked <= self.bound {
                return ControlFlow::Continue(());
            }
            self.bound += 1;
            for pair in std::mem::take(&mut self.later) {
                if self.is_news(&pair) {
                    self.enqueue(pair);
                }
            }
        }
    }

    /// Whether a pair was never met, or with more choices.
    fn is_news(&self, pair: &Pair) -> bool {
        self.settled.get(&pair.key()).is_none_or(|&fewest| pair.choices < fewest)
    }

    fn enqueue(&mut self, pair: Pair) {
        self.settled.insert(pair.key(), pair.choices);
        self.now.push(pair);
    }

    /// Looks at a pair at its minimal cost.
    fn settle(&mut self, pair: Pair) -> ControlFlow<Halt> {
        self.looks += 1;
        if self.looks.is_multiple_of(1024) {
            self.look_at_memory();
        }
        let mut state = Vec::new();
        self.states.words.recall(pair.state, &mut state);
        let full = self.states.words.store.is_full();
        self.listing
            .list(&state, &mut self.macro_steps, &mut self.statistics, full, self.observer)
            .map_break(Halt::Stopped)?;
        if self.states.begin(pair.state) && self.macro_steps.ending() == Ending::InvalidEnd {
            self.report(ViolationKind::InvalidEnd, Some(pair), None)?;
        }
        self.statistics.depth = self.statistics.depth.max(u64::from(pair.depth));
        if self.macro_steps.has_environment_moves() {
            self.take_all(pair, None)?;
        }
        let schedule = self.schedules.get(pair.schedule).clone();
        let Some(process) = self.scheduler.next(&schedule) else { return ControlFlow::Continue(()) };
        if self.take_all(pair, Some(process))? {
            self.states.ran(pair.state, process);
        }
        if self.macro_steps.enabled().len() > 1 && !self.scheduler.is_sealed(&schedule) {
            let mut delayed = schedule;
            self.scheduler.delay(&mut delayed);
            let delayed = Pair { schedule: self.schedules.number_of(delayed), ..pair };
            if self.is_news(&delayed) {
                let number = self.originate(Origin { parent: pair.number, macro_step: Origin::DELAY })?;
                self.later.push_back(Pair { number, ..delayed });
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes the macro steps of a process, or the environment moves: all for which there are choices left. Whether these are all.
    fn take_all(&mut self, pair: Pair, process: Option<u8>) -> ControlFlow<Halt, bool> {
        let (mut from, mut all) = (0, true);
        while let Some(index) = self.macro_steps.next_of(process, from) {
            from = index + 1;
            let mut pair = pair;
            if let Some(most) = self.bounding.choices
                && is_choice(&self.macro_steps, index)
            {
                if pair.choices == most {
                    all = false;
                    continue;
                }
                pair.choices += 1;
            }
            match &self.macro_steps.get(index).end {
                MacroStepEnd::State(_) => self.arrive(pair, index)?,
                MacroStepEnd::Fault(fault) => {
                    let kind = ViolationKind::Fault(*fault);
                    self.report(kind, Some(pair), Some(index))?;
                }
                MacroStepEnd::Stuck(_) => self.report(ViolationKind::InvalidEnd, Some(pair), Some(index))?,
            }
        }
        ControlFlow::Continue(all)
    }

    /// Queues the pair that a macro step leads to, unless it is settled.
    fn arrive(&mut self, pair: Pair, index: usize) -> ControlFlow<Halt> {
        let depth = pair.depth.saturating_add(self.macro_steps.labels(index).len() as u32);
        if self.listing.budget.too_deep(u64::from(depth)) {
            self.statistics.cut += 1;
            self.statistics.matched += 1;
            return ControlFlow::Continue(());
        }
        let target = self.macro_steps.target(index).expect("the macro step leads to a state").to_vec();
        let (next, inserted) = self.successor(Pair { depth, ..pair }, index, &target).map_break(Halt::Stopped)?;
        self.statistics.matched += u64::from(inserted == Inserted::Old);
        if self.is_news(&next) {
            let number = self.originate(Origin { parent: pair.number, macro_step: index as u32 })?;
            self.enqueue(Pair { number, ..next });
        }
        ControlFlow::Continue(())
    }

    /// The pair that a macro step leads to, apart from its number, and whether its state was known.
    fn successor(&mut self, pair: Pair, index: usize, target: &[u32]) -> ControlFlow<StopReason, (Pair, Inserted)> {
        let (state, inserted) = self.number_of(target)?;
        let before = self.schedules.get(pair.schedule);
        let situation = self.states.situation(state, target);
        let after = scheduled(self.scheduler, before, &self.macro_steps, index, situation);
        ControlFlow::Continue((Pair { state, schedule: self.schedules.number_of(after), ..pair }, inserted))
    }

    /// The number of a state, which is stored if it is new.
    fn number_of(&mut self, words: &[u32]) -> ControlFlow<StopReason, (u32, Inserted)> {
        if let Some(number) = self.states.words.find(words, Class::Ordinary) {
            return ControlFlow::Continue((number, Inserted::Old));
        }
        if STATES_MAX <= self.states.nodes.len() {
            return ControlFlow::Break(StopReason::Full);
        }
        if self.listing.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(StopReason::States);
        }
        self.statistics.states += 1;
        let full = self.states.words.store.is_full();
        self.listing.list(words, &mut self.macro_steps_after, &mut self.statistics, full, self.observer)?;
        let number = self.states.add(self.macro_steps_after.enabled());
        ControlFlow::Continue((number, Inserted::New))
    }

    fn originate(&mut self, origin: Origin) -> ControlFlow<Halt, u32> {
        if STATES_MAX <= self.origins.len() {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        self.origins.push(origin);
        ControlFlow::Continue(self.origins.len() as u32 - 1)
    }

    /// Reports a violation: of a macro step of the state of a pair, or of that state.
    #[cold]
    fn report(
        &mut self,
        kind: ViolationKind<M::Fault>,
        pair: Option<Pair>,
        macro_step: Option<usize>,
    ) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let (label, state) = self.macro_steps.place(macro_step);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = pair.map_or(Vec::new(), |pair| Origin::trail(&self.origins, pair.number));
        trail.extend(macro_step.map(|macro_step| macro_step as u32));
        let (model, scheduler) = (&mut *self.listing.model, self.scheduler);
        self.violations.record(key, kind, || replay(model, scheduler, &trail).into())
    }

    /// Shows an observer who wants to see it what the search is at.
    #[cold]
    fn show(&mut self, pair: Pair) {
        let Some(wanted) = self.observer.snapshot_request() else { return };
        let trail = Origin::trail(&self.origins, pair.number);
        let look = SearchSnapshot {
            before: u64::from(pair.depth),
            frontier: Some((self.now.len() + self.later.len()) as u64),
            ..SearchSnapshot::at(Phase::Delays(self.bound))
        };
        let look = if wanted.whole || trail.len() <= SHOWN_MACRO_STEPS_MAX {
            look.along(wanted, replay(self.listing.model, self.scheduler, &trail).path.into_iter())
        } else {
            look
        };
        self.observer.on_snapshot(look);
    }

    #[cold]
    fn look_at_memory(&mut self) {
        let pairs = (self.now.capacity() + self.later.capacity()) * size_of::<Pair>()
            + self.settled.capacity() * (size_of::<((u32, u32), u32)>() + 1)
            + self.origins.capacity() * size_of::<Origin>();
        let schedules = self.schedules.list.len() * (2 * size_of::<D::State>() + 40);
        let local = pairs + schedules + self.states.memory_bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(local as u64);
    }
}
