//! The state graph: moving along its edges, and bringing the walk to a state of it.

use super::drive;
use crate::graph::GraphView;
use crate::keys;
use crate::model::{Model, Overlay, Tone};
use fabius_engine::words::counted;
use ratatui::crossterm::event::KeyEvent;

/// Shows the state graph, with the present state marked.
pub(super) fn show(model: &mut Model) {
    let Some(session) = &model.session else { return };
    match GraphView::of(&session.walk) {
        Ok(view) => {
            let states = counted(view.graph.graph.states as u64, "state");
            let said = match (view.graph.graph.stopped, view.here) {
                (Some(_), None) => format!("the present state is not among the first {states}"),
                (Some(why), _) => format!("the first {states}: {why}"),
                (None, None) => format!("{states}; the last step of the run leads to none of them"),
                (None, Some(_)) => format!("{states}, and there are no others"),
            };
            model.overlay = Some(Overlay::Graph(Box::new(view)));
            model.say(Tone::Plain, said);
        }
        Err(why) => model.say(Tone::Bad, why),
    }
}

/// Keys while the graph is shown.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let rows = usize::from(model.size.1 / 2).max(1);
    let Some(Overlay::Graph(view)) = &mut model.overlay else { return };
    let (at, count) = (view.cursor.at, view.graph.graph.nodes.len());
    let name = keys::name(&key);
    let to = match (view.cursor.moved(name.as_deref(), count, rows), name.as_deref()) {
        (Some(to), _) => to,
        (None, Some("n")) => view.on_run.range(at + 1..).next().copied().unwrap_or(at),
        (None, Some("N")) => view.on_run.range(..at).next_back().copied().unwrap_or(at),
        (None, Some("h")) => view.here.unwrap_or(at),
        (None, Some("p" | "left" | "backspace")) => view.trail.pop().unwrap_or(at),
        (None, Some("right")) => along(view, 0),
        (None, Some("enter")) => return enter(model),
        (None, Some(digit)) if digit.len() == 1 && ("1"..="9").contains(&digit) => {
            along(view, usize::from(digit.as_bytes()[0] - b'1'))
        }
        _ => {
            model.overlay = None;
            return;
        }
    };
    view.cursor.go(to, count, rows);
}

/// The node to which an edge leads that leaves the marked one.
fn along(view: &mut GraphView, edge: usize) -> usize {
    let (at, to) = (view.cursor.at, view.leaving().nth(edge).map(|edge| edge.to));
    to.map_or(at, |to| {
        view.trail.push(at);
        to
    })
}

/// Walks to the marked state, by a shortest run unless the run that is walked along goes through it.
fn enter(model: &mut Model) {
    let Some(Overlay::Graph(view)) = model.overlay.take() else { return };
    let at = view.cursor.at;
    let Some(session) = &mut model.session else { return };
    let on_line = session.walk.line().iter().find(|node| session.walk.graph_node(&view.graph, **node) == Some(at));
    let found = match on_line {
        Some(node) => Ok(*node),
        None => session.walk.adopt(&view.graph.path_to(at)),
    };
    match found {
        Ok(node) => drive::go(model, node),
        Err(why) => model.say(Tone::Bad, format!("this state cannot be reached from here: {why}")),
    }
}
