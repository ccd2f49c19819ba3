//! A chart of the states around one that a person has reached: whether the property can still be violated from them.
//!
//! What a check leaves behind says little of the states that one walks through: it looks at a smaller program (statements
//! merged, dead values forgotten, independent steps left out). A chart is drawn of the program as it is walked through:
//! breadth-first, with nothing left out and nobody held back, and with every transition kept. Passes backward over it tell of each
//! state how far the next error is, or that there is none; of a state from which the edge of the chart can be reached
//! and no error is known, they tell nothing.
//!
//! States are told apart by fingerprints of 64 bits. In a chart of n states two of them are taken for one with a
//! probability of at most n² / 2⁶⁴: one in 70 million for half a million states.

use crate::as_state::as_state;
use crate::schedule::unsupported;
use fabius_base::Limits;
use fabius_base::components::components;
use fabius_counterexample::ExplorationTarget;
use fabius_model::SearchedMachine;
use fabius_program::{CLAIM_PID, Move, Program, Watch};
use fabius_search::{Ending, Marks, Model, Next, ProcessSet, Processes};
use fabius_task::plan::SAFETY;
use fabius_witness::State;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Whoever may stop the drawing is asked whenever this many states were looked at.
const STATES_PER_LOOK: usize = 256;
/// A state that was met takes about so much beside its words: its two fingerprints, its number.
const STATE_BYTES: u64 = 48;
/// No error can be reached.
const SAFE: u32 = u32::MAX;
/// Nothing is known.
const OPEN: u32 = u32::MAX - 1;

/// What is known of the runs that go on from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forecast {
    /// One of them violates the property.
    Error {
        /// After this many steps of the system.
        steps: u32,
        /// Whether a scheduler can still avoid every error of safety, as far as that is known.
        avoidable: Option<bool>,
    },
    /// None of them does.
    Safe,
    /// Some of them leave the chart, and on the others nothing goes wrong.
    Open,
}

/// What is known of the states around one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalStateGraph {
    /// Fingerprints in ascending order, each with the steps to the next error, [`SAFE`] or [`OPEN`], and whether a scheduler can
    /// avoid every error.
    states: Vec<(u64, u32, Option<bool>)>,
    whole: bool,
}

/// What counts as an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchGoal {
    /// Faults, and ends that are no valid ones.
    Safety,
    /// Cycles with a transition that is accepted.
    Acceptance,
    /// Cycles without progress.
    Livelock,
}

/// A transition.
struct Way {
    from: u32,
    to: u32,
    /// Steps of the system: 1, or 0 for a claim and for what changes without a step.
    steps: u32,
    marks: Marks,
    /// Who moves, if a scheduler decides it.
    movers: Movers,
}

/// Two processes, or none: the scheduler has no choice then.
type Movers = [Option<u8>; 2];

/// A chart that is being drawn.
struct Draft {
    machine: SearchedMachine,
    watch: Watch,
    search: SearchGoal,
    /// The number of each state, by a hash of the machine's words.
    numbers: HashMap<u64, u32>,
    /// The states that were not looked at yet, in the order of their numbers.
    open: VecDeque<Box<[u32]>>,
    /// By number: the fingerprint.
    fingerprints: Vec<u64>,
    /// In the order of the states they start from.
    ways: Vec<Way>,
    /// States, and the steps from there to an error: 0 or 1.
    errors: Vec<(u32, u32)>,
    /// Whom a scheduler must not let move in a state: something goes wrong at once.
    fails: Vec<(u32, Movers)>,
    /// Something other than a process can move.
    environment: bool,
    /// States from which a run ends in a runtime error, so that what is ahead of them is not known.
    cut: Vec<u32>,
    words: u64,
}

