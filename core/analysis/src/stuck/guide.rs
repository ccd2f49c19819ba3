//! Leads a search to where processes could get stuck.
//!
//! A state's distance from a candidate is the sum, over its processes, of the number of edges from where the process is to
//! its place. Where a process can no longer come to its place the candidate is out of reach, and a state from which all
//! are is hopeless. Where there are no candidates, the number of alternatives that can be taken is the distance (the
//! *active processes* of Edelkamp, Leue, Lluch-Lafuente, *Directed explicit-state model checking in the validation of
//! communication protocols*, STTT 2004).

use fabius_machine::{Machine, Reader};
use fabius_program::facts::{Candidates, Whereabouts};
use fabius_program::{Action, Move, ProcessId, Program};
use fabius_search::best_first::Guide;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a search met: the path, and the candidate at which it ends, if it is known which.
pub(super) struct Met {
    pub path: Vec<Move>,
    pub candidate: Option<usize>,
}

/// Leads a search to candidates.
pub(super) struct Guiding<'a> {
    program: Arc<Program>,
    machine: Machine,
    candidates: Option<&'a Candidates>,
    /// For each participant and each of its places, the distance from each location.
    distances: HashMap<(usize, u32), Vec<Option<u32>>>,
    /// No process is created after the start: each participant is known by its number.
    numbered: bool,
    /// Go on for the candidates that were not met.
    every: bool,
    /// Every deadlock is at a candidate.
    all: bool,
    open: Vec<bool>,
    /// Of each candidate, whether a deadlock was met that may be at it or at another one.
    pub perhaps: Vec<bool>,
    /// By the machine's number for the types of a state's processes: their types and where their locations stand.
    shapes: HashMap<u32, Vec<(ProcessId, Option<Reader>)>>,
    pub met: Vec<Met>,
    /// A deadlock was met where none can be: what is wrong.
    pub failure: Option<String>,
}

impl<'a> Guiding<'a> {
    pub(super) fn new(
        program: Arc<Program>,
        machine: Machine,
        candidates: Option<&'a Candidates>,
        every: bool,
        all: bool,
    ) -> Self {
        let mut distances = HashMap::new();
        for (participant, at) in candidates.into_iter().flat_map(places) {
            let process = candidates.map(|it| it.participants[participant].process());
            let of = |process| distances_to(&program, process, at);
            distances.entry((participant, at)).or_insert_with(|| process.map_or_else(Vec::new, of));
        }
        Self {
            open: vec![true; candidates.map_or(0, |it| it.list.len())],
            perhaps: vec![false; candidates.map_or(0, |it| it.list.len())],
            numbered: candidates.is_some_and(|it| it.participants.iter().all(|it| it.creator.is_none())),
            distances,
            program,
            machine,
            candidates,
            every,
            all,
            shapes: HashMap::new(),
            met: Vec::new(),
            failure: None,
        }
    }

    /// The types and locations of the processes of a state.
    fn processes(&mut self, state: &[u32]) -> Vec<(ProcessId, u32)> {
        let Self { machine, shapes, .. } = self;
        let Some(shape) = machine.shape_number(state) else { return Vec::new() };
        let readers = shapes.entry(shape).or_insert_with(|| {
            let reader = |pid| Some((machine.process_at(shape, pid)?, machine.location_reader(shape, pid)));
            (0..machine.process_count(state)).map_while(reader).collect()
        });
        let at = |reader: &Option<Reader>| reader.map_or(0, |reader| reader.read(state) as u32);
        readers.iter().map(|(process, reader)| (*process, at(reader))).collect()
    }

    /// How far processes are from a candidate; `None` if it is out of reach.
    fn distance_to(&self, candidate: &[Whereabouts], processes: &[(ProcessId, u32)]) -> Option<u32> {
        let mut sum = 0;
        for (participant, place) in candidate.iter().enumerate() {
            let Whereabouts::At(place) = place else { continue };
            let present = processes.get(participant).filter(|(process, _)| {
                self.candidates.is_some_and(|it| it.participants[participant].process() == *process)
            });
            sum += match present {
                Some((_, at)) => {
                    let known = self.distances.get(&(participant, place.0)).and_then(|it| it.get(*at as usize));
                    match known.copied().flatten() {
                        Some(distance) => distance,
                        None if self.numbered => return None,
                        None => 0,
                    }
                }
                None if self.numbered && !self.only_ends(participant, place.0) => return None,
                None => 0,
            };
        }
        Some(sum)
    }

    /// Whether nothing is left to a participant but to end.
    fn only_ends(&self, participant: usize, at: u32) -> bool {
        self.candidates.is_some_and(|it| only_ends(&self.program, it.participants[participant].process(), at))
    }

