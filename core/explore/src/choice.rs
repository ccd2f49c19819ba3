//! What can be done next, and what would come of it.

use crate::Exploration;
use crate::tree::{NodeId, rest};
use fabius_analysis::Forecast;
use fabius_analysis::schedule::MustWait;
use fabius_program::{CLAIM_PID, Move, meaning::Fault};
use fabius_witness::{Ending, Outcome, Step, describe, ending, step};
use std::borrow::Cow;

/// A step that is possible now.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The step, for [`Exploration::take`].
    pub step: Move,
    /// Who moves, the statement and its place, the partner of a rendezvous; and its effect: what changes, messages,
    /// what is printed, processes created, the fault that it would cause.
    pub effect: Step,
    /// It needs this process, which is held: automatic runs do not take it.
    pub held: Option<u8>,
    /// It has to wait under the schedule that is followed: automatic runs do not take it.
    pub must_wait: Option<MustWait>,
    /// Where it leads, if it was tried before.
    pub node: Option<NodeId>,
    /// What is known of where it leads.
    pub mark: SuccessorHint,
}

/// What is known of where a step leads. Nothing is claimed that is not known: where nothing is known of the runs that go on
/// from there, the mark says only whether the state was seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SuccessorHint {
    /// It goes wrong at once.
    Error,
    /// Nothing can move there, and some process may not stop where it is.
    DeadlockNext,
    /// To the state in which this step of the present run ended: a cycle.
    EntersCycle(NodeId),
    /// To a state from which a run is known that violates the property, if nobody is held back.
    CanFail {
        /// Steps from here to the error, or to the loop that is one, this step included; `None` if only some run is known.
        steps: Option<u32>,
        /// Whether a scheduler can avoid every error of safety from there on, as far as that is known.
        avoidable: Option<bool>,
    },
    /// To a state from which no run violates the property, whoever moves.
    CannotFail,
    /// To a state that was seen before: the tree has it, or a chart.
    Known,
    /// To a state that was not seen yet.
    New,
}

impl SuccessorHint {
    /// One sign for it, and one that needs no more than ASCII.
    pub fn sign(self) -> (&'static str, char) {
        match self {
            Self::Error => ("✗", 'x'),
            Self::DeadlockNext => ("■", '#'),
            Self::EntersCycle(_) => ("⟳", '@'),
            Self::CanFail { .. } => ("!", '!'),
            Self::CannotFail => ("✓", 'v'),
            Self::Known => ("·", '.'),
            Self::New => ("+", '+'),
        }
    }

    /// It in a few words.
    pub fn words(self) -> Cow<'static, str> {
        match self {
            Self::Error => "goes wrong".into(),
            Self::DeadlockNext => "deadlock next".into(),
            Self::EntersCycle(_) => "enters a cycle".into(),
            Self::CanFail { steps: None, .. } => "can fail".into(),
            Self::CanFail { steps: Some(1), .. } => "can fail in 1 step".into(),
            Self::CanFail { steps: Some(steps), .. } => format!("can fail in {steps} steps").into(),
            Self::CannotFail => "cannot fail".into(),
            Self::Known => "known".into(),
            Self::New => "new".into(),
        }
    }

    /// Whether a scheduler can avoid what can fail, in a word, where that is known.
    pub fn whether_avoidable(self) -> Option<&'static str> {
        match self {
            Self::CanFail { avoidable: Some(true), .. } => Some("avoidable"),
            Self::CanFail { avoidable: Some(false), .. } => Some("unavoidable"),
            _ => None,
        }
    }

    /// All of it: *can fail in 3 steps, avoidable*.
    pub fn sentence(self) -> String {
        let whether = self.whether_avoidable().map_or_else(String::new, |word| format!(", {word}"));
        format!("{}{whether}", self.words())
    }
}

impl Exploration {
    /// Every step that is possible now, with its effect, in the order in which a search tries them.
    ///
    /// In a state with a claim these are, in turn, moves of the claim ([`fabius_program::CLAIM_PID`]) and steps of
    /// the system.
    pub fn choices(&self) -> Vec<Choice> {
        let possible = self.possible();
        let waiting = self.waiting(&self.state(), &possible);
        let choice = |((wanted, outcome), must_wait): ((Move, Outcome), Option<MustWait>)| {
            Some(Choice { must_wait, ..self.describe_choice(wanted, &outcome)? })
        };
        possible.into_iter().zip(waiting).filter_map(choice).collect()
    }

    fn describe_choice(&self, wanted: Move, outcome: &Outcome) -> Option<Choice> {
        let program = &self.target().program;
        let before = &self.situation(self.here()).state;
        let taken = step(program, before, wanted).ok()?;
        let number = self.number(self.here()) + 1;
        Some(Choice {
            step: wanted,
            effect: describe(program, number, before, wanted, &taken),
            held: self.held_in(&wanted),
            must_wait: None,
            node: self.tree.child_by(self.here(), wanted, self.view.size),
            mark: self.mark(wanted, outcome),
        })
    }

    fn mark(&self, wanted: Move, outcome: &Outcome) -> SuccessorHint {
        let program = &self.target().program;
        let Some(state) = outcome.state().filter(|_| outcome.fault().is_none()) else { return SuccessorHint::Error };
        let reached = rest(program, state);
        if ending(program, &reached) == Ending::Invalid {
            return SuccessorHint::DeadlockNext;
        }
        if let Some(earlier) = self.tree.earlier_same(state, self.here()).filter(|node| self.has(*node)) {
            return SuccessorHint::EntersCycle(earlier);
        }
        let tried = self.tree.known(state, self.view.size);
        match (self.charts.ahead(program, &reached), tried) {
            (Some(Forecast::Error { steps, avoidable }), _) => {
                let own = u32::from(!is_of_claim(&wanted));
                SuccessorHint::CanFail { steps: Some(steps.saturating_add(own).max(1)), avoidable }
            }
            (_, Some(node)) if self.tree.leads_to_error(node, self.view.size) => {
                SuccessorHint::CanFail { steps: None, avoidable: None }
            }
            (Some(Forecast::Safe), _) => SuccessorHint::CannotFail,
            (Some(Forecast::Open), _) | (_, Some(_)) => SuccessorHint::Known,
            (None, None) => SuccessorHint::New,
        }
    }

    /// The moves that an automatic run may choose from: possible, without processes that are held, and without those that have to
    /// wait under the schedule that is followed.
    pub(crate) fn free(&self) -> Vec<(Move, Outcome)> {
        let possible = self.possible();
        let waiting = self.waiting(&self.state(), &possible);
        let is_free =
            |((step, _), waits): &((Move, Outcome), Option<MustWait>)| waits.is_none() && self.held_in(step).is_none();
        possible.into_iter().zip(waiting).filter(is_free).map(|(possible, _)| possible).collect()
    }

    /// Whether it is the turn of the claim that is watched.
    pub fn is_claims_turn(&self) -> bool {
        self.state().is_claims_turn()
    }

    /// The step on the line that comes next, if there is one.
    pub fn next_on_line(&self) -> Option<NodeId> {
        self.line().get(self.depth(self.here()) + 1).copied()
    }
}

/// Whether a move is the claim's.
pub fn is_of_claim(step: &Move) -> bool {
    step.pid == CLAIM_PID
}

/// Whether a fault is an assertion that does not hold.
pub fn is_assertion(fault: Fault) -> bool {
    fault == Fault::AssertionFailed
}
