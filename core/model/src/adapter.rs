//! A program as a model that the searches understand: the machine behind the trait.

use crate::reduction::Basis;
use crate::sleep::{self, Sleep};
use crate::{Boundary, CutRuns, Preference};
use fabius_base::Span;
use fabius_machine::{Condition, Cursor, Machine, Refusal, Step};
use fabius_program::facts::atomic_sequences_terminate;
use fabius_program::{CLAIM_PID, EdgeId, Location, Move, Program, StepMarks, Watch, meaning::Fault};
use fabius_search::cycle::{self, CycleQuestion, Found};
use fabius_search::{
    Asleep, Details, Ending, Learning, Listed, Marks, Model, Next, Observer, ProcessSet, Processes, Settings,
};
use std::sync::Arc;

/// The machine of a program, as a search sees it; public so that searches can be measured on real models.
#[derive(Clone, Debug)]
pub struct SearchedMachine {
    machine: Machine,
    /// Only what the claim does wrong counts.
    infinite: bool,
    /// Where runs begin, if not in the initial state.
    start: Option<Arc<[u32]>>,
    /// These processes do not move, whatever they could do.
    held: ProcessSet,
    /// Steps of processes along these edges are not taken, by the numbers of the edges; empty if all are.
    without: Arc<[bool]>,
    /// Whether any process is held, or steps are not taken: asked for each step.
    holds: bool,
    /// Runtime errors that ended runs, if only what the claim does wrong counts.
    cut: Arc<CutRuns>,
    /// States from which nothing goes on.
    bounds: Option<Bounds>,
    /// States that are visited before others.
    preferred: Option<Preferred>,
    sleep: MaySleep,
}

/// Whether processes may sleep.
#[derive(Clone, Debug)]
enum MaySleep {
    No,
    /// If this tells so; nobody has asked yet.
    NotAsked(Basis),
    Yes(Box<Sleep>),
}

/// What is visited first, for one machine.
#[derive(Clone, Debug)]
struct Preferred {
    preference: Preference,
    /// The version of which the condition is.
    version: u64,
    /// The condition in the code of the machine, if there is one.
    condition: Option<Condition>,
}

/// Where a search stops, for one machine.
#[derive(Clone, Debug)]
struct Bounds {
    boundary: Boundary,
    /// The condition in the code of the machine, once there is one.
    condition: Option<Condition>,
    /// A path is followed that was found before there was a condition, so none counts.
    lifted: bool,
}

/// This many changes without a step may come before a step: control is lost, the system stutters.
const SILENT_STEPS_MAX: usize = 3;

/// Tells where the processes of a state are.
#[derive(Clone)]
pub struct Places {
    machine: Machine,
}

impl SearchedMachine {
    /// Assembles the program for a search for violations of safety.
    ///
    /// # Errors
    /// If the machine cannot run it.
    pub fn new(program: Arc<Program>, watch: Watch) -> Result<Self, Refusal> {
        Ok(Self::of(Machine::watching(program, watch)?, false))
    }

    /// Assembles the program for a search for infinite runs. A step of a process that fails is no error then
    /// (the safety of the model is a question of its own): after a failed assertion the run goes on, after
    /// anything else it does not, which [`Self::cut_runs`] tells.
    ///
    /// # Errors
    /// If the machine cannot run it.
    pub fn infinite(program: Arc<Program>, watch: Watch) -> Result<Self, Refusal> {
        Ok(Self::of(Machine::watching(program, watch)?, true))
    }

    fn of(machine: Machine, infinite: bool) -> Self {
        Self {
            machine,
            infinite,
            start: None,
            held: ProcessSet::EMPTY,
            without: Arc::default(),
            holds: false,
            cut: Arc::default(),
            bounds: None,
            preferred: None,
            sleep: MaySleep::No,
        }
    }

