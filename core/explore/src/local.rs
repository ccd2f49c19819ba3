//! Searches from a state: what they need, to be taken to another thread, and what their answers are true of.
//!
//! A [`LocalAnswer`] carries its [`Scope`]: the model, the property, the state, and the processes that did not move. It is
//! no [`fabius_engine::Verdict`] and cannot be made one, since that is about all runs of the model.
//! [`Exploration::answer_here`] gives it back only where all of the scope is the case again.

use crate::Exploration;
use crate::tree::NodeId;
use fabius_engine::{
    CheckContext, Counterexample, ExplorationTarget, Fairness, Loaded, SearchedFrom, Settings, search_from,
};
use fabius_program::Move;
use fabius_witness::{Claim, State};
use std::sync::Arc;

/// This many answers are kept, the younger ones.
const ANSWERS_MAX: usize = 32;

/// What the answer of a search from a state is about.
#[derive(Clone, Debug)]
pub struct Scope {
    loaded: Arc<Loaded>,
    target: ExplorationTarget,
    path: Vec<Move>,
    /// The state after the path, as far as it matters for what follows.
    state: State,
    number: usize,
    held: Vec<u8>,
    names: Vec<String>,
}

/// Everything that a search from a state needs.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    scope: Scope,
}

/// What a search from a state found, and what that is true of.
#[derive(Clone, Debug)]
pub struct LocalAnswer {
    scope: Scope,
    fairness: Fairness,
    search_from: SearchedFrom,
}

/// What is known of the runs within a scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Local {
    /// One of them violates the property.
    Violation,
    /// None of them does.
    NoViolation,
    /// None was found that does, and some were not looked at.
    Unknown,
}

impl Scope {
    /// The property that was asked about.
    pub fn property(&self) -> &str {
        &self.target.property
    }

    /// The number of the step after which was searched; 0 is the initial state.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The processes that did not move.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// Where, and who did not move: `from step 2, with P[0] held`.
    pub fn words(&self) -> String {
        let place = match self.number {
            0 => "from the initial state".to_owned(),
            number => format!("from step {number}"),
        };
        match self.names.as_slice() {
            [] => place,
            [one] => format!("{place}, with {one} held"),
            [others @ .., last] => format!("{place}, with {} and {last} held", others.join(", ")),
        }
    }

    /// Whether this is about what is walked through.
    fn is_of(&self, walk: &Exploration) -> bool {
        Arc::ptr_eq(&self.loaded, walk.loaded())
            && self.target.property == walk.target().property
            && self.target.watch == walk.target().watch
            && Arc::ptr_eq(&self.target.program, &walk.target().program)
    }
}

impl SearchRequest {
    /// What the answer will be about.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Searches. Of the settings, limits, fairness and how cycles are looked for matter.
    ///
    /// # Errors
    /// If it cannot be searched, in a sentence.
    pub fn run(&self, settings: &Settings, context: &mut CheckContext<'_>) -> Result<LocalAnswer, String> {
        let Scope { loaded, target, path, held, .. } = &self.scope;
        let search_from = search_from(loaded, target, path, held, settings, context)?;
        let safety = target.property == fabius_engine::SAFETY;
        let fairness = if safety { Fairness::None } else { settings.fairness };
        Ok(LocalAnswer { scope: self.scope.clone(), fairness, search_from })
    }
}

impl LocalAnswer {
    /// What it is true of.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What is known now.
    pub fn local(&self) -> Local {
        match (&self.search_from.found, self.search_from.exhaustive) {
            (Some(_), _) => Local::Violation,
            (None, true) => Local::NoViolation,
            (None, false) => Local::Unknown,
        }
    }

    /// The run that was found: from the initial state, through the state from which was searched.
    pub fn found(&self) -> Option<&Counterexample> {
        self.search_from.found.as_ref()
    }

    /// Number of states looked at.
    pub fn states(&self) -> u64 {
        self.search_from.states
    }

    /// What was found, with all that it is true of, in a sentence.
    pub fn sentence(&self) -> String {
        let fair = match self.fairness {
            Fairness::None => "",
            Fairness::Weak => ", under weak fairness",
            Fairness::Strong => ", under strong fairness",
        };
        format!("{}{fair}: {}", self.scope.words(), self.search_from.sentence)
    }

    /// Whether the run that was found violates the property for the model as a whole, too. A loop in which a process is held
    /// may be one that fairness excludes as soon as that may move.
    fn found_for_all(&self) -> bool {
        let is_loop = self.found().is_some_and(|example| matches!(example.trace.claim, Claim::Cycle { .. }));
        !(is_loop && self.fairness != Fairness::None && !self.scope.held.is_empty())
    }
}

impl Exploration {
    /// A search from the present state for a violation of the property, while the processes that are held do not move.
    pub fn search_request(&self) -> SearchRequest {
        let held = self.held();
        SearchRequest {
            scope: Scope {
                loaded: Arc::clone(self.loaded()),
                target: self.target().clone(),
                path: self.path(self.here()),
                state: self.state().visible(&self.target().program),
                number: self.number(self.here()),
                names: held.iter().map(|pid| self.process_name(*pid)).collect(),
                held,
            },
        }
    }

    /// Takes over what a search from a state of this walk found. Where the run ends that goes wrong, if there is one; that
    /// is in the tree from now on.
    ///
    /// # Errors
    /// If the answer is about another model or another property, in a sentence.
    pub fn learn_answer(&mut self, answer: LocalAnswer) -> Result<Option<NodeId>, String> {
        if !answer.scope.is_of(self) {
            return Err("the search was about another model or property; its answer is dropped".to_owned());
        }
        let found = answer.found().map(|example| self.adopt_run(example, answer.found_for_all())).transpose()?;
        let same = |old: &Arc<LocalAnswer>| {
            old.scope.held == answer.scope.held
                && old.scope.state == answer.scope.state
                && old.fairness == answer.fairness
        };
        self.answers.retain(|old| !same(old));
        if self.answers.len() == ANSWERS_MAX {
            self.answers.remove(0);
        }
        self.answers.push(Arc::new(answer));
        Ok(found)
    }

    /// The answers that are known, the oldest first, wherever they are about.
    pub fn answers(&self) -> &[Arc<LocalAnswer>] {
        &self.answers
    }

    /// What a search found that is about the present state and the present holds; the youngest answer, if there are several.
    pub fn answer_here(&self) -> Option<&Arc<LocalAnswer>> {
        if self.answers.is_empty() {
            return None;
        }
        let (state, held) = (self.state().visible(&self.target().program), self.held());
        self.answers.iter().rev().find(|answer| answer.scope.held == held && answer.scope.state == state)
    }
}
