//! From a loaded model to its report: plan, one property after the other, one verdict.

use crate::checkpoint;
use crate::counterexample::Counterexample;
use crate::deepening;
use crate::delayed;
use crate::event::Event;
use crate::liveness;
use crate::load::Loaded;
use crate::look::Controls;
use crate::plan::{Plan, Planned, Question, UnknownProperty, plan};
use crate::report::{FindingReport, PropertyReport, Report, TOOL, VERSION, Verdict};
use crate::safety;
use crate::settings::{Cycles, Fairness, Keeper, Order, Settings, Storage};
use crate::starvation;
use crate::task::Checked;
use fabius_base::{Cancel, Code, Finding};
use fabius_program::Program;
use std::sync::Arc;
use std::time::Duration;

/// What a check needs from outside: it has no clock, and nobody to talk to, of its own.
pub struct Surroundings<'a> {
    /// Whoever raises this stops the check.
    pub cancel: &'a Cancel,
    /// Time since some moment before the check.
    pub now: &'a dyn Fn() -> Duration,
    /// Is told what happens.
    pub observe: &'a mut dyn FnMut(Event),
    /// For somebody who watches the searches from another thread.
    pub controls: Option<&'a Controls>,
}

/// What a check leaves behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All that was found out, as plain data.
    pub report: Report,
    /// The counterexamples, in the order of the report's violations.
    pub counterexamples: Vec<Counterexample>,
    /// What the check itself found in the text: statements that are never executed, a property that
    /// does not exist.
    pub findings: Vec<Finding>,
    /// Fabius itself is wrong: what happened, for a person to report.
    pub failure: Option<String>,
}

/// Checks a model as the settings say.
pub fn check(loaded: &Loaded, settings: &Settings, around: &mut Surroundings<'_>) -> Outcome {
    (around.observe)(Event::Started { tool: TOOL, version: VERSION, file: loaded.name.clone() });
    for finding in &loaded.findings {
        (around.observe)(Event::Finding { finding: FindingReport::new(&loaded.map, finding) });
    }
    let mut outcome = match loaded.checkable() {
        None => faulty(loaded, None),
        Some(program) => match plan(program, &settings.properties) {
            Err(unknown) => faulty(loaded, Some(unknown_property(&unknown))),
            Ok(plan) => check_all(loaded, program, &plan, settings, around),
        },
    };
    outcome.report.project = loaded.project.as_ref().map(|project| project.report.clone());
    (around.observe)(Event::Done { report: outcome.report.clone() });
    outcome
}

/// The report of a check that ended in a panic.
pub fn crashed(name: &str, panic: &str) -> Report {
    let mut report = report(name, Verdict::Undecided, false, "fabius itself failed".to_owned());
    report.internal_error = Some(internal_error(panic));
    report
}

/// How an internal error is told to a person.
pub fn internal_error(what: &str) -> String {
    format!(
        "internal error of {TOOL} {VERSION}: {what}\n\
         This is a bug in {TOOL}, not in your model. Please report it, with the model and these lines."
    )
}

/// Says that a bound on choices does not count for a property, where one was asked for.
fn choices_free(settings: &Settings, planned: &Planned) -> Option<Finding> {
    let bounded = settings.delaying.as_ref().is_some_and(|delaying| delaying.choices_max.is_some());
    let free = bounded && planned.question != Question::Safety;
    let what = || format!("the bound on choices does not count in the search for what violates `{}`", planned.name);
    free.then(|| {
        Finding::new(Code::ChoicesFree, what())
            .help("a loop would spend without end: all ways on are taken, at no cost")
    })
}

/// Says which of the settings do not count for a property, where any is asked for.
fn without_effect(settings: &Settings, planned: &Planned) -> Option<Finding> {
    let endless = planned.question != Question::Safety;
    let by_rounds = settings.delaying.is_some() || settings.depth_bounding.is_some();
    let fair = endless && settings.fairness != Fairness::None;
    let breadth = settings.search == Order::BreadthFirst;
    let inexact = settings.store != Storage::Tree;
    let alone =
        if endless { fair || settings.cycles == Cycles::Components } else { !by_rounds && (breadth || inexact) };
    let wanted = [
        (breadth && (endless || by_rounds), "breadth-first order"),
        (inexact && endless, "a store that is not exact"),
        (by_rounds && fair, "the order of delays or depth"),
        (1 < settings.threads && alone, "more than one thread"),
    ];
    let dropped: Vec<&str> = wanted.into_iter().filter(|(dropped, _)| *dropped).map(|(_, what)| what).collect();
    let why = match () {
        () if fair => "a fair run is looked for by one thread, depth-first, with all states stored exactly",
        () if endless => "an infinite run is looked for depth-first, with all states stored exactly",
        () if by_rounds => "the order of delays or depth is an order of its own",
        () => "threads work together in a depth-first search that stores states exactly",
    };
    let headline = format!("no effect on the search for violations of `{}`: {}", planned.name, dropped.join(", "));
    (!dropped.is_empty()).then(|| Finding::new(Code::WithoutEffect, headline).help(why))
}

