//! A trace as lines of text; colours are the reader's business.

use fabius_base::{SourceMap, Span};
use fabius_program::meaning::Fault;
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::blocked::{ProcessStatus, Reason, Waiting};
use crate::confirm::Claim;
use crate::explain::operands;
use crate::notes::NoteKind;
use crate::trace::{Actor, Change, Step, Trace, last_changes};

/// What a stretch of text is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Style {
    /// Nothing special.
    Plain,
    /// The name of a process above its steps.
    Process,
    /// The number of a step.
    Number,
    /// A line in the model.
    Place,
    /// A statement of the model.
    Statement,
    /// The name of a variable or channel.
    Name,
    /// A value that was.
    Old,
    /// A value that is.
    New,
    /// A note.
    Note,
    /// What is wrong.
    Error,
    /// Hardly important.
    Faint,
}

/// A line: stretches of text, each with its style.
pub type Line = Vec<(Style, String)>;

/// How a trace is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Columns to use; lines are a little longer only where a word is.
    pub width: usize,
    /// Show at most this many steps at the beginning and at the end; `None` shows all.
    pub ends: Option<(usize, usize)>,
    /// Arrows and dots instead of `->` and `...`.
    pub unicode: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { width: 100, ends: None, unicode: true }
    }
}

/// The steps of a trace: consecutive steps of one process stand under its name.
pub fn steps(trace: &Trace, source: &SourceMap, layout: Layout) -> Vec<Line> {
    Page::new(trace, source, layout).steps()
}

/// The state in which a trace ends: what is wrong, where each process stands and why, the variables.
pub fn ending(trace: &Trace, source: &SourceMap, layout: Layout) -> Vec<Line> {
    Page::new(trace, source, layout).ending()
}

/// Lines without their styles, each with a line end.
pub fn plain(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let start = text.len();
        line.iter().for_each(|(_, stretch)| text.push_str(stretch));
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

/// The last steps that changed something, as a process calls it: their numbers and who took them.
type Changes<'n> = HashMap<(&'n str, &'n str), (usize, Actor)>;

/// A trace that is laid out.
pub(crate) struct Page<'a> {
    trace: &'a Trace,
    source: &'a SourceMap,
    layout: Layout,
    /// Places are shown with their file because there are several.
    with_file: bool,
    number_width: usize,
    place_width: usize,
}

impl<'a> Page<'a> {
    pub(crate) fn new(trace: &'a Trace, source: &'a SourceMap, layout: Layout) -> Self {
        let spans = || trace.steps.outline().filter(|step| !step.is_claims);
        let files: BTreeSet<_> = spans().map(|step| source.user_span(step.span).file).collect();
        let mut page = Self {
            trace,
            source,
            layout,
            with_file: 1 < files.len(),
            number_width: trace.len().to_string().len(),
            place_width: 0,
        };
        let (first, last) = page.kept();
        let spans = spans().filter(|step| step.number <= first || trace.len() - last < step.number);
        let spans: HashSet<Span> = spans.map(|step| step.span).collect();
        page.place_width = spans.into_iter().map(|span| width(&page.place(span))).max().unwrap_or(0);
        page
    }

