//! How a search ended, as a number: 0 if everything was looked at, 1 after a violation, and then the reasons to stop.

use super::search::REASONS;
use crate::outcome::Completeness;
use fabius_base::StopReason;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the number.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(completeness: &Completeness, serializer: S) -> Result<S::Ok, S::Error> {
    let number = match completeness {
        Completeness::Exhaustive => 0,
        Completeness::FirstViolation => 1,
        Completeness::Stopped(StopReason::Depth) => 2,
        Completeness::Stopped(reason) => {
            let place = REASONS.iter().position(|known| known == reason);
            3 + place.ok_or_else(|| serde::ser::Error::custom("no partition stops for this reason"))? as u64
        }
    };
    serializer.serialize_u64(number)
}

/// Reads the number.
///
/// # Errors
/// Those of the deserializer, and if there is no such reason.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Completeness, D::Error> {
    let number = u64::deserialize(deserializer)?;
    Ok(match number {
        0 => Completeness::Exhaustive,
        1 => Completeness::FirstViolation,
        2 => Completeness::Stopped(StopReason::Depth),
        _ => {
            let reason = usize::try_from(number - 3).ok().and_then(|place| REASONS.get(place).copied());
            Completeness::Stopped(reason.ok_or_else(|| serde::de::Error::custom("an unknown reason to stop"))?)
        }
    })
}
