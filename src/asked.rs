//! What the subcommands share that ask one thing about one model: their limits, and the thread on which they ask.

use crate::{exit, output};
use fabius_base::{Cancel, Limits};
use fabius_engine::Loaded;
use fabius_supervise::{Unfinished, Voice, memory};
use std::time::{Duration, Instant};

/// At most this number of states and of bytes; without a number of bytes, the usual share of what the machine has.
pub fn limits(states_max: Option<u64>, max_memory: Option<u64>) -> Limits {
    let memory_bytes_max = Some(max_memory.unwrap_or_else(memory::default_bytes));
    Limits { states_max, depth_max: None, memory_bytes_max }
}

/// Asks on a thread of its own, which is left alone if it does not stop soon after it was asked to. The question is told how much
/// time has passed since it was asked.
///
/// # Errors
/// The exit code, if the thread was left alone or panicked; which of them was told.
pub fn until_stopped<T: Send + 'static>(
    cancel: &Cancel,
    loaded: Loaded,
    ask: impl FnOnce(&Loaded, &Cancel, &(dyn Fn() -> Duration + Sync)) -> T + Send + 'static,
) -> Result<(Loaded, T), u8> {
    let asked = cancel.clone();
    let answered = fabius_supervise::run(cancel, &Voice::default(), 1, move |result| {
        let started = Instant::now();
        let answer = ask(&loaded, &asked, &|| started.elapsed());
        let _ = result.send((loaded, answer));
    });
    answered.map_err(|why| match cancel.requested() {
        Some(_) => {
            output::complain(&format!("error: not known: {}", Unfinished::Abandoned(why).sentence()));
            exit::UNDECIDED
        }
        // It panicked, which was told.
        None => exit::INTERNAL,
    })
}
