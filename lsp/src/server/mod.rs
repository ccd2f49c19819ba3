//! The language server: messages in, messages out. The only code that knows the protocol and JSON.
//!
//! * [`service::Front`] puts everything that arrives into one queue, in the order of arrival.
//! * [`main_loop::MainLoop`] takes one message after the other and answers it. It owns [`state::State`]: the session, and what the
//!   client can do and was shown. Answers get the state, not the loop.
//! * Checks run on threads of their own and tell what they find through the same queue.
//! * [`client::Client`] never waits for the client.

mod answers;
mod capabilities;
mod client;
mod colored;
mod completion;
mod context;
mod convert;
mod features;
mod frames;
mod hierarchy;
mod lines;
mod main_loop;
mod manual;
mod memory;
mod messages;
mod names;
mod offers;
mod own;
mod positions;
mod questions;
mod service;
mod settings;
mod state;
mod status;
mod tokens;
mod traces;
mod transport;
mod workspace;

pub use manual::anchor;

use futures::channel::mpsc as queue;
use main_loop::MainLoop;
use service::{Front, Lifecycle, Pending};
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tower_lsp_server::Server;
use transport::Socket;

/// Stack of the thread that reads texts and answers: a model may nest deeply before a limit is reached.
const STACK_BYTES: usize = 64 << 20;
/// No client has more requests outstanding than this.
const CONCURRENCY_MAX: usize = 1 << 20;
/// After `exit`, so much time is left to write what is still to be written.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// The exit code after a conversation that ended as it should.
const EXIT_WELL: u8 = 0;
/// The exit code if the client went away, or said `exit` without `shutdown`.
const EXIT_BADLY: u8 = 1;

/// Serves one client over standard input and output; returns the exit code. `findings` is the page about all codes, to
/// which diagnostics lead.
pub fn serve(findings: &'static str) -> u8 {
    manual::learn(findings);
    let (inbox, arriving) = mpsc::channel();
    let (asking, asked) = queue::unbounded();
    let (outgoing, writer) = transport::outgoing();
    let complaints = outgoing.complaints();
    let messages = frames::listen(complaints.clone());
    let pending = Pending::default();
    let lifecycle = Lifecycle::default();
    let main_loop = MainLoop::new(asking, pending.clone(), inbox.clone(), arriving);
    let started = thread::Builder::new().name("main loop".to_owned()).stack_size(STACK_BYTES).spawn(|| main_loop.run());
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return EXIT_BADLY };
    if started.is_err() {
        return EXIT_BADLY;
    }
    let stage = lifecycle.clone();
    let leave = move || leave_soon(if stage.ended_well() { EXIT_WELL } else { EXIT_BADLY });
    let front = Front { inbox: inbox.clone(), pending, lifecycle: lifecycle.clone(), exit: Box::new(leave) };
    let socket = Socket { requests: asked, answers: transport::answers(inbox) };
    let server = Server::new(messages, outgoing, socket).concurrency_level(CONCURRENCY_MAX);
    runtime.block_on(server.serve(front));
    runtime.shutdown_background();
    complaints.end();
    let code = if lifecycle.ended_well() { EXIT_WELL } else { EXIT_BADLY };
    leave_soon(code);
    // The queue to standard output is gone with the server; what is in it is still written.
    let _ = writer.join();
    code
}

/// Ends the process, whatever else may still be going on.
fn leave_soon(code: u8) {
    thread::spawn(move || {
        thread::sleep(LAST_WORDS);
        process::exit(i32::from(code));
    });
}
