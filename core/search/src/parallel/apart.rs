//! Values that many threads use.

/// Alone in its cache line, so that threads that only read what lies beside it are not disturbed.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(pub(super) T);
