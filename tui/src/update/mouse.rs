//! The mouse: a click marks, a second one acts, the wheel scrolls.

use super::{entries, perform, scroll, visible};
use crate::keys::Act;
use crate::layout::Layout;
use crate::message::Effect;
use crate::model::{Model, Overlay, Panel, Screen, TraceTab};
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows that a notch of the wheel moves.
const NOTCH: isize = 3;

pub(super) fn mouse(model: &mut Model, event: MouseEvent, effects: &mut Vec<Effect>) {
    match (event.kind, &mut model.overlay) {
        (MouseEventKind::ScrollDown, Some(Overlay::Help(top))) => *top += NOTCH as usize,
        (MouseEventKind::ScrollUp, Some(Overlay::Help(top))) => *top = top.saturating_sub(NOTCH as usize),
        (
            MouseEventKind::Down(_),
            Some(Overlay::Help(_) | Overlay::Popup(_) | Overlay::Comparison(_) | Overlay::Graph(_)),
        ) => model.overlay = None,
        (_, Some(_)) => {}
        (MouseEventKind::ScrollDown, None) => wheel(model, event, NOTCH),
        (MouseEventKind::ScrollUp, None) => wheel(model, event, -NOTCH),
        (MouseEventKind::Down(MouseButton::Left), None) => click(model, event, effects),
        _ => {}
    }
}

fn wheel(model: &mut Model, event: MouseEvent, by: isize) {
    if let Some((panel, _)) = Layout::of(model).panel_at(event.column, event.row) {
        model.panel = panel;
    }
    scroll(model, by);
}

fn click(model: &mut Model, event: MouseEvent, effects: &mut Vec<Effect>) {
    if model.screen == Screen::Watch {
        return;
    }
    let layout = Layout::of(model);
    let Some((panel, area)) = layout.panel_at(event.column, event.row) else { return };
    model.panel = panel;
    let header = if panel == Panel::Trace && model.tab != TraceTab::Tree { 2 } else { 1 };
    let Some(row) = usize::from(event.row - area.y).checked_sub(header) else { return };
    let row = if panel == Panel::Choices { row / 2 } else { row };
    let (count, rows) = (entries(model, panel), visible(&layout, panel));
    let in_tree = panel == Panel::Trace && model.tab == TraceTab::Tree;
    let cursor = if in_tree { &mut model.tree_cursor } else { model.cursor(panel) };
    let wanted = cursor.top + row;
    if wanted >= count {
        return;
    }
    let again = cursor.at == wanted;
    cursor.go(wanted, count, rows);
    // A click on a step goes there at once; elsewhere it only marks, and the second one acts.
    if again || panel == Panel::Trace {
        perform(model, Act::Enter, 0, effects);
    }
}
