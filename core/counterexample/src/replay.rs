//! What becomes of a known run in a model that was edited since: it is walked again, step for step,
//! by the reference interpreter.
//!
//! A step is recognised by the statement it executes: the wording, the process type, and which of the
//! statements with this wording it is. Where both models are there, that is found by comparing the sequences of their
//! statements. Lines do not matter. Statements that the old model did not have
//! are passed through when their process comes to them; statements that are gone are left out.
//! Runs that end in a loop, and runs that a formula or claim watches, are the business of [`infinite`].

pub(crate) mod alignment;
mod infinite;

pub use infinite::{LassoVerdict, judge_lasso};

use fabius_base::Span;
use fabius_program::{EdgeId, Move, Process, Program, Watch, meaning::Fault};
use fabius_task::meaning::SourceProgram;
use fabius_task::query::event_trace;
use fabius_witness::{
    Claim, Happening, Outcome, Reason, State, Step, Trace, confirm_watching, moves, process_statuses, settled,
    show::process_name,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A process passes through this many new statements before it must come to a known one.
const NEW_STEPS_MAX: usize = 16;
/// This many changes without a step may come before a step: control is lost, the system stutters.
const SILENT_CHANGES_MAX: usize = 2;
/// A longer run is not tried.
const STEPS_MAX: usize = 5_000;

/// What became of a run.
#[derive(Clone, Debug)]
pub enum Replay {
    /// It shows the same as before.
    Same(Box<Trace>),
    /// It is possible, but does not go wrong any more.
    Harmless,
    /// It is possible, but does not come back to where its loop starts.
    Open,
    /// It cannot go on.
    Blocked(Blocked),
    /// It was not tried.
    Unknown,
}

/// What became of a run, with the run that came of it.
#[derive(Clone, Debug)]
pub struct Followed {
    /// What became of it.
    pub replay: Replay,
    /// The moves that were taken in the present model; of a run that a claim watches, those of the processes.
    pub path: Vec<Move>,
    /// How many of its steps came through, those that are left out among them.
    pub steps: usize,
    /// The numbers of steps that are left out since their statement is gone.
    pub gone: Vec<usize>,
}

/// Where a run cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The step of the old run, from 1.
    pub step: usize,
    /// The process that cannot take it, as it is shown.
    pub process: String,
    /// The statement.
    pub text: String,
    /// Why, as half a sentence.
    pub reason: String,
    /// Where the process stands now.
    pub span: Option<Span>,
}

/// Which statement: the name of its process type, its wording, and how many with the same wording stand before it.
pub type Identity = (String, String, usize);

/// A step by what it is, so that it can be found in a model that was edited since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedStep {
    /// The process that moves.
    pub pid: u8,
    /// What it executes.
    pub statement: Identity,
    /// The receiver of a rendezvous, and what it executes.
    pub partner: Option<(u8, Identity)>,
}

/// What became of named steps in a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retraced {
    /// The moves that are possible.
    pub path: Vec<Move>,
    /// For each of the named steps that came through, how many of the moves there are after it.
    pub after: Vec<usize>,
    /// Steps whose statement is gone: their places, from 0.
    pub gone: Vec<usize>,
    /// Where it cannot go on, if it does not come to its end.
    pub blocked: Option<Blocked>,
}

/// Walks named steps through a program; made once for all the walks through it.
pub struct Retracing<'a> {
    program: &'a Program,
    known: HashSet<&'a Identity>,
    present: Arc<Identities>,
    /// The steps are those of a run that goes on behind an assertion that fails.
    infinite: bool,
}

/// All statements of a program, those of each process type in the order of the text.
pub fn statements(program: &Program) -> Vec<Identity> {
    let known = identities(program);
    let of = |process: &Process| -> Vec<Identity> {
        let numbers = sequence(process).into_iter().map(|(number, _)| (process.name.clone(), number));
        numbers.filter_map(|key| known.by_number.get(&key).cloned()).collect()
    };
    program.processes.iter().flat_map(of).collect()
}

