//! `fabius check`: each file from its text to its report.

use crate::args::{Check, CycleSearch, FairnessKind, ProgressOn, Question, SearchOrder, StoreKind};
use crate::face::Face;
use crate::stop::{Interrupts, Timer};
use crate::{exit, files};
use fabius_base::{Cancel, Limits};
use fabius_engine::settings::Progress;
use fabius_engine::{Cycles, Event, Fairness, Loaded, Order, Settings, Storage, Surroundings};
use fabius_lsp::session::cache::Cache;
use std::cell::RefCell;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The name under which standard input is shown.
const STDIN_NAME: &str = "<stdin>";

/// What the last panic said; the panic itself prints nothing.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Checks all files; returns the exit code of the worst result.
pub fn run(args: &Check) -> u8 {
    let interrupts = Interrupts::listen();
    let mut settings = settings(args);
    let delays = &args.question.delays;
    let contradiction = delays.contradiction().map(str::to_owned).or_else(|| args.checkpoints.contradiction(delays));
    if let Some(why) = contradiction {
        let _ = writeln!(anstream::stderr(), "error: {why}");
        return exit::FAULTY;
    }
    match args.checkpoints.keeper() {
        Ok(keeper) => settings.keeper = keeper,
        Err(why) => {
            let _ = writeln!(anstream::stderr(), "error: {why}");
            return exit::FAULTY;
        }
    }
    let mut face = Face::new(args);
    let mut worst = 0;
    panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    for path in &args.files {
        let checked =
            panic::catch_unwind(AssertUnwindSafe(|| check_file(path, args, &settings, &interrupts, &mut face)));
        let code = checked.unwrap_or_else(|_| {
            face.crashed(path, &PANIC.lock().unwrap_or_else(PoisonError::into_inner));
            exit::INTERNAL
        });
        worst = exit::worse(worst, code);
        if interrupts.pressed() {
            break;
        }
    }
    face.finish();
    worst
}

/// Checks one file; returns its exit code.
fn check_file(path: &Path, args: &Check, settings: &Settings, interrupts: &Interrupts, face: &mut Face) -> u8 {
    let cancel = Cancel::new();
    interrupts.watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let started = Instant::now();
    face.begin();
    let mut settings = settings.clone();
    if let Some(delaying) = &mut settings.delaying {
        match args.question.delays.scheduler_for(path) {
            Ok(scheduler) => delaying.scheduler = scheduler,
            Err(why) => {
                let _ = writeln!(anstream::stderr(), "error: {why}");
                return exit::FAULTY;
            }
        }
    }
    let settings = &settings;
    let loaded = load(path, &args.question.define, settings);
    face.loaded(&loaded);
    let cache = if args.no_cache || args.events { None } else { Cache::of_user() };
    if let Some(known) = cache.as_ref().and_then(|cache| cache.look_up(&loaded, settings)) {
        face.done(&loaded, &known);
        return exit::of_report(&known.report);
    }
    let face = RefCell::new(face);
    let outcome = fabius_engine::check(
        &loaded,
        settings,
        &mut Surroundings {
            cancel: &cancel,
            now: &|| started.elapsed(),
            observe: &mut |event: Event| face.borrow_mut().event(&event),
            controls: None,
        },
    );
    if let Some(cache) = &cache {
        cache.remember(&loaded, settings, &outcome);
    }
    face.into_inner().done(&loaded, &outcome);
    exit::of_report(&outcome.report)
}

pub(crate) fn load(path: &Path, define: &[String], settings: &Settings) -> Loaded {
    let stdin = path.as_os_str() == "-";
    let name = if stdin { STDIN_NAME.to_owned() } else { path.display().to_string() };
    match if stdin { files::read_stdin() } else { files::read(path) } {
        Ok(text) => {
            let mut include = |including: &str, included: &str| {
                let path = files::beside(Path::new(including), included);
                files::read(&path).ok().map(|text| (path.display().to_string(), text))
            };
            fabius_engine::load(&name, text, &defines(define), &mut include, settings)
        }
        Err(why) => fabius_engine::unreadable(&name, &why),
    }
}

/// The definitions of `-D`, as name and value.
fn defines(define: &[String]) -> Vec<(String, String)> {
    let split = |text: &String| match text.split_once('=') {
        // To the preprocessor an empty value means 1; a blank is a macro without content.
        Some((name, "")) => (name.to_owned(), " ".to_owned()),
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (text.clone(), "1".to_owned()),
    };
    define.iter().map(split).collect()
}

fn settings(args: &Check) -> Settings {
    let asked = asked(&args.question);
    Settings {
        search: match args.search {
            None => Order::DepthFirstThenShorten,
            Some(SearchOrder::Dfs) => Order::DepthFirst,
            Some(SearchOrder::Bfs) => Order::BreadthFirst,
        },
        store: match args.store {
            StoreKind::Tree => Storage::Tree,
            StoreKind::Hash => Storage::Hash,
            StoreKind::Bitstate => Storage::Bitstate,
        },
        keep_going: args.keep_going,
        optimize: !args.no_optimize,
        reduction: !args.no_reduction,
        hints: args.hints,
        until: args.timeout,
        limits: Limits { depth_max: args.max_depth, ..asked.limits },
        ..asked
    }
}

/// What the flags that are shared ask for.
pub(crate) fn asked(question: &Question) -> Settings {
    Settings {
        properties: question.property.clone(),
        formulas: question.ltl.clone(),
        fairness: question.fairness.into(),
        cycles: question.cycles.map_or(Cycles::Suitable, Cycles::from),
        progress: question.progress.into(),
        delaying: question.delays.settings(),
        depth_bounding: question.delays.depth(),
        threads: usize::from(question.threads),
        limits: Limits {
            states_max: question.max_states,
            depth_max: None,
            memory_bytes_max: Some(question.max_memory.unwrap_or_else(files::memory_bytes_default)),
        },
        ..Settings::default()
    }
}

impl From<FairnessKind> for Fairness {
    fn from(kind: FairnessKind) -> Self {
        match kind {
            FairnessKind::None => Self::None,
            FairnessKind::Weak => Self::Weak,
            FairnessKind::Strong => Self::Strong,
        }
    }
}

impl From<CycleSearch> for Cycles {
    fn from(search: CycleSearch) -> Self {
        match search {
            CycleSearch::DfsFifo => Self::DfsFifo,
            CycleSearch::Ndfs => Self::NestedDfs,
            CycleSearch::Scc => Self::Components,
            CycleSearch::Map => Self::Map,
            CycleSearch::IterativeNdfs => Self::IterativeNestedDfs,
        }
    }
}

impl From<ProgressOn> for Progress {
    fn from(on: ProgressOn) -> Self {
        match on {
            ProgressOn::States => Self::States,
            ProgressOn::Transitions => Self::Transitions,
        }
    }
}
