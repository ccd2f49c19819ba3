//! All that can be reached with at most k delays, and nothing else: states of system and scheduler together.
//!
//! A run edge leads from (s, d) to (t, Step(s, d, t)) for each turn s → t of process Next(d), at cost 0; a delay edge
//! from (s, d) to (s, Delay(d)), at cost 1.
//!
//! ```text
//! now := settled := {(s₀, d₀)};  later := ∅;  n := 0
//! while now ≠ ∅:
//!   while now ≠ ∅:
//!     take (s, d) from now
//!     for each turn s → t of Next(d):
//!       report it if it is faulty
//!       add (t, Step(s, d, t)) to now and to settled, unless it is settled     at its minimal cost, n
//!     later := later ∪ {(s, Delay(d))}
//!   if n = k: stop
//!   now := later \ settled;  settled := settled ∪ now;  later := ∅;  n := n + 1
//! ```
//!
//! Delay edges of their own give dominance for nothing: if r delays lead from d′ to d, and (s, d′) is settled at n′ with
//! n′ + r ≤ n, then so is (s, d), and it is not looked at again.
//!
//! Where choices are bounded, too, a pair also has the fewest choices on the way to it. With at most n delays it is settled
//! anew if it is met with fewer choices than before, and within a round pairs with fewer choices go first; so what is
//! reached is what can be reached within both bounds.
//!
//! Among runs with the same number of delays, those of fewer turns come first, but for ties in order: the first
//! violation needs the fewest delays, and about the fewest turns among those.
//!
//! If every process that can move in a state that was reached has been run there, more delays lead nowhere new: then
//! the result holds for every schedule (as in Johnson, Wahl: *Delay-Bounded Scheduling Without Delay!*, CAV 2021).

use super::replay::replay;
use super::{Deepening, Delay, DelayObserver, DelayOutcome, Listing, Origin, Round, SHOWN_TURNS_MAX};
use super::{is_choice, scheduled};
use crate::look::{Look, Phase};
use crate::model::{Ending, ProcessSet, Processes};
use crate::observer::{Budget, Settings};
use crate::outcome::{Halt, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::schedule::turns::{Lister, TurnEnd};
use crate::schedule::{Scheduler, Situation, Turns};
use crate::store::{Class, Inserted, Store, TreeStore};
use fabius_base::StopReason;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

/// The observer is asked whether it wants to see something once for so many pairs.
const SHOW_EVERY: u64 = 256;
/// So many states of the system at most.
const STATES_MAX: usize = u32::MAX as usize - 2;

/// Searches all that can be reached with so many delays.
pub fn exact<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
) -> DelayOutcome<M::Label, M::Fault>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let hidden = model.hidden_words();
    let mut search = Exact {
        listing: Listing { model, lister: Lister::new(), budget: Budget::new(settings) },
        scheduler,
        observer,
        store: TreeStore::default(),
        position: Position::new(TreeStore::<u32>::MEMO_PER_WORD, hidden),
        states: States { hidden, ..States::default() },
        schedules: Schedules::default(),
        origins: Vec::new(),
        settled: HashMap::new(),
        now: Queue::default(),
        choices: deepening.choices,
        later: VecDeque::new(),
        looks: 0,
        turns: Turns::default(),
        turns_after: Turns::default(),
        finished: Vec::new(),
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
        delays: Vec::new(),
    };
    let run = search.run(deepening);
    search.look_at_memory();
    // Without a bound on choices, what was run in every state is known, even if pairs are left.
    let frontier = search.finished.last().map_or(u64::MAX, |round| round.frontier);
    let is_whole = search.states.open == 0;
    let left = (is_whole || search.choices.is_some() && frontier == 0, !is_whole);
    let outcome = search.violations.conclude(run, search.store.exactness(), search.statistics);
    DelayOutcome {
        delays: search.delays,
        pairs: search.settled.len() as u64,
        ..DelayOutcome::conclude(outcome, search.finished, left)
    }
}

