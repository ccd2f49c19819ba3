//! The tables of two papers, remade on models of our own.
//!
//! ```text
//! cargo run --release -p fabius-engine --example papers -- --write
//! ```
//!
//! Desai, Qadeer, Rajamani, *Iterative Cycle Detection via Delaying Explorers* (MSR-TR-2015-28), and Udupa, Desai, Rajamani,
//! *Depth Bounded Explicit-State Model Checking* (SPIN 2011), on the protocols of `models/families`. Counts are the same
//! on every machine; times are not. `--write` replaces the tables in `docs/experiments/delaying.md` and `depth.md`; `--table=NAME`
//! prints one of them (scheduler, errors, cycles, budget, revisits, replays); other words select models.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "it measures, reads and prints")]

use fabius_base::{Limits, StopReason};
use fabius_engine::{Settings as Check, load};
use fabius_model::SearchedMachine;
use fabius_program::{Move, ProgressOn, Watch, meaning::Fault};
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::cycle::Goal;
use fabius_search::delay_bounded::{Coverage, DelayObserver, IterativeDelayBounding, exact, fast};
use fabius_search::depth_bounded::{DepthSettings, Keep, Revisit, depth_bounded};
use fabius_search::iterative_map::{ALONE_MAX, Ask, CycleRounds, iterative_cycles, iterative_map_together};
use fabius_search::schedule::{Alike, RandomOrder, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{Completeness, CycleOutcome, Observer, Outcome, Quiet, Settings, Statistics, TreeStore};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Larger searches are not run to their end.
const STATES_MAX: u64 = 400_000;
/// This many transitions are the budget of depth-bounded searches that are compared by how far they come.
const TRANSITIONS: u64 = 150_000;
/// This many threads search for cycles together.
const THREADS: usize = 4;
/// Before this line stands what people wrote.
const MARK: &str = "<!-- tables -->";

/// A model with its value of N, as a table names it.
type Named = (&'static str, u32);

/// Table 1.
const GROWING: [&str; 3] = ["tree_identification", "lann", "or_set"];
/// Table 2: all with an error.
const SEEDED: [Named; 14] = [
    ("clocked_system", 5),
    ("device_driver", 5),
    ("elevator_door", 4),
    ("elevator_planning", 3),
    ("german", 4),
    ("lann", 5),
    ("lcr", 5),
    ("msmie", 3),
    ("or_set", 4),
    ("sync_bfs", 5),
    ("time_sync", 2),
    ("tree_identification", 6),
    ("truck_lift", 4),
    ("usb_hub", 3),
];
/// Table 3: those with a livelock.
const ENDLESS: [Named; 4] = [("elevator_door", 2), ("lann", 4), ("elevator_planning", 2), ("tree_identification", 4)];
/// The tables of the paper on depth.
const DEEP: [Named; 6] =
    [("elevator_planning", 2), ("german", 3), ("msmie", 2), ("time_sync", 1), ("truck_lift", 3), ("usb_hub", 2)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let write = words.iter().any(|word| word == "--write");
    let tables: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("--table=")).collect();
    let only: Vec<String> = words.iter().filter(|word| !word.starts_with("--")).cloned().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let models = Models { folder: root.join("models/families"), only };
    for (page, makers) in PAGES {
        let chosen = makers.iter().filter(|(name, _)| tables.is_empty() || tables.contains(name));
        let text: Vec<String> = chosen.map(|(_, make)| make(&models)).collect();
        if write && tables.is_empty() {
            let path = root.join("docs/experiments").join(page);
            let old = std::fs::read_to_string(&path).unwrap_or_default();
            let head = old.split(MARK).next().unwrap_or_default();
            std::fs::write(&path, format!("{head}{MARK}\n\n{}", text.join("\n"))).expect("the page can be written");
        }
    }
}

/// Makes a table.
type Maker = fn(&Models) -> String;
/// The pages, and their tables by name.
const PAGES: [(&str, &[(&str, Maker)]); 2] = [
    ("delaying.md", &[("scheduler", scheduler_states), ("errors", until_the_error), ("cycles", infinite)]),
    ("depth.md", &[("budget", within_a_budget), ("revisits", revisits), ("replays", replays)]),
];

/// Where the models are, and which of them are wanted.
struct Models {
    folder: PathBuf,
    only: Vec<String>,
}

impl Models {
    fn wanted(&self, names: &[Named]) -> Vec<Named> {
        let is_wanted = |(name, _): &Named| self.only.is_empty() || self.only.iter().any(|word| name.contains(word));
        names.iter().copied().filter(is_wanted).collect()
    }

    fn program(&self, (name, n): Named, version: &str) -> Arc<fabius_program::Program> {
        let path = self.folder.join(format!("{name}.pml"));
        let text = std::fs::read_to_string(&path).expect("the model is there");
        let defines = [("N".to_owned(), n.to_string()), (version.to_owned(), "1".to_owned())];
        let loaded = load(name, text, &defines, &mut |_, _| None, &Check::default());
        Arc::clone(loaded.checkable().expect("a model"))
    }

    fn safety(&self, model: Named, version: &str) -> SearchedMachine {
        SearchedMachine::new(self.program(model, version), Watch::NOTHING).expect("it can be run")
    }

    fn progress(&self, model: Named, version: &str) -> SearchedMachine {
        let watch = Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING };
        SearchedMachine::infinite(self.program(model, version), watch).expect("it can be run")
    }
}

