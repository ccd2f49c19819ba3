//! Names that change together while one of them is typed.

use super::names;
use super::place::View;
use fabius_language::{Role, SymbolKind};
use std::ops::Range;

/// The declaration at a byte with all uses of it, if it is of a label, or of a variable or parameter of one process or inline,
/// and all of them stand in this file. At a use there is nothing: whoever types there means another name.
pub fn linked(view: View<'_>, at: usize) -> Vec<Range<usize>> {
    let index = view.index();
    let occurrences = index.at(view.file, at);
    let is_own = |kind: SymbolKind| {
        matches!(kind, SymbolKind::Label | SymbolKind::Local | SymbolKind::Parameter | SymbolKind::InlineParameter)
    };
    let declares = occurrences
        .iter()
        .all(|occurrence| occurrence.role == Role::Definition && is_own(index.symbol(occurrence.symbol).kind));
    if occurrences.is_empty() || !declares || names::renamable(view, at).is_err() {
        return Vec::new();
    }
    let meanings: Vec<_> = occurrences.iter().map(|occurrence| occurrence.symbol).collect();
    // A word of an inline that means another name, too, would take that along.
    let tied = index.tied(&meanings);
    let found = index.references(&tied);
    let name = &*index.symbol(meanings[0]).name;
    let own = found.iter().all(|place| {
        place.file == view.file && view.text().get(place.start as usize..place.end as usize) == Some(name)
    });
    if tied.len() != meanings.len() || !own || found.len() < 2 {
        return Vec::new();
    }
    found.iter().map(|place| place.start as usize..place.end as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    #[test]
    fn a_declaration_is_linked_to_its_uses() {
        for (text, expected) in [
            ("active proctype P() { /*~*/l: skip; goto /*~1*/l }", &["~", "~1"][..]),
            ("active proctype P() { l: skip; goto /*~*/l }", &[]),
            ("active proctype P() { /*~*/l: skip } ltl f { <> P@/*~1*/l }", &["~", "~1"]),
            (
                "active proctype P() { byte /*~*/x; /*~1*/x = /*~2*/x + 1 } active proctype Q() { byte x; x = 1 }",
                &["~", "~1", "~2"],
            ),
            ("active proctype P() { byte x; /*~*/x = x + 1 }", &[]),
            ("byte /*~*/x; active proctype P() { x = 1 }", &[]),
            ("proctype P(byte /*~*/i) { assert(/*~1*/i > 0) } init { run P(1) }", &["~", "~1"]),
            ("inline f(/*~*/a) { /*~1*/a = 1 } byte x; init { f(x) }", &["~", "~1"]),
            ("#define TWICE(/*~*/a) (/*~1*/a + /*~2*/a)\nbyte x; init { x = TWICE(x) }", &["~", "~1", "~2"]),
            // In the inline the word means the variable of another process, too.
            ("inline f() { x++ } active proctype P() { byte /*~*/x; f() } active proctype Q() { byte x; f() }", &[]),
            ("active proctype P() { byte /*~*/x; skip }", &[]),
        ] {
            let fixture = Fixture::new(text);
            let starts: Vec<usize> =
                linked(fixture.view(), fixture.mark("~")).iter().map(|range| range.start).collect();
            assert_eq!(starts, expected.iter().map(|mark| fixture.mark(mark)).collect::<Vec<_>>(), "{text}");
        }
    }
}
