//! States and the macro steps between them, grouped by who takes part.
//!
//! ```text
//! bucket[0] := {(s₀, d₀)}
//! for k = 0, 1, …: while bucket[k] is not empty: take (s, d); if s is not expanded:
//!   list all macro steps of s, in groups with the same participants
//!   for i = 0, 1, … (Next(dᵢ) each process that can move, dᵢ₊₁ = Delay(dᵢ)):
//!     for each macro step s → t of Next(dᵢ), unless t is expanded or is known with as few delays:  add (t, Step(dᵢ)) to bucket[k + i]
//! ```
//!
//! The states are expanded in the order of delays; an expanded state has all its macro steps. So each round makes the graph
//! larger, and takes nothing away. What follows an error is not explored: no schedule may get there.

use crate::model::{Ending, Model, ProcessSet, Processes};
use crate::numbered_states::NumberedStates;
use crate::schedule::macro_steps::MacroStepLister;
use crate::schedule::{MacroSteps, Scheduler, Situation, Step};
use crate::store::Class;
use fabius_base::{Cancel, StopReason};
use std::collections::{BTreeMap, VecDeque};
use std::ops::{ControlFlow, Range};

/// Whoever may cancel is asked whenever this many transitions were listed.
const TRANSITIONS_PER_LOOK: u64 = 1024;

/// The number of nothing.
const NONE: u32 = u32::MAX;

/// Those who take part in a macro step: whoever moves, and the receiver of a rendezvous.
pub type Movers = [Option<u8>; 2];

/// The macro steps of a state in which the same processes take part: the scheduler allows all of them or none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Who takes part.
    pub movers: Movers,
    /// One of its macro steps is an error.
    pub fails: bool,
    /// The state that it is a group of.
    pub state: u32,
    targets: Range<u32>,
}

/// A state.
#[derive(Clone, Debug)]
struct Node {
    groups: Range<u32>,
    /// What is known of it once it is expanded.
    ending: Option<Ending>,
    /// The fewest delays with which it was met.
    delays: u32,
    /// The last one in `arrivals` that arrives here, or [`NONE`].
    arrival: u32,
}

/// Groups with a macro step to the same state, as a list.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    group: u32,
    /// The one before it, or [`NONE`].
    before: u32,
}

/// What was explored.
#[derive(Debug)]
pub struct Graph {
    states: NumberedStates,
    nodes: Vec<Node>,
    groups: Vec<Group>,
    targets: Vec<u32>,
    /// As many as targets.
    arrivals: Vec<Arrival>,
    expanded: usize,
    has_errors: bool,
    lost: Lost,
}

/// Why exploration stopped early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A limit was reached.
    Limit(StopReason),
    /// The model has something of which nothing true can be said.
    Refused(Refusal),
}

/// How a round of the exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// All states that need as many delays are expanded.
    Finished(u32),
    /// As many states are expanded as were wanted.
    Paused,
    /// An error can follow under every schedule, whatever is explored later.
    Lost,
    /// Everything was explored.
    Complete,
}

/// What cannot be scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// An atomic sequence can go on for ever.
    InfiniteTurn,
    /// Something other than a process moves.
    Environment,
    /// There is no initial state.
    NoInitialState,
}

/// How much may be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// States met.
    pub states_max: u64,
    /// Transitions listed.
    pub transitions_max: u64,
    /// Memory, in bytes.
    pub memory_bytes_max: Option<u64>,
}

impl Graph {
    fn new(hidden: usize) -> Self {
        Self {
            states: NumberedStates::new(hidden),
            nodes: Vec::new(),
            groups: Vec::new(),
            targets: Vec::new(),
            arrivals: Vec::new(),
            expanded: 0,
            has_errors: false,
            lost: Lost::default(),
        }
    }

    /// Number of states met; the initial state is the first.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no state was met.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of states whose macro steps are known.
    pub fn expanded(&self) -> usize {
        self.expanded
    }

    /// Whether the macro steps of every state are known.
    pub fn is_complete(&self) -> bool {
        !self.is_empty() && self.expanded == self.nodes.len()
    }

