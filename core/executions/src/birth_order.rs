//! States whose processes stand in the order of their births, without those that have ended.
//!
//! The processes of the beginning come first, then for each of them its descendants, each before its own, and children in the
//! order in which they were created. So the state after steps of different processes that create others is the same in both
//! orders.
//!
//! **A process that has nothing left to do but to end is removed**, whether it has children or not, unless it existed at the
//! start or holds control (then once it loses control). This is sound:
//! * It takes no step any more, and nobody can observe it: [`fabius_program::facts::births::of`] refuses programs that look at
//!   how many processes there are, at numbers, or into processes, and processes that are created with channels of their own. In a
//!   place where a process can only end it is at a valid end. So the state without it has the same steps, faults and
//!   endings.
//! * Its place is not needed. Where a child stands depends on who descends from its parent and from those before it: of that
//!   the order of the processes that are left tells all but where the descendants of a process end. For that, each process has a
//!   *creator*: the youngest of its ancestors that is left and can still create others, or, if there is none among those that
//!   were created, the first process of the beginning, from its ancestor there on, that can still create others (the
//!   last one, if none can). All that comes next to a process in the order and has this process, or something behind it, for its
//!   creator descends from it, and nothing else does: where a process does not descend from another one that stands
//!   before it and can still create, its own creator stands before that one, since an ancestor of it that stood between
//!   them would be left out only if it was gone or could create nothing. How many children a process has had is not needed: the next
//!   one stands behind all descendants that are left, and steps are named by where their processes stand now.
//! * Creators depend only on which processes there are, whose children they are and where they are, not on the order of
//!   steps by which that came about. So independent steps lead to the same words in both orders.
//! * There is room for only so many processes. In the program a process that has ended may still take room, since only the youngest
//!   process ends. So how many were created in all is part of a state, and where that is more than there is room for,
//!   processes are told apart by their numbers instead.

use fabius_machine::Machine;
use fabius_program::facts::births::{self, WhyNumbered};
use fabius_program::{Action, EdgeId, Location, LocationId, Move, PROCESSES_MAX, Process, ProcessId, Program};
use std::sync::Arc;

/// Stands for no partner in the name of a step.
pub(super) const NOBODY: u32 = 0xFF;

/// A program whose processes are told apart by their births.
#[derive(Debug)]
pub(super) struct Births {
    /// Its processes do not end.
    pub program: Arc<Program>,
    /// How many processes an edge creates.
    created: Vec<usize>,
    /// How many processes exist at the start.
    pub initial: usize,
    /// For each type, what is known of its locations.
    places: Vec<Vec<Place>>,
    /// For each edge, whether it leads to where a process is finished, or can no longer create others.
    retiring: Vec<bool>,
}

/// What a process can still do at a location.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Place {
    /// Nothing but to end.
    finished: bool,
    /// Create others.
    creates: bool,
}

impl Births {
    pub(super) fn of(program: &Program) -> Result<Self, WhyNumbered> {
        let births::Births { program: without_ends, created } = births::of(program)?;
        let places: Vec<Vec<Place>> =
            program.processes.iter().map(|process| places(program, process, &created)).collect();
        let retires = |edge: &fabius_program::Edge| {
            let at = |location: LocationId| places[edge.process.0 as usize][location.0 as usize];
            at(edge.target).finished || at(edge.source).creates && !at(edge.target).creates
        };
        let retiring = program.edges.iter().map(retires).collect();
        Ok(Self { program: Arc::new(without_ends), created, initial: program.initial.len(), places, retiring })
    }

    pub(super) fn created_by(&self, edge: EdgeId) -> usize {
        self.created.get(edge.0 as usize).copied().unwrap_or(0)
    }

    fn place(&self, (process, location): (ProcessId, LocationId)) -> Place {
        let places = self.places.get(process.0 as usize);
        places.and_then(|places| places.get(location.0 as usize)).copied().unwrap_or_default()
    }

    /// Whether nothing is left to a process but to end.
    pub(super) fn has_finished(&self, at: (ProcessId, LocationId)) -> bool {
        self.place(at).finished
    }

    /// Whether a process can still create others.
    pub(super) fn can_create(&self, at: (ProcessId, LocationId)) -> bool {
        self.place(at).creates
    }

    /// Removes the processes of a state that have finished and were created, the youngest first, and tells of each; of those that
    /// exist at the start, the local variables are forgotten. `locations` are those of all processes of the state.
    pub(super) fn remove_finished(
        &self,
        machine: &Machine,
        words: &mut Vec<u32>,
        locations: &[(ProcessId, LocationId)],
        mut on_removed: impl FnMut(usize),
    ) {
        let holder = machine.holder(words);
        let finished = locations.iter().enumerate().rev().filter(|(_, at)| self.place(**at).finished);
        for (pid, _) in finished {
            if pid < self.initial {
                machine.forget_locals(words, pid);
            } else if holder != Some(pid) && machine.remove_process(words, pid) {
                on_removed(pid);
            }
        }
    }

