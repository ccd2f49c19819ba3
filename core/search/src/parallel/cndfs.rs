//! Parallel nested depth-first search for acceptance cycles.
//!
//! After Evangelista, Laarman, Petrucci, van de Pol: *Improved Multi-Core Nested Depth-First Search*
//! (ATVA 2012), CNDFS:
//!
//! ```text
//! blue(s, i):  s.cyan[i] := true;  all_red := true   red(s, i):  Rᵢ := Rᵢ ∪ {s}
//!   for each t ∈ postᵢ(s):                             for each t ∈ postᵢ(s):
//!     if not t.cyan[i] and not t.blue:                   if t.cyan[i]: report a cycle
//!       blue(t, i)                                       if t ∉ Rᵢ and not t.red: red(t, i)
//!     all_red := all_red and t.red
//!   s.blue := true
//!   if all_red: s.red := true
//!   else if s is accepting:
//!     Rᵢ := ∅;  red(s, i)
//!     await: s' is red, for all accepting s' ∈ Rᵢ but s
//!     s'.red := true, for all s' ∈ Rᵢ
//!   s.cyan[i] := false
//! ```
//!
//! Every thread searches from the initial state; they share which states are blue and red, and with their
//! successors in different order they soon are in different places. A cycle is sought behind an accepting state only
//! when its blue search is over, as in the sequential [`crate::cycle::nested_dfs`]; waiting keeps those searches
//! apart that could spoil each other.
//!
//! No state on an acceptance cycle turns red before a cycle is reported. Say that s is the first one. If a red search from b went
//! over s, then over all that s can reach, since none of it on a cycle with s was red; so also over an accepting state on a cycle
//! with s. Unless that is b, which is cyan and reported, it was awaited to be red before s. And if all successors of s were red, so
//! was the next state on the cycle.
//!
//! What differs from the paper:
//!
//! * One thread begins alone, by the sequential search, whose marks say as much as those above; once it has done enough for it to be worth
//!   while, it goes on from where it is, and the others join. All that is blue and reached by an accepting transition is red by then, and
//!   all that red states lead to.
//! * A state all of whose successors are red is red without a search, as in the sequential search (`all_red`, Gaiser, Schwoon).
//! * Acceptance stands on transitions ([`Marks::ACCEPTING`]). So a state is the state and whether it was
//!   reached by an accepting transition: then it is accepting. Where all transitions into a state agree, as those
//!   of a claim do, there are no more of these than there are states.
//! * A cycle is reported in the blue search already where a cyan state is reached from, or is, an accepting one
//!   (Schwoon, Esparza, TACAS 2005).
//! * A successor that some thread has on its stack comes last: see [`super::dfs_fifo`].
//! * Which transient states are passed through must be the same for all visits, so that there is one graph for all
//!   threads, and all that they wait for comes ([`Exploration::SAME_FOR_ALL`]).

use super::explorer::{Arrival, Event, Exploration, Explorer, UNCOUNTED};
use super::reach::Visited;
use super::store::{BITS, Key, MarkedKeys, SharedKeys, SharedStore, StateSet};
use super::worker_pool::{Run, Show, WorkerPool};
use crate::cycle::nested_dfs::{Extent, Mark, Visit, nested_dfs_up_to};
use crate::cycle::outcome::{CycleOutcome, Found};
use crate::model::{Marks, Model};
use crate::observer::{Observer, Settings, tell_together};
use crate::outcome::{Halt, Statistics};
use crate::store::TreeStore;
use fabius_base::Limits;
use std::ops::ControlFlow;
use std::time::Duration;

/// The state's blue search is over.
const BLUE: u32 = 1;
/// No red search has to go there any more.
const RED: u32 = 2;
/// The first of the bits that say who has a state on his stack.
const CYAN_FIRST: u32 = 4;
/// All of them.
const CYAN: u32 = !(BLUE | RED);
/// How many there are.
const CYAN_BITS: usize = BITS as usize - 2;

/// In a note: a state of the red search.
const IN_RED: u8 = 1;
/// In a note: the accepting state that the red search starts from.
const SEED: u8 = 2;

/// So often a thread that waits for another one only lets others go first; then it sleeps in between.
const YIELDS_MAX: u32 = 100;
/// So long.
const SLEEP: Duration = Duration::from_micros(50);

/// Why a search ends.
type Why<M> = Halt<Found<<M as Model>::Label, <M as Model>::Fault>>;

