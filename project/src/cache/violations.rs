//! Remembered violations. The run is kept, and it counts only once the reference interpreter has walked it again and confirmed that
//! it violates the property; what is told of it is made anew from that walk, and has to be what was told before.

use super::{Keys, Known, checked, date, fingerprint, property_report, sealed, within_limits};
use fabius_base::SourceMap;
use fabius_engine::report::PropertyReport;
use fabius_engine::report::schedule::ScheduleReport;
use fabius_engine::settings::{CheckpointPaths, ThreadCount};
use fabius_engine::{CheckContext, Counterexample, KnownRun, Loaded, Planned, SAFETY, Settings, Verdict, add_schedule};
use serde_json::{Value, json};
use std::time::SystemTime;

/// A longer run is not kept: to walk it again takes as long as many searches.
const STEPS_KEPT_MAX: usize = 100_000;

/// Where a report speaks of places of the text: they move while the meaning stays.
const PLACES: [&str; 6] = ["file", "line", "column", "end_line", "end_column", "original"];

/// Whether violations are kept of checks with these settings. What only a search can give is not kept: other violations than the
/// first one, a checkpoint in a file.
pub(super) fn are_kept(settings: &Settings) -> bool {
    let Settings { keep_going, prune, checkpoint_files, .. } = settings;
    let asks_for_file = checkpoint_files.resume.is_some() || checkpoint_files.paths != CheckpointPaths::default();
    !keep_going && prune.is_none() && !asks_for_file
}

/// What the entry for a violation is about, in full: what a proof is about, and what else decides which run is found.
pub(super) fn subject(keys: &Keys, loaded: &Loaded, settings: &Settings, name: &str) -> String {
    let threads = match settings.threads {
        ThreadCount::Exactly(count) => count,
        // Which run is shown does not depend on how many threads may join.
        ThreadCount::UpTo(_) => 0,
    };
    let (depth, sealed) = (settings.limits.depth_max, loaded.is_sealed());
    format!("{} violation threads={threads} depth={depth:?} sealed={sealed}", keys.subject(name))
}

/// The entry for a violation, as it is written; `None` if it is not kept. `is_cut_short`: somebody stopped the check.
pub(super) fn entry(
    of: &str,
    (loaded, settings): (&Loaded, &Settings),
    (property, counterexample): (&PropertyReport, &Counterexample),
    unreached: &[Value],
    is_cut_short: bool,
) -> Option<String> {
    let PropertyReport { violations, samples, together_with, cached, .. } = property;
    let [violation] = violations.as_slice() else { return None };
    let is_plain = samples.is_none() && together_with.is_empty() && cached.is_none();
    if !is_plain || *violation != counterexample.report || STEPS_KEPT_MAX < counterexample.path.len() {
        return None;
    }
    let run = KnownRun::of(counterexample);
    // With more states or time, more may be known of it.
    let is_unlimited = settings.limits.states_max.is_none() && settings.until.is_none() && !is_cut_short;
    if !run.beyond_run().is_final() && !is_unlimited {
        return None;
    }
    let schedule = (settings.schedule && is_unlimited)
        .then(|| json!({ "texts": texts(&loaded.map), "report": property.schedule }));
    // What the text expects is read from the text; the violation is told anew.
    let report = PropertyReport { expected: None, violations: Vec::new(), schedule: None, ..property.clone() };
    Some(sealed(&json!({
        "of": of,
        "date": date(SystemTime::now()),
        "report": report,
        "unreached": unreached,
        "run": run,
        "told": told(violation),
        "schedule": schedule,
    })))
}

/// What an entry says, if it is whole and about this subject, fits the limits, and its run is confirmed again.
///
/// # Errors
/// The run is not confirmed, or something else would be told of it.
pub(super) fn read(
    text: &str,
    subject: &str,
    planned: &Planned,
    (keys, loaded, settings): (&Keys, &Loaded, &Settings),
    context: &mut CheckContext<'_>,
) -> Result<Option<Known>, String> {
    let Some(entry) = checked(text, subject) else { return Ok(None) };
    let Some(report) = property_report(&entry["report"], Verdict::Violated, planned) else { return Ok(None) };
    let Some(cached) = entry["date"].as_str().filter(|_| within_limits(&report, settings)) else { return Ok(None) };
    let run: KnownRun = serde_json::from_value(entry["run"].clone()).map_err(|why| why.to_string())?;
    let counterexample = run.confirm(loaded, planned, settings)?;
    if entry["told"] != told(&counterexample.report) {
        return Err("something else is told of the run than before".to_owned());
    }
    let mut report = PropertyReport {
        expected: loaded.expected(&planned.name),
        cached: Some(cached.to_owned()),
        violations: vec![counterexample.report.clone()],
        ..report
    };
    if settings.schedule && planned.name == SAFETY {
        match schedule(&entry["schedule"], loaded, settings) {
            Some(schedule) => report.schedule = schedule,
            None => add_schedule(&mut report, loaded, settings, context)?,
        }
    }
    let Some(findings) = keys.findings(&entry["unreached"]) else { return Ok(None) };
    Ok(Some(Known { report, counterexample: Some(counterexample), findings }))
}

/// The schedule that was found for this very text, if one was looked for; `None` if it has to be looked for now.
fn schedule(entry: &Value, loaded: &Loaded, settings: &Settings) -> Option<Option<Box<ScheduleReport>>> {
    let is_of_text = entry["texts"] == texts(&loaded.map) && settings.limits.states_max.is_none();
    let known: Option<Box<ScheduleReport>> = serde_json::from_value(entry.get("report")?.clone()).ok()?;
    (is_of_text && json!(known) == entry["report"]).then_some(known)
}

/// A digest of the names of all files and of their texts.
fn texts(map: &SourceMap) -> String {
    let files: Vec<String> = map.files().map(|(_, file)| format!("{:?} {:?}", file.name, file.text)).collect();
    fingerprint(&files.join("\n"))
}

/// A digest of what is told of a violation, but for where things stand in the text.
fn told(violation: &fabius_engine::ViolationReport) -> String {
    let mut violation = json!(violation);
    remove_places(&mut violation);
    fingerprint(&violation.to_string())
}

fn remove_places(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !PLACES.contains(&name.as_str()));
            fields.values_mut().for_each(remove_places);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_places),
        _ => {}
    }
}
