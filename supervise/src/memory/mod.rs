//! Memory: how much a check may use, and what happens when there is none left.

mod guard;
mod limit;
mod watch;

pub use guard::{Duties, Guarded, guard, start_guardian};
pub use limit::{available_bytes, default_bytes};
pub use watch::Watch;
pub(crate) use watch::{PAUSE, attended, look};
