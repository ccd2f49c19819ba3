//! Executions that were counted, to be asked about one after the other.

use super::births::Naming;
use super::model::Interleaved;
use super::{
    Begun, ExecutionsReport, ExecutionsRequest, GraphOf, Kind, ListedExecution, NotCounted, Question, TreeBranch,
    listed, tree,
};
use fabius_base::Cancel;
use fabius_program::{Program, Watch};
use fabius_search::executions::Ended;
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use std::sync::Arc;
use std::time::Duration;

/// The executions of a model, counted. The graph is kept, so that no answer takes another search.
pub struct Counted {
    /// How many there are. The request says what is counted; nothing is listed.
    pub report: ExecutionsReport,
    /// The program whose executions they are: the model as it is written.
    pub program: Arc<Program>,
    watch: Watch,
    naming: Naming,
    /// What the answers come from, if everything was explored.
    graph: Option<(Interleaved, GraphOf)>,
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Counted {
    /// Counts the executions of a model. `now` tells the time since some moment.
    ///
    /// # Errors
    /// If they cannot be counted.
    pub fn new(
        loaded: &Loaded,
        request: &ExecutionsRequest,
        cancel: &Cancel,
        now: &(dyn Fn() -> Duration + Sync),
    ) -> Result<Self, NotCounted> {
        let began = now();
        let mut question = Question::asked(loaded, request, cancel)?;
        let Begun { model, explored, found } = question.begin(loaded, &|| (now() - began).as_secs_f64());
        let mut report = found.report;
        report.internal_error = found.failure;
        if model.is_lost() {
            report.internal_error = Some(internal_error("a state has no tables of independent steps"));
        }
        let complete = explored.ended == Ended::Complete && report.internal_error.is_none();
        let graph = complete.then_some((model, explored.graph));
        Ok(Self { report, program: found.program, watch: question.watch, naming: question.naming, graph })
    }

    /// The branches of the tree of choices from the first one to the one with these executions, and the alternatives at its end;
    /// empty if there is no such branch. `first` counts from 0; without a branch, the first one is meant.
    ///
    /// # Errors
    /// If the reference interpreter does not agree: Fabius itself is wrong.
    pub fn alternatives(&mut self, branch: Option<(u128, u128)>) -> Result<Vec<TreeBranch>, String> {
        let Some((model, graph)) = &mut self.graph else { return Ok(Vec::new()) };
        let (first, executions) = branch.unwrap_or((0, graph.numbers().all));
        let found = self.naming.branches(graph.alternatives(model, first, executions));
        tree::walked((&self.program, self.watch), &found).map_err(|why| internal_error(&why))
    }

    /// An execution by its number, from 0; `None` if there is none.
    ///
    /// # Errors
    /// If the reference interpreter does not agree: Fabius itself is wrong.
    pub fn execution(&mut self, number: u128) -> Result<Option<ListedExecution>, String> {
        let Some((model, graph)) = &mut self.graph else { return Ok(None) };
        let Some(found) = graph.executions(model, Kind::All, number).next() else { return Ok(None) };
        let found = self.naming.execution(found);
        listed(&self.program, self.watch, found).map(Some).map_err(|why| internal_error(&why))
    }
}
