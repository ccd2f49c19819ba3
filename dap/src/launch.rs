//! Reading a model, finding the run to begin with, and opening it.

use crate::wire::Incoming;
use fabius_base::{Cancel, Finding, Limits, SourceMap};
use fabius_engine::{
    CheckContext, Fairness, Loaded, ModelText, Outcome, Settings, Verdict, load_until, suited, unreadable,
};
use fabius_explore::{Exploration, Reopened, TraceFile, Way};
use fabius_project::cache::Cache;
use fabius_project::defines::{Define, defined, definition, over};
use fabius_project::files::{beside, read_ordinary};
use fabius_supervise::memory::{self, default_bytes};
use fabius_supervise::{Task, Unfinished, begin};
use serde::Deserialize;
use serde_json::Value;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// A check for the run to begin with may store this many states unless somebody says otherwise.
const STATES_MAX: u64 = 20_000_000;
/// Longer than anybody waits.
const SECONDS_MAX: f64 = 1e6;

/// What a client says about what is to be debugged.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Launch {
    /// The model.
    pub program: PathBuf,
    /// The property whose counterexample is walked.
    pub property: Option<String>,
    /// Which counterexample, from 0.
    pub counterexample: Option<usize>,
    /// A trail of Spin, or a trace that was saved.
    pub trail: Option<PathBuf>,
    /// Whether to stop before the first step; yes if nothing is said.
    pub stop_on_entry: Option<bool>,
    /// How to choose where nothing else decides: `first`, `random`, `random:SEED` or a seed.
    pub schedule: Option<Value>,
    /// Macros: names and values, or `NAME=VALUE`.
    pub defines: Value,
    /// A check may take this many seconds.
    pub timeout: Option<f64>,
    /// Only run, do not stop.
    pub no_debug: bool,
    /// Which infinite runs count, as the project of the model says.
    #[serde(skip)]
    pub fairness: Fairness,
}

/// A model was read and opened.
pub(crate) struct Opened {
    /// The attempt it belongs to.
    pub attempt: u64,
    /// What the client said about it.
    pub launch: Launch,
    /// The model, at its start or at the end of a saved run.
    pub found: Result<Model, String>,
}

/// A model that can be walked through, and what there is to say about a saved run that does not come through.
pub(crate) struct Model {
    pub loaded: Arc<Loaded>,
    pub exploration: Exploration,
    pub reopened: Reopened,
}

/// A check has ended.
pub(crate) struct Checked {
    /// The attempt it belongs to.
    pub attempt: u64,
    /// What it found.
    pub opened: Result<Exploration, String>,
}

impl Launch {
    /// Whether a check has to find the run first.
    pub(crate) fn needs_check(&self) -> bool {
        self.trail.is_none() && (self.property.is_some() || self.counterexample.is_some())
    }

    /// How free steps are chosen.
    pub(crate) fn way(&self) -> Result<Way, String> {
        let text = match &self.schedule {
            None | Some(Value::Null) => return Ok(Way::Line),
            Some(Value::Number(seed)) => {
                return seed.as_u64().map(Way::Random).ok_or_else(|| "a seed is a whole number from 0".to_owned());
            }
            Some(Value::String(text)) => text.trim(),
            Some(_) => "",
        };
        let seed = text.strip_prefix("random:").and_then(|seed| seed.trim().parse().ok());
        match (text, seed) {
            ("first" | "", _) => Ok(Way::Line),
            ("random", _) => Ok(Way::Random(0)),
            (_, Some(seed)) => Ok(Way::Random(seed)),
            _ => Err(format!("unknown schedule `{text}` (known: first, random, random:SEED, or a seed)")),
        }
    }

