//! A schedule as sections: stretches of a run, each with the order of its steps that has to be kept.
//!
//! A deterministic scheduler stays in the region: each process goes on until one of its loops is closed or until it may not
//! move, then it is the next one's turn; or it is a fair schedule that was found. What a process may choose stays open, so the
//! run branches there.
//!
//! ```text
//! from the initial state, and from each way on at an open choice:
//!   follow the scheduler until an open choice, the end, or a state in which a section begins
//!   steps i < j are in order if they share a process, or one of them changes what the other one looks at
//!   told is the transitive reduction, between different processes
//! ```
//!
//! Before a section is told, the reference interpreter takes its steps in other orders that keep what was told: each has to be
//! possible, without another way on, and all have to lead to the same state.
//!
//! After Metzler, Suri, Weissenbacher, *Extracting safe thread schedules from incomplete model checking results*, sections 4
//! and 5. There, a schedule is made for each section of the runs of a program; what only waiting reads (locks) is not left
//! out here.

use super::places::{call_of, shortened, shown};
use super::steered::Plan;
use fabius_base::{Cancel, SourceMap};
use fabius_model::SearchedMachine;
use fabius_program::facts::Facts;
use fabius_program::{Action, Move, Program, Watch};
use fabius_search::Processes;
use fabius_search::restrict::{Graph, Movers, Region};
use fabius_search::schedule::MacroSteps;
use fabius_search::schedule::macro_steps::MacroStepLister;
use fabius_search::toy::Random;
use fabius_task::report::schedule::{SectionEventReport, SectionReport};
use fabius_witness::footprint::{Footprint, footprints};
use fabius_witness::{Claim, State, confirm_watching, moves, settled, step};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

/// At most this many sections are told, …
const SECTIONS_MAX: usize = 100;
/// … each with at most this many steps, …
const EVENTS_MAX: usize = 200;
/// … the last of which is at most this many steps of the run from its beginning.
const DEPTH_MAX: usize = 5_000;
/// The scheduler is followed through this many states.
const NODES_MAX: usize = 20_000;
/// A section is taken in this many other orders.
const ORDERS_TRIED: u64 = 8;

/// Why there are no sections.
pub(super) enum NoSections {
    /// There are too many, or they are too long; as half a sentence.
    TooLarge(String),
    /// Somebody stopped it.
    Stopped,
    /// What was found is not true.
    Wrong(String),
}

/// Which scheduler is followed.
#[derive(Clone, Copy)]
pub(super) enum Rule<'r> {
    /// One that stays in the region, and passes on at the ends of loops.
    Laps(&'r Region),
    /// A fair one.
    Plan(&'r Plan),
}

/// A state and what the scheduler remembers: whose turn it is, or which goal is next.
type Node = (u32, u8);

/// What a process may do in its macro step.
#[derive(Clone)]
struct Way {
    labels: Vec<Move>,
    to: Node,
}

/// Where a section begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Start {
    /// Here.
    At(Node),
    /// With a way on at an open choice.
    With(Node, usize),
}

/// A stretch of the run.
struct Stretch {
    events: Vec<Vec<Move>>,
    then: Vec<Start>,
}

