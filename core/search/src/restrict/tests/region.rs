//! Regions against their definitions, on random graphs.

use super::*;

/// The greatest set in which every state is good, and has no macro steps or some group that stays in it; what was not explored is
/// good, or not.
fn by_definition(graph: &Graph, unknown_is_good: bool) -> BTreeSet<u32> {
    by_definition_of_first(graph, graph.len(), unknown_is_good)
}

/// The same, as if only the first states were explored.
fn by_definition_of_first(graph: &Graph, states: usize, unknown_is_good: bool) -> BTreeSet<u32> {
    let mut inside: BTreeSet<u32> = (0..graph.len() as u32).collect();
    loop {
        let stays = |state: &u32| match graph.ending(*state).filter(|_| (*state as usize) < states) {
            None => unknown_is_good,
            Some(Ending::InvalidEnd) => false,
            Some(Ending::ValidEnd) => true,
            Some(Ending::Moves) => graph.groups_of(*state).any(|group| {
                let group = graph.group(group);
                !group.fails && graph.targets(group).iter().all(|target| inside.contains(target))
            }),
        };
        let next: BTreeSet<u32> = inside.iter().copied().filter(|state| stays(state)).collect();
        if next == inside {
            return inside;
        }
        inside = next;
    }
}

/// Whether some choice of one group for each state keeps every run from the initial state safe: all choices are tried.
fn some_schedule_is_safe(graph: &Graph) -> bool {
    let mut choice: Vec<usize> = vec![0; graph.len()];
    loop {
        if is_safe(graph, &choice) {
            return true;
        }
        let options = |state: usize| graph.groups_of(state as u32).len().max(1);
        let Some(next) = (0..choice.len()).find(|&state| choice[state] + 1 < options(state)) else { return false };
        choice[next] += 1;
        choice[..next].fill(0);
    }
}

fn is_safe(graph: &Graph, choice: &[usize]) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([0]), vec![0_u32]);
    while let Some(state) = open.pop() {
        match graph.ending(state) {
            Some(Ending::ValidEnd) => continue,
            None | Some(Ending::InvalidEnd) => return false,
            Some(Ending::Moves) => {}
        }
        let group = graph.group(graph.groups_of(state).start + choice[state as usize]);
        if group.fails {
            return false;
        }
        open.extend(graph.targets(group).iter().copied().filter(|target| seen.insert(*target)));
    }
    true
}

#[test]
fn the_region_is_the_greatest_fixpoint_and_tells_whether_a_schedule_exists() {
    let mut schedulable = [0, 0];
    for seed in 0..10 * systems() {
        let graph = explore(&mut random_graph(seed), EVERYTHING);
        let region = region(&graph);
        let inside: BTreeSet<u32> = (0..graph.len() as u32).filter(|&state| region.contains(state)).collect();
        assert_eq!(inside, by_definition(&graph, false), "{seed}");
        assert_eq!(region.len(), inside.len());
        assert_eq!(region.contains(0), some_schedule_is_safe(&graph), "{seed}");
        schedulable[usize::from(region.contains(0))] += 1;
        for state in region.reached(&graph) {
            assert!(region.contains(state));
        }
    }
    assert!(schedulable.iter().all(|&many| systems() < many), "{schedulable:?}");
}

#[test]
fn the_region_of_the_first_states_is_a_part_of_the_region_and_closed() {
    let (mut smaller, mut enough) = (0, 0);
    for seed in 0..systems() {
        let graph = explore(&mut random_graph(seed), EVERYTHING);
        let whole = region(&graph);
        assert_eq!(region_of_first(&graph, graph.len()), whole, "{seed}");
        for states in 1..graph.len() {
            let part = region_of_first(&graph, states);
            let inside: BTreeSet<u32> = (0..graph.len() as u32).filter(|&state| part.contains(state)).collect();
            assert_eq!(inside, by_definition_of_first(&graph, states, false), "{seed}, {states} states");
            assert_eq!(part.len(), inside.len(), "{seed}, {states} states");
            for state in part.reached(&graph) {
                assert!(part.contains(state) && whole.contains(state) && (state as usize) < states, "{seed}");
                let allowed = graph.groups_of(state).any(|group| part.allows(group) && whole.allows(group));
                assert!(allowed || graph.ending(state) == Some(Ending::ValidEnd), "{seed}");
            }
            smaller += u32::from(part.len() < whole.len());
            enough += u32::from(part.contains(0));
        }
    }
    assert!(0 < smaller && 0 < enough, "{smaller} {enough}");
}

