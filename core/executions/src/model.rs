//! A machine as a model whose steps may be independent, with partial-order reduction where that is sound.

use super::birth_names::{self, BirthNames, Named, name_at, place_of, rename, renamed};
use super::birth_order::{self, Births, InOrder};
use super::conflicts::{Relation, Tables, name_of};
use super::learned::Learnt;
use fabius_machine::{Cursor, Machine, Reader};
use fabius_model::SearchedMachine;
use fabius_model::reduction::{Plan, Reduced, ReducedCursor};
use fabius_program::facts::{Facts, InstanceKey};
use fabius_program::meaning::Fault;
use fabius_program::{Action, EdgeId, Location, Move, Process, ProcessId, ProcessKind};
use fabius_search::executions::Independence;
use fabius_search::{Ending, Model, Next};
use std::borrow::Cow;
use std::sync::Arc;

/// What lists the steps.
enum Lister {
    Whole(Box<SearchedMachine>),
    /// A sufficient part of them: some step of each execution that goes on from a state can be moved to its front.
    Reduced(Box<Reduced>),
}

/// A machine, and what is known of the independence of its steps.
pub(super) struct Interleaved {
    lister: Lister,
    facts: Arc<Facts>,
    tables: Tables,
    /// For each edge, whether it leads back to the same state without anything that another process could see.
    idle: Vec<bool>,
    /// For each edge, taken alone and as the start of an atomic sequence, whether a loop of its process may be closed.
    closing: [Vec<bool>; 2],
    /// For each edge, whether it is known to end executions.
    ending: Vec<bool>,
    /// For each type and location, whether nothing is left to its process but to end, and it is all the same to
    /// everybody when: then it ends at once.
    quiet: Vec<Vec<bool>>,
    ends_quietly: bool,
    /// By the machine's number for the types of a state's processes, the youngest one: its number, its type, where its
    /// location stands.
    youngest: Vec<Option<(usize, ProcessId, Option<Reader>)>>,
    /// What was learnt about the independence of steps, if that is to be relied on.
    learnt: Option<Learnt>,
    /// Hidden variables distinguish states.
    hidden_matter: bool,
    /// Processes are told apart by their births.
    order: Option<Order>,
    some_vary: bool,
    /// A process could not be created, because there were too many.
    full: bool,
    /// A state has no tables: what is known of it is not true.
    lost: bool,
}

/// How the processes of a state are told apart by their births.
enum Order {
    /// By their places, which change when others are created or removed.
    Places(InOrder),
    /// By their names. In the labels of steps and the names of steps stand names instead of places.
    Names(Named),
}

impl Order {
    fn births(&self) -> Arc<Births> {
        match self {
            Self::Places(order) => Arc::clone(&order.births),
            Self::Names(order) => Arc::clone(&order.births),
        }
    }

    fn room(&mut self) -> &mut Vec<u32> {
        match self {
            Self::Places(order) => &mut order.room,
            Self::Names(order) => &mut order.room,
        }
    }

    /// The machine's words of a state.
    fn words<'s>(&self, state: &'s [u32]) -> &'s [u32] {
        match self {
            Self::Places(_) => birth_order::machine_words(state),
            Self::Names(_) => birth_names::machine_words(state),
        }
    }

    fn write_initial(&mut self, state: &mut Vec<u32>) {
        match self {
            Self::Places(order) => order.write_initial(state),
            Self::Names(order) => order.write_initial(state),
        }
    }

    /// Writes the state after a step, told by places; false if there is none because of too many processes.
    fn write_successor(&mut self, machine: &Machine, step: (&[u32], Option<Move>), successor: &mut Vec<u32>) -> bool {
        match self {
            Self::Places(order) => order.write_successor(machine, step, successor),
            Self::Names(order) => order.write_successor(machine, step, successor),
        }
    }
}

/// How far the steps of a state were listed.
#[derive(Clone, Copy)]
pub(super) enum ListCursor {
    Whole(Cursor),
    /// Some processes, one after the other: the present one, and those after it, as bits by their numbers.
    Some(Cursor, u64),
    /// The end of a process that it is all the same to everybody when.
    QuietEnd(Cursor),
    Reduced {
        cursor: ReducedCursor,
        /// A step was listed that is not waiting.
        listed: bool,
    },
}

