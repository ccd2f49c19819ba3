//! The audit of one state.

use super::Auditable;
use super::order::Order;
use fabius_analysis::as_state;
use fabius_machine::{Ending as MachineEnding, Step};
use fabius_model::SearchedMachine;
use fabius_program::{CLAIM_PID, Move, Program, StepMarks, Watch, meaning::Fault};
use fabius_search::store::Inserted;
use fabius_search::store::VisitedSet;
use fabius_witness::show::{Names, statement_text};
use fabius_witness::{Ending, Outcome, State, marks, moves, released, snapshot, stops_accepting, stuttered};
use std::collections::HashSet;
use std::sync::Arc;

/// A transition counts once, and once more for each this many words of a state.
const WORDS_PER_TRANSITION: u64 = 64;

/// Compares what a search rests on with the reference interpreter, state by state.
pub(super) struct Auditor<'a> {
    program: Arc<Program>,
    watch: Watch,
    /// Only what the claim does wrong is a violation.
    is_infinite: bool,
    hidden_words: usize,
    pub(super) store: &'a mut dyn VisitedSet,
    /// Transitions listed so far; those of large states count more than once.
    pub(super) listed: u64,
    /// The same of those listed to find out whether the order of steps matters, …
    ordered: u64,
    /// … which ends once there are this many.
    ordered_max: u64,
}

/// A transition, whoever listed it.
#[derive(PartialEq, Debug)]
struct Transition {
    /// None if the state changes without a step.
    label: Option<Move>,
    fault: Option<Fault>,
    marks: StepMarks,
    transient: bool,
    /// Where it leads; nowhere if it cannot be computed.
    to: Option<State>,
}

/// Transitions of a state with the words that the machine has for where they lead.
type Successors = Vec<(Transition, Vec<u32>)>;

/// What the machine lists, where that leads in its words, and how the list ends.
type Listed = (Vec<Transition>, Vec<Vec<u32>>, MachineEnding);

/// What it counts to list some transitions of a state.
fn weight(transitions: u64, state: &State) -> u64 {
    transitions * (1 + (state.bytes() / 4) as u64 / WORDS_PER_TRANSITION)
}

impl<'a> Auditor<'a> {
    pub(super) fn new(machine: &SearchedMachine, store: &'a mut dyn VisitedSet, ordered_max: u64) -> Self {
        Self {
            program: Arc::clone(machine.shared_program()),
            watch: machine.machine().watch(),
            is_infinite: machine.is_infinite(),
            hidden_words: machine.machine().hidden_words(),
            store,
            listed: 0,
            ordered: 0,
            ordered_max,
        }
    }

    /// Finds the initial state in the visited set.
    pub(super) fn initial(&mut self, model: &mut impl Auditable) -> Result<(), String> {
        let mut words = Vec::new();
        let listed = model.initial(&mut words);
        let state = match (listed, State::watching(&self.program, self.watch)) {
            (Ok(()), Ok(state)) => self.comparable(state),
            (listed, state) => return Err(format!("initial states differ: {listed:?}, {:?}", state.err())),
        };
        if self.read(model.whole(), &words)? != state {
            return Err(self.about("the machine has another initial state than this", &state));
        }
        self.find(&words, &state)
    }

    /// Audits a state in the visited set.
    pub(super) fn state(&mut self, model: &mut impl Auditable, visible: &[u32]) -> Result<(), String> {
        let mut words = visible.to_vec();
        words.resize(visible.len() + self.hidden_words, 0);
        let state = self.read(model.whole(), &words)?;
        let (mut open, mut met) = (vec![(words, state)], HashSet::new());
        while let Some((words, state)) = open.pop() {
            let mut steps = self.successors(model.whole(), &words, &state)?;
            if let Some(chosen) = model.chosen(&words) {
                self.sufficient(&steps, &chosen, &state)?;
                self.first(&chosen, &state, model.heeds_stops())?;
                steps.retain(|(step, _)| step.label.is_none_or(|label| chosen.contains(&label)));
            }
            // Ordinary states are found; transient ones are passed through.
            open.extend(self.arrive(steps, &state, &mut met)?);
        }
        Ok(())
    }

