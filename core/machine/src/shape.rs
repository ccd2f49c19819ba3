//! Shapes: which processes there are, in order, and therefore where everything stands in the state.
//!
//! Processes come and go at the end only, so shapes form a tree: a child has one process more. Each shape is
//! made once, and a state's shape is found again by comparing the types of its processes.

use crate::code::{Code, NONE};
use crate::layout::COUNT_MASK;
use std::cell::{Cell, OnceCell, RefCell};

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
    /// Its number among all.
    pub id: u32,
    /// The shape without the youngest process.
    pub parent: u32,
    /// Shapes with one process more, by its type.
    children: RefCell<Vec<(u32, u32)>>,
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
            id: 0,
            children: RefCell::default(),
            processes: Vec::new(),
            channels: code.global_channels.iter().map(|&(base, layout)| PlacedChannel { base, layout }).collect(),
            words: code.global_words + code.hidden_words,
        }
    }

    /// This shape with one process more.
    fn with(&self, code: &Code, process: u32) -> Self {
        let base = self.words - code.hidden_words;
        let kind = &code.processes[process as usize];
        let mut shape = Self { children: RefCell::default(), ..self.clone() };
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

/// Room for shapes.
type Chunk = OnceCell<Box<[OnceCell<Shape>]>>;

/// All shapes met so far. Shapes are only added, so references to them stay good.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    /// Chunk `k` holds the shapes from `2^k - 1` on.
    chunks: Box<[Chunk; 32]>,
    count: Cell<u32>,
    /// The shape that was right the last time, for each number of processes.
    likely: Box<[Cell<u32>; 256]>,
}

impl Shapes {
    pub(crate) fn new(code: &Code) -> Self {
        let shapes = Self {
            chunks: Box::new([const { OnceCell::new() }; 32]),
            count: Cell::new(0),
            likely: Box::new([const { Cell::new(0) }; 256]),
        };
        shapes.add(|id| Shape { id, ..Shape::root(code) });
        shapes
    }

    /// The shape with a number, if there is one.
    #[inline(always)]
    pub(crate) fn get(&self, id: u32) -> Option<&Shape> {
        let at = id.wrapping_add(1).max(1);
        let chunk = at.ilog2();
        self.chunks[chunk as usize].get()?.get((at - (1 << chunk)) as usize)?.get()
    }

    fn add(&self, make: impl FnOnce(u32) -> Shape) -> &Shape {
        let id = self.count.get();
        let chunk = (id + 1).ilog2();
        let cells = self.chunks[chunk as usize].get_or_init(|| (0..1usize << chunk).map(|_| OnceCell::new()).collect());
        self.count.set(id + 1);
        cells[(id + 1 - (1 << chunk)) as usize].get_or_init(|| make(id))
    }

    /// The shape of a state; `None` for words that are no state.
    #[inline]
    pub(crate) fn find(&self, code: &Code, state: &[u32]) -> Option<&Shape> {
        let count = state.first()? & COUNT_MASK;
        let likely = self.get(self.likely[count as usize].get())?;
        if likely.fits(code, state) { Some(likely) } else { self.find_anew(code, state, count) }
    }

    /// The shape of a state for which somebody has a cursor, and which has the number in it, most likely. The cursor may come from another
    /// clone of the machine, which numbers shapes in the order in which it met them.
    #[inline]
    pub(crate) fn of_cursor(&self, code: &Code, number: &mut u32, state: &[u32]) -> Option<&Shape> {
        match self.get(*number) {
            Some(shape) if shape.fits(code, state) => Some(shape),
            _ => {
                let shape = self.find(code, state)?;
                *number = shape.id;
                Some(shape)
            }
        }
    }

    #[cold]
    fn find_anew(&self, code: &Code, state: &[u32], count: u32) -> Option<&Shape> {
        let mut shape = self.get(0)?;
        for pid in 0..count as usize {
            let base = shape.words - code.hidden_words;
            shape = self.child(code, shape, Shape::process_at(code, state, pid, base)?);
        }
        self.likely[count as usize].set(shape.id);
        (shape.words as usize == state.len()).then_some(shape)
    }

    /// The shape with one process more.
    pub(crate) fn child(&self, code: &Code, shape: &Shape, process: u32) -> &Shape {
        let known = shape.children.borrow().iter().find(|(kind, _)| *kind == process).map(|(_, child)| *child);
        if let Some(child) = known.and_then(|child| self.get(child)) {
            return child;
        }
        let child = self.add(|id| Shape { id, parent: shape.id, ..shape.with(code, process) });
        shape.children.borrow_mut().push((process, child.id));
        child
    }
}
