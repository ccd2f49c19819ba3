//! Holding processes back, and sealing: what automatic runs and searches respect.

use crate::condition::Condition;

/// A process is held back: automatic runs and searches do not let it move. By hand it can be moved all the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Hold {
    /// The process.
    pub pid: u8,
    /// Until when.
    pub until: Until,
}

/// Until when a process is held back.
#[derive(Clone, PartialEq, Debug)]
pub enum Until {
    /// Until somebody releases it.
    Released,
    /// Until a condition is true after a step forward.
    Condition(Condition),
    /// Until others have taken so many more steps: a delay.
    Others(u32),
}

/// Nobody is held back: who moves follows a fixed order, and delays are forbidden.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Seal {
    /// In the order of creation.
    RoundRobin,
    /// What a step causes happens next.
    RunToCompletion,
}
