//! The panels at the side: what can be done next, the processes, the values.

use super::text::{mark, pad, put, span, width};
use crate::model::{Model, Panel};
use crate::theme::{Sign, Theme};
use fabius_explore::{Choice, MustWait, ProcessView, Role, SuccessorHint, Until, Value};
use fabius_witness::{Reason, Step};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Why nobody moves while it is the claim's turn.
pub(crate) const CLAIM_FIRST: &str = "the claim moves first";

/// Draws what can be done next: who would do what, and below it what that changes.
pub fn choices(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let Some(session) = &model.session else { return };
    if session.choices.is_empty() {
        let why = session.stop.map_or("nothing follows", fabius_explore::Stop::sentence);
        for (row, line) in super::wrap(why, usize::from(area.width)).into_iter().enumerate() {
            put(buffer, area, row as u16, &Line::from(span(line, theme.bad())), theme);
        }
        return;
    }
    let cursor = model.cursors[Panel::Choices.index()];
    for (index, choice) in session.choices.iter().enumerate().skip(cursor.top) {
        let row = (index - cursor.top) as u16 * 2;
        if row >= area.height {
            break;
        }
        let [first, second] = choice_lines(theme, index, choice, session.walk.next_on_line());
        put(buffer, area, row, &first, theme);
        put(buffer, area, row + 1, &second, theme);
        if index == cursor.at {
            let style = if model.panel == Panel::Choices { theme.cursor() } else { theme.strong() };
            mark(buffer, area, row, style);
        }
    }
}

fn choice_lines(
    theme: Theme,
    index: usize,
    choice: &Choice,
    next: Option<fabius_explore::NodeId>,
) -> [Line<'static>; 2] {
    let (fine, plain) = choice.mark.sign();
    let sign = if theme.ascii { plain.to_string() } else { fine.to_owned() };
    let style = match choice.mark {
        SuccessorHint::Error | SuccessorHint::DeadlockNext | SuccessorHint::CanFail { .. } => theme.bad(),
        SuccessorHint::EntersCycle(_) => theme.changed(),
        SuccessorHint::Known => theme.quiet(),
        SuccessorHint::CannotFail | SuccessorHint::New => theme.good(),
    };
    let step = &choice.effect;
    let number = if index < 9 { (index + 1).to_string() } else { " ".to_owned() };
    let along = if choice.node.is_some() && choice.node == next { theme.sign(Sign::Right) } else { " " };
    let mut first = vec![
        span(format!("{number} "), theme.accent()),
        span(format!("{sign} "), style),
        span(step.actor.name.clone(), theme.process(step.actor.pid)),
        span(format!("  {}", step.actor.text), Style::new()),
    ];
    if let Some(partner) = &step.partner {
        first.push(span(format!(" {} {}", theme.sign(Sign::Becomes), partner.name), theme.process(partner.pid)));
    }
    if choice.held.is_some() {
        first.push(span(format!("  {} held", theme.sign(Sign::Held)), theme.held()));
    }
    if choice.must_wait.is_some() {
        first.push(span(format!("  {} has to wait", theme.sign(Sign::Held)), theme.held()));
    }
    let effect = effect(theme, step);
    let words = match choice.mark {
        SuccessorHint::New | SuccessorHint::Known => String::new(),
        mark => format!("{}  ", mark.words()),
    };
    let whether = choice.mark.whether_avoidable().map_or_else(String::new, |word| format!("  {word}"));
    let along = span(format!(" {along}  "), theme.accent());
    let second = vec![along, span(words, style), span(effect, theme.quiet()), span(whether, style)];
    [Line::from(first), Line::from(second)]
}

/// What a step changes, in short.
pub(crate) fn effect(theme: Theme, step: &Step) -> String {
    let mut parts: Vec<String> = step
        .changes
        .iter()
        .map(|change| {
            let own = format!("{}:", step.actor.name);
            let name = change.name.strip_prefix(&own).unwrap_or(&change.name);
            format!("{name} {}{}{}", change.old, theme.sign(Sign::Becomes), change.new)
        })
        .collect();
    parts.extend(step.created.iter().map(|created| format!("starts {}", created.name)));
    if !step.printed.is_empty() {
        parts.push(format!("prints {:?}", step.printed));
    }
    if step.ended {
        parts.push("ends".to_owned());
    }
    if let Some(fault) = step.fault {
        parts.push(fault.to_string());
    }
    if parts.is_empty() { "changes nothing".to_owned() } else { parts.join(", ") }
}

/// Draws the processes.
pub fn processes(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let (Some(session), Some(loaded)) = (&model.session, &model.loaded) else { return };
    let cursor = model.cursors[Panel::Processes.index()];
    let names = session.processes.iter().map(|process| width(&process.status.name)).max().unwrap_or(0).min(14);
    for (index, process) in session.processes.iter().enumerate().skip(cursor.top).take(usize::from(area.height)) {
        let row = (index - cursor.top) as u16;
        let line = loaded.map.position(process.status.span).line;
        let claims_turn = session.walk.is_claims_turn();
        put(buffer, area, row, &process_line(theme, process, line, names, claims_turn), theme);
        if index == cursor.at && model.panel == Panel::Processes {
            mark(buffer, area, row, theme.cursor());
        }
    }
}

