//! Fair schedules against trying all schedules that remember which goal is next.

use super::*;

/// A schedule that is tried: of each goal and state, which of its groups moves.
struct Tried<'g> {
    graph: &'g Graph,
    goals: &'g [Goal],
    choice: Vec<usize>,
}

impl Tried<'_> {
    fn options(&self, at: usize) -> usize {
        self.graph.groups_of((at % self.graph.len()) as u32).len().max(1)
    }

    /// Whether a goal is met by a macro step of a group, by the definition.
    fn meets(&self, state: u32, group: usize, goal: Goal) -> bool {
        let takes_part = |state: u32, process: u8| {
            self.graph.groups_of(state).any(|group| self.graph.group(group).movers.contains(&Some(process)))
        };
        let moves = |process| self.graph.group(group).movers.contains(&Some(process));
        match goal {
            Goal::Weak(process) => moves(process) || !takes_part(state, process),
            Goal::Strong(process) => {
                moves(process) || !reachable(self.graph, state).iter().any(|&state| takes_part(state, process))
            }
            Goal::Progress => has_progress(state),
        }
    }

    /// The states that are met, each with the next goal; nothing if there is an error or a dead end.
    fn safe(&self) -> Option<Vec<Met>> {
        let (mut seen, mut open) = (BTreeSet::from([(0, 0)]), vec![(0, 0)]);
        let mut macro_steps = Vec::new();
        while let Some((state, goal)) = open.pop() {
            match self.graph.ending(state) {
                Some(Ending::ValidEnd) => continue,
                None | Some(Ending::InvalidEnd) => return None,
                Some(Ending::Moves) => {}
            }
            let group = self.graph.groups_of(state).start + self.choice[goal * self.graph.len() + state as usize];
            if self.graph.group(group).fails {
                return None;
            }
            let met = self.meets(state, group, self.goals[goal]);
            let next = if met { (goal + 1) % self.goals.len() } else { goal };
            for &target in self.graph.targets(self.graph.group(group)) {
                macro_steps.push(Met { from: (state, goal), group, to: (target, next) });
                if seen.insert((target, next)) {
                    open.push((target, next));
                }
            }
        }
        Some(macro_steps)
    }

    fn is_fair(&self) -> bool {
        let Some(macro_steps) = self.safe() else { return false };
        self.goals.iter().all(|&goal| {
            let without: Vec<&Met> =
                macro_steps.iter().filter(|met| !self.meets(met.from.0, met.group, goal)).collect();
            !has_cycle(&without.iter().map(|met| (met.from, met.to)).collect::<Vec<_>>())
        })
    }

    fn next(&mut self) -> bool {
        let Some(next) = (0..self.choice.len()).find(|&at| self.choice[at] + 1 < self.options(at)) else {
            return false;
        };
        self.choice[next] += 1;
        self.choice[..next].fill(0);
        true
    }
}

/// A state, and which goal is next.
type Pair = (u32, usize);

/// A macro step of a schedule.
struct Met {
    from: Pair,
    group: usize,
    to: Pair,
}

/// Every third state is one with progress.
fn has_progress(state: u32) -> bool {
    state % 3 == 1
}

fn reachable(graph: &Graph, from: u32) -> BTreeSet<u32> {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(state) = open.pop() {
        let targets = graph.groups_of(state).flat_map(|group| graph.targets(graph.group(group)));
        open.extend(targets.copied().filter(|target| seen.insert(*target)));
    }
    seen
}