    /// Whether a state's macro steps are known, and if so how it ends.
    pub fn ending(&self, state: u32) -> Option<Ending> {
        self.nodes[state as usize].ending
    }

    /// The numbers of the groups of a state.
    pub fn groups_of(&self, state: u32) -> Range<usize> {
        let groups = &self.nodes[state as usize].groups;
        groups.start as usize..groups.end as usize
    }

    /// A group.
    pub fn group(&self, number: usize) -> &Group {
        &self.groups[number]
    }

    /// Number of macro steps, of those to one state with the same participants one.
    pub fn macro_step_count(&self) -> usize {
        self.targets.len()
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The states that the macro steps of a group lead to.
    pub fn targets(&self, group: &Group) -> &[u32] {
        &self.targets[group.targets.start as usize..group.targets.end as usize]
    }

    /// The groups with a macro step to a state, by number, those added last first.
    pub fn groups_to(&self, state: u32) -> impl Iterator<Item = usize> + '_ {
        let mut next = self.nodes[state as usize].arrival;
        std::iter::from_fn(move || {
            let Arrival { group, before } = self.arrivals.get(next as usize)?;
            next = *before;
            Some(*group as usize)
        })
    }

    /// Whether an error or an invalid end was met.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// Whether an error or a dead end can follow from a state under every schedule, whatever is explored later.
    pub fn is_lost(&self, state: u32) -> bool {
        self.lost.has(state)
    }

    /// The states from which errors can follow under every schedule.
    pub(super) fn lost(&self) -> &Lost {
        &self.lost
    }

    /// Writes the words of a state; drops what `words` held.
    pub fn recall(&self, state: u32, words: &mut Vec<u32>) {
        self.states.recall(state, words);
    }

    /// The number of a state, if it was met.
    pub fn number_of(&mut self, words: &[u32]) -> Option<u32> {
        self.states.look_up(words, Class::Ordinary)
    }

    /// Bytes in use.
    pub fn memory_bytes(&self) -> u64 {
        let rows = size_of_val::<[Node]>(&self.nodes) + size_of_val::<[Group]>(&self.groups);
        let rows = rows + size_of_val::<[u32]>(&self.targets) + size_of_val::<[Arrival]>(&self.arrivals);
        self.states.memory_bytes() + rows as u64 + self.lost.memory_bytes()
    }

    /// The number of a state, which is new or not.
    fn meet(&mut self, words: &[u32]) -> u32 {
        self.states.find(words, Class::Ordinary).unwrap_or_else(|| {
            self.nodes.push(Node { groups: 0..0, ending: None, delays: u32::MAX, arrival: NONE });
            self.states.add(Class::Ordinary)
        })
    }

    /// Whether there is room for this many more macro steps.
    fn has_room_for(&self, macro_steps: usize) -> bool {
        self.targets.len() + self.groups.len() + 2 * macro_steps < NONE as usize
    }

    /// Adds the groups of a state, from what is known of its macro steps, each with those who take part; changes their order.
    fn add_groups(&mut self, state: u32, macro_steps: &mut [(Movers, Leads)], ending: Ending) {
        macro_steps.sort_unstable();
        let first = self.groups.len() as u32;
        for group in macro_steps.chunk_by(|(movers, _), (others, _)| movers == others) {
            let start = self.targets.len();
            for (_, leads) in group {
                match leads {
                    Leads::To(target) if self.targets[start..].last() != Some(target) => self.add_target(*target),
                    _ => {}
                }
            }
            let fails = group.iter().any(|(_, leads)| *leads == Leads::Failing);
            self.has_errors |= fails;
            let targets = start as u32..self.targets.len() as u32;
            self.groups.push(Group { movers: group[0].0, fails, state, targets });
        }
        let node = &mut self.nodes[state as usize];
        (node.groups, node.ending) = (first..self.groups.len() as u32, Some(ending));
        self.has_errors |= ending == Ending::InvalidEnd;
        self.expanded += 1;
        self.judge(state);
    }

