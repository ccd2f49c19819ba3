//! What a search is told, and whom it tells: limits, cancellation, progress.

use crate::model::Model;
use crate::outcome::{Statistics, StopAt, ViolationKind};
use crate::snapshot::{Rejected, SearchSnapshot, SnapshotRequest};
use fabius_base::{Cancel, Limits, StopReason};
use std::fmt::Debug;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// Steps of the model, those through transient states included, from one look at limits, observer
/// and cancellation to the next. Well below 50 ms even if a step takes some ten microseconds.
const STEPS_PER_LOOK: u32 = 1024;
/// Steps from one question whether to stop, and no more, to the next: in a long block, a step takes some ten milliseconds.
const STEPS_PER_GLANCE: u32 = 16;
/// Words of states, those that a step leads to, from one look to the next: 16 MiB. Where states are large, a few of them fill the memory
/// that is allowed, and a step takes long.
const WORDS_PER_LOOK: usize = 1 << 22;

/// Steps from one look at limits, observer and cancellation to the next, with states of this many words.
pub(crate) fn steps_per_look(words: usize) -> u32 {
    (WORDS_PER_LOOK / words.max(1)).clamp(1, STEPS_PER_LOOK as usize) as u32
}

/// About how many words the states of a model have: those of the initial one.
pub(crate) fn state_words<M: Model>(model: &mut M) -> usize {
    let mut initial = Vec::new();
    // Where there is no initial state, nothing is searched.
    let _ = model.initial(&mut initial);
    initial.len()
}

/// How a search is to be run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How much it may use. As under Spin, a state at depth [`Limits::depth_max`] is not looked at.
    pub limits: Limits,
    /// When a violation ends it.
    pub stop_at: StopAt,
    /// Whoever raises this stops it.
    pub cancel: Cancel,
}

/// Someone who watches a search.
pub trait Observer<Label: Debug, Fault: Debug> {
    /// Told now and then (every thousand steps or so, more often if states are large); may stop the search.
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        let _ = statistics;
        ControlFlow::Continue(())
    }

    /// Whether it wants to see what the search is at, and how much of it. Asked after each [`Self::progress`], so
    /// that a search that nobody watches pays nothing.
    fn snapshot_request(&mut self) -> Option<SnapshotRequest> {
        None
    }

    /// Is shown what it wanted to see.
    fn on_snapshot(&mut self, look: SearchSnapshot<Label>) {
        drop(look);
    }

    /// Is shown a cycle that is none of those that are looked for: the first after each [`Self::on_snapshot`].
    fn rejected(&mut self, rejected: Rejected<Label>) {
        drop(rejected);
    }

    /// May change the limits while the search runs. Asked after each [`Self::progress`].
    fn change_limits(&mut self, limits: &mut Limits) {
        let _ = limits;
    }

    /// At most how many steps a search by one thread may take until it tells again, where they take long. Asked after each
    /// [`Self::progress`].
    fn steps_per_look(&self) -> u32 {
        u32::MAX
    }

    /// Whether a search that is kept should write a checkpoint now. Asked after each [`Self::progress`].
    fn checkpoint_is_due(&mut self) -> bool {
        false
    }

    /// Names a violation: of those with the same key, one is kept and all are counted. `label` is the
    /// faulty transition, `None` for an end state and for the initial state; `state` is the end state,
    /// or the one in which the faulty transition starts.
    fn key(&mut self, kind: &ViolationKind<Fault>, label: Option<&Label>, state: &[u32]) -> u64 {
        let mut text = TextHash(0xCBF2_9CE4_8422_2325);
        let state = if label.is_some() { &[] } else { state };
        // Writing to a hash cannot fail.
        let _ = write!(text, "{kind:?} {label:?} {state:?}");
        text.0
    }
}

/// Tells an observer of several threads that search together.
pub(crate) fn tell_together<L: Debug, F: Debug>(
    observer: &mut impl Observer<L, F>,
    statistics: &Statistics,
    limits: &mut Limits,
    show: &mut dyn FnMut(SnapshotRequest) -> SearchSnapshot<L>,
) -> ControlFlow<StopReason> {
    observer.progress(statistics)?;
    if let Some(wanted) = observer.snapshot_request() {
        observer.on_snapshot(show(wanted));
    }
    observer.change_limits(limits);
    ControlFlow::Continue(())
}

/// An observer who does not care.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl<Label: Debug, Fault: Debug> Observer<Label, Fault> for Quiet {}

