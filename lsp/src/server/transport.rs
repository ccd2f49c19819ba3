//! The wire: standard input and output, and the two ways out of the server.
//!
//! Bytes pass an unbounded hop before standard output, so that a client which does not read cannot
//! make the server stop listening to it. `tokio::io::stdout` and the pipes of `tokio::io` have a bound.

use super::frames::Complaints;
use super::service::Incoming;
use futures::channel::mpsc::UnboundedReceiver;
use futures::{Sink, future, sink};
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use tokio::io::AsyncWrite;
use tower_lsp_server::Loopback;
use tower_lsp_server::jsonrpc::{Request, Response};

/// Where responses and requests of the server are written: a queue without bound.
pub struct Outgoing(Sender<Vec<u8>>);

impl Outgoing {
    /// Where what is no message is answered.
    pub fn complaints(&self) -> Complaints {
        Complaints::to(self.0.clone())
    }
}

/// Starts the thread that writes to standard output; it ends when [`Outgoing`] is dropped and
/// everything is written.
pub fn outgoing() -> (Outgoing, JoinHandle<()>) {
    let (queue, waiting) = mpsc::channel();
    let writer = thread::spawn(move || write_all(&waiting));
    (Outgoing(queue), writer)
}

fn write_all(waiting: &Receiver<Vec<u8>>) {
    let mut out = io::stdout().lock();
    while let Ok(mut bytes) = waiting.recv() {
        while let Ok(more) = waiting.try_recv() {
            bytes.extend_from_slice(&more);
        }
        // A client that has gone away closes standard input as well, which ends the server.
        if out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

impl AsyncWrite for Outgoing {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = self.0.send(bytes.to_vec()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe));
        Poll::Ready(sent.map(|()| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What the server asks the client, and where the client's answers go.
pub struct Socket<Answers> {
    /// Requests and notifications for the client.
    pub requests: UnboundedReceiver<Request>,
    /// Takes answers of the client.
    pub answers: Answers,
}

impl<Answers: Sink<Response> + Unpin> Loopback for Socket<Answers> {
    type RequestStream = UnboundedReceiver<Request>;
    type ResponseSink = Answers;

    fn split(self) -> (Self::RequestStream, Self::ResponseSink) {
        (self.requests, self.answers)
    }
}

/// Puts answers of the client into the inbox.
pub fn answers(inbox: Sender<Incoming>) -> impl Sink<Response, Error = Infallible> + Unpin {
    sink::unfold((), move |(), answer| {
        // Nobody reads the inbox any more while the server ends.
        let _ = inbox.send(Incoming::Answer(answer));
        future::ready(Ok(()))
    })
}