/// What a search for acceptance cycles came to.
#[derive(Debug)]
pub struct Nested<M: Model> {
    /// What was found.
    pub outcome: CycleOutcome<M::Label, M::Fault>,
    /// The states visited.
    pub visited: Visited<Mark>,
    /// The models that threads searched; none if the caller's thread was alone.
    pub models: Vec<M>,
    /// The states that were stored before the search began anew, if it did.
    pub states_before: u64,
}

/// What one thread did before others join: the states on its stack, and its counters.
type Begun = (Vec<Visit>, Statistics);

/// Looks for a cycle with an accepting transition. The caller's thread searches alone, as [`crate::cycle::nested_dfs`] does, until it has
/// listed about `alone` transitions, if any; what is left then is searched by `threads` threads. These begin anew if they tell states
/// apart that were not told apart before: those reached by accepting transitions and by others, and transient ones that were
/// looked up.
pub fn cndfs<M, O>(
    model: &mut M,
    (threads, alone): (usize, u64),
    observer: &mut O,
    settings: &Settings,
    seed: u64,
) -> Nested<M>
where
    M: Model<Label: Send, Fault: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let (mut settings, mut states_before) = (settings.clone(), 0);
    let (mut shared, mut begun) = (SharedStore::new(threads), None);
    if 0 < alone {
        let mut store = TreeStore::with_keys_of(MarkedKeys::KEY_BITS);
        match nested_dfs_up_to(model, &mut store, observer, &settings, alone) {
            Extent::Whole(outcome) => {
                return Nested { outcome, visited: Visited::Alone(store), models: Vec::new(), states_before };
            }
            Extent::Part { statistics, limits, way } => {
                settings.limits = limits;
                match way {
                    Some(way) => {
                        (shared, begun) = (SharedStore::of_marked(store, threads, bits_of), Some((way, statistics)));
                    }
                    None => states_before = statistics.states,
                }
            }
        }
    }
    let mut models = vec![model.clone(); threads];
    let how = Exploration::SAME_FOR_ALL;
    let (outcome, visited) = search(&mut models, observer, &settings, seed, how, (shared, begun));
    Nested { outcome, visited, models, states_before }
}

pub(super) fn search<M, O>(
    models: &mut [M],
    observer: &mut O,
    settings: &Settings,
    seed: u64,
    how: Exploration,
    (store, begun): (SharedStore<MarkedKeys>, Option<Begun>),
) -> (CycleOutcome<M::Label, M::Fault>, Visited<Mark>)
where
    M: Model<Label: Send, Fault: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let how = Exploration { apart: Some(Marks::ACCEPTING), ..how };
    let workers = WorkerPool::<(), Why<M>, MarkedKeys>::new(store, models.len(), 0, seed, settings);
    begun.iter().for_each(|(_, statistics)| workers.count_stored(statistics.states));
    let mut watch = |statistics: &Statistics, limits: &mut Limits, show: Show<'_, M::Label>| {
        tell_together(observer, statistics, limits, show)
    };
    let why = workers.work(models, &mut watch, begun, |thread, model, watch, begun| {
        let mut search = Cndfs {
            explorer: Explorer::new(thread, &workers, model, how, watch),
            mine: CYAN_FIRST << (thread % CYAN_BITS),
            cyan: (CYAN_BITS < workers.threads).then(StateSet::default),
            r: StateSet::default(),
            all_red: Vec::new(),
        };
        let run = match begun {
            Some(begun) => search.go_on(begun),
            None => search.begin(),
        };
        let run = if run.is_continue() { search.search() } else { run };
        search.explorer.publish();
        run
    });
    (workers.conclude_found(why), Visited::Together(Box::new(workers.store.into())))
}

/// The bits of a state that one thread visited, which is the first one from now on; and whether it was reached by an accepting transition.
fn bits_of(mark: Mark) -> (u32, bool) {
    let is_searched = !mark.is_accepting() || mark.is_cyan() || mark.is_red();
    assert!(is_searched, "behind what is blue and reached by an accepting transition, a cycle was sought");
    let red = if mark.is_red() { RED } else { 0 };
    let bits = if mark.is_cyan() { CYAN_FIRST } else { BLUE | red };
    (bits, mark.is_accepting())
}