    /// Adds a target of the group that is added next.
    fn add_target(&mut self, target: u32) {
        let number = self.targets.len() as u32;
        let before = std::mem::replace(&mut self.nodes[target as usize].arrival, number);
        self.targets.push(target);
        self.arrivals.push(Arrival { group: self.groups.len() as u32, before });
    }

    /// Finds out what is lost now that a state is expanded.
    fn judge(&mut self, state: u32) {
        let mut lost = std::mem::take(&mut self.lost);
        lost.meet(self.nodes.len());
        for number in self.groups_of(state) {
            let group = &self.groups[number];
            let usable = !group.fails && !self.targets(group).iter().any(|&target| lost.has(target));
            lost.usable.push(usable);
            lost.left[state as usize] += u32::from(usable);
        }
        match self.ending(state) {
            Some(Ending::InvalidEnd) => lost.add(state),
            Some(Ending::Moves) if lost.left[state as usize] == 0 => lost.add(state),
            _ => {}
        }
        while let Some(&bad) = lost.order.get(lost.passed_on) {
            lost.passed_on += 1;
            for number in self.groups_to(bad) {
                if std::mem::replace(&mut lost.usable[number], false) {
                    let source = self.groups[number].state;
                    lost.left[source as usize] -= 1;
                    if lost.left[source as usize] == 0 {
                        lost.add(source);
                    }
                }
            }
        }
        self.lost = lost;
    }
}

/// The states from which an error can follow under every schedule, kept up while the graph grows.
#[derive(Debug, Default)]
pub(super) struct Lost {
    is_lost: Vec<bool>,
    /// Of each state, the number of groups that a scheduler may allow; of states met last, nothing yet.
    pub(super) left: Vec<u32>,
    /// Of each group, whether a scheduler may allow it.
    pub(super) usable: Vec<bool>,
    /// In the order in which they were found.
    pub(super) order: Vec<u32>,
    /// Of these, the groups with a macro step to so many were looked at.
    passed_on: usize,
}

impl Lost {
    fn has(&self, state: u32) -> bool {
        self.is_lost.get(state as usize).is_some_and(|is_lost| *is_lost)
    }

    /// Makes room for this many states.
    fn meet(&mut self, states: usize) {
        self.is_lost.resize(states, false);
        self.left.resize(states, 0);
    }

    fn add(&mut self, state: u32) {
        if !std::mem::replace(&mut self.is_lost[state as usize], true) {
            self.order.push(state);
        }
    }

    fn memory_bytes(&self) -> u64 {
        let numbers = size_of_val::<[u32]>(&self.left) + size_of_val::<[u32]>(&self.order);
        (numbers + self.is_lost.len() + self.usable.len()) as u64
    }
}

/// Where a macro step leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Leads {
    /// To a state.
    To(u32),
    /// Nowhere: it is an error.
    Failing,
    /// Past an error.
    Past,
    /// That was not looked up.
    Unknown,
}

/// A state that waits to be expanded, and the macro step with which it was met.
#[derive(Clone, Debug)]
struct Waiting<Label, State> {
    state: u32,
    met: Option<Met<Label, State>>,
}

/// A macro step that leads to a state: what the scheduler's state there follows from.
#[derive(Clone, Debug)]
struct Met<Label, State> {
    from: u32,
    schedule: State,
    enabled: ProcessSet,
    process: Option<u8>,
    partners: ProcessSet,
    labels: Box<[Label]>,
}

type WaitingOf<M, D> = Waiting<<M as Model>::Label, <D as Scheduler<<M as Model>::Label>>::State>;

/// Explores a model.
pub struct Explorer<'a, M: Processes, D: Scheduler<M::Label>> {
    model: &'a mut M,
    scheduler: &'a D,
    lister: MacroStepLister<M::Label>,
    limits: Limits,
    cancel: Cancel,
    until_lost: bool,
    transitions: u64,
    /// By the number of delays.
    buckets: BTreeMap<u32, VecDeque<WaitingOf<M, D>>>,
    macro_steps: MacroSteps<M::Label, M::Fault>,
    /// Who takes part in each of them, and where it leads.
    leads: Vec<(Movers, Leads)>,
    words: Vec<u32>,
    graph: Graph,
}

