//! How fast are search and visited set, apart from the model? Measured on a product of small automata.
//!
//! ```text
//! cargo run --release -p fabius-search --example throughput -- [COMPONENTS WORDS STATES [STORE]]
//! ```
//!
//! The model has COMPONENTS automata, each a ring of STATES local states with a chord, spread over WORDS
//! words; STORE is `tree` (the default), `fingerprint`, `bitstate` or `breadth` (breadth-first, tree).

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a measurement reads the clock and prints")]

use fabius_search::{
    BitstateStore, Ending, FingerprintStore, Marks, Model, Next, Outcome, Quiet, Settings, Store, TreeStore,
    breadth_first, depth_first,
};
use std::time::Instant;

/// Components that move independently of each other.
struct Product {
    components: usize,
    words: usize,
    states: u32,
    /// Words of each local state, and the local state by its first word.
    local: Vec<Vec<u32>>,
}

impl Product {
    fn new(components: usize, words: usize, states: u32) -> Self {
        let word = |state: u32, i: usize| match i {
            0 => state,
            i => state.wrapping_mul(0x9E37_79B9).rotate_left(i as u32) % (2 + i as u32 % 3),
        };
        let local = (0..states).map(|state| (0..words).map(|i| word(state, i)).collect()).collect();
        Self { components, words, states, local }
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
        Next::Successor { label: Some((component as u8, next)), transient: false, fault: None, marks: Marks::NONE }
    }
}

/// Nanoseconds of the model alone per successor.
fn model_alone(model: &mut Product) -> f64 {
    let (mut state, mut successor) = (Vec::new(), Vec::new());
    let _ = model.initial(&mut state);
    let start = Instant::now();
    let mut steps = 0_u32;
    while steps < 10_000_000 {
        let mut cursor = model.begin(&state);
        while let Next::Successor { .. } = model.next(&state, &mut cursor, &mut successor) {
            steps += 1;
        }
        std::mem::swap(&mut state, &mut successor);
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(steps)
}

fn report(name: &str, model_ns: f64, run: impl FnOnce() -> Outcome<(u8, u32), ()>) {
    let start = Instant::now();
    let outcome = run();
    let statistics = outcome.statistics;
    let ns = start.elapsed().as_secs_f64() * 1e9 / statistics.transitions() as f64;
    println!(
        "{name}: {} states, {} transitions, depth {}, {ns:.1} ns per transition ({:.1} without the model), \
         {:.1} bytes per state in all",
        statistics.states,
        statistics.transitions(),
        statistics.depth,
        ns - model_ns,
        statistics.memory_bytes as f64 / statistics.states as f64,
    );
}

fn search<S: Store>(model: &mut Product, store: &mut S) -> Outcome<(u8, u32), ()> {
    let outcome = depth_first(model, store, &mut Quiet, &Settings::default());
    println!("  store: {:.2} bytes per state", store.memory_bytes() as f64 / outcome.statistics.states as f64);
    outcome
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| arguments.get(i).and_then(|text| text.parse().ok()).unwrap_or(default);
    let mut model = Product::new(number(0, 8), number(1, 2), number(2, 7) as u32);
    let model_ns = model_alone(&mut model);
    let store = arguments.get(3).map_or("tree", String::as_str);
    report(store, model_ns, || match store {
        "fingerprint" => search(&mut model, &mut FingerprintStore::default()),
        "bitstate" => search(&mut model, &mut BitstateStore::new(64 << 20, 3, 0)),
        "breadth" => breadth_first(&mut model, &mut TreeStore::new(), &mut Quiet, &Settings::default()),
        _ => search(&mut model, &mut TreeStore::new()),
    });
}