/// The steps of a path by what they are.
pub fn name_steps(program: &Program, path: &[Move]) -> Vec<NamedStep> {
    let known = identities(program);
    let name = |edge: EdgeId| {
        let process = program.process_of(edge);
        let number = program.statement(process, edge).number;
        let name = program.process(process).name.clone();
        known.by_number.get(&(name.clone(), number)).cloned().unwrap_or((name, String::new(), 0))
    };
    let named = |step: &Move| NamedStep {
        pid: step.pid,
        statement: name(step.edge),
        partner: step.partner.map(|(pid, edge)| (pid, name(edge))),
    };
    path.iter().map(named).collect()
}

impl<'a> Retracing<'a> {
    /// For walks through a program. `known` are the statements of the model that the steps were named in, in their order: those
    /// that are new are passed through when their process comes to them, and steps whose statement is gone are left out.
    pub fn new(program: &'a Program, known: &'a [Identity]) -> Self {
        let mut older: HashMap<&str, Vec<&Identity>> = HashMap::new();
        known.iter().for_each(|identity| older.entry(&identity.0).or_default().push(identity));
        let of = |process: &str| older.get(process).into_iter().flatten().map(|&identity| identity.clone()).collect();
        Self { program, known: known.iter().collect(), present: Arc::new(aligned(program, &of)), infinite: false }
    }

    /// The same for steps of an infinite run, which goes on behind an assertion that fails.
    #[must_use]
    pub fn of_infinite_runs(self) -> Self {
        Self { infinite: true, ..self }
    }

    /// The same where the order of the known statements is not known: those with the same wording are told apart by how many
    /// stand before them.
    pub fn unordered(program: &'a Program, known: &'a [Identity]) -> Self {
        Self { program, known: known.iter().collect(), present: Arc::new(identities(program)), infinite: false }
    }

    /// Walks steps from a state as far as they go. Nothing follows a state that is `broken`: the step that led there is
    /// faulty.
    pub fn from(&self, state: State, broken: bool, steps: &[NamedStep]) -> Retraced {
        let is_known = |identity: &Identity| self.known.contains(identity);
        let present = Arc::clone(&self.present);
        let program = self.program;
        let mut walk = Walk { broken, infinite: self.infinite, ..Walk::at(program, &is_known, present, state) };
        let (mut after, mut gone, mut blocked) = (Vec::new(), Vec::new(), None);
        for (index, step) in steps.iter().enumerate() {
            if !walk.present.all.contains_key(&step.statement) {
                gone.push(index);
            } else if walk.broken || !walk.advance(step.pid, &step.statement, step.partner.as_ref()) {
                let name = process_name(&step.statement.0, usize::from(step.pid));
                blocked = Some(walk.blocked(index + 1, step.pid, &name, &step.statement.1));
                break;
            }
            after.push(walk.path.len());
        }
        Retraced { path: walk.path, after, gone, blocked }
    }
}

impl Replay {
    /// Walks a run of the model `old`, which violates a property, through the model `present`.
    pub fn of(present: &SourceProgram, old: &SourceProgram, property: &str, run: &Trace) -> Self {
        Followed::of(present, old, property, run).replay
    }
}

impl Followed {
    /// Walks a run of the model `old`, which violates a property, through the model `present`.
    pub fn of(present: &SourceProgram, old: &SourceProgram, property: &str, run: &Trace) -> Self {
        if STEPS_MAX < run.steps.len() {
            return Self::NOT_TRIED;
        }
        if matches!(run.claim, Claim::Cycle { .. } | Claim::Fault(Fault::ClaimCompleted)) {
            return infinite::replay(present, old, property, run);
        }
        let watch = Watch { trace: event_trace(present.program()), ..Watch::NOTHING };
        let known = identities(old.program());
        let is_known = |identity: &Identity| known.all.contains_key(identity);
        let aligned = aligned(present.program(), &statements_of(old.program()));
        let Some(mut walk) = Walk::new(present.program(), watch, &is_known, aligned, run) else {
            return Self::NOT_TRIED;
        };
        for step in &run.steps {
            if let Err(stopped) = walk.follow(&known, &step) {
                return walk.followed(stopped);
            }
        }
        let shown = |walk: &Walk<'_>| confirm_watching(present.program(), watch, &walk.path, run.claim);
        let confirmed = shown(&walk).or_else(|_| {
            // Processes may stand before something new.
            walk.complete();
            shown(&walk)
        });
        walk.followed(confirmed.map_or(Replay::Harmless, |trace| Replay::Same(Box::new(trace))))
    }

