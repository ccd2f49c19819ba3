//! The macro steps of a state: what each process may do when it is given control.
//!
//! ```text
//! macro_steps(s):  for each way s → t₁ → … → t through transient states tᵢ to an ordinary state t:
//!              a macro step of the process that moves first on it
//! ```
//!
//! A transition that is faulty makes a macro step that leads nowhere, and, if the search may go on after it, an ordinary one.

use super::Situation;
use crate::model::{Ending, Marks, Next, ProcessSet, Processes};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::{ControlFlow, Range};

/// What a process may do.
#[derive(Clone, Debug)]
pub struct MacroStep<Fault> {
    /// Whose turn it is; `None` if nobody's.
    pub process: Option<u8>,
    /// What comes of it.
    pub end: MacroStepEnd<Fault>,
    /// What its transitions mean to a search for cycles.
    pub marks: Marks,
    labels: Range<usize>,
    partners: ProcessSet,
}

/// What comes of a macro step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MacroStepEnd<Fault> {
    /// An ordinary state; see [`MacroSteps::target`].
    State(Range<usize>),
    /// Its last transition is faulty.
    Fault(Fault),
    /// It gets stuck on its way where it may not stop; see [`MacroSteps::place`].
    Stuck(Range<usize>),
}

/// All macro steps of an ordinary state.
#[derive(Clone, Debug)]
pub struct MacroSteps<Label, Fault> {
    list: Vec<MacroStep<Fault>>,
    /// Words of the state, then of the states the macro steps lead to.
    words: Vec<u32>,
    state_words: usize,
    labels: Vec<Label>,
    enabled: ProcessSet,
    has_environment_moves: bool,
    is_infinite: bool,
    ending: Ending,
}

impl<Label, Fault> Default for MacroSteps<Label, Fault> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            words: Vec::new(),
            state_words: 0,
            labels: Vec::new(),
            enabled: ProcessSet::EMPTY,
            has_environment_moves: false,
            is_infinite: false,
            ending: Ending::Moves,
        }
    }
}

impl<Label: Copy, Fault: Copy> MacroSteps<Label, Fault> {
    /// The state.
    pub fn state(&self) -> &[u32] {
        &self.words[..self.state_words]
    }

    /// The state, for a scheduler.
    pub fn situation(&self) -> Situation<'_> {
        Situation { state: self.state(), enabled: &self.enabled }
    }

    /// The processes that can move.
    pub fn enabled(&self) -> &ProcessSet {
        &self.enabled
    }

    /// Whether there are environment moves: those that belong to no process.
    pub fn has_environment_moves(&self) -> bool {
        self.has_environment_moves
    }

    /// Whether some macro step can go on for ever, from one transient state to the next.
    pub fn is_infinite(&self) -> bool {
        self.is_infinite
    }

    /// What is known of the state.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Number of macro steps.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A macro step.
    pub fn get(&self, index: usize) -> &MacroStep<Fault> {
        &self.list[index]
    }

    /// The first macro step of a process (or the first environment move), from `from` on.
    pub fn next_of(&self, process: Option<u8>, from: usize) -> Option<usize> {
        (from..self.list.len()).find(|&index| self.list[index].process == process)
    }

    /// The transitions of a macro step.
    pub fn labels(&self, index: usize) -> &[Label] {
        &self.labels[self.list[index].labels.clone()]
    }

    /// The partners of a macro step.
    pub fn partners(&self, index: usize) -> &ProcessSet {
        &self.list[index].partners
    }

    /// The state that a macro step leads to, if it leads to one.
    pub fn target(&self, index: usize) -> Option<&[u32]> {
        match &self.list[index].end {
            MacroStepEnd::State(words) => Some(&self.words[words.clone()]),
            _ => None,
        }
    }

    /// What names a violation: the transition that is faulty, or the state that is stuck; `None` means the state that
    /// the macro steps start in.
    pub fn place(&self, index: Option<usize>) -> (Option<Label>, &[u32]) {
        let Some(index) = index else { return (None, self.state()) };
        match &self.list[index].end {
            MacroStepEnd::Stuck(words) => (None, &self.words[words.clone()]),
            _ => (self.labels(index).last().copied(), self.state()),
        }
    }

    /// Bytes in use.
    pub fn memory_bytes(&self) -> usize {
        self.words.capacity() * 4
            + self.labels.capacity() * size_of::<Label>()
            + self.list.capacity() * size_of::<MacroStep<Fault>>()
    }

    fn clear(&mut self) {
        self.list.clear();
        self.words.clear();
        self.labels.clear();
        self.enabled = ProcessSet::EMPTY;
        self.has_environment_moves = false;
        self.is_infinite = false;
        self.ending = Ending::Moves;
    }
}

