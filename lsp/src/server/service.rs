//! The front of the server: everything that arrives goes into one queue, in the order of arrival.
//!
//! The transport calls [`Front::call`] for one message after the other. It puts the message into the
//! inbox before it returns, so that no later message can overtake it; the answer comes through a
//! channel of its own. Cancelling closes that channel at once, and the work behind it is not done.
//!
//! *Why not the service of the library.* `tower_lsp_server::LspService` makes a future of each message, and its transport polls
//! those that are open in an order that it does not promise: an edit and a question after it could change places. Handlers share the server behind
//! `&self`, so that it would have to be locked. Its cancellation drops a future, but what the future has put into a queue would
//! still be done; so that it is not, somebody has to know which requests are open ([`Pending`]), as here. A handler that asks the
//! client something waits for it, while a client may wait for the handler. What the library has is used below and above this: its
//! transport calls this service, and the types of JSON-RPC and of the protocol are its own. What is left to this module: the
//! queue, who waits for an answer, and how far the conversation is.

use crate::session::events::CheckEvent;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response, Result};
use tower_lsp_server::ls_types::LSPAny;
use tower_service::Service;

/// What a request becomes when its answer is known.
pub type Reply = BoxFuture<'static, std::result::Result<Option<Response>, Infallible>>;

/// What arrives at the main loop.
#[derive(Debug)]
pub enum Incoming {
    /// A request; its answer goes through [`Pending`].
    Request(Id, String, LSPAny),
    /// A notification.
    Notification(String, LSPAny),
    /// The client's answer to a request of the server.
    Answer(Response),
    /// News of a check.
    CheckEvent(Box<CheckEvent>),
}

/// Requests that wait for an answer.
#[derive(Clone, Default)]
pub struct Pending(Arc<Mutex<HashMap<Id, oneshot::Sender<Result<LSPAny>>>>>);

impl Pending {
    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<Id, oneshot::Sender<Result<LSPAny>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expect(&self, id: Id) -> oneshot::Receiver<Result<LSPAny>> {
        let (sender, receiver) = oneshot::channel();
        self.map().insert(id, sender);
        receiver
    }

    /// Whether somebody still waits for the answer.
    pub fn is_wanted(&self, id: &Id) -> bool {
        self.map().get(id).is_some_and(|sender| !sender.is_canceled())
    }

    /// Answers a request, if somebody still waits.
    pub fn answer(&self, id: &Id, answer: Result<LSPAny>) {
        if let Some(sender) = self.map().remove(id) {
            let _ = sender.send(answer);
        }
    }

    /// Nobody gets an answer any more.
    pub fn close(&self) {
        self.map().clear();
    }
}

/// How far the conversation is.
#[derive(Clone, Default)]
pub struct Lifecycle(Arc<AtomicU8>);

const FRESH: u8 = 0;
const RUNNING: u8 = 1;
const SHUT_DOWN: u8 = 2;

impl Lifecycle {
    fn is(&self, stage: u8) -> bool {
        self.0.load(Ordering::SeqCst) == stage
    }

    fn enter(&self, stage: u8) {
        self.0.store(stage, Ordering::SeqCst);
    }

    /// Whether the client asked the server to shut down before it told it to exit.
    pub fn ended_well(&self) -> bool {
        self.is(SHUT_DOWN)
    }
}

/// The front of the server.
pub struct Front {
    /// Where everything goes.
    pub inbox: Sender<Incoming>,
    /// Who waits for answers.
    pub pending: Pending,
    /// How far the conversation is.
    pub lifecycle: Lifecycle,
    /// Called when the client says `exit`.
    pub exit: Box<dyn Fn() + Send>,
}

impl Service<Request> for Front {
    type Response = Option<Response>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Reply {
        let (method, id, params) = request.into_parts();
        let params = params.unwrap_or(LSPAny::Null);
        match id {
            Some(id) => self.request(id, &method, params),
            None => {
                self.notification(&method, params);
                futures::future::ready(Ok(None)).boxed()
            }
        }
    }
}

impl Front {
    fn request(&self, id: Id, method: &str, params: LSPAny) -> Reply {
        let refused = match method {
            "initialize" if !self.lifecycle.is(FRESH) => Some(error(ErrorCode::InvalidRequest, "initialized already")),
            "initialize" => {
                self.lifecycle.enter(RUNNING);
                None
            }
            _ if self.lifecycle.is(FRESH) => Some(error(ErrorCode::ServerError(-32002), "not initialized yet")),
            _ if self.lifecycle.is(SHUT_DOWN) => Some(error(ErrorCode::InvalidRequest, "shut down already")),
            _ => None,
        };
        if let Some(refused) = refused {
            return at_once(id, Err(refused));
        }
        if method == "shutdown" {
            self.lifecycle.enter(SHUT_DOWN);
        }
        let answer = self.pending.expect(id.clone());
        if self.inbox.send(Incoming::Request(id.clone(), method.to_owned(), params)).is_err() {
            self.pending.close();
        }
        answer
            .map(move |answer| {
                let gone = || Err(error(ErrorCode::InternalError, "the server is ending"));
                Ok(Some(Response::from_parts(id, answer.unwrap_or_else(|_| gone()))))
            })
            .boxed()
    }

    fn notification(&self, method: &str, params: LSPAny) {
        match method {
            "exit" => {
                (self.exit)();
                self.pending.close();
            }
            "$/cancelRequest" => {
                if let Some(id) = params.get("id").and_then(|id| serde_json::from_value(id.clone()).ok()) {
                    self.pending.answer(&id, Err(error(ErrorCode::RequestCancelled, "cancelled")));
                }
                // Work that was started for it is to stop.
                let _ = self.inbox.send(Incoming::Notification(method.to_owned(), params));
            }
            _ if self.lifecycle.is(RUNNING) => {
                // Nobody reads the inbox any more while the server ends.
                let _ = self.inbox.send(Incoming::Notification(method.to_owned(), params));
            }
            _ => {}
        }
    }
}

fn at_once(id: Id, answer: Result<LSPAny>) -> Reply {
    futures::future::ready(Ok(Some(Response::from_parts(id, answer)))).boxed()
}

/// An error with a sentence.
pub fn error(code: ErrorCode, sentence: impl Into<String>) -> Error {
    Error { code, message: sentence.into().into(), data: None }
}
