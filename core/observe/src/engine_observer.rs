//! Who watches a search on behalf of the one who asked for the check.

use crate::cadence::Cadence;
use crate::event::{Event, Goal, Progress};
use crate::look::{Controls, Reader};
use crate::{CheckContext, Task};
use fabius_base::{Limits, SourceMap, Span, StopReason};
use fabius_counterexample::place_of;
use fabius_model::{Budget, Places, listed};
use fabius_program::{Move, Program, meaning::Fault};
use fabius_search::delay_bounded::{DelayObserver, Round};
use fabius_search::{self as search, Rejected, SearchSnapshot, SnapshotRequest, Statistics, ViolationKind};
use fabius_task::load::Loaded;
use fabius_task::report::WorkerReport;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::time::Duration;

/// Watches a search on behalf of the one who asked for the check.
pub struct EngineObserver<'a, 'b> {
    /// The property that is checked.
    pub property: &'a str,
    loaded: &'a Loaded,
    program: &'a Program,
    map: &'a SourceMap,
    /// Whoever asked for the check.
    pub context: &'a mut CheckContext<'b>,
    places: Places,
    goal: Goal,
    /// What the search may use, as far as whoever watches may change it.
    limits: Limits,
    /// Arrivals at states that were too deep, as far as is known.
    cut: u64,
    /// It was told that a bound on depth left out what another one does not.
    is_loosened: bool,
    began: Duration,
    /// When the time for the property is used up.
    until: Option<Duration>,
    /// How many transitions may be listed, if there is a limit …
    transitions_max: Option<u64>,
    /// … at most how many steps come before the next look at it …
    steps_per_look: u32,
    /// … and whether that ended the search.
    is_spent: bool,
    /// The violation whose shorter run is looked for, by its key.
    sought: Option<u64>,
    /// When checkpoints are due, if the search is saved.
    cadence: Option<Cadence>,
    /// The keys of the violations met, in order, each once.
    pub keys: Vec<u64>,
}

impl<'a, 'b> EngineObserver<'a, 'b> {
    /// Tells that a search begins. `sought`: the key of the violation whose shorter run is looked for.
    pub fn new(
        task: &Task<'a>,
        context: &'a mut CheckContext<'b>,
        goal: Goal,
        places: Places,
        sought: Option<u64>,
    ) -> Self {
        (context.observe)(Event::Searching { property: task.property.to_owned(), goal });
        let began = (context.now)();
        Self {
            property: task.property,
            loaded: task.loaded,
            program: task.program,
            map: &task.loaded.map,
            context,
            places,
            goal,
            limits: task.settings.limits,
            cut: 0,
            is_loosened: false,
            began,
            until: task.settings.until,
            transitions_max: None,
            steps_per_look: u32::MAX,
            is_spent: false,
            sought,
            cadence: None,
            keys: Vec::new(),
        }
    }

    /// Ends the search once it has listed what is left of a budget.
    pub fn within(self, budget: &Budget) -> Self {
        Self { steps_per_look: budget.steps_per_look(), ..self.up_to(budget.transitions()) }
    }

    /// Ends the search once it has listed this many transitions.
    pub fn up_to(self, transitions: u64) -> Self {
        Self { transitions_max: Some(transitions), ..self }
    }

    /// Asks for a checkpoint every few minutes.
    pub fn saved(self) -> Self {
        Self { cadence: Some(Cadence::starting(self.began)), ..self }
    }

    /// Whether the search ended since it had listed all the transitions that it might.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    fn reader(&self) -> Reader<'_> {
        Reader { program: self.program, map: self.map, places: &self.places }
    }

    /// Where a violation is: the file and the byte at which the guilty statement stands.
    fn place(&self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> Option<Span> {
        match (kind, label) {
            (ViolationKind::InvalidEnd, _) => self.places.first_stuck(state),
            (ViolationKind::Fault(fault), Some(step)) => Some(place_of(self.program, step.edge, *fault)),
            (ViolationKind::Fault(_), None) => None,
        }
    }
}

