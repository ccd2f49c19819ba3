//! What can surely be executed where only some values are known.

use super::cells::element;
use super::extract::Context;
use super::value::fold;
use crate::{Action, BinaryOp, ChannelTest, Expr, Pattern, Place, Receive, Send, Slot, UnaryOp};

/// Values that are known in a state: the state is one of many.
pub(super) trait Known {
    /// The value of a cell that stands for one element of a global variable.
    fn cell(&self, cell: u32) -> Option<i32>;
    /// The number of messages in the channel with this identity.
    fn level(&self, channel: usize) -> Option<i32>;
    /// Whether some process other than the one that asks surely receives a message on a rendezvous channel, of which these
    /// fields are known.
    fn receives(&self, channel: usize, fields: &[Option<i32>]) -> bool;
}

impl Context<'_> {
    /// The value of an expression, if it follows from what is known. `timeout` is what the variable of that name says.
    pub(super) fn known_value(&self, e: &Expr, timeout: bool, known: &dyn Known) -> Option<i32> {
        if let Some(value) = self.constant(e, 0) {
            return Some(value);
        }
        let value = |e: &Expr| self.known_value(e, timeout, known);
        match e {
            Expr::Load(place) => {
                let indices: Option<Vec<i32>> = place.indices.iter().map(value).collect();
                known.cell(self.cell_at(place, &indices?)?)
            }
            Expr::Unary(op, a) => {
                let a = value(a)?;
                Some(match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Negate => a.wrapping_neg(),
                    UnaryOp::Complement => !a,
                })
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let decides = i32::from(*op == BinaryOp::Or);
                let truth = |e: &Expr| value(e).map(|value| i32::from(value != 0));
                match (truth(a), truth(b)) {
                    (Some(a), _) if a == decides => Some(decides),
                    // What cannot be computed is a step as well, so that it does not matter which operand comes first.
                    (_, Some(b)) if b == decides => Some(decides),
                    (Some(_), Some(_)) => Some(1 - decides),
                    _ => None,
                }
            }
            Expr::Binary(op, a, b) => fold(*op, value(a)?, value(b)?),
            Expr::Conditional(a, b, c) => value(if value(a)? != 0 { b } else { c }),
            Expr::Length(channel) => known.level(self.buffered(channel)?),
            Expr::Test(test, channel) => {
                let level = known.level(self.buffered(channel)?)?;
                let full = || self.capacity(channel).map(|capacity| i32::from(level == capacity));
                match test {
                    ChannelTest::Full => full(),
                    ChannelTest::NotFull => full().map(|full| 1 - full),
                    ChannelTest::Empty => Some(i32::from(level == 0)),
                    ChannelTest::NotEmpty => Some(i32::from(level != 0)),
                }
            }
            Expr::Timeout => Some(i32::from(timeout)),
            _ => None,
        }
    }

    /// The cell that stands for one element of a global.
    fn cell_at(&self, place: &Place, indices: &[i32]) -> Option<u32> {
        let Slot::Global(_) = place.slot else { return None };
        let variable = self.variable(place.slot)?;
        let element = element(variable, indices)?;
        let (cells, alone) = self.facts.cells.of_slot(None, place.slot, Some(element), variable.element_count());
        alone.then_some(cells.start)
    }

    /// Whether nobody changes the value of an expression.
    fn is_certain(&self, e: &Expr) -> bool {
        self.constant(e, 0).is_some() || self.is_settled(e)
    }

    /// The channel that an expression surely names, if it holds messages.
    pub(super) fn buffered(&self, channel: &Expr) -> Option<usize> {
        let target = self.target(channel);
        target.channels.single().filter(|_| target.exists && !target.rendezvous && self.is_certain(channel))
    }

    /// The channel that an expression surely names, if it is a rendezvous.
    fn rendezvous(&self, channel: &Expr) -> Option<usize> {
        let target = self.target(channel);
        let global = |channel: &usize| *channel <= self.facts.global_channels();
        let single = target.channels.single().filter(global);
        single.filter(|_| target.exists && !target.buffered && self.is_certain(channel))
    }

    /// How many messages there is room for.
    pub(super) fn capacity(&self, channel: &Expr) -> Option<i32> {
        let ty = self.program().channel_types.get(self.target(channel).ty?.0 as usize)?;
        i32::try_from(ty.capacity).ok()
    }

    /// Whether an action can surely be executed, by itself or, for a receive, not at all by itself.
    pub(super) fn is_sure(&self, action: &Action, timeout: bool, known: &dyn Known) -> bool {
        match action {
            Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Print(_) | Action::SetPriority(..) => true,
            // If it cannot be executed, an alternative before it can.
            Action::Else => true,
            Action::Guard(Expr::Run { .. }) => self.facts.fits,
            Action::Guard(e) => self.known_value(e, timeout, known).is_some_and(|value| value != 0),
            Action::Send(send) => self.is_sure_send(send, known),
            Action::Receive(receive) => self.is_sure_receive(receive, known),
            Action::Merged(actions) => actions.first().is_some_and(|first| self.is_sure(first, timeout, known)),
            Action::Block(block) => block.nodes.first().is_some_and(|node| {
                let sure = |action: &Action| !matches!(action, Action::Else) && self.is_sure(action, timeout, known);
                node.options.iter().any(|option| sure(&option.action))
            }),
            Action::End => false,
        }
    }

    fn is_sure_send(&self, send: &Send, known: &dyn Known) -> bool {
        if let Some(channel) = self.rendezvous(&send.channel) {
            let target = self.target(&send.channel);
            return known.receives(channel, &self.sent(&target, &send.fields));
        }
        let level = self.buffered(&send.channel).and_then(|channel| known.level(channel));
        level.zip(self.capacity(&send.channel)).is_some_and(|(level, capacity)| level < capacity)
    }

    fn is_sure_receive(&self, receive: &Receive, known: &dyn Known) -> bool {
        let level = self.buffered(&receive.channel).and_then(|channel| known.level(channel));
        level.is_some_and(|level| level > 0) && receive.fields.iter().all(|field| !matches!(field, Pattern::Match(_)))
    }

    /// Whether an action surely receives a message on a rendezvous channel.
    pub(super) fn surely_receives(&self, action: &Action, channel: usize, fields: &[Option<i32>]) -> bool {
        let Action::Receive(receive) = action else { return false };
        let fits = |(field, sent): (&Pattern, &Option<i32>)| match field {
            Pattern::Store(_) | Pattern::Ignore => true,
            Pattern::Match(e) => self.constant(e, 0).is_some_and(|wanted| Some(wanted) == *sent),
        };
        !receive.keep
            && receive.fields.len() == fields.len()
            && self.rendezvous(&receive.channel) == Some(channel)
            && receive.fields.iter().zip(fields).all(fits)
    }

    /// Whether an action can be executed in every state.
    pub(super) fn is_always_possible(&self, action: &Action) -> bool {
        self.is_sure(action, false, &Nothing)
    }
}

/// Nothing is known.
struct Nothing;

impl Known for Nothing {
    fn cell(&self, _: u32) -> Option<i32> {
        None
    }
    fn level(&self, _: usize) -> Option<i32> {
        None
    }
    fn receives(&self, _: usize, _: &[Option<i32>]) -> bool {
        false
    }
}
