//! What the definitions say, worked out slowly: the product of system and scheduler, pair by pair.

use super::programs::Label;
use fabius_search::schedule::{Scheduler, Situation, Step};
use fabius_search::{Ending, Marks, Next, ProcessSet, Processes};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What a process may do from a state, as the definition has it: each way through transient states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub process: u8,
    pub labels: Vec<Label>,
    pub marks: Marks,
    pub partners: ProcessSet,
    pub target: Vec<u32>,
    /// It is not what the process does by itself: another way was listed first.
    pub choice: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Expanded {
    pub ways: Vec<Way>,
    /// Faulty ways: their last labels, by process, and whether they are choices.
    pub faults: Vec<(u8, Label, bool)>,
    pub enabled: ProcessSet,
    pub stuck: bool,
}

/// All ways of an ordinary state; loops among transient states are gone round at most a few times.
pub fn expand<M: Processes<Label = Label, Fault = u32>>(model: &mut M, state: &[u32]) -> Expanded {
    let mut expanded = Expanded::default();
    let mut seen = BTreeSet::new();
    // What each process does by itself.
    let mut first: BTreeMap<u8, Vec<Label>> = BTreeMap::new();
    let mut waiting = VecDeque::from([(state.to_vec(), Vec::<Label>::new(), ProcessSet::EMPTY, Marks::NONE)]);
    while let Some((at, labels, partners, marks_before)) = waiting.pop_front() {
        let mut cursor = model.begin(&at);
        let mut successor = Vec::new();
        loop {
            match model.next(&at, &mut cursor, &mut successor) {
                Next::Successor { label, transient, fault, marks } => {
                    let marks = marks_before.with(marks);
                    let mut labels = labels.clone();
                    labels.extend(label);
                    let mut partners = partners;
                    label.and_then(|label| label.2).into_iter().for_each(|partner| partners.insert(partner));
                    let process = labels[0].0;
                    expanded.enabled.insert(process);
                    let mut is_choice = || *first.entry(process).or_insert_with(|| labels.clone()) != labels;
                    if fault.is_some() {
                        expanded.faults.push((process, label.expect("there"), is_choice()));
                    }
                    if !transient {
                        let choice = is_choice();
                        expanded.ways.push(Way { process, labels, marks, partners, target: successor.clone(), choice });
                    } else if seen.insert((
                        process,
                        marks.has(Marks::ACCEPTING),
                        marks.has(Marks::PROGRESS),
                        successor.clone(),
                    )) {
                        waiting.push_back((successor.clone(), labels, partners, marks));
                    }
                }
                Next::Broken { .. } => unreachable!("toys have no broken steps"),
                Next::Done(ending) => {
                    expanded.stuck |= labels.is_empty() && ending == Ending::InvalidEnd;
                    break;
                }
            }
        }
    }
    expanded
}

/// The whole product up to this many delays.
#[derive(Default)]
pub struct Truth {
    /// The fewest delays with which a state is reached.
    pub delays: BTreeMap<Vec<u32>, u32>,
    /// Pairs of states of system and scheduler.
    pub pairs: usize,
    /// The fewest delays of each faulty label.
    pub faults: BTreeMap<Label, u32>,
    /// The fewest delays of each state that is stuck.
    pub stuck: BTreeMap<Vec<u32>, u32>,
}