    /// The steps that are not left out, with those moves of a claim after which it waits for something else.
    fn shown(&self) -> impl Iterator<Item = Step> + 'a {
        let (first, last) = self.kept();
        let behind = self.trace.len() - last;
        let steps = &self.trace.steps;
        // The moves of a claim after the last step have the number of one more.
        let ends = match first < behind {
            true => [steps.numbered(1, first), steps.numbered(behind + 1, usize::MAX)],
            false => [steps.iter(), steps.numbered(usize::MAX, usize::MAX)],
        };
        ends.into_iter().flatten().filter(|step| step.claim.as_ref().is_none_or(|claim| claim.moves))
    }

    /// How many steps are shown at the beginning and at the end.
    fn kept(&self) -> (usize, usize) {
        let total = self.trace.len();
        match self.layout.ends {
            Some((first, last)) if first.saturating_add(last) < total => (first, last),
            _ => (total, 0),
        }
    }

    fn steps(&self) -> Vec<Line> {
        let (first, last) = self.kept();
        let mut left_out = self.trace.len() - first - last;
        let mut loop_start = self.trace.cycle_start.filter(|start| *start <= self.trace.len());
        let mut lines = Vec::new();
        let mut under: Option<u8> = None;
        for step in self.shown() {
            if first < step.number && left_out != 0 {
                lines.push(vec![(Style::Faint, self.left_out(left_out))]);
                left_out = 0;
                under = None;
            }
            if loop_start.is_some_and(|start| start <= step.number) {
                lines.push(vec![(Style::Note, format!("{} the loop starts here", self.turn()))]);
                loop_start = None;
                under = None;
            }
            if let Some(claim) = &step.claim {
                lines.push(vec![(Style::Faint, claim.sentence())]);
                under = None;
                continue;
            }
            lines.extend(self.before(&step).inspect(|_| under = None));
            if under != Some(step.actor.pid) {
                lines.push(vec![(Style::Process, step.actor.name.clone())]);
                under = Some(step.actor.pid);
            }
            lines.extend(self.step(&step));
        }
        lines.extend(self.trace.cycle_start.map(|start| {
            let text = match start {
                start if start <= self.trace.len() => format!("{} goes on as from step {start}, for ever", self.turn()),
                _ => "nothing moves any more; this state lasts for ever".to_owned(),
            };
            vec![(Style::Note, text)]
        }));
        lines
    }

    /// What there is to say before a step.
    fn before<'s>(&'s self, step: &'s Step) -> impl Iterator<Item = Line> + 's {
        let lost = step.notes.iter().filter(|note| note.kind == NoteKind::AtomicityLost);
        let lost = lost.flat_map(|note| wrap(&note.text, self.layout.width)).map(|part| (Style::Note, part));
        let held = step
            .held_back
            .iter()
            .map(|delayed| (Style::Note, format!("{} is held back at {}", delayed.name, self.place(delayed.span))));
        lost.chain(held).map(|stretch| vec![stretch])
    }

    /// The sign of a loop.
    pub(crate) fn turn(&self) -> &'static str {
        if self.layout.unicode { "⟳" } else { "(loop)" }
    }

    fn left_out(&self, count: usize) -> String {
        let dots = if self.layout.unicode { "…" } else { "..." };
        let steps = if count == 1 { "step" } else { "steps" };
        format!("{dots} {count} {steps} {dots}")
    }

    pub(crate) fn place(&self, span: fabius_base::Span) -> String {
        let position = self.source.position(span);
        let place = if self.with_file {
            format!("{}:{}", position.file, position.line)
        } else {
            format!("line {}", position.line)
        };
        match self.source.original(span) {
            Some(original) => format!("{place} ({original})"),
            None => place,
        }
    }

    /// One step: number, place and statement, and beside or beneath it what it did.
    fn step(&self, step: &Step) -> Vec<Line> {
        let bar = match (step.held || step.holds, self.layout.unicode) {
            (true, true) => "┃ ",
            (true, false) => "| ",
            (false, _) => "  ",
        };
        let head = vec![
            (Style::Faint, bar.to_owned()),
            (Style::Number, format!("{:>1$}", step.number, self.number_width)),
            (Style::Place, format!("  {:<1$}  ", self.place(step.actor.span), self.place_width)),
        ];
        let indent = line_width(&head);
        let column = (indent + STATEMENT_WIDTH).min(self.layout.width / 2).max(indent + 8);
        let statements = wrap(&step.actor.text, self.layout.width.saturating_sub(indent));
        let effects = self.effects(step);
        let widest = effects.iter().map(|effect| line_width(effect)).max().unwrap_or(0);
        let statement_end = indent + statements.iter().map(|part| width(part)).max().unwrap_or(0);
        let beside = statements.len() == 1 && statement_end + 2 <= column && column + widest <= self.layout.width;
        let mut lines: Vec<Line> = Vec::new();
        for (index, part) in statements.into_iter().enumerate() {
            let mut line = if index == 0 { head.clone() } else { vec![(Style::Plain, " ".repeat(indent))] };
            line.push((Style::Statement, part));
            lines.push(line);
        }
        for (index, effect) in effects.into_iter().enumerate() {
            if beside && index == 0 {
                let gap = column - statement_end;
                lines[0].push((Style::Plain, " ".repeat(gap)));
                lines[0].extend(effect);
            } else {
                let margin = if beside { column } else { indent + 2 };
                let mut line = vec![(Style::Plain, " ".repeat(margin))];
                line.extend(effect);
                lines.push(line);
            }
        }
        let margin = if beside && column + NOTE_WIDTH <= self.layout.width { column } else { indent + 2 };
        for note in self.notes(step) {
            for part in wrap(&note, self.layout.width.saturating_sub(margin)) {
                lines.push(vec![(Style::Plain, " ".repeat(margin)), (Style::Note, part)]);
            }
        }
        lines
    }

    /// What surprises people about a step, and is told neither before it nor among its effects.
    pub(crate) fn notes<'s>(&'s self, step: &'s Step) -> impl Iterator<Item = String> + 's {
        step.notes.iter().filter(|note| !note.kind.is_before()).map(|note| match note.span {
            Some(span) => format!("{} ({})", note.text, self.place(span)),
            None => note.text.clone(),
        })
    }

    /// What a step did, a line for each thing.
    pub(crate) fn effects(&self, step: &Step) -> Vec<Line> {
        let mut effects: Vec<Line> = Vec::new();
        let timeout = step.notes.iter().filter(|note| note.kind == NoteKind::Timeout);
        effects.extend(timeout.map(|note| vec![(Style::Note, note.text.clone())]));
        if let Some(partner) = &step.partner {
            let arrow = if self.layout.unicode { "⇄ " } else { "<> " };
            effects.push(vec![
                (Style::Faint, arrow.to_owned()),
                (Style::Process, partner.name.clone()),
                (Style::Place, format!(" {}  ", self.place(partner.span))),
                (Style::Statement, partner.text.clone()),
            ]);
            let told = |fields: &str| step.actor.text.replace(' ', "").contains(&fields.replace(' ', ""));
            if let Some(message) = step.messages.iter().find(|m| m.sent && !told(&m.fields)) {
                effects.push(vec![
                    (Style::Faint, "message ".to_owned()),
                    (Style::New, format!("[{}]", message.fields)),
                    (Style::Faint, " through ".to_owned()),
                    (Style::Name, message.channel.clone()),
                ]);
            }
        }
        effects.extend(step.changes.iter().map(|change| self.change(step, change)));
        for created in &step.created {
            let parameters: Vec<_> =
                created.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let parameters =
                if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
            effects.push(vec![
                (Style::Note, "creates ".to_owned()),
                (Style::Process, created.name.clone()),
                (Style::Faint, parameters),
            ]);
        }
        for line in step.printed.lines().filter(|line| !line.trim().is_empty()) {
            effects.push(vec![(Style::Note, "prints ".to_owned()), (Style::Plain, line.to_owned())]);
        }
        if step.ended && step.actor.text != "(end)" {
            effects.push(vec![(Style::Note, "ends".to_owned())]);
        }
        if let Some(fault) = step.fault {
            effects.push(vec![(Style::Error, fault.to_string())]);
        }
        effects
    }

    fn change(&self, step: &Step, change: &Change) -> Line {
        let own = if change.pid == Some(step.actor.pid) { format!("{}:", step.actor.name) } else { String::new() };
        let name = change.name.strip_prefix(&own).unwrap_or(&change.name);
        let arrow = if self.layout.unicode { " → " } else { " -> " };
        vec![
            (Style::Name, format!("{name}: ")),
            (Style::Old, change.old.clone()),
            (Style::Faint, arrow.to_owned()),
            (Style::New, change.new.clone()),
        ]
    }

    fn ending(&self) -> Vec<Line> {
        if let Some(infinite) = self.trace.infinite.as_ref().filter(|_| self.trace.explanation.is_none()) {
            let told = self.trace.propositions.iter().chain(&infinite.sentences);
            let told = told.map(|sentence| (Style::Plain, sentence));
            let told = told.chain(std::iter::once((Style::Note, &infinite.suggestion)));
            let wrapped = |(style, text): (Style, &String)| {
                wrap(text, self.layout.width).into_iter().map(move |part| vec![(style, part)]).collect::<Vec<_>>()
            };
            return told.flat_map(wrapped).collect();
        }
        let mut lines: Vec<Line> = self.verdict().map(|verdict| vec![(Style::Error, verdict)]).into_iter().collect();
        lines.extend(self.propositions());
        let operands = self.trace.last.processes.iter().flat_map(operands).collect();
        let changes = last_changes(operands, self.trace.steps.backwards());
        for status in &self.trace.last.processes {
            lines.extend(self.status(status, &changes));
        }
        let values = grouped(self.trace.last.variables.iter().chain(&self.trace.last.channels));
        if !values.is_empty() {
            lines.push(vec![(Style::Process, "Variables and channels".to_owned())]);
            let room = self.layout.width.saturating_sub(2);
            let values = wrap_items(&values, room);
            lines.extend(values.into_iter().map(|part| vec![(Style::Plain, format!("  {part}"))]));
        }
        if let Some(explanation) = &self.trace.explanation {
            let told = explanation.relations.iter().map(|sentence| (Style::Plain, sentence));
            for (style, sentence) in told.chain(std::iter::once((Style::Note, &explanation.suggestion))) {
                lines.extend(wrap(sentence, self.layout.width).into_iter().map(|part| vec![(style, part)]));
            }
        }
        lines
    }

    fn propositions(&self) -> impl Iterator<Item = Line> {
        let told = self.trace.propositions.iter().flat_map(|sentence| wrap(sentence, self.layout.width));
        told.map(|part| vec![(Style::Plain, part)])
    }

    /// What is wrong in the end; nothing of a run that only leads somewhere.
    fn verdict(&self) -> Option<String> {
        let verdict = match self.trace.claim {
            Claim::InvalidEnd => "Nothing can move, and not every process is where it may stop.".to_owned(),
            Claim::Fault(Fault::AssertionFailed) => "The assertion does not hold.".to_owned(),
            Claim::Fault(Fault::ClaimCompleted) => "The run violates the property here, however it goes on.".to_owned(),
            Claim::Fault(fault) => format!("The last step fails: {fault}."),
            Claim::Cycle { .. } => "Nothing can move any more; the last state lasts for ever.".to_owned(),
            Claim::Reaches => return None,
        };
        Some(verdict)
    }

    fn status(&self, status: &ProcessStatus, changes: &Changes<'_>) -> Vec<Line> {
        let mut lines = vec![vec![(Style::Process, status.name.clone())]];
        if status.has_ended() {
            lines[0].push((Style::Faint, " has ended".to_owned()));
            return lines;
        }
        let moves = status.waiting.iter().any(|w| w.reason == Reason::Executable);
        let (style, doing) = match (moves, status.end, self.trace.claim) {
            (true, ..) => (Style::Faint, " is at "),
            (false, true, _) => (Style::Faint, " waits, as it may, at "),
            (false, false, Claim::InvalidEnd) => (Style::Error, " is stuck at "),
            (false, false, _) => (Style::Faint, " waits at "),
        };
        lines[0].push((style, doing.to_owned()));
        let first = status.waiting.first().map_or(status.span, |w| w.span);
        lines[0].push((Style::Place, self.place(first)));
        for waiting in &status.waiting {
            for line in self.waiting(status, waiting, changes) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    fn waiting(&self, status: &ProcessStatus, waiting: &Waiting, changes: &Changes<'_>) -> Vec<Line> {
        let mut parts = wrap(&waiting.text, self.layout.width.saturating_sub(2));
        if let Some(last) = parts.last_mut() {
            last.push_str("  ");
        }
        let margin = 2 + parts.last().map_or(0, |part| width(part));
        let statement = |part| vec![(Style::Plain, "  ".to_owned()), (Style::Statement, part)];
        let mut lines: Vec<Line> = parts.into_iter().map(statement).collect();
        let mut reason = waiting.reason.sentence();
        if let Some(values) = reason.strip_prefix(&format!("`{}` is ", waiting.text)) {
            reason = values.to_owned();
        }
        if margin + width(&reason) <= self.layout.width {
            lines.last_mut().into_iter().for_each(|line| line.push((Style::Note, reason.clone())));
        } else {
            let parts = wrap(&reason, self.layout.width.saturating_sub(4));
            lines.extend(parts.into_iter().map(|part| vec![(Style::Plain, "    ".to_owned()), (Style::Note, part)]));
        }
        let Reason::ConditionFalse { operands, .. } = &waiting.reason else { return lines };
        for (name, _) in operands {
            if let Some((number, actor)) = changes.get(&(status.name.as_str(), name.as_str())) {
                let note = format!("    {name} was last changed by {} in step {number}", actor.name);
                lines.push(vec![(Style::Faint, note)]);
            }
        }
        lines
    }
}

/// Room for a statement before its effects.
const STATEMENT_WIDTH: usize = 32;
/// Notes stand beneath the effects if there are this many columns for them.
const NOTE_WIDTH: usize = 40;

/// `name = value` for each variable; the elements of an array together, as `name = {v, v, v}`.
fn grouped<'v>(values: impl Iterator<Item = &'v (String, String)>) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>, bool)> = Vec::new();
    for (name, value) in values {
        let (base, index) = array_element(name).map_or((name.as_str(), None), |(base, index)| (base, Some(index)));
        match (groups.last_mut(), index) {
            (Some((known, values, true)), Some(index)) if *known == base && values.len() == index => values.push(value),
            (_, Some(0)) => groups.push((base, vec![value], true)),
            _ => groups.push((name, vec![value], false)),
        }
    }
    let shown = groups.iter().map(|(name, values, array)| {
        if *array { format!("{name} = {{{}}}", values.join(", ")) } else { format!("{name} = {}", values[0]) }
    });
    shown.collect()
}

