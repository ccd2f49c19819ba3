//! Recorded footprints against all interleavings of small models: steps that follow each other and do not meet can be exchanged,
//! with the same footprints, to the same state; and every search without a table meets each class of interleavings once.

use super::model::Interleaved;
use super::tests::{Event, interleavings, load, seeds};
use super::*;
use fabius_search::executions::{Dependence, Footprint, Message, Met, StatelessSettings, Traffic, explore_stateless};
use fabius_testkit::generate::{indexed, messages, small};
use std::collections::{HashMap, HashSet};

const METHODS: [Method; 3] = [Method::Sleep, Method::Source, Method::Optimal];
const NODES_MAX: u64 = 20_000;

type Touched = Footprint<<Interleaved as Dependence>::Touched>;
/// A message, with its number among those sent, or received, on its channel.
type Sent = Option<(Message, u64)>;

/// What the events of an interleaving touch, one after the other.
fn touched(model: &mut Interleaved, (path, states): &(Vec<Event>, Vec<Vec<u32>>)) -> Vec<(Touched, Sent)> {
    let mut received: HashMap<u32, u64> = HashMap::new();
    let mut found = Vec::new();
    for (at, event) in path.iter().enumerate() {
        let after = states.get(at + 1).map(Vec::as_slice);
        let footprint = model.footprint(&states[at], &event.moves, after).expect("it has one");
        let sent = footprint.message.map(|message| {
            let before = received.entry(message.channel).or_default();
            let number = *before + if message.traffic == Traffic::Send { u64::from(message.level) } else { 0 };
            *before += u64::from(message.traffic == Traffic::Receive);
            (message, number)
        });
        found.push((footprint, sent));
    }
    found
}

fn depend(model: &mut Interleaved, one: &(Touched, Sent), other: &(Touched, Sent)) -> bool {
    let follows = |(sent, number): &(Message, u64), (received, theirs): &(Message, u64)| {
        let room = theirs + u64::from(sent.capacity);
        sent.channel == received.channel
            && sent.traffic == Traffic::Send
            && match received.traffic {
                Traffic::Receive => *number == *theirs || *number == room,
                Traffic::Peek => number == theirs,
                Traffic::Send => false,
            }
    };
    let messages = one.1.iter().zip(&other.1).any(|(a, b)| follows(a, b) || follows(b, a));
    messages || model.depend(&one.0.touched, &other.0.touched)
}

/// The class of each interleaving, by its moves without the ends of processes that it is all the same when they come.
fn classes(model: &mut Interleaved, all: &[(Vec<Event>, Vec<Vec<u32>>)]) -> Result<HashMap<Vec<Move>, usize>, String> {
    let moves = |path: &[Event]| -> Vec<Move> { path.iter().flat_map(|event| event.moves.clone()).collect() };
    let of: HashMap<Vec<Move>, usize> = all.iter().enumerate().map(|(at, run)| (moves(&run.0), at)).collect();
    let mut class: Vec<usize> = (0..all.len()).collect();
    fn root(class: &[usize], mut at: usize) -> usize {
        while class[at] != at {
            at = class[at];
        }
        at
    }
    let footprints: Vec<_> = all.iter().map(|run| touched(model, run)).collect();
    for (number, (path, states)) in all.iter().enumerate() {
        for at in 0..path.len().saturating_sub(1) {
            if depend(model, &footprints[number][at], &footprints[number][at + 1]) {
                continue;
            }
            let mut swapped = path.clone();
            swapped.swap(at, at + 1);
            let pair = || (&path[at].moves, &path[at + 1].moves);
            let Some(other) = of.get(&moves(&swapped)).copied() else {
                return Err(format!("steps that do not meet cannot be exchanged: {:?}", pair()));
            };
            if all[other].1.last() != states.last() {
                return Err(format!("the order of steps that do not meet matters: {:?}", pair()));
            }
            if depend(model, &footprints[other][at], &footprints[other][at + 1]) {
                return Err(format!("exchanged, they meet: {:?}", pair()));
            }
            let (a, b) = (root(&class, number), root(&class, other));
            class[a.max(b)] = a.min(b);
        }
    }
    Ok(of.into_iter().map(|(moves, at)| (moves, root(&class, at))).collect())
}

#[derive(Default, Debug)]
struct Tally {
    models: u64,
    interleavings: usize,
    executions: usize,
    by_text: u128,
    /// By recorded footprints and by the text: of sleep sets, source sets, wakeup trees.
    redundant: [[u64; 2]; 3],
}

