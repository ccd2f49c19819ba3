//! A scripted editor: the real binary behind a pipe, messages sent and waited for.

use fabius_testkit::piped::Client;
pub use fabius_testkit::piped::PATIENCE;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An editor that talks to a server of its own.
pub struct Editor {
    server: Client,
    next: RefCell<i64>,
    /// Whether requests of the server are answered.
    pub answers: bool,
}

impl Editor {
    /// Starts a server; nothing is said yet.
    pub fn silent() -> Self {
        Self::silent_with(&std::env::temp_dir().join(format!("fabius-editor-test-{}", std::process::id())))
    }

    /// The same, with a folder for what is remembered.
    fn silent_with(cache: &Path) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_fabius"));
        server.arg("lsp").env("XDG_CACHE_HOME", cache).env_remove("FABIUS_CACHE");
        Self { server: Client::start(&mut server), next: RefCell::new(0), answers: true }
    }

    /// An editor that can do what most can.
    pub fn new() -> Self {
        Self::with(json!({
            "window": { "workDoneProgress": true },
            "textDocument": {
                "publishDiagnostics": { "relatedInformation": true },
                "completion": { "completionItem": { "snippetSupport": true } },
            },
        }))
    }

    /// An editor with capabilities.
    pub fn with(capabilities: Value) -> Self {
        Self::in_folders(capabilities, &[])
    }

    /// An editor with capabilities that works in folders.
    pub fn in_folders(capabilities: Value, folders: &[String]) -> Self {
        Self::silent().begun(capabilities, folders)
    }

    /// An editor with a folder for what is remembered.
    pub fn remembering(cache: &Path) -> Self {
        Self::silent_with(cache).begun(json!({}), &[])
    }

    fn begun(self, capabilities: Value, folders: &[String]) -> Self {
        let folders: Vec<Value> = folders.iter().map(|uri| json!({ "uri": uri, "name": uri })).collect();
        let answer = self.request(
            "initialize",
            json!({
                "capabilities": capabilities,
                "initializationOptions": { "status": true },
                "workspaceFolders": folders,
            }),
        );
        assert!(answer["capabilities"].is_object(), "{answer}");
        self.notify("initialized", json!({}));
        self
    }

    /// Sends a message whose body is anything.
    pub fn send_body(&self, body: &[u8]) {
        let header = format!("Content-Length: {}\r\n\r\n", body.len());
        self.server.send_bytes(&[header.as_bytes(), body].concat());
    }

    /// Says something.
    pub fn notify(&self, method: &str, params: Value) {
        self.server.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Asks something without waiting for the answer.
    pub fn ask(&self, method: &str, params: Value) -> i64 {
        *self.next.borrow_mut() += 1;
        let id = *self.next.borrow();
        self.server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a question, whether it is a result or an error.
    pub fn answer(&self, id: i64) -> Value {
        self.wait("an answer", |message| message.get("method").is_none() && message["id"] == id)
    }

    /// Asks, waits, and returns the result.
    pub fn request(&self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(self.ask(method, params));
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Waits for a message.
    pub fn wait(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.wait_until(PATIENCE, &wanted);
        found.unwrap_or_else(|| {
            panic!("{what} did not come; kept: {:?}", self.server.kept().iter().rev().take(5).collect::<Vec<_>>())
        })
    }

    /// Waits for a message for some time.
    pub fn wait_until(&self, time: Duration, wanted: &dyn Fn(&Value) -> bool) -> Option<Value> {
        self.server.wait(time, wanted, |message| {
            if self.answers && message.get("method").is_some() && message.get("id").is_some() {
                self.server.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
        })
    }

    /// Forgets what came before the message that was waited for last.
    pub fn forget_older(&self) {
        self.server.forget_older();
    }

    /// Forgets what came and was not waited for.
    pub fn forget(&self) {
        self.server.forget();
    }

    /// Opens a document.
    pub fn open(&self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "promela", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text.
    pub fn replace(&self, uri: &str, version: i32, text: &str) {
        let params =
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] });
        self.notify("textDocument/didChange", params);
    }

    /// Replaces a stretch of text.
    pub fn edit(&self, uri: &str, version: i32, from: (u32, u32), to: (u32, u32), text: &str) {
        let range = json!({
            "start": { "line": from.0, "character": from.1 },
            "end": { "line": to.0, "character": to.1 },
        });
        let change = json!({ "range": range, "text": text });
        let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [change] });
        self.notify("textDocument/didChange", params);
    }

    /// Saves.
    pub fn save(&self, uri: &str) {
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    /// Diagnostics of a document that are as wanted.
    pub fn diagnostics(&self, uri: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let message = self.wait(what, |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && wanted(&message["params"])
        });
        message["params"].clone()
    }

    /// Waits until nothing runs for a version of a document, and every property has a verdict.
    pub fn settled(&self, uri: &str, version: i32) -> Value {
        let message = self.wait("the end of the check", |message| {
            message["method"] == "fabius/status"
                && message["params"]["uri"] == uri
                && message["params"]["version"] == version
                && message["params"]["running"].is_null()
                && message["params"]["properties"].as_array().is_some_and(|all| {
                    !all.is_empty()
                        && all.iter().all(|property| property["verdict"] != Value::Null && property["stale"] == false)
                })
        });
        message["params"].clone()
    }

    /// The diagnostics of a document that came last, once nothing more comes for some time.
    pub fn last_diagnostics(&self, uri: &str, quiet: Duration) -> Vec<Value> {
        while self.wait_until(quiet, &|message| message["method"] == "fabius/status").is_some() {}
        let kept = self.server.kept();
        let published = |message: &&Value| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
        };
        let last = kept.iter().rev().find(published);
        last.and_then(|message| message["params"]["diagnostics"].as_array().cloned()).unwrap_or_default()
    }

    /// Reads what the server says from now on, or not.
    pub fn read(&self, reads: bool) {
        self.server.read(reads);
    }

    /// Closes the server's input, as an editor that goes away does.
    pub fn hang_up(&self) {
        self.server.hang_up();
    }

    /// The exit code, within some time.
    pub fn exit_code(&mut self, within: Duration) -> Option<i32> {
        self.server.exit_code(within)
    }

    /// The process of the server.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }
}
