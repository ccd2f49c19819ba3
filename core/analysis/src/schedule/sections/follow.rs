//! A deterministic scheduler followed through the states that it meets, and divided into stretches of its runs.

use super::super::steered::Plan;
use super::{EVENTS_MAX, NoSections, too_large};
use fabius_base::Cancel;
use fabius_model::SearchedMachine;
use fabius_program::Move;
use fabius_program::facts::Facts;
use fabius_search::Processes;
use fabius_search::restrict::{Graph, Movers, Region};
use fabius_search::schedule::MacroSteps;
use fabius_search::schedule::macro_steps::MacroStepLister;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;

/// The scheduler is followed through this many states.
const NODES_MAX: usize = 20_000;

/// Which scheduler is followed.
#[derive(Clone, Copy)]
pub(in crate::schedule) enum Rule<'r> {
    /// One that stays in the region, and passes on at the ends of loops.
    Laps(&'r Region),
    /// A fair one.
    Plan(&'r Plan),
}

/// A state and what the scheduler remembers: whose turn it is, or which goal is next.
pub(super) type Node = (u32, u8);

/// What a process may do in its macro step.
#[derive(Clone)]
pub(super) struct Way {
    labels: Vec<Move>,
    to: Node,
}

/// Where a section begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Start {
    /// Here.
    At(Node),
    /// With a way on at an open choice.
    With(Node, usize),
}

/// A stretch of the run.
pub(super) struct Stretch {
    pub(super) events: Vec<Vec<Move>>,
    pub(super) then: Vec<Start>,
}
/// The scheduler.
pub(super) struct Following<'a> {
    pub(super) machine: &'a mut SearchedMachine,
    pub(super) graph: &'a mut Graph,
    pub(super) rule: Rule<'a>,
    pub(super) facts: &'a Facts,
    pub(super) cancel: &'a Cancel,
}

/// Whom the scheduler lets move.
struct Chosen {
    movers: Movers,
    /// What it remembers afterwards, …
    then: u8,
    /// … and what instead if this process closes a loop.
    after_loop: Option<(u8, u8)>,
}

