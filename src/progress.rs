//! One line on the terminal that says how far a check is, and one for each process, if several search together; they disappear when
//! the check is over. None is wider than the terminal: what matters least is left out first.

use crate::args::Check;
use crate::delays::Mode;
use crate::render::numbers;
use fabius_base::Limits;
use fabius_engine::report::WorkerReport;
use fabius_engine::{Event, Goal, Progress};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A search that is over before this shows no line.
const PATIENCE: Duration = Duration::from_millis(400);
/// Time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);
/// The width of a terminal that does not say how wide it is.
const COLUMNS_DEFAULT: usize = 80;

/// At most this many processes have a line.
const WORKERS_MAX: usize = 16;

/// The line, if there is a terminal to show it on.
pub struct ProgressLine {
    terminal: bool,
    shown: bool,
    began: Instant,
    next: Instant,
    before: Option<(f64, u64)>,
    bounds: Bounds,
    at: At,
}

/// What a check may use, as far as it was asked for or goes for every check.
#[derive(Clone, Debug, Default)]
struct Bounds {
    limits: Limits,
    timeout: Option<Duration>,
    /// What the rounds of the search allow more and more of, if it has rounds.
    rounds_of: &'static str,
}

/// Where a check is.
#[derive(Clone, Debug, Default)]
struct At {
    property: String,
    goal: Option<Goal>,
    /// Properties that are decided.
    done: usize,
    /// Properties in all; 0 if that is not known.
    of: usize,
    /// The bound of the last round that is finished.
    round: Option<u32>,
    progress: Progress,
    workers: Vec<WorkerReport>,
    rate: f64,
    /// Time since the check of the file began.
    elapsed: Duration,
}

impl ProgressLine {
    /// A line on standard error, if that is a terminal.
    pub fn new(args: &Check, limits: Limits) -> Self {
        let began = Instant::now();
        let rounds_of = match (&args.question.delays.depth(), args.question.delays.delay_mode) {
            (Some(_), _) => "step",
            (None, Some(Mode::Sample)) => "",
            (None, _) => "delay",
        };
        let bounds = Bounds { limits, timeout: args.timeout, rounds_of };
        let terminal = std::io::stderr().is_terminal();
        Self { terminal, shown: false, began, next: began + PATIENCE, before: None, bounds, at: At::default() }
    }

    /// This many properties are to be checked.
    pub fn plan(&mut self, properties: usize) {
        self.at.of = properties;
    }

    /// Follows what happens, and shows it unless it was shown a moment ago.
    pub fn follow(&mut self, event: &Event) {
        match event {
            Event::Searching { property, goal } => {
                self.before = None;
                let (done, of) = (self.at.done, self.at.of);
                self.at = At { property: property.clone(), goal: Some(*goal), done, of, ..At::default() };
            }
            Event::Round { bound, .. } => self.at.round = Some(*bound),
            Event::PropertyDone { .. } => self.at.done += 1,
            Event::Progress { progress, workers, .. } => self.show(progress, workers),
            _ => {}
        }
    }

    fn show(&mut self, progress: &Progress, workers: &[WorkerReport]) {
        let now = Instant::now();
        if !self.terminal || now < self.next {
            return;
        }
        self.next = now + PAUSE;
        self.measure(progress);
        self.at.workers = workers.to_vec();
        self.at.elapsed = now.duration_since(self.began);
        let columns = fabius_tui::columns().map_or(COLUMNS_DEFAULT, usize::from);
        let picture = picture(&self.at, &self.bounds, columns);
        self.shown = true;
        let _ = write!(std::io::stderr(), "{picture}").and_then(|()| std::io::stderr().flush());
    }

    /// Makes room for other output.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[J");
        }
        self.before = None;
    }

    /// The rate over the last moments, smoothed so that it can be read.
    fn measure(&mut self, progress: &Progress) {
        let (seconds, states) = self.before.unwrap_or((0.0, 0));
        if progress.seconds > seconds {
            let rate = progress.states.saturating_sub(states) as f64 / (progress.seconds - seconds);
            self.at.rate = if self.before.is_some() { 0.7 * self.at.rate + 0.3 * rate } else { rate };
        }
        self.before = Some((progress.seconds, progress.states));
        self.at.progress = *progress;
    }
}

/// All lines; the cursor is in the first one before and after.
fn picture(at: &At, bounds: &Bounds, columns: usize) -> String {
    let rows = rows(at, columns);
    let below: String = rows.iter().map(|row| format!("\r\n{row}\x1b[K")).collect();
    let back = if rows.is_empty() { String::new() } else { format!("\x1b[{}A", rows.len()) };
    format!("\r{}\x1b[K{below}\x1b[J{back}", text(at, bounds, columns))
}

/// A line for each process.
fn rows(at: &At, columns: usize) -> Vec<String> {
    let all: u64 = at.workers.iter().map(|worker| worker.states).sum();
    let percent = |part: f64, whole: f64| if 0.0 < whole { 100.0 * part / whole } else { 0.0 };
    let row = |(index, worker): (usize, &WorkerReport)| {
        let host = worker.host.as_ref().map_or(String::new(), |host| format!(" {host}"));
        let states = numbers::rough(worker.states as f64);
        let share = percent(worker.states as f64, all as f64);
        let memory = numbers::memory(worker.memory_bytes);
        let waits = percent(worker.waited_seconds, at.progress.seconds).min(100.0);
        format!(
            "    process {:>2}{host}: {states} states ({share:.0} %), {memory}, waits {waits:.0} % of the time",
            index + 1
        )
    };
    let mut rows: Vec<String> = at.workers.iter().enumerate().take(WORKERS_MAX).map(row).collect();
    if let Some(more) = at.workers.len().checked_sub(WORKERS_MAX).filter(|more| 0 < *more) {
        rows.push(format!("    and {more} more"));
    }
    rows.iter().map(|row| row.chars().take(columns.saturating_sub(1)).collect()).collect()
}

