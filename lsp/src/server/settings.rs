//! The client's settings, over the defaults.

use crate::session::{Options, When};
use fabius_engine::settings::SchedulerChoice;
use fabius_project::config::fairness_named;
use fabius_project::defines::definition;
use serde::Deserialize;
use std::time::Duration;
use tower_lsp_server::ls_types::LSPAny;

/// What a client may set, under the name `fabius`. Whatever is left out keeps its default.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Settings {
    /// When checks start: `save`, `change` or `never`.
    pub check: Option<String>,
    /// Time of the quick look, in milliseconds.
    pub quick_milliseconds: Option<u64>,
    /// Time of the deep search, in seconds.
    pub deep_seconds: Option<f64>,
    /// The same where the computer runs on its battery, if that is less.
    pub battery_seconds: Option<f64>,
    /// Memory of a search, in mebibytes.
    pub memory_mebibytes: Option<u64>,
    /// Whether the reachable states are looked at for hints.
    pub hints: Option<bool>,
    /// Whose schedules the quick look disturbs, as for `fabius check --delay`.
    pub scheduler: Option<String>,
    /// Which infinite runs count as violations: `none`, `weak` or `strong`.
    pub fairness: Option<String>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Option<Vec<String>>,
    /// Names or kinds of the properties to check.
    pub properties: Option<Vec<String>>,
    /// Why what was sent could not be read.
    #[serde(skip)]
    pub wrong: Option<String>,
}

impl Settings {
    /// Reads what a client sent: the settings themselves, or under the name `fabius`.
    pub fn read(value: &LSPAny) -> Self {
        let own = value.get("fabius").unwrap_or(value);
        if own.is_null() {
            return Self::default();
        }
        serde_json::from_value(own.clone()).unwrap_or_else(|why| Self {
            wrong: Some(format!("the settings of the editor are not used: {why}")),
            ..Self::default()
        })
    }

    /// Puts the settings over others.
    pub fn over(&self, mut options: Options) -> Options {
        match self.check.as_deref() {
            Some("save") => options.when = When::Save,
            Some("change") => options.when = When::Change,
            Some("never") => options.when = When::Never,
            _ => {}
        }
        if let Some(milliseconds) = self.quick_milliseconds {
            options.budget.quick = Duration::from_millis(milliseconds);
        }
        if let Some(time) = self.deep_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            options.budget.deep = time;
        }
        if let Some(time) = self.battery_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            options.budget.battery = time;
        }
        if let Some(mebibytes) = self.memory_mebibytes {
            options.budget.memory_bytes = mebibytes.saturating_mul(1 << 20);
        }
        options.hints = self.hints.unwrap_or(options.hints);
        options.wrong.clone_from(&self.wrong);
        match self.scheduler.as_deref().map(|word| SchedulerChoice::named(word, &options.own_schedulers)) {
            Some(Ok(scheduler)) => options.scheduler = scheduler,
            Some(Err(why)) => options.wrong = Some(format!("the editor's setting `scheduler` is not used: {why}")),
            None => {}
        }
        match self.fairness.as_deref().map(fairness_named) {
            Some(Ok(fairness)) => options.fairness = fairness,
            Some(Err(why)) => options.wrong = Some(format!("the editor's setting `fairness` is not used: {why}")),
            None => {}
        }
        if let Some(defines) = &self.defines {
            options.defines = defines.iter().map(|define| definition(define)).collect();
        }
        if let Some(properties) = &self.properties {
            options.properties.clone_from(properties);
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_engine::Fairness;
    use fabius_engine::settings::{OwnScheduler, SchedulerBase};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn settings_lie_over_the_defaults() {
        let sent = json!({ "fabius": { "check": "never", "deepSeconds": 2.5, "defines": ["N=3", "FAST"] } });
        let options = Settings::read(&sent).over(Options::default());
        assert_eq!(options.when, When::Never);
        assert_eq!(options.budget.deep, Duration::from_millis(2500));
        assert_eq!(options.budget.quick, Options::default().budget.quick);
        assert_eq!(options.defines, [("N".to_owned(), "3".to_owned()), ("FAST".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn a_scheduler_that_the_project_defines_may_be_chosen() {
        let (name, order) = ("lazy".to_owned(), vec!["B".to_owned()]);
        let own = OwnScheduler { name, base: SchedulerBase::RoundRobin, order, seed: None };
        let project = Options { own_schedulers: vec![own.clone()], ..Options::default() };
        let options = Settings::read(&json!({ "scheduler": "lazy" })).over(project);
        assert_eq!((options.scheduler, options.wrong), (SchedulerChoice::Own(Arc::new(own)), None));
        let options = Settings::read(&json!({ "scheduler": "lazy" })).over(Options::default());
        assert_eq!(options.scheduler, SchedulerChoice::default());
        assert!(options.wrong.is_some_and(|why| why.contains("lazy")));
    }

    #[test]
    fn fairness_may_be_chosen() {
        let weak = Options { fairness: Fairness::Weak, ..Options::default() };
        let over = |fairness: serde_json::Value, options: &Options| {
            Settings::read(&json!({ "fairness": fairness })).over(options.clone())
        };
        assert_eq!(over(json!("strong"), &weak).fairness, Fairness::Strong);
        assert_eq!(over(json!("none"), &weak).fairness, Fairness::None);
        assert_eq!(over(json!(null), &weak).fairness, Fairness::Weak);
        let unknown = over(json!("fair"), &weak);
        assert_eq!(unknown.fairness, Fairness::Weak);
        assert!(unknown.wrong.is_some_and(|why| why.contains("`fair`")));
    }

    #[test]
    fn nonsense_changes_nothing() {
        for sent in [json!(null), json!([1]), json!({ "fabius": 3 }), json!({ "check": { "a": 1 } })] {
            let options = Settings::read(&sent).over(Options::default());
            assert_eq!(options.wrong.is_some(), !sent.is_null(), "{sent}");
            assert_eq!(Options { wrong: None, ..options }, Options::default());
        }
    }
}
