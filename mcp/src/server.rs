//! Messages: what arrives, what is answered, and one call of a tool at a time.

use crate::tools::{self, Called};
use fabius_base::Cancel;
use fabius_supervise::{Task, Unfinished, begin};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// A longer line is no message.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// Calls that wait.
const WAITING_MAX: usize = 64;
/// Versions of the protocol that are spoken, the latest first: what differs between them is not used here.
const VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const INSTRUCTIONS: &str = "Fabius checks models of concurrent systems in Promela, the language of Spin. `check` says whether \
assertions, the absence of deadlocks and formulas hold, with a run for each that does not; `explore` shows which steps are possible after \
a sequence of steps; `causes` says in which different ways a property can be violated; `schedule` says whether a scheduler can avoid the errors; `explain` says what a code such as F0602 means.";

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const BUSY: i64 = -32000;

/// What arrives.
enum Incoming {
    /// A line.
    Line(Vec<u8>),
    /// A line that is too long.
    TooLong,
    /// A tool has ended.
    Done(Result<Called, Unfinished>),
    /// Nothing will arrive any more.
    End,
}

/// A call of a tool.
struct Call {
    id: Value,
    tool: String,
    arguments: Value,
}

struct Server<W> {
    out: W,
    inbox: Sender<Incoming>,
    explain: fn(&str) -> Option<String>,
    /// The call that is being worked on, and what stops it.
    running: Option<(Value, Cancel)>,
    waiting: VecDeque<Call>,
    /// The client cannot be written to.
    gone: bool,
}

/// Serves until the input ends and all calls are answered; returns the exit code.
pub(crate) fn serve(input: impl Read + Send + 'static, out: impl Write, explain: fn(&str) -> Option<String>) -> u8 {
    let (inbox, messages) = mpsc::channel();
    let sender = inbox.clone();
    thread::spawn(move || listen(input, &sender));
    let mut server = Server { out, inbox, explain, running: None, waiting: VecDeque::new(), gone: false };
    server.serve(&messages);
    u8::from(server.gone)
}

/// Passes on each line, until the input ends.
fn listen(input: impl Read, inbox: &Sender<Incoming>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let incoming = match read {
            Ok(0) | Err(_) => Incoming::End,
            Ok(_) if line.len() as u64 == LINE_BYTES_MAX && line.last() != Some(&b'\n') => {
                skip_line(&mut input);
                Incoming::TooLong
            }
            Ok(_) => Incoming::Line(line),
        };
        let last = matches!(incoming, Incoming::End);
        if inbox.send(incoming).is_err() || last {
            return;
        }
    }
}

/// Passes over the rest of a line, without keeping it.
fn skip_line(input: &mut impl BufRead) {
    while let Ok(bytes) = input.fill_buf() {
        let length = bytes.len();
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => return input.consume(at + 1),
            None if length == 0 => return,
            None => input.consume(length),
        }
    }
}

impl<W: Write> Server<W> {
    fn serve(&mut self, messages: &Receiver<Incoming>) {
        let mut ended = false;
        while !(self.gone || ended && self.running.is_none() && self.waiting.is_empty()) {
            match messages.recv() {
                Ok(Incoming::Line(line)) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(Incoming::Line(line)) => match serde_json::from_slice::<Value>(&line) {
                    Ok(message) => self.handle(&message),
                    Err(error) => self.refuse(&Value::Null, PARSE_ERROR, &format!("invalid JSON: {error}")),
                },
                Ok(Incoming::TooLong) => self.refuse(&Value::Null, INVALID_REQUEST, "the message is too long"),
                Ok(Incoming::Done(done)) => self.finish(done),
                Ok(Incoming::End) | Err(_) => ended = true,
            }
            self.begin_next();
        }
        if let Some((_, cancel)) = &self.running {
            cancel.cancel();
        }
    }

    fn send(&mut self, message: &Value) {
        let written = writeln!(self.out, "{message}").and_then(|()| self.out.flush());
        self.gone |= written.is_err();
    }

    fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&mut self, id: &Value, code: i64, why: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } }));
    }

    fn handle(&mut self, message: &Value) {
        let method = message["method"].as_str();
        let Some(id) = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned() else {
            return match method {
                Some("notifications/cancelled") => self.cancel(&message["params"]["requestId"]),
                Some(_) => {}
                None => self.refuse(&Value::Null, INVALID_REQUEST, "a message needs a method"),
            };
        };
        match method {
            Some("initialize") => self.answer(&id, initialized(&message["params"])),
            Some("ping") => self.answer(&id, json!({})),
            Some("tools/list") => self.answer(&id, json!({ "tools": tools::list() })),
            Some("tools/call") => self.call(id, &message["params"]),
            Some(other) => self.refuse(&id, METHOD_NOT_FOUND, &format!("unknown method `{other}`")),
            None if message.get("result").is_some() || message.get("error").is_some() => {}
            None => self.refuse(&id, INVALID_REQUEST, "a request needs a method"),
        }
    }

    fn call(&mut self, id: Value, params: &Value) {
        let Some(tool) = params["name"].as_str().filter(|name| tools::exists(name)) else {
            let why = format!("unknown tool {}", params["name"]);
            return self.refuse(&id, INVALID_PARAMS, &why);
        };
        if WAITING_MAX <= self.waiting.len() {
            return self.refuse(&id, BUSY, "too many calls are waiting");
        }
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        self.waiting.push_back(Call { id, tool: tool.to_owned(), arguments });
    }

    /// Stops a call; as the protocol says, it is not answered then.
    fn cancel(&mut self, id: &Value) {
        self.waiting.retain(|call| call.id != *id);
        if let Some((running, cancel)) = &mut self.running
            && running == id
        {
            cancel.cancel();
            *running = Value::Null;
        }
    }

    fn begin_next(&mut self) {
        while self.running.is_none() {
            let Some(Call { id, tool, arguments }) = self.waiting.pop_front() else { return };
            let cancel = Cancel::new();
            let (stop, explain, inbox) = (cancel.clone(), self.explain, self.inbox.clone());
            let work = move || {
                let called = panic::catch_unwind(AssertUnwindSafe(|| tools::call(&tool, &arguments, explain, &stop)));
                called.unwrap_or_else(|_| Called::failed("this is an error of fabius itself"))
            };
            let tell = move |done| drop(inbox.send(Incoming::Done(done)));
            // The tool has a timer of its own, which begins when its arguments are read.
            let task = Task::new("tool", cancel.clone());
            match begin(task, work, tell) {
                Ok(()) => self.running = Some((id, cancel)),
                Err(error) => self.answer(&id, Called::failed(&format!("no work can begin: {error}")).into_result()),
            }
        }
    }

    fn finish(&mut self, done: Result<Called, Unfinished>) {
        let Some((id, _)) = self.running.take() else { return };
        if id.is_null() {
            return;
        }
        let called = done.unwrap_or_else(|why| Called::failed(&format!("there is no result: {}", why.sentence())));
        self.answer(&id, called.into_result());
    }
}

/// The answer to the first message: the version that is asked for if it is spoken here, else the latest.
fn initialized(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": "fabius", "title": "Fabius", "version": fabius_engine::VERSION },
        "instructions": INSTRUCTIONS,
    })
}