    /// Writes what distinguishes a state in which executions end from others, by the machine's words: who created whom makes no
    /// difference there, nor which of the processes that were created is which.
    pub(super) fn write_outcome(&self, machine: &Machine, words: &[u32], outcome: &mut Vec<u32>) {
        let mut locations = Vec::new();
        machine.locations(words, &mut locations);
        let finished = |pid: usize| locations.get(pid).is_some_and(|at| self.has_finished(*at));
        let mut left: Vec<&[u32]> = Vec::with_capacity(locations.len());
        outcome.clear();
        machine.append_globals(words, outcome);
        for pid in 0..self.initial {
            outcome.push(u32::from(finished(pid)));
        }
        for (pid, _) in locations.iter().enumerate() {
            match machine.process_words(words, pid) {
                Some(block) if self.initial <= pid => left.push(block),
                Some(block) if !finished(pid) => outcome.extend_from_slice(block),
                _ => {}
            }
        }
        // Each begins with the type of its process.
        left.sort_unstable();
        left.into_iter().for_each(|block| outcome.extend_from_slice(block));
    }

    /// Whether a step leads to where a process is finished, or can no longer create others.
    pub(super) fn retires(&self, step: Option<Move>) -> bool {
        let retires = |edge: EdgeId| self.retiring.get(edge.0 as usize).is_none_or(|retires| *retires);
        // A process that holds control and has finished loses it without a step.
        step.is_none_or(|step| retires(step.edge) || step.partner.is_some_and(|(_, edge)| retires(edge)))
    }
}

/// What processes of a type can still do at its locations.
fn places(program: &Program, process: &Process, created: &[usize]) -> Vec<Place> {
    let ends = |edge: u32| program.statement(program.process_of(EdgeId(edge)), EdgeId(edge)).action == Action::End;
    let only_ends = |location: &Location| !location.edges.is_empty() && location.edges.clone().all(ends);
    let place = |location: &Location| Place { finished: only_ends(location), creates: false };
    let mut places: Vec<Place> = process.locations.iter().map(place).collect();
    loop {
        let before = places.clone();
        for (at, location) in process.locations.iter().enumerate() {
            let leads_to_creation = |edge: u32| {
                let target = program.edges[edge as usize].target.0 as usize;
                created[edge as usize] > 0 || before[target].creates
            };
            places[at].creates |= location.edges.clone().any(leads_to_creation);
        }
        if places == before {
            return places;
        }
    }
}

/// Who created whom, as far as that matters.
#[derive(Clone, Default, Debug)]
pub(super) struct Family {
    /// Processes at the start.
    initial: usize,
    /// How many processes were created in all.
    pub created: usize,
    /// The creators of the processes that were created and are left, by their places.
    creators: Vec<u8>,
}

impl Family {
    pub(super) fn new(initial: usize) -> Self {
        Self { initial, created: 0, creators: Vec::new() }
    }

    /// Processes that are left.
    pub(super) fn count(&self) -> usize {
        self.initial + self.creators.len()
    }

    /// Whether there may have been more processes at once than there is room for.
    pub(super) fn is_too_large(&self) -> bool {
        PROCESSES_MAX < self.initial + self.created
    }

    /// Where the next child of a process stands, which can create it.
    fn place_of_child(&self, parent: usize) -> usize {
        let initial = self.initial;
        let mut place = if parent < initial { initial } else { parent + 1 };
        while let Some(other) = self.creators.get(place - initial).map(|other| usize::from(*other)) {
            // Descendants of processes of the beginning follow each other, and those of another process follow it.
            let before = if parent < initial { other <= parent || initial <= other } else { parent <= other };
            if !before {
                break;
            }
            place += 1;
        }
        place
    }

    /// Notes a new child; returns its place.
    pub(super) fn add_child(&mut self, parent: usize) -> usize {
        let place = self.place_of_child(parent);
        self.creators.iter_mut().filter(|other| place <= usize::from(**other)).for_each(|other| *other += 1);
        self.creators.insert(place - self.initial, parent as u8);
        self.created += 1;
        place
    }

    /// Looks again who is whose creator, after processes lost the ability to create others.
    pub(super) fn settle(&mut self, can_create: impl Fn(usize) -> bool) {
        for at in 0..self.creators.len() {
            let creator = usize::from(self.creators[at]);
            let above = match creator.checked_sub(self.initial) {
                Some(created) if !can_create(creator) => usize::from(self.creators[created]),
                _ => creator,
            };
            let creator = match above < self.initial {
                true => (above..self.initial).find(|pid| can_create(*pid)).unwrap_or(self.initial - 1),
                false => above,
            };
            self.creators[at] = creator as u8;
        }
    }

    /// Removes a process that is nobody's creator.
    pub(super) fn remove(&mut self, place: usize) {
        debug_assert!(!self.creators.contains(&(place as u8)));
        self.creators.remove(place - self.initial);
        self.creators.iter_mut().filter(|other| place < usize::from(**other)).for_each(|other| *other -= 1);
    }