/// The scheduler's state after a way was gone from a state, to one in which these can move.
pub fn scheduled<D: Scheduler<Label>>(
    scheduler: &D,
    before: &D::State,
    (from, way): (Situation<'_>, &Way),
    enabled: &ProcessSet,
) -> D::State {
    let mut schedule = before.clone();
    let after = Situation { state: &way.target, enabled };
    let step = Step { process: Some(way.process), labels: &way.labels, partners: &way.partners, before: from, after };
    scheduler.step(&mut schedule, &step);
    schedule
}

/// Dijkstra by rounds, over explicit pairs.
pub fn truth<M, D>(model: &mut M, scheduler: &D, delays_max: u32) -> Truth
where
    M: Processes<Label = Label, Fault = u32>,
    D: Scheduler<Label>,
{
    let mut truth = Truth::default();
    let mut initial = Vec::new();
    model.initial(&mut initial).expect("there");
    let mut known: HashMap<Vec<u32>, Expanded> = HashMap::new();
    let mut settled = std::collections::HashSet::new();
    let first = expand(model, &initial);
    let start = scheduler.start(Situation { state: &initial, enabled: &first.enabled });
    let mut round = vec![(initial, start)];
    for delays in 0..=delays_max {
        let mut next = Vec::new();
        while let Some((state, schedule)) = round.pop() {
            if !settled.insert((state.clone(), schedule.clone())) {
                continue;
            }
            let expanded = known.entry(state.clone()).or_insert_with(|| expand(model, &state)).clone();
            truth.delays.entry(state.clone()).or_insert(delays);
            if expanded.stuck {
                truth.stuck.entry(state.clone()).or_insert(delays);
            }
            let Some(process) = scheduler.next(&schedule) else { continue };
            for (_, label, _) in expanded.faults.iter().filter(|(mover, ..)| *mover == process) {
                truth.faults.entry(*label).or_insert(delays);
            }
            for way in expanded.ways.iter().filter(|way| way.process == process) {
                let after = known.entry(way.target.clone()).or_insert_with(|| expand(model, &way.target));
                let before = Situation { state: &state, enabled: &expanded.enabled };
                round.push((way.target.clone(), scheduled(scheduler, &schedule, (before, way), &after.enabled)));
            }
            if expanded.enabled.len() > 1 && !scheduler.is_sealed(&schedule) {
                let mut delayed = schedule;
                scheduler.delay(&mut delayed);
                next.push((state, delayed));
            }
        }
        round = next;
    }
    truth.pairs = settled.len();
    truth
}

/// All that can be reached under any schedule.
pub fn everything<M: Processes<Label = Label, Fault = u32>>(model: &mut M) -> BTreeSet<Vec<u32>> {
    let mut initial = Vec::new();
    model.initial(&mut initial).expect("there");
    let mut all = BTreeSet::from([initial.clone()]);
    let mut waiting = vec![initial];
    while let Some(state) = waiting.pop() {
        for way in expand(model, &state).ways {
            if all.insert(way.target.clone()) {
                waiting.push(way.target);
            }
        }
    }
    all
}

/// As [`truth`], of runs with this many choices at most: every combination of delays and choices for itself.
pub fn truth_with_choices<M, D>(model: &mut M, scheduler: &D, delays_max: u32, choices_max: u32) -> Truth
where
    M: Processes<Label = Label, Fault = u32>,
    D: Scheduler<Label>,
{
    let mut truth = Truth::default();
    let mut initial = Vec::new();
    model.initial(&mut initial).expect("there");
    let first = expand(model, &initial);
    let start = scheduler.start(Situation { state: &initial, enabled: &first.enabled });
    let mut seen = std::collections::HashSet::new();
    let mut waiting = vec![(initial, start, 0, 0)];
    while let Some((state, schedule, delays, choices)) = waiting.pop() {
        if delays_max < delays || choices_max < choices {
            continue;
        }
        if !seen.insert((state.clone(), schedule.clone(), delays, choices)) {
            continue;
        }
        let expanded = expand(model, &state);
        let fewest = |known: &mut u32| *known = delays.min(*known);
        truth.delays.entry(state.clone()).and_modify(fewest).or_insert(delays);
        let Some(process) = scheduler.next(&schedule) else { continue };
        for (_, label, choice) in expanded.faults.iter().filter(|(mover, ..)| *mover == process) {
            if choices + u32::from(*choice) <= choices_max {
                truth.faults.entry(*label).and_modify(fewest).or_insert(delays);
            }
        }
        for way in expanded.ways.iter().filter(|way| way.process == process) {
            let after = expand(model, &way.target);
            let before = Situation { state: &state, enabled: &expanded.enabled };
            let schedule = scheduled(scheduler, &schedule, (before, way), &after.enabled);
            waiting.push((way.target.clone(), schedule, delays, choices + u32::from(way.choice)));
        }
        if expanded.enabled.len() > 1 && !scheduler.is_sealed(&schedule) {
            let mut delayed = schedule;
            scheduler.delay(&mut delayed);
            waiting.push((state, delayed, delays + 1, choices));
        }
    }
    truth
}
