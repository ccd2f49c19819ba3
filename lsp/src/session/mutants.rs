//! Which changes of a document no property notices.

use super::jobs::{Job, RunId, Work, memory_max};
use super::questions::{Answer, Question, faulty};
use super::runs::Origin;
use super::{Document, Notice, Session};
use fabius_base::{Cancel, Limits};
use fabius_engine::Settings;
use fabius_engine::settings::ThreadCount;
use fabius_mutation::report::MutationReport;
use fabius_mutation::{MutationContext, MutationRequest, mutation};
use std::time::{Duration, Instant};

/// This many mutants are checked, …
const MUTANTS_MAX: usize = 200;
/// … each for so long.
const MUTANT_TIME_MAX: Duration = Duration::from_secs(5);

/// Which changes of a document were noticed, as it was then.
#[derive(Clone, Debug)]
pub struct KeptMutants {
    /// Of which model.
    pub origin: Origin,
    /// What was found out; nothing as long as mutants are being checked.
    pub found: Option<Box<MutationReport>>,
    run: RunId,
}

impl Document {
    /// Which changes of the present text some property notices.
    pub fn mutants(&self) -> Option<&MutationReport> {
        self.asked.mutants.as_ref().filter(|kept| !kept.origin.stale)?.found.as_deref()
    }
}

/// Checks mutants of a model.
pub(super) fn answer(job: &Job, cancel: &Cancel) -> Answer {
    let began = Instant::now();
    let limits = Limits { memory_bytes_max: Some(memory_max(job)), ..Limits::default() };
    let settings = Settings { limits, threads: ThreadCount::of_half_the_machine(), ..Settings::default() };
    let request = MutationRequest { settings, per_mutant: Some(MUTANT_TIME_MAX), limit: MUTANTS_MAX, seed: 0 };
    let mut context = MutationContext { cancel, now: &|| began.elapsed(), observe: &mut |_, _| {} };
    match mutation(&job.loaded, &request, &mut context) {
        None => faulty(),
        Some(report) => match report.internal_error.clone() {
            Some(why) => Answer::Failed(why),
            None => Answer::Mutants(Box::new(report)),
        },
    }
}

impl Session {
    /// Asks which changes of a document no property notices; [`Notice::Answered`] brings the answer, and the document keeps it.
    pub fn mutants(&mut self, name: &str) -> Option<RunId> {
        let origin = Origin::of(&*self.reading(name)?);
        let run = self.ask(name, Question::Mutants)?;
        let kept = KeptMutants { origin, found: None, run };
        let before = self.documents.get_mut(name)?.asked.mutants.replace(kept);
        before.filter(|before| before.found.is_none()).into_iter().for_each(|before| self.cancel(before.run));
        Some(run)
    }

    /// It is known which changes are noticed, or will not be.
    pub(super) fn mutants_known(&mut self, run: RunId, job: &Job, answer: Option<&Answer>) -> Vec<Notice> {
        let Work::Ask(question) = &job.work else { return Vec::new() };
        let (Question::Mutants, Some(document)) = (&**question, self.documents.get_mut(&job.document)) else {
            return Vec::new();
        };
        match (answer, document.asked.mutants.as_mut().filter(|kept| kept.run == run)) {
            (Some(Answer::Mutants(found)), Some(kept)) => kept.found = Some(found.clone()),
            (_, Some(_)) => document.asked.mutants = None,
            (_, None) => {}
        }
        // There are marks, too.
        vec![Notice::Hints(job.document.clone()), Notice::Changed(job.document.clone())]
    }
}
