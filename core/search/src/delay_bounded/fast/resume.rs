//! Snapshots of the search, and how it is resumed from one.

use super::postponed::Postponed;
use super::state::{Explore, Fast};
use crate::checkpoint::{Relister, Retraced, Unusable, Visit, retrace};
use crate::delay_bounded::DelayObserver;
use crate::delay_bounded::checkpoint::{FastSnapshot, Waiting};
use crate::model::Processes;
use crate::position::Position;
use crate::schedule::Scheduler;
use crate::store::{Class, Store};
use fabius_base::StopReason;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// What a snapshot holds of a call, with the macro step to look at next.
fn waiting<State>(call: &Explore<State>, macro_step: u32) -> Waiting {
    let Explore { number, delays, index, environment, depth, choices, .. } = *call;
    Waiting { number, delays, index, macro_step, environment, depth, choices }
}

impl<M, S, D, O> Fast<'_, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// Where the search is.
    pub(super) fn take_snapshot(&self) -> FastSnapshot {
        let mut counters = self.statistics;
        counters.states = self.origins.len() as u64;
        let on_stack = self.stack.frames().iter().rev().map(|frame| waiting(&frame.data, frame.macro_step));
        let later = |(call, macro_step): &(Explore<D::State>, u32)| waiting(call, *macro_step);
        let now = on_stack.chain(self.present.calls[self.taken_up..].iter().map(later)).collect();
        FastSnapshot {
            bound: self.bound,
            rounds: self.finished.clone(),
            counters,
            cut_off: self.cut_off,
            origins: self.origins.clone(),
            now,
            later: self.frontier.calls.iter().map(later).collect(),
        }
    }

    /// Finds all states of a snapshot again.
    pub(super) fn resume_from(&mut self, snapshot: &FastSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        let waiting = snapshot.now.iter().chain(&snapshot.later).map(|waiting| waiting.number).collect();
        let mut again =
            Again { store: &mut *self.store, position: &mut self.stack.position, waiting, aside: FxHashMap::default() };
        let mut lister = Relister {
            listing: &mut self.listing,
            scheduler: self.scheduler,
            statistics: &mut self.statistics,
            observer: &mut *self.observer,
        };
        let walked = retrace(&mut lister, &snapshot.origins, &mut again)?;
        if walked.is_break() {
            return Ok(walked);
        }
        let aside = again.aside;
        self.present = self.postponed(&snapshot.now, &aside)?;
        self.frontier = self.postponed(&snapshot.later, &aside)?;
        self.origins.clone_from(&snapshot.origins);
        self.finished.clone_from(&snapshot.rounds);
        self.statistics = snapshot.counters;
        self.listing.lister.transient = snapshot.counters.transient;
        self.bound = snapshot.bound;
        self.cut_off = snapshot.cut_off;
        Ok(ControlFlow::Continue(()))
    }

    /// What waits, with the scheduler as it was.
    fn postponed(&mut self, list: &[Waiting], aside: &Aside<D::State>) -> Result<Postponed<D::State>, Unusable> {
        let mut postponed = Postponed::new(self.listing.model.hidden_words());
        for waiting in list {
            let (state, schedule) = aside.get(&waiting.number).ok_or(Unusable)?;
            let mut schedule = schedule.clone();
            if waiting.index < u32::from(u8::MAX) {
                (0..waiting.index).for_each(|_| self.scheduler.delay(&mut schedule));
            }
            let position = &mut self.stack.position;
            position.advance(state);
            self.store.insert(position, Class::Ordinary);
            let Waiting { number, delays, index, macro_step, environment, depth, choices } = *waiting;
            let call = Explore { number, schedule, delays, index, environment, depth, choices };
            postponed.push(self.store, position, call, macro_step);
            position.forget();
        }
        Ok(postponed)
    }
}

/// States by their numbers, with the state of the scheduler in which they were met.
type Aside<State> = FxHashMap<u32, (Vec<u32>, State)>;

/// Puts every state of a snapshot into the store, and those that wait aside.
struct Again<'s, S, State> {
    store: &'s mut S,
    position: &'s mut Position,
    waiting: FxHashSet<u32>,
    aside: Aside<State>,
}

impl<S: Store, State: Clone> Visit<State> for Again<'_, S, State> {
    fn wants(&self, number: u32) -> bool {
        self.waiting.contains(&number)
    }

    fn visit(&mut self, Retraced { number, state, schedule }: Retraced<'_, State>) {
        self.position.advance(state);
        self.store.insert(self.position, Class::Ordinary);
        self.position.forget();
        if let Some(schedule) = schedule.filter(|_| self.waiting.contains(&number)) {
            self.aside.insert(number, (state.to_vec(), schedule.clone()));
        }
    }
}
