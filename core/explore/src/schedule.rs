//! Walking under a schedule under which the model is safe: whoever has to wait does not move by itself.

use crate::Exploration;
use crate::choice::is_of_claim;
use crate::tree::NodeId;
use fabius_analysis::schedule::{MustWait, SafeSchedule, ScheduleRequest, ScheduleVerdict, Scheduled, Stops, schedule};
use fabius_base::Cancel;
use fabius_engine::Loaded;
use fabius_program::Move;
use fabius_witness::{Outcome, State, moves};
use std::sync::Arc;

/// All that is needed to look for a schedule that a walk can follow.
#[derive(Clone, Debug)]
pub struct ScheduleSearch {
    loaded: Arc<Loaded>,
    request: ScheduleRequest,
}

/// What a search for a schedule found.
#[derive(Clone, Debug)]
pub struct ScheduleFound {
    loaded: Arc<Loaded>,
    scheduled: Scheduled,
}

impl ScheduleSearch {
    /// Explores at most so much memory, in bytes, to find a schedule.
    #[must_use]
    pub fn within(mut self, memory_bytes_max: Option<u64>) -> Self {
        self.request.memory_bytes_max = memory_bytes_max;
        self
    }

    /// Looks for a schedule, until somebody stops it.
    pub fn run(&self, cancel: &Cancel) -> ScheduleFound {
        let scheduled = schedule(&self.loaded, &self.request, &Stops::all(cancel), &mut |_| {});
        ScheduleFound { loaded: Arc::clone(&self.loaded), scheduled }
    }
}

impl ScheduleFound {
    /// Why there is no schedule to follow, in a sentence.
    fn why_none(&self) -> String {
        let Scheduled { report, failure, .. } = &self.scheduled;
        let reason = &report.reason;
        match (failure, report.verdict) {
            (Some(failure), _) => failure.clone(),
            (None, ScheduleVerdict::Holds) => format!("there is nothing to avoid: {reason}"),
            (None, ScheduleVerdict::Unavoidable) => format!("no schedule avoids every error: {reason}"),
            (None, ScheduleVerdict::Unknown) => format!("no schedule to follow is known: {reason}"),
            (None, ScheduleVerdict::Avoidable | ScheduleVerdict::SafeIfScheduled) => {
                format!("a walk cannot follow this schedule: {reason}")
            }
        }
    }
}

impl Exploration {
    /// A search for a schedule under which the model is safe, to be done on whatever thread.
    pub fn schedule_search(&self) -> ScheduleSearch {
        let request = ScheduleRequest { walk: true, ..ScheduleRequest::default() };
        ScheduleSearch { loaded: Arc::clone(self.loaded()), request }
    }

    /// Takes over the schedule that a search found.
    ///
    /// # Errors
    /// Why there is none to follow, in a sentence.
    pub fn learn_schedule(&mut self, found: &ScheduleFound) -> Result<(), String> {
        if !Arc::ptr_eq(&found.loaded, self.loaded()) {
            return Err("the schedule is one of another text; it is dropped".to_owned());
        }
        let Scheduled { safe_schedule, failure, .. } = &found.scheduled;
        let safe = safe_schedule.as_ref().filter(|_| failure.is_none()).ok_or_else(|| found.why_none())?;
        if !safe.fits(&self.target().program) {
            return Err("the schedule is one of other statements than those of this walk".to_owned());
        }
        self.safe_schedule = Some(Arc::clone(safe));
        Ok(())
    }

    /// The schedule that is known.
    pub fn safe_schedule(&self) -> Option<&SafeSchedule> {
        self.safe_schedule.as_deref()
    }

    /// Whether automatic runs follow the schedule.
    pub fn follows_schedule(&self) -> bool {
        self.view.follows_schedule
    }

    /// Lets automatic runs follow the schedule that is known, or no longer. False if none is known.
    pub fn follow_schedule(&mut self, follow: bool) -> bool {
        if follow && self.safe_schedule.is_none() {
            return false;
        }
        self.acting(|this| {
            this.view.follows_schedule = follow;
            if follow {
                // It decides who moves.
                this.view.seal = None;
            }
        });
        true
    }

    /// Of the steps that are possible in a state: why each has to wait under the schedule, if that is followed and it has to.
    pub(crate) fn waiting(&self, state: &State, possible: &[(Move, Outcome)]) -> Vec<Option<MustWait>> {
        let Some(safe) = self.safe_schedule.as_ref().filter(|_| self.view.follows_schedule) else {
            return vec![None; possible.len()];
        };
        let steps: Vec<Move> = possible.iter().map(|(step, _)| *step).collect();
        let why = |step: &Move| if is_of_claim(step) { None } else { safe.forbids(state, &steps, step) };
        steps.iter().map(why).collect()
    }

    /// Why the step that leads to a node had to wait under the schedule, if that is followed.
    pub fn had_to_wait(&self, node: NodeId) -> Option<MustWait> {
        let (before, step) = (self.parent(node).filter(|_| self.follows_schedule())?, self.tree.step(node)?);
        let state = self.state_at(before);
        let possible = moves(&self.target().program, &state).successors;
        let index = possible.iter().position(|(known, _)| *known == step)?;
        self.waiting(&state, &possible).swap_remove(index)
    }
}