impl Interleaved {
    /// All steps of a machine, or with a plan a sufficient part of them. `ending` tells of each edge whether it is
    /// known to end executions.
    pub(super) fn new(
        machine: SearchedMachine,
        plan: Option<Plan>,
        (facts, ending): (Arc<Facts>, Vec<bool>),
        (relation, learnt): (Relation, Option<Learnt>),
        hidden_matter: bool,
    ) -> Self {
        let lister = match plan {
            Some(plan) => Lister::Reduced(Box::new(Reduced::of(machine, plan))),
            None => Lister::Whole(Box::new(machine)),
        };
        let some_vary = relation == Relation::Recorded && facts.some_vary();
        let tables = Tables::new(Arc::clone(&facts), ending.clone(), relation);
        let (idle, quiet, closing) = (idle_edges(&facts), quiet_ends(&facts), closing_edges(&facts));
        let ends_quietly = quiet.iter().flatten().any(|ends| *ends);
        let youngest = Vec::new();
        let (order, full, lost) = (None, false, false);
        Self {
            lister,
            tables,
            idle,
            closing,
            ending,
            facts,
            quiet,
            ends_quietly,
            youngest,
            learnt,
            hidden_matter,
            order,
            some_vary,
            full,
            lost,
        }
    }

    /// The same with processes told apart by their births, by their places or by names. The machine's program is the one whose
    /// processes do not end.
    pub(super) fn by_birth(self, births: Arc<Births>, names: Option<Arc<BirthNames>>) -> Self {
        let order = match names {
            Some(names) => Order::Names(Named::new(births, names)),
            None => Order::Places(InOrder::new(births)),
        };
        Self { order: Some(order), ..self }
    }

    /// Whether a process could not be created in some state, because there were too many.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The machine's words of a state.
    fn words<'s>(&self, state: &'s [u32]) -> &'s [u32] {
        self.order.as_ref().map_or(state, |order| order.words(state))
    }

    /// Whether processes have names.
    pub(super) fn has_names(&self) -> bool {
        matches!(self.order, Some(Order::Names(_)))
    }

    /// The place of a process in a state, by its name or number.
    pub(super) fn place(&self, state: &[u32], who: u8) -> Option<u8> {
        if self.has_names() { place_of(state, who) } else { Some(who) }
    }

    /// The machine's words of a state.
    pub(super) fn words_of<'s>(&self, state: &'s [u32]) -> &'s [u32] {
        self.words(state)
    }

    /// The processes of the state after a step that were not there before it.
    pub(super) fn created(&mut self, state: &[u32], after: &[u32]) -> Vec<u8> {
        let (words, words_after) = (self.words(state), self.words(after));
        let count = self.machine().process_count(words_after);
        if self.has_names() {
            let names = (0..count).filter_map(|place| name_at(after, u8::try_from(place).ok()?));
            return names.filter(|name| place_of(state, *name).is_none()).collect();
        }
        (self.machine().process_count(words)..count).map(|pid| pid as u8).collect()
    }

    /// Puts the processes of a state into the names of steps: their places instead of their names, or the other way round.
    fn rename_all(&mut self, state: &[u32], steps: &mut [u32], to_places: bool) {
        if self.has_names() {
            let of = |who: u8| if to_places { place_of(state, who) } else { name_at(state, who) };
            self.lost |= !steps.iter_mut().all(|step| rename(step, of));
        }
    }

    /// Whether the independence of steps could not be told in some state, so that no number is known.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    fn machine(&mut self) -> &mut Machine {
        match &mut self.lister {
            Lister::Whole(machine) => machine.machine_mut(),
            Lister::Reduced(reduced) => reduced.whole().machine_mut(),
        }
    }

    /// The machine, and the tables of its steps.
    pub(super) fn machine_and_tables(&mut self) -> (&mut Machine, &mut Tables) {
        let Self { lister, tables, .. } = self;
        let machine = match lister {
            Lister::Whole(machine) => machine.machine_mut(),
            Lister::Reduced(reduced) => reduced.whole().machine_mut(),
        };
        (machine, tables)
    }

    /// Whether what a step touches may differ from state to state, as far as that is looked at.
    pub(super) fn some_vary(&self) -> bool {
        self.some_vary
    }

    /// Whether the youngest process ends now, and it is all the same to everybody when.
    pub(super) fn ends_quietly_now(&mut self, state: &[u32]) -> bool {
        self.ends_quietly && self.begin_quiet_end(self.words(state)).is_some()
    }

    /// Whether a step is the end of a process that it is all the same to everybody when.
    #[cfg(test)]
    pub(super) fn is_quiet_end(&self, step: &Move) -> bool {
        let program = self.facts.program();
        let (process, source) = (program.process_of(step.edge), program.edges[step.edge.0 as usize].source);
        self.quiet.get(process.0 as usize).is_some_and(|places| places[source.0 as usize])
    }

    /// A cursor that lists only the end of the youngest process, if it can end, and it is all the same when.
    #[inline]
    fn begin_quiet_end(&mut self, state: &[u32]) -> Option<Cursor> {
        let Self { lister, quiet, youngest, .. } = self;
        let machine = match lister {
            Lister::Whole(machine) => machine.machine_mut(),
            Lister::Reduced(reduced) => reduced.whole().machine_mut(),
        };
        if machine.is_held(state) {
            return None;
        }
        let shape = machine.shape_number(state)?;
        let known = youngest.get(shape as usize).copied().flatten();
        let (pid, process, reader) = match known {
            Some(known) => known,
            None => {
                let pid = machine.process_count(state).checked_sub(1)?;
                let known = (pid, machine.process_at(shape, pid)?, machine.location_reader(shape, pid));
                youngest.resize(youngest.len().max(shape as usize + 1), None);
                youngest[shape as usize] = Some(known);
                known
            }
        };
        let location = reader.map_or(0, |reader| reader.read(state) as usize);
        let ends = quiet.get(process.0 as usize)?.get(location).copied()?;
        ends.then(|| machine.begin_process(state, pid as u8))
    }

    /// Lists all steps instead of a part of them.
    fn begin_whole(&mut self, state: &[u32]) -> ListCursor {
        ListCursor::Whole(self.machine().begin(state))
    }

    fn next_whole(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        match &mut self.lister {
            Lister::Whole(machine) => machine.next(state, cursor, successor),
            Lister::Reduced(reduced) => reduced.whole().next(state, cursor, successor),
        }
    }

    fn is_idle(&self, step: &Move) -> bool {
        step.partner.is_none() && self.idle.get(step.edge.0 as usize).is_some_and(|idle| *idle)
    }
}

