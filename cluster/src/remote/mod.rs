//! Workers on other machines.
//!
//! On each machine, somebody starts `fabius worker --listen` ([`Server`]); `fabius check --hosts` connects with all of them
//! ([`HostPool`]). Nothing else listens.
//!
//! ```text
//! process that checks ═══ server of A ─── worker 1          ═══  connection over a network (`connection`)
//!         ║                   ║    └───── worker 2          ───  pair of sockets
//!         ╚══════════════ server of B ─── worker 3
//! ```
//!
//! Each worker has a connection to the process that checks, and one to each worker of another machine; so whoever reads slowly holds up
//! nobody else, and what the network cannot take waits where it is written (`carrier`). A worker does not notice: it has the same
//! sockets as on one machine.

mod carrier;
mod connection;
mod framing;
mod hosts;
mod key;
mod pool;
mod registry;
mod request;
mod server;
#[cfg(test)]
mod tests;

pub use hosts::{Host, PORT, read as read_hosts, with_port};
pub use key::Key;
pub use pool::HostPool;
pub use server::{Server, Terms};