    /// Finds the ordinary states among those that steps lead to in the visited set; the transient ones that were not met before.
    fn arrive(
        &mut self,
        steps: Successors,
        from: &State,
        met: &mut HashSet<State>,
    ) -> Result<Vec<(Vec<u32>, State)>, String> {
        let mut transient = Vec::new();
        for (step, words) in steps {
            if self.is_infinite && step.label.is_some_and(|label| label.pid == CLAIM_PID) {
                self.refuse_fault(&step, from)?;
            }
            match step.to {
                Some(state) if !step.transient => self.find(&words, &state)?,
                Some(state) if met.insert(state.clone()) => transient.push((words, state)),
                _ => {}
            }
        }
        Ok(transient)
    }

    fn find(&mut self, words: &[u32], state: &State) -> Result<(), String> {
        match self.store.insert_words(&words[..words.len() - self.hidden_words]) {
            Inserted::Old => Ok(()),
            Inserted::New => Err(self.about("a reachable state is not in the visited set", state)),
        }
    }

    /// Whether the steps that a search with a reduction takes are a part that it may take.
    fn sufficient(&self, steps: &Successors, chosen: &[Move], state: &State) -> Result<(), String> {
        let is_chosen = |label: &Move| chosen.contains(label);
        // A search for infinite runs takes no step that fails.
        let counts = |step: &&(Transition, Vec<u32>)| !self.is_infinite || step.0.to.is_some();
        let labels = || steps.iter().filter(counts).filter_map(|(step, _)| step.label);
        let parted = |label: &Move| is_chosen(label) != chosen.iter().any(|other| other.pid == label.pid);
        if let Some(label) = labels().find(parted) {
            let what = format!(
                "{} is left out, and other steps of the process are not, in this state",
                self.step(label, state)
            );
            return Err(self.about(&what, state));
        }
        let has_none = !labels().any(|label| is_chosen(&label)) && labels().next().is_some();
        if has_none || chosen.iter().any(|label| !labels().any(|other| other == *label)) {
            return Err(self.about("the reduction chose steps that are none, or no step at all, in this state", state));
        }
        Ok(())
    }

    /// Whether chosen steps can as well be taken before those that are left out.
    fn first(&mut self, chosen: &[Move], state: &State, heeds_stops: bool) -> Result<(), String> {
        if state.holder.is_some() || state.is_claims_turn() || self.ordered_max <= self.ordered {
            return Ok(());
        }
        let mut order = Order { program: &self.program, heeds_stops, listed: 0 };
        let matters = order.matters(state, chosen);
        self.ordered += weight(order.listed, state);
        let Some((other, step)) = matters else { return Ok(()) };
        let what = format!(
            "{} is left out, and {} cannot as well be taken before it, in this state",
            self.step(other, state),
            self.step(step, state)
        );
        Err(self.about(&what, state))
    }

    /// All successors, on which machine and reference interpreter agree, none of them a violation of safety.
    fn successors(
        &mut self,
        machine: &mut SearchedMachine,
        words: &[u32],
        state: &State,
    ) -> Result<Successors, String> {
        let (listed, words, machine_ending) = self.by_machine(machine, words)?;
        let (expected, ending) = self.by_witness(state);
        self.listed += weight(listed.len() as u64, state);
        if let Some((step, _)) =
            expected.iter().zip(listed.iter().map(Some).chain(std::iter::repeat(None))).find(|(a, b)| Some(*a) != *b)
        {
            let step = step.label.map_or("a change without a step".to_owned(), |label| self.step(label, state));
            return Err(
                self.about(&format!("machine and reference interpreter differ in {step} from this state"), state)
            );
        }
        if listed.len() != expected.len() || machine_ending != ending {
            return Err(
                self.about("the machine lists steps that the reference interpreter does not, in this state", state)
            );
        }
        if !self.is_infinite {
            listed.iter().try_for_each(|step| self.refuse_fault(step, state))?;
            if ending == MachineEnding::InvalidEnd {
                return Err(self.about("the search reported no invalid end state, but this is one", state));
            }
        } else if stops_accepting(&self.program, self.watch, state) {
            return Err(
                self.about("the search reported no run that stops at an acceptance label, but one stops here", state)
            );
        }
        Ok(listed.into_iter().zip(words).collect())
    }

