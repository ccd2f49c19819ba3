//! Parallel search for violations of safety: faulty transitions and invalid end states.
//!
//! ```text
//! work(i):  while there is work:             visit(s, i):  report s if it is an invalid end
//!             s := some state given away       for each t := α(s), α ∈ postᵢ(s):
//!             visit(s, i)                        report the step if it is faulty
//!                                                if t ∉ V:  V := V ∪ {t}
//!                                                  if threads may soon want work: give t away
//!                                                  else visit(t, i)
//! ```
//!
//! Each thread searches depth-first, with stacks of its own; the visited set V is shared, so each state is
//! expanded once. After Laarman, van de Pol, Weber: *Boosting Multi-Core Reachability Performance with Shared
//! Hash Tables* (FMCAD 2010); there, idle threads steal, here a busy one gives new states away as long as there are
//! few in stock, which costs nothing while everybody is busy.
//!
//! Most of the time of a lookup is waiting for the memory of the visited set. So each thread has several [`Traversal`]s, each with a stack, and
//! has them act in turn:
//!
//! ```text
//! turn of a traversal:  t := the successor that it looked up in its last turn, if any
//!                       if t ∉ V:  V := V ∪ {t};  give t to a traversal without work if there is one, else visit(t)
//!                       go on listing until a successor is to be looked up; ask for its memory
//! ```

use super::arena::Portion;
use super::explorer::Start;
use super::pool::NextWork;
use super::store::{Access, Key, PlainKeys, SharedStore, SharedTree};
use super::trace::{KnownTrace, Trace, Traced};
use super::watch::{self, STEPS_PER_LOOK, look_around};
use super::worker_pool::{Run, Show, Watch, WorkerPool, WorkerStatistics};
use crate::depth_first::{DepthFirst, Extent};
use crate::dfs_stack::{DfsStack, Lookup, TransientPolicy};
use crate::model::{Ending, Marks, Model, Next};
use crate::observer::{Observer, Settings, tell_together};
use crate::outcome::{Halt, Outcome, Statistics, StopAt, Violation, ViolationKind, Violations};
use crate::position::Position;
use crate::store::{Class, Store, TreeStore};
use fabius_base::{Limits, StopReason};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// This many violations may wait for the thread that lists them.
const REPORTS_MAX: usize = 1 << 12;

/// Given away in advance, so that no thread has to wait: this many states for each thread but one.
const STOCK_PER_THREAD: usize = 4;

/// Searches that a thread has in turn, so that it seldom waits for memory. With four, two threads take a tenth less CPU than with one
/// each (0.87 to 0.95 on four models of the corpus with more than 10⁶ states).
const TRAVERSALS: usize = 4;

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
    by_key: HashMap<u64, usize>,
}

/// A search that one thread began, on which others join.
struct Begun<M: Model> {
    stack: DfsStack<M, Way, Key>,
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
pub enum Visited {
    /// By the caller's thread alone.
    Alone(TreeStore),
    /// By several threads.
    Together(Box<SharedTree>),
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
    M: Model<Label: Send, Fault: Send> + Send,
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
    M: Model<Label: Send, Fault: Send> + Send + Clone,
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
    let DepthFirst { stack, statistics, violations, budget, .. } = search;
    let (policy, settings) = (stack.policy, &Settings { limits: budget.limits(), ..settings.clone() });
    let begun = Begun { stack: stack.hand_over(|()| Way::NEW), statistics };
    let listed = Listed::of(violations);
    let mut models = vec![model.clone(); threads];
    let workers = workers(SharedStore::of(store, threads), threads, seed, settings);
    workers.count_stored(statistics.states);
    let outcome = together(&workers, &mut models, observer, (Some(begun), listed), policy);
    Reached { outcome, visited: Visited::Together(Box::new(workers.store.into())), models }
}

fn workers(store: SharedStore<PlainKeys>, threads: usize, seed: u64, settings: &Settings) -> Workers<'_> {
    let stock = STOCK_PER_THREAD * threads.saturating_sub(1);
    WorkerPool::new(store, threads, stock, seed, settings)
}

