//! Nested depth-first search for acceptance cycles.
//!
//! After Courcoubetis, Vardi, Wolper, Yannakakis (*Memory-Efficient Algorithms for the Verification of Temporal
//! Properties*, FMSD 1992) with the improvements of Schwoon and Esparza (*A Note on On-the-Fly
//! Verification Algorithms*, TACAS 2005) and of Gaiser and Schwoon (*Comparison of Algorithms for Checking
//! Emptiness on Büchi Automata*, MEMICS 2009). What is accepting is not a state but a transition:
//!
//! ```text
//! blue(s):                                        red(s):
//!   s.colour := cyan                                s.red := true
//!   all_red := true                                 for each s → t:
//!   for each s → t:                                   if t is cyan: report
//!     if t is cyan:                                   if t is not red: red(t)
//!       report if some transition from t
//!         over s back to t is accepting
//!     else:
//!       if t is white: blue(t)
//!       if s → t is accepting and t is not red: red(t)
//!     all_red := all_red and t is red
//!   s.colour := blue
//!   s.red := all_red
//! ```
//!
//! When a red search starts, only states are cyan from which the accepting transition can be reached: a path to one of
//! them closes a cycle with it. The order in which red searches start (that in which accepting
//! transitions are left behind for good) is why no state needs to be red twice. A state all of whose
//! successors are red lies on no acceptance cycle, and is as good as red (`all_red`).
//!
//! *The early test.* Whether an accepting transition lies on the stack above the cyan state t is seen from how many of
//! them the stack had when t was entered. Three bits of this number are kept with t; where they cannot tell, the
//! cycle is found later.
//!
//! *Transient states* that are passed through on trust may be visited any number of times. A red search
//! could then go past one that is looked up. Once any is looked up, red searches look up all of them.
//!
//! *Reduction.* Where a state was expanded in part and has a transition to a cyan state, it is expanded in
//! full: each cycle has such a state. The red search must see the same transitions; whether a state was
//! expanded in full is kept with it, and therefore no state is passed through on trust.
//!
//! *Several threads* may go on with it ([`crate::parallel::cndfs`]), between red searches.

mod evidence;
mod mark;

pub use mark::Mark;

use super::outcome::{CycleOutcome, Run};
use super::proviso::{NoReduction, Proviso};
use super::watch::Watch;
use crate::dfs_stack::{DfsStack, Frame, TransientPolicy};
use crate::model::{Marks, Model, Next};
use crate::observer::{Observer, Settings, state_words};
use crate::outcome::Statistics;
use crate::snapshot::{Phase, Rejection};
use crate::store::{Payloads, Store, TreeStore};
use fabius_base::Limits;
use mark::Colour;
use std::ops::ControlFlow;

/// Searches for a cycle with a transition that is marked [`Marks::ACCEPTING`], in the order in which `model` lists
/// successors.
pub fn nested_dfs<M, S, O, P>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
    proviso: P,
) -> CycleOutcome<M::Label, M::Fault>
where
    M: Model,
    S: Payloads<Mark>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
{
    let mut search = NestedDfs::new(model, store, observer, settings, proviso);
    let run = search.run().map_continue(|_| ());
    search.conclude(run)
}

/// As [`nested_dfs`] without a reduction, until about this many transitions are listed; those of transient states count.
pub(crate) fn nested_dfs_up_to<M, O>(
    model: &mut M,
    store: &mut TreeStore<Mark>,
    observer: &mut O,
    settings: &Settings,
    transitions: u64,
) -> Extent<M::Label, M::Fault>
where
    M: Model,
    O: Observer<M::Label, M::Fault>,
{
    let mut search = NestedDfs::new(model, store, observer, settings, NoReduction);
    search.transitions_max = transitions;
    match search.run() {
        ControlFlow::Continue(true) => {
            let (statistics, limits) = (search.watch.statistics, search.watch.limits());
            Extent::Part { statistics, limits, way: search.way() }
        }
        ended => Extent::Whole(search.conclude(ended.map_continue(|_| ()))),
    }
}