impl EngineObserver<'_, '_> {
    /// Tells how far a search is, and how far each of the processes is that search together; a reason to stop, if there is one.
    pub fn progressed(&mut self, statistics: &Statistics, workers: Vec<WorkerReport>) -> ControlFlow<StopReason> {
        let now = (self.context.now)();
        let seconds = now - self.began;
        if self.until.is_some_and(|until| until <= now) {
            return ControlFlow::Break(StopReason::Timeout);
        }
        if self.transitions_max.is_some_and(|max| max <= listed(statistics)) {
            self.is_spent = true;
            return ControlFlow::Break(StopReason::States);
        }
        if self.sought.is_some_and(|key| self.keys.contains(&key)) {
            return ControlFlow::Break(StopReason::Cancelled);
        }
        let progress = Progress {
            states: statistics.states,
            transitions: statistics.transitions(),
            depth: statistics.depth,
            memory_bytes: statistics.memory_bytes,
            seconds: seconds.as_secs_f64(),
        };
        (self.context.observe)(Event::Progress { property: self.property.to_owned(), progress, workers });
        if let Some(controls) = self.context.controls {
            if self.goal == Goal::Violation && self.cut < statistics.cut {
                self.cut = statistics.cut;
                controls.left_out_beyond(self.limits.depth_max);
            }
            controls.wait_while_paused(self.context.cancel);
        }
        // Whoever was told may have had enough.
        self.context.cancel.requested().map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }
}

impl search::Observer<Move, Fault> for EngineObserver<'_, '_> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.progressed(statistics, Vec::new())
    }

    fn steps_per_look(&self) -> u32 {
        self.steps_per_look
    }

    fn snapshot_request(&mut self) -> Option<SnapshotRequest> {
        self.context.controls?.snapshot_request()
    }

    fn on_snapshot(&mut self, look: SearchSnapshot<Move>) {
        let look = self.reader().look(look);
        (self.context.observe)(Event::Look { property: self.property.to_owned(), look });
    }

    fn rejected(&mut self, rejected: Rejected<Move>) {
        let cycle = self.reader().rejected(&rejected);
        (self.context.observe)(Event::Rejected { property: self.property.to_owned(), cycle });
    }

    fn change_limits(&mut self, limits: &mut Limits) {
        // What only makes a violation clearer has a small budget of its own.
        let may_change = self.goal == Goal::Violation && *limits == self.limits;
        let Some(controls) = self.context.controls.filter(|_| may_change) else { return };
        controls.read_visit_order(self.loaded, self.program);
        let wanted = controls.in_force(controls.limits().unwrap_or(*limits));
        (*limits, self.limits) = (wanted, wanted);
        let is_beyond = |met: &u64| wanted.depth_max.is_none_or(|max| *met < max);
        let lost = controls.depth_met().filter(|met| !self.is_loosened && is_beyond(met));
        if let Some(depth) = lost {
            self.is_loosened = true;
            (self.context.observe)(Event::LeftOut { property: self.property.to_owned(), depth });
        }
    }

    fn checkpoint_is_due(&mut self) -> bool {
        self.cadence.as_mut().is_some_and(|cadence| cadence.is_due((self.context.now)()))
    }

    fn key(&mut self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> u64 {
        let place = self.place(kind, label, state).map(|span| self.map.user_span(span));
        let fault = match kind {
            ViolationKind::InvalidEnd => None,
            ViolationKind::Fault(fault) => Some(std::mem::discriminant(fault)),
        };
        let mut hasher = DefaultHasher::new();
        (fault, place.map(|span| (span.file, span.start))).hash(&mut hasher);
        let key = hasher.finish();
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        key
    }
}

impl DelayObserver<Move, Fault> for EngineObserver<'_, '_> {
    fn last_bound(&mut self, last: Option<u32>) -> Option<u32> {
        let raised = self.context.controls.and_then(Controls::last_bound).unwrap_or(0);
        last.map(|last| last.max(raised))
    }

    fn round(&mut self, round: &Round) -> ControlFlow<StopReason> {
        let Round { bound, states, frontier, .. } = *round;
        (self.context.observe)(Event::Round { property: self.property.to_owned(), bound, states, frontier });
        ControlFlow::Continue(())
    }
}
