//! Random models: the classes of equivalent executions found by exchanging neighbours, one by one, are as many as are
//! counted, with and without reduction; and every execution listed is walked by the reference interpreter.

use super::*;
use fabius_search::executions::Independence;
use fabius_search::{Model, Next};
use fabius_task::settings;
use fabius_testkit::generate::small;
use std::collections::{HashMap, HashSet};

/// Models with more interleavings are only compared with and without reduction.
const INTERLEAVINGS_MAX: usize = 300;
const NODES_MAX: u64 = 4_000;
/// Moves that can follow in the atomic sequences of a state; with more, they may be infinite.
const MOVES_MAX: usize = 200;

pub(super) fn load(text: &str) -> Loaded {
    let settings = settings::Settings::default();
    fabius_task::load("random.pml", text.to_owned(), &[], &mut |_, _| None, &settings)
}

/// All executions of a model, if there are at most this many.
pub(super) fn all_executions(text: &str, max: usize) -> Option<Vec<ListedExecution>> {
    let loaded = load(text);
    let program = loaded.checkable().and_then(|_| loaded.as_written())?;
    let limits = Limits { states_max: Some(NODES_MAX), ..Limits::default() };
    let request = ExecutionsRequest { count: max, limits, ..ExecutionsRequest::default() };
    let cancel = Cancel::new();
    let mut question = Question::new(&program, &request, &cancel).ok()?;
    let (mut model, mut explored) = question.count();
    let few = explored.ended == Ended::Complete && explored.graph.numbers().all <= max as u128;
    few.then(|| question.list(&mut model, &mut explored.graph).expect("they are walked"))
}

/// What a process does until another one may move.
#[derive(Clone)]
pub(super) struct Event {
    pub moves: Vec<Move>,
    pub name: u32,
    pub last_resort: bool,
    /// The state after it; `None` if it ends with a runtime error.
    pub next: Option<Vec<u32>>,
    pub fails: bool,
    /// Loops that it may close.
    laps: Vec<u32>,
}

/// The state after all processes have ended that can, where it is all the same when they do: these ends are no events.
pub(super) fn settled(model: &mut Interleaved, mut state: Vec<u32>) -> Vec<u32> {
    while model.ends_quietly_now(&state) {
        let (mut cursor, mut next) = (model.begin(&state), Vec::new());
        let Next::Successor { .. } = model.next(&state, &mut cursor, &mut next) else { break };
        state = next;
    }
    state
}

/// The events of an ordinary state that are no waiting; `None` if there are too many.
pub(super) fn events(model: &mut Interleaved, state: &[u32]) -> Option<Vec<Event>> {
    let mut found = Vec::new();
    let mut open = vec![(state.to_vec(), Vec::new(), None::<(u32, bool, Vec<u32>)>, false)];
    let mut visited = 0;
    while let Some((here, moves, first, failed)) = open.pop() {
        visited += 1;
        let mut cursor = model.begin(&here);
        let mut successor = Vec::new();
        if MOVES_MAX < visited {
            return None;
        }
        loop {
            let next = model.next(&here, &mut cursor, &mut successor);
            let (label, fault, transient, broken) = match next {
                Next::Done(_) => break,
                Next::Successor { label, transient, fault, .. } => (label, fault.is_some(), transient, false),
                Next::Broken { label, .. } => (Some(label), true, false, true),
            };
            let waits = first.is_none() && !transient && !broken && successor == here;
            if waits && label.is_some_and(|label| model.is_waiting(&label)) {
                continue;
            }
            let mut named = || {
                let laps: Vec<u32> = model.laps_of(state, &label?).into_iter().flatten().collect();
                Some((model.name_of(state, &label?)?, model.is_last_resort(&cursor), laps))
            };
            let first = match &first {
                Some(first) => first.clone(),
                None => named()?,
            };
            let moves: Vec<Move> = moves.iter().copied().chain(label).collect();
            let fails = failed || fault;
            if transient {
                open.push((successor.clone(), moves, Some(first), fails));
            } else {
                let next = (!broken).then(|| settled(model, successor.clone()));
                found.push(Event { moves, name: first.0, last_resort: first.1, next, fails, laps: first.2 });
            }
        }
    }
    Some(found)
}

