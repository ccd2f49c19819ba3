//! How many threads search, and when they begin.

/// After this many transitions, which take a fiftieth to a twentieth of a second, other threads join a search. A violation that it finds
/// before does not depend on their number.
pub const ALONE_TRANSITIONS: u64 = 100_000;

/// After this many transitions, several threads go on with a search for infinite runs, if they may. They join a nested depth-first search;
/// others begin anew: what was known by then is lost, and little beside a search for which threads are worth while.
pub const ALONE_BEFORE_ANEW_TRANSITIONS: u64 = 50_000;

/// How many threads may search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ThreadCount {
    /// As many, from the beginning.
    Exactly(usize),
    /// One at first; once a search has listed [`ALONE_TRANSITIONS`] or, for infinite runs, [`ALONE_BEFORE_ANEW_TRANSITIONS`], up to so
    /// many, if it can use them.
    UpTo(usize),
}

impl ThreadCount {
    /// Up to as many as the machine has cores.
    pub fn of_machine() -> Self {
        Self::UpTo(cores())
    }

    /// Up to half as many as the machine has cores: for who serves somebody that does something else meanwhile.
    pub fn of_half_the_machine() -> Self {
        Self::UpTo(cores().div_ceil(2))
    }

    /// At most this many.
    pub fn most(self) -> usize {
        match self {
            Self::Exactly(count) | Self::UpTo(count) => count,
        }
    }

    /// This many, if that was asked for.
    pub fn exactly(self) -> usize {
        match self {
            Self::Exactly(count) => count,
            Self::UpTo(_) => 1,
        }
    }

    /// How many search together, if more than one, and after how many transitions of the first one the others join it.
    pub fn together(self) -> Option<(usize, u64)> {
        match self {
            Self::Exactly(count) if 1 < count => Some((count, 0)),
            Self::UpTo(count) if 1 < count => Some((count, ALONE_TRANSITIONS)),
            _ => None,
        }
    }
}

impl Default for ThreadCount {
    fn default() -> Self {
        Self::UpTo(1)
    }
}

/// How many threads run at once; 1 if the system does not say.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
