//! All counters of a search as plain data; a checkpoint keeps only some of them.

use crate::outcome::Statistics;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes all counters.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(statistics: &Statistics, serializer: S) -> Result<S::Ok, S::Error> {
    (statistics, statistics.violations, statistics.memory_bytes).serialize(serializer)
}

/// Reads all counters.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Statistics, D::Error> {
    let (statistics, violations, memory_bytes) = <(Statistics, u64, u64)>::deserialize(deserializer)?;
    Ok(Statistics { violations, memory_bytes, ..statistics })
}
