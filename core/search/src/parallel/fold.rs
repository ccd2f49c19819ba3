//! States as binary trees over their words, and what is left to compute when few words change.

use crate::position::Position;

/// Brings the inner nodes of a state's tree up to date; knows the trees of all lengths met.
#[derive(Debug, Default)]
pub struct Folder {
    /// Of the states of each length that was met.
    shapes: Vec<Option<Box<Shape>>>,
    /// Inner nodes to be computed, one bit each; all zero between insertions.
    dirty: Vec<u64>,
}

impl Folder {
    /// Computes the inner nodes above the words that changed; `intern` gives the identity of a pair.
    #[inline]
    pub fn refresh(&mut self, position: &mut Position, mut intern: impl FnMut(u32, u32) -> u32) {
        let length = position.visible().len();
        let blocks = length.div_ceil(64);
        self.learn(length);
        let Self { shapes, dirty } = self;
        let Some(shape) = shapes.get(length).and_then(Option::as_deref) else { return };
        if !position.mark_stale_parents(&shape.parents, dirty) {
            dirty.fill(0);
            shape.compute_all(position, intern);
            return;
        }
        for block in (0..blocks).rev() {
            while dirty[block] != 0 {
                let bit = dirty[block].ilog2() as usize;
                dirty[block] &= !(1 << bit);
                let node = block * 64 + bit;
                if node > 1 {
                    shape.compute(position, node, dirty, &mut intern);
                }
            }
        }
    }

    /// Makes sure that the tree of this length is known.
    #[inline]
    pub fn learn(&mut self, length: usize) {
        if self.shape(length).is_none() {
            self.learn_anew(length);
        }
    }

    /// Makes the tree of this length, and of no other: of lengths there may be many, and most are never met.
    #[cold]
    fn learn_anew(&mut self, length: usize) {
        if self.shapes.len() <= length {
            self.shapes.resize_with(length + 1, || None);
            self.dirty.resize(self.dirty.len().max(length.div_ceil(64)), 0);
        }
        self.shapes[length] = Some(Box::new(Shape::new(length)));
    }

    #[inline]
    fn shape(&self, length: usize) -> Option<&Shape> {
        self.shapes.get(length)?.as_deref()
    }

    /// The two nodes below the top, which together with the length are the whole state.
    #[inline]
    pub fn root(&self, position: &Position, length: usize) -> u64 {
        match (length, self.shape(length)) {
            (0, _) | (_, None) => 0,
            (1, _) => u64::from(position.cell(1)),
            (_, Some(shape)) => {
                let (left, right) = shape.children[1];
                u64::from(position.cell(left as usize)) | u64::from(position.cell(right as usize)) << 32
            }
        }
    }

    /// Writes the words of the state of `length` words with this root; drops what `visible` held.
    pub fn unfold(&self, length: usize, root: u64, pair: impl Fn(u32) -> (u32, u32), visible: &mut Vec<u32>) {
        let mut nodes = vec![0; 2 * length.max(1)];
        if length == 1 {
            nodes[1] = root as u32;
        }
        if let Some(shape) = self.shape(length) {
            for node in 1..length {
                let (left, right) = shape.children[node];
                let pair = if node == 1 { (root as u32, (root >> 32) as u32) } else { pair(nodes[node]) };
                (nodes[left as usize], nodes[right as usize]) = pair;
            }
        }
        visible.clear();
        visible.extend_from_slice(&nodes[length..2 * length]);
    }
}

/// The tree above the words of the states of one length n: each node is split into halves that are as
/// long, give or take one, so that both have about as many different values.
///
/// Inner nodes are the cells 1..n, level by level, so that children come after their parents; the words
/// are the cells n..2n.
#[derive(Debug)]
struct Shape {
    /// Of each inner node; of cell 0, which is none, nothing.
    children: Box<[(u32, u32)]>,
    /// Of each cell but the top.
    parents: Box<[u32]>,
}

impl Shape {
    fn new(length: usize) -> Self {
        let words = Self::order(length);
        let mut children = vec![(0, 0); length];
        let mut parents = vec![0; 2 * length];
        let mut next = 2;
        let mut spans = std::collections::VecDeque::from([(1, 0, length)]);
        while let Some((node, first, end)) = spans.pop_front() {
            if end - first < 2 {
                continue;
            }
            let middle = first + (end - first).div_ceil(2);
            let mut child = |first: usize, end: usize| {
                let is_word = end - first == 1;
                let cell = if is_word { length + words[first] } else { next };
                next += usize::from(!is_word);
                parents[cell] = node as u32;
                spans.push_back((cell, first, end));
                cell as u32
            };
            children[node] = (child(first, middle), child(middle, end));
        }
        Self { children: children.into(), parents: parents.into() }
    }

    /// Computes an inner node, and notes that its parent is to be computed if it changed.
    #[inline]
    fn compute(
        &self,
        position: &mut Position,
        node: usize,
        dirty: &mut [u64],
        intern: &mut impl FnMut(u32, u32) -> u32,
    ) {
        let (left, right) = self.children[node];
        let identity = intern(position.cell(left as usize), position.cell(right as usize));
        if identity != position.cell(node) {
            position.set_memo(node, identity);
            let parent = self.parents[node] as usize;
            dirty[parent / 64] |= 1 << (parent % 64);
        }
    }

    /// Computes every inner node.
    #[cold]
    fn compute_all(&self, position: &mut Position, mut intern: impl FnMut(u32, u32) -> u32) {
        for node in (2..self.children.len()).rev() {
            let (left, right) = self.children[node];
            let identity = intern(position.cell(left as usize), position.cell(right as usize));
            position.set_memo_unlogged(node, identity);
        }
    }

    /// The order of the words as leaves: first and third quarter, then second and fourth.
    fn order(length: usize) -> Vec<usize> {
        let quarter = |i: usize| i * length / 4;
        [0, 2, 1, 3].into_iter().flat_map(|i| quarter(i)..quarter(i + 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tree_of_a_length_that_is_met_is_made() {
        let mut folder = Folder::default();
        folder.learn(20_000);
        folder.learn(7);
        folder.learn(20_000);
        let known: Vec<usize> = (0..folder.shapes.len()).filter(|&length| folder.shape(length).is_some()).collect();
        assert_eq!(known, [7, 20_000]);
    }
}
