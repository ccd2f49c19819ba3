//! A proof is audited: states are drawn from the visited set of a search that found nothing, and the reference interpreter lists
//! their steps again.
//!
//! ```text
//! for each state s that is drawn:
//!   the machine and the reference interpreter list the same steps of s, to the same states, with the same faults and marks
//!   none of these steps is a violation, and s is none
//!   for each step that the search takes (all; with a reduction, those of the processes chosen):
//!     the ordinary states that it leads to, through transient ones, are in the visited set
//! with a reduction: if s has a step, one is chosen, and of each process all steps or none; each chosen step can as well be taken
//!   before one that is left out
//! ```
//!
//! If all states were audited, the visited set would be closed under the steps of the reference interpreter, which shares no code
//! with the machine. Whatever is otherwise is an internal error. What an audit does not look at: whether the order of a search for
//! infinite runs would have shown a cycle, and whether what a reduction leaves out may be left out for longer than one step.

mod order;
mod state;
#[cfg(test)]
mod tests;

use fabius_base::Cancel;
use fabius_model::reduction::Reduced;
use fabius_model::{SearchedMachine, listed};
use fabius_program::facts::each_read;
use fabius_program::{Move, Slot, meaning::Fault};
use fabius_search::store::VisitedSet;
use fabius_search::{Model, Next, SearchOutcome};
use fabius_task::internal_error;
use fabius_task::settings::Audit;
use state::Auditor;
use std::time::Duration;

/// At most this many states are drawn, …
const STATES_MAX: u64 = 400;
/// … and no more once the reference interpreter has listed one transition for this many of the search: about a twentieth of the time,
/// since it takes about so much longer for each; …
const TRANSITIONS_PER_LISTED: u64 = 250;
/// … but after a short search, up to this many transitions are listed.
const LISTED_MIN: u64 = 200;
/// To find out whether the order of steps matters that a reduction chose, one part of that is listed in addition.
const ORDERED_SHARE: u64 = 2;
/// States are drawn in an order that starts from this; the same for every run.
const SEED: u64 = 0;

/// What an audit came to: how many states were audited, or what is wrong; nothing if there was none.
pub type Audited = Option<Result<u64, String>>;

/// A model whose searches can be audited.
pub trait Auditable: Model<Label = Move, Fault = Fault> {
    /// The machine that lists every step.
    fn whole(&mut self) -> &mut SearchedMachine;

    /// The steps that a search of this model takes in a state at least, if these need not be all.
    fn chosen(&mut self, state: &[u32]) -> Option<Vec<Move>>;

    /// Whether it matters to what is chosen when a process has to stop within an atomic sequence.
    fn heeds_stops(&self) -> bool {
        true
    }
}

impl Auditable for SearchedMachine {
    fn whole(&mut self) -> &mut SearchedMachine {
        self
    }

    fn chosen(&mut self, _: &[u32]) -> Option<Vec<Move>> {
        None
    }
}

impl Auditable for Reduced {
    fn whole(&mut self) -> &mut SearchedMachine {
        self.whole()
    }

    fn chosen(&mut self, state: &[u32]) -> Option<Vec<Move>> {
        let (mut cursor, mut successor, mut chosen) = (self.begin(state), Vec::new(), Vec::new());
        loop {
            match self.next(state, &mut cursor, &mut successor) {
                Next::Successor { label, .. } => chosen.extend(label),
                Next::Broken { label, .. } => chosen.push(label),
                Next::Done(_) => return Some(chosen),
            }
        }
    }

    fn heeds_stops(&self) -> bool {
        self.heeds_stops()
    }
}

/// What ends an audit early.
#[derive(Clone, Copy)]
pub struct Stops<'a> {
    /// Somebody asks for its end.
    pub cancel: &'a Cancel,
    /// The time now, by the clock …
    pub now: &'a dyn Fn() -> Duration,
    /// … by which it ends, if it does.
    pub until: Option<Duration>,
}

impl Stops<'_> {
    fn requested(&self) -> bool {
        self.cancel.requested().is_some() || self.until.is_some_and(|until| until <= (self.now)())
    }
}

/// Audits what a search over this store found out, if that is a proof, in as many states as was asked for.
pub fn audit<V>(
    model: &mut impl Auditable,
    store: &mut dyn VisitedSet,
    outcome: &SearchOutcome<V>,
    asked: Audit,
    stops: &Stops<'_>,
) -> Audited {
    if !outcome.proves_absence() || asked == Audit::Off || !can_audit(model.whole()) {
        return None;
    }
    let extent = match asked {
        Audit::Full => Extent { states_max: u64::MAX, listed_max: u64::MAX },
        _ => {
            let listed_max = LISTED_MIN.max(listed(&outcome.statistics) / TRANSITIONS_PER_LISTED);
            Extent { states_max: STATES_MAX, listed_max }
        }
    };
    // The search is over: whoever still sets a boundary asks for another one.
    model.retrace(true);
    let audited = audit_states(model, store, extent, stops);
    model.retrace(false);
    Some(audited.map_err(|what| internal_error(&what)))
}

/// Whether the words of a visited set say all that the steps of a state depend on.
fn can_audit(machine: &SearchedMachine) -> bool {
    let program = machine.shared_program();
    let is_hidden = |id: usize| program.globals.get(id).is_some_and(|variable| variable.hidden);
    let mut reads_hidden = false;
    each_read(program, |slot| reads_hidden |= matches!(slot, Slot::Global(id) if is_hidden(id.0 as usize)));
    machine.is_whole() && !reads_hidden
}

/// How much is audited.
#[derive(Clone, Copy)]
struct Extent {
    /// At most this many states, …
    states_max: u64,
    /// … and none after this many transitions were listed.
    listed_max: u64,
}

/// Audits states; how many there were.
fn audit_states(
    model: &mut impl Auditable,
    store: &mut dyn VisitedSet,
    Extent { states_max, listed_max }: Extent,
    stops: &Stops<'_>,
) -> Result<u64, String> {
    let drawn = store.draw(states_max, SEED);
    let mut auditor = Auditor::new(model.whole(), store, listed_max / ORDERED_SHARE);
    let (mut words, mut audited) = (Vec::new(), 0);
    auditor.initial(model)?;
    for drawn in drawn {
        if listed_max <= auditor.listed || stops.requested() {
            break;
        }
        auditor.store.words_of(drawn, &mut words);
        auditor.state(model, &words)?;
        audited += 1;
    }
    Ok(audited)
}
