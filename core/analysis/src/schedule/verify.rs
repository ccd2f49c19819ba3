//! Schedules checked before they are shown: the model under a schedule, searched by the ordinary search.

use super::explored::Explored;
use super::places::Places;
use super::restricted::{Listed, Restricted, Restriction};
use fabius_base::{Cancel, Limits as Bounds};
use fabius_model::SearchedMachine;
use fabius_search::restrict::{FixedOrder, Graph, Region, Solution, add_movers_ahead, possible_movers};
use fabius_search::{Completeness, Quiet, Settings, StopAt, TreeStore, breadth_first};

/// What came of checking a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verified {
    /// No error, no dead end, and nobody is shut out whom another safe schedule lets go on.
    Holds {
        /// States.
        states: u64,
        /// Who is shut out.
        shut_out: ShutOut,
    },
    /// Somebody stopped it.
    Unfinished,
    /// An atomic sequence takes along a process that has to wait: the waits are no true sentence.
    TakesAlong,
}

/// Who can go on in the model, and cannot under a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ShutOut {
    /// In which states which processes are, as far as was explored; bits, by number.
    pub(super) known: Vec<(u32, u64)>,
    /// Whether others may be as well: that depends on what was not explored, or was not computed in time.
    pub(super) more_are_possible: bool,
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
    verified(machine, Restriction::Waits(places, &solution.waits), solution.kept, explored, cancel)
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
    verified(machine, Restriction::Order(places, &order.kinds), order.kept, explored, cancel)
}

/// Checks the schedule that allows all that a region allows.
///
/// # Errors
/// What is wrong, if it is not what it should be.
pub(super) fn region(
    machine: &SearchedMachine,
    explored: &mut Explored,
    region: &Region,
    cancel: &Cancel,
) -> Result<Verified, String> {
    let kept = region.reached(&explored.graph).len();
    verified(machine, Restriction::Region(region), kept, explored, cancel)
}

/// Searches the model under a schedule, and compares what the search listed with what was explored before.
fn verified(
    machine: &SearchedMachine,
    restriction: Restriction<'_>,
    kept: usize,
    explored: &mut Explored,
    cancel: &Cancel,
) -> Result<Verified, String> {
    let promises_all = !matches!(restriction, Restriction::Region(_));
    let mut restricted = Restricted::new(machine.clone(), restriction, &mut explored.graph);
    let Some(states) = search(&mut restricted, kept, cancel)? else { return Ok(Verified::Unfinished) };
    let listed = restricted.listed;
    if listed.takes_along {
        return Ok(Verified::TakesAlong);
    }
    if listed.is_new {
        return Err("a state under a schedule is no state of the model".to_owned());
    }
    let allowed = allowed(&explored.graph, &listed)?;
    let mut met = vec![false; explored.graph.len()];
    listed.states.iter().for_each(|&state| met[state as usize] = true);
    if reached(&explored.graph, &allowed) != met {
        return Err("under a schedule other states are reached than in the graph".to_owned());
    }
    let mut ahead = vec![0; explored.graph.len()];
    let allows = |_, group: usize| allowed[group];
    if add_movers_ahead(&explored.graph, &listed.states, &mut ahead, allows, cancel).is_err() {
        return Ok(Verified::Unfinished);
    }
    let shut_out = match promises_all {
        true => {
            let Ok(safely) = explored.safe_movers(cancel) else { return Ok(Verified::Unfinished) };
            if listed.states.iter().any(|&state| safely[state as usize] & !ahead[state as usize] != 0) {
                return Err("a schedule shuts out a process".to_owned());
            }
            let Ok(in_model) = explored.movers_in_model(cancel) else { return Ok(Verified::Unfinished) };
            // Whoever could go on in what was not explored could go on safely, as far as is known, so nobody else is.
            ShutOut { known: kept_from(&listed.states, &ahead, in_model), more_are_possible: false }
        }
        false => shut_out_of_region(explored, &listed.states, &ahead, cancel),
    };
    Ok(Verified::Holds { states, shut_out })
}

/// The processes that could go on in some states, but not as a schedule allows.
fn kept_from(states: &[u32], allowed: &[u64], possible: &[u64]) -> Vec<(u32, u64)> {
    let kept = |&state: &u32| (state, possible[state as usize] & !allowed[state as usize]);
    states.iter().map(kept).filter(|(_, processes)| *processes != 0).collect()
}

/// Who is shut out by the schedule of a region, in these states.
fn shut_out_of_region(explored: &Explored, states: &[u32], ahead: &[u64], cancel: &Cancel) -> ShutOut {
    let Ok(in_model) = explored.movers_in_model(cancel) else {
        return ShutOut { known: Vec::new(), more_are_possible: true };
    };
    let known = kept_from(states, ahead, in_model);
    let more_are_possible = explored.stopped.is_some()
        && possible_movers(&explored.graph, cancel)
            .map_or(true, |possible| kept_from(states, ahead, &possible) != known);
    ShutOut { known, more_are_possible }
}

/// Of each group of the graph: whether the search listed steps of it.
fn allowed(graph: &Graph, listed: &Listed) -> Result<Vec<bool>, String> {
    let mut allowed = vec![false; graph.group_count()];
    for &(state, movers) in &listed.moves {
        let group = graph.groups_of(state).find(|&group| graph.group(group).movers == movers);
        allowed[group.ok_or("a step under a schedule is no step of the model")?] = true;
    }
    Ok(allowed)
}

/// The states of a graph that are reached along groups that are allowed.
fn reached(graph: &Graph, allowed: &[bool]) -> Vec<bool> {
    let (mut seen, mut open) = (vec![false; graph.len()], vec![0]);
    seen[0] = true;
    while let Some(state) = open.pop() {
        for group in graph.groups_of(state).filter(|&group| allowed[group]) {
            let targets = graph.targets(graph.group(group)).iter().copied();
            open.extend(targets.filter(|&target| !std::mem::replace(&mut seen[target as usize], true)));
        }
    }
    seen
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
