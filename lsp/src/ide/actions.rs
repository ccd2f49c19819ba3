//! Code actions: what could be done about what is wrong here. An edit that changes what the model does is
//! tried by the checker in the background, and its title says what became of it.

use super::place::View;
use super::{originals, questions, schedules};
use crate::session::Document;
use crate::session::fix_validations::FixValidation;
use crate::session::reading::Reading;
use crate::session::results::Known;
use fabius_base::{Finding, Span};
use fabius_engine::report::ViolationClass;
use fabius_engine::{Counterexample, Fairness};
use fabius_language::{Rewrite, RewriteRequest, SymbolKind};
use fabius_witness::{ProcessStatus, Reason, RunFairness, Step, Trace};
use std::ops::Range;

/// This many edits are tried after a check.
const TRIED_MAX: usize = 8;
/// This many of the processes that are stuck together are offered something each.
const STUCK_MAX: usize = 3;
/// Interruptions are looked for in this many steps, the last ones.
const RACE_STEPS_MAX: usize = 5_000;

/// What it means to mark places with `end:`.
const DEADLOCK_ALLOWED: &str = "weakens the property: waiting there is no deadlock then";
/// What it means to mark a place with `progress:`.
const LOOP_ALLOWED: &str = "weakens the property: this loop makes progress then";

/// What kind of action it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionKind {
    /// It mends something.
    Fix,
    /// It makes the model better without changing what it does.
    Rewrite,
    /// It only tells.
    Explain,
    /// It asks something that takes a search.
    Ask,
    /// It leads to another text.
    Open,
}

/// Something that could be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// What, in a few words.
    pub title: String,
    /// Of which kind.
    pub kind: ActionKind,
    /// The edits of the document.
    pub edits: Vec<(Range<usize>, String)>,
    /// Where it is offered.
    pub place: Range<usize>,
    /// The checker tries it.
    pub tried: bool,
    /// It is known to mend the model.
    pub preferred: bool,
    /// The property that it is to mend.
    pub mends: Option<String>,
    /// It was tried, and that property is still violated then.
    pub fails: bool,
    /// It mends nothing, but has the check ask for less.
    pub weakens: Option<&'static str>,
    /// What is done instead of edits.
    pub command: Option<Command>,
}

/// What an action does that edits nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Explains a violation: the property, and which of its counterexamples.
    Explain(String, usize),
    /// Finds the causes of the violations of a property.
    Causes(String),
    /// Opens the original text of a line, from 1.
    Original(u32),
    /// Asks in which contexts with a process of a type the model goes wrong.
    Contexts(String),
    /// Asks whether a deadlock can be reached in which a process waits at a line, from 1.
    Stuck(u32),
    /// Checks a property, where only the infinite runs count that are fair in this way.
    Check(String, Fairness),
}

/// The actions for a stretch of a document.
pub fn actions(name: &str, document: &Document, reading: &Reading, range: &Range<usize>) -> Vec<Action> {
    let Some(view) = View::new(reading, name) else { return Vec::new() };
    let mut found = all(name, document, view);
    found.retain(|action| action.place.start <= range.end && range.start <= action.place.end);
    found.extend(wrap_selection(view, range));
    found.extend(questions::at(view, range));
    found.extend(open_original(view, range));
    for action in found.iter_mut().filter(|action| action.tried) {
        let text = edited(view.text(), &action.edits);
        if let Some(why) = action.weakens {
            action.title = format!("{} — {why}", action.title);
        }
        let Some(validation) = document.fix_validations.of(&text) else { continue };
        // What is known not to mend the property is not offered.
        action.fails = match validation {
            Some(FixValidation::Fails(_, _, violated)) => {
                action.mends.as_ref().is_none_or(|property| violated.contains(property))
            }
            Some(FixValidation::Faulty) => true,
            Some(FixValidation::Holds(_) | FixValidation::Undecided(_)) | None => false,
        };
        let words = validation.as_ref().map_or_else(|| "being tried".to_owned(), FixValidation::words);
        action.title = format!("{} — {words}", action.title);
        action.preferred = matches!(validation, Some(FixValidation::Holds(_))) && action.weakens.is_none();
    }
    found.retain(|action| !action.fails);
    found.sort_by_key(|action| (!action.preferred, action.weakens.is_some()));
    // An editor that is told to mend a violation takes what is preferred: one edit.
    let mends = found.iter_mut().filter(|action| action.mends.is_some() && action.preferred);
    mends.skip(1).for_each(|action| action.preferred = false);
    found
}

