//! From a loaded model to its report: plan, searches for all properties (see `portfolio`), one verdict.

use crate::outcome::{Outcome, conclude, faulty, report};
use crate::portfolio::{self, Open};
use crate::prepared::Bases;
use crate::{prune, vacuity};
use fabius_analysis::starvation;
use fabius_base::{Code, Finding};
use fabius_checkpoint::not_kept;
use fabius_observe::{CheckContext, Event};
use fabius_program::Program;
use fabius_strategy::{self as strategy, Asked, Choice, choose};
use fabius_task::load::Loaded;
use fabius_task::plan::{Plan, Planned, Question, plan, unknown_property};
use fabius_task::report::{FindingReport, TOOL, VERSION, Verdict};
use fabius_task::settings::{CheckpointFiles, Settings};
use std::sync::Arc;

/// Checks a model as the settings say.
pub fn check(loaded: &Loaded, settings: &Settings, context: &mut CheckContext<'_>) -> Outcome {
    let settings = &prune::without_more(settings);
    (context.observe)(Event::Started { tool: TOOL, version: VERSION, file: loaded.name.clone() });
    for finding in &loaded.findings {
        (context.observe)(Event::Finding { finding: FindingReport::new(&loaded.map, finding) });
    }
    let mut outcome = match loaded.checkable() {
        None => faulty(loaded, None),
        Some(program) => match plan(program, &settings.properties) {
            Err(unknown) => faulty(loaded, Some(unknown_property(&unknown))),
            Ok(plan) => {
                match strategy::refusal(&plan, settings).or_else(|| prune::refusal(loaded, program, settings)) {
                    Some(finding) => faulty(loaded, Some(finding)),
                    None => check_all(loaded, program, &plan, settings, context),
                }
            }
        },
    };
    outcome.report.project = loaded.project.as_ref().map(|project| project.report.clone());
    (context.observe)(Event::Done { report: Box::new(outcome.report.clone()) });
    outcome
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

/// Says which options no search for what violates a property supports, and which search runs instead.
fn without_effect(choice: &Choice, planned: &Planned) -> Option<Finding> {
    let missed = choice.set_aside.iter().filter(|option| option.feature.concerns(planned.question));
    let missed: Vec<String> = missed.map(|option| format!("`{}`", option.flag)).collect();
    let headline = format!("no effect on the search for violations of `{}`: {}", planned.name, missed.join(", "));
    let finding = || Finding::new(Code::WithoutEffect, headline);
    (!missed.is_empty()).then(|| finding().help(format!("the search for these is {}", choice.name())))
}

fn check_all(
    loaded: &Loaded,
    program: &Arc<Program>,
    plan: &Plan,
    settings: &Settings,
    context: &mut CheckContext<'_>,
) -> Outcome {
    let mut outcome = Outcome {
        report: report(&loaded.name, Verdict::Undecided, false, String::new()),
        counterexamples: Vec::new(),
        findings: Vec::new(),
        executed: None,
        failure: None,
    };
    let (mut open, bases) = (Vec::new(), Arc::<Bases>::default());
    let chosen = |planned| choose(&Asked::of(planned, settings), settings).map(|choice: Choice| (planned, choice));
    let searches: Vec<(&Planned, Choice)> = plan.properties.iter().filter_map(chosen).collect();
    let kept = searches.iter().find(|(_, choice)| choice.is_kept()).map(|(planned, _)| planned.name.as_str());
    for (planned, mut choice) in searches {
        if let Some(note) = not_kept(settings, &choice, planned, kept) {
            choice.settings.checkpoint_files = CheckpointFiles::default();
            outcome.findings.push(note);
        }
        outcome.findings.extend(choices_free(settings, planned));
        outcome.findings.extend(without_effect(&choice, planned));
        open.push(Open::new(planned, choice, &bases));
    }
    let mut marks = None;
    let (decided, executed) = portfolio::decide(loaded, program, settings, open, context);
    outcome.executed = Some(executed);
    for found in decided {
        outcome.counterexamples.extend(found.counterexamples);
        outcome.findings.extend(found.findings);
        marks = marks.or(found.marks);
        outcome.failure = outcome.failure.or(found.failure);
        outcome.report.properties.push(found.report);
    }
    if settings.hints && outcome.failure.is_none() {
        let hints = starvation::hints(program, settings, context.cancel);
        outcome.failure.clone_from(&hints.failure);
        outcome.findings.extend(hints.into_findings());
    }
    if outcome.failure.is_none() {
        vacuity::add_marks(&mut outcome, marks.as_ref(), settings);
        vacuity::add_to(&mut outcome, loaded, (program, &bases), plan, settings, context);
    }
    let findings = loaded.findings.iter().chain(&outcome.findings);
    outcome.report.findings = findings.map(|finding| FindingReport::new(&loaded.map, finding)).collect();
    outcome.report.internal_error.clone_from(&outcome.failure);
    conclude(&mut outcome.report);
    outcome
}
