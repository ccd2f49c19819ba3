//! Where the nodes of a graph stand: in layers by their distance from where something begins, ordered so that few edges cross.
//!
//! Layers and barycentres as in Sugiyama, Tagawa and Toda, *Methods for visual understanding of hierarchical system structures*
//! (1981). Since a layer is a distance, no edge skips one on its way down; those that go up or along are drawn beside.

use std::collections::VecDeque;

/// Rounds in which layers are ordered, and in which nodes are moved.
const ROUNDS: usize = 24;

/// Places of nodes: the left edge and the top of each, and the size of all.
pub(super) struct Layout {
    pub places: Vec<(f64, f64)>,
    pub layers: Vec<usize>,
    pub width: f64,
    pub height: f64,
}

/// Nodes of these sizes; `gap` is left between them, and `between` says how much is left below a layer.
pub(super) fn layout(
    sizes: &[(f64, f64)],
    roots: &[usize],
    edges: &[(usize, usize)],
    gap: f64,
    between: &dyn Fn(usize) -> f64,
) -> Layout {
    let layers = distances(sizes.len(), roots, edges);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers.iter().max().map_or(0, |last| last + 1)];
    (0..sizes.len()).for_each(|node| rows[layers[node]].push(node));
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    let mut below = above.clone();
    for &(from, to) in edges.iter().filter(|(from, to)| layers[*from] != layers[*to]) {
        let (high, low) = if layers[from] < layers[to] { (from, to) } else { (to, from) };
        if layers[high] + 1 == layers[low] {
            below[high].push(low);
            above[low].push(high);
        }
    }
    order(&mut rows, &above, &below, sizes.len());
    let x = positions(&rows, &above, &below, sizes, gap);
    let mut places = vec![(0.0, 0.0); sizes.len()];
    let mut y = gap;
    for (layer, row) in rows.iter().enumerate() {
        let height = row.iter().map(|node| sizes[*node].1).fold(0.0, f64::max);
        row.iter().for_each(|node| places[*node] = (x[*node], y + (height - sizes[*node].1) / 2.0));
        y += height + between(layer);
    }
    let width = (0..sizes.len()).map(|node| x[node] + sizes[node].0).fold(0.0, f64::max) + gap;
    Layout { places, layers, width, height: y }
}

/// For each node, how many edges the nearest root is away; what no root leads to is a root.
fn distances(count: usize, roots: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    edges.iter().for_each(|(from, to)| next[*from].push(*to));
    let mut known: Vec<Option<usize>> = vec![None; count];
    let mut open = VecDeque::new();
    for root in roots.iter().copied().chain(0..count) {
        if known[root].is_none() {
            known[root] = Some(0);
            open.push_back(root);
        }
        if roots.last().is_some_and(|last| known[*last].is_none()) {
            continue;
        }
        while let Some(node) = open.pop_front() {
            for &to in &next[node] {
                if known[to].is_none() {
                    known[to] = known[node].map(|layer| layer + 1);
                    open.push_back(to);
                }
            }
        }
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

/// Orders each layer by the mean place of its neighbours, downwards and upwards in turn.
fn order(rows: &mut [Vec<usize>], above: &[Vec<usize>], below: &[Vec<usize>], count: usize) {
    let mut place = vec![0.0; count];
    let number = |row: &[usize], place: &mut Vec<f64>| {
        row.iter().enumerate().for_each(|(at, node)| place[*node] = (at as f64 + 0.5) / row.len() as f64);
    };
    rows.iter().for_each(|row| number(row, &mut place));
    for round in 0..ROUNDS {
        let down = round % 2 == 0;
        let neighbours = if down { above } else { below };
        let layers: Vec<usize> = if down { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for layer in layers {
            let mean = |node: usize| match neighbours[node].as_slice() {
                [] => place[node],
                near => near.iter().map(|other| place[*other]).sum::<f64>() / near.len() as f64,
            };
            let mut keyed: Vec<(f64, usize)> = rows[layer].iter().map(|node| (mean(*node), *node)).collect();
            keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
            rows[layer] = keyed.into_iter().map(|(_, node)| node).collect();
            number(&rows[layer], &mut place);
        }
    }
}

/// The left edges: each node is drawn towards its neighbours, as far as the order of its layer allows.
fn positions(
    rows: &[Vec<usize>],
    above: &[Vec<usize>],
    below: &[Vec<usize>],
    sizes: &[(f64, f64)],
    gap: f64,
) -> Vec<f64> {
    let mut x = vec![0.0; sizes.len()];
    let widths = rows.iter().map(|row| row.iter().map(|node| sizes[*node].0 + gap).sum::<f64>());
    let widest = widths.clone().fold(0.0, f64::max);
    for (row, width) in rows.iter().zip(widths) {
        let mut left = gap + (widest - width) / 2.0;
        for node in row {
            x[*node] = left;
            left += sizes[*node].0 + gap;
        }
    }
    for _ in 0..ROUNDS {
        for row in rows {
            let ideal = |node: usize, x: &[f64]| {
                let near: Vec<usize> = above[node].iter().chain(&below[node]).copied().collect();
                let centre = |other: usize| x[other] + sizes[other].0 / 2.0;
                let mean = near.iter().map(|other| centre(*other)).sum::<f64>() / near.len().max(1) as f64;
                if near.is_empty() { x[node] } else { mean - sizes[node].0 / 2.0 }
            };
            let mut left: Vec<f64> = row.iter().map(|node| ideal(*node, &x)).collect();
            // Half of what overlaps is taken by each side.
            for at in 1..row.len() {
                left[at] = left[at].max(left[at - 1] + sizes[row[at - 1]].0 + gap);
            }
            let mut right: Vec<f64> = row.iter().map(|node| ideal(*node, &x)).collect();
            for at in (1..row.len()).rev() {
                right[at - 1] = right[at - 1].min(right[at] - sizes[row[at - 1]].0 - gap);
            }
            row.iter().enumerate().for_each(|(at, node)| x[*node] = (left[at] + right[at]) / 2.0);
        }
    }
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x += gap - least);
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_distances_and_nodes_do_not_overlap() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0), (2, 4), (4, 4), (5, 6)];
        let sizes: Vec<(f64, f64)> = (0..7).map(|node| (50.0 + 10.0 * node as f64, 20.0)).collect();
        let drawn = layout(&sizes, &[0], &edges, 10.0, &|_| 30.0);
        assert_eq!(drawn.layers, [0, 1, 1, 2, 2, 0, 1]);
        for one in 0..7 {
            for other in 0..one {
                let ((x, y), (u, v)) = (drawn.places[one], drawn.places[other]);
                let apart = x + sizes[one].0 < u || u + sizes[other].0 < x || y + 20.0 < v || v + 20.0 < y;
                assert!(apart, "{one} and {other}");
            }
            let (x, y) = drawn.places[one];
            assert!(0.0 < x && x + sizes[one].0 < drawn.width && 0.0 < y && y + 20.0 < drawn.height);
        }
    }
}
