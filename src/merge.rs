//! `fabius merge`: one report of the reports of all parts of a sampled check (`--shard`).

use crate::render::numbers::{counted, seconds};
use crate::render::paint::{BAD, STRONG, UNSURE, paint};
use crate::{exit, output};
use anstream::AutoStream;
use clap::Args;
use fabius_engine::settings::Shard;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const HELP: &str = "\
The parts are made with `fabius check --shard I/N --json`, with otherwise the same flags. Runs, states and violations are added up; of
several runs to the same violation the shortest is kept.

Exit codes:
  0  every property holds (parts of runs prove nothing: this is for properties that each part checked as a whole)
  1  a violation was found
  2  no violation was found
  3  a report is missing, damaged or of another check, or the output cannot be written";

// The flags of `fabius merge`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Merge {
    /// Reports of parts (JSON).
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,

    /// Print one JSON document, in the form of `fabius check --json`; docs/schema/report.schema.json describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Merges reports; returns the exit code.
pub fn run(args: &Merge) -> u8 {
    let parts = args.reports.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>();
    let merged = match parts.and_then(|parts| merge(&parts.concat())) {
        Ok(merged) => merged,
        Err(why) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
    };
    let code = merged.iter().map(code_of).fold(0, exit::worse);
    let text = match (args.json, merged.as_slice()) {
        (true, [only]) => serde_json::to_string_pretty(only).unwrap_or_default() + "\n",
        (true, several) => serde_json::to_string_pretty(several).unwrap_or_default() + "\n",
        (false, several) => several.iter().map(in_words).collect(),
    };
    let mut out = AutoStream::auto(std::io::stdout());
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    exit::worse(code, output::code(written.or_else(|error| output::unless_closed(Err(error)))))
}

/// A report of one model, and the file it is from.
#[derive(Clone)]
struct Part {
    from: String,
    report: Object,
}

fn read(path: &Path) -> Result<Vec<Part>, String> {
    let from = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {from}: {error}"))?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{from} is no report of `fabius check --json`: {error}"))?;
    let reports = match document {
        Value::Array(reports) => reports,
        one => vec![one],
    };
    let part = |report| match report {
        Value::Object(report) if report.get("tool") == Some(&json!("fabius")) && report.contains_key("properties") => {
            Ok(Part { from: from.clone(), report })
        }
        _ => Err(format!("{from} is no report of `fabius check --json`")),
    };
    reports.into_iter().map(part).collect()
}

/// One report for each model.
fn merge(parts: &[Part]) -> Result<Vec<Value>, String> {
    let mut models: Vec<(&str, Vec<&Part>)> = Vec::new();
    for part in parts {
        let file = text(&part.report, "file");
        match models.iter_mut().find(|(name, _)| *name == file) {
            Some((_, parts)) => parts.push(part),
            None => models.push((file, vec![part])),
        }
    }
    models.into_iter().map(|(_, parts)| model(&parts)).collect()
}

/// One report of the parts of a model.
fn model(parts: &[&Part]) -> Result<Value, String> {
    let first = parts.first().ok_or("there is no report")?;
    for part in parts {
        if let Some(error) = part.report.get("internal_error").and_then(Value::as_str) {
            return Err(format!("{}: {error}", part.from));
        }
        if text(&part.report, "verdict") == "faulty" {
            return Err(format!("{}: the model could not be checked: {}", part.from, text(&part.report, "reason")));
        }
        if first.report.get("version") != part.report.get("version") {
            return Err(other_check(first, part, "versions of fabius"));
        }
    }
    let names: Vec<&str> = properties(first).map(|property| text(property, "name")).collect();
    for part in parts {
        // What only another part has would be lost.
        if let Some(name) = properties(part).map(|property| text(property, "name")).find(|name| !names.contains(name)) {
            return Err(format!(
                "{} has no property `{name}`, and {} has: they are of different checks",
                first.from, part.from
            ));
        }
    }
    let properties = names.iter().map(|name| property(name, parts)).collect::<Result<Vec<_>, _>>()?;
    let worst = ["violated", "undecided"].into_iter().find(|verdict| {
        properties.iter().any(|property| property.get("verdict").and_then(Value::as_str) == Some(verdict))
    });
    let deciding = properties.iter().find(|property| property["verdict"].as_str() == worst).or(properties.first());
    let mut report = first.report.clone();
    report.insert("verdict".to_owned(), json!(worst.unwrap_or("holds")));
    report.insert("exhaustive".to_owned(), json!(worst.is_none()));
    report.insert("reason".to_owned(), deciding.map_or(Value::Null, |property| property["reason"].clone()));
    report.insert("properties".to_owned(), Value::Array(properties));
    Ok(Value::Object(report))
}