/// Lists macro steps; keeps its memory from one state to the next.
#[derive(Debug, Default)]
pub struct MacroStepLister<Label> {
    members: Vec<Member<Label>>,
    /// Words of the transient members.
    words: Vec<u32>,
    /// The transient members, by process, marks and visible words.
    seen: FxHashMap<Passed, usize>,
    /// From which member to which that was there already.
    rejoining: Vec<(usize, usize)>,
    successor: Vec<u32>,
    /// Arrivals at transient states.
    pub transient: u64,
}

/// What tells a transient member from others.
type Passed = (Option<u8>, Marks, Box<[u32]>);

/// The state itself (the first member), or a transient state on the way of a macro step.
#[derive(Clone, Debug)]
struct Member<Label> {
    words: Range<usize>,
    parent: usize,
    label: Option<Label>,
    process: Option<u8>,
    partners: ProcessSet,
    marks: Marks,
}

impl<Label: Copy> MacroStepLister<Label> {
    /// A lister without memory of anything.
    pub fn new() -> Self {
        Self {
            members: Vec::new(),
            words: Vec::new(),
            seen: FxHashMap::default(),
            rejoining: Vec::new(),
            successor: Vec::new(),
            transient: 0,
        }
    }

    /// Bytes in use.
    pub fn memory_bytes(&self) -> usize {
        self.words.capacity() * 8 + self.members.capacity() * size_of::<Member<Label>>()
    }

    /// Lists the macro steps of `state`, dropping what `macro_steps` held. `tick` is called for each transition; what it
    /// breaks with ends the listing.
    ///
    /// # Errors
    /// Breaks if `tick` does.
    pub fn list<M: Processes<Label = Label>, B>(
        &mut self,
        model: &mut M,
        state: &[u32],
        macro_steps: &mut MacroSteps<Label, M::Fault>,
        mut tick: impl FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        macro_steps.clear();
        macro_steps.words.extend_from_slice(state);
        macro_steps.state_words = state.len();
        self.members.clear();
        self.words.clear();
        self.seen.clear();
        self.rejoining.clear();
        let (process, partners, marks) = (None, ProcessSet::EMPTY, Marks::NONE);
        self.members.push(Member { words: 0..state.len(), parent: 0, label: None, process, partners, marks });
        self.words.extend_from_slice(state);
        let mut current = 0;
        while current < self.members.len() {
            let words = self.members[current].words.clone();
            let mut cursor = model.begin(&self.words[words.clone()]);
            loop {
                tick()?;
                match model.next(&self.words[words.clone()], &mut cursor, &mut self.successor) {
                    Next::Successor { label, transient, fault, marks } => {
                        let next = self.follow(model, current, label, marks);
                        if let Some(fault) = fault {
                            self.add(macro_steps, &next, MacroStepEnd::Fault(fault));
                        }
                        if transient {
                            // It can move, even if its macro step never ends.
                            next.process.into_iter().for_each(|process| macro_steps.enabled.insert(process));
                            self.pass(model.hidden_words(), next);
                        } else {
                            let start = macro_steps.words.len();
                            macro_steps.words.extend_from_slice(&self.successor);
                            self.add(macro_steps, &next, MacroStepEnd::State(start..macro_steps.words.len()));
                        }
                    }
                    Next::Broken { label, fault } => {
                        let next = self.follow(model, current, Some(label), Marks::NONE);
                        self.add(macro_steps, &next, MacroStepEnd::Fault(fault));
                    }
                    Next::Done(ending) => {
                        if current == 0 {
                            macro_steps.ending = ending;
                        } else if ending == Ending::InvalidEnd {
                            let here = self.follow(model, current, None, Marks::NONE);
                            let start = macro_steps.words.len();
                            macro_steps.words.extend_from_slice(&self.words[words.clone()]);
                            self.add(macro_steps, &here, MacroStepEnd::Stuck(start..macro_steps.words.len()));
                        }
                        break;
                    }
                }
            }
            current += 1;
        }
        macro_steps.is_infinite = !self.rejoining.is_empty() && self.has_cycle();
        ControlFlow::Continue(())
    }