/// A table that is printed while it grows.
struct Table(String);

impl Table {
    fn new(title: &str, words: &str, columns: &str) -> Self {
        let rule = columns.split('|').skip(2).map(|_| "---|").collect::<String>();
        let text = format!("## {title}\n\n{words}\n\n{columns}\n|{rule}\n");
        println!("{text}");
        Self(text)
    }

    fn row(&mut self, row: &str) {
        println!("{row}");
        let _ = writeln!(self.0, "{row}");
    }
}

fn settings() -> Settings {
    Settings { limits: Limits { states_max: Some(STATES_MAX), ..Limits::default() }, ..Settings::default() }
}

/// A number as people read it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Table 1: the price of remembering the scheduler.
fn scheduler_states(models: &Models) -> String {
    let mut table = Table::new(
        "Table 1: states, and states with the scheduler's",
        "Run-to-completion, everything explored; *s* / *(s, d)* / ratio.",
        "| processes | tree_identification | lann | or_set |",
    );
    for n in 2..=5 {
        let cells = GROWING.iter().map(|name| {
            if models.wanted(&[(name, n)]).is_empty() {
                return "–".to_owned();
            }
            let mut machine = models.safety((name, n), "CORRECT");
            let found = exact(
                &mut machine,
                &RunToCompletion(Alike),
                &mut Quiet,
                &settings(),
                &IterativeDelayBounding::default(),
                CheckpointPolicy::none(),
            )
            .expect("nothing is resumed");
            match found.coverage {
                Coverage::EverySchedule => {
                    let (states, pairs) = (found.statistics.states, found.product_states);
                    format!("{} / {} / {:.2}", grouped(states), grouped(pairs), pairs as f64 / states as f64)
                }
                _ => format!("> {}", grouped(STATES_MAX)),
            }
        });
        let cells: Vec<String> = cells.collect();
        table.row(&format!("| {n} | {} |", cells.join(" | ")));
    }
    table.0
}

/// Table 2: how many states it takes to find the error.
fn until_the_error(models: &Models) -> String {
    let mut table = Table::new(
        "Table 2: states until the seeded error is found",
        "In parentheses the bound: steps, in rounds of 5, or delays. The error is that of `-DBUG`.",
        "| model | N | depth | random | run-to-completion | round-robin |",
    );
    for model in models.wanted(&SEEDED) {
        let deep = by_depth(&mut models.safety(model, "BUG"), 5, Revisit::Threshold, Keep::Tree, &mut Quiet);
        let bound = deep.rounds.last().map_or(0, |round| round.bound) + 5;
        let deep = match deep.completeness {
            Completeness::FirstViolation => format!("{} ({bound})", grouped(deep.statistics.states)),
            _ => format!("> {}", grouped(STATES_MAX)),
        };
        let delayed = [
            by_delays(&mut models.safety(model, "BUG"), &RandomOrder::new(0)),
            by_delays(&mut models.safety(model, "BUG"), &RunToCompletion(Alike)),
            by_delays(&mut models.safety(model, "BUG"), &RoundRobin(Alike)),
        ];
        table.row(&format!("| {} | {} | {deep} | {} |", model.0, model.1, delayed.join(" | ")));
    }
    table.0
}

