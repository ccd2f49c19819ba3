//! The tree of choices: at each state in which executions part, how many of each kind lie behind each way.
//!
//! It is an unfolding of the graph, so it can be as large as there are executions. It is opened evenly: all choices up
//! to a depth, the greatest one with which it does not have more than a number of branches. Steps between two choices
//! are one branch.

use super::expand::{End, Walker, Way};
use super::numbers::{Kind, Nodes, Numbers};
use super::{Graph, Independence};
use crate::store::Payloads;

/// Steps that follow each other without a choice, and the executions that take them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch<Label, Fault> {
    /// The branch at whose end this one is an alternative; `None` for the first one.
    pub parent: Option<usize>,
    /// Number of choices before it.
    pub depth: usize,
    /// Its steps.
    pub path: Vec<Label>,
    /// The executions that take them.
    pub numbers: Numbers,
    /// The number among all executions of the first of them; of a single one of the kind, its own.
    pub first: u128,
    /// What is at its end.
    pub then: Then<Fault>,
}

/// What is at the end of a [`Branch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then<Fault> {
    /// A choice: the branches whose parent it is.
    Choice,
    /// The end of the only execution, with whether a step of it is faulty, and why the last one cannot be computed.
    End(End, bool, Option<Fault>),
    /// It is not opened.
    Unopened,
}

type BranchOf<M> = Branch<<M as crate::model::Model>::Label, <M as crate::model::Model>::Fault>;

impl<S: Payloads<u32>> Graph<S> {
    /// The tree of the executions of a kind, in the order of their numbers, with at most this many branches unless the
    /// first choice has more; empty if there are none. The graph must be complete, and the model the one with which
    /// it was explored.
    pub fn tree<M: Independence>(&mut self, model: &mut M, kind: Kind, branches_max: usize) -> Vec<BranchOf<M>> {
        let mut tree = Vec::new();
        for depth in 1.. {
            let cap = if depth == 1 { usize::MAX } else { branches_max };
            let Some(opened) = self.opened_to(model, kind, Opening::Depth(depth), cap) else { break };
            tree = opened;
            if tree.iter().all(|branch| branch.then != Then::Unopened) {
                break;
            }
        }
        tree
    }

    /// The branches from the first one to the one with these executions, and the alternatives at its end, which are not opened
    /// unless a single execution is behind them; empty if there is no such branch. `first` counts from 0 among all executions.
    /// The graph must be complete, and the model the one with which it was explored.
    pub fn alternatives<M: Independence>(&mut self, model: &mut M, first: u128, executions: u128) -> Vec<BranchOf<M>> {
        let wanted = Stretch { first, executions };
        if executions == 0 || self.root.overflows() || !Stretch::all(&self.root).contains(wanted) {
            return Vec::new();
        }
        let branches = self.opened_to(model, Kind::All, Opening::Towards(wanted), usize::MAX).unwrap_or_default();
        let there = branches.iter().any(|branch| Stretch::of(branch) == wanted);
        if there { branches } else { Vec::new() }
    }

    /// The tree, as far as it is to be opened; `None` if it has more branches than wanted.
    fn opened_to<M: Independence>(
        &mut self,
        model: &mut M,
        kind: Kind,
        opening: Opening,
        branches_max: usize,
    ) -> Option<Vec<BranchOf<M>>> {
        if self.root.of(kind) == 0 {
            return Some(Vec::new());
        }
        let root =
            Branch { parent: None, depth: 0, path: Vec::new(), numbers: self.root, first: 0, then: Then::Choice };
        let walker = match Walker::new(model, (&mut self.store, &mut self.sets), self.rules) {
            Ok(walker) => walker,
            Err(fault) => return Some(vec![Branch { then: Then::End(End::Broken, true, Some(fault)), ..root }]),
        };
        let growing =
            Growing { walker, nodes: &self.nodes, kind, opening, frames: Vec::new(), branches: vec![root], number: 0 };
        growing.grow(branches_max)
    }
}

/// Which choices of a tree are opened.
#[derive(Clone, Copy)]
enum Opening {
    /// Those up to a depth.
    Depth(usize),
    /// Those on the way to a branch, and that at its end; the alternatives to the way are left out.
    Towards(Stretch),
}

/// Executions with neighbouring numbers: those behind a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stretch {
    first: u128,
    executions: u128,
}

impl Stretch {
    fn all(root: &Numbers) -> Self {
        Self { first: 0, executions: root.all }
    }

    fn of<Label, Fault>(branch: &Branch<Label, Fault>) -> Self {
        Self { first: branch.first, executions: branch.numbers.all }
    }

