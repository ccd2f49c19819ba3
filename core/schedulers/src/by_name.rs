//! Priorities by the names of process types.

use fabius_machine::Machine;
use fabius_search::schedule::Ranking;

/// Ranks processes by the place of their type in a list; those not in it come after, by the priorities of the model.
#[derive(Clone)]
pub(crate) struct ByName {
    machine: Machine,
    names: Vec<String>,
    /// Those not in it are all equal.
    only: bool,
}

impl std::fmt::Debug for ByName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ByName").field(&self.names).finish()
    }
}

impl ByName {
    pub(crate) fn new(machine: Machine, names: &[String]) -> Self {
        Self { machine, names: names.to_vec(), only: false }
    }

    /// The same, whatever the priorities of the model.
    pub(crate) fn only(self) -> Self {
        Self { only: true, ..self }
    }
}

impl Ranking for ByName {
    fn rank(&self, state: &[u32], process: u8) -> u32 {
        if self.only && self.names.is_empty() {
            return 0;
        }
        let Some(view) = self.machine.view(state) else { return 0 };
        let pid = usize::from(process);
        let name = view.process_of(pid).map(|id| self.machine.program().process(id).name.as_str());
        match self.names.iter().position(|listed| Some(listed.as_str()) == name) {
            Some(place) => place as u32,
            None if self.only => self.names.len() as u32,
            None => self.names.len() as u32 + 255 - u32::from(view.priority_of(pid).unwrap_or(1)),
        }
    }
}
