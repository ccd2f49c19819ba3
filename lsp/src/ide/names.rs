//! Names: definition, references, highlights, renaming.

use super::place::{Place, View};
use fabius_language::{Role, SymbolId, SymbolKind};
use fabius_project::files;
use std::ops::Range;
use std::path::Path;

/// Where the name at a byte is declared.
pub fn definition(view: View<'_>, at: usize) -> Vec<Place> {
    let index = view.index();
    let mut found: Vec<Place> =
        index.meanings(view.file, at).iter().filter_map(|&id| view.declaration(index.symbol(id))).collect();
    let includes = index
        .includes
        .iter()
        .filter(|(span, _)| span.file == view.file && span.start as usize <= at && at <= span.end as usize);
    for (_, name) in includes {
        found.extend(included(view, name));
    }
    found.dedup();
    found
}

/// The beginning of a file that this one includes.
pub fn included(view: View<'_>, name: &str) -> Option<Place> {
    let map = view.reading.map();
    let path = files::plain(&files::beside(Path::new(&*map.file(view.file).name), name)).display().to_string();
    map.files().any(|(_, file)| *file.name == *path).then_some(Place { file: path, start: 0, end: 0 })
}

/// Every place where the name at a byte stands with the same meaning.
pub fn references(view: View<'_>, at: usize, declarations: bool) -> Vec<Place> {
    let index = view.index();
    let found = index.references(&index.meanings(view.file, at));
    let wanted = found.iter().filter(|occurrence| declarations || occurrence.role != Role::Definition);
    wanted.map(|occurrence| Place::of_occurrence(view.reading.map(), occurrence)).collect()
}

/// The places in this file where the name at a byte stands, and whether it changes there.
pub fn highlights(view: View<'_>, at: usize) -> Vec<(Range<usize>, bool)> {
    let index = view.index();
    let found = index.references(&index.meanings(view.file, at));
    let own = found.iter().filter(|occurrence| occurrence.file == view.file);
    own.map(|o| {
        let writes = matches!(o.role, Role::Write | Role::Definition | Role::Send | Role::Receive);
        (o.start as usize..o.end as usize, writes)
    })
    .collect()
}

/// The name at a byte, if it can be renamed.
///
/// # Errors
/// Why it cannot be.
pub fn renamable(view: View<'_>, at: usize) -> Result<Range<usize>, String> {
    let index = view.index();
    let occurrences = index.at(view.file, at);
    let Some(first) = occurrences.first() else { return Err("there is no name here".to_owned()) };
    for occurrence in &occurrences {
        let symbol = index.symbol(occurrence.symbol);
        match symbol.kind {
            SymbolKind::Predefined => return Err(format!("`{}` is predefined", symbol.name)),
            SymbolKind::Init => return Err("`init` is a keyword".to_owned()),
            SymbolKind::Claim if occurrence.role == Role::Definition && !symbol.is_declared() => {
                return Err("this claim has no name".to_owned());
            }
            _ => {}
        }
        if symbol.definition == fabius_base::Span::default() {
            return Err(format!("`{}` is declared nowhere", symbol.name));
        }
        let file = &view.reading.map().file(symbol.definition.file).name;
        if file.starts_with('<') {
            return Err(format!("`{}` comes from {file}", symbol.name));
        }
    }
    Ok(first.start as usize..first.end as usize)
}

/// The places that change if the name at a byte becomes another one.
///
/// # Errors
/// Why it cannot.
pub fn rename(view: View<'_>, at: usize, new: &str) -> Result<Vec<Place>, String> {
    renamable(view, at)?;
    view.language().check_name(new)?;
    let index = view.index();
    let tied = index.tied(&index.meanings(view.file, at));
    if let Some(clash) = clash(view, &tied, new) {
        return Err(clash);
    }
    let found = index.references(&tied);
    Ok(found.iter().map(|occurrence| Place::of_occurrence(view.reading.map(), occurrence)).collect())
}

