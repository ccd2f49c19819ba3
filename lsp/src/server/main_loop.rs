//! The main loop: one message after the other, in the order of arrival.
//!
//! It owns the session, so nothing is locked and nothing is shared. What takes long, checks, runs on
//! other threads and tells what it finds through the same queue. When the queue is empty, texts that
//! were edited are read and what is new is shown; a burst of edits is read once.

use super::client::{Client, Expected};
use super::colored::Remembered;
use super::convert::Converter;
use super::features;
use super::memory;
use super::names::{name_of, uri_of};
use super::own;
use super::positions::Encoding;
use super::questions;
use super::service::{Incoming, Pending, error};
use super::settings::Settings;
use super::status::{self, ProgressBars};
use crate::ide::actions;
use crate::ide::diagnostics::{Diagnostic, diagnostics};
use crate::session::checker::{CheckEventKind, EventSink, said};
use crate::session::jobs::RunId;
use crate::session::{Notice, Session};
use fabius_engine::languages;
use fabius_project::config;
use futures::channel::mpsc::UnboundedSender;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Result};
use tower_lsp_server::ls_types as lsp;

/// What the client can do, as far as it matters here.
#[derive(Clone, Copy, Default, Debug)]
pub struct Abilities {
    /// Asks for diagnostics of the text itself.
    pub pulls: bool,
    /// Shows the places that belong to a diagnostic.
    pub related: bool,
    /// Asks for its code lenses again when told to.
    pub refresh_lenses: bool,
    /// Asks for its inlay hints again when told to.
    pub refresh_hints: bool,
    /// Knows our own notifications.
    pub status: bool,
    /// Answers questions about its settings.
    pub configuration: bool,
    /// Understands snippets in completions.
    pub snippets: bool,
    /// Tells of files that change on the disk when it is asked to.
    pub watches: bool,
}

/// The state of the server.
pub struct MainLoop {
    /// Models, results and checks.
    pub session: Session,
    /// How positions are counted.
    pub encoding: Encoding,
    /// What the client can do.
    pub able: Abilities,
    /// The way to the client.
    pub client: Client,
    /// The coloured words that the client has.
    pub colored: Remembered,
    pending: Pending,
    /// Requests about a text that is being read, in the order of arrival.
    waiting: Vec<(Id, String, lsp::LSPAny)>,
    /// Requests for which work was started, with their parameters, by its number.
    asked: BTreeMap<RunId, (Id, lsp::LSPAny)>,
    inbox: Receiver<Incoming>,
    bars: ProgressBars,
    /// Of each model, the files for which diagnostics were published.
    published: BTreeMap<String, BTreeSet<String>>,
    /// The number of the last status that was told.
    serial: u64,
    /// A document was closed, and its memory may go back to the system.
    closed: bool,
    /// What was said to be wrong with what was chosen.
    warned: BTreeSet<String>,
}

