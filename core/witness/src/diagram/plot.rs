//! How numbers change along a run: global variables, and how many messages channels hold; as data, as a picture (SVG) and as a line of signs.

use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

use crate::interpret::Outcome;
use crate::show::Names;
use crate::trace::{Change, Changed, Trace};

/// Fewer different values are told by the steps as well.
const VALUES_MIN: usize = 3;
/// More plots of a run are left out.
const PLOTS_MAX: usize = 12;
/// From the left edge of a picture to its curves.
const LEFT: usize = 190;
/// The width of the curves.
const WIDTH: usize = 560;
/// From one plot to the next, and how much of that a curve takes.
const ROW: usize = 52;
const HEIGHT: usize = 34;
const TOP: usize = 12;

const STYLE: &str = "\
    .plot .curve{fill:none;stroke:#1f6feb;stroke-width:2}.plot .axis{stroke:#d1d9e0}.plot .round{fill:#8250df;opacity:.12}\
    .plot text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;stroke:none}.plot .small{font-size:10.5px;fill:#59636e}\
    @media (prefers-color-scheme:dark){.plot .axis{stroke:#3d444d}.plot text{fill:#e6edf3}.plot .small{fill:#9198a1}.plot .curve{stroke:#4493f8}}";

/// A number along a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Plot {
    /// The variable, or the channel.
    pub name: String,
    /// It is the number of messages in a channel.
    pub of_messages: bool,
    /// The values, each from a step on until the next.
    pub points: Vec<PlotPoint>,
}

/// A number that something has from a step on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PlotPoint {
    /// The number of the step after which it has the value; 0 is the initial state.
    pub step: usize,
    /// The value.
    pub value: i32,
}

impl Plot {
    /// The smallest and the largest value.
    pub fn range(&self) -> (i32, i32) {
        let values = self.points.iter().map(|point| point.value);
        (values.clone().min().unwrap_or_default(), values.max().unwrap_or_default())
    }

    fn distinct(&self) -> usize {
        self.points.iter().map(|point| point.value).collect::<BTreeSet<_>>().len()
    }
}

/// The numbers that change most visibly along a run, in the order of their first changes: at most a dozen of those with at least three
/// different values.
pub fn plots(trace: &Trace) -> Vec<Plot> {
    let mut found: Vec<Plot> = Vec::new();
    trace.steps.visit(&mut |step, before, outcome| {
        let Outcome::Reaches { state: after, .. } = outcome else { return };
        let program = trace.steps.program();
        // Variables of a process are not there in all states.
        for change in step.changes.iter().filter(|change| change.pid.is_none()) {
            let messages = |state| {
                let names = Names::of(program, state);
                let index = (0..state.channels.len()).find(|index| names.channel(*index as i32 + 1) == change.name);
                index.map(|index| state.channels[index].messages.len() as i32)
            };
            let values = match change.what {
                Changed::Variable => change.old.parse().ok().zip(change.new.parse().ok()),
                Changed::Channel => messages(before).zip(messages(after)),
                Changed::Priority => None,
            };
            if let Some((old, new)) = values {
                add(&mut found, change, step.number, old, new);
            }
        }
    });
    found.retain(|plot| VALUES_MIN <= plot.distinct());
    found.truncate(PLOTS_MAX);
    found
}

fn add(found: &mut Vec<Plot>, change: &Change, step: usize, old: i32, new: i32) {
    let of_messages = change.what == Changed::Channel;
    let known = found.iter().position(|plot| plot.name == change.name && plot.of_messages == of_messages);
    let at = known.unwrap_or_else(|| {
        let points = vec![PlotPoint { step: 0, value: old }];
        found.push(Plot { name: change.name.clone(), of_messages, points });
        found.len() - 1
    });
    found[at].points.push(PlotPoint { step, value: new });
}

