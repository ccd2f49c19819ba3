//! Search by several partitions, by increasing number of delays of a scheduler, remembering states of the system only.
//!
//! The search of one thread ([`crate::delay_bounded::fast`]) goes depth-first: with which state of the scheduler, and with how many
//! delays, a state is remembered depends on the order in which its arrivals come. Partitions have no such order, so here it is defined
//! without one:
//!
//! ```text
//! H := {s₀};  layer := {(s₀, d₀, 0)};  delays := 0
//! loop:
//!   later := ∅
//!   while some partition's layer is not empty:
//!     new := ∅
//!     for each (s, d, i) in layer:
//!       for each macro step s → t of process Next(d), and, if i = 0, for each environment move:
//!         report it if it is faulty
//!         if t ∉ H: new(t) := the least of new(t) and (Step(s, d, t), macro steps on the way, hash of s, number of the macro step)
//!       if i + 1 < number of processes that can move in s: later := later ∪ {(s, Delay(d), i + 1)}
//!     H := H ∪ {t : new(t) is defined};  layer := {(t, scheduler's state of new(t), 0)}
//!     if a violation was seen: it is over
//!   if every partition's later is empty, or delays is the bound: it is over
//!   layer := later;  delays := delays + 1
//! ```
//!
//! A state belongs to the partition that its hash names, which keeps new(t). Whoever takes a macro step to the state of another
//! partition works out the scheduler's state after it, and sends it behind the words of t.
//!
//! So, unless a limit cuts the search off, neither the states reached with some number of delays, nor the states of the scheduler that
//! they are explored with, nor the violation that is told depend on the number of partitions, or on the order in which anything
//! arrives. (Two parents of a state with the same hash of 64 bits could make a difference, in the path only.)
//!
//! A snapshot ([`checkpoint`]) holds what waits before a layer is expanded; states are found again from where they came from
//! ([`resume`]).
//!
//! What holds beside that, in relation to all pairs of states of system and scheduler ([`crate::delay_bounded::exact`]): each state has
//! at least as many delays as it needs, since each is explored with one state of the scheduler only, and perhaps more. Once nothing is
//! left for later, all reachable states are there.

mod checkpoint;
mod expand;
mod new_states;
mod resume;

pub(super) use checkpoint::DelaySnapshot;

use super::Reached;
use super::checkpoint::PartRequest;
use super::exchange::{Exchange, ExchangeError};
use super::search::{Partition, ROUND_STATES, ROUND_STATES_MIN};
use super::way::{Way, Ways};
use crate::delay_bounded::try_replay;
use crate::macro_stack::MacroStepsOf;
use crate::model::Processes;
use crate::observer::{Observer, Settings};
use crate::outcome::{Completeness, Round, StopAt, Violation};
use crate::schedule::macro_steps::MacroStepLister;
use crate::schedule::{MacroSteps, Portable, Scheduler};
use crate::state_log::StateLog;
use crate::store::{Store, TreeStore};
use checkpoint::LayerStart;
use fabius_base::StopReason;
use new_states::NewStates;
use std::ops::ControlFlow;

/// Whose delays are counted, and how many are allowed.
#[derive(Debug)]
pub struct DelayOrder<'d, D> {
    /// The scheduler.
    pub scheduler: &'d D,
    /// At most this many delays; without it, until nothing is left.
    pub delays_max: Option<u32>,
}

/// Searches the states that belong to one partition; every partition of a search calls this, with the same model, settings, scheduler
/// and number of delays, and an empty store.
///
/// Limits on states and memory are for all partitions together; they are looked at once in a round. There is none on depth. Either all
/// partitions go on from snapshots of the same search, or none does, and the same holds of keeping snapshots; the number of delays that
/// is allowed may be another one.
///
/// # Errors
/// If another partition is gone, or sent what it cannot have sent; if a snapshot is none of this search.
pub fn delays<'a, M, W, X, O, D>(
    model: &'a mut M,
    request: PartRequest<'a, DelayOrder<'_, D>, M, W>,
    store: &'a mut TreeStore<u32>,
    ways: &'a mut W,
    exchange: &'a mut X,
    observer: &'a mut O,
    settings: &'a Settings,
) -> Result<Reached, ExchangeError>
where
    M: Processes,
    W: Ways,
    X: Exchange,
    O: Observer<M::Label, M::Fault>,
    D: Scheduler<M::Label, State: Portable>,
{
    let PartRequest { target: order, checkpoints } = request;
    let mut partition = Partition::new(model, store, ways, exchange, observer, settings);
    partition.keeper = checkpoints.keep;
    let begun = partition.begin()?.map_continue(|_| ());
    let mut search = Delays::new(&mut partition, order.scheduler);
    let begun = match checkpoints.from {
        Some((snapshot, ways)) => search.resume(begun, snapshot, ways)?,
        None => begun.map_continue(|()| search.begin()),
    };
    let completeness = match begun {
        ControlFlow::Continue(()) => search.run(order.delays_max)?,
        ControlFlow::Break(ended) => ended,
    };
    let rounds = search.rounds;
    let reached = partition.conclude(completeness)?;
    Ok(Reached { rounds, ..reached })
}