    /// The macros.
    fn macros(&self) -> Vec<Define> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match &self.defines {
            Value::Object(map) => map.iter().map(|(name, value)| defined(name, &text(value))).collect(),
            Value::Array(list) => list.iter().map(|item| definition(&text(item))).collect(),
            _ => Vec::new(),
        }
    }

    /// Reads and opens the model on a thread of its own. Its project defines macros, as far as the client does not define them.
    ///
    /// # Errors
    /// If there is no room for another thread.
    pub(crate) fn begin(
        self,
        macros: Vec<Define>,
        attempt: u64,
        cancel: &Cancel,
        inbox: mpsc::Sender<Incoming>,
    ) -> Result<(), String> {
        let (this, stop) = (self.clone(), cancel.clone());
        let open = move || {
            let loaded = this.read(macros, &stop)?;
            let (exploration, reopened) = this.open(&loaded)?;
            Ok(Model { loaded, exploration, reopened })
        };
        let work = move || {
            let found = panic::catch_unwind(AssertUnwindSafe(open));
            found.unwrap_or_else(|_| Err("the model was not opened: this is an error of fabius itself".to_owned()))
        };
        let tell = move |found: Result<Result<Model, String>, Unfinished>| {
            let found = found.unwrap_or_else(|why| Err(format!("the model was not opened: {}", why.sentence())));
            let _ = inbox.send(Incoming::Opened(Box::new(Opened { attempt, launch: self, found })));
        };
        begin(Task::new("open", cancel.clone()), work, tell)
            .map_err(|error| format!("the model cannot be opened: {error}"))
    }

    /// Reads the model.
    fn read(&self, project: Vec<Define>, cancel: &Cancel) -> Result<Arc<Loaded>, String> {
        if self.program.as_os_str().is_empty() {
            return Err("`program` is missing: the path of a Promela model".to_owned());
        }
        let name = self.program.display().to_string();
        let macros = over(project, &self.macros());
        let loaded = match read_ordinary(&self.program) {
            Ok(text) => {
                let mut include = |including: &str, name: &str| {
                    let path = beside(Path::new(including), name);
                    read_ordinary(&path).ok().map(|text| (path.display().to_string(), text))
                };
                let _watch = memory::Watch::beside(default_bytes(), cancel);
                load_until(cancel, ModelText { name: &name, text }, &macros, &mut include, &Settings::default())
                    .unwrap_or_else(|reason| unreadable(&name, Unfinished::Abandoned(reason).sentence()))
            }
            Err(why) => unreadable(&name, &why),
        };
        match loaded.findings.iter().find(|finding| finding.is_error()) {
            Some(error) => Err(told(&loaded.map, error)),
            None => Ok(Arc::new(loaded)),
        }
    }

    /// Opens the model without a check; what there is to say about a saved run that does not come through comes with it.
    fn open(&self, loaded: &Arc<Loaded>) -> Result<(Exploration, Reopened), String> {
        let whole = || Reopened { steps: 0, of: 0, remarks: Vec::new() };
        let Some(trail) = &self.trail else { return Ok((Exploration::of_model(Arc::clone(loaded), None)?, whole())) };
        let trail = match self.program.parent() {
            Some(folder) if trail.is_relative() && !trail.exists() => folder.join(trail),
            _ => trail.clone(),
        };
        let text = read_ordinary(&trail).map_err(|why| format!("`{}` cannot be read: {why}", trail.display()))?;
        if text.trim_start().starts_with('{') {
            let file = TraceFile::read(&text)?;
            return Exploration::reopen(Arc::clone(loaded), &file);
        }
        let exploration = Exploration::of_trail(Arc::clone(loaded), self.property.as_deref(), &text)?;
        Ok((exploration, whole()))
    }

    /// Checks on a thread of its own, and opens the counterexample that was asked for.
    ///
    /// # Errors
    /// If there is no room for another thread.
    pub(crate) fn check(
        &self,
        loaded: &Arc<Loaded>,
        attempt: u64,
        cancel: &Cancel,
        inbox: mpsc::Sender<Incoming>,
    ) -> Result<(), String> {
        let (this, loaded, stop) = (self.clone(), Arc::clone(loaded), cancel.clone());
        let work = move || {
            let found = panic::catch_unwind(AssertUnwindSafe(|| this.find(&loaded, &stop)));
            found.unwrap_or_else(|_| Err("the check failed: this is an error of fabius itself".to_owned()))
        };
        let tell = move |found: Result<Result<Exploration, String>, Unfinished>| {
            let opened = found.unwrap_or_else(|why| Err(format!("no counterexample was found: {}", why.sentence())));
            let _ = inbox.send(Incoming::Checked(Box::new(Checked { attempt, opened })));
        };
        let task = Task { allowed: self.allowed(), ..Task::new("check", cancel.clone()) };
        begin(task, work, tell).map_err(|error| format!("the check cannot begin: {error}"))
    }

    /// The time that a check may take.
    fn allowed(&self) -> Option<Duration> {
        self.timeout.filter(|time| (0.0..SECONDS_MAX).contains(time)).map(Duration::from_secs_f64)
    }

    fn find(&self, loaded: &Arc<Loaded>, cancel: &Cancel) -> Result<Exploration, String> {
        let memory_bytes_max = Some(default_bytes());
        let limits = Limits { states_max: Some(STATES_MAX), memory_bytes_max, ..Limits::default() };
        let properties = self.property.iter().cloned().collect();
        let settings = Settings { properties, limits, fairness: self.fairness, ..Settings::default() };
        // A project says for all of its models which infinite runs count; not every property is about these.
        let settings = suited(loaded, &settings);
        let began = Instant::now();
        let now = || began.elapsed();
        let mut observe = |_| {};
        let mut context = CheckContext { cancel, now: &now, observe: &mut observe, controls: None };
        let outcome = Cache::check(Cache::of_user().as_ref(), loaded, &settings, &mut context);
        let wanted = self.counterexample.unwrap_or(0);
        match outcome.counterexamples.get(wanted) {
            Some(example) => {
                Exploration::of_counterexample(Arc::clone(loaded), example, &property_of(&outcome, wanted))
            }
            None => Err(none(&outcome, wanted)),
        }
    }
}

/// The property that a counterexample belongs to.
fn property_of(outcome: &Outcome, wanted: usize) -> String {
    let mut before = 0;
    for property in &outcome.report.properties {
        before += property.violations.len();
        if wanted < before {
            return property.name.clone();
        }
    }
    "safety".to_owned()
}

/// Why there is no such counterexample.
fn none(outcome: &Outcome, wanted: usize) -> String {
    match (outcome.counterexamples.len(), outcome.report.verdict) {
        (0, Verdict::Holds) => format!("there is no counterexample: {}", outcome.report.reason),
        (0, Verdict::Faulty) => outcome.report.reason.clone(),
        (0, _) => format!("no counterexample was found: {}", outcome.report.reason),
        (1, _) => format!("there is no counterexample {wanted}, only one: 0"),
        (count, _) => format!("there is no counterexample {wanted}; the last one is {}", count - 1),
    }
}

/// A finding in one line.
fn told(map: &SourceMap, finding: &Finding) -> String {
    match finding.span() {
        Some(span) => format!("{}: {}", map.position(span), finding.headline),
        None => finding.headline.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn macros(defines: Value) -> Vec<Define> {
        Launch { defines, ..Launch::default() }.macros()
    }

    #[test]
    fn macros_mean_what_they_mean_on_the_command_line() {
        let pairs = [("N", "1"), ("M", " "), ("K", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(macros(json!(["N", "M=", "K=2"])), pairs);
        let mut named = macros(json!({ "N": 1, "M": "", "K": "2" }));
        named.sort_by_key(|(name, _)| pairs.iter().position(|pair| pair.0 == *name));
        assert_eq!(named, pairs);
    }
}
