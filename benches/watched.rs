//! What it costs to watch a search, and whether the screen ever keeps anybody waiting: `cargo bench --bench watched`.
//!
//! The largest models of the corpus are searched alone and watched, in turn. What counts is states for each second of the
//! search thread's *processor* time, so that other work on the machine matters less; the median of some rounds is taken.
//! A watched search tells what it is at ten times a second, as under `fabius explore`, and each time a picture of 160 columns and
//! 50 rows is drawn from that. Then: a run of 10⁵ steps is scrolled, and the real program is started in a
//! pseudo-terminal and left alone.
//!
//! `-- --write` writes a section of `docs/benchmarks.md`; `-- --rounds N` and `-- --seconds S` change how long it takes;
//! other words select models.

#[cfg(unix)]
#[path = "../tests/interfaces/explorer/terminal.rs"]
#[expect(dead_code, reason = "tests use the rest")]
mod terminal;

use fabius_base::Cancel;
use fabius_engine::{CheckContext, Controls, Event, Loaded, Settings, check, load};
use fabius_project::originals::Originals;
use fabius_tui::message::Message;
use fabius_tui::model::{LaunchOptions, Model, Screen};
use fabius_tui::{Theme, update::update, view::view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const TELL_EVERY: Duration = Duration::from_millis(100);
/// The largest models of the corpus that Spin can search to the end: from 7 to 15 million states.
const MODELS: &[&str] = &[
    "olegdayo/practice-2-1_2.pml",
    "spin-examples/ex_ex_6.pml",
    "conc-queue/queue_cs.pml",
    "freertos/dynamic.pml",
    "beem/hanoi.3.pml",
    "beem/anderson.3.pml",
    "case-studies/i-protocol_i1.pml",
    "rkolovanov/models_n-processes-dijkstra.pml",
    "case-studies/i-protocol_i2.pml",
    "spins-tests/peterson5.pml",
];
/// Steps of the run that is scrolled.
const LONG: usize = 100_000;
/// How long the idle program is left alone.
#[cfg(unix)]
const IDLE: Duration = Duration::from_secs(5);
const MARKS: (&str, &str) = ("<!-- watched -->", "<!-- end of watched -->");

struct Options {
    write: bool,
    rounds: usize,
    seconds: f64,
    only: Vec<String>,
}

fn main() {
    let options = options();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let corpus = fabius_needs::corpus_folder();
    let mut text = String::from("| what | goal | measured |\n|---|--:|--:|\n");
    for line in [scrolling()].into_iter().chain(program()) {
        println!("{line}");
        let _ = writeln!(text, "{line}");
    }
    text.push_str("\n| model | states/s alone | watched | lost | p95 picture, ms |\n|---|--:|--:|--:|--:|\n");
    let mut losses = Vec::new();
    for name in MODELS {
        let path = corpus.join("models").join(name);
        let wanted = options.only.is_empty() || options.only.iter().any(|word| name.contains(word.as_str()));
        if !wanted || !path.is_file() {
            continue;
        }
        let (line, loss) = side_by_side(name, &path, &options);
        println!("{line}");
        let _ = writeln!(text, "{line}");
        losses.push(loss);
    }
    if !losses.is_empty() {
        let _ = writeln!(text, "\nMedian of what is lost: {:.1} %.", median(&mut losses));
    }
    println!("\n{text}");
    if options.write {
        write(&root.join("docs/benchmarks.md"), &text);
    }
}

fn options() -> Options {
    let mut options = Options { write: false, rounds: 5, seconds: 2.0, only: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => options.write = true,
            "--rounds" => options.rounds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(5),
            "--seconds" => options.seconds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(2.0),
            "--bench" => {}
            word => options.only.push(word.to_owned()),
        }
    }
    options
}

/// Puts a text between the marks of a file.
fn write(path: &Path, text: &str) {
    let old = std::fs::read_to_string(path).unwrap_or_default();
    let (Some((head, rest)), (begin, end)) = (old.split_once(MARKS.0), MARKS) else {
        panic!("{} has no line {}", path.display(), MARKS.0);
    };
    let tail = rest.split_once(end).map_or("", |(_, tail)| tail);
    std::fs::write(path, format!("{head}{begin}\n\n{text}\n{end}{tail}")).expect("the file can be written");
}

fn read(path: &Path, settings: &Settings) -> Arc<Loaded> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut include = |including: &str, included: &str| {
        let beside = Path::new(including).parent()?.join(included);
        std::fs::read_to_string(&beside).ok().map(|text| (beside.display().to_string(), text))
    };
    Arc::new(load(&path.display().to_string(), text, &[], &mut include, settings))
}

/// A model alone and watched, in turn; the row of the table, and how much of the rate is lost, in percent.
fn side_by_side(name: &str, path: &Path, options: &Options) -> (String, f64) {
    let settings = Settings { properties: vec!["safety".to_owned()], keep_going: true, ..Settings::default() };
    let loaded = read(path, &settings);
    let (mut alone, mut watched, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..options.rounds {
        // Who goes first changes, too.
        if round.is_multiple_of(2) {
            alone.push(search(&loaded, &settings, options.seconds, None));
        }
        watched.push(watch(&loaded, &settings, options.seconds, &mut frames));
        if !round.is_multiple_of(2) {
            alone.push(search(&loaded, &settings, options.seconds, None));
        }
    }
    let (alone, watched) = (median(&mut alone), median(&mut watched));
    let loss = (1.0 - watched / alone) * 100.0;
    (format!("| {name} | {alone:.0} | {watched:.0} | {loss:.1} % | {:.2} |", p95(&mut frames)), loss)
}

/// In milliseconds.
fn p95(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() * 95 / 100).copied().unwrap_or_default().as_secs_f64() * 1e3
}

