//! Shapes: which processes there are, in order, and therefore where everything stands in the state.
//!
//! Processes come and go at the end only, so shapes form a tree: a child has one process more. Each shape is
//! made once, and a state's shape is found again by comparing the types of its processes.

use crate::code::{Code, NONE};
use crate::layout::COUNT_MASK;

/// Where a process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    /// Its first word.
    pub base: u32,
    /// Its type.
    pub process: u32,
    /// How many channels are older than its own.
    pub channels_before: u32,
}

/// Where a channel stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlacedChannel {
    pub base: u32,
    pub layout: u32,
}

/// A sequence of process types, and the offsets that follow from it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shape {
    /// The shape without the youngest process.
    pub parent: u32,
    /// Shapes with one process more, by its type.
    children: Vec<(u32, u32)>,
    pub processes: Vec<Placed>,
    pub channels: Vec<PlacedChannel>,
    /// Words of a state, hidden ones included.
    pub words: u32,
}

impl Shape {
    /// The shape without processes.
    pub(crate) fn root(code: &Code) -> Self {
        Self {
            parent: NONE,
            children: Vec::new(),
            processes: Vec::new(),
            channels: code.global_channels.iter().map(|&(base, layout)| PlacedChannel { base, layout }).collect(),
            words: code.global_words + code.hidden_words,
        }
    }

    /// This shape with one process more.
    fn with(&self, code: &Code, process: u32) -> Self {
        let base = self.words - code.hidden_words;
        let kind = &code.processes[process as usize];
        let mut shape = Self { children: Vec::new(), ..self.clone() };
        shape.processes.push(Placed { base, process, channels_before: self.channels.len() as u32 });
        shape.channels.extend(kind.channels.iter().map(|&(word, layout)| PlacedChannel { base: base + word, layout }));
        shape.words += kind.words;
        shape
    }

    /// The type of the process with a number that starts at a word of a state.
    fn process_at(code: &Code, state: &[u32], pid: usize, base: u32) -> Option<u32> {
        if !code.dynamic {
            return code.initial.get(pid).map(|instance| instance.0);
        }
        let rank = *state.get(base as usize)? & code.rank_mask;
        code.ranks.get(rank as usize).copied()
    }

    /// The shape of a state, made from nothing; `None` for words that are no state.
    pub(crate) fn read(code: &Code, state: &[u32]) -> Option<Self> {
        let mut shape = Self::root(code);
        for pid in 0..(state.first()? & COUNT_MASK) as usize {
            let base = shape.words - code.hidden_words;
            shape = shape.with(code, Self::process_at(code, state, pid, base)?);
        }
        (shape.words as usize == state.len()).then_some(shape)
    }

    /// Whether a state has this shape.
    #[inline]
    fn fits(&self, code: &Code, state: &[u32]) -> bool {
        self.words as usize == state.len()
            && self.processes.len() == (state[0] & COUNT_MASK) as usize
            && (!code.dynamic
                || self.processes.iter().all(|placed| {
                    state[placed.base as usize] & code.rank_mask == code.processes[placed.process as usize].rank
                }))
    }
}

/// All shapes met so far.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    all: Vec<Shape>,
    /// The shape that was right the last time, for each number of processes.
    likely: Vec<u32>,
}

impl Shapes {
    pub(crate) fn new(code: &Code) -> Self {
        Self { all: vec![Shape::root(code)], likely: vec![0; 256] }
    }

    #[inline(always)]
    pub(crate) fn get(&self, shape: u32) -> &Shape {
        &self.all[shape as usize]
    }

    /// Words of the states of a shape, if there is such a shape.
    #[inline(always)]
    pub(crate) fn words(&self, shape: u32) -> Option<u32> {
        self.all.get(shape as usize).map(|shape| shape.words)
    }

    /// The shape of a state; `None` for words that are no state.
    #[inline]
    pub(crate) fn find(&mut self, code: &Code, state: &[u32]) -> Option<u32> {
        let count = state.first()? & COUNT_MASK;
        let likely = self.likely[count as usize];
        if self.get(likely).fits(code, state) {
            return Some(likely);
        }
        let mut shape = 0;
        for pid in 0..count as usize {
            let base = self.get(shape).words - code.hidden_words;
            shape = self.child(code, shape, Shape::process_at(code, state, pid, base)?);
        }
        self.likely[count as usize] = shape;
        (self.get(shape).words as usize == state.len()).then_some(shape)
    }

    /// The shape with one process more.
    pub(crate) fn child(&mut self, code: &Code, shape: u32, process: u32) -> u32 {
        let parent = self.get(shape);
        if let Some(&(_, child)) = parent.children.iter().find(|(kind, _)| *kind == process) {
            return child;
        }
        let child = Shape { parent: shape, ..parent.with(code, process) };
        let id = self.all.len() as u32;
        self.all.push(child);
        self.all[shape as usize].children.push((process, id));
        id
    }
}
