//! The causes of the violations of a property.

use super::Session;
use super::jobs::{Job, RunId, memory_max};
use super::questions::{Answer, Question, faulty};
use super::runs::{Found, KeptRun, Origin};
use fabius_base::{Cancel, Limits};
use fabius_causes::{Causes, CausesContext, CausesRequest, NotAsked, causes};
use fabius_engine::Settings;
use fabius_engine::report::ViolationClass;
use fabius_engine::settings::ThreadCount;
use std::time::{Duration, Instant};

/// This many causes are looked for, …
const CAUSES_MAX: usize = 10;
/// … for so long.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Finds the causes of the violations of a property.
pub(super) fn answer(job: &Job, property: &str, cancel: &Cancel) -> Answer {
    let began = Instant::now();
    let settings = Settings {
        properties: vec![property.to_owned()],
        limits: Limits { memory_bytes_max: Some(memory_max(job)), ..Limits::default() },
        threads: ThreadCount::of_half_the_machine(),
        until: Some(TIME_MAX),
        ..Settings::default()
    };
    let request = CausesRequest { settings, causes_max: CAUSES_MAX };
    let mut context = CausesContext { cancel, now: &|| began.elapsed(), observe: &mut |_, _| {} };
    match causes(&job.loaded, &request, &mut context) {
        Err(NotAsked::Faulty) => faulty(),
        Err(NotAsked::Refused(why)) => Answer::Refused(why),
        Ok(found) => match found.report.internal_error.clone() {
            Some(why) => Answer::Failed(why),
            None => Answer::Causes(Box::new(found)),
        },
    }
}

/// The name by which the run of a cause is asked for.
pub fn key(property: &str, number: usize) -> String {
    format!("cause {number} of {property}")
}

/// The runs of the causes.
pub(super) fn runs(origin: &Origin, found: &Causes) -> Vec<KeptRun> {
    let of_property = found.report.properties.iter();
    let reports = of_property.flat_map(|of| of.causes.iter().map(|cause| (of.property.as_str(), cause)));
    let kept = found.causes.iter().zip(reports).map(|(cause, (property, report))| KeptRun {
        key: key(property, report.number),
        origin: origin.clone(),
        kind: if report.run.kind == ViolationClass::InvalidEndState { "stuck" } else { "failed" },
        message: report.sentence.clone(),
        run: Found::Cause(property.to_owned(), Box::new(cause.clone())),
    });
    kept.collect()
}

impl Session {
    /// Asks for the causes of the violations of a property of a document.
    pub fn causes(&mut self, name: &str, property: &str) -> Option<RunId> {
        self.ask(name, Question::Causes(property.to_owned()))
    }
}
