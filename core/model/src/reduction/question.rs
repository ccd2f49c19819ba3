//! What the processes of a state require of each other.

use super::tables::{self, Configuration, Here, Set};
use super::{Plan, Preserve, Proviso};
use fabius_program::ProgressOn;
use fabius_search::reduce::{Alternatives, Requirements};

/// The processes that can take a step of a set.
pub(super) fn movers(set: &Alternatives, question: &mut Question<'_>) -> Set {
    let count = question.tables.processes.len();
    let can_move = |process: &usize| set.of(*process) & question.executable(*process) != 0;
    (0..count).filter(can_move).fold(0, |movers, process| movers | 1 << process)
}

/// What was found out about the processes of a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    locations: Vec<u32>,
    /// The edges that can be taken, of those processes whose bit is set in `known`.
    executable: Vec<u64>,
    known: Set,
    /// Edges that somebody else's step may include, as far as that was found out.
    live: Vec<u64>,
}

impl Answers {
    #[inline]
    pub(super) fn begin(&mut self, tables: &Configuration, state: &[u32]) {
        self.locations.clear();
        let at = |reader: &Option<fabius_machine::Reader>| reader.map_or(0, |reader| reader.read(state) as u32);
        self.locations.extend(tables.processes.iter().map(|agent| at(&agent.location)));
        self.known = 0;
        for edges in [&mut self.executable, &mut self.live] {
            edges.resize(tables.processes.len(), 0);
            edges.fill(0);
        }
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
            .find(|process| self.place(*process).free && self.find_executable(*process).count_ones() == 1)
    }

    /// The edges of a process that can be taken, found out unless that is known.
    fn find_executable(&mut self, process: usize) -> u64 {
        let answers = &mut *self.answers;
        if answers.known >> process & 1 == 0 {
            answers.known |= 1 << process;
            answers.executable[process] = self.machine.executable(self.state, self.tables.shape, process as u8);
        }
        answers.executable[process]
    }

    /// Finds out which edges of all processes can be taken.
    #[inline]
    pub(super) fn find_all_executable(&mut self) {
        let Answers { executable, known, .. } = &mut *self.answers;
        let all = (1 << executable.len()) - 1;
        self.machine.executable_of(self.state, self.tables.shape, all & !*known, executable);
        *known = all;
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
        debug_assert!(self.answers.known >> process & 1 != 0, "all were found out");
        self.answers.executable[process]
    }

    #[inline]
    fn require(&mut self, process: usize, alternatives: u64, set: &mut Alternatives) {
        let Answers { locations, executable, live, .. } = &mut *self.answers;
        let here = Here { state: self.state, locations };
        self.tables.require(process, alternatives, &here, set, executable, live);
    }

    #[inline]
    fn demands_all(&mut self, process: usize, alternatives: u64) -> bool {
        !matches!(self.plan.preserve, Preserve::Deadlocks | Preserve::Faults(_))
            && self.has_marked(process, alternatives)
    }

    fn suffices(&mut self, set: &Alternatives) -> bool {
        let count = self.tables.processes.len();
        match self.plan.preserve {
            // Every step leads to a progress state as long as somebody stays at a progress location.
            Preserve::Livelocks(ProgressOn::States) => {
                !(0..count).any(|process| self.place(process).progress)
                    || !(0..count).any(|process| self.has_sticky(process, set.of(process)))
            }
            Preserve::Faults(Proviso::Loops) => {
                let is_in = |process: usize, question: &mut Self| {
                    set.of(process) == question.place(process).all
                        || set.of(process) & question.executable(process) != 0
                };
                (0..count).all(|process| !self.place(process).faulty || is_in(process, self))
                    || !(0..count).any(|process| self.has_marked(process, set.of(process)))
            }
            _ => true,
        }
    }
}