/// A declaration with the new name that would be seen where one of the old ones is.
fn clash(view: View<'_>, renamed: &[SymbolId], new: &str) -> Option<String> {
    let index = view.index();
    let same_room = |id: SymbolId| {
        let other = index.symbol(id);
        renamed.iter().any(|&own| {
            let own = index.symbol(own);
            let field = |kind| kind == SymbolKind::Field;
            let label = |kind| kind == SymbolKind::Label;
            if field(own.kind) != field(other.kind) || label(own.kind) != label(other.kind) {
                return false;
            }
            own.container == other.container || own.container.is_none() || other.container.is_none()
        })
    };
    let other = index.ids().find(|&id| &*index.symbol(id).name == new && same_room(id) && !renamed.contains(&id))?;
    let place = view.reading.map().position(index.symbol(other).definition);
    Some(format!("there is another `{new}` at {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    #[test]
    fn a_name_leads_to_its_declaration() {
        for text in [
            "byte /*~d*/x; init { /*~*/x = 1 }",
            "init { byte /*~d*/x; { byte y; /*~*/x = 1 } }",
            "byte x; init { byte /*~d*/x; /*~*/x = 1 }",
            "#define /*~d*/N 3\nbyte x = /*~*/N; init { skip }",
            "#define INC /*~*/x++\nbyte /*~d*/x; init { INC }",
            "#define TWICE(/*~d*/a) (/*~*/a + a)\nbyte x; init { x = TWICE(x) }",
            "#define TWICE(a) (a + a)\n#define THRICE(/*~d*/a) (/*~*/a + a + a)\nbyte x; init { x = THRICE(x) }",
            "byte /*~d*/x; init {\n#ifdef OTHER\n/*~*/x = 1\n#else\nskip\n#endif\n}",
            "active proctype P() { /*~d*/l: skip }\n#define THERE (P[0]@/*~*/l && P[1]@l)\n",
            "init { byte /*~d*/x;\n#if 0\n/*~*/x = 1;\n#endif\nskip }",
            "inline f(/*~d*/a) {\n#if 0\n/*~*/a = 1\n#else\nskip\n#endif\n} init { f(_pid) }",
            "typedef T { byte /*~d*/f } T t; init {\n#if 0\nt./*~*/f = 1;\n#endif\nskip }",
            "byte /*~d*/x; init { c_code { now./*~*/x = 1; }; skip }",
            "inline /*~d*/f(a) { a++ } byte x; init { /*~*/f(x) }",
            "inline f(/*~d*/a) { /*~*/a++ } byte x; init { f(x) }",
            "inline f(a) { /*~*/g = a } byte /*~d*/g; init { skip }",
            "inline f() { /*~*/x++ } active proctype P() { byte /*~d*/x; f() }",
            "typedef T { byte /*~d*/f; byte g } T t[2]; init { t[1]./*~*/f = 1 }",
            "typedef /*~d*/T { byte f } /*~*/T t; init { skip }",
            "mtype = { a, /*~d*/b }; mtype m = /*~*/b; init { skip }",
            "proctype /*~d*/P() { skip } init { run /*~*/P() }",
            "init { goto /*~*/l; /*~d*/l: skip }",
            "active proctype P() { /*~d*/l: skip } ltl f { <> P@/*~*/l }",
            "byte /*~d*/x; ltl f { [] (/*~*/x < 3) } init { skip }",
            "chan /*~d*/q = [1] of { byte }; init { /*~*/q!1 }",
            "byte x; proctype P() { byte /*~d*/x; skip } ltl f { <> (P:/*~*/x == 1) } init { run P() }",
        ] {
            let fixture = Fixture::new(text);
            let found = definition(fixture.view(), fixture.mark("~"));
            let starts: Vec<usize> = found.iter().map(|place| place.start).collect();
            assert_eq!(starts, [fixture.mark("~d")], "{text}");
        }
    }

    #[test]
    fn a_word_of_an_inline_may_mean_several_things() {
        let fixture = Fixture::new(
            "inline f() { /*~*/x++ } active proctype P() { byte /*~p*/x; f() } active proctype Q() { byte /*~q*/x; f() }",
        );
        let found = definition(fixture.view(), fixture.mark("~"));
        let starts: Vec<usize> = found.iter().map(|place| place.start).collect();
        assert_eq!(starts, [fixture.mark("~p"), fixture.mark("~q")]);
        // They can only be renamed together.
        let renamed = rename(fixture.view(), fixture.mark("~p"), "new").unwrap();
        assert_eq!(renamed.len(), 3);
    }

    #[test]
    fn references_go_through_macros_and_inlines() {
        let text = "byte /*~1*/x; byte y;\n#define DOUBLE(a) (a + a)\ninline set(v, e) { v = e }\n\
                    init { set(/*~2*/x, DOUBLE(/*~3*/x)); y = DOUBLE(y) }\nltl p { [] (/*~4*/x < 9) }";
        let fixture = Fixture::new(text);
        let found = references(fixture.view(), fixture.mark("~1"), true);
        let starts: Vec<usize> = found.iter().map(|place| place.start).collect();
        assert_eq!(starts, ["~1", "~2", "~3", "~4"].map(|mark| fixture.mark(mark)));
        assert_eq!(references(fixture.view(), fixture.mark("~3"), false).len(), 3);
    }

    #[test]
    fn a_new_name_must_be_a_free_name() {
        let fixture = Fixture::new("byte x; byte y; init { byte z; /*~*/x = y; z = _pid }");
        for (new, why) in
            [("1a", "not a name"), ("do", "keyword"), ("y", "another"), ("z", "another"), ("_pid", "keyword")]
        {
            let refused = rename(fixture.view(), fixture.mark("~"), new).unwrap_err();
            assert!(refused.contains(why), "{new}: {refused}");
        }
        assert_eq!(rename(fixture.view(), fixture.mark("~"), "w").map(|places| places.len()), Ok(2));
    }

    #[test]
    fn highlights_tell_reading_from_writing() {
        let fixture = Fixture::new("byte x; init { x = x + 1; assert(/*~*/x) }");
        let found = highlights(fixture.view(), fixture.mark("~"));
        assert_eq!(found.iter().map(|(_, writes)| *writes).collect::<Vec<_>>(), [true, true, false, false]);
    }
}
