//! Partial-order reduction: a model that lists, in each state, only the steps of some of the processes.
//!
//! [`prepare`] says whether a program can be reduced such that what is asked of it has the same answer, and
//! [`Reduced`] is the model. Which steps are listed is a function of the state alone.
//!
//! Where a program cannot observe the numbers of its processes ([`Facts::is_blind_to_numbers`]), answers are the same up to these
//! numbers. Two states then count as one if they differ only in the numbers that processes have which were created, and in processes
//! that have nothing left to do but to end: they have the same steps, faults and endings. So creating a process accords with
//! creating another one, and the end of a process, which changes nothing but that, accords with everything. Without
//! this, a process that has come to its end has to wait there, with all values of its variables, until nobody creates
//! others any more, since the number of the next one depends on it. As only boundedly many are created, no cycle contains a
//! step that creates or ends one.
//!
//! What must be preserved decides how much may be left out:
//!
//! * [`Preserve::Deadlocks`]: any strong stubborn set will do.
//! * [`Preserve::Faults`]: also nobody who may still come to a failing assertion or an evaluation error may be
//!   put off for ever. With [`Proviso::Loops`] a set with a [sticky](Facts::sticky) step, of which each cycle has one, must contain
//!   all of those; for a depth-first search [`Proviso::Stack`] is better: wrap the model into
//!   [`fabius_search::reduce::OffStack`], which fully expands states whose steps lead to the stack only.
//! * [`Preserve::Livelocks`]: a set with a step that makes progress must contain everybody (condition C2ᵀ of
//!   Laarman and Faragó). Then each cycle with progress has a state where nothing is left out, and the search ends
//!   at each cycle without: no proviso is needed. With progress on states this goes for all steps that enter a progress
//!   location. Where somebody stands at one, all steps lead to a progress state; of a cycle along which somebody stands there all the
//!   time, one step is sticky, so a set with a sticky step must contain everybody there (the paper's condition C2ˢ is not enough).
//! * [`Preserve::Formula`]: a set with a step that may change what the claim sees, or that is sticky, must
//!   contain everybody. So the reduced *system* is stuttering equivalent to the whole one, and it is the same
//!   whatever the claim and the search do: the product with the claim needs no further proviso. (Siegel, *What's
//!   wrong with on-the-fly partial order reduction*, CAV 2019, shows that sets which depend on the claim's state are
//!   a different matter.)

mod basis;
mod extent;
mod question;
mod tables;
mod trials;

use crate::SearchedMachine;
pub use basis::Basis;
use basis::Relations;
pub use extent::{Extent, Measured, left_out_percent};
use fabius_machine::{Cursor, Refusal};
use fabius_program::facts::{Facts, Instance, Step};
use fabius_program::meaning::Fault;
use fabius_program::{Edge, EdgeId, Expr, Location, Move, ProcessKind, Program, ProgressOn, Slot, Watch};
use fabius_search::reduce::Closer;
use fabius_search::{Details, Ending, Listed, Model, Next, ProcessSet, Processes, Reducible};
use question::{Answers, Question, movers};
use std::fmt;
use std::sync::Arc;
use tables::{Set, Tables};
pub use trials::{Trials, Trying, drawn};

/// Tables with more entries are not made: this many take about a second and a hundred megabytes.
const TABLE_ENTRIES_MAX: u64 = 1 << 24;

/// What a reduction must not change the answer to.
#[derive(Clone, PartialEq, Debug)]
pub enum Preserve {
    /// Which states can be reached in which nothing can move.
    Deadlocks,
    /// That, and which assertions can fail and which expressions cannot be evaluated.
    Faults(Proviso),
    /// Whether there is a cycle without progress.
    Livelocks(ProgressOn),
    /// Whether there is a cycle through acceptance locations of processes.
    Acceptance,
    /// Whether a claim that looks at these expressions, and cannot tell how often a state is repeated, accepts a run.
    Formula(Vec<Expr>),
}

/// How a reduction that preserves faults keeps from putting anything off for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proviso {
    /// By the search: it expands states fully.
    Stack,
    /// By steps of which each cycle has one: nothing is asked of the search.
    Loops,
}

