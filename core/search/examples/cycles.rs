//! What does it cost to look for cycles? Searches of a product of small automata.
//!
//! ```text
//! cargo run --release -p fabius-search --example cycles -- [COMPONENTS WORDS STATES [SHAPE [SEARCH [ROUNDS]]]]
//! ```
//!
//! The model has COMPONENTS automata of STATES local states each, spread over WORDS words. SHAPE is `ring` (each
//! makes progress when it comes round) or `chain` (each comes to an end). Searches whose name contains SEARCH
//! run (all, if it is `-`). The best of ROUNDS runs counts.

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a measurement reads the clock and prints")]

use fabius_search::cycle::{CycleQuestion, NoReduction, NonProgress, Order, components, dfs_fifo, nested_dfs};
use fabius_search::{
    Ending, Fairness, Goal, Marks, Model, Next, ProcessSet, Processes, Quiet, Settings, Statistics, TreeStore,
    depth_first,
};
use std::time::Instant;

/// Components that move independently of each other.
struct Product {
    components: usize,
    words: usize,
    states: u32,
    closes: bool,
    /// Words of each local state, and the local state by its first word.
    local: Vec<Vec<u32>>,
}

impl Product {
    fn new(components: usize, words: usize, states: u32, closes: bool) -> Self {
        let word = |state: u32, i: usize| match i {
            0 => state,
            i => state.wrapping_mul(0x9E37_79B9).rotate_left(i as u32) % (2 + i as u32 % 3),
        };
        let local = (0..states).map(|state| (0..words).map(|i| word(state, i)).collect()).collect();
        Self { components, words, states, closes, local }
    }
}

impl Model for Product {
    type Label = (u8, u32);
    type Fault = ();
    type Cursor = (u16, u16);

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), ()> {
        *state = self.local[0].repeat(self.components);
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> (u16, u16) {
        (0, 0)
    }

    fn next(&mut self, state: &[u32], cursor: &mut (u16, u16), successor: &mut Vec<u32>) -> Next<(u8, u32), ()> {
        let ends = |component: usize| !self.closes && state[component * self.words] + 1 == self.states;
        while (cursor.0 as usize) < self.components && ends(cursor.0 as usize) {
            cursor.0 += 1;
        }
        let component = cursor.0 as usize;
        if component == self.components {
            return Next::Done(Ending::Moves);
        }
        cursor.0 += 1;
        let first = component * self.words;
        let next = (state[first] + 1) % self.states;
        successor.clear();
        successor.extend_from_slice(state);
        successor[first..first + self.words].copy_from_slice(&self.local[next as usize]);
        let marks = if next == 0 { Marks::PROGRESS } else { Marks::NONE };
        Next::Successor { label: Some((component as u8, next)), transient: false, fault: None, marks }
    }
}

impl Processes for Product {
    fn process_count(&self, _: &[u32]) -> usize {
        self.components
    }

    fn movers(&self, label: &(u8, u32)) -> [Option<u8>; 2] {
        [Some(label.0), None]
    }

    fn enabled(&mut self, _: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::first(self.components);
    }
}

/// What to run, and how the first one did.
struct Runs {
    wanted: String,
    rounds: usize,
    base: Option<f64>,
}

impl Runs {
    /// Prints the time of the fastest run.
    fn time(&mut self, name: &str, mut run: impl FnMut() -> Statistics) {
        if self.wanted != "-" && !name.contains(&self.wanted) {
            return;
        }
        let mut best = f64::INFINITY;
        let mut statistics = Statistics::default();
        for _ in 0..self.rounds {
            let start = Instant::now();
            statistics = run();
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{name:<38} {best:>7.3} s {:>5.2}  {:>9} states {:>10} arrivals {:>6.1} ns each {:>5.1} bytes per state",
            best / *self.base.get_or_insert(best),
            statistics.states,
            statistics.transitions(),
            best * 1e9 / statistics.transitions() as f64,
            statistics.memory_bytes as f64 / statistics.states as f64,
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| arguments.get(i).and_then(|text| text.parse().ok()).unwrap_or(default);
    let closes = arguments.get(3).is_none_or(|shape| shape == "ring");
    let model = || Product::new(number(0, 7), number(1, 2), number(2, 7) as u32, closes);
    let wanted = arguments.get(4).map_or("-", String::as_str).to_string();
    let mut runs = Runs { wanted, rounds: number(5, 3), base: None };
    let settings = Settings::default();
    runs.time("depth-first, for safety", || {
        depth_first(&mut model(), &mut TreeStore::new(), &mut Quiet, &settings).statistics
    });
    for (name, order) in [("DFS-FIFO, strict", Order::Strict), ("DFS-FIFO, newest first", Order::Newest)] {
        runs.time(name, || {
            let outcome = dfs_fifo(&mut model(), &mut TreeStore::default(), &mut Quiet, &settings, order);
            assert!(outcome.proves_absence());
            outcome.statistics
        });
    }
    runs.time("nested depth-first, np_", || {
        let mut model = NonProgress::new(model());
        let outcome = nested_dfs(&mut model, &mut TreeStore::default(), &mut Quiet, &settings, NoReduction);
        assert!(outcome.proves_absence());
        outcome.statistics
    });
    runs.time("nested depth-first, nothing accepted", || {
        nested_dfs(&mut model(), &mut TreeStore::default(), &mut Quiet, &settings, NoReduction).statistics
    });
    for goal in [Goal::Livelock, Goal::AcceptanceCycle] {
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            runs.time(&format!("components, {goal:?}, {fairness:?}"), || {
                let (mut model, mut store) = (model(), TreeStore::default());
                components(&mut model, &mut store, &mut Quiet, &settings, NoReduction, CycleQuestion { goal, fairness })
                    .statistics
            });
        }
    }
}