/// A long run is scrolled by pages, then by steps; each is a picture.
fn scrolling() -> String {
    let text = "byte x, y; active [4] proctype P() { do :: x = 1 - x :: y = 1 - y od }";
    let settings = Settings::default();
    let loaded = Arc::new(load("model.pml", text.to_owned(), &[], &mut |_, _| None, &settings));
    let mut model = Model::new(LaunchOptions { settings, ..LaunchOptions::default() }, Theme::default(), (160, 50));
    let Ok(mut terminal) = Terminal::new(TestBackend::new(160, 50));
    update(&mut model, Message::Loaded(loaded, Originals::default()));
    if let Some(session) = &mut model.session {
        session.walk.run_randomly(LONG, 1, None);
    }
    let mut frames = Vec::new();
    let mut press = |code: KeyCode| {
        let began = Instant::now();
        update(&mut model, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        let _ = terminal.draw(|frame| view(&model, frame));
        frames.push(began.elapsed());
    };
    press(KeyCode::Home);
    (0..3).for_each(|_| press(KeyCode::Tab));
    (0..2_500).for_each(|_| press(KeyCode::PageDown));
    (0..500).for_each(|_| press(KeyCode::Up));
    press(KeyCode::Home);
    (0..500).for_each(|_| press(KeyCode::Char('n')));
    press(KeyCode::End);
    let worst = frames.iter().max().copied().unwrap_or_default().as_secs_f64() * 1e3;
    format!(
        "| scrolling a run of {LONG} steps: p95 (worst) picture | 16 ms | {:.2} ({worst:.1}) ms |",
        p95(&mut frames)
    )
}

/// The real program: its first picture, and what it costs to have it open.
#[cfg(unix)]
fn program() -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_fabius"));
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/retry_forever.pml");
    let model = model.display().to_string();
    let mut first = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        let terminal = terminal::Terminal::open(program, &["explore", &model], &[], (160, 50));
        terminal.says("fabius");
        first.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let terminal = terminal::Terminal::open(program, &["explore", &model], &[], (160, 50));
    terminal.says("without progress");
    let before = used(terminal.process_id());
    thread::sleep(IDLE);
    let used = used(terminal.process_id()) - before;
    let first = median(&mut first);
    vec![
        format!("| start of the program to its first picture (median) | 50 ms | {first:.1} ms |"),
        format!("| processor time while nothing happens, in {} s | 0 | {:.1} ms |", IDLE.as_secs(), used * 1e3),
    ]
}

#[cfg(not(unix))]
fn program() -> Vec<String> {
    Vec::new()
}

/// Seconds of processor time that a process has used, in all of its threads.
#[cfg(unix)]
fn used(process: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.map(|thread| nanoseconds(&thread.path().join("schedstat")) / 1e9).sum()
}

/// The first number of a file of the kernel's scheduler: nanoseconds on a processor.
fn nanoseconds(path: &Path) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Processor time of this thread.
fn processor_seconds() -> f64 {
    nanoseconds(Path::new("/proc/thread-self/schedstat")) / 1e9
}

/// Searches for so long; states for each second of this thread's processor time.
fn search(loaded: &Loaded, settings: &Settings, seconds: f64, tell: Option<&mpsc::Sender<Event>>) -> f64 {
    let (cancel, controls) = (Cancel::new(), Controls::new());
    let began = processor_seconds();
    let (mut told, mut looked) = (Instant::now(), Instant::now());
    let mut best = (0u64, 0.0);
    let mut base = 0;
    let mut observe = |event: Event| {
        if let Event::Searching { .. } = &event {
            base += best.0;
        }
        let is_progress = matches!(event, Event::Progress { .. });
        if let Event::Progress { progress, .. } = &event
            && looked.elapsed() > TELL_EVERY / 4
        {
            looked = Instant::now();
            best = (progress.states, processor_seconds() - began);
            if seconds < best.1 {
                cancel.cancel();
            }
        }
        if let Some(tell) = tell
            && (!is_progress || told.elapsed() > TELL_EVERY)
        {
            if is_progress {
                told = Instant::now();
                controls.ask(false);
            }
            let _ = tell.send(event);
        }
    };
    let mut context =
        CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
    check(loaded, settings, &mut context);
    (base + best.0) as f64 / best.1.max(1e-9)
}

/// The same, watched; and how long pictures took.
fn watch(loaded: &Arc<Loaded>, settings: &Settings, seconds: f64, frames: &mut Vec<Duration>) -> f64 {
    let (send, receive) = mpsc::channel();
    let (model, wanted) = (Arc::clone(loaded), settings.clone());
    let searching = thread::spawn(move || search(&model, &wanted, seconds, Some(&send)));
    let launch = LaunchOptions { settings: settings.clone(), ..LaunchOptions::default() };
    let mut model = Model::new(launch, Theme::default(), (160, 50));
    update(&mut model, Message::Loaded(Arc::clone(loaded), Originals::default()));
    model.screen = Screen::Watch;
    model.watch.running = true;
    let Ok(mut terminal) = Terminal::new(TestBackend::new(160, 50));
    while let Ok(event) = receive.recv() {
        let began = Instant::now();
        update(&mut model, Message::Event(0, Box::new(event)));
        let _ = terminal.draw(|frame| view(&model, frame));
        frames.push(began.elapsed());
    }
    searching.join().unwrap_or(0.0)
}
