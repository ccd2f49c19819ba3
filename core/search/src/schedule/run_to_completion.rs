//! Run-to-completion: what a step causes happens next.

use super::{Order, Scheduler, Situation};

/// A stack of the processes that can move. Whom a step sets going goes on top: the effect follows its cause.
/// A process that is held back goes to the bottom.
///
/// *Set going* means: after the turn the process can move, and before it could not (a message came, or room in a
/// channel, or a variable changed, or the process was created), or it was the receiver of a
/// rendezvous. A process that could move anyhow keeps its place, even if a message was sent to it: channels
/// and variables belong to everybody, and only what lets a process move is sure to be meant for it. Of several
/// processes set going at once, the youngest is on top.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunToCompletion;

impl<Label> Scheduler<Label> for RunToCompletion {
    type State = Order;

    /// The oldest process is on top: it is the one that starts the others.
    fn start(&self, situation: Situation<'_>) -> Order {
        Order::new(situation.enabled.iter())
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn on_enabled(&self, state: &mut Order, process: u8, _: Option<u8>) {
        state.put_first(process);
    }

    fn on_blocked(&self, state: &mut Order, process: u8) {
        state.remove(process);
    }
}
