//! Reading the texts of documents: short ones where they are asked for, long ones beside everything else.

use super::jobs::RunId;
use super::reading::Reading;
use super::unread::UnreadText;
use super::{Notice, Session};
use fabius_base::StopReason;
use std::sync::Arc;
use std::time::Duration;

/// A text is read for so long; after that, it is said that it was not.
const READ_MAX: Duration = Duration::from_secs(60);

impl Session {
    /// What was read of a document: the text as it is now. `None` while a long text is being read; [`Notice::Changed`] tells
    /// when it is.
    pub fn reading(&mut self, name: &str) -> Option<Arc<Reading>> {
        let document = self.documents.get(name)?;
        if document.reading.is_some() || document.being_read.is_some() {
            return document.reading.clone();
        }
        let text = self.unread(name, document.text.to_string());
        let at_once = if document.is_long { None } else { text.read_within(self.read_at_once) };
        match at_once {
            Some(reading) => self.was_read(name, reading),
            None => {
                let run = self.checker.read(text, READ_MAX);
                let document = self.documents.get_mut(name)?;
                (document.is_long, document.being_read) = (true, Some(run));
                None
            }
        }
    }

    /// Whether the present text of a document, or of the model that it belongs to, is still being read.
    pub fn is_being_read(&self, name: &str) -> bool {
        let being_read = |name: &str| self.documents.get(name).is_some_and(|document| document.being_read.is_some());
        being_read(name) || being_read(&self.model_of(name))
    }

    /// The present text of a document was read.
    fn was_read(&mut self, name: &str, reading: Reading) -> Option<Arc<Reading>> {
        let document = self.documents.get_mut(name)?;
        let reading = Arc::new(reading);
        (document.reading, document.being_read) = (Some(Arc::clone(&reading)), None);
        let edits = std::mem::take(&mut document.unread);
        document.follow(&reading, &edits);
        self.fresh.insert(name.to_owned());
        Some(reading)
    }

    /// A text of a document was read on a thread of its own. If it is not the present one any more, that was in vain.
    pub(super) fn was_read_beside(&mut self, name: &str, run: RunId, reading: Result<Reading, String>) -> Vec<Notice> {
        let Some(document) = self.documents.get(name).filter(|document| document.being_read == Some(run)) else {
            return Vec::new();
        };
        let (reading, failed) = match reading {
            Ok(reading) => (reading, None),
            Err(panic) => {
                let text = self.unread(name, document.text.to_string());
                (text.not_read(StopReason::Cancelled), Some(Notice::Failed(name.to_owned(), panic)))
            }
        };
        let _ = self.was_read(name, reading);
        if let Some(tier) = self.documents.get_mut(name).and_then(|document| document.check_when_read.take()) {
            if let Some(reading) = self.reading(name)
                && let Some(document) = self.documents.get_mut(name)
            {
                document.results.save(&reading);
            }
            self.check(name, tier);
        }
        failed.into_iter().collect()
    }

    /// A text of a document, with what it takes to read it.
    pub(super) fn unread(&self, name: &str, text: String) -> UnreadText {
        let defines = self.documents.get(name).map_or_else(Vec::new, |document| document.options.defines.clone());
        let open = self.documents.iter().map(|(name, document)| (name.clone(), document.text.clone())).collect();
        UnreadText { name: name.to_owned(), text, defines, fixed: Vec::new(), open }
    }

    /// What was read of a document or of a model that includes it, or would if it were there, must be read again.
    pub(super) fn forget_readings_with(&mut self, name: &str) {
        for document in self.documents.values_mut() {
            if document.reading.as_ref().is_some_and(|reading| reading.depends_on(name)) {
                document.forget_reading();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::Edit;
    use super::super::events::CheckEvent;
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    const NAME: &str = "/nowhere/model.pml";

    /// A session that reads every text beside everything else, and what its threads tell.
    fn session() -> (Session, Receiver<CheckEvent>) {
        let (sender, events) = channel();
        let mut session = Session::new(Arc::new(|options| options), Arc::new(move |event| drop(sender.send(event))));
        session.read_at_once = Duration::ZERO;
        (session, events)
    }

    /// Lets the threads tell all that they know.
    fn until_idle(session: &mut Session, events: &Receiver<CheckEvent>) -> Vec<Notice> {
        let mut notices = Vec::new();
        while !session.is_idle() {
            notices.extend(session.handle(events.recv().unwrap()));
            notices.extend(session.settle());
        }
        notices
    }

    fn type_at_the_end(session: &mut Session, version: i32, text: &str) {
        session.change(NAME, version, |rope| {
            let at = rope.len_bytes();
            rope.insert(rope.len_chars(), text);
            vec![Edit { start: at, removed: 0, inserted: text.len() }]
        });
    }

    #[test]
    fn a_long_text_is_read_beside_everything_else_and_then_checked() {
        let (mut session, events) = session();
        session.open(NAME, 1, "active proctype P() { assert(false) }\n");
        assert!(session.reading(NAME).is_none() && session.is_being_read(NAME));
        session.save(NAME);
        let notices = until_idle(&mut session, &events);
        assert!(notices.iter().any(|notice| matches!(notice, Notice::Changed(name) if name == NAME)));
        let document = session.document(NAME).unwrap();
        assert!(document.present().is_some() && !session.is_being_read(NAME));
        let safety = document.results.of("safety").map(|known| known.report.verdict);
        assert_eq!(safety, Some(fabius_engine::Verdict::Violated));
    }

    #[test]
    fn what_was_read_of_an_older_text_does_not_count() {
        let (mut session, events) = session();
        session.open(NAME, 1, "byte x;\n");
        assert!(session.reading(NAME).is_none());
        type_at_the_end(&mut session, 2, "active proctype P() { x = 1 }\n");
        assert!(!session.is_being_read(NAME) && session.reading(NAME).is_none());
        until_idle(&mut session, &events);
        let present = session.document(NAME).unwrap().present().unwrap();
        assert!(present.loaded.checkable().is_some_and(|program| program.processes.len() == 1));
        type_at_the_end(&mut session, 3, "active proctype Q() { x = 2 }\n");
        session.settle();
        assert!(session.document(NAME).unwrap().present().is_none());
        until_idle(&mut session, &events);
        let present = session.reading(NAME).unwrap();
        assert!(present.loaded.checkable().is_some_and(|program| program.processes.len() == 2));
    }
}