impl LocalStateGraph {
    /// What is known of a state of the program that the chart is of, after whatever follows without a step; `None` for one
    /// that is not on it.
    pub fn ahead(&self, program: &Program, state: &State) -> Option<Forecast> {
        let wanted = fingerprint(program, state.visible(program));
        let index = self.states.binary_search_by_key(&wanted, |(fingerprint, ..)| *fingerprint).ok()?;
        let (_, steps, avoidable) = self.states[index];
        Some(match steps {
            SAFE => Forecast::Safe,
            OPEN => Forecast::Open,
            steps => Forecast::Error { steps, avoidable },
        })
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether every state is on it that can be reached from where it was begun.
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}

/// Draws a chart of the states that can be reached from the one after `path`, the nearer ones first, until the states or
/// the memory of `limits` are used up or `stop` says so. If `fair`, only fair runs count; a chart does not know which
/// cycles are fair, and says nothing of states from which there are any.
///
/// # Errors
/// If the machine cannot run the program, or the path is not possible, in a sentence.
pub fn chart(
    target: &ExplorationTarget,
    path: &[Move],
    limits: &Limits,
    fair: bool,
    stop: &dyn Fn() -> bool,
) -> Result<LocalStateGraph, String> {
    let mut draft = Draft::begin(target, path)?;
    draft.spread(limits, stop);
    Ok(draft.judge(fair))
}

impl Draft {
    fn begin(target: &ExplorationTarget, path: &[Move]) -> Result<Self, String> {
        let search = match target.watch {
            _ if target.property == SAFETY => SearchGoal::Safety,
            Watch { acceptance: true, .. } => SearchGoal::Acceptance,
            Watch { progress: Some(_), .. } => SearchGoal::Livelock,
            _ => return Err(format!("of {} no chart can be drawn", target.property)),
        };
        let program = Arc::clone(&target.program);
        let machine = match search {
            SearchGoal::Safety => SearchedMachine::new(program, target.watch),
            SearchGoal::Acceptance | SearchGoal::Livelock => SearchedMachine::infinite(program, target.watch),
        };
        let machine = machine.map_err(|refusal| refusal.to_string())?;
        let mut machine =
            machine.beginning_after(path, ProcessSet::EMPTY).ok_or("the state cannot be reached like this")?;
        let mut first = Vec::new();
        machine.initial(&mut first).map_err(|fault| format!("there is no initial state: {fault}"))?;
        let mut draft = Self {
            machine,
            watch: target.watch,
            search,
            numbers: HashMap::new(),
            open: VecDeque::new(),
            fingerprints: Vec::new(),
            ways: Vec::new(),
            errors: Vec::new(),
            fails: Vec::new(),
            environment: false,
            cut: Vec::new(),
            words: 0,
        };
        draft.number_of(&first);
        Ok(draft)
    }

    /// The number of a state, which is new or not.
    fn number_of(&mut self, words: &[u32]) -> u32 {
        let visible = &words[..words.len() - self.machine.hidden_words()];
        let next = self.fingerprints.len() as u32;
        let number = *self.numbers.entry(hash(visible)).or_insert(next);
        if number == next {
            let machine = self.machine.machine();
            let state = machine.view(words).map(|view| as_state(machine.program(), self.watch, &view));
            // Words that are no state have a place of their own that nobody asks for.
            self.fingerprints.push(state.map_or(u64::MAX, |state| fingerprint(machine.program(), state)));
            self.words += words.len() as u64;
            self.open.push_back(words.into());
        }
        number
    }

    fn bytes(&self) -> u64 {
        let states = self.fingerprints.len() as u64 * STATE_BYTES + self.words * size_of::<u32>() as u64;
        // Each way once more for the pass backward.
        states + self.ways.len() as u64 * (size_of::<Way>() + size_of::<u32>()) as u64
    }

