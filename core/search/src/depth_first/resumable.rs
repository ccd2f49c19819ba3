//! Where a depth-first search stands, and going on from there.
//!
//! ```text
//! snapshot: the visited set as it is in memory; of each state on the stack, from the bottom up, how many of its successors were listed
//! resume:   from the initial state, list as many successors of each state: the last one leads to the state above
//! ```
//!
//! So only what is on the stack is executed again, and the stack is what it was: cursors, labels, and which transient states were looked
//! up. A search that is resumed counts the same states, matched states and depth as one that was not interrupted, and finds the same
//! violation.
//!
//! A search that may store no more states ends on top of a state that is stored and not counted. Whoever goes on counts it first.

use super::{DepthFirst, Extent};
use crate::checkpoint::{CheckpointPolicy, Snapshot, Unusable};
use crate::dfs_stack::class_of;
use crate::model::{Learning, Marks, Next};
use crate::observer::{Observer, Settings};
use crate::outcome::{Halt, Outcome, Statistics};
use crate::store::snapshot::{Unread, append};
use crate::store::{Class, Inserted, Store, TreeStore};
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// About as many bytes of a checkpoint for each state.
const BYTES_PER_STATE: u64 = 7;
/// States are taken for damage that have more words than this, …
const WORDS_MAX: usize = 1 << 24;
/// … and more than this many times the words of the initial state.
const WORDS_FACTOR: usize = 16;
/// No search counts so far; sums of such numbers are numbers.
const COUNT_MAX: u64 = 1 << 60;
/// After this many states of the stack, whoever watches is asked.
const FRAMES_AT_ONCE: usize = 1 << 10;

/// Where a depth-first search stands, as the bytes of a checkpoint.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthFirstSnapshot {
    /// What is on the stack ([`Head`]), then the visited set.
    bytes: Vec<u8>,
}

/// All but the visited set.
#[derive(Serialize, Deserialize)]
struct Head {
    counters: Statistics,
    transient_visits: u32,
    /// What the model has learned.
    learned: Vec<u8>,
    /// Of each state on the stack: twice the number of its successors listed, and one more if it was looked up.
    frames: Vec<u64>,
}

impl DepthFirstSnapshot {
    /// States found so far.
    pub fn states(&self) -> u64 {
        self.head().map_or(0, |(head, _)| head.counters.states)
    }

    fn head(&self) -> Option<(Head, &[u8])> {
        postcard::take_from_bytes(&self.bytes).ok()
    }
}

impl std::fmt::Debug for DepthFirstSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DepthFirstSnapshot").field("states", &self.states()).finish_non_exhaustive()
    }
}

impl Snapshot for DepthFirstSnapshot {
    fn is_consistent(&self) -> bool {
        self.head().is_some_and(|(head, _)| !head.frames.is_empty())
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self { bytes: bytes.to_vec() }).filter(Self::is_consistent)
    }
}

/// Searches all states that `model` can reach, as [`depth_first`](super::depth_first) does, with a visited set that misses nothing. The search
/// goes on from where a snapshot was taken if there is one; snapshots are taken when the observer says so
/// ([`Observer::checkpoint_is_due`]), and where the search is stopped.
///
/// A search of which checkpoints are kept, or that goes on from one, ends at the first violation. Steps that are executed only to get back
/// to where a snapshot was taken are not counted.
///
/// # Errors
/// If it is to go on from a snapshot that cannot be one of this search; the store is not to be used then.
pub fn resumable_depth_first<M: Learning, O: Observer<M::Label, M::Fault>>(
    model: &mut M,
    store: &mut TreeStore,
    observer: &mut O,
    settings: &Settings,
    checkpoint: CheckpointPolicy<'_, DepthFirstSnapshot>,
) -> Result<Outcome<M::Label, M::Fault>, Unusable> {
    let settings = checkpoint.settings(settings);
    let CheckpointPolicy { from, mut keep } = checkpoint;
    let mut search = DepthFirst::new(model, store, observer, &settings, u64::MAX);
    // The file that the search goes on from stays in memory, and what is written is there as a whole.
    let copies = u64::from(from.is_some()) + u64::from(keep.is_some());
    search.checkpoint_bytes_per_state = copies * BYTES_PER_STATE;
    let mut ended = match from {
        None => search.begin(),
        Some(snapshot) => match search.restore(snapshot)? {
            ControlFlow::Continue(is_counted) => search.go_on(is_counted),
            // What is not whole again is not kept in place of what was.
            ControlFlow::Break(reason) => return Ok(search.conclude(ControlFlow::Break(Halt::Stopped(reason)))),
        },
    };
    while ended.is_continue() {
        match search.visit() {
            ControlFlow::Continue(Extent::Whole) => break,
            ControlFlow::Continue(Extent::Part) => keep.iter_mut().for_each(|keep| keep(search.snapshot())),
            ControlFlow::Break(halt) => ended = ControlFlow::Break(halt),
        }
    }
    if let ControlFlow::Break(Halt::Stopped(_)) = ended {
        keep.iter_mut().for_each(|keep| keep(search.snapshot()));
    }
    Ok(search.conclude(ended))
}

