//! `fabius check`: each file from its text to its report.

use crate::args::{Check, CycleSearch, FairnessKind, ProgressOn, Question, SearchOrder, StoreKind, VacuityWish};
use crate::formats::{Format, picture};
use crate::render::text;
use crate::reporter::Reporter;
use crate::so_far::SoFar;
use crate::stop::Interrupts;
use crate::{diagram, exit, itf, output, trail};
use fabius_base::{Cancel, Finding, Limits, StopReason};
use fabius_engine::settings::{Progress, Shard, ThreadCount, VacuityExtent};
use fabius_engine::{CheckContext, Cycles, Event, Fairness, Loaded, Order, Outcome, Settings, Storage};
use fabius_project::cache::Cache;
use fabius_project::defines::definition;
use fabius_project::{Flags, Project, files};
use fabius_supervise::memory::{self, Duties};
use fabius_supervise::{Unfinished, Voice, Waiting};
use std::cell::RefCell;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A search that is saved may use so much time of a processor once it was asked to stop: as long as it takes to write some billion states.
const CHECKPOINT_GRACE: Duration = Duration::from_secs(60);

/// The name under which standard input is shown.
const STDIN_NAME: &str = "<stdin>";
/// What a check may take beside what its searches count: the model, what explains a violation, tables that are being written anew.
const BESIDE_SEARCH_BYTES: u64 = 64 << 20;

/// What the last panic said; the panic itself prints nothing.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Checks all files; returns the exit code of the worst result.
pub fn run(args: &Check) -> u8 {
    // A violation that is known must not hide a new one.
    let args = &Check { keep_going: args.keep_going || args.baseline.is_used(), ..args.clone() };
    let interrupts = Interrupts::default();
    // Else they are listened to once a check has taken a moment: a thread for that takes as long as a small check.
    if args.others.search() || args.checkpoints.checkpoint.is_some() {
        interrupts.begin();
    }
    let mut settings = settings(args);
    if let Err(why) = refuse(args) {
        let _ = writeln!(anstream::stderr(), "error: {why}");
        return exit::FAULTY;
    }
    let asked = args.checkpoints.checkpoint_files().and_then(|files| {
        settings.checkpoint_files = files;
        settings.processes = args.others.all(args.question.max_memory)?;
        Ok(())
    });
    if let Err(why) = asked {
        let _ = writeln!(anstream::stderr(), "error: {why}");
        return exit::FAULTY;
    }
    let baseline = match args.baseline.read() {
        Ok(baseline) => baseline,
        Err(why) => {
            let _ = writeln!(anstream::stderr(), "error: {why}");
            return exit::FAULTY;
        }
    };
    panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let mut reporter = Reporter::new(args, settings.limits);
    let so_far = SoFar::default();
    let mut worst = 0;
    for path in &args.files {
        let (code, next) = check_in_time(path, args, &settings, &interrupts, &so_far, reporter);
        (worst, reporter) = (exit::worse(worst, code), next);
        if interrupts.pressed() || reporter.has_failed() {
            break;
        }
    }
    reporter.finish(worst, baseline.as_ref())
}

/// Refuses flags that contradict each other whatever the model is.
///
/// # Errors
/// Why they are refused.
pub(crate) fn refuse(args: &Check) -> Result<(), String> {
    diagram::check_flags(args)?;
    picture::check(args.picture.as_ref(), args.formats.format() == Format::Html)?;
    trail::check_flags(args)?;
    itf::check_flags(args)?;
    args.checkpoints.check_flags(args.files.len())?;
    args.question.check_formulas()?;
    args.formats.check()
}

/// A finding about flags, which have no place in a text.
pub(crate) fn in_lines(refusal: &Finding) -> String {
    let mut text = format!("error[{}]: {}", refusal.code.as_str(), refusal.headline);
    refusal.notes.iter().for_each(|note| text.push_str(&format!("\n  = note: {note}")));
    refusal.help.iter().for_each(|help| text.push_str(&format!("\n  = help: {help}")));
    text
}

