//! A scripted debugger: the real binary behind a pipe. Whatever it says is checked against the schema of the protocol.

use super::schema::Schema;
use fabius_testkit::framing;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than this nothing may take, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A debugger that talks to an adapter of its own.
pub struct Debugger {
    adapter: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    kept: VecDeque<Value>,
    seq: i64,
    heard: i64,
    schema: Schema,
}

impl Debugger {
    /// Starts an adapter; nothing is said yet.
    pub fn silent() -> Self {
        let mut adapter = Command::new(env!("CARGO_BIN_EXE_fabius"))
            .arg("dap")
            .env("FABIUS_CACHE", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the adapter starts");
        let input = adapter.stdin.take();
        let stdout = adapter.stdout.take().expect("the adapter has an output");
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = framing::read(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { adapter, input, output, kept: VecDeque::new(), seq: 0, heard: 0, schema: Schema::read() }
    }

    /// An adapter that has been greeted.
    pub fn new() -> Self {
        let mut debugger = Self::silent();
        let arguments = json!({ "adapterID": "fabius", "linesStartAt1": true, "columnsStartAt1": true, "supportsInvalidatedEvent": true });
        let capabilities = debugger.request("initialize", arguments);
        assert_eq!(capabilities["supportsStepBack"], true, "{capabilities}");
        debugger
    }

    /// Launches a model, without breakpoints, and waits until it stands still.
    pub fn launched(program: &Path, more: Value) -> Self {
        let mut debugger = Self::new();
        debugger.launch(program, more);
        debugger.configured();
        debugger
    }

    /// Launches a model; breakpoints can be set then.
    pub fn launch(&mut self, program: &Path, more: Value) -> i64 {
        let mut arguments = json!({ "program": program });
        for (key, value) in more.as_object().into_iter().flatten() {
            arguments[key] = value.clone();
        }
        let launch = self.ask("launch", arguments);
        self.event("initialized");
        launch
    }

    /// Everything has been said: the model stands still at its first stop.
    pub fn configured(&mut self) -> Value {
        self.request("configurationDone", json!({}));
        self.event("stopped")
    }

    /// Writes bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        let Some(input) = self.input.as_mut() else { return };
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    /// Asks without waiting for the answer.
    pub fn ask(&mut self, command: &str, arguments: Value) -> i64 {
        self.seq += 1;
        let message = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        if let Some(input) = self.input.as_mut() {
            let _ = framing::write(input, &message);
        }
        self.seq
    }

    /// The answer to a question, good or bad.
    pub fn answer(&mut self, seq: i64) -> Value {
        self.wait("an answer", |message| message["type"] == "response" && message["request_seq"] == seq)
    }

    /// Asks, waits, and returns what a good answer says.
    pub fn request(&mut self, command: &str, arguments: Value) -> Value {
        let seq = self.ask(command, arguments);
        let answer = self.answer(seq);
        assert_eq!(answer["success"], true, "{command}: {answer}");
        answer["body"].clone()
    }

    /// Asks, waits, and returns why it is refused.
    pub fn refused(&mut self, command: &str, arguments: Value) -> String {
        let seq = self.ask(command, arguments);
        let answer = self.answer(seq);
        assert_eq!(answer["success"], false, "{command}: {answer}");
        answer["message"].as_str().expect("a reason").to_owned()
    }

    /// Asks for a move, waits until the model stands still, and returns where and why.
    pub fn go(&mut self, command: &str, arguments: Value) -> Stop {
        self.request(command, arguments);
        self.stop()
    }

    /// Waits until the model stands still.
    pub fn stop(&mut self) -> Stop {
        let stopped = self.event("stopped");
        let at = self.event("fabius/at");
        Stop {
            reason: stopped["reason"].as_str().expect("a reason").to_owned(),
            text: stopped["text"].as_str().unwrap_or("").to_owned(),
            thread: stopped["threadId"].as_i64().expect("a thread"),
            step: at["step"].as_u64().expect("a step"),
            of: at["of"].as_u64().expect("a length"),
            line: at["line"].as_u64().expect("a line"),
        }
    }

    /// Waits for an event.
    pub fn event(&mut self, event: &str) -> Value {
        let found = self.wait(event, |message| message["type"] == "event" && message["event"] == event);
        found["body"].clone()
    }

    /// The texts of one category that came so far.
    pub fn output(&mut self, category: &str) -> String {
        let is = |message: &Value| message["event"] == "output" && message["body"]["category"] == category;
        let texts: Vec<String> = self
            .kept
            .iter()
            .filter(|message| is(message))
            .map(|message| message["body"]["output"].as_str().unwrap_or("").to_owned())
            .collect();
        self.kept.retain(|message| !is(message));
        texts.concat()
    }

    /// Waits for a message.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at).expect("it is there");
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.output.recv_timeout(left);
            let message = message.unwrap_or_else(|_| panic!("{what} did not come; kept: {:?}", self.kept));
            self.check(&message);
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// Numbers are in sequence, and every message is as the protocol says.
    fn check(&mut self, message: &Value) {
        self.heard += 1;
        assert_eq!(message["seq"], self.heard, "{message}");
        let errors = self.schema.errors(message);
        assert!(errors.is_empty(), "{message}\n{}", errors.join("\n"));
    }

    /// Says goodbye, and returns the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.request("disconnect", json!({}));
        self.gone()
    }

    /// Closes the input, and returns the exit code.
    pub fn gone(mut self) -> Option<i32> {
        self.input = None;
        let end = Instant::now() + PATIENCE;
        loop {
            match self.adapter.try_wait().expect("the adapter can be asked") {
                Some(status) => return status.code(),
                None if end < Instant::now() => panic!("the adapter does not end"),
                None => thread::yield_now(),
            }
        }
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        let _ = self.adapter.kill();
        let _ = self.adapter.wait();
    }
}

/// Where and why a model stands still.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    pub reason: String,
    pub text: String,
    pub thread: i64,
    pub step: u64,
    pub of: u64,
    pub line: u64,
}

/// A model of the project.
pub fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(format!("{name}.pml"))
}
