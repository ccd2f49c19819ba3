//! The moves of a claim beside a run of the processes that is known: its product with the run, which is small, is
//! looked through for a way to do what the claim is to do.

use fabius_program::{Move, Program, Watch, meaning::Fault};
use fabius_witness::{Claim, ClaimState, Outcome, State, marks, moves, settled, step};
use std::collections::{HashMap, VecDeque};

/// A larger product is not looked through.
const NODES_MAX: usize = 20_000;

/// Interleaves the moves of the processes (from `from` on again and again) with moves of the claim that is watched, so
/// that what is claimed comes about. Returns all moves, and how many of them come before the cycle; `None` if
/// there is no way.
pub(super) fn claim_product(
    program: &Program,
    watch: Watch,
    path: &[Move],
    from: usize,
    claim: Claim,
) -> Option<(Vec<Move>, usize)> {
    let mut product = Product { program, watch, path, from, nodes: Vec::new(), index: HashMap::new() };
    match claim {
        Claim::Cycle { .. } => {
            product.explore(None)?;
            product.cycle()
        }
        Claim::Fault(fault) => {
            let run = product.explore(Some(fault))?;
            let length = run.len();
            Some((run, length))
        }
        Claim::InvalidEnd | Claim::Reaches => None,
    }
}

/// The runs of a claim beside one run of the processes.
struct Product<'a> {
    program: &'a Program,
    watch: Watch,
    path: &'a [Move],
    from: usize,
    nodes: Vec<Node>,
    /// The processes' part of a state is the same wherever they have come equally far.
    index: HashMap<(usize, Option<ClaimState>), usize>,
}

struct Node {
    /// This many moves of the processes are done.
    at: usize,
    state: State,
    /// The node from which it was found, with the move; none of the first.
    parent: Option<(usize, Move)>,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy)]
struct Edge {
    target: usize,
    step: Move,
    accepting: bool,
}

impl Product<'_> {
    /// Explores breadth first, until a move of the claim has the wanted fault if there is one: the run to it. Without a wanted
    /// fault, an empty run when all is explored.
    fn explore(&mut self, wanted: Option<Fault>) -> Option<Vec<Move>> {
        let first = State::watching(self.program, self.watch).ok()?;
        self.node(0, first, None);
        let mut next = 0;
        while next < self.nodes.len() {
            if NODES_MAX < self.nodes.len() {
                return None;
            }
            for (at, step, outcome) in self.successors(next) {
                if wanted.is_some() && outcome.fault() == wanted {
                    return Some(self.way_to(next).into_iter().chain([step]).collect());
                }
                let Outcome::Reaches { state, .. } = outcome else { continue };
                let accepting = self.is_accepting(step, &state);
                let target = self.node(at, state, Some((next, step)));
                self.nodes[next].edges.push(Edge { target, step, accepting });
            }
            next += 1;
        }
        if wanted.is_some() { None } else { Some(Vec::new()) }
    }

    /// The moves from a node: all of the claim in its turn, or the next of the processes.
    fn successors(&self, node: usize) -> Vec<(usize, Move, Outcome)> {
        let Node { at, state, .. } = &self.nodes[node];
        let ready = settled(self.program, state);
        if ready.is_claims_turn() {
            let moves = moves(self.program, &ready).successors;
            return moves.into_iter().map(|(step, outcome)| (*at, step, outcome)).collect();
        }
        let Some(&wanted) = self.path.get(*at) else { return Vec::new() };
        let after = if at + 1 == self.path.len() { self.from } else { at + 1 };
        let taken = step(self.program, &ready, wanted);
        taken.map(|taken| (after, wanted, taken.outcome)).into_iter().collect()
    }

    fn is_accepting(&self, step: Move, reached: &State) -> bool {
        let rest = settled(self.program, reached);
        marks(self.program, self.watch, Some(step), reached).accepting
            || (rest != *reached && marks(self.program, self.watch, None, &rest).accepting)
    }

    fn node(&mut self, at: usize, state: State, parent: Option<(usize, Move)>) -> usize {
        let new = self.nodes.len();
        let node = *self.index.entry((at, state.claim.clone())).or_insert(new);
        if node == new {
            self.nodes.push(Node { at, state, parent, edges: Vec::new() });
        }
        node
    }

    fn way_to(&self, mut node: usize) -> Vec<Move> {
        let mut way = Vec::new();
        while let Some((parent, step)) = self.nodes[node].parent {
            way.push(step);
            node = parent;
        }
        way.reverse();
        way
    }

    /// A cycle with an accepting move. Every cycle passes the place where the processes begin theirs.
    fn cycle(&self) -> Option<(Vec<Move>, usize)> {
        let is_there = |root: &usize| self.nodes[*root].at == self.from;
        (0..self.nodes.len()).filter(is_there).find_map(|root| {
            let round = self.round(root)?;
            let mut run = self.way_to(root);
            let from = run.len();
            run.extend(round);
            Some((run, from))
        })
    }

    /// The shortest way from a node back to it with an accepting move.
    fn round(&self, root: usize) -> Option<Vec<Move>> {
        // A place is a node, twice: before and after an accepting move.
        let mut from: HashMap<(usize, bool), ((usize, bool), Move)> = HashMap::new();
        let mut open = VecDeque::from([(root, false)]);
        while let Some(place) = open.pop_front() {
            for edge in &self.nodes[place.0].edges {
                let reached = (edge.target, place.1 || edge.accepting);
                if reached == (root, false) || from.contains_key(&reached) {
                    continue;
                }
                from.insert(reached, (place, edge.step));
                if reached == (root, true) {
                    return Some(way_back(&from, reached, (root, false)));
                }
                open.push_back(reached);
            }
        }
        None
    }
}

/// Where one is in the search for a way.
type Place = (usize, bool);

fn way_back(from: &HashMap<Place, (Place, Move)>, mut place: Place, root: Place) -> Vec<Move> {
    let mut way = Vec::new();
    while place != root {
        let Some(&(before, step)) = from.get(&place) else { break };
        way.push(step);
        place = before;
    }
    way.reverse();
    way
}
