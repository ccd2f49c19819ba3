//! The folders that somebody works in: diagnostics of all models in them, and files that get other names.

use super::context::Context;
use super::convert::Converter;
use super::names::{name_of, uri_of};
use super::service::Pending;
use super::state::State;
use crate::ide::diagnostics::{Diagnostic, diagnostics};
use crate::ide::renamed_files::RenamedFiles;
use fabius_base::SourceMap;
use fabius_project::files;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use tower_lsp_server::jsonrpc::Id;
use tower_lsp_server::ls_types as lsp;
use xxhash_rust::xxh3::xxh3_128;

/// In more files than this, the names of others are not changed.
const FILES_MAX: usize = 5_000;

/// The diagnostics of the files of a model.
type ByFile = BTreeMap<String, Vec<lsp::Diagnostic>>;

/// Requests for the diagnostics of all models that are not answered yet, with the ids of what the client knows: they are
/// answered when there is something new.
#[derive(Debug, Default)]
pub struct HeldPulls(Vec<(Id, HashMap<lsp::Uri, String>)>);

/// What the texts say about a file.
struct FileReport {
    uri: lsp::Uri,
    /// The version of the document, if it is open.
    version: Option<i64>,
    items: Vec<lsp::Diagnostic>,
    /// Names the items.
    id: String,
}

/// The folders that a client works in, from the parameters of `initialize`.
#[expect(deprecated, reason = "older clients name one folder")]
pub fn folders(params: &lsp::InitializeParams) -> Vec<PathBuf> {
    let several = params.workspace_folders.iter().flatten().map(|folder| folder.uri.clone());
    let mut uris: Vec<lsp::Uri> = several.collect();
    if uris.is_empty() {
        uris.extend(params.root_uri.clone());
    }
    uris.iter().map(|uri| PathBuf::from(name_of(uri))).filter(|path| path.is_absolute()).collect()
}

/// The client works in other folders.
pub fn change_folders(server: &mut State, params: &lsp::DidChangeWorkspaceFoldersParams) {
    let path = |folder: &lsp::WorkspaceFolder| PathBuf::from(name_of(&folder.uri));
    let removed: Vec<PathBuf> = params.event.removed.iter().map(path).collect();
    let mut folders: Vec<PathBuf> = server.session.folders().to_vec();
    folders.retain(|folder| !removed.contains(folder));
    folders.extend(params.event.added.iter().map(path).filter(|path| path.is_absolute()));
    server.session.set_folders(folders);
}

/// What the text of a document says, for a client that asks.
pub fn diagnostic(server: &mut State, params: &lsp::DocumentDiagnosticParams) -> lsp::DocumentDiagnosticReport {
    let uri = &params.text_document.uri;
    let mut by_file = Context::of(server, uri).map(|context| of_texts(&context)).unwrap_or_default();
    let items = by_file.remove(&name_of(uri)).unwrap_or_default();
    // Of documents that are open, the client asks by itself.
    let closed = by_file.into_iter().filter(|(file, _)| server.session.document(file).is_none());
    let related = closed.filter_map(|(file, items)| Some((uri_of(&file)?, full(items).into())));
    let related: HashMap<lsp::Uri, lsp::DocumentDiagnosticReportKind> = related.collect();
    let related_documents = Some(related).filter(|related| server.able.related_documents && !related.is_empty());
    let result_id = id_of(&items);
    if params.previous_result_id.as_ref() == Some(&result_id) {
        let unchanged_document_diagnostic_report = lsp::UnchangedDocumentDiagnosticReport { result_id };
        return lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents,
            unchanged_document_diagnostic_report,
        }
        .into();
    }
    lsp::RelatedFullDocumentDiagnosticReport { related_documents, full_document_diagnostic_report: full(items) }.into()
}

/// What the texts of a model say, by file.
fn of_texts(context: &Context<'_>) -> ByFile {
    let Some(document) = context.document() else { return ByFile::new() };
    let all = diagnostics(&context.model, document, context.view().reading);
    by_file(all.iter().filter(|diagnostic| !diagnostic.of_check), &context.converter())
}

fn by_file<'a>(all: impl Iterator<Item = &'a Diagnostic>, converter: &Converter<'_>) -> ByFile {
    let mut by_file = ByFile::new();
    for diagnostic in all {
        by_file.entry(diagnostic.place.file.clone()).or_default().push(converter.diagnostic(diagnostic, true));
    }
    by_file
}

/// Names what is said about a file.
fn id_of(items: &[lsp::Diagnostic]) -> String {
    format!("{:032x}", xxh3_128(json!(items).to_string().as_bytes()))
}

fn full(items: Vec<lsp::Diagnostic>) -> lsp::FullDocumentDiagnosticReport {
    lsp::FullDocumentDiagnosticReport { result_id: Some(id_of(&items)), items }
}

impl HeldPulls {
    /// Somebody asks for the diagnostics of all models.
    pub fn hold(&mut self, id: &Id, params: lsp::WorkspaceDiagnosticParams) {
        let known = params.previous_result_ids.into_iter().map(|known| (known.uri, known.value));
        self.0.push((id.clone(), known.collect()));
    }