/// Why a program is not reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhyNot {
    /// `_last` is used.
    Last,
    /// Priorities are used.
    Priorities,
    /// `enabled()` is used.
    Enabled,
    /// A process has a `provided` clause.
    Provided,
    /// A process is declared deterministic.
    Deterministic,
    /// A hidden variable is read.
    Hidden,
    /// An event trace is watched.
    Trace,
    /// How often a state is repeated may matter to the formula or the claim.
    CountsSteps,
    /// The claim asks for `timeout` or `np_`, or changes variables.
    Claim,
    /// Fairness is asked for.
    Fairness,
    /// The tables would take more time and memory than a reduction saves.
    Large,
}

impl WhyNot {
    /// The reason, as half a sentence.
    pub fn because(self) -> &'static str {
        match self {
            Self::Last => "the model looks at `_last`, which every step changes",
            Self::Priorities => "the model uses priorities, so whether a process can move depends on all others",
            Self::Enabled => "the model uses `enabled()`, which depends on everything that a process may do",
            Self::Provided => "a process has a `provided` clause",
            Self::Deterministic => "a process is a `D_proctype`",
            Self::Hidden => "a hidden variable is read, so states that look the same may behave differently",
            Self::Trace => "the order of sends and receives is checked by an event trace",
            Self::CountsSteps => "the property may count single steps, and the reduction leaves out some",
            Self::Claim => "the claim looks at more than the values of variables",
            Self::Large => "the model is so large that the tables for it would cost more than they save",
            Self::Fairness => "fairness is about all processes, whether they matter to the property or not",
        }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reduction off: {}.", self.because())
    }
}

/// How a program is to be reduced.
#[derive(Clone, Debug)]
pub struct Plan {
    preserve: Preserve,
    program: Arc<Program>,
    /// What is known of its processes. The program of these facts may have other claims, or none.
    relations: Arc<Relations>,
    observer: Option<Step>,
    /// Edges of which it matters whether they are taken, by their numbers; none beyond the end.
    goals: Arc<[bool]>,
    /// Executions matter, and not only where they lead.
    for_executions: bool,
}

/// Where a set with a sticky step must contain everybody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Heeded {
    /// Nowhere.
    Nowhere,
    /// In states in which somebody stands at a progress location.
    WhereProgressLasts,
    /// In all states.
    Everywhere,
}

/// Finds out whether a program can be reduced such that an answer stays the same. See [`Basis`] where more will be asked of the program.
///
/// # Errors
/// The reason if it cannot.
pub fn prepare(program: &Arc<Program>, preserve: Preserve) -> Result<Plan, WhyNot> {
    Basis::of(program).prepare(program, preserve)
}

/// Entries of the tables for the processes of a program: one for each edge of a process and each location of another.
fn table_entries(program: &Program) -> u64 {
    let (mut edges, mut locations) = (0_u64, 0_u64);
    for (at, process) in program.processes.iter().enumerate() {
        let initial = program.initial.iter().filter(|instance| instance.process.0 as usize == at).count();
        // One that is created later counts once: how many there will be is not known yet.
        let count = initial.max(1) as u64;
        edges += count * process.locations.iter().map(|location| location.edges.len() as u64).sum::<u64>();
        locations += count * process.locations.len() as u64;
    }
    edges.saturating_mul(locations)
}

/// What keeps a program from being reduced, whatever is asked.
fn unsuited(program: &Program) -> Option<WhyNot> {
    let processes = || program.processes.iter().filter(|process| process.kind == ProcessKind::Process);
    if program.uses.last {
        Some(WhyNot::Last)
    } else if program.uses.priority {
        Some(WhyNot::Priorities)
    } else if program.uses.enabled {
        Some(WhyNot::Enabled)
    } else if processes().any(|process| process.provided.is_some()) {
        Some(WhyNot::Provided)
    } else if processes().any(|process| process.deterministic) {
        Some(WhyNot::Deterministic)
    } else {
        let hidden = |index: usize| program.globals.get(index).is_some_and(|global| global.hidden);
        let mut reads_hidden = false;
        fabius_program::facts::each_read(program, |slot| {
            reads_hidden |= matches!(slot, Slot::Global(v) if hidden(v.0 as usize));
        });
        let large = TABLE_ENTRIES_MAX < table_entries(program);
        reads_hidden.then_some(WhyNot::Hidden).or_else(|| large.then_some(WhyNot::Large))
    }
}

