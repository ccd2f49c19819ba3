//! A first look at the properties that come later: a violation near the start is found before the first search has gone far.
//!
//! The look goes without reduction, since a model has to be prepared for that, and a step costs two to three times as much. Where a search for
//! infinite runs will be reduced, it is followed by a shorter look that is reduced: some violations lie behind a few of its steps.
//!
//! As many looks go on at the same time as there are threads that may work; what they find is confirmed when they are over.
//!
//! Only a violation counts, and what goes wrong in Fabius itself; whatever else it came to, the main search of the property begins anew
//! later.

use super::beside::{Beside, STACK_BYTES};
use super::waiting::{Role, Task, Turn};
use super::{Open, Portfolio, end_of};
use crate::task::Checked;
use fabius_base::reserve_thread;
use fabius_observe::{CheckContext, Event};
use fabius_strategy::{Choice, CycleSearch, Strategy};
use fabius_task::report::Verdict;
use fabius_task::settings::Pauses;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, scope};

/// A first look has this many times the least work at most: what takes longer is for the next pause.
const LONGEST: u64 = 4;
/// A reduced look has one part of the work of one that is not.
const REDUCED_SHARE: u64 = 4;
/// There is another thread for each of this many looks: one takes about ten times as long as a thread takes to begin.
const LOOKS_PER_THREAD: usize = 3;

/// A look that is due: the number of the property.
type Due<'a> = (usize, Task<'a>, Turn);

/// What a look came to: the number of the property, what was searched for and found, and whether the search ended before its turn did.
type Looked = (usize, Choice, Checked, bool);

/// What a thread tells that has looks beside others.
enum Told {
    Event(Box<Event>),
    Looked(Box<Looked>),
    Panicked(Box<dyn Any + Send>),
}

impl<'a> Portfolio<'_, 'a> {
    /// Has a first look at all properties but this one that are open and for which no search has begun, then a reduced one at those that are
    /// still open. Together the looks without reduction have about the work of the main search until its next pause, unless each would
    /// have too little.
    pub(super) fn first_looks(&mut self, index: usize, outer: &mut CheckContext<'_>) {
        let Pauses { first_look, .. } = self.settings.pauses;
        self.properties[index].looked_at.get_or_insert(0);
        let is_new = |property: &Open<'_>| property.is_open() && property.looked_at.is_none();
        let new: Vec<usize> = (0..self.properties.len()).filter(|&other| is_new(&self.properties[other])).collect();
        let share = self.settings.pauses.work(1) / new.len().max(1) as u64;
        let work = share.clamp(first_look, first_look.saturating_mul(LONGEST));
        let looks = [(false, work), (true, work / REDUCED_SHARE)];
        let may_reduce = |property: &Open<'_>| is_reduced_from_the_beginning(&property.choice);
        // What they find is confirmed afterwards: they need all threads, and not for long.
        self.beside.iter_mut().for_each(Beside::hold);
        for (reduction, work) in looks.into_iter().filter(|&(_, work)| 0 < work) {
            let due = |&&other: &&usize| {
                let property = &self.properties[other];
                property.is_open() && (!reduction || may_reduce(property))
            };
            let due: Vec<usize> = new.iter().filter(due).copied().collect();
            let due = due.into_iter().map(|other| self.due(other, (reduction, work), outer)).collect();
            self.have(due, outer);
        }
        self.beside.iter_mut().for_each(Beside::release);
    }

    /// A first look that is due.
    fn due(&self, index: usize, (reduction, work): (bool, u64), outer: &CheckContext<'_>) -> Due<'a> {
        let mut choice = self.properties[index].choice.clone();
        choice.settings.reduction &= reduction;
        let task = self.task(index, choice, Role::Main, outer);
        let turn = self.turn_until(self.share((outer.now)()), work, self.properties[index].states_of_turns());
        (index, task, turn)
    }

    /// Has some looks, each with one of the threads that may work.
    fn have(&mut self, mut due: Vec<Due<'a>>, outer: &mut CheckContext<'_>) {
        let others = (due.len() / LOOKS_PER_THREAD).min(self.settings.threads.most() - 1);
        // They share the memory.
        let part = |max: u64| max / (others as u64 + 1);
        due.iter_mut().for_each(|(_, _, turn)| turn.memory_bytes_max = turn.memory_bytes_max.map(part));
        let (due, next) = (&due, AtomicUsize::new(0));
        let (tell, told) = channel();
        let (take, cancel) = (|| due.get(next.fetch_add(1, Ordering::Relaxed)), outer.cancel);
        scope(|scope| {
            for _ in 0..others {
                let tell = tell.clone();
                reserve_thread();
                // Without another thread, this one has all of them.
                let looks = move || {
                    while let Some(due) = take().filter(|_| cancel.requested().is_none()) {
                        look_and_tell(due, &tell);
                    }
                };
                let _ = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, looks);
            }
            drop(tell);
            while let Some((index, task, turn)) = take().filter(|_| cancel.requested().is_none()) {
                let (choice, checked, is_over) = self.at_once(task.clone(), *turn, outer);
                self.looked((*index, choice, checked, is_over), outer);
                self.hear_looks(&told, false, outer);
            }
            self.hear_looks(&told, true, outer);
        });
    }

    /// Hears what other threads tell of their looks; until they are done, or what was told by now.
    fn hear_looks(&mut self, told: &Receiver<Told>, until_done: bool, outer: &mut CheckContext<'_>) {
        let next = || if until_done { told.recv().ok() } else { told.try_recv().ok() };
        while let Some(told) = next() {
            match told {
                Told::Event(event) => (outer.observe)(*event),
                Told::Looked(looked) => self.looked(*looked, outer),
                Told::Panicked(panic) => resume_unwind(panic),
            }
        }
    }

    /// Takes note of a look.
    fn looked(&mut self, (index, choice, mut checked, is_over): Looked, outer: &mut CheckContext<'_>) {
        self.executed.extend(std::mem::take(&mut checked.executed));
        *self.properties[index].looked_at.get_or_insert(0) += checked.report.states;
        if checked.report.verdict == Verdict::Violated || checked.failure.is_some() {
            self.properties[index].note_main(&choice, &checked, end_of(&checked, !is_over));
            self.finish(index, checked, outer);
        }
    }
}

/// Has a look in a thread that is not the one of the check, and tells what it came to.
fn look_and_tell((index, task, turn): &Due<'_>, tell: &Sender<Told>) {
    // How far it is would be taken for how far another one is.
    let is_progress = |event: &Event| matches!(event, Event::Searching { .. } | Event::Progress { .. });
    let mut observe = |event| is_progress(&event) || tell.send(Told::Event(Box::new(event))).is_ok();
    let look = AssertUnwindSafe(|| {
        let (checked, is_over) = task.at_once(*turn, &mut observe);
        (*index, task.choice.clone(), checked, is_over)
    });
    let looked = catch_unwind(look).map_or_else(Told::Panicked, |looked| Told::Looked(Box::new(looked)));
    // Where nobody listens, the check is over.
    let _ = tell.send(looked);
}

/// Whether a search is reduced from its first state on, if the model can be reduced.
fn is_reduced_from_the_beginning(choice: &Choice) -> bool {
    let may_reduce = choice.settings.reduction && choice.settings.optimize;
    may_reduce && matches!(choice.strategy, Strategy::Cycles { search, .. } if search != CycleSearch::Components)
}
