//! Expected verdicts: comments that say what a check is to find out.
//!
//! ```promela
//! /*@ expect: violated */
//! ltl served { [] (asked -> <> served) }
//! ```
//!
//! The comment stands above a formula or claim, in it, or behind it on its last line; anywhere else it is about
//! what every model is checked for. `/*@ expect NAME: holds */` names the property and may stand anywhere.

use crate::pragma::{Pragma, pragmas};
use crate::query::tokens::pieces;
use fabius_base::{FileId, Finding, SourceMap, Span};
use fabius_language::{Expectation, Piece, PieceKind, expectation_complaint};

/// The expected verdicts in all files, and what is wrong with them. `declared` are the names of formulas and claims, each with
/// its keyword's place.
pub(crate) fn expectations(
    map: &SourceMap,
    inactive: &[Span],
    declared: &[(&str, Span)],
) -> (Vec<Expectation>, Vec<Finding>) {
    let declared: Vec<(&str, Span)> = declared.iter().map(|(name, span)| (*name, map.user_span(*span))).collect();
    let mut found: Vec<Expectation> = Vec::new();
    let mut findings = Vec::new();
    for (file, source) in map.files() {
        let mut cut: Option<Vec<Piece>> = None;
        for Pragma { span, words } in pragmas(file, &source.text, inactive) {
            let Some(expectation) =
                words.trim().strip_prefix("expect").filter(|rest| !rest.starts_with(char::is_alphanumeric))
            else {
                continue;
            };
            let Some((name, holds)) = read(expectation) else {
                findings.push(expectation_complaint(
                    span,
                    "write `@ expect: violated`, `@ expect: holds` or `@ expect NAME: …`",
                ));
                continue;
            };
            let property = match name {
                "" => {
                    let cut = cut.get_or_insert_with(|| pieces(&source.text));
                    neighbour(&source.text, cut, file, span, &declared).map(str::to_owned)
                }
                name => Some(name.to_owned()),
            };
            if found.iter().any(|other| other.property == property && other.holds != holds) {
                findings.push(expectation_complaint(
                    span,
                    "another annotation expects something else of the same property",
                ));
            }
            found.push(Expectation { property, holds, span });
        }
    }
    (found, findings)
}

/// `NAME: VERDICT`: the name, which may be missing, and whether the property is to hold.
fn read(expectation: &str) -> Option<(&str, bool)> {
    let (name, verdict) = expectation.split_once(':')?;
    let holds = match verdict.trim() {
        "holds" => true,
        "violated" => false,
        _ => return None,
    };
    Some((name.trim(), holds))
}

/// The formula or claim that a comment belongs to: the next thing after it, or one in which it stands, or behind which it stands
/// on the same line.
fn neighbour<'a>(
    text: &str,
    pieces: &[Piece],
    file: FileId,
    comment: Span,
    declared: &[(&'a str, Span)],
) -> Option<&'a str> {
    let at = pieces.partition_point(|piece| piece.range.end <= comment.start as usize);
    let matters = |piece: &&Piece| piece.is_code() || piece.kind == PieceKind::Directive;
    let next = pieces[at..].iter().find(matters).map_or(text.len(), |piece| piece.range.start);
    let own = || declared.iter().filter(|(_, keyword)| keyword.file == file);
    if let Some((name, _)) = own().find(|(_, keyword)| keyword.start as usize == next) {
        return Some(name);
    }
    let before = own().filter(|(_, keyword)| keyword.end <= comment.start).max_by_key(|(_, keyword)| keyword.start);
    let (name, keyword) = before?;
    let from = pieces.partition_point(|piece| piece.range.end <= keyword.end as usize);
    let (mut depth, mut opened) = (0_i32, false);
    for piece in pieces[from..at].iter() {
        match piece.text(text) {
            "{" => (depth, opened) = (depth + 1, true),
            "}" => depth -= 1,
            // The block is over, and something else has begun.
            _ if opened && depth <= 0 && (piece.is_code() && piece.text(text) != ";" || is_line_end(piece)) => {
                return None;
            }
            _ => {}
        }
    }
    Some(name)
}

fn is_line_end(piece: &Piece) -> bool {
    piece.kind == PieceKind::LineEnd
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use fabius_language::NoLoader;

    /// What is expected, as `name: holds`, and how many complaints there are.
    fn read(text: &str) -> (Vec<String>, usize) {
        let mut map = SourceMap::new();
        let file = map.add_file("m.pml", text);
        let parsed = parse(&mut map, file, &[], &mut NoLoader);
        let lowered = crate::lower(&parsed.model, &map, "m.pml", crate::Options::NONE);
        let program = lowered.program.expect("the model is sound");
        let declared = program.properties.iter().filter_map(|p| Some((p.name.as_str(), p.span?)));
        let declared: Vec<(&str, Span)> = declared.collect();
        let (found, findings) = expectations(&map, &parsed.inactive, &declared);
        let shown = |one: &Expectation| format!("{}: {}", one.property.as_deref().unwrap_or("-"), one.holds);
        (found.iter().map(shown).collect(), findings.len())
    }

    const INIT: &str = "init { skip }";

    #[test]
    fn a_comment_belongs_to_the_formula_beside_it() {
        for text in [
            "/*@ expect: violated */ ltl p { [] true }",
            "/*@expect:violated*/\n/* why */ // because\nltl p { [] true }",
            "ltl p { /*@ expect: violated */ [] true }",
            "ltl p { [] true /*@ expect: violated */ }",
            "ltl p { [] true } /*@ expect: violated */",
            "ltl q { [] true } ltl p { [] true }; /*@ expect : violated */\n",
        ] {
            assert_eq!(read(&format!("{text}\n{INIT}")), (vec!["p: false".to_owned()], 0), "{text}");
        }
        let claim = format!("{INIT}\n/*@ expect: holds */\nnever {{ do :: skip od }}");
        assert_eq!(read(&claim).0, ["never: true"]);
    }

    #[test]
    fn elsewhere_it_is_about_what_every_model_is_checked_for() {
        for text in [
            "/*@ expect: violated */ init { skip }",
            "init { skip } /*@ expect: violated */",
            "ltl p { [] true }\n/*@ expect: violated */\ninit { skip }",
            "ltl p { [] true } init { skip } /*@ expect: violated */",
        ] {
            assert_eq!(read(text).0, ["-: false"], "{text}");
        }
        assert_eq!(read("/*@ expect progress: violated */ init { skip }").0, ["progress: false"]);
    }

    #[test]
    fn what_the_preprocessor_leaves_out_does_not_count() {
        let text = "#if 1\n/*@ expect: violated */\n#else\n/*@ expect: holds */\n#endif\ninit { skip }";
        assert_eq!(read(text), (vec!["-: false".to_owned()], 0));
        assert_eq!(read(&format!("#ifdef X\n/*@ expect: nonsense */\n{INIT}\n#else\n{INIT}\n#endif\n")).1, 0);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for wrong in ["expect", "expect violated", "expect: undecided", "expect p", "expect: holds violated"] {
            assert_eq!(read(&format!("/*@ {wrong} */ {INIT}")), (Vec::new(), 1), "{wrong}");
        }
        assert_eq!(read(&format!("/*@ expected: x */ /*@ ensures: y */ /* expect */ {INIT}")), (Vec::new(), 0));
        let twice = format!("/*@ expect: holds */ /*@ expect: violated */ {INIT}");
        assert_eq!(read(&twice).1, 1);
    }
}
