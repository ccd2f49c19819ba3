//! A graph as a picture (SVG).

use super::layout::{Layout, layout};
use super::notation::{node_lines, shortened, step_lines};
use super::{Edge, Node, StateGraph};
use std::fmt::Write as _;

const CHARACTER: f64 = 6.7;
const LINE: f64 = 15.0;
/// A character and a line of what is written at an edge.
const SMALL: f64 = 5.8;
const SMALL_LINE: f64 = 11.0;
const INSET: f64 = 10.0;
const GAP: f64 = 64.0;
/// Between two layers.
const BETWEEN: f64 = 74.0;
/// Room for what bulges at both sides.
const MARGIN: f64 = 70.0;
/// Characters of a line of a node, and of an edge.
const NODE_WIDTH: usize = 34;
const STEP_WIDTH: usize = 32;

const STYLE: &str = "\
    .ground{fill:#fff}.node{fill:#eef2f7;stroke:#8a97a8}.inner{fill:#fff;stroke-dasharray:4 3}.first{stroke:#1f6feb;stroke-width:2.5}\
    .run{stroke:#e9a23b;stroke-width:2.5}.bad{stroke:#d1242f;stroke-width:2.5;fill:#ffebe9}.ring{fill:none;stroke:#8a97a8}\
    .edge{fill:none;stroke:#8a97a8}.edge.on{stroke:#e9a23b;stroke-width:2.5}.edge.fails{stroke:#d1242f;stroke-width:2}\
    text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}\
    .step{font-size:9.5px;fill:#59636e;paint-order:stroke;stroke:#fff;stroke-width:3px;text-anchor:middle}\
    @media (prefers-color-scheme:dark){.ground{fill:#0d1117}.node{fill:#161b22;stroke:#6e7681}.inner{fill:#0d1117}.bad{fill:#3c1618;stroke:#f85149}\
    text{fill:#e6edf3}.step{fill:#9198a1;stroke:#0d1117}}";

/// The graph as an SVG document.
pub fn svg(graph: &StateGraph) -> String {
    let lines: Vec<Vec<String>> = graph
        .nodes
        .iter()
        .map(|node| node_lines(node).iter().map(|line| shortened(line, NODE_WIDTH)).collect())
        .collect();
    let size = |lines: &Vec<String>| {
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(1).max(4);
        (longest as f64 * CHARACTER + 2.0 * INSET, lines.len().max(1) as f64 * LINE + INSET)
    };
    let sizes: Vec<(f64, f64)> = lines.iter().map(size).collect();
    let roots: Vec<usize> = (0..graph.nodes.len()).filter(|node| graph.nodes[*node].initial).collect();
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let layout = layout(&sizes, &roots, &edges, GAP, &|_| BETWEEN);
    let drawing = Drawing { graph, layout, sizes };
    let (paths, labels) = drawing.edges();
    let boxes = drawing.layout.places.iter().zip(&drawing.sizes).map(|((x, y), (w, h))| [*x, *y, x + w, y + h]);
    let (labels, right) = placed(labels, boxes.collect());
    let nodes: String = lines.iter().enumerate().map(|(at, lines)| drawing.node(at, lines)).collect();
    let (width, height) = (drawing.layout.width.max(right) + 2.0 * MARGIN, drawing.layout.height);
    let markers: String = [("e", "#8a97a8"), ("o", "#e9a23b"), ("f", "#d1242f")].map(marker).concat();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <style>{STYLE}</style>\n{markers}<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n\
         <g transform=\"translate({MARGIN} 0)\">\n{paths}{nodes}{labels}</g>\n</svg>\n"
    )
}

fn marker((id, colour): (&str, &str)) -> String {
    format!(
        "<defs><marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"{colour}\"/></marker></defs>\n"
    )
}

/// A cubic curve.
type Curve = [(f64, f64); 4];

/// A graph whose nodes have their places.
struct Drawing<'a> {
    graph: &'a StateGraph,
    layout: Layout,
    sizes: Vec<(f64, f64)>,
}

