//! What the propositions of a formula are along a run: true or false, in the loop or in the last state, and since when.

use fabius_program::{CLAIM_PID, Expr, ProcessId, Program, Watch};

use crate::evaluate::value_of;
use crate::interpret::{Outcome, step};
use crate::show::Writer;
use crate::state::State;
use crate::trace::Trace;

/// The propositions of longer runs are not worked out.
const STEPS_MAX: usize = 5_000;
/// This many propositions are told, …
const PROPOSITIONS_MAX: usize = 8;
/// … and this many changes of each.
const CHANGES_MAX: usize = 4;

/// A proposition along a run.
struct Proposition {
    text: String,
    /// Whether it is true after this many steps of the system; `None` where it has no value.
    along: Vec<Option<bool>>,
}

/// What propositions are in the loop of a run, or in its last state, in sentences.
pub fn propositions(program: &Program, watch: Watch, trace: &Trace, exprs: &[Expr]) -> Vec<String> {
    if STEPS_MAX < trace.steps.len() || exprs.is_empty() || program.processes.is_empty() {
        return Vec::new();
    }
    let found = along(program, watch, trace, &exprs[..exprs.len().min(PROPOSITIONS_MAX)]);
    match trace.cycle_start.filter(|start| *start <= trace.len()) {
        Some(start) => in_loop(&found, start),
        None => in_the_end(&found),
    }
}

fn along(program: &Program, watch: Watch, trace: &Trace, exprs: &[Expr]) -> Vec<Proposition> {
    let writer = Writer::new(program, ProcessId(0));
    let mut found: Vec<Proposition> =
        exprs.iter().map(|expr| Proposition { text: writer.expr(expr), along: Vec::new() }).collect();
    look_along(program, watch, trace, &mut |state, moved| {
        for (proposition, expr) in found.iter_mut().zip(exprs).filter(|_| moved == Mover::System) {
            proposition.along.push(value_of(program, state, expr).ok().map(|value| value != 0));
        }
    });
    found
}

/// Who made the last move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mover {
    /// The system; or nobody moved yet.
    System,
    /// The claim.
    Claim,
}

/// Shows the initial state, and that after each move. Ends early where the run cannot be walked, and shows nothing of a run that is very
/// long.
pub fn look_along(program: &Program, watch: Watch, trace: &Trace, look: &mut dyn FnMut(&State, Mover)) {
    if STEPS_MAX < trace.steps.len() || program.processes.is_empty() {
        return;
    }
    let Ok(mut state) = State::watching(program, watch) else { return };
    look(&state, Mover::System);
    for taken in trace.steps.moves() {
        let Ok(Outcome::Reaches { state: next, .. }) = step(program, &state, *taken).map(|taken| taken.outcome) else {
            return;
        };
        state = next;
        look(&state, if taken.pid == CLAIM_PID { Mover::Claim } else { Mover::System });
    }
}

/// A loop whose first step has this number.
fn in_loop(found: &[Proposition], start: usize) -> Vec<String> {
    let (mut lasting, mut sentences) = (Vec::new(), Vec::new());
    for Proposition { text, along } in found {
        let Some((Some(first), round)) = along.get(start - 1..).and_then(|round| Some((*round.first()?, round))) else {
            continue;
        };
        let changes = (1..round.len()).filter(|&at| round[at] != round[at - 1]);
        let changes: Vec<String> = changes
            .filter_map(|at| Some(format!("{} after step {}", round[at]?, start - 1 + at)))
            .take(CHANGES_MAX)
            .collect();
        if changes.is_empty() {
            lasting.push(format!("`{text}` is {first}"));
        } else {
            sentences.push(format!("In the loop, `{text}` is {}.", changes.join(", ")));
        }
    }
    if !lasting.is_empty() {
        sentences.insert(0, format!("Throughout the loop, {}.", lasting.join(", ")));
    }
    sentences
}

fn in_the_end(found: &[Proposition]) -> Vec<String> {
    let told = found.iter().filter_map(|Proposition { text, along }| {
        let last = (*along.last()?)?;
        let since = (1..along.len()).rev().find(|&at| along[at] != along[at - 1]);
        let since = since.map_or_else(String::new, |step| format!(" (since step {step})"));
        Some(format!("`{text}` is {last}{since}"))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { Vec::new() } else { vec![format!("In the last state, {}.", told.join(", "))] }
}