/// The texts that the actions of a document would make, if the checker is to try them.
pub fn worth_trying(name: &str, document: &Document, reading: &Reading) -> Vec<String> {
    let Some(view) = View::new(reading, name) else { return Vec::new() };
    let tried = all(name, document, view).into_iter().filter(|action| action.tried);
    tried.take(TRIED_MAX).map(|action| edited(view.text(), &action.edits)).collect()
}

/// A text after edits, which do not overlap.
pub fn edited(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 32);
    let mut at = 0;
    for (range, with) in &edits {
        out.push_str(text.get(at..range.start).unwrap_or(""));
        out.push_str(with);
        at = range.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// Everything that could be done about a document.
fn all(name: &str, document: &Document, view: View<'_>) -> Vec<Action> {
    let mut found: Vec<Action> =
        view.reading.loaded.findings.iter().filter_map(|finding| spelling(view, finding)).collect();
    for known in document.results.known.iter().filter(|known| !known.stale) {
        found.extend(check_all_runs(view, known));
        for (index, example) in known.counterexamples.iter().enumerate() {
            let place = example.finding.span().map_or(0..0, |span| known.place(span, name).1);
            found.push(explain(known, index, place.clone()));
            found.extend(find_causes(known, &place));
            found.extend(check_fairly(known, example, &place));
            let mends = Some(known.report.name.clone());
            found.extend(
                mend(view, example, &place).into_iter().map(|action| Action { mends: mends.clone(), ..action }),
            );
        }
    }
    found.extend(schedules::action_of(document, view, name));
    found.extend(narrow(document, view));
    found
}

pub(super) fn action(title: String, place: &Range<usize>, edits: Vec<(Range<usize>, String)>) -> Action {
    let place = place.clone();
    Action {
        title,
        kind: ActionKind::Fix,
        edits,
        place,
        tried: true,
        preferred: false,
        mends: None,
        fails: false,
        weakens: None,
        command: None,
    }
}

fn spelling(view: View<'_>, finding: &Finding) -> Option<Action> {
    let span = finding.span().filter(|span| span.file == view.file)?;
    let word = finding.help.iter().find_map(|help| help.strip_prefix("did you mean `")?.split('`').next())?;
    let range = span.start as usize..span.end as usize;
    let title = format!("Write `{word}`");
    Some(Action { tried: false, preferred: true, ..action(title, &range.clone(), vec![(range, word.to_owned())]) })
}

fn explain(known: &Known, index: usize, place: Range<usize>) -> Action {
    let command = Command::Explain(known.report.name.clone(), index);
    told("Explain this violation".to_owned(), command, &place)
}

/// The different ways in which a property can be violated, by whatever infinite runs.
fn find_causes(known: &Known, place: &Range<usize>) -> Option<Action> {
    let property = known.report.name.clone();
    let title = format!("Find the causes of all violations of `{property}`");
    let action = Action { kind: ActionKind::Ask, ..told(title, Command::Causes(property), place) };
    (known.fairness == Fairness::None).then_some(action)
}

pub(super) fn told(title: String, command: Command, place: &Range<usize>) -> Action {
    let command = Some(command);
    Action { kind: ActionKind::Explain, tried: false, command, ..action(title, place, Vec::new()) }
}

/// The original of a line of a generated model, if it is there.
fn open_original(view: View<'_>, range: &Range<usize>) -> Option<Action> {
    let place = originals::at(view, range.start)?;
    let number = view.text().get(..range.start)?.matches('\n').count() as u32 + 1;
    let action = told(format!("Open the original text, {}", place.words), Command::Original(number), range);
    Some(Action { kind: ActionKind::Open, ..action })
}

/// Where a stronger fairness excludes the run that was found, others may still violate the property: a check tells.
fn check_fairly(known: &Known, example: &Counterexample, place: &Range<usize>) -> Option<Action> {
    let fairness = match example.trace.infinite.as_ref()?.fairness {
        RunFairness::Unfair => Fairness::Weak,
        RunFairness::Weak => Fairness::Strong,
        RunFairness::Strong => return None,
    };
    let property = known.report.name.clone();
    let title = format!("Check `{property}` under {} fairness", fairness.as_str());
    Some(told(title, Command::Check(property, fairness), place))
}

/// What was checked under fairness can be checked without.
fn check_all_runs(view: View<'_>, known: &Known) -> Option<Action> {
    let property = known.report.name.clone();
    let place = own(view, view.reading.place_of(&property)?)?;
    let title = format!("Check `{property}` without fairness");
    (known.fairness != Fairness::None).then(|| told(title, Command::Check(property, Fairness::None), &place))
}

/// What could mend a counterexample.
fn mend(view: View<'_>, example: &Counterexample, place: &Range<usize>) -> Vec<Action> {
    let mut found = Vec::new();
    match example.report.kind {
        ViolationClass::InvalidEndState => {
            let stuck: Vec<&ProcessStatus> = example.trace.last.processes.iter().filter(|status| !status.end).collect();
            found.extend(all_wait_for_ever(view, &stuck, place));
            for status in stuck.into_iter().take(STUCK_MAX) {
                found.extend(wait_for_ever(view, status, place));
                found.extend(more_room(view, status, place));
                found.extend(add_else(view, status, place));
            }
        }
        ViolationClass::Assertion | ViolationClass::Evaluation => {}
        _ => found.extend(progress(view, example, place)),
    }
    found.extend(wrap_races(view, &example.trace, place));
    let mut seen: Vec<Vec<(Range<usize>, String)>> = Vec::new();
    found.retain(|action| {
        let new = !seen.contains(&action.edits);
        seen.push(action.edits.clone());
        new
    });
    found
}

/// A place in this file, as it is written there.
fn own(view: View<'_>, span: Span) -> Option<Range<usize>> {
    let shown = view.reading.map().user_span(span);
    (shown.file == view.file).then_some(shown.start as usize..shown.end.max(shown.start) as usize)
}

/// What a language offers for a request, as an action at a place.
fn rewrite(view: View<'_>, request: &RewriteRequest<'_>, place: &Range<usize>) -> Option<Action> {
    let Rewrite { title, edits } = view.language().rewrite(view.source(), request)?;
    Some(action(title, place, edits.into_iter().map(|edit| (edit.range, edit.text)).collect()))
}

/// Where a process stands that waits.
fn waits_at(view: View<'_>, status: &ProcessStatus) -> Option<usize> {
    let span = status.waiting.first().map_or(status.span, |waiting| waiting.span);
    Some(own(view, span)?.start)
}

/// That all may wait where they are is often what was meant: the work is done.
fn all_wait_for_ever(view: View<'_>, stuck: &[&ProcessStatus], place: &Range<usize>) -> Option<Action> {
    let at: Option<Vec<usize>> = stuck.iter().map(|status| waits_at(view, status)).collect();
    let request = RewriteRequest::AllowWaiting { who: &format!("all {} processes", stuck.len()), at: &at? };
    let action = rewrite(view, &request, place).filter(|action| 1 < action.edits.len())?;
    Some(Action { weakens: Some(DEADLOCK_ALLOWED), ..action })
}

fn wait_for_ever(view: View<'_>, status: &ProcessStatus, place: &Range<usize>) -> Option<Action> {
    let request = RewriteRequest::AllowWaiting { who: &status.process, at: &[waits_at(view, status)?] };
    Some(Action { weakens: Some(DEADLOCK_ALLOWED), ..rewrite(view, &request, place)? })
}

fn progress(view: View<'_>, example: &Counterexample, place: &Range<usize>) -> Option<Action> {
    let start = example.trace.cycle_start?;
    let step = example.trace.taken_from(start, start).next()?;
    let at = own(view, step.actor.span)?.start;
    let request = RewriteRequest::CountProgress { statement: &step.actor.text, at };
    Some(Action { weakens: Some(LOOP_ALLOWED), ..rewrite(view, &request, place)? })
}

fn more_room(view: View<'_>, status: &ProcessStatus, place: &Range<usize>) -> Option<Action> {
    let channel = status.waiting.iter().find_map(|waiting| match &waiting.reason {
        Reason::ChannelFull { channel, .. } | Reason::NoReceiver { channel } => Some(channel),
        _ => None,
    })?;
    let name = channel.split(['[', ' ']).next().unwrap_or(channel);
    rewrite(view, &RewriteRequest::EnlargeChannel { name }, place)
}

fn add_else(view: View<'_>, status: &ProcessStatus, place: &Range<usize>) -> Option<Action> {
    let at = own(view, status.waiting.first()?.span)?.start;
    rewrite(view, &RewriteRequest::AddElse { at }, place)
}

/// Where a process was interrupted between two of its steps, or before one that it did not come to: wraps what lies
/// between.
fn wrap_races(view: View<'_>, trace: &Trace, place: &Range<usize>) -> Vec<Action> {
    let mut found: Vec<Action> = Vec::new();
    let first = (trace.len() + 1).saturating_sub(RACE_STEPS_MAX);
    let steps: Vec<Step> = trace.taken_from(first, usize::MAX).collect();
    for (at, step) in steps.iter().enumerate().rev() {
        let pid = step.actor.pid;
        let later = steps[at + 1..].iter().position(|later| later.actor.pid == pid);
        let status = || trace.last.processes.iter().find(|status| status.pid == pid);
        let next = match later {
            Some(between) => (0 < between).then(|| steps[at + 1 + between].actor.span),
            None if at + 1 == steps.len() => None,
            None => status().and_then(|status| status.waiting.first()).map(|waiting| waiting.span),
        };
        let Some(next) = next.filter(|_| !step.holds) else { continue };
        let ranges = own(view, step.actor.span).zip(own(view, next));
        let Some((first, last)) = ranges.filter(|(first, last)| first.end <= last.start) else { continue };
        let line = |at: usize| view.reading.map().line_column(view.file, at as u32).0;
        let lines = Some([line(first.start), line(last.start)]);
        found.extend(rewrite(view, &RewriteRequest::MakeAtomic { range: first.start..last.end, lines }, place));
        if found.len() >= 5 {
            break;
        }
    }
    found
}

fn wrap_selection(view: View<'_>, range: &Range<usize>) -> Option<Action> {
    let text = view.text().get(range.clone())?;
    if text.trim().is_empty() || !text.contains([';', '\n']) {
        return None;
    }
    let start = range.start + text.len() - text.trim_start().len();
    let end = range.end - (text.len() - text.trim_end().trim_end_matches(';').len());
    let request = RewriteRequest::MakeAtomic { range: start..end.max(start), lines: None };
    Some(Action { kind: ActionKind::Rewrite, ..rewrite(view, &request, range)? })
}

/// Variables whose values would fit into a smaller type, as far as every state was looked at.
fn narrow(document: &Document, view: View<'_>) -> Vec<Action> {
    let Some(survey) = document.results.survey.as_ref().filter(|survey| survey.exhaustive) else { return Vec::new() };
    let index = view.index();
    let mut found = Vec::new();
    for id in index.ids() {
        let symbol = index.symbol(id);
        if !matches!(symbol.kind, SymbolKind::Global | SymbolKind::Local) || symbol.definition.file != view.file {
            continue;
        }
        let owner = symbol.container.map(|owner| index.symbol(owner).name.to_string());
        let Some(seen) = survey.variables.get(&(owner, symbol.name.to_string())).filter(|seen| !seen.special) else {
            continue;
        };
        let (Some(&least), Some(&most)) = (seen.values.first(), seen.values.last()) else { continue };
        let request = RewriteRequest::NarrowType { symbol: id, bits: seen.bits, values: [least, most] };
        let narrowed = rewrite(view, &request, &(0..0)).filter(|_| !seen.more);
        let Some((action, start)) = narrowed.and_then(|it| Some((it.clone(), it.edits.first()?.0.start))) else {
            continue;
        };
        let place = start..symbol.definition.end as usize;
        found.push(Action { kind: ActionKind::Rewrite, tried: false, place, ..action });
    }
    found
}