/// Plots as a picture, one below the other, of a run of this many steps; `loop_start` is the number of the first step of its loop. Empty
/// without plots.
pub fn plots_svg(plots: &[Plot], steps: usize, loop_start: Option<usize>) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let (width, height) = (LEFT + WIDTH + 20, TOP + ROW * plots.len() + 18);
    let x = |step: usize| LEFT + step * WIDTH / steps.max(1);
    let mut out = format!(
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Values over the steps\">\n<style>{STYLE}</style>\n"
    );
    if let Some(start) = loop_start.filter(|start| (1..=steps).contains(start)) {
        let from = x(start - 1);
        let (wide, tall) = (x(steps) - from, ROW * plots.len());
        let _ = writeln!(
            out,
            "<rect class=\"round\" x=\"{from}\" y=\"{TOP}\" width=\"{wide}\" height=\"{tall}\"><title>the loop</title></rect>"
        );
    }
    for (row, plot) in plots.iter().enumerate() {
        let top = TOP + ROW * row;
        let (smallest, largest) = plot.range();
        let y = |value: i32| {
            let share = (f64::from(value) - f64::from(smallest)) / (f64::from(largest) - f64::from(smallest)).max(1.0);
            top as f64 + HEIGHT as f64 * (1.0 - share)
        };
        let what = if plot.of_messages { "messages, " } else { "" };
        let _ = writeln!(out, "<text x=\"8\" y=\"{}\">{}</text>", top + 14, escaped(&plot.name));
        let _ = writeln!(out, "<text class=\"small\" x=\"8\" y=\"{}\">{what}{smallest} to {largest}</text>", top + 30);
        let base = top + HEIGHT;
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {base}H{}\"/>", LEFT + WIDTH);
        let mut path = String::new();
        for (number, point) in plot.points.iter().enumerate() {
            let (x, y) = (x(point.step), y(point.value));
            let _ = if number == 0 { write!(path, "M{x} {y:.1}") } else { write!(path, "H{x}V{y:.1}") };
        }
        let _ = writeln!(out, "<path class=\"curve\" d=\"{path}H{}\"/>", x(steps));
    }
    let base = TOP + ROW * plots.len() + 8;
    let _ = writeln!(out, "<text class=\"small\" x=\"{LEFT}\" y=\"{base}\">initial state</text>");
    let _ = writeln!(
        out,
        "<text class=\"small\" x=\"{}\" y=\"{base}\" text-anchor=\"end\">step {steps}</text></svg>",
        LEFT + WIDTH
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// A plot as a line of signs, a column for each state; of a run with more states, a column stands for several and shows the largest value.
pub fn plot_line(plot: &Plot, steps: usize, width: usize) -> String {
    const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (smallest, largest) = plot.range();
    let columns = (steps + 1).min(width.max(1));
    let column = |number: usize| {
        let (first, end) = (number * (steps + 1) / columns, (number + 1) * (steps + 1) / columns);
        let before = plot.points.partition_point(|point| point.step <= first).saturating_sub(1);
        let inside = plot.points[before..].iter().take_while(|point| point.step < end);
        let value = inside.map(|point| point.value).max().unwrap_or(smallest);
        let (value, smallest, largest) = (i64::from(value), i64::from(smallest), i64::from(largest));
        let share = (value - smallest) * 7 / (largest - smallest).max(1);
        SIGNS[share as usize]
    };
    (0..columns).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::{Plot, PlotPoint, plot_line};

    #[test]
    fn a_line_has_a_column_for_each_state_or_the_largest_of_several() {
        let points = [(0, 0), (1, 1), (3, 7), (4, 0)].map(|(step, value)| PlotPoint { step, value });
        let plot = Plot { name: "x".to_owned(), of_messages: false, points: points.to_vec() };
        assert_eq!(plot_line(&plot, 5, 80), "▁▂▂█▁▁");
        assert_eq!(plot_line(&plot, 5, 3), "▂█▁");
        assert_eq!(plot_line(&plot, 5, 1), "█");
    }
}
