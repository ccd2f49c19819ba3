//! Strongly connected components: acceptance cycles and livelocks, also for fair schedulers only, without
//! copies of the state space.
//!
//! After Couvreur (*On-the-Fly Verification of Linear Temporal Logic*, FM 1999), which is Tarjan's algorithm with a
//! stack of the roots of the components known so far:
//!
//! ```text
//! visit(s):                                      merge(s → t):
//!   number s; active := active ∪ {s}               sum := that of s → t
//!   roots.push({s}, sum of the way to s)           while the root on top has a larger number than t:
//!   for each s → t:                                  sum := sum + that of the root + that of the way to it
//!     if t is new: visit(t)                          roots.pop()
//!     else if t ∈ active: merge(s → t)             add sum to the root on top
//!   if s is the root on top:                       report if a run through all of it counts
//!     roots.pop()
//!     active := active \ {s and all after it}
//! ```
//!
//! What is summed up is a matter of fairness ([`super::sums`]). Under *weak fairness* each process is an acceptance
//! condition of its own: it moves, or it is not enabled. Under *strong fairness* (a Streett condition) a component
//! may be too large: a process is enabled in it somewhere and never moves. A fair run then avoids the states where it
//! is enabled; they are taken out, and what is left, a *region*, is searched for components again.
//!
//! *Livelocks* are components of the graph without progress. Steps with progress are put off as in
//! [`super::dfs_fifo`].
//!
//! *The lasso* leads to the root of the component. From there on it takes the shortest way to what
//! is still missing (an accepting transition, a move of a process, a state where it is not enabled) and on to
//! a stored state of the component, again and again, and then back.
//!
//! *Reduction.* A state from which a transition leads to an active one is expanded in full. A reduction says nothing of
//! fairness: with any, the model is to leave nothing out.

use super::frontier::{Frontier, Seed};
use super::lasso::{Cycle, Lasso, is_at};
use super::outcome::{CycleOutcome, End, Fairness, Found, Goal, Run};
use super::proviso::Proviso;
use super::stem::stem_to;
use super::sums::{self, Strong, Sum, Weak};
use super::watch::Watch;
use super::ways::{Answer, Lane, Step, Way, shortest_way};
use crate::dfs_stack::DfsStack;
use crate::look::{Look, Phase, Rejection};
use crate::model::{Marks, Model, Next, Processes};
use crate::observer::{Observer, Settings};
use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Class, Payloads};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Searches for a cycle that is what `goal` says, and that is fair.
pub fn components<M, S, O, P>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
    proviso: P,
    (goal, fairness): (Goal, Fairness),
) -> CycleOutcome<M::Label, M::Fault>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
{
    let watch = Watch::new(observer, settings);
    match fairness {
        Fairness::None => Components::<M, S, O, P, Marks>::search(model, store, watch, proviso, goal),
        Fairness::Weak => Components::<M, S, O, P, Weak>::search(model, store, watch, proviso, goal),
        Fairness::Strong => Components::<M, S, O, P, Strong>::search(model, store, watch, proviso, goal),
    }
}

/// What is kept with each state: its number while it is active, from 1, or one of the values below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Number(u32);

impl Number {
    /// Was not met before.
    const NEW: Self = Self(0);
    /// Belongs to a component that is done with.
    const DONE: Self = Self(u32::MAX);
    /// Waits until its turn comes.
    const QUEUED: Self = Self(u32::MAX - 1);
    /// Active states have numbers below this; regions have numbers from this on.
    const FIRST_REGION: Self = Self(1 << 31);
}

struct Components<'a, M: Model, S, O, P, C> {
    model: &'a mut M,
    store: &'a mut S,
    proviso: P,
    watch: Watch<'a, O>,
    goal: Goal,
    /// States that were put off because of progress.
    queue: Frontier,
    seed: Seed,
    /// What is left of components that were too large.
    regions: Vec<Region>,
    regions_made: u32,
    memory_bytes: u64,
    /// States of the largest component that was left.
    largest: u64,
    sum: std::marker::PhantomData<C>,
}

/// A depth-first search through the whole graph, or through a region of it.
struct Pass<M: Model, C, Probe> {
    stack: DfsStack<M, FrameData, Probe>,
    roots: Vec<Root<C>>,
    active: Vec<Probe>,
    /// If components may have to be split: the active states.
    states: StateLog,
    /// Numbers up to this one are those of another pass.
    first: u32,
    /// The region to stay in.
    region: Option<Number>,
    /// The state on top is done with.
    leaving: bool,
}

