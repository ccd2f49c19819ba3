//! The model that is being walked through, and everything that a client has asked for about it.

use crate::launch::Launch;
use crate::points::Points;
use crate::show::{self, ErrorSeen};
use crate::values::References;
use fabius_explore::{Exploration, NodeId, RunLimits, Stop, Way, is_of_claim, sentence};
use fabius_witness::Step;

/// The model, its breakpoints, and what was shown of it.
#[derive(Debug)]
pub(crate) struct Debuggee {
    pub e: Exploration,
    pub launch: Launch,
    pub points: Points,
    pub way: Way,
    pub references: References,
    /// The error at which the run has stopped.
    pub error: Option<ErrorSeen>,
}

/// What became of one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    /// The system moved.
    Step,
    /// It did not.
    No(Stop),
}

/// One move of an automatic run.
const ONE: RunLimits<'static> = RunLimits { steps_max: 1, cancel: None };
/// A claim that moves more often than this between two steps of the system is left where it is.
const CLAIM_MOVES_MAX: usize = 1_000;

impl Debuggee {
    pub(crate) fn new(e: Exploration, launch: Launch, points: Points, way: Way) -> Self {
        Self { e, launch, points, way, references: References::default(), error: None }
    }

    /// The way of the next move: a walk at random draws anew at each step.
    fn way_now(&self) -> Way {
        let on_line = self.e.next_on_line().is_some() || self.e.lasso().is_some_and(|lasso| lasso.end == self.e.here());
        match self.way {
            Way::Random(seed) if !on_line => Way::Random(seed ^ (self.e.depth(self.e.here()) as u64).rotate_left(32)),
            _ => Way::Line,
        }
    }

    /// One step of the system forward: along the line, where it ends as the schedule says. A claim moves by itself.
    pub(crate) fn forward(&mut self) -> Moved {
        self.settle();
        let way = self.way_now();
        match self.e.run(way, &ONE, |_| true) {
            Stop::Reached => {
                self.settle();
                Moved::Step
            }
            stop => Moved::No(stop),
        }
    }

    /// One step of a process, if it has one; else as [`Debuggee::forward`].
    pub(crate) fn forward_of(&mut self, pid: Option<u8>) -> Moved {
        self.settle();
        let on_line = self.e.next_on_line().is_some() || self.e.lasso().is_some_and(|lasso| lasso.end == self.e.here());
        let Some(pid) = pid.filter(|_| !on_line && self.way == Way::Line) else { return self.forward() };
        let own = self
            .e
            .choices()
            .into_iter()
            .find(|choice| choice.step.pid == pid && choice.held.is_none() && choice.must_wait.is_none());
        match own.map(|choice| self.e.choose(&choice)) {
            Some(Ok(_)) => {
                self.settle();
                Moved::Step
            }
            _ => self.forward(),
        }
    }

    /// One step of the system back.
    pub(crate) fn back(&mut self) -> Moved {
        let is_claims = |e: &Exploration| e.step_to(e.here()).is_some_and(|step| step.claim.is_some());
        while is_claims(&self.e) && self.e.back() {}
        if !self.e.back() {
            return Moved::No(Stop::Beginning);
        }
        while is_claims(&self.e) && self.e.back() {}
        self.settle();
        Moved::Step
    }

    /// Lets the claim move as far as it is its turn: along the line, else its first move.
    pub(crate) fn settle(&mut self) {
        for _ in 0..CLAIM_MOVES_MAX {
            let e = &self.e;
            if e.fault(e.here()).is_some()
                || e.lasso().is_some_and(|lasso| lasso.end == e.here())
                || !e.is_claims_turn()
            {
                return;
            }
            let next_is_claims =
                e.next_on_line().and_then(|node| e.step_to(node)).is_some_and(|step| step.claim.is_some());
            let moved = if next_is_claims { self.e.forward() } else { self.first_of_claim() };
            if !moved {
                return;
            }
        }
    }

    fn first_of_claim(&mut self) -> bool {
        let first = self.e.choices().into_iter().find(|choice| is_of_claim(&choice.step));
        first.is_some_and(|choice| self.e.choose(&choice).is_ok())
    }

    /// The step of the system that led here.
    pub(crate) fn last_step(&self) -> Option<Step> {
        let mut node = self.e.here();
        for _ in 0..CLAIM_MOVES_MAX {
            let step = self.e.step_to(node)?;
            if step.claim.is_none() {
                return Some(step);
            }
            node = self.e.parent(node)?;
        }
        None
    }

    /// What the last step was, in a sentence.
    pub(crate) fn last_sentence(&self) -> Option<(String, Step)> {
        let step = self.last_step()?;
        Some((format!("{}. {}", step.number, sentence(&step)), step))
    }

    /// The error in the present state, if somebody wants to stop there.
    pub(crate) fn error(&self) -> Option<ErrorSeen> {
        show::error(&self.e).filter(|error| self.points.stops_at(error.filter))
    }

    /// The node after this many steps of the system on the line.
    pub(crate) fn node(&self, number: usize) -> Option<NodeId> {
        self.e.line().iter().copied().rev().find(|node| self.e.number(*node) == number)
    }
}