/// Checks one file; if that does not stop in time, what is known must do. Returns the exit code, and the face for the
/// next file.
fn check_in_time(
    path: &Path,
    args: &Check,
    settings: &Settings,
    interrupts: &Interrupts,
    so_far: &SoFar,
    mut reporter: Reporter,
) -> (u8, Reporter) {
    let (cancel, voice) = (Cancel::new(), Voice::default());
    interrupts.watch(&cancel);
    so_far.begin(&path.display().to_string());
    guard_memory(args, &cancel, so_far);
    reporter.begin(&voice);
    let job = Job {
        path: path.to_path_buf(),
        args: args.clone(),
        settings: settings.clone(),
        cancel: cancel.clone(),
        so_far: so_far.clone(),
    };
    let grace = if args.checkpoints.checkpoint.is_some() { CHECKPOINT_GRACE } else { Duration::ZERO };
    let waiting = Waiting { name: "check", allowed: args.timeout, grace, look: &mut || interrupts.begin() };
    let threads = settings.threads.most();
    let checked = fabius_supervise::run_meanwhile(&cancel, &voice, threads, waiting, move |result| {
        let checked = panic::catch_unwind(AssertUnwindSafe(|| job.check(&mut reporter)));
        let (code, rest) = checked.unwrap_or_else(|_| {
            reporter.crashed(&job.path, &PANIC.lock().unwrap_or_else(PoisonError::into_inner));
            (exit::INTERNAL, None)
        });
        let _ = result.send((code, reporter));
        // To give back what a huge model takes may take long; nobody waits for it.
        drop(rest);
    });
    checked.unwrap_or_else(|why| {
        let (done, report) = so_far.reports(why);
        let (code, mut reporter) = (exit::of_report(&report), Reporter::instead(args, settings.limits, done.clone()));
        done.iter().chain([&report]).for_each(|report| so_far.done(report));
        reporter.unfinished(report);
        (code, reporter)
    })
}

/// One file to check.
struct Job {
    path: PathBuf,
    args: Check,
    settings: Settings,
    cancel: Cancel,
    so_far: SoFar,
}

/// What is left of a check once its result was told.
type Rest = Option<(Loaded, Outcome)>;

impl Job {
    /// Says that the file was not read to its end, since somebody asked to stop; returns its exit code.
    fn unread(&self, why: StopReason, reporter: &mut Reporter) -> u8 {
        let (before, report) = self.so_far.reports(why);
        before.iter().chain([&report]).for_each(|report| self.so_far.done(report));
        let code = exit::of_report(&report);
        reporter.unfinished(report);
        code
    }

    /// Checks the file; returns its exit code.
    fn check(&self, reporter: &mut Reporter) -> (u8, Rest) {
        let Self { path, args, cancel, so_far, .. } = self;
        let started = Instant::now();
        if let Ok(Some(project)) = Project::of(path) {
            let told = project.told(path, flags(&args.question)).report.clone();
            so_far.project(told);
        }
        let loaded = match load(path, &args.question, &self.settings, cancel) {
            Ok(loaded) => loaded,
            Err(why) => return (self.unread(why, reporter), None),
        };
        let mut settings = chosen(&loaded, path, &args.question, self.settings.clone());
        if let Some(delaying) = &mut settings.delaying {
            match args.question.delays.scheduler_for(path) {
                Ok(scheduler) => delaying.scheduler = scheduler,
                // What is wrong with the model or its project is told first.
                Err(_) if loaded.checkable().is_none() => {}
                Err(why) => {
                    let _ = writeln!(anstream::stderr(), "error: {why}");
                    return (exit::FAULTY, None);
                }
            }
        }
        let settings = &settings;
        // A search counts what it holds, and not what it takes for a moment: that counts where somebody set the limit.
        let allowed = args.question.max_memory.map(|bytes| bytes.saturating_add(BESIDE_SEARCH_BYTES));
        let _memory = allowed.map(|bytes| memory::Watch::start(bytes, cancel));
        reporter.loaded(&loaded);
        so_far.loaded(&loaded, settings);
        let cache = if args.no_cache || args.events || args.prune.is_some() { None } else { Cache::of_user() };
        let shown = RefCell::new(reporter);
        let mut context = CheckContext {
            cancel,
            now: &|| started.elapsed(),
            observe: &mut |event: Event| {
                so_far.event(&event);
                shown.borrow_mut().event(&loaded, &event);
            },
            controls: None,
        };
        let forget_implied = |outcome: &mut Outcome| args.baseline.forget_implied(outcome);
        let outcome = Cache::check_and_amend(cache.as_ref(), &loaded, settings, &mut context, forget_implied);
        shown.into_inner().done(&loaded, &outcome);
        so_far.done(&outcome.report);
        let is_part = settings.delaying.as_ref().is_some_and(|delaying| delaying.shard != Shard::WHOLE);
        let code = if is_part { exit::of_part(&outcome.report) } else { exit::of_report(&outcome.report) };
        (code, Some((loaded, outcome)))
    }
}