    /// The same machine as it was made, before anything was run, held or bounded.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::of(self.machine.anew(), self.infinite)
    }

    /// The same machine, whose runs begin after this path, and in which the processes of a set do not move; `None` if
    /// the path is not possible.
    ///
    /// A state in which only they could move has no successor, and is no end of a run: they are held back, not stuck.
    pub fn beginning_after(mut self, path: &[Move], held: ProcessSet) -> Option<Self> {
        let mut state = Vec::new();
        self.machine.initial(&mut state).ok()?;
        for step in path {
            state = self.after(&state, *step)?;
        }
        self.start = Some(state.into());
        self.held = held;
        self.holds = !held.is_empty() || !self.without.is_empty();
        Some(self)
    }

    /// The same machine, in which processes take no step along some edges, by the numbers of the edges.
    ///
    /// A state in which only such steps are possible has no successor, and is no end of a run, as where processes are held.
    #[must_use]
    pub fn without_edges(self, without: Arc<[bool]>) -> Self {
        Self { without, holds: true, ..self }
    }

    /// The same machine, in which nothing goes on from the states at a boundary; they are no ends of runs.
    ///
    /// # Errors
    /// If the machine cannot evaluate the condition.
    pub fn bounded(mut self, boundary: Boundary) -> Result<Self, Refusal> {
        let condition = boundary.condition().map(|condition| self.machine.condition(condition)).transpose()?;
        self.bounds = Some(Bounds { boundary, condition, lifted: false });
        Ok(self)
    }

    /// The same machine, of whose states searches visit those first that somebody prefers, then or later.
    #[must_use]
    pub fn preferring(self, preference: Preference) -> Self {
        Self { preferred: Some(Preferred { preference, version: 0, condition: None }), ..self }
    }

    /// From now on, or no longer, processes may sleep while the machine is searched for steps that are wrong and invalid ends, if its
    /// program is suited, which this tells.
    pub fn let_sleep(&mut self, basis: Option<&Basis>) {
        let is_suited = !self.infinite && !self.holds && self.bounds.is_none();
        let basis = basis.filter(|_| is_suited);
        self.sleep = basis.map_or(MaySleep::No, |basis| MaySleep::NotAsked(basis.clone()));
    }

    /// Forgets a boundary that no search has met: from now on, nobody can set its condition.
    pub fn close_boundary(&mut self) {
        self.bounds = self.bounds.take().filter(|bounds| bounds.boundary.met().is_some());
    }

    /// Whether there is a boundary, or somebody may still set one.
    pub fn is_bounded(&self) -> bool {
        self.bounds.is_some()
    }

    /// The condition of the boundary, if a search would have gone on from a state in which it holds.
    pub fn boundary_met(&self) -> Option<&str> {
        self.bounds.as_ref().and_then(|bounds| bounds.boundary.met())
    }

    /// Whether a search would go on from the initial state.
    ///
    /// # Errors
    /// A fault if there is no initial state.
    pub fn goes_on_from_initial(&mut self) -> Result<bool, Fault> {
        let mut state = Vec::new();
        self.machine.initial(&mut state)?;
        Ok(!self.is_at_boundary(&state))
    }

    /// Whether nothing goes on from a state.
    #[inline]
    pub(crate) fn is_at_boundary(&mut self, state: &[u32]) -> bool {
        let Some(bounds) = &mut self.bounds else { return false };
        if bounds.lifted {
            return false;
        }
        if bounds.condition.is_none() {
            // The condition was refused before if the machine cannot evaluate it.
            let written = bounds.boundary.condition().and_then(|condition| self.machine.condition(condition).ok());
            bounds.condition = written;
        }
        let Some(condition) = bounds.condition else { return false };
        let is_met = self.machine.holds(state, condition).unwrap_or(false);
        if is_met {
            bounds.boundary.meet();
        }
        is_met
    }

    /// The state that a step leads to, after whatever happens before it without a step.
    pub fn after(&mut self, state: &[u32], wanted: Move) -> Option<Vec<u32>> {
        let mut here = state.to_vec();
        let mut successor = Vec::new();
        for _ in 0..SILENT_STEPS_MAX {
            let mut cursor = self.machine.begin(&here);
            let mut silent = None;
            loop {
                match self.machine.next(&here, &mut cursor, &mut successor) {
                    Step::Successor { label: Some(label), .. } if label == wanted => return Some(successor),
                    Step::Successor { label: None, .. } => silent = Some(successor.clone()),
                    Step::Successor { .. } | Step::Broken { .. } => {}
                    Step::Done(_) => break,
                }
            }
            here = silent?;
        }
        None
    }

    /// An edge of the cycle of a run, if somebody holds control in all of its states: neither a claim nor the label of another process is
    /// evaluated there.
    pub fn edge_of_atomic_loop(&mut self, stem: &[Move], cycle: &[Move]) -> Option<EdgeId> {
        let last = cycle.last()?;
        if atomic_sequences_terminate(self.machine.program()) {
            return None;
        }
        let mut state = Vec::new();
        self.initial(&mut state).ok()?;
        for step in stem {
            state = self.after(&state, *step)?;
        }
        for step in cycle {
            state = self.after(&state, *step)?;
            if !self.machine.is_held(&state) {
                return None;
            }
        }
        Some(last.edge)
    }

    /// A shorter run than the one that a search for cycles found in this machine, which stored this many states, if one is easy to find:
    /// see [`cycle::shorter_lasso`]. None stays in an atomic sequence for ever.
    pub fn shorter_lasso(
        &mut self,
        observer: &mut impl Observer<Move, Fault>,
        settings: &Settings,
        question: CycleQuestion,
        found: &Found<Move, Fault>,
        states: u64,
    ) -> Option<Found<Move, Fault>> {
        let Found::Lasso { stem, cycle } = found else { return None };
        let shorter = cycle::shorter_lasso(self, observer, settings, question, (stem, cycle), states)?;
        let Found::Lasso { stem, cycle } = &shorter else { return None };
        self.edge_of_atomic_loop(stem, cycle).is_none().then_some(shorter)
    }

    /// Whether a step needs a process that is held, or an edge that is not taken.
    #[inline]
    fn is_held(&self, step: &Move) -> bool {
        let held = |pid: u8, edge: EdgeId| {
            let is_left_out = || self.without.get(edge.0 as usize).copied().unwrap_or(false);
            pid != CLAIM_PID && (self.held.contains(pid) || is_left_out())
        };
        held(step.pid, step.edge) || step.partner.is_some_and(|(partner, edge)| held(partner, edge))
    }

    /// Whether runs begin in the initial state, every process may take every step, and no boundary stopped a search.
    pub fn is_whole(&self) -> bool {
        self.start.is_none() && !self.holds && self.boundary_met().is_none()
    }

    /// Whether it is for a search for infinite runs.
    pub fn is_infinite(&self) -> bool {
        self.infinite
    }

    /// The runtime errors that ended runs in a search for infinite runs.
    pub fn cut_runs(&self) -> &Arc<CutRuns> {
        &self.cut
    }

    /// The machine itself, to read states with.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine itself, for a reduction of what it lists.
    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// This many machines for as many threads, this one's clones.
    pub fn clones(&self, threads: usize) -> Vec<Self> {
        vec![self.clone(); threads.max(1)]
    }

    /// Counts the edges that a clone took as taken here, too.
    pub fn learn(&mut self, clone: &Self) {
        self.machine.merge_reached(&clone.machine);
    }

    /// Of each edge, by its number, whether some search took it: not 0 if so.
    pub fn reached_edges(&self) -> &[u8] {
        self.machine.reached_edges()
    }

    /// Counts edges as taken that searches in other processes took, by their numbers.
    pub fn learn_edges(&mut self, reached: &[u8]) {
        self.machine.merge_edges(reached);
    }

    /// The program, to share.
    pub fn shared_program(&self) -> &Arc<Program> {
        self.machine.shared_program()
    }

    /// A reader of the states that this machine makes.
    pub fn places(&self) -> Places {
        Places { machine: self.machine.clone() }
    }

    /// What [`Model::next`] says of the first step, from this one on, that counts.
    #[inline]
    fn next_from(
        &mut self,
        mut step: Step,
        state: &[u32],
        cursor: &mut Cursor,
        successor: &mut Vec<u32>,
    ) -> Next<Move, Fault> {
        loop {
            match step {
                Step::Successor { label: Some(label), .. } | Step::Broken { label, .. }
                    if self.holds && self.is_held(&label) => {}
                Step::Successor { label, transient, fault, marks } => {
                    let counts = !self.infinite || label.is_some_and(|label| label.pid == CLAIM_PID);
                    let fault = fault.filter(|_| counts);
                    return Next::Successor { label, transient, fault, marks: as_marks(marks) };
                }
                Step::Broken { label, fault } if self.infinite && label.pid != CLAIM_PID => {
                    self.cut.note(label.edge, Some(fault));
                }
                Step::Broken { label, fault } => return Next::Broken { label, fault },
                Step::Done(ending) => return Next::Done(as_ending(ending)),
            }
            step = self.machine.next(state, cursor, successor);
        }
    }

    /// Whether some search took this edge.
    pub fn reached(&self, edge: EdgeId) -> bool {
        self.machine.reached(edge)
    }
}