impl Plan {
    /// The same with other facts of the program.
    #[must_use]
    pub fn with_facts(self, facts: Arc<Facts>) -> Self {
        Self { relations: Arc::new(Relations::new(facts)), ..self }
    }

    /// The same for a program of which it also matters which of these edges some run takes: in a reduction that preserves faults,
    /// nobody who may still come to one of them is put off for ever. Taking an edge is a step like a failing one, so the same proof
    /// holds. Only the ends of processes may be missed where numbers of processes do not show.
    #[must_use]
    pub fn with_goals(self, goals: &[EdgeId]) -> Self {
        let mut all = vec![false; self.program.edges.len()];
        goals.iter().for_each(|edge| all[edge.0 as usize] = true);
        Self { goals: all.into(), ..self }
    }

    /// The same where executions matter, and not only where they lead: whatever the others do, some step of a set can as well be taken first.
    #[must_use]
    pub fn for_executions(self) -> Self {
        Self { for_executions: true, ..self }
    }

    /// Whether it matters when a process has to stop within an atomic sequence after private steps.
    fn heeds_stops(&self) -> bool {
        self.for_executions || !matches!(self.preserve, Preserve::Deadlocks | Preserve::Faults(_))
    }

    /// Whether a step may be a fault, or takes an edge that matters.
    fn matters(&self, edge: EdgeId, step: &Step) -> bool {
        step.breaks || step.asserts || self.goals.get(edge.0 as usize) == Some(&true)
    }

    /// Where a set with a sticky step must contain everybody.
    fn heeds_cycles(&self) -> Heeded {
        match self.preserve {
            Preserve::Faults(Proviso::Loops) | Preserve::Acceptance | Preserve::Formula(_) => Heeded::Everywhere,
            Preserve::Livelocks(ProgressOn::States) => Heeded::WhereProgressLasts,
            Preserve::Deadlocks | Preserve::Faults(Proviso::Stack) | Preserve::Livelocks(ProgressOn::Transitions) => {
                Heeded::Nowhere
            }
        }
    }

    /// For each edge of a process, whether a set that contains it must contain everybody, be it sticky or not.
    fn whole(&self, instance: &Instance) -> Vec<bool> {
        let process = instance.key.process;
        let program = &*self.program;
        let facts = &self.relations.facts;
        let locations = &program.process(process).locations;
        let edges = locations.iter().flat_map(|location| program.edges_of(location)).map(|(_, edge)| edge);
        let at = |location: fabius_program::LocationId| &locations[location.0 as usize];
        // Who enters or leaves such a location; a process that is created enters one at once.
        let entered = |step: &Step, is_such: &dyn Fn(&Location) -> bool| {
            step.spawns.iter().any(|child| {
                let child = program.process(*child);
                child.locations.get(child.entry.0 as usize).is_some_and(is_such)
            })
        };
        let accepts = |edge: &Edge, step: &Step| {
            at(edge.source).accept || at(edge.target).accept || entered(step, &|location| location.accept)
        };
        let single: Vec<bool> = edges
            .enumerate()
            .map(|(index, edge)| {
                let step = &instance.steps[index];
                match &self.preserve {
                    Preserve::Deadlocks | Preserve::Faults(_) => false,
                    Preserve::Livelocks(ProgressOn::Transitions) => at(edge.source).progress,
                    Preserve::Livelocks(ProgressOn::States) => {
                        at(edge.target).progress || entered(step, &|location| location.progress)
                    }
                    Preserve::Acceptance => accepts(edge, step),
                    Preserve::Formula(_) => {
                        accepts(edge, step) || self.observer.as_ref().is_some_and(|observer| !observer.accords(step))
                    }
                }
            })
            .collect();
        // An atomic sequence that may break off in the middle may have no end at all; of single steps, that is seen.
        let breaks = |first: usize, edge: usize| {
            instance.steps[edge].breaks && (edge != first || facts.run(process, edge).iter().any(|e| e != edge))
        };
        let matters = !matches!(self.preserve, Preserve::Deadlocks | Preserve::Faults(Proviso::Stack));
        (0..single.len())
            .map(|first| {
                let mut run = facts.run(process, first).iter();
                run.any(|edge| single[edge] || matters && breaks(first, edge))
            })
            .collect()
    }
}