/// A report, or what it says of one property.
type Object = Map<String, Value>;

/// Which parts of the runs there are.
struct Numbers {
    /// How many there should be.
    count: u64,
    /// Those of which there is no report.
    missing: Vec<u64>,
    /// Those that ended before all their runs were drawn.
    cut_short: Vec<u64>,
}

impl Numbers {
    /// Refuses parts that are not of the same runs.
    fn of(of_parts: &[(&Part, &Object)]) -> Result<Self, String> {
        let mut numbers: BTreeMap<u64, &Part> = BTreeMap::new();
        let mut count = 1;
        let mut cut_short = Vec::new();
        for &(part, property) in of_parts {
            let strategy = property.get("strategy").and_then(Value::as_object);
            let shard = strategy.and_then(|strategy| strategy.get("shard")).and_then(Value::as_str).unwrap_or("1/1");
            let parsed = shard.parse::<Shard>().map_err(|why| format!("{}: {why}", part.from))?;
            if let Some(other) = numbers.values().next().filter(|_| parsed.count != count) {
                let all = format!("{count} parts, {} of {}", part.from, parsed.count);
                return Err(format!("{} is one of {all}: they cannot be merged", other.from));
            }
            count = parsed.count;
            if let Some(before) = numbers.insert(parsed.number, part) {
                let (before, from) = (&before.from, &part.from);
                return Err(format!("{before} and {from} are both part {} of {count}", parsed.number));
            }
            if !matches!(text(property, "stopped"), "delays" | "violation") {
                cut_short.push(parsed.number);
            }
        }
        let missing = (1..=count).filter(|number| !numbers.contains_key(number)).collect();
        Ok(Self { count, missing, cut_short })
    }
}

/// The flags of a check, whichever part it was.
fn flags_of(property: &Object) -> Value {
    let mut strategy = property.get("strategy").cloned().unwrap_or_default();
    strategy.as_object_mut().map(|strategy| strategy.remove("shard"));
    strategy
}

fn model_of(property: &Object) -> &Value {
    property.get("samples").map_or(&Value::Null, |samples| &samples["model"])
}

/// One property, from all parts.
fn property(name: &str, parts: &[&Part]) -> Result<Value, String> {
    let mut of_parts = Vec::new();
    for part in parts {
        let Some(property) = properties(part).find(|property| text(property, "name") == name) else {
            return Err(format!("{} has no property `{name}`: it is of another check", part.from));
        };
        of_parts.push((*part, property));
    }
    let (first, first_property) = *of_parts.first().ok_or("there is no report")?;
    if !first_property.contains_key("samples") {
        // No runs were drawn for it, so each part checked all of it.
        for (part, other) in &of_parts {
            if other.get("verdict") != first_property.get("verdict") {
                return Err(format!("{} and {} disagree about `{name}`", first.from, part.from));
            }
        }
        return Ok(Value::Object(first_property.clone()));
    }
    for (part, other) in &of_parts {
        let differ = match () {
            () if model_of(first_property) != model_of(other) => "models",
            () if flags_of(first_property) != flags_of(other) => "flags",
            () => continue,
        };
        return Err(other_check(first, part, differ));
    }
    let Numbers { count, missing, cut_short } = Numbers::of(&of_parts)?;
    let of_parts: Vec<&Object> = of_parts.into_iter().map(|(_, property)| property).collect();
    let mut merged = added(&of_parts);
    let runs = merged["samples"]["runs"].as_u64().unwrap_or(0);
    let violations = united(&of_parts);
    let violated = !violations.is_empty();
    let reason = reason(runs, violations.len(), count, &missing, &cut_short);
    merged.insert("verdict".to_owned(), json!(if violated { "violated" } else { "undecided" }));
    merged.insert("reason".to_owned(), json!(reason));
    merged.insert("stopped".to_owned(), json!(if violated { "violation" } else { "delays" }));
    merged.insert("violations".to_owned(), Value::Array(violations));
    merged.insert("shards".to_owned(), json!({ "count": count, "missing": missing, "cut_short": cut_short }));
    Ok(Value::Object(merged))
}

