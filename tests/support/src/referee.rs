//! Walks the machine and the reference interpreter through a program side by side and compares every
//! state, every successor and every ending on the way.

use crate::generate::Dice;
use fabius_language::NoLoader;
use fabius_machine::{Ending as MachineEnding, Machine, Step, View};
use fabius_program::meaning::Fault;
use fabius_program::{
    CLAIM_PID, EdgeId, Move, ProcessId, ProcessKind, Program, ProgressOn, StepMarks, VariableId, Watch,
};
pub use fabius_promela::Options;
use fabius_promela::{Parsed, lower, parse};
use fabius_witness::{
    Ending, NextMover, Outcome, State, enabled, marks, moves, released, step, stops_accepting, stuttered,
};
use std::sync::Arc;

/// The program behind a text, if the text is a model that can be checked.
pub fn program(text: &str, options: Options) -> Option<Arc<Program>> {
    let mut map = fabius_base::SourceMap::new();
    let file = map.add_file("model.pml", text);
    let Parsed { model, findings, .. } = parse(&mut map, file, &[], &mut NoLoader);
    if findings.iter().any(fabius_base::Finding::is_error) {
        return None;
    }
    let lowered = lower(&model, &map, "model.pml", options);
    let faulty = lowered.findings.iter().any(fabius_base::Finding::is_error);
    lowered.program.filter(|_| !faulty).map(Arc::new)
}

/// What a transition is, whoever computed it.
#[derive(Clone, PartialEq, Debug)]
struct Transition {
    /// `None` if an atomic sequence that blocked lost control.
    label: Option<Move>,
    fault: Option<Fault>,
    /// What it means to a search for cycles, and whether it leads to a state that is passed through; nothing if
    /// it cannot be computed.
    marks: StepMarks,
    transient: bool,
    /// The machine's words and the interpreter's state; `None` if the transition cannot be computed.
    words: Option<Vec<u32>>,
    state: Option<State>,
}

/// Everything that can be watched in a program: nothing, each claim, the event trace, with marks of every kind.
pub fn watches(program: &Program) -> Vec<Watch> {
    let of_kind = |kinds: &[ProcessKind]| -> Vec<ProcessId> {
        let processes = program.processes.iter().enumerate();
        processes.filter(|(_, process)| kinds.contains(&process.kind)).map(|(id, _)| ProcessId(id as u32)).collect()
    };
    let trace = of_kind(&[ProcessKind::Trace, ProcessKind::NoTrace]).first().copied();
    let mut all = vec![
        Watch::NOTHING,
        Watch { progress: Some(ProgressOn::States), acceptance: true, ..Watch::NOTHING },
        Watch { progress: Some(ProgressOn::Transitions), ..Watch::NOTHING },
    ];
    all.extend(trace.map(|trace| Watch { trace: Some(trace), acceptance: true, ..Watch::NOTHING }));
    for (index, claim) in of_kind(&[ProcessKind::Claim]).into_iter().enumerate() {
        let progress = [Some(ProgressOn::Transitions), Some(ProgressOn::States), None][index % 3];
        all.push(Watch { claim: Some(claim), trace: trace.filter(|_| index == 1), progress, acceptance: true });
    }
    all
}

/// Walks `steps_max` steps at random from the initial state, and again from there whenever a walk ends.
///
/// # Errors
/// The first difference, in words.
pub fn walk(program: &Arc<Program>, seed: u64, steps_max: usize) -> Result<(), String> {
    walk_watching(program, Watch::NOTHING, seed, steps_max)
}

