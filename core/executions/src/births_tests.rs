//! Processes told apart by their births, against all interleavings of the program as it is written, in which processes end
//! and get numbers in the order of creation: the names by birth are worked out here once more, from the steps alone.

use super::birth_order::Births;
use super::births::Naming;
use super::model::Interleaved;
use super::tests::{Event, events, load, seeds};
use super::*;
use fabius_program::{Action, EdgeId, LocationId, ProcessId};
use fabius_search::executions::Independence;
use fabius_search::{Ending, Model, Next};
use fabius_testkit::generate::births::model as random_model;
use std::collections::{HashMap, HashSet};

/// Models with more interleavings are only compared with and without reduction.
const INTERLEAVINGS_MAX: usize = 2_000;
const NODES_MAX: u64 = 20_000;

/// Who somebody is: number of the ancestor that exists at the start, then which child of its parent each one is.
type Birth = Vec<usize>;
/// The moves of an event, with births instead of numbers.
type NamedEvent = Vec<(Birth, EdgeId, Option<(Birth, EdgeId)>)>;

/// What becomes of the processes along a path.
#[derive(Clone)]
struct Family {
    alive: Vec<Birth>,
    children: HashMap<Birth, usize>,
}

impl Family {
    fn new(program: &Program) -> Self {
        Self { alive: (0..program.initial.len()).map(|pid| vec![pid]).collect(), children: HashMap::new() }
    }

    /// Takes a step that creates some processes, or ends one; returns it with births.
    fn step(&mut self, program: &Program, step: Move, created: usize) -> (Birth, EdgeId, Option<(Birth, EdgeId)>) {
        let birth = |pid: u8| self.alive[usize::from(pid)].clone();
        let named = (birth(step.pid), step.edge, step.partner.map(|(pid, edge)| (birth(pid), edge)));
        for _ in 0..created {
            let number = self.children.entry(named.0.clone()).or_default();
            *number += 1;
            self.alive.push([&named.0[..], &[*number]].concat());
        }
        if is_end(program, step) {
            assert_eq!(usize::from(step.pid) + 1, self.alive.len(), "only the youngest process ends");
            self.alive.pop();
        }
        named
    }
}

fn is_end(program: &Program, step: Move) -> bool {
    program.statement(program.process_of(step.edge), step.edge).action == Action::End
}

/// How many processes a statement of the generator creates.
fn created_by(program: &Program, step: Move) -> usize {
    let text = &program.statement(program.process_of(step.edge), step.edge).text;
    text.matches("run C").count()
}

/// An interleaving without the ends of processes: its events with births, and for each of them the state before it and
/// its name there.
struct Run {
    events: Vec<NamedEvent>,
    before: Vec<(Vec<u32>, Event)>,
    last: Vec<u32>,
    alive: Vec<Birth>,
    fails: bool,
    stuck: bool,
}

/// All interleavings of the program as it is written; `None` if there are too many or infinite ones.
fn runs(model: &mut Interleaved, program: &Program) -> Option<Vec<Run>> {
    let mut initial = Vec::new();
    model.initial(&mut initial).ok()?;
    let start =
        Run { events: Vec::new(), before: Vec::new(), last: initial, alive: Vec::new(), fails: false, stuck: false };
    let (mut open, mut all) = (vec![(start, Family::new(program))], Vec::new());
    while let Some((run, family)) = open.pop() {
        let next = events(model, &run.last)?;
        if next.is_empty() {
            let stuck = ends_stuck(model, &run.last);
            all.push(Run { alive: family.alive, stuck, ..run });
        } else if run.events.len() > 40 {
            return None;
        } else {
            for event in next {
                let mut family = family.clone();
                let moves = event.moves.iter();
                let named: NamedEvent =
                    moves.map(|step| family.step(program, *step, created_by(program, *step))).collect();
                let (mut names, mut before) = (run.events.clone(), run.before.clone());
                if !is_end(program, event.moves[0]) {
                    names.push(named);
                    before.push((run.last.clone(), event.clone()));
                }
                let last = event.next.clone()?;
                let next = Run {
                    events: names,
                    before,
                    last,
                    alive: Vec::new(),
                    fails: run.fails || event.fails,
                    stuck: false,
                };
                open.push((next, family));
            }
        }
        if INTERLEAVINGS_MAX < open.len() + all.len() {
            return None;
        }
    }
    Some(all)
}

fn ends_stuck(model: &mut Interleaved, state: &[u32]) -> bool {
    let (mut cursor, mut successor) = (model.begin(state), Vec::new());
    loop {
        if let Next::Done(ending) = model.next(state, &mut cursor, &mut successor) {
            return ending == Ending::InvalidEnd;
        }
    }
}