    /// Answers the requests for which there is something new. A client that does not tell of files that change is answered at
    /// once.
    pub fn answer(&mut self, server: &mut State, pending: &Pending) {
        self.0.retain(|(id, _)| pending.is_wanted(id));
        if self.0.is_empty() {
            return;
        }
        let Some(reports) = reports(server) else { return };
        let at_once = !server.able.watches;
        for (id, known) in std::mem::take(&mut self.0) {
            let gone = gone(&reports, &known);
            let is_new = |report: &FileReport| known.get(&report.uri) != Some(&report.id);
            if !at_once && gone.is_empty() && !reports.iter().any(is_new) {
                self.0.push((id, known));
                continue;
            }
            let items = reports.iter().chain(&gone).map(|report| report.since(known.get(&report.uri)));
            let answer = lsp::WorkspaceDiagnosticReport { items: items.collect() };
            pending.answer(&id, Ok(json!(answer)));
        }
    }
}

/// The files of which a client knows something that is true no longer, and about which there is no report.
fn gone(reports: &[FileReport], known: &HashMap<lsp::Uri, String>) -> Vec<FileReport> {
    let reported: BTreeSet<&str> = reports.iter().map(|report| report.uri.as_str()).collect();
    let nothing = id_of(&[]);
    let gone = known.iter().filter(|(uri, id)| !reported.contains(uri.as_str()) && **id != nothing);
    let clear = |uri: &lsp::Uri| FileReport { uri: uri.clone(), version: None, items: Vec::new(), id: nothing.clone() };
    gone.map(|(uri, _)| clear(uri)).collect()
}

impl FileReport {
    /// The report for a client that knows the one with an id.
    fn since(&self, known: Option<&String>) -> lsp::WorkspaceDocumentDiagnosticReport {
        let Self { uri, version, items, id } = self;
        let (uri, version, result_id) = (uri.clone(), *version, id.clone());
        if known == Some(id) {
            let unchanged_document_diagnostic_report = lsp::UnchangedDocumentDiagnosticReport { result_id };
            return lsp::WorkspaceUnchangedDocumentDiagnosticReport {
                uri,
                version,
                unchanged_document_diagnostic_report,
            }
            .into();
        }
        let full_document_diagnostic_report =
            lsp::FullDocumentDiagnosticReport { result_id: Some(result_id), items: items.clone() };
        lsp::WorkspaceFullDocumentDiagnosticReport { uri, version, full_document_diagnostic_report }.into()
    }
}

/// What the texts of all models say, by file, in order. `None` while they are being read.
fn reports(server: &mut State) -> Option<Vec<FileReport>> {
    let workspace = server.session.workspace()?;
    if workspace.are_more {
        server.warn_of_unread_models(workspace.models.len());
    }
    let open: Vec<String> = server.session.documents().map(|(name, _)| name.to_owned()).collect();
    let mut all = ByFile::new();
    let mut add = |file: String, found: Vec<lsp::Diagnostic>| {
        let items = all.entry(file).or_default();
        found.into_iter().for_each(|item| {
            if !items.contains(&item) {
                items.push(item);
            }
        });
    };
    for (name, model) in &workspace.models {
        add(name.clone(), Vec::new());
        let converter = Converter::new(&server.session, &model.map, server.encoding);
        by_file(model.diagnostics.iter(), &converter).into_iter().for_each(|(file, items)| add(file, items));
    }
    for name in &open {
        add(name.clone(), Vec::new());
        let Some(uri) = uri_of(name) else { continue };
        if server.session.is_being_read(name) {
            return None;
        }
        let found = Context::of(server, &uri).map(|context| of_texts(&context)).unwrap_or_default();
        found.into_iter().for_each(|(file, items)| add(file, items));
    }
    let version = |name: &str| server.session.document(name).map(|document| i64::from(document.version));
    let one = |(name, items): (String, Vec<lsp::Diagnostic>)| {
        Some(FileReport { uri: uri_of(&name)?, version: version(&name), id: id_of(&items), items })
    };
    Some(all.into_iter().filter_map(one).collect())
}

/// The edits that keep names of included files right when files get other names.
pub fn will_rename(server: &mut State, params: &lsp::RenameFilesParams) -> Option<lsp::WorkspaceEdit> {
    let path = |uri: &str| Some(PathBuf::from(name_of(&uri.parse().ok()?))).filter(|path| path.is_absolute());
    let renamed = params.files.iter().filter_map(|file| Some((path(&file.old_uri)?, path(&file.new_uri)?)));
    let renamed = RenamedFiles(renamed.collect());
    let mut names: BTreeSet<PathBuf> =
        files::below(server.session.folders(), files::is_part, FILES_MAX).into_iter().collect();
    names.extend(server.session.documents().map(|(name, _)| PathBuf::from(name)));
    let is_open = |path: &Path| server.session.document(&path.display().to_string()).is_some();
    let exists = |path: &Path| path.is_file() || is_open(path);
    let mut changes = HashMap::new();
    for path in names.iter().take(FILES_MAX) {
        let name = path.display().to_string();
        let open = server.session.document(&name).map(|document| document.text.to_string());
        let Some(text) = open.or_else(|| files::read_ordinary(path).ok()) else { continue };
        let edits = renamed.edits(path, &text, &exists);
        let Some(uri) = uri_of(&name).filter(|_| !edits.is_empty()) else { continue };
        let mut map = SourceMap::new();
        map.add_file(name.as_str(), text);
        let converter = Converter::new(&server.session, &map, server.encoding);
        let edits = edits.into_iter();
        let edits = edits.map(|(bytes, new)| lsp::TextEdit::new(converter.range(&name, bytes.start, bytes.end), new));
        changes.insert(uri, edits.collect());
    }
    (!changes.is_empty()).then(|| lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() })
}
