//! Sealing: stretches in which nobody is held back.
//!
//! While some process stands *inside* a sealed stretch, all processes are scheduled in one fixed way, round-robin or
//! run-to-completion, and delays are forbidden. So a send and what it causes become one, or a handler, or a
//! group of sends. Outside, the scheduler that is sealed goes on as it is; it is told of all macro steps, so that
//! it knows who can move.
//!
//! A stretch starts with the first macro step that leads into it: the process that takes it gets control next (if it can move).
//! It ends as soon as no process stands inside one.
//!
//! Where stretches of different kinds overlap, because another process enters one, the kind that was first stays; that is
//! most likely a mistake, and told ([`Seals::meet`]).

use super::{Alike, Order, Portable, RoundRobin, RunToCompletion, Scheduler, Situation, Step};
use std::fmt::Debug;

/// How processes are scheduled in a sealed stretch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SealKind {
    /// In the order of creation.
    RoundRobin,
    /// What a step causes happens next.
    RunToCompletion,
}

/// Where the sealed stretches are.
pub trait Seals: Debug {
    /// Whether a process stands inside a stretch, and of which kind.
    fn inside(&self, state: &[u32], process: u8) -> Option<SealKind>;

    /// Number of processes of a state.
    fn process_count(&self, state: &[u32]) -> usize;

    /// Is told of a state in which two processes stand inside stretches of different kinds; that of the first one counts.
    fn meet(&self, state: &[u32], first: u8, other: u8) {
        let _ = (state, first, other);
    }
}

/// No stretch, perhaps.
impl<S: Seals> Seals for Option<S> {
    fn inside(&self, state: &[u32], process: u8) -> Option<SealKind> {
        self.as_ref()?.inside(state, process)
    }

    fn process_count(&self, state: &[u32]) -> usize {
        self.as_ref().map_or(0, |seals| seals.process_count(state))
    }

    fn meet(&self, state: &[u32], first: u8, other: u8) {
        if let Some(seals) = self {
            seals.meet(state, first, other);
        }
    }
}

/// A scheduler with sealed stretches.
#[derive(Clone, Debug)]
pub struct Sealed<D, S> {
    scheduler: D,
    seals: S,
}

/// The state of a [`Sealed`] scheduler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SealedState<State> {
    own: State,
    /// Most states lie outside: these take one word.
    sealed: Option<Box<Fixed>>,
}

/// The fixed order inside a stretch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fixed {
    kind: SealKind,
    order: Order,
}

impl<State: Portable> Portable for SealedState<State> {
    fn write(&self, words: &mut Vec<u32>) {
        self.own.write(words);
        words.push(match self.sealed.as_ref().map(|fixed| fixed.kind) {
            None => 0,
            Some(SealKind::RoundRobin) => 1,
            Some(SealKind::RunToCompletion) => 2,
        });
        if let Some(fixed) = &self.sealed {
            fixed.order.write(words);
        }
    }

    fn read(words: &mut &[u32]) -> Option<Self> {
        let own = State::read(words)?;
        let (kind, rest) = words.split_first()?;
        *words = rest;
        let kind = match kind {
            0 => return Some(Self { own, sealed: None }),
            1 => SealKind::RoundRobin,
            2 => SealKind::RunToCompletion,
            _ => return None,
        };
        Some(Self { own, sealed: Some(Box::new(Fixed { kind, order: Order::read(words)? })) })
    }
}

impl<D, S> Sealed<D, S> {
    /// Seals stretches of a scheduler.
    pub fn new(scheduler: D, seals: S) -> Self {
        Self { scheduler, seals }
    }

    /// Where the stretches are.
    pub fn seals(&self) -> &S {
        &self.seals
    }
}

impl Fixed {
    /// The order at the start of a stretch that a process has entered.
    fn start(kind: SealKind, process: Option<u8>, situation: Situation<'_>) -> Box<Self> {
        let mut order = Order::new(situation.enabled.iter());
        match (kind, process) {
            (SealKind::RoundRobin, _) => order.settle(|other| process.unwrap_or(0) <= other),
            (SealKind::RunToCompletion, Some(process)) if situation.enabled.contains(process) => {
                order.put_first(process);
            }
            (SealKind::RunToCompletion, _) => {}
        }
        Box::new(Self { kind, order })
    }

    fn step<Label>(&mut self, step: &Step<'_, Label>) {
        match self.kind {
            SealKind::RoundRobin => RoundRobin(Alike).step(&mut self.order, step),
            SealKind::RunToCompletion => RunToCompletion(Alike).step(&mut self.order, step),
        }
    }
}

impl<D, S: Seals> Sealed<D, S> {
    /// The kind of the stretch that somebody stands inside of: `first`, if it is one of several.
    fn kind(&self, state: &[u32], first: Option<SealKind>) -> Option<SealKind> {
        let count = self.seals.process_count(state).min(255) as u8;
        let inside = || (0..count).filter_map(|process| Some((process, self.seals.inside(state, process)?)));
        let (mut kind, mut several) = (None, false);
        for (_, here) in inside() {
            several |= kind.is_some_and(|kind| kind != here);
            if kind.is_none() || first == Some(here) {
                kind = Some(here);
            }
        }
        if several {
            let counts = inside().find(|(_, here)| Some(*here) == kind);
            let other = inside().find(|(_, here)| Some(*here) != kind);
            if let (Some((first, _)), Some((other, _))) = (counts, other) {
                self.seals.meet(state, first, other);
            }
        }
        kind
    }
}

impl<Label, D: Scheduler<Label>, S: Seals> Scheduler<Label> for Sealed<D, S> {
    type State = SealedState<D::State>;

    fn start(&self, situation: Situation<'_>) -> Self::State {
        let kind = self.kind(situation.state, None);
        let sealed = kind.map(|kind| Fixed::start(kind, None, situation));
        SealedState { own: self.scheduler.start(situation), sealed }
    }

    fn next(&self, state: &Self::State) -> Option<u8> {
        match &state.sealed {
            Some(fixed) => fixed.order.first(),
            None => self.scheduler.next(&state.own),
        }
    }

    fn delay(&self, state: &mut Self::State) {
        if state.sealed.is_none() {
            self.scheduler.delay(&mut state.own);
        }
    }

    fn step(&self, state: &mut Self::State, step: &Step<'_, Label>) {
        self.scheduler.step(&mut state.own, step);
        let kind = self.kind(step.after.state, state.sealed.as_ref().map(|fixed| fixed.kind));
        match (kind, &mut state.sealed) {
            (None, sealed) => *sealed = None,
            (Some(kind), Some(fixed)) if fixed.kind == kind => fixed.step(step),
            (Some(kind), sealed) => *sealed = Some(Fixed::start(kind, step.process, step.after)),
        }
    }

    fn is_sealed(&self, state: &Self::State) -> bool {
        state.sealed.is_some() || self.scheduler.is_sealed(&state.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let own = Order::new([2, 0, 1]);
        let fixed = |kind| Some(Box::new(Fixed { kind, order: Order::new([1, 2]) }));
        for sealed in [None, fixed(SealKind::RoundRobin), fixed(SealKind::RunToCompletion)] {
            let state = SealedState { own: own.clone(), sealed };
            let mut words = Vec::new();
            state.write(&mut words);
            assert_eq!(SealedState::read(&mut &words[..]), Some(state));
            for end in 0..words.len() {
                assert_eq!(SealedState::<Order>::read(&mut &words[..end]), None);
            }
        }
    }
}
