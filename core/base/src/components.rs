//! The strongly connected components of a graph that is there as a whole.
//!
//! Tarjan (*Depth-First Search and Linear Graph Algorithms*, SIAM J. Comput. 1972), with a stack of its own instead of recursion:
//!
//! ```text
//! visit(s):
//!   order[s] := low[s] := next number;  open.push(s)
//!   for each s → t:
//!     if t was not visited: visit(t);  low[s] := min(low[s], low[t])
//!     else if t is open: low[s] := min(low[s], order[t])
//!   if low[s] = order[s]: open.pop() until s: a component
//! ```

/// The strongly connected components of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Components {
    /// The component of each node; those that can be reached from others have smaller numbers.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

impl Components {
    /// Whether two nodes are in the same component.
    pub fn joins(&self, one: u32, other: u32) -> bool {
        self.of[one as usize] == self.of[other as usize]
    }
}

/// The components of a graph with nodes numbered from 0, of which each has these successors.
pub fn components<I: Iterator<Item = u32>>(nodes: usize, successors: impl Fn(u32) -> I) -> Components {
    const NEW: u32 = u32::MAX;
    let (mut order, mut low, mut of) = (vec![NEW; nodes], vec![0; nodes], vec![NEW; nodes]);
    let (mut next, mut count) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    // The nodes that are being visited, with the successors that are left.
    let mut stack: Vec<(u32, I)> = Vec::new();
    for root in 0..nodes as u32 {
        let mut visit = (order[root as usize] == NEW).then_some(root);
        loop {
            if let Some(node) = visit.take() {
                (order[node as usize], low[node as usize]) = (next, next);
                next += 1;
                open.push(node);
                stack.push((node, successors(node)));
            }
            let Some((node, left)) = stack.last_mut() else { break };
            let node = *node;
            match left.next() {
                Some(target) if order[target as usize] == NEW => visit = Some(target),
                Some(target) if of[target as usize] == NEW => {
                    low[node as usize] = low[node as usize].min(order[target as usize]);
                }
                Some(_) => {}
                None => {
                    stack.pop();
                    if let Some((below, _)) = stack.last() {
                        low[*below as usize] = low[*below as usize].min(low[node as usize]);
                    }
                    if low[node as usize] == order[node as usize] {
                        while let Some(member) = open.pop_if(|_| of[node as usize] == NEW) {
                            of[member as usize] = count;
                        }
                        count += 1;
                    }
                }
            }
        }
    }
    Components { of, count: count as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which nodes each node reaches, itself included.
    fn reached(edges: &[Vec<u32>]) -> Vec<Vec<bool>> {
        let from = |start: usize| {
            let (mut seen, mut open) = (vec![false; edges.len()], vec![start]);
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(edges[node].iter().map(|target| *target as usize));
                }
            }
            seen
        };
        (0..edges.len()).map(from).collect()
    }

    #[test]
    fn nodes_are_together_that_reach_each_other() {
        let mut random = 1_u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for _ in 0..2_000 {
            let nodes = 1 + draw(12);
            let density = draw(4);
            let edges: Vec<Vec<u32>> =
                (0..nodes).map(|_| (0..draw(1 + density)).map(|_| draw(nodes) as u32).collect()).collect();
            let found = components(nodes as usize, |node| edges[node as usize].iter().copied());
            let reached = reached(&edges);
            for (one, ahead) in reached.iter().enumerate() {
                for (other, &leads) in ahead.iter().enumerate() {
                    assert_eq!(found.joins(one as u32, other as u32), leads && reached[other][one], "{edges:?}");
                    // What is reached, and does not lead back, has a smaller number.
                    assert!(!leads || found.of[other] <= found.of[one], "{edges:?}");
                }
            }
            assert_eq!(found.of.iter().max().map(|most| *most as usize + 1), Some(found.count));
        }
    }

    #[test]
    fn a_long_path_needs_no_deep_recursion() {
        let nodes = 1_000_000;
        let found = components(nodes, |node| (node + 1 < nodes as u32).then_some(node + 1).into_iter());
        assert_eq!(found.count, nodes);
    }
}
