//! The flags of searches in the order of delays, and what they ask the engine for.

use clap::{Args, ValueEnum};
use fabius_engine::settings::{DelayMode, Delaying, SchedulerChoice};

/// The flags.
#[derive(Args, Debug, Clone, Default)]
pub struct DelayFlags {
    /// Explore in the order of delays: how often a scheduler must be disturbed. `rtc` runs to completion what a step
    /// causes, `rr` goes round, `random` takes another order in each state, `priority` the most important process
    /// (`priority:A,B` names the types that go first), `auto` picks what suits the model.
    #[arg(long, value_name = "SCHEDULER", value_parser = scheduler, help_heading = "Delays")]
    pub delay: Option<SchedulerChoice>,

    /// What a search in the order of delays remembers: `fast` finds errors, `exact` proves that so many delays are safe.
    #[arg(long, value_enum, value_name = "MODE", requires = "delay", help_heading = "Delays")]
    pub delay_mode: Option<Mode>,

    /// Allow at most so many delays.
    #[arg(long, value_name = "N", requires = "delay", help_heading = "Delays")]
    pub max_delays: Option<u32>,

    /// The seed of what is random; the same seed gives the same run.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Delays")]
    pub seed: u64,
}

/// What a search in the order of delays remembers.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// States of the model.
    Fast,
    /// States of model and scheduler.
    Exact,
}

impl DelayFlags {
    /// What the flags ask for.
    pub fn settings(&self) -> Option<Delaying> {
        let mode = match self.delay_mode {
            None | Some(Mode::Fast) => DelayMode::Fast,
            Some(Mode::Exact) => DelayMode::Exact,
        };
        let scheduler = self.delay.clone()?;
        Some(Delaying { scheduler, mode, delays_max: self.max_delays, seed: self.seed })
    }

    /// The flags as they would be written.
    pub fn words(&self) -> Vec<String> {
        let Some(delay) = &self.delay else { return Vec::new() };
        let mut words = vec![format!("--delay {}", written(delay))];
        if self.delay_mode == Some(Mode::Exact) {
            words.push("--delay-mode exact".to_owned());
        }
        words.extend(self.max_delays.map(|max| format!("--max-delays {max}")));
        if self.seed != 0 {
            words.push(format!("--seed {}", self.seed));
        }
        words
    }
}

fn scheduler(text: &str) -> Result<SchedulerChoice, String> {
    match text.split_once(':') {
        Some(("priority", names)) => Ok(SchedulerChoice::Priority(names.split(',').map(str::to_owned).collect())),
        _ => match text {
            "auto" => Ok(SchedulerChoice::Auto),
            "rtc" => Ok(SchedulerChoice::RunToCompletion),
            "rr" => Ok(SchedulerChoice::RoundRobin),
            "random" => Ok(SchedulerChoice::Random),
            "priority" => Ok(SchedulerChoice::Priority(Vec::new())),
            _ => Err("expected auto, rtc, rr, random, priority or priority:TYPE,TYPE".to_owned()),
        },
    }
}

fn written(choice: &SchedulerChoice) -> String {
    match choice {
        SchedulerChoice::Auto => "auto".to_owned(),
        SchedulerChoice::RunToCompletion => "rtc".to_owned(),
        SchedulerChoice::RoundRobin => "rr".to_owned(),
        SchedulerChoice::Random => "random".to_owned(),
        SchedulerChoice::Priority(names) if names.is_empty() => "priority".to_owned(),
        SchedulerChoice::Priority(names) => format!("priority:{}", names.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_read() {
        for word in ["auto", "rtc", "rr", "random", "priority", "priority:A,B"] {
            assert_eq!(scheduler(word).map(|choice| written(&choice)), Ok(word.to_owned()));
        }
        for bad in ["", "rtx", "rtc:A", ":", "PRIORITY"] {
            assert!(scheduler(bad).is_err(), "{bad}");
        }
    }
}
