//! What a step touches in the state in which it is taken: the element that an index names there, the channel that an
//! expression names there.
//!
//! That is the same in another state unless something wrote what the step reads, and the indices are among what it reads. So
//! where two steps that were taken one after the other do not meet, they touch the same in the other order.

use super::bits::Bits;
use super::extract::{Context, Instance};
use super::guard::vague;
use super::step::{Condition, Step, UseKind};
use super::walk::{each_within, operands, parts};
use super::{Facts, Traffic};
use crate::{Action, EdgeId, Expr, Location, LocationId, Pattern, Place, Slot};

/// A state, seen by a process.
#[derive(Clone, Copy)]
pub struct Now<'s> {
    /// The number of the process.
    pub pid: u8,
    /// The value of an element of a variable, if it is stored.
    pub load: &'s dyn Fn(Slot, u32) -> Option<i32>,
}

impl Facts {
    /// What an edge needs and does where it is taken.
    pub fn recorded(&self, of: &Instance, edge: EdgeId, now: Now<'_>) -> Step {
        let process = &self.program.processes[of.key.process.0 as usize];
        let source = self.program.edges[edge.0 as usize].source;
        let location = &process.locations[source.0 as usize];
        let middle = self.shapes[of.key.process.0 as usize].middle[source.0 as usize];
        let context = Context { now: Some(now), ..self.context(&of.key) };
        context.location(location, middle).swap_remove((edge.0 - location.edges.start) as usize)
    }

    /// What an atomic sequence looks at that breaks off at a location, as none of the edges there can be taken; `None` if
    /// it may take part in a rendezvous there.
    pub fn broken_off(&self, of: &Instance, location: LocationId, now: Now<'_>) -> Option<Step> {
        let process = &self.program.processes[of.key.process.0 as usize];
        let context = Context { now: Some(now), ..self.context(&of.key) };
        let mut all = Step::default();
        for step in context.location(&process.locations[location.0 as usize], true) {
            if !step.is_alone() {
                return None;
            }
            all.reads.extend(&step.reads);
            if let Condition::Vague(cells, channels) = vague(&step.guard) {
                all.reads.extend(&cells);
                all.use_channels(channels, UseKind::Look);
            }
        }
        Some(all)
    }

    /// Whether what an edge touches may differ from state to state.
    pub fn varies(&self, of: &Instance, edge: EdgeId) -> bool {
        let process = &self.program.processes[of.key.process.0 as usize];
        let location = &process.locations[self.program.edges[edge.0 as usize].source.0 as usize];
        let context = self.context(&of.key);
        // Whether an edge can be taken may depend on the others of its location.
        location.edges.clone().any(|edge| {
            let statement = self.program.edges[edge as usize].statement;
            parts(&process.statements[statement.0 as usize].action).into_iter().any(|action| context.varies(action))
        })
    }

    /// Whether what some edge touches may differ from state to state.
    pub fn some_vary(&self) -> bool {
        let edges = |location: &Location| location.edges.clone();
        self.unknown.iter().any(|of| {
            let process = &self.program.processes[of.key.process.0 as usize];
            process.locations.iter().flat_map(edges).any(|edge| self.varies(of, EdgeId(edge)))
        })
    }

    /// Whether one of two steps may change what the other needs or does, but for messages that [`Facts::traffic_of`] tells of.
    pub fn steps_meet(&self, one: &Step, other: &Step) -> bool {
        one.meets(other, self.channels_stay())
    }

    /// As [`Facts::traffic`], of a step.
    pub fn traffic_of(&self, step: &Step) -> Option<(u32, u32, Traffic)> {
        let (channel, traffic) = step.traffic(self.channels_stay())?;
        Some((channel as u32, self.channels.capacity(&self.program, channel)?, traffic))
    }
}

impl Context<'_> {
    /// Whether an action may touch another element, or another channel, in another state.
    fn varies(&self, action: &Action) -> bool {
        let of_place = |place: &Place| {
            let cells = self.cells_of(place).0;
            cells.len() > 1 && self.element_of(place).is_none()
        };
        let names = |channel: &Expr| self.target(channel).channels.single().is_none();
        let mut varies = match action {
            Action::Send(send) => names(&send.channel),
            Action::Receive(receive) => names(&receive.channel),
            _ => false,
        };
        let (values, places) = operands(action);
        let indices = places.iter().flat_map(|place| &place.indices);
        for e in values.into_iter().chain(indices) {
            each_within(e, |part| {
                varies |= match part {
                    Expr::Load(place) => of_place(place),
                    Expr::Length(channel) | Expr::Test(_, channel) | Expr::Poll { channel, .. } => names(channel),
                    _ => false,
                };
            });
        }
        varies || places.into_iter().any(of_place)
    }

    /// Where an action is evaluated: not in the state itself if a part of it changes what others look at.
    pub(super) fn of_action(&self, action: &Action) -> Option<Self> {
        let stores_at_once = match action {
            Action::Merged(_) | Action::Block(_) => false,
            Action::Receive(receive) => {
                let stores = receive.fields.iter().filter(|field| matches!(field, Pattern::Store(_)));
                stores.count() < 2
            }
            _ => true,
        };
        let known = || Self { constants: self.constants.clone(), now: None, ..*self };
        (self.now.is_some() && !stores_at_once).then(known)
    }

    /// Adds what the guard of an edge looks at to find the element or the channel that it is about.
    pub(super) fn find(&self, guard: &Expr, step: &mut Step) {
        if self.now.is_some() {
            self.read(guard, step);
        }
    }

    /// The same for the guards of the other edges of a location, if whether an edge can be taken depends on them.
    pub(super) fn find_for(&self, reads: &Bits, step: &mut Step) {
        if self.now.is_some() {
            step.reads.extend(reads);
        }
    }
}
