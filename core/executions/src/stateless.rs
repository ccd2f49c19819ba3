//! Counting executions without a table of nodes.

use super::{By, Executions, ExecutionsRequest, NotCounted, Question, Relation, report};
use fabius_program::Move;
use fabius_search::executions::{Ended, Method, Stateless, StatelessSettings, explore_stateless};
use fabius_task::internal_error;
use fabius_task::load::Loaded;

/// What a search that keeps no table cannot do, if it is asked for.
pub(super) fn unsupported(request: &ExecutionsRequest) -> Option<String> {
    let asked = [
        (request.count != 0, "listing and showing executions"),
        (request.sample.is_some(), "drawing executions"),
        (request.tree.is_some(), "the tree of choices"),
        (request.compare.is_some(), "comparing executions"),
        (request.difference, "telling what makes the difference"),
        (request.steps_max.is_some(), "a bound on steps"),
        (request.laps_max.is_some(), "a bound on laps"),
    ];
    let method = request.by.word();
    let what = asked.into_iter().find_map(|(asked, what)| asked.then_some(what))?;
    Some(format!("`--by {method}` only counts executions: {what} needs `--by graph`"))
}

impl Question<'_> {
    /// Why this program cannot be explored without a table.
    pub(super) fn unsuited(&self) -> Option<String> {
        let because = match self.why_not {
            Some(why) => why.because(),
            None if self.facts.asks_for_timeout() => "the model uses `timeout`, which depends on all processes",
            None => return None,
        };
        Some(format!("`--by {}` does not work here, because {because}; `--by graph` does", self.request.by.word()))
    }

    /// Explores all executions; once more for each runtime error that was not known, until all are.
    fn explore_stateless(&mut self, method: Method) -> (Stateless<Move>, bool) {
        let settings = StatelessSettings { method, limits: self.request.limits, cancel: self.cancel.clone() };
        loop {
            let mut model = self.model(false);
            let found = explore_stateless(&mut model, &settings, &mut |_| {});
            if model.is_full() && self.without_births().is_ok() {
                continue;
            }
            let Ended::Broken(step) = found.ended else { return (found, model.is_lost()) };
            self.expect_error(step);
        }
    }

    /// Counts the executions, and says what was found.
    pub(super) fn stateless(
        &mut self,
        method: Method,
        loaded: &Loaded,
        elapsed: &dyn Fn() -> f64,
    ) -> Result<Executions, NotCounted> {
        if let Some(why) = self.unsuited() {
            return Err(NotCounted::Refused(why));
        }
        let (counted, lost) = self.explore_stateless(method);
        let numbers = report::Counted {
            numbers: counted.numbers,
            ended: &counted.ended,
            nodes: counted.nodes,
            memory_bytes: counted.memory_bytes,
            outcomes: None,
            redundant_runs: Some(counted.redundant_runs),
        };
        let mut found =
            Executions::of(report::of(loaded, self.request, self, &numbers, None, elapsed()), &self.program);
        let walked = match &counted.ended {
            _ if lost => Err("a state has no tables of independent steps".to_owned()),
            _ if counted.contradiction => Err("a step is not possible where it should be".to_owned()),
            Ended::Cycle(cycle) => self.walk_cycle(cycle).map(|trace| found.cycle = Some((trace, cycle.start))),
            _ => Ok(()),
        };
        found.failure = walked.err().map(|why| internal_error(&why));
        report::add_listed(&mut found, loaded);
        Ok(found)
    }
}

impl By {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Stateless(Method::Sleep) => "sleep",
            Self::Stateless(Method::Source) => "source",
            Self::Stateless(Method::Optimal) => "optimal",
        }
    }
}

impl Relation {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accords => "accords",
            Self::Footprints => "footprints",
            Self::Recorded => "recorded",
            Self::Learned => "learned",
        }
    }
}
