//! What searches for violations of a property begin with, kept from one to the next: a short turn can take less time than making it.

use crate::task::{Checked, Job, refused};
use fabius_model::SearchedMachine;
use fabius_model::reduction::{Basis, Plan, Preserve, WhyNot};
use fabius_program::Program;
use fabius_task::plan::Question;
use fabius_task::query::{CycleSearch, LivenessQuery, liveness_query};
use fabius_task::settings::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the reductions of the programs of a check rest on.
#[derive(Default)]
pub(crate) struct Bases(Mutex<Vec<Arc<Basis>>>);

impl Bases {
    /// What the reductions of a program rest on, and of those that have other claims.
    pub(crate) fn of(&self, program: &Arc<Program>) -> Arc<Basis> {
        let mut kept = lock(&self.0);
        if let Some(known) = kept.iter().find(|known| known.suits(program)) {
            return Arc::clone(known);
        }
        let made = Arc::new(Basis::of(program));
        kept.push(Arc::clone(&made));
        made
    }
}

/// The machines and questions that the searches for one property begin with.
#[derive(Default)]
pub(crate) struct Prepared {
    /// Shared by all properties of a check.
    bases: Arc<Bases>,
    finite: Mutex<Option<SearchedMachine>>,
    infinite: Mutex<Vec<Infinite>>,
    /// How the program of a query is reduced for a search.
    plans: Mutex<Vec<Reduction>>,
}

/// The program of a query, the search, and how the one is reduced for the other.
type Reduction = (Arc<Program>, CycleSearch, Result<Plan, WhyNot>);

/// A question about infinite runs, and the machine that is searched for an answer.
struct Infinite {
    /// The program without what the query adds to it.
    program: Arc<Program>,
    progress: Progress,
    query: LivenessQuery,
    machine: SearchedMachine,
}

impl Infinite {
    /// Whether it is what a search for this job begins with, but for the name of the search.
    fn suits(&self, job: Job<'_>, search: CycleSearch) -> bool {
        // What a livelock is put as depends on the search.
        let is_put_alike = self.query.search == search || job.planned.question != Question::Progress;
        let asked = (self.query.fairness, self.progress) == (job.settings.fairness, job.settings.progress);
        Arc::ptr_eq(&self.program, job.program) && is_put_alike && asked
    }
}

impl Prepared {
    /// Nothing is prepared but for what reductions rest on.
    pub(crate) fn on(bases: &Arc<Bases>) -> Self {
        Self { bases: Arc::clone(bases), ..Self::default() }
    }

    /// Nothing is prepared but for what reductions rest on: for another property, or where searches for this one are over.
    pub(crate) fn anew(&self) -> Self {
        Self::on(&self.bases)
    }

    /// What the reductions of a program rest on.
    pub(crate) fn basis(&self, program: &Arc<Program>) -> Arc<Basis> {
        self.bases.of(program)
    }

    /// A machine for violations of safety.
    ///
    /// # Errors
    /// What is to be reported if no machine can run the model.
    pub(crate) fn finite(&self, job: Job<'_>) -> Result<SearchedMachine, Box<Checked>> {
        let mut kept = lock(&self.finite);
        if let Some(machine) = kept.as_ref().filter(|machine| Arc::ptr_eq(machine.shared_program(), job.program)) {
            return Ok(machine.anew());
        }
        let made = SearchedMachine::new(Arc::clone(job.program), job.watch());
        let machine = made.map_err(|refusal| Box::new(refused(job.planned, job.program, refusal)))?;
        Ok(kept.insert(machine).anew())
    }

    /// A question in the form in which a search answers it, and the machine to be searched.
    ///
    /// # Errors
    /// What is to be reported instead, if the question makes no sense or no machine can run the model.
    pub(crate) fn infinite(
        &self,
        job: Job<'_>,
        search: CycleSearch,
    ) -> Result<(LivenessQuery, SearchedMachine), Box<Checked>> {
        let Job { program, planned, settings, .. } = job;
        let mut kept = lock(&self.infinite);
        if let Some(known) = kept.iter().find(|known| known.suits(job, search)) {
            let mut query = known.query.clone();
            query.search = search;
            return Ok((query, known.machine.anew()));
        }
        let query = liveness_query(program, planned, settings, search)
            .map_err(|finding| Box::new(Checked::faulty(planned, *finding)))?;
        let machine = SearchedMachine::infinite(Arc::clone(&query.program), query.watch)
            .map_err(|refusal| Box::new(refused(planned, program, refusal)))?;
        let begun = (query.clone(), machine.anew());
        kept.push(Infinite { program: Arc::clone(program), progress: settings.progress, query, machine });
        Ok(begun)
    }

    /// How the program of a query, which is the one of the check with claims added, is reduced for its search.
    pub(crate) fn plan(&self, job: Job<'_>, query: &LivenessQuery, preserve: Preserve) -> Result<Plan, WhyNot> {
        let mut kept = lock(&self.plans);
        let is_it = |(program, search, _): &&Reduction| Arc::ptr_eq(program, &query.program) && *search == query.search;
        if let Some((_, _, plan)) = kept.iter().find(is_it) {
            return plan.clone();
        }
        let plan = self.basis(job.program).prepare(&query.program, preserve);
        kept.push((Arc::clone(&query.program), query.search, plan.clone()));
        plan
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