    /// What a transition from a member leads to; its words are not set.
    fn follow<M: Processes<Label = Label>>(
        &self,
        model: &M,
        parent: usize,
        label: Option<Label>,
        marks: Marks,
    ) -> Member<Label> {
        let from = &self.members[parent];
        let movers = label.as_ref().map_or([None; 2], |label| model.movers(label));
        let mut partners = from.partners;
        movers[1].into_iter().for_each(|partner| partners.insert(partner));
        let process = from.process.or(movers[0]);
        Member { words: 0..0, parent, label, process, partners, marks: from.marks.with(marks) }
    }

    /// Makes the successor, which is transient, a member, unless the same process was there before with the same marks.
    fn pass(&mut self, hidden: usize, next: Member<Label>) {
        self.transient += 1;
        let visible = self.successor.len().saturating_sub(hidden);
        match self.seen.entry((next.process, next.marks, self.successor[..visible].into())) {
            Entry::Occupied(known) => self.rejoining.push((next.parent, *known.get())),
            Entry::Vacant(place) => {
                place.insert(self.members.len());
                let start = self.words.len();
                self.words.extend_from_slice(&self.successor);
                self.members.push(Member { words: start..self.words.len(), ..next });
            }
        }
    }

    /// Whether the transient members have a cycle: whether some are left after those that nothing leads to, again and
    /// again, are taken away.
    fn has_cycle(&self) -> bool {
        let mut leading_here = vec![1_u32; self.members.len()];
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.members.len()];
        let children = self.members.iter().enumerate().skip(1).map(|(child, member)| (member.parent, child));
        for (from, to) in children.chain(self.rejoining.iter().copied()) {
            next[from].push(to);
        }
        self.rejoining.iter().for_each(|&(_, to)| leading_here[to] += 1);
        let (mut free, mut taken) = (vec![0], 0);
        while let Some(member) = free.pop() {
            taken += 1;
            for &to in &next[member] {
                leading_here[to] -= 1;
                if leading_here[to] == 0 {
                    free.push(to);
                }
            }
        }
        taken < self.members.len()
    }

    fn add<F>(&self, macro_steps: &mut MacroSteps<Label, F>, last: &Member<Label>, end: MacroStepEnd<F>) {
        let start = macro_steps.labels.len();
        macro_steps.labels.extend(last.label);
        let mut member = last.parent;
        while member != 0 {
            macro_steps.labels.extend(self.members[member].label);
            member = self.members[member].parent;
        }
        macro_steps.labels[start..].reverse();
        match last.process {
            Some(process) => macro_steps.enabled.insert(process),
            None => macro_steps.has_environment_moves = true,
        }
        let labels = start..macro_steps.labels.len();
        macro_steps.list.push(MacroStep {
            process: last.process,
            end,
            marks: last.marks,
            labels,
            partners: last.partners,
        });
    }
}
