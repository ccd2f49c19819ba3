//! What the server knows: the session, what the client can do, and what the client was shown.

use super::client::Client;
use super::colored::Remembered;
use super::convert::Converter;
use super::messages::{STATUS, Status};
use super::names::uri_of;
use super::positions::Encoding;
use super::settings::Settings;
use super::status::{self, ProgressBars};
use super::workspace;
use crate::ide::actions;
use crate::ide::diagnostics::{Diagnostic, diagnostics};
use crate::session::events::EventSink;
use crate::session::jobs::Tier;
use crate::session::{Document, Notice, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower_lsp_server::ls_types as lsp;

/// Time between two refreshes of lenses while a check goes on.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);

/// What the client can do, as far as it matters here.
#[derive(Clone, Copy, Default, Debug)]
pub struct Abilities {
    /// Asks for diagnostics of the text itself.
    pub pulls: bool,
    /// Takes those of files that belong to a text with the answer.
    pub related_documents: bool,
    /// Asks for diagnostics again when told to.
    pub refresh_diagnostics: bool,
    /// Shows the places that belong to a diagnostic.
    pub related: bool,
    /// Asks for its code lenses again when told to.
    pub refresh_lenses: bool,
    /// Asks for its inlay hints again when told to.
    pub refresh_hints: bool,
    /// Opens a text when it is asked to.
    pub shows_documents: bool,
    /// Knows our own notifications.
    pub status: bool,
    /// Answers questions about its settings.
    pub configuration: bool,
    /// Understands snippets in completions.
    pub snippets: bool,
    /// Tells of files that change on the disk when it is asked to.
    pub watches: bool,
    /// Asks for the edits of a code action once somebody chooses it.
    pub resolves_edits: bool,
}

/// What the server knows.
pub struct State {
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
    /// The progress that the client shows.
    pub bars: ProgressBars,
    /// Of each model, the files for which diagnostics were published.
    published: BTreeMap<String, BTreeSet<String>>,
    /// The number of the last status that was told.
    serial: u64,
    /// Lenses were last asked for again because a check went on.
    followed: Option<Instant>,
    /// What was said to be wrong with what was chosen.
    warned: BTreeSet<String>,
    /// It was said that there are more models than are read.
    warned_of_unread: bool,
}

impl State {
    /// A server that nobody has talked to yet.
    pub fn new(client: Client, event_sink: EventSink) -> Self {
        Self {
            session: Session::new(Arc::new(|options| options), event_sink),
            encoding: Encoding::default(),
            able: Abilities::default(),
            client,
            colored: Remembered::default(),
            bars: ProgressBars::default(),
            published: BTreeMap::new(),
            serial: 0,
            followed: None,
            warned: BTreeSet::new(),
            warned_of_unread: false,
        }
    }

    /// Learns what the client can do.
    pub fn initialize(&mut self, params: &lsp::InitializeParams) {
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
        let pulled = text.and_then(|text| text.diagnostic.as_ref());
        let refreshed = workspace.and_then(|workspace| workspace.diagnostics.as_ref());
        let action = text.and_then(|text| text.code_action.as_ref());
        let resolved = action.and_then(|action| action.resolve_support.as_ref());
        let completion = text.and_then(|text| text.completion.as_ref()?.completion_item.as_ref());
        self.able = Abilities {
            pulls: pulled.is_some(),
            related_documents: on(pulled.and_then(|pulled| pulled.related_document_support)),
            refresh_diagnostics: on(refreshed.and_then(|refreshed| refreshed.refresh_support)),
            related: on(published.and_then(|published| published.related_information)),
            refresh_lenses: on(workspace.and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support)),
            refresh_hints: on(workspace.and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support)),
            shows_documents: window.and_then(|window| window.show_document.as_ref()).is_some_and(|show| show.support),
            status: on(own.and_then(|own| own.get("status")?.as_bool())),
            configuration: on(workspace.and_then(|workspace| workspace.configuration)),
            snippets: on(completion.and_then(|item| item.snippet_support)),
            watches: on(workspace.and_then(|workspace| workspace.did_change_watched_files?.dynamic_registration)),
            resolves_edits: on(action.and_then(|action| action.data_support))
                && resolved.is_some_and(|resolved| resolved.properties.iter().any(|property| property == "edit")),
        };
        self.session.set_folders(workspace::folders(params));
        if let Some(own) = own {
            self.set(Settings::read(own));
        }
    }

    /// Settings count from now on.
    pub fn set(&mut self, settings: Settings) {
        self.session.set(Arc::new(move |options| settings.over(options)));
        self.warn();
    }

    /// Says what is wrong with what was chosen, once.
    pub fn warn(&mut self) {
        let documents = self.session.documents().map(|(_, document)| document);
        let wrong = documents.flat_map(|document| [&document.wrong_config, &document.options.wrong]).flatten();
        let wrong: BTreeSet<String> = wrong.cloned().collect();
        for new in wrong.difference(&self.warned) {
            self.client.show(lsp::MessageType::WARNING, new.clone());
        }
        self.warned = wrong;
    }

    /// Says once that no more models than this are read for diagnostics.
    pub fn warn_of_unread_models(&mut self, read: usize) {
        if !std::mem::replace(&mut self.warned_of_unread, true) {
            let message = format!(
                "fabius: the folders hold more than {read} models; the others have no diagnostics until opened"
            );
            let params = lsp::LogMessageParams { typ: lsp::MessageType::WARNING, message };
            self.client.notify("window/logMessage", params);
        }
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
                    let ahead = self.session.checks_ahead(&name);
                    if let Some(running) = self.session.document(&name).and_then(|document| document.run.as_ref()) {
                        self.bars.update(&mut self.client, &name, running, ahead);
                    }
                    self.show_status(&name);
                    self.follow_check(&name);
                }
                Notice::Hints(name) => {
                    self.show_status(&name);
                    self.refresh();
                }
                Notice::Decided(..) | Notice::Scheduled(_) => {}
                Notice::Checked(name) => self.try_fixes(&name),
                // The main loop answers what somebody asked.
                Notice::Met(..) | Notice::Answered(..) | Notice::Workspace => {}
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

    /// No progress is shown any more of documents that are not being checked.
    pub fn end_orphaned_bars(&mut self) {
        for name in self.bars.orphans(&self.session) {
            self.bars.end(&self.client, &name, "stopped");
        }
    }

    fn show_diagnostics(&mut self, name: &str) {
        let model = self.session.model_of(name);
        if model != name {
            self.hide_diagnostics(name);
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

    /// Takes back what was published about a model.
    pub fn hide_diagnostics(&mut self, name: &str) {
        for file in self.published.remove(name).unwrap_or_default() {
            self.publish(&file, None, Vec::new());
        }
    }

    /// Whether a diagnostic is published; a client that asks gets what the text says when it asks, also that of files which
    /// are not open if it can take that.
    fn is_pushed(&self, diagnostic: &Diagnostic) -> bool {
        let is_asked_for = self.able.related_documents || self.session.document(&diagnostic.place.file).is_some();
        !self.able.pulls || diagnostic.of_check || !is_asked_for
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
            self.client.notify(STATUS, status);
        }
    }

    /// All that is known about a document, for a notification or an answer. These take different ways to the client and may
    /// overtake each other, so each has a number of its own.
    pub fn status(&mut self, name: &str) -> Option<Status> {
        let _ = self.session.reading(name);
        let document = self.session.document(name)?;
        self.serial += 1;
        status::status(&self.session, self.encoding, name, document, self.serial)
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

    /// Lenses say how far a check is; a short look is over before anybody reads that.
    fn follow_check(&mut self, name: &str) {
        let is_long = |document: &Document| document.run.as_ref().is_some_and(|run| run.tier != Tier::Quick);
        let is_due = self.followed.is_none_or(|last| FOLLOW_PAUSE <= last.elapsed());
        if self.able.refresh_lenses && is_due && self.session.document(name).is_some_and(is_long) {
            self.followed = Some(Instant::now());
            self.client.refresh("workspace/codeLens/refresh");
        }
    }

    /// Tells the client that something went wrong in here.
    pub fn complain(&self, what: &str) {
        let params = lsp::LogMessageParams { typ: lsp::MessageType::ERROR, message: format!("fabius: {what}") };
        self.client.notify("window/logMessage", params);
    }
}
