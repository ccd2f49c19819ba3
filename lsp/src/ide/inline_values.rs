//! Values beside the code while a debugger is stopped: which names stand for a variable of the process that is stopped,
//! so that the debugger, asked for the name alone, gives the value that the name has there.
//!
//! A name is left out if a debugger that looks it up in the stopped process would find something else: a variable of
//! another process type, a global variable that a local one hides, one of several local variables with the same name.

use super::place::View;
use fabius_language::{self as language, Index, SymbolId, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A name, and the bytes where it stands.
pub type InlineValue = (Range<usize>, String);

/// The names in a stretch of the text, each once a line, whose values a debugger stopped at a byte can show.
pub fn inline_values(view: View<'_>, range: &Range<usize>, stopped: usize) -> Vec<InlineValue> {
    let index = view.index();
    let scopes: Vec<Scope> =
        processes_at(view, stopped).into_iter().map(|process| Scope::new(index, process)).collect();
    let mut found: Vec<InlineValue> = Vec::new();
    let mut seen = BTreeSet::new();
    for occurrence in index.occurrences_in(view.file) {
        let bytes = occurrence.start as usize..occurrence.end as usize;
        if bytes.end < range.start || range.end <= bytes.start || scopes.is_empty() {
            continue;
        }
        let meanings = index.meanings(view.file, bytes.start);
        let name = &index.symbol(occurrence.symbol).name;
        let is_meant = |scope: &Scope| scope.finds(index, name, &meanings, occurrence.within);
        let line = view.reading.map().line_column(view.file, occurrence.start).0;
        if scopes.iter().all(is_meant) && seen.insert((line, name.clone())) {
            found.push((bytes, name.to_string()));
        }
    }
    found
}

/// The process types that may be stopped at a byte: the one whose text it is, or those that call the inline.
fn processes_at(view: View<'_>, stopped: usize) -> Vec<SymbolId> {
    let index = view.index();
    let mut waiting: Vec<SymbolId> = index.container_at(view.file, stopped).into_iter().collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        match index.symbol(id).kind {
            SymbolKind::Process | SymbolKind::Init => found.push(id),
            SymbolKind::Inline => waiting.extend(language::incoming(index, id).into_iter().map(|(caller, _)| caller)),
            _ => {}
        }
    }
    found
}

/// What a debugger finds that looks up names in a process.
struct Scope {
    /// The process, and the inlines that it calls.
    texts: BTreeSet<SymbolId>,
    /// Its variables by name, and how many there are of each name.
    locals: BTreeMap<String, (SymbolId, usize)>,
}

impl Scope {
    fn new(index: &Index, process: SymbolId) -> Self {
        let mut scope = Self { texts: BTreeSet::new(), locals: BTreeMap::new() };
        // The variables of an inline exist once for each call; that there are several is all that matters.
        let mut visits: BTreeMap<SymbolId, usize> = BTreeMap::new();
        let mut waiting = vec![process];
        while let Some(id) = waiting.pop() {
            let visited = visits.entry(id).or_default();
            *visited += 1;
            if 2 < *visited {
                continue;
            }
            scope.texts.insert(id);
            for member in index.ids().filter(|member| index.symbol(*member).container == Some(id)) {
                let symbol = index.symbol(member);
                if matches!(symbol.kind, SymbolKind::Local | SymbolKind::Parameter) {
                    scope.locals.entry(symbol.name.to_string()).or_insert((member, 0)).1 += 1;
                }
            }
            let called = language::outgoing(index, id).into_iter();
            let inlines = called.filter(|(callee, _)| index.symbol(*callee).kind == SymbolKind::Inline);
            waiting.extend(inlines.flat_map(|(callee, places)| places.into_iter().map(move |_| callee)));
        }
        scope
    }

    /// Whether the debugger finds for a name one of its meanings where it stands, in the text of `within`.
    fn finds(&self, index: &Index, name: &str, meanings: &[SymbolId], within: Option<SymbolId>) -> bool {
        match self.locals.get(name) {
            Some((id, 1)) => {
                // Debuggers list channels by another name, if they are a process's own.
                let own_text = within.is_some_and(|within| self.texts.contains(&within));
                meanings.contains(id) && own_text && !index.symbol(*id).channel
            }
            Some(_) => false,
            None => meanings.iter().any(|id| index.symbol(*id).kind == SymbolKind::Global),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;

    /// The names with values when a debugger is stopped at a mark, with the bytes where they begin.
    fn shown(fixture: &Fixture, mark: &str) -> Vec<(usize, String)> {
        let found = inline_values(fixture.view(), &(0..usize::MAX), fixture.mark(mark));
        found.into_iter().map(|(range, name)| (range.start, name)).collect()
    }

    #[test]
    fn locals_belong_to_the_process_that_is_stopped() {
        let fixture = Fixture::new(
            "byte g;\nactive proctype P() {\nbyte /*~p*/x;\n/*~in p*/x = 1;\ng = 2 }\n\
             active proctype Q() {\nbyte /*~q*/x;\nbyte g;\n/*~in q*/x = /*~last*/g }\n",
        );
        let starts = |mark| shown(&fixture, mark).into_iter().filter(|(_, name)| name == "x").map(|(at, _)| at);
        assert_eq!(starts("~in p").collect::<Vec<_>>(), [fixture.mark("~p"), fixture.mark("~in p")]);
        assert_eq!(starts("~in q").collect::<Vec<_>>(), [fixture.mark("~q"), fixture.mark("~in q")]);
        // In `Q` the global `g` is hidden: elsewhere its name would be given the wrong value.
        let hidden: Vec<(usize, String)> =
            shown(&fixture, "~in q").into_iter().filter(|(_, name)| name == "g").collect();
        assert_eq!(hidden.len(), 2);
        assert!(fixture.mark("~q") < hidden[0].0 && hidden[1].0 == fixture.mark("~last"));
        assert_eq!(shown(&fixture, "~in p").iter().filter(|(_, name)| name == "g").count(), 2);
    }

    #[test]
    fn an_inline_is_read_in_the_process_that_calls_it() {
        let fixture = Fixture::new(
            "inline f() {\n/*~in f*/x = 1;\n}\nactive proctype P() {\nbyte x;\nf() }\n\
             active proctype Q() {\nbyte x;\n/*~in q*/f() }\nactive proctype R() {\nbyte x;\n/*~in r*/x = 1 }\n",
        );
        let in_f = (fixture.mark("~in f"), "x".to_owned());
        // Whoever is stopped there has an `x` of its own.
        assert!(shown(&fixture, "~in q").contains(&in_f));
        assert!(!shown(&fixture, "~in r").contains(&in_f));
        // Stopped in the inline, it is not known who calls it: shown is what is right for each caller.
        assert_eq!(shown(&fixture, "~in f"), [in_f]);
    }

    #[test]
    fn one_of_several_variables_of_a_name_is_not_shown() {
        let fixture = Fixture::new(
            "byte y;\ninline f() { byte t; t = 1 }\nactive proctype P() {\n{ byte x; x = 1 }\n{ byte x; /*~*/x = 2 }\nf();\nf();\ny = 1 }\n",
        );
        let names: Vec<String> = shown(&fixture, "~").into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["y", "y"]);
    }

    #[test]
    fn text_of_no_process_shows_nothing() {
        let fixture = Fixture::new("byte /*~*/x;\nactive proctype P() { x = 1 }\n");
        assert_eq!(shown(&fixture, "~"), []);
    }
}
