//! The main loop: one message after the other, in the order of arrival.
//!
//! It owns the session, so nothing is locked and nothing is shared. What takes long, checks, runs on
//! other threads and tells what it finds through the same queue. When the queue is empty, texts that
//! were edited are read and what is new is shown; a burst of edits is read once.

use super::client::{Client, Expected, json, read};
use super::features;
use super::memory;
use super::names::name_of;
use super::questions::{self, SearchRequest, Started};
use super::service::{Incoming, Pending, error};
use super::settings::Settings;
use super::state::State;
use super::workspace::{self, HeldPulls};
use crate::session::Notice;
use crate::session::events::{CheckEventKind, EventSink, said};
use crate::session::jobs::RunId;
use fabius_engine::languages;
use fabius_project::config;
use futures::channel::mpsc::UnboundedSender;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};
use tower_lsp_server::jsonrpc::{ErrorCode, Id, Request, Result};
use tower_lsp_server::ls_types as lsp;

/// Before what is new is shown, known counterexamples are tried in the edited text for so long.
const REPLAY_TIME: Duration = Duration::from_millis(10);

/// The loop, with what it has begun and not finished.
pub struct MainLoop {
    state: State,
    pending: Pending,
    /// Requests about a text that is being read, in the order of arrival.
    waiting: Vec<(Id, String, lsp::LSPAny)>,
    /// Requests for which work was started, by its number.
    started: BTreeMap<RunId, (Id, Started)>,
    /// Requests for the diagnostics of all models.
    pulls: HeldPulls,
    inbox: Receiver<Incoming>,
    /// A document was closed, and its memory may go back to the system.
    closed: bool,
}

/// The files on the disk that matter: models, what they include, and what a project chooses.
fn files_that_matter() -> String {
    let endings = languages::model_endings().chain(languages::included_endings());
    let files: String = endings.map(|ending| format!(",*.{ending}")).collect();
    format!("**/{{{}{files}}}", config::NAME)
}

impl MainLoop {
    /// A server that nobody has talked to yet.
    pub fn new(
        asking: UnboundedSender<Request>,
        pending: Pending,
        events: Sender<Incoming>,
        inbox: Receiver<Incoming>,
    ) -> Self {
        // Nobody reads the inbox any more while the server ends.
        let event_sink: EventSink = Arc::new(move |told| drop(events.send(Incoming::CheckEvent(Box::new(told)))));
        let state = State::new(Client::new(asking), event_sink);
        Self {
            state,
            pending,
            waiting: Vec::new(),
            started: BTreeMap::new(),
            pulls: HeldPulls::default(),
            inbox,
            closed: false,
        }
    }