/// Goes on with the youngest of some processes, and removes it from them; with nobody if there is none.
#[inline]
fn turn_to_youngest(cursor: &mut Cursor, processes: &mut u64) {
    match processes.checked_ilog2() {
        Some(pid) => {
            *processes &= !(1 << pid);
            cursor.turn_to(pid as u8);
        }
        None => cursor.turn_to_nobody(),
    }
}

/// For each edge of a program, whether it leads back to the same state without anything that another process could see.
fn idle_edges(facts: &Facts) -> Vec<bool> {
    let mut idle = vec![false; facts.program().edges.len()];
    for (at, process) in facts.program().processes.iter().enumerate() {
        let process_id = ProcessId(at as u32);
        let key = InstanceKey { process: process_id, pid: None, channels_before: None, constants: Vec::new() };
        let instance = facts.instance(key);
        for edge in process.locations.iter().flat_map(|location| location.edges.clone()) {
            idle[edge as usize] = facts.is_idle(&instance, EdgeId(edge));
        }
    }
    idle
}

/// For each edge of a program, taken alone and as the start of an atomic sequence, whether a loop of its process may be
/// closed.
fn closing_edges(facts: &Facts) -> [Vec<bool>; 2] {
    let mut closing = [false, true].map(|_| vec![false; facts.program().edges.len()]);
    for (at, process) in facts.program().processes.iter().enumerate() {
        let process_id = ProcessId(at as u32);
        for edge in process.locations.iter().flat_map(|location| location.edges.clone()) {
            let index = facts.index_of(EdgeId(edge));
            closing[0][edge as usize] = facts.closes_loop(process_id, index);
            let mut run = facts.run(process_id, index).iter();
            closing[1][edge as usize] = run.any(|edge| facts.closes_loop(process_id, edge));
        }
    }
    closing
}