struct Exact<'a, M: Processes, D: Scheduler<M::Label>, O> {
    listing: Listing<'a, M>,
    scheduler: &'a D,
    observer: &'a mut O,
    /// The number of each state, plus 1.
    store: TreeStore<u32>,
    position: Position,
    states: States,
    schedules: Schedules<D::State>,
    /// Of each pair that was ever queued, by its number.
    origins: Vec<Origin>,
    /// State and schedule of all pairs in `now` and of those that were there, each with the fewest choices so far.
    settled: HashMap<(u32, u32), u32>,
    now: Queue,
    /// So many choices in a run, at most.
    choices: Option<u32>,
    later: VecDeque<Pair>,
    looks: u64,
    turns: Turns<M::Label, M::Fault>,
    turns_after: Turns<M::Label, M::Fault>,
    finished: Vec<Round>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
    delays: Vec<Vec<Delay>>,
}

/// A state of system and scheduler, as it was queued.
#[derive(Clone, Copy)]
struct Pair {
    state: u32,
    schedule: u32,
    /// Its number among the [`Exact::origins`].
    number: u32,
    depth: u32,
    /// Choices on the way.
    choices: u32,
}

impl Pair {
    fn key(&self) -> (u32, u32) {
        (self.state, self.schedule)
    }
}

/// Pairs in the order of choices, and of their coming.
#[derive(Default)]
struct Queue {
    by_choices: Vec<VecDeque<Pair>>,
}

impl Queue {
    fn push(&mut self, pair: Pair) {
        let choices = pair.choices as usize;
        if self.by_choices.len() <= choices {
            self.by_choices.resize_with(choices + 1, VecDeque::new);
        }
        self.by_choices[choices].push_back(pair);
    }

    fn pop(&mut self) -> Option<Pair> {
        self.by_choices.iter_mut().find_map(VecDeque::pop_front)
    }

    fn len(&self) -> usize {
        self.by_choices.iter().map(VecDeque::len).sum()
    }

    fn capacity(&self) -> usize {
        self.by_choices.iter().map(VecDeque::capacity).sum()
    }
}

