//! A check of which nothing is shown before it is over, for commands that put several checks together.

use crate::args::Question;
use crate::{check, exit, output};
use fabius_base::{Cancel, StopReason};
use fabius_engine::{CheckContext, Loaded, Outcome, Settings};
use fabius_supervise::Voice;
use std::path::Path;
use std::time::Instant;

/// Checks a model that was read, without looking for schedules. Within: what was found out, or why there was not enough time.
///
/// # Errors
/// The exit code, if it cannot be checked; why is told.
pub fn checked(
    loaded: Loaded,
    path: &Path,
    question: &Question,
    settings: Settings,
    cancel: &Cancel,
) -> Result<Result<(Loaded, Outcome), StopReason>, u8> {
    let mut settings = check::chosen(&loaded, path, question, settings);
    settings.schedule = false;
    if let Some(delaying) = settings.delaying.as_mut().filter(|_| loaded.checkable().is_some()) {
        delaying.scheduler = question.delays.scheduler_for(path).map_err(|why| {
            output::complain(&format!("error: {why}"));
            exit::FAULTY
        })?;
    }
    let (asked, threads) = (cancel.clone(), settings.threads.most());
    let done = fabius_supervise::run(cancel, &Voice::default(), threads, move |result| {
        let started = Instant::now();
        let mut context =
            CheckContext { cancel: &asked, now: &|| started.elapsed(), observe: &mut |_| {}, controls: None };
        let outcome = fabius_engine::check(&loaded, &settings, &mut context);
        let _ = result.send((loaded, outcome));
    });
    match done {
        // It panicked, which was told.
        Err(_) if cancel.requested().is_none() => Err(exit::INTERNAL),
        done => Ok(done),
    }
}
