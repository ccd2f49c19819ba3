//! How states were reached: traces, and the labels of paths and lassos.

use super::{Explorer, FrameData, Lasso, SharedSet, Start};
use crate::cycle::outcome::Found;
use crate::dfs_stack::Frame;
use crate::model::Model;
use crate::parallel::store::{Key, SharedKeys};
use crate::parallel::trace::Trace;
use crate::sleep::Asleep;
use fabius_base::StopReason;

impl<M: Model, T, E: From<StopReason>, K: SharedKeys> Explorer<'_, M, T, E, K> {
    /// How the state on top of the stack was reached.
    fn trace(&mut self) -> Trace {
        self.workers.traces.of_top(self.stack.frames_mut(), &mut self.portion)
    }

    /// The state arrived at, to be gone on from later or by another thread.
    pub(in super::super) fn start(&mut self, key: Key) -> Start {
        self.stack.recover(&mut SharedSet(&mut self.access, self.how.apart));
        let trace = self.trace();
        let listed = self.stack.frames().last().map_or(0, |frame| frame.listed);
        let trace = self.workers.traces.extend(trace, (listed, Asleep::NOBODY), &mut self.portion);
        let label = self.current.as_ref().is_some_and(|listed| listed.label.is_some());
        let depth = self.depth() + u64::from(label);
        Start { key, hidden: self.stack.position.hidden().to_vec(), trace, depth }
    }

    /// The label of the successor told of last.
    pub(in super::super) fn label(&self) -> Option<M::Label> {
        self.current.as_ref().and_then(|listed| listed.label)
    }

    /// The lasso that the successor `key`, which is on the stack, closes; see [`Self::labels_around`].
    pub(in super::super) fn lasso_closed_by(&mut self, key: Key) -> Found<M::Label, M::Fault> {
        let closing = self.label();
        let (stem, mut cycle) = self.labels_around(key);
        cycle.extend(closing);
        Found::Lasso { stem, cycle }
    }

    /// The labels from the initial state to the stored state `key` on the stack, the lowest such, and on to the top.
    /// If it is not there, which cannot be, all of them come before: what was found is not lost, and whoever confirms it
    /// sees that it is no cycle.
    fn labels_around(&mut self, key: Key) -> Lasso<M> {
        let key = self.access.renewed(key);
        let is_key = |frame: &Frame<_, _, FrameData>| frame.data.stored && self.access.renewed(frame.data.key) == key;
        let place = self.stack.frames().iter().position(is_key);
        let frames = self.stack.frames();
        debug_assert!(place.is_some(), "a cycle is closed by a state that is not on the stack");
        let place = place.unwrap_or(frames.len() - 1);
        let labels =
            |frames: &[Frame<_, M::Label, _>]| frames.iter().filter_map(|frame| frame.label).collect::<Vec<_>>();
        let (below, above) = (labels(&frames[1..=place]), labels(&frames[place + 1..]));
        let start = self.bottom;
        let mut stem = self.workers.traces.execute(start, self.model);
        stem.extend(below);
        (stem, above)
    }

    /// The labels from the initial state to the top of the stack.
    pub(in super::super) fn path(&mut self) -> Vec<M::Label> {
        let start = self.bottom;
        let mut path = self.workers.traces.execute(start, self.model);
        path.extend(self.stack.labels());
        path
    }
}
