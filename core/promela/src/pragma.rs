//! Comments that speak to Fabius: `/*@ … */`. To anybody else, Spin too, they are comments.

use fabius_base::{FileId, Span};

/// A comment that speaks to Fabius.
pub(crate) struct Pragma<'a> {
    /// All of it.
    pub(crate) span: Span,
    /// What stands between `/*@` and `*/`.
    pub(crate) words: &'a str,
}

/// The pragmas of a file, except for those in `inactive` text.
pub(crate) fn pragmas<'a>(file: FileId, text: &'a str, inactive: &[Span]) -> Vec<Pragma<'a>> {
    let mut found = Vec::new();
    // Hardly a model has any.
    if !text.contains("/*@") {
        return found;
    }
    for (start, comment) in comments(text) {
        let Some(words) = comment.strip_prefix('@') else { continue };
        let span = Span::new(file, start as u32, (start + comment.len() + 4) as u32);
        let counts = |off: &Span| off.file != file || span.end <= off.start || off.end <= span.start;
        if inactive.iter().all(counts) {
            found.push(Pragma { span, words });
        }
    }
    found
}

/// The block comments of a text: where each starts, and what is between `/*` and `*/`.
fn comments(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        at = match rest {
            [b'/', b'*', ..] => {
                let inside = at + 2;
                let length = text[inside..].find("*/").unwrap_or(text.len() - inside);
                if inside + length < text.len() {
                    found.push((at, &text[inside..inside + length]));
                }
                inside + length + 2
            }
            [b'/', b'/', ..] => at + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
            [quote @ (b'"' | b'\''), ..] => after_literal(bytes, at, *quote),
            _ => at + 1,
        };
    }
    found
}

/// Where a string or character ends that starts here; at the latest at the end of the line.
fn after_literal(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