/// How far a search came.
pub(crate) enum Extent<L, F> {
    /// To its end.
    Whole(CycleOutcome<L, F>),
    /// Not to its end, and it is in no red search.
    Part {
        /// What it did by then.
        statistics: Statistics,
        /// How much may be used: whoever watches may have changed it.
        limits: Limits,
        /// The states on its stack, the initial one first, if others may go on from there.
        way: Option<Vec<Visit>>,
    },
}

/// A state on the stack of a search.
pub(crate) struct Visit {
    /// What was listed in it; the last one leads to the next state, or is done with.
    pub(crate) listed: u32,
    /// It is in the visited set.
    pub(crate) is_stored: bool,
    /// All successors looked at up to now are red.
    pub(crate) all_red: bool,
}

struct NestedDfs<'a, M: Model, S: Store, O, P> {
    model: &'a mut M,
    store: &'a mut S,
    proviso: P,
    watch: Watch<'a, O>,
    stack: DfsStack<M, FrameData, S::Probe>,
    /// Accepting transitions on the stack, as far as [`Mark`] has room.
    accepting: u8,
    /// Whether any transient state was looked up.
    looked_up: bool,
    /// Some state was reached by an accepting transition and by one that is not, or a transient one by an accepting transition.
    is_mixed: bool,
    /// After this many transitions, others go on; with the greatest number never.
    transitions_max: u64,
}

/// What is kept with a state on the stack.
#[derive(Clone, Copy, Default)]
struct FrameData {
    /// The transition that led here is accepting.
    accepting: bool,
    /// All successors looked at up to now are red.
    all_red: bool,
    /// Some successor is cyan.
    closes: bool,
    /// It is to be expanded in full, although the model left something out.
    full: bool,
    /// It is being expanded in full.
    fully_expanded: bool,
}

impl<'a, M: Model, S: Payloads<Mark>, O: Observer<M::Label, M::Fault>, P: Proviso<M>> NestedDfs<'a, M, S, O, P> {
    /// A search that has not begun.
    fn new(model: &'a mut M, store: &'a mut S, observer: &'a mut O, settings: &'a Settings, proviso: P) -> Self {
        let watch = Watch::new(observer, settings, state_words(model));
        let mut stack = DfsStack::new(model, S::MEMO_PER_WORD);
        stack.policy = policy::<M, P>(false);
        let (looked_up, transitions_max) = (P::REDUCES, u64::MAX);
        Self { stack, model, store, proviso, watch, accepting: 0, looked_up, is_mixed: false, transitions_max }
    }

    /// The outcome of a search that ran to its end or was halted.
    fn conclude(mut self, run: Run<M::Label, M::Fault>) -> CycleOutcome<M::Label, M::Fault> {
        let memory_bytes = self.memory_bytes();
        let statistics = &mut self.watch.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(memory_bytes);
        CycleOutcome::conclude_found(run, self.store.exactness(), *statistics)
    }

    /// The states on its stack, unless those who would go on tell states apart in another way.
    fn way(&self) -> Option<Vec<Visit>> {
        let visit = |frame: &Frame<M::Cursor, M::Label, FrameData>| Visit {
            listed: frame.listed,
            is_stored: frame.is_stored(),
            all_red: frame.data.all_red,
        };
        let is_same = !self.looked_up && !self.is_mixed;
        is_same.then(|| self.stack.frames().iter().map(visit).collect())
    }

    /// Whether others are to go on.
    fn run(&mut self) -> Run<M::Label, M::Fault, bool> {
        let probe = self.watch.arrive_at_initial(self.model, self.store, &mut self.stack)?;
        self.store.payload(probe).1.enter(0, false);
        self.stack.start(self.model, false, FrameData { all_red: true, ..FrameData::default() });
        self.blue()
    }

