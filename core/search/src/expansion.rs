//! An ordinary state and the transient ones that follow it: what is atomic stays atomic, and is one step.
//!
//! ```text
//! members := [s]
//! for each m in members, in order: for each t reached from m in one step:
//!   if t is transient: append t to members, unless a member is equal to it
//!   else t is an ordinary successor of s
//! ```

use crate::model::{Model, Next};
use std::collections::HashSet;

/// An ordinary state and the transient ones that follow it, listed nearest first.
pub(crate) struct Expansion<C, L> {
    hidden: usize,
    /// Words of all members, one after another.
    words: Vec<u32>,
    members: Vec<Member<L>>,
    /// The member whose successors are being listed, and how far they are; `None` at the end.
    current: usize,
    cursor: Option<C>,
    /// Visible words of the transient members.
    seen: HashSet<Box<[u32]>>,
    /// The successor found last.
    pub(crate) successor: Vec<u32>,
}

struct Member<L> {
    /// Where its words end; they start where those of the member before end.
    end: usize,
    parent: usize,
    label: Option<L>,
}

impl<C: Copy, L: Copy> Expansion<C, L> {
    pub(crate) fn new(hidden: usize) -> Self {
        Self {
            hidden,
            words: Vec::new(),
            members: Vec::new(),
            current: 0,
            cursor: None,
            seen: HashSet::new(),
            successor: Vec::new(),
        }
    }

    /// Starts with an ordinary state.
    pub(crate) fn begin<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M, state: &[u32]) {
        self.words.clear();
        self.members.clear();
        self.seen.clear();
        self.words.extend_from_slice(state);
        self.members.push(Member { end: state.len(), parent: 0, label: None });
        self.current = 0;
        self.cursor = Some(model.begin(state));
    }

    /// What the model finds next, in the current member; `None` once all members are done.
    pub(crate) fn next<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M) -> Option<Next<L, M::Fault>> {
        let mut cursor = self.cursor?;
        let start = self.current.checked_sub(1).map_or(0, |before| self.members[before].end);
        let state = &self.words[start..self.members[self.current].end];
        let found = model.next(state, &mut cursor, &mut self.successor);
        self.cursor = Some(cursor);
        Some(found)
    }

    /// Makes the successor, which is transient, a member.
    pub(crate) fn pass(&mut self, label: Option<L>) {
        let visible = self.successor.len().saturating_sub(self.hidden);
        if self.seen.insert(self.successor[..visible].into()) {
            self.words.extend_from_slice(&self.successor);
            self.members.push(Member { end: self.words.len(), parent: self.current, label });
        }
    }

    /// Turns to the next member.
    pub(crate) fn turn<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M) {
        self.cursor = None;
        if self.current + 1 < self.members.len() {
            self.current += 1;
            self.cursor = Some(model.begin(self.state()));
        }
    }

    /// The current member.
    pub(crate) fn state(&self) -> &[u32] {
        let start = self.current.checked_sub(1).map_or(0, |before| self.members[before].end);
        self.members.get(self.current).map_or(&[], |member| &self.words[start..member.end])
    }

    /// Appends the labels from the ordinary state to the current member.
    pub(crate) fn path_to_current(&self, path: &mut Vec<L>) {
        let first = path.len();
        let mut member = self.current;
        while member != 0 {
            path.extend(self.members[member].label);
            member = self.members[member].parent;
        }
        path[first..].reverse();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val::<[u32]>(&self.words) * 2 + size_of_val::<[Member<L>]>(&self.members)
    }
}
