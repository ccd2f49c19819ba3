//! Known runs that never end, or that a claim watches, in a model that was edited since.
//!
//! The processes' steps are walked again; the loop is gone round until a state comes back. Whether what came out is
//! still bad is then asked of the claim anew: it may go its own way along the run. What is found is
//! confirmed by the reference interpreter like any counterexample.

use super::{Followed, Identities, Identity, Replay, STEPS_MAX, Walk, aligned, identities, statements_of};
use fabius_program::{CLAIM_PID, Move, Program, Watch, meaning::Fault};
use fabius_task::meaning::SourceProgram;
use fabius_task::plan::plan;
use fabius_task::query::{CycleSearch, LivenessQuery, liveness_query};
use fabius_task::report::ViolationClass;
use fabius_task::settings::Settings;
use fabius_witness::{
    Claim, CycleClaim, Outcome, Outline, RunFairness, State, Step, Trace, check_watching, confirm_watching, marks,
    moves, settled, step,
};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The loop is gone round so often.
const ROUNDS_MAX: usize = 40;
/// Run and claim together have this many states at most.
const STATES_MAX: usize = 20_000;
/// This many accepting steps are tried.
const TRIED_MAX: usize = 200;

/// Walks an infinite run of the model `old`, or one that a claim watches, through the model `present`.
pub(super) fn replay(present: &SourceProgram, old: &SourceProgram, property: &str, run: &Trace) -> Followed {
    let program = Arc::clone(present.program());
    let planned = plan(&program, &[property.to_owned()]).ok().and_then(|plan| plan.properties.into_iter().next());
    let query = planned.and_then(|planned| {
        let settings = Settings::default();
        liveness_query(&program, &planned, &settings, CycleSearch::answering(&planned, &settings)).ok()
    });
    let Some(query) = query else { return Followed::NOT_TRIED };
    let known = identities(old.program());
    let merged = if is_told_of(old, run) { HashSet::new() } else { merged(&known, run) };
    let is_known = |identity: &Identity| known.all.contains_key(identity) && !merged.contains(identity);
    let Some(mut walk) =
        Walk::new(&program, Watch::NOTHING, &is_known, aligned(&program, &statements_of(old.program())), run)
    else {
        return Followed::NOT_TRIED;
    };
    walk.infinite = true;
    let steps: Vec<Step> = run.taken().collect();
    let first = run.cycle_start.map_or(steps.len(), |start| start.saturating_sub(1).min(steps.len()));
    let lasso = match go_round(&mut walk, &known, &steps[..first], &steps[first..], run.cycle_start.is_some()) {
        Ok(Some(start)) => Lasso { path: walk.path.clone(), start },
        Ok(None) => return walk.followed(Replay::Open),
        Err(stopped) => return walk.followed(stopped),
    };
    let shown = if query.watch.claim.is_some() { watched(&query, &lasso) } else { Ok(Some(plain(&query, lasso))) };
    let Ok(shown) = shown else { return walk.followed(Replay::Unknown) };
    let confirmed = shown.and_then(|(path, claim)| confirm_watching(&query.program, query.watch, &path, claim).ok());
    walk.followed(confirmed.map_or(Replay::Harmless, |trace| Replay::Same(Box::new(trace))))
}

/// Whether a run violates a property of infinite runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LassoVerdict {
    /// It does; the reference interpreter has confirmed that.
    Violates,
    /// It does not.
    Satisfies,
    /// There is more to try than is tried.
    Unknown,
}

/// Whether a run of the processes violates what a query asks. From the end of `path`, which is possible without a claim, the run leads back to the
/// state after `start` steps; if that is the end, it is a finite run, of which nothing is said to follow.
pub fn judge_lasso(query: &LivenessQuery, path: &[Move], start: usize) -> LassoVerdict {
    let lasso = Lasso { path: path.to_vec(), start };
    let is_shown =
        |(path, claim): &(Vec<Move>, Claim)| check_watching(&query.program, query.watch, path, *claim).is_ok();
    if query.watch.claim.is_none() {
        return if is_shown(&plain(query, lasso)) { LassoVerdict::Violates } else { LassoVerdict::Satisfies };
    }
    match watched(query, &lasso) {
        Ok(None) => LassoVerdict::Satisfies,
        Ok(Some(found)) if is_shown(&found) => LassoVerdict::Violates,
        Ok(Some(_)) | Err(TooLarge) => LassoVerdict::Unknown,
    }
}