    /// Takes one message after the other, until nobody can send one any more.
    pub fn run(mut self) {
        while let Some(message) = self.next() {
            if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| self.take(message))) {
                self.state.complain(&said(&*panic));
            }
        }
    }

    /// The next message. Before it waits for one, it shows what is new; then it tries known counterexamples, one
    /// after the other, as long as no message comes.
    fn next(&mut self) -> Option<Incoming> {
        loop {
            match self.inbox.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {}
            }
            match panic::catch_unwind(AssertUnwindSafe(|| self.settle())) {
                Ok(true) => {}
                Ok(false) => return self.inbox.recv().ok(),
                Err(panic) => {
                    self.state.complain(&said(&*panic));
                    return self.inbox.recv().ok();
                }
            }
        }
    }

    fn take(&mut self, message: Incoming) {
        match message {
            Incoming::Request(id, method, params) => self.request(&id, &method, params),
            Incoming::Notification(method, params) => self.notification(&method, params),
            Incoming::Answer(answer) => {
                if let Some((expected, value)) = self.state.client.answered(answer) {
                    self.answered(expected, &value);
                }
            }
            Incoming::CheckEvent(events) => {
                let was_read = matches!(events.what, CheckEventKind::Read(..));
                let notices = self.state.session.handle(*events);
                self.show(notices);
                if was_read {
                    self.answer_waiting();
                }
            }
        }
    }

    /// Answers a request; one that was cancelled meanwhile is not even looked at.
    fn request(&mut self, id: &Id, method: &str, params: lsp::LSPAny) {
        if !self.pending.is_wanted(id) {
            return;
        }
        if self.must_wait(method, &params) {
            self.waiting.push((id.clone(), method.to_owned(), params));
            return;
        }
        let answer = panic::catch_unwind(AssertUnwindSafe(|| self.answer(id, method, params)));
        let answer = answer.unwrap_or_else(|panic| {
            let said = said(&*panic);
            self.state.complain(&said);
            Some(Err(error(ErrorCode::InternalError, said)))
        });
        if let Some(answer) = answer {
            self.pending.answer(id, answer);
        }
    }

    /// Whether a request is about a text that is being read.
    fn must_wait(&mut self, method: &str, params: &lsp::LSPAny) -> bool {
        let about = |params: &lsp::LSPAny| {
            let uri = params.pointer("/textDocument/uri").or_else(|| params.get("uri"));
            uri.or_else(|| params.pointer("/arguments/0/uri")).cloned()
        };
        let uri = about(params).and_then(|uri| serde_json::from_value::<lsp::Uri>(uri).ok());
        let Some(name) = uri.map(|uri| name_of(&uri)).filter(|_| method != "fabius/stop") else { return false };
        // Whoever asks first begins to read.
        let _ = self.state.session.reading(&name);
        self.state.session.is_being_read(&name)
    }

    /// Answers the requests that waited for a text.
    fn answer_waiting(&mut self) {
        for (id, method, params) in std::mem::take(&mut self.waiting) {
            self.request(&id, &method, params);
        }
    }

    /// The answer to a request; `None` if work for it was started that will bring it.
    fn answer(&mut self, id: &Id, method: &str, params: lsp::LSPAny) -> Option<Result<lsp::LSPAny>> {
        let (method, params, is_shown) = questions::of_command(method, params);
        if method == "workspace/diagnostic" {
            return match read(params) {
                Ok(params) => {
                    self.pulls.hold(id, params);
                    self.answer_pulls();
                    None
                }
                Err(wrong) => Some(Err(wrong)),
            };
        }
        let Some(request) = SearchRequest::read(method, &params) else {
            return Some(features::answer(&mut self.state, method, params));
        };
        let begun = request.and_then(|request| Ok((questions::begin(&mut self.state, &request)?, request)));
        match begun {
            Ok((Some(run), request)) => {
                self.started.insert(run, (id.clone(), Started { request, is_shown }));
                None
            }
            Ok((None, _)) => Some(Ok(lsp::LSPAny::Null)),
            Err(wrong) => Some(Err(wrong)),
        }
    }

    /// Answers the requests for the diagnostics of all models for which there is something new.
    fn answer_pulls(&mut self) {
        self.pulls.answer(&mut self.state, &self.pending);
    }

    /// A request was cancelled: nobody waits for the work that was started for it.
    fn cancelled(&mut self, params: &lsp::LSPAny) {
        let id: Option<Id> = params.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        let runs: Vec<RunId> =
            self.started.iter().filter(|(_, (asked, _))| Some(asked) == id.as_ref()).map(|(run, _)| *run).collect();
        for run in runs {
            self.started.remove(&run);
            self.state.session.cancel(run);
        }
    }

    fn notification(&mut self, method: &str, params: lsp::LSPAny) {
        let done = match method {
            "initialized" => {
                self.ask_for_settings();
                self.ask_for_files();
                Ok(())
            }
            "textDocument/didOpen" => read(params).map(|params| self.opened(params)),
            "textDocument/didChange" => read(params).map(|params| self.changed(params)),
            "textDocument/didSave" => read(params).map(|params: lsp::DidSaveTextDocumentParams| {
                self.state.session.save(&name_of(&params.text_document.uri));
            }),
            "textDocument/didClose" => read(params).map(|params: lsp::DidCloseTextDocumentParams| {
                self.closed(&name_of(&params.text_document.uri));
            }),
            "workspace/didChangeConfiguration" => {
                match self.state.able.configuration {
                    true => self.ask_for_settings(),
                    false => self.state.set(Settings::read(params.get("settings").unwrap_or(&params))),
                }
                Ok(())
            }
            "workspace/didChangeWorkspaceFolders" => read(params).map(|params| {
                workspace::change_folders(&mut self.state, &params);
                self.answer_pulls();
            }),
            "workspace/didChangeWatchedFiles" => read(params).map(|params: lsp::DidChangeWatchedFilesParams| {
                self.touched(&params);
            }),
            "$/cancelRequest" => {
                self.cancelled(&params);
                Ok(())
            }
            "window/workDoneProgress/cancel" => read(params).map(|params: lsp::WorkDoneProgressCancelParams| {
                self.stopped_by_hand(&params.token);
            }),
            _ => Ok(()),
        };
        if let Err(error) = done {
            self.state.complain(&format!("{method}: {}", error.message));
        }
    }

    fn ask_for_settings(&mut self) {
        if self.state.able.configuration {
            let item = lsp::ConfigurationItem { scope_uri: None, section: Some("fabius".to_owned()) };
            let params = lsp::ConfigurationParams { items: vec![item] };
            self.state.client.ask("workspace/configuration", params, Expected::Settings);
        }
    }

    /// Asks to be told of files that change on the disk: parts of models, and what projects choose.
    fn ask_for_files(&mut self) {
        if self.state.able.watches {
            let glob_pattern = lsp::GlobPattern::String(files_that_matter());
            let watchers = vec![lsp::FileSystemWatcher { glob_pattern, kind: None }];
            let one = lsp::Registration {
                id: "fabius-files".to_owned(),
                method: "workspace/didChangeWatchedFiles".to_owned(),
                register_options: Some(json(lsp::DidChangeWatchedFilesRegistrationOptions { watchers })),
            };
            let params = lsp::RegistrationParams { registrations: vec![one] };
            self.state.client.ask("client/registerCapability", params, Expected::Registered);
        }
    }

    /// Files changed on the disk: like a save, for the models to which they belong. What is open counts as saved once its
    /// text is that of the disk, whichever of the two the client tells first.
    fn touched(&mut self, params: &lsp::DidChangeWatchedFilesParams) {
        params.changes.iter().for_each(|change| self.state.session.touched(&name_of(&change.uri)));
        let notices = self.state.session.settle();
        for notice in &notices {
            if let Notice::Changed(name) = notice {
                self.state.session.save(name);
            }
        }
        self.show(notices);
        if self.state.able.refresh_diagnostics {
            self.state.client.refresh("workspace/diagnostic/refresh");
        }
        self.answer_pulls();
        self.state.warn();
    }

    fn answered(&mut self, expected: Expected, value: &lsp::LSPAny) {
        match expected {
            Expected::Refreshed(_) | Expected::Registered | Expected::Shown => {}
            Expected::Settings => match value.get(0) {
                Some(lsp::LSPAny::Null) | None => {}
                Some(own) => self.state.set(Settings::read(own)),
            },
            Expected::Progress(name) => {
                self.state.bars.created(&self.state.client, &name, &self.state.session);
                self.state.end_orphaned_bars();
            }
        }
    }

    fn opened(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let name = name_of(&document.uri);
        self.state.session.open(&name, document.version, &document.text);
        self.state.warn();
        self.state.session.save(&name);
    }

    fn changed(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let name = name_of(&params.text_document.uri);
        let encoding = self.state.encoding;
        self.state.session.change(&name, params.text_document.version, |text| {
            let changes = params.content_changes.into_iter();
            changes.flat_map(|change| encoding.replace(text, change.range, &change.text)).collect()
        });
    }

    fn closed(&mut self, name: &str) {
        self.state.session.close(name);
        self.closed = true;
        self.state.colored.forget(name);
        self.state.bars.end(&self.state.client, name, "closed");
        self.state.hide_diagnostics(name);
    }

    fn stopped_by_hand(&mut self, token: &lsp::ProgressToken) {
        let lsp::NumberOrString::String(token) = token else { return };
        if let Some(name) = self.state.bars.document(token) {
            self.state.session.stop(&name);
            self.state.bars.end(&self.state.client, &name, "stopped");
            self.show(vec![Notice::Settled(name)]);
        }
    }

    /// Reads what was edited and shows what is new; if nothing is, tries a known counterexample. Says whether there may
    /// be more to do.
    fn settle(&mut self) -> bool {
        for name in self.state.session.take_saved() {
            self.state.session.save(&name);
        }
        let mut notices = self.state.session.settle();
        let began = Instant::now();
        // What is known of the present text is shown at once: nothing is marked as old that is found to be true right after.
        let mut tried = BTreeSet::new();
        while let Some(name) = self.state.session.replay_one() {
            tried.insert(name);
            if REPLAY_TIME <= began.elapsed() {
                break;
            }
        }
        tried
            .retain(|name| !notices.iter().any(|notice| matches!(notice, Notice::Changed(changed) if changed == name)));
        notices.extend(tried.into_iter().map(Notice::Changed));
        let more = !notices.is_empty();
        self.show(notices);
        if more {
            self.answer_pulls();
        }
        // Checks that were stopped hold on to the model until they are over.
        if !more && self.closed && self.state.session.is_idle() {
            self.closed = false;
            memory::give_back();
        }
        more
    }

    /// Shows what is new, and answers the requests for which work was started that is done.
    fn show(&mut self, notices: Vec<Notice>) {
        let is_answer = |notice: &Notice| matches!(notice, Notice::Met(..) | Notice::Answered(..) | Notice::Workspace);
        let (answers, news): (Vec<Notice>, Vec<Notice>) = notices.into_iter().partition(is_answer);
        self.state.show(news);
        for answer in answers {
            match answer {
                Notice::Workspace => self.answer_pulls(),
                Notice::Met(run, found, loaded) => {
                    if let Some((id, _)) = self.started.remove(&run) {
                        self.pending.answer(&id, Ok(json(questions::meeting(*found, &loaded))));
                    }
                }
                Notice::Answered(run, answer, job) => {
                    if let Some((id, started)) = self.started.remove(&run) {
                        let answer = questions::answer(&self.state, &started, &job, *answer);
                        self.pending.answer(&id, answer);
                    }
                }
                _ => {}
            }
        }
    }
}
