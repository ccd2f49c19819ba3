//! The flags of searches in the order of delays, and what they ask the engine for.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fabius_engine::settings::{
    DEPTH_INCREMENT, DelayMode, Delaying, DepthBounding, SampleKind, SchedulerChoice, Shard,
};
use fabius_project::config::own_schedulers;
use std::path::Path;

// The flags.
#[derive(Args, Debug, Clone, Default)]
pub struct DelayFlags {
    /// Explore runs by increasing number of scheduler delays. Schedulers: `rtc` (run to completion), `rr` (round-robin),
    /// `laps` (round-robin that passes on at the ends of loops), `random` (another order in each state), `priority` (`priority:A,B` names the process types that go first), `auto`
    /// (chosen for the model), or one that `fabius.toml` defines.
    #[arg(long, value_name = "SCHEDULER", help_heading = "Delays")]
    pub delay: Option<String>,

    /// How delays are searched: `fast` finds errors, `exact` proves the absence of errors up to a number of delays,
    /// `sample` draws random runs.
    #[arg(long, value_enum, value_name = "MODE", requires = "delay", help_heading = "Delays")]
    pub delay_mode: Option<Mode>,

    /// Sampling algorithm of `--delay-mode sample`: random delays, random walk, PCT, POS or SURW.
    #[arg(long, value_parser = samplers(), value_name = "KIND", requires = "delay", help_heading = "Delays")]
    pub sampler: Option<SampleKind>,

    /// Number of random runs (default: 1000).
    #[arg(long, value_name = "N", requires = "delay", help_heading = "Delays")]
    pub runs: Option<u64>,

    /// Draw only part I of N of the random runs, as one job of many: the exit code is 0 when the part is done, whatever was
    /// found. `fabius merge` makes one report of the `--json` reports of all parts.
    #[arg(long, value_name = "I/N", requires = "delay", help_heading = "Delays")]
    pub shard: Option<Shard>,

    /// Largest number of delays.
    #[arg(long, value_name = "N", requires = "delay", help_heading = "Delays")]
    pub max_delays: Option<u32>,

    /// Largest number of non-default branches in a run: the first enabled alternative of a process is free, every other
    /// one costs 1. For safety, with `--delay-mode fast` or `exact`.
    #[arg(long, value_name = "N", requires = "delay", help_heading = "Delays")]
    pub choice_bound: Option<u32>,

    /// Explore all runs of at most this many steps, by increasing depth; unlike --max-depth, nothing within the bound is
    /// missed. An atomic sequence is one step. Of infinite runs, those whose states all lie within the bound.
    #[arg(long, value_name = "STEPS", help_heading = "Depth")]
    pub depth_bound: Option<u32>,

    /// How many steps each round adds to the depth bound (default: 100).
    #[arg(long, value_name = "STEPS", help_heading = "Depth")]
    pub depth_increment: Option<u32>,

    /// Random seed of `--delay random` or `--delay-mode sample` (default: 0); the same seed gives the same run.
    #[arg(long, value_name = "N", requires = "delay", help_heading = "Delays")]
    pub seed: Option<u64>,
}

/// How delays are searched.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// States of the model.
    Fast,
    /// States of model and scheduler.
    Exact,
    /// Nothing: random runs.
    Sample,
}

/// The words for the ways to draw runs, each with what it does.
fn samplers() -> impl TypedValueParser<Value = SampleKind> {
    let value = |kind: SampleKind| PossibleValue::new(kind.as_str()).help(kind.sentence());
    let named = |word: String| SampleKind::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or_default();
    PossibleValuesParser::new(SampleKind::ALL.map(value)).map(named)
}

impl DelayFlags {
    /// The scheduler for a model, which may be one that its project defines.
    ///
    /// # Errors
    /// If there is no such scheduler: which ones there are.
    pub fn scheduler_for(&self, model: &Path) -> Result<SchedulerChoice, String> {
        let Some(word) = &self.delay else { return Ok(SchedulerChoice::default()) };
        match word.parse() {
            Ok(known) => Ok(known),
            Err(_) => SchedulerChoice::named(word, &own_schedulers(model)?),
        }
    }

    /// What the flags ask for; a scheduler that a project defines is not known yet ([`Self::scheduler_for`]).
    pub fn settings(&self) -> Option<Delaying> {
        let mode = match self.delay_mode {
            None | Some(Mode::Fast) => DelayMode::Fast,
            Some(Mode::Exact) => DelayMode::Exact,
            Some(Mode::Sample) => DelayMode::Sample,
        };
        let scheduler = self.delay.as_deref()?.parse().unwrap_or_default();
        let (delays_max, choices_max, seed) = (self.max_delays, self.choice_bound, self.seed);
        let (runs, shard) = (self.runs, self.shard.unwrap_or_default());
        let sampler = self.sampler;
        Some(Delaying { scheduler, mode, sampler, runs, shard, delays_max, choices_max, seed, shows_shortest: false })
    }

    /// What the flags for depth ask for.
    pub fn depth(&self) -> Option<DepthBounding> {
        let asked = self.depth_bound.is_some() || self.depth_increment.is_some();
        let increment = self.depth_increment.unwrap_or(DEPTH_INCREMENT).max(1);
        asked.then_some(DepthBounding { increment, cut_off: self.depth_bound })
    }

    /// The flags as they would be written.
    pub fn words(&self) -> Vec<String> {
        let depth = self.depth_bound.map(|bound| format!("--depth-bound {bound}"));
        let increment = self.depth_increment.map(|more| format!("--depth-increment {more}"));
        let Some(delay) = &self.delay else { return depth.into_iter().chain(increment).collect() };
        let mut words = vec![format!("--delay {delay}")];
        let word = |value: PossibleValue| value.get_name().to_owned();
        let mode = self.delay_mode.and_then(|mode| mode.to_possible_value()).map(word);
        words.extend(mode.map(|mode| format!("--delay-mode {mode}")));
        words.extend(self.sampler.map(|sampler| format!("--sampler {}", sampler.as_str())));
        words.extend(self.runs.map(|runs| format!("--runs {runs}")));
        words.extend(self.shard.map(|shard| format!("--shard {shard}")));
        words.extend(self.max_delays.map(|max| format!("--max-delays {max}")));
        words.extend(self.choice_bound.map(|max| format!("--choice-bound {max}")));
        words.extend(self.seed.map(|seed| format!("--seed {seed}")));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_schedulers_need_no_file() {
        let nowhere = Path::new("/nowhere/m.pml");
        for word in ["auto", "rtc", "rr", "laps", "random", "priority", "priority:A,B"] {
            let flags = DelayFlags { delay: Some(word.to_owned()), ..DelayFlags::default() };
            assert_eq!(flags.scheduler_for(nowhere), word.parse(), "{word}");
        }
        for bad in ["", "rtx", "rtc:A", ":", "PRIORITY"] {
            let flags = DelayFlags { delay: Some(bad.to_owned()), ..DelayFlags::default() };
            let why = flags.scheduler_for(nowhere).expect_err(bad);
            assert!(why.contains("known: auto"), "{why}");
        }
    }
}