    /// Looks at one state after the other.
    fn spread(&mut self, limits: &Limits, stop: &dyn Fn() -> bool) {
        let states_max = limits.states_max.unwrap_or(u64::MAX).min(u64::from(OPEN));
        let bytes_max = limits.memory_bytes_max.unwrap_or(u64::MAX);
        let mut successor = Vec::new();
        for from in 0.. {
            let is_full = states_max <= self.fingerprints.len() as u64 || bytes_max <= self.bytes();
            if is_full || (from as usize).is_multiple_of(STATES_PER_LOOK) && stop() {
                return;
            }
            let Some(words) = self.open.pop_front() else { return };
            self.words -= words.len() as u64;
            let mut cursor = self.machine.begin(&words);
            let cut_before = self.machine.cut_runs().seen();
            // Inside an atomic sequence a scheduler decides nothing.
            let goes_on = self.machine.machine().view(&words).is_some_and(|view| view.holder().is_some());
            loop {
                match self.machine.next(&words, &mut cursor, &mut successor) {
                    Next::Successor { label, fault, marks, .. } => {
                        let steps = label.map_or(0, |label| steps_of(&label));
                        let movers = label.filter(|_| !goes_on).map_or([None; 2], |label| self.machine.movers(&label));
                        self.environment |= label.is_none() && !goes_on;
                        self.errors.extend(fault.map(|_| (from, steps)));
                        self.fails.extend(fault.map(|_| (from, movers)));
                        let to = self.number_of(&successor);
                        self.ways.push(Way { from, to, steps, marks, movers });
                    }
                    Next::Broken { label, .. } => {
                        let movers = if goes_on { [None; 2] } else { self.machine.movers(&label) };
                        self.errors.push((from, steps_of(&label)));
                        self.fails.push((from, movers));
                    }
                    Next::Done(ending) => {
                        let is_error = self.search == SearchGoal::Safety && ending == Ending::InvalidEnd;
                        self.errors.extend(is_error.then_some((from, 0)));
                        break;
                    }
                }
            }
            if cut_before < self.machine.cut_runs().seen() {
                self.cut.push(from);
            }
        }
    }

    /// Works out what is ahead of each state.
    fn judge(mut self, fair: bool) -> LocalStateGraph {
        let count = self.fingerprints.len();
        let looked_at = count - self.open.len();
        let mut unknown: Vec<u32> = (looked_at as u32..count as u32).chain(self.cut.iter().copied()).collect();
        let on_cycles = self.on_bad_cycles();
        if fair {
            unknown.extend(on_cycles);
        } else {
            self.errors.extend(on_cycles.into_iter().map(|state| (state, 0)));
        }
        let back = Adjacency::of(count, self.ways.iter().map(|way| way.to));
        let steps = self.steps_to_errors(&back);
        let may_leave = self.leads_to(&back, unknown);
        let known = |number: usize| match steps[number] {
            OPEN if !may_leave[number] => SAFE,
            steps => steps,
        };
        let safe = self.region(&back, looked_at);
        let avoidable = |number: usize| match safe.as_ref()?[number] {
            true => Some(true),
            false => (!may_leave[number]).then_some(false),
        };
        let numbered = self.fingerprints.iter().enumerate();
        let mut states: Vec<(u64, u32, Option<bool>)> =
            numbered.map(|(number, fingerprint)| (*fingerprint, known(number), avoidable(number))).collect();
        states.sort_unstable();
        states.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same && next.1 != first.1 {
                first.1 = OPEN;
            }
            if same && next.2 != first.2 {
                first.2 = None;
            }
            same
        });
        LocalStateGraph { states, whole: looked_at == count }
    }

    /// By number: the fewest steps to an error, or [`OPEN`] if none is known.
    fn steps_to_errors(&self, back: &Adjacency) -> Vec<u32> {
        let mut steps = vec![OPEN; self.fingerprints.len()];
        let mut open: VecDeque<(u32, u32)> = VecDeque::new();
        for (state, far) in self.errors.iter().copied() {
            if far == 0 { open.push_front((state, far)) } else { open.push_back((state, far)) }
        }
        while let Some((state, far)) = open.pop_front() {
            if steps[state as usize] <= far {
                continue;
            }
            steps[state as usize] = far;
            for way in back.at(state).map(|way| &self.ways[way]) {
                let further = far + way.steps;
                if way.steps == 0 { open.push_front((way.from, further)) } else { open.push_back((way.from, further)) }
            }
        }
        steps
    }

    /// By number: whether a scheduler can avoid every error from a state on, by what is on the chart. It decides whose turn it is,
    /// and nothing inside an atomic sequence; see [`fabius_search::restrict`], which computes the same where all states are met.
    /// `None` where nothing true can be said of schedules.
    fn region(&self, back: &Adjacency, looked_at: usize) -> Option<Vec<bool>> {
        let of_schedules = self.search == SearchGoal::Safety && !self.environment;
        if !of_schedules || unsupported(self.machine.machine().program()).is_some() {
            return None;
        }
        // Of each state and each choice of a scheduler: whether all that can follow is harmless.
        let mut usable: BTreeMap<(u32, Movers), bool> =
            self.ways.iter().map(|way| ((way.from, way.movers), true)).collect();
        usable.extend(self.fails.iter().map(|fails| (*fails, false)));
        let mut left = vec![0_u32; self.fingerprints.len()];
        usable.iter().filter(|(_, usable)| **usable).for_each(|((state, _), _)| left[*state as usize] += 1);
        let mut safe = vec![true; self.fingerprints.len()];
        let mut bad: Vec<u32> =
            (looked_at as u32..self.fingerprints.len() as u32).chain(self.cut.iter().copied()).collect();
        bad.extend(self.errors.iter().filter(|(_, steps)| *steps == 0).map(|(state, _)| *state));
        bad.extend(usable.keys().map(|(state, _)| *state).filter(|state| left[*state as usize] == 0));
        while let Some(state) = bad.pop() {
            if !std::mem::replace(&mut safe[state as usize], false) {
                continue;
            }
            for way in back.at(state).map(|way| &self.ways[way]) {
                let choice = usable.get_mut(&(way.from, way.movers));
                if choice.is_some_and(|usable| std::mem::replace(usable, false)) {
                    left[way.from as usize] -= 1;
                    bad.extend((left[way.from as usize] == 0).then_some(way.from));
                }
            }
        }
        Some(safe)
    }

    /// By number: whether one of these states can be reached.
    fn leads_to(&self, back: &Adjacency, mut open: Vec<u32>) -> Vec<bool> {
        let mut leads = vec![false; self.fingerprints.len()];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut leads[state as usize], true) {
                open.extend(back.at(state).map(|way| self.ways[way].from));
            }
        }
        leads
    }

    /// The states on cycles that are looked for.
    fn on_bad_cycles(&self) -> Vec<u32> {
        let counts = |way: &Way| self.search == SearchGoal::Acceptance || !way.marks.has(Marks::PROGRESS);
        if self.search == SearchGoal::Safety {
            return Vec::new();
        }
        let states = self.fingerprints.len();
        let forward = Adjacency::of(states, self.ways.iter().map(|way| way.from));
        let following = |state: u32| {
            let ways = forward.at(state).map(|way| &self.ways[way]);
            ways.filter(|way| counts(way)).map(|way| way.to)
        };
        let components = components(states, following);
        let mut is_bad = vec![false; components.count];
        for way in self.ways.iter().filter(|way| counts(way)) {
            let is_one = self.search == SearchGoal::Livelock || way.marks.has(Marks::ACCEPTING);
            if is_one && components.joins(way.from, way.to) {
                is_bad[components.of[way.from as usize] as usize] = true;
            }
        }
        let states = components.of.iter().enumerate().filter(|(_, component)| is_bad[**component as usize]);
        states.map(|(state, _)| state as u32).collect()
    }
}

