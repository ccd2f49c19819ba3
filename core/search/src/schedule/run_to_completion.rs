//! Run-to-completion: what a step causes happens next.

use super::order::Processes;
use super::{Alike, Order, Ranking, Scheduler, Situation, Step};
use crate::model::ProcessSet;
use std::cmp::Reverse;

/// A stack of the processes that can move. Whom a step sets going goes on top: the effect follows its cause.
/// A process that is held back goes to the bottom.
///
/// *Set going* means: after the macro step the process can move, and before it could not (a message came, or room in a
/// channel, or a variable changed, or the process was created), or it was the receiver of a
/// rendezvous. A process that could move anyhow keeps its place, even if a message was sent to it: channels
/// and variables belong to everybody, and only what lets a process move is sure to be meant for it. Of several
/// processes set going at once, the one with the smallest rank is on top, and of equals the youngest.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunToCompletion<R = Alike>(pub R);

impl<Label, R: Ranking> Scheduler<Label> for RunToCompletion<R> {
    type State = Order;

    /// The smallest rank is on top; of equals the oldest process: it is the one that starts the others.
    fn start(&self, situation: Situation<'_>) -> Order {
        Order::by_rank(&self.0, situation.state, situation.enabled.iter())
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        let mut blocked = *step.before.enabled;
        blocked.subtract(step.after.enabled);
        blocked.iter().for_each(|process| state.remove(process));
        let mut set_going = Processes::from_iter(set_going(step).iter());
        // The last one comes on top.
        set_going.sort_by_key(|&process| (Reverse(self.0.rank(step.after.state, process)), process));
        set_going.into_iter().for_each(|process| state.put_first(process));
    }
}

/// The processes that a macro step set going: those that can move now and could not before, and those that took part in a
/// rendezvous and can go on.
fn set_going<Label>(step: &Step<'_, Label>) -> ProcessSet {
    let mut set_going = *step.after.enabled;
    set_going.subtract(step.before.enabled);
    let mut partners = *step.partners;
    partners.retain(step.after.enabled);
    set_going.extend(&partners);
    set_going
}
