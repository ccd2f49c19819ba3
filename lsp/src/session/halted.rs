//! Long searches whose text was edited: they halt where they are, and go on from there when the edit is taken back.
//!
//! They keep what they stored, so there are few of them and they are given up for good when a check of another text of the
//! document comes to its end, when somebody stops the checks of the document, and when it is closed.

use super::jobs::Tier;
use super::reading::Reading;
use super::{Running, Session};
use std::sync::Arc;

/// This many searches are halted at most; together they hold at most the memory of one search.
const HALTED_MAX: usize = 4;

/// A search that is halted.
#[derive(Debug)]
pub(super) struct Halted {
    /// The document whose text was edited.
    pub(super) document: String,
    /// The check, as it was.
    pub(super) running: Running,
}

impl Halted {
    fn memory_bytes(&self) -> u64 {
        self.running.progress.map_or(0, |progress| progress.memory_bytes)
    }
}

/// Whether two texts have the same properties with the same meanings.
fn same_meaning(one: &Reading, other: &Reading) -> bool {
    let names = one.properties();
    names == other.properties() && names.iter().all(|name| one.digest_of(name) == other.digest_of(name))
}

impl Session {
    /// Halts the check of a document if it is one of another model by now, and lets the one go on that was halted when the
    /// text meant what it means now.
    pub(super) fn overtake(&mut self, name: &str) {
        let Some(document) = self.documents.get_mut(name) else { return };
        let Some(reading) = document.reading.clone() else { return };
        if document.run.as_ref().is_some_and(|running| !same_meaning(&running.reading, &reading)) {
            document.check_when_read = None;
            if let Some(running) = document.run.take() {
                self.halt(name, running);
            }
        }
        self.resume(name, &reading);
    }

    /// Halts a check, if it is worth that.
    fn halt(&mut self, name: &str, mut running: Running) {
        running.drop_interrupted(&mut self.checker);
        let run = running.run;
        if running.tier == Tier::Quick || !self.checker.halt(run) {
            return self.checker.cancel(run);
        }
        self.halted.push(Halted { document: name.to_owned(), running });
        let held_max = self.documents.get(name).map_or(0, |document| document.options.budget.memory_bytes);
        let held = |halted: &[Halted]| halted.iter().map(Halted::memory_bytes).sum::<u64>();
        while HALTED_MAX < self.halted.len() || held_max < held(&self.halted) {
            self.checker.cancel(self.halted.remove(0).running.run);
        }
    }

    /// Lets a check of the present text go on that was halted, unless another one goes on.
    fn resume(&mut self, name: &str, reading: &Arc<Reading>) {
        let Some(document) = self.documents.get_mut(name).filter(|document| document.run.is_none()) else { return };
        let wanted = |halted: &Halted| halted.document == name && same_meaning(&halted.running.reading, reading);
        let Some(at) = self.halted.iter().rposition(wanted) else { return };
        let Halted { running, .. } = self.halted.remove(at);
        if self.checker.resume(running.run) {
            document.run = Some(running);
        }
    }