/// Values of globals, messages of channels, and who is where with which variables.
type Essence = (Vec<Vec<i32>>, Vec<Vec<Vec<i32>>>, Vec<Resident>);
/// Who is where with which variables.
type Resident = (Birth, ProcessId, LocationId, Vec<Vec<i32>>);

/// What is left of a state if processes are told apart by birth, and one that is gone is one at its end.
fn essence(model: &mut Interleaved, run: &Run) -> Essence {
    let (machine, tables) = model.machine_and_tables();
    let program = tables.facts().program();
    let view = machine.view(&run.last).expect("a state");
    let variable = |index: usize| fabius_program::VariableId(index as u32);
    // Nobody reads it.
    let is_read = |index: &usize| program.globals[*index].name != "last";
    let globals = (0..program.globals.len()).filter(is_read).map(|index| view.global(variable(index))).collect();
    let channels = (1..=view.channel_count()).map(|id| view.channel(id).expect("it exists").messages).collect();
    let mut alive = Vec::new();
    for (pid, birth) in run.alive.iter().enumerate() {
        let process: ProcessId = view.process_of(pid).expect("it exists");
        let location = view.location_of(pid).expect("it is somewhere");
        let edges = &program.process(process).locations[location.0 as usize].edges;
        let ends = edges.clone().any(|edge| is_end(program, Move { pid: 0, edge: EdgeId(edge), partner: None }));
        if !ends {
            let locals = (0..program.process(process).locals.len()).map(|index| view.local(pid, variable(index)));
            alive.push((birth.clone(), process, location, locals.collect()));
        }
    }
    alive.sort();
    (globals, channels, alive)
}

/// The same, with processes that were created told apart by nothing but what they are and where.
type Nameless = (Essence, Vec<(ProcessId, LocationId, Vec<Vec<i32>>)>);

fn nameless((globals, channels, alive): Essence) -> Nameless {
    let (old, new): (Vec<_>, Vec<_>) = alive.into_iter().partition(|(birth, ..)| birth.len() == 1);
    let process = |(_, process, location, locals): Resident| (process, location, locals);
    let mut new: Vec<_> = new.into_iter().map(process).collect();
    new.sort();
    ((globals, channels, old), new)
}

/// Independent steps of the first states of the graph lead to the same words in both orders; returns how many.
fn exchanges(model: &mut Interleaved, states_max: usize) -> Result<u64, String> {
    let mut initial = Vec::new();
    model.initial(&mut initial).map_err(|fault| format!("{fault:?}"))?;
    let (mut seen, mut open, mut exchanged) = (HashSet::from([initial.clone()]), vec![initial], 0);
    while let Some(state) = open.pop() {
        let Some(next) = events(model, &state) else { continue };
        for (at, one) in next.iter().enumerate() {
            for other in &next[..at] {
                let mut kept = vec![other.name];
                model.retain_independent(&state, one.name, &mut kept);
                if one.last_resort || kept.is_empty() {
                    continue;
                }
                let mut after = |first: &Event, second: &Event| -> Option<HashSet<Vec<u32>>> {
                    let edges = |event: &Event| event.moves.iter().map(|step| step.edge).collect::<Vec<_>>();
                    let next = events(model, first.next.as_ref()?)?;
                    Some(next.into_iter().filter(|e| edges(e) == edges(second)).filter_map(|e| e.next).collect())
                };
                let (Some(ways), Some(others)) = (after(one, other), after(other, one)) else { continue };
                if ways.is_disjoint(&others) {
                    return Err(format!("{:?} and {:?} lead to different words", one.moves, other.moves));
                }
                exchanged += 1;
            }
        }
        for event in next.into_iter().filter_map(|event| event.next) {
            if seen.len() < states_max && seen.insert(event.clone()) {
                open.push(event);
            }
        }
    }
    Ok(exchanged)
}

#[derive(Default, Debug)]
struct Tally {
    exchanged: u64,
    outcomes: u64,
    models: u64,
    by_number: u64,
    enumerated: u64,
    with_ends: u64,
    interleavings: u64,
    executions: u128,
    by_numbers: u128,
    walked: u64,
    failing: u64,
    stuck: u64,
    nodes: u64,
    nodes_reduced: u64,
}

