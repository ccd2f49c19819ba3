//! What steps touch, whether the order of two that touch the same matters or not: what races are about.
//!
//! [`Step::accords`] is about steps that are possible in the same state, and takes two writes of the same value for
//! independent. Searches that reverse races need more: a relation such that what must come before what in a run is a partial
//! order. So two steps *meet* here if one writes what the other reads or writes, or may make the other possible or impossible.

use super::bits::Channels;
use super::conflicts_next::Conflicts;
use super::extract::Instance;
use super::step::{Condition, Step, UseKind};
use super::walk::{any_within, operands, parts};
use super::{EdgeId, Facts};
use crate::{Expr, ProcessId};

/// What happens to a message of a buffered channel whose messages are received in the order in which they were sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traffic {
    /// It is put behind all others.
    Send,
    /// It is taken from the front.
    Receive,
    /// It is looked at in front.
    Peek,
}

/// What a step may change for others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Influence {
    /// It may make a step of another process possible.
    pub enables: bool,
    /// It may make a step of another process impossible.
    pub disables: bool,
}

impl Facts {
    /// Which next events of two processes meet, but for those of which [`Facts::traffic`] tells more.
    pub fn footprints_meet(&self, of: &Instance, other: &Instance) -> Conflicts {
        let is_old = self.channels_stay();
        self.conflicts_by(of, other, &|mine, theirs| mine.meets(theirs, is_old))
    }

    /// The channel and the capacity, if the only thing that a step has to do with channels is a message of one that is
    /// buffered and first in, first out; and what happens to the message. Two such steps, one of which sends, meet only
    /// where the one receives what the other sends, or receives what there was no room for before.
    pub fn traffic(&self, of: &Instance, edge: EdgeId) -> Option<(u32, u32, Traffic)> {
        let (channel, traffic) = of.steps[self.index_of(edge)].traffic(self.channels_stay())?;
        Some((channel as u32, self.channels.capacity(self.program(), channel)?, traffic))
    }

    /// Whether a step may be possible only because no other one is.
    pub fn asks_for_timeout(&self) -> bool {
        let asks = |e: &Expr| any_within(e, |part| matches!(part, Expr::Timeout));
        let statements = self.program().processes.iter().flat_map(|process| &process.statements);
        statements.flat_map(|statement| parts(&statement.action)).any(|action| {
            let (values, places) = operands(action);
            values.into_iter().chain(places.into_iter().flat_map(|place| &place.indices)).any(asks)
        })
    }

    /// Channels whose identities belong to the same channel for ever.
    pub(super) fn channels_stay(&self) -> usize {
        self.global_channels()
    }

    /// What the event that an edge starts may change for others.
    pub fn influence(&self, process: ProcessId, edge: usize, starts: bool) -> Influence {
        let of = &self.unknown[process.0 as usize];
        let meetings = self.meetings(of, edge, starts);
        let meets = [meetings.absence, meetings.readiness, meetings.later_offers].iter().any(|all| !all.is_empty());
        let all = || self.unknown.iter().flat_map(|instance| &instance.steps).flat_map(|step| &step.guard);
        let mut influence = Influence { enables: meets, disables: meets };
        let alone = std::iter::once(edge);
        let run = self.run(process, edge).iter().filter(|_| starts);
        for step in alone.chain(run).map(|edge| &of.steps[edge]) {
            let wide = step.ends || !step.is_alone();
            influence.enables |= wide || !step.spawns.is_empty() || all().any(|part| step.may_enable(part));
            influence.disables |= wide || all().any(|part| step.may_disable(part));
            let leads = self.leads_sequences(step);
            influence = Influence { enables: influence.enables || leads, disables: influence.disables || leads };
        }
        influence
    }

    /// Whether a step may change in which way an atomic sequence goes on: what it computes decides which of its later guards
    /// hold.
    fn leads_sequences(&self, step: &Step) -> bool {
        let is_old = self.channels_stay();
        self.unknown.iter().any(|of| {
            let mut runs = (0..of.steps.len()).map(|edge| self.run(of.key.process, edge));
            runs.any(|run| run.iter().count() > 1 && run.iter().any(|edge| step.meets(&of.steps[edge], is_old)))
        })
    }
}

impl Step {
    /// Whether one may change what the other needs or does. Channels up to `oldest` are never given up.
    pub(super) fn meets(&self, other: &Self, oldest: usize) -> bool {
        let ordered = match (self.traffic(oldest), other.traffic(oldest)) {
            (Some((a, mine)), Some((b, theirs))) => a == b && (mine == Traffic::Send) != (theirs == Traffic::Send),
            _ => false,
        };
        let changes = |by: &Self, of: &Self| {
            let parts = of.guard.iter().filter(|part| !(ordered && matches!(part, Condition::Level { .. })));
            parts.into_iter().any(|part| by.may_enable(part) || by.may_disable(part))
        };
        let looks = |kind: &UseKind| matches!(kind, UseKind::Look | UseKind::Peek { .. });
        let uses_meet = || {
            let pairs = self.uses.iter().flat_map(|mine| other.uses.iter().map(move |theirs| (mine, theirs)));
            pairs.into_iter().any(|(mine, theirs)| {
                mine.channels.meets(theirs.channels) && !(looks(&mine.kind) && looks(&theirs.kind))
            })
        };
        self.written.meets(&other.reads)
            || other.written.meets(&self.reads)
            || self.written.meets(&other.written)
            || !ordered && uses_meet()
            || changes(self, other)
            || changes(other, self)
    }

    /// The only channel that it has to do with, if that is at most `oldest`, and what happens to its message.
    pub(super) fn traffic(&self, oldest: usize) -> Option<(usize, Traffic)> {
        let [used] = self.uses.as_slice() else { return None };
        let traffic = match used.kind {
            UseKind::Append(_) => Traffic::Send,
            UseKind::Take { any: false, .. } => Traffic::Receive,
            UseKind::Peek { any: false, .. } => Traffic::Peek,
            _ => return None,
        };
        let channel = used.channels.single().filter(|channel| *channel <= oldest)?;
        let other = |part: &Condition| match part {
            Condition::Vague(_, channels) => channels.meets(used.channels),
            Condition::Message { any, .. } => *any,
            _ => false,
        };
        let levels = self.guard.iter().filter(
            |part| matches!(part, Condition::Level { channels, .. } if channels.meets(Channels::one(channel as i32))),
        );
        (levels.count() == 1 && !self.guard.iter().any(other)).then_some((channel, traffic))
    }
}
