//! Atomic sequences that go on for ever, by definition: cycles of states in each of which somebody holds control.

use crate::graph::Graph;
use crate::plain::Plain;
use crate::{load, seeds};
use fabius_base::components::components;
use fabius_model::SearchedMachine;
use fabius_program::facts::atomic_sequences_terminate;
use fabius_program::{Program, Watch};
use fabius_search::cycle::{Order, TransientCycles, dfs_fifo};
use fabius_search::{Quiet, Settings, TreeStore};
use fabius_testkit::generate::Dice;
use std::sync::Arc;

const STATES_MAX: usize = 2_000;

/// Makes texts with loops inside atomic sequences.
struct Maker(Dice);

impl Maker {
    fn model(&mut self) -> String {
        let channels = format!("chan q = [2] of {{ byte }};\nchan r = [{}] of {{ byte }};", self.0.below(2));
        let (start, body) = (self.0.pick(&["i = 3", "i = 250; j = 2", "n = 2", "skip"]).to_owned(), self.looping(2));
        let others = ["r ? n", "skip", "do :: r ? n -> r ! 1 od", "do :: r ? n; i++ :: i < 3 -> r ? n od"];
        let other = self.0.pick(&others).to_owned();
        let end = self.0.pick(&["", "r ! 3;", "n++;"]);
        format!(
            "byte n; byte m;\n{channels}\nactive proctype P() {{ byte i; short j;\nif :: {start} :: skip :: q ! 1; q ! 2 fi;\n\
             atomic {{ {body}; {end} }} }}\nactive proctype Q() {{ byte i; atomic {{ {other} }} }}\n"
        )
    }

    fn looping(&mut self, depth: u32) -> String {
        if self.0.one_in(2) {
            let (loops, inner) = (["i", "j", "n"], self.statement(depth));
            let by = self.0.pick(&loops).to_owned();
            let ways = [
                format!("do :: {by} < 3 -> {inner}; {by}++ :: else -> break od; skip"),
                format!("do :: {by} > 0 -> {by}--; {inner} :: {by} <= 0 -> break od; skip"),
                format!(
                    "{by} = 0; do :: {by} == 3 -> break :: {by} <= 2 -> {by}++ :: {by} < 3 -> {inner}; {by} = {by} + 1 od; skip"
                ),
                format!("do :: {by} >= 3 -> break :: else -> {inner}; {by}++ od; skip"),
                format!("do :: !({by} > 0 && n < 9) -> break :: else -> {by}--; {inner} od; skip"),
                format!("do :: {by} == 3 || q ? [1] -> break :: q ? m -> {inner} :: else -> {by}++ od; skip"),
                format!("do :: q ? m -> {inner} :: empty(q) -> break od; skip"),
            ];
            return ways[self.0.below(ways.len())].clone();
        }
        let options: String = (0..1 + self.0.below(3))
            .map(|_| {
                let (guard, first, second) = (self.guard(), self.statement(depth), self.statement(depth));
                format!(" :: {guard} -> {first}; {second}\n")
            })
            .collect();
        let otherwise = if self.0.one_in(3) { self.statement(depth) } else { "break".to_owned() };
        format!("do\n{options} :: else -> {otherwise} od; skip")
    }

    fn guard(&mut self) -> String {
        let guards = [
            "i < 3",
            "i <= 200",
            "3 > i",
            "i > 0",
            "i >= 2",
            "j < 2",
            "j > -3",
            "j != 3",
            "i == 2",
            "nempty(q)",
            "true",
            "i < 3 && j < 2",
            "n < 4",
            "n < 2 + 1",
            "i < n",
            "i < 255",
            "j == 1",
        ];
        self.0.pick(&guards).to_owned()
    }

    fn statement(&mut self, depth: u32) -> String {
        if 0 < depth && self.0.one_in(6) {
            return self.looping(depth - 1);
        }
        let statements = [
            "i++",
            "i++",
            "i = 1 + i",
            "i--",
            "j++",
            "j--",
            "j = j - 2",
            "i = i + 2",
            "j = 0",
            "i = j",
            "q ? i",
            "q ? m",
            "q ? <m>",
            "q ! 1",
            "n++",
            "n = 0",
            "skip",
            "skip",
            "r ! 1",
            "i < 2",
            "d_step { j++; i = 0 }",
            "i = i + 100",
        ];
        self.0.pick(&statements).to_owned()
    }
}

/// Whether some cycle has only states in which somebody holds control; `None` if there are too many states.
fn goes_on_for_ever(program: &Arc<Program>) -> Option<bool> {
    let mut plain = Plain::new(Arc::clone(program), Watch::NOTHING).ok()?;
    let graph = Graph::of(&mut plain, STATES_MAX)?;
    let held = |at: usize| plain.0.view(&graph.states[at]).is_some_and(|view| view.holder().is_some());
    let following = |at: u32| {
        let ways = graph.ways[at as usize].iter().filter(|_| held(at as usize)).map(|way| way.to);
        ways.filter(|to| held(*to)).map(|to| to as u32).collect::<Vec<u32>>().into_iter()
    };
    let parts = components(graph.states.len(), following);
    Some((0..graph.states.len() as u32).any(|at| following(at).any(|to| parts.joins(at, to))))
}

/// Whether a search for cycles of transient states finds one.
fn is_found(program: &Arc<Program>) -> bool {
    let machine = SearchedMachine::infinite(Arc::clone(program), Watch::NOTHING).expect("a machine");
    let mut store = TreeStore::default();
    let settings = Settings::default();
    let outcome = dfs_fifo(&mut TransientCycles::new(machine), &mut store, &mut Quiet, &settings, Order::Strict);
    outcome.first().is_some()
}

#[test]
fn control_that_goes_round_among_processes_is_known() {
    let text = "chan c = [0] of { byte }; chan d = [0] of { byte };
        active proctype A() { d ! 0; do :: atomic { c ? _; d ! 1 } od }
        active proctype B() { do :: atomic { d ? _; c ! 1 } od }";
    let program = load(text, 0).expect("a model");
    assert_eq!(goes_on_for_ever(&program), Some(true));
    assert!(!atomic_sequences_terminate(&program));
    assert!(is_found(&program));
}

#[test]
fn an_atomic_sequence_that_goes_on_for_ever_is_known() {
    let (mut endless, mut ends, mut not_found) = (0, 0, 0);
    for seed in seeds(3000) {
        let text = Maker(Dice::new(seed)).model();
        let program = load(&text, seed).unwrap_or_else(|| panic!("{text}"));
        let Some(for_ever) = goes_on_for_ever(&program) else { continue };
        let told = !atomic_sequences_terminate(&program);
        assert!(told || !for_ever, "seed {seed}: it goes on for ever\n{text}");
        assert_eq!(is_found(&program), for_ever, "seed {seed}\n{text}");
        endless += u64::from(for_ever);
        ends += u64::from(!told);
        not_found += u64::from(told && !for_ever);
    }
    println!("{endless} go on for ever; of {ends} it is known that they end, of {not_found} that was not found out");
    assert!(300 < endless && 300 < ends, "{endless} {ends} {not_found}");
}