/// For each type and location of a program, whether nothing is left to a process there but to end, and it is all the
/// same to everybody when it does.
fn quiet_ends(facts: &Facts) -> Vec<Vec<bool>> {
    let program = facts.program();
    let processes = || program.processes.iter().filter(|process| process.kind == ProcessKind::Process);
    let looks = program.uses.last || program.uses.priority || program.uses.enabled;
    let restricted = processes().any(|process| process.provided.is_some());
    if looks || restricted || !facts.ends_quietly() {
        return Vec::new();
    }
    let ends = |process: &Process, edge: u32| {
        let statement = program.edges[edge as usize].statement;
        process.statements[statement.0 as usize].action == Action::End
    };
    let only_ends = |process: &Process, location: &Location| {
        process.kind == ProcessKind::Process
            && !location.edges.is_empty()
            && location.edges.clone().all(|edge| ends(process, edge))
    };
    let places = |process: &Process| process.locations.iter().map(|location| only_ends(process, location)).collect();
    program.processes.iter().map(places).collect()
}

impl Model for Interleaved {
    type Label = Move;
    type Fault = Fault;
    type Cursor = ListCursor;

    fn hidden_words(&self) -> usize {
        match &self.lister {
            _ if self.hidden_matter => 0,
            Lister::Whole(machine) => machine.hidden_words(),
            Lister::Reduced(reduced) => reduced.hidden_words(),
        }
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        let Some(mut order) = self.order.take() else { return self.initial_words(state) };
        let begun = self.initial_words(order.room());
        order.write_initial(state);
        self.order = Some(order);
        begun
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> ListCursor {
        let words = self.words(state);
        if self.ends_quietly
            && let Some(cursor) = self.begin_quiet_end(words)
        {
            return ListCursor::QuietEnd(cursor);
        }
        match &mut self.lister {
            Lister::Whole(machine) => ListCursor::Whole(machine.begin(words)),
            Lister::Reduced(reduced) => ListCursor::Reduced { cursor: reduced.begin(words), listed: false },
        }
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut ListCursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        let Some(mut order) = self.order.take() else { return self.next_words(state, cursor, successor) };
        let mut next = self.next_words(order.words(state), cursor, order.room());
        if let Next::Successor { label, .. } = &next {
            let (machine, _) = self.machine_and_tables();
            self.full |= !order.write_successor(machine, (state, *label), successor);
        }
        if let (Order::Names(_), Next::Successor { label: Some(label), .. } | Next::Broken { label, .. }) =
            (&order, &mut next)
        {
            match renamed(*label, |place| name_at(state, place)) {
                Some(named) => *label = named,
                None => self.lost = true,
            }
        }
        self.order = Some(order);
        match next {
            Next::Successor { label: Some(label), .. } if self.full => {
                Next::Broken { label, fault: Fault::TooManyProcesses }
            }
            next => next,
        }
    }
}

impl Interleaved {
    fn initial_words(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        match &mut self.lister {
            Lister::Whole(machine) => machine.initial(state),
            Lister::Reduced(reduced) => reduced.initial(state),
        }
    }

    /// The next step, with the machine's words of both states.
    fn next_words(&mut self, state: &[u32], cursor: &mut ListCursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        loop {
            let (inner, listed) = match (&mut *cursor, &mut self.lister) {
                (ListCursor::Reduced { cursor, listed }, Lister::Reduced(reduced)) => {
                    (reduced.next(state, cursor, successor), listed)
                }
                (ListCursor::Whole(cursor) | ListCursor::QuietEnd(cursor), _) => {
                    return self.next_whole(state, cursor, successor);
                }
                (ListCursor::Some(cursor, rest), _) => match self.next_whole(state, cursor, successor) {
                    Next::Done(_) if *rest != 0 => {
                        turn_to_youngest(cursor, rest);
                        continue;
                    }
                    found => return found,
                },
                // A cursor of another model.
                (ListCursor::Reduced { .. }, Lister::Whole(_)) => return Next::Done(Ending::Moves),
            };
            match inner {
                // A process that only waits may be all that suffices: then somebody else must move.
                Next::Successor { label: Some(label), transient: false, .. }
                    if *successor == *state && self.is_idle(&label) => {}
                Next::Done(ending) if *listed => return Next::Done(ending),
                Next::Done(_) => *cursor = self.begin_whole(state),
                found => {
                    *listed = true;
                    return found;
                }
            }
        }
    }
}

impl Independence for Interleaved {
    fn name_of(&mut self, _: &[u32], label: &Move) -> Option<u32> {
        name_of(&self.facts, label)
    }