/// FNV-1a over text.
struct TextHash(u64);

impl std::fmt::Write for TextHash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
        Ok(())
    }
}

/// Counts steps down to the next look at the limits.
#[derive(Debug, Default)]
pub(crate) struct Countdown {
    /// Until the next question whether to stop.
    to_glance: u32,
    /// From then until the next look at everything.
    rest: u32,
}

impl Countdown {
    /// Takes this many steps; whether it is time to look at everything: the steps are over, or the search is to stop.
    #[inline]
    pub(crate) fn steps_are_due(&mut self, steps: u32, is_to_stop: impl FnOnce() -> bool) -> bool {
        match self.to_glance.checked_sub(steps) {
            Some(left) => {
                self.to_glance = left;
                false
            }
            None => self.glance(steps, is_to_stop),
        }
    }

    #[cold]
    fn glance(&mut self, steps: u32, is_to_stop: impl FnOnce() -> bool) -> bool {
        let Some(left) = (self.to_glance + self.rest).checked_sub(steps) else { return true };
        if is_to_stop() {
            return true;
        }
        self.restart(left);
        false
    }

    /// Begins to count this many steps down.
    pub(crate) fn restart(&mut self, steps: u32) {
        self.to_glance = steps.min(STEPS_PER_GLANCE - 1);
        self.rest = steps - self.to_glance;
    }
}

/// Counts steps down to the next look at the limits.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    settings: &'a Settings,
    /// Those of the settings, unless the observer changed them.
    limits: Limits,
    steps_per_look: u32,
    countdown: Countdown,
}

impl<'a> Budget<'a> {
    /// For a search of states of [about](state_words) this many words.
    pub(crate) fn new(settings: &'a Settings, words: usize) -> Self {
        Self {
            settings,
            limits: settings.limits,
            steps_per_look: steps_per_look(words),
            countdown: Countdown::default(),
        }
    }

    /// Those of the settings, unless the observer changed them.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes a step; whether it is time to [`Self::look`].
    #[inline]
    pub(crate) fn step_is_due(&mut self) -> bool {
        self.countdown.steps_are_due(1, || self.settings.cancel.requested().is_some())
    }

    /// Takes this many steps at once; whether it is time to [`Self::look`].
    pub(crate) fn steps_are_due(&mut self, steps: u64) -> bool {
        let steps = steps.try_into().unwrap_or(u32::MAX);
        self.countdown.steps_are_due(steps, || self.settings.cancel.requested().is_some())
    }

    /// Whether a search that has stored this many states may not store one more.
    #[inline]
    pub(crate) fn states_exhausted(&self, states: u64) -> bool {
        self.limits.states_max.is_some_and(|max| max <= states)
    }

    /// Whether a state at this depth is not to be looked at.
    #[inline]
    pub(crate) fn too_deep(&self, depth: u64) -> bool {
        self.limits.depth_max.is_some_and(|max| max <= depth)
    }

    /// Compares what was used with the limits, and asks observer and canceller.
    #[cold]
    pub(crate) fn look<L: Debug, F: Debug>(
        &mut self,
        statistics: &Statistics,
        store_is_full: bool,
        observer: &mut impl Observer<L, F>,
    ) -> ControlFlow<StopReason> {
        let memory_bytes_max = self.limits.memory_bytes_max.unwrap_or(u64::MAX);
        if let Some(reason) = self.settings.cancel.requested() {
            return ControlFlow::Break(reason);
        }
        if store_is_full {
            return ControlFlow::Break(StopReason::Full);
        }
        if memory_bytes_max < statistics.memory_bytes {
            return ControlFlow::Break(StopReason::Memory);
        }
        let told = observer.progress(statistics);
        observer.change_limits(&mut self.limits);
        self.countdown.restart(self.steps_per_look.min(observer.steps_per_look()));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ending, Next};
    use crate::outcome::Completeness;
    use crate::store::TreeStore;
    use crate::{breadth_first, depth_first};
    use std::convert::Infallible;

    /// States of a number and this many hidden words; each number leads to 63 others, all different.
    #[derive(Clone)]
    struct Counting(usize);

    impl Model for Counting {
        type Label = u32;
        type Fault = Infallible;
        type Cursor = u32;

        fn hidden_words(&self) -> usize {
            self.0
        }

        fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Infallible> {
            state.clear();
            state.resize(3 + self.0, 0);
            Ok(())
        }