/// When memory runs out, the check stops; if that does not help, what is known is said.
fn guard_memory(args: &Check, cancel: &Cancel, so_far: &SoFar) {
    let (cancel, so_far, args) = (cancel.clone(), so_far.clone(), args.clone());
    let stop = Box::new(move || cancel.exhaust());
    // The next file sets memory aside anew.
    let (over, last_word) = (Box::new(|| false), Box::new(move || so_far.last_word(&args)));
    memory::guard(memory::available_bytes(), Duties { stop, over, last_word });
}

/// The settings of flags, with what the project of a model says where no flag does.
pub(crate) fn chosen(loaded: &Loaded, path: &Path, question: &Question, settings: Settings) -> Settings {
    match Project::of(path) {
        Ok(Some(project)) => project.settings(loaded, flags(question), settings),
        // What is wrong with the file is told with the text.
        Ok(None) | Err(_) => settings,
    }
}

/// What counts more than what a project says.
fn flags(question: &Question) -> Flags<'_> {
    Flags { defines: &question.define, properties: &question.property, fairness: question.fairness.is_some() }
}

/// Reads a model as its project says.
///
/// # Errors
/// Why it was not read to its end, if `cancel` asked to stop.
pub(crate) fn load(
    path: &Path,
    question: &Question,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<Loaded, StopReason> {
    let (mut loaded, project) = load_defining(path, &question.define, settings, cancel)?;
    let told = project.map(|project| project.told(path, flags(question)));
    loaded.project = told.filter(|project| !project.report.settings.is_empty());
    Ok(loaded)
}

/// Reads a model with the macros of flags and of its project, and gives the project; if that is wrong, the model says so.
///
/// # Errors
/// Why it was not read to its end, if `cancel` asked to stop.
pub(crate) fn load_defining(
    path: &Path,
    define: &[String],
    settings: &Settings,
    cancel: &Cancel,
) -> Result<(Loaded, Option<Project>), StopReason> {
    load_adding(path, define, "", settings, cancel)
}

/// Reads a model for a subcommand of its own, within a limit of memory in bytes, and tells what there is to say of its text.
///
/// # Errors
/// The exit code, if it was not read to its end; why was told.
pub(crate) fn load_and_tell(
    path: &Path,
    define: &[String],
    max_memory: Option<u64>,
    cancel: &Cancel,
) -> Result<Loaded, u8> {
    let limits = Limits { memory_bytes_max: max_memory, ..Limits::default() };
    load_asking(path, define, &Settings { limits, ..Settings::default() }, cancel)
}

/// As [`load_and_tell`], with formulas to be asked about beside those of the model.
///
/// # Errors
/// As there.
pub(crate) fn load_asking(path: &Path, define: &[String], settings: &Settings, cancel: &Cancel) -> Result<Loaded, u8> {
    match load_defining(path, define, settings, cancel) {
        Ok((loaded, _)) => {
            let _ = write!(anstream::stderr(), "{}", text::findings(&loaded.map, &loaded.findings));
            Ok(loaded)
        }
        Err(why) => {
            output::complain(&format!("error: not read to its end: {}", Unfinished::Abandoned(why).sentence()));
            Err(exit::UNDECIDED)
        }
    }
}

/// As [`load_defining`], of a model with more text at its end.
///
/// # Errors
/// Why it was not read to its end, if `cancel` asked to stop.
pub(crate) fn load_adding(
    path: &Path,
    define: &[String],
    more: &str,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<(Loaded, Option<Project>), StopReason> {
    let project = match Project::of(path) {
        Ok(project) => project,
        Err(misconfigured) => return Ok((*misconfigured, None)),
    };
    let mut defines: Vec<(String, String)> = define.iter().map(|text| definition(text)).collect();
    if let Some(project) = &project {
        defines = project.defines(&defines);
    }
    let loaded = read(path, more, &defines, settings, cancel)?;
    Ok(match project.as_ref().and_then(|project| project.wrong_about(path, &loaded)) {
        Some(wrong) => (wrong, None),
        None => match &project {
            Some(found) => (found.warn(loaded), project),
            None => (loaded, project),
        },
    })
}

/// Reads a model, with more text at its end.
fn read(
    path: &Path,
    more: &str,
    defines: &[(String, String)],
    settings: &Settings,
    cancel: &Cancel,
) -> Result<Loaded, StopReason> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin { STDIN_NAME.to_owned() } else { path.display().to_string() };
    match if stdin { files::read_stdin() } else { files::read(path) } {
        Ok(text) => {
            let text = text + more;
            let mut include = |including: &str, included: &str| {
                let path = files::beside(Path::new(including), included);
                files::read_ordinary(&path).ok().map(|text| (path.display().to_string(), text))
            };
            // A search counts what it takes, reading does not.
            let allowed = settings.limits.memory_bytes_max.unwrap_or_else(memory::default_bytes);
            let _watch = memory::Watch::start(allowed, cancel);
            fabius_engine::load_until(
                cancel,
                fabius_engine::ModelText { name: &name, text },
                defines,
                &mut include,
                settings,
            )
        }
        Err(why) => Ok(fabius_engine::unreadable(&name, &why)),
    }
}

pub(crate) fn settings(args: &Check) -> Settings {
    let asked = asked(&args.question);
    Settings {
        search: match args.search {
            None => Order::DepthFirstThenShorten,
            Some(SearchOrder::Dfs) => Order::DepthFirst,
            Some(SearchOrder::Bfs) => Order::BreadthFirst,
        },
        store: args.store.map(|store| match store {
            StoreKind::Tree => Storage::Tree,
            StoreKind::Hash => Storage::Hash,
            StoreKind::Bitstate => Storage::Bitstate,
        }),
        keep_going: args.keep_going,
        optimize: !args.no_optimize && args.prune.is_none(),
        cut_ranges: args.cut_ranges,
        reduction: !args.no_reduction && args.prune.is_none(),
        prune: args.prune.clone(),
        audit: args.audit.into(),
        hints: args.hints,
        vacuity: match args.vacuity {
            VacuityWish::Off => VacuityExtent::Off,
            VacuityWish::Quick => VacuityExtent::Quick,
            VacuityWish::Full => VacuityExtent::Full,
        },
        processes: args.others.local(),
        schedule: !args.no_schedule,
        until: args.timeout,
        limits: Limits { depth_max: args.max_depth, ..asked.limits },
        ..asked
    }
}

/// How many threads may search: as many as were asked for, or as the machine has cores.
fn threads(asked: Option<u16>) -> ThreadCount {
    asked.map_or_else(ThreadCount::of_machine, |count| ThreadCount::Exactly(count.into()))
}

/// What the flags that are shared ask for.
pub(crate) fn asked(question: &Question) -> Settings {
    Settings {
        properties: question.property.clone(),
        formulas: question.ltl.clone(),
        fairness: question.fairness.map_or(Fairness::None, Fairness::from),
        cycles: question.cycles.map_or(Cycles::Suitable, Cycles::from),
        progress: question.progress.map_or(Progress::States, Progress::from),
        delaying: question.delays.settings(),
        depth_bounding: question.delays.depth(),
        threads: threads(question.threads),
        limits: Limits {
            states_max: question.max_states,
            depth_max: None,
            memory_bytes_max: Some(question.max_memory.unwrap_or_else(memory::default_bytes)),
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
