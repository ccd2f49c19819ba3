//! What is wrong with a model: findings about its text, and what checks found out, each at its place.

use super::originals::{self, OriginalPlace};
use super::place::Place;
use super::{deadlocks, mutants, schedules};
use crate::session::Document;
use crate::session::reading::Reading;
use crate::session::replay::Replayed;
use crate::session::results::{Known, is_unreached};
use fabius_base::{Code, Finding, Severity, SourceMap, Span};
use fabius_engine::report::original_note;
use fabius_engine::words::counted;
use fabius_engine::{Counterexample, Fairness, SAFETY, Verdict};
use fabius_mutation::report::{MutantOutcome, MutationReport};
use fabius_witness::{Changed, RunFairness, Step, Trace};
use std::ops::Range;

/// This many steps of a counterexample are told with a diagnostic.
const KEY_STEPS_MAX: usize = 6;
/// The last steps of a run are always told.
const LAST_STEPS: usize = 2;
/// More diagnostics than this help nobody.
const DIAGNOSTICS_MAX: usize = 300;
/// Of a longer run, only the last steps and the start of its loop are weighed.
const WEIGHED_STEPS_MAX: usize = 5_000;

/// How much a diagnostic matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Level {
    Error,
    Warning,
    Information,
    Hint,
}

/// Something to be shown at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Where.
    pub place: Place,
    /// How much it matters.
    pub level: Level,
    /// The row of the table of codes.
    pub code: &'static str,
    /// One line, then more lines that say why and what to do.
    pub message: String,
    /// Other places, each with what to say there, in order.
    pub related: Vec<(Place, String)>,
    /// The line from which the text was generated, if that file is there.
    pub original: Option<OriginalPlace>,
    /// A check found it out, not the text alone.
    pub of_check: bool,
    /// The text is never executed.
    pub faded: bool,
    /// Of a counterexample: the property and which of its counterexamples it is.
    pub counterexample: Option<(String, usize)>,
}

impl Diagnostic {
    /// The files that it is about.
    pub fn files(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.place.file).chain(self.related.iter().map(|(place, _)| &place.file))
    }
}

/// What the texts of a model say, in stable order; nothing of checks.
pub fn of_texts(name: &str, reading: &Reading) -> Vec<Diagnostic> {
    sorted(reading.loaded.findings.iter().map(|finding| of_text(name, reading.map(), finding)).collect())
}

fn sorted(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by(|a, b| (&a.place, a.level, &a.message).cmp(&(&b.place, b.level, &b.message)));
    found.dedup();
    found.truncate(DIAGNOSTICS_MAX);
    found
}

/// Everything to be shown about a model, in stable order: by file, place, level.
pub fn diagnostics(name: &str, document: &Document, reading: &Reading) -> Vec<Diagnostic> {
    let mut found = of_texts(name, reading);
    for known in &document.results.known {
        let expected = document.expected(&known.report.name);
        let mut told = of_result(name, known);
        if known.report.name == SAFETY
            && let Some((sentence, places)) = schedules::told(document, reading)
            && let Some(first) = told.iter_mut().find(|diagnostic| diagnostic.counterexample.is_some())
        {
            first.message = format!("{}\n{sentence}", first.message);
            first.related.extend(places);
        }
        found.extend(told.into_iter().map(|diagnostic| as_expected(diagnostic, expected)));
        if (expected, known.report.verdict, known.stale) == (Some(Verdict::Violated), Verdict::Holds, false) {
            found.push(unexpected(name, reading, &known.report.name));
        }
    }
    found.extend(deadlocks::hints(name, document, reading));
    found.extend(document.mutants().into_iter().flat_map(|report| unnoticed(reading, report)));
    found.extend(document.misconfigured().map(|wrong| misconfigured(name, &wrong)));
    let missing = document.options.missing_models.iter();
    found.extend(missing.map(|why| {
        let message = format!("{}: {why}", fabius_project::config::NAME);
        Diagnostic { level: Level::Warning, code: Code::NoSuchModel.as_str(), message, ..misconfigured(name, "") }
    }));
    sorted(found)
}