    /// Of a run that was not tried.
    const NOT_TRIED: Self = Self { replay: Replay::Unknown, path: Vec::new(), steps: 0, gone: Vec::new() };
}

/// The statements of a program by what they are.
pub(crate) struct Identities {
    pub(crate) by_number: HashMap<(String, u32), Identity>,
    all: HashMap<Identity, u32>,
}

impl Identities {
    fn add(&mut self, number: u32, identity: Identity) {
        self.by_number.insert((identity.0.clone(), number), identity.clone());
        self.all.insert(identity, number);
    }
}

/// The statements of a process in the order of the text, each once.
fn sequence(process: &Process) -> Vec<(u32, &str)> {
    let mut numbered: Vec<_> = process.statements.iter().map(|s| (s.number, &*s.text)).collect();
    numbered.sort_unstable();
    numbered.dedup();
    numbered
}

pub(crate) fn identities(program: &Program) -> Identities {
    let mut found = Identities { by_number: HashMap::new(), all: HashMap::new() };
    for process in &program.processes {
        let mut before: HashMap<&str, usize> = HashMap::new();
        for (number, text) in sequence(process) {
            let ordinal = before.entry(text).or_default();
            found.add(number, (process.name.clone(), text.to_owned(), *ordinal));
            *ordinal += 1;
        }
    }
    found
}

/// The statements of a process type of a program, in the order of the text.
pub(crate) fn statements_of(program: &Program) -> impl Fn(&str) -> Vec<Identity> {
    let all = statements(program);
    move |name| all.iter().filter(|(process, ..)| process == name).cloned().collect()
}

/// The statements of a program by what they are in an older one, of which `older` tells those of a process type in their order: a statement that is new between others with the same wording
/// does not take the place of one of them.
pub(crate) fn aligned(program: &Program, older: &dyn Fn(&str) -> Vec<Identity>) -> Identities {
    let mut found = Identities { by_number: HashMap::new(), all: HashMap::new() };
    for process in &program.processes {
        let new: Vec<(u32, Identity)> =
            sequence(process).into_iter().map(|(n, text)| (n, (process.name.clone(), text.to_owned(), 0))).collect();
        let older: Vec<(u32, Identity)> = older(&process.name).into_iter().map(|identity| (0, identity)).collect();
        let same = alignment::common(&new, &older, |(_, a), (_, b)| a.1 == b.1);
        let same: HashMap<usize, usize> = same.into_iter().collect();
        // Numbers that no statement of the older program has.
        let mut fresh = older.len();
        for (index, (number, (name, text, _))) in new.iter().enumerate() {
            let identity = same.get(&index).map(|&index| older[index].1.clone()).unwrap_or_else(|| {
                fresh += 1;
                (name.clone(), text.clone(), fresh)
            });
            found.add(*number, identity);
        }
    }
    found
}

/// A run through the edited model.
struct Walk<'a> {
    program: &'a Program,
    /// Whether the model that the run is of has a statement.
    is_known: &'a dyn Fn(&Identity) -> bool,
    present: Arc<Identities>,
    state: State,
    path: Vec<Move>,
    /// The run goes on behind an assertion that fails.
    infinite: bool,
    /// The last step is faulty; nothing follows it.
    broken: bool,
    /// How many steps of the run came through, those that were left out among them.
    steps: usize,
    /// The numbers of the steps that were left out.
    gone: Vec<usize>,
    /// The processes of the walk and those of the run that is followed: a process has the number that its type and the order of
    /// creation give it, since numbers change when another process is created before.
    processes: Instances,
    followed: Instances,
}

