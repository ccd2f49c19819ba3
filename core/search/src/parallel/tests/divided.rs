//! Traversals whose stacks are divided at random, one part after the other visited by one thread.

use super::reachability::{is_invalid_end, wrongs};
use super::*;
use crate::TreeStore;
use crate::dfs_stack::Lookup;
use crate::outcome::Halt;
use crate::parallel::arena::Portion;
use crate::parallel::store::{Access, Key, PlainKeys, SharedStore};
use crate::parallel::trace::{Trace, Traces};
use crate::parallel::traversals::{HowReached, Part, Thread, Traversal, Traversals};
use crate::position::Position;
use crate::store::{Class, Store};

/// A thread that others ask for work at random, and that does all of it itself.
struct Dividing<'a> {
    toy: &'a Toy,
    access: Access<'a, PlainKeys>,
    traces: &'a Traces,
    portion: Portion,
    statistics: Statistics,
    random: Random,
    parts: Vec<Part<Toy, Key>>,
    states: Vec<(Vec<u32>, HowReached)>,
    found: BTreeSet<(bool, u32)>,
    parts_given: usize,
}

impl Lookup for Dividing<'_> {
    type Probe = Key;

    fn probe(&mut self, position: &mut Position, class: Class, marks: Marks) -> Key {
        self.access.probe(position, class, marks)
    }
}

impl Dividing<'_> {
    /// The node that a trace leads to, and how many labels lead there.
    fn end_of(&self, trace: Trace) -> (usize, u64) {
        let labels = self.traces.execute(trace, &mut self.toy.clone());
        (walk(self.toy, 0, &labels).0, labels.len() as u64)
    }
}

impl Thread<Toy> for Dividing<'_> {
    type Halt = Halt;

    fn can_sleep(&self) -> bool {
        false
    }

    fn insert(&mut self, probe: Key) -> bool {
        self.access.insert(probe)
    }

    fn statistics(&mut self) -> &mut Statistics {
        &mut self.statistics
    }

    fn is_too_deep(&self, _: u64) -> bool {
        false
    }

    fn count_state(&mut self) -> ControlFlow<Halt> {
        self.statistics.states += 1;
        self.random.next_u64();
        ControlFlow::Continue(())
    }

    fn step_is_due(&mut self) -> bool {
        false
    }

    fn look(&mut self, _: &mut Toy, _: &Traversal<Toy, Key>, _: u64) -> ControlFlow<Halt> {
        ControlFlow::Continue(())
    }

    fn report(
        &mut self,
        _: &mut Toy,
        traversal: &mut Traversal<Toy, Key>,
        kind: ViolationKind<u32>,
        label: Option<u32>,
    ) -> ControlFlow<Halt> {
        let trace = traversal.trace(self.traces, &mut self.portion);
        let (_, depth) = self.end_of(trace);
        assert_eq!(depth, traversal.depth());
        let node = self.toy.node_of(traversal.stack.position.state()).expect("a node");
        self.found.insert(match kind {
            ViolationKind::InvalidEnd => {
                assert!(is_invalid_end(&self.toy.nodes()[node]));
                (true, node as u32)
            }
            ViolationKind::Fault(fault) => {
                let edges = &self.toy.nodes()[node].edges;
                assert!(edges.iter().any(|edge| edge.fault == Some(fault) && edge.label == label));
                (false, label.expect("a label"))
            }
        });
        ControlFlow::Continue(())
    }

    fn others_want_work(&self) -> bool {
        self.random.clone().below(3) == 0
    }

    fn give_part(&mut self, mut part: Part<Toy, Key>) {
        self.parts_given += 1;
        let trace = self.traces.of_top(part.stack.frames_mut(), &mut self.portion);
        let node = self.toy.node_of(part.stack.position.state());
        let (end, depth) = self.end_of(trace);
        // A step without label is not on the path of labels.
        let mut silent = self.toy.nodes()[end].edges.iter().filter(|edge| edge.label.is_none());
        assert!(node == Some(end) || silent.any(|edge| edge.to == node));
        assert_eq!(depth, part.depth_below + part.stack.depth());
        self.parts.push(part);
    }

    fn give_away(&mut self, probe: Key, hidden: &[u32], reached: HowReached) {
        let mut state = Vec::new();
        self.access.unfold(probe, &mut state);
        state.extend_from_slice(hidden);
        self.states.push((state, reached));
    }

    fn set_aside(&mut self, _: (Key, &Position), _: HowReached) {
        unreachable!("no state of a toy is for later");
    }

    fn take_aside(&mut self, _: &mut Vec<u32>) -> Option<HowReached> {
        None
    }

    fn traces(&mut self) -> (&Traces, &mut Portion) {
        (self.traces, &mut self.portion)
    }
}

#[test]
fn a_stack_that_is_divided_leads_to_the_same() {
    let mut parts_given = 0;
    for seed in 0..2 * GRAPHS {
        let toy = Toy::random(seed, 200, seed % 2 == 0);
        let (store, traces) = (SharedStore::new(1), Traces::new());
        let mut thread = Dividing {
            toy: &toy,
            access: store.access(),
            traces: &traces,
            portion: Portion::default(),
            statistics: Statistics::default(),
            random: Random::new(seed),
            parts: Vec::new(),
            states: Vec::new(),
            found: BTreeSet::new(),
            parts_given: 0,
        };
        let model = &mut toy.clone();
        let mut traversals = Traversals::new(model, <TreeStore as Store>::MEMO_PER_WORD, exploration(seed).transient);
        let mut initial = Vec::new();
        assert!(model.initial(&mut initial).is_ok());
        let key = traversals.reset(&initial, &mut thread);
        thread.access.insert(key);
        thread.statistics.states += 1;
        traversals.begin(model, &mut thread, HowReached::START);
        loop {
            assert!(traversals.visit(model, &mut thread).is_continue());
            if let Some(part) = thread.parts.pop() {
                traversals.take_over(part);
            } else if let Some((state, reached)) = thread.states.pop() {
                traversals.reset(&state, &mut thread);
                traversals.begin(model, &mut thread, reached);
            } else {
                break;
            }
        }
        assert_eq!(thread.statistics.states, ordinary(&toy), "seed {seed}");
        assert_eq!(thread.found, wrongs(&toy), "seed {seed}");
        parts_given += thread.parts_given;
    }
    assert!(1000 < parts_given, "{parts_given}");
}
