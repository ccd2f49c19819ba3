//! How the tree of a snapshot is written: of each state, how far its parent lies before it, and the macro step from there.
//! Both are small numbers mostly, which take one byte each.

use crate::delay_bounded::Origin;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the tree.
pub(crate) fn serialize<S: Serializer>(origins: &[Origin], serializer: S) -> Result<S::Ok, S::Error> {
    // A delay is the greatest number there is, and becomes the least.
    let step = |(number, origin): (usize, &Origin)| (number as u32 - origin.parent, origin.macro_step.wrapping_add(1));
    serializer.collect_seq(origins.iter().enumerate().map(step))
}

/// Reads the tree: every state but the first one has its parent before it.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Origin>, D::Error> {
    let steps = Vec::<(u32, u32)>::deserialize(deserializer)?;
    let origin = |(number, (distance, macro_step)): (usize, (u32, u32))| {
        let parent = u32::try_from(number).ok()?.checked_sub(distance)?;
        ((number == 0) == (distance == 0)).then_some(Origin { parent, macro_step: macro_step.wrapping_sub(1) })
    };
    let origins: Option<Vec<Origin>> = steps.into_iter().enumerate().map(origin).collect();
    origins.ok_or_else(|| D::Error::custom("a state lies before its parent"))
}
