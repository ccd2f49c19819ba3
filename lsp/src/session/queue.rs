//! The order in which the properties of a document are checked, and how somebody changes it.

use super::checker::Checker;
use super::jobs::{RunId, Tier};
use super::{Notice, Running, Session};
use fabius_engine::Progress;
use std::collections::BTreeMap;

/// A property that waits for its turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// How deep it is to be looked at.
    pub tier: Tier,
    /// The property.
    pub property: String,
    /// The search that was interrupted for another property, if it is halted, and how far it was.
    pub(super) halted: Option<(RunId, Option<Progress>)>,
}

impl Turn {
    /// A property that nobody began to search at this tier.
    pub(super) fn new(tier: Tier, property: String) -> Self {
        Self { tier, property, halted: None }
    }

    /// How far its search is from which it goes on, if it was interrupted.
    pub fn progress(&self) -> Option<Progress> {
        self.halted.and_then(|(_, progress)| progress)
    }
}

impl Running {
    /// The searches of this check that were interrupted end for good; their properties keep their turns.
    pub(super) fn drop_interrupted(&mut self, checker: &mut Checker) {
        for (run, _) in self.next.iter_mut().filter_map(|turn| turn.halted.take()) {
            checker.cancel(run);
        }
    }
}

impl Session {
    /// How many checks of other documents begin before that of this one, if it waits for a thread.
    pub fn checks_ahead(&self, name: &str) -> Option<usize> {
        self.checker.ahead(self.documents.get(name)?.run.as_ref()?.run)
    }

    /// Checks a property before those that wait, and the document before others that do. A search for another property of the
    /// document is interrupted, and goes on after this one.
    pub fn prioritize(&mut self, name: &str, property: Option<&str>) {
        let Some(running) = self.documents.get_mut(name).and_then(|document| document.run.as_mut()) else { return };
        let waits = |turn: &Turn| property == Some(turn.property.as_str());
        if let Some(turn) = running.next.iter().position(waits).and_then(|at| running.next.remove(at)) {
            running.next.push_front(turn);
            // A short look is over in a moment.
            if running.tier != Tier::Quick {
                self.interrupt(name);
            }
        }
        let Some(running) = self.documents.get(name).and_then(|document| document.run.as_ref()) else { return };
        self.checker.hurry(running.run);
    }

    /// Begins with the property whose turn is next; the present one comes right after it. Only one search of a document is kept
    /// halted for that, since it keeps what it stored.
    fn interrupt(&mut self, name: &str) {
        let Some(mut running) = self.documents.get_mut(name).and_then(|document| document.run.take()) else { return };
        running.drop_interrupted(&mut self.checker);
        let is_halted = self.checker.halt(running.run);
        if !is_halted {
            self.checker.cancel(running.run);
        }
        let halted = is_halted.then_some((running.run, running.progress));
        let turn = Turn { tier: running.tier, property: running.property.clone(), halted };
        running.next.insert(1.min(running.next.len()), turn);
        self.go_on(name, running);
    }

    /// Takes a property out of the check of a document; the others are still checked.
    pub fn stop_property(&mut self, name: &str, property: &str) -> Vec<Notice> {
        let Some(document) = self.documents.get_mut(name) else { return Vec::new() };
        let Some(running) = document.run.as_mut() else { return Vec::new() };
        let waits = running.next.iter().position(|turn| turn.property == property);
        if let Some(turn) = waits.and_then(|at| running.next.remove(at)) {
            turn.halted.into_iter().for_each(|(run, _)| self.checker.cancel(run));
            return vec![Notice::Changed(name.to_owned())];
        }
        let Some(running) = document.run.take_if(|running| running.property == property) else { return Vec::new() };
        self.checker.cancel(running.run);
        let mut notices = vec![Notice::Changed(name.to_owned())];
        if !self.go_on(name, running) {
            self.give_up(|halted| halted.document == name);
            notices.push(Notice::Settled(name.to_owned()));
        }
        notices
    }

