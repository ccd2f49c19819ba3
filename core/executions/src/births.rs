//! Processes told apart by their births: what tells them apart, and how what was found is told of the program as it is written.
//!
//! Where a program cannot observe the numbers of processes ([`fabius_program::facts::births`]), its states are explored in the
//! order of births ([`super::birth_order`]); executions found there get the numbers that processes have in the program.

use super::birth_names::BirthNames;
use super::birth_order::{Births, Family};
use super::conflicts::Relation;
use super::{By, ExecutionsRequest, ListedExecution, Question};
use fabius_machine::{Machine, Refusal, Step};
use fabius_model::SearchedMachine;
use fabius_program::facts::Facts;
use fabius_program::facts::births::WhyNumbered;
use fabius_program::meaning::Fault;
use fabius_program::{Action, EdgeId, LocationId, Move, ProcessId, Program};
use fabius_search::executions::{Branch, Cycle, End, Execution, Then};
use fabius_witness::accesses::{Access, accesses};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

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
    /// There are too many processes to have a name each.
    Nameless,
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
            Self::Numbers(WhyNumbers::Nameless) => {
                Some("more than 255 different processes are created in all executions together")
            }
            Self::Numbers(WhyNumbers::Dependent) => Some("every interleaving counts"),
        }
    }
}

impl Question<'_> {
    /// What tells processes apart by their births, if that is wanted and possible.
    pub(super) fn births(&self) -> Result<Births, WhyNumbers> {
        let births = Births::of(&self.program).map_err(WhyNumbers::Observed)?;
        match self.request {
            ExecutionsRequest { numbered: true, .. } => Err(WhyNumbers::Asked),
            _ if self.why_not.is_some() => Err(WhyNumbers::Dependent),
            _ => Ok(births),
        }
    }

    /// Whether processes that are told apart by their births must have the same names in all states.
    pub(super) fn needs_names(&self) -> bool {
        let ExecutionsRequest { by, relation, .. } = *self.request;
        matches!(by, By::Stateless(_)) || relation == Relation::Learned
    }

    /// Tells processes apart by their numbers, because there are too many to tell them apart by their births.
    pub(super) fn without_births(&mut self) -> Result<(), Refusal> {
        let why = if self.needs_names() { WhyNumbers::Nameless } else { WhyNumbers::Full };
        self.name(Naming::Numbers(why))
    }

    /// Tells processes apart in a way.
    pub(super) fn name(&mut self, naming: Naming) -> Result<(), Refusal> {
        let (explored, by_birth) = match &naming {
            Naming::Births(numbered) => (&numbered.births.program, true),
            Naming::Numbers(_) => (&self.program, false),
        };
        let facts = Facts::of(Arc::clone(explored), &[]);
        self.machine = SearchedMachine::new(Arc::clone(explored), self.watch)?;
        self.facts = Arc::new(if by_birth { facts.by_birth() } else { facts });
        self.naming = naming;
        Ok(())
    }
}

/// A program whose processes are told apart by their births, and the same program as it is written.
#[derive(Debug)]
pub(super) struct Numbered {
    pub births: Arc<Births>,
    /// The names of processes, if they have any.
    pub names: Option<Arc<BirthNames>>,
    program: Arc<Program>,
    machine: RefCell<Machine>,
    /// Room for where processes are.
    places: RefCell<Vec<(ProcessId, LocationId)>>,
    /// The execution that was renumbered last.
    trail: RefCell<Trail>,
}

/// An execution, and what renumbering it came to step by step: the next one often begins in the same way.
#[derive(Debug, Default)]
struct Trail {
    steps: Vec<Move>,
    /// The steps of the program.
    numbered: Vec<Move>,
    /// Before, between and after the steps: where it stands, and how many steps of the program were taken.
    at: Vec<(Renumbering, usize)>,
}

impl Numbered {
    /// `machine` is that of the program as it is written.
    pub(super) fn new(births: Births, named: bool, (program, machine): (&Arc<Program>, Machine)) -> Self {
        Self {
            names: named.then(|| Arc::new(BirthNames::new(births.initial))),
            births: Arc::new(births),
            program: Arc::clone(program),
            machine: RefCell::new(machine),
            places: RefCell::default(),
            trail: RefCell::default(),
        }
    }
}

