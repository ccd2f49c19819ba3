//! Parallel search for violations of safety: faulty transitions and invalid end states.
//!
//! ```text
//! work(i):  while there is work:             visit(s, i):  report s if it is an invalid end
//!             s := what was given away         for each t := α(s), α ∈ postᵢ(s):
//!             go on with s                       report the step if it is faulty
//!                                                if t ∉ V:  V := V ∪ {t}
//!                                                  if threads may soon want work: give half of a stack away, or t
//!                                                  visit(t, i), unless it was given away
//! ```
//!
//! Each thread searches depth-first, with some stacks of its own ([`super::traversals`]); the visited set V is shared, so each state is
//! expanded once. After Laarman, van de Pol, Weber: *Boosting Multi-Core Reachability Performance with Shared
//! Hash Tables* (FMCAD 2010); there, idle threads steal, here a busy one gives work away as long as there is little
//! in stock, which costs nothing while everybody is busy. It gives the lower half of its longest stack, so that there is much to do
//! for whoever takes it, or a new state if its stacks are short.

use super::alone;
use super::arena::Portion;
use super::explorer::Start;
use super::pool::NextWork;
use super::store::{Access, Key, PlainKeys, SharedStore, SharedTree};
use super::trace::{Trace, Traces};
use super::traversals::{HowReached, Part, Thread, Traversal, Traversals, Way};
use super::watch::{self, look_around};
use super::worker_pool::{Run, Show, Watch, WorkerPool, WorkerStatistics};
use crate::depth_first::{DepthFirst, Extent};
use crate::dfs_stack::{Lookup, TransientPolicy};
use crate::model::{Marks, Model};
use crate::observer::{Countdown, Observer, Settings, steps_per_look, tell_together};
use crate::outcome::{Halt, Outcome, Statistics, StopAt, Violation, ViolationKind, Violations};
use crate::position::Position;
use crate::sleep::Asleep;
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::{Class, Store, TreeStore, VisitedSet};
use fabius_base::{Limits, StopReason};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// This many violations may wait for the thread that lists them.
const REPORTS_MAX: usize = 1 << 12;

/// Given away in advance, so that no thread has to wait: this many pieces of work for each thread but one.
const STOCK_PER_THREAD: usize = 4;

/// A violation that some thread met.
struct Report<M: Model> {
    kind: ViolationKind<M::Fault>,
    label: Option<M::Label>,
    state: Vec<u32>,
    trace: Trace,
}

type Reports<M> = Mutex<Vec<Report<M>>>;

/// Where a violation was met: in the state of the trace, or at a step of it.
type Met<M> = (Trace, Option<<M as Model>::Label>);

/// A violation; one that was met by a thread gets its path when all threads have ended.
type ListedViolation<M> = (Violation<<M as Model>::Label, <M as Model>::Fault>, Option<Met<M>>);

/// The violations listed so far: one of each key.
struct Listed<M: Model> {
    violations: Vec<ListedViolation<M>>,
    by_key: FxHashMap<u64, usize>,
}

/// What a thread gives to another one.
enum Given<M: Model> {
    /// A state to begin at, and who sleeps there.
    State(Start, Asleep),
    /// States that it has begun to expand.
    Part(Box<Part<M, Key>>),
}

/// A search that one thread began, on which others join.
struct Begun<M: Model> {
    part: Part<M, Key>,
    statistics: Statistics,
}

/// What was reached.
#[derive(Debug)]
pub struct Reached<M: Model> {
    /// What was found.
    pub outcome: Outcome<M::Label, M::Fault>,
    /// The states visited.
    pub visited: Visited,
    /// The models that threads searched; none if the caller's thread was alone.
    pub models: Vec<M>,
}

/// The states that were visited.
#[derive(Debug)]
pub enum Visited<P = ()> {
    /// By the caller's thread alone, which kept this with each state.
    Alone(TreeStore<P>),
    /// By several threads.
    Together(Box<SharedTree>),
}

impl<P: Copy + Default> Visited<P> {
    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Self::Alone(store) => store.memory_bytes(),
            Self::Together(store) => store.memory_bytes(),
        }
    }

    /// The states, for whoever looks them up.
    pub fn as_set(&mut self) -> &mut dyn VisitedSet {
        match self {
            Self::Alone(store) => store,
            Self::Together(store) => &mut **store,
        }
    }
}

