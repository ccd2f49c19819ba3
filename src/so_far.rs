//! What a check has found out so far, for when it cannot speak for itself: it does not stop in time, or no more memory
//! can be had, not even for a report of the usual kind.

use crate::args::Check;
use crate::formats::{self, Checked, Format};
use crate::render::text;
use crate::{exit, output};
use anstream::AutoStream;
use fabius_base::StopReason;
use fabius_engine::report::{ProjectReport, Stopped};
use fabius_engine::words::counted;
use fabius_engine::{
    Event, Goal, Loaded, Outcome, Planned, Progress, PropertyReport, Report, Settings, Verdict, ViolationReport,
};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// What is known; shared between the check and the one who may have to speak for it.
#[derive(Clone, Default)]
pub struct SoFar(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// The reports of files that are done.
    done: Vec<Report>,
    file: String,
    /// The settings that come from the file of a project.
    project: Option<ProjectReport>,
    /// The properties to be checked, and the verdicts that the model says to expect.
    planned: Vec<(Planned, Option<Verdict>)>,
    /// Those that are done, in the order in which they were decided.
    properties: Vec<PropertyReport>,
    /// Those that were searched and are not done, by name.
    searched: HashMap<String, Searched>,
}

/// What is known of a property before its search is over.
#[derive(Default)]
struct Searched {
    /// How far the search got that got furthest.
    progress: Progress,
    /// A violation was found, which is not confirmed yet.
    found: bool,
    violations: Vec<ViolationReport>,
}

impl SoFar {
    /// A file is next.
    pub fn begin(&self, file: &str) {
        self.change(|known| {
            *known = Known { done: std::mem::take(&mut known.done), file: file.to_owned(), ..Known::default() };
        });
    }

    /// A project chooses settings.
    pub fn project(&self, project: ProjectReport) {
        self.change(|known| known.project = Some(project));
    }

    /// The file was read.
    pub fn loaded(&self, loaded: &Loaded, settings: &Settings) {
        let plan = loaded.checkable().and_then(|program| fabius_engine::plan(program, &settings.properties).ok());
        let planned = plan.into_iter().flat_map(|plan| plan.properties);
        let planned = planned.map(|planned| (loaded.expected(&planned.name), planned));
        let planned = planned.map(|(expected, planned)| (planned, expected)).collect();
        self.change(|known| known.planned = planned);
    }

    /// Something happened.
    pub fn event(&self, event: &Event) {
        self.change(|known| match event {
            Event::Searching { property, goal } => {
                known.searched.entry(property.clone()).or_default().found |= *goal != Goal::Violation;
            }
            Event::Progress { property, progress, .. } => {
                let searched = known.searched.entry(property.clone()).or_default();
                if searched.progress.states <= progress.states {
                    searched.progress = *progress;
                }
            }
            Event::Violation { property, violation, .. } => {
                known.searched.entry(property.clone()).or_default().violations.push(violation.clone());
            }
            Event::PropertyDone { property } => {
                known.searched.remove(&property.name);
                known.properties.push(property.as_ref().clone());
            }
            _ => {}
        });
    }

    /// The file is done.
    pub fn done(&self, report: &Report) {
        self.change(|known| known.done.push(report.clone()));
    }

