//! The lasso of a component: a path to its root, and a cycle through it that counts.
//!
//! ```text
//! cycle := ∅                                        until the cycle counts and is closed:
//!   s := the root                                     if it does not count yet: t := a state of the component, nearest
//!                                                       to s over a transition that makes the cycle count more
//!                                                     else: t := the root
//!                                                     append the shortest path from s to t;  s := t
//! ```

use super::pass::Pass;
use super::{Components, Number};
use crate::cycle::acceptance_summary::AcceptanceSummary;
use crate::cycle::lasso::is_at;
use crate::cycle::outcome::{Found, Goal, Run};
use crate::cycle::paths::{Answer, Lane, Path, Step, shortest_path};
use crate::cycle::proviso::Proviso;
use crate::cycle::stem::stem_to;
use crate::dfs_stack::class_of;
use crate::model::{Marks, Processes};
use crate::observer::Observer;
use crate::outcome::Halt;
use crate::position::Position;
use crate::store::Payloads;
use std::ops::ControlFlow;

impl<M, S, O, P, C> Components<'_, M, S, O, P, C>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
    C: AcceptanceSummary,
{
    /// The component on top of `part`, or of `whole` if there is none, counts.
    #[cold]
    pub(super) fn report(
        &mut self,
        whole: &mut Pass<M, C, S::Probe>,
        part: Option<&mut Pass<M, C, S::Probe>>,
    ) -> Run<M::Label, M::Fault> {
        let (start, transient, members, from_seed) = match part {
            None => {
                let (start, transient, members) = whole.retreat_to_root();
                (start, transient, members, whole.stack.labels().collect())
            }
            Some(part) => {
                let mut from_seed: Vec<M::Label> = whole.stack.labels().collect();
                let from = whole.stack.position.state().to_vec();
                let (start, transient, members) = part.retreat_to_root();
                from_seed.extend(self.path_between(&from, &start, transient)?);
                (start, transient, members, from_seed)
            }
        };
        let cycle = self.cycle(&start, transient, members)?.into_iter().filter_map(|taken| taken.label).collect();
        let mut stem = self.stem()?;
        stem.extend(from_seed);
        ControlFlow::Break(Halt::Found(Found::Lasso { stem, cycle }))
    }

    /// The path to the bottom of the stack.
    pub(super) fn stem(&mut self) -> Run<M::Label, M::Fault, Vec<M::Label>> {
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let seeds = self.queue.ancestors(self.seed);
        stem_to(self.model, self.store, &mut self.proviso, &mut self.watch, memory_bytes, &self.queue, &seeds)
    }

    /// The labels from one state to another.
    pub(super) fn path_between(
        &mut self,
        from: &[u32],
        to: &[u32],
        transient: bool,
    ) -> Run<M::Label, M::Fault, Vec<M::Label>> {
        let hidden = self.model.hidden_words();
        if same_visible(from, to, hidden) {
            return ControlFlow::Continue(Vec::new());
        }
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let goal = self.goal;
        let path =
            shortest_path(self.model, &mut self.proviso, &mut self.watch, memory_bytes, from, None, |_, step| {
                if goal == Goal::Livelock && step.marks.has(Marks::PROGRESS) {
                    Answer::No
                } else if is_at(&step, &to[..to.len().saturating_sub(hidden)], transient, hidden) {
                    Answer::Arrived
                } else {
                    Answer::Yes(Lane::First)
                }
            })?;
        let path = path.expect("a path leads to the subproblem from the component that was split");
        ControlFlow::Continue(path.into_iter().filter_map(|taken| taken.label).collect())
    }

    /// A cycle through `start` and other active states with these numbers that is what is looked for.
    pub(super) fn cycle(
        &mut self,
        start: &[u32],
        transient: bool,
        members: std::ops::RangeInclusive<u32>,
    ) -> Run<M::Label, M::Fault, Path<M::Label>> {
        let memory_bytes = self.store.memory_bytes() + self.memory_bytes;
        let (goal, hidden) = (self.goal, self.model.hidden_words());
        let mut cycle = Vec::new();
        let mut sum = C::default();
        sum.add_state(self.model, start, transient);
        let visible = &start[..start.len().saturating_sub(hidden)];
        let mut at = start.to_vec();
        let mut closed = false;
        while !(closed && self.counts(&sum)) {
            let going_home = self.counts(&sum);
            let mut position = Position::new(S::MEMO_PER_WORD, hidden);
            let store = &mut *self.store;
            let mut is_member = |step: &Step<'_, M::Label>| {
                position.advance(step.target);
                let probe = store.prepare(&mut position, class_of(step.transient));
                position.forget();
                members.contains(&store.payload(probe).1.0)
            };
            let ask = |model: &mut M, step: Step<'_, M::Label>| {
                if goal == Goal::Livelock && step.marks.has(Marks::PROGRESS) {
                    return Answer::No;
                }
                let is_start = is_at(&step, visible, transient, hidden);
                let is_useful = !going_home && (step.lane == Lane::Second || is_useful(&sum, model, &step, goal));
                let is_member = is_start || is_member(&step);
                match is_member {
                    true if is_useful || is_start && going_home => Answer::Arrived,
                    false if !step.transient => Answer::No,
                    _ => Answer::Yes(if is_useful { Lane::Second } else { Lane::First }),
                }
            };
            let path = shortest_path(self.model, &mut self.proviso, &mut self.watch, memory_bytes, &at, None, ask)?;
            let path = path.expect("a component has a path between any two of its states");
            for taken in &path {
                sum.add_step(self.model, taken.label.as_ref(), taken.marks);
                if !taken.transient {
                    sum.add_state(self.model, &taken.state, false);
                }
                closed = taken.transient == transient && same_visible(&taken.state, start, hidden);
                at.clone_from(&taken.state);
            }
            cycle.extend(path);
        }
        ControlFlow::Continue(cycle)
    }
}

/// Whether a step makes the cycle walked so far more like one that counts.
fn is_useful<M: Processes, C: AcceptanceSummary>(
    sum: &C,
    model: &mut M,
    step: &Step<'_, M::Label>,
    goal: Goal,
) -> bool {
    let mut after = sum.clone();
    after.add_step(model, step.label, step.marks);
    if !step.transient {
        after.add_state(model, step.target, false);
    }
    let accepts = |sum: &C| goal == Goal::AcceptanceCycle && sum.marks().has(Marks::ACCEPTING);
    accepts(&after) && !accepts(sum) || after.is_fairer_than(sum)
}

fn same_visible(one: &[u32], other: &[u32], hidden: usize) -> bool {
    let visible = one.len().saturating_sub(hidden);
    one.len() == other.len() && one[..visible] == other[..visible]
}
