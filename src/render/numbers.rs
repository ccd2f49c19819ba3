//! Numbers as a person reads them.

pub use fabius_engine::words::{counted, grouped as count, memory, rough, seconds};
