//! A diagram for the terminal: lanes side by side, what happens to their right.

use fabius_base::SourceMap;

use super::{Diagram, Row};
use crate::format::text::{Layout, Line, Page, Style, line_width, wrap};
use crate::trace::Trace;

/// Columns from one lane to the next.
const SPACING: std::ops::RangeInclusive<usize> = 2..=5;
/// Columns for what happens, if there are not too many lanes.
const TEXT_WIDTH: usize = 44;

/// The signs that lanes are made of.
struct Signs {
    life: char,
    waits: char,
    may_stop: char,
    step: char,
    fault: char,
    begins: char,
    message: char,
    thread: char,
    right: [char; 2],
    left: [char; 2],
}

const UNICODE: Signs = Signs {
    life: '│',
    waits: '▒',
    may_stop: '░',
    step: '●',
    fault: '✗',
    begins: '○',
    message: '─',
    thread: '┄',
    right: ['▶', '▷'],
    left: ['◀', '◁'],
};

const ASCII: Signs = Signs {
    life: '|',
    waits: '#',
    may_stop: ':',
    step: '*',
    fault: 'X',
    begins: 'o',
    message: '-',
    thread: '.',
    right: ['>', '>'],
    left: ['<', '<'],
};

/// The lines of a diagram; `trace` is the run that it shows.
pub fn lanes(diagram: &Diagram, trace: &Trace, source: &SourceMap, layout: Layout) -> Vec<Line> {
    let room = layout.width.saturating_sub(TEXT_WIDTH);
    let number_width = diagram.steps.to_string().len();
    let most =
        (0..=diagram.steps).map(|after| (0..diagram.lanes.len()).filter(|l| diagram.is_alive(*l, after)).count());
    let count = if diagram.lanes.len() < 64 { diagram.lanes.len() } else { most.max().unwrap_or(0) };
    let spacing = (room.saturating_sub(number_width + 2) / count.max(1)).clamp(*SPACING.start(), *SPACING.end());
    let signs = if layout.unicode { &UNICODE } else { &ASCII };
    let page = Page::new(trace, source, layout);
    Drawing { diagram, signs, spacing, number_width, page, width: layout.width, lines: Vec::new() }.draw()
}

struct Drawing<'a> {
    diagram: &'a Diagram,
    signs: &'static Signs,
    spacing: usize,
    number_width: usize,
    page: Page<'a>,
    width: usize,
    lines: Vec<Line>,
}

/// A stretch of a line of lanes: where from, where to, the sign it is made of, the signs of its head.
struct Arrow {
    from: usize,
    to: usize,
    sign: char,
    heads: [char; 2],
}

