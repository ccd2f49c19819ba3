//! States whose processes have names: each process that is created has the same name in all states and in all executions, that of
//! its birth.
//!
//! [`super::birth_order`] tells processes apart by their places in a state, which change when others are created or removed. That
//! does for a graph, whose sleep sets are carried from state to state. It does not for searches that take a step where it was
//! not listed (races are reversed), nor for what is said of the same two steps in all states: these need names that stay.
//!
//! A birth is a parent and which child of its parent it is; births are numbered in the order in which they are met. Processes stand
//! in the order of their names, those of the beginning first, and those that have nothing left to do are removed as in the
//! order of births. How many children a process has had is part of a state as long as it can create others. So independent steps
//! lead to the same words in both orders: which processes there are, with which names, where and with how many children does not
//! depend on the order of steps of different processes.

use super::birth_order::{Births, NOBODY};
use fabius_machine::Machine;
use fabius_program::{LocationId, Move, PROCESSES_MAX, ProcessId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The names of births, the same in all states and for all models of a question.
#[derive(Debug)]
pub(super) struct BirthNames {
    initial: usize,
    /// By the name of the parent, and which child of its parent a process is.
    known: Mutex<HashMap<(u8, u8), u8>>,
}

impl BirthNames {
    /// Names below this fit into the names of steps.
    pub(super) const MAX: usize = 255;

    pub(super) fn new(initial: usize) -> Self {
        Self { initial, known: Mutex::default() }
    }

    /// The name of a child of a parent; `None` if there are too many.
    pub(super) fn child(&self, parent: u8, number: u8) -> Option<u8> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(&(parent, number)) {
            return Some(*name);
        }
        let name = u8::try_from(self.initial + known.len()).ok().filter(|name| usize::from(*name) < Self::MAX)?;
        known.insert((parent, number), name);
        Some(name)
    }
}

/// The processes of a state.
#[derive(Clone, Default, Debug)]
struct Residents {
    /// How many were created in all.
    created: usize,
    /// By place: the name, and how many children it has had, if it can still create others.
    all: Vec<(u8, u8)>,
}

impl Residents {
    fn initial(count: usize) -> Self {
        Self { created: 0, all: (0..count).map(|pid| (pid as u8, 0)).collect() }
    }

    /// Reads what stands before the machine's words.
    fn read(&mut self, state: &[u32]) {
        let byte = |at: usize| state.get(at / 4).map_or(0, |word| (word >> (8 * (at % 4))) as u8);
        self.created = usize::from(byte(0));
        self.all.clear();
        self.all.extend((0..usize::from(byte(1))).map(|place| (byte(2 + 2 * place), byte(3 + 2 * place))));
    }

    /// Writes what stands before the machine's words.
    fn write(&self, state: &mut Vec<u32>) {
        state.clear();
        state.resize(prefix_words(self.all.len()), 0);
        let head = [self.created as u8, self.all.len() as u8];
        let residents = self.all.iter().flat_map(|(name, children)| [*name, *children]);
        for (at, byte) in head.into_iter().chain(residents).enumerate() {
            state[at / 4] |= u32::from(byte) << (8 * (at % 4));
        }
    }
}

/// Words before those of the machine: a byte for how many processes were created, one for how many there are, and two for each.
fn prefix_words(count: usize) -> usize {
    (2 + 2 * count).div_ceil(4)
}

/// The machine's words of a state.
pub(super) fn machine_words(state: &[u32]) -> &[u32] {
    let count = state.first().map_or(0, |word| (word >> 8 & 0xFF) as usize);
    state.get(prefix_words(count)..).unwrap_or(&[])
}

/// The name of the process at a place of a state.
pub(super) fn name_at(state: &[u32], place: u8) -> Option<u8> {
    let count = (state.first()? >> 8 & 0xFF) as usize;
    let at = 2 + 2 * usize::from(place);
    (usize::from(place) < count).then_some((state.get(at / 4)? >> (8 * (at % 4))) as u8)
}

/// The place of the process with a name in a state.
pub(super) fn place_of(state: &[u32], name: u8) -> Option<u8> {
    let count = state.first()? >> 8 & 0xFF;
    (0..count as u8).find(|place| name_at(state, *place) == Some(name))
}

