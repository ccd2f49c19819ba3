//! What every user interface promises of the work behind it: it ends soon after its time is up or somebody asked it to,
//! whether it notices or not, and memory that runs out ends the work and not the program.
//!
//! * [`work`]: work on a thread of its own that is left alone if it does not end, with the time that it is allowed; how much
//!   such work there may be.
//! * [`Clock`]: the time that work has had, without the time in which it was halted.
//! * [`manners`]: work that nobody waits for runs at a lower priority, and takes less time on battery.
//! * [`memory`]: how much memory a search may use, and the allocator that asks all work to stop when there is no more.

pub mod manners;
pub mod memory;
pub mod work;

mod clock;
mod timer;

pub use clock::Clock;
pub use timer::Timer;
pub use work::{STACK_BYTES, Task, Unfinished, Voice, Waiting, begin, run, run_meanwhile};