fn compare(text: &str, tally: &mut Tally) -> Result<(), String> {
    let loaded = load(text);
    let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return Ok(()) };
    let by = By::Stateless(Method::Optimal);
    let request = ExecutionsRequest { by, relation: Relation::Recorded, ..ExecutionsRequest::default() };
    let cancel = Cancel::new();
    let question = Question::new(&program, &request, &cancel).map_err(|why| why.to_string())?;
    if question.unsuited().is_some() {
        return Ok(());
    }
    let mut model = question.model(false);
    // Only of models that end there are all interleavings.
    let limits = Limits { states_max: Some(NODES_MAX), ..Limits::default() };
    if explore(&mut model, TreeStore::default(), &question.settings(true, limits)).ended != Ended::Complete {
        return Ok(());
    }
    let Some(all) = interleavings(&mut model, None) else { return Ok(()) };
    let computed = |event: &Event| event.next.is_some();
    if !all.iter().all(|(path, _)| path.iter().all(computed)) {
        return Ok(());
    }
    classes(&mut question.model_by(Relation::Footprints, false), &all)?;
    let classes = classes(&mut model, &all)?;
    let quiet = |step: &Move| model.is_quiet_end(step);
    let expected: HashSet<usize> = classes.values().copied().collect();
    for (method, redundant) in METHODS.into_iter().zip(&mut tally.redundant) {
        let limits = Limits { states_max: Some(NODES_MAX), ..Limits::default() };
        let settings = StatelessSettings { method, limits, cancel: cancel.clone() };
        for (relation, redundant) in [Relation::Recorded, Relation::Footprints].into_iter().zip(redundant) {
            let mut searched = question.model_by(relation, false);
            let (mut met, mut wrong) = (HashSet::new(), None);
            let found = explore_stateless(&mut searched, &settings, &mut |run: Met<'_, Move>| {
                let path: Vec<Move> = run.path.iter().copied().filter(|step| !quiet(step)).collect();
                match classes.get(&path) {
                    Some(class) if met.insert(*class) || relation == Relation::Footprints => {}
                    Some(_) => wrong = Some(format!("{method:?} meets a class twice")),
                    None => wrong = Some(format!("{method:?} meets an unknown execution: {path:?}")),
                }
            });
            if found.contradiction || found.ended != Ended::Complete {
                return Err(format!("{method:?}, {relation:?}: {:?}, {}", found.ended, found.contradiction));
            }
            if let Some(wrong) = wrong {
                return Err(wrong);
            }
            if met != expected {
                return Err(format!("{method:?}, {relation:?} meets {} of {} classes", met.len(), expected.len()));
            }
            if method == Method::Optimal && found.redundant_runs > 0 {
                return Err(format!("{} runs are redundant, {relation:?}", found.redundant_runs));
            }
            *redundant += found.redundant_runs;
            if method == Method::Optimal && relation == Relation::Footprints {
                tally.by_text += found.numbers.all;
            }
        }
    }
    tally.models += 1;
    tally.interleavings += all.len();
    tally.executions += expected.len();
    Ok(())
}

fn compare_all(seeds: u64, make: impl Fn(u64) -> String) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..seeds {
        let text = make(seed);
        if let Err(why) = compare(&text, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    tally
}

#[test]
fn recorded_footprints_of_random_models_agree_with_enumeration() {
    let tally = compare_all(seeds(200), indexed::model);
    assert!(tally.models > 60 && (tally.executions as u128) < tally.by_text, "{tally:?}");
}

/// What one process writes decides in which way the atomic sequence of another goes on, without being part of a guard.
#[test]
fn what_an_atomic_sequence_computes_with_may_keep_it_from_going_on() {
    let text = "byte a[3], i, j, x; chan c[2] = [1] of { byte };
        active proctype P() { byte k; d_step { a[a[0] % 3]++; a[a[0] % 3] = 1 }; atomic { k = j + 1; c[k % 2]!x } }
        active proctype Q() { byte k; c[1]!k; atomic { i = 1; a[i % 3] > 0; c[i % 2]?k }; c[1]!k; j = 1 }";
    let mut tally = Tally::default();
    compare(text, &mut tally).expect("all searches agree");
    assert_eq!((tally.models, tally.by_text), (1, 11));
}

#[test]
fn so_do_those_of_models_with_messages_and_locks() {
    let tally = compare_all(seeds(120), |seed| if seed % 2 == 0 { small::model(seed) } else { messages::model(seed) });
    assert!(tally.models > 20, "{tally:?}");
}
