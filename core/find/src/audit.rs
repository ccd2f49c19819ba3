//! *Impossible* is audited: the reference interpreter lists the steps of states drawn from the visited set again.
//!
//! ```text
//! for each state (memory, s) that is drawn:
//!   the machine and the reference interpreter list the same steps of s, to the same states
//!   for each of them, the monitor, fed with what the reference interpreter says of the state there, goes on from memory to memory':
//!     the pattern is false there, and (memory', state there) is in the visited set
//! ```

use crate::product::Product;
use fabius_analysis::as_state;
use fabius_base::Cancel;
use fabius_program::{Move, Program, Watch};
use fabius_search::store::Inserted;
use fabius_search::store::VisitedSet;
use fabius_search::{Model, Next, SearchOutcome, TreeStore};
use fabius_task::settings::Audit;
use fabius_witness::{Ending, Outcome, State, moves, released};
use std::sync::Arc;

/// At most this many states are drawn, …
const STATES_MAX: u64 = 400;
/// … and no more once the reference interpreter has listed one step for this many of the search, …
const TRANSITIONS_PER_LISTED: u64 = 250;
/// … but after a short search, up to this many steps are listed.
const LISTED_MIN: u64 = 600;
/// States are drawn in an order that starts from this.
const SEED: u64 = 0;

/// Audits a search that found nothing: how many states were audited; nothing if there was no audit.
///
/// # Errors
/// What is wrong.
pub fn audit<V>(
    product: &mut Product,
    store: &mut TreeStore<()>,
    outcome: &SearchOutcome<V>,
    asked: Audit,
    cancel: &Cancel,
) -> Result<Option<u64>, String> {
    if asked == Audit::Off || product.reads_hidden() {
        return Ok(None);
    }
    let (states_max, listed_max) = match asked {
        Audit::Full => (u64::MAX, u64::MAX),
        _ => (STATES_MAX, LISTED_MIN.max(outcome.statistics.transitions() / TRANSITIONS_PER_LISTED)),
    };
    let (mut words, mut audited, mut listed) = (Vec::new(), 0, 0);
    for drawn in store.draw(states_max, SEED) {
        if listed_max <= listed || cancel.requested().is_some() {
            break;
        }
        store.words_of(drawn, &mut words);
        listed += state(product, store, &words)?;
        audited += 1;
    }
    Ok(Some(audited))
}

/// Audits a state; how many steps were listed.
fn state(product: &mut Product, store: &mut TreeStore<()>, visible: &[u32]) -> Result<u64, String> {
    let program = Arc::clone(product.machine.shared_program());
    let (width, hidden) = (product.width, product.machine.machine().hidden_words());
    let mut words = visible.to_vec();
    words.resize(visible.len() + hidden, 0);
    let here = read(product, &program, &words[width..])?;
    let expected = by_referee(&program, &here);
    let mut cursor = product.begin(&words);
    let (mut successor, mut at) = (Vec::new(), 0);
    loop {
        match product.next(&words, &mut cursor, &mut successor) {
            Next::Successor { label, fault, .. } => {
                let (wanted, to) =
                    expected.get(at).ok_or("the machine lists a step that the reference interpreter does not")?;
                if *wanted != label || *to != read(product, &program, &successor[width..])? {
                    return Err("the machine and the reference interpreter differ in a step".to_owned());
                }
                let (memory, is_true) = product.referee(&words[..width], label, &program, to);
                if fault.is_some() || is_true {
                    return Err(
                        "a state was found in which the pattern is true, and the search did not report it".to_owned()
                    );
                }
                let found = [&memory, &successor[width..successor.len() - hidden]].concat();
                if store.insert_words(&found) == Inserted::New {
                    return Err("a reachable state is not in the visited set".to_owned());
                }
                at += 1;
            }
            Next::Broken { .. } => {}
            Next::Done(_) => break,
        }
    }
    if at == expected.len() {
        Ok(at as u64)
    } else {
        Err("the reference interpreter lists a step that the machine does not".to_owned())
    }
}

/// The steps of a state that lead somewhere.
fn by_referee(program: &Program, state: &State) -> Vec<(Option<Move>, State)> {
    let possible = moves(program, state);
    if possible.ending == Ending::LosesControl {
        return vec![(None, comparable(program, released(state)))];
    }
    let reached = possible.successors.into_iter().filter_map(|(label, outcome)| match outcome {
        Outcome::Reaches { state, .. } => Some((Some(label), comparable(program, state))),
        _ => None,
    });
    reached.collect()
}

fn read(product: &Product, program: &Program, words: &[u32]) -> Result<State, String> {
    let view = product.machine.machine().view(words).ok_or("the visited set holds words that are no state")?;
    Ok(comparable(program, as_state(program, Watch::NOTHING, &view)))
}

/// The state without what the machine forgets.
fn comparable(program: &Program, state: State) -> State {
    let mut state = state.into_visible(program);
    if !program.uses.priority {
        let others = state.processes.iter_mut().filter(|process| process.priority != 1);
        others.for_each(|process| process.priority = 1);
    }
    state
}
