//! The debug adapter: the Debug Adapter Protocol over standard input and output, on top of [`fabius_explore`].
//!
//! Threads are processes, and a step is a step of the model. `docs/debugging.md` says what each request means, and
//! `docs/protocol.md` what is our own.
//!
//! * [`protocol`] has a type for each message of the protocol, and for those of our own.
//! * [`wire`] reads and writes messages; whatever arrives, it never fails on anything but the end of input.
//! * [`adapter`] takes one message after the other and answers it. While the model runs, it does so in short stretches, and
//!   looks for messages (`pause`) in between.
//! * [`debuggee`] is the model being walked through; [`points`] are breakpoints of all kinds; [`show`] is what a client sees
//!   of a state, [`values`] its variables; [`launch`] reads and checks a model.

mod adapter;
mod answers;
mod debuggee;
mod hover;
mod launch;
mod points;
mod protocol;
mod repl;
mod run;
mod show;
mod values;
mod wire;

/// The exit code after a conversation that ended as it should.
const EXIT_WELL: u8 = 0;
/// The exit code if the client went away without saying so.
const EXIT_BADLY: u8 = 1;

/// Serves one client over standard input and output; returns the exit code.
pub fn serve() -> u8 {
    let inbox = wire::listen();
    let mut adapter = adapter::Adapter::new(wire::Writer::new(std::io::stdout()), inbox.1);
    if adapter.serve(&inbox.0) { EXIT_WELL } else { EXIT_BADLY }
}
