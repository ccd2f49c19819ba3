//! States with and without partial-order reduction: `reduction MODE model.pml…`, where `MODE` is `deadlocks`,
//! `stack`, `loops`, `livelocks` or `livelocks-on-states`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::print_stdout,
    reason = "a tool of its own: it reads, clocks and prints"
)]

#[path = "../tests/reduction/plain.rs"]
mod plain;

use fabius_model::reduction::{Preserve, Proviso, Reduced, prepare};
use fabius_program::{Program, ProgressOn, Watch};
use fabius_promela::Options;
use fabius_search::reduce::OffStack;
use fabius_search::{Model, Quiet, Settings, StopAt, TreeStore, depth_first};
use plain::{Plain, program_of};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let preserve = match mode.as_str() {
        "stack" => Preserve::Faults(Proviso::Stack),
        "loops" => Preserve::Faults(Proviso::Loops),
        "livelocks" => Preserve::Livelocks(ProgressOn::Transitions),
        "livelocks-on-states" => Preserve::Livelocks(ProgressOn::States),
        "acceptance" => Preserve::Acceptance,
        _ => Preserve::Deadlocks,
    };
    println!("{:46} {:>10} {:>7} {:>10} {:>7} {:>7}", "model", "whole", "s", "reduced", "s", "%");
    for path in arguments {
        match program_of(Path::new(&path), options()) {
            Ok(program) => measure(&path, &Arc::new(program), &preserve),
            Err(why) => println!("{path}: {why}"),
        }
    }
}

fn options() -> Options {
    if std::env::var_os("NOOPT").is_some() { Options::NONE } else { Options::ALL }
}

fn measure(path: &str, program: &Arc<Program>, preserve: &Preserve) {
    let name = Path::new(path).file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let (whole, whole_s) = match std::env::var_os("QUICK") {
        Some(_) => (0, 0.0),
        None => match Plain::new(Arc::clone(program), Watch::NOTHING) {
            Ok(mut plain) => count(&mut plain),
            Err(why) => return println!("{name}: {why}"),
        },
    };
    let begun = Instant::now();
    let plan = match prepare(program, preserve.clone()) {
        Ok(plan) => plan,
        Err(why) => return println!("{name:46} {whole:10} {whole_s:7.2} {why}"),
    };
    let prepared = begun.elapsed().as_secs_f64();
    let Ok(mut reduced) = Reduced::new(Arc::clone(program), Watch::NOTHING, plan) else { return };
    let (states, seconds) = match preserve {
        Preserve::Faults(Proviso::Stack) => count(&mut OffStack::new(reduced)),
        _ => count(&mut reduced),
    };
    let share = 100.0 * states as f64 / whole.max(1) as f64;
    println!("{name:46} {whole:10} {whole_s:7.2} {states:10} {seconds:7.2} {share:7.2} prepared {prepared:.3}");
}

fn count<M: Model>(model: &mut M) -> (u64, f64)
where
    M::Label: std::fmt::Debug,
{
    let begun = Instant::now();
    let mut settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    settings.limits.states_max = std::env::var("STATES").ok().and_then(|n| n.parse().ok()).or(Some(12_000_000));
    let outcome = depth_first(model, &mut TreeStore::new(), &mut Quiet, &settings);
    (outcome.statistics.states, begun.elapsed().as_secs_f64())
}
