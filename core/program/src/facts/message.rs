//! What sends and receives need and do.

use super::bits::Channels;
use super::cells::element;
use super::channels::Target;
use super::extract::Context;
use super::guard::vague;
use super::step::{Check, Condition, Relation, Step, Subject, UseKind};
use crate::{ChannelTypeId, Expr, Initial, Pattern, Place, Receive, Send, Slot, Type};

/// No channel at all.
const NOWHERE: Target = Target { channels: Channels::NONE, buffered: false, rendezvous: false, ty: None, exists: true };

impl Context<'_> {
    pub(super) fn send(&self, send: &Send, step: &mut Step, first: bool) {
        let target = self.target(&send.channel);
        self.read(&send.channel, step);
        send.fields.iter().for_each(|e| self.read(e, step));
        step.breaks |= !target.exists || !self.facts.channels.fits(self.program(), &target, send.fields.len());
        step.guard_breaks |= step.breaks;
        if target.rendezvous {
            step.offers = step.offers.with(target.channels);
            step.guard.push(Condition::Partner);
            step.guard.push(vague(&[self.choice(&send.channel, &NOWHERE), self.vague_all(&send.fields)]));
        }
        if !target.buffered {
            return;
        }
        if !first {
            step.breaks = true;
            return step.use_channels(target.channels, UseKind::Churn);
        }
        step.guard.push(if self.is_settled(&send.channel) {
            let check = self.fullness(&target, false);
            Condition::Level { channels: target.channels, on_rise: false, on_fall: true, check }
        } else {
            self.choice(&send.channel, &target)
        });
        let kind = if send.sorted { UseKind::Insert } else { UseKind::Append(self.sent(&target, &send.fields)) };
        step.use_channels(target.channels, kind);
    }

    /// Constants that a message will hold.
    pub(super) fn sent(&self, target: &Target, fields: &[Expr]) -> Vec<Option<i32>> {
        let types = target.ty.and_then(|ty| self.program().channel_types.get(ty.0 as usize));
        let stored = |(k, e): (usize, &Expr)| {
            let ty: Type = *types?.fields.get(k)?;
            Some(ty.truncate(self.constant(e, 0)?))
        };
        fields.iter().enumerate().map(stored).collect()
    }

    pub(super) fn receive(&self, receive: &Receive, step: &mut Step, first: bool) {
        let target = self.target(&receive.channel);
        self.read(&receive.channel, step);
        step.breaks |= !target.exists || !self.facts.channels.fits(self.program(), &target, receive.fields.len());
        step.breaks |= receive.keep && target.rendezvous;
        step.guard_breaks |= step.breaks;
        let matches =
            || receive.fields.iter().filter_map(|field| if let Pattern::Match(e) = field { Some(e) } else { None });
        for field in &receive.fields {
            match field {
                Pattern::Match(e) => {
                    self.read(e, step);
                    step.guard_breaks |= self.may_fault(e);
                }
                Pattern::Store(place) => self.store(place, step),
                Pattern::Ignore => {}
            }
        }
        let choice = |target: &Target| {
            matches().fold(self.choice(&receive.channel, target), |all, e| vague([&all, &self.vague(e)]))
        };
        if target.rendezvous {
            step.accepts = step.accepts.with(target.channels);
            step.guard.extend([Condition::Partner, choice(&NOWHERE)]);
        }
        if !target.buffered {
            step.guard.extend((!target.rendezvous).then_some(Condition::Never));
            return;
        }
        if !first {
            step.breaks = true;
            return step.use_channels(target.channels, UseKind::Churn);
        }
        let any = receive.any;
        let constant = |field: &Pattern| if let Pattern::Match(e) = field { self.constant(e, 0) } else { None };
        let fields: Vec<Option<i32>> = receive.fields.iter().map(constant).collect();
        if self.is_settled(&receive.channel) && matches().all(|e| self.is_settled(e) && !self.may_fault(e)) {
            step.guard.push(self.presence(&target));
            if matches().next().is_some() {
                let fields = fields.clone();
                step.guard.push(Condition::Message { channels: target.channels, any, fields });
            }
        } else {
            step.guard.push(choice(&target));
        }
        let kind = if receive.keep { UseKind::Peek { any, fields } } else { UseKind::Take { any, fields } };
        step.use_channels(target.channels, kind);
    }

    /// That there is a message.
    fn presence(&self, target: &Target) -> Condition {
        let single = target.channels.single().filter(|_| !target.rendezvous);
        let check = |channel| Check { subject: Subject::Length(channel), relation: Relation::GREATER, value: 0 };
        Condition::Level { channels: target.channels, on_rise: true, on_fall: false, check: single.map(check) }
    }

    /// How to look up whether a channel is full, or is not.
    pub(super) fn fullness(&self, target: &Target, full: bool) -> Option<Check> {
        let channel = target.channels.single().filter(|_| !target.rendezvous)?;
        let capacity = self.program().channel_types.get(target.ty?.0 as usize)?.capacity;
        let relation = if full { Relation::EQUAL } else { Relation::NOT_EQUAL };
        Some(Check { subject: Subject::Length(channel), relation, value: i32::try_from(capacity).ok()? })
    }

    /// What is known of the channel that an expression names.
    pub(super) fn target(&self, e: &Expr) -> Target {
        let flow = &self.facts.channels;
        let at = self.process.map(|(process, _)| process.0 as usize);
        if let Some((channel, ty)) = self.own_channel(e) {
            let capacity = self.program().channel_types.get(ty.0 as usize).map_or(0, |ty| ty.capacity);
            let channels = channel.map_or_else(
                || Channels::from(flow.global_count() as u32 + 1),
                |channel| Channels::one(channel as i32),
            );
            return Target { channels, buffered: capacity > 0, rendezvous: capacity == 0, ty: Some(ty), exists: true };
        }
        if let Some(identity) = self.value(e) {
            return flow.target(self.program(), Channels::one(identity), identity > 0);
        }
        let channels = flow.named(self.program(), at, e);
        flow.target(self.program(), channels, self.is_initialised(e))
    }

    /// Whether an expression is a variable that holds a channel from the start.
    pub(super) fn is_initialised(&self, e: &Expr) -> bool {
        let Expr::Load(place) = e else { return false };
        self.variable(place.slot).is_some_and(|variable| matches!(variable.initial, Initial::Channel(_)))
    }

    /// The channel that a process created for itself and keeps, and its type.
    pub(super) fn own_channel(&self, e: &Expr) -> Option<(Option<u32>, ChannelTypeId)> {
        let Expr::Load(Place { slot: Slot::Local(v), indices }) = e else { return None };
        let (process, kind) = self.process?;
        let variable = kind.locals.get(v.0 as usize)?;
        let Initial::Channel(ty) = variable.initial else { return None };
        if self.facts.locals_written[process.0 as usize][v.0 as usize] {
            return None;
        }
        let mut before = 0;
        for (index, local) in kind.locals.iter().enumerate().take(v.0 as usize) {
            let is_parameter = index < kind.parameter_count as usize;
            if matches!(local.initial, Initial::Channel(_)) && !is_parameter {
                before += local.element_count();
            }
        }
        let indices: Option<Vec<i32>> = indices.iter().map(|e| self.constant(e, 0)).collect();
        let element = indices.and_then(|indices| element(variable, &indices));
        let older = self.key.and_then(|key| key.channels_before);
        Some((element.zip(older).map(|(element, older)| older + before + element + 1), ty))
    }
}