/// The array and the index in the name of an element.
fn array_element(name: &str) -> Option<(&str, usize)> {
    let (base, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    Some((base, index.parse().ok()?))
}

fn width(text: &str) -> usize {
    text.chars().count()
}

pub(crate) fn line_width(line: &[(Style, String)]) -> usize {
    line.iter().map(|(_, text)| width(text)).sum()
}

/// Breaks text at spaces into lines of at most `room` characters, if they can be as short; spaces before the first word are left out.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let words: Vec<_> = text.split(' ').map(str::to_owned).collect();
    fill(&words, room, " ")
}

/// Puts items into lines that fit, if they can, with commas between them.
fn wrap_items(items: &[String], room: usize) -> Vec<String> {
    let mut items = items.to_vec();
    let last = items.len().saturating_sub(1);
    items[..last].iter_mut().for_each(|item| item.push(','));
    fill(&items, room, " ")
}

fn fill(words: &[String], room: usize, between: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words {
        let line = lines.len() - 1;
        if lines[line].is_empty() {
            lines[line].push_str(word);
        } else if width(&lines[line]) + width(between) + width(word) <= room.max(12) {
            lines[line].push_str(between);
            lines[line].push_str(word);
        } else {
            lines.push(word.clone());
        }
    }
    lines
}
