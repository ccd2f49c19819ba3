//! Static facts for partial-order reduction: what each step of each process reads, writes, sends and
//! receives, which steps of different processes leave each other alone, and which ones may make a guard true.
//!
//! Facts are made for an [`Instance`]: a process with its number, its channels and those of its locals that
//! never change. The more of these are known, the more precise is what `chan[_pid]` or a channel that came
//! in as a parameter means.
//!
//! What the facts promise (Valmari's *strong stubborn sets*; guards taken apart as in Laarman, Pater, van de
//! Pol, Hansen, *Guard-based partial-order reduction*, STTT 2016):
//!
//! * [`Step::accords`]: where both steps can be taken, in either order, they lead to the same states, and
//!   neither takes the other's possibility away.
//! * [`Step::may_enable`]: only a step for which this is true can make a false part of a guard true: these
//!   steps are a *necessary enabling set*.
//! * [`Facts::danger`] and its like answer both for whatever a process may do from a location on;
//!   [`Facts::conflicts_next`] answers for the next events of two processes only.
//!
//! An atomic sequence counts as one step that does whatever its statements may do; at each place where it may
//! have to stop, the statements' guards count as read.

mod access;
mod asleep;
pub mod births;
mod bits;
mod cells;
mod channels;
mod concerns;
mod conflicts_next;
mod cycles;
mod extract;
mod flow;
mod footprint;
mod future;
mod guard;
mod known;
mod message;
mod participants;
mod potential;
pub mod ranges;
mod recorded;
mod step;
mod stops;
mod stuck;
mod termination;
mod value;
pub mod waiting;
mod walk;

pub use asleep::{Disturbance, Taken};
pub use bits::{Bits, Channels};
pub use conflicts_next::{Conflicts, Meetings};
pub use extract::{Instance, InstanceKey};
pub use footprint::{Influence, Traffic};
pub use future::{Leads, Rendezvous};
pub use participants::{Participant, WhyNotTold};
pub use potential::StartValues;
pub use recorded::Now;
pub use step::{Check, Condition, Relation, Step, Subject};
pub use stuck::{Candidates, Whereabouts};
pub use termination::atomic_sequences_terminate;

use crate::{
    Action, EdgeId, Expr, Initial, Kind, Location, LocationId, Process, ProcessId, Program, Slot, Variable, VariableId,
};
use std::sync::Arc;

/// Whether processes of a type have channels of their own.
fn has_channels(process: &Process) -> bool {
    process.locals.iter().any(|local| matches!(local.initial, Initial::Channel(_)))
}

/// What is known of a program before it runs.
#[derive(Clone, Debug)]
pub struct Facts {
    program: Arc<Program>,
    cells: cells::Cells,
    channels: channels::ChannelFlow,
    shapes: Vec<flow::Shape>,
    /// For each local of each type, whether some statement assigns to it.
    locals_written: Vec<Vec<bool>>,
    /// Values of the elements of globals to which nothing assigns, if they are constant.
    constant_globals: Vec<Option<Vec<i32>>>,
    /// Whether there is room for all processes that can be created.
    fits: bool,
    /// For each type, whether only a bounded number of processes of it are created.
    bounded: Vec<bool>,
    /// Processes are told apart by their numbers; else by their births.
    numbered: bool,
    /// For each type, whether its processes look at their numbers.
    reads_number: Vec<bool>,
    /// Channels for which some step shows that nobody receives.
    shown_absence: Channels,
    /// For each type, a process of which nothing is known.
    unknown: Vec<Instance>,
}

impl Facts {
    /// The facts of a program whose states are also looked at by `observers`: propositions of a claim.
    pub fn of(program: Arc<Program>, observers: &[&Expr]) -> Self {
        extract::facts(program, observers)
    }

    /// The same for a program that cannot observe the numbers of processes (see [`births`]): whose turn it was to create
    /// one does not matter, nor when one ends that has nothing left to do.
    #[must_use]
    pub fn by_birth(mut self) -> Self {
        self.numbered = false;
        self.unknown = self.unknown.iter().map(|instance| self.instance(instance.key.clone())).collect();
        self
    }

    /// Whether they tell everything that there is to tell of a program whose states are also looked at by these expressions.
    pub fn are_enough_for(&self, observers: &[&Expr]) -> bool {
        observers.iter().all(|e| self.cells.are_enough_for(e))
    }

    /// Whether neither the program nor these expressions can observe the numbers of processes, and there is room for all
    /// processes even if none of them ends: then [`Facts::by_birth`] may be asked.
    pub fn is_blind_to_numbers(&self, expressions: &[&Expr]) -> bool {
        let may_end_or_go_on = |location: &Location| {
            let steps = self.program.edges_of(location).map(|(id, edge)| self.program.statement(edge.process, id));
            let ends = steps.filter(|statement| statement.action == Action::End).count();
            0 < ends && ends < location.edges.len()
        };
        self.fits
            && !self.program.processes.iter().flat_map(|process| &process.locations).any(may_end_or_go_on)
            && !self.shows_creations(expressions)
            && births::of(&self.program).is_ok()
    }