impl<M: Learning, O: Observer<M::Label, M::Fault>> DepthFirst<'_, M, TreeStore, O> {
    /// Where the search is.
    fn snapshot(&self) -> DepthFirstSnapshot {
        let frame = |listed: u32, is_stored: bool| u64::from(listed) << 1 | u64::from(is_stored);
        let head = Head {
            counters: self.statistics,
            transient_visits: self.stack.transient_visits,
            learned: self.model.learned(),
            frames: self.stack.frames().iter().map(|each| frame(each.listed, each.is_stored())).collect(),
        };
        let mut bytes = Vec::new();
        append(&mut bytes, &head);
        self.store.write_snapshot(&mut bytes);
        DepthFirstSnapshot { bytes }
    }

    /// Fills the visited set of a snapshot and its stack; whether the state on top was counted, or why that was not done to its end.
    fn restore(&mut self, snapshot: DepthFirstSnapshot) -> Result<ControlFlow<StopReason, bool>, Unusable> {
        let (head, visited) = snapshot.head().ok_or(Unusable)?;
        let Statistics { states, matched, transient, cut, depth, .. } = head.counters;
        if visited.len() as u64 <= states || [matched, transient, cut, depth].into_iter().any(|count| COUNT_MAX < count)
        {
            return Err(Unusable);
        }
        self.statistics = head.counters;
        let mut initial = Vec::new();
        if !self.model.learn_again(&head.learned) || self.model.initial(&mut initial).is_err() {
            return Err(Unusable);
        }
        let words_max = WORDS_MAX.max(WORDS_FACTOR.saturating_mul(initial.len()));
        let Self { budget, statistics, observer, .. } = self;
        let store = TreeStore::read_snapshot(visited, words_max, || budget.look(statistics, false, &mut **observer));
        *self.store = match store {
            Ok(store) => store,
            Err(Unread::Malformed) => return Err(Unusable),
            Err(Unread::Halted(why)) => return Ok(ControlFlow::Break(why)),
        };
        self.stack.reset(&initial);
        if self.store.insert(&mut self.stack.position, Class::Ordinary) == Inserted::New {
            return Err(Unusable);
        }
        self.stack.start(self.model, false, ());
        if let ControlFlow::Break(why) = self.walk(&head.frames)? {
            return Ok(ControlFlow::Break(why));
        }
        self.stack.transient_visits = head.transient_visits;
        let is_counted = match self.store.len(Class::Ordinary).checked_sub(head.counters.states) {
            Some(0) => true,
            Some(1) if self.stack.top().is_some_and(|top| !top.transient && top.listed == 0) => false,
            _ => return Err(Unusable),
        };
        if head.counters.depth + u64::from(!is_counted) < self.stack.depth() {
            return Err(Unusable);
        }
        Ok(ControlFlow::Continue(is_counted))
    }

    /// Walks from the initial state, which is on the stack, to the state on top of the stack of a snapshot.
    fn walk(&mut self, frames: &[u64]) -> Result<ControlFlow<StopReason>, Unusable> {
        for (number, &frame) in frames.iter().enumerate() {
            if number % FRAMES_AT_ONCE == 0
                && let ControlFlow::Break(why) = self.budget.look(&self.statistics, false, self.observer)
            {
                return Ok(ControlFlow::Break(why));
            }
            let above = frames.get(number + 1).map(|above| above & 1 == 1);
            let listed = u32::try_from(frame >> 1).map_err(|_| Unusable)?;
            for left in (0..listed).rev() {
                match (self.stack.next(self.model).ok_or(Unusable)?, above) {
                    (Next::Done(_), _) => return Err(Unusable),
                    (Next::Successor { label, transient, .. }, Some(is_stored)) if left == 0 => {
                        self.follow(label, transient, is_stored)?;
                    }
                    _ => {}
                }
            }
            if self.stack.len() != number + 1 + usize::from(above.is_some()) {
                return Err(Unusable);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes to the successor, which the search of a snapshot had gone to.
    fn follow(&mut self, label: Option<M::Label>, transient: bool, is_stored: bool) -> Result<(), Unusable> {
        self.stack.propose();
        if is_stored {
            let probe = self.stack.probe(self.store, class_of(transient), Marks::NONE);
            if self.store.commit(probe) == Inserted::New {
                return Err(Unusable);
            }
            self.stack.enter(self.model, self.store, label, transient, ());
        } else if transient {
            self.stack.descend(self.model, label, Marks::NONE, ());
        } else {
            return Err(Unusable);
        }
        Ok(())
    }

    /// Counts the state on top, if it was not.
    fn go_on(&mut self, is_counted: bool) -> ControlFlow<Halt> {
        if !is_counted {
            self.count_state()?;
            self.statistics.depth = self.statistics.depth.max(self.stack.depth());
        }
        ControlFlow::Continue(())
    }
}