/// A step with places instead of names, or the other way round; `None` if there is no such process.
pub(super) fn renamed(step: Move, of: impl Fn(u8) -> Option<u8>) -> Option<Move> {
    let partner = match step.partner {
        Some((partner, edge)) => Some((of(partner)?, edge)),
        None => None,
    };
    Some(Move { pid: of(step.pid)?, edge: step.edge, partner })
}

/// Changes the processes in the name of a step ([`super::conflicts::name_of`]); false if there is no such process.
pub(super) fn rename(step: &mut u32, of: impl Fn(u8) -> Option<u8>) -> bool {
    let [pid, position, partner, theirs] = step.to_le_bytes();
    let partner_renamed = if u32::from(partner) == NOBODY { Some(partner) } else { of(partner) };
    match (of(pid), partner_renamed) {
        (Some(pid), Some(partner)) => {
            *step = u32::from_le_bytes([pid, position, partner, theirs]);
            true
        }
        _ => false,
    }
}

/// States whose processes have names.
#[derive(Debug)]
pub(super) struct Named {
    pub births: Arc<Births>,
    names: Arc<BirthNames>,
    residents: Residents,
    /// The machine's words of a successor.
    pub room: Vec<u32>,
    /// Where the processes of the room are.
    locations: Vec<(ProcessId, LocationId)>,
}

impl Named {
    pub(super) fn new(births: Arc<Births>, names: Arc<BirthNames>) -> Self {
        Self { births, names, residents: Residents::default(), room: Vec::new(), locations: Vec::new() }
    }

    /// Writes the initial state.
    pub(super) fn write_initial(&mut self, state: &mut Vec<u32>) {
        self.residents = Residents::initial(self.births.initial);
        self.write(state);
    }

    /// Writes the state after a step of a state, told by places; false if there may be no room for all processes in it, or no
    /// name for one of them: then there is no state.
    pub(super) fn write_successor(
        &mut self,
        machine: &Machine,
        (state, step): (&[u32], Option<Move>),
        successor: &mut Vec<u32>,
    ) -> bool {
        let created = step.map_or(0, |step| self.births.created_by(step.edge));
        if created == 0 && !self.births.retires(step) {
            successor.clear();
            successor.extend_from_slice(&state[..state.len() - machine_words(state).len()]);
            successor.extend_from_slice(&self.room);
            return true;
        }
        self.residents.read(state);
        if !step.is_none_or(|step| self.add_children(machine, usize::from(step.pid), created)) {
            return false;
        }
        self.settle(machine);
        self.write(successor);
        self.births.initial + self.residents.created <= PROCESSES_MAX
    }

    /// Gives names to the processes that a process created, which are the youngest ones, and puts them in order; false if there
    /// is no name.
    fn add_children(&mut self, machine: &Machine, mut parent: usize, created: usize) -> bool {
        let Self { births, names, residents, room, .. } = self;
        for _ in 0..created {
            let Some((parent_name, children)) = residents.all.get_mut(parent) else { return false };
            let Some(number) = children.checked_add(1) else { return false };
            *children = number;
            let Some(name) = names.child(*parent_name, number) else { return false };
            let youngest = residents.all.len();
            let place = residents.all.partition_point(|(other, _)| *other < name).max(births.initial);
            machine.move_process(room, youngest, place);
            residents.all.insert(place, (name, 0));
            residents.created += 1;
            parent += usize::from(place <= parent);
        }
        true
    }

    /// Removes processes that have finished, and forgets how many children those have had that can create no more.
    fn settle(&mut self, machine: &Machine) {
        let Self { births, residents, room, locations, .. } = self;
        machine.locations(room, locations);
        let childless = residents.all.iter_mut().zip(&*locations).filter(|(_, at)| !births.can_create(**at));
        childless.for_each(|((_, children), _)| *children = 0);
        births.remove_finished(machine, room, locations, |pid| _ = residents.all.remove(pid));
    }

    fn write(&self, state: &mut Vec<u32>) {
        self.residents.write(state);
        state.extend_from_slice(&self.room);
    }
}
