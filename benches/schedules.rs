//! Under which scheduling erroneous models are safe, and what it costs to say so: `cargo bench --bench schedules`.
//!
//! Every model of the corpus of which Spin reports an error of safety is checked, then a schedule is looked for as `fabius check` does
//! it, and once more as `fabius schedule` does it, with some seconds. Times are the least of a few runs, in milliseconds of
//! CPU time. Before that, the models on the page `docs/experiments/schedules.md`: when their first schedule is reported, and when
//! everything is explored.
//!
//! `-- --write` writes both tables into `docs/experiments/schedules.md`; `-- --seconds S` changes the time for the longer look,
//! `-- --runs N` how often each is measured; other words select models.

use fabius_analysis::schedule::{
    ScheduleProgress, ScheduleReport, ScheduleRequest, ScheduleVerdict, Scheduled, Stage, Stops, schedule,
};
use fabius_base::Cancel;
use fabius_engine::{CheckContext, Loaded, PropertyReport, Settings, Verdict, check, load};
use fabius_supervise::Timer;
use fabius_testkit::corpus::{Corpus, Entry};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A check may take this long.
const CHECK: Duration = Duration::from_secs(10);
/// Beyond this many states of a model, nothing is promised.
const PROMISED_STATES: u64 = 200_000;

struct Options {
    write: bool,
    seconds: u64,
    runs: usize,
    only: Vec<String>,
}

/// Milliseconds of each stage.
type Stages = BTreeMap<Stage, f64>;

/// A schedule that was looked for, and how long it took.
struct Looked {
    scheduled: Scheduled,
    stages: Stages,
    /// When it was known that there is a safe schedule: states met, and milliseconds.
    first: Option<(u64, f64)>,
    /// Milliseconds until the answer.
    all: f64,
}

struct Row {
    model: String,
    /// States of the model, where Spin counted all.
    states: Option<u64>,
    checked: f64,
    after: Looked,
    longer: Looked,
}

impl Row {
    fn after(&self) -> &Looked {
        &self.after
    }

    fn longer(&self) -> &Looked {
        &self.longer
    }
}

fn main() {
    let options = options();
    let first = first_table(&options);
    println!("{first}");
    let corpus = corpus_rows(&options);
    let text = corpus_table(&corpus, &options);
    println!("\n{text}");
    if options.write {
        for (part, text) in [("first", &first), ("corpus", &text)] {
            fabius_testkit::page::put(&page(), part, text).expect("docs/experiments/schedules.md can be written");
        }
    }
}

/// The models of the page, each with the heading above it; of one with a number of processes, some numbers.
fn models_of_page() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(page()).unwrap_or_default();
    let (mut models, mut heading, mut lines) = (Vec::new(), "", text.lines());
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title;
        }
        let Some(fence) = ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence)) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with(fence)).collect();
        if !line.ends_with("promela") {
            continue;
        }
        let model = block.join("\n");
        match model.strip_prefix("#define N 1\n") {
            Some(rest) => models.extend(
                [1, 2, 4].map(|many| (format!("{heading}: {many} + {many}"), format!("#define N {many}\n{rest}"))),
            ),
            None => {
                let before = models.iter().filter(|(name, _): &&(String, String)| name.starts_with(heading)).count();
                let name = if before == 0 { heading.to_owned() } else { format!("{heading}: model {}", before + 1) };
                models.push((name, model));
            }
        }
    }
    models
}

/// Of each model of the page, when its first schedule is reported, and when a complete search ends.
fn first_table(options: &Options) -> String {
    let mut text = String::from(
        "| model | states at the first schedule | all states | first schedule, ms | all explored, ms | `check` of all states, ms |\n\
         |---|--:|--:|--:|--:|--:|\n",
    );
    let (mut models, mut early) = (0, 0);
    for (name, model) in models_of_page().into_iter().filter(|(name, _)| options.wants(name)) {
        let loaded = load("m.pml", model, &[], &mut |_, _| None, &Settings::default());
        let request = ScheduleRequest::unhurried();
        let looked = fastest(options.runs, || look(&loaded, &request, Duration::from_secs(options.seconds)));
        let settings = Settings { keep_going: true, ..safety() };
        let times = (0..options.runs).filter_map(|_| checked(&loaded, &settings)).map(|(_, time)| time);
        let complete = times.fold(f64::INFINITY, f64::min);
        let Some((states, first)) = looked.first else { continue };
        let all = looked.scheduled.report.explored.states;
        let explored = looked.of(Stage::Exploration) + looked.of(Stage::Region);
        let _ = writeln!(text, "| {name} | {states} | {all} | {first:.2} | {explored:.2} | {complete:.2} |");
        models += 1;
        early += u32::from(states < all);
    }
    let _ = writeln!(text, "\nOf {models} models, the first schedule of {early} is known before all states are.");
    text
}

