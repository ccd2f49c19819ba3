//! Which processes sleep after a step of another one: those to which it makes no difference ([`fabius_search::sleep`]).

use crate::configurations::{Configurations, Lookup, NewConfiguration};
use fabius_machine::{Machine, Reader};
use fabius_program::Move;
use fabius_program::facts::{Disturbance, Facts, Instance, InstanceKey, Taken};
use fabius_search::Asleep;
use std::collections::HashMap;
use std::sync::Arc;

/// What is known, found out as it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Sleep {
    facts: Arc<Facts>,
    /// The processes that were met.
    met: Vec<Met>,
    numbers: HashMap<InstanceKey, usize>,
    configurations: Configurations<Vec<Agent>>,
}

/// A process that was met.
#[derive(Clone, Debug)]
struct Met {
    instance: Arc<Instance>,
    /// The number in the program of the first edge of its type.
    first_edge: u32,
    /// For each edge, taken alone and as the start of an atomic sequence, what it means to others.
    disturbs: Vec<[ToOthers; 2]>,
}

/// What an edge means to other processes, by their numbers, at each of their locations; nothing is written down for one to which it means
/// nothing anywhere.
type ToOthers = Vec<Option<Box<[Disturbance]>>>;

/// A process of a state.
#[derive(Debug)]
struct Agent {
    /// Its number among those that were met.
    number: usize,
    location: Option<Reader>,
}

/// A step that was taken.
pub(crate) struct Step<'a> {
    pub state: &'a [u32],
    /// The machine's number of the shape of the state.
    pub shape: u32,
    pub step: &'a Move,
    /// The state after it, as long as the one before.
    pub successor: &'a [u32],
    /// That one is transient.
    pub transient: bool,
}

impl Sleep {
    /// For a program of which these are the facts; `None` if nobody could sleep.
    pub fn new(facts: Arc<Facts>) -> Option<Self> {
        let (met, numbers, configurations) = (Vec::new(), HashMap::new(), Configurations::default());
        (!facts.hands_control_over()).then_some(Self { facts, met, numbers, configurations })
    }

    /// Of the processes that have a step in a state, those that sleep after a step of an older one.
    #[inline]
    pub fn retain(&mut self, machine: &mut Machine, taken: &Step<'_>, have_steps: Asleep) -> Asleep {
        let younger = have_steps.younger_than(taken.step.pid);
        if younger.is_nobody() {
            return younger;
        }
        let Some(number) = self.configuration(machine, taken.state, taken.shape) else { return Asleep::NOBODY };
        let Self { facts, met, configurations, .. } = self;
        let agents = configurations.tables(number);
        younger.retain(|process| match disturbance(facts, met, agents, (taken, process)) {
            Some(disturbance) => !is_disturbed(machine, taken, process, disturbance),
            None => false,
        })
    }

    /// The number of the configuration of a state.
    #[inline]
    fn configuration(&mut self, machine: &Machine, state: &[u32], shape: u32) -> Option<usize> {
        match self.configurations.likely(shape, state) {
            Some(number) => Some(number),
            None => self.look_up(machine, state, shape),
        }
    }

    #[cold]
    fn look_up(&mut self, machine: &Machine, state: &[u32], shape: u32) -> Option<usize> {
        Some(match self.configurations.look_up(&self.facts, machine, state, shape)? {
            Lookup::Known(number) => number,
            Lookup::New(new) => {
                let agents = self.agents(machine, &new);
                self.configurations.insert(new, agents)
            }
        })
    }

    fn agents(&mut self, machine: &Machine, new: &NewConfiguration) -> Vec<Agent> {
        let agent = |(pid, key): (usize, &InstanceKey)| {
            let location = machine.location_reader(new.shape(), pid);
            Agent { number: self.meet(key), location }
        };
        new.processes.iter().enumerate().map(agent).collect()
    }

    /// The number of a process.
    fn meet(&mut self, key: &InstanceKey) -> usize {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let instance = Arc::new(self.facts.instance(key.clone()));
        let disturbs = vec![[Vec::new(), Vec::new()]; instance.steps.len()];
        let first_edge = self.facts.first_edge(key.process);
        self.met.push(Met { instance, first_edge, disturbs });
        self.numbers.insert(key.clone(), self.met.len() - 1);
        self.met.len() - 1
    }
}

/// What a step means to a process; `None` if the process takes part in it, or that is not known.
#[inline]
fn disturbance(
    facts: &Facts,
    met: &mut [Met],
    agents: &[Agent],
    (taken, process): (&Step<'_>, u8),
) -> Option<Disturbance> {
    let other = agents.get(usize::from(process))?;
    let location = other.location.map_or(0, |reader| reader.read(taken.state) as usize);
    let mut by = |pid: u8, edge: u32, starts: bool| {
        let mover = agents.get(usize::from(pid))?.number;
        let edge = (edge - met[mover].first_edge) as usize;
        let known = met[mover].disturbs[edge][usize::from(starts)].get(other.number).and_then(Option::as_ref);
        match known {
            Some(at) if at.is_empty() => Some(Disturbance::default()),
            Some(at) => at.get(location).copied(),
            None => find_out(facts, met, (mover, Taken { edge, starts }), (other.number, location)),
        }
    };
    match taken.step.partner {
        None => by(taken.step.pid, taken.step.edge.0, true),
        Some((partner, _)) if partner == process => None,
        // After a rendezvous only the receiver may go on with an atomic sequence.
        Some((partner, edge)) => {
            let (sent, received) = (by(taken.step.pid, taken.step.edge.0, false)?, by(partner, edge.0, true)?);
            Some(sent.with(received))
        }
    }
}

#[cold]
fn find_out(
    facts: &Facts,
    met: &mut [Met],
    (mover, taken): (usize, Taken),
    (other, location): (usize, usize),
) -> Option<Disturbance> {
    let found = facts.disturbances(&met[mover].instance, taken, &met[other].instance);
    let wanted = found.get(location).copied();
    let row = &mut met[mover].disturbs[taken.edge][usize::from(taken.starts)];
    row.resize(row.len().max(other + 1), None);
    let means_something = found.iter().any(|at| *at != Disturbance::default());
    row[other] = Some(if means_something { found } else { Box::default() });
    wanted
}

/// Whether what a process can do after a step is something else than before, or something that the step does not accord with.
#[inline]
fn is_disturbed(machine: &mut Machine, taken: &Step<'_>, process: u8, disturbance: Disturbance) -> bool {
    if disturbance == Disturbance::default() {
        return false;
    }
    let executable = machine.executable(taken.state, taken.shape, process);
    if executable & disturbance.conflicts != 0 {
        return true;
    }
    let enabled = disturbance.enables & !executable;
    // In a transient state, it is not known yet what will be executable after the sequence.
    enabled != 0 && (taken.transient || is_executable(machine, taken.successor, process, enabled))
}

/// Whether one of these edges of a process is executable in a state.
fn is_executable(machine: &mut Machine, state: &[u32], process: u8, edges: u64) -> bool {
    let Some(shape) = machine.shape_number(state) else { return true };
    machine.executable(state, shape, process) & edges != 0
}