impl Following<'_> {
    /// What the scheduler meets, each with the ways on of whom it lets move; none at the end of a run.
    pub(super) fn follow(&mut self) -> Result<HashMap<Node, Vec<Way>>, NoSections> {
        let mut nodes: HashMap<Node, Vec<Way>> = HashMap::new();
        let mut waiting = VecDeque::from([(0, 0)]);
        while let Some(node) = waiting.pop_front() {
            if nodes.contains_key(&node) {
                continue;
            }
            if NODES_MAX <= nodes.len() {
                return Err(too_large(&format!("the scheduler meets more than {NODES_MAX} states")));
            }
            if self.cancel.requested().is_some() {
                return Err(NoSections::Stopped);
            }
            let ways = self.ways(node)?;
            waiting.extend(ways.iter().map(|way| way.to));
            nodes.insert(node, ways);
        }
        Ok(nodes)
    }

    /// Whom the scheduler lets move in a state with `count` processes; nobody at the end of a run.
    fn chosen(&self, (state, memory): Node, count: u8) -> Option<Chosen> {
        let region = match self.rule {
            Rule::Laps(region) => region,
            Rule::Plan(plan) => {
                let row = plan.row(state, memory)?;
                return Some(Chosen { movers: row.movers, then: row.then, after_loop: None });
            }
        };
        let allowed = self.graph.groups_of(state).filter(|&group| region.allows(group));
        let movers: Vec<_> = allowed.map(|group| self.graph.group(group).movers).collect();
        let takes_part =
            |pid: u8| movers.iter().find(|movers| movers.contains(&Some(pid))).map(|movers| (pid, *movers));
        let (pid, movers) = (memory..count).chain(0..memory.min(count)).find_map(takes_part)?;
        let next = if pid + 1 < count { pid + 1 } else { 0 };
        Some(Chosen { movers, then: pid, after_loop: Some((pid, next)) })
    }

    fn ways(&mut self, (state, memory): Node) -> Result<Vec<Way>, NoSections> {
        let mut words = Vec::new();
        self.graph.recall(state, &mut words);
        let count = self.machine.process_count(&words) as u8;
        let Some(Chosen { movers, then, after_loop }) = self.chosen((state, memory), count) else {
            return Ok(Vec::new());
        };
        let mut macro_steps = MacroSteps::default();
        let _: ControlFlow<()> =
            MacroStepLister::new().list(self.machine, &words, &mut macro_steps, || ControlFlow::Continue(()));
        let mut ways = Vec::new();
        for index in 0..macro_steps.len() {
            let labels = macro_steps.labels(index).to_vec();
            if labels.first().map(|label| self.machine.movers(label)) != Some(movers) {
                continue;
            }
            let target = macro_steps.target(index).and_then(|target| self.graph.number_of(target));
            let target = target
                .ok_or_else(|| NoSections::Wrong("a macro step that a schedule allows leads nowhere".to_owned()))?;
            let closes = |pid: u8| labels.iter().any(|label| self.closes_loop(label, pid));
            let memory = after_loop.filter(|(pid, _)| closes(*pid)).map_or(then, |(_, next)| next);
            ways.push(Way { labels, to: (target, memory) });
        }
        Ok(ways)
    }

    /// Whether a step closes a loop of a process.
    fn closes_loop(&self, label: &Move, pid: u8) -> bool {
        let own = (label.pid == pid).then_some(label.edge);
        let edge = own.or_else(|| label.partner.filter(|(partner, _)| *partner == pid).map(|(_, edge)| edge));
        edge.is_some_and(|edge| {
            self.facts.closes_loop(self.facts.program().process_of(edge), self.facts.index_of(edge))
        })
    }
}

/// Where sections begin because the scheduler comes back there without a choice.
pub(super) fn loops(nodes: &HashMap<Node, Vec<Way>>) -> BTreeSet<Node> {
    let mut begun: Vec<Node> = vec![(0, 0)];
    begun.extend(nodes.values().filter(|ways| 1 < ways.len()).flatten().map(|way| way.to));
    begun.sort_unstable();
    let (mut met, mut found) = (HashMap::new(), BTreeSet::new());
    for (walk, start) in begun.into_iter().enumerate() {
        let mut node = start;
        loop {
            match met.get(&node) {
                Some(&before) if before == walk => {
                    found.insert(node);
                    break;
                }
                Some(_) => break,
                None => met.insert(node, walk),
            };
            let [way] = nodes[&node].as_slice() else { break };
            node = way.to;
        }
    }
    found
}

/// Follows the scheduler from the beginning of a section to its end.
pub(super) fn stretch(
    nodes: &HashMap<Node, Vec<Way>>,
    loops: &BTreeSet<Node>,
    start: Start,
) -> Result<Stretch, NoSections> {
    let mut events = Vec::new();
    let mut node = match start {
        Start::At(node) => node,
        Start::With(node, way) => {
            let way = &nodes[&node][way];
            events.push(way.labels.clone());
            way.to
        }
    };
    loop {
        if EVENTS_MAX < events.len() {
            return Err(too_large(&format!("a section has more than {EVENTS_MAX} steps")));
        }
        if loops.contains(&node) && start != Start::At(node) || loops.contains(&node) && !events.is_empty() {
            return Ok(Stretch { events, then: vec![Start::At(node)] });
        }
        match nodes[&node].as_slice() {
            [] => return Ok(Stretch { events, then: Vec::new() }),
            [way] => {
                events.push(way.labels.clone());
                node = way.to;
            }
            ways => return Ok(Stretch { events, then: (0..ways.len()).map(|way| Start::With(node, way)).collect() }),
        }
    }
}
