//! An ordinary state and the transient ones that follow it: what is atomic stays atomic, and is one step.
//!
//! ```text
//! members := [s]
//! for each m in members, in order: for each t reached from m in one step:
//!   if t is transient: append t to members, unless a member is equal to it
//!   else t is an ordinary successor of s
//! ```
//!
//! To a search for cycles, members are equal only if the same marks were met on the way to them ([`Expansion::pass_marked`]).

use crate::model::{Marks, Model, Next};
use crate::store::hash::hash_words;
use rustc_hash::FxHashMap;

/// An ordinary state and the transient ones that follow it, listed nearest first.
pub(crate) struct Expansion<C, L> {
    hidden: usize,
    /// Words of all members, one after another.
    words: Vec<u32>,
    members: Vec<Member<L>>,
    /// The member whose successors are being listed, and how far they are; `None` at the end.
    current: usize,
    cursor: Option<C>,
    /// The transient member that came last, by the hash of its visible words and the marks met on the way to it.
    seen: FxHashMap<u64, usize>,
    /// Steps to members that were there before.
    rejoining: Vec<TransientStep<L>>,
    /// The successor found last.
    pub(crate) successor: Vec<u32>,
}

struct Member<L> {
    /// Where its words end; they start where those of the member before end.
    end: usize,
    parent: usize,
    label: Option<L>,
    /// Of the step that leads here, …
    step_marks: Marks,
    /// … and of all steps on the way from the ordinary state.
    marks: Marks,
    /// The transient member with the same hash that came before it.
    same_hash: Option<usize>,
}

/// A step from one member to another, which is transient.
#[derive(Clone, Copy)]
pub(crate) struct TransientStep<L> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: Option<L>,
    pub(crate) marks: Marks,
}

impl<C: Copy, L: Copy> Expansion<C, L> {
    pub(crate) fn new(hidden: usize) -> Self {
        Self {
            hidden,
            words: Vec::new(),
            members: Vec::new(),
            current: 0,
            cursor: None,
            seen: FxHashMap::default(),
            rejoining: Vec::new(),
            successor: Vec::new(),
        }
    }

    /// Starts with an ordinary state.
    pub(crate) fn begin<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M, state: &[u32]) {
        self.words.clear();
        self.members.clear();
        self.seen.clear();
        self.rejoining.clear();
        self.words.extend_from_slice(state);
        let (step_marks, marks) = (Marks::NONE, Marks::NONE);
        self.members.push(Member { end: state.len(), parent: 0, label: None, step_marks, marks, same_hash: None });
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
        self.pass_marked(label, Marks::NONE);
    }

    /// Makes the successor, which is transient, a member, unless one with the same marks on its way is equal to it.
    pub(crate) fn pass_marked(&mut self, label: Option<L>, step_marks: Marks) {
        let visible = &self.successor[..self.visible(self.successor.len())];
        let (from, marks) = (self.current, self.marks().with(step_marks));
        let hash = hash_words(visible, u64::from(marks.bits()));
        let same_hash = self.seen.get(&hash).copied();
        let mut known = same_hash;
        while let Some(to) = known {
            let Member { marks: its_marks, same_hash, .. } = self.members[to];
            if its_marks == marks && self.visible_words(to) == visible {
                return self.rejoining.push(TransientStep { from, to, label, marks: step_marks });
            }
            known = same_hash;
        }
        self.seen.insert(hash, self.members.len());
        self.words.extend_from_slice(&self.successor);
        self.members.push(Member { end: self.words.len(), parent: from, label, step_marks, marks, same_hash });
    }

    /// How many of the words of a state are visible.
    fn visible(&self, words: usize) -> usize {
        words.saturating_sub(self.hidden)
    }

    /// The words of a member.
    fn member(&self, member: usize) -> &[u32] {
        let start = member.checked_sub(1).map_or(0, |before| self.members[before].end);
        &self.words[start..self.members[member].end]
    }

    fn visible_words(&self, member: usize) -> &[u32] {
        let words = self.member(member);
        &words[..self.visible(words.len())]
    }

    /// The marks of all steps from the ordinary state to the current member.
    pub(crate) fn marks(&self) -> Marks {
        self.members.get(self.current).map_or(Marks::NONE, |member| member.marks)
    }

    /// Whether some step led to a transient member that was there before.
    pub(crate) fn has_rejoined(&self) -> bool {
        !self.rejoining.is_empty()
    }

    /// All steps that lead to transient members.
    pub(crate) fn transient_steps(&self) -> impl Iterator<Item = TransientStep<L>> + '_ {
        let first = self.members.iter().enumerate().skip(1).map(|(to, member)| {
            let Member { parent, label, step_marks, .. } = *member;
            TransientStep { from: parent, to, label, marks: step_marks }
        });
        first.chain(self.rejoining.iter().copied())
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
        if self.current < self.members.len() { self.member(self.current) } else { &[] }
    }

    /// Appends the labels from the ordinary state to the current member.
    pub(crate) fn path_to_current(&self, path: &mut Vec<L>) {
        self.path_to(self.current, path);
    }

    /// Appends the labels from the ordinary state to a member.
    pub(crate) fn path_to(&self, mut member: usize, path: &mut Vec<L>) {
        let first = path.len();
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