/// The first part with the figures of all, and with the schedule of one: it was checked for the whole model.
fn added(of_parts: &[&Object]) -> Object {
    let mut merged = of_parts.first().map_or_else(Object::new, |property| (*property).clone());
    let numbers = |key: &'static str| of_parts.iter().filter_map(move |property| property.get(key)?.as_u64());
    for key in ["states", "transitions", "matched", "violation_count"] {
        merged.insert(key.to_owned(), json!(numbers(key).sum::<u64>()));
    }
    for key in ["depth", "memory_bytes"] {
        merged.insert(key.to_owned(), json!(numbers(key).max().unwrap_or(0)));
    }
    let took: f64 = of_parts.iter().filter_map(|property| property.get("seconds")?.as_f64()).sum();
    merged.insert("seconds".to_owned(), json!(took));
    let runs: u64 = of_parts.iter().filter_map(|property| property.get("samples")?["runs"].as_u64()).sum();
    let probabilities = of_parts.iter().filter_map(|property| property.get("samples")?["probability"].as_f64());
    let least = probabilities.reduce(f64::min);
    if let Some(samples) = merged.get_mut("samples").and_then(Value::as_object_mut) {
        samples.insert("runs".to_owned(), json!(runs));
        least.map(|probability| samples.insert("probability".to_owned(), json!(probability)));
    }
    if let Some(strategy) = merged.get_mut("strategy").and_then(Value::as_object_mut) {
        strategy.remove("shard");
    }
    let schedules = of_parts.iter().filter_map(|property| property.get("schedule"));
    let helps = |schedule: &&Value| schedule["verdict"] == "avoidable";
    match schedules.clone().find(helps).or(schedules.clone().next()) {
        Some(schedule) => merged.insert("schedule".to_owned(), schedule.clone()),
        None => merged.remove("schedule"),
    };
    merged
}

/// The violations of all parts, once per kind and place, each with its shortest run.
fn united(of_parts: &[&Object]) -> Vec<Value> {
    let mut violations: Vec<Value> = Vec::new();
    let all = of_parts.iter().filter_map(|property| property.get("violations")?.as_array()).flatten();
    for violation in all {
        let same =
            |other: &&mut Value| ["kind", "file", "line", "column"].iter().all(|key| other[key] == violation[key]);
        match violations.iter_mut().find(same) {
            Some(other) => {
                let met = other["count"].as_u64().unwrap_or(0) + violation["count"].as_u64().unwrap_or(0);
                if violation["steps"].as_u64() < other["steps"].as_u64() {
                    other.clone_from(violation);
                }
                other["count"] = json!(met);
            }
            None => violations.push(violation.clone()),
        }
    }
    violations
}

fn reason(runs: u64, violations: usize, count: u64, missing: &[u64], cut_short: &[u64]) -> String {
    let found = match violations {
        0 => "no error found".to_owned(),
        several => format!("{} found", counted(several as u64, "different violation")),
    };
    let mut text = format!("{found} in {}", counted(runs, "run"));
    match missing {
        [] if count == 1 => {}
        [] => _ = write!(text, " (all {count} parts)"),
        some => _ = write!(text, " (without {} of {count})", listed(some)),
    }
    if !cut_short.is_empty() {
        let _ = write!(text, "; {} ended before all runs were drawn", listed(cut_short));
    }
    text
}