/// An interleaving: its events, and the states before them and at its end.
pub(super) type Interleaving = (Vec<Event>, Vec<Vec<u32>>);

pub(super) fn interleavings(model: &mut Interleaved, laps_max: Option<u32>) -> Option<Vec<Interleaving>> {
    let mut initial = Vec::new();
    model.initial(&mut initial).ok()?;
    let (mut open, mut all) = (vec![(Vec::<Event>::new(), vec![initial])], Vec::new());
    while let Some((path, states)) = open.pop() {
        let last = states.last()?.clone();
        let broken = path.last().is_some_and(|event| event.next.is_none());
        let mut next = if broken { Vec::new() } else { events(model, &last)? };
        let times = |key: &u32| path.iter().flat_map(|event| &event.laps).filter(|other| *other == key).count() as u32;
        let is_free = |event: &Event| event.laps.iter().all(|key| laps_max.is_none_or(|max| times(key) < max));
        next.retain(|event| event.next.is_none() || is_free(event));
        if next.is_empty() {
            all.push((path, states));
            continue;
        }
        for event in next {
            let mut states = states.clone();
            states.extend(event.next.clone());
            open.push((path.iter().cloned().chain([event]).collect(), states));
        }
        if INTERLEAVINGS_MAX < open.len() + all.len() {
            return None;
        }
    }
    Some(all)
}

fn moves_of(path: &[Event]) -> Vec<Move> {
    path.iter().flat_map(|event| event.moves.clone()).collect()
}

/// For each interleaving, one that exchanges of independent neighbours lead to, the same for the whole class.
pub(super) fn classes(model: &mut Interleaved, all: &[Interleaving]) -> Result<Vec<usize>, String> {
    let numbers: HashMap<Vec<Move>, usize> = all.iter().enumerate().map(|(i, run)| (moves_of(&run.0), i)).collect();
    let mut class: Vec<usize> = (0..all.len()).collect();
    let root = |class: &[usize], mut at: usize| {
        while class[at] != at {
            at = class[at];
        }
        at
    };
    for (number, (path, states)) in all.iter().enumerate() {
        for at in 0..path.len().saturating_sub(1) {
            let possible = events(model, &states[at]).ok_or("too many events")?;
            let is_possible = possible.iter().any(|event| event.name == path[at + 1].name);
            let mut kept = vec![path[at + 1].name];
            if !is_possible || path[at].last_resort {
                continue;
            }
            model.retain_independent(&states[at], path[at].name, &mut kept);
            if kept.is_empty() {
                continue;
            }
            let mut other = path.clone();
            other.swap(at, at + 1);
            let Some(other) = numbers.get(&moves_of(&other)) else {
                return Err(format!(
                    "independent steps cannot be exchanged: {:?}",
                    &path[at..at + 2].iter().map(|e| &e.moves).collect::<Vec<_>>()
                ));
            };
            if all[*other].1.last() != states.last() {
                return Err("the order of independent steps matters".to_owned());
            }
            let (a, b) = (root(&class, number), root(&class, *other));
            class[a.max(b)] = a.min(b);
        }
    }
    Ok((0..all.len()).map(|at| root(&class, at)).collect())
}