/// The same, with a claim, an event trace and marks.
///
/// # Errors
/// The first difference, in words.
pub fn walk_watching(program: &Arc<Program>, watch: Watch, seed: u64, steps_max: usize) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let mut machine = Machine::watching(program.clone(), watch).map_err(|refusal| refusal.to_string())?;
    let mut first = Vec::new();
    let start = match (machine.initial(&mut first), State::watching(program, watch)) {
        (Ok(()), Ok(state)) => (first, state),
        (Err(machine), Err(witness)) if machine == witness => return Ok(()),
        (machine, witness) => return Err(format!("initial states differ: {machine:?}, {:?}", witness.err())),
    };
    let (mut words, mut state) = start.clone();
    for number in 0..steps_max {
        let at = |why: String| format!("after {number} steps: {why}");
        let view = machine.view(&words).ok_or_else(|| at("the words are no state".to_owned()))?;
        same_state(program, &view, &state).map_err(at)?;
        let mut transitions = successors(program, watch, &mut machine, &words, &state).map_err(at)?;
        if state.holder.is_none() {
            let mut could = Vec::new();
            machine.enabled(&words, &mut |pid| could.push(pid));
            same("enabled processes", could, enabled(program, &state)).map_err(at)?;
        }
        transitions.retain(|transition| transition.words.is_some());
        if transitions.is_empty() {
            (words, state) = start.clone();
            continue;
        }
        let chosen = transitions.swap_remove(dice.below(transitions.len()));
        if let (Some(next_words), Some(next_state)) = (chosen.words, chosen.state) {
            (words, state) = (next_words, next_state);
        }
    }
    Ok(())
}

/// All successors, after both have listed them and agree.
fn successors(
    program: &Program,
    watch: Watch,
    machine: &mut Machine,
    words: &[u32],
    state: &State,
) -> Result<Vec<Transition>, String> {
    let (listed, ending) = by_machine(machine, words);
    let expected = by_witness(program, watch, state);
    let brief = |transitions: &[Transition]| -> Vec<_> {
        transitions.iter().map(|t| (t.label, t.fault, t.marks, t.transient)).collect()
    };
    if brief(&listed) != brief(&expected.0) {
        return Err(format!(
            "successors differ: the machine {:?}, the witness {:?}",
            brief(&listed),
            brief(&expected.0)
        ));
    }
    if ending != expected.1 {
        return Err(format!("endings differ: the machine {ending:?}, the witness {:?}", expected.1));
    }
    each_alone(program, state)?;
    let mut merged = Vec::new();
    for (ours, theirs) in listed.into_iter().zip(expected.0) {
        if ours.words.is_some() != theirs.state.is_some() {
            return Err(format!("only one of them has a successor by {:?}", ours.label));
        }
        merged.push(Transition { state: theirs.state, ..ours });
    }
    Ok(merged)
}

/// Whether the witness, asked for each edge of each process alone, takes those steps that it lists, to the same states, and refuses
/// the others.
fn each_alone(program: &Program, state: &State) -> Result<(), String> {
    let possible = moves(program, state);
    if matches!(possible.ending, Ending::LosesControl | Ending::Stutters) {
        // Whoever is asked for a step passes control on first.
        return Ok(());
    }
    for (label, outcome) in &possible.successors {
        match step(program, state, *label) {
            Ok(taken) if taken.outcome == *outcome => {}
            other => return Err(format!("alone, {label:?} leads to {other:?}, and in the list to {outcome:?}")),
        }
    }
    for (pid, process) in state.processes.iter().enumerate() {
        for edge in program.process(process.process).locations[process.location.0 as usize].edges.clone() {
            let wanted = Move { pid: pid as u8, edge: EdgeId(edge), partner: None };
            let is_listed = possible.successors.iter().any(|(label, _)| *label == wanted);
            if !is_listed && let Ok(taken) = step(program, state, wanted) {
                return Err(format!("alone, {wanted:?} leads to {taken:?}, and it is not in the list"));
            }
        }
    }
    Ok(())
}

fn by_machine(machine: &mut Machine, words: &[u32]) -> (Vec<Transition>, MachineEnding) {
    let mut cursor = machine.begin(words);
    let mut listed = Vec::new();
    loop {
        let mut successor = Vec::new();
        match machine.next(words, &mut cursor, &mut successor) {
            Step::Successor { label, fault, transient, marks } => {
                listed.push(Transition { label, fault, marks, transient, words: Some(successor), state: None });
            }
            Step::Broken { label, fault } => {
                listed.push(Transition {
                    label: Some(label),
                    fault: Some(fault),
                    marks: StepMarks::NONE,
                    transient: false,
                    words: None,
                    state: None,
                });
            }
            Step::Done(ending) => return (listed, ending),
        }
    }
}

