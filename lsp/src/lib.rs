//! The editor's face of Fabius: what is known about a model, told while it is being written.
//!
//! [`session`] knows documents, checks and results, but no protocol: `fabius watch` uses it as well.
//! [`ide`] gives every feature of the editor as plain data, one file each. [`server`] is the only
//! code that knows the Language Server Protocol.

pub mod ide;
pub mod server;
pub mod session;
