//! Trails: Spin replays them step by step and ends up where the trace does.

#![expect(clippy::disallowed_macros, reason = "the test says how many trails it replayed")]

use super::support::corpus;

use corpus::{load, manifest};
use fabius_needs::scratch::Scratch;
use fabius_needs::spin::Spin;
use fabius_needs::{Need, command};
use fabius_program::meaning::Fault;
use fabius_program::{CLAIM_PID, Move, ProcessId, ProcessKind, Program, Watch};
use fabius_promela::Options;
use fabius_witness::format::trail::trail;
use fabius_witness::{Claim, Ending, Outcome, State, Trace, confirm, confirm_watching, moves, settled};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long a replay may take.
const LIMIT: Duration = Duration::from_secs(60);
/// This many states are looked at in search of a violation.
const STATES_MAX: usize = 3_000;

/// Shortest paths to violations of each kind.
fn violations(program: &Program, watch: Watch) -> Vec<(Claim, Vec<Move>)> {
    let Ok(initial) = State::watching(program, watch) else { return Vec::new() };
    let mut parents: HashMap<State, Option<(State, Option<Move>)>> = HashMap::from([(initial.clone(), None)]);
    let mut open = VecDeque::from([initial]);
    let mut found: Vec<(Claim, Vec<Move>)> = Vec::new();
    while let Some(state) = open.pop_front().filter(|_| parents.len() < STATES_MAX) {
        let next = moves(program, &state);
        let mut add = |claim: Claim, path: Vec<Move>| {
            if found.iter().all(|(known, _)| *known != claim) {
                found.push((claim, path));
            }
        };
        if next.ending == Ending::Invalid {
            add(Claim::InvalidEnd, path_to(&parents, &state, None));
        }
        let mut reached = Vec::new();
        if matches!(next.ending, Ending::LosesControl | Ending::Stutters) {
            reached.push((settled(program, &state), None));
        }
        for (step, outcome) in next.successors {
            if outcome.fault() == Some(Fault::AssertionFailed) {
                add(Claim::Fault(Fault::AssertionFailed), path_to(&parents, &state, Some(step)));
            } else if let Outcome::Reaches { state: target, .. } = outcome {
                reached.push((target, Some(step)));
            }
        }
        for (target, step) in reached {
            if !parents.contains_key(&target) {
                parents.insert(target.clone(), Some((state.clone(), step)));
                open.push_back(target);
            }
        }
    }
    found
}

fn path_to(parents: &HashMap<State, Option<(State, Option<Move>)>>, state: &State, last: Option<Move>) -> Vec<Move> {
    let mut path: Vec<Move> = last.into_iter().collect();
    let mut state = state;
    while let Some(Some((before, step))) = parents.get(state) {
        path.extend(*step);
        state = before;
    }
    path.reverse();
    path
}

/// What is wrong with Spin's replay of a trace.
fn replay(spin: &Spin, trace: &Trace, text: &str) -> Result<(), String> {
    let mut replay = spin.replay(text).map_err(|e| e.to_string())?;
    let output = command::run(&mut replay, LIMIT).map_err(|e| e.to_string())?.stdout;
    for bad in ["no matching stmnt", "invalid statement", "transition failed", "no process", "stop error", "(?)"] {
        if output.contains(bad) {
            return Err(format!("Spin says `{bad}`"));
        }
    }
    let violated = output.contains("assertion violated");
    if violated != (trace.claim == Claim::Fault(Fault::AssertionFailed)) {
        return Err(format!("Spin sees an assertion violated: {violated}"));
    }
    compare_end(&output, trace)
}

/// Compares where the processes stand at the end.
fn compare_end(output: &str, trace: &Trace) -> Result<(), String> {
    let (_, end) = output.rsplit_once("#processes:").ok_or("Spin does not come to the end")?;
    for status in &trace.last.processes {
        let head = format!("proc {:2} (", status.pid);
        let line = end.lines().find(|line| line.contains(&head));
        let line = line.ok_or_else(|| format!("Spin has no process {}", status.pid))?;
        let number = line.split("(state ").nth(1).and_then(|rest| rest.split(')').next());
        if number.and_then(|n| n.parse().ok()) != Some(status.location) {
            return Err(format!("process {} is in state {}, Spin has `{line}`", status.pid, status.location));
        }
    }
    Ok(())
}

#[test]
fn spin_replays_trails() {
    replay_all(Options::NONE);
}

#[test]
fn spin_replays_trails_of_merged_steps() {
    replay_all(Options::ALL);
}

/// The claim counts the steps of the system.
const WITH_CLAIM: &str = "\
chan q = [0] of { byte }; byte x;
active proctype A() { q!1; atomic { x = 1; x = 2 }; x = 3 }
active proctype B() { byte y; q?y; x == 3; assert(x == 2) }
never { true; x == 0; do :: x >= 2 od }
";

#[test]
fn spin_replays_trails_beside_a_claim() {
    if no_spin() {
        return;
    }
    let folder = Scratch::new().expect("a folder");
    let file = folder.write("claim.pml", WITH_CLAIM).expect("a file can be written");
    let spin = Spin::on_file(&file).expect("a folder");
    let (program, _) = load(&file, Options::NONE).expect("the model is right");
    let claim = program.processes.iter().position(|p| p.kind == ProcessKind::Claim).expect("there is a claim");
    let program = Arc::new(program);
    let watch = Watch { claim: Some(ProcessId(claim as u32)), ..Watch::NOTHING };
    let (shows, steps) = violations(&program, watch).swap_remove(0);
    // A rendezvous is one step to the claim, and so is an atomic sequence.
    assert_eq!(steps.iter().filter(|step| step.pid == CLAIM_PID).count(), 5);
    let trace = confirm_watching(&program, watch, &steps, shows).unwrap_or_else(|why| panic!("{why}"));
    let text = trail(&program, &steps, None);
    replay(&spin, &trace, &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    assert!(replay(&spin, &trace, &text.replace("-2:2:-2\n", "")).is_err());
    // As if the claim came from a formula.
    let mut program = (*program).clone();
    program.properties.clear();
    let text = trail(&program, &steps, None);
    replay(&spin, &trace, &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
}

fn no_spin() -> bool {
    !Need::Spin.met()
}

fn replay_all(options: Options) {
    let Some(corpus) = fabius_needs::corpus() else { return };
    if no_spin() {
        return;
    }
    let (mut replayed, mut wrong) = (0, Vec::new());
    for model in manifest(&corpus) {
        let path = model["path"].as_str().expect("a model has a path");
        let base = &model["runs"]["base"];
        let has_error = base["error_msgs"].as_array().is_some_and(|list| !list.is_empty());
        if !has_error || base["stored"].as_u64().is_none_or(|stored| 20_000 < stored) {
            continue;
        }
        let file = corpus.join("models").join(path);
        let Ok((program, _)) = load(&file, options) else { continue };
        let spin = Spin::on_file(&file).expect("a folder");
        let program = Arc::new(program);
        for (claim, steps) in violations(&program, Watch::NOTHING) {
            let trace = confirm(&program, &steps, claim).unwrap_or_else(|why| panic!("{path}: {why}"));
            replayed += 1;
            if let Err(why) = replay(&spin, &trace, &trail(&program, &steps, None)) {
                wrong.push(format!("{path} ({claim:?}): {why}"));
            }
        }
    }
    println!("{replayed} trails replayed");
    assert!(wrong.is_empty(), "{} of {replayed} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(20 < replayed, "only {replayed} trails could be replayed");
}
