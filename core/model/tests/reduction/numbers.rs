//! What a reduction must keep where a program cannot observe the numbers of the processes that it creates: all but these
//! numbers, and processes that have nothing left to do but to end.

use crate::graph::{Graph, Mover, StepTaken};
use fabius_machine::Machine;
use fabius_program::facts::Facts;
use fabius_program::{Action, Expr, Location, Move, Process, ProcessId, Program, Slot, VariableId};
use std::sync::Arc;

/// How states and steps are compared.
#[derive(Debug)]
pub enum Numbers {
    /// As they are.
    Told,
    /// Without numbers of processes that are created.
    Untold(Arc<Program>),
}

impl Numbers {
    /// Those of a program at which these expressions look, too.
    pub fn of(program: &Arc<Program>, propositions: &[Expr]) -> Self {
        let propositions: Vec<&Expr> = propositions.iter().collect();
        let facts = Facts::of(Arc::clone(program), &propositions);
        if facts.is_blind_to_numbers(&propositions) { Self::Untold(Arc::clone(program)) } else { Self::Told }
    }

    pub fn are_told(&self) -> bool {
        matches!(self, Self::Told)
    }

    /// A step, as far as it is compared.
    pub fn step(&self, label: Option<&Move>) -> StepTaken {
        let named = |pid: u8| self.are_told().then_some(pid);
        let step = |label: &Move| -> (Mover, Option<Mover>) {
            (Mover(named(label.pid), label.edge.0), label.partner.map(|(pid, edge)| Mover(named(pid), edge.0)))
        };
        label.map(step)
    }

    /// Forgets in a graph what is not compared; the machine knows its states.
    pub fn forget(&self, machine: &Machine, graph: &mut Graph) {
        let Self::Untold(program) = self else { return };
        let ends = std::mem::take(&mut graph.ends);
        graph.ends = ends.into_iter().map(|(words, is_valid)| (end(program, machine, &words), is_valid)).collect();
        let faults = std::mem::take(&mut graph.faults);
        let unnamed = |Mover(_, edge): Mover| Mover(None, edge);
        graph.faults = faults
            .into_iter()
            .map(|(step, fault)| (step.map(|(mover, partner)| (unnamed(mover), partner.map(unnamed))), fault))
            .collect();
    }
}

/// A state without its hidden words: what its variables and channels hold but numbers of processes, and which processes there
/// are that have something left to do, whatever their numbers.
fn end(program: &Program, machine: &Machine, words: &[u32]) -> Vec<u32> {
    let words = [words, &vec![0; machine.hidden_words()]].concat();
    let view = machine.view(&words).expect("a state of the machine");
    let keeps = |slot: Slot, process: Option<ProcessId>| is_assigned_a_number(program, slot, process);
    let mut found = Vec::new();
    for global in (0..program.globals.len() as u32).map(VariableId) {
        let is_hidden = program.globals[global.0 as usize].hidden;
        if !is_hidden && !keeps(Slot::Global(global), None) {
            found.extend(view.global(global).into_iter().map(|value| value as u32));
        }
    }
    for id in 1..=view.channel_count() {
        let channel = view.channel(id).expect("a channel");
        found.push(channel.messages.len() as u32);
        found.extend(channel.messages.into_iter().flatten().map(|value| value as u32));
    }
    let mut left = Vec::new();
    for pid in 0..view.process_count() {
        let (kind, at) = (view.process_of(pid).expect("a process"), view.location_of(pid).expect("a location"));
        let process = program.process(kind);
        if only_ends(program, process, &process.locations[at.0 as usize]) {
            continue;
        }
        let mut words = vec![kind.0, at.0];
        for local in (0..process.locals.len() as u32).map(VariableId) {
            if !keeps(Slot::Local(local), Some(kind)) {
                words.extend(view.local(pid, local).into_iter().map(|value| value as u32));
            }
        }
        left.push(words);
    }
    left.sort_unstable();
    found.extend(left.into_iter().flatten());
    found
}

/// Whether nothing is left to a process at a location but to end.
fn only_ends(program: &Program, process: &Process, location: &Location) -> bool {
    let statement = |edge: u32| &process.statements[program.edges[edge as usize].statement.0 as usize].action;
    !location.edges.is_empty() && location.edges.clone().all(|edge| *statement(edge) == Action::End)
}

/// Whether some statement assigns the number of a new process to a variable.
fn is_assigned_a_number(program: &Program, slot: Slot, of: Option<ProcessId>) -> bool {
    fn assigns(action: &Action, slot: Slot) -> bool {
        match action {
            Action::Assign(place, Expr::Run { .. }) => place.slot == slot,
            Action::Merged(parts) => parts.iter().any(|part| assigns(part, slot)),
            _ => false,
        }
    }
    let processes = program.processes.iter().enumerate();
    processes
        .filter(|(at, _)| of.is_none_or(|of| of.0 as usize == *at))
        .flat_map(|(_, process)| &process.statements)
        .any(|statement| assigns(&statement.action, slot))
}
