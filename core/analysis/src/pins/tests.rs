//! Pins of random models, followed in the same model and in edited ones.

use super::{Pin, Possibility};
use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, Counterexample, Loaded, Settings, check, load};
use fabius_program::{Program, Watch};
use fabius_task::query::event_trace;
use fabius_testkit::generate::{self, small};
use fabius_witness::{Ending, Outcome, State, ending, moves, settled};
use std::sync::Arc;
use std::time::Duration;

mod infinite;

fn read(text: &str, settings: &Settings) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings)
}

/// The counterexample to a property, and a pin of it.
fn pinned(text: &str, property: &str) -> Option<(Counterexample, Pin)> {
    let limits = Limits { states_max: Some(20_000), ..Limits::default() };
    let properties = vec![property.to_owned()];
    let settings =
        Settings { properties, schedule: false, limits, clarify_transitions_max: 20_000, ..Settings::default() };
    let loaded = read(text, &settings);
    let (cancel, now) = (Cancel::new(), || Duration::ZERO);
    let mut context = CheckContext { cancel: &cancel, now: &now, observe: &mut |_| {}, controls: None };
    let example = check(&loaded, &settings, &mut context).counterexamples.into_iter().next()?;
    let written = loaded.as_written()?;
    let pin = Pin::of("1".to_owned(), Possibility::Impossible, &example, property, &written).ok()?;
    Some((example, pin))
}

/// A pin of what a check of safety finds.
fn pin(text: &str) -> Option<Pin> {
    pinned(text, "safety").map(|(_, pin)| pin)
}

/// The model as it is written, if it can be checked.
fn target(text: &str) -> Option<Arc<Program>> {
    let loaded = read(text, &Settings::default());
    loaded.checkable().and_then(|_| loaded.as_written())
}

/// Whether the words of a run's steps can be executed one after the other, with the same ending; every way is tried.
fn by_force(pin: &Pin, program: &Program) -> bool {
    let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
    let Ok(start) = State::watching(program, watch) else { return false };
    let mut states = vec![start];
    for (at, step) in pin.steps.iter().enumerate() {
        let mut next = Vec::new();
        for state in &states {
            for (taken, outcome) in moves(program, &settled(program, state)).successors {
                let of = |edge| {
                    let process = program.process_of(edge);
                    (&program.process(process).name, &program.statement(process, edge).text)
                };
                let same = taken.pid == step.pid && of(taken.edge) == (&step.statement.0, &step.statement.1);
                if !same || taken.partner.map(|(pid, _)| pid) != step.partner.as_ref().map(|(pid, _)| *pid) {
                    continue;
                }
                let last = at + 1 == pin.steps.len();
                match outcome {
                    outcome if last && outcome.fault().map(|fault| fault.to_string()).as_ref() == Some(&pin.ends) => {
                        return true;
                    }
                    Outcome::Reaches { state, .. } if !next.contains(&state) => next.push(state),
                    _ => {}
                }
            }
        }
        states = next;
    }
    pin.ends == "deadlock" && states.iter().any(|state| ending(program, &settled(program, state)) == Ending::Invalid)
}

#[test]
fn a_pinned_run_is_possible_in_its_own_model_and_where_lines_have_moved() {
    let mut pinned = 0;
    for seed in 1..=120 {
        let text = if seed % 2 == 0 { small::model(seed) } else { generate::model_with_faults(seed).text() };
        let Some(pin) = pin(&text) else { continue };
        for edited in [text.clone(), format!("/* one\n two */\n\n{text}\nbyte not_there_before;\n")] {
            let Some(target) = target(&edited) else { continue };
            let (found, why) = pin.follow(&target);
            assert_eq!(found, Possibility::Possible, "seed {seed}: {why}\n{edited}");
            assert!(by_force(&pin, &target), "seed {seed}\n{edited}");
        }
        pinned += 1;
    }
    assert!(30 < pinned, "{pinned} pins");
}

#[test]
fn where_numbers_are_edited_a_run_said_to_be_impossible_is_so() {
    let (mut possible, mut impossible, mut unknown) = (0, 0, 0);
    for seed in 1..=120 {
        let text = if seed % 2 == 0 { small::model(seed) } else { generate::model(seed).text() };
        let Some(pin) = pin(&text) else { continue };
        // First values are no statements: the steps of the run are all still there.
        for (old, new) in
            [(" = 0;", " = 1;"), (" = 1;", " = 0;"), (" = 2;", " = 1;"), ("[1] of", "[2] of"), ("[2] of", "[1] of")]
        {
            let edited = text.replacen(old, new, 1);
            let Some(target) = target(&edited).filter(|_| edited != text) else { continue };
            let (found, why) = pin.follow(&target);
            match found {
                Possibility::Possible => possible += 1,
                Possibility::Impossible => impossible += 1,
                Possibility::Unknown => unknown += 1,
            }
            let known = by_force(&pin, &target);
            assert!(found != Possibility::Impossible || !known, "seed {seed}: {why}\n{edited}");
            assert!(found != Possibility::Possible || known, "seed {seed}: {why}\n{edited}");
        }
    }
    assert!(5 < possible && 5 < impossible, "{possible} possible, {impossible} impossible, {unknown} unknown");
}
