//! Where everything is on the screen.

use crate::model::{Model, Panel, Screen};
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// From this size on all panels are shown.
pub const FULL: (u16, u16) = (80, 24);
/// Columns before the text of a status line.
pub const REMARK_MARGIN: usize = 2;
/// From this width on there are three columns.
const WIDE: u16 = 120;

/// The parts of the screen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// The line at the top, if there is room.
    pub header: Option<Rect>,
    /// The panels, without what separates them.
    pub panels: Vec<(Panel, Rect)>,
    /// The columns between panels.
    pub separators: Vec<Rect>,
    /// The whole middle.
    pub body: Rect,
    /// The line for remarks, if there is room.
    pub status_line: Option<Rect>,
    /// The line with keys, if there is room.
    pub footer: Option<Rect>,
}

/// This many hundredths of a width.
pub fn share(width: u16, hundredths: u32) -> u16 {
    (u32::from(width) * hundredths / 100) as u16
}

impl Layout {
    /// The layout of a screen.
    pub fn of(model: &Model) -> Self {
        let (width, height) = model.size;
        let mut layout = Self::default();
        let mut body = Rect::new(0, 0, width, height);
        if height >= 4 {
            layout.header = Some(Rect { height: 1, ..body });
            body = Rect { y: 1, height: height - 1, ..body };
        }
        if body.height >= 3 {
            body.height -= 1;
            layout.footer = Some(Rect { y: body.bottom(), height: 1, ..body });
        }
        if body.height >= 6 {
            body.height -= 1;
            layout.status_line = Some(Rect { y: body.bottom(), height: 1, ..body });
            // What does not fit in a line gets a second one where there is room for it.
            if FULL.1 - 3 <= body.height && usize::from(width) < REMARK_MARGIN + model.status_line.text.width() {
                body.height -= 1;
                layout.status_line = Some(Rect { y: body.bottom(), height: 2, ..body });
            }
        }
        layout.body = body;
        if model.screen == Screen::Drive {
            layout.divide(model, body);
        }
        layout
    }

    fn divide(&mut self, model: &Model, body: Rect) {
        if model.zoom || model.size.0 < FULL.0 || model.size.1 < FULL.1 {
            self.panels = vec![(model.panel, body)];
        } else if model.size.0 < WIDE {
            let columns = self.columns(body, &[share(body.width, 56)]);
            let source = columns[0].height * 11 / 21;
            self.stack(columns[0], &[(Panel::Source, source), (Panel::Trace, 0)]);
            self.side(columns[1], model);
        } else {
            let columns = self.columns(body, &[share(body.width, 34), share(body.width, 36)]);
            self.stack(columns[0], &[(Panel::Source, 0)]);
            self.stack(columns[1], &[(Panel::Trace, 0)]);
            self.side(columns[2], model);
        }
    }

    /// Splits into columns of these widths and one for the rest.
    fn columns(&mut self, body: Rect, widths: &[u16]) -> Vec<Rect> {
        let mut columns = Vec::new();
        let mut x = body.x;
        for width in widths {
            columns.push(Rect { x, width: *width, ..body });
            self.separators.push(Rect { x: x + width, width: 1, ..body });
            x += width + 1;
        }
        columns.push(Rect { x, width: body.right().saturating_sub(x), ..body });
        columns
    }

    /// The panels at the side; each gets what it needs if there is room.
    fn side(&mut self, column: Rect, model: &Model) {
        let session = model.session.as_ref();
        let processes = session.map_or(0, |session| session.processes.len());
        let choices = session.map_or(0, |session| session.choices.len());
        let third = column.height / 3;
        let choices = (choices.min(100) as u16 * 2 + 1).clamp(5, (column.height * 2 / 5).max(5));
        let processes = (processes.min(100) as u16 + 1).clamp(4, third.max(4));
        self.stack(column, &[(Panel::Choices, choices), (Panel::Processes, processes), (Panel::Variables, 0)]);
    }

    /// Panels one below the other; the last one gets what is left.
    fn stack(&mut self, column: Rect, panels: &[(Panel, u16)]) {
        let mut y = column.y;
        for (index, (panel, height)) in panels.iter().enumerate() {
            let left = column.bottom().saturating_sub(y);
            let height = if index + 1 == panels.len() { left } else { (*height).min(left) };
            self.panels.push((*panel, Rect { y, height, ..column }));
            y += height;
        }
    }

    /// Where a panel is, if it is shown.
    pub fn panel(&self, wanted: Panel) -> Option<Rect> {
        self.panels.iter().find(|(panel, _)| *panel == wanted).map(|(_, area)| *area)
    }

    /// Rows of a panel below its title.
    pub fn rows(&self, panel: Panel) -> usize {
        self.panel(panel).map_or(0, |area| usize::from(area.height.saturating_sub(1)))
    }

    /// The panel at a place.
    pub fn panel_at(&self, x: u16, y: u16) -> Option<(Panel, Rect)> {
        self.panels.iter().copied().find(|(_, area)| area.contains((x, y).into()))
    }
}
