//! Code actions: what could be done about what is wrong here. An edit that changes what the model does is
//! tried by the checker in the background, and its title says what became of it.

use super::place::View;
use super::{questions, schedules};
use crate::session::Document;
use crate::session::fix_validations::FixValidation;
use crate::session::reading::Reading;
use crate::session::results::Known;
use fabius_base::{Finding, Span};
use fabius_engine::report::ViolationClass;
use fabius_engine::{Counterexample, Fairness};
use fabius_promela::query::tokens::{Piece, PieceKind};
use fabius_promela::query::{Stretch, SymbolKind};
use fabius_witness::{ProcessStatus, Reason, RunFairness, Step, Trace};
use std::collections::BTreeSet;
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

pub(super) fn told(title: String, command: Command, place: &Range<usize>) -> Action {
    let command = Some(command);
    Action { kind: ActionKind::Explain, tried: false, command, ..action(title, place, Vec::new()) }
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
                found.extend(else_skip(view, status, place));
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

/// Where a label for the statement at a byte goes: before it, or before the choice whose option it begins.
fn label_place(view: View<'_>, at: usize) -> usize {
    let mut at = at;
    while let Some(choice) =
        before(view, at).filter(|piece| piece.text(view.text()) == "::").and(choice_around(view, at))
    {
        at = choice.start as usize;
    }
    at
}

/// The innermost `if` or `do` that holds a byte but does not begin there.
fn choice_around(view: View<'_>, at: usize) -> Option<&Stretch> {
    let text = view.text();
    let own = view.index().stretches.iter().filter(|stretch| {
        let (start, end) = (stretch.start as usize, stretch.end as usize);
        let word = || text.get(start..start + 2).is_some_and(|word| word == "if" || word == "do");
        stretch.file == view.file && stretch.folds && start < at && at < end && word()
    });
    own.min_by_key(|stretch| stretch.end - stretch.start)
}

/// The piece of code before a byte.
fn before(view: View<'_>, at: usize) -> Option<&Piece> {
    let pieces = view.index().pieces(view.file);
    let end = pieces.partition_point(|piece| piece.range.end <= at);
    pieces[..end].iter().rev().find(|piece| piece.is_code())
}

/// A label with a prefix that the process at a byte does not have yet, nor is to get.
fn free_label(view: View<'_>, prefix: &str, at: usize, taken: &[String]) -> String {
    let index = view.index();
    let members = index.members(index.container_at(view.file, at));
    let mut known: Vec<&str> = members.map(|id| &*index.symbol(id).name).collect();
    known.extend(taken.iter().map(String::as_str));
    let mut label = prefix.to_owned();
    let mut number = 1;
    while known.contains(&label.as_str()) {
        number += 1;
        label = format!("{prefix}{number}");
    }
    label
}

fn labelled(view: View<'_>, prefix: &str, at: usize, title: String, place: &Range<usize>) -> Action {
    let at = label_place(view, at);
    let label = free_label(view, prefix, at, &[]);
    action(title, place, vec![(at..at, format!("{label}: "))])
}

/// Where a process stands that waits.
fn waits_at(view: View<'_>, status: &ProcessStatus) -> Option<usize> {
    let span = status.waiting.first().map_or(status.span, |waiting| waiting.span);
    Some(own(view, span)?.start)
}

/// That all may wait where they are is often what was meant: the work is done.
fn all_wait_for_ever(view: View<'_>, stuck: &[&ProcessStatus], place: &Range<usize>) -> Option<Action> {
    let places: Option<BTreeSet<usize>> =
        stuck.iter().map(|status| Some(label_place(view, waits_at(view, status)?))).collect();
    let places = places.filter(|places| 1 < places.len())?;
    let mut taken = Vec::new();
    let mut edits = Vec::new();
    for at in places {
        let label = free_label(view, "end", at, &taken);
        edits.push((at..at, format!("{label}: ")));
        taken.push(label);
    }
    let title = format!("Let all {} processes wait here for ever (`end:`)", stuck.len());
    Some(Action { weakens: Some(DEADLOCK_ALLOWED), ..action(title, place, edits) })
}

fn wait_for_ever(view: View<'_>, status: &ProcessStatus, place: &Range<usize>) -> Option<Action> {
    let at = waits_at(view, status)?;
    let title = format!("Let {} wait here for ever (`end:`)", status.process);
    Some(Action { weakens: Some(DEADLOCK_ALLOWED), ..labelled(view, "end", at, title, place) })
}

fn progress(view: View<'_>, example: &Counterexample, place: &Range<usize>) -> Option<Action> {
    let start = example.trace.cycle_start?;
    let step = example.trace.taken_from(start, start).next()?;
    let at = own(view, step.actor.span)?.start;
    let title = format!("Count `{}` as progress (`progress:`)", step.actor.text);
    Some(Action { weakens: Some(LOOP_ALLOWED), ..labelled(view, "progress", at, title, place) })
}

fn more_room(view: View<'_>, status: &ProcessStatus, place: &Range<usize>) -> Option<Action> {
    let channel = status.waiting.iter().find_map(|waiting| match &waiting.reason {
        Reason::ChannelFull { channel, .. } | Reason::NoReceiver { channel } => Some(channel),
        _ => None,
    })?;
    let name = channel.split(['[', ' ']).next().unwrap_or(channel);
    let index = view.index();
    let symbol = index.symbol(index.named(name, &[SymbolKind::Global])?);
    let pieces = index.pieces(view.file);
    let from = pieces.partition_point(|piece| piece.range.end <= symbol.definition.end as usize);
    let text = view.text();
    let mut code = pieces[from..].iter().filter(|piece| piece.is_code()).skip_while(|piece| piece.text(text) != "=");
    code.next()?;
    code.next().filter(|piece| piece.text(text) == "[")?;
    let number = code.next().filter(|piece| piece.kind == PieceKind::Number)?;
    let capacity: u32 = number.text(text).parse().ok()?;
    let more = capacity.checked_add(1)?;
    let title = format!("Enlarge `{name}` to {more}");
    (symbol.definition.file == view.file).then(|| action(title, place, vec![(number.range.clone(), more.to_string())]))
}

fn else_skip(view: View<'_>, status: &ProcessStatus, place: &Range<usize>) -> Option<Action> {
    let at = own(view, status.waiting.first()?.span)?.start;
    before(view, at).filter(|piece| piece.text(view.text()) == "::")?;
    let choice = choice_around(view, at)?;
    let text = view.text();
    let end = (choice.end as usize).checked_sub(2)?;
    if text.get(choice.start as usize..end)?.contains(":: else") {
        return None;
    }
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let margin = &text[line..end];
    let gap = if margin.trim().is_empty() { format!("\n{margin}") } else { " ".to_owned() };
    let number = view.reading.map().line_column(view.file, choice.start).0;
    let title = format!("Add `:: else -> skip` to the choice in line {number}");
    Some(action(title, place, vec![(end..end, format!(":: else -> skip{gap}"))]))
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
        found.extend(wrap(view, first.start..last.end).map(|edits| {
            let lines = view.reading.map();
            let line = |at: usize| lines.line_column(view.file, at as u32).0;
            let title = match (line(first.start), line(last.start)) {
                (one, other) if one == other => format!("Wrap line {one} in `atomic`"),
                (one, other) => format!("Wrap lines {one} to {other} in `atomic`"),
            };
            action(title, place, edits)
        }));
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
    let edits = wrap(view, start..end.max(start))?;
    Some(Action { kind: ActionKind::Rewrite, ..action("Wrap in `atomic`".to_owned(), range, edits) })
}

/// Puts `atomic` around the steps from one byte to another, if they are steps of one sequence.
fn wrap(view: View<'_>, range: Range<usize>) -> Option<Vec<(Range<usize>, String)>> {
    let stretches: Vec<&Stretch> = view.index().stretches.iter().filter(|stretch| stretch.file == view.file).collect();
    let holds = |stretch: &&&Stretch| (stretch.start as usize) <= range.start && range.end <= stretch.end as usize;
    // The smallest stretch around both: what begins inside of it at the first byte, and ends at the last.
    let context = stretches.iter().filter(holds).min_by_key(|stretch| stretch.end - stretch.start)?;
    let text = view.text().get(range.clone())?;
    let balanced = |open: char, close: char| {
        let mut depth = 0_i32;
        text.chars().all(|c| {
            depth += i32::from(c == open) - i32::from(c == close);
            depth >= 0
        }) && depth == 0
    };
    let words =
        |word: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| *w == word).count();
    let whole = balanced('{', '}') && balanced('(', ')') && words("if") == words("fi") && words("do") == words("od");
    let one_sequence = !text.contains("::") || words("if") + words("do") > 0;
    let already = view.text()[..range.start].trim_end().ends_with("atomic {");
    let large = context.start as usize == 0 && context.end as usize == view.text().len();
    if !whole || !one_sequence || already || large || range.is_empty() {
        return None;
    }
    Some(vec![(range.start..range.start, "atomic { ".to_owned()), (range.end..range.end, " }".to_owned())])
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
        let better = match (least, most) {
            _ if seen.more => continue,
            (0.., ..=1) if 1 < seen.bits => "bit",
            (0.., ..=255) if 8 < seen.bits => "byte",
            (-32768.., ..=32767) if 16 < seen.bits => "short",
            _ => continue,
        };
        let at = symbol.definition.start as usize;
        let Some(ty) = before(view, at).filter(|piece| matches!(piece.text(view.text()), "int" | "short" | "byte"))
        else {
            continue;
        };
        let alone = index.pieces(view.file).iter().filter(|piece| piece.is_code() && at < piece.range.start).take(12);
        if alone
            .map(|piece| piece.text(view.text()))
            .take_while(|text| *text != ";" && *text != "}")
            .any(|text| text == ",")
        {
            continue;
        }
        let title = format!("Make `{}` a `{better}`: its values are {least}..{most}", symbol.name);
        let place = ty.range.start..symbol.definition.end as usize;
        let edits = vec![(ty.range.clone(), better.to_owned())];
        found.push(Action { kind: ActionKind::Rewrite, tried: false, ..action(title, &place, edits) });
    }
    found
}
