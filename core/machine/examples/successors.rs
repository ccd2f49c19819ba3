//! Nanoseconds per successor: `successors model.pml…` walks all states of each model; `successors --corpus N`
//! compares the number of stored states with Spin's for all models of the corpus with at most N states.
//! `WATCH=states` or `WATCH=transitions` marks progress. `SAMPLE=20` measures with so few states that every branch is predicted.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a tool of its own: it reads, clocks and prints"
)]

#[path = "../tests/machine/support/mod.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod support;

use fabius_machine::{Machine, ProgressOn, Step, Watch};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--corpus") => compare(arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(100_000)),
        _ => arguments.iter().for_each(|path| measure(Path::new(path))),
    }
}

/// Collects up to this many states, then lists the successors of all of them again and again.
fn measure(path: &Path) {
    let program = match support::program_of(path) {
        Ok(program) => program,
        Err(why) => return println!("{}: {why}", path.display()),
    };
    let begun = Instant::now();
    let progress = match std::env::var("WATCH").as_deref() {
        Ok("states") => Some(ProgressOn::States),
        Ok("transitions") => Some(ProgressOn::Transitions),
        _ => None,
    };
    let watch = Watch { progress, ..Watch::NOTHING };
    let mut machine = match Machine::watching(Arc::new(program), watch) {
        Ok(machine) => machine,
        Err(why) => return println!("{}: {why}", path.display()),
    };
    let assembled = begun.elapsed();
    let mut state = Vec::new();
    machine.initial(&mut state).expect("an initial state");
    let mut seen = std::collections::HashSet::from([state.clone()]);
    let mut states = vec![state];
    let mut successor = Vec::new();
    let mut next = 0;
    while next < states.len() && states.len() < 200_000 {
        let state = states[next].clone();
        next += 1;
        let mut cursor = machine.begin(&state);
        loop {
            match machine.next(&state, &mut cursor, &mut successor) {
                Step::Successor { .. } => {
                    if seen.insert(successor.clone()) {
                        states.push(successor.clone());
                    }
                }
                Step::Broken { .. } => {}
                Step::Done(_) => break,
            }
        }
    }
    let words: usize = states.iter().map(Vec::len).sum();
    // A search has the state it expands in its cache: this many do not leave it.
    let stride = states.len().div_ceil(std::env::var("SAMPLE").map_or(4000, |n| n.parse().unwrap_or(4000)));
    let mut sample = Vec::new();
    for state in states.iter().step_by(stride) {
        sample.push(state.len() as u32);
        sample.extend_from_slice(state);
    }
    let (mut count, mut best, mut sum) = (0u64, f64::INFINITY, 0u64);
    for _ in 0..6 {
        count = 0;
        let begun = nanoseconds();
        while count < 2_000_000 {
            let mut rest = &sample[..];
            while let Some((words, behind)) = rest.split_first() {
                let (state, next) = behind.split_at(*words as usize);
                rest = next;
                let mut cursor = machine.begin(state);
                loop {
                    match machine.next(state, &mut cursor, &mut successor) {
                        Step::Successor { .. } => {
                            count += 1;
                            sum = sum.wrapping_add(u64::from(successor[0]));
                        }
                        Step::Broken { .. } => {}
                        Step::Done(_) => break,
                    }
                }
            }
        }
        best = best.min((nanoseconds() - begun) as f64 / count as f64);
    }
    println!(
        "{:40} {:7} states {:8} successors {:6.1} bytes/state {best:6.1} ns/successor {:5.2} ms to assemble ({})",
        path.file_name().unwrap_or_default().to_string_lossy(),
        states.len(),
        count,
        words as f64 * 4.0 / states.len() as f64,
        assembled.as_secs_f64() * 1e3,
        sum & 1,
    );
}

/// Time this thread has spent computing where the system says so, else time gone by.
fn nanoseconds() -> u64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split(' ').next().and_then(|n| n.parse().ok()));
    spent.unwrap_or_else(|| std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos() as u64))
}

fn compare(states_max: u64) {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("manifest.jsonl")).expect("a manifest");
    let (mut same, mut different, mut unread) = (0, 0, 0);
    for line in manifest.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let base = &row["runs"]["base"];
        let Some(stored) = base["stored"].as_u64().filter(|&n| n <= states_max) else { continue };
        if base["complete"] != true {
            continue;
        }
        let path = row["path"].as_str().unwrap_or_default();
        let machine = support::program_of(&corpus.join("models").join(path))
            .and_then(|program| Machine::new(Arc::new(program)).map_err(|e| e.to_string()));
        let mut machine = match machine {
            Ok(machine) => machine,
            Err(why) => {
                unread += 1;
                println!("UNREAD {path}: {}", why.chars().take(150).collect::<String>());
                continue;
            }
        };
        let counts = support::walk(&mut machine, 2 * stored + 10);
        if counts.stored == stored && counts.complete {
            same += 1;
        } else {
            different += 1;
            println!("DIFFERENT {path}: Spin {stored}, {counts:?}; {}", base["error_msgs"]);
        }
    }
    println!("{same} the same, {different} different, {unread} unread");
}
