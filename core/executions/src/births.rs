//! Processes in an order that does not depend on who was created first.
//!
//! Where a program cannot observe the numbers of processes ([`fabius_program::facts::births`]), a state is written with its
//! processes in the order of their births: those of the beginning, then for each of them its descendants, each before
//! its children, and children in the order in which they were created. Who created whom is part of such a state.
//! So the state after steps of different processes that create others is the same in both orders. A process that has nothing
//! left to do stays, without values.

use super::ListedExecution;
use fabius_machine::{Machine, Step};
use fabius_program::facts::births::{self, WhyNumbered};
use fabius_program::meaning::Fault;
use fabius_program::{Action, EdgeId, Location, LocationId, Move, ProcessId, Program};
use fabius_search::executions::{Branch, Cycle, End, Execution, Then};
use fabius_witness::accesses::{Access, accesses};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Stands for no partner in the name of a step.
const NOBODY: u32 = 0xFF;

/// Who somebody is: the number of the ancestor that exists at the start, then which child of its parent each one is.
type Birth = Vec<u32>;

/// How processes are told apart.
#[derive(Debug)]
pub(super) enum Naming {
    /// By their births.
    Births(Box<Numbered>),
    /// By their numbers.
    Numbers(WhyNumbers),
}

/// Why processes are told apart by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WhyNumbers {
    /// The program may observe them.
    Observed(WhyNumbered),
    /// There is no room for all processes if none of them ends.
    Full,
    /// Without a table.
    Stateless,
    /// Independence is learnt.
    Learned,
    /// Nothing is independent.
    Dependent,
    /// That was asked for.
    Asked,
}

impl Naming {
    pub(super) fn is_by_birth(&self) -> bool {
        matches!(self, Self::Births(_))
    }

    /// Its name; `None` if no process is created.
    pub(super) fn word(&self) -> Option<&'static str> {
        match self {
            Self::Births(_) => Some("births"),
            Self::Numbers(WhyNumbers::Observed(WhyNumbered::NothingCreated)) => None,
            Self::Numbers(_) => Some("numbers"),
        }
    }

    /// Why processes are told apart by their numbers, as half a sentence; `None` if they are not or that was asked for.
    pub(super) fn why_numbers(&self) -> Option<&'static str> {
        match self {
            Self::Births(_) | Self::Numbers(WhyNumbers::Asked | WhyNumbers::Observed(WhyNumbered::NothingCreated)) => {
                None
            }
            Self::Numbers(WhyNumbers::Observed(why)) => Some(why.because()),
            Self::Numbers(WhyNumbers::Full) => {
                Some("more than 255 processes are created, and the number of one that has ended is given again")
            }
            Self::Numbers(WhyNumbers::Stateless) => Some("a search without a table always does that"),
            Self::Numbers(WhyNumbers::Learned) => Some("independence is learnt for numbers"),
            Self::Numbers(WhyNumbers::Dependent) => Some("every interleaving counts"),
        }
    }
}

/// A program whose processes are told apart by their births, and the same program as it is written.
#[derive(Debug)]
pub(super) struct Numbered {
    pub births: Arc<Births>,
    program: Arc<Program>,
    machine: RefCell<Machine>,
}

impl Numbered {
    /// `machine` is that of the program as it is written.
    pub(super) fn new(births: Births, program: &Arc<Program>, machine: Machine) -> Self {
        Self { births: Arc::new(births), program: Arc::clone(program), machine: RefCell::new(machine) }
    }
}

/// A program whose processes are told apart by their births.
#[derive(Debug)]
pub(super) struct Births {
    /// Its processes do not end.
    pub program: Arc<Program>,
    /// How many processes an edge creates.
    created: Vec<usize>,
    /// How many processes exist at the start.
    initial: usize,
    /// For each type and location, whether nothing is left to a process there but to end.
    finished: Vec<Vec<bool>>,
    /// For each edge, whether it leads to such a location.
    finishing: Vec<bool>,
}

impl Births {
    pub(super) fn of(program: &Program) -> Result<Self, WhyNumbered> {
        let births::Births { program: without_ends, created } = births::of(program)?;
        let ends = |edge: EdgeId| program.statement(program.process_of(edge), edge).action == Action::End;
        let only_ends =
            |location: &Location| !location.edges.is_empty() && location.edges.clone().all(|edge| ends(EdgeId(edge)));
        let finished: Vec<Vec<bool>> =
            program.processes.iter().map(|process| process.locations.iter().map(only_ends).collect()).collect();
        let finishing =
            program.edges.iter().map(|edge| finished[edge.process.0 as usize][edge.target.0 as usize]).collect();
        Ok(Self { program: Arc::new(without_ends), created, initial: program.initial.len(), finished, finishing })
    }

