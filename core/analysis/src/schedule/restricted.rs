//! The model under a schedule: a machine that lists only the macro steps that the schedule allows.

use super::places::Places;
use fabius_machine::Cursor;
use fabius_model::SearchedMachine;
use fabius_program::{Move, meaning::Fault};
use fabius_search::restrict::{Graph, Movers, Region, Site, Wait, held, rank_of};
use fabius_search::{Ending, Model, Next, ProcessSet, Processes};

/// What a schedule forbids.
pub(super) enum Restriction<'r> {
    /// Whoever has to wait does not move.
    Waits(&'r Places, &'r [Wait]),
    /// Only the processes of the most important kinds of those that can move.
    Order(&'r Places, &'r [u16]),
    /// Only macro steps that stay in the region.
    Region(&'r Region),
}

/// A machine under a schedule. A state in which only processes could move that the schedule holds back has no
/// successor, and is an invalid end; `timeout` is no more often true than without the schedule.
///
/// Nothing is forbidden inside an atomic sequence: it goes on as it began.
pub(super) struct Restricted<'r> {
    machine: SearchedMachine,
    restriction: Restriction<'r>,
    graph: &'r mut Graph,
    /// What was listed.
    pub(super) listed: Listed,
    sites: Vec<Site>,
}

/// What is listed of a model under a schedule: whom the schedule lets move, and where.
#[derive(Default)]
pub(super) struct Listed {
    /// The states in which whom it lets move was listed, by number in the graph.
    pub(super) states: Vec<u32>,
    /// In which state which processes move; at least once each.
    pub(super) moves: Vec<(u32, Movers)>,
    /// A state that is not in the graph was listed.
    pub(super) is_new: bool,
    /// Inside an atomic sequence, a process that has to wait received a message.
    pub(super) takes_along: bool,
}

/// How far the macro steps of a state were listed.
#[derive(Clone, Copy)]
pub(super) struct RestrictedCursor {
    cursor: Cursor,
    /// The processes that have to wait.
    held: u64,
    /// The number of the state in the graph.
    state: Option<u32>,
    /// The rank of those who may move.
    rank: usize,
    transient: bool,
    moved: bool,
}

impl<'r> Restricted<'r> {
    /// The machine of the states of a graph under a schedule.
    pub(super) fn new(machine: SearchedMachine, restriction: Restriction<'r>, graph: &'r mut Graph) -> Self {
        Self { machine, restriction, graph, listed: Listed::default(), sites: Vec::new() }
    }

    /// The rank of the most important processes that can move in a state, which become those of the present one.
    fn least_rank(&mut self, state: &[u32]) -> usize {
        let Restriction::Order(places, kinds) = self.restriction else { return 0 };
        self.sites.clear();
        places.sites(self.machine.machine(), state, &mut self.sites);
        let (mut cursor, mut successor, mut least) = (self.machine.begin(state), Vec::new(), usize::MAX);
        loop {
            match self.machine.next(state, &mut cursor, &mut successor) {
                Next::Done(_) => return least,
                Next::Successor { label: Some(label), .. } | Next::Broken { label, .. } => {
                    least = least.min(rank_of(self.machine.movers(&label), &self.sites, kinds));
                }
                Next::Successor { .. } => {}
            }
        }
    }

    /// Whether the schedule forbids a step.
    fn forbids(&mut self, cursor: &RestrictedCursor, step: &Move) -> bool {
        let movers = self.machine.movers(step);
        let waits = movers.into_iter().flatten().any(|mover| mover < 64 && cursor.held & 1 << mover != 0);
        if cursor.transient {
            self.listed.takes_along |=
                step.partner.is_some_and(|(partner, _)| partner < 64 && cursor.held & 1 << partner != 0);
            return false;
        }
        match &self.restriction {
            Restriction::Waits(..) => waits,
            Restriction::Order(_, kinds) => rank_of(movers, &self.sites, kinds) != cursor.rank,
            Restriction::Region(region) => !cursor.state.is_some_and(|state| {
                let mut groups = self.graph.groups_of(state);
                groups.any(|group| self.graph.group(group).movers == movers && region.allows(group))
            }),
        }
    }

    /// Takes down whom the schedule lets move.
    fn take_down(&mut self, cursor: &RestrictedCursor, step: &Move) {
        if let Some(state) = cursor.state {
            let moves = (state, self.machine.movers(step));
            if self.listed.moves.last() != Some(&moves) {
                self.listed.moves.push(moves);
            }
        }
    }
}

impl Model for Restricted<'_> {
    type Label = Move;
    type Fault = Fault;
    type Cursor = RestrictedCursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.machine.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> RestrictedCursor {
        let transient = self.machine.machine().view(state).is_some_and(|view| view.holder().is_some());
        let held = match &self.restriction {
            Restriction::Waits(places, waits) => {
                self.sites.clear();
                places.sites(self.machine.machine(), state, &mut self.sites);
                held(waits, &self.sites)
            }
            Restriction::Order(..) | Restriction::Region(..) => 0,
        };
        let number = if transient { None } else { self.graph.number_of(state) };
        self.listed.is_new |= !transient && number.is_none();
        self.listed.states.extend(number);
        let rank = if transient { 0 } else { self.least_rank(state) };
        RestrictedCursor { cursor: self.machine.begin(state), held, state: number, rank, transient, moved: false }
    }

    fn next(&mut self, state: &[u32], cursor: &mut RestrictedCursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        loop {
            match self.machine.next(state, &mut cursor.cursor, successor) {
                Next::Successor { label: Some(label), .. } | Next::Broken { label, .. }
                    if self.forbids(cursor, &label) => {}
                Next::Done(Ending::Moves) if !cursor.moved => return Next::Done(Ending::InvalidEnd),
                found => {
                    if let Next::Successor { label: Some(label), .. } | Next::Broken { label, .. } = &found {
                        self.take_down(cursor, label);
                    }
                    cursor.moved = true;
                    return found;
                }
            }
        }
    }
}

impl Processes for Restricted<'_> {
    fn process_count(&self, state: &[u32]) -> usize {
        self.machine.process_count(state)
    }

    fn movers(&self, label: &Move) -> [Option<u8>; 2] {
        self.machine.movers(label)
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        self.machine.enabled(state, enabled);
    }
}
