//! What the processes of a state require of each other.

use super::tables::{self, Configuration, Here, Set};
use super::{Plan, Preserve, Proviso};
use fabius_program::ProgressOn;
use fabius_search::reduce::Requirements;

/// The processes that can take a step of a set.
pub(super) fn movers(set: &[u64], question: &mut Question<'_>) -> Set {
    let can_move = |process: &usize| set[*process] & question.executable(*process) != 0;
    (0..set.len()).filter(can_move).fold(0, |movers, process| movers | 1 << process)
}

/// What was found out about the processes of a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    locations: Vec<u32>,
    executable: Vec<Option<u64>>,
    /// Edges that somebody else's step may include, as far as that was found out.
    live: Vec<u64>,
}

impl Answers {
    #[inline]
    pub(super) fn begin(&mut self, tables: &Configuration, state: &[u32]) {
        self.locations.clear();
        let at = |reader: &Option<fabius_machine::Reader>| reader.map_or(0, |reader| reader.read(state) as u32);
        self.locations.extend(tables.processes.iter().map(|agent| at(&agent.location)));
        self.executable.clear();
        self.executable.resize(tables.processes.len(), None);
        self.live.clear();
        self.live.resize(tables.processes.len(), 0);
    }
}

/// What the processes of a state require of each other.
pub(super) struct Question<'a> {
    pub(super) tables: &'a Configuration,
    pub(super) plan: &'a Plan,
    pub(super) machine: &'a mut fabius_machine::Machine,
    pub(super) state: &'a [u32],
    pub(super) answers: &'a mut Answers,
}

impl Question<'_> {
    #[inline]
    pub(super) fn place(&self, process: usize) -> &tables::Place {
        &self.tables.processes[process].places[self.answers.locations[process] as usize]
    }

    /// A process that has one step, requires nobody else and demands nothing: nothing is better than that.
    #[inline]
    pub(super) fn free(&mut self) -> Option<usize> {
        if !matches!(self.plan.preserve, Preserve::Deadlocks | Preserve::Faults(Proviso::Stack)) {
            return None;
        }
        (0..self.tables.processes.len())
            .rev()
            .find(|process| self.place(*process).free && self.executable(*process).count_ones() == 1)
    }

    pub(super) fn is_crowded(&self) -> bool {
        (0..self.tables.processes.len()).any(|process| self.place(process).has_too_many_edges)
    }

    /// Whether one of these edges can be taken, by itself or as a part of another process's step, and is one that
    /// [`Plan::whole`] marks.
    fn has_marked(&mut self, process: usize, edges: u64) -> bool {
        let whole = self.place(process).whole & edges;
        self.can_be_taken(process, whole)
    }

    /// The same for edges that are sticky.
    fn has_sticky(&mut self, process: usize, edges: u64) -> bool {
        let sticky = self.place(process).sticky & edges;
        self.can_be_taken(process, sticky)
    }

    /// Whether one of these edges can be taken, by itself or as a part of another process's step.
    #[inline]
    fn can_be_taken(&mut self, process: usize, edges: u64) -> bool {
        edges != 0 && edges & (self.executable(process) | self.answers.live[process]) != 0
    }
}

/// The edges of a process that can be taken in a state, found out once.
#[inline]
fn executable(
    process: usize,
    tables: &Configuration,
    place: &tables::Place,
    machine: &mut fabius_machine::Machine,
    state: &[u32],
    known: &mut [Option<u64>],
) -> u64 {
    match known[process] {
        Some(executable) => executable,
        None => {
            let executable = if place.all == 0 { 0 } else { machine.executable(state, tables.shape, process as u8) };
            known[process] = Some(executable);
            executable
        }
    }
}

impl Requirements for Question<'_> {
    #[inline]
    fn alternatives(&mut self, process: usize) -> u64 {
        self.place(process).all
    }

    #[inline]
    fn with_executable(&mut self, process: usize) -> u64 {
        let executable = self.executable(process);
        self.place(process).together(executable)
    }

    #[inline]
    fn executable(&mut self, process: usize) -> u64 {
        let place = &self.tables.processes[process].places[self.answers.locations[process] as usize];
        executable(process, self.tables, place, self.machine, self.state, &mut self.answers.executable)
    }

    #[inline]
    fn require(&mut self, process: usize, alternatives: u64, set: &mut [u64]) {
        let Self { tables, machine, state, answers, .. } = self;
        let Answers { locations, executable: known, live } = &mut **answers;
        let here = Here { state, locations };
        tables.require(process, alternatives, &here, set, live, &mut |process| {
            executable(process, tables, tables.place(process, &here), machine, state, known)
        });
    }

    #[inline]
    fn demands_all(&mut self, process: usize, alternatives: u64) -> bool {
        !matches!(self.plan.preserve, Preserve::Deadlocks | Preserve::Faults(_))
            && self.has_marked(process, alternatives)
    }

    fn suffices(&mut self, set: &[u64]) -> bool {
        let count = set.len();
        match self.plan.preserve {
            // Every step leads to a progress state as long as somebody stays at a progress location.
            Preserve::Livelocks(ProgressOn::States) => {
                !(0..count).any(|process| self.place(process).progress)
                    || !(0..count).any(|process| self.has_sticky(process, set[process]))
            }
            Preserve::Faults(Proviso::Loops) => {
                let is_in = |process: usize, question: &mut Self| {
                    set[process] == question.place(process).all || set[process] & question.executable(process) != 0
                };
                (0..count).all(|process| !self.place(process).faulty || is_in(process, self))
                    || !(0..count).any(|process| self.has_marked(process, set[process]))
            }
            _ => true,
        }
    }
}
