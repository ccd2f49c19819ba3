//! Events of a run, and when one depends on another.

use super::Dependence;
use std::rc::Rc;

/// What is sent through a buffered channel whose messages come out in the order in which they were sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The channel's number.
    pub channel: u32,
    /// How many messages it has room for.
    pub capacity: u32,
    /// What happens to the message.
    pub traffic: Traffic,
}

/// What happens to a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traffic {
    /// It is put behind all others.
    Send,
    /// It is taken from the front.
    Receive,
    /// It is looked at in front.
    Peek,
}

/// What a step touches.
#[derive(Clone, Debug)]
pub struct Footprint<T> {
    /// What the model compares.
    pub touched: T,
    /// Messages of channels, in their order. Of two that are sent and received only those depend on each other of which
    /// one is received as it was sent, or is sent to where one was received.
    pub messages: Vec<Message>,
    /// It may make a step of another process possible.
    pub may_enable: bool,
    /// It may make another step impossible, or a process that takes part has alternatives.
    pub may_disable: bool,
}

/// A message with its number among those sent, or received, on its channel.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    message: Message,
    number: u64,
}

/// A step of a run.
pub(super) struct Event<M: Dependence> {
    /// Its labels: they name it among the steps of a state.
    pub path: Vec<M::Label>,
    /// A label is faulty.
    pub fails: bool,
    /// It cannot be computed.
    pub broken: bool,
    pub footprint: Footprint<M::Touched>,
    numbered: Vec<Numbered>,
}

impl<M: Dependence> Event<M> {
    pub(super) fn new(
        path: Vec<M::Label>,
        (fails, broken): (bool, bool),
        footprint: Footprint<M::Touched>,
        counts: &Counts,
    ) -> Self {
        let numbered = counts.number(&footprint.messages);
        Self { path, fails, broken, footprint, numbered }
    }

    /// The same step where other messages went before.
    pub(super) fn moved(self: &Rc<Self>, counts: &Counts) -> Rc<Self> {
        if self.numbered.is_empty() {
            return Rc::clone(self);
        }
        let (path, footprint) = (self.path.clone(), self.footprint.clone());
        Rc::new(Self::new(path, (self.fails, self.broken), footprint, counts))
    }
}

/// Whether two events depend on each other.
pub(super) fn depend<M: Dependence>(model: &mut M, a: &Event<M>, b: &Event<M>) -> bool {
    let meet = |a: &Numbered, b: &Numbered| {
        let follows = |sent: &Numbered, received: &Numbered| match received.message.traffic {
            Traffic::Receive => {
                sent.number == received.number || sent.number == received.number + u64::from(sent.message.capacity)
            }
            Traffic::Peek => sent.number == received.number,
            Traffic::Send => false,
        };
        let sends = |message: &Numbered| message.message.traffic == Traffic::Send;
        a.message.channel == b.message.channel && (sends(a) && follows(a, b) || sends(b) && follows(b, a))
    };
    a.numbered.iter().any(|mine| b.numbered.iter().any(|theirs| meet(mine, theirs)))
        || model.depend(&a.footprint.touched, &b.footprint.touched)
}

/// How many messages were sent and received on each channel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Counts(Vec<[u64; 2]>);

impl Counts {
    /// Counts the messages of a step.
    pub(super) fn add(&mut self, messages: &[Message]) {
        for message in messages {
            let channel = message.channel as usize;
            if self.0.len() <= channel {
                self.0.resize(channel + 1, [0; 2]);
            }
            match message.traffic {
                Traffic::Send => self.0[channel][0] += 1,
                Traffic::Receive => self.0[channel][1] += 1,
                Traffic::Peek => {}
            }
        }
    }

    fn number(&self, messages: &[Message]) -> Vec<Numbered> {
        if messages.is_empty() {
            return Vec::new();
        }
        let mut counts = self.clone();
        let number = |message: &Message| {
            let before = counts.0.get(message.channel as usize).copied().unwrap_or_default();
            counts.add(&[*message]);
            Numbered { message: *message, number: before[usize::from(message.traffic != Traffic::Send)] }
        };
        messages.iter().map(number).collect()
    }
}
