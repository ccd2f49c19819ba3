//! An audit accepts right searches and refuses wrong ones.

use super::order::Order;
use super::*;
use fabius_base::Cancel;
use fabius_model::reduction::{self, Preserve, Proviso};
use fabius_program::{Program, Watch};
use fabius_search::reduce::OffStack;
use fabius_search::store::TreeStore;
use fabius_search::{Quiet, Settings as Searching, StopAt, depth_first};
use fabius_task::load::load;
use fabius_task::settings::Settings;
use fabius_testkit::generate::{guarded, meetings, small};
use std::collections::HashSet;
use std::sync::Arc;

/// Two channels, an atomic sequence, a rendezvous, and steps that are independent of all others.
const MODEL: &str = "byte x, y, z; chan c = [1] of { byte }; chan d = [0] of { byte };
active proctype r() { do :: z < 5 -> z++ :: else -> break od }
active proctype p() { byte i; do :: i < 3 -> i++; c ! i :: i == 3 -> break od; empty(c); d ! 9 }
active proctype q() { byte v; do :: atomic { c ? v -> x = v; y = x + 1 } :: d ? v -> break od; assert(x == 3 && y == 4) }";

const ALL: Extent = Extent { states_max: u64::MAX, listed_max: u64::MAX };

fn program(text: &str) -> Arc<Program> {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    Arc::clone(loaded.checkable().unwrap_or_else(|| panic!("{:?}", loaded.findings)))
}

fn machine(text: &str) -> SearchedMachine {
    SearchedMachine::new(program(text), Watch::NOTHING).expect("a machine")
}

fn audit_all(model: &mut impl Auditable, store: &mut TreeStore) -> Result<u64, String> {
    let cancel = Cancel::new();
    audit_states(model, store, ALL, &Stops { cancel: &cancel, now: &|| Duration::ZERO, until: None })
}

/// A model whose listing is wrong on purpose.
struct Wrong {
    inner: SearchedMachine,
    /// Leaves this edge out wherever it could be taken.
    without: u32,
}

impl Model for Wrong {
    type Label = Move;
    type Fault = Fault;
    type Cursor = <SearchedMachine as Model>::Cursor;

    fn hidden_words(&self) -> usize {
        self.inner.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.inner.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> Self::Cursor {
        self.inner.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut Self::Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        loop {
            match self.inner.next(state, cursor, successor) {
                Next::Successor { label: Some(label), .. } if label.edge.0 == self.without => {}
                found => return found,
            }
        }
    }
}

fn search(model: &mut impl Model<Label = Move, Fault = Fault>) -> (TreeStore, u64) {
    let mut store = TreeStore::new();
    let settings = Searching { stop_at: StopAt::Never, ..Searching::default() };
    let outcome = depth_first(model, &mut store, &mut Quiet, &settings);
    (store, outcome.statistics.states)
}

#[test]
fn a_right_search_is_accepted_state_by_state() {
    let mut machine = machine(MODEL);
    let (mut store, states) = search(&mut machine);
    assert!(20 < states);
    assert_eq!(audit_all(&mut machine, &mut store), Ok(states));
}

#[test]
fn a_search_that_leaves_a_step_out_is_refused() {
    let edges = program(MODEL).edges.len() as u32;
    let mut refused = 0;
    for without in 0..edges {
        let mut wrong = Wrong { inner: machine(MODEL), without };
        let (mut store, _) = search(&mut wrong);
        let audited = audit_all(&mut wrong.inner, &mut store);
        // An edge that is never taken alone, such as the receiver's of a rendezvous, is never left out.
        let Err(why) = audited else { continue };
        assert!(why.contains("is not in the visited set") && why.contains("\n    x = "), "{why}");
        refused += 1;
    }
    assert!(5 <= refused, "{refused} of {edges}");
}

#[test]
fn a_violation_that_a_search_did_not_report_is_one() {
    for (text, what) in [
        (MODEL.replace("x == 3", "x == 2"), "the step `assert(x == 2 && y == 4)` of q[2] has assertion violated"),
        (MODEL.replace("d ! 9 }", "skip }"), "the search reported no invalid end state"),
        (MODEL.replace("x + 1", "1 / (3 - x)"), "has division by zero"),
    ] {
        let mut machine = machine(&text);
        let (mut store, _) = search(&mut machine);
        let why = audit_all(&mut machine, &mut store).expect_err("a violation");
        assert!(why.contains(what), "{why}");
    }
}

#[test]
fn a_state_that_is_none_is_refused() {
    let mut machine = machine(MODEL);
    let (mut store, _) = search(&mut machine);
    let mut words = Vec::new();
    machine.initial(&mut words).expect("an initial state");
    // Somebody stands at another place than any run leads to.
    let last = words.len() - 1;
    words[last] ^= 1;
    store.insert_words(&words);
    assert!(audit_all(&mut machine, &mut store).is_err());
}

#[test]
fn what_a_reduction_chooses_is_audited() {
    let program = program(
        "byte a, b; active proctype p() { byte i; do :: i < 9 -> i++; a = i :: else -> break od }
        active proctype q() { byte i; do :: i < 9 -> i++; b = i :: else -> break od }",
    );
    let machine = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING).expect("a machine");
    let plan = reduction::prepare(&program, Preserve::Faults(Proviso::Stack)).expect("a reduction");
    let mut reduced = OffStack::new(Reduced::of(machine.clone(), plan));
    let (mut store, states) = search(&mut reduced);
    let (_, all) = search(&mut machine.clone());
    assert!(states < all);
    assert_eq!(audit_all(&mut reduced.into_model(), &mut store), Ok(states));
    // The same set is not closed under all steps.
    assert!(audit_all(&mut machine.clone(), &mut store).is_err());
}