/// The changes of the model that no property notices.
fn unnoticed(reading: &Reading, report: &MutationReport) -> impl Iterator<Item = Diagnostic> {
    let survived = report.mutants.iter().filter(|mutant| mutant.outcome == MutantOutcome::Survived);
    survived.map(|mutant| Diagnostic {
        place: Place::of(reading.map(), mutant.span),
        level: Level::Information,
        code: Code::Unnoticed.as_str(),
        message: mutants::message(mutant),
        related: Vec::new(),
        original: originals::place(reading.map(), mutant.span),
        of_check: true,
        faded: false,
        counterexample: None,
    })
}

/// A violation that was expected is no error.
fn as_expected(mut diagnostic: Diagnostic, expected: Option<Verdict>) -> Diagnostic {
    if diagnostic.counterexample.is_some() && expected == Some(Verdict::Violated) {
        diagnostic.level = Level::Information;
        diagnostic.message = format!("as expected: {}", diagnostic.message);
    }
    diagnostic
}

/// A property that holds although it was expected not to.
fn unexpected(name: &str, reading: &Reading, property: &str) -> Diagnostic {
    let expectation = reading.loaded.expectation(property);
    let whole = Place { file: name.to_owned(), start: 0, end: 0 };
    let who = if expectation.is_some() { "this comment" } else { "fabius.toml" };
    Diagnostic {
        place: expectation.map_or(whole, |expectation| Place::of(reading.map(), expectation.span)),
        level: Level::Warning,
        code: Code::BadExpectation.as_str(),
        message: format!("{property} holds, although {who} expects that it is violated"),
        related: Vec::new(),
        original: None,
        of_check: true,
        faded: false,
        counterexample: None,
    }
}

/// The model is not checked, since the settings of its project cannot be read.
fn misconfigured(name: &str, wrong: &str) -> Diagnostic {
    Diagnostic {
        place: Place { file: name.to_owned(), start: 0, end: 0 },
        level: Level::Error,
        code: Code::BadProject.as_str(),
        message: format!("not checked, because the settings of the project cannot be read: {wrong}"),
        related: Vec::new(),
        original: None,
        of_check: true,
        faded: false,
        counterexample: None,
    }
}

fn of_text(name: &str, map: &SourceMap, finding: &Finding) -> Diagnostic {
    let at = |span: Span| place_of(map, span);
    let place = finding.span().map_or_else(|| Place { file: name.to_owned(), start: 0, end: 0 }, at);
    let (first, others) = finding.labels.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    let here = first.map(|label| label.text.as_str()).filter(|text| !text.is_empty());
    let mut lines = vec![match here {
        Some(text) => format!("{}: {text}", finding.headline),
        None => finding.headline.clone(),
    }];
    lines.extend(finding.notes.iter().cloned());
    lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
    lines.extend(finding.span().and_then(|span| original_note(map, span)));
    let mut related: Vec<(Place, String)> = others.iter().map(|label| (at(label.span), label.text.clone())).collect();
    if let Some(span) = finding.span() {
        related.extend(expansions(map, span));
    }
    Diagnostic {
        place,
        level: match finding.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Note => Level::Information,
        },
        code: finding.code.as_str(),
        message: lines.join("\n"),
        related,
        original: finding.span().and_then(|span| originals::place(map, span)),
        of_check: false,
        faded: false,
        counterexample: None,
    }
}

/// Through which macros and inline calls a piece of text came to be.
fn expansions(map: &SourceMap, span: Span) -> Vec<(Place, String)> {
    let chain = map.expansion_chain(span);
    let mut told: Vec<(Place, String)> = Vec::new();
    if chain.first().is_some_and(|inner| inner.kind == fabius_base::ExpansionKind::Macro) {
        let name = &chain[0].name;
        told.push((Place::of(map, span), format!("in the text of the macro `{name}`")));
    }
    let inlines = chain.iter().filter(|expansion| expansion.kind == fabius_base::ExpansionKind::Inline);
    told.extend(inlines.map(|call| (place_of(map, call.call), format!("in this call of inline `{}`", call.name))));
    told
}