/// Parts by their numbers, neighbours together: *parts 2, 5 to 9*.
fn listed(numbers: &[u64]) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for &number in numbers.iter().collect::<BTreeSet<_>>() {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let span = |&(from, to): &(u64, u64)| match to - from {
        0 => from.to_string(),
        1 => format!("{from}, {to}"),
        _ => format!("{from} to {to}"),
    };
    let words: Vec<String> = spans.iter().map(span).collect();
    format!("{} {}", if numbers.len() == 1 { "part" } else { "parts" }, words.join(", "))
}

fn other_check(first: &Part, part: &Part, what: &str) -> String {
    format!("{} and {} are of different checks: the {what} differ", first.from, part.from)
}

fn properties(part: &Part) -> impl Iterator<Item = &Object> {
    part.report.get("properties").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn text<'v>(of: &'v Object, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or("")
}

fn code_of(report: &Value) -> u8 {
    match report["verdict"].as_str() {
        Some("holds") => 0,
        Some("violated") => 1,
        _ => exit::UNDECIDED,
    }
}

/// A report for people.
fn in_words(report: &Value) -> String {
    let mut words = String::new();
    for property in report["properties"].as_array().into_iter().flatten() {
        let verdict = match property["verdict"].as_str() {
            Some("violated") => paint(BAD, "violated"),
            Some("undecided") => paint(UNSURE, "undecided"),
            other => other.unwrap_or_default().to_owned(),
        };
        let (file, name) = (report["file"].as_str().unwrap_or(""), property["name"].as_str().unwrap_or(""));
        let reason = property["reason"].as_str().unwrap_or("");
        let took = seconds(property["seconds"].as_f64().unwrap_or(0.0));
        let _ = writeln!(words, "{file}: {name}: {verdict}: {reason} ({took} in all)");
        for violation in property["violations"].as_array().into_iter().flatten() {
            in_words_violation(violation, &mut words);
        }
    }
    words
}

fn in_words_violation(violation: &Value, words: &mut String) {
    let message = violation["message"].as_str().unwrap_or("");
    let place = format!("{}:{}:{}", violation["file"].as_str().unwrap_or(""), violation["line"], violation["column"]);
    let met = counted(violation["count"].as_u64().unwrap_or(0), "time");
    let steps = counted(violation["steps"].as_u64().unwrap_or(0), "step");
    let _ = writeln!(words, "\n{} ({place})\n  met {met}; the shortest run found has {steps}:", paint(STRONG, message));
    for step in violation["trace"].as_array().into_iter().flatten() {
        let changes: Vec<String> = step["changes"].as_array().into_iter().flatten().map(change).collect();
        let changes = if changes.is_empty() { String::new() } else { format!("   [{}]", changes.join(", ")) };
        let _ = writeln!(
            words,
            "  {:>4}  {}[{}] line {}: {}{changes}",
            step["step"].as_u64().unwrap_or(0),
            step["process"].as_str().unwrap_or(""),
            step["pid"],
            step["line"],
            step["text"].as_str().unwrap_or("")
        );
    }
    if let Some(left_out) = violation["steps_left_out"].as_u64().filter(|&steps| 0 < steps) {
        let _ = writeln!(words, "  ({} in the middle are left out)", counted(left_out, "step"));
    }
}

fn change(change: &Value) -> String {
    let of = |key: &str| change[key].as_str().unwrap_or("").to_owned();
    format!("{}: {} → {}", of("name"), of("old"), of("new"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_parts_are_named_together() {
        assert_eq!(listed(&[3]), "part 3");
        assert_eq!(listed(&[2, 5, 6, 7, 9, 10]), "parts 2, 5 to 7, 9, 10");
    }
}
