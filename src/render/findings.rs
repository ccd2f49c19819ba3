//! Findings as a person reads them: what, where in the text, why, and what to do.

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use fabius_base::{ExpansionKind, Finding, Severity, SourceMap, Span};
use fabius_engine::report::original_note;
use std::collections::HashMap;

/// A piece of text longer than this is not shown as a whole.
const SHOWN_BYTES_MAX: usize = 16 << 10;
/// A line longer than this is cut around the place that matters.
const LINE_BYTES_MAX: usize = 600;
/// So much of a long line is shown before the place, and twice as much after it.
const LINE_BYTES_AROUND: usize = 40;
/// This many lines are named where the same is to be said of many.
const LINES_NAMED_MAX: usize = 10;
/// This many calls are named of a chain of expansions; the rest is counted.
const CALLS_SHOWN_MAX: usize = 4;

/// A place in a file, ready to be underlined.
struct Mark {
    span: Span,
    text: String,
    primary: bool,
}

/// Findings that say the same of different places of a file belong together; the groups are in the order of their first ones.
pub fn alike<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Vec<&'a Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    let mut known = HashMap::new();
    for finding in findings {
        let what = (finding.code, finding.span().map(|span| span.file), finding.headline.as_str());
        let group = *known.entry(what).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// The lines of findings, a few of them: `lines 12, 13 and 4 more`.
pub fn lines_of(map: &SourceMap, findings: &[&Finding]) -> String {
    let mut lines: Vec<u32> = findings.iter().filter_map(|f| Some(map.position(f.span()?).line)).collect();
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(LINES_NAMED_MAX).map(u32::to_string).collect();
    let more = lines.len().saturating_sub(LINES_NAMED_MAX);
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match more {
        0 => format!("{word} {}", shown.join(", ")),
        more => format!("{word} {} and {more} more", shown.join(", ")),
    }
}

/// A finding with its source lines, in colour.
pub fn render(map: &SourceMap, finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut notes = finding.notes.clone();
    let marks = marks_of(map, finding, &mut notes);
    let mut group: Group<'_> =
        level.primary_title(finding.headline.as_str()).id(finding.code.as_str()).elements(snippets(map, &marks));
    for note in &notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let text = Renderer::styled().render(&[group]);
    format!("{text}\n")
}

/// The places of a finding as the user wrote them; what they went through becomes marks and notes.
fn marks_of(map: &SourceMap, finding: &Finding, notes: &mut Vec<String>) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (i, label) in finding.labels.iter().enumerate() {
        marks.push(Mark { span: map.user_span(label.span), text: label.text.clone(), primary: i == 0 });
    }
    if let Some(span) = finding.span() {
        explain_expansions(map, span, &mut marks, notes);
        notes.extend(original_note(map, span));
    }
    marks
}

/// Says through which macros and inline calls a place came to be, innermost first.
fn explain_expansions(map: &SourceMap, span: Span, marks: &mut Vec<Mark>, notes: &mut Vec<String>) {
    let mut inner = span;
    let chain = map.expansion_chain(span);
    for expansion in chain.iter().take(CALLS_SHOWN_MAX) {
        match expansion.kind {
            ExpansionKind::Macro => {
                let (line, column) = map.line_column(inner.file, inner.start);
                let file = &map.file(inner.file).name;
                notes.push(format!("this comes out of the macro `{}`, from {file}:{line}:{column}", expansion.name));
            }
            ExpansionKind::Inline => {
                let text = format!("in this call of inline `{}`", expansion.name);
                marks.push(Mark { span: map.user_span(expansion.call), text, primary: false });
            }
        }
        inner = expansion.call;
    }
    if chain.len() > CALLS_SHOWN_MAX {
        notes.push(format!("… through {} more macros and inline calls", chain.len() - CALLS_SHOWN_MAX));
    }
}

/// One snippet per stretch of text that holds marks; marks that are near each other share one.
fn snippets<'a>(map: &'a SourceMap, marks: &'a [Mark]) -> Vec<Element<'a>> {
    let mut elements = Vec::new();
    let mut left: Vec<&Mark> = marks.iter().collect();
    while let Some(first) = left.first().copied() {
        let mut window = lines_around(map, first.span);
        let mut together = Vec::new();
        left.retain(|mark| {
            let joined = (mark.span.file == first.span.file).then(|| {
                let own = lines_around(map, mark.span);
                (window.0.min(own.0), window.1.max(own.1))
            });
            match joined {
                Some(joined) if joined.1 - joined.0 <= SHOWN_BYTES_MAX => {
                    window = joined;
                    together.push(*mark);
                    false
                }
                _ => std::ptr::eq(*mark, first).then(|| together.push(*mark)).is_none(),
            }
        });
        elements.extend(snippet(map, window, &together));
    }
    elements
}

