//! A thread that confirms what was found, and looks for shorter runs and for a schedule, while searches for other properties go on. Once
//! these are over, more threads do the same.
//!
//! What they find out does not depend on what goes on beside them, so it is the same with one thread unless memory or time runs out.

use super::schedule;
use crate::task::Checked;
use fabius_base::{Cancel, Limits, reserve_thread};
use fabius_observe::{CheckContext, Controls, Event};
use fabius_program::Program;
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::settings::Settings;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;

/// A thread may use one part of the memory that is allowed, …
const MEMORY_SHARE: u64 = 16;
/// … and this much at least: with less memory, everything happens one after the other.
const MEMORY_BYTES_MIN: u64 = 32 << 20;
/// There are no more threads than this: together they may use half of the memory.
const THREADS_MAX: usize = MEMORY_SHARE as usize / 2;

/// Its stack: a model may nest deeply.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// The threads, the first of which begins when there is something to confirm.
pub(super) struct Beside<'s, 'a> {
    scope: &'s Scope<'s, 'a>,
    task: Task<'a>,
    threads: Option<Threads<'a>>,
    /// The numbers of the properties for which something is being confirmed, in their order.
    waiting: VecDeque<usize>,
    /// What is to be confirmed later, if all is.
    held: Option<Vec<Handed<'a>>>,
}

/// Threads that have begun.
struct Threads<'a> {
    count: usize,
    /// Where to send what is to be confirmed, …
    hand: Sender<Handed<'a>>,
    /// … where they wait for it, …
    handed: Arc<Mutex<Receiver<Handed<'a>>>>,
    /// … what they tell by, as long as others may begin, …
    tell: Option<Sender<Told>>,
    /// … and where to hear of it.
    told: Receiver<Told>,
}

/// What all that is to be confirmed has in common.
#[derive(Clone)]
struct Task<'a> {
    loaded: &'a Loaded,
    program: &'a Arc<Program>,
    settings: Settings,
    from_outside: FromOutside<'a>,
}

/// Who stops the check, the time since some moment before it, and who watches it.
pub(super) type FromOutside<'a> = (Cancel, &'a (dyn Fn() -> Duration + Sync), Option<&'a Controls>);

/// Something to confirm: the number of the property, the property, and what its search left behind.
type Handed<'a> = (usize, &'a Planned, Box<Checked>);

/// What a thread tells.
pub(super) enum Told {
    Event(Box<Event>),
    /// What was found for the property with this number is confirmed.
    Confirmed(usize, Box<Checked>),
    Panicked(Box<dyn Any + Send>),
}