    /// The candidates at which these processes are.
    fn candidates_at(&self, processes: &[(ProcessId, u32)]) -> Vec<usize> {
        let Some(candidates) = self.candidates else { return Vec::new() };
        let staying = |(process, at): &(ProcessId, u32)| !only_ends(&self.program, *process, *at);
        let sorted = |mut places: Vec<(ProcessId, u32)>| {
            places.sort_unstable();
            places
        };
        let here = sorted(processes.iter().copied().filter(staying).collect());
        let is_at = |candidate: &Vec<Whereabouts>| {
            if self.numbered {
                return self.distance_to(candidate, processes) == Some(0);
            }
            let place = |(it, place): (&fabius_program::facts::Participant, &Whereabouts)| match place {
                Whereabouts::Absent => None,
                Whereabouts::At(at) => Some((it.process(), at.0)).filter(staying),
            };
            here == sorted(candidates.participants.iter().zip(candidate).filter_map(place).collect())
        };
        candidates.list.iter().enumerate().filter(|(_, candidate)| is_at(candidate)).map(|(at, _)| at).collect()
    }

    /// The candidates at which the processes of a state are.
    #[cfg(test)]
    pub(super) fn candidates_of(&mut self, state: &[u32]) -> Vec<usize> {
        let processes = self.processes(state);
        self.candidates_at(&processes)
    }

    /// How many alternatives can be taken.
    fn alternatives(&mut self, state: &[u32], count: usize) -> u32 {
        let Some(shape) = self.machine.shape_number(state) else { return 0 };
        (0..count).map(|pid| self.machine.executable(state, shape, pid as u8).count_ones()).sum()
    }
}

impl Guide<Move> for Guiding<'_> {
    fn distance(&mut self, state: &[u32]) -> Option<u32> {
        let processes = self.processes(state);
        let Some(candidates) = self.candidates else { return Some(self.alternatives(state, processes.len())) };
        let open = candidates.list.iter().zip(&self.open).filter(|(_, open)| **open || !self.numbered);
        open.filter_map(|(candidate, _)| self.distance_to(candidate, &processes)).min()
    }

    fn meet(&mut self, state: &[u32], path: Vec<Move>) -> ControlFlow<()> {
        let processes = self.processes(state);
        let found = self.candidates_at(&processes);
        if self.candidates.is_some() && found.is_empty() {
            if !self.all {
                return ControlFlow::Continue(());
            }
            self.failure = Some(format!("a deadlock is at none of the places where one can be: {path:?}"));
            return ControlFlow::Break(());
        }
        let candidate = if found.len() == 1 { found.first().copied() } else { None };
        if candidate.is_none() {
            found.iter().for_each(|candidate| self.perhaps[*candidate] = true);
        }
        let is_new = candidate.map_or(self.met.is_empty(), |candidate| std::mem::take(&mut self.open[candidate]));
        if is_new {
            self.met.push(Met { path, candidate });
        }
        if self.every && self.candidates.is_some() && self.open.contains(&true) {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    }
}

/// The places of all candidates, by participant.
fn places(candidates: &Candidates) -> impl Iterator<Item = (usize, u32)> {
    let places = candidates.list.iter().flat_map(|candidate| candidate.iter().enumerate());
    places.filter_map(|(participant, place)| match place {
        Whereabouts::Absent => None,
        Whereabouts::At(at) => Some((participant, at.0)),
    })
}

/// Whether nothing is left to a process at a location but to end.
pub(super) fn only_ends(program: &Program, process: ProcessId, at: u32) -> bool {
    let location = &program.process(process).locations[at as usize];
    let mut edges = program.edges_of(location);
    !location.edges.is_empty() && edges.all(|(id, _)| program.statement(process, id).action == Action::End)
}

/// The fewest edges from each location of a process to one of them.
fn distances_to(program: &Program, process: ProcessId, to: u32) -> Vec<Option<u32>> {
    let locations = &program.process(process).locations;
    let mut distances = vec![None; locations.len()];
    distances[to as usize] = Some(0);
    loop {
        let mut changed = false;
        for (at, location) in locations.iter().enumerate().rev() {
            let edges = program.edges_of(location);
            let going = edges.filter(|(id, _)| program.statement(process, *id).action != Action::End);
            let next = going.filter_map(|(_, edge)| distances[edge.target.0 as usize]).min();
            if let Some(next) = next.map(|next| next + 1)
                && distances[at].is_none_or(|known| next < known)
            {
                distances[at] = Some(next);
                changed = true;
            }
        }
        if !changed {
            return distances;
        }
    }
}