/// Underlines marks in the lines from one byte to another.
fn snippet<'a>(map: &'a SourceMap, window: (usize, usize), marks: &[&'a Mark]) -> Vec<Element<'a>> {
    let Some(first) = marks.first() else { return Vec::new() };
    let file = map.file(first.span.file);
    let text = file.text.get(window.0..window.1).unwrap_or("");
    if text.lines().any(|line| line.len() > LINE_BYTES_MAX) {
        return long_line(map, first);
    }
    let (line, _) = map.line_column(first.span.file, window.0 as u32);
    let annotations = marks.iter().map(|mark| {
        let (start, end) = range_in(&file.text, mark.span);
        annotation(mark, start.saturating_sub(window.0), end.saturating_sub(window.0))
    });
    vec![Snippet::source(text).line_start(line as usize).path(&*file.name).annotations(annotations).into()]
}

/// A place in a line that is too long to be shown as a whole.
fn long_line<'a>(map: &'a SourceMap, mark: &'a Mark) -> Vec<Element<'a>> {
    let file = map.file(mark.span.file);
    let (line, column) = map.line_column(mark.span.file, mark.span.start);
    let (start, end) = range_in(&file.text, mark.span);
    let (from, until) = lines_around(map, Span { end: mark.span.start, ..mark.span });
    let from = floor_boundary(&file.text, start.saturating_sub(LINE_BYTES_AROUND).max(from));
    let until = floor_boundary(&file.text, (start + 2 * LINE_BYTES_AROUND).min(until).max(start));
    let text = file.text.get(from..until).unwrap_or("").trim_end_matches(['\r', '\n']);
    let origin = Origin::path(&*file.name).line(line as usize).char_column(column as usize);
    let end = (end - from).min(text.len());
    let start = (start - from).min(end);
    let snippet = Snippet::source(text).line_start(line as usize).annotation(annotation(mark, start, end));
    vec![origin.into(), snippet.into()]
}

/// A mark at a byte range of a snippet.
fn annotation(mark: &Mark, start: usize, end: usize) -> Annotation<'_> {
    let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(start..end.max(start));
    if mark.text.is_empty() { annotation } else { annotation.label(mark.text.as_str()) }
}

/// Bytes of the whole lines that a mark touches; of a long one, only the first line.
fn lines_around(map: &SourceMap, span: Span) -> (usize, usize) {
    let text = &map.file(span.file).text;
    let (start, end) = range_in(text, span);
    let from = text.as_bytes()[..start].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let until = text.as_bytes()[end..].iter().position(|&b| b == b'\n').map_or(text.len(), |at| end + at + 1);
    (from, until)
}

/// A span as byte range inside the text, on character boundaries and not beyond its first line.
fn range_in(text: &str, span: Span) -> (usize, usize) {
    let start = floor_boundary(text, span.start as usize);
    let end = floor_boundary(text, (span.end as usize).max(start));
    let stretch = &text[start..end];
    let first_line = stretch.find('\n').unwrap_or(stretch.len());
    (start, start + stretch[..first_line].trim_end().len())
}

/// The last character boundary at or before an offset.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::{Code, Expansion};

    fn plain(map: &SourceMap, finding: &Finding) -> String {
        anstream::adapter::strip_str(&render(map, finding)).to_string()
    }

    #[test]
    fn a_place_in_a_macro_is_shown_where_it_was_used() {
        let mut map = SourceMap::new();
        let file = map.add_file("a.pml", "#define N 3\nx = N;\n");
        let call = Span::new(file, 16, 17);
        let via = map.add_expansion(Expansion { kind: ExpansionKind::Macro, name: "N".into(), call });
        let three = Span { via, ..Span::new(file, 10, 11) };
        let text = plain(&map, &Finding::new(Code::UndeclaredName, "no x").at(three, "here").help("declare it"));
        assert!(text.contains("--> a.pml:2:5"), "{text}");
        assert!(text.contains("out of the macro `N`, from a.pml:1:11"), "{text}");
        assert!(text.contains("help: declare it"), "{text}");
    }

    #[test]
    fn an_inline_call_is_shown_with_the_body() {
        let mut map = SourceMap::new();
        let file = map.add_file("a.pml", "inline f() {\n  y++\n}\ninit {\n  f()\n}\n");
        let call = Span::new(file, 32, 35);
        let via = map.add_expansion(Expansion { kind: ExpansionKind::Inline, name: "f".into(), call });
        let text =
            plain(&map, &Finding::new(Code::UndeclaredName, "no y").at(Span { via, ..Span::new(file, 15, 16) }, ""));
        assert!(text.contains("--> a.pml:2:3") && text.contains("in this call of inline `f`"), "{text}");
    }

    #[test]
    fn any_span_over_any_text_is_shown_without_panic() {
        let long = "é(".repeat(5000);
        for source in ["", "\n", "é", "a\r\nb\r\n", "\u{1b}[31m\t\0x", long.as_str()] {
            let mut map = SourceMap::new();
            let file = map.add_file("a.pml", source);
            for (start, end) in [(0, 0), (0, 1), (1, 2), (3, 900), (900, 3), (9999, 10001), (u32::MAX, u32::MAX)] {
                let span = Span::new(file, start, end);
                let finding = Finding::new(Code::UndeclaredName, "x").at(span, "one").at(Span::new(file, 0, 1), "two");
                let text = plain(&map, &finding);
                assert!(text.len() < 4000 && !text.contains('\u{1b}'), "{text}");
            }
        }
    }
}
