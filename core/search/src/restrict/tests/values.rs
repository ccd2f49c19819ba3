//! The fewest waits where they may speak of the values of variables, too: against all sets, and against what a wait means.

use super::*;

/// Values of each variable; more than those whose intervals all count in one of the tests.
const VALUES: u32 = 3;

/// The processes that waits hold back, from the words of a state: what a wait means.
fn held_by_definition(kinds: &[u16], words: &[u32], waits: &[Wait]) -> u64 {
    let processes = kinds.len();
    let holds = |wait: &Wait, process: usize| match usize::from(wait.other).checked_sub(processes) {
        Some(variable) => (u32::from(wait.first)..=u32::from(wait.last)).contains(&words[processes + variable]),
        None => (0..processes).any(|other| {
            let inside = (u32::from(wait.first)..=u32::from(wait.last)).contains(&words[other]);
            other != process && kinds[other] == wait.other && inside
        }),
    };
    (0..processes).fold(0, |held, process| {
        let at = Site { kind: kinds[process], place: words[process] as u16 };
        let waits = waits.iter().any(|wait| wait.at == at && holds(wait, process));
        held | u64::from(waits) << process
    })
}

/// Where the processes of a system are, and the values of its variables.
fn vocabulary(system: &System, graph: &Graph, kinds: &[u16]) -> Vocabulary {
    let all: Vec<u16> = kinds.iter().copied().chain((kinds.len() as u16..).take(VARIABLES)).collect();
    let mut sizes = system.sizes(kinds);
    sizes.resize(kinds.len(), 0);
    let values = vec![Values { count: VALUES as u16, ordered: true }; VARIABLES];
    Vocabulary::new(sizes, arrangements(graph, &all)).with_values(values)
}

/// Every wait that there could be: those for places, and those for some values of a variable, but not all of them.
fn waits(system: &System, kinds: &[u16]) -> Vec<Wait> {
    let mut waits = system.waits(kinds);
    for (kind, &places) in (0..).zip(&system.sizes(kinds)) {
        for place in 0..places {
            for other in kinds.len()..kinds.len() + VARIABLES {
                let intervals =
                    (0..VALUES as u16).flat_map(|first| (first..VALUES as u16).map(move |last| (first, last)));
                let some = intervals.filter(|interval| *interval != (0, VALUES as u16 - 1));
                let at = Site { kind, place };
                waits.extend(some.map(|(first, last)| Wait { at, other: other as u16, first, last }));
            }
        }
    }
    waits
}

#[test]
fn the_fewest_waits_with_values_are_those_that_trying_all_sets_finds() {
    let (mut found, mut with_values, mut compared) = ([0, 0, 0, 0], 0, 0);
    for seed in 0..3 * systems() {
        let system = System::with_values(seed, VALUES as usize);
        let graph = explore(&mut system.clone(), EVERYTHING);
        let kinds = system.kinds(seed % 3 == 0);
        let (region, vocabulary) = (region(&graph), vocabulary(&system, &graph, &kinds));
        if !region.contains(0) {
            continue;
        }
        let all = waits(&system, &kinds);
        let mut words = Vec::new();
        for state in 0..graph.len() as u32 {
            graph.recall(state, &mut words);
            for (at, wait) in all.iter().enumerate() {
                let pair = [*wait, all[(at * 7 + 1) % all.len()]];
                assert_eq!(held(&pair, vocabulary.sites(state)), held_by_definition(&kinds, &words, &pair), "{seed}");
            }
        }
        let cancel = Cancel::new();
        let effort = Effort { waits_max: 2, checks_max: u64::MAX, work_max: u64::MAX, cancel: &cancel };
        let free = can_move_again(&graph, &region, &cancel).expect("nobody stops it");
        let solutions = Problem::new(&graph, &region, &vocabulary, &free, effort).least();
        assert!(solutions.exhaustive);
        let is_solution = |set: &Vec<Wait>| do_by_definition(&graph, &region, &vocabulary, set);
        let singles: Vec<Vec<Wait>> = all.iter().map(|wait| vec![*wait]).filter(is_solution).collect();
        let expected: BTreeSet<Vec<Wait>> = match () {
            () if is_solution(&Vec::new()) => BTreeSet::from([Vec::new()]),
            () if !singles.is_empty() => singles.into_iter().collect(),
            () if seed % 16 == 0 => {
                let pair = |at: usize, second: &Wait| vec![all[at].min(*second), all[at].max(*second)];
                let pairs = (0..all.len()).flat_map(|at| all[at + 1..].iter().map(move |second| pair(at, second)));
                pairs.filter(is_solution).collect()
            }
            () => {
                // All pairs of some systems are tried; of the others, that each one found does.
                assert!(solutions.ranked.iter().all(|solution| is_solution(&solution.waits)), "{seed}");
                solutions.ranked.iter().map(|solution| solution.waits.clone()).collect()
            }
        };
        let ranked: BTreeSet<Vec<Wait>> = solutions.ranked.iter().map(|solution| solution.waits.clone()).collect();
        assert_eq!(ranked.len(), solutions.ranked.len(), "{seed}: found twice");
        assert_eq!(ranked, expected, "{seed}");
        compared += 1;
        for Solution { waits, kept, gives_up } in &solutions.ranked {
            let (states, sites) = cost_by_definition(&graph, &region, &vocabulary, waits);
            let places: Vec<Site> = sites.into_iter().filter(|site| usize::from(site.kind) < kinds.len()).collect();
            assert_eq!((*kept, gives_up), (states, &places), "{seed}: {waits:?}");
        }
        let fewest = ranked.first().map(Vec::len);
        found[fewest.unwrap_or(3)] += 1;
        let of_values = |set: &Vec<Wait>| set.iter().any(|wait| usize::from(wait.other) >= kinds.len());
        with_values += u32::from(fewest == Some(1) && ranked.iter().all(of_values));
    }
    // Of those solved by one wait, several need one for values.
    assert!(found[..3].iter().all(|&many| 0 < many) && 0 < with_values, "{found:?}, {with_values} of {compared}");
}

#[test]
fn of_many_values_those_up_to_one_and_from_one_and_single_ones_count() {
    let vocabulary = |count: u16, ordered: bool| {
        Vocabulary::new(vec![1], Arrangements::default()).with_values(vec![Values { count, ordered }])
    };
    let stretches = |count, ordered, place| vocabulary(count, ordered).stretches(Site { kind: 1, place });
    assert_eq!(stretches(3, true, 1), [(0, 1), (1, 1), (1, 2)]);
    assert_eq!(stretches(3, false, 1), [(1, 1)]);
    let many = stretches(20, true, 17);
    assert_eq!((many.len(), many.contains(&(0, 19))), (2 + 17 + 1, false), "{many:?}");
    assert!(many.iter().all(|&(first, last)| first == 0 || last == 19 || first == last), "{many:?}");
    assert_eq!(stretches(20, true, 20), []);
    assert!(vocabulary(3, true).is_value(1) && !vocabulary(3, true).is_value(0));
}