#[cfg(test)]
pub(super) fn search<M, O>(
    models: &mut [M],
    observer: &mut O,
    settings: &Settings,
    seed: u64,
    policy: TransientPolicy,
) -> Outcome<M::Label, M::Fault>
where
    M: Model<Label: Send, Fault: Send, Cursor: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let workers = workers(SharedStore::new(models.len()), models.len(), seed, settings);
    together(&workers, models, observer, (None, Listed::none()), policy)
}

/// Searches all states that the model can reach. The caller's thread searches alone, depth-first as [`depth_first`] does, until it
/// has listed `alone` transitions, if any; what is left then is searched by `threads` threads.
pub fn reach<M, O>(
    model: &mut M,
    (threads, alone): (usize, u64),
    observer: &mut O,
    settings: &Settings,
    seed: u64,
) -> Reached<M>
where
    M: Model<Label: Send, Fault: Send, Cursor: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let mut store = TreeStore::new();
    let mut search = DepthFirst::new(model, &mut store, observer, settings, alone);
    match search.run() {
        ControlFlow::Continue(Extent::Part) => {}
        ended => {
            let outcome = search.conclude(ended.map_continue(|_| ()));
            return Reached { outcome, visited: Visited::Alone(store), models: Vec::new() };
        }
    }
    if threads == 1 {
        let outcome = alone::go_on(search);
        return Reached { outcome, visited: Visited::Alone(store), models: Vec::new() };
    }
    let DepthFirst { stack, statistics, violations, budget, .. } = search;
    let (policy, settings) = (stack.policy, &Settings { limits: budget.limits(), ..settings.clone() });
    let part = Part { stack: stack.hand_over(|()| Way::NEW), bottom: Trace::START, depth_below: 0 };
    let begun = Begun { part, statistics };
    let listed = Listed::of(violations);
    let mut models = vec![model.clone(); threads];
    let workers = workers(SharedStore::of(store, threads), threads, seed, settings);
    workers.count_stored(statistics.states);
    let outcome = together(&workers, &mut models, observer, (Some(begun), listed), policy);
    Reached { outcome, visited: Visited::Together(Box::new(workers.store.into())), models }
}

fn workers<M: Model>(store: SharedStore<PlainKeys>, threads: usize, seed: u64, settings: &Settings) -> Workers<'_, M> {
    let stock = STOCK_PER_THREAD * threads.saturating_sub(1);
    WorkerPool::new(store, threads, stock, seed, settings)
}

/// Searches with all threads what is not visited yet.
fn together<M, O>(
    workers: &Workers<'_, M>,
    models: &mut [M],
    observer: &mut O,
    (begun, mut listed): (Option<Begun<M>>, Listed<M>),
    policy: TransientPolicy,
) -> Outcome<M::Label, M::Fault>
where
    M: Model<Label: Send, Fault: Send, Cursor: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let reports = Reports::<M>::default();
    let mut watch = |statistics: &Statistics, limits: &mut Limits, show: Show<'_, M::Label>| {
        listed.add(&reports, observer);
        tell_together(observer, statistics, limits, show)
    };
    let set_aside = AtomicU64::new(0);
    let why = workers.work(models, &mut watch, begun, |thread, model, watch, begun| {
        let mut search = Reach {
            thread,
            workers,
            access: workers.store.access(),
            share: WorkerStatistics::default(),
            portion: Portion::default(),
            aside: Vec::new(),
            all_aside: &set_aside,
            countdown: Countdown::default(),
            can_sleep: model.can_sleep(),
            stacks_bytes: 0,
            watch: watch.map(|watch| watch as Watch<'_, '_, M::Label>),
            reports: &reports,
        };
        let mut traversals = Traversals::new(model, <TreeStore as Store>::MEMO_PER_WORD, policy);
        let run = search.work(model, &mut traversals, begun);
        search.stacks_bytes = traversals.memory_bytes();
        search.publish();
        run
    });
    listed.add(&reports, observer);
    let violations = listed.conclude(workers, models.first_mut());
    workers.conclude(why, violations)
}

impl<M: Model> Listed<M> {
    #[cfg(test)]
    fn none() -> Self {
        Self { violations: Vec::new(), by_key: FxHashMap::default() }
    }

    /// Those that a search found alone.
    fn of(violations: Violations<M::Label, M::Fault>) -> Self {
        let (violations, by_key) = violations.into_listed();
        Self { violations: violations.into_iter().map(|violation| (violation, None)).collect(), by_key }
    }

