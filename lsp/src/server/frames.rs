//! What arrives on standard input, one message after the other. What is no message is answered, and what comes after it is
//! read: the library behind the server stops at the first body that it cannot read.

use futures::StreamExt;
use futures::channel::mpsc::{self, UnboundedReceiver};
use serde_json::json;
use std::io::{self, BufRead, BufReader, Read};
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::thread;
use tokio::io::{AsyncRead, ReadBuf};
use tower_lsp_server::jsonrpc::{Request, Response};

/// A longer header line is none.
const HEADER_BYTES_MAX: u64 = 4096;

/// Where complaints about what arrives are written, as long as the server goes on.
#[derive(Clone)]
pub struct Complaints(Arc<Mutex<Option<Sender<Vec<u8>>>>>);

impl Complaints {
    /// Complaints go into the queue to standard output.
    pub fn to(out: Sender<Vec<u8>>) -> Self {
        Self(Arc::new(Mutex::new(Some(out))))
    }

    /// Nobody complains any more: whoever reads the queue need not wait for it.
    pub fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Answers what is no message.
    fn complain(&self, why: &str) {
        let error = json!({ "code": -32700, "message": format!("invalid message: {why}") });
        let text = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        let out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(out) = out.as_ref() {
            // A client that does not read any more need not hear it.
            let _ = out.send(framed(text.as_bytes()));
        }
    }
}

/// The messages that arrive, as bytes.
pub struct Messages {
    queue: UnboundedReceiver<Vec<u8>>,
    /// The message that is being read, and how far.
    present: (Vec<u8>, usize),
}

/// Starts the thread that reads standard input; it ends with the input, or when nobody wants messages any more.
pub fn listen(complaints: Complaints) -> Messages {
    let (sender, queue) = mpsc::unbounded();
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Some(body) = next(&mut input, &complaints) {
            if sender.unbounded_send(framed(&body)).is_err() {
                return;
            }
        }
    });
    Messages { queue, present: (Vec::new(), 0) }
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// The body of the next message, after complaints about what comes before it; `None` at the end of the input.
fn next(input: &mut impl BufRead, complaints: &Complaints) -> Option<Vec<u8>> {
    loop {
        let Some(length) = header(input)? else {
            complaints.complain("missing or invalid Content-Length");
            continue;
        };
        let mut body = Vec::new();
        let read = input.by_ref().take(length).read_to_end(&mut body).ok()?;
        if (read as u64) < length {
            return None;
        }
        // As the library reads it.
        let known = serde_json::from_slice::<Request>(&body).map(drop);
        match known.or_else(|why| serde_json::from_slice::<Response>(&body).map(drop).map_err(|_| why)) {
            Ok(()) => return Some(body),
            Err(why) => complaints.complain(&why.to_string()),
        }
    }
}

/// The length that the next header says, if it says one; `None` at the end of the input.
#[expect(clippy::option_option, reason = "the end of the input is not a header without a length")]
fn header(input: &mut impl BufRead) -> Option<Option<u64>> {
    let mut length = None;
    let mut empty = true;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(HEADER_BYTES_MAX).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        match line.trim().split_once(':') {
            // Lines between messages are nobody's.
            None if line.trim().is_empty() && empty => {}
            None if line.trim().is_empty() => return Some(length),
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                (length, empty) = (value.trim().parse().ok(), false);
            }
            _ => empty = false,
        }
    }
}

impl AsyncRead for Messages {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.present.0.len() <= self.present.1 {
            match ready!(self.queue.poll_next_unpin(context)) {
                Some(message) => self.present = (message, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let (message, at) = &mut self.present;
        let count = out.remaining().min(message.len() - *at);
        out.put_slice(&message[*at..*at + count]);
        *at += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn what_is_no_message_is_answered_and_passed_over() {
        let good = br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
        let mut input = Vec::new();
        let bodies: [&[u8]; 6] = [b"{bad}", b"[]", b"5", b"\"\xff\xfe\"", b"{}", b""];
        for body in bodies {
            input.extend(framed(body));
        }
        input.extend(b"Content-Length: many\r\n\r\n");
        input.extend(framed(good));
        let (sender, said) = channel();
        let complaints = Complaints::to(sender);
        let mut input = input.as_slice();
        assert_eq!(next(&mut input, &complaints).as_deref(), Some(good.as_slice()));
        assert_eq!(next(&mut input, &complaints), None);
        complaints.end();
        let said: Vec<String> = said.iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        assert_eq!(said.len(), bodies.len() + 1, "{said:?}");
        assert!(said.iter().all(|text| text.contains("-32700") && text.contains("\"id\":null")), "{said:?}");
    }
}
