//! Nested depth-first search over what a bound allows (the paper's baseline, *NDFS* in its Table 3).
//!
//! ```text
//! blue(s):  for each edge s → t: if t is not blue: blue(t)
//!           when done with an accepting edge s → t: red(t), which looks for a state on the blue stack
//! red(s):   if s is on the blue stack: report a cycle;  for each edge s → t: if t is not red: red(t)
//! ```
//!
//! Red states stay red. A livelock needs no second search: it is a cycle among the edges without progress, which one
//! depth-first search over these edges, from each state, finds as an edge back into its stack.

use super::graph::Graph;
use super::{Closing, Evidence};
use crate::cycle::Goal;
use crate::delay_bounded::DelayObserver;
use crate::model::Processes;
use crate::outcome::{Round, Run};
use crate::schedule::Scheduler;
use crate::snapshot::Phase;
use std::ops::ControlFlow;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Colours {
    blue: bool,
    on_stack: bool,
    red: bool,
}

/// Searches what a bound allows, from the initial state.
pub(super) fn round<M, D, O>(graph: &mut Graph<'_, M, D, O>, round: &mut Round) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    if graph.goal() == Goal::Livelock {
        return livelock(graph, round);
    }
    let mut colours = vec![Colours::default(); graph.nodes.len()];
    let mut stack = Vec::new();
    enter(graph, &mut colours, &mut stack, 0)?;
    while let Some((state, next)) = stack.last_mut() {
        let (from, index) = (*state, *next);
        // The edge before led to the state above, which is done: its macro step to be searched from.
        if let Some(done) = index.checked_sub(1).and_then(|before| graph.edges[from as usize].get(before))
            && done.accept()
        {
            let to = done.to;
            red(graph, &mut colours, from, to, round)?;
        }
        let (_, next) = stack.last_mut().unwrap_or(&mut (0, 0)).to_owned();
        let Some(&edge) = graph.edges[from as usize].get(next) else {
            colours[from as usize].on_stack = false;
            stack.pop();
            continue;
        };
        if let Some(top) = stack.last_mut() {
            top.1 += 1;
        }
        graph.tick(from, Phase::Blue)?;
        round.work.calculated += 1;
        if !colours[edge.to as usize].blue {
            enter(graph, &mut colours, &mut stack, edge.to)?;
        }
    }
    ControlFlow::Continue(())
}

fn enter<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    colours: &mut Vec<Colours>,
    stack: &mut Vec<(u32, usize)>,
    state: u32,
) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    graph.expand(state)?;
    colours.resize(graph.nodes.len(), Colours::default());
    colours[state as usize].blue = true;
    colours[state as usize].on_stack = true;
    stack.push((state, 0));
    ControlFlow::Continue(())
}

/// Searches from the target of an accepting edge for a state on the blue stack.
fn red<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    colours: &mut [Colours],
    seed: u32,
    start: u32,
    round: &mut Round,
) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let closing = Closing { from: seed, to: start };
    if colours[start as usize].on_stack {
        return ControlFlow::Break(closing.into());
    }
    if colours[start as usize].red {
        return ControlFlow::Continue(());
    }
    colours[start as usize].red = true;
    let mut stack = vec![(start, 0)];
    while let Some((state, next)) = stack.last_mut() {
        let edge = graph.edges[*state as usize].get(*next).copied();
        *next += 1;
        let Some(edge) = edge else {
            stack.pop();
            continue;
        };
        graph.tick(edge.to, Phase::Red)?;
        round.work.refined += 1;
        let colour = &mut colours[edge.to as usize];
        if colour.on_stack {
            return ControlFlow::Break(closing.into());
        }
        if !colour.red {
            colour.red = true;
            stack.push((edge.to, 0));
        }
    }
    ControlFlow::Continue(())
}

/// Looks for a cycle of edges without progress.
fn livelock<M, D, O>(graph: &mut Graph<'_, M, D, O>, round: &mut Round) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut colours: Vec<Colours> = Vec::new();
    let mut root = 0;
    while root < graph.nodes.len() {
        let mut stack = Vec::new();
        colours.resize(graph.nodes.len(), Colours::default());
        if !colours[root].blue {
            enter(graph, &mut colours, &mut stack, root as u32)?;
        }
        while let Some((state, next)) = stack.last_mut() {
            let from = *state;
            let edge = graph.edges[from as usize].get(*next).copied();
            *next += 1;
            let Some(edge) = edge else {
                colours[from as usize].on_stack = false;
                stack.pop();
                continue;
            };
            graph.tick(from, Phase::WithoutProgress)?;
            round.work.calculated += 1;
            if !edge.follow() {
                continue;
            }
            let colour = colours[edge.to as usize];
            if colour.on_stack {
                return ControlFlow::Break(Closing { from, to: edge.to }.into());
            }
            if !colour.blue {
                enter(graph, &mut colours, &mut stack, edge.to)?;
            }
        }
        root += 1;
    }
    ControlFlow::Continue(())
}