/// This many models, or as many as the environment asks for.
#[expect(clippy::disallowed_methods, reason = "a longer test is asked for there")]
pub(super) fn seeds(default: u64) -> u64 {
    std::env::var("FABIUS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(default)
}

#[derive(Default, Debug)]
struct Tally {
    models: u64,
    enumerated: u64,
    interleavings: u64,
    executions: u64,
    walked: u64,
    cyclic: u64,
    failing: u64,
    stuck: u64,
    nodes: u64,
    nodes_reduced: u64,
}

/// Outlines and the tree say the same as the executions listed.
fn compare_views(
    question: &Question<'_>,
    (model, graph): (&mut Interleaved, &mut GraphOf),
    listed: &[ListedExecution],
) -> Result<(), String> {
    let outlines = question.outlines(model, graph)?;
    // A referee that forgets the states that it met says the same.
    let mut forgetful = Follower::remembering(&question.program, question.watch, 2);
    let mut again = Vec::new();
    question.each(model, graph, &mut |execution| {
        again.push(forgetful.follow(&question.naming.execution(execution))?);
        Ok(())
    })?;
    if again != outlines {
        return Err("outlines differ when states are forgotten".to_owned());
    }
    let outlined = outlines.iter().map(|found| (found.number, found.failed, found.end, found.steps, found.stuck.len()));
    let stuck = |run: &ListedExecution| if run.end == End::Stuck { run.trace.stuck().count() } else { 0 };
    let walked = listed.iter().map(|run| (run.number, run.failed, run.end, run.path.len(), stuck(run)));
    if !outlined.eq(walked) {
        return Err("outlines differ from executions".to_owned());
    }
    let tree = tree::of(question, model, graph, 100)?;
    let ends = tree.iter().filter(|branch| branch.end.is_some()).map(|branch| branch.first);
    let unopened = tree.iter().any(|branch| branch.unopened);
    if !unopened && !listed.iter().map(|listed| listed.number).eq(ends.take(listed.len())) {
        return Err("the ends of the tree are not the executions listed".to_owned());
    }
    Ok(())
}

#[test]
fn counted_executions_are_asked_about_one_after_the_other() {
    let text = "byte x; active [3] proctype P() { x = _pid; x = x + 1 }";
    let loaded = load(text);
    let count = |request: &ExecutionsRequest| {
        Counted::new(&loaded, request, &Cancel::new(), &|| Duration::ZERO).expect("it can be counted")
    };
    let mut counted = count(&ExecutionsRequest::default());
    let all: u128 = counted.report.executions.as_ref().and_then(|number| number.parse().ok()).expect("a number");
    assert_eq!(all_executions(text, 1000).map(|all| all.len() as u128), Some(all));
    let first = counted.alternatives(None).expect("walked");
    let (root, ways) = first.split_first().expect("a first branch");
    assert_eq!((root.numbers.all, ways.iter().map(|way| way.numbers.all).sum::<u128>()), (all, all));
    // Down to the last execution.
    let mut at = ways.last().cloned().expect("a choice");
    while at.end.is_none() {
        let below = counted.alternatives(Some((at.first, at.numbers.all))).expect("walked");
        at = below.last().cloned().expect("a choice");
    }
    assert_eq!(at.first, all - 1);
    let last = counted.execution(all - 1).expect("walked").expect("there");
    assert_eq!((last.number, last.failed, last.end), (all - 1, false, End::Valid));
    assert!(counted.execution(all).expect("walked").is_none());
    assert!(counted.alternatives(Some((1, all))).expect("walked").is_empty());
    // Where not everything was explored, nothing is listed.
    let limits = Limits { states_max: Some(3), ..Limits::default() };
    let mut part = count(&ExecutionsRequest { limits, ..ExecutionsRequest::default() });
    assert!(!part.report.exhaustive && part.alternatives(None).expect("walked").is_empty());
    assert!(part.execution(0).expect("walked").is_none());
}

fn compare(text: &str, laps_max: Option<u32>, tally: &mut Tally) -> Result<(), String> {
    let loaded = load(text);
    let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return Ok(()) };
    let limits = Limits { states_max: Some(NODES_MAX), ..Limits::default() };
    let numbered = ExecutionsRequest { numbered: true, ..ExecutionsRequest::default() };
    let request = ExecutionsRequest { reduction: false, count: 40, limits, laps_max, ..numbered };
    let cancel = Cancel::new();
    let Ok(mut question) = Question::new(&program, &request, &cancel) else { return Ok(()) };
    let (mut model, mut whole) = question.count();
    let reducing = ExecutionsRequest { reduction: true, ..request.clone() };
    let mut reduced_question = Question::new(&program, &reducing, &cancel).map_err(|why| why.to_string())?;
    let (reduced_model, reduced) = reduced_question.count();
    if model.is_lost() || reduced_model.is_lost() {
        return Err("no tables".to_owned());
    }
    match (&whole.ended, &reduced.ended) {
        (Ended::Complete, Ended::Complete) => {}
        (Ended::Stopped(_), _) => return Ok(()),
        (Ended::Cycle(cycle), Ended::Cycle(other)) => {
            tally.cyclic += 1;
            question.walk_cycle(cycle)?;
            question.walk_cycle(other)?;
            return Ok(());
        }
        (whole, reduced) => return Err(format!("{whole:?}, reduced {reduced:?}")),
    }
    let numbers = whole.graph.numbers();
    if numbers != reduced.graph.numbers() {
        return Err(format!("{numbers:?}, reduced {:?}", reduced.graph.numbers()));
    }
    tally.models += 1;
    tally.failing += u64::from(numbers.failing > 0);
    tally.stuck += u64::from(numbers.stuck > 0);
    tally.nodes += whole.statistics.nodes;
    tally.nodes_reduced += reduced.statistics.nodes;
    let listed = question.list(&mut model, &mut whole.graph)?;
    tally.walked += listed.len() as u64;
    compare_views(&question, (&mut model, &mut whole.graph), &listed)?;
    if question.why_not.is_some() {
        return Ok(());
    }
    let mut plain = question.model(false);
    let Some(all) = interleavings(&mut plain, laps_max) else { return Ok(()) };
    let class = classes(&mut plain, &all)?;
    let executions = class.iter().enumerate().filter(|(at, class)| at == *class).count() as u128;
    let failing = |at: &usize| all[*at].0.iter().any(|event| event.fails);
    let failing = class.iter().enumerate().filter(|(at, class)| at == *class && failing(at)).count() as u128;
    if (executions, failing) != (numbers.all, numbers.failing) {
        return Err(format!("{executions} executions, {failing} failing by enumeration; counted {numbers:?}"));
    }
    let every = question.interleavings(&whole);
    if every != Some(all.len() as u128) {
        return Err(format!("{} interleavings, counted {every:?}", all.len()));
    }
    let events_of = |path: &[Move]| -> Vec<Move> {
        let is_event = |step: &&Move| !plain.is_quiet_end(step);
        path.iter().filter(is_event).copied().collect()
    };
    let of: HashMap<Vec<Move>, usize> = all.iter().zip(&class).map(|(run, class)| (moves_of(&run.0), *class)).collect();
    let met: HashSet<usize> = listed.iter().filter_map(|listed| of.get(&events_of(&listed.path)).copied()).collect();
    if met.len() != listed.len() {
        return Err("two listed executions are equivalent, or one is unknown".to_owned());
    }
    tally.enumerated += 1;
    tally.interleavings += all.len() as u64;
    tally.executions += executions as u64;
    Ok(())
}