    fn retain_independent(&mut self, state: &[u32], mut step: u32, names: &mut Vec<u32>) {
        self.rename_all(state, std::slice::from_mut(&mut step), true);
        self.rename_all(state, names, true);
        let words = self.words(state);
        match self.learnt.clone() {
            None => {
                let (machine, tables) = self.machine_and_tables();
                self.lost |= tables.retain_independent(machine, words, step, names).is_none();
            }
            // A process that ends now, as it is all the same when, disturbs nobody.
            Some(_) if self.ends_quietly_now(state) => {}
            Some(learnt) => {
                let has_names = self.has_names();
                let told = |step: Move| match has_names {
                    true => renamed(step, |place| name_at(state, place)),
                    false => Some(step),
                };
                let (machine, tables) = self.machine_and_tables();
                let found = tables.retain_learnt((machine, words), step, names, (&learnt, &told));
                self.lost |= found.is_none();
            }
        }
        self.rename_all(state, names, false);
    }

    #[inline]
    fn leave_out(&mut self, state: &[u32], cursor: &mut ListCursor, asleep: &[u32]) {
        let mut asleep = Cow::Borrowed(asleep);
        if self.has_names() {
            self.rename_all(state, asleep.to_mut(), true);
        }
        let state = self.words(state);
        let (machine, tables) = self.machine_and_tables();
        let Some(left_out) = tables.with_no_other_step(machine, state, &asleep) else { return };
        let count = machine.process_count(state) as u32;
        if left_out == 0 || u64::BITS <= count {
            return;
        }
        match (&mut *cursor, &mut self.lister) {
            (ListCursor::Whole(whole), _) => {
                let (mut listed, mut rest) = (*whole, ((1 << count) - 1) & !left_out);
                turn_to_youngest(&mut listed, &mut rest);
                *cursor = ListCursor::Some(listed, rest);
            }
            (ListCursor::Reduced { cursor, listed }, Lister::Reduced(reduced)) => {
                reduced.leave_out(state, cursor, left_out);
                *listed = true;
            }
            _ => {}
        }
    }

    fn carry(&mut self, names: &mut [u32], laps: &mut Vec<u32>) {
        // Names stay.
        if let Some(Order::Places(order)) = &self.order {
            order.carry(names, laps);
        }
    }

    fn write_outcome(&mut self, state: &[u32], outcome: &mut Vec<u32>) -> bool {
        let Some(births) = self.order.as_ref().map(Order::births) else { return false };
        let words = self.words(state);
        births.write_outcome(self.machine(), words, outcome);
        true
    }

    fn is_last_resort(&self, cursor: &ListCursor) -> bool {
        match cursor {
            ListCursor::Whole(cursor) | ListCursor::Some(cursor, _) | ListCursor::QuietEnd(cursor) => {
                cursor.is_second_trial()
            }
            ListCursor::Reduced { cursor, .. } => cursor.is_second_trial(),
        }
    }

    fn is_waiting(&mut self, label: &Move) -> bool {
        self.is_idle(label)
    }

    fn laps_of(&mut self, _: &[u32], label: &Move) -> [Option<u32>; 2] {
        let key = |pid: u8, edge: EdgeId, starts: bool| {
            let closes = self.closing[usize::from(starts)].get(edge.0 as usize).is_some_and(|closes| *closes);
            (closes && edge.0 < 1 << 24).then(|| u32::from(pid) << 24 | edge.0)
        };
        // After a rendezvous only the receiver may go on with an atomic sequence.
        let mine = key(label.pid, label.edge, label.partner.is_none());
        [mine, label.partner.and_then(|(pid, edge)| key(pid, edge, true))]
    }

    fn ends_executions(&self, label: &Move) -> bool {
        let known = |edge: EdgeId| self.ending.get(edge.0 as usize).is_some_and(|ending| *ending);
        known(label.edge) || label.partner.is_some_and(|(_, edge)| known(edge))
    }
}