/// Executes a way of a search by increasing number of delays: the violation at its end, with the path to it and the delays on that;
/// `None` if this is no way of the model.
pub fn replay_delays<M: Processes, D: Scheduler<M::Label>>(
    model: &mut M,
    scheduler: &D,
    way: &Way,
) -> Option<Violation<M::Label, M::Fault>> {
    // A fault of the initial state is none of a macro step.
    let is_of_macro_step = way.event != 0 && model.initial(&mut Vec::new()).is_ok();
    let last = is_of_macro_step.then_some(way.event);
    let trail: Option<Vec<u32>> =
        way.ordinals.iter().copied().chain(last).map(|number| number.checked_sub(1)).collect();
    let replayed = try_replay(model, scheduler, &trail?)?;
    Some(Violation { kind: replayed.wrong?, path: replayed.path, delays: replayed.delays, count: way.count })
}

/// States that wait to be expanded.
struct Waiting<State> {
    states: StateLog,
    /// Of each of them.
    calls: Vec<Call<State>>,
}

/// How a state is explored, and how far that is.
#[derive(Clone)]
struct Call<State> {
    /// The number of the state.
    number: u64,
    /// Macro steps on the way to it.
    depth: u64,
    /// d and i of the algorithm.
    schedule: State,
    index: u32,
}

impl<State> Waiting<State> {
    fn new(hidden: usize) -> Self {
        Self { states: StateLog::new(hidden), calls: Vec::new() }
    }

    fn clear(&mut self) {
        self.states.clear();
        self.calls.clear();
    }

    fn memory_bytes(&self) -> u64 {
        self.states.memory_bytes() + size_of_val::<[Call<State>]>(&self.calls) as u64
    }
}

/// What the partitions told each other at the end of a layer.
struct LayerStatus {
    /// Why some of them want to stop.
    stop: Option<StopReason>,
    states: u64,
    violations: u64,
    /// The next layer may have states.
    goes_on: bool,
    /// States that wait for one more delay.
    frontier: u64,
    /// Some partition wants the layer to be kept.
    checkpoint_is_due: bool,
}

struct Delays<'p, 'a, M: Processes, W, X, O, D: Scheduler<M::Label>> {
    partition: &'p mut Partition<'a, M, TreeStore<u32>, W, X, O>,
    scheduler: &'p D,
    /// Lists the macro steps of states that are expanded, …
    lister: MacroStepLister<M::Label>,
    macro_steps: MacroStepsOf<M>,
    /// … and of states that these lead to, to know which processes can move there.
    lister_after: MacroStepLister<M::Label>,
    macro_steps_after: MacroStepsOf<M>,
    layer: Waiting<D::State>,
    later: Waiting<D::State>,
    new: NewStates,
    /// States sent in this layer.
    sent: u64,
    /// States of all partitions, as far as they told.
    states: u64,
    rounds: Vec<Round>,
    /// Where the layer began that is expanded, unless that was kept, or nobody keeps it.
    start: Option<LayerStart>,
    /// To work in.
    state: Vec<u32>,
    message: Vec<u32>,
}