    fn contains(self, other: Self) -> bool {
        let end = |stretch: Self| stretch.first.saturating_add(stretch.executions);
        self.first <= other.first && end(other) <= end(self)
    }
}

/// A node on the stack: its branch, the executions of the kind behind it, whether a step before it is faulty.
struct Place {
    branch: usize,
    weight: u128,
    failed: bool,
}

/// A tree while its graph is walked.
struct Growing<'a, M: Independence, S> {
    walker: Walker<'a, M, S>,
    nodes: &'a Nodes,
    kind: Kind,
    opening: Opening,
    frames: Vec<Place>,
    branches: Vec<BranchOf<M>>,
    /// The number of the next execution, of whatever kind.
    number: u128,
}

impl<M: Independence, S: Payloads<u32>> Growing<'_, M, S> {
    fn grow(mut self, branches_max: usize) -> Option<Vec<BranchOf<M>>> {
        self.walker.payload_of_proposed(false);
        self.walker.enter(None, false);
        let weight = self.branches[0].numbers.of(self.kind);
        self.frames.push(Place { branch: 0, weight, failed: false });
        while !self.frames.is_empty() {
            if branches_max < self.branches.len() {
                return None;
            }
            match self.walker.next_way() {
                Way::Next { label, fails, transient } => self.arrive(label, fails, transient),
                Way::Broken { label, fault } => {
                    let one = Numbers::one(End::Broken);
                    let branch = self.branch_for(&one, one.of(self.kind), Some(label));
                    self.end(branch, one.of(self.kind), Then::End(End::Broken, true, Some(fault)));
                }
                Way::Done | Way::Nameless | Way::Full => self.leave(),
                Way::End(end) => {
                    let top = self.frames.last().map(|place| (place.branch, place.failed));
                    if let Some((branch, failed)) = top {
                        let weight = Numbers::one(end).after(failed).of(self.kind);
                        self.end(Some(branch), weight, Then::End(end, failed, None));
                    }
                    self.leave();
                }
            }
        }
        Some(self.branches)
    }

    /// Goes to the node that is proposed if executions of the kind are behind it and it is to be opened.
    fn arrive(&mut self, label: Option<M::Label>, fails: bool, transient: bool) {
        let failed = fails || self.frames.last().is_some_and(|place| place.failed);
        let node = *self.walker.payload_of_proposed(transient);
        let numbers = self.nodes.numbers(node).unwrap_or_default().after(failed);
        let weight = numbers.of(self.kind);
        let branch = self.branch_for(&numbers, weight, label);
        if let Some(branch) = branch.filter(|branch| self.branches[*branch].then == Then::Choice) {
            self.walker.enter(label, transient);
            self.frames.push(Place { branch, weight, failed });
        } else {
            self.walker.position.reject();
            self.number = self.number.saturating_add(numbers.all);
        }
    }

    /// The branch to which a way from the present node belongs: that of the node if there is no other way, else a new
    /// one; `None` if the way is not wanted.
    fn branch_for(&mut self, numbers: &Numbers, weight: u128, label: Option<M::Label>) -> Option<usize> {
        let place = self.frames.last().filter(|_| weight > 0)?;
        let parent = place.branch;
        // Numbers that are too large say nothing about how many ways there are.
        if weight == place.weight && weight < u128::MAX {
            self.branches[parent].path.extend(label);
            return Some(parent);
        }
        let depth = self.branches[parent].depth + 1;
        let opened = match self.opening {
            Opening::Depth(depth_max) => depth < depth_max,
            Opening::Towards(wanted) => {
                let here = Stretch { first: self.number, executions: numbers.all };
                if !here.contains(wanted) && Stretch::of(&self.branches[parent]) != wanted {
                    return None;
                }
                here.contains(wanted)
            }
        };
        let then = if opened || weight == 1 { Then::Choice } else { Then::Unopened };
        self.branches.push(Branch {
            parent: Some(parent),
            depth,
            path: label.into_iter().collect(),
            numbers: *numbers,
            first: self.number,
            then,
        });
        Some(self.branches.len() - 1)
    }

    /// An execution ends here; `weight` says whether it is of the kind.
    fn end(&mut self, branch: Option<usize>, weight: u128, then: Then<M::Fault>) {
        if let Some(branch) = branch.filter(|_| weight > 0) {
            self.branches[branch].then = then;
            self.branches[branch].first = self.number;
        }
        self.number = self.number.saturating_add(1);
    }

    fn leave(&mut self) {
        self.walker.leave();
        self.frames.pop();
    }
}
