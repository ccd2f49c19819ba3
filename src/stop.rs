//! What stops a search from outside: Ctrl-C, and the time allowed.

use fabius_base::Cancel;
use std::io::Write;
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The exit code of a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// Who is to be told when somebody presses Ctrl-C.
#[derive(Clone, Default)]
pub struct Interrupts(Arc<Mutex<Pressed>>);

#[derive(Default)]
struct Pressed {
    times: u32,
    working: Option<Cancel>,
}

impl Interrupts {
    /// Listens from now on: the first Ctrl-C asks the work to stop, the second ends the program.
    pub fn listen() -> Self {
        let interrupts = Self::default();
        let shared = interrupts.clone();
        // Without a handler Ctrl-C ends the program at once, which is no reason not to start.
        let _ = ctrlc::set_handler(move || {
            if shared.press() > 1 {
                let _ = writeln!(std::io::stderr());
                process::exit(EXIT_INTERRUPTED);
            }
        });
        interrupts
    }

    /// Sends the first Ctrl-C, if there was one or will be one, to this work.
    pub fn watch(&self, cancel: &Cancel) {
        let mut pressed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pressed.times > 0 {
            cancel.cancel();
        }
        pressed.working = Some(cancel.clone());
    }

    /// Whether Ctrl-C was pressed.
    pub fn pressed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).times > 0
    }

    fn press(&self) -> u32 {
        let mut pressed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pressed.times += 1;
        if let Some(cancel) = &pressed.working {
            cancel.cancel();
        }
        pressed.times
    }
}

/// Tells the work that its time is used up, unless it is dropped before.
pub struct Timer(#[expect(dead_code, reason = "dropping it is what wakes the thread")] Option<Sender<()>>);

impl Timer {
    /// Starts to count; without a time allowed, nothing happens.
    pub fn start(allowed: Option<Duration>, cancel: &Cancel) -> Self {
        let Some(allowed) = allowed else { return Self(None) };
        let (keep, gone) = mpsc::channel();
        let cancel = cancel.clone();
        let count = move || {
            if gone.recv_timeout(allowed) == Err(RecvTimeoutError::Timeout) {
                cancel.time_out();
            }
        };
        // Where there is no room for one more thread, a search still looks at the clock by itself.
        let _ = thread::Builder::new().spawn(count);
        Self(Some(keep))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::StopReason;

    #[test]
    fn a_press_before_the_work_starts_counts() {
        let interrupts = Interrupts::default();
        assert_eq!(interrupts.press(), 1);
        let cancel = Cancel::new();
        interrupts.watch(&cancel);
        assert_eq!(cancel.requested(), Some(StopReason::Cancelled));
        assert_eq!(interrupts.press(), 2);
    }

    #[test]
    fn a_timer_fires_unless_dropped() {
        let late = Cancel::new();
        drop(Timer::start(Some(Duration::from_millis(1)), &Cancel::new()));
        let timer = Timer::start(Some(Duration::from_millis(1)), &late);
        while late.requested().is_none() {
            thread::yield_now();
        }
        assert_eq!(late.requested(), Some(StopReason::Timeout));
        drop(timer);
    }
}