/// Which process of its type each process is, in the order of creation.
#[derive(Clone, Default)]
pub(crate) struct Instances {
    pub(crate) by_pid: HashMap<u8, (String, usize)>,
    pids: HashMap<(String, usize), u8>,
    created: HashMap<String, usize>,
}

impl Instances {
    /// The processes with which a run begins.
    pub(crate) fn at_start(run: &Trace) -> Self {
        let mut instances = Self::default();
        run.start.processes.iter().for_each(|status| instances.add(status.pid, &status.process));
        instances
    }

    /// Adds the processes that a step creates.
    pub(crate) fn create(&mut self, step: &Step) {
        for created in &step.created {
            let process = created.name.split_once('[').map_or(&*created.name, |(process, _)| process);
            self.add(created.pid, process);
        }
    }

    fn add(&mut self, pid: u8, process: &str) {
        let count = self.created.entry(process.to_owned()).or_default();
        let instance = (process.to_owned(), *count);
        *count += 1;
        self.by_pid.insert(pid, instance.clone());
        self.pids.insert(instance, pid);
    }

    /// The number that a process of other processes has among these; the same if it is not known.
    fn number_of(&self, others: &Self, pid: u8) -> u8 {
        others.by_pid.get(&pid).and_then(|instance| self.pids.get(instance)).copied().unwrap_or(pid)
    }
}

impl<'a> Walk<'a> {
    fn new(
        program: &'a Program,
        watch: Watch,
        is_known: &'a dyn Fn(&Identity) -> bool,
        present: Identities,
        run: &Trace,
    ) -> Option<Self> {
        let (state, present) = (State::watching(program, watch).ok()?, Arc::new(present));
        Some(Self { followed: Instances::at_start(run), ..Self::at(program, is_known, present, state) })
    }

    /// A walk that begins in a state.
    fn at(
        program: &'a Program,
        is_known: &'a dyn Fn(&Identity) -> bool,
        present: Arc<Identities>,
        state: State,
    ) -> Self {
        let mut processes = Instances::default();
        for (pid, process) in (0..).zip(&state.processes) {
            processes.add(pid, &program.process(process.process).name);
        }
        let (path, gone, followed) = (Vec::new(), Vec::new(), Instances::default());
        Self {
            program,
            is_known,
            present,
            state,
            path,
            infinite: false,
            broken: false,
            steps: 0,
            gone,
            processes,
            followed,
        }
    }

    /// What became of the run that was followed.
    fn followed(self, replay: Replay) -> Followed {
        Followed { replay, path: self.path, steps: self.steps, gone: self.gone }
    }

    /// Takes a step of a run, whose model has these statements; an error says what became of the run if that is not
    /// possible.
    fn follow(&mut self, known: &Identities, step: &Step) -> Result<(), Replay> {
        let wanted = |name: &str, number: u32| known.by_number.get(&(name.to_owned(), number)).cloned();
        let own = wanted(&step.actor.process, step.actor.statement).ok_or(Replay::Unknown)?;
        let partner = step.partner.as_ref();
        let partner = partner.and_then(|partner| {
            let pid = self.processes.number_of(&self.followed, partner.pid);
            wanted(&partner.process, partner.statement).map(|identity| (pid, identity))
        });
        let pid = self.processes.number_of(&self.followed, step.actor.pid);
        self.followed.create(step);
        if !self.present.all.contains_key(&own) {
            self.steps += 1;
            self.gone.push(step.number);
            return Ok(());
        }
        if self.broken || !self.advance(pid, &own, partner.as_ref()) {
            let name = process_name(&step.actor.process, usize::from(pid));
            let blocked = self.blocked(step.number, pid, &name, &step.actor.text);
            return Err(Replay::Blocked(blocked));
        }
        self.steps += 1;
        Ok(())
    }