    fn blue(&mut self) -> Run<M::Label, M::Fault, bool> {
        loop {
            if self.watch.step_is_due() {
                self.look(Phase::Blue)?;
                let Statistics { transient, .. } = self.watch.statistics;
                if self.transitions_max <= self.watch.statistics.transitions() + transient {
                    return ControlFlow::Continue(true);
                }
            }
            let Some(found) = self.stack.next(self.model) else { return ControlFlow::Continue(false) };
            match found {
                Next::Successor { label, fault: Some(fault), .. } => self.fault(label, fault)?,
                Next::Broken { label, fault } => self.fault(Some(label), fault)?,
                Next::Successor { label, transient, marks, fault: None } => {
                    let accepting = marks.has(Marks::ACCEPTING);
                    let red = self.arrive(label, transient, accepting)?;
                    self.successor_is(red);
                }
                Next::Done(_) => {
                    if !self.fully_expand() {
                        let red = self.leave()?;
                        self.successor_is(red);
                    }
                }
            }
        }
    }

    /// Takes note of whether a successor of the state on top is red.
    fn successor_is(&mut self, red: bool) {
        if let Some(top) = self.stack.top() {
            top.data.all_red &= red;
        }
    }

    /// Looks at the successor. Whether it is red; if it is white, it is entered, and what it is will be said
    /// when it is left.
    fn arrive(&mut self, label: Option<M::Label>, transient: bool, accepting: bool) -> Run<M::Label, M::Fault, bool> {
        let depth = self.stack.depth() + u64::from(label.is_some());
        if self.watch.arrives_too_deep(depth, transient) {
            self.stack.cut();
            return ControlFlow::Continue(false);
        }
        let data = FrameData { accepting, all_red: true, ..FrameData::default() };
        let Some((class, probe)) = self.stack.look_up(self.model, self.store, transient, Marks::NONE) else {
            self.is_mixed |= accepting;
            self.count_accepting(accepting);
            self.stack.descend(self.model, label, Marks::NONE, data);
            return ControlFlow::Continue(true);
        };
        self.looked_up |= transient;
        let count = (self.accepting + u8::from(accepting)) & Mark::COUNT_MAX;
        let mark = self.store.payload(probe).1;
        self.is_mixed |= mark.colour() != Colour::White && mark.is_accepting() != accepting;
        match mark.colour() {
            Colour::White => {
                mark.enter(count, accepting);
                if !transient {
                    self.watch.counts_state()?;
                }
                self.count_accepting(accepting);
                self.stack.enter(self.model, self.store, label, transient, data);
                let statistics = &mut self.watch.statistics;
                statistics.depth = statistics.depth.max(depth);
                return ControlFlow::Continue(true);
            }
            Colour::Cyan if mark.count() != count => return self.report(label, class),
            Colour::Cyan => {
                if self.watch.rejects() {
                    self.watch.show_rejected(Rejection::NotAccepting, label, self.stack.position.state());
                }
                self.stack.top_frame().data.closes = true;
            }
            Colour::Blue if accepting && !mark.is_red() => {
                mark.redden();
                let full = mark.is_full();
                self.watch.statistics.matched += 1;
                self.stack.enter(self.model, self.store, label, transient, FrameData { full, ..FrameData::default() });
                self.red()?;
                self.stack.pop();
                self.no_way_back(label);
                return ControlFlow::Continue(true);
            }
            Colour::Blue => {}
        }
        let red = mark.is_red() && mark.colour() == Colour::Blue;
        self.watch.statistics.matched += 1;
        self.stack.reject();
        ControlFlow::Continue(red)
    }

    fn count_accepting(&mut self, accepting: bool) {
        self.accepting = (self.accepting + u8::from(accepting)) & Mark::COUNT_MAX;
    }

    /// Expands the state on top in full, if it closes a cycle and was expanded in part.
    fn fully_expand(&mut self) -> bool {
        let data = self.stack.top_frame().data;
        if !data.closes || data.fully_expanded {
            return false;
        }
        let (state, cursor) = self.stack.state_and_cursor();
        let fully_expanded = self.proviso.fully_expand(self.model, state, cursor);
        let data = &mut self.stack.top_frame().data;
        data.full |= fully_expanded;
        data.fully_expanded = true;
        fully_expanded
    }

