//! What long searches decided, remembered on the disk: `docs/incremental.md` says what is remembered, and what
//! an entry depends on.

mod violations;

use fabius_base::{Code, Finding};
use fabius_engine::report::vacuity::VacuityEnd;
use fabius_engine::report::{PropertyClass, PropertyReport, Report};
use fabius_engine::strategy::refusal;
use fabius_engine::{
    CheckContext, Controls, Counterexample, Loaded, Outcome, Planned, SAFETY, Settings, VERSION, Verdict, check, plan,
    vacuity_finding,
};
use fabius_task::{SourceProgram, meaning_of_property};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_128;

/// A check that took less is as quick as looking it up.
const TIME_MIN: Duration = Duration::from_millis(20);
/// An entry that nobody wrote again for so long is removed.
const AGE_MAX: Duration = Duration::from_secs(90 * 24 * 3600);
/// The layout of the entries.
const FORMAT: u32 = 4;

/// There are not so many ways to search or to remember states, …
const WORDS_MAX: usize = 64;
/// … and none has a longer name.
const WORD_BYTES_MAX: usize = 32;

/// The remembered proofs and violations.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Nothing is written to it, and nothing removed.
    is_read_only: bool,
}

/// How a check ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Its time.
    pub took: Duration,
    /// Somebody stopped it, or its time was up.
    pub is_cut_short: bool,
}

/// The folder for what can be made again: that of the user, for this program.
pub fn folder() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named("XDG_CACHE_HOME").or_else(|| named("LOCALAPPDATA"));
    Some(folder.or_else(|| named("HOME").map(|home| home.join(".cache")))?.join("fabius"))
}

impl Cache {
    /// The cache of the user, unless it is switched off or there is no place for it.
    pub fn of_user() -> Option<Self> {
        if env::var_os("FABIUS_CACHE").is_some_and(|value| value == "off") {
            return None;
        }
        Some(Self::at(&folder()?.join(format!("verdicts-{FORMAT}"))))
    }

