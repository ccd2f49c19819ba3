//! The edges of a state that a cycle may use.
//!
//! ```text
//! livelocks:           a way with a step that makes progress is no edge;      every edge is accepting
//! acceptance cycles:   every way is an edge, and accepting if a step on it is
//! ```
//!
//! A way goes through transient states only. One on two ways is passed twice if one of them has such a step and the other has not.

use crate::cycle::Goal;
use crate::expansion::Expansion;
use crate::model::{Marks, Model, Next};

/// What an expansion came to.
pub(super) enum Listed<L> {
    /// An edge; the successor is the state that it leads to.
    Edge { label: Option<L>, accepts: bool },
    /// A step that is no edge.
    Nothing,
}

/// What an expansion comes to next; `None` if all edges are listed.
pub(super) fn next_edge<M: Model>(
    expansion: &mut Expansion<M::Cursor, M::Label>,
    model: &mut M,
    goal: Goal,
) -> Option<Listed<M::Label>> {
    match expansion.next(model)? {
        Next::Successor { label, transient: true, marks, .. } => expansion.pass_marked(label, counted(goal, marks)),
        Next::Successor { label, transient: false, marks, .. } => {
            let marks = expansion.marks().with(marks);
            if is_usable(goal, marks) {
                return Some(Listed::Edge { label, accepts: accepts(goal, marks) });
            }
        }
        Next::Broken { .. } => {}
        Next::Done(_) => expansion.turn(model),
    }
    Some(Listed::Nothing)
}

/// The marks that tell ways through transient states from each other.
fn counted(goal: Goal, marks: Marks) -> Marks {
    let mark = match goal {
        Goal::AcceptanceCycle => Marks::ACCEPTING,
        Goal::Livelock => Marks::PROGRESS,
    };
    if marks.has(mark) { mark } else { Marks::NONE }
}

/// Whether steps with these marks may be part of a cycle.
pub(super) fn is_usable(goal: Goal, marks: Marks) -> bool {
    goal == Goal::AcceptanceCycle || !marks.has(Marks::PROGRESS)
}

/// Whether a cycle of steps that may be part of one, with one that has these marks, is what is looked for.
pub(super) fn accepts(goal: Goal, marks: Marks) -> bool {
    goal == Goal::Livelock || marks.has(Marks::ACCEPTING)
}