fn process_line(theme: Theme, process: &ProcessView, line: u32, name_width: usize, claims_turn: bool) -> Line<'static> {
    let status = &process.status;
    let (sign, style) = match process.role {
        _ if process.held.is_some() || process.must_wait.is_some() => (theme.sign(Sign::Held), theme.held()),
        Role::Enabled => (theme.sign(Sign::Go), theme.good()),
        Role::Excluded(_) | Role::Blocked => (theme.sign(Sign::Stuck), theme.bad()),
        Role::Ended => (theme.sign(Sign::Good), theme.quiet()),
    };
    let moved = if process.moved { theme.sign(Sign::Dot) } else { " " };
    let says = says(process, claims_turn);
    let style_of_text = if process.role == Role::Enabled { Style::new() } else { theme.quiet() };
    Line::from(vec![
        span(format!("{sign}{moved}"), style),
        span(pad(&status.name, name_width, theme), theme.process(status.pid)),
        span(format!(" {line:>3} "), theme.quiet()),
        span(says, style_of_text),
    ])
}

/// What there is to say about a process in a few words.
fn says(process: &ProcessView, claims_turn: bool) -> String {
    if let Some(hold) = &process.held {
        return match &hold.until {
            Until::Released => "held".to_owned(),
            Until::Others(steps) => format!("held for {steps}"),
            Until::Condition(condition) => format!("held until {}", condition.text),
        };
    }
    if let Some(MustWait { why, .. }) = &process.must_wait {
        return why.clone();
    }
    let waiting = &process.status.waiting;
    match process.role {
        Role::Ended => "ended".to_owned(),
        Role::Excluded(_) => "waits for the end of an atomic sequence".to_owned(),
        Role::Enabled => {
            let able = waiting.iter().filter(|waiting| waiting.reason == Reason::Executable);
            let texts: Vec<&str> = able.map(|waiting| waiting.text.as_str()).collect();
            if texts.is_empty() {
                waiting.first().map(|waiting| waiting.text.clone()).unwrap_or_default()
            } else {
                texts.join("  or  ")
            }
        }
        Role::Blocked if claims_turn => CLAIM_FIRST.to_owned(),
        Role::Blocked => {
            let reasons: Vec<String> = waiting.iter().map(|waiting| waiting.reason.sentence()).collect();
            reasons.join("; ")
        }
    }
}

/// Draws variables and channels.
pub fn values(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let Some(session) = &model.session else { return };
    let cursor = model.cursors[Panel::Variables.index()];
    let shown: Vec<&Value> = session.shown_values(model.changed_only).collect();
    if shown.is_empty() && session.watched.is_empty() {
        let text =
            if model.changed_only { "the last step changed nothing; v shows all values" } else { "no variables" };
        for (row, line) in super::wrap(text, usize::from(area.width)).into_iter().enumerate() {
            put(buffer, area, row as u16, &Line::from(span(line, theme.quiet())), theme);
        }
        return;
    }
    let label = |value: &Value| match value.pid {
        Some(pid) => format!("{}:{}", session.walk.process_name(pid), value.name),
        None => value.name.clone(),
    };
    // What is watched stands above everything else, with a sign of its own.
    let watched = session
        .watched
        .iter()
        .map(|watched| (watched.text.clone(), "=", theme.accent(), watched.value.as_str(), watched.before.as_deref()));
    let values = shown.iter().map(|value| {
        let style = value.pid.map_or(Style::new(), |pid| theme.process(pid));
        (label(value), " ", style, value.value.as_str(), value.before.as_deref())
    });
    let rows: Vec<(String, &str, Style, &str, Option<&str>)> = watched.chain(values).collect();
    let names = rows.iter().map(|(name, ..)| width(name)).max().unwrap_or(0).min(usize::from(area.width) / 2);
    for (index, (name, sign, name_style, value, before)) in
        rows.iter().enumerate().skip(cursor.top).take(usize::from(area.height))
    {
        let row = (index - cursor.top) as u16;
        let style = if before.is_some() { theme.changed() } else { Style::new() };
        let sign = if before.is_some() { theme.sign(Sign::Dot) } else { *sign };
        let mut spans = vec![
            span(format!("{sign} "), style),
            span(pad(name, names, theme), *name_style),
            span(format!(" {value}"), style),
        ];
        if let Some(before) = before {
            spans.push(span(format!("  was {before}"), theme.quiet()));
        }
        put(buffer, area, row, &Line::from(spans), theme);
        if index == cursor.at && model.panel == Panel::Variables {
            mark(buffer, area, row, theme.cursor());
        }
    }
}