/// Which ways touch a state at one end.
struct Adjacency {
    first: Vec<u32>,
    ways: Vec<u32>,
}

impl Adjacency {
    /// From that end of each way, by its number.
    fn of(states: usize, ends: impl Iterator<Item = u32> + Clone) -> Self {
        let mut first = vec![0; states + 1];
        ends.clone().for_each(|end| first[end as usize + 1] += 1);
        (0..states).for_each(|state| first[state + 1] += first[state]);
        let mut next = first.clone();
        let mut ways = vec![0; first.last().copied().unwrap_or(0) as usize];
        for (way, end) in ends.enumerate() {
            ways[next[end as usize] as usize] = way as u32;
            next[end as usize] += 1;
        }
        Self { first, ways }
    }

    fn at(&self, state: u32) -> impl Iterator<Item = usize> + '_ {
        let (from, to) = (self.first[state as usize] as usize, self.first[state as usize + 1] as usize);
        self.ways[from..to].iter().map(|way| *way as usize)
    }
}

fn steps_of(label: &Move) -> u32 {
    u32::from(label.pid != CLAIM_PID)
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Of a state whose hidden variables are at 0.
pub(crate) fn fingerprint(program: &Program, mut state: State) -> u64 {
    // The machine forgets what the program never asks for.
    if !program.uses.priority {
        state.processes.iter_mut().for_each(|process| process.priority = 0);
    }
    hash(&state)
}