/// A model that lists only what is sufficient.
#[derive(Clone)]
pub struct Reduced {
    inner: SearchedMachine,
    plan: Arc<Plan>,
    tables: Tables,
    answers: Answers,
    closer: Closer,
}

/// How far the successors of a state have been listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReducedCursor {
    inner: Cursor,
    /// Processes chosen; all if nothing is left out.
    chosen: Set,
    /// Processes still to be listed after the present one.
    rest: Set,
    /// A next state was listed.
    moved: bool,
}

impl ReducedCursor {
    /// Whether the steps listed now are possible only because nothing else was.
    pub fn is_second_trial(&self) -> bool {
        self.inner.is_second_trial()
    }
}

const EVERYBODY: Set = Set::MAX;

impl Reduced {
    /// Assembles a program and reduces it.
    ///
    /// # Errors
    /// If no machine can run the program.
    pub fn new(program: Arc<Program>, watch: Watch, plan: Plan) -> Result<Self, Refusal> {
        Ok(Self::of(SearchedMachine::new(program, watch)?, plan))
    }

    /// Reduces what a machine lists. Without a machine that can run it there is nothing to reduce.
    pub fn of(inner: SearchedMachine, plan: Plan) -> Self {
        let plan = Arc::new(plan);
        Self {
            inner,
            tables: Tables::new(Arc::clone(&plan)),
            plan,
            answers: Answers::default(),
            closer: Closer::default(),
        }
    }

    /// The machine that lists everything.
    pub fn whole(&mut self) -> &mut SearchedMachine {
        &mut self.inner
    }

    /// Whether it matters to what is chosen when a process has to stop within an atomic sequence after steps that concern nobody else.
    pub fn heeds_stops(&self) -> bool {
        self.plan.heeds_stops()
    }

    /// The processes whose steps are sufficient in a state; `None` if nobody is to be left out.
    fn choose(&mut self, state: &[u32]) -> Option<Set> {
        let machine = self.inner.machine_mut();
        if machine.is_held(state) || machine.is_claims_turn(state) {
            return None;
        }
        let number = self.tables.of(machine, state)?;
        let tables = self.tables.tables(number);
        self.answers.begin(tables, state);
        let count = tables.processes.len();
        let mut question = Question { tables, plan: &self.plan, machine, state, answers: &mut self.answers };
        if let Some(process) = question.free() {
            return Some(1 << process);
        }
        if question.is_crowded() {
            return None;
        }
        question.find_all_executable();
        let set = self.closer.smallest(count, &mut question)?;
        Some(movers(set, &mut question))
    }

    /// More processes to be listed so that something that matters is not put off: with [`Proviso::Stack`] the fewest that make a closed
    /// set with those chosen, since the search asks again where that was not enough, otherwise all. All that were chosen, if nothing
    /// matters that is put off.
    fn wanted(&mut self, state: &[u32], chosen: Set) -> Set {
        let machine = self.inner.machine_mut();
        let Some(number) = self.tables.of(machine, state) else { return chosen };
        let tables = self.tables.tables(number);
        let count = tables.processes.len();
        let all = (1 << count) - 1;
        match self.plan.preserve {
            Preserve::Deadlocks => return chosen,
            Preserve::Faults(Proviso::Stack) => {}
            _ => return all,
        }
        self.answers.begin(tables, state);
        let mut question = Question { tables, plan: &self.plan, machine, state, answers: &mut self.answers };
        if !(0..count).any(|process| chosen >> process & 1 == 0 && question.place(process).faulty) {
            return chosen;
        }
        question.find_all_executable();
        match self.closer.larger(count, chosen, &mut question) {
            Some(set) => movers(set, &mut question) | chosen,
            None => chosen,
        }
    }

