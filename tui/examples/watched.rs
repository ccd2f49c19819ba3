//! What it costs to watch a search, and how long a picture takes meanwhile.
//!
//! ```text
//! cargo run --release -p fabius-tui --example watched -- SECONDS MODEL…
//! ```
//!
//! Each model is searched alone and watched, in turn, three times each, for so many seconds of processor time. What counts
//! is states for each second of the search thread's *processor* time, so that other work on the machine matters less.
//! A watched search tells what it is at ten times a second, as under `fabius explore`, and each time a picture of 160 columns and
//! 50 rows is drawn from that.

use fabius_base::Cancel;
use fabius_engine::{Controls, Event, Loaded, Settings, Surroundings, check, load};
use fabius_tui::message::Message;
use fabius_tui::model::{Model, Screen, Wish};
use fabius_tui::{Theme, update::update, view::view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const TELL_EVERY: Duration = Duration::from_millis(100);
const ROUNDS: usize = 3;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(5.0);
    println!("{:<44} {:>12} {:>12} {:>7} {:>10}", "model", "alone/s", "watched/s", "loss", "p95 frame");
    for path in arguments {
        let settings = Settings::default();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut include = |including: &str, included: &str| {
            let beside = Path::new(including).parent()?.join(included);
            std::fs::read_to_string(&beside).ok().map(|text| (beside.display().to_string(), text))
        };
        let loaded = Arc::new(load(&path, text, &[], &mut include, &settings));
        let (mut alone, mut watched, mut frames) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(search(&loaded, &settings, seconds, None));
            watched.push(watch(&loaded, &settings, seconds, &mut frames));
        }
        let (alone, watched) = (median(&mut alone), median(&mut watched));
        frames.sort_unstable();
        let p95 = frames.get(frames.len() * 95 / 100).copied().unwrap_or_default();
        let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let loss = (1.0 - watched / alone) * 100.0;
        println!("{name:<44} {alone:>12.0} {watched:>12.0} {loss:>6.1}% {:>7.2} ms", p95.as_secs_f64() * 1e3);
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Processor time of this thread.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
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
    let mut around =
        Surroundings { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
    check(loaded, settings, &mut around);
    (base + best.0) as f64 / best.1.max(1e-9)
}

/// The same, watched; and how long pictures took.
fn watch(loaded: &Arc<Loaded>, settings: &Settings, seconds: f64, frames: &mut Vec<Duration>) -> f64 {
    let (send, receive) = mpsc::channel();
    let (model, wanted) = (Arc::clone(loaded), settings.clone());
    let searching = thread::spawn(move || search(&model, &wanted, seconds, Some(&send)));
    let wish = Wish { settings: settings.clone(), ..Wish::default() };
    let mut model = Model::new(wish, Theme::default(), (160, 50));
    update(&mut model, Message::Loaded(Arc::clone(loaded)));
    model.screen = Screen::Watch;
    model.watch.running = true;
    let Ok(mut terminal) = Terminal::new(TestBackend::new(160, 50));
    while let Ok(event) = receive.recv() {
        let began = Instant::now();
        update(&mut model, Message::Told(0, Box::new(event)));
        let _ = terminal.draw(|frame| view(&model, frame));
        frames.push(began.elapsed());
    }
    searching.join().unwrap_or(0.0)
}
