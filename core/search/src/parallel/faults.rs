//! Search for acceptance cycles where no transition is accepting: only faults are left to be found.
//!
//! So it is with an invariant: the claim for it accepts no cycle, but comes to its end where the invariant does not hold. Then no
//! state has to be looked at twice, and none in a certain order: it is searched as for violations of safety ([`super::reach`]), where
//! threads share the work.

use super::reach::{Reached, Visited, reach};
use crate::cycle::{CycleOutcome, Found};
use crate::model::{Details, Ending, Listed, Marks, Model, Next};
use crate::observer::{Observer, Settings};
use crate::outcome::{StopAt, Violation, ViolationKind};

/// A model of which only the faults count: no state is an invalid end, as in every search for cycles.
#[derive(Clone, Debug)]
struct OnlyFaults<M>(M);

impl<M: Model> Model for OnlyFaults<M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = M::Cursor;

    fn hidden_words(&self) -> usize {
        self.0.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.0.initial(state)
    }

    fn retrace(&mut self, begins: bool) {
        self.0.retrace(begins);
    }

    #[inline]
    fn is_for_later(&mut self, state: &[u32]) -> bool {
        self.0.is_for_later(state)
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> M::Cursor {
        self.0.begin(state)
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut M::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        match self.0.next(state, cursor, successor) {
            Next::Done(_) => Next::Done(Ending::Moves),
            found => found,
        }
    }

    #[inline]
    fn list(
        &mut self,
        state: &[u32],
        cursor: &mut M::Cursor,
        successor: &mut Vec<u32>,
        details: &mut Details<M::Label, M::Fault>,
    ) -> Listed {
        match self.0.list(state, cursor, successor, details) {
            Listed::Done(_) => Listed::Done(Ending::Moves),
            found => {
                debug_assert!(
                    !matches!(found, Listed::Successor { marks, .. } if marks.has(Marks::ACCEPTING)),
                    "no transition is accepting"
                );
                found
            }
        }
    }
}

/// Searches all states for a fault. No transition may be marked [`Marks::ACCEPTING`]. The caller's thread searches alone until it has
/// listed `alone` transitions, if any; what is left then is searched by `threads` threads. Beside the outcome, the states visited, and the
/// models that threads searched, if any.
pub fn faults<M, O>(
    model: &M,
    (threads, alone): (usize, u64),
    observer: &mut O,
    settings: &Settings,
    seed: u64,
) -> (CycleOutcome<M::Label, M::Fault>, Visited, Vec<M>)
where
    M: Model<Label: Send, Fault: Send, Cursor: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let settings = &Settings { stop_at: StopAt::First, ..settings.clone() };
    let mut alone_in = OnlyFaults(model.clone());
    let Reached { outcome, visited, models } = reach(&mut alone_in, (threads, alone), observer, settings, seed);
    let models = models.into_iter().chain([alone_in]).map(|model| model.0).collect();
    (outcome.map(as_found), visited, models)
}

/// A violation as what a search for cycles finds.
fn as_found<L, F>(violation: Violation<L, F>) -> Option<Found<L, F>> {
    match violation.kind {
        ViolationKind::Fault(fault) => Some(Found::Fault { path: violation.path, fault }),
        // No state is an invalid end.
        ViolationKind::InvalidEnd => None,
    }
}
