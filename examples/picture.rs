//! Draws what a program prints on a terminal: text with escape sequences on standard input, a picture (SVG) on standard output. The one
//! argument is the command line that is shown above it.

use std::fmt::Write as _;
use std::io::Read as _;
use std::ops::Range;

/// Columns of the picture; a longer line goes on below, indented.
const COLUMNS: u16 = 80;
/// Columns of the terminal.
const WIDTH: u16 = 400;
const ROWS_MAX: u16 = 500;
/// Columns before the rest of a long line.
const INDENT: u16 = 4;
const CELL: (f64, f64) = (8.4, 18.0);
const LEFT: f64 = 16.0;
const TOP: f64 = 54.0;
const FOREGROUND: &str = "#c9d1d9";
/// The eight colours, then the bright ones.
const COLOURS: [&str; 16] = [
    "#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9", //
    "#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#f0f6fc",
];

/// How a cell is drawn.
#[derive(PartialEq, Clone, Copy)]
struct Style {
    colour: &'static str,
    bold: bool,
    dim: bool,
}

fn style(cell: &vt100::Cell) -> Style {
    let colour = match cell.fgcolor() {
        vt100::Color::Idx(index) => COLOURS.get(usize::from(index)).copied().unwrap_or(FOREGROUND),
        _ => FOREGROUND,
    };
    Style { colour, bold: cell.bold(), dim: cell.dim() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A piece of a line in one style.
fn piece(svg: &mut String, (row, column): (u16, u16), text: &str, style: Style) {
    let cells = text.chars().count();
    let (x, y) = (LEFT + f64::from(column) * CELL.0, TOP + f64::from(row) * CELL.1);
    let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
    let opacity = if style.dim { " opacity=\"0.7\"" } else { "" };
    let width = cells as f64 * CELL.0;
    let _ = writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.0}" fill="{}"{weight}{opacity} textLength="{width:.1}">{}</text>"#,
        style.colour,
        escaped(text)
    );
}

/// The columns of a row of the terminal that stand in each line of the picture: a long row is broken at its last blank that fits.
fn folded(screen: &vt100::Screen, row: u16) -> Vec<Range<u16>> {
    let is_blank = |column: u16| screen.cell(row, column).is_none_or(|cell| cell.contents().trim().is_empty());
    let end = (0..WIDTH).rev().find(|column| !is_blank(*column)).map_or(0, |last| last + 1);
    let (mut lines, mut start) = (Vec::new(), 0);
    loop {
        let room = if start == 0 { COLUMNS } else { COLUMNS - INDENT };
        if end <= start + room {
            lines.push(start..end);
            return lines;
        }
        let broken = (start + 1..=start + room).rev().find(|column| is_blank(*column)).unwrap_or(start + room);
        lines.push(start..broken);
        start = (broken..end).find(|column| !is_blank(*column)).unwrap_or(end);
    }
}

/// The pieces of a line: neighbouring words in the same style are one piece.
fn line(svg: &mut String, screen: &vt100::Screen, row: u16, columns: Range<u16>, drawn: u16) {
    let indent = if columns.start == 0 { 0 } else { INDENT };
    let first = columns.start;
    let mut open: Option<(u16, String, Style)> = None;
    for column in columns {
        let cell = screen.cell(row, column);
        let shown = cell.map(|cell| (cell.contents(), style(cell))).filter(|(text, _)| !text.trim().is_empty());
        match (shown, &mut open) {
            (Some((text, style)), Some((_, piece, known))) if *known == style => piece.push_str(text),
            (None, Some((_, piece, _))) if !piece.ends_with(' ') => piece.push(' '),
            (shown, _) => {
                if let Some((start, text, style)) = open.take() {
                    piece(svg, (drawn, start), text.trim_end(), style);
                }
                open = shown.map(|(text, style)| (column - first + indent, text.to_owned(), style));
            }
        }
    }
    if let Some((start, text, style)) = open {
        piece(svg, (drawn, start), text.trim_end(), style);
    }
}

fn main() -> std::io::Result<()> {
    let command = std::env::args().nth(1).unwrap_or_default();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut terminal = vt100::Parser::new(ROWS_MAX, WIDTH, 0);
    terminal.process(format!("$ {command}\r\n").as_bytes());
    terminal.process(text.trim_end().replace('\n', "\r\n").as_bytes());
    let screen = terminal.screen();
    let lines: Vec<(u16, Range<u16>)> = (0..=screen.cursor_position().0)
        .flat_map(|row| folded(screen, row).into_iter().map(move |columns| (row, columns)))
        .collect();
    let rows = lines.len() as u16;

    let (width, height) = (2.0 * LEFT + f64::from(COLUMNS) * CELL.0, TOP + f64::from(rows) * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"img\" aria-label=\"{}\">\n",
        escaped(&command)
    );
    svg.push_str("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n");
    for (x, colour) in [(20, "#ff5f56"), (38, "#ffbd2e"), (56, "#27c93f")] {
        let _ = write!(svg, r#"<circle cx="{x}" cy="16" r="5" fill="{colour}"/>"#);
    }
    svg.push_str(
        "\n<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace\" font-size=\"14\" xml:space=\"preserve\">\n",
    );
    for (drawn, (row, columns)) in lines.into_iter().enumerate() {
        line(&mut svg, screen, row, columns, drawn as u16);
    }
    println!("{svg}</g></svg>");
    Ok(())
}