    /// Leaves the state on top, after a red search from it if the transition to it is accepting. Whether it is red.
    fn leave(&mut self) -> Run<M::Label, M::Fault, bool> {
        let top = self.stack.top_frame();
        let (data, label, class, is_stored) = (top.data, top.label, top.class(), top.is_stored());
        let red = data.all_red || data.accepting;
        if is_stored {
            let probe = self.store.probe_of_state(&self.stack.position, class);
            self.store.payload(probe).1.leave(red, data.full);
        }
        if data.accepting && !data.all_red {
            self.stack.top_frame().data.fully_expanded = false;
            self.stack.rewind(self.model);
            self.red()?;
            self.no_way_back(label);
        }
        self.accepting = (self.accepting + Mark::COUNT_MAX + u8::from(!data.accepting)) & Mark::COUNT_MAX;
        self.stack.pop();
        self.stack.announce_top(self.store);
        ControlFlow::Continue(red)
    }

    /// The red search from the state on top, which is red and not cyan.
    fn red(&mut self) -> Run<M::Label, M::Fault> {
        let bottom = self.stack.len();
        self.stack.policy = policy::<M, P>(self.looked_up);
        while let Some(found) = self.stack.next(self.model) {
            if self.watch.step_is_due() {
                self.look(Phase::Red)?;
            }
            match found {
                Next::Successor { label, fault: Some(fault), .. } => return self.fault(label, fault),
                Next::Broken { label, fault } => return self.fault(Some(label), fault),
                Next::Successor { label, transient, .. } => self.red_arrive(label, transient)?,
                Next::Done(_) if self.fully_expand_again() => {}
                Next::Done(_) if self.stack.len() == bottom => break,
                Next::Done(_) => drop(self.stack.pop()),
            }
        }
        self.stack.policy = policy::<M, P>(false);
        ControlFlow::Continue(())
    }

    fn red_arrive(&mut self, label: Option<M::Label>, transient: bool) -> Run<M::Label, M::Fault> {
        let depth = self.stack.depth() + u64::from(label.is_some());
        if self.watch.arrives_too_deep(depth, transient) {
            self.stack.cut();
            return ControlFlow::Continue(());
        }
        let Some((class, probe)) = self.stack.look_up(self.model, self.store, transient, Marks::NONE) else {
            self.stack.descend(self.model, label, Marks::NONE, FrameData::default());
            return ControlFlow::Continue(());
        };
        if transient {
            self.looked_up = true;
            self.stack.policy = TransientPolicy::LOOK_UP_ALL;
        }
        self.watch.statistics.matched += 1;
        let mark = self.store.payload(probe).1;
        if mark.colour() == Colour::Cyan {
            return self.report(label, class);
        }
        if mark.is_red() {
            self.stack.reject();
            return ControlFlow::Continue(());
        }
        mark.redden();
        let full = mark.is_full();
        self.stack.enter(self.model, self.store, label, transient, FrameData { full, ..FrameData::default() });
        ControlFlow::Continue(())
    }

    /// Expands in full what the blue search expanded in full.
    fn fully_expand_again(&mut self) -> bool {
        let data = &mut self.stack.top_frame().data;
        if !data.full || std::mem::replace(&mut data.fully_expanded, true) {
            return false;
        }
        let (state, cursor) = self.stack.state_and_cursor();
        self.proviso.fully_expand(self.model, state, cursor)
    }

    fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + self.stack.memory_bytes()
    }
}

/// What is looked up: all transient states with a reduction, and once any of them was.
fn policy<M: Model, P: Proviso<M>>(any_looked_up: bool) -> TransientPolicy {
    if P::REDUCES || any_looked_up { TransientPolicy::LOOK_UP_ALL } else { TransientPolicy::SKIP_LOOKUP }
}
