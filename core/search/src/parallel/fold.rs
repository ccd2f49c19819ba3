//! States as binary trees over their words, and what is left to compute when few words change.

use crate::position::Position;

/// Brings the inner nodes of a state's tree up to date; knows the trees of all lengths met.
#[derive(Debug, Default)]
pub struct Folder {
    /// Of the states of each length.
    shapes: Vec<Shape>,
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
        if !position.mark_stale_parents(&self.shapes[length].parents, &mut self.dirty) {
            self.refresh_all(position, intern);
            return;
        }
        for block in (0..blocks).rev() {
            while self.dirty[block] != 0 {
                let bit = self.dirty[block].ilog2() as usize;
                self.dirty[block] &= !(1 << bit);
                let node = block * 64 + bit;
                if node > 1 {
                    self.refresh_node(position, length, node, &mut intern);
                }
            }
        }
    }

    /// Makes sure that the tree of this length is known.
    #[inline]
    pub fn learn(&mut self, length: usize) {
        if self.shapes.len() <= length {
            self.shapes.extend((self.shapes.len()..=length).map(Shape::new));
            self.dirty.resize(self.dirty.len().max(length.div_ceil(64)), 0);
        }
    }

    #[inline]
    fn refresh_node(
        &mut self,
        position: &mut Position,
        length: usize,
        node: usize,
        intern: &mut impl FnMut(u32, u32) -> u32,
    ) {
        let shape = &self.shapes[length];
        let (left, right) = shape.children[node];
        let identity = intern(position.cell(left as usize), position.cell(right as usize));
        if identity != position.cell(node) {
            position.set_memo(node, identity);
            let parent = shape.parents[node] as usize;
            self.dirty[parent / 64] |= 1 << (parent % 64);
        }
    }

    /// Computes every inner node.
    #[cold]
    fn refresh_all(&mut self, position: &mut Position, mut intern: impl FnMut(u32, u32) -> u32) {
        self.dirty.fill(0);
        let length = position.visible().len();
        for node in (2..length).rev() {
            let (left, right) = self.shapes[length].children[node];
            let identity = intern(position.cell(left as usize), position.cell(right as usize));
            position.set_memo_unlogged(node, identity);
        }
    }

    /// The two nodes below the top, which together with the length are the whole state.
    #[inline]
    pub fn root(&self, position: &Position, length: usize) -> u64 {
        match length {
            0 => 0,
            1 => u64::from(position.cell(1)),
            _ => {
                let (left, right) = self.shapes[length].children[1];
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
        if let Some(shape) = self.shapes.get(length) {
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

    /// The order of the words as leaves: first and third quarter, then second and fourth.
    fn order(length: usize) -> Vec<usize> {
        let quarter = |i: usize| i * length / 4;
        [0, 2, 1, 3].into_iter().flat_map(|i| quarter(i)..quarter(i + 1)).collect()
    }
}
