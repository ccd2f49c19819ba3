//! From a message, a channel or a process type to what handles, empties or creates it.

use super::place::{Place, View};
use std::collections::BTreeSet;

/// Where what the name at a byte stands for is put to work.
pub fn implementations(view: View<'_>, at: usize) -> Vec<Place> {
    let (source, map) = (view.source(), view.reading.map());
    let meanings = source.index.meanings(view.file, at);
    let places = meanings.into_iter().flat_map(|id| view.language().implementations(source, id));
    let places: BTreeSet<Place> = places.map(|span| Place::of(map, span)).collect();
    places.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    #[test]
    fn names_lead_to_what_works_with_them() {
        for (text, expected) in [
            ("mtype = { /*~*/ask, tell }; chan q = [1] of { mtype }; init { q!ask; q?/*~1*/ask }", &["~1"][..]),
            ("mtype = { ask, tell }; chan q = [1] of { mtype }; init { q!/*~*/ask; q?/*~1*/ask; q!tell }", &["~1"]),
            (
                "mtype = { ask }; chan q = [1] of { mtype, byte }; init { byte a[2]; q?/*~1*/ask(a[1]); q??/*~2*/ask, 3; q?[ask, _]; q!/*~*/ask, 1 }",
                &["~1", "~2"],
            ),
            (
                "mtype = { /*~*/ask, tell }; mtype m; chan q = [1] of { mtype, mtype }; init { q?tell, /*~1*/ask; m = ask; assert(m == ask) }",
                &["~1"],
            ),
            ("mtype = { /*~*/ask };\n#define GET q?/*~1*/ask\nchan q = [1] of { mtype }; init { GET }", &["~1"]),
            (
                "mtype = { /*~*/ask }; chan q = [1] of { mtype }; inline get() { q?eval(/*~1*/ask) } init { get() }",
                &["~1"],
            ),
            ("chan q = [1] of { byte }; byte x; init { /*~*/q!1; /*~1*/q?x; /*~2*/q?<x>; q?[x] }", &["~1", "~2"]),
            ("proctype /*~*/P() { skip } init { run /*~1*/P(); run /*~2*/P() }", &["~1", "~2"]),
            ("active [2] proctype /*~*/P() { skip }", &["~"]),
            ("byte /*~*/x; init { x = 1 }", &[]),
            ("inline /*~*/f() { skip } init { f() }", &[]),
        ] {
            let fixture = Fixture::new(text);
            let found = implementations(fixture.view(), fixture.mark("~"));
            let starts: Vec<usize> = found.iter().map(|place| place.start).collect();
            assert_eq!(starts, expected.iter().map(|mark| fixture.mark(mark)).collect::<Vec<_>>(), "{text}");
        }
    }
}
