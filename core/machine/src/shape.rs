//! Shapes: which processes there are, in order, and therefore where everything stands in the state.
//!
//! Processes come and go at the end only, so shapes form a tree: a child has one process more. Each shape is
//! made once for a machine and all its clones, so that a number means the same shape to each of them, and a state's shape is
//! found again by comparing the types of its processes.

use crate::code::{Code, NONE};
use crate::layout::COUNT_MASK;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where a process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    /// Its first word.
    pub base: u32,
    /// Its type.
    pub process: u32,
    /// How many channels are older than its own.
    pub channels_before: u32,
    /// The first location of its type, and the bits that hold the location: as in [`crate::code::ProcessCode`].
    pub locations: u32,
    pub location_mask: u32,
}

impl Placed {
    /// A process of a type, at a word.
    pub(crate) fn new(code: &Code, process: u32, base: u32, channels_before: u32) -> Self {
        let kind = &code.processes[process as usize];
        Self { base, process, channels_before, locations: kind.locations, location_mask: kind.location_mask }
    }
}

/// Where a channel stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlacedChannel {
    pub base: u32,
    pub layout: u32,
}

/// A sequence of process types, and the offsets that follow from it.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Its number among all.
    pub id: u32,
    /// The shape without the youngest process.
    pub parent: u32,
    /// The newest of the shapes with one process more, or [`NONE`].
    newest_child: AtomicU32,
    /// The one made before it with the same parent, or [`NONE`].
    older_sibling: u32,
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
            newest_child: AtomicU32::new(NONE),
            older_sibling: NONE,
            processes: Vec::new(),
            channels: code.global_channels.iter().map(|&(base, layout)| PlacedChannel { base, layout }).collect(),
            words: code.global_words + code.hidden_words,
        }
    }

    /// This shape with one process more.
    fn with(&self, code: &Code, process: u32, id: u32) -> Self {
        let base = self.words - code.hidden_words;
        let kind = &code.processes[process as usize];
        let (mut processes, mut channels) = (self.processes.clone(), self.channels.clone());
        processes.push(Placed::new(code, process, base, self.channels.len() as u32));
        channels.extend(kind.channels.iter().map(|&(word, layout)| PlacedChannel { base: base + word, layout }));
        Self {
            id,
            parent: self.id,
            newest_child: AtomicU32::new(NONE),
            older_sibling: self.newest_child.load(Ordering::Relaxed),
            processes,
            channels,
            words: self.words + kind.words,
        }
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
type Chunk = OnceLock<Box<[OnceLock<Shape>]>>;

/// All shapes met so far. Shapes are only added, so references to them stay good. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    shared: Arc<Shared>,
    /// The shape that was right the last time, for each number of processes.
    likely: Box<[Cell<u32>; 256]>,
}

/// This many shapes are found without looking for their chunk: few in tests, which have assertions, so that others are met there.
const AT_HAND: usize = if cfg!(debug_assertions) { 4 } else { 256 };

/// What a machine and its clones share.
#[derive(Debug)]
struct Shared {
    /// The first shapes, which are all that most models have.
    at_hand: [OnceLock<Shape>; AT_HAND],
    /// Chunk `k` holds the shapes from `2^k - 1` on, but for those at hand.
    chunks: [Chunk; 32],
    /// How many there are; whoever adds one holds it.
    count: Mutex<u32>,
}

impl Shapes {
    pub(crate) fn new(code: &Code) -> Self {
        let at_hand = [const { OnceLock::new() }; AT_HAND];
        let shared = Shared { at_hand, chunks: [const { OnceLock::new() }; 32], count: Mutex::new(1) };
        shared.put(0, Shape::root(code));
        Self { shared: Arc::new(shared), likely: Box::new([const { Cell::new(0) }; 256]) }
    }

    /// The shape with a number, if there is one.
    #[inline(always)]
    pub(crate) fn get(&self, id: u32) -> Option<&Shape> {
        self.shared.get(id)
    }

    /// The shape of a state; `None` for words that are no state.
    #[inline]
    pub(crate) fn find(&self, code: &Code, state: &[u32]) -> Option<&Shape> {
        let count = state.first()? & COUNT_MASK;
        let likely = self.get(self.likely[count as usize].get())?;
        if likely.fits(code, state) { Some(likely) } else { self.find_anew(code, state, count) }
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
    #[inline]
    pub(crate) fn child(&self, code: &Code, shape: &Shape, process: u32) -> &Shape {
        match self.shared.known_child(shape, process) {
            Some(child) => child,
            None => self.shared.add_child(code, shape, process),
        }
    }
}

impl Shared {
    #[inline(always)]
    fn get(&self, id: u32) -> Option<&Shape> {
        match self.at_hand.get(id as usize) {
            Some(shape) => shape.get(),
            None => self.get_from_chunks(id),
        }
    }

    fn get_from_chunks(&self, id: u32) -> Option<&Shape> {
        let at = id.wrapping_add(1).max(1);
        let chunk = at.ilog2();
        self.chunks[chunk as usize].get()?.get((at - (1 << chunk)) as usize)?.get()
    }

    fn put(&self, id: u32, shape: Shape) -> &Shape {
        if let Some(place) = self.at_hand.get(id as usize) {
            return place.get_or_init(|| shape);
        }
        let chunk = (id + 1).ilog2();
        let cells = self.chunks[chunk as usize].get_or_init(|| (0..1usize << chunk).map(|_| OnceLock::new()).collect());
        cells[(id + 1 - (1 << chunk)) as usize].get_or_init(|| shape)
    }

    /// The shape with one process more, if it was made already.
    #[inline]
    fn known_child(&self, shape: &Shape, process: u32) -> Option<&Shape> {
        let mut next = shape.newest_child.load(Ordering::Acquire);
        while next != NONE
            && let Some(child) = self.get(next)
        {
            if child.processes.last().is_some_and(|youngest| youngest.process == process) {
                return Some(child);
            }
            next = child.older_sibling;
        }
        None
    }

    #[cold]
    fn add_child(&self, code: &Code, shape: &Shape, process: u32) -> &Shape {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = self.known_child(shape, process) {
            return child;
        }
        let child = self.put(*count, shape.with(code, process, *count));
        *count += 1;
        shape.newest_child.store(child.id, Ordering::Release);
        child
    }
}
