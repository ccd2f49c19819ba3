//! What lies ahead: charts of the states around one, which give choices their marks.
//!
//! A chart is drawn by whoever has a thread for it ([`Exploration::charting`], [`GraphRequest::run`]) and handed back
//! ([`Exploration::learn_chart`]). What charts tell is true of the model, wherever one stands and whatever is taken back.

use crate::Exploration;
use crate::choice::SuccessorHint;
use fabius_analysis::{Forecast, LocalStateGraph, chart};
use fabius_base::Limits;
use fabius_engine::ExplorationTarget;
use fabius_program::{Move, Program};
use fabius_witness::State;
use std::collections::HashSet;
use std::sync::Arc;

/// This many charts are kept, the younger ones.
const CHARTS_MAX: usize = 8;

/// The charts that are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalStateGraphs {
    /// The youngest one last.
    charts: Vec<Arc<LocalStateGraph>>,
    /// The states from which one was asked for, by their hashes.
    asked: HashSet<u64>,
    /// The property holds in all states: there is nothing to look for.
    all_is_well: bool,
    /// The tree has errors of another property as well: what cannot violate the one might violate the other, so nothing is
    /// said.
    mixed: bool,
}

/// All that is needed to draw a chart.
#[derive(Clone, Debug)]
pub struct GraphRequest {
    target: ExplorationTarget,
    path: Vec<Move>,
}

impl LocalStateGraphs {
    /// What is known of the runs from a state: that is as true in an old chart as in a young one.
    pub(crate) fn ahead(&self, program: &Program, state: &State) -> Option<Forecast> {
        if self.mixed {
            return None;
        }
        let mut told = None;
        for ahead in self.charts.iter().rev().filter_map(|chart| chart.ahead(program, state)) {
            match ahead {
                Forecast::Open => told = Some(ahead),
                Forecast::Error { .. } | Forecast::Safe => return Some(ahead),
            }
        }
        told
    }

    /// The run of a counterexample came into the tree that violates another property than the one that charts are of.
    pub(crate) fn mix(&mut self) {
        self.mixed = true;
    }
}

impl Exploration {
    /// What is to be drawn so that more is known of the choices; `None` if all is known, or if that was asked for before.
    pub fn charting(&mut self) -> Option<GraphRequest> {
        let here = self.here();
        let is_open = |mark: SuccessorHint| {
            matches!(mark, SuccessorHint::Known | SuccessorHint::New | SuccessorHint::CanFail { steps: None, .. })
        };
        if self.charts.all_is_well || self.charts.mixed || !self.charts.asked.insert(self.tree.hash(here)) {
            return None;
        }
        let wanted = self.choices().iter().any(|choice| is_open(choice.mark));
        wanted.then(|| GraphRequest { target: self.target().clone(), path: self.path(here) })
    }

    /// Takes over a chart that was drawn for this walk.
    pub fn learn_chart(&mut self, chart: Arc<LocalStateGraph>) {
        let charts = &mut self.charts.charts;
        if charts.len() == CHARTS_MAX {
            charts.remove(0);
            self.charts.asked.clear();
        }
        self.charts.charts.push(chart);
    }

    /// A search has looked at all runs, and none violates the property of the exploration target: no chart can tell more.
    pub fn learn_that_all_is_well(&mut self) {
        self.charts.all_is_well = true;
    }
}

impl GraphRequest {
    /// Draws the chart; see [`fabius_analysis::chart`].
    ///
    /// # Errors
    /// Why none can be drawn, in a sentence.
    pub fn run(&self, limits: &Limits, fair: bool, stop: &dyn Fn() -> bool) -> Result<LocalStateGraph, String> {
        chart(&self.target, &self.path, limits, fair, stop)
    }
}
