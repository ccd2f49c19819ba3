//! The tools `check`, `causes` and `schedule`.

use crate::model::{self, timer};
use fabius_analysis::schedule::{EXPLORATION_TENTHS, ScheduleRequest, Stops, WAITS_TENTHS};
use fabius_base::{Cancel, Limits};
use fabius_causes::{CausesContext, CausesRequest, NotAsked, causes as find_causes};
use fabius_engine::settings::ThreadCount;
use fabius_engine::{CheckContext, Fairness, Settings};
use fabius_project::cache::Cache;
use fabius_supervise::memory;
use serde::Serialize;
use serde_json::Value;
use std::time::Instant;

/// A set of waits may be at most this large.
pub(crate) const WAITS_MAX: u64 = 9;

/// This many causes are found if nobody says how many, …
pub(crate) const CAUSES: u64 = 10;
/// … and at most this many.
pub(crate) const CAUSES_MAX: u64 = 100;

/// Of a longer run, this many steps are told at each of its ends: more than anybody reads would only fill the context of an assistant.
const STEPS_AT_ENDS: usize = 100;

/// Checks a model: the report, in which long runs lack their middle.
///
/// # Errors
/// What is wrong with the arguments.
pub(crate) fn check(arguments: &Value, cancel: &Cancel) -> Result<Value, String> {
    let _timer = timer(arguments, cancel, 10)?;
    let states_max = whole(arguments, "max_states", u64::MAX)?;
    let fairness = match arguments["fairness"].as_str() {
        None => None,
        Some("none") => Some(Fairness::None),
        Some("weak") => Some(Fairness::Weak),
        Some("strong") => Some(Fairness::Strong),
        Some(other) => return Err(format!("unknown fairness `{other}` (known: none, weak, strong)")),
    };
    let asked = Settings {
        properties: texts(arguments, "properties")?,
        formulas: texts(arguments, "ltl")?,
        fairness: fairness.unwrap_or(Fairness::None),
        limits: Limits { states_max, memory_bytes_max: Some(memory::default_bytes()), ..Limits::default() },
        threads: ThreadCount::of_half_the_machine(),
        ..Settings::default()
    };
    let model = model::read(arguments, &asked.formulas, cancel)?;
    let settings = model.settings(asked, fairness.is_some());
    let began = Instant::now();
    let now = || began.elapsed();
    let mut observe = |_| {};
    let mut context = CheckContext { cancel, now: &now, observe: &mut observe, controls: None };
    let is_anew = arguments["no_cache"].as_bool().unwrap_or(false);
    let cache = if is_anew { None } else { Cache::of_user().map(Cache::read_only) };
    let outcome = Cache::check(cache.as_ref(), &model.loaded, &settings, &mut context);
    let mut report = document(&outcome.report)?;
    let properties = report["properties"].as_array_mut().into_iter().flatten();
    properties.flat_map(|property| property["violations"].as_array_mut().into_iter().flatten()).for_each(shorten);
    Ok(report)
}

/// Leaves out the middle of a long run, as a report does where it is very long, and the table about each of its positions.
fn shorten(violation: &mut Value) {
    let Some(trace) = violation["trace"].as_array_mut().filter(|trace| 2 * STEPS_AT_ENDS < trace.len()) else { return };
    let left_out = trace.drain(STEPS_AT_ENDS..trace.len() - STEPS_AT_ENDS).count() as u64;
    let before = violation["steps_left_out"].as_u64().unwrap_or(0);
    violation["steps_left_out"] = Value::from(before + left_out);
    if let Some(violation) = violation.as_object_mut() {
        violation.remove("ribbon");
    }
}

/// Finds the causes of violations: the report, in which long runs lack their middle.
///
/// # Errors
/// What is wrong with the arguments or the model.
pub(crate) fn causes(arguments: &Value, cancel: &Cancel) -> Result<Value, String> {
    let _timer = timer(arguments, cancel, 10)?;
    let (properties, formulas) = (texts(arguments, "properties")?, texts(arguments, "ltl")?);
    let limit = whole(arguments, "limit", CAUSES_MAX)?.unwrap_or(CAUSES);
    let model = model::read(arguments, &formulas, cancel)?;
    if let Some(error) = model.error() {
        return Err(error);
    }
    let settings = Settings {
        properties,
        limits: Limits { memory_bytes_max: Some(memory::default_bytes()), ..Limits::default() },
        threads: ThreadCount::of_half_the_machine(),
        ..Settings::default()
    };
    let request = CausesRequest { settings, causes_max: usize::try_from(limit).unwrap_or(usize::MAX) };
    let began = Instant::now();
    let mut context = CausesContext { cancel, now: &|| began.elapsed(), observe: &mut |_, _| {} };
    let found = match find_causes(&model.loaded, &request, &mut context) {
        Ok(found) => found,
        Err(NotAsked::Refused(why)) => return Err(why),
        Err(NotAsked::Faulty) => return Err("the model is faulty".to_owned()),
    };
    if let Some(failure) = found.report.internal_error {
        return Err(failure);
    }
    let mut report = document(&found.report)?;
    let properties = report["properties"].as_array_mut().into_iter().flatten();
    let causes = properties.flat_map(|property| property["causes"].as_array_mut().into_iter().flatten());
    causes.for_each(|cause| shorten(&mut cause["run"]));
    Ok(report)
}

/// Looks for a schedule: the report.
///
/// # Errors
/// What is wrong with the arguments or the model.
pub(crate) fn schedule(arguments: &Value, cancel: &Cancel) -> Result<Value, String> {
    let stops = Stops { exploration: cancel.part(), waits: cancel.part(), all: cancel.clone() };
    let _timers = [
        timer(arguments, &stops.exploration, EXPLORATION_TENTHS)?,
        timer(arguments, &stops.waits, WAITS_TENTHS)?,
        timer(arguments, cancel, 10)?,
    ];
    let waits = whole(arguments, "waits", WAITS_MAX)?;
    let model = model::read(arguments, &[], cancel)?;
    if let Some(error) = model.error() {
        return Err(error);
    }
    let unhurried = ScheduleRequest::unhurried();
    let request = ScheduleRequest {
        waits_max: waits.and_then(|waits| usize::try_from(waits).ok()).unwrap_or(unhurried.waits_max),
        memory_bytes_max: Some(memory::default_bytes()),
        ..unhurried
    };
    let scheduled = fabius_analysis::schedule::schedule(&model.loaded, &request, &stops, &mut |_| {});
    match scheduled.failure {
        Some(failure) => Err(failure),
        None => document(&scheduled.report),
    }
}

fn document(report: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(report).map_err(|error| format!("the report cannot be written: {error}"))
}

/// A whole number from 1, if it is given.
pub(crate) fn whole(arguments: &Value, name: &str, max: u64) -> Result<Option<u64>, String> {
    match &arguments[name] {
        Value::Null => Ok(None),
        value => match value.as_u64() {
            Some(number) if (1..=max).contains(&number) => Ok(Some(number)),
            _ if max == u64::MAX => Err(format!("`{name}` is {value}: it has to be a whole number from 1")),
            _ => Err(format!("`{name}` is {value}: it has to be a whole number from 1 to {max}")),
        },
    }
}

/// A list of texts, if it is given.
fn texts(arguments: &Value, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{name}` has to be a list of texts");
    match &arguments[name] {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect(),
        _ => Err(wrong()),
    }
}