/// One of the threads.
struct Cndfs<'a, M: Model> {
    explorer: Explorer<'a, M, (), Why<M>, MarkedKeys>,
    /// The thread's bit for cyan, …
    mine: u32,
    /// … and its cyan states, if there are more threads than bits.
    cyan: Option<StateSet>,
    /// Rᵢ.
    r: StateSet,
    /// For each state of the blue search on the stack: whether all its successors up to now are red.
    all_red: Vec<bool>,
}

impl<M: Model> Cndfs<'_, M> {
    /// Begins at the initial state.
    fn begin(&mut self) -> Run<Why<M>> {
        let start = match self.explorer.reset_to_initial() {
            Ok(start) => start,
            Err(fault) => return found(Found::Fault { path: Vec::new(), fault }),
        };
        if self.explorer.access.insert(start.key, 0).is_none() {
            self.explorer.count(false)?;
        }
        let before = self.explorer.access.set(start.key, self.mine);
        self.explorer.begin(&start, note(before));
        self.all_red.push(true);
        self.turn_cyan(start.key);
        ControlFlow::Continue(())
    }

    /// Begins where one thread is that searched alone.
    fn go_on(&mut self, (way, statistics): Begun) -> Run<Why<M>> {
        let mut listed = None;
        for visit in way {
            let key = match listed {
                None => match self.explorer.reset_to_initial() {
                    Ok(start) => {
                        self.explorer.begin(&start, 0);
                        Some(start.key)
                    }
                    Err(fault) => return found(Found::Fault { path: Vec::new(), fault }),
                },
                Some(listed) => {
                    self.explorer.list_as_before(listed);
                    let key = self.explorer.go_on_as_before(visit.is_stored);
                    key.into_iter().for_each(|key| self.explorer.enter(key, 0));
                    key
                }
            };
            match key {
                Some(key) => {
                    let bits = self.explorer.access.bits(key);
                    let is_shared = self.cyan.is_some();
                    assert!(is_shared || bits & self.mine != 0, "what was on the stack is on the stack");
                    self.all_red.push(visit.all_red);
                    self.turn_cyan(key);
                }
                None => self.successors_are(visit.all_red),
            }
            listed = Some(visit.listed);
        }
        self.explorer.list_as_before(listed.unwrap_or_default());
        self.explorer.beside_bytes = self.all_red.capacity() as u64;
        // Its memory is that of all from now on.
        self.explorer.share.statistics = Statistics { memory_bytes: 0, ..statistics };
        ControlFlow::Continue(())
    }

    fn search(&mut self) -> Run<Why<M>> {
        loop {
            match self.explorer.next()? {
                Event::Arrival(t) if self.explorer.note() & (IN_RED | SEED) != 0 => self.arrive_in_red(t)?,
                Event::Arrival(t) => self.arrive_in_blue(t)?,
                Event::Done => self.done()?,
                Event::Over => return ControlFlow::Continue(()),
                Event::InvalidEnd => {}
                Event::Faulty { label, fault } => {
                    let mut path = self.explorer.path();
                    path.extend(label);
                    return found(Found::Fault { path, fault });
                }
            }
        }
    }

    #[inline]
    fn arrive_in_blue(&mut self, t: Arrival) -> Run<Why<M>> {
        let Some(bits) = self.explorer.access.insert(t.key, self.mine) else {
            self.explorer.count(t.transient)?;
            self.enter_in_blue(t.key, 0);
            return ControlFlow::Continue(());
        };
        if self.is_cyan(bits, t.key) {
            let accepting = |s: Option<Key>| s.is_some_and(Key::is_reached_otherwise);
            if accepting(Some(t.key)) || accepting(self.explorer.stored().next_back()) {
                return self.cycle(t.key);
            }
            self.successor_is(bits);
            self.prune();
        } else if bits & BLUE != 0 {
            self.successor_is(bits);
            self.prune();
        } else if bits & CYAN != 0 && !t.again {
            self.explorer.defer();
        } else {
            let note = note(self.explorer.access.set(t.key, self.mine));
            self.explorer.count_match();
            self.enter_in_blue(t.key, note);
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn enter_in_blue(&mut self, t: Key, note: u8) {
        self.explorer.share.revisits += u64::from(note == UNCOUNTED);
        self.explorer.enter(t, note);
        self.all_red.push(true);
        self.explorer.beside_bytes = self.all_red.capacity() as u64;
        self.turn_cyan(t);
    }

    /// Takes note of a successor of the state of the blue search on top, which has these bits.
    #[inline]
    fn successor_is(&mut self, bits: u32) {
        self.successors_are(bits & RED != 0);
    }

    /// Takes note of successors of the state of the blue search on top: whether all are red.
    #[inline]
    fn successors_are(&mut self, red: bool) {
        if let Some(all_red) = self.all_red.last_mut() {
            *all_red &= red;
        }
    }

    fn arrive_in_red(&mut self, t: Arrival) -> Run<Why<M>> {
        let old = self.explorer.access.insert(t.key, 0);
        let bits = old.unwrap_or(0);
        if self.is_cyan(bits, t.key) {
            return self.cycle(t.key);
        }
        if old.is_none() {
            self.explorer.count(t.transient)?;
        } else {
            self.explorer.count_match();
        }
        if bits & RED == 0 && self.r.insert(&mut self.explorer.access, t.key, ()) {
            self.explorer.enter(t.key, IN_RED | UNCOUNTED);
        } else {
            self.explorer.prune();
        }
        ControlFlow::Continue(())
    }

    /// All successors of the state on top of the stack were visited.
    fn done(&mut self) -> Run<Why<M>> {
        let (Some(s), note) = (self.explorer.top(), self.explorer.note()) else { return ControlFlow::Continue(()) };
        if note & IN_RED != 0 {
            self.explorer.leave();
            return ControlFlow::Continue(());
        }
        let is_searched = note & SEED != 0;
        if is_searched {
            self.turn_red(s)?;
        }
        let all_red = self.all_red.last().is_some_and(|&all_red| all_red);
        let new = if is_searched {
            0
        } else if all_red {
            BLUE | RED
        } else {
            BLUE
        };
        let bits = new | self.explorer.access.set(s, new);
        if s.is_reached_otherwise() && bits & RED == 0 {
            self.r.insert(&mut self.explorer.access, s, ());
            self.explorer.list_again(note | SEED);
            return ControlFlow::Continue(());
        }
        self.all_red.pop();
        self.successor_is(bits);
        self.explorer.access.clear(s, self.mine);
        if let Some(cyan) = &mut self.cyan {
            cyan.remove(&mut self.explorer.access, s, ());
        }
        self.explorer.leave();
        ControlFlow::Continue(())
    }

    /// Waits until the accepting states of Rᵢ are red, apart from the seed; then all of Rᵢ are.
    fn turn_red(&mut self, seed: Key) -> Run<Why<M>> {
        let mut r = std::mem::take(&mut self.r);
        r.remove(&mut self.explorer.access, seed, ());
        for s in r.iter().filter(|s| s.is_reached_otherwise()) {
            let mut yields = 0;
            while self.explorer.access.bits(s) & RED == 0 {
                self.explorer.look()?;
                yields += 1;
                if yields < YIELDS_MAX {
                    std::thread::yield_now();
                } else {
                    std::thread::sleep(SLEEP);
                }
            }
        }
        for s in r.iter().chain([seed]) {
            self.explorer.access.set(s, RED);
        }
        self.r = r;
        self.r.clear();
        ControlFlow::Continue(())
    }

    /// Whether a state with these bits is on the thread's own stack.
    #[inline]
    fn is_cyan(&mut self, bits: u32, s: Key) -> bool {
        match &mut self.cyan {
            // Those who share a bit take it back from each other.
            Some(cyan) => cyan.contains(&mut self.explorer.access, s, ()),
            None => bits & self.mine != 0,
        }
    }

    #[inline]
    fn prune(&mut self) {
        self.explorer.count_match();
        self.explorer.prune();
    }

    #[inline]
    fn turn_cyan(&mut self, s: Key) {
        if let Some(cyan) = &mut self.cyan {
            cyan.insert(&mut self.explorer.access, s, ());
        }
    }

    /// Reports the cycle that the successor `t`, which is cyan, closes.
    #[cold]
    fn cycle(&mut self, t: Key) -> Run<Why<M>> {
        found(self.explorer.lasso_closed_by(t))
    }
}

fn found<L, F>(found: Found<L, F>) -> Run<Halt<Found<L, F>>> {
    ControlFlow::Break(Some(Halt::Found(found)))
}

/// The note of a state that had these bits when it was entered: if it was on a stack before, others count it.
#[inline]
fn note(before: u32) -> u8 {
    if before & (CYAN | BLUE) == 0 { 0 } else { UNCOUNTED }
}
