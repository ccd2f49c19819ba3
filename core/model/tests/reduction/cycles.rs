//! Sticky steps against the definition: in the graph of all states, no cycle is without one.

use crate::graph::{Graph, Mover, Way};
use crate::plain::Plain;
use crate::{STATES_MAX, load, seeds, text};
use fabius_machine::Machine;
use fabius_model::configurations::{Configurations, Lookup};
use fabius_program::facts::{Facts, Instance};
use fabius_program::{EdgeId, Program, Watch};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The edges of the processes of a state that are sticky, and how many would close loops.
fn sticky(facts: &Facts, known: &mut Configurations<Sticky>, machine: &mut Machine, state: &[u32]) -> Arc<Sticky> {
    let shape = machine.shape_number(state).expect("a shape");
    let number = match known.look_up(facts, machine, state, shape).expect("a configuration") {
        Lookup::Known(number) => number,
        Lookup::New(new) => {
            let instances: Vec<Instance> = new.processes.iter().map(|key| facts.instance(key.clone())).collect();
            let sticky = facts.sticky(&instances.iter().collect::<Vec<_>>());
            let of = instances.iter().map(|instance| instance.key.process);
            let closing =
                of.map(|kind| (0..facts.edge_count(kind)).filter(|edge| facts.closes_loop(kind, *edge)).count());
            let closing = closing.sum();
            known.insert(new, Sticky { edges: sticky, closing })
        }
    };
    Arc::clone(known.tables(number))
}

#[derive(Debug)]
struct Sticky {
    edges: Vec<Vec<bool>>,
    closing: usize,
}

/// Whether each cycle of a program has a sticky step; how many of its configurations have fewer of them than edges that close loops.
fn compare(program: &Arc<Program>) -> Option<(bool, usize, bool)> {
    let mut plain = Plain::new(Arc::clone(program), Watch::NOTHING).ok()?;
    let graph = Graph::of(&mut plain, STATES_MAX)?;
    let facts = Facts::of(Arc::clone(program), &[]);
    let facts = if facts.is_blind_to_numbers(&[]) { facts.by_birth() } else { facts };
    let mut known = Configurations::default();
    let of: Vec<Arc<Sticky>> =
        graph.states.iter().map(|state| sticky(&facts, &mut known, &mut plain.0, state)).collect();
    let takes_sticky = |from: usize, way: &Way| {
        let movers = way.taken.into_iter().flat_map(|(mover, partner)| [Some(mover), partner]).flatten();
        let is_sticky =
            |Mover(pid, edge): Mover| pid.is_some_and(|pid| of[from].edges[pid as usize][facts.index_of(EdgeId(edge))]);
        movers.into_iter().any(is_sticky)
    };
    let holds = !graph.has_cycle_without(&takes_sticky);
    let configurations: BTreeSet<*const Sticky> = of.iter().map(Arc::as_ptr).collect();
    let count = |sticky: &Sticky| sticky.edges.iter().flatten().filter(|edge| **edge).count();
    let fewer = of
        .iter()
        .filter(|sticky| configurations.contains(&Arc::as_ptr(sticky)) && count(sticky) < sticky.closing)
        .map(Arc::as_ptr)
        .collect::<BTreeSet<_>>()
        .len();
    Some((holds, fewer, graph.has_cycle_without(&|_, _| false)))
}

#[test]
fn every_cycle_takes_a_sticky_step() {
    let (mut models, mut cyclic, mut fewer) = (0, 0, 0);
    for seed in seeds(3000) {
        let text = text(seed);
        let Some(program) = load(&text, seed) else { continue };
        let Some((holds, with_fewer, has_cycle)) = compare(&program) else { continue };
        assert!(holds, "seed {seed}: a cycle without a sticky step\n{text}");
        models += 1;
        cyclic += u32::from(has_cycle);
        fewer += u32::from(0 < with_fewer && has_cycle);
    }
    println!("sticky: {models} models, {cyclic} with cycles, {fewer} of these with fewer sticky edges than loops");
    assert!(100 < fewer, "{models} {cyclic} {fewer}");
}