impl Places {
    /// Where the processes stand.
    pub fn locations<'s>(&'s self, state: &'s [u32]) -> impl Iterator<Item = &'s Location> {
        let program = self.machine.program();
        (0..self.machine.process_count(state)).filter_map(move |pid| {
            let process = program.process(self.machine.process_of(state, pid)?);
            process.locations.get(self.machine.location_of(state, pid)?.0 as usize)
        })
    }

    /// Where the oldest process stands that may not stop where it is.
    pub fn first_stuck(&self, state: &[u32]) -> Option<Span> {
        self.locations(state).find(|location| !location.end).map(|location| location.span)
    }
}

impl Model for SearchedMachine {
    type Label = Move;
    type Fault = Fault;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        match &self.start {
            None => self.machine.initial(state),
            Some(start) => {
                state.clear();
                state.extend_from_slice(start);
                Ok(())
            }
        }
    }

    #[inline]
    fn is_for_later(&mut self, state: &[u32]) -> bool {
        let Self { machine, preferred, .. } = self;
        let Some(Preferred { preference, version, condition }) = preferred else { return false };
        let present = preference.version();
        if *version != present {
            // The condition was refused before if the machine cannot evaluate it.
            *condition = preference.condition().and_then(|condition| machine.condition(&condition).ok());
            *version = present;
        }
        let Some(condition) = *condition else { return false };
        let is_for_later = !machine.holds(state, condition).unwrap_or(false);
        if is_for_later {
            preference.heed();
        }
        is_for_later
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> Cursor {
        if self.bounds.is_some() && self.is_at_boundary(state) {
            return Cursor::AT_END;
        }
        self.machine.begin(state)
    }

    fn can_sleep(&mut self) -> bool {
        if let MaySleep::NotAsked(basis) = &self.sleep {
            let facts = basis.facts_for_sleep(self.shared_program());
            self.sleep = facts.and_then(Sleep::new).map_or(MaySleep::No, |sleep| MaySleep::Yes(Box::new(sleep)));
        }
        matches!(self.sleep, MaySleep::Yes(_))
    }

    #[inline]
    fn pass_over(&mut self, _: &[u32], cursor: &mut Cursor, asleep: Asleep) {
        cursor.pass_over(asleep.bits());
    }

    #[inline]
    fn fall_asleep(&self, cursor: &Cursor, step: &Move) -> Asleep {
        // What is possible only since nothing else is depends on everybody.
        if cursor.is_second_trial() { Asleep::NOBODY } else { Asleep::one(step.pid) }
    }

    #[inline]
    fn stay_asleep(
        &mut self,
        (state, successor): (&[u32], &[u32]),
        cursor: &Cursor,
        (step, transient): (&Move, bool),
        have_steps: Asleep,
    ) -> Asleep {
        let MaySleep::Yes(sleep) = &mut self.sleep else { return Asleep::NOBODY };
        let taken = sleep::Step { state, shape: cursor.shape_number(), step, successor, transient };
        sleep.retain(&mut self.machine, &taken, have_steps)
    }

    fn retrace(&mut self, begins: bool) {
        self.bounds.iter_mut().for_each(|bounds| bounds.lifted = begins);
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        let step = self.machine.next(state, cursor, successor);
        self.next_from(step, state, cursor, successor)
    }

    #[inline]
    fn list(
        &mut self,
        state: &[u32],
        cursor: &mut Cursor,
        successor: &mut Vec<u32>,
        details: &mut Details<Move, Fault>,
    ) -> Listed {
        let found = self.machine.find_next(state, cursor, successor);
        if self.holds || !found.is_sound() {
            return details.tell(self.next_from(self.machine.step(found), state, cursor, successor));
        }
        if let Some(ending) = found.ending() {
            return Listed::Done(as_ending(ending));
        }
        details.label = found.label();
        details.touched = self.machine.touched(found);
        let labelled = details.label.is_some();
        Listed::Successor { labelled, transient: found.is_transient(), faulty: false, marks: as_marks(found.marks()) }
    }
}