impl<M, D, O> Exact<'_, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    fn run(&mut self, deepening: &Deepening) -> ControlFlow<Halt> {
        let mut initial = Vec::new();
        if let Err(fault) = self.listing.model.initial(&mut initial) {
            return self.report(ViolationKind::Fault(fault), None, None);
        }
        let state = self.number_of(&initial)?.0;
        let start = self.scheduler.start(self.states.situation(state, &initial));
        let schedule = self.schedules.number_of(start);
        self.origins.push(Origin::NONE);
        self.enqueue(Pair { state, schedule, number: 0, depth: 0, choices: 0 });
        // Bounds between those asked for are searched, and not told of.
        let (mut bound, mut asked) = (0, deepening.start());
        loop {
            while let Some(pair) = self.now.pop() {
                if self.settled.get(&pair.key()).is_some_and(|&fewest| fewest < pair.choices) {
                    continue;
                }
                self.settle(pair)?;
                if self.looks.is_multiple_of(SHOW_EVERY) {
                    self.show(bound, pair);
                }
            }
            let settled = &self.settled;
            self.later.retain(|pair| settled.get(&pair.key()).is_none_or(|&fewest| pair.choices < fewest));
            if bound == asked {
                let frontier = self.later.len() as u64;
                let round = Round { bound, states: self.statistics.states, frontier };
                self.finished.push(round);
                self.observer.round(&round).map_break(Halt::Reason)?;
                match deepening.as_wanted(self.observer).after(bound).filter(|_| frontier > 0 && self.states.open > 0) {
                    Some(next) => asked = next,
                    None => return ControlFlow::Continue(()),
                }
            }
            bound += 1;
            for pair in std::mem::take(&mut self.later) {
                if self.is_news(&pair) {
                    self.enqueue(pair);
                }
            }
        }
    }

    /// Whether a pair was never met, or with more choices.
    fn is_news(&self, pair: &Pair) -> bool {
        self.settled.get(&pair.key()).is_none_or(|&fewest| pair.choices < fewest)
    }

    fn enqueue(&mut self, pair: Pair) {
        self.settled.insert(pair.key(), pair.choices);
        self.now.push(pair);
    }

    /// Looks at a pair at its minimal cost.
    fn settle(&mut self, pair: Pair) -> ControlFlow<Halt> {
        self.looks += 1;
        if self.looks.is_multiple_of(1024) {
            self.look_at_memory();
        }
        let mut state = Vec::new();
        self.states.recall(&self.store, pair.state, &mut state);
        let full = self.store.is_full();
        self.listing.list(&state, &mut self.turns, &mut self.statistics, full, self.observer)?;
        if self.states.begin(pair.state) && self.turns.ending() == Ending::InvalidEnd {
            self.report(ViolationKind::InvalidEnd, Some(pair), None)?;
        }
        self.statistics.depth = self.statistics.depth.max(u64::from(pair.depth));
        if self.turns.has_nobodys() {
            self.take_all(pair, None)?;
        }
        let schedule = self.schedules.get(pair.schedule).clone();
        let Some(process) = self.scheduler.next(&schedule) else { return ControlFlow::Continue(()) };
        if self.take_all(pair, Some(process))? {
            self.states.ran(pair.state, process);
        }
        if self.turns.enabled().len() > 1 && !self.scheduler.is_sealed(&schedule) {
            let mut delayed = schedule;
            self.scheduler.delay(&mut delayed);
            let delayed = Pair { schedule: self.schedules.number_of(delayed), ..pair };
            if self.is_news(&delayed) {
                let number = self.originate(Origin { parent: pair.number, turn: Origin::DELAY })?;
                self.later.push_back(Pair { number, ..delayed });
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes the turns of a process, or of nobody: all for which there are choices left. Whether these are all.
    fn take_all(&mut self, pair: Pair, process: Option<u8>) -> ControlFlow<Halt, bool> {
        let (mut from, mut all) = (0, true);
        while let Some(index) = self.turns.next_of(process, from) {
            from = index + 1;
            let mut pair = pair;
            if let Some(most) = self.choices
                && is_choice(&self.turns, index)
            {
                if pair.choices == most {
                    all = false;
                    continue;
                }
                pair.choices += 1;
            }
            match &self.turns.get(index).end {
                TurnEnd::State(_) => self.arrive(pair, index)?,
                TurnEnd::Fault(fault) => {
                    let kind = ViolationKind::Fault(*fault);
                    self.report(kind, Some(pair), Some(index))?;
                }
                TurnEnd::Stuck(_) => self.report(ViolationKind::InvalidEnd, Some(pair), Some(index))?,
            }
        }
        ControlFlow::Continue(all)
    }

    /// Queues the pair that a turn leads to, unless it is settled.
    fn arrive(&mut self, pair: Pair, index: usize) -> ControlFlow<Halt> {
        let depth = pair.depth.saturating_add(self.turns.labels(index).len() as u32);
        if self.listing.budget.too_deep(u64::from(depth)) {
            self.statistics.cut += 1;
            self.statistics.matched += 1;
            return ControlFlow::Continue(());
        }
        let target = self.turns.target(index).unwrap_or(&[]).to_vec();
        let (state, inserted) = self.number_of(&target)?;
        self.statistics.matched += u64::from(inserted == Inserted::Old);
        let before = self.schedules.get(pair.schedule);
        let situation = self.states.situation(state, &target);
        let after = scheduled(self.scheduler, before, (&self.turns, index), situation);
        let next = Pair { state, schedule: self.schedules.number_of(after), depth, ..pair };
        if self.is_news(&next) {
            let number = self.originate(Origin { parent: pair.number, turn: index as u32 })?;
            self.enqueue(Pair { number, ..next });
        }
        ControlFlow::Continue(())
    }

    /// The number of a state, which is stored if it is new.
    fn number_of(&mut self, words: &[u32]) -> ControlFlow<Halt, (u32, Inserted)> {
        self.position.advance(words);
        let (inserted, number) = self.store.entry(&mut self.position, Class::Ordinary);
        if inserted == Inserted::Old {
            let number = *number - 1;
            self.position.forget();
            return ControlFlow::Continue((number, inserted));
        }
        if STATES_MAX <= self.states.nodes.len() {
            return ControlFlow::Break(Halt::Reason(StopReason::Memory));
        }
        *number = self.states.nodes.len() as u32 + 1;
        let number = *number - 1;
        if self.listing.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Reason(StopReason::States));
        }
        self.statistics.states += 1;
        let full = self.store.is_full();
        self.listing.list(words, &mut self.turns_after, &mut self.statistics, full, self.observer)?;
        self.states.add(&self.store, &self.position, self.turns_after.enabled());
        self.position.forget();
        ControlFlow::Continue((number, inserted))
    }

    fn originate(&mut self, origin: Origin) -> ControlFlow<Halt, u32> {
        if STATES_MAX <= self.origins.len() {
            return ControlFlow::Break(Halt::Reason(StopReason::Memory));
        }
        self.origins.push(origin);
        ControlFlow::Continue(self.origins.len() as u32 - 1)
    }

    /// Reports a violation: of a turn of the state of a pair, or of that state.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, pair: Option<Pair>, turn: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let (label, state) = self.turns.place(turn);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = pair.map_or(Vec::new(), |pair| Origin::trail(&self.origins, pair.number));
        trail.extend(turn.map(|turn| turn as u32));
        let (model, scheduler, delays) = (&mut *self.listing.model, self.scheduler, &mut self.delays);
        self.violations.record(key, kind, || {
            let told = replay(model, scheduler, &trail);
            delays.push(told.delays);
            told.path
        })
    }

    /// Shows an observer who wants to see it what the search is at.
    #[cold]
    fn show(&mut self, bound: u32, pair: Pair) {
        let Some(wanted) = self.observer.curiosity() else { return };
        let trail = Origin::trail(&self.origins, pair.number);
        let look = Look {
            before: u64::from(pair.depth),
            frontier: Some((self.now.len() + self.later.len()) as u64),
            ..Look::at(Phase::Delays(bound))
        };
        let look = if wanted.whole || trail.len() <= SHOWN_TURNS_MAX {
            look.along(wanted, replay(self.listing.model, self.scheduler, &trail).path.into_iter())
        } else {
            look
        };
        self.observer.shown(look);
    }

    #[cold]
    fn look_at_memory(&mut self) {
        let pairs = (self.now.capacity() + self.later.capacity()) * size_of::<Pair>()
            + self.settled.capacity() * (size_of::<((u32, u32), u32)>() + 1)
            + self.origins.capacity() * size_of::<Origin>();
        let schedules = self.schedules.list.len() * (2 * size_of::<D::State>() + 40);
        let local = pairs + schedules + self.states.memory_bytes();
        let now = self.store.memory_bytes() + self.position.memory_bytes() + local as u64;
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
    }
}

