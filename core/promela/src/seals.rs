//! Sealed stretches: comments that forbid a delaying scheduler to interrupt.
//!
//! ```promela
//! /*@ seal rtc */ reply!value; granted = true /*@ unseal */
//! ```
//!
//! `seal rr` and `seal rtc` say how processes are scheduled inside; the stretch may be some statements, or
//! whole declarations. To anybody else, Spin too, it is a comment. What is written in a macro's definition counts where it
//! stands, not where it is used.

use crate::pragma::{Pragma, pragmas};
use fabius_base::{Code, FileId, Finding, SourceMap, Span};
use fabius_language::{SealKind, SealedStretch};

/// The sealed stretches of all files, outer ones first, and what is wrong with them. What is written in `inactive` text
/// does not count.
pub(crate) fn sealed_stretches(map: &SourceMap, inactive: &[Span]) -> (Vec<SealedStretch>, Vec<Finding>) {
    let mut found = Seals::default();
    for (file, source) in map.files() {
        found.read(file, &source.text, inactive);
    }
    found.stretches.sort_by_key(|stretch| (stretch.span.file.0, stretch.span.start));
    (found.stretches, found.findings)
}

#[derive(Default)]
struct Seals {
    stretches: Vec<SealedStretch>,
    findings: Vec<Finding>,
    /// Those that are not closed yet: kind, and the comment.
    open: Vec<(SealKind, Span)>,
}

impl Seals {
    fn read(&mut self, file: FileId, text: &str, inactive: &[Span]) {
        for Pragma { span, words } in pragmas(file, text, inactive) {
            let words: Vec<&str> = words.split_whitespace().collect();
            match words.as_slice() {
                ["seal", "rr"] => self.seal(SealKind::RoundRobin, span),
                ["seal", "rtc"] => self.seal(SealKind::RunToCompletion, span),
                ["unseal"] => match self.open.pop() {
                    Some((kind, first)) => self.stretches.push(SealedStretch { kind, span: first.to(span) }),
                    None => self.complain(span, "there is nothing to unseal"),
                },
                ["seal", ..] | ["unseal", ..] => self.complain(span, "write `@ seal rr`, `@ seal rtc` or `@ unseal`"),
                _ => {}
            }
        }
        for (kind, first) in std::mem::take(&mut self.open) {
            self.complain(first, "missing `/*@ unseal */`: this section extends to the end of the file");
            let end = Span::new(file, text.len() as u32, text.len() as u32);
            self.stretches.push(SealedStretch { kind, span: first.to(end) });
        }
    }

    fn seal(&mut self, kind: SealKind, span: Span) {
        if self.open.last().is_some_and(|(outer, _)| *outer != kind) {
            self.complain(span, "a section of another kind is still open; the outer kind would stay in effect");
        }
        self.open.push((kind, span));
    }

    fn complain(&mut self, span: Span, why: &str) {
        self.findings.push(Finding::new(Code::BadSeal, "invalid `seal` annotation").at(span, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(SealKind, String)>, usize) {
        let mut map = SourceMap::new();
        map.add_file("m.pml", text);
        let (stretches, findings) = sealed_stretches(&map, &[]);
        let shown = |stretch: &SealedStretch| (stretch.kind, map.text(stretch.span).to_owned());
        (stretches.iter().map(shown).collect(), findings.len())
    }

    #[test]
    fn stretches_lie_between_comments() {
        let text = "a!1; /*@ seal rr */ b!1; b!2 /*@ unseal */; /*@seal rtc*/ proctype P() { skip } /*@unseal*/";
        let (stretches, findings) = read(text);
        let expected = [
            (SealKind::RoundRobin, "/*@ seal rr */ b!1; b!2 /*@ unseal */".to_owned()),
            (SealKind::RunToCompletion, "/*@seal rtc*/ proctype P() { skip } /*@unseal*/".to_owned()),
        ];
        assert_eq!((stretches.as_slice(), findings), (&expected[..], 0));
    }

    #[test]
    fn other_comments_and_strings_are_left_alone() {
        let text =
            "/* seal rr */ printf(\"/*@ seal rr */\"); // /*@ seal rr */\n/*@ ensures x */ 'a' /* /*@ seal rr */";
        assert_eq!(read(text), (Vec::new(), 0));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert_eq!(read("/*@ unseal */"), (Vec::new(), 1));
        assert_eq!(read("/*@ seal */"), (Vec::new(), 1));
        assert_eq!(read("/*@ seal rr */ a").1, 1);
        let (stretches, findings) = read("/*@ seal rr */ a /*@ seal rtc */ b /*@ unseal */ c /*@ unseal */");
        assert_eq!((stretches.len(), findings), (2, 1));
        assert_eq!(stretches[0].0, SealKind::RoundRobin);
        for hostile in ["/*", "/*@", "\"", "'\\", "/*@ seal rr */\u{e9}\"\u{e9}", "é/*@ unseal"] {
            let _ = read(hostile);
        }
    }
}