    /// Lets the processes execute what is new, as long as that is possible.
    fn complete(&mut self) {
        for _ in 0..NEW_STEPS_MAX {
            let new =
                |walk: &Self, step: &Move| walk.identity(step.edge).is_some_and(|identity| !(walk.is_known)(&identity));
            if self.broken || !self.take(new) {
                return;
            }
        }
    }

    /// Takes the step that executes a statement, after the new statements before it.
    fn advance(&mut self, pid: u8, own: &Identity, partner: Option<&(u8, Identity)>) -> bool {
        for _ in 0..NEW_STEPS_MAX {
            if self.take(|walk, step| {
                step.pid == pid
                    && walk.identity(step.edge).as_ref() == Some(own)
                    && step.partner.map(|(pid, edge)| (Some(pid), walk.identity(edge)))
                        == partner.map(|(pid, identity)| (Some(*pid), Some(identity.clone())))
            }) {
                return true;
            }
            let new = |walk: &Self, step: &Move| {
                step.pid == pid && walk.identity(step.edge).is_some_and(|identity| !(walk.is_known)(&identity))
            };
            if self.broken || !self.take(new) {
                return false;
            }
        }
        false
    }

    /// Takes the first possible step that is wanted.
    fn take(&mut self, wanted: impl Fn(&Self, &Move) -> bool) -> bool {
        let mut possible = moves(self.program, &self.state).successors;
        for _ in 0..SILENT_CHANGES_MAX {
            if !possible.is_empty() {
                break;
            }
            self.state = settled(self.program, &self.state);
            possible = moves(self.program, &self.state).successors;
        }
        let Some((step, outcome)) = possible.into_iter().find(|(step, _)| wanted(self, step)) else { return false };
        self.path.push(step);
        match outcome {
            Outcome::Reaches { state, assertion_failed, events } => {
                for event in events {
                    if let Happening::Created(pid) = event.what
                        && let Some(process) = state.processes.get(usize::from(pid))
                    {
                        self.processes.add(pid, &self.program.process(process.process).name);
                    }
                }
                self.state = state;
                self.broken = assertion_failed && !self.infinite;
            }
            Outcome::Broken { .. } => self.broken = true,
        }
        true
    }

    fn identity(&self, edge: EdgeId) -> Option<Identity> {
        let process = self.program.process_of(edge);
        let number = self.program.statement(process, edge).number;
        self.present.by_number.get(&(self.program.process(process).name.clone(), number)).cloned()
    }

    /// Why a process cannot take a step of the old run.
    fn blocked(&self, step: usize, pid: u8, process: &str, text: &str) -> Blocked {
        let mut statuses = process_statuses(self.program, &self.state).into_iter();
        let status = statuses.find(|status| status.pid == pid && status.name == process);
        let waiting = status
            .as_ref()
            .and_then(|status| status.waiting.iter().find(|waiting| waiting.text == text).or(status.waiting.first()));
        let reason = match (waiting, &status) {
            (Some(waiting), _) if waiting.reason == Reason::Executable && waiting.text == text => self.passed_over(pid),
            (Some(waiting), _) if waiting.text == text => waiting.reason.sentence(),
            (Some(waiting), _) => format!("{process} is at `{}` instead", waiting.text),
            (None, Some(_)) => format!("{process} is somewhere else"),
            (None, None) => format!("there is no process {process}"),
        };
        let span = waiting.map(|waiting| waiting.span).or(status.as_ref().map(|status| status.span));
        Blocked { step, process: process.to_owned(), text: text.to_owned(), reason, span }
    }

    /// Why a process does not take a step of the old run although a statement with its wording can be executed.
    fn passed_over(&self, pid: u8) -> String {
        let holder = self.state.holder.filter(|holder| *holder != pid);
        let name = |pid: u8| process_statuses(self.program, &self.state).into_iter().find(|status| status.pid == pid);
        match holder.and_then(name) {
            _ if self.broken => "the run ends in an error before it".to_owned(),
            Some(holder) => format!("{} is inside an atomic sequence", holder.name),
            None => "only another statement with this text, or with another partner, can be executed".to_owned(),
        }
    }
}