    /// Reads what stands before the machine's words.
    fn read(&mut self, state: &[u32]) {
        let byte = |at: usize| state.get(at / 4).map_or(0, |word| (word >> (8 * (at % 4))) as u8);
        self.created = usize::from(byte(0));
        self.creators.clear();
        self.creators.extend((2..2 + usize::from(byte(1))).map(byte));
    }

    /// Writes what stands before the machine's words.
    fn write(&self, state: &mut Vec<u32>) {
        state.clear();
        state.resize(prefix_words(self.creators.len()), 0);
        let head = [self.created as u8, self.creators.len() as u8];
        for (at, byte) in head.iter().chain(&self.creators).enumerate() {
            state[at / 4] |= u32::from(*byte) << (8 * (at % 4));
        }
    }
}

/// Words before those of the machine: a byte for how many processes were created, one for how many of them are left, and one
/// for the creator of each.
fn prefix_words(left: usize) -> usize {
    (left + 2).div_ceil(4)
}

/// The machine's words of a state in the order of births.
pub(super) fn machine_words(state: &[u32]) -> &[u32] {
    let left = state.first().map_or(0, |word| (word >> 8 & 0xFF) as usize);
    state.get(prefix_words(left)..).unwrap_or(&[])
}

/// States in the order of births.
#[derive(Debug)]
pub(super) struct InOrder {
    pub births: Arc<Births>,
    family: Family,
    /// The machine's words of a successor.
    pub room: Vec<u32>,
    /// Where the processes of the room are.
    locations: Vec<(ProcessId, LocationId)>,
    /// The place of the first process that the last step created, and how many it created.
    added: (usize, usize),
    /// Then, in ascending order, the places of those that were removed.
    removed: Vec<usize>,
}

impl InOrder {
    pub(super) fn new(births: Arc<Births>) -> Self {
        let family = Family::new(births.initial);
        Self { births, family, room: Vec::new(), locations: Vec::new(), added: (0, 0), removed: Vec::new() }
    }

    /// Writes the initial state.
    pub(super) fn write_initial(&mut self, state: &mut Vec<u32>) {
        self.family = Family::new(self.births.initial);
        self.write(state);
    }

    /// Writes the state after a step of a state; false if there may be no room for all processes in it.
    pub(super) fn write_successor(
        &mut self,
        machine: &Machine,
        (state, step): (&[u32], Option<Move>),
        successor: &mut Vec<u32>,
    ) -> bool {
        let Self { births, family, room, added, removed, .. } = self;
        let created = step.map_or(0, |step| births.created_by(step.edge));
        *added = (0, created);
        removed.clear();
        let retires = births.retires(step);
        if created == 0 && !retires {
            successor.clear();
            successor.extend_from_slice(&state[..state.len() - machine_words(state).len()]);
            successor.extend_from_slice(room);
            return true;
        }
        family.read(state);
        let parent = usize::from(step.map_or(0, |step| step.pid));
        for number in 0..created {
            let youngest = family.count();
            let place = family.add_child(parent);
            machine.move_process(room, youngest, place);
            if number == 0 {
                added.0 = place;
            }
        }
        self.settle(machine);
        self.write(successor);
        !self.family.is_too_large()
    }

    /// Removes processes that have finished, and finds out who is whose creator.
    fn settle(&mut self, machine: &Machine) {
        let Self { births, family, room, locations, removed, .. } = self;
        machine.locations(room, locations);
        family.settle(|pid| locations.get(pid).is_some_and(|at| births.can_create(*at)));
        births.remove_finished(machine, room, locations, |pid| {
            family.remove(pid);
            removed.push(pid);
        });
        removed.reverse();
    }

    fn write(&self, state: &mut Vec<u32>) {
        self.family.write(state);
        state.extend_from_slice(&self.room);
    }

    /// Changes names of steps and keys of loops of a state to those after the step whose successor was written last; see
    /// [`fabius_search::executions::Independence::carry`].
    pub(super) fn carry(&self, names: &mut [u32], laps: &mut Vec<u32>) {
        let Self { added: (place, created), removed, .. } = self;
        if *created == 0 && removed.is_empty() {
            return;
        }
        // A process that was removed has no place.
        let moved = |pid: u32| {
            let pid = if *place <= pid as usize { pid as usize + created } else { pid as usize };
            let before = removed.partition_point(|gone| *gone < pid);
            (removed.get(before) != Some(&pid)).then_some((pid - before) as u32)
        };
        for name in names {
            let [pid, position, partner, theirs] = name.to_le_bytes();
            let moved = |pid: u8| match u32::from(pid) {
                NOBODY => pid,
                // What is asleep can be taken: its processes are left.
                number => moved(number).map_or(pid, |pid| pid as u8),
            };
            *name = u32::from_le_bytes([moved(pid), position, moved(partner), theirs]);
        }
        let mut kept = 0;
        for at in (0..laps.len()).step_by(2) {
            if let Some(pid) = moved(laps[at] >> 24) {
                (laps[kept], laps[kept + 1]) = (pid << 24 | laps[at] & 0xFF_FFFF, laps[at + 1]);
                kept += 2;
            }
        }
        laps.truncate(kept);
    }
}
