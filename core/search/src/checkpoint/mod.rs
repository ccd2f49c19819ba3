//! Snapshots of searches that proceed in rounds, from which they can be resumed.
//!
//! A snapshot holds no states. It holds the path to each: the state (or pair of states) it was first met from, and by which macro step.
//! A search that is resumed executes these paths once, and has every state and every state of the scheduler again, whatever store keeps
//! them. Beside them it holds what waits, in order. So a search that is resumed does exactly what it would have done.
//!
//! Each search has a snapshot of its own; what they have in common is here. The strict depth-first search, which goes by no rounds, keeps its
//! visited set and its stack instead ([`DepthFirstSnapshot`](crate::DepthFirstSnapshot)).

pub(crate) mod origins;
mod retrace;

pub(crate) use retrace::{Relister, Retraced, Visit, retrace};

use crate::observer::Settings;
use crate::outcome::{Halt, StopAt};
use fabius_base::StopReason;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow;

/// Where a search stands.
pub trait Snapshot: Serialize + DeserializeOwned {
    /// Whether its numbers name what it holds: what was read may be anything.
    fn is_consistent(&self) -> bool;

    /// The snapshot as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a snapshot is plain data, and its lists know their lengths")
    }

    /// The snapshot as bytes, without two of it in memory if that can be.
    fn into_bytes(self) -> Vec<u8> {
        self.to_bytes()
    }

    /// The snapshot that these bytes are; `None` if they are none.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (snapshot, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        (rest.is_empty() && snapshot.is_consistent()).then_some(snapshot)
    }
}

/// Where a search starts, and whether checkpoints of it are kept.
pub struct CheckpointPolicy<'a, S> {
    /// Where it stood; without it, it starts at the beginning.
    pub from: Option<S>,
    /// Is given a snapshot after each round that leaves something to do, and where the search ends before that. Without it,
    /// none is taken.
    pub keep: Option<&'a mut dyn FnMut(S)>,
}

impl<S> CheckpointPolicy<'_, S> {
    /// It starts at the beginning, and none is kept. Such a search is never [`Unusable`].
    pub fn none() -> Self {
        Self { from: None, keep: None }
    }

    /// Whether the search is one of several parts.
    pub(crate) fn is_wanted(&self) -> bool {
        self.from.is_some() || self.keep.is_some()
    }

    /// The settings of such a search: a violation ends it if it is one of several parts, since none is kept in a snapshot.
    pub(crate) fn settings(&self, settings: &Settings) -> Settings {
        let stop_at = if self.is_wanted() { StopAt::First } else { settings.stop_at };
        Settings { stop_at, ..settings.clone() }
    }
}

/// A snapshot does not belong to this model and scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unusable;

/// A search for violations that goes by rounds.
pub(crate) trait ByRounds {
    type Snapshot;

    /// Arrives at the initial state.
    fn begin(&mut self) -> ControlFlow<Halt>;

    /// Arrives where a snapshot was taken.
    fn restore(&mut self, snapshot: &Self::Snapshot) -> Result<ControlFlow<StopReason>, Unusable>;

    /// Goes on round by round. `keep` is given a snapshot after each that leaves something to do.
    fn rounds(&mut self, keep: Option<&mut dyn FnMut(Self::Snapshot)>) -> ControlFlow<Halt>;

    /// Where the search stands.
    fn snapshot(&self) -> Self::Snapshot;

    /// Whether the last round that came to its end left something to do, of which no snapshot was taken yet.
    fn has_unkept_frontier(&self) -> bool;

    /// Searches from where it starts, and keeps where it stands if that is asked for.
    fn run(&mut self, checkpoint: CheckpointPolicy<'_, Self::Snapshot>) -> Result<ControlFlow<Halt>, Unusable> {
        let CheckpointPolicy { from, mut keep } = checkpoint;
        let begun = match from {
            None => self.begin(),
            Some(snapshot) => self.restore(&snapshot)?.map_break(Halt::Stopped),
        };
        if begun.is_break() {
            return Ok(begun);
        }
        let ended = match &mut keep {
            Some(keep) => self.rounds(Some(&mut **keep)),
            None => self.rounds(None),
        };
        let is_worth_keeping = match ended {
            ControlFlow::Break(Halt::Found(())) => false,
            ControlFlow::Break(Halt::Stopped(_)) => true,
            ControlFlow::Continue(()) => self.has_unkept_frontier(),
        };
        if let Some(keep) = keep.filter(|_| is_worth_keeping) {
            keep(self.snapshot());
        }
        Ok(ended)
    }
}