        fn begin(&mut self, _: &[u32]) -> u32 {
            0
        }

        fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, Infallible> {
            *cursor += 1;
            if *cursor == 64 || 1 << 24 < state[0] {
                return Next::Done(Ending::Moves);
            }
            successor.clear();
            successor.extend_from_slice(state);
            successor[0] = state[0] * 64 + *cursor;
            Next::Successor { label: Some(*cursor), transient: false, fault: None, marks: crate::model::Marks::NONE }
        }
    }

    /// How often a search looks.
    struct Looks(u64);

    impl Observer<u32, Infallible> for Looks {
        fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn a_limit_on_memory_holds_however_large_states_are() {
        const LIMIT: u64 = 64 << 20;
        let settings = Settings {
            limits: Limits { memory_bytes_max: Some(LIMIT), ..Limits::default() },
            stop_at: StopAt::Never,
            ..Settings::default()
        };
        for hidden in [1 << 10, 1 << 16, 1 << 20] {
            let mut looks = Looks(0);
            let outcome = breadth_first(&mut Counting(hidden), &mut TreeStore::new(), &mut looks, &settings);
            assert_eq!(outcome.completeness, Completeness::Stopped(StopReason::Memory), "{hidden}");
            let bytes = outcome.statistics.memory_bytes;
            assert!(bytes < LIMIT + 32 * (WORDS_PER_LOOK as u64).max(hidden as u64), "{hidden}: {bytes}");
        }
    }

    #[test]
    fn a_search_looks_more_often_where_states_are_large_and_not_where_they_are_small() {
        let looks = |hidden| {
            let limits = Limits { states_max: Some(3_000), ..Limits::default() };
            let settings = Settings { limits, ..Settings::default() };
            let mut looks = Looks(0);
            let outcome = depth_first(&mut Counting(hidden), &mut TreeStore::new(), &mut looks, &settings);
            (looks.0, outcome.statistics.transitions())
        };
        for (hidden, every) in [(0, 1_024), (1_000, 1_024), (100_000, 41)] {
            let (looks, transitions) = looks(hidden);
            // Leaving a state is a step, too.
            let steps = transitions..=2 * transitions + every;
            assert!(steps.contains(&(looks * every)), "{hidden}: {looks} of {transitions}");
        }
    }

    /// Cancels a search after this many transitions.
    #[derive(Clone)]
    struct Cancelling(Counting, u64, fabius_base::Cancel);

    impl Model for Cancelling {
        type Label = u32;
        type Fault = Infallible;
        type Cursor = u32;

        fn hidden_words(&self) -> usize {
            0
        }

        fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Infallible> {
            self.0.initial(state)
        }

        fn begin(&mut self, state: &[u32]) -> u32 {
            self.0.begin(state)
        }

        fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, Infallible> {
            self.1 = self.1.saturating_sub(1);
            if self.1 == 0 {
                self.2.cancel();
            }
            self.0.next(state, cursor, successor)
        }
    }

    #[test]
    fn a_search_that_is_cancelled_takes_few_more_steps() {
        for after in [1, 2, 15, 16, 17, 1_000, 1_024, 1_030, 5_000] {
            let cancel = Cancel::new();
            let mut model = Cancelling(Counting(0), after, cancel.clone());
            let settings = Settings { cancel, ..Settings::default() };
            let searches = [
                breadth_first(&mut model.clone(), &mut TreeStore::new(), &mut Quiet, &settings),
                depth_first(&mut model, &mut TreeStore::new(), &mut Quiet, &settings),
            ];
            for outcome in searches {
                let listed = outcome.statistics.transitions();
                assert_eq!(outcome.completeness, Completeness::Stopped(StopReason::Cancelled));
                assert!(listed <= after + u64::from(STEPS_PER_GLANCE), "{after}: {listed}");
            }
        }
    }

    #[test]
    fn a_countdown_is_over_after_its_steps() {
        for (steps, at_once) in [(1_024, 1), (7, 1), (16, 1), (100, 3), (5, 40), (u32::MAX, 1 << 30)] {
            let (mut countdown, mut taken) = (Countdown::default(), 0_u64);
            countdown.restart(steps);
            loop {
                taken += u64::from(at_once);
                if countdown.steps_are_due(at_once, || false) {
                    break;
                }
            }
            let least = u64::from(steps) + 1;
            assert!((least..least + u64::from(at_once)).contains(&taken), "{steps} by {at_once}: {taken}");
        }
    }
}
