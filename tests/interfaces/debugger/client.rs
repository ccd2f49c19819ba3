//! A scripted debugger: the real binary behind a pipe. Whatever it says is checked against the schema of the protocol.

use super::schema::Schema;
use fabius_testkit::piped::{Client, PATIENCE};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A debugger that talks to an adapter of its own.
pub struct Debugger {
    adapter: Client,
    seq: i64,
    heard: i64,
    schema: Schema,
}

impl Debugger {
    /// Starts an adapter; nothing is said yet.
    pub fn silent() -> Self {
        let mut adapter = Command::new(env!("CARGO_BIN_EXE_fabius"));
        adapter.arg("dap").env("FABIUS_CACHE", "off");
        Self { adapter: Client::start(&mut adapter), seq: 0, heard: 0, schema: Schema::read() }
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
        self.adapter.send_bytes(bytes);
    }

    /// Asks without waiting for the answer.
    pub fn ask(&mut self, command: &str, arguments: Value) -> i64 {
        self.seq += 1;
        let message = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        self.adapter.send(&message);
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
        let texts = self.adapter.take_kept(is);
        texts.iter().map(|message| message["body"]["output"].as_str().unwrap_or("")).collect()
    }

    /// Waits for a message.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let Self { adapter, heard, schema, .. } = self;
        let found = adapter.wait(PATIENCE, wanted, |message| check(message, heard, schema));
        found.unwrap_or_else(|| panic!("{what} did not come; kept: {:?}", adapter.kept()))
    }

    /// Says goodbye, and returns the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.request("disconnect", json!({}));
        self.gone()
    }

    /// Closes the input, and returns the exit code.
    pub fn gone(mut self) -> Option<i32> {
        self.adapter.hang_up();
        let code = self.adapter.exit_code(PATIENCE);
        assert!(code.is_some(), "the adapter does not end");
        code
    }
}

/// Numbers are in sequence, and every message is as the protocol says.
fn check(message: &Value, heard: &mut i64, schema: &Schema) {
    *heard += 1;
    assert_eq!(message["seq"], *heard, "{message}");
    let errors = schema.errors(message);
    assert!(errors.is_empty(), "{message}\n{}", errors.join("\n"));
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