/// The sections of a schedule that stays in the region. One that follows itself is taken `unroll` times in a row, or as often as
/// fits, before its order is worked out: between two laps only what has to stay in order is kept.
pub(super) fn sections(
    machine: &mut SearchedMachine,
    map: &SourceMap,
    graph: &mut Graph,
    (rule, unroll): (Rule<'_>, usize),
    cancel: &Cancel,
) -> Result<Vec<SectionReport>, NoSections> {
    let program = machine.shared_program().clone();
    let facts = Facts::of(Arc::clone(&program), &[]);
    let nodes = Following { machine, graph, rule, facts: &facts, cancel }.follow()?;
    let starts = loops(&nodes);
    let first = Start::At((0, 0));
    let mut numbers: BTreeMap<Start, usize> = BTreeMap::from([(first, 0)]);
    let mut waiting = VecDeque::from([(first, Vec::new())]);
    let mut told = Vec::new();
    while let Some((start, before)) = waiting.pop_front() {
        if cancel.requested().is_some() {
            return Err(NoSections::Stopped);
        }
        let stretch = stretch(&nodes, &starts, start)?;
        let mut path: Vec<Move> = before.clone();
        path.extend(stretch.events.iter().flatten());
        if DEPTH_MAX < path.len() {
            return Err(too_large("a section begins after too many steps"));
        }
        for next in &stretch.then {
            let number = numbers.len();
            if *numbers.entry(*next).or_insert(number) == number {
                waiting.push_back((*next, path.clone()));
            }
        }
        if SECTIONS_MAX < numbers.len() {
            return Err(too_large(&format!("there are more than {SECTIONS_MAX}")));
        }
        let then = stretch.then.iter().map(|start| numbers[start] + 1).collect();
        let laps = match stretch.then.as_slice() {
            [next] if *next == start => unroll.min(EVENTS_MAX / stretch.events.len().max(1)).max(1),
            _ => 1,
        };
        let events: Vec<Vec<Move>> = std::iter::repeat_n(&stretch.events, laps).flatten().cloned().collect();
        let section = Section { program: &program, map, before: &before, events: &events, laps };
        told.push(section.report(told.len() + 1, then).map_err(NoSections::Wrong)?);
    }
    Ok(told)
}

fn too_large(why: &str) -> NoSections {
    NoSections::TooLarge(why.to_owned())
}

/// The scheduler.
struct Following<'a> {
    machine: &'a mut SearchedMachine,
    graph: &'a mut Graph,
    rule: Rule<'a>,
    facts: &'a Facts,
    cancel: &'a Cancel,
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
    fn follow(&mut self) -> Result<HashMap<Node, Vec<Way>>, NoSections> {
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
fn loops(nodes: &HashMap<Node, Vec<Way>>) -> BTreeSet<Node> {
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
fn stretch(nodes: &HashMap<Node, Vec<Way>>, loops: &BTreeSet<Node>, start: Start) -> Result<Stretch, NoSections> {
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

/// A section, and the run before it.
struct Section<'a> {
    program: &'a Arc<Program>,
    map: &'a SourceMap,
    before: &'a [Move],
    events: &'a [Vec<Move>],
    /// How often the steps of one lap are in there.
    laps: usize,
}

impl Section<'_> {
    fn report(&self, number: usize, then: Vec<usize>) -> Result<SectionReport, String> {
        let state = self.state_before()?;
        let order = self.order()?;
        self.takes_other_orders(&state, &order, number as u64)?;
        let footprints = self.footprints()?;
        let reduced = reduced(&order);
        let mut events = Vec::new();
        let mut state = state;
        for (index, labels) in self.events.iter().enumerate() {
            let same = |earlier: usize| {
                footprints[earlier].processes.iter().any(|pid| footprints[index].processes.contains(pid))
            };
            let after = reduced[index].iter().filter(|&&earlier| !same(earlier)).map(|&earlier| earlier + 1).collect();
            events.push(self.event(&state, labels, after).ok_or("a section has a step without a place")?);
            state = self.after(state, labels)?;
        }
        let orders = events.iter().map(|event| event.after.len() as u64).sum();
        let (laps, longest_chain) = (self.laps as u64, longest_chain(&order));
        Ok(SectionReport { number, laps, events, orders, longest_chain, then })
    }

    fn event(&self, state: &State, labels: &[Move], after: Vec<usize>) -> Option<SectionEventReport> {
        let (first, last) = (labels.first()?, labels.last()?);
        let name = |pid: u8| {
            let process = state.processes.get(usize::from(pid))?;
            Some(format!("{}[{pid}]", shown(&self.program.process(process.process).name)))
        };
        let text = |label: &Move| {
            let statement = self.program.statement(self.program.process_of(label.edge), label.edge);
            if statement.action == Action::End { "ends".to_owned() } else { shortened(&statement.text) }
        };
        let at = self.map.position(call_of(self.map, self.program.span_of(first.edge)));
        let statement = if labels.len() == 1 { text(first) } else { format!("{} … {}", text(first), text(last)) };
        let partner = first.partner.and_then(|(partner, _)| name(partner));
        Some(SectionEventReport {
            process: name(first.pid)?,
            partner,
            file: at.file.to_string(),
            line: at.line,
            statement,
            after,
        })
    }

    /// For each step, the earlier ones that it must not precede.
    fn order(&self) -> Result<Vec<Vec<usize>>, String> {
        let footprints = self.footprints()?;
        let earlier = |index: usize| {
            (0..index).filter(|&earlier| footprints[index].depends_on(&footprints[earlier])).collect::<Vec<usize>>()
        };
        Ok((0..footprints.len()).map(earlier).collect())
    }

    /// What each of the steps reads and changes.
    fn footprints(&self) -> Result<Vec<Footprint>, String> {
        let path: Vec<Move> = self.before.iter().chain(self.events.iter().flatten()).copied().collect();
        let trace = confirm_watching(self.program, Watch::NOTHING, &path, Claim::Reaches)
            .map_err(|why| format!("a section is no part of a run: {why}"))?;
        let mut all = footprints(&trace).into_iter().skip(self.before.len());
        let mut found = Vec::new();
        for labels in self.events {
            let mut event = Footprint::default();
            (0..labels.len()).for_each(|_| all.next().iter().for_each(|part| event.add(part)));
            found.push(event);
        }
        Ok(found)
    }

    fn state_before(&self) -> Result<State, String> {
        let state = State::watching(self.program, Watch::NOTHING).map_err(|fault| fault.to_string())?;
        self.after(state, self.before)
    }

    fn after(&self, state: State, labels: &[Move]) -> Result<State, String> {
        labels.iter().try_fold(state, |state, label| {
            let taken = step(self.program, &state, *label).map_err(|why| format!("a step is not possible: {why:?}"))?;
            match taken.outcome.fault() {
                Some(fault) => Err(format!("a step of a safe schedule fails: {fault}")),
                None => taken.outcome.state().cloned().ok_or_else(|| "a step leads nowhere".to_owned()),
            }
        })
    }

    /// Takes the steps in some other orders.
    fn takes_other_orders(&self, from: &State, order: &[Vec<usize>], seed: u64) -> Result<(), String> {
        let (end, ways) = self.taken_in_order(from, &(0..order.len()).collect::<Vec<usize>>())?;
        let mut random = Random::new(seed);
        for _ in 0..ORDERS_TRIED {
            let mut left: BTreeSet<usize> = (0..order.len()).collect();
            let mut sequence = Vec::new();
            while !left.is_empty() {
                let free = |event: &&usize| order[**event].iter().all(|earlier| !left.contains(earlier));
                let free: Vec<usize> = left.iter().filter(free).copied().collect();
                let event = free[random.below(free.len())];
                left.remove(&event);
                sequence.push(event);
            }
            let (other_end, other_ways) = self.taken_in_order(from, &sequence)?;
            if other_end.visible(self.program) != end.visible(self.program) {
                return Err(format!("the order of a section does not determine its end: {sequence:?}"));
            }
            if other_ways != ways {
                return Err(format!("the order of a section does not determine the ways on: {sequence:?}"));
            }
        }
        Ok(())
    }

    /// The state after the steps in an order, and of each step the number of ways on that its processes had.
    fn taken_in_order(&self, from: &State, sequence: &[usize]) -> Result<(State, Vec<usize>), String> {
        let (mut state, mut ways) = (from.clone(), vec![0; sequence.len()]);
        for &event in sequence {
            let labels = &self.events[event];
            let movers = |label: &Move| (label.pid, label.partner.map(|(partner, _)| partner));
            let wanted = labels.first().map(movers);
            state = settled(self.program, &state);
            let successors = moves(self.program, &state).successors;
            ways[event] = successors.iter().filter(|(label, _)| Some(movers(label)) == wanted).count();
            state = self.after(state, labels)?;
        }
        Ok((settled(self.program, &state), ways))
    }
}

/// Of the steps that each step follows, those that do not follow from the others.
fn reduced(order: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut kept = Vec::new();
    for earlier in order {
        let implied: BTreeSet<usize> = earlier.iter().flat_map(|&event| before[event].iter().copied()).collect();
        kept.push(earlier.iter().copied().filter(|event| !implied.contains(event)).collect());
        before.push(implied.into_iter().chain(earlier.iter().copied()).collect());
    }
    kept
}

/// The number of steps that have to come one after the other.
fn longest_chain(order: &[Vec<usize>]) -> u64 {
    let mut lengths: Vec<u64> = Vec::new();
    for earlier in order {
        lengths.push(1 + earlier.iter().map(|&event| lengths[event]).max().unwrap_or(0));
    }
    lengths.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::schedule::{ScheduleRequest, Scheduled, Stops, schedule};
    use fabius_engine::{Loaded, Settings, load};

    pub(in crate::schedule) fn loaded(text: &str) -> Loaded {
        load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
    }

    fn scheduled(text: &str) -> Scheduled {
        unrolled(text, 1)
    }

    fn unrolled(text: &str, unroll: usize) -> Scheduled {
        let request = ScheduleRequest { sections: true, unroll, ..ScheduleRequest::default() };
        schedule(&loaded(text), &request, &Stops::all(&Cancel::new()), &mut |_| {})
    }

    /// Processes with loops over shared variables, channels of both kinds, choices and atomic sequences.
    pub(in crate::schedule) fn random_model(seed: u64) -> String {
        let mut random = Random::new(seed);
        let mut text = "byte x, y; bool held; chan c = [1] of { byte }; chan r = [0] of { byte };\n".to_owned();
        for name in ["P", "Q", "R"] {
            let steps: Vec<String> = (0..2 + random.below(2))
                .map(|_| match (random.below(12), random.below(3)) {
                    (0 | 1, value) => format!("x = {value}"),
                    (2, value) => format!("y = x + {value}"),
                    (3, value) => format!("assert(x != {value} || y != {value})"),
                    (4, value) => format!("x >= {value}"),
                    (5, _) => "atomic { !held -> held = true }".to_owned(),
                    // Control is lost inside if nobody else has let it go on before.
                    (6, value) => format!("atomic {{ x = {value}; !held -> held = true; r ! {value} }}"),
                    (7, _) => "held = false".to_owned(),
                    (8, value) => format!("if :: c ! {value} :: nempty(c) -> c ? x fi"),
                    (9, value) => format!("if :: x = {value} :: y = {value} fi"),
                    (10, value) => format!("r ! {value}"),
                    _ => "if :: r ? y :: timeout fi".to_owned(),
                })
                .collect();
            let body = steps.join("; ");
            let body = if random.below(2) == 0 { format!("do :: {body} od") } else { body };
            text += &format!("active proctype {name}() {{ {body} }}\n");
        }
        text
    }

    #[test]
    fn the_order_that_is_told_is_enough() {
        let (mut sections, mut apart) = (0, 0);
        for seed in 0..400 {
            let text = random_model(seed);
            let found = scheduled(&text);
            assert_eq!(found.failure, None, "seed {seed}\n{text}");
            for section in &found.report.sections {
                sections += 1;
                apart += usize::from(section.longest_chain < section.events.len() as u64);
                let earlier =
                    section.events.iter().enumerate().all(|(at, event)| event.after.iter().all(|&after| after <= at));
                assert!(earlier && section.then.iter().all(|next| *next <= found.report.sections.len()), "seed {seed}");
            }
        }
        assert!(300 < sections && 50 < apart, "{sections} {apart}");
    }

    #[test]
    fn several_laps_of_a_section_keep_the_order_of_each_and_may_overlap() {
        let (mut several, mut overlap) = (0, 0);
        for seed in 0..400 {
            let text = random_model(seed);
            let (once, often) = (scheduled(&text), unrolled(&text, 3));
            assert_eq!(often.failure, None, "seed {seed}\n{text}");
            let (verdict, again) = (once.report.verdict, often.report.verdict);
            let (once, often) = (once.report.sections, often.report.sections);
            assert_eq!((verdict, once.len()), (again, often.len()), "seed {seed}");
            for (one, three) in once.iter().zip(&often) {
                let laps = if one.then == [one.number] { 3 } else { 1 };
                assert_eq!((three.laps, &three.then), (laps, &one.then), "seed {seed}");
                let statement =
                    |event: &SectionEventReport| (event.process.clone(), event.line, event.statement.clone());
                let steps: Vec<_> = one.events.iter().map(statement).collect();
                let lap = three.events.chunks(one.events.len().max(1));
                assert!(lap.clone().all(|lap| lap.iter().map(statement).collect::<Vec<_>>() == steps), "seed {seed}");
                assert_eq!(one.events, three.events[..one.events.len()], "seed {seed}");
                assert!(three.longest_chain <= laps * one.longest_chain, "seed {seed}");
                several += u64::from(laps == 3);
                overlap += u64::from(three.longest_chain < laps * one.longest_chain);
            }
        }
        assert!(50 < several && 5 < overlap, "{several} {overlap}");
    }

    #[test]
    fn an_order_that_is_not_enough_is_noticed() {
        let loaded = loaded("byte x; active proctype P() { x = 1 } active proctype Q() { x = 2 }");
        let program = loaded.as_written().expect("a program");
        let state = State::watching(&program, Watch::NOTHING).expect("an initial state");
        let events: Vec<Vec<Move>> = [0, 1]
            .iter()
            .map(|&pid| {
                let found = moves(&program, &state).successors.into_iter().find(|(label, _)| label.pid == pid);
                vec![found.expect("a step").0]
            })
            .collect();
        let section = Section { program: &program, map: &loaded.map, before: &[], events: &events, laps: 1 };
        assert_eq!(section.order(), Ok(vec![vec![], vec![0]]));
        assert!(section.takes_other_orders(&state, &[vec![], vec![0]], 1).is_ok());
        let why = section.takes_other_orders(&state, &[vec![], vec![]], 1).expect_err("the last one to write wins");
        assert!(why.contains("does not determine its end"), "{why}");
    }

    #[test]
    fn what_follows_from_other_orders_is_left_out() {
        assert_eq!(reduced(&[vec![], vec![0], vec![0, 1]]), [vec![], vec![0], vec![1]]);
        assert_eq!(longest_chain(&[vec![], vec![], vec![0], vec![2, 1]]), 3);
    }

    #[test]
    fn two_locks_are_taken_one_after_the_other() {
        let process = |name: &str, first: &str, second: &str| {
            format!(
                "active proctype {name}() {{\ndo\n:: atomic {{ !{first} -> {first} = true }};\n\
                 atomic {{ !{second} -> {second} = true }};\n{second} = false;\n{first} = false\nod }}\n"
            )
        };
        let text = format!("bool a, b;\n{}{}", process("P", "a", "b"), process("Q", "b", "a"));
        let sections = scheduled(&text).report.sections;
        let [section] = sections.as_slice() else { panic!("{sections:?}") };
        let who: Vec<&str> = section.events.iter().map(|event| event.process.as_str()).collect();
        assert_eq!(who, ["P[0]", "P[0]", "P[0]", "P[0]", "Q[1]", "Q[1]", "Q[1]", "Q[1]"]);
        // Q may take b once P has given it back, and a once P has given that back.
        let after: Vec<&[usize]> = section.events[4..].iter().map(|event| event.after.as_slice()).collect();
        assert_eq!(after, [&[3][..], &[4], &[], &[]]);
        assert_eq!((section.orders, section.then.as_slice()), (2, &[1][..]));
        let sizes = |unroll: usize| {
            let sections = unrolled(&text, unroll).report.sections;
            let [section] = sections.as_slice() else { panic!("{sections:?}") };
            (section.events.len(), section.orders, section.longest_chain)
        };
        assert_eq!([1, 2, 4, 8].map(sizes), [(8, 2, 7), (16, 6, 13), (32, 14, 25), (64, 30, 49)]);
    }
}