fn compare(text: &str, tally: &mut Tally) -> Result<(), String> {
    let loaded = load(text);
    let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else {
        return Err(format!("the generator makes faulty models: {:?}", loaded.findings));
    };
    let limits = Limits { states_max: Some(NODES_MAX), ..Limits::default() };
    let request = ExecutionsRequest { reduction: false, count: 100, limits, ..ExecutionsRequest::default() };
    let cancel = Cancel::new();
    let mut question = Question::new(&program, &request, &cancel).map_err(|why| why.to_string())?;
    if let Naming::Numbers(_) = question.naming {
        tally.by_number += 1;
        return if Births::of(&program).is_err() { Ok(()) } else { Err("births are not used".to_owned()) };
    }
    let (mut model, mut whole) = question.count();
    if matches!(whole.ended, Ended::Stopped(_)) {
        return Ok(());
    }
    if model.is_lost() || model.is_full() || whole.ended != Ended::Complete {
        return Err(format!("not explored: {:?}", whole.ended));
    }
    compare_reduced(&question, &whole, tally)?;
    let listed = list_in_all_views(&question, (&mut model, &mut whole.graph))?;
    tally.walked += listed.len() as u64;
    let mut plain = by_numbers(&question, text, whole.graph.numbers(), tally)?;
    tally.exchanged += exchanges(&mut model, 100)?;
    let Some(all) = runs(&mut plain, &program) else { return Ok(()) };
    let mut of: HashMap<&[NamedEvent], usize> = HashMap::new();
    for (at, run) in all.iter().enumerate() {
        of.entry(&run.events).or_insert(at);
    }
    let class = classes(&mut plain, &all, &of)?;
    compare_counts(&question, &whole, (&all, &class))?;
    let nameless: HashSet<Nameless> = all.iter().map(|run| nameless(essence(&mut plain, run))).collect();
    if nameless.len() as u64 != whole.statistics.outcomes {
        return Err(format!("{} final states, counted {}", nameless.len(), whole.statistics.outcomes));
    }
    tally.outcomes += whole.statistics.outcomes;
    let every = question.interleavings(&whole);
    if every != Some(of.len() as u128) {
        return Err(format!("{} interleavings, counted {every:?}", of.len()));
    }
    let met: Option<HashSet<usize>> =
        listed.iter().map(|execution| Some(class[*of.get(named(&program, execution, &of)?)?])).collect();
    if met.ok_or("an execution that is listed is unknown")?.len() != listed.len() {
        return Err("two listed executions are equivalent".to_owned());
    }
    tally.enumerated += 1;
    tally.with_ends += all.len() as u64;
    tally.interleavings += of.len() as u64;
    Ok(())
}

/// The numbers are the same with reduction.
fn compare_reduced(question: &Question<'_>, whole: &ExploredGraph, tally: &mut Tally) -> Result<(), String> {
    let reducing = ExecutionsRequest { reduction: true, ..question.request.clone() };
    let mut reduced_question =
        Question::new(&question.program, &reducing, question.cancel).map_err(|why| why.to_string())?;
    let (_, reduced) = reduced_question.count();
    let numbers = whole.graph.numbers();
    if reduced.ended != Ended::Complete || numbers != reduced.graph.numbers() {
        return Err(format!("{numbers:?}, reduced {:?} {:?}", reduced.ended, reduced.graph.numbers()));
    }
    tally.models += 1;
    tally.failing += u64::from(numbers.failing > 0);
    tally.stuck += u64::from(numbers.stuck > 0);
    tally.nodes += whole.statistics.nodes;
    tally.nodes_reduced += reduced.statistics.nodes;
    Ok(())
}

/// All executions, walked by the referee; so are their outlines and the tree.
fn list_in_all_views(
    question: &Question<'_>,
    (model, graph): (&mut Interleaved, &mut GraphOf),
) -> Result<Vec<ListedExecution>, String> {
    let listed = question.list(model, graph)?;
    let outlines = question.outlines(model, graph)?;
    if !outlines.iter().map(|found| (found.end, found.steps)).eq(listed.iter().map(|run| (run.end, run.path.len()))) {
        return Err("outlines differ from executions".to_owned());
    }
    tree::of(question, model, graph, 50)?;
    Ok(listed)
}

/// The program as it is written, in which only the relation knows that numbers are not looked at.
fn by_numbers(question: &Question<'_>, text: &str, numbers: Numbers, tally: &mut Tally) -> Result<Interleaved, String> {
    let numbered = ExecutionsRequest { numbered: true, ..question.request.clone() };
    let mut plain = Question::new(&question.program, &numbered, question.cancel).map_err(|why| why.to_string())?;
    let (_, explored) = plain.count();
    if explored.ended == Ended::Complete {
        let finer = explored.graph.numbers();
        if finer.all < numbers.all {
            return Err(format!("{numbers:?}, by numbers {finer:?}"));
        }
        tally.by_numbers += finer.all;
        tally.executions += numbers.all;
    }
    // Nobody reads what `run` returns, so it might as well not be kept.
    let loaded = load(&text.replace("last = run", "run"));
    let forgetful = loaded.checkable().and_then(|_| loaded.as_written()).ok_or("the model is faulty")?;
    plain.facts = Arc::new(Facts::of(forgetful, &[]).by_birth());
    Ok(plain.model(false))
}