fn place_of(map: &SourceMap, span: Span) -> Place {
    Place::of(map, map.user_span(span))
}

/// What a check found out about a property.
fn of_result(name: &str, known: &Known) -> Vec<Diagnostic> {
    let examples = known.counterexamples.iter().enumerate();
    let mut found: Vec<Diagnostic> = examples.map(|(at, example)| violation(name, known, example, at)).collect();
    for finding in &known.findings {
        if known.stale && is_unreached(finding) {
            continue;
        }
        let mut diagnostic = of_text(name, known.reading.map(), finding);
        diagnostic.of_check = true;
        if let Some(span) = finding.span() {
            diagnostic.place = place(known.place(span, name));
        }
        if is_unreached(finding) {
            (diagnostic.level, diagnostic.faded) = (Level::Hint, true);
        }
        found.push(diagnostic);
    }
    found
}

fn place((file, range): (String, Range<usize>)) -> Place {
    Place { file, start: range.start, end: range.end }
}

fn violation(name: &str, known: &Known, example: &Counterexample, index: usize) -> Diagnostic {
    let trace = &example.trace;
    let at = |span: Span| place(known.place(span, name));
    let whole = Place { file: name.to_owned(), start: 0, end: 0 };
    let place = example.finding.span().map_or_else(|| whole.clone(), at);
    let was = "before the last edits: ".to_owned();
    let (level, prefix) = match &known.replayed {
        _ if !known.stale => (Level::Error, String::new()),
        Some(Replayed::StillFails(_) | Replayed::StillLoops(..)) => (Level::Error, String::new()),
        Some(_) => (Level::Information, was),
        None => (Level::Warning, was),
    };
    let mut lines = vec![format!("{prefix}{}", headline(known, example))];
    if let Some(replayed) = known.replayed.as_ref().filter(|_| known.stale) {
        lines.push(replayed.words());
    } else {
        lines.extend(example.finding.labels.first().map(|label| label.text.clone()).filter(|text| !text.is_empty()));
        lines.extend(trace.propositions.iter().cloned());
        lines.extend(fairness(known, trace));
        // What other runs do that are fairer.
        lines.extend(trace.infinite.iter().flat_map(|infinite| infinite.fair.iter().skip(1).cloned()));
        lines.extend(trace.explanation.iter().flat_map(|explanation| explanation.sentences.iter().cloned()));
        lines.extend(example.finding.notes.iter().cloned());
        lines.extend(example.finding.help.iter().map(|help| format!("help: {help}")));
    }
    lines.dedup();
    lines.extend(example.finding.span().and_then(|span| original_note(known.reading.map(), span)));
    let mut related = key_steps(trace, &at);
    related.extend(example.finding.labels.iter().skip(1).map(|label| (at(label.span), label.text.clone())));
    Diagnostic {
        place,
        level,
        code: example.finding.code.as_str(),
        message: lines.join("\n"),
        related,
        original: example.finding.span().and_then(|span| originals::place(known.reading.map(), span)),
        of_check: true,
        faded: false,
        counterexample: Some((known.report.name.clone(), index)),
    }
}

/// Which fairness excludes an infinite run, or which it was found under.
fn fairness(known: &Known, trace: &Trace) -> Option<String> {
    match (known.fairness, trace.infinite.as_ref()?.fairness) {
        (_, RunFairness::Unfair) => Some("Unfair run: excluded under weak fairness.".to_owned()),
        (_, RunFairness::Weak) => Some("Weakly fair run: excluded under strong fairness.".to_owned()),
        (Fairness::None, RunFairness::Strong) => None,
        (fairness, RunFairness::Strong) => Some(format!("Violated under {} fairness.", fairness.as_str())),
    }
}