fn by_delays<D: Scheduler<Move>>(machine: &mut SearchedMachine, scheduler: &D) -> String {
    let mut store = TreeStore::new();
    let found = fast(
        machine,
        scheduler,
        &mut store,
        &mut Quiet,
        &settings(),
        &IterativeDelayBounding::default(),
        CheckpointPolicy::none(),
    )
    .expect("nothing is resumed");
    match found.completeness {
        Completeness::FirstViolation => {
            let delays = found.first().map_or(0, |one| one.delays.len());
            format!("{} ({delays})", grouped(found.statistics.states))
        }
        _ => format!("> {}", grouped(STATES_MAX)),
    }
}

fn by_depth<O: DelayObserver<Move, Fault>>(
    machine: &mut SearchedMachine,
    increment: u32,
    revisit: Revisit,
    keep: Keep,
    observer: &mut O,
) -> Outcome<Move, Fault> {
    let depth = DepthSettings { increment, cut_off: None, revisit, keep };
    depth_bounded(machine, observer, &settings(), &depth, CheckpointPolicy::none()).expect("nothing is resumed")
}

/// Table 3: cycles.
fn infinite(models: &Models) -> String {
    let mut table = Table::new(
        "Table 3: livelocks",
        "States (and seconds) under the random scheduler. *NDFS* has no bound; the others start with 0 delays. The last column \
         splits the edges that MAP walked into those to calculate and those to refine.",
        &format!(
            "| model | N | | NDFS | iterative NDFS | iterative MAP | with {THREADS} threads | iterative SCC | calculate / refine |"
        ),
    );
    for model in models.wanted(&ENDLESS) {
        for version in ["LIVELOCK", "CORRECT"] {
            let run = |first, ask| {
                let mut machine = models.progress(model, version);
                let bounding = IterativeDelayBounding { first, ..IterativeDelayBounding::default() };
                let scheduler = RandomOrder::new(0);
                let rounds = CycleRounds { goal: Goal::Livelock, bounding: &bounding };
                let began = Instant::now();
                let found = iterative_cycles(
                    &mut machine,
                    &scheduler,
                    &mut Quiet,
                    &settings(),
                    rounds,
                    ask,
                    CheckpointPolicy::none(),
                );
                let found = found.expect("there is nothing to go on from");
                (found, began.elapsed().as_secs_f64())
            };
            let unbounded = run(u32::MAX - 1, Ask::NestedDfs);
            let (nested, map, components) = (run(0, Ask::NestedDfs), run(0, Ask::Map), run(0, Ask::Components));
            let together = {
                let mut models = vec![models.progress(model, version); THREADS];
                let (scheduler, all) = (RandomOrder::new(0), IterativeDelayBounding::default());
                let began = Instant::now();
                let (quiet, settings) = (&mut Quiet, settings());
                let rounds = CycleRounds { goal: Goal::Livelock, bounding: &all };
                let found = iterative_map_together(
                    &mut models,
                    &scheduler,
                    quiet,
                    &settings,
                    rounds,
                    ALONE_MAX,
                    CheckpointPolicy::none(),
                );
                let found = found.expect("there is nothing to go on from");
                (found.expect("there are models"), began.elapsed().as_secs_f64())
            };
            let walked = |count: fn(&fabius_search::Round) -> u64| grouped(map.0.rounds.iter().map(count).sum());
            let phases = format!("{} / {}", walked(|round| round.work.calculated), walked(|round| round.work.refined));
            let cells: Vec<String> = [unbounded, nested, map, together, components].iter().map(cycle_cell).collect();
            let what = if version == "LIVELOCK" { "livelock" } else { "none" };
            table.row(&format!("| {} | {} | {what} | {} | {phases} |", model.0, model.1, cells.join(" | ")));
        }
    }
    table.0
}

