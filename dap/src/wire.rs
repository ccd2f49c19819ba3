//! Messages in and out: the framing of the protocol, and numbers in sequence.

use crate::launch::{Checked, Opened};
use crate::protocol::{Answer, Event, Message, Request, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc;
use std::thread;

/// A longer message is no message of this protocol.
const BYTES_MAX: usize = 16 << 20;
/// A longer line is no header.
const HEADER_BYTES_MAX: u64 = 4096;

/// What arrives.
pub(crate) enum Incoming {
    /// A request, or why its arguments are not understood.
    Request(RequestId, Box<Result<Request, String>>),
    /// Something that is none, and why.
    Garbage(String),
    /// A model was read and opened, or not.
    Opened(Box<Opened>),
    /// A check has ended.
    Checked(Box<Checked>),
    /// Nothing will arrive any more.
    End,
}

/// A request, as its answer names it.
#[derive(Clone, Debug)]
pub(crate) struct RequestId {
    /// Its number.
    pub seq: i64,
    /// What is asked.
    pub command: String,
}

/// Reads standard input on a thread of its own; whatever arrives goes into one queue. The other end is for checks.
pub(crate) fn listen() -> (mpsc::Receiver<Incoming>, mpsc::Sender<Incoming>) {
    let (sender, receiver) = mpsc::channel();
    let inbox = sender.clone();
    thread::spawn(move || {
        let mut input = BufReader::new(std::io::stdin());
        loop {
            let message = next(&mut input);
            let last = matches!(message, Incoming::End);
            if inbox.send(message).is_err() || last {
                break;
            }
        }
    });
    (receiver, sender)
}

/// The next message. Lines that are no header are passed over.
fn next(input: &mut impl BufRead) -> Incoming {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(HEADER_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Incoming::End,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        match (text.split_once(':'), length) {
            (Some((name, value)), _) if name.trim().eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse::<usize>().ok();
                if length.is_none_or(|length| BYTES_MAX < length) {
                    return Incoming::Garbage(format!("invalid length of a message: {}", shortened(value)));
                }
            }
            (None, Some(length)) if text.is_empty() => return body(input, length),
            _ => {}
        }
    }
}

fn body(input: &mut impl BufRead, length: usize) -> Incoming {
    let mut bytes = Vec::new();
    match input.by_ref().take(length as u64).read_to_end(&mut bytes) {
        Ok(read) if read == length => {}
        _ => return Incoming::End,
    }
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Incoming::Garbage(format!("invalid JSON in a message: {error}")),
    };
    if value.get("type").and_then(Value::as_str) == Some("response") {
        return Incoming::Garbage("a response was not expected".to_owned());
    }
    #[derive(Deserialize)]
    struct Framed {
        seq: i64,
        command: String,
        #[serde(default)]
        arguments: Value,
    }
    match serde_json::from_value(value) {
        Ok(Framed { seq, command, arguments }) => {
            let request = Request::read(&command, arguments);
            Incoming::Request(RequestId { seq, command }, Box::new(request))
        }
        Err(error) => Incoming::Garbage(format!("invalid request: {error}")),
    }
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// Writes messages with numbers in sequence. A client that has gone away is no error here: the end of input tells.
pub(crate) struct Writer<W> {
    out: W,
    seq: i64,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, seq: 0 }
    }

    /// Sends an event.
    pub(crate) fn event(&mut self, event: Event) {
        self.send(&Message::Event(event));
    }

    /// Answers a request; an error is a sentence for the user.
    pub(crate) fn answer(&mut self, request: &RequestId, answer: Result<Answer, String>) {
        self.send(&Message::Response(Response::new(request.seq, &request.command, answer)));
    }

    fn send(&mut self, message: &Message) {
        #[derive(Serialize)]
        struct Numbered<'a> {
            seq: i64,
            #[serde(flatten)]
            message: &'a Message<'a>,
        }
        self.seq += 1;
        let Ok(text) = serde_json::to_string(&Numbered { seq: self.seq, message }) else { return };
        let _ = write!(self.out, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Output, OutputCategory};

    fn all(bytes: &[u8]) -> Vec<String> {
        let mut input = BufReader::new(bytes);
        let mut found = Vec::new();
        loop {
            found.push(match next(&mut input) {
                Incoming::Request(request, _) => format!("{} {}", request.seq, request.command),
                Incoming::Garbage(_) => "garbage".to_owned(),
                Incoming::Opened(_) => "opened".to_owned(),
                Incoming::Checked(_) => "checked".to_owned(),
                Incoming::End => return found,
            });
        }
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let good = framed(r#"{"seq":1,"type":"request","command":"a"}"#);
        let text = format!("hello\r\n{good}Content-Length: -1\r\n\r\n{}{}{good}", framed("{"), framed("[1e999]"));
        assert_eq!(all(text.as_bytes()), ["1 a", "garbage", "garbage", "garbage", "1 a"]);
        assert!(all(b"Content-Length: 99999999999999999999\r\n\r\nx").contains(&"garbage".to_owned()));
        assert!(all(b"Content-Length: 10\r\n\r\nx").is_empty());
        let extra =
            format!("content-length: 40\r\nContent-Type: x\r\n\r\n{}", r#"{"seq":1,"type":"request","command":"a"}"#);
        assert_eq!(all(extra.as_bytes()), ["1 a"]);
    }

    #[test]
    fn messages_are_numbered() {
        let mut writer = Writer::new(Vec::new());
        writer.event(Event::Initialized {});
        let output = "é".to_owned();
        writer.event(Event::Output(Output {
            category: OutputCategory::Console,
            output,
            source: None,
            line: None,
            column: None,
        }));
        let text = String::from_utf8(writer.out).expect("text");
        assert!(text.contains("\"seq\":1") && text.contains("\"seq\":2"));
        let length: usize = text[16..].split("\r\n").next().and_then(|n| n.parse().ok()).expect("a length");
        let start = text.find("\r\n\r\n").expect("a header") + 4;
        assert!(text[start + length..].starts_with("Content-Length"));
    }
}