    /// Lists what was reported: one of each key, and how many there are.
    fn add(&mut self, reports: &Reports<M>, observer: &mut impl Observer<M::Label, M::Fault>) {
        let new = std::mem::take(&mut *reports.lock().unwrap_or_else(PoisonError::into_inner));
        for Report { kind, label, state, trace } in new {
            let key = observer.key(&kind, label.as_ref(), &state);
            let index = *self.by_key.entry(key).or_insert(self.violations.len());
            if index == self.violations.len() {
                let violation = Violation { kind, path: Vec::new(), delays: Vec::new(), count: 0 };
                self.violations.push((violation, Some((trace, label))));
            }
            self.violations[index].0.count += 1;
        }
    }

    /// The violations with their paths.
    fn conclude(mut self, workers: &Workers<'_, M>, model: Option<&mut M>) -> Vec<Violation<M::Label, M::Fault>> {
        if workers.settings.stop_at == StopAt::First {
            self.violations.truncate(1);
        }
        if let Some(model) = model {
            for (violation, reached) in &mut self.violations {
                if let Some((trace, label)) = reached.take() {
                    violation.path = workers.traces.execute(trace, model);
                    violation.path.extend(label);
                }
            }
        }
        self.violations.into_iter().map(|(violation, _)| violation).collect()
    }
}

/// One of the threads, without what it searches and how far it is.
struct Reach<'a, M: Model> {
    thread: usize,
    workers: &'a Workers<'a, M>,
    access: Access<'a, PlainKeys>,
    share: WorkerStatistics,
    portion: Portion,
    /// States that were set aside.
    aside: Vec<(Start, Asleep)>,
    /// How many states all threads have set aside.
    all_aside: &'a AtomicU64,
    countdown: Countdown,
    /// Processes may sleep.
    can_sleep: bool,
    /// Of the stacks, when they were last asked.
    stacks_bytes: u64,
    watch: Option<Watch<'a, 'a, M::Label>>,
    reports: &'a Reports<M>,
}

type Workers<'a, M> = WorkerPool<'a, Given<M>, Halt, PlainKeys>;

impl Lookup for Access<'_, PlainKeys> {
    type Probe = Key;

    #[inline]
    fn probe(&mut self, position: &mut Position, class: Class, _: Marks) -> Key {
        self.key(position, class, false)
    }
}

impl<M: Model> Lookup for Reach<'_, M> {
    type Probe = Key;

    #[inline]
    fn probe(&mut self, position: &mut Position, class: Class, marks: Marks) -> Key {
        self.access.probe(position, class, marks)
    }
}

impl<M: Model> Reach<'_, M> {
    fn work(&mut self, model: &mut M, traversals: &mut Traversals<M, Key>, begun: Option<Begun<M>>) -> Run<Halt> {
        if let Some(begun) = begun {
            // Its memory is that of all from now on.
            self.share.statistics = Statistics { memory_bytes: 0, ..begun.statistics };
            self.share.pieces += 1;
            traversals.take_over(begun.part);
        } else if self.thread == 0 {
            let mut initial = Vec::new();
            if let Err(fault) = model.initial(&mut initial) {
                return self.send(ViolationKind::Fault(fault), None, initial, Trace::START).map_continue(|_| ());
            }
            let key = traversals.reset(&initial, self);
            self.access.insert(key);
            self.count_state()?;
            traversals.begin(model, self, HowReached::START);
        }
        loop {
            traversals.visit(model, self)?;
            self.access.leave();
            self.publish();
            match watch::wait(self.workers, &mut self.watch, 0) {
                NextWork::Work(Given::Part(part)) => {
                    self.share.pieces += 1;
                    self.workers.handed_over_bytes.fetch_sub(part.stack.memory_bytes(), Ordering::Relaxed);
                    traversals.take_over(*part);
                }
                NextWork::Work(Given::State(start, asleep)) => {
                    let mut state = Vec::new();
                    let reached = self.recall(&start, asleep, &mut state);
                    traversals.reset(&state, self);
                    traversals.begin(model, self, reached);
                }
                NextWork::Level | NextWork::Nothing => return ControlFlow::Continue(()),
            }
        }
    }

    /// Writes the state to go on from, and says how it was reached.
    fn recall(&mut self, start: &Start, asleep: Asleep, state: &mut Vec<u32>) -> HowReached {
        self.access.unfold(start.key, state);
        state.extend_from_slice(&start.hidden);
        HowReached { trace: start.trace, depth: start.depth, asleep }
    }

    /// Tells the caller's thread of a violation; how many it was not told of.
    fn send(
        &mut self,
        kind: ViolationKind<M::Fault>,
        label: Option<M::Label>,
        state: Vec<u32>,
        trace: Trace,
    ) -> Run<Halt, usize> {
        self.share.statistics.violations += 1;
        let waiting = {
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push(Report { kind, label, state, trace });
            reports.len()
        };
        match self.workers.settings.stop_at {
            StopAt::First => ControlFlow::Break(Some(Halt::Found(()))),
            StopAt::Never => ControlFlow::Continue(waiting),
        }
    }

    /// Says what this thread did up to now.
    fn publish(&mut self) {
        let statistics = &mut self.share.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(self.stacks_bytes);
        self.workers.publish(self.thread, &self.share);
    }
}

