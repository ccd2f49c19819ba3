//! A server of the Model Context Protocol over standard input and output: tools with which an assistant checks a model,
//! walks through it, asks for causes or for a schedule, and has a code explained.
//!
//! * [`server`] reads and answers JSON-RPC messages, a line each. Tools are called one after the other; meanwhile messages are
//!   read, so that a call can be cancelled.
//! * [`tools`] is the list of tools, with the schemas of their arguments.
//! * [`model`] reads a model, from a file or as a text, and says how much time a call may take.
//! * [`calls`] does the work of `check`, `causes` and `schedule`, [`explore`] that of `explore`.
//!
//! Nothing is written to a file, and nothing is remembered between calls. All work is done through [`fabius_supervise`], so that it
//! ends after its time and within the memory allowed. The protocol needs six messages here: the library for it
//! (`rmcp`) brings an asynchronous runtime and code for transports that are not used.

mod calls;
mod explore;
mod model;
mod server;
mod tools;

/// Serves one client over standard input and output; returns the exit code. `explain` gives the page of a code such as F0602.
pub fn serve(explain: fn(&str) -> Option<String>) -> u8 {
    server::serve(std::io::stdin(), std::io::stdout(), explain)
}