    /// Leaves out processes whose steps are all known to be possible, and not to be listed. Nothing was listed yet, and nobody
    /// holds control.
    pub fn leave_out(&mut self, state: &[u32], cursor: &mut ReducedCursor, processes: u64) {
        let count = self.inner.machine().process_count(state) as u32;
        if processes == 0 || Set::BITS <= count {
            return;
        }
        cursor.chosen &= (1 << count) - 1;
        cursor.rest = cursor.chosen & !processes;
        cursor.moved = true;
        if !go_on(cursor) {
            cursor.inner.turn_to_nobody();
        }
    }
}

/// Goes on with the youngest of the processes still to be listed; false if there is none.
#[inline]
fn go_on(cursor: &mut ReducedCursor) -> bool {
    let Some(pid) = cursor.rest.checked_ilog2() else { return false };
    cursor.rest &= !(1 << pid);
    cursor.inner.turn_to(pid as u8);
    true
}

impl Model for Reduced {
    type Label = Move;
    type Fault = Fault;
    type Cursor = ReducedCursor;

    fn hidden_words(&self) -> usize {
        self.inner.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.inner.initial(state)
    }

    #[inline]
    fn is_for_later(&mut self, state: &[u32]) -> bool {
        self.inner.is_for_later(state)
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> ReducedCursor {
        let chosen = if self.inner.is_at_boundary(state) { None } else { self.choose(state) };
        match chosen {
            None => ReducedCursor { inner: self.inner.begin(state), chosen: EVERYBODY, rest: 0, moved: false },
            Some(chosen) => {
                let pid = Set::BITS - 1 - chosen.leading_zeros();
                let inner = self.inner.machine_mut().begin_process(state, pid as u8);
                ReducedCursor { inner, chosen, rest: chosen & !(1 << pid), moved: false }
            }
        }
    }

    fn retrace(&mut self, begins: bool) {
        self.inner.retrace(begins);
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut ReducedCursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        let mut details = Details::NONE;
        let listed = self.list(state, cursor, successor, &mut details);
        details.with(listed)
    }

    #[inline]
    fn list(
        &mut self,
        state: &[u32],
        cursor: &mut ReducedCursor,
        successor: &mut Vec<u32>,
        details: &mut Details<Move, Fault>,
    ) -> Listed {
        loop {
            match self.inner.list(state, &mut cursor.inner, successor, details) {
                Listed::Done(ending) if cursor.chosen == EVERYBODY => return Listed::Done(ending),
                Listed::Done(_) => {
                    // Where all chosen steps are faults the run ends, but those of the others do not.
                    if !go_on(cursor) && (cursor.moved || !self.fully_expand(state, cursor)) {
                        return Listed::Done(Ending::Moves);
                    }
                }
                found => {
                    cursor.moved |= matches!(found, Listed::Successor { .. });
                    return found;
                }
            }
        }
    }
}

impl Reducible for Reduced {
    #[inline]
    fn is_transient(&self, state: &[u32]) -> bool {
        self.inner.machine().is_held(state)
    }

    fn fully_expand(&mut self, state: &[u32], cursor: &mut ReducedCursor) -> bool {
        if cursor.chosen == EVERYBODY {
            return false;
        }
        let wanted = self.wanted(state, cursor.chosen);
        cursor.rest = wanted & !cursor.chosen;
        cursor.chosen |= wanted;
        go_on(cursor)
    }
}

impl Processes for Reduced {
    #[inline]
    fn process_count(&self, state: &[u32]) -> usize {
        self.inner.process_count(state)
    }

    #[inline]
    fn movers(&self, label: &Move) -> [Option<u8>; 2] {
        self.inner.movers(label)
    }

    #[inline]
    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        self.inner.enabled(state, enabled);
    }
}