#[test]
fn outside_the_region_every_group_leads_to_what_was_bad_before() {
    for seed in 0..systems() {
        let graph = explore(&mut random_graph(seed), EVERYTHING);
        let region = region(&graph);
        for state in (0..graph.len() as u32).filter(|&state| !region.contains(state)) {
            let mut at = state;
            for _ in 0..=graph.len() {
                let Some(group) = graph.groups_of(at).next() else { break };
                match region.forced(&graph, group) {
                    Some(target) => at = target,
                    None => break,
                }
            }
            let group = graph.groups_of(at).next();
            assert!(group.is_none_or(|group| graph.group(group).fails), "{seed}: no error is forced from {state}");
        }
    }
}

/// Whether some run never fails: the greatest set of states that end validly, or have a macro step that stays in it; what was not
/// explored is in it.
fn some_run_goes_on(graph: &Graph) -> bool {
    let mut inside: BTreeSet<u32> = (0..graph.len() as u32).collect();
    loop {
        let stays = |state: &u32| match graph.ending(*state) {
            None | Some(Ending::ValidEnd) => true,
            Some(Ending::InvalidEnd) => false,
            Some(Ending::Moves) => graph
                .groups_of(*state)
                .flat_map(|group| graph.targets(graph.group(group)))
                .any(|target| inside.contains(target)),
        };
        let next: BTreeSet<u32> = inside.iter().copied().filter(|state| stays(state)).collect();
        if next == inside {
            return inside.contains(&0);
        }
        inside = next;
    }
}

#[test]
fn every_run_fails_if_none_can_go_on() {
    let mut answers = [0, 0];
    for seed in 0..systems() {
        for states_max in [3, u64::MAX] {
            let graph = explore(&mut random_graph(seed), Limits { states_max, ..EVERYTHING });
            let fails = every_run_fails(&graph);
            assert_eq!(fails, !some_run_goes_on(&graph), "{seed}");
            assert!(!fails || graph.is_lost(0), "{seed}: no schedule helps then");
            answers[usize::from(fails)] += 1;
        }
    }
    assert!(answers.iter().all(|&many| 20 < many), "{answers:?}");
}

#[test]
fn what_is_cut_off_leaves_a_part_of_the_region_and_what_is_lost_stays_lost() {
    let mut lost_early = 0;
    for seed in 0..systems() {
        let mut toy = random_graph(seed);
        let whole = explore(&mut toy, EVERYTHING);
        let inside = region(&whole);
        let number = |graph: &Graph, state: u32| {
            let mut words = Vec::new();
            graph.recall(state, &mut words);
            words[0]
        };
        let all: BTreeSet<u32> = (0..whole.len() as u32)
            .filter(|&state| inside.contains(state))
            .map(|state| number(&whole, state))
            .collect();
        for states_max in 1..8 {
            let part = explore(&mut toy, Limits { states_max, ..EVERYTHING });
            let region = region(&part);
            let inside: BTreeSet<u32> = (0..part.len() as u32).filter(|&state| region.contains(state)).collect();
            assert_eq!(inside, by_definition(&part, false), "{seed}, {states_max} states");
            let at_most = region_at_most(&part);
            let definition = by_definition(&part, true);
            assert!(
                (0..part.len() as u32).all(|state| at_most.contains(state) == definition.contains(&state)),
                "{seed}"
            );
            assert!((0..part.len() as u32).all(|state| part.is_lost(state) != at_most.contains(state)), "{seed}");
            for state in 0..part.len() as u32 {
                let is_safe = all.contains(&number(&part, state));
                assert!(is_safe || !region.contains(state), "{seed}, {states_max} states");
                assert!(!is_safe || at_most.contains(state), "{seed}, {states_max} states");
                lost_early +=
                    u32::from(part.ending(state).is_some() && !part.is_complete() && !at_most.contains(state));
            }
        }
    }
    assert!(0 < lost_early);
}

#[test]
fn an_exploration_that_ends_once_errors_can_follow_does_so_exactly_then() {
    let mut early = 0;
    for seed in 0..systems() {
        let mut toy = random_graph(seed);
        let whole = explore(&mut toy, EVERYTHING);
        let cancel = Cancel::new();
        let explorer = Explorer::new(&mut toy, &RoundRobin(Alike), EVERYTHING, &cancel).expect("it begins");
        let mut explorer = explorer.until_lost();
        let end = loop {
            match explorer.round(explorer.graph().expanded() + 1) {
                Ok(Round::Finished(_) | Round::Paused) => {
                    assert!(by_definition(explorer.graph(), true).contains(&0), "{seed}");
                }
                end => break end,
            }
        };
        let is_lost = !by_definition(&whole, false).contains(&0);
        assert_eq!(end, Ok(if is_lost { Round::Lost } else { Round::Complete }), "{seed}");
        assert_eq!(by_definition(explorer.graph(), true).contains(&0), !is_lost, "{seed}");
        early += u32::from(is_lost && !explorer.graph().is_complete());
    }
    assert!(0 < early);
}
