//! What stops a search from outside: Ctrl-C.

use fabius_base::Cancel;
use std::io::Write;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

/// The exit code of a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// Who is to be told when somebody presses Ctrl-C.
#[derive(Clone, Default)]
pub struct Interrupts(Arc<Mutex<Pressed>>);

#[derive(Default)]
struct Pressed {
    /// Somebody listens.
    is_heard: bool,
    times: u32,
    working: Vec<Cancel>,
}

impl Interrupts {
    /// Listens from now on: the first Ctrl-C asks the work to stop, the second ends the program.
    pub fn listen() -> Self {
        let interrupts = Self::default();
        interrupts.begin();
        interrupts
    }

    /// Begins to listen, unless somebody does already. Until then Ctrl-C ends the program: right for work that has just begun.
    pub fn begin(&self) {
        if std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).is_heard, true) {
            return;
        }
        let shared = self.clone();
        // Without a handler Ctrl-C ends the program at once, which is no reason not to start.
        let _ = ctrlc::set_handler(move || {
            if shared.press() > 1 {
                let _ = writeln!(std::io::stderr());
                process::exit(EXIT_INTERRUPTED);
            }
        });
    }

    /// Sends the first Ctrl-C, if there was one or will be one, to this work.
    pub fn watch(&self, cancel: &Cancel) {
        self.watch_all(&[cancel]);
    }

    /// The same, to all parts of a work.
    pub fn watch_all(&self, cancels: &[&Cancel]) {
        let mut pressed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pressed.times > 0 {
            cancels.iter().for_each(|cancel| cancel.cancel());
        }
        pressed.working = cancels.iter().map(|&cancel| cancel.clone()).collect();
    }

    /// Whether Ctrl-C was pressed.
    pub fn pressed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).times > 0
    }

    fn press(&self) -> u32 {
        let mut pressed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pressed.times += 1;
        pressed.working.iter().for_each(Cancel::cancel);
        pressed.times
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
}