#[inline(always)]
fn as_ending(ending: fabius_machine::Ending) -> Ending {
    match ending {
        fabius_machine::Ending::Moves => Ending::Moves,
        fabius_machine::Ending::ValidEnd => Ending::ValidEnd,
        fabius_machine::Ending::InvalidEnd => Ending::InvalidEnd,
    }
}

/// Which edges were taken.
impl Learning for SearchedMachine {
    fn learned(&self) -> Vec<u8> {
        self.reached_edges().to_vec()
    }

    fn learn_again(&mut self, learned: &[u8]) -> bool {
        let is_same = learned.len() == self.reached_edges().len();
        if is_same {
            self.learn_edges(learned);
        }
        is_same
    }
}

impl Processes for SearchedMachine {
    #[inline]
    fn process_count(&self, state: &[u32]) -> usize {
        self.machine.process_count(state)
    }

    #[inline]
    fn movers(&self, label: &Move) -> [Option<u8>; 2] {
        match label.pid {
            CLAIM_PID => [None, None],
            pid => [Some(pid), label.partner.map(|(partner, _)| partner)],
        }
    }

    #[inline]
    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::EMPTY;
        self.machine.enabled(state, &mut |process| enabled.insert(process));
        enabled.subtract(&self.held);
    }
}

/// The marks of a step, as a search knows them.
#[inline(always)]
fn as_marks(marks: StepMarks) -> Marks {
    let accepting = if marks.accepting { Marks::ACCEPTING } else { Marks::NONE };
    let progress = if marks.progress { Marks::PROGRESS } else { Marks::NONE };
    accepting.with(progress)
}
