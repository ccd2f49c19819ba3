//! Where the choices of a model begin: the state to which every run comes first.

use fabius_model::SearchedMachine;
use fabius_program::facts::{Facts, InstanceKey, StartValues};
use fabius_program::{LocationId, Move, VariableId};
use fabius_search::{Model, Next};

/// Steps without a choice that are followed.
const STEPS_MAX: usize = 10_000;

/// A state to which every run comes, with the same steps.
pub(super) struct Start<'m> {
    machine: &'m SearchedMachine,
    state: Vec<u32>,
    shape: u32,
    /// The steps that lead to it.
    pub path: Vec<Move>,
}

/// Follows the steps of a model as long as there is no choice; `None` if there is no initial state.
///
/// Processes that are created by then, with their arguments, and the values they find are known one by one, however they
/// came about: in a loop of `init`, say.
pub(super) fn start(machine: &mut SearchedMachine) -> Option<Start<'_>> {
    let mut state = Vec::new();
    machine.initial(&mut state).ok()?;
    let (mut here, mut successor) = (state.clone(), Vec::new());
    let (mut path, mut length) = (Vec::new(), 0);
    for _ in 0..STEPS_MAX {
        let Some((step, transient)) = only_successor(machine, &here, &mut successor) else { break };
        std::mem::swap(&mut here, &mut successor);
        path.extend(step);
        if !transient {
            state.clone_from(&here);
            length = path.len();
        }
    }
    path.truncate(length);
    let shape = machine.machine_mut().shape_number(&state)?;
    Some(Start { machine, state, shape, path })
}

/// Writes the only successor of a state, if there is exactly one and nothing can go wrong: the step, and whether it is
/// transient.
fn only_successor(
    machine: &mut SearchedMachine,
    state: &[u32],
    successor: &mut Vec<u32>,
) -> Option<(Option<Move>, bool)> {
    let mut cursor = machine.begin(state);
    let mut found = None;
    let mut next = Vec::new();
    loop {
        match machine.next(state, &mut cursor, &mut next) {
            Next::Successor { label, transient, fault: None, .. } if found.is_none() => {
                found = Some((label, transient));
                successor.clone_from(&next);
            }
            Next::Successor { .. } | Next::Broken { .. } => return None,
            Next::Done(_) => return found,
        }
    }
}

impl Start<'_> {
    /// The processes there are, each with what is known of it and its location.
    pub(super) fn processes(&self, facts: &Facts) -> Option<Vec<(InstanceKey, LocationId)>> {
        let machine = self.machine.machine();
        let of = |pid: usize| {
            let process = machine.process_at(self.shape, pid)?;
            let value = |variable| Some(machine.local_reader(self.shape, pid, variable, 0)?.read(&self.state));
            let constants = facts.constant_locals(process).into_iter().map(value).collect();
            let channels_before = Some(machine.channels_before(self.shape, pid)?);
            let location = machine.location_reader(self.shape, pid);
            let location = LocationId(location.map_or(0, |reader| reader.read(&self.state) as u32));
            Some((InstanceKey { process, pid: u8::try_from(pid).ok(), channels_before, constants }, location))
        };
        (0..machine.process_count(&self.state)).map(of).collect()
    }
}

impl StartValues for Start<'_> {
    fn global(&self, variable: VariableId, element: u32) -> Option<i32> {
        Some(self.machine.machine().global_reader(self.shape, variable, element)?.read(&self.state))
    }

    fn level(&self, channel: usize) -> Option<u32> {
        let reader = self.machine.machine().length_reader(self.shape, channel)?;
        u32::try_from(reader.read(&self.state)).ok()
    }
}