fn safety() -> Settings {
    Settings { properties: vec!["safety".to_owned()], schedule: false, ..Settings::default() }
}

impl Looked {
    /// Milliseconds of a stage.
    fn of(&self, stage: Stage) -> f64 {
        self.stages.get(&stage).copied().unwrap_or(0.0)
    }

    /// Milliseconds for the region, for each of the exploration.
    fn share_of_region(&self) -> f64 {
        self.of(Stage::Region) / self.of(Stage::Exploration)
    }
}

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/experiments/schedules.md")
}

fn options() -> Options {
    let mut options = Options { write: false, seconds: 10, runs: 3, only: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => options.write = true,
            "--seconds" => options.seconds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(10),
            "--runs" => options.runs = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3).max(1),
            "--bench" => {}
            word => options.only.push(word.to_owned()),
        }
    }
    options
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.contains(word.as_str()))
    }
}

fn read(path: &Path) -> Loaded {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut include = |including: &str, included: &str| {
        let beside = Path::new(including).parent()?.join(included);
        std::fs::read_to_string(&beside).ok().map(|text| (beside.display().to_string(), text))
    };
    load(&path.display().to_string(), text, &[], &mut include, &Settings::default())
}

/// Milliseconds of CPU time of this thread.
#[cfg(unix)]
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Milliseconds of this process.
#[cfg(not(unix))]
fn now() -> f64 {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

/// The check of a property, and its milliseconds.
fn checked(loaded: &Loaded, settings: &Settings) -> Option<(PropertyReport, f64)> {
    let settings = fabius_engine::suited(loaded, settings);
    let cancel = Cancel::new();
    let _timer = Timer::start(Some(CHECK), &cancel);
    let (clock, began) = (Instant::now(), now());
    let mut context = CheckContext { cancel: &cancel, now: &|| clock.elapsed(), observe: &mut |_| {}, controls: None };
    let mut report = check(loaded, &settings, &mut context).report;
    let taken = now() - began;
    (report.properties.len() == 1).then(|| (report.properties.remove(0), taken))
}

/// Looks for a schedule.
fn look(loaded: &Loaded, request: &ScheduleRequest, allowed: Duration) -> Looked {
    let stops = Stops { exploration: Cancel::new(), waits: Cancel::new(), all: Cancel::new() };
    let _timers = [
        Timer::start(Some(allowed / 2), &stops.exploration),
        Timer::start(Some(allowed / 10 * 8), &stops.waits),
        Timer::start(Some(allowed), &stops.all),
    ];
    let (mut stages, mut first) = (Stages::new(), None);
    let began = now();
    let mut stage = (Stage::Telling, began);
    let scheduled = schedule(loaded, request, &stops, &mut |progress| match progress {
        ScheduleProgress::Begins(next) => {
            *stages.entry(stage.0).or_default() += now() - stage.1;
            stage = (next, now());
        }
        ScheduleProgress::Round(round) if round.schedulable => {
            first.get_or_insert_with(|| (round.states, now() - began));
        }
        ScheduleProgress::Round(_) => {}
    });
    *stages.entry(stage.0).or_default() += now() - stage.1;
    Looked { scheduled: scheduled.after_violation(), stages, first, all: now() - began }
}

/// The fastest of some runs.
fn fastest(runs: usize, mut run: impl FnMut() -> Looked) -> Looked {
    let first = run();
    // What takes seconds is measured once.
    let more = if first.all < 1000.0 { runs - 1 } else { 0 };
    (0..more).map(|_| run()).fold(first, |best, other| if other.all < best.all { other } else { best })
}

fn has_error(entry: &Entry) -> bool {
    ["base", "first_error"].iter().any(|name| entry.run(name).is_some_and(|run| run.errors != 0))
}

fn corpus_rows(options: &Options) -> Vec<Row> {
    let Some(corpus) = Corpus::load() else {
        println!("The corpus is not there (set FABIUS_CORPUS): nothing to measure.");
        return Vec::new();
    };
    let mut rows = Vec::new();
    for entry in corpus.entries.iter().filter(|entry| has_error(entry) && options.wants(&entry.path)) {
        let loaded = read(&corpus.file(entry));
        let Some((property, mut taken)) = checked(&loaded, &safety()) else { continue };
        if property.verdict != Verdict::Violated {
            continue;
        }
        for _ in 1..options.runs {
            taken = checked(&loaded, &safety()).map_or(taken, |(_, again)| taken.min(again));
        }
        let allowed = Duration::from_secs(options.seconds);
        let request = ScheduleRequest::after_check(property.transitions);
        let after = fastest(options.runs, || look(&loaded, &request, allowed));
        let longer = look(&loaded, &ScheduleRequest::unhurried(), allowed);
        let states = entry.run("base").filter(|run| run.complete).map(|run| run.stored);
        let row = Row { model: entry.path.clone(), states, checked: taken, after, longer };
        println!("{}", corpus_row(&row));
        rows.push(row);
    }
    rows
}

/// The answer in a few words.
fn answer(looked: &Looked) -> String {
    if let Some(failure) = &looked.scheduled.failure {
        return failure.clone();
    }
    let ScheduleReport { verdict, waits, priorities, held_back, explored, .. } = &looked.scheduled.report;
    let how = match waits.len() {
        0 if !priorities.is_empty() => "a fixed order".to_owned(),
        0 if !held_back.is_empty() => "by the whole state".to_owned(),
        0 => "a scheduler by itself".to_owned(),
        1 => "1 wait".to_owned(),
        more => format!("{more} waits"),
    };
    match verdict {
        ScheduleVerdict::Avoidable if explored.exhaustive => format!("avoidable: {how}"),
        ScheduleVerdict::Avoidable => format!("avoidable: {how} (not all explored)"),
        ScheduleVerdict::Unavoidable => "unavoidable".to_owned(),
        _ => "not known".to_owned(),
    }
}

fn corpus_row(row: &Row) -> String {
    let states = row.states.map_or_else(|| "?".to_owned(), |states| states.to_string());
    let of = |stage: Stage| row.after.of(stage);
    let rest = row.after.all - of(Stage::Exploration) - of(Stage::Region) - of(Stage::Waits) - of(Stage::Check);
    format!(
        "| {} | {states} | {:.1} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {rest:.1} | {} | {} | {:.0} |",
        row.model,
        row.checked,
        answer(&row.after),
        row.after.all,
        of(Stage::Exploration),
        of(Stage::Region),
        of(Stage::Waits),
        of(Stage::Check),
        answer(&row.longer),
        row.longer.first.map_or_else(String::new, |(_, first)| format!("{first:.1}")),
        row.longer.all,
    )
}

fn corpus_table(rows: &[Row], options: &Options) -> String {
    let mut text = String::from(
        "| model | states | check | after the check | in all | exploration | region | waits | checking | rest | \
         `fabius schedule` | first | in all |\n|---|--:|--:|---|--:|--:|--:|--:|--:|--:|---|--:|--:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", corpus_row(row));
    }
    let promised = rows.iter().filter(|row| row.states.is_some_and(|states| states < PROMISED_STATES));
    let most = promised.clone().map(|row| row.after.all).fold(0.0, f64::max);
    let count = promised.count();
    let _ = writeln!(
        text,
        "\nOf the {} models, Spin counts fewer than {PROMISED_STATES} states in {count}; of these, none takes more than {most:.0} ms \
         after the check.",
        rows.len()
    );
    for (name, of) in [("After a check", Row::after as fn(&Row) -> &Looked), ("With some seconds", Row::longer)] {
        let mut answers: BTreeMap<String, u32> = BTreeMap::new();
        rows.iter().for_each(|row| *answers.entry(answer(of(row))).or_default() += 1);
        let answers: Vec<String> = answers.iter().map(|(answer, many)| format!("{many} {answer}")).collect();
        let _ = writeln!(text, "\n{name}: {}.", answers.join(", "));
    }
    let shares = |of: fn(&Row) -> &Looked| {
        let looked = rows.iter().map(of).filter(|looked| 1.0 < looked.of(Stage::Exploration));
        looked.map(Looked::share_of_region).fold(0.0, f64::max)
    };
    let _ = writeln!(
        text,
        "\nThe region takes at most {:.0} % of the time of the exploration after a check, and {:.0} % with {} seconds (where that takes more than \
         a millisecond).",
        100.0 * shares(Row::after),
        100.0 * shares(Row::longer),
        options.seconds
    );
    text
}
