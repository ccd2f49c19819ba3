//! What a search is at, for somebody who wants to see it while it runs.
//!
//! Nothing of this is kept up to date: a search puts it together when its observer asks for it
//! ([`Observer::snapshot_request`](crate::Observer::snapshot_request)), which is at most once for every thousand steps.

/// What somebody who watches wants to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotRequest {
    /// This many of the last labels of the path, at most.
    pub labels_max: usize,
    /// The path is to start in the initial state, even if that is some work.
    pub whole: bool,
}

/// What a search is doing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Goes depth first.
    DepthFirst,
    /// Goes layer by layer.
    BreadthFirst,
    /// Goes depth first as far as this many delays allow.
    Delays(u32),
    /// Goes depth first down to this many steps.
    Depth(u32),
    /// Goes depth first without progress; what lies behind progress waits.
    WithoutProgress,
    /// Looks for accepting transitions (the blue search).
    Blue,
    /// Looks for a way back to an accepting transition (the red search).
    Red,
    /// Looks for strongly connected components.
    Components,
    /// Searches what is left of components that were too large.
    Subproblems,
    /// Calculates maximal accepting predecessors.
    Calculate,
    /// Refines the partition of an accepting state.
    Refine,
    /// Draws runs at random.
    Sample,
    /// Several threads search together.
    Together,
}

/// Why a cycle, or a way that could close one, is none of those that are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rejection {
    /// A way back to a known state makes progress.
    Progress,
    /// No transition of it is accepting.
    NotAccepting,
    /// No way leads back to the accepting transition.
    NoWayBack,
    /// Some process is neglected in it.
    Unfair,
}

/// A cycle that was looked at and is none of those that are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected<Label> {
    /// Why.
    pub why: Rejection,
    /// The transition that closes it, or the accepting one to which no way leads back.
    pub label: Option<Label>,
    /// The state in which that transition starts.
    pub state: Vec<u32>,
}

/// What a search is at.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchSnapshot<Label> {
    /// What it is doing.
    pub phase: Phase,
    /// The end of the path it is at.
    pub path: Vec<Label>,
    /// Labels of the path before those.
    pub before: u64,
    /// The path starts in the initial state; else in one that waited.
    pub from_initial: bool,
    /// States on the stack.
    pub stack: u64,
    /// States that wait until their turn comes.
    pub frontier: Option<u64>,
    /// Cycles that are none of those that are looked for.
    pub rejected: u64,
    /// States of the largest strongly connected component that was left.
    pub largest_component: Option<u64>,
    /// Partitions (or subproblems) that are still to be searched.
    pub partitions: Option<u64>,
}

impl<Label> SearchSnapshot<Label> {
    /// A search about which there is no more to say.
    pub fn at(phase: Phase) -> Self {
        Self {
            phase,
            path: Vec::new(),
            before: 0,
            from_initial: true,
            stack: 0,
            frontier: None,
            rejected: 0,
            largest_component: None,
            partitions: None,
        }
    }

    /// With the end of a path, as long as is wanted.
    pub(crate) fn along(self, wanted: SnapshotRequest, labels: impl DoubleEndedIterator<Item = Label>) -> Self {
        let mut labels = labels.rev();
        let mut path: Vec<Label> = labels.by_ref().take(wanted.labels_max).collect();
        path.reverse();
        Self { path, before: labels.count() as u64, ..self }
    }

    /// With the end of a path of this many labels: a long stack is not counted for somebody who sees the end of it.
    pub(crate) fn along_many(
        self,
        wanted: SnapshotRequest,
        length: u64,
        labels: impl DoubleEndedIterator<Item = Label>,
    ) -> Self {
        let mut path: Vec<Label> = labels.rev().take(wanted.labels_max).collect();
        path.reverse();
        let before = length.saturating_sub(path.len() as u64);
        Self { path, before, ..self }
    }

    /// With a way to the beginning of the path.
    pub(crate) fn led_by(mut self, lead: Vec<Label>) -> Self {
        self.path.splice(0..0, lead);
        self.from_initial = true;
        self
    }
}