fn check_all(
    loaded: &Loaded,
    program: &Arc<Program>,
    plan: &Plan,
    settings: &Settings,
    around: &mut Surroundings<'_>,
) -> Outcome {
    let mut outcome = Outcome {
        report: report(&loaded.name, Verdict::Undecided, false, String::new()),
        counterexamples: Vec::new(),
        findings: Vec::new(),
        failure: None,
    };
    for (index, planned) in plan.properties.iter().enumerate() {
        let mut settings = with_share(settings, plan.properties.len() - index, (around.now)());
        if let Some(note) = checkpoint::not_kept(&settings, planned, plan.properties.len()) {
            settings.keeper = Keeper::default();
            outcome.findings.push(note);
        }
        outcome.findings.extend(choices_free(&settings, planned));
        outcome.findings.extend(without_effect(&settings, planned));
        let settings = &settings;
        let found = match planned.question {
            _ if let Some(finding) = checkpoint::unsuited(settings) => Checked::faulty(planned, *finding),
            Question::Safety if let Some(depth) = &settings.depth_bounding => {
                deepening::check(loaded, program, planned, settings, depth, around)
            }
            Question::Safety if let Some(delaying) = &settings.delaying => {
                delayed::check(loaded, program, planned, settings, delaying, around)
            }
            Question::Safety => safety::check(loaded, program, planned, settings, around),
            Question::Progress | Question::Acceptance | Question::Claim
                if settings.fairness == Fairness::None
                    && let Some(depth) = &settings.depth_bounding =>
            {
                deepening::check_cycles(loaded, program, planned, settings, depth, around)
            }
            Question::Progress | Question::Acceptance | Question::Claim
                if settings.fairness == Fairness::None
                    && (settings.delaying.is_some() || settings.cycles.needs_delays()) =>
            {
                let delaying = settings.delaying.clone().unwrap_or_default();
                delayed::check_cycles(loaded, program, planned, settings, &delaying, around)
            }
            Question::Progress | Question::Acceptance | Question::Claim => {
                liveness::check(loaded, program, planned, settings, around)
            }
        };
        outcome.counterexamples.extend(found.counterexamples);
        outcome.findings.extend(found.findings);
        outcome.failure = outcome.failure.or(found.failure);
        let property = PropertyReport { expected: loaded.expected(&planned.name), ..found.report };
        (around.observe)(Event::PropertyDone { property: property.clone() });
        outcome.report.properties.push(property);
    }
    if settings.hints && outcome.failure.is_none() {
        let hints = starvation::hints(program, settings, around.cancel);
        outcome.failure.clone_from(&hints.failure);
        outcome.findings.extend(hints.into_findings());
    }
    let findings = loaded.findings.iter().chain(&outcome.findings);
    outcome.report.findings = findings.map(|finding| FindingReport::new(&loaded.map, finding)).collect();
    outcome.report.internal_error.clone_from(&outcome.failure);
    conclude(&mut outcome.report);
    outcome
}

/// The settings for the next of this many properties, which may use its share of the time that is left.
fn with_share(settings: &Settings, properties: usize, now: Duration) -> Settings {
    let share = |until: Duration| now + until.saturating_sub(now) / properties as u32;
    Settings { until: settings.until.map(share), ..settings.clone() }
}

/// The verdict over all properties.
fn conclude(report: &mut Report) {
    let properties = &report.properties;
    let any = |verdict: Verdict| properties.iter().any(|property| property.verdict == verdict);
    let verdict = match () {
        () if any(Verdict::Faulty) => Verdict::Faulty,
        () if any(Verdict::Violated) => Verdict::Violated,
        () if any(Verdict::Undecided) || properties.is_empty() => Verdict::Undecided,
        () => Verdict::Holds,
    };
    let exhaustive = !properties.is_empty() && properties.iter().all(|property| property.exhaustive);
    let reason = match properties.iter().find(|property| property.verdict == verdict) {
        Some(decisive) => decisive.reason.clone(),
        None => "the model has no property of this kind".to_owned(),
    };
    (report.verdict, report.exhaustive, report.reason) = (verdict, exhaustive, reason);
}

pub(crate) fn unknown_property(unknown: &UnknownProperty) -> Finding {
    Finding::new(Code::UnknownProperty, format!("this model has no property `{}`", unknown.wish))
        .help(format!("the properties of this model: {}", unknown.available.join(", ")))
        .help("or name a kind: safety, progress, acceptance, ltl")
}

fn faulty(loaded: &Loaded, more: Option<Finding>) -> Outcome {
    let findings: Vec<Finding> = more.into_iter().collect();
    let all = loaded.findings.iter().chain(&findings);
    let errors = all.clone().filter(|finding| finding.is_error()).count();
    let plural = if errors == 1 { "" } else { "s" };
    let mut report =
        report(&loaded.name, Verdict::Faulty, false, format!("not checked, because of {errors} error{plural}"));
    report.findings = all.map(|finding| FindingReport::new(&loaded.map, finding)).collect();
    Outcome { report, counterexamples: Vec::new(), findings, failure: None }
}

fn report(name: &str, verdict: Verdict, exhaustive: bool, reason: String) -> Report {
    Report {
        tool: TOOL,
        version: VERSION,
        file: name.to_owned(),
        verdict,
        exhaustive,
        reason,
        findings: Vec::new(),
        properties: Vec::new(),
        project: None,
        internal_error: None,
    }
}