    /// The documents whose check waits for a thread, or does not any more, otherwise than when this was asked last.
    pub(super) fn moved_in_queue(&mut self) -> Vec<Notice> {
        let waiting = |name: &String| Some((name.clone(), self.checks_ahead(name)?));
        let now: BTreeMap<String, usize> = self.documents.keys().filter_map(waiting).collect();
        let before = std::mem::replace(&mut self.waiting, now);
        let moved = |name: &&String| before.get(*name) != self.waiting.get(*name);
        self.documents.keys().filter(moved).cloned().map(Notice::Progress).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::CheckEvent;
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    const NAME: &str = "/nowhere/model.pml";
    /// Counters that never stop: more states than any test waits for.
    const LARGE: &str = "int a, b, c, d;
        #define COUNT(x) do :: x < 30000 -> x++ :: x > 0 -> x-- :: a + b + c + d > 120000 -> assert(false) od
        active proctype A() { COUNT(a) }\nactive proctype B() { COUNT(b) }
        active proctype C() { COUNT(c) }\nactive proctype D() { COUNT(d) }
        ltl p { [] (a < 30001) }\nltl q { [] (b < 30001) }\n";

    fn session() -> (Session, Receiver<CheckEvent>) {
        let (sender, events) = channel();
        let overlay = |options: super::super::Options| {
            let mut options = options;
            options.budget.quick = Duration::from_millis(5);
            options
        };
        let mut session = Session::new(Arc::new(overlay), Arc::new(move |event| drop(sender.send(event))));
        session.open(NAME, 1, LARGE);
        session.save(NAME);
        (session, events)
    }

    fn running(session: &Session) -> Option<&Running> {
        session.document(NAME).unwrap().run.as_ref()
    }

    /// Takes in what checks tell until something is so.
    fn until(session: &mut Session, events: &Receiver<CheckEvent>, holds: impl Fn(&Running) -> bool) {
        while !running(session).is_some_and(&holds) {
            let event = events.recv_timeout(Duration::from_secs(120)).unwrap();
            session.handle(event);
        }
    }

    /// No thread works any more, and none is halted.
    fn end(session: &mut Session, events: &Receiver<CheckEvent>) {
        while !session.checker.is_over() {
            let event = events.recv_timeout(Duration::from_secs(120)).unwrap();
            session.handle(event);
        }
    }

    fn queue(session: &Session) -> Vec<&str> {
        running(session).map_or_else(Vec::new, |running| {
            let next = running.next.iter().map(|turn| turn.property.as_str());
            std::iter::once(running.property.as_str()).chain(next).collect()
        })
    }

    #[test]
    fn a_property_that_goes_first_interrupts_another_which_goes_on_after_it() {
        let (mut session, events) = session();
        assert_eq!(queue(&session), ["safety", "p", "q"]);
        // A short look is not interrupted.
        session.prioritize(NAME, Some("q"));
        assert_eq!(queue(&session), ["safety", "q", "p"]);
        until(&mut session, &events, |running| {
            running.tier == Tier::Deep && running.progress.is_some_and(|progress| progress.states > 2_000)
        });
        let (first, run, seen) = {
            let running = running(&session).unwrap();
            (running.property.clone(), running.run, running.progress.unwrap().states)
        };
        let last = running(&session).unwrap().next.back().unwrap().property.clone();
        session.prioritize(NAME, Some(&last));
        assert_eq!(queue(&session)[..2], [last.as_str(), first.as_str()]);
        let halted = running(&session).unwrap().next[0].progress().unwrap();
        assert_eq!(halted.states, seen);
        // One that is not there changes nothing.
        session.prioritize(NAME, Some("nowhere"));
        assert_eq!(queue(&session)[..2], [last.as_str(), first.as_str()]);
        assert!(!session.stop_property(NAME, &last).is_empty());
        assert_eq!(queue(&session)[0], first);
        assert_eq!(running(&session).unwrap().run, run, "the search began again");
        until(&mut session, &events, |running| running.run == run && running.progress.unwrap().states > seen);
    }

    #[test]
    fn a_property_that_was_stopped_is_not_checked_and_the_others_are() {
        let (mut session, events) = session();
        until(&mut session, &events, |running| running.tier == Tier::Deep);
        let before: Vec<String> = queue(&session).into_iter().map(str::to_owned).collect();
        assert_eq!(before.len(), 3);
        assert!(session.stop_property(NAME, "nowhere").is_empty());
        assert!(matches!(session.stop_property(NAME, &before[1])[..], [Notice::Changed(_)]));
        assert_eq!(queue(&session), [before[0].as_str(), before[2].as_str()]);
        session.stop_property(NAME, &before[0]);
        assert_eq!(queue(&session), [before[2].as_str()]);
        assert!(matches!(session.stop_property(NAME, &before[2])[..], [_, Notice::Settled(_)]));
        assert!(running(&session).is_none());
        end(&mut session, &events);
    }

    #[test]
    fn one_search_at_most_is_halted_and_stop_ends_it() {
        let (mut session, events) = session();
        let long = |running: &Running| running.tier == Tier::Deep && running.progress.is_some();
        until(&mut session, &events, long);
        for _ in 0..3 {
            let last = running(&session).unwrap().next.back().unwrap().property.clone();
            session.prioritize(NAME, Some(&last));
            assert_eq!(queue(&session)[0], last);
            let halted = running(&session).unwrap().next.iter().filter(|turn| turn.halted.is_some());
            assert_eq!(halted.count(), 1);
            until(&mut session, &events, |running| running.progress.is_some());
        }
        session.stop(NAME);
        end(&mut session, &events);
    }
}
