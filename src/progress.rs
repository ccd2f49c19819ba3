//! One line on the terminal that says how far a search is; it disappears when the search is over.

use crate::render::numbers;
use fabius_engine::Progress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A search that is over before this shows no line.
const PATIENCE: Duration = Duration::from_millis(400);
/// Time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);

/// The line, if there is a terminal to show it on.
pub struct ProgressLine {
    terminal: bool,
    shown: bool,
    next: Instant,
    before: Option<(f64, u64)>,
    rate: f64,
}

impl ProgressLine {
    /// A line on standard error, if that is a terminal.
    pub fn new() -> Self {
        let next = Instant::now() + PATIENCE;
        Self { terminal: std::io::stderr().is_terminal(), shown: false, next, before: None, rate: 0.0 }
    }

    /// Shows how far the search is, unless it was shown a moment ago.
    pub fn show(&mut self, progress: &Progress) {
        let now = Instant::now();
        if !self.terminal || now < self.next {
            return;
        }
        self.next = now + PAUSE;
        self.measure(progress);
        let line = text(progress, self.rate);
        self.shown = true;
        let _ = write!(std::io::stderr(), "\r{line}\x1b[K").and_then(|()| std::io::stderr().flush());
    }

    /// Makes room for other output.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        self.before = None;
    }

    /// The rate over the last moments, smoothed so that it can be read.
    fn measure(&mut self, progress: &Progress) {
        let (seconds, states) = self.before.unwrap_or((0.0, 0));
        if progress.seconds > seconds {
            let rate = progress.states.saturating_sub(states) as f64 / (progress.seconds - seconds);
            self.rate = if self.before.is_some() { 0.7 * self.rate + 0.3 * rate } else { rate };
        }
        self.before = Some((progress.seconds, progress.states));
    }
}

fn text(progress: &Progress, rate: f64) -> String {
    format!(
        "  {} states, {}/s, depth {}, {}, {}",
        numbers::rough(progress.states as f64),
        numbers::rough(rate),
        numbers::count(progress.depth),
        numbers::memory(progress.memory_bytes),
        numbers::seconds(progress.seconds),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_on_a_terminal() {
        let progress = Progress {
            states: u64::MAX,
            transitions: u64::MAX,
            depth: 999_999_999,
            memory_bytes: 900 << 30,
            seconds: 360_000.0,
        };
        assert!(text(&Progress { states: 123_456_789_000, ..progress }, 1e9).len() < 79);
    }
}
