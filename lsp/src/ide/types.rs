//! From a variable to the declaration of its type, and from a channel to those of its messages.

use super::place::{Place, View};
use std::collections::BTreeSet;

/// Where the types are declared of what the name at a byte stands for. Nothing for types that are built in.
pub fn type_definition(view: View<'_>, at: usize) -> Vec<Place> {
    let (source, map) = (view.source(), view.reading.map());
    let meanings = source.index.meanings(view.file, at);
    let declared = meanings.into_iter().flat_map(|id| view.language().type_definition(source, id));
    let mut seen = BTreeSet::new();
    declared.map(|span| Place::of(map, span)).filter(|place| seen.insert(place.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    #[test]
    fn a_name_leads_to_its_type() {
        for (text, expected) in [
            ("typedef /*~1*/T { byte f } T t; init { /*~*/t.f = 1 }", &["~1"][..]),
            ("typedef /*~1*/T { byte f } hidden T t; init { /*~*/t.f = 1 }", &["~1"]),
            ("typedef T { byte f } T t; init { t./*~*/f = 1 }", &[]),
            ("typedef /*~1*/T { byte f } typedef U { T u } U t; init { t./*~*/u.f = 1 }", &["~1"]),
            ("typedef /*~1*/T { byte f } T t[2]; inline g() { /*~*/t[1].f = 1 } init { g() }", &["~1"]),
            ("mtype = { /*~1*/a, b }; mtype = { /*~2*/c }; mtype m; init { /*~*/m = b }", &["~1", "~2"]),
            ("mtype = { /*~1*/a, b }; mtype:other = { c }; mtype m; init { m = /*~*/b }", &["~1"]),
            ("mtype = { a }; mtype:other = { /*~1*/c, d }; mtype:other m; init { /*~*/m = d }", &["~1"]),
            (
                "mtype = { /*~1*/a } typedef /*~2*/T { byte f } chan q = [1] of { mtype, byte, T }; T t; init { /*~*/q?a, _, t }",
                &["~1", "~2"],
            ),
            ("typedef /*~1*/T { byte f } proctype P(chan q) { T t; /*~*/t.f = 1 } init { skip }", &["~1"]),
            ("typedef T { byte f } byte x; init { /*~*/x = 1 }", &[]),
            ("typedef T { byte f } proctype /*~*/P() { skip }", &[]),
            ("mtype = { a, ; typedef /*~1*/T { byte f } T /*~*/t", &[]),
        ] {
            let fixture = Fixture::new(text);
            let found = type_definition(fixture.view(), fixture.mark("~"));
            let starts: Vec<usize> = found.iter().map(|place| place.start).collect();
            if text.contains(", ;") {
                // What is broken may be read or not; it never leads to another place.
                assert!(starts.is_empty() || starts == [fixture.mark("~1")], "{text}");
                continue;
            }
            assert_eq!(starts, expected.iter().map(|mark| fixture.mark(mark)).collect::<Vec<_>>(), "{text}");
        }
    }
}