fn by_witness(program: &Program, watch: Watch, state: &State) -> (Vec<Transition>, MachineEnding) {
    let possible = moves(program, state);
    let passes_to = |state: State| {
        let marks = marks(program, watch, None, &state);
        Transition { label: None, fault: None, marks, transient: false, words: None, state: Some(state) }
    };
    let ending = match possible.ending {
        Ending::Moves => MachineEnding::Moves,
        Ending::Valid => MachineEnding::ValidEnd,
        Ending::Invalid => MachineEnding::InvalidEnd,
        Ending::LosesControl => {
            return (vec![passes_to(released(state))], MachineEnding::Moves);
        }
        Ending::Stutters => return (vec![passes_to(stuttered(program, state))], MachineEnding::Moves),
    };
    if stops_accepting(program, watch, state) {
        return (vec![passes_to(state.clone())], ending);
    }
    let transitions = possible.successors.into_iter().map(|(label, outcome)| {
        let fault = outcome.fault();
        let state = match outcome {
            Outcome::Reaches { state, .. } => Some(state),
            Outcome::Broken { .. } => None,
        };
        let marks = state.as_ref().map_or(StepMarks::NONE, |state| marks(program, watch, Some(label), state));
        let transient = state.as_ref().is_some_and(|state| state.holder.is_some() || label.pid == CLAIM_PID);
        Transition { label: Some(label), fault, marks, transient, words: None, state }
    });
    (transitions.collect(), ending)
}

/// Compares everything that the words say with the state.
fn same_state(program: &Program, view: &View<'_>, state: &State) -> Result<(), String> {
    same("number of processes", view.process_count(), state.processes.len())?;
    same("holder", view.holder(), state.holder.map(usize::from))?;
    if let Some(last) = view.last() {
        same("_last", last, usize::from(state.last))?;
    }
    for (index, values) in state.globals.iter().enumerate() {
        same(&program.globals[index].name, &view.global(VariableId(index as u32))[..], &values[..])?;
    }
    for (pid, process) in state.processes.iter().enumerate() {
        same("type of a process", view.process_of(pid), Some(process.process))?;
        same("location", view.location_of(pid), Some(process.location))?;
        if program.uses.priority {
            same("priority", view.priority_of(pid), Some(process.priority))?;
        }
        for (index, values) in process.locals.iter().enumerate() {
            let name = &program.process(process.process).locals[index].name;
            same(name, &view.local(pid, VariableId(index as u32))[..], &values[..])?;
        }
    }
    if let Some(claim) = &state.claim {
        same("location of the claim", view.claim_location(), Some(claim.location))?;
        same("whose turn it is", view.is_claims_turn(), claim.turn != NextMover::System)?;
        same("stuttering", view.stuttered(), claim.turn == NextMover::Stuttered)?;
        for (index, values) in claim.locals.iter().enumerate() {
            let name = &program.process(claim.process).locals[index].name;
            same(name, &view.claim_local(VariableId(index as u32))[..], &values[..])?;
        }
    }
    same("location of the event trace", view.trace_location(), state.trace.as_ref().map(|trace| trace.location))?;
    same("number of channels", view.channel_count(), state.channels.len())?;
    for (index, channel) in state.channels.iter().enumerate() {
        let found = view.channel(index + 1).ok_or_else(|| format!("channel {} is missing", index + 1))?;
        same("type of a channel", found.ty, channel.channel_type)?;
        same("messages", found.messages, channel.messages.iter().cloned().collect::<Vec<_>>())?;
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, machine: T, witness: T) -> Result<(), String> {
    if machine == witness {
        Ok(())
    } else {
        Err(format!("{what}: the machine has {machine:?}, the witness {witness:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_differs_is_flagged() {
        let program = program("byte x = 3; active proctype P() { x = 1 }", Options::NONE).unwrap();
        let mut machine = Machine::new(program.clone()).unwrap();
        let mut words = Vec::new();
        machine.initial(&mut words).unwrap();
        let mut state = State::initial(&program).unwrap();
        assert_eq!(same_state(&program, &machine.view(&words).unwrap(), &state), Ok(()));
        state.globals[0] = vec![4].into();
        assert!(same_state(&program, &machine.view(&words).unwrap(), &state).is_err());
        assert!(
            successors(&program, Watch::NOTHING, &mut machine, &words, &State { processes: Vec::new(), ..state })
                .is_err()
        );
    }
}
