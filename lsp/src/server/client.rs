//! The way to the client. Nothing in here waits: what is sent goes into a queue without bound, and an
//! answer comes back through the inbox, if it comes at all.

use futures::channel::mpsc::UnboundedSender;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp_server::ls_types::{self as lsp, LSPAny};

/// What to do with the client's answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// The client has heard that it is to ask again for something.
    Refreshed(&'static str),
    /// The client has opened a text.
    Shown,
    /// It is the client's settings.
    Settings,
    /// The client tells of files from now on, or does not.
    Registered,
    /// The client can show the progress of a document's check from now on.
    Progress(String),
}

/// The way to the client.
pub struct Client {
    queue: UnboundedSender<Request>,
    next: i64,
    expected: HashMap<Id, Expected>,
    /// What the client was asked to refresh, and whether it is to do so once more.
    refreshing: HashMap<&'static str, bool>,
}

impl Client {
    /// A way through this queue.
    pub fn new(queue: UnboundedSender<Request>) -> Self {
        Self { queue, next: 0, expected: HashMap::new(), refreshing: HashMap::new() }
    }

    /// Tells the client something.
    pub fn notify(&self, method: &'static str, params: impl Serialize) {
        let request = Request::build(method).params(json(params)).finish();
        // Nobody reads the queue any more while the server ends.
        let _ = self.queue.unbounded_send(request);
    }

    /// Has the client show a message.
    pub fn show(&self, typ: lsp::MessageType, message: String) {
        self.notify("window/showMessage", lsp::ShowMessageParams { typ, message });
    }

    /// Asks the client for something.
    pub fn ask(&mut self, method: &'static str, params: impl Serialize, expected: Expected) {
        self.next += 1;
        let id = Id::Number(self.next);
        self.expected.insert(id.clone(), expected);
        let request = Request::build(method).params(json(params)).id(id).finish();
        let _ = self.queue.unbounded_send(request);
    }

    /// Asks the client to ask again for something. A client that was asked and has not answered yet is asked once more
    /// when it does.
    pub fn refresh(&mut self, method: &'static str) {
        if let Some(again) = self.refreshing.get_mut(method) {
            *again = true;
            return;
        }
        self.refreshing.insert(method, false);
        self.next += 1;
        let request = Request::build(method).id(self.next).finish();
        self.expected.insert(Id::Number(self.next), Expected::Refreshed(method));
        let _ = self.queue.unbounded_send(request);
    }

    /// What an answer is for, and what it says; `None` for an error or an answer to nothing.
    pub fn answered(&mut self, answer: Response) -> Option<(Expected, LSPAny)> {
        let (id, result) = answer.into_parts();
        let expected = self.expected.remove(&id)?;
        if let Expected::Refreshed(method) = expected {
            if self.refreshing.remove(method) == Some(true) {
                self.refresh(method);
            }
            return None;
        }
        result.ok().map(|value| (expected, value))
    }
}

/// A value as JSON; what cannot be written becomes `null`, and nothing in here is of that kind.
pub fn json(value: impl Serialize) -> LSPAny {
    serde_json::to_value(value).unwrap_or(LSPAny::Null)
}

/// Reads the parameters of a message.
pub fn read<T: DeserializeOwned>(params: LSPAny) -> Result<T, Error> {
    serde_json::from_value(params).map_err(|wrong| Error {
        code: ErrorCode::InvalidParams,
        message: wrong.to_string().into(),
        data: None,
    })
}