impl<'a, M: Processes, D: Scheduler<M::Label>> Explorer<'a, M, D> {
    /// An explorer that has met the initial state.
    ///
    /// # Errors
    /// If there is no initial state.
    pub fn new(model: &'a mut M, scheduler: &'a D, limits: Limits, cancel: &Cancel) -> Result<Self, Refusal> {
        let mut graph = Graph::new(model.hidden_words());
        let mut words = Vec::new();
        model.initial(&mut words).map_err(|_| Refusal::NoInitialState)?;
        let state = graph.meet(&words);
        graph.nodes[state as usize].delays = 0;
        let waiting = VecDeque::from([Waiting { state, met: None }]);
        Ok(Self {
            model,
            scheduler,
            lister: MacroStepLister::new(),
            limits,
            cancel: cancel.clone(),
            until_lost: false,
            transitions: 0,
            buckets: BTreeMap::from([(0, waiting)]),
            macro_steps: MacroSteps::default(),
            leads: Vec::new(),
            words,
            graph,
        })
    }

    /// The same, but it ends once errors can follow under every schedule, whatever is explored later.
    #[must_use]
    pub fn until_lost(self) -> Self {
        Self { until_lost: true, ..self }
    }

    /// What was explored so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What was explored, without the explorer.
    pub fn into_graph(self) -> Graph {
        self.graph
    }

    /// The number of delays of the round that is being explored, or comes next.
    pub fn delays(&self) -> Option<u32> {
        self.buckets.keys().next().copied()
    }

    /// Transitions listed so far.
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// Changes how many transitions may be listed, with those before.
    pub fn allow_transitions(&mut self, max: u64) {
        self.limits.transitions_max = max;
    }

    /// Expands the states that need as many delays as the next round has, or goes on with it, until this many states are
    /// expanded.
    ///
    /// # Errors
    /// Why not all of them were expanded.
    pub fn round(&mut self, expanded_max: usize) -> Result<Round, Stop> {
        let Some(&delays) = self.buckets.keys().next() else { return Ok(Round::Complete) };
        while let Some(bucket) = self.buckets.get_mut(&delays) {
            if self.until_lost && self.graph.is_lost(0) {
                return Ok(Round::Lost);
            }
            if expanded_max <= self.graph.expanded {
                return Ok(Round::Paused);
            }
            match bucket.pop_front() {
                None => drop(self.buckets.remove(&delays)),
                Some(waiting) if self.graph.ending(waiting.state).is_some() => {}
                Some(waiting) => self.expand(&waiting, delays)?,
            }
        }
        Ok(Round::Finished(delays))
    }

    fn expand(&mut self, waiting: &WaitingOf<M, D>, delays: u32) -> Result<(), Stop> {
        if self.limits.states_max <= self.graph.len() as u64 {
            return Err(Stop::Limit(StopReason::States));
        }
        if self.limits.memory_bytes_max.is_some_and(|max| max < self.graph.memory_bytes()) {
            return Err(Stop::Limit(StopReason::Memory));
        }
        let mut macro_steps = std::mem::take(&mut self.macro_steps);
        let listed = self.list(waiting.state, &mut macro_steps);
        let listed = listed.and_then(|()| match () {
            () if macro_steps.is_infinite() => Err(Stop::Refused(Refusal::InfiniteTurn)),
            () if macro_steps.has_environment_moves() => Err(Stop::Refused(Refusal::Environment)),
            () if !self.graph.has_room_for(macro_steps.len()) => Err(Stop::Limit(StopReason::Memory)),
            () => Ok(()),
        });
        if listed.is_ok() {
            let schedule = self.schedule_in(waiting, &macro_steps);
            self.find_errors(&macro_steps);
            self.schedule_targets((waiting.state, schedule), delays, &macro_steps);
            for macro_step in 0..macro_steps.len() {
                let _ = self.target(macro_step, &macro_steps);
            }
            self.graph.add_groups(waiting.state, &mut self.leads, macro_steps.ending());
        }
        self.macro_steps = macro_steps;
        listed
    }

