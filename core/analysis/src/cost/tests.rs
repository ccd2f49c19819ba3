//! Costs, compared with sets of states from which a part was taken out by hand.

use super::*;
use fabius_task::load::load;
use fabius_task::settings::Settings;
use fabius_testkit::generate::{self, small};
use fabius_testkit::parallel;
use fabius_witness::{ChannelState, Ending, Outcome, Shared, Values, moves, released};
use std::collections::{BTreeSet, HashSet};

const MODELS: u64 = 300;
const STATES_MAX: usize = 2_000;

/// The states that are stored: nobody holds control.
fn states(program: &Program) -> Option<HashSet<State>> {
    let initial = State::initial(program).ok()?.visible(program);
    let (mut seen, mut open) = (HashSet::from([initial.clone()]), vec![initial]);
    while let Some(state) = open.pop() {
        let possible = moves(program, &state);
        let mut next: Vec<State> = (possible.successors.into_iter())
            .filter_map(|(_, outcome)| if let Outcome::Reaches { state, .. } = outcome { Some(state) } else { None })
            .collect();
        next.extend((possible.ending == Ending::LosesControl).then(|| released(&state)));
        for to in next {
            let to = to.visible(program);
            if seen.insert(to.clone()) {
                open.push(to);
            }
        }
        if STATES_MAX < seen.len() {
            return None;
        }
    }
    seen.retain(|state| state.holder.is_none());
    Some(seen)
}

/// How many states there are without a part, by its name.
fn without(program: &Program, states: &HashSet<State>, part: Part, name: &str) -> u64 {
    let (owner, variable) = name.split_once(':').map_or((None, name), |(owner, variable)| (Some(owner), variable));
    let is_it = |it: &Variable| it.name == variable;
    let taken = |state: &State| {
        let mut state = state.clone();
        let mut id = 0;
        let mut of =
            |all: &[Variable], values: &mut [Values], is_owner: bool, channels: &mut [Shared<ChannelState>]| {
                for (variable, value) in all.iter().zip(values) {
                    let is_it = is_owner && is_it(variable);
                    if is_it && part == Part::Variable {
                        *value = Values::from(vec![0; value.len()]);
                    }
                    if has_channels(variable) {
                        for _ in 0..variable.element_count() {
                            if is_it && part == Part::Channel {
                                channels[id].messages.clear();
                            }
                            id += 1;
                        }
                    }
                }
            };
        of(&program.globals, &mut state.globals, owner.is_none(), &mut state.channels);
        for process in &mut state.processes {
            let ty = program.process(process.process);
            of(&ty.locals, &mut process.locals, owner == Some(ty.name.as_str()), &mut state.channels);
            if part == Part::Places && ty.name == name {
                process.location = fabius_program::LocationId(0);
            }
        }
        state
    };
    states.iter().map(taken).collect::<HashSet<_>>().len() as u64
}

/// States in which a process is right before each statement that is never waited at: wherever it is, its process can move.
fn stops_by_definition<'p>(program: &'p Program, states: &HashSet<State>) -> BTreeSet<(&'p str, u32, u64)> {
    let mut found = BTreeSet::new();
    for (kind, process) in program.processes.iter().enumerate() {
        for at in (0..process.locations.len()).filter(|at| *at != process.entry.0 as usize) {
            let is_here = |process: &fabius_witness::ProcessState| {
                (process.process.0 as usize, process.location.0 as usize) == (kind, at)
            };
            let here = states.iter().filter(|state| state.processes.iter().any(|process| is_here(process)));
            if let (Some(statement), count @ 1..) = (never_waits(program, process, at), here.clone().count() as u64) {
                found.insert((process.name.as_str(), statement.span.start, count));
                for state in here {
                    let pids = state.processes.iter().enumerate().filter(|(_, process)| is_here(process));
                    let can_move = |pid: usize| {
                        moves(program, state).successors.iter().any(|(step, _)| usize::from(step.pid) == pid)
                    };
                    assert!(pids.into_iter().all(|(pid, _)| can_move(pid)), "{} waits", statement.text);
                }
            }
        }
    }
    found
}

/// How many costs were compared, and how many of channels among them.
fn compare(seed: u64) -> (usize, usize) {
    let text = match seed % 3 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        _ => small::model(seed),
    };
    let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &Settings::default());
    // What is hidden is no part of a state: which value it has where a state is met first is chance.
    let hides = ["hidden", "?_", "_,"].iter().any(|word| text.contains(word));
    let Some(program) = loaded.checkable().filter(|_| !hides).and_then(|_| loaded.as_written()) else { return (0, 0) };
    let Some(states) = states(&program) else { return (0, 0) };
    let costs = costs(&loaded, Limits::default(), &Cancel::new(), &Cancel::new()).expect("a model that can be run");
    assert_eq!((costs.states, &costs.limit), (states.len() as u64, &None), "seed {seed}\n{text}");
    for cost in &costs.costs {
        let expected = without(&program, &states, cost.part, &cost.name);
        assert_eq!(cost.states_without, expected, "seed {seed}: {:?} {}\n{text}", cost.part, cost.name);
    }
    // What is not told costs nothing.
    for variable in program.globals.iter().filter(|variable| costs.costs.iter().all(|cost| cost.name != variable.name))
    {
        assert_eq!(without(&program, &states, Part::Variable, &variable.name), costs.states, "{}", variable.name);
        assert_eq!(without(&program, &states, Part::Channel, &variable.name), costs.states, "{}", variable.name);
    }
    let all = costs.stops.iter().map(|stop| (stop.process.as_str(), stop.span.start, stop.states));
    assert_eq!(all.collect::<BTreeSet<_>>(), stops_by_definition(&program, &states), "seed {seed}\n{text}");
    (costs.costs.len(), costs.costs.iter().filter(|cost| cost.part == Part::Channel).count())
}

#[test]
fn costs_are_those_of_states_without_the_part() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let compared = parallel::map(&seeds, |seed| compare(*seed));
    let all: usize = compared.iter().map(|(all, _)| all).sum();
    let channels: usize = compared.iter().map(|(_, channels)| channels).sum();
    assert!(150 < all && 10 < channels, "{all} {channels}");
}

#[test]
fn what_nobody_reads_is_known_and_formulas_read() {
    let text = "byte x, y, z; ltl p { [] (z < 9) }
        active proctype P() { do :: y < 3 -> y++; x = (x + 1) % 7; z = 1 - z :: y > 0 -> y-- od }";
    let text = text.replace("x = (x + 1) % 7", "x = y * 2");
    let loaded = load("m.pml", text, &[], &mut |_, _| None, &Settings::default());
    let costs = costs(&loaded, Limits::default(), &Cancel::new(), &Cancel::new()).expect("a model");
    let read = |name: &str| costs.costs.iter().find(|cost| cost.name == name).map(|cost| cost.never_read);
    assert_eq!((read("x"), read("y"), read("z")), (Some(true), Some(false), Some(false)), "{costs:?}");
}

#[test]
fn states_looked_at_before_the_search_was_stopped_are_compared() {
    let text = "byte x; active proctype P() { do :: x++ od }";
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    let stopped = Cancel::new();
    stopped.time_out();
    let found = costs(&loaded, Limits::default(), &stopped, &Cancel::new()).expect("what is known");
    assert!(found.limit.is_some() && 0 < found.states, "{found:?}");
    assert_eq!(costs(&loaded, Limits::default(), &stopped, &stopped), None);
}