impl<M: Model> Thread<M> for Reach<'_, M> {
    type Halt = Option<Halt>;

    #[inline]
    fn can_sleep(&self) -> bool {
        self.can_sleep
    }

    #[inline]
    fn insert(&mut self, key: Key) -> bool {
        self.access.insert(key)
    }

    #[inline]
    fn statistics(&mut self) -> &mut Statistics {
        &mut self.share.statistics
    }

    #[inline]
    fn is_too_deep(&self, depth: u64) -> bool {
        self.workers.too_deep(depth)
    }

    #[inline]
    fn count_state(&mut self) -> Run<Halt> {
        if !self.workers.may_store() {
            return ControlFlow::Break(Some(Halt::Stopped(StopReason::States)));
        }
        self.share.statistics.states += 1;
        ControlFlow::Continue(())
    }

    #[inline]
    fn step_is_due(&mut self) -> bool {
        self.countdown.steps_are_due(1, || watch::is_to_stop(self.workers))
    }

    /// Tells the others what this thread did, and whether there is a reason to stop.
    #[cold]
    fn look(&mut self, model: &mut M, traversal: &Traversal<M, Key>, stacks_bytes: u64) -> Run<Halt> {
        let hidden = self.aside.last().map_or(0, |(start, _)| size_of_val::<[u32]>(&start.hidden));
        self.countdown.restart(steps_per_look(traversal.stack.position.state().len()));
        self.stacks_bytes = stacks_bytes + (self.aside.len() * (size_of::<(Start, Asleep)>() + hidden)) as u64;
        self.access.leave_if_asked();
        self.publish();
        let Self { workers, watch, all_aside, .. } = self;
        let begun = (traversal.bottom, traversal.depth());
        let set_aside = all_aside.load(Ordering::Relaxed);
        look_around(workers, watch, &mut |wanted| {
            let look =
                watch::snapshot((Phase::Together, &workers.traces), (&mut *model, &traversal.stack), begun, wanted);
            SearchSnapshot { frontier: (set_aside != 0).then_some(set_aside), ..look }
        })
    }

    #[cold]
    fn report(
        &mut self,
        model: &mut M,
        traversal: &mut Traversal<M, Key>,
        kind: ViolationKind<M::Fault>,
        label: Option<M::Label>,
    ) -> Run<Halt> {
        let state = traversal.stack.position.state().to_vec();
        let trace = traversal.trace(&self.workers.traces, &mut self.portion);
        let mut waiting = self.send(kind, label, state, trace)?;
        while REPORTS_MAX < waiting {
            self.look(model, traversal, self.stacks_bytes)?;
            std::thread::yield_now();
            waiting = self.reports.lock().unwrap_or_else(PoisonError::into_inner).len();
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn others_want_work(&self) -> bool {
        self.workers.pool.lacks_stock()
    }

    fn give_away(&mut self, key: Key, hidden: &[u32], HowReached { trace, depth, asleep }: HowReached) {
        self.workers.pool.offer(Given::State(Start { key, hidden: hidden.to_vec(), trace, depth }, asleep));
    }

    fn give_part(&mut self, part: Part<M, Key>) {
        self.workers.handed_over_bytes.fetch_add(part.stack.memory_bytes(), Ordering::Relaxed);
        self.workers.pool.offer(Given::Part(Box::new(part)));
    }

    #[cold]
    fn set_aside(&mut self, (key, position): (Key, &Position), HowReached { trace, depth, asleep }: HowReached) {
        self.all_aside.fetch_add(1, Ordering::Relaxed);
        self.aside.push((Start { key, hidden: position.hidden().to_vec(), trace, depth }, asleep));
    }

    fn take_aside(&mut self, state: &mut Vec<u32>) -> Option<HowReached> {
        let (start, asleep) = self.aside.pop()?;
        self.all_aside.fetch_sub(1, Ordering::Relaxed);
        Some(self.recall(&start, asleep, state))
    }

    fn traces(&mut self) -> (&Traces, &mut Portion) {
        (&self.workers.traces, &mut self.portion)
    }

    fn count_piece(&mut self) {
        self.share.pieces += 1;
    }
}