/// Searches with all threads what is not visited yet.
fn together<M, O>(
    workers: &Workers<'_>,
    models: &mut [M],
    observer: &mut O,
    (begun, mut listed): (Option<Begun<M>>, Listed<M>),
    policy: TransientPolicy,
) -> Outcome<M::Label, M::Fault>
where
    M: Model<Label: Send, Fault: Send> + Send,
    O: Observer<M::Label, M::Fault>,
{
    let reports = Reports::<M>::default();
    let mut watch = |statistics: &Statistics, limits: &mut Limits, show: Show<'_, M::Label>| {
        listed.add(&reports, observer);
        tell_together(observer, statistics, limits, show)
    };
    let why = workers.work(models, &mut watch, begun, |thread, model, watch, begun| {
        let mut search = Reach {
            thread,
            workers,
            access: workers.store.access(),
            traversals: std::array::from_fn(|_| Traversal::new(model, policy)),
            model,
            idle: TRAVERSALS,
            at: 0,
            share: WorkerStatistics::default(),
            portion: Portion::default(),
            steps_left: 0,
            watch: watch.map(|watch| watch as Watch<'_, '_, M::Label>),
            reports: &reports,
        };
        let run = search.work(begun);
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
        Self { violations: Vec::new(), by_key: HashMap::new() }
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
    fn conclude(mut self, workers: &Workers<'_>, model: Option<&mut M>) -> Vec<Violation<M::Label, M::Fault>> {
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

/// One of the threads.
struct Reach<'a, M: Model> {
    thread: usize,
    workers: &'a Workers<'a>,
    model: &'a mut M,
    access: Access<'a, PlainKeys>,
    traversals: [Traversal<M>; TRAVERSALS],
    /// Walks without work.
    idle: usize,
    /// The traversal whose turn it is.
    at: usize,
    share: WorkerStatistics,
    portion: Portion,
    steps_left: u32,
    watch: Option<Watch<'a, 'a, M::Label>>,
    reports: &'a Reports<M>,
}

/// A depth-first search in one thread, beside others: it has work if there is a state on its stack.
struct Traversal<M: Model> {
    stack: DfsStack<M, Way, Key>,
    /// How the bottom of the stack was reached, …
    bottom: Trace,
    /// … with how many labels.
    depth_below: u64,
    /// The present successor, if it was looked up.
    awaited: Option<Awaited<M::Label>>,
}

/// A successor whose memory is on its way.
struct Awaited<L> {
    class: Class,
    key: Key,
    label: Option<L>,
    /// Labels on the path to it.
    depth: u64,
}

impl<M: Model> Traversal<M> {
    fn new(model: &M, policy: TransientPolicy) -> Self {
        let mut stack = DfsStack::new(model, <TreeStore as Store>::MEMO_PER_WORD);
        stack.policy = policy;
        Self { stack, bottom: Trace::START, depth_below: 0, awaited: None }
    }

    /// Moves to a state, with nothing below.
    fn reset(&mut self, state: &[u32], access: &mut Access<'_, PlainKeys>) -> Key {
        self.stack.reset(state);
        access.key(&mut self.stack.position, Class::Ordinary, false)
    }

    /// Puts the state moved to at the bottom of the stack.
    fn begin(&mut self, model: &mut M, trace: Trace, depth: u64) {
        (self.bottom, self.depth_below) = (trace, depth);
        self.stack.start(model, false, Way { trace: trace.into() });
    }

    fn has_work(&self) -> bool {
        self.stack.len() != 0
    }

    /// Labels on the path to the state on top.
    fn depth(&self) -> u64 {
        self.depth_below + self.stack.depth()
    }
}

type Workers<'a> = WorkerPool<'a, Start, Halt, PlainKeys>;

/// What a thread keeps with a state on the stack.
#[derive(Clone, Copy)]
struct Way {
    /// How it was reached, if somebody had to know.
    trace: KnownTrace,
}

impl Way {
    /// Nothing is known yet.
    const NEW: Self = Self { trace: KnownTrace::NONE };
}

impl Traced for Way {
    fn trace(&mut self) -> &mut KnownTrace {
        &mut self.trace
    }
}

impl Lookup for Access<'_, PlainKeys> {
    type Probe = Key;

    #[inline]
    fn probe(&mut self, position: &mut Position, class: Class, _: Marks) -> Key {
        self.key(position, class, false)
    }
}

impl<M: Model> Reach<'_, M> {
    fn work(&mut self, begun: Option<Begun<M>>) -> Run<Halt> {
        if let Some(begun) = begun {
            (self.traversals[0].stack, self.share.statistics) = (begun.stack, begun.statistics);
            self.share.pieces += 1;
            self.idle -= usize::from(self.traversals[0].has_work());
        } else if self.thread == 0 {
            let mut initial = Vec::new();
            if let Err(fault) = self.model.initial(&mut initial) {
                return self.report(ViolationKind::Fault(fault), None);
            }
            let key = self.traversals[0].reset(&initial, &mut self.access);
            self.access.insert(key);
            self.count_state()?;
            self.begin(0, Trace::START, 0);
        }
        loop {
            self.visit()?;
            match self.wait() {
                NextWork::Work(start) => {
                    let mut state = Vec::new();
                    self.access.unfold(start.key, &mut state);
                    state.extend_from_slice(&start.hidden);
                    self.traversals[0].reset(&state, &mut self.access);
                    self.begin(0, start.trace, start.depth);
                }
                NextWork::Level | NextWork::Nothing => return ControlFlow::Continue(()),
            }
        }
    }

    /// Begins a traversal without work at the state that it moved to.
    fn begin(&mut self, traversal: usize, trace: Trace, depth: u64) {
        self.share.pieces += 1;
        self.idle -= 1;
        self.traversals[traversal].begin(self.model, trace, depth);
    }

    /// Visits the states on the stacks and all that can be reached from them, as far as nobody else does.
    fn visit(&mut self) -> Run<Halt> {
        while self.idle < TRAVERSALS {
            for traversal in 0..TRAVERSALS {
                if self.traversals[traversal].has_work() {
                    self.at = traversal;
                    self.turn()?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Goes to the successor that was looked up, and on until another one is.
    #[inline]
    fn turn(&mut self) -> Run<Halt> {
        if let Some(awaited) = self.traversals[self.at].awaited.take() {
            self.arrive(&awaited)?;
        }
        while let Some(found) = self.traversals[self.at].stack.next(self.model) {
            match self.steps_left.checked_sub(1) {
                Some(left) => self.steps_left = left,
                None => self.look()?,
            }
            match found {
                Next::Successor { label, transient, fault, .. } => {
                    if let Some(fault) = fault {
                        self.report(ViolationKind::Fault(fault), label)?;
                    }
                    self.share.statistics.transient += u64::from(transient);
                    if self.look_up(label, transient) {
                        return ControlFlow::Continue(());
                    }
                }
                Next::Broken { label, fault } => self.report(ViolationKind::Fault(fault), Some(label))?,
                Next::Done(ending) => {
                    if ending == Ending::InvalidEnd {
                        self.report(ViolationKind::InvalidEnd, None)?;
                    }
                    self.traversals[self.at].stack.pop();
                }
            }
        }
        self.idle += 1;
        ControlFlow::Continue(())
    }

    /// Whether the successor was looked up; if not, the traversal went there, or it lies too deep.
    #[inline]
    fn look_up(&mut self, label: Option<M::Label>, transient: bool) -> bool {
        let traversal = &mut self.traversals[self.at];
        let depth = traversal.depth() + u64::from(label.is_some());
        let statistics = &mut self.share.statistics;
        if self.workers.settings.limits.depth_max.is_some_and(|max| max <= depth) {
            traversal.stack.cut();
            statistics.cut += 1;
            statistics.matched += 1;
            return false;
        }
        if let Some((class, key)) = traversal.stack.look_up_only(&mut self.access, transient, Marks::NONE) {
            traversal.awaited = Some(Awaited { class, key, label, depth });
            return true;
        }
        traversal.stack.descend(self.model, label, Marks::NONE, Way::NEW);
        statistics.depth = statistics.depth.max(depth);
        false
    }

    /// Goes to the successor that was looked up, unless it was visited before or is given to somebody else.
    #[inline]
    fn arrive(&mut self, awaited: &Awaited<M::Label>) -> Run<Halt> {
        let &Awaited { class, key, label, depth } = awaited;
        if !self.access.insert(key) {
            self.share.statistics.matched += u64::from(class == Class::Ordinary);
            self.traversals[self.at].stack.reject();
            return ControlFlow::Continue(());
        }
        self.share.statistics.depth = self.share.statistics.depth.max(depth);
        if class == Class::Ordinary {
            self.count_state()?;
            if self.workers.pool.lacks_stock() {
                self.give_away(key, depth);
                return ControlFlow::Continue(());
            }
            if self.idle != 0 {
                self.share_with_idle_traversal(depth);
                return ControlFlow::Continue(());
            }
        }
        let stack = &mut self.traversals[self.at].stack;
        stack.enter(self.model, &mut self.access, label, class == Class::Transient, Way::NEW);
        ControlFlow::Continue(())
    }

    /// Leaves the successor, a new state, to whoever has nothing to do.
    #[cold]
    fn give_away(&mut self, key: Key, depth: u64) {
        let trace = self.trace_of_successor();
        let stack = &mut self.traversals[self.at].stack;
        let hidden = stack.position.hidden().to_vec();
        stack.reject();
        self.workers.pool.offer(Start { key, hidden, trace, depth });
    }

    /// Leaves the successor, a new state, to a traversal without work.
    #[cold]
    fn share_with_idle_traversal(&mut self, depth: u64) {
        let trace = self.trace_of_successor();
        let stack = &mut self.traversals[self.at].stack;
        let state = stack.position.proposed().to_vec();
        stack.reject();
        if let Some(idle) = self.traversals.iter().position(|traversal| !traversal.has_work()) {
            self.traversals[idle].reset(&state, &mut self.access);
            self.begin(idle, trace, depth);
        }
    }

    /// How the state on top of the stack was reached.
    fn trace(&mut self) -> Trace {
        self.workers.traces.of_top(self.traversals[self.at].stack.frames_mut(), &mut self.portion)
    }

    /// How the present successor was reached.
    fn trace_of_successor(&mut self) -> Trace {
        let above = self.trace();
        let listed = self.traversals[self.at].stack.top().map_or(0, |top| top.listed);
        self.workers.traces.extend(above, listed, &mut self.portion)
    }

    #[inline]
    fn count_state(&mut self) -> Run<Halt> {
        if !self.workers.may_store() {
            return ControlFlow::Break(Some(Halt::Stopped(StopReason::States)));
        }
        self.share.statistics.states += 1;
        ControlFlow::Continue(())
    }

    /// Reports a violation: of the transition `label` from here, or of this state.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, label: Option<M::Label>) -> Run<Halt> {
        self.share.statistics.violations += 1;
        let (state, trace) = (self.traversals[self.at].stack.position.state().to_vec(), self.trace());
        let mut waiting = {
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push(Report { kind, label, state, trace });
            reports.len()
        };
        if self.workers.settings.stop_at == StopAt::First {
            return ControlFlow::Break(Some(Halt::Found(())));
        }
        while REPORTS_MAX < waiting {
            self.look()?;
            std::thread::yield_now();
            waiting = self.reports.lock().unwrap_or_else(PoisonError::into_inner).len();
        }
        ControlFlow::Continue(())
    }

    /// Tells the others what this thread did, and whether there is a reason to stop.
    #[cold]
    fn look(&mut self) -> Run<Halt> {
        self.steps_left = STEPS_PER_LOOK;
        self.access.leave_if_asked();
        self.publish();
        let Self { workers, model, traversals, at, watch, .. } = self;
        let traversal = &traversals[*at];
        let begun = (traversal.bottom, traversal.depth());
        look_around(workers, watch, &mut |wanted| watch::snapshot(workers, (*model, &traversal.stack), begun, wanted))
    }

    /// Waits for work.
    fn wait(&mut self) -> NextWork<Start> {
        self.access.leave();
        self.publish();
        watch::wait(self.workers, &mut self.watch, 0)
    }

    /// Says what this thread did up to now.
    fn publish(&mut self) {
        let stacks = self.traversals.iter().map(|traversal| traversal.stack.memory_bytes()).sum();
        let statistics = &mut self.share.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(stacks);
        self.workers.publish(self.thread, &self.share);
    }
}