/// A component, as far as it is known.
struct Root<C> {
    number: u32,
    sum: C,
    /// Of the way from the active state before to the root.
    way: C,
    /// Whether it has a transition.
    cyclic: bool,
}

/// What is kept with a state on the stack.
#[derive(Clone, Copy)]
struct FrameData {
    number: u32,
    /// Of the transition that led here.
    marks: Marks,
    /// Some successor is active.
    closes: bool,
}

/// A part of the graph.
struct Region {
    number: Number,
    states: StateLog,
}

/// Why a pass came to a halt.
enum Halted {
    /// A run through all of the component on top counts.
    Found,
    /// The component of the state on top was split.
    Split,
    Exhausted,
}

impl<'a, M, S, O, P, C> Components<'a, M, S, O, P, C>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
    C: Sum,
{
    fn search(
        model: &'a mut M,
        store: &'a mut S,
        watch: Watch<'a, O>,
        proviso: P,
        goal: Goal,
    ) -> CycleOutcome<M::Label, M::Fault> {
        let queue = Frontier::new(model.hidden_words(), true);
        let mut search = Self {
            model,
            store,
            proviso,
            watch,
            goal,
            queue,
            seed: 0,
            regions: Vec::new(),
            regions_made: 0,
            memory_bytes: 0,
            largest: 0,
            sum: std::marker::PhantomData,
        };
        let run = search.run();
        let statistics = &mut search.watch.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(search.store.memory_bytes() + search.memory_bytes);
        CycleOutcome::conclude(run, search.store.exactness(), *statistics)
    }

    fn run(&mut self) -> Run<M::Label, M::Fault> {
        let mut state = Vec::new();
        if let Err(fault) = self.model.initial(&mut state) {
            return ControlFlow::Break(End::Found(Found::Fault { path: Vec::new(), fault }));
        }
        self.watch.counts_state()?;
        let mut pass = Pass::new::<S>(self.model, 0, None);
        pass.stack.reset(&state);
        let probe = self.store.prepare(&mut pass.stack.position, Class::Ordinary);
        *self.store.payload(probe).1 = Number::QUEUED;
        self.append(&pass, Class::Ordinary)?;
        while let Some(seed) = self.queue.take() {
            let class = self.queue.recall(self.store, seed, &mut state);
            self.seed = seed;
            if self.start(&mut pass, &state, class)? {
                self.search_from_seed(&mut pass)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn search_from_seed(&mut self, pass: &mut Pass<M, C, S::Probe>) -> Run<M::Label, M::Fault> {
        loop {
            match self.explore(pass, None)? {
                Halted::Found => return self.report(pass, None),
                Halted::Split => self.search_regions(pass)?,
                Halted::Exhausted => return ControlFlow::Continue(()),
            }
        }
    }

    /// Searches what is left of the component that was split, and of what is split in turn.
    fn search_regions(&mut self, whole: &mut Pass<M, C, S::Probe>) -> Run<M::Label, M::Fault> {
        let mut state = Vec::new();
        while let Some(region) = self.regions.pop() {
            let first = whole.first + whole.active.len() as u32;
            let mut pass = Pass::new::<S>(self.model, first, Some(region.number));
            for index in 0..region.states.len() {
                let class = region.states.recall(self.store, index, &mut state);
                let mut going = self.start(&mut pass, &state, class)?;
                while going {
                    match self.explore(&mut pass, Some(whole))? {
                        Halted::Found => return self.report(whole, Some(&mut pass)),
                        Halted::Split => {}
                        Halted::Exhausted => going = false,
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Starts a pass from a state, unless it was there before. Whether it starts.
    fn start(&mut self, pass: &mut Pass<M, C, S::Probe>, state: &[u32], class: Class) -> Run<M::Label, M::Fault, bool> {
        pass.stack.reset(state);
        let probe = self.store.prepare(&mut pass.stack.position, class);
        let starts = pass.admits(*self.store.payload(probe).1);
        if starts {
            let number = self.activate(pass, probe, C::default(), class)?;
            let data = FrameData { number, marks: Marks::NONE, closes: false };
            pass.stack.start(self.model, class == Class::Transient, data);
            self.sum_up_top(pass);
        } else {
            pass.stack.position.forget();
        }
        ControlFlow::Continue(starts)
    }

    /// Goes on with a pass; `other` is a pass that waits meanwhile.
    fn explore(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        other: Option<&Pass<M, C, S::Probe>>,
    ) -> Run<M::Label, M::Fault, Halted> {
        if std::mem::take(&mut pass.leaving) {
            pass.stack.pop();
        }
        while let Some(found) = pass.stack.next(self.model) {
            if self.watch.step_is_due() {
                self.look(pass, other)?;
            }
            match found {
                Next::Successor { label, fault: Some(fault), .. } => return self.fault(pass, label, fault),
                Next::Broken { label, fault } => return self.fault(pass, Some(label), fault),
                Next::Successor { label, transient, marks, fault: None } => {
                    if self.arrive(pass, label, transient, marks)? {
                        return ControlFlow::Continue(Halted::Found);
                    }
                }
                Next::Done(_) if self.widen(pass) => {}
                Next::Done(_) => {
                    if self.leave(pass)? {
                        pass.leaving = true;
                        return ControlFlow::Continue(Halted::Split);
                    }
                    pass.stack.pop();
                }
            }
        }
        ControlFlow::Continue(Halted::Exhausted)
    }

    /// Looks at the successor. Whether it closes a cycle that counts.
    #[inline]
    fn arrive(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        label: Option<M::Label>,
        transient: bool,
        marks: Marks,
    ) -> Run<M::Label, M::Fault, bool> {
        let depth = pass.stack.depth() + u64::from(label.is_some());
        if self.watch.arrives_too_deep(depth, transient) {
            pass.stack.cut();
            return ControlFlow::Continue(false);
        }
        let progress = self.goal == Goal::Livelock && pass.stack.marks_with(marks).has(Marks::PROGRESS);
        let mut data = FrameData { number: 0, marks, closes: false };
        let Some((class, probe)) = pass.stack.look_up(self.model, self.store, transient, marks) else {
            pass.stack.descend(self.model, label, marks, data);
            return ControlFlow::Continue(false);
        };
        let number = self.store.payload(probe).1;
        let was = *number;
        if progress {
            if was == Number::NEW && pass.region.is_none() {
                *number = Number::QUEUED;
                self.count(was, class)?;
                pass.stack.recover(self.store);
                self.append(pass, class)?;
            }
        } else if pass.admits(was) {
            self.count(was, class)?;
            let way = pass.way_to_successor(self.model, label, marks);
            pass.stack.recover(self.store);
            data.number = self.activate(pass, probe, way, class)?;
            pass.stack.enter(self.model, self.store, label, transient, data);
            self.sum_up_top(pass);
            let statistics = &mut self.watch.statistics;
            statistics.depth = statistics.depth.max(depth);
            return ControlFlow::Continue(false);
        }
        self.watch.statistics.matched += u64::from(was != Number::NEW);
        pass.stack.reject();
        if !progress && pass.is_active(was) {
            let way = pass.way_to_successor(self.model, label, marks);
            pass.merge(was.0, way);
            return ControlFlow::Continue(pass.roots.last().is_some_and(|root| self.counts(&root.sum)));
        }
        ControlFlow::Continue(false)
    }

    /// Counts an arrival at a state that is queued or entered.
    fn count(&mut self, was: Number, class: Class) -> Run<M::Label, M::Fault> {
        if was == Number::NEW && class == Class::Ordinary {
            self.watch.counts_state()?;
        } else if was == Number::QUEUED {
            self.watch.statistics.matched += 1;
        }
        ControlFlow::Continue(())
    }

    /// Makes the state looked at active, and the root of a component; returns its number.
    fn activate(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        probe: S::Probe,
        way: C,
        class: Class,
    ) -> Run<M::Label, M::Fault, u32> {
        let number = pass.first + pass.active.len() as u32 + 1;
        if Number::FIRST_REGION.0 <= number {
            return ControlFlow::Break(End::Stopped(StopReason::Memory));
        }
        *self.store.payload(probe).1 = Number(number);
        pass.active.push(probe);
        pass.roots.push(Root { number, sum: C::default(), way, cyclic: false });
        if C::SPLITS {
            pass.states.push(self.store, &pass.stack.position, class);
        }
        ControlFlow::Continue(number)
    }

    /// Adds the state on top to its component.
    fn sum_up_top(&mut self, pass: &mut Pass<M, C, S::Probe>) {
        let transient = pass.stack.top().is_some_and(|top| top.transient);
        if let Some(root) = pass.roots.last_mut() {
            root.sum.add_state(self.model, pass.stack.position.state(), transient);
        }
    }

    /// Whether a run through all of this again and again is what is looked for.
    fn counts(&self, sum: &C) -> bool {
        (self.goal == Goal::Livelock || sum.marks().has(Marks::ACCEPTING)) && sum.neglected().is_empty()
    }

    /// Expands the state on top in full, if it closes a cycle and was expanded in part.
    fn widen(&mut self, pass: &mut Pass<M, C, S::Probe>) -> bool {
        let closes = pass.stack.top().is_some_and(|top| std::mem::take(&mut top.data.closes));
        if !closes || self.goal == Goal::Livelock {
            return false;
        }
        let Some((state, cursor)) = pass.stack.state_and_cursor() else { return false };
        self.proviso.widen(self.model, state, cursor)
    }

    /// Ends the component of which the state on top is the root, if it is one. Whether the component was split.
    fn leave(&mut self, pass: &mut Pass<M, C, S::Probe>) -> Run<M::Label, M::Fault, bool> {
        let Some(top) = pass.stack.top().filter(|top| top.is_stored()) else { return ControlFlow::Continue(false) };
        let number = top.data.number;
        let Some(root) = pass.roots.pop_if(|root| root.number == number) else { return ControlFlow::Continue(false) };
        let from = (number - pass.first) as usize - 1;
        let accepted = self.goal == Goal::Livelock || root.sum.marks().has(Marks::ACCEPTING);
        let split = C::SPLITS && root.cyclic && accepted;
        self.largest = self.largest.max((pass.active.len() - from) as u64);
        if root.cyclic && self.watch.rejects() {
            let why = if accepted { Rejection::Unfair } else { Rejection::NotAccepting };
            let label = pass.stack.top().and_then(|top| top.label);
            self.watch.show_rejected(why, label, pass.stack.position.state());
        }
        if split {
            self.split(pass, from, &root.sum)?;
        } else {
            for &probe in &pass.active[from..] {
                *self.store.payload(probe).1 = Number::DONE;
            }
        }
        pass.active.truncate(from);
        pass.states.truncate(from);
        ControlFlow::Continue(split)
    }

    /// Takes the states out of the component where someone neglected is enabled; what is left is a region.
    fn split(&mut self, pass: &Pass<M, C, S::Probe>, from: usize, sum: &C) -> Run<M::Label, M::Fault> {
        if self.regions_made == Number::QUEUED.0 - Number::FIRST_REGION.0 {
            return ControlFlow::Break(End::Stopped(StopReason::Memory));
        }
        let number = Number(Number::FIRST_REGION.0 + self.regions_made);
        self.regions_made += 1;
        let mut region = Region { number, states: StateLog::new(self.model.hidden_words()) };
        let neglected = sum.neglected();
        let mut state = Vec::new();
        for (index, &probe) in pass.active.iter().enumerate().skip(from) {
            let class = pass.states.recall(self.store, index, &mut state);
            let mut left_out = sums::enabled(self.model, &state, class == Class::Transient);
            left_out.retain(&neglected);
            let stays = left_out.is_empty() || (class == Class::Transient && sum.has_ordinary());
            *self.store.payload(probe).1 = if stays { number } else { Number::DONE };
            if stays {
                region.states.push_from(&pass.states, index);
            }
        }
        if !region.states.is_empty() {
            self.regions.push(region);
        }
        ControlFlow::Continue(())
    }

    /// Appends the state that was just stored to the queue.
    fn append(&mut self, pass: &Pass<M, C, S::Probe>, class: Class) -> Run<M::Label, M::Fault> {
        if self.queue.push(self.store, &pass.stack.position, class, self.seed) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(End::Stopped(StopReason::Memory))
        }
    }

    /// The component on top of `part`, or of `whole` if there is none, counts.
    #[cold]
    fn report(
        &mut self,
        whole: &mut Pass<M, C, S::Probe>,
        part: Option<&mut Pass<M, C, S::Probe>>,
    ) -> Run<M::Label, M::Fault> {
        let (start, transient, members, stem) = match part {
            None => {
                let (start, transient, members) = whole.retreat_to_root();
                (start, transient, members, whole.stack.labels().collect())
            }
            Some(part) => {
                let mut stem: Vec<M::Label> = whole.stack.labels().collect();
                let from = whole.stack.position.state().to_vec();
                let (start, transient, members) = part.retreat_to_root();
                stem.extend(self.way_between(&from, &start, transient)?);
                (start, transient, members, stem)
            }
        };
        let cycle = Cycle::Short(self.cycle(&start, transient, members)?);
        let lead = self.stem()?;
        let mut from = Vec::new();
        self.queue.recall(self.store, self.seed, &mut from);
        let lasso = Lasso { goal: self.goal, lead, from: &from, stem, cycle };
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let found = lasso.shortened(self.model, &mut self.proviso, &mut self.watch, memory_bytes);
        ControlFlow::Break(End::Found(found))
    }

    /// The way to the bottom of the stack.
    fn stem(&mut self) -> Run<M::Label, M::Fault, Vec<M::Label>> {
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let seeds = self.queue.ancestors(self.seed);
        stem_to(self.model, self.store, &mut self.proviso, &mut self.watch, memory_bytes, &self.queue, &seeds)
    }

    /// The labels from one state to another.
    fn way_between(&mut self, from: &[u32], to: &[u32], transient: bool) -> Run<M::Label, M::Fault, Vec<M::Label>> {
        let hidden = self.model.hidden_words();
        if same_visible(from, to, hidden) {
            return ControlFlow::Continue(Vec::new());
        }
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let goal = self.goal;
        let way = shortest_way(self.model, &mut self.proviso, &mut self.watch, memory_bytes, from, None, |_, step| {
            if goal == Goal::Livelock && step.marks.has(Marks::PROGRESS) {
                Answer::No
            } else if is_at(&step, &to[..to.len().saturating_sub(hidden)], transient, hidden) {
                Answer::Arrived
            } else {
                Answer::Yes(Lane::First)
            }
        })?;
        ControlFlow::Continue(way.into_iter().flatten().filter_map(|reached| reached.label).collect())
    }

    /// A cycle through `start` and other active states with these numbers that is what is looked for.
    fn cycle(
        &mut self,
        start: &[u32],
        transient: bool,
        members: std::ops::RangeInclusive<u32>,
    ) -> Run<M::Label, M::Fault, Way<M::Label>> {
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let (goal, hidden) = (self.goal, self.model.hidden_words());
        let mut cycle = Vec::new();
        let mut sum = C::default();
        sum.add_state(self.model, start, transient);
        let visible = &start[..start.len().saturating_sub(hidden)];
        let mut at = start.to_vec();
        let mut closed = false;
        while !(closed && self.counts(&sum)) {
            let going_home = self.counts(&sum);
            let mut position = Position::new(S::MEMO_PER_WORD, hidden);
            let store = &mut *self.store;
            let mut is_member = |step: &Step<'_, M::Label>| {
                position.advance(step.target);
                let class = if step.transient { Class::Transient } else { Class::Ordinary };
                let probe = store.prepare(&mut position, class);
                position.forget();
                members.contains(&store.payload(probe).1.0)
            };
            let ask = |model: &mut M, step: Step<'_, M::Label>| {
                if goal == Goal::Livelock && step.marks.has(Marks::PROGRESS) {
                    return Answer::No;
                }
                let is_start = is_at(&step, visible, transient, hidden);
                let is_useful = !going_home && (step.lane == Lane::Second || is_useful(&sum, model, &step, goal));
                let is_member = is_start || is_member(&step);
                match is_member {
                    true if is_useful || is_start && going_home => Answer::Arrived,
                    false if !step.transient => Answer::No,
                    _ => Answer::Yes(if is_useful { Lane::Second } else { Lane::First }),
                }
            };
            let way = shortest_way(self.model, &mut self.proviso, &mut self.watch, memory_bytes, &at, None, ask)?;
            let Some(way) = way else { break };
            for taken in &way {
                sum.add_step(self.model, taken.label.as_ref(), taken.marks);
                if !taken.transient {
                    sum.add_state(self.model, &taken.state, false);
                }
                closed = taken.transient == transient && same_visible(&taken.state, start, hidden);
                at.clone_from(&taken.state);
            }
            cycle.extend(way);
        }
        ControlFlow::Continue(cycle)
    }

    #[cold]
    fn fault<T>(
        &mut self,
        pass: &Pass<M, C, S::Probe>,
        label: Option<M::Label>,
        fault: M::Fault,
    ) -> Run<M::Label, M::Fault, T> {
        let mut path = self.stem()?;
        path.extend(pass.stack.labels().chain(label));
        ControlFlow::Break(End::Found(Found::Fault { path, fault }))
    }

    #[cold]
    fn look(&mut self, pass: &Pass<M, C, S::Probe>, other: Option<&Pass<M, C, S::Probe>>) -> Run<M::Label, M::Fault> {
        let regions: u64 = self.regions.iter().map(|region| region.states.memory_bytes()).sum();
        let passes = pass.memory_bytes() + other.map_or(0, Pass::memory_bytes);
        self.memory_bytes = passes + regions + self.queue.memory_bytes();
        self.watch.look(self.store.memory_bytes() + self.memory_bytes, self.store.is_full())?;
        let Some(wanted) = self.watch.curiosity() else { return ControlFlow::Continue(()) };
        let whole = other.unwrap_or(pass);
        let phase = if other.is_some() { Phase::Regions } else { Phase::Components };
        let look = Look::at(phase).along_many(wanted, whole.stack.depth(), whole.stack.labels());
        let look = Look {
            from_initial: self.seed == 0,
            stack: whole.stack.len() as u64,
            frontier: Some(self.queue.waiting()),
            largest_component: Some(self.largest),
            partitions: Some(self.regions.len() as u64),
            ..look
        };
        let look = if wanted.whole { look.led_by(self.stem()?) } else { look };
        self.watch.show(look);
        ControlFlow::Continue(())
    }
}

/// Whether a step makes the cycle walked so far more like one that counts.
fn is_useful<M: Processes, C: Sum>(sum: &C, model: &mut M, step: &Step<'_, M::Label>, goal: Goal) -> bool {
    let mut after = sum.clone();
    after.add_step(model, step.label, step.marks);
    if !step.transient {
        after.add_state(model, step.target, false);
    }
    let accepts = |sum: &C| goal == Goal::AcceptanceCycle && sum.marks().has(Marks::ACCEPTING);
    accepts(&after) && !accepts(sum) || after.is_fairer_than(sum)
}

fn same_visible(one: &[u32], other: &[u32], hidden: usize) -> bool {
    let visible = one.len().saturating_sub(hidden);
    one.len() == other.len() && one[..visible] == other[..visible]
}

impl<M: Processes, C: Sum, Probe: Copy> Pass<M, C, Probe> {
    fn new<S: Payloads<Number, Probe = Probe>>(model: &M, first: u32, region: Option<Number>) -> Self {
        Self {
            stack: DfsStack::new(model, S::MEMO_PER_WORD),
            roots: Vec::new(),
            active: Vec::new(),
            states: StateLog::new(model.hidden_words()),
            first,
            region,
            leaving: false,
        }
    }

    /// Whether a state with this number is to be entered.
    #[inline]
    fn admits(&self, number: Number) -> bool {
        match self.region {
            None => number == Number::NEW || number == Number::QUEUED,
            Some(region) => number == region,
        }
    }

    #[inline]
    fn is_active(&self, number: Number) -> bool {
        self.first < number.0 && number.0 <= self.first + self.active.len() as u32
    }

    /// The sum of the way to the successor from the last stored state.
    #[inline]
    fn way_to_successor(&self, model: &M, label: Option<M::Label>, marks: Marks) -> C {
        let mut way = C::default();
        way.add_step(model, label.as_ref(), marks);
        for frame in self.stack.frames().iter().rev().take_while(|frame| !frame.is_stored()) {
            way.add_step(model, frame.label.as_ref(), frame.data.marks);
        }
        way
    }

    /// There is a way from the state on top to the active state with this number.
    fn merge(&mut self, number: u32, mut sum: C) {
        while let Some(root) = self.roots.pop_if(|root| number < root.number) {
            sum.unite(&root.sum);
            sum.unite(&root.way);
        }
        if let Some(root) = self.roots.last_mut() {
            root.sum.unite(&sum);
            root.cyclic = true;
        }
        if let Some(top) = self.stack.top() {
            top.data.closes = true;
        }
    }

    /// Goes back to the root of the component on top: it, whether it is transient, and the numbers of its component.
    fn retreat_to_root(&mut self) -> (Vec<u32>, bool, std::ops::RangeInclusive<u32>) {
        let number = self.roots.last().map_or(0, |root| root.number);
        self.stack.forget_ahead();
        while self.stack.top().is_some_and(|top| !top.is_stored() || top.data.number != number) {
            self.stack.pop();
        }
        let transient = self.stack.top().is_some_and(|top| top.transient);
        (self.stack.position.state().to_vec(), transient, number..=self.first + self.active.len() as u32)
    }

    fn memory_bytes(&self) -> u64 {
        let beside = size_of_val::<[Root<C>]>(&self.roots) + size_of_val::<[Probe]>(&self.active);
        self.stack.memory_bytes() + self.states.memory_bytes() + beside as u64
    }
}