impl Drawing<'_> {
    /// The edges, and what is to be written at them.
    fn edges(&self) -> (String, Vec<Label>) {
        let (mut text, mut labels) = (String::new(), Vec::new());
        for edge in &self.graph.edges {
            let (curve, along) = self.curve(edge);
            let (class, marker) = match (edge.fails, edge.on_run) {
                (true, _) => ("edge fails", "f"),
                (false, true) => ("edge on", "o"),
                (false, false) => ("edge", "e"),
            };
            let [a, b, c, d] = curve.map(|(x, y)| format!("{x:.1} {y:.1}"));
            let title = escaped(&edge.steps.join("; "));
            let _ = writeln!(
                text,
                "<path class=\"{class}\"{} marker-end=\"url(#{marker})\" d=\"M{a} C{b} {c} {d}\"><title>{title}</title></path>",
                lines_attribute(&edge.lines)
            );
            let beyond = if edge.from == edge.to { 1.0 } else { 0.0 };
            let lines = step_lines(edge, STEP_WIDTH);
            let about = lines_attribute(&edge.lines);
            labels.push(Label { lines, about, curve, along, beyond, first: edge.on_run || edge.fails });
        }
        (text, labels)
    }

    /// The curve of an edge, and where along it a label stands best.
    fn curve(&self, edge: &Edge) -> (Curve, f64) {
        let ((x, y), (w, h)) = (self.layout.places[edge.from], self.sizes[edge.from]);
        let ((u, v), (k, l)) = (self.layout.places[edge.to], self.sizes[edge.to]);
        let (above, below) = (self.layout.layers[edge.from], self.layout.layers[edge.to]);
        if edge.from == edge.to {
            let (right, middle) = (x + w, y + h / 2.0);
            let out = right + 34.0;
            ([(right, middle - 6.0), (out, middle - 22.0), (out, middle + 22.0), (right, middle + 6.0)], 0.5)
        } else if above < below {
            let (from, to) = ((x + w / 2.0, y + h), (u + k / 2.0, v));
            let bend = (to.1 - from.1) / 2.0;
            // Far from where others begin or end.
            let several = |at: fn(&Edge) -> usize| 1 < self.graph.edges.iter().filter(|e| at(e) == at(edge)).count();
            let along = match (several(|edge| edge.from), several(|edge| edge.to)) {
                (true, false) => 0.64,
                (false, true) => 0.36,
                _ => 0.5,
            };
            ([from, (from.0, from.1 + bend), (to.0, to.1 - bend), to], along)
        } else if above == below {
            let (leave, arrive) = if u < x { (0.2, 0.8) } else { (0.8, 0.2) };
            let (from, to) = ((x + w * leave, y), (u + k * arrive, v));
            let top = from.1.min(to.1) - 34.0;
            ([from, (from.0, top), (to.0, top), to], 0.5)
        } else {
            let (from, to) = ((x + w, y + h * 0.4), (u + k, v + l * 0.6));
            let out = 40.0 + (from.1 - to.1).abs() / 8.0;
            ([from, (from.0 + out, from.1), (to.0 + out, to.1), to], 0.22)
        }
    }

    fn node(&self, at: usize, lines: &[String]) -> String {
        let (node, (x, y), (w, h)) = (&self.graph.nodes[at], self.layout.places[at], self.sizes[at]);
        let classes = [
            (node.transient || node.open, " inner"),
            (node.initial, " first"),
            (node.on_run, " run"),
            (node.error.is_some(), " bad"),
        ];
        let class: String = classes.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
        let mut text = String::new();
        if node.end {
            let (x, y, w, h) = (x - 3.5, y - 3.5, w + 7.0, h + 7.0);
            let _ = writeln!(
                text,
                "<rect class=\"ring\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"9\"/>"
            );
        }
        let title = escaped(&node_lines(node).join("\n"));
        let _ = writeln!(
            text,
            "<rect class=\"node{class}\"{}{} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"6\"><title>{title}</title></rect>",
            lines_attribute(&node.lines),
            location_attribute(node)
        );
        for (line, shown) in lines.iter().enumerate() {
            let y = y + INSET + 6.0 + LINE * line as f64;
            let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + INSET, escaped(shown));
        }
        text
    }
}

/// Whoever shows the picture may lead from an element to these lines of the model.
fn lines_attribute<'a>(lines: impl IntoIterator<Item = &'a u32>) -> String {
    let lines: Vec<String> = lines.into_iter().map(u32::to_string).collect();
    if lines.is_empty() { String::new() } else { format!(" data-lines=\"{}\"", lines.join(" ")) }
}

/// The location of an automaton as whoever shows the picture asks for it: the name of the type and the number.
fn location_attribute(node: &Node) -> String {
    let attribute = |(process, number): &(String, u32)| format!(" data-location=\"{} {number}\"", escaped(process));
    node.location.as_ref().map_or_else(String::new, attribute)
}

/// What is to be written at an edge.
struct Label {
    lines: Vec<String>,
    /// Which lines of the model it is about.
    about: String,
    curve: Curve,
    /// Where along the curve it stands best.
    along: f64,
    /// By how much of half its width it stands to the right of the curve.
    beyond: f64,
    /// It finds its place before others.
    first: bool,
}

/// What is written at edges, as much as has room where nothing else stands, and how far it goes to the right. The rest is in the
/// titles of the edges.
fn placed(mut labels: Vec<Label>, mut taken: Vec<[f64; 4]>) -> (String, f64) {
    let mut text = String::new();
    labels.sort_by_key(|label| !label.first);
    for Label { lines, about, curve, along, beyond, .. } in labels {
        let short = match lines.as_slice() {
            [first, _, ..] => vec![format!("{first}, …")],
            _ => Vec::new(),
        };
        let places = [along, 0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73];
        let tries = [&lines, &short].into_iter().filter(|lines| !lines.is_empty());
        let tries = tries.flat_map(|lines| places.iter().map(move |t| (lines, *t)));
        let boxed = |lines: &[String], t: f64| {
            let half = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64 * SMALL / 2.0;
            let ((x, y), tall) = (point(curve, t), lines.len() as f64 * SMALL_LINE / 2.0);
            let x = x + beyond * (half + 4.0);
            (x, [x - half, y - tall, x + half, y + tall])
        };
        let apart = |a: &[f64; 4], b: &[f64; 4]| a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
        let mut tries = tries.map(|(lines, t)| (lines, boxed(lines, t)));
        let free = tries.find(|(_, (_, area))| taken.iter().all(|other| apart(area, other)));
        let Some((lines, (x, area))) = free else { continue };
        taken.push(area);
        for (at, line) in lines.iter().enumerate() {
            let y = area[1] + SMALL_LINE * (at as f64 + 0.75);
            let _ = writeln!(text, "<text class=\"step\"{about} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(line));
        }
    }
    (text, taken.iter().map(|area| area[2]).fold(0.0, f64::max))
}

/// A point of a cubic curve.
fn point([a, b, c, d]: [(f64, f64); 4], t: f64) -> (f64, f64) {
    let s = 1.0 - t;
    let of = |a: f64, b: f64, c: f64, d: f64| s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d;
    (of(a.0, b.0, c.0, d.0), of(a.1, b.1, c.1, d.1))
}

fn escaped(text: &str) -> String {
    let visible = text.chars().filter(|c| !c.is_control() || *c == '\n').collect::<String>();
    visible.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