/// Whether edges have a cycle: whether some are left when those that lead nowhere are taken away, again and again.
fn has_cycle(edges: &[(Pair, Pair)]) -> bool {
    let mut left: Vec<_> = edges.to_vec();
    loop {
        let sources: BTreeSet<_> = left.iter().map(|edge| edge.0).collect();
        let before = left.len();
        left.retain(|edge| sources.contains(&edge.1));
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

fn strategy(graph: &Graph, region: &Region, goals: &[Goal]) -> Option<Strategy> {
    let progress = (0..graph.len() as u32).map(has_progress).collect();
    let known = Goals::new(graph, region, progress, &Cancel::new()).expect("nobody stops it");
    known.schedule(goals, &Cancel::new()).expect("nobody stops it")
}

/// Whether each run that a schedule allows is safe, and meets every goal again and again.
fn keeps_its_word(graph: &Graph, region: &Region, strategy: &Strategy) -> bool {
    let progress = (0..graph.len() as u32).map(has_progress).collect();
    let known = Goals::new(graph, region, progress, &Cancel::new()).expect("nobody stops it");
    let tried = Tried { graph, goals: strategy.goals(), choice: Vec::new() };
    let mut macro_steps = Vec::new();
    for (state, goal) in strategy.reached(&known) {
        let Some(group) = strategy.choice(state, goal) else {
            if graph.ending(state) == Some(Ending::ValidEnd) {
                continue;
            }
            return false;
        };
        if graph.group(group).fails || !graph.groups_of(state).contains(&group) {
            return false;
        }
        let after = strategy.after(&known, state, goal);
        let targets = graph.targets(graph.group(group)).iter();
        macro_steps.extend(targets.map(|&target| Met { from: (state, goal), group, to: (target, after) }));
    }
    strategy.goals().iter().all(|&goal| {
        let without = macro_steps.iter().filter(|met| !tried.meets(met.from.0, met.group, goal));
        !has_cycle(&without.map(|met| (met.from, met.to)).collect::<Vec<_>>())
    })
}

#[test]
fn a_fair_schedule_is_found_exactly_where_trying_all_finds_one() {
    let sets: [&[Goal]; 4] = [
        &[Goal::Weak(0), Goal::Weak(1)],
        &[Goal::Strong(0), Goal::Strong(1)],
        &[Goal::Strong(0), Goal::Weak(1)],
        &[Goal::Weak(0), Goal::Progress],
    ];
    let (mut compared, mut answers) = (0, [0, 0, 0]);
    for seed in 0..10 * systems() {
        let graph = explore(&mut random_graph(seed), EVERYTHING);
        let region = region(&graph);
        let goals = sets[seed as usize % sets.len()];
        let mut tried = Tried { graph: &graph, goals, choice: vec![0; graph.len() * goals.len()] };
        let schedules: f64 = (0..tried.choice.len()).map(|at| tried.options(at) as f64).product();
        if 5_000.0 < schedules {
            continue;
        }
        compared += 1;
        let found = strategy(&graph, &region, goals);
        let exists = loop {
            if tried.is_fair() {
                break true;
            }
            if !tried.next() {
                break false;
            }
        };
        assert_eq!(found.is_some(), exists, "{seed}: {goals:?}");
        assert!(found.is_none_or(|found| keeps_its_word(&graph, &region, &found)), "{seed}: {goals:?}");
        answers[if exists { 2 } else { usize::from(region.contains(0)) }] += 1;
    }
    // Errors that cannot be avoided, those that can be but not fairly, and fair schedules.
    assert!(systems() < compared && answers.iter().all(|&many| systems() / 10 < many), "{compared}: {answers:?}");
}

#[test]
fn fair_schedules_of_systems_keep_their_word_and_more_exploration_keeps_them() {
    let mut found = [0, 0];
    for seed in 0..systems() {
        let system = System::random(seed);
        let processes = 0..system.processes.len() as u8;
        let strong: Vec<Goal> = processes.clone().map(Goal::Strong).collect();
        let weak: Vec<Goal> = processes.map(Goal::Weak).collect();
        let whole = explore(&mut system.clone(), EVERYTHING);
        let inside = region(&whole);
        for goals in [&strong, &weak] {
            let schedule = strategy(&whole, &inside, goals);
            assert!(schedule.as_ref().is_none_or(|schedule| keeps_its_word(&whole, &inside, schedule)), "{seed}");
            found[usize::from(schedule.is_some())] += 1;
            for states_max in [3, 6, 12] {
                let part = explore(&mut system.clone(), Limits { states_max, ..EVERYTHING });
                let of_part = strategy(&part, &region(&part), goals);
                assert!(of_part.is_none() || schedule.is_some(), "{seed}, {states_max} states");
            }
        }
        assert!(strategy(&whole, &inside, &strong).is_none() || strategy(&whole, &inside, &weak).is_some(), "{seed}");
    }
    assert!(found.iter().all(|&many| systems() / 20 < many), "{found:?}");
}
