//! A diagram as a picture (SVG).

use fabius_base::{SourceMap, Span};

use super::{Diagram, Row, Wait, shortened};
use crate::format::text::wrap;
use crate::trace::Changed;

/// From one lane to the next.
const LANE: usize = 230;
/// From one step to the next.
const ROW: usize = 46;
/// Above the first step.
const TOP: usize = 64;
const LEFT: usize = 40;
/// From the edge of a name to the lane.
const NAME_INSET: usize = 16;
/// Characters that fit beside a lane.
const ROOM: usize = 29;
/// The width of a character.
const CHARACTER: usize = 8;

const STYLE: &str = "\
    .ground{fill:#fff}.name{fill:#eef2f7;stroke:#8a97a8}.life{stroke:#b4bcc8}.wait{fill:#e9a23b}.may{fill:#c9d2dc}\
    .step{fill:#1f6feb}.bad{fill:#d1242f}.message{stroke:#1a7f37;stroke-width:1.6;fill:none}\
    .thread{stroke:#8250df;stroke-dasharray:4 3;fill:none}.circle{stroke:#d1242f;stroke-width:1.6;fill:none}\
    text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;paint-order:stroke;stroke:#fff;stroke-width:3px}.small{font-size:10.5px;fill:#59636e}\
    .label{fill:#1a7f37;font-size:10.5px}.why{fill:#9a6700;font-size:10.5px}.error{fill:#d1242f}\
    .loop{fill:none;stroke:#8250df;stroke-dasharray:6 4}\
    @media (prefers-color-scheme:dark){.ground{fill:#0d1117}.name{fill:#161b22;stroke:#6e7681}.life{stroke:#484f58}\
    text{fill:#e6edf3;stroke:#0d1117}.small{fill:#9198a1}.why{fill:#d29922}.label{fill:#3fb950}.message{stroke:#3fb950}}";

/// The diagram as an SVG document.
pub fn svg(diagram: &Diagram, source: &SourceMap) -> String {
    let width = LEFT + LANE * diagram.lanes.len().max(1) + 20;
    let relations = diagram.relations.iter().flat_map(|relation| wrap(relation, (width - LEFT) / CHARACTER));
    let relations: Vec<String> = relations.collect();
    let below = 40 + 18 * relations.len() + if diagram.circle.is_empty() { 0 } else { 60 };
    let picture = Picture {
        diagram,
        source,
        numbers: diagram.rows.iter().map(|row| row.step.number).collect(),
        relations,
        width,
        height: TOP + ROW * diagram.rows.len() + below,
        out: String::new(),
    };
    picture.draw()
}

struct Picture<'a> {
    diagram: &'a Diagram,
    source: &'a SourceMap,
    /// The numbers of the steps drawn.
    numbers: Vec<usize>,
    /// Who waits for whom in the end, in lines.
    relations: Vec<String>,
    width: usize,
    height: usize,
    out: String,
}