fn cycle_cell((found, seconds): &(CycleOutcome<Move, Fault>, f64)) -> String {
    let states = grouped(found.statistics.states);
    match found.completeness {
        Completeness::Stopped(_) => format!("> {}", grouped(STATES_MAX)),
        _ => format!("{states} ({seconds:.2})"),
    }
}

/// Ends a search after this many transitions.
struct Budgeted;

impl Observer<Move, Fault> for Budgeted {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        if statistics.transitions() < TRANSITIONS {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(StopReason::Cancelled)
        }
    }
}

impl DelayObserver<Move, Fault> for Budgeted {}

/// Table 1 of the paper on depth, with transitions for a budget instead of time.
fn within_a_budget(models: &Models) -> String {
    let mut table = Table::new(
        "Table 1: how far one comes",
        "States, and the depth that was explored completely, with 150 000 transitions to spend, in rounds of 20 steps; \
         *plain* expands a state again whenever it is met at a smaller depth, and keeps whole traces.",
        "| model | N | plain | thresholds and tree |",
    );
    for model in models.wanted(&DEEP) {
        let cell = |revisit, keep| {
            let found = by_depth(&mut models.safety(model, "CORRECT"), 20, revisit, keep, &mut Budgeted);
            let all = if found.completeness == Completeness::Exhaustive { ", all" } else { "" };
            let bound = found.rounds.last().map_or(0, |round| round.bound);
            format!("{}, depth {bound}{all}", grouped(found.statistics.states))
        };
        let (plain, best) = (cell(Revisit::Shallower, Keep::Traces), cell(Revisit::Threshold, Keep::Tree));
        table.row(&format!("| {} | {} | {plain} | {best} |", model.0, model.1));
    }
    table.0
}

/// Table 2 of the paper on depth.
fn revisits(models: &Models) -> String {
    let mut table = Table::new(
        "Table 2: states expanded again",
        "Without / with thresholds, everything explored.",
        "| model | N | states | increment 5 | increment 50 | increment 1000 |",
    );
    for model in models.wanted(&DEEP) {
        let mut cells = Vec::new();
        let mut states = 0;
        for increment in [5, 50, 1000] {
            let count = |revisit| {
                let found = by_depth(&mut models.safety(model, "CORRECT"), increment, revisit, Keep::Tree, &mut Quiet);
                let last = found.rounds.last().copied();
                (last.map_or(0, |round| round.work.revisits), found.statistics.states)
            };
            let (without, with) = (count(Revisit::Shallower), count(Revisit::Threshold));
            states = with.1;
            let saved = match without.0 {
                0 => String::new(),
                all => format!(" ({:.1} %)", 100.0 * (1.0 - with.0 as f64 / all as f64)),
            };
            cells.push(format!("{} / {}{saved}", grouped(without.0), grouped(with.0)));
        }
        table.row(&format!("| {} | {} | {} | {} |", model.0, model.1, grouped(states), cells.join(" | ")));
    }
    table.0
}

/// Tables 3 and 4 of the paper on depth.
fn replays(models: &Models) -> String {
    let mut table = Table::new(
        "Tables 3 and 4: getting back to the frontier",
        "Turns executed again to get to frontier states, and seconds in all, with whole traces / with the tree.",
        "| model | N | increment 5 | increment 50 | increment 1000 |",
    );
    for model in models.wanted(&DEEP) {
        let mut cells = Vec::new();
        for increment in [5, 50, 1000] {
            let count = |keep| {
                let mut machine = models.safety(model, "CORRECT");
                let began = Instant::now();
                let found = by_depth(&mut machine, increment, Revisit::Threshold, keep, &mut Quiet);
                let replayed = found.rounds.last().map_or(0, |round| round.work.replayed);
                format!("{} ({:.1} s)", grouped(replayed), began.elapsed().as_secs_f64())
            };
            cells.push(format!("{} / {}", count(Keep::Traces), count(Keep::Tree)));
        }
        table.row(&format!("| {} | {} | {} |", model.0, model.1, cells.join(" | ")));
    }
    table.0
}