/// A run of the processes: from its end it leads back to the state after `start` steps; if that is the end, nothing moves there.
struct Lasso {
    path: Vec<Move>,
    start: usize,
}

/// Whether a run names the statements of a model, and not of one in which they are merged.
fn is_told_of(old: &SourceProgram, run: &Trace) -> bool {
    let program = old.program();
    let number = |step: &Outline| {
        let edge = program.edges.get(step.taken.edge.0 as usize)?;
        Some(program.process(edge.process).statements.get(edge.statement.0 as usize)?.number)
    };
    let mut own = run.steps.outline().filter(|step| !step.is_claims);
    own.all(|step| number(&step) == Some(step.statement))
}

/// Known statements that never are a step of their own in a run.
fn merged(known: &Identities, run: &Trace) -> HashSet<Identity> {
    let actors = run.steps.iter().flat_map(|step| [Some(step.actor), step.partner]).flatten();
    let shown: HashSet<_> = actors.filter_map(|actor| known.by_number.get(&(actor.process, actor.statement))).collect();
    known.all.keys().filter(|identity| !shown.contains(identity)).cloned().collect()
}

/// Walks the stem, and the loop until a state comes back: after this many steps of the path. `None` if none does.
fn go_round(
    walk: &mut Walk<'_>,
    known: &Identities,
    stem: &[Step],
    round: &[Step],
    infinite: bool,
) -> Result<Option<usize>, Replay> {
    stem.iter().try_for_each(|step| walk.follow(known, step))?;
    if round.is_empty() {
        if infinite {
            walk.complete();
        }
        return Ok(Some(walk.path.len()));
    }
    let mut seen: HashMap<State, usize> = HashMap::new();
    for _ in 0..ROUNDS_MAX {
        let now = settled(walk.program, &walk.state).visible(walk.program);
        let length = walk.path.len();
        if let Some(&start) = seen.get(&now).filter(|&&start| start < length) {
            return Ok(Some(start));
        }
        if STEPS_MAX < length {
            return Ok(None);
        }
        seen.insert(now, length);
        round.iter().try_for_each(|step| walk.follow(known, step))?;
    }
    Ok(None)
}

/// The run of a model without a claim, and what it is to show.
fn plain(query: &LivenessQuery, lasso: Lasso) -> (Vec<Move>, Claim) {
    let no_progress = query.class == ViolationClass::NonProgressCycle;
    let shows = CycleClaim { no_progress, acceptance: query.watch.acceptance, fairness: RunFairness::Unfair };
    (lasso.path, Claim::Cycle { start: lasso.start, shows })
}

/// There is more to try than is tried.
struct TooLarge;

/// A run of processes and claim together along the lasso that the claim matches, if there is one.
fn watched(query: &LivenessQuery, lasso: &Lasso) -> Result<Option<(Vec<Move>, Claim)>, TooLarge> {
    let graph = match Graph::of(&query.program, query.watch, lasso).ok_or(TooLarge)? {
        Ok(graph) => graph,
        Err(path) => return Ok(Some((path, Claim::Fault(Fault::ClaimCompleted)))),
    };
    let edges = graph.edges.iter().enumerate().flat_map(|(from, edges)| edges.iter().map(move |edge| (from, edge)));
    // What is accepted before the loop is not again.
    let in_loop = |from: usize| graph.places.get(from).is_some_and(|at| lasso.start <= *at);
    let accepting: Vec<(usize, &Edge)> = edges.filter(|(from, edge)| edge.accepting && in_loop(*from)).collect();
    let found = accepting.iter().take(TRIED_MAX).find_map(|(from, edge)| {
        let back = graph.way(edge.to, *from)?;
        let stem = graph.way(0, *from)?;
        let start = stem.len();
        let shows = CycleClaim { acceptance: true, ..CycleClaim::NOTHING };
        let path = stem.into_iter().chain([edge.step]).chain(back).collect();
        Some((path, Claim::Cycle { start, shows }))
    });
    if found.is_none() && TRIED_MAX < accepting.len() { Err(TooLarge) } else { Ok(found) }
}