/// What goes wrong, in one line.
fn headline(known: &Known, example: &Counterexample) -> String {
    let trace = &example.trace;
    let way = match trace.steps.movers().len() {
        0 => String::new(),
        1 => format!(": {}, 1 process", counted(trace.len() as u64, "step")),
        many => format!(": {}, {many} processes", counted(trace.len() as u64, "step")),
    };
    let property = match known.report.name.as_str() {
        "safety" | "progress" | "acceptance" => String::new(),
        named => format!("{named}: "),
    };
    let text = &example.finding.headline;
    let text = text.split(" after ").next().unwrap_or(text);
    format!("{property}{text}{way}")
}

/// The steps that matter most, in order, and how many there are beside them.
fn key_steps(trace: &Trace, at: &dyn Fn(Span) -> Place) -> Vec<(Place, String)> {
    let chosen = chosen_steps(trace);
    let mut told: Vec<(Place, String)> = Vec::new();
    for step in &chosen {
        let mark = match trace.cycle_start {
            Some(start) if start <= step.number => "⟳",
            _ => "",
        };
        told.push((at(step.fault_span), format!("{mark}{}. {}", step.number, sentence(step))));
    }
    let more = trace.len() - chosen.len();
    if let (Some((place, _)), true) = (told.last().cloned(), more > 0) {
        told.push((place, format!("… {} more", counted(more as u64, "step"))));
    }
    told
}

/// The steps to tell: the last ones, steps that start the loop, that change what the last step looks at, and steps at
/// which another process goes on. The moves of a claim are none of them: nobody wrote these.
fn chosen_steps(trace: &Trace) -> Vec<Step> {
    let first = (trace.len() + 1).saturating_sub(WEIGHED_STEPS_MAX).max(1);
    let loop_start = trace.cycle_start.filter(|start| *start < first).into_iter();
    let steps: Vec<Step> = loop_start
        .flat_map(|start| trace.taken_from(start, start))
        .chain(trace.taken_from(first, usize::MAX))
        .collect();
    let last_text = steps.last().map_or("", |step| step.actor.text.as_str());
    let weight = |index: usize| -> u32 {
        let step = &steps[index];
        let late = steps.len() - index <= LAST_STEPS;
        let loop_start = trace.cycle_start.is_some_and(|start| step.number == start);
        let matters = step.changes.iter().any(|change| {
            change.what == Changed::Variable && mentions(last_text, change.name.split(['[', '.']).next().unwrap_or(""))
        });
        let switch = index == 0 || steps[index - 1].actor.pid != step.actor.pid;
        let talks = !step.messages.is_empty();
        u32::from(late) * 100
            + u32::from(loop_start) * 100
            + u32::from(matters) * 8
            + u32::from(step.fault.is_some()) * 100
            + u32::from(!step.notes.is_empty()) * 4
            + u32::from(talks) * 3
            + u32::from(switch) * 2
            + u32::from(!step.changes.is_empty())
    };
    let mut order: Vec<usize> = (0..steps.len()).collect();
    // Among equals, later steps tell more about the end.
    order.sort_by_key(|&index| (std::cmp::Reverse(weight(index)), std::cmp::Reverse(index)));
    order.truncate(KEY_STEPS_MAX);
    order.sort_unstable();
    order.into_iter().map(|index| steps[index].clone()).collect()
}

/// Whether a word occurs in a statement.
fn mentions(text: &str, word: &str) -> bool {
    let word = word.rsplit(':').next().unwrap_or(word);
    !word.is_empty() && text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

/// A step in a few words: who, what, and what changed.
fn sentence(step: &Step) -> String {
    let mut text = format!("{}: {}", step.actor.name, step.actor.text);
    let changes = step.changes.iter().map(|change| format!("{}: {} → {}", change.name, change.old, change.new));
    let changes: Vec<String> = changes.take(3).collect();
    if !changes.is_empty() {
        text.push_str(&format!("   ({})", changes.join(", ")));
    }
    if let Some(partner) = &step.partner {
        text.push_str(&format!(" with {}", partner.name));
    }
    for note in &step.notes {
        text.push_str(" — ");
        text.push_str(&note.text);
    }
    text
}