/// The states of the system, by number.
#[derive(Default)]
struct States {
    hidden: usize,
    nodes: Vec<Node>,
    /// Notes and hidden words.
    words: Vec<u32>,
    /// States in which some process that can move has not been run.
    open: u64,
}

struct Node {
    /// Where its note starts; its hidden words are at the end.
    start: usize,
    /// The processes that can move.
    enabled: ProcessSet,
    /// Those of them that have not been run here.
    waiting: ProcessSet,
    looked_at: bool,
}

impl States {
    /// Adds the state that the position arrived at.
    fn add(&mut self, store: &TreeStore<u32>, position: &Position, enabled: &ProcessSet) {
        let start = self.words.len();
        self.nodes.push(Node { start, enabled: *enabled, waiting: *enabled, looked_at: false });
        store.note(position, &mut self.words);
        self.words.extend_from_slice(position.hidden());
        self.open += u64::from(!enabled.is_empty());
    }

    /// The state with this number, for a scheduler.
    fn situation<'a>(&'a self, number: u32, state: &'a [u32]) -> Situation<'a> {
        Situation { state, enabled: &self.nodes[number as usize].enabled }
    }

    fn recall(&self, store: &TreeStore<u32>, number: u32, state: &mut Vec<u32>) {
        let start = self.nodes[number as usize].start;
        let end = self.nodes.get(number as usize + 1).map_or(self.words.len(), |next| next.start);
        let hidden = end - self.hidden.min(end - start);
        store.recall(&self.words[start..hidden], state);
        state.extend_from_slice(&self.words[hidden..end]);
    }

    /// Looks at a state; whether it is for the first time.
    fn begin(&mut self, number: u32) -> bool {
        !std::mem::replace(&mut self.nodes[number as usize].looked_at, true)
    }

    /// A process was run in a state.
    fn ran(&mut self, number: u32, process: u8) {
        let waiting = &mut self.nodes[number as usize].waiting;
        if waiting.contains(process) {
            waiting.remove(process);
            self.open -= u64::from(waiting.is_empty());
        }
    }

    fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.words.capacity() * 4
    }
}

/// The states of the scheduler, by number.
struct Schedules<State> {
    list: Vec<State>,
    numbers: HashMap<State, u32>,
}

impl<State> Default for Schedules<State> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<State: Clone + Eq + std::hash::Hash> Schedules<State> {
    fn number_of(&mut self, state: State) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    fn get(&self, number: u32) -> &State {
        &self.list[number as usize]
    }
}