fn compare_all(seeds: std::ops::Range<u64>, laps_max: Option<u32>, text: impl Fn(u64) -> String) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = text(seed);
        if let Err(why) = compare(&text, laps_max, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    tally
}

#[test]
fn random_models_have_as_many_executions_as_enumeration_finds() {
    let tally = compare_all(0..seeds(120), None, small::model);
    assert!(tally.enumerated > 20 && tally.executions < tally.interleavings, "{tally:?}");
    assert!(tally.nodes_reduced < tally.nodes && tally.failing > 5 && tally.stuck > 5 && tally.cyclic > 5, "{tally:?}");
}

#[test]
fn so_have_models_whose_processes_talk() {
    let tally = compare_all(0..seeds(60), None, fabius_testkit::generate::messages::model);
    assert!(tally.enumerated > 20 && tally.executions < tally.interleavings, "{tally:?}");
}

#[test]
fn so_have_models_whose_processes_meet() {
    let tally = compare_all(0..seeds(60), None, fabius_testkit::generate::meetings::model);
    assert!(tally.enumerated > 20 && tally.executions < tally.interleavings, "{tally:?}");
}

#[test]
fn so_have_models_whose_loops_are_passed_a_few_times() {
    for laps_max in [0, 1] {
        let tally = compare_all(0..seeds(60), Some(laps_max), small::model);
        // An atomic sequence may go on for ever by itself.
        assert!(tally.enumerated > 5 && tally.cyclic * 10 < tally.models, "{tally:?}");
    }
}

#[test]
fn so_have_models_with_everything_that_a_model_can_have() {
    let tally = compare_all(0..seeds(40), None, |seed| {
        let sketch = if seed % 2 == 0 {
            fabius_testkit::generate::model(seed)
        } else {
            fabius_testkit::generate::model_with_faults(seed)
        };
        sketch.text()
    });
    assert!(tally.models > 3, "{tally:?}");
}
