//! The features of the editor as plain data, one file each. Nothing in here knows a protocol.

pub mod diagnostics;