impl<'p, 'a, M, W, X, O, D> Delays<'p, 'a, M, W, X, O, D>
where
    M: Processes,
    W: Ways,
    X: Exchange,
    O: Observer<M::Label, M::Fault>,
    D: Scheduler<M::Label, State: Portable>,
{
    fn new(partition: &'p mut Partition<'a, M, TreeStore<u32>, W, X, O>, scheduler: &'p D) -> Self {
        let hidden = partition.model.hidden_words();
        Self {
            partition,
            scheduler,
            lister: MacroStepLister::new(),
            macro_steps: MacroSteps::default(),
            lister_after: MacroStepLister::new(),
            macro_steps_after: MacroSteps::default(),
            layer: Waiting::new(hidden),
            later: Waiting::new(hidden),
            new: NewStates::new(hidden),
            sent: 0,
            states: 0,
            rounds: Vec::new(),
            start: None,
            state: Vec::new(),
            message: Vec::new(),
        }
    }

    /// Puts the initial state, which the partition has stored if it is its own, into the first layer.
    fn begin(&mut self) {
        std::mem::swap(&mut self.layer.states, &mut self.partition.next_layer.states);
        self.new.first = self.partition.statistics.states;
        if !self.layer.states.is_empty() {
            self.layer.states.recall(self.partition.store, 0, &mut self.state);
            let listed = list(self.partition, &mut self.lister, &self.state, &mut self.macro_steps);
            // Nothing is expanded after an interruption.
            if listed.is_continue() {
                let schedule = self.scheduler.start(self.macro_steps.situation());
                self.layer.calls.push(Call { number: 0, depth: 0, schedule, index: 0 });
            }
            self.lister.transient = 0;
        }
    }

    /// Searches with ever more delays; how that ended.
    fn run(&mut self, delays_max: Option<u32>) -> Result<Completeness, ExchangeError> {
        let mut checkpoint_is_due = false;
        loop {
            self.begin_layer();
            if checkpoint_is_due {
                self.keep_start();
            }
            let bound = self.rounds.last().map_or(0, |round| round.bound.saturating_add(1));
            if delays_max.is_some_and(|max| max < bound) {
                self.keep_start();
                return Ok(Completeness::Exhaustive);
            }
            let told = self.expand_layer()?;
            match told.stop {
                _ if 0 < told.violations && self.partition.settings.stop_at == StopAt::First => {
                    return Ok(Completeness::FirstViolation);
                }
                Some(reason) => {
                    self.keep_start();
                    return Ok(Completeness::Stopped(reason));
                }
                None => self.turn_layer()?,
            }
            let LayerStatus { states, frontier, .. } = told;
            checkpoint_is_due = told.checkpoint_is_due;
            if !told.goes_on {
                self.rounds.push(Round { bound, states, frontier, ..Round::default() });
                if frontier == 0 {
                    return Ok(Completeness::Exhaustive);
                }
                std::mem::swap(&mut self.layer, &mut self.later);
                self.later.clear();
            }
        }
    }

    /// Expands a layer, round after round; what the partitions told each other last.
    fn expand_layer(&mut self) -> Result<LayerStatus, ExchangeError> {
        let states_max = self.partition.settings.limits.states_max;
        let mut next = 0;
        loop {
            let states_left = states_max.map(|max| max.saturating_sub(self.states) / 4);
            let each = states_left.unwrap_or(ROUND_STATES).clamp(ROUND_STATES_MIN, ROUND_STATES) as usize;
            let end = self.layer.calls.len().min(next + each);
            while next < end && self.partition.stop.is_none() && self.expand(next)?.is_continue() {
                next += 1;
            }
            let (told, left) = self.end_round((self.layer.calls.len() - next) as u64)?;
            if left == 0 || told.stop.is_some() {
                return Ok(told);
            }
        }
    }

    /// Ends a round: tells the others how many states of the layer are left here, and inserts what they sent. What they told, and how many
    /// states of the layer are left anywhere.
    fn end_round(&mut self, left: u64) -> Result<(LayerStatus, u64), ExchangeError> {
        self.partition.beside_bytes = self.memory_bytes();
        // What was sent may be known, so the next layer may turn out to be empty.
        let coming = self.new.len() + self.sent;
        let frontier = self.later.calls.len() as u64;
        let (agreed, batches) = self.partition.end_round(coming, &[left, frontier])?;
        self.receive(batches)?;
        self.states = agreed.states;
        let mut told = LayerStatus {
            stop: agreed.stop,
            states: agreed.states,
            violations: agreed.violations,
            goes_on: agreed.waiting != 0,
            frontier: 0,
            checkpoint_is_due: agreed.checkpoint_is_due,
        };
        let mut left = 0;
        for notices in agreed.notices {
            let [left_there, frontier] = notices[..] else { return Err(ExchangeError::Damaged) };
            left += left_there;
            told.frontier += frontier;
        }
        Ok((told, left))
    }

    /// Makes the new states the layer.
    fn turn_layer(&mut self) -> Result<(), ExchangeError> {
        self.layer.clear();
        self.sent = 0;
        self.partition.layers += 1;
        std::mem::swap(&mut self.layer.states, &mut self.new.states);
        for (number, arrival) in (self.new.first..).zip(self.new.arrivals.drain(..)) {
            let mut words = &arrival.schedule[..];
            let schedule = D::State::read(&mut words).filter(|_| words.is_empty()).ok_or(ExchangeError::Damaged)?;
            if !self.partition.ways.push(arrival.origin) {
                self.partition.stop = Some(StopReason::Full);
            }
            let statistics = &mut self.partition.statistics;
            statistics.depth = statistics.depth.max(arrival.depth);
            self.layer.calls.push(Call { number, depth: arrival.depth, schedule, index: 0 });
        }
        self.new.first += self.layer.calls.len() as u64;
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        let listed = (self.macro_steps.memory_bytes() + self.macro_steps_after.memory_bytes()) as u64;
        self.layer.memory_bytes() + self.later.memory_bytes() + self.new.memory_bytes() + listed
    }
}

/// Lists the macro steps of a state, unless it is time to stop.
fn list<M: Processes, W, X, O: Observer<M::Label, M::Fault>>(
    partition: &mut Partition<'_, M, TreeStore<u32>, W, X, O>,
    lister: &mut MacroStepLister<M::Label>,
    state: &[u32],
    macro_steps: &mut MacroStepsOf<M>,
) -> ControlFlow<()> {
    let Partition { model, budget, statistics, store, observer, .. } = partition;
    let listed = lister.list(*model, state, macro_steps, || match budget.step_is_due() {
        true => budget.look(statistics, store.is_full(), *observer),
        false => ControlFlow::Continue(()),
    });
    if let ControlFlow::Break(reason) = listed {
        partition.stop = Some(reason);
    }
    listed.map_break(|_| ())
}