    /// A cache in a folder of its own.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), is_read_only: false }
    }

    /// The same for somebody who changes no file.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Checks a model, but for what is known from the cache; remembers what is decided.
    pub fn check(
        cache: Option<&Self>,
        loaded: &Loaded,
        settings: &Settings,
        context: &mut CheckContext<'_>,
    ) -> Outcome {
        Self::check_and_amend(cache, loaded, settings, context, |_| ())
    }

    /// The same; what was searched is amended before it is remembered.
    pub fn check_and_amend(
        cache: Option<&Self>,
        loaded: &Loaded,
        settings: &Settings,
        context: &mut CheckContext<'_>,
        amend: impl FnOnce(&mut Outcome),
    ) -> Outcome {
        let is_steered = |context: &CheckContext<'_>| context.controls.is_some_and(Controls::is_steered);
        let cache = cache.filter(|_| !is_steered(context));
        let keys = cache.and_then(|_| Keys::of(loaded, settings));
        let known = match (cache, &keys) {
            (Some(cache), Some(keys)) => cache.known(keys, loaded, settings, context),
            _ => Vec::new(),
        };
        let planned = keys.iter().flat_map(|keys| &keys.planned);
        let open = planned.zip(&known).filter(|(_, known)| known.is_none()).map(|(planned, _)| planned.name.clone());
        let (open, is_any_known): (Vec<String>, bool) = (open.collect(), known.iter().any(Option::is_some));
        if is_any_known && open.is_empty() {
            return outcome_of(loaded, known.into_iter().flatten());
        }
        let asked = Settings { properties: open, ..settings.clone() };
        let began = (context.now)();
        let mut outcome = check(loaded, if is_any_known { &asked } else { settings }, context);
        amend(&mut outcome);
        // What somebody changed while the search ran is not part of the question.
        if let Some(cache) = cache.filter(|_| !is_steered(context)) {
            let ended = Ended { took: (context.now)() - began, is_cut_short: context.cancel.requested().is_some() };
            cache.remember(loaded, settings, &outcome, ended);
        }
        if is_any_known { with_known(loaded, outcome, known) } else { outcome }
    }

    /// The outcome of a check, if for every property that it asks for it is known that it holds, or a violation is known that the
    /// reference interpreter confirms again.
    pub fn look_up(&self, loaded: &Loaded, settings: &Settings, context: &mut CheckContext<'_>) -> Option<Outcome> {
        let keys = Keys::of(loaded, settings)?;
        let known: Option<Vec<Known>> = self.known(&keys, loaded, settings, context).into_iter().collect();
        known.filter(|known| !known.is_empty()).map(|known| outcome_of(loaded, known))
    }

    /// What is known of each property that a check asks for. Nothing, if somebody stops it: they are not told what it did not come to.
    fn known(
        &self,
        keys: &Keys,
        loaded: &Loaded,
        settings: &Settings,
        context: &mut CheckContext<'_>,
    ) -> Vec<Option<Known>> {
        let entry = |planned| self.entry(keys, planned, loaded, settings);
        let mut entries: Vec<Option<Entry>> = keys.planned.iter().map(entry).collect();
        // No run is walked of which nothing would be told.
        keys.forget_what_others_need(&mut entries, settings);
        let mut known = Vec::new();
        for (planned, entry) in keys.planned.iter().zip(entries) {
            known.push(entry.and_then(|entry| self.confirm(entry, keys, planned, (loaded, settings), context)));
        }
        keys.forget_what_others_need(&mut known, settings);
        if context.cancel.requested().is_some() {
            known.iter_mut().for_each(|known| *known = None);
        }
        known
    }

    /// What is known of a property, if what is remembered stands.
    fn confirm(
        &self,
        entry: Entry,
        keys: &Keys,
        planned: &Planned,
        (loaded, settings): (&Loaded, &Settings),
        context: &mut CheckContext<'_>,
    ) -> Option<Known> {
        match entry {
            Entry::Proof(report, unreached) => {
                let findings = vacuity_finding(&report, loaded).into_iter().chain(unreached).collect();
                Some(Known { report: *report, counterexample: None, findings })
            }
            Entry::Violation { path, text } => {
                let subject = violations::subject(keys, loaded, settings, &planned.name);
                let about = (keys, loaded, settings);
                violations::read(&text, &subject, planned, about, context).unwrap_or_else(|_| {
                    // What does not stand is not asked again.
                    if !self.is_read_only {
                        let _ = fs::remove_file(path);
                    }
                    None
                })
            }
        }
    }

    /// What is remembered of a property.
    fn entry(&self, keys: &Keys, planned: &Planned, loaded: &Loaded, settings: &Settings) -> Option<Entry> {
        let subject = keys.subject(&planned.name);
        let text = fs::read_to_string(self.path(&fingerprint(&subject))).ok();
        if let Some((report, findings)) = text.and_then(|text| keys.proof(&text, &subject, planned, settings)) {
            let report = PropertyReport { expected: loaded.expected(&planned.name), ..report };
            return Some(Entry::Proof(Box::new(report), findings));
        }
        if !violations::are_kept(settings) {
            return None;
        }
        let subject = violations::subject(keys, loaded, settings, &planned.name);
        let path = self.path(&fingerprint(&subject));
        let text = fs::read_to_string(&path).ok().filter(|text| checked(text, &subject).is_some())?;
        Some(Entry::Violation { path, text })
    }

    /// Remembers what a check decided.
    pub fn remember(&self, loaded: &Loaded, settings: &Settings, outcome: &Outcome, ended: Ended) {
        if self.is_read_only || ended.took < TIME_MIN || outcome.failure.is_some() {
            return;
        }
        let decided =
            |property: &PropertyReport| property.cached.is_none() && (is_proof(property) || is_violation(property));
        if !outcome.report.properties.iter().any(decided) {
            return;
        }
        let Some(keys) = Keys::of(loaded, settings) else { return };
        // What else was found would be lost.
        let is_kept = |finding: &Finding| match finding.code {
            Code::Unreached => true,
            // It follows from the report of a formula.
            Code::Vacuous => finding.span().is_some(),
            _ => false,
        };
        if !outcome.findings.iter().all(is_kept) {
            return;
        }
        let keeps_violations = violations::are_kept(settings);
        let mut counterexamples = outcome.counterexamples.iter();
        for property in &outcome.report.properties {
            let example = counterexamples.by_ref().take(property.violations.len()).last();
            if !decided(property) || !keys.planned.iter().any(|planned| planned.name == property.name) {
                continue;
            }
            let safety = property.kind == PropertyClass::Safety;
            let unreached = outcome.findings.iter().filter(|finding| safety && finding.code == Code::Unreached);
            let anchored: Option<Vec<Value>> = unreached.map(|finding| told(finding, &keys.written)).collect();
            // A finding whose place cannot be found again cannot be told again.
            let Some(anchored) = anchored else { continue };
            if is_proof(property) {
                let of = keys.subject(&property.name);
                self.write(&self.path(&fingerprint(&of)), &proof(&of, property, &anchored));
            } else if let Some(example) = example.filter(|_| keeps_violations) {
                let of = violations::subject(&keys, loaded, settings, &property.name);
                let about = (property, example);
                let entry = violations::entry(&of, (loaded, settings), about, &anchored, ended.is_cut_short);
                entry.into_iter().for_each(|entry| self.write(&self.path(&fingerprint(&of)), &entry));
            }
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(&key[..2]).join(format!("{key}.json"))
    }

    /// Writes beside the place and moves there in one step. What cannot be written is not remembered.
    fn write(&self, path: &Path, text: &str) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let Some(folder) = path.parent() else { return };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = folder.join(format!("new-{}-{number}", std::process::id()));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&beside, text));
        if written.and_then(|()| fs::rename(&beside, path)).is_err() {
            let _ = fs::remove_file(&beside);
        }
        clean(folder);
    }
}

