//! Text that fits.

use crate::theme::{Sign, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text, cut to a width; a sign says that something is missing.
pub fn fit(text: &str, width: usize, theme: Theme) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.width() <= width {
        return clean;
    }
    let Some(room) = width.checked_sub(1) else { return String::new() };
    let mut cut = String::new();
    let mut used = 0;
    for c in clean.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        cut.push(c);
    }
    cut.push_str(theme.sign(Sign::More));
    cut
}

/// The text in exactly this many columns.
pub fn pad(text: &str, width: usize, theme: Theme) -> String {
    let mut text = fit(text, width, theme);
    let missing = width.saturating_sub(text.width());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// The width of a text in columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The width of a line in columns.
pub fn width_of(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| span.content.width()).sum()
}

/// Writes a line into an area's row; what does not fit is cut, and a sign says so.
pub fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line<'_>, theme: Theme) {
    if row >= area.height || area.width == 0 {
        return;
    }
    let mut x = area.x;
    let total = width_of(line);
    for span in &line.spans {
        let left = usize::from(area.right().saturating_sub(x));
        let is_last = total > usize::from(area.width) && span.content.width() >= left;
        let text =
            if is_last { fit(&format!("{} ", span.content), left, theme) } else { fit(&span.content, left, theme) };
        let (end, _) = buffer.set_stringn(x, area.y + row, &text, left, span.style);
        x = end;
        if x >= area.right() {
            break;
        }
    }
}

/// A row that is marked: reversed over its whole width.
pub fn mark(buffer: &mut Buffer, area: Rect, row: u16, style: Style) {
    if row < area.height {
        buffer.set_style(Rect { y: area.y + row, height: 1, ..area }, style);
    }
}

/// A text broken into lines of a width, at blanks if possible.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        while word.width() > width {
            let head: String = word.chars().take(width).collect();
            word = word.chars().skip(width).collect();
            lines.push(head);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// `0.4 s`, `12 s`, `3 min`, `2 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        _ => "days".to_owned(),
    }
}

/// A large number in few letters: `812`, `41 208`, `1.20 M`.
pub fn rounded(value: u64) -> String {
    match value {
        v if v < 1_000_000 => fabius_engine::words::grouped(v),
        v if v < 1_000_000_000 => format!("{:.2} M", v as f64 / 1e6),
        v => format!("{:.2} G", v as f64 / 1e9),
    }
}

/// A span.
pub fn span<'a>(text: impl Into<std::borrow::Cow<'a, str>>, style: Style) -> Span<'a> {
    Span::styled(text, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_and_says_so() {
        let theme = Theme::default();
        assert_eq!(fit("abcdef", 6, theme), "abcdef");
        assert_eq!(fit("abcdef", 5, theme), "abcd…");
        assert_eq!(fit("abcdef", 0, theme), "");
        assert_eq!(fit("a\tb", 3, theme), "a b");
        assert_eq!(pad("ab", 4, theme), "ab  ");
        assert_eq!(fit("日本語", 5, theme), "日本…");
    }

    #[test]
    fn long_words_are_broken_too() {
        assert_eq!(wrap("to be or not", 8), ["to be or", "not"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
    }
}