    /// Ends searches that were halted.
    pub(super) fn give_up(&mut self, which: impl Fn(&Halted) -> bool) {
        let (ended, kept) = std::mem::take(&mut self.halted).into_iter().partition(which);
        self.halted = kept;
        let ended: Vec<Halted> = ended;
        ended.iter().for_each(|halted| self.checker.cancel(halted.running.run));
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::Edit;
    use super::super::events::{CheckEvent, CheckEventKind};
    use super::*;
    use fabius_engine::Event;
    use std::sync::mpsc::{Receiver, channel};

    const NAME: &str = "/nowhere/model.pml";
    /// Four counters that everyone looks at: more states than any test waits for.
    const LARGE: &str = "int a, b, c, d;
        #define COUNT(x) do :: x < 30000 -> x++ :: x > 0 -> x-- :: a + b + c + d > 120000 -> assert(false) od
        active proctype A() { COUNT(a) }\nactive proctype B() { COUNT(b) }
        active proctype C() { COUNT(c) }\nactive proctype D() { COUNT(d) }\n";

    fn session() -> (Session, Receiver<CheckEvent>) {
        let (sender, events) = channel();
        let mut session = Session::new(Arc::new(|options| options), Arc::new(move |event| drop(sender.send(event))));
        session.open(NAME, 1, LARGE);
        session.save(NAME);
        (session, events)
    }

    fn write(session: &mut Session, text: &str) {
        session.change(NAME, 2, |rope| {
            let edits = Edit::between(&rope.to_string(), text);
            *rope = ropey::Rope::from_str(text);
            edits
        });
        session.settle();
    }

    /// The states of a search that is no short look when it has stored more than this.
    fn states_above(session: &mut Session, events: &Receiver<CheckEvent>, least: u64) -> u64 {
        loop {
            let event = events.recv().unwrap();
            let run = event.run;
            let seen = match &event.what {
                CheckEventKind::Event(event) => match &**event {
                    Event::Progress { progress, .. } => progress.states,
                    _ => 0,
                },
                _ => 0,
            };
            session.handle(event);
            let running = session.document(NAME).unwrap().run.as_ref();
            let long = running.is_some_and(|running| running.run == run && running.tier != Tier::Quick);
            if long && least < seen {
                return seen;
            }
        }
    }

    fn run_of(session: &Session) -> Option<u64> {
        session.document(NAME).unwrap().run.as_ref().map(|running| running.run.0)
    }

    #[test]
    fn an_edit_that_is_taken_back_lets_the_search_go_on() {
        let (mut session, events) = session();
        // Between two tiers there is nothing to halt, so the search is one that goes on for long.
        while session.document(NAME).unwrap().run.as_ref().is_none_or(|running| running.tier != Tier::Deep) {
            let event = events.recv().unwrap();
            session.handle(event);
        }
        let seen = states_above(&mut session, &events, 20_000);
        let run = run_of(&session);
        write(&mut session, &LARGE.replace("30000", "30001"));
        assert!(run_of(&session).is_none() && session.is_idle());
        // With another blank than before.
        write(&mut session, &format!("{LARGE} "));
        assert_eq!(run_of(&session), run);
        assert!(session.halted.is_empty() && !session.is_idle());
        assert!(seen < states_above(&mut session, &events, seen));
    }

    #[test]
    fn the_search_of_another_text_does_not_end_the_one_that_is_halted() {
        let (mut session, events) = session();
        states_above(&mut session, &events, 0);
        let first = run_of(&session);
        write(&mut session, &LARGE.replace("30000", "30001"));
        session.save(NAME);
        states_above(&mut session, &events, 0);
        let second = run_of(&session);
        assert!(second.is_some() && second != first);
        write(&mut session, LARGE);
        assert_eq!((run_of(&session), session.halted.len()), (first, 1));
        write(&mut session, &LARGE.replace("30000", "30001"));
        assert_eq!(run_of(&session), second);
        session.close(NAME);
        assert!(session.halted.is_empty());
    }

    #[test]
    fn searches_that_hold_too_much_are_given_up() {
        let (mut session, events) = session();
        for bound in 0..=HALTED_MAX {
            states_above(&mut session, &events, 0);
            write(&mut session, &LARGE.replace("30000", &format!("3000{bound}")));
            session.save(NAME);
        }
        let halted: Vec<u64> = session.halted.iter().map(|halted| halted.running.run.0).collect();
        assert!(halted.len() <= HALTED_MAX && halted.is_sorted(), "{halted:?}");
        states_above(&mut session, &events, 0);
        session.documents.get_mut(NAME).unwrap().options.budget.memory_bytes = 1;
        write(&mut session, LARGE);
        assert!(session.halted.iter().all(|halted| halted.memory_bytes() == 0), "{:?}", session.halted.len());
    }

    #[test]
    fn a_check_that_comes_to_its_end_gives_up_what_is_halted() {
        let (mut session, events) = session();
        states_above(&mut session, &events, 0);
        write(&mut session, "active proctype P() { skip }\n");
        assert_eq!(session.halted.len(), 1);
        session.save(NAME);
        while run_of(&session).is_some() {
            let event = events.recv().unwrap();
            session.handle(event);
        }
        assert!(session.halted.is_empty());
    }
}
