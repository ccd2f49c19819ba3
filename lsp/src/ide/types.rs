//! From a variable to the declaration of its type, and from a channel to those of its messages.

use super::place::{Place, View};
use fabius_promela::query::{Symbol, SymbolKind};
use std::collections::BTreeSet;

/// Where the types are declared of what the name at a byte stands for: `typedef`s, and the declarations of the
/// symbolic constants that an `mtype` takes. Nothing for types that are built in.
pub fn type_definition(view: View<'_>, at: usize) -> Vec<Place> {
    let index = view.index();
    let mut found = Vec::new();
    for id in index.meanings(view.file, at) {
        for ty in types_of(index.symbol(id)) {
            found.extend(declarations(view, &ty));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|place| seen.insert(place.clone()));
    found
}

/// The types of a variable, of the messages of a channel, or of a constant, as they are written.
fn types_of(symbol: &Symbol) -> Vec<String> {
    match symbol.kind {
        SymbolKind::Structure => vec![symbol.name.to_string()],
        SymbolKind::ConstantSet => vec![format!("mtype:{}", symbol.name)],
        SymbolKind::Constant => symbol.parameters.iter().map(|set| format!("mtype{set}")).collect(),
        _ if symbol.channel => symbol.parameters.clone(),
        _ if !symbol.is_variable() => Vec::new(),
        _ => {
            let words = symbol.detail.split_whitespace();
            let ty = words.into_iter().find(|word| !["hidden", "show", "local"].contains(word));
            ty.map(str::to_owned).into_iter().collect()
        }
    }
}

/// The declarations of a type: one of a `typedef`; of an `mtype`, the first constant of each declaration of it.
fn declarations(view: View<'_>, ty: &str) -> Vec<Place> {
    let index = view.index();
    let Some(set) = ty.strip_prefix("mtype").filter(|set| set.is_empty() || set.starts_with(':')) else {
        let structure = index.named(ty, &[SymbolKind::Structure]);
        return structure.and_then(|id| view.declaration(index.symbol(id))).into_iter().collect();
    };
    let constants = index.ids().map(|id| index.symbol(id)).filter(|symbol| {
        symbol.kind == SymbolKind::Constant && symbol.parameters.first().is_some_and(|own| own == set)
    });
    let mut declared = BTreeSet::new();
    let first_of_each = constants.filter(|symbol| {
        let span = symbol.definition;
        let holds =
            |s: &&fabius_promela::query::Stretch| s.file == span.file && s.start <= span.start && span.end <= s.end;
        let innermost = index.stretches.iter().filter(holds).min_by_key(|s| s.end - s.start);
        innermost.is_none_or(|stretch| declared.insert((stretch.file, stretch.start)))
    });
    first_of_each.filter_map(|symbol| view.declaration(symbol)).collect()
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