    fn refuse_fault(&self, step: &Transition, from: &State) -> Result<(), String> {
        let (Some(fault), Some(label)) = (step.fault, step.label) else { return Ok(()) };
        let what =
            format!("the search reported no violation, but {} has {fault}, in this state", self.step(label, from));
        Err(self.about(&what, from))
    }

    fn by_machine(&self, machine: &mut SearchedMachine, words: &[u32]) -> Result<Listed, String> {
        let mut cursor = machine.machine_mut().begin(words);
        let (mut listed, mut all_words) = (Vec::new(), Vec::new());
        loop {
            let mut successor = Vec::new();
            let step = machine.machine_mut().next(words, &mut cursor, &mut successor);
            listed.push(match step {
                Step::Successor { label, transient, fault, marks } => {
                    let to = Some(self.read(machine, &successor)?);
                    Transition { label, fault, marks, transient, to }
                }
                Step::Broken { label, fault } => {
                    let marks = StepMarks::NONE;
                    Transition { label: Some(label), fault: Some(fault), marks, transient: false, to: None }
                }
                Step::Done(ending) => return Ok((listed, all_words, ending)),
            });
            all_words.push(successor);
        }
    }

    fn by_witness(&self, state: &State) -> (Vec<Transition>, MachineEnding) {
        // What follows without a step is stored, also in the claim's turn.
        let silent = |to: State| {
            let marks = marks(&self.program, self.watch, None, &to);
            vec![Transition { label: None, fault: None, marks, transient: false, to: Some(self.comparable(to)) }]
        };
        let possible = moves(&self.program, state);
        let ending = match possible.ending {
            Ending::Moves => MachineEnding::Moves,
            Ending::Valid => MachineEnding::ValidEnd,
            Ending::Invalid => MachineEnding::InvalidEnd,
            Ending::LosesControl => return (silent(released(state)), MachineEnding::Moves),
            Ending::Stutters => return (silent(stuttered(&self.program, state)), MachineEnding::Moves),
        };
        let steps = possible.successors.into_iter().map(|(label, outcome)| {
            let fault = outcome.fault();
            let Outcome::Reaches { state, .. } = outcome else {
                let marks = StepMarks::NONE;
                return Transition { label: Some(label), fault, marks, transient: false, to: None };
            };
            let marks = marks(&self.program, self.watch, Some(label), &state);
            let transient = state.holder.is_some() || label.pid == CLAIM_PID;
            Transition { label: Some(label), fault, marks, transient, to: Some(self.comparable(state)) }
        });
        (steps.collect(), ending)
    }

    /// What the words of a state mean.
    pub(super) fn read(&self, machine: &SearchedMachine, words: &[u32]) -> Result<State, String> {
        let view = machine.machine().view(words).ok_or("the visited set holds words that are no state")?;
        Ok(self.comparable(as_state(&self.program, self.watch, &view)))
    }

    /// The state without what the machine forgets.
    fn comparable(&self, state: State) -> State {
        let mut state = state.into_visible(&self.program);
        if !self.program.uses.priority {
            // Whoever has this priority stays shared with other states.
            let others = state.processes.iter_mut().filter(|process| process.priority != 1);
            others.for_each(|process| process.priority = 1);
        }
        state
    }

    fn step(&self, label: Move, state: &State) -> String {
        let statement = self.program.statement(self.program.process_of(label.edge), label.edge);
        let who = if label.pid == CLAIM_PID {
            "the claim".to_owned()
        } else {
            Names::of(&self.program, state).process(label.pid)
        };
        format!("the step `{}` of {who}", statement_text(statement))
    }

    /// A sentence about a state, with the state.
    fn about(&self, what: &str, state: &State) -> String {
        let shown = snapshot(&self.program, state);
        let processes = shown.processes.iter().flat_map(|process| {
            let at = [(process.name.clone(), format!("at location {}", process.location))];
            at.into_iter().chain(process.variables.clone())
        });
        let all = shown.variables.iter().chain(&shown.channels).cloned().chain(processes);
        let lines: Vec<String> = all.map(|(name, value)| format!("\n    {name} = {value}")).collect();
        format!("the audit of the proof failed: {what}:{}", lines.concat())
    }
}
