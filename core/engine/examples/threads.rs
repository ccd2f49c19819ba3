//! Searches by one and by several threads on a real model: processor time, speed-up and who did how much.
//!
//! ```text
//! cargo run --release -p fabius-engine --example threads -- MODEL.pml [THREADS [SEARCH [ROUNDS [only]]]]
//! ```
//!
//! SEARCH is `safety` (the default), `progress` (livelocks, progress on transitions), `strict` (the same, level by
//! level) or `acceptance`. With THREADS 0, there is only the sequential search; with `only` after ROUNDS, only that
//! by several threads.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a measurement reads, clocks and prints")]

use fabius_base::Limits;
use fabius_engine::load;
use fabius_machine::{Cursor, Machine, Step};
use fabius_program::{Move, ProgressOn, StepMarks, Watch, meaning::Fault};
use fabius_search::parallel::{Levels, WorkerStatistics, cndfs, dfs_fifo, reach};
use fabius_search::{Ending, Marks, Model, Next, Quiet, Settings, Statistics, StopAt, TreeStore, cycle};
use std::path::Path;
use std::time::Instant;

#[derive(Clone)]
struct Searched {
    machine: Machine,
    infinite: bool,
}

impl Model for Searched {
    type Label = Move;
    type Fault = Fault;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.machine.initial(state)
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> Cursor {
        self.machine.begin(state)
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        loop {
            return match self.machine.next(state, cursor, successor) {
                Step::Successor { label, transient, fault, marks } => {
                    let fault = fault.filter(|_| !self.infinite);
                    Next::Successor { label, transient, fault, marks: as_marks(marks) }
                }
                Step::Broken { .. } if self.infinite => continue,
                Step::Broken { label, fault } => Next::Broken { label, fault },
                Step::Done(_) => Next::Done(Ending::Moves),
            };
        }
    }
}

fn as_marks(marks: StepMarks) -> Marks {
    let mark = |is: bool, mark| if is { mark } else { Marks::NONE };
    mark(marks.accepting, Marks::ACCEPTING).with(mark(marks.progress, Marks::PROGRESS))
}

/// Seconds of the processor that this process has used.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

struct Measured {
    wall: f64,
    processor: f64,
}

fn measure(name: &str, rounds: u32, mut run: impl FnMut() -> (Statistics, String, Vec<WorkerStatistics>)) -> Measured {
    let mut best = Measured { wall: f64::INFINITY, processor: f64::INFINITY };
    for round in 0..rounds {
        let (begun, used) = (Instant::now(), processor_seconds());
        let (statistics, verdict, shares) = run();
        let (wall, processor) = (begun.elapsed().as_secs_f64(), processor_seconds() - used);
        best = Measured { wall: best.wall.min(wall), processor: best.processor.min(processor) };
        if round == 0 {
            let bytes = statistics.memory_bytes as f64 / statistics.states.max(1) as f64;
            println!(
                "{name}: {} states, {} transitions, {bytes:.1} bytes per state in all, {verdict}",
                statistics.states,
                statistics.transitions()
            );
            for share in shares {
                println!(
                    "    {} states, {} revisits, {} pieces",
                    share.statistics.states, share.revisits, share.pieces
                );
            }
        }
    }
    println!("    best of {rounds}: {:.2} s, {:.2} s of processor time", best.wall, best.processor);
    best
}

fn of_cycles(joint: fabius_search::CycleOutcome<Move, Fault>) -> (Statistics, String, Vec<WorkerStatistics>) {
    (joint.statistics, verdict(&joint), joint.workers)
}

fn verdict(outcome: &fabius_search::CycleOutcome<Move, Fault>) -> String {
    let found = match outcome.first() {
        None => "nothing found".to_owned(),
        Some(cycle::Found::Lasso { stem, cycle }) => format!("a lasso of {} and {} steps", stem.len(), cycle.len()),
        Some(cycle::Found::Fault { path, .. }) => format!("a fault after {} steps", path.len()),
    };
    format!("{found}, {:?}", outcome.completeness)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else { return println!("which model?") };
    let threads = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(2);
    let search = arguments.get(2).map_or("safety", String::as_str);
    let rounds = arguments.get(3).and_then(|text| text.parse().ok()).unwrap_or(3);
    let watch = match search {
        "safety" => Watch::NOTHING,
        "acceptance" => Watch { acceptance: true, ..Watch::NOTHING },
        _ => Watch { progress: Some(ProgressOn::Transitions), ..Watch::NOTHING },
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut include = |_: &str, name: &str| {
        let file = Path::new(path).with_file_name(name);
        Some((name.to_owned(), std::fs::read_to_string(file).ok()?))
    };
    let loaded = load(path, text, &[], &mut include, &fabius_engine::Settings::default());
    let Some(program) = loaded.checkable() else { return println!("{path}: not a model that can be checked") };
    let machine = match Machine::watching(program.clone(), watch) {
        Ok(machine) => machine,
        Err(why) => return println!("{path}: {why}"),
    };
    let model = Searched { machine, infinite: search != "safety" };
    let settings = Settings { stop_at: StopAt::Never, limits: Limits::default(), ..Settings::default() };
    let only = arguments.get(4).is_some_and(|text| text == "only");
    if only {
        measure(&format!("{threads} threads"), rounds, || several(&model, threads, search, &settings));
        return;
    }
    let alone = measure("sequential", rounds, || one(&model, search, &settings));
    if threads == 0 {
        return;
    }
    let first = measure("1 thread", rounds, || several(&model, 1, search, &settings));
    let all = measure(&format!("{threads} threads"), rounds, || several(&model, threads, search, &settings));
    println!(
        "{search} of {path}: one thread {:.2} of the sequential search; {threads} threads: processor time {:.2} of one \
         thread, {:.2} of the sequential search; speed-up {:.2} and {:.2}",
        first.processor / alone.processor,
        all.processor / first.processor,
        all.processor / alone.processor,
        first.wall / all.wall,
        alone.wall / all.wall,
    );
}

fn one(model: &Searched, search: &str, settings: &Settings) -> (Statistics, String, Vec<WorkerStatistics>) {
    let mut model = model.clone();
    if search == "safety" {
        let outcome = fabius_search::depth_first(&mut model, &mut TreeStore::new(), &mut Quiet, settings);
        return (outcome.statistics, format!("{:?}", outcome.completeness), Vec::new());
    }
    let outcome = match search {
        "acceptance" => {
            cycle::nested_dfs(&mut model, &mut TreeStore::default(), &mut Quiet, settings, cycle::NoReduction)
        }
        _ => cycle::dfs_fifo(&mut model, &mut TreeStore::default(), &mut Quiet, settings, cycle::Order::Strict),
    };
    (outcome.statistics, verdict(&outcome), Vec::new())
}

fn several(
    model: &Searched,
    threads: usize,
    search: &str,
    settings: &Settings,
) -> (Statistics, String, Vec<WorkerStatistics>) {
    let mut models = vec![model.clone(); threads];
    match search {
        "safety" => {
            let joint = reach(&mut models, &mut Quiet, settings, 1);
            (joint.statistics, format!("{:?}", joint.completeness), joint.workers)
        }
        "acceptance" => of_cycles(cndfs(&mut models, &mut Quiet, settings, 1)),
        "strict" => of_cycles(dfs_fifo(&mut models, &mut Quiet, settings, Levels::Strict, 1)),
        _ => of_cycles(dfs_fifo(&mut models, &mut Quiet, settings, Levels::Free, 1)),
    }
}
