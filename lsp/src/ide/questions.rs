//! Questions that an editor offers at a process type and at a statement; a search answers them.

use super::actions::{Action, ActionKind, Command, told};
use super::place::View;
use fabius_analysis::Line;
use fabius_analysis::stuck::is_place;
use fabius_language::SymbolKind;
use std::ops::Range;

/// The questions for a place in a file.
pub(super) fn at(view: View<'_>, range: &Range<usize>) -> Vec<Action> {
    let here = line_of(view.text(), range.start);
    let one_line = range.end <= here.end.max(range.start);
    let found = [contexts(view, &here), stuck(view, &here)];
    found.into_iter().flatten().filter(|_| one_line).map(|action| Action { kind: ActionKind::Ask, ..action }).collect()
}

/// The bytes of the line of a byte, without its end.
pub(super) fn line_of(text: &str, at: usize) -> Range<usize> {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    start..start + length
}

/// For a type of which processes can be created, in a model whose processes nobody creates yet.
fn contexts(view: View<'_>, here: &Range<usize>) -> Option<Action> {
    let index = view.index();
    let symbols = || index.ids().map(|id| index.symbol(id)).filter(|symbol| symbol.container.is_none());
    if symbols().any(|symbol| symbol.kind == SymbolKind::Init) {
        return None;
    }
    let named = symbols().find(|symbol| {
        symbol.kind == SymbolKind::Process
            && symbol.definition.file == view.file
            && here.contains(&(symbol.definition.start as usize))
    })?;
    let title = format!("Which contexts lead `{}` to a deadlock or a failure?", named.name);
    // One that is active is there in each context.
    (!named.active).then(|| told(title, Command::Contexts(named.name.to_string()), here))
}

/// For a line with a statement at which a process can be.
fn stuck(view: View<'_>, here: &Range<usize>) -> Option<Action> {
    let number = view.text().get(..here.start)?.matches('\n').count() as u32 + 1;
    let line = Line { file: view.reading.map().file(view.file).name.to_string(), line: number };
    let title = "Can this get stuck here?".to_owned();
    is_place(&view.reading.loaded, &line).then(|| told(title, Command::Stuck(number), here))
}