impl<'s, 'a> Beside<'s, 'a> {
    /// The threads for a check; none if there is too little memory for it.
    pub(super) fn new(
        scope: &'s Scope<'s, 'a>,
        from_outside: FromOutside<'a>,
        (loaded, program, settings): (&'a Loaded, &'a Arc<Program>, &'a Settings),
    ) -> Option<Self> {
        let memory_bytes_max = settings.limits.memory_bytes_max.map(|max| max / MEMORY_SHARE);
        if memory_bytes_max.is_some_and(|max| max < MEMORY_BYTES_MIN) {
            return None;
        }
        let limits = Limits { memory_bytes_max, ..settings.limits };
        let settings = Settings { limits, ..settings.clone() };
        let task = Task { loaded, program, settings, from_outside };
        Some(Self { scope, task, threads: None, waiting: VecDeque::new(), held: None })
    }

    /// The memory that a thread may use.
    pub(super) fn memory_bytes_max(&self) -> Option<u64> {
        self.task.settings.limits.memory_bytes_max
    }

    /// Begins to confirm what the search for what violates a property found.
    ///
    /// # Errors
    /// What is to be confirmed here, if the system gives no thread.
    pub(super) fn confirm(&mut self, index: usize, planned: &'a Planned, checked: Checked) -> Result<(), Box<Checked>> {
        let mut checked = Box::new(checked);
        if self.threads.is_none() {
            self.threads = Threads::begin(self.scope, &self.task);
        }
        let Some(threads) = &self.threads else { return Err(checked) };
        if let Some(unconfirmed) = &mut checked.unconfirmed {
            unconfirmed.set_bounds(self.task.settings.until, self.memory_bytes_max());
        }
        let handed = (index, planned, checked);
        match &mut self.held {
            Some(held) => held.push(handed),
            None => threads.hand.send(handed).map_err(|back| back.0.2)?,
        }
        self.waiting.push_back(index);
        Ok(())
    }

    /// From now on, what is to be confirmed is so later.
    pub(super) fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Confirms what waited for that.
    pub(super) fn release(&mut self) {
        let held = self.held.take().into_iter().flatten();
        let Some(threads) = &self.threads else { return };
        // The threads listen as long as there are any, and tell if one fails.
        held.for_each(|handed| drop(threads.hand.send(handed)));
    }

    /// Takes note that no search goes on any more: as many threads as may work confirm what waits, if the system gives them.
    pub(super) fn no_search_goes_on(&mut self) {
        let most = self.task.settings.threads.most().min(self.waiting.len()).min(THREADS_MAX);
        let Some(threads) = &mut self.threads else { return };
        while threads.count < most && threads.begin_another(self.scope, &self.task).is_some() {}
        // What they tell ends with them.
        threads.tell = None;
    }

    /// The number of the property that waits longest for its confirmation.
    pub(super) fn first_waiting(&self) -> Option<usize> {
        self.waiting.front().copied()
    }

    /// What the threads tell, if anything.
    pub(super) fn hear(&mut self) -> Option<Told> {
        let told = self.threads.as_ref()?.told.try_recv().ok()?;
        Some(self.noted(told))
    }

    /// What they tell next; something must be waiting.
    pub(super) fn wait(&mut self) -> Told {
        let told = self.threads.as_ref().and_then(|threads| threads.told.recv().ok());
        self.noted(told.unwrap_or_else(|| Told::Panicked(Box::new("a thread ended before all was confirmed"))))
    }

    fn noted(&mut self, told: Told) -> Told {
        if let Told::Confirmed(index, _) = told {
            self.waiting.retain(|&waiting| waiting != index);
        }
        told
    }
}

impl<'a> Threads<'a> {
    /// Begins the first one; `None` if the system gives none.
    fn begin<'s>(scope: &'s Scope<'s, 'a>, task: &Task<'a>) -> Option<Self> {
        let ((hand, handed), (tell, told)) = (channel(), channel());
        let mut threads = Self { count: 0, hand, handed: Arc::new(Mutex::new(handed)), tell: Some(tell), told };
        threads.begin_another(scope, task)?;
        Some(threads)
    }

    /// Begins one more; `None` if the system gives none.
    fn begin_another<'s>(&mut self, scope: &'s Scope<'s, 'a>, task: &Task<'a>) -> Option<()> {
        let (handed, tell, task) = (Arc::clone(&self.handed), self.tell.clone()?, task.clone());
        let next = move || handed.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let work = move || {
            while let Some((index, planned, checked)) = next() {
                let confirmed = catch_unwind(AssertUnwindSafe(|| task.confirm(planned, checked, &tell)));
                let last = confirmed.map_or_else(Told::Panicked, |checked| Told::Confirmed(index, checked));
                if tell.send(last).is_err() {
                    break;
                }
            }
        };
        reserve_thread();
        Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok()?;
        self.count += 1;
        Some(())
    }
}

impl Task<'_> {
    fn confirm(&self, planned: &Planned, mut checked: Box<Checked>, tell: &Sender<Told>) -> Box<Checked> {
        let (cancel, now, controls) = &self.from_outside;
        let mut observe = |event| {
            // Where nobody listens, the check is over.
            let _ = tell.send(Told::Event(Box::new(event)));
            controls.iter().for_each(|controls| controls.wait_while_paused(cancel));
        };
        // Whoever wants to see what a search is at means one that goes on.
        let mut context = CheckContext { cancel, now: *now, observe: &mut observe, controls: None };
        checked.confirm_found(self.loaded, self.program, planned, &mut context);
        schedule(&mut checked, self.loaded, (planned, &self.settings), &mut context);
        checked
    }
}