    /// The reports of the files before this one, and that of this one as far as it is known.
    pub fn reports(&self, why: StopReason) -> (Vec<Report>, Report) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = known.report(why);
        (std::mem::take(&mut known.done), report)
    }

    /// Says in the way that was asked for what is known, since there is no more memory; returns the exit code.
    pub fn last_word(&self, args: &Check) -> u8 {
        // Whoever waits for memory may hold the lock: then nothing is known.
        let Ok(mut known) = self.0.try_lock() else {
            output::complain(&format!("fabius: {}", sentence(StopReason::Exhausted)));
            return exit::UNDECIDED;
        };
        let report = known.report(StopReason::Exhausted);
        let worst = known.done.iter().chain([&report]).map(exit::of_report).fold(0, exit::worse);
        let written = output::unlocked().and_then(|out| known.say(report, args, out));
        exit::worse(worst, output::code(output::unless_closed(written)))
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Known {
    /// Writes a report, and those before it, in the way that was asked for.
    fn say(&mut self, report: Report, args: &Check, out: File) -> io::Result<()> {
        if args.formats.format() != Format::Text {
            let checked: Vec<Checked> = self.done.iter().chain([&report]).cloned().map(Checked::from_report).collect();
            formats::write(args, &checked, &out)?;
        }
        if !args.formats.is_text() {
            return Ok(());
        }
        let text = if args.events {
            serde_json::to_string(&Event::Done { report: Box::new(report) })? + "\n"
        } else {
            let (counterexamples, findings, failure) = (Vec::new(), Vec::new(), None);
            text::conclusion(&Outcome { report, counterexamples, findings, executed: None, failure }, args)
        };
        AutoStream::never(out).write_all(text.as_bytes())
    }

    /// The report of the file that is checked, as far as it is known.
    fn report(&mut self, why: StopReason) -> Report {
        let mut done = std::mem::take(&mut self.properties);
        let mut properties = Vec::new();
        for (planned, expected) in &self.planned {
            if let Some(at) = done.iter().position(|property| property.name == planned.name) {
                properties.push(done.swap_remove(at));
                continue;
            }
            let property = match self.searched.get(&planned.name) {
                Some(searched) => searched.unfinished(planned, why),
                None => {
                    PropertyReport::unchecked(&planned.name, planned.kind, &format!("not checked: {}", sentence(why)))
                }
            };
            properties.push(PropertyReport { expected: *expected, stopped: Some(Stopped::from(why)), ..property });
        }
        let any = |verdict: Verdict| properties.iter().any(|property| property.verdict == verdict);
        let verdict = [Verdict::Faulty, Verdict::Violated].into_iter().find(|verdict| any(*verdict));
        let verdict = verdict.unwrap_or(Verdict::Undecided);
        let reason = match properties.iter().find(|property| property.verdict == verdict) {
            Some(decisive) => decisive.reason.clone(),
            None => format!("not checked: {}", sentence(why)),
        };
        let crashed = fabius_engine::crashed(&self.file, "");
        Report {
            verdict,
            reason,
            properties,
            project: self.project.take().filter(|project| !project.settings.is_empty()),
            internal_error: None,
            ..crashed
        }
    }
}

impl Searched {
    /// What is known of the property. Something may have been found that was not confirmed in time, so
    /// nothing is said of that.
    fn unfinished(&self, planned: &Planned, why: StopReason) -> PropertyReport {
        let Progress { states, transitions, depth, memory_bytes, seconds } = self.progress;
        let (verdict, reason) = match self.violations.first() {
            Some(violation) => {
                (Verdict::Violated, format!("{}; there may be more: {}", violation.message, sentence(why)))
            }
            None => {
                let states = counted(states, "state");
                let found = if self.found { "a violation was found, but not confirmed" } else { "not finished" };
                (Verdict::Undecided, format!("{found} after {states}: {}", sentence(why)))
            }
        };
        PropertyReport {
            verdict,
            reason,
            states,
            transitions,
            matched: transitions.saturating_sub(states),
            depth,
            memory_bytes,
            seconds,
            violation_count: self.violations.len() as u64,
            violations: self.violations.clone(),
            ..PropertyReport::unchecked(&planned.name, planned.kind, "")
        }
    }
}

/// Why a check ends before its time.
fn sentence(why: StopReason) -> &'static str {
    match why {
        StopReason::Timeout => "the time allowed was used up",
        StopReason::Exhausted => "the system gave no more memory",
        StopReason::Memory => "the memory allowed was used up",
        _ => "it was interrupted",
    }
}
