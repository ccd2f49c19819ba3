//! What the states of a document are spent on.

use super::jobs::{Job, RunId, Work, memory_max};
use super::questions::{Answer, Question};
use super::runs::Origin;
use super::{Document, Notice, Session};
use fabius_analysis::cost::{Costs, costs};
use fabius_base::{Cancel, Limits};

/// Number of states looked at, at most, when somebody asks.
const STATES_MAX: u64 = 1_000_000;

/// What the states of a document are spent on, as it was then.
#[derive(Clone, Debug)]
pub struct KeptCosts {
    /// Of which model.
    pub origin: Origin,
    /// What was found out; nothing as long as it is being computed.
    pub found: Option<Costs>,
    pub(super) run: Option<RunId>,
}

impl Document {
    /// What the states of the present text are spent on, if all of them were looked at.
    pub fn costs(&self) -> Option<&Costs> {
        let kept = self.asked.costs.as_ref().filter(|kept| !kept.origin.stale)?;
        kept.found.as_ref().filter(|costs| costs.limit.is_none())
    }
}

/// Looks at what states are spent on.
pub(super) fn answer(job: &Job, cancel: &Cancel) -> Answer {
    let memory_bytes_max = Some(memory_max(job) / 2);
    let limits = Limits { states_max: Some(STATES_MAX), memory_bytes_max, ..Limits::default() };
    match costs(&job.loaded, limits, cancel, cancel) {
        Some(found) => Answer::Costs(Box::new(found)),
        None if cancel.requested().is_some() => {
            Answer::Refused("it was stopped before the states were compared".into())
        }
        None => Answer::Refused("the model is faulty".to_owned()),
    }
}

impl Session {
    /// Looks at what the states of a document are spent on; [`Notice::Answered`] brings the answer, and the document keeps it.
    pub fn costs(&mut self, name: &str) -> Option<RunId> {
        let origin = Origin::of(&*self.reading(name)?);
        let run = self.ask(name, Question::Costs)?;
        let kept = KeptCosts { origin, found: None, run: Some(run) };
        let before = self.documents.get_mut(name)?.asked.costs.replace(kept);
        before
            .filter(|before| before.found.is_none())
            .and_then(|before| before.run)
            .into_iter()
            .for_each(|run| self.cancel(run));
        Some(run)
    }

    /// It is known what states are spent on, or will not be.
    pub(super) fn costs_known(&mut self, run: RunId, job: &Job, answer: Option<&Answer>) -> Vec<Notice> {
        let Work::Ask(question) = &job.work else { return Vec::new() };
        let (Question::Costs, Some(document)) = (&**question, self.documents.get_mut(&job.document)) else {
            return Vec::new();
        };
        match (answer, document.asked.costs.as_mut().filter(|kept| kept.run == Some(run))) {
            (Some(Answer::Costs(found)), Some(kept)) => kept.found = Some((**found).clone()),
            (_, Some(_)) => document.asked.costs = None,
            (_, None) => {}
        }
        vec![Notice::Hints(job.document.clone())]
    }
}
