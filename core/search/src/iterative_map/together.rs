//! Maximal accepting predecessors, worked out by several threads.
//!
//! The threads take turns with the caller: they expand a batch of states together, each a part of it with a model of its own; then
//! the caller alone gives numbers to the states that are new. Whenever the states have become twice as many, and at the end of the
//! round, maximal accepting predecessors are calculated in what is there, and at the end of the round refined
//! ([`super::refine`]), again by all threads.
//!
//! How large a batch is, and which states are in it, does not depend on the number of threads nor on their pace. So the
//! states, their numbers, the edges, the rounds and the cycle that is found are the same for two threads and for ten, and from run
//! to run.
//!
//! The paper says of its parallel version only that it was easy on top of a parallel search; this one is ours. It looks for
//! cycles when the states have doubled, one thread with each edge. So up to [`ALONE_MAX`] states one thread works alone:
//! most cycles are found there, with the states that it needs, and systems that small are no work for several.

use super::Evidence;
use super::graph::{Graph, Known, Progress};
use super::map::{self, Maps};
use super::refine::{Parts, Refining};
use crate::delay_bounded::{DelayObserver, scheduled};
use crate::model::{Model, Processes};
use crate::outcome::{Halt, Round, Run};
use crate::schedule::macro_steps::MacroStepLister;
use crate::schedule::{MacroSteps, Scheduler};
use crate::snapshot::Phase;
use crate::threads;
use fabius_base::Cancel;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Up to this many states one thread works alone, if nobody wants it otherwise.
pub const ALONE_MAX: usize = 8192;
/// States in a batch, at most.
const BATCH_MAX: usize = 1024;
/// Smaller batches are expanded by the caller alone: to start a thread takes longer.
const DEALT_OUT_MIN: usize = 64;
/// All states belong to the one part in which predecessors are calculated first.
const WHOLE: u32 = u32::MAX;
/// A thread looks whether it is to stop once for this many steps.
const STEPS_PER_LOOK: u32 = 16;

/// The threads, apart from the caller's own.
pub(super) struct Others<'m, M: Processes, D> {
    members: Vec<Member<'m, M, D>>,
    cancel: Cancel,
    parts: Parts,
}

/// What a thread has of its own.
struct Member<'m, M: Processes, D> {
    model: &'m mut M,
    lister: MacroStepLister<M::Label>,
    scheduler: D,
}

/// A state that is to be expanded in this round, and how it was met, if its scheduler's state is not known yet.
struct Waiting<Label, Fault> {
    state: u32,
    met: Option<Met<Label, Fault>>,
}

/// A macro step that led to a new state. The scheduler's state is the one before it, until the new state is expanded and it is
/// known who can move there.
struct Met<Label, Fault> {
    macro_steps: Arc<MacroSteps<Label, Fault>>,
    macro_step: usize,
}

/// A state with all that the bound allows.
struct Expanded<Label, Fault, State> {
    state: u32,
    macro_steps: Arc<MacroSteps<Label, Fault>>,
    /// The macro steps that are taken, and how far the state was when each was.
    taken: Vec<(usize, Progress<State>)>,
    /// How far it is afterwards.
    progress: Progress<State>,
}

type WaitingOf<M> = Waiting<<M as Model>::Label, <M as Model>::Fault>;
type ExpandedOf<M, D> =
    Expanded<<M as Model>::Label, <M as Model>::Fault, <D as Scheduler<<M as Model>::Label>>::State>;

impl<'m, M: Processes, D: Clone> Others<'m, M, D> {
    pub fn new(models: &'m mut [M], scheduler: &D, cancel: Cancel) -> Self {
        let member = |model| Member { model, lister: MacroStepLister::new(), scheduler: scheduler.clone() };
        Self { members: models.iter_mut().map(member).collect(), cancel, parts: Parts::default() }
    }
}

impl<M: Processes, D> Others<'_, M, D> {
    fn threads(&self) -> usize {
        self.members.len() + 1
    }
}

/// Calculates and refines what a bound allows; `maps` is what the caller's thread found out as long as it works alone.
pub(super) fn round<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    others: &mut Others<'_, M, D>,
    alone_max: usize,
    maps: &mut Maps,
    round: &mut Round,
) -> Run<Evidence>
where
    M: Processes<Label: Send + Sync, Fault: Send + Sync> + Send,
    D: Scheduler<M::Label, State: Send + Sync> + Send,
    O: DelayObserver<M::Label, M::Fault>,
{
    if graph.nodes.len() < alone_max && map::round_of_at_most(alone_max, graph, maps, round)? {
        return ControlFlow::Continue(());
    }
    let to_do = graph.frontier().into_iter().rev().filter(|&state| graph.is_to_be_expanded(state));
    let mut waiting: Vec<_> = to_do.map(|state| Waiting { state, met: None }).collect();
    let mut checked_at = graph.nodes.len();
    while !waiting.is_empty() {
        // Half of what waits, the youngest first: nearly depth-first, and enough for all.
        let size = waiting.len().div_ceil(2).min(BATCH_MAX);
        let batch: Vec<_> = waiting.drain(waiting.len() - size..).rev().collect();
        let edges_before = graph.edges_there;
        let mut met = Vec::new();
        for Expanded { state, macro_steps, taken, progress } in expand(graph, others, &batch)? {
            let new = graph.take_in(state, progress, &macro_steps, &taken)?;
            met.extend(new.into_iter().map(|(state, place)| {
                let macro_step = taken[place].0;
                Waiting { state, met: Some(Met { macro_steps: Arc::clone(&macro_steps), macro_step }) }
            }));
        }
        round.work.calculated += graph.edges_there - edges_before;
        waiting.extend(met.into_iter().rev());
        if 2 * checked_at <= graph.nodes.len() {
            checked_at = graph.nodes.len();
            calculate(graph, others, round)?;
        }
    }
    calculate(graph, others, round)?;
    let threads = others.threads();
    let mut refining = Refining::new(graph, &mut others.parts, threads, Phase::Refine);
    let refined = refining.refine(round);
    round.work.refined += refining.walked;
    refined
}