    /// The scheduler's state in a state, whose macro steps are these.
    fn schedule_in(&mut self, waiting: &WaitingOf<M, D>, macro_steps: &MacroSteps<M::Label, M::Fault>) -> D::State {
        let after = macro_steps.situation();
        let Some(met) = &waiting.met else { return self.scheduler.start(after) };
        self.graph.recall(met.from, &mut self.words);
        let before = Situation { state: &self.words, enabled: &met.enabled };
        let mut schedule = met.schedule.clone();
        let (process, labels, partners) = (met.process, &met.labels, &met.partners);
        self.scheduler.step(&mut schedule, &Step { process, labels, partners, before, after });
        schedule
    }

    /// Takes down who takes part in each macro step, and which are errors or lead past one.
    fn find_errors(&mut self, macro_steps: &MacroSteps<M::Label, M::Fault>) {
        let failing: Vec<usize> =
            (0..macro_steps.len()).filter(|&macro_step| macro_steps.target(macro_step).is_none()).collect();
        self.leads.clear();
        for macro_step in 0..macro_steps.len() {
            let labels = macro_steps.labels(macro_step);
            let movers = labels.first().map_or([None; 2], |label| self.model.movers(label));
            let leads = match () {
                () if macro_steps.target(macro_step).is_none() => Leads::Failing,
                () if failing.iter().any(|&other| labels.starts_with(macro_steps.labels(other))) => Leads::Past,
                () => Leads::Unknown,
            };
            self.leads.push((movers, leads));
        }
    }

    /// The state that a macro step leads to without an error on its way.
    fn target(&mut self, macro_step: usize, macro_steps: &MacroSteps<M::Label, M::Fault>) -> Option<u32> {
        let (_, leads) = &mut self.leads[macro_step];
        match *leads {
            Leads::To(state) => Some(state),
            Leads::Failing | Leads::Past => None,
            Leads::Unknown => {
                let state = self.graph.meet(macro_steps.target(macro_step)?);
                *leads = Leads::To(state);
                Some(state)
            }
        }
    }

    /// Puts the states that the macro steps of a state lead to into the buckets.
    fn schedule_targets(
        &mut self,
        (from, mut schedule): (u32, D::State),
        delays: u32,
        macro_steps: &MacroSteps<M::Label, M::Fault>,
    ) {
        for delays in (delays..).take(macro_steps.enabled().len()) {
            let process = self.scheduler.next(&schedule);
            let mut first = 0;
            while let Some(macro_step) = macro_steps.next_of(process, first) {
                first = macro_step + 1;
                let Some(state) = self.target(macro_step, macro_steps) else { continue };
                let node = &mut self.graph.nodes[state as usize];
                if node.ending.is_some() || node.delays <= delays {
                    continue;
                }
                node.delays = delays;
                let met = Met {
                    from,
                    schedule: schedule.clone(),
                    enabled: *macro_steps.enabled(),
                    process,
                    partners: *macro_steps.partners(macro_step),
                    labels: macro_steps.labels(macro_step).into(),
                };
                self.buckets.entry(delays).or_default().push_back(Waiting { state, met: Some(met) });
            }
            self.scheduler.delay(&mut schedule);
        }
    }

    /// Lists the macro steps of a state, within the limits.
    fn list(&mut self, state: u32, macro_steps: &mut MacroSteps<M::Label, M::Fault>) -> Result<(), Stop> {
        self.graph.recall(state, &mut self.words);
        let Self { lister, model, words, limits, cancel, transitions, .. } = self;
        let listed = lister.list(*model, words, macro_steps, || {
            *transitions += 1;
            if limits.transitions_max < *transitions {
                return ControlFlow::Break(StopReason::States);
            }
            match cancel.requested().filter(|_| *transitions % TRANSITIONS_PER_LOOK == 1) {
                Some(reason) => ControlFlow::Break(reason),
                None => ControlFlow::Continue(()),
            }
        });
        match listed {
            ControlFlow::Break(reason) => Err(Stop::Limit(reason)),
            ControlFlow::Continue(()) => Ok(()),
        }
    }
}
