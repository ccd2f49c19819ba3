//! What happens while a check runs: events that are told, looks into a search, and what somebody who watches may change.
//!
//! Nothing in here decides anything: [`EngineObserver`] stands between a search, which knows states and steps, and whoever asked
//! for the check, who is told of the model's text.

mod cadence;
mod engine_observer;
mod event;
mod look;

pub use cadence::Cadence;
pub use engine_observer::EngineObserver;
pub use event::*;
pub use look::{Controls, Look, LookStep, RejectedCycle, as_walked};

use fabius_base::{Cancel, Limits};
use fabius_program::Program;
use fabius_task::load::Loaded;
use fabius_task::settings::Settings;
use std::time::Duration;

/// What a check needs from outside: it has no clock, and nobody to talk to, of its own.
pub struct CheckContext<'a> {
    /// Whoever raises this stops the check.
    pub cancel: &'a Cancel,
    /// Time since some moment before the check.
    pub now: &'a (dyn Fn() -> Duration + Sync),
    /// Is told what happens.
    pub observe: &'a mut dyn FnMut(Event),
    /// For somebody who watches the searches from another thread.
    pub controls: Option<&'a Controls>,
}

impl CheckContext<'_> {
    /// These limits, with the bound on depth that whoever watches has set since.
    pub fn in_force(&self, limits: Limits) -> Limits {
        self.controls.map_or(limits, |controls| controls.in_force(limits))
    }

    /// These limits as a sentence is to name them that says what a search left out.
    pub fn named(&self, limits: Limits) -> Limits {
        let met = self.controls.and_then(Controls::depth_met);
        let limits = self.in_force(limits);
        Limits { depth_max: met.or(limits.depth_max), ..limits }
    }
}

/// Everything that the parts of a check need to know.
pub struct Task<'a> {
    /// The model as it was read.
    pub loaded: &'a Loaded,
    /// The program that is searched.
    pub program: &'a Program,
    /// The property.
    pub property: &'a str,
    /// What was asked for.
    pub settings: &'a Settings,
}
