//! Names in text that no tree holds: bodies of inlines that nobody calls, parameters of inlines, bodies
//! of macros that nobody uses. They are resolved by their spelling.

use super::tokens::{PieceKind, pieces_inside};
use super::{Index, Occurrence, Role, SymbolId, SymbolKind};
use fabius_base::{FileId, SourceMap};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Finds the names that are left over.
pub(super) fn read(index: &mut Index, map: &SourceMap) {
    let known: HashSet<(FileId, u32)> = index.occurrences.iter().map(|o| (o.file, o.start)).collect();
    let mut outside: HashMap<Arc<str>, SymbolId> = HashMap::new();
    for id in index.ids() {
        let symbol = index.symbol(id);
        if symbol.container.is_none() && symbol.kind != SymbolKind::Label && symbol.is_declared() {
            outside.entry(symbol.name.clone()).or_insert(id);
        }
    }
    let mut found = Vec::new();
    for id in index.ids() {
        let symbol = index.symbol(id);
        if !matches!(symbol.kind, SymbolKind::Inline | SymbolKind::Macro) {
            continue;
        }
        let (file, text) = (symbol.extent.file, &map.file(symbol.extent.file).text);
        let range = symbol.extent.start as usize..symbol.extent.end as usize;
        let own: HashMap<&str, SymbolId> = match symbol.kind {
            SymbolKind::Inline => index.members(Some(id)).map(|id| (&*index.symbol(id).name, id)).collect(),
            _ => HashMap::new(),
        };
        for word in words(text, range) {
            let spelled = &text[word.clone()];
            if known.contains(&(file, word.start as u32))
                || symbol.parameters.iter().any(|p| p == spelled) && own.is_empty()
            {
                continue;
            }
            let meaning = own.get(spelled).or_else(|| outside.get(spelled));
            found.extend(meaning.map(|&symbol| Occurrence {
                file,
                start: word.start as u32,
                end: word.end as u32,
                symbol,
                role: Role::Read,
                within: Some(id),
            }));
        }
    }
    index.occurrences.extend(found);
}

fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let pieces = pieces_inside(text, range);
    pieces.into_iter().filter(|piece| piece.kind == PieceKind::Word).map(|piece| piece.range).collect()
}