/// Gives the steps of a path the numbers that processes have in the program. A process ends where that is necessary: before
/// a step that would not be possible otherwise, and in the end.
#[derive(Clone, Debug)]
struct Renumbering {
    /// The state of the program, as its machine writes it; empty if there is none.
    state: Vec<u32>,
    /// The numbers of processes, by their places in the order of births or by their names; `None` for one that has ended or does
    /// not exist yet.
    numbers: Vec<Option<u8>>,
    told_by: ToldBy,
}

/// By what processes are told apart.
#[derive(Clone, Debug)]
enum ToldBy {
    /// Their places in the order of births.
    Places(Family),
    /// Their names; how many children each has had, by its name.
    Names(Vec<u8>),
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
        let mut numbers: Vec<Option<u8>> = (0..self.births.initial).map(|number| Some(number as u8)).collect();
        let told_by = match self.names {
            Some(_) => {
                numbers.resize(BirthNames::MAX, None);
                ToldBy::Names(vec![0; BirthNames::MAX])
            }
            None => ToldBy::Places(Family::new(self.births.initial)),
        };
        Renumbering { state, numbers, told_by }
    }

    /// Takes a step of a process of the program, after control was lost if need be.
    fn take(&self, state: &[u32], pid: u8, is_it: &dyn Fn(&Move) -> bool) -> (Taken, Option<Move>) {
        let mut machine = self.machine.borrow_mut();
        let (mut here, mut successor) = (Cow::Borrowed(state), Vec::new());
        for _ in 0..2 {
            let mut released = None;
            // Its steps alone; then all, since a `timeout` is possible only if nobody has another step.
            for alone in [true, false] {
                let mut cursor = match alone && !machine.is_held(&here) {
                    true => machine.begin_process(&here, pid),
                    false => machine.begin(&here),
                };
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
            }
            match released {
                Some(state) => here = Cow::Owned(state),
                None => break,
            }
        }
        (Taken::Impossible, None)
    }

    /// Lets the youngest process end, if it can now.
    fn end_youngest(&self, at: &mut Renumbering) -> Option<Move> {
        let program = &self.program;
        let is_end = |step: &Move| program.statement(program.process_of(step.edge), step.edge).action == Action::End;
        let youngest = self.machine.borrow().process_count(&at.state).checked_sub(1)?;
        let (Taken::Leads(state), Some(step)) = self.take(&at.state, youngest as u8, &is_end) else { return None };
        at.state = state;
        at.numbers.iter_mut().filter(|number| **number == Some(step.pid)).for_each(|number| *number = None);
        Some(step)
    }

    /// Removes processes that have finished from the order of births, as [`super::birth_order`] does. Whether one holds control
    /// makes no difference here: it takes no other step.
    fn settle(&self, at: &mut Renumbering) {
        let Renumbering { state, numbers, told_by: ToldBy::Places(family) } = at else { return };
        let mut places = std::mem::take(&mut *self.places.borrow_mut());
        self.machine.borrow().locations(state, &mut places);
        let place = |number: Option<u8>| places.get(usize::from(number?)).copied();
        family.settle(|pid| place(numbers[pid]).is_some_and(|place| self.births.can_create(place)));
        for pid in (self.births.initial..numbers.len()).rev() {
            if place(numbers[pid]).is_some_and(|place| self.births.has_finished(place)) {
                family.remove(pid);
                numbers.remove(pid);
            }
        }
        self.places.replace(places);
    }

    /// Notes the number of a new child of a process.
    fn add_child(&self, at: &mut Renumbering, parent: u8, number: u8) {
        match &mut at.told_by {
            ToldBy::Places(family) => at.numbers.insert(family.add_child(usize::from(parent)), Some(number)),
            ToldBy::Names(children) => {
                let Some(count) = children.get_mut(usize::from(parent)) else { return };
                *count = count.saturating_add(1);
                let name = self.names.as_ref().and_then(|names| names.child(parent, *count));
                if let Some(of_child) = name.and_then(|name| at.numbers.get_mut(usize::from(name))) {
                    *of_child = Some(number);
                }
            }
        }
    }

    /// A step with the numbers that processes have in the program; those end in a path that have to for it to be possible. With
    /// the state that it leads to.
    fn next(&self, at: &mut Renumbering, step: Move, path: &mut Vec<Move>) -> (Move, Option<Vec<u32>>) {
        let number = |pid: u8| at.numbers.get(usize::from(pid)).copied().flatten().unwrap_or(pid);
        let numbered = Move {
            pid: number(step.pid),
            edge: step.edge,
            partner: step.partner.map(|(pid, edge)| (number(pid), edge)),
        };
        loop {
            match self.take(&at.state, numbered.pid, &|other| *other == numbered).0 {
                Taken::Leads(state) => return (numbered, Some(state)),
                Taken::Broken => return (numbered, None),
                Taken::Impossible => match self.end_youngest(at) {
                    Some(end) => path.push(end),
                    // The referee will not take it either.
                    None => return (numbered, None),
                },
            }
        }
    }

    /// Adds a step to a path of the program.
    fn step(&self, at: &mut Renumbering, step: Move, path: &mut Vec<Move>) {
        let (numbered, after) = self.next(at, step, path);
        if let Some(state) = after {
            let count = self.machine.borrow().process_count(&at.state);
            for created in 0..self.births.created_by(step.edge) {
                self.add_child(at, step.pid, (count + created) as u8);
            }
            at.state = state;
            if self.births.created_by(step.edge) > 0 || self.births.retires(Some(step)) {
                self.settle(at);
            }
        }
        path.push(numbered);
    }

    /// All steps of an execution, as far as it is the same as the one before not anew; `ends` says that processes end after it.
    fn execution(&self, path: &[Move], ends: bool) -> Vec<Move> {
        let mut trail = self.trail.borrow_mut();
        let Trail { steps, numbered, at } = &mut *trail;
        if at.is_empty() {
            at.push((self.start(), 0));
        }
        let alike = steps.iter().zip(path).take_while(|(one, other)| one == other).count();
        steps.truncate(alike);
        at.truncate(alike + 1);
        numbered.truncate(at[alike].1);
        for step in &path[alike..] {
            let mut here = at[steps.len()].0.clone();
            self.step(&mut here, *step, numbered);
            steps.push(*step);
            at.push((here, numbered.len()));
        }
        let mut found = numbered.clone();
        if ends {
            self.end_all(&at[steps.len()].0, &mut found);
        }
        found
    }

    /// Adds the ends of processes after which nobody can end any more. Only the youngest one can, where nothing else is left to it.
    fn end_all(&self, at: &Renumbering, path: &mut Vec<Move>) {
        let mut places = self.places.borrow_mut();
        self.machine.borrow().locations(&at.state, &mut places);
        for (pid, (process, location)) in places.iter().enumerate().rev() {
            let edges = self.program.process(*process).locations[location.0 as usize].edges.clone();
            let is_end = |edge: &u32| self.program.statement(*process, EdgeId(*edge)).action == Action::End;
            let Some(edge) = edges.into_iter().find(is_end) else { break };
            path.push(Move { pid: pid as u8, edge: EdgeId(edge), partner: None });
        }
    }

    /// All steps of a path; `ends` says that processes end after it.
    fn path(&self, at: &mut Renumbering, path: &[Move], ends: bool) -> Vec<Move> {
        let mut numbered = Vec::with_capacity(path.len());
        path.iter().for_each(|step| self.step(at, *step, &mut numbered));
        if ends {
            self.end_all(at, &mut numbered);
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
        let path = numbered.execution(&execution.path, goes_on_to_ends(execution.end));
        Execution { path, ..execution }
    }

    /// A path of the program, and two steps each of which is possible after it.
    pub(super) fn path_to(&self, path: Vec<Move>, steps: [Move; 2]) -> (Vec<Move>, [Move; 2]) {
        let Self::Births(numbered) = self else { return (path, steps) };
        let mut at = numbered.start();
        let mut path = numbered.path(&mut at, &path, false);
        let steps = steps.map(|step| numbered.next(&mut at, step, &mut path).0);
        (path, steps)
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
