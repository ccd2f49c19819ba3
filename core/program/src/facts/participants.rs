//! The processes that a run from some state on may have, one by one.

use super::flow::spawned_by;
use super::walk::{each_within, operands, parts};
use super::{Facts, Instance, InstanceKey};
use crate::{Action, Edge, EdgeId, Expr, LocationId, ProcessId, VariableId};

/// More processes are not looked at one by one.
const PARTICIPANTS_MAX: usize = 64;

/// A process that a run may have.
#[derive(Clone, Debug)]
pub struct Participant {
    /// What is known of it, and what its steps need and do.
    pub instance: Instance,
    /// Where it begins.
    pub start: LocationId,
    /// The participant that creates it, and the edge with which it does; `None` if it exists from the beginning.
    pub creator: Option<(usize, EdgeId)>,
    /// Taking that edge surely creates it.
    pub(super) surely_created: bool,
    /// For each location, whether the process may come to it.
    pub(super) reachable: Vec<bool>,
}

impl Participant {
    /// Its type.
    pub fn process(&self) -> ProcessId {
        self.instance.key.process
    }
}

/// Why what may go wrong cannot be told from the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhyNotTold {
    /// Whether a process can move depends on more than its statement.
    Restricted,
    /// Processes are created in a loop, or in more than a simple `run` statement, so that there may be any number.
    Unbounded,
    /// There are too many processes, or too many combinations of places.
    Many,
    /// It was asked to stop.
    Stopped,
}

impl Facts {
    /// The processes that a run may have that begins with these, each at a location.
    ///
    /// # Errors
    /// If there is no bound to them that is easy to see.
    pub(super) fn participants(&self, present: &[(InstanceKey, LocationId)]) -> Result<Vec<Participant>, WhyNotTold> {
        let made = |(key, start): &(InstanceKey, LocationId)| Participant {
            reachable: self.reachable(key.process, *start, None),
            instance: self.instance(key.clone()),
            start: *start,
            creator: None,
            surely_created: true,
        };
        let mut all: Vec<Participant> = present.iter().map(made).collect();
        let mut next = 0;
        while next < all.len() {
            if PARTICIPANTS_MAX < all.len() {
                return Err(WhyNotTold::Many);
            }
            let created = self.created_by(next, &all[next])?;
            all.extend(created);
            next += 1;
        }
        Ok(all)
    }

    /// Whether an edge is the end of its process.
    pub(super) fn ends(&self, edge: EdgeId) -> bool {
        self.program.statement(self.program.process_of(edge), edge).action == Action::End
    }

    /// The edges that a participant may take, with their numbers; not its end.
    pub(super) fn edges_of_participant<'f>(
        &'f self,
        participant: &'f Participant,
    ) -> impl Iterator<Item = (EdgeId, &'f Edge)> {
        let locations = &self.program.process(participant.process()).locations;
        let reached = locations.iter().zip(&participant.reachable).filter(|(_, reached)| **reached);
        reached.flat_map(|(location, _)| self.program.edges_of(location)).filter(|(id, _)| !self.ends(*id))
    }

    /// The locations to which a process may come from one of them, without an edge.
    pub(super) fn reachable(&self, process: ProcessId, start: LocationId, without: Option<EdgeId>) -> Vec<bool> {
        let locations = &self.program.process(process).locations;
        let mut reached = vec![false; locations.len()];
        let mut open = vec![start.0 as usize];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut reached[at], true) {
                continue;
            }
            let edges = self.program.edges_of(&locations[at]);
            let edges = edges.filter(|(id, _)| Some(*id) != without && !self.ends(*id));
            open.extend(edges.map(|(_, edge)| edge.target.0 as usize));
        }
        reached
    }

    /// The processes that a participant creates.
    fn created_by(&self, number: usize, creator: &Participant) -> Result<Vec<Participant>, WhyNotTold> {
        let shape = &self.shapes[creator.process().0 as usize];
        let statements = &self.program.process(creator.process()).statements;
        let mut created = Vec::new();
        for (id, edge) in self.edges_of_participant(creator) {
            let action = &statements[edge.statement.0 as usize].action;
            let kinds = spawned_by(action);
            if kinds.is_empty() {
                continue;
            }
            let (run, surely) = match action {
                Action::Guard(e @ Expr::Run { .. }) | Action::Assign(_, e @ Expr::Run { .. }) => (e, true),
                action => (only_run(action).ok_or(WhyNotTold::Unbounded)?, false),
            };
            let again = shape.looping[self.index_of(id)] || parts(action).len() > 1 || kinds.len() > 1;
            let Expr::Run { process, arguments, .. } = run else { return Err(WhyNotTold::Unbounded) };
            if again || self.runs_at_start(*process) {
                return Err(WhyNotTold::Unbounded);
            }
            let key = self.key_of_created(creator, *process, arguments);
            let start = self.program.process(*process).entry;
            created.push(Participant {
                reachable: self.reachable(*process, start, None),
                instance: self.instance(key),
                start,
                creator: Some((number, id)),
                surely_created: surely && self.fits,
            });
        }
        Ok(created)
    }

    /// Whether creating a process of a type creates others at once.
    fn runs_at_start(&self, process: ProcessId) -> bool {
        let locals = &self.program.process(process).locals;
        let values = locals.iter().flat_map(|local| super::walk::initial_values(&local.initial));
        values.into_iter().any(super::value::has_run)
    }

    /// What is known of a process that is created with these arguments.
    fn key_of_created(&self, creator: &Participant, process: ProcessId, arguments: &[Expr]) -> InstanceKey {
        let context = self.context(&creator.instance.key);
        let kind = self.program.process(process);
        let value = |variable: VariableId| {
            let local = &kind.locals[variable.0 as usize];
            let given = arguments.get(variable.0 as usize).filter(|_| variable.0 < kind.parameter_count)?;
            context.constant(given, 0).map(|value| local.ty.truncate(value))
        };
        let constants = self.constant_locals(process).into_iter().map(value).collect();
        InstanceKey { process, pid: None, channels_before: None, constants }
    }
}

/// The only expression of an action that creates a process.
fn only_run(action: &Action) -> Option<&Expr> {
    let mut found = Vec::new();
    for e in operands(action).0 {
        each_within(e, |part| {
            if let Expr::Run { .. } = part {
                found.push(part);
            }
        });
    }
    (found.len() == 1).then(|| found[0])
}