#[test]
fn an_audit_ends_early_where_it_is_told_to() {
    let mut machine = machine(MODEL);
    let (mut store, states) = search(&mut machine);
    let cancel = Cancel::new();
    let now = || Duration::from_secs(2);
    let mut audited = |extent, until| {
        audit_states(&mut machine, &mut store, extent, &Stops { cancel: &cancel, now: &now, until }).expect("a proof")
    };
    assert_eq!(audited(Extent { states_max: 7, ..ALL }, None), 7);
    let few = audited(Extent { listed_max: 10, ..ALL }, None);
    assert!(0 < few && few < states);
    assert_eq!(audited(ALL, Some(Duration::from_secs(1))), 0);
    cancel.cancel();
    assert_eq!(audited(ALL, None), 0);
}

/// States of a reduced model in which something is left out, with what is chosen; not more than some hundreds.
fn reduced_states(reduced: &mut Reduced) -> Vec<(fabius_witness::State, Vec<Move>)> {
    let mut store = TreeStore::new();
    let (mut first, mut met, mut found) = (Vec::new(), HashSet::new(), Vec::new());
    if reduced.initial(&mut first).is_err() {
        return found;
    }
    let mut open = vec![first];
    while let Some(words) = open.pop().filter(|_| met.len() < 300) {
        if !met.insert(words.clone()) {
            continue;
        }
        let (mut cursor, mut successor) = (reduced.begin(&words), Vec::new());
        while let found @ (Next::Successor { .. } | Next::Broken { .. }) =
            reduced.next(&words, &mut cursor, &mut successor)
        {
            if let Next::Successor { .. } = found {
                open.push(successor.clone());
            }
        }
        let (chosen, all) = (reduced.chosen(&words).expect("a choice"), steps(reduced.whole(), &words));
        let state = Auditor::new(reduced.whole(), &mut store, 0).read(reduced.whole(), &words).expect("a state");
        if chosen.len() < all.len() && state.holder.is_none() && !state.is_claims_turn() {
            found.push((state, chosen));
        }
    }
    found
}

/// The steps that a machine lists.
fn steps(machine: &mut SearchedMachine, words: &[u32]) -> Vec<Move> {
    let (mut cursor, mut successor, mut all) = (machine.begin(words), Vec::new(), Vec::new());
    loop {
        match machine.next(words, &mut cursor, &mut successor) {
            Next::Successor { label, .. } => all.extend(label),
            Next::Broken { label, .. } => all.push(label),
            Next::Done(_) => return all,
        }
    }
}

#[test]
fn what_a_reduction_chooses_can_as_well_be_taken_first() {
    let (mut asked, mut refused) = (0, 0);
    for seed in 0..1500 {
        let text = match seed % 4 {
            0 => small::model(seed),
            1 => guarded::model(seed),
            _ => meetings::model(seed),
        };
        let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &Settings::default());
        let Some(program) = loaded.checkable() else { continue };
        for preserve in [Preserve::Deadlocks, Preserve::Faults(Proviso::Loops), Preserve::Formula(Vec::new())] {
            let Ok(plan) = reduction::prepare(program, preserve) else { continue };
            let machine = SearchedMachine::new(Arc::clone(program), Watch::NOTHING).expect("a machine");
            let mut reduced = Reduced::of(machine, plan);
            for (state, chosen) in reduced_states(&mut reduced) {
                let mut order = Order { program, heeds_stops: reduced.heeds_stops(), listed: 0 };
                let matters = order.matters(&state, &chosen);
                assert_eq!(matters, None, "seed {seed}:\n{text}\n{state:?}\n{chosen:?}");
                asked += 1;
                // Each of the others alone would often be too little.
                for other in steps_left_out(program, &state, &chosen) {
                    refused += u32::from(order.matters(&state, &[other]).is_some());
                }
            }
        }
    }
    assert!(10_000 < asked && 1_000 < refused, "{asked} states, {refused} wrong choices refused");
}

/// Steps that are left out, one of each process.
fn steps_left_out(program: &Program, state: &fabius_witness::State, chosen: &[Move]) -> Vec<Move> {
    let possible = fabius_witness::moves(program, state).successors.into_iter().map(|(step, _)| step);
    let mut left: Vec<Move> = possible.filter(|step| chosen.iter().all(|other| other.pid != step.pid)).collect();
    left.dedup_by_key(|step| step.pid);
    left
}
