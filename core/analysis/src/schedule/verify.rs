//! Schedules checked before they are shown: the model under a schedule, searched by the ordinary search.

use super::Explored;
use super::places::Places;
use super::restricted::{Restricted, Restriction};
use fabius_base::{Cancel, Limits as Bounds};
use fabius_model::SearchedMachine;
use fabius_search::restrict::{Explorer, FixedOrder, Limits, Round, Solution, movers_ahead, movers_within};
use fabius_search::schedule::{Alike, RoundRobin};
use fabius_search::{Completeness, Quiet, Settings, StopAt, TreeStore, breadth_first};

/// What came of checking a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verified {
    /// No error, no dead end, and nobody is shut out whom another safe schedule lets go on.
    Holds {
        /// States.
        states: u64,
        /// In which states which processes could go on, as far as is known, but cannot under the schedule; bits, by number.
        shut_out: Vec<(u32, u64)>,
    },
    /// Somebody stopped it.
    Unfinished,
    /// An atomic sequence takes along a process that has to wait: the waits are no true sentence.
    TakesAlong,
}

/// Checks waits.
///
/// # Errors
/// What is wrong, if they are not what they should be.
pub(super) fn waits(
    machine: &SearchedMachine,
    places: &Places,
    solution: &Solution,
    explored: &mut Explored,
    cancel: &Cancel,
) -> Result<Verified, String> {
    let restriction = Restriction::Waits(places, &solution.waits);
    apart(Restricted::new(machine.clone(), restriction), solution.kept, explored, cancel)
}

/// Checks a fixed order.
///
/// # Errors
/// What is wrong, if it is not what it should be.
pub(super) fn order(
    machine: &SearchedMachine,
    places: &Places,
    order: &FixedOrder,
    explored: &mut Explored,
    cancel: &Cancel,
) -> Result<Verified, String> {
    let restriction = Restriction::Order(places, &order.kinds);
    apart(Restricted::new(machine.clone(), restriction), order.kept, explored, cancel)
}

/// Checks a schedule that knows nothing of what was explored.
fn apart(
    mut restricted: Restricted<'_>,
    kept: usize,
    explored: &mut Explored,
    cancel: &Cancel,
) -> Result<Verified, String> {
    let states = match search(&mut restricted, kept, cancel)? {
        Some(states) => states,
        None => return Ok(Verified::Unfinished),
    };
    if restricted.takes_along {
        return Ok(Verified::TakesAlong);
    }
    let limits = Limits { states_max: u64::MAX, transitions_max: u64::MAX, memory_bytes_max: None };
    let mut explorer = Explorer::new(&mut restricted, &RoundRobin(Alike), limits, cancel)
        .map_err(|_| "the model under a schedule has no initial state".to_owned())?;
    loop {
        match explorer.round(usize::MAX) {
            Ok(Round::Finished(_) | Round::Paused) => {}
            Ok(Round::Complete) => break,
            Err(_) if cancel.requested().is_some() => return Ok(Verified::Unfinished),
            Err(stop) => return Err(format!("the model under a schedule was not explored: {stop:?}")),
        }
    }
    let graph = explorer.into_graph();
    let Ok(under_it) = movers_ahead(&graph, cancel) else { return Ok(Verified::Unfinished) };
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    for state in 0..graph.len() as u32 {
        graph.recall(state, &mut words);
        numbers.push(explored.graph.number_of(&words).ok_or("a state under a schedule is no state of the model")?);
    }
    let Ok(movers) = explored.movers(cancel) else { return Ok(Verified::Unfinished) };
    let mut shut_out = Vec::new();
    for (number, under_it) in numbers.into_iter().zip(under_it) {
        if movers.safely[number as usize] & !under_it != 0 {
            return Err("a schedule shuts out a process".to_owned());
        }
        shut_out.push((number, movers.in_model[number as usize] & !under_it));
    }
    shut_out.retain(|(_, processes)| *processes != 0);
    Ok(Verified::Holds { states, shut_out })
}

/// Checks the most permissive schedule.
///
/// # Errors
/// What is wrong, if it is not what it should be.
pub(super) fn region(
    machine: &SearchedMachine,
    explored: &mut Explored,
    kept: usize,
    cancel: &Cancel,
) -> Result<Verified, String> {
    let restriction = Restriction::Region(&mut explored.graph, &explored.region);
    let Some(states) = search(&mut Restricted::new(machine.clone(), restriction), kept, cancel)? else {
        return Ok(Verified::Unfinished);
    };
    let Ok(movers) = explored.movers(cancel) else { return Ok(Verified::Unfinished) };
    let within = match explored.graph.is_complete() {
        true => Ok(movers.safely.clone()),
        false => movers_within(&explored.graph, &explored.region, cancel),
    };
    let Ok(within) = within else { return Ok(Verified::Unfinished) };
    let reached = explored.region.reached(&explored.graph).into_iter();
    let lost = reached.map(|state| (state, movers.in_model[state as usize] & !within[state as usize]));
    Ok(Verified::Holds { states, shut_out: lost.filter(|(_, processes)| *processes != 0).collect() })
}

/// Searches the model under a schedule; the number of its states, unless somebody stopped it.
fn search(restricted: &mut Restricted<'_>, kept: usize, cancel: &Cancel) -> Result<Option<u64>, String> {
    let limits = Bounds { states_max: Some(kept as u64 + 1), ..Bounds::default() };
    let settings = Settings { limits, stop_at: StopAt::First, cancel: cancel.clone() };
    let outcome = breadth_first(restricted, &mut TreeStore::new(), &mut Quiet, &settings);
    if let Some(violation) = outcome.first() {
        return Err(format!("the model under a schedule has an error: {:?}", violation.kind));
    }
    if outcome.completeness != Completeness::Exhaustive {
        return match cancel.requested() {
            Some(_) => Ok(None),
            None => Err(format!("the model under a schedule has more than {kept} states")),
        };
    }
    match outcome.statistics.states == kept as u64 {
        true => Ok(Some(outcome.statistics.states)),
        false => Err(format!("the model under a schedule has {} states, not {kept}", outcome.statistics.states)),
    }
}
