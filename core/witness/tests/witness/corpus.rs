//! The semantics against Spin: brute-force exploration of real models with the reference interpreter
//! must find as many states as Spin did, and the same kinds of errors.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the test reads models and says what it compared"
)]

use super::support::corpus;

use corpus::{load, manifest};
use fabius_program::Program;
use fabius_program::meaning::Fault;
use fabius_promela::Options;
use fabius_witness::{Ending, Outcome, State, moves, released};
use std::collections::HashSet;

/// This many states a model may have to be explored here.
const STORED_MAX: u64 = 2_000;
/// The same, from the environment, for a longer look.
const STORED_MAX_VARIABLE: &str = "FABIUS_STORED_MAX";

/// What there is to find in a state space.
#[derive(Default, Debug)]
struct Found {
    stored: u64,
    transitions: u64,
    assertion: bool,
    invalid_end: bool,
    other_fault: Option<Fault>,
}

fn explore(program: &Program, stored_max: u64) -> Result<Found, Fault> {
    let mut found = Found::default();
    let initial = State::initial(program)?;
    let mut seen: HashSet<State> = HashSet::from([initial.visible(program)]);
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        found.stored += u64::from(state.holder.is_none());
        if stored_max < found.stored {
            break;
        }
        let next = moves(program, &state);
        let mut reach = |reached: State| {
            if seen.insert(reached.visible(program)) {
                open.push(reached);
            }
        };
        match next.ending {
            Ending::Moves | Ending::Valid | Ending::Stutters => {}
            Ending::LosesControl => reach(released(&state)),
            Ending::Invalid => found.invalid_end = true,
        }
        for (_, outcome) in next.successors {
            found.transitions += 1;
            match outcome {
                Outcome::Reaches { state, assertion_failed, .. } => {
                    found.assertion |= assertion_failed;
                    reach(state);
                }
                Outcome::Broken { fault, .. } => found.other_fault = Some(fault),
            }
        }
    }
    Ok(found)
}

/// What Spin says of a model: states, assertion violated, invalid end state; `None` if it does not
/// say or says more than we compare.
fn spins_answer(model: &serde_json::Value, run: &str, stored_max: u64) -> Option<(u64, bool, bool)> {
    let base = &model["runs"][run];
    let stored = base["stored"].as_u64().filter(|_| base["complete"] == true)?;
    let messages: Vec<&str> =
        base["error_msgs"].as_array().into_iter().flatten().filter_map(|e| e["msg"].as_str()).collect();
    let asserts = messages.iter().any(|m| m.starts_with("assertion violated"));
    let ends = messages.iter().any(|m| m.starts_with("invalid end state"));
    let known = messages.iter().all(|m| m.starts_with("assertion violated") || m.starts_with("invalid end state"));
    (stored <= stored_max && known).then_some((stored, asserts, ends))
}

#[test]
fn brute_force_finds_the_states_that_spin_finds() {
    compare("base", Options::NONE);
}

#[test]
fn with_spins_optimisations_it_finds_as_many_as_spin_then_does() {
    compare("opt_nopor", Options::ALL);
}

/// Compares all models with one of Spin's runs.
fn compare(run: &str, options: Options) {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let stored_max = std::env::var(STORED_MAX_VARIABLE).ok().and_then(|max| max.parse().ok()).unwrap_or(STORED_MAX);
    let only = std::env::var("FABIUS_ONLY").unwrap_or_default();
    let (mut compared, mut unread, mut wrong) = (0, Vec::new(), Vec::new());
    for model in manifest(&corpus) {
        let path = model["path"].as_str().expect("a model has a path");
        let Some((stored, asserts, ends)) = spins_answer(&model, run, stored_max).filter(|_| path.contains(&only))
        else {
            continue;
        };
        let program = match load(&corpus.join("models").join(path), options) {
            Ok((program, _)) => program,
            Err(why) => {
                unread.push(format!("{path}: {why}"));
                continue;
            }
        };
        compared += 1;
        match explore(&program, stored + 1) {
            Ok(found) if (found.stored, found.assertion, found.invalid_end) == (stored, asserts, ends) => {}
            Ok(found) => wrong.push(format!("{path}: Spin has {stored}, {asserts}, {ends}, not {found:?}")),
            Err(fault) => wrong.push(format!("{path}: {fault}")),
        }
    }
    println!("{compared} models compared, {} not read", unread.len());
    unread.iter().for_each(|line| println!("not read: {line}"));
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(30 < compared || !only.is_empty(), "only {compared} models could be compared");
}
