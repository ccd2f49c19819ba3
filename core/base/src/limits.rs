//! How much a search may use.

/// Bounds on a search; `None` means no bound. Time is bounded from outside, by
/// [`crate::Cancel::time_out`]: no clock is read in here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Stored states.
    pub states_max: Option<u64>,
    /// Length of a path, in transitions.
    pub depth_max: Option<u64>,
    /// Memory of visited set and stack together, in bytes.
    pub memory_bytes_max: Option<u64>,
}
