//! A server behind a pipe, as an editor or a debugger starts one: messages sent, waited for and kept.

use crate::framing;
use serde_json::Value;
use std::cell::{Ref, RefCell};
use std::collections::VecDeque;
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than this nothing may take, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// A server, and who talks to it.
pub struct Client {
    server: Child,
    input: RefCell<Option<ChildStdin>>,
    output: Receiver<Value>,
    /// Messages that nobody waited for yet.
    kept: RefCell<VecDeque<Value>>,
    reads: Arc<Gate>,
}

/// Whether somebody reads what the server says.
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) {
        drop(self.1.wait_while(self.lock(), |reads| !*reads));
    }
}

impl Client {
    /// Starts a server; nothing is said yet.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(command: &mut Command) -> Self {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let input = server.stdin.take();
        let stdout = server.stdout.take().expect("the server has an output");
        let (sender, output) = mpsc::channel();
        let reads = Arc::new(Gate(Mutex::new(true), Condvar::new()));
        let gate = Arc::clone(&reads);
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            loop {
                gate.pass();
                let Some(message) = framing::read(&mut reader) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { server, input: RefCell::new(input), output, kept: RefCell::default(), reads }
    }

    /// Sends a message. A server that is gone hears nothing.
    pub fn send(&self, message: &Value) {
        if let Some(input) = self.input.borrow_mut().as_mut() {
            let _ = framing::write(input, message);
        }
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&self, bytes: &[u8]) {
        if let Some(input) = self.input.borrow_mut().as_mut() {
            let _ = input.write_all(bytes).and_then(|()| input.flush());
        }
    }

    /// Waits for a message for some time; those that came meanwhile are kept. `hear` is told of each message when it comes.
    pub fn wait(&self, time: Duration, wanted: impl Fn(&Value) -> bool, mut hear: impl FnMut(&Value)) -> Option<Value> {
        let at = self.kept.borrow().iter().position(&wanted);
        if let Some(at) = at {
            return self.kept.borrow_mut().remove(at);
        }
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.output.recv_timeout(left).ok()?;
            hear(&message);
            if wanted(&message) {
                return Some(message);
            }
            self.kept.borrow_mut().push_back(message);
        }
    }

    /// The messages that came and that nobody waited for, as far as they were read.
    pub fn kept(&self) -> Ref<'_, VecDeque<Value>> {
        self.kept.borrow()
    }

    /// Takes those of the kept messages that are wanted.
    pub fn take_kept(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let (taken, kept): (Vec<Value>, Vec<Value>) = self.kept.take().into_iter().partition(wanted);
        self.kept.borrow_mut().extend(kept);
        taken
    }

    /// Forgets what came before the message that was waited for last.
    pub fn forget_older(&self) {
        self.kept.borrow_mut().clear();
    }

    /// Forgets what came and was not waited for.
    pub fn forget(&self) {
        self.output.try_iter().for_each(drop);
        self.forget_older();
    }

    /// Reads what the server says from now on, or not.
    pub fn read(&self, reads: bool) {
        *self.reads.lock() = reads;
        self.reads.1.notify_all();
    }

    /// Closes the server's input, as somebody who goes away does.
    pub fn hang_up(&self) {
        self.input.borrow_mut().take();
    }

    /// The exit code, if the server ends within some time by itself.
    pub fn exit_code(&mut self, within: Duration) -> Option<i32> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            if let Ok(Some(status)) = self.server.try_wait() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// The process of the server.
    pub fn pid(&self) -> u32 {
        self.server.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