/// Before what is new is shown, known counterexamples are tried in the edited text for so long.
const REPLAY_TIME: Duration = Duration::from_millis(10);

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
        Self {
            session: Session::new(Box::new(|options| options), event_sink),
            encoding: Encoding::default(),
            able: Abilities::default(),
            client: Client::new(asking),
            colored: Remembered::default(),
            pending,
            waiting: Vec::new(),
            asked: BTreeMap::new(),
            inbox,
            bars: ProgressBars::default(),
            published: BTreeMap::new(),
            serial: 0,
            closed: false,
            warned: BTreeSet::new(),
        }
    }

    /// Takes one message after the other, until nobody can send one any more.
    pub fn run(mut self) {
        while let Some(message) = self.next() {
            if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| self.take(message))) {
                self.complain(&said(&*panic));
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
                    self.complain(&said(&*panic));
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
                if let Some((expected, value)) = self.client.answered(answer) {
                    self.answered(expected, &value);
                }
            }
            Incoming::CheckEvent(events) => {
                let was_read = matches!(events.what, CheckEventKind::Read(..));
                let notices = self.session.handle(*events);
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
            self.complain(&said);
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
        let _ = self.session.reading(&name);
        self.session.is_being_read(&name)
    }

    /// Answers the requests that waited for a text.
    fn answer_waiting(&mut self) {
        for (id, method, params) in std::mem::take(&mut self.waiting) {
            self.request(&id, &method, params);
        }
    }

    /// The answer to a request; `None` if work for it was started that will bring it.
    fn answer(&mut self, id: &Id, method: &str, params: lsp::LSPAny) -> Option<Result<lsp::LSPAny>> {
        let (method, params) = questions::of_command(method, params);
        let begun = match method {
            own::MEET => own::ask_meet(self, params.clone()),
            _ if questions::METHODS.contains(&method) => questions::ask(self, method, params.clone()).map(Some),
            method => return Some(features::answer(self, method, params)),
        };
        match begun {
            Ok(Some(run)) => {
                self.asked.insert(run, (id.clone(), params));
                None
            }
            Ok(None) => Some(Ok(lsp::LSPAny::Null)),
            Err(wrong) => Some(Err(wrong)),
        }
    }

    /// A request was cancelled: nobody waits for the work that was started for it.
    fn cancelled(&mut self, params: &lsp::LSPAny) {
        let id: Option<Id> = params.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        let runs: Vec<RunId> =
            self.asked.iter().filter(|(_, (asked, _))| Some(asked) == id.as_ref()).map(|(run, _)| *run).collect();
        for run in runs {
            self.asked.remove(&run);
            self.session.cancel(run);
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
                self.session.save(&name_of(&params.text_document.uri));
            }),
            "textDocument/didClose" => read(params).map(|params: lsp::DidCloseTextDocumentParams| {
                self.closed(&name_of(&params.text_document.uri));
            }),
            "workspace/didChangeConfiguration" => {
                match self.able.configuration {
                    true => self.ask_for_settings(),
                    false => self.set(Settings::read(params.get("settings").unwrap_or(&params))),
                }
                Ok(())
            }
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
            self.complain(&format!("{method}: {}", error.message));
        }
    }

    /// Learns what the client can do; returns what the server can.
    pub fn initialize(&mut self, params: &lsp::InitializeParams) -> lsp::LSPAny {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let text = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let window = capabilities.window.as_ref();
        let own = params.initialization_options.as_ref();
        let on = |value: Option<bool>| value == Some(true);
        self.encoding = Encoding::negotiate(general.and_then(|general| general.position_encodings.as_deref()));
        self.bars.supported = on(window.and_then(|window| window.work_done_progress));
        let published = text.and_then(|text| text.publish_diagnostics.as_ref());
        let completion = text.and_then(|text| text.completion.as_ref()?.completion_item.as_ref());
        self.able = Abilities {
            pulls: text.is_some_and(|text| text.diagnostic.is_some()),
            related: on(published.and_then(|published| published.related_information)),
            refresh_lenses: on(workspace.and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support)),
            refresh_hints: on(workspace.and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support)),
            status: on(own.and_then(|own| own.get("status")?.as_bool())),
            configuration: on(workspace.and_then(|workspace| workspace.configuration)),
            snippets: on(completion.and_then(|item| item.snippet_support)),
            watches: on(workspace.and_then(|workspace| workspace.did_change_watched_files?.dynamic_registration)),
        };
        if let Some(own) = own {
            self.set(Settings::read(own));
        }
        features::capabilities(self.encoding)
    }

    fn ask_for_settings(&mut self) {
        if self.able.configuration {
            let params = json!({ "items": [{ "section": "fabius" }] });
            self.client.ask("workspace/configuration", params, Expected::Settings);
        }
    }

    /// Asks to be told of files that change on the disk: parts of models, and what projects choose.
    fn ask_for_files(&mut self) {
        if self.able.watches {
            let watchers = json!([{ "globPattern": files_that_matter() }]);
            let one = json!({
                "id": "fabius-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": { "watchers": watchers },
            });
            self.client.ask("client/registerCapability", json!({ "registrations": [one] }), Expected::Registered);
        }
    }

    /// Files changed on the disk: like a save, for the models to which they belong. What is open counts as saved once its
    /// text is that of the disk, whichever of the two the client tells first.
    fn touched(&mut self, params: &lsp::DidChangeWatchedFilesParams) {
        params.changes.iter().for_each(|change| self.session.touched(&name_of(&change.uri)));
        let notices = self.session.settle();
        for notice in &notices {
            if let Notice::Changed(name) = notice {
                self.session.save(name);
            }
        }
        self.show(notices);
        self.warn();
    }

    fn set(&mut self, settings: Settings) {
        self.session.set(Box::new(move |options| settings.over(options)));
        self.warn();
    }

    /// Says what is wrong with what was chosen, once.
    fn warn(&mut self) {
        let documents = self.session.documents().map(|(_, document)| document);
        let wrong = documents.flat_map(|document| [&document.wrong_config, &document.options.wrong]).flatten();
        let wrong: BTreeSet<String> = wrong.cloned().collect();
        for new in wrong.difference(&self.warned) {
            self.client.notify("window/showMessage", json!({ "type": 2, "message": new }));
        }
        self.warned = wrong;
    }

    fn answered(&mut self, expected: Expected, value: &lsp::LSPAny) {
        match expected {
            Expected::Refreshed(_) | Expected::Registered => {}
            Expected::Settings => match value.get(0) {
                Some(lsp::LSPAny::Null) | None => {}
                Some(own) => self.set(Settings::read(own)),
            },
            Expected::Progress(name) => {
                self.bars.created(&self.client, &name, &self.session);
                self.end_orphaned_bars();
            }
        }
    }

    fn opened(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let name = name_of(&document.uri);
        self.session.open(&name, document.version, &document.text);
        self.warn();
        self.session.save(&name);
    }

    fn changed(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let name = name_of(&params.text_document.uri);
        let encoding = self.encoding;
        self.session.change(&name, params.text_document.version, |text| {
            let changes = params.content_changes.into_iter();
            changes.flat_map(|change| encoding.replace(text, change.range, &change.text)).collect()
        });
    }

    fn closed(&mut self, name: &str) {
        self.session.close(name);
        self.closed = true;
        self.colored.forget(name);
        self.bars.end(&self.client, name, "closed");
        for file in self.published.remove(name).unwrap_or_default() {
            self.publish(&file, None, Vec::new());
        }
    }

    fn stopped_by_hand(&mut self, token: &lsp::ProgressToken) {
        let lsp::NumberOrString::String(token) = token else { return };
        if let Some(name) = self.bars.document(token) {
            self.session.stop(&name);
            self.bars.end(&self.client, &name, "stopped");
            self.show(vec![Notice::Settled(name)]);
        }
    }

    /// Reads what was edited and shows what is new; if nothing is, tries a known counterexample. Says whether there may
    /// be more to do.
    fn settle(&mut self) -> bool {
        for name in self.session.take_saved() {
            self.session.save(&name);
        }
        let mut notices = self.session.settle();
        let began = Instant::now();
        // What is known of the present text is shown at once: nothing is marked as old that is found to be true right after.
        let mut tried = BTreeSet::new();
        while let Some(name) = self.session.replay_one() {
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
        // Checks that were stopped hold on to the model until they are over.
        if !more && self.closed && self.session.is_idle() {
            self.closed = false;
            memory::give_back();
        }
        more
    }

    /// Shows what is new. A document that is part of another model is shown with that.
    pub fn show(&mut self, notices: Vec<Notice>) {
        for notice in notices {
            match notice {
                Notice::Changed(name) => {
                    self.show_diagnostics(&name);
                    self.show_status(&name);
                    self.refresh();
                }
                Notice::Progress(name) => {
                    if let Some(running) = self.session.document(&name).and_then(|document| document.run.as_ref()) {
                        self.bars.update(&mut self.client, &name, running);
                    }
                    self.show_status(&name);
                }
                Notice::Hints(name) => {
                    self.show_status(&name);
                    self.refresh();
                }
                Notice::Decided(..) | Notice::Scheduled(_) => {}
                Notice::Checked(name) => self.try_fixes(&name),
                Notice::Met(run, found, loaded) => {
                    if let Some((id, _)) = self.asked.remove(&run) {
                        self.pending.answer(&id, Ok(own::met(*found, &loaded)));
                    }
                }
                Notice::Answered(run, answer, job) => {
                    if let Some((id, params)) = self.asked.remove(&run) {
                        let answer = questions::answer(self, params, &job, *answer);
                        self.pending.answer(&id, answer);
                    }
                }
                Notice::Settled(name) => {
                    self.bars.end(&self.client, &name, "done");
                    self.show_status(&name);
                }
                Notice::Failed(name, failure) => self.complain(&format!("{name}: {failure}")),
            }
        }
        self.end_orphaned_bars();
    }

    /// Checks the fixes that could be offered for what is wrong with a document, in the background.
    fn try_fixes(&mut self, name: &str) {
        let (Some(reading), Some(document)) = (self.session.reading(name), self.session.document(name)) else { return };
        let wanted = actions::worth_trying(name, document, &reading);
        wanted.into_iter().for_each(|text| self.session.try_text(name, text));
    }

    fn end_orphaned_bars(&mut self) {
        for name in self.bars.orphans(&self.session) {
            self.bars.end(&self.client, &name, "stopped");
        }
    }

    fn show_diagnostics(&mut self, name: &str) {
        let model = self.session.model_of(name);
        if model != name {
            for file in self.published.remove(name).unwrap_or_default() {
                self.publish(&file, None, Vec::new());
            }
        }
        let Some(reading) = self.session.reading(&model) else { return };
        let Some(document) = self.session.document(&model) else { return };
        let all = diagnostics(&model, document, &reading);
        let converter = Converter::new(&self.session, reading.map(), self.encoding);
        let mut by_file: BTreeMap<String, Vec<lsp::Diagnostic>> = BTreeMap::new();
        by_file.insert(model.clone(), Vec::new());
        for diagnostic in all.iter().filter(|diagnostic| self.is_pushed(diagnostic)) {
            let shown = converter.diagnostic(diagnostic, self.able.related);
            by_file.entry(diagnostic.place.file.clone()).or_default().push(shown);
        }
        let now: BTreeSet<String> = by_file.keys().cloned().collect();
        for file in self.published.insert(model, now).unwrap_or_default() {
            by_file.entry(file).or_default();
        }
        for (file, diagnostics) in by_file {
            let version = self.session.document(&file).map(|document| document.version);
            self.publish(&file, version, diagnostics);
        }
    }

    /// Whether a diagnostic is published; a client that asks gets what the text says when it asks.
    fn is_pushed(&self, diagnostic: &Diagnostic) -> bool {
        !self.able.pulls || diagnostic.of_check
    }

    fn publish(&self, file: &str, version: Option<i32>, diagnostics: Vec<lsp::Diagnostic>) {
        if let Some(uri) = uri_of(file) {
            let params = lsp::PublishDiagnosticsParams { uri, diagnostics, version };
            self.client.notify("textDocument/publishDiagnostics", params);
        }
    }

    fn show_status(&mut self, name: &str) {
        if !self.able.status {
            return;
        }
        if let Some(status) = self.status(name) {
            self.client.notify("fabius/status", status);
        }
    }

    /// All that is known about a document, for a notification or an answer. These take different ways to the client and may
    /// overtake each other, so each has a number of its own.
    pub fn status(&mut self, name: &str) -> Option<lsp::LSPAny> {
        let _ = self.session.reading(name);
        let document = self.session.document(name)?;
        self.serial += 1;
        Some(status::status(&self.session, self.encoding, name, document, self.serial))
    }

    /// Asks the client to ask again for what depends on results. Nobody waits for its answer.
    fn refresh(&mut self) {
        if self.able.refresh_lenses {
            self.client.refresh("workspace/codeLens/refresh");
        }
        if self.able.refresh_hints {
            self.client.refresh("workspace/inlayHint/refresh");
        }
    }

    /// Tells the client that something went wrong in here.
    pub fn complain(&self, what: &str) {
        let message = format!("fabius: {what}");
        self.client.notify("window/logMessage", json!({ "type": 1, "message": message }));
    }
}

/// Reads the parameters of a message.
pub fn read<T: DeserializeOwned>(params: lsp::LSPAny) -> Result<T> {
    serde_json::from_value(params).map_err(|wrong| Error {
        code: ErrorCode::InvalidParams,
        message: wrong.to_string().into(),
        data: None,
    })
}