/// What processes and claim can do together along a lasso; the first node is the start.
struct Graph {
    edges: Vec<Vec<Edge>>,
    /// The place of each node in the lasso: how many of its steps have been taken.
    places: Vec<usize>,
}

struct Edge {
    step: Move,
    to: usize,
    accepting: bool,
}

impl Graph {
    /// The graph, or a path along which the claim comes to its end; `None` if it is too large.
    fn of(program: &Program, watch: Watch, lasso: &Lasso) -> Option<Result<Self, Vec<Move>>> {
        let initial = settled(program, &State::watching(program, watch).ok()?);
        let mut nodes: Vec<(usize, State)> = vec![(0, initial.clone())];
        let mut numbers = HashMap::from([((0, initial.visible(program)), 0)]);
        let mut graph = Self { edges: Vec::new(), places: Vec::new() };
        while let Some((at, state)) = nodes.get(graph.edges.len()).cloned() {
            graph.places.push(at);
            let mut edges = Vec::new();
            for (wanted, outcome) in possible(program, lasso, at, &state) {
                let Outcome::Reaches { state: reached, .. } = outcome else {
                    if outcome.fault() != Some(Fault::ClaimCompleted) {
                        continue;
                    }
                    let here = graph.edges.len();
                    graph.edges.push(edges);
                    let way = graph.way(0, here)?;
                    return Some(Err(way.into_iter().chain([wanted]).collect()));
                };
                let rest = settled(program, &reached);
                let mut marked = marks(program, watch, Some(wanted), &reached);
                if rest != reached {
                    marked = marked.with(marks(program, watch, None, &rest));
                }
                let next = if wanted.pid == CLAIM_PID { at } else { lasso.after(at) };
                let fresh = nodes.len();
                let to = *numbers.entry((next, rest.visible(program))).or_insert(fresh);
                if to == fresh {
                    nodes.push((next, rest));
                }
                edges.push(Edge { step: wanted, to, accepting: marked.accepting });
            }
            graph.edges.push(edges);
            if STATES_MAX < nodes.len() {
                return None;
            }
        }
        Some(Ok(graph))
    }

    /// A shortest way from a node to another; no step if they are the same.
    fn way(&self, from: usize, to: usize) -> Option<Vec<Move>> {
        let mut before: HashMap<usize, Option<(usize, Move)>> = HashMap::from([(from, None)]);
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front().filter(|_| !before.contains_key(&to)) {
            for edge in self.edges.get(node).into_iter().flatten() {
                before.entry(edge.to).or_insert_with(|| {
                    waiting.push_back(edge.to);
                    Some((node, edge.step))
                });
            }
        }
        let mut way = Vec::new();
        let mut at = *before.get(&to)?;
        while let Some((node, step)) = at {
            way.push(step);
            at = *before.get(&node)?;
        }
        way.reverse();
        Some(way)
    }
}

impl Lasso {
    /// The place behind a step.
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.path.len() && self.start < self.path.len() { self.start } else { at + 1 }
    }
}

/// In the claim's turn its moves, else the next step of the lasso.
fn possible(program: &Program, lasso: &Lasso, at: usize, state: &State) -> Vec<(Move, Outcome)> {
    if state.is_claims_turn() {
        return moves(program, state).successors;
    }
    let wanted = lasso.path.get(at).copied();
    let taken = wanted.and_then(|wanted| Some((wanted, step(program, state, wanted).ok()?.outcome)));
    taken.into_iter().collect()
}