    /// Whether these expressions can observe how many processes there are, or which number a new one gets. Facts that tell processes apart
    /// by their births do not know.
    pub fn shows_creations(&self, expressions: &[&Expr]) -> bool {
        let observer = self.observer(expressions);
        // A step that creates a process writes how many there are, and perhaps its number.
        let is_seen = |step: &Step| !step.spawns.is_empty() && observer.reads.meets(&step.written);
        self.unknown.iter().flat_map(|instance| &instance.steps).any(is_seen)
    }

    /// The same, for processes that are looked at one by one: all locals that never change are worth knowing.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        self.bounded.fill(true);
        self
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program, shared.
    pub fn shared_program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The number of an edge within its type.
    pub fn index_of(&self, edge: EdgeId) -> usize {
        (edge.0 - self.shapes[self.program.process_of(edge).0 as usize].first_edge) as usize
    }

    /// Locals of a type whose values stay as they are while a process lives, and are worth knowing. Of a type of
    /// which there may be any number of processes, that is channels only.
    pub fn constant_locals(&self, process: ProcessId) -> Vec<VariableId> {
        let at = process.0 as usize;
        let locals = self.program.processes[at].locals.iter().enumerate();
        let is_constant = |index: usize| !self.locals_written[at][index];
        let is_worth_it = |local: &Variable| self.bounded[at] || local.ty.kind == Kind::Channel;
        locals
            .filter(|(index, local)| is_constant(*index) && local.dimensions.is_empty() && is_worth_it(local))
            .map(|(index, _)| VariableId(index as u32))
            .collect()
    }

    /// What of a key can make a difference to the steps of its process: the number of a process that never looks at it
    /// cannot, nor can the number of older channels where it has none of its own.
    pub fn distinguishing(&self, key: InstanceKey) -> InstanceKey {
        let at = key.process.0 as usize;
        let has_channels = has_channels(&self.program.processes[at]);
        InstanceKey {
            pid: key.pid.filter(|_| self.reads_number[at]),
            channels_before: key.channels_before.filter(|_| has_channels),
            ..key
        }
    }

    /// The number in the program of the first edge of a type.
    pub fn first_edge(&self, process: ProcessId) -> u32 {
        self.shapes[process.0 as usize].first_edge
    }

    /// Number of edges of a type.
    pub fn edge_count(&self, process: ProcessId) -> usize {
        self.shapes[process.0 as usize].edge_count
    }

    /// The edges, numbered within their type, that a process may take from an edge on before another process
    /// moves; the edge included.
    pub fn run(&self, process: ProcessId, edge: usize) -> &Bits {
        &self.shapes[process.0 as usize].run[edge]
    }

    /// Whether an edge closes a loop: every loop of its process has at least one such edge, and every cycle of
    /// the whole system has a step of such an edge, for some process.
    pub fn closes_loop(&self, process: ProcessId, edge: usize) -> bool {
        self.shapes[process.0 as usize].closing[edge]
    }

    /// The edges that may still be taken from a location on.
    pub fn ahead(&self, process: ProcessId, location: LocationId) -> &Bits {
        &self.shapes[process.0 as usize].ahead[location.0 as usize]
    }

    /// Whether an expression looks at what any step may change: who can move, or who moved.
    pub fn asks_for_everything(&self, e: &Expr) -> bool {
        walk::any_within(e, |part| {
            matches!(
                part,
                Expr::Timeout
                    | Expr::NonProgress
                    | Expr::Last
                    | Expr::Enabled(_)
                    | Expr::PriorityOf(_)
                    | Expr::Run { .. }
            )
        })
    }

    /// Number of channels that belong to global variables.
    pub fn global_channels(&self) -> usize {
        self.channels.global_count()
    }
}

/// Whether a step creates a process of a type.
pub fn creates(action: &Action, process: ProcessId) -> bool {
    let creates = |e: &&Expr| {
        walk::any_within(e, |part| matches!(part, Expr::Run { process: created, .. } if *created == process))
    };
    walk::parts(action).into_iter().any(|part| walk::operands(part).0.iter().any(&creates))
}

/// Tells of each variable that some process reads; a claim's own reads count, too.
pub fn each_read(program: &Program, mut tell: impl FnMut(Slot)) {
    let mut read = |e: &Expr| {
        walk::each_within(e, |part| {
            if let Expr::Load(place) = part {
                tell(place.slot);
            }
        });
    };
    for process in &program.processes {
        for action in process.statements.iter().flat_map(|statement| walk::parts(&statement.action)) {
            let (values, places) = walk::operands(action);
            values.into_iter().for_each(&mut read);
            places.into_iter().flat_map(|place| &place.indices).for_each(&mut read);
        }
        process.provided.iter().for_each(&mut read);
        process.locals.iter().flat_map(|local| walk::initial_values(&local.initial)).for_each(&mut read);
    }
}