/// The line in less than this many columns: a terminal may wrap a line that fills it.
fn text(at: &At, bounds: &Bounds, columns: usize) -> String {
    let mut parts = parts(at, bounds);
    let width = |parts: &[(u8, String)]| 2 + parts.iter().map(|(_, part)| part.chars().count() + 2).sum::<usize>();
    while columns < width(&parts) {
        let Some(least) = (0..parts.len()).max_by_key(|index| parts[*index].0).filter(|_| parts.len() > 1) else {
            break;
        };
        parts.remove(least);
    }
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    format!("  {}", parts.join(", ")).chars().take(columns.saturating_sub(1)).collect()
}

/// What there is to say, in order; what has a smaller number matters more.
fn parts(at: &At, bounds: &Bounds) -> Vec<(u8, String)> {
    let progress = &at.progress;
    let of = |limit: Option<String>| limit.map_or(String::new(), |limit| format!(" of {limit}"));
    let number = if at.of > 1 { format!(" ({} of {})", at.done + 1, at.of) } else { String::new() };
    let goal = match at.goal {
        Some(Goal::ShorterRun) => ": looking for a shorter run",
        Some(Goal::FairRun) => ": looking for a fair run",
        Some(Goal::DeadCode) => ": looking for statements that no run executes",
        _ => "",
    };
    let rough = |states: u64| numbers::rough(states as f64);
    let states = format!("{}{} states", rough(progress.states), of(bounds.limits.states_max.map(rough)));
    let depth = format!("depth {}{}", numbers::count(progress.depth), of(bounds.limits.depth_max.map(numbers::count)));
    let memory = numbers::memory(progress.memory_bytes) + &of(bounds.limits.memory_bytes_max.map(numbers::memory));
    // The properties share the time allowed, so with a limit the time of all of them counts.
    let time = match bounds.timeout {
        Some(timeout) => {
            format!("{} of {}", numbers::seconds(at.elapsed.as_secs_f64()), numbers::seconds(timeout.as_secs_f64()))
        }
        None => numbers::seconds(progress.seconds),
    };
    let round = at.round.filter(|_| !bounds.rounds_of.is_empty());
    let round = round.map(|bound| (4, format!("{} done", numbers::counted(u64::from(bound), bounds.rounds_of))));
    let name = (0, format!("{}{number}{goal}", at.property));
    let rate = (5, format!("{}/s", numbers::rough(at.rate)));
    let figures = [(1, states), rate, (6, depth), (3, memory), (2, time)];
    let mut parts: Vec<(u8, String)> = [name].into_iter().chain(round).chain(figures).collect();
    parts.retain(|(_, part)| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> At {
        let progress = Progress {
            states: 123_456_789_000,
            transitions: u64::MAX,
            depth: 999_999_999,
            memory_bytes: 900 << 30,
            seconds: 360_000.0,
        };
        let (round, rate) = (Some(3), 1e9);
        At { property: "mutual_exclusion".to_owned(), done: 1, of: 4, round, progress, rate, ..At::default() }
    }

    fn bounds() -> Bounds {
        let limits = Limits { states_max: Some(200_000_000_000), depth_max: None, memory_bytes_max: Some(950 << 30) };
        Bounds { limits, timeout: Some(Duration::from_secs(90)), rounds_of: "delay" }
    }

    #[test]
    fn the_line_says_what_is_checked_what_is_left_and_what_it_may_use() {
        let line = text(&at(), &bounds(), 200);
        let words = ["mutual_exclusion (2 of 4)", "3 delays done", "123.46 G of 200.00 G states", "0 ms of 1 min 30 s"];
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
        assert!(line.contains(&format!("of {}", numbers::memory(950 << 30))), "{line}");
    }

    #[test]
    fn each_process_has_a_line_and_the_cursor_comes_back() {
        let worker = |states| WorkerReport { states, waited_seconds: 90_000.0, ..WorkerReport::default() };
        let far = WorkerReport { host: Some("10.0.0.2:7411".to_owned()), ..worker(75) };
        let at = At { workers: vec![worker(25), far], ..at() };
        let rows = rows(&at, 200);
        assert!(
            rows[0].starts_with("    process  1: 25 states (25 %), ") && rows[0].ends_with("waits 25 % of the time"),
            "{rows:?}"
        );
        assert!(rows[1].contains("process  2 10.0.0.2:7411: 75 states (75 %)"), "{rows:?}");
        let picture = picture(&at, &bounds(), 60);
        assert!(picture.ends_with("\x1b[J\x1b[2A") && picture.matches("\r\n").count() == 2, "{picture:?}");
        assert!(super::rows(&at, 30).iter().all(|row| row.chars().count() < 30));
        let many = At { workers: vec![worker(1); 64], ..at };
        assert_eq!(super::rows(&many, 200).last().map(String::as_str), Some("    and 48 more"));
    }

    #[test]
    fn the_line_is_narrower_than_any_terminal() {
        for columns in 0..200 {
            let line = text(&at(), &bounds(), columns);
            assert!(line.chars().count() < columns.max(1), "{columns}: {line}");
            assert!(columns < 40 || line.starts_with("  mutual_exclusion (2 of 4)"), "{columns}: {line}");
            assert!(columns < 60 || line.contains("states"), "{columns}: {line}");
        }
    }
}