/// The class of each interleaving: those to which exchanges of independent neighbours lead.
fn classes(plain: &mut Interleaved, all: &[Run], of: &HashMap<&[NamedEvent], usize>) -> Result<Vec<usize>, String> {
    let mut class: Vec<usize> = all.iter().map(|run| of[&run.events[..]]).collect();
    let essences: Vec<Essence> = all.iter().map(|run| essence(plain, run)).collect();
    let root = |class: &[usize], mut at: usize| {
        while class[at] != at {
            at = class[at];
        }
        at
    };
    for (at, run) in all.iter().enumerate() {
        let twin = of[&run.events[..]];
        if essences[twin] != essences[at] || all[twin].stuck != run.stuck || all[twin].fails != run.fails {
            return Err("when processes end matters".to_owned());
        }
        for first in 0..run.events.len().saturating_sub(1) {
            if !are_independent(plain, &run.before[first], &run.before[first + 1].1)? {
                continue;
            }
            let mut swapped = run.events.clone();
            swapped.swap(first, first + 1);
            let Some(other) = of.get(&swapped[..]) else {
                return Err(format!("independent steps cannot be exchanged: {:?}", &run.events[first..first + 2]));
            };
            if essences[*other] != essences[at] {
                return Err("the order of independent steps matters".to_owned());
            }
            let (a, b) = (root(&class, at), root(&class, *other));
            class[a.max(b)] = a.min(b);
        }
    }
    Ok((0..all.len()).map(|at| root(&class, at)).collect())
}

/// Whether an event that is taken in a state and the next one are independent there.
fn are_independent(plain: &mut Interleaved, (state, one): &(Vec<u32>, Event), other: &Event) -> Result<bool, String> {
    let possible = events(plain, state).ok_or("too many events")?;
    let exists = usize::from(other.moves[0].pid) < plain.machine_and_tables().0.process_count(state);
    if one.last_resort || !exists || !possible.iter().any(|event| event.name == other.name) {
        return Ok(false);
    }
    let mut kept = vec![other.name];
    plain.retain_independent(state, one.name, &mut kept);
    Ok(!kept.is_empty())
}

fn compare_counts(
    question: &Question<'_>,
    whole: &ExploredGraph,
    (all, class): (&[Run], &[usize]),
) -> Result<(), String> {
    let count = |wanted: &dyn Fn(&Run) -> bool| {
        all.iter().enumerate().filter(|(at, run)| class[*at] == *at && wanted(run)).count() as u128
    };
    let found = [count(&|_| true), count(&|run| run.fails), count(&|run| run.stuck)];
    let numbers = whole.graph.numbers();
    if found != [numbers.all, numbers.failing, numbers.stuck] {
        let naming = question.naming.word();
        return Err(format!("{found:?} executions, failing, stuck by enumeration; counted {numbers:?} by {naming:?}"));
    }
    Ok(())
}

/// The interleaving that an execution is, by its events.
fn named<'r>(
    program: &Program,
    execution: &ListedExecution,
    of: &HashMap<&'r [NamedEvent], usize>,
) -> Option<&'r [NamedEvent]> {
    let mut family = Family::new(program);
    let mut named: Vec<_> = Vec::new();
    for step in &execution.path {
        let step_named = family.step(program, *step, created_by(program, *step));
        named.extend((!is_end(program, *step)).then_some(step_named));
    }
    of.keys().copied().find(|events| events.iter().flatten().eq(&named))
}

#[test]
fn random_models_that_create_processes_have_as_many_executions_as_enumeration_finds() {
    let mut tally = Tally::default();
    for seed in 0..seeds(300) {
        let text = random_model(seed);
        if let Err(why) = compare(&text, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    assert!(tally.enumerated > 40 && tally.interleavings < tally.with_ends, "{tally:?}");
    assert!(tally.executions < tally.by_numbers && tally.nodes_reduced < tally.nodes, "{tally:?}");
    assert!(tally.exchanged > 1_000 && tally.outcomes > tally.enumerated, "{tally:?}");
    assert!(tally.by_number > 5 && tally.failing > 5 && tally.stuck > 5, "{tally:?}");
}