    fn created_by(&self, edge: EdgeId) -> usize {
        self.created.get(edge.0 as usize).copied().unwrap_or(0)
    }

    fn has_finished(&self, process: ProcessId, location: LocationId) -> bool {
        self.finished
            .get(process.0 as usize)
            .and_then(|places| places.get(location.0 as usize))
            .is_some_and(|known| *known)
    }

    /// The place, in the order of births, of the next child of a process; `parents` are those of the processes that were
    /// created, by their places.
    fn place_of_child(&self, parents: &[u8], parent: usize) -> usize {
        let initial = self.initial;
        let mut place = if parent < initial { initial } else { parent + 1 };
        while let Some(other) = parents.get(place - initial).map(|other| usize::from(*other)) {
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
    fn add_child(&self, parents: &mut Vec<u8>, parent: usize) -> usize {
        let place = self.place_of_child(parents, parent);
        parents.iter_mut().filter(|other| place <= usize::from(**other)).for_each(|other| *other += 1);
        parents.insert(place - self.initial, parent as u8);
        place
    }
}

/// Words before those of the machine: a byte for how many processes were created, and one for the parent of each.
fn prefix_words(created: usize) -> usize {
    (created + 1).div_ceil(4)
}

/// A state in the order of births, taken apart.
pub(super) fn machine_words(state: &[u32]) -> &[u32] {
    let created = state.first().map_or(0, |word| (word & 0xFF) as usize);
    state.get(prefix_words(created)..).unwrap_or(&[])
}

fn parent_at(state: &[u32], index: usize) -> u8 {
    let at = index + 1;
    state.get(at / 4).map_or(0, |word| (word >> (8 * (at % 4))) as u8)
}

fn parents_of(state: &[u32]) -> impl ExactSizeIterator<Item = u8> {
    let created = state.first().map_or(0, |word| (word & 0xFF) as usize);
    (0..created).map(|index| parent_at(state, index))
}

/// States in the order of births.
#[derive(Debug)]
pub(super) struct InOrder {
    births: Arc<Births>,
    parents: Vec<u8>,
    /// The machine's words of a successor.
    pub room: Vec<u32>,
}

impl InOrder {
    pub(super) fn new(births: Arc<Births>) -> Self {
        Self { births, parents: Vec::new(), room: Vec::new() }
    }

    /// Writes the initial state.
    pub(super) fn write_initial(&mut self, state: &mut Vec<u32>) {
        self.parents.clear();
        self.write(state);
    }

    /// Writes the state after a step of a state.
    pub(super) fn write_successor(
        &mut self,
        machine: &Machine,
        (state, label): (&[u32], Option<Move>),
        successor: &mut Vec<u32>,
    ) {
        let Self { births, parents, room } = self;
        let has_finished = |process: ProcessId, location: LocationId| births.has_finished(process, location);
        let movers = label.map(|label| [Some((label.pid, label.edge)), label.partner]).into_iter().flatten().flatten();
        for (pid, _) in movers.filter(|(_, edge)| births.finishing[edge.0 as usize]) {
            machine.forget_locals(room, usize::from(pid), &has_finished);
        }
        let created = label.map_or(0, |label| births.created_by(label.edge));
        if created == 0 {
            successor.clear();
            successor.extend_from_slice(&state[..state.len() - machine_words(state).len()]);
            successor.extend_from_slice(room);
            return;
        }
        parents.clear();
        parents.extend(parents_of(state));
        for _ in 0..created {
            let youngest = births.initial + parents.len();
            machine.forget_locals(room, youngest, &has_finished);
            let place = births.add_child(parents, usize::from(label.map_or(0, |label| label.pid)));
            machine.move_process(room, youngest, place);
        }
        self.write(successor);
    }

    fn write(&self, state: &mut Vec<u32>) {
        state.clear();
        state.resize(prefix_words(self.parents.len()), 0);
        state[0] = self.parents.len() as u32;
        for (index, parent) in self.parents.iter().enumerate() {
            state[(index + 1) / 4] |= u32::from(*parent) << (8 * ((index + 1) % 4));
        }
        state.extend_from_slice(&self.room);
    }

    /// Changes names of steps and keys of loops of a state to those after a step; see
    /// [`fabius_search::executions::Independence::carry`].
    pub(super) fn carry(&mut self, state: &[u32], label: &Move, names: &mut [u32], laps: &mut [u32]) {
        let created = self.births.created_by(label.edge) as u32;
        if created == 0 {
            return;
        }
        self.parents.clear();
        self.parents.extend(parents_of(state));
        let place = self.births.place_of_child(&self.parents, usize::from(label.pid)) as u32;
        let moved = |pid: u32| if place <= pid && pid != NOBODY { pid + created } else { pid };
        for name in names {
            let [pid, position, partner, theirs] = name.to_le_bytes();
            let [pid, partner] = [pid, partner].map(|pid| moved(u32::from(pid)) as u8);
            *name = u32::from_le_bytes([pid, position, partner, theirs]);
        }
        for key in laps.iter_mut().step_by(2) {
            *key = moved(*key >> 24) << 24 | *key & 0xFF_FFFF;
        }
    }
}

/// Gives the steps of a path the numbers that processes have in the program. A process ends where that is necessary: before
/// a step that would not be possible otherwise, and in the end.
#[derive(Clone, Debug)]
struct Renumbering {
    /// The state of the program, as its machine writes it; empty if there is none.
    state: Vec<u32>,
    /// The numbers of the processes in the order of births, if they have not ended.
    numbers: Vec<Option<u8>>,
    parents: Vec<u8>,
}

/// What becomes of a step.
enum Taken {
    Leads(Vec<u32>),
    Broken,
    Impossible,
}

impl Numbered {
    fn start(&self) -> Renumbering {
        let mut state = Vec::new();
        if self.machine.borrow_mut().initial(&mut state).is_err() {
            state.clear();
        }
        let numbers = (0..self.births.initial).map(|number| Some(number as u8)).collect();
        Renumbering { state, numbers, parents: Vec::new() }
    }

    /// Takes a step of the program, after control was lost if need be.
    fn take(&self, state: &[u32], is_it: &dyn Fn(&Move) -> bool) -> (Taken, Option<Move>) {
        let mut machine = self.machine.borrow_mut();
        let (mut here, mut successor) = (state.to_vec(), Vec::new());
        for _ in 0..2 {
            let mut cursor = machine.begin(&here);
            let mut released = None;
            loop {
                match machine.next(&here, &mut cursor, &mut successor) {
                    Step::Successor { label: Some(label), .. } if is_it(&label) => {
                        return (Taken::Leads(successor), Some(label));
                    }
                    Step::Broken { label, .. } if is_it(&label) => return (Taken::Broken, Some(label)),
                    Step::Successor { label: None, .. } => released = Some(successor.clone()),
                    Step::Successor { .. } | Step::Broken { .. } => {}
                    Step::Done(_) => break,
                }
            }
            match released {
                Some(state) => here = state,
                None => break,
            }
        }
        (Taken::Impossible, None)
    }

    /// Lets the youngest process end, if it can now.
    fn end_youngest(&self, at: &mut Renumbering) -> Option<Move> {
        let program = &self.program;
        let is_end = |step: &Move| program.statement(program.process_of(step.edge), step.edge).action == Action::End;
        let (Taken::Leads(state), Some(step)) = self.take(&at.state, &is_end) else { return None };
        at.state = state;
        at.numbers.iter_mut().filter(|number| **number == Some(step.pid)).for_each(|number| *number = None);
        Some(step)
    }

    /// Adds a step to a path of the program.
    fn step(&self, at: &mut Renumbering, step: Move, path: &mut Vec<Move>) {
        let number = |pid: u8| at.numbers.get(usize::from(pid)).copied().flatten().unwrap_or(pid);
        let numbered = Move {
            pid: number(step.pid),
            edge: step.edge,
            partner: step.partner.map(|(pid, edge)| (number(pid), edge)),
        };
        let youngest = |state: &[u32]| self.machine.borrow().process_count(state);
        loop {
            match self.take(&at.state, &|other| *other == numbered).0 {
                Taken::Leads(state) => {
                    for created in 0..self.births.created_by(step.edge) {
                        let place = self.births.add_child(&mut at.parents, usize::from(step.pid));
                        at.numbers.insert(place, Some((youngest(&at.state) + created) as u8));
                    }
                    at.state = state;
                    break;
                }
                Taken::Broken => break,
                Taken::Impossible => match self.end_youngest(at) {
                    Some(end) => path.push(end),
                    // The referee will not take it either.
                    None => break,
                },
            }
        }
        path.push(numbered);
    }

    /// All steps of a path; `ends` says that processes end after it.
    fn path(&self, at: &mut Renumbering, path: &[Move], ends: bool) -> Vec<Move> {
        let mut numbered = Vec::with_capacity(path.len());
        path.iter().for_each(|step| self.step(at, *step, &mut numbered));
        if ends {
            numbered.extend(std::iter::from_fn(|| self.end_youngest(at)));
        }
        numbered
    }
}

impl Numbered {
    /// For each step of a path of the program the births of who takes part: the number of the ancestor that exists at the
    /// start, then which child of its parent each one is.
    fn births_along(&self, path: &[Move]) -> Vec<[Option<Birth>; 2]> {
        let mut alive: Vec<(Birth, u32)> = (0..self.births.initial).map(|pid| (vec![pid as u32], 0)).collect();
        let mut found = Vec::with_capacity(path.len());
        for step in path {
            let birth = |pid: u8| alive.get(usize::from(pid)).map(|(birth, _)| birth.clone());
            found.push([birth(step.pid), step.partner.and_then(|(pid, _)| birth(pid))]);
            for _ in 0..self.births.created_by(step.edge) {
                let Some((parent, children)) = alive.get_mut(usize::from(step.pid)) else { break };
                *children += 1;
                let child = parent.iter().copied().chain([*children]).collect();
                alive.push((child, 0));
            }
            let action = &self.program.statement(self.program.process_of(step.edge), step.edge).action;
            if *action == Action::End {
                alive.pop();
            }
        }
        found
    }
}

/// Gives births numbers that are the same in all executions.
#[derive(Debug, Default)]
pub(super) struct Registry {
    numbers: HashMap<Birth, u8>,
}

impl Registry {
    fn number(&mut self, birth: &Birth) -> Option<u8> {
        let next = u8::try_from(self.numbers.len()).ok();
        match self.numbers.get(birth) {
            Some(number) => Some(*number),
            None => self.numbers.insert(birth.clone(), next?).or(next),
        }
    }
}

/// Whether processes still end where an execution ends so.
fn goes_on_to_ends(end: End) -> bool {
    matches!(end, End::Valid | End::Stuck | End::Waiting)
}

impl Naming {
    /// An execution of the program.
    pub(super) fn execution(&self, execution: Execution<Move, Fault>) -> Execution<Move, Fault> {
        let Self::Births(numbered) = self else { return execution };
        let path = numbered.path(&mut numbered.start(), &execution.path, goes_on_to_ends(execution.end));
        Execution { path, ..execution }
    }

    /// An infinite execution of the program.
    pub(super) fn cycle(&self, cycle: &Cycle<Move>) -> Cycle<Move> {
        let Self::Births(numbered) = self else { return cycle.clone() };
        let (stem, round) = cycle.path.split_at(cycle.start.min(cycle.path.len()));
        let mut at = numbered.start();
        let mut path = numbered.path(&mut at, stem, false);
        // No process is created in the cycle. Those that have to end for it do so while it is taken for the first time.
        loop {
            let (before, start) = (at.state.clone(), path.len());
            path.extend(numbered.path(&mut at, round, false));
            if at.state.is_empty() || path.len() == start + round.len() {
                debug_assert!(before == at.state || at.state.is_empty());
                return Cycle { path, start };
            }
        }
    }

    /// The steps of an execution of the program, with processes told apart as in all others; `None` if there are too many of
    /// them. A process is called by its birth.
    pub(super) fn accesses(&self, execution: &ListedExecution, registry: &mut Registry) -> Option<Vec<Access>> {
        let mut found = accesses(&execution.trace);
        let Self::Births(numbered) = self else { return Some(found) };
        // When a process ends makes no difference.
        let is_end =
            |edge: EdgeId| numbered.program.statement(numbered.program.process_of(edge), edge).action == Action::End;
        found.retain(|access| !is_end(access.id.edge));
        let births = numbered.births_along(&execution.path);
        for access in &mut found {
            let step = execution.path.get(access.step.checked_sub(1)?)?;
            let [mover, partner] = births.get(access.step - 1)?;
            let birth = if access.id.pid == step.pid { mover } else { partner };
            access.id.pid = registry.number(birth.as_ref()?)?;
            if let Some(birth) = birth.as_ref().filter(|birth| birth.len() > 1) {
                let places: Vec<String> = birth.iter().map(u32::to_string).collect();
                let kind = access.actor.name.split('[').next().unwrap_or_default();
                access.actor.name = format!("{kind}[{}]", places.join("."));
            }
        }
        // How often somebody took a step before was counted by numbers.
        let mut counts: HashMap<(u8, EdgeId), usize> = HashMap::new();
        for access in &mut found {
            let count = counts.entry((access.id.pid, access.id.edge)).or_default();
            access.id.before = *count;
            *count += 1;
        }
        Some(found)
    }

    /// Branches of the tree of choices of the program, each after its parent.
    pub(super) fn branches(&self, mut branches: Vec<Branch<Move, Fault>>) -> Vec<Branch<Move, Fault>> {
        let Self::Births(numbered) = self else { return branches };
        let mut after: Vec<Renumbering> = Vec::with_capacity(branches.len());
        for branch in &mut branches {
            let before = branch.parent.and_then(|parent| after.get(parent)).cloned();
            let mut at = before.unwrap_or_else(|| numbered.start());
            let ends = matches!(branch.then, Then::End(end, ..) if goes_on_to_ends(end));
            branch.path = numbered.path(&mut at, &branch.path, ends);
            after.push(at);
        }
        branches
    }
}