impl Drawing<'_> {
    fn draw(mut self) -> Vec<Line> {
        self.header();
        self.waits_from(0);
        let mut left_out = self.diagram.left_out;
        let mut cycle_start = self.diagram.cycle_start.filter(|start| *start <= self.diagram.steps);
        for row in &self.diagram.rows {
            if let Some((count, after)) = left_out.filter(|(_, after)| *after < row.step.number) {
                self.note(after, Style::Faint, &format!("… {count} steps …"));
                left_out = None;
            }
            if cycle_start.is_some_and(|start| start <= row.step.number) {
                let text = format!("{} the loop starts here", self.page.turn());
                self.note(row.step.number - 1, Style::Note, &text);
                cycle_start = None;
            }
            self.row(row);
        }
        self.end();
        self.lines
    }

    /// The names of the processes that are there from the beginning, each above its lane.
    fn header(&mut self) {
        let first: Vec<usize> = (0..self.diagram.lanes.len()).filter(|l| self.diagram.lanes[*l].created == 0).collect();
        for (index, lane) in first.iter().enumerate() {
            let mut text: String = " ".repeat(self.number_width + 2);
            for other in &first[..index] {
                let column = self.number_width + 2 + other * self.spacing;
                text.extend(std::iter::repeat_n(' ', column - text.chars().count()));
                text.push(self.signs.life);
            }
            let column = self.number_width + 2 + lane * self.spacing;
            text.extend(std::iter::repeat_n(' ', column - text.chars().count()));
            let name = self.diagram.lanes[*lane].name.clone();
            self.lines.push(vec![(Style::Faint, text), (Style::Process, name)]);
        }
    }

    /// The signs of the lanes in the state after a step.
    fn signs_after(&self, after: usize) -> Vec<(Style, char)> {
        let mut cells = vec![(Style::Plain, ' '); self.diagram.lanes.len() * self.spacing];
        for lane in (0..self.diagram.lanes.len()).filter(|lane| self.diagram.is_alive(*lane, after)) {
            cells[lane * self.spacing] = match self.diagram.wait(lane, after) {
                None => (Style::Faint, self.signs.life),
                Some(wait) if wait.may_stop => (Style::Faint, self.signs.may_stop),
                Some(_) => (Style::Error, self.signs.waits),
            };
        }
        cells
    }

    /// A line: a number, lanes, and text.
    fn line(&mut self, number: Option<usize>, cells: Vec<(Style, char)>, text: Line) {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let mut line = vec![(Style::Number, format!("{number:>0$}  ", self.number_width))];
        for (style, sign) in cells {
            match line.last_mut() {
                Some((last, text)) if *last == style => text.push(sign),
                _ => line.push((style, sign.to_string())),
            }
        }
        line.push((Style::Plain, "  ".to_owned()));
        line.extend(text);
        self.lines.push(line);
    }

    /// Columns for text.
    fn room(&self) -> usize {
        let lanes = self.number_width + 4 + self.diagram.lanes.len() * self.spacing;
        self.width.saturating_sub(lanes).max(24)
    }

    /// Text beside the lanes in the state after a step.
    fn note(&mut self, after: usize, style: Style, text: &str) {
        for (index, part) in wrap(text, self.room().saturating_sub(2)).into_iter().enumerate() {
            let indent = if index == 0 { "" } else { "  " };
            let cells = self.signs_after(after);
            self.line(None, cells, vec![(style, format!("{indent}{part}"))]);
        }
    }

    fn row(&mut self, row: &Row) {
        let number = row.step.number;
        let mut cells = self.signs_after(number - 1);
        for arrow in self.arrows(row) {
            self.draw_arrow(&mut cells, &arrow);
        }
        let sign = if row.step.fault.is_some() { self.signs.fault } else { self.signs.step };
        for lane in [Some(row.lane), row.partner].into_iter().flatten() {
            let style = if row.step.fault.is_some() { Style::Error } else { Style::New };
            cells[lane * self.spacing] = (style, sign);
        }
        for lane in &row.created {
            cells[lane * self.spacing] = (Style::New, self.signs.begins);
        }
        let place = self.page.place(row.step.actor.span);
        let head = vec![(Style::Place, format!("{place}  ")), (Style::Statement, row.step.actor.text.clone())];
        let mut effects = self.page.effects(&row.step);
        let mut text = head;
        if let Some(first) = effects.first()
            && line_width(&text) + 2 + line_width(first) <= self.room()
        {
            text.push((Style::Plain, "  ".to_owned()));
            text.extend(effects.remove(0));
        }
        self.line(Some(number), cells, text);
        for effect in effects {
            let cells = self.signs_after(number);
            self.line(None, cells, [vec![(Style::Plain, "  ".to_owned())], effect].concat());
        }
        let notes: Vec<String> = self.page.notes(&row.step).collect();
        notes.iter().for_each(|note| self.note(number, Style::Note, &format!("  {note}")));
        self.behind(row);
    }

    /// What there is to say after a step: who sent what it took, whom it lets go on, who waits now.
    fn behind(&mut self, row: &Row) {
        let number = row.step.number;
        for delivery in &row.received {
            let sender = &self.diagram.lanes[delivery.from].name;
            self.note(number, Style::Faint, &format!("  sent by {sender} in step {}", delivery.sent_in));
        }
        let released: Vec<&str> =
            self.diagram.released_by(number).map(|wait| self.diagram.lanes[wait.lane].name.as_str()).collect();
        if !released.is_empty() {
            self.note(number, Style::Note, &format!("  {} can go on", released.join(", ")));
        }
        self.waits_from(number);
    }

    fn waits_from(&mut self, after: usize) {
        let diagram = self.diagram;
        for wait in diagram.waits_from(after) {
            let (name, place) = (&diagram.lanes[wait.lane].name, self.page.place(wait.span));
            let may = if wait.may_stop { ", as it may," } else { "" };
            let style = if wait.may_stop { Style::Faint } else { Style::Note };
            self.note(after, style, &format!("  {name} ({place}) waits{may} {}", wait.reason));
        }
    }

    /// The arrows of a row: messages, creation, who is let go on.
    fn arrows(&self, row: &Row) -> Vec<Arrow> {
        let signs = self.signs;
        let solid =
            |from: usize, to: usize| Arrow { from, to, sign: signs.message, heads: [signs.left[0], signs.right[0]] };
        let dashed =
            |from: usize, to: usize| Arrow { from, to, sign: signs.thread, heads: [signs.left[1], signs.right[1]] };
        let released = self.diagram.released_by(row.step.number).map(|wait| dashed(row.lane, wait.lane));
        let created = row.created.iter().map(|lane| dashed(row.lane, *lane));
        let sent = row.received.iter().map(|delivery| solid(delivery.from, row.lane));
        let handed = row.partner.iter().map(|partner| solid(row.lane, *partner));
        released.chain(created).chain(sent).chain(handed).filter(|arrow| arrow.from != arrow.to).collect()
    }

    /// Draws an arrow between two lanes, behind the lanes that it crosses.
    fn draw_arrow(&self, cells: &mut [(Style, char)], arrow: &Arrow) {
        let (from, to) = (arrow.from * self.spacing, arrow.to * self.spacing);
        let (low, high) = (from.min(to), from.max(to));
        for (column, cell) in cells.iter_mut().enumerate().take(high).skip(low + 1) {
            if column % self.spacing != 0 || cell.1 == ' ' {
                *cell = (Style::Name, arrow.sign);
            }
        }
        let (head, sign) = if from < to { (to - 1, arrow.heads[1]) } else { (to + 1, arrow.heads[0]) };
        cells[head] = (Style::Name, sign);
    }

    fn end(&mut self) {
        let last = self.diagram.steps;
        match self.diagram.cycle_start {
            Some(start) if start <= last => {
                let text = format!("{} goes on as from step {start}, for ever", self.page.turn());
                self.note(last, Style::Note, &text);
            }
            Some(_) => self.note(last, Style::Note, "nothing moves any more; this state lasts for ever"),
            None => {}
        }
        for relation in &self.diagram.relations {
            let parts = wrap(relation, self.width);
            self.lines.extend(parts.into_iter().map(|part| vec![(Style::Error, part)]));
        }
        if !self.diagram.waits_known {
            let text = "Where processes wait is not shown: the run has too many steps.";
            self.lines.push(vec![(Style::Faint, text.to_owned())]);
        }
    }
}
