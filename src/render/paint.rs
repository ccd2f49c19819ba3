//! Colours.

use clap::builder::styling::{AnsiColor, Style};
use fabius_witness::format::text::{self as trace, Line};
use std::fmt::Display;

/// The verdict `holds`.
pub const GOOD: Style = AnsiColor::BrightGreen.on_default().bold();
/// The verdict `violated`.
pub const BAD: Style = AnsiColor::BrightRed.on_default().bold();
/// The verdict `undecided`.
pub const UNSURE: Style = AnsiColor::BrightYellow.on_default().bold();
/// Headings.
pub const STRONG: Style = Style::new().bold();
/// Hardly important.
pub const FAINT: Style = Style::new().dimmed();
/// Something to type.
pub const COMMAND: Style = AnsiColor::Cyan.on_default();

/// Text in a style.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Lines of a trace, each with a line end.
pub fn lines(lines: &[Line], indent: &str) -> String {
    let mut text = String::new();
    for line in lines {
        let end = line.iter().rposition(|(_, part)| !part.trim().is_empty()).map_or(0, |at| at + 1);
        if end > 0 {
            text.push_str(indent);
        }
        for (i, (style, part)) in line[..end].iter().enumerate() {
            let part = if i + 1 == end { part.trim_end() } else { part };
            text.push_str(&paint(style_of(*style), part));
        }
        text.push('\n');
    }
    text
}

fn style_of(style: trace::Style) -> Style {
    match style {
        trace::Style::Plain | trace::Style::Statement | trace::Style::Old => Style::new(),
        trace::Style::Process => STRONG,
        trace::Style::Number | trace::Style::Place | trace::Style::Faint => FAINT,
        trace::Style::Name => AnsiColor::Cyan.on_default(),
        trace::Style::New => AnsiColor::BrightYellow.on_default(),
        trace::Style::Note => AnsiColor::BrightBlue.on_default(),
        trace::Style::Error => BAD,
    }
}