/// Calculates maximal accepting predecessors in all that is there.
fn calculate<M, D, O>(graph: &mut Graph<'_, M, D, O>, others: &mut Others<'_, M, D>, round: &mut Round) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    others.parts.start(graph.nodes.iter().map(|_| WHOLE));
    let threads = others.threads();
    let mut refining = Refining::new(graph, &mut others.parts, threads, Phase::Calculate);
    let calculated = refining.trim();
    let calculated = if calculated.is_continue() { refining.pass() } else { calculated };
    round.work.calculated += refining.walked;
    calculated
}

/// Deals a batch out to the threads.
fn expand<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    others: &mut Others<'_, M, D>,
    batch: &[WaitingOf<M>],
) -> Run<Evidence, Vec<ExpandedOf<M, D>>>
where
    M: Processes<Label: Send + Sync, Fault: Send + Sync> + Send,
    D: Scheduler<M::Label, State: Send + Sync> + Send,
    O: DelayObserver<M::Label, M::Fault>,
{
    let threads = if batch.len() < DEALT_OUT_MIN { 1 } else { others.threads() };
    let cancel = &others.cancel;
    let (model, lister, scheduler, known) = graph.apart();
    let known = &known;
    let mut hands = batch.chunks(batch.len().div_ceil(threads).max(1));
    let own = hands.next().unwrap_or_default();
    let dealt_out = others.members.iter_mut().zip(hands);
    let expanded = std::thread::scope(|scope| {
        let running: Vec<_> = dealt_out
            .map(|(Member { model, lister, scheduler }, hand)| {
                let running = threads::begin(scope, move || {
                    let worker =
                        Worker { model: *model, lister, scheduler, known, cancel, steps: 0, words: Vec::new() };
                    worker.expand_all(hand)
                });
                (hand, running)
            })
            .collect();
        let mut own_hand = |hand| {
            let worker = Worker { model, lister: &mut *lister, scheduler, known, cancel, steps: 0, words: Vec::new() };
            worker.expand_all(hand)
        };
        let mut expanded = own_hand(own);
        for (hand, running) in running {
            expanded.extend(match running {
                Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                None => own_hand(hand),
            });
        }
        expanded
    });
    graph.statistics.transient = graph.own_transient() + of_others(others);
    if let Some(reason) = cancel.requested().filter(|_| expanded.len() < batch.len()) {
        return ControlFlow::Break(Halt::Stopped(reason));
    }
    let listed: u64 = expanded.iter().map(|expanded| expanded.macro_steps.len() as u64 + 1).sum();
    graph.ticks(listed, batch.first().map_or(0, |waiting| waiting.state), Phase::Calculate)?;
    ControlFlow::Continue(expanded)
}

/// Transient states that the other threads passed.
fn of_others<M: Processes, D>(others: &Others<'_, M, D>) -> u64 {
    others.members.iter().map(|member| member.lister.transient).sum()
}

/// A thread, while it expands.
struct Worker<'w, M: Processes, D: Scheduler<M::Label>> {
    model: &'w mut M,
    lister: &'w mut MacroStepLister<M::Label>,
    scheduler: &'w D,
    known: &'w Known<'w, D::State>,
    cancel: &'w Cancel,
    /// Until the next look at whether the search is to stop.
    steps: u32,
    words: Vec<u32>,
}

impl<M: Processes, D: Scheduler<M::Label>> Worker<'_, M, D> {
    /// Expands states until the search is to stop.
    fn expand_all(mut self, hand: &[WaitingOf<M>]) -> Vec<ExpandedOf<M, D>> {
        hand.iter().map_while(|waiting| self.expand(waiting)).collect()
    }

    /// Lists the macro steps of a state and takes those that the bound allows; `None` if the search is to stop.
    fn expand(&mut self, waiting: &WaitingOf<M>) -> Option<ExpandedOf<M, D>> {
        let Self { model, lister, scheduler, known, cancel, steps, words } = self;
        let mut macro_steps = MacroSteps::default();
        words.clear();
        known.recall(waiting.state, words);
        let listed = lister.list(*model, words, &mut macro_steps, || {
            *steps = (*steps + 1) % STEPS_PER_LOOK;
            if *steps == 0 && cancel.requested().is_some() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if listed.is_break() {
            return None;
        }
        let mut progress = known.node(waiting.state).progress.clone();
        if let Some(met) = &waiting.met {
            let situation = macro_steps.situation();
            progress.schedule = scheduled(*scheduler, &progress.schedule, &met.macro_steps, met.macro_step, situation);
        }
        let mut taken = Vec::new();
        let _: ControlFlow<()> =
            progress.take_macro_steps(*scheduler, known.bound, &macro_steps, |progress, macro_step| {
                taken.push((macro_step, progress.clone()));
                ControlFlow::Continue(())
            });
        Some(Expanded { state: waiting.state, macro_steps: Arc::new(macro_steps), taken, progress })
    }
}
