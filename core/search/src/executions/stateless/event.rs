//! Events of a run, and when one depends on another.

use super::Dependence;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// What is sent through a buffered channel whose messages come out in the order in which they were sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The channel's number.
    pub channel: u32,
    /// How many messages it has room for.
    pub capacity: u32,
    /// How many messages are in it before the step.
    pub level: u32,
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
    /// A message that the step begins with. Of two that are sent and received only those depend on each other of which
    /// one is received as it was sent, or is sent to where one was received. A step that uses the channel in any other
    /// way depends on both: the model says so.
    pub message: Option<Message>,
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
    /// A hash of these.
    hash: u64,
    /// A label is faulty.
    pub fails: bool,
    pub footprint: Footprint<M::Touched>,
    numbered: Option<Numbered>,
}

impl<M: Dependence> Event<M> {
    pub(super) fn new(path: Vec<M::Label>, fails: bool, footprint: Footprint<M::Touched>, received: &Received) -> Self {
        let numbered = footprint.message.map(|message| received.number(message));
        let mut hasher = FxHasher::default();
        path.hash(&mut hasher);
        Self { path, hash: hasher.finish(), fails, footprint, numbered }
    }

    /// Whether it is the same step as another one.
    #[inline]
    pub(super) fn is(&self, other: &Self) -> bool {
        self.hash == other.hash && self.path == other.path
    }
}

/// An event, told from others by where it is kept.
pub(super) struct ByAddress<M: Dependence>(pub Rc<Event<M>>);

impl<M: Dependence> PartialEq for ByAddress<M> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<M: Dependence> Eq for ByAddress<M> {}

impl<M: Dependence> Hash for ByAddress<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_usize(Rc::as_ptr(&self.0).addr());
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
    a.numbered.iter().zip(&b.numbered).any(|(mine, theirs)| meet(mine, theirs))
        || model.depend(&a.footprint.touched, &b.footprint.touched)
}

/// How many steps began with receiving a message from each channel.
///
/// What else is done to a channel is not counted: that depends on every message, so that only those sent and received since
/// then can be each other's, and of these the numbers agree.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Received(Vec<u64>);

impl Received {
    /// Counts the message of a step.
    pub(super) fn add(&mut self, message: Option<Message>) {
        let Some(Message { channel, traffic: Traffic::Receive, .. }) = message else { return };
        let channel = channel as usize;
        self.0.resize(self.0.len().max(channel + 1), 0);
        self.0[channel] += 1;
    }

    fn number(&self, message: Message) -> Numbered {
        let received = self.0.get(message.channel as usize).copied().unwrap_or(0);
        let number = match message.traffic {
            Traffic::Send => received + u64::from(message.level),
            Traffic::Receive | Traffic::Peek => received,
        };
        Numbered { message, number }
    }
}