/// Removes what is old.
fn clean(folder: &Path) {
    let Some(limit) = SystemTime::now().checked_sub(AGE_MAX) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.metadata().and_then(|data| data.modified()).is_ok_and(|time| time < limit) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What is remembered of a property.
enum Entry {
    /// That it holds, and what was found in the text.
    Proof(Box<PropertyReport>, Vec<Finding>),
    /// A violation that is still to be confirmed: where it is remembered, and what is written there.
    Violation { path: PathBuf, text: String },
}

/// What is known of a property, with what was found in the text.
struct Known {
    report: PropertyReport,
    /// The violation, which was confirmed again.
    counterexample: Option<Counterexample>,
    findings: Vec<Finding>,
}

/// The outcome of a check of which everything is known.
fn outcome_of(loaded: &Loaded, known: impl IntoIterator<Item = Known>) -> Outcome {
    let (mut properties, mut findings, mut counterexamples) = (Vec::new(), Vec::new(), Vec::new());
    for Known { report, counterexample, findings: found } in known {
        properties.push(report);
        counterexamples.extend(counterexample);
        findings.extend(found);
    }
    Outcome::known(loaded, properties, counterexamples, findings)
}

/// What a check found out of the properties that were not known, with those that were.
fn with_known(loaded: &Loaded, searched: Outcome, known: Vec<Option<Known>>) -> Outcome {
    let Outcome { report, counterexamples, findings, executed, failure } = searched;
    let mut counterexamples = counterexamples.into_iter();
    let mut searched = report.properties.into_iter();
    let (mut all, mut examples, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for known in known {
        match known {
            Some(known) => {
                all.push(known.report);
                examples.extend(known.counterexample);
                found.extend(known.findings);
            }
            // Those that were not known were searched in the same order.
            None => {
                let Some(report) = searched.next() else { continue };
                examples.extend(counterexamples.by_ref().take(report.violations.len()));
                all.push(report);
            }
        }
    }
    found.extend(findings);
    let outcome = Outcome::known(loaded, all, examples, found);
    let report = Report { internal_error: failure.clone(), ..outcome.report };
    Outcome { report, executed, failure, ..outcome }
}

/// Whether a report is a proof of which no more could be known with more time.
fn is_proof(property: &PropertyReport) -> bool {
    let is_short = property.vacuity.as_ref().is_some_and(|vacuity| vacuity.end == VacuityEnd::Stopped);
    property.verdict == Verdict::Holds && property.exhaustive && !is_short
}

fn is_violation(property: &PropertyReport) -> bool {
    property.verdict == Verdict::Violated
}

/// The entry for a proof, as it is written.
fn proof(of: &str, property: &PropertyReport, unreached: &[Value]) -> String {
    // What the text expects is read from the text.
    let property = PropertyReport { expected: None, ..property.clone() };
    sealed(&json!({ "of": of, "date": date(SystemTime::now()), "report": property, "unreached": unreached }))
}

/// Whether a search that may use this much gets as far as one that used what a report says.
fn within_limits(report: &PropertyReport, settings: &Settings) -> bool {
    let limits = &settings.limits;
    let within = |used: u64, max: Option<u64>| max.is_none_or(|max| used <= max);
    within(report.states, limits.states_max)
        && within(report.depth, limits.depth_max)
        && within(report.memory_bytes, limits.memory_bytes_max)
}

/// What the entries of a check depend on.
struct Keys {
    /// By property, what its entry is about, in full: program version, model, settings and property.
    subjects: BTreeMap<String, String>,
    planned: Vec<Planned>,
    written: SourceProgram,
}

impl Keys {
    fn of(loaded: &Loaded, settings: &Settings) -> Option<Self> {
        let program = loaded.checkable()?;
        let written = SourceProgram::of(loaded)?;
        let plan = plan(program, &settings.properties).ok()?;
        // What is refused is refused whatever is known. Comments that seal stretches are not part of what a model means, and a search
        // in the order of delays keeps to them.
        if refusal(&plan, settings).is_some() || settings.delaying.is_some() && loaded.is_sealed() {
            return None;
        }
        // How much a search may use does not change what is proved; whether it was enough is seen from what was used.
        let neutral = Settings {
            properties: Vec::new(),
            limits: fabius_base::Limits::default(),
            threads: fabius_engine::settings::ThreadCount::default(),
            until: None,
            schedule: false,
            whole_states_max: fabius_engine::settings::WHOLE_STATES_MAX,
            ..settings.clone()
        };
        let common = format!("{VERSION} {} {} {neutral:?}", build(), written.base());
        let subject = |Planned { name, .. }: &Planned| {
            (name.clone(), format!("{common} {} {name}", meaning_of_property(program, name)))
        };
        let subjects = plan.properties.iter().map(subject).collect();
        Some(Self { subjects, planned: plan.properties, written })
    }

    /// If not all that a check asks for is known, forgets what a search for the rest has to find out anew: a checkpoint is one of all, hints
    /// too; and whether a process gets to a label, which is told of proofs, the search for violations of safety finds out.
    fn forget_what_others_need<T>(&self, known: &mut [Option<T>], settings: &Settings) {
        let open = || self.planned.iter().zip(known.iter()).filter(|(_, known)| known.is_none());
        if open().next().is_none() {
            return;
        }
        let is_about_labels = |kind| matches!(kind, PropertyClass::Progress | PropertyClass::Acceptance);
        let wants_labels = open().any(|(planned, _)| is_about_labels(planned.kind));
        let wants_all = settings.hints || !violations::are_kept(settings);
        for (planned, known) in self.planned.iter().zip(known) {
            if wants_all || wants_labels && planned.name == SAFETY {
                *known = None;
            }
        }
    }

    /// What an entry for a proof says, with what was found in the text, if it is whole and about this subject, and fits the limits.
    fn proof(
        &self,
        text: &str,
        subject: &str,
        planned: &Planned,
        settings: &Settings,
    ) -> Option<(PropertyReport, Vec<Finding>)> {
        let entry = checked(text, subject)?;
        let report = property_report(&entry["report"], Verdict::Holds, planned)?;
        let cached = entry["date"].as_str().filter(|_| within_limits(&report, settings))?.to_owned();
        Some((PropertyReport { cached: Some(cached), ..report }, self.findings(&entry["unreached"])?))
    }

    /// The statements that no run executes, where they stand now.
    fn findings(&self, entry: &Value) -> Option<Vec<Finding>> {
        entry.as_array()?.iter().map(|found| finding(found, &self.written)).collect()
    }

    /// What the entry for a proof of a property is about, in full: program version, model, settings and property.
    fn subject(&self, name: &str) -> String {
        self.subjects.get(name).cloned().unwrap_or_default()
    }
}

/// 128 bits that differ for different texts, as far as accidents go; the same in every build.
fn fingerprint(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

/// An entry as it is written: its checksum in a line, then its text.
fn sealed(entry: &Value) -> String {
    let text = entry.to_string();
    format!("{}\n{text}", fingerprint(&text))
}

/// What was written, if it is whole and about this subject.
fn checked(text: &str, subject: &str) -> Option<Value> {
    let (checksum, text) = text.split_once('\n')?;
    let entry: Value = serde_json::from_str(text).ok().filter(|_| checksum == fingerprint(text))?;
    (entry["of"] == subject).then_some(entry)
}

/// A time as a person reads it, in UTC, to the minute.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    let (year, month, day) = civil(days);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// Year, month and day of a day counted from 1970-01-01 (H. Hinnant, *chrono-compatible low-level date algorithms*,
/// `civil_from_days`, for days that are not before that).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years that begin in March.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Tells one build of this program from another.
fn build() -> String {
    let data = env::current_exe().and_then(fs::metadata);
    let Ok(data) = data else { return String::new() };
    let time = data.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!("{} {}", data.len(), time.unwrap_or_default().as_nanos())
}

/// A word that is kept for ever; there are a handful.
fn kept(word: &str) -> &'static str {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(word) {
        return known;
    }
    // A damaged entry does not get to fill the memory.
    if WORDS_MAX <= words.len() || WORD_BYTES_MAX < word.len() {
        return "";
    }
    let word: &'static str = Box::leak(word.to_owned().into_boxed_str());
    words.insert(word);
    word
}

/// A remembered report, if it has this verdict. What is remembered must say the same, word for word, or it is not told at all.
fn property_report(entry: &Value, verdict: Verdict, planned: &Planned) -> Option<PropertyReport> {
    let report = parsed(entry, planned)?;
    (report.verdict == verdict && json!(report) == *entry).then_some(report)
}

fn parsed(entry: &Value, planned: &Planned) -> Option<PropertyReport> {
    let number = |key: &str| entry[key].as_u64();
    let word = |key: &str| entry[key].as_str().map(kept);
    let reason = entry["reason"].as_str()?;
    Some(PropertyReport {
        verdict: serde_json::from_value(entry["verdict"].clone()).ok()?,
        exhaustive: entry["exhaustive"].as_bool()?,
        stopped: serde_json::from_value(entry["stopped"].clone()).ok()?,
        violation_count: number("violation_count")?,
        audited: number("audited"),
        search: word("search")?,
        store: word("store")?,
        strategy: serde_json::from_value(entry["strategy"].clone()).ok()?,
        states: number("states")?,
        states_before: number("states_before").unwrap_or(0),
        transitions: number("transitions")?,
        matched: number("matched")?,
        depth: number("depth")?,
        seconds: entry["seconds"].as_f64()?,
        memory_bytes: number("memory_bytes")?,
        bytes_per_state: entry["bytes_per_state"].as_f64()?,
        reduction: entry["reduction"].as_str()?.to_owned(),
        vacuity: match entry.get("vacuity") {
            Some(vacuity) => Some(serde_json::from_value(vacuity.clone()).ok()?),
            None => None,
        },
        workers: entry
            .get("workers")
            .map_or(Some(Vec::new()), |workers| serde_json::from_value(workers.clone()).ok())?,
        tried: entry.get("tried").map_or(Some(Vec::new()), |tried| serde_json::from_value(tried.clone()).ok())?,
        ..PropertyReport::unchecked(&planned.name, planned.kind, reason)
    })
}

/// A finding about a statement, with its place as a number.
fn told(finding: &Finding, written: &SourceProgram) -> Option<Value> {
    let anchors: Option<Vec<Value>> = finding
        .labels
        .iter()
        .map(|label| written.anchor(label.span).map(|anchor| json!({ "anchor": anchor, "text": label.text })))
        .collect();
    Some(json!({ "headline": finding.headline, "labels": anchors? }))
}

fn finding(entry: &Value, written: &SourceProgram) -> Option<Finding> {
    let mut finding = Finding::new(Code::Unreached, entry["headline"].as_str()?);
    for label in entry["labels"].as_array()? {
        let anchor = usize::try_from(label["anchor"].as_u64()?).ok()?;
        finding = finding.at(written.place(anchor)?, label["text"].as_str()?);
    }
    Some(finding)
}

#[cfg(test)]
mod tests;
