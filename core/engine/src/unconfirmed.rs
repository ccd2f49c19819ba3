//! What is left to do once a search found what violates a property: a shorter run is looked for, and the run is confirmed.

use crate::prepared::Prepared;
use crate::reachable::shortest;
use crate::shortest::add_shortest;
use crate::task::{Checked, Job};
use fabius_counterexample::Found;
use fabius_model::SearchedMachine;
use fabius_observe::CheckContext;
use fabius_program::{Move, Program, Watch, meaning::Fault};
use fabius_search::Violation;
use fabius_search::cycle::Found as FoundCycle;
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::query::LivenessQuery;
use fabius_task::scheduler::Chosen;
use fabius_task::settings::Settings;
use fabius_verdict as verdict;
use std::sync::Arc;
use std::time::Duration;

/// What a search found and nobody has confirmed. It can be confirmed by another thread than the one that searched.
pub(crate) struct Unconfirmed {
    /// Those of the search.
    settings: Settings,
    /// The model that was searched.
    machine: SearchedMachine,
    runs: Runs,
}

/// Runs that violate a property.
pub(crate) enum Runs {
    /// They violate safety.
    Finite {
        /// Each with its key.
        runs: Vec<(Found, u64)>,
        /// The scheduler, if they were found in the order of delays.
        by_delays: Option<Chosen>,
    },
    /// It goes on for ever.
    Infinite {
        query: LivenessQuery,
        run: FoundCycle<Move, Fault>,
        /// It was found in the order of delays.
        by_delays: bool,
    },
}

/// Violations of safety with their keys.
pub(crate) fn keyed(violations: Vec<Violation<Move, Fault>>, keys: Vec<u64>, watch: Watch) -> Vec<(Found, u64)> {
    let of = |violation: Violation<Move, Fault>| Found {
        count: violation.count,
        ..Found::new(violation.kind.into(), violation.path, watch)
    };
    violations.into_iter().map(of).zip(keys).collect()
}

impl Unconfirmed {
    /// What a search with these settings found in this machine.
    pub(crate) fn new(settings: &Settings, machine: SearchedMachine, runs: Runs) -> Self {
        Self { settings: settings.clone(), machine, runs }
    }

    /// The same for violations of safety, each with its key, if there are any; with the scheduler, if they were found in the order of
    /// delays.
    pub(crate) fn finite(
        settings: &Settings,
        machine: SearchedMachine,
        runs: Vec<(Found, u64)>,
        by_delays: Option<Chosen>,
    ) -> Option<Box<Self>> {
        (!runs.is_empty()).then(|| Box::new(Self::new(settings, machine, Runs::Finite { runs, by_delays })))
    }

    /// Lets it take as much time as there is for all, and this memory.
    pub(crate) fn set_bounds(&mut self, until: Option<Duration>, memory_bytes_max: Option<u64>) {
        self.settings.until = until;
        self.settings.limits.memory_bytes_max = memory_bytes_max;
    }
}

impl Checked {
    /// Confirms what the search found, with shorter runs where there are any.
    pub(crate) fn confirm_found(
        &mut self,
        loaded: &Loaded,
        program: &Arc<Program>,
        planned: &Planned,
        context: &mut CheckContext<'_>,
    ) {
        let Some(unconfirmed) = self.unconfirmed.take() else { return };
        let Unconfirmed { settings, mut machine, runs } = *unconfirmed;
        let settings = &settings;
        let job = Job { loaded, program, planned, settings, prepared: &Prepared::default() };
        match runs {
            Runs::Finite { runs, by_delays } => {
                let count = runs.len();
                for (found, key) in runs {
                    let either = shortest(&job.task(), &mut machine, found, key, self.report.transitions, context);
                    self.confirm_either(job, either, context);
                }
                if let (Some(chosen), Some(first)) = (by_delays, self.report.violations.first()) {
                    let choices = settings.delaying.as_ref().and_then(|delaying| delaying.choices_max);
                    self.reason = verdict::violated(first, settings.keep_going, count, &chosen, choices);
                }
            }
            Runs::Infinite { query, run, by_delays } => {
                let is_other = add_shortest(job.over(&query.program), &query, &mut machine, run, context, self);
                if is_other && by_delays {
                    self.reason = verdict::shows_shortest(std::mem::take(&mut self.reason));
                }
            }
        }
        self.note_executed(&machine);
    }
}