impl Picture<'_> {
    fn draw(mut self) -> String {
        let (width, height) = (self.width, self.height);
        self.put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
        ));
        self.put(&format!("<style>{STYLE}</style>"));
        for (id, colour) in [("m", "#1a7f37"), ("t", "#8250df"), ("c", "#d1242f")] {
            self.put(&format!(
                "<defs><marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
                 orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"{colour}\"/></marker></defs>"
            ));
        }
        self.put("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>");
        (0..self.diagram.lanes.len()).for_each(|lane| self.lane(lane));
        let diagram = self.diagram;
        self.loop_box();
        diagram.waits.iter().for_each(|wait| self.wait(wait));
        diagram.rows.iter().for_each(|row| self.arrows(row));
        diagram.rows.iter().for_each(|row| self.step(row));
        self.circle();
        self.put("</svg>");
        self.out
    }

    fn put(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn x(lane: usize) -> usize {
        LEFT + 20 + lane * LANE
    }

    /// The height of a step; of one that is not drawn, that of the first one drawn after it, or below the last one.
    fn y(&self, step: usize) -> usize {
        TOP + ROW * self.numbers.partition_point(|number| *number < step)
    }

    /// The height of the state after a step.
    fn y_after(&self, step: usize) -> usize {
        TOP + ROW * self.numbers.partition_point(|number| *number <= step) - ROW / 2
    }

    fn bottom(&self) -> usize {
        TOP + ROW * self.diagram.rows.len() - ROW / 2 + 10
    }

    fn lane(&mut self, at: usize) {
        let lane = &self.diagram.lanes[at];
        let (x, name) = (Self::x(at), escaped(&lane.name));
        let top = if lane.created == 0 { 34 } else { self.y(lane.created) + 10 };
        let bottom = lane.ended.map_or(self.bottom(), |ended| self.y(ended));
        self.put(&format!("<line class=\"life\" x1=\"{x}\" y1=\"{top}\" x2=\"{x}\" y2=\"{bottom}\"/>"));
        let (left, width, y) = (x - NAME_INSET, 16 + 8 * lane.name.chars().count(), top - 20);
        self.put(&format!("<rect class=\"name\" x=\"{left}\" y=\"{y}\" width=\"{width}\" height=\"20\" rx=\"4\"/>"));
        self.put(&format!("<text x=\"{}\" y=\"{}\">{name}</text>", left + 8, y + 14));
    }

    fn loop_box(&mut self) {
        let Some(start) = self.diagram.cycle_start.filter(|start| *start <= self.diagram.steps) else { return };
        let (y, bottom) = (self.y_after(start - 1), self.bottom() - 4);
        let (width, height) = (self.width - 12, bottom.saturating_sub(y));
        self.put(&format!("<rect class=\"loop\" x=\"6\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"));
        self.put(&format!("<text class=\"small\" x=\"{}\" y=\"{}\">⟳ for ever</text>", self.width - 90, bottom + 12));
    }

    fn wait(&mut self, wait: &Wait) {
        let x = Self::x(wait.lane);
        let top = self.y_after(wait.after);
        let bottom = match wait.until {
            Some(until) => self.y(until),
            None => self.bottom(),
        };
        let class = if wait.may_stop { "may" } else { "wait" };
        let place = self.place(wait.span);
        let why = format!("waits at {place} {}", wait.reason);
        let (left, height) = (x - 4, bottom.saturating_sub(top));
        self.put(&format!(
            "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"8\" height=\"{height}\"><title>{}</title></rect>",
            escaped(&why)
        ));
        let (left, y) = (x + 10, top + 6);
        let shown = escaped(&shortened(&why, ROOM + 4));
        self.put(&format!("<text class=\"why\" x=\"{left}\" y=\"{y}\">{shown}<title>{}</title></text>", escaped(&why)));
    }

    /// Messages, creation, and who is let go on.
    fn arrows(&mut self, row: &Row) {
        let (y, step) = (self.y(row.step.number), &row.step);
        for delivery in &row.received {
            let (from, to) = ((Self::x(delivery.from), self.y(delivery.sent_in)), (Self::x(row.lane), y));
            self.arrow("message", "m", from, to, &format!("{} [{}]", delivery.channel, delivery.fields));
        }
        if let Some(partner) = row.partner {
            let sent = step.messages.iter().find(|message| message.sent);
            let text = sent.map(|message| format!("{} [{}]", message.channel, message.fields)).unwrap_or_default();
            self.arrow("message", "m", (Self::x(row.lane), y), (Self::x(partner), y), &text);
        }
        for created in &row.created {
            self.arrow("thread", "t", (Self::x(row.lane), y), (Self::x(*created) - NAME_INSET, y), "");
        }
        let diagram = self.diagram;
        for wait in diagram.released_by(step.number).filter(|wait| wait.lane != row.lane) {
            self.arrow("thread", "t", (Self::x(row.lane), y), (Self::x(wait.lane), y), "");
        }
    }

    fn step(&mut self, row: &Row) {
        let y = self.y(row.step.number);
        let class = if row.step.fault.is_some() { "bad" } else { "step" };
        for lane in [Some(row.lane), row.partner].into_iter().flatten() {
            self.put(&format!("<circle class=\"{class}\" cx=\"{}\" cy=\"{y}\" r=\"5\"/>", Self::x(lane)));
        }
        self.step_text(row, y);
    }

    fn step_text(&mut self, row: &Row, y: usize) {
        let (x, step) = (Self::x(row.lane) + 10, &row.step);
        let text = format!("{} {}", step.number, step.actor.text);
        let title = format!("step {}, {}: {}", step.number, self.place(step.actor.span), step.actor.text);
        let shown = escaped(&shortened(&text, ROOM));
        let title = escaped(&title);
        self.put(&format!("<text x=\"{x}\" y=\"{}\">{shown}<title>{title}</title></text>", y - 4));
        let changes = step.changes.iter().filter(|change| change.what != Changed::Channel);
        let mut told: Vec<String> =
            changes.map(|change| format!("{}: {} → {}", change.name, change.old, change.new)).collect();
        told.extend(step.timeout.then(|| "timeout: nothing else can move".to_owned()));
        let told = told.join(", ");
        if let Some(fault) = step.fault {
            let fault = escaped(&fault.to_string());
            self.put(&format!("<text class=\"error\" x=\"{x}\" y=\"{}\">✗ {fault}</text>", y + 11));
        } else if !told.is_empty() {
            let shown = escaped(&shortened(&told, ROOM + 4));
            let told = escaped(&told);
            self.put(&format!("<text class=\"small\" x=\"{x}\" y=\"{}\">{shown}<title>{told}</title></text>", y + 10));
        }
    }

    fn arrow(&mut self, class: &str, head: &str, from: (usize, usize), to: (usize, usize), label: &str) {
        if from.0 == to.0 {
            return;
        }
        let inset = |x: usize, other: usize| if x < other { x + 6 } else { x - 6 };
        let (x1, x2) = (inset(from.0, to.0), inset(to.0, from.0));
        let (y1, y2) = (from.1, to.1);
        self.put(&format!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" marker-end=\"url(#{head})\"/>"
        ));
        if !label.is_empty() {
            let x = x2.min(x1) + x1.abs_diff(x2) * 2 / 3;
            let y = if from.0 < to.0 { y1 + (y2 - y1) * 2 / 3 } else { y2 - (y2 - y1) * 2 / 3 };
            self.put(&format!(
                "<text class=\"label\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                y + 14,
                escaped(&shortened(label, ROOM))
            ));
        }
    }

    /// Who waits for whom in the end.
    fn circle(&mut self) {
        let circle = &self.diagram.circle;
        let mut y = self.bottom() + 8;
        for (at, lane) in circle.iter().enumerate() {
            let (x1, x2) = (Self::x(*lane), Self::x(circle[(at + 1) % circle.len()]));
            let (middle, deep) = (x1.midpoint(x2), y + 26 + if x1 < x2 { 0 } else { 26 });
            self.put(&format!(
                "<path class=\"circle\" d=\"M{x1} {y} Q{middle} {deep} {x2} {y}\" marker-end=\"url(#c)\"/>"
            ));
        }
        y += if circle.is_empty() { 12 } else { 52 };
        for relation in std::mem::take(&mut self.relations) {
            self.put(&format!("<text class=\"error\" x=\"{LEFT}\" y=\"{y}\">{}</text>", escaped(&relation)));
            y += 18;
        }
    }

    fn place(&self, span: Span) -> String {
        format!("line {}", self.source.position(span).line)
    }
}

/// Text in an XML document.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
